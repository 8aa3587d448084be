"""Parallel tasks with a shared loss: the paper's figures on what is at hand, and speed beside peers.

    python benchmarks/multitask.py [--only norms codes updates speed solve] [--out FOLDER] [--data FILE] [--quick]

The figures are online errors, each round before it is learned, printed at rounds that double and drawn into FOLDER
(with matplotlib). `--data` takes documents in svmlight multi-label form, such as the whole of RCV1, in place of the
subsets.
"""

from __future__ import annotations

import os

for variable in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import argparse  # noqa: E402
import ctypes  # noqa: E402
import re  # noqa: E402
import subprocess  # noqa: E402
import tarfile  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections import Counter  # noqa: E402
from functools import cache  # noqa: E402
from math import inf, log2  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
import peers  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from tables import Table  # noqa: E402

from hinge import MultitaskClassifier, OutputCodeClassifier, progressive  # noqa: E402
from hinge.datasets import load_rcv1_subset  # noqa: E402
from hinge.datasets.home import data_file  # noqa: E402
from hinge.norms import Interpolated, PNorm, RMax  # noqa: E402

INTERPOLATIONS = Interpolated(1, 2, 1.5), Interpolated(2, inf, 1.2), Interpolated(1.5, 4, 1.2)
ROOT = Path(__file__).resolve().parents[1]
Stream = tuple[str, Any, Any, float]  # name, X, Y or y, C
Curves = dict[str, np.ndarray]

# ------------------------------------------------------------------------------------------------------------- data


@cache
def reuters() -> tuple[list[str], list[list[str]]]:
    """Return the texts and the topics of Reuters-21578's documents that have a topic, in the order of their numbers."""
    texts, topics = [], []
    with tarfile.open(data_file("reuters21578", "reuters21578.tar.xz")) as archive:
        members = sorted((m for m in archive.getmembers() if m.name.endswith(".sgm")), key=lambda m: m.name)
        for member in members:
            file = archive.extractfile(member)
            assert file is not None
            for document in file.read().decode("latin-1").split("</REUTERS>"):
                named = re.findall(r"<D>(.*?)</D>", "".join(re.findall(r"<TOPICS>(.*?)</TOPICS>", document, re.S)))
                if named:
                    body = " ".join(re.findall(r"<(?:TITLE|BODY)>(.*?)</(?:TITLE|BODY)>", document, re.S))
                    texts.append(re.sub(r"&[#\w]+;", " ", body).lower())
                    topics.append(named)
    return texts, topics


def log_counts(texts: list[str]) -> sp.csr_matrix:
    """Return log2(1 + count) of every word of two letters or more, as the paper has it."""
    words: dict[str, int] = {}
    rows = [Counter(words.setdefault(w, len(words)) for w in re.findall(r"[a-z]{2,}", text)) for text in texts]
    start = np.cumsum([0, *map(len, rows)])
    index = np.array([j for row in rows for j in row], dtype=np.int32)
    value = np.array([log2(1 + n) for row in rows for n in row.values()], dtype=np.float32)
    X = sp.csr_matrix((value, index, start), shape=(len(rows), len(words)))
    X.sort_indices()
    return X


def topic_streams(plan: argparse.Namespace) -> list[Stream]:
    """Return documents and their topics: those of the file given, or the five subsets of RCV1 and Reuters-21578."""
    if plan.data:
        from hinge.io import read

        rows = read(plan.data, labels="sets")
        names = sorted({label for labels in rows.y for label in labels})
        at = {name: j for j, name in enumerate(names)}
        Y = np.zeros((len(rows.y), len(names)), dtype=np.int8)
        for t, labels in enumerate(rows.y):
            Y[t, [at[label] for label in labels]] = 1
        return [(Path(plan.data).name, rows.X.astype(np.float32), Y, plan.C or 1e-3)]
    streams: list[Stream] = []
    for subset in range(1, 2 if plan.quick else 6):
        data = load_rcv1_subset(subset)
        streams.append((f"RCV1 subset {subset}", data.X.astype(np.float32), data.Y.toarray(), plan.C or 0.1))
    texts, topics = reuters()
    names = [name for name, count in Counter(t for row in topics for t in row).most_common() if count >= 20]
    Y = np.array([[name in row for name in names] for row in topics], dtype=np.int8)
    streams.append(("Reuters-21578", log_counts(texts), Y, plan.C or 1e-3))
    return streams


def five_classes() -> tuple[sp.csr_matrix, np.ndarray]:
    """Return the documents of Reuters-21578 that have exactly one of its five most frequent topics."""
    texts, topics = reuters()
    names = [name for name, _ in Counter(t for row in topics for t in row).most_common(5)]
    found = [[t for t in row if t in names] for row in topics]
    kept = [i for i, row in enumerate(found) if len(row) == 1]
    X = log_counts([texts[i] for i in kept])
    return X, np.array([found[i][0] for i in kept])


# ---------------------------------------------------------------------------------------------------------- figures


def online_errors(X: Any, Y: np.ndarray, **parameters: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the infinity-error and the 1-error of every round, before it is learned."""
    curve = progressive(MultitaskClassifier(fit_intercept=False, **parameters), X, Y, classes=[0, 1], every=1).curve
    return curve["error"], curve["task_errors"] / Y.shape[1]


def doubling(rounds: int) -> list[int]:
    return [rounds >> i for i in range(5, -1, -1)]


def so_far(errors: np.ndarray) -> np.ndarray:
    return np.asarray(np.cumsum(errors) / np.arange(1, errors.size + 1))


def figure(title: str, curves: Curves, plan: argparse.Namespace, stem: str) -> Table:
    """Print the errors so far, in per cent, at rounds that double; draw them."""
    rounds = next(iter(curves.values())).size
    table = Table(title, [("online error, %", ""), *((f"{n:,}", ".2f") for n in doubling(rounds))])
    for name, errors in curves.items():
        table.add(name, *(100 * so_far(errors)[n - 1] for n in doubling(rounds)))
    panels: dict[str, Curves] = {}
    for name, errors in curves.items():
        measure, _, which = name.partition(", ")
        panels.setdefault(f"{measure} so far, %", {})[which] = 100 * so_far(errors)
    draw(title, panels, plan.out, stem)
    return table


def draw(title: str, panels: dict[str, Curves], folder: Path | None, stem: str, xs: Any = None, **axes: Any) -> None:
    """Draw one panel a measure; over the rounds, the first of which are left out, or over `xs`."""
    if folder is None:
        return
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    plot, places = plt.subplots(1, len(panels), figsize=(2 + 5 * len(panels), 4.5), squeeze=False)
    for ax, (measure, lines) in zip(places[0], panels.items(), strict=True):
        for name, ys in lines.items():
            shown = np.unique(np.linspace(ys.size // 50, ys.size - 1, 500).astype(int)) if xs is None else slice(None)
            ax.plot((np.arange(1, ys.size + 1) if xs is None else xs)[shown], ys[shown], label=name)
        ax.set(ylabel=measure, **({"xlabel": "round"} | axes))
        ax.legend(fontsize="small", loc="best" if xs is None else "lower right")
    plot.suptitle(title, fontsize="medium")
    plot.tight_layout()
    plot.savefig(folder / f"multitask-{stem}.png", dpi=110)
    plt.close(plot)


def averaged(runs: list[Curves]) -> Curves:
    shortest = min(next(iter(run.values())).size for run in runs)
    return {name: np.mean([run[name][:shortest] for run in runs], axis=0) for name in runs[0]}


def by_source(plan: argparse.Namespace, run: Any, title: str, stem: str) -> list[Table]:
    """Run on every stream; the subsets of RCV1 are averaged."""
    streams, out = topic_streams(plan), []
    subsets = [s for s in streams if s[0].startswith("RCV1 subset")]
    groups = ([subsets] if subsets else []) + [[s] for s in streams if s not in subsets]
    for group in groups:
        name, X, Y, C = group[0]
        if len(group) > 1:
            name = f"{len(group)} subsets of RCV1"
        where = f"{title}: {name}, {X.shape[0]:,} documents, {Y.shape[1]} topics, C = {C:g}"
        curves = averaged([run(X, Y, C) for _, X, Y, C in group])
        out.append(figure(where, curves, plan, f"{stem}-{re.sub('[^a-z0-9]+', '-', name.lower())}"))
    return out


def norms(plan: argparse.Namespace) -> list[Table]:
    """L-infinity against L1, implicit update."""

    def run(X: Any, Y: np.ndarray, C: float) -> Curves:
        curves: Curves = {}
        for name in ("linf", "l1"):
            worst, mean = online_errors(X, Y, norm=name, C=C)
            curves |= {f"infinity-error, norm={name!r}": worst, f"1-error, norm={name!r}": mean}
        return dict(sorted(curves.items(), key=lambda item: item[0].startswith("1-")))

    tables = by_source(plan, run, "L-infinity against L1", "norms")
    tables[-1].note("paper: L-infinity about 3 points better on the infinity-error, less with more data; ahead on the")
    tables[-1].note("1-error at first, where L1 ends about .05 points better.")
    return tables


def updates(plan: argparse.Namespace) -> list[Table]:
    """The implicit update against the finite horizon."""

    def run(X: Any, Y: np.ndarray, C: float) -> Curves:
        return {
            f"infinity-error, norm={norm!r}, {update}": online_errors(X, Y, norm=norm, update=update, C=C)[0]
            for norm in ("linf", "l2", "l1")
            for update in ("implicit", "finite")
        }

    tables = by_source(plan, run, "Implicit against finite horizon", "updates")
    tables[-1].note("paper: the implicit update leads throughout.")
    return tables


def codes(plan: argparse.Namespace) -> list[Table]:
    """r-max over the 15 columns of Hadamard's code for 5 classes, and one-vs-rest."""
    X, y = five_classes()
    C = plan.C or 1e-3
    labels, counts = np.unique(y, return_counts=True)
    shown = ", ".join(f"{label} {count}" for label, count in zip(labels, counts, strict=True))
    title = f"Output codes: Reuters-21578, {len(y):,} documents with one of {shown}; C = {C:g}"
    columns = [("code, norm", ""), *((f"{n:,}", ".2f") for n in doubling(len(y))), ("codeword error", ".2f")]
    table, curves = Table(title, columns), Curves()
    runs: list[tuple[str, Any]] = [("one-vs-rest", RMax(1)), ("one-vs-rest", RMax(5))]
    runs += [("hadamard", RMax(r)) for r in range(1, 16)]
    for code, norm in runs:
        model = OutputCodeClassifier(code, norm, C=C, fit_intercept=False)
        curve = progressive(model, X, y, classes=labels, every=1).curve
        name = f"{code}, {norm}"
        wrong = float(np.mean(curve["task_errors"] > 0))
        table.add(name, *(100 * so_far(curve["error"])[n - 1] for n in doubling(len(y))), 100 * wrong)
        if norm.r in (1, 4, 8, 15) or code != "hadamard":
            curves[name] = 100 * so_far(curve["error"])
    draw("Output codes: five topics of Reuters-21578", {"error so far, %": curves}, plan.out, "codes")
    table.note("online error in per cent; codeword error: the rounds in which any of the columns is wrong.")
    table.note("the meta-topics of RCV1 are not named in the subsets, so these are other five classes.")
    table.note("paper: best r = 3 to 4, near 5 % at the end, one-vs-rest near 8 %; r = 1 has the best codeword error.")
    return [table]


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
    lines: Curves = {}
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
            lines[name] = np.array(took)
    x = np.array(ks)
    lines["k log k"] = lines["L2"][1] / 2 * x * np.log(x) / (104 * np.log(104))
    draw("An implicit solve", {"microseconds": lines}, plan.out, "solve", x, xlabel="k", xscale="log", yscale="log")
    table.note("losses and squared norms from gamma(2); every task has a loss and the bound is tight. Processor time.")
    return [table]


TABLES = {"norms": norms, "codes": codes, "updates": updates, "speed": speed, "solve": solve}


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
