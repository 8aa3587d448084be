"""What MATH.md section B claims of PRIL and its kin, held on random streams by the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.ordinal import (
    MPRIL,
    PRIL,
    KernelPRIL,
    MulticlassPerceptron,
    PRank,
    WidrowHoff,
    best_eta,
    classes_outside,
    interval_hinge,
    isotonic,
    predicted,
    signs,
    violations,
)

Array = np.ndarray[Any, np.dtype[Any]]
Stream = list[tuple[Array, int, int, float]]

few = settings(max_examples=30, deadline=None)
seeds = st.integers(0, 2**32 - 1)
sizes = st.tuples(st.integers(1, 4), st.integers(2, 7))


def draw(
    seed: int, d: int, K: int, rounds: int = 80, weighted: bool = False, exact: bool = False, low: int = 1
) -> Stream:
    """Draw a noisy stream with zero rows, doubled rows and rounds without a constraint; classes from ``low`` up."""
    rng = np.random.default_rng(seed)
    hidden, stream = rng.normal(size=d), []
    cuts = np.sort(rng.normal(size=K - 1))
    for t in range(rounds):
        x = rng.normal(size=d)
        if t % 9 == 5:
            x = np.zeros(d)
        if t % 9 == 7:
            x = stream[-1][0]
        y = predicted(float(hidden @ x + 0.3 * rng.normal()), cuts)
        lo, hi = (y, y) if exact else (max(1, y - int(rng.integers(3))), min(K, y + int(rng.integers(3))))
        if t % 13 == 12 and not exact:
            lo, hi = 1, K
        weight = float(rng.choice([0.0, 0.3, 1.0, 1.7])) if weighted else 1.0
        stream.append((x, lo + low - 1, hi + low - 1, weight))
    return stream


def separable(seed: int, d: int, K: int, rounds: int = 150, bounded: bool = False) -> tuple[Stream, Array, Array]:
    """Draw a stream that hidden (w, b) satisfy, with rounds of a small margin left out."""
    rng = np.random.default_rng(seed)
    w, b = rng.normal(size=d), np.sort(rng.normal(size=K - 1))
    stream: Stream = []
    while len(stream) < rounds:
        x = rng.uniform(-1, 1, size=d) if bounded else rng.normal(size=d)
        y = predicted(float(w @ x), b)
        lo, hi = max(1, y - int(rng.integers(2))), min(K, y + int(rng.integers(2)))
        if margin(w, b, [(x, lo, hi, 1.0)]) >= 0.05 or rng.random() < 0.02:
            stream.append((x, lo, hi, 1.0))
    return stream, w, b


def margin(w: Array, b: Array, stream: Stream) -> float:
    """Compute the least ``z_i (<w, x> - b_i)`` over all constraints."""
    least = np.inf
    for x, lo, hi, _ in stream:
        z = signs(b.size + 1, lo, hi)
        least = min(least, float(np.where(z != 0, z * (w @ x - b), np.inf).min()))
    return least


def follow(learner: Any, stream: Stream) -> list[Any]:
    """Run the stream through a learner."""
    return [learner.round(*example) for example in stream]


def ordered(b: Array) -> bool:
    """Say whether the thresholds are in order, to the last bit."""
    return bool((b[1:] >= b[:-1]).all())


def most_constraints(stream: Stream, K: int) -> int:
    """Compute ``K - c - 1``."""
    return max(K - 1 - (hi - lo) for _, lo, hi, _ in stream)


def square_radius(stream: Stream) -> float:
    """Compute R^2."""
    return max(float(x @ x) for x, *_ in stream)


@few
@given(seeds, sizes)
def test_the_quantities_of_a_round_agree(seed: int, size: tuple[int, int]) -> None:
    rng, K = np.random.default_rng(seed), size[1]
    b = np.sort(rng.integers(-3, 4, size=K - 1)).astype(float)
    f, lo = float(rng.integers(-4, 5)), int(rng.integers(1, K + 1))
    hi = int(rng.integers(lo, K + 1))
    tau, p = violations(f, b, lo, hi), predicted(f, b)
    assert classes_outside(f, b, lo, hi) == max(lo - p, p - hi, 0) <= np.abs(tau).sum() <= K - 1 - (hi - lo)
    assert interval_hinge(f, b, lo, hi) == -(tau * (f - b)).sum()
    shuffled = rng.permutation(b)
    assert interval_hinge(f, b, lo, hi) <= interval_hinge(f, shuffled, lo, hi)
    nudge = 1e-3
    smooth = not np.isin(f, b)
    slope = (interval_hinge(f + nudge, b, lo, hi) - interval_hinge(f - nudge, b, lo, hi)) / (2 * nudge)
    assert not smooth or np.isclose(slope, -tau.sum())


def test_the_surrogate_is_no_upper_bound() -> None:
    """L_IMC asks for no margin: it is zero wherever all thresholds equal the score."""
    b = np.zeros(4)
    assert interval_hinge(0.0, b, 1, 1) == 0 < classes_outside(0.0, b, 1, 1) == 4


@few
@given(seeds, st.integers(1, 12))
def test_isotonic_is_the_projection(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    v = rng.normal(size=n)
    u = isotonic(v)
    assert ordered(u)
    for _ in range(20):
        other = np.sort(rng.normal(size=n))
        assert (v - u) @ (other - u) <= 1e-12
    assert isotonic(np.sort(v)).tolist() == np.sort(v).tolist()
    for i in range(n):  # the closed form
        means = [[v[j : k + 1].mean() for k in range(i, n)] for j in range(i + 1)]
        assert np.isclose(u[i], max(map(min, means)))


@few
@given(seeds, sizes)
def test_exact_labels_make_it_prank(seed: int, size: tuple[int, int]) -> None:
    stream = draw(seed, *size, exact=True)
    pril, prank = PRIL(*size), PRank(*size, ties=True)
    for example in stream:
        one, other = pril.round(*example), prank.round(*example)
        assert one.prediction == other.prediction
        assert one.error == other.error
        assert (pril.w == prank.w).all()
        assert (pril.b == prank.b).all()


@few
@given(seeds, sizes)
def test_the_published_prank_differs_at_ties_only(seed: int, size: tuple[int, int]) -> None:
    stream = [(x, lo, hi, 1.0) for x, lo, hi, _ in draw(seed, *size, exact=True) if x.any()]
    rng = np.random.default_rng(seed)
    stream = [(rng.normal(size=size[0]), 1, 1, 1.0), *stream]
    pril, prank = PRIL(*size), PRank(*size)
    for x, lo, hi, weight in stream:
        tie = (prank.w @ x == prank.b[: lo - 1]).any()
        assert pril.round(x, lo, hi, weight).prediction == prank.round(x, lo, hi, weight).prediction
        if tie:
            return
        assert (pril.w == prank.w).all()
        assert (pril.b == prank.b).all()


def test_the_published_prank_rests_where_pril_moves() -> None:
    pril, prank = PRIL(1, 3), PRank(1, 3)
    pril.round([1.0], 3, 3)
    prank.round([1.0], 3, 3)
    assert (pril.w.tolist(), pril.b.tolist()) == ([2.0], [-1.0, -1.0])
    assert (prank.w.tolist(), prank.b.tolist()) == ([0.0], [0.0, 0.0])


@few
@given(seeds, sizes, st.booleans(), st.sampled_from(["unit", "sqrt", 0.1, 3.7, "multiplicative", "single-sided"]))
def test_thresholds_stay_in_order(seed: int, size: tuple[int, int], weighted: bool, kind: str | float) -> None:
    if kind in ("multiplicative", "single-sided"):
        learner: Any = MPRIL(*size, eta=0.3, signed=kind == "multiplicative")
    else:
        learner = PRIL(*size, step=kind)
    for x, lo, hi, weight in draw(seed, *size, weighted=weighted):
        learner.round(x / max(1.0, np.abs(x).max()), lo, hi, weight)
        assert ordered(learner.b)


@few
@given(seeds, st.integers(2, 9))
def test_the_unit_step_keeps_order_whatever_the_scores(seed: int, K: int) -> None:
    """So rounded scores, kernels and budgets cannot break it."""
    rng, b = np.random.default_rng(seed), np.zeros(K - 1)
    for _ in range(200):
        f = float(rng.choice(b) if rng.random() < 0.3 else rng.normal(scale=4))
        lo = int(rng.integers(1, K + 1))
        b = b - violations(f, b, lo, int(rng.integers(lo, K + 1)))
        assert ordered(b)


@few
@given(seeds, sizes, st.sampled_from([0.125, 4.0]))
def test_a_constant_step_only_scales(seed: int, size: tuple[int, int], step: float) -> None:
    unit, scaled = PRIL(*size), PRIL(*size, step=step)
    for example in draw(seed, *size):
        one, other = unit.round(*example), scaled.round(*example)
        assert (one.prediction, one.error, step * one.score) == (other.prediction, other.error, other.score)
        assert (scaled.b == step * unit.b).all()
        assert (scaled.w == step * unit.w).all()


def test_a_step_that_floats_cannot_hold_misses_ties() -> None:
    """Why a constant step is best run as the unit step and multiplied in when it is read."""
    missed = 0
    for seed in range(40):
        unit, tenth = PRIL(1, 5), PRIL(1, 5, step=0.1)
        for x, lo, hi, _ in draw(seed, 1, 5):
            x = np.round(x)
            missed += unit.round(x, lo, hi).prediction != tenth.round(x, lo, hi).prediction
    assert missed > 0


def test_varying_weights_do_break_the_order() -> None:
    broken = 0
    for seed in range(20):
        b, w = np.zeros(4), np.zeros(2)
        for x, lo, hi, weight in draw(seed, 2, 5, weighted=True):
            tau = violations(float(w @ x), b, lo, hi)
            w, b = w + weight * tau.sum() * x, b - weight * tau
            broken += not ordered(b)
    assert broken > 0


@few
@given(seeds, sizes, st.sampled_from(["unit", "sqrt"]))
def test_one_weight_for_all_changes_nothing(seed: int, size: tuple[int, int], step: str) -> None:
    d, K = size
    learners = [(PRIL(d, K, step), PRIL(d, K, step))]
    for example in draw(seed, *size):
        for once, twice in learners:
            assert once.round(*example).prediction == twice.round(*example[:3], 2.0).prediction
    for make in (PRank, WidrowHoff, MulticlassPerceptron):
        once, twice = make(d, K), make(d, K)
        for x, lo, hi, _ in draw(seed, *size, exact=True):
            assert once.round(x, lo, hi).prediction == twice.round(x, lo, hi, 2.0).prediction


@few
@given(seeds, sizes)
def test_weight_zero_is_scored_and_not_learned(seed: int, size: tuple[int, int]) -> None:
    stream = draw(seed, *size, exact=True)
    for make in (PRIL, lambda d, K: PRIL(d, K, "sqrt"), PRank, WidrowHoff, MulticlassPerceptron):
        kept, mixed = make(*size), make(*size)
        for t, example in enumerate(stream):
            if t % 3 == 0:
                mixed.round(*example[:3], 0.0)
                continue
            assert kept.round(*example).prediction == mixed.round(*example).prediction
        assert np.array_equal(kept.w, mixed.w)
        assert np.array_equal(kept.b, mixed.b)


@few
@given(seeds, sizes)
def test_the_linear_kernel_is_linear(seed: int, size: tuple[int, int]) -> None:
    linear, kernel = PRIL(*size), KernelPRIL(size[1], lambda a, b: float(a @ b))
    for x, lo, hi, _ in draw(seed, *size):
        x = np.round(8 * x) / 8
        one, other = linear.round(x, lo, hi), kernel.round(x, lo, hi)
        assert (one.score, one.prediction, one.loss) == (other.score, other.prediction, other.loss)
        assert (linear.b == kernel.b).all()
        w = sum((a * row for a, row in zip(kernel.a, kernel.rows, strict=True)), np.zeros(size[0]))
        assert (linear.w == w).all()


@few
@given(seeds)
def test_a_polynomial_kernel_is_linear_on_its_monomials(seed: int) -> None:
    def monomials(x: Array) -> Array:
        a, b = x
        return np.array([1.0, np.sqrt(2) * a, np.sqrt(2) * b, a * a, b * b, np.sqrt(2) * a * b])

    linear, kernel = PRIL(6, 4), KernelPRIL(4, lambda a, b: float((a @ b + 1) ** 2))
    for x, lo, hi, _ in draw(seed, 2, 4, rounds=50):
        one, other = linear.round(monomials(x), lo, hi), kernel.round(x, lo, hi)
        assert np.isclose(one.score, other.score, rtol=1e-9, atol=1e-9)
        if (one.tau != other.tau).any():
            return
        assert (linear.b == kernel.b).all()


@few
@given(seeds, st.sampled_from(["oldest", "smallest", "first-pair", "least-harm", "span"]), st.integers(1, 6))
def test_a_budget_keeps_to_itself_and_to_the_order(seed: int, removal: str, budget: int) -> None:
    learner = KernelPRIL(5, lambda a, b: float(np.exp(-((a - b) @ (a - b)))), budget, removal)
    for example in draw(seed, 2, 5, rounds=50, weighted=seed % 2 == 0):
        learner.round(*example)
        assert len(learner.rows) <= budget
        assert ordered(learner.b)


@few
@given(seeds)
def test_a_removal_onto_a_double_is_free(seed: int) -> None:
    """Nine rows drawn from three: a budget of three loses nothing when a row can be carried by its double."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(-4, 5, size=(3, 2)).astype(float) / 2

    def kernel(a: Array, b: Array) -> float:
        return float((a @ b + 1) ** 2)

    free, tight = KernelPRIL(4, kernel), KernelPRIL(4, kernel, budget=3, removal="least-harm")
    for _ in range(60):
        x, y = pool[rng.integers(3)], int(rng.integers(1, 5))
        one, other = free.round(x, y, min(4, y + 1)), tight.round(x, y, min(4, y + 1))
        assert np.isclose(one.score, other.score, atol=1e-9)
        if (one.tau != other.tau).any():
            return


@few
@given(seeds, sizes)
def test_the_mistake_bound_when_separable(seed: int, size: tuple[int, int]) -> None:
    d, K = size
    stream, w, b = separable(seed, d, K)
    rounds = follow(PRIL(d, K), stream + stream)
    violated = sum(np.abs(r.tau).sum() for r in rounds)
    n, R2 = most_constraints(stream, K), square_radius(stream)
    g = margin(w, b, stream) / np.sqrt(w @ w + b @ b)
    assert sum(r.error for r in rounds) <= violated
    if n > 0:
        assert violated <= (R2 * n + 1) / g**2 <= (R2 + 1) * n / g**2


@few
@given(seeds, sizes, st.floats(0.01, 2.0))
def test_the_mistake_bound_for_any_comparator(seed: int, size: tuple[int, int], g: float) -> None:
    d, K = size
    stream = draw(seed, d, K)
    rounds = follow(PRIL(d, K), stream)
    violated = sum(np.abs(r.tau).sum() for r in rounds)
    n, R2 = most_constraints(stream, K), square_radius(stream)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        v = rng.normal(size=d + K - 1)
        v /= np.linalg.norm(v)
        short = [np.maximum(0, g - signs(K, lo, hi) * (v[:d] @ x - v[d:])) for x, lo, hi, _ in stream]
        kept = [s[signs(K, lo, hi) != 0] for s, (_, lo, hi, _) in zip(short, stream, strict=True)]
        D = np.sqrt(sum(float(s @ s) for s in kept))
        tight = (D + np.sqrt(R2 * n + 1)) ** 2 / g**2
        assert violated <= tight <= (D + np.sqrt(R2 + 1)) ** 2 * n / g**2 + 1e-9


@few
@given(seeds, sizes)
def test_the_cumulative_loss_is_known_exactly(seed: int, size: tuple[int, int]) -> None:
    learner, loss, gradients = PRIL(*size), 0.0, 0.0
    for x, lo, hi, _ in draw(seed, *size):
        r = learner.round(x, lo, hi)
        loss += r.loss
        gradients += r.tau.sum() ** 2 * (x @ x) + np.abs(r.tau).sum()
        v = learner.w @ learner.w + learner.b @ learner.b
        assert np.isclose(loss, (gradients - v) / 2, rtol=1e-9, atol=1e-9)


@few
@given(seeds, sizes, st.sampled_from([0.1, 1.0, 5.0]), st.booleans())
def test_the_sqrt_step_has_small_regret(seed: int, size: tuple[int, int], radius: float, weighted: bool) -> None:
    d, K = size
    stream = draw(seed, d, K, weighted=weighted)
    learner = PRIL(d, K, "sqrt", radius)
    suffered = sum(weight * learner.round(x, lo, hi, weight).loss for x, lo, hi, weight in stream)
    assert np.sqrt(learner.w @ learner.w + learner.b @ learner.b) <= radius * (1 + 1e-12)
    allowed = radius * learner.G * np.sqrt(len(stream))
    assert suffered <= 1.5 * allowed + 1e-9  # against v = 0, half the diameter away
    rng = np.random.default_rng(seed)
    for _ in range(5):
        v = rng.normal(size=d + K - 1)
        v[d:].sort()
        v *= radius / np.linalg.norm(v)
        best = sum(weight * interval_hinge(float(v[:d] @ x), v[d:], lo, hi) for x, lo, hi, weight in stream)
        assert suffered - best <= 3 * allowed + 1e-9


@few
@given(seeds, sizes)
def test_the_radius_changes_no_prediction(seed: int, size: tuple[int, int]) -> None:
    one, other = PRIL(*size, "sqrt", 1.0), PRIL(*size, "sqrt", 4.0)
    for example in draw(seed, *size):
        first, second = one.round(*example), other.round(*example)
        assert 4 * first.score == second.score
        assert first.prediction == second.prediction


@few
@given(seeds, sizes, st.booleans())
def test_the_multiplicative_bound(seed: int, size: tuple[int, int], signed: bool) -> None:
    d, K = size
    stream, w, b = separable(seed, d, K, rounds=100, bounded=True)
    if not signed:
        w, b = np.abs(w), np.sort(np.abs(b))
        kept = []
        for x, *_ in stream:
            y = predicted(float(w @ x), b)
            if margin(w, b, [(x, y, y, 1.0)]) > 0.02:
                kept.append((x, y, y, 1.0))
        stream = kept
    n = most_constraints(stream, K) if stream else 0
    g = margin(w, b, stream) / (np.abs(w).sum() + np.abs(b).sum()) if n else 0.0
    if not 0 < g < n:
        return
    learner = MPRIL(d, K, best_eta(K, K - 1 - n, g), signed)
    rounds = follow(learner, stream + stream + stream)
    violated = sum(np.abs(r.tau).sum() for r in rounds)
    assert sum(r.error for r in rounds) <= violated
    assert violated <= 2 * n**2 * np.log((2 if signed else 1) * (d + K - 1)) / g**2


def test_without_its_factor_of_two_the_multiplicative_bound_is_not_proved() -> None:
    """g(t) = ((1+t) log(1+t) + (1-t) log(1-t)) / 2 lies between t^2/2 and t^2, so 1/t^2 is below 1/g(t)."""
    t = np.linspace(0.01, 0.99, 99)
    g = ((1 + t) * np.log1p(t) + (1 - t) * np.log1p(-t)) / 2
    assert (g >= t**2 / 2).all()
    assert (g < t**2).all()


@few
@given(seeds, sizes, st.booleans())
def test_the_counters_follow_the_literal_recursion(seed: int, size: tuple[int, int], signed: bool) -> None:
    counted = MPRIL(*size, eta=0.2, signed=signed)
    literal = MPRIL(*size, eta=0.2, signed=signed, literal=True)
    for x, lo, hi, _ in draw(seed, *size):
        x = x / max(1.0, np.abs(x).max())
        one, other = counted.round(x, lo, hi), literal.round(x, lo, hi)
        assert np.isclose(one.score, other.score, atol=1e-9)
        if (one.tau != other.tau).any():
            return
        assert np.allclose(counted.both, literal.both, atol=1e-12)
        total = np.abs(literal.v).sum() if signed else literal.both.sum()
        assert np.isclose(total, 1.0)
        assert np.array_equal(counted.n, np.round(counted.n))


def test_the_literal_recursion_slips_by_an_ulp() -> None:
    slipped = 0
    for seed in range(30):
        literal = MPRIL(2, 6, eta=0.1, signed=False, literal=True)
        for x, lo, hi, _ in draw(seed, 2, 6, rounds=150):
            literal.round(x / max(1.0, np.abs(x).max()), lo, hi)
            slipped += not ordered(literal.b)
    assert slipped > 0


@few
@given(seeds, sizes, st.integers(-5, 5), st.booleans())
def test_shifting_all_classes_changes_nothing(seed: int, size: tuple[int, int], shift: int, add: bool) -> None:
    low = 1 + shift
    here = PRIL(*size) if add else MPRIL(*size, eta=0.2)
    there = PRIL(*size) if add else MPRIL(*size, eta=0.2)
    moved = draw(seed, *size, low=low)
    for (x, lo, hi, _), (_, lo_there, hi_there, _) in zip(draw(seed, *size), moved, strict=True):
        x = x / max(1.0, np.abs(x).max())
        one, other = here.round(x, lo, hi), there.round(x, lo_there - shift, hi_there - shift)
        assert low + one.prediction == low + other.prediction
    assert (here.w == there.w).all()


@few
@given(seeds, st.integers(1, 3), st.integers(4, 7), st.booleans(), st.sampled_from(["unit", "sqrt", "signed"]))
def test_a_class_that_never_occurs(seed: int, d: int, K: int, weighted: bool, kind: str) -> None:
    """Its two thresholds stay equal while no interval begins or ends at it; so it is never predicted."""
    absent = 2 + seed % (K - 2)
    learner: Any = MPRIL(d, K, eta=0.2) if kind == "signed" else PRIL(d, K, kind)
    for x, lo, hi, weight in draw(seed, d, K, weighted=weighted):
        if absent in (lo, hi):
            continue
        assert learner.round(x / max(1.0, np.abs(x).max()), lo, hi, weight).prediction != absent
        assert learner.b[absent - 2] == learner.b[absent - 1]


def test_an_absent_class_still_counts_in_the_sum() -> None:
    with_it, without = PRIL(1, 3), PRIL(1, 2)
    with_it.round([1.0], 1, 1)
    without.round([1.0], 1, 1)
    assert (with_it.w[0], without.w[0]) == (-2.0, -1.0)


@few
@given(seeds, st.integers(1, 4), st.integers(2, 7))
def test_widrow_hoff_is_near_any_fixed_line(seed: int, d: int, K: int) -> None:
    stream = draw(seed, d, K, exact=True, weighted=True)
    R2 = max(weight * (float(x @ x) + 1) for x, _, _, weight in stream)
    learner = WidrowHoff(d, K, R2)
    suffered = sum(weight * learner.round(x, lo, hi, weight).loss for x, lo, hi, weight in stream)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        u, u0 = rng.normal(size=d), rng.normal() + K / 2
        fixed = sum(weight * (u @ x + u0 - y) ** 2 for x, y, _, weight in stream)
        assert suffered <= 2 * (fixed + R2 * (u @ u + u0**2)) + 1e-9


@few
@given(seeds, st.integers(1, 4), st.integers(2, 7))
def test_the_multiclass_perceptron_stops_when_separable(seed: int, d: int, K: int) -> None:
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(K, d + 1))
    X = np.column_stack([rng.normal(size=(150, d)), np.ones(150)])
    scores = X @ W.T
    top = np.sort(scores, axis=1)
    kept = top[:, -1] - top[:, -2] > 0.05
    X, y, g = X[kept], 1 + scores[kept].argmax(axis=1), (top[:, -1] - top[:, -2])[kept].min(initial=np.inf)
    learner = MulticlassPerceptron(d, K)
    mistakes = sum(learner.round(x[:-1], int(c), int(c)).score <= 0 for x, c in zip(X, y, strict=True))
    assert mistakes <= 2 * (X**2).sum(axis=1).max(initial=0.0) * (W**2).sum() / g**2


@pytest.mark.parametrize("make", [PRank, WidrowHoff, MulticlassPerceptron])
def test_the_baselines_refuse_intervals(make: Any) -> None:
    with pytest.raises(ValueError, match=r"an exact label is needed, got the interval 1\.\.2"):
        make(1, 3).round([1.0], 1, 2)


def test_the_multiplicative_form_refuses_large_features() -> None:
    with pytest.raises(ValueError, match="above 1"):
        MPRIL(1, 3, eta=0.1).round([1.5], 1, 1)
