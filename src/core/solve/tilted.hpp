// The dual along an instance when G is a log-partition: G(theta + a x) - G(theta) = log E[exp(a x)], the expectation
// over the weights of one output. An atom is a value of x with the weight on it; features where x is zero are one
// atom more, `rest`. Where x takes one value besides zero, all its features are one atom.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "../elementary.hpp"
#include "../kernels.hpp"
#include "../region.hpp"

namespace hinge {

struct Moments {
    double log_partition;
    double mean;
    double variance;
};

// What one round knows of x and of the weights of the outputs that were loaded. Filled by the geometry.
class Tilted {
public:
    double cap = 0;               // the most that the positive coefficients may add up to
    double largest = 0;           // max |x_j|
    std::vector<double> values;   // of the atoms, rest apart
    std::vector<double> masses;   // atoms of one output after the other; they and rest sum to one
    std::vector<double> rests;    // one an output
    std::vector<Index> outputs;   // what is loaded, in the order of loading

    // x takes one value besides zero, so that every output's weights have two atoms.
    bool two_valued() const { return values.size() == 1; }
    // G is linear along x, so that no coefficient moves a weight: every one of them is as good as any other.
    bool flat() const { return values.empty() || (two_valued() && rests[0] == 0); }

    void clear() {
        masses.clear();
        rests.clear();
        outputs.clear();
    }

    // Log-partition, mean and variance of x under the weights of a loaded output, tilted by exp(a x).
    Moments moments(std::size_t slot, double a) {
        const std::size_t count = values.size();
        const double* mass = masses.data() + slot * count;
        double top = rests[slot] > 0 ? 0.0 : a * values[0];
        for (double v : values) top = std::max(top, a * v);
        tilt_.resize(count);
        for (std::size_t i = 0; i < count; ++i) tilt_[i] = a * values[i] - top;
        exp_kernel()(tilt_.data(), static_cast<std::ptrdiff_t>(count));
        double partition = rests[slot] > 0 ? rests[slot] * bounded_exp(-top) : 0.0;
        double first = 0;
        const double rest = partition;
        for (std::size_t i = 0; i < count; ++i) {
            tilt_[i] *= mass[i];
            partition += tilt_[i];
            first += tilt_[i] * values[i];
        }
        const double mean = first / partition;
        double second = rest * mean * mean;
        for (std::size_t i = 0; i < count; ++i) second += tilt_[i] * (values[i] - mean) * (values[i] - mean);
        return {top + log(partition), mean, second / partition};
    }

    // log of the odds that x is not zero, for two atoms
    double logit(std::size_t slot) const { return log(masses[slot]) - log(rests[slot]); }

private:
    std::vector<double> tilt_;
};

namespace solve {

// tau that maximises gamma tau minus both rises, two atoms each: log beta / v, beta the positive root of a quadratic.
// With v < 0 the two atoms change places: as the coefficients sum to zero, adding a constant to x changes nothing.
inline double best_of_two_atoms(const Pair& pair, const Tilted& line, std::size_t up, std::size_t down) {
    const double v = std::abs(line.values[0]);
    const bool positive = line.values[0] > 0;
    const auto on = [&](std::size_t slot) { return positive ? line.masses[slot] : line.rests[slot]; };
    const auto off = [&](std::size_t slot) { return positive ? line.rests[slot] : line.masses[slot]; };
    const double g = pair.gamma / v;
    const double a = on(up) * off(down) * (1 - g);
    const double b = g * (on(up) * on(down) + off(up) * off(down));
    const double c = on(down) * off(up) * (1 + g);
    if (!(a > 0)) return line.cap;  // the dual rises all the way
    return std::min(line.cap, log((b + std::sqrt(b * b + 4 * a * c)) / (2 * a)) / v);
}

// The zero of a falling function on [0, cap], or cap where it does not fall to zero; newton(t) is {value, slope}.
template <class Function>
double falling_root(double cap, Function&& newton) {
    double low = 0;
    double high = cap;
    if (newton(cap).value >= 0) return cap;
    double t = 0;
    for (int iteration = 0; iteration < 200; ++iteration) {
        const auto at = newton(t);
        if (at.value == 0) return t;
        (at.value > 0 ? low : high) = t;
        double next = at.slope < 0 ? t - at.value / at.slope : high;
        if (!(next > low && next < high)) next = low + (high - low) / 2;
        if (next == low || next == high || std::abs(next - t) <= 1e-15 * std::abs(t)) return next;
        t = next;
    }
    return t;
}

struct ValueSlope {
    double value;
    double slope;
};

inline double best_of_many_atoms(const Pair& pair, Tilted& line, std::size_t up, std::size_t down) {
    return falling_root(line.cap, [&](double tau) {
        const Moments r = line.moments(up, tau);
        const Moments s = line.moments(down, -tau);
        return ValueSlope{(pair.gamma - r.mean) + s.mean, -r.variance - s.variance};
    });
}

// The step on one constraint: the line has `pair.up` in slot 0 and `pair.down` in slot 1.
inline double best(const Pair& pair, Tilted& line) {
    if (line.values.empty()) return line.cap;  // x = 0: no weight moves
    return line.two_valued() ? best_of_two_atoms(pair, line, 0, 1) : best_of_many_atoms(pair, line, 0, 1);
}

}  // namespace solve
}  // namespace hinge
