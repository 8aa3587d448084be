"""Rows cut into lists by ``qid``: lists in the order in which their first rows come, the rows of each in theirs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hinge.rows import read_weights

__all__ = ["Lists", "group"]


@dataclass(frozen=True)
class Lists:
    """Rows, and which of them each list holds: list t has the rows ``order[start[t]:start[t + 1]]``."""

    rows: Any
    order: np.ndarray
    start: np.ndarray

    @property
    def count(self) -> int:
        return self.start.size - 1

    @property
    def of_row(self) -> np.ndarray:
        """The list of each row."""
        out = np.empty(self.order.size, dtype=np.int64)
        out[self.order] = np.repeat(np.arange(self.count), np.diff(self.start))
        return out

    def take(self, chosen: np.ndarray) -> Lists:
        """Return some of the lists, in the given order; the rows stay where they are."""
        size = np.diff(self.start)[chosen]
        start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        shift = np.repeat(self.start[:-1][chosen] - start[:-1], size)
        return replace(self, order=self.order[np.arange(start[-1]) + shift], start=start)

    def least_and_most(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest value of each list."""
        by_list = values[self.order]
        return np.minimum.reduceat(by_list, self.start[:-1]), np.maximum.reduceat(by_list, self.start[:-1])

    def weights(self, sample_weight: Any) -> np.ndarray | None:
        """Return one weight a list: the mean of its rows', unless one a list is given, in the order of the lists."""
        if sample_weight is None:
            return None
        given = np.asarray(sample_weight)
        if given.shape == (self.count,) and self.count < self.order.size:
            return read_weights(given, self.count)
        by_row = read_weights(given, self.order.size)
        return None if by_row is None else np.add.reduceat(by_row[self.order], self.start[:-1]) / np.diff(self.start)


def group(qid: Any, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of rows by list, and where each list starts; without `qid` all rows are one list.

    Examples
    --------
    >>> group(["b", "a", "b"], 3)
    (array([0, 2, 1]), array([0, 2, 3]))
    """
    if qid is None:
        return np.arange(rows, dtype=np.int64), np.array([0, rows], dtype=np.int64)
    names = _names(qid)
    if names.shape != (rows,):
        raise ValueError(f"qid must name the list of each of the {rows} rows, got an array of shape {names.shape}")
    missing = _missing(names)
    if missing.any():
        t = int(np.argmax(missing))
        raise ValueError(f"row {t} of qid is {names[t]}: it names no list")
    if names.dtype.kind in "iufb" and (names[1:] >= names[:-1]).all():
        start = np.flatnonzero(np.concatenate([[True], names[1:] != names[:-1]]))
        return np.arange(rows, dtype=np.int64), np.append(start, rows).astype(np.int64)
    number = _numbered(names)
    start = np.concatenate([[0], np.cumsum(np.bincount(number))])
    return np.argsort(number, kind="stable").astype(np.int64), start.astype(np.int64)


def _names(qid: Any) -> np.ndarray:
    """Return the names as an array; of objects where NumPy would make text of numbers, or columns of tuples."""
    if isinstance(qid, list | tuple):
        kinds = {type(name) for name in qid}
        if tuple in kinds or (str in kinds and len(kinds) > 1):
            out = np.empty(len(qid), dtype=object)
            out[:] = qid
            return out
    names = np.asarray(qid)
    return names.reshape(-1) if names.ndim == 2 and names.shape[1] == 1 else names


def _missing(names: np.ndarray) -> np.ndarray:
    """Say which names are none: None, NaN, infinity, NaT, or the NA of a data frame."""
    if names.dtype.kind == "f":
        return ~np.isfinite(names)
    if names.dtype.kind in "mM":
        return np.isnat(names)
    if names.dtype == object:
        return np.array([_is_missing(name) for name in names.tolist()], dtype=bool)
    return np.zeros(names.shape, dtype=bool)


def _is_missing(name: Any) -> bool:
    try:
        return name is None or bool(name != name)
    except TypeError:  # NA does not say whether it differs
        return True


def _numbered(names: np.ndarray) -> np.ndarray:
    """Number the names in order of appearance."""
    if names.dtype == object:
        known: dict[Any, int] = {}
        return np.array([known.setdefault(name, len(known)) for name in names.tolist()], dtype=np.int64)
    _, first, inverse = np.unique(names, return_index=True, return_inverse=True)
    number = np.empty_like(first)
    number[np.argsort(first)] = np.arange(first.size)
    return number[inverse.reshape(-1)]
