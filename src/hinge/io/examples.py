"""What a file said, in the form in which estimators take it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from .errors import BadLine

__all__ = ["Examples"]


@dataclass
class Examples:
    """Rows and what stands beside them.

    Parameters
    ----------
    X : CSR matrix or array of shape (n, d)
        The features.
    y : array of shape (n,) or (n, k), list of sets, CSR indicator, or None
        Labels; numbers in k columns; sets of labels; None where the rows have no labels.
    feature_names : list of str, optional
        Of the columns of `X`, where the file names them.
    label_names : list of str, optional
        Of the columns of `y`, where it is an indicator.
    qid : array of shape (n,), optional
        The list that each row belongs to, -1 for none.
    sample_weight : array of shape (n,), optional
    ids : list of str, optional
        What the rows are called.
    costs : list of dict of label to float, optional
        The cost of each label, where the file gives costs; `y` is then the cheapest.
    line : array of shape (n,), optional
        The line on which each row stands, from 1.
    skipped : list of BadLine
        Bad lines that were left out.
    """

    X: Any
    y: Any = None
    feature_names: list[str] | None = None
    qid: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    ids: list[str] | None = None
    costs: list[dict[Any, float]] | None = None
    line: np.ndarray | None = None
    label_names: list[str] | None = None
    skipped: list[BadLine] = field(default_factory=list)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def dicts(self) -> list[dict[str, float]]:
        """Return the rows as dicts of feature name to value; columns without names are numbered from 0."""
        rows = sparse.csr_matrix(self.X)
        names = self.feature_names or [str(i) for i in range(rows.shape[1])]
        start, index, value = rows.indptr.tolist(), rows.indices.tolist(), rows.data.tolist()
        return [{names[j]: v for j, v in zip(index[a:b], value[a:b], strict=True)} for a, b in pairwise(start)]

    def take(self, rows: Any) -> Examples:
        """Return some of the rows, by number or as a slice."""
        numbers = np.arange(len(self))[rows]

        def pick(values: Any) -> Any:
            return (
                [values[i] for i in numbers]
                if isinstance(values, list)
                else None
                if values is None
                else values[numbers]
            )

        return replace(
            self,
            X=self.X[numbers],
            y=pick(self.y),
            qid=pick(self.qid),
            sample_weight=pick(self.sample_weight),
            ids=pick(self.ids),
            costs=pick(self.costs),
            line=pick(self.line),
        )


def plain_numbers(values: np.ndarray) -> np.ndarray:
    """Return float labels as whole numbers where all of them are.

    Examples
    --------
    >>> plain_numbers(np.array([1.0, 2.0])), plain_numbers(np.array([1.0, 2.5]))
    (array([1, 2]), array([1. , 2.5]))
    """
    whole = np.all(values == np.rint(values)) and np.all(np.abs(values) < 2.0**53)
    return values.astype(np.int64) if whole else values


def csr(value: np.ndarray, index: np.ndarray, start: np.ndarray, width: int) -> Any:
    """Return a CSR matrix from arrays that are known to be right, without the checks that cost a pass each."""
    matrix = sparse.csr_matrix((start.size - 1, width), dtype=value.dtype)
    matrix.data, matrix.indices = value, index
    matrix.indptr = start if start[-1] > np.iinfo(np.int32).max else start.astype(np.int32)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix
