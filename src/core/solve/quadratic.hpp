// The dual along an instance when G is quadratic there: G(theta + a x) - G(theta) = a rho + a^2 q / 2, rho the score.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "../region.hpp"
#include "../step.hpp"
#include "best.hpp"

namespace hinge {

struct Quadratic {
    double curvature;  // q
    double cap;        // the most that the positive coefficients may add up to

    double rise(double score, double alpha) const { return alpha * (score + alpha * curvature / 2); }
};

namespace solve {

// tau in [0, cap] that maximises tau (gamma - m) - q tau^2: passive-aggressive. The 2 is one q for each output.
inline double best(const Pair& pair, const Quadratic& line) {
    const double loss = pair.gamma - pair.margin;
    return 2 * line.curvature * line.cap <= loss ? line.cap : loss / (2 * line.curvature);
}

// The shift a with sum_i [v_i - a]+ = total, for v in decreasing order and total > 0.
inline double simplex_shift(const std::vector<double>& decreasing, double total) {
    double sum = 0;
    double shift = 0;
    for (std::size_t i = 0; i < decreasing.size(); ++i) {
        sum += decreasing[i];
        const double candidate = (sum - total) / static_cast<double>(i + 1);
        if (i > 0 && decreasing[i] <= candidate) break;
        shift = candidate;
    }
    return shift;
}

// mu with sum [u + mu]+ = sum [d - mu]+, for u and d in decreasing order and u_1 + d_1 > 0.
//
// mu is walked down from d_1, where only u's count, over the points where a d joins or a u leaves, until the
// difference of the sums is no longer positive.
inline double balance(const std::vector<double>& ups, const std::vector<double>& downs) {
    std::size_t u = ups.size();
    std::size_t d = 0;
    double up_sum = 0;
    for (double value : ups) up_sum += value;
    double down_sum = 0;
    constexpr double none = -std::numeric_limits<double>::infinity();
    for (;;) {
        const double joins = d < downs.size() ? downs[d] : none;
        const double leaves = u > 1 ? -ups[u - 1] : none;
        const double point = std::max(joins, leaves);
        const double difference =
            (up_sum + static_cast<double>(u) * point) - (down_sum - static_cast<double>(d) * point);
        if (point == none || (d > 0 && difference <= 0)) break;
        if (leaves >= joins)
            up_sum -= ups[--u];
        else
            down_sum += downs[d++];
    }
    return (down_sum - up_sum) / static_cast<double>(u + d);
}

// All constraints of a round at once, exactly. Only outputs that score above a bound on mu can take part: they are
// picked in one pass, and only they are sorted.
template <class Real>
class Best<BalancedSimplex<Real>, Quadratic> {
public:
    void best(const BalancedSimplex<Real>& region, const Quadratic& line, Step& step) {
        if (line.curvature == 0) {  // x = 0: the dual rises by gamma for every unit, no weight moves
            step.set(region.pair.up, line.cap);
            step.set(region.pair.down, -line.cap);
            return;
        }
        const double gamma = region.pair.gamma;
        collect(region);
        double up_shift = balance(ups_, downs_);
        double down_shift = up_shift;
        double total = 0;
        for (double u : ups_) total += std::max(0.0, u + up_shift);
        const double limit = line.cap * line.curvature;
        if (total > limit) {
            up_shift = -simplex_shift(ups_, limit);
            down_shift = simplex_shift(downs_, limit);
        }
        for (std::size_t i = 0; i < region.ups.size(); ++i) {
            const double gain = (gamma - static_cast<double>(region.up_scores[i])) + up_shift;
            if (gain > 0) step.set(region.ups[i], gain / line.curvature);
        }
        for (Index y : candidates_) {
            const double gain = static_cast<double>(region.down_scores[y]) - down_shift;
            if (gain > 0) step.set(y, -gain / line.curvature);
        }
    }

private:
    void collect(const BalancedSimplex<Real>& region) {
        ups_.clear();
        downs_.clear();
        candidates_.clear();
        for (Real score : region.up_scores) ups_.push_back(region.pair.gamma - static_cast<double>(score));
        std::sort(ups_.begin(), ups_.end(), std::greater<>());
        const double top = static_cast<double>(region.down_scores[region.pair.down]);
        downs_.push_back(top);
        const double bound = std::min(top, balance(ups_, downs_));  // more outputs below only raise mu
        downs_.clear();
        for (Index y = 0; y < region.outputs; ++y) {
            const auto score = static_cast<double>(region.down_scores[y]);
            if (score > bound || y == region.pair.down) {
                candidates_.push_back(y);
                downs_.push_back(score);
            }
        }
        std::sort(downs_.begin(), downs_.end(), std::greater<>());
    }

    std::vector<double> ups_;
    std::vector<double> downs_;
    std::vector<Index> candidates_;
};

}  // namespace solve
}  // namespace hinge
