// A batch of relevant and irrelevant rows with a multivariate measure, as an oracle (MATH.md E).
//
// Answers are sign vectors v, Psi = sum_i v_i x_i, delta = 1 - measure. A truth that breaks the measure's own constraint
// is replaced in Psi by the nearest allowed vector, chosen by index. A batch without a relevant row, and one of a single
// row, ask for nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "documents.hpp"
#include "multivariate.hpp"

namespace hinge {

// What a measure answers to scores: all above zero; at most the k highest of them; all of them and at least the k
// highest. Of equal scores the lower index comes first; but where `against` holds the truth, every tie, also the one
// with zero, goes against it.
class MeasureAnswer {
public:
    void mark(std::span<const double> scores, const MeasureAt& it, std::span<const std::uint8_t> against,
              std::span<std::uint8_t> chosen) {
        const auto against_it = [&](std::size_t i) { return !against.empty() && !against[i]; };
        const bool at_most = it.measure == Measure::recall_at_k, at_least = it.measure == Measure::precision_at_k;
        for (std::size_t i = 0; i < scores.size(); ++i)
            chosen[i] = scores[i] > 0 || (scores[i] == 0 && against_it(i));
        if (!at_most && !at_least) return;
        order_.resize(scores.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        const std::size_t k = std::min(it.k, scores.size());
        const auto middle = order_.begin() + static_cast<std::ptrdiff_t>(k);
        std::nth_element(order_.begin(), middle, order_.end(), [&](std::size_t a, std::size_t b) {
            if (scores[a] != scores[b]) return scores[a] > scores[b];
            if (against_it(a) != against_it(b)) return against_it(a);
            return a < b;
        });
        if (at_most)
            std::for_each(middle, order_.end(), [&](std::size_t i) { chosen[i] = 0; });
        else
            std::for_each(order_.begin(), middle, [&](std::size_t i) { chosen[i] = 1; });
    }

private:
    std::vector<std::size_t> order_;
};

template <class Number>
class BipartiteBatch {
public:
    using Real = Number;
    using Input = Documents<Real>;
    using Target = const std::uint8_t*;  // of every row of the call, whether it is relevant

    MeasureAt& measure() { return measure_; }
    const MeasureAt& measure() const { return measure_; }

    template <class Geometry>
    bool see(const Geometry& geometry, const Input& x, Target positive) {
        positive_.clear();
        for (std::int64_t row : x.which) positive_.push_back(positive[row]);
        sizes_.positives = static_cast<std::size_t>(std::count(positive_.begin(), positive_.end(), std::uint8_t{1}));
        sizes_.negatives = positive_.size() - sizes_.positives;
        if (positive_.size() < 2 || sizes_.positives == 0) return false;
        documents_.score(geometry, x);
        allow_truth();
        return true;
    }

    Rival rival(Constraint which) {
        chosen_.resize(positive_.size());
        double delta = 0;
        if (which == Constraint::plain) {
            answer_.mark(documents_.scores(), measure_, positive_, chosen_);
            std::size_t a = 0, b = 0;
            for (std::size_t i = 0; i < chosen_.size(); ++i)
                if (chosen_[i]) ++(positive_[i] ? a : b);
            delta = measure_loss(measure_, sizes_, a, b);
        } else {
            delta = argmax_.best(documents_.scores(), positive_, measure_, chosen_);
        }
        const auto c = documents_.coefficients(which);
        // The allowed vector itself is another answer where the truth is not allowed: its delta is not 0.
        bool differs = delta > 0;
        for (std::size_t i = 0; i < c.size(); ++i) {
            c[i] = 2.0 * (allowed_[i] - chosen_[i]);
            differs = differs || c[i] != 0;
        }
        return documents_.rival(which, delta, which == Constraint::plain ? delta > 0 : differs);
    }

    void direct(Constraint which, Direction<Real>& to) { documents_.direct(which, to); }

private:
    // Of the lowest indices, k positives stay, or k - P negatives come in.
    void allow_truth() {
        allowed_ = positive_;
        const std::size_t k = std::min(measure_.k, positive_.size());
        std::size_t ones = sizes_.positives;
        if (measure_.measure == Measure::recall_at_k)
            for (std::size_t i = allowed_.size(); ones > k; --i)
                if (allowed_[i - 1]) allowed_[i - 1] = 0, --ones;
        if (measure_.measure == Measure::precision_at_k)
            for (std::size_t i = 0; ones < k; ++i)
                if (!allowed_[i]) allowed_[i] = 1, ++ones;
    }

    MeasureAt measure_;
    ScoredDocuments<Real> documents_;
    std::vector<std::uint8_t> positive_, allowed_, chosen_;
    Sizes sizes_{};
    MultivariateArgmax argmax_;
    MeasureAnswer answer_;
};

}  // namespace hinge
