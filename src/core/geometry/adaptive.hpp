// Adaptive: the squared norm with a confidence v_i for each feature, shared by all outputs (diagonal second order).
//
// With q = sum_i v_i x_i^2 a step is divided by q + r, and after a round with a loss v_i falls by b v_i^2 x_i^2,
// b = 1/(q + r). A round of weight w has r/w in place of r: twice the weight trusts the round twice as much, and
// weight zero moves nothing. The complexity changes as it learns, so there is no certificate.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "../average.hpp"
#include "../linear.hpp"
#include "../settings.hpp"
#include "../solve/quadratic.hpp"

namespace hinge {

template <class Number>
class Adaptive {
public:
    using Real = Number;
    using Line = Quadratic;
    static constexpr bool certified = false;

    explicit Adaptive(Index reserved) : linear_(reserved), average_(reserved), confidence_(reserved) {}

    const Weights<Real>& read() const { return linear_.weights(); }
    LazyAverage<Real>& average() { return average_; }
    const LazyAverage<Real>& average() const { return average_; }

    double grow(Index features, Index outputs) {
        const bool first = confidence_.outputs() == 0;
        const Index from = first ? -confidence_.reserved() : confidence_.features();
        linear_.grow(features, outputs);
        average_.grow(features, outputs, 1.0);
        confidence_.grow(features, 1);
        for (Index j = from; j < features; ++j) *confidence_.row(j) = Real(1);
        return 0;
    }
    void erase_output(Index output) {
        linear_.weights().erase_output(output);
        average_.erase_output(output);
    }

    // What is predicted with: the mean where it is kept.
    void keep_average() { average_.turn_on(); }
    bool averages() const { return average_.ready(); }
    Index room() const { return average_.on() ? read().width() : 0; }
    void predict(const Row<Real>& x, Real* out, Real* room) const { average_.predict(x, *this, out, room); }
    double weight(Index feature, Index output) const { return average_.weight(feature, output, *this); }

    void score(const Row<Real>& x, Real* out) const { linear_.score(x, out); }
    double scale(Index) const { return 1.0; }
    void tick() {
        average_.tick([](std::size_t) { return 1.0; });
    }

    double measure(const Row<Real>&) const { return 0; }

    Quadratic& line(const Row<Real>& x, const Settings& set, double weight) {
        double q = 0;
        x.each([&](Index j, Real value) {
            q += static_cast<double>(*confidence_.row(j)) * static_cast<double>(value) * static_cast<double>(value);
        });
        least_ = set.r / weight;
        line_ = {q + least_, std::numeric_limits<double>::infinity()};
        return line_;
    }
    void load(Index) {}

    double advance(const Row<Real>& x, const Step& step, const Real*) {
        const Row<Real> direction = confident(x);
        linear_.add(direction, step);
        average_.add(direction, step);
        // v - b v^2 x^2 with b = 1 / curvature, written so that it stays positive where x is large and r is small beside it.
        const double b = 1 / line_.curvature;
        x.each([&](Index j, Real value) {
            Real& v = *confidence_.row(j);
            const double own = static_cast<double>(v) * static_cast<double>(value) * static_cast<double>(value);
            v = static_cast<Real>(static_cast<double>(v) * (b * std::max(least_, line_.curvature - own)));
        });
        return 0;
    }

    double conjugate() const { return 0; }

    void archive(Archive& to) {
        to.weights("weights", linear_.weights());
        to.weights("confidence", confidence_);
        average_.archive(to);
    }

private:
    // v o x, at the places of x
    Row<Real> confident(const Row<Real>& x) {
        const auto count = static_cast<std::size_t>(x.count);
        if (scaled_.size() < count) scaled_.resize(count);
        for (Index i = 0; i < x.count; ++i)
            scaled_[static_cast<std::size_t>(i)] = *confidence_.row(x.feature(i)) * x.value[i];
        const Real constant = x.constant != Real(0) ? *confidence_.row(-1) * x.constant : Real(0);
        return {x.index, scaled_.data(), x.count, constant};
    }

    Linear<Real> linear_;
    LazyAverage<Real> average_;
    Weights<Real> confidence_;
    Quadratic line_{};
    double least_ = 0;  // of the curvature: r over the round's weight
    std::vector<Real> scaled_;
};

}  // namespace hinge
