"""Classes, sequences and any other structure, by looking at every answer (MATH.md section E).

A problem supplies ``answers(x)`` in the order in which ties are settled, ``features(x, y)`` and ``delta(answer, y)``.
The rules below know nothing else. An answer other than the truth that scores as much as the truth is a mistake. A
round of weight zero is scored and not learned: it is no step of a schedule either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class Classes:
    """The multivector map: one block of weights a class, as one long vector; ``cost[answer, truth]``."""

    k: int
    cost: Array | None = None

    def answers(self, x: Array) -> Iterator[int]:
        """List the classes."""
        return iter(range(self.k))

    def features(self, x: Array, y: int) -> Array:
        """Put x in the block of y."""
        return np.kron(np.eye(self.k)[y], x)

    def delta(self, answer: int, y: int) -> float:
        """Cost the answer."""
        return float(answer != y) if self.cost is None else float(self.cost[answer, y])


@dataclass
class Words:
    """Emissions (q blocks of n) and then transitions (q x q, from the letter before to this one).

    Ties go to the lowest last letter, then to the lowest letter before it, and so on.
    """

    q: int
    cost: Array | None = None
    normalize: bool = False

    def answers(self, x: Array) -> Iterator[tuple[int, ...]]:
        """List all words as long as x."""
        return (word[::-1] for word in product(range(self.q), repeat=len(x)))

    def features(self, x: Array, y: Sequence[int]) -> Array:
        """Sum the letters' instances by letter, and count the transitions."""
        emissions, transitions = np.zeros((self.q, x.shape[1])), np.zeros((self.q, self.q))
        for t, letter in enumerate(y):
            emissions[letter] += x[t]
            if t > 0:
                transitions[y[t - 1], letter] += 1
        return np.concatenate([emissions.ravel(), transitions.ravel()]) / (len(y) if self.normalize else 1)

    def delta(self, answer: Sequence[int], y: Sequence[int]) -> float:
        """Sum the letters' costs."""
        cost = 1 - np.eye(self.q) if self.cost is None else self.cost
        return float(sum(cost[a, b] for a, b in zip(answer, y, strict=True))) / (len(y) if self.normalize else 1)


def best(values: list[tuple[float, Any]], tolerance: float = 1e-9) -> tuple[float, Any]:
    """Return the first of the values that are largest, up to rounding."""
    top = max(value for value, _ in values)
    return next((value, answer) for value, answer in values if value >= top - tolerance)


def argmax(problem: Any, w: Array, x: Any, y: Any = None) -> Any:
    """Answer x; with y given, the answer that the hinge is attained at."""
    cost = (lambda answer: 0.0) if y is None else (lambda answer: problem.delta(answer, y))
    return best([(cost(answer) + float(w @ problem.features(x, answer)), answer) for answer in problem.answers(x)])[1]


def hinge(problem: Any, w: Array, x: Any, y: Any) -> float:
    """Compute ``max delta(y', y) + <w, Psi(x, y') - Psi(x, y)>`` (17.3)."""
    own = problem.features(x, y)
    return max(problem.delta(a, y) + float(w @ (problem.features(x, a) - own)) for a in problem.answers(x))


def rival(problem: Any, w: Array, x: Any, y: Any) -> tuple[Any, bool]:
    """Return the best answer besides y, and whether it scores as much as y at least."""
    others = [(float(w @ problem.features(x, a)), a) for a in problem.answers(x) if a != y]
    score, answer = best(others)
    return answer, score >= float(w @ problem.features(x, y)) - 1e-9


@dataclass(frozen=True)
class Round:
    """What a round looked like before the update, and how far it moved along Psi(x, y) - Psi(x, answer)."""

    loss: float
    error: float
    step: float


class Learner:
    """One of the online rules over a problem with d joint features.

    Parameters
    ----------
    problem : problem
    d : int
    rule : {"sgd", "passive-aggressive", "perceptron"}
    C : float
        Passive-aggressive: the largest step.
    eta : float, optional
        SGD: a constant step; without it the step of the regularised objective.
    alpha : float
        SGD: the lambda of ``lambda ||w||^2 + mean hinge``.

    Examples
    --------
    >>> learner = Learner(Classes(2), 2, "passive-aggressive")
    >>> learner.round(np.array([1.0]), 1)
    Round(loss=1.0, error=1.0, step=0.5)
    >>> learner.w, learner.dual
    (array([-0.5,  0.5]), 0.25)
    """

    def __init__(
        self, problem: Any, d: int, rule: str, C: float = 1.0, eta: float | None = None, alpha: float = 1e-4
    ) -> None:
        self.problem, self.rule, self.C, self.eta, self.alpha = problem, rule, C, eta, alpha
        self.w, self.total, self.rounds, self.t, self.promised, self.moves = np.zeros(d), np.zeros(d), 0, 0, 0.0, 0

    @property
    def mean(self) -> Array:
        """The mean of the weights before each update."""
        return self.total / self.rounds

    @property
    def dual(self) -> float:
        """The certificate of passive-aggressive."""
        return self.promised - float(self.w @ self.w) / 2

    def round(self, x: Any, y: Any, weight: float = 1.0) -> Round:
        """Predict, suffer, move."""
        it, own = self.problem, self.problem.features(x, y)
        answer, wrong = rival(it, self.w, x, y)
        loss, error = hinge(it, self.w, x, y), it.delta(answer, y) if wrong else 0.0
        if self.rule != "perceptron":
            answer = argmax(it, self.w, x, y)
        self.total, self.rounds = self.total + self.w, self.rounds + 1
        if weight == 0:
            return Round(loss, error, 0.0)
        self.t += 1
        along, step = own - it.features(x, answer), 0.0
        if self.rule == "perceptron":
            step = weight if wrong else 0.0
        elif self.rule == "sgd":
            step = weight * (1 / (2 * self.alpha * self.t) if self.eta is None else self.eta) if loss > 1e-12 else 0.0
            self.w = self.w * (1 - 1 / self.t) if self.eta is None else self.w
        elif loss > 1e-12:
            step = min(weight * self.C, loss / float(along @ along)) if along.any() else weight * self.C
        self.promised += step * it.delta(answer, y)
        self.moves += step > 0
        self.w = self.w + step * along
        return Round(loss, error, step)


def objective(problem: Any, w: Array, xs: Sequence[Any], ys: Sequence[Any], alpha: float) -> float:
    """Compute ``lambda ||w||^2 + mean hinge``."""
    return alpha * float(w @ w) + float(np.mean([hinge(problem, w, x, y) for x, y in zip(xs, ys, strict=True)]))


def frank_wolfe(
    problem: Any, xs: Sequence[Any], ys: Sequence[Any], alpha: float, passes: int
) -> tuple[Array, float, float]:
    """Block Frank-Wolfe with exact line search, in order: w, primal and dual value."""
    m = len(xs)
    d = problem.features(xs[0], ys[0]).size
    blocks, gains, w = np.zeros((m, d)), np.zeros(m), np.zeros(d)
    for _ in range(passes):
        for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
            answer = argmax(problem, w, x, y)
            towards = problem.features(x, y) - problem.features(x, answer) - blocks[i]
            gain = problem.delta(answer, y) - gains[i]
            length = float(towards @ towards)
            slope = gain - float(w @ towards)
            step = 1.0 if length == 0 and slope > 0 else 0.0 if length == 0 else 2 * alpha * m * slope / length
            step = min(1.0, max(0.0, step))
            blocks[i], gains[i] = blocks[i] + step * towards, gains[i] + step * gain
            w = w + step * towards / (2 * alpha * m)
    return w, objective(problem, w, xs, ys, alpha), float(gains.mean() - alpha * w @ w)


def project_on_simplex(v: Array) -> Array:
    """Return the nearest vector of non-negative numbers that sum to one."""
    down = np.sort(v)[::-1]
    shifts = (np.cumsum(down) - 1) / np.arange(1, v.size + 1)
    return np.maximum(0, v - shifts[np.flatnonzero(down > shifts)[-1]])


def block_ascent(X: ArrayLike, y: Sequence[int], problem: Classes, alpha: float, passes: int) -> tuple[Array, float]:
    """Multivector blocks in closed form, in order: weights (k, n) and dual value."""
    X = np.asarray(X, dtype=np.float64)
    m, k = len(X), problem.k
    a = np.eye(k)[list(y)]  # all mass on the truth: w = 0
    W = np.zeros((k, X.shape[1]))
    deltas = np.array([[problem.delta(answer, truth) for answer in range(k)] for truth in y])
    for _ in range(passes):
        for i, x in enumerate(X):
            own = np.eye(k)[y[i]]
            rest = W - np.outer(own - a[i], x) / (2 * alpha * m)
            if x @ x == 0:
                a[i] = np.eye(k)[int(np.argmax(deltas[i]))]
            else:
                a[i] = project_on_simplex(own + 2 * alpha * m / (x @ x) * (deltas[i] + rest @ x))
            W = rest + np.outer(own - a[i], x) / (2 * alpha * m)
    return W, float((a * deltas).sum() / m - alpha * (W * W).sum())


def passes_of(learner: Learner, xs: Sequence[Any], ys: Sequence[Any], most: int, seen: Callable[..., None]) -> int:
    """Go over the examples until a pass moves nothing; return how many passes there were."""
    for number in range(most):
        before = learner.moves
        for x, y in zip(xs, ys, strict=True):
            seen(learner.round(x, y))
        if learner.moves == before:
            return number + 1
    return most
