"""Measures of one batch, or of lists cut by ``qid``, of relevant and irrelevant rows (MATH.md E).

a, b, c, d are the true positives, false positives, false negatives and true negatives. ``pos_label`` is the
relevant label. A measure of the form 0/0 is ``zero_division``, 1 by default (scikit-learn: 0 with a warning).
Weights are one a row and multiply its count; with ``qid`` the measure is the plain mean over lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ._inputs import Array, Bools, Floats, numbers, owners, same_length, vector, weights
from ._sorting import starts_of


class Counts(NamedTuple):
    """True positives, false positives, false negatives and true negatives of each list."""

    a: Floats
    b: Floats
    c: Floats
    d: Floats


def _positive(values: Array, pos_label: Any, name: str) -> Bools:
    present = np.unique(values)
    usual = values.dtype.kind in "biuf" and bool(np.isin(present, (-1, 0, 1)).all())
    unknown = len(present) == 2 and pos_label not in present.tolist() and not (usual and pos_label == 1)
    if len(present) > 2 or unknown:
        raise ValueError(
            f"{name} must hold two labels, one of them pos_label={pos_label!r}, got {present[:4].tolist()}"
        )
    return np.asarray(values == pos_label)


def _counts(truth: Bools, predicted: Bools, qid: ArrayLike | None, sample_weight: ArrayLike | None) -> Counts:
    owner, count = owners(qid, len(truth))
    weight = weights(sample_weight, len(truth))
    cell = np.bincount(owner * 4 + 2 * truth + predicted, weights=weight, minlength=4 * count).reshape(-1, 4)
    d, b, c, a = cell.T.astype(np.float64)
    return Counts(a, b, c, d)


def _confusion(
    y_true: ArrayLike, y_pred: ArrayLike, pos_label: Any, qid: ArrayLike | None, sample_weight: ArrayLike | None
) -> Counts:
    truth, predicted = vector(y_true, "y_true"), vector(y_pred, "y_pred")
    same_length(truth, predicted, "y_true and y_pred")
    both = _positive(np.concatenate([truth, predicted]), pos_label, "y_true and y_pred")
    return _counts(both[: len(truth)], both[len(truth) :], qid, sample_weight)


def _ratio(part: Floats, whole: Floats, zero_division: float) -> Floats:
    return np.asarray(np.divide(part, whole, out=np.full(len(part), float(zero_division)), where=whole > 0))


class MeasureOfCounts(Protocol):
    """A measure of labels and of what was predicted."""

    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        pos_label: Any = 1,
        qid: ArrayLike | None = None,
        zero_division: float = 1.0,
        sample_weight: ArrayLike | None = None,
    ) -> float: ...


def _of_counts(formula: Callable[[Counts, float], Floats]) -> MeasureOfCounts:
    """Make a formula in each list's counts, and in what 0/0 is, a measure: its mean over the lists."""

    def measure(
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        pos_label: Any = 1,
        qid: ArrayLike | None = None,
        zero_division: float = 1.0,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        n = _confusion(y_true, y_pred, pos_label, qid, sample_weight)
        return float(formula(n, zero_division).mean())

    measure.__doc__, measure.__name__, measure.__qualname__ = formula.__doc__, formula.__name__, formula.__qualname__
    return measure


@_of_counts
def recall_score(n: Counts, zero_division: float) -> Floats:
    """Compute ``a / (a + c)``: the share of relevant rows that are found; ``sensitivity_score`` is the same.

    Examples
    --------
    >>> recall_score([1, 1, 0, 0], [1, 0, 1, 0])
    0.5
    """
    return _ratio(n.a, n.a + n.c, zero_division)


sensitivity_score = recall_score


@_of_counts
def specificity_score(n: Counts, zero_division: float) -> Floats:
    """Compute ``d / (b + d)``: the share of irrelevant rows that are left out.

    Examples
    --------
    >>> specificity_score([1, 0, 0, 0, 0], [1, 1, 0, 0, 0])
    0.75
    """
    return _ratio(n.d, n.b + n.d, zero_division)


@_of_counts
def sensitivity_specificity_score(n: Counts, zero_division: float) -> Floats:
    """Compute ``(a / (a + c) + d / (b + d)) / 2``, scikit-learn's ``balanced_accuracy_score`` where both occur.

    Examples
    --------
    >>> sensitivity_specificity_score([1, 0, 0, 0, 0], [1, 1, 0, 0, 0])
    0.875
    """
    return np.asarray((_ratio(n.a, n.a + n.c, zero_division) + _ratio(n.d, n.b + n.d, zero_division)) / 2)


@_of_counts
def precision_score(n: Counts, zero_division: float) -> Floats:
    """Compute ``a / (a + b)``: the share of predicted rows that are relevant.

    Examples
    --------
    >>> precision_score([1, 1, 0, 0], [1, 0, 1, 0]), precision_score([1, 0], [0, 0])
    (0.5, 1.0)
    """
    return _ratio(n.a, n.a + n.b, zero_division)


def _fbeta(n: Counts, beta: float, zero_division: float) -> Floats:
    hits = (1 + beta**2) * n.a
    return _ratio(hits, hits + n.b + beta**2 * n.c, zero_division)


@_of_counts
def f1_score(n: Counts, zero_division: float) -> Floats:
    """Compute ``2a / (2a + b + c)``, the harmonic mean of precision and recall.

    Examples
    --------
    >>> f1_score([1, 1, 1, 0], [1, 0, 0, 0]), f1_score([0, 0], [0, 0])
    (0.5, 1.0)
    """
    return _fbeta(n, 1.0, zero_division)


def fbeta_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float,
    pos_label: Any = 1,
    qid: ArrayLike | None = None,
    zero_division: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute ``(1 + beta^2) a / ((1 + beta^2) a + b + beta^2 c)``: recall weighs beta^2 times as much as precision.

    Examples
    --------
    >>> fbeta_score([1, 1, 1, 0], [1, 0, 0, 0], beta=2.0)
    0.384...
    """
    if not 0 <= beta < np.inf:
        raise ValueError(f"beta must be a non-negative number, got {beta!r}")
    n = _confusion(y_true, y_pred, pos_label, qid, sample_weight)
    return float(_fbeta(n, beta, zero_division).mean())


def _top(score: Array, qid: ArrayLike | None, k: int) -> Bools:
    """Mark the k highest scores of each list; of tied rows the first."""
    if k < 1 or k != int(k):
        raise ValueError(f"k must be a positive integer, got {k!r}")
    owner, _ = owners(qid, len(score))
    order = np.lexsort((-score, owner))
    start = starts_of(owner[order])
    top = np.empty(len(score), dtype=bool)
    top[order] = np.arange(len(score)) - np.repeat(start, np.diff(start, append=len(score))) < k
    return top


def _truth_and_score(y_true: ArrayLike, y_score: ArrayLike, pos_label: Any) -> tuple[Bools, Array]:
    truth = _positive(vector(y_true, "y_true"), pos_label, "y_true")
    score = vector(numbers(y_score, "y_score"), "y_score")
    same_length(truth, score, "y_true and y_score")
    return truth, score


def recall_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int,
    threshold: float = 0.0,
    pos_label: Any = 1,
    qid: ArrayLike | None = None,
    zero_division: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute ``a / (a + c)`` of the at most k highest scores above the threshold; of tied rows the first.

    With ``threshold=-inf`` it is the recall of exactly the k highest.

    Examples
    --------
    >>> y, s = [1, 1, 0, 1], [0.9, -0.1, 0.5, -0.2]
    >>> recall_at_k(y, s, k=3), recall_at_k(y, s, k=3, threshold=-np.inf)
    (0.333..., 0.666...)
    """
    truth, score = _truth_and_score(y_true, y_score, pos_label)
    n = _counts(truth, _top(score, qid, k) & (score > threshold), qid, sample_weight)
    return float(_ratio(n.a, n.a + n.c, zero_division).mean())


def precision_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int,
    threshold: float = 0.0,
    pos_label: Any = 1,
    qid: ArrayLike | None = None,
    zero_division: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute ``a / (a + b)`` of all scores above the threshold and at least the k highest; of tied rows the first.

    With ``threshold=inf`` it is the precision of exactly the k highest. Lists shorter than k are taken whole.

    Examples
    --------
    >>> y, s = [1, 1, 0, 1], [0.9, 0.6, 0.5, -0.2]
    >>> precision_at_k(y, s, k=2), precision_at_k(y, s, k=2, threshold=np.inf)
    (0.666..., 1.0)
    """
    truth, score = _truth_and_score(y_true, y_score, pos_label)
    n = _counts(truth, _top(score, qid, k) | (score > threshold), qid, sample_weight)
    return float(_ratio(n.a, n.a + n.b, zero_division).mean())
