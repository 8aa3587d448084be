// A subgradient step that falls as 1 / sqrt t: radius / (G sqrt t), G the largest gradient that a round so far could
// have had, its weight included. t counts the rounds of positive weight, also those that ask for nothing.
#pragma once

#include <algorithm>
#include <cmath>

#include "../archive.hpp"
#include "../judgement.hpp"
#include "../step.hpp"

namespace hinge {

class Decreasing {
public:
    static constexpr double radius = 1;  // everything scales with it, so that it changes no prediction

    static bool moves(const Judgement&) { return true; }
    static double least_gain(double, double, double) { return 0; }

    template <class Region, class Geometry>
    void witness(const Region& region, const Geometry& geometry, double weight) {
        rounds_ += 1;
        const double square = geometry.squared_length(*region.x);
        largest_ = std::max(largest_, weight * std::sqrt(region.largest_square_gradient(square)));
    }

    template <class Region, class Geometry>
    void choose(const Region&, Geometry&, const typename Geometry::Line& line, Step& step) {
        step.set(0, line.cap * radius / (largest_ * std::sqrt(rounds_)));
    }

    void archive(Archive& to) {
        to.value("step_rounds", rounds_);
        to.value("step_gradient", largest_);
    }

private:
    double rounds_ = 0;
    double largest_ = 0;
};

}  // namespace hinge
