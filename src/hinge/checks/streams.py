"""A stream is a stream: however it is cut, stored or seeded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from hinge.checks.cases import Case
from hinge.checks.laws import (
    begin,
    bits,
    fit,
    fresh,
    law,
    learn,
    learned,
    one_by_one,
    require,
    same_answers,
    same_learned,
    scores_of,
)


@law(has="partial_fit")
def check_any_chunking(estimator: Any, case: Case) -> None:
    """Chunks of any length teach the same as the whole stream, and as its rounds one by one."""
    whole = learn(fresh(estimator), case)
    same_learned(whole, one_by_one(fresh(estimator), case), "learning one by one")
    for lengths in ([1, 2, 3, 5], [7, 1], [len(case) - 1]):
        chunked, at = fresh(estimator), 0
        while at < len(case):
            for length in lengths:
                if at < len(case):
                    learn(chunked, case.take(slice(at, at + length)))
                at += length
        same_learned(whole, chunked, f"learning in chunks of {lengths}")


@law()
def check_same_stream_same_bits(estimator: Any, case: Case) -> None:
    """The same stream gives the same bits."""
    same_learned(fit(fresh(estimator), case), fit(fresh(estimator), case), "learning again")


@law(sparse=True)
def check_dense_equals_sparse(estimator: Any, case: Case) -> None:
    """A sparse matrix, of any format, teaches and is answered as the dense one, bit by bit."""
    dense = fit(fresh(estimator), case)
    for form in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array):
        stored = case.map(form)
        other = fit(fresh(estimator), stored)
        same_learned(dense, other, form.__name__)
        same_answers(dense, other, stored, form.__name__)
        same_answers(dense, other, case, form.__name__)


@law(sparse=True)
def check_zeros_and_duplicates_in_sparse(estimator: Any, case: Case) -> None:
    """Stored zeros, entries in any order and entries given in two halves are what they add up to."""

    def untidy(X: np.ndarray) -> sparse.csr_matrix:
        rows, columns = X.shape
        index = np.tile(np.arange(columns)[::-1].repeat(2), rows)
        data = (X[:, ::-1] / 2).repeat(2, axis=1).ravel()
        return sparse.csr_matrix((data, index, np.arange(rows + 1) * 2 * columns), shape=X.shape)

    untidy_case = case.map(untidy)
    same_learned(fit(fresh(estimator), case), fit(fresh(estimator), untidy_case), "an untidy sparse matrix")


@law()
def check_kinds_of_arrays(estimator: Any, case: Case) -> None:
    """Values that are equal teach the same: lists, Fortran order, views, read-only arrays, float32 and integers."""

    def read_only(X: np.ndarray) -> np.ndarray:
        X = X.copy()
        X.setflags(write=False)
        return X

    case = case.map(lambda X: X * 8)
    kinds: dict[str, Callable[[Any], Any]] = {
        "a list": lambda X: X.tolist(),
        "Fortran order": np.asfortranarray,
        "a strided view": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        "a read-only array": read_only,
        "float32": lambda X: X.astype(np.float32),
        "int64": lambda X: X.astype(np.int64),
        "int8": lambda X: X.astype(np.int8),
    }
    usual = fit(fresh(estimator), case)
    for name, change in kinds.items():
        if not (name == "a list" and case.of_matrices):
            same_learned(usual, fit(fresh(estimator), case.map(change)), name)


@law()
def check_input_is_not_written_to(estimator: Any, case: Case) -> None:
    """Learning and predicting leave X and y as they were."""
    copy = case.map(np.copy)
    it = fit(fresh(estimator), copy)
    it.predict(copy.X)
    parts = zip(copy.X, case.X, strict=True) if case.of_matrices else [(copy.X, case.X)]
    require(all(np.array_equal(a, b) for a, b in parts), "X was written to")


@law()
def check_fit_resets(estimator: Any, case: Case) -> None:
    """``fit`` forgets all that was learned before, the width included."""
    used = fit(fresh(estimator), case.map(lambda X: X[:, :-1] + 1))
    if hasattr(used, "partial_fit"):
        learn(used, case.take(slice(0, 3)).map(lambda X: X[:, :-1]))
    same_learned(fit(used, case), fit(fresh(estimator), case), "fit after learning")


@law(has="partial_fit")
def check_fit_equals_partial_fit(estimator: Any, case: Case) -> None:
    """One pass of ``fit`` is ``partial_fit`` with the classes given."""
    it = fresh(estimator, max_iter=1, shuffle=False)
    same_learned(fit(fresh(it), case), begin(fresh(it), case), "partial_fit with classes")


@law(has="partial_fit", params="max_iter")
def check_passes_are_repeated_partial_fit(estimator: Any, case: Case) -> None:
    """``max_iter`` passes are as many calls of ``partial_fit``."""
    it = fresh(estimator, shuffle=False)
    passes = fit(fresh(it, max_iter=3), case)
    calls = begin(fresh(it), case)
    learn(learn(calls, case), case)
    require(passes.n_iter_ == 3, f"n_iter_ is {passes.n_iter_} after 3 passes")
    same_learned(passes, calls, "three passes", but=("n_iter_",))


@law(params="shuffle random_state")
def check_seeds_repeat(estimator: Any, case: Case) -> None:
    """The same seed gives the same bits, as a number and as a fresh RandomState."""
    a, b, c = (
        fit(fresh(estimator, shuffle=True, max_iter=2, random_state=seed), case)
        for seed in (7, 7, np.random.RandomState(7))
    )
    same_learned(a, b, "the same seed")
    same_learned(a, c, "the same RandomState")


@law(has="partial_fit", params="shuffle random_state")
def check_shuffling_differs(estimator: Any, case: Case) -> None:
    """Shuffling takes the rows in another order, and another one for another seed."""
    plain, one, two = (
        bits(learned(fit(fresh(estimator, **how), case)))
        for how in ({}, {"shuffle": True, "random_state": 1}, {"shuffle": True, "random_state": 2})
    )
    require(plain != one, "shuffle=True learned what the rows in order teach")
    require(one != two, "two seeds shuffled alike")


@law(has="t_")
def check_rounds_are_counted(estimator: Any, case: Case) -> None:
    """``t_`` is the number of rounds, over all passes and calls."""
    it = fit(fresh(estimator, max_iter=2), case)
    passes = it.n_iter_ if hasattr(it, "rule") else 2  # rules on an oracle may need fewer, or choose themselves
    if getattr(it, "solver", None) == "lbfgs":
        passes = 1  # n_iter_ counts evaluations
    require(it.t_ == passes * len(case), f"t_ is {it.t_} after {passes} passes over {len(case)} rounds")
    if hasattr(it, "partial_fit"):
        learn(it, case.take(slice(0, 3)))
        require(it.t_ == passes * len(case) + 3, f"t_ is {it.t_} after 3 rounds more")


@law(has="decision_function", params="dtype")
def check_order_of_features(estimator: Any, case: Case) -> None:
    """Taking the features in another order changes scores by rounding only."""
    it = fresh(estimator, dtype="float64")
    order = np.arange(case.width)[::-1]
    turned = case.map(lambda X: X[:, order])
    a = scores_of(fit(fresh(it), case), case.X)
    b = scores_of(fit(fresh(it), turned), turned.X)
    np.testing.assert_allclose(a, b, atol=1e-6, err_msg="the order of the features matters")


@law(has="partial_fit coef_")
def check_rows_of_zeros(estimator: Any, case: Case) -> None:
    """A row of zeros moves no weight, where no constant feature shares the geometry and no round shrinks them all."""
    it = learn(fresh(estimator, average=False, fit_intercept=False), case)
    before = it.coef_
    learn(it, case.map(np.zeros_like))
    same = np.array_equal(it.coef_, before) if isinstance(before, np.ndarray) and not it._decays else True
    require(same, "rows of zeros moved coef_")
    require(np.isfinite(np.concatenate([np.ravel(part) for part in it.coef_])).all(), "coef_ is not finite")


@law(has="partial_fit decision_function")
def check_repeated_rows(estimator: Any, case: Case) -> None:
    """Rows that come twice in a row, or a hundred times, keep scores finite."""
    twice = case.take(np.repeat(np.arange(len(case)), 2))
    often = case.take(np.repeat([0, 1], 100))
    it = learn(learn(fresh(estimator), twice), often)
    require(np.isfinite(scores_of(it, case.X)).all(), "scores are not finite after rows that repeat")


@law(has="partial_fit decision_function")
def check_large_and_small_values(estimator: Any, case: Case) -> None:
    """Values of very different sizes keep scores finite."""
    scales = np.logspace(-4, 4, case.width)
    wide = case.map(lambda X: X * scales)
    scores = scores_of(learn(fresh(estimator), wide), wide.X)
    require(np.isfinite(scores).all(), "scores are not finite for values between 1e-4 and 1e4")
