"""Label ranking by dual ascent: eleven algorithms, three rules times the geometries (MATH.md section A).

A margin of exactly zero is a mistake. Ties go to the lowest label. Scores are summed in feature order, one
label like the other, so that labels with equal weights tie exactly. ``C_t = weight * C``; the adaptive geometry
has no C, there the weight multiplies the step. A round of weight zero is scored and not learned.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from oracle.pdip import pdip
from oracle.projection import bisect, full_entropic_binary, full_euclidean

Array = np.ndarray[Any, np.dtype[np.float64]]
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


def single_entropic_binary(logit_r: float, logit_s: float, v: float, gamma: float, C: float) -> float:
    """Best step on one constraint, entropy, x in {0, v}^n: ``tau v = log beta``, the positive root of a quadratic.

    ``beta^2 q_r (1-q_s)(1-g) - beta g (q_r q_s + (1-q_r)(1-q_s)) - q_s (1-q_r)(1+g) = 0``, ``g = gamma / v``;
    without a positive leading coefficient the dual rises all the way to C.
    """
    g = gamma / v
    q_r, q_s, not_r, not_s = 1 / (1 + np.exp([-logit_r, -logit_s, logit_r, logit_s]))
    a, b, c = q_r * not_s * (1 - g), g * (q_r * q_s + not_r * not_s), q_s * not_r * (1 + g)
    if a <= 0:
        return C
    return min(C, float(np.log((b + np.sqrt(b * b + 4 * a * c)) / (2 * a))) / v)


def single_entropic(theta_r: Array, theta_s: Array, x: Array, gamma: float, C: float) -> float:
    """Best step on one constraint, entropy, any x: the zero of ``gamma - <w_r(tau), x> + <w_s(tau), x>`` or C."""

    def falls(tau: float) -> float:
        return float(softmax(theta_r + tau * x) @ x - softmax(theta_s - tau * x) @ x) - gamma

    return C if falls(C) <= 0 else bisect(falls, 0.0, C)


@dataclass(frozen=True)
class Round:
    """What one round did: loss and mistake before the update, the move, the dual's increase, PDIP's iterations."""

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
        The cap on a round's alphas; gamma (None: 1, for the entropies .01); the adaptive geometry's parameter;
        the gap at which PDIP stops.

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
        """D from the state: ``gamma sum alpha - sum_y G(theta_y)``; not a number for the adaptive geometry."""
        if self.geometry == "adaptive":
            return float("nan")
        return float(self.gamma * self.alpha_sum - conjugate(self.geometry, self.theta).sum())

    def widen(self, n: int) -> None:
        """Let features appear: n of them from now on."""
        more = n - self.theta.shape[1]
        self.theta, self.v = np.pad(self.theta, ((0, 0), (0, more))), np.pad(self.v, (0, more), constant_values=1.0)

    def round(self, x: Iterable[float], relevant: Iterable[int], weight: float = 1.0, alive: int | None = None) -> Round:
        """Predict, suffer, move. Labels from ``alive`` on do not exist yet and take no part."""
        x, k = np.asarray(x, dtype=float), len(self.theta)
        in_Y = np.isin(np.arange(k if alive is None else alive), list(relevant))
        alpha = np.zeros(k)
        if in_Y.all() or not in_Y.any():
            return Round(0.0, False, alpha, 0.0)
        rho = scores(self.W[: in_Y.size], x)
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
            self.v = self.v - self.v**2 * x**2 / ((self.v * x**2).sum() + self.r)
        return Round(loss, mistake, alpha, self.dual - before, iterations)


def step_on(pair: tuple[int, int], tau: float, k: int) -> Array:
    """Move tau from label s' to label r'."""
    alpha = np.zeros(k)
    alpha[pair[0]], alpha[pair[1]] = tau, -tau
    return alpha
