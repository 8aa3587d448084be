"""How far a round of M-PRIL should move where no margin is given: average L_MAE of one pass by eta (K - 1).

    python benchmarks/ordinal_eta.py [--rounds 2500] [--runs 3]

The paper's streams, three in four labels an interval; the kernels' monomials as features, scaled to at most 1 in
absolute value, and PRIL on the same features beside it.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from tables import Table

from hinge import OrdinalClassifier, progressive
from hinge.reproduce.pril import INTERVALS, LENGTHS, Stream, monomials, stream_of, widened

MULTIPLES = (0.03, 0.1, 0.2, 0.4, 0.8, 1.5)


def loss(stream: Stream, kind: int, seed: int, **options: Any) -> float:
    """Return the average L_MAE of one pass."""
    X = monomials(stream.X, stream.degree)
    learner = OrdinalClassifier(range(1, stream.classes + 1), dtype="float64", **options)
    ends = widened(stream, kind, INTERVALS, seed)
    return float(progressive(learner, X / np.abs(X).max(), ends).totals["error"])


def main() -> None:
    """Print a row for each stream and type of intervals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2500)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    columns = [("", ""), *((f"{multiple:g}", ".3f") for multiple in MULTIPLES), ("PRIL", ".3f")]
    for signed in (True, False):
        table = Table(f"Average L_MAE by eta (K - 1), {'signed' if signed else 'single-sided'}", columns)
        for name in LENGTHS:
            streams = [stream_of(name, args.rounds, seed) for seed in range(args.runs)]
            for kind in (1, 2):
                steps = [multiple / (streams[0].classes - 1) for multiple in MULTIPLES]
                tried = [{"update": "multiplicative", "signed": signed, "step": step} for step in steps]
                means = [
                    np.mean([loss(stream, kind, seed, **options) for seed, stream in enumerate(streams)])
                    for options in [*tried, {}]
                ]
                table.add(f"{name}, type {kind}", *map(float, means))
        table.note(f"at most {args.rounds} rounds, mean of {args.runs} runs")
        table.show()


if __name__ == "__main__":
    main()
