// All constraints of a round at once where G is a log-partition: exactly where x takes one value besides zero, else by
// the interior point method. The line has output y in slot y.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "best.hpp"
#include "interior.hpp"
#include "quadratic.hpp"
#include "tilted.hpp"

namespace hinge::solve {

template <class Real>
class Best<BalancedSimplex<Real>, Tilted> {
public:
    void best(const BalancedSimplex<Real>& region, Tilted& line, Step& step) {
        if (line.flat()) {
            step.set(region.pair.up, line.cap);
            step.set(region.pair.down, -line.cap);
        } else if (line.two_valued()) {
            best_of_two_atoms(region, line, step);
        } else {
            best_of_many_atoms(region, line, step);
        }
    }

    // How many iterations the interior point method took last.
    int iterations() const { return iterations_; }

    void best_of_many_atoms(const BalancedSimplex<Real>& region, Tilted& line, Step& step) {
        mark(region);
        const auto count = static_cast<std::size_t>(region.outputs);
        iterations_ = interior_.minimise(
            count, region.ups.size(), line.cap,
            [&](std::size_t y, double a) {
                const Moments at = line.moments(y, a);
                return ValueSlope{is_up_[y] ? at.mean - region.pair.gamma : at.mean, at.variance};
            },
            [&](std::size_t y) { return is_up_[y]; });
        for (std::size_t y = 0; y < count; ++y) step.set(static_cast<Index>(y), interior_.alpha(y));
    }

private:
    void mark(const BalancedSimplex<Real>& region) {
        is_up_.assign(static_cast<std::size_t>(region.outputs), false);
        for (Index y : region.ups) is_up_[static_cast<std::size_t>(y)] = true;
    }

    // Moving by alpha adds |v| alpha to logit q, q the weight on the larger of the two values. Relevant outputs rise to
    // logit(g + mu), the others fall to logit(mu), g = gamma / |v|, with the mu in (0, 1 - g) where the sums balance;
    // if these exceed C, or g >= 1, each side is filled up to C with a level of its own.
    void best_of_two_atoms(const BalancedSimplex<Real>& region, Tilted& line, Step& step) {
        const double v = line.values[0];
        const double size = std::abs(v);
        const double g = region.pair.gamma / size;
        const double most = line.cap * size;
        mark(region);
        ups_.clear();
        downs_.clear();
        for (std::size_t y = 0; y < is_up_.size(); ++y) {
            const double logit = v > 0 ? line.logit(y) : -line.logit(y);
            if (is_up_[y])
                ups_.push_back(-logit);
            else
                downs_.push_back(logit);
        }
        Levels levels{};
        double total = most;
        if (g < 1) {
            levels = balance_logits(g);
            total = 0;
            for (double minus : ups_) total += std::max(0.0, levels.up + minus);
        }
        if (g >= 1 || total > most) {
            levels.up = -shift_from_largest(ups_, most, sorted_);
            levels.down = shift_from_largest(downs_, most, sorted_);
        }
        std::size_t up = 0, down = 0;
        for (std::size_t y = 0; y < is_up_.size(); ++y) {
            const double rise = is_up_[y] ? levels.up + ups_[up++] : downs_[down++] - levels.down;
            if (rise > 0) step.set(static_cast<Index>(y), (is_up_[y] ? rise : -rise) / size);
        }
    }

    struct Levels {
        double up;    // logit(g + mu)
        double down;  // logit(mu)
    };

    // mu runs through (0, 1 - g) as (1 - g) / (1 + exp(-t)), fine at both ends. The difference of the two sums rises
    // with t: Newton, kept between bounds.
    Levels balance_logits(double g) {
        constexpr double end = 600;
        double low = -end, high = end, t = 0;
        Levels levels{};
        for (int iteration = 0; iteration < 200; ++iteration) {
            const double falling = bounded_exp(-std::abs(t));
            const double large = (1 - g) / (1 + falling);
            const double mu = t > 0 ? large : (1 - g) * falling / (1 + falling);
            const double left = t > 0 ? (1 - g) * falling / (1 + falling) : large;  // 1 - g - mu
            levels = {log((g + mu) / left), log(mu / (g + left))};
            double value = 0;
            double rising = 0, sinking = 0;
            for (double minus : ups_)
                if (levels.up + minus > 0) {
                    value += levels.up + minus;
                    rising += 1;
                }
            for (double logit : downs_)
                if (logit - levels.down > 0) {
                    value -= logit - levels.down;
                    sinking += 1;
                }
            if (value == 0) break;
            (value < 0 ? low : high) = t;
            const double speed = mu * left / (1 - g);  // d mu / d t
            const double slope = speed * (rising / ((g + mu) * left) + sinking / (mu * (g + left)));
            double next = slope > 0 ? t - value / slope : low;
            if (!(next > low && next < high)) next = low + (high - low) / 2;
            if (next == low || next == high || std::abs(next - t) <= 1e-15 * std::abs(t)) break;
            t = next;
        }
        return levels;
    }

    std::vector<bool> is_up_;
    std::vector<double> ups_, downs_, sorted_;
    InteriorPoint interior_;
    int iterations_ = 0;
};

}  // namespace hinge::solve
