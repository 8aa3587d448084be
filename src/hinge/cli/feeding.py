"""Data to an estimator, block by block: reading ahead in a thread while the estimator learns."""

from __future__ import annotations

import queue
import re
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from hinge.io import BadLine, DataError, Examples, read, stream
from hinge.io.sources import name_of

ROWS = 4096  # in a block of data that are in memory
AHEAD = 8  # blocks that are read before they are needed: the first is learned slowly, as its weights are new memory
LOOK_EVERY = 0.2  # seconds between two looks at whether to stop


class Feed:
    """The blocks of a source, in the form in which one estimator takes them.

    Where every pass is in the file's order and nothing needs the width beforehand, the source is streamed: a block is
    parsed while the one before is learned. Otherwise it is read once, and cut into blocks.
    """

    def __init__(
        self,
        estimator: Any,
        source: str,
        options: dict[str, Any],
        *,
        seed: int | None = None,
        stopped: threading.Event | None = None,
    ) -> None:
        self.estimator, self.source, self.seed, self.stopped = estimator, source, seed, stopped
        if getattr(estimator, "features", None) == "hashed":
            options = options | {"n_bits": estimator.n_bits}
        self.options = {name: value for name, value in options.items() if value is not None}
        self.streams = can_stream(estimator) and seed is None
        self.total: int | None = None
        self.names: list[str] | None = None
        self._memory: Examples | None = None

    def blocks(self, number: int = 0, skip: int = 0) -> Iterator[Examples]:
        """Yield the blocks of a pass, without its first `skip` rows."""
        if self.streams and number == 0:
            yield from self._ready(skipped(whole_lists(ahead(stream(self.source, **self.options), self.stopped)), skip))
            return
        rows = self.memory()
        if self.seed is not None:
            order = np.random.default_rng([self.seed, number]).permutation(len(rows))
            rows = rows.take(order)
        yield from self._ready(cut(rows, skip))

    def memory(self) -> Examples:
        """Return all rows."""
        if self._memory is None:
            self._memory = read(self.source, **self.options)
            self.total = len(self._memory)
        return self._memory

    def _ready(self, blocks: Iterable[Examples]) -> Iterator[Examples]:
        for block in blocks:
            if block.y is None:
                raise DataError(name_of(self.source), "the rows have no labels")
            self.names = block.feature_names or self.names
            fit_width(self.estimator, block)
            block.y = targets(self.estimator, block)
            yield block


def can_stream(estimator: Any) -> bool:
    """Say whether an estimator learns row by row, and the same when features appear later."""
    batch = not hasattr(estimator, "partial_fit")
    multiplies = "entropic" in str(getattr(estimator, "geometry", ""))
    multiplies |= getattr(estimator, "update", "") == "multiplicative"
    return not (batch or multiplies or type(estimator).__name__ in ("SequenceClassifier", "BipartiteRanker"))


def fit_width(estimator: Any, block: Examples) -> None:
    """Make the estimator and the block equally wide: what one has not seen is zero."""
    known = getattr(estimator, "n_features_in_", None)
    if known is None:
        return
    if block.X.shape[1] > known:
        estimator.n_features_in_ = block.X.shape[1]
    elif block.X.shape[1] < known:
        block.X = sparse.csr_matrix(block.X)
        block.X.resize(block.X.shape[0], known)


def match_names(model: Any, block: Examples) -> None:
    """Put the columns of a block where the model has the same names; what it never saw is left out."""
    names = getattr(model, "_named_columns", None)
    if (names is None) != (block.feature_names is None):
        has, has_not = ("the data", "the model") if names is None else ("the model", "the data")
        raise ValueError(f"the features of {has} have names, but those of {has_not} have none: they cannot be matched")
    if names is None or block.feature_names is None:
        X = sparse.csr_matrix(block.X)
        X.resize(X.shape[0], model.n_features_in_)
        block.X = X if sparse.issparse(block.X) else X.toarray()
        return
    to = np.array([names.get(name, -1) for name in block.feature_names], dtype=np.int64)
    entries = sparse.coo_matrix(block.X)
    kept = to[entries.col] >= 0
    where = (entries.row[kept], to[entries.col[kept]])
    block.X = sparse.csr_matrix((entries.data[kept], where), shape=(len(block), model.n_features_in_))


def unnamed(model: Any) -> Any:
    """Let a model that was loaded take rows by number; its names are kept beside it."""
    names = getattr(model, "feature_names_in_", None)
    model._named_columns = None if names is None else {name: i for i, name in enumerate(names)}
    model._reader = model._frame_names = None
    return model


def named(estimator: Any, names: list[str] | None) -> Any:
    """Tell an estimator what its columns are called, before it is saved."""
    if names and getattr(estimator, "features", "names") != "hashed":
        estimator._frame_names = np.array(names[: estimator.n_features_in_], dtype=object)
    return estimator


def targets(estimator: Any, block: Examples) -> Any:
    """Return a block's labels as the estimator takes them; an indicator's columns by their names."""
    if not sparse.issparse(block.y):
        return block.y
    if "Multitask" in type(estimator).__name__:
        return block.y.toarray()
    names = np.array(block.label_names)
    y = sparse.csr_matrix(block.y)
    return [set(names[y.indices[a:b]].tolist()) for a, b in pairwise(y.indptr)]


def given(estimator: Any, block: Examples) -> tuple[Any, Any, dict[str, Any]]:
    """Return X, y and what else a call takes; sequences are the runs of rows with one qid."""
    if type(estimator).__name__ == "SequenceClassifier":
        if block.qid is None:
            raise ValueError("sequences need a qid: the rows of a sequence have the same one")
        ends = [*(np.flatnonzero(np.diff(block.qid)) + 1), len(block)]
        parts = [slice(a, b) for a, b in pairwise([0, *ends])]
        return [block.X[part] for part in parts], None if block.y is None else [block.y[part] for part in parts], {}
    more = {"qid": block.qid if hasattr(estimator, "_learns_lists") else None, "sample_weight": block.sample_weight}
    return block.X, block.y, {name: value for name, value in more.items() if value is not None}


def learn(estimator: Any, block: Examples, source: str) -> None:
    """Learn a block; what the estimator refuses is told with its line."""
    with at_lines(source, block):
        X, y, more = given(estimator, block)
        estimator.partial_fit(X, y, **more)


@contextmanager
def at_lines(source: str, block: Examples) -> Iterator[None]:
    """Turn an estimator's "row 3" into the line on which that row stands."""
    try:
        yield
    except DataError:
        raise
    except (ValueError, TypeError) as error:
        row = re.search(r"\brow (\d+)\b", str(error))
        if row is None or block.line is None or int(row[1]) >= len(block):
            raise DataError(name_of(source), str(error)) from error
        raise DataError(name_of(source), BadLine(int(block.line[int(row[1])]), 1, str(error))) from error


def cut(rows: Examples, skip: int = 0, size: int | None = None) -> Iterator[Examples]:
    """Yield rows in blocks that do not cut a list."""
    start = skip
    while start < len(rows):
        end = min(start + (size or ROWS), len(rows))
        while rows.qid is not None and end < len(rows) and rows.qid[end] == rows.qid[end - 1]:
            end += 1
        yield rows.take(slice(start, end))
        start = end


def skipped(blocks: Iterable[Examples], skip: int) -> Iterator[Examples]:
    """Yield blocks without their first `skip` rows."""
    for block in blocks:
        if skip >= len(block):
            skip -= len(block)
            continue
        yield block.take(slice(skip, None)) if skip else block
        skip = 0


def whole_lists(blocks: Iterable[Examples]) -> Iterator[Examples]:
    """Yield blocks that end where a list ends."""
    held: Examples | None = None
    for block in blocks:
        if block.qid is None:
            yield block
            continue
        both = block if held is None else _together(held, block)
        assert both.qid is not None
        changes = np.flatnonzero(np.diff(both.qid))
        end = int(changes[-1]) + 1 if changes.size else 0
        if end:
            yield both.take(slice(0, end))
        held = both.take(slice(end, None))
    if held is not None and len(held):
        yield held


def _together(a: Examples, b: Examples) -> Examples:
    wide = sparse.csr_matrix(a.X)
    wide.resize(wide.shape[0], b.X.shape[1]) if b.X.shape[1] >= a.X.shape[1] else b.X.resize(b.X.shape[0], a.X.shape[1])

    def glue(x: Any, y: Any) -> Any:
        return None if x is None or y is None else np.concatenate([x, y])

    return Examples(
        sparse.vstack([wide, b.X]).tocsr(),
        a.y + b.y if isinstance(a.y, list) else glue(a.y, b.y),
        b.feature_names,
        glue(a.qid, b.qid),
        glue(a.sample_weight, b.sample_weight),
        None if a.ids is None or b.ids is None else a.ids + b.ids,
        line=glue(a.line, b.line),
        skipped=b.skipped,
    )


def ahead(blocks: Iterator[Examples], stopped: threading.Event | None = None) -> Iterator[Examples]:
    """Yield blocks that a thread reads while the one before is used; none after `stopped` is set."""
    ready: queue.Queue[tuple[Examples | None, BaseException | None]] = queue.Queue(AHEAD)
    stop = threading.Event()

    def fill() -> None:
        try:
            for block in blocks:
                ready.put((block, None))
                if stop.is_set():
                    return
            ready.put((None, None))
        except BaseException as error:
            ready.put((None, error))

    reader = threading.Thread(target=fill, daemon=True)
    reader.start()
    try:
        while stopped is None or not stopped.is_set():
            try:
                block, error = ready.get(timeout=LOOK_EVERY)
            except queue.Empty:
                continue
            if error is not None:
                raise error
            if block is None:
                return
            yield block
    finally:
        stop.set()
        while not ready.empty():
            ready.get_nowait()
        reader.join(LOOK_EVERY)  # one that waits for a pipe is left to wait


@contextmanager
def interruption() -> Iterator[threading.Event]:
    """Note SIGINT instead of stopping at once; a second one stops."""
    flag = threading.Event()

    def note(number: int, frame: Any) -> None:
        if flag.is_set():
            raise KeyboardInterrupt
        flag.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, before)
