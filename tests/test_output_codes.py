"""Output codes: the codes themselves, and the classifier as the parallel tasks that it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hinge import MultitaskClassifier, OutputCodeClassifier, codes, load, progressive
from hinge.checks import check_estimator
from hinge.norms import RMax

kinds = st.sampled_from(codes.NAMES)


def stream(seed=0, rows=60, width=6, labels=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, width))
    y = (X @ rng.normal(size=(width, labels))).argmax(axis=1)
    return X, np.array(list("abcdefghijkl"))[y]


@pytest.mark.parametrize("labels", range(2, 8))
def test_hadamard_has_every_column_up_to_seven_labels(labels):
    code = codes.table("hadamard", labels, labels, 0)
    assert code.shape == (labels, 2 ** (labels - 1) - 1)
    assert (code[0] == 1).all()
    assert len({tuple(column) for column in code.T}) == code.shape[1]
    assert not (code == 1).all(axis=0).any()
    assert codes.distance(code) == 2 ** (labels - 2)


@pytest.mark.parametrize("labels", [8, 9, 16, 33, 100])
def test_hadamard_has_rows_of_a_sylvester_matrix_beyond(labels):
    from scipy.linalg import hadamard

    order = 1 << (labels - 1).bit_length()
    np.testing.assert_array_equal(codes.table("hadamard", labels, labels, 0), hadamard(order)[:labels, 1:])
    assert codes.distance(codes.table("hadamard", labels, labels, 0)) == order // 2


def test_small_codes():
    np.testing.assert_array_equal(codes.table("one-vs-rest", 3, 3, 0), 2 * np.eye(3) - 1)
    bits = codes.table("binary", 5, 5, 0)
    assert (bits > 0).astype(int).tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert codes.distance(bits) == 1
    assert codes.distance(codes.table("one-vs-rest", 9, 9, 0)) == 2


@given(kinds, st.integers(0, 20), st.integers(0, 12), st.integers(0, 12))
def test_a_code_grows_and_what_is_there_stays(kind, known, more, still_more):
    """No row of a label changes, no column moves, and all rows differ."""
    small = codes.table(kind, known, known + more, 7)
    large = codes.table(kind, known, known + more + still_more, 7)
    np.testing.assert_array_equal(large[: len(small), : small.shape[1]], small)
    assert np.isin(large, (-1, 1)).all()
    if len(large) > 1:
        assert codes.distance(large) > 0


@pytest.mark.parametrize("labels", [3, 5, 20])
def test_random_codes_ask_something_in_every_column(labels):
    code = codes.table("random", labels, labels, 3)
    codes.check_code(code)
    assert not np.array_equal(code, codes.table("random", labels, labels, 4))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ([[1, -1], [1, -1], [-1, 1]], "rows 0 and 1"),
        ([[1, -1], [1, 1]], "column 0 .*constant"),
        ([[1, -1, 1], [-1, 1, 1], [1, -1, -1]], "columns 0 and 1 .*complementary"),
        ([[1, 0], [0, 1]], "-1 and 1"),
        ([[1, -1]], "two rows"),
        ([1, -1], "matrix"),
        ([[1, -1], [1]], "matrix"),
    ],
)
def test_a_bad_matrix_is_refused(code, words):
    X, y = stream()
    with pytest.raises(ValueError, match=words):
        OutputCodeClassifier(code).fit(X, y)


@pytest.mark.parametrize("update", ["implicit", "infinite", "finite"])
@pytest.mark.parametrize("code", ["hadamard", "one-vs-rest", "binary", "random"])
def test_it_is_parallel_tasks_on_the_codewords(code, update):
    X, y = stream()
    model = OutputCodeClassifier(code, RMax(2), update, C=0.3, dtype="float64", random_state=0)
    report = progressive(model, X, y, classes=list("abcde"), every=1)
    bits = model.code_[np.searchsorted(model.classes_, y)]
    tasks = MultitaskClassifier(RMax(2), update, C=0.3, dtype="float64")
    curve = progressive(tasks, X, bits, every=1, classes=[-1, 1]).curve
    np.testing.assert_array_equal(model.coef_, tasks.coef_)
    np.testing.assert_array_equal(report.curve["loss"], curve["loss"])
    np.testing.assert_array_equal(report.curve["task_errors"], curve["task_errors"])
    assert (report.curve["error"] <= curve["error"]).all()
    scores = tasks.decision_function(X)
    apart = (np.where(scores > 0, 1, -1)[:, None, :] != model.code_).sum(axis=2)
    np.testing.assert_array_equal(model.predict(X), model.classes_[apart.argmin(axis=1)])
    np.testing.assert_array_equal(model.decision_function(X), model.code_.shape[1] - 2 * apart)
    by_margin = model.set_params(decoding="margin")
    np.testing.assert_allclose(by_margin.decision_function(X), scores @ model.code_.T, atol=1e-12)


def test_errors_are_those_of_the_labels_before_learning():
    X, y = stream(1)
    model = OutputCodeClassifier(norm=RMax(4)).partial_fit(X[:1], y[:1], classes=list("abcde"))
    report = progressive(model.snapshot(), X[1:], y[1:], every=1)
    for t in range(1, len(X)):
        assert report.curve["error"][t - 1] == (model.predict(X[t : t + 1])[0] != y[t])
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    assert model.certificate_.mistakes <= model.certificate_.mistake_bound


def test_a_matrix_of_ones_own_and_labels_beyond_it(tmp_path):
    X, y = stream(labels=4)
    code = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    model = OutputCodeClassifier(code, norm="linf").partial_fit(X, y, classes=list("abcd"))
    np.testing.assert_array_equal(model.code_, code)
    assert model.code_distance_ == 2
    before = model.coef_
    with pytest.raises(ValueError, match=r"row 1 of y .*'z'.* 4 rows"):
        model.partial_fit(X[:2], ["a", "z"])
    np.testing.assert_array_equal(before, model.coef_)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), model.predict(X))
    with pytest.raises(ValueError, match="code has 4 rows"):
        OutputCodeClassifier(code).fit(*stream(labels=5, rows=200))
    with pytest.raises(ValueError, match="needs at least 9 tasks"):
        OutputCodeClassifier(norm=RMax(9)).fit(X, y)


@pytest.mark.parametrize("code", ["hadamard", "one-vs-rest", "binary", "random"])
def test_labels_come_and_go(code):
    X, y = stream(2, rows=200, labels=9)
    one = OutputCodeClassifier(code, random_state=1)
    for t in range(len(X)):
        one.partial_fit(X[t : t + 1], y[t : t + 1])
    whole = OutputCodeClassifier(code, random_state=1).partial_fit(X, y)
    np.testing.assert_array_equal(one.code_, whole.code_)
    np.testing.assert_array_equal(one.coef_, whole.coef_)
    first = whole.classes_[0]
    whole.remove_labels([first])
    assert first not in whole.predict(X)
    whole.partial_fit(X[y == first], y[y == first])
    assert whole.classes_[-1] == first
    assert len({tuple(row) for row in whole.code_}) == len(whole.classes_)


@pytest.mark.parametrize(
    "model",
    [
        OutputCodeClassifier("one-vs-rest", "linf", "infinite"),
        OutputCodeClassifier("binary", decoding="margin"),
        OutputCodeClassifier("random", random_state=0),
    ],
    ids=repr,
)
def test_what_every_estimator_promises(model):
    check_estimator(model)
