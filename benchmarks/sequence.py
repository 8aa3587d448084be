"""Sequences on the handwritten words: the tables of `hinge reproduce ocr`, and speed beside crfsuite.

    python benchmarks/sequence.py [--folds 0 1 ..] [--passes 5] [--only error published speed]

With ``--folds 0`` fold 0 is held out and the other nine are trained on; all ten by default. Speed is the words of nine
folds, one thread, learning only: crfsuite's append of strings is measured apart. As in the other tables, whose protocol
stands in `hinge.reproduce.ocr`, every pass takes the words in a new order.
"""

from __future__ import annotations

import os

for variable in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import argparse  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from peers import fastest, need, version  # noqa: E402
from tables import Table  # noqa: E402

from hinge import SequenceClassifier  # noqa: E402
from hinge.datasets import load_ocr_letters  # noqa: E402
from hinge.reproduce import ocr  # noqa: E402


def speed(words: Any, repeats: int) -> Table:
    """Letters a second of one pass of the averaged Perceptron."""
    (X, y), (X_test, y_test) = ocr.split(words, words.fold != 0)
    letters = sum(map(len, y))
    columns = [("one pass, averaged Perceptron", ""), ("letters/s", ",.0f"), ("seconds", ".3f"), ("error", ".4f")]
    table = Table(f"{len(X)} words, {letters} letters, 128 binary pixels each; fold 0 held out", columns)
    flat, sizes, targets = np.vstack(X), [len(word) for word in X], np.concatenate(y)
    parameters = {"average": True, "fit_intercept": False, "shuffle": True, "random_state": 0}
    new = lambda: SequenceClassifier("perceptron", **parameters)  # noqa: E731
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
    parser.add_argument("--folds", type=int, nargs="+", default=[*range(ocr.FOLDS)])
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--only", nargs="+", choices=["error", "published", "speed"], default=["speed", "published", "error"]
    )
    options = parser.parse_args()
    try:
        words = load_ocr_letters()
    except FileNotFoundError as reason:
        raise SystemExit(f"the OCR words are not here: {reason}") from None
    if "speed" in options.only:
        speed(words, options.repeats).show()
    if "published" in options.only:
        Table.of(ocr.published(words)).show()
    if "error" in options.only:
        Table.of(ocr.errors(words, options.folds, options.passes)).show()


if __name__ == "__main__":
    main()
