// The weight matrix, by feature: one row a feature, the outputs side by side.
//
// A row takes 1, 2, 4, 8 or 16 floats, and whole cache lines beyond that; what is padding stays zero. Row -1 is the
// constant feature and rows below it belong to the problem (`reserved`), so that an index needs no translation.
// The matrix grows in both directions; growing never moves a value to another row or column.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>

#include "buffer.hpp"
#include "rows.hpp"

namespace hinge {

template <class Real>
class Weights {
public:
    static constexpr Index line = static_cast<Index>(cache_line / sizeof(Real));

    explicit Weights(Index reserved = 0) : reserved_(reserved) {}

    Index features() const { return features_; }
    Index outputs() const { return outputs_; }
    Index reserved() const { return reserved_; }
    Index stride() const { return stride_; }
    // How many values of a row hold all outputs and fill whole vectors.
    Index width() const { return padded(outputs_); }

    Real* row(Index j) { return origin() + static_cast<std::ptrdiff_t>(j) * stride_; }
    const Real* row(Index j) const { return origin() + static_cast<std::ptrdiff_t>(j) * stride_; }
    // Row 0, from which kernels count.
    Real* origin() { return values_.data() + static_cast<std::ptrdiff_t>(reserved_) * stride_; }
    const Real* origin() const { return values_.data() + static_cast<std::ptrdiff_t>(reserved_) * stride_; }

    void grow(Index features, Index outputs) {
        if (features < features_ || outputs < outputs_) throw std::logic_error("weights never shrink");
        Index stride = stride_;
        // Room for an eighth more, so that labels that arrive one by one do not move the matrix each time.
        if (padded(outputs) > stride) stride = padded(outputs_ == 0 ? outputs : outputs + outputs / 8);
        Index capacity = capacity_;
        if (features > capacity) capacity = features_ == 0 ? features : std::max(features, capacity + capacity / 2);
        if (stride != stride_ || capacity != capacity_) relay(capacity, stride);
        features_ = features;
        outputs_ = outputs;
    }

    // The reserved weights of a single output, row -reserved() first.
    std::span<Real> side() { return {row(-reserved_), outputs_ > 0 ? static_cast<std::size_t>(reserved_) : 0}; }
    std::span<const Real> side() const {
        return {row(-reserved_), outputs_ > 0 ? static_cast<std::size_t>(reserved_) : 0};
    }

    // A reserved row enters at `place` (0: the lowest), with the values of the row that is at `like` now, or zero where
    // that is negative. The rows above it keep their numbers, those below it move down by one.
    void insert_reserved(Index place, Index like) {
        Weights grown(reserved_ + 1);
        grown.grow(features_, outputs_);
        const auto copy = [&](Index from, Index to) { std::copy_n(row(from), outputs_, grown.row(to)); };
        for (Index j = -reserved_; j < features_; ++j) copy(j, j < place - reserved_ ? j - 1 : j);
        if (like >= 0) copy(like - reserved_, place - grown.reserved_);
        *this = std::move(grown);
    }

    // Column `out` leaves; the columns after it move one place to the left.
    void erase_output(Index out) {
        for (Index j = -reserved_; j < features_; ++j) {
            Real* values = row(j);
            std::copy(values + out + 1, values + outputs_, values + out);
            values[outputs_ - 1] = Real(0);
        }
        --outputs_;
    }

    // For one output whose features are cells of a matrix: rows of `from` cells become rows of `to`, of which
    // `reserved` stand before row 0. What is new is zero.
    void regrid(Index from, Index to, Index reserved) {
        Weights fresh(reserved * to);
        fresh.grow(from > 0 ? features_ / from * to : 0, outputs_);
        for (Index j = from > 0 ? -(reserved_ / from) : 0; from > 0 && j < features_ / from; ++j)
            std::copy_n(row(j * from), from, fresh.row(j * to));
        *this = std::move(fresh);
    }

    static Index padded(Index outputs) {
        if (outputs >= line) return (outputs + line - 1) / line * line;
        return outputs <= 1 ? outputs : static_cast<Index>(std::bit_ceil(static_cast<unsigned>(outputs)));
    }

private:
    void relay(Index capacity, Index stride) {
        const std::size_t rows = static_cast<std::size_t>(reserved_) + static_cast<std::size_t>(capacity);
        Buffer<Real> fresh(rows * static_cast<std::size_t>(stride));
        const std::size_t kept = static_cast<std::size_t>(reserved_ + features_);
        for (std::size_t i = 0; i < kept && outputs_ > 0; ++i)
            std::memcpy(fresh.data() + i * static_cast<std::size_t>(stride),
                        values_.data() + i * static_cast<std::size_t>(stride_),
                        static_cast<std::size_t>(outputs_) * sizeof(Real));
        values_ = std::move(fresh);
        capacity_ = capacity;
        stride_ = stride;
    }

    Buffer<Real> values_;
    Index reserved_;
    Index features_ = 0;
    Index outputs_ = 0;
    Index capacity_ = 0;
    Index stride_ = 0;
};

}  // namespace hinge
