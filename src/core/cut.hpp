// Where to cut the scores into a label set: b(x) = <u, x> + u0, learned beside the ranking and never touching it.
//
// The target of a round is the middle of the interval of cuts that put the fewest labels on the wrong side; beyond the
// highest and the lowest score a cut counts as one unit away. When the set cut differs from the truth, b takes a
// passive-aggressive step with C = 1 (times the round's weight) towards the target.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "archive.hpp"
#include "linear.hpp"

namespace hinge {

template <class Real>
class Cut {
public:
    bool exists() const { return exists_; }
    void begin() { exists_ = true; }

    void grow(Index features) { linear_.grow(features, 1); }

    double at(const Row<Real>& x) const {
        Real b = 0;
        linear_.score(bare(x), &b);
        return static_cast<double>(b) + offset_;
    }

    void learn(const Row<Real>& x, const Real* scores, Index outputs, std::span<const Index> relevant, double unit,
               double weight) {
        const double b = at(x);
        if (wrong_at(b, scores, outputs, relevant) == 0) return;
        const double distance = middle(best_cut(scores, outputs, relevant), unit) - b;
        const double most = weight * (squared_norm(bare(x)) + 1);
        const double tau = std::clamp(distance, -most, most) / (squared_norm(bare(x)) + 1);
        step_.clear();
        step_.set(0, tau);
        linear_.add(bare(x), step_);
        offset_ += tau;
    }

    void archive(Archive& to) {
        to.value("cut_offset", offset_);
        to.weights("cut", linear_.weights());
    }

private:
    static Row<Real> bare(Row<Real> x) {
        x.constant = Real(0);
        return x;
    }

    // A cut lies between two neighbouring scores; infinite where there is none on that side.
    struct Gap {
        double low, high;
    };

    static double middle(const Gap& gap, double unit) {
        const double low = gap.low == -infinity ? gap.high - 2 * unit : gap.low;
        const double high = gap.high == infinity ? gap.low + 2 * unit : gap.high;
        return low + (high - low) / 2;
    }

    // Where the fewest labels are on the wrong side: above all of them or just below a relevant one, the highest such.
    Gap best_cut(const Real* scores, Index outputs, std::span<const Index> relevant) {
        constexpr std::size_t few = 16;  // beyond that it is cheaper to sort
        levels_.clear();
        for (Index y : relevant) levels_.push_back(scores[y]);
        std::sort(levels_.begin(), levels_.end(), std::greater<>());
        if (relevant.size() > few) sort_above(levels_.back(), scores, outputs);
        Real above = static_cast<Real>(infinity);
        auto fewest = static_cast<std::ptrdiff_t>(relevant.size());
        for (std::size_t i = 0; i < levels_.size(); ++i) {
            if (i + 1 < levels_.size() && levels_[i + 1] == levels_[i]) continue;
            const auto kept = static_cast<std::ptrdiff_t>(i + 1);
            const std::ptrdiff_t all = relevant.size() > few ? at_least(levels_[i]) : at_least(levels_[i], scores, outputs);
            const std::ptrdiff_t wrong = all - kept + static_cast<std::ptrdiff_t>(relevant.size()) - kept;
            if (wrong < fewest) fewest = wrong, above = levels_[i];
        }
        return {static_cast<double>(highest_below(above, scores, outputs)), static_cast<double>(above)};
    }

    void sort_above(Real lowest, const Real* scores, Index outputs) {
        sorted_.clear();
        for (Index y = 0; y < outputs; ++y)
            if (scores[y] >= lowest) sorted_.push_back(scores[y]);
        std::sort(sorted_.begin(), sorted_.end(), std::greater<>());
    }
    std::ptrdiff_t at_least(Real level) const {
        return std::upper_bound(sorted_.begin(), sorted_.end(), level, std::greater<>()) - sorted_.begin();
    }
    static std::ptrdiff_t at_least(Real level, const Real* scores, Index outputs) {
        return kernels<Real>().hinges(scores, outputs, level, level).count;
    }

    static Real highest_below(Real level, const Real* scores, Index outputs) {
        constexpr Index lanes = 16;
        Real lane[lanes];
        std::fill_n(lane, lanes, -std::numeric_limits<Real>::infinity());
        Index y = 0;
        for (; y + lanes <= outputs; y += lanes)
            for (Index m = 0; m < lanes; ++m) {
                const Real score = scores[y + m] < level ? scores[y + m] : -std::numeric_limits<Real>::infinity();
                lane[m] = score > lane[m] ? score : lane[m];
            }
        for (; y < outputs; ++y)
            if (scores[y] < level) lane[0] = std::max(lane[0], scores[y]);
        return *std::max_element(lane, lane + lanes);
    }

    // A label is in the set when its score is above b.
    static std::ptrdiff_t wrong_at(double b, const Real* scores, Index outputs, std::span<const Index> relevant) {
        auto level = static_cast<Real>(b);  // the least score above b
        if (!(static_cast<double>(level) > b)) level = std::nextafter(level, std::numeric_limits<Real>::infinity());
        std::ptrdiff_t wrong = at_least(level, scores, outputs);
        for (Index y : relevant) wrong += scores[y] >= level ? -1 : 1;
        return wrong;
    }

    static constexpr double infinity = std::numeric_limits<double>::infinity();

    Linear<Real> linear_{1};
    double offset_ = 0;
    bool exists_ = false;
    std::vector<Real> levels_, sorted_;
    Step step_;
};

}  // namespace hinge
