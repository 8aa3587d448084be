// Label sets: relevant labels should score above the others, by gamma (MATH.md A).
//
// The margin of a round is the lowest score on Y minus the highest off it; at ties the lowest label index stands for
// both. A margin of exactly zero is a mistake. An empty or a full Y asks for nothing.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "../buffer.hpp"
#include "../judgement.hpp"
#include "../kernels.hpp"
#include "../region.hpp"
#include "../step.hpp"

namespace hinge {

template <class Number>
class LabelSets {
public:
    using Real = Number;
    using Input = Row<Real>;
    using Target = std::span<const Index>;  // relevant labels, increasing
    using Region = BalancedSimplex<Real>;

    static Target target(const auto& rows, std::int64_t t) { return rows[t]; }

    void grow(Index width) {
        if (scores_.size() < static_cast<std::size_t>(width)) scores_ = Buffer<Real>(static_cast<std::size_t>(width));
    }

    template <class Geometry>
    Judgement judge(const Geometry& geometry, const Input& x, Target relevant, double gamma) {
        Real* scores = scores_.data();
        const Index outputs = geometry.read().outputs();
        if (relevant.empty() || std::cmp_greater_equal(relevant.size(), outputs)) return {};
        geometry.score(x, scores);
        up_scores_.clear();
        std::size_t lowest = 0;
        for (std::size_t i = 0; i < relevant.size(); ++i) {
            up_scores_.push_back(scores[relevant[i]]);
            if (up_scores_[i] < up_scores_[lowest]) lowest = i;
        }
        for (Index y : relevant) scores[y] = -std::numeric_limits<Real>::infinity();
        const Index rival = kernels<Real>().argmax(scores, outputs);
        const double margin = static_cast<double>(up_scores_[lowest]) - static_cast<double>(scores[rival]);
        region_ = {{relevant[lowest], rival, margin, gamma}, relevant, up_scores_, scores, outputs};
        return {std::max(0.0, gamma - margin), margin > 0 ? 0.0 : 1.0, true};
    }

    const Region& region() const { return region_; }
    // What each coefficient multiplies on its way into theta.
    const Input& direction(const Input& x) const { return x; }
    // The linear part of the dual that a step adds.
    double promise(const Step& step) const { return region_.pair.gamma * step.total(); }

    // The scores that `judge` found. The region needs its own, which lack the relevant ones.
    void copy_scores(Real* out) const {
        std::copy_n(scores_.data(), region_.outputs, out);
        for (std::size_t i = 0; i < up_scores_.size(); ++i) out[region_.ups[i]] = up_scores_[i];
    }

    // The same, once the region has been used: it is given up.
    const Real* scores() {
        for (std::size_t i = 0; i < up_scores_.size(); ++i) scores_[static_cast<std::size_t>(region_.ups[i])] = up_scores_[i];
        return scores_.data();
    }

private:
    Buffer<Real> scores_;
    std::vector<Real> up_scores_;
    Region region_{};
};

}  // namespace hinge
