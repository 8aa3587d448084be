"""The peers, each behind one function that trains it on a stream and says how fast and how well.

A peer that is not installed raises `Missing`. Nothing here imports a peer before its function is called, so that the
thread settings of the benchmark's first lines hold for all of them.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.metadata
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
from streams import Stream

DISTRIBUTIONS = {
    "hinge": "hinge",
    "numpy": "numpy",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
    "vowpalwabbit": "vowpalwabbit",
    "liblinear": "liblinear-official",
    "napkinxc": "napkinxc",
    "river": "river",
    "lightgbm": "lightgbm",
    "xgboost": "xgboost",
}


class Missing(Exception):
    """A peer is not installed."""


def need(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Missing(f"{DISTRIBUTIONS.get(module.split('.')[0], module)} is not installed: skipped") from error


def version(module: str) -> str | None:
    try:
        return importlib.metadata.version(DISTRIBUTIONS.get(module, module))
    except importlib.metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True)
class Outcome:
    """Seconds to learn `rows` rows, and how good the result is; progressive error where it was measured."""

    seconds: float
    rows: int
    test: float
    progressive: float | None = None

    @property
    def speed(self) -> float:
        return self.rows / self.seconds


def fastest(
    repeats: int, make: Callable[[], Any], learn: Callable[[Any], Any], clock: Callable[[], float] = time.process_time
) -> tuple[float, Any]:
    """Least seconds of `learn(make())` by the clock, and the last object made; making is not timed.

    The clock is the processor time of this process, which other work on the machine does not stretch. What is over
    quickly is repeated for a second, or ten times `repeats`: caches that others use disturb it most.
    """
    best, total, count, made = np.inf, 0.0, 0, None
    while count < repeats or (repeats > 1 and total < 1.0 and count < 10 * repeats):
        made = make()
        start = clock()
        learn(made)
        seconds = clock() - start
        best, total, count = min(best, seconds), total + seconds, count + 1
    return best, made


Contestant = tuple[Callable[[], Any], Callable[[Any], Any]]


def raced(repeats: int, contestants: Sequence[Contestant]) -> list[tuple[float, Any]]:
    """Least seconds of each `learn(make())`, and its last object; taking turns, they meet the same disturbances."""
    best: list[tuple[float, Any]] = [(np.inf, None)] * len(contestants)
    for _ in range(repeats):
        for place, (make, learn) in enumerate(contestants):
            seconds, made = fastest(1, make, learn)
            best[place] = min(best[place][0], seconds), made
    return best


def in_turns(repeats: int, contestants: Sequence[Contestant]) -> list[float]:
    """Least seconds of each, as `raced` finds them."""
    return [seconds for seconds, _ in raced(repeats, contestants)]


def error_rate(scores: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(scores.argmax(axis=1) != y))


def ranking_loss(scores: np.ndarray, Y: sp.csr_matrix) -> float:
    from sklearn.metrics import label_ranking_loss

    return float(label_ranking_loss(Y.toarray(), scores))


# ---------------------------------------------------------------------------------------------------- scikit-learn


def growing_chunks(rows: int, share: float = 0.05, most: int = 200) -> Iterator[slice]:
    """Chunks that hold one row at first, and never more than `share` of the rows before them nor more than `most`."""
    start = 0
    while start < rows:
        stop = min(rows, start + max(1, min(most, int(share * start))))
        yield slice(start, stop)
        start = stop


def _pa1(C: float = 1.0) -> Any:
    return need("sklearn.linear_model").SGDClassifier(
        loss="hinge", penalty=None, learning_rate="pa1", eta0=C, max_iter=1, shuffle=False, tol=None
    )


def sklearn_pa1(stream: Stream, repeats: int, C: float = 1.0) -> Outcome:
    """Faster of `fit` and one `partial_fit`, each given the whole batch; progressive error apart, in chunks."""
    classes = np.arange(stream.n_labels)

    def fit(model: Any) -> None:
        model.fit(stream.X, stream.y)

    def partial_fit(model: Any) -> None:
        model.partial_fit(stream.X, stream.y, classes=classes)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, _ = fastest(repeats, lambda: _pa1(C), fit)
        whole, model = fastest(repeats, lambda: _pa1(C), partial_fit)
        test = 1.0 - model.score(stream.X_test, stream.y_test)
        model, mistakes = _pa1(C), 0
        for chunk in growing_chunks(stream.X.shape[0]):
            X, y = stream.X[chunk], stream.y[chunk]
            mistakes += len(y) if chunk.start == 0 else int(np.sum(model.predict(X) != y))
            model.partial_fit(X, y, classes=classes)
    return Outcome(min(seconds, whole), len(stream.y), test, mistakes / len(stream.y))


def sklearn_one_row(stream: Stream, calls: int) -> float:
    """Seconds of a `partial_fit` on one row, into a model that has seen the classes."""
    model = _pa1()
    model.partial_fit(stream.X[:1], stream.y[:1], classes=np.arange(stream.n_labels))
    rows = [(stream.X[i : i + 1], stream.y[i : i + 1]) for i in range(calls)]
    start = time.process_time()
    for X, y in rows:
        model.partial_fit(X, y)
    return (time.process_time() - start) / calls


def sklearn_linear_svc(stream: Stream) -> Outcome:
    svm, multiclass = need("sklearn.svm"), need("sklearn.multiclass")
    X = stream.X.astype(np.float64)
    model = multiclass.OneVsRestClassifier(svm.LinearSVC(), n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, _ = fastest(1, lambda: model, lambda m: m.fit(X, stream.y))
    return Outcome(seconds, X.shape[0], ranking_loss(model.decision_function(stream.X_test), stream.y_test))


# ---------------------------------------------------------------------------------------------------- Vowpal Wabbit


@dataclass(frozen=True)
class VWFiles:
    """A multiclass stream as VW's text, and as its binary cache, from which it learns fastest."""

    folder: Path
    rows: int
    n_labels: int

    def learn(self, arguments: str, repeats: int) -> Outcome:
        """One pass over the cache with `--oaa`; VW's own progressive error, then its error on the test part."""
        vw = need("vowpalwabbit")
        cached = f"-d {self.folder}/train.txt --cache_file {self.folder}/train.cache"
        command = f"--oaa {self.n_labels} {arguments} -f {self.folder}/model {cached}"
        done: list[Any] = []
        seconds, _ = fastest(repeats, lambda: _finish(done), lambda d: d.append(vw.Workspace(command, quiet=True)))
        progressive = _vw_loss(done.pop())
        model = vw.Workspace(f"-t -i {self.folder}/model -d {self.folder}/test.txt", quiet=True)
        return Outcome(seconds, self.rows, _vw_loss(model), progressive)


@contextmanager
def vw_files(stream: Stream, bits: int) -> Iterator[VWFiles]:
    vw = need("vowpalwabbit")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _vw_text(folder / "train.txt", stream.X, stream.y)
        _vw_text(folder / "test.txt", stream.X_test, stream.y_test)
        cached = f"-d {folder}/train.txt --cache_file {folder}/train.cache"
        vw.Workspace(f"--oaa {stream.n_labels} -b {bits} {cached}", quiet=True).finish()
        yield VWFiles(folder, stream.X.shape[0], stream.n_labels)


def _vw_loss(model: Any) -> float:
    """Mean 0/1 loss of the examples that the workspace has seen; closes it."""
    loss = model.get_sum_loss() / model.get_weighted_examples()
    model.finish()
    return float(loss)


def _finish(models: list[Any]) -> list[Any]:
    """Close the models, which writes them to disk; the emptied list."""
    while models:
        models.pop().finish()
    return models


def _vw_text(path: Path, X: sp.csr_matrix, y: np.ndarray) -> None:
    with path.open("w") as file:
        for label, start, stop in zip((y + 1).tolist(), X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True):
            names, values = X.indices[start:stop].tolist(), X.data[start:stop].tolist()
            file.write(f"{label} | {' '.join(f'{j}:{v:.7g}' for j, v in zip(names, values, strict=True))}\n")


# ------------------------------------------------------------------------------------------------ multi-label batch


def liblinear_ovr(stream: Stream, C: float = 1.0) -> Outcome:
    """One L2-loss SVM a label (`-s 1 -B 1`); the rows are handed over once, only the targets change."""
    liblinear, util = need("liblinear.liblinear"), need("liblinear.liblinearutil")
    X = stream.X.astype(np.float64)
    n, width = X.shape[0], X.shape[1] + 1
    coef = np.zeros((stream.n_labels, width))
    columns = stream.y.tocsc()
    parameter = liblinear.parameter(f"-s 1 -c {C} -B 1 -q")

    start = time.process_time()
    problem = liblinear.problem(np.zeros(n), X, 1.0)
    target = np.ctypeslib.as_array(problem.y, (n,))
    for label in range(stream.n_labels):
        positive = columns.indices[columns.indptr[label] : columns.indptr[label + 1]]
        target[:] = -1.0
        target[positive] = 1.0
        if 0 < positive.size < n:
            model = util.train(problem, parameter)
            sign = 1.0 if model.label[0] == 1 else -1.0
            coef[label] = sign * np.ctypeslib.as_array(model.w, (width,))
        else:
            coef[label, -1] = 1.0 if positive.size else -1.0
    seconds = time.process_time() - start

    scores = stream.X_test @ coef[:, :-1].T + coef[:, -1]
    return Outcome(seconds, n, ranking_loss(scores, stream.y_test))


def napkinxc_ovr(stream: Stream, eta: float) -> Outcome:
    """One logistic regression a label by AdaGrad, one epoch, one thread, no weight pruned."""
    models = need("napkinxc.models")
    X, Y = stream.X, stream.y.astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        model = models.OVR(
            folder, optimizer="adagrad", loss="log", eta=eta, epochs=1, weights_threshold=0.0, threads=1, seed=0
        )
        seconds, _ = fastest(1, lambda: model, lambda m: m.fit(X, Y))
        answers = model.predict_proba(stream.X_test, top_k=stream.n_labels)
    scores = np.full((len(answers), stream.n_labels), -1.0)
    for row, answer in enumerate(answers):
        for label, probability in answer:
            scores[row, label] = probability
    return Outcome(seconds, X.shape[0], ranking_loss(scores, stream.y_test))


# ------------------------------------------------------------------------------------------------- one dict at a time

Dicts = list[tuple[dict[str, float], int]]


def as_dicts(stream: Stream, features: int, calls: int) -> Dicts:
    """Rows cut to their `features` largest values, under names; shorter rows are left out."""
    X = stream.X
    long = np.flatnonzero(np.diff(X.indptr) >= features)[:calls]
    dicts: Dicts = []
    for row in long:
        cut = slice(X.indptr[row], X.indptr[row + 1])
        names, values = X.indices[cut], X.data[cut]
        largest = np.argsort(-values, kind="stable")[:features]
        x = {f"word{j}": v for j, v in zip(names[largest].tolist(), values[largest].tolist(), strict=True)}
        dicts.append((x, int(stream.y[row])))
    return dicts


WARM = 100  # dicts that a model has learned before the clock starts


def vw_dicts(data: Dicts, n_labels: int, repeats: int) -> Outcome:
    """`example(dict)`, its label, `learn` and `finish_example` are timed together."""
    vw = need("vowpalwabbit")
    models: list[Any] = []

    def learn(model: Any, rows: Dicts) -> None:
        for x, y in rows:
            example = model.example({"f": x})
            example.set_label_string(str(y + 1))
            model.learn(example)
            model.finish_example(example)

    def make() -> Any:
        _finish(models)
        model = vw.Workspace(f"--oaa {n_labels} --loss_function hinge", quiet=True)
        learn(model, data[:WARM])
        models.append(model)
        return model

    seconds, model = fastest(repeats, make, lambda model: learn(model, data[WARM:]))
    return Outcome(seconds, len(data) - WARM, np.nan, _vw_loss(model))


def river_dicts(data: Dicts, repeats: int) -> Outcome:
    linear, multiclass = need("river.linear_model"), need("river.multiclass")
    return learn_dicts(lambda: multiclass.OneVsRestClassifier(linear.PAClassifier(C=1.0, mode=1)), data, repeats)


def learn_dicts(new: Callable[[], Any], data: Dicts, repeats: int) -> Outcome:
    """`learn_one` alone is timed; the progressive error comes from another pass with `predict_one` before it."""

    def learn(model: Any, rows: Dicts) -> Any:
        learn_one = model.learn_one
        for x, y in rows:
            learn_one(x, y)
        return model

    seconds, _ = fastest(repeats, lambda: learn(new(), data[:WARM]), lambda model: learn(model, data[WARM:]))
    model, mistakes = new(), 0
    for x, y in data:
        mistakes += model.predict_one(x) != y
        model.learn_one(x, y)
    return Outcome(seconds, len(data) - WARM, np.nan, mistakes / len(data))


# ---------------------------------------------------------------------------------------------------------- the limit


class Limit:
    """limit.cpp, compiled for this machine into `folder`."""

    def __init__(self, folder: Path, compiler: str = "g++") -> None:
        library = folder / "limit.so"
        source = Path(__file__).with_name("limit.cpp")
        flags = ["-O3", "-march=native", "-std=c++20", "-shared", "-fPIC"]
        try:
            subprocess.run([compiler, *flags, "-o", library, source], check=True)
        except FileNotFoundError as error:
            raise Missing(f"{compiler} is not installed: skipped") from error
        loaded = ctypes.CDLL(str(library))
        self._run, self._width = loaded.limit, int(loaded.limit_width())
        self._run.restype = ctypes.c_int64
        self.mistakes = 0

    def contestant(self, stream: Stream, *, intercept: bool, C: float = 1.0) -> Contestant:
        """Zeroed weights, and one pass over the stream, which leaves its `mistakes` here."""
        X, y = stream.X, np.ascontiguousarray(stream.y, np.int32)

        def learn(weights: np.ndarray) -> None:
            pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (X.indptr, X.indices, X.data, y)]
            self.mistakes = self._run(
                *pointers,
                ctypes.c_int64(X.shape[0]),
                weights.ctypes.data_as(ctypes.c_void_p),
                ctypes.c_int64(X.shape[1]),
                ctypes.c_float(C),
                ctypes.c_int32(intercept),
            )

        return lambda: self._weights(X.shape[1] + 1), learn

    def _weights(self, rows: int) -> np.ndarray:
        """Zeros that begin at a cache line and are in memory already."""
        size = rows * self._width * 4
        memory = np.full(size + 64, 0, np.uint8)
        offset = -memory.ctypes.data % 64
        return memory[offset : offset + size].view(np.float32)
