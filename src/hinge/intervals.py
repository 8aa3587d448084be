"""Ordered classes, and targets that are classes or intervals of them.

Classes are numbered 1..K in their order. Targets come as (n,) classes, or as (n, 2) intervals that hold both their
ends, where ``-inf`` and ``inf`` are open ends. Numbers order themselves; strings need an order that is given, as
``classes=`` or by an ordered categorical.
"""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from math import inf, isfinite
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from hinge.labels import as_array, check_label_in_row

__all__ = ["Ends", "Intervals", "OrderedClasses", "classes_in", "number_ends", "read_ends"]

FEW = 64  # rows that are sooner looked up one by one
NO_ROWS, NO_PLACES = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
EXACT = 2**53  # integers up to it are float64's own


class OrderedClasses:
    """Classes in order, lowest first.

    Parameters
    ----------
    values : iterable
        Plain Python values that differ from one another.
    declared : bool
        Whether a person gave them: then there are no others, and their order is as given.
    """

    def __init__(self, values: Iterable[Any] = (), declared: bool = False) -> None:
        self.values = list(values)
        self.declared = declared
        self.number = {value: i for i, value in enumerate(self.values, start=1)}
        self.array = as_array(self.values)
        if len(self.number) < len(self.values):
            raise ValueError("classes must differ from one another")

    def __len__(self) -> int:
        return len(self.values)

    @property
    def are_sorted_numbers(self) -> bool:
        numbers = all(isinstance(value, int | float) and abs(value) <= EXACT for value in self.values)
        return numbers and all(a < b for a, b in zip(self.values, self.values[1:], strict=False))

    def place_of(self, value: Any, row: int) -> int:
        """Return how many classes are below a new one."""
        if isinstance(value, str | bytes):
            raise ValueError(
                f"row {row} of y has the class {value!r}; strings have no order of their own: give "
                "classes=[...], lowest first, or an ordered categorical"
            )
        try:
            return bisect_left(self.values, value)
        except TypeError:
            raise ValueError(
                f"row {row} of y has the class {value!r}, which cannot be compared with {self.values[0]!r}; "
                "give classes=[...], lowest first"
            ) from None

    def with_values(self, values: Iterable[Any]) -> OrderedClasses:
        return OrderedClasses(values, self.declared)

    def refuse(self, value: Any, row: int) -> None:
        if not self.values:
            raise ValueError(f"row {row} of y has the class {value!r}, but no class is known yet: give classes=[...]")
        shown = ", ".join(map(repr, self.values[:10])) + (", ..." if len(self) > 10 else "")
        raise ValueError(f"row {row} of y has the class {value!r}, which is not among the classes {shown}")


class Ends(NamedTuple):
    """The ends of each row's interval, as people write them, and the order of the classes if they bring one."""

    low: np.ndarray
    high: np.ndarray
    order: list[Any] | None = None

    def take(self, rows: np.ndarray) -> Ends:
        return self._replace(low=self.low[rows], high=self.high[rows])


class Intervals(NamedTuple):
    """The ends in numbers, as numbered in their row; and the classes that enter, before which row and where."""

    low: np.ndarray
    high: np.ndarray
    row: np.ndarray
    place: np.ndarray
    fresh: list[Any]

    def take(self, rows: np.ndarray) -> Intervals:
        """Return some rounds; the classes that enter come along with a single one."""
        entering = np.isin(self.row, rows)
        fresh = [value for value, enters in zip(self.fresh, entering.tolist(), strict=True) if enters]
        row = np.zeros(len(fresh), dtype=np.int64)
        return Intervals(self.low[rows], self.high[rows], row, self.place[entering], fresh)


# -- reading --------------------------------------------------------------------------------------------------------


def read_ends(y: Any, rows: int) -> Ends:
    """Read (n,) classes or (n, 2) intervals; ValueError, naming the row, where they are neither."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if sparse.issparse(y):
        raise ValueError("y is a sparse matrix; ordered classes come as (n,) classes or (n, 2) intervals")
    order = _order_of(y)
    columns = _columns(y)
    if len(columns[0]) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(columns[0])}]")
    if len(columns) == 1:
        column = _checked(columns[0], exact=True)
        return Ends(column, column, order)
    low, high = (_checked(column, exact=False) for column in columns)
    return Ends(low, high, order)


def _order_of(y: Any) -> list[Any] | None:
    """Return the categories of ordered categorical data: pandas' ordered ones, and the Enum of polars."""
    kinds = [y.dtype] if hasattr(y, "dtype") else list(getattr(y, "dtypes", ()))
    orders = [list(kind.categories) for kind in kinds if getattr(kind, "ordered", type(kind).__name__ == "Enum")]
    if not orders:
        return None
    if any(order != orders[0] for order in orders):
        raise ValueError("the two ends of the intervals are categoricals of different categories")
    return [check_label_in_row(value, i) for i, value in enumerate(orders[0])]


def _columns(y: Any) -> list[np.ndarray]:
    if hasattr(y, "iloc") and hasattr(y, "columns"):
        columns = [np.asarray(y.iloc[:, i]) for i in range(y.shape[1])]
        if len(columns) == 1:
            _warn_of_column()
    else:
        array = _as_array(y)
        if array.ndim == 2 and array.shape[1] == 1:
            _warn_of_column()
        columns = list(array.T) if array.ndim == 2 else [array]
        if array.ndim not in (1, 2):
            raise ValueError(f"y must be (n,) classes or (n, 2) intervals, got shape {array.shape}")
    if len(columns) not in (1, 2):
        raise ValueError(f"y must be (n,) classes or (n, 2) intervals, got {len(columns)} columns")
    return columns


def _as_array(y: Any) -> np.ndarray:
    """Return y as an array of one or two axes, of objects where NumPy would turn values into text."""
    if not isinstance(y, list | tuple):
        return np.asarray(y)
    pairs = [isinstance(one, tuple | list | np.ndarray) for one in y]
    if any(pairs):
        for t, one in enumerate(y):
            if not pairs[t] or len(one) not in (1, 2) or len(one) != len(y[0]):
                raise ValueError(
                    f"row {t} of y is {one!r}; where one row is an interval, every row is one: (low, high)"
                )
    flat = [value for one in y for value in one] if any(pairs) else list(y)
    array = as_array(flat) if all(type(value) in (int, float, bool) for value in flat) else np.empty(0, dtype=object)
    if array.dtype == object:
        array = np.asarray(flat)
        if array.dtype.kind not in "iufb" or array.ndim != 1:
            array = np.empty(len(flat), dtype=object)
            array[:] = flat
    return array.reshape(len(y), -1) if any(pairs) else array


def _warn_of_column() -> None:
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), "
        "for example using ravel().",
        DataConversionWarning,
        stacklevel=2,
    )


def _checked(column: np.ndarray, *, exact: bool) -> np.ndarray:
    """Return a column of ends as numbers or plain values; ValueError where one cannot be an end."""
    if column.dtype.kind == "b":
        return column
    if column.dtype.kind in "iu":
        return column.astype(np.int64) if column.dtype != np.uint64 else _checked_uint64(column)
    if column.dtype.kind == "f":
        bad = np.isnan(column) | (np.isinf(column) if exact else np.zeros(column.shape, dtype=bool))
        if bad.any():
            t = int(np.argmax(bad))
            what = "NaN" if np.isnan(column[t]) else "infinity or a value too large for dtype('float64')."
            raise ValueError(f"Input y contains {what} In row {t}" + _must_be(exact))
        return column
    if column.dtype.kind == "c":
        raise ValueError("Complex data not supported as classes")
    out = np.empty(len(column), dtype=object)
    for t, value in enumerate(column.tolist()):
        out[t] = check_label_in_row(value, t)
        if exact and isinstance(value, float) and not isfinite(value):
            raise ValueError(f"Input y contains infinity in row {t}" + _must_be(exact))
    if len(out) and all(isinstance(value, Number) for value in out):
        return np.array(out.tolist())
    return out


def _checked_uint64(column: np.ndarray) -> np.ndarray:
    """Return what an int64 can hold as such, and else plain values."""
    return column.astype(np.int64 if column.size == 0 or int(column.max()) < 2**63 else object)


def _must_be(exact: bool) -> str:
    return "; open ends are for intervals, y of shape (n, 2)" if exact else ", where an end of an interval is expected"


# -- numbering ------------------------------------------------------------------------------------------------------


def number_ends(ends: Ends, classes: OrderedClasses, new: str) -> Intervals:
    """Turn ends into numbers; nothing has been added to the classes yet.

    Parameters
    ----------
    ends : Ends
    classes : OrderedClasses
        What is known before the first of these rows.
    new : {"add", "error", "ignore"}
        What to do with a class that is new: it enters, unless the classes were declared; it is an error; or the end
        that names it is open.
    """
    if ends.low.size <= FEW and (few := _number_few(ends, classes)) is not None:
        return few
    if _are_numbers(ends, classes):
        return _number_numbers(ends, classes, new)
    return _number_values(ends, classes, new)


def _number_few(ends: Ends, classes: OrderedClasses) -> Intervals | None:
    """Number some rows by looking each end up; None where something is new or wrong."""
    number, most = classes.number, len(classes)
    low = [1 if end == -inf else number.get(end, 0) for end in ends.low.tolist()]
    high = low if ends.high is ends.low else [most if end == inf else number.get(end, 0) for end in ends.high.tolist()]
    if any(not 0 < a <= b for a, b in zip(low, high, strict=True)):
        return None
    numbers = np.array(low, dtype=np.int32)
    return Intervals(numbers, numbers if high is low else np.array(high, dtype=np.int32), NO_ROWS, NO_PLACES, [])


def classes_in(ends: Ends, classes: OrderedClasses) -> OrderedClasses:
    """Return the classes with all that the ends speak of."""
    if classes.declared:
        return classes
    if _are_numbers(ends, classes):
        fresh = _unknown_numbers(ends, classes)
        if any(isinstance(value, float) and value != int(value) for value in fresh):
            fresh = _fresh_numbers(ends, classes)[0]  # which says where
        return classes.with_values(sorted([*classes.values, *fresh]))
    numbered = _number_values(ends, classes, "add")
    values = list(classes.values)
    for place, value in zip(numbered.place.tolist(), numbered.fresh, strict=True):
        values.insert(place, value)
    return classes.with_values(values)


def _are_numbers(ends: Ends, classes: OrderedClasses) -> bool:
    """Say whether ends and classes are numbers that float64 tells apart."""
    if not classes.are_sorted_numbers:
        return False
    for end in {id(end): end for end in (ends.low, ends.high)}.values():
        if end.dtype == object or (end.dtype.kind == "i" and end.size and int(np.abs(end).max()) > EXACT):
            return False
    return True


def _distinct(end: np.ndarray) -> np.ndarray:
    """Return the finite values of an array, each once, in order."""
    if (least := _least_of_few(end)) is not None:
        return np.flatnonzero(np.bincount(end - least)) + least
    values = np.unique(end)
    return values[np.isfinite(values)]


def _least_of_few(end: np.ndarray) -> int | None:
    """Return the least value where the values are integers that a table can be made of, else None."""
    if end.dtype.kind not in "iu" or end.size < 100:
        return None
    least, most = int(end.min()), int(end.max())
    return least if most - least < 4 * end.size else None


def _unknown_numbers(ends: Ends, classes: OrderedClasses) -> list[Any]:
    """Return the numbers that are no classes yet, in order."""
    values = _distinct(ends.low)
    if ends.high is not ends.low:
        values = np.union1d(values, _distinct(ends.high))
    plain = _plain(values, ends.low is not ends.high)
    return [value for value in plain if value not in classes.number]


def _fresh_numbers(ends: Ends, classes: OrderedClasses) -> tuple[list[Any], np.ndarray]:
    """Return the numbers that are no classes yet, as plain values, in order of the rows in which they first appear."""
    unknown = _unknown_numbers(ends, classes)
    if not unknown:
        return [], np.empty(0, dtype=np.int64)
    both = np.column_stack([ends.low, ends.high])
    values, first = np.unique(both.ravel(), return_index=True)
    first = first[np.isin(values, unknown)]
    order = np.argsort(first)
    fresh, row = [unknown[i] for i in order], first[order] // 2
    for t, value in zip(row.tolist(), fresh, strict=True):
        if not classes.declared and isinstance(value, float) and value != int(value):
            raise ValueError(
                f"Unknown label type: continuous. Row {t} of y is {value:g}; if numbers like this are classes, give "
                "classes=[...], lowest first"
            )
    return fresh, row


def _plain(values: np.ndarray, intervals: bool) -> list[Any]:
    """Return numbers as Python's; whole ones as int where only the open ends made them floats."""
    plain = values.tolist()
    return [int(v) if intervals and isinstance(v, float) and v == int(v) else v for v in plain]


def _number_numbers(ends: Ends, classes: OrderedClasses, new: str) -> Intervals:
    if ends.low is not ends.high:
        bad = np.asarray(ends.low > ends.high) | (ends.low == inf) | (ends.high == -inf)
        if bad.any():
            _refuse_interval(ends, int(np.argmax(bad)))
    fresh, row = _fresh_numbers(ends, classes)
    if fresh and (new == "error" or (classes.declared and new != "ignore")):
        classes.refuse(fresh[0], int(row[0]))
    known, place = list(classes.values), np.zeros(len(fresh), dtype=np.int32)
    if new == "ignore":
        opened = ends._replace(low=_opened(ends.low, fresh, -inf), high=_opened(ends.high, fresh, inf))
        return Intervals(*_places(opened, known, slice(None)), row[:0], place[:0], [])
    if not fresh:
        return Intervals(*_places(ends, known, slice(None)), row, place, [])
    low, high = np.empty(ends.low.size, dtype=np.int32), np.empty(ends.low.size, dtype=np.int32)
    starts = [0, *row.tolist(), ends.low.size]
    for i in range(len(fresh) + 1):
        part = slice(starts[i], starts[i + 1])
        low[part], high[part] = _places(ends, known, part)
        if i < len(fresh):
            place[i] = bisect_left(known, fresh[i])
            known.insert(int(place[i]), fresh[i])
    return Intervals(low, high, row, place, fresh)


def _opened(end: np.ndarray, unknown: Sequence[Any], to: float) -> np.ndarray:
    return np.where(np.isin(end, unknown), to, end)


def _places(ends: Ends, known: Sequence[Any], part: slice) -> tuple[np.ndarray, np.ndarray]:
    """Number the ends among the classes that there are."""
    values = np.array(known, dtype=np.float64)
    low = _places_of(ends.low[part], values)
    return low, low if ends.high is ends.low else _places_of(ends.high[part], values)


def _places_of(end: np.ndarray, values: np.ndarray) -> np.ndarray:
    if (least := _least_of_few(end)) is not None:
        table = _places_of(np.arange(least, int(end.max()) + 1).astype(np.float64), values)
        return table[end - least]
    return np.minimum(np.searchsorted(values, end) + 1, max(1, values.size)).astype(np.int32)


def _number_values(ends: Ends, classes: OrderedClasses, new: str) -> Intervals:
    now, entering = classes, list[tuple[int, int, Any]]()
    low, high = np.empty(len(ends.low), dtype=np.int32), np.empty(len(ends.low), dtype=np.int32)
    exact = ends.low is ends.high
    for t, pair in enumerate(zip(ends.low.tolist(), ends.high.tolist(), strict=True)):
        opened = [False if exact else _is_open(end, now) for end in pair]
        for value, is_open in zip(pair, opened, strict=True):
            if is_open or value in now.number or new == "ignore":
                continue
            if now.declared or new == "error":
                now.refuse(value, t)
            entering.append((t, now.place_of(value, t), value))
            now = now.with_values([*now.values[: entering[-1][1]], value, *now.values[entering[-1][1] :]])
        low[t] = 1 if opened[0] else now.number.get(pair[0], 1)
        high[t] = max(1, len(now)) if opened[1] else now.number.get(pair[1], max(1, len(now)))
        if (opened[0] and float(pair[0]) > 0) or (opened[1] and float(pair[1]) < 0) or low[t] > high[t]:
            _refuse_interval(ends, t)
    row, place = (np.array([entry[i] for entry in entering]) for i in (0, 1))
    return Intervals(low, high, row.astype(np.int64), place.astype(np.int32), [value for *_, value in entering])


def _is_open(end: Any, classes: OrderedClasses) -> bool:
    """Say whether an end is infinite; NumPy may have turned it into text."""
    return end not in classes.number and end in (inf, -inf, "inf", "-inf")


def _refuse_interval(ends: Ends, t: int) -> None:
    raise ValueError(
        f"row {t} of y is the interval {ends.low[t]} to {ends.high[t]}, which is upside down: the lower end comes first"
    )
