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

from hinge import LabelRanker, __version__
from hinge.datasets import ENRON_USERS, Mail, data_home, load_enron

UPDATES = ("fixed", "single", "full")
GEOMETRIES = ("euclidean", "entropic")
FIELDS, TOKEN = ("from", "subject", "body"), "[a-z0-9]{2,}"
ENTROPY_C, ENTROPY_MARGIN = 0.5, 0.002
NEVER_BINDS = 1e6  # squared norm: the margin only sets the scale, and so does C for the fixed update

# Shalev-Shwartz and Singer: folders, messages, and mistakes in per cent (squared norm I II III, entropy I II III).
PAPER = {
    "beck-s": (101, 1971, (58.5, 55.2, 51.9, 54.0, 50.2, 47.1)),
    "farmer-d": (25, 3672, (29.5, 23.3, 22.7, 27.6, 22.6, 22.0)),
    "kaminski-v": (41, 4477, (50.2, 44.5, 41.9, 46.7, 42.9, 40.0)),
    "kitchen-l": (47, 4015, (48.2, 41.9, 40.4, 41.9, 38.3, 36.0)),
    "lokay-m": (11, 2489, (24.9, 19.1, 18.4, 24.0, 18.7, 18.2)),
    "sanders-r": (30, 1188, (31.7, 28.3, 27.2, 28.3, 24.2, 23.4)),
    "williams-w3": (18, 2769, (5.0, 4.5, 4.4, 4.2, 3.4, 3.1)),
}

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


def mistakes(mail: Mail, update: str, geometry: str, C: float, margin: float | None) -> float:
    """Return the per cent of messages that were filed wrongly before they were learned."""
    ranker = LabelRanker(update=update, geometry=geometry, C=C, margin=margin, fit_intercept=False)
    ranker.partial_fit(mail.X, mail.y, classes=np.unique(mail.y))
    return 100 * ranker.certificate_.mistakes / ranker.t_


def six(mail: Mail, C: float = ENTROPY_C, margin: float = ENTROPY_MARGIN) -> list[float]:
    """Return the mistakes of squared norm I, II, III and of entropy I, II, III."""
    squared = [mistakes(mail, update, "euclidean", NEVER_BINDS, None) for update in UPDATES]
    return squared + [mistakes(mail, update, "entropic", C, margin) for update in UPDATES]


def in_order(figures: Sequence[float]) -> bool:
    """Say whether the mistakes fall from fixed to single to full, and from squared norm to entropy."""
    squared, entropy = figures[:3], figures[3:]
    falls = all(a > b for side in (squared, entropy) for a, b in itertools.pairwise(side))
    return falls and all(a > b for a, b in zip(squared, entropy, strict=True))


def reproduce(users: Sequence[str]) -> None:
    names = [f"{geometry} {number}" for geometry in ("sq.", "ent.") for number in ("I", "II", "III")]
    columns = [("user", ""), ("folders", ""), ("messages", ""), *((name, "") for name in names), ("as expected", "")]
    table = Table("Mistakes in per cent, the paper's in brackets", columns)
    ours, theirs = [], []
    for user in users:
        folders, messages, published = PAPER[user]
        mail = load_enron(user, fields=FIELDS, token=TOKEN)
        figures = six(mail)
        ours.append(figures)
        theirs.append(published)
        cells = [f"{a:.1f} ({b:.1f})" for a, b in zip(figures, published, strict=True)]
        counts = f"{np.unique(mail.y).size} ({folders})", f"{mail.X.shape[0]} ({messages})"
        table.add(user, *counts, *cells, "yes" if in_order(figures) else "no")
    means = [f"{a:.1f} ({b:.1f})" for a, b in zip(np.mean(ours, axis=0), np.mean(theirs, axis=0), strict=True)]
    table.add("mean", "", "", *means, "yes" if in_order(np.mean(ours, axis=0)) else "no")
    table.note(f"words of {', '.join(FIELDS)}, lower case, {TOKEN}; binary; no intercept; all folders known beforehand")
    table.note(f"entropy: C={ENTROPY_C:g}, margin={ENTROPY_MARGIN:g}; squared norm: margin 1 and a C that never binds")
    table.note("as expected: each row falls from I to II to III, and entropy is below the squared norm in each of them")
    table.show()


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
