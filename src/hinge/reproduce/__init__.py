"""The papers' experiments, as tables: what was measured here, and the figures that were published where there are any.

Each is a function in a module of its own that returns tables; the data are looked for by `hinge.datasets`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from .tables import OptionError, Table

__all__ = ["EXPERIMENTS", "OptionError", "Table", "reproduce"]

EXPERIMENTS = {
    "enron": "seven mailboxes, six label rankers (Shalev-Shwartz and Singer)",
    "pril": "ordered classes with interval labels (PRIL)",
    "multitask": "parallel tasks under a shared loss (Dekel, Long and Singer)",
    "ansgd": "pairs of labels by smoothed stochastic gradients (Park and Choi)",
    "ocr": "handwritten words, letters alone and with their neighbours",
    "ranking": "lists of documents, by Kendall's tau and NDCG",
}


def reproduce(name: str, advance: Callable[[int, str], None] = lambda by, note: None, **options: Any) -> list[Table]:
    """Run one experiment.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.
    advance : function(by, note), optional
        Called after each step.
    **options
        Of the experiment.

    Returns
    -------
    list of Table
    """
    if name not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}")
    tables: list[Table] = import_module(f"hinge.reproduce.{name}").run(advance, **options)
    return tables
