// The argmaxes behind lists and bipartite batches, as plain functions for tests/test_list_argmaxes.py.
#include "core/problem/kendall.hpp"
#include "core/problem/multivariate.hpp"
#include "core/problem/ndcg.hpp"

extern "C" {

// net: how often each document is short of the margin; returns the pairs short of it, `comparable` all that count.
double kendall(const double* scores, const double* relevance, std::size_t r, double margin, double* net,
               double* comparable) {
    hinge::KendallPairs pairs;
    *comparable = pairs.read({scores, r}, {relevance, r});
    return pairs.short_of(margin, {net, r});
}

void assignment(const double* scores, const double* shares, std::size_t r, std::size_t k, double* positions) {
    hinge::DiscountedAssignment assignment;
    assignment.best({scores, r}, {shares, r}, k, {positions, r});
}

// Lists behind one another, through one solver.
void assignments(const double* scores, const double* shares, std::size_t lists, std::size_t r, std::size_t k,
                 double* positions) {
    hinge::DiscountedAssignment assignment;
    for (std::size_t t = 0; t < lists; ++t)
        assignment.best({scores + t * r, r}, {shares + t * r, r}, k, {positions + t * r, r});
}

// answer 0: the truth's positions, 1: the scores', 2: the loss-augmented ones. Returns their loss, -1: nothing to gain.
double ndcg(const double* scores, const double* relevance, std::size_t r, std::size_t k, int exponential, int answer,
            double* positions) {
    hinge::Ndcg ndcg;
    if (!ndcg.read({relevance, r}, k, exponential != 0)) return -1;
    if (answer == 0)
        ndcg.truth({positions, r});
    else if (answer == 1)
        ndcg.answer({scores, r}, {}, {positions, r});
    else
        ndcg.augmented({scores, r}, {positions, r});
    return ndcg.loss({positions, r});
}

double multivariate(const double* scores, const std::uint8_t* positive, std::size_t r, int measure, double beta,
                    std::size_t k, std::uint8_t* chosen) {
    hinge::MultivariateArgmax argmax;
    return argmax.best({scores, r}, {positive, r}, {static_cast<hinge::Measure>(measure), beta, k}, {chosen, r});
}

}  // extern "C"
