"""Joint feature maps besides a block of weights a class: TF-IDF by class, and a map that a person writes (MATH.md E).

Both have one vector of weights. They find the rivals of a round by looking at every class, and the rules of the core
move the weights along the direction, as for any oracle.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import pairwise
from math import inf
from typing import Any, Self

import numpy as np
from scipy import sparse

from hinge import _core
from hinge.rows import VIEWS, as_csr
from hinge.separation import separate

__all__ = ["JointModel", "TfIdf", "WrittenMap"]

CORE = {np.dtype(np.float32): _core.StructuredFloat32, np.dtype(np.float64): _core.StructuredFloat64}
Row = tuple[np.ndarray, np.ndarray]  # places and values; place 0 is the constant feature where there is one


class TfIdf:
    """``Psi_j(x, y) = x_j log((m + 1) / (DF(j, y) + 1))``: DF counts the documents not about y that have feature j.

    The source counts occurrences; these are documents, smoothed by one. A document is counted when it has been learned,
    in each pass again, as several passes are one longer stream.
    """

    def __init__(self) -> None:
        self.documents = 0.0
        self.about = np.zeros((0, 0))  # by feature and class
        self.all = np.zeros(0)  # by feature

    def grow(self, places: int, classes: int) -> int:
        more = (max(0, places - self.about.shape[0]), max(0, classes - self.about.shape[1]))
        self.about = np.pad(self.about, ((0, more[0]), (0, more[1])))
        self.all = np.pad(self.all, (0, more[0]))
        return places

    def table(self, row: Row, classes: int) -> Row:
        """Return the places, and the features at each place and class."""
        at, values = row
        other = self.all[at, None] - self.about[at, :classes]
        return at, values[:, None] * np.log((self.documents + 1) / (other + 1))

    def count(self, row: Row, label: int) -> None:
        self.documents += 1
        self.all[row[0]] += 1
        self.about[row[0], label] += 1

    def erase(self, label: int) -> None:
        self.about = np.delete(self.about, label, axis=1)


class WrittenMap:
    """``features(x, y)`` of a person: x is a row as a 1-d array, y a label."""

    def __init__(self, features: Callable[[np.ndarray, Any], Any], labels: Callable[[], list[Any]]) -> None:
        self.features, self.labels = features, labels
        self.width, self.length = 0, 0

    def grow(self, places: int, classes: int) -> int:
        self.width = places
        if classes and places and not self.length:
            self.length = self.of(np.zeros(places), self.labels()[0]).size
        return self.length

    def of(self, x: np.ndarray, label: Any) -> np.ndarray:
        given = self.features(x, label)
        out = np.asarray(given.toarray().ravel() if sparse.issparse(given) else given, dtype=np.float64)
        if out.ndim != 1 or (self.length and out.size != self.length) or not np.isfinite(out).all():
            raise ValueError(
                f"features gave an array of shape {out.shape} for the label {label!r}; it must be 1-d, finite, and "
                "always as long"
            )
        return out

    def table(self, row: Row, classes: int) -> Row:
        x = np.zeros(self.width)
        x[row[0]] = row[1]
        return np.arange(self.length), np.column_stack([self.of(x, label) for label in self.labels()[:classes]])

    def count(self, row: Row, label: int) -> None:
        pass

    def erase(self, label: int) -> None:
        pass


class JointModel:
    """One vector of weights over a joint map in the place of a model of the core: the same methods, by number."""

    has_cut = False

    def __init__(self, rule: str, joint: Any, dtype: np.dtype[Any], intercept: bool, average: bool) -> None:
        self.made_of = (rule, dtype, intercept, average)
        self.core = CORE[dtype](rule, average)
        self.joint, self.dtype, self.intercept = joint, dtype, intercept
        self.features = self.outputs = 0
        self.by_truth: np.ndarray | None = None
        self.lock = threading.RLock()  # one writer or one reader at a time
        self.last_loss = self.last_error = self.last_dual = 0.0

    @property
    def rounds(self) -> float:
        return float(self.core.rounds)

    def grow(self, features: int, outputs: int) -> None:
        with self.lock:
            self.features, self.outputs = features, outputs
            size = self.joint.grow(features + self.intercept, outputs)
            self.core.grow(max(size, self.core.features), 1)

    def set_cost(self, by_truth: np.ndarray) -> None:
        self.by_truth = by_truth

    def rows(self, x: Any) -> list[Row]:
        """Return places and values of each row; the constant feature has place 0."""
        csr = as_csr(x, self.intercept)
        csr.eliminate_zeros()
        return [(csr.indices[a:b], csr.data[a:b]) for a, b in pairwise(csr.indptr)]

    def cost_of(self, label: int) -> np.ndarray:
        if self.by_truth is not None and len(self.by_truth) == self.outputs:
            return np.asarray(self.by_truth[label])
        return np.where(np.arange(self.outputs) == label, 0.0, 1.0)

    def rival(self, table: Row, scores: np.ndarray, label: int, cost: np.ndarray, augmented: bool) -> tuple[Any, ...]:
        """Name the rival as the core takes it: delta, places, values, whether it is another class."""
        at, values = table
        worth = scores - scores[label] + (cost if augmented else 0.0)
        worth[label] = -inf
        other = int(np.argmax(worth)) if worth.size > 1 else label
        if other == label or (augmented and worth[other] <= 0):
            return 0.0, np.empty(0, np.int32), np.empty(0, self.dtype), False
        along = values[:, label] - values[:, other]
        kept = along != 0
        return float(cost[other]), at[kept].astype(np.int32), along[kept].astype(self.dtype), True

    def learn(
        self, x: Any, start: Any, label: np.ndarray, sets: bool, exist: Any, weights: np.ndarray | None, C: float,
        margin: float, r: float, costs: np.ndarray | None = None, **trace: Any,
    ) -> None:  # fmt: skip
        """Learn rows in order."""
        with self.lock:
            for t, row in enumerate(self.rows(x)):
                y = int(label[t])
                if y >= self.outputs:
                    self.grow(self.features, y + 1)
                if "scores" in trace:
                    trace["scores"][t, : self.outputs] = self.scores_of(row, self.predicting())
                    trace["cut"][t] = np.nan
                weight = (1.0 if weights is None else float(weights[t])) if y >= 0 else 0.0
                cost = costs[t] if costs is not None else self.cost_of(max(y, 0))
                table = self.joint.table(row, self.outputs)
                w = self.core.weights(current=True).astype(np.float64)
                scores = w[table[0]] @ table[1]
                empty = (0.0, np.empty(0, np.int32), np.empty(0, self.dtype), False)
                both = [
                    self.rival(table, scores, y, cost, augmented) if y >= 0 else empty for augmented in (False, True)
                ]
                self.last_loss, self.last_error, self.last_dual = self.core.learn(*both[0], *both[1], weight, C)
                for name in ("loss", "error", "dual"):
                    if name in trace:
                        trace[name][t] = getattr(self, f"last_{name}")
                if weight > 0:
                    self.joint.count(row, y)

    def learn_one_label(
        self, reader: Any, x: dict[str, Any], label: int, w: float, C: float, margin: float, r: float
    ) -> None:
        index, values = reader.read(x, True)
        if reader.features > self.features:
            self.grow(reader.features, self.outputs)
        self.learn(self.view(index, values), None, np.array([label]), False, None, np.array([w]), C, margin, r)

    def view(self, index: np.ndarray, values: np.ndarray) -> Any:
        kept = index < self.features
        start = np.array([0, int(kept.sum())], dtype=np.int64)
        return VIEWS[self.dtype](start, index[kept], values[kept].astype(self.dtype), self.features, self.intercept)

    def solve(
        self, x: Any, label: np.ndarray, caps: np.ndarray, cost: np.ndarray, by_row: bool, tolerance: float, passes: int
    ) -> tuple[int, float, float, float]:
        """Solve the svm; documents are counted first."""
        rows = self.counted(x, label, np.flatnonzero(caps > 0))
        tables = [self.joint.table(row, self.outputs) for row in rows]

        def hardest(i: int, w: np.ndarray) -> tuple[Any, ...]:
            y = int(label[i])
            scores = w.astype(np.float64)[tables[i][0]] @ tables[i][1]
            return self.rival(tables[i], scores, y, cost[i if by_row else y], True)

        found: tuple[int, float, float, float] = self.core.solve(hardest, caps, tolerance, passes)
        return found

    def separate(self, x: Any, label: np.ndarray, kept: np.ndarray) -> float:
        """Find weights that put the right class first everywhere, or raise."""
        rows = self.counted(x, label, kept)
        tables = {i: self.joint.table(rows[i], self.outputs) for i in kept.tolist()}

        def rivals(w: np.ndarray, below: float) -> tuple[np.ndarray, Any]:
            found, directions = [], []
            for i, table in tables.items():
                scores = w[table[0]] @ table[1]
                _, at, values, differs = self.rival(table, scores, int(label[i]), self.cost_of(int(label[i])), False)
                if differs and float(w[at] @ values.astype(np.float64)) < below:
                    found.append(i)
                    places = (np.zeros(at.size, dtype=int), at)
                    directions.append(sparse.csr_matrix((values.astype(np.float64), places), shape=(1, w.size)))
            matrix = sparse.vstack(directions, format="csr") if directions else sparse.csr_matrix((0, w.size))
            return np.array(found, dtype=int), matrix

        w, margin = separate(int(self.core.features), rivals, np.arange(x.count))
        self.core.write(w)
        return margin

    def counted(self, x: Any, label: np.ndarray, learned: np.ndarray) -> list[Row]:
        """Return all rows, once those that are learned have been counted."""
        rows = self.rows(x)
        for i in learned.tolist():
            self.joint.count(rows[i], int(label[i]))
        return rows

    def predicting(self) -> np.ndarray:
        return np.asarray(self.core.weights(current=False), dtype=np.float64)

    def scores_of(self, row: Row, w: np.ndarray) -> np.ndarray:
        at, values = self.joint.table(row, self.outputs)
        return np.asarray(w[at] @ values)

    def score(self, x: Any, out: np.ndarray, current: bool = False) -> None:
        with self.lock:
            w = np.asarray(self.core.weights(current=current), dtype=np.float64)
            for t, row in enumerate(self.rows(x)):
                out[t] = self.scores_of(row, w)

    def top(self, x: Any, out: np.ndarray) -> None:
        scores = np.empty((x.count, self.outputs))
        self.score(x, scores)
        out[:] = scores.argmax(axis=1)

    def score_one(self, reader: Any, x: dict[str, Any]) -> np.ndarray:
        out = np.empty((1, self.outputs), dtype=self.dtype)
        self.score(self.view(*reader.read(x, False)), out)
        return out[0]

    def top_one(self, reader: Any, x: dict[str, Any]) -> int:
        return int(self.score_one(reader, x).argmax())

    def weights(self) -> np.ndarray:
        """Return what features add to each class's score; for a written map the weights as they are."""
        if not isinstance(self.joint, TfIdf):
            return self.predicting().astype(self.dtype)
        return self.by_class()[:, int(self.intercept) :]

    def intercepts(self) -> np.ndarray:
        if not (self.intercept and isinstance(self.joint, TfIdf)):
            return np.zeros(self.outputs, dtype=self.dtype)
        return self.by_class()[:, 0]

    def by_class(self) -> np.ndarray:
        with self.lock:
            w = self.predicting()
            places = np.arange(self.features + self.intercept)
            return (w[places, None] * self.joint.table((places, np.ones(places.size)), self.outputs)[1]).T.astype(
                self.dtype
            )

    def ledger(self) -> dict[str, float]:
        return dict(self.core.ledger())

    def erase_output(self, label: int) -> None:
        self.joint.erase(label)
        self.outputs -= 1

    def copy(self) -> Self:
        with self.lock:
            rule, dtype, intercept, average = self.made_of
            joint = TfIdf() if isinstance(self.joint, TfIdf) else self.joint
            out = type(self)(rule, joint, dtype, intercept, average)
            out.core, out.features, out.outputs, out.by_truth = (
                self.core.copy(),
                self.features,
                self.outputs,
                self.by_truth,
            )
            if isinstance(joint, TfIdf):
                joint.documents = self.joint.documents
                joint.about, joint.all = self.joint.about.copy(), self.joint.all.copy()
            return out

    def state(self) -> dict[str, np.ndarray]:
        with self.lock:
            sections: dict[str, np.ndarray] = dict(self.core.state())
            if isinstance(self.joint, TfIdf):
                sections["documents"] = np.array([self.joint.documents])
                sections["documents_with"] = self.joint.all
                sections["documents_about"] = np.ascontiguousarray(self.joint.about)
            return sections

    def restore(self, sections: dict[str, np.ndarray]) -> None:
        own = dict(sections)
        if isinstance(self.joint, TfIdf):
            places = self.features + self.intercept
            shapes = {"documents": (1,), "documents_with": (places,), "documents_about": (places, self.outputs)}
            for name, shape in shapes.items():
                if name not in own or own[name].shape != shape or own[name].dtype != np.float64:
                    raise ValueError(f"section '{name}' is missing or has another shape than the model")
            self.joint.documents = float(own.pop("documents")[0])
            self.joint.all = own.pop("documents_with").copy()
            self.joint.about = own.pop("documents_about").copy()
        self.core.restore(own)
