"""Seven users' mail folders, learned online by six label rankers, beside the figures of the paper.

    python benchmarks/enron.py [--users beck-s ..] [--sweep]

A message is the binary bag of the words of its sender line, subject and body; folders with fewer than three messages
are dropped; messages come in the order of their dates. docs/design/enron.md says how the settings were chosen.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Sequence

import numpy as np
from tables import Table

from hinge import __version__
from hinge.datasets import ENRON_USERS, data_home, load_enron
from hinge.reproduce.enron import FIELDS, NEVER_BINDS, PAPER, TOKEN, UPDATES, in_order, mistakes, run

HEADERS = (
    *("message-id", "date", "from", "to", "subject", "cc", "mime-version", "content-type"),
    *("x-from", "x-to", "x-cc", "x-bcc", "body"),
)
TOKENS = {
    "subject, body": {"fields": ("subject", "body")},
    "subject, body; letters only": {"fields": ("subject", "body"), "token": "[a-z]{2,}"},
    "subject, body; three characters": {"fields": ("subject", "body"), "token": "[a-z0-9]{3,}"},
    "subject, body; split at spaces": {"fields": ("subject", "body"), "token": r"\S+"},
    "body": {"fields": ("body",)},
    "from, subject, body": {"fields": FIELDS},
    "from, to, cc, subject, body": {"fields": ("from", "to", "cc", "subject", "body")},
    "from, to, cc, subject, body; each apart": {"fields": ("from", "to", "cc", "subject", "body"), "prefix": True},
    "from, to, cc, subject, body; split at spaces": {
        "fields": ("from", "to", "cc", "subject", "body"),
        "token": r"\S+",
    },
    "every header but those that name the folder, body": {"fields": HEADERS},
}


def reproduce(users: Sequence[str]) -> None:
    """Print the table of `hinge reproduce enron`."""
    for found in run(lambda by, note: None, users):
        Table.of(found).show()


def sweep(users: Sequence[str]) -> None:
    """Print what the choice of words, C and margin does to the means over the users."""
    published = np.array([PAPER[user][2] for user in users])
    table = Table("Squared norm, by what a word is; means over the users", [("words", ""), *_columns()])
    for name, words in TOKENS.items():
        mails = [load_enron(user, **words) for user in users]
        rows = [[mistakes(mail, update, "euclidean", NEVER_BINDS, None) for update in UPDATES] for mail in mails]
        table.add(name, *np.mean(rows, axis=0), float(np.abs(np.array(rows) - published[:, :3]).mean()))
    table.add("the paper", *published[:, :3].mean(axis=0), 0.0)
    table.show()

    mails = [load_enron(user, fields=FIELDS, token=TOKEN) for user in users]
    squared = [[mistakes(mail, update, "euclidean", NEVER_BINDS, None) for update in UPDATES] for mail in mails]
    orders = [("users whose row is as expected", ".0f")]
    table = Table("Entropy, by margin and C; means over the users", [("margin, C", ""), *_columns(), *orders])
    for margin, C in itertools.product((0.001, 0.002, 0.005, 0.01), (0.25, 0.5, 1.0, 2.0)):
        rows = [[mistakes(mail, update, "entropic", C, margin) for update in UPDATES] for mail in mails]
        away = float(np.abs(np.array(rows) - published[:, 3:]).mean())
        expected = sum(in_order(a + b) for a, b in zip(squared, rows, strict=True))
        table.add(f"{margin:g}, {C:g}", *np.mean(rows, axis=0), away, expected)
    table.add("the paper", *published[:, 3:].mean(axis=0), 0.0, len(users))
    table.show()


def _columns() -> list[tuple[str, str]]:
    return [("I", ".1f"), ("II", ".1f"), ("III", ".1f"), ("mean distance from the paper", ".2f")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", nargs="+", choices=ENRON_USERS, default=list(ENRON_USERS), metavar="USER")
    parser.add_argument("--sweep", action="store_true", help="other words, C and margins too (a few minutes)")
    arguments = parser.parse_args()
    start = time.perf_counter()
    try:
        data_home()
    except FileNotFoundError as missing:
        print(f"The mailboxes beside the paper: {missing}")
        return
    reproduce(arguments.users)
    if arguments.sweep:
        sweep(arguments.users)
    print(f"hinge {__version__}, {time.perf_counter() - start:.0f} seconds")


if __name__ == "__main__":
    main()
