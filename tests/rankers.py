"""What the tests of the label rankers share: the eleven algorithms, and streams in the forms that people give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from hinge import LabelRanker
from oracle.label_ranking import CERTIFIED, RULES, LabelRanking
from oracle.streams import Example

Array = np.ndarray[Any, np.dtype[Any]]

ELEVEN = sorted(RULES)
NINE = [(update, geometry) for update, geometry in ELEVEN if geometry in CERTIFIED]
AWAY = {"euclidean": 1.0, "adaptive": 1.0, "entropic": 0.125, "signed-entropic": 0.125}  # margins: powers of two


def name_of(algorithm: Any) -> str | None:
    """Name an algorithm in a test's id."""
    return "-".join(algorithm) if isinstance(algorithm, tuple) else None


def ranker_for(algorithm: tuple[str, str], **params: Any) -> LabelRanker:
    """Make a ranker in float64 whose C and margin are powers of two, unless told otherwise."""
    update, geometry = algorithm
    usual: dict[str, Any] = {"C": 0.5, "margin": AWAY[geometry], "dtype": "float64"}
    return LabelRanker(update=update, geometry=geometry, **(usual | params))


def oracle_for(ranker: LabelRanker, n: int, k: int) -> LabelRanking:
    """Make the oracle of a ranker; the intercept is its first feature."""
    return LabelRanking(
        n + ranker.fit_intercept, k, ranker.update, ranker.geometry, ranker.C, ranker.margin, ranker.r
    )  # fmt: skip


def features(rounds: Sequence[Example], csr: bool = False) -> Any:
    """Return the instances of a stream as X."""
    X = np.array([example.x for example in rounds])
    return sparse.csr_matrix(X) if csr else X


def weights(rounds: Iterable[Example]) -> Array:
    """Return the weights of a stream."""
    return np.array([example.weight for example in rounds])


def dicts(rounds: Iterable[Example]) -> list[dict[int, bool]]:
    """Return the targets of a stream as dicts that name each label that exists in the round."""
    return [{y: y in e.relevant for y in range(e.alive or 0)} for e in rounds]


def sets(rounds: Iterable[Example]) -> list[set[int]]:
    """Return the targets of a stream as sets."""
    return [set(e.relevant) for e in rounds]


def with_intercept(ranker: LabelRanker, x: Array) -> Array:
    """Put the constant feature first, where the ranker has one."""
    return np.append(1.0, x) if ranker.fit_intercept else x


def all_weights(ranker: LabelRanker) -> Array:
    """Return intercepts and weights side by side, (k, n + 1), or the weights where there is no intercept."""
    if not ranker.fit_intercept:
        return ranker.coef_
    return np.column_stack([ranker.intercept_, ranker.coef_])


def is_decided(oracle: LabelRanking, x: Array, example: Example) -> bool:
    """Say whether rounding decides neither the mistake of a round nor the pair that moves.

    Scores of labels with the same weights tie exactly, and so do all scores where C is all that is ever added to
    weights that are scored as they are. Other scores that are equal on paper are equal up to rounding only.
    """
    rho = oracle.W[: example.alive] @ x
    in_Y = np.isin(np.arange(rho.size), example.relevant)
    exact = (oracle.update, oracle.geometry) == ("fixed", "euclidean") or not x.any()
    if exact or in_Y.all() or not in_Y.any():
        return True
    lowest, highest = int(np.argmin(np.where(in_Y, rho, np.inf))), int(np.argmax(np.where(in_Y, -np.inf, rho)))
    near = [(lowest, highest)]
    if oracle.update != "full":
        near += [(lowest, y) for y in np.flatnonzero(in_Y)] + [(highest, y) for y in np.flatnonzero(~in_Y)]
    return all(abs(rho[a] - rho[b]) > 1e-12 or are_tied(oracle, x, a, b) for a, b in near)


def are_tied(oracle: LabelRanking, x: Array, a: int, b: int) -> bool:
    """Say whether two labels score x alike whatever the order in which the learner adds."""
    one, other = oracle.theta[a], oracle.theta[b]
    if oracle.geometry == "entropic":
        return bool((one == other).all())
    if oracle.geometry == "signed-entropic":
        return bool((one == other).all() or not (one[x != 0].any() or other[x != 0].any()))
    return bool((one == other)[x != 0].all())


def fingerprint(ranker: LabelRanker) -> dict[str, Any]:
    """Return all that a ranker has learned, bit for bit."""
    if ranker._model is None:
        return {}
    state, sections = ranker._state()
    bits = {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in sections.items()}
    return {**state, **bits, "t": ranker.t_, "labels": [(type(y).__name__, y) for y in ranker._labels.known]}
