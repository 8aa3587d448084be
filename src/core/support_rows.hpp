// The rows that a model with a kernel keeps, one a slot, and their inner products with another.
//
// Rows are kept in one of two ways, chosen by the first of them. Dense rows stand in blocks, feature by feature with
// the rows of a block side by side, so that one entry of x meets a whole block at a time. Sparse rows stand one after
// the other, and x is scattered over the features once. Either way each product sums in feature order over the entries
// that are not zero, so that the two give the same bits, whatever the vector width. The constant feature is not read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "archive.hpp"
#include "block_products.hpp"
#include "kernels.hpp"
#include "rows.hpp"

namespace hinge {

// What scoring needs room for; each thread brings its own.
template <class Real>
struct SupportScratch {
    std::vector<double> values;  // k(x_s, x), slot by slot
    std::vector<Real> scattered;
    std::vector<Real> row;
};

// Integers below 2^53, as the archive knows them.
template <class Integer>
void archive_integers(Archive& to, const char* name, std::vector<Integer>& integers) {
    std::vector<double> values(integers.begin(), integers.end());
    to.list(name, values);
    integers.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) integers[i] = static_cast<Integer>(values[i]);
}

template <class Real>
class SupportRows {
public:
    static constexpr Index lanes = block_rows<Real>;

    Index size() const { return size_; }
    bool dense() const { return dense_; }
    Index width() const { return width_; }
    double square_norm(Index slot) const { return norms_[at(slot)]; }
    std::span<const double> square_norms() const { return norms_; }

    void push(const Row<Real>& x) {
        if (size_ == 0) {
            clear();
            dense_ = !x.index;
        }
        append(x);
    }

    // The last row takes the slot of another, which is gone.
    void replace_by_last(Index slot) {
        const Index last = size_ - 1;
        if (dense_) {
            for (Index j = 0; j < width_; ++j) {
                entry(slot, j) = entry(last, j);
                entry(last, j) = Real(0);
            }
        } else {
            wasted_ += lengths_[at(slot)];
            starts_[at(slot)] = starts_[at(last)];
            lengths_[at(slot)] = lengths_[at(last)];
            starts_.pop_back();
            lengths_.pop_back();
        }
        norms_[at(slot)] = norms_[at(last)];
        norms_.pop_back();
        --size_;
        if (!dense_ && wasted_ > values_.size() / 2) close_gaps();
    }

    // A view that lives until the rows or `room` change.
    Row<Real> row(Index slot, std::vector<Real>& room) const {
        if (!dense_) {
            const std::size_t start = starts_[at(slot)];
            return {indices_.data() + start, values_.data() + start, static_cast<Index>(lengths_[at(slot)]), Real(0)};
        }
        room.resize(at(width_));
        for (Index j = 0; j < width_; ++j) room[at(j)] = blocks_[place(slot, j)];
        return {nullptr, room.data(), width_, Real(0)};
    }

    // <x_s, x> for all slots, products and sums in `Sum`; scratch.values holds at least `size()` of them.
    template <class Sum>
    void products(const Row<Real>& x, SupportScratch<Real>& scratch) const {
        scratch.values.resize(stride());
        if (dense_)
            products_kernel<Real, Sum>()(blocks_.data(), width_, size_, x, scratch.values.data());
        else
            sparse_products<Sum>(x, scratch);
    }

    // The same for several rows of a dense matrix, `stride` values of scratch apart; false where the rows here are sparse.
    template <class Sum>
    bool products_of_many(const Row<Real>* x, Index count, SupportScratch<Real>& scratch) const {
        if (!dense_) return false;
        scratch.values.resize(stride() * at(count));
        many_products_kernel<Real, Sum>()(blocks_.data(), width_, size_, x, count, scratch.values.data(),
                                          static_cast<std::ptrdiff_t>(stride()));
        return true;
    }
    std::size_t stride() const { return at((size_ + lanes - 1) / lanes * lanes); }

    // As sparse rows in slot order, whatever they are; put back, they stand as suits them.
    void archive(Archive& to) {
        std::vector<std::size_t> counts;
        std::vector<Index> indices;
        std::vector<double> values;
        std::vector<Real> room;
        for (Index slot = 0; slot < size_; ++slot) {
            const std::size_t before = values.size();
            const Row<Real> x = row(slot, room);
            for (Index i = 0; i < x.count; ++i) {
                if (x.value[i] == Real(0)) continue;
                indices.push_back(x.feature(i));
                values.push_back(static_cast<double>(x.value[i]));
            }
            counts.push_back(values.size() - before);
        }
        archive_integers(to, "support_counts", counts);
        archive_integers(to, "support_indices", indices);
        to.list("support_values", values);
        restore(counts, indices, {values.begin(), values.end()});
    }

    static double squared_length(const Row<Real>& x) {
        double sum = 0;
        for (Index i = 0; i < x.count; ++i) sum += static_cast<double>(x.value[i]) * static_cast<double>(x.value[i]);
        return sum;
    }

private:
    static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

    std::size_t place(Index slot, Index feature) const {
        return (at(slot / lanes) * at(width_) + at(feature)) * at(lanes) + at(slot % lanes);
    }
    Real& entry(Index slot, Index feature) { return blocks_[place(slot, feature)]; }

    void append(const Row<Real>& x) {
        if (dense_)
            push_dense(x);
        else
            push_sparse(x);
        ++size_;
        norms_.push_back(squared_length(x));
    }

    void restore(const std::vector<std::size_t>& counts, const std::vector<Index>& indices,
                 const std::vector<Real>& values) {
        Index width = 0;
        for (const Index j : indices) {
            if (j < 0) throw std::invalid_argument("the support's rows have a feature below zero");
            width = std::max(width, j + 1);
        }
        clear();
        dense_ = values.size() >= counts.size() * at(width) / 4;
        std::size_t start = 0;
        for (const std::size_t count : counts) {
            if (count > indices.size() - start || count > values.size() - start)
                throw std::invalid_argument("the support's rows are longer than its values");
            append({indices.data() + start, values.data() + start, static_cast<Index>(count), Real(0)});
            start += count;
        }
    }

    void clear() {
        size_ = 0;
        width_ = 0;
        wasted_ = 0;
        norms_.clear();
        blocks_.clear();
        indices_.clear();
        values_.clear();
        starts_.clear();
        lengths_.clear();
    }

    void push_dense(const Row<Real>& x) {
        Index needed = x.index ? 0 : x.count;
        for (Index i = 0; x.index && i < x.count; ++i) needed = std::max(needed, x.index[i] + 1);
        if (needed > width_) widen(needed);
        const std::size_t whole = at(size_ / lanes + 1) * at(width_) * at(lanes);
        if (blocks_.size() < whole) blocks_.resize(whole, Real(0));
        for (Index i = 0; i < x.count; ++i) entry(size_, x.feature(i)) = x.value[i];
    }

    void widen(Index width) {
        const std::size_t count = at((size_ + lanes - 1) / lanes);
        std::vector<Real> fresh(count * at(width) * at(lanes), Real(0));
        for (std::size_t block = 0; block < count; ++block)
            std::copy_n(blocks_.data() + block * at(width_) * at(lanes), at(width_) * at(lanes),
                        fresh.data() + block * at(width) * at(lanes));
        blocks_ = std::move(fresh);
        width_ = width;
    }

    void push_sparse(const Row<Real>& x) {
        starts_.push_back(values_.size());
        for (Index i = 0; i < x.count; ++i) {
            if (x.value[i] == Real(0)) continue;
            indices_.push_back(x.feature(i));
            values_.push_back(x.value[i]);
            width_ = std::max(width_, x.feature(i) + 1);
        }
        lengths_.push_back(values_.size() - starts_.back());
    }

    void close_gaps() {
        std::vector<Index> indices;
        std::vector<Real> values;
        indices.reserve(2 * (values_.size() - wasted_));
        values.reserve(indices.capacity());
        for (std::size_t slot = 0; slot < starts_.size(); ++slot) {
            const auto from = static_cast<std::ptrdiff_t>(starts_[slot]);
            const auto to = from + static_cast<std::ptrdiff_t>(lengths_[slot]);
            starts_[slot] = values.size();
            indices.insert(indices.end(), indices_.begin() + from, indices_.begin() + to);
            values.insert(values.end(), values_.begin() + from, values_.begin() + to);
        }
        indices_ = std::move(indices);
        values_ = std::move(values);
        wasted_ = 0;
    }

    template <class Sum>
    void sparse_products(const Row<Real>& x, SupportScratch<Real>& scratch) const {
        if (scratch.scattered.size() < at(width_)) scratch.scattered.resize(at(width_), Real(0));
        for (Index i = 0; i < x.count && x.feature(i) < width_; ++i) scratch.scattered[at(x.feature(i))] = x.value[i];
        for (Index slot = 0; slot < size_; ++slot) {
            const std::size_t start = starts_[at(slot)];
            Sum sum = 0;
            for (std::size_t i = start; i < start + lengths_[at(slot)]; ++i)
                sum += static_cast<Sum>(scratch.scattered[at(indices_[i])]) * static_cast<Sum>(values_[i]);
            scratch.values[at(slot)] = static_cast<double>(sum);
        }
        for (Index i = 0; i < x.count && x.feature(i) < width_; ++i) scratch.scattered[at(x.feature(i))] = Real(0);
    }

    Index size_ = 0;
    Index width_ = 0;
    bool dense_ = true;
    std::vector<double> norms_;
    std::vector<Real> blocks_;    // dense
    std::vector<Index> indices_;  // sparse
    std::vector<Real> values_;
    std::vector<std::size_t> starts_;
    std::vector<std::size_t> lengths_;
    std::size_t wasted_ = 0;
};

}  // namespace hinge
