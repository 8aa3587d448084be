"""The norms against their definitions: brute force over unit balls, scipy and cvxpy."""

import dataclasses
import math
import pickle
from math import inf

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from hinge.norms import Interpolated, PNorm, RMax

EXPONENTS = (1.0, 1.2, 1.5, 2.0, 3.0, 7.5, inf)
NORMS = [
    *(PNorm(p) for p in EXPONENTS),
    RMax(1),
    RMax(2),
    RMax(3),
    Interpolated(1, inf, 2.5),
    Interpolated(inf, 1, 0.4),
    Interpolated(1, 2, 1.4),
    Interpolated(2, inf, 1.3),
    Interpolated(1.5, 4, 1.2),
    Interpolated(4, 1.5, 0.8),
    Interpolated(1.1, 30, 2.0),
    Interpolated(2, 2, 0.7),
    Interpolated(2, 3, 9.0),
    Interpolated(2, 3, 0.1),
]
vectors = st.lists(
    st.one_of(st.sampled_from([0.0, 1.0, -1.0, 2.0]), st.floats(-1e3, 1e3).filter(lambda v: v == 0 or abs(v) > 1e-6)),
    min_size=3,
    max_size=8,
).map(np.array)
norms = st.sampled_from(NORMS)


def directions(k: int, count: int = 20_000) -> np.ndarray:
    """Directions with all sorts of sparsity and equal entries."""
    rng = np.random.default_rng(k)
    u = rng.gamma(rng.choice([0.05, 0.3, 1.0, 8.0], size=(count, 1)), size=(count, k)) + 1e-300
    return np.concatenate([u, rng.integers(0, 2, size=(64, k)), np.eye(k), np.ones((1, k))])


def many(f, rows: np.ndarray) -> np.ndarray:
    return np.array([f(row) for row in rows if row.any()])


def test_the_p_norms_are_numpys():
    v = np.array([3.0, -4.0, 0.0, 1.5])
    for p in EXPONENTS:
        assert PNorm(p).value(v) == pytest.approx(np.linalg.norm(v, p), rel=1e-14)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_p_norms_neither_overflow_nor_underflow(scale):
    for norm in NORMS:
        assert norm.value(scale * np.array([3.0, 4.0, 0.5])) == pytest.approx(scale * norm.value([3.0, 4.0, 0.5]))


@given(norms, vectors, vectors, st.floats(-10, 10))
def test_each_is_an_absolute_norm(norm, v, w, factor):
    size = max(v.size, w.size)
    v, w = np.resize(v, size), np.resize(w, size)
    value = norm.value(v)
    assert norm.value(-np.abs(v)) == value
    assert (value > 0) == bool(v.any())
    assert norm.value(factor * v) == pytest.approx(abs(factor) * value, rel=1e-12)
    assert norm.value(v + w) <= (value + norm.value(w)) * (1 + 1e-12)
    assert norm.value(v[::-1]) == pytest.approx(value, rel=1e-13)


@given(norms, vectors, vectors)
def test_no_product_exceeds_norm_times_dual(norm, v, u):
    size = max(v.size, u.size)
    v, u = np.resize(v, size), np.resize(u, size)
    assert v @ u <= norm.value(v) * norm.dual(u) * (1 + 1e-12) + 1e-300


@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_value_and_dual_are_reached_by_brute_force(norm):
    """The best of many directions comes close to each maximum and never beyond it."""
    for v in ([1.0, 2.0, 0.5], [0.0, 1.0, 1.0]):
        us = directions(3)
        us = us[us.any(axis=1)]
        best = np.max(us @ v / many(norm.dual, us))
        assert 0.97 * norm.value(v) <= best <= norm.value(v) * (1 + 1e-12)
        sparse = us[::100]
        assert np.max(sparse @ v / many(norm.value, sparse)) <= norm.dual(v) * (1 + 1e-12)


@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_values_agree_with_scipy(norm):
    """max <u, v> in the dual ball, by a solver that knows the dual only; smooth norms, so no corner is exact."""
    rng = np.random.default_rng(1)
    for _ in range(3):
        v = rng.gamma(2.0, size=3)
        found = max(
            -minimize(lambda u, v=v: -(u @ v) / norm.dual(u), start, method="Nelder-Mead", options=FINE).fun
            for start in (v, np.ones(3), v > np.sort(v)[-2], v > v.min())
            if np.any(start)
        )
        assert found == pytest.approx(norm.value(v), rel=1e-5)


FINE = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000}


@pytest.mark.parametrize("seed", range(12))
def test_interpolations_agree_with_cvxpy(seed):
    rng = np.random.default_rng(seed)
    p1, p2 = rng.choice([1.0, 1.5, 2.0, 3.0, inf], size=2, replace=False)
    k = int(rng.integers(1, 6))
    v = np.round(rng.normal(size=k), int(rng.choice([0, 1, 9])))
    low, high = sorted((1.0, k ** (1 / p1 - 1 / p2)))
    alpha = float(rng.uniform(0.9 * low, 1.1 * high))
    w = cp.Variable(k)
    split = cp.Problem(cp.Minimize(cp.pnorm(w, p1, approx=False) + alpha * cp.pnorm(v - w, p2, approx=False)))
    split.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    assert Interpolated(p1, p2, alpha).value(v) == pytest.approx(split.value, rel=1e-8, abs=1e-10)


@given(vectors, st.integers(1, 3))
def test_r_max_lies_between_its_ends(v, r):
    assert RMax(r).value(v) == pytest.approx(Interpolated(1, inf, r).value(v), rel=1e-13)
    assert RMax(r).value(v) == pytest.approx(np.sort(np.abs(v))[::-1][:r].sum(), rel=1e-13)
    assert RMax(r).dual(v) == pytest.approx(Interpolated(1, inf, r).dual(v), rel=1e-13)
    assert RMax(1).value(v) == PNorm(inf).value(v)
    assert RMax(v.size).value(v) == pytest.approx(PNorm(1).value(v), rel=1e-13)


@given(vectors, st.sampled_from(EXPONENTS), st.sampled_from(EXPONENTS), st.floats(0.05, 20))
def test_interpolations_are_symmetric_and_below_both_ends(v, p1, p2, alpha):
    value = Interpolated(p1, p2, alpha).value(v)
    assert value <= min(PNorm(p1).value(v), alpha * PNorm(p2).value(v)) * (1 + 1e-13)
    assert value == pytest.approx(alpha * Interpolated(p2, p1, 1 / alpha).value(v), rel=1e-12)
    assert Interpolated(p1, p1, alpha).value(v) == min(1.0, alpha) * PNorm(p1).value(v)


@settings(max_examples=50)
@given(vectors.filter(np.any), st.floats(1.01, 20), st.floats(1.01, 20), st.floats(0.05, 20))
def test_an_interpolation_is_certified_by_its_dual(v, p1, p2, alpha):
    """A finite difference of the value is a point of the dual ball that reaches it (smooth norms)."""
    norm, v = Interpolated(p1, p2, alpha), v / np.abs(v).max()
    h = 1e-6
    slope = np.array([(norm.value(v + h * e) - norm.value(v - h * e)) / (2 * h) for e in np.eye(v.size)])
    assert norm.dual(slope) == pytest.approx(1, rel=1e-3)
    assert slope @ v == pytest.approx(norm.value(v), rel=1e-3)


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("k", [3, 5])
def test_remoteness_is_an_upper_bound_and_tight_where_it_is_known(norm, k):
    us = directions(k, 4_000).astype(float)
    us = us[us.any(axis=1)]
    best = np.max(np.linalg.norm(us, axis=1) / many(norm.dual, us))
    assert best <= norm.dual_remoteness(k) * (1 + 1e-12)
    if not isinstance(norm, Interpolated):
        assert best == pytest.approx(norm.dual_remoteness(k), rel=1e-12)


def test_remoteness_of_an_interpolation_is_that_of_r_max_where_it_is_one():
    assert Interpolated(1, inf, 4).dual_remoteness(9) == pytest.approx(2)
    assert Interpolated(inf, 1, 0.25).dual_remoteness(9) == pytest.approx(0.5)  # a quarter of the 4-max
    assert Interpolated(1, inf, 100).dual_remoteness(9) == 3
    assert Interpolated(1, inf, 0.5).dual_remoteness(9) == 0.5


def test_one_task_has_one_norm_up_to_scale():
    for norm in NORMS:
        if not isinstance(norm, RMax) or norm.r == 1:
            scale = min(1.0, getattr(norm, "alpha", 1.0))
            assert norm.value([-3.0]) == pytest.approx(3 * scale)
            assert norm.dual([-3.0]) == pytest.approx(3 / scale)
            assert norm.dual_remoteness(1) == pytest.approx(scale)


def test_norms_are_values():
    assert PNorm(2) == PNorm(2.0) == PNorm(np.float64(2))
    assert len({RMax(3), RMax(np.int64(3)), Interpolated(1, inf, 3), Interpolated(1.0, math.inf, 3.0)}) == 2
    for norm in NORMS:
        assert pickle.loads(pickle.dumps(norm)) == norm
        assert eval(repr(norm), {"inf": inf, **{c.__name__: c for c in (PNorm, RMax, Interpolated)}}) == norm
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(norm, dataclasses.fields(norm)[0].name, 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PNorm(0.5), r"'p' parameter of PNorm must be a float in the range \[1, inf\]. Got 0.5 instead"),
        (lambda: PNorm(math.nan), "Got nan instead"),
        (lambda: PNorm("2"), "Got '2' instead"),
        (lambda: PNorm(True), "Got True instead"),
        (lambda: RMax(0), r"'r' parameter of RMax must be an int in the range \[1, inf\). Got 0 instead"),
        (lambda: RMax(2.0), "Got 2.0 instead"),
        (lambda: RMax(True), "Got True instead"),
        (lambda: Interpolated(1, 0, 1), "'p2' parameter of Interpolated"),
        (lambda: Interpolated(-inf, 1, 1), "'p1' parameter of Interpolated"),
        (lambda: Interpolated(1, 2, 0), r"'alpha' parameter of Interpolated must be a float in the range \(0, inf\)"),
        (lambda: Interpolated(1, 2, inf), "Got inf instead"),
        (lambda: RMax(4).value([1.0, 2.0]), r"RMax\(r=4\) needs at least 4 tasks. Got 2 instead"),
        (lambda: RMax(4).dual([1.0, 2.0]), "needs at least 4 tasks"),
        (lambda: RMax(4).dual_remoteness(3), "needs at least 4 tasks"),
        (lambda: PNorm(2).dual_remoteness(0), r"'k' must be an int in the range \[1, inf\). Got 0 instead"),
        (lambda: PNorm(2).value([[1.0]]), "Got 2 dimensions instead"),
        (lambda: PNorm(2).dual([1.0, math.nan]), "Got nan at index 1 instead"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("norm", [n for n in NORMS if not isinstance(n, RMax)], ids=str)
def test_nothing_to_measure_is_zero(norm):
    assert norm.value([]) == norm.dual([]) == norm.value([0.0, 0.0, 0.0]) == 0.0


@pytest.mark.parametrize("p2", [1.5, 2, inf])
def test_values_hold_over_many_orders_of_magnitude(p2):
    """One task far above the others: both bounds are tight, and the others still count."""
    norm = Interpolated(1, p2, 1.4)
    for small in (1e-5, 1e-20, 1e-200):
        assert 0 <= norm.value([1.0, small, small]) - 1.0 <= 2 * small + 1e-15
