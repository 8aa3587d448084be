"""Bad input: an error that names the place, raised before anything is learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from hinge.checks.cases import Case
from hinge.checks.laws import everything, fit, fresh, law, learn, refuses, same, unchanged

BAD = (ValueError, TypeError)


def calls(it: Any, case: Case, answers: bool = True) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield every call that reads X, by name."""
    yield "fit", lambda: fit(it, case)
    if hasattr(it, "partial_fit"):
        yield "partial_fit", lambda: learn(it, case)
    for name in ("predict", "decision_function", "rank"):
        if answers and hasattr(it, name):
            yield name, partial(getattr(it, name), case.X)


def all_refuse(it: Any, case: Case, *words: str, why: str, answers: bool = True) -> None:
    """Expect every call to refuse the case, and to change nothing."""
    for name, call in calls(it, case, answers):
        with unchanged(it, f"{name} with {why}"), refuses(ValueError, *words, why=f"{name} with {why}"):
            call()


@law(native=True)
def check_not_finite_values(estimator: Any, case: Case) -> None:
    """NaN and infinity in X are errors that name row and column; nothing is learned, not even from the rows before."""
    it = fit(fresh(estimator), case)
    for value, name in ((np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")):
        spoilt = case.put(len(case) - 1, 2, value)
        place = (f"row {len(case) - 1}", "column 2") if case.is_plain else ()
        all_refuse(it, spoilt, name, *place, why=name)


@law(sparse=True)
def check_not_finite_sparse_values(estimator: Any, case: Case) -> None:
    """The same for values of a sparse matrix."""
    it = fit(fresh(estimator), case)
    for value, name in ((np.nan, "NaN"), (np.inf, "infinity")):
        spoilt = case.put(5, 2, value).map(sparse.csr_matrix)
        all_refuse(it, spoilt, name, *(("row 5", "column 2") if case.is_plain else ()), why=f"sparse {name}")


@law(params="dtype", native=True)
def check_values_beyond_float32(estimator: Any, case: Case) -> None:
    """A number that float32 cannot hold is an error there, and none in float64."""
    large = case.put(1, 0, 1e300)
    all_refuse(fit(fresh(estimator, dtype="float32"), case), large, "float32", why="1e300 in float32")
    fit(fresh(estimator, dtype="float64"), case).predict(large.X)


@law()
def check_first_call_that_fails(estimator: Any, case: Case) -> None:
    """An error in the first call leaves an estimator that never learned."""
    it = fresh(estimator)
    before = everything(it)
    for _, call in calls(it, case.put(len(case) - 1, 0, np.nan), answers=False):
        with refuses(ValueError, "NaN", why="NaN in the first call"):
            call()
        same(before, everything(it), "the estimator after a first call that failed")
    with refuses(NotFittedError, why="predict after a first call that failed"):
        it.predict(case.X)


@law(has="n_features_in_", native=True)
def check_wrong_width(estimator: Any, case: Case) -> None:
    """A matrix with a column too few or too many is an error that names both widths."""
    it = fit(fresh(estimator), case)
    for other in (case.map(lambda X: X[:, :-1]), case.map(lambda X: np.hstack([X, X[:, :1]]))):
        for form in (other, other.map(sparse.csr_matrix)):
            for name, call in calls(it, form):
                if name != "fit":
                    words = (str(other.width), str(case.width))
                    with unchanged(it, name), refuses(ValueError, *words, why=f"{name} with {other.width} columns"):
                        call()


@law(plain=True)
def check_empty_input(estimator: Any, case: Case) -> None:
    """No rows, or no columns, is an error."""
    it = fit(fresh(estimator), case)
    all_refuse(it, case.map(lambda X: X[:0]), "0 sample", why="no rows")
    all_refuse(it, case.map(lambda X: X[:, :0]), "0 feature", why="no columns")


@law(plain=True)
def check_shapes_of_X(estimator: Any, case: Case) -> None:
    """X with one dimension or three, of strings or of complex numbers, is an error."""
    it = fit(fresh(estimator), case)
    for why, X in {
        "one dimension": case.X[:, 0],
        "three dimensions": case.X[:, :, None],
        "strings": np.full(case.X.shape, "much"),
        "complex numbers": case.X + 1j,
        "None": None,
    }.items():
        for name, call in calls(it, replace(case, X=X)):
            with unchanged(it, f"{name} with {why}"), refuses(BAD, why=f"{name} with {why}"):
                call()


@law()
def check_lengths_that_differ(estimator: Any, case: Case) -> None:
    """As many targets as rounds, or an error."""
    it = fit(fresh(estimator), case)
    longer = replace(case.take(slice(0, 5)), X=case.take(slice(0, 6)).X)
    all_refuse(it, longer, why="fewer targets than rows", answers=False)


@law(kinds="labels", plain=True)
def check_bad_labels(estimator: Any, case: Case) -> None:
    """Targets that are no labels are errors, which name the row; nothing is learned."""
    it = fit(fresh(estimator), case)
    n = len(case)
    numbers = np.arange(n) % 2 + 0.0
    bad: dict[str, tuple[Any, tuple[str, ...]]] = {
        "NaN as a label": (np.where(np.arange(n) == 4, np.nan, numbers), ("NaN", "row 4")),
        "a continuous target": (np.where(np.arange(n) == 4, 0.5, numbers), ("Unknown label type", "continuous")),
        "None as a label": ([*["a"] * (n - 1), None], (f"row {n - 1}",)),
        "no target": (None, ("y",)),
    }
    for why, (y, words) in bad.items():
        all_refuse(it, replace(case, y=y), *words, why=why, answers=False)


@law(kinds="sets", plain=True)
def check_bad_label_sets(estimator: Any, case: Case) -> None:
    """Sets with None or NaN in them, or rows that are no sets, are errors that name the row."""
    it = fit(fresh(estimator), case)
    for what in ({"red", None}, {float("nan")}, "red", None, 3):
        y = [*case.y[:6], what, *case.y[7:]]
        all_refuse(it, replace(case, y=y), "row 6", why=f"{what!r} among sets", answers=False)


@law(kinds="indicator", plain=True)
def check_bad_indicators(estimator: Any, case: Case) -> None:
    """An indicator matrix holds 0 and 1; the row that holds something else is named."""
    it = fit(fresh(estimator), case)
    y = np.asarray(case.y.toarray() if sparse.issparse(case.y) else case.y).copy()
    y[7, 1] = 2
    form = sparse.csr_matrix if sparse.issparse(case.y) else np.asarray
    all_refuse(it, replace(case, y=form(y)), "row 7", why="a 2 in an indicator matrix", answers=False)


@law()
def check_before_learning(estimator: Any, case: Case) -> None:
    """Asked before anything was learned, an estimator says so."""
    it = fresh(estimator)
    for name in ("predict", "decision_function", "rank"):
        if hasattr(it, name):
            with refuses(NotFittedError, type(it).__name__, why=f"{name} before fit"):
                getattr(it, name)(case.X)
    for name in ("coef_", "classes_", "t_", "certificate_", "n_features_in_"):
        if hasattr(it, name):
            raise AssertionError(f"{name} exists before anything was learned")
