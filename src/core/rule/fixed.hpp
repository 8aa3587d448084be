// Rule I: on a mistake the worst constraint moves by the whole of C.
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
        put(worst(region), line.cap, step);
    }
};

// The same step whenever another answer scores as much as the right one, whatever it costs.
class Perceptron : public Fixed {
public:
    static bool moves(const Judgement& seen) { return seen.wrong; }
};

// The same step whenever there is a loss: a subgradient step of length C.
class Descent : public Fixed {
public:
    static bool moves(const Judgement& seen) { return seen.loss > 0; }
};

}  // namespace hinge
