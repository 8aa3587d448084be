// Parallel tasks: three updates, two kinds of answer, one instance for all tasks or one each, behind one face.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "geometry/parallel.hpp"
#include "geometry/squared.hpp"
#include "learner.hpp"
#include "problem/codewords.hpp"
#include "problem/parallel_tasks.hpp"
#include "rule/horizon.hpp"
#include "rule/implicit.hpp"
#include "solve/task_steps.hpp"

namespace hinge {

// The answers of the tasks in the rounds of a call; one of the three pointers is not null.
struct TaskRows {
    std::size_t tasks;
    const signed char* sides = nullptr;  // `tasks` a round: -1, +1, 0 where a task is dormant
    const double* numbers = nullptr;     // the same, NaN where a task is dormant
    double epsilon = 0;
    const Index* labels = nullptr;  // one a round, of which `code` says what it asks of the tasks
    Code code{};
};

struct TaskSettings {
    double C;
    double radius;      // 0: the longest instance so far
    double horizon;     // 0: C is as given
    double remoteness;  // of the norm's dual, over all tasks that there are
    double epsilon;
};

// Where a call leaves what it saw, round by round; a null pointer is not filled.
template <class Real>
struct TaskTrace {
    double* loss = nullptr;
    double* error = nullptr;
    double* task_errors = nullptr;
    double* dual = nullptr;
    Real* scores = nullptr;  // one a task and round
};

template <class Real>
class MultitaskModel {
public:
    virtual ~MultitaskModel() = default;
    virtual std::unique_ptr<MultitaskModel> clone() const = 0;

    // One matrix for all tasks: `features` wide. Where each task has its own: see widen.
    virtual void grow(Index features, Index tasks) = 0;
    // A width a task.
    virtual void widen(std::span<const Index> widths) = 0;
    virtual bool shared() const = 0;
    virtual void learn(std::span<const Rows<Real>> x, const TaskRows& y, const double* weights,
                       const TaskSettings& set, const TaskTrace<Real>& trace) = 0;
    // `out` holds outputs() values a row.
    virtual void score(std::span<const Rows<Real>> x, Real* out) const = 0;
    virtual Index features(Index task) const = 0;
    virtual Index outputs() const = 0;
    virtual Real weight(Index feature, Index task) const = 0;
    virtual const Ledger& ledger() const = 0;
    virtual double conjugate() const = 0;  // the sum of all G, from the state
    virtual void archive(Archive& to) = 0;

    Index features() const { return shared() || outputs() > 0 ? features(0) : 0; }
};

// What one instance for all, and one each, do differently.
template <class Real>
class SharedTasks {
public:
    using Instance = SharedInstance<Real>;
    using Geometry = SquaredNorm<Real>;
    static constexpr bool shared = true;

    template <class Learner>
    static void grow(Learner& learner, Index features, Index tasks) {
        learner.grow(features, tasks);
        learner.problem().set_tasks(tasks);
    }
    template <class Learner>
    static void widen(Learner&, std::span<const Index>) {}

    Row<Real> row(std::span<const Rows<Real>> x, std::int64_t t) { return x[0][t]; }
    static Index room(const Geometry& geometry) { return geometry.read().width(); }
    static Index outputs(const Geometry& geometry) { return geometry.read().outputs(); }
    static Index features(const Geometry& geometry, Index) { return geometry.read().features(); }
    static Real weight(const Geometry& geometry, Index feature, Index task) { return geometry.read().row(feature)[task]; }
};

template <class Real>
class TasksApart {
public:
    using Instance = OwnInstances<Real>;
    using Geometry = ParallelSquaredNorm<Real>;
    static constexpr bool shared = false;

    template <class Learner>
    static void grow(Learner&, Index, Index) {}
    template <class Learner>
    static void widen(Learner& learner, std::span<const Index> widths) {
        learner.geometry().grow(widths);
        learner.problem().grow(learner.geometry().outputs());
        learner.problem().set_tasks(learner.geometry().outputs());
    }

    std::span<const Row<Real>> row(std::span<const Rows<Real>> x, std::int64_t t) {
        rows_.resize(x.size());
        for (std::size_t j = 0; j < x.size(); ++j) rows_[j] = x[j][t];
        return rows_;
    }
    static Index room(const Geometry& geometry) { return geometry.outputs(); }
    static Index outputs(const Geometry& geometry) { return geometry.outputs(); }
    static Index features(const Geometry& geometry, Index task) { return geometry.task(task).features(); }
    static Real weight(const Geometry& geometry, Index feature, Index task) {
        return geometry.task(task).row(feature)[0];
    }

private:
    std::vector<Row<Real>> rows_;
};

inline Sides::Target target_of(const Sides&, const TaskRows& y, std::int64_t t) {
    return {y.sides + static_cast<std::size_t>(t) * y.tasks, y.tasks};
}
inline Numbers::Target target_of(const Numbers&, const TaskRows& y, std::int64_t t) {
    return {{y.numbers + static_cast<std::size_t>(t) * y.tasks, y.tasks}, y.epsilon};
}
inline Codewords::Target target_of(const Codewords&, const TaskRows& y, std::int64_t t) { return {y.code, y.labels[t]}; }

template <class Feedback, class Rule, class Tasks>
class Multitask final : public MultitaskModel<typename Tasks::Geometry::Real> {
public:
    using Geometry = typename Tasks::Geometry;
    using Real = typename Geometry::Real;
    using Problem = ParallelTasks<Real, Feedback, typename Tasks::Instance>;

    Multitask(const DualBall& ball, bool intercept) : learner_(intercept ? 1 : 0) {
        learner_.problem().set_norm(ball);
        learner_.rule().alone = ball.alone();
    }

    std::unique_ptr<MultitaskModel<Real>> clone() const override { return std::make_unique<Multitask>(*this); }

    void grow(Index features, Index tasks) override { Tasks::grow(learner_, features, tasks); }
    void widen(std::span<const Index> widths) override { Tasks::widen(learner_, widths); }
    bool shared() const override { return Tasks::shared; }

    void learn(std::span<const Rows<Real>> x, const TaskRows& y, const double* weights, const TaskSettings& given,
               const TaskTrace<Real>& trace) override {
        Reach& reach = learner_.rule();
        reach.radius = given.radius;
        reach.horizon = given.horizon;
        reach.remoteness = given.remoteness;
        const Settings set{given.C, Feedback::margin, 0};
        const auto outputs = static_cast<std::size_t>(this->outputs());
        room_.resize(static_cast<std::size_t>(Tasks::room(geometry())));
        for (std::int64_t t = 0; t < x[0].count; ++t) {
            const auto row = tasks_.row(x, t);
            const double weight = weights ? weights[t] : 1.0;
            if (trace.scores) {
                geometry().score(row, room_.data());
                std::copy_n(room_.data(), outputs, trace.scores + static_cast<std::size_t>(t) * outputs);
            }
            const Judgement seen = learner_.judge(row, target_of(Feedback{}, y, t), weight, set);
            learner_.move(row, seen, weight, set);
            if (trace.loss) trace.loss[t] = seen.loss;
            if (trace.error) trace.error[t] = seen.error;
            if (trace.task_errors) trace.task_errors[t] = learner_.problem().errors();
            if (trace.dual) trace.dual[t] = learner_.ledger().dual;
        }
    }

    void score(std::span<const Rows<Real>> x, Real* out) const override {
        const auto outputs = static_cast<std::size_t>(this->outputs());
        std::vector<Real> scores(static_cast<std::size_t>(Tasks::room(geometry())));
        Tasks tasks;
        for (std::int64_t t = 0; t < x[0].count; ++t) {
            geometry().score(tasks.row(x, t), scores.data());
            std::copy_n(scores.data(), outputs, out + static_cast<std::size_t>(t) * outputs);
        }
    }

    Index features(Index task) const override { return Tasks::features(geometry(), task); }
    Index outputs() const override { return Tasks::outputs(geometry()); }
    Real weight(Index feature, Index task) const override { return Tasks::weight(geometry(), feature, task); }
    const Ledger& ledger() const override { return learner_.ledger(); }
    double conjugate() const override { return geometry().conjugate(); }
    void archive(Archive& to) override { learner_.archive(to); }

private:
    const Geometry& geometry() const { return learner_.geometry(); }

    Learner<Problem, Rule, Geometry> learner_;
    Tasks tasks_;
    std::vector<Real> room_;
};

template <class Real, class Feedback, class Tasks>
std::unique_ptr<MultitaskModel<Real>> make_multitask(std::string_view update, const DualBall& ball, bool intercept) {
    using BestOfAll = Implicit<TaskBall, typename Tasks::Geometry::Line>;
    if (update == "implicit") return std::make_unique<Multitask<Feedback, BestOfAll, Tasks>>(ball, intercept);
    if (update == "infinite") return std::make_unique<Multitask<Feedback, InfiniteHorizon, Tasks>>(ball, intercept);
    if (update == "finite") return std::make_unique<Multitask<Feedback, FiniteHorizon, Tasks>>(ball, intercept);
    return nullptr;
}

// Null where no such update exists.
template <class Real>
std::unique_ptr<MultitaskModel<Real>> make_multitask(std::string_view update, const DualBall& ball,
                                                     std::string_view answers, bool shared, bool intercept) {
    const bool numbers = answers == "numbers";
    if (answers == "codewords") return make_multitask<Real, Codewords, SharedTasks<Real>>(update, ball, intercept);
    if (numbers && shared) return make_multitask<Real, Numbers, SharedTasks<Real>>(update, ball, intercept);
    if (numbers) return make_multitask<Real, Numbers, TasksApart<Real>>(update, ball, intercept);
    if (shared) return make_multitask<Real, Sides, SharedTasks<Real>>(update, ball, intercept);
    return make_multitask<Real, Sides, TasksApart<Real>>(update, ball, intercept);
}

}  // namespace hinge
