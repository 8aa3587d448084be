"""The shapes in which data sets are returned: named tuples, so that they unpack."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Table(NamedTuple):
    """Rows and one target each: `X` of shape (n, d), dense or CSR, and `y` of shape (n,)."""

    X: Any
    y: NDArray[Any]


class Split(NamedTuple):
    """A published division into a training and a test table."""

    train: Table
    test: Table


class MultiLabel(NamedTuple):
    """Rows and label sets: `X` (n, d), dense or CSR, and the indicator `Y` (n, k), CSR of int8."""

    X: Any
    Y: Any
    feature_names: list[str]
    label_names: list[str]


class Lists(NamedTuple):
    """Documents `X` (n, d) with relevance `y` (n,) and the query `qid` (n,) each belongs to."""

    X: Any
    y: NDArray[np.int64]
    qid: NDArray[np.int64]


class Words(NamedTuple):
    """Sequences: `X` a list of (r, d) arrays, `y` a list of (r,) arrays of letters, `fold` (n,)."""

    X: list[NDArray[np.float32]]
    y: list[NDArray[np.str_]]
    fold: NDArray[np.int64]


class Mail(NamedTuple):
    """Messages in time order: `X` a binary CSR matrix (n, d), `y` (n,) folder names, the words."""

    X: Any
    y: NDArray[Any]
    feature_names: list[str]
