"""Where to cut scores, so that a measure of what lies above is largest."""

from __future__ import annotations

import numpy as np

__all__ = ["best_threshold"]


def best_threshold(relevant: np.ndarray, scores: np.ndarray, measure: str, beta: float) -> float:
    """Return where to cut scores so that F1, F-beta, or the mean of sensitivity and specificity is largest.

    Halfway between two scores that differ; of equal measures the highest threshold.

    Examples
    --------
    >>> best_threshold(np.array([True, False, True, False]), np.array([4.0, 1.0, 3.0, 2.0]), "f1", 1.0)
    2.5
    """
    order = np.argsort(-scores, kind="stable")
    high = scores[order].astype(np.float64)
    a = np.concatenate([[0], np.cumsum(relevant[order])])
    b = np.arange(a.size) - a
    positives, negatives = a[-1], b[-1]
    if measure == "sensitivity_specificity":
        value = a / max(1, positives) - b / max(1, negatives)
    else:
        weight = 1.0 if measure == "f1" else beta**2
        value = (1 + weight) * a / np.maximum(1, a + b + weight * positives)
    possible = np.concatenate([[True], high[1:] < high[:-1], [True]])
    cut = int(np.argmax(np.where(possible, value, -np.inf)))
    ends = np.concatenate([[high[0] + 2], high, [high[-1] - 2]])
    return float((ends[cut] + ends[cut + 1]) / 2)
