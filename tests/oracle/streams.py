"""Random streams of rounds, with the awkward ones among them, for comparing a learner with its oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Example(NamedTuple):
    """One round: an instance, its relevant labels, its weight, and how many labels exist (None: all)."""

    x: Array
    relevant: tuple[int, ...]
    weight: float = 1.0
    alive: int | None = None


KINDS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "dense": lambda rng, n: rng.normal(size=n),
    "binary": lambda rng, n: (rng.random(n) < 0.3).astype(float),
    "scaled": lambda rng, n: 0.5 * (rng.random(n) < 0.3),
    "sparse": lambda rng, n: rng.normal(size=n) * (rng.random(n) < 0.2),
}


def stream(
    kind: str, n: int, k: int, rounds: int, seed: int, awkward: bool = False, weighted: bool = False
) -> list[Example]:
    """Draw rounds whose relevant labels are those a hidden linear ranker scores highest, after some noise.

    Parameters
    ----------
    kind : {"dense", "binary", "scaled", "sparse"}
        Gaussian; 0 or 1; 0 or 1/2; Gaussian, four in five zero.
    awkward : bool
        Every seventh round is a zero row, a constant row, the row before once more, no relevant label, or all
        labels relevant; and in the first third only part of the labels exist.
    weighted : bool
        Weights are drawn from 0, 1/2, 1, 2; otherwise all are 1.

    Examples
    --------
    >>> rounds = stream("binary", n=5, k=3, rounds=8, seed=0)
    >>> len(rounds), rounds[0].weight, set(rounds[0].x) <= {0.0, 1.0}
    (8, 1.0, True)
    """
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(k, n))
    drawn: list[Example] = []
    for t in range(rounds):
        x = KINDS[kind](rng, n)
        alive = max(2, k // 2) if awkward and t < rounds // 3 else k
        size = int(rng.integers(1, max(2, alive // 2 + 1)))
        odd = (t // 7) % 5 if awkward and t % 7 == 6 else None
        if odd in (0, 1, 2):
            x = (np.zeros(n), np.full(n, x.max()), drawn[-1].x)[odd]
        elif odd in (3, 4):
            size = (0, alive)[odd - 3]
        noisy = hidden[:alive] @ x + 0.3 * rng.normal(size=alive)
        relevant = tuple(sorted(int(y) for y in np.argsort(-noisy)[:size]))
        weight = float(rng.choice([0.0, 0.5, 1.0, 2.0])) if weighted else 1.0
        drawn.append(Example(x, relevant, weight, alive))
    return drawn
