"""Measures of a whole batch beside logistic regression with a tuned threshold: ten seeds, and speed.

    python benchmarks/bipartite.py [--quick] [--only a9a letter speed]

Real data come from $HINGE_DATA, or from shared/data beside the repository; a table whose data are missing is left out.
"""

from __future__ import annotations

import os

for variable in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import argparse  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from peers import Contestant, need, raced  # noqa: E402
from tables import Table  # noqa: E402

warnings.filterwarnings("ignore", message=".*ask.* for nothing.*")
BATCH = 200
CS = (1e-4, 1e-3, 1e-2)
PASSES = 5
MEASURES = ("f1", "sensitivity_specificity", "recall_at_k", "precision_at_k")


@dataclass(frozen=True)
class Split:
    """Rows to learn from, rows to choose C on, rows to judge on; y is 0 or 1. `k` counts in the judged rows."""

    X: Any
    y: np.ndarray
    X_held: Any
    y_held: np.ndarray
    X_test: Any
    y_test: np.ndarray
    k: int


def quality(measure: str, y: np.ndarray, s: np.ndarray, k: int) -> float:
    """The measure of scores cut at 0, or of exactly the k highest."""
    metrics = need("hinge.metrics")
    if measure == "recall_at_k":
        return float(metrics.recall_at_k(y, s, k=k, threshold=-np.inf))
    if measure == "precision_at_k":
        return float(metrics.precision_at_k(y, s, k=k, threshold=np.inf))
    return float(getattr(metrics, f"{measure}_score")(y, (s > 0).astype(int)))


def ours(measure: str, split: Split, seed: int, threshold: str = "zero") -> np.ndarray:
    """C is chosen on the held rows; k is the same share of a batch as of the judged rows."""
    rng = np.random.default_rng(seed)
    batch = rng.permutation(len(split.y)) // BATCH
    k = max(1, round(split.k * BATCH / len(split.y_test)))
    fitted = []
    for C in CS:
        ranker = need("hinge").BipartiteRanker(measure, k=k, threshold=threshold, C=C, max_iter=PASSES, average=True)
        ranker.fit(split.X, split.y, qid=batch)
        held_k = max(1, round(split.k * len(split.y_held) / len(split.y_test)))
        fitted.append((quality(measure, split.y_held, ranker.decision_function(split.X_held), held_k), C, ranker))
    return np.asarray(max(fitted, key=lambda it: it[0])[2].decision_function(split.X_test))


def all_rows(split: Split) -> tuple[Any, np.ndarray]:
    """The rows to learn from and those held, for learners that choose by cross-validation."""
    stack = need("scipy.sparse").vstack if hasattr(split.X, "tocsr") else np.concatenate
    return stack([split.X, split.X_held]), np.concatenate([split.y, split.y_held])


def logistic(measure: str, split: Split, seed: int) -> np.ndarray:
    model = need("sklearn.linear_model").LogisticRegression(max_iter=2000)
    return np.asarray(model.fit(*all_rows(split)).decision_function(split.X_test))


def tuned(measure: str, split: Split, seed: int) -> np.ndarray:
    """The threshold is chosen for the measure in five folds; for a top k it would change nothing."""
    if measure.endswith("at_k"):
        return logistic(measure, split, seed)
    scoring = {"f1": "f1", "sensitivity_specificity": "balanced_accuracy"}[measure]
    selection = need("sklearn.model_selection")
    model = selection.TunedThresholdClassifierCV(
        need("sklearn.linear_model").LogisticRegression(max_iter=2000), scoring=scoring, random_state=seed
    )
    X, y = all_rows(split)
    return np.asarray(model.fit(X, y).predict(split.X_test) - 0.5)


LEARNERS: dict[str, Callable[[str, Split, int], np.ndarray]] = {
    "BipartiteRanker, its measure": ours,
    "BipartiteRanker, tuned threshold": lambda measure, split, seed: ours(measure, split, seed, "tuned"),
    "LogisticRegression": logistic,
    "LogisticRegression, tuned threshold": tuned,
}


def compare(title: str, split: Callable[[int], Split], seeds: int) -> Table:
    table = Table(title, [("mean and deviation", ""), *((measure, "") for measure in MEASURES)])
    splits = [split(seed) for seed in range(seeds)]
    for name, learn in LEARNERS.items():

        def row(learn: Callable[[str, Split, int], np.ndarray] = learn) -> Sequence[str]:
            cells = []
            for measure in MEASURES:
                values = [quality(measure, s.y_test, learn(measure, s, seed), s.k) for seed, s in enumerate(splits)]
                cells.append(f"{np.mean(values):.4f} ± {np.std(values):.4f}")
            return cells

        table.attempt(name, row)
    table.note(
        f"{seeds} seeds, each another part of the rows; k = {splits[0].k} of {len(splits[0].y_test):,} rows judged."
    )
    table.note(f"BipartiteRanker: batches of {BATCH}, {PASSES} passes, averaged, C chosen from {CS} on held rows.")
    table.note("Recall and precision are those of the k highest: there a threshold changes nothing.")
    return table


def parts(X: Any, y: np.ndarray, rng: np.random.Generator, share: float) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    order = rng.permutation(len(y))
    cut = int(share * len(y))
    return X[order[:cut]], y[order[:cut]], X[order[cut:]], y[order[cut:]]


def a9a(quick: bool) -> Table:
    """The official test part; each seed learns from other four fifths of the training part."""
    data = need("hinge.datasets").load_a9a()

    def split(seed: int) -> Split:
        rng = np.random.default_rng(seed)
        X, y, X_held, y_held = parts(data.train.X.tocsr(), (data.train.y > 0).astype(int), rng, 0.8)
        return Split(X, y, X_held, y_held, data.test.X.tocsr(), (data.test.y > 0).astype(int), 1000)

    return compare("a9a: 24 % positive", split, 2 if quick else 10)


def letter(quick: bool) -> Table:
    """One letter against the others, standardised features: 3.7 % positive."""
    data = need("hinge.datasets").load_letter_recognition()
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    y = (np.asarray(data.y) == np.unique(data.y)[7]).astype(int)

    def split(seed: int) -> Split:
        rng = np.random.default_rng(seed)
        X_all, y_all, X_test, y_test = parts(X, y, rng, 0.6)
        X_fit, y_fit, X_held, y_held = parts(X_all, y_all, rng, 0.8)
        return Split(X_fit, y_fit, X_held, y_held, X_test, y_test, 300)

    return compare("letter-recognition, H against the rest: 3.7 % positive", split, 2 if quick else 10)


def speed(quick: bool) -> Table:
    """Training for F1 on a9a beside the fit of a logistic regression, one thread each."""
    data = need("hinge.datasets").load_a9a()
    X, y = data.train.X.tocsr(), (data.train.y > 0).astype(int)
    X_test, y_test = data.test.X.tocsr(), (data.test.y > 0).astype(int)
    batch = np.random.default_rng(0).permutation(len(y)) // BATCH
    columns = [("a9a", ""), ("seconds", ".3f"), ("first row is x as fast", ".2f"), ("test F1", ".4f")]
    table = Table("Training for F1; processor time, best of turns", columns)
    ranker, logistic_regression = need("hinge").BipartiteRanker, need("sklearn.linear_model").LogisticRegression
    contestants: dict[str, Contestant] = {
        f"BipartiteRanker('f1'), batches of {BATCH}, {PASSES} passes": (
            lambda: ranker(C=1e-3, max_iter=PASSES, average=True), lambda m: m.fit(X, y, qid=batch),
        ),
        "BipartiteRanker('f1'), all rows one batch, 30 passes": (
            lambda: ranker(max_iter=30, average=True), lambda m: m.fit(X, y),
        ),
        "LogisticRegression": (lambda: logistic_regression(max_iter=2000), lambda m: m.fit(X, y)),
    }  # fmt: skip
    seen = raced(1 if quick else 10, list(contestants.values()))
    for name, (seconds, model) in zip(contestants, seen, strict=True):
        f1 = need("hinge.metrics").f1_score(y_test, model.predict(X_test))
        table.add(name, seconds, seconds / seen[0][0], f1)
    return table


TABLES = {"a9a": a9a, "letter": letter, "speed": speed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two seeds: a look, not a result")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    options = parser.parse_args()
    for name in options.only:
        try:
            TABLES[name](options.quick).show()
        except FileNotFoundError as reason:
            print(f"{name}: left out, {reason}\n")


if __name__ == "__main__":
    main()
