"""Features with names: dicts, one by one or in lists, and data frames."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hinge.checks.cases import Case, feature_names
from hinge.checks.laws import begin, bits, fit, fresh, law, learn, refuses, require, same, same_learned, unchanged

NAMES = ("feature_names_in_",)


def feed(estimator: Any, rows: list[dict[str, Any]], y: Any) -> Any:
    for x, target in zip(rows, y, strict=True):
        estimator.learn_one(x, target)
    return estimator


def targets(case: Case) -> list[Any]:
    return case.y.tolist() if isinstance(case.y, np.ndarray) else list(case.y)


def nameless(answer: Callable[[Any], Any], X: Any) -> Any:
    """Answer an array with what was learned of names: its columns are taken in order, and scikit-learn warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return answer(X)


@law(has="learn_one", plain=True, kinds="labels sets intervals")
def check_dicts_equal_the_matrix(estimator: Any, case: Case) -> None:
    """``learn_one`` on dicts teaches what ``partial_fit`` teaches on the matrix, bit by bit."""
    one, many = feed(fresh(estimator), case.dicts(), targets(case)), learn(fresh(estimator), case)
    same_learned(one, many, "learning from dicts", but=NAMES)
    require(list(one.feature_names_in_) == feature_names(case.width), f"the names are {one.feature_names_in_}")


@law(has="learn_one partial_fit", plain=True, kinds="labels sets intervals")
def check_lists_of_dicts(estimator: Any, case: Case) -> None:
    """A list of dicts is as many calls of ``learn_one``, in every chunk, and is answered as the matrix is."""
    rows, y = case.dicts(), targets(case)
    one = feed(fresh(estimator), rows, y)
    many = fresh(estimator).partial_fit(rows[:7], y[:7]).partial_fit(rows[7:], y[7:])
    same_learned(one, many, "learning from a list of dicts")
    for name in ("predict", "decision_function"):
        if hasattr(one, name):
            of_matrix = nameless(getattr(many, name), case.X)
            same(getattr(many, name)(rows), of_matrix, f"{name} of dicts, and of the matrix")
    passes = fresh(estimator, max_iter=2).fit(rows, y)
    same_learned(passes, fit(fresh(estimator, max_iter=2), case), "fit on dicts", but=NAMES)


@law(has="learn_one", plain=True, kinds="labels sets intervals")
def check_order_of_names_in_a_dict(estimator: Any, case: Case) -> None:
    """In which order a dict lists its names does not matter once they are known."""
    rows = case.dicts()
    turned = rows[:1] + [dict(reversed(x.items())) for x in rows[1:]]
    a, b = (feed(fresh(estimator), some, targets(case)) for some in (rows, turned))
    same_learned(a, b, "dicts turned around")
    require([bits(a.predict_one(x)) for x in rows] == [bits(b.predict_one(x)) for x in turned], "answers differ")


@law(has="predict_one")
def check_predict_one_before_learning(estimator: Any, case: Case) -> None:
    """Before anything was learned ``predict_one`` answers None, and remembers nothing."""
    it = fresh(estimator)
    with unchanged(it, "predict_one"):
        require(it.predict_one({"a": 1.0}) is None, "predict_one answers before anything was learned")
        if hasattr(it, "rank_one"):
            require(it.rank_one({"a": 1.0}) == [], "rank_one answers before anything was learned")


@law(has="learn_one predict_one", plain=True, kinds="labels sets intervals")
def check_predict_one_equals_predict(estimator: Any, case: Case) -> None:
    """``predict_one`` answers what ``predict`` answers, and changes nothing; ``learn_one`` returns None."""
    it = feed(fresh(estimator), case.dicts(), targets(case))
    whole = nameless(it.predict, case.X)
    whole = whole.tolist() if isinstance(whole, np.ndarray) else whole
    with unchanged(it, "predict_one"):
        require([it.predict_one(x) for x in case.dicts()] == whole, "predict_one and predict differ")
        if hasattr(it, "rank_one"):
            same([it.rank_one(x) for x in case.dicts()], nameless(it.rank, case.X), "rank_one, and rank")
    require(it.learn_one(case.dicts()[0], targets(case)[0]) is None, "learn_one returns something")


@law(has="learn_one coef_", plain=True, kinds="labels sets intervals")
def check_new_names_grow(estimator: Any, case: Case) -> None:
    """A name that is new when learned is a feature more, and moves no other; one that is only asked about is none."""
    it = feed(fresh(estimator), case.dicts(), targets(case))
    names, answer = list(it.feature_names_in_), it.predict_one(case.dicts()[0])
    with unchanged(it, "a name that is only asked about"):
        same(it.predict_one({**case.dicts()[0], "unheard of": 3.0}), answer, "the answer beside an unknown name")
    it.learn_one({"new": 1.0, **case.dicts()[1]}, targets(case)[1])
    require(list(it.feature_names_in_) == [*names, "new"], f"the names are {it.feature_names_in_}")
    require(it.n_features_in_ == len(names) + 1, f"n_features_in_ is {it.n_features_in_}")
    require(it.coef_.shape[-1] == len(names) + 1, f"coef_ has the shape {it.coef_.shape}")


@law(has="learn_one", plain=True, kinds="labels sets intervals")
def check_string_values(estimator: Any, case: Case) -> None:
    """A string value is the feature ``name=value`` with value 1, also where both are given."""
    words = [{"size": "large" if row[0] > 0 else "small", **x} for row, x in zip(case.X, case.dicts(), strict=True)]
    plain = [{f"size={x['size']}": 1.0, **{k: v for k, v in x.items() if k != "size"}} for x in words]
    a, b = (feed(fresh(estimator), rows, targets(case)) for rows in (words, plain))
    same_learned(a, b, "string values")
    both, twice = fresh(estimator), fresh(estimator)
    both.learn_one({"size": "large", "size=large": 1.0}, targets(case)[0])
    twice.learn_one({"size=large": 2.0}, targets(case)[0])
    same_learned(both, twice, "a string value beside the feature that it stands for")


@law(has="learn_one", plain=True, kinds="labels sets intervals", params="features n_bits")
def check_hashed_features(estimator: Any, case: Case) -> None:
    """Hashed dicts have ``2 ** n_bits`` features from the start, whatever their names, and the same bits in lists."""
    it = fresh(estimator, features="hashed", n_bits=6)
    one = feed(fresh(it), case.dicts(), targets(case))
    require(one.n_features_in_ == 64, f"n_features_in_ is {one.n_features_in_} with 6 bits")
    if case.classes is not None:
        same_learned(one, fresh(it).partial_fit(case.dicts(), targets(case)), "a list of hashed dicts")
    turned = [dict(reversed(x.items())) for x in case.dicts()]
    same_learned(one, feed(fresh(it), turned, targets(case)), "hashed dicts turned around")
    one.learn_one({"new": 1.0}, targets(case)[0])
    require(one.n_features_in_ == 64, "a new name made a hashed feature more")


@law(has="learn_one", plain=True, kinds="labels sets intervals")
def check_bad_dicts(estimator: Any, case: Case) -> None:
    """A value that is no finite number, or a name that is no string, is an error that names it; nothing is learned."""
    it = feed(fresh(estimator), case.dicts(), targets(case))
    bad: list[tuple[dict[Any, Any], str]] = [
        ({"new": 1.0, "b": float("nan")}, "'b'"),
        ({"new": 1.0, "b": float("inf")}, "'b'"),
        ({"new": 1.0, "b": None}, "'b'"),
        ({"new": 1.0, "b": [1]}, "'b'"),
        ({"new": 1.0, 5: 1.0}, "5"),
    ]
    for x, word in bad:
        for name, call in {
            "learn_one": partial(it.learn_one, x, targets(case)[0]),
            "partial_fit": partial(it.partial_fit, [case.dicts()[0], x], targets(case)[:2]),
        }.items():
            with unchanged(it, f"{name} with {x}"), refuses((ValueError, TypeError), word, why=f"{name} with {x}"):
                call()
        with (
            unchanged(it, f"predict_one with {x}"),
            refuses((ValueError, TypeError), word, why=f"predict_one with {x}"),
        ):
            it.predict_one(x)
    for name, call in {
        "learn_one": partial(it.learn_one, [1.0], targets(case)[0]),
        "predict_one": partial(it.predict_one, [1.0]),
    }.items():
        with unchanged(it, f"{name} with a list"), refuses(TypeError, "dict", "list", why=f"{name} with a list"):
            call()


@law(has="learn_one", plain=True, kinds="labels sets intervals")
def check_weights_of_learn_one(estimator: Any, case: Case) -> None:
    """``w`` is the sample weight; one that is negative or not finite is refused."""
    weights = np.arange(len(case)) % 4 / 2
    one = fresh(estimator)
    for x, y, w in zip(case.dicts(), targets(case), weights, strict=True):
        one.learn_one(x, y, w=float(w))
    same_learned(one, learn(fresh(estimator), case, sample_weight=weights), "weights one by one", but=NAMES)
    for w in (-1.0, float("nan"), float("inf")):
        with unchanged(one, f"w={w}"), refuses(ValueError, "weight", why=f"w={w}"):
            one.learn_one(case.dicts()[0], targets(case)[0], w=w)


@law(has="learn_one explain_one decision_function", plain=True, kinds="labels sets")
def check_explanations_add_up(estimator: Any, case: Case) -> None:
    """The shares of ``explain_one`` add up to the score, largest first."""
    it = feed(fresh(estimator), case.dicts(), targets(case))
    for t in (0, 3):
        scores = it.decision_function(case.dicts()[t : t + 1])[0]
        for label, score in zip(it.classes_.tolist(), scores, strict=True):
            shares = list(it.explain_one(case.dicts()[t], label).values())
            require(
                np.isclose(sum(shares), score, atol=1e-4), f"the shares of {label!r} are {sum(shares)}, not {score}"
            )
            require(shares == sorted(shares, key=abs, reverse=True), "the largest share is not the first")


@law(plain=True, package="pandas")
def check_pandas(estimator: Any, case: Case) -> None:
    """A pandas data frame teaches as its values do, names its features, and is refused with other columns."""
    _check_frames(estimator, case, importlib.import_module("pandas").DataFrame)


@law(plain=True, package="polars")
def check_polars(estimator: Any, case: Case) -> None:
    """The same for a polars data frame."""
    _check_frames(estimator, case, importlib.import_module("polars").DataFrame)


def _check_frames(estimator: Any, case: Case, frame: Any) -> None:
    names = feature_names(case.width)
    X = frame({name: case.X[:, i] for i, name in enumerate(names)})
    of_frame, of_array = fit(fresh(estimator), case.map(lambda _: X)), fit(fresh(estimator), case)
    require(of_frame.feature_names_in_.tolist() == names, f"feature_names_in_ is {of_frame.feature_names_in_}")
    same_learned(of_frame, of_array, "a data frame", but=NAMES)
    with unchanged(of_frame, "predict"):
        same(of_frame.predict(X), of_array.predict(case.X), "answers for a data frame")
    other = frame({name: case.X[:, i] for i, name in reversed(list(enumerate(names)))})
    with unchanged(of_frame, "columns in another order"), refuses(ValueError, "feature names", why="other columns"):
        of_frame.predict(other)
    spoilt = frame({name: np.where(np.arange(len(case)) == 3, np.nan, case.X[:, i]) for i, name in enumerate(names)})
    with refuses(ValueError, "row 3", names[0], why="NaN in a data frame"):
        of_frame.predict(spoilt)


@law(has="learn_one", plain=True, kinds="labels sets intervals", package="pandas")
def check_dicts_after_a_data_frame(estimator: Any, case: Case) -> None:
    """A data frame's columns are the names of the dicts that come later."""
    frame = importlib.import_module("pandas").DataFrame(case.X, columns=feature_names(case.width))
    it = begin(fresh(estimator), case.map(lambda _: frame))
    feed(it, case.dicts(), targets(case))
    same_learned(it, learn(begin(fresh(estimator), case), case), "dicts after a data frame", but=NAMES)


@law(has="learn_one partial_fit", plain=True, kinds="labels sets intervals")
def check_dicts_after_an_array(estimator: Any, case: Case) -> None:
    """An array's features have no names, so dicts cannot follow it; the error says what to do."""
    it = learn(fresh(estimator), case)
    with unchanged(it, "a dict after an array"), refuses(ValueError, "names", why="a dict after an array"):
        it.learn_one(case.dicts()[0], targets(case)[0])
