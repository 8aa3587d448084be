"""The objective of label pairs on all rows at once, minimised by L-BFGS until a gap is proven (MATH.md D)."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

__all__ = ["ALL_THREADS", "RankSvm"]

ALL_THREADS = 0
log = logging.getLogger("hinge")


class RankSvm:
    """The objective on all rows, its hinges smoothed by a parabola at their foot that shrinks until a gap is proven.

    At any weights W the slopes of the smoothed hinges, beta in [0, 1], are a dual point: no weights at all have an
    objective below ``mean beta - ||G||^2 / (2 alpha)``, G the slopes' gradient; nor below that of the slopes c beta,
    with the c in [0, 1] that is best.
    """

    most_numbers = 40_000_000  # that L-BFGS may keep, in 20 gradients and steps at most
    shrinks_by = 4.0
    least_length = 1e-13
    most_evaluations = 20_000

    def __init__(self, problem: Any, alpha: float) -> None:
        self.problem, self.alpha, self.length = problem, alpha, 1.0
        self.best = np.zeros((problem.features, problem.width))
        self.upper, self.lower, self.evaluations = np.inf, -np.inf, 0
        self.gap = self.smooth_gap = np.inf  # at the last weights: proven, and of the smoothed problem

    def __call__(self, flat: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the smoothed objective and its gradient; keep the best weights and the best bound."""
        W, gradient = flat.reshape(self.best.shape), np.empty(self.best.shape)
        smoothed, hinge, slope = self.problem.evaluate(W, self.length, ALL_THREADS, gradient)
        norm, steepness = self.alpha / 2 * float(flat @ flat), float(np.vdot(gradient, gradient))
        c = min(1.0, slope * self.alpha / steepness) if steepness > 0 else 1.0
        lower = c * slope - c * c * steepness / (2 * self.alpha)
        if norm + hinge < self.upper:
            self.upper, self.best = norm + hinge, W.copy()
        self.lower = max(self.lower, lower)
        gradient += self.alpha * W
        self.gap, self.smooth_gap = norm + hinge - lower, float(np.vdot(gradient, gradient)) / (2 * self.alpha)
        self.evaluations += 1
        return norm + smoothed, gradient.ravel()

    def solve(self, tol: float) -> None:
        """Bring the gap down to `tol`."""

        def stop_early(W: np.ndarray) -> None:
            solved = self.upper - self.lower <= tol or self.smooth_gap <= 0.3 * self.gap
            if solved or self.evaluations >= self.most_evaluations:
                raise StopIteration

        memory = min(20, max(5, self.most_numbers // (2 * self.best.size)))
        options = {"maxcor": memory, "ftol": 0.0, "gtol": 0.0, "maxiter": 5000, "maxfun": 10_000}
        W = self.best.ravel()
        # BLAS gains little from threads here, and on short vectors they only wait for one another, busily.
        with threadpool_limits(1, user_api="blas"):
            while self.length > self.least_length and self.evaluations < self.most_evaluations:
                W = minimize(self, W, jac=True, method="L-BFGS-B", callback=stop_early, options=options).x
                log.info(
                    "lbfgs: after %d evaluations the objective is %.9g; none is below %.9g",
                    self.evaluations,
                    self.upper,
                    self.lower,
                )
                if self.upper - self.lower <= tol:
                    return
                self.length /= self.shrinks_by
        warnings.warn(
            f"lbfgs stopped at a gap of {self.upper - self.lower:.1e} after {self.evaluations} evaluations; "
            f"tol={tol:g} was not reached",
            ConvergenceWarning,
            stacklevel=2,
        )
