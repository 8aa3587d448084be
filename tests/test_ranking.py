"""List rankers: round by round with the oracle, bounds, subgradients, and the contract of lists."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import GridSearchCV, GroupKFold

import hinge
from hinge import ListRanker, metrics, progressive
from hinge.queries import SkippedListsWarning, reported_once
from oracle import lists as oracle

Array = np.ndarray[Any, np.dtype[Any]]
LOSSES = [("kendall", None, "linear"), ("ndcg", None, "linear"), ("ndcg", 3, "linear"), ("ndcg", 2, "exponential")]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=str)
few = settings(max_examples=30, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def ask(loss: tuple[str, int | None, str]) -> Any:
    """The oracle's answer to a list, as a function of scores and relevance."""
    name, k, gain = loss

    def answer(s: Array, y: Array, plain: bool = False) -> oracle.Answer | None:
        if name == "kendall":
            return oracle.kendall(s, y, plain) if oracle.comparable(y) else None
        return oracle.ndcg(s, y, k, gain, plain) if len(y) > 1 and y.any() else None

    return answer


def ranker(loss: tuple[str, int | None, str], **more: Any) -> ListRanker:
    name, k, gain = loss
    return ListRanker(name, k, gain=gain, **{"dtype": "float64", **more})


def lists(seed: int, count: int, n: int = 4, longest: int = 8) -> Iterator[tuple[Array, Array]]:
    """Lists of random lengths; the first has two documents, so that no argmax ties at w = 0."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    for t in range(count):
        r = int(rng.integers(1, longest + 1)) if t else 2
        X = rng.normal(size=(r, n)) * (rng.random((r, n)) < 0.8)
        y = np.clip(np.round(X @ hidden + rng.normal(size=r)), 0, 3) if t else np.array([1.0, 0.0])
        yield X + 1e-3 * rng.normal(size=(r, n)), y


def stacked(seed: int, count: int, **more: int) -> tuple[Array, Array, Array]:
    pairs = list(lists(seed, count, **more))
    qid = np.repeat(np.arange(count), [len(y) for _, y in pairs])
    return np.concatenate([X for X, _ in pairs]), np.concatenate([y for _, y in pairs]), qid


@pytest.fixture(autouse=True)
def _lists_may_be_skipped() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkippedListsWarning)
        yield


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


def with_weights(it: ListRanker, w: Array) -> ListRanker:
    """Give a ranker these weights, through its state."""
    it.partial_fit(np.zeros((1, len(w))), [0])
    state = it.__getstate__()
    state["sections"]["weights"] = np.asarray(w, dtype=it.dtype).reshape(-1, 1)
    it.__setstate__(state)
    assert it.coef_.tolist() == np.asarray(w).tolist()
    return it


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


# --- lists --------------------------------------------------------------------------------------------------------


@each_loss
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_chunks_of_whole_lists_give_the_same_bits(loss: tuple[str, int | None, str], dtype: str) -> None:
    X, y, qid = stacked(11, 24)
    whole = ranker(loss, dtype=dtype).partial_fit(X, y, qid=qid)
    parts, one = ranker(loss, dtype=dtype), ranker(loss, dtype=dtype)
    for a in range(0, 24, 5):
        rows = (qid >= a) & (qid < a + 5)
        parts.partial_fit(sparse.csr_matrix(X[rows]), y[rows], qid=[f"q{q}" for q in qid[rows]])
    for q in range(24):
        one.partial_fit(X[qid == q], y[qid == q])
    assert whole.coef_.tobytes() == parts.coef_.tobytes() == one.coef_.tobytes()
    assert whole.t_ == parts.t_ == one.t_ == 24
    assert whole.skipped_ == parts.skipped_ == one.skipped_ > 0


def test_a_query_spread_over_two_calls_is_two_lists() -> None:
    X, y = np.eye(4), np.array([2, 0, 1, 0])
    it = ListRanker().partial_fit(X[:2], y[:2], qid=[7, 7]).partial_fit(X[2:], y[2:], qid=[7, 7])
    assert it.t_ == 2
    assert it.coef_.tolist() != ListRanker().partial_fit(X, y, qid=[7] * 4).coef_.tolist()


def test_rows_of_a_list_need_not_be_neighbours() -> None:
    X, y, qid = stacked(12, 20)
    mixed = np.random.default_rng(0).permutation(len(y))
    order = np.argsort([list(dict.fromkeys(qid[mixed])).index(q) for q in qid[mixed]], kind="stable")
    expected = ListRanker(max_iter=2).fit(X[mixed][order], y[mixed][order], qid=qid[mixed][order])
    it = ListRanker(max_iter=2).fit(X[mixed], y[mixed], qid=qid[mixed])
    assert it.coef_.tobytes() == expected.coef_.tobytes()
    assert it.score(X[mixed], y[mixed], qid=qid[mixed]) == pytest.approx(it.score(X, y, qid=qid))
    places = it.rank(X[mixed], qid=qid[mixed])
    for q in range(20):
        assert sorted(places[qid[mixed] == q]) == list(range(1, (qid == q).sum() + 1))


@pytest.mark.parametrize(
    "qid",
    [
        [(0, 1), (0, 1), (1, 1), (1, 1)],
        ["1", "1", 1, 1],
        [True, True, False, False],
        [b"x", b"x", b"y", b"y"],
        [[5], [5], [2], [2]],
        pd.Categorical(["b", "b", "a", "a"]),
        pd.Series([0.5, 0.5, 0.25, 0.25], index=[3, 2, 1, 0]),
        pd.to_datetime(["2026-01-02", "2026-01-02", "2026-01-01", "2026-01-01"]),
    ],
    ids=str,
)
def test_a_list_is_named_by_anything(qid: Any) -> None:
    X, y = np.eye(4), [2, 0, 1, 0]
    it, expected = (ListRanker().fit(X, y, qid=names) for names in (qid, [0, 0, 1, 1]))
    assert it.t_ == 2
    assert it.coef_.tobytes() == expected.coef_.tobytes()
    assert it.rank(X, qid=qid).tolist() == [1, 2, 1, 2]
    assert it.score(X, [0, 2, 1, 0], qid=qid) == expected.score(X, [0, 2, 1, 0], qid=[0, 0, 1, 1]) < 1


def test_shuffle_takes_lists_whole() -> None:
    X, y, qid = stacked(13, 15)
    a, b = (ListRanker(max_iter=3, shuffle=True, random_state=4, dtype="float64") for _ in range(2))
    assert a.fit(X, y, qid=qid).coef_.tobytes() == b.fit(X, y, qid=qid).coef_.tobytes()
    by_hand, rng = ListRanker(dtype="float64"), np.random.RandomState(4)
    for _ in range(3):
        for q in rng.permutation(15):
            by_hand.partial_fit(X[qid == q], y[qid == q])
    assert by_hand.coef_.tobytes() == a.coef_.tobytes()


def test_without_qid_all_rows_are_one_list() -> None:
    X, y, _ = stacked(14, 5)
    it = ListRanker().fit(X, y)
    assert it.t_ == 1
    assert it.coef_.tobytes() == ListRanker().fit(X, y, qid=np.zeros(len(y))).coef_.tobytes()
    assert it.coef_.shape == (4,)
    assert it.decision_function(X).shape == it.predict(X).shape == y.shape
    assert not hasattr(it, "intercept_")


def test_lists_that_ask_for_nothing_are_counted_and_reported_once() -> None:
    X, y, qid = np.eye(8), np.array([1, 0, 2, 2, 0, 3, 0, 0]), np.array([0, 0, 1, 1, 2, 3, 4, 4])
    for it in (ListRanker(max_iter=4), ListRanker("ndcg", ties="mean", max_iter=4)):
        with pytest.warns(SkippedListsWarning, match="4 lists ask for nothing.*differ in relevance") as seen:
            it.fit(X, y, qid=qid)
        assert len(seen) == 1
        assert (it.skipped_, it.t_) == (16, 20)
        assert not it.coef_[2:].any()
        with pytest.warns(SkippedListsWarning, match="1 list asks"):
            it.partial_fit(X[:1], [1])
        assert it.skipped_ == 17


def test_lists_of_many_calls_are_reported_once() -> None:
    it, X = ListRanker(), np.eye(2)

    def learn() -> None:
        with reported_once(it, passes=2):
            for y in ([1, 1], [1, 0], [2, 2]) * 4:
                it.partial_fit(X, y)

    with pytest.warns(SkippedListsWarning, match="4 lists ask for nothing") as seen:
        learn()
    assert len(seen) == 1
    assert it.skipped_ == 8
    with pytest.warns(SkippedListsWarning, match="1 list asks"):
        it.partial_fit(X, [1, 1])
    with warnings.catch_warnings(), reported_once(it):
        warnings.simplefilter("error")
        it.partial_fit(X, [1, 0])
    with reported_once(object()):  # whatever learns no lists has nothing to report
        pass


def test_ndcg_orders_documents_that_are_equally_relevant_by_index() -> None:
    """Only where none is relevant (G = 0), or where one is alone, does the book's form ask for nothing."""
    X, y, qid = np.eye(8), np.array([1, 0, 2, 2, 0, 3, 0, 0]), np.array([0, 0, 1, 1, 2, 3, 4, 4])
    with pytest.warns(SkippedListsWarning, match="3 lists ask for nothing.*and a relevant one"):
        it = ListRanker("ndcg").fit(X, y, qid=qid)
    assert it.skipped_ == 3
    assert not it.coef_[4:].any()
    report = progressive(with_weights(ListRanker("ndcg", dtype="float64"), np.array([1.0, 3.0])), np.eye(2), [2, 2])
    assert report.totals["loss"] == 2.0  # the first is to stand above
    assert report.totals["error"] == 0.0
    mean = progressive(with_weights(ListRanker("ndcg", ties="mean"), np.array([1.0, 3.0])), np.eye(2), [2, 2])
    assert mean.totals["loss"] == 0.0


@pytest.mark.parametrize(
    ("y", "qid", "message"),
    [
        ([1, 0, -1], None, r"-1 in row 2.*not negative"),
        ([1, 0, np.nan], None, "NaN in row 2"),
        ([1, 0, np.inf], None, "infinity in row 2"),
        ([1, 0], None, "inconsistent"),
        ([1, 0, 2], [1, 1], "qid must name the list of each of the 3 rows"),
        ([1, 0, 2], [1, 1, np.nan], "row 2 of qid"),
        ([1, 0, 2], ["a", None, "b"], "row 1 of qid is None"),
        ([1, 0, 2], ["a", "b", np.nan], "row 2 of qid is nan"),
        ([1, 0, 2], np.array(["2026-01-01", "NaT", "NaT"], dtype="datetime64[D]"), "row 1 of qid is NaT"),
        ([1, 0, 2], pd.array(["a", "b", None], dtype="string"), "row 2 of qid is <NA>"),
        (["a", "b", "c"], None, "numbers"),
    ],
)
def test_bad_input_is_named_and_nothing_is_learned(y: Any, qid: Any, message: str) -> None:
    it = ListRanker().fit(np.eye(3), [2, 1, 0])
    before = it.coef_
    for call in (it.fit, it.partial_fit):
        with pytest.raises(ValueError, match=message):
            call(np.eye(3), y, qid=qid)
        assert it.coef_.tobytes() == before.tobytes()
        assert it.t_ == 1


def test_bad_parameters() -> None:
    X, y = np.eye(3), [2, 1, 0]
    for k in (0, -1, 1.5):
        with pytest.raises(ValueError, match="'k' parameter of ListRanker"):
            ListRanker("ndcg", k=k).fit(X, y)
    with pytest.raises(ValueError, match=r"row 0.*below 1000"):
        ListRanker("ndcg", gain="exponential").fit(X, [1001, 0, 0])
    with pytest.raises(ValueError, match="eta is part of how SGD began"):
        ListRanker(rule="sgd").fit(X, y).set_params(eta=0.1).partial_fit(X, y)
    with pytest.raises(ValueError, match="exclude each other"):
        ListRanker(rule="sgd", eta=0.1, alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match="gain was 'linear'"):
        ListRanker("ndcg").fit(X, y).set_params(gain="exponential").partial_fit(X, y)


def test_weights_one_a_list_or_one_a_row() -> None:
    X, y, qid = stacked(15, 12)
    by_list = np.arange(12) % 3 / 2
    a = ListRanker(C=0.1).fit(X, y, qid=qid, sample_weight=by_list)
    b = ListRanker(C=0.1).fit(X, y, qid=qid, sample_weight=by_list[qid])
    assert a.coef_.tobytes() == b.coef_.tobytes()
    doubled = [ListRanker(C=c).fit(X[qid == 1], y[qid == 1], sample_weight=w) for c, w in ((0.02, None), (0.01, [2.0]))]
    assert doubled[0].coef_.tobytes() == doubled[1].coef_.tobytes()
    with pytest.raises(ValueError, match="all sample weights are zero"):
        ListRanker().fit(X, y, qid=qid, sample_weight=np.zeros(12))
    assert a.score(X, y, qid=qid, sample_weight=by_list) == pytest.approx(
        np.average([a.score(X[qid == q], y[qid == q]) for q in range(12)], weights=by_list)
    )


def test_score_is_ndcg_at_k() -> None:
    X, y, qid = stacked(16, 12)
    for k, gain in ((None, "linear"), (3, "exponential")):
        it = ListRanker("ndcg", k, gain=gain).fit(X, y, qid=qid)
        assert it.score(X, y, qid=qid) == metrics.ndcg_score(y, it.decision_function(X), k=k, gain=gain, qid=qid)


def test_grid_search_keeps_lists_whole() -> None:
    X, y, qid = stacked(17, 30)
    with sklearn.config_context(enable_metadata_routing=True):
        it = ListRanker(max_iter=3).set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(it, {"C": [0.01, 1.0], "loss": ["kendall", "ndcg"]}, cv=GroupKFold(3))
        search.fit(X, y, qid=qid, groups=qid)
        means = search.cv_results_["mean_test_score"]
        by_hand = []
        for train, test in GroupKFold(3).split(X, y, qid):
            fitted = ListRanker(max_iter=3, **search.best_params_).fit(X[train], y[train], qid=qid[train])
            by_hand.append(fitted.score(X[test], y[test], qid=qid[test]))
        assert means.max() == pytest.approx(np.mean(by_hand))
        assert search.score(X, y, qid=qid) == search.best_estimator_.score(X, y, qid=qid)


# --- dicts, files, evaluation ---------------------------------------------------------------------------------------


def as_dicts(X: Array) -> list[dict[str, float]]:
    return [{f"f{j}": float(v) for j, v in enumerate(x)} for x in X]


def test_dicts_are_learned_as_rows_are() -> None:
    X, y, qid = stacked(18, 12)
    rows = ListRanker(dtype="float64").partial_fit(X, y, qid=qid)
    dicts = ListRanker(dtype="float64").partial_fit(as_dicts(X), y, qid=qid)
    singly = ListRanker(dtype="float64")
    assert singly.predict_one({"f0": 1.0}) is None
    for q in range(12):
        assert singly.learn_one(as_dicts(X[qid == q]), y[qid == q].tolist()) is None
    assert rows.coef_.tobytes() == dicts.coef_.tobytes() == singly.coef_.tobytes()
    assert dicts.feature_names_in_.tolist() == ["f0", "f1", "f2", "f3"]
    assert dicts.predict_one(as_dicts(X)[0]) == rows.predict(X)[0]
    assert dicts.predict_one(as_dicts(X)) == rows.predict(X).tolist()
    assert np.allclose(dicts.predict([{"f1": 2.0, "never seen": 3.0}]), 2 * dicts.coef_[1])
    singly.learn_one({"f0": 1.0}, 2)
    assert singly.t_ == 13
    with pytest.raises(ValueError, match="qid"):
        dicts.partial_fit(as_dicts(X), y, qid=[1])
    hashed = ListRanker(features="hashed", n_bits=6).fit(as_dicts(X), y, qid=qid)
    assert hashed.coef_.shape == (64,)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([], [], "no document"),
        (3, 1, "list of dicts.*got int"),
        ("doc", [1], "list of dicts.*got str"),
        ([3], [1], "dict of feature name"),
        ([{"a": 1.0}, 5], [1, 0], "row 1 of X is int"),
        ([{"a": 1.0}, {"b": np.nan}], [1, 0], "row 1 of X: feature 'b' is nan"),
        ([{"a": 1.0}, {"b": 1.0}], [1], "inconsistent"),
        ([{"a": 1.0}, {"b": 1.0}], 1, "1d array"),
        ([{"a": 1.0}, {"b": 1.0}], [1, -1], "-1 in row 1"),
    ],
)
def test_a_bad_list_of_dicts_is_named_and_nothing_is_learned(x: Any, y: Any, message: str, tmp_path: Any) -> None:
    it = ListRanker()
    it.learn_one([{"a": 1.0}, {"c": 2.0}], [1, 0])
    it.save(tmp_path / "before")
    with pytest.raises((TypeError, ValueError), match=message):
        it.learn_one(x, y)
    it.save(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()


def test_a_solved_model_is_saved(tmp_path: Any) -> None:
    X, y, qid = stacked(21, 10)
    it = ListRanker(rule="svm").fit(X, y, qid=qid)
    it.save(tmp_path / "model")
    copy = hinge.load(tmp_path / "model")
    assert (copy.gap_, copy.t_, copy.certificate_) == (it.gap_, it.t_, it.certificate_)
    assert copy.coef_.tobytes() == it.coef_.tobytes()


def test_saved_and_pickled_it_goes_on(tmp_path: Any) -> None:
    X, y, qid = stacked(19, 16)
    first, then = qid < 8, qid >= 8
    for it in (
        ListRanker("ndcg", 3, average=True),
        ListRanker(rule="sgd", average=True),
        ListRanker(rule="perceptron"),
    ):
        it.partial_fit(X[first], y[first], qid=qid[first])
        it.save(tmp_path / "model")
        copies = [hinge.load(tmp_path / "model"), pickle.loads(pickle.dumps(it)), it.snapshot()]
        it.partial_fit(X[then], y[then], qid=qid[then])
        for copy in copies:
            assert copy.coef_.tobytes() != it.coef_.tobytes()
            copy.partial_fit(X[then], y[then], qid=qid[then])
            assert copy.coef_.tobytes() == it.coef_.tobytes()
            assert (copy.t_, copy.skipped_) == (it.t_, it.skipped_)


def test_progressive_is_by_list() -> None:
    X, y, qid = stacked(20, 20)
    it, other = ListRanker(), ListRanker()
    report = progressive(it, X, y, qid=qid, metrics=["kendall_tau_loss", "ndcg_score"], every=1)
    assert report.curve["round"].tolist() == list(range(1, 21))
    for q in range(20):
        rows = qid == q
        if q:
            assert report.curve["ndcg_score"][q] == metrics.ndcg_score(y[rows], other.predict(X[rows]))
            assert report.curve["error"][q] == pytest.approx(report.curve["kendall_tau_loss"][q])
        other.partial_fit(X[rows], y[rows])
    assert it.coef_.tobytes() == other.coef_.tobytes()
