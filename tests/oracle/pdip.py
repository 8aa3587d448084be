"""The primal-dual interior point method for one round of label ranking (MATH.md section A)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]
MOST_ITERATIONS = 60


def newton_step(
    a: Array, lam: Array, nu: Array, first: Array, second: Array, p: Array, A: Array, mu: float
) -> tuple[Array, Array, Array]:
    """Solve the linearised optimality conditions by eliminating all but the two multipliers nu.

    ``z_r = f''_r + lambda_r p_r^2 / s_r``, ``u_r = -f'_r - p_r mu / s_r - nu_1 A_1r - nu_2 A_2r`` and
    ``z_r da_r = u_r - A_1r dnu_1 - A_2r dnu_2`` with ``A da = 0``, where ``s = -p a`` (q is 0).
    """
    s = -p * a
    z = second + lam * p**2 / s
    u = -first - p * mu / s - A.T @ nu
    dnu = np.linalg.solve((A / z) @ A.T, (A / z) @ u)
    da = (u - A.T @ dnu) / z
    dlam = (lam * p * da + mu) / s - lam
    return da, dlam, dnu


def pdip(
    f1: Callable[[Array], Array],
    f2: Callable[[Array], Array],
    C: float,
    in_Y: Bools,
    gamma: float,
    gap: float = 1e-8,
) -> tuple[Array, int]:
    """Minimise ``sum_y G(theta_y + alpha_y x) - gamma sum_Y alpha_y`` over the constraint set of one round.

    The variables are the k alphas and the slack ``xi = C - sum_Y alpha``, each with its sign constraint, tied
    by ``sum_y alpha_y = 0`` and ``sum_Y alpha_y + xi = C``.

    Parameters
    ----------
    f1, f2 : callable
        First and second derivative of ``G(theta_y + alpha_y x)`` in ``alpha_y``, as vectors over y.
    C : float
        The most that the alphas on Y may sum to; positive.
    in_Y : array of bool
        Which labels are relevant; neither none nor all.
    gap : float
        Stop when the surrogate gap eta and the norm of the dual residual are at most this. Where rounding
        does not let the residual fall any further, the method stops as well.

    Returns
    -------
    alpha : array
    iterations : int

    Examples
    --------
    Two labels with scores 0 and an instance of squared norm 1: the passive-aggressive step, 1/2.

    >>> alpha, iterations = pdip(lambda a: a, np.ones_like, C=1.0, in_Y=np.array([True, False]), gamma=1.0)
    >>> alpha.round(6), iterations < 25
    (array([ 0.5, -0.5]), True)
    """
    k = in_Y.size
    A = np.vstack([np.append(np.ones(k), 0.0), np.append(in_Y, 1.0)])
    p = np.append(np.where(in_Y, -1.0, 1.0), -1.0)
    a = np.append(np.where(in_Y, C / (2 * np.sum(in_Y)), -C / (2 * np.sum(~in_Y))), C / 2)
    lam, nu = np.ones(k + 1), np.zeros(2)

    def first(a: Array) -> Array:
        return np.append(f1(a[:k]) - gamma * in_Y, 0.0)

    def stationarity(a: Array, lam: Array, nu: Array) -> Array:
        return first(a) + lam * p + A.T @ nu

    def residual(a: Array, lam: Array, nu: Array, mu: float) -> float:
        if np.any(p * a >= 0) or np.any(lam <= 0):
            return np.inf
        return float(np.linalg.norm([*stationarity(a, lam, nu), *(lam * -p * a - mu)]))

    for iteration in range(MOST_ITERATIONS):
        eta = float(lam @ (-p * a))
        if eta <= gap and np.linalg.norm(stationarity(a, lam, nu)) <= gap:
            return a[:k], iteration
        mu = 0.1 * eta / (k + 1)
        da, dlam, dnu = newton_step(a, lam, nu, first(a), np.append(f2(a[:k]), 0.0), p, A, mu)
        bounds = np.concatenate([-(a / da)[p * da > 0], -(lam / dlam)[dlam < 0]])
        step = min(1.0, 0.99 * bounds.min(initial=np.inf))
        now = residual(a, lam, nu, mu)
        while residual(a + step * da, lam + step * dlam, nu + step * dnu, mu) > (1 - 0.01 * step) * now:
            step /= 2
            if step < 1e-9:
                return a[:k], iteration
        a, lam, nu = a + step * da, lam + step * dlam, nu + step * dnu
    return a[:k], MOST_ITERATIONS
