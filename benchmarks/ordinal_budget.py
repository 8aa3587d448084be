"""Which row should leave a full support: average L_MAE of kernel PRIL for each removal and budget.

The removals are those of the oracle; three in four labels are an interval of type 1.

    python benchmarks/ordinal_budget.py [--rounds 5000] [--runs 5]
    python benchmarks/ordinal_budget.py --stream Parkinsons --budgets 100 300 --runs 1
"""

from __future__ import annotations

import os

for variable in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import argparse  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from hinge.reproduce.pril import LENGTHS, stream_of, widened  # noqa: E402
from oracle.ordinal import REMOVALS, judge  # noqa: E402

Array = np.ndarray[Any, np.dtype[Any]]
Rows = Callable[[Array, Array], Array]

KERNELS: dict[str, dict[str, Rows]] = {
    "synthetic": {
        "(<a,b> + 1)^2": lambda rows, x: (rows @ x + 1) ** 2,
        "exp(-8 |a-b|^2)": lambda rows, x: np.exp(-8 * ((rows - x) ** 2).sum(axis=1)),
    },
    "Parkinsons": {"exp(-.05 |a-b|^2)": lambda rows, x: np.exp(-0.05 * ((rows - x) ** 2).sum(axis=1))},
}
CUBIC_AT_MOST = 100


def run(X: Array, Y: Array, K: int, kernel: Rows, budget: int | None, removal: str) -> Array:
    """Compute L_MAE round by round, the kernel in whole arrays but otherwise as the oracle's KernelPRIL."""
    room = len(X) if budget is None else budget + 1
    rows, a, gram, size = np.zeros((room, X.shape[1])), np.zeros(room), None, 0
    if budget is not None:
        gram = np.zeros((room, room))
    b, errors = np.zeros(K - 1), np.zeros(len(X))
    for t, (x, (lo, hi)) in enumerate(zip(X, Y, strict=True)):
        k = kernel(rows[:size], x)
        said = judge(float(a[:size] @ k), b, lo, hi)
        errors[t] = said.error
        b = b - said.tau
        total = said.tau.sum()
        if total == 0:
            continue
        rows[size], a[size] = x, total
        if gram is not None:
            gram[size, :size] = gram[:size, size] = k
            gram[size, size] = kernel(x[None, :], x)[0]
        size += 1
        if budget is not None and gram is not None and size > budget:
            s, given = REMOVALS[removal](a, gram)
            a += given
            kept = np.arange(room) != s
            rows[:budget], a[:budget] = rows[kept], a[kept]
            gram[:budget, :budget] = gram[kept][:, kept]
            size = budget
    return errors


def main() -> None:
    """Print a row for each kernel, budget and removal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stream", choices=KERNELS, default="synthetic")
    parser.add_argument("--rounds", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--budgets", type=int, nargs="+", default=[10, 25, 50, 100])
    args = parser.parse_args()
    rounds = min(args.rounds, LENGTHS[args.stream])
    streams = [stream_of(args.stream, rounds, seed) for seed in range(args.runs)]
    taught = [(it.X, widened(it, 1, 0.75, seed), it.classes) for seed, it in enumerate(streams)]
    print("| kernel | budget | removal | L_MAE, all rounds | sd of runs | last half | seconds a run |")
    print("|---|---|---|---|---|---|---|")
    for name, kernel in KERNELS[args.stream].items():
        cases: list[tuple[int | None, str]] = [(None, "none")]
        cases += [(n, r) for n in args.budgets for r in REMOVALS if r != "span" or n <= CUBIC_AT_MOST]
        for budget, removal in cases:
            start = time.perf_counter()
            errors = np.array([run(X, Y, K, kernel, budget, removal) for X, Y, K in taught])
            seconds = (time.perf_counter() - start) / args.runs
            means, late = errors.mean(axis=1), errors[:, rounds // 2 :].mean()
            print(
                f"| `{name}` | {budget or 'all'} | {removal} | {means.mean():.4f} | {means.std():.4f} "
                f"| {late:.4f} | {seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
