"""Parallel tasks with a shared loss: the paper's figures on what is at hand, and speed beside peers.

    python benchmarks/multitask.py [--only norms codes updates speed solve] [--out FOLDER] [--data FILE] [--quick]

The figures are those of `hinge reproduce multitask`, drawn into FOLDER (with matplotlib). `--data` takes documents in
svmlight multi-label form, such as the whole of RCV1, in place of the subsets and of Reuters-21578.
"""

from __future__ import annotations

import os

for variable in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import argparse  # noqa: E402
import ctypes  # noqa: E402
import re  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from functools import partial  # noqa: E402
from math import inf  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
import peers  # noqa: E402
from tables import Table  # noqa: E402

from hinge import MultitaskClassifier, progressive  # noqa: E402
from hinge.norms import Interpolated, PNorm, RMax  # noqa: E402
from hinge.reproduce.multitask import PARTS, run  # noqa: E402

INTERPOLATIONS = Interpolated(1, 2, 1.5), Interpolated(2, inf, 1.2), Interpolated(1.5, 4, 1.2)
ROOT = Path(__file__).resolve().parents[1]
Panels = dict[str, list[tuple[str, np.ndarray, np.ndarray]]]  # by measure: name, x, y

# ---------------------------------------------------------------------------------------------------------- figures


def paper(part: str, plan: argparse.Namespace) -> list[Table]:
    """Print a comparison of the paper, and draw it: what has the same documents in one picture."""
    found = run(lambda by, note: None, only=part, data=plan.data, C=plan.C, subsets=1 if plan.quick else 5)
    pictures: dict[str, Panels] = {}
    for table in found:
        measure, _, where = table.title.partition(": ")
        if table.curves:
            pictures.setdefault(where, {})[measure] = [(name, np.array(x), np.array(y)) for name, x, y in table.curves]
    for where, panels in pictures.items():
        name = re.sub("[^a-z0-9]+", "-", where.partition(", ")[0].lower())
        draw(where, panels, plan.out, f"{part}-{name}", xlabel="documents")
    return [*map(Table.of, found)]


def draw(title: str, panels: Panels, folder: Path, stem: str, names: str = "best", **axes: Any) -> None:
    """Draw one panel a measure; the lines' names stand where there is room, or where they are said to."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    plot, places = plt.subplots(1, len(panels), figsize=(2 + 5 * len(panels), 4.5), squeeze=False)
    for ax, (measure, lines) in zip(places[0], panels.items(), strict=True):
        for name, x, y in lines:
            ax.plot(x, y, label=name)
        ax.set(ylabel=measure, **axes)
        ax.legend(fontsize="small", loc=names)
    plot.suptitle(title, fontsize="medium")
    plot.tight_layout()
    plot.savefig(folder / f"multitask-{stem}.png", dpi=110)
    plt.close(plot)


# ------------------------------------------------------------------------------------------------------------ speed


BASE = [
    "g++",
    "-std=c++20",
    "-O3",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-Wno-psabi",
    "-fPIC",
    "-I",
    "src",
    "-DHINGE_X86",
]


def compiled(folder: Path, source: str) -> ctypes.CDLL:
    """Compile a file with the core's kernels and the flags that the library is compiled with."""
    out = folder / f"{Path(source).stem}.so"
    try:
        sources = [source, "src/core/dispatch.cpp", *kernel_objects(folder)]
        subprocess.run([*BASE, "-shared", *sources, "-o", str(out)], cwd=ROOT, check=True)
    except FileNotFoundError as error:
        raise peers.Missing("g++ is not installed") from error
    return ctypes.CDLL(str(out))


def kernel_objects(folder: Path) -> list[str]:
    """Compile the inner loops once for each instruction set, as CMakeLists.txt does."""
    wide = ("64", "-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx512bw", "-mprefer-vector-width=512")
    sets = {"baseline": ("16",), "avx2": ("32", "-mavx2"), "avx512": wide}
    objects = []
    for name, (vector, *flags) in sets.items():
        out = str(folder / f"{name}.o")
        defined = [f"-DHINGE_TARGET={name}", f"-DHINGE_VECTOR={vector}", "-fno-trapping-math"]
        subprocess.run([*BASE, *defined, *flags, "-c", "src/core/kernels.cpp", "-o", out], cwd=ROOT, check=True)
        objects.append(out)
    return objects


def speed(plan: argparse.Namespace) -> list[Table]:
    """104 tasks on one sparse instance, in turns with a one-vs-rest Perceptron in the same core; and scikit-learn."""
    from streams import rcv1_like

    rows, tasks = (10_000 if plan.quick else 100_000), 104
    stream = rcv1_like(rows, 1, target="multilabel", n_labels=tasks, seed=0)
    X, Y = stream.X, (2 * stream.y.toarray().astype(np.int8) - 1).astype(np.int8)
    columns = [("learner", ""), ("rows/s", ",.0f"), ("of one-vs-rest", ".2f"), ("x MultiOutput pa1", ".1f")]
    table = Table(
        f"{tasks} tasks: {rows:,} rows, {X.nnz / rows:.0f} non-zeros", [*columns, ("task errors a row", ".3f")]
    )
    variants = [
        {"norm": norm, "C": 1.0} for norm in ("l2", "l1", "linf", RMax(4), PNorm(1.5), PNorm(3), *INTERPOLATIONS)
    ]
    variants += [{"norm": "l2", "update": update, "C": 1.0} for update in ("infinite", "finite")]
    with tempfile.TemporaryDirectory() as name:
        library = compiled(Path(name), "benchmarks/one_vs_rest.cpp")
        library.one_vs_rest.restype = ctypes.c_int64
        start, index, value = X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(np.float32)
        found: list[int] = []

        def perceptron(_: Any) -> None:
            pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (start, index, value, Y)]
            sizes = ctypes.c_int64(rows), ctypes.c_int32(X.shape[1]), ctypes.c_int32(tasks)
            found.append(library.one_vs_rest(*pointers, *sizes))

        def contestant(parameters: dict[str, Any]) -> peers.Contestant:
            return (
                lambda: MultitaskClassifier(**parameters).partial_fit(X[:1], Y[:1], classes=[-1, 1]),
                lambda model: model.partial_fit(X, Y),
            )

        repeats = 2 if plan.quick else 3
        seconds = in_turns(repeats, [(lambda: None, perceptron), *map(contestant, variants)])
    theirs: float | None = None
    try:
        theirs = multi_output_pa1(X, Y)
    except ImportError as reason:
        table.note(f"MultiOutput pa1: {reason}")
    table.add(
        "one-vs-rest Perceptron, same core", rows / seconds[0], 1.0, theirs and theirs / seconds[0], found[0] / rows
    )
    for parameters, took in zip(variants, seconds[1:], strict=True):
        curve = progressive(MultitaskClassifier(**parameters), X, Y, classes=[-1, 1], every=rows).curve
        shown = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
        errors = float(curve["task_errors"][0])
        table.add(f"MultitaskClassifier({shown})", rows / took, seconds[0] / took, theirs and theirs / took, errors)
    if theirs:
        table.add("MultiOutputClassifier(SGDClassifier(pa1))", rows / theirs, seconds[0] / theirs, 1.0, None)
    table.note(
        "one-vs-rest.cpp: scores, and moves the tasks in error by their instance; no loss, no checks, no certificate."
    )
    table.note(f"scikit-learn {peers.version('sklearn')}: one whole batch, one process, once. Processor time.")
    return [table]


def in_turns(repeats: int, contestants: list[peers.Contestant]) -> list[float]:
    """Return the least processor seconds of each `learn(make())`; taking turns, they meet the same disturbances."""
    best = [inf] * len(contestants)
    for _ in range(repeats):
        for place, (make, learn) in enumerate(contestants):
            model = make()
            begun = time.process_time()
            learn(model)
            best[place] = min(best[place], time.process_time() - begun)
    return best


def multi_output_pa1(X: Any, Y: np.ndarray) -> float:
    """Return the seconds that scikit-learn takes for one batch."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.multioutput import MultiOutputClassifier

    inner = SGDClassifier(
        loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, max_iter=1, tol=None, shuffle=False
    )
    model = MultiOutputClassifier(inner)
    begun = time.process_time()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.partial_fit(X, Y, classes=[np.array([-1, 1])] * Y.shape[1])
    return time.process_time() - begun


def solve(plan: argparse.Namespace) -> list[Table]:
    """What the steps of one round cost, every task with a loss, for k from 10 to 100,000."""
    ks = [10, 104, 1_000, 10_000, 100_000]
    tried: dict[str, list[float]] = {
        "L2": [2], "L1": [1], "L-infinity": [inf], "r-max, r = k/10": [1, inf, -1], "PNorm(1.5)": [1.5],
        "PNorm(3)": [3],
        **{f"Interpolated({n.p1:g}, {n.p2:g}, {n.alpha:g})": [n.p1, n.p2, n.alpha] for n in INTERPOLATIONS},
    }  # fmt: skip
    table = Table(
        "Microseconds of an implicit solve, ||l|| included", [("norm", ""), *((f"k = {k:,}", ",.1f") for k in ks)]
    )
    lines = []
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(Path(folder), "tests/cpp/shared_loss.cpp")
        for name, numbers in tried.items():
            took = []
            for k in ks:
                norm = np.array([max(1.0, k / 10) if v == -1 else float(v) for v in numbers])
                losses, q = rng.gamma(2.0, size=k), rng.gamma(2.0, size=k) + 0.01
                C = 0.3 * losses.mean() if numbers == [inf] else 0.3
                repeats, best = max(3, 200_000 // k // (10 if len(numbers) == 3 else 1)), inf
                for _ in range(3):
                    begun = time.process_time()
                    library.repeat_a_solve(
                        norm.ctypes.data_as(ctypes.c_void_p), ctypes.c_int(norm.size), ctypes.c_double(C),
                        ctypes.c_size_t(k), losses.ctypes.data_as(ctypes.c_void_p), q.ctypes.data_as(ctypes.c_void_p),
                        ctypes.c_int(repeats),
                    )  # fmt: skip
                    best = min(best, (time.process_time() - begun) / repeats)
                took.append(1e6 * best)
            table.add(name, *took)
            lines.append((name, np.array(ks), np.array(took)))
    x, at_104 = np.array(ks), lines[0][2][1]
    lines.append(("k log k", x, at_104 / 2 * x * np.log(x) / (104 * np.log(104))))
    axes = {"xlabel": "k", "xscale": "log", "yscale": "log"}
    draw("An implicit solve", {"microseconds": lines}, plan.out, "solve", "lower right", **axes)
    table.note("losses and squared norms from gamma(2); every task has a loss and the bound is tight. Processor time.")
    return [table]


TABLES = {**{part: partial(paper, part) for part in PARTS}, "speed": speed, "solve": solve}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--out", type=Path, default=Path("figures"), help="where to draw; made if it is not there")
    parser.add_argument("--data", help="documents in svmlight multi-label form in place of the RCV1 subsets")
    parser.add_argument("--C", type=float, help="in place of .1 for unit instances and .001 for log counts")
    parser.add_argument("--quick", action="store_true", help="one subset, fewer rows: a look, not a result")
    plan = parser.parse_args()
    for name in plan.only:
        try:
            for table in TABLES[name](plan):
                table.show()
        except (FileNotFoundError, peers.Missing) as reason:
            print(f"{name}: left out, {reason}\n")


if __name__ == "__main__":
    main()
