// The direction of a round, max <t, l> over the dual ball of an interpolation with a bound ||t||_q <= radius,
// 1 < q < infinity: one root.
//
// Where both bounds of an interpolation are tight, t is a multiple of y with (1-c) y_j^a + c y_j^b = l_j / max l, a and b
// the slopes of the bounds (a cap: b infinite, y_j = min(1, ..)), and c is where both are equally tight. The root is found
// in u = log(c / (1-c)), which resolves both ends.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "../elementary.hpp"
#include "bracketed_zero.hpp"
#include "dual_ball.hpp"

namespace hinge {
namespace solve {

class PowerMixture {
public:
    // l > 0.
    void linear(std::span<const double> losses, const DualBall& ball, std::span<double> steps) {
        load(losses, ball, steps);
        Tightness at = mix(-infinity);
        if (!(at.excess() > 0)) return scale(at);
        at = mix(infinity);
        if (!(at.excess() < 0)) return scale(at);
        const double u = bracketed_zero(-700, 700, 0, [&](double middle) {
            at = mix(middle);
            return ValueSlope{at.excess(), at.slope};
        });
        if (std::abs(at.excess()) > 1e-13) return straddle(u);
        scale(at);
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    struct ValueSlope {
        double value;
        double slope;
    };
    struct Tightness {
        double first;   // log of ||y||_q / radius
        double second;  // of the other bound, or of the cap
        double slope;   // of their difference in u

        double excess() const { return second - first; }
    };
    struct Share {
        double x;     // log y
        double rate;  // dx/du
    };
    // c as u gives it
    struct Split {
        double c;
        double rest;
        double log_c;
        double log_rest;

        explicit Split(double u) {
            const double small = bounded_exp(-std::abs(u));
            const double log_large = -log(1 + small);
            const double log_small = log_large - std::abs(u);
            log_c = u > 0 ? log_large : log_small;
            log_rest = u > 0 ? log_small : log_large;
            c = bounded_exp(log_c);
            rest = bounded_exp(log_rest);
        }
    };

    void load(std::span<const double> losses, const DualBall& ball, std::span<double> steps) {
        steps_ = steps;
        a_ = ball.bounds[0].slope;
        b_ = ball.count == 2 ? ball.bounds[1].slope : infinity;
        log_radius_ = log(ball.bounds[0].radius);
        log_other_ = log(ball.count == 2 ? ball.bounds[1].radius : ball.cap);  // infinite: there is no other bound
        const double top = *std::max_element(losses.begin(), losses.end());
        shares_.resize(losses.size());
        log_shares_.resize(losses.size());
        rates_.resize(losses.size());
        for (std::size_t j = 0; j < losses.size(); ++j) shares_[j] = losses[j] / top;
        for (std::size_t j = 0; j < losses.size(); ++j) log_shares_[j] = log(shares_[j]);
    }

    // Sets the steps to log y.
    Tightness mix(double u) {
        const bool inner = std::isfinite(u);
        const Split split(inner ? u : 0);
        for (std::size_t j = 0; j < steps_.size(); ++j) {
            const Share share = inner ? between(j, split) : Share{u < 0 ? all_first(j) : all_second(j), 0};
            steps_[j] = share.x;
            rates_[j] = share.rate;
        }
        return weigh();
    }

    Tightness weigh() const {
        const double top = *std::max_element(steps_.begin(), steps_.end());
        double first = 0;
        double second = 0;
        double first_rate = 0;
        double second_rate = 0;
        for (std::size_t j = 0; j < steps_.size(); ++j) {
            if (steps_[j] == -infinity) continue;
            const double power = bounded_exp((1 + a_) * (steps_[j] - top));
            first += power;
            first_rate += power * rates_[j];
            if (std::isinf(b_)) continue;
            const double other = bounded_exp((1 + b_) * (steps_[j] - top));
            second += other;
            second_rate += other * rates_[j];
        }
        const double first_norm = top + log(first) / (1 + a_);
        if (std::isinf(b_)) return {first_norm - log_radius_, top - log_other_, -first_rate / first};
        return {first_norm - log_radius_, top + log(second) / (1 + b_) - log_other_,
                second_rate / second - first_rate / first};
    }

    double all_first(std::size_t j) const {
        if (a_ == 0) return shares_[j] == 1 ? 0.0 : -infinity;
        return log_shares_[j] / a_;
    }
    double all_second(std::size_t j) const { return std::isinf(b_) ? 0.0 : log_shares_[j] / b_; }

    Share between(std::size_t j, const Split& split) const {
        if (a_ == 0) {
            const double over = split.c < split.rest ? split.c - (1 - shares_[j]) : shares_[j] - split.rest;
            if (!(over > 0)) return {-infinity, 0};
            return {(log(over) - split.log_c) / b_, split.rest * (split.c - over) / (b_ * over)};
        }
        const double alone = (log_shares_[j] - split.log_rest) / a_;
        if (std::isinf(b_)) return alone < 0 ? Share{alone, split.c / a_} : Share{0, 0};
        double x = std::min(alone, (log_shares_[j] - split.log_c) / b_);
        for (int iteration = 0;; ++iteration) {  // as in PowerBounds::log_step
            const double one = bounded_exp(split.log_rest + a_ * x - log_shares_[j]);
            const double other = bounded_exp(split.log_c + b_ * x - log_shares_[j]);
            const double slope = a_ * one + b_ * other;
            const double move = log(one + other) * (one + other) / slope;
            x -= move;
            if (iteration == 100 || !(std::abs(move) > 4e-16 * std::max(1.0, std::abs(x))))
                return {x, (split.c * one - split.rest * other) / slope};
        }
    }

    // The steps jump at u, by the last bit of a loss: the best ones lie on the line between the two sides.
    void straddle(double u) {
        const double margin = 2e-15 * std::max(1.0, std::abs(u));
        scale(mix(u - margin));
        left_.assign(steps_.begin(), steps_.end());
        scale(mix(u + margin));
        right_.assign(steps_.begin(), steps_.end());
        Tightness at{};
        bracketed_zero(0, 1, 0.5, [&](double part) {
            for (std::size_t j = 0; j < steps_.size(); ++j) steps_[j] = log((1 - part) * left_[j] + part * right_[j]);
            at = weigh();
            return ValueSlope{at.excess(), 0};
        });
        scale(at);
    }

    // From log y to the steps: as long as the tighter bound lets them be.
    void scale(const Tightness& at) {
        const double log_norm = std::max(at.first, at.second);
        for (double& x : steps_) x = std::isinf(x) ? 0.0 : bounded_exp(x - log_norm);
    }

    std::span<double> steps_;
    double a_ = 0;
    double b_ = 0;
    double log_radius_ = 0;
    double log_other_ = 0;
    std::vector<double> shares_;
    std::vector<double> log_shares_;
    std::vector<double> rates_;
    std::vector<double> left_;
    std::vector<double> right_;
};

}  // namespace solve
}  // namespace hinge
