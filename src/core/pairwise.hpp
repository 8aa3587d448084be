// Rankers of labels by pairs: a rule on the mean hinge over the pairs of a round, and what they leave on a data set.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "geometry/trajectory.hpp"
#include "label_ranking.hpp"
#include "problem/pairs.hpp"
#include "rule/ansgd.hpp"
#include "rule/mmp.hpp"
#include "rule/sgd.hpp"

namespace hinge {

template <class Real, class Rule>
using Pairwise = LabelRanking<LabelPairs<Real>, Rule, Trajectory<Real, Rule::sequences>>;

// Null where there is no such rule.
template <class Real>
std::unique_ptr<LabelRankingModel<Real>> make_pairwise(std::string_view rule, bool intercept, bool average) {
    if (rule == "ansgd") return std::make_unique<Pairwise<Real, Ansgd>>(intercept, average);
    if (rule == "sgd") return std::make_unique<Pairwise<Real, Sgd>>(intercept, average);
    if (rule == "uniform") return std::make_unique<Pairwise<Real, MmpUniform>>(intercept, average);
    if (rule == "max") return std::make_unique<Pairwise<Real, MmpMax>>(intercept, average);
    if (rule == "still") return std::make_unique<Pairwise<Real, Still>>(intercept, average);
    return nullptr;
}

// Calls work(first, last) on parts of 0 .. count, in several threads. What a part does must not depend on the others.
// A part has at least `least`. Zero threads: as many as the machine has.
template <class Work>
void in_parts(std::int64_t count, int threads, Work&& work, std::int64_t least = 64) {
    if (threads <= 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    const std::int64_t parts = std::clamp<std::int64_t>(count / least, 1, std::max(1, threads));
    std::vector<std::thread> others;
    for (std::int64_t part = 1; part < parts; ++part)
        others.emplace_back([&work, part, parts, count] { work(part * count / parts, (part + 1) * count / parts); });
    work(std::int64_t{0}, count / parts);
    for (std::thread& other : others) other.join();
}

// The rows first .. last.
template <class Real>
Rows<Real> some(Rows<Real> x, std::int64_t first, std::int64_t last) {
    if (x.start)
        x.start += first;
    else
        x.value += first * x.width;
    x.count = last - first;
    return x;
}

// By row: the sum of the hinges, the pairs in wrong order (of which ties are counted apart), and all pairs.
struct PairCounts {
    double* hinge;
    double* wrong;
    double* tied;
    double* pairs;
};

// `scores` holds `outputs` values a row.
template <class Real>
class PairCounter {
public:
    void count(const Real* scores, Index outputs, std::span<const Index> relevant, std::int64_t t, const PairCounts& to) {
        if (relevant.empty() || std::cmp_greater_equal(relevant.size(), outputs)) {
            to.hinge[t] = to.wrong[t] = to.tied[t] = to.pairs[t] = 0;
            return;
        }
        pairs_.load(scores, outputs, Weights<Real>::padded(outputs), relevant);
        const solve::PairLoss seen = pairs_.loss();
        to.hinge[t] = seen.hinge;
        to.wrong[t] = seen.wrong;
        to.tied[t] = seen.wrong - pairs_.strictly_wrong();
        to.pairs[t] = pairs_.pairs();
    }

private:
    solve::Pairs<Real> pairs_;
};

// What a model leaves on a data set, in one pass; the same bits for any number of threads.
template <class Real>
void count_pairs(const LabelRankingModel<Real>& model, const Rows<Real>& x, const LabelRows& y, int threads,
                 const PairCounts& to) {
    in_parts(x.count, threads, [&](std::int64_t first, std::int64_t last) {
        constexpr std::int64_t batch = 32;
        const Index outputs = model.outputs();
        std::vector<Real> scores(static_cast<std::size_t>(batch * outputs));
        PairCounter<Real> counter;
        for (std::int64_t t = first; t < last; t += batch) {
            const std::int64_t end = std::min(t + batch, last);
            model.score(some(x, t, end), scores.data());
            for (std::int64_t i = t; i < end; ++i) counter.count(scores.data() + (i - t) * outputs, outputs, y[i], i, to);
        }
    });
}

// The same of given scores.
template <class Real>
void count_pairs(const Real* scores, std::int64_t rows, Index outputs, const LabelRows& y, int threads,
                 const PairCounts& to) {
    in_parts(rows, threads, [&](std::int64_t first, std::int64_t last) {
        PairCounter<Real> counter;
        for (std::int64_t t = first; t < last; ++t) counter.count(scores + t * outputs, outputs, y[t], t, to);
    });
}

// The hinges of all pairs of given scores, with a parabola of length `length` at their foot. By row the mean over its
// pairs, smoothed and not, and the mean of the betas (the slopes); in the place of the scores zeta / N, the slope along
// each score. Rows are `stride` values apart.
struct SmoothedLoss {
    double* smoothed;
    double* hinge;
    double* betas;
};

template <class Real>
void smoothed_pairs(Real* scores, std::int64_t first, std::int64_t last, Index outputs, Index stride,
                    const LabelRows& y, double length, const SmoothedLoss& to) {
    solve::Pairs<Real> pairs;
    const Index width = Weights<Real>::padded(outputs);
    std::vector<Real> delta(static_cast<std::size_t>(width));
    for (std::int64_t t = first; t < last; ++t) {
        Real* row = scores + t * stride;
        const std::span<const Index> relevant = y[t];
        to.smoothed[t] = to.hinge[t] = to.betas[t] = 0;
        if (relevant.empty() || std::cmp_greater_equal(relevant.size(), outputs)) {
            std::fill_n(row, outputs, Real(0));
            continue;
        }
        pairs.load(row, outputs, width, relevant);
        const double scale = 1 / pairs.pairs();
        pairs.smooth(1 / length, scale, delta.data());
        to.smoothed[t] = scale * pairs.smoothed(row, 1 / length, scale, delta.data());
        to.hinge[t] = scale * pairs.loss().hinge;
        to.betas[t] = scale * pairs.betas();
        std::copy_n(delta.data(), outputs, row);
    }
}

// Sums over the rows of a data set, with weights that sum to one, of what `smoothed_pairs` leaves; and the gradient.
template <class Real>
class PairProblem {
public:
    template <class Given>
    PairProblem(const Rows<Given>& x, const LabelRows& y, const double* weights, Index outputs)
        : outputs_(outputs), width_(Weights<Real>::padded(outputs)), rows_(x.count) {
        const std::int64_t stored = x.start ? x.start[x.count] : x.count * x.width;
        values_.assign(x.value, x.value + stored);
        if (x.start) start_.assign(x.start, x.start + x.count + 1), index_.assign(x.index, x.index + stored);
        const Index kept = keep_columns(x.width);
        x_ = {x.start ? start_.data() : nullptr, x.start ? index_.data() : nullptr, values_.data(), x.count, kept,
              static_cast<Real>(x.constant)};
        double total = 0;
        label_start_.push_back(0);
        for (std::int64_t t = 0; t < rows_; ++t) {
            const std::span<const Index> relevant = y[t];
            label_.insert(label_.end(), relevant.begin(), relevant.end());
            label_start_.push_back(static_cast<std::int64_t>(label_.size()));
            const bool has_pair = !relevant.empty() && std::cmp_less(relevant.size(), outputs);
            share_.push_back(has_pair ? (weights ? weights[t] : 1.0) : 0.0);
            total += share_.back();
        }
        for (double& share : share_) share /= total > 0 ? total : 1.0;
        y_ = {label_start_.data(), label_.data(), false};
        scores_ = Buffer<Real>(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(width_));
        for (auto* sums : {&smoothed_, &hinge_, &betas_}) sums->resize(static_cast<std::size_t>(rows_));
    }
    PairProblem(const PairProblem&) = delete;

    // Features that occur, the constant one included; weights and gradients are features x width().
    Index features() const { return x_.width + reserved(); }
    // Which features of the data those are, after the constant one.
    const std::vector<Index>& columns() const { return columns_; }
    Index width() const { return width_; }

    struct Sums {
        double smoothed = 0, hinge = 0, betas = 0;
    };

    Sums evaluate(const Real* weights, double length, int threads, Real* gradient) {
        const Real* origin = weights + static_cast<std::ptrdiff_t>(reserved()) * width_;
        in_parts(rows_, threads, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t t = first; t < last; ++t)
                kernels<Real>().score(origin, width_, width_, x_[t], scores_.data() + t * width_);
            smoothed_pairs(scores_.data(), first, last, outputs_, width_, y_, length,
                           {smoothed_.data(), hinge_.data(), betas_.data()});
            for (std::int64_t t = first; t < last; ++t)
                for (Index y = 0; y < width_; ++y)
                    scores_[static_cast<std::size_t>(t * width_ + y)] *=
                        y < outputs_ ? static_cast<Real>(share_[static_cast<std::size_t>(t)]) : Real(0);
        });
        Sums sums;
        for (std::size_t t = 0; t < share_.size(); ++t) {
            sums.smoothed += share_[t] * smoothed_[t];
            sums.hinge += share_[t] * hinge_[t];
            sums.betas += share_[t] * betas_[t];
        }
        collect(threads, gradient);
        return sums;
    }

private:
    // Features of sparse rows that never occur are left out: their weights are zero.
    Index keep_columns(Index width) {
        std::vector<Index> place(static_cast<std::size_t>(width), is_sparse() ? 0 : 1);
        for (Index j : index_) place[static_cast<std::size_t>(j)] = 1;
        for (Index j = 0; j < width; ++j)
            if (Index& at = place[static_cast<std::size_t>(j)]; at > 0) {
                at = static_cast<Index>(columns_.size());
                columns_.push_back(j);
            }
        for (Index& j : index_) j = place[static_cast<std::size_t>(j)];
        return static_cast<Index>(columns_.size());
    }
    bool is_sparse() const { return !start_.empty(); }

    Index reserved() const { return x_.constant != Real(0) ? 1 : 0; }

    // gradient = X' slopes; a thread has some of the columns, in which it adds row by row.
    void collect(int threads, Real* gradient) {
        std::fill_n(gradient, static_cast<std::ptrdiff_t>(features()) * width_, Real(0));
        constexpr Index together = Weights<Real>::line;
        const Index blocks = std::max<Index>(1, width_ / together);
        Real* origin = gradient + static_cast<std::ptrdiff_t>(reserved()) * width_;
        const auto work = [&](std::int64_t first, std::int64_t last) {
            const Index from = static_cast<Index>(first) * together;
            const Index width = last == blocks ? width_ - from : static_cast<Index>(last - first) * together;
            for (std::int64_t t = 0; t < rows_; ++t)
                if (share_[static_cast<std::size_t>(t)] > 0)
                    kernels<Real>().axpy(origin + from, width_, width, x_[t], scores_.data() + t * width_ + from);
        };
        in_parts(blocks, std::min<int>(threads, blocks), work, 1);
    }

    Index outputs_, width_;
    std::int64_t rows_;
    std::vector<Real> values_;
    std::vector<std::int64_t> start_, label_start_;
    std::vector<Index> index_, label_, columns_;
    std::vector<double> share_, smoothed_, hinge_, betas_;
    Rows<Real> x_{};
    LabelRows y_{};
    Buffer<Real> scores_;
};

}  // namespace hinge
