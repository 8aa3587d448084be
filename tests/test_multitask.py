"""Parallel tasks against their oracle round by round; what the theorems promise; what people may do with them."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from hinge import MultitaskClassifier, MultitaskRegressor, progressive
from hinge.checks import check_estimator
from hinge.norms import Interpolated, PNorm, RMax
from hinge.tasks import norm_of
from oracle import multitask as oracle
from tasks import NORMS, UPDATES, all_weights, answers, is_decided, matrices, oracle_for, stream, with_constant

CLOSE = 1e-10
every_norm = pytest.mark.parametrize("norm", NORMS, ids=str)
every_update = pytest.mark.parametrize("update", UPDATES)
either = pytest.mark.parametrize("kind", [MultitaskClassifier, MultitaskRegressor])


def assert_agrees(tasks: Any, norm: tuple[Any, ...], rounds: Any, weights: Any = None, csr: bool = False) -> None:
    """Hold an estimator against its oracle after every round, row by row and then in one native call."""
    shared = rounds[0][0][0] is rounds[0][0][1]
    again, X, Y = clone(tasks), matrices(rounds), answers(rounds)
    X = [sparse.csr_matrix(part) for part in X] if csr else X
    X = X[0] if shared else X
    weights = np.ones(len(rounds)) if weights is None else weights
    slow = oracle_for(tasks, norm, tuple(len(x) for x in rounds[0][0]))
    losses, errors, gains, decided = [], [], [], []
    classes = {} if isinstance(tasks, MultitaskRegressor) else {"classes": [-1.0, 1.0]}
    for t, (xs, y) in enumerate(rounds):
        xs = with_constant(xs) if tasks.fit_intercept else xs
        decided.append(is_decided(slow, xs, y))
        r = slow.round(xs, y, weights[t])
        losses.append(r.loss)
        errors.append(r.errors.sum())
        gains.append(r.gain)
        row = X[t : t + 1] if shared else [part[t : t + 1] for part in X]
        tasks.partial_fit(row, Y[t : t + 1], sample_weight=weights[t : t + 1], **classes)
        for mine, truth in zip(all_weights(tasks), slow.W, strict=True):
            np.testing.assert_allclose(mine, truth, rtol=0, atol=CLOSE, err_msg=f"round {t}")
        assert tasks.certificate_.dual == pytest.approx(slow.dual, abs=1e-9)
        assert tasks.t_ == t + 1
    curve = progressive(again, X, Y, every=1, sample_weight=weights, **classes).curve
    np.testing.assert_allclose(curve["loss"], losses, rtol=0, atol=CLOSE)
    assert np.mean(decided) > 0.8
    np.testing.assert_array_equal(curve["task_errors"][decided], np.array(errors)[decided])
    np.testing.assert_array_equal(curve["error"], curve["task_errors"] > 0)
    np.testing.assert_allclose(np.diff(curve["dual"], prepend=0), gains, rtol=0, atol=1e-9)
    for mine, other in zip(all_weights(again), all_weights(tasks), strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "apart"])
@either
@every_update
@every_norm
def test_agrees_with_the_oracle_after_every_round(norm, update, kind, shared):
    widths = (4, 4, 4) if shared else (3, 1, 4)
    rounds = stream(1, 40, widths, shared=shared, numbers=kind is MultitaskRegressor)
    more = {"epsilon": 0.1} if kind is MultitaskRegressor else {}
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], size=40)
    tasks = kind(NORMS[norm], update, C=0.4, dtype="float64", fit_intercept=shared, **more)
    assert_agrees(tasks, norm, rounds, weights, csr=update != "finite")


@pytest.mark.parametrize("more", [{"radius": 1.5}, {"horizon": 30}, {"horizon": 30, "radius": 2.5}], ids=str)
@every_update
def test_agrees_with_radius_and_horizon(update, more):
    for norm in (("p", 1), ("p", 2), ("r-max", 2), ("K", 1, inf, 1.7)):
        rounds = stream(2, 30, (3, 2, 4))
        tasks = MultitaskClassifier(NORMS[norm], update, C=0.4, dtype="float64", fit_intercept=False, **more)
        assert_agrees(tasks, norm, rounds)


# --- the theorems, on the estimators ------------------------------------------------------------------------------


def learned_progressively(tasks: Any, rounds: Any) -> Any:
    """Return loss and dual of every round."""
    known = {} if isinstance(tasks, MultitaskRegressor) else {"classes": [-1.0, 1.0]}
    return progressive(tasks, matrices(rounds), answers(rounds), every=1, **known).curve


def competitors(seed: int, widths: tuple[int, ...]) -> list[list[np.ndarray]]:
    rng = np.random.default_rng(seed + 1000)
    scales = 10.0 ** rng.uniform(-2, 1, size=6)
    return [[np.zeros(n) for n in widths], *([s * rng.normal(size=n) for n in widths] for s in scales)]


def suffered(w: list[np.ndarray], rounds: Any, norm: Any, epsilon: float | None = None) -> np.ndarray:
    """Return ||l*|| of fixed weights, round by round."""
    losses, size = [], norm_of(NORMS[norm]).value
    for xs, y in rounds:
        score = np.array([a @ b for a, b in zip(w, xs, strict=True)])
        raw = 1 - y * score if epsilon is None else np.abs(y - score) - epsilon
        losses.append(size(np.where(np.isnan(y), 0.0, np.maximum(raw, 0))))
    return np.array(losses)


def complexity(w: list[np.ndarray]) -> float:
    return sum(float(v @ v) for v in w)


WIDTHS = (3, 1, 4)


@either
@every_update
@every_norm
def test_lemma_1_on_every_prefix_and_the_certificate_says_so(norm, update, kind):
    more = {"epsilon": 0.1} if kind is MultitaskRegressor else {}
    rounds = stream(5, 40, WIDTHS, numbers=kind is MultitaskRegressor)
    tasks = kind(NORMS[norm], update, C=0.5, dtype="float64", fit_intercept=False, **more)
    dual = learned_progressively(tasks, rounds)["dual"]
    for w in competitors(5, WIDTHS):
        losses = suffered(w, rounds, norm, more.get("epsilon"))
        assert np.all(dual <= complexity(w) / 2 + 0.5 * np.cumsum(losses) + 1e-10)
        assert tasks.certificate_.hindsight_loss(complexity(w) / 2) <= losses.sum() + 1e-9


@pytest.mark.parametrize("update", ["finite", "implicit"])
@every_norm
def test_theorem_4_and_theorem_9_on_every_prefix(norm, update):
    C, rho, rounds = 0.15, oracle.remoteness(norm, 3), stream(6, 50, WIDTHS)
    tasks = MultitaskClassifier(NORMS[norm], update, C=C, dtype="float64", fit_intercept=False)
    left = np.cumsum(learned_progressively(tasks, rounds)["loss"])
    for w in competitors(6, WIDTHS):
        right = complexity(w) / (2 * C) + np.cumsum(suffered(w, rounds, norm))
        assert np.all(left <= right + np.arange(1, 51) * 4 * C * rho**2 / 2 + 1e-9)


@pytest.mark.parametrize("radius", [None, 2.0, 3.0])
@pytest.mark.parametrize("update", ["infinite", "implicit"])
@every_norm
def test_theorem_6_and_theorem_9_on_every_prefix(norm, update, radius):
    reach = (radius or 2.0) ** 2 * oracle.remoteness(norm, 3) ** 2
    for seed, C in ((7, 0.3), (8, 1 / reach)):
        rounds = stream(seed, 40, WIDTHS)
        tasks = MultitaskClassifier(NORMS[norm], update, C=C, radius=radius, dtype="float64", fit_intercept=False)
        losses = learned_progressively(tasks, rounds)["loss"]
        left = np.cumsum(np.where(losses <= reach * C, losses**2 / reach, C * losses))
        for w in competitors(seed, WIDTHS):
            right = complexity(w) + 2 * C * np.cumsum(suffered(w, rounds, norm))
            assert np.all(left <= right + 1e-10)


@every_update
@every_norm
def test_mistakes_stay_within_their_bound(norm, update):
    for C in (0.02, 0.4):
        rounds = stream(9, 80, WIDTHS)
        tasks = MultitaskClassifier(NORMS[norm], update, C=C, dtype="float64", fit_intercept=False)
        for t in range(len(rounds)):
            X, Y = [part[t : t + 1] for part in matrices(rounds)], answers(rounds)[t : t + 1]
            tasks.partial_fit(X, Y, classes=[-1.0, 1.0])
            assert tasks.certificate_.mistakes <= tasks.certificate_.mistake_bound + 1e-9


# --- reductions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("one", "other"),
    [(RMax(3), "l1"), (RMax(1), "linf"), (Interpolated(1, inf, 2), RMax(2)), (PNorm(2), "l2"), (PNorm(inf), "linf")],
    ids=str,
)
@every_update
def test_norms_that_are_one(update, one, other, shared):
    rounds = stream(10, 60, (4, 4, 4), shared=shared)
    X = matrices(rounds)
    a, b = (MultitaskClassifier(norm, update, C=0.3, dtype="float64") for norm in (one, other))
    for tasks in (a, b):
        tasks.fit(X[0] if shared else X, answers(rounds))
    np.testing.assert_allclose(np.concatenate(a.coef_), np.concatenate(b.coef_), rtol=0, atol=1e-12)


def test_l2_with_equal_norms_implicit_is_infinite():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(80, 5))
    X *= 2 / np.linalg.norm(X, axis=1, keepdims=True)
    Y = rng.choice([-1, 1], size=(80, 4))
    one, other = (
        MultitaskClassifier("l2", update, C=0.3, radius=2.0, dtype="float64", fit_intercept=False).fit(X, Y)
        for update in ("implicit", "infinite")
    )
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=0, atol=1e-12)


@every_norm
def test_one_task_is_passive_aggressive(norm):
    """Against scikit-learn's own pa1, with the same C."""
    if norm[0] == "r-max" and norm[1] > 1:
        return
    from sklearn.linear_model import SGDClassifier

    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(60, 5)), rng.choice([-1, 1], size=60)
    C = 0.2 * (min(1.0, norm[3]) if norm[0] == "K" else 1.0)
    mine = MultitaskClassifier(NORMS[norm], C=0.2, dtype="float64", fit_intercept=False).fit(X, y)
    theirs = SGDClassifier(learning_rate="pa1", eta0=C, penalty=None, loss="hinge", fit_intercept=False, shuffle=False)
    theirs.partial_fit(X, y, classes=[-1, 1])
    np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("T", "expected"), [(1_000, 1.52), (10_000, 1.16), pytest.param(40_000, 1.08, marks=pytest.mark.long)]
)
def test_the_counter_example_of_section_3(T, expected):
    """Aggressive Perceptrons without a shared loss stay near (k+1)/2 times the competitor's; ours falls towards 1."""
    k, C = 5, 1 / np.sqrt(T)
    X, ends = counter_example(k, C, T)
    tasks = MultitaskClassifier("linf", "finite", C=C, dtype="float64", fit_intercept=False)
    ours = progressive(tasks, X, np.ones((T, k), dtype=int), every=1, classes=[-1, 1]).curve["loss"]
    theirs = independent_losses(X, C)
    competitor = np.max([np.maximum(0, 1 - x.sum(axis=1)) for x in X], axis=0)
    total = competitor[: ends + 1].sum()
    assert theirs[: ends + 1].sum() / total == pytest.approx((k + 1) / 2, rel=0.1)
    assert ours[: ends + 1].sum() / total == pytest.approx(expected, abs=0.005)


def counter_example(k: int, C: float, T: int) -> tuple[list[np.ndarray], int]:
    """Return k matrices of T rows, all labels +1, and the last round that ends a cycle."""
    rows, ends = [np.tile([1.0, 0.0], (k, 1))] * int(np.ceil(1 / C)), 0
    while len(rows) < T:
        for j in range(k):
            rows.append(np.where((np.arange(k) == j)[:, None], [0.0, 1.0], [1.0, 0.0]))
        rows.append(np.tile([0.0, -1.0], (k, 1)))
        if len(rows) <= T:
            ends = len(rows) - 1
    table = np.array(rows[:T])
    return [np.ascontiguousarray(table[:, j]) for j in range(k)], ends


def independent_losses(X: list[np.ndarray], C: float) -> np.ndarray:
    """Return the largest loss of each round of Perceptrons that step C wherever they have a loss."""
    table = np.array(X).transpose(1, 0, 2)
    w, losses = np.zeros(table.shape[1:]), np.empty(len(table))
    for t, x in enumerate(table):
        loss = np.maximum(0, 1 - (w * x).sum(axis=1))
        losses[t] = loss.max()
        w = w + np.where(loss > 0, C, 0.0)[:, None] * x
    return losses


# --- what leaves things alone, and what comes later ---------------------------------------------------------------


@pytest.mark.parametrize("shared", [True, False])
@either
@every_update
@every_norm
def test_dormant_tasks_keep_every_bit(norm, update, kind, shared):
    rounds = stream(13, 30, (4, 4, 4), shared=shared, numbers=kind is MultitaskRegressor, dormant=0.4)
    tasks, X, Y = kind(NORMS[norm], update, C=0.5), matrices(rounds), answers(rounds)
    tasks.partial_fit(X[0][:2] if shared else [part[:2] for part in X], Y[:2])
    for t in range(2, 30):
        before, dual = all_weights(tasks), tasks.certificate_.dual
        tasks.partial_fit(X[0][t : t + 1] if shared else [part[t : t + 1] for part in X], Y[t : t + 1])
        after = all_weights(tasks)
        for j in np.flatnonzero(np.isnan(Y[t])):
            np.testing.assert_array_equal(before[j], after[j])
        if np.isnan(Y[t]).all():
            assert tasks.certificate_.dual == dual
    assert tasks.t_ == 30


@pytest.mark.parametrize("shared", [True, False])
def test_a_task_that_appears_later(shared):
    """It starts at zero, and the others go on as if it had been dormant, where the norm does not count tasks."""
    rounds = stream(14, 40, (4, 4, 4), shared=shared)
    X, Y = matrices(rounds), answers(rounds)
    Y[:20, 2] = np.nan

    def part(rows, tasks):
        return X[0][rows] if shared else [matrix[rows] for matrix in X[:tasks]]

    later, always = (MultitaskClassifier("linf", C=0.4) for _ in range(2))
    later.partial_fit(part(slice(20), 2), Y[:20, :2]).partial_fit(part(slice(20, 40), 3), Y[20:])
    always.partial_fit(part(slice(20), 3), Y[:20]).partial_fit(part(slice(20, 40), 3), Y[20:])
    for a, b in zip(all_weights(later), all_weights(always), strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(later.classes_) == 3
    with pytest.raises(ValueError, match="2 columns, but there are 3 tasks"):
        later.partial_fit(part(slice(2), 3), Y[:2, :2])


# --- what people give ---------------------------------------------------------------------------------------------


def test_values_of_any_kind_and_what_is_answered():
    X = np.eye(4)
    for Y in (
        np.array([[0, 1], [1, 0], [0, 0], [1, 1]]),
        np.array([[False, True], [True, False], [False, False], [True, True]]),
        np.array([["no", "spam"], ["yes", "ham"], ["no", "ham"], ["yes", "spam"]]),
        np.array([[3.5, -1.0], [7.0, 0.5], [3.5, 0.5], [7.0, -1.0]]),
    ):
        tasks = MultitaskClassifier(max_iter=5).fit(X, Y)
        answer = tasks.predict(X)
        np.testing.assert_array_equal(answer, Y)
        assert answer.dtype == Y.dtype
        assert [pair.tolist() for pair in tasks.classes_] == [sorted(set(column)) for column in Y.T.tolist()]
        assert tasks.score(X, Y) == 0
    mixed = np.array([["no", 1], ["yes", 0], [None, 0], ["yes", None]], dtype=object)
    tasks = MultitaskClassifier(max_iter=5).fit(X, mixed)
    assert tasks.predict(X)[0].tolist() == ["no", 1]
    np.testing.assert_array_equal(tasks.fit(X, sparse.csr_matrix(np.eye(4)[:, :2])).predict(X), np.eye(4)[:, :2])


def test_values_that_appear_one_by_one():
    tasks = MultitaskClassifier()
    tasks.partial_fit([[1.0]], [["b", 1]])
    assert [pair.tolist() for pair in tasks.classes_] == [["b"], ["1"]]
    tasks = MultitaskClassifier().partial_fit(np.ones((1, 1)), np.array([[5, 1]]))
    assert [pair.tolist() for pair in tasks.classes_] == [[5], [1]]
    assert tasks.predict([[1.0]]).tolist() == [[5, 1]]
    tasks.partial_fit(np.ones((1, 1)), np.array([[2, 0]]))
    assert [pair.tolist() for pair in tasks.classes_] == [[5, 2], [0, 1]]
    named = MultitaskClassifier().partial_fit(np.ones((1, 1)), np.array([[5, 1]]), classes=[[2, 5], [0, 1]])
    assert [pair.tolist() for pair in named.classes_] == [[2, 5], [0, 1]]
    with pytest.raises(ValueError, match="classes of task 1"):
        MultitaskClassifier().partial_fit(np.ones((1, 1)), np.array([[5, 1]]), classes=[[2, 5], [0, 0]])


def test_dicts_for_all_tasks_and_for_each():
    shared, apart = MultitaskClassifier(norm="l1"), MultitaskClassifier(norm="l1")
    for _ in range(4):
        shared.learn_one({"a": 1.0, "kind": "x"}, {"spam": True, "late": False})
        shared.learn_one({"b": 2.0}, {"spam": False, "late": None})
        apart.learn_one({"left": {"a": 1.0}, "right": {"c": 1.0}}, {"left": "up", "right": "down"}, w=0.5)
        apart.learn_one({"left": {"b": 1.0}, "right": {"d": "e"}}, {"left": "down", "right": "up"})
    assert shared.predict_one({"a": 1.0, "new": 3.0}) == {"spam": True, "late": False}
    assert shared.predict_one({"b": 1.0})["spam"] is False
    assert shared.tasks_ == ["spam", "late"]
    assert list(shared.feature_names_in_) == ["a", "kind=x", "b"]
    assert apart.predict_one({"left": {"b": 1.0}, "right": {"d": "e"}}) == {"left": "down", "right": "up"}
    assert [w.size for w in apart.coef_] == [2, 2]
    assert apart.n_features_in_ == [2, 2]
    apart.learn_one({"left": {"z": 1.0}, "third": {"q": 1.0}}, {"third": "up"})
    assert apart.tasks_ == ["left", "right", "third"]
    assert [w.size for w in apart.coef_] == [3, 2, 1]
    with pytest.raises(ValueError, match="no task 'right'"):
        apart.learn_one({"left": {"z": 1.0}}, {"right": "up"})
    single = MultitaskClassifier()
    assert single.predict_one({"a": 1.0}) is None
    single.learn_one({"a": 1.0}, True)
    single.learn_one({"b": 1.0}, False)
    assert [single.predict_one({"a": 1.0}), single.predict_one({"b": 1.0})] == [True, False]
    numbers = MultitaskRegressor(fit_intercept=False)
    numbers.learn_one({"a": 1.0}, {"width": 0.5, "height": -0.25})
    assert numbers.predict_one({"a": 2.0}) == pytest.approx({"width": 1.0, "height": -0.5})


@either
def test_a_list_of_dicts_is_learned_as_one_by_one_in_any_chunk(kind):
    rng = np.random.default_rng(15)
    names = ["p", "q", "r"]
    X = [{f"f{i}": float(v) for i, v in enumerate(row) if v > 0} for row in rng.normal(size=(20, 4))]
    Y = [{n: int(rng.integers(2)) for n in names[: 1 + t // 7]} for t in range(20)]
    apart = [dict.fromkeys(y, x) for x, y in zip(X, Y, strict=True)]
    for rows in (X, apart):
        one, many, whole = (kind("l1", "infinite", C=0.3) for _ in range(3))
        for x, y in zip(rows, Y, strict=True):
            one.learn_one(x, y)
        many.partial_fit(rows[:9], Y[:9]).partial_fit(rows[9:], Y[9:])
        report = progressive(whole, rows, Y, every=1)
        assert report.curve["task_errors"].shape == (20,)
        for other in (many, whole):
            assert other.tasks_ == names
            for a, b in zip(all_weights(one), all_weights(other), strict=True):
                np.testing.assert_array_equal(a, b)
        assert one.predict(rows) == [one.predict_one(x) for x in rows]


@either
def test_files_pickles_and_snapshots_of_named_tasks(kind, tmp_path):
    import pickle

    from hinge import load

    tasks = kind(RMax(1))
    X = [{"p": {"a": 1.0}, "q": {"b": 2.0, "c": "d"}}, {"p": {"a": -1.0, "z": 1.0}, "q": {"b": 1.0}}]
    for x, y in zip(X, [{"p": 0, "q": 1}, {"p": 1, "q": 0}], strict=True):
        tasks.learn_one(x, y)
    tasks.save(tmp_path / "model")
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(tasks)), tasks.snapshot()):
        assert again.predict(X) == tasks.predict(X)
        assert again.tasks_ == ["p", "q"]
        again.learn_one({"p": {"new": 1.0}, "q": {"b": 1.0}}, {"p": 1})
        assert [w.size for w in again.coef_] == [3, 2]
    assert [w.size for w in tasks.coef_] == [2, 2]


@either
def test_a_list_of_dicts_is_one_a_task(kind):
    """Tasks by their numbers: as a dict of numbers, and as a list of matrices."""
    rng = np.random.default_rng(17)
    X, Y = rng.normal(size=(2, 20, 3)), rng.choice([0, 1], size=(20, 2))
    listed, named, tables = (kind(C=0.4, dtype="float64") for _ in range(3))
    assert listed.predict_one([{"a": 1.0}, {"a": 1.0}]) is None
    for t in range(20):
        x = [dict(zip("abc", features, strict=True)) for features in X[:, t].tolist()]
        listed.learn_one(x, Y[t].tolist())
        named.learn_one(dict(enumerate(x)), dict(enumerate(Y[t].tolist())))
    tables.partial_fit(list(X), Y)
    for tasks in (listed, named, tables):
        np.testing.assert_array_equal(tasks.coef_, listed.coef_)
    assert listed.tasks_ == [0, 1]
    assert listed.predict_one(x) == list(named.predict_one(dict(enumerate(x))).values())
    assert listed.predict_one(x) == tables.predict([X[0, 19:], X[1, 19:]])[0].tolist()
    listed.learn_one(x, [None, 1])
    np.testing.assert_array_equal(listed.coef_[0], named.coef_[0])
    for call in (lambda: listed.learn_one([{"a": 1.0}, 3], [0, 1]), lambda: listed.predict_one([1.0, 2.0])):
        with pytest.raises(TypeError, match="a list of one a task"):
            call()
    with pytest.raises(ValueError, match="no task 2"):
        listed.learn_one(x, [0, 1, 1])


def test_bad_input_is_refused_in_words_and_changes_nothing():
    X, Y = np.eye(3), np.array([[0, 1], [1, 0], [0, 0]])
    tasks = MultitaskClassifier().fit(X, Y)
    before = tasks.coef_
    for y, words in (
        (np.array([[0, 1], [1, 2], [0, 0]]), ["row 1", "column 1", "2", "third value"]),
        (np.array([[0, 1], [1, 0.5], [0, 0]]), ["row 1", "column 1", "0.5"]),
        (np.array([[0, 1], [1, inf], [0, 0]]), ["infinity", "row 1", "column 1"]),
        (np.array([["a", 1], [1, 0], [0, 0]], dtype=object), ["row 0", "column 0", "'a'"]),
        (Y[:2], ["inconsistent", "3", "2"]),
        (Y[:, :1], ["1 columns", "2 tasks"]),
        (np.zeros((3, 2, 1)), ["shape"]),
        (None, ["y"]),
    ):
        with pytest.raises(ValueError, match=".*".join(words)):
            tasks.partial_fit(X, y)
    with pytest.raises(ValueError, match="row 1, column 0 of y is 'x'"):
        MultitaskRegressor().fit(X, np.array([[1, 2], ["x", 3], [1, 1]], dtype=object))
    np.testing.assert_array_equal(before, tasks.coef_)
    apart = MultitaskClassifier().fit([X, X], Y)
    with pytest.raises(ValueError, match="matrix 0 has 3 rows, matrix 1 has 2"):
        apart.fit([X, X[:2]], Y)
    with pytest.raises(ValueError, match=r"matrix 1 of X.*NaN in row 2, column 0"):
        apart.partial_fit([X, np.where(np.arange(9).reshape(3, 3) == 6, np.nan, X)], Y)
    with pytest.raises(ValueError, match="list of 3 matrices"):
        apart.fit([X, X, X], Y)
    with pytest.raises(ValueError, match="one X for all"):
        apart.partial_fit(X, Y)
    with pytest.raises(ValueError, match="needs at least 3 tasks"):
        MultitaskClassifier(RMax(3)).fit(X, Y)
    with pytest.raises(ValueError, match="all tasks are dormant"):
        MultitaskClassifier().fit(X, np.full((3, 2), np.nan))
    wrong = [("C", 0), ("C", -1.0), ("norm", "l3"), ("norm", 2), ("update", "exact"), ("radius", 0), ("horizon", -5)]
    for name, value in wrong:
        with pytest.raises(ValueError, match=f"'{name}'"):
            MultitaskClassifier(**{name: value}).fit(X, Y)
    for call in (lambda: MultitaskClassifier().learn_one(3, {"a": 1}), lambda: tasks.predict_one([1.0])):
        with pytest.raises(TypeError, match="x must be a dict"):
            call()
    with pytest.raises(ValueError, match="'epsilon'"):
        MultitaskRegressor(epsilon=-1).fit(X, Y)
    for bad in (0.5, -1, "x"):
        with pytest.raises(ValueError, match="'p'"):
            PNorm(bad)
    with pytest.raises(ValueError, match="'r'"):
        RMax(0)


def test_float32_is_close_to_float64_and_dense_is_sparse():
    rounds = stream(16, 200, (6, 6, 6), shared=True)
    X, Y = matrices(rounds)[0], answers(rounds)
    single, double = (MultitaskClassifier(C=0.2, dtype=dtype).fit(X, Y) for dtype in ("float32", "float64"))
    np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-4)
    assert single.coef_.dtype == np.float32
    stored = MultitaskClassifier(C=0.2).fit(sparse.csr_matrix(X), Y)
    np.testing.assert_array_equal(stored.coef_, single.coef_)
    one = MultitaskClassifier(C=0.2).fit([X, X, X], Y)
    np.testing.assert_allclose(np.array(one.coef_), single.coef_, atol=1e-5)


@pytest.mark.parametrize(
    "tasks",
    [
        MultitaskClassifier("linf", "infinite"),
        MultitaskClassifier(RMax(1), "finite", dtype="float64"),
        MultitaskClassifier(Interpolated(1, 2, 1.3), radius=2.0),
        MultitaskRegressor("l1", "infinite", epsilon=0.1),
    ],
    ids=repr,
)
def test_what_every_estimator_promises(tasks):
    check_estimator(tasks)
