"""A small reader of svmlight text, for the data sets of this package.

A line is ``labels [qid:q] index:value ... [# comment]``; labels may be several, joined by commas.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .home import read_text


class SvmlightRows(NamedTuple):
    """What the lines said: the matrix, the label field of each line as text, and the query (or -1)."""

    X: Any
    labels: list[str]
    qid: NDArray[np.int64]


def read_svmlight(path: Path | str, n_features: int | None = None) -> SvmlightRows:
    """Read a file of svmlight lines with 1-based feature indices.

    Parameters
    ----------
    path : path-like
        The file; .xz, .gz and .bz2 are decompressed.
    n_features : int, optional
        The width of the matrix; by default the largest index that occurs.

    Returns
    -------
    SvmlightRows
        The CSR matrix of float64, the label fields and the query numbers.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "two.svm"
    ...     _ = path.write_text("2,5 qid:7 1:0.5 3:2\\n1 2:1 # note\\n")
    ...     rows = read_svmlight(path)
    >>> rows.X.toarray().tolist(), rows.labels, rows.qid.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], ['2,5', '1'], [7, -1])
    """
    labels: list[str] = []
    queries: list[int] = []
    cells: list[str] = []
    counts: list[int] = []
    for line in read_text(path).splitlines():
        body = line.partition("#")[0]
        if not body.strip():
            continue
        label, query, rest = _fields(body)
        labels.append(label)
        queries.append(query)
        cells.append(rest)
        counts.append(rest.count(":"))
    matrix = _matrix(cells, counts, n_features, Path(path).name)
    return SvmlightRows(matrix, labels, np.array(queries, dtype=np.int64))


def indicator(sets: list[list[int]], n_labels: int) -> Any:
    """Return label sets, given as lists of column numbers, as a CSR indicator of int8.

    Parameters
    ----------
    sets : list of list of int
        The columns of each row.
    n_labels : int
        The number of columns.

    Returns
    -------
    scipy.sparse.csr_matrix
        The indicator, columns sorted in each row.

    Examples
    --------
    >>> indicator([[2, 0], []], 3).toarray().tolist()
    [[1, 0, 1], [0, 0, 0]]
    """
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped, unused-ignore]

    indptr = np.cumsum([0, *map(len, sets)])
    indices = np.array([column for row in sets for column in sorted(row)], dtype=np.int32)
    return csr_matrix((np.ones(indices.size, dtype=np.int8), indices, indptr), shape=(len(sets), n_labels))


def label_columns(field: str) -> list[int]:
    """Return the numbers in a label field such as ``"2,5"``.

    Parameters
    ----------
    field : str
        Numbers joined by commas, or nothing.

    Returns
    -------
    list of int
        The numbers.

    Examples
    --------
    >>> label_columns("2,5"), label_columns("")
    ([2, 5], [])
    """
    return [int(part) for part in field.split(",") if part]


def _fields(body: str) -> tuple[str, int, str]:
    """Cut a line into its labels, its query and the rest; a line without labels starts with a cell."""
    label, _, rest = body.strip().partition(" ")
    if ":" in label:
        label, rest = "", body.strip()
    if not rest.startswith("qid:"):
        return label, -1, rest
    query, _, rest = rest.partition(" ")
    return label, int(query[4:]), rest


def _matrix(cells: list[str], counts: list[int], n_features: int | None, name: str) -> Any:
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped, unused-ignore]

    flat = np.array(" ".join(cells).replace(":", " ").split(), dtype=np.float64)
    indptr = np.cumsum([0, *counts])
    if flat.size != 2 * indptr[-1]:
        raise ValueError(f"{name}: a feature is not of the form index:value; the file is not svmlight text")
    columns = flat[::2].astype(np.int32) - 1
    width = int(columns.max(initial=-1)) + 1
    if columns.min(initial=0) < 0 or width > (n_features or width):
        raise ValueError(f"{name}: a feature index lies outside 1..{n_features or width}")
    return csr_matrix((flat[1::2], columns, indptr), shape=(len(cells), n_features or width))
