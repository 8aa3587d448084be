// Steps t with 0 <= t_j <= cap and sum t <= total: the dual ball of the r-max norms, with L1 (total is no bound) and
// L-infinity (cap is none) as their ends.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "../kernels.hpp"

namespace hinge {
namespace solve {

// Who gets the rest where tasks without an instance tie: every way of sharing it is a maximiser.
enum class Tie { lowest_index, evenly };

class CappedSimplex {
public:
    // max sum t_j l_j, l > 0
    double largest(std::span<const double> losses, double cap, double total) {
        cap = std::min(cap, total);
        const double places = std::ceil(total / cap);
        if (places == 1) return cap * *std::max_element(losses.begin(), losses.end());
        double sum = 0;
        if (places > static_cast<double>(losses.size())) {
            for (double loss : losses) sum += loss;
            return cap * sum;
        }
        points_.resize(static_cast<std::size_t>(places));  // sorted, so that the sum does not depend on how they stood
        std::partial_sort_copy(losses.begin(), losses.end(), points_.begin(), points_.end(), std::greater<>());
        const auto last = points_.end() - 1;
        for (auto loss = points_.begin(); loss != last; ++loss) sum += *loss;
        return cap * sum + std::clamp(total - (places - 1) * cap, 0.0, cap) * *last;
    }

    // Maximises sum t_j l_j, l > 0: the cap on the largest losses while it lasts, ties to the lowest index.
    void linear(std::span<const double> losses, double cap, double total, std::span<double> steps) {
        const std::size_t k = losses.size();
        cap = std::min(cap, total);
        const double places = std::ceil(total / cap);
        if (places == 1) {
            std::fill(steps.begin(), steps.end(), 0.0);
            steps[static_cast<std::size_t>(std::max_element(losses.begin(), losses.end()) - losses.begin())] = cap;
            return;
        }
        std::fill(steps.begin(), steps.end(), cap);
        if (places > static_cast<double>(k)) return;
        const std::size_t last = static_cast<std::size_t>(places) - 1;
        order_.resize(k);
        std::iota(order_.begin(), order_.end(), 0U);
        const auto comes_first = [&](std::uint32_t a, std::uint32_t b) {
            return losses[a] > losses[b] || (losses[a] == losses[b] && a < b);
        };
        std::nth_element(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(last), order_.end(), comes_first);
        for (std::size_t i = last + 1; i < k; ++i) steps[order_[i]] = 0;
        steps[order_[last]] = std::clamp(total - static_cast<double>(last) * cap, 0.0, cap);
    }

    // Maximises sum 2 t_j l_j - t_j^2 q_j, l > 0, q >= 0, exactly: t_j = clip((l_j - shift)/q_j, 0, cap), where the
    // shift is zero or brings the sum to the total. Returns the shift.
    //
    // The sum is linear between the points where some t_j leaves zero (at l_j) or reaches the cap (at l_j - cap q_j).
    // Newton's method finds the straight piece in a few iterations; where it does not, the median of the points that are
    // left halves them: O(k log k), and no sum is ever taken back.
    double best(std::span<const double> losses, std::span<const double> curvatures, double cap, double total, Tie tie,
                std::span<double> steps) {
        tasks_ = {losses, curvatures, std::min(cap, total)};
        double low = 0;
        double high = *std::max_element(losses.begin(), losses.end());
        double shift = 0;
        return newton(total, shift, low, high, steps) ? shift : search(total, tie, low, high, steps);
    }

private:
    // From the left, where the sum is too large. As the shift rises tasks leave the cap, then reach zero: where as many
    // are above and at the cap as before, the piece is the same, and its zero the one that was looked for. False where
    // the method leaves the bracket, jumps among the causes.
    bool newton(double total, double& shift, double& low, double& high, std::span<double> steps) {
        const std::size_t k = steps.size();
        inverses_.resize(k);
        for (std::size_t j = 0; j < k; ++j) inverses_[j] = 1 / tasks_.curvatures[j];
        const auto respond = [&] {
            return kernels<double>().capped_steps(tasks_.losses.data(), inverses_.data(), static_cast<std::ptrdiff_t>(k),
                                                  shift, tasks_.cap, steps.data());
        };
        CappedSum now = respond();
        if (now.sum <= total) return true;
        for (int iteration = 0; iteration < 20; ++iteration) {
            const double next = shift + (now.sum - total) / now.slope;
            if (!(next > low && next < high)) return false;
            shift = next;
            const CappedSum before = now;
            now = respond();
            const bool same = now.above == before.above && now.full == before.full;
            if (same && std::abs(now.sum - total) <= 1e-14 * total) return true;
            (now.sum > total ? low : high) = shift;
        }
        return false;
    }

    // The shift between low, where the sum is too large, and high.
    double search(double total, Tie tie, double low, double high, std::span<double> steps) {
        collect_points(low, high);
        while (!points_.empty()) {
            const auto middle = points_.begin() + static_cast<std::ptrdiff_t>(points_.size() / 2);
            std::nth_element(points_.begin(), middle, points_.end());
            const double point = *middle;
            const double sum = tasks_.sum(point);
            if (sum > total) {
                low = point;
                std::erase_if(points_, [&](double other) { return other <= point; });
            } else if (sum + tasks_.jump(point) < total) {
                high = point;
                std::erase_if(points_, [&](double other) { return other >= point; });
            } else {
                give(point, steps);
                share(point, total, tie, steps);
                return point;
            }
        }
        const double shift = tasks_.shift_between(low, high, total);
        give(shift, steps);
        settle(shift, total, steps);
        return shift;
    }

    struct Tasks {
        std::span<const double> losses;
        std::span<const double> curvatures;
        double cap = 0;

        double full_at(std::size_t j) const { return losses[j] - cap * curvatures[j]; }
        // t_j jumps from zero to the cap: x_j = 0, or so small that no shift lies between.
        bool jumps(std::size_t j) const { return full_at(j) == losses[j]; }
        double step(std::size_t j, double shift) const {
            const double left = losses[j] - shift;
            return left > 0 ? std::min(cap, left / curvatures[j]) : 0.0;
        }
        double sum(double shift) const {
            double sum = 0;
            for (std::size_t j = 0; j < losses.size(); ++j) sum += step(j, shift);
            return sum;
        }
        double jump(double shift) const {
            double sum = 0;
            for (std::size_t j = 0; j < losses.size(); ++j)
                if (losses[j] == shift && jumps(j)) sum += cap;
            return sum;
        }
        double shift_between(double low, double high, double total) const {
            double gain = -total;
            double slope = 0;
            for (std::size_t j = 0; j < losses.size(); ++j) {
                if (full_at(j) >= high) {
                    gain += cap;
                } else if (losses[j] >= high) {
                    gain += losses[j] / curvatures[j];
                    slope += 1 / curvatures[j];
                }
            }
            return slope > 0 ? std::clamp(gain / slope, low, high) : low;
        }
    };

    void collect_points(double low, double high) {
        points_.clear();
        const auto collect = [&](double point) {
            if (point > low && point <= high) points_.push_back(point);
        };
        for (std::size_t j = 0; j < tasks_.losses.size(); ++j) {
            collect(tasks_.losses[j]);
            collect(tasks_.full_at(j));
        }
    }

    double give(double shift, std::span<double> steps) const {
        for (std::size_t j = 0; j < steps.size(); ++j) steps[j] = tasks_.step(j, shift);
        return shift;
    }

    // What is left of the total goes to those that jump at the shift.
    void share(double shift, double total, Tie tie, std::span<double> steps) const {
        double rest = total - std::accumulate(steps.begin(), steps.end(), 0.0);
        const double most = tie == Tie::evenly ? rest / (tasks_.jump(shift) / tasks_.cap) : tasks_.cap;
        for (std::size_t j = 0; j < steps.size() && rest > 0; ++j) {
            if (tasks_.losses[j] != shift || !tasks_.jumps(j)) continue;
            steps[j] = std::min(most, rest);
            rest -= steps[j];
        }
    }

    // With small curvatures the shift's last bit is worth more than a rounding of the steps: what is missing goes to
    // those that keep l_j - q_j t_j at the shift, the ones just at zero and just at the cap among them.
    void settle(double shift, double total, std::span<double> steps) const {
        const auto gives_way = [&](std::size_t j) {
            const double left = tasks_.losses[j] - tasks_.curvatures[j] * steps[j] - shift;
            return std::abs(left) <= 4e-16 * tasks_.losses[j] && !tasks_.jumps(j);
        };
        double rest = total;
        double slope = 0;
        for (std::size_t j = 0; j < steps.size(); ++j) {
            rest -= steps[j];
            if (gives_way(j)) slope += 1 / tasks_.curvatures[j];
        }
        if (!(slope > 0) || std::isinf(slope)) return;
        for (std::size_t j = 0; j < steps.size(); ++j)
            if (gives_way(j)) steps[j] = std::clamp(steps[j] + rest / slope / tasks_.curvatures[j], 0.0, tasks_.cap);
    }

    Tasks tasks_;
    std::vector<double> points_;
    std::vector<double> inverses_;
    std::vector<std::uint32_t> order_;
};

}  // namespace solve
}  // namespace hinge
