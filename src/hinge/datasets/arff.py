"""A reader of Mulan's multi-label files: ARFF (dense or sparse) with an XML list of the labels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from .bundles import MultiLabel
from .home import read_bytes, read_text

_ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\S+))\s+(\{.*\}|\S+)""", re.IGNORECASE
)


class Relation(NamedTuple):
    """An ARFF file: the attributes' names and the values, (n, d) dense or CSR."""

    names: list[str]
    values: Any


def read_arff(path: Path | str) -> Relation:
    """Read an ARFF file whose attributes are numeric or nominal with numbers as values.

    Parameters
    ----------
    path : path-like
        The file; .xz, .gz and .bz2 are decompressed.

    Returns
    -------
    Relation
        Names, and the values: CSR when the rows are sparse (in braces), else an ndarray. A missing
        value (``?``) is NaN.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "small.arff"
    ...     _ = path.write_text("@relation r\\n@attribute 'a b' numeric\\n@attribute c {0,1}\\n"
    ...                         "@data\\n{0 2.5, 1 1}\\n{}\\n")
    ...     relation = read_arff(path)
    >>> relation.names, relation.values.toarray().tolist()
    (['a b', 'c'], [[2.5, 1.0], [0.0, 0.0]])
    """
    names: list[str] = []
    lines = iter(read_text(path).splitlines())
    for line in lines:
        text = line.strip()
        if text.lower().startswith("@data"):
            break
        if text.lower().startswith("@attribute"):
            names.append(_attribute(text, Path(path).name))
    rows = [text for text in map(str.strip, lines) if text and not text.startswith("%")]
    sparse = bool(rows) and rows[0].startswith("{")
    parse = _sparse_values if sparse else _dense_values
    return Relation(names, parse(rows, len(names), Path(path).name))


def read_mulan(arff: Path | str, xml: Path | str) -> MultiLabel:
    """Read a Mulan data set: the attributes that the XML file names are labels, the rest features.

    Parameters
    ----------
    arff, xml : path-like
        The two files.

    Returns
    -------
    MultiLabel
        Features (CSR or dense as in the file), the CSR indicator, and both lists of names, each in
        the order of the ARFF file.
    """
    relation = read_arff(arff)
    named = set(_label_names(xml))
    missing = named.difference(relation.names)
    if missing:
        raise ValueError(f"{Path(xml).name} names the label {min(missing)!r}, which {Path(arff).name} has not")
    is_label = np.array([name in named for name in relation.names])
    labels = _columns(relation.values, np.flatnonzero(is_label))
    return MultiLabel(
        _columns(relation.values, np.flatnonzero(~is_label)),
        _as_indicator(labels),
        [name for name in relation.names if name not in named],
        [name for name in relation.names if name in named],
    )


def _attribute(text: str, name: str) -> str:
    match = _ATTRIBUTE.match(text)
    if match is None:
        raise ValueError(f"{name}: cannot read the declaration {text[:60]!r}")
    single, double, plain, kind = match.groups()
    if kind.startswith("{") and kind.strip("{} ").split(",")[0].strip() not in {"0", "0.0"}:
        raise ValueError(f"{name}: {text[:60]!r} is nominal and its first value is not 0; only 0/1 is read")
    quoted = single if single is not None else double
    return plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)


def _dense_values(rows: list[str], width: int, name: str) -> NDArray[np.float64]:
    cells = [row.replace("?", "nan").split(",") for row in rows]
    for number, row in enumerate(cells, start=1):
        if len(row) != width:
            raise ValueError(f"{name}: data row {number} has {len(row)} values, {width} were declared")
    return np.array(cells, dtype=np.float64).reshape(len(cells), width)


def _sparse_values(rows: list[str], width: int, name: str) -> Any:
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped, unused-ignore]

    pairs = [row.strip("{} ").replace(",", " ").split() for row in rows]
    for number, row in enumerate(pairs, start=1):
        if len(row) % 2:
            raise ValueError(f"{name}: data row {number} is not a list of `index value` pairs")
    flat = np.array([cell for row in pairs for cell in row], dtype=np.float64)
    indptr = np.cumsum([0, *(len(row) // 2 for row in pairs)])
    columns = flat[::2].astype(np.int32)
    if columns.size and not 0 <= columns.min() <= columns.max() < width:
        raise ValueError(f"{name}: an index lies outside 0..{width - 1}")
    return csr_matrix((flat[1::2], columns, indptr), shape=(len(rows), width))


def _label_names(xml: Path | str) -> list[str]:
    tree = ElementTree.fromstring(read_bytes(xml))
    return [node.attrib["name"] for node in tree.iter() if node.tag.rpartition("}")[2] == "label"]


def _columns(values: Any, which: NDArray[np.intp]) -> Any:
    return values[:, which]


def _as_indicator(labels: Any) -> Any:
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped, unused-ignore]

    chosen = csr_matrix(labels != 0, dtype=np.int8)
    chosen.sort_indices()
    return chosen
