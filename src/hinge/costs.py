"""What wrong answers cost: a matrix by answer and truth, or numbers that come with each row."""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.labels import Targets

__all__ = ["CostlyTargets", "read_cost"]


def read_cost(cost: Any) -> np.ndarray:
    """Return a cost matrix by answer and truth; ValueError, naming the place, where it is none."""
    matrix = np.asarray(cost, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"cost must be a square matrix, a row and a column for each class, got shape {matrix.shape}")
    bad = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
    if bad.size:
        i, j = bad[0]
        raise ValueError(
            f"cost must hold finite numbers that are not negative: row {i}, column {j} is {matrix[i, j]:g}"
        )
    if np.diag(matrix).any():
        i = int(np.argmax(np.diag(matrix) != 0))
        raise ValueError(f"cost must be zero on the diagonal, where the answer is right: row {i} has {matrix[i, i]:g}")
    return matrix


class CostlyTargets(Targets):
    """Labels with what answering each class costs, row by row."""

    costs: np.ndarray

    def _replace(self, **changes: Any) -> CostlyTargets:
        out: CostlyTargets = super()._replace(**changes)
        out.costs = self.costs
        return out

    def take(self, rows: np.ndarray) -> CostlyTargets:
        out = self._replace(label=self.label[rows])
        out.costs = np.ascontiguousarray(self.costs[rows])
        return out

    def check(self, classes: int) -> None:
        """Raise where the costs are no costs for these labels."""
        shape = (self.label.size, classes)
        if self.costs.shape != shape:
            raise ValueError(f"costs must have shape {shape}, an entry for each row and class, got {self.costs.shape}")
        bad = ~(np.isfinite(self.costs) & (self.costs >= 0)).all(axis=1)
        if bad.any():
            raise ValueError(f"costs of row {int(np.argmax(bad))} must be finite and not negative")
        known = np.flatnonzero(self.label >= 0)
        own = self.costs[known, self.label[known]]
        if own.any():
            row = int(known[np.argmax(own != 0)])
            raise ValueError(f"costs of row {row} must be 0 for the right class, got {own[own != 0][0]:g}")
