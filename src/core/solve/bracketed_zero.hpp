// The zero of a function that falls.
#pragma once

#include <algorithm>
#include <cmath>

namespace hinge {
namespace solve {

// f(x) is {value, slope}, and the zero lies in [low, high]. Newton; the bracket is halved where a step would leave it, is
// longer than half the one before, or is nothing though the value is not: there f is all but vertical. The x that is
// returned is the last at which f was called.
template <class Function>
double bracketed_zero(double low, double high, double start, Function&& f) {
    double x = std::clamp(start, low, high);
    double before = high - low;
    for (;;) {
        const auto [value, slope] = f(x);
        if (value == 0) return x;
        (value > 0 ? low : high) = x;
        const double step = slope < 0 ? -value / slope : high - low;
        const bool shorter = std::abs(step) <= before / 2;
        const bool standing = std::abs(step) <= 4e-16 * std::abs(x);
        if (slope < 0 && std::abs(value) < 1e-12 && (standing || (!shorter && std::abs(value) < 1e-14))) return x;
        double next = x + step;
        if (standing || !shorter || !(next > low && next < high)) next = low + (high - low) / 2;
        if (!(next > low && next < high)) return x;
        before = std::abs(next - x);
        x = next;
    }
}

}  // namespace solve
}  // namespace hinge
