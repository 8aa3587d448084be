// A subgradient step of one length: by the weight of the round along all that is violated.
#pragma once

#include "../judgement.hpp"
#include "../step.hpp"

namespace hinge {

class Steady {
public:
    static constexpr bool asks_curvature = false;

    static bool moves(const Judgement&) { return true; }
    static double least_gain(double, double, double) { return 0; }  // its mistake bound is not read off a dual

    template <class Region, class Geometry>
    void choose(const Region&, Geometry&, const typename Geometry::Line& line, Step& step) {
        step.set(0, line.cap);
    }
};

}  // namespace hinge
