// Many rounds at once through the solvers of solve/shared_loss.hpp, for tests/test_multitask_solvers.py.
#include "core/solve/shared_loss.hpp"

namespace {

hinge::DualBall ball(const double* norm) {
    if (norm[0] == 0) return hinge::DualBall::p_norm(norm[1]);
    if (norm[0] == 1) return hinge::DualBall::r_max(norm[1]);
    return hinge::DualBall::interpolated(norm[1], norm[2], norm[3]);
}

}  // namespace

// norm: {0, p}, {1, r} or {2, p1, p2, alpha}; update: 0 finite, 1 infinite, 2 implicit. Rounds lie behind one another;
// `values` receives each one's ||l||, unless it is null.
extern "C" void solve_rounds(const double* norm, int update, double C, double reach, std::size_t rounds, std::size_t k,
                             const double* losses, const double* squared_norms, double* taus, double* values) {
    hinge::solve::SharedLoss solver(ball(norm));
    for (std::size_t t = 0; t < rounds; ++t) {
        const std::span<const double> l(losses + t * k, k);
        const std::span<double> tau(taus + t * k, k);
        if (values) values[t] = solver.value(l);
        if (update == 0)
            solver.finite(l, C, tau);
        else if (update == 1)
            solver.infinite(l, C, reach, tau);
        else
            solver.implicit(l, {squared_norms + t * k, k}, C, tau);
    }
}
