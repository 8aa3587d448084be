// Lists and batches: calls in which a round is a list of rows, behind one face for every rule.
#pragma once

#include <cstdint>
#include <utility>

#include "oracle_model.hpp"
#include "problem/bipartite.hpp"
#include "problem/ranking.hpp"
#include "solve/direction_blocks.hpp"

namespace hinge {

// The rows of list t are order[start[t]] .. order[start[t + 1] - 1].
struct ListRows {
    const std::int64_t* order;
    const std::int64_t* start;
    std::int64_t count;

    std::span<const std::int64_t> operator[](std::int64_t t) const {
        return {order + start[t], static_cast<std::size_t>(start[t + 1] - start[t])};
    }
};

// Where a call leaves what it saw; a null pointer is not filled. Scores are by row, as they are before their list is
// learned.
struct ListTrace {
    double* loss = nullptr;
    double* error = nullptr;
    double* dual = nullptr;
    double* scores = nullptr;
};

template <Oracle O>
void learn_lists(OracleModel<O>& model, const Rows<typename O::Real>& x, const ListRows& lists,
                 const typename O::Target& y, const double* weights, const Settings& set, const ListTrace& trace) {
    for (std::int64_t t = 0; t < lists.count; ++t) {
        const auto which = lists[t];
        if (trace.scores)
            for (std::int64_t row : which) trace.scores[row] = model.score(x[row]);
        const Judgement seen = model.learn({x, which}, y, weights ? weights[t] : 1.0, set);
        if (trace.loss) trace.loss[t] = seen.loss;
        if (trace.error) trace.error[t] = seen.error;
        if (trace.dual) trace.dual[t] = model.ledger().dual;
    }
}

// From zero weights: the weights that minimise ||w||^2 / 2 + sum_t C_t hinge_t, and how many lists they are wrong on.
template <Oracle O>
std::pair<solve::Solved, std::int64_t> solve_lists(OracleModel<O>& model, const Rows<typename O::Real>& x,
                                                   const ListRows& lists, const typename O::Target& y,
                                                   const double* caps, double tolerance, int most) {
    using Real = typename O::Real;
    solve::DirectionBlocks<O> blocks(model.oracle(), model.written(), caps, lists.count);
    const auto example = [&](std::int64_t t, auto&& use) { use(Documents<Real>{x, lists[t]}, y); };
    const solve::Solved done = blocks.solve(example, tolerance, most);
    std::int64_t mistakes = 0;
    const solve::Scorer<Real> scorer{model.written()};
    for (std::int64_t t = 0; t < lists.count; ++t) {
        if (!(caps[t] > 0) || !model.oracle().see(scorer, Documents<Real>{x, lists[t]}, y)) continue;
        const Rival answer = model.oracle().rival(Constraint::plain);
        mistakes += answer.differs && answer.margin <= 0;
    }
    return {done, mistakes};
}

}  // namespace hinge
