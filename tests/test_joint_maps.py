"""TF-IDF by class and maps that people write, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hinge import MulticlassClassifier, load
from hinge.checks import check_estimator
from oracle.structured import Classes, Learner

RULES = [("passive-aggressive", {"C": 0.25}), ("perceptron", {}), ("sgd", {"eta": 0.5}), ("sgd", {"alpha": 0.25})]


class TfIdfByDefinition(Classes):
    """``Psi_j = x_j log((m + 1) / (DF(j, y) + 1))`` over the documents so far."""

    def __init__(self, k):
        super().__init__(k)
        self.documents = []

    def features(self, x, y):
        counts = np.zeros(x.size)
        for other, label in self.documents:
            counts += (other != 0) * (label != y)
        return x * np.log((len(self.documents) + 1) / (counts + 1))


def documents(count, n=6, k=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(0.8, (count, n)) * rng.uniform(0.5, 1, (count, n)), rng.integers(0, k, count)


@pytest.mark.parametrize(("rule", "params"), RULES, ids=lambda v: "-".join(v) if isinstance(v, dict) else v)
def test_tfidf_agrees_with_its_definition_after_every_round(rule, params):
    X, y = documents(40)
    problem = TfIdfByDefinition(3)
    oracle = Learner(problem, 6, rule, **params)
    it = MulticlassClassifier(rule, features="tfidf", fit_intercept=False, dtype="float64", **params)
    for t in range(40):
        oracle.round(X[t], int(y[t]))
        problem.documents.append((X[t], y[t]))
        given = sparse.csr_matrix(X[[t]]) if t % 2 else X[[t]]
        it.partial_fit(given, y[[t]], classes=range(3) if t == 0 else None)
        np.testing.assert_allclose(it._model.predicting(), oracle.w, rtol=0, atol=1e-10, err_msg=f"round {t}")
        scores = [[float(oracle.w @ problem.features(x, c)) for c in range(3)] for x in X[:5]]
        np.testing.assert_allclose(it.decision_function(X[:5]), scores, atol=1e-9)
    np.testing.assert_allclose(X @ it.coef_.T, it.decision_function(X), atol=1e-9)


def blocks(x, y):
    """Write the multivector map by hand."""
    return np.kron(np.eye(3)[y], x)


@pytest.mark.parametrize("rule", ["sgd", "passive-aggressive", "perceptron", "svm", "erm"])
def test_a_written_map_of_blocks_is_the_multivector_map(rule):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 4))
    y = (X @ rng.normal(size=(4, 3))).argmax(axis=1)
    common = {"fit_intercept": False, "dtype": "float64", "tol": 1e-9}
    ours, written = MulticlassClassifier(rule, **common), MulticlassClassifier(rule, features=blocks, **common)
    ours.fit(X, y)
    written.fit(X, y)
    if rule == "erm":
        assert written.score(X, y) == ours.score(X, y) == 1
        return
    np.testing.assert_allclose(written.coef_.reshape(3, 4), ours.coef_, atol=1e-8 if rule != "svm" else 1e-4)
    np.testing.assert_array_equal(written.predict(X), ours.predict(X))
    if rule == "svm":
        assert written.objective_ == pytest.approx(ours.objective_, abs=1e-8)


def test_tfidf_solves_and_survives_a_file(tmp_path):
    X, y = documents(30)
    names = np.array(["a", "b", "c"])[y]
    machine = MulticlassClassifier("svm", features="tfidf", dtype="float64").fit(X, names)
    assert 0 <= machine.gap_ <= 1e-4 * machine.objective_
    it = MulticlassClassifier("passive-aggressive", features="tfidf", average=True).fit(X, names)
    it.save(tmp_path / "model")
    back = load(tmp_path / "model")
    for one in (it, back):
        one.partial_fit(X[:5], names[:5])
    np.testing.assert_array_equal(back.coef_, it.coef_)
    assert back.certificate_ == it.certificate_


def test_documents_of_weight_zero_are_not_counted():
    X, y = documents(30)
    weight = np.random.default_rng(0).integers(0, 2, 30)
    kept = weight > 0
    for rule in ("svm", "passive-aggressive"):
        common = {"features": "tfidf", "dtype": "float64", "tol": 1e-10, "max_passes": 20000}
        all_rows = MulticlassClassifier(rule, **common).fit(X, y, weight)
        some = MulticlassClassifier(rule, **common).fit(X[kept], y[kept])
        np.testing.assert_allclose(all_rows.coef_, some.coef_, atol=1e-4 if rule == "svm" else 1e-12)


def test_bad_maps():
    X, y = documents(5)
    for bad in (lambda x, y: np.ones((2, 2)), lambda x, y: np.ones(1 + int(y)), lambda x, y: np.array([np.nan])):
        with pytest.raises(ValueError, match="1-d, finite"):
            MulticlassClassifier(features=bad).fit(X, y)
    with pytest.raises(ValueError, match="The 'features' parameter of MulticlassClassifier must be"):
        MulticlassClassifier(features=3).fit(X, y)


@pytest.mark.parametrize("rule", ["sgd", "passive-aggressive"])
def test_our_checks(rule):
    check_estimator(MulticlassClassifier(rule, features="tfidf"))
