"""Mail folders of seven Enron users as streams of labelled messages.

**Words.** The chosen fields' texts are lower-cased and cut into the matches of a regular expression,
``[a-z0-9]{2,}`` unless another is given: runs of at least two ASCII letters or digits. A message is the
set of its words. The headers that name the folder (X-Folder, X-Origin, X-FileName) are removed before
anything is read. Texts are decoded from their transfer encoding and character set, parts of type
text/html lose their tags, and other attachments are left out.

**Order.** Messages are sorted by their Date header as an instant (time zones count; a missing one is
UTC); equal instants keep the order of folder name and place in the folder.
"""

from __future__ import annotations

import re
import tarfile
from calendar import timegm
from collections.abc import Iterable, Sequence
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_tz
from typing import NamedTuple

import numpy as np

from .bundles import Mail
from .home import data_file

USERS = ("beck-s", "farmer-d", "kaminski-v", "kitchen-l", "lokay-m", "sanders-r", "williams-w3")

_GIVE_AWAY = ("x-folder", "x-origin", "x-filename")
_SEPARATOR = re.compile(rb"^From MAILER-DAEMON[^\n]*\n", re.MULTILINE)
_TAG = re.compile(r"<[^>]*>")


class _Filed(NamedTuple):
    instant: float
    folder: str
    words: list[str]


def load_enron(
    user: str,
    fields: Sequence[str] = ("subject", "body"),
    min_messages: int = 3,
    token: str = r"[a-z0-9]{2,}",
    prefix: bool = False,
) -> Mail:
    """Load one user's mail as a stream: a binary bag of words and the folder of each message.

    Parameters
    ----------
    user : str
        One of `USERS`.
    fields : sequence of str
        What words are taken from: "body" or the name of a header, such as "subject", "from", "to", "cc".
    min_messages : int
        Folders with fewer messages are dropped.
    token : str
        The regular expression of a word, matched against lower-cased text.
    prefix : bool
        Keep the words of different fields apart, as ``subject:word``.

    Returns
    -------
    Mail
        `X` CSR of float32 ones, `y` the folder names, and the words. A word's column is given by its
        first appearance (alphabetical within a message).
    """
    fields = [field.lower() for field in fields]
    _check_fields(fields)
    pattern = re.compile(token)
    filed = [
        message
        for folder, raw in read_folders(user).items()
        if len(raw) >= min_messages
        for message in _messages(folder, raw, fields, pattern, prefix)
    ]
    filed.sort(key=lambda message: message.instant)
    return _matrix(filed)


def read_folders(user: str) -> dict[str, list[bytes]]:
    """Return a user's messages as they are stored, folder by folder in alphabetical order.

    Parameters
    ----------
    user : str
        One of `USERS`.

    Returns
    -------
    dict of str to list of bytes
        Folder name to raw messages, every folder whatever its size.
    """
    if user not in USERS:
        raise ValueError(f"unknown user {user!r}; the users are {', '.join(USERS)}")
    folders: dict[str, list[bytes]] = {}
    with tarfile.open(data_file("enron-folders", f"{user}.tar.xz")) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None:
                name = member.name.rpartition("/")[2]
                folders[name] = _SEPARATOR.split(content.read())[1:]
    return dict(sorted(folders.items()))


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


def _messages(
    folder: str, raw: Iterable[bytes], fields: Sequence[str], pattern: re.Pattern[str], prefix: bool
) -> list[_Filed]:
    filed: list[_Filed] = []
    instant = 0.0
    for content in raw:
        message = message_from_bytes(content)
        for header in _GIVE_AWAY:
            del message[header]
        # a date that cannot be read is taken from the message before it in its folder
        instant = _instant(message, instant)
        filed.append(_Filed(instant, folder, message_words(message, fields, pattern, prefix)))
    return filed


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
    charset = part.get_content_charset("ascii")
    try:
        text = payload.decode(charset)
    except (LookupError, UnicodeDecodeError):
        text = payload.decode("latin-1")
    return _TAG.sub(" ", text) if part.get_content_subtype() == "html" else text


def _matrix(filed: list[_Filed]) -> Mail:
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped, unused-ignore]

    columns: dict[str, int] = {}
    rows = [sorted(columns.setdefault(word, len(columns)) for word in message.words) for message in filed]
    indices = np.array([column for row in rows for column in row], dtype=np.int32)
    indptr = np.cumsum([0, *map(len, rows)])
    ones = np.ones(indices.size, dtype=np.float32)
    matrix = csr_matrix((ones, indices, indptr), shape=(len(rows), len(columns)))
    return Mail(matrix, np.array([message.folder for message in filed]), list(columns))


def _check_fields(fields: Sequence[str]) -> None:
    if not fields:
        raise ValueError("fields must name at least one of body and the headers, got none")
    for field in fields:
        if field in _GIVE_AWAY:
            raise ValueError(f"the header {field!r} names the folder and cannot be a field")
