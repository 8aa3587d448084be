"""List rankers: round by round with the oracle, bounds, subgradients, and solutions for all lists at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hinge
from hinge import ListRanker, metrics, progressive
from list_rankers import LOSSES, Array, ask, each_loss, lists, ranker, stacked, with_weights
from oracle import lists as oracle

few = settings(max_examples=30, deadline=None)
seeds = st.integers(0, 2**32 - 1)
pytestmark = pytest.mark.filterwarnings("ignore::hinge.queries.SkippedListsWarning")


@each_loss
@pytest.mark.parametrize("rule", ["passive-aggressive", "perceptron"])
def test_round_by_round_with_the_oracle(loss: tuple[str, int | None, str], rule: str) -> None:
    for seed in range(3):
        slow, it = oracle.ListLearner(4, rule, ask(loss), C=0.3), ranker(loss, rule=rule, C=0.3)
        for t, (X, y) in enumerate(lists(seed, 40)):
            weight = (1.0, 0.5, 2.0, 0.0)[t % 4]
            hinge_then, error = slow.round(X, y, weight)
            seen = progressive(it, X, y, sample_weight=np.full(len(y), weight)).totals
            assert np.isclose(seen["loss"], hinge_then, rtol=1e-9, atol=1e-10)
            assert np.isclose(seen["error"], error, rtol=0, atol=1e-12)
            assert np.allclose(it.coef_, slow.w, rtol=1e-9, atol=1e-10)
        if rule == "passive-aggressive":
            assert np.isclose(it.certificate_.dual, slow.dual - slow.w @ slow.w / 2, atol=1e-9)


@each_loss
@pytest.mark.parametrize("eta", [0.05, None])
def test_sgd_and_its_average(loss: tuple[str, int | None, str], eta: float | None) -> None:
    """``w <- (1 - 1/t) w + c/(2 lambda t)``, or a constant step; the mean is over the weights before each update.

    A list that asks for nothing is a round of the mean, and no step t.
    """
    how = {"eta": eta} if eta else {"alpha": 0.1}
    it, mean_of = (ranker(loss, rule="sgd", average=a, **how) for a in (False, True))
    w, total, t = np.zeros(4), np.zeros(4), 0
    for rounds, (X, y) in enumerate(lists(5, 30), 1):
        answer = ask(loss)(X @ w, y)
        total += w
        if answer is not None:
            t += 1
            along = X.T @ answer.coefficients * (answer.hinge(X @ w) > 0)
            w = w + eta * along if eta else (1 - 1 / t) * w + along / (2 * 0.1 * t)
        it.partial_fit(X, y)
        mean_of.partial_fit(X, y)
        assert np.allclose(it.coef_, w, rtol=1e-8, atol=1e-10)
        assert np.allclose(mean_of.coef_, total / rounds, rtol=1e-8, atol=1e-10)


def test_mean_ties_do_not_depend_on_the_order_of_rows() -> None:
    """With ties="mean" the hinge is the mean of those against every order that the relevance allows."""
    rng = np.random.default_rng(8)
    X, y, w = rng.normal(size=(6, 3)), np.array([0.0, 2, 0, 1, 0, 2]), 0.1 * rng.normal(size=3)
    for _ in range(20):
        order = rng.permutation(6)
        it = with_weights(ListRanker("ndcg", ties="mean", dtype="float64"), w)
        assert np.isclose(progressive(it, X[order], y[order]).totals["loss"], mean_hinge(X @ w, y), atol=1e-12)
    it = with_weights(ListRanker("ndcg", ties="mean", rule="sgd", eta=1.0, dtype="float64"), w).partial_fit(X, y)
    slopes = [(mean_hinge(X @ (w + h), y) - mean_hinge(X @ (w - h), y)) / 2e-6 for h in 1e-6 * np.eye(3)]
    assert np.allclose(it.coef_, w - slopes, atol=1e-6)


def mean_hinge(s: Array, y: Array) -> float:
    """Average the hinge over all orders of the documents that are equally relevant."""
    from itertools import permutations

    orders = [v for v in permutations(range(1, len(y) + 1)) if (np.diff(y[np.argsort(v)]) >= 0).all()]
    best = oracle.ndcg_hinge_by_permutations(s, y, None) + float(oracle.positions(y) @ s)
    return best - float(np.mean([np.array(v) @ s for v in orders]))


@few
@given(seed=seeds, r=st.integers(2, 6), integers=st.booleans(), loss=st.sampled_from(LOSSES))
def test_surrogate_bounds_loss(seed: int, r: int, integers: bool, loss: tuple[str, int | None, str]) -> None:
    """The hinge of any weights is at least the loss of their order, and is that of the oracle; ties included."""
    rng = np.random.default_rng(seed)
    X, y = np.eye(r), rng.integers(0, 4, size=r)
    s = rng.integers(-2, 3, size=r).astype(float) if integers else rng.normal(size=r)
    it = with_weights(ranker(loss), s)
    seen = progressive(it, X, y).totals
    if ask(loss)(s, y) is None:
        assert seen["loss"] == seen["error"] == 0
        return
    name, k, gain = loss
    if name == "kendall":
        assert np.isclose(seen["error"], metrics.kendall_tau_loss(y, s))
        assert np.isclose(seen["loss"], oracle.kendall(s, y).hinge(s))
    else:
        assert seen["error"] >= metrics.ndcg_loss(y, s, k=k, gain=gain, ignore_ties=True) - 1e-12
        assert np.isclose(seen["loss"], oracle.ndcg_hinge_by_permutations(s, y, k, gain), rtol=1e-10, atol=1e-10)
    assert seen["loss"] >= seen["error"] - 1e-9


@each_loss
def test_coefficients_are_a_subgradient(loss: tuple[str, int | None, str]) -> None:
    """One step of SGD is a step along the finite differences of the hinge."""
    X, y = np.random.default_rng(1).normal(size=(6, 3)), np.array([0.0, 2.0, 1.0, 0.0, 3.0, 0.0])
    for seed in range(4):
        w = 0.3 * np.random.default_rng(seed).normal(size=3)

        def surrogate(v: Array) -> float:
            s = X @ v
            return float(ask(loss)(s, y).hinge(s))

        h = 1e-6
        slopes = [(surrogate(w + h * e) - surrogate(w - h * e)) / (2 * h) for e in np.eye(3)]
        it = with_weights(ranker(loss, rule="sgd", eta=1.0), w).partial_fit(X, y)
        assert np.allclose(it.coef_, w - slopes, atol=1e-6)


@each_loss
def test_certificate_holds_for_any_weights(loss: tuple[str, int | None, str]) -> None:
    """``D <= ||w||^2 / 2 + C sum hinge`` for every w."""
    rounds = list(lists(7, 30))
    it = ranker(loss, C=0.2)
    for X, y in rounds:
        it.partial_fit(X, y)
    dual = it.certificate_.dual
    assert 0 < dual < np.inf
    assert it.certificate_.mistakes <= it.certificate_.mistake_bound
    rng = np.random.default_rng(0)
    for w in [it.coef_, *(scale * rng.normal(size=4) for scale in (0.0, 0.01, 0.1, 1.0))]:
        answers = [(X @ w, ask(loss)(X @ w, y)) for X, y in rounds]
        hinges = [max(0.0, answer.hinge(s)) for s, answer in answers if answer is not None]
        assert dual <= w @ w / 2 + 0.2 * sum(hinges) + 1e-12


def test_perceptron_stops_where_lists_are_separable() -> None:
    """Within ``(R ||w*||)^2`` updates, where w* puts every pair in order by 1 at least (Kendall)."""
    rng = np.random.default_rng(3)
    star = rng.normal(size=5)
    rounds = []
    for _ in range(40):
        X = rng.normal(size=(5, 5))
        y = np.argsort(np.argsort(X @ star))
        gap = np.diff(np.sort(X @ star)).min()
        rounds.append((X / max(gap, 1e-3) if gap >= 1e-3 else np.zeros((5, 5)), y if gap >= 1e-3 else np.zeros(5)))
    it, moves = ListRanker(rule="perceptron", dtype="float64"), 0
    for _ in range(3000):
        wrong = 0
        for X, y in rounds:
            wrong += progressive(it, X, y).totals["error"] > 0
        moves += wrong
        if not wrong:
            break
    radius = max(np.linalg.norm(X[i] - X[j]) for X, _ in rounds for i in range(5) for j in range(5))
    assert wrong == 0
    assert moves <= (radius * np.linalg.norm(star)) ** 2


class Permutations:
    """NDCG@2 as an oracle in Python, by all permutations; the relevance of documents is their position."""

    def features(self, x: Array, y: tuple[int, ...]) -> Array:
        return np.asarray(x).T @ np.asarray(y, dtype=float)

    def delta(self, y_pred: tuple[int, ...], y: tuple[int, ...]) -> float:
        return oracle.ndcg_loss(np.asarray(y_pred), np.asarray(y), 2)

    def argmax(self, w: Array, x: Array, y: tuple[int, ...] | None = None) -> tuple[int, ...]:
        from itertools import permutations

        def value(v: tuple[int, ...]) -> float:
            return float(w @ self.features(x, v)) + (0.0 if y is None else self.delta(v, y))

        return max(permutations(range(1, len(x) + 1)), key=value)


@pytest.mark.parametrize("rule", ["passive-aggressive", "sgd", "svm"])
def test_it_is_what_the_seam_makes_of_an_oracle_in_python(rule: str) -> None:
    rng = np.random.default_rng(2)
    X = [rng.normal(size=(4, 3)) for _ in range(15)]
    X[0] = X[0][:2]  # no argmax ties at w = 0
    y = [tuple(int(p) for p in rng.permutation(len(x)) + 1) for x in X]
    more = {"rule": rule, "dtype": "float64", "C": 0.1, **({"eta": 0.02} if rule == "sgd" else {})}
    slow = hinge.StructuredClassifier(Permutations(), **more).fit(X, y)
    qid = np.repeat(np.arange(15), [len(x) for x in X])
    fast = ListRanker("ndcg", 2, **more).fit(np.concatenate(X), np.concatenate(y), qid=qid)
    assert np.allclose(fast.coef_, slow.coef_, rtol=1e-3 if rule == "svm" else 1e-9, atol=1e-4 if rule == "svm" else 0)
    if rule == "svm":
        assert fast.objective_ == pytest.approx(slow.objective_, rel=2e-4)


# --- all lists at once ------------------------------------------------------------------------------------------------


def objective(loss: tuple[str, int | None, str], w: Array, stream: tuple[Array, Array, Array], C: float) -> float:
    X, y, qid = stream
    answers = [(X[qid == q] @ w, ask(loss)(X[qid == q] @ w, y[qid == q])) for q in np.unique(qid)]
    return float(w @ w / 2 + C * sum(max(0.0, answer.hinge(s)) for s, answer in answers if answer is not None))


@each_loss
def test_svm_reaches_its_gap(loss: tuple[str, int | None, str]) -> None:
    """The objective is the oracle's, no weights tried do better, and the dual is a bound for any."""
    stream = X, y, qid = stacked(3, 20)
    it = ranker(loss, rule="svm", C=0.05).fit(X, y, qid=qid)
    reached = objective(loss, it.coef_, stream, 0.05)
    assert it.objective_ * 0.05 * 20 == pytest.approx(reached, rel=1e-9)
    assert it.certificate_.dual == pytest.approx(reached, rel=2e-4)
    rng = np.random.default_rng(0)
    for scale in 10.0 ** rng.uniform(-5, 0, size=100):
        assert objective(loss, it.coef_ + scale * rng.normal(size=4), stream, 0.05) >= it.certificate_.dual - 1e-12
    assert it.gap_ <= 1e-4 * it.objective_
    assert not hasattr(it, "partial_fit")
    alpha = ranker(loss, rule="svm", alpha=1 / (2 * 0.05 * 20)).fit(X, y, qid=qid)
    assert np.allclose(alpha.coef_, it.coef_, rtol=1e-9)


def test_erm_orders_every_pair_or_says_why_not() -> None:
    rng = np.random.default_rng(0)
    X, w, qid = rng.normal(size=(40, 4)), rng.normal(size=4), np.repeat(np.arange(4), 10)
    y = np.digitize(X @ w, [-1, 0, 1])
    it = ListRanker(rule="erm", dtype="float64").fit(X, y, qid=qid)
    assert metrics.kendall_tau_loss(y, it.predict(X), qid=qid) == 0
    assert np.abs(it.coef_).max() <= 1 + 1e-9
    with pytest.raises(ValueError, match="not realisable"):
        ListRanker(rule="erm").fit(rng.normal(size=(40, 4)), y, qid=qid)
