// Widrow-Hoff: a step of C * weight * residual / (2 R^2), R^2 the largest weight * ||x||^2 so far.
#pragma once

#include <algorithm>

#include "../archive.hpp"
#include "../judgement.hpp"
#include "../step.hpp"

namespace hinge {

class LeastMeanSquares {
public:
    static bool moves(const Judgement&) { return true; }
    static double least_gain(double, double, double) { return 0; }

    template <class Region, class Geometry>
    void witness(const Region& region, const Geometry& geometry, double weight) {
        largest_ = std::max(largest_, weight * geometry.squared_length(*region.x));
    }

    template <class Region, class Geometry>
    void choose(const Region& region, Geometry&, const typename Geometry::Line& line, Step& step) {
        if (largest_ > 0) step.set(0, line.cap * region.residual / (2 * largest_));
    }

    void archive(Archive& to) { to.value("step_square", largest_); }

private:
    double largest_ = 0;
};

}  // namespace hinge
