"""Parallel tasks with a shared loss: three updates times the absolute norms (MATH.md section C).

A norm is written ``("p", p)``, ``("r-max", r)`` or ``("K", p1, p2, alpha)``. A score of zero is an error. Ties go to
the lowest index, but for tasks without an instance that tie in an implicit update: they share evenly what is left. A
task sits a round out where its y is NaN; its instance does not count for R then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

Array = np.ndarray[Any, np.dtype[Any]]
Norm = tuple[Any, ...]
Bound = tuple[float, float]  # (q, radius): ||tau||_q <= radius


def conjugate(p: float) -> float:
    """Return q with 1/p + 1/q = 1."""
    return np.inf if p == 1 else 1.0 if p == np.inf else p / (p - 1)


def dual_bounds(norm: Norm) -> list[Bound]:
    """Return the bounds whose larger one is the dual norm.

    Examples
    --------
    >>> dual_bounds(("r-max", 3)), dual_bounds(("p", 2))
    ([(inf, 1.0), (1.0, 3.0)], [(2.0, 1.0)])
    """
    kind, *numbers = norm
    if kind == "p":
        return [(conjugate(numbers[0]), 1.0)]
    p1, p2, alpha = (1.0, np.inf, numbers[0]) if kind == "r-max" else numbers
    if p1 == p2:
        return [(conjugate(p1), min(1.0, alpha))]
    return [(conjugate(p1), 1.0), (conjugate(p2), float(alpha))]


def p_norm(v: Array, p: float) -> float:
    """Return ``||v||_p``, scaled so that no power overflows."""
    top = float(np.abs(v).max())
    return top * float(np.linalg.norm(v / top, p)) if top > 0 else 0.0


def dual_norm(norm: Norm, u: Array) -> float:
    """Return ``||u||*``."""
    return max(p_norm(u, q) / radius for q, radius in dual_bounds(norm))


def remoteness(norm: Norm, k: int) -> float:
    """Return rho of the dual norm over k tasks, an upper bound of it for interpolations.

    Where 2 lies between the two q, Hoelder's inequality bounds ``||u||_2`` by a product of powers of both norms.

    Examples
    --------
    >>> remoteness(("K", 1, np.inf, 2), 3) == remoteness(("r-max", 2), 3) == 2**0.5
    True
    """
    if norm[0] == "r-max":
        return float(np.sqrt(norm[1]))
    bounds = dual_bounds(norm)
    found = [radius * k ** max(0.0, 0.5 - 1 / q) for q, radius in bounds]
    if len(bounds) == 2:
        (p, a), (q, b) = sorted(bounds)
        if p < 2 < q:
            share = (1 / p - 0.5) / (1 / p - 1 / q)  # 1/2 = (1 - share)/p + share/q
            found.append(a ** (1 - share) * b**share)
    return float(min(found))


def value(norm: Norm, v: Array) -> float:
    """Return ``||v||``, an interpolation's as ``max <u, v>`` over the dual ball."""
    size = np.abs(v)
    if norm[0] == "p":
        return p_norm(size, norm[1])
    if norm[0] == "r-max":
        return float(np.sort(size)[::-1][: norm[1]].sum())
    return float(finite(norm, size, 1.0) @ size)


# --- the convex problem of the implicit update --------------------------------------------------------------------


def respond(loss: Array, q: Array, terms: Sequence[tuple[float, float, float]]) -> Array:
    """Return t >= 0 with ``q_j t_j + sum theta (t_j / radius)^(s-1) = l_j`` over terms (s, radius, theta), by halving.

    s = infinity caps t_j at the radius. Where nothing grows with t_j it is 1e100.
    """
    cap = min((radius for s, radius, _ in terms if s == np.inf), default=1e100)
    left = loss - sum(theta for s, _, theta in terms if s == 1)
    slope = q + sum(theta / radius for s, radius, theta in terms if s == 2)
    powers = [(s - 1, radius, theta) for s, radius, theta in terms if s not in (1, 2, np.inf) and theta > 0]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        high = np.where(left > 0, left / slope, 0.0)
        for power, radius, theta in powers:
            high = np.minimum(high, radius * (np.maximum(left, 0) / theta) ** (1 / power))
        if powers and (len(powers) > 1 or slope.any()):
            low = np.zeros_like(loss)
            while np.any((low < (middle := low + (high - low) / 2)) & (middle < high)):
                above = slope * middle + sum(theta * (middle / r) ** power for power, r, theta in powers) > left
                low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.minimum(high, cap)


def maximiser(
    loss: Array, q: Array, bounds: Sequence[Bound], terms: tuple[tuple[float, float, float], ...] = ()
) -> Array:
    """Return argmax ``sum 2 t_j l_j - t_j^2 q_j`` over t >= 0 within the bounds: one multiplier a bound, one by one.

    Examples
    --------
    >>> maximiser(np.array([1.0, 3.0]), np.array([1.0, 1.0]), [(1.0, 2.0)]).round(12)
    array([0., 2.])
    """
    if not bounds:
        return respond(loss, q, terms)
    (s, radius), rest = bounds[0], bounds[1:]
    if s == np.inf:
        return maximiser(loss, q, rest, (*terms, (s, radius, 0.0)))

    def at(theta: float) -> Array:
        return maximiser(loss, q, rest, (*terms, (s, radius, theta)))

    def excess(theta: float) -> float:
        size = p_norm(at(theta), s) / radius
        return float(np.log(max(size, 1e-100)))

    if excess(0.0) <= 0:
        return at(0.0)
    highest = p_norm(loss, conjugate(s)) * (1 + 1e-9)
    theta = float(brentq(excess, 0.0, highest, xtol=1e-300, rtol=1e-15, maxiter=500))
    more, less = at(theta * (1 - 2e-15)), at(theta * (1 + 2e-15))  # they differ where tasks without an instance tie
    sizes = [float((t**s).sum()) for t in (more, less)]
    share = np.clip((radius**s - sizes[1]) / (sizes[0] - sizes[1]), 0, 1) if sizes[0] > sizes[1] else 0.0
    return share * more + (1 - share) * less


# --- the three updates --------------------------------------------------------------------------------------------


def finite(norm: Norm, loss: Array, C: float) -> Array:
    """Return argmax ``<tau, l>`` over the dual ball of radius C, eq. (9), (11), (12)."""
    if not loss.any():
        return np.zeros_like(loss)
    if norm[0] == "p" and norm[1] < np.inf:
        return np.where(loss > 0, C * (loss / p_norm(loss, norm[1])) ** (norm[1] - 1), 0.0)
    if norm[0] in ("p", "r-max"):
        largest = np.argsort(-loss, kind="stable")[: norm[1] if norm[0] == "r-max" else 1]
        return np.where(np.isin(np.arange(loss.size), largest) & (loss > 0), C, 0.0)
    tau, bounds = np.zeros_like(loss), dict(dual_bounds(norm))
    if set(bounds) == {1.0, np.inf}:  # the cap on the largest while the total lasts
        order = np.argsort(-loss, kind="stable")
        tau[order] = C * np.clip(bounds[1.0] - bounds[np.inf] * np.arange(loss.size), 0, bounds[np.inf])
        return np.where(loss > 0, tau, 0.0)
    tau[loss > 0] = C * maximiser(loss[loss > 0], np.zeros(np.count_nonzero(loss)), dual_bounds(norm))
    return tau


def infinite(norm: Norm, loss: Array, C: float, reach: float) -> Array:
    """Return the same with ``min(C, ||l|| / (R^2 rho^2))`` in place of C, eq. (16)."""
    return finite(norm, loss, min(C, value(norm, loss) / reach) if reach > 0 else C)


def implicit(norm: Norm, loss: Array, q: Array, C: float) -> Array:
    """Return argmax ``sum 2 tau_j l_j - tau_j^2 ||x_j||^2`` over the dual ball of radius C, lemma 8."""
    tau, active = np.zeros_like(loss), loss > 0
    if active.any():
        tau[active] = maximiser(loss[active], q[active], [(s, C * radius) for s, radius in dual_bounds(norm)])
    return tau


# --- the online algorithm -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Round:
    """Each task's loss, their norm, the tasks in error, the steps, what the dual gained."""

    losses: Array
    loss: float
    errors: Array
    tau: Array
    gain: float


class Multitask:
    """One of the algorithms, for k tasks with feature spaces of their own.

    Parameters
    ----------
    widths : sequence of int
        How many features each task has.
    norm : tuple
        The norm of the losses.
    update : {"implicit", "infinite", "finite"}
    C, radius, horizon : float
        The steps' bound; R (None: the largest instance so far); T, which sets ``C = 1 / (sqrt(T) R^2)``.
    epsilon : float
        None for classification; otherwise regression with the loss ``[|y - score| - epsilon]+``.

    Attributes
    ----------
    W : list of array
        The weights of each task.
    dual : float
        D of the certificate.

    Examples
    --------
    >>> learner = Multitask([1, 1], ("p", np.inf), C=0.5)
    >>> learner.round([[1.0], [2.0]], [1, -1]).tau
    array([0.4, 0.1])
    """

    def __init__(
        self, widths: Sequence[int], norm: Norm, update: str = "implicit", C: float = 1.0,
        radius: float | None = None, horizon: float | None = None, epsilon: float | None = None,
    ) -> None:  # fmt: skip
        self.norm, self.update, self.C, self.radius, self.horizon = norm, update, C, radius, horizon
        self.epsilon, self.W, self.linear, self.seen = epsilon, [np.zeros(n) for n in widths], 0.0, 0.0

    @property
    def dual(self) -> float:
        """D from the state: what the steps earn, less ``sum ||w_j||^2 / 2``."""
        return self.linear - sum(float(w @ w) for w in self.W) / 2

    def round(self, xs: Sequence[Any], y: Sequence[float], weight: float = 1.0) -> Round:
        """Predict, suffer, move."""
        active = ~np.isnan(np.asarray(y, dtype=float))
        x = [np.asarray(v, dtype=float) * a for v, a in zip(xs, active, strict=True)]
        target, before = np.where(active, y, 0.0).astype(float), self.dual
        score = np.array([w @ v for w, v in zip(self.W, x, strict=True)])
        q = np.array([v @ v for v in x])
        if self.epsilon is None:
            sign, loss = target, np.where(active, np.maximum(0, 1 - target * score), 0.0)
            errors, worth = active & (target * score <= 0), np.ones(len(x))
        else:
            sign = np.sign(target - score)
            loss = np.where(active, np.maximum(0, np.abs(target - score) - self.epsilon), 0.0)
            errors, worth = loss > 0, sign * target - self.epsilon
        if weight > 0:
            self.seen = max(self.seen, float(np.sqrt(q.max())))
        tau = self.steps(loss, q, weight)
        self.W = [w + t * s * v for w, t, s, v in zip(self.W, tau, sign, x, strict=True)]
        self.linear += float(tau @ worth)
        return Round(loss, value(self.norm, loss), errors, tau, self.dual - before)

    def steps(self, loss: Array, q: Array, weight: float) -> Array:
        """Return tau by the update, C and R as they stand."""
        R = self.seen if self.radius is None else self.radius
        C = self.C if self.horizon is None or R == 0 else 1 / (np.sqrt(self.horizon) * R**2)
        if weight == 0:
            return np.zeros_like(loss)
        reach = R**2 * remoteness(self.norm, loss.size) ** 2
        rules: dict[str, Callable[[], Array]] = {
            "finite": lambda: finite(self.norm, loss, weight * C),
            "infinite": lambda: infinite(self.norm, loss, weight * C, reach),
            "implicit": lambda: implicit(self.norm, loss, q, weight * C),
        }
        return rules[self.update]()
