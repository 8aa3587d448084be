"""Label ranking by pairs: each solver against its oracle, the optimum against an outside solver, and the bounds."""

from __future__ import annotations

import logging
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import label_ranking_loss
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import hinge
from hinge import MMP, LabelRanker, PairwiseLabelRanker, PairwiseLabelRankerCV, _core, metrics, progressive
from hinge.checks import all_checks, check_estimator
from hinge.rank_svm import RankSvm
from oracle import pairwise as oracle
from oracle.streams import KINDS, stream
from rankers import all_weights, dicts, features, fingerprint, sets, weights, with_intercept

CLOSE = 1e-10
ALPHA = 2.0**-7
ALGORITHMS = {
    "ansgd": (PairwiseLabelRanker(alpha=ALPHA), lambda n, k: oracle.Ansgd(n, k, ALPHA)),
    "ansgd-auto": (PairwiseLabelRanker(alpha=ALPHA, lipschitz="auto"), lambda n, k: oracle.Ansgd(n, k, ALPHA, "auto")),
    "sgd": (PairwiseLabelRanker("sgd", alpha=ALPHA), lambda n, k: oracle.Sgd(n, k, ALPHA)),
    "sgd-soon": (PairwiseLabelRanker("sgd", alpha=ALPHA, offset=1), lambda n, k: oracle.Sgd(n, k, ALPHA, 1)),
    "uniform": (MMP(), lambda n, k: oracle.Mmp(n, k)),
    "max": (MMP("max"), lambda n, k: oracle.Mmp(n, k, "max")),
}


def algorithm(name, n, k, **params):
    """Return a ranker in float64 and its oracle, whose first feature is the intercept where there is one."""
    ranker, make = ALGORITHMS[name]
    ranker = clone(ranker).set_params(dtype="float64", **params)
    return ranker, make(n + ranker.fit_intercept, k)


def is_decided(learner, x, example):
    """Say whether rounding decides neither the order of a pair of scores nor the kink of its hinge.

    Weights that never moved tie exactly. Other scores that are equal on paper are equal up to rounding only.
    """
    M = learner.M[: example.alive][:, x != 0]
    s, in_Y = oracle.scores(M, x[x != 0]), np.isin(np.arange(example.alive), example.relevant)
    apart, unmoved = s[in_Y][:, None] - s[~in_Y], ~learner.total[: example.alive][:, x != 0].any(axis=1)
    tied = (np.abs(apart) < 1e-11) & ~(unmoved[in_Y][:, None] & unmoved[~in_Y])
    return not (tied.any() or (isinstance(learner, oracle.Sgd) and (np.abs(apart - 1) < 1e-11).any()))


# -- round by round -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("average", [False, True], ids=["last", "mean"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_agrees_with_the_oracle_after_every_round(name, kind, average):
    n, k = 7, 5
    ranker, learner = algorithm(name, n, k, average=average, fit_intercept=average)
    again, taken, seen = clone(ranker), [], []
    for t, example in enumerate(stream(kind, n=n, k=k, rounds=70, seed=11, awkward=True, weighted=True)):
        x = with_intercept(ranker, example.x)
        if not is_decided(learner, x, example):
            continue
        taken.append(example)
        seen.append(learner.round(x, example.relevant, example.weight, example.alive))
        ranker.partial_fit(features([example], csr=kind != "dense"), dicts([example]), sample_weight=weights([example]))
        expected = (learner.average if average else learner.M)[: len(ranker.classes_)]
        np.testing.assert_allclose(all_weights(ranker), expected, rtol=0, atol=CLOSE, err_msg=f"round {t}")
    assert len(taken) >= 25
    assert ranker.t_ == len(taken)
    curve = progressive(again, features(taken, csr=kind != "dense"), dicts(taken), every=1,
                        sample_weight=weights(taken)).curve  # fmt: skip
    np.testing.assert_allclose(curve["loss"], [loss for loss, _ in seen], rtol=0, atol=CLOSE)
    np.testing.assert_allclose(curve["error"], [error for _, error in seen], rtol=0, atol=1e-15)
    assert fingerprint(again) == fingerprint(ranker)


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize(("n", "k"), [(1, 2), (30, 2), (3, 33), (3, 700)])
def test_agrees_with_the_oracle_in_other_shapes(name, n, k):
    ranker, learner = algorithm(name, n, k, fit_intercept=False, average=True)
    rounds = stream("dense", n=n, k=k, rounds=40, seed=5)
    for example in rounds:
        learner.round(example.x, example.relevant)
    ranker.partial_fit(features(rounds), sets(rounds), classes=range(k))
    np.testing.assert_allclose(ranker.coef_, learner.average, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("name", ["ansgd", "sgd"])
def test_lazy_and_sparse_is_dense_and_plain_after_ten_thousand_rounds(name):
    rng, n, k, rounds = np.random.default_rng(3), 40, 4, 10_000
    X = sparse.random(rounds, n, density=0.08, format="csr", random_state=rng)
    best = np.asarray((X @ rng.normal(size=(n, k))) + 0.1 * rng.normal(size=(rounds, k))).argmax(axis=1)
    for average in (False, True):
        ranker, learner = algorithm(name, n, k, fit_intercept=False, average=average)
        ranker.set_params(alpha=1e-4)
        learner.lam = 1e-4
        ranker.partial_fit(X[:1], best[:1], classes=range(k)).partial_fit(X[1:], best[1:])
        for x, y in zip(X.toarray(), best, strict=True):
            learner.round(x, {int(y)})
        expected = learner.average if average else learner.M
        np.testing.assert_allclose(ranker.coef_, expected, rtol=0, atol=1e-9 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("solver", ["ansgd", "sgd"])
def test_float32_stays_near_float64(solver):
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(3000, 20)) / np.sqrt(20), rng.normal(size=(20, 6))
    Y = (X @ W > 0.5).astype(int)
    one, two = (PairwiseLabelRanker(solver, alpha=1e-3, dtype=d).fit(X, Y) for d in ("float32", "float64"))
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=0, atol=2e-3 * np.abs(two.coef_).max())


# -- the coefficients -----------------------------------------------------------------------------------------------


def smoothed(scores, in_Y, length):
    """Return the core's smoothed and plain mean hinge, mean slope, and the slopes along the scores."""
    delta = np.array(scores[None])
    label = np.flatnonzero(in_Y).astype(np.int32)
    one = _core.smoothed_pairs(delta, np.array([0, label.size]), label, length)
    return (*one[:, 0], delta[0])


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.8, 0.98])
@pytest.mark.parametrize("k", [2, 9, 300])
@pytest.mark.parametrize("a", [1e-9, 1e-3, 1.0, 100.0])
def test_all_coefficients_are_the_sums_over_pairs(k, share, a):
    """Few relevant, few irrelevant, and many of both, where the lists are sorted."""
    rng = np.random.default_rng(k)
    s, in_Y = 2 * rng.normal(size=k), rng.random(k) < share
    in_Y[:2] = True, False
    N = int(in_Y.sum() * (~in_Y).sum())
    value, hinge_, slope, delta = smoothed(s, in_Y, a * N)
    beta = oracle.betas(s, in_Y, a)
    np.testing.assert_allclose(N * delta, oracle.zetas(beta, in_Y), rtol=1e-9, atol=1e-9)
    assert slope == pytest.approx(beta.mean(), abs=1e-12)
    assert hinge_ == pytest.approx(oracle.average_hinge(s, in_Y), abs=1e-12)
    assert value == pytest.approx(oracle.smoothed_hinge(s, in_Y, a), abs=1e-11)
    assert hinge_ - a * N / 2 - 1e-12 <= value <= hinge_ + 1e-12


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
@pytest.mark.parametrize("length", [2.0**-43, 2.0**-33, 2.0**-20, 1.0])
@pytest.mark.parametrize("where", ["on the kink", "all equal", "far apart"])
def test_short_ramps_and_ties_lose_nothing(where, length, share):
    """Pairs within 1e-13 of the kink of their hinge: a difference of sums of scores would be noise there.

    The scores are such that no violation is rounded.
    """
    rng, k = np.random.default_rng(0), 400
    s, in_Y = np.round(rng.normal(size=k)) + 2.0**-43 * rng.integers(-2, 3, size=k), rng.random(k) < share
    s = {"on the kink": s, "all equal": np.full(k, 0.25), "far apart": 2.0**20 * s}[where]
    value, hinge_, slope, delta = smoothed(s, in_Y, length)
    violation = oracle.violations(s, in_Y)
    beta = np.clip(violation / length, 0, 1)
    np.testing.assert_allclose(delta * beta.size, oracle.zetas(beta, in_Y), rtol=1e-12, atol=1e-9)
    assert slope == pytest.approx(beta.mean(), abs=1e-13)
    assert delta[in_Y].sum() == pytest.approx(-delta[~in_Y].sum(), abs=1e-13)
    assert value == pytest.approx((beta * violation - length * beta**2 / 2).mean(), rel=1e-10)
    assert hinge_ == pytest.approx(oracle.average_hinge(s, in_Y), rel=1e-13)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_coefficients_are_the_gradient_of_the_smoothed_hinge(share):
    rng, k, length, step = np.random.default_rng(0), 200, 0.7, 1e-6
    s, in_Y = rng.normal(size=k), rng.random(k) < share
    _, _, _, delta = smoothed(s, in_Y, length)
    for y in range(0, k, 17):
        e = step * (np.arange(k) == y)
        slope = (smoothed(s + e, in_Y, length)[0] - smoothed(s - e, in_Y, length)[0]) / (2 * step)
        assert slope == pytest.approx(delta[y], abs=1e-8)


def test_coefficients_tend_to_the_subgradient():
    rng, k = np.random.default_rng(0), 40
    s, in_Y = rng.normal(size=k), rng.random(k) < 0.3
    expected = oracle.zetas(oracle.betas(s, in_Y, 0), in_Y) / (in_Y.sum() * (~in_Y).sum())
    errors = [np.abs(smoothed(s, in_Y, length)[3] - expected).max() for length in (10.0, 1.0, 1e-12)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-14


# -- reductions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("average", [False, True])
def test_mmp_max_is_the_fixed_label_ranker(average):
    rounds = stream("sparse", n=9, k=6, rounds=200, seed=2)
    mmp = MMP("max", dtype="float64").fit(features(rounds), sets(rounds))
    ranker = LabelRanker("fixed", dtype="float64").fit(features(rounds), sets(rounds))
    np.testing.assert_array_equal(mmp.coef_, ranker.coef_)
    np.testing.assert_array_equal(mmp.intercept_, ranker.intercept_)


def test_mmp_s_two_updates_are_one_for_two_labels():
    rounds = stream("dense", n=5, k=2, rounds=100, seed=2)
    one, two = (MMP(update, dtype="float64").fit(features(rounds), sets(rounds)) for update in ("uniform", "max"))
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=0, atol=1e-13)


# -- the optimum ----------------------------------------------------------------------------------------------------


def small_problem(n=36, d=5, k=4, seed=0):
    """Rows of norm at most 1, the constant feature counted; a few without a pair."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * np.sqrt(2)
    Y = (X @ rng.normal(size=(d, k)) + 0.2 * rng.normal(size=(n, k)) > 0.1).astype(int)
    Y[0], Y[1] = 0, 1
    return X, Y


def optimum(X, Y, alpha):
    """Solve by an outside solver, the pairs written out; the constant feature comes first."""
    cvxpy = pytest.importorskip("cvxpy")
    rows = [
        (x, y)
        for x, y in zip(np.column_stack([np.ones(len(X)), X]), Y.astype(bool), strict=True)
        if 0 < y.sum() < y.size
    ]
    M = cvxpy.Variable((Y.shape[1], X.shape[1] + 1))
    hinges = 0
    for x, y in rows:
        s, (up, down) = M @ x, (np.flatnonzero(y), np.flatnonzero(~y))
        wide = 1 - np.eye(y.size)[np.repeat(up, down.size)] @ s + np.eye(y.size)[np.tile(down, up.size)] @ s
        hinges = hinges + cvxpy.sum(cvxpy.pos(wide)) / (up.size * down.size)
    problem = cvxpy.Problem(cvxpy.Minimize(alpha / 2 * cvxpy.sum_squares(M) + hinges / len(rows)))
    problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return float(problem.value)


@pytest.mark.parametrize("alpha", [1e-4, 1e-3, 1e-2, 1e-1, 1.0])
def test_every_solver_reaches_the_optimum(alpha):
    X, Y = small_problem()
    best = optimum(X, Y, alpha)
    batch = PairwiseLabelRanker("lbfgs", alpha=alpha, dtype="float64").fit(X, Y)
    assert batch.lower_bound_ <= best + 1e-9
    assert -1e-9 <= batch.objective(X, Y) - best <= 1e-6
    assert batch.gap_ <= 1e-6
    assert batch.objective(X, Y) == pytest.approx(batch.lower_bound_ + batch.gap_, abs=1e-12)
    in_float32 = PairwiseLabelRanker("lbfgs", alpha=alpha).fit(X, Y)
    assert abs(in_float32.objective(X, Y) - best) <= 2e-6
    # what the others leave after t rounds: at most a constant over alpha t
    drawn = np.random.default_rng(0).integers(len(X), size=100_000)
    for solver in ("ansgd", "sgd"):
        ranker = PairwiseLabelRanker(solver, alpha=alpha, dtype="float64").fit(X[drawn], Y[drawn])
        excess = ranker.objective(X, Y) - best
        assert -1e-9 <= excess <= min(0.02, 50 / (alpha * drawn.size))


@pytest.mark.parametrize("alpha", [1e-1, 1.0])
def test_ansgd_s_excess_falls_like_one_over_t(alpha):
    X, Y = small_problem()
    lower = PairwiseLabelRanker("lbfgs", alpha=alpha, dtype="float64", tol=1e-9).fit(X, Y).lower_bound_
    rounds = 2 ** np.arange(9, 17)
    excess = np.zeros(rounds.size)
    for seed in range(4):
        ranker, done = PairwiseLabelRanker(alpha=alpha, dtype="float64", average=False), 0
        drawn = np.random.default_rng(seed).integers(len(X), size=rounds[-1])
        ranker.partial_fit(X[:1], Y[:1])
        for i, t in enumerate(rounds):
            ranker.partial_fit(X[drawn[done:t]], Y[drawn[done:t]])
            excess[i], done = excess[i] + ranker.objective(X, Y) - lower, t
    slope = np.polyfit(np.log(rounds), np.log(excess), 1)[0]
    assert -1.4 < slope < -0.75


@pytest.mark.parametrize("seed", range(5))
def test_the_lower_bound_is_below_whatever_is_reached(seed):
    """Also where the gap is left wide."""
    X, Y = small_problem(seed=seed)
    exact = PairwiseLabelRanker("lbfgs", alpha=1e-2, dtype="float64").fit(X, Y)
    for tol in (1.0, 0.1, 1e-2, 1e-3):
        wide = PairwiseLabelRanker("lbfgs", alpha=1e-2, dtype="float64", tol=tol).fit(X, Y)
        assert wide.lower_bound_ <= exact.objective(X, Y) <= wide.lower_bound_ + wide.gap_
        assert wide.gap_ <= tol


def test_weights_of_rows_are_repetitions_for_lbfgs():
    X, Y = small_problem()
    times = np.arange(len(X)) % 3
    one = PairwiseLabelRanker("lbfgs", alpha=0.1, dtype="float64", tol=1e-9).fit(X, Y, sample_weight=times)
    two = PairwiseLabelRanker("lbfgs", alpha=0.1, dtype="float64", tol=1e-9)
    two.fit(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0))
    assert one.lower_bound_ == pytest.approx(two.lower_bound_, abs=2e-9)
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=0, atol=1e-3)


def test_one_thread_of_blas_is_enough_for_lbfgs():
    """Short vectors only make its threads wait for one another, at sixty times the cost on a busy machine."""
    from threadpoolctl import threadpool_info

    seen = []

    class Watched(RankSvm):
        def __call__(self, flat):
            seen.extend(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
            return super().__call__(flat)

    X, Y = small_problem()
    indicator = sparse.csr_matrix(Y)
    start, label = indicator.indptr.astype(np.int64), indicator.indices.astype(np.int32)
    Watched(_core.PairProblem(_core.RowsFloat64(X, True), start, label, None, Y.shape[1]), 1.0).solve(1e-3)
    assert set(seen) == {1}


def test_a_gap_that_cannot_be_closed_is_a_warning():
    X, Y = small_problem()
    with pytest.warns(ConvergenceWarning, match=r"tol=1e-30 was not reached"):
        PairwiseLabelRanker("lbfgs", alpha=1e-1, dtype="float64", tol=1e-30).fit(X, Y)


# -- what is left on a data set -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ansgd", "uniform"])
@pytest.mark.parametrize("average", [False, True])
def test_measures_are_those_of_the_metrics(name, average):
    rng, n, k = np.random.default_rng(0), 6, 5
    X, Y = rng.normal(size=(150, n)), (rng.random((150, k)) < 0.3).astype(int)
    ranker, _ = algorithm(name, n, k, average=average)
    ranker.fit(X, Y)
    seen, scores = ranker.measures(X, Y), ranker.decision_function(X)
    assert seen["ranking_loss"] == pytest.approx(metrics.ranking_loss(Y, scores), abs=1e-14)
    assert seen["auc"] == pytest.approx(metrics.label_ranking_auc(Y, scores), abs=1e-14)
    assert seen["squared_norm"] == pytest.approx((all_weights(ranker) ** 2).sum())
    if name == "ansgd":
        M = all_weights(ranker)
        expected = oracle.objective(M, np.column_stack([np.ones(len(X)), X]), Y, ALPHA)
        assert ranker.objective(X, Y) == pytest.approx(expected, abs=1e-13)
        assert ranker.objective(X.tolist(), sparse.csr_matrix(Y)) == ranker.objective(X, Y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_do_not_depend_on_the_number_of_threads(dtype):
    rng, rows, k = np.random.default_rng(0), 1000, 37
    Y = sparse.csr_matrix(rng.random((rows, k)) < 0.2)
    start, label = Y.indptr.astype(np.int64), Y.indices.astype(np.int32)
    scores = rng.integers(-3, 4, size=(rows, k)).astype(dtype)  # ties among them
    one, *others = (_core.count_pairs(scores, start, label, threads) for threads in (1, 2, 3, 7))
    assert all((one == other).all() for other in others)
    assert one[1].sum() / max(1, np.count_nonzero(one[3])) > 0
    of = np.maximum(one[3], 1)
    assert (one[1] / of).mean() == pytest.approx(label_ranking_loss(Y.toarray(), scores), abs=1e-14)

    X = rng.normal(size=(rows, 9))
    problem = _core.PairProblem(_core.RowsFloat64(X, True), start, label, None, k)
    W = np.zeros((problem.features, problem.width))
    W[:, :k] = rng.normal(size=(10, k))
    gradients = [np.empty_like(W) for _ in range(3)]
    sums = [problem.evaluate(W, 0.5, threads, g) for threads, g in zip((1, 2, 5), gradients, strict=True)]
    assert sums[0] == sums[1] == sums[2]
    assert (gradients[0] == gradients[1]).all()
    assert (gradients[0] == gradients[2]).all()


# -- what people hand over ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [
        PairwiseLabelRanker("sgd", alpha=0.01),
        PairwiseLabelRanker(lipschitz="auto", average=False, dtype="float64"),
        MMP("max", average=True),
    ],
    ids=repr,
)
def test_our_checks_hold_for_the_others(estimator):
    check_estimator(estimator)


SAME_SOLUTION = "the gap leaves the weights undetermined by about sqrt(2 tol / alpha)"


def test_our_checks_hold_for_lbfgs():
    results = check_estimator(PairwiseLabelRanker("lbfgs", alpha=0.1), on_fail=None)
    failed = {one["check_name"] for one in results if one["status"] == "failed"}
    assert failed <= {"check_order_of_features"}, SAME_SOLUTION
    assert "check_chunks" not in dict(all_checks(PairwiseLabelRanker("lbfgs")))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [PairwiseLabelRanker("lbfgs"), PairwiseLabelRankerCV(alphas=[1e-4, 1e-2], cv=2)],
    expected_failed_checks=lambda it: (
        dict.fromkeys(
            ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
            SAME_SOLUTION,
        )
        if isinstance(it, PairwiseLabelRanker)
        else {}
    ),
)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": 0}, "The 'alpha' parameter of PairwiseLabelRanker must be a float in the range"),
        ({"alpha": -1.0}, "The 'alpha' parameter"),
        ({"lipschitz": 0.0}, "The 'lipschitz' parameter"),
        ({"lipschitz": "large"}, "The 'lipschitz' parameter"),
        ({"offset": -1}, "The 'offset' parameter"),
        ({"solver": "newton"}, "The 'solver' parameter"),
        ({"dtype": "float16"}, "The 'dtype' parameter"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        PairwiseLabelRanker(**params).fit(np.eye(2), [0, 1])


@pytest.mark.parametrize("estimator", [PairwiseLabelRanker(), PairwiseLabelRanker("lbfgs"), MMP()], ids=repr)
def test_values_that_are_not_finite_are_named_before_anything_is_learned(estimator):
    X = np.eye(3)
    estimator = clone(estimator).fit(X, [0, 1, 2])
    before = fingerprint(estimator)
    X[1, 2] = np.inf
    with pytest.raises(ValueError, match="infinity in row 1, column 2"):
        estimator.fit(X, [0, 1, 2])
    assert fingerprint(estimator) == before


def test_lbfgs_has_no_rounds_and_says_which_solvers_do():
    batch = PairwiseLabelRanker("lbfgs")
    for name in ("partial_fit", "learn_one"):
        assert not hasattr(batch, name)
        with pytest.raises(AttributeError, match=rf"no {name} with solver='lbfgs'.*'ansgd' or solver='sgd'"):
            getattr(batch, name)
        assert hasattr(PairwiseLabelRanker("sgd"), name)
    with pytest.raises(AttributeError, match=r"no hinge\.progressive with solver='lbfgs'.*'ansgd' or solver='sgd'"):
        progressive(batch, np.eye(2), [0, 1])


@pytest.mark.parametrize("solver", ["ansgd", "lbfgs"])
def test_rows_without_a_pair_are_counted_and_reported_once(solver, caplog):
    X, Y = small_problem()
    with caplog.at_level(logging.WARNING, logger="hinge"):
        ranker = PairwiseLabelRanker(solver, max_iter=3, alpha=0.1).fit(X, Y)
    idle = int(((Y.sum(axis=1) == 0) | (Y.sum(axis=1) == Y.shape[1])).sum())
    passes = 1 if solver == "lbfgs" else 3
    assert ranker.rows_without_pairs_ == passes * idle >= 2
    assert len(caplog.records) == 1
    assert f"{idle} of {len(X)} rows" in caplog.text
    again = pickle.loads(pickle.dumps(ranker))
    if solver != "lbfgs":
        again.partial_fit(X, Y)
    PairwiseLabelRankerCV(ranker, alphas=[0.1, 1.0], cv=2).fit(X, Y)
    assert len(caplog.records) == 2  # once by the fit to all rows; not by those to parts
    with_pairs = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < Y.shape[1])
    assert ranker.objective(X, Y) == pytest.approx(ranker.objective(X[with_pairs], Y[with_pairs]))


def test_sets_from_lbfgs_are_cut_and_survive_a_file(tmp_path):
    X, Y = small_problem()
    names = np.array(["a", "b", "c", "d"])
    wanted = [set(names[row > 0]) for row in Y]
    ranker = PairwiseLabelRanker("lbfgs", alpha=1e-2).fit(X, wanted)
    assert np.mean([a == b for a, b in zip(ranker.predict(X), wanted, strict=True)]) > 0.3
    ranker.save(tmp_path / "model")
    for again in (hinge.load(tmp_path / "model"), pickle.loads(pickle.dumps(ranker)), ranker.snapshot()):
        assert fingerprint(again) == fingerprint(ranker)
        assert (again.gap_, again.lower_bound_, again.n_iter_) == (ranker.gap_, ranker.lower_bound_, ranker.n_iter_)
        assert again.predict(X) == ranker.predict(X)
    with pytest.raises(AttributeError, match="after a fit with solver='lbfgs'"):
        _ = PairwiseLabelRanker().fit(X, Y).gap_


@pytest.mark.parametrize("solver", ["ansgd", "lbfgs"])
def test_dicts_are_the_rows_that_they_name(solver):
    X, Y = small_problem()
    rows = [{f"x{j}": v for j, v in enumerate(row)} for row in X]
    one = PairwiseLabelRanker(solver, alpha=0.1, dtype="float64").fit(X, Y)
    two = PairwiseLabelRanker(solver, alpha=0.1, dtype="float64").fit(rows, Y)
    np.testing.assert_allclose(two.coef_, one.coef_, rtol=0, atol=1e-12)
    assert two.objective(rows, Y) == pytest.approx(one.objective(X, Y), abs=1e-13)
    assert two.objective([{**row, "never seen": 3.0} for row in rows], Y) == two.objective(rows, Y)


# -- choosing alpha -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", [3, 0.25])
def test_alpha_with_the_least_loss_on_rows_held_out_is_chosen(cv):
    X, Y = small_problem(n=200)
    batch = PairwiseLabelRanker("lbfgs", tol=1e-2)
    search = PairwiseLabelRankerCV(batch, alphas=[10.0, 1e-2, 1e-3], cv=cv, random_state=0).fit(X, Y)
    assert search.ranking_losses_.shape == (3, 1 if cv < 1 else 3)
    losses = dict(zip([1e-3, 1e-2, 10.0], search.ranking_losses_.mean(axis=1), strict=True))
    assert losses[search.alpha_] == min(losses.values()) < losses[10.0]
    expected = clone(batch).set_params(alpha=search.alpha_).fit(X, Y)
    np.testing.assert_array_equal(search.decision_function(X), expected.decision_function(X))
    assert search.objective(X, Y) == expected.objective(X, Y)
    assert search.rank(X[:2], top=1) == expected.rank(X[:2], top=1)


@pytest.mark.parametrize("alphas", [[], [0.0], [-1.0, 1.0], [np.nan], [np.inf], [[1.0]]], ids=str)
def test_alphas_that_cannot_be_chosen_from(alphas):
    with pytest.raises(ValueError, match="alphas must be at least one number, each above 0"):
        PairwiseLabelRankerCV(alphas=alphas, cv=2).fit(np.eye(4), [0, 1, 0, 1])


FORMS = {
    "dense": lambda Y: Y,
    "CSR": sparse.csr_matrix,
    "sets": lambda Y: [set(np.array(["a", "b", "c", "d"])[row > 0]) for row in Y],
    "dicts": lambda Y: [dict(zip("abcd", row.astype(bool).tolist(), strict=True)) for row in Y],
}


@pytest.mark.parametrize("form", FORMS)
def test_targets_of_every_form_are_searched_alike(form):
    X, Y = small_problem(n=120)
    asked = FORMS[form](Y)
    search = GridSearchCV(PairwiseLabelRanker("lbfgs", tol=1e-2), {"alpha": [10.0, 1e-2]}, cv=3).fit(X, asked)
    assert search.best_params_ == {"alpha": 1e-2}
    assert search.best_score_ > 0.9
    assert type(search.predict(X)) is type(asked)
    own = PairwiseLabelRankerCV(PairwiseLabelRanker("lbfgs", tol=1e-2), alphas=[10.0, 1e-2], cv=3).fit(X, asked)
    assert own.alpha_ == 1e-2
    assert type(own.predict(X)) is type(asked)
