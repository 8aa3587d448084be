"""Each label ranker against its oracle: weights, losses, mistakes and the dual, round by round."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from hinge import LabelRanker, progressive
from oracle.streams import KINDS, Example, stream
from rankers import (
    ELEVEN,
    all_weights,
    dicts,
    features,
    fingerprint,
    is_decided,
    name_of,
    oracle_for,
    ranker_for,
    weights,
    with_intercept,
)

CLOSE = 1e-10
CLOSE_PDIP = 1e-6
CLOSE_DUAL = 1e-9


def uses_pdip(algorithm: tuple[str, str], kind: str, intercept: bool) -> bool:
    """Say whether some round needs the interior point method, in the library or in the oracle."""
    update, geometry = algorithm
    two_values = kind == "binary" or (kind == "scaled" and not intercept)
    return update == "full" and (geometry == "signed-entropic" or (geometry == "entropic" and not two_values))


def assert_agrees(ranker: LabelRanker, rounds: list[Example], close: float, csr: bool) -> None:
    """Hold a ranker against its oracle after every round, row by row and then in one native call."""
    again = clone(ranker)
    oracle = oracle_for(ranker, rounds[0].x.size, max(e.alive for e in rounds))
    taken, seen = [], []
    for t, example in enumerate(rounds):
        x = with_intercept(ranker, example.x)
        if not is_decided(oracle, x, example):
            continue
        taken.append(example)
        seen.append(oracle.round(x, example.relevant, example.weight, example.alive))
        ranker.partial_fit(features([example], csr), dicts([example]), sample_weight=weights([example]))
        assert ranker.t_ == len(taken)
        np.testing.assert_allclose(
            all_weights(ranker), oracle.W[: len(ranker.classes_)], rtol=0, atol=close, err_msg=f"round {t}"
        )
        if ranker.geometry != "adaptive":
            assert ranker.certificate_.dual == pytest.approx(oracle.dual, abs=CLOSE_DUAL), f"round {t}"
    assert len(taken) >= 0.8 * len(rounds)
    curve = progressive(again, features(taken, csr), dicts(taken), every=1, sample_weight=weights(taken)).curve
    np.testing.assert_allclose(curve["loss"], [s.loss for s in seen], rtol=0, atol=close)
    np.testing.assert_array_equal(curve["error"], [s.mistake for s in seen])
    if ranker.geometry != "adaptive":
        np.testing.assert_allclose(np.diff(curve["dual"]), [s.gain for s in seen[1:]], rtol=0, atol=CLOSE_DUAL)
    assert fingerprint(again) == fingerprint(ranker)


@pytest.mark.parametrize("intercept", [False, True], ids=["bare", "intercept"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("algorithm", ELEVEN, ids=name_of)
def test_agrees_with_the_oracle_after_every_round(algorithm, kind, intercept):
    rounds = stream(kind, n=7, k=5, rounds=45, seed=11, awkward=True, weighted=True)
    ranker = ranker_for(algorithm, fit_intercept=intercept)
    close = CLOSE_PDIP if uses_pdip(algorithm, kind, intercept) else CLOSE
    assert_agrees(ranker, rounds, close, csr=(kind in ("sparse", "binary")) != intercept)


@pytest.mark.parametrize("algorithm", ELEVEN, ids=name_of)
@pytest.mark.parametrize(("n", "k"), [(1, 2), (40, 2), (3, 33)], ids=["narrow", "two-labels", "many-labels"])
def test_agrees_with_the_oracle_in_other_shapes(algorithm, n, k):
    rounds = stream("dense", n=n, k=k, rounds=21, seed=5, awkward=True)
    assert_agrees(ranker_for(algorithm), rounds, CLOSE_PDIP, csr=False)
