"""Where scores are cut into a label set: an online threshold ``b(x) = <u, x> + u0``, by a plain oracle."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hinge import LabelRanker
from oracle.streams import stream
from rankers import features, fingerprint, sets, weights


def wrong_at(b, scores, in_Y):
    """Count the labels that a cut at b puts on the wrong side; a label is in the set when its score is above b."""
    return int(((scores > b) != in_Y).sum())


def best_cut(scores, in_Y, unit):
    """Return the middle of the interval of cuts with the fewest labels on the wrong side, the highest such interval.

    Beyond the highest and the lowest score a cut counts as one unit away.
    """
    ends = np.unique(scores)
    edges = [ends[0] - 2 * unit, *ends, ends[-1] + 2 * unit]
    middles = [low + (high - low) / 2 for low, high in itertools.pairwise(edges)]
    return min(reversed(middles), key=lambda b: wrong_at(b, scores, in_Y))


class CutOracle:
    """A unit passive-aggressive step towards the best cut, whenever the set that was cut is not the truth."""

    def __init__(self, n, gamma):
        self.u, self.u0, self.unit = np.zeros(n), 0.0, gamma / 2

    def at(self, x):
        return float(self.u @ x + self.u0)

    def learn(self, x, scores, in_Y, weight):
        if weight == 0 or wrong_at(self.at(x), scores, in_Y) == 0:
            return
        length = float(x @ x) + 1
        distance = best_cut(scores, in_Y, self.unit) - self.at(x)
        step = np.sign(distance) * min(weight, abs(distance) / length)
        self.u, self.u0 = self.u + step * x, self.u0 + step


@pytest.mark.parametrize("average", [False, True], ids=["", "average"])
@pytest.mark.parametrize("kind", ["dense", "binary", "sparse"])
@pytest.mark.parametrize("geometry", ["euclidean", "adaptive", "entropic", "signed-entropic"])
def test_the_cut_is_that_of_the_oracle_after_every_round(geometry, kind, average):
    rounds = [e._replace(alive=6) for e in stream(kind, n=7, k=6, rounds=80, seed=5, awkward=True, weighted=True)]
    ranker = LabelRanker(geometry=geometry, margin=0.5, C=0.7, average=average, dtype="float64")
    X, Y, w = features(rounds), sets(rounds), weights(rounds)
    ranker.partial_fit(X[:1], Y[:1], classes=range(6), sample_weight=[0.0])
    oracle, close_calls = CutOracle(7, 0.5), 0
    for t, example in enumerate(rounds):
        x, in_Y = example.x, np.isin(np.arange(6), example.relevant)
        scores = ranker.decision_function(X[t : t + 1])[0]
        gaps = np.abs(scores - oracle.at(x))
        if ((gaps > 0) & (gaps < 1e-12)).any():  # rounding decides on which side of the cut it is
            close_calls += 1
            continue
        assert ranker.predict(X[t : t + 1])[0] == set(np.flatnonzero(scores > oracle.at(x)).tolist())
        oracle.learn(x, scores, in_Y, example.weight)
        ranker.partial_fit(X[t : t + 1], [Y[t]], sample_weight=w[t : t + 1])
        sections = ranker._state()[1]
        np.testing.assert_allclose(sections["cut"][1:, 0], oracle.u, rtol=0, atol=1e-10, err_msg=f"round {t}")
        assert sections["cut_offset"] == pytest.approx(oracle.u0, abs=1e-10)
    assert close_calls < 10


def test_the_cut_leaves_the_ranking_alone():
    """One label a row or sets of one: the same rounds, and the same weights to the last bit."""
    rounds = stream("sparse", n=7, k=5, rounds=60, seed=1)
    X, y = features(rounds), [e.relevant[0] for e in rounds]
    one = LabelRanker().partial_fit(X, y)
    other = LabelRanker().partial_fit(X, [{label} for label in y])
    a, b = fingerprint(one), fingerprint(other)
    assert b.keys() - a.keys() == {"cut_offset"}
    assert a["weights"] == b["weights"]
