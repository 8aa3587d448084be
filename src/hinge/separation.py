"""Weights that put every right answer strictly first, by linear programming; or examples that are in contradiction."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

__all__ = ["NotRealisable", "differences", "separate"]

FEASIBLE = 1e-10  # by how much a linear programme may violate a constraint
SEPARATE = 1e-7  # a margin below it is zero
SHOWN = 10  # examples in a message


class NotRealisable(ValueError):
    """No weights put the right answer strictly first in every example.

    Attributes
    ----------
    witness : dict of int to float
        Examples, by their place in the data, and how much of their constraints is in a combination that is zero: they
        contradict one another already.
    """

    def __init__(self, witness: dict[int, float], what: str) -> None:
        shown = ", ".join(map(str, list(witness)[:SHOWN])) + (", .." if len(witness) > SHOWN else "")
        super().__init__(
            f"the examples are not realisable: no weights put the right answer strictly first in all of {what} "
            f"{shown}; a non-negative combination of their constraints is zero. Use rule='svm'"
        )
        self.witness = witness


def separate(
    size: int,
    rivals: Callable[[np.ndarray, float], tuple[Any, ...]],
    rows: np.ndarray,
    what: str = "rows",
    most: int = 200,
) -> tuple[np.ndarray, float]:
    """Maximise the smallest margin over weights in [-1, 1], by linear programming with constraints as they are needed.

    Parameters
    ----------
    size : int
        How many weights.
    rivals : function of weights and a margin
        Returns the numbers of the examples that have an answer with a smaller margin, and its direction
        ``Psi(x, y) - Psi(x, answer)`` for each, as CSR rows; and, where margins are to be t times something, that.
    rows : array
        The row in the data of each example, for messages.
    what : str
        What the numbers in messages count.
    most : int
        How often to ask.

    Returns
    -------
    weights, margin : array, float

    Raises
    ------
    NotRealisable
        If no weights have a positive margin, naming examples whose constraints contradict one another.
    """
    examples, blocks, *units = rivals(np.zeros(size), inf)
    unit = units[0] if units else np.ones(len(examples))
    if len(examples) == 0:
        raise ValueError("no example has a wrong answer: there is nothing to separate")
    w, margin = np.zeros(size), 0.0
    for _ in range(most):
        last = sparse.csr_matrix(unit[:, None])
        solution = linprog(
            np.append(np.zeros(size), -1.0),
            A_ub=sparse.hstack([-blocks, last]).tocsr(),
            b_ub=np.zeros(blocks.shape[0]),
            bounds=[(-1, 1)] * size + [(None, None)],
            method="highs",
            options={"primal_feasibility_tolerance": FEASIBLE, "dual_feasibility_tolerance": FEASIBLE},
        )
        if solution.status != 0:
            raise RuntimeError(f"the linear programme was not solved: {solution.message}")
        w, margin = solution.x[:-1], float(solution.x[-1])
        if margin <= SEPARATE:
            shares = np.bincount(examples, -solution.ineqlin.marginals)
            raise NotRealisable({int(rows[i]): float(shares[i]) for i in np.flatnonzero(shares > 1e-9)}, what)
        found, directions, *units = rivals(w, margin * (1 - 1e-6))
        unit_of = units[0] if units else np.ones(len(found))
        # Rivals are found in the model's own precision: what the programme satisfies already would come for ever.
        short = np.flatnonzero(directions @ w < margin * (1 - 1e-6) * unit_of - 10 * FEASIBLE) if len(found) else found
        if len(short) == 0:
            return w, margin
        examples = np.concatenate([examples, found[short]])
        blocks = sparse.vstack([blocks, directions[short]]).tocsr()
        unit = np.concatenate([unit, unit_of[short]])
    raise RuntimeError(f"the linear programme was not finished after {most} rounds of constraints")


def differences(rows: Any, truth: np.ndarray, rival: np.ndarray, k: int) -> Any:
    """Return ``Psi(x, y) - Psi(x, rival)`` of CSR rows as CSR rows; feature j of class y is column ``j * k + y``."""
    counts = np.diff(rows.indptr)
    up = rows.indices.astype(np.int64) * k + np.repeat(truth, counts)
    down = rows.indices.astype(np.int64) * k + np.repeat(rival, counts)
    at = np.repeat(np.arange(rows.shape[0]), counts)
    values = np.concatenate([rows.data, -rows.data])
    places = (np.concatenate([at, at]), np.concatenate([up, down]))
    return sparse.csr_matrix((values, places), shape=(rows.shape[0], rows.shape[1] * k))
