// The online rules over an oracle, behind one face: one output, whose weights are moved along one direction a round.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "geometry/shrinking.hpp"
#include "geometry/squared.hpp"
#include "learner.hpp"
#include "oracle.hpp"
#include "rule/fixed.hpp"
#include "rule/single.hpp"

namespace hinge {

template <Oracle O>
class OracleModel {
public:
    using Real = typename O::Real;

    virtual ~OracleModel() = default;
    virtual std::unique_ptr<OracleModel> clone() const = 0;

    virtual O& oracle() = 0;
    virtual const O& oracle() const = 0;
    virtual void grow(Index features, Index outputs) = 0;
    // One round: scored, and moved along where the rule says so.
    virtual Judgement learn(const typename O::Input& x, const typename O::Target& y, double weight,
                            const Settings& set) = 0;
    // <w, x> with the weights that are predicted with: the mean where there is one.
    virtual double score(const Row<Real>& x) const = 0;
    // The same for one weight.
    virtual double weight(Index feature) const = 0;
    virtual const Weights<Real>& read() const = 0;
    virtual Linear<Real>& written() = 0;  // for solvers that set the weights as a whole
    // See Weights::regrid.
    virtual void regrid(Index from, Index to, Index reserved) = 0;
    virtual double scale() const = 0;  // the current weights are what is read times this
    virtual const LazyAverage<Real>& average() const = 0;
    virtual const Ledger& ledger() const = 0;
    virtual double conjugate() const = 0;
    virtual void archive(Archive& to) = 0;

    Index features() const { return read().features(); }
    Index outputs() const { return read().outputs(); }
};

template <Oracle O, Constraint which, class Rule, class Geometry>
class OracleLearner final : public OracleModel<O> {
public:
    using Real = typename O::Real;

    OracleLearner(Index reserved, bool average) : learner_(reserved) {
        if (average) learner_.geometry().average().turn_on();
    }

    std::unique_ptr<OracleModel<O>> clone() const override { return std::make_unique<OracleLearner>(*this); }

    O& oracle() override { return learner_.problem().oracle(); }
    const O& oracle() const override { return learner_.problem().oracle(); }
    void grow(Index features, Index outputs) override { learner_.grow(features, outputs); }

    Judgement learn(const typename O::Input& x, const typename O::Target& y, double weight,
                    const Settings& set) override {
        const Judgement seen = learner_.judge(x, y, weight, set);
        learner_.move(x, seen, weight, set);
        return seen;
    }

    double score(const Row<Real>& x) const override {
        Real score = 0, room = 0;
        if (average().ready())
            average().score(x, geometry(), &score, &room);
        else
            geometry().score(x, &score);
        return static_cast<double>(score);
    }

    double weight(Index feature) const override {
        const auto value = static_cast<double>(*read().row(feature));
        return average().ready() ? average().value(feature, 0, value) : value * scale();
    }

    const Weights<Real>& read() const override { return geometry().read(); }
    Linear<Real>& written() override { return learner_.geometry().written(); }
    void regrid(Index from, Index to, Index reserved) override { learner_.geometry().regrid(from, to, reserved); }
    double scale() const override { return geometry().scale(0); }
    const LazyAverage<Real>& average() const override { return geometry().average(); }
    const Ledger& ledger() const override { return learner_.ledger(); }
    double conjugate() const override { return geometry().conjugate(); }
    void archive(Archive& to) override { learner_.archive(to); }

private:
    const Geometry& geometry() const { return learner_.geometry(); }

    Learner<OracleProblem<O, which>, Rule, Geometry> learner_;
};

// rule: "passive-aggressive", "perceptron", "sgd" (a constant step, C of the settings is eta) or "regularised sgd" (C is
// 1 / (2 lambda)); "svm" and "erm" are solved elsewhere and only answer here. Null where there is no such rule.
template <Oracle O>
std::unique_ptr<OracleModel<O>> make_oracle_model(std::string_view rule, Index reserved, bool average) {
    using Real = typename O::Real;
    using Euclidean = SquaredNorm<Real>;
    constexpr auto augmented = Constraint::augmented;
    if (rule == "passive-aggressive" || rule == "svm" || rule == "erm")
        return std::make_unique<OracleLearner<O, augmented, Single, Euclidean>>(reserved, average);
    if (rule == "perceptron")
        return std::make_unique<OracleLearner<O, Constraint::plain, Perceptron, Euclidean>>(reserved, average);
    if (rule == "sgd") return std::make_unique<OracleLearner<O, augmented, Descent, Euclidean>>(reserved, average);
    if (rule == "regularised sgd")
        return std::make_unique<OracleLearner<O, augmented, Descent, Shrinking<Real>>>(reserved, average);
    return nullptr;
}

}  // namespace hinge
