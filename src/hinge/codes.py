"""Codes of labels: matrices of -1 and 1, a row a label, a column a binary task.

A code grows with the labels: more rows, perhaps more columns, and what is there stays, so that no task changes its
question for the labels that it knew.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Code = np.ndarray[Any, np.dtype[np.int8]]
NAMES = ("hadamard", "one-vs-rest", "binary", "random")
EXHAUSTIVE = 7  # up to so many labels Hadamard's code has every column
DRAWS = 20  # random codes to choose from


def table(kind: Any, known: int, labels: int, seed: int) -> Code:
    """Return the code of so many labels, `known` of which were known beforehand.

    Examples
    --------
    >>> table("hadamard", 3, 3, 0)
    array([[ 1,  1,  1],
           [-1,  1, -1],
           [ 1, -1, -1]], dtype=int8)
    >>> distance(table("hadamard", 5, 5, 0))
    8
    """
    if not isinstance(kind, str):
        return np.ascontiguousarray(kind[:labels], dtype=np.int8)
    if kind == "one-vs-rest":
        return np.asarray(2 * np.eye(labels) - 1, dtype=np.int8)
    if kind == "binary":
        bits = np.arange(max(0, labels - 1).bit_length())
        return np.asarray(2 * (np.arange(labels)[:, None] >> bits & 1) - 1, dtype=np.int8)
    if kind == "hadamard":
        words, bit_count = hadamard_words(known), hadamard_bits(known)
        while len(words) < labels:
            words, bit_count = one_word_more(words, bit_count)
        return walsh(words[:labels], bit_count)
    return random_code(known, labels, seed)


def hadamard_words(labels: int) -> list[int]:
    """Return what numbers the labels in a Sylvester matrix: one bit each up to seven, which gives every column."""
    return [0, *(1 << i for i in range(labels - 1))][:labels] if labels <= EXHAUSTIVE else list(range(labels))


def hadamard_bits(labels: int) -> int:
    return max(0, labels - 1) if labels <= EXHAUSTIVE else (labels - 1).bit_length()


def one_word_more(words: list[int], bits: int) -> tuple[list[int], int]:
    """Number one label more: by a bit of its own up to seven, then by a free number, then by a bit again."""
    free = next((word for word in range(1 << bits) if word not in set(words)), None)
    if not words:
        return [0], bits
    if free is None or (len(words) < EXHAUSTIVE and words == hadamard_words(len(words))):
        return [*words, 1 << bits], bits + 1
    return [*words, free], bits


def walsh(words: list[int], bits: int) -> Code:
    """Return rows of the Sylvester matrix of order 2^bits, without its constant column."""
    columns = np.arange(1, 1 << bits, dtype=np.int64)
    common = np.array(words, dtype=np.int64)[:, None] & columns
    odd = np.zeros(common.shape, dtype=np.int64)
    for bit in range(bits):
        odd ^= common >> bit & 1
    return np.asarray(1 - 2 * odd, dtype=np.int8)


def random_code(known: int, labels: int, seed: int) -> Code:
    """Draw ten columns a bit of the labels' number, several times; keep the code of the largest distance.

    A label that comes later has a row of its own, and there are columns more where few rows are left that differ; both
    depend on its number and the seed only.
    """
    rng, width = np.random.RandomState(seed), 10 * max(2, max(0, known - 1).bit_length())
    best: Code | None = None
    for _ in range(DRAWS):
        code = np.asarray(2 * rng.randint(2, size=(known, width)) - 1, dtype=np.int8)
        if known > 2:  # of two labels every column that tells them apart is one question or its contrary
            code = np.asarray(code[:, useful_columns(code)], dtype=np.int8)
        if best is None or distance(code) > distance(best):
            best = code
    assert best is not None
    while len(best) < labels:
        rng = np.random.RandomState([seed, len(best)])
        if best.shape[1] < 62 and 2 * len(best) >= 1 << best.shape[1]:  # few rows are left that differ
            fresh = 2 * rng.randint(2, size=(len(best), 10)) - 1
            best = np.hstack([best, np.asarray(fresh, dtype=np.int8)])
        row = np.asarray(2 * rng.randint(2, size=best.shape[1]) - 1, dtype=np.int8)
        while (best == row).all(axis=1).any():
            row = np.asarray(2 * rng.randint(2, size=best.shape[1]) - 1, dtype=np.int8)
        best = np.vstack([best, row])
    return np.ascontiguousarray(best[:labels])


def useful_columns(code: Code) -> list[int]:
    """List the columns that are neither constant nor another one or its complement."""
    seen: set[bytes] = set()
    kept = []
    for j, column in enumerate(code.T):
        key = (column * column[0]).tobytes()
        if key not in seen and np.ptp(column) > 0:
            seen.add(key)
            kept.append(j)
    return kept


def distance(code: Code) -> int:
    """Return the least number of columns in which two rows differ; a distance d corrects (d - 1) // 2 errors."""
    agree = code.astype(np.int64) @ code.T.astype(np.int64)
    apart = (code.shape[1] - agree) // 2
    np.fill_diagonal(apart, code.shape[1])
    return int(apart.min(initial=code.shape[1]))


def check_code(given: Any) -> Code:
    """Return a person's matrix as a code; ValueError where two labels cannot be told apart or a column asks nothing."""
    try:
        table = np.asarray(given)
    except ValueError:
        table = np.empty(0)
    if table.ndim != 2 or table.dtype.kind not in "iufb" or not np.isin(table, (-1, 1)).all() or len(table) < 2:
        raise ValueError("code must be a matrix of -1 and 1 with a row a label, two rows at least")
    code = np.asarray(table, dtype=np.int8)
    for what, rows in (("row", code), ("column", code.T)):
        first: dict[bytes, int] = {}
        for i, row in enumerate(rows):
            if what == "column" and np.ptp(row) == 0:
                raise ValueError(f"column {i} of code is constant: it asks nothing")
            key = (row if what == "row" else row * row[0]).tobytes()
            if key not in first:
                first[key] = i
            elif what == "row":
                raise ValueError(f"rows {first[key]} and {i} of code are equal: their labels cannot be told apart")
            elif (rows[first[key]] == -row).all():
                raise ValueError(f"columns {first[key]} and {i} of code are complementary: they ask one question")
    return code
