// How a few sequences of weights move together in a round: a small matrix and a direction (docs/design/lazy_blocks.md).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace hinge {

inline constexpr int most_sequences = 4;

struct SmallMatrix {
    std::array<std::array<double, most_sequences>, most_sequences> at{};

    static SmallMatrix identity() {
        SmallMatrix one;
        for (std::size_t r = 0; r < most_sequences; ++r) one.at[r][r] = 1;
        return one;
    }
    std::array<double, most_sequences>& operator[](int r) { return at[static_cast<std::size_t>(r)]; }
    const std::array<double, most_sequences>& operator[](int r) const { return at[static_cast<std::size_t>(r)]; }

};

// The leading n x n parts only; the rest is that of the identity.
inline SmallMatrix product(const SmallMatrix& a, const SmallMatrix& b, std::size_t n) {
    SmallMatrix out = SmallMatrix::identity();
    for (std::size_t r = 0; r < n; ++r)
        for (std::size_t c = 0; c < n; ++c) {
            double sum = 0;
            for (std::size_t i = 0; i < n; ++i) sum += a.at[r][i] * b.at[i][c];
            out.at[r][c] = sum;
        }
    return out;
}

// The largest sum of a row's absolute values.
inline double norm(const SmallMatrix& a, std::size_t n) {
    double largest = 0;
    for (std::size_t r = 0; r < n; ++r) {
        double sum = 0;
        for (std::size_t c = 0; c < n; ++c) sum += std::abs(a.at[r][c]);
        largest = std::max(largest, sum);
    }
    return largest;
}

// By elimination with row pivots. False where the matrix is singular.
inline bool invert(SmallMatrix a, SmallMatrix& out, std::size_t n) {
    out = SmallMatrix::identity();
    for (std::size_t c = 0; c < n; ++c) {
        std::size_t pivot = c;
        for (std::size_t r = c + 1; r < n; ++r)
            if (std::abs(a.at[r][c]) > std::abs(a.at[pivot][c])) pivot = r;
        if (a.at[pivot][c] == 0) return false;
        std::swap(a.at[c], a.at[pivot]);
        std::swap(out.at[c], out.at[pivot]);
        const double scale = 1 / a.at[c][c];
        for (std::size_t i = 0; i < n; ++i) a.at[c][i] *= scale, out.at[c][i] *= scale;
        for (std::size_t r = 0; r < n; ++r) {
            const double factor = a.at[r][c];
            if (r == c || factor == 0) continue;
            for (std::size_t i = 0; i < n; ++i) a.at[r][i] -= factor * a.at[c][i], out.at[r][i] -= factor * out.at[c][i];
        }
    }
    return true;
}

// What a round does to the sequences, besides the instance.
struct Motion {
    SmallMatrix decay = SmallMatrix::identity();
    std::array<double, most_sequences> push{};

    double& gain(int r) { return push[static_cast<std::size_t>(r)]; }

    // Sequence `mean` is the mean of sequence `of` after each of `rounds` rounds, this one included. Comes last.
    void mean_after(int mean, int of, double rounds) {
        blend(mean, rounds, decay[of]);
        gain(mean) = gain(of) / rounds;
    }
    // The same before each round.
    void mean_before(int mean, int of, double rounds) {
        blend(mean, rounds, SmallMatrix::identity()[of]);
        gain(mean) = 0;
    }

private:
    void blend(int mean, double rounds, const std::array<double, most_sequences>& now) {
        for (std::size_t s = 0; s < most_sequences; ++s) decay[mean][s] = now[s] / rounds;
        decay[mean][static_cast<std::size_t>(mean)] += (rounds - 1) / rounds;
    }
};

}  // namespace hinge
