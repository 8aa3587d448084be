"""An oracle that a person writes, asked question by question; what it answers is looked at each time (MATH.md E).

A wrong argmax shows itself: its answer scores less than the right one, or the hinge that it is attained at is negative,
or smaller than that of the best answer.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse

__all__ = ["AskedOracle", "Direction", "Oracle"]

TIE = 1e9
Direction = tuple[float, np.ndarray, np.ndarray, bool]  # delta, places, values, whether it is another answer


class Oracle(Protocol):
    """What a problem has to know of itself."""

    def features(self, x: Any, y: Any) -> Any:
        """Return the joint features Psi(x, y): a 1-d array, or one row of a sparse matrix, always of one length."""

    def delta(self, y_pred: Any, y: Any) -> float:
        """Return the cost of answering `y_pred` where `y` is right; 0 for y itself, never negative."""

    def argmax(self, w: np.ndarray, x: Any, y: Any = None) -> Any:
        """Return the answer with the largest ``<w, Psi(x, answer)>``; with `y` given, plus ``delta(answer, y)``."""


class AskedOracle:
    """An oracle whose answers become directions of the core; ValueError, naming the example, where they cannot.

    Parameters
    ----------
    oracle : Oracle
    dtype : dtype
        What the weights are kept in.
    length : int, optional
        How many joint features there are; by default as many as the first example has.
    """

    def __init__(self, oracle: Oracle, dtype: np.dtype[Any], length: int | None = None) -> None:
        self.oracle, self.dtype, self.length = oracle, dtype, length

    def check(self, x: Any, y: Any, i: int) -> None:
        """Look at an example before it is learned."""
        self.features(x, y, i)
        own = self.delta(y, y, i)
        if own != 0:
            raise ValueError(f"example {i}: delta(y, y) gave {own:g}; the right answer costs 0")

    def features(self, x: Any, y: Any, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Return places and values of the joint features."""
        given = self.oracle.features(x, y)
        if sparse.issparse(given):
            row = sparse.csr_matrix(given).copy()
            row.sum_duplicates()
            row.eliminate_zeros()
            if row.shape[0] != 1:
                raise ValueError(f"example {i}: features gave a sparse matrix of {row.shape[0]} rows; it must be one")
            index, values, size = row.indices.astype(np.int32), row.data.astype(np.float64), int(row.shape[1])
        else:
            dense = np.asarray(given, dtype=np.float64)
            if dense.ndim != 1:
                raise ValueError(f"example {i}: features gave an array of shape {dense.shape}; it must be 1-d")
            index = np.flatnonzero(dense).astype(np.int32)
            values, size = dense[index], dense.size
        if self.length is None:
            self.length = size
        if size != self.length:
            raise ValueError(f"example {i}: features gave {size} numbers, {self.length} before; the length is fixed")
        if not np.isfinite(values).all():
            raise ValueError(f"example {i}: features gave NaN or infinity")
        if (np.abs(values) > np.finfo(self.dtype).max).any():
            raise ValueError(f"example {i}: features gave a number that is too large for {self.dtype}")
        return index, values

    def delta(self, answer: Any, y: Any, i: int) -> float:
        """Return the cost of an answer."""
        delta = float(self.oracle.delta(answer, y))
        if not 0 <= delta < np.inf:
            raise ValueError(f"example {i}: delta gave {delta}; a cost must be finite and not negative")
        return delta

    def direction(self, x: Any, y: Any, answer: Any, i: int) -> Direction:
        """Return delta and ``Psi(x, y) - Psi(x, answer)``."""
        delta = self.delta(answer, y, i)
        own_at, own = self.features(x, y, i)
        at, values = self.features(x, answer, i)
        places, inverse = np.unique(np.concatenate([own_at, at]), return_inverse=True)
        sums = np.bincount(inverse, np.concatenate([own, -values]), places.size) if places.size else np.empty(0)
        kept = sums != 0
        return delta, places[kept].astype(np.int32), sums[kept].astype(self.dtype), bool(delta > 0 or kept.any())

    def rivals(self, w: np.ndarray, x: Any, y: Any, i: int) -> tuple[Direction, Direction]:
        """Ask for the best answer, which at a tie is not y, and for the one that the hinge is attained at."""
        plain, hardest = self.both(w, x, y, i)
        return plain if plain[3] else self._tied(w, x, y, i) or plain, hardest

    def both(self, w: np.ndarray, x: Any, y: Any, i: int) -> tuple[Direction, Direction]:
        """Ask for the answers without and with y; ValueError where one of them is not the best."""
        plain = self.direction(x, y, self.oracle.argmax(w, x), i)
        hardest = self.direction(x, y, self.oracle.argmax(w, x, y), i)
        gain, hinge = -margin_of(w, plain), hardest[0] - margin_of(w, hardest)
        rounding = max(self._rounding(w, plain), self._rounding(w, hardest))
        if gain < -rounding:
            raise _wrong(i, f"its answer scores {-gain:g} less than y, so it is not best")
        if hinge < -rounding:
            raise _wrong(i, f"with y its hinge is {hinge:g}, but y itself gives 0")
        if hinge < plain[0] + gain - rounding:
            raise _wrong(i, f"with y it gives the hinge {hinge:g}, but its answer without y has {plain[0] + gain:g}")
        return plain, hardest

    def _tied(self, w: np.ndarray, x: Any, y: Any, i: int) -> Direction | None:
        """Return another answer that scores exactly as much as y, if there is one: the costliest.

        With the scores multiplied, a cost only decides between answers that score the same.
        """
        other = self.direction(x, y, self.oracle.argmax(w * TIE, x, y), i)
        return other if other[3] and margin_of(w, other) <= 0 else None

    def _rounding(self, w: np.ndarray, direction: Direction) -> float:
        """Return by how much sums of such sizes may be off, in float64 as the oracle may have them, and as kept."""
        size = 1 + direction[0] + np.abs(w).max(initial=0.0) * float(np.abs(direction[2]).sum())
        return float(size * (1e-9 + 8 * np.finfo(self.dtype).eps))


def margin_of(w: np.ndarray, direction: Direction) -> float:
    """Return by how much the right answer scores more."""
    _, at, values, _ = direction
    return float(w[at] @ values.astype(np.float64))


def _wrong(i: int, how: str) -> ValueError:
    return ValueError(f"example {i}: the oracle's argmax is wrong: {how}")
