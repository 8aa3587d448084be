"""Measures of parallel tasks that share one loss (MATH.md C).

``y_true`` is (n, k), or (n,) for one task, in {-1, 1} or {0, 1}; NaN is a dormant task, which errs nowhere and has
loss 0. ``y_score`` are real scores of the same shape, of which the sign decides; a score of 0 is an error.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ._inputs import Array, Bools, Floats, mean, numbers, require


class Norm(Protocol):
    """A norm of one vector, such as those of ``hinge.norms``."""

    def value(self, v: Any, /) -> float:
        """Give the norm of v."""
        ...


def _columns(values: ArrayLike, name: str, *, nan: bool) -> Floats:
    array = numbers(values, name, nan=nan).astype(np.float64)
    if array.ndim > 2:
        raise ValueError(f"{name} must be (rows,) or (rows, tasks), got shape {array.shape}")
    return np.asarray(array.reshape(len(array), -1))


def _pair(y_true: ArrayLike, other: ArrayLike, name: str) -> tuple[Floats, Floats, Bools]:
    target, answer = _columns(y_true, "y_true", nan=True), _columns(other, name, nan=False)
    if target.shape != answer.shape:
        raise ValueError(f"y_true and {name} must have one shape, got {target.shape} and {answer.shape}")
    return target, answer, ~np.isnan(target)


def _margins(y_true: ArrayLike, y_score: ArrayLike) -> Floats:
    """Give ``y_j * score_j``, infinite for dormant tasks."""
    target, score, active = _pair(y_true, y_score, "y_score")
    if (target == -1).any():
        require(~active | (np.abs(target) == 1), "y_true", "-1, 1 and NaN (or 0, 1 and NaN) only")
    else:
        require(~active | (target == 0) | (target == 1), "y_true", "0, 1 and NaN (or -1, 1 and NaN) only")
        target = 2 * target - 1
    return np.where(active, np.where(target > 0, score, -score), np.inf)


def _norms(losses: Floats, norm: str | float | Norm) -> Array:
    """Take the norm of every row: "l1", "l2", "linf", a number p >= 1, or an object of ``hinge.norms``."""
    names = {"l1": 1.0, "l2": 2.0, "linf": np.inf}
    power = names.get(norm, norm) if isinstance(norm, str) else norm
    if isinstance(power, int | float) and power >= 1:
        return np.asarray(np.linalg.norm(losses, ord=power, axis=1))
    if isinstance(power, str | int | float):
        raise ValueError(f"norm must be 'l1', 'l2', 'linf', a number p >= 1 or a hinge.norms object, got {norm!r}")
    return np.array([power.value(row) for row in losses], dtype=np.float64)


def multitask_infinity_error(y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Average ``max_j 1[y_j score_j <= 0]``: the share of rounds in which any task errs (the paper's infinity-error).

    Examples
    --------
    >>> multitask_infinity_error([[1, -1], [1, np.nan]], [[2.0, 0.5], [1.0, 3.0]])
    0.5
    """
    return mean(np.any(_margins(y_true, y_score) <= 0, axis=1), sample_weight)


def multitask_one_error(y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Average ``(1/k) sum_j 1[y_j score_j <= 0]``, k counting the dormant tasks too (the paper's 1-error).

    Examples
    --------
    >>> multitask_one_error([[1, -1], [1, np.nan]], [[2.0, 0.5], [1.0, 3.0]])
    0.25
    """
    return mean(np.mean(_margins(y_true, y_score) <= 0, axis=1), sample_weight)


def multitask_hinge_loss(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    norm: str | float | Norm = "l2",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average ``||l||`` with ``l_j = [1 - y_j score_j]+``, in a norm: a name, a number p >= 1, or of ``hinge.norms``.

    Examples
    --------
    >>> multitask_hinge_loss([[1, -1]], [[-2.0, 3.0]])
    5.0
    """
    return mean(_norms(np.maximum(1 - _margins(y_true, y_score), 0.0), norm), sample_weight)


def multitask_absolute_loss(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    norm: str | float | Norm = "l2",
    epsilon: float = 0.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average ``||l||`` with ``l_j = [|y_j - yhat_j| - epsilon]+``: vector regression under a shared loss.

    Examples
    --------
    >>> multitask_absolute_loss([[1.0, 2.0]], [[4.0, -2.0]])
    5.0
    """
    target, predicted, active = _pair(y_true, y_pred, "y_pred")
    distance = np.where(active, np.abs(target - predicted), 0.0)
    return mean(_norms(np.maximum(distance - epsilon, 0.0), norm), sample_weight)
