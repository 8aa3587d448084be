// The number of an ordered class as a real target: the squared error of a linear score (MATH.md B, Widrow-Hoff).
//
// The answer is the score rounded, halves up, and clipped to 1..K: thresholds that stand still at 1.5, 2.5, ...
#pragma once

#include "../judgement.hpp"
#include "../kernels.hpp"
#include "../region.hpp"
#include "../step.hpp"
#include "ordinal.hpp"

namespace hinge {

template <class Number>
class ClassNumber {
public:
    using Real = Number;
    using Input = Row<Real>;
    using Target = ordinal::Interval;  // of one class
    using Region = Residual<Real>;

    void set_classes(Index classes) {
        thresholds_.resize(static_cast<std::size_t>(classes > 0 ? classes - 1 : 0));
        for (std::size_t i = 0; i < thresholds_.size(); ++i) thresholds_[i] = static_cast<double>(i) + 1.5;
    }
    std::span<const double> thresholds() const { return thresholds_; }

    template <class Geometry>
    Judgement judge(const Geometry& geometry, const Input& x, Target y, double) {
        geometry.score(x, &score_);
        const double error = static_cast<double>(y.lo) - static_cast<double>(score_);
        region_ = {&x, error};
        const Index predicted = ordinal::predicted_class(static_cast<double>(score_), thresholds());
        return {error * error, static_cast<double>(ordinal::classes_outside(predicted, y)), true};
    }

    const Region& region() const { return region_; }
    const Input& direction(const Input& x) const { return x; }
    double promise(const Step&) const { return 0; }
    const Real* scores() const { return &score_; }

private:
    Region region_{};
    Real score_ = 0;
    std::vector<double> thresholds_;
};

}  // namespace hinge
