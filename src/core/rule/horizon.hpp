// Finite and infinite horizon: along the steps that find most of the loss, argmax <tau, l> over the dual ball.
#pragma once

#include "../judgement.hpp"
#include "../region.hpp"
#include "../solve/task_steps.hpp"
#include "../step.hpp"
#include "reach.hpp"

namespace hinge {

// As far as C (section 3). A round with an error gains C ||l|| - sum tau^2 q / 2, where ||l|| >= gamma alone and
// ||tau||_2 <= rho C.
class FiniteHorizon : public Reach {
public:
    static bool moves(const Judgement& seen) { return seen.loss > 0; }
    double least_gain(double gamma, double C, double R2) const {
        const double length = remoteness * C;
        return gamma * alone * C - R2 * length * length;
    }

    template <class Geometry, class Line>
    void choose(const TaskBall& region, Geometry&, const Line& line, Step& step) {
        put(region, region.shared->finite(line.cap), step);
    }
};

// As far as min(C, ||l|| / (R^2 rho^2)) (section 4). What a round gains grows with ||l||, unless R is set too short.
class InfiniteHorizon : public Reach {
public:
    static bool moves(const Judgement& seen) { return seen.loss > 0; }
    double least_gain(double gamma, double C, double R2) const {
        const double least = gamma * alone, reach = this->reach();
        const double far = C * reach <= least ? C : least / reach;
        return far * least - R2 * far * far * remoteness * remoteness;
    }

    template <class Geometry, class Line>
    void choose(const TaskBall& region, Geometry&, const Line& line, Step& step) {
        put(region, region.shared->infinite(line.cap, reach()), step);
    }

private:
    double reach() const { return squared_radius() * remoteness * remoteness; }
};

}  // namespace hinge
