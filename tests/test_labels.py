"""Labels of any type, and the forms of targets that could be mistaken for one another."""

import datetime

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

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


def test_points_in_time_are_labels():
    days = pd.Series(pd.to_datetime(["2026-01-02", "2026-01-01"] * 2))
    assert LabelRanker().fit(X, days).classes_.tolist() == [datetime.datetime(2026, 1, day) for day in (1, 2)]
    with pytest.raises(ValueError, match=r"row 1: .* finer than a microsecond"):
        LabelRanker().fit(X, np.array([1000, 1, 2000, 3000], dtype="m8[ns]"))


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(["a", None, "b", "a"], dtype="string"),
        pd.Series(["a", None, "b", "a"], dtype="category"),
        pd.Series([1, None, 2, 1], dtype="Int64"),
        pd.Series(pd.to_datetime(["2026-01-02", None, "2026-01-01", "2026-01-02"])),
        [{"a"}, {pd.NA}, {"b"}, {"a"}],
    ],
    ids=["string", "category", "integer", "time", "set"],
)
def test_what_is_missing_is_named_with_its_row(y):
    with pytest.raises(ValueError, match=r"NaN.*row 1|row 1.*NaN"):
        LabelRanker().fit(X, y)


def test_targets_that_are_no_list():
    with pytest.raises(ValueError, match="y must be an array or a list of targets"):
        LabelRanker().fit(X, iter([0, 1, 2, 3]))


def test_one_weight_for_all_rows():
    alike = LabelRanker().fit(X, [0, 1, 2, 1], sample_weight=[0.5] * 4)
    np.testing.assert_array_equal(LabelRanker().fit(X, [0, 1, 2, 1], sample_weight=0.5).coef_, alike.coef_)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_a_sparse_matrix_is_answered_with_one_and_an_array_with_an_array(kind, tmp_path):
    Y = kind(np.array([[1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 0, 1]]))
    ranker = LabelRanker(max_iter=20).fit(X, Y)
    ranker.save(tmp_path / "it")
    for it in (ranker, load(tmp_path / "it")):
        assert type(it.predict(X)) is kind
        assert np.array_equal(it.predict(X).toarray(), Y.toarray())


@pytest.mark.parametrize("y", [[[0], [1, 2], [0], [1]], [[0, 1], [1], [2, 0], [1]]])
def test_lists_of_several_lengths_are_told_to_be_sets(y):
    with pytest.raises(ValueError, match=r"row 1 of y is .* a set of labels is written as a set"):
        LabelRanker().fit(X, y)
