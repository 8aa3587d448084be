// Learners of ordered classes: combinations of a rule and a geometry behind one face (MATH.md B).
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "geometry/ball.hpp"
#include "geometry/entropy.hpp"
#include "geometry/expansion.hpp"
#include "geometry/squared.hpp"
#include "learner.hpp"
#include "problem/class_number.hpp"
#include "problem/intervals.hpp"
#include "rule/decreasing.hpp"
#include "rule/least_mean_squares.hpp"
#include "rule/steady.hpp"

namespace hinge {

// The intervals of a call, in classes 1, 2, .. as they are numbered in their row, and the classes that enter: each
// before the row that it is given for, in order, at a place among the classes that there are then (0: below them all).
struct IntervalRows {
    const Index* low;
    const Index* high;
    const std::int64_t* row = nullptr;
    const Index* place = nullptr;
    std::int64_t entering = 0;
};

// Where a call leaves what it saw, round by round; a null pointer is not filled.
struct OrdinalTrace {
    double* loss = nullptr;
    double* error = nullptr;
    Index* answer = nullptr;  // the class, as numbered before its row; 0 where there is none yet
};

template <class Real>
class OrdinalModel {
public:
    virtual ~OrdinalModel() = default;
    virtual std::unique_ptr<OrdinalModel> clone() const = 0;

    // One output, whatever is asked for.
    virtual void grow(Index features, Index outputs) = 0;
    virtual void enter(Index place) = 0;
    virtual void learn(const Rows<Real>& x, const IntervalRows& y, const double* weights, const OrdinalTrace& trace) = 0;
    // `out` holds classes() - 1 values, in order to the last bit.
    virtual void thresholds(Real* out) const = 0;
    virtual void score(const Rows<Real>& x, Real* out) const = 0;
    // Classes from 1.
    virtual void predict(const Rows<Real>& x, Index* out) const = 0;
    // The lowest and the highest class that scores within `margin` of a row's are given, two values a row.
    virtual void predict_interval(const Rows<Real>& x, double margin, Index* out) const = 0;
    // A weight of what is predicted with; 0 where there are no features but rows of a support.
    virtual double weight(Index feature) const = 0;
    // How many rows a kernel keeps, or -1; and what they are.
    virtual Index support_size() const { return -1; }
    virtual void support(Index, double*, double*) const {}  // features() values, and a coefficient
    virtual const Ledger& ledger() const = 0;
    virtual void archive(Archive& to) = 0;

    Index features() const { return features_; }
    Index outputs() const { return 1; }
    Index classes() const { return classes_; }

protected:
    // The threshold that a new one is a double of, or -1 for the first; and where it enters.
    struct Entry {
        Index place;
        Index like;
    };
    Entry entry(Index place) const {
        const Index thresholds = classes_ - 1;
        return {std::min(place, thresholds), thresholds == 0 ? -1 : std::min(place == 0 ? 0 : place - 1, thresholds - 1)};
    }

    Index features_ = 0;
    Index classes_ = 0;
};

// What is answered by comparing scores with thresholds: Self has compare(x, visit), which calls
// visit(t, score, thresholds, unit) for each row, both as they are stored; a score of 1 outside is `unit` there.
template <class Self, class Real>
class Comparing : public OrdinalModel<Real> {
public:
    void predict(const Rows<Real>& x, Index* out) const override {
        self().compare(x, [&](std::int64_t t, double score, auto thresholds, double) {
            out[t] = ordinal::predicted_class(score, thresholds);
        });
    }
    void predict_interval(const Rows<Real>& x, double margin, Index* out) const override {
        self().compare(x, [&](std::int64_t t, double score, auto thresholds, double unit) {
            const ordinal::Interval near = ordinal::indistinct_classes(score, thresholds, margin * unit);
            out[2 * t] = near.lo;
            out[2 * t + 1] = near.hi;
        });
    }

private:
    const Self& self() const { return static_cast<const Self&>(*this); }
};

// A weight alone says how far a round moves.
inline constexpr Settings one{1.0, 0.0, 1.0};

// A round that could not be scored, such as by a kernel that is not finite, and which of its call it is.
struct FailedRound : std::domain_error {
    FailedRound(const std::domain_error& why, std::int64_t round) : std::domain_error(why), t(round) {}
    std::int64_t t;
};

// The rounds of a call: answer(x), where that is asked for, and judge(x, interval, weight).
template <class Model, class Real, class Answer, class Round>
void follow(Model& model, const Rows<Real>& x, const IntervalRows& y, const double* weights, const OrdinalTrace& trace,
            Answer&& answer, Round&& round) {
    std::int64_t next = 0, t = 0;
    try {
        for (; t < x.count; ++t) {
            if (trace.answer) trace.answer[t] = model.classes() > 0 ? answer(x[t]) : 0;
            if constexpr (requires { model.check(x[t]); })
                if (next < y.entering && y.row[next] == t) model.check(x[t]);
            for (; next < y.entering && y.row[next] == t; ++next) model.enter(y.place[next]);
            const Judgement seen = round(x[t], ordinal::Interval{y.low[t], y.high[t]}, weights ? weights[t] : 1.0);
            if (trace.loss) trace.loss[t] = seen.loss;
            if (trace.error) trace.error[t] = seen.error;
        }
    } catch (const std::domain_error& why) {
        throw FailedRound(why, t);
    }
}

// Interval labels by feature: PRIL and its kin.
template <class Rule, class Geometry>
class OrdinalLearner final : public Comparing<OrdinalLearner<Rule, Geometry>, typename Geometry::Real> {
public:
    using Real = typename Geometry::Real;
    using Base = OrdinalModel<Real>;

    struct Options {
        double step = 1;        // multiplied in when weights are read
        double eta = 0;         // multiplicative: the rate, where one is given
        double margin = 0;      // multiplicative: the margin that the rate is best for, where one is given
        bool rescale = false;   // divide the features by the largest that was learned
        bool average = false;
    };

    explicit OrdinalLearner(const Options& options) : learner_(0), options_(options) {
        if (options.average) learner_.geometry().average().turn_on();
    }

    std::unique_ptr<Base> clone() const override { return std::make_unique<OrdinalLearner>(*this); }

    void grow(Index features, Index) override {
        this->features_ = std::max(this->features_, features);
        learner_.geometry().grow(this->features_, 1);
    }

    void enter(Index place) override {
        if (geometry().read().outputs() == 0) grow(0, 1);
        if (this->classes_ > 0) {
            const auto entry = this->entry(place);
            learner_.geometry().insert_reserved(entry.place, entry.like);
        }
        ++this->classes_;
        if constexpr (requires(Geometry& g) { g.set_rate(1.0); })
            learner_.geometry().set_rate(rate(std::max<Index>(1, this->classes_ - 1)));
    }

    void learn(const Rows<Real>& x, const IntervalRows& y, const double* weights, const OrdinalTrace& trace) override {
        const auto answer = [&](const Row<Real>& row) {
            if (as_stored()) return ordinal::predicted_class(stored_score(geometry(), row), stored_thresholds(geometry()));
            room_.resize(static_cast<std::size_t>(reserved()));
            thresholds(room_.data());
            return ordinal::predicted_class(score_one(row), std::span<const Real>(room_));
        };
        follow(*this, x, y, weights, trace, answer, [&](Row<Real> row, ordinal::Interval target, double weight) {
            if (options_.rescale) row = rescaled(row, weight);
            Judgement seen = learner_.judge(row, target, weight, one);
            learner_.move(row, seen, weight, one);
            seen.loss *= options_.step;
            return seen;
        });
    }

    void thresholds(Real* out) const override {
        const auto side = geometry().read().side();
        Real least = -std::numeric_limits<Real>::infinity();
        for (std::size_t i = 0; i < side.size(); ++i)
            least = out[i] = std::max(least, static_cast<Real>(read_weight(static_cast<Index>(i) - reserved())));
    }

    void score(const Rows<Real>& x, Real* out) const override {
        for (std::int64_t t = 0; t < x.count; ++t) out[t] = static_cast<Real>(score_one(x[t]));
    }

    template <class Visit>
    void compare(const Rows<Real>& x, Visit&& visit) const {
        if (as_stored()) {
            const auto b = stored_thresholds(geometry());
            const double unit = 1 / (options_.step * geometry().scale(0));
            for (std::int64_t t = 0; t < x.count; ++t) visit(t, stored_score(geometry(), x[t]), b, unit);
            return;
        }
        std::vector<Real> b(static_cast<std::size_t>(reserved()));
        thresholds(b.data());
        for (std::int64_t t = 0; t < x.count; ++t) visit(t, score_one(x[t]), std::span<const Real>(b), 1.0);
    }

    double weight(Index feature) const override { return read_weight(feature) / largest(); }
    const Ledger& ledger() const override { return learner_.ledger(); }

    void archive(Archive& to) override {
        learner_.archive(to);
        if (options_.rescale) to.value("largest_feature", largest_);
    }

private:
    const Geometry& geometry() const { return learner_.geometry(); }
    Index reserved() const { return geometry().read().reserved(); }
    // Whether what is stored is what is answered with: then a tie is a tie, as it is in `learn`.
    bool as_stored() const { return !options_.rescale && !geometry().average().ready(); }
    double largest() const { return options_.rescale && largest_ > 0 ? largest_ : 1; }

    // M-PRIL's eta for n = K-1 constraints: artanh(g/n)/n, or what moves no logarithm of a weight by more than 0.4.
    double rate(Index constraints) const {
        const double n = constraints;
        if (options_.eta > 0) return options_.eta;
        if (options_.margin > 0) return log((n + options_.margin) / (n - options_.margin)) / (2 * n);
        return 0.4 / n;
    }

    // A weight of the iterate, or of the mean where there is one; features as the geometry sees them.
    double read_weight(Index feature) const {
        const double stored = static_cast<double>(geometry().read().row(feature)[0]);
        const auto& average = geometry().average();
        return options_.step * (average.ready() ? average.value(feature, 0, stored) : stored * geometry().scale(0));
    }

    double score_one(const Row<Real>& x) const {
        const auto& average = geometry().average();
        if (!average.ready()) return options_.step * (stored_score(geometry(), x) * geometry().scale(0)) / largest();
        Real score = 0, room = 0;
        average.score(x, geometry(), &score, &room);
        return options_.step * static_cast<double>(score) / largest();
    }

    // The row over the largest feature that was learned so far, this round included; a round of weight 0 leaves none.
    Row<Real> rescaled(const Row<Real>& x, double weight) {
        double most = largest_;
        for (Index i = 0; i < x.count; ++i) most = std::max(most, std::abs(static_cast<double>(x.value[i])));
        if (weight > 0) largest_ = most;
        scaled_.resize(static_cast<std::size_t>(x.count));
        for (std::size_t i = 0; i < scaled_.size(); ++i)
            scaled_[i] = most > 0 ? static_cast<Real>(static_cast<double>(x.value[i]) / most) : x.value[i];
        return {x.index, scaled_.data(), x.count, x.constant};
    }

    Learner<Intervals<Real>, Rule, Geometry> learner_;
    Options options_;
    double largest_ = 0;
    std::vector<Real> scaled_, room_;
};

// Interval labels with a kernel: the same rounds on rows that are kept.
template <class Rule, class Space>
class KernelOrdinal final : public Comparing<KernelOrdinal<Rule, Space>, typename Space::Real> {
public:
    using Real = typename Space::Real;
    using Base = OrdinalModel<Real>;

    KernelOrdinal(Space space, double step) : learner_(std::move(space)), step_(step) {}

    std::unique_ptr<Base> clone() const override { return std::make_unique<KernelOrdinal>(*this); }

    void grow(Index features, Index) override {
        this->features_ = std::max(this->features_, features);
        if constexpr (requires(Space& space) { space.kernel().width; })
            learner_.geometry().kernel().width = this->features_;
    }

    void enter(Index place) override {
        if (this->classes_ > 0) {
            const auto entry = this->entry(place);
            learner_.geometry().insert_reserved(entry.place, entry.like);
        }
        ++this->classes_;
    }

    // Throws where the kernel is not finite: before a class enters, since a round that fails leaves nothing behind.
    void check(const Row<Real>& x) { learner_.geometry().stored_score(x); }

    void learn(const Rows<Real>& x, const IntervalRows& y, const double* weights, const OrdinalTrace& trace) override {
        const auto answer = [&](const Row<Real>& row) {
            return ordinal::predicted_class(space().stored_score(row, room_), space().stored_thresholds());
        };
        follow(*this, x, y, weights, trace, answer, [&](const Row<Real>& row, ordinal::Interval target, double weight) {
            Judgement seen = learner_.judge(row, target, weight, one);
            learner_.move(row, seen, weight, one);
            seen.loss *= step_;
            return seen;
        });
    }

    void thresholds(Real* out) const override {
        for (double b : space().stored_thresholds()) *out++ = static_cast<Real>(step_ * (b * space().scale(0)));
    }

    void score(const Rows<Real>& x, Real* out) const override {
        space().stored_scores(x, [&](std::int64_t t, double score) {
            out[t] = static_cast<Real>(step_ * (score * space().scale(0)));
        });
    }

    template <class Visit>
    void compare(const Rows<Real>& x, Visit&& visit) const {
        const double unit = 1 / (step_ * space().scale(0));
        space().stored_scores(x, [&](std::int64_t t, double score) {
            visit(t, score, space().stored_thresholds(), unit);
        });
    }

    double weight(Index) const override { return 0; }
    Index support_size() const override { return space().support().size(); }
    void support(Index slot, double* row, double* coefficient) const override {
        std::vector<Real> room;
        const Row<Real> x = space().support().rows().row(slot, room);
        std::fill_n(row, this->features_, 0.0);
        x.each([&](Index j, Real value) { row[j] = static_cast<double>(value); });
        *coefficient = step_ * space().coefficient(static_cast<std::size_t>(slot));
    }
    const Ledger& ledger() const override { return learner_.ledger(); }
    void archive(Archive& to) override {
        learner_.archive(to);
        if (space().support().rows().width() > this->features_)
            throw std::invalid_argument("the support's rows have features that the model has not");
    }

private:
    const Space& space() const { return learner_.geometry(); }

    Learner<Intervals<Real>, Rule, Space> learner_;
    double step_;
    typename Space::Scratch room_;
};

// The class number as a real target.
template <class Number>
class WidrowHoff final : public Comparing<WidrowHoff<Number>, Number> {
public:
    using Real = Number;
    using Base = OrdinalModel<Real>;

    WidrowHoff(double step, bool intercept, bool average)
        : learner_(intercept ? 1 : 0), set_{step, 0.0, 1.0}, intercept_(intercept) {
        if (average) learner_.geometry().average().turn_on();
    }

    std::unique_ptr<Base> clone() const override { return std::make_unique<WidrowHoff>(*this); }

    void grow(Index features, Index) override {
        this->features_ = std::max(this->features_, features);
        learner_.geometry().grow(this->features_, 1);
    }

    // A class below all others moves the numbers of the others up, and so the scores.
    void enter(Index place) override {
        if (geometry().read().outputs() == 0) grow(0, 1);
        if (place == 0 && this->classes_ > 0 && intercept_) learner_.geometry().shift(-1, 1.0);
        learner_.problem().set_classes(++this->classes_);
    }

    void learn(const Rows<Real>& x, const IntervalRows& y, const double* weights, const OrdinalTrace& trace) override {
        const auto told = [&](const Row<Real>& row) { return answer(row); };
        follow(*this, x, y, weights, trace, told, [&](const Row<Real>& row, ordinal::Interval target, double weight) {
            const Judgement seen = learner_.judge(row, target, weight, set_);
            learner_.move(row, seen, weight, set_);
            return seen;
        });
    }

    void thresholds(Real* out) const override {
        for (double b : learner_.problem().thresholds()) *out++ = static_cast<Real>(b);
    }
    void score(const Rows<Real>& x, Real* out) const override {
        for (std::int64_t t = 0; t < x.count; ++t) out[t] = score_one(x[t]);
    }
    template <class Visit>
    void compare(const Rows<Real>& x, Visit&& visit) const {
        for (std::int64_t t = 0; t < x.count; ++t)
            visit(t, static_cast<double>(score_one(x[t])), learner_.problem().thresholds(), 1.0);
    }
    double weight(Index feature) const override {
        const double stored = static_cast<double>(geometry().read().row(feature)[0]);
        const auto& average = geometry().average();
        return average.ready() ? average.value(feature, 0, stored) : stored;
    }
    const Ledger& ledger() const override { return learner_.ledger(); }
    void archive(Archive& to) override { learner_.archive(to); }

private:
    const SquaredNorm<Real>& geometry() const { return learner_.geometry(); }

    Real score_one(const Row<Real>& x) const {
        Real score = 0, room = 0;
        if (geometry().average().ready())
            geometry().average().score(x, geometry(), &score, &room);
        else
            geometry().score(x, &score);
        return score;
    }
    Index answer(const Row<Real>& x) const {
        return ordinal::predicted_class(static_cast<double>(score_one(x)), learner_.problem().thresholds());
    }

    Learner<ClassNumber<Real>, LeastMeanSquares, SquaredNorm<Real>> learner_;
    Settings set_;
    bool intercept_;
};

}  // namespace hinge
