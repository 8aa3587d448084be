// Squared norm within a ball: after each step the weights are drawn back to ||w|| <= radius.
//
// The weights are a scale times what is stored, so that drawing back costs one product. ||w||^2 is kept by what each
// step adds to it, and summed anew after as many steps as there are weights; when the scale has become small it is
// multiplied into the stored values, once in many rounds.
#pragma once

#include <cmath>

#include "../average.hpp"
#include "../linear.hpp"
#include "../reserved_order.hpp"
#include "../settings.hpp"
#include "../solve/quadratic.hpp"

namespace hinge {

template <class Number>
class NormBall {
public:
    using Real = Number;
    using Line = Quadratic;
    static constexpr bool certified = false;
    static constexpr double radius = 1;

    explicit NormBall(Index reserved) : linear_(reserved), average_(reserved) {}

    const Weights<Real>& read() const { return linear_.weights(); }
    LazyAverage<Real>& average() { return average_; }
    const LazyAverage<Real>& average() const { return average_; }

    double grow(Index features, Index outputs) {
        linear_.grow(features, outputs);
        average_.grow(features, outputs, 1.0);
        return 0;
    }
    void insert_reserved(Index place, Index like) {
        linear_.weights().insert_reserved(place, like);
        average_.insert_reserved(place, like);
        sum_anew();
        draw_back();
    }

    void score(const Row<Real>& x, Real* out) const {
        linear_.score(x, out);
        *out = static_cast<Real>(static_cast<double>(*out) * scale_);
    }
    double scale(Index) const { return scale_; }
    void tick() {
        average_.tick([&](std::size_t) { return scale_; });
    }

    double squared_length(const Row<Real>& x) const { return squared_norm(x); }
    double measure(const Row<Real>& x) { return line_.curvature = squared_norm(x); }

    Quadratic& line(const Row<Real>&, const Settings& set, double weight) {
        line_.cap = set.C * weight;
        return line_;
    }
    void load(Index) {}

    double advance(const Row<Real>& x, const Step& step, const Real* scores) {
        scaled_.clear();
        double rise = 0;
        for (std::size_t i = 0; i < step.size(); ++i) {
            scaled_.set(step.outputs()[i], step.alphas()[i] / scale_);
            rise += line_.rise(static_cast<double>(scores[step.outputs()[i]]), step.alphas()[i]);
        }
        linear_.add(x, scaled_);
        average_.add(x, scaled_);
        square_ += 2 * rise;
        return rise;
    }

    void constrain(solve::IsotonicProjection& project) {
        order_.restore(linear_.weights(), average_, project, [&](double before, double after) {
            square_ += (after - before) * (after + before) * scale_ * scale_;
        });
        steps_ += 1;
        if (steps_ >= static_cast<double>(read().features() + read().reserved())) sum_anew();
        draw_back();
    }

    void archive(Archive& to) {
        to.weights("weights", linear_.weights());
        to.value("scale", scale_);
        to.value("square", square_);
        to.value("steps", steps_);
        average_.archive(to);
    }

private:
    static constexpr double small = 0x1p-20;

    void sum_anew() {
        square_ = sum_of_squares(read()) * scale_ * scale_;
        steps_ = 0;
    }

    void draw_back() {
        if (square_ > radius * radius) {
            scale_ *= radius / std::sqrt(square_);
            square_ = radius * radius;
        }
        if (scale_ < small) rebase();
    }

    void rebase() {
        Weights<Real>& weights = linear_.weights();
        average_.rescale(0, scale_);
        for (Index j = -weights.reserved(); j < weights.features(); ++j) {
            Real& u = weights.row(j)[0];
            const auto fresh = static_cast<Real>(static_cast<double>(u) * scale_);
            average_.add(j, 0, static_cast<double>(fresh) - static_cast<double>(u) * scale_);
            u = fresh;
        }
        scale_ = 1;
        sum_anew();
    }

    Linear<Real> linear_;
    LazyAverage<Real> average_;
    ReservedOrder<Real> order_;
    Quadratic line_{};
    Step scaled_;
    double scale_ = 1;
    double square_ = 0;  // ||w||^2
    double steps_ = 0;   // since it was summed anew
};

}  // namespace hinge
