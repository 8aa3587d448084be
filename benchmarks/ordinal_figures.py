"""Draw the two figures of the paper on interval labels (PRIL), and print them as tables.

    python benchmarks/ordinal_figures.py [--runs 100] [--out folder] [--jobs 2]

Three streams: the synthetic one (kernel (<a,b>+1)^2, a new draw a run), Parkinsons (linear) and Abalone
(kernel (<a,b>+1)^3), the last two in a new order a run. Both types of intervals.

`ordinal_intervals.png`: average L_MAE against rounds, with 60 to 100 per cent of the labels intervals.
`ordinal_baselines.png`: PRIL learns from 75 per cent intervals and is judged on the exact labels, beside PRank,
Widrow-Hoff and the multiclass Perceptron, which learn from the exact labels; also PRIL with its average and with the
sqrt step. The baselines and the average have no kernel; they get its monomials as features, so that all see the same
space.

Lines are means over the runs, bands one standard deviation of a run on either side.
"""

from __future__ import annotations

import os

for variable in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import argparse  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterable, Sequence  # noqa: E402
from concurrent.futures import ProcessPoolExecutor  # noqa: E402
from functools import cache  # noqa: E402
from itertools import combinations_with_replacement  # noqa: E402
from math import factorial, prod, sqrt  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
from tables import Table  # noqa: E402

from hinge import MulticlassPerceptron, OrdinalClassifier, PRank, WidrowHoffClassifier, progressive  # noqa: E402
from hinge.datasets.ordinal import interval_labels, load_abalone, load_parkinsons, synthetic_ordinal  # noqa: E402

Array = np.ndarray[Any, np.dtype[Any]]

SHARES = (0.6, 0.7, 0.8, 0.9, 1.0)
POINTS = 100  # of a line
OURS: dict[str, dict[str, Any]] = {
    "PRIL on intervals": {},
    "PRIL, averaged": {"average": True},
    "PRIL, sqrt step": {"step": "sqrt"},
}
LEARNERS = (*OURS, "PRank", "Widrow-Hoff", "multiclass Perceptron", "always the median")


class Task(NamedTuple):
    """One line of one run."""

    stream: str
    kind: int
    line: str
    run: int
    rounds: int


class Stream(NamedTuple):
    """Rows, exact classes, how many there are, and the degree of the kernel; 1 is none."""

    X: Array
    y: Array
    classes: int
    degree: int


@cache
def table_of(name: str) -> tuple[Array, Array]:
    """Read a data set once a process."""
    return load_parkinsons() if name == "Parkinsons" else load_abalone()


def stream_of(task: Task) -> Stream:
    """Draw the stream of a run: the same for every line of it."""
    if task.stream == "synthetic":
        X, y = synthetic_ordinal(task.rounds, seed=task.run)
        return Stream(X, y, 5, 2)
    X, y = table_of(task.stream)
    order = np.random.default_rng(task.run).permutation(len(y))[: task.rounds]
    return Stream(X[order], y[order], 10, 1) if task.stream == "Parkinsons" else Stream(X[order], y[order], 4, 3)


def monomials(X: Array, degree: int) -> Array:
    """Return features whose inner products are ``(<a,b>+1)^degree``; X itself for degree 1."""
    if degree == 1:
        return X
    with_one = np.column_stack([np.ones(len(X)), X])
    columns = []
    for chosen in combinations_with_replacement(range(with_one.shape[1]), degree):
        ways = factorial(degree) / prod(factorial(chosen.count(j)) for j in set(chosen))
        columns.append(sqrt(ways) * with_one[:, chosen].prod(axis=1))
    return np.column_stack(columns)


def pril(stream: Stream, **options: Any) -> OrdinalClassifier:
    """Return PRIL as the paper runs it on a stream; the average has no kernel, and gets its monomials."""
    kernel: dict[str, Any] = {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "degree": stream.degree}
    if stream.degree == 1 or "average" in options:
        kernel = {}
    return OrdinalClassifier(range(1, stream.classes + 1), dtype="float64", **kernel, **options)


def baseline(line: str, stream: Stream) -> Any:
    """Return a learner of exact labels."""
    classes = list(range(1, stream.classes + 1))
    if line == "multiclass Perceptron":
        return MulticlassPerceptron(dtype="float64")
    return (PRank if line == "PRank" else WidrowHoffClassifier)(classes, dtype="float64")


def so_far(errors: Array) -> Array:
    """Return the means of the errors up to each point of a line."""
    ends = np.linspace(0, errors.size, POINTS + 1).round().astype(int)[1:]
    return np.cumsum(errors)[ends - 1] / ends


def draw_line(task: Task) -> Array:
    """Run one line: the average error after each hundredth of the stream."""
    stream = stream_of(task)
    if task.line.endswith("%"):
        share = int(task.line[:-1]) / 100
        intervals = interval_labels(stream.y, stream.classes, task.kind, share, seed=1000 + task.run)
        return so_far(progressive(pril(stream), stream.X, intervals, every=1).curve["error"])
    answers = answers_of(task, stream)
    return so_far(np.abs(answers - stream.y))


def answers_of(task: Task, stream: Stream) -> Array:
    """Return what a learner answered before it learned each row."""
    if task.line == "always the median":
        return np.full(stream.y.size, np.median(stream.y).round())
    kept: list[Array] = []

    def keep(_: Any, answers: Array) -> float:
        kept.append(answers)
        return 0.0

    options: dict[str, Any] = {"metrics": {"kept": keep}, "every": stream.y.size}
    if task.line in OURS:
        it = pril(stream, **OURS[task.line])
        X = monomials(stream.X, stream.degree) if it.average else stream.X
        intervals = interval_labels(stream.y, stream.classes, task.kind, 0.75, seed=1000 + task.run)
        progressive(it, X, intervals, **options)
    else:
        X = monomials(stream.X, stream.degree)
        classes = list(range(1, stream.classes + 1))
        progressive(baseline(task.line, stream), X, stream.y, classes=classes, **options)
    return kept[0].astype(float)


def tasks_of(streams: Sequence[str], lines: Sequence[str], runs: int, rounds: int) -> list[Task]:
    """List every line of every run; those of exact labels know no type of interval."""
    lengths = {"synthetic": 10_000, "Parkinsons": 5_875, "Abalone": 4_177}
    return [
        Task(name, kind, line, run, min(rounds, lengths[name]))
        for name in streams
        for line in lines
        for kind in ((1, 2) if line.endswith("%") or line in OURS else (1,))
        for run in range(runs)
    ]


Lines = dict[tuple[str, int, str], Array]


def gather(tasks: Sequence[Task], found: Iterable[Array]) -> Lines:
    """Put the runs of each line together, runs x points; a line of exact labels stands for both types."""
    runs: dict[tuple[str, int, str], list[Array]] = {}
    for task, line in zip(tasks, found, strict=True):
        runs.setdefault((task.stream, task.kind, task.line), []).append(line)
    lines = {key: np.array(values) for key, values in runs.items()}
    for name, kind, line in list(lines):
        lines.setdefault((name, 3 - kind, line), lines[name, kind, line])
    return lines


def show(title: str, lines: Lines, names: Sequence[str], streams: Sequence[str]) -> None:
    """Print what each line has come to, with the standard deviation of a run."""
    columns = [("", ""), *((f"{stream}, type {kind}", "") for stream in streams for kind in (1, 2))]
    table = Table(title, columns)
    for name in names:
        ends = [lines[stream, kind, name][:, -1] for stream in streams for kind in (1, 2)]
        table.add(name, *(f"{end.mean():.3f} +- {end.std():.3f}" for end in ends))
    table.show()


def plot(path: Path, lines: Lines, names: Sequence[str], streams: dict[str, int], label: str) -> None:
    """Draw a panel for each stream and type."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, len(streams), figsize=(4.2 * len(streams), 6.4), sharex="col", squeeze=False)
    for column, (stream, rounds) in enumerate(streams.items()):
        t = np.linspace(0, rounds, POINTS + 1).round()[1:]
        for kind in (1, 2):
            panel = panels[kind - 1, column]
            for name in names:
                runs = lines[stream, kind, name]
                mean, deviation = runs.mean(axis=0), runs.std(axis=0)
                panel.plot(t, mean, label=name)
                panel.fill_between(t, mean - deviation, mean + deviation, alpha=0.15)
            top = max(lines[stream, kind, name].mean(axis=0)[POINTS // 20 :].max() for name in names)
            panel.set(title=f"{stream}, type {kind}", ylim=(0, 1.1 * top), xlim=(0, rounds))
    panels[0, 0].set_ylabel(label)
    panels[1, 0].set_ylabel(label)
    for panel in panels[1]:
        panel.set_xlabel("rounds")
    panels[0, -1].legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main() -> None:
    """Run all lines, print the tables and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=10_000, help="at most so many rounds of each stream")
    parser.add_argument("--streams", nargs="+", default=["synthetic", "Parkinsons", "Abalone"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("."))
    args = parser.parse_args()
    start = time.perf_counter()
    shares = [f"{100 * share:.0f}%" for share in SHARES]
    tasks = tasks_of(args.streams, [*shares, *LEARNERS], args.runs, args.rounds)
    with ProcessPoolExecutor(args.jobs) as pool:
        lines = gather(tasks, pool.map(draw_line, tasks, chunksize=max(1, args.runs // 10)))
    streams = {name: next(task.rounds for task in tasks if task.stream == name) for name in args.streams}
    args.out.mkdir(parents=True, exist_ok=True)
    show("Average L_MAE at the end, by the share of interval labels", lines, shares, args.streams)
    show("Average absolute error on exact labels at the end", lines, LEARNERS, args.streams)
    plot(args.out / "ordinal_intervals.png", lines, shares, streams, "average L_MAE")
    plot(args.out / "ordinal_baselines.png", lines, LEARNERS, streams, "average absolute error")
    print(f"{args.runs} runs in {time.perf_counter() - start:.0f} s with {args.jobs} processes; figures in {args.out}")


if __name__ == "__main__":
    main()
