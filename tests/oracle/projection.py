"""Exact solvers for the best move on one constraint of a round (rule II) or on all of them (rule III).

The latter maximise ``gamma sum_Y alpha - sum_y G(theta_y + alpha_y x)`` subject to ``sum alpha = 0``,
``sum_Y alpha <= C``, ``alpha >= 0`` on Y and ``alpha <= 0`` off it, for an x along which G curves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]


def fill(levels: Array, total: float) -> Array:
    """Pour ``total`` over the levels: ``[s - levels]+`` with the s that makes it sum to ``total``.

    Examples
    --------
    >>> fill(np.array([0.0, 1.0, 5.0]), 3.0)
    array([2., 1., 0.])
    """
    lowest = np.sort(levels)
    surfaces = (total + np.cumsum(lowest)) / np.arange(1, levels.size + 1)
    s = surfaces[np.flatnonzero(surfaces > lowest)[-1]]
    return np.maximum(s - levels, 0.0)


def bisect(f: Callable[[float], float], low: float, high: float) -> float:
    """Find where the increasing f changes sign in [low, high], to the last bit; else the nearer end.

    Examples
    --------
    >>> bisect(lambda t: t**3 - 8, 0, 5)
    2.0
    """
    while low < (middle := low + (high - low) / 2) < high:
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return low if abs(f(low)) < abs(f(high)) else high


def single_entropic_binary(logit_r: float, logit_s: float, v: float, gamma: float, C: float) -> float:
    """Best step on one constraint, entropy, x in {0, v}^n: ``tau v = log beta``, beta the positive root of

    ``beta^2 q_r (1-q_s)(1-g) - beta g (q_r q_s + (1-q_r)(1-q_s)) - q_s (1-q_r)(1+g) = 0``, ``g = gamma / v``;
    without a positive leading coefficient the dual rises all the way to C.
    """
    g = gamma / v
    q_r, q_s, not_r, not_s = 1 / (1 + np.exp([-logit_r, -logit_s, logit_r, logit_s]))
    a, b, c = q_r * not_s * (1 - g), g * (q_r * q_s + not_r * not_s), q_s * not_r * (1 + g)
    if a <= 0:
        return C
    return min(C, float(np.log((b + np.sqrt(b * b + 4 * a * c)) / (2 * a))) / v)


def full_euclidean(rho: Array, in_Y: Bools, q: float, gamma: float, C: float) -> Array:
    """Squared norm: ``q alpha = [gamma - rho + mu]+`` on Y, ``-[rho - mu]+`` off it, mu where they balance.

    The difference of the two sums is piecewise linear in mu and rises; mu lies between the two breakpoints
    where its sign changes. If the balanced sum exceeds C, each side is filled up to C with its own shift.
    """
    up, down = (rho - gamma)[in_Y], rho[~in_Y]
    breaks = np.sort(np.append(up, down))
    surplus = [np.maximum(b - up, 0).sum() - np.maximum(down - b, 0).sum() for b in breaks]
    last = breaks[np.flatnonzero(np.array(surplus) <= 0)[-1]]
    up_moves, down_moves = up[up <= last], down[down > last]
    mu = (up_moves.sum() + down_moves.sum()) / (up_moves.size + down_moves.size)
    alpha = np.zeros(rho.size)
    alpha[in_Y], alpha[~in_Y] = np.maximum(mu - up, 0) / q, -np.maximum(down - mu, 0) / q
    if alpha[in_Y].sum() > C:
        alpha[in_Y], alpha[~in_Y] = fill(up, C * q) / q, -fill(-down, C * q) / q
    return alpha


def full_entropic_binary(logit: Array, in_Y: Bools, v: float, gamma: float, C: float) -> Array:
    """Entropy, x in {0, v}^n: moving by alpha adds ``v alpha`` to ``logit(q)``, q the weight on x's features.

    ``v alpha = [logit(gamma/v + mu) - logit(q)]+`` on Y, ``-[logit(q) - logit(mu)]+`` off it, mu where the
    sums balance. mu runs through (0, 1 - gamma/v) as ``(1 - gamma/v) / (1 + exp(-t))``, fine at both ends.
    """
    g, up, down = gamma / v, logit[in_Y], logit[~in_Y]

    def sides(t: float) -> tuple[Array, Array]:
        mu, rest = (1 - g) * np.exp([-np.logaddexp(0, -t), -np.logaddexp(0, t)])
        return np.maximum(np.log((g + mu) / rest) - up, 0), np.maximum(down - np.log(mu / (g + rest)), 0)

    alpha = np.zeros(logit.size)
    if g < 1:
        high, low = sides(bisect(lambda t: sides(t)[0].sum() - sides(t)[1].sum(), -600.0, 600.0))
        alpha[in_Y], alpha[~in_Y] = high / v, -low / v
    if g >= 1 or alpha[in_Y].sum() > C:
        alpha[in_Y], alpha[~in_Y] = fill(up, C * v) / v, -fill(-down, C * v) / v
    return alpha


def full_any(scores: Callable[[Array], Array], in_Y: Bools, gamma: float, C: float) -> Array:
    """Any geometry, by bisection within bisection: what the other solvers and PDIP are checked against.

    ``scores(alpha)_y = <w_y(alpha_y), x>`` rises in ``alpha_y``. Labels on Y rise to the score
    ``gamma + mu``, those off it fall to ``mu``, none by more than C; mu where the sums balance, or, if those
    exceed C, one target for each side where its sum is C.
    """

    def reach(target: float, sign: float) -> Array:
        low, high = np.zeros(in_Y.size), np.full(in_Y.size, C)
        for _ in range(60):
            middle = (low + high) / 2
            short = sign * scores(sign * middle) < sign * target
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return np.where(in_Y == (sign > 0), low, 0.0)

    now, least, most = (scores(np.full(in_Y.size, alpha)) for alpha in (0.0, -C, C))
    mu = bisect(lambda t: (reach(gamma + t, 1) - reach(t, -1)).sum(), min(least) - gamma, max(most))
    up, down = reach(gamma + mu, 1), reach(mu, -1)
    if up.sum() > C or down.sum() > C:
        up = reach(bisect(lambda t: reach(t, 1).sum() - C, min(now), max(most)), 1)
        down = reach(bisect(lambda t: C - reach(t, -1).sum(), min(least), max(now)), -1)
    return up - down
