// What a round moves: a coefficient (alpha of the papers) for each output that takes part.
#pragma once

#include <span>
#include <vector>

#include "rows.hpp"

namespace hinge {

class Step {
public:
    void clear() {
        outputs_.clear();
        alphas_.clear();
    }
    void set(Index output, double alpha) {
        outputs_.push_back(output);
        alphas_.push_back(alpha);
    }
    std::size_t size() const { return outputs_.size(); }
    bool empty() const { return outputs_.empty(); }
    // The sum of the positive coefficients.
    double total() const {
        double sum = 0;
        for (double alpha : alphas_) sum += alpha > 0 ? alpha : 0;
        return sum;
    }
    std::span<const Index> outputs() const { return outputs_; }
    std::span<const double> alphas() const { return alphas_; }

private:
    std::vector<Index> outputs_;
    std::vector<double> alphas_;
};

}  // namespace hinge
