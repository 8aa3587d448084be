"""The law of a geometry: conjugate, link and curvature agree, and moving along x changes scores as the formulas say."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.certificate import curvature
from oracle.label_ranking import CERTIFIED, conjugate, primal
from rankers_core import KINDS, Space

N, K = 6, 3


@pytest.fixture(params=range(4))
def rng(request):
    return np.random.default_rng(request.param)


def moved(geometry, rng, scale=0.7, moves=8):
    """Return a geometry that has moved at random, and its dual vectors."""
    space, theta = Space(geometry, N, K), np.zeros((K, N))
    for _ in range(moves):
        x, alpha = rng.normal(size=N) * (rng.random(N) < 0.7), scale * rng.normal(size=K)
        space.advance(x, alpha)
        theta += np.outer(alpha, x)
    return space, theta


def along(geometry, theta, x, steps):
    """Compute the sum of all G where each label has moved along x."""
    return conjugate(geometry, theta + np.outer(steps, x)).sum()


@pytest.mark.parametrize("geometry", CERTIFIED)
def test_conjugate_and_weights_are_those_of_the_formulas(geometry, rng):
    space, theta = moved(geometry, rng)
    assert space.conjugate == pytest.approx(conjugate(geometry, theta).sum(), abs=1e-12)
    np.testing.assert_allclose(space.weights, primal(geometry, theta), rtol=0, atol=1e-14)


@pytest.mark.parametrize("geometry", CERTIFIED)
def test_weights_are_the_slope_of_the_conjugate(geometry, rng):
    space, _ = moved(geometry, rng)
    x, weights, before, step = rng.normal(size=N), space.weights, space.conjugate, 1e-5
    for y in range(K):
        there = [0.0] * K
        there[y] = step
        up = space.advance(x, there)
        assert space.conjugate - before == pytest.approx(up, abs=1e-14)
        down = space.advance(x, -2 * np.array(there)) + up
        space.advance(x, there)
        assert (up - down) / (2 * step) == pytest.approx(weights[y] @ x, abs=1e-9)


@pytest.mark.parametrize("geometry", CERTIFIED)
def test_curvature_bounds_the_hessian_and_is_that_of_the_formula(geometry, rng):
    for _ in range(20):
        space, _ = moved(geometry, rng)
        x, step = rng.normal(size=N) * (rng.random(N) < 0.7), 1e-3
        most = space.curvature(x)
        assert most == pytest.approx(curvature(geometry, x))
        scores = space.scores(x)
        space.advance(x, [step, 2 * step, -step])
        slopes = (space.scores(x) - scores) / [step, 2 * step, -step]
        assert (slopes >= -1e-12).all()
        assert (slopes <= most + 1e-9).all()


@pytest.mark.parametrize("geometry", ["entropic", "signed-entropic"])
def test_curvature_is_reached(geometry):
    """Where all weight lies on the smallest and the largest value of x, half on each."""
    space, x = Space(geometry, 2, 1), np.array([2.0, -1.0])
    if geometry == "signed-entropic":
        space.advance(np.array([1.0, 0.0]), [0.0])
        x = np.array([2.0, 0.0])
        space.advance(np.array([0.0, 1.0]), [0.0])
        assert space.along(x, 0, 0.0)[2] == pytest.approx(space.curvature(x) / 2)  # half the mass is on the other one
    else:
        assert space.along(x, 0, 0.0)[2] == pytest.approx(space.curvature(x))


@pytest.mark.parametrize("geometry", ["entropic", "signed-entropic"])
@pytest.mark.parametrize("kind", ["any", "one value", "negative value", "zero"])
def test_line_tells_rise_mean_and_variance(geometry, kind, rng):
    space, theta = moved(geometry, rng)
    x = rng.normal(size=N)
    if kind != "any":
        x = (rng.random(N) < 0.5) * {"one value": 0.5, "negative value": -2.0, "zero": 0.0}[kind]
        x[0] = 0.0
    if not x.any():
        return
    for y, a in ((0, 0.0), (1, 0.8), (2, -2.5)):
        here, away = np.zeros(K), np.zeros(K)
        here[y], away[y] = a, a + 1e-4
        rise, mean, variance = space.along(x, y, a)
        values = [along(geometry, theta, x, step) for step in (2 * here - away, here, away)]
        assert rise == pytest.approx(values[1] - conjugate(geometry, theta).sum(), abs=1e-12)
        assert mean == pytest.approx((values[2] - values[0]) / 2e-4, abs=1e-6)
        assert variance == pytest.approx((values[2] - 2 * values[1] + values[0]) / 1e-8, abs=1e-5)


def test_squared_norm_moves_scores_by_the_squared_length(rng):
    space, _ = moved("euclidean", rng)
    x, alpha = rng.normal(size=N), rng.normal(size=K)
    before = space.scores(x)
    space.advance(x, alpha)
    np.testing.assert_allclose(space.scores(x) - before, alpha * (x @ x), rtol=1e-13)


@pytest.mark.parametrize("r", [0.5, 3.0])
def test_adaptive_moves_scores_by_its_confidences(r, rng):
    space, v = Space("adaptive", N, K), np.ones(N)
    for _ in range(10):
        x, alpha = rng.normal(size=N) * (rng.random(N) < 0.7), rng.normal(size=K)
        before, q = space.scores(x), (v * x**2).sum()
        space.advance(x, alpha, r)
        np.testing.assert_allclose(space.scores(x) - before, alpha * q, rtol=0, atol=1e-12)
        v = v - v**2 * x**2 / (q + r)
        assert (v > 0).all()
    assert space.conjugate == 0


@pytest.mark.parametrize("geometry", KINDS)
def test_growing_starts_features_and_labels_at_zero(geometry, rng):
    space, theta = moved(geometry, rng)
    before = space.conjugate
    rise = space.grow(N + 2, K + 2)
    assert space.conjugate - before == pytest.approx(rise, abs=1e-13)
    if geometry in CERTIFIED:
        theta = np.pad(theta, ((0, 2), (0, 2)))
        np.testing.assert_allclose(space.weights, primal(geometry, theta), rtol=0, atol=1e-14)
        assert space.conjugate == pytest.approx(conjugate(geometry, theta).sum(), abs=1e-12)


@pytest.mark.parametrize("geometry", ["entropic", "signed-entropic"])
@pytest.mark.parametrize("size", [30.0, 300.0])
def test_entropies_survive_long_moves(geometry, size, rng):
    """Moves far beyond what exp can hold: masses are summed anew with another shift."""
    space, theta = moved(geometry, rng, scale=size, moves=20)
    np.testing.assert_allclose(space.weights, primal(geometry, theta), rtol=0, atol=1e-11)
    assert space.conjugate == pytest.approx(conjugate(geometry, theta).sum(), rel=1e-13)
