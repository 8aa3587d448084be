// <x_s, x> for rows that stand in blocks, side by side: element j of row s is blocks[(s / L * width + j) * L + s % L],
// with L = 128 bytes of values, and the last block is full (of zeros).
//
// `Bytes` is the width of a register. Every row sums over the entries of x in feature order, in `Sum`, so that it
// changes no bits. Nothing from the standard library is used: this may be compiled for a newer processor than the rest.
#pragma once

#include "rows.hpp"
#include "vectors.hpp"

namespace hinge {

template <class Real>
inline constexpr Index block_rows = static_cast<Index>(128 / sizeof(Real));

// The products of `Together` rows x: they share what is loaded of each block. Several must be dense.
template <class Real, class Sum, int Bytes, int Together>
void block_products_of(const Real* blocks, Index width, Index rows, const Row<Real>* x, double* out,
                       std::ptrdiff_t stride) {
    constexpr Index lanes = Bytes / static_cast<Index>(sizeof(Sum));
    using V = Vector<Sum, Bytes>;
    using Stored = Vector<Real, lanes * static_cast<int>(sizeof(Real))>;
    constexpr Index vectors = 128 / Bytes;  // enough sums to hide the latency of an addition
    constexpr Index side = lanes * vectors;
    constexpr Index block = block_rows<Real>;
    static_assert(block % side == 0);
    const Real* values[Together];
    for (int r = 0; r < Together; ++r) values[r] = x[r].value;
    for (Index first = 0; first < rows; first += side) {
        const Real* column = blocks + static_cast<std::ptrdiff_t>(first / block) * width * block + first % block;
        V sum[Together][vectors];
        for (auto& of_row : sum)
            for (V& each : of_row) each = V{};
        const auto add = [&](Index feature, auto&& value) {
            const Real* from = column + static_cast<std::ptrdiff_t>(feature) * block;
            for (Index m = 0; m < vectors; ++m) {
                const Stored stored = reinterpret_cast<const Stored*>(from)[m];
                V wide;
                if constexpr (sizeof(Sum) == sizeof(Real))
                    wide = stored;
                else
                    wide = __builtin_convertvector(stored, V);
                for (int r = 0; r < Together; ++r) sum[r][m] += static_cast<Sum>(value(r)) * wide;
            }
        };
        if (Together == 1 && x->index) {
            for (Index i = 0; i < x->count && x->index[i] < width; ++i)
                add(x->index[i], [&](int) { return x->value[i]; });
        } else {
            const Index count = x->count < width ? x->count : width;
            for (Index j = 0; j < count; ++j) add(j, [&](int r) { return values[r][j]; });
        }
        for (int r = 0; r < Together; ++r)
            for (Index m = 0; m < vectors; ++m)
                for (Index k = 0; k < lanes; ++k)
                    out[r * stride + first + m * lanes + k] = static_cast<double>(sum[r][m][k]);
    }
}

template <class Real, class Sum, int Bytes>
void block_products(const Real* blocks, Index width, Index rows, Row<Real> x, double* out) {
    block_products_of<Real, Sum, Bytes, 1>(blocks, width, rows, &x, out, 0);
}

// Of `count` dense rows, one after the other in `out`, `stride` values apart.
template <class Real, class Sum, int Bytes>
void block_products_of_many(const Real* blocks, Index width, Index rows, const Row<Real>* x, Index count, double* out,
                            std::ptrdiff_t stride) {
    constexpr int together = Bytes >= 64 ? 4 : Bytes >= 32 ? 2 : 1;  // as the registers allow
    Index t = 0;
    for (; t + together <= count; t += together)
        block_products_of<Real, Sum, Bytes, together>(blocks, width, rows, x + t, out + t * stride, stride);
    for (; t < count; ++t) block_products_of<Real, Sum, Bytes, 1>(blocks, width, rows, x + t, out + t * stride, 0);
}

}  // namespace hinge
