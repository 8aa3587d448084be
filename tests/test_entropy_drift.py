"""The entropies' normalisers over long streams: docs/design/entropy.md says how far they may drift."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hinge import LabelRanker

N, K = 40, 4
ONE_ROUNDING = 2.0**-52


def restless(rounds: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows and labels whose law turns round every thousand rounds, so that masses rise and fall again."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, N)) * (rng.random((rounds, N)) < 0.2)
    hidden = rng.normal(size=(K, N))
    sign = np.where(np.arange(rounds) // 1000 % 2, -1.0, 1.0)
    return X, (sign[:, None] * (X @ hidden.T)).argmax(axis=1)


def masses_of(ranker: LabelRanker) -> tuple[np.ndarray, np.ndarray]:
    """Return what the ranker has as the sum of masses, and the sum itself, exactly rounded; by label."""
    sections = ranker._state()[1]
    read = sections["read"].astype(np.float64)
    if ranker.geometry == "signed-entropic":
        read = np.sqrt(read**2 + 4 * np.exp(-2 * sections["shift"]))
    return sections["mass"], np.array([math.fsum(column) for column in read.T])


def assert_no_drift(ranker: LabelRanker) -> None:
    kept, exact = masses_of(ranker)
    # twice: the sum's own rounding, and (signed) that of the masses made here, which may differ from the core's
    np.testing.assert_allclose(kept, exact, rtol=2 * ONE_ROUNDING if ranker.geometry == "entropic" else 1e-15)
    sections = ranker._state()[1]
    theta, shift = sections["theta"], sections["shift"]
    up = np.exp(theta - shift)
    down = np.exp(-theta - shift) if ranker.geometry == "signed-entropic" else 0.0
    smallest = np.finfo(ranker.dtype).smallest_subnormal  # float32 has no numbers below it: they are read as zero
    close = 1e-13 if ranker.dtype == "float64" else 2e-7
    assert (np.abs((up - down) - sections["read"]) <= close * (up + down) + smallest).all()


def learn_in_chunks(ranker: LabelRanker, rounds: int) -> int:
    """Learn a restless stream and look at the normalisers on the way; return how often a shift changed."""
    X, y = restless(min(rounds, 100_000))
    shifts, before = 0, np.zeros(K)
    for start in range(0, rounds, 5000):
        part = slice(start % len(X), start % len(X) + 5000)
        ranker.partial_fit(X[part], y[part], classes=range(K) if start == 0 else None)
        assert_no_drift(ranker)
        now = ranker._state()[1]["shift"]
        shifts, before = shifts + int((now != before).sum()), now
    return shifts


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("geometry", ["entropic", "signed-entropic"])
@pytest.mark.parametrize(("update", "C"), [("fixed", 4.0), ("single", 8.0), ("full", 2.0)])
def test_normalisers_do_not_drift(update, C, geometry, dtype):
    ranker = LabelRanker(update=update, geometry=geometry, C=C, margin=0.5, dtype=dtype)
    shifts = learn_in_chunks(ranker, 5000 if update == "full" else 20_000)
    if update != "full":
        assert shifts > 0  # the masses were summed anew on the way, and the stream is a hard one


@pytest.mark.parametrize(("dtype", "close"), [("float32", 2e-5), ("float64", 1e-12)])
@pytest.mark.parametrize("geometry", ["entropic", "signed-entropic"])
@pytest.mark.parametrize(("update", "C"), [("fixed", 4.0), ("single", 8.0), ("full", 2.0), ("single", 0.1)])
def test_the_mean_keeps_its_digits_where_masses_rise_and_fall(update, C, geometry, dtype, close):
    """The mean is kept lazily in units that change by many orders of magnitude on the way."""
    X, y = restless(1500)
    params = {"update": update, "geometry": geometry, "C": C, "margin": 0.5, "dtype": dtype}
    now, mean = (LabelRanker(average=average, **params) for average in (False, True))
    for ranker in (now, mean):
        ranker.partial_fit(np.zeros((1, N)), [0], classes=range(K), sample_weight=[0.0])
    total = now.coef_.astype(np.float64)
    for t in range(1500):
        total += now.coef_
        now.partial_fit(X[t : t + 1], y[t : t + 1])
        mean.partial_fit(X[t : t + 1], y[t : t + 1])
        if t % 100 == 0:
            np.testing.assert_allclose(mean.coef_, total / (t + 2), rtol=0, atol=close)


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("geometry", ["entropic", "signed-entropic"])
@pytest.mark.parametrize(("update", "C"), [("fixed", 4.0), ("single", 8.0), ("full", 2.0), ("single", 0.01)])
def test_normalisers_do_not_drift_in_a_million_rounds(update, C, geometry, dtype):
    ranker = LabelRanker(update=update, geometry=geometry, C=C, margin=0.5, dtype=dtype)
    shifts = learn_in_chunks(ranker, 1_000_000)
    kept, exact = masses_of(ranker)
    print(f"\n{update:>6} {geometry:>15} {dtype} C={C}: largest error {np.abs(kept / exact - 1).max():.1e}, "
          f"shifts seen {shifts}")  # fmt: skip
    assert ranker.t_ == 1_000_000
