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
    // As `set`, where the size is positive: without a branch, as which ones are is hard to predict.
    void set_positive(std::span<const Index> outputs, std::span<const double> signs, std::span<const double> sizes) {
        std::size_t count = size();
        outputs_.resize(count + outputs.size());
        alphas_.resize(outputs_.size());
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            outputs_[count] = outputs[i];
            alphas_[count] = signs[i] * sizes[i];
            count += sizes[i] > 0;
        }
        outputs_.resize(count);
        alphas_.resize(count);
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
