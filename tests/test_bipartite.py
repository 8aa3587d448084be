"""Bipartite rankers: round by round with the oracle, bounds, subgradients, thresholds, and the contract of batches."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, GroupKFold, TunedThresholdClassifierCV
from sklearn.utils.estimator_checks import check_classifier_data_not_an_array, check_sample_weights_not_an_array

import hinge
from hinge import BipartiteRanker, metrics, progressive
from hinge.queries import SkippedListsWarning
from oracle import lists as oracle

Array = np.ndarray[Any, np.dtype[Any]]
MEASURES = ["f1", "fbeta", "sensitivity_specificity", "recall_at_k", "precision_at_k"]
each_measure = pytest.mark.parametrize("measure", MEASURES)
few = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def known_as(measure: str) -> str:
    return "fbeta" if measure == "f1" else measure


def beta_of(measure: str) -> float:
    return 2.0 if measure == "fbeta" else 1.0


def ask(measure: str, k: int) -> Any:
    """The oracle's answer to a batch, as a function of scores and labels."""

    def answer(s: Array, y: Array, plain: bool = False) -> oracle.Answer | None:
        if len(y) < 2 or not (y > 0).any():
            return None
        return oracle.bipartite(known_as(measure), s, y, k, beta_of(measure), plain)

    return answer


def finder(measure: str, k: int = 2, **more: Any) -> BipartiteRanker:
    return BipartiteRanker(measure, beta=2.0, k=k, **{"dtype": "float64", "fit_intercept": False, **more})


def batches(seed: int, count: int, n: int = 4, longest: int = 12) -> Iterator[tuple[Array, Array]]:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    for _ in range(count):
        r = int(rng.integers(1, longest + 1))
        X = rng.normal(size=(r, n))
        yield X, (X @ hidden + rng.normal(size=r) > 0.7).astype(int)


def stacked(seed: int, count: int) -> tuple[Array, Array, Array]:
    pairs = list(batches(seed, count))
    qid = np.repeat(np.arange(count), [len(y) for _, y in pairs])
    return np.concatenate([X for X, _ in pairs]), np.concatenate([y for _, y in pairs]), qid


@pytest.fixture(autouse=True)
def _batches_may_be_skipped() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkippedListsWarning)
        yield


def with_weights(it: BipartiteRanker, w: Array) -> BipartiteRanker:
    """Give a ranker these weights, through its state."""
    it.partial_fit(np.zeros((1, len(w))), [0], classes=[0, 1])
    state = it.__getstate__()
    state["sections"]["weights"] = np.asarray(w, dtype=it.dtype).reshape(-1, 1)
    it.__setstate__(state)
    return it


@each_measure
@pytest.mark.parametrize("rule", ["passive-aggressive", "perceptron"])
@pytest.mark.parametrize("k", [1, 3])
def test_round_by_round_with_the_oracle(measure: str, rule: str, k: int) -> None:
    slow, it = oracle.ListLearner(4, rule, ask(measure, k), C=0.3), finder(measure, k, rule=rule, C=0.3)
    for t, (X, y) in enumerate(batches(k, 60)):
        weight = (1.0, 0.5, 2.0, 0.0)[t % 4]
        loss, error = slow.round(X, y, weight)
        seen = progressive(it, X, y, classes=[0, 1], sample_weight=np.full(len(y), weight)).totals
        assert np.isclose(seen["loss"], loss, rtol=1e-9, atol=1e-10)
        assert np.isclose(seen["error"], error, rtol=0, atol=1e-12)
        assert np.allclose(it.coef_, slow.w, rtol=1e-9, atol=1e-10)
    if rule == "passive-aggressive":
        assert np.isclose(it.certificate_.dual, slow.dual - slow.w @ slow.w / 2, atol=1e-9)
        assert it.certificate_.mistakes <= it.certificate_.mistake_bound


@few
@given(
    seed=seeds, r=st.integers(2, 9), k=st.integers(1, 10), kind=st.integers(0, 2), measure=st.sampled_from(MEASURES),
    share=st.floats(0.1, 0.9),
)  # fmt: skip
def test_surrogate_bounds_loss(seed: int, r: int, k: int, kind: int, measure: str, share: float) -> None:
    """Also where the truth breaks the measure's constraint: P > k for recall at k, P < k for precision at k."""
    rng = np.random.default_rng(seed)
    y = (rng.random(r) < share).astype(int)
    s = (rng.integers(-2, 3, size=r) / 4, rng.normal(size=r), np.zeros(r))[kind]
    it = with_weights(finder(measure, k), s)
    predicted = 2 * it.predict(np.eye(r)) - 1
    assert predicted.tolist() == oracle.predicted(known_as(measure), s, k).tolist()
    score = it.score(np.eye(r), y)
    assert score == pytest.approx(1 - oracle.delta(known_as(measure), predicted, y, beta_of(measure)))
    seen = progressive(it, np.eye(r), y).totals
    if not y.any():
        assert seen["loss"] == seen["error"] == 0
        return
    assert seen["error"] >= 1 - score - 1e-12
    assert seen["loss"] >= seen["error"] - 1e-9
    name, linear = known_as(measure), oracle.nearest_allowed(known_as(measure), y, k) @ s
    highest = oracle.multivariate_by_sign_vectors(name, s, y, k, beta_of(measure)) - linear
    assert np.isclose(seen["loss"], highest, rtol=1e-10, atol=1e-10)


def test_without_the_nearest_allowed_vector_the_bound_would_fail() -> None:
    s, y = np.array([3.0, 2.0, 1.0]), np.array([1, 1, 1])
    best = oracle.multivariate_by_sign_vectors("recall_at_k", s, y, 1)
    naive = best - float(np.where(y > 0, 1, -1) @ s)
    loss = oracle.delta("recall_at_k", oracle.predicted("recall_at_k", s, 1), y)
    assert naive < loss
    assert best - oracle.nearest_allowed("recall_at_k", y, 1) @ s >= loss


@each_measure
def test_coefficients_are_a_subgradient(measure: str) -> None:
    """One step of SGD is a step along the finite differences of the hinge."""
    X, y = np.random.default_rng(1).normal(size=(9, 3)), np.array([0, 1, 0, 0, 1, 1, 0, 1, 0])
    for seed in range(4):
        w = 0.2 * np.random.default_rng(seed).normal(size=3)

        def surrogate(v: Array) -> float:
            s = X @ v
            return float(ask(measure, 3)(s, y).hinge(s))

        h = 1e-7
        slopes = [(surrogate(w + h * e) - surrogate(w - h * e)) / (2 * h) for e in np.eye(3)]
        it = with_weights(finder(measure, 3, rule="sgd", eta=1.0), w).partial_fit(X, y)
        assert np.allclose(it.coef_, w - slopes, atol=1e-5)


@each_measure
def test_certificate_holds_for_any_weights(measure: str) -> None:
    """``D <= ||w||^2 / 2 + C sum hinge`` for every w."""
    rounds = list(batches(7, 40))
    it = finder(measure, C=0.2)
    for X, y in rounds:
        it.partial_fit(X, y, classes=[0, 1])
    rng = np.random.default_rng(0)
    for w in [it.coef_, *(scale * rng.normal(size=4) for scale in (0.0, 0.01, 0.1, 1.0))]:
        answers = [(X @ w, ask(measure, 2)(X @ w, y)) for X, y in rounds]
        hinges = [max(0.0, answer.hinge(s)) for s, answer in answers if answer is not None]
        assert 0 < it.certificate_.dual <= w @ w / 2 + 0.2 * sum(hinges) + 1e-12


@each_measure
def test_a_separable_batch_is_learned(measure: str) -> None:
    X = np.random.default_rng(0).normal(size=(200, 5))
    y = np.where(X[:, 0] + X[:, 1] > 1.2, "yes", "no")
    it = BipartiteRanker(measure, k=int((y == "yes").sum()), max_iter=500, dtype="float64").fit(X, y)
    assert it.classes_.tolist() == ["no", "yes"]
    assert it.score(X, y) > 0.9


class SignVectors:
    """A measure as an oracle in Python, by the book's listing."""

    def __init__(self, measure: str) -> None:
        self.measure = measure

    def features(self, x: Array, y: tuple[int, ...]) -> Array:
        return np.asarray(x).T @ np.asarray(y, dtype=float)

    def delta(self, y_pred: tuple[int, ...], y: tuple[int, ...]) -> float:
        return oracle.delta(known_as(self.measure), np.asarray(y_pred), np.asarray(y), beta_of(self.measure))

    def argmax(self, w: Array, x: Array, y: tuple[int, ...] | None = None) -> tuple[int, ...]:
        s = np.asarray(x) @ w
        if y is None:
            v = oracle.predicted(known_as(self.measure), s, 2)
        else:
            v = oracle.multivariate(known_as(self.measure), s, np.asarray(y), 2, beta_of(self.measure))
        return tuple(int(sign) for sign in v)


@pytest.mark.parametrize("measure", ["f1", "fbeta", "sensitivity_specificity"])
@pytest.mark.parametrize("rule", ["passive-aggressive", "sgd", "svm"])
def test_it_is_what_the_seam_makes_of_an_oracle_in_python(measure: str, rule: str) -> None:
    rounds = [(X, y) for X, y in batches(5, 20) if len(y) > 1 and y.any()]
    more = {"rule": rule, "C": 0.1, "dtype": "float64", **({"eta": 0.02} if rule == "sgd" else {})}
    signs = [tuple((2 * y - 1).tolist()) for _, y in rounds]
    slow = hinge.StructuredClassifier(SignVectors(measure), **more).fit([X for X, _ in rounds], signs)
    qid = np.repeat(np.arange(len(rounds)), [len(y) for _, y in rounds])
    X, y = np.concatenate([X for X, _ in rounds]), np.concatenate([y for _, y in rounds])
    fast = BipartiteRanker(measure, beta=2.0, fit_intercept=False, **more).fit(X, y, qid=qid)
    assert np.allclose(fast.coef_, slow.coef_, rtol=1e-3 if rule == "svm" else 1e-9, atol=1e-4 if rule == "svm" else 0)
    if rule == "svm":
        assert fast.objective_ == pytest.approx(slow.objective_, rel=2e-4)


@each_measure
def test_svm_reaches_its_gap(measure: str) -> None:
    """The objective is the oracle's, and the dual is a bound for any weights."""
    X, y, qid = stacked(3, 20)

    def objective(w: Array) -> float:
        answers = [(X[qid == q] @ w, ask(measure, 2)(X[qid == q] @ w, y[qid == q])) for q in range(20)]
        return float(w @ w / 2 + 0.05 * sum(max(0.0, answer.hinge(s)) for s, answer in answers if answer is not None))

    it = finder(measure, rule="svm", C=0.05).fit(X, y, qid=qid)
    assert it.objective_ * 0.05 * 20 == pytest.approx(objective(it.coef_), rel=1e-9)
    rng = np.random.default_rng(0)
    for scale in 10.0 ** rng.uniform(-5, 0, size=100):
        assert objective(it.coef_ + scale * rng.normal(size=4)) >= it.certificate_.dual - 1e-12
    assert it.gap_ <= 1e-4 * it.objective_
    assert not hasattr(it, "learn_one")


def test_erm_separates_or_says_why_not() -> None:
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(300, 4)), rng.normal(size=4)
    it = BipartiteRanker(rule="erm", dtype="float64").fit(X, X @ w > 0.3)
    assert it.score(X, X @ w > 0.3) == 1
    with pytest.raises(ValueError, match="not realisable"):
        BipartiteRanker(rule="erm").fit(X, rng.random(300) < 0.5)


# --- batches --------------------------------------------------------------------------------------------------------


@each_measure
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_chunks_of_whole_batches_give_the_same_bits(measure: str, dtype: str) -> None:
    X, y, qid = stacked(11, 24)
    it = finder(measure, dtype=dtype, fit_intercept=True)
    whole = sklearn.clone(it).partial_fit(X, y, classes=[0, 1], qid=qid)
    parts, one = sklearn.clone(it), sklearn.clone(it)
    for a in range(0, 24, 5):
        rows = (qid >= a) & (qid < a + 5)
        parts.partial_fit(sparse.csr_matrix(X[rows]), y[rows], classes=[0, 1], qid=qid[rows].astype(str))
    for q in range(24):
        one.partial_fit(X[qid == q], y[qid == q], classes=[0, 1])
    for other in (parts, one):
        assert whole.coef_.tobytes() == other.coef_.tobytes()
        assert whole.intercept_.tobytes() == other.intercept_.tobytes()
        assert (whole.t_, whole.skipped_) == (other.t_, other.skipped_)
    assert whole.coef_.shape == (4,)
    assert whole.intercept_.shape == (1,)


def test_prediction_is_by_batch() -> None:
    s = np.array([0.5, 0.4, 0.3, 0.2, -0.1, -0.2])
    qid = ["a", "b", "a", "b", "a", "b"]
    for measure, expected in (("f1", [1, 1, 1, 1, 0, 0]), ("recall_at_k", [1, 1, 0, 0, 0, 0])):
        it = with_weights(finder(measure, 1), s)
        assert it.predict(np.eye(6), qid=qid).tolist() == expected
    it = with_weights(finder("precision_at_k", 3), s)
    assert it.predict(np.eye(6), qid=qid).tolist() == [1, 1, 1, 1, 1, 1]
    assert it.predict(np.eye(6)).tolist() == [1, 1, 1, 1, 0, 0]
    y = [1, 0, 0, 1, 1, 0]
    for measure, k in (("recall_at_k", 1), ("precision_at_k", 2), ("f1", 1), ("sensitivity_specificity", 1)):
        it = with_weights(finder(measure, k), s)
        by_batch = [it.score(np.eye(6)[rows], np.array(y)[rows]) for rows in ([0, 2, 4], [1, 3, 5])]
        assert it.score(np.eye(6), y, qid=qid) == pytest.approx(np.mean(by_batch))


def test_score_is_the_measure() -> None:
    X, y = make_classification(300, 6, weights=[0.8], random_state=0)
    for measure in MEASURES:
        it = BipartiteRanker(measure, beta=2.0, k=20, max_iter=20).fit(X, y)
        s, found = it.decision_function(X), it.predict(X)
        expected = {
            "f1": lambda found=found: metrics.f1_score(y, found),
            "fbeta": lambda found=found: metrics.fbeta_score(y, found, beta=2.0),
            "sensitivity_specificity": lambda found=found: metrics.sensitivity_specificity_score(y, found),
            "recall_at_k": lambda s=s: metrics.recall_at_k(y, s, k=20),
            "precision_at_k": lambda s=s: metrics.precision_at_k(y, s, k=20),
        }[measure]()
        assert it.score(X, y) == expected
        assert np.allclose(s, X @ it.coef_ + it.intercept_, atol=1e-4)


@each_measure
def test_a_tuned_threshold_is_the_best(measure: str) -> None:
    X, y = make_classification(300, 6, weights=[0.8], flip_y=0.1, random_state=0)
    for dtype in ("float32", "float64"):
        it = BipartiteRanker(measure, beta=2.0, k=20, threshold="tuned", max_iter=20, dtype=dtype).fit(X, y)
        plain = BipartiteRanker(measure, beta=2.0, k=20, max_iter=20, dtype=dtype).fit(X, y)
        assert it.coef_.tobytes() == plain.coef_.tobytes()
        assert it.score(X, y) >= plain.score(X, y)
        if measure.endswith("at_k"):
            assert it.threshold_ == 0
            assert it.predict(X).sum() == 20
            assert set(plain.decision_function(X)[it.predict(X) == 1]) == set(np.sort(plain.decision_function(X))[-20:])
            continue
        s = plain.decision_function(X)
        assert it.predict(X).tolist() == (it.decision_function(X) > 0).astype(int).tolist()
        assert it.predict(X).tolist() == (s > it.threshold_).astype(int).tolist()
        for cut in [*s, s.max() + 1, s.min() - 1]:
            a, b = int(((s > cut) & (y == 1)).sum()), int(((s > cut) & (y == 0)).sum())
            value = oracle.measure(known_as(measure), a, b, int(y.sum()), int((1 - y).sum()), beta_of(measure))
            assert it.score(X, y) >= value - 1e-12
        copy = pickle.loads(pickle.dumps(it))
        assert copy.threshold_ == it.threshold_
        assert copy.partial_fit(X, y).threshold_ == it.threshold_
        assert it.set_params(threshold="zero").fit(X, y).threshold_ == 0


@pytest.mark.parametrize("check", [check_classifier_data_not_an_array, check_sample_weights_not_an_array])
def test_a_threshold_is_tuned_on_whatever_can_be_fitted(check: Any) -> None:
    check("BipartiteRanker", BipartiteRanker(threshold="tuned"))


@pytest.mark.parametrize(
    ("first", "then", "classes"),
    [
        ([1, 1], [0, 1], [0, 1]),
        ([1, 1], [-1, 1], [-1, 1]),
        ([0, 0], [1, 0], [0, 1]),
        ([-1, -1], [1, -1], [-1, 1]),
        ([True, True], [False, True], [False, True]),
        (["b", "a"], ["a", "a"], ["a", "b"]),
        ([7, 3], [3, 3], [3, 7]),
    ],
)
def test_labels_are_any_two(first: list[Any], then: list[Any], classes: list[Any]) -> None:
    X = np.eye(2)
    it = BipartiteRanker().partial_fit(X, first).partial_fit(X, then)
    assert it.classes_.tolist() == classes
    known = BipartiteRanker().partial_fit(X, first, classes=classes).partial_fit(X, then)
    assert known.coef_.tobytes() == it.coef_.tobytes()
    assert set(it.predict(X).tolist()) <= set(classes)


def test_labels_that_cannot_be() -> None:
    X = np.eye(3)
    with pytest.raises(ValueError, match=r"Only binary.*Row 2 of y"):
        BipartiteRanker().fit(X, [0, 1, 2])
    with pytest.raises(ValueError, match="two classes are needed"):
        BipartiteRanker().fit(X, [1, 1, 1])
    with pytest.raises(ValueError, match="name both with classes"):
        BipartiteRanker().partial_fit(X, ["a", "a", "a"])
    it = BipartiteRanker().fit(X, [0, 1, 1])
    before = it.coef_
    for y in ([0, 1, 2], [-1, 1, 1]):
        with pytest.raises(ValueError, match=r"row \d of y has the label"):
            it.partial_fit(X, y)
    seen = BipartiteRanker().partial_fit(X, [1, 1, 1]).partial_fit(X, [0, 1, 1])
    with pytest.raises(ValueError, match=r"row 0 of y has the label -1; the two labels are \[0, 1\]"):
        seen.partial_fit(X, [-1, 1, 1])
    with pytest.raises(ValueError, match="already"):
        it.partial_fit(X, [0, 1, 1], classes=[1, 2])
    with pytest.raises(ValueError, match="Unknown label type"):
        it.partial_fit(X, np.eye(3, dtype=int))
    with pytest.raises(ValueError, match=r"continuous.*"):
        it.fit(X, [0.5, 1.0, 2.0])
    assert it.coef_.tobytes() == before.tobytes()


def test_bad_parameters() -> None:
    X, y = np.eye(3), [1, 1, 0]
    for name, value in (
        ("k", 0),
        ("beta", 0.0),
        ("beta", -1.0),
        ("beta", 1e200),
        ("measure", "accuracy"),
        ("C", 0),
        ("rule", "none"),
    ):
        with pytest.raises(ValueError, match=f"'{name}' parameter of BipartiteRanker"):
            BipartiteRanker(**{name: value}).fit(X, y)
    with pytest.raises(ValueError, match="qid must name"):
        BipartiteRanker().fit(X, y, qid=[1, 1])
    with pytest.raises(ValueError, match="k was 10"):
        BipartiteRanker("recall_at_k").fit(X, y).set_params(k=3).partial_fit(X, y)


def test_batches_that_ask_for_nothing_are_counted_and_reported_once() -> None:
    X, y, qid = np.eye(6), [1, 0, 0, 0, 1, 0], [0, 0, 1, 1, 2, 3]
    with pytest.warns(SkippedListsWarning, match="3 lists ask for nothing") as seen:
        it = BipartiteRanker(max_iter=4).fit(X, y, qid=qid)
    assert len(seen) == 1
    assert (it.skipped_, it.t_) == (12, 16)
    assert not it.coef_[2:].any()


def test_grid_search_and_thresholds() -> None:
    X, y, qid = stacked(17, 40)
    with sklearn.config_context(enable_metadata_routing=True):
        it = BipartiteRanker(max_iter=3).set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(it, {"C": [0.01, 1.0]}, cv=GroupKFold(3)).fit(X, y, qid=qid, groups=qid)
        assert np.isfinite(search.best_score_)
        assert search.score(X, y, qid=qid) == search.best_estimator_.score(X, y, qid=qid)
    tuned = TunedThresholdClassifierCV(BipartiteRanker(max_iter=50), scoring="f1").fit(X, y)
    assert set(tuned.predict(X).tolist()) == {0, 1}


# --- dicts, files, evaluation ---------------------------------------------------------------------------------------


def test_dicts_are_learned_as_rows_are() -> None:
    X, y, qid = stacked(18, 12)
    dicts = [{f"f{j}": float(v) for j, v in enumerate(x)} for x in X]
    rows = BipartiteRanker(dtype="float64").partial_fit(X, y, classes=[0, 1], qid=qid)
    all_at_once = BipartiteRanker(dtype="float64").partial_fit(dicts, y, classes=[0, 1], qid=qid)
    singly = BipartiteRanker(dtype="float64")
    assert singly.predict_one(dicts[0]) is None
    for q in range(12):
        singly.learn_one([x for x, at in zip(dicts, qid, strict=True) if at == q], y[qid == q].tolist())
    assert rows.coef_.tobytes() == all_at_once.coef_.tobytes() == singly.coef_.tobytes()
    assert singly.predict_one(dicts[0]) == rows.predict(X[:1])[0]
    assert singly.predict_one(dicts) == rows.predict(X).tolist()


def test_saved_and_pickled_it_goes_on(tmp_path: Any) -> None:
    X, y, qid = stacked(19, 16)
    first, then = qid < 8, qid >= 8
    for it in (BipartiteRanker(average=True), BipartiteRanker("recall_at_k", k=2, rule="sgd", average=True)):
        it.partial_fit(X[first], y[first] == 1, qid=qid[first])
        it.save(tmp_path / "model")
        copies = [hinge.load(tmp_path / "model"), pickle.loads(pickle.dumps(it)), it.snapshot()]
        it.partial_fit(X[then], y[then] == 1, qid=qid[then])
        for copy in copies:
            assert copy.classes_.tolist() == [False, True]
            copy.partial_fit(X[then], y[then] == 1, qid=qid[then])
            assert copy.coef_.tobytes() == it.coef_.tobytes()
            assert copy.predict(X).tolist() == it.predict(X).tolist()


@each_measure
def test_progressive_is_by_batch(measure: str) -> None:
    X, y, qid = stacked(20, 20)
    it, other = finder(measure), finder(measure)
    report = progressive(it, X, y, classes=[0, 1], qid=qid, metrics={"hits": lambda t, p: (t == p).mean()}, every=1)
    for q in range(20):
        rows = qid == q
        if q:
            assert report.curve["hits"][q] == (other.predict(X[rows]) == y[rows]).mean()
            if (y[rows] == 1).any() and rows.sum() > 1 and other.coef_.any():
                assert report.curve["error"][q] == pytest.approx(1 - other.score(X[rows], y[rows]))
        other.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert it.coef_.tobytes() == other.coef_.tobytes()
