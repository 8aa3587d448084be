"""Sequences: best words against all words, rules against their oracles, inputs in every form."""

from __future__ import annotations

import itertools

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import GridSearchCV, cross_val_score

from hinge import SequenceClassifier, load, progressive
from hinge.checks import check_estimator
from hinge.metrics import letter_accuracy, sequence_cost
from oracle.structured import Learner, Words, argmax, frank_wolfe, hinge, rival

RULES = [
    ("passive-aggressive", {"C": 0.25}),
    ("perceptron", {}),
    ("sgd", {"eta": 0.5}),
    ("sgd", {"alpha": 0.25}),
]
COST = np.array([[0, 1, 2], [3, 0, 1], [0.5, 1, 0]])


def words(count, seed=0, n=2, q=3, whole=False, most=4):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, most + 1, count)
    X = [rng.integers(-1, 2, (r, n)).astype(float) if whole else rng.normal(size=(r, n)) for r in lengths]
    return X, [rng.integers(0, q, r) for r in lengths]


def all_weights(it):
    return np.concatenate([it.coef_.ravel(), it.transitions_.ravel()])


def given(X, t):
    return [sparse.csr_matrix(X[t])] if t % 2 else [X[t]]


@pytest.mark.parametrize("normalize", [False, True], ids=["sums", "means"])
@pytest.mark.parametrize("cost", [None, COST], ids=["hamming", "costs"])
@pytest.mark.parametrize(("rule", "params"), RULES, ids=lambda v: "-".join(v) if isinstance(v, dict) else v)
def test_agrees_with_the_oracle_after_every_round(rule, params, cost, normalize):
    X, y = words(40, seed=5, whole=rule == "perceptron" and not normalize)
    weight = np.random.default_rng(1).choice([0, 0.5, 1, 1], 40)
    common = {"cost": cost, "normalize": normalize, "fit_intercept": False, "dtype": "float64", **params}
    it, mean = SequenceClassifier(rule, **common), SequenceClassifier(rule, average=True, **common)
    oracle = Learner(Words(3, cost, normalize), 15, rule, **params)
    seen = []
    for t in range(40):
        seen.append(oracle.round(X[t], tuple(y[t].tolist()), float(weight[t])))
        for one in (it, mean):
            one.partial_fit(given(X, t), [y[t]], classes=range(3) if t == 0 else None, sample_weight=weight[[t]])
        np.testing.assert_allclose(all_weights(it), oracle.w, rtol=0, atol=1e-10, err_msg=f"round {t}")
        np.testing.assert_allclose(all_weights(mean), oracle.mean, rtol=0, atol=1e-10, err_msg=f"round {t}")
        if rule == "passive-aggressive":
            assert it.certificate_.dual == pytest.approx(oracle.dual, abs=1e-9)
    again = SequenceClassifier(rule, **common)
    curve = progressive(again, X, y, classes=range(3), every=1, sample_weight=weight).curve
    np.testing.assert_allclose(curve["loss"], [s.loss for s in seen], rtol=0, atol=1e-10)
    np.testing.assert_allclose(curve["error"], [s.error for s in seen], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(all_weights(again), all_weights(it))


def with_weights(rng, q, n, whole, **params):
    """Make a model whose weights are given: tiny whole numbers tie often."""
    it = SequenceClassifier("perceptron", fit_intercept=False, dtype="float64", **params)
    it.partial_fit([np.zeros((1, n))], [[0]], classes=range(q), sample_weight=[0])
    memory = np.zeros(it._model.cells)
    stride = memory.size // (1 + n + padded(q))
    w = rng.integers(-1, 2, (q, n)).astype(float) if whole else rng.normal(size=(q, n))
    m = rng.integers(-1, 2, (q, q)).astype(float) if whole else rng.normal(size=(q, q))
    rows = memory.reshape(-1, stride)
    rows[1 + padded(q) :, :q] = w.T
    for before in range(q):
        rows[padded(q) - 1 - before, :q] = m[before]
    it._model.write(memory)
    np.testing.assert_array_equal(it.coef_, w)
    np.testing.assert_array_equal(it.transitions_, m)
    return it, np.concatenate([w.ravel(), m.ravel()])


def padded(q):
    return 1 << (q - 1).bit_length() if q <= 16 else -(-q // 16) * 16


@pytest.mark.parametrize("whole", [False, True], ids=["reals", "ties"])
def test_best_words_are_those_of_brute_force(whole):
    rng = np.random.default_rng(0)
    for case in range(250):
        q, n, r = int(rng.integers(1, 5)), int(rng.integers(1, 3)), int(rng.integers(1, 5))
        it, w = with_weights(rng, q, n, whole)
        x = rng.integers(-1, 2, (r, n)).astype(float) if whole else rng.normal(size=(r, n))
        problem = Words(q)
        everything = list(problem.answers(x))
        scores = np.array([w @ problem.features(x, word) for word in everything])
        assert tuple(it.predict([x])[0]) == argmax(problem, w, x), case
        ranked = it.predict_top([x], top=5)[0]
        order = np.argsort(-scores, kind="stable")[:5]
        np.testing.assert_allclose([score for _, score in ranked], scores[order], atol=1e-12)
        if whole:
            assert {tuple(word) for word, _ in ranked} <= {
                word for word, s in zip(everything, scores, strict=True) if s >= scores[order[-1]]
            }
        else:
            assert [tuple(word) for word, _ in ranked] == [everything[i] for i in order]
        assert len(ranked) == min(5, q**r) == len({tuple(word) for word, _ in ranked})
        best_two = np.sort(scores)[::-1][:2]
        margin = best_two[0] - best_two[1] if len(best_two) > 1 else np.inf
        assert it.margins([x])[0] == pytest.approx(margin, abs=1e-12)
        through = it.decision_function([x])[0]
        for t, letter in itertools.product(range(r), range(q)):
            best = max(s for word, s in zip(everything, scores, strict=True) if word[t] == letter)
            assert through[t, letter] == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("whole", [False, True], ids=["reals", "ties"])
def test_losses_and_mistakes_are_those_of_brute_force(whole):
    rng = np.random.default_rng(1)
    for case in range(300):
        q, n, r = int(rng.integers(2, 5)), 2, int(rng.integers(1, 5))
        cost = None if case % 2 else rng.integers(1, 4, (q, q)) * (1.0 - np.eye(q))
        it, w = with_weights(rng, q, n, whole, cost=cost, normalize=bool(case % 3 == 0))
        x = rng.integers(-1, 2, (r, n)).astype(float) if whole else rng.normal(size=(r, n))
        problem = Words(q, cost, normalize=bool(case % 3 == 0))
        y = tuple(rng.integers(0, q, r).tolist()) if case % 4 else argmax(problem, w, x)
        answer, wrong = rival(problem, w, x, y)
        curve = progressive(it, [x], [list(y)], every=1).curve
        assert curve["loss"][0] == pytest.approx(hinge(problem, w, x, y), abs=1e-12), case
        assert curve["error"][0] == pytest.approx(problem.delta(answer, y) if wrong else 0.0, abs=1e-12), case
        assert curve["loss"][0] >= curve["error"][0] - 1e-12
        along = problem.features(x, y) - problem.features(x, answer) if wrong else 0.0
        np.testing.assert_allclose(all_weights(it), w + along, atol=1e-12, err_msg=f"{case}")


@pytest.mark.parametrize("cost", [None, COST], ids=["hamming", "costs"])
def test_svm_closes_its_gap_and_is_what_frank_wolfe_tends_to(cost):
    X, y = words(12, seed=2, most=3)
    it = SequenceClassifier(
        "svm", cost, alpha=0.1, tol=1e-9, max_passes=5000, fit_intercept=False, dtype="float64"
    ).fit(X, y)  # fmt: skip
    problem, ys = Words(3, cost), [tuple(word.tolist()) for word in y]
    w, primal, dual = frank_wolfe(problem, X, ys, 0.1, 300)
    assert 0 <= it.gap_ <= 1e-8
    assert dual - 1e-9 <= it.objective_ <= primal + 1e-9
    np.testing.assert_allclose(all_weights(it), w, atol=0.05)
    mine = all_weights(it)
    value = 0.1 * mine @ mine + np.mean([hinge(problem, mine, x, t) for x, t in zip(X, ys, strict=True)])
    assert it.objective_ == pytest.approx(value, abs=1e-12)
    total = sum(hinge(problem, 0.9 * mine, x, t) for x, t in zip(X, ys, strict=True))
    assert it.certificate_.hindsight_loss(0.81 * mine @ mine / 2) <= total + 1e-9


@pytest.mark.parametrize(("cost", "normalize"), [(None, False), (COST, True)], ids=["hamming", "costs"])
def test_svm_is_cvxpy_s_optimum(cost, normalize):
    X, y = words(10, seed=3, most=3)
    it = SequenceClassifier(
        "svm", cost, normalize, alpha=0.1, tol=1e-9, max_passes=5000, fit_intercept=False, dtype="float64"
    ).fit(X, y)  # fmt: skip
    problem, w = Words(3, cost, normalize), cp.Variable(15)
    hinges = []
    for x, truth in zip(X, (tuple(word.tolist()) for word in y), strict=True):
        answers = list(problem.answers(x))
        directions = np.array([problem.features(x, a) - problem.features(x, truth) for a in answers])
        hinges.append(cp.max(np.array([problem.delta(a, truth) for a in answers]) + directions @ w))
    programme = cp.Problem(cp.Minimize(0.1 * cp.sum_squares(w) + sum(hinges) / len(X)))
    programme.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert it.objective_ == pytest.approx(programme.value, abs=1e-8)
    np.testing.assert_allclose(all_weights(it), w.value, rtol=0, atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_erm_ends_where_constraints_meet_within_the_precision_of_the_scores(seed):
    X, y = words(20, seed=seed, n=3, q=4, most=8)
    answers = SequenceClassifier("perceptron").fit(X, y).predict(X)  # float32
    assert SequenceClassifier("erm").fit(X, answers).score(X, answers) == 1


def test_erm_separates_or_names_words():
    rng = np.random.default_rng(0)
    it, _ = with_weights(rng, 3, 4, whole=False)
    X, _ = words(30, n=4)
    y = it.predict(X)
    found = SequenceClassifier("erm", fit_intercept=False, dtype="float64").fit(X, y)
    assert found.score(X, y) == 1
    assert found.margins(X).min() > 0
    wrong = y[3].copy()
    wrong[0] = (wrong[0] + 1) % 3
    with pytest.raises(ValueError, match=r"not realisable.*of words .*30;"):
        SequenceClassifier("erm").fit([*X, X[3]], [*y, wrong])


def test_the_perceptron_stops_within_its_bound():
    """Theorem 17.5, with w* scaled to the margin 1."""
    rng = np.random.default_rng(3)
    it, w = with_weights(rng, 3, 4, whole=False)
    X, _ = words(25, seed=4, n=4)
    y = it.predict(X)
    star = w / it.margins(X).min()
    learner = SequenceClassifier("perceptron", max_iter=10**5, fit_intercept=False, dtype="float64").fit(X, y)
    problem = Words(3)
    R2 = max(
        float(((problem.features(x, tuple(t)) - problem.features(x, a)) ** 2).sum())
        for x, t in zip(X, y, strict=True)
        for a in problem.answers(x)
    )
    assert learner._model.ledger()["mistakes"] <= R2 * star @ star
    assert learner.n_iter_ < 10**5
    assert learner.score(X, y) == 1


def test_every_form_of_input_learns_the_same():
    X, y = words(20, n=3)
    flat, lengths = np.vstack(X), [len(x) for x in X]
    want = SequenceClassifier("perceptron", average=True, max_iter=3, dtype="float64").fit(X, y)
    names = ["a", "b", "c"]
    tokens = [[dict(zip(names, row.tolist(), strict=True)) for row in x] for x in X]
    for other, letters, more in [
        ([sparse.csr_matrix(x) for x in X], y, {}),
        ([x.tolist() for x in X], [t.tolist() for t in y], {}),
        (flat, y, {"lengths": lengths}),
        (sparse.csr_matrix(flat), np.concatenate(y), {"lengths": lengths}),
        (tokens, y, {}),
        ([token for word in tokens for token in word], y, {"lengths": lengths}),
    ]:
        it = SequenceClassifier("perceptron", average=True, max_iter=3, dtype="float64").fit(other, letters, **more)
        np.testing.assert_allclose(it.coef_, want.coef_, atol=1e-12)
        np.testing.assert_allclose(it.transitions_, want.transitions_, atol=1e-12)
        answers = it.predict(other, **more)
        if isinstance(letters, np.ndarray):
            np.testing.assert_array_equal(answers, np.concatenate(want.predict(X)))
        else:
            assert type(answers[0]) is type(letters[0])
            assert [list(a) for a in answers] == [list(a) for a in want.predict(X)]
        assert it.score(other, letters, **more) == want.score(X, y)


def test_strings_in_strings_out_and_scores():
    X, y = words(20, n=3)
    text = ["".join("xyz"[i] for i in word) for word in y]
    it = SequenceClassifier("perceptron", max_iter=3).fit(X, text)
    answers = it.predict(X)
    assert all(isinstance(word, str) for word in answers)
    assert it.score(X, text) == pytest.approx(letter_accuracy(text, answers))
    report = progressive(
        SequenceClassifier("perceptron"), X, text, classes=list("xyz"), metrics={"cost": sequence_cost}
    )
    assert report.curve["cost"].size == len(report.curve["round"])


@pytest.mark.parametrize("rule", ["sgd", "passive-aggressive", "perceptron"])
def test_chunks_and_new_letters_give_the_same_bits(rule):
    X, y = words(40, q=20, n=3)
    letters = [[f"letter {i}" for i in word] for word in y]
    whole = SequenceClassifier(rule, average=True).partial_fit(X, letters)
    for sizes in ([1] * 40, [7] * 5 + [5], [39, 1]):
        it, at = SequenceClassifier(rule, average=True), 0
        for size in sizes:
            it.partial_fit(X[at : at + size], letters[at : at + size])
            at += size
        np.testing.assert_array_equal(it.coef_, whole.coef_)
        np.testing.assert_array_equal(it.transitions_, whole.transitions_)
        np.testing.assert_array_equal(it.classes_, whole.classes_)


@pytest.mark.parametrize("rule", ["sgd", "passive-aggressive", "perceptron"])
def test_words_with_ignored_letters_are_rounds_that_ask_for_nothing(rule):
    X, y = words(30, n=3, q=4)
    it = SequenceClassifier(rule, new_labels="ignore", dtype="float64").partial_fit(X, y, classes=[0, 1, 2])
    known = [3 not in word for word in y]
    assert 0 < sum(known) < 30
    without = SequenceClassifier(rule, dtype="float64").partial_fit(
        [x for x, kept in zip(X, known, strict=True) if kept],
        [word for word, kept in zip(y, known, strict=True) if kept],
        classes=[0, 1, 2],
    )
    np.testing.assert_array_equal(it.coef_, without.coef_)
    np.testing.assert_array_equal(it.transitions_, without.transitions_)
    assert (it.t_, without.t_) == (30, sum(known))
    again = SequenceClassifier(rule, new_labels="ignore", dtype="float64")
    curve = progressive(again, X, y, classes=[0, 1, 2], every=1).curve
    assert not curve["loss"][np.logical_not(known)].any()
    assert not curve["error"][np.logical_not(known)].any()


def test_letters_are_of_any_type_and_may_exist_before_their_words():
    X = np.array([np.eye(2), np.eye(2)[:1], np.eye(2)[::-1]], dtype=object)
    y = [["a", 1], ["a"], [(1, 2), "a"]]
    it = SequenceClassifier("perceptron").partial_fit(X, y)
    assert list(it.classes_) == ["a", 1, (1, 2)]
    assert it.add_labels(["b", "a"]).classes_[-1] == "b"
    assert it.coef_.shape == (4, 2)
    beforehand = SequenceClassifier("perceptron").add_labels(["a", 1, (1, 2), "b"]).partial_fit(X, y)
    assert list(beforehand.classes_) == list(it.classes_)
    assert beforehand.predict(X)[1] == ["a"]
    with pytest.raises(ValueError, match="letters cannot change"):
        SequenceClassifier(cost=COST).fit(*words(9)).add_labels([7])


def test_dicts_learn_one_and_files(tmp_path):
    it = SequenceClassifier("perceptron", average=True)
    assert it.predict_one([{"w": "the"}]) is None
    for _ in range(3):
        it.learn_one([{"w": "the"}, {"w": "dog", "n": 2.0}], ["DET", "NOUN"])
        it.learn_one([{"w": "dogs"}, {"w": "bark"}], ["NOUN", "VERB"])
    assert it.predict_one([{"w": "dogs"}, {"w": "bark"}, {"unseen": 1.0}])[:2] == ["NOUN", "VERB"]
    assert it.n_features_in_ == len(it.feature_names_in_) == 5
    it.save(tmp_path / "model")
    back = load(tmp_path / "model")
    for one in (it, back):
        one.learn_one([{"w": "new"}], ["NEW"])
    np.testing.assert_array_equal(back.coef_, it.coef_)
    np.testing.assert_array_equal(back.transitions_, it.transitions_)
    hashed = SequenceClassifier("perceptron", features="hashed", n_bits=8)
    hashed.learn_one([{"w": "the"}, {"w": "dog"}], ["DET", "NOUN"])
    assert hashed.coef_.shape == (2, 256)


def test_scikit_learn_searches_over_lists():
    X, y = words(30, n=3)
    assert cross_val_score(SequenceClassifier("perceptron"), X, y, cv=3).shape == (3,)
    search = GridSearchCV(SequenceClassifier("passive-aggressive"), {"C": [0.1, 1]}, cv=3).fit(X, y)
    assert search.best_estimator_.predict(X)[0].shape == y[0].shape


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([np.eye(2), np.empty((0, 2))], [[0, 1], []], "word 1 of X has length 0"),
        ([np.eye(2)], [[0, 1], [0]], "inconsistent numbers of samples"),
        ([np.eye(2)], [[0]], "word 0 of y has 1 letters, but X has 2"),
        ([np.eye(2), np.eye(3)], [[0, 1], [0, 1, 0]], "word 1 of X has 3 features"),
        ([np.eye(2), np.array([[1, np.nan]])], [[0, 1], [0]], "NaN.*word 1, row 0"),
        ([np.eye(2)], [0], "word 0 of y is 0"),
        (np.eye(2), [0, 1], "list with a matrix"),
        ([np.zeros(3)], [[0]], "shape"),
        ([[{"a": 1.0}, {"a": float("nan")}]], [[0, 1]], "word 0 of X"),
        ([np.eye(2), np.eye(2)], [[0, 1], [0, None]], "word 1 of y: row 1: y contains NaN or None"),
        ([np.eye(2), np.eye(2)], [[0, 1], [0, {1}]], "word 1 of y: row 1: Unknown label type"),
    ],
)
def test_bad_input(X, y, message):
    with pytest.raises(ValueError, match=message):
        SequenceClassifier().fit(X, y)
    it = SequenceClassifier("perceptron").fit([np.eye(2)], [[0, 1]])
    before = it.coef_
    with pytest.raises(ValueError, match=r".*"):
        it.partial_fit(X, y)
    np.testing.assert_array_equal(it.coef_, before)


def test_bad_lengths_and_costs():
    with pytest.raises(ValueError, match="X has 3 rows, but the lengths"):
        SequenceClassifier().fit(np.eye(3), [0, 1, 0], lengths=[1, 1])
    with pytest.raises(ValueError, match="word 1 of X has length 0"):
        SequenceClassifier().fit(np.eye(3), [0, 1, 0], lengths=[3, 0])
    with pytest.raises(ValueError, match="X is a list of matrices"):
        SequenceClassifier().fit([np.eye(2), np.eye(3)], [0, 1, 0, 1, 0], lengths=[2, 3])
    with pytest.raises(ValueError, match="diagonal"):
        SequenceClassifier(cost=np.ones((2, 2))).fit([np.eye(2)], [[0, 1]])
    with pytest.raises(ValueError, match="classes must be given"):
        SequenceClassifier(cost=COST).partial_fit([np.eye(2)], [[0, 1]])
    with pytest.raises(ValueError, match="word 1 of y has the label 9, which is not"):
        SequenceClassifier(new_labels="error").partial_fit([np.eye(2)] * 2, [[0, 1], [1, 9]], classes=[0, 1])


@pytest.mark.parametrize(
    "estimator",
    [
        SequenceClassifier(),
        SequenceClassifier("passive-aggressive", average=True),
        SequenceClassifier("perceptron", normalize=True, dtype="float64"),
        SequenceClassifier("svm", tol=1e-13, dtype="float64"),
    ],
    ids=repr,
)
def test_our_checks(estimator):
    check_estimator(estimator)
