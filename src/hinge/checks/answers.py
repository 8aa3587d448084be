"""What an estimator answers: pure, in the promised shapes, and consistent from method to method."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy import sparse

from hinge.checks.cases import Case
from hinge.checks.laws import begin, bits, fit, fresh, law, learn, require, same, scores_of, unchanged


@law()
def check_predicting_is_pure(estimator: Any, case: Case) -> None:
    """Answers change nothing, and are the same when asked again."""
    it = fit(fresh(estimator), case)
    for name in ("predict", "decision_function", "rank"):
        if hasattr(it, name):
            with unchanged(it, name):
                same(getattr(it, name)(case.X), getattr(it, name)(case.X), f"a second {name}")
    with unchanged(it, "score"):
        it.score(case.X, case.y, **case.per_row)


@law(has="decision_function")
def check_answers_row_by_row(estimator: Any, case: Case) -> None:
    """What a round is answered does not depend on its neighbours, bit by bit."""
    it = fit(fresh(estimator), case)
    for t in (0, 5, len(case) - 1):
        one = case.take([t])
        whole = it.decision_function(case.X)
        rows = one.X.shape[0] if one.is_plain else None
        if rows == 1:
            same(whole[[t]], it.decision_function(one.X), f"the scores of row {t} by itself")


@law(has="decision_function", kinds="labels sets indicator")
def check_shape_of_scores(estimator: Any, case: Case) -> None:
    """Scores are a column a label, or the second's minus the first's for two labels known beforehand."""
    it = fit(fresh(estimator), case)
    labels, scores = len(it.classes_), it.decision_function(case.X)
    expected = (len(case),) if labels == 2 and case.kind == "labels" else (len(case), labels)
    require(scores.shape == expected, f"decision_function has the shape {scores.shape}, expected {expected}")
    if hasattr(it, "partial_fit") and labels == 2:
        appeared = learn(fresh(estimator), case).decision_function(case.X)
        require(appeared.shape == (len(case), 2), "labels that appeared later must keep a column each")


@law(has="coef_ decision_function", kinds="relevance batches")
def check_shapes_of_one_vector(estimator: Any, case: Case) -> None:
    """``coef_`` is one weight a feature, ``intercept_`` one number, and there is one score a row."""
    it = fit(fresh(estimator), case)
    require(it.coef_.shape == (case.width,), f"coef_ has the shape {it.coef_.shape}")
    require(it.decision_function(case.X).shape == (case.X.shape[0],), "decision_function is not one score a row")
    scores = case.X @ it.coef_.astype(np.float64) + (it.intercept_ if hasattr(it, "intercept_") else 0.0)
    np.testing.assert_allclose(it.decision_function(case.X), scores, atol=1e-4, rtol=1e-4)


@law(has="coef_ classes_", kinds="labels sets indicator")
def check_shapes_of_weights(estimator: Any, case: Case) -> None:
    """``coef_`` is labels x features without the constant's column, ``intercept_`` one number a label."""
    it = fit(fresh(estimator), case)
    labels = 1 if case.kind == "intervals" else len(it.classes_)  # ordered classes share one score
    coef, width = np.asarray(it.coef_), [case.width] * labels if case.parallel else case.width
    labels = it.code_.shape[1] if hasattr(it, "code_") else labels  # there each column of the code has weights
    expected = (case.width,) if case.kind == "intervals" else (labels, case.width)
    require(coef.shape == expected, f"coef_ has the shape {coef.shape}")
    require(it.n_features_in_ == width, f"n_features_in_ is {it.n_features_in_}, not {width}")
    if hasattr(it, "intercept_"):
        require(it.intercept_.shape == (labels,), f"intercept_ has the shape {it.intercept_.shape}")
    if "dtype" in it.get_params():
        require(coef.dtype == np.dtype(it.dtype), f"coef_ is {coef.dtype}, not {it.dtype}")


@law(params="fit_intercept", has="coef_ intercept_")
def check_without_intercept(estimator: Any, case: Case) -> None:
    """Without an intercept ``intercept_`` is zeros, and a row of zeros scores 0."""
    it = fit(fresh(estimator, fit_intercept=False), case)
    require(not it.intercept_.any(), f"intercept_ is {it.intercept_} without an intercept")
    if hasattr(it, "code_"):  # what is decoded from zeros is a label all the same
        return
    zeros = case.take([0]).map(np.zeros_like).X
    answer = scores_of(it, zeros) if hasattr(it, "decision_function") else it.predict(zeros)
    require(not np.any(answer), "a row of zeros has scores besides 0")


@law(has="coef_ intercept_ decision_function classes_", plain=True)
def check_scores_are_linear(estimator: Any, case: Case) -> None:
    """Scores are ``X @ coef_.T + intercept_``."""
    it = fit(fresh(estimator), case)
    if hasattr(it, "code_"):  # scores are of codewords
        return
    scores = case.X @ it.coef_.T.astype(np.float64) + it.intercept_
    given = it.decision_function(case.X)
    if given.ndim == 1 and scores.ndim == 2:
        scores = scores[:, -1] - (scores[:, 0] if scores.shape[1] == 2 else 0)
    np.testing.assert_allclose(given, scores, atol=1e-4, rtol=1e-4, err_msg="scores are not linear in X")


@law(has="decision_function classes_", kinds="labels")
def check_answer_is_the_best_label(estimator: Any, case: Case) -> None:
    """The answer is the label that scores highest; the first of those that tie."""
    it = fit(fresh(estimator), case)
    scores = it.decision_function(case.X)
    best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    same(it.predict(case.X), it.classes_[best], "predict, and the label with the highest score")


@law(has="classes_", kinds="sets indicator")
def check_answers_have_the_form_of_targets(estimator: Any, case: Case) -> None:
    """Sets are answered with sets, an indicator matrix with one, a sparse one with a sparse one."""
    answers = fit(fresh(estimator), case).predict(case.X)
    require(type(answers) is type(case.y), f"targets are a {type(case.y)}, answers a {type(answers)}")
    if case.kind == "sets":
        require(len(answers) == len(case) and all(isinstance(one, set) for one in answers), "answers are no sets")
        return
    require(answers.shape == case.y.shape, f"answers have the shape {answers.shape}, targets {case.y.shape}")
    values = answers.toarray() if sparse.issparse(answers) else answers
    require(np.isin(values, (0, 1)).all(), "an indicator matrix holds 0 and 1")


@law(has="partial_fit", kinds="sets")
def check_forms_of_sets_agree(estimator: Any, case: Case) -> None:
    """Sets, frozen sets, dicts of label to bool and indicator matrices say the same."""
    it = begin(fresh(estimator), case)
    inside = np.array([[label in one for label in case.classes or ()] for one in case.y])
    forms = {
        "frozen sets": [frozenset(one) for one in case.y],
        "dicts": [{label: label in one for label in case.classes or ()} for one in case.y],
        "an indicator": inside.astype(int),
        "a bool indicator": inside,
        "a sparse indicator": sparse.csr_matrix(inside),
    }
    for name, y in forms.items():
        other = fresh(estimator).partial_fit(case.X, y, classes=case.classes)
        same(it.decision_function(case.X), other.decision_function(case.X), f"scores after {name}")


@law(kinds="sets indicator", has="partial_fit coef_")
def check_empty_and_full_sets(estimator: Any, case: Case) -> None:
    """A round where no label is relevant, or every one, moves no weight."""
    it = begin(fresh(estimator, average=False), case)
    before, rounds = it.coef_, it.t_
    if case.kind == "sets":
        it.partial_fit(case.X[:2], [set(), set(case.classes or ())])
    else:
        it.partial_fit(case.X[:2], np.array([[0, 0, 0, 0], [1, 1, 1, 1]]))
    same(before, it.coef_, "coef_ after an empty and a full set")
    require(it.t_ == rounds + 2, "a round without a constraint is a round")


@law(kinds="labels")
def check_score_is_accuracy(estimator: Any, case: Case) -> None:
    """``score`` is the share of right answers, weighted where weights are given."""
    it = fit(fresh(estimator), case)
    right = it.predict(case.X) == case.y
    weights = np.arange(len(case)) + 1.0
    require(it.score(case.X, case.y) == right.mean(), "score is not the accuracy")
    weighted = it.score(case.X, case.y, sample_weight=weights)
    require(np.isclose(weighted, np.average(right, weights=weights)), "sample_weight does not weigh the score")


@law(kinds="sets indicator", has="decision_function")
def check_score_is_ranking_quality(estimator: Any, case: Case) -> None:
    """``score`` of label sets is 1 minus the ranking loss of the scores."""
    from hinge.metrics import ranking_loss

    it = fit(fresh(estimator), case)
    inside = case.y
    if case.kind == "sets":
        inside = np.array([[label in one for label in it.classes_] for one in case.y])
    elif sparse.issparse(inside):
        inside = inside.toarray()
    expected = 1 - ranking_loss(inside, it.decision_function(case.X))
    require(np.isclose(it.score(case.X, case.y), expected), "score is not 1 - ranking loss")


@law(has="rank classes_ decision_function")
def check_ranking(estimator: Any, case: Case) -> None:
    """``rank`` lists every label once, best first; ``top`` cuts the list."""
    it = fit(fresh(estimator), case)
    for ranked in it.rank(case.X):
        require({label for label, _ in ranked} == set(it.classes_.tolist()), "a label is missing in the ranking")
        scores = [score for _, score in ranked]
        require(scores == sorted(scores, reverse=True), "the ranking is not by score")
    same([one[:2] for one in it.rank(case.X)], it.rank(case.X, top=2), "rank with top=2")
    if case.kind == "labels":
        best = [one[0][0] for one in it.rank(case.X, top=1)]
        require(best == it.predict(case.X).tolist(), "the first of the ranking is not the answer")


@law(has="decision_function")
def check_many_readers(estimator: Any, case: Case) -> None:
    """Threads that ask at the same time get the answers that one gets."""
    it = fit(fresh(estimator), case)
    alone = bits(it.decision_function(case.X))
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: bits(it.decision_function(case.X)), range(16)))
    require(all(answer == alone for answer in answers), "readers in threads got other scores")


@law(has="snapshot partial_fit decision_function")
def check_readers_beside_a_writer(estimator: Any, case: Case) -> None:
    """While one thread learns, readers of a snapshot get the snapshot's answers, and readers of the learner some."""
    it = begin(fresh(estimator), case)
    still = it.snapshot()
    expected, rows = bits(still.decision_function(case.X)), len(still.decision_function(case.X))

    def read(_: int) -> bool:
        return bits(still.decision_function(case.X)) == expected and len(it.decision_function(case.X)) == rows

    with ThreadPoolExecutor(3) as pool:
        writer = pool.submit(lambda: [learn(it, case) for _ in range(5)])
        fine = list(pool.map(read, range(12)))
        writer.result()
    require(all(fine), "a reader of a snapshot saw what was learned later")
    other = begin(fresh(estimator), case)
    for _ in range(5):
        learn(other, case)
    same(it.decision_function(case.X), other.decision_function(case.X), "scores learned while others were reading")
