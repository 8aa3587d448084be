// A function as a sum over kept rows, f(x) = sum_s a_s k(x_s, x): the weights of a model with a kernel.
//
// Rows are kept in one of two ways, chosen by the first of them. Dense rows stand in blocks, feature by feature with
// the rows of a block side by side, so that one entry of x meets a whole block at a time. Sparse rows stand one after
// the other, and x is scattered over the features once. Either way each product sums in feature order over the entries
// that are not zero, so that the two give the same bits, whatever the vector width. The constant feature is not read.
//
// Slots. A row that leaves is replaced by the last one, so slots are not in order of age; a stamp tells the age.
//
// Budget. One row more than the budget comes in, then one leaves:
// `oldest`: the first that came, with all it carried;
// `least_harm`: what it carried is handed to the row n whose line it is nearest to, a_n += a_s k(s,n) / k(n,n); the
// row leaves for which that changes f least, a_s^2 (k(s,s) - k(s,n)^2 / k(n,n)); at ties the oldest. Partners are
// known without the Gram matrix: scoring a row gives its kernels with all others, and only the rows whose partner has
// left are compared anew.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
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
    to.values(name, values);
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
        scratch.values.resize(at((size_ + lanes - 1) / lanes * lanes));
        if (dense_)
            block_products<Real, Sum, 16>(blocks_.data(), width_, size_, x, scratch.values.data());
        else
            sparse_products<Sum>(x, scratch);
    }

    // As sparse rows in slot order, whatever they are.
    void archive(Archive& to) {
        double is_dense = dense_ ? 1 : 0;
        double width = width_;
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
        to.value("support_dense", is_dense);
        to.value("support_width", width);
        archive_integers(to, "support_counts", counts);
        archive_integers(to, "support_indices", indices);
        to.values("support_values", values);
        restore(is_dense != 0, static_cast<Index>(width), counts, indices, {values.begin(), values.end()});
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

    void restore(bool dense, Index width, const std::vector<std::size_t>& counts, const std::vector<Index>& indices,
                 const std::vector<Real>& values) {
        clear();
        dense_ = dense;
        width_ = width;
        std::size_t start = 0;
        for (const std::size_t count : counts) {
            if (count > indices.size() - start || count > values.size() - start)
                throw std::out_of_range("the support's rows are longer than its values");
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

// A kernel gives its values at x for all rows, into scratch.values slot by slot, and its value at (x, x).
template <class K, class Real>
concept KernelFunction = requires(const K kernel, const SupportRows<Real>& rows, const Row<Real>& x,
                                  SupportScratch<Real>& scratch) {
    kernel(rows, x, scratch);
    { kernel.own(x) } -> std::convertible_to<double>;
};

// <a,b>, (gamma <a,b> + coef0)^degree, exp(-gamma ||a-b||^2)
struct Kernel {
    enum class Shape { linear, poly, rbf };
    Shape shape = Shape::linear;
    double gamma = 1;
    double coef0 = 0;
    int degree = 1;

    template <class Real>
    void operator()(const SupportRows<Real>& rows, const Row<Real>& x, SupportScratch<Real>& scratch) const {
        if (shape != Shape::rbf) {
            rows.template products<Real>(x, scratch);
            if (shape == Shape::poly)
                for (double& value : scratch.values) value = power(value);
            return;
        }
        // ||a-b||^2 = ||a||^2 + ||b||^2 - 2 <a,b> cancels: in float64 even where the rows are float32.
        rows.template products<double>(x, scratch);
        const double own = rows.squared_length(x);
        const auto norms = rows.square_norms();
        for (std::size_t s = 0; s < norms.size(); ++s)
            scratch.values[s] = -gamma * std::max(0.0, (norms[s] + own) - 2 * scratch.values[s]);
        exp_kernel()(scratch.values.data(), static_cast<std::ptrdiff_t>(norms.size()));
    }

    template <class Real>
    double own(const Row<Real>& x) const {
        if (shape == Shape::rbf) return 1;
        const double square = SupportRows<Real>::squared_length(x);
        return shape == Shape::poly ? power(square) : square;
    }

    double power(double product) const {
        const double base = gamma * product + coef0;
        double value = base;
        for (int d = 1; d < degree; ++d) value *= base;
        return value;
    }
};

enum class Removal { oldest, least_harm };

template <class Real, KernelFunction<Real> K = Kernel>
class KernelSupport {
public:
    using Scratch = SupportScratch<Real>;
    static constexpr Index unlimited = 0;

    explicit KernelSupport(K kernel, Index budget = unlimited, Removal removal = Removal::least_harm)
        : kernel_(std::move(kernel)), budget_(budget), removal_(removal) {}

    Index size() const { return rows_.size(); }
    const SupportRows<Real>& rows() const { return rows_; }
    std::span<const double> coefficients() const { return coefficients_; }
    // When the row of each slot came: 0, 1, ..
    std::span<const std::int64_t> ages() const { return ages_; }

    // f(x); scratch.values then holds k(x_s, x), slot by slot.
    double score(const Row<Real>& x, Scratch& scratch) const {
        kernel_(rows_, x, scratch);
        return weighted_sum(scratch.values.data());
    }

    // f += coefficient k(x, .), with the scratch as `score` left it for the same x and the same support.
    void add(const Row<Real>& x, double coefficient, Scratch& scratch) {
        if (coefficient == 0) return;
        const double own = kernel_.own(x);
        if (pairs()) meet(own, scratch.values);
        rows_.push(x);
        coefficients_.push_back(coefficient);
        ages_.push_back(next_age_++);
        if (budget_ != unlimited && size() > budget_) remove(victim(), scratch);
    }

    void archive(Archive& to) {
        rows_.archive(to);
        to.values("support_coefficients", coefficients_);
        archive_integers(to, "support_ages", ages_);
        auto next = static_cast<double>(next_age_);
        to.value("support_next_age", next);
        next_age_ = static_cast<std::int64_t>(next);
        std::vector<double> slots, crosses, explained, owns;
        for (const Partner& each : partners_) {
            slots.push_back(each.slot);
            crosses.push_back(each.cross);
            explained.push_back(each.explained);
            owns.push_back(each.own);
        }
        to.values("support_partners", slots);
        to.values("support_crosses", crosses);
        to.values("support_explained", explained);
        to.values("support_owns", owns);
        partners_.clear();
        for (std::size_t s = 0; s < slots.size(); ++s)
            partners_.push_back({static_cast<Index>(slots[s]), crosses.at(s), explained.at(s), owns.at(s)});
    }

private:
    // The row that could carry what this one carries, and how far it is from carrying it.
    struct Partner {
        Index slot;
        double cross;      // k(s, partner)
        double explained;  // k(s, partner)^2 / k(partner, partner)
        double own;        // k(s, s)

        double distance() const { return std::max(0.0, own - explained); }
    };

    static constexpr double nothing = -std::numeric_limits<double>::infinity();

    static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
    bool pairs() const { return budget_ != unlimited && removal_ == Removal::least_harm; }

    // Eight sums, by slot: the order does not depend on the vector width.
    double weighted_sum(const double* values) const {
        double lane[8] = {};
        const std::size_t whole = coefficients_.size() / 8 * 8;
        for (std::size_t s = 0; s < whole; s += 8)
            for (std::size_t m = 0; m < 8; ++m) lane[m] += coefficients_[s + m] * values[s + m];
        for (std::size_t s = whole; s < coefficients_.size(); ++s) lane[s - whole] += coefficients_[s] * values[s];
        return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
    }

    // Whether `slot` would carry s better than the partner it has; at ties the older one.
    void offer(Partner& s, Index slot, double cross, double own) const {
        const double explained = own > 0 ? cross * cross / own : 0.0;
        const bool older = s.slot >= 0 && explained == s.explained && ages_[at(slot)] < ages_[at(s.slot)];
        if (explained > s.explained || older) s = {slot, cross, explained, s.own};
    }

    // The new row, not yet in, meets all others.
    void meet(double own, const std::vector<double>& values) {
        const Index fresh = size();
        Partner mine{-1, 0, nothing, own};
        for (Index s = 0; s < fresh; ++s) {
            Partner& theirs = partners_[at(s)];
            offer(mine, s, values[at(s)], theirs.own);
            const double explained = own > 0 ? values[at(s)] * values[at(s)] / own : 0.0;
            if (explained > theirs.explained) theirs = {fresh, values[at(s)], explained, theirs.own};
        }
        partners_.push_back(mine);
    }

    Index victim() const {
        const auto before = [&](Index s, Index t) {
            if (pairs()) {
                const double harm_s = harm(s);
                const double harm_t = harm(t);
                if (harm_s != harm_t) return harm_s < harm_t;
            }
            return ages_[at(s)] < ages_[at(t)];
        };
        Index least = 0;
        for (Index s = 1; s < size(); ++s)
            if (before(s, least)) least = s;
        return least;
    }

    double harm(Index s) const {
        return coefficients_[at(s)] * coefficients_[at(s)] * partners_[at(s)].distance();
    }

    void remove(Index slot, Scratch& scratch) {
        const Index last = size() - 1;
        if (pairs()) hand_over(slot);
        rows_.replace_by_last(slot);
        coefficients_[at(slot)] = coefficients_[at(last)];
        coefficients_.pop_back();
        ages_[at(slot)] = ages_[at(last)];
        ages_.pop_back();
        if (pairs()) pair_anew(slot, last, scratch);
    }

    void hand_over(Index slot) {
        const Partner& leaving = partners_[at(slot)];
        if (leaving.slot < 0) return;
        const double own = partners_[at(leaving.slot)].own;
        if (own > 0) coefficients_[at(leaving.slot)] += coefficients_[at(slot)] * leaving.cross / own;
    }

    void pair_anew(Index gone, Index last, Scratch& scratch) {
        partners_[at(gone)] = partners_[at(last)];
        partners_.pop_back();
        for (Index s = 0; s < size(); ++s) {
            Partner& mine = partners_[at(s)];
            const bool lost = mine.slot == gone;
            if (mine.slot == last) mine.slot = gone;
            if (!lost) continue;
            kernel_(rows_, rows_.row(s, scratch.row), scratch);
            mine = {-1, 0, nothing, mine.own};
            for (Index other = 0; other < size(); ++other)
                if (other != s) offer(mine, other, scratch.values[at(other)], partners_[at(other)].own);
        }
    }

    K kernel_;
    Index budget_;
    Removal removal_;
    SupportRows<Real> rows_;
    std::vector<double> coefficients_;
    std::vector<std::int64_t> ages_;
    std::vector<Partner> partners_;  // with a budget and least_harm
    std::int64_t next_age_ = 0;
};

}  // namespace hinge
