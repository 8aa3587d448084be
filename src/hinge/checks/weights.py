"""Sample weights: a weight multiplies its round's C or step; 0 is scored and not learned."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from hinge.checks.cases import Case
from hinge.checks.laws import begin, fit, fresh, law, learn, refuses, require, same, same_learned, unchanged


def loss_on(estimator: Any, case: Case, **more: Any) -> float:
    """Return an estimator's loss on a case, from which it does not learn."""
    from hinge import progressive

    copy = estimator.snapshot()
    report = progressive(copy, case.X, case.y, sample_weight=np.zeros(len(case)), every=1, **case.per_row, **more)
    return float(report.curve["loss"].sum())


@law()
def check_weight_one(estimator: Any, case: Case) -> None:
    """Weights of 1 are no weights."""
    same_learned(
        fit(fresh(estimator), case), fit(fresh(estimator), case, sample_weight=np.ones(len(case))), "weights of 1"
    )


@law(has="partial_fit coef_")
def check_weight_zero(estimator: Any, case: Case) -> None:
    """A round of weight 0 counts, and teaches nothing."""
    estimator = fresh(estimator, average=False)
    weights = (np.arange(len(case)) % 3 > 0).astype(float)
    weighted = begin(fresh(estimator), case, sample_weight=weights)
    without = begin(fresh(estimator), case.take(np.flatnonzero(weights)))
    same(weighted.coef_, without.coef_, "coef_ with rounds of weight 0, and without them")
    require(weighted.t_ == len(case), f"t_ is {weighted.t_}: rounds of weight 0 were not counted")


@law()
def check_all_weights_zero(estimator: Any, case: Case) -> None:
    """``fit`` with nothing but zeros is an error; ``partial_fit`` with them learns nothing."""
    zeros = np.zeros(len(case))
    with refuses(ValueError, "weight", why="fit with all weights zero"):
        fit(fresh(estimator), case, sample_weight=zeros)
    if hasattr(estimator, "partial_fit") and hasattr(estimator, "coef_"):
        it = begin(fresh(estimator, average=False), case)
        before = it.coef_
        learn(it, case, sample_weight=zeros)
        same(before, it.coef_, "coef_ after rounds of weight 0")


@law(params="C", has="coef_ certificate_")
def check_weights_multiply_C(estimator: Any, case: Case) -> None:
    """A weight of 2 is a C twice as large."""
    twice = fit(fresh(estimator, C=0.25), case, sample_weight=np.full(len(case), 2.0))
    same(twice.coef_, fit(fresh(estimator, C=0.5), case).coef_, "coef_ with weight 2, and with twice the C")


@law(params="C", has="partial_fit coef_ certificate_")
def check_C_may_change(estimator: Any, case: Case) -> None:
    """A C set between calls holds from the next round on."""
    half = len(case) // 2
    it = begin(fresh(estimator, C=0.5), case.take(slice(0, half)))
    learn(it.set_params(C=0.125), case.take(slice(half, None)))
    weights = np.repeat([0.5, 0.125], [half, len(case) - half])
    same(it.coef_, begin(fresh(estimator, C=1.0), case, sample_weight=weights).coef_, "coef_ with another C")


@law(has="partial_fit snapshot certificate_")
def check_heavier_is_learned_more(estimator: Any, case: Case) -> None:
    """The heavier a round, the less loss is left on it, if the rule is a dual ascent; a fixed step may go too far."""
    one, known = case.take([0]), {} if case.classes is None else {"classes": case.classes}
    losses = []
    for weight in (0.0, 0.25, 0.5, 1.0, 2.0, 8.0):
        it = learn(fresh(estimator, average=False), one, sample_weight=np.array([weight]), **known)
        losses.append(loss_on(it, one))
    require(all(b <= a + 1e-6 for a, b in pairwise(losses)), f"losses by weight: {losses}")


@law()
def check_bad_weights(estimator: Any, case: Case) -> None:
    """Weights that are negative, not finite or too few are errors; nothing is learned."""
    it = fit(fresh(estimator), case)
    good = np.ones(len(case))
    bad: dict[str, tuple[Any, tuple[str, ...]]] = {
        "a negative weight": (np.where(np.arange(len(case)) == 2, -1.0, good), ("sample_weight", "row 2")),
        "NaN as a weight": (np.where(np.arange(len(case)) == 3, np.nan, good), ("sample_weight", "row 3")),
        "an infinite weight": (np.where(np.arange(len(case)) == 4, np.inf, good), ("sample_weight", "row 4")),
        "a weight too few": (good[1:], ("sample_weight",)),
        "weights in a column": (good[:, None], ("1D",)),
    }
    for why, (weights, words) in bad.items():
        with unchanged(it, why), refuses(ValueError, *words, why=why):
            fit(it, case, sample_weight=weights)
        if hasattr(it, "partial_fit"):
            with unchanged(it, why), refuses(ValueError, *words, why=why):
                learn(it, case, sample_weight=weights)
