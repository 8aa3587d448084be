// Lists and batches: calls in which a round is a list of rows, behind one face for every rule.
#pragma once

#include <cstdint>

#include "oracle_model.hpp"
#include "problem/bipartite.hpp"
#include "problem/ranking.hpp"

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

}  // namespace hinge
