"""What parallel tasks are asked: a table of rounds x tasks in which every column holds two values, or numbers.

NaN and None stand for a dormant task. A value is put on one side of its task, negative or positive, for good: 1 and
True on the positive one, any other first value (0, -1 and False among them) on the negative one, and the second value
where there is room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Integral, Interval, Real, StrOptions

from hinge import _core
from hinge.base import sorted_labels
from hinge.certificate import Certificate
from hinge.labels import as_array, check_label
from hinge.norms import Interpolated, PNorm, RMax

MODELS = {np.dtype(np.float32): _core.MultitaskFloat32, np.dtype(np.float64): _core.MultitaskFloat64}
NORMS = {"l1": PNorm(1), "l2": PNorm(2), "linf": PNorm(inf)}
POSITIVE = Interval(Real, 0, None, closed="neither")
PARAMETERS: dict[str, list[Any]] = {
    "norm": [StrOptions(set(NORMS)), PNorm, RMax, Interpolated],
    "update": [StrOptions({"implicit", "infinite", "finite"})],
    "C": [POSITIVE],
    "radius": [POSITIVE, None],
    "horizon": [POSITIVE, None],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "shuffle": ["boolean"],
    "random_state": ["random_state"],
    "fit_intercept": ["boolean"],
    "features": [StrOptions({"names", "hashed"})],
    "n_bits": [Interval(Integral, 1, 30, closed="both")],
}
VECTOR, MATRIX, DICTS = "vector", "matrix", "dicts"
Pair = list[Any]  # the values of a task, negative first; None: not seen yet
EXACT = 2**53  # integers up to here are float64s


def norm_of(norm: Any) -> PNorm | RMax | Interpolated:
    """Return the norm that a parameter names."""
    return NORMS[norm] if isinstance(norm, str) else norm


def numbers_of(norm: Any) -> list[float]:
    """Return a norm as the core reads it: p, or p1, p2 and alpha."""
    norm = norm_of(norm)
    if isinstance(norm, PNorm):
        return [norm.p]
    return [1.0, inf, float(norm.r)] if isinstance(norm, RMax) else [norm.p1, norm.p2, norm.alpha]


def certificate_of(book: dict[str, Any], dtype: np.dtype[Any], tasks: int, C: float) -> Certificate:
    """Return what a model's ledger proves; the tolerance is what the rounding of its weights may come to."""
    gain = book["least_gain"]
    rounding = np.finfo(dtype).eps * (abs(book["promised"]) + 2 * book["conjugate"] + tasks)
    return Certificate(
        int(book["rounds"]),
        int(book["mistakes"]),
        book["loss"],
        book["dual"],
        max(0.0, book["dual"]) / gain if gain > 0 else inf,
        tolerance=float(rounding * np.sqrt(max(1.0, book["rounds"]))),
        C=book["C"] or C,
    )


class TaskTargets(NamedTuple):
    """The targets of a call."""

    form: str
    table: np.ndarray  # int8: -1, 1, and 0 for dormant; float64: NaN for dormant
    names: list[Any] | None = None  # of the tasks, where they have any
    exist: np.ndarray | None = None  # how many tasks there are in each round, where they appear one by one
    pairs: list[Pair] | None = None  # the values of each task after this call
    alone: np.ndarray | None = (
        None  # (2, tasks): the round in which the second value appears or -1; the first one's side
    )

    def take(self, rounds: np.ndarray) -> TaskTargets:
        """Return the targets of the given rounds, in their order."""
        exist = None if self.exist is None else self.exist[rounds]
        return self._replace(table=self.table[rounds], exist=exist)

    @property
    def active(self) -> np.ndarray:
        """Which tasks take part, by round."""
        return ~np.isnan(self.table) if self.table.dtype.kind == "f" else self.table != 0

    def runs(self) -> Iterator[tuple[int, int, int]]:
        """Yield stretches of rounds with as many tasks: the first, the one after the last, the tasks."""
        rounds, tasks = self.table.shape
        if self.exist is None:
            yield 0, rounds, tasks
            return
        starts = np.flatnonzero(np.diff(self.exist, prepend=-1))
        for start, stop in zip(starts, [*starts[1:], rounds], strict=True):
            yield int(start), int(stop), int(self.exist[start])


def table_of_dicts(y: Sequence[Any], known: Sequence[Any]) -> tuple[np.ndarray, list[Any], np.ndarray]:
    """Return dicts of task to value as a table of objects, the tasks' names, and how many there are by round."""
    at = {name: j for j, name in enumerate(known)}
    exist = np.empty(len(y), dtype=np.int64)
    for t, row in enumerate(y):
        if not isinstance(row, dict):
            raise TypeError(f"row {t} of y is {type(row).__name__}, but the first is a dict")
        for name in row:
            at.setdefault(name, len(at))
        exist[t] = len(at)
    table = np.full((len(y), len(at)), None, dtype=object)
    for t, row in enumerate(y):
        for name, value in row.items():
            table[t, at[name]] = value
    return table, list(at), exist


def read_numbers(table: np.ndarray) -> np.ndarray:
    """Return a table as float64 with NaN for dormant tasks; ValueError where a value is no finite number."""
    if table.dtype.kind not in "biuf":
        out = np.empty(table.shape)
        for (t, j), value in np.ndenumerate(table):
            try:
                out[t, j] = np.nan if value is None else float(value)
            except (TypeError, ValueError):
                shown = value.item() if isinstance(value, np.generic) else value
                raise ValueError(f"row {t}, column {j} of y is {shown!r}; it must be a number") from None
        table = out
    _refuse_infinity(table)
    return np.ascontiguousarray(table, dtype=np.float64)


def _refuse_infinity(table: np.ndarray) -> None:
    if table.dtype.kind == "f" and np.isinf(table).any():
        t, j = np.argwhere(np.isinf(table))[0]
        raise ValueError(f"Input y contains infinity in row {t}, column {j}")


def read_sides(table: np.ndarray, pairs: list[Pair]) -> tuple[np.ndarray, np.ndarray]:
    """Return the side of every value, and what `TaskTargets.alone` says; values that are new join their task's pair.

    A third value is a ValueError that names row and column.
    """
    if table.dtype.kind not in "biuf" or (table.dtype.kind in "iu" and np.abs(table).max(initial=0) > EXACT):
        table, pairs_of_codes, values = _coded(table, pairs)
        sides, alone = read_sides_of_numbers(table, pairs_of_codes, values)
        for pair, codes in zip(pairs, pairs_of_codes, strict=True):
            pair[:] = [None if code is None else values[int(code)] for code in codes]
        return sides, alone
    _refuse_infinity(table)
    return read_sides_of_numbers(table, pairs, None)


def _coded(table: np.ndarray, pairs: list[Pair]) -> tuple[np.ndarray, list[Pair], list[Any]]:
    """Number all values of a table of objects; NaN for dormant."""
    number: dict[Any, int] = {}
    for pair in pairs:
        for value in pair:
            if value is not None:
                number.setdefault(value, len(number))
    codes = np.empty(table.shape)
    for (t, j), value in np.ndenumerate(table):
        if value is None or value != value:
            codes[t, j] = np.nan
            continue
        try:
            codes[t, j] = number.setdefault(check_label(value), len(number))
        except ValueError as error:
            raise ValueError(f"row {t}, column {j} of y: {error}") from None
    coded = [[None if value is None else number[value] for value in pair] for pair in pairs]
    return codes, coded, list(number)


def read_sides_of_numbers(
    table: np.ndarray, pairs: list[Pair], values: list[Any] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Do the same for numbers; they stand for `values`, where these are given."""

    def named(value: Any) -> Any:
        return value if values is None else values[int(value)]

    negative, positive = (
        np.array([np.nan if pair[side] is None else pair[side] for pair in pairs], dtype=np.float64) for side in (0, 1)
    )
    alone = np.full((2, len(pairs)), -1)
    sides = (table == positive).astype(np.int8) - (table == negative).astype(np.int8)
    unknown = sides == 0
    if table.dtype.kind == "f":
        unknown &= ~np.isnan(table)
    for j in np.flatnonzero(unknown.any(axis=0)):
        column, pair, left = table[:, j], pairs[j], unknown[:, j]
        while left.any():
            t = int(np.argmax(left))
            value = column[t].item()
            if None not in pair:
                a, b = map(named, pair)
                raise ValueError(
                    f"row {t}, column {j} of y is {named(value)!r}, a third value: the task has {a!r} and {b!r}"
                )
            side = first_side(named(value)) if pair == [None, None] else pair.index(None)
            if pair != [None, None]:
                alone[:, j] = t, 1 - side
            pair[side] = value
            here = left & (column == value)
            sides[here, j] = 2 * side - 1
            left = left & ~here
    return sides, alone


def first_side(value: Any) -> int:
    """Return the side of a task's first value: 0 is negative, 1 positive."""
    return int(isinstance(value, bool | int | float) and value == 1)


def sorted_pair(pair: Pair) -> Pair:
    """Return two values in their order; one that is known, on its side."""
    return pair if None in pair else sorted_labels(pair)


def pair_of(values: Any, task: Any) -> Pair:
    """Return two values that a person names for a task."""
    found = [check_label(value) for value in values]
    if len(found) != 2 or found[0] == found[1]:
        raise ValueError(f"the classes of task {task!r} must be two values that differ. Got {values!r} instead.")
    return sorted_pair(found)


def agreed(known: Pair, given: Pair, task: int) -> Pair:
    """Return the pair that is known and the one that is given as one; ValueError where they differ."""
    if given == [None, None] or known == given:
        return known
    if any(value is not None and value not in given for value in known):
        raise ValueError(f"task {task} has the values {known}; classes gives it {given}")
    if known == [None, None]:
        return given
    return [value if value is not None else next(v for v in given if v not in known) for value in known]


def answer_table(pairs: Sequence[Pair]) -> np.ndarray:
    """Return the answers of each task, (tasks, 2), as an array of their own type; a value not seen yet is the other."""
    rows = [[pair[1 - side] if pair[side] is None else pair[side] for side in (0, 1)] for pair in pairs]
    flat = [value for row in rows for value in row]
    if None in flat and all(value is None or isinstance(value, int | float) for value in flat):
        flat = [np.nan if value is None else float(value) for value in flat]
    if {type(value) for value in flat} == {int, float}:
        flat = [float(value) for value in flat]
    return as_array(flat).reshape(len(rows), 2)
