// k parallel tasks that share one loss, a norm of theirs (MATH.md C).
//
// A task may sit a round out (it is dormant): then its loss is zero, its instance counts for nothing and its weights
// stay as they are. A score of exactly zero is an error.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "../buffer.hpp"
#include "../judgement.hpp"
#include "../region.hpp"
#include "../rows.hpp"
#include "../solve/shared_loss.hpp"
#include "../step.hpp"

namespace hinge {

// What one task's answer is worth: its loss, in which direction the score should move, whether it is an error, and what
// a unit of tau adds to the linear part of the dual.
struct TaskFault {
    double loss;
    double sign;
    double worth;
    bool wrong;
};

// Sides -1 and +1, 0 where the task is dormant: l = [1 - y score]+.
struct Sides {
    using Target = std::span<const signed char>;
    static constexpr double margin = 1;  // the loss of a task in error is at least this

    static bool active(const Target& y, std::size_t j) { return y[j] != 0; }
    static TaskFault judge(const Target& y, std::size_t j, double score) {
        const double side = y[j];
        return {1 - side * score, side, 1.0, side * score <= 0};
    }
    // A round is in error where any task is.
    template <class Real>
    static bool wrong(const Target&, const Real*, Index errors) {
        return errors > 0;
    }
};

// Numbers, NaN where the task is dormant: l = [|y - score| - epsilon]+. A task is in error where it has a loss.
struct Numbers {
    struct Target {
        std::span<const double> y;
        double epsilon;
    };
    static constexpr double margin = 0;

    static bool active(const Target& target, std::size_t j) { return !std::isnan(target.y[j]); }
    static TaskFault judge(const Target& target, std::size_t j, double score) {
        const double y = target.y[j], sign = y > score ? 1.0 : -1.0;
        const double loss = sign * (y - score) - target.epsilon;
        return {loss, sign, sign * y - target.epsilon, loss > 0};
    }
    template <class Real>
    static bool wrong(const Target&, const Real*, Index errors) {
        return errors > 0;
    }
};

// One instance for all tasks.
template <class Number>
class SharedInstance {
public:
    using Input = Row<Number>;
    using Direction = Row<Number>;

    // Where no task is active, nothing is there.
    template <class Active>
    void take(const Input& x, std::size_t tasks, Active&& active) {
        bool any = false;
        for (std::size_t j = 0; j < tasks && !any; ++j) any = active(j);
        direction_ = any ? x : Input{x.index, x.value, 0, Number(0)};
    }
    const Direction& direction() const { return direction_; }

private:
    Direction direction_{};
};

// An instance a task.
template <class Number>
class OwnInstances {
public:
    using Input = std::span<const Row<Number>>;
    using Direction = std::vector<Row<Number>>;

    // Where a task is dormant, nothing is there.
    template <class Active>
    void take(const Input& x, std::size_t tasks, Active&& active) {
        direction_.assign(x.begin(), x.end());
        for (std::size_t j = 0; j < tasks; ++j)
            if (!active(j)) direction_[j] = {x[j].index, x[j].value, 0, Number(0)};
    }
    const Direction& direction() const { return direction_; }

private:
    Direction direction_;
};

template <class Number, class Feedback, class Instance>
class ParallelTasks {
public:
    using Real = Number;
    using Input = typename Instance::Input;
    using Target = typename Feedback::Target;
    using Region = TaskBall;

    void set_norm(const DualBall& ball) { shared_.emplace(ball); }

    void set_tasks(Index tasks) {
        const auto count = static_cast<std::size_t>(tasks);
        worths_.resize(count);
        tasks_.resize(count + 1);
        losses_.resize(count + 1);
        signs_.resize(count + 1);
    }
    void grow(Index width) {
        if (scores_.size() < static_cast<std::size_t>(width)) scores_ = Buffer<Real>(static_cast<std::size_t>(width));
    }

    template <class Geometry>
    Judgement judge(const Geometry& geometry, const Input& x, const Target& y, double) {
        instance_.take(x, worths_.size(), [&](std::size_t j) { return Feedback::active(y, j); });
        geometry.score(instance_.direction(), scores_.data());
        std::size_t found = 0;
        errors_ = 0;
        bool any = false;
        for (std::size_t j = 0; j < worths_.size(); ++j) {  // without a branch: which tasks have a loss is hard to predict
            const TaskFault fault = Feedback::judge(y, j, static_cast<double>(scores_[j]));
            const bool active = Feedback::active(y, j);
            any |= active;
            errors_ += active & fault.wrong;
            tasks_[found] = static_cast<Index>(j);
            losses_[found] = fault.loss;
            signs_[found] = fault.sign;
            worths_[j] = fault.worth;
            found += active & (fault.loss > 0);
        }
        found_ = found;
        return {shared_->value({losses_.data(), found}), Feedback::wrong(y, scores_.data(), errors_) ? 1.0 : 0.0, any};
    }

    // How many tasks were in error.
    Index errors() const { return errors_; }
    Region region() { return {&*shared_, {tasks_.data(), found_}, {signs_.data(), found_}}; }
    const auto& direction(const Input&) const { return instance_.direction(); }
    const Real* scores() const { return scores_.data(); }
    double promise(const Step& step) const {
        double sum = 0;
        for (std::size_t i = 0; i < step.size(); ++i)
            sum += std::abs(step.alphas()[i]) * worths_[static_cast<std::size_t>(step.outputs()[i])];
        return sum;
    }

private:
    Instance instance_;
    std::optional<solve::SharedLoss> shared_;
    Buffer<Real> scores_;
    std::size_t found_ = 0;     // tasks with a loss
    std::vector<Index> tasks_;  // these, and a place that is written to in vain; beside them
    std::vector<double> losses_, signs_;
    std::vector<double> worths_;  // by task
    Index errors_ = 0;
};

}  // namespace hinge
