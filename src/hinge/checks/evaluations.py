"""Progressive evaluation, and the certificate that comes with a dual ascent."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from hinge.checks.cases import Case
from hinge.checks.laws import begin, bits, fit, fresh, law, learn, require, same, same_learned


def evaluate(estimator: Any, case: Case, **more: Any) -> Any:
    from hinge import progressive

    return progressive(estimator, case.X, case.y, **case.per_row, **more)


def known(case: Case) -> dict[str, Any]:
    return {} if case.classes is None else {"classes": case.classes}


@law(has="partial_fit")
def check_progressive_learns_as_partial_fit(estimator: Any, case: Case) -> None:
    """``progressive`` trains the estimator itself, as ``partial_fit`` does, and goes on where it stands."""
    it, other = fresh(estimator), fresh(estimator)
    for part in (case.take(slice(0, 9)), case.take(slice(9, None))):
        evaluate(it, part)
        learn(other, part)
        same_learned(it, other, "progressive")


@law(has="partial_fit")
def check_progressive_in_chunks(estimator: Any, case: Case) -> None:
    """The losses of a stream do not depend on how it is cut."""
    whole = evaluate(fresh(estimator), case, every=1).curve
    it = fresh(estimator)
    parts = [evaluate(it, case.take(slice(a, a + 5)), every=1).curve for a in range(0, len(case), 5)]
    for name in ("loss", "error"):
        same(whole[name], np.concatenate([part[name] for part in parts]), f"{name} in chunks")


@law(has="partial_fit")
def check_progressive_predicts_then_learns(estimator: Any, case: Case) -> None:
    """The answers that are measured are those of ``predict`` before each round is learned."""
    answers: list[Any] = []

    def keep(_: Any, answer: Any) -> float:
        answers.append(answer)
        return 0.0

    metrics = {"answers": keep}
    it, other = (begin(fresh(estimator), case.take(slice(0, 4))) for _ in range(2))
    rest = case.take(slice(4, None))
    evaluate(it, rest, metrics=metrics, every=1)
    for t in range(len(rest)):
        one = rest.take([t])
        same(answers[t], other.predict(one.X), f"the answer to round {t}")
        learn(other, one)


@law(has="partial_fit decision_function coef_", kinds="labels sets indicator", params="average")
def check_progressive_errors(estimator: Any, case: Case) -> None:
    """An error is a round, or the share of its pairs, where a relevant label does not score above an irrelevant one."""
    estimator = fresh(estimator, average=False)
    it, other = fresh(estimator), begin(fresh(estimator), case.take([0]))
    evaluate(it, case.take([0]), **known(case))
    rest = case.take(slice(1, None))
    errors = evaluate(it, rest, every=1).curve["error"]
    inside = _relevant(other, rest)
    for t in range(len(rest)):
        scores = other.decision_function(rest.take([t]).X)[0]
        scores = np.array([0, scores]) if scores.ndim == 0 else scores
        is_bound = 0 < inside[t].sum() < inside.shape[1]
        wrong = (scores[inside[t]][:, None] <= scores[~inside[t]]).mean() if is_bound else 0.0
        require(errors[t] in (wrong > 0, wrong), f"round {t} is counted as {errors[t]}; its scores are {scores}")
        learn(other, rest.take([t]))


def _relevant(estimator: Any, case: Case) -> np.ndarray:
    if case.kind == "indicator":
        return np.asarray(case.y.toarray() if hasattr(case.y, "toarray") else case.y) > 0
    classes = estimator.classes_.tolist()
    if case.kind == "sets":
        return np.array([[label in one for label in classes] for one in case.y])
    return np.asarray(case.y)[:, None] == np.array(classes)[None, :]


@law(has="partial_fit")
def check_loss_bounds_error(estimator: Any, case: Case) -> None:
    """Losses are finite and not negative; a round with an error has a loss, unless no margin is asked for."""
    curve = evaluate(fresh(estimator), case, every=1, **known(case)).curve
    loss, error = curve["loss"], curve["error"]
    require(np.isfinite(loss).all() and (loss >= 0).all(), f"losses are {loss}")
    asks_no_margin = getattr(estimator, "_asks_no_margin", False)
    require(asks_no_margin or (loss[error > 0] > 0).all(), "a round with an error has no loss")


@law(has="partial_fit")
def check_curve_is_means(estimator: Any, case: Case) -> None:
    """An entry of the curve is the mean since the one before; the last may be shorter; the report prints."""
    each = evaluate(fresh(estimator), case, every=1)
    some = evaluate(fresh(estimator), case, every=7)
    ends = some.curve["round"]
    require(ends.tolist() == [*range(7, len(case), 7), len(case)], f"rounds are {ends}")
    for name in ("loss", "error"):
        means = [part.mean() for part in np.split(each.curve[name], ends[:-1])]
        np.testing.assert_allclose(some.curve[name], means, rtol=1e-12, err_msg=f"the curve of {name}")
        require(np.isclose(some.totals[name], each.curve[name].mean()), f"the total of {name}")
    require(str(len(case)) in some.table() and some.to_json().startswith("{"), "the report does not print")


@law(has="partial_fit certificate_")
def check_certificate_counts(estimator: Any, case: Case) -> None:
    """The certificate counts rounds, mistakes and loss as ``progressive`` sees them."""
    it = fresh(estimator)
    curve = evaluate(it, case, every=1, **known(case)).curve
    proof = it.certificate_
    require(proof.rounds == len(case) == it.t_, f"the certificate counts {proof.rounds} rounds of {len(case)}")
    errors = np.count_nonzero(curve["error"])
    require(proof.mistakes == errors, f"{proof.mistakes} mistakes, {errors} rounds with an error")
    require(np.isclose(proof.loss, curve["loss"].sum()), f"the loss is {proof.loss}, not {curve['loss'].sum()}")


@law(has="partial_fit certificate_")
def check_certificate_bounds_mistakes(estimator: Any, case: Case) -> None:
    """At any moment the mistakes made are within the bound, with and without weights."""
    for weights in (np.ones(len(case)), np.arange(len(case)) % 3 / 2 + 0.5):
        it = fresh(estimator)
        for t in range(len(case)):
            more = known(case) if t == 0 else {}
            learn(it, case.take([t]), sample_weight=weights[t : t + 1], **more)
            proof = it.certificate_
            slack = 1e-9 + 2 * proof.tolerance * proof.mistake_bound
            require(proof.mistakes <= proof.mistake_bound + slack, f"after round {t}: {proof}")


@law(has="partial_fit certificate_")
def check_hindsight_loss(estimator: Any, case: Case) -> None:
    """The hindsight loss falls with complexity, and exceeds neither the learner's loss nor that of no learning."""
    it = begin(fresh(estimator), case)
    proof = it.certificate_
    bounds = [proof.hindsight_loss(complexity) for complexity in (0.0, 0.01, 0.1, 1.0, 10.0, 1e6)]
    require(all(a >= b >= 0 for a, b in pairwise(bounds)), f"by complexity: {bounds}")
    slack = 1e-9 + proof.tolerance / proof.C
    require(bounds[0] <= proof.loss + slack, f"no fixed model does better than {bounds[0]}, the learner {proof.loss}")
    still = evaluate(fresh(estimator), case, every=1, sample_weight=np.zeros(len(case)), **known(case))
    start = still.curve["loss"].sum()
    require(bounds[0] <= start + slack, f"the model that never moves has the loss {start}, less than {bounds[0]}")


@law(has="partial_fit certificate_")
def check_certificate_is_pure(estimator: Any, case: Case) -> None:
    """Reading the certificate changes nothing; where it bounds the mistakes, the dual never falls."""
    it, other = fresh(estimator), fresh(estimator)
    duals = [0.0]
    for t in range(len(case)):
        more = known(case) if t == 0 else {}
        learn(it, case.take([t]), **more)
        learn(other, case.take([t]), **more)
        duals.append(it.certificate_.dual)
        rose = duals[-1] >= duals[-2] - 1e-9 - it.certificate_.tolerance
        require(rose or it.certificate_.mistake_bound == np.inf, f"round {t}: the dual fell: {duals[-2:]}")
    require(bits(it.certificate_) == bits(other.certificate_), "reading the certificate changed it")


def can_be_split(case: Case) -> bool:
    """Say whether scikit-learn, which splits by the first index and takes no sparse target, splits by round."""
    return not case.parallel and case.starts is None and not sparse.issparse(case.y)


@law(has="score")
def check_cross_validation(estimator: Any, case: Case) -> None:
    """``cross_val_score`` scores each part with what was learned from the others, lists of rounds included."""
    if not can_be_split(case):
        return
    parts = KFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(fresh(estimator), case.X, case.y, cv=parts, error_score="raise")
    for found, (train, test) in zip(scores, parts.split(np.arange(len(case))), strict=True):
        held_out = case.take(test)
        same(float(found), float(fit(fresh(estimator), case.take(train)).score(held_out.X, held_out.y)), "a score")


@law(has="score", params="random_state")
def check_grid_search(estimator: Any, case: Case) -> None:
    """``GridSearchCV`` chooses among estimators and then learns everything, lists of rounds included."""
    if not can_be_split(case):
        return
    search = GridSearchCV(fresh(estimator), {"random_state": [0, 1]}, cv=KFold(2), error_score="raise")
    search.fit(case.X, case.y)
    chosen = fit(fresh(estimator, **search.best_params_), case)
    same_learned(search.best_estimator_, chosen, "what the search learned")
