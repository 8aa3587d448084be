// Views on the data of a call: rows of a dense matrix, or of a CSR matrix with strictly increasing indices.
//
// Feature -1 is the constant feature (the intercept), features below it are the reserved ones of a problem
// (thresholds, transitions). They come before the ordinary features in every sum.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace hinge {

using Index = std::int32_t;

template <class Real>
struct Row {
    const Index* index;  // null: dense, entry i is feature i
    const Real* value;
    Index count;
    Real constant;  // value of feature -1; zero where the model has no intercept

    Index feature(Index i) const { return index ? index[i] : i; }

    // Calls visit(feature, value) for every non-zero entry, in feature order.
    template <class Visit>
    void each(Visit&& visit) const {
        if (constant != Real(0)) visit(Index(-1), constant);
        for (Index i = 0; i < count; ++i)
            if (value[i] != Real(0)) visit(feature(i), value[i]);
    }
};

template <class Real>
struct Rows {
    const std::int64_t* start;  // null: dense
    const Index* index;
    const Real* value;
    std::int64_t count;  // rows
    Index width;         // features
    Real constant;

    Row<Real> operator[](std::int64_t t) const {
        if (!start) return {nullptr, value + t * width, width, constant};
        return {index + start[t], value + start[t], static_cast<Index>(start[t + 1] - start[t]), constant};
    }

    // The rows from `first` to before `last`.
    Rows between(std::int64_t first, std::int64_t last) const {
        if (!start) return {nullptr, nullptr, value + first * width, last - first, width, constant};
        return {start + first, index, value, last - first, width, constant};
    }
};

// ||x||^2 with the constant feature, in float64. The n-th value that is not zero goes to lane n mod 4, so that dense
// equals sparse; values without a zero among them are taken four by four.
template <class Real>
double squared_norm(const Row<Real>& x) {
    double lane[4] = {};
    Index i = 0;
    for (; i + 4 <= x.count; i += 4) {
        const Real* v = x.value + i;
        if ((v[0] == Real(0)) | (v[1] == Real(0)) | (v[2] == Real(0)) | (v[3] == Real(0))) break;
        for (int m = 0; m < 4; ++m) lane[m] += static_cast<double>(v[m]) * static_cast<double>(v[m]);
    }
    for (unsigned n = 0; i < x.count; ++i) {
        const auto v = static_cast<double>(x.value[i]);
        lane[n & 3] += v * v;
        n += v != 0;
    }
    const auto constant = static_cast<double>(x.constant);
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + constant * constant;
}

// What is wrong with the first bad place of a matrix, if anything is.
enum class Flaw { none, not_finite, bad_start, out_of_range, not_increasing };

struct Finding {
    Flaw flaw = Flaw::none;
    std::int64_t row = 0;
    std::int64_t column = 0;
};

template <class Real>
bool all_finite(const Real* value, std::int64_t count) {
    using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
    constexpr Bits exponent = std::bit_cast<Bits>(std::numeric_limits<Real>::infinity());
    Bits bad = 0;
    for (std::int64_t i = 0; i < count; ++i) bad |= (std::bit_cast<Bits>(value[i]) & exponent) == exponent;
    return bad == 0;
}

// Whether indices increase strictly, from 0 at least to below `width`. No branch, so that it is done by whole vectors.
inline bool all_in_order(const Index* index, std::int64_t count, Index width) {
    if (count == 0) return true;
    Index bad = 0;
    for (std::int64_t i = 1; i < count; ++i) bad |= index[i] <= index[i - 1];
    return bad == 0 && index[0] >= 0 && index[count - 1] < width;
}

template <class Real>
Finding inspect_dense(const Rows<Real>& x) {
    for (std::int64_t t = 0; t < x.count; ++t) {
        const Real* row = x.value + t * x.width;
        if (all_finite(row, x.width)) continue;
        for (Index j = 0; j < x.width; ++j)
            if (!std::isfinite(row[j])) return {Flaw::not_finite, t, j};
    }
    return {};
}

// `stored` is the length of the index and value arrays: no start may point beyond it.
template <class Real>
Finding inspect_sparse(const Rows<Real>& x, std::int64_t stored) {
    if (x.start[0] != 0) return {Flaw::bad_start, 0, 0};
    for (std::int64_t t = 0; t < x.count; ++t)
        if (x.start[t + 1] < x.start[t] || x.start[t + 1] > stored) return {Flaw::bad_start, t, 0};
    Finding order{};  // reported only if nothing worse is found
    for (std::int64_t t = 0; t < x.count; ++t) {
        const std::int64_t length = x.start[t + 1] - x.start[t];
        if (!all_in_order(x.index + x.start[t], length, x.width)) {
            Index before = -1;
            for (std::int64_t i = x.start[t]; i < x.start[t + 1]; ++i) {
                const Index j = x.index[i];
                if (j < 0 || j >= x.width) return {Flaw::out_of_range, t, j};
                if (j <= before && order.flaw == Flaw::none) order = {Flaw::not_increasing, t, j};
                before = j;
            }
        }
        if (all_finite(x.value + x.start[t], length)) continue;
        for (std::int64_t i = x.start[t]; i < x.start[t + 1]; ++i)
            if (!std::isfinite(x.value[i])) return {Flaw::not_finite, t, x.index[i]};
    }
    return order;
}

}  // namespace hinge
