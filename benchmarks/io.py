"""Text parsed beside its peers, and training from text beside parsing and learning alone.

    python benchmarks/io.py [--megabytes N] [--repeats N]

Every figure is measured in this run, in turns, and is the best of several; each reader's rows are compared first.
Parsing is in processor time, of all threads, so that a loaded machine does not stretch it; training, where two threads
overlap, is by the clock and wants two idle cores.
"""

from __future__ import annotations

import os

for variable in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import argparse  # noqa: E402
import json  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections import deque  # noqa: E402
from collections.abc import Callable  # noqa: E402
from importlib.metadata import PackageNotFoundError, version  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
from tables import Table  # noqa: E402

from hinge import LabelRanker  # noqa: E402
from hinge.io import read, stream  # noqa: E402

LABELS = 103


def write_files(folder: Path, megabytes: float) -> None:
    """Write the same rows in every format: 75 features of 47,000 a row, values of six digits, one of 103 labels."""
    rng = np.random.default_rng(0)
    rows = int(megabytes * 1e6 / 1080)
    columns = np.sort(np.argsort(rng.random((64, 47_000)), axis=1)[:, :75], axis=1) + 1
    with (
        open(folder / "rows.svm", "w") as svm,
        open(folder / "rows.vw", "w") as vw,
        open(folder / "rows.jsonl", "w") as jsonl,
        open(folder / "rows.csv", "w") as csv,
        open(folder / "rows.arff", "w") as arff,
    ):
        csv.write(",".join(f"f{i}" for i in range(75)) + ",y\n")
        arff.write("@relation r\n" + "".join(f"@attribute f{i} numeric\n" for i in range(75)))
        arff.write(f"@attribute y {{{','.join(map(str, range(LABELS)))}}}\n@data\n")
        for row in range(rows):
            label, values = row % LABELS, [f"{v:.6g}" for v in rng.random(75)]
            pairs = [f"{j}:{v}" for j, v in zip(columns[row % 64], values, strict=True)]
            svm.write(f"{label} {' '.join(pairs)}\n")
            vw.write(f"{label + 1} | {' '.join(pairs)}\n")
            cells = ", ".join(f'"{j}": {v}' for j, v in zip(columns[row % 64], values, strict=True))
            jsonl.write(f'{{"x": {{{cells}}}, "y": "{label}"}}\n')
            csv.write(",".join(values) + f",{label}\n")
            arff.write(",".join(values) + f",{label}\n")


def best(calls: dict[str, Callable[[], object]], repeats: int, clock: Callable[[], float]) -> dict[str, float]:
    """Return the least seconds of each call, made in turns."""
    seconds = dict.fromkeys(calls, float("inf"))
    for _ in range(repeats):
        for name, call in calls.items():
            begun = clock()
            call()
            seconds[name] = min(seconds[name], clock() - begun)
    return seconds


def release(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return ""


def vw_reads(path: Path) -> None:
    """Parse a file and learn nothing; VW parses in a thread of its own."""
    from vowpalwabbit import Workspace

    Workspace(f"--quiet --noop --no_stdin -d {path}").finish()


def readers(folder: Path) -> dict[str, dict[str, Callable[[], object]]]:
    """For each format hinge and its peers that are installed."""
    from sklearn.datasets import load_svmlight_file

    svm, vw, jsonl, table, arff = (folder / f"rows.{suffix}" for suffix in ("svm", "vw", "jsonl", "csv", "arff"))
    out: dict[str, dict[str, Callable[[], object]]] = {
        "svmlight": {
            "hinge": lambda: read(svm),
            "hinge, in blocks": lambda: deque(stream(svm), maxlen=0),
            release("scikit-learn"): lambda: load_svmlight_file(svm),
        },
        "vw": {"hinge, names kept": lambda: read(vw), "hinge, hashed": lambda: read(vw, n_bits=18)},
        "jsonl": {
            "hinge": lambda: read(jsonl),
            f"json of Python {sys.version.split()[0]}": lambda: list(map(json.loads, jsonl.read_bytes().splitlines())),
        },
        "csv": {"hinge": lambda: read(table)},
        "arff": {"hinge": lambda: read(arff)},
    }
    if release("vowpalwabbit"):
        out["svmlight"][f"{release('vowpalwabbit')}, the same rows as VW text"] = lambda: vw_reads(vw)
        out["vw"][release("vowpalwabbit")] = lambda: vw_reads(vw)
    if release("pyarrow"):
        import pyarrow.csv

        out["csv"][release("pyarrow") + ", one thread"] = lambda: pyarrow.csv.read_csv(
            table, read_options=pyarrow.csv.ReadOptions(use_threads=False)
        )
    if release("liac-arff"):
        import arff as liac

        out["arff"][release("liac-arff")] = lambda: liac.loads(arff.read_text())
    return out


def check_answers(folder: Path) -> None:
    """Every format says the same, and what scikit-learn reads."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(folder / "rows.svm")
    ours = read(folder / "rows.svm")
    assert (ours.X != X).nnz == 0
    assert (ours.y == y).all()
    table, arff = read(folder / "rows.csv"), read(folder / "rows.arff")
    assert (X.data.reshape(-1, 75) == table.X).all()
    assert (table.X == arff.X).all()
    named = read(folder / "rows.jsonl")
    assert named.X.sum(axis=1) == X.sum(axis=1) if X.shape[0] == 1 else np.allclose(named.X.sum(axis=1), X.sum(axis=1))


def parsing(folder: Path, repeats: int) -> Table:
    table = Table("Parsing, processor time", [("reader", ""), ("MB/s", ".0f"), ("times the peer", ".1f")])
    for name, calls in readers(folder).items():
        suffix = "svm" if name == "svmlight" else name
        size = (folder / f"rows.{suffix}").stat().st_size / 1e6
        seconds = best(calls, repeats, time.process_time)
        first = next(iter(seconds.values()))
        for reader, taken in seconds.items():
            ours = reader.startswith("hinge")
            table.add(f"{name}: {reader}", size / taken, None if ours else taken / first)
    return table


def training(folder: Path, repeats: int) -> Table:
    """`hinge train` reads ahead in a thread: what it takes, beside parsing and learning alone."""
    from hinge.cli.feeding import Feed, learn

    path = str(folder / "rows.svm")

    def train() -> None:
        ranker = LabelRanker(update="single")
        for block in Feed(ranker, path, {"format": "svmlight", "labels": "single"}).blocks():
            learn(ranker, block, path)

    rows = read(path)
    seconds = best(
        {
            "parsing alone": lambda: read(path),
            "learning alone": lambda: LabelRanker(update="single").partial_fit(rows.X, rows.y),
            "hinge train": train,
        },
        4 * repeats,
        time.perf_counter,
    )
    slower = max(seconds["parsing alone"], seconds["learning alone"])
    table = Table("Training from svmlight text", [("what", ""), ("seconds", ".3f"), ("times the slower", ".2f")])
    for name, taken in seconds.items():
        table.add(name, taken, taken / slower)
    return table


def starting() -> Table:
    table = Table("Starting", [("command", ""), ("ms, median of 15", ".0f")])
    for arguments in (["--help"], ["train", "--help"]):
        taken = []
        for _ in range(15):
            begun = time.perf_counter()
            subprocess.run([sys.executable, "-m", "hinge.cli", *arguments], capture_output=True, check=True)
            taken.append(time.perf_counter() - begun)
        table.add(f"hinge {' '.join(arguments)}", 1000 * sorted(taken)[7])
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=40.0)
    parser.add_argument("--repeats", type=int, default=5)
    wanted = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores, {wanted.megabytes:g} MB of svmlight text\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, wanted.megabytes)
        check_answers(folder)
        parsing(folder, wanted.repeats).show()
        training(folder, wanted.repeats).show()
    starting().show()


if __name__ == "__main__":
    main()
