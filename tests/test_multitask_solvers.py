"""The solvers of parallel tasks, compiled on their own: against the oracle and against a convex solver from outside."""

from __future__ import annotations

import ctypes
import warnings
from math import inf
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from compiled import compiled
from oracle import multitask as oracle

Array = np.ndarray[Any, np.dtype[Any]]
NORMS = [
    ("p", 1), ("p", 1.2), ("p", 1.5), ("p", 2), ("p", 3), ("p", 8), ("p", inf),
    ("r-max", 1), ("r-max", 2), ("r-max", 4), ("K", 1, inf, 1.7), ("K", inf, 1, 0.5), ("K", 1, 2, 1.3),
    ("K", 2, inf, 1.2), ("K", 1.5, 4, 1.2), ("K", 4, 1.5, 0.8), ("K", 2, 2, 0.7), ("K", 2, 3, 9), ("K", 1, 3, 1.4),
]  # fmt: skip
UPDATES = ("finite", "infinite", "implicit")
every_norm = pytest.mark.parametrize("norm", NORMS, ids=str)


@pytest.fixture(scope="module")
def core() -> ctypes.CDLL:
    library = compiled("shared_loss.cpp")
    pointer, size, real = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_double
    library.solve_rounds.argtypes = [pointer, ctypes.c_int, ctypes.c_int, real, real, size, size, *[pointer] * 4]
    library.solve_rounds.restype = None
    return library


def numbers_of(norm: tuple[Any, ...]) -> Array:
    kind, *numbers = norm
    if kind == "r-max":
        numbers = [1, inf, *numbers]
    return np.array(numbers, dtype=np.float64)


def solve(core: Any, norm: Any, update: str, C: float, reach: float, losses: Array, q: Array) -> tuple[Array, Array]:
    """Return the steps of many rounds, and the norm of each one's losses."""
    losses, q, numbers = (np.ascontiguousarray(part, dtype=np.float64) for part in (losses, q, numbers_of(norm)))
    taus, values = np.full(losses.shape, np.nan), np.empty(len(losses))
    core.solve_rounds(
        numbers.ctypes.data, numbers.size, UPDATES.index(update), C, reach, *losses.shape,
        *(part.ctypes.data for part in (losses, q, taus, values)),
    )  # fmt: skip
    return taus, values


def random_rounds(seed: int, rounds: int, k: int) -> tuple[Array, Array]:
    """Losses with zeros, ties and all sizes; squared norms with zeros, equal ones and all sizes."""
    rng = np.random.default_rng(seed)
    losses = rng.gamma(rng.choice([0.3, 2.0], size=(rounds, 1)), size=(rounds, k)) + 1e-3
    tied = rng.random(rounds) < 0.25
    losses[tied] = np.ceil(2 * losses[tied]) / 2
    losses *= rng.random((rounds, k)) < rng.choice([0.4, 0.9, 1.0], size=(rounds, 1))
    q = rng.gamma(rng.choice([0.5, 3.0], size=(rounds, 1)), size=(rounds, k)) + 1e-2
    q[rng.random(rounds) < 0.25] = 1.0
    q *= rng.random((rounds, k)) > 0.05
    return losses, q


def how_many(norm: Any, rounds: int) -> int:
    """Return how many rounds the oracle can solve in a moment: few where both bounds are curved."""
    powers = [power for power, _ in oracle.dual_bounds(norm)]
    return rounds // 12 if len(powers) == 2 and not {1.0, inf} & set(powers) else rounds


def gain(tau: Array, losses: Array, q: Array) -> Array:
    """Return what each round adds to the dual."""
    return (2 * tau * losses - tau**2 * q).sum(axis=1) / 2


@pytest.mark.parametrize("k", [1, 4, 23])
@every_norm
def test_finite_and_infinite_agree_with_the_oracle(core, norm, k):
    if norm[0] == "r-max" and norm[1] > k:
        return
    losses, q = random_rounds(k, how_many(norm, 60), k)
    for update in ("finite", "infinite"):
        reach = 2.5
        taus, values = solve(core, norm, update, 0.6, reach, losses, q)
        for tau, value, loss in zip(taus, values, losses, strict=True):
            slow = oracle.finite(norm, loss, 0.6) if update == "finite" else oracle.infinite(norm, loss, 0.6, reach)
            assert value == pytest.approx(oracle.value(norm, loss), rel=1e-11, abs=1e-300)
            np.testing.assert_allclose(tau, slow, rtol=0, atol=1e-10)


@pytest.mark.parametrize("k", [1, 4, 23])
@every_norm
def test_implicit_agrees_with_the_oracle(core, norm, k):
    if norm[0] == "r-max" and norm[1] > k:
        return
    losses, q = random_rounds(100 + k, how_many(norm, 40), k)
    for C in (0.02, 0.5, 30.0):
        taus, _ = solve(core, norm, "implicit", C, 0, losses, q)
        for tau, loss, squares in zip(taus, losses, q, strict=True):
            slow, moves = oracle.implicit(norm, loss, squares, C), squares > 0
            np.testing.assert_allclose(tau[moves], slow[moves], rtol=0, atol=1e-10 * max(1, C))
            assert gain(tau[None], loss, squares) == pytest.approx(gain(slow[None], loss, squares), rel=1e-10)
            assert oracle.dual_norm(norm, tau) <= C * (1 + 1e-12)


@every_norm
def test_no_steps_are_better_on_thousands_of_rounds(core, norm):
    """A concave function is largest where no step finds more of its slope g = l - q tau: C ||[g]+|| = <g, tau>."""
    for seed, k in enumerate((1, 2, 3, 7, 30, 104)):
        if norm[0] == "r-max" and norm[1] > k:
            continue
        losses, q = random_rounds(200 + seed, 500, k)
        for C in (0.01, 0.3, 4.0):
            taus, _ = solve(core, norm, "implicit", C, 0, losses, q)
            slopes = losses - q * taus
            _, most = solve(core, norm, "finite", 1.0, 0, np.maximum(slopes, 0), q)
            scale = (taus * losses).sum(axis=1)
            gap = C * most - (slopes * taus).sum(axis=1)
            np.testing.assert_array_less(np.abs(gap), 1e-11 * scale + 1e-300)
            assert max(oracle.dual_norm(norm, tau) for tau in taus) <= C * (1 + 1e-12)
            assert not taus[losses == 0].any()


def best_by_cvxpy(norm: Any, losses: Array, q: Array, C: float) -> Array:
    """Return the steps of all rounds by an interior point method that knows the dual norm only."""
    tau = cp.Variable(losses.shape, nonneg=True)
    objective = cp.sum(cp.multiply(2 * losses, tau)) - cp.sum(cp.multiply(q, cp.square(tau)))
    limits: list[Any] = [tau <= 1e3 * (losses > 0)]
    for power, radius in oracle.dual_bounds(norm):
        if power == inf:
            limits.append(tau <= C * radius)
        elif power == 1:
            limits.append(cp.sum(tau, axis=1) <= C * radius)
        elif power == 2:
            limits.append(cp.norm(tau, 2, axis=1) <= C * radius)
        else:
            limits += [cp.pnorm(row, power) <= C * radius for row in tau]
    problem = cp.Problem(cp.Maximize(objective), limits)
    with warnings.catch_warnings():  # power cones stop short of these tolerances; what they reach is close enough
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return np.asarray(tau.value)


def behind(core: Any, norm: Any, seed: int, rounds: int, k: int) -> float:
    """Return how far their steps, made to keep the bound, are behind ours at most; they are never ahead."""
    losses, q = random_rounds(seed, rounds, k)
    C = [0.1, 0.5, 2.0][seed % 3]
    tau, _ = solve(core, norm, "implicit", C, 0, losses, q)
    theirs = np.maximum(best_by_cvxpy(norm, losses, q, C), 0.0)
    theirs = np.array([t / max(1.0, oracle.dual_norm(norm, t) / C) for t in theirs])
    more = gain(tau, losses, q) - gain(theirs, losses, q)
    assert more.min() >= -1e-10
    return float(more.max())


@every_norm
def test_implicit_agrees_with_a_convex_solver(core, norm):
    assert behind(core, norm, seed=1, rounds=8, k=5) <= 1e-8


@pytest.mark.long
@pytest.mark.parametrize("k", [2, 5, 12])
@every_norm
def test_implicit_agrees_with_a_convex_solver_on_thousands_of_rounds(core, norm, k):
    if norm[0] == "r-max" and norm[1] > k:
        return
    gaps = [behind(core, norm, seed, rounds=8, k=k) for seed in range(15)]
    assert np.median(gaps) <= 1e-8
    assert np.max(gaps) <= 1e-5  # power cones now and then stop early, and say so


@every_norm
def test_no_direction_finds_more_loss(core, norm):
    """||l|| is max <tau, l> over the dual ball, by an outside solver, and the steps reach it."""
    losses, q = random_rounds(5, 8, 6)
    taus, values = solve(core, norm, "finite", 1.0, 0, losses, q)
    theirs = best_by_cvxpy(norm, losses, np.zeros_like(q), 1.0)
    np.testing.assert_allclose((taus * losses).sum(axis=1), values, rtol=1e-12)
    np.testing.assert_allclose((theirs * losses).sum(axis=1), values, rtol=0, atol=1e-8)


@pytest.mark.parametrize("norm", [*NORMS, ("p", 1.02), ("p", 300), ("p", 1e5)], ids=str)
def test_extreme_sizes_stay_finite_and_within_the_ball(core, norm):
    rng = np.random.default_rng(3)
    losses = 10.0 ** rng.uniform(-30, 30, size=(1000, 6))
    q = 10.0 ** rng.uniform(-30, 30, size=(1000, 6))
    for update in UPDATES:
        taus, values = solve(core, norm, update, 0.3, 2.0, losses, q)
        assert np.isfinite(taus).all()
        assert np.isfinite(values).all()
        assert (taus >= 0).all()
        assert max(oracle.dual_norm(norm, tau) for tau in taus) <= 0.3 * (1 + 1e-9)


@every_norm
def test_a_round_without_a_loss_moves_nothing(core, norm):
    losses, q = np.zeros((3, 5)), np.ones((3, 5))
    losses[1, 2] = 1.0
    for update in UPDATES:
        taus, values = solve(core, norm, update, 0.3, 2.0, losses, q)
        assert not taus[[0, 2]].any()
        assert values.tolist() == [0, pytest.approx(oracle.value(norm, losses[1])), 0]
        assert np.flatnonzero(taus[1]).tolist() == [2]


def test_the_largest_rounds_are_solved_exactly(core):
    """With 100,000 tasks the conditions of optimality hold: l - q tau is one number on all steps inside (r-max)."""
    rng = np.random.default_rng(4)
    k, C, r = 100_000, 0.01, 500
    losses, q = rng.gamma(2.0, size=(1, k)), rng.gamma(2.0, size=(1, k)) + 0.01
    (tau,), _ = solve(core, ("r-max", r), "implicit", C, 0, losses, q)
    shift = (losses - q * tau)[0]
    inside = (tau > 0) & (tau < C)
    assert tau.sum() == pytest.approx(r * C, rel=1e-12)
    assert np.ptp(shift[inside]) <= 1e-11
    assert shift[tau == 0].max() <= shift[inside].min() + 1e-11
    assert shift[tau == C].min() >= shift[inside].max() - 1e-11
