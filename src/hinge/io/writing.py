"""Examples written as text: svmlight, VW, JSON lines, CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from .examples import Examples

__all__ = ["WRITERS", "lines"]


def lines(blocks: Iterable[Examples], format: str) -> Iterator[bytes]:
    """Yield the text of each block.

    Parameters
    ----------
    blocks : iterable of Examples
    format : {"svmlight", "vw", "jsonl", "csv"}
    """
    write = WRITERS[format]
    for number, block in enumerate(blocks):
        yield write(block, number == 0).encode()


def svmlight(examples: Examples, first: bool) -> str:
    out = []
    for i, (entries, label) in enumerate(zip(_entries(examples), _labels(examples), strict=True)):
        numbers = ",".join(_number(one, "svmlight") for one in label)
        query = "" if examples.qid is None or examples.qid[i] < 0 else f"qid:{examples.qid[i]}"
        pairs = (f"{j + 1}:{value!r}" for j, value in entries)
        name = "" if examples.ids is None or not examples.ids[i] else f"#docid = {_word(examples.ids[i])}"
        out.append(" ".join(filter(None, (numbers, query, *pairs, name))))
    return "\n".join([*out, ""])


def vw(examples: Examples, first: bool) -> str:
    names = examples.feature_names
    out = []
    for i, (entries, label) in enumerate(zip(_entries(examples), _labels(examples), strict=True)):
        if examples.costs is not None:
            head = " ".join(f"{_number(one, 'vw')}:{cost!r}" for one, cost in examples.costs[i].items())
        else:
            head = ",".join(_number(one, "vw") for one in label)
        if examples.sample_weight is not None:
            head += f" {float(examples.sample_weight[i])!r}"
        tag = "" if examples.ids is None else f" '{_word(examples.ids[i])}"
        spaces: dict[str, list[str]] = {}
        for j, value in entries:
            space, _, name = ("", "", str(j)) if names is None else names[j].rpartition("^")
            spaces.setdefault(space, []).append(f"{_word(name)}:{value!r}")
        text = " ".join(f"|{_word(space)} {' '.join(features)}" for space, features in spaces.items())
        out.append(f"{head}{tag} {text or '|'}".strip())
    return "\n".join([*out, ""])


def jsonl(examples: Examples, first: bool) -> str:
    out = []
    for i, x in enumerate(examples.dicts()):
        row: dict[str, Any] = {"x": x}
        if examples.y is not None:
            label = examples.y[i]
            row["y"] = sorted(label, key=str) if isinstance(label, set) else _plain(label)
        if examples.ids is not None and examples.ids[i]:
            row["id"] = examples.ids[i]
        if examples.sample_weight is not None:
            row["weight"] = float(examples.sample_weight[i])
        if examples.qid is not None and examples.qid[i] >= 0:
            row["qid"] = int(examples.qid[i])
        out.append(json.dumps(row, ensure_ascii=False))
    return "\n".join([*out, ""])


def table(examples: Examples, first: bool) -> str:
    to = io.StringIO()
    rows = csv.writer(to, lineterminator="\n")
    X = examples.X.toarray() if sparse.issparse(examples.X) else examples.X
    if first:
        names = examples.feature_names or [f"x{j + 1}" for j in range(X.shape[1])]
        rows.writerow([*names, *([] if examples.y is None else ["y"])])
    for values, label in zip(X.tolist(), _labels(examples), strict=True):
        if len(label) > 1:
            raise ValueError("a CSV cell holds one label; convert sets of labels to jsonl, svmlight or vw")
        rows.writerow([*map(_short, values), *([] if examples.y is None else label or [""])])
    return to.getvalue()


WRITERS: dict[str, Callable[[Examples, bool], str]] = {"svmlight": svmlight, "vw": vw, "jsonl": jsonl, "csv": table}


def _entries(examples: Examples) -> Iterator[list[tuple[int, float]]]:
    rows = sparse.csr_matrix(examples.X)
    for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        yield list(zip(rows.indices[a:b].tolist(), rows.data[a:b].tolist(), strict=True))


def _labels(examples: Examples) -> Iterator[list[Any]]:
    y = examples.y
    if y is None:
        return (list[Any]() for _ in range(len(examples)))
    if sparse.issparse(y):
        return (row.indices.tolist() for row in sparse.csr_matrix(y))
    if isinstance(y, list):
        return (sorted(labels, key=str) for labels in y)
    return ([_plain(label)] for label in y)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _short(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _number(label: Any, format: str) -> str:
    if isinstance(label, bool) or not isinstance(label, int | float):
        raise ValueError(f"{format} has numbers as labels, but there is {label!r}; convert to jsonl or csv")
    return str(label) if isinstance(label, int) else _short(label)


def _word(name: str) -> str:
    """A name without what VW would read as something else."""
    return "".join("_" if c in " \t\r\n|:" else c for c in name)
