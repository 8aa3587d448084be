"""Reuters-21578: newswire of 1987 and its topics, from the files as they were published."""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from math import log2

import numpy as np

from .bundles import MultiLabel
from .home import data_file

_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
_NAME = re.compile(r"<D>(.*?)</D>")
_TEXT = re.compile(r"<(?:TITLE|BODY)>(.*?)</(?:TITLE|BODY)>", re.DOTALL)
_ENTITY = re.compile(r"&[#\w]+;")
_WORD = re.compile(r"[a-z]{2,}")


def load_reuters21578() -> MultiLabel:
    """Load the documents of Reuters-21578 that have a topic, in the order of their numbers.

    A feature is ``log2(1 + count)`` of a word, which is two or more letters of title or body, lower-cased.

    Returns
    -------
    MultiLabel
        `X` (11367, 30032) CSR of float32 and `Y` (11367, 120) CSR; the words in the order in which they appear, the
        topics from the most to the least frequent.
    """
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped, unused-ignore]

    columns: dict[str, int] = {}
    counts: list[dict[int, int]] = []
    topics: list[list[str]] = []
    for text, named in _documents():
        counts.append(Counter(columns.setdefault(word, len(columns)) for word in _WORD.findall(text)))
        topics.append(named)
    start = np.cumsum([0, *map(len, counts)])
    index = np.array([column for row in counts for column in row], dtype=np.int32)
    value = np.array([log2(1 + count) for row in counts for count in row.values()], dtype=np.float32)
    X = csr_matrix((value, index, start), shape=(len(counts), len(columns)))
    X.sort_indices()
    names = [name for name, _ in Counter(name for row in topics for name in row).most_common()]
    Y = csr_matrix([[name in row for name in names] for row in topics], dtype=np.int8)
    return MultiLabel(X, Y, list(columns), names)


def _documents() -> Iterator[tuple[str, list[str]]]:
    """Yield the text and the topics of each document that has any."""
    with tarfile.open(data_file("reuters21578", "reuters21578.tar.xz")) as archive:
        for member in sorted((m for m in archive if m.name.endswith(".sgm")), key=lambda m: m.name):
            file = archive.extractfile(member)
            if file is None:
                continue
            for document in file.read().decode("latin-1").split("</REUTERS>"):
                named = _NAME.findall("".join(_TOPICS.findall(document)))
                if named:
                    yield _ENTITY.sub(" ", " ".join(_TEXT.findall(document))).lower(), named
