"""Multi-label ranking by pairs: ANSGD, SGD and MMP, each in its plain dense form (MATH.md section D).

``M`` is (k, n): a row a label, the intercept a feature of value 1 that the caller puts in. A round without relevant or
without irrelevant labels, or of weight 0, is none: t stays. A weight multiplies the round's gradient. The trajectory's
average is the mean of M after each round. At the kink of a hinge the subgradient is 0; tied scores count as wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oracle.label_ranking import scores

Array = np.ndarray[Any, np.dtype[Any]]


def violations(s: Array, in_Y: Array) -> Array:
    """Compute ``1 - s_k + s_l``, a row a relevant label k, a column an irrelevant label l."""
    return 1 - s[in_Y][:, None] + s[~in_Y]


def is_round(in_Y: Array) -> bool:
    """Say whether there is a pair at all."""
    return bool(in_Y.any() and not in_Y.all())


def average_hinge(s: Array, in_Y: Array) -> float:
    """Compute ``R = (1/N) sum_{k in Y, l not in Y} [1 - s_k + s_l]+``."""
    return float(np.maximum(violations(s, in_Y), 0).mean())


def ranking_error(s: Array, in_Y: Array) -> float:
    """Compute the share of the pairs that are in wrong order or tied."""
    return float((s[in_Y][:, None] <= s[~in_Y]).mean())


def smoothed_hinge(s: Array, in_Y: Array, a: float) -> float:
    """Compute ``max_{0 <= beta <= 1} sum (beta (1 - s_k + s_l) / N - a beta^2 / 2)``."""
    v, beta = violations(s, in_Y), betas(s, in_Y, a)
    return float((beta * v / v.size - a * beta**2 / 2).sum())


def betas(s: Array, in_Y: Array, a: float) -> Array:
    """Compute ``clip(z_l - z_k, 0, 1)``; for a = 0 its limit, 1 where the hinge is positive."""
    N = int(in_Y.sum() * (~in_Y).sum())
    if a == 0:
        return (violations(s, in_Y) > 0).astype(float)
    z_k, z_l = (s[in_Y] - 0.5) / (a * N), (s[~in_Y] + 0.5) / (a * N)
    return np.clip(z_l - z_k[:, None], 0, 1)


def zetas(beta: Array, in_Y: Array) -> Array:
    """Compute ``-sum_l beta_kl`` on Y and ``sum_k beta_kl`` off it."""
    zeta = np.empty(in_Y.size)
    zeta[in_Y], zeta[~in_Y] = -beta.sum(axis=1), beta.sum(axis=0)
    return zeta


def objective(M: Array, X: Array, Y: Array, lam: float) -> float:
    """Compute ``lambda/2 ||M||_F^2`` plus the mean of R over the rows that have a pair."""
    losses = [average_hinge(M @ x, y) for x, y in zip(X, Y.astype(bool), strict=True) if is_round(y)]
    return float(lam / 2 * (M**2).sum() + np.mean(losses))


class Pairwise:
    """What the three have in common: M, the average, t, and the loss and error of M before each move."""

    def __init__(self, n: int, k: int) -> None:
        self.M, self.total, self.t = np.zeros((k, n)), np.zeros((k, n)), 0

    @property
    def average(self) -> Array:
        """The mean of M_1 .. M_t."""
        return self.total / max(self.t, 1)

    def round(
        self, x: ArrayLike, relevant: Iterable[int], weight: float = 1.0, alive: int | None = None
    ) -> tuple[float, float]:
        """Return loss and error, and move. Labels from ``alive`` on do not exist yet and take no part."""
        x, k = np.asarray(x, dtype=np.float64), len(self.M) if alive is None else alive
        in_Y = np.isin(np.arange(k), list(relevant))
        if not is_round(in_Y):
            return 0.0, 0.0
        s = scores(self.M[:k], x)
        if weight > 0:
            self.t += 1
            self.move(x, in_Y, weight)
            self.total = self.total + self.M
        return average_hinge(s, in_Y), ranking_error(s, in_Y)

    def gradient(self, at: Array, x: Array, in_Y: Array, a: float, weight: float) -> Array:
        """Compute the gradient of the (smoothed) R."""
        zeta = np.zeros(len(at))
        zeta[: in_Y.size] = zetas(betas(scores(at[: in_Y.size], x), in_Y, a), in_Y)
        return weight * np.outer(zeta, x) / (in_Y.sum() * (~in_Y).sum())


class Ansgd(Pairwise):
    """Ouyang and Gray's accelerated stochastic gradient on the smoothed hinge.

    ``lipschitz`` is L, or "auto" for the largest ``weight k ||x||^2 / N^2`` so far.

    Examples
    --------
    >>> learner = Ansgd(1, 3, lam=0.5)
    >>> learner.round([1.0], {0})
    (1.0, 1.0)
    >>> learner.M.ravel()
    array([ 0.28571429, -0.14285714, -0.14285714])
    """

    def __init__(self, n: int, k: int, lam: float, lipschitz: float | str = 1.0) -> None:
        super().__init__(n, k)
        self.lam, self.lipschitz, self.L, self.Psi = lam, lipschitz, 0.0, np.zeros((k, n))

    def move(self, x: Array, in_Y: Array, weight: float) -> None:
        """Take a round's step, t counting from 1."""
        N, lam = int(in_Y.sum() * (~in_Y).sum()), self.lam
        self.L = self.lipschitz if self.lipschitz != "auto" else max(self.L, weight * in_Y.size * x @ x / N**2)
        a = 2 / (self.t + 1)
        v = lam * (a + 1 / (2 * a) - 1) + self.L
        eta = a / (lam + v)
        U = ((1 - a) * (lam + v) * self.M + a * v * self.Psi) / (lam * (1 - a) + v)
        G = self.gradient(U, x, in_Y, a, weight)
        self.M = U - eta * (G + lam * U)
        self.Psi = (v * self.Psi - G) / (lam + v)


class Sgd(Pairwise):
    """The subgradient method with steps ``1 / (lambda (t + offset))``, t counting from 1."""

    def __init__(self, n: int, k: int, lam: float, offset: float = 1000.0) -> None:
        super().__init__(n, k)
        self.lam, self.offset = lam, offset

    def move(self, x: Array, in_Y: Array, weight: float) -> None:
        """Take a round's step."""
        eta = 1 / (self.lam * (self.t + self.offset))
        self.M = self.M - eta * (self.gradient(self.M, x, in_Y, 0, weight) + self.lam * self.M)


class Mmp(Pairwise):
    """Crammer and Singer's multi-class multi-label Perceptron."""

    def __init__(self, n: int, k: int, update: str = "uniform") -> None:
        super().__init__(n, k)
        self.update = update

    def move(self, x: Array, in_Y: Array, weight: float) -> None:
        """Move along the pairs in wrong order, in equal shares, or along the worst one (ties: the lowest index)."""
        s = scores(self.M[: in_Y.size], x)
        wrong = (s[in_Y][:, None] <= s[~in_Y]).astype(float)
        if self.update == "max":
            worst = np.zeros_like(wrong)
            worst[np.argmin(s[in_Y]), np.argmax(s[~in_Y])] = wrong.any()
            wrong = worst
        step = np.zeros(len(self.M))
        step[: in_Y.size] = -zetas(wrong, in_Y) / max(wrong.sum(), 1)
        self.M = self.M + weight * np.outer(step, x)
