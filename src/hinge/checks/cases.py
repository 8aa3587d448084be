"""Data to check an estimator with: which streams there are, by what the estimator says of itself.

A family of estimators joins by adding, under its ``estimator_type``, a function that lists its cases::

    CASES["my type"] = lambda estimator: [Case("words", "sequence", X, y)]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags

__all__ = ["CASES", "Case", "cases"]


@dataclass(frozen=True)
class Case:
    """A stream of rounds.

    Parameters
    ----------
    name : str
        What to call it in a message.
    kind : str
        The kind of target: "labels", "sets", "indicator", or one of another family's own.
    X : array of shape (n_samples, n_features), or list of such arrays
    y : array or list
    classes : list, optional
        What the first ``partial_fit`` has to be told in order to know what ``fit`` finds out.
    per_row : dict of str to array
        Other arguments of ``fit`` and ``partial_fit`` that hold an entry a row of X, such as ``qid``.
    starts : array, optional
        The first row of each round, where rounds are runs of rows.
    parallel : bool
        X is a list of matrices, of which each round takes a row each; otherwise the items of a list are rounds.
    """

    name: str
    kind: str
    X: Any
    y: Any
    classes: list[Any] | None = None
    per_row: dict[str, Any] = field(default_factory=dict)
    starts: np.ndarray | None = None
    parallel: bool = False

    def __len__(self) -> int:
        if self.starts is not None:
            return len(self.starts)
        return int(self.X[0].shape[0] if self.parallel else len(self.X) if self.of_matrices else self.X.shape[0])

    @property
    def of_matrices(self) -> bool:
        return isinstance(self.X, list)

    @property
    def is_plain(self) -> bool:
        """Whether X is one matrix, and each of its rows a round."""
        return not self.of_matrices and self.starts is None

    @property
    def width(self) -> int:
        return int((self.X[0] if self.of_matrices else self.X).shape[1])

    def take(self, rounds: Any) -> Case:
        """Return some of the rounds: a slice, or their numbers in any order."""
        chosen = np.arange(len(self))[rounds]
        if self.starts is None:
            X = [part[chosen] for part in self.X] if self.parallel else pick(self.X, chosen)
            return replace(self, X=X, y=pick(self.y, chosen), per_row=self._pick_per_row(chosen))
        ends = np.append(self.starts[1:], self.X.shape[0])
        rows = np.concatenate([np.arange(self.starts[t], ends[t]) for t in chosen])
        starts = np.cumsum([0, *(ends[chosen] - self.starts[chosen])])[:-1]
        kept = self._pick_per_row(rows)
        return replace(self, X=pick(self.X, rows), y=pick(self.y, rows), per_row=kept, starts=starts)

    def _pick_per_row(self, rows: np.ndarray) -> dict[str, Any]:
        return {name: pick(values, rows) for name, values in self.per_row.items()}

    def map(self, change: Callable[[Any], Any]) -> Case:
        """Return the case with X, or each of its matrices, changed."""
        return replace(self, X=[change(part) for part in self.X] if self.of_matrices else change(self.X))

    def put(self, place: int, column: int, value: Any) -> Case:
        """Return the case with one value of X changed, in the first row of the given round."""
        changed = self.map(lambda part: np.array(part, dtype=np.float64))
        if self.starts is not None:
            place = int(self.starts[place])
        if not self.of_matrices:
            changed.X[place, column] = value
        elif self.parallel:
            changed.X[0][place, column] = value
        else:
            changed.X[place][0, column] = value
        return changed

    def dicts(self) -> list[dict[str, float]]:
        """Return the rows as dicts; the first names every feature, the others only those that are not 0."""
        names = feature_names(self.width)
        return [
            {name: float(v) for name, v in zip(names, row, strict=True) if v or t == 0} for t, row in enumerate(self.X)
        ]


def feature_names(width: int) -> list[str]:
    return [f"feature {i}" for i in range(width)]


def pick(values: Any, chosen: np.ndarray) -> Any:
    """Return some entries of an array, a sparse matrix, a data frame or a list."""
    if hasattr(values, "iloc"):
        return values.iloc[chosen]
    return values[chosen] if hasattr(values, "shape") else [values[t] for t in chosen]


def matrix(rows: int, width: int, seed: int = 0) -> np.ndarray:
    """Return rows of which half is 0, and the rest exact in float32."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random((rows, width)) < 0.5, 0, rng.integers(-8, 9, (rows, width)) / 8)


ROWS, WIDTH = 24, 5
COLOURS = ["amber", "blue", "green", "red"]


def _label_cases(estimator: Any) -> list[Case]:
    tags = get_tags(estimator).classifier_tags
    many, sets_too = (True, False) if tags is None else (tags.multi_class, tags.multi_label)
    X = matrix(ROWS, WIDTH)
    scores = X @ matrix(WIDTH, len(COLOURS), seed=1)
    best = scores.argmax(axis=1)
    best[:8] = [2, 0, 3, 1, 1, 2, 0, 3]  # the first rounds bring every label, not in their order
    two = best % 2
    out = [Case("two labels", "labels", X, np.array(COLOURS[:2])[two], COLOURS[:2])]
    if many:
        out.insert(0, Case("labels", "labels", X, np.array(COLOURS)[best], COLOURS))
    if sets_too:
        inside = scores > np.median(scores)
        inside[:4] = np.eye(4, dtype=bool)[best[:4]]
        inside[10], inside[11] = False, True
        sets = [{COLOURS[i] for i in np.flatnonzero(row)} for row in inside]
        out.append(Case("label sets", "sets", X, sets, COLOURS))
        out.append(Case("an indicator matrix", "indicator", X, inside.astype(np.int64), list(range(4))))
        out.append(
            Case("a sparse indicator matrix", "indicator", X, sparse.csr_matrix(inside.astype(int)), list(range(4)))
        )
    return out


def _ordinal_cases(estimator: Any) -> list[Case]:
    X = matrix(ROWS, WIDTH)
    scores = X @ matrix(WIDTH, 1, seed=1).ravel()
    grades = np.array([1, 2, 5, 7])
    place = np.searchsorted(np.quantile(scores, [0.25, 0.5, 0.75]), scores)
    place[:4] = [2, 0, 3, 1]
    out = [Case("ordered classes", "intervals", X, grades[place], grades.tolist())]
    if not hasattr(estimator, "predict_interval") or getattr(estimator, "_exact_only", False):
        return out
    rng = np.random.default_rng(2)
    low = np.maximum(place - rng.integers(0, 2, ROWS), 0)
    high = np.minimum(place + rng.integers(0, 2, ROWS), 3)
    low[:4] = high[:4] = place[:4]
    ends = np.column_stack([grades[low], grades[high]]).astype(float)
    ends[6, 0], ends[7, 1], ends[8] = -np.inf, np.inf, [-np.inf, np.inf]
    return [*out, Case("intervals of ordered classes", "intervals", X, ends, grades.tolist())]


def _lists(kind: str, targets: Callable[[np.ndarray], np.ndarray], classes: list[Any] | None = None) -> list[Case]:
    """Return lists of four rows, in each of which the targets differ; the numbers of the lists are not in order."""
    X = matrix(4 * ROWS, WIDTH)
    scores = X @ matrix(WIDTH, 1, seed=1)[:, 0]
    grades = np.digitize(scores, np.quantile(scores, [0.4, 0.8])).reshape(-1, 4)
    grades[:, 1], grades[:, 2] = 0, 2
    qid = np.repeat(100 - np.arange(ROWS), 4)
    return [Case("lists", kind, X, targets(grades.ravel()), classes, {"qid": qid}, np.arange(0, 4 * ROWS, 4))]


def _ranker_cases(estimator: Any) -> list[Case]:
    return _lists("relevance", lambda grades: grades)


def _batch_cases(estimator: Any) -> list[Case]:
    return _lists("batches", lambda grades: np.array(COLOURS[:2])[(grades > 0).astype(int)], COLOURS[:2])


def _tables() -> tuple[np.ndarray, np.ndarray]:
    """Return instances and three tasks' scores, NaN where a task sits the round out."""
    X = matrix(ROWS, WIDTH)
    scores = X @ matrix(WIDTH, 3, seed=1) + matrix(ROWS, 3, seed=2)
    scores[[4, 7, 11, 11, 11], [1, 0, 0, 1, 2]] = np.nan  # in round 11 all of them
    scores[:2] = [[1, -1, 2], [-2, 1, -1]]  # both sides of each task appear
    return X, scores


def _task_cases(estimator: Any) -> list[Case]:
    X, scores = _tables()
    sides = np.where(np.isnan(scores), np.nan, np.where(scores > 0, 1.0, -1.0))
    apart = [X, X[::-1].copy(), X[:, ::-1].copy()]
    one = np.where(np.nan_to_num(scores[:, 0]) > 0, "yes", "no")
    return [
        Case("tasks", "tasks", X, sides, [-1.0, 1.0]),
        Case("tasks apart", "tasks", apart, sides, [-1.0, 1.0], parallel=True),
        Case("one task", "task", X, one, ["no", "yes"]),
    ]


def _regression_cases(estimator: Any) -> list[Case]:
    X, scores = _tables()
    out = [Case("numbers", "numbers", X, np.nan_to_num(scores[:, 0]))]
    if get_tags(estimator).target_tags.multi_output:
        apart = [X, X[::-1].copy(), X[:, ::-1].copy()]
        out.append(Case("tasks of numbers", "numbers", X, scores))
        out.append(Case("tasks of numbers apart", "numbers", apart, scores, parallel=True))
    return out


def _sequence_cases(estimator: Any) -> list[Case]:
    lengths = np.resize([1, 3, 2, 4], ROWS)
    rows = matrix(int(lengths.sum()), WIDTH)
    best = (rows @ matrix(WIDTH, len(COLOURS), seed=1)).argmax(axis=1)
    best[:5] = [2, 0, 3, 1, 1]
    cuts = np.cumsum(lengths)[:-1]
    letters = np.split(np.array(COLOURS)[best], cuts)
    return [Case("words", "sequence", np.split(rows, cuts), letters, COLOURS)]


def _structured_cases(estimator: Any) -> list[Case]:
    """Return rows with labels, for oracles that know the colours."""
    labels = _label_cases(estimator)[0]
    return [Case("examples", "structured", list(labels.X[:, None]), labels.y.tolist())]


CASES: dict[str, Callable[[Any], list[Case]]] = {
    "classifier": _label_cases,
    "ordinal": _ordinal_cases,
    "ranker": _ranker_cases,
    "classifier of batches": _batch_cases,
    "multitask": _task_cases,
    "regressor": _regression_cases,
    "sequence": _sequence_cases,
    "structured": _structured_cases,
}


def cases(estimator: Any) -> list[Case]:
    """List the streams that an estimator is checked with."""
    kind = get_tags(estimator).estimator_type
    if kind == "classifier" and "qid" in signature(estimator.fit).parameters:
        kind = "classifier of batches"
    if kind not in CASES:
        raise ValueError(f"no data to check a {kind!r} with; add a function that lists cases to hinge.checks.CASES")
    return CASES[kind](estimator)
