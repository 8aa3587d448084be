// The multiclass support vector machine by dual block-coordinate ascent, one block an example in closed form (MATH.md E).
//
// Minimise ||W||^2 / 2 + sum_i C_i hinge_i. With a_i on the simplex, W = sum_i C_i (e_y - a_i) x_i', and the dual is
// sum_i C_i <a_i, delta_i> - ||W||^2 / 2. The best block is a gradient step and a projection,
// a_i <- proj(a_i + (delta_i + s) / (C_i ||x_i||^2)), with s the scores. Examples whose block was best already rest for a
// while, each time longer. Now and then, the more often the better it pays, come conjugate gradients on what the blocks
// have found (class_faces.hpp). All are looked at before it ends, so the gap is exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "../linear.hpp"
#include "../rows.hpp"
#include "../step.hpp"
#include "class_faces.hpp"
#include "simplex.hpp"
#include "solved.hpp"

namespace hinge::solve {

template <class Real>
class ClassBlocks {
public:
    // cost(i): what answering each class costs in row i, 0 for the right one.
    ClassBlocks(const Rows<Real>& x, const Index* label, const double* caps,
                std::function<const double*(std::int64_t)> cost, Linear<Real>& linear)
        : x_(x), label_(label), caps_(caps), cost_(std::move(cost)), linear_(linear) {
        const auto count = static_cast<std::size_t>(x.count);
        outputs_ = linear.weights().outputs();
        masses_.assign(count * static_cast<std::size_t>(outputs_), 0.0);
        norms_.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            masses_[i * static_cast<std::size_t>(outputs_) + static_cast<std::size_t>(label[i])] = 1;
            norms_[i] = squared_norm(x[static_cast<std::int64_t>(i)]);
        }
        scores_ = Buffer<Real>(static_cast<std::size_t>(linear.weights().width()));
        values_.resize(static_cast<std::size_t>(outputs_));
    }

    // Until the gap is at most `tolerance` times the primal, or as much work is done as `most` passes over all examples.
    Solved solve(double tolerance, int most) {
        std::vector<std::int64_t> order(static_cast<std::size_t>(x_.count));
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
        rests_.assign(order.size(), 0);
        due_.assign(order.size(), 0);
        std::mt19937_64 random(1);
        ClassFaces<Real> faces(x_, caps_, norms_, cost_);
        int until_climb = between_climbs, wait = between_climbs;
        double work = 0;  // in passes
        for (round_ = 0; work < most; ++round_) {
            for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
            const double start = dual();
            const Swept swept = sweep(order, tolerance);
            work += swept.share;
            if (swept.gap <= tolerance * (dual() + swept.gap)) {
                const Solved done = look(work);
                if (done.gap() <= tolerance * done.primal) return done;
                std::fill(due_.begin(), due_.end(), 0);
            } else if (--until_climb <= 0 && !nearly_there(swept.gap, tolerance, wait)) {
                const double pace = (dual() - start) / swept.share;
                const auto climb = faces.climb(masses_.data(), linear_, climbing_steps);
                promised_ += climb.promise;
                squared_ = sum_of_squares(linear_.weights());
                work += climb.passes;
                wait = climb.rise > pace * climb.passes ? std::max(wait / 2, 2) : std::min(wait * 2, longest_wait);
                until_climb = wait;
            }
            gaps_.push_back(swept.gap);
        }
        return look(work);
    }

private:
    struct Seen {
        double gap, hinge;
    };
    struct Swept {
        double gap = 0, share = 0;  // of all examples, how many were visited
    };

    static constexpr int longest_rest = 15, between_climbs = 8, longest_wait = 32;  // rounds
    static constexpr int climbing_steps = 16;

    double dual() const { return promised_ - squared_ / 2; }

    // Whether blocks alone, at the rate of the last rounds, end before conjugate gradients would.
    bool nearly_there(double gap, double tolerance, int rounds) const {
        const std::size_t back = std::min(gaps_.size(), static_cast<std::size_t>(rounds));
        const double rate = back > 0 ? std::log(gaps_[gaps_.size() - back] / gap) / static_cast<double>(back) : 0;
        return std::log(gap / (tolerance * std::max(dual(), tolerance * gap))) < 2 * climbing_steps * rate;
    }

    // Visits the examples that are due.
    Swept sweep(const std::vector<std::int64_t>& order, double tolerance) {
        const double little = tolerance * std::max(dual(), 0.0) / static_cast<double>(x_.count);
        Swept swept;
        for (std::int64_t i : order) {
            const auto at = static_cast<std::size_t>(i);
            if (due_[at] > round_) continue;
            const double mine = visit(i, true).gap;
            swept.gap += mine;
            swept.share += 1;
            rests_[at] = mine > little ? 0 : std::min(rests_[at] * 2 + 1, longest_rest);
            due_[at] = round_ + 1 + rests_[at];
        }
        swept.share /= static_cast<double>(x_.count);
        return swept;
    }

    // Primal and dual as they are.
    Solved look(double work) {
        squared_ = sum_of_squares(linear_.weights());
        Solved done;
        done.passes = static_cast<int>(std::ceil(work));
        for (std::int64_t i = 0; i < x_.count; ++i) done.hinge += visit(i, false).hinge;
        done.primal = squared_ / 2 + done.hinge;
        done.dual = dual();
        return done;
    }

    Seen visit(std::int64_t i, bool move) {
        const double C = caps_[i];
        if (!(C > 0)) return {0, 0};
        const Row<Real> row = x_[i];
        const double* cost = cost_(i);
        double* mass = masses_.data() + i * outputs_;
        linear_.score(row, scores_.data());
        double top = -std::numeric_limits<double>::infinity(), mean = 0;
        Index best = 0;
        for (Index y = 0; y < outputs_; ++y) {
            const double value = static_cast<double>(scores_[static_cast<std::size_t>(y)]) + cost[y];
            values_[static_cast<std::size_t>(y)] = value;
            mean += mass[y] * value;
            if (value > top) top = value, best = y;
        }
        const Seen seen{C * (top - mean), C * (top - static_cast<double>(scores_[static_cast<std::size_t>(label_[i])]))};
        if (move && seen.gap > 0) project(row, C, norms_[static_cast<std::size_t>(i)], best, cost, mass);
        return seen;
    }

    // The block's best masses, and W moved along.
    void project(const Row<Real>& row, double C, double norm, Index best, const double* cost, double* mass) {
        step_.clear();
        if (norm == 0) {
            for (Index y = 0; y < outputs_; ++y) set(y, y == best ? 1.0 : 0.0, C, cost, mass);
            return;
        }
        for (Index y = 0; y < outputs_; ++y) {
            double& value = values_[static_cast<std::size_t>(y)];
            value = mass[y] + value / (C * norm);
        }
        project_on_simplex(values_.data(), static_cast<std::size_t>(outputs_));
        for (Index y = 0; y < outputs_; ++y) set(y, values_[static_cast<std::size_t>(y)], C, cost, mass);
        // ||W + x a'||^2 = ||W||^2 + 2 sum_y a_y s_y + ||x||^2 ||a||^2
        for (std::size_t n = 0; n < step_.size(); ++n) {
            const double a = step_.alphas()[n];
            const auto score = static_cast<double>(scores_[static_cast<std::size_t>(step_.outputs()[n])]);
            squared_ += a * (2 * score + a * norm);
        }
        if (!step_.empty()) linear_.add(row, step_);
    }

    void set(Index y, double now, double C, const double* cost, double* mass) {
        if (now == mass[y]) return;
        promised_ += C * cost[y] * (now - mass[y]);
        step_.set(y, C * (mass[y] - now));
        mass[y] = now;
    }

    const Rows<Real>& x_;
    const Index* label_;
    const double* caps_;
    std::function<const double*(std::int64_t)> cost_;
    Linear<Real>& linear_;
    Index outputs_ = 0;
    std::vector<double> masses_, norms_, values_;
    Buffer<Real> scores_;
    Step step_;
    std::vector<int> rests_, due_;  // how long an example rests, and the round that it is looked at in next
    std::vector<double> gaps_;      // of each round
    int round_ = 0;
    double promised_ = 0;
    double squared_ = 0;
};

}  // namespace hinge::solve
