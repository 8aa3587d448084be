// The label rankers: eleven combinations of a rule and a geometry behind one face.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "cut.hpp"
#include "geometry/adaptive.hpp"
#include "geometry/entropy.hpp"
#include "geometry/squared.hpp"
#include "learner.hpp"
#include "problem/label_sets.hpp"
#include "rule/fixed.hpp"
#include "rule/full.hpp"
#include "rule/single.hpp"
#include "solve/balanced_tilted.hpp"

namespace hinge {

// The relevant labels of the rows of a call.
struct LabelRows {
    const std::int64_t* start;  // null: one label a row, none where it is negative
    const Index* label;         // increasing within a row
    bool sets;                  // the answers are sets, so the cut is learned too
    const Index* exist = nullptr;  // by row, how many labels exist at least
    const double* cost = nullptr;  // by row and label, what answering it would cost; classes only
    Index cost_width = 0;

    std::span<const Index> operator[](std::int64_t t) const {
        if (start) return {label + start[t], static_cast<std::size_t>(start[t + 1] - start[t])};
        return {label + t, label[t] < 0 ? std::size_t{0} : std::size_t{1}};
    }
};

// Where a call leaves what it saw, round by round; a null pointer is not filled.
template <class Real>
struct Trace {
    double* loss = nullptr;
    double* error = nullptr;
    double* dual = nullptr;
    double* cut = nullptr;   // NaN where there is none yet
    Real* scores = nullptr;  // `width` a row, those of labels that do not exist yet untouched
    Index width = 0;
};

template <class Real>
class LabelRankingModel {
public:
    virtual ~LabelRankingModel() = default;
    virtual std::unique_ptr<LabelRankingModel> clone() const = 0;

    virtual void grow(Index features, Index outputs) = 0;
    virtual void erase_output(Index output) = 0;
    virtual void learn(const Rows<Real>& x, const LabelRows& y, const double* weights, const Settings& set,
                       const Trace<Real>& trace) = 0;
    // `out` holds width() values.
    virtual void score_one(const Row<Real>& x, Real* out) const = 0;
    // `out` holds outputs() values a row.
    virtual void score(const Rows<Real>& x, Real* out) const = 0;
    // The same with the weights that the next round is judged by, where predictions are made with their mean.
    virtual void score_current(const Rows<Real>& x, Real* out) const = 0;
    virtual Index features() const = 0;
    virtual Index outputs() const = 0;
    virtual Index width() const = 0;  // of a row of scores, padded to whole vectors
    // A weight of what is predicted with: the mean where there is one.
    virtual double weight(Index feature, Index output) const = 0;
    virtual const Cut<Real>& cut() const = 0;
    virtual void begin_cut() = 0;
    // By truth and then by answer, `labels` of each; classes only.
    virtual void set_cost(std::vector<double> by_truth, Index labels) = 0;
    // The weights, for solvers that write them as a whole; null where the geometry reads them off something else.
    virtual Linear<Real>* written() = 0;
    virtual const Ledger& ledger() const = 0;
    virtual double conjugate() const = 0;  // the sum of all G, from the state
    virtual bool certified() const = 0;
    virtual void archive(Archive& to) = 0;
};

template <class Problem, class Rule, class Geometry>
class LabelRanking final : public LabelRankingModel<typename Geometry::Real> {
public:
    using Real = typename Geometry::Real;

    LabelRanking(bool intercept, bool average) : learner_(intercept ? 1 : 0) {
        if (average) learner_.geometry().keep_average();
    }

    std::unique_ptr<LabelRankingModel<Real>> clone() const override { return std::make_unique<LabelRanking>(*this); }

    void grow(Index features, Index outputs) override {
        learner_.grow(features, outputs);
        cut_.grow(features);
        room_.resize(static_cast<std::size_t>(geometry().room()));
        predicted_.resize(static_cast<std::size_t>(width()));
    }

    void erase_output(Index output) override { learner_.geometry().erase_output(output); }

    void learn(const Rows<Real>& x, const LabelRows& y, const double* weights, const Settings& set,
               const Trace<Real>& trace) override {
        if (y.sets) cut_.begin();
        for (std::int64_t t = 0; t < x.count; ++t) {
            const Row<Real> row = x[t];
            const std::span<const Index> relevant = y[t];
            const double weight = weights ? weights[t] : 1.0;
            const Index exist = std::max(y.exist ? y.exist[t] : 0, relevant.empty() ? 0 : relevant.back() + 1);
            if (exist > outputs()) grow(features(), exist);
            if (trace.scores) score_row(row, trace.scores + t * trace.width);
            if (trace.cut) trace.cut[t] = cut_.exists() ? cut_.at(row) : std::numeric_limits<double>::quiet_NaN();

            const auto target = Problem::target(y, t);
            const bool cuts = y.sets && weight > 0;
            const bool by_mean = cuts && !predicts_seen && geometry().averages();
            if (by_mean) geometry().predict(row, predicted_.data(), room_.data());  // before this round joins the mean
            const Judgement seen = learner_.judge(row, target, weight, set);
            if (cuts && !by_mean) predict_as_seen(row, seen);
            if (cuts) cut_.learn(row, predicted_.data(), outputs(), relevant, set.gamma / 2, weight);
            learner_.move(row, seen, weight, set);

            if (trace.loss) trace.loss[t] = seen.loss;
            if (trace.error) trace.error[t] = seen.error;
            if (trace.dual) trace.dual[t] = learner_.ledger().dual;
        }
    }

    void score_one(const Row<Real>& x, Real* out) const override {
        std::vector<Real> room(static_cast<std::size_t>(geometry().room()));
        geometry().predict(x, out, room.data());
    }

    void score(const Rows<Real>& x, Real* out) const override {
        const Index outputs = this->outputs();
        std::vector<Real> scores(static_cast<std::size_t>(width())), room(static_cast<std::size_t>(geometry().room()));
        for (std::int64_t t = 0; t < x.count; ++t) {
            geometry().predict(x[t], scores.data(), room.data());
            std::copy_n(scores.data(), outputs, out + t * outputs);
        }
    }

    void score_current(const Rows<Real>& x, Real* out) const override {
        if constexpr (requires(const Row<Real>& row) { geometry().score(row, out); }) {
            std::vector<Real> scores(static_cast<std::size_t>(width()));
            for (std::int64_t t = 0; t < x.count; ++t) {
                geometry().score(x[t], scores.data());
                std::copy_n(scores.data(), outputs(), out + t * outputs());
            }
        } else {
            score(x, out);
        }
    }

    Index features() const override { return geometry().read().features(); }
    Index outputs() const override { return geometry().read().outputs(); }
    Index width() const override { return geometry().read().width(); }
    double weight(Index feature, Index output) const override { return geometry().weight(feature, output); }
    const Cut<Real>& cut() const override { return cut_; }
    void begin_cut() override { cut_.begin(); }
    void set_cost(std::vector<double> by_truth, Index labels) override {
        if constexpr (requires { learner_.problem().set_cost(std::move(by_truth), labels); })
            learner_.problem().set_cost(std::move(by_truth), labels);
    }
    Linear<Real>* written() override {
        if constexpr (requires { learner_.geometry().written(); }) return &learner_.geometry().written();
        return nullptr;
    }
    const Ledger& ledger() const override { return learner_.ledger(); }
    double conjugate() const override { return geometry().conjugate(); }
    bool certified() const override { return Geometry::certified; }

    void archive(Archive& to) override {
        learner_.archive(to);
        if (cut_.exists()) cut_.archive(to);
    }

private:
    const Geometry& geometry() const { return learner_.geometry(); }

    void score_row(const Row<Real>& x, Real* out) {
        geometry().predict(x, predicted_.data(), room_.data());
        std::copy_n(predicted_.data(), outputs(), out);
    }

    // The scores that this round's answer was cut from, from what `judge` has seen.
    void predict_as_seen(const Row<Real>& x, const Judgement& seen) {
        if constexpr (predicts_seen) {
            if (seen.constrained)
                learner_.geometry().predict_seen(x, predicted_.data());
            else
                geometry().predict(x, predicted_.data(), room_.data());
        } else if (seen.constrained) {
            learner_.problem().copy_scores(predicted_.data());
        } else {
            geometry().score(x, predicted_.data());
        }
    }

    static constexpr bool predicts_seen = requires(Geometry& it, const Row<Real>& x, Real* out) { it.predict_seen(x, out); };

    Learner<Problem, Rule, Geometry> learner_;
    Cut<Real> cut_;
    std::vector<Real> predicted_, room_;
};

template <class Real, class Geometry>
std::unique_ptr<LabelRankingModel<Real>> make_label_ranking(std::string_view update, bool intercept, bool average) {
    using AllAtOnce = Full<BalancedSimplex<Real>, typename Geometry::Line>;
    if (update == "full") return std::make_unique<LabelRanking<LabelSets<Real>, AllAtOnce, Geometry>>(intercept, average);
    if (update == "single") return std::make_unique<LabelRanking<LabelSets<Real>, Single, Geometry>>(intercept, average);
    if constexpr (Geometry::certified)
        if (update == "fixed") return std::make_unique<LabelRanking<LabelSets<Real>, Fixed, Geometry>>(intercept, average);
    return nullptr;
}

// Null where no such combination exists.
template <class Real>
std::unique_ptr<LabelRankingModel<Real>> make_label_ranking(std::string_view update, std::string_view geometry,
                                                            bool intercept, bool average) {
    if (geometry == "euclidean") return make_label_ranking<Real, SquaredNorm<Real>>(update, intercept, average);
    if (geometry == "adaptive") return make_label_ranking<Real, Adaptive<Real>>(update, intercept, average);
    if (geometry == "entropic") return make_label_ranking<Real, Entropy<Real>>(update, intercept, average);
    if (geometry == "signed-entropic") return make_label_ranking<Real, SignedEntropy<Real>>(update, intercept, average);
    return nullptr;
}

}  // namespace hinge
