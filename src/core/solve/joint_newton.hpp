// The steps and the multipliers of one or two bounds ||t||_(1+a) <= R, all tight, by Newton's method on all conditions at
// once: l_j = q_j t_j + sum_i theta_i (t_j / R_i)^a_i and sum_j (t_j / R_i)^(1+a_i) = 1.
//
// In the logs of t and theta both kinds of condition are sums of exponentials, all but straight lines where one term is
// large, and four or five iterations do. Each costs O(k): a step gives way to the multipliers and to nothing else, so that
// what is left of the system is as small as the number of bounds. Nothing guarantees that it settles; it says so then.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../elementary.hpp"
#include "../kernels.hpp"
#include "dual_ball.hpp"

namespace hinge {
namespace solve {

class JointNewton {
public:
    // Of a new round, l > 0 and q >= 0.
    void load(std::span<const double> losses, std::span<const double> curvatures) {
        losses_ = losses;
        curvatures_ = curvatures;
        const std::size_t k = losses.size();
        for (std::vector<double>* part : {&log_losses_, &log_curvatures_, &x_, &linear_, &residuals_, &ways_[0], &ways_[1]})
            part->resize(k);
        powers_.resize(3 * k);
        for (std::size_t j = 0; j < k; ++j) log_losses_[j] = rough_log(losses[j]);
        for (std::size_t j = 0; j < k; ++j) log_curvatures_[j] = rough_log(curvatures[j]);
    }

    // One bound. Sets the steps, or is false. theta = sum t l - t^2 q at the best steps; at the start those that are best
    // for curvatures of zero.
    bool solve(const PowerBound& bound, std::span<double> steps) {
        theta_[0] = start(bound);
        return settle<1>(&bound, steps);
    }

    // Two bounds, each of which alone breaks the other one: where either is alone, its multiplier and by how much the
    // other one is too large are known.
    bool solve(const PowerBound (&bounds)[2], const double (&alone)[2], const double (&excess)[2],
               std::span<double> steps) {
        const double share = log(excess[1]) / (log(excess[0]) + log(excess[1]));
        theta_[0] = alone[0] * (1 - share);
        theta_[1] = alone[1] * share;
        return settle<2>(bounds, steps);
    }

    double theta(int i) const { return theta_[i]; }

private:
    static constexpr int most_iterations = 30;

    // To within .03, for a start.
    static double rough_log(double x) {
        constexpr double unit = 0x1p-52;
        return (static_cast<double>(std::bit_cast<std::int64_t>(x)) * unit - 1022.957) * (detail::ln2_high + detail::ln2_low);
    }

    double start(const PowerBound& bound) {
        const std::size_t k = losses_.size();
        const double a = bound.slope;
        const auto largest = std::max_element(losses_.begin(), losses_.end());
        const double top = log_losses_[static_cast<std::size_t>(largest - losses_.begin())];
        for (std::size_t j = 0; j < k; ++j) powers_[j] = (log_losses_[j] - top) / a;
        exp_kernel()(powers_.data(), static_cast<std::ptrdiff_t>(k));
        double sum = 0;
        double lost = 0;
        for (std::size_t j = 0; j < k; ++j) {
            sum += powers_[j] * losses_[j];
            lost += powers_[j] * powers_[j] * curvatures_[j];
        }
        sum /= *largest;
        const double norm = *largest * bounded_exp(log(sum) * a / (1 + a));
        lost *= bound.radius * bounded_exp(-2 * log(sum) / (1 + a));
        return lost < norm / 2 ? norm - lost : norm * (norm / (norm + lost)) * 0.75;
    }

    template <int count>
    bool settle(const PowerBound* bounds, std::span<double> steps) {
        const std::size_t k = losses_.size();
        const double unit = bounds[0].radius;  // of t
        double shift[count];                   // (t / R_i)^a_i = exp(a_i x + shift_i), x = log(t / R_0)
        double far[count];                     // t / R_i = far_i exp(x)
        double steepest = 1;
        for (int i = 0; i < count; ++i) {
            far[i] = unit / bounds[i].radius;
            shift[i] = bounds[i].slope * log(far[i]);
            steepest = std::max(steepest, 1 + bounds[i].slope);
        }
        for (std::size_t j = 0; j < k; ++j) linear_[j] = curvatures_[j] * unit;
        begin<count>(bounds, shift);
        for (int iteration = 0; iteration < most_iterations; ++iteration) {
            double move[count];
            if (!aim<count>(bounds, shift, far, move)) return false;
            double largest = 0;
            for (std::size_t j = 0; j < k; ++j) {
                double way = residuals_[j];
                for (int i = 0; i < count; ++i) way += ways_[i][j] * move[i];
                x_[j] -= way;
                residuals_[j] = way;
                largest = std::max(largest, std::abs(way));
            }
            for (int i = 0; i < count; ++i) theta_[i] *= bounded_exp(move[i]);
            if (!(largest < 1e6)) return false;
            if (largest * steepest > 1e-7) continue;
            for (std::size_t j = 0; j < k; ++j) steps[j] = unit * powers_[j] * (1 - residuals_[j] * (1 - residuals_[j] / 2));
            return true;
        }
        return false;
    }

    // No term of a loss's sum can be more than the whole.
    template <int count>
    void begin(const PowerBound* bounds, const double* shift) {
        const double log_unit = log(bounds[0].radius);
        double logs[count];
        for (int i = 0; i < count; ++i) logs[i] = log(theta_[i]) + shift[i];
        for (std::size_t j = 0; j < x_.size(); ++j) {
            double x = log_losses_[j] - log_curvatures_[j] - log_unit;
            for (int i = 0; i < count; ++i) x = std::min(x, (log_losses_[j] - logs[i]) / bounds[i].slope);
            x_[j] = x;
        }
    }

    // How the logs of the multipliers should move, and what each step makes of it: x_j falls by residuals_j + ways_ij move_i.
    template <int count>
    bool aim(const PowerBound* bounds, const double* shift, const double* far, double* move) {
        const std::size_t k = losses_.size();
        double* power[count];
        for (int i = 0; i < count; ++i) {
            power[i] = powers_.data() + static_cast<std::size_t>(i + 1) * k;
            for (std::size_t j = 0; j < k; ++j) power[i][j] = bounds[i].slope * x_[j] + shift[i];
        }
        std::copy(x_.begin(), x_.end(), powers_.begin());
        exp_kernel()(powers_.data(), static_cast<std::ptrdiff_t>((count + 1) * k));
        double size[count] = {};
        double gap[count] = {};
        double pull[count][count] = {};
        for (std::size_t j = 0; j < k; ++j) {
            double sum = linear_[j] * powers_[j];
            double slope = sum;
            double term[count];
            for (int i = 0; i < count; ++i) {
                term[i] = theta_[i] * power[i][j];
                sum += term[i];
                slope += bounds[i].slope * term[i];
            }
            const double both = sum + losses_[j];
            const double inverse = 1 / (slope * both);
            const double residual = 2 * (sum - losses_[j]) * sum * inverse;  // log(sum / l), to the third order
            residuals_[j] = residual;
            for (int i = 0; i < count; ++i) ways_[i][j] = term[i] * both * inverse;
            for (int i = 0; i < count; ++i) {
                const double part = power[i][j] * powers_[j];
                size[i] += part;
                gap[i] += part * residual;
                for (int h = 0; h < count; ++h) pull[i][h] += part * ways_[h][j];
            }
        }
        for (int i = 0; i < count; ++i) {
            const double share = far[i] * size[i];
            gap[i] = size[i] * log(share) / (1 + bounds[i].slope) - gap[i];
        }
        if constexpr (count == 1) {
            move[0] = gap[0] / pull[0][0];
        } else {
            const double area = pull[0][0] * pull[1][1] - pull[0][1] * pull[1][0];
            move[0] = (gap[0] * pull[1][1] - gap[1] * pull[0][1]) / area;
            move[1] = (gap[1] * pull[0][0] - gap[0] * pull[1][0]) / area;
        }
        for (int i = 0; i < count; ++i) {
            if (!std::isfinite(move[i])) return false;
            move[i] = std::clamp(move[i], -3.0, 3.0);
        }
        return true;
    }

    std::span<const double> losses_;
    std::span<const double> curvatures_;
    double theta_[2] = {};
    std::vector<double> log_losses_, log_curvatures_;
    std::vector<double> x_;        // log(t / R_0)
    std::vector<double> powers_;   // exp(x), then (t / R_i)^a_i of each bound
    std::vector<double> linear_;   // q R_0
    std::vector<double> residuals_, ways_[2];
};

}  // namespace solve
}  // namespace hinge
