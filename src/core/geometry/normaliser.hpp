// The normaliser Z of one output of an entropy: the sum of the masses of its read-outs, kept by what joins and leaves.
//
// A read-out is u = exp(theta - s) with a shift s of the output, signed 2 sinh(theta) exp(-s). Its mass is what it adds
// to Z exp(-s): u, signed sqrt(u^2 + 4 exp(-2s)) = 2 cosh(theta) exp(-s).
//
// Drift. Z is a double-double sum: N additions err by less than N 2^-104 times the largest Z since it was last summed
// anew. It has to be summed anew, with another shift, when it has fallen below 2^-20 of that (`has_fallen`), so that its
// relative error is below N 2^-84 at any time: below 2^-53 up to 2^31 additions, and then the rounding of u is larger.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "../elementary.hpp"

namespace hinge {

template <bool Signed>
class Normaliser {
public:
    Normaliser() = default;
    explicit Normaliser(double shift) : shift_(shift), floor_(bounded_exp(-2 * shift)) {}

    double value() const { return sum_.value(); }
    double shift() const { return shift_; }
    // The rest of Z, for who takes masses out of it.
    LongSum rest() const { return sum_; }

    template <class Real>
    Real read_out(double theta) const {
        if constexpr (Signed) return static_cast<Real>(bounded_exp(theta - shift_) - bounded_exp(-theta - shift_));
        return static_cast<Real>(bounded_exp(theta - shift_));
    }

    double mass_of(double u) const {
        if constexpr (Signed) return std::sqrt(u * u + 4 * floor_);
        return u;
    }
    // Signed: a mass is the sum of exp(theta - s) and exp(-theta - s), whose product is known.
    double smaller_half(double larger) const { return larger > 0 ? floor_ / larger : 0.0; }

    void join(double u) { sum_.add(mass_of(u)); }
    void replace(double u, double fresh) {
        sum_.add(-mass_of(u));
        sum_.add(mass_of(fresh));
    }

    // After a change: how high and how low Z has been.
    void mark() {
        peak_ = std::max(peak_, value());
        least_ = std::min(least_, value());
    }
    bool has_fallen() const { return value() < peak_ * 0x1p-20; }
    // The least Z since the mean of the weights was settled.
    double least() const { return least_; }
    void settled() { least_ = std::numeric_limits<double>::infinity(); }

    // As numbers and back.
    static constexpr std::size_t stored = 5;
    std::array<double, stored> numbers() const { return {shift_, value(), sum_.low(), peak_, least_}; }
    static Normaliser restored(const std::array<double, stored>& from) {
        Normaliser it(from[0]);
        it.sum_ = LongSum::restored(from[1], from[2]);
        it.peak_ = from[3];
        it.least_ = from[4];
        return it;
    }

private:
    LongSum sum_;       // Z exp(-s)
    double shift_ = 0;  // s
    double floor_ = 1;  // exp(-2s)
    double peak_ = 0;   // since it was summed anew
    double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace hinge
