// Classes with costs and a block of weights each (MATH.md E, the multivector map).
//
// A mistake is a wrong class that scores as much as the right one; among several the lowest of the best scored counts.
// Without costs every wrong answer costs 1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "../buffer.hpp"
#include "../judgement.hpp"
#include "../kernels.hpp"
#include "../oracle.hpp"
#include "../region.hpp"
#include "../step.hpp"

namespace hinge {

// The right class, negative where there is none; what answering each class costs, or null.
struct ClassTarget {
    Index label;
    const double* cost;
};

template <class Number, Constraint which>
class Classes {
public:
    using Real = Number;
    using Input = Row<Real>;
    using Target = ClassTarget;
    using Region = Pair;

    static Target target(const auto& rows, std::int64_t t) {
        const auto relevant = rows[t];
        return {relevant.empty() ? Index(-1) : relevant[0], rows.cost ? rows.cost + t * rows.cost_width : nullptr};
    }

    // By truth and then by answer.
    void set_cost(std::vector<double> by_truth, Index labels) {
        by_truth_ = std::move(by_truth);
        labels_ = labels;
    }

    void grow(Index width) {
        if (scores_.size() >= static_cast<std::size_t>(width)) return;
        scores_ = Buffer<Real>(static_cast<std::size_t>(width));
        raised_ = Buffer<Real>(static_cast<std::size_t>(width));
    }

    template <class Geometry>
    Judgement judge(const Geometry& geometry, const Input& x, const Target& y, double) {
        const Index outputs = geometry.read().outputs();
        outputs_ = outputs;
        if (y.label < 0 || outputs < 2) return {};
        Real* scores = scores_.data();
        geometry.score(x, scores);
        truth_ = y.label;
        own_ = scores[truth_];
        scores[truth_] = -std::numeric_limits<Real>::infinity();
        const Index rival = kernels<Real>().argmax(scores, outputs);
        const double* cost = y.cost;
        if (!cost && labels_ == outputs) cost = by_truth_.data() + std::ptrdiff_t{truth_} * labels_;
        const Pair plain = against(rival, cost);
        const Pair hardest = cost ? against(costliest(cost), cost) : plain;
        const bool wrong = plain.margin <= 0;
        region_ = which == Constraint::plain ? plain : hardest;
        scores[truth_] = own_;
        return {std::max(0.0, hardest.gamma - hardest.margin), wrong ? plain.gamma : 0.0, true, wrong};
    }

    const Region& region() const { return region_; }
    const Input& direction(const Input& x) const { return x; }
    double promise(const Step& step) const { return region_.gamma * step.total(); }
    // A mistake has at least its own cost as loss; other rounds ask for nothing.
    double asked(const Judgement& seen) const {
        return seen.error > 0 ? seen.error : std::numeric_limits<double>::infinity();
    }
    const Real* scores() const { return scores_.data(); }
    void copy_scores(Real* out) const { std::copy_n(scores_.data(), outputs_, out); }

private:
    Pair against(Index rival, const double* cost) const {
        const double margin = static_cast<double>(own_) - static_cast<double>(scores_[static_cast<std::size_t>(rival)]);
        return {truth_, rival, margin, cost ? cost[rival] : 1.0};
    }

    // The wrong class with the largest cost plus score.
    Index costliest(const double* cost) {
        Real* raised = raised_.data();
        for (Index y = 0; y < outputs_; ++y)
            raised[y] = static_cast<Real>(static_cast<double>(scores_[static_cast<std::size_t>(y)]) + cost[y]);
        return kernels<Real>().argmax(raised, outputs_);
    }

    Buffer<Real> scores_, raised_;
    std::vector<double> by_truth_;
    Index labels_ = 0;
    Index outputs_ = 0;
    Index truth_ = 0;
    Real own_ = 0;
    Region region_{};
};

}  // namespace hinge
