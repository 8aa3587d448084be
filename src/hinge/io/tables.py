"""Tables: CSV and Parquet. Columns of numbers are features; a column of texts becomes indicators ``name=text``."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from hinge import _core

from .errors import BadLine, DataError, OptionError, one_too_many
from .examples import Examples, plain_numbers
from .sources import Source, name_of, opened

__all__ = ["Csv", "Parquet", "Tsv"]

MOST_QUERY = 2.0**53
TARGETS = ("y", "label", "labels", "target", "class")


class Field(NamedTuple):
    """One column of a block: numbers with NaN for what is missing, or numbers of texts, or sets of labels."""

    name: str
    values: Any
    texts: list[str] | None = None  # what the numbers stand for

    def missing(self) -> np.ndarray:
        """Return which rows have no value; a set may be empty."""
        if isinstance(self.values, list):
            return np.zeros(len(self.values), dtype=bool)
        if self.texts is None:
            return np.isnan(self.values)
        return np.asarray(self.values == (self.texts.index("") if "" in self.texts else -1))

    def labels(self) -> np.ndarray:
        return plain_numbers(self.values) if self.texts is None else np.array(self.texts)[self.values]


class Roles:
    """Which columns are the target, the query, the weight, the name of the row; the others are features.

    Parameters
    ----------
    target : str, int, sequence of str, or False, optional
        Columns by name or number (from 0; negative from the end). By default the column called y, label, labels,
        target or class, else the last. Several make an (n, k) matrix. False: there is none.
    qid, weight, id : str, optional
        Columns by name.
    ignore : sequence of str
        Columns that are left out.
    """

    def __init__(
        self,
        target: str | int | Sequence[str | int] | bool | None = None,
        qid: str | None = None,
        weight: str | None = None,
        id: str | None = None,
        ignore: Sequence[str] = (),
    ) -> None:
        self.target, self.qid, self.weight, self.id, self.ignore = target, qid, weight, id, ignore
        self._numbers: dict[str, int] = {}  # features by name, in the order in which they appeared

    def examples(self, name: str, fields: list[Field], line: np.ndarray | None) -> Examples:
        by_name = {field.name: field for field in fields}
        if len(by_name) < len(fields):
            twice = next(f.name for i, f in enumerate(fields) if f.name in {g.name for g in fields[:i]})
            raise DataError(name, f"two columns are called {twice!r}")
        targets = self._targets(name, fields)
        apart = {*targets, *filter(None, (self.qid, self.weight, self.id)), *self.ignore}
        for wanted in apart:
            if wanted not in by_name:
                raise DataError(name, f"there is no column {wanted!r}; the columns are {', '.join(map(repr, by_name))}")
        X = self._features(name, [field for field in fields if field.name not in apart])
        return Examples(
            X,
            self._y(name, [by_name[target] for target in targets], line),
            list(self._numbers),
            None if self.qid is None else self._whole(name, by_name[self.qid], line),
            None if self.weight is None else self._real(name, by_name[self.weight], line),
            None if self.id is None else [str(value) for value in by_name[self.id].labels().tolist()],
            line=line,
        )

    def _targets(self, name: str, fields: list[Field]) -> list[str]:
        if self.target is False or not fields:
            return []
        wanted: Any = self.target
        if wanted is None or wanted is True:
            named = [field.name for field in fields if field.name.lower() in TARGETS]
            free = [f.name for f in fields if f.name not in {self.qid, self.weight, self.id, *self.ignore}]
            wanted = named[:1] or free[-1:]
        several = [wanted] if isinstance(wanted, str | int) else list(wanted)
        for one in several:
            if isinstance(one, int) and not -len(fields) <= one < len(fields):
                raise DataError(name, f"there is no column {one}; there are {len(fields)}")
        return [fields[one].name if isinstance(one, int) else one for one in several]

    def _y(self, name: str, fields: list[Field], line: np.ndarray | None) -> Any:
        if not fields:
            return None
        for field in fields:
            if field.missing().any():
                raise _at(name, field.missing(), line, f"column {field.name!r} has no value here")
        if len(fields) > 1:
            return np.column_stack([self._real(name, field, line) for field in fields])
        return fields[0].values if isinstance(fields[0].values, list) else fields[0].labels()

    @staticmethod
    def _real(name: str, field: Field, line: np.ndarray | None) -> np.ndarray:
        if field.texts is not None:
            raise DataError(name, f"column {field.name!r} must hold numbers, but it holds texts")
        if field.missing().any():
            raise _at(name, field.missing(), line, f"column {field.name!r} has no value here")
        return np.asarray(field.values)

    def _whole(self, name: str, field: Field, line: np.ndarray | None) -> np.ndarray:
        if field.texts is not None:
            return np.asarray(field.values, dtype=np.int64)
        values = self._real(name, field, line)
        wrong = (values != np.rint(values)) | (values < 0) | (values > MOST_QUERY)
        if wrong.any():
            raise _at(name, wrong, line, f"column {field.name!r} must hold whole numbers of 0 or more")
        return values.astype(np.int64)

    def _features(self, name: str, fields: list[Field]) -> Any:
        for field in fields:
            if isinstance(field.values, list):
                raise DataError(name, f"column {field.name!r} holds lists; it can be the target, or be ignored")
            if field.texts is None:
                self._numbers.setdefault(field.name, len(self._numbers))
        if all(field.texts is None for field in fields):
            return np.column_stack([field.values for field in fields]) if fields else np.empty((0, 0))
        rows = fields[0].values.size
        row, column, value = [], [], []
        for field in fields:
            if field.texts is None:
                at = np.flatnonzero(field.values)  # NaN is kept: it is for the estimator to refuse
                column.append(np.full(at.size, self._numbers[field.name]))
                value.append(field.values[at])
            else:
                used, where = np.unique(field.values, return_inverse=True)
                number = [self._indicator(field.name, field.texts[code]) for code in used]
                at = np.flatnonzero(np.array(number)[where] >= 0)
                column.append(np.array(number)[where][at])
                value.append(np.ones(at.size))
            row.append(at)
        where_all = (np.concatenate(row), np.concatenate(column))
        return sparse.csr_matrix((np.concatenate(value), where_all), shape=(rows, len(self._numbers)))

    def _indicator(self, name: str, text: str) -> int:
        return -1 if text == "" else self._numbers.setdefault(f"{name}={text}", len(self._numbers))


class Csv:
    """CSV: cells between commas, tabs, semicolons or bars, quotes as in RFC 4180.

    What a column holds is settled by the first block: numbers if every cell is one or missing (empty, NA, N/A, nan,
    NaN, null, NULL, ?), else texts.

    Parameters
    ----------
    delimiter : str, optional
        One character; by default the one of ``,``, tab, ``;`` and ``|`` that the first line has most often.
    header : {"auto", True, False}
        Whether the first row names the columns. "auto": it does if none of its cells is a number or empty.
    **roles
        As for `Roles`.
    """

    delimiter = ""

    def __init__(
        self,
        name: str,
        skip_bad: int = 0,
        threads: int = 1,
        *,
        delimiter: str | None = None,
        header: bool | str = "auto",
        **roles: Any,
    ) -> None:
        if header not in (True, False, "auto"):
            raise OptionError(f"header must be True, False or 'auto', got {header!r}")
        if delimiter is not None and (len(delimiter.encode()) != 1 or delimiter in '"\r\n'):
            raise OptionError(f"delimiter must be one ASCII character that is no quote, got {delimiter!r}")
        self.name, self.skip_bad, self.skipped = name, skip_bad, list[BadLine]()
        named = {True: "yes", False: "no", "auto": "guess"}[header]
        self._reader = _core.CsvReader(delimiter or self.delimiter, named)
        self._roles = Roles(**roles)
        self._texts: dict[int, list[str]] = {}

    def parse(self, data: Any, last: bool) -> tuple[int, Examples]:
        """Parse the whole records of a block; returns how many bytes these are, and their rows."""
        taken, (columns, line), bad, too_many = self._reader.parse(data, last, self.skip_bad - len(self.skipped))
        self.skipped += [BadLine(*one) for one in bad]
        if too_many:
            raise one_too_many(self.name, self.skipped)
        fields = []
        for i, (name, values, is_text) in enumerate(columns):
            known = self._texts.setdefault(i, []) if is_text else None
            if known is not None:
                known += self._reader.texts(i, len(known))
            fields.append(Field(name, values, known))
        examples = self._roles.examples(self.name, fields, line)
        examples.skipped = self.skipped
        return taken, examples


class Tsv(Csv):
    """CSV with tabs."""

    delimiter = "\t"


class Parquet:
    """Parquet, through pyarrow: columns of numbers, truth values, strings or (as target) lists of labels."""

    def __init__(self, name: str, skip_bad: int = 0, threads: int = 1, **roles: Any) -> None:
        if skip_bad:
            raise OptionError("a Parquet file has no lines to skip")
        self.name, self._roles = name, Roles(**roles)
        self._texts: dict[str, dict[str, int]] = {}

    def blocks(self, source: Source, rows: int | None = None) -> Iterable[Examples]:
        """Yield the rows of a file, at most `rows` at once; all together by default."""
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise ModuleNotFoundError(
                "reading Parquet needs the package pyarrow: pip install 'hinge[parquet]'"
            ) from None
        with opened(source) as file:
            is_plain = isinstance(file, io.BufferedReader) and file.seekable()
            whole = file if is_plain else pyarrow.BufferReader(file.read())
            try:
                table = pyarrow.parquet.ParquetFile(whole)
                # asked for any number of rows, iter_batches cuts at each row group that has a dictionary of its own
                for part in [table.read()] if rows is None else table.iter_batches(batch_size=rows):
                    yield self._examples(part, pyarrow)
            except pyarrow.ArrowException as error:
                raise DataError(name_of(source), f"not a Parquet file that can be read: {error}") from error

    def _examples(self, part: Any, pyarrow: Any) -> Examples:
        fields = []
        for name, column in zip(part.schema.names, part.columns, strict=True):
            kind = column.type
            if isinstance(column, pyarrow.ChunkedArray):
                column = column.combine_chunks()
            if pyarrow.types.is_dictionary(kind):
                column, kind = column.dictionary_decode(), kind.value_type
            if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
                fields.append(Field(name, [set(labels or ()) for labels in column.to_pylist()]))
            elif pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind):
                known = self._texts.setdefault(name, {})
                values = [known.setdefault(text or "", len(known)) for text in column.to_pylist()]
                fields.append(Field(name, np.array(values, dtype=np.int64), list(known)))
            elif any(
                is_such(kind)
                for is_such in (
                    pyarrow.types.is_boolean,
                    pyarrow.types.is_integer,
                    pyarrow.types.is_floating,
                    pyarrow.types.is_null,
                )
            ):
                values = column.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
                fields.append(Field(name, np.array(values, dtype=np.float64)))
            else:
                raise DataError(self.name, f"column {name!r} is of type {kind}; numbers, strings and lists are read")
        return self._roles.examples(self.name, fields, None)


def _at(name: str, wrong: np.ndarray, line: np.ndarray | None, what: str) -> DataError:
    """Return the error about the first row that is wrong."""
    row = int(np.argmax(wrong))
    return DataError(name, f"row {row}: {what}" if line is None else BadLine(int(line[row]), 1, what))
