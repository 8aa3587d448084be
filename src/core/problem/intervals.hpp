// Interval labels on ordered classes as a problem of the loop: K-1 constraints on one output (MATH.md B).
//
// Thresholds are reserved features: threshold i (1..K-1) is the i-th reserved row, lowest first, with the value -1 in
// the constraint (x, -e_i). What a round moves along is the sum of its violated constraints, (S x, -tau) with
// S = sum tau; its product with the weights is minus the loss. Scores and thresholds are compared as they are stored,
// before the geometry's scale, so that a tie is a tie in both.
#pragma once

#include <vector>

#include "../judgement.hpp"
#include "../kernels.hpp"
#include "../region.hpp"
#include "../solve/pav.hpp"
#include "../step.hpp"
#include "ordinal.hpp"

namespace hinge {

// What is stored of a score: before the geometry's scale.
template <class Geometry>
double stored_score(Geometry& geometry, const Row<typename Geometry::Real>& x) {
    if constexpr (requires { geometry.stored_score(x); })
        return geometry.stored_score(x);
    else
        return static_cast<double>(kernels<typename Geometry::Real>().dot(geometry.read().origin(), x));
}

template <class Geometry>
auto stored_thresholds(const Geometry& geometry) {
    if constexpr (requires { geometry.stored_thresholds(); })
        return geometry.stored_thresholds();
    else
        return geometry.read().side();
}

template <class Number>
class Intervals {
public:
    using Real = Number;
    using Input = Row<Real>;
    using Target = ordinal::Interval;
    using Region = FreeSigns<Real>;

    template <class Geometry>
    Judgement judge(Geometry& geometry, const Input& x, Target y, double) {
        const double score = stored_score(geometry, x);
        const auto thresholds = stored_thresholds(geometry);
        const ordinal::Violations v = ordinal::violations(score, thresholds, y);
        const double loss =
            v.none() ? 0.0 : geometry.scale(0) * ordinal::interval_hinge(score, thresholds, y, v);
        const auto classes = static_cast<Index>(thresholds.size()) + 1;
        region_ = {&x, ordinal::constraints(y, classes)};
        pull(x, v, y, classes - 1);
        along_ = static_cast<Real>(-loss);
        const Index predicted = ordinal::predicted_class(score, thresholds);
        return {loss, static_cast<double>(ordinal::classes_outside(predicted, y)), !v.none()};
    }

    const Region& region() const { return region_; }
    const Pull<Real>& direction(const Input&) const { return pull_; }
    double promise(const Step&) const { return 0; }
    const Real* scores() const { return &along_; }

    // The thresholds' order, where a step that varies has broken it.
    template <class Geometry>
    void settle(Geometry& geometry) {
        geometry.constrain(order_);
    }

private:
    void pull(const Input& x, ordinal::Violations v, Target y, Index count) {
        index_.clear();
        value_.clear();
        ordinal::each(v, y, [&](Index i, int tau) {
            index_.push_back(i - 1 - count);
            value_.push_back(static_cast<Real>(-tau));
        });
        const std::size_t thresholds = index_.size();
        if (v.sum() != 0) {
            const auto sum = static_cast<Real>(v.sum());
            const std::size_t length = thresholds + static_cast<std::size_t>(x.count);
            index_.resize(length);
            value_.resize(length);
            for (Index i = 0; i < x.count; ++i) {
                index_[thresholds + static_cast<std::size_t>(i)] = x.feature(i);
                value_[thresholds + static_cast<std::size_t>(i)] = sum * x.value[i];
            }
        }
        static_cast<Row<Real>&>(pull_) = {index_.data(), value_.data(), static_cast<Index>(index_.size()), Real(0)};
        pull_.instance = x;
        pull_.sum = v.sum();
        pull_.rows = {index_.data(), thresholds};
        pull_.values = {value_.data(), thresholds};
    }

    Region region_{};
    Pull<Real> pull_{};
    Real along_ = 0;
    std::vector<Index> index_;
    std::vector<Real> value_;
    solve::IsotonicProjection order_;
};

}  // namespace hinge
