"""The solvers and geometries of the label rankers, compiled on their own (tests/cpp/label_ranking.cpp)."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from compiled import compiled
from oracle.label_ranking import lift, log_sum_exp, softmax

Array = np.ndarray[Any, np.dtype[Any]]

KINDS = ("euclidean", "adaptive", "entropic", "signed-entropic")


@functools.cache
def library() -> ctypes.CDLL:
    """Compile the surface, once a session."""
    core = compiled("label_ranking.cpp")
    pointer, index, real = ctypes.c_void_p, ctypes.c_int32, ctypes.c_double
    for name, result, *arguments in (
        ("best_alphas", index, index, index, *[pointer] * 4, index, real, real, index, pointer),
        ("space_new", pointer, index, index, index),
        ("space_free", None, pointer),
        ("space_grow", real, pointer, index, index),
        ("space_advance", real, pointer, pointer, pointer, real),
        ("space_scores", None, pointer, pointer, pointer),
        ("space_weights", None, pointer, pointer),
        ("space_conjugate", real, pointer),
        ("space_curvature", real, pointer, pointer),
        ("space_along", None, pointer, pointer, index, real, pointer),
    ):
        getattr(core, name).restype, getattr(core, name).argtypes = result, arguments
    return core


def reals(values: Any) -> Array:
    """Return values as the C side reads them."""
    return np.ascontiguousarray(values, dtype=np.float64)


class Line(NamedTuple):
    """What a round of a log-partition is: the values of x besides zero, their masses by label, the masses of zero."""

    values: Array
    masses: Array
    rests: Array

    @classmethod
    def of(cls, geometry: str, theta: Array, x: Array) -> Line:
        """Read a round off the dual vectors; an x of one value besides zero has one atom besides zero."""
        doubled, w = lift(geometry, x), softmax(lift(geometry, theta))
        values = doubled[doubled != 0]
        masses, rests = w[:, doubled != 0], w[:, doubled == 0].sum(axis=1)
        if np.unique(values).size == 1:
            values, masses = values[:1], masses.sum(axis=1, keepdims=True)
        return cls(values, masses, rests)

    def rises(self, alpha: Array) -> Array:
        """Compute ``G(theta_y + alpha_y x) - G(theta_y)`` of each label."""
        values = np.append(self.values, 0.0)
        with np.errstate(divide="ignore"):
            logs = np.log(np.column_stack([self.masses, self.rests]))
        return log_sum_exp(logs + np.outer(alpha, values))

    def objective(self, alpha: Array, in_Y: Array, gamma: float) -> float:
        """Compute what the round minimises."""
        return float(self.rises(alpha).sum() - gamma * alpha[in_Y].sum())

    def solve(self, in_Y: Array, gamma: float, C: float, interior: bool) -> tuple[Array, int]:
        """Let the core choose the alphas: by the interior point method, or as it sees fit. Also its iterations."""
        alpha, ups = np.empty(in_Y.size), np.flatnonzero(in_Y).astype(np.int32)
        parts = [reals(part) for part in self]
        iterations = library().best_alphas(
            in_Y.size, self.values.size, *(part.ctypes.data for part in parts), ups.ctypes.data, ups.size,
            gamma, C, interior, alpha.ctypes.data,
        )  # fmt: skip
        return alpha, iterations


class Space:
    """A geometry of the core, without an intercept."""

    def __init__(self, geometry: str, n: int, k: int) -> None:
        self.core, self.n, self.k, self.geometry = library(), n, k, geometry
        self.handle = self.core.space_new(KINDS.index(geometry), n, k)

    def __del__(self) -> None:
        self.core.space_free(self.handle)

    def grow(self, n: int, k: int) -> float:
        """Let features and labels appear; return by how much the sum of all G is said to rise."""
        self.n, self.k = n, k
        return self.core.space_grow(self.handle, n, k)

    def advance(self, x: Array, alpha: Sequence[float], r: float = 1.0) -> float:
        """Move ``theta += x alpha'``; return by how much the sum of all G is said to rise."""
        x, alpha = reals(x), reals(alpha)
        return self.core.space_advance(self.handle, x.ctypes.data, alpha.ctypes.data, r)

    def scores(self, x: Array) -> Array:
        """Score every label."""
        x, out = reals(x), np.empty(self.k)
        self.core.space_scores(self.handle, x.ctypes.data, out.ctypes.data)
        return out

    @property
    def weights(self) -> Array:
        """The weights, (k, n)."""
        out = np.empty((self.k, self.n))
        self.core.space_weights(self.handle, out.ctypes.data)
        return out

    @property
    def conjugate(self) -> float:
        """The sum of all G."""
        return self.core.space_conjugate(self.handle)

    def curvature(self, x: Array) -> float:
        """The most that the Hessian of G can be along x."""
        x = reals(x)
        return self.core.space_curvature(self.handle, x.ctypes.data)

    def along(self, x: Array, label: int, a: float) -> tuple[float, float, float]:
        """Return ``G(theta_y + a x) - G(theta_y)`` and its two derivatives in a."""
        x, out = reals(x), np.empty(3)
        self.core.space_along(self.handle, x.ctypes.data, label, a, out.ctypes.data)
        return tuple(out)
