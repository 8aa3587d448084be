// The nearest non-decreasing sequence, by pooling adjacent violators: O(K), and no allocation once there is room.
//
// The result is in order to the last bit, a sequence that is in order already keeps its bits, and neighbours that are
// equal stay equal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace hinge::solve {

class IsotonicProjection {
public:
    IsotonicProjection() = default;
    explicit IsotonicProjection(std::size_t length) { reserve(length); }

    void reserve(std::size_t length) { pools_.reserve(length); }

    // Least squares, in place. Weights, where given, are positive and as many as the values.
    template <class Real>
    void operator()(std::span<Real> values, std::span<const double> weights = {}) {
        if (std::is_sorted(values.begin(), values.end())) return;
        pools_.clear();
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double weight = weights.empty() ? 1.0 : weights[i];
            const auto value = static_cast<double>(values[i]);
            Pool pool{value, value * weight, weight, i + 1};
            for (; !pools_.empty() && pools_.back().mean > pool.mean; pools_.pop_back()) {
                pool.sum += pools_.back().sum;
                pool.weight += pools_.back().weight;
                pool.mean = pool.sum / pool.weight;
            }
            pools_.push_back(pool);
        }
        std::size_t i = 0;
        for (const Pool& pool : pools_)
            for (; i < pool.end; ++i) values[i] = static_cast<Real>(pool.mean);
    }

private:
    // Neighbours that share a value.
    struct Pool {
        double mean;
        double sum;
        double weight;
        std::size_t end;
    };

    std::vector<Pool> pools_;
};

}  // namespace hinge::solve
