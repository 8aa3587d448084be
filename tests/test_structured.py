"""Oracles written in Python: the same rules as for our own problems, and oracles that are wrong."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from hinge import MulticlassClassifier, SequenceClassifier, StructuredClassifier, progressive
from hinge.checks import check_estimator
from oracle.structured import Classes, Words, argmax, frank_wolfe, hinge

RULES = [
    ("passive-aggressive", {"C": 0.25}),
    ("perceptron", {}),
    ("sgd", {"eta": 0.5}),
    ("sgd", {"alpha": 0.25}),
]


class BruteForce:
    """A problem of the tests as an oracle: it looks at every answer."""

    def __init__(self, problem, sparse_features=False):
        self.problem, self.sparse_features = problem, sparse_features

    def features(self, x, y):
        """Return the joint features."""
        dense = self.problem.features(np.asarray(x), y)
        return sparse.csr_matrix(dense) if self.sparse_features else dense

    def delta(self, y_pred, y):
        """Return the cost."""
        return self.problem.delta(y_pred, y)

    def argmax(self, w, x, y=None):
        """Return the best answer."""
        return argmax(self.problem, w, np.asarray(x), y)


@dataclass(frozen=True)
class Colours:
    """A block of weights for each colour of `hinge.checks`."""

    labels: tuple[str, ...] = ("amber", "blue", "green", "red")

    def features(self, x, y):
        return np.kron(np.eye(len(self.labels))[self.labels.index(y)], np.ravel(x))

    def delta(self, y_pred, y):
        return float(y_pred != y)

    def argmax(self, w, x, y=None):
        scores = w.reshape(len(self.labels), -1) @ np.ravel(x)
        if y is not None:
            scores = scores + [self.delta(label, y) for label in self.labels]
        return self.labels[int(np.argmax(scores))]


@pytest.mark.parametrize("rule", ["sgd", "passive-aggressive", "perceptron", "svm"])
def test_our_checks(rule):
    check_estimator(StructuredClassifier(Colours(), rule))


class Signs:
    """Remark 17.2: ``Psi = y x / 2`` is the binary hinge."""

    def features(self, x, y):
        return y * np.asarray(x) / 2

    def delta(self, y_pred, y):
        return float(y_pred != y)

    def argmax(self, w, x, y=None):
        return max((-1, 1), key=lambda s: (0 if y is None else self.delta(s, y)) + w @ self.features(x, s))


@pytest.mark.parametrize(("rule", "params"), RULES, ids=lambda v: "-".join(v) if isinstance(v, dict) else v)
def test_classes_are_those_of_the_multiclass_classifier(rule, params):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 4, 60)
    ours = MulticlassClassifier(rule, fit_intercept=False, average=True, dtype="float64", **params).fit(X, y)
    it = StructuredClassifier(BruteForce(Classes(4)), rule, average=True, dtype="float64", **params)
    it.fit(X, y.tolist())
    np.testing.assert_allclose(it.coef_.reshape(4, 3), ours.coef_, rtol=0, atol=1e-9)
    assert it.predict(X) == ours.predict(X).tolist()
    assert it.t_ == 60
    if rule == "passive-aggressive":
        assert it.certificate_.dual == pytest.approx(ours.certificate_.dual, abs=1e-9)


@pytest.mark.parametrize(("rule", "params"), RULES[:3], ids=lambda v: "-".join(v) if isinstance(v, dict) else v)
def test_words_are_those_of_the_sequence_classifier(rule, params):
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 4, 25)
    X = [rng.normal(size=(r, 2)) for r in lengths]
    y = [tuple(rng.integers(0, 3, r).tolist()) for r in lengths]
    common = {"dtype": "float64", "max_iter": 2, **params}
    ours = SequenceClassifier(rule, fit_intercept=False, **common).fit(X, y)
    it = StructuredClassifier(BruteForce(Words(3), sparse_features=True), rule, **common).fit(X, y)
    mine = np.concatenate([ours.coef_.ravel(), ours.transitions_.ravel()])
    if rule != "perceptron":  # among answers that tie it goes to the costliest, not to the first
        np.testing.assert_allclose(it.coef_, mine, rtol=0, atol=1e-9)
        assert [tuple(word) for word in ours.predict(X)] == it.predict(X)
    assert it._model.ledger()["mistakes"] > 0


def test_svm_closes_its_gap():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(15, 3)), rng.integers(0, 3, 15).tolist()
    problem = Classes(3, np.array([[0, 1, 2], [1, 0, 1], [3, 1, 0.0]]))
    it = StructuredClassifier(BruteForce(problem), "svm", alpha=0.1, tol=1e-9, dtype="float64").fit(X, y)
    w, primal, dual = frank_wolfe(problem, X, y, 0.1, 400)
    assert 0 <= it.gap_ <= 1e-8
    assert dual - 1e-9 <= it.objective_ <= primal + 1e-9
    np.testing.assert_allclose(it.coef_, w, atol=0.05)
    assert it.certificate_.hindsight_loss(float(it.coef_ @ it.coef_) / 2) <= sum(
        hinge(problem, it.coef_, x, t) for x, t in zip(X, y, strict=True)
    ) + 1e-9  # fmt: skip


def test_remark_17_2_is_the_binary_hinge():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 3)), rng.choice([-1, 1], 40)
    it = StructuredClassifier(Signs(), "sgd", eta=0.1, dtype="float64")
    losses = progressive(it, X, y, every=1).curve["loss"]
    w, expected = np.zeros(3), []
    for x, s in zip(X, y, strict=True):
        expected.append(max(0.0, 1 - s * (w @ x)))
        w = w + 0.1 * s * x * (expected[-1] > 0)
    np.testing.assert_allclose(losses, expected, atol=1e-12)
    np.testing.assert_allclose(it.coef_, w, atol=1e-12)


def test_erm_separates_or_names_examples():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 3))
    y = np.where(X @ [1.0, -2, 0.5] > 0, 1, -1)
    it = StructuredClassifier(Signs(), "erm", dtype="float64").fit(X, y)
    assert it.score(X, y) == 0
    with pytest.raises(ValueError, match=r"not realisable.*of examples .*30"):
        StructuredClassifier(Signs(), "erm").fit(np.vstack([X, X[4]]), np.append(y, -y[4]))
    assert not hasattr(it, "partial_fit")


class Blind(Signs):
    """Finds the worst answer where y is given."""

    def argmax(self, w, x, y=None):
        if y is None:
            return super().argmax(w, x)
        return min((-1, 1), key=lambda s: self.delta(s, y) + w @ self.features(x, s))


class Backwards(Signs):
    def argmax(self, w, x, y=None):
        return super().argmax(-w, x, y)


@pytest.mark.parametrize("oracle", [Blind(), Backwards()], ids=["with y", "without"])
@pytest.mark.parametrize("rule", ["sgd", "passive-aggressive", "perceptron", "svm"])
def test_a_wrong_argmax_is_refused_and_teaches_nothing(oracle, rule):
    X, y = [[1.0, 0.5], [2.0, 1.0], [1.5, -1.0], [1.0, 1.0]], [1, 1, -1, 1]
    with pytest.raises(ValueError, match=r"example \d: the oracle's argmax is wrong"):
        StructuredClassifier(oracle, rule, dtype="float64").fit(X, y)
    it = StructuredClassifier(Signs(), "perceptron").fit(X, y)
    before, it.oracle = it.coef_, oracle
    with pytest.raises(ValueError, match="argmax is wrong"):
        it.partial_fit(X, y)
    np.testing.assert_array_equal(it.coef_, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": lambda x, y: np.ones((2, 2))}, "1-d"),
        ({"features": lambda x, y: np.ones(2 + (y > 0))}, "the length is fixed"),
        ({"features": lambda x, y: np.array([np.nan, 1.0])}, "NaN"),
        ({"features": lambda x, y: np.array([1e300, 1.0])}, "too large for float32"),
        ({"delta": lambda y_pred, y: -1.0}, "not negative"),
        ({"delta": lambda y_pred, y: 0.5}, r"delta\(y, y\) gave 0.5"),
    ],
)
def test_wrong_oracles(change, message):
    oracle = Signs()
    vars(oracle).update(change)
    with pytest.raises(ValueError, match=message):
        StructuredClassifier(oracle).fit([[1.0, 0.5], [2.0, 1.0]], [1, -1])


def test_contract(tmp_path):
    X, y = [[1.0, 0.5], [2.0, 1.0], [1.5, -1.0]], [1, 1, -1]
    with pytest.raises(ValueError, match="The 'oracle' parameter of StructuredClassifier must be"):
        StructuredClassifier(object()).fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        StructuredClassifier(Signs()).fit(X, y[:2])
    with pytest.raises(ValueError, match="all sample weights are zero"):
        StructuredClassifier(Signs()).fit(X, y, [0, 0, 0])
    it = StructuredClassifier(Signs(), "passive-aggressive")
    assert it.predict_one(X[0]) is None
    for _ in range(3):
        for a, b in zip(X, y, strict=True):
            it.learn_one(a, b)
    assert it.predict(X) == y
    other = pickle.loads(pickle.dumps(it))
    np.testing.assert_array_equal(other.learn_one(X[0], -1) or other.coef_, it.learn_one(X[0], -1) or it.coef_)
    assert not hasattr(clone(it), "coef_")
    assert cross_val_score(StructuredClassifier(Signs()), X * 4, y * 4, cv=2).shape == (2,)
    with pytest.raises(TypeError, match="oracle"):
        it.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()
    still = it.snapshot()
    before = still.coef_
    it.learn_one(X[0], -1)
    np.testing.assert_array_equal(still.coef_, before)
