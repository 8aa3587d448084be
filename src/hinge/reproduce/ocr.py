"""Handwritten words: letters learned with their neighbours, beside letters learned alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hinge import MulticlassClassifier, SequenceClassifier
from hinge.datasets import load_ocr_letters

from .tables import Table


def run(advance: Callable[[int, str], None], passes: int = 5, folds: int = 2) -> list[Table]:
    """Return letter errors in per cent."""
    X, y, fold = load_ocr_letters()
    table = Table("Letters read wrongly, in per cent", ["rule", "alone", "in words"])
    for rule in ("perceptron", "passive-aggressive"):
        errors = np.zeros(2)
        for one in range(folds):
            train, test = np.flatnonzero(fold == one), np.flatnonzero(fold != one)
            words = [X[i] for i in train], [y[i] for i in train]
            letters = MulticlassClassifier(rule, C=0.1, average=True, max_iter=passes, shuffle=True, random_state=0)
            letters.fit(np.concatenate(words[0]), np.concatenate(words[1]))
            chains = SequenceClassifier(rule, C=0.1, average=True, max_iter=passes, shuffle=True, random_state=0).fit(
                *words
            )
            truth = np.concatenate([y[i] for i in test])
            errors[0] += np.mean(letters.predict(np.concatenate([X[i] for i in test])) != truth) / folds
            errors[1] += np.mean(np.concatenate(chains.predict([X[i] for i in test])) != truth) / folds
            advance(1, f"{rule}, fold {one}")
        table.rows.append([rule, *(f"{100 * error:.1f}" for error in errors)])
    table.notes.append(
        f"trained on one fold of ten, tested on the other nine; mean of {folds}; {passes} passes, averaged"
    )
    return [table]
