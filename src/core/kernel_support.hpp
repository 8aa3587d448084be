// A function as a sum over kept rows, f(x) = sum_s a_s k(x_s, x): the weights of a model with a kernel.
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
#include "kernels.hpp"
#include "support_rows.hpp"

namespace hinge {

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
            if (shape == Shape::poly) powers(scratch.values.data(), scratch.values.size());
            return;
        }
        // ||a-b||^2 = ||a||^2 + ||b||^2 - 2 <a,b> cancels: in float64 even where the rows are float32.
        rows.template products<double>(x, scratch);
        distances(rows, x, scratch.values.data());
        exp_kernel()(scratch.values.data(), static_cast<std::ptrdiff_t>(rows.size()));
    }

    // The values at several rows of a dense matrix, rows.stride() apart; false where that is no faster.
    template <class Real>
    bool many(const SupportRows<Real>& rows, const Row<Real>* x, Index count, SupportScratch<Real>& scratch) const {
        if (shape != Shape::rbf) {
            if (!rows.template products_of_many<Real>(x, count, scratch)) return false;
            if (shape == Shape::poly) powers(scratch.values.data(), scratch.values.size());
            return true;
        }
        if (!rows.template products_of_many<double>(x, count, scratch)) return false;
        for (Index t = 0; t < count; ++t) {
            double* values = scratch.values.data() + static_cast<std::size_t>(t) * rows.stride();
            distances(rows, x[t], values);
            exp_kernel()(values, static_cast<std::ptrdiff_t>(rows.size()));
        }
        return true;
    }

    template <class Real>
    double own(const Row<Real>& x) const {
        if (shape == Shape::rbf) return 1;
        const double square = SupportRows<Real>::squared_length(x);
        return shape == Shape::poly ? power(square) : square;
    }

    void powers(double* values, std::size_t count) const {
        kernels<double>().powers(values, static_cast<std::ptrdiff_t>(count), gamma, coef0, degree);
    }

    // Products become -gamma ||a-b||^2.
    template <class Real>
    void distances(const SupportRows<Real>& rows, const Row<Real>& x, double* values) const {
        const double own = rows.squared_length(x);
        const auto norms = rows.square_norms();
        for (std::size_t s = 0; s < norms.size(); ++s)
            values[s] = -gamma * std::max(0.0, (norms[s] + own) - 2 * values[s]);
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

    K& kernel() { return kernel_; }
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

    static constexpr Index together = 16;  // rows that a reader scores at a time

    // f at up to `together` rows that follow one another.
    void scores(const Rows<Real>& x, std::int64_t first, Index count, double* out, Scratch& scratch) const {
        if constexpr (requires(const Row<Real>* rows) { kernel_.many(rows_, rows, count, scratch); }) {
            Row<Real> rows[together];
            for (Index t = 0; t < count; ++t) rows[t] = x[first + t];
            if (!x.start && kernel_.many(rows_, rows, count, scratch)) {
                for (Index t = 0; t < count; ++t)
                    out[t] = weighted_sum(scratch.values.data() + at(t) * rows_.stride());
                return;
            }
        }
        for (Index t = 0; t < count; ++t) out[t] = score(x[first + t], scratch);
    }

    // The same, where scratch.values is what `score` left there.
    double value(const Scratch& scratch) const { return weighted_sum(scratch.values.data()); }
    // k(x, x)
    double own(const Row<Real>& x) const { return kernel_.own(x); }

    // f += coefficient k(x, .), with own = k(x, x) and the scratch as `score` left it for the same x and the same support.
    // Where a row has to leave and it is `Asked`, returns by how much that changes ||f||^2.
    template <bool Asked = false>
    double add(const Row<Real>& x, double own, double coefficient, Scratch& scratch) {
        if (coefficient == 0) return 0;
        if (pairs()) meet(own, scratch.values);
        rows_.push(x);
        coefficients_.push_back(coefficient);
        ages_.push_back(next_age_++);
        if (budget_ == unlimited || size() <= budget_) return 0;
        const Index leaving = victim();
        const double change = Asked ? change_of_square(leaving, scratch) : 0.0;
        remove(leaving, scratch);
        return change;
    }

    // Every coefficient times the same number.
    void rescale(double factor) {
        for (double& a : coefficients_) a *= factor;
    }

    void archive(Archive& to) {
        rows_.archive(to);
        to.list("support_coefficients", coefficients_);
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
        to.list("support_partners", slots);
        to.list("support_crosses", crosses);
        to.list("support_explained", explained);
        to.list("support_owns", owns);
        partners_.clear();
        for (std::size_t s = 0; s < slots.size(); ++s)
            partners_.push_back({static_cast<Index>(slots[s]), crosses.at(s), explained.at(s), owns.at(s)});
        const std::size_t count = at(size());
        bool whole = coefficients_.size() == count && ages_.size() == count;
        whole = whole && partners_.size() == (pairs() ? count : 0);
        for (const Partner& each : partners_) whole = whole && each.slot >= -1 && each.slot < size();
        if (!whole) throw std::invalid_argument("the support's parts do not belong together");
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
        return kernels<double>().weighted_sum(coefficients_.data(), values,
                                              static_cast<std::ptrdiff_t>(coefficients_.size()));
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

    // ||f - a_s k_s + g k_n||^2 - ||f||^2, where n is given g of what s carries.
    double change_of_square(Index slot, Scratch& scratch) const {
        kernel_(rows_, rows_.row(slot, scratch.row), scratch);
        const double a = coefficients_[at(slot)];
        const double own = pairs() ? partners_[at(slot)].own : kernel_.own(rows_.row(slot, scratch.row));
        double change = a * (a * own - 2 * weighted_sum(scratch.values.data()));
        if (!pairs() || partners_[at(slot)].slot < 0) return change;
        const Partner& leaving = partners_[at(slot)];
        const double given = share(leaving) * a;
        kernel_(rows_, rows_.row(leaving.slot, scratch.row), scratch);
        const double there = weighted_sum(scratch.values.data());
        return change + given * (2 * there + given * partners_[at(leaving.slot)].own - 2 * a * leaving.cross);
    }

    // How much of what a row carries its partner is given.
    double share(const Partner& leaving) const {
        const double own = partners_[at(leaving.slot)].own;
        return own > 0 ? leaving.cross / own : 0.0;
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
        if (leaving.slot >= 0) coefficients_[at(leaving.slot)] += coefficients_[at(slot)] * share(leaving);
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
