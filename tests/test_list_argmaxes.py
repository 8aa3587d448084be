"""The argmaxes of lists and bipartite batches in the core, held against all pairs, permutations and sign vectors."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from itertools import pairwise, permutations, product
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from oracle import lists as oracle

Array = np.ndarray[Any, np.dtype[Any]]
ROOT = Path(__file__).parents[1]
FLAGS = "-std=c++20 -O3 -Wall -Wextra -Wconversion -Wshadow -Werror -Wno-psabi -ffp-contract=off -fno-math-errno"
MEASURES = ["sensitivity_specificity", "fbeta", "recall_at_k", "precision_at_k"]
few = settings(max_examples=60, deadline=None)
seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    out = tmp_path_factory.mktemp("lists") / "lists.so"
    command = [compiler, *FLAGS.split(), "-fPIC", "-shared", "-I", "src", "tests/cpp/lists.cpp", "-o", str(out)]
    subprocess.run(command, cwd=ROOT, check=True)
    return bind(ctypes.CDLL(str(out)))


def bind(core: ctypes.CDLL) -> ctypes.CDLL:
    """Declare what the functions take and return."""
    array, size = ctypes.c_void_p, ctypes.c_size_t
    core.kendall.restype = core.ndcg.restype = core.multivariate.restype = ctypes.c_double
    core.kendall.argtypes = [array, array, size, ctypes.c_double, array, array]
    core.assignment.argtypes = [array, array, size, size, array]
    core.assignments.argtypes = [array, array, size, size, size, array]
    core.ndcg.argtypes = [array, array, size, size, ctypes.c_int, ctypes.c_int, array]
    core.multivariate.argtypes = [array, array, size, ctypes.c_int, ctypes.c_double, size, array]
    return core


def pairs_short(core: ctypes.CDLL, s: Array, y: Array, margin: float) -> tuple[float, float, Array]:
    s, y, net, comparable = s.astype(float), y.astype(float), np.zeros(len(s)), np.zeros(1)
    short = core.kendall(s.ctypes.data, y.ctypes.data, len(s), margin, net.ctypes.data, comparable.ctypes.data)
    return short, comparable[0], net


def assigned(core: ctypes.CDLL, s: Array, shares: Array, k: int) -> Array:
    s, shares, v = s.astype(float), shares.astype(float), np.zeros(len(s))
    core.assignment(s.ctypes.data, shares.ctypes.data, len(s), k, v.ctypes.data)
    return v


def ndcg(core: ctypes.CDLL, s: Array, y: Array, k: int, gain: str, answer: int) -> tuple[float, Array]:
    s, y, v = s.astype(float), y.astype(float), np.zeros(len(s))
    loss = core.ndcg(s.ctypes.data, y.ctypes.data, len(s), k, gain == "exponential", answer, v.ctypes.data)
    return loss, v


def chosen(core: ctypes.CDLL, name: str, s: Array, y: Array, k: int, beta: float) -> tuple[float, Array]:
    s, up, out = s.astype(float), (y > 0).astype(np.uint8), np.zeros(len(s), dtype=np.uint8)
    number = MEASURES.index(name)
    loss = core.multivariate(s.ctypes.data, up.ctypes.data, len(s), number, beta, k, out.ctypes.data)
    return loss, 2 * out.astype(int) - 1


def scores(rng: np.random.Generator, r: int, kind: int) -> Array:
    """Draw scores: small integers that tie, quarters, zeros, or numbers of any size."""
    if kind == 0:
        return rng.integers(-2, 3, size=r).astype(float)
    if kind == 1:
        return rng.integers(-8, 9, size=r) / 4
    if kind == 2:
        return np.zeros(r)
    return rng.normal(size=r) * 10.0 ** rng.integers(-3, 3)


@few
@given(seed=seeds, r=st.integers(1, 40), levels=st.integers(1, 40), kind=st.integers(0, 3))
def test_kendall_pairs(core: ctypes.CDLL, seed: int, r: int, levels: int, kind: int) -> None:
    rng = np.random.default_rng(seed)
    s, y = scores(rng, r, kind), rng.integers(0, levels, size=r)
    pairs = [(i, j) for i in range(r) for j in range(r) if y[i] > y[j]]
    for margin in (0.0, 1.0, 0.25):
        short = [(i, j) for i, j in pairs if (s[i] - s[j] < margin if margin else s[i] <= s[j])]
        expected = np.zeros(r)
        for i, j in short:
            expected[i] += 1
            expected[j] -= 1
        got, comparable, net = pairs_short(core, s, y, margin)
        assert (got, comparable) == (len(short), len(pairs))
        assert net.tolist() == expected.tolist()


@few
@given(seed=seeds, r=st.integers(1, 7), k=st.integers(1, 9), kind=st.integers(0, 3), gain=st.booleans())
def test_ndcg_argmax_by_all_permutations(core: ctypes.CDLL, seed: int, r: int, k: int, kind: int, gain: bool) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(3 if r == 7 else 20):
        s, y = scores(rng, r, kind), rng.integers(0, 4, size=r)
        form = "exponential" if gain else "linear"
        loss, v = ndcg(core, s, y, k, form, 2)
        if loss < 0:
            assert not y.any() or len(set(y.tolist())) == 1
            continue
        assert sorted(v) == list(range(1, r + 1))
        assert np.isclose(loss, oracle.ndcg_loss(v, y, k, form), rtol=0, atol=1e-12)
        hinge = loss + (v - oracle.positions(y)) @ s
        assert np.isclose(hinge, oracle.ndcg_hinge_by_permutations(s, y, k, form), rtol=1e-11, atol=1e-11)
        assert ndcg(core, s, y, k, form, 0)[1].tolist() == oracle.positions(y).tolist()
        reached, answer = ndcg(core, s, y, k, form, 1)
        assert answer.tolist() == oracle.positions(s).tolist()
        assert reached <= hinge + 1e-9 * (1 + abs(hinge))


@settings(max_examples=150, deadline=None)
@given(seed=seeds, r=st.integers(1, 60), k=st.integers(1, 70), kind=st.integers(0, 3), scale=st.floats(-4, 4))
def test_assignment_is_optimal(core: ctypes.CDLL, seed: int, r: int, k: int, kind: int, scale: float) -> None:
    """Against the Hungarian method, for any scores and any shares, where discounts matter much or little."""
    rng = np.random.default_rng(seed)
    for shares in (rng.random(r), rng.integers(0, 3, size=r) * 1.0, np.exp(3 * rng.normal(size=r))):
        s, b = scores(rng, r, kind), shares * 10.0**scale
        j = np.arange(1, r + 1)
        D = np.where(j > r - k, 1 / np.log2(r - j + 2), 0.0)
        cost = -np.outer(s, j) + np.outer(b, D)
        rows, columns = linear_sum_assignment(cost)
        v = assigned(core, s, b, k)
        assert sorted(v) == j.tolist()
        size = np.abs(cost).max() + 1e-12
        assert cost[np.arange(r), v.astype(int) - 1].sum() <= cost[rows, columns].sum() + 1e-11 * size * r


def test_assignment_of_long_lists(core: ctypes.CDLL) -> None:
    rng = np.random.default_rng(0)
    for r, k in ((300, 10), (400, 50), (200, 200), (1000, 10)):
        s, b = rng.normal(size=r) * 10.0 ** rng.uniform(-5, 0), rng.random(r) ** 4
        j = np.arange(1, r + 1)
        cost = -np.outer(s, j) + np.outer(b, np.where(j > r - k, 1 / np.log2(r - j + 2), 0.0))
        rows, columns = linear_sum_assignment(cost)
        v = assigned(core, s, b, k)
        assert np.isclose(cost[np.arange(r), v.astype(int) - 1].sum(), cost[rows, columns].sum(), rtol=1e-12, atol=1e-9)


@few
@given(
    seed=seeds, r=st.integers(1, 10), k=st.integers(1, 12), kind=st.integers(0, 3), name=st.sampled_from(MEASURES),
    beta=st.sampled_from([0.25, 0.5, 1.0, 2.0]),
)  # fmt: skip
def test_multivariate_argmax_by_all_sign_vectors(
    core: ctypes.CDLL, seed: int, r: int, k: int, kind: int, name: str, beta: float
) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(8 if r < 9 else 2):
        s, y = scores(rng, r, kind), np.where(rng.random(r) < 0.4, 1, -1)
        loss, v = chosen(core, name, s, y, k, beta)
        assert oracle.allowed(name, int((v > 0).sum()), r, k)
        assert np.isclose(loss, oracle.delta(name, v, y, beta), rtol=0, atol=1e-14)
        assert np.isclose(
            loss + v @ s, oracle.multivariate_by_sign_vectors(name, s, y, k, beta), rtol=1e-12, atol=1e-12
        )


@settings(max_examples=100, deadline=None)
@given(
    seed=seeds, r=st.integers(1, 50), k=st.integers(1, 60), kind=st.integers(0, 3), name=st.sampled_from(MEASURES),
    beta=st.sampled_from([0.25, 1.0, 3.0]), share=st.floats(0, 1), scale=st.floats(-3, 1),
)  # fmt: skip
def test_multivariate_argmax_by_all_counts(
    core: ctypes.CDLL, seed: int, r: int, k: int, kind: int, name: str, beta: float, share: float, scale: float
) -> None:
    """Against the book's listing: the same value, and, where nothing rounds, the same vector."""
    rng = np.random.default_rng(seed)
    s, y = scores(rng, r, kind) * (10.0**scale if kind == 3 else 1.0), np.where(rng.random(r) < share, 1, -1)
    loss, v = chosen(core, name, s, y, k, beta)
    expected = oracle.multivariate(name, s, y, k, beta)
    value = oracle.delta(name, expected, y, beta) + expected @ s
    assert np.isclose(loss + v @ s, value, rtol=1e-12, atol=1e-12)
    if kind == 2:
        assert v.tolist() == expected.tolist()


def test_thousands_of_lists_by_all_permutations(core: ctypes.CDLL) -> None:
    """The same as above, all permutations of up to seven documents at once in an array."""
    every = {r: np.array(list(permutations(range(1, r + 1))), dtype=float) for r in range(2, 8)}
    rng = np.random.default_rng(1)
    for case in range(4000):
        r, k = int(rng.integers(2, 8)), int(rng.integers(1, 9))
        s, y = scores(rng, r, case % 4), rng.integers(0, 4, size=r)
        loss, v = ndcg(core, s, y, k, "linear", 2)
        if loss < 0:
            continue
        P, b = every[r], y / (oracle.discount(oracle.positions(y), r, k) @ y)
        highest = (P @ s - oracle.discount(P, r, k) @ b).max() + 1
        assert np.isclose(loss + v @ s, highest, rtol=1e-12, atol=1e-12)


def test_thousands_of_batches_by_all_sign_vectors(core: ctypes.CDLL) -> None:
    """The same for the measures, up to twelve rows."""
    rng = np.random.default_rng(1)
    every = {r: np.array(list(product((-1, 1), repeat=r))) for r in range(1, 13)}
    for case in range(4000):
        name, r, k = MEASURES[case // 4 % 4], int(rng.integers(1, 13)), int(rng.integers(1, 14))
        beta = (0.5, 1.0, 2.0)[case % 3]
        s, y = scores(rng, r, case % 4), np.where(rng.random(r) < rng.random(), 1, -1)
        V = every[r]
        a, b = ((V > 0) & (y > 0)).sum(axis=1), ((V > 0) & (y < 0)).sum(axis=1)
        P, N = int((y > 0).sum()), int((y < 0).sum())
        deltas = np.array([[1 - oracle.measure(name, i, j, P, N, beta) for j in range(N + 1)] for i in range(P + 1)])
        inside = np.array([oracle.allowed(name, ones, r, k) for ones in range(r + 1)])[a + b]
        loss, v = chosen(core, name, s, y, k, beta)
        assert np.isclose(loss + v @ s, (deltas[a, b] + V @ s)[inside].max(), rtol=1e-12, atol=1e-12)


def test_multivariate_argmax_of_a_single_row_and_one_kind(core: ctypes.CDLL) -> None:
    for name in MEASURES:
        for y in ([1], [-1], [1, 1, 1], [-1, -1]):
            for s in (-1.0, 0.0, 1.0):
                row = np.full(len(y), s)
                loss, v = chosen(core, name, row, np.array(y), 2, 1.0)
                assert np.isclose(
                    loss + v @ row, oracle.multivariate_by_sign_vectors(name, row, np.array(y), 2), atol=1e-14
                )


def seconds(work: Callable[..., Any], *args: Any) -> float:
    times = []
    for _ in range(3):
        begin = time.process_time()  # all of it on one thread
        work(*args)
        times.append(time.process_time() - begin)
    return min(times)


@pytest.mark.long
def test_argmaxes_are_fast(core: ctypes.CDLL) -> None:
    """Ten times faster than the Hungarian method at r = 1000, k = 10; a batch of 100,000 in under 20 ms."""
    rng = np.random.default_rng(0)
    for scale in (0.0, 1e-6, 1e-4, 1e-2, 1.0):
        s, y = rng.normal(size=1000) * scale, rng.integers(0, 3, size=1000)
        cost = oracle.ndcg_costs(s, y, 10)
        b = oracle.gains(y, "linear") / (oracle.discount(oracle.positions(y), 1000, 10) @ y)
        ours, theirs = seconds(assigned, core, s, b, 10), seconds(linear_sum_assignment, cost)
        print(f"assignment, scores of size {scale:g}: {ours * 1e3:.2f} ms, scipy {theirs * 1e3:.2f} ms")
        assert ours * 10 < theirs
    for scale in (0.0, 1e-6, 1e-3, 1.0):
        s, y = rng.normal(size=1000) * scale, rng.integers(0, 3, size=1000)
        cost = oracle.ndcg_costs(s, y, None)
        b = oracle.gains(y, "linear") / (oracle.discount(oracle.positions(y), 1000, None) @ y)
        ours, theirs = seconds(assigned, core, s, b, 1000), seconds(linear_sum_assignment, cost)
        print(f"all positions, scores of size {scale:g}: {ours * 1e3:.2f} ms, scipy {theirs * 1e3:.2f} ms")
    y = np.where(rng.random(100_000) < 0.01, 1, -1)
    for name in MEASURES:
        for scale in (0.0, 1e-5, 1e-3, 1.0, -1e-9):  # the last: no score pays, and none is too low to be tried
            s = (rng.normal(size=len(y)) + y) * scale if scale >= 0 else rng.random(len(y)) * scale
            ours, sort = seconds(chosen, core, name, s, y, 500, 1.0), seconds(np.sort, s)
            print(f"{name}, scores of size {scale:g}: {ours * 1e3:.2f} ms, a sort {sort * 1e3:.2f} ms")
            assert ours < 0.02


# --- exercises 4 and 5 of the chapter -------------------------------------------------------------------------------


@few
@given(seed=seeds, r=st.integers(1, 6))
def test_exercise_4(seed: int, r: int) -> None:
    """pi(y') is the permutation v that maximises sum v_i y'_i."""
    values = np.random.default_rng(seed).permutation(r) - 1.5
    best = max(permutations(range(1, r + 1)), key=lambda v: float(np.dot(v, values)))
    assert list(best) == oracle.positions(values).tolist()


@few
@given(seed=seeds, r=st.integers(1, 9), k=st.integers(1, 10), name=st.sampled_from(MEASURES))
def test_exercise_5(seed: int, r: int, k: int, name: str) -> None:
    """The vector that a measure's threshold cuts is the v of its V that maximises sum v_i y'_i."""
    values = np.random.default_rng(seed).normal(size=r)
    v = oracle.predicted(name, values, k)
    vectors = [u for u in oracle.sign_vectors(r) if oracle.allowed(name, int((u > 0).sum()), r, k)]
    assert v.tolist() in [u.tolist() for u in vectors]
    assert np.isclose(v @ values, max(u @ values for u in vectors))


def test_discounts_are_the_books() -> None:
    assert oracle.discount(np.array([1, 2, 3, 4]), 4, 2).tolist() == [0, 0, 1 / log2(3), 1.0]
    assert all(a < b for a, b in pairwise(oracle.discount(np.arange(1, 9), 8, None)))
