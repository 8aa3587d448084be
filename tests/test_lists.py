"""Calls in which a round is a list: qid, lists that ask for nothing, weights, dicts, files, evaluation."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.model_selection import GridSearchCV, GroupKFold

import hinge
from hinge import ListRanker, metrics, progressive
from hinge.queries import SkippedListsWarning, reported_once
from list_rankers import Array, each_loss, ranker, stacked, with_weights

pytestmark = pytest.mark.filterwarnings("ignore::hinge.queries.SkippedListsWarning")


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
