"""Draw the two figures of the paper on interval labels (PRIL), and print them as tables.

    python benchmarks/ordinal_figures.py [--runs 100] [--out folder] [--jobs 2]

Three streams and both types of intervals; what runs on them stands in `hinge.reproduce.pril`.

`ordinal_intervals.png`: average L_MAE against rounds, with 60 to 100 per cent of the labels intervals.
`ordinal_baselines.png`: PRIL learns from 75 per cent intervals, or from intervals only, and is judged on the exact
labels, beside PRank, Widrow-Hoff and the multiclass Perceptron, which learn from the exact labels; also PRIL with its
average and with the sqrt step.

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
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
from tables import Table  # noqa: E402

from hinge.reproduce.pril import LEARNERS, LENGTHS, OURS, SHARES, errors, losses, stream_of  # noqa: E402

Array = np.ndarray[Any, np.dtype[Any]]
Lines = dict[tuple[str, int, str], Array]  # by stream, type of interval and name: runs x points

POINTS = 100  # of a line
NOT_DRAWN = "Widrow-Hoff, a tenth of the step"  # far above the others on Parkinsons


class Task(NamedTuple):
    """One line of one run."""

    stream: str
    kind: int
    line: str
    run: int
    rounds: int


def so_far(errors: Array) -> Array:
    """Return the means of the errors up to each point of a line."""
    ends = np.linspace(0, errors.size, POINTS + 1).round().astype(int)[1:]
    return np.cumsum(errors)[ends - 1] / ends


def draw_line(task: Task) -> Array:
    """Run one line: the average error after each hundredth of the stream."""
    stream = stream_of(task.stream, task.rounds, task.run)
    if task.line in SHARES:
        return so_far(losses(stream, task.kind, int(task.line[:-1]) / 100, task.run))
    return so_far(errors(task.line, stream, task.kind, task.run))


def tasks_of(streams: Sequence[str], lines: Sequence[str], runs: int, rounds: int) -> list[Task]:
    """List every line of every run; those of exact labels know no type of interval."""
    return [
        Task(name, kind, line, run, min(rounds, LENGTHS[name]))
        for name in streams
        for line in lines
        for kind in ((1, 2) if line in SHARES or line in OURS else (1,))
        for run in range(runs)
    ]


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
    rows = -(-len(names) // 4)
    figure.tight_layout(rect=(0, 0.02 + 0.035 * rows, 1, 1))
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="lower center", ncols=4)
    figure.savefig(path, dpi=80)


def main() -> None:
    """Run all lines, print the tables and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=10_000, help="at most so many rounds of each stream")
    parser.add_argument("--streams", nargs="+", default=[*LENGTHS])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("."))
    args = parser.parse_args()
    start = time.perf_counter()
    tasks = tasks_of(args.streams, [*SHARES, *LEARNERS], args.runs, args.rounds)
    with ProcessPoolExecutor(args.jobs) as pool:
        lines = gather(tasks, pool.map(draw_line, tasks, chunksize=max(1, args.runs // 10)))
    streams = {name: next(task.rounds for task in tasks if task.stream == name) for name in args.streams}
    args.out.mkdir(parents=True, exist_ok=True)
    show("Average L_MAE at the end, by the share of interval labels", lines, SHARES, args.streams)
    show("Average absolute error on exact labels at the end", lines, LEARNERS, args.streams)
    plot(args.out / "ordinal_intervals.png", lines, SHARES, streams, "average L_MAE")
    drawn = [name for name in LEARNERS if name != NOT_DRAWN]
    plot(args.out / "ordinal_baselines.png", lines, drawn, streams, "average absolute error")
    print(f"{args.runs} runs in {time.perf_counter() - start:.0f} s with {args.jobs} processes; figures in {args.out}")


if __name__ == "__main__":
    main()
