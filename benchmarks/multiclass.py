"""Multiclass rules beside scikit-learn: quality after equal passes, and speed where it matters.

    python benchmarks/multiclass.py [--rows N] [--passes 5] [--only quality speed]

Quality is on letter recognition (16,000 rows against 4,000), USPS, and the 20 newsgroups rows with one label (every
fifth row held out). Speed is on the sparse stream of label_ranking.py, one thread.
"""

from __future__ import annotations

import os

for variable in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import argparse  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from peers import fastest, in_turns, need, version  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.linear_model import LogisticRegression, SGDClassifier  # noqa: E402
from sklearn.preprocessing import MaxAbsScaler, StandardScaler  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402
from streams import rcv1_like  # noqa: E402
from tables import Table  # noqa: E402

OURS: dict[str, dict[str, Any]] = {
    "perceptron, averaged": {"rule": "perceptron", "average": True},
    "passive-aggressive, averaged": {"rule": "passive-aggressive", "average": True},
    "sgd, alpha=1e-4, averaged": {"rule": "sgd", "alpha": 1e-4, "average": True},
    "sgd, eta=0.1, averaged": {"rule": "sgd", "eta": 0.1, "average": True},
    "svm, C=1, gap 1e-3": {"rule": "svm", "C": 1.0, "tol": 1e-3},
}


def data() -> Iterator[tuple[str, Any, Any, Any, Any]]:
    """Yield name, training rows and labels, test rows and labels."""
    sets = need("hinge").datasets
    letters = sets.load_letter_recognition()
    scaler = StandardScaler().fit(letters.X[:16000])
    X = scaler.transform(letters.X)
    yield "letter recognition", X[:16000], letters.y[:16000], X[16000:], letters.y[16000:]
    usps = sets.load_usps()
    yield "USPS", usps[0].X, usps[0].y, usps[1].X, usps[1].y
    news = newsgroups(sets)
    held = np.arange(news[0].shape[0]) % 5 == 0
    X = MaxAbsScaler().fit(news[0][~held]).transform(news[0])
    yield "20 newsgroups", X[~held], news[1][~held], X[held], news[1][held]


def newsgroups(sets: Any) -> tuple[Any, np.ndarray]:
    """Return the rows with one label."""
    table = sets.load_newsgroups20()
    Y = table.Y.tocsr() if hasattr(table.Y, "tocsr") else table.Y
    one = np.flatnonzero(np.asarray(Y.sum(axis=1)).ravel() == 1)
    return table.X[one], np.asarray(Y[one].argmax(axis=1)).ravel()


def quality(passes: int) -> Iterator[Table]:
    """Test error after equal passes, beside scikit-learn's."""
    hinge = need("hinge")
    for name, X, y, X_test, y_test in data():
        table = Table(
            f"{name}: {X.shape[0]} + {X_test.shape[0]} rows, {X.shape[1]} features, {len(np.unique(y))} classes",
            [("", ""), ("test error", ".4f"), ("seconds", ".2f"), ("passes", ".0f")],
        )
        contestants = {
            f"hinge {label}": hinge.MulticlassClassifier(max_iter=passes, shuffle=True, random_state=0, **parameters)
            for label, parameters in OURS.items()
        }
        contestants["hinge one-vs-all, adaptive"] = hinge.OneVsAllClassifier(
            max_iter=passes, shuffle=True, random_state=0
        )
        contestants["hinge all pairs, adaptive"] = hinge.AllPairsClassifier(
            max_iter=passes, shuffle=True, random_state=0
        )
        contestants["SGDClassifier(average=True)"] = SGDClassifier(
            max_iter=passes, tol=None, average=True, random_state=0
        )
        contestants["LinearSVC, Crammer-Singer"] = LinearSVC(multi_class="crammer_singer", tol=0.1, random_state=0)
        for most, label in ((passes, ", equal passes"), (5000, "")):
            contestants[f"LinearSVC, one-vs-rest{label}"] = LinearSVC(random_state=0, max_iter=most)
            contestants[f"LogisticRegression{label}"] = LogisticRegression(max_iter=most)
        for label, one in contestants.items():
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                one.fit(X, y)
            seconds = time.process_time() - start
            made = float(np.max(getattr(one, "n_iter_", np.nan)))
            table.add(label, float(1 - one.score(X_test, y_test)), seconds, made)
        table.note("Crammer-Singer's own passes, which LIBLINEAR does not limit, look at what it has not set aside")
        yield table


def speed(rows: int, repeats: int) -> Iterator[Table]:
    """Svm beside LIBLINEAR -s 4, and passive-aggressive beside the label ranker's single update."""
    hinge = need("hinge")
    stream = rcv1_like(rows, 20_000)
    columns = [("", ""), ("seconds", ".2f"), ("test error", ".4f"), ("objective", ".6f")]
    table = Table(f"{stream}", columns)
    parameters = {"C": 1.0, "tol": 1e-3, "fit_intercept": False}
    seconds, it = fastest(
        1, lambda: hinge.MulticlassClassifier("svm", **parameters), lambda it: it.fit(stream.X, stream.y)
    )
    table.add("hinge svm, gap 1e-3", seconds, float(1 - it.score(stream.X_test, stream.y_test)), it.objective_)
    X64 = stream.X.astype(np.float64)  # LIBLINEAR copies anything else first
    seconds, peer = fastest(
        1,
        lambda: LinearSVC(multi_class="crammer_singer", C=1.0, tol=0.1, fit_intercept=False, random_state=0),
        lambda it: it.fit(X64, stream.y),
    )
    wrong = float(1 - peer.score(stream.X_test, stream.y_test))
    table.add("LIBLINEAR -s 4, its tolerance 0.1", seconds, wrong, primal(peer.coef_, X64, stream.y, 1.0))
    table.note(f"C = 1; objective: alpha ||w||^2 + mean hinge, alpha = 1 / (2 C m); scikit-learn {version('sklearn')}")
    yield table
    rate = Table("one pass over the same rows", [("", ""), ("rows/s", ",.0f")])
    new = [
        lambda: hinge.MulticlassClassifier("passive-aggressive"),
        lambda: hinge.LabelRanker("single"),
    ]
    learn = [lambda it: it.partial_fit(stream.X, stream.y)] * 2
    best = in_turns(repeats, list(zip(new, learn, strict=True)))
    for name, seconds in zip(("MulticlassClassifier, passive-aggressive", "LabelRanker, single"), best, strict=True):
        rate.add(name, rows / seconds)
    yield rate


def primal(coef: np.ndarray, X: Any, y: np.ndarray, C: float) -> float:
    """Return ``alpha ||w||^2 + mean hinge`` for alpha = 1 / (2 C m)."""
    total = 0.0
    for start in range(0, X.shape[0], 10_000):
        scores = np.asarray(X[start : start + 10_000] @ coef.T)
        truth = y[start : start + 10_000]
        own = scores[np.arange(len(scores)), truth]
        scores += 1
        scores[np.arange(len(scores)), truth] -= 1
        total += float((scores.max(axis=1) - own).sum())
    return total / X.shape[0] + float((coef**2).sum()) / (2 * C * X.shape[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=["quality", "speed"], default=["quality", "speed"])
    options = parser.parse_args()
    if "quality" in options.only:
        for table in quality(options.passes):
            table.show()
    if "speed" in options.only:
        for table in speed(options.rows, options.repeats):
            table.show()


if __name__ == "__main__":
    main()
