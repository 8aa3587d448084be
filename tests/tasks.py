"""What the tests of parallel tasks share: norms under both names, streams in the forms that people give."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from hinge.norms import Interpolated, PNorm, RMax
from oracle.multitask import Multitask

Array = np.ndarray[Any, np.dtype[Any]]
Rounds = list[tuple[list[Array], Array]]

# how the oracle writes a norm, and how the library does
NORMS = {
    ("p", 1): "l1", ("p", 1.5): PNorm(1.5), ("p", 2): "l2", ("p", 3): PNorm(3), ("p", inf): "linf",
    ("r-max", 1): RMax(1), ("r-max", 2): RMax(2), ("K", 1, inf, 1.7): Interpolated(1, inf, 1.7),
    ("K", 1, 2, 1.3): Interpolated(1, 2, 1.3), ("K", 2, inf, 1.2): Interpolated(2, inf, 1.2),
}  # fmt: skip
UPDATES = ("implicit", "infinite", "finite")


def stream(
    seed: int,
    rounds: int,
    widths: tuple[int, ...],
    *,
    shared: bool = False,
    numbers: bool = False,
    dormant: float = 0.15,
) -> Rounds:
    """Instances of length at most 2, some zero, and answers of a hidden linear rule with noise, some dormant."""
    rng = np.random.default_rng(seed)
    hidden, drawn = [rng.normal(size=n) for n in widths], Rounds()
    for _ in range(rounds):
        xs = [v * (rng.random(n) < 0.7) for n, v in ((n, rng.normal(size=n)) for n in widths)]
        xs = [2 * v / max(2.0, float(np.linalg.norm(v))) * (rng.random() > 0.07) for v in xs]
        if shared:
            xs = [xs[0]] * len(widths)
        score = np.array([w @ v for w, v in zip(hidden, xs, strict=True)]) + 0.3 * rng.normal(size=len(widths))
        y = score if numbers else np.where(score > 0, 1.0, -1.0)
        y[rng.random(len(widths)) < dormant] = np.nan
        drawn.append((xs, y))
    drawn[3][1][:] = np.nan  # a round in which every task sleeps
    return drawn


def matrices(rounds: Rounds) -> list[Array]:
    """Return the instances as a list of one matrix a task."""
    return [np.array(column) for column in zip(*(xs for xs, _ in rounds), strict=True)]


def answers(rounds: Rounds) -> Array:
    """Return the answers, (rounds, tasks)."""
    return np.array([y for _, y in rounds])


def with_constant(xs: list[Array]) -> list[Array]:
    """Put the constant feature first."""
    return [np.append(1.0, x) for x in xs]


def all_weights(tasks: Any) -> list[Array]:
    """Return the weights of each task, the intercept first where there is one."""
    if not tasks.fit_intercept:
        return list(tasks.coef_)
    return [np.append(b, w) for b, w in zip(tasks.intercept_, tasks.coef_, strict=True)]


def oracle_for(tasks: Any, norm: tuple[Any, ...], widths: tuple[int, ...]) -> Multitask:
    """Make the oracle of an estimator."""
    epsilon = getattr(tasks, "epsilon", None)
    wide = [n + tasks.fit_intercept for n in widths]
    return Multitask(wide, norm, tasks.update, tasks.C, tasks.radius, tasks.horizon, epsilon)


def is_decided(oracle: Multitask, xs: list[Array], y: Array) -> bool:
    """Say whether rounding decides no task's error: what is zero on paper is zero, or away from it."""
    score = np.array([w @ x for w, x in zip(oracle.W, xs, strict=True)])
    if oracle.epsilon is not None:
        return bool((np.isnan(y) | (np.abs(np.abs(y - score) - oracle.epsilon) > 1e-12)).all())
    still = np.array([not w[x != 0].any() for w, x in zip(oracle.W, xs, strict=True)])
    return bool((np.isnan(y) | still | (np.abs(score) > 1e-12)).all())
