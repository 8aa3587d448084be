"""The rules of the core over directions from outside, against the oracle after every round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hinge import _core
from oracle.structured import Classes, Learner, Words, argmax, hinge, rival

RULES = {
    "passive-aggressive": ("passive-aggressive", {"C": 0.3}),
    "perceptron": ("perceptron", {}),
    "sgd": ("sgd", {"eta": 0.25}),
    "regularised": ("sgd", {"alpha": 0.05}),
}


class CoreLearner:
    """A rule of the core, driven by one of the oracle's problems."""

    def __init__(self, problem: Any, d: int, name: str, average: bool = False) -> None:
        rule, settings = RULES[name]
        self.problem = problem
        self.model = _core.StructuredFloat64("regularised sgd" if name == "regularised" else rule, average)
        self.model.grow(d, 1)
        self.C = settings.get("C", settings.get("eta", 1.0))
        if "alpha" in settings:
            self.C = 1 / (2 * settings["alpha"])

    def rivalry(self, x: Any, y: Any, answer: Any) -> tuple[Any, ...]:
        """Return delta, direction and whether the answer differs, as the core takes them."""
        along = self.problem.features(x, y) - self.problem.features(x, answer)
        index = np.flatnonzero(along).astype(np.int32)
        return self.problem.delta(answer, y), index, along[index], answer != y

    def round(self, x: Any, y: Any, weight: float = 1.0) -> tuple[float, float, float]:
        """Name the rivals; the core does the rest."""
        w = self.model.weights(current=True)
        plain, _ = rival(self.problem, w, x, y)
        hardest = argmax(self.problem, w, x, y)
        return self.model.learn(*self.rivalry(x, y, plain), *self.rivalry(x, y, hardest), weight, self.C)


def stream(kind: str, rounds: int, seed: int, whole: bool = False) -> tuple[Any, int, list[tuple[Any, Any, float]]]:
    """Return a problem, its number of joint features, and rounds with weights."""
    rng = np.random.default_rng(seed)
    weights = rng.choice([0, 0.5, 1, 1, 1], rounds)
    if kind == "classes":
        cost = rng.integers(1, 4, (4, 4)) * (1 - np.eye(4))
        X = rng.integers(-2, 3, (rounds, 3)) * rng.choice([0, 1, 0.5], (rounds, 1), p=[0.1, 0.5, 0.4])
        X = X if whole else X * rng.normal(size=X.shape)
        return Classes(4, cost), 12, list(zip(X, rng.integers(0, 4, rounds).tolist(), weights.tolist(), strict=True))
    lengths = rng.integers(1, 5, rounds)
    X = [rng.integers(-1, 2, (r, 2)).astype(float) if whole else rng.normal(size=(r, 2)) for r in lengths]
    y = [tuple(rng.integers(0, 3, r).tolist()) for r in lengths]
    cost = None if seed % 2 else rng.integers(1, 3, (3, 3)) * (1 - np.eye(3))
    return Words(3, cost, normalize=bool(seed % 3)), 15, list(zip(X, y, weights.tolist(), strict=True))


def is_decided(oracle: Learner, x: Any, y: Any) -> bool:
    """Say whether no rounding decides the mistake: the Perceptron's weights are exact, and so are zeros."""
    own, it = oracle.problem.features(x, y), oracle.problem
    margins = [abs(oracle.w @ (own - it.features(x, a))) for a in it.answers(x) if a != y]
    return oracle.rule == "perceptron" or not oracle.w.any() or not x.any() or min(margins) > 1e-9


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", ["classes", "words"])
@pytest.mark.parametrize("name", RULES)
def test_agrees_with_the_oracle_after_every_round(name, kind, seed):
    problem, d, rounds = stream(kind, 60, seed, whole=name == "perceptron")
    rule, settings = RULES[name]
    oracle = Learner(problem, d, rule, **settings)
    core, mean = CoreLearner(problem, d, name), CoreLearner(problem, d, name, average=True)
    decided = 0
    for t, (x, y, weight) in enumerate(rounds):
        if not is_decided(oracle, x, y):
            continue
        decided += 1
        expected = oracle.round(x, y, weight)
        loss, error, dual = core.round(x, y, weight)
        mean.round(x, y, weight)
        assert loss == pytest.approx(expected.loss, abs=1e-10), t
        assert error == expected.error, t
        np.testing.assert_allclose(core.model.weights(current=False), oracle.w, rtol=0, atol=1e-10, err_msg=f"{t}")
        np.testing.assert_allclose(mean.model.weights(current=False), oracle.mean, rtol=0, atol=1e-10, err_msg=f"{t}")
        if rule == "passive-aggressive":
            assert dual == pytest.approx(oracle.dual, abs=1e-9), t
            assert core.model.ledger()["dual"] == pytest.approx(oracle.dual, abs=1e-9), t
    assert decided >= 0.8 * len(rounds)


@pytest.mark.parametrize("kind", ["classes", "words"])
@pytest.mark.parametrize("seed", range(6))
def test_no_competitor_beats_the_dual_and_mistakes_stay_below_their_bound(kind, seed):
    problem, d, rounds = stream(kind, 50, seed)
    core = CoreLearner(problem, d, "passive-aggressive")
    for x, y, weight in rounds:
        core.round(x, y, weight)
    book = core.model.ledger()
    assert 0 < book["dual"] == pytest.approx(book["running_dual"], abs=1e-9)
    assert book["mistakes"] * book["least_gain"] <= book["dual"] + 1e-9
    rng = np.random.default_rng(seed)
    candidates = [rng.normal(size=d) * scale for scale in (0, 0.03, 0.1, 0.3, 1) for _ in range(4)]
    candidates.append(core.model.weights(current=False))
    for w in candidates:
        primal = w @ w / 2 + core.C * sum(weight * hinge(problem, w, x, y) for x, y, weight in rounds)
        assert book["dual"] <= primal + 1e-9
