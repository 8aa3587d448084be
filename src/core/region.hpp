// Which coefficients of a round may move, and within which set. A problem hands one of these to a rule; solve/ holds
// one function for each (region, line) that exists.
#pragma once

#include <span>

#include "rows.hpp"
#include "step.hpp"

namespace hinge {

// One constraint: `up` rises by tau in [0, C], `down` falls by it. Its margin is what they differ by.
struct Pair {
    Index up = 0;
    Index down = 0;
    double margin = 0;  // score of up minus score of down
    double gamma = 0;   // the margin asked for
};

// One direction that an oracle found: its coefficient, on output 0, is in [0, C].
struct Ray {
    double gain = 0;    // delta: what a unit of the coefficient adds to the linear part of the dual
    double margin = 0;  // <w, direction>
};

// All constraints of a round: the coefficients of `ups` are >= 0 and sum to at most C, the others are <= 0, all of
// them sum to zero. `pair` is the constraint that is violated most.
template <class Real>
struct BalancedSimplex {
    Pair pair;
    std::span<const Index> ups;       // increasing
    std::span<const Real> up_scores;  // beside ups
    const Real* down_scores;          // by output; -infinity on ups
    Index outputs;
};

namespace solve {
class SharedLoss;
}

// Parallel tasks: tau >= 0 in the dual ball ||tau||* <= C of the norm that makes one loss of theirs, for the tasks with a
// loss; task j moves by sign_j tau_j along its own instance.
struct TaskBall {
    solve::SharedLoss* shared = nullptr;  // knows the norm, and has seen the losses
    std::span<const Index> tasks;         // with a loss, increasing
    std::span<const double> signs;        // beside tasks
};

// The constraint of a region that is violated most.
inline const Pair& worst(const Pair& pair) { return pair; }
inline const Ray& worst(const Ray& ray) { return ray; }
template <class Real>
const Pair& worst(const BalancedSimplex<Real>& region) {
    return region.pair;
}

inline void put(const Pair& pair, double tau, Step& step) {
    step.set(pair.up, tau);
    step.set(pair.down, -tau);
}
inline void put(const Ray&, double tau, Step& step) { step.set(0, tau); }

template <class Geometry>
void load(const Pair& pair, Geometry& geometry) {
    geometry.load(pair.up);
    geometry.load(pair.down);
}
template <class Geometry>
void load(const Ray&, Geometry& geometry) {
    geometry.load(0);
}

// How strongly the dual bends along the worst constraint: tau takes bend * tau^2 * <x, Hessian of G, x> off it at most.
template <class Region>
inline constexpr double bend = 1;
template <>
inline constexpr double bend<Ray> = 0.5;  // a pair moves two outputs, a ray one
template <>
inline constexpr double bend<TaskBall> = 0.5;

// The violated ones of so many constraints on one output: each moves by its sign, along their sum.
template <class Real>
struct FreeSigns {
    const Row<Real>* x;
    Index constraints;  // of the round, violated or not

    // ||their gradient||^2 is at most n^2 ||x||^2 + n: each pulls at x as well as at its threshold. (The paper's Theorem
    // 3 has n (||x||^2 + 1), which the first term exceeds.)
    double largest_square_gradient(double square_norm) const {
        const double n = constraints;
        return n * n * square_norm + n;
    }
};

// The sum of those that are violated as a row over features and reserved features, (S x, -tau), and its two parts: for
// a geometry that has features of its own.
template <class Real>
struct Pull : Row<Real> {
    Row<Real> instance{};
    double sum = 0;               // S
    std::span<const Index> rows;  // of the thresholds that move, and what they move by: -tau
    std::span<const Real> values;
};

// One output that should have been higher by so much.
template <class Real>
struct Residual {
    const Row<Real>* x;
    double residual;
};

}  // namespace hinge
