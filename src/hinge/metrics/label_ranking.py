"""Measures of a label ranking: scores (n, k) against the relevant labels of each row (MATH.md A and D).

Relevant labels are 1-d labels (columns, or values of ``labels``), an indicator array or a sparse indicator (n, k);
1-d scores stand for two labels, scored 0 and s. ``Y`` is the set of a row, ``rho`` its scores.
A row whose set is empty or full carries no constraint: it counts in the mean, as 0 in a loss and as 1 in a score.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._inputs import Array, Floats, blocks, mean, score_matrix, target_matrix
from ._sorting import average_precisions, pair_counts, row_groups


def _margins(y_true: Any, y_score: ArrayLike, labels: ArrayLike | None) -> Floats:
    scores = score_matrix(y_score)
    relevant = target_matrix(y_true, scores, labels)
    lowest = np.where(relevant, scores, np.inf).min(axis=1)
    highest = np.where(relevant, -np.inf, scores).max(axis=1)
    return np.asarray(lowest.astype(np.float64) - highest)


def _pair_loss(y_true: Any, y_score: ArrayLike, labels: ArrayLike | None, tie: float) -> Floats:
    scores = score_matrix(y_score, check=False)  # pair_counts does it, at no cost
    wrong, tied, pairs = pair_counts(scores, target_matrix(y_true, scores, labels))
    return (wrong + tie * tied) / np.maximum(pairs, 1)


def hinge_loss(
    y_true: Any,
    y_score: ArrayLike,
    *,
    margin: float = 1.0,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average ``[margin - (min_{r in Y} rho_r - max_{s not in Y} rho_s)]+``, the hinge of the worst pair.

    For single labels it is scikit-learn's ``hinge_loss``.

    Examples
    --------
    >>> hinge_loss([[1, 0, 1]], [[2.0, 1.5, 3.0]])
    0.5
    """
    return mean(np.maximum(margin - _margins(y_true, y_score, labels), 0.0), sample_weight)


def zero_one_ranking_loss(
    y_true: Any, y_score: ArrayLike, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Average ``1[min_{r in Y} rho_r <= max_{s not in Y} rho_s]``: the share of ranking mistakes, ties among them.

    Examples
    --------
    >>> zero_one_ranking_loss([[1, 0, 1], [1, 0, 0]], [[2, 1, 3], [1, 1, 0]])
    0.5
    """
    return mean(_margins(y_true, y_score, labels) <= 0, sample_weight)


def label_ranking_loss(
    y_true: Any, y_score: ArrayLike, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Average ``#{(r, s) in Y x complement : rho_r <= rho_s} / (|Y| (k - |Y|))``; a tie counts as 1.

    Equal to scikit-learn's function of this name, and faster; ``ranking_loss`` is the same.

    Examples
    --------
    >>> label_ranking_loss([[1, 0, 1, 0]], [[4, 3, 2, 2]])
    0.5
    """
    return mean(_pair_loss(y_true, y_score, labels, tie=1.0), sample_weight)


ranking_loss = label_ranking_loss


def label_ranking_auc(
    y_true: Any, y_score: ArrayLike, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Average the area under each row's ROC curve: the share of pairs in right order, a tie counting 1/2.

    Where every row has a constraint it is scikit-learn's ``roc_auc_score(average="samples")``.

    Examples
    --------
    >>> label_ranking_auc([[1, 0, 1, 0]], [[4, 3, 2, 2]])
    0.625
    """
    return 1.0 - mean(_pair_loss(y_true, y_score, labels, tie=0.5), sample_weight)


def pairwise_hinge_loss(
    y_true: Any,
    y_score: ArrayLike,
    *,
    margin: float = 1.0,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average ``sum_{r in Y, s not in Y} [margin - rho_r + rho_s]+ / (|Y| (k - |Y|))``, in O(k log k) a row.

    Examples
    --------
    >>> pairwise_hinge_loss([[1, 0, 1]], [[2.0, 1.5, 3.0]])
    0.25
    """
    scores = score_matrix(y_score)
    relevant = target_matrix(y_true, scores, labels)
    values = [_pairwise_hinge(scores[rows], relevant[rows], margin) for rows in blocks(scores.shape)]
    return mean(np.concatenate(values), sample_weight)


def _pairwise_hinge(scores: Array, relevant: Array, margin: float) -> Floats:
    centred = scores - scores.mean(axis=1, keepdims=True, dtype=np.float64)
    shifted = centred - margin * relevant
    order = np.argsort(-shifted, axis=1)
    shifted, relevant = np.take_along_axis(shifted, order, 1), np.take_along_axis(relevant, order, 1)
    irrelevant_above = np.cumsum(~relevant, axis=1)
    sum_above = np.cumsum(np.where(relevant, 0.0, shifted), axis=1)
    total = ((sum_above - irrelevant_above * shifted) * relevant).sum(axis=1)
    pairs = irrelevant_above[:, -1] * relevant.sum(axis=1)
    return np.asarray(total / np.maximum(pairs, 1))


def one_error(
    y_true: Any, y_score: ArrayLike, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Average ``1[argmax_y rho_y not in Y]``; of tied labels the lowest index is the top one, as in ``predict``.

    Examples
    --------
    >>> one_error([[1, 0, 1], [1, 0, 0]], [[2, 1, 3], [0, 2, 1]])
    0.5
    """
    scores = score_matrix(y_score)
    relevant = target_matrix(y_true, scores, labels)
    hit = relevant[np.arange(len(scores)), scores.argmax(axis=1)]
    return mean(relevant.any(axis=1) & ~hit, sample_weight)


def coverage_error(
    y_true: Any, y_score: ArrayLike, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Average ``#{y : rho_y >= min_{r in Y} rho_r}``: how far down the list one must go to find all of Y.

    Equal to scikit-learn's: ties count in full, an empty set counts 0, a full one k.

    Examples
    --------
    >>> coverage_error([[1, 0, 1], [1, 0, 0]], [[2, 1, 3], [0, 2, 1]])
    2.5
    """
    scores = score_matrix(y_score)
    relevant = target_matrix(y_true, scores, labels)
    lowest = np.where(relevant, scores, np.inf).min(axis=1, keepdims=True)
    return mean((scores >= lowest).sum(axis=1), sample_weight)


def label_ranking_average_precision_score(
    y_true: Any, y_score: ArrayLike, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Average ``(1/|Y|) sum_{r in Y} #{r' in Y : rho_r' >= rho_r} / #{y : rho_y >= rho_r}``.

    Equal to scikit-learn's, and faster; empty and full sets count 1.

    Examples
    --------
    >>> label_ranking_average_precision_score([[1, 0, 0], [1, 0, 1]], [[1, 2, 0], [2, 1, 3]])
    0.75
    """
    scores = score_matrix(y_score)
    relevant = target_matrix(y_true, scores, labels)
    values = np.empty(len(scores))
    for rows in blocks(scores.shape):
        values[rows], count = average_precisions(row_groups(scores[rows], relevant[rows]), len(scores[rows]))
        values[rows][count == 0] = 1.0
    return mean(values, sample_weight)
