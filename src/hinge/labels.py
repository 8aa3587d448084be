"""Labels of any type, and the forms in which people give and get them.

A label has a number, its place in ``classes_``; numbers never change. Targets come as labels (1-d), as lists of sets,
as lists of dicts of label to bool, or as an indicator matrix, dense or CSR, whose columns are the labels. A tuple is
one label, unless it holds 0 and 1 only: then it is a row of an indicator matrix.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import column_or_1d

LABELS, SETS, DICTS, DENSE, CSR = "labels", "sets", "dicts", "indicator", "sparse indicator"
CSR_ARRAY = "sparse indicator array"  # SciPy's sparse arrays, whose * is not that of its matrices
INDICATORS = (DENSE, CSR, CSR_ARRAY)
FORMS = (LABELS, SETS, DICTS, *INDICATORS)


class Targets(NamedTuple):
    """What a call asks for, in numbers; nothing has been added to the labels yet."""

    form: str
    start: np.ndarray | None  # None: one label a row, -1 for none
    label: np.ndarray
    fresh: list[Any]  # labels that are new, in order of appearance; their numbers follow the known ones
    exist: np.ndarray | None = None  # sets: how many labels have been named up to each row

    @property
    def are_sets(self) -> bool:
        return self.form != LABELS

    def without_fresh(self, known: int) -> Targets:
        """Return the targets with every label that is not among the `known` first ones left out."""
        if self.start is None:
            return self._replace(label=np.where(self.label < known, self.label, -1).astype(np.int32), fresh=[])
        kept = self.label < known
        start = np.concatenate([[0], np.cumsum(kept)])[self.start]
        return self._replace(start=start, label=self.label[kept], fresh=[], exist=None)

    def first_row_of(self, number: int) -> int:
        """Return the row in which a label first appears."""
        if self.exist is not None:
            return int(np.argmax(self.exist > number))
        at = int(np.argmax(self.label == number))
        return at if self.start is None else int(np.searchsorted(self.start, at, side="right")) - 1

    def indicator(self, shape: tuple[int, int]) -> np.ndarray:
        """Return which labels are relevant as a matrix of bool."""
        inside = np.zeros(shape, dtype=bool)
        sizes = (self.label >= 0).astype(np.int64) if self.start is None else np.diff(self.start)
        inside[np.repeat(np.arange(shape[0]), sizes), self.label[self.label >= 0]] = True
        return inside

    def take(self, rows: np.ndarray) -> Targets:
        """Return the targets of the given rows, in their order."""
        if self.start is None:
            return self._replace(label=self.label[rows])
        exist = None if self.exist is None else self.exist[rows]
        lengths = np.diff(self.start)[rows]
        start = np.concatenate([[0], np.cumsum(lengths)])
        at = np.repeat(self.start[:-1][rows] - start[:-1], lengths) + np.arange(start[-1])
        return self._replace(start=start, label=self.label[at], exist=exist)


class Labels:
    """The labels that a learner knows, in the order of their numbers."""

    def __init__(self, known: Iterable[Any] = ()) -> None:
        self.known: list[Any] = list(known)
        self.number: dict[Any, int] = {label: i for i, label in enumerate(self.known)}
        self._classes: np.ndarray | None = None
        if len(self.number) != len(self.known):
            raise ValueError("labels must differ from one another")

    def __len__(self) -> int:
        return len(self.known)

    @property
    def classes(self) -> np.ndarray:
        if self._classes is None or self._classes.size != len(self.known):
            self._classes = as_array(self.known)
        return self._classes

    def add(self, fresh: Iterable[Any]) -> None:
        for label in fresh:
            if label not in self.number:
                self.number[label] = len(self.known)
                self.known.append(label)

    def remove(self, label: Any) -> int:
        """Forget a label; the numbers after it move up. Returns the number it had."""
        at = self.number[label]
        self.__init__(self.known[:at] + self.known[at + 1 :])  # type: ignore[misc]
        return at


def as_array(labels: Sequence[Any]) -> np.ndarray:
    """Return labels as a 1-d array of their own type; of objects where they have several."""
    kinds = {type(label) for label in labels}
    if kinds in (set(), {str}, {bool}, {int}, {float}):
        plain = np.array(labels)
        if plain.dtype.kind != "f" or kinds != {int}:  # integers beyond 64 bits would be rounded
            return plain
    return _as_objects(labels)


def _as_objects(labels: Sequence[Any]) -> np.ndarray:
    out = np.empty(len(labels), dtype=object)
    out[:] = labels
    return out


def check_label(label: Any) -> Any:
    """Return a label as a plain Python value; ValueError where it cannot be one."""
    if isinstance(label, np.generic):
        label = label.item()
    if _is_missing(label):
        raise ValueError("y contains NaN or None where a label is expected")
    try:
        hash(label)
    except TypeError:
        raise ValueError(f"Unknown label type: {type(label).__name__} is not hashable") from None
    return label


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):  # pandas.NA does not say whether it differs; neither do arrays
        return not isinstance(label, np.ndarray)


def form_of(y: Any) -> str:
    """Say in which form targets are given."""
    if sparse.issparse(y):
        return CSR_ARRAY if isinstance(y, sparse.sparray) else CSR
    if isinstance(y, np.ndarray) and y.dtype != object:
        return DENSE if y.ndim == 2 and y.shape[1] != 1 else LABELS
    first: Any = next(iter(y), None) if isinstance(y, list | tuple | np.ndarray) and len(y) else None
    if isinstance(first, str | int) or (isinstance(first, tuple) and (isinstance(y, np.ndarray) or _is_label(first))):
        return LABELS
    if isinstance(first, set | frozenset):
        return SETS
    if isinstance(first, dict):
        return DICTS
    if np.ndim(first) == 1 and not isinstance(first, str) and np.size(first) != 1:
        return DENSE
    return DENSE if getattr(y, "ndim", 1) == 2 and y.shape[1] != 1 else LABELS


def _is_label(entry: tuple[Any, ...]) -> bool:
    return not all(isinstance(value, int | float | np.number) and value in (0, 1) for value in entry)


def read_targets(y: Any, labels: Labels, rows: int) -> Targets:
    """Turn targets into numbers; ValueError, naming the row, where that cannot be done."""
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iuUb":
        values, form = y, LABELS
    elif y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    else:
        if not isinstance(y, list | tuple | np.ndarray) and not sparse.issparse(y):
            y = np.asarray(y)
            if y.ndim == 0:
                raise ValueError(f"y must be an array or a list of targets, one a row of X, got {y.item()!r}")
        _check_even(y)
        values, form = None, form_of(y)
    if form in INDICATORS:
        return _read_indicator(y, form, labels, rows)
    if form in (SETS, DICTS):
        return _read_sets(y, form, labels, rows)
    if values is None:
        values = column_of_labels(y)
    _check_length(values.size, rows)
    numbers, fresh = number_labels(values, labels)
    return Targets(LABELS, None, numbers, fresh)


def _check_even(y: Any) -> None:
    """Raise where rows are lists of several lengths, which are no labels and no indicator."""
    if not isinstance(y, list | tuple) or not y or not isinstance(y[0], list):
        return
    for t, row in enumerate(y):
        if not isinstance(row, list) or len(row) != len(y[0]):
            raise ValueError(
                f"row {t} of y is {row!r}, but row 0 is {y[0]!r}: lists of one length are an indicator, and a set of "
                "labels is written as a set"
            )


def column_of_labels(y: Any) -> np.ndarray:
    """Return 1-d labels as an array, checked to be classes and not measurements."""
    if type(y) is list and {type(label) for label in y} in ({str}, {int}):
        return as_array(y)
    if isinstance(y, list) and any(isinstance(label, tuple) for label in y):
        return _as_objects(y)
    if np.ndim(y) == 2:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
    values = np.asarray(y)
    if values.dtype.kind in "US" and isinstance(y, list | tuple) and not all(isinstance(v, str | bytes) for v in y):
        values = _as_objects(y)  # labels of several types, which NumPy would all print
    values = column_or_1d(values)
    if values.dtype.kind in "mM":
        return _as_moments(values)
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported as labels")
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            t = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"Input y contains {'NaN' if np.isnan(values[t]) else 'infinity'} in row {t}")
        if (values != np.trunc(values)).any():
            t = int(np.argmax(values != np.trunc(values)))
            raise ValueError(
                f"Unknown label type: continuous. Row {t} of y is {values[t]:g}; maybe you are trying to fit a "
                "classifier, which expects discrete classes, on a regression target with continuous values"
            )
    return values


def _as_moments(values: np.ndarray) -> np.ndarray:
    """Return points in time, or spans of it, as Python has them: down to microseconds; None where there is none."""
    exact = values.astype(object)
    if not any(isinstance(value, int) for value in exact):
        return exact
    rounded = values.astype(f"{values.dtype.kind}8[us]")
    if ((rounded != values) & ~np.isnat(values)).any():
        t = int(np.argmax((rounded != values) & ~np.isnat(values)))
        raise ValueError(f"row {t}: the label {values[t]} is finer than a microsecond")
    return rounded.astype(object)


def number_labels(values: np.ndarray, labels: Labels) -> tuple[np.ndarray, list[Any]]:
    """Number an array of labels; new ones get the numbers after the known, in order of appearance."""
    if values.dtype.kind in "iu" and values.size > 100 and values.min() >= 0 and values.max() < 4 * values.size + 1024:
        return _number_small_integers(values, labels)
    number = labels.number
    out = np.empty(values.size, dtype=np.int32)
    fresh: dict[Any, int] = {}
    plain = values.tolist()
    if values.dtype == object:
        plain = [check_label_in_row(label, t) for t, label in enumerate(plain)]
    for t, label in enumerate(plain):
        at = number.get(label)
        out[t] = fresh.setdefault(label, len(number) + len(fresh)) if at is None else at
    return out, list(fresh)


def _number_small_integers(values: np.ndarray, labels: Labels) -> tuple[np.ndarray, list[Any]]:
    table = np.full(int(values.max()) + 1, -1, dtype=np.int32)
    for label, number in labels.number.items():
        if isinstance(label, int | float) and 0 <= label < table.size and label == int(label):
            table[int(label)] = number
    out = table[values]
    unknown = np.flatnonzero(out < 0)
    if unknown.size == 0:
        return out, []
    which, first = np.unique(values[unknown], return_index=True)
    fresh = which[np.argsort(first)].tolist()
    table[fresh] = len(labels) + np.arange(len(fresh))
    return table[values], fresh


def check_label_in_row(label: Any, row: int) -> Any:
    """Return a label as a plain value; ValueError that names the row where it cannot be one."""
    try:
        return check_label(label)
    except ValueError as error:
        raise ValueError(f"row {row}: {error}") from None


def _check_length(targets: int, rows: int) -> None:
    if targets != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {targets}]")


def members(target: Any, row: int) -> tuple[list[Any], list[Any]]:
    """Return the labels that a set, or a dict of label to bool, speaks of, and those that it calls relevant.

    A set is listed in an order that does not depend on Python's hash seed.
    """
    if isinstance(target, set | frozenset):
        named = sorted((check_label_in_row(label, row) for label in target), key=_sort_key)
        return named, named
    if isinstance(target, dict):
        named = [check_label_in_row(label, row) for label in target]
        return named, [label for label, relevant in zip(named, target.values(), strict=True) if relevant]
    raise ValueError(f"row {row} of y is {target!r}; every row must be a set of labels, or every row a dict")


def _sort_key(label: Any) -> tuple[str, Any]:
    is_number = isinstance(label, int | float)
    return ("", label) if is_number else (type(label).__name__, label if isinstance(label, str) else repr(label))


def sorted_labels(known: Iterable[Any]) -> list[Any]:
    """Sort labels; those of several types by type first."""
    known = list(known)
    try:
        return sorted(known)
    except TypeError:
        return sorted(known, key=_sort_key)


def sort_labels(targets: Targets) -> tuple[Labels, Targets]:
    """Number the labels of a first call in their own order; an indicator's columns keep theirs."""
    if targets.form in INDICATORS:
        return Labels(targets.fresh), targets._replace(fresh=[])
    in_order = Labels(sorted_labels(targets.fresh))
    to = np.array([in_order.number[label] for label in targets.fresh], dtype=np.int32)
    renumbered = to[targets.label] if to.size else targets.label
    if targets.start is not None:
        rows = np.repeat(np.arange(targets.start.size - 1), np.diff(targets.start))
        renumbered = renumbered[np.lexsort((renumbered, rows))]
    return in_order, targets._replace(label=renumbered, fresh=[], exist=None)


def _read_sets(y: Any, form: str, labels: Labels, rows: int) -> Targets:
    _check_length(len(y), rows)
    number, fresh = labels.number, dict[Any, int]()
    start, flat, exist = np.zeros(rows + 1, dtype=np.int64), list[int](), np.zeros(rows, dtype=np.int32)
    for t, target in enumerate(y):
        named, relevant = members(target, t)
        for label in named:
            if label not in number:
                fresh.setdefault(label, len(number) + len(fresh))
        flat += sorted(number[label] if label in number else fresh[label] for label in relevant)
        start[t + 1] = len(flat)
        exist[t] = len(number) + len(fresh)
    return Targets(form, start, np.array(flat, dtype=np.int32), list(fresh), exist)


def _read_indicator(y: Any, form: str, labels: Labels, rows: int) -> Targets:
    if form in (CSR, CSR_ARRAY):
        matrix = y.tocsr()
        bad = np.flatnonzero((matrix.data != 0) & (matrix.data != 1))
        where = np.searchsorted(matrix.indptr, bad[:1], side="right") - 1
    else:
        dense = np.asarray(y)
        if dense.ndim != 2 or dense.dtype.kind not in "biuf":
            raise ValueError(f"Unknown label type: an indicator matrix holds 0 and 1, got {dense.dtype} values")
        bad = np.flatnonzero(~((dense == 0) | (dense == 1)).ravel())
        where = bad[:1] // max(1, dense.shape[1])
        matrix = None if bad.size else sparse.csr_matrix(dense)
    if bad.size:
        raise ValueError(
            f"Unknown label type: row {int(where[0])} of the indicator matrix y holds values besides 0 and 1"
        )
    _check_length(matrix.shape[0], rows)
    if len(labels) and matrix.shape[1] != len(labels):
        raise ValueError(f"y has {matrix.shape[1]} columns, but {len(labels)} labels are known: one column a label")
    matrix = matrix.copy()
    matrix.eliminate_zeros()
    matrix.sum_duplicates()
    fresh = list(range(matrix.shape[1])) if not len(labels) else []
    return Targets(form, matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), fresh)


def answer_labels(top: np.ndarray, labels: Labels) -> np.ndarray:
    """Return the labels with the given numbers."""
    return labels.classes[top]


def answer_sets(inside: np.ndarray, form: str, labels: Labels) -> Any:
    """Return label sets (rows x labels, bool) in the form in which targets were given."""
    if form in (CSR, CSR_ARRAY):
        return (sparse.csr_matrix if form == CSR else sparse.csr_array)(inside.astype(np.int64))
    if form == DENSE:
        return inside.astype(np.int64)
    known = labels.known
    if form == DICTS:
        return [dict(zip(known, row.tolist(), strict=True)) for row in inside]
    return [{known[i] for i in np.flatnonzero(row)} for row in inside]
