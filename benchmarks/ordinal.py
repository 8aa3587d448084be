"""Ordered classes beside their peers: a pass over dense rows, and scores with a kernel.

    python benchmarks/ordinal.py [--rows 50000] [--repeats 7]

`fit`: one pass over rows x 20 features with 10 classes, the test error beside it; mord's OrdinalRidge and LogisticAT on
the same rows. `kernel`: microseconds to score a row with 2,000 rows kept, in a batch and one by one; the same sum in
NumPy for a row at a time, by a matrix-vector product, by the differences of all rows kept, and row kept by row kept.
Every time is processor time, the least of the repeats, on one thread.
"""

from __future__ import annotations

import os

for variable in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import argparse  # noqa: E402
import importlib.metadata  # noqa: E402
import platform  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from functools import partial  # noqa: E402
from math import inf  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from tables import Table  # noqa: E402

from hinge import OrdinalClassifier, _core  # noqa: E402

Array = np.ndarray[Any, np.dtype[Any]]

FEATURES, CLASSES, KEPT, GAMMA = 20, 10, 2000, 0.05


def least(action: Callable[[], Any], repeats: int, number: int = 1) -> float:
    """Return the least seconds of processor time of several repeats, each of so many calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(number):
            action()
        times.append((time.process_time() - start) / number)
    return min(times)


def stream(rows: int, seed: int = 0) -> tuple[Array, Array]:
    """Draw a noisy linear rule cut into classes of equal size."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(rows, FEATURES)), np.random.default_rng(99).normal(size=FEATURES)
    score = X @ w + rng.normal(size=rows)
    return X, 1 + np.searchsorted(np.quantile(score, np.arange(1, CLASSES) / CLASSES), score)


def fits(rows: int, repeats: int) -> Table:
    """Time a pass beside mord."""
    X, y = stream(rows)
    X_test, y_test = stream(10_000, seed=1)
    columns = [("", ""), ("ms", ".1f"), ("ms over OrdinalRidge", ".2f"), ("mean absolute error", ".3f")]
    table = Table(f"One fit of {rows:,} x {FEATURES} dense rows, {CLASSES} classes", columns)
    learners: dict[str, tuple[Any, int]] = {
        "OrdinalClassifier()": (OrdinalClassifier(), repeats),
        "OrdinalClassifier(average=True)": (OrdinalClassifier(average=True), repeats),
        "the same, 3 passes": (OrdinalClassifier(average=True, max_iter=3), repeats),
        "OrdinalClassifier(step='sqrt')": (OrdinalClassifier(step="sqrt"), repeats),
        "OrdinalClassifier('multiplicative', rescale, average)": (
            OrdinalClassifier(update="multiplicative", rescale=True, average=True),
            repeats,
        ),
    }
    ridge = None
    try:
        import mord
    except ImportError:
        table.note("mord is not installed: skipped")
    else:
        ridge = mord.OrdinalRidge()
        peers = {"OrdinalRidge": (mord.OrdinalRidge(), repeats), "LogisticAT": (mord.LogisticAT(), 1)}
        learners |= {f"mord {importlib.metadata.version('mord')} {name}": peer for name, peer in peers.items()}
    for name, (learner, times) in learners.items():
        data = np.asarray(X, dtype=getattr(learner, "dtype", np.float64))
        seconds, beside = inf, inf
        for _ in range(times):  # in turns, so that both meet the same machine
            seconds = min(seconds, least(partial(learner.fit, data, y), 1))
            if ridge is not None:
                beside = min(beside, least(partial(ridge.fit, X, y), 1))
        error = np.abs(learner.predict(X_test) - y_test).mean()
        table.add(name, 1e3 * seconds, None if ridge is None else seconds / beside, float(error))
    table.note("rows are in the learner's own type before the clock starts; the error is that of 10,000 other rows")
    return table


def kernels(repeats: int) -> Table:
    """Time scores with a kernel beside NumPy."""
    columns = [("", ""), ("us, in a batch", ".2f"), ("us, one by one", ".2f"), ("NumPy, product", ".1f"),
               ("NumPy, differences", ".1f"), ("NumPy, row by row", ".0f"), ("largest difference", ".0e")]  # fmt: skip
    table = Table(f"Microseconds to score a row of {FEATURES} features with {KEPT:,} rows kept", columns)
    for name, dtype in [("poly", "float32"), ("poly", "float64"), ("rbf", "float32"), ("rbf", "float64")]:
        table.add(f"{name}, {dtype}", *kernel(name, dtype, repeats))
    table.note("one by one includes reading a dict of 20 names")
    return table


def kernel(name: str, dtype: str, repeats: int) -> list[float | None]:
    """Time one kernel, and hold its scores against NumPy's."""
    X, y = stream(12_000)
    options: dict[str, Any] = {"kernel": name, "gamma": GAMMA, "degree": 2, "budget": KEPT, "removal": "oldest"}
    it = OrdinalClassifier(range(1, CLASSES + 1), dtype=dtype, **options).partial_fit(X, y)
    rows, a, asked = it.support_vectors_.astype(dtype), it.dual_coef_.astype(dtype), X[:500].astype(dtype)
    if len(rows) != KEPT:
        raise RuntimeError(f"{len(rows)} rows are kept, not {KEPT}")
    lengths = (rows**2).sum(axis=1)
    reader, example = _core.DictReader(0), {f"x{j}": float(v) for j, v in enumerate(asked[0])}
    reader.names = {f"x{j}": j for j in range(FEATURES)}

    def by_product(x: Array) -> float:
        if name == "poly":
            return float((GAMMA * (rows @ x) + 1) ** 2 @ a)
        return float(np.exp(-GAMMA * (lengths + x @ x - 2 * (rows @ x))) @ a)

    def by_differences(x: Array) -> float:
        return float(np.exp(-GAMMA * ((rows - x) ** 2).sum(axis=1)) @ a)

    def by_row(x: Array) -> float:
        if name == "poly":
            return float(sum(c * (GAMMA * (row @ x) + 1) ** 2 for c, row in zip(a, rows, strict=True)))
        return float(sum(c * np.exp(-GAMMA * ((row - x) @ (row - x))) for c, row in zip(a, rows, strict=True)))

    seconds = [
        least(lambda: it.decision_function(asked), repeats, 10) / len(asked),
        least(lambda: it._model.score_one(reader, example), repeats, 1000),
        least(lambda: [by_product(x) for x in asked], repeats) / len(asked),
        least(lambda: [by_differences(x) for x in asked[:100]], repeats) / 100 if name == "rbf" else None,
        least(lambda: by_row(asked[0]), 3),
    ]
    wrong = np.abs(it.decision_function(asked) - [by_product(x) for x in asked]).max()
    return [*(None if each is None else 1e6 * each for each in seconds), float(wrong)]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"NumPy {np.__version__}, Python {platform.python_version()}, {_core.instruction_set()}, load {load:.1f}\n")
    fits(args.rows, args.repeats).show()
    kernels(args.repeats).show()


if __name__ == "__main__":
    main()
