// Where the steps of parallel tasks may go: {tau >= 0 : ||tau||* <= C}, the dual ball of an absolute norm.
//
// Every norm here has a dual that is one q-norm or the larger of two, so the ball is one or two bounds
// ||tau||_q <= radius C.
#pragma once

#include <algorithm>
#include <limits>

namespace hinge {

// ||tau||_q <= radius, kept as the slope q - 1 = 1/(p - 1): the gradient of ||tau||_q^q / q is tau^slope.
struct PowerBound {
    double slope;
    double radius;
};

struct DualBall {
    double cap = std::numeric_limits<double>::infinity();  // tau_j <= cap: q = infinity, p = 1
    PowerBound bounds[2] = {};                              // finite q, the smaller one first
    int count = 0;

    static DualBall p_norm(double p) {
        DualBall ball;
        ball.add(p, 1.0);
        return ball;
    }
    static DualBall r_max(double r) { return interpolated(1.0, std::numeric_limits<double>::infinity(), r); }
    // K(p1, p2, alpha) = min ||w||_p1 + alpha ||z||_p2 over w + z = v
    static DualBall interpolated(double p1, double p2, double alpha) {
        DualBall ball;
        ball.add(p1, 1.0);
        ball.add(p2, alpha);
        ball.drop_what_follows();
        return ball;
    }

    // How far one task alone may go, which is also the norm of a single loss of 1.
    double alone() const {
        double most = cap;
        for (int i = 0; i < count; ++i) most = std::min(most, bounds[i].radius);
        return most;
    }

    bool capped() const { return cap < std::numeric_limits<double>::infinity(); }

private:
    void add(double p, double radius) {
        if (p == 1) {
            cap = std::min(cap, radius);
            return;
        }
        // Beyond 1e8 the p-norm is the largest value to within log(k)/p, which is closer than float64 can tell its powers.
        const PowerBound bound{p > 1e8 ? 0.0 : 1 / (p - 1), radius};
        if (count == 1 && bounds[0].slope == bound.slope)
            bounds[0].radius = std::min(bounds[0].radius, radius);
        else
            bounds[count++] = bound;
        if (count == 2 && bounds[1].slope < bounds[0].slope) std::swap(bounds[0], bounds[1]);
    }

    // A larger q has a smaller norm: its bound follows from the other one unless its radius is smaller.
    void drop_what_follows() {
        if (count == 2 && bounds[1].radius >= bounds[0].radius) count = 1;
        if (count == 1 && cap >= bounds[0].radius) cap = std::numeric_limits<double>::infinity();
    }
};

}  // namespace hinge
