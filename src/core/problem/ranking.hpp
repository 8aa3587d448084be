// Ranked lists as an oracle: the Kendall tau hinge and the NDCG hinge (MATH.md E).
//
// Kendall: the mean over comparable pairs of [1 - (s_i - s_j)]+. A set of pairs stands for an answer, with its share of
// all as delta: plain, the pairs that are in wrong order or tied; augmented, those short of 1.
// NDCG: positions v stand for an answer, Psi = sum_i v_i x_i. Plain: the order of the scores, ties in the worst order.
// A list without a comparable pair, and for NDCG one without a relevant document, asks for nothing.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "documents.hpp"
#include "kendall.hpp"
#include "ndcg.hpp"

namespace hinge {

struct ListLoss {
    bool ndcg = false;
    std::size_t k = std::numeric_limits<std::size_t>::max();
    bool exponential = false;
    bool mean_ties = false;  // documents that are equally relevant share their positions
};

template <class Number>
class RankedLists {
public:
    using Real = Number;
    using Input = Documents<Real>;
    using Target = const double*;  // the relevance of every row of the call

    ListLoss& loss() { return loss_; }

    template <class Geometry>
    bool see(const Geometry& geometry, const Input& x, Target relevance) {
        relevance_.clear();
        for (std::int64_t row : x.which) relevance_.push_back(relevance[row]);
        if (relevance_.size() < 2 || (alike() && !orders_equals())) return false;
        documents_.score(geometry, x);
        if (loss_.ndcg) return ndcg_.read(relevance_, loss_.k, loss_.exponential);
        comparable_ = kendall_.read(documents_.scores(), relevance_);
        return true;
    }

    Rival rival(Constraint which) { return loss_.ndcg ? order(which) : pairs(which); }
    void direct(Constraint which, Direction<Real>& to) { documents_.direct(which, to); }

private:
    bool alike() const {
        return std::all_of(relevance_.begin(), relevance_.end(), [&](double y) { return y == relevance_.front(); });
    }
    // With one order as the truth, NDCG asks for it among documents that are equally relevant too.
    bool orders_equals() const { return loss_.ndcg && !loss_.mean_ties; }

    Rival pairs(Constraint which) {
        const auto c = documents_.coefficients(which);
        std::fill(c.begin(), c.end(), 0.0);
        const double count = kendall_.short_of(which == Constraint::plain ? 0.0 : 1.0, c);
        for (double& each : c) each /= comparable_;
        return documents_.rival(which, count / comparable_, count > 0);
    }

    Rival order(Constraint which) {
        const auto c = documents_.coefficients(which);
        positions_.resize(c.size());
        if (which == Constraint::plain)
            ndcg_.answer(documents_.scores(), relevance_, positions_);
        else
            ndcg_.augmented(documents_.scores(), positions_);
        if (loss_.mean_ties)
            ndcg_.mean_truth(relevance_, c);
        else
            ndcg_.truth(c);
        bool differs = false;
        for (std::size_t i = 0; i < c.size(); ++i) {
            c[i] -= positions_[i];
            differs = differs || c[i] != 0;
        }
        const double delta = ndcg_.loss(positions_);
        return documents_.rival(which, delta, which == Constraint::plain ? delta > 0 : differs);
    }

    ListLoss loss_;
    ScoredDocuments<Real> documents_;
    std::vector<double> relevance_, positions_;
    KendallPairs kendall_;
    double comparable_ = 0;
    Ndcg ndcg_;
};

}  // namespace hinge
