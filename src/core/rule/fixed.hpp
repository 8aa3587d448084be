// Rule I: on a mistake the worst pair moves by the whole of C.
#pragma once

#include "../judgement.hpp"
#include "../settings.hpp"
#include "../region.hpp"
#include "../step.hpp"

namespace hinge {

class Fixed {
public:
    static bool moves(const Judgement& seen) { return seen.error > 0; }

    // What a mistake must add to the dual at least, where <x, Hessian of G, x> <= R2: may be negative.
    static double least_gain(double gamma, double C, double R2) { return gamma * C - R2 * C * C; }

    template <class Region, class Geometry>
    void choose(const Region& region, Geometry&, const typename Geometry::Line& line, Step& step) {
        step.set(region.pair.up, line.cap);
        step.set(region.pair.down, -line.cap);
    }
};

}  // namespace hinge
