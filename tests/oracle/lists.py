"""Lists and bipartite batches from MATH.md E, slow and literal: by all pairs, all permutations, all sign vectors.

Positions count upward: r is the best. Of equal scores, or relevances, the lower index stands above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

Array = np.ndarray[Any, np.dtype[Any]]


class Answer(NamedTuple):
    """Of one list: delta of what was found, the rows' coefficients in Psi(y) - Psi(found), and delta(h(x), y).

    In delta(h(x), y) ties go against the truth, as a margin of zero is a mistake.
    """

    delta: float
    coefficients: Array
    error: float

    def hinge(self, s: Array) -> float:
        return self.delta - float(self.coefficients @ s)


def positions(values: Array) -> Array:
    """pi(values)."""
    order = sorted(range(len(values)), key=lambda i: (values[i], -i))
    place = np.empty(len(values))
    place[order] = np.arange(1, len(values) + 1)
    return place


def comparable(y: Array) -> bool:
    return len(np.unique(y)) > 1


# --- Kendall tau --------------------------------------------------------------------------------------------------


def kendall(s: Array, y: Array, plain: bool = False) -> Answer:
    """The mean over comparable pairs of [1 - (s_i - s_j)]+ ; plain: of the pairs that are wrong or tied."""
    pairs = [(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]
    wrong = [(i, j) for i, j in pairs if s[i] <= s[j]]
    short = wrong if plain else [(i, j) for i, j in pairs if s[i] - s[j] < 1]
    coefficients = np.zeros(len(y))
    for i, j in short:
        coefficients[i] += 1 / len(pairs)
        coefficients[j] -= 1 / len(pairs)
    return Answer(len(short) / len(pairs), coefficients, len(wrong) / len(pairs))


# --- NDCG ---------------------------------------------------------------------------------------------------------


def discount(position: Array, r: int, k: int | None) -> Array:
    """D(i) = 1/log2(r - i + 2) for the top k positions."""
    return np.where(position > r - min(k or r, r), 1 / np.log2(r - position + 2), 0.0)


def gains(y: Array, gain: str) -> Array:
    return 2.0**y - 1 if gain == "exponential" else np.asarray(y, dtype=float)


def ndcg_loss(v: Array, y: Array, k: int | None, gain: str = "linear") -> float:
    best = discount(positions(y), len(y), k) @ gains(y, gain)
    return float(1 - discount(v, len(y), k) @ gains(y, gain) / best)


def ndcg_costs(s: Array, y: Array, k: int | None, gain: str = "linear") -> Array:
    """A_ij = j a_i + D(j) b_i."""
    j = np.arange(1, len(y) + 1)
    b = gains(y, gain) / (discount(positions(y), len(y), k) @ gains(y, gain))
    return -np.outer(s, j) + np.outer(b, discount(j, len(y), k))


def ndcg(s: Array, y: Array, k: int | None, gain: str = "linear", plain: bool = False) -> Answer:
    """The loss-augmented argmax as an assignment; plain: pi(s), ties in the worst order."""
    order = sorted(range(len(y)), key=lambda i: (s[i], -y[i], -i))
    predicted = np.empty(len(y))
    predicted[order] = np.arange(1, len(y) + 1)
    v = predicted if plain else linear_sum_assignment(ndcg_costs(s, y, k, gain))[1] + 1.0
    return Answer(ndcg_loss(v, y, k, gain), positions(y) - v, ndcg_loss(predicted, y, k, gain))


def ndcg_hinge_by_permutations(s: Array, y: Array, k: int | None, gain: str = "linear") -> float:
    pi = positions(y)
    every = (np.array(v, dtype=float) for v in permutations(range(1, len(y) + 1)))
    return max(ndcg_loss(v, y, k, gain) + float((v - pi) @ s) for v in every)


# --- bipartite measures -------------------------------------------------------------------------------------------


def measure(name: str, a: int, b: int, P: int, N: int, beta: float = 1.0) -> float:
    def ratio(part: float, whole: float) -> float:
        return part / whole if whole else 1.0

    if name == "sensitivity_specificity":
        return (ratio(a, P) + ratio(N - b, N)) / 2
    if name == "recall_at_k":
        return ratio(a, P)
    if name == "precision_at_k":
        return ratio(a, a + b)
    return ratio((1 + beta**2) * a, a + b + beta**2 * P)


def allowed(name: str, ones: int, r: int, k: int) -> bool:
    """Whether a vector with so many ones is in V; a list shorter than k is taken whole by precision at k."""
    return {"recall_at_k": ones <= k, "precision_at_k": ones >= min(k, r)}.get(name, True)


def nearest_allowed(name: str, y: Array, k: int) -> Array:
    """The truth in the linear term: of the lowest indices k positives are kept, or k - P negatives are added."""
    out = np.where(y > 0, 1, -1)
    if name == "recall_at_k":
        out[np.flatnonzero(y > 0)[k:]] = -1
    if name == "precision_at_k":
        out[np.flatnonzero(y <= 0)[: max(0, k - int((y > 0).sum()))]] = 1
    return out


def sign_vectors(r: int) -> Iterator[Array]:
    return (np.array(v) for v in product((-1, 1), repeat=r))


def delta(name: str, v: Array, y: Array, beta: float = 1.0) -> float:
    a, b = int(((v > 0) & (y > 0)).sum()), int(((v > 0) & (y <= 0)).sum())
    return 1 - measure(name, a, b, int((y > 0).sum()), int((y <= 0).sum()), beta)


def multivariate_by_sign_vectors(name: str, s: Array, y: Array, k: int, beta: float = 1.0) -> float:
    """max over V of delta(v, y) + sum v_i s_i."""
    vectors = (v for v in sign_vectors(len(y)) if allowed(name, int((v > 0).sum()), len(y), k))
    return max(delta(name, v, y, beta) + float(v @ s) for v in vectors)


def multivariate(name: str, s: Array, y: Array, k: int = 1, beta: float = 1.0) -> Array:
    """The book's listing: every (a, b), the last one at ties."""
    best_first = sorted(range(len(y)), key=lambda i: (-s[i], i))
    ups, downs = [i for i in best_first if y[i] > 0], [i for i in best_first if y[i] <= 0]
    highest, best = -np.inf, np.empty(0)
    for a in range(len(ups) + 1):
        for b in range(len(downs) + 1):
            if not allowed(name, a + b, len(y), k):
                continue
            v = np.full(len(y), -1)
            v[ups[:a] + downs[:b]] = 1
            value = 1 - measure(name, a, b, len(ups), len(downs), beta) + float(v @ s)
            if value >= highest:
                highest, best = value, v
    return best


def predicted(name: str, s: Array, k: int = 1, worst_for: Array | None = None) -> Array:
    """b(s): all above zero; of them the k highest at most; all of them, and the k highest at least.

    `worst_for` lets every tie, also the one with zero, go against the truth.
    """
    first = np.zeros(len(s)) if worst_for is None else (worst_for > 0).astype(float)
    order = sorted(range(len(s)), key=lambda i: (-s[i], first[i], i))
    rank = np.empty(len(s))
    rank[order] = np.arange(len(s))
    above = s > 0 if worst_for is None else (s > 0) | ((s == 0) & (worst_for <= 0))
    if name == "recall_at_k":
        above &= rank < k
    if name == "precision_at_k":
        above |= rank < k
    return np.where(above, 1, -1)


def bipartite(name: str, s: Array, y: Array, k: int = 1, beta: float = 1.0, plain: bool = False) -> Answer:
    worst = predicted(name, s, k, worst_for=y)
    v = worst if plain else multivariate(name, s, y, k, beta)
    return Answer(delta(name, v, y, beta), (nearest_allowed(name, y, k) - v).astype(float), delta(name, worst, y, beta))


# --- one list a round ---------------------------------------------------------------------------------------------


class ListLearner:
    """w moves along sum_i c_i x_i; `ask(s, y, plain)` answers a list, or None where it asks for nothing."""

    def __init__(self, n: int, rule: str, ask: Callable[..., Answer | None], **parameters: float) -> None:
        self.w, self.rule, self.ask, self.parameters = np.zeros(n), rule, ask, parameters
        self.mean, self.rounds, self.dual = np.zeros(n), 0, 0.0

    def round(self, X: Array, y: Array, weight: float = 1.0) -> tuple[float, float]:
        """Learn a list; return its hinge and its error before that."""
        s, it = X @ self.w, self.parameters
        answer = self.ask(s, y, plain=self.rule == "perceptron")
        if answer is None:
            return 0.0, 0.0
        along, hinge = X.T @ answer.coefficients, self.ask(s, y, plain=False).hinge(s)
        if self.rule == "passive-aggressive" and hinge > 0 and weight > 0:
            tau = it["C"] * weight if not along.any() else min(it["C"] * weight, hinge / float(along @ along))
            self.w = self.w + tau * along
            self.dual += tau * answer.delta
        if self.rule == "perceptron" and answer.delta > 0:
            self.w = self.w + weight * along
        return max(0.0, hinge), answer.error
