"""The ordinal parts of the core, compiled on their own: projection, problem and kernel support."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import isotonic_regression

from oracle.ordinal import KernelPRIL, classes_outside, interval_hinge, isotonic, predicted, violations

Array = np.ndarray[Any, np.dtype[Any]]

ROOT = Path(__file__).resolve().parents[1]
FLAGS = "-std=c++20 -O3 -Wall -Wextra -Wconversion -Wshadow -Werror -Wno-psabi -ffp-contract=off -fno-math-errno"
SHAPES = {"linear": 0, "poly": 1, "rbf": 2}
REMOVALS = {"oldest": 0, "least-harm": 1}
REALS = {"f32": np.float32, "f64": np.float64}
SURFACES = {**REALS, "given": np.float64}

few = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 2**32 - 1)
reals = st.sampled_from(sorted(REALS))


class Said(ctypes.Structure):
    """What the surface says of a round."""

    _fields_ = [
        *[(name, ctypes.c_int32) for name in ("predicted", "error", "violated", "sum")],
        ("loss", ctypes.c_double),
        *[(name, ctypes.c_int32) for name in ("lowest", "highest")],
    ]


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    out = tmp_path_factory.mktemp("ordinal") / "ordinal.so"
    sources = ["tests/cpp/pav.cpp", "src/core/kernels.cpp", "src/core/dispatch.cpp"]
    command = [compiler, *FLAGS.split(), "-fPIC", "-shared", "-DHINGE_TARGET=baseline", "-DHINGE_VECTOR=16"]
    subprocess.run([*command, "-I", "src", *sources, "-o", str(out)], cwd=ROOT, check=True)
    return bind(ctypes.CDLL(str(out)))


def bind(core: ctypes.CDLL) -> ctypes.CDLL:
    """Declare what the functions take and return."""
    core.ordinal_round.restype = Said
    core.ordinal_round.argtypes = [
        ctypes.c_double, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32, ctypes.c_double,
        ctypes.c_double, ctypes.c_void_p,
    ]  # fmt: skip
    for suffix in REALS:
        getattr(core, f"isotonic_{suffix}").argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    for suffix in SURFACES:
        new = getattr(core, f"support_new_{suffix}")
        new.restype = ctypes.c_void_p
        new.argtypes = [ctypes.c_int, ctypes.c_double, ctypes.c_double, ctypes.c_int, ctypes.c_int32, ctypes.c_int]
        row = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32]
        score = getattr(core, f"support_score_{suffix}")
        score.restype, score.argtypes = ctypes.c_double, row
        getattr(core, f"support_add_{suffix}").argtypes = [*row, ctypes.c_double]
        getattr(core, f"support_size_{suffix}").argtypes = [ctypes.c_void_p]
        getattr(core, f"support_free_{suffix}").argtypes = [ctypes.c_void_p]
        getattr(core, f"support_coefficients_{suffix}").argtypes = [ctypes.c_void_p] * 3
        getattr(core, f"support_copy_{suffix}").argtypes = [ctypes.c_void_p] * 2
    return core


def address(array: Array | None) -> int | None:
    """Find where an array's values are."""
    return None if array is None else array.ctypes.data


def project(core: ctypes.CDLL, values: Array, weights: Array | None = None, suffix: str = "f64") -> Array:
    """Project a copy; the surface aborts if that allocates."""
    out = values.astype(REALS[suffix])
    getattr(core, f"isotonic_{suffix}")(address(out), address(weights), out.size)
    return out


@few
@given(seed=seeds, n=st.integers(0, 60), weighted=st.booleans(), ties=st.booleans())
def test_projection_is_isotonic_regression(core: ctypes.CDLL, seed: int, n: int, weighted: bool, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(-3, 4, size=n).astype(float) if ties else rng.normal(size=n)
    weights = rng.uniform(0.1, 5, size=n) if weighted else None
    got = project(core, values, weights)
    if n > 0:
        assert np.allclose(got, isotonic_regression(values, sample_weight=weights), rtol=1e-12, atol=1e-12)
        if weights is None:
            assert np.allclose(got, isotonic(values), rtol=1e-12, atol=1e-12)
    single = project(core, values, weights, "f32")
    assert np.allclose(got, single, atol=1e-5)
    for out in (got, single):
        assert (out[1:] >= out[:-1]).all()
        again = project(core, out.astype(float), weights, "f32" if out.dtype == np.float32 else "f64")
        assert out.tobytes() == again.tobytes()


@few
@given(seed=seeds, n=st.integers(2, 20), weighted=st.booleans(), suffix=reals)
def test_equal_neighbours_stay_equal(core: ctypes.CDLL, seed: int, n: int, weighted: bool, suffix: str) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n)
    i = int(rng.integers(n - 1))
    values[i + 1] = values[i]
    got = project(core, values, rng.uniform(0.1, 5, size=n) if weighted else None, suffix)
    assert got[i] == got[i + 1]


@pytest.mark.parametrize("suffix", sorted(REALS))
@pytest.mark.parametrize(
    "values", [[], [2.0], [0.1, 0.1, 0.1], [3.0, 2.0, 1.0], [1e300, -1e300], [-np.inf, 0.0, np.inf]]
)
def test_projection_of_plain_cases(core: ctypes.CDLL, values: list[float], suffix: str) -> None:
    if suffix == "f32":
        values = np.clip(values, -1e30, 1e30).tolist()
    got = project(core, np.array(values), suffix=suffix)
    assert (got[1:] >= got[:-1]).all()
    if values == sorted(values):
        assert got.tobytes() == np.array(values, dtype=REALS[suffix]).tobytes()


@few
@given(seed=seeds, K=st.integers(2, 12))
def test_the_problem_agrees_with_the_oracle(core: ctypes.CDLL, seed: int, K: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(20):
        b = np.sort(rng.integers(-4, 5, size=K - 1)).astype(float)
        f, margin = float(rng.integers(-5, 6)) + rng.choice([0.0, 0.25]), float(rng.choice([0.0, 0.5, 2.0]))
        lo = int(rng.integers(1, K + 1))
        hi = int(rng.integers(lo, K + 1))
        tau, moved = np.zeros(K - 1), b.copy()
        said = core.ordinal_round(f, address(moved), K - 1, lo, hi, 0.5, margin, address(tau))
        expected = violations(f, b, lo, hi)
        assert tau.tolist() == expected.tolist()
        assert (said.predicted, said.error) == (predicted(f, b), classes_outside(f, b, lo, hi))
        assert (said.violated, said.sum) == (int(np.abs(expected).sum()), int(expected.sum()))
        assert said.loss == interval_hinge(f, b, lo, hi)
        assert moved.tolist() == (b - 0.5 * expected).tolist()
        assert (said.lowest, said.highest) == (predicted(f - margin, b), predicted(f + margin, b))


class Support:
    """A kernel support of the core."""

    def __init__(
        self, core: ctypes.CDLL, shape: str, suffix: str = "f64", gamma: float = 1.0, coef0: float = 0.0,
        degree: int = 1, budget: int = 0, removal: str = "least-harm",
    ) -> None:  # fmt: skip
        self.core, self.suffix, self.real = core, suffix, SURFACES[suffix]
        self.handle = self.call("new", SHAPES[shape], gamma, coef0, degree, budget, REMOVALS[removal], own=False)

    def call(self, name: str, *args: Any, own: bool = True) -> Any:
        function = getattr(self.core, f"support_{name}_{self.suffix}")
        return function(*((self.handle,) if own else ()), *args)

    def row(self, x: Array, sparse: bool) -> tuple[Array | None, Array]:
        index = np.flatnonzero(x).astype(np.int32) if sparse else None
        return index, np.ascontiguousarray(x if index is None else x[index], dtype=self.real)

    def score(self, x: Array, sparse: bool = False) -> float:
        index, value = self.row(x, sparse)
        return float(self.call("score", address(index), address(value), value.size))

    def add(self, x: Array, a: float, sparse: bool = False) -> None:
        """Score and add, as a round does."""
        self.score(x, sparse)
        index, value = self.row(x, sparse)
        self.call("add", address(index), address(value), value.size, a)

    def coefficients(self) -> list[float]:
        """The coefficients, oldest first."""
        a, ages = np.zeros(self.call("size")), np.zeros(self.call("size"), dtype=np.int64)
        self.call("coefficients", address(a), address(ages))
        return a[np.argsort(ages)].tolist()


@pytest.fixture
def support(core: ctypes.CDLL) -> Iterator[Callable[..., Support]]:
    made: list[Support] = []

    def make(*args: Any, **kwargs: Any) -> Support:
        made.append(Support(core, *args, **kwargs))
        return made[-1]

    yield make
    for each in made:
        each.call("free")


FUNCTIONS: dict[str, Callable[[Array, Array], float]] = {
    "linear": lambda a, b: float(a @ b),
    "poly": lambda a, b: float((0.5 * (a @ b) + 1) ** 3),
    "rbf": lambda a, b: float(np.exp(-0.5 * ((a - b) @ (a - b)))),
}


def options(shape: str) -> dict[str, Any]:
    """What the core needs to compute the function of the same name."""
    return {"poly": {"gamma": 0.5, "coef0": 1.0, "degree": 3}, "rbf": {"gamma": 0.5}}.get(shape, {})


def sparse_rows(rng: np.random.Generator, n: int, d: int, suffix: str = "f64") -> Array:
    """Draw rows with many zeros, one of them zero throughout, as values that the type holds."""
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4)
    X[n // 2] = 0.0
    return X.astype(REALS[suffix]).astype(float)


@pytest.mark.parametrize("suffix", sorted(REALS))
@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("d", [1, 7, 40])
def test_scores_are_the_sum(support: Callable[..., Support], shape: str, suffix: str, d: int) -> None:
    rng = np.random.default_rng(d)
    X, a = sparse_rows(rng, 90, d, suffix), rng.normal(size=90)
    dense, sparse = support(shape, suffix, **options(shape)), support(shape, suffix, **options(shape))
    assert dense.score(X[0]) == sparse.score(X[0], sparse=True) == 0.0
    for t, x in enumerate(X):
        terms = np.array([a[s] * FUNCTIONS[shape](X[s], x) for s in range(t)])
        tolerance = (1e-12 if suffix == "f64" else 1e-5) * (1 + np.abs(terms).sum())
        assert abs(dense.score(x) - terms.sum()) <= tolerance
        scores = {dense.score(x), dense.score(x, sparse=True), sparse.score(x), sparse.score(x, sparse=True)}
        assert len(scores) == 1
        dense.add(x, a[t])
        sparse.add(x, a[t], sparse=True)


def test_features_may_come_late(support: Callable[..., Support]) -> None:
    for first_sparse in (False, True):
        it = support("linear")
        it.add(np.array([1.0, 2.0]), 1.0, first_sparse)
        assert it.score(np.array([1.0, 1.0, 0.0, 5.0]), sparse=True) == 3.0
        it.add(np.array([0.0, 0.0, 0.0, 1.0]), 2.0, sparse=True)
        assert it.score(np.array([1.0, 1.0, 0.0, 5.0]), sparse=True) == 13.0
        assert it.score(np.array([1.0])) == 1.0


def test_rbf_does_not_cancel_far_from_the_origin(support: Callable[..., Support]) -> None:
    it, a, b = support("rbf", "f32", gamma=1.0), np.array([2000.0, 1.0]), np.array([2000.5, 1.0])
    it.add(a, 1.0)
    assert it.score(a) == 1.0
    assert np.isclose(it.score(b), np.exp(-0.25), rtol=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    seed=seeds,
    shape=st.sampled_from(["linear", "poly"]),
    removal=st.sampled_from(sorted(REMOVALS)),
    budget=st.integers(1, 40),
    form=st.sampled_from(["dense", "sparse", "mixed"]),
)
def test_a_budget_follows_the_oracle(
    core: ctypes.CDLL, seed: int, shape: str, removal: str, budget: int, form: str
) -> None:
    """Small integers keep all of it exact, so that ties are ties on both sides."""
    rng = np.random.default_rng(seed)
    kernel = {"linear": lambda a, b: float(a @ b), "poly": lambda a, b: float((a @ b + 1) ** 2)}[shape]
    oracle = KernelPRIL(5, kernel, budget, removal)
    it = Support(core, shape, "f64", coef0=1.0, degree=2, budget=budget, removal=removal)
    try:
        for t in range(80):
            x, y = rng.integers(-2, 3, size=3).astype(float), int(rng.integers(1, 6))
            sparse = form == "sparse" or (form == "mixed" and t % 4 > 0)
            f = it.score(x, sparse)
            said = oracle.round(x, y, min(5, y + int(rng.integers(2))))
            assert np.isclose(f, said.score, rtol=1e-9, atol=1e-9)
            it.add(x, float(said.tau.sum()), sparse)
            assert np.allclose(it.coefficients(), oracle.a, rtol=1e-9, atol=1e-9)
            if not np.array_equal(it.coefficients(), oracle.a):
                return  # a division rounded: from here a tie may be broken differently
            assert it.call("size") <= budget
    finally:
        it.call("free")


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("removal", sorted(REMOVALS))
def test_a_budget_follows_the_oracle_on_generic_rows(
    support: Callable[..., Support], removal: str, sparse: bool
) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        oracle = KernelPRIL(5, FUNCTIONS["rbf"], 12, removal)
        it = support("rbf", gamma=0.5, budget=12, removal=removal)
        for _ in range(200):
            x, y = rng.normal(size=3) * (rng.random(3) < 0.8), int(rng.integers(1, 6))
            f = it.score(x, sparse)
            said = oracle.round(x, y, y)
            assert np.isclose(f, said.score, rtol=1e-8, atol=1e-8)
            it.add(x, float(said.tau.sum()), sparse)
            assert np.allclose(it.coefficients(), oracle.a, rtol=1e-8, atol=1e-8)


def test_the_oldest_leaves_first(support: Callable[..., Support]) -> None:
    it = support("linear", budget=3, removal="oldest")
    for t in range(1, 8):
        it.add(np.array([1.0]), float(t))
    assert it.coefficients() == [5.0, 6.0, 7.0]
    assert it.score(np.array([1.0])) == 18.0


def test_a_double_is_carried_for_nothing(support: Callable[..., Support]) -> None:
    it = support("poly", coef0=1.0, degree=2, budget=2)
    for x, a in (([1.0, 0.0], 2.0), ([0.0, 1.0], 1.0), ([1.0, 0.0], -5.0)):
        it.add(np.array(x), a)
    assert it.call("size") == 2
    assert it.score(np.array([1.0, 0.0])) == -3.0 * 4 + 1.0


@pytest.mark.parametrize("suffix", sorted(SURFACES))
@pytest.mark.parametrize("removal", sorted(REMOVALS))
@pytest.mark.parametrize("sparse", [False, True])
def test_put_back_it_goes_on_as_if_never_stored(
    support: Callable[..., Support], suffix: str, removal: str, sparse: bool
) -> None:
    rng = np.random.default_rng(0)
    kept = support("rbf", suffix, budget=9, removal=removal)
    for t in range(80):
        x, a = rng.normal(size=6) * (rng.random(6) < 0.5), float(rng.integers(-3, 4))
        fresh = support("rbf", suffix, budget=9, removal=removal)
        kept.call("copy", fresh.handle)
        kept.add(x, a, sparse)
        fresh.add(x, a, sparse)
        assert kept.coefficients() == fresh.coefficients()
        assert kept.score(x, sparse) == fresh.score(x, sparse), t


def test_a_kernel_of_ones_own_follows_the_oracle(support: Callable[..., Support]) -> None:
    rng = np.random.default_rng(3)
    oracle = KernelPRIL(5, lambda a, b: float(np.minimum(abs(a), abs(b)).sum()), 8, "least-harm")
    it = support("linear", "given", budget=8)
    for _ in range(100):
        x, y = rng.normal(size=4), int(rng.integers(1, 6))
        f = it.score(x)
        said = oracle.round(x, y, y)
        assert np.isclose(f, said.score, rtol=1e-9, atol=1e-9)
        it.add(x, float(said.tau.sum()))
        assert np.allclose(it.coefficients(), oracle.a, rtol=1e-9, atol=1e-9)
