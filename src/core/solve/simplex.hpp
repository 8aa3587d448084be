// The nearest vector of non-negative numbers that sum to one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace hinge::solve {

inline void project_on_simplex(double* values, std::size_t count) {
    // sum [v - shift]+ = 1: the shift is above the largest minus one; candidates that fall to it leave.
    double shift = *std::max_element(values, values + count) - 1;
    for (;;) {
        double sum = -1, above = 0;
        for (std::size_t y = 0; y < count; ++y)
            if (values[y] > shift) {
                sum += values[y];
                above += 1;
            }
        const double next = sum / above;
        if (!(next > shift)) break;
        shift = next;
    }
    for (std::size_t y = 0; y < count; ++y) values[y] = std::max(0.0, values[y] - shift);
}

}  // namespace hinge::solve
