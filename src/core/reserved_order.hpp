// The reserved weights of a single output put in order, in the weights and in their mean.
#pragma once

#include <algorithm>
#include <vector>

#include "average.hpp"
#include "solve/pav.hpp"

namespace hinge {

template <class Real>
class ReservedOrder {
public:
    // Whether anything had to change; changed(before, after) is told of every value that did.
    template <class Changed>
    bool restore(Weights<Real>& weights, LazyAverage<Real>& average, solve::IsotonicProjection& project,
                 Changed&& changed) {
        const std::span<Real> side = weights.side();
        if (std::is_sorted(side.begin(), side.end())) return false;
        before_.assign(side.begin(), side.end());
        project(side);
        for (std::size_t i = 0; i < side.size(); ++i) {
            const auto before = static_cast<double>(before_[i]);
            const auto after = static_cast<double>(side[i]);
            if (after == before) continue;
            average.add(static_cast<Index>(i) - weights.reserved(), 0, after - before);
            changed(before, after);
        }
        return true;
    }

private:
    std::vector<Real> before_;
};

}  // namespace hinge
