// ||l||_p for 1 < p < infinity, and the steps that find it: argmax <t, l> under ||t||_q <= radius, 1/p + 1/q = 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "../elementary.hpp"
#include "../kernels.hpp"
#include "dual_ball.hpp"

namespace hinge {
namespace solve {

class PowerNorm {
public:
    // max <t, l>, l > 0, not empty.
    double value(std::span<const double> losses, const PowerBound& bound) {
        if (bound.slope == 1) {
            double squares = 0;
            for (double loss : losses) squares += loss * loss;
            length_ = std::sqrt(squares);
            return bound.radius * length_;
        }
        const double p = 1 + 1 / bound.slope;
        const double top = *std::max_element(losses.begin(), losses.end());
        logs_.resize(losses.size());
        powers_.resize(losses.size());
        const auto count = static_cast<std::ptrdiff_t>(losses.size());
        for (std::size_t j = 0; j < losses.size(); ++j) logs_[j] = losses[j] / top;
        log_kernel()(logs_.data(), count);
        for (std::size_t j = 0; j < losses.size(); ++j) powers_[j] = p * logs_[j];
        exp_kernel()(powers_.data(), count);
        double sum = 0;
        for (double power : powers_) sum += power;
        log_length_ = log(sum) / p;
        return bound.radius * top * bounded_exp(log_length_);
    }

    // The steps of the losses whose value was asked last.
    void linear(std::span<const double> losses, const PowerBound& bound, std::span<double> steps) const {
        if (bound.slope == 1) {
            for (std::size_t j = 0; j < losses.size(); ++j) steps[j] = bound.radius / length_ * losses[j];
            return;
        }
        for (std::size_t j = 0; j < losses.size(); ++j) steps[j] = (logs_[j] - log_length_) / bound.slope;
        exp_kernel()(steps.data(), static_cast<std::ptrdiff_t>(losses.size()));
        for (double& t : steps) t *= bound.radius;
    }

private:
    double length_ = 0;      // p = 2: ||l||
    double log_length_ = 0;  // else: log of ||l|| / max l
    std::vector<double> logs_;  // of the losses over the largest
    std::vector<double> powers_;
};

}  // namespace solve
}  // namespace hinge
