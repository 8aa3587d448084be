// A weight matrix that is scored and moved: S = W x, W += x alpha'.
#pragma once

#include <algorithm>

#include "kernels.hpp"
#include "step.hpp"
#include "weights.hpp"

namespace hinge {

template <class Real>
class Linear {
public:
    explicit Linear(Index reserved) : weights_(reserved) {}

    const Weights<Real>& weights() const { return weights_; }
    Weights<Real>& weights() { return weights_; }

    void grow(Index features, Index outputs) {
        weights_.grow(features, outputs);
        if (dense_.size() < static_cast<std::size_t>(weights_.stride()))
            dense_ = Buffer<Real>(static_cast<std::size_t>(weights_.stride()));
    }

    // `out` holds width() values.
    void score(const Row<Real>& x, Real* out) const {
        if (weights_.outputs() == 1)
            *out = kernels<Real>().dot(weights_.origin(), x);
        else
            kernels<Real>().score(weights_.origin(), weights_.stride(), weights_.width(), x, out);
    }

    void add(const Row<Real>& x, const Step& step) {
        constexpr std::size_t few = 32;  // beyond this share of a row, whole vectors are cheaper than single values
        if (step.size() * few > static_cast<std::size_t>(weights_.width()))
            add_dense(x, step);
        else
            add_sparse(x, step);
    }

private:
    void add_sparse(const Row<Real>& x, const Step& step) {
        const auto outputs = step.outputs();
        const auto alphas = step.alphas();
        if (outputs.size() == 2) return add_pair(x, outputs[0], Real(alphas[0]), outputs[1], Real(alphas[1]));
        x.each([&](Index j, Real value) {
            Real* row = weights_.row(j);
            for (std::size_t i = 0; i < outputs.size(); ++i) row[outputs[i]] += value * static_cast<Real>(alphas[i]);
        });
    }

    void add_pair(const Row<Real>& x, Index first, Real alpha, Index second, Real beta) {
        x.each([&](Index j, Real value) {
            Real* row = weights_.row(j);
            row[first] += value * alpha;
            row[second] += value * beta;
        });
    }

    void add_dense(const Row<Real>& x, const Step& step) {
        const Index width = weights_.width();
        std::fill_n(dense_.data(), width, Real(0));
        for (std::size_t i = 0; i < step.size(); ++i)
            dense_[static_cast<std::size_t>(step.outputs()[i])] = static_cast<Real>(step.alphas()[i]);
        kernels<Real>().axpy(weights_.origin(), weights_.stride(), width, x, dense_.data());
    }

    Weights<Real> weights_;
    Buffer<Real> dense_;
};

// The sum of the squares of all weights, in float64.
template <class Real>
double sum_of_squares(const Weights<Real>& weights) {
    double sum = 0;
    for (Index j = -weights.reserved(); j < weights.features(); ++j) {
        const Real* row = weights.row(j);
        for (Index y = 0; y < weights.outputs(); ++y) sum += static_cast<double>(row[y]) * static_cast<double>(row[y]);
    }
    return sum;
}

}  // namespace hinge
