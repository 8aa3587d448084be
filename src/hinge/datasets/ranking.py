"""Ranked lists: LETOR's MQ2008 and LightGBM's lambdarank example."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from hinge.io import read

from .bundles import Lists
from .home import data_file, read_text


class Fold(NamedTuple):
    """The three parts of an official fold."""

    train: Lists
    validation: Lists
    test: Lists


def load_mq2008(fold: int = 1) -> Fold:
    """Load an official fold of MQ2008: 784 queries in five parts, 46 features, relevance 0, 1, 2.

    Parameters
    ----------
    fold : int
        1 to 5. Fold 1 trains on parts 1-3, validates on 4 and tests on 5; the later folds rotate.

    Returns
    -------
    Fold
        Dense matrices of 46 columns, relevance and query numbers.
    """
    if fold not in range(1, 6):
        raise ValueError(f"fold must be 1, 2, 3, 4 or 5, got {fold!r}")
    parts = [_letor(data_file("mq2008", f"S{1 + (fold - 1 + step) % 5}.txt.xz")) for step in range(5)]
    return Fold(_joined(parts[:3]), parts[3], parts[4])


def load_lambdarank(part: str = "train") -> Lists:
    """Load LightGBM's lambdarank example.

    Parameters
    ----------
    part : {"train", "test"}
        201 or 50 queries.

    Returns
    -------
    Lists
        `X` CSR with 300 columns, relevance 0..4, query numbers from 0.
    """
    if part not in ("train", "test"):
        raise ValueError(f"part must be 'train' or 'test', got {part!r}")
    rows = read(data_file("lambdarank", f"rank.{part}.xz"), "svmlight", n_features=300, zero_based=False)
    sizes = [int(line) for line in read_text(data_file("lambdarank", f"rank.{part}.query")).split()]
    return Lists(rows.X, rows.y, np.repeat(np.arange(len(sizes)), sizes))


def _letor(path: Path) -> Lists:
    rows = read(path, "svmlight", n_features=46, zero_based=False)
    assert rows.qid is not None
    return Lists(rows.X.toarray(), rows.y, rows.qid)


def _joined(parts: list[Lists]) -> Lists:
    return Lists(*(np.concatenate(column) for column in zip(*parts, strict=True)))
