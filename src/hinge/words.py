"""Words as people hand them over: a matrix or a list of dicts each, or all rows in one; and their letters.

Rows of all words stand below one another; word i has the rows ``start[i]`` to ``start[i + 1]``. Messages name the word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from hinge import labels
from hinge.labels import Labels

__all__ = ["ARRAYS", "FLAT", "FORMS", "Letters", "Words", "check_tokens", "in_form", "laid_out", "read_letters"]

ARRAYS, LISTS, STRINGS, FLAT = FORMS = ("arrays", "lists", "strings", "flat")  # of y


@dataclass(frozen=True)
class Words:
    """The rows of all words, where each word starts, and the order in which they are taken."""

    rows: Any
    start: np.ndarray
    order: np.ndarray | None = None

    @property
    def count(self) -> int:
        return self.start.size - 1 if self.order is None else self.order.size

    def take(self, order: np.ndarray) -> Words:
        return replace(self, order=np.ascontiguousarray(order, dtype=np.int64))

    def sums(self, by_row: np.ndarray) -> np.ndarray:
        """Add up over the rows of each word."""
        return np.add.reduceat(by_row.astype(np.int64), self.start[:-1])


@dataclass(frozen=True)
class Letters:
    """The letters of all words as numbers, by row; new ones have the numbers after the known. -1: a word is ignored."""

    numbers: np.ndarray
    fresh: list[Any]
    start: np.ndarray
    form: str

    def take(self, order: np.ndarray) -> Letters:
        """Return the letters as they are: they lie beside the rows, which another order leaves where they are."""
        return self

    def word_of(self, row: int) -> int:
        return int(np.searchsorted(self.start, row, side="right")) - 1

    def without_fresh(self, known: int) -> Letters:
        """Return the letters with every word ignored that has one which is not among the `known` first."""
        unknown = np.add.reduceat(self.numbers >= known, self.start[:-1]) > 0
        ignored = np.repeat(unknown, np.diff(self.start))
        return replace(self, numbers=np.where(ignored, -1, self.numbers).astype(np.int32), fresh=[])


# -- rows -------------------------------------------------------------------------------------------------------------


def laid_out(X: Any, lengths: Any) -> tuple[Any, np.ndarray]:
    """Return all rows, one word below the other, as a matrix or as a list of dicts; and where each word starts."""
    if lengths is not None:
        return _as_one(X), _starts_in(X, lengths)
    if isinstance(X, np.ndarray) and (X.ndim == 3 or (X.ndim == 1 and X.dtype == object)):
        X = list(X)
    if not isinstance(X, list | tuple) or len(X) == 0:
        raise ValueError("X must be a list with a matrix, or a list of dicts, for each word; or give lengths")
    parts = [word if hasattr(word, "shape") else list(word) for word in X]
    start = _starts_of([_rows_of(part) for part in parts])
    if isinstance(parts[0], list) and isinstance(parts[0][0], dict):
        return [token for part in parts for token in part], start
    return _stacked(parts), start


def check_tokens(reader: Any, tokens: list[Any], start: np.ndarray, *, float32: bool) -> None:
    """Look at every value; TypeError or ValueError, naming the word, where one cannot be read."""
    for t, token in enumerate(tokens):
        try:
            if not isinstance(token, dict):
                raise TypeError(f"a {type(token).__name__} stands where the first word has a dict")
            reader.check(token, float32)
        except (TypeError, ValueError) as error:
            word = int(np.searchsorted(start, t, side="right")) - 1
            raise type(error)(f"word {word} of X: {error}") from None


def _rows_of(part: Any) -> int:
    return int(part.shape[0]) if hasattr(part, "shape") else len(part)


def _as_one(X: Any) -> Any:
    if isinstance(X, list | tuple) and len(X) and (np.ndim(X[0]) == 2 or sparse.issparse(X[0])):
        raise ValueError("lengths go with one matrix that has the rows of all words; X is a list of matrices")
    return list(X) if isinstance(X, tuple) else X


def _starts_in(X: Any, lengths: Any) -> np.ndarray:
    sizes = np.asarray(lengths)
    if sizes.ndim != 1 or sizes.size == 0 or sizes.dtype.kind not in "iu":
        raise ValueError("lengths must be a sequence of whole numbers, one a word")
    start = _starts_of(sizes.tolist())
    if _rows_of(X) != start[-1]:
        raise ValueError(f"X has {_rows_of(X)} rows, but the lengths of the words add up to {int(start[-1])}")
    return start


def _starts_of(sizes: Sequence[int]) -> np.ndarray:
    for i, size in enumerate(sizes):
        if size < 1:
            raise ValueError(f"word {i} of X has length {size}; a word has one letter at least")
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _stacked(parts: list[Any]) -> Any:
    """Return matrices as one, one below the other; ValueError where their widths differ."""
    parts = [part if hasattr(part, "shape") else np.asarray(part) for part in parts]
    for i, part in enumerate(parts):
        if len(part.shape) != 2:
            raise ValueError(f"word {i} of X has shape {part.shape}; it must be a matrix with a row a letter")
        if part.shape[1] != parts[0].shape[1]:
            raise ValueError(f"word {i} of X has {part.shape[1]} features, but word 0 has {parts[0].shape[1]}")
        _check_finite(part, i)
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack([sparse.csr_matrix(part) for part in parts], format="csr")
    return np.concatenate([np.asarray(part) for part in parts])


def _check_finite(part: Any, word: int) -> None:
    values = part.data if sparse.issparse(part) else np.asarray(part)
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    where = f"word {word}"
    if values.ndim == 2:
        where += f", row {int(np.argmin(np.isfinite(values).all(axis=1)))}"
    raise ValueError(f"Input X contains NaN or infinity in {where}: fill it in or drop the word")


# -- letters ----------------------------------------------------------------------------------------------------------


def read_letters(y: Any, start: np.ndarray, known: Labels, *, flat: bool) -> Letters:
    """Turn letters into numbers; ValueError, naming the word, where that cannot be done.

    Parameters
    ----------
    y : list of sequences of labels, or where `flat` also all labels in one sequence
    start : array
        Where the words of X start.
    known : Labels
    flat : bool
        Whether X is one matrix with the lengths of the words.
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    words, count = list(y), start.size - 1
    if flat and (len(words) != count or not _is_sequence(words[0])):
        if len(words) != start[-1]:
            raise ValueError(f"y has {len(words)} labels, but X has {int(start[-1])} rows")
        column, form = y, FLAT
        words = [words[a:b] for a, b in pairwise(start.tolist())]
    else:
        _check_lengths(words, start)
        form = _form_of(words[0])
        column = _column(words)
    try:
        numbers, fresh = _number(column, known)
    except ValueError as error:
        raise _in_its_word(words, known) or error from None
    return Letters(numbers, fresh, start, form)


def in_form(numbers: np.ndarray, start: np.ndarray, form: str, known: Labels) -> Any:
    """Return letters as labels, word by word, in the form in which targets were given."""
    letters = known.classes[numbers] if len(known) else np.empty(numbers.size, dtype=object)
    if form == FLAT:
        return letters
    words = [letters[a:b] for a, b in pairwise(start)]
    if form == ARRAYS:
        return words
    return ["".join(word) for word in words] if form == STRINGS else [word.tolist() for word in words]


def _check_lengths(words: list[Any], start: np.ndarray) -> None:
    if len(words) != start.size - 1:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{start.size - 1}, {len(words)}] words"
        )
    for i, (word, size) in enumerate(zip(words, np.diff(start), strict=True)):
        if not _is_sequence(word):
            raise ValueError(f"word {i} of y is {word!r}; it must be a sequence of labels")
        if len(word) != size:
            raise ValueError(f"word {i} of y has {len(word)} letters, but X has {int(size)} rows for it")


def _column(words: list[Any]) -> Any:
    if all(isinstance(word, np.ndarray) and word.dtype.kind == words[0].dtype.kind for word in words):
        return np.concatenate(words)
    return [letter for word in words for letter in word]


def _number(column: Any, known: Labels) -> tuple[np.ndarray, list[Any]]:
    if isinstance(column, list) and any(isinstance(letter, tuple) for letter in column):
        letters = np.empty(len(column), dtype=object)  # NumPy would make a matrix of tuples
        letters[:] = column
    else:
        letters = labels.column_of_labels(column)
    return labels.number_labels(letters, known)


def _in_its_word(words: list[Any], known: Labels) -> ValueError | None:
    """Return the error of the first word that has one by itself."""
    for i, word in enumerate(words):
        try:
            _number(list(word), known)
        except ValueError as error:
            return ValueError(f"word {i} of y: {error}")
    return None


def _is_sequence(word: Any) -> bool:
    return isinstance(word, list | tuple | str) or getattr(word, "ndim", 0) == 1


def _form_of(word: Any) -> str:
    """Say in which form a word of y is given."""
    if isinstance(word, str):
        return STRINGS
    return LISTS if isinstance(word, list | tuple) else ARRAYS
