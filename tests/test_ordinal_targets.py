"""Targets of ordered classes in all their forms, and what is refused, naming the row, with nothing learned."""

from __future__ import annotations

import pickle
import subprocess
import sys
from math import inf
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hinge import OrdinalClassifier, PRank, WidrowHoffClassifier
from test_ordinal import ROWS, arrays, learner
from test_ordinal_oracle import draw

Array = np.ndarray[Any, np.dtype[Any]]


@pytest.mark.parametrize(
    ("y", "classes", "expected"),
    [
        ([1, 7, 3, 7], None, [1, 3, 7]),
        ([[1, 3], [3, 3], [-inf, 7], [7, inf]], None, [1, 3, 7]),
        (np.array([[1, 3], [3, 3], [-inf, 7], [7, inf]]), None, [1, 3, 7]),
        ([(1, 3), (3, 3), (-inf, 7), (7, inf)], [1, 2, 3, 7], [1, 2, 3, 7]),
        ([False, True, True, False], None, [False, True]),
        ([0.5, 1.0, 1.5, 1.0], [0.5, 1, 1.5, 2], [0.5, 1.0, 1.5, 2.0]),
        ([1.0, 2.0, 1.0, 2.0], None, [1.0, 2.0]),
        ([3, 2, 1, 1], [3, 2, 1], [3, 2, 1]),
        (["lo", "hi", "mid", "lo"], ["lo", "mid", "hi"], ["lo", "mid", "hi"]),
        ([("lo", "mid"), (-inf, "mid"), ("mid", inf), ("hi", "hi")], ["lo", "mid", "hi"], ["lo", "mid", "hi"]),
        (pd.Series(["a", "c", "b", "a"]), pd.CategoricalDtype(["c", "b", "a"], ordered=True), ["c", "b", "a"]),
        (pd.Categorical(["a", "c", "c", "a"], ["c", "b", "a"], ordered=True), None, ["c", "b", "a"]),
        (pd.Series(pd.Categorical(["a", "c", "c", "a"], ["c", "b", "a"], ordered=True)), None, ["c", "b", "a"]),
        (pd.Series([1, 2, 4, 2], index=[9, 8, 7, 6]), None, [1, 2, 4]),
        (pd.DataFrame({"from": [1, 2, 4, 2], "to": [2, 2, 4, 4]}), None, [1, 2, 4]),
        (np.array([-120, 120, 60, 120], dtype=np.int8), None, [-120, 60, 120]),
        (np.array([2**60 + 1, 2**60 + 3, 2**60 + 2, 2**60 + 1]), None, [2**60 + 1, 2**60 + 2, 2**60 + 3]),
        (pl.Series(["a", "c", "b", "a"], dtype=pl.Enum(["c", "b", "a"])), None, ["c", "b", "a"]),
        (pl.DataFrame({"from": [1, 2, 4, 2], "to": [2, 2, 4, 4]}), None, [1, 2, 4]),
        ([pd.Timestamp(2020, 1, d) for d in (1, 5, 2, 5)], None, [pd.Timestamp(2020, 1, d) for d in (1, 2, 5)]),
    ],
)
def test_targets_of_many_kinds(y: Any, classes: Any, expected: list[Any]) -> None:
    fitted = OrdinalClassifier(classes=classes).fit(ROWS, y)
    best = OrdinalClassifier(classes=classes, kernel="rbf", gamma=99.0, max_iter=20).fit(ROWS, y)
    assert best.score(ROWS, y) == 0  # so every label stands where it belongs
    assert fitted.classes_.tolist() == expected
    assert not isinstance(expected[0], float) or fitted.classes_.dtype == float
    assert len(fitted.thresholds_) == len(expected) - 1
    assert set(fitted.predict(ROWS).tolist()) <= set(expected)
    assert fitted.predict_interval(ROWS).shape == (4, 2)
    assert fitted.score(ROWS, y) <= 0
    online = OrdinalClassifier(classes=classes).partial_fit(ROWS, y)
    np.testing.assert_array_equal(online.classes_, fitted.classes_)
    for one in online, fitted:
        assert pickle.loads(pickle.dumps(one)).predict(ROWS).tolist() == one.predict(ROWS).tolist()


def test_open_ends_are_the_outermost_classes() -> None:
    X, y, _ = arrays(draw(3, 3, 5))
    opened = np.where(y == np.array([1, 5]), [-inf, inf], y)
    for one, other in zip(
        learner(5).fit(X, y)._model.state().values(), learner(5).fit(X, opened)._model.state().values(), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_the_interval_of_all_classes_asks_for_nothing() -> None:
    it = learner(4).fit(ROWS, [1, 4, 2, 3])
    before = it.thresholds_, it.coef_
    it.partial_fit(ROWS, [[1, 4], [-inf, inf], [-inf, 4], [1, inf]])
    np.testing.assert_array_equal(it.thresholds_, before[0])
    np.testing.assert_array_equal(it.coef_, before[1])
    assert it.t_ == 8


@pytest.mark.parametrize(
    ("y", "params", "message"),
    [
        ([[1, 2], [3, 2]], {}, "row 1 of y is the interval 3 to 2, which is upside down"),
        ([("b", "a"), ("a", "a")], {"classes": ["a", "b"]}, "row 0 of y is the interval b to a, which is upside down"),
        ([[1, 2], [np.nan, 2]], {}, "NaN.*row 1"),
        ([[inf, inf], [1, 2]], {}, "row 0 of y is the interval inf to inf"),
        ([1, np.nan], {}, "NaN"),
        ([1.0, inf], {}, "infinity"),
        ([1, 9], {"classes": [1, 2, 3]}, "row 1 of y has the class 9, which is not among the classes 1, 2, 3"),
        ([[1, 2], [2, 9]], {"classes": [1, 2, 3]}, "row 1 of y has the class 9"),
        (["low", "high"], {}, "row 0 of y has the class 'low'; strings have no order of their own: give classes="),
        ([None, "high"], {"classes": ["low", "high"]}, "row 0.*NaN or None"),
        ([0.5, 1.25], {}, "Unknown label type: continuous. Row 0"),
        ([1, 2, 3], {}, "inconsistent numbers of samples"),
        (np.zeros((2, 3)), {}, "3 columns"),
        ([(1, 2), 3], {}, "row 1 of y is 3; where one row is an interval, every row is one"),
        ([1, 2], {"classes": [1, 2, 1]}, "classes must differ"),
        ([1, 2], {"classes": []}, "classes is empty"),
        ([1, 2], {"kernel": "rbf", "update": "multiplicative"}, "kernel='linear' and no budget"),
        ([1, 2], {"kernel": "rbf", "average": True}, "average=True goes with kernel='linear'"),
        ([1, 2], {"step": "sqrt", "update": "multiplicative"}, "step='sqrt' goes with update='additive'"),
        ([1, 2], {"update": "multiplicative"}, "row 1 of X has the value -1.5, but update='multiplicative' needs"),
        ([1, 2], {"kernel": lambda a, b: np.inf}, "the kernel returned inf; it must return a finite number"),
        ([1, 2], {"kernel": "poly", "degree": 900}, "not finite"),
    ],
)
def test_bad_input_is_refused_and_nothing_learned(y: Any, params: dict[str, Any], message: str) -> None:
    X = np.array([[0.5, 1.0], [9.0, -1.5]]) if params.get("degree") else np.array([[0.5, 1.0], [1.0, -1.5]])
    for method in ("fit", "partial_fit"):
        it = OrdinalClassifier(**params)
        before = dict(vars(it))
        with pytest.raises(ValueError, match=message):
            getattr(it, method)(X, y)
        assert vars(it) == before
    if "classes" not in params or len(set(params["classes"])) > 2:
        it = OrdinalClassifier(**{"classes": [1, 2, 3]} | {k: v for k, v in params.items() if k == "classes"})
        it.partial_fit(X / 2, [1, 3])
        state = pickle.dumps(it)
        if not params.keys() - {"classes"} and "strings" not in message and "Unknown" not in message:
            with pytest.raises(ValueError, match=message.split(".*")[0]):
                it.partial_fit(X, y)
            assert pickle.dumps(it) == state


def test_a_kernel_that_fails_late_leaves_no_trace() -> None:
    calls = []

    def kernel(a: Array, b: Array) -> float:
        calls.append(1)
        return float(a @ b) if len(calls) < 40 else np.nan

    X, y, _ = arrays(draw(0, 2, 4, rounds=40))
    it = learner(4, kernel=kernel).partial_fit(X[:4], y[:4])
    state, labels = pickle.dumps(it._model.state()), it.classes_.tolist()
    with pytest.raises(ValueError, match="the kernel returned nan"):
        it.partial_fit(X[4:], y[4:])
    assert pickle.dumps(it._model.state()) == state
    with pytest.raises(ValueError, match="the kernel returned nan"):
        learner(4, kernel=kernel).learn_one({"x": 1.0}, (1, 2))
    assert (it.t_, it.classes_.tolist()) == (4, labels)


@pytest.mark.parametrize("rows", [300, 4])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "uint64", "float32", "float64"])
def test_numbers_of_any_type_are_the_same_classes(dtype: str, rows: int) -> None:
    y = np.random.default_rng(0).choice([3, 100, 50, 127], size=rows)
    X = y[:, None] / 64.0
    plain, typed = (
        OrdinalClassifier(max_iter=3).fit(X, y.tolist()),
        OrdinalClassifier(max_iter=3).fit(X, y.astype(dtype)),
    )
    np.testing.assert_array_equal(plain.classes_, typed.classes_)
    np.testing.assert_array_equal(plain.thresholds_, typed.thresholds_)
    np.testing.assert_array_equal(plain.predict(X), typed.predict(X))
    pairs = OrdinalClassifier(max_iter=3).fit(X, np.column_stack([y, y]).astype(dtype))
    np.testing.assert_array_equal(plain.thresholds_, pairs.thresholds_)


def test_a_kernel_that_is_not_finite_is_told_with_its_row() -> None:
    X = np.array([[1.0], [2.0], [1e200], [3.0]])
    with pytest.raises(ValueError, match="row 2 of X: the kernel returned a number that is not finite"):
        learner(3, kernel="poly").fit(X, [1, 2, 3, 1])
    with pytest.raises(ValueError, match="row 3 of X: the kernel returned nan; it must return a finite number"):
        learner(3, kernel=lambda a, b: np.nan if b[0] == 3 else 1.0).fit(X, [1, 2, 3, 1])


def failing(a: Array, b: Array) -> float:
    return float(a @ b) if np.abs(b).max() < 5 else np.inf


@pytest.mark.parametrize("kernel", ["poly", failing])
@pytest.mark.parametrize("params", [{}, {"step": "sqrt"}, {"budget": 3}], ids=str)
def test_an_example_whose_kernel_fails_leaves_no_trace(kernel: Any, params: dict[str, Any]) -> None:
    """No class enters, no name is learned, no round is counted."""
    rng = np.random.default_rng(0)
    rows = [dict(zip("ab", x, strict=True)) for x in rng.normal(size=(12, 2)).tolist()]
    it = OrdinalClassifier(kernel=kernel, degree=20, **params).partial_fit(rows, [1, 3, 1, 3] * 3)
    bad = {"a": 1e38, "new": 1.0}
    before = pickle.dumps((it._state(), it.thresholds_))
    for target in (1, 2, 9, (1, 9)):
        with pytest.raises(ValueError, match="finite"):
            it.learn_one(bad, target)
        with pytest.raises(ValueError, match="finite"):
            it.partial_fit([{"c": 0.5}, bad], [(1, 3), target] if isinstance(target, tuple) else [2, target])
        assert pickle.dumps((it._state(), it.thresholds_)) == before
    it.learn_one({"new": 1.0}, 2)
    assert it.feature_names_in_.tolist() == ["a", "b", "new"]
    assert it.classes_.tolist() == [1, 2, 3]


def test_the_ball_needs_an_inner_product() -> None:
    with pytest.raises(ValueError, match="row 0 of X: the kernel of a row with itself is negative"):
        learner(3, kernel=lambda a, b: -(a @ b), step="sqrt").fit(ROWS, [1, 2, 3, 1])


def test_a_kernel_that_knows_its_model_is_collected() -> None:
    """A script that keeps both in its globals ends in silence: nothing is leaked."""
    code = (
        "import numpy as np; from hinge import OrdinalClassifier\n"
        "it = OrdinalClassifier(kernel=lambda a, b: float(a @ b)).fit(np.eye(3), [1, 2, 3])\n"
        "other = it.snapshot()"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stderr == ""


def test_a_kernel_must_return_a_number() -> None:
    with pytest.raises(TypeError, match="the kernel returned 'one'; it must return a number"):
        learner(3, kernel=lambda a, b: "one").fit(ROWS, [1, 2, 3, 1])


def test_what_a_kernel_raises_comes_through() -> None:
    def kernel(a: Array, b: Array) -> float:
        raise RuntimeError("no such kernel")

    with pytest.raises(RuntimeError, match="no such kernel"):
        learner(3, kernel=kernel).fit(ROWS, [1, 2, 3, 1])


@pytest.mark.parametrize("make", [PRank, WidrowHoffClassifier])
def test_the_baselines_refuse_intervals(make: Any) -> None:
    with pytest.raises(ValueError, match=r"row 1 of y is the interval 1 to 2; .* learns from exact classes only"):
        make().fit(ROWS[:2], [[1, 1], [1, 2]])
    exact = make().fit(ROWS, [[1, 1], [2, 2], [4, 4], [2, 2]])
    assert exact.classes_.tolist() == [1, 2, 4]
