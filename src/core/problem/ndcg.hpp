// NDCG of a list (MATH.md E): gains, their best discounted sum, and the order that the relevance itself asks for.
//
// Positions count upward, r is the best. Of equal relevances, and of equal scores, the lower index stands above.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "discounted_assignment.hpp"

namespace hinge {

class Ndcg {
public:
    // Returns whether there is anything to gain.
    bool read(std::span<const double> relevance, std::size_t k, bool exponential) {
        const std::size_t r = relevance.size();
        k_ = std::min(k, r);
        shares_.resize(r);
        for (std::size_t i = 0; i < r; ++i) shares_[i] = exponential ? std::exp2(relevance[i]) - 1 : relevance[i];
        sort(relevance, order_);
        double best = 0;
        for (std::size_t q = 0; q < k_; ++q) best += shares_[order_[r - 1 - q]] * discount_at(q + 1);
        for (double& share : shares_) share /= best;
        return best > 0;
    }

    // The positions that the relevance asks for.
    void truth(std::span<double> positions) const { place(order_, positions); }

    // The mean of all the positions that it allows: the same for documents that are equally relevant. The hinge against
    // it is the mean of the hinges against each order allowed, so it is convex and bounds the loss as they do.
    void mean_truth(std::span<const double> relevance, std::span<double> positions) const {
        for (std::size_t j = 0; j < order_.size();) {
            std::size_t end = j;
            while (end < order_.size() && relevance[order_[end]] == relevance[order_[j]]) ++end;
            for (std::size_t i = j; i < end; ++i) positions[order_[i]] = static_cast<double>(j + 1 + end) / 2;
            j = end;
        }
    }

    // The positions that the scores ask for; at ties, where `against` is given, the lower values of it stand above.
    void answer(std::span<const double> scores, std::span<const double> against, std::span<double> positions) {
        sort(scores, by_score_, against);
        place(by_score_, positions);
    }

    void augmented(std::span<const double> scores, std::span<double> positions) {
        assignment_.best(scores, shares_, k_, positions);
    }

    // Exactly zero where every place holds what it should gain.
    double loss(std::span<const double> positions) {
        const std::size_t r = positions.size();
        at_place_.resize(k_);
        for (std::size_t i = 0; i < r; ++i) {
            const std::size_t place = r - static_cast<std::size_t>(positions[i]);
            if (place < k_) at_place_[place] = shares_[i];
        }
        double lost = 0;
        for (std::size_t q = 0; q < k_; ++q) lost += (shares_[order_[r - 1 - q]] - at_place_[q]) * discount_at(q + 1);
        return std::max(0.0, lost);
    }

private:
    // From the lowest to the highest position.
    static void sort(std::span<const double> values, std::vector<std::size_t>& order,
                     std::span<const double> against = {}) {
        order.resize(values.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            if (values[a] != values[b]) return values[a] < values[b];
            if (!against.empty() && against[a] != against[b]) return against[a] > against[b];
            return a > b;
        });
    }

    static void place(const std::vector<std::size_t>& order, std::span<double> positions) {
        for (std::size_t j = 0; j < order.size(); ++j) positions[order[j]] = static_cast<double>(j + 1);
    }

    std::size_t k_ = 0;
    std::vector<double> shares_, at_place_;
    std::vector<std::size_t> order_, by_score_;
    DiscountedAssignment assignment_;
};

}  // namespace hinge
