// The best steps t >= 0 of a round under one bound ||t||_q <= radius with 1 < q < infinity, perhaps with a cap on each
// of them, or under two such bounds, of which the first may have q = 1: the dual balls of the p-norms and of the
// interpolations.
//
// Wherever t_j is below the cap, l_j = q_j t_j + sum_i theta_i (t_j / radius_i)^slope_i: each bound has one multiplier
// theta_i >= 0, zero where the bound is slack, and every t_j falls in each of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "../elementary.hpp"
#include "bracketed_zero.hpp"
#include "capped_simplex.hpp"
#include "dual_ball.hpp"

namespace hinge {
namespace solve {

class PowerBounds {
public:
    // Maximises sum 2 t_j l_j - t_j^2 q_j for l > 0, q >= 0; the ball's radii and its cap are times C.
    void best(std::span<const double> losses, std::span<const double> curvatures, const DualBall& ball, double C,
              std::span<double> steps) {
        load(losses, curvatures, ball, C, steps);
        if (ball.count == 1) {
            tighten(0, highest(0), guess());
        } else {
            const double first_alone = tighten_first();
            if (within(1)) return shrink();
            theta_[0] = 0;
            const double second_alone = tighten(1, highest(1), highest(1) / 2);
            if (within(0)) return shrink();
            tighten_both(first_alone, second_alone * (1 + 1e-9));
        }
        shrink();
    }

private:
    struct Bound {
        double slope = 0;
        double radius = 0;
        double log_radius = 0;

        // (t / radius)^slope, x = log t
        double gradient(double t, double x) const {
            if (slope == 0) return 1;
            if (slope == 1) return t / radius;
            return bounded_exp(slope * (x - log_radius));
        }
    };
    // What the multipliers make of the losses' equation: l - offset = (q + linear) t + sum exp(scale_i + slope_i log t).
    struct Terms {
        double offset = 0;
        double linear = 0;
        int powers = 0;
        double scales[2] = {};
        double slopes[2] = {};
    };
    // sum (t_j / radius_i)^q_i, and how much the steps give way: pull_ik = sum g_i g_k / (dl/dt), g_i = (t/radius_i)^slope_i.
    struct Sums {
        double size[2] = {0, 0};
        double pull[2] = {0, 0};
        double cross = 0;
    };
    struct ValueSlope {
        double value;
        double slope;
    };

    void load(std::span<const double> losses, std::span<const double> curvatures, const DualBall& ball, double C,
              std::span<double> steps) {
        losses_ = losses;
        curvatures_ = curvatures;
        steps_ = steps;
        count_ = ball.count;
        cap_ = ball.cap * C;
        curved_ = false;
        for (int i = 0; i < count_; ++i) {
            const double radius = ball.bounds[i].radius * C;
            bounds_[i] = {ball.bounds[i].slope, radius, log(radius)};
            theta_[i] = 0;
            curved_ = curved_ || (bounds_[i].slope != 0 && bounds_[i].slope != 1);
        }
        const std::size_t k = losses.size();
        log_steps_.assign(k, std::numeric_limits<double>::infinity());
        log_losses_.resize(k);
        log_curvatures_.resize(k);
        if (!curved_) return;
        for (std::size_t j = 0; j < k; ++j) log_losses_[j] = log(losses[j]);
        for (std::size_t j = 0; j < k; ++j) log_curvatures_[j] = log(curvatures[j]);
    }

    Terms terms() const {
        Terms terms;
        for (int i = 0; i < count_; ++i) {
            const Bound& bound = bounds_[i];
            if (theta_[i] == 0) continue;
            if (bound.slope == 0) {
                terms.offset = theta_[i];
            } else if (bound.slope == 1) {
                terms.linear = theta_[i] / bound.radius;
            } else {
                terms.scales[terms.powers] = log(theta_[i]) - bound.slope * bound.log_radius;
                terms.slopes[terms.powers++] = bound.slope;
            }
        }
        return terms;
    }

    // log t. The log of the sum of powers is convex in it and has slopes between the powers: from any start Newton lands
    // above the zero and descends to it. No term can be more than the whole, which gives the highest start.
    double log_step(std::size_t j, const Terms& terms) const {
        const double log_aim = terms.offset == 0 ? log_losses_[j] : log(losses_[j] - terms.offset);
        double scales[3];
        double slopes[3];
        int count = 0;
        double highest = std::numeric_limits<double>::infinity();
        const auto add = [&](double scale, double slope) {
            scales[count] = scale - log_aim;
            slopes[count++] = slope;
            highest = std::min(highest, (log_aim - scale) / slope);
        };
        if (terms.linear > 0)
            add(log(curvatures_[j] + terms.linear), 1);
        else if (curvatures_[j] > 0)
            add(log_curvatures_[j], 1);
        for (int i = 0; i < terms.powers; ++i) add(terms.scales[i], terms.slopes[i]);
        if (count == 1) return highest;
        double x = std::min(highest, log_steps_[j]);
        for (int iteration = 0; iteration < 100; ++iteration) {
            int top = 0;
            double exponents[3] = {};
            for (int i = 0; i < count; ++i) {
                exponents[i] = scales[i] + slopes[i] * x;
                if (exponents[i] > exponents[top]) top = i;
            }
            double sum = 1;
            double slope = slopes[top];
            double square = slopes[top] * slopes[top];
            for (int i = 0; i < count; ++i) {
                if (i == top) continue;
                const double term = bounded_exp(exponents[i] - exponents[top]);
                sum += term;
                slope += slopes[i] * term;
                square += slopes[i] * slopes[i] * term;
            }
            const double move = (exponents[top] + log(sum)) * sum / slope;
            x = std::min(highest, x - move);
            // what a Newton step leaves: half its square times the ratio of the derivatives
            if (!(move * move * (square / slope) > 1e-16)) break;
        }
        return x;
    }

    // Sets the steps for the multipliers as they are.
    Sums respond() {
        const Terms terms = this->terms();
        Sums sums;
        for (std::size_t j = 0; j < losses_.size(); ++j) {
            const double aim = losses_[j] - terms.offset;
            double t = 0;
            double x = std::numeric_limits<double>::infinity();
            if (aim > 0 && terms.powers > 0) {
                x = log_step(j, terms);
                t = bounded_exp(x);
            } else if (aim > 0) {
                t = aim / (curvatures_[j] + terms.linear);
                if (curved_) x = log(t);
            }
            log_steps_[j] = x;
            const bool below_cap = t < cap_;
            if (!below_cap) {
                t = cap_;
                if (curved_) x = log(cap_);
            }
            steps_[j] = t;
            if (t > 0) account(j, x, below_cap, sums);
        }
        return sums;
    }

    void account(std::size_t j, double x, bool below_cap, Sums& sums) const {
        const double t = steps_[j];
        double g[2] = {};
        double resistance = curvatures_[j] * t;  // t times the slope of the losses' equation
        for (int i = 0; i < count_; ++i) {
            g[i] = bounds_[i].gradient(t, x);
            sums.size[i] += g[i] * t / bounds_[i].radius;
            resistance += theta_[i] * bounds_[i].slope * g[i];
        }
        if (!below_cap || !(resistance > 0)) return;
        const double give = t / resistance;
        for (int i = 0; i < count_; ++i) sums.pull[i] += g[i] * g[i] * give;
        sums.cross += g[0] * g[1] * give;
    }

    // The p-norm of the losses: with it for a multiplier the bound holds whatever else there is.
    double highest(int i) const {
        const double largest = *std::max_element(losses_.begin(), losses_.end());
        if (bounds_[i].slope == 0) return largest;
        double sum = 0;
        if (bounds_[i].slope == 1) {
            for (double loss : losses_) sum += (loss / largest) * (loss / largest);
            return largest * std::sqrt(sum) * (1 + 1e-9);
        }
        const double p = 1 + 1 / bounds_[i].slope;
        const double top = log(largest);
        for (double x : log_losses_) sum += bounded_exp(p * (x - top));
        return largest * bounded_exp(log(sum) / p) * (1 + 1e-9);
    }

    // theta = sum t l - t^2 q at the best steps; here at the steps that are best for curvatures of zero.
    double guess() const {
        const Bound& bound = bounds_[0];
        const double norm = highest(0);
        const double log_norm = log(norm);
        double lost = 0;
        for (std::size_t j = 0; j < losses_.size(); ++j) {
            const double share = bound.slope == 1 ? losses_[j] / norm
                                                  : bounded_exp((log_losses_[j] - log_norm) / bound.slope);
            const double t = std::min(cap_, bound.radius * share);
            lost += curvatures_[j] * t * t;
        }
        const double theta = norm - lost / bound.radius;
        return theta > 0 ? theta : norm / 2;
    }

    // Below it some step alone would break bound i.
    double lowest(int i) const {
        const double radius = bounds_[i].radius;
        if (radius >= cap_) return 0;
        const double x = bounds_[i].log_radius;
        double other = 0;
        for (int h = 0; h < count_; ++h)
            if (h != i && theta_[h] > 0) other += theta_[h] * bounds_[h].gradient(radius, x);
        double most = 0;
        for (std::size_t j = 0; j < losses_.size(); ++j)
            most = std::max(most, losses_[j] - curvatures_[j] * radius - other);
        return most * (1 - 1e-9);
    }

    bool bounded_without_multipliers() const {
        if (std::isfinite(cap_)) return true;
        const Terms terms = this->terms();
        if (terms.powers > 0 || terms.linear > 0) return true;
        for (std::size_t j = 0; j < losses_.size(); ++j)
            if (losses_[j] > terms.offset && !std::isfinite(losses_[j] / curvatures_[j])) return false;
        return true;
    }

    // (1 - f) q / slope with f = size^(-slope/q): where the curvatures are zero f is a straight line in theta.
    ValueSlope excess(int i, double size, double pull) const {
        const Bound& bound = bounds_[i];
        if (bound.slope == 0) return {size - 1, -pull / bound.radius};
        const double power = bound.slope / (1 + bound.slope);
        const double z = power * log(size);
        const double f = bounded_exp(-z);
        const double value = std::abs(z) < 1e-3 ? z * (1 - z / 2 * (1 - z / 3 * (1 - z / 4))) : 1 - f;
        return {value / power, -(1 + bound.slope) * f * pull / (bound.radius * size)};
    }

    // The least theta_i that keeps bound i, for the other multiplier as it is.
    double tighten(int i, double high, double start) {
        theta_[i] = 0;
        if (bounded_without_multipliers()) {
            sums_ = respond();
            if (sums_.size[i] <= 1) return 0;
            const ValueSlope at_zero = excess(i, sums_.size[i], sums_.pull[i]);
            const double newton = -at_zero.value / at_zero.slope;
            if (newton > start && newton < high) start = newton;
        }
        theta_[i] = 0;
        bracketed_zero(std::min(lowest(i), high), high, start, [&](double theta) {
            theta_[i] = theta;
            sums_ = respond();
            return excess(i, sums_.size[i], sums_.pull[i]);
        });
        return theta_[i];
    }

    // With q = 1 alone the steps are exact; those without an instance share what ties leave, which keeps every other norm
    // least.
    double tighten_first() {
        if (bounds_[0].slope > 0) return tighten(0, highest(0), highest(0) / 2);
        theta_[0] = simplex_.best(losses_, curvatures_, cap_, bounds_[0].radius, Tie::evenly, steps_);
        measure();
        return theta_[0];
    }

    // Either bound alone breaks the other one. A multiplier is largest where the other one is zero. theta_1 follows
    // theta_0 on its own bound.
    void tighten_both(double first_alone, double second_alone) {
        double last = 0;
        double rate = 0;
        double follower = second_alone;
        const auto follow = [&](double theta) {
            theta_[0] = theta;
            const double predicted = follower + rate * (theta - last);
            follower = tighten(1, second_alone, predicted > 0 ? predicted : follower / 2);
            last = theta;
            rate = follower > 0 ? -sums_.cross / sums_.pull[1] : 0;
            return excess(0, sums_.size[0], sums_.pull[0] + rate * sums_.cross);
        };
        const double theta = bracketed_zero(0, first_alone, first_alone / 2, follow);
        if (std::abs(sums_.size[0] - 1) < (bounds_[0].slope > 0 ? 1e-12 : 1e-15)) return;
        // With q = 1, or near it, the last bit of theta_0 can be worth more than a rounding of the steps. Between its
        // neighbours the sum of the steps is a straight line, and bound 1 holds all the way.
        follow(theta * (1 + 1e-15));
        const double less = sums_.size[0];
        others_.assign(steps_.begin(), steps_.end());
        follow(theta * (1 - 1e-15));
        const double more = sums_.size[0];
        const double share = more > less ? std::clamp((1 - less) / (more - less), 0.0, 1.0) : 1.0;
        for (std::size_t j = 0; j < steps_.size(); ++j) steps_[j] = share * steps_[j] + (1 - share) * others_[j];
        measure();
    }

    // The sums for steps that come from elsewhere.
    void measure() {
        sums_ = {};
        for (std::size_t j = 0; j < steps_.size(); ++j)
            if (steps_[j] > 0) account(j, curved_ ? log(steps_[j]) : 0.0, false, sums_);
    }

    bool within(int i) const { return sums_.size[i] <= 1 + 1e-14; }

    // What rounding left over or under.
    void shrink() {
        double worst = 0;
        for (int i = 0; i < count_; ++i) {
            if (theta_[i] == 0) continue;
            worst = std::max(worst, bounded_exp(log(sums_.size[i]) / (1 + bounds_[i].slope)));
        }
        if (worst == 0) return;
        for (double& t : steps_) t = std::min(cap_, t / worst);
    }

    std::span<const double> losses_;
    std::span<const double> curvatures_;
    std::span<double> steps_;
    double cap_ = 0;
    int count_ = 0;
    bool curved_ = false;
    Bound bounds_[2];
    double theta_[2] = {0, 0};
    Sums sums_;
    std::vector<double> log_losses_;
    std::vector<double> log_curvatures_;
    std::vector<double> log_steps_;
    std::vector<double> others_;
    CappedSimplex simplex_;
};

}  // namespace solve
}  // namespace hinge
