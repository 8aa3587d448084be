// Implicit update: the dual rises as far as this round allows (Dekel, Long and Singer, sections 5 to 7).
#pragma once

#include "../judgement.hpp"
#include "../solve/best.hpp"
#include "../step.hpp"
#include "reach.hpp"
#include "single.hpp"

namespace hinge {

template <class Region, class Line>
class Implicit : public Reach {
public:
    static bool moves(const Judgement& seen) { return seen.loss > 0; }
    // At least what the task in error gains alone: max over [0, C] of gamma tau - R2 tau^2.
    double least_gain(double gamma, double C, double R2) const { return best_least_gain(gamma, alone * C, R2); }

    template <class Geometry>
    void choose(const Region& region, Geometry&, const Line& line, Step& step) {
        solver_.best(region, line, step);
    }

private:
    solve::Best<Region, Line> solver_;
};

}  // namespace hinge
