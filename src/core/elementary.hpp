// exp and log from one source: the C library's differ from processor to processor, these do not.
//
// Both use additions, multiplications and divisions only, in a fixed order, so that every vector width and every
// compiler that keeps IEEE arithmetic gives the same bits. Errors stay below 2 units in the last place.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace hinge {

namespace detail {
inline constexpr double ln2_high = 0x1.62e42fee00000p-1;  // 33 bits: a product with a small integer is exact
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33;
inline constexpr double inverse_ln2 = 0x1.71547652b82fep+0;
inline constexpr double to_integer = 0x1.8p+52;  // adding it leaves the nearest integer in the low bits
}  // namespace detail

// exp for |x| <= 708, clamped outside: the callers' sums never notice numbers beyond that.
inline double bounded_exp(double x) {
    x = x > 708.0 ? 708.0 : x;
    x = x < -708.0 ? -708.0 : x;
    const double shifted = x * detail::inverse_ln2 + detail::to_integer;
    const double k = shifted - detail::to_integer;
    const double r = (x - k * detail::ln2_high) - k * detail::ln2_low;
    // Taylor to degree 13 on |r| <= ln 2 / 2: the next term is below 5e-18.
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    const double tail = r * r * p;
    const double value = 1.0 + (r + tail);
    const std::int64_t exponent = std::bit_cast<std::int64_t>(shifted) << 52;
    return std::bit_cast<double>(std::bit_cast<std::int64_t>(value) + exponent);
}

namespace detail {
// log of 2^k x for a positive normal number x; without a branch, so that loops over it become vectors.
inline double log_of_normal(double x, double k) {
    constexpr std::int64_t root_half = 0x3fe6a09e667f3bcd;  // x = 2^e m with m in [sqrt(1/2), sqrt(2))
    constexpr std::int64_t bias = 1023;
    constexpr std::int64_t to_double = 0x4330000000000000;  // 2^52, whose low bits count
    const std::int64_t bits = std::bit_cast<std::int64_t>(x);
    const auto raised = static_cast<std::uint64_t>(bits - root_half + (bias << 52)) >> 52;  // e + bias
    const double m = std::bit_cast<double>(bits - ((static_cast<std::int64_t>(raised) - bias) << 52));
    k += std::bit_cast<double>(static_cast<std::int64_t>(raised) | to_double) - (0x1p52 + static_cast<double>(bias));
    // log(1+f) = f - (f^2/2 - s (f^2/2 + R)), s = f/(2+f), R = 2(s^2/3 + s^4/5 + ..)
    const double f = m - 1.0;
    const double s = f / (2.0 + f);
    const double z = s * s;
    double r = 2.0 / 23.0;
    r = r * z + 2.0 / 21.0;
    r = r * z + 2.0 / 19.0;
    r = r * z + 2.0 / 17.0;
    r = r * z + 2.0 / 15.0;
    r = r * z + 2.0 / 13.0;
    r = r * z + 2.0 / 11.0;
    r = r * z + 2.0 / 9.0;
    r = r * z + 2.0 / 7.0;
    r = r * z + 2.0 / 5.0;
    r = r * z + 2.0 / 3.0;
    r = r * z;
    const double half = 0.5 * f * f;
    return k * ln2_high - ((half - (s * (half + r) + k * ln2_low)) - f);
}
}  // namespace detail

// log of a positive finite number; -infinity at zero.
inline double log(double x) {
    if (!(x > 0)) return x == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    if (x > std::numeric_limits<double>::max()) return x;
    return x < 0x1p-1022 ? detail::log_of_normal(x * 0x1p54, -54) : detail::log_of_normal(x, 0);
}

// A sum in double-double: n additions err by less than n 2^-104 times the largest partial sum.
class LongSum {
public:
    LongSum() = default;
    explicit LongSum(double start) : high_(start) {}

    void add(double x) {
        const double sum = high_ + x;
        const double shadow = sum - high_;
        const double lost = (high_ - (sum - shadow)) + (x - shadow);
        low_ += lost;
        const double high = sum + low_;
        low_ = low_ - (high - sum);
        high_ = high;
    }
    double value() const { return high_; }
    double low() const { return low_; }
    static LongSum restored(double high, double low) {
        LongSum sum(high);
        sum.low_ = low;
        return sum;
    }

private:
    double high_ = 0;
    double low_ = 0;
};

}  // namespace hinge
