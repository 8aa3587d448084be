"""Parallel tasks against their oracle round by round; what the theorems promise; what people may do with them."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from hinge import MultitaskClassifier, MultitaskRegressor, progressive
from tasks import NORMS, UPDATES, all_weights, answers, is_decided, matrices, oracle_for, stream, with_constant

CLOSE = 1e-10
every_norm = pytest.mark.parametrize("norm", NORMS, ids=str)
every_update = pytest.mark.parametrize("update", UPDATES)
either = pytest.mark.parametrize("kind", [MultitaskClassifier, MultitaskRegressor])


def assert_agrees(tasks: Any, norm: tuple[Any, ...], rounds: Any, weights: Any = None, csr: bool = False) -> None:
    """Hold an estimator against its oracle after every round, row by row and then in one native call."""
    shared = rounds[0][0][0] is rounds[0][0][1]
    again, X, Y = clone(tasks), matrices(rounds), answers(rounds)
    X = [sparse.csr_matrix(part) for part in X] if csr else X
    X = X[0] if shared else X
    weights = np.ones(len(rounds)) if weights is None else weights
    slow = oracle_for(tasks, norm, tuple(len(x) for x in rounds[0][0]))
    losses, errors, gains, decided = [], [], [], []
    classes = {} if isinstance(tasks, MultitaskRegressor) else {"classes": [-1.0, 1.0]}
    for t, (xs, y) in enumerate(rounds):
        xs = with_constant(xs) if tasks.fit_intercept else xs
        decided.append(is_decided(slow, xs, y))
        r = slow.round(xs, y, weights[t])
        losses.append(r.loss)
        errors.append(r.errors.sum())
        gains.append(r.gain)
        row = X[t : t + 1] if shared else [part[t : t + 1] for part in X]
        tasks.partial_fit(row, Y[t : t + 1], sample_weight=weights[t : t + 1], **classes)
        for mine, truth in zip(all_weights(tasks), slow.W, strict=True):
            np.testing.assert_allclose(mine, truth, rtol=0, atol=CLOSE, err_msg=f"round {t}")
        assert tasks.certificate_.dual == pytest.approx(slow.dual, abs=1e-9)
        assert tasks.t_ == t + 1
    curve = progressive(again, X, Y, every=1, sample_weight=weights, **classes).curve
    np.testing.assert_allclose(curve["loss"], losses, rtol=0, atol=CLOSE)
    assert np.mean(decided) > 0.8
    np.testing.assert_array_equal(curve["task_errors"][decided], np.array(errors)[decided])
    np.testing.assert_array_equal(curve["error"], curve["task_errors"] > 0)
    np.testing.assert_allclose(np.diff(curve["dual"], prepend=0), gains, rtol=0, atol=1e-9)
    for mine, other in zip(all_weights(again), all_weights(tasks), strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "apart"])
@either
@every_update
@every_norm
def test_agrees_with_the_oracle_after_every_round(norm, update, kind, shared):
    widths = (4, 4, 4) if shared else (3, 1, 4)
    rounds = stream(1, 40, widths, shared=shared, numbers=kind is MultitaskRegressor)
    more = {"epsilon": 0.1} if kind is MultitaskRegressor else {}
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], size=40)
    tasks = kind(NORMS[norm], update, C=0.4, dtype="float64", fit_intercept=shared, **more)
    assert_agrees(tasks, norm, rounds, weights, csr=update != "finite")


@pytest.mark.parametrize("more", [{"radius": 1.5}, {"horizon": 30}, {"horizon": 30, "radius": 2.5}], ids=str)
@every_update
def test_agrees_with_radius_and_horizon(update, more):
    for norm in (("p", 1), ("p", 2), ("r-max", 2), ("K", 1, inf, 1.7)):
        rounds = stream(2, 30, (3, 2, 4))
        tasks = MultitaskClassifier(NORMS[norm], update, C=0.4, dtype="float64", fit_intercept=False, **more)
        assert_agrees(tasks, norm, rounds)
