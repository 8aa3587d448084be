// Squared norm: F(w) = ||w||^2 / 2, G(theta) = ||theta||^2 / 2, w = theta.
#pragma once

#include "../average.hpp"
#include "../linear.hpp"
#include "../reserved_order.hpp"
#include "../settings.hpp"
#include "../solve/quadratic.hpp"

namespace hinge {

template <class Number>
class SquaredNorm {
public:
    using Real = Number;
    using Line = Quadratic;
    static constexpr bool certified = true;

    explicit SquaredNorm(Index reserved) : linear_(reserved), average_(reserved) {}

    const Weights<Real>& read() const { return linear_.weights(); }
    Linear<Real>& written() { return linear_; }
    LazyAverage<Real>& average() { return average_; }
    const LazyAverage<Real>& average() const { return average_; }

    // New features and outputs start at zero. Returns by how much the sum of all G rose.
    double grow(Index features, Index outputs) {
        linear_.grow(features, outputs);
        average_.grow(features, outputs, 1.0);
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

    void insert_reserved(Index place, Index like) {
        linear_.weights().insert_reserved(place, like);
        average_.insert_reserved(place, like);
    }
    // What was learned of a single output's reserved weight changes by hand; its mean stays.
    void shift(Index feature, double by) {
        linear_.weights().row(feature)[0] += static_cast<Real>(by);
        average_.add(feature, 0, by);
    }
    // See Weights::regrid.
    void regrid(Index from, Index to, Index reserved) {
        linear_.weights().regrid(from, to, reserved);
        average_.regrid(from, to, reserved);
    }

    void score(const Row<Real>& x, Real* out) const { linear_.score(x, out); }
    // Weights are what is read times this.
    double scale(Index) const { return 1.0; }
    void tick() {
        average_.tick([](std::size_t) { return 1.0; });
    }

    double squared_length(const Row<Real>& x) const { return squared_norm(x); }
    // max over theta of <x, Hessian of G, x>; comes before `line`.
    double measure(const Row<Real>& x) { return line_.curvature = squared_norm(x); }

    // G along x is a parabola, with the same curvature for every output.
    Quadratic& line(const Row<Real>&, const Settings& set, double weight) {
        line_.cap = set.C * weight;
        return line_;
    }
    void load(Index) {}

    // theta += x alpha'; returns by how much the sum of all G rose.
    double advance(const Row<Real>& x, const Step& step, const Real* scores) {
        linear_.add(x, step);
        average_.add(x, step);
        double rise = 0;
        for (std::size_t i = 0; i < step.size(); ++i)
            rise += line_.rise(static_cast<double>(scores[step.outputs()[i]]), step.alphas()[i]);
        return rise;
    }

    // The reserved weights of a single output in order.
    void constrain(solve::IsotonicProjection& project) {
        order_.restore(linear_.weights(), average_, project, [](double, double) {});
    }

    // The sum of all G.
    double conjugate() const { return sum_of_squares(read()) / 2; }

    void archive(Archive& to) {
        to.weights("weights", linear_.weights());
        average_.archive(to);
    }

private:
    Linear<Real> linear_;
    LazyAverage<Real> average_;
    ReservedOrder<Real> order_;
    Quadratic line_{};
};

}  // namespace hinge
