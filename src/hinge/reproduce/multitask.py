"""Parallel tasks: topics as tasks under a shared loss, and output codes (Dekel, Long and Singer).

The paper's stream is the whole of RCV1, 804,414 documents with log2(1 + count) features and C = 1e-3, and five of its
meta-topics for the codes. At hand are five subsets of it, tf-idf of unit length, which are averaged, and Reuters-21578
with the paper's features. Errors are those of each round before it is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import MultiLabelBinarizer

from hinge import MultitaskClassifier, OutputCodeClassifier, progressive
from hinge.datasets import MultiLabel, load_rcv1_subset, load_reuters21578
from hinge.io import read
from hinge.norms import RMax

from .tables import OptionError, Table, asked_for

Array = np.ndarray[Any, np.dtype[Any]]
Advance = Callable[[int, str], None]

NAMES = {"linf": "L-infinity", "l2": "L2", "l1": "L1"}
UPDATES = ("implicit", "finite")
UNIT_C, COUNT_C = 0.1, 1e-3  # for instances of unit length, and for log counts
FREQUENT = 20  # documents that a topic of Reuters-21578 has at least
CODES = (("one-vs-rest", 1), ("one-vs-rest", 5), *(("hadamard", r) for r in range(1, 16)))  # with the r of r-max
DRAWN = (1, 4, 8, 15)  # r of Hadamard's code
POINTS = 400  # of a curve, whose first fiftieth is left out


class Source(NamedTuple):
    """Documents X and their topics Y, an indicator, in parts that are averaged."""

    name: str
    C: float
    parts: list[tuple[Any, Array]]

    def __str__(self) -> str:
        X, Y = self.parts[0]
        return f"{self.name}, {X.shape[0]:,} documents, {Y.shape[1]} topics, C = {self.C:g}"


class Claim(NamedTuple):
    """What the paper says, on what it was tried here, what came out, and whether that is what it says."""

    published: str
    where: str
    here: str
    holds: bool


@cache
def reuters() -> MultiLabel:
    """Read Reuters-21578 once a process."""
    return load_reuters21578()


def topic_sources(data: str | None, C: float | None, subsets: int, rows: int | None) -> list[Source]:
    """Return the documents of a file, or those of the subsets of RCV1 and of Reuters-21578."""
    unit_C, count_C = (UNIT_C, COUNT_C) if C is None else (C, C)
    if data is not None:
        found = read(data, labels="sets")
        Y = MultiLabelBinarizer(sparse_output=True).fit_transform(found.y).astype(np.int8).toarray()
        return [Source(Path(data).name, count_C, [_first(rows, found.X.astype(np.float32), Y)])]
    parts = []
    for subset in range(1, subsets + 1):
        documents = load_rcv1_subset(subset)
        parts.append(_first(rows, documents.X.astype(np.float32), documents.Y.toarray()))
    name = "RCV1 subset 1" if subsets == 1 else f"{subsets} subsets of RCV1"
    Y = reuters().Y.toarray()
    frequent = Y[:, Y.sum(axis=0) >= FREQUENT]
    return [
        Source(name, unit_C, parts),
        Source("Reuters-21578", count_C, [_first(rows, reuters().X, frequent)]),
    ]


def five_classes() -> tuple[Any, Array]:
    """Return the documents of Reuters-21578 that have exactly one of its five most frequent topics, and which."""
    Y = reuters().Y[:, :5].toarray()  # topics stand by falling frequency
    kept = np.flatnonzero(Y.sum(axis=1) == 1)
    return reuters().X[kept], np.array(reuters().label_names)[Y[kept].argmax(axis=1)]


def _first(rows: int | None, X: Any, Y: Array) -> tuple[Any, Array]:
    return X[:rows], Y[:rows]


def online_errors(source: Source, advance: Advance, norm: str, update: str = "implicit") -> tuple[Array, Array]:
    """Return the infinity-error and the 1-error of every round, means over the parts of a source."""
    runs = []
    for X, Y in source.parts:
        learner = MultitaskClassifier(norm, update, C=source.C, fit_intercept=False)
        curve = progressive(learner, X, Y, classes=[0, 1], every=1).curve
        runs.append(np.array([curve["error"], curve["task_errors"] / Y.shape[1]]))
        advance(1, f"{source.name}, {norm} {update}")
    rounds = min(run.shape[1] for run in runs)
    infinity, one = np.mean([run[:, :rounds] for run in runs], axis=0)
    return infinity, one


def code_errors(code: str, r: int, C: float, X: Any, y: Array, classes: Array) -> tuple[Array, Array]:
    """Return, for every round, whether the label is wrong and whether any bit of its codeword is."""
    learner = OutputCodeClassifier(code, RMax(r), C=C, fit_intercept=False)
    curve = progressive(learner, X, y, classes=classes, every=1).curve
    return curve["error"], curve["task_errors"] > 0


def so_far(errors: Array) -> Array:
    """Return the means of the errors up to every round, in per cent.

    Examples
    --------
    >>> so_far(np.array([1.0, 0.0])).tolist()
    [100.0, 50.0]
    """
    return np.asarray(100 * np.cumsum(errors) / np.arange(1, errors.size + 1))


def doubling(rounds: int) -> list[int]:
    """Return six numbers of rounds, each twice the one before.

    Examples
    --------
    >>> doubling(6000)
    [187, 375, 750, 1500, 3000, 6000]
    """
    return [max(1, rounds >> i) for i in range(5, -1, -1)]


def figure(title: str, first: str, lines: dict[str, Array]) -> Table:
    """Return errors so far at rounds that double, and as curves."""
    rounds = next(iter(lines.values())).size
    table = Table(title, [first, *(f"{n:,}" for n in doubling(rounds))], axis="documents")
    shown = np.unique(np.linspace(rounds // 50, rounds - 1, POINTS).astype(int))
    for name, line in lines.items():
        table.rows.append([name, *(f"{line[n - 1]:.2f}" for n in doubling(rounds))])
        table.curves.append((name, (shown + 1.0).tolist(), line[shown].tolist()))
    return table


def beside_the_paper(title: str, claims: Sequence[Claim]) -> Table:
    """Return what the paper says beside what came out."""
    rows = [[*claim[:-1], "yes" if claim.holds else "no"] for claim in claims]
    brackets = "what stands in brackets was published too, and is not what the last column judges"
    notes = [brackets] if any("(" in claim.published for claim in claims) else []
    return Table(title, ["published", "on", "here, %", "as published"], rows, notes)


def norms(sources: Sequence[Source], advance: Advance) -> list[Table]:
    """Compare L-infinity with L1 under the implicit update."""
    tables, claims = [], []
    for source in sources:
        runs = [online_errors(source, advance, norm) for norm in ("linf", "l1")]
        (worst, mean), (worst1, mean1) = [[so_far(errors) for errors in run] for run in runs]
        tables += [
            figure(f"Infinity-error, %: {source}", "norm", {"L-infinity": worst, "L1": worst1}),
            figure(f"1-error, %: {source}", "norm", {"L-infinity": mean, "L1": mean1}),
        ]
        early = doubling(worst.size)[0] - 1
        lead = worst1 - worst
        claims += [
            _below("infinity-error: L-infinity below L1 (by 3 points)", source, worst[-1], worst1[-1]),
            _below("its lead at the end below its lead at first", source, lead[-1], lead[early]),
            _below("1-error: L-infinity below L1 at first", source, mean[early], mean1[early]),
            _below("1-error: L1 below L-infinity at the end (by .05 points)", source, mean1[-1], mean[-1]),
        ]
    return [*tables, beside_the_paper("L-infinity against L1, beside the paper", claims)]


def updates(sources: Sequence[Source], advance: Advance) -> list[Table]:
    """Compare the implicit update with the finite horizon."""
    tables, claims = [], []
    for source in sources:
        lines = {
            (norm, update): so_far(online_errors(source, advance, norm, update)[0])
            for norm in NAMES
            for update in UPDATES
        }
        named = {f"{NAMES[norm]}, {update}": line for (norm, update), line in lines.items()}
        tables.append(figure(f"Infinity-error of both updates, %: {source}", "norm, update", named))
        claims += [_leads(norm, source, *(lines[norm, update] for update in UPDATES)) for norm in NAMES]
    table = beside_the_paper("Implicit against finite horizon, beside the paper", claims)
    table.notes.append("it leads where it is below at the end, and not above at any of the numbers of documents shown")
    return [*tables, table]


def codes(advance: Advance, C: float | None, rows: int | None) -> list[Table]:
    """Compare r-max over the 15 columns of Hadamard's code for five classes, and one-vs-rest."""
    C = COUNT_C if C is None else C
    X, y = five_classes()
    classes = np.unique(y)
    X, y = X[:rows], y[:rows]
    lines, wrong = {}, {}
    for code, r in CODES:
        label, codeword = code_errors(code, r, C, X, y, classes)
        lines[code, r], wrong[code, r] = so_far(label), 100 * float(codeword.mean())
        advance(1, f"{code}, r = {r}")
    counts = ", ".join(f"{name} {count:,}" for name, count in zip(*np.unique(y, return_counts=True), strict=True))
    title = f"Output codes, error in %: Reuters-21578, {y.size:,} documents, five topics, C = {C:g}"
    table = figure(title, "code", {f"{code}, r = {r}": line for (code, r), line in lines.items()})
    table.head.append("codeword")
    for row, error in zip(table.rows, wrong.values(), strict=True):
        row.append(f"{error:.2f}")
    kept = [code != "hadamard" or r in DRAWN for code, r in CODES]
    table.curves = [curve for curve, drawn in zip(table.curves, kept, strict=True) if drawn]
    table.notes = [
        "r of r-max; r = 1 is L-infinity, all columns L1; codeword: the rounds in which any of its bits is wrong",
        f"the meta-topics of RCV1 are not named in the subsets, so these are other five: {counts}",
    ]
    return [table, beside_the_paper("Output codes, beside the paper", _about_codes(lines, wrong))]


def _about_codes(lines: dict[tuple[str, int], Array], wrong: dict[tuple[str, int], float]) -> list[Claim]:
    ends = {r: float(line[-1]) for (code, r), line in lines.items() if code == "hadamard"}
    simple = min(float(line[-1]) for (code, _), line in lines.items() if code == "one-vs-rest")
    best = min(ends, key=lambda r: ends[r])
    rarest = min(ends, key=lambda r: wrong["hadamard", r])
    where = "Reuters-21578"
    return [
        Claim("the least error is at r = 3 or 4 (near 5 %)", where, f"r = {best}, {ends[best]:.2f}", best in (3, 4)),
        Claim(
            "it is below one-vs-rest (near 8 %)", where, f"{ends[best]:.2f} and {simple:.2f}", bool(ends[best] < simple)
        ),
        Claim(
            "the fewest codewords with a wrong bit are at r = 1",
            where,
            f"r = {rarest}, {wrong['hadamard', rarest]:.2f}",
            rarest == 1,
        ),
    ]


def _leads(norm: str, source: Source, implicit: Array, finite: Array) -> Claim:
    shown = np.array(doubling(implicit.size)) - 1
    throughout = implicit[-1] < finite[-1] and bool(np.all(implicit[shown] <= finite[shown]))
    here = f"{implicit[-1]:.2f} and {finite[-1]:.2f}"
    return Claim(f"{NAMES[norm]}: the implicit update leads throughout", source.name, here, throughout)


def _below(published: str, source: Source, less: float, more: float) -> Claim:
    return Claim(published, source.name, f"{less:.2f} and {more:.2f}", bool(less < more))


COMPARISONS = {"norms": norms, "updates": updates}
PARTS = ("norms", "codes", "updates")


def run(
    advance: Advance,
    only: str | Sequence[str] = PARTS,
    data: str | None = None,
    C: float | None = None,
    subsets: int = 5,
    rows: int | None = None,
) -> list[Table]:
    """Return the tables of the paper's three comparisons.

    `data` is a file of documents in svmlight multi-label form, such as the whole of RCV1, for the first and the last of
    them, in place of `subsets` of it and of Reuters-21578; `rows` are the most documents of each that are learned.
    """
    asked = asked_for(only, PARTS)
    if subsets not in range(1, 6):
        raise OptionError(f"subsets must be 1, 2, 3, 4 or 5, got {subsets!r}")
    sources = topic_sources(data, C, subsets, rows) if COMPARISONS.keys() & set(asked) else []
    tables: list[Table] = []
    for name in asked:
        tables += codes(advance, C, rows) if name == "codes" else COMPARISONS[name](sources, advance)
    return tables
