// The limit: one pass of passive-aggressive label ranking over CSR rows, and nothing else.
//
// No labels to encode, no certificate, no checks, one label a row, a number of outputs known when this is compiled.
// Weights lie by feature: a row of `width` floats for each feature, and a last row for the constant feature.
// Every round scores all outputs; a round with a loss moves two of them by tau x, tau = min(C, l / (2 ||x||^2)).
// What an estimator's `partial_fit` adds to this loop is its overhead.
#include <algorithm>
#include <cstdint>

namespace {

constexpr int outputs = 103;
constexpr int lanes = 16;
constexpr int blocks = (outputs + lanes - 1) / lanes;
constexpr int width = blocks * lanes;
constexpr int ahead = 4;  // rows between the one that is prefetched and the one that is learned

using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

struct Rows {
    const std::int32_t* start;
    const std::int32_t* feature;
    const float* value;
};

struct Scores {
    alignas(Vector) float of[width];
    float norm2;
};

void prefetch(const Rows& x, std::int64_t t, const float* weights) {
    for (std::int32_t i = x.start[t]; i < x.start[t + 1]; ++i) {
        const float* row = weights + std::int64_t{x.feature[i]} * width;
        for (int b = 0; b < blocks; ++b) __builtin_prefetch(row + b * lanes);
    }
}

void score(const Rows& x, std::int64_t t, const float* weights, const float* constant, Scores& scores) {
    Vector sum[blocks] = {};
    float norm2 = 0;
    for (std::int32_t i = x.start[t]; i < x.start[t + 1]; ++i) {
        const auto* row = reinterpret_cast<const Vector*>(weights + std::int64_t{x.feature[i]} * width);
        const float value = x.value[i];
        norm2 += value * value;
#pragma GCC unroll 16
        for (int b = 0; b < blocks; ++b) sum[b] += row[b] * value;
    }
    if (constant != nullptr) {
        norm2 += 1;
        for (int b = 0; b < blocks; ++b) sum[b] += reinterpret_cast<const Vector*>(constant)[b];
    }
    for (int b = 0; b < blocks; ++b) reinterpret_cast<Vector*>(scores.of)[b] = sum[b];
    scores.norm2 = norm2;
}

// The largest score but that of `except`, and its first place.
int best_other(const Scores& scores, int except) {
    alignas(Vector) float rest[width];
    std::copy(scores.of, scores.of + width, rest);
    std::fill(rest + outputs, rest + width, -__FLT_MAX__);
    rest[except] = -__FLT_MAX__;
    const auto* block = reinterpret_cast<const Vector*>(rest);
    Vector top = block[0];
    for (int b = 1; b < blocks; ++b) top = block[b] > top ? block[b] : top;
    float best = top[0];
    for (int i = 1; i < lanes; ++i) best = std::max(best, top[i]);
    int place = 0;
    while (rest[place] != best) ++place;
    return place;
}

}  // namespace

// Returns the mistakes. `weights` holds (features + 1) rows, aligned to a cache line.
extern "C" std::int64_t limit(const std::int32_t* start, const std::int32_t* feature, const float* value,
                              const std::int32_t* label, std::int64_t rows, float* weights, std::int64_t features,
                              float C, std::int32_t intercept) {
    const Rows x{start, feature, value};
    float* constant = intercept ? weights + features * width : nullptr;
    std::int64_t mistakes = 0;
    Scores scores;
    for (std::int64_t t = 0; t < rows; ++t) {
        if (t + ahead < rows) prefetch(x, t + ahead, weights);
        score(x, t, weights, constant, scores);
        const int right = label[t];
        const int wrong = best_other(scores, right);
        const float margin = scores.of[right] - scores.of[wrong];
        mistakes += margin <= 0;
        if (margin >= 1) continue;
        const float tau = std::min(C, (1 - margin) / (2 * scores.norm2));
        for (std::int32_t i = x.start[t]; i < x.start[t + 1]; ++i) {
            float* row = weights + std::int64_t{x.feature[i]} * width;
            const float step = tau * x.value[i];
            row[right] += step;
            row[wrong] -= step;
        }
        if (constant != nullptr) {
            constant[right] += tau;
            constant[wrong] -= tau;
        }
    }
    return mistakes;
}

extern "C" std::int32_t limit_width() { return width; }
