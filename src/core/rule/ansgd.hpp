// Accelerated stochastic gradients on a smoothed hinge (Ouyang and Gray; MATH.md D).
//
// With a = 2/(t+1) the smoothing falls as the rounds pass. Three sequences: the iterate M, the weighted gradients Psi, and
// the point between them, U, at which the gradient is taken; U is a mixture of the other two and is not stored.
#pragma once

#include <algorithm>

#include "../archive.hpp"
#include "../judgement.hpp"
#include "../motion.hpp"
#include "../step.hpp"

namespace hinge {

class Ansgd {
public:
    static constexpr int sequences = 2;  // M, Psi

    static bool moves(const Judgement&) { return true; }

    template <class Region, class Geometry>
    void choose(const Region& region, Geometry& geometry, const typename Geometry::Line& pace, Step&) {
        const double t = geometry.steps() + 1;
        const double N = region.pairs->pairs(), lambda = pace.set->lambda;
        largest_ = std::max(largest_, pace.weight * region.outputs * pace.squared_norm / (N * N));
        const double L = pace.set->lipschitz > 0 ? pace.set->lipschitz : largest_;

        const double a = 2 / (t + 1);
        const double v = lambda * (a + 1 / (2 * a) - 1) + L;
        const double eta = a / (lambda + v);
        const double of_M = (1 - a) * (lambda + v) / (lambda * (1 - a) + v);
        const double of_Psi = a * v / (lambda * (1 - a) + v);

        region.pairs->load(geometry.mix({of_M, of_Psi}), region.outputs, geometry.read().width(), region.relevant);
        region.pairs->smooth(1 / (a * N), pace.weight / N, geometry.delta());

        auto& motion = geometry.motion();
        motion.decay[0] = {(1 - eta * lambda) * of_M, (1 - eta * lambda) * of_Psi};
        motion.decay[1] = {0, v / (lambda + v)};
        motion.gain(0) = -eta;
        motion.gain(1) = -1 / (lambda + v);
    }

    void archive(Archive& to) { to.value("largest_curvature", largest_); }

private:
    double largest_ = 0;  // bound on the curvature of the rounds so far
};

}  // namespace hinge
