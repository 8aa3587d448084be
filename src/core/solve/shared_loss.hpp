// The steps of k parallel tasks that share one loss, an absolute norm ||l|| of theirs (Dekel, Long and Singer).
//
// tau >= 0 stays in the dual ball ||tau||* <= C: sections 3 (finite horizon), 4 (infinite horizon) and 5 to 7 (implicit).
// Only the tasks with a loss are handed over, as tau is zero where l is. Ties go to the first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "capped_simplex.hpp"
#include "dual_ball.hpp"
#include "power_bounds.hpp"
#include "power_mixture.hpp"
#include "power_norm.hpp"
#include "smooth_bounds.hpp"

namespace hinge {
namespace solve {

// Maximises sum 2 t_j l_j - t_j^2 q_j under ||t||_2 <= C: t_j = l_j / (q_j + theta). 1/||t|| is concave in theta, so that
// Newton's method on it rises to the root from below.
inline void best_in_sphere(std::span<const double> losses, std::span<const double> curvatures, double C,
                           std::span<double> steps) {
    double squares = 0;
    double flat_squares = 0;  // of those with x_j = 0
    double highest = 0;
    for (std::size_t j = 0; j < losses.size(); ++j) {
        squares += losses[j] * losses[j];
        if (curvatures[j] == 0) flat_squares += losses[j] * losses[j];
        highest = std::max(highest, curvatures[j]);
    }
    double theta = std::max({0.0, std::sqrt(squares) / C - highest, std::sqrt(flat_squares) / C});
    for (int iteration = 0;; ++iteration) {
        double length_squares = 0;
        double slope = 0;
        for (std::size_t j = 0; j < losses.size(); ++j) {
            const double t = losses[j] / (curvatures[j] + theta);
            steps[j] = t;
            length_squares += t * t;
            slope += t * t / (curvatures[j] + theta);
        }
        const double length = std::sqrt(length_squares);
        const double excess = length / C - 1;
        if (excess > 1e-14 && iteration < 100) {
            theta += excess * length_squares / slope;
            continue;
        }
        if (excess > 0)  // rounding
            for (double& t : steps) t /= 1 + excess;
        return;
    }
}

// A round is `value`, then one of the three updates; what they return lives until the next round.
class SharedLoss {
public:
    explicit SharedLoss(const DualBall& ball) : ball_(ball) {}

    const DualBall& ball() const { return ball_; }

    // ||l|| for l > 0; it is <tau, l> for the tau on the unit sphere that finds most of it.
    double value(std::span<const double> losses) {
        losses_ = losses;
        steps_.resize(losses.size());
        norm_ = 0;
        if (losses.empty()) return 0;
        if (polyhedral()) return norm_ = simplex_.largest(losses, ball_.cap, total());
        if (pure()) return norm_ = power_.value(losses, ball_.bounds[0]);
        if (!smooth_.linear(losses, ball_, steps_)) mixture_.linear(losses, ball_, steps_);
        for (std::size_t i = 0; i < steps_.size(); ++i) norm_ += steps_[i] * losses_[i];
        return norm_;
    }

    // argmax <tau, l>, eq. (9)
    std::span<const double> finite(double C) {
        if (losses_.empty()) return steps_;
        if (polyhedral())
            simplex_.linear(losses_, ball_.cap, total(), steps_);
        else if (pure())
            power_.linear(losses_, ball_.bounds[0], steps_);
        for (double& t : steps_) t *= C;
        return steps_;
    }

    // The same direction, min(C, ||l|| / (R^2 rho^2)) long, eq. (16); reach = R^2 rho^2, zero while no instance had any
    // length.
    std::span<const double> infinite(double C, double reach) { return finite(norm_ < C * reach ? norm_ / reach : C); }

    // argmax sum 2 tau_j l_j - tau_j^2 ||x_j||^2, lemma 8
    std::span<const double> implicit(std::span<const double> squared_norms, double C) {
        if (C > 0 && !losses_.empty())
            best(squared_norms, C);
        else
            std::fill(steps_.begin(), steps_.end(), 0.0);
        return steps_;
    }

private:
    // No bound on a q-norm between 1 and infinity: a cap and a total.
    bool polyhedral() const { return ball_.count == 0 || (ball_.count == 1 && ball_.bounds[0].slope == 0); }
    // A p-norm, 1 < p < infinity.
    bool pure() const { return ball_.count == 1 && !ball_.capped(); }
    double total() const { return ball_.count == 0 ? std::numeric_limits<double>::infinity() : ball_.bounds[0].radius; }

    void best(std::span<const double> curvatures, double C) {
        if (polyhedral())
            simplex_.best(losses_, curvatures, ball_.cap * C, total() * C, Tie::lowest_index, steps_);
        else if (pure() && ball_.bounds[0].slope == 1)
            best_in_sphere(losses_, curvatures, ball_.bounds[0].radius * C, steps_);
        else if (!smooth_.best(losses_, curvatures, ball_, C, steps_))
            bounds_.best(losses_, curvatures, ball_, C, steps_);
    }

    DualBall ball_;
    std::span<const double> losses_;
    double norm_ = 0;
    std::vector<double> steps_;
    CappedSimplex simplex_;
    PowerNorm power_;
    PowerMixture mixture_;
    SmoothBounds smooth_;
    PowerBounds bounds_;
};

}  // namespace solve
}  // namespace hinge
