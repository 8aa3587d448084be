"""Ordered classes: PRIL on intervals, beside its baselines on exact labels.

The loss is L_MAE, averaged over the stream and over several
orders of it. The papers' kernels: (<a, b> + 1)^2 on the synthetic stream, (<a, b> + 1)^3 on Abalone, linear on
Parkinsons.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hinge import MulticlassPerceptron, OrdinalClassifier, WidrowHoffClassifier, progressive
from hinge.datasets import interval_labels, load_abalone, load_parkinsons, synthetic_ordinal

from .tables import Table

BASELINES = ("PRank", "Widrow-Hoff", "multiclass Perceptron")
SHARES = (0.6, 0.7, 0.8, 0.9, 1.0)
SETS: dict[str, tuple[Callable[[int, int], Any], int, dict[str, Any]]] = {
    "synthetic": (lambda n, seed: synthetic_ordinal(n, seed), 5, {"kernel": "poly", "degree": 2, "gamma": 1.0}),
    "Parkinsons": (lambda n, seed: shuffled(load_parkinsons(), n, seed), 10, {}),
    "Abalone": (
        lambda n, seed: shuffled(load_abalone(standardise=True), n, seed),
        4,
        {"kernel": "poly", "degree": 3, "gamma": 1.0},
    ),
}


def run(advance: Callable[[int, str], None], rows: int = 1000, repeat: int = 2) -> list[Table]:
    """Return the average loss by the share of intervals, and against the baselines."""
    shares = Table("Average L_MAE of PRIL by the share of interval labels", ["set", "type", *map(str, SHARES)])
    baselines = Table("Average absolute error, judged on exact labels", ["set", "PRIL on intervals", *BASELINES])
    for name, (draw, classes, kernel) in SETS.items():
        known = np.arange(1, classes + 1)
        for kind in (1, 2):
            losses = np.zeros(len(SHARES))
            for seed in range(repeat):
                X, y = draw(rows, seed)
                for i, share in enumerate(SHARES):
                    intervals = interval_labels(y, classes, kind, share, seed)
                    report = progressive(OrdinalClassifier(known, **kernel), X, intervals)
                    losses[i] += report.totals["error"] / repeat
                advance(1, f"{name}, type {kind}")
            shares.rows.append([name, str(kind), *(f"{loss:.3f}" for loss in losses)])
        baselines.rows.append([name, *(f"{error:.3f}" for error in _errors(draw, classes, kernel, rows, repeat))])
    shares.notes.append(
        f"{rows} rows, mean of {repeat}; published: it falls as the share rises, for all sets and both types"
    )
    baselines.notes.append("75 % intervals of type 1 for PRIL; PRank has the same kernel, the other two are linear")
    baselines.notes.append("published: PRIL near PRank, better than Widrow-Hoff")
    return [shares, baselines]


def _errors(draw: Any, classes: int, kernel: dict[str, Any], rows: int, repeat: int) -> np.ndarray:
    known = np.arange(1, classes + 1)
    errors = np.zeros(1 + len(BASELINES))
    for seed in range(repeat):
        X, y = draw(rows, seed)
        intervals = interval_labels(y, classes, 1, 0.75, seed)
        targets = [(OrdinalClassifier(known, **kernel), intervals), (OrdinalClassifier(known, **kernel), y)]
        targets += [(WidrowHoffClassifier(known), y), (MulticlassPerceptron(), y)]
        errors += [_error(learner, X, target, y) / repeat for learner, target in targets]
    return errors


def _error(learner: Any, X: Any, target: Any, y: np.ndarray) -> float:
    """Return the mean of |answer - y|, each answer given before its row is learned, whatever was taught."""
    truth = iter(y.tolist())
    off = {"off": lambda taught, answer: abs(float(np.ravel(answer)[0]) - next(truth))}
    named = {} if isinstance(learner, OrdinalClassifier) else {"classes": np.unique(y)}
    return float(progressive(learner, X, target, metrics=off, every=1, **named).curve["off"].mean())


def shuffled(table: Any, rows: int, seed: int) -> Any:
    """Return a table's rows in a random order, at most `rows` of them."""
    order = np.random.default_rng(seed).permutation(len(table.y))[:rows]
    return table.X[order], table.y[order]
