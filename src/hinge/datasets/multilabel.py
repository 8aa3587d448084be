"""Multi-label data sets: the Mulan collection and the RCV1 subsets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hinge.io import read

from .bundles import MultiLabel
from .home import data_file

# name -> folder, XML file, and the ARFF files that make up each part
_MULAN: dict[str, tuple[str, str, dict[str, tuple[str, ...]]]] = {
    "corel5k": (
        "corel5k",
        "Corel5k.xml",
        {
            "all": ("Corel5k-sparse.arff.xz",),
            "train": ("Corel5k-train-sparse.arff.xz",),
            "test": ("Corel5k-test-sparse.arff.xz",),
        },
    ),
    "scene": (
        "scene",
        "scene.xml",
        {
            "all": ("scene-train.arff.xz", "scene-test.arff.xz"),
            "train": ("scene-train.arff.xz",),
            "test": ("scene-test.arff.xz",),
        },
    ),
    "enron": ("enron-multilabel", "enron.xml", {"all": ("enron.arff.xz",)}),
}
for _name in ("bibtex", "tmc2007-500", "delicious", "emotions", "yeast", "medical"):
    _MULAN[_name] = (_name, f"{_name}.xml", {"all": (f"{_name}.arff.xz",)})

MULAN_NAMES = tuple(sorted(_MULAN))

# subset -> whether the bad half is the first, and by how many places its labels sit too low
_RCV1_DEFECT = {1: (False, 1), 2: (False, 12), 3: (False, 14), 4: (False, 24), 5: (True, 11)}
_RCV1_WIDTH = {1: 47236, 2: 47236, 3: 47236, 4: 47229, 5: 47235}
_RCV1_LABELS = 101


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
    rows = read(arff, "arff", xml=xml)
    return MultiLabel(rows.X, rows.y, rows.feature_names or [], rows.label_names or [])


def load_mulan(name: str, part: str = "all") -> MultiLabel:
    """Load a data set of the Mulan collection.

    Parameters
    ----------
    name : str
        One of `MULAN_NAMES`.
    part : {"all", "train", "test"}
        The published division, where the files have one (corel5k, scene).

    Returns
    -------
    MultiLabel
        `X` (n, d), CSR or dense as in the file; `Y` (n, k), CSR; feature and label names.
    """
    if name not in _MULAN:
        raise ValueError(f"unknown data set {name!r}; the names are {', '.join(MULAN_NAMES)}")
    folder, xml, parts = _MULAN[name]
    if part not in parts:
        raise ValueError(f"{name} has no part {part!r}; it has {', '.join(parts)}")
    found = [read_mulan(data_file(folder, arff), data_file(folder, xml)) for arff in parts[part]]
    return found[0] if len(found) == 1 else _stack(found)


def load_rcv1_subset(subset: int, repaired: bool = True) -> MultiLabel:
    """Load one of the five 6000-document subsets of RCV1-v2.

    In the files as distributed one half of the rows has its label columns some places too low: labels
    are numbered too low and the lowest ones stand among the last feature columns, with value 1.

    Parameters
    ----------
    subset : int
        1 to 5.
    repaired : bool
        Put the labels of the bad half back in their places; False gives the files as distributed,
        which is what published results on these files saw.

    Returns
    -------
    MultiLabel
        `X` (6000, d) CSR with rows of norm one (when repaired), `Y` (6000, 101) CSR; the names are
        numbers.
    """
    if subset not in _RCV1_DEFECT:
        raise ValueError(f"subset must be 1, 2, 3, 4 or 5, got {subset!r}")
    matrix, sets = _read_numbered("rcv1v2-subsets", f"rcv1sub{subset}.svm.xz", _RCV1_WIDTH[subset])
    if repaired:
        matrix, sets = _repair(matrix, sets, *_RCV1_DEFECT[subset])
    return _numbered(matrix, sets, _RCV1_LABELS)


def load_reuters_k500() -> MultiLabel:
    """Load Reuters-K500: 6000 documents of RCV1, 500 features, 103 labels (99 of them occur).

    Returns
    -------
    MultiLabel
        `X` (6000, 500) CSR, `Y` (6000, 103) CSR.
    """
    return _load_numbered("reuters-k500", "reutersk500.svm.xz", 500, 103)


def load_newsgroups20() -> MultiLabel:
    """Load the 20 newsgroups in their multi-label form: 19300 posts, 1006 binary features.

    Returns
    -------
    MultiLabel
        `X` (19300, 1006) CSR, `Y` (19300, 20) CSR; nearly every row has one label.
    """
    return _load_numbered("newsgroups20-multilabel", "ng20.svm.xz", 1006, 20)


def _load_numbered(folder: str, file: str, width: int, n_labels: int) -> MultiLabel:
    return _numbered(*_read_numbered(folder, file, width), n_labels)


def _read_numbered(folder: str, file: str, width: int) -> tuple[Any, list[list[int]]]:
    rows = read(data_file(folder, file), n_features=width, labels="sets", zero_based=False)
    return rows.X, [sorted(labels) for labels in rows.y]


def _numbered(matrix: Any, sets: list[list[int]], n_labels: int) -> MultiLabel:
    features = [str(index) for index in range(1, matrix.shape[1] + 1)]
    return MultiLabel(matrix, _indicator(sets, n_labels), features, [str(label) for label in range(n_labels)])


def _indicator(sets: list[list[int]], n_labels: int) -> Any:
    """Return label sets, given as sorted lists of column numbers, as a CSR indicator of int8."""
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped, unused-ignore]

    indptr = np.cumsum([0, *map(len, sets)])
    indices = np.array([column for row in sets for column in row], dtype=np.int32)
    return csr_matrix((np.ones(indices.size, dtype=np.int8), indices, indptr), shape=(len(sets), n_labels))


def _repair(matrix: Any, sets: list[list[int]], first_half: bool, shift: int) -> tuple[Any, list[list[int]]]:
    """Move the last `shift` feature columns of the bad half back among its labels."""
    half = len(sets) // 2
    bad = slice(0, half) if first_half else slice(half, None)
    matrix = matrix.tolil(copy=True)
    start = matrix.shape[1] - shift
    leaked = matrix[bad, start:].tocsr()
    matrix[bad, start:] = 0
    repaired = list(sets)
    for offset, number in enumerate(range(*bad.indices(len(sets)))):
        lowest = leaked.indices[leaked.indptr[offset] : leaked.indptr[offset + 1]].tolist()
        repaired[number] = sorted(lowest + [label + shift for label in sets[number]])
    return matrix.tocsr(), repaired


def _stack(parts: list[MultiLabel]) -> MultiLabel:
    from scipy.sparse import csr_matrix, issparse, vstack  # type: ignore[import-untyped, unused-ignore]

    rows = [part.X for part in parts]
    matrix = csr_matrix(vstack(rows)) if issparse(rows[0]) else np.vstack(rows)
    return MultiLabel(matrix, csr_matrix(vstack([part.Y for part in parts])), *parts[0][2:])
