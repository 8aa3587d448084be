"""Mail as examples: what a message says is its features, where it was filed its label.

**Words.** The chosen fields' texts are lower-cased and cut into the matches of a regular expression,
``[a-z0-9]{2,}`` unless another is given: runs of at least two ASCII letters or digits. A message is the set of its
words. Headers that name the folder are never read. Texts are decoded from their transfer encoding and character set,
parts of type text/html lose their tags, and other attachments are left out.

**Order.** Messages are sorted by their Date header as an instant (time zones count; a missing one is UTC); equal
instants keep the order of folder name and place in the folder.
"""

from __future__ import annotations

import codecs
import mailbox
import re
from calendar import timegm
from collections.abc import Iterable, Iterator, Sequence
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_tz
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .errors import DataError, OptionError
from .examples import Examples, csr

__all__ = ["GIVE_AWAY", "Filed", "Mailbox", "bag_of_words", "filed_messages", "message_words"]

LABELS = ("x-gmail-labels", "x-labels", "x-label", "x-keywords")
GIVE_AWAY = ("x-folder", "x-origin", "x-filename", "x-mozilla-keys", *LABELS)

_TAG = re.compile(r"<[^>]*>")
_ASIDE = (".msf", ".dat", ".html", ".json", ".log", ".sqlite", ".txt")


class Filed(NamedTuple):
    """A message: when, where (a folder, or a set of labels), and its words."""

    instant: float
    folder: Any
    words: list[str]


class Mailbox:
    """An mbox file, a Maildir, or a folder of either.

    A message's label is its folder: the mbox file's name, or the Maildir's. A single mbox whose messages carry
    X-Gmail-Labels, X-Labels, X-Label or X-Keywords has those, as sets.

    Parameters
    ----------
    fields : sequence of str
        What words are taken from: "body" or the name of a header.
    min_messages : int
        Folders with fewer messages are dropped.
    token : str
        The regular expression of a word, matched against lower-cased text.
    prefix : bool
        Keep the words of different fields apart, as ``subject:word``.
    """

    def __init__(
        self,
        name: str,
        skip_bad: int = 0,
        threads: int = 1,
        *,
        fields: Sequence[str] = ("from", "subject", "body"),
        min_messages: int = 1,
        token: str = r"[a-z0-9]{2,}",
        prefix: bool = True,
    ) -> None:
        self.name, self.min_messages, self.prefix = name, min_messages, prefix
        self.fields = checked_fields(fields)
        self.pattern = re.compile(token)

    def read(self) -> Examples:
        """Read all messages, oldest first."""
        filed: list[Filed] = []
        for folder, raw in _folders(Path(self.name).expanduser()):
            filed += filed_messages(folder, raw, self.fields, self.pattern, self.prefix)
        if not filed:
            raise DataError(self.name, "no mail is here: an mbox file, a Maildir, or a folder of either is read")
        if any(isinstance(message.folder, frozenset) for message in filed):
            filed = [m._replace(folder=m.folder if isinstance(m.folder, frozenset) else frozenset()) for m in filed]
        elif self.min_messages > 1:
            names, counts = np.unique([message.folder for message in filed], return_counts=True)
            kept = set(names[counts >= self.min_messages].tolist())
            filed = [message for message in filed if message.folder in kept]
        filed.sort(key=lambda message: message.instant)
        X, words = bag_of_words([message.words for message in filed])
        folders = [message.folder for message in filed]
        y = [set(labels) for labels in folders] if isinstance(folders[0], frozenset) else np.array(folders)
        return Examples(X, y, words)


def checked_fields(fields: Sequence[str]) -> list[str]:
    """Return field names in lower case; ValueError where one gives the folder away, or none is there."""
    lower = [field.lower() for field in fields]
    if not lower:
        raise OptionError("fields must name at least one of body and the headers, got none")
    for field in lower:
        if field in GIVE_AWAY:
            raise OptionError(f"the header {field!r} names the folder and cannot be a field")
    return lower


def filed_messages(
    folder: str, raw: Iterable[bytes], fields: Sequence[str], pattern: re.Pattern[str], prefix: bool
) -> list[Filed]:
    """Read the messages of one folder; a date that cannot be read is taken from the message before it."""
    filed: list[Filed] = []
    instant = 0.0
    for content in raw:
        message = message_from_bytes(content)
        labels = _labels(message)
        for header in GIVE_AWAY:
            del message[header]
        instant = _instant(message, instant)
        filed.append(Filed(instant, labels or folder, message_words(message, fields, pattern, prefix)))
    return filed


def message_words(message: Message, fields: Sequence[str], pattern: re.Pattern[str], prefix: bool) -> list[str]:
    """Return the set of a message's words, sorted.

    Parameters
    ----------
    message : email.message.Message
        The message.
    fields : sequence of str
        "body" or header names.
    pattern : re.Pattern
        What a word is.
    prefix : bool
        Whether words carry their field's name.

    Returns
    -------
    list of str
        The words, without repetition.

    Examples
    --------
    >>> message = message_from_bytes(b"Subject: Two words\\n\\nAnd two more")
    >>> message_words(message, ["subject", "body"], re.compile("[a-z]+"), prefix=False)
    ['and', 'more', 'two', 'words']
    """
    words: set[str] = set()
    for field in fields:
        text = _body(message) if field == "body" else " ".join(map(_header, message.get_all(field, [])))
        start = f"{field}:" if prefix else ""
        words.update(start + word for word in pattern.findall(text.lower()))
    return sorted(words)


def bag_of_words(rows: Iterable[Sequence[str]]) -> tuple[Any, list[str]]:
    """Return rows of words as a CSR matrix of float32 ones, and the words in order of first appearance."""
    columns: dict[str, int] = {}
    numbered = [sorted(columns.setdefault(word, len(columns)) for word in words) for words in rows]
    index = np.array([column for row in numbered for column in row], dtype=np.int32)
    start = np.cumsum([0, *map(len, numbered)])
    return csr(np.ones(index.size, dtype=np.float32), index, start, len(columns)), list(columns)


def _folders(path: Path) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the folders under a path, in alphabetical order, with their messages."""
    if path.is_file():
        yield path.name.removesuffix(".mbox"), _mbox(path)
        return
    if not path.is_dir():
        raise FileNotFoundError(2, "No such file or directory", str(path))
    yield from sorted(_below(path, path.name), key=lambda folder: folder[0])


def _below(path: Path, name: str) -> Iterator[tuple[str, Iterator[bytes]]]:
    if (path / "cur").is_dir():
        yield name, _maildir(path)
    for entry in sorted(path.iterdir()):
        inner = entry.name.lstrip(".").removesuffix(".sbd").removesuffix(".mbox")
        if entry.is_dir():
            if entry.name not in ("cur", "new", "tmp"):
                yield from _below(entry, inner)
        elif entry.suffix not in _ASIDE and is_mbox(entry):
            yield inner, _mbox(entry)


def is_mbox(path: Path) -> bool:
    """Say whether a file begins as an mbox does."""
    with open(path, "rb") as file:
        return file.read(5) == b"From "


def _mbox(path: Path) -> Iterator[bytes]:
    if path.stat().st_size and not is_mbox(path):
        raise DataError(str(path), "this is no mbox file: it does not begin with a line 'From '")
    box = mailbox.mbox(path, create=False)
    try:
        for key in box.keys():  # noqa: SIM118
            yield box.get_bytes(key)
    finally:
        box.close()


def _maildir(path: Path) -> Iterator[bytes]:
    box = mailbox.Maildir(path, create=False)
    for key in sorted(box.keys()):
        yield box.get_bytes(key)


def _labels(message: Message) -> frozenset[str]:
    found = (name for header in LABELS for value in message.get_all(header, []) for name in _header(value).split(","))
    return frozenset(name.strip() for name in found if name.strip())


def _instant(message: Message, otherwise: float) -> float:
    parsed = parsedate_tz(str(message.get("Date", "")))
    if parsed is None:
        return otherwise
    try:
        return timegm((*parsed[:6], 0, 1, 0)) - (parsed[9] or 0)
    except (ValueError, OverflowError):
        return otherwise


def _header(value: object) -> str:
    try:
        return str(make_header(decode_header(str(value))))
    except (ValueError, LookupError):
        return str(value)


def _body(message: Message) -> str:
    return " ".join(_part(part) for part in message.walk() if part.get_content_maintype() == "text")


def _part(part: Message) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    text = _decoded(payload, part.get_content_charset("ascii"))
    return _TAG.sub(" ", text) if part.get_content_subtype() == "html" else text


def _decoded(payload: bytes, charset: str) -> str:
    """Return a text; bytes that its character set has not are replaced, and ASCII that is none is read as Latin-1."""
    try:
        if codecs.lookup(charset).name == "ascii":
            charset = "latin-1"
        return payload.decode(charset, "replace")
    except (LookupError, ValueError):
        return payload.decode("latin-1")
