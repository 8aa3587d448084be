"""Measures for ordered classes, the truth being a class (n,) or an inclusive interval (n, 2) (MATH.md B).

``classes`` gives the classes in their order, and a distance counts classes; without it the classes are integers.
The ends of an interval may be ``-inf`` and ``inf``; ``-inf`` to ``inf`` is no constraint and counts as loss 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._inputs import Array, Floats, mean, numbers, require, same_length, vector, weights


def _class_numbers(values: Any, classes: ArrayLike | None, name: str) -> Floats:
    """Give places in ``classes``, counted from 1, or the integers themselves; infinite ends stay infinite."""
    if classes is None:
        array = np.asarray(values)
        try:
            places = array.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} holds {array.dtype}; pass classes= in their order") from None
        require(np.isinf(places) | (places == np.floor(places)), name, "integers (or pass classes= in their order)")
        return places
    array = np.asarray(values, dtype=object)
    known: dict[Any, float] = {value: place for place, value in enumerate(np.asarray(classes).tolist(), start=1)}
    known |= {end: end for end in (-np.inf, np.inf)}
    found = [known.get(value, np.nan) for value in array.ravel().tolist()]
    places = np.asarray(found, dtype=np.float64).reshape(array.shape)
    require(~np.isnan(places), name, "only values named in classes")
    return places


def _intervals(y_true: Any, classes: ArrayLike | None) -> tuple[Floats, Floats]:
    places = _class_numbers(y_true, classes, "y_true")
    if not len(places):
        raise ValueError("y_true has no rows")
    if places.ndim == 1 or places.shape[1:] == (1,):
        require(np.isfinite(places), "y_true", "finite classes where it is no interval")
        return places.ravel(), places.ravel()
    if places.ndim != 2 or places.shape[1] != 2:
        raise ValueError(f"y_true must be (n,) classes or (n, 2) intervals, got shape {places.shape}")
    low, high = places.T
    require((low <= high) & (low < np.inf) & (high > -np.inf), "y_true", "intervals with low <= high")
    return low, high


def _predictions(y_pred: ArrayLike, classes: ArrayLike | None) -> Floats:
    places = _class_numbers(vector(y_pred, "y_pred"), classes, "y_pred")
    require(np.isfinite(places), "y_pred", "finite classes")
    return places


def _distances(y_true: Any, y_pred: ArrayLike, classes: ArrayLike | None) -> Floats:
    low, high = _intervals(y_true, classes)
    predicted = _predictions(y_pred, classes)
    same_length(low, predicted, "y_true and y_pred")
    return np.maximum(np.maximum(low - predicted, predicted - high), 0.0)


def interval_mae(
    y_true: Any, y_pred: ArrayLike, *, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Average ``L_MAE = max(low - yhat, yhat - high, 0)``: how many classes the prediction lies outside the interval.

    Examples
    --------
    >>> interval_mae([[1, 2], [3, np.inf], [2, 2]], [4, 3, 1])
    1.0
    """
    return mean(_distances(y_true, y_pred, classes), sample_weight)


def interval_hinge_loss(
    y_true: Any,
    y_score: ArrayLike,
    thresholds: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average ``L_IMC = sum_{i < low} [b_i - f]+ + sum_{i >= high} [f - b_i]+`` over thresholds ``b_1 .. b_{K-1}``.

    Without ``classes`` the classes are 1 .. K.

    Examples
    --------
    >>> interval_hinge_loss([[1, 2]], [3.0], thresholds=[0.0, 1.0, 2.0])
    3.0
    """
    cuts: Array = np.asarray(thresholds, dtype=np.float64)
    if cuts.ndim != 1 or not np.isfinite(cuts).all():
        raise ValueError("thresholds must be K-1 finite numbers")
    if classes is not None and len(np.asarray(classes)) != len(cuts) + 1:
        raise ValueError(f"{len(np.asarray(classes))} classes need as many thresholds less one, got {len(cuts)}")
    low, high = _intervals(y_true, classes)
    inside = [np.isinf(end) | ((end >= 1) & (end <= len(cuts) + 1)) for end in (low, high)]
    require(inside[0] & inside[1], "y_true", f"classes 1 to {len(cuts) + 1}")
    score = vector(numbers(y_score, "y_score"), "y_score").astype(np.float64)
    same_length(low, score, "y_true and y_score")
    number = np.arange(1, len(cuts) + 1)
    excess = score[:, None] - cuts
    left, right = number < low[:, None], number >= high[:, None]
    return mean((np.maximum(-excess, 0) * left + np.maximum(excess, 0) * right).sum(axis=1), sample_weight)


def macro_averaged_mae(
    y_true: Any, y_pred: ArrayLike, *, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Average ``|y - yhat|`` within each true class, then over the classes that occur in ``y_true``.

    Examples
    --------
    >>> macro_averaged_mae([1, 1, 1, 2], [1, 1, 1, 3])
    0.5
    """
    low, high = _intervals(y_true, classes)
    require(low == high, "y_true", "exact classes")
    distance = _distances(y_true, y_pred, classes)
    weight = weights(sample_weight, len(low))
    weight = np.ones(len(low)) if weight is None else weight
    own = [low == value for value in np.unique(low[weight > 0])]
    return float(np.mean([np.average(distance[rows], weights=weight[rows]) for rows in own]))


def accuracy_within_one(
    y_true: Any, y_pred: ArrayLike, *, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Average ``1[L_MAE <= 1]``: the share of predictions at most one class away.

    Examples
    --------
    >>> accuracy_within_one(["low", "low"], ["mid", "high"], classes=["low", "mid", "high"])
    0.5
    """
    return mean(_distances(y_true, y_pred, classes) <= 1, sample_weight)
