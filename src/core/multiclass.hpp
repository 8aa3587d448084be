// The multiclass rules behind the face of the label rankers: one label a row, and costs.
#pragma once

#include "geometry/shrinking.hpp"
#include "label_ranking.hpp"
#include "problem/classes.hpp"

namespace hinge {

// As make_oracle_model; "svm" and "erm" are solved elsewhere and only answer here. Null where there is no such rule.
template <class Real>
std::unique_ptr<LabelRankingModel<Real>> make_multiclass(std::string_view rule, bool intercept, bool average) {
    using Plain = Classes<Real, Constraint::plain>;
    using Augmented = Classes<Real, Constraint::augmented>;
    using Euclidean = SquaredNorm<Real>;
    if (rule == "passive-aggressive" || rule == "svm" || rule == "erm")
        return std::make_unique<LabelRanking<Augmented, Single, Euclidean>>(intercept, average);
    if (rule == "perceptron") return std::make_unique<LabelRanking<Plain, Perceptron, Euclidean>>(intercept, average);
    if (rule == "sgd") return std::make_unique<LabelRanking<Augmented, Descent, Euclidean>>(intercept, average);
    if (rule == "regularised sgd")
        return std::make_unique<LabelRanking<Augmented, Descent, Shrinking<Real>>>(intercept, average);
    return nullptr;
}

}  // namespace hinge
