// The squared norm for tasks that have feature spaces of their own: one weight vector a task.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "../archive.hpp"
#include "../linear.hpp"
#include "../settings.hpp"
#include "../solve/task_steps.hpp"

namespace hinge {

template <class Number>
class ParallelSquaredNorm {
public:
    using Real = Number;
    using Line = Quadratics;
    static constexpr bool certified = true;

    explicit ParallelSquaredNorm(Index reserved) : reserved_(reserved) {}

    Index outputs() const { return static_cast<Index>(tasks_.size()); }
    const Weights<Real>& task(Index j) const { return tasks_[static_cast<std::size_t>(j)].weights(); }

    // New tasks, and new features of a task, start at zero.
    void grow(std::span<const Index> widths) {
        while (tasks_.size() < widths.size()) tasks_.emplace_back(reserved_);
        for (std::size_t j = 0; j < widths.size(); ++j) tasks_[j].grow(widths[j], 1);
        line_.curvatures.resize(tasks_.size());
    }

    void score(std::span<const Row<Real>> x, Real* out) const {
        for (std::size_t j = 0; j < x.size(); ++j) tasks_[j].score(x[j], out + j);
    }
    void tick() {}

    double measure(std::span<const Row<Real>> x) {
        double most = 0;
        for (std::size_t j = 0; j < x.size(); ++j) most = std::max(most, line_.curvatures[j] = squared_norm(x[j]));
        return most;
    }

    Quadratics& line(std::span<const Row<Real>>, const Settings& set, double weight) {
        line_.cap = set.C * weight;
        return line_;
    }

    double advance(std::span<const Row<Real>> x, const Step& step, const Real* scores) {
        double rise = 0;
        for (std::size_t i = 0; i < step.size(); ++i) {
            const Index j = step.outputs()[i];
            const double alpha = step.alphas()[i];
            Real* weights = tasks_[static_cast<std::size_t>(j)].weights().origin();
            x[static_cast<std::size_t>(j)].each(
                [&](Index feature, Real value) { weights[feature] += value * static_cast<Real>(alpha); });
            rise += line_.rise(j, static_cast<double>(scores[j]), alpha);
        }
        return rise;
    }

    double conjugate() const {
        double sum = 0;
        for (const auto& task : tasks_) sum += sum_of_squares(task.weights());
        return sum / 2;
    }

    void archive(Archive& to) {
        for (std::size_t j = 0; j < tasks_.size(); ++j)
            to.weights(("weights of task " + std::to_string(j)).c_str(), tasks_[j].weights());
    }

private:
    Index reserved_;
    std::vector<Linear<Real>> tasks_;
    Quadratics line_;
};

}  // namespace hinge
