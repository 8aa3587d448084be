"""Learners of ordered classes against their oracles, round by round, and what MATH.md section B proves of them."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import hinge
from hinge import MulticlassPerceptron, OrdinalClassifier, PRank, WidrowHoffClassifier, progressive
from hinge.checks import check_estimator
from oracle import ordinal as oracle
from oracle.ordinal import best_eta, signs
from test_checks import expected_failures
from test_ordinal_oracle import draw, margin, most_constraints, ordered, separable, square_radius

Array = np.ndarray[Any, np.dtype[Any]]
Stream = list[tuple[Array, int, int, float]]

CLOSE = 1e-10
ROWS = np.array([[0.1], [0.5], [0.9], [0.4]])
few = settings(max_examples=30, deadline=None)
seeds = st.integers(0, 2**32 - 1)
sizes = st.tuples(st.integers(1, 4), st.integers(2, 7))


def learner(K: int, **params: Any) -> OrdinalClassifier:
    return OrdinalClassifier(classes=range(1, K + 1), **({"dtype": "float64"} | params))


def arrays(stream: Stream) -> tuple[Array, Array, Array]:
    """Return rows, intervals and weights."""
    X = np.array([x for x, *_ in stream])
    return X, np.array([(lo, hi) for _, lo, hi, _ in stream]), np.array([w for *_, w in stream])


def bounded(stream: Stream) -> Stream:
    """Scale every row to entries of at most 1."""
    return [(x / max(1.0, np.abs(x).max()), lo, hi, weight) for x, lo, hi, weight in stream]


def rounded(stream: Stream) -> Stream:
    """Round rows so that sums of them are exact."""
    return [(np.round(8 * x) / 8, lo, hi, weight) for x, lo, hi, weight in stream]


def is_decided(slow: Any, x: Array) -> bool:
    """Say whether no threshold is within rounding of the score, unless it equals it."""
    f, b = score_of(slow, x), slow.b
    return not ((np.abs(f - b) < 1e-9) & (f != b)).any()


def score_of(slow: Any, x: Array) -> float:
    if isinstance(slow, oracle.KernelPRIL):
        return float(np.dot(slow.a, [slow.kernel(s, x) for s in slow.rows])) if slow.rows else 0.0
    return float(slow.w @ x)


def follow(slow: Any, fast: OrdinalClassifier, stream: Stream, *, csr: bool = False, close: float = CLOSE) -> None:
    """Hold a learner against its oracle after every round, row by row and then in one native call."""
    again, taken, seen = clone(fast), [], []
    for t, (x, lo, hi, weight) in enumerate(stream):
        if not is_decided(slow, x):
            continue
        taken.append((x, lo, hi, weight))
        seen.append(slow.round(x, lo, hi, weight))
        row = sparse.csr_array(x[None]) if csr else x[None]
        assert fast._model is None or fast.predict(row)[0] == seen[-1].prediction, f"round {t}"
        fast.partial_fit(row, [(lo, hi)], sample_weight=[weight])
        np.testing.assert_allclose(fast.thresholds_, slow.b, rtol=0, atol=close, err_msg=f"round {t}")
        if isinstance(slow, oracle.KernelPRIL):
            at = np.argsort(fast.dual_coef_)
            np.testing.assert_allclose(fast.dual_coef_[at], np.sort(slow.a), rtol=0, atol=close, err_msg=f"round {t}")
        else:
            np.testing.assert_allclose(fast.coef_, slow.w, rtol=0, atol=close, err_msg=f"round {t}")
    assert len(taken) >= 0.8 * len(stream)
    X, y, weights = arrays(taken)
    curve = progressive(again, sparse.csr_array(X) if csr else X, y, every=1, sample_weight=weights).curve
    np.testing.assert_allclose(curve["loss"], [s.loss for s in seen], rtol=1e-9, atol=close)
    np.testing.assert_array_equal(curve["error"], [s.error for s in seen])
    np.testing.assert_array_equal(again.thresholds_, fast.thresholds_)
    assert again.t_ == fast.t_ == len(taken)


# -- the oracles ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("csr", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("step", ["unit", "sqrt", 0.5])
def test_additive(step: Any, weighted: bool, csr: bool) -> None:
    for seed, (d, K) in enumerate([(1, 2), (3, 5), (4, 7), (20, 10), (2, 90)]):
        stream = draw(seed, d, K, rounds=150, weighted=weighted)
        exact = step != "sqrt" and not weighted
        follow(oracle.PRIL(d, K, step), learner(K, step=step), rounded(stream) if exact else stream, csr=csr)


def test_the_unit_step_is_exact() -> None:
    for seed in range(5):
        stream = rounded(draw(seed, 3, 6, rounds=200))
        follow(oracle.PRIL(3, 6), learner(6), stream, close=0.0)
        follow(oracle.PRIL(3, 6), learner(6, dtype="float32"), stream, close=0.0)


@pytest.mark.parametrize("csr", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("signed", [False, True])
def test_multiplicative(signed: bool, weighted: bool, csr: bool) -> None:
    for seed, (d, K) in enumerate([(1, 2), (3, 5), (12, 7)]):
        stream = bounded(draw(seed, d, K, rounds=200, weighted=weighted))
        fast = learner(K, update="multiplicative", signed=signed)
        follow(oracle.MPRIL(d, K, 0.4 / (K - 1), signed), fast, stream, csr=csr)
        fast = learner(K, update="multiplicative", signed=signed, step=0.07)
        follow(oracle.MPRIL(d, K, 0.07, signed), fast, stream, csr=csr)


@pytest.mark.parametrize("signed", [False, True])
def test_multiplicative_with_weights_far_apart(signed: bool) -> None:
    """Thresholds that are drawn together may be all that the weights sum to."""
    for seed in range(8):
        stream, params = bounded(draw(seed, 2, 6, rounds=60)), {"update": "multiplicative", "signed": signed}
        weights = 10.0 ** np.random.default_rng(seed).uniform(-1, 3, size=len(stream))
        slow, fast = oracle.MPRIL(2, 6, 0.1, signed), learner(6, step=0.1, **params)
        for (x, lo, hi, _), weight in zip(stream, weights.tolist(), strict=True):
            if not is_decided(slow, x):
                break
            slow.round(x, lo, hi, weight)
            fast.partial_fit([x], [(lo, hi)], sample_weight=[weight])
            np.testing.assert_allclose(fast.thresholds_, slow.b, rtol=0, atol=CLOSE)
            np.testing.assert_allclose(fast.coef_, slow.w, rtol=0, atol=CLOSE)
        X, y, _ = arrays(stream)
        for dtype in ("float32", "float64"):
            it = learner(6, average=True, dtype=dtype, **params).fit(X, y, weights)
            assert np.isfinite([*it.thresholds_, *it.coef_]).all()
            assert ordered(it.thresholds_)


def test_multiplicative_with_a_margin() -> None:
    stream = bounded(draw(3, 3, 5, rounds=150))
    follow(oracle.MPRIL(3, 5, best_eta(5, 0, 0.3)), learner(5, update="multiplicative", margin=0.3), stream)


def test_multiplicative_over_long_streams_of_one_kind() -> None:
    """The weights leave every range that exp has, and the order holds."""
    stream = [(np.array([1.0, -0.5]), 1 + 3 * (t % 2), 4, 1.0) for t in range(400)]
    stream += [(np.array([1.0, 1.0]), 1, 1, 1.0)] * 300
    follow(oracle.MPRIL(2, 4, 2.0), learner(4, update="multiplicative", step=2.0), stream)


KERNELS: dict[str, tuple[dict[str, Any], Callable[[Array, Array], float]]] = {
    "linear": ({"kernel": "linear", "budget": 10_000}, lambda a, b: float(a @ b)),
    "poly": ({"kernel": "poly", "gamma": 0.5, "degree": 2}, lambda a, b: float((0.5 * (a @ b) + 1) ** 2)),
    "rbf": ({"kernel": "rbf", "gamma": 0.7}, lambda a, b: float(np.exp(-0.7 * ((a - b) @ (a - b))))),
    "given": ({"kernel": lambda a, b: np.minimum(a, b).sum()}, lambda a, b: float(np.minimum(a, b).sum())),
}


@pytest.mark.parametrize("csr", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_kernels(kernel: str, weighted: bool, csr: bool) -> None:
    params, function = KERNELS[kernel]
    for seed, (d, K) in enumerate([(1, 3), (4, 6)]):
        stream = draw(seed, d, K, rounds=120, weighted=weighted)
        follow(oracle.KernelPRIL(K, function), learner(K, **params), stream, csr=csr, close=1e-9)


@pytest.mark.parametrize("removal", ["oldest", "least-harm"])
@pytest.mark.parametrize("kernel", ["poly", "rbf", "given"])
def test_budgets(kernel: str, removal: str) -> None:
    params, function = KERNELS[kernel]
    stream = [example for example in draw(5, 3, 5, rounds=200) if example[0].any()]
    fast = learner(5, **params, budget=9, removal=removal)
    follow(oracle.KernelPRIL(5, function, 9, removal), fast, stream, close=1e-8)
    assert fast.support_vectors_.shape == (9, 3)


@few
@given(seeds, sizes)
def test_the_linear_kernel_is_linear(seed: int, size: tuple[int, int]) -> None:
    X, y, _ = arrays(rounded(draw(seed, *size)))
    linear, kernel = learner(size[1]).fit(X, y), learner(size[1], kernel=lambda a, b: a @ b).fit(X, y)
    held = learner(size[1], budget=len(X)).fit(X, y)
    for other in (kernel, held):
        np.testing.assert_array_equal(linear.thresholds_, other.thresholds_)
        np.testing.assert_array_equal(linear.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(linear.coef_, held.coef_)


@pytest.mark.parametrize("weighted", [False, True])
def test_baselines(weighted: bool) -> None:
    for seed, (d, K) in enumerate([(1, 2), (3, 5), (4, 7)]):
        stream = draw(seed, d, K, exact=True, weighted=weighted)
        classes = list(range(1, K + 1))
        prank, lms = (make(classes=classes, dtype="float64") for make in (PRank, WidrowHoffClassifier))
        perceptron = MulticlassPerceptron(dtype="float64")
        slow = oracle.PRank(d, K, ties=True), oracle.WidrowHoff(d, K), oracle.MulticlassPerceptron(d, K)
        for x, y, _, weight in stream if weighted else rounded(stream):
            said = [one.round(x, y, y, weight) for one in slow]
            for one in (prank, lms):
                one.partial_fit(x[None], [y], sample_weight=[weight])
            perceptron.partial_fit(x[None], [y], classes=classes, sample_weight=[weight])
            np.testing.assert_allclose(prank.coef_, slow[0].w, rtol=0, atol=CLOSE)
            np.testing.assert_allclose(prank.thresholds_, slow[0].b, rtol=0, atol=CLOSE)
            np.testing.assert_allclose([*lms.coef_, *lms.intercept_], [*slow[1].w, slow[1].b], rtol=0, atol=CLOSE)
            np.testing.assert_allclose(perceptron.coef_, slow[2].w, rtol=0, atol=CLOSE)
            np.testing.assert_allclose(perceptron.intercept_, slow[2].b, rtol=0, atol=CLOSE)
        assert lms._model.last_loss == 0.0
        assert all(one.score is not None for one in said)


@pytest.mark.parametrize("step", [0.1, 1.5])
def test_a_step_of_widrow_hoff(step: float) -> None:
    slow, fast = oracle.WidrowHoff(3, 5, step=step), WidrowHoffClassifier(range(1, 6), step=step, dtype="float64")
    for x, y, _, weight in draw(0, 3, 5, exact=True, weighted=True):
        slow.round(x, y, y, weight)
        fast.partial_fit(x[None], [y], sample_weight=[weight])
        np.testing.assert_allclose([*fast.coef_, *fast.intercept_], [*slow.w, slow.b], rtol=0, atol=CLOSE)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_a_batch_is_scored_as_its_rows_are(kernel: str, dtype: str) -> None:
    """To the last bit, for any number of rows, dense or sparse."""
    X, y, _ = arrays(draw(8, 5, 6, rounds=150))
    it = learner(6, kernel=kernel, budget=70, dtype=dtype).fit(X, y)
    alone = np.concatenate([it.decision_function(X[t : t + 1]) for t in range(len(X))])
    for size in (2, 7, 16, 37, 150):
        many = [it.decision_function(X[t : t + size]) for t in range(0, len(X), size)]
        np.testing.assert_array_equal(np.concatenate(many), alone)
    np.testing.assert_array_equal(it.decision_function(sparse.csr_array(X)), alone)
    np.testing.assert_array_equal(it.predict(X), np.concatenate([it.predict(X[t : t + 1]) for t in range(len(X))]))


def bits() -> dict[str, str]:
    """Learn a stream in every mode; return a digest of what was learned and answered."""
    X, y, weights = arrays(bounded(draw(9, 19, 7, rounds=120, weighted=True)))
    out = {}
    for dtype in ("float32", "float64"):
        for mode, params in MODES.items():
            it = learner(7, **params | {"dtype": dtype}).fit(X, y, weights)
            arrays_of_it = [*it._model.state().values(), it.decision_function(X)]
            out[f"{mode}, {dtype}"] = hashlib.sha256(b"".join(a.tobytes() for a in arrays_of_it)).hexdigest()
    return out


@pytest.mark.parametrize("wanted", ["baseline", "avx2"])
def test_every_instruction_set_gives_the_same_bits(wanted: str) -> None:
    here = Path(__file__).parent
    code = "import json; from test_ordinal import bits; print(json.dumps(bits()))"
    env = os.environ | {"HINGE_SIMD": wanted, "PYTHONPATH": str(here)}
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=here, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == bits()


def test_prank_is_pril_on_exact_labels() -> None:
    X, y, weights = arrays(draw(1, 3, 6, exact=True, weighted=True))
    for average in (False, True):
        pril = learner(6, average=average).fit(X, y, weights)
        prank = PRank(classes=range(1, 7), average=average, dtype="float64").fit(X, y[:, 0], weights)
        np.testing.assert_array_equal(pril.coef_, prank.coef_)
        np.testing.assert_array_equal(pril.thresholds_, prank.thresholds_)


# -- the mean of the iterates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["unit", "sqrt", "signed", "single-sided"])
def test_the_average_is_the_mean_before_each_update(kind: str, weighted: bool) -> None:
    stream = bounded(draw(2, 4, 6, rounds=200, weighted=weighted))
    slow: Any = (
        oracle.PRIL(4, 6, kind) if kind in ("unit", "sqrt") else oracle.MPRIL(4, 6, 0.2, signed=kind == "signed")
    )
    params = {"step": kind} if kind in ("unit", "sqrt") else {"update": "multiplicative", "step": 0.2}
    fast = learner(6, average=True, signed=kind != "single-sided", **params)
    w, b = [], []
    for x, lo, hi, weight in stream:
        w.append(slow.w)
        b.append(slow.b)
        slow.round(x, lo, hi, weight)
        fast.partial_fit(x[None], [(lo, hi)], sample_weight=[weight])
        np.testing.assert_allclose(fast.coef_, np.mean(w, axis=0), rtol=0, atol=1e-9)
        np.testing.assert_allclose(fast.thresholds_, np.mean(b, axis=0), rtol=0, atol=1e-9)
        assert ordered(fast.thresholds_)


# -- order ----------------------------------------------------------------------------------------------------------

MODES: dict[str, dict[str, Any]] = {
    "unit": {},
    "sqrt": {"step": "sqrt"},
    "constant": {"step": 0.1},
    "average": {"average": True},
    "signed": {"update": "multiplicative"},
    "single-sided": {"update": "multiplicative", "signed": False},
    "rbf": {"kernel": "rbf", "budget": 10},
    "rbf, sqrt": {"kernel": "rbf", "budget": 10, "step": "sqrt"},
}


@settings(max_examples=100, deadline=None)
@given(
    seeds,
    sizes,
    st.sampled_from(["none", "some", "wild"]),
    st.sampled_from(sorted(MODES)),
    st.sampled_from(["float32", "float64"]),
)
def test_thresholds_stay_in_order(seed: int, size: tuple[int, int], weighted: str, mode: str, dtype: str) -> None:
    """Also where weights lie forty orders of magnitude apart."""
    X, y, weights = arrays(bounded(draw(seed, *size, rounds=60, weighted=weighted == "some")))
    if weighted == "wild":
        weights = 10.0 ** np.random.default_rng(seed).uniform(-20, 20, size=len(X))
    it = learner(size[1], **MODES[mode] | {"dtype": dtype})
    for t in range(len(X)):
        it.partial_fit(X[t : t + 1], y[t : t + 1], sample_weight=weights[t : t + 1])
        assert it.thresholds_.dtype == dtype
        assert np.isfinite(it.thresholds_).all()
        assert ordered(it.thresholds_)


@few
@given(seeds, st.integers(1, 3), st.integers(4, 7), st.booleans(), st.sampled_from(sorted(MODES)))
def test_a_class_that_never_occurs(seed: int, d: int, K: int, weighted: bool, mode: str) -> None:
    """Its two thresholds stay equal while no interval begins or ends at it; so it is never predicted."""
    absent = 2 + seed % (K - 2)
    X, y, weights = arrays(bounded(draw(seed, d, K, weighted=weighted)))
    kept = (y != absent).all(axis=1)
    it = learner(K, **MODES[mode])
    report = progressive(it, X[kept], y[kept], sample_weight=weights[kept], metrics={"said": told}, every=1)
    assert absent not in report.curve["said"]
    assert it.thresholds_[absent - 2] == it.thresholds_[absent - 1]


def told(_: Any, answers: Array) -> float:
    return float(answers[0])


@few
@given(seeds, sizes, st.integers(-5, 5), st.sampled_from(sorted(MODES)))
def test_shifting_all_classes_changes_nothing(seed: int, size: tuple[int, int], shift: int, mode: str) -> None:
    X, y, _ = arrays(bounded(draw(seed, *size)))
    K = size[1]
    here = learner(K, **MODES[mode]).fit(X, y)
    there = OrdinalClassifier(classes=range(1 + shift, K + 1 + shift), dtype="float64", **MODES[mode]).fit(X, y + shift)
    np.testing.assert_array_equal(here.thresholds_, there.thresholds_)
    np.testing.assert_array_equal(here.predict(X) + shift, there.predict(X))


# -- bounds ---------------------------------------------------------------------------------------------------------


def errors(it: OrdinalClassifier, stream: Stream) -> float:
    """Sum L_MAE over a stream."""
    X, y, weights = arrays(stream)
    return float(progressive(it, X, y, every=1, sample_weight=weights).curve["error"].sum())


@few
@given(seeds, sizes)
def test_the_mistake_bound_when_separable(seed: int, size: tuple[int, int]) -> None:
    d, K = size
    stream, w, b = separable(seed, d, K)
    n, R2 = most_constraints(stream, K), square_radius(stream)
    g = margin(w, b, stream) / np.sqrt(w @ w + b @ b)
    if n > 0:
        assert errors(learner(K), stream + stream) <= (R2 * n + 1) / g**2


@few
@given(seeds, sizes, st.floats(0.01, 2.0))
def test_the_mistake_bound_for_any_comparator(seed: int, size: tuple[int, int], g: float) -> None:
    d, K = size
    stream = draw(seed, d, K)
    made = errors(learner(K), stream)
    n, R2 = most_constraints(stream, K), square_radius(stream)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        v = rng.normal(size=d + K - 1)
        v /= np.linalg.norm(v)
        short = [np.maximum(0, g - signs(K, lo, hi) * (v[:d] @ x - v[d:])) for x, lo, hi, _ in stream]
        kept = [s[signs(K, lo, hi) != 0] for s, (_, lo, hi, _) in zip(short, stream, strict=True)]
        D = np.sqrt(sum(float(s @ s) for s in kept))
        assert made <= (D + np.sqrt(R2 * n + 1)) ** 2 / g**2 + 1e-9


@few
@given(seeds, sizes, st.booleans(), st.booleans())
def test_the_sqrt_step_has_small_regret(seed: int, size: tuple[int, int], weighted: bool, kernel: bool) -> None:
    """Its radius is 1, and nothing at all has no loss: so the loss is the regret."""
    stream = draw(seed, *size, weighted=weighted)
    X, y, weights = arrays(stream)
    it = learner(size[1], step="sqrt", **({"kernel": "rbf", "gamma": 0.5} if kernel else {}))
    losses = progressive(it, X, y, every=1, sample_weight=weights).curve["loss"]
    n = size[1] - 1 - (y[:, 1] - y[:, 0])
    square = np.ones(len(X)) if kernel else (X**2).sum(axis=1)
    G = float((weights * np.sqrt(n**2 * square + n)).max())
    assert (weights * losses).sum() <= 3 * G * np.sqrt(len(X)) + 1e-9
    assert norm_of(it) <= 1 + 1e-9


def norm_of(it: OrdinalClassifier) -> float:
    """Compute the norm of function and thresholds together."""
    if it.kernel == "linear":
        square = it.coef_ @ it.coef_
    else:
        rows, a = it.support_vectors_, it.dual_coef_
        square = a @ np.exp(-0.5 * ((rows[:, None] - rows[None]) ** 2).sum(axis=2)) @ a
    return float(np.sqrt(square + it.thresholds_ @ it.thresholds_))


@pytest.mark.parametrize("removal", ["oldest", "least-harm"])
def test_the_ball_counts_what_a_budget_removes(removal: str) -> None:
    """After every round the norm is 1 or less, and it is 1 where the step led out of the ball."""
    X, y, weights = arrays(draw(4, 3, 5, rounds=250, weighted=True))
    it = learner(5, step="sqrt", kernel="rbf", gamma=0.5, budget=6, removal=removal)
    norms = []
    for t in range(len(X)):
        it.partial_fit(X[t : t + 1], y[t : t + 1], sample_weight=weights[t : t + 1])
        norms.append(norm_of(it))
        state = it._model.state()
        assert norms[-1] ** 2 == pytest.approx(float(state["square"][0]), rel=1e-6, abs=1e-9)
    assert max(norms) <= 1 + 1e-6
    assert max(norms) > 0.99


@pytest.mark.parametrize(
    ("params", "stored"),
    [
        ({"average": True}, ["weights"]),
        ({"kernel": "rbf", "budget": 6}, ["support_coefficients", "thresholds"]),
    ],
)
def test_a_small_scale_is_multiplied_in(params: dict[str, Any], stored: list[str]) -> None:
    """The same weights, stored with a scale that is too small: the next step stores them anew and changes nothing."""
    X, y, _ = arrays(draw(4, 3, 5, rounds=120))
    it, other = (learner(5, step="sqrt", **params).partial_fit(X[:60], y[:60]) for _ in range(2))
    state = other._model.state()
    for name in (*stored, "scale", *(["average_clock"] if "average" in params else [])):
        state[name] = state[name] * (2.0**30 if name in stored else 2.0**-30)
    other._model.restore(state)
    np.testing.assert_array_equal(other.thresholds_, it.thresholds_)
    for t in range(60, 120):
        for one in (it, other):
            one.partial_fit(X[t : t + 1], y[t : t + 1])
        np.testing.assert_allclose(other.thresholds_, it.thresholds_, rtol=0, atol=1e-12)
        np.testing.assert_allclose(other.decision_function(X), it.decision_function(X), rtol=0, atol=1e-12)
    assert other._model.state()["scale"][0] > 2.0**-20


@few
@given(seeds, sizes, st.booleans())
def test_the_multiplicative_bound(seed: int, size: tuple[int, int], signed: bool) -> None:
    d, K = size
    rng = np.random.default_rng(seed)
    w, b = rng.normal(size=d), np.sort(rng.normal(size=K - 1))
    if not signed:
        w, b = np.abs(w), np.sort(np.abs(b))
    scale = np.abs(w).sum() + np.abs(b).sum()
    w, b = w / scale, b / scale
    stream: Stream = []
    for _ in range(400):
        x = rng.uniform(-1, 1, size=d)
        y = oracle.predicted(float(w @ x), b)
        example = (x, max(1, y - int(rng.integers(2))), min(K, y + int(rng.integers(2))), 1.0)
        if margin(w, b, [example]) >= 0.01:
            stream.append(example)
    if not stream or most_constraints(stream, K) != K - 1:
        return
    n, g = K - 1, min(margin(w, b, stream), 0.99)
    made = errors(learner(K, update="multiplicative", signed=signed, margin=g), stream + stream)
    assert made <= 2 * n**2 * np.log((2 if signed else 1) * (d + K - 1)) / g**2


# -- classes that enter ---------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(seeds, sizes, st.sampled_from(sorted(MODES)), st.booleans())
def test_classes_enter_where_they_belong_whatever_the_chunks(
    seed: int, size: tuple[int, int], mode: str, weighted: bool
) -> None:
    X, y, weights = arrays(bounded(draw(seed, *size, weighted=weighted)))
    ends = np.where((y == 1) & [True, False], -inf, 3.0 * y)
    rng = np.random.default_rng(seed)
    whole = OrdinalClassifier(**MODES[mode]).partial_fit(X, ends, sample_weight=weights)
    cut, t = OrdinalClassifier(**MODES[mode]), 0
    while t < len(X):
        part = slice(t, t + int(rng.integers(1, 9)))
        cut.partial_fit(X[part], ends[part], sample_weight=weights[part])
        assert cut.classes_.tolist() == sorted(cut.classes_.tolist())
        assert len(cut.thresholds_) == max(0, len(cut.classes_) - 1)
        t = part.stop
    assert whole.classes_.tolist() == cut.classes_.tolist() == sorted(set(ends[np.isfinite(ends)].tolist()))
    assert pickle.dumps(whole._model.state()) == pickle.dumps(cut._model.state())
    np.testing.assert_array_equal(whole.predict(X), cut.predict(X))


def test_a_class_that_enters_doubles_a_threshold() -> None:
    it = OrdinalClassifier()
    it.partial_fit([[1.0], [-1.0], [2.0]], [4, 1, 4])
    it.partial_fit([[1.0], [-1.0]], [4, 1])
    before = it.thresholds_.tolist()
    for label, place in ((2, 1), (9, 3), (0, 0)):
        it.add_labels([label])
        assert it.classes_.tolist().index(label) == place
        assert set(it.thresholds_.tolist()) == set(before)


def test_answers_before_a_class_exists_are_of_those_that_do() -> None:
    X, y = np.array([[1.0], [1.0], [-1.0], [1.0], [1.0]]), [5, 5, 1, 9, 5]
    seen: list[Any] = []
    for rows in (X, [{"x": float(x)} for x in X[:, 0]]):
        report = progressive(OrdinalClassifier(), rows, y, metrics={"said": told}, every=1)
        seen.append(report.curve["said"].tolist())
    assert seen[0] == seen[1]
    assert seen[0][:3] == [5, 5, 5]


def test_classes_may_come_later() -> None:
    it = OrdinalClassifier().partial_fit([[1.0], [0.0]], ["low", "high"], classes=["low", "high"])
    with pytest.raises(
        ValueError, match="row 0 of y has the class 'mid', which is not among the classes 'low', 'high'"
    ):
        it.partial_fit([[1.0]], ["mid"])
    it.partial_fit([[1.0]], ["mid"], classes=["low", "mid", "high"])
    assert it.classes_.tolist() == ["low", "mid", "high"]
    with pytest.raises(ValueError, match="keep the order"):
        it.partial_fit([[1.0]], ["mid"], classes=["high", "mid", "low"])
    assert it.add_labels(["low", "mid", "high", "severe"]).classes_.tolist() == ["low", "mid", "high", "severe"]


@pytest.mark.parametrize("labels", [[1, 2, 4, 3], ["a", "b", "c", "d"]])
def test_labels_that_are_new_may_be_ignored(labels: list[Any]) -> None:
    """An end that is no class is open, also where the classes were given."""
    a, b, c, new = labels
    taught, opened = [a, new, (b, new), (new, c), c], [(a, a), (-inf, inf), (b, inf), (-inf, c), (c, c)]
    X = np.linspace(-1, 1, 5)[:, None]
    for params in ({}, {"classes": labels[:3]}):
        one, other = (OrdinalClassifier(new_labels=n, **params) for n in ("ignore", "add"))
        for x, y, z in zip(X, taught, opened, strict=True):
            one.partial_fit([x], [y], classes=labels[:3])
            other.partial_fit([x], [z], classes=labels[:3])
        assert one.classes_.tolist() == labels[:3]
        np.testing.assert_array_equal(one.thresholds_, other.thresholds_)
        np.testing.assert_array_equal(one.coef_, other.coef_)
    with pytest.raises(ValueError, match=r"row 0 of y has the class 1, but no class is known yet: give classes="):
        OrdinalClassifier(new_labels="error").partial_fit([[1.0]], [1])


# -- as people use it -----------------------------------------------------------------------------------------------


def test_learn_one_is_partial_fit() -> None:
    rng = np.random.default_rng(0)
    rows = [{"a": float(a), "b": float(b), "from": str(f)} for a, b, f in rng.integers(-3, 4, size=(60, 3))]
    y = [(1 + t % 3, 1 + t % 3 + t % 2) if t % 4 else (-inf, 2) for t in range(60)]
    for mode in MODES.values():
        params = {"rescale": True} if "update" in mode else {}
        many = OrdinalClassifier(**mode, **params).partial_fit(rows, y)
        one = OrdinalClassifier(**mode, **params)
        assert one.predict_one(rows[0]) is None
        for x, target in zip(rows, y, strict=True):
            assert one.learn_one(x, target) is None
        np.testing.assert_array_equal(one.thresholds_, many.thresholds_)
        assert [one.predict_one(x) for x in rows] == many.predict(rows).tolist()
        assert one.classes_.tolist() == [1, 2, 3, 4]


def test_a_bad_example_does_not_set_the_kernel_s_width() -> None:
    it = OrdinalClassifier([1, 2, 3], kernel="rbf")
    with pytest.raises(ValueError, match="finite"):
        it.learn_one({"a": 1.0, "b": np.nan}, 2)
    it.learn_one({"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}, 3)
    it.learn_one({"a": 1.0, "b": 2.0, "c": 3.0, "d": 5.0}, 1)
    assert it.decision_function([{"a": 1.0}])[0] != 0
    assert it._gamma == 1 / 4


def test_predict_interval_widens_with_the_margin() -> None:
    X, y, _ = arrays(draw(1, 2, 6, rounds=200))
    it = learner(6).fit(X, y)
    scores, before = it.decision_function(X), it.predict(X)
    for m in (0.0, 0.5, 2.0, 1e9):
        low, high = it.predict_interval(X, m).T
        assert (low <= before).all()
        assert (before <= high).all()
        np.testing.assert_array_equal(low, 1 + np.searchsorted(it.thresholds_, scores - m, side="right"))
        np.testing.assert_array_equal(high, 1 + np.searchsorted(it.thresholds_, scores + m, side="right"))
    np.testing.assert_array_equal(it.predict_interval(X, 0.0)[:, 0], before)
    with pytest.raises(ValueError, match="margin must not be negative"):
        it.predict_interval(X, -1.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mode", sorted(MODES))
def test_the_answer_lies_in_its_interval(mode: str, dtype: str) -> None:
    """Also where a score is a threshold but for the rounding of what is read."""
    X, y, weights = arrays(rounded(bounded(draw(3, 2, 6, rounds=150, weighted=True))))
    it, named = (learner(6, **MODES[mode] | {"dtype": dtype}) for _ in range(2))
    rows = [dict(zip("ab", x, strict=True)) for x in X.tolist()]
    for t in range(0, len(X), 10):
        part = slice(t, t + 10)
        it.partial_fit(X[part], y[part], sample_weight=weights[part])
        named.partial_fit(rows[part], y[part], sample_weight=weights[part])
        answers = it.predict(X)
        np.testing.assert_array_equal(it.predict_interval(X, 0.0), np.column_stack([answers, answers]))
        for by in (None, 1e-9, 0.3):
            low, high = it.predict_interval(X, by).T
            assert (low <= answers).all()
            assert (answers <= high).all()
            np.testing.assert_array_equal(it.predict_interval(X, by), named.predict_interval(rows, by))
    scores, b = it.decision_function(X).astype(np.float64), it.thresholds_.astype(np.float64)
    for by in (0.0, 0.0123, 0.3):
        ends = np.column_stack([scores - by, scores + by])
        clear = (np.abs(ends[:, :, None] - b) > 1e-4 * (1 + np.abs(b))).all(axis=(1, 2))
        np.testing.assert_array_equal(it.predict_interval(X, by)[clear], 1 + np.searchsorted(b, ends, "right")[clear])
        assert clear.any()


def test_score_is_minus_the_mean_absolute_error() -> None:
    X, y, weights = arrays(draw(1, 2, 6, weighted=True))
    it = learner(6).fit(X, y)
    p = it.predict(X)
    outside = np.maximum(0, np.maximum(y[:, 0] - p, p - y[:, 1]))
    assert it.score(X, y) == -outside.mean()
    assert it.score(X, y, weights) == pytest.approx(-np.average(outside, weights=weights))
    assert OrdinalClassifier().fit(ROWS, [1, 1, 3, 3]).score(ROWS[:1], [9]) <= -1


def test_open_intervals_pass_through_grid_search() -> None:
    X, y, _ = arrays(draw(1, 3, 5, rounds=120))
    ends = np.where(y == np.array([1, 5]), [-inf, inf], y).astype(float)
    for classes in (None, [1, 2, 3, 4, 5]):
        search = GridSearchCV(OrdinalClassifier(classes), {"step": ["unit", "sqrt"], "average": [False, True]}, cv=3)
        search.fit(X, ends)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        assert search.best_score_ <= 0


@pytest.mark.parametrize("mode", sorted(MODES))
def test_save_load_and_go_on(mode: str, tmp_path: Any) -> None:
    X, y, weights = arrays(bounded(draw(6, 4, 5, rounds=120, weighted=True)))
    for labels in (np.arange(1, 6), np.array(["a", "b", "c", "d", "e"])):
        classes = None if labels.dtype.kind == "i" else labels.tolist()
        ends = labels[y - 1]
        whole = OrdinalClassifier(classes, **MODES[mode]).partial_fit(X, ends, sample_weight=weights)
        half = OrdinalClassifier(classes, **MODES[mode]).partial_fit(X[:60], ends[:60], sample_weight=weights[:60])
        half.save(tmp_path / "model")
        opened = hinge.load(tmp_path / "model")
        for other in (opened, pickle.loads(pickle.dumps(half)), half.snapshot(), half):
            other.partial_fit(X[60:], ends[60:], sample_weight=weights[60:])
            np.testing.assert_array_equal(other.classes_, whole.classes_)
            assert pickle.dumps(other._model.state()) == pickle.dumps(whole._model.state())
            np.testing.assert_array_equal(other.predict(X), whole.predict(X))


def test_a_function_as_kernel_cannot_be_saved(tmp_path: Any) -> None:
    with pytest.raises(TypeError, match="kernel"):
        learner(3, kernel=lambda a, b: a @ b).fit(ROWS, [1, 2, 3, 1]).save(tmp_path / "model")


def test_classes_are_given_in_many_ways(tmp_path: Any) -> None:
    y = np.array([1, 3, 2, 1])
    for classes in (range(1, 5), np.arange(1, 5), [1, 2, 3, 4], pd.CategoricalDtype([1, 2, 3, 4], ordered=True)):
        it = OrdinalClassifier(classes).fit(ROWS, y)
        it.save(tmp_path / "model")
        for other in (hinge.load(tmp_path / "model"), pickle.loads(pickle.dumps(it)), clone(it).fit(ROWS, y)):
            assert other.classes_.tolist() == [1, 2, 3, 4]
            np.testing.assert_array_equal(other.thresholds_, it.thresholds_)
    it = OrdinalClassifier(np.arange(1, 5)).fit(ROWS, y)
    it.set_params(classes=np.arange(1, 9)).partial_fit(ROWS, y)
    assert it.classes_.tolist() == [1, 2, 3, 4]
    assert it.fit(ROWS, y).classes_.tolist() == list(range(1, 9))


CHECKED = [
    OrdinalClassifier(average=True, dtype="float64"),
    OrdinalClassifier(step="sqrt"),
    OrdinalClassifier(step=0.3),
    OrdinalClassifier(update="multiplicative", rescale=True),
    OrdinalClassifier(update="multiplicative", signed=False, rescale=True),
    OrdinalClassifier(kernel="rbf"),
    OrdinalClassifier(kernel="poly", budget=5),
    OrdinalClassifier(kernel="rbf", step="sqrt", budget=5),
]


@pytest.mark.parametrize("estimator", CHECKED, ids=repr)
def test_our_checks(estimator: OrdinalClassifier) -> None:
    check_estimator(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(CHECKED[3:7:3], expected_failed_checks=expected_failures)
def test_scikit_learn_s_checks(estimator: OrdinalClassifier, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_tags() -> None:
    for make in (OrdinalClassifier, PRank, WidrowHoffClassifier):
        tags = make().__sklearn_tags__()
        assert (tags.estimator_type, tags.classifier_tags) == ("ordinal", None)
    assert MulticlassPerceptron().__sklearn_tags__().estimator_type == "classifier"
