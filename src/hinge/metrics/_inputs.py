"""What every metric does with its arguments: check them, name the row at fault, and average."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse  # type: ignore[import-untyped, unused-ignore]

Array = NDArray[Any]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


BLOCK = 1 << 18  # entries of a matrix handled together, so that they stay in the second-level cache


class Lists(NamedTuple):
    """Rows cut into lists: relevance, score and list number of each row, and how many lists there are."""

    relevance: Array
    score: Array
    owner: Ints
    number: int


def blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Cut the rows of a matrix into blocks."""
    step = max(1, BLOCK // max(1, shape[1]))
    return (slice(begin, begin + step) for begin in range(0, shape[0], step))


def first_row(bad: Bools) -> int:
    """Give the first row that holds a True."""
    return int(np.flatnonzero(bad.reshape(len(bad), -1).any(axis=1))[0])


def require(good: Bools, name: str, expected: str) -> None:
    """Raise a ValueError that names the first row where ``good`` is False.

    Examples
    --------
    >>> require(np.array([True, False]), "y_pred", "finite numbers")
    Traceback (most recent call last):
        ...
    ValueError: y_pred must hold finite numbers; row 1 does not
    """
    if not good.all():
        raise ValueError(f"{name} must hold {expected}; row {first_row(~good)} does not")


def vector(values: ArrayLike, name: str) -> Array:
    """Take a non-empty 1-d array (a single column counts as one)."""
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-d, got shape {array.shape}")
    if not len(array):
        raise ValueError(f"{name} has no rows")
    return array


def numbers(values: ArrayLike, name: str, *, nan: bool = False, check: bool = True) -> Array:
    """Take an array of finite numbers; ``nan=True`` lets NaN through, ``check=False`` all. float32 stays what it is."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must hold numbers, got dtype {array.dtype}") from None
    elif array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if array.ndim == 0 or not len(array):
        raise ValueError(f"{name} has no rows")
    if not check:
        return array
    finite = np.isfinite(array)
    require(finite | np.isnan(array) if nan and not finite.all() else finite, name, "finite numbers")
    return array


def same_length(array: Array, other: Array, names: str) -> None:
    """Raise unless both have as many rows."""
    if len(array) != len(other):
        raise ValueError(f"{names} must have as many rows, got {len(array)} and {len(other)}")


def score_matrix(y_score: ArrayLike, *, check: bool = True) -> Array:
    """Take scores (n, k); a 1-d array is two labels, scored 0 and s, as ``decision_function`` answers for two."""
    scores = numbers(y_score, "y_score", check=check)
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros_like(scores), scores])
    if scores.ndim != 2 or not scores.shape[1]:
        raise ValueError(f"y_score must be 1-d or (rows, labels), got shape {scores.shape}")
    return scores


def positions(values: Array, labels: ArrayLike | None, count: int, name: str) -> Ints:
    """Give each value's place among the labels; without labels the values are these places."""
    if labels is None:
        places = numbers(values, name)
        require((places == np.floor(places)) & (places >= 0) & (places < count), name, f"columns 0 to {count - 1}")
        return places.astype(np.intp)
    known = np.asarray(labels)
    order = np.argsort(known, kind="stable")
    if known.shape != (count,):
        raise ValueError(f"labels must name the {count} outputs, got shape {known.shape}")
    if (known[order[1:]] == known[order[:-1]]).any():
        raise ValueError("labels must differ from each other")
    place: Ints = order[np.searchsorted(known[order], values).clip(max=count - 1)]
    require(known[place] == values, name, "only values named in labels")
    return place


def target_matrix(y_true: Any, scores: Array, labels: ArrayLike | None = None) -> Bools:
    """Take relevant labels as 1-d labels, as an indicator array or as a sparse indicator; give booleans (n, k)."""
    n, k = scores.shape
    target: Any = y_true if sparse.issparse(y_true) else np.asarray(y_true)
    if target.ndim == 1:
        same_length(target, scores, "y_true and y_score")
        relevant = np.zeros((n, k), dtype=bool)
        relevant[np.arange(n), positions(target, labels, k, "y_true")] = True
        return relevant
    if target.shape != (n, k):
        raise ValueError(f"y_true has shape {target.shape}, y_score {(n, k)}: one column a label is expected")
    if sparse.issparse(target):
        if not np.isin(target.data, (0, 1)).all():
            raise ValueError("y_true must hold 0 and 1 only")
        return np.asarray(target.astype(bool).toarray())
    if target.dtype.kind not in "biuf":
        raise ValueError(f"y_true must hold 0 and 1, got dtype {target.dtype}")
    if target.dtype == bool:
        return np.asarray(target)
    relevant = np.empty((n, k), dtype=bool)
    for rows in blocks((n, k)):
        np.equal(target[rows], 1, out=relevant[rows])
        if np.count_nonzero(target[rows]) != np.count_nonzero(relevant[rows]):
            require((target == 1) | (target == 0), "y_true", "0 and 1 only")
    return relevant


def sums(owner: Ints, values: Array, number: int) -> Floats:
    """Add up the values of each list."""
    return np.asarray(np.bincount(owner, weights=values, minlength=number), dtype=np.float64)


def weights(sample_weight: ArrayLike | None, n: int) -> Floats | None:
    """Take n non-negative weights, not all zero."""
    if sample_weight is None:
        return None
    weight = numbers(sample_weight, "sample_weight").astype(np.float64)
    if weight.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), got {weight.shape}")
    require(weight >= 0, "sample_weight", "non-negative numbers")
    if not weight.any():
        raise ValueError("sample_weight is zero everywhere")
    return weight


def mean(values: Array, sample_weight: ArrayLike | None) -> float:
    """Average over the rows."""
    return float(np.average(values, weights=weights(sample_weight, len(values))))


def owners(qid: ArrayLike | None, n: int) -> tuple[Ints, int]:
    """Number the lists in order of appearance: (the list of each row, how many)."""
    if qid is None:
        return np.zeros(n, dtype=np.intp), 1
    query = vector(qid, "qid")
    if len(query) != n:
        raise ValueError(f"qid must name the list of each of the {n} rows, got {len(query)}")
    _, first, inverse = np.unique(query, return_index=True, return_inverse=True)
    appearance = np.empty(len(first), dtype=np.intp)
    appearance[np.argsort(first)] = np.arange(len(first))
    return appearance[inverse], len(first)


def lists(y_true: ArrayLike, y_score: ArrayLike, qid: ArrayLike | None) -> Lists:
    """Take lists as 1-d columns cut by qid (one list without it), or as the rows of two matrices."""
    relevance, score = numbers(y_true, "y_true"), numbers(y_score, "y_score")
    if relevance.shape != score.shape or relevance.ndim > 2:
        raise ValueError(f"y_true and y_score must have one 1-d or 2-d shape, got {relevance.shape} and {score.shape}")
    if relevance.ndim == 1:
        return Lists(relevance, score, *owners(qid, len(score)))
    if qid is not None:
        raise ValueError("qid cuts 1-d columns; the rows of a matrix are lists already")
    return Lists(relevance.ravel(), score.ravel(), np.repeat(np.arange(len(score)), score.shape[1]), len(score))


def list_mean(values: Array, data: Lists, sample_weight: ArrayLike | None) -> float:
    """Average over lists; weights are one a list in order of appearance, or one a row and constant within a list."""
    if sample_weight is None:
        return float(values.mean())
    weight = np.asarray(sample_weight)
    if weight.shape == data.owner.shape != values.shape:
        by_list = np.empty(data.number, dtype=weight.dtype)
        by_list[data.owner] = weight
        require(by_list[data.owner] == weight, "sample_weight", "one value within a list")
        weight = by_list
    return mean(values, weight)
