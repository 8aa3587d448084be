// Squared norm: F(w) = ||w||^2 / 2, G(theta) = ||theta||^2 / 2, w = theta.
#pragma once

#include "../average.hpp"
#include "../linear.hpp"
#include "../settings.hpp"
#include "../solve/quadratic.hpp"

namespace hinge {

template <class Number>
class SquaredNorm {
public:
    using Real = Number;
    static constexpr bool certified = true;

    explicit SquaredNorm(Index reserved) : linear_(reserved), average_(reserved) {}

    const Weights<Real>& read() const { return linear_.weights(); }
    LazyAverage<Real>& average() { return average_; }
    const LazyAverage<Real>& average() const { return average_; }

    void grow(Index features, Index outputs) {
        linear_.grow(features, outputs);
        average_.grow(features, outputs, 1.0);
    }
    void erase_output(Index output) {
        linear_.weights().erase_output(output);
        average_.erase_output(output);
    }

    void raw_score(const Row<Real>& x, Real* out) const { linear_.score(x, out); }
    double scale(Index) const { return 1.0; }
    void tick() {
        average_.tick([](std::size_t) { return 1.0; });
    }

    // G along x is a parabola, with the same curvature for every output.
    Quadratic line(const Row<Real>& x, const Settings& set, double weight) const {
        return {squared_norm(x), set.C * weight};
    }

    void advance(const Row<Real>& x, const Quadratic&, const Step& step) {
        linear_.add(x, step);
        average_.add(x, step);
    }

    // max over theta of <x, Hessian of G, x>
    double smoothness(const Row<Real>& x) const { return squared_norm(x); }

    double conjugate(Index output) const { return sum_of_squares(read(), output, output + 1) / 2; }
    double conjugate() const { return sum_of_squares(read(), 0, read().outputs()) / 2; }

    void archive(Archive& to) {
        to.weights("weights", linear_.weights());
        linear_.grow(read().features(), read().outputs());
        average_.archive(to);
    }

private:
    Linear<Real> linear_;
    LazyAverage<Real> average_;
};

}  // namespace hinge
