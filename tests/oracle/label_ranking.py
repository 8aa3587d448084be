"""Label ranking by dual ascent: eleven algorithms, three rules times the geometries (MATH.md section A).

A margin of exactly zero is a mistake. Ties go to the lowest label. Scores are summed in feature order, one
label like the other, so that labels with equal weights tie exactly. ``C_t = weight * C``; the adaptive
geometry has no C, there ``r / weight`` stands for r. A round of weight zero is scored and not learned: nothing
moves, the confidences included. Where G does not curve along x (``x = 0``; for the entropy any constant x) no
weight can move and every alpha of total C is best: all of it goes on the pair. The intercept is a feature of
value 1 that the caller puts in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oracle.pdip import pdip
from oracle.projection import bisect, full_entropic_binary, full_euclidean, single_entropic_binary

Array = np.ndarray[Any, np.dtype[Any]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]


def log_sum_exp(theta: Array) -> Array:
    """Compute ``log sum_j exp(theta_j)`` along the last axis (minus infinity over nothing)."""
    top = theta.max(axis=-1, keepdims=True, initial=-1e300)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(theta - top).sum(axis=-1)) + top[..., 0]


def softmax(theta: Array) -> Array:
    """Compute ``exp(theta_j) / Z`` along the last axis."""
    e = np.exp(theta - theta.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def lift(geometry: str, theta: Array) -> Array:
    """Double the features for the signed entropy, ``x -> (x, -x)``; leave them for the others."""
    return np.concatenate([theta, -theta], axis=-1) if geometry == "signed-entropic" else theta


def conjugate(geometry: str, theta: Array) -> Array:
    """Compute G of each row of theta.

    Examples
    --------
    >>> [float(conjugate(g, np.zeros((1, 3)))[0]) for g in ("euclidean", "entropic", "signed-entropic")]
    [0.0, 0.0, 0.0]
    """
    if geometry == "euclidean":
        return (theta**2).sum(axis=-1) / 2
    doubled = lift(geometry, theta)
    return log_sum_exp(doubled) - np.log(doubled.shape[-1])


def primal(geometry: str, theta: Array) -> Array:
    """Compute the weights of each row, the gradient of G."""
    if geometry in ("euclidean", "adaptive"):
        return theta
    w, n = softmax(lift(geometry, theta)), theta.shape[-1]
    return w[..., :n] - w[..., n:] if geometry == "signed-entropic" else w


def scores(W: Array, x: Array) -> Array:
    """Compute ``<w_y, x>`` for each y, one feature after the other."""
    rho = np.zeros(len(W))
    for j in np.flatnonzero(x):
        rho = rho + W[:, j] * x[j]
    return rho


def is_flat(geometry: str, x: Array) -> bool:
    """Say whether G is linear along x, so that no alpha moves a weight."""
    return bool(np.ptp(x) == 0 if geometry == "entropic" else not x.any())


def moments(theta: Array, x: Array) -> tuple[Array, Array]:
    """Compute the mean and the variance of x under each row's softmax: G' and G'' along x."""
    w = softmax(theta)
    mean = w @ x
    return mean, (w * (x - mean[:, None]) ** 2).sum(axis=1)


def single_value(x: Array) -> float:
    """Return v if x is in {0, v}^n with v > 0, else 0."""
    values = np.unique(x[x != 0])
    return float(values[0]) if values.size == 1 and values[0] > 0 else 0.0


def logits(theta: Array, x: Array) -> Array:
    """Compute ``logit q_y``, q_y the share of the softmax on the non-zeros of x."""
    return log_sum_exp(theta[:, x != 0]) - log_sum_exp(theta[:, x == 0])


def single_entropic(theta_r: Array, theta_s: Array, x: Array, gamma: float, C: float) -> float:
    """Best step on one constraint, entropy, any x: where ``<w_r(tau), x> - <w_s(tau), x>`` is gamma, or C."""

    def beyond(tau: float) -> float:
        return float(softmax(theta_r + tau * x) @ x - softmax(theta_s - tau * x) @ x) - gamma

    return C if beyond(C) <= 0 else bisect(beyond, 0.0, C)


@dataclass(frozen=True)
class Round:
    """Loss and mistake before the update, the move, what the dual gained, PDIP's iterations."""

    loss: float
    mistake: bool
    alpha: Array
    gain: float
    iterations: int = 0


class LabelRanking:
    """One of the eleven algorithms, k labels over n features.

    Parameters
    ----------
    n, k : int
        How many features and labels.
    update : {"fixed", "single", "full"}
        Fixed step on a mistake; best step on the worst pair; best step on all constraints of the round.
    geometry : {"euclidean", "adaptive", "entropic", "signed-entropic"}
        How theta becomes weights; adaptive exists for single and full.
    C, margin, r, gap : float
        The cap on a round's alphas; gamma (None: 1, for the entropies .01); the adaptive geometry's
        parameter; the gap at which PDIP stops.

    Attributes
    ----------
    theta : array (k, n)
        The dual vectors; for the adaptive geometry the weights themselves.
    alpha_sum : float
        The sum over rounds of the alphas on Y.
    v : array (n,)
        The confidences of the adaptive geometry.

    Examples
    --------
    >>> learner = LabelRanking(2, 2, "single", "euclidean")
    >>> learner.round([1.0, 1.0], {1}).alpha
    array([-0.25,  0.25])
    >>> learner.round([1.0, 1.0], {1}).loss, learner.dual
    (0.0, 0.125)
    """

    def __init__(
        self, n: int, k: int, update: str, geometry: str, C: float = 1.0, margin: float | None = None,
        r: float = 1.0, gap: float = 1e-12,
    ) -> None:  # fmt: skip
        if (update, geometry) not in RULES:
            raise ValueError(f"no algorithm has update {update!r} and geometry {geometry!r}")
        self.update, self.geometry, self.C, self.r, self.gap = update, geometry, C, r, gap
        self.gamma = (0.01 if "entropic" in geometry else 1.0) if margin is None else margin
        self.theta, self.v, self.alpha_sum = np.zeros((k, n)), np.ones(n), 0.0

    @property
    def W(self) -> Array:
        """The weights, (k, n)."""
        return primal(self.geometry, self.theta)

    @property
    def dual(self) -> float:
        """D from the state: ``gamma sum alpha - sum_y G(theta_y)``; NaN for the adaptive geometry."""
        if self.geometry == "adaptive":
            return float("nan")
        return float(self.gamma * self.alpha_sum - conjugate(self.geometry, self.theta).sum())

    def widen(self, n: int) -> None:
        """Let features appear: n of them from now on."""
        more = n - self.theta.shape[1]
        self.theta = np.pad(self.theta, ((0, 0), (0, more)))
        self.v = np.pad(self.v, (0, more), constant_values=1.0)

    def round(self, x: ArrayLike, relevant: Iterable[int], weight: float = 1.0, alive: int | None = None) -> Round:
        """Predict, suffer, move. Labels from ``alive`` on do not exist yet and take no part."""
        x, k = np.asarray(x, dtype=np.float64), len(self.theta)
        in_Y = np.isin(np.arange(k if alive is None else alive), list(relevant))
        alpha = np.zeros(k)
        if in_Y.all() or not in_Y.any():
            return Round(0.0, False, alpha, 0.0)
        rho = scores(self.W[: in_Y.size], x)
        if self.geometry == "entropic" and is_flat("entropic", x):
            rho[:] = x[0]  # the mean of a constant, not what its sum is rounded to
        pair = int(np.argmin(np.where(in_Y, rho, np.inf))), int(np.argmax(np.where(in_Y, -np.inf, rho)))
        margin = float(rho[pair[0]] - rho[pair[1]])
        loss, mistake = max(0.0, self.gamma - margin), margin <= 0
        if weight == 0 or not (mistake if self.update == "fixed" else loss > 0):
            return Round(loss, mistake, alpha, 0.0)
        alpha[: in_Y.size], iterations = RULES[self.update, self.geometry](self, x, rho, in_Y, pair, weight)
        before = self.dual
        self.alpha_sum += alpha[: in_Y.size][in_Y].sum()
        self.theta = self.theta + np.outer(alpha, self.v * x if self.geometry == "adaptive" else x)
        if self.geometry == "adaptive":
            self.v = self.v - self.v**2 * x**2 / ((self.v * x**2).sum() + self.r / weight)
        return Round(loss, mistake, alpha, self.dual - before, iterations)


Move = tuple[Array, int]


def step_on(pair: tuple[int, int], tau: float, k: int) -> Array:
    """Move tau from label s' to label r'."""
    alpha = np.zeros(k)
    alpha[pair[0]], alpha[pair[1]] = tau, -tau
    return alpha


def fixed(it: LabelRanking, x: Array, rho: Array, in_Y: Bools, pair: tuple[int, int], weight: float) -> Move:
    """Take the whole of C_t, whatever the geometry."""
    return step_on(pair, weight * it.C, in_Y.size), 0


def single(it: LabelRanking, x: Array, rho: Array, in_Y: Bools, pair: tuple[int, int], weight: float) -> Move:
    """Take the best step on the pair."""
    C, (r, s) = weight * it.C, pair
    loss, v = it.gamma - (rho[r] - rho[s]), single_value(x)
    if it.geometry == "adaptive":
        tau = loss / (2 * ((it.v * x**2).sum() + it.r / weight))
    elif is_flat(it.geometry, x):
        tau = C
    elif it.geometry == "euclidean":
        tau = min(C, loss / (2 * (x @ x)))
    elif it.geometry == "entropic" and v > 0:
        logit = logits(it.theta[[r, s]], x)
        tau = single_entropic_binary(logit[0], logit[1], v, it.gamma, C)
    else:
        theta = lift(it.geometry, it.theta)
        tau = single_entropic(theta[r], theta[s], lift(it.geometry, x), it.gamma, C)
    return step_on(pair, float(tau), in_Y.size), 0


def full(it: LabelRanking, x: Array, rho: Array, in_Y: Bools, pair: tuple[int, int], weight: float) -> Move:
    """Take the best step on all constraints of the round."""
    C, v = weight * it.C, single_value(x)
    if it.geometry == "adaptive":
        return full_euclidean(rho, in_Y, float((it.v * x**2).sum()) + it.r / weight, it.gamma, np.inf), 0
    if is_flat(it.geometry, x):
        return step_on(pair, C, in_Y.size), 0
    if it.geometry == "euclidean":
        return full_euclidean(rho, in_Y, x @ x, it.gamma, C), 0
    if it.geometry == "entropic" and v > 0:
        return full_entropic_binary(logits(it.theta[: in_Y.size], x), in_Y, v, it.gamma, C), 0
    return full_by_pdip(it, x, in_Y, C)


def full_by_pdip(it: LabelRanking, x: Array, in_Y: Bools, C: float) -> Move:
    """Take the best step on all constraints, in any geometry that has a conjugate."""
    if it.geometry == "euclidean":
        start, q = it.theta[: in_Y.size] @ x, x @ x
        return pdip(lambda a: start + a * q, lambda a: np.full(a.size, q), C, in_Y, it.gamma, it.gap)
    theta, doubled = lift(it.geometry, it.theta[: in_Y.size]), lift(it.geometry, x)

    def along(a: Array) -> tuple[Array, Array]:
        return moments(theta + np.outer(a, doubled), doubled)

    return pdip(lambda a: along(a)[0], lambda a: along(a)[1], C, in_Y, it.gamma, it.gap)


CERTIFIED = ("euclidean", "entropic", "signed-entropic")
RULES = {
    **{("fixed", geometry): fixed for geometry in CERTIFIED},
    **{("single", geometry): single for geometry in (*CERTIFIED, "adaptive")},
    **{("full", geometry): full for geometry in (*CERTIFIED, "adaptive")},
}
