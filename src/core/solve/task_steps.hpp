// The best steps of parallel tasks: with one instance for all of them, or each with its own.
#pragma once

#include <span>
#include <vector>

#include "../region.hpp"
#include "../step.hpp"
#include "best.hpp"
#include "quadratic.hpp"
#include "shared_loss.hpp"

namespace hinge {

// G along each task's own instance: a parabola with a curvature of its own.
struct Quadratics {
    std::vector<double> curvatures;  // by task
    double cap = 0;                  // the dual norm of the steps at most

    double of(Index task) const { return curvatures[static_cast<std::size_t>(task)]; }
    double rise(Index task, double score, double alpha) const { return alpha * (score + alpha * of(task) / 2); }
};

// What a solver found, as signed steps of the tasks that move.
inline void put(const TaskBall& region, std::span<const double> taus, Step& step) {
    step.set_positive(region.tasks, region.signs, taus);
}

namespace solve {

template <class Line>
class BestOfTasks {
public:
    void best(const TaskBall& region, const Line& line, Step& step) {
        curvatures_.resize(region.tasks.size());
        for (std::size_t i = 0; i < curvatures_.size(); ++i) curvatures_[i] = line.of(region.tasks[i]);
        put(region, region.shared->implicit(curvatures_, line.cap), step);
    }

private:
    std::vector<double> curvatures_;
};

template <>
class Best<TaskBall, Quadratic> : public BestOfTasks<Quadratic> {};
template <>
class Best<TaskBall, Quadratics> : public BestOfTasks<Quadratics> {};

}  // namespace solve
}  // namespace hinge
