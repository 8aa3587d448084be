"""What the dual proves: bounds on the learner's mistakes and on every competitor (MATH.md section A)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from oracle.projection import bisect
from oracle.streams import Example

Array = np.ndarray[Any, np.dtype[Any]]


def curvature(geometry: str, x: Array) -> float:
    """Compute the most that the Hessian of G can be along x; R2 is the largest over the stream.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, -2.0])
    >>> [curvature(g, x) for g in ("euclidean", "entropic", "signed-entropic")]
    [5.0, 2.25, 4.0]
    """
    if geometry == "euclidean":
        return float(x @ x)
    return float(np.ptp(x) ** 2 / 4 if geometry == "entropic" else np.abs(x).max() ** 2)


def least_gain(update: str, gamma: float, C: float, R2: float) -> float | None:
    """Compute lam, what a mistake must add to the dual; None where it need not add anything.

    The fixed rule's step is C. The others take the tau in [0, C] that makes ``gamma tau - R2 tau^2`` largest.

    Examples
    --------
    >>> [least_gain(update, 1.0, 2.0, 1.0) for update in ("fixed", "single", "full")]
    [None, 0.25, 0.25]
    >>> least_gain("fixed", 1.0, 0.25, 1.0) == least_gain("full", 1.0, 0.25, 1.0) == 0.1875
    True
    """
    tau = C if update == "fixed" or gamma >= 2 * R2 * C else gamma / (2 * R2)
    gain = gamma * tau - R2 * tau**2
    return gain if gain > 0 else None


def entropy(p: Array) -> float:
    """Compute ``sum_j p_j log(n p_j)`` of a point of the simplex."""
    if (p < 0).any() or abs(p.sum() - 1) > 1e-9:
        raise ValueError("not a point of the simplex")
    positive = p[p > 0]
    return float((positive * np.log(p.size * positive)).sum())


def split(w: Array) -> Array:
    """Write a point of the l1 ball as ``u - v`` with the least entropy of ``(u, v)``, a point of the simplex.

    There ``u_j v_j`` is the same c^2 for all j, so ``u_j + v_j = sqrt(w_j^2 + 4 c^2)``, with the c for which
    these sum to 1.

    Examples
    --------
    >>> split(np.array([0.5, -0.5])), split(np.zeros(2))
    (array([0.5, 0. , 0. , 0.5]), array([0.25, 0.25, 0.25, 0.25]))
    """
    if np.abs(w).sum() > 1 + 1e-12:
        raise ValueError("not a point of the l1 ball")
    c = bisect(lambda c: float(np.hypot(w, 2 * c).sum()) - 1, 0.0, 1 / (2 * w.size))
    total = np.hypot(w, 2 * c)
    large = (total + np.abs(w)) / 2
    small = c**2 / np.where(large > 0, large, 1.0)
    return np.concatenate([np.where(w >= 0, large, small), np.where(w >= 0, small, large)])


def complexity(geometry: str, W: Array) -> float:
    """Compute ``sum_y F(w_y)``; ValueError outside the domain of F.

    For the signed entropy ``F(w)`` is the least entropy over the splittings of w, by duality the largest
    ``<theta, w> - G(theta)``. A competitor that brings its own splitting pays the `entropy` of that.

    Examples
    --------
    >>> complexity("euclidean", np.array([[1.0, 2.0]])), complexity("entropic", np.full((3, 4), 0.25))
    (2.5, 0.0)
    >>> complexity("signed-entropic", np.zeros((3, 4)))
    0.0
    """
    if geometry == "euclidean":
        return float((W**2).sum() / 2)
    return sum(entropy(w if geometry == "entropic" else split(w)) for w in W)


def hinge_of(W: Array, example: Example, gamma: float) -> float:
    """Compute the loss of fixed weights on one round, among the labels that exist in it."""
    rho = (W @ example.x)[: example.alive]
    in_Y = np.isin(np.arange(rho.size), example.relevant)
    if in_Y.all() or not in_Y.any():
        return 0.0
    return max(0.0, gamma - float(rho[in_Y].min() - rho[~in_Y].max()))


def objective(geometry: str, W: Array, rounds: Iterable[Example], C: float, gamma: float) -> float:
    """Compute the competitor's objective ``P(W) = sum_y F(w_y) + sum_t C_t l_t(W)``, ``C_t = weight_t C``.

    Examples
    --------
    >>> rounds = [Example(np.array([1.0, 0.0]), (1,), weight=2.0)]
    >>> objective("euclidean", np.zeros((2, 2)), rounds, C=0.5, gamma=1.0)
    1.0
    """
    return complexity(geometry, W) + C * sum(e.weight * hinge_of(W, e, gamma) for e in rounds)
