// Ordered classes 1..K with interval labels: what a score and K-1 thresholds in order say of a round (MATH.md B).
//
// Threshold i (1..K-1) stands between the classes i and i+1 and lies at thresholds[i-1]. A score that equals it belongs
// to the class above. As a constraint it is violated from both sides there, so at ties the violated constraints can
// outnumber the classes between the prediction and the interval: the mistake bounds hold for the former.
//
// Because the thresholds are in order, the violated constraints are neighbours: the last ones below lo and the first
// ones from hi on. Both sides are violated at once only where they all equal the score.
//
// PRIL on exact labels is PRank but for these ties: PRank as published rests whenever the predicted class is right.
#pragma once

#include <algorithm>
#include <span>

#include "../rows.hpp"

namespace hinge::ordinal {

// Classes lo..hi, both among them.
struct Interval {
    Index lo;
    Index hi;
};

// Thresholds lo-raised..lo-1 are above the score and must not be (tau = +1: they fall by a step and the score rises);
// hi..hi+lowered-1 are not above it and must be (tau = -1).
struct Violations {
    Index raised;
    Index lowered;

    Index count() const { return raised + lowered; }   // m, sum |tau|
    Index sum() const { return raised - lowered; }     // sum tau, the coefficient of x
    bool none() const { return count() == 0; }
};

namespace detail {

constexpr std::size_t few = 64;  // so many are counted faster than searched: no branch to guess

template <class Real>
Index at_or_below(std::span<const Real> thresholds, double score) {
    if (thresholds.size() <= few) {
        Index count = 0;
        for (const Real b : thresholds) count += static_cast<double>(b) <= score;
        return count;
    }
    const auto above = std::upper_bound(thresholds.begin(), thresholds.end(), score,
                                        [](double f, Real b) { return f < static_cast<double>(b); });
    return static_cast<Index>(above - thresholds.begin());
}

template <class Real>
Index below(std::span<const Real> thresholds, double score) {
    if (thresholds.size() <= few) {
        Index count = 0;
        for (const Real b : thresholds) count += static_cast<double>(b) < score;
        return count;
    }
    const auto from = std::lower_bound(thresholds.begin(), thresholds.end(), score,
                                       [](Real b, double f) { return static_cast<double>(b) < f; });
    return static_cast<Index>(from - thresholds.begin());
}

}  // namespace detail

// How many constraints an interval makes: none if it is all of 1..K.
inline Index constraints(Interval y, Index classes) { return classes - 1 - (y.hi - y.lo); }

// 1 + #{i : b_i <= f}
template <class Real>
Index predicted_class(double score, std::span<const Real> thresholds) {
    return 1 + detail::at_or_below(thresholds, score);
}

// L_MAE: how many classes the prediction lies outside the interval.
inline Index classes_outside(Index predicted, Interval y) {
    return std::max({Index{0}, y.lo - predicted, predicted - y.hi});
}

// The constraints with z_i (f - b_i) <= 0.
template <class Real>
Violations violations(double score, std::span<const Real> thresholds, Interval y) {
    const Index first_not_below = detail::below(thresholds, score);
    const Index first_above = detail::at_or_below(thresholds, score);
    return {std::max(Index{0}, y.lo - 1 - first_not_below), std::max(Index{0}, first_above - (y.hi - 1))};
}

// L_IMC: by how much the score is on the wrong side of its thresholds, summed. It asks for no margin, so it is convex
// but no upper bound of L_MAE: with all thresholds at the score it is zero whatever the prediction.
template <class Real>
double interval_hinge(double score, std::span<const Real> thresholds, Interval y, Violations v) {
    double loss = 0;
    for (Index i = y.lo - v.raised; i < y.lo; ++i)
        loss += static_cast<double>(thresholds[static_cast<std::size_t>(i - 1)]) - score;
    for (Index i = y.hi; i < y.hi + v.lowered; ++i)
        loss += score - static_cast<double>(thresholds[static_cast<std::size_t>(i - 1)]);
    return loss;
}

// Calls visit(i, tau_i) for the violated constraints, thresholds counted from 1.
template <class Visit>
void each(Violations v, Interval y, Visit&& visit) {
    for (Index i = y.lo - v.raised; i < y.lo; ++i) visit(i, +1);
    for (Index i = y.hi; i < y.hi + v.lowered; ++i) visit(i, -1);
}

// b_i -= step tau_i. The paper's kernel section once drops this minus sign.
template <class Real>
void move_thresholds(std::span<Real> thresholds, Violations v, Interval y, double step) {
    each(v, y, [&](Index i, int tau) {
        Real& b = thresholds[static_cast<std::size_t>(i - 1)];
        b = static_cast<Real>(static_cast<double>(b) - step * tau);
    });
}

// The classes that scores within `margin` of this one are given: all that cannot be told apart there.
template <class Real>
Interval indistinct_classes(double score, std::span<const Real> thresholds, double margin) {
    return {predicted_class(score - margin, thresholds), predicted_class(score + margin, thresholds)};
}

}  // namespace hinge::ordinal
