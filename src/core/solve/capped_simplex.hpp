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
        points_.assign(losses.begin(), losses.end());
        const auto last = points_.begin() + static_cast<std::ptrdiff_t>(places) - 1;
        std::nth_element(points_.begin(), last, points_.end(), std::greater<>());
        std::sort(points_.begin(), last, std::greater<>());  // so that the sum does not depend on how they stood
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
    // The median of the points that are left halves them: O(k log k), and no sum is ever taken back.
    double best(std::span<const double> losses, std::span<const double> curvatures, double cap, double total, Tie tie,
                std::span<double> steps) {
        tasks_ = {losses, curvatures, std::min(cap, total)};
        if (!(tasks_.free_sum() > total)) return give(0, steps);
        double low = lower_bound(total);
        double high = *std::max_element(losses.begin(), losses.end());
        keep_above(low);
        const double shift = find(total, tie, low, high);
        std::fill(steps.begin(), steps.end(), 0.0);
        for (std::size_t i = 0; i < kept_.size(); ++i) steps[kept_[i]] = kept_steps_[i];
        return shift;
    }

private:
    // The shift between low and high, and the steps of the tasks that are kept.
    double find(double total, Tie tie, double low, double high) {
        const std::span<double> steps = kept_steps_;
        if (tasks_.cap >= total && !any_jumps()) {
            const double shift = balance(total, low);
            give(shift, steps);
            settle(shift, total, steps);
            return shift;
        }
        narrow(total, low, high);
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
        // The sum without a shift.
        double free_sum() const {
            double sum = 0;
            for (std::size_t j = 0; j < losses.size(); ++j) sum += std::min(cap, losses[j] / curvatures[j]);
            return sum;
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

    // Where as many tasks as the total pays for are at the cap, the sum is not below the total.
    double lower_bound(double total) {
        const auto places = static_cast<std::size_t>(std::ceil(total / tasks_.cap));
        if (places > tasks_.losses.size()) return 0;
        points_.resize(tasks_.losses.size());
        for (std::size_t j = 0; j < points_.size(); ++j) points_[j] = tasks_.full_at(j);
        const auto last = points_.begin() + static_cast<std::ptrdiff_t>(places) - 1;
        if (places > 1) std::nth_element(points_.begin(), last, points_.end(), std::greater<>());
        const double point = places > 1 ? *last : *std::max_element(points_.begin(), points_.end());
        // A shade lower, for the rounding of the points and of the sum.
        return std::max(0.0, point - 1e-14 * *std::max_element(tasks_.losses.begin(), tasks_.losses.end()));
    }

    // Tasks with a smaller loss have no step.
    void keep_above(double low) {
        const std::size_t k = tasks_.losses.size();
        kept_.resize(k);
        kept_losses_.resize(k);
        kept_curvatures_.resize(k);
        std::size_t count = 0;
        for (std::size_t j = 0; j < k; ++j) {
            kept_[count] = static_cast<std::uint32_t>(j);
            kept_losses_[count] = tasks_.losses[j];
            kept_curvatures_[count] = tasks_.curvatures[j];
            count += tasks_.losses[j] > low;
        }
        kept_.resize(count);
        kept_steps_.resize(count);
        tasks_.losses = {kept_losses_.data(), count};
        tasks_.curvatures = {kept_curvatures_.data(), count};
    }

    bool any_jumps() const {
        bool any = false;
        for (std::size_t j = 0; j < tasks_.losses.size(); ++j) any |= tasks_.jumps(j);
        return any;
    }

    // Where no cap binds, Newton's method from the left drops the tasks whose losses the shift has passed; where it drops
    // none the shift is exact.
    double balance(double total, double low) {
        const std::size_t k = tasks_.losses.size();
        inverses_.resize(k);
        ratios_.resize(k);
        for (std::size_t j = 0; j < k; ++j) {
            inverses_[j] = 1 / tasks_.curvatures[j];
            ratios_[j] = tasks_.losses[j] / tasks_.curvatures[j];
        }
        double shift = low;
        for (double before = static_cast<double>(k) + 1;;) {
            double gain = -total;
            double slope = 0;
            double count = 0;
            for (std::size_t j = 0; j < k; ++j) {
                const double above = tasks_.losses[j] > shift ? 1.0 : 0.0;
                gain += above * ratios_[j];
                slope += above * inverses_[j];
                count += above;
            }
            if (!(count < before) || count == 0) return shift;
            shift = gain / slope;
            before = count;
        }
    }

    // A few steps of Newton's method leave few points to look at.
    void narrow(double total, double& low, double& high) {
        const std::size_t k = tasks_.losses.size();
        inverses_.resize(k);
        for (std::size_t j = 0; j < k; ++j) inverses_[j] = 1 / tasks_.curvatures[j];
        double shift = low;
        for (int iteration = 0; iteration < 8; ++iteration) {
            double sum = 0;
            double slope = 0;
            for (std::size_t j = 0; j < k; ++j) {
                const double left = std::max(0.0, tasks_.losses[j] - shift);
                const double free = left * inverses_[j];
                const bool below_cap = free < tasks_.cap;
                sum += left > 0 ? std::min(free, tasks_.cap) : 0.0;
                slope += left > 0 && below_cap ? inverses_[j] : 0.0;
            }
            if (sum > total)
                low = shift;
            else if (sum < total)
                high = shift;
            const double next = shift + (sum - total) / slope;
            if (!(next > low && next < high)) break;
            shift = next;
        }
        // Newton's method comes from the left: is the shift right behind?
        const double beyond = low + 1e-13 * high;
        if (beyond < high && tasks_.sum(beyond) < total) high = beyond;
    }

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
    std::vector<double> inverses_, ratios_;
    std::vector<std::uint32_t> kept_;
    std::vector<double> kept_losses_, kept_curvatures_, kept_steps_;
    std::vector<std::uint32_t> order_;
};

}  // namespace solve
}  // namespace hinge
