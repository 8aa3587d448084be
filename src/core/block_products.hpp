// <x_s, x> for rows that stand in blocks, side by side: element j of row s is blocks[(s / L * width + j) * L + s % L],
// with L = 128 bytes of values, and the last block is full (of zeros).
//
// `Bytes` is the width of a register. Every row sums over the entries of x in feature order, in `Sum`, so that it
// changes no bits. Nothing from the standard library is used: this may be compiled for a newer processor than the rest.
#pragma once

#include "rows.hpp"

namespace hinge {

template <class Real>
inline constexpr Index block_rows = static_cast<Index>(128 / sizeof(Real));

namespace detail {
template <class Number, int Bytes>
using Packed [[gnu::vector_size(Bytes), gnu::may_alias, gnu::aligned(alignof(Number))]] = Number;
}

template <class Real, class Sum, int Bytes>
void block_products(const Real* blocks, Index width, Index rows, Row<Real> x, double* out) {
    constexpr Index lanes = Bytes / static_cast<Index>(sizeof(Sum));
    using V = detail::Packed<Sum, Bytes>;
    using Stored = detail::Packed<Real, lanes * static_cast<int>(sizeof(Real))>;
    constexpr Index vectors = 128 / Bytes;  // enough sums to hide the latency of an addition
    constexpr Index together = lanes * vectors;
    constexpr Index block = block_rows<Real>;
    static_assert(block % together == 0);
    for (Index first = 0; first < rows; first += together) {
        const Real* column = blocks + static_cast<std::ptrdiff_t>(first / block) * width * block + first % block;
        V sum[vectors];
        for (Index m = 0; m < vectors; ++m) sum[m] = V{};
        const auto add = [&](Index feature, Real value) {
            const Real* from = column + static_cast<std::ptrdiff_t>(feature) * block;
            const Sum factor = static_cast<Sum>(value);
            for (Index m = 0; m < vectors; ++m) {
                const Stored stored = reinterpret_cast<const Stored*>(from)[m];
                if constexpr (sizeof(Sum) == sizeof(Real))
                    sum[m] += factor * stored;
                else
                    sum[m] += factor * __builtin_convertvector(stored, V);
            }
        };
        if (x.index) {
            for (Index i = 0; i < x.count && x.index[i] < width; ++i) add(x.index[i], x.value[i]);
        } else {
            const Index count = x.count < width ? x.count : width;
            for (Index j = 0; j < count; ++j) add(j, x.value[j]);
        }
        for (Index m = 0; m < vectors; ++m)
            for (Index k = 0; k < lanes; ++k) out[first + m * lanes + k] = static_cast<double>(sum[m][k]);
    }
}

}  // namespace hinge
