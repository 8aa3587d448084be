// Rule III: whenever there is a loss, all outputs move so that the dual rises as far as this round allows.
#pragma once

#include "../judgement.hpp"
#include "../solve/best.hpp"
#include "../step.hpp"
#include "single.hpp"

namespace hinge {

template <class Region, class Line>
class Full {
public:
    static bool moves(const Judgement& seen) { return seen.loss > 0; }
    static double least_gain(double gamma, double C, double R2) { return best_least_gain(gamma, C, R2); }

    template <class Geometry>
    void choose(const Region& region, Geometry& geometry, Line& line, Step& step) {
        for (Index y = 0; y < region.outputs; ++y) geometry.load(y);
        solver_.best(region, line, step);
    }

private:
    solve::Best<Region, Line> solver_;
};

}  // namespace hinge
