"""Labels of any type, and the forms of targets that could be mistaken for one another."""

import numpy as np
import pytest

from hinge import LabelRanker, load

X = np.eye(4)


@pytest.mark.parametrize(
    "labels",
    [
        [2**63 + 1, 3],
        [2**70, -1],
        np.array([2**63 + 1, 2**63 + 2], dtype=np.uint64),
        [("a", 1), ("b", 2)],
        [(2, 3), (4, 1)],
        [True, False],
        [b"a", b"b"],
        [1, "a"],
    ],
    ids=repr,
)
def test_labels_come_back_as_they_were_given(labels, tmp_path):
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    y = list(labels) * 2 if isinstance(labels, list) else np.tile(labels, 2)
    ranker = LabelRanker(max_iter=20).fit(X, y)
    assert ranker.predict(X).tolist() == plain * 2
    ranker.save(tmp_path / "model")
    assert load(tmp_path / "model").classes_.tolist() == ranker.classes_.tolist()
    one_by_one = LabelRanker()
    for name, label in zip("abab", y, strict=True):
        one_by_one.learn_one({name: 1.0}, label)
    assert one_by_one.classes_.tolist() == plain
    assert one_by_one.predict_one({"b": 1.0}) == plain[1]


def test_tuples_of_zeros_and_ones_are_rows_of_an_indicator():
    rows = [(0, 1), (1, 0), (1, 1), (0, 0)]
    np.testing.assert_array_equal(
        LabelRanker().fit(X, rows).decision_function(X), LabelRanker().fit(X, np.array(rows)).decision_function(X)
    )
    with pytest.raises(ValueError, match="row 2 of the indicator matrix"):
        LabelRanker().fit(X, [(0, 1), (1, 0), (1, 2), (0, 0)])
