"""Ordered classes with interval labels: PRIL, with a kernel, multiplicative, and its baselines (MATH.md section B).

Classes are ``1..K``, intervals ``lo..hi`` inclusive, thresholds ``b[i-1]`` for ``i`` in ``1..K-1``. A class is
predicted by counting the thresholds at or below the score, so a score on a threshold belongs to the class above;
as a *constraint* it is violated from both sides. A weight multiplies its round's step; a round of weight zero is
scored and not learned: no state moves, the step's counters included. The thresholds are put in order, by isotonic
projection, only after a round that broke the order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Array = np.ndarray[Any, np.dtype[Any]]
Kernel = Callable[[Array, Array], float]


def signs(K: int, lo: int, hi: int) -> Array:
    """Compute z: +1 where the score must pass the threshold, -1 where it must not, 0 inside the interval.

    Examples
    --------
    >>> signs(5, 2, 3)
    array([ 1.,  0., -1., -1.])
    """
    i = np.arange(1, K)
    return np.where(i < lo, 1.0, np.where(i >= hi, -1.0, 0.0))


def predicted(f: float, b: Array) -> int:
    """Count the thresholds at or below the score, from 1."""
    return 1 + int((b <= f).sum())


def classes_outside(f: float, b: Array, lo: int, hi: int) -> int:
    """Compute L_MAE, ``#{i < lo : f < b_i} + #{i >= hi : f >= b_i}``."""
    i = np.arange(1, b.size + 1)
    return int(((i < lo) & (f < b)).sum() + ((i >= hi) & (f >= b)).sum())


def interval_hinge(f: float, b: Array, lo: int, hi: int) -> float:
    """Compute L_IMC, ``sum_i [-z_i (f - b_i)]+``."""
    return float(np.maximum(0.0, -signs(b.size + 1, lo, hi) * (f - b)).sum())


def violations(f: float, b: Array, lo: int, hi: int) -> Array:
    """Compute tau: z_i where ``z_i (f - b_i) <= 0``, else 0."""
    z = signs(b.size + 1, lo, hi)
    return np.where(z * (f - b) <= 0, z, 0.0)


def isotonic(b: Array) -> Array:
    """Project onto the non-decreasing sequences: pool two neighbours that are out of order until there are none.

    Examples
    --------
    >>> isotonic(np.array([3.0, 1.0, 2.0, 5.0])).tolist()
    [2.0, 2.0, 2.0, 5.0]
    """
    if (b[1:] >= b[:-1]).all():
        return b
    pools = [b[i : i + 1] for i in range(b.size)]
    while (out := [i for i in range(len(pools) - 1) if pools[i].mean() > pools[i + 1].mean()]) != []:
        i = out[0]
        pools[i : i + 2] = [np.concatenate(pools[i : i + 2])]
    return np.concatenate([np.full(pool.size, pool.mean()) for pool in pools])


@dataclass(frozen=True)
class Round:
    """What a round gave before its update: class, score, L_IMC, L_MAE, and the tau of its violated constraints."""

    prediction: int
    score: float
    loss: float
    error: int
    tau: Array


def judge(f: float, b: Array, lo: int, hi: int) -> Round:
    """Collect what there is to say about a score before anything moves."""
    tau = violations(f, b, lo, hi)
    return Round(predicted(f, b), f, interval_hinge(f, b, lo, hi), classes_outside(f, b, lo, hi), tau)


class PRIL:
    """Additive PRIL: a subgradient step on L_IMC a round, from zero.

    Parameters
    ----------
    d, K : int
        How many features and classes.
    step : {"unit", "sqrt"} or float
        1; ``radius / (G sqrt t)`` within the ball of that radius, G the largest ``sqrt(n^2 ||x||^2 + n)`` so far,
        n the constraints of the round (times its weight); or a constant.
    radius : float
        Lambda. With the sqrt step everything scales with it, so that it changes no prediction.

    Examples
    --------
    >>> learner = PRIL(2, 3)
    >>> learner.round([1.0, 0.0], 1, 1).prediction, learner.w.tolist(), learner.b.tolist()
    (3, [-2.0, 0.0], [1.0, 1.0])
    """

    def __init__(self, d: int, K: int, step: str | float = "unit", radius: float = 1.0) -> None:
        self.w, self.b = np.zeros(d), np.zeros(K - 1)
        self.step, self.radius, self.G, self.t = step, radius, 0.0, 0

    def round(self, x: ArrayLike, lo: int, hi: int, weight: float = 1.0) -> Round:
        """Predict, suffer, move."""
        x = np.asarray(x, dtype=np.float64)
        before = judge(float(self.w @ x), self.b, lo, hi)
        if weight == 0:
            return before
        step = weight * self.step_for(x, lo, hi, weight)
        self.w = self.w + step * before.tau.sum() * x
        self.b = isotonic(self.b - step * before.tau)
        if self.step == "sqrt":
            norm = np.sqrt(self.w @ self.w + self.b @ self.b)
            shrink = min(1.0, self.radius / norm) if norm > 0 else 1.0
            self.w, self.b = shrink * self.w, shrink * self.b
        return before

    def step_for(self, x: Array, lo: int, hi: int, weight: float) -> float:
        """Compute the step of a round of weight one."""
        if self.step != "sqrt":
            return 1.0 if self.step == "unit" else float(self.step)
        n = np.abs(signs(self.b.size + 1, lo, hi)).sum()
        self.t, self.G = self.t + 1, max(self.G, weight * float(np.sqrt(n**2 * (x @ x) + n)))
        return self.radius / (self.G * np.sqrt(self.t)) if self.G > 0 else 0.0


class KernelPRIL:
    """PRIL with the unit step and a kernel; the thresholds forget nothing when the budget removes a row.

    Parameters
    ----------
    K : int
        How many classes.
    kernel : callable
        ``kernel(a, b)``.
    budget : int or None
        The most rows to keep. Beyond it one leaves, the oldest of them where several would do.
    removal : {"oldest", "smallest", "first-pair", "least-harm", "span"}
        Who leaves: the oldest; the one with the least norm ``|a_s| sqrt k(s, s)``; that one, projected onto the
        row nearest in angle; the one whose projection onto its nearest row changes the function least; the one
        whose projection onto the span of all others does.

    Attributes
    ----------
    rows, a : lists
        The support, oldest first, and its coefficients, the sums of tau.

    Examples
    --------
    >>> learner = KernelPRIL(3, lambda a, b: float(a @ b))
    >>> learner.round([1.0, 0.0], 1, 1).prediction, learner.a, learner.b.tolist()
    (3, [-2.0], [1.0, 1.0])
    """

    def __init__(self, K: int, kernel: Kernel, budget: int | None = None, removal: str = "oldest") -> None:
        self.kernel, self.budget, self.remove = kernel, budget, REMOVALS[removal]
        self.rows: list[Array] = []
        self.a: list[float] = []
        self.gram, self.b = np.zeros((0, 0)), np.zeros(K - 1)

    def round(self, x: ArrayLike, lo: int, hi: int, weight: float = 1.0) -> Round:
        """Predict, suffer, move."""
        x = np.asarray(x, dtype=np.float64)
        k = np.array([self.kernel(s, x) for s in self.rows])
        before = judge(float(np.dot(self.a, k)) if self.rows else 0.0, self.b, lo, hi)
        self.b = isotonic(self.b - weight * before.tau)
        if weight * before.tau.sum() != 0:
            self.rows, self.a = [*self.rows, x], [*self.a, weight * float(before.tau.sum())]
            self.gram = np.block([[self.gram, k[:, None]], [k[None, :], np.array([[self.kernel(x, x)]])]])
            if self.budget is not None and len(self.rows) > self.budget:
                self.drop(*self.remove(np.array(self.a), self.gram))
        return before

    def drop(self, s: int, given: Array) -> None:
        """Let row s leave; ``given[n]`` of the function that it carried goes to row n."""
        kept = np.arange(len(self.rows)) != s
        self.a = [float(v) for v in (np.array(self.a) + given)[kept]]
        self.rows = [row for row, keep in zip(self.rows, kept, strict=True) if keep]
        self.gram = self.gram[kept][:, kept]


Removal = tuple[int, Array]


def nearest(gram: Array) -> tuple[Array, Array]:
    """Find each row's partner, the one whose line it is nearest to, and the squared distance from that line."""
    norms = np.diag(gram)
    explained = np.divide(gram**2, norms[None, :], out=np.zeros_like(gram), where=norms[None, :] > 0)
    np.fill_diagonal(explained, -np.inf)
    partner = explained.argmax(axis=1)
    return partner, np.maximum(0.0, norms - explained[np.arange(norms.size), partner])


def onto(a: Array, gram: Array, s: int, partner: int) -> Removal:
    """Give what row s carries to its partner, as far as the partner can carry it."""
    given = np.zeros(a.size)
    if gram[partner, partner] > 0:
        given[partner] = a[s] * gram[s, partner] / gram[partner, partner]
    return s, given


def oldest(a: Array, gram: Array) -> Removal:
    """Remove the oldest row, with all it carried."""
    return 0, np.zeros(a.size)


def smallest(a: Array, gram: Array) -> Removal:
    """Remove the row of least norm, with all it carried."""
    return int(np.argmin(a**2 * np.diag(gram))), np.zeros(a.size)


def first_pair(a: Array, gram: Array) -> Removal:
    """Project the row of least norm onto its nearest row."""
    s = smallest(a, gram)[0]
    return onto(a, gram, s, int(nearest(gram)[0][s]))


def least_harm(a: Array, gram: Array) -> Removal:
    """Project the row that can be carried best onto its nearest row."""
    partner, distance = nearest(gram)
    s = int(np.argmin(a**2 * distance))
    return onto(a, gram, s, int(partner[s]))


def span(a: Array, gram: Array) -> Removal:
    """Project the row that can be carried best onto the span of all others (a ridge keeps it solvable)."""
    inverse = np.linalg.inv(gram + 1e-8 * np.diag(gram).max() * np.eye(a.size))
    s = int(np.argmin(a**2 / np.diag(inverse)))
    return s, -a[s] * inverse[s] / inverse[s, s]


REMOVALS: dict[str, Callable[[Array, Array], Removal]] = {
    "oldest": oldest,
    "smallest": smallest,
    "first-pair": first_pair,
    "least-harm": least_harm,
    "span": span,
}


class MPRIL:
    """Multiplicative PRIL: the exponentiated step on L_IMC, on the simplex or, signed, on the l1 ball.

    Parameters
    ----------
    d, K : int
        How many features and classes; ``||x||_inf <= 1``.
    eta : float
        The step.
    signed : bool
        Double the features and the thresholds, ``(x, -x)`` and ``(1, -1)``; else as in the paper, ``w, b >= 0``.
    literal : bool
        The paper's recursion in floats, whose order slips by an ulp; else from the counters.

    Attributes
    ----------
    n : array (K-1,)
        The counters: the weighted sums of tau, so that ``b_i`` grows with ``-n_i``.
    u : array (d,)
        The weighted sums of ``x_j sum tau``.

    Examples
    --------
    >>> learner = MPRIL(1, 3, eta=1.0, signed=False)
    >>> learner.w, learner.b
    (array([0.33333333]), array([0.33333333, 0.33333333]))
    >>> MPRIL(1, 3, eta=1.0).w, MPRIL(1, 3, eta=1.0).b
    (array([0.]), array([0., 0.]))
    """

    def __init__(self, d: int, K: int, eta: float, signed: bool = True, literal: bool = False) -> None:
        self.eta, self.signed, self.literal = eta, signed, literal
        self.u, self.n = np.zeros(d), np.zeros(K - 1)
        self.v = np.full((2 if signed else 1) * (d + K - 1), 1.0)
        self.v /= self.v.size

    @property
    def both(self) -> Array:
        """Weights, then thresholds."""
        if self.literal:
            return self.v[: self.v.size // 2] - self.v[self.v.size // 2 :] if self.signed else self.v
        theta = self.eta * np.concatenate([self.u, -self.n])
        top = np.abs(theta).max() if self.signed else theta.max()
        up = np.exp(theta - top)
        if not self.signed:
            return up / up.sum()
        down = np.exp(-theta - top)
        return (up - down) / (up + down).sum()

    @property
    def w(self) -> Array:
        """The weights."""
        return self.both[: self.u.size]

    @property
    def b(self) -> Array:
        """The thresholds; from the counters, exp's last bit may not undo the order."""
        b = self.both[self.u.size :]
        return b if self.literal else np.maximum.accumulate(b)

    def round(self, x: ArrayLike, lo: int, hi: int, weight: float = 1.0) -> Round:
        """Predict, suffer, move."""
        x = np.asarray(x, dtype=np.float64)
        if np.abs(x).max() > 1:
            raise ValueError("the largest |x_j| is above 1")
        before = judge(float(self.w @ x), self.b, lo, hi)
        move = weight * np.concatenate([before.tau.sum() * x, -before.tau])
        self.u, self.n = self.u + move[: x.size], -isotonic(-self.n + move[x.size :])
        grown = self.v * np.exp(self.eta * (np.concatenate([move, -move]) if self.signed else move))
        self.v = grown / grown.sum()
        return before


def best_eta(K: int, c: int, g: float) -> float:
    """Compute the step that the bound asks for, given a margin ``0 < g < K-c-1``: ``artanh(g/n)/n``, n = K-c-1.

    Examples
    --------
    >>> n, g = 4, 0.5
    >>> bool(np.isclose(best_eta(5, 0, g), np.log((n + g) / (n - g)) / (2 * n)))
    True
    """
    return float(np.arctanh(g / (K - c - 1)) / (K - c - 1))


def exact(lo: int, hi: int) -> int:
    """Read an exact label; the baselines know no other."""
    if lo != hi:
        raise ValueError(f"an exact label is needed, got the interval {lo}..{hi}")
    return lo


class PRank:
    """Crammer and Singer's ranking Perceptron, as published: it moves only when the predicted class is wrong.

    PRIL moves also when the class is right and the score lies *on* a threshold that it must pass (round 1 with
    the label K; any round with ``x = 0``). ``ties=True`` counts that as a mistake too.
    """

    def __init__(self, d: int, K: int, ties: bool = False) -> None:
        self.w, self.b, self.ties = np.zeros(d), np.zeros(K - 1), ties

    def round(self, x: ArrayLike, lo: int, hi: int, weight: float = 1.0) -> Round:
        """Predict, suffer, move."""
        x, y, K = np.asarray(x, dtype=np.float64), exact(lo, hi), self.b.size + 1
        f = float(self.w @ x)
        rank = next(r for r in range(1, K + 1) if r == K or f - self.b[r - 1] < 0)
        tau = np.zeros(K - 1)
        for r in range(1, K):
            y_r = -1.0 if y <= r else 1.0
            if (f - self.b[r - 1]) * y_r <= 0:
                tau[r - 1] = y_r
        if not self.ties and rank == y:
            tau[:] = 0.0
        result = Round(rank, f, interval_hinge(f, self.b, y, y), abs(rank - y), tau)
        self.w, self.b = self.w + weight * tau.sum() * x, isotonic(self.b - weight * tau)
        return result


class WidrowHoff:
    """Least mean squares on the class number, over (x, 1); the answer is rounded (halves up) and clipped.

    The step is ``step weight / (2 R^2)``, ``R^2`` the largest ``weight (||x||^2 + 1)`` so far: with R known beforehand
    and step 1 the weighted squared errors sum to at most ``2 (those of any u + R^2 ||u||^2)``.
    """

    def __init__(self, d: int, K: int, R2: float = 0.0, step: float = 1.0) -> None:
        self.w, self.b, self.K, self.R2, self.step = np.zeros(d), 0.0, K, R2, step

    def round(self, x: ArrayLike, lo: int, hi: int, weight: float = 1.0) -> Round:
        """Predict, suffer, move."""
        x, y = np.asarray(x, dtype=np.float64), exact(lo, hi)
        f = float(self.w @ x) + self.b
        prediction = int(np.clip(np.floor(f + 0.5), 1, self.K))
        if weight > 0:
            self.R2 = max(self.R2, weight * (float(x @ x) + 1))
            move = self.step * weight * (y - f) / (2 * self.R2)
            self.w, self.b = self.w + move * x, self.b + move
        return Round(prediction, f, (f - y) ** 2, abs(prediction - y), np.zeros(0))


class MulticlassPerceptron:
    """One prototype a class, over (x, 1); on a mistake, a tie included, the best wrong class loses x to the right one.

    The unit step from zero: any constant step gives the same predictions. Ties go to the lowest class.
    """

    def __init__(self, d: int, K: int) -> None:
        self.w, self.b = np.zeros((K, d)), np.zeros(K)

    def round(self, x: ArrayLike, lo: int, hi: int, weight: float = 1.0) -> Round:
        """Predict, suffer, move."""
        x, y = np.asarray(x, dtype=np.float64), exact(lo, hi)
        scores = self.w @ x + self.b
        prediction = 1 + int(np.argmax(scores))
        rival = int(np.argmax(np.where(np.arange(scores.size) == y - 1, -np.inf, scores)))
        margin = float(scores[y - 1] - scores[rival])
        if margin <= 0:
            for r, sign in ((y - 1, weight), (rival, -weight)):
                self.w[r] += sign * x
                self.b[r] += sign
        return Round(prediction, margin, max(0.0, -margin), abs(prediction - y), np.zeros(0))
