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
template <class Work>
void in_parts(std::int64_t count, int threads, Work&& work) {
    constexpr std::int64_t least = 64;  // rows that are worth a thread
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

// The hinges of all pairs with a parabola of length `length` at their foot. By row the mean over its pairs, the mean of
// the betas (the slopes), and in the place of the scores zeta / N, the slope along each score.
template <class Real>
void smoothed_pairs(Real* scores, std::int64_t rows, Index outputs, const LabelRows& y, double length, int threads,
                    double* smoothed, double* betas) {
    in_parts(rows, threads, [&](std::int64_t first, std::int64_t last) {
        solve::Pairs<Real> pairs;
        std::vector<Real> delta(static_cast<std::size_t>(Weights<Real>::padded(outputs)));
        for (std::int64_t t = first; t < last; ++t) {
            Real* row = scores + t * outputs;
            const std::span<const Index> relevant = y[t];
            smoothed[t] = betas[t] = 0;
            if (relevant.empty() || std::cmp_greater_equal(relevant.size(), outputs)) {
                std::fill_n(row, outputs, Real(0));
                continue;
            }
            pairs.load(row, outputs, Weights<Real>::padded(outputs), relevant);
            const double scale = 1 / pairs.pairs();
            pairs.smooth(1 / length, scale, delta.data());
            smoothed[t] = scale * pairs.smoothed(row, 1 / length, scale, delta.data());
            betas[t] = scale * pairs.betas();
            std::copy_n(delta.data(), outputs, row);
        }
    });
}

}  // namespace hinge
