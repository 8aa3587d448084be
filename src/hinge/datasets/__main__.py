"""Ordered classes as CSV on standard output, exact or widened to intervals.

    python -m hinge.datasets synthetic --rows 10000 --seed 1 --intervals 2 --share 0.75 > stream.csv
    python -m hinge.datasets parkinsons --intervals 1
    python -m hinge.datasets abalone

Columns are x1, x2, .. and then y, or low and high where intervals are asked for; those of Parkinsons are standardised,
those of Abalone are not. Numbers are written so that reading them gives the same bits.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .bundles import Table
from .ordinal import interval_labels, load_abalone, load_parkinsons, synthetic_ordinal

SETS: dict[str, tuple[Callable[[argparse.Namespace], Table], int]] = {
    "synthetic": (lambda args: synthetic_ordinal(10_000 if args.rows is None else args.rows, args.seed), 5),
    "parkinsons": (lambda _: load_parkinsons(), 10),
    "abalone": (lambda _: load_abalone(), 4),
}


def parser() -> argparse.ArgumentParser:
    """Return what reads the flags."""
    it = argparse.ArgumentParser(
        "python -m hinge.datasets", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    it.add_argument("name", choices=SETS, help="which set")
    it.add_argument("--rows", type=int, help="at most so many; 10000 of the synthetic stream")
    it.add_argument("--seed", type=int, default=0, help="of the synthetic stream, and of the intervals (default 0)")
    it.add_argument("--intervals", type=int, choices=(1, 2), help="1: [y-1, y] or [y, y+1]; 2: [y-1, y+1]")
    it.add_argument("--share", type=float, default=0.75, help="of the rows that get an interval (default 0.75)")
    return it


def lines(X: NDArray[np.float64], targets: NDArray[np.int64], names: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a CSV file, the header first."""
    yield ",".join([*(f"x{j}" for j in range(1, X.shape[1] + 1)), *names]) + "\n"
    for x, target in zip(X.tolist(), targets.tolist(), strict=True):
        yield ",".join(map(repr, [*x, *target])) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write one data set."""
    args = parser().parse_args(arguments)
    load, classes = SETS[args.name]
    try:
        X, y = load(args)
        X, y = X[: args.rows], y[: args.rows]
        if args.intervals is None:
            targets, names = y[:, None], ["y"]
        else:
            seed = 1000 + args.seed  # not the stream's own; as the experiments draw them
            targets, names = interval_labels(y, classes, args.intervals, args.share, seed), ["low", "high"]
    except (ValueError, FileNotFoundError) as error:
        raise SystemExit(f"hinge.datasets: {error}") from None
    sys.stdout.writelines(lines(X, targets, names))


if __name__ == "__main__":
    main()
