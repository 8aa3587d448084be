// Pairs of labels: each relevant label should score above each irrelevant one, by 1 (MATH.md D).
//
// The loss of a round is the mean hinge over its pairs, the error the share of the pairs that are in wrong order or tied.
// An empty or a full set has no pair and asks for nothing.
#pragma once

#include <span>
#include <utility>

#include "../buffer.hpp"
#include "../judgement.hpp"
#include "../solve/pairs.hpp"
#include "../step.hpp"

namespace hinge {

// The pairs of a round; coefficients are free.
template <class Real>
struct PairRegion {
    std::span<const Index> relevant;
    Index outputs;
    const Real* scores;  // of the current iterate
    solve::Pairs<Real>* pairs;
};

template <class Number>
class LabelPairs {
public:
    using Real = Number;
    using Input = Row<Real>;
    using Target = std::span<const Index>;  // relevant labels, increasing
    using Region = PairRegion<Real>;

    static Target target(const auto& rows, std::int64_t t) { return rows[t]; }

    void grow(Index width) {
        if (scores_.size() < static_cast<std::size_t>(width)) scores_ = Buffer<Real>(static_cast<std::size_t>(width));
    }

    template <class Geometry>
    Judgement judge(Geometry& geometry, const Input& x, Target relevant, double) {
        const Index outputs = geometry.read().outputs();
        if (relevant.empty() || std::cmp_greater_equal(relevant.size(), outputs)) return {};
        geometry.look(x, scores_.data());
        pairs_.load(scores_.data(), outputs, geometry.read().width(), relevant);
        region_ = {relevant, outputs, scores_.data(), nullptr};
        const solve::PairLoss seen = pairs_.loss();
        return {seen.hinge / pairs_.pairs(), seen.wrong / pairs_.pairs(), true};
    }

    const Region& region() {
        region_.pairs = &pairs_;
        return region_;
    }
    const Input& direction(const Input& x) const { return x; }
    double promise(const Step&) const { return 0; }

    void copy_scores(Real* out) const { std::copy_n(scores_.data(), region_.outputs, out); }
    const Real* scores() const { return scores_.data(); }

private:
    Buffer<Real> scores_;
    solve::Pairs<Real> pairs_;
    Region region_{};
};

}  // namespace hinge
