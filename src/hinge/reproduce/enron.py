"""Seven users' mail folders, learned online by six label rankers, beside the figures of the paper.

A message is the binary bag of the words of its sender line, subject and body; folders with fewer than three messages
are dropped; messages come in the order of their dates. docs/design/enron.md says how the settings were chosen.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from hinge import LabelRanker
from hinge.datasets import ENRON_USERS, Mail, load_enron

from .tables import Table, beside

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


def run(advance: Callable[[int, str], None], users: Sequence[str] = ENRON_USERS) -> list[Table]:
    """Return the mistakes in per cent."""
    names = [f"{geometry} {number}" for geometry in ("sq.", "ent.") for number in ("I", "II", "III")]
    table = Table(
        "Mistakes in per cent, the paper's in brackets", ["user", "folders", "messages", *names, "as expected"]
    )
    ours, theirs = [], []
    for user in [users] if isinstance(users, str) else users:
        folders, messages, published = PAPER[user]
        mail = load_enron(user, fields=FIELDS, token=TOKEN)
        figures = six(mail)
        ours.append(figures)
        theirs.append(published)
        counts = [f"{np.unique(mail.y).size} ({folders})", f"{mail.X.shape[0]} ({messages})"]
        table.rows.append([user, *counts, *_cells(figures, published)])
        advance(1, user)
    table.rows.append(["mean", "", "", *_cells(np.mean(ours, axis=0).tolist(), np.mean(theirs, axis=0).tolist())])
    table.notes = [
        f"words of {', '.join(FIELDS)}, lower case, {TOKEN}; binary; no intercept; all folders known beforehand",
        f"entropy: C={ENTROPY_C:g}, margin={ENTROPY_MARGIN:g}; squared norm: margin 1 and a C that never binds",
        "as expected: each row falls from I to II to III, and entropy is below the squared norm in each of them",
    ]
    return [table]


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


def _cells(ours: Sequence[float], published: Sequence[float]) -> list[str]:
    figures = [beside(a, b) for a, b in zip(ours, published, strict=True)]
    return [*figures, "yes" if in_order(ours) else "no"]
