"""Absolute norms that turn the losses of k tasks into the one loss of a round.

A norm here is absolute: it does not change with the signs of its argument. Each class gives the norm itself, its dual
``max <u, v> / ||v||``, within whose ball of radius C the tasks' steps stay, and the dual's remoteness
``rho = max ||u||_2 / ||u||*``, the longest Euclidean length in the dual's unit ball, which sets the loss bounds. The
remoteness counts every task, also those that sit a round out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class PNorm:
    """The p-norm ``(sum_j |v_j|^p)^(1/p)``; p = infinity is the largest absolute value.

    Parameters
    ----------
    p : float
        From 1 to infinity.

    Examples
    --------
    >>> from math import inf
    >>> PNorm(2).value([3.0, -4.0]), PNorm(1).value([3.0, -4.0]), PNorm(inf).value([3.0, -4.0])
    (5.0, 7.0, 4.0)
    >>> PNorm(1).dual([3.0, -4.0])
    4.0
    >>> PNorm(1).dual_remoteness(9), PNorm(2).dual_remoteness(9)
    (3.0, 1.0)

    References
    ----------
    Dekel, Long and Singer, Online Learning of Multiple Tasks with a Shared Loss, section 1 and lemma 2.
    """

    p: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", _exponent(self, "p"))

    def value(self, v: ArrayLike) -> float:
        """Return the norm of v."""
        return _p_norm(_absolute(v), self.p)

    def dual(self, u: ArrayLike) -> float:
        """Return the dual norm of u: the q-norm with ``1/p + 1/q = 1``."""
        return _p_norm(_absolute(u), _conjugate(self.p))

    def dual_remoteness(self, k: int) -> float:
        """Return ``max ||u||_2 / ||u||_q`` over k tasks: ``k^(1/p - 1/2)`` below p = 2, else 1."""
        return float(_tasks(k) ** max(1 / self.p - 0.5, 0.0))


@dataclass(frozen=True)
class RMax:
    """The sum of the r largest absolute values: r = 1 is the infinity norm, r = k the 1-norm.

    Parameters
    ----------
    r : int
        From 1 to the number of tasks.

    Examples
    --------
    >>> norm = RMax(2)
    >>> norm.value([1.0, -4.0, 3.0]), norm.dual([1.0, -4.0, 3.0])
    (7.0, 4.0)
    >>> norm.dual_remoteness(3) == 2**0.5
    True

    References
    ----------
    Dekel, Long and Singer, equations (1) and (3), lemma 3.
    """

    r: int

    def __post_init__(self) -> None:
        r = self.r
        if isinstance(r, bool) or not isinstance(r, Integral) or r < 1:
            raise ValueError(f"The 'r' parameter of RMax must be an int in the range [1, inf). Got {r!r} instead.")
        object.__setattr__(self, "r", int(r))

    def value(self, v: ArrayLike) -> float:
        """Return the norm of v, which holds at least r values."""
        size = _absolute(v)
        self._check(size.size)
        return float(np.sort(size)[::-1][: self.r].sum())

    def dual(self, u: ArrayLike) -> float:
        """Return the dual norm of u: the larger of ``||u||_inf`` and ``||u||_1 / r``."""
        size = _absolute(u)
        self._check(size.size)
        return max(_p_norm(size, math.inf), _p_norm(size, 1.0) / self.r)

    def dual_remoteness(self, k: int) -> float:
        """Return ``max ||u||_2 / ||u||*`` over k tasks: ``sqrt(r)``."""
        self._check(_tasks(k))
        return math.sqrt(self.r)

    def _check(self, k: int) -> None:
        if self.r > k:
            raise ValueError(f"RMax(r={self.r}) needs at least {self.r} tasks. Got {k} instead.")


@dataclass(frozen=True)
class Interpolated:
    """Peetre's K-functional ``min ||w||_p1 + alpha ||z||_p2`` over ``w + z = v``.

    It never exceeds ``||v||_p1`` and ``alpha ||v||_p2``. `RMax(r)` is ``Interpolated(1, inf, r)``.

    Parameters
    ----------
    p1, p2 : float
        From 1 to infinity.
    alpha : float
        Positive.

    Examples
    --------
    >>> from math import inf
    >>> norm = Interpolated(1, inf, 1.5)
    >>> norm.value([1.0, -4.0, 3.0])
    5.5
    >>> norm.dual([1.0, -4.0, 3.0]) == 8 / 1.5
    True
    >>> round(Interpolated(1, 2, 1.5).value([1.0, -4.0, 3.0]), 12)  # the 1-norm is 8, 1.5 times the 2-norm 7.65
    7.5

    Notes
    -----
    The value is ``max <u, v>`` over the dual's unit ball. Where both of the dual's bounds are tight, the maximiser is
    a multiple of y with ``(1-c) y_j^a + c y_j^b = |v_j| / max |v|``, where ``a = 1/(p-1)`` is that of the larger of the
    two p and b that of the smaller; the one number c in [0, 1] is where both bounds are equally tight.

    References
    ----------
    Dekel, Long and Singer, appendix A and theorem 10.
    """

    p1: float
    p2: float
    alpha: float

    def __post_init__(self) -> None:
        for name in ("p1", "p2"):
            object.__setattr__(self, name, _exponent(self, name))
        alpha = self.alpha
        if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 < float(alpha) < math.inf:
            raise ValueError(
                f"The 'alpha' parameter of Interpolated must be a float in the range (0, inf). Got {alpha!r} instead."
            )
        object.__setattr__(self, "alpha", float(alpha))

    def value(self, v: ArrayLike) -> float:
        """Return the norm of v, by root finding in one variable to the last bits."""
        size = _absolute(v)
        top = _p_norm(size, math.inf)
        if top == 0:
            return 0.0
        if self.p1 == self.p2:
            return min(1.0, self.alpha) * _p_norm(size, self.p1)
        shares = size / top
        (large, bound), (small, other_bound) = sorted(((self.p1, 1.0), (self.p2, self.alpha)), reverse=True)
        if (large, small) == (math.inf, 1.0):
            return top * _greedy(shares, total=bound, cap=other_bound)

        def tightness(y: Vector) -> tuple[float, float]:
            return _p_norm(y, _conjugate(large)) / bound, _p_norm(y, _conjugate(small)) / other_bound

        def excess(y: Vector) -> float:
            one, other = tightness(y)
            return other - one

        def mixture(c: float) -> Vector:
            return _mixture(shares, large, small, c)

        # Where y jumps within the last bit of c, the maximiser lies on the line between the two sides.
        left, right = map(mixture, _crossing(lambda c: excess(mixture(c))))

        def between(part: float) -> Vector:
            return np.asarray((1 - part) * left + part * right)

        ends = map(between, _crossing(lambda part: excess(between(part))))
        return top * max(float(y @ shares) / max(tightness(y)) for y in ends)

    def dual(self, u: ArrayLike) -> float:
        """Return the dual norm of u: the larger of ``||u||_q1`` and ``||u||_q2 / alpha``."""
        size = _absolute(u)
        return max(_p_norm(size, _conjugate(self.p1)), _p_norm(size, _conjugate(self.p2)) / self.alpha)

    def dual_remoteness(self, k: int) -> float:
        """Return an upper bound of ``max ||u||_2 / ||u||*`` over k tasks, on which the loss bounds hold too.

        It is the least of ``rho(q1)``, ``alpha rho(q2)`` and, where 2 lies between q1 and q2, Hölder's
        ``||u||_2 <= ||u||_q1^(1-t) ||u||_q2^t``: ``alpha^t``, which is sqrt(r) where the norm is an r-max.
        """
        bounds = [PNorm(self.p1).dual_remoteness(k), self.alpha * PNorm(self.p2).dual_remoteness(k)]
        one, other = 1 / _conjugate(self.p1) - 0.5, 1 / _conjugate(self.p2) - 0.5
        if one * other < 0:
            bounds.append(self.alpha ** (one / (one - other)))
        return float(min(bounds))


def _exponent(norm: PNorm | Interpolated, name: str) -> float:
    p = getattr(norm, name)
    if isinstance(p, bool) or not isinstance(p, Real) or not float(p) >= 1:
        raise ValueError(
            f"The {name!r} parameter of {type(norm).__name__} must be a float in the range [1, inf]. Got {p!r} instead."
        )
    return float(p)


def _tasks(k: Any) -> int:
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise ValueError(f"The number of tasks 'k' must be an int in the range [1, inf). Got {k!r} instead.")
    return int(k)


def _absolute(v: ArrayLike) -> Vector:
    size = np.abs(np.asarray(v, dtype=np.float64))
    if size.ndim != 1:
        raise ValueError(f"A norm takes one value a task, a 1-d array. Got {size.ndim} dimensions instead.")
    bad = np.flatnonzero(~np.isfinite(size))
    if bad.size:
        raise ValueError(f"A norm takes finite values. Got {np.asarray(v)[bad[0]]} at index {bad[0]} instead.")
    return size


def _conjugate(p: float) -> float:
    """Return q with ``1/p + 1/q = 1``."""
    if p == 1:
        return math.inf
    return 1 + _slope(p)


def _slope(p: float) -> float:
    """Return ``1/(p-1) = q-1``, the power of the dual's maximiser in its gradient."""
    return math.inf if p == 1 else 1 / (p - 1)


def _p_norm(size: Vector, p: float) -> float:
    top = float(size.max(initial=0.0))
    if top == 0 or p == math.inf:
        return top
    if p == 1:
        return float(size.sum())
    return top * float(((size / top) ** p).sum() ** (1 / p))


def _greedy(shares: Vector, total: float, cap: float) -> float:
    """Return ``max <u, shares>`` with ``sum u <= total`` and ``u_j <= cap``: the cap on the largest while it lasts."""
    given = np.clip(total - cap * np.arange(shares.size), 0.0, cap)
    return float(given @ np.sort(shares)[::-1])


def _mixture(shares: Vector, large: float, small: float, c: float) -> Vector:
    """Return y with ``(1-c) y_j^a + c y_j^b = shares_j``, ``a = 1/(large-1)``, ``b = 1/(small-1)``, ``max shares = 1``.

    Examples
    --------
    >>> _mixture(np.array([1.0, 0.5]), large=3, small=2, c=0.5).round(6)
    array([1.      , 0.381966])
    """
    a, b = _slope(large), _slope(small)
    y = np.zeros_like(shares)
    if a == 0:
        over = shares - (1 - c)
        y[over >= 0] = (over[over >= 0] / c) ** (1 / b) if c > 0 else 1.0
        return y
    if b == math.inf:
        capped = shares >= 1 - c
        y[capped & (shares > 0)] = 1.0
        y[~capped] = (shares[~capped] / (1 - c)) ** (1 / a)
        return y
    if c in (0, 1):
        return np.asarray(shares ** (1 / (b if c else a)))
    positive = shares > 0
    aims = np.log(shares[positive])
    first, second = math.log1p(-c) - aims, math.log(c) - aims
    x = np.minimum(-first / a, -second / b)  # here one of the two terms is the whole share: never below the root
    for _ in range(100):  # the log of a sum of exponentials is convex: Newton descends to the root
        terms = np.exp(first + a * x), np.exp(second + b * x)
        total = terms[0] + terms[1]
        step = np.log(total) * total / (a * terms[0] + b * terms[1])
        x -= step
        if np.all(np.abs(step) <= 1e-15 * (1 + np.abs(x))):
            break
    y[positive] = np.exp(x)
    return y


def _crossing(excess: Callable[[float], float]) -> tuple[float, float]:
    """Return neighbours in [0, 1] between which a function that is first positive, then negative crosses zero."""
    low, high = 0.0, 1.0
    if excess(low) <= 0:
        return low, low
    if excess(high) >= 0:
        return high, high
    while low < (middle := (low + high) / 2) < high and high - low > 1e-17:
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return low, high
