// The primal-dual interior point method for one round of label ranking, in any geometry (MATH.md A, PDIP).
//
// Minimises sum_y f_y(a_y) over the a with sum_y a_y = 0, a_y >= 0 on Y, a_y <= 0 off it, and sum_Y a_y + xi = C with
// a slack xi >= 0. The multipliers nu of the two equations are eliminated by a 2 x 2 system, so an iteration costs one
// evaluation of all f' and f''.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "../rows.hpp"

namespace hinge::solve {

class InteriorPoint {
public:
    static constexpr int most_iterations = 60;
    static constexpr double gap = 1e-12;  // on eta, and on the norm of the dual residual

    // derivatives(slot, a) is {f', f''} of f_slot at a; is_up(slot) says whether the slot is on Y.
    template <class Derivatives, class IsUp>
    int minimise(std::size_t slots, std::size_t ups, double C, Derivatives&& derivatives, IsUp&& is_up) {
        start(slots, ups, C, is_up);
        evaluate(derivatives, trial_ = a_);
        first_ = trial_first_;
        second_ = trial_second_;
        int iteration = 0;
        for (; iteration < most_iterations; ++iteration) {
            double eta = 0;
            for (std::size_t r = 0; r < d(); ++r) eta += lambda_[r] * slack(a_, r);
            if (eta <= gap && std::sqrt(stationarity(first_, lambda_, nu_)) <= gap) break;
            const double mu = 0.1 * eta / static_cast<double>(d());
            direction(mu);
            if (!move(mu, derivatives)) break;
        }
        settle(C);
        return iteration;
    }

    double alpha(std::size_t slot) const { return a_[slot]; }

private:
    struct Pair {
        double balance;  // multiplier of sum_y a_y = 0
        double total;    // multiplier of sum_Y a_y + xi = C
    };

    // Takes out of the sums what roundings have left there: the dual is a bound only where the two equations hold.
    void settle(double C) {
        double up = 0, down = 0;
        for (std::size_t r = 0; r < slots(); ++r) (p_[r] < 0 ? up : down) += std::abs(a_[r]);
        const double total = std::min(up, C);
        for (std::size_t r = 0; r < slots(); ++r) a_[r] *= total / (p_[r] < 0 ? up : down);
    }

    std::size_t d() const { return a_.size(); }
    std::size_t slots() const { return a_.size() - 1; }
    double slack(const std::vector<double>& a, std::size_t r) const { return -p_[r] * a[r]; }
    // Columns of the two equations.
    double in_balance(std::size_t r) const { return r < slots() ? 1.0 : 0.0; }
    double in_total(std::size_t r) const { return p_[r] < 0 ? 1.0 : 0.0; }

    template <class IsUp>
    void start(std::size_t count, std::size_t ups, double C, IsUp&& is_up) {
        const double up = C / (2 * static_cast<double>(ups));
        const double down = C / (2 * static_cast<double>(count - ups));
        a_.resize(count + 1);
        p_.resize(count + 1);
        for (std::size_t r = 0; r < count; ++r) {
            p_[r] = is_up(r) ? -1.0 : 1.0;
            a_[r] = is_up(r) ? up : -down;
        }
        p_[count] = -1;
        a_[count] = C / 2;
        lambda_.assign(count + 1, 1.0);
        nu_ = {0, 0};
    }

    template <class Derivatives>
    void evaluate(Derivatives& derivatives, const std::vector<double>& a) {
        trial_first_.resize(d());
        trial_second_.resize(d());
        for (std::size_t r = 0; r < slots(); ++r) {
            const auto at = derivatives(r, a[r]);
            trial_first_[r] = at.value;
            trial_second_[r] = at.slope;
        }
        trial_first_[slots()] = trial_second_[slots()] = 0;
    }

    // The squared norm of f' + p lambda + A' nu.
    double stationarity(const std::vector<double>& first, const std::vector<double>& lambda, Pair nu) const {
        double sum = 0;
        for (std::size_t r = 0; r < d(); ++r) {
            const double g = first[r] + p_[r] * lambda[r] + nu.balance * in_balance(r) + nu.total * in_total(r);
            sum += g * g;
        }
        return sum;
    }

    double residual(const std::vector<double>& a, const std::vector<double>& first, const std::vector<double>& lambda,
                    Pair nu, double mu) const {
        double sum = stationarity(first, lambda, nu);
        for (std::size_t r = 0; r < d(); ++r) {
            const double c = lambda[r] * slack(a, r) - mu;
            sum += c * c;
        }
        return std::sqrt(sum);
    }

    // Newton's step on the optimality conditions: z da = u - A' dnu with A da = 0. The 2 x 2 system is written in the
    // sums over Y, off Y and of the slack: as A Z^-1 A' it would lose the digits of the small ones where f is all but
    // linear, and with them the two equations.
    void direction(double mu) {
        da_.resize(d());
        dlambda_.resize(d());
        struct {
            double weight = 0, force = 0;  // of 1 / z, of u / z
        } up, down, rest;
        for (std::size_t r = 0; r < d(); ++r) {
            const double s = slack(a_, r);
            const double z = second_[r] + lambda_[r] / s;
            const double u = -first_[r] - p_[r] * mu / s - nu_.balance * in_balance(r) - nu_.total * in_total(r);
            da_[r] = u;
            dlambda_[r] = z;
            auto& side = r == slots() ? rest : p_[r] < 0 ? up : down;
            side.weight += 1 / z;
            side.force += u / z;
        }
        const double determinant = up.weight * down.weight + up.weight * rest.weight + down.weight * rest.weight;
        dnu_ = {(rest.weight * up.force + (up.weight + rest.weight) * down.force - up.weight * rest.force) / determinant,
                (down.weight * up.force + (up.weight + down.weight) * rest.force - up.weight * down.force) /
                    determinant};
        for (std::size_t r = 0; r < d(); ++r) {
            const double s = slack(a_, r);
            da_[r] = (da_[r] - in_balance(r) * dnu_.balance - in_total(r) * dnu_.total) / dlambda_[r];
            dlambda_[r] = (lambda_[r] * p_[r] * da_[r] + mu) / s - lambda_[r];
        }
    }

    // Backtracks until everything stays positive and the residual falls; false where rounding lets it fall no more.
    template <class Derivatives>
    bool move(double mu, Derivatives& derivatives) {
        double length = 1;
        for (std::size_t r = 0; r < d(); ++r) {
            if (p_[r] * da_[r] > 0) length = std::min(length, -0.99 * a_[r] / da_[r]);
            if (dlambda_[r] < 0) length = std::min(length, -0.99 * lambda_[r] / dlambda_[r]);
        }
        const double now = residual(a_, first_, lambda_, nu_, mu);
        trial_lambda_.resize(d());
        for (; length >= 1e-9; length /= 2) {
            bool inside = true;
            for (std::size_t r = 0; r < d(); ++r) {
                trial_[r] = a_[r] + length * da_[r];
                trial_lambda_[r] = lambda_[r] + length * dlambda_[r];
                inside = inside && slack(trial_, r) > 0 && trial_lambda_[r] > 0;
            }
            if (!inside) continue;
            const Pair nu{nu_.balance + length * dnu_.balance, nu_.total + length * dnu_.total};
            evaluate(derivatives, trial_);
            if (!(residual(trial_, trial_first_, trial_lambda_, nu, mu) <= (1 - 0.01 * length) * now)) continue;
            a_.swap(trial_);
            lambda_.swap(trial_lambda_);
            first_.swap(trial_first_);
            second_.swap(trial_second_);
            nu_ = nu;
            return true;
        }
        return false;
    }

    std::vector<double> a_, lambda_, p_;
    std::vector<double> first_, second_;
    std::vector<double> da_, dlambda_;
    std::vector<double> trial_, trial_lambda_, trial_first_, trial_second_;
    Pair nu_{}, dnu_{};
};

}  // namespace hinge::solve
