"""Files in: every common text format of labelled examples, tables, and mail.

========== ============================================================== =================
format     what                                                           suffix
========== ============================================================== =================
svmlight   svmlight, libsvm, LETOR: one or several labels, qid, comments  .svm .libsvm ..
vw         VW text: labels, label sets, costs; namespaces                 .vw
jsonl      one JSON object a line, with x, y, id, weight, qid             .jsonl .ndjson
csv, tsv   tables of text                                                 .csv .tsv
arff       dense or sparse, with Mulan's XML or MEKA's -C n               .arff
parquet    tables, through pyarrow                                        .parquet
mail       an mbox file, a Maildir, or a folder of either                 .mbox, a folder
========== ============================================================== =================

Sources are paths, ``-`` for standard input, or file objects; gz, bz2, xz and zst are found by what they begin with.
What cannot be read is a `DataError` that names the line and the column.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

from .arff import Arff
from .errors import BadLine, DataError, OptionError
from .examples import Examples
from .mail import Mailbox, is_mbox
from .sources import BLOCK, COMPRESSED, Source, blocks, name_of, whole
from .tables import Csv, Parquet, Tsv
from .text import Jsonl, Svmlight, Vw

__all__ = ["FORMATS", "BadLine", "DataError", "Examples", "OptionError", "format_of", "read", "stream"]

FORMATS: dict[str, Any] = {
    "svmlight": Svmlight,
    "vw": Vw,
    "jsonl": Jsonl,
    "csv": Csv,
    "tsv": Tsv,
    "arff": Arff,
    "parquet": Parquet,
    "mail": Mailbox,
}
SUFFIXES = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".letor": "svmlight",
    ".vw": "vw",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".arff": "arff",
    ".parquet": "parquet",
    ".mbox": "mail",
}
ROWS = 8192  # of a table or a mailbox that are handed on at once when streaming


def read(source: Source, format: str | None = None, *, skip_bad: int = 0, threads: int = 1, **options: Any) -> Examples:
    """Read a whole file.

    Parameters
    ----------
    source : path-like, ``"-"``, or file object
        Compressed or not.
    format : str, optional
        One of `FORMATS`; by default what the name's suffix says.
    skip_bad : int, default=0
        How many bad lines are left out (and listed in ``skipped``) before one is an error.
    threads : int, default=1
        That parse a large file; the result does not depend on it.
    **options
        Of the format: `hinge.io.text.Lines` (labels, n_bits, n_features), `hinge.io.text.Svmlight` (zero_based),
        `hinge.io.tables.Csv` and `hinge.io.tables.Roles` (target, header, delimiter, qid, weight, id, ignore),
        `hinge.io.arff.Arff` (xml, target), `hinge.io.mail.Mailbox` (fields, min_messages, token, prefix).

    Returns
    -------
    Examples

    Raises
    ------
    DataError
        Where the content cannot be read; it names the line and the column.

    Examples
    --------
    >>> import io
    >>> from hinge.io import read
    >>> examples = read(io.StringIO("2,5 qid:7 1:0.5 3:2\\n1 2:1 # note\\n"), "svmlight")
    >>> examples.X.toarray().tolist(), examples.y, examples.qid.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [{2, 5}, {1}], [7, -1])
    >>> read(io.StringIO("1 1:0.5\\n1 2:x\\n"), "svmlight")
    Traceback (most recent call last):
    hinge.io.errors.DataError: <file>:2:5: feature value 'x' is not a number
    1 2:x
        ^
    Mend this line, or leave it out with skip_bad=1 (--skip-bad 1).
    """
    reader = _reader(source, format, skip_bad, threads, options)
    if isinstance(reader, Mailbox):
        return reader.read()
    if isinstance(reader, Parquet):
        (table,) = reader.blocks(source)
        return table
    return reader.parse(whole(source), True)[1]


def stream(
    source: Source,
    format: str | None = None,
    *,
    skip_bad: int = 0,
    threads: int = 1,
    block: int | None = None,
    live: bool = False,
    **options: Any,
) -> Iterator[Examples]:
    """Read a file in blocks, so that a large one takes little memory.

    `X` may grow wider from block to block, as features appear; the columns never move. Mail is sorted by date, for
    which its words are held in memory.

    Parameters
    ----------
    source, format, skip_bad, threads, **options
        As for `read`.
    block : int, optional
        Bytes of text that are parsed at once: by default 1 MiB; 8 of a table, whose columns the first block settles.
    live : bool, default=False
        Hand on the lines that a pipe has said so far, instead of waiting for a whole block of them.

    Yields
    ------
    Examples
        Those that hold rows, in order.

    Examples
    --------
    >>> import io
    >>> from hinge.io import stream
    >>> [part.X.shape for part in stream(io.StringIO("1 1:1\\n2 7:1\\n1 2:1\\n"), "svmlight", block=8)]
    [(1, 1), (1, 7), (1, 2)]
    """
    reader = _reader(source, format, skip_bad, threads, options)
    return _stream(reader, source, block, live)


def _stream(reader: Any, source: Source, block: int | None, live: bool) -> Iterator[Examples]:
    if isinstance(reader, Mailbox):
        mail = reader.read()
        for start in range(0, len(mail), ROWS):
            yield mail.take(slice(start, start + ROWS))
        return
    if isinstance(reader, Parquet):
        yield from reader.blocks(source, ROWS)
        return
    rest = b""
    usual = 8 * BLOCK if isinstance(reader, Csv) else BLOCK
    for data, last in blocks(source, block or usual, live):
        text = rest + data if rest else data
        taken, examples = reader.parse(text, last)
        rest = text[taken:]
        if len(examples):
            yield examples


def format_of(source: Source) -> str:
    """Return the format that a source's name says: its suffix, before one of compression; a folder is mail, and so is a
    file without a known suffix that begins as an mbox does.

    Examples
    --------
    >>> format_of("a/train.svm.xz")
    'svmlight'
    """
    name = name_of(source)
    if os.path.isdir(os.path.expanduser(name)):
        return "mail"
    path = PurePath(name)
    while path.suffix in COMPRESSED:
        path = path.with_suffix("")
    if path.suffix.lower() not in SUFFIXES:
        if os.path.isfile(name) and is_mbox(Path(name)):
            return "mail"
        known = ", ".join(FORMATS)
        raise OptionError(f"{name}: the name does not say what format this is; give one of {known}")
    return SUFFIXES[path.suffix.lower()]


def _reader(source: Source, format: str | None, skip_bad: int, threads: int, options: dict[str, Any]) -> Any:
    if skip_bad < 0:
        raise OptionError(f"skip_bad must not be negative, got {skip_bad!r}")
    chosen = format or format_of(source)
    if chosen not in FORMATS:
        raise OptionError(f"unknown format {chosen!r}; the formats are {', '.join(FORMATS)}")
    known = options_of(chosen)
    for option in options:
        if option not in known:
            raise OptionError(f"{chosen} has no option {option!r}; it has {', '.join(known)}")
    return FORMATS[chosen](name_of(source), skip_bad, threads, **options)


def options_of(format: str) -> list[str]:
    """Return the names of a format's options."""
    from .tables import Roles
    from .text import Lines

    kind = FORMATS[format]
    found = [kind, *([Lines] if issubclass(kind, Lines) else []), *([Roles] if issubclass(kind, Csv | Parquet) else [])]
    names = {
        name: parameter.kind
        for one in found
        for name, parameter in inspect.signature(one).parameters.items()
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    }
    return [name for name in names if name not in ("name", "skip_bad", "threads")]
