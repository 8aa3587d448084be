"""Model files of released formats: this version opens each of them, and goes on to where that one came.

`compat/1` holds, for each estimator, a model that stopped halfway and one that went on, of format version 1.

    python tests/test_compat.py    # writes them anew, which is allowed only until a version is released
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import hinge
from hinge import LabelRanker, MulticlassClassifier, OrdinalClassifier
from hinge.model_file import VERSION

HERE = Path(__file__).with_name("compat")
ROWS = 24

t, j = np.arange(ROWS)[:, None], np.arange(4)
X = ((7 * t + 3 * j + t * t * (j + 1)) % 9 - 4) / 4 * ((t + j) % 3 != 0)  # exact in float32, a third of it 0
scores = X @ (np.arange(12).reshape(4, 3) % 5 - 2)
best = scores.argmax(axis=1)
best[:3] = [1, 0, 2]
COLOURS = ["amber", "blue", "green"]
words = np.array(COLOURS)[best]
sets = [{COLOURS[i] for i in np.flatnonzero(row > 0)} for row in scores]
pairs = [{COLOURS[i], COLOURS[i - 1 - k % 2]} if k % 3 else {COLOURS[i]} for k, i in enumerate(best)]
named = [{f"f{i}": float(value) for i, value in enumerate(row) if value} for row in X]
sides = np.where(scores > 0, 1, -1)
sides[::4], sides[1::4] = [1, -1, 1], [-1, 1, -1]

LABELS: dict[str, Any] = {"X": X, "y": words, "classes": COLOURS}
PAIRS: dict[str, Any] = {"X": X, "y": pairs, "classes": COLOURS}
LISTS: dict[str, Any] = {"X": X, "qid": np.repeat(np.arange(ROWS // 4), 4)}
WORDS: dict[str, Any] = {"X": list(X.reshape(8, 3, 4)), "y": list(words.reshape(8, 3)), "classes": COLOURS}
LESSONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "LabelRanker": (LabelRanker(), {"X": named, "y": words}),
    "LabelRanker-sets": (LabelRanker("single", "adaptive", average=True), {"X": named, "y": sets}),
    "LabelRanker-entropic": (LabelRanker("full", "entropic", dtype="float64"), LABELS),
    "LabelRanker-signed-entropic": (LabelRanker("fixed", "signed-entropic", average=True), LABELS),
    "PairwiseLabelRanker": (hinge.PairwiseLabelRanker(alpha=0.125), PAIRS),
    "MMP": (hinge.MMP(), PAIRS),
    "OrdinalClassifier": (OrdinalClassifier([0, 1, 2]), {"X": X, "y": best}),
    "OrdinalClassifier-poly": (OrdinalClassifier([0, 1, 2], kernel="poly", degree=2, budget=9), {"X": X, "y": best}),
    "MulticlassClassifier": (MulticlassClassifier(), LABELS),
    "MulticlassClassifier-passive-aggressive": (MulticlassClassifier(rule="passive-aggressive"), LABELS),
    "MulticlassPerceptron": (hinge.MulticlassPerceptron(), LABELS),
    "MultitaskClassifier": (hinge.MultitaskClassifier(), {"X": X, "y": sides}),
    "MultitaskRegressor": (hinge.MultitaskRegressor(), {"X": X, "y": scores}),
    "OutputCodeClassifier": (hinge.OutputCodeClassifier(), LABELS),
    "OneVsAllClassifier": (hinge.OneVsAllClassifier(LabelRanker()), LABELS),
    "ListRanker": (hinge.ListRanker(), LISTS | {"y": best}),
    "BipartiteRanker": (hinge.BipartiteRanker(), LISTS | {"y": sides[:, 0], "classes": [-1, 1]}),
    "SequenceClassifier": (hinge.SequenceClassifier(), WORDS),
}


def learn(estimator: Any, lesson: dict[str, Any], half: int) -> Any:
    """Learn the first or the second half of a lesson."""
    entries = len(lesson["X"]) // 2
    part = {name: values[half * entries :][:entries] for name, values in lesson.items() if name != "classes"}
    if half == 0 and "classes" in lesson:
        part["classes"] = lesson["classes"]
    return estimator.partial_fit(**part)


def assert_alike(it: Any, other: Any) -> None:
    """Expect what two estimators have learned to be equal, but for what rounding may differ in between versions."""
    (state, sections), (expected, arrays) = it._state(), other._state()
    assert {**state, "class": type(it)} == {**expected, "class": type(other)}
    assert sections.keys() == arrays.keys()
    for name, array in arrays.items():
        assert sections[name].dtype == array.dtype
        np.testing.assert_allclose(sections[name], array, rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_a_model_of_a_released_format_is_opened_and_goes_on(version, name):
    estimator, lesson = LESSONS[name]
    folder = HERE / str(version)
    assert_alike(hinge.load(folder / f"{name}.half"), learn(clone(estimator), lesson, 0))
    assert_alike(learn(hinge.load(folder / f"{name}.half"), lesson, 1), hinge.load(folder / f"{name}.whole"))


if __name__ == "__main__":
    for name, (estimator, lesson) in LESSONS.items():
        folder = HERE / str(VERSION)
        folder.mkdir(exist_ok=True)
        learn(estimator, lesson, 0).save(folder / f"{name}.half")
        learn(estimator, lesson, 1).save(folder / f"{name}.whole")
        print(name, (folder / f"{name}.whole").stat().st_size, "bytes", file=sys.stderr)
