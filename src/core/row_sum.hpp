// A sum of rows for one output, kept by feature in float64: for rounds of so many rows that sorting their entries would
// cost more than remembering which features they touch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rows.hpp"

namespace hinge {

template <class Real>
class RowSum {
public:
    void clear() {
        if (++round_ == 0) {  // the counter has run over: every mark is out of date
            std::fill(mark_.begin(), mark_.end(), 0U);
            round_ = 1;
        }
        touched_.clear();
        constant_ = 0;
        width_ = 0;
    }

    void add(const Row<Real>& x, double factor) {
        constant_ += factor * static_cast<double>(x.constant);
        if (x.index)
            add_sparse(x, factor);
        else
            add_dense(x, factor);
    }

    // By increasing feature, without zeros; valid until the next round.
    Row<Real> row() {
        index_.clear();
        value_.clear();
        if (width_ == 0 && touched_.size() * 8 < mark_.size()) {
            std::sort(touched_.begin(), touched_.end());
            for (Index j : touched_) emit(j);
        } else {
            for (Index j = 0; j < static_cast<Index>(mark_.size()); ++j)
                if (j < width_ || mark_[place(j)] == round_) emit(j);
        }
        return {index_.data(), value_.data(), static_cast<Index>(index_.size()), static_cast<Real>(constant_)};
    }

private:
    static std::size_t place(Index j) { return static_cast<std::size_t>(j); }

    void reach(Index width) {
        if (mark_.size() >= place(width)) return;
        sum_.resize(place(width));
        mark_.resize(place(width), 0U);
    }

    void add_sparse(const Row<Real>& x, double factor) {
        if (x.count > 0) reach(x.index[x.count - 1] + 1);
        for (Index i = 0; i < x.count; ++i) {
            const Index j = x.index[i];
            const double value = factor * static_cast<double>(x.value[i]);
            if (mark_[place(j)] == round_) {
                sum_[place(j)] += value;
            } else {
                mark_[place(j)] = round_;
                sum_[place(j)] = value;
                touched_.push_back(j);
            }
        }
    }

    void add_dense(const Row<Real>& x, double factor) {
        if (width_ == 0) {
            reach(x.count);
            std::fill_n(sum_.begin(), x.count, 0.0);
            width_ = x.count;
        }
        double* sum = sum_.data();
        for (Index j = 0; j < x.count; ++j) sum[j] += factor * static_cast<double>(x.value[j]);
    }

    void emit(Index j) {
        if (sum_[place(j)] == 0) return;
        index_.push_back(j);
        value_.push_back(static_cast<Real>(sum_[place(j)]));
    }

    std::vector<double> sum_;
    std::vector<std::uint32_t> mark_;  // the round in which a feature was touched last
    std::uint32_t round_ = 0;
    std::vector<Index> touched_;
    Index width_ = 0;  // of dense rows
    double constant_ = 0;
    std::vector<Index> index_;
    std::vector<Real> value_;
};

}  // namespace hinge
