"""Ordered classes: PRIL on intervals, beside its baselines on exact labels.

The paper's three streams: the synthetic one with the kernel (<a, b> + 1)^2, Parkinsons, linear, and Abalone with
(<a, b> + 1)^3, the last two in another order a run. What has no kernel here (the baselines, and PRIL with its average)
gets the kernel's monomials as features, so that all learners see the same space.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod, sqrt
from typing import Any, NamedTuple

import numpy as np

from hinge import MulticlassPerceptron, OrdinalClassifier, PRank, WidrowHoffClassifier, progressive
from hinge.datasets import interval_labels, load_abalone, load_parkinsons, synthetic_ordinal

from .tables import Table

Array = np.ndarray[Any, np.dtype[Any]]

LENGTHS = {"synthetic": 10_000, "Parkinsons": 5_875, "Abalone": 4_177}
SHARES = ("60%", "70%", "80%", "90%", "100%")
INTERVALS = 0.75  # the share of rows that PRIL learns as intervals, where nothing else is said
OURS: dict[str, dict[str, Any]] = {  # they learn from intervals of a type
    "PRIL on intervals": {},
    "PRIL, no exact label": {"share": 1.0},
    "PRIL, averaged": {"average": True},
    "PRIL, sqrt step": {"step": "sqrt"},
}
BASELINES: dict[str, Callable[[list[int]], Any]] = {  # they learn from exact labels
    "PRank": lambda classes: PRank(classes, dtype="float64"),
    "Widrow-Hoff": lambda classes: WidrowHoffClassifier(classes, dtype="float64"),
    "Widrow-Hoff, a tenth of the step": lambda classes: WidrowHoffClassifier(classes, step=0.1, dtype="float64"),
    "multiclass Perceptron": lambda _: MulticlassPerceptron(dtype="float64"),
}
MEDIAN = "always the median"
LEARNERS = (*OURS, *BASELINES, MEDIAN)


class Stream(NamedTuple):
    """Rows, exact classes, how many there are, and the degree of the kernel; 1 is none."""

    X: Array
    y: Array
    classes: int
    degree: int


@cache
def table_of(name: str) -> tuple[Array, Array]:
    """Read a data set once a process."""
    return load_parkinsons() if name == "Parkinsons" else load_abalone()


def stream_of(name: str, rows: int, seed: int) -> Stream:
    """Draw the stream of a run."""
    if name == "synthetic":
        return Stream(*synthetic_ordinal(rows, seed), 5, 2)
    X, y = table_of(name)
    order = np.random.default_rng(seed).permutation(len(y))[:rows]
    return Stream(X[order], y[order], *((10, 1) if name == "Parkinsons" else (4, 3)))


def monomials(X: Array, degree: int) -> Array:
    """Return features whose inner products are ``(<a, b> + 1)^degree``; X itself for degree 1."""
    if degree == 1:
        return X
    with_one = np.column_stack([np.ones(len(X)), X])
    columns = []
    for chosen in combinations_with_replacement(range(with_one.shape[1]), degree):
        ways = factorial(degree) / prod(factorial(chosen.count(j)) for j in set(chosen))
        columns.append(sqrt(ways) * with_one[:, chosen].prod(axis=1))
    return np.column_stack(columns)


def pril(stream: Stream, **options: Any) -> OrdinalClassifier:
    """Return PRIL as the paper runs it on a stream; the average has no kernel, and gets its monomials."""
    kernel: dict[str, Any] = {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "degree": stream.degree}
    if stream.degree == 1 or "average" in options:
        kernel = {}
    return OrdinalClassifier(range(1, stream.classes + 1), dtype="float64", **kernel, **options)


def widened(stream: Stream, kind: int, share: float, seed: int) -> Array:
    """Return the interval labels of a run: the same for every learner."""
    return interval_labels(stream.y, stream.classes, kind, share, seed=1000 + seed)


def losses(stream: Stream, kind: int, share: float, seed: int) -> Array:
    """Return L_MAE round by round, of PRIL on the intervals that it learns from."""
    report = progressive(pril(stream), stream.X, widened(stream, kind, share, seed), every=1)
    return report.curve["error"]


def errors(line: str, stream: Stream, kind: int, seed: int) -> Array:
    """Return ``|answer - y|`` round by round, answers before each row is learned, y the exact classes."""
    if line == MEDIAN:
        return np.abs(np.median(stream.y).round() - stream.y)
    classes = list(range(1, stream.classes + 1))
    if line in OURS:
        options: dict[str, Any] = {"share": INTERVALS} | OURS[line]
        targets = widened(stream, kind, options.pop("share"), seed)
        it: Any = pril(stream, **options)
    else:
        it, targets = BASELINES[line](classes), stream.y
    X = stream.X if getattr(it, "kernel", "linear") == "poly" else monomials(stream.X, stream.degree)
    kept: list[Array] = []

    def keep(_: Any, answers: Array) -> float:
        kept.append(answers)
        return 0.0

    progressive(it, X, targets, classes=classes, metrics={"kept": keep}, every=len(X))
    return np.abs(kept[0].astype(float) - stream.y)


def run(advance: Callable[[int, str], None], rows: int = 1000, repeat: int = 2) -> list[Table]:
    """Return the average loss by the share of intervals, and the error on exact labels beside the baselines."""
    columns = [(name, kind) for name in LENGTHS for kind in (1, 2)]
    head = ["", *(f"{name}, type {kind}" for name, kind in columns)]
    shares = Table("Average L_MAE by the share of interval labels", head)
    learners = Table("Average absolute error on exact labels", head)
    ends = {line: np.zeros(len(columns)) for line in (*SHARES, *LEARNERS)}
    for i, (name, kind) in enumerate(columns):
        for seed in range(repeat):
            stream = stream_of(name, rows, seed)
            for line in SHARES:
                ends[line][i] += losses(stream, kind, float(line[:-1]) / 100, seed).mean() / repeat
            for line in LEARNERS:
                ends[line][i] += errors(line, stream, kind, seed).mean() / repeat
        advance(1, f"{name}, type {kind}")
    for table, lines in ((shares, SHARES), (learners, LEARNERS)):
        table.rows += [[line, *(f"{end:.3f}" for end in ends[line])] for line in lines]
        table.notes.append(f"at most {rows} rows a stream, mean of {repeat} runs")
    percent = [float(line[:-1]) for line in SHARES]
    shares.axis = "per cent of interval labels"
    shares.curves = [(name, percent, [float(ends[line][i]) for line in SHARES]) for i, name in enumerate(head[1:])]
    shares.notes.append("published: it falls as the share rises, on all three streams and for both types")
    learners.notes.append(
        f"PRIL learns from {INTERVALS:.0%} intervals, or from intervals only, the others from exact labels"
    )
    learners.notes.append("published: PRIL near PRank, ahead of Widrow-Hoff, and of the Perceptron but on Abalone")
    return [shares, learners]
