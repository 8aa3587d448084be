"""Measures for classes with costs (MATH.md E).

``cost[i, j]`` is ``delta(y', y)``, the cost of answering class i where class j is true; without it every error costs 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._inputs import Array, Floats, mean, positions, same_length, score_matrix, vector


def cost_matrix(cost: ArrayLike | None, size: int) -> Floats:
    """Check a cost matrix, or give the 0-1 costs."""
    if cost is None:
        return 1.0 - np.eye(size)
    matrix = np.asarray(cost, dtype=np.float64)
    if matrix.shape != (size, size):
        raise ValueError(f"cost must have shape {(size, size)}, a row and a column for each label, got {matrix.shape}")
    if not (np.isfinite(matrix) & (matrix >= 0)).all():
        raise ValueError("cost must hold finite, non-negative numbers")
    return matrix


def label_costs(truth: Array, predicted: Array, cost: ArrayLike | None, labels: ArrayLike | None) -> Floats:
    """Give ``delta(yhat, y)`` of each entry."""
    if cost is None:
        return np.asarray(truth != predicted, dtype=np.float64)
    known = np.unique(np.concatenate([truth, predicted])) if labels is None else np.asarray(labels)
    if labels is None and len(known) != len(np.asarray(cost)):
        raise ValueError(f"cost has {len(np.asarray(cost))} rows for {len(known)} labels that occur; pass labels=")
    matrix = cost_matrix(cost, len(known))
    rows = positions(predicted, known, len(known), "y_pred")
    return np.asarray(matrix[rows, positions(truth, known, len(known), "y_true")])


def cost_weighted_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average ``delta(yhat, y) = cost[yhat, y]``.

    ``labels`` name the rows and columns of ``cost``; by default they are the sorted labels that occur.

    Examples
    --------
    >>> cost_weighted_error(["ham", "spam"], ["spam", "spam"], cost=[[0, 1], [5, 0]])
    2.5
    """
    truth, predicted = vector(y_true, "y_true"), vector(y_pred, "y_pred")
    same_length(truth, predicted, "y_true and y_pred")
    return mean(label_costs(truth, predicted, cost, labels), sample_weight)


def generalised_hinge_loss(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    cost: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average ``max_{y'} delta(y', y) + s_{y'} - s_y``, an upper bound of the cost of the best scored class.

    ``labels`` name the columns of the scores; by default ``y_true`` holds column numbers.

    Examples
    --------
    >>> generalised_hinge_loss([0], [[1.0, 0.5, 2.0]], cost=[[0, 1, 1], [4, 0, 1], [1, 1, 0]])
    3.5
    """
    scores = score_matrix(y_score).astype(np.float64)
    truth = vector(y_true, "y_true")
    same_length(truth, scores, "y_true and y_score")
    column = positions(truth, labels, scores.shape[1], "y_true")
    augmented = scores + cost_matrix(cost, scores.shape[1]).T[column]
    return mean(augmented.max(axis=1) - scores[np.arange(len(scores)), column], sample_weight)
