// The best steps under one or two bounds ||t||_q <= radius, 1 < q < infinity, without a cap: no step is zero, and all that
// is to be found is which bounds are tight. False where the ball is another one or Newton's method does not settle; then
// PowerBounds and PowerMixture find the steps one multiplier at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "../elementary.hpp"
#include "../kernels.hpp"
#include "dual_ball.hpp"
#include "joint_newton.hpp"

namespace hinge {
namespace solve {

class SmoothBounds {
public:
    // Maximises sum 2 t_j l_j - t_j^2 q_j for l > 0, q >= 0; the ball's radii are times C.
    bool best(std::span<const double> losses, std::span<const double> curvatures, const DualBall& ball, double C,
              std::span<double> steps) {
        if (ball.capped() || ball.bounds[0].slope == 0) return false;
        PowerBound bounds[2] = {ball.bounds[0], ball.bounds[1]};
        for (PowerBound& bound : bounds) bound.radius *= C;
        if (free_within(losses, curvatures, bounds, ball.count, steps)) return true;
        newton_.load(losses, curvatures);
        if (ball.count == 1) return newton_.solve(bounds[0], steps) && fit(bounds, 1, steps);
        double alone[2];
        double excess[2];
        for (int i = 0; i < 2; ++i) {
            if (!newton_.solve(bounds[i], steps) || !fit(bounds + i, 1, steps)) return false;
            alone[i] = newton_.theta(0);
            excess[1 - i] = size_of(steps, bounds[1 - i]);
            if (excess[1 - i] <= 1) return true;
        }
        return newton_.solve(bounds, alone, excess, steps) && fit(bounds, 2, steps);
    }

    // Maximises sum t_j l_j.
    bool linear(std::span<const double> losses, const DualBall& ball, std::span<double> steps) {
        zeros_.assign(losses.size(), 0.0);
        return best(losses, zeros_, ball, 1.0, steps);
    }

private:
    // No bound is tight.
    bool free_within(std::span<const double> losses, std::span<const double> curvatures, const PowerBound* bounds,
                     int count, std::span<double> steps) {
        double least = bounds[0].radius;
        for (int i = 1; i < count; ++i) least = std::min(least, bounds[i].radius);
        double longest = 0;
        for (std::size_t j = 0; j < losses.size(); ++j) {
            steps[j] = losses[j] / curvatures[j];
            longest = std::max(longest, steps[j]);
        }
        if (longest > least) return false;
        for (int i = 0; i < count; ++i)
            if (size_of(steps, bounds[i]) > 1) return false;
        return true;
    }

    // What rounding left over or under; false where Newton's method only seemed to settle.
    bool fit(const PowerBound* bounds, int count, std::span<double> steps) {
        double worst = 0;
        for (int i = 0; i < count; ++i) {
            const double size = size_of(steps, bounds[i]);
            if (!(std::abs(size - 1) <= 1e-9)) return false;
            worst = std::max(worst, bounded_exp(log(size) / (1 + bounds[i].slope)));
        }
        for (double& t : steps) t /= worst;
        return true;
    }

    // sum (t / radius)^q
    double size_of(std::span<const double> steps, const PowerBound& bound) {
        const auto count = static_cast<std::ptrdiff_t>(steps.size());
        powers_.resize(steps.size());
        for (std::size_t j = 0; j < steps.size(); ++j) powers_[j] = steps[j] / bound.radius;
        log_kernel()(powers_.data(), count);
        for (double& power : powers_) power *= 1 + bound.slope;
        exp_kernel()(powers_.data(), count);
        return std::accumulate(powers_.begin(), powers_.end(), 0.0);
    }

    JointNewton newton_;
    std::vector<double> zeros_;
    std::vector<double> powers_;
};

}  // namespace solve
}  // namespace hinge
