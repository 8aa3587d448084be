// Which coefficients of a round may move, and within which set. A problem hands one of these to a rule; solve/ holds
// one function for each (region, line) that exists.
#pragma once

#include <span>

#include "rows.hpp"

namespace hinge {

// One constraint: `up` rises by tau in [0, C], `down` falls by it. Its margin is what they differ by.
struct Pair {
    Index up = 0;
    Index down = 0;
    double margin = 0;  // score of up minus score of down
    double gamma = 0;   // the margin asked for
};

// All constraints of a round: the coefficients of `ups` are >= 0 and sum to at most C, the others are <= 0, all of
// them sum to zero. `pair` is the constraint that is violated most.
template <class Real>
struct BalancedSimplex {
    Pair pair;
    std::span<const Index> ups;       // increasing
    std::span<const Real> up_scores;  // beside ups
    const Real* down_scores;          // by output; -infinity on ups
    Index outputs;
};

}  // namespace hinge
