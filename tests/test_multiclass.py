"""Multiclass rules against their oracles, other solvers and the theorems of the chapter."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data as dense_weights_count_as_rows
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_sparse_data as sparse_weights_count_as_rows,
)

from hinge import LabelRanker, MulticlassClassifier, load, progressive
from hinge.checks import check_estimator
from hinge.metrics import cost_weighted_error, generalised_hinge_loss
from oracle.structured import Classes, Learner, block_ascent, hinge

RULES = [
    ("passive-aggressive", {"C": 0.25}),
    ("perceptron", {}),
    ("sgd", {"eta": 0.5}),
    ("sgd", {"alpha": 0.25}),
]
COST = np.array([[0, 1, 2, 0.5], [3, 0, 1, 1], [1, 1, 0, 2], [0.5, 4, 1, 0]])


def rows(count, n, k, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, n)) * (rng.random((count, n)) < 0.7)
    y = (X @ rng.normal(size=(n, k)) + noise * rng.normal(size=(count, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y


def all_weights(it):
    return np.column_stack([it.intercept_, it.coef_]) if it.fit_intercept else it.coef_


@pytest.mark.parametrize("intercept", [False, True], ids=["bare", "intercept"])
@pytest.mark.parametrize("cost", [None, COST], ids=["0-1", "costs"])
@pytest.mark.parametrize(("rule", "params"), RULES, ids=lambda v: "-".join(v) if isinstance(v, dict) else v)
def test_agrees_with_the_oracle_after_every_round(rule, params, cost, intercept):
    X, y = rows(60, 5, 4, seed=3)
    X[7] = 0
    weight = np.random.default_rng(1).choice([0, 0.5, 1, 2], 60)
    common = {"cost": cost, "fit_intercept": intercept, "dtype": "float64", **params}
    it, mean = MulticlassClassifier(rule, **common), MulticlassClassifier(rule, average=True, **common)
    oracle = Learner(Classes(4, cost), 4 * (5 + intercept), rule, **params)
    seen = []
    for t in range(60):
        x = np.append(1.0, X[t]) if intercept else X[t]
        seen.append(oracle.round(x, int(y[t]), float(weight[t])))
        given = sparse.csr_matrix(X[[t]]) if t % 2 else X[[t]]
        for one in (it, mean):
            one.partial_fit(given, y[[t]], classes=range(4) if t == 0 else None, sample_weight=weight[[t]])
        np.testing.assert_allclose(all_weights(it).ravel(), oracle.w, rtol=0, atol=1e-10, err_msg=f"round {t}")
        np.testing.assert_allclose(all_weights(mean).ravel(), oracle.mean, rtol=0, atol=1e-10, err_msg=f"round {t}")
        if rule == "passive-aggressive":
            assert it.certificate_.dual == pytest.approx(oracle.dual, abs=1e-9)
    again = MulticlassClassifier(rule, **common)
    curve = progressive(again, X, y, classes=range(4), every=1, sample_weight=weight).curve
    np.testing.assert_allclose(curve["loss"], [s.loss for s in seen], rtol=0, atol=1e-10)
    np.testing.assert_array_equal(curve["error"], [s.error for s in seen])
    np.testing.assert_array_equal(all_weights(again), all_weights(it))


def test_passive_aggressive_is_the_label_ranker_s_single_update():
    X, y = rows(200, 6, 5)
    a = MulticlassClassifier("passive-aggressive", C=0.25).partial_fit(X, y)
    b = LabelRanker("single", C=0.25).partial_fit(X, y)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert a.certificate_.dual == b.certificate_.dual
    assert a.certificate_.mistakes == b.certificate_.mistakes


def test_costs_of_rows_act_as_the_matrix_does():
    X, y = rows(40, 4, 4)
    matrix = MulticlassClassifier("sgd", COST, eta=0.5).fit(X, y)
    each = MulticlassClassifier("sgd", eta=0.5).fit(X, y, costs=COST.T[y])
    np.testing.assert_array_equal(matrix.coef_, each.coef_)
    machine = MulticlassClassifier("svm", COST, dtype="float64").fit(X, y)
    other = MulticlassClassifier("svm", dtype="float64").fit(X, y, costs=COST.T[y])
    np.testing.assert_array_equal(machine.coef_, other.coef_)
    shuffled = MulticlassClassifier("sgd", eta=0.5, shuffle=True, random_state=0)
    a = shuffled.fit(X, y, costs=COST.T[y]).coef_
    np.testing.assert_array_equal(a, shuffled.set_params(cost=COST).fit(X, y).coef_)


@pytest.mark.parametrize("seed", range(5))
def test_corollary_17_2_the_regret_of_sgd(seed):
    """With eta = B / (rho sqrt T), ||Psi|| <= rho / 2: at most B rho sqrt T behind any u with ||u|| <= B."""
    X, y = rows(200, 5, 4, seed, noise=2)
    B, rho = 3.0, 2 * np.sqrt((X**2).sum(axis=1).max())
    it = MulticlassClassifier("sgd", COST, eta=B / (rho * np.sqrt(200)), fit_intercept=False, dtype="float64")
    suffered = progressive(it, X, y, classes=range(4), every=1).curve["loss"].sum()
    problem, rng = Classes(4, COST), np.random.default_rng(seed)
    best = MulticlassClassifier("svm", COST, alpha=0.01, fit_intercept=False, dtype="float64").fit(X, y).coef_
    for u in [best, *rng.normal(size=(20, 4, 5))]:
        u = B * u / np.linalg.norm(u)
        fixed = sum(hinge(problem, u.ravel(), x, int(t)) for x, t in zip(X, y, strict=True))
        assert suffered <= fixed + B * rho * np.sqrt(200)


@pytest.mark.parametrize("rule", ["sgd", "passive-aggressive", "svm"])
def test_the_hinge_bounds_the_cost(rule):
    for seed in range(5):
        X, y = rows(50, 3, 4, seed, noise=2)
        it = MulticlassClassifier(rule, COST, dtype="float64").fit(X, y)
        assert generalised_hinge_loss(y, it.decision_function(X), cost=COST) >= cost_weighted_error(
            y, it.predict(X), cost=COST, labels=range(4)
        )


@pytest.mark.parametrize("cost", [None, COST], ids=["0-1", "costs"])
def test_svm_agrees_with_block_ascent_and_closes_its_gap(cost):
    X, y = rows(30, 4, 4)
    X[5] = 0
    it = MulticlassClassifier(
        "svm", cost, alpha=0.05, tol=1e-10, max_passes=20000, fit_intercept=False, dtype="float64"
    )
    it.fit(X, y)
    W, dual = block_ascent(X, y.tolist(), Classes(4, cost), 0.05, 1500)
    assert 0 <= it.gap_ <= 1e-8
    assert it.objective_ == pytest.approx(dual, abs=1e-8)
    np.testing.assert_allclose(it.coef_, W, rtol=0, atol=1e-4)
    problem = Classes(4, cost)
    objective = 0.05 * (it.coef_**2).sum() + np.mean(
        [hinge(problem, it.coef_.ravel(), x, int(t)) for x, t in zip(X, y, strict=True)]
    )
    assert it.objective_ == pytest.approx(objective, abs=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(20):  # the certificate: no classifier does better
        w = it.coef_ + rng.normal(scale=rng.choice([0, 0.01, 0.3]), size=it.coef_.shape)
        total = sum(hinge(problem, w.ravel(), x, int(t)) for x, t in zip(X, y, strict=True))
        assert it.certificate_.hindsight_loss((w**2).sum() / 2) <= total + 1e-9


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_svm_is_liblinear_s_crammer_singer(C):
    X, y = rows(120, 6, 4, seed=2)
    weight = np.random.default_rng(0).choice([0.5, 1, 2], 120)
    ours = MulticlassClassifier("svm", C=C, tol=1e-9, max_passes=50000, dtype="float64").fit(X, y, weight)
    peer = LinearSVC(multi_class="crammer_singer", C=C, tol=1e-9, max_iter=200000).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=0, atol=2e-4)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=0, atol=2e-4)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_svm_closes_its_gap_on_rows_that_are_alike(load, C):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    it = MulticlassClassifier("svm", C=C, tol=1e-8, dtype="float64").fit(X, y)
    assert 0 <= it.gap_ <= 1e-8 * it.objective_
    assert MulticlassClassifier("svm", C=C).fit(X, y).objective_ == pytest.approx(it.objective_, rel=1e-4)
    scores = it.decision_function(X)
    value = ((it.coef_**2).sum() + (it.intercept_**2).sum()) / (2 * C * len(X)) + generalised_hinge_loss(y, scores)
    assert it.objective_ == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("check", [dense_weights_count_as_rows, sparse_weights_count_as_rows])
def test_svm_ignores_the_order_of_rows_as_scikit_learn_asks(check):
    check("MulticlassClassifier", MulticlassClassifier("svm", tol=1e-12, dtype="float64"))


def test_svm_weights_count_as_repeated_rows():
    X, y = rows(40, 3, 3)
    times = np.random.default_rng(0).integers(0, 3, 40)
    common = {"tol": 1e-10, "max_passes": 20000, "dtype": "float64"}
    a = MulticlassClassifier("svm", **common).fit(X, y, times)
    b = MulticlassClassifier("svm", **common).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-4)


def test_exercise_1_separated_balls_have_zero_hinge_and_the_perceptron_stops():
    """Theorem 17.5: at most ``(R ||w*||)^2`` updates, where w* has the margin 1 everywhere."""
    rng = np.random.default_rng(0)
    for seed in range(5):
        means, r = rng.normal(size=(4, 3)), 1.0
        means *= 4.0 * r / min(np.linalg.norm(a - b) for i, a in enumerate(means) for b in means[:i])
        y = rng.integers(0, 4, 60)
        offset = rng.normal(size=(60, 3))
        X = means[y] + r * offset / np.linalg.norm(offset, axis=1)[:, None] * rng.random((60, 1))
        star = np.column_stack([means, -(means**2).sum(axis=1) / 2])
        assert generalised_hinge_loss(y, X @ star[:, :3].T + star[:, 3]) == 0
        it = MulticlassClassifier("perceptron", max_iter=10**6, dtype="float64").fit(X, y)
        R2 = 2 * ((X**2).sum(axis=1) + 1).max()
        assert it._model.ledger()["mistakes"] <= R2 * (star**2).sum(), seed
        assert it.score(X, y) == 1
        assert it.n_iter_ < 10**6


def test_erm_separates_or_names_a_contradiction():
    X, y = rows(80, 4, 3, noise=0)
    it = MulticlassClassifier("erm", dtype="float64").fit(X, y)
    scores = it.decision_function(X)
    own = scores[np.arange(80), y]
    scores[np.arange(80), y] = -np.inf
    assert (own - scores.max(axis=1)).min() > 0
    assert np.abs(it.coef_).max() <= 1 + 1e-9
    X, y = np.vstack([X, X[[11]]]), np.append(y, (y[11] + 1) % 3)
    with pytest.raises(ValueError, match="not realisable") as error:
        MulticlassClassifier("erm").fit(X, y)
    named = [int(number) for number in re.search(r"rows ([0-9, ]+);", str(error.value)).group(1).split(",")]
    assert 80 in named
    assert sorted(error.value.witness) == named
    assert min(error.value.witness.values()) > 0
    assert sum(error.value.witness.values()) == pytest.approx(1)
    with pytest.raises(ValueError, match="not realisable"):
        MulticlassClassifier("erm").fit(X[named], y[named])


@pytest.mark.parametrize("rule", ["svm", "erm"])
def test_batch_rules_have_no_online_methods_and_say_which_have(rule):
    X, y = rows(20, 4, 3, noise=0)
    it = MulticlassClassifier(rule)
    for name in ("partial_fit", "learn_one"):
        assert not hasattr(it, name)
        with pytest.raises(AttributeError, match=r"'sgd'.*'passive-aggressive'.*'perceptron'"):
            getattr(it, name)
    with pytest.raises(AttributeError, match="'sgd'"):
        progressive(it, X, y)
    it.fit(X, y)
    assert not hasattr(it, "partial_fit")


def test_svm_survives_a_file(tmp_path):
    X, y = rows(20, 4, 4)
    it = MulticlassClassifier("svm", COST).fit(X, np.array(list("abcd"))[y])
    it.save(tmp_path / "m.hinge")
    back = load(tmp_path / "m.hinge")
    np.testing.assert_array_equal(back.coef_, it.coef_)
    assert back.gap_ == it.gap_
    assert back.certificate_ == it.certificate_


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"cost": [[0, 1], [1, 0.5]]}, "zero on the diagonal.*row 1"),
        ({"cost": [[0, -1], [1, 0]]}, "row 0, column 1 is -1"),
        ({"cost": [[0, 1, 1], [1, 0, 1]]}, "square"),
        ({"cost": np.ones((3, 3)) - np.eye(3)}, "cost has 3 rows for 2 classes"),
        ({"eta": 0.1, "alpha": 0.1}, "exclude"),
        ({"rule": "magic"}, "The 'rule' parameter of MulticlassClassifier must be"),
        ({"C": 0}, "The 'C' parameter"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        MulticlassClassifier(**params).fit([[0.0], [1.0]], ["a", "b"])


def test_bad_costs_of_rows_and_labels():
    X, y = np.eye(3), [0, 1, 2]
    it = MulticlassClassifier()
    for costs, message in [
        (np.ones((3, 2)), "shape"),
        (np.ones((3, 3)), "row 0 must be 0"),
        (-COST[:3, :3], "row 0 must be finite and not neg"),
    ]:
        with pytest.raises(ValueError, match=message):
            it.fit(X, y, costs=costs)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        it.fit(X, [0, 1])
    with pytest.raises(ValueError, match="Unknown label type"):
        it.fit(X, [{1}, {2}, {1, 2}])
    with pytest.raises(ValueError, match="classes must be given"):
        MulticlassClassifier(cost=COST[:3, :3]).partial_fit(X, y)
    with pytest.raises(ValueError, match="row 2 of y has the label 9, of which cost says nothing"):
        MulticlassClassifier(cost=COST[:3, :3]).partial_fit(X, [0, 1, 9], classes=[0, 1, 2])


@pytest.mark.parametrize(
    "estimator",
    [
        MulticlassClassifier("passive-aggressive"),
        MulticlassClassifier("perceptron", average=True),
        MulticlassClassifier("sgd", eta=0.5, dtype="float64"),
        MulticlassClassifier("svm"),
    ],
    ids=repr,
)
def test_our_checks(estimator):
    check_estimator(estimator)
