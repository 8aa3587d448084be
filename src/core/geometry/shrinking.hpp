// The squared norm with a weight decay of 1 - 1/t in round t: SGD for lambda ||w||^2 + mean loss, step 1/(2 lambda t).
//
// From w = (1 - 1/t) w + step / t it follows that t w is a plain sum of the steps. So the read-out is that sum u, the
// weights before round t are u / (t - 1), and a round touches only what it moves. Rounds of weight zero are no step of
// the schedule.
#pragma once

#include "../average.hpp"
#include "../linear.hpp"
#include "../settings.hpp"
#include "../solve/quadratic.hpp"

namespace hinge {

template <class Number>
class Shrinking {
public:
    using Real = Number;
    using Line = Quadratic;
    static constexpr bool certified = false;

    explicit Shrinking(Index reserved) : linear_(reserved), average_(reserved) {}

    const Weights<Real>& read() const { return linear_.weights(); }
    Linear<Real>& written() { return linear_; }
    LazyAverage<Real>& average() { return average_; }
    const LazyAverage<Real>& average() const { return average_; }

    double grow(Index features, Index outputs) {
        linear_.grow(features, outputs);
        average_.grow(features, outputs, rounds_ > 0 ? clock_ / rounds_ : 1.0);
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

    // See Weights::regrid.
    void regrid(Index from, Index to, Index reserved) {
        linear_.weights().regrid(from, to, reserved);
        average_.regrid(from, to, reserved);
    }

    void score(const Row<Real>& x, Real* out) const {
        linear_.score(x, out);
        const auto c = static_cast<Real>(scale(0));
        for (Index y = 0; y < read().outputs(); ++y) out[y] *= c;
    }
    double scale(Index) const { return steps_ > 0 ? 1 / steps_ : 1.0; }

    void tick(double weight) {
        const double c = scale(0);
        average_.tick([c](std::size_t) { return c; });
        clock_ += c;
        rounds_ += 1;
        if (weight > 0) steps_ += 1;
    }

    double measure(const Row<Real>&) { return line_.curvature = 0; }
    Quadratic& line(const Row<Real>&, const Settings& set, double weight) {
        line_.cap = set.C * weight;
        return line_;
    }
    void load(Index) {}

    double advance(const Row<Real>& x, const Step& step, const Real*) {
        linear_.add(x, step);
        average_.add(x, step);
        return 0;
    }

    double conjugate() const { return sum_of_squares(read()) * scale(0) * scale(0) / 2; }

    void archive(Archive& to) {
        to.weights("weights", linear_.weights());
        to.value("shrinking_steps", steps_);
        to.value("shrinking_clock", clock_);
        to.value("shrinking_rounds", rounds_);
        average_.archive(to);
    }

private:
    Linear<Real> linear_;
    LazyAverage<Real> average_;
    Quadratic line_{};
    double steps_ = 0;   // rounds of the schedule
    double clock_ = 0;   // the sum of the scales so far
    double rounds_ = 0;  // rounds in that sum
};

}  // namespace hinge
