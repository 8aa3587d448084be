"""Mail folders of seven Enron users as streams of labelled messages.

Words and order are those of `hinge.io.mail`.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Sequence

import numpy as np

from hinge.io.mail import bag_of_words, checked_fields, filed_messages

from .bundles import Mail
from .home import data_file

USERS = ("beck-s", "farmer-d", "kaminski-v", "kitchen-l", "lokay-m", "sanders-r", "williams-w3")

_SEPARATOR = re.compile(rb"^From MAILER-DAEMON[^\n]*\n", re.MULTILINE)


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
    fields = checked_fields(fields)
    pattern = re.compile(token)
    filed = [
        message
        for folder, raw in read_folders(user).items()
        if len(raw) >= min_messages
        for message in filed_messages(folder, raw, fields, pattern, prefix)
    ]
    filed.sort(key=lambda message: message.instant)
    X, words = bag_of_words([message.words for message in filed])
    return Mail(X, np.array([message.folder for message in filed]), words)


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
