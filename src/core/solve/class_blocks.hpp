// The multiclass support vector machine by dual block-coordinate ascent, one block an example in closed form (MATH.md E).
//
// Minimise ||W||^2 / 2 + sum_i C_i hinge_i. With a_i on the simplex, W = sum_i C_i (e_y - a_i) x_i', and the dual is
// sum_i C_i <a_i, delta_i> - ||W||^2 / 2. The best block is a gradient step and a projection,
// a_i <- proj(a_i + (delta_i + s) / (C_i ||x_i||^2)), with s the scores. Examples whose block was best already rest for a
// while, each time longer. All are looked at before it ends, so the gap is exact.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "../linear.hpp"
#include "../rows.hpp"
#include "../step.hpp"
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

    // Until the gap is at most `tolerance` times the primal, or `most` passes are done.
    Solved solve(double tolerance, int most) {
        std::vector<std::int64_t> order(static_cast<std::size_t>(x_.count));
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
        rests_.assign(order.size(), 0);
        due_.assign(order.size(), 0);
        std::mt19937_64 random(1);
        Solved done;
        while (done.passes < most) {
            for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
            const double little = tolerance * std::max(dual(), 0.0) / static_cast<double>(x_.count);
            double gap = 0;
            for (std::int64_t i : order) {
                const auto at = static_cast<std::size_t>(i);
                if (due_[at] > done.passes) continue;
                const double mine = visit(i, true).gap;
                gap += mine;
                rests_[at] = mine > little ? 0 : std::min(rests_[at] * 2 + 1, longest_rest);
                due_[at] = done.passes + 1 + rests_[at];
            }
            ++done.passes;
            if (gap > tolerance * (dual() + gap)) continue;
            look(done);
            if (done.gap() <= tolerance * done.primal) return done;
            std::fill(due_.begin(), due_.end(), 0);
        }
        look(done);
        return done;
    }

private:
    struct Seen {
        double gap, hinge;
    };

    static constexpr int longest_rest = 15;  // passes

    double dual() const { return promised_ - squared_ / 2; }

    // Primal and dual as they are.
    void look(Solved& done) {
        squared_ = sum_of_squares(linear_.weights());
        done.hinge = 0;
        for (std::int64_t i = 0; i < x_.count; ++i) done.hinge += visit(i, false).hinge;
        done.primal = squared_ / 2 + done.hinge;
        done.dual = dual();
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
        double largest = -std::numeric_limits<double>::infinity();
        for (Index y = 0; y < outputs_; ++y) {
            double& value = values_[static_cast<std::size_t>(y)];
            value = mass[y] + value / (C * norm);
            largest = std::max(largest, value);
        }
        // sum [v - shift]+ = 1: the shift is above the largest minus one; candidates that fall to it leave.
        double shift = largest - 1;
        for (;;) {
            double sum = -1, count = 0;
            for (Index y = 0; y < outputs_; ++y)
                if (values_[static_cast<std::size_t>(y)] > shift) {
                    sum += values_[static_cast<std::size_t>(y)];
                    count += 1;
                }
            const double next = sum / count;
            if (!(next > shift)) break;
            shift = next;
        }
        for (Index y = 0; y < outputs_; ++y)
            set(y, std::max(0.0, values_[static_cast<std::size_t>(y)] - shift), C, cost, mass);
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
    std::vector<int> rests_, due_;  // how long an example rests, and the pass that it is looked at in next
    double promised_ = 0;
    double squared_ = 0;
};

}  // namespace hinge::solve
