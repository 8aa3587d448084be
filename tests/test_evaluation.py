"""Progressive evaluation: measures of answers and of scores, each against what is asked by hand before each round."""

import numpy as np
import pytest
from scipy import sparse

from hinge import LabelRanker, metrics, progressive

RNG = np.random.default_rng(0)
X = RNG.integers(-4, 5, size=(40, 3)) / 4
SCORES = X @ RNG.integers(-2, 3, size=(3, 4))
INSIDE = SCORES > 0.25


@pytest.mark.parametrize("form", ["labels", "sets", "indicator", "sparse indicator"])
@pytest.mark.parametrize("average", [False, True])
def test_a_measure_of_scores_is_given_those_before_each_round(form, average):
    y = {
        "labels": [f"label {i}" for i in SCORES.argmax(axis=1)],
        "sets": [{f"label {i}" for i in np.flatnonzero(row)} for row in INSIDE],
        "indicator": INSIDE.astype(int),
        "sparse indicator": sparse.csr_matrix(INSIDE.astype(int)),
    }[form]
    relevant = np.eye(4, dtype=bool)[SCORES.argmax(axis=1)] if form == "labels" else INSIDE
    classes = [f"label {i}" for i in range(4)]
    report = progressive(
        LabelRanker(average=average, dtype="float64"), X, y, classes=classes, every=10,
        metrics=["label_ranking_loss", "one_error"],
    )  # fmt: skip
    by_hand, scores = LabelRanker(average=average, dtype="float64").add_labels(classes), np.zeros((40, 4))
    for t in range(40):
        if t > 0:
            scores[t] = by_hand.decision_function(X[t : t + 1])[0]
        by_hand.partial_fit(X[t : t + 1], y[t : t + 1])
    for name in ("label_ranking_loss", "one_error"):
        measure = getattr(metrics, name)
        expected = [measure(relevant[a : a + 10], scores[a : a + 10]) for a in range(0, 40, 10)]
        np.testing.assert_allclose(report.curve[name], expected)


def test_a_label_that_does_not_exist_yet_is_below_the_others():
    report = progressive(LabelRanker(), np.eye(3), ["a", "b", "c"], every=1, metrics=["coverage_error"])
    assert report.curve["coverage_error"].tolist() == [1, 2, 2]  # b ties with a when it is new; c is above a, below b


def test_a_measure_of_answers_is_given_answers():
    seen = []
    progressive(
        LabelRanker(), np.eye(3), ["a", "b", "a"], metrics={"seen": lambda y, answer: len(seen.append(answer) or [])}
    )
    assert [label for part in seen for label in part] == ["a", "a", "b"]  # the last by the intercept alone
