"""ARFF, with Mulan's XML list of labels or MEKA's ``-C n`` in the name of the relation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy import sparse

from hinge import _core

from .errors import BadLine, DataError, one_too_many
from .examples import Examples, csr, plain_numbers
from .sources import Source, name_of, whole

__all__ = ["Arff", "label_names"]

_MEKA = re.compile(r"-C\s+(-?\d+)")


class Arff:
    """ARFF, dense or sparse.

    Numeric attributes are features; so are nominal ones whose values are numbers; every other value becomes an
    indicator ``name=value``. A missing number is NaN.

    Parameters
    ----------
    xml : path-like or file object, optional
        Mulan's list of labels: those attributes are the labels, and `y` is a CSR indicator. Its columns stand in the
        order of the attributes, as Mulan's own do, not in that of the list.
    target : str, sequence of str, or False, optional
        Names of the attributes that are the target. By default what `xml` names; else the labels of MEKA's ``-C n``
        (the first n, or the last where n is negative); else the last attribute.
    """

    def __init__(
        self,
        name: str,
        skip_bad: int = 0,
        threads: int = 1,
        *,
        xml: Source | None = None,
        target: str | Sequence[str] | bool | None = None,
    ) -> None:
        self.name, self.skip_bad, self.threads = name, skip_bad, threads
        self.skipped: list[BadLine] = []
        self.target = target
        self.label_names: list[str] = []
        self._xml = None if xml is None else (name_of(xml), label_names(xml))
        self._reader = _core.LineReader("arff", 0)
        self._attributes: list[tuple[str, str, list[str]]] | None = None
        self._texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def parse(self, data: Any, last: bool) -> tuple[int, Examples]:
        """Parse the whole lines of a block; returns how many bytes these are, and their rows."""
        taken, got, bad, too_many = self._reader.parse(data, last, self.threads, self.skip_bad - len(self.skipped))
        self.skipped += [BadLine(*one) for one in bad]
        if too_many and self._reader.declared:
            raise one_too_many(self.name, self.skipped)
        if too_many:  # no declaration can be left out
            raise DataError(self.name, self.skipped[-1])
        if not self._reader.declared:
            return taken, Examples(np.empty((0, 0)))
        self._texts += self._reader.label_names(len(self._texts))
        if self._attributes is None:
            self._declare()
        return taken, self._examples(got)

    def _declare(self) -> None:
        self._attributes = list(self._reader.attributes)
        names = [name for name, _, _ in self._attributes]
        if len(set(names)) < len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise DataError(self.name, f"two attributes are called {twice!r}")
        meka = _MEKA.search(self._reader.relation)
        if self._xml is not None:
            file, labels = self._xml
            missing = set(labels).difference(names)
            if missing:
                raise DataError(self.name, f"{file} names the label {min(missing)!r}, which no attribute is called")
            self.label_names = [name for name in names if name in set(labels)]
        elif self.target is None and meka is not None and int(meka[1]) != 0:
            count = int(meka[1])
            if abs(count) > len(names):
                raise DataError(self.name, f"the relation says -C {count}, but there are {len(names)} attributes")
            self.label_names = names[:count] if count > 0 else names[count:]
        self._wanted = self.label_names or self._named_targets(names)
        self._is_feature = [name not in self._wanted for name in names]
        for (name, kind, values), feature in zip(self._attributes, self._is_feature, strict=True):
            if feature and (kind == "numeric" or _are_numbers(values)):
                self._numbers[name] = len(self._numbers)

    def _named_targets(self, names: list[str]) -> list[str]:
        if self.target is False:
            return []
        wanted = names[-1:] if self.target is None or self.target is True else self.target
        chosen = [wanted] if isinstance(wanted, str) else list(wanted)
        for name in chosen:
            if name not in names:
                raise DataError(self.name, f"there is no attribute {name!r}")
        return chosen

    def _examples(self, got: dict[str, Any]) -> Examples:
        assert self._attributes is not None
        width = len(self._attributes)
        values = csr(got["value"], got["index"], got["start"], width)
        dense = not got["has_sets"]
        columns = values.data.reshape(-1, width) if dense else values
        plain = all(kind == "numeric" or _is_binary(v) for _, kind, v in self._attributes)
        X = self._plain_features(columns, dense) if plain else self._features(columns)
        if sparse.issparse(X):
            X.eliminate_zeros()
        return Examples(
            X,
            self._targets(columns, got["line"]),
            list(self._numbers),
            line=got["line"],
            label_names=self.label_names or None,
            skipped=self.skipped,
        )

    def _plain_features(self, columns: Any, dense: bool) -> Any:
        """Every nominal attribute has the values 0 and 1, in this order: a place in the list is the value."""
        which = np.flatnonzero(self._is_feature)
        return columns[:, which] if dense else columns[:, which].tocsr()

    def _features(self, columns: Any) -> Any:
        parts = []
        rows = columns.shape[0]
        for j, (name, kind, listed) in enumerate(self._attributes or ()):
            if not self._is_feature[j]:
                continue
            column = self._column(columns, j)
            if name in self._numbers:
                values = column if kind == "numeric" else _looked_up(np.array(listed, dtype=np.float64), column)
                at, number = np.flatnonzero(values), np.array([self._numbers[name]])
                parts.append((at, np.repeat(number, at.size), values[at]))
                continue
            texts = listed if kind == "nominal" else self._texts
            at = np.flatnonzero(~np.isnan(column))
            if kind == "text" and sparse.issparse(columns):  # it leaves out numbers and listed values
                at = np.intersect1d(at, columns[:, [j]].tocoo().row)
            used, where = np.unique(column[at].astype(np.int64), return_inverse=True)
            number = np.array(
                [self._numbers.setdefault(f"{name}={texts[code]}", len(self._numbers)) for code in used], dtype=np.int64
            )
            parts.append((at, number[where], np.ones(at.size)))
        if not parts:
            return np.empty((rows, 0))
        row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
        X = sparse.csr_matrix((value, (row, column)), shape=(rows, len(self._numbers)))
        return X if sparse.issparse(columns) else X.toarray()

    @staticmethod
    def _column(columns: Any, j: int) -> np.ndarray:
        return columns[:, [j]].toarray().ravel() if sparse.issparse(columns) else columns[:, j]

    def _targets(self, columns: Any, line: np.ndarray) -> Any:
        assert self._attributes is not None
        names = [name for name, _, _ in self._attributes]
        if self.label_names:
            return self._indicator(columns, [names.index(name) for name in self.label_names], line)
        values = [self._target(columns, names.index(name)) for name in self._wanted]
        return None if not values else values[0] if len(values) == 1 else np.column_stack(values)

    def _indicator(self, columns: Any, which: list[int], line: np.ndarray) -> Any:
        """Return which labels each row has."""
        columns = columns[:, which].tocsc() if sparse.issparse(columns) else columns[:, which]
        have = [np.flatnonzero(self._says_yes(self._column(columns, i), j, line)) for i, j in enumerate(which)]
        start = np.cumsum([0, *map(len, have)])
        ones = np.ones(start[-1], dtype=np.int8)
        return sparse.csc_matrix((ones, np.concatenate(have), start), shape=(line.size, len(which))).tocsr()

    def _says_yes(self, column: np.ndarray, j: int, line: np.ndarray) -> np.ndarray:
        """Return which rows have label j; its values say yes or no, in either order, and nothing else."""
        assert self._attributes is not None
        name, kind, listed = self._attributes[j]
        yes = _place_of_yes(listed) if kind == "nominal" else 1
        if yes is None:
            raise DataError(self.name, f"attribute {name!r} is a label: its values must be 0 and 1, not {listed}")
        wrong = ~np.isin(column, (0, 1))
        if wrong.any():
            row = int(np.argmax(wrong))
            value = "no value" if np.isnan(column[row]) else f"the value {column[row]:g}"
            raise DataError(self.name, BadLine(int(line[row]), 1, f"label {name!r} has {value}, neither 0 nor 1"))
        return np.asarray(column == yes)

    def _target(self, columns: Any, j: int) -> np.ndarray:
        assert self._attributes is not None
        name, kind, listed = self._attributes[j]
        column = self._column(columns, j)
        if np.isnan(column).any():
            raise DataError(self.name, f"data row {int(np.argmax(np.isnan(column))) + 1} has no value of {name!r}")
        if kind == "numeric":
            return plain_numbers(column)
        texts = np.array(listed if kind == "nominal" else self._texts)
        if kind == "nominal" and _are_numbers(listed):
            texts = plain_numbers(texts.astype(np.float64))
        return texts[column.astype(np.int64)]


def label_names(xml: Source) -> list[str]:
    """Return the labels that a Mulan XML file lists.

    Parameters
    ----------
    xml : path-like or file object

    Returns
    -------
    list of str
    """
    try:
        tree = ElementTree.fromstring(bytes(whole(xml)))
    except ElementTree.ParseError as error:
        line, column = error.position
        raise DataError(name_of(xml), BadLine(line, column + 1, f"not XML: {error}")) from error
    return [node.attrib["name"] for node in tree.iter() if node.tag.rpartition("}")[2] == "label"]


def _are_numbers(values: list[str]) -> bool:
    try:
        return bool(values) and all(np.isfinite(float(value)) for value in values)
    except ValueError:
        return False


def _is_binary(values: list[str]) -> bool:
    return _are_numbers(values) and all(float(value) == place for place, value in enumerate(values))


def _place_of_yes(values: list[str]) -> int | None:
    """Return where yes stands in a label's list of values, -1 where it does not; None if they say anything else."""
    words = {"0": 0, "1": 1, "false": 0, "true": 1, "no": 0, "yes": 1}
    said = [words.get(value.lower()) for value in values]
    if not said or None in said or len(set(said)) < len(said):
        return None
    return said.index(1) if 1 in said else -1


def _looked_up(listed: np.ndarray, column: np.ndarray) -> np.ndarray:
    missing = np.isnan(column)
    return np.where(missing, np.nan, listed[np.where(missing, 0, column).astype(np.int64)])
