"""One against all and all pairs: against a loop over binary learners, and where the first of them fails."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.multiclass import OneVsOneClassifier
from sklearn.utils.estimator_checks import check_estimators_overwrite_params

from hinge import AllPairsClassifier, LabelRanker, MulticlassClassifier, OneVsAllClassifier, load, progressive

BINARY = [
    LabelRanker("single", dtype="float64"),
    LabelRanker("full", "adaptive"),
    MulticlassClassifier("perceptron", average=True),
    MulticlassClassifier("sgd", eta=0.5),
    MulticlassClassifier("svm", dtype="float64"),
]


def rows(count=80, n=4, k=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, n))
    y = (X @ rng.normal(size=(n, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y


@pytest.mark.parametrize("binary", BINARY, ids=repr)
def test_learners_are_those_of_a_loop(binary):
    X, y = rows()
    it = OneVsAllClassifier(binary).fit(X, y)
    scores = [clone(binary).fit(X, np.where(y == c, 1, -1)).decision_function(X) for c in range(4)]
    np.testing.assert_allclose(it.decision_function(X), np.transpose(scores), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(it.predict(X), np.argmax(np.transpose(scores), axis=1))
    np.testing.assert_allclose(X @ it.coef_.T + it.intercept_, np.transpose(scores), rtol=1e-4, atol=1e-4)

    pairs = AllPairsClassifier(binary).fit(X, y)
    votes = np.zeros((len(X), 4))
    for i in range(4):
        for j in range(4):
            if i != j:  # argmax_i sum_j sign(j - i) h_ij, where h_ij for i > j is read as h_ji
                a, b = min(i, j), max(i, j)
                kept = (y == a) | (y == b)
                one = clone(binary).fit(X[kept], np.where(y[kept] == a, 1, -1))
                votes[:, i] += np.sign(j - i) * np.where(one.decision_function(X) > 0, 1, -1)
    np.testing.assert_array_equal(pairs.decision_function(X), votes)
    np.testing.assert_array_equal(pairs.predict(X), votes.argmax(axis=1))


@pytest.mark.parametrize("kind", [OneVsAllClassifier, AllPairsClassifier])
def test_a_stream_is_that_of_a_loop_in_which_a_learner_starts_with_the_row_that_has_its_class(kind):
    X, y = rows(60, k=5, seed=2)
    weight = np.random.default_rng(0).choice([0, 0.5, 1], 60)
    for binary in (LabelRanker("single", dtype="float64"), MulticlassClassifier("sgd", average=True, dtype="float64")):
        it = kind(binary)
        for a in range(0, 60, 7):
            it.partial_fit(X[a : a + 7], y[a : a + 7], sample_weight=weight[a : a + 7])
        first = {c: int(np.argmax(y == c)) for c in it.classes_}

        def learned(positive, negative, start, binary=binary):
            kept = (np.arange(60) >= start) & np.isin(y, [positive, *negative])
            sides = np.where(y[kept] == positive, 1, -1)
            return clone(binary).partial_fit(X[kept], sides, classes=[-1, 1], sample_weight=weight[kept])

        for c in it.classes_:
            others = [d for d in it.classes_ if d != c]
            if kind is OneVsAllClassifier:
                same = it.binary_learner(c), learned(c, others, first[c])
                np.testing.assert_array_equal(same[0].decision_function(X), same[1].decision_function(X))
                continue
            for d in others:
                if first[c] < first[d]:
                    same = it.binary_learner(c, d), learned(c, [d], first[d])
                    np.testing.assert_array_equal(same[0].decision_function(X), same[1].decision_function(X))


@pytest.mark.parametrize("kind", [OneVsAllClassifier, AllPairsClassifier])
def test_streams_with_new_classes(kind):
    X, y = rows(60, k=5)
    names = np.array(list("edcba"))[y]
    whole = kind(LabelRanker("single")).partial_fit(X, names)
    it = kind(LabelRanker("single"))
    for t in range(0, 60, 7):
        it.partial_fit(X[t : t + 7], names[t : t + 7])
    np.testing.assert_array_equal(it.classes_, whole.classes_)
    np.testing.assert_array_equal(it.decision_function(X), whole.decision_function(X))
    for average in (False, True):  # both are of the current iterate, also where the mean predicts
        seen = progressive(kind(LabelRanker("single", average=average)), X, names, every=1).curve
        assert (seen["loss"] >= seen["error"]).all()
        if not average:
            curve = seen
    for name in ("loss", "error"):
        np.testing.assert_array_equal(seen[name], curve[name])
    assert it.t_ == 60
    whole.remove_labels(["c"])
    assert "c" not in whole.predict(X)


class Halfspace(BaseEstimator):
    """ERM over homogeneous half-spaces of the plane that answers a sign: looks at every direction."""

    def fit(self, X, y):
        angles = np.linspace(0, 2 * np.pi, 720, endpoint=False)
        self.W_ = np.column_stack([np.cos(angles), np.sin(angles)])
        errors = (np.where(X @ self.W_.T > 0, 1, -1) != np.asarray(y)[:, None]).sum(axis=0)
        self.w_ = self.W_[np.argmin(errors)]
        return self

    def predict(self, X):
        return np.where(X @ self.w_ > 0, 1, -1)


def test_example_17_1():
    """Classes of 40, 20 and 40 per cent in balls: one-vs-all errs on all of class 2, the direct predictor on none."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 2, 3], [40, 20, 40])
    centres = {1: [-2.0, 1.0], 2: [0.0, 2.0], 3: [2.0, 1.0]}
    X = np.array([centres[c] for c in y]) + rng.uniform(-0.3, 0.3, (100, 2))
    signs = OneVsAllClassifier(Halfspace()).fit(X, y)
    assert (signs.predict(X)[y == 2] != 2).all()
    assert not hasattr(signs, "partial_fit")
    direct = MulticlassClassifier("perceptron", max_iter=10**4, fit_intercept=False, dtype="float64").fit(X, y)
    assert (direct.predict(X) == y).all()
    for binary in (LabelRanker("single", fit_intercept=False), LogisticRegression(fit_intercept=False)):
        scores = OneVsAllClassifier(binary, max_iter=20, shuffle=True, random_state=0).fit(X, y)
        assert (scores.predict(X) == y).all(), "real-valued scores tell the classes apart"


def test_anything_with_fit_and_predict_can_be_reduced():
    X, y = rows()
    it = AllPairsClassifier(Perceptron(random_state=0)).fit(X, y)
    peer = OneVsOneClassifier(Perceptron(random_state=0)).fit(X, y)
    assert (it.predict(X) == peer.predict(X)).mean() > 0.9
    with pytest.raises(AttributeError, match=r"no partial_fit with a binary learner .* Perceptron"):
        it.partial_fit(X, y)
    with pytest.raises(AttributeError, match="does not learn online"):
        progressive(it, X, y)
    with pytest.raises(AttributeError, match=r"no learn_one .* does not learn online, a MulticlassClassifier"):
        OneVsAllClassifier(MulticlassClassifier("svm")).learn_one({"a": 1.0}, "x")


@pytest.mark.parametrize("kind", [OneVsAllClassifier, AllPairsClassifier])
def test_the_given_learner_stays_as_it_is(kind):
    X, y = rows()
    binary = LabelRanker("single")
    before = dict(vars(binary))
    kind(binary).fit(X, y)
    kind(binary).partial_fit(X, y)
    assert vars(binary) == before
    check_estimators_overwrite_params(kind.__name__, kind(binary))
    with pytest.raises(ValueError, match="The 'C' parameter of LabelRanker"):
        kind(LabelRanker(C=-1.0)).fit(X, y)


@pytest.mark.parametrize("kind", [OneVsAllClassifier, AllPairsClassifier])
@pytest.mark.parametrize("binary", BINARY, ids=repr)
def test_files(tmp_path, kind, binary):
    X, y = rows()
    it = kind(binary).fit(X, y)
    it.save(tmp_path / "model")
    back = load(tmp_path / "model")
    np.testing.assert_array_equal(back.decision_function(X), it.decision_function(X))
    if hasattr(it, "partial_fit"):
        np.testing.assert_array_equal(
            back.partial_fit(X, y).decision_function(X), it.partial_fit(X, y).decision_function(X)
        )
    with pytest.raises(TypeError, match="cannot hold the binary learner"):
        kind(Halfspace()).fit(X[:, :2], y).save(tmp_path / "other")


def test_dicts_one_by_one():
    it = AllPairsClassifier()
    for _ in range(3):
        it.learn_one({"w": "the"}, "DET")
        it.learn_one({"w": "dog"}, "NOUN")
        it.learn_one({"w": "runs"}, "VERB")
    assert [it.predict_one({"w": w}) for w in ("the", "dog", "runs")] == ["DET", "NOUN", "VERB"]
