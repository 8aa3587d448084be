// Sums over all pairs of a relevant and an irrelevant label, without a list of pairs (MATH.md D).
//
// A pair is wrong by as much as the irrelevant score exceeds the relevant one. The fewer labels of the two kinds are held
// one by one against the whole row of the others, in vectors; where both are many, both are sorted and two pointers run
// through them: O(K log K) in all. Were the relevant ones the more, all signs would turn, so that one form is enough:
// `few` and `many` with values such that many - few is what a pair is wrong by.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "../kernels.hpp"

namespace hinge::solve {

struct PairLoss {
    double hinge = 0;  // sum of [1 + s_l - s_k]+
    double wrong = 0;  // pairs with s_k <= s_l
};

// How far up a ramp some numbers are. They climb or fall together, come and go; none is ever above the ramp's length, so
// that their sums lose nothing however short it is.
class Window {
public:
    void add(double up) { count_ += 1, sum_ += up, squares_ += up * up; }
    void remove(double up) {
        count_ -= 1, sum_ -= up, squares_ -= up * up;
        if (count_ == 0) sum_ = squares_ = 0;
    }
    void shift(double by) {
        if (count_ == 0) return;
        squares_ += by * (2 * sum_ + count_ * by);
        sum_ += count_ * by;
    }
    double sum_times(double rise) const { return count_ > 0 ? rise * sum_ : 0.0; }
    double squares_times(double rise) const { return count_ > 0 ? rise * rise * squares_ : 0.0; }

private:
    double count_ = 0, sum_ = 0, squares_ = 0;
};

template <class Real>
class Pairs {
public:
    // Scores of `outputs` labels, `width` values of which the rest is ignored. There must be a pair.
    void load(const Real* scores, Index outputs, Index width, std::span<const Index> relevant) {
        outputs_ = outputs;
        width_ = width;
        turned_ = 2 * relevant.size() > static_cast<std::size_t>(outputs);
        pairs_ = static_cast<double>(relevant.size()) * (outputs - static_cast<double>(relevant.size()));
        values_.resize(static_cast<std::size_t>(width));
        few_.clear();
        if (!turned_) {
            few_.assign(relevant.begin(), relevant.end());
            std::fill(std::copy_n(scores, outputs, values_.begin()), values_.end(), -infinity);
            for (Index y : few_) values_[static_cast<std::size_t>(y)] = -infinity;
        } else {
            std::fill(values_.begin(), values_.end(), -infinity);
            for (Index y = 0; y < outputs; ++y) few_.push_back(y);
            for (Index y : relevant) values_[static_cast<std::size_t>(y)] = -scores[y];
            std::erase_if(few_, [&](Index y) { return values_[static_cast<std::size_t>(y)] != -infinity; });
        }
        levels_.resize(few_.size());
        for (std::size_t i = 0; i < few_.size(); ++i) levels_[i] = turned_ ? -scores[few_[i]] : scores[few_[i]];
        sorted_ = few_.size() > 8 * static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(outputs)));
        if (sorted_) sort();
    }

    double pairs() const { return pairs_; }
    PairLoss loss() const {
        PairLoss out;
        if (!sorted_) {
            for (Real level : levels_) {
                const HingeSum one = kernels<Real>().hinges(values_.data(), width_, level - Real(1), level);
                out.hinge += one.sum;
                out.wrong += one.count;
            }
            return out;
        }
        std::size_t above = many_.size(), at_least = above;  // both pointers fall with the level
        for (std::size_t i = levels_.size(); i-- > 0;) {
            const Real level = level_of(i), from = level - Real(1);
            while (above > 0 && value_of(above - 1) > from) --above;
            while (at_least > 0 && value_of(at_least - 1) >= level) --at_least;
            const auto count = static_cast<double>(many_.size() - above);
            out.hinge += (many_sums_.back() - many_sums_[above]) - count * static_cast<double>(from);
            out.wrong += static_cast<double>(many_.size() - at_least);
        }
        return out;
    }

    // Pairs with s_k < s_l.
    double strictly_wrong() const {
        double count = 0;
        if (!sorted_) {
            for (Real level : levels_)
                count += kernels<Real>().hinges(values_.data(), width_, level, std::nextafter(level, infinity)).count;
            return count;
        }
        std::size_t above = many_.size();
        for (std::size_t i = levels_.size(); i-- > 0;) {
            while (above > 0 && value_of(above - 1) > level_of(i)) --above;
            count += static_cast<double>(many_.size() - above);
        }
        return count;
    }

    // The sum over pairs of the smoothed hinge that goes with the betas of `smooth`, which comes before.
    double smoothed(const Real* scores, double slope, double scale, const Real* delta) const {
        double squares = sorted_ ? squares_ : 0.0, linear = 0;  // sum beta (1 + s_l - s_k) = sum beta + sum zeta s
        for (Real from : sorted_ ? std::span<const Real>() : std::span<const Real>(from_))
            squares += kernels<Real>().ramp_squares(values_.data(), width_, from, static_cast<Real>(slope));
        for (Index y = 0; y < outputs_; ++y) linear += static_cast<double>(delta[y]) * static_cast<double>(scores[y]);
        return betas() + linear / scale - squares / (2 * slope);
    }
    // The sum of the betas.
    double betas() const {
        double sum = 0;
        for (Real one : sums_) sum += static_cast<double>(one);
        return sum;
    }

    // delta_y = scale zeta_y with beta = clip(slope (1 + s_l - s_k), 0, 1); an infinite slope is the subgradient.
    void smooth(double slope, double scale, Real* delta) {
        from_.resize(levels_.size());
        for (std::size_t i = 0; i < levels_.size(); ++i) from_[i] = levels_[i] - Real(1);
        ramp(static_cast<Real>(slope), delta);
        write(scale, delta);
    }

    // The same with beta = 1 on the pairs that are in wrong order or tied, divided by how many there are. False if none.
    bool wrong(double scale, Real* delta) {
        from_.resize(levels_.size());
        for (std::size_t i = 0; i < levels_.size(); ++i) from_[i] = std::nextafter(levels_[i], -infinity);
        ramp(infinity, delta);
        double count = 0;
        for (Real sum : sums_) count += static_cast<double>(sum);
        write(count > 0 ? scale / count : 0.0, delta);
        return count > 0;
    }

private:
    static constexpr Real infinity = std::numeric_limits<Real>::infinity();

    Real value_of(std::size_t place) const { return values_[static_cast<std::size_t>(many_[place])]; }
    Real level_of(std::size_t place) const { return levels_[order_[place]]; }

    void sort() {
        many_.clear();
        for (Index y = 0; y < outputs_; ++y)
            if (values_[static_cast<std::size_t>(y)] != -infinity) many_.push_back(y);
        std::sort(many_.begin(), many_.end(), [&](Index a, Index b) {
            const Real u = values_[static_cast<std::size_t>(a)], v = values_[static_cast<std::size_t>(b)];
            return u != v ? u < v : a < b;
        });
        order_.resize(few_.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return levels_[a] != levels_[b] ? levels_[a] < levels_[b] : a < b;
        });
        many_sums_.assign(1, 0.0);
        for (std::size_t i = 0; i < many_.size(); ++i)
            many_sums_.push_back(many_sums_.back() + static_cast<double>(value_of(i)));
    }

    // sums_ by `few`, delta by output on `many`.
    void ramp(Real slope, Real* delta) {
        sums_.assign(levels_.size(), Real(0));
        std::fill_n(delta, width_, Real(0));
        if (!sorted_) {
            kernels<Real>().ramp(values_.data(), width_, from_.data(), static_cast<Index>(from_.size()), slope, delta,
                                 sums_.data());
            return;
        }
        const auto rise = static_cast<double>(slope);
        const double length = std::isinf(rise) ? 0.0 : 1 / rise;
        ramp_few(rise, length);
        ramp_many(rise, length, delta);
    }

    // By rising foot, how far the values are up the ramp that begins there.
    void ramp_few(double rise, double length) {
        Window on;
        std::size_t begun = 0, full = 0;  // of many: the first beyond the foot, and beyond the top
        double before = 0;
        squares_ = 0;
        for (std::size_t place : order_) {
            const auto foot = static_cast<double>(from_[place]);
            const auto up = [&](std::size_t i) { return static_cast<double>(value_of(i)) - foot; };
            for (; begun < full && up(begun) <= 0; ++begun) on.remove(static_cast<double>(value_of(begun)) - before);
            on.shift(before - foot);
            if (begun == full)
                while (begun < many_.size() && up(begun) <= 0) full = ++begun;
            for (; full < many_.size() && up(full) < length; ++full) on.add(up(full));
            const auto whole = static_cast<double>(many_.size() - full);
            sums_[place] = static_cast<Real>(on.sum_times(rise) + whole);
            squares_ += on.squares_times(rise) + whole;
            before = foot;
        }
    }

    // By rising value, how far it is up the ramps.
    void ramp_many(double rise, double length, Real* delta) {
        Window on;
        std::size_t begun = 0, full = 0;  // of few: the first that the value is not above, and on top of
        double before = 0;
        for (Index y : many_) {
            const auto value = static_cast<double>(values_[static_cast<std::size_t>(y)]);
            const auto up = [&](std::size_t i) { return value - static_cast<double>(from_[order_[i]]); };
            for (; full < begun && up(full) >= length; ++full) on.remove(before - static_cast<double>(from_[order_[full]]));
            on.shift(value - before);
            if (full == begun)
                while (begun < order_.size() && up(begun) > 0 && up(begun) >= length) full = ++begun;
            for (; begun < order_.size() && up(begun) > 0; ++begun) on.add(up(begun));
            delta[y] = static_cast<Real>(on.sum_times(rise) + static_cast<double>(full));
            before = value;
        }
    }

    // Relevant labels rise: zeta is minus a sum of betas on Y, plus one off it.
    void write(double scale, Real* delta) const {
        const auto by_many = static_cast<Real>(turned_ ? -scale : scale);
        for (Index y = 0; y < width_; ++y) delta[y] *= by_many;
        for (std::size_t i = 0; i < few_.size(); ++i) delta[few_[i]] = -by_many * sums_[i];
    }

    Index outputs_ = 0, width_ = 0;
    double pairs_ = 0;
    bool turned_ = false, sorted_ = false;
    std::vector<Real> values_;           // of many, by output; -infinity elsewhere
    std::vector<Index> few_;             // outputs
    std::vector<Real> levels_;           // of few
    std::vector<Real> from_, sums_;      // beside levels_
    std::vector<Index> many_;            // outputs by rising value
    std::vector<std::size_t> order_;     // places in few_ by rising level
    std::vector<double> many_sums_;
    double squares_ = 0;                 // sum of the squared betas, where sorted
};

}  // namespace hinge::solve
