// The steps of k parallel tasks that share one loss, an absolute norm ||l|| of theirs (Dekel, Long and Singer).
//
// tau >= 0 stays in the dual ball ||tau||* <= C and is zero where l is: sections 3 (finite horizon), 4 (infinite horizon)
// and 5 to 7 (implicit). A task that sits a round out has l = 0. Ties go to the lowest index.
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

class SharedLoss {
public:
    explicit SharedLoss(const DualBall& ball) : ball_(ball) {}

    // ||l||
    double value(std::span<const double> losses) { return gather(losses) ? direction() : 0; }

    // argmax <tau, l>, eq. (9). Returns ||l||.
    double finite(std::span<const double> losses, double C, std::span<double> taus) {
        if (!gather(losses)) return clear(taus);
        const double norm = direction();
        scatter(C, taus);
        return norm;
    }

    // The same direction, min(C, ||l|| / (R^2 rho^2)) long, eq. (16); reach = R^2 rho^2, zero while no instance had any
    // length. Returns ||l||.
    double infinite(std::span<const double> losses, double C, double reach, std::span<double> taus) {
        if (!gather(losses)) return clear(taus);
        const double norm = direction();
        scatter(norm < C * reach ? norm / reach : C, taus);
        return norm;
    }

    // argmax sum 2 tau_j l_j - tau_j^2 ||x_j||^2, lemma 8.
    void implicit(std::span<const double> losses, std::span<const double> squared_norms, double C,
                  std::span<double> taus) {
        if (!gather(losses) || !(C > 0)) {
            clear(taus);
            return;
        }
        curvatures_.resize(active_.size());
        for (std::size_t i = 0; i < active_.size(); ++i) curvatures_[i] = squared_norms[active_[i]];
        best(C);
        scatter(1, taus);
    }

private:
    // The tasks with a loss.
    bool gather(std::span<const double> losses) {
        active_.clear();
        losses_.clear();
        for (std::size_t j = 0; j < losses.size(); ++j) {
            if (!(losses[j] > 0)) continue;
            active_.push_back(j);
            losses_.push_back(losses[j]);
        }
        steps_.resize(active_.size());
        return !active_.empty();
    }

    void scatter(double scale, std::span<double> taus) const {
        clear(taus);
        for (std::size_t i = 0; i < active_.size(); ++i) taus[active_[i]] = scale * steps_[i];
    }

    static double clear(std::span<double> taus) {
        std::fill(taus.begin(), taus.end(), 0.0);
        return 0;
    }

    // No bound on a q-norm between 1 and infinity: a cap and a total.
    bool polyhedral() const { return ball_.count == 0 || (ball_.count == 1 && ball_.bounds[0].slope == 0); }
    double total() const { return ball_.count == 0 ? std::numeric_limits<double>::infinity() : ball_.bounds[0].radius; }

    double direction() {
        if (polyhedral())
            simplex_.linear(losses_, ball_.cap, total(), steps_);
        else
            mixture_.linear(losses_, ball_, steps_);
        double norm = 0;
        for (std::size_t i = 0; i < active_.size(); ++i) norm += steps_[i] * losses_[i];
        return norm;
    }

    void best(double C) {
        if (polyhedral())
            simplex_.best(losses_, curvatures_, ball_.cap * C, total() * C, Tie::lowest_index, steps_);
        else if (ball_.count == 1 && ball_.bounds[0].slope == 1 && !ball_.capped())
            best_in_sphere(losses_, curvatures_, ball_.bounds[0].radius * C, steps_);
        else
            bounds_.best(losses_, curvatures_, ball_, C, steps_);
    }

    DualBall ball_;
    std::vector<std::size_t> active_;
    std::vector<double> losses_;
    std::vector<double> curvatures_;
    std::vector<double> steps_;
    CappedSimplex simplex_;
    PowerMixture mixture_;
    PowerBounds bounds_;
};

}  // namespace solve
}  // namespace hinge
