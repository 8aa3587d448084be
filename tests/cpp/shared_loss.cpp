// Many rounds at once through the solvers of solve/shared_loss.hpp, for tests/test_multitask_solvers.py.
#include "core/solve/shared_loss.hpp"

namespace {

// {p} or {p1, p2, alpha}
hinge::DualBall ball(const double* norm, int numbers) {
    if (numbers == 1) return hinge::DualBall::p_norm(norm[0]);
    return hinge::DualBall::interpolated(norm[0], norm[1], norm[2]);
}

}  // namespace

// update: 0 finite, 1 infinite, 2 implicit. Rounds lie behind one another, k tasks each; `values` receives each one's
// ||l||.
extern "C" void solve_rounds(const double* norm, int numbers, int update, double C, double reach, std::size_t rounds,
                             std::size_t k, const double* losses, const double* squared_norms, double* taus,
                             double* values) {
    hinge::solve::SharedLoss solver(ball(norm, numbers));
    std::vector<std::size_t> tasks;
    std::vector<double> positive, curvatures;
    for (std::size_t t = 0; t < rounds; ++t, losses += k, squared_norms += k, taus += k) {
        tasks.clear();
        positive.clear();
        curvatures.clear();
        for (std::size_t j = 0; j < k; ++j) {
            taus[j] = 0;
            if (!(losses[j] > 0)) continue;
            tasks.push_back(j);
            positive.push_back(losses[j]);
            curvatures.push_back(squared_norms[j]);
        }
        values[t] = solver.value(positive);
        const std::span<const double> steps = update == 0   ? solver.finite(C)
                                              : update == 1 ? solver.infinite(C, reach)
                                                            : solver.implicit(curvatures, C);
        for (std::size_t i = 0; i < tasks.size(); ++i) taus[tasks[i]] = steps[i];
    }
}

// The same round many times over, for benchmarks/multitask.py.
extern "C" void repeat_a_solve(const double* norm, int numbers, double C, std::size_t k, const double* losses,
                               const double* squared_norms, int repeats) {
    hinge::solve::SharedLoss solver(ball(norm, numbers));
    for (int i = 0; i < repeats; ++i) {
        solver.value({losses, k});
        solver.implicit({squared_norms, k}, C);
    }
}
