// The direction that a round with several rows may move in: a sum of rows, each for one of the outputs, and of single
// values. It becomes one sparse row over the weights' memory: feature j of output y has the place j * stride + y, and
// reserved features have negative places. Sums run in float64.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rows.hpp"

namespace hinge {

template <class Real>
class Direction {
public:
    // The rows to come are of a model with so many values a feature.
    void clear(Index stride = 1) {
        stride_ = stride;
        entries_.clear();
        starts_.assign(1, 0);
        single_.clear();
        for (Index output : outputs_) slot_[static_cast<std::size_t>(output)] = none;
        outputs_.clear();
        width_ = 0;
        done_ = false;
        index_.clear();
        value_.clear();
    }

    void add(Index place, double value) { single_.push_back({place, value}); }

    // factor times x, for one output.
    void add(const Row<Real>& x, double factor, Index output = 0) {
        if (x.constant != Real(0)) add(output - stride_, factor * static_cast<double>(x.constant));
        if (!x.index) return add_dense(x, factor, output);
        for (Index i = 0; i < x.count; ++i)
            entries_.push_back({x.index[i] * stride_ + output, factor * static_cast<double>(x.value[i])});
        starts_.push_back(entries_.size());
    }

    // What was added, by increasing place, each place once and none with a zero.
    Row<Real> row() {
        if (!done_) finish();
        done_ = true;
        return {index_.data(), value_.data(), static_cast<Index>(index_.size()), Real(0)};
    }

private:
    struct Entry {
        Index place;
        double value;
    };
    static constexpr Index none = -1;

    void add_dense(const Row<Real>& x, double factor, Index output) {
        if (slot_.size() <= static_cast<std::size_t>(output)) slot_.resize(static_cast<std::size_t>(output) + 1, none);
        Index& slot = slot_[static_cast<std::size_t>(output)];
        const auto width = static_cast<std::size_t>(x.count);
        if (outputs_.empty()) width_ = x.count;
        if (slot == none) {
            slot = static_cast<Index>(outputs_.size());
            outputs_.push_back(output);
            const std::size_t from = static_cast<std::size_t>(slot) * width;
            if (sums_.size() < from + width) sums_.resize(from + width);
            std::fill_n(sums_.begin() + static_cast<std::ptrdiff_t>(from), width, 0.0);
        }
        double* sum = sums_.data() + static_cast<std::size_t>(slot) * width;
        for (std::size_t j = 0; j < width; ++j) sum[j] += factor * static_cast<double>(x.value[j]);
    }

    void finish() {
        std::stable_sort(single_.begin(), single_.end(), before);
        emit(single_);
        if (!outputs_.empty()) emit_dense();
        merge_runs();
        emit(entries_);
    }

    void emit_dense() {
        order_ = outputs_;
        std::sort(order_.begin(), order_.end());
        for (Index j = 0; j < width_; ++j)
            for (Index output : order_) {
                const auto from = static_cast<std::size_t>(slot_[static_cast<std::size_t>(output)]) *
                                  static_cast<std::size_t>(width_);
                emit(j * stride_ + output, sums_[from + static_cast<std::size_t>(j)]);
            }
    }

    // Sparse rows are sorted each; neighbours are merged until one run is left.
    void merge_runs() {
        while (starts_.size() > 2) {
            merged_.resize(entries_.size());
            std::size_t kept = 1;
            for (std::size_t i = 0; i + 1 < starts_.size(); i += 2) {
                const auto at = [&](std::size_t start) { return entries_.begin() + static_cast<std::ptrdiff_t>(start); };
                const std::size_t middle = starts_[i + 1];
                const std::size_t end = i + 2 < starts_.size() ? starts_[i + 2] : middle;
                std::merge(at(starts_[i]), at(middle), at(middle), at(end),
                           merged_.begin() + static_cast<std::ptrdiff_t>(starts_[i]), before);
                starts_[kept++] = end;
            }
            starts_.resize(kept);
            entries_.swap(merged_);
        }
    }

    void emit(const std::vector<Entry>& sorted) {
        for (std::size_t i = 0; i < sorted.size();) {
            const Index place = sorted[i].place;
            double sum = 0;
            for (; i < sorted.size() && sorted[i].place == place; ++i) sum += sorted[i].value;
            emit(place, sum);
        }
    }

    void emit(Index place, double value) {
        if (value == 0) return;
        index_.push_back(place);
        value_.push_back(static_cast<Real>(value));
    }

    static bool before(const Entry& a, const Entry& b) { return a.place < b.place; }

    Index stride_ = 1;
    std::vector<Entry> entries_, merged_, single_;
    std::vector<std::size_t> starts_{0};
    std::vector<Index> slot_, outputs_, order_;  // of dense rows: where the sum of an output is
    std::vector<double> sums_;
    Index width_ = 0;
    bool done_ = false;
    std::vector<Index> index_;
    std::vector<Real> value_;
};

}  // namespace hinge
