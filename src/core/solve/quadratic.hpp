// The dual along an instance when G is quadratic there: G(theta + a x) - G(theta) = a rho + a^2 q / 2, rho the score.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "../region.hpp"
#include "../step.hpp"
#include "../vectors.hpp"
#include "best.hpp"

namespace hinge {

struct Quadratic {
    double curvature;  // q
    double cap;        // the most that the positive coefficients may add up to

    double of(Index) const { return curvature; }

    double rise(double score, double alpha) const { return alpha * (score + alpha * curvature / 2); }
};

namespace solve {

// tau in [0, cap] that maximises tau (gamma - m) - q tau^2: passive-aggressive. The 2 is one q for each output.
inline double best(const Pair& pair, const Quadratic& line) {
    const double loss = pair.gamma - pair.margin;
    return 2 * line.curvature * line.cap <= loss ? line.cap : loss / (2 * line.curvature);
}

// tau in [0, cap] that maximises tau (gain - m) - q tau^2 / 2.
inline double best(const Ray& ray, const Quadratic& line) {
    const double loss = ray.gain - ray.margin;
    return line.curvature * line.cap <= loss ? line.cap : loss / line.curvature;
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

// The same for values in any order, which are counted from the largest from now on: in their own size, which gamma sets,
// a small total would be lost to rounding.
inline double shift_from_largest(std::vector<double>& values, double total, std::vector<double>& room) {
    const double largest = *std::max_element(values.begin(), values.end());
    for (double& value : values) value -= largest;
    room = values;
    std::sort(room.begin(), room.end(), std::greater<>());
    return simplex_shift(room, total);
}

// All constraints of a round at once, exactly: mu with sum [u + mu]+ = sum [d - mu]+ over the relevant u = gamma - score
// and the other scores d; then alpha = [u + mu]+ / q and -[d - mu]+ / q.
//
// No sorting: the left side is the largest of the sums over the p largest u, so mu is the smallest of p roots; each is a
// root of an increasing concave function, which Newton's method reaches from below in a few passes, dropping the d that
// have fallen to mu.
template <class Real>
class Best<BalancedSimplex<Real>, Quadratic> {
public:
    void best(const BalancedSimplex<Real>& region, const Quadratic& line, Step& step) {
        if (line.curvature == 0) {  // x = 0: the dual rises by gamma for every unit, no weight moves
            step.set(region.pair.up, line.cap);
            step.set(region.pair.down, -line.cap);
            return;
        }
        ups_.clear();
        for (Real score : region.up_scores) ups_.push_back(region.pair.gamma - static_cast<double>(score));
        const double highest = region.pair.gamma - (region.pair.margin + score_of_rival(region));
        find_candidates(region, highest);

        double up_shift = balance(highest);
        double down_shift = up_shift;
        double total = 0;
        for (double u : ups_) total += std::max(0.0, u + up_shift);
        const double limit = line.cap * line.curvature;
        if (total > limit) {
            up_shift = -shift_from_largest(ups_, limit, sorted_);
            down_shift = shift_from_largest(downs_, limit, sorted_);
        }
        for (std::size_t i = 0; i < ups_.size(); ++i)
            if (ups_[i] + up_shift > 0) step.set(region.ups[i], (ups_[i] + up_shift) / line.curvature);
        for (std::size_t i = 0; i < candidates_.size(); ++i)
            if (downs_[i] - down_shift > 0) step.set(candidates_[i], -(downs_[i] - down_shift) / line.curvature);
    }

private:
    static double score_of_rival(const BalancedSimplex<Real>& region) {
        return static_cast<double>(region.down_scores[region.pair.down]);
    }

    // Only outputs above a lower bound of mu can take part. A bound that is close: the root with the largest score of
    // each lane in place of all scores, for fewer outputs have a root that is further left.
    void find_candidates(const BalancedSimplex<Real>& region, double highest) {
        low_ = bound_by_the_rival(region, highest);
        const auto outputs = static_cast<std::size_t>(region.outputs);
        const Real* scores = region.down_scores;
        if (outputs > 2 * wide) {
            largest_by_lane(scores, outputs);
            low_ = balance(highest);
        }
        candidates_.resize(outputs);
        downs_.resize(outputs + lanes);
        const Real low = rounded_down(low_);  // no score lies between the two
        std::size_t found = 0;
        const auto take = [&](std::size_t y) {  // without a branch: which scores are high is hard to predict
            candidates_[found] = static_cast<Index>(y);
            downs_[found] = static_cast<double>(scores[y]);
            found += scores[y] > low;
        };
        std::size_t y = 0;
        for (; y + wide <= outputs; y += wide) {
            int above = 0;
            for (std::size_t m = 0; m < wide; ++m) above |= scores[y + m] > low;
            if (above)
                for (std::size_t m = 0; m < wide; ++m) take(y + m);
        }
        for (; y < outputs; ++y) take(y);
        if (found == 0) {
            candidates_[found] = region.pair.down;
            downs_[found++] = score_of_rival(region);
        }
        candidates_.resize(found);
        downs_.resize((found + lanes - 1) / lanes * lanes);
        std::fill(downs_.begin() + static_cast<std::ptrdiff_t>(found), downs_.end(), none);
    }

    // The mu that the rival alone would give, with all u.
    double bound_by_the_rival(const BalancedSimplex<Real>& region, double highest) const {
        const double rival = score_of_rival(region);
        double low = (rival - highest) / 2;
        for (;;) {
            double sum = rival, count = 1;
            for (double u : ups_)
                if (u + low > 0) {
                    sum -= u;
                    count += 1;
                }
            if (sum / count >= low) return low;
            low = sum / count;
        }
    }

    static Real rounded_down(double value) {
        const Real near = static_cast<Real>(value);
        return static_cast<double>(near) > value ? std::nextafter(near, -std::numeric_limits<Real>::infinity()) : near;
    }

    void largest_by_lane(const Real* scores, std::size_t outputs) {
        std::array<Real, wide> largest;
        std::copy_n(scores, wide, largest.begin());
        std::size_t y = wide;
        for (; y + wide <= outputs; y += wide)
            for (std::size_t m = 0; m < wide; ++m) largest[m] = std::max(largest[m], scores[y + m]);
        for (; y < outputs; ++y) largest[y % wide] = std::max(largest[y % wide], scores[y]);
        downs_.assign(largest.begin(), largest.end());
    }

    // From the u that are positive at one mu to the root with these, which is further left, until they stay the same.
    double balance(double highest) {
        double sum = highest, count = 1;
        for (;;) {
            const double mu = root(sum, count);
            double next_sum = 0, next_count = 0;
            for (double u : ups_)
                if (u + mu > 0) {
                    next_sum += u;
                    next_count += 1;
                }
            if (next_count == count || next_count == 0) return mu;
            sum = next_sum;
            count = next_count;
        }
    }

    // mu with sum + count mu = sum [d - mu]+
    double root(double sum, double count) {
        double mu = low_;
        for (;;) {
            Lanes above{};
            Lanes many{};
            for (std::size_t i = 0; i < downs_.size(); i += lanes) {
                const Lanes d = *reinterpret_cast<const Lanes*>(downs_.data() + i);
                above += d > mu ? d : Lanes{};
                many += d > mu ? Lanes{1, 1, 1, 1} : Lanes{};
            }
            const double next = (((above[0] + above[1]) + (above[2] + above[3])) - sum) /
                                (((many[0] + many[1]) + (many[2] + many[3])) + count);
            if (!(next > mu)) return mu;
            mu = next;
        }
    }


    static constexpr std::size_t wide = 16;
    static constexpr std::size_t lanes = 4;
    using Lanes = Vector<double, lanes * sizeof(double)>;
    static constexpr double none = -std::numeric_limits<double>::infinity();

    double low_ = 0;  // a lower bound of mu
    std::vector<double> ups_, sorted_;
    std::vector<double> downs_;  // of the candidates, then `none` up to whole lanes
    std::vector<Index> candidates_;
};

}  // namespace solve
}  // namespace hinge
