// Stochastic subgradients on the regularised hinge, with steps 1 / (lambda (t + offset)) (MATH.md D).
#pragma once

#include <limits>

#include "../judgement.hpp"
#include "../motion.hpp"
#include "../step.hpp"

namespace hinge {

class Sgd {
public:
    static constexpr int sequences = 1;

    static bool moves(const Judgement&) { return true; }

    template <class Region, class Geometry>
    void choose(const Region& region, Geometry& geometry, const typename Geometry::Line& pace, Step&) {
        const double decay = 1 / (geometry.steps() + 1 + pace.set->offset);  // eta lambda
        region.pairs->smooth(std::numeric_limits<double>::infinity(), pace.weight / region.pairs->pairs(),
                             geometry.delta());
        auto& motion = geometry.motion();
        motion.decay[0] = {1 - decay};
        motion.gain(0) = -decay / pace.set->lambda;
    }
};

// Nothing moves: the weights were found otherwise.
class Still {
public:
    static constexpr int sequences = 1;

    static bool moves(const Judgement&) { return false; }

    template <class Region, class Geometry>
    void choose(const Region&, Geometry&, const typename Geometry::Line&, Step&) {}
};

}  // namespace hinge
