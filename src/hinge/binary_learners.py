"""Binary learners, one for each label or pair of labels, in the place of a model of the core (MATH.md E).

They are estimators of this library with the classes -1 and +1, or anything with ``fit`` and ``predict`` for ``fit``
alone. A score of exactly zero is no vote for +1.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from math import inf, isqrt
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from hinge import labels
from hinge.labels import Labels, Targets
from hinge.rows import VIEWS, as_matrix

__all__ = ["EachAgainstAll", "EachPair"]

SIDES = [-1, 1]


def locked(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method run while no other thread reads or writes the same learners."""

    @wraps(method)
    def alone(self: Any, *given: Any, **named: Any) -> Any:
        with self.lock:
            return method(self, *given, **named)

    return alone


class Machines:
    """Binary learners in the place of a model of the core: the same methods, by number of label."""

    has_cut = False

    def __init__(self, binary: Any, dtype: np.dtype[Any], intercept: bool, online: bool) -> None:
        self.binary, self.dtype, self.intercept, self.online = binary, dtype, intercept, online
        self.learners: list[Any] = []
        self.fresh: Any = None
        self.lock = threading.RLock()
        self.features = self.outputs = self.rounds = 0
        self.last_loss = self.last_error = self.last_dual = 0.0

    # How many learners there are for so many labels; which labels are +1 and -1 for each; scores from theirs.
    @staticmethod
    def count(labels: int) -> int:
        raise NotImplementedError

    def sides(self, number: int, label: np.ndarray) -> np.ndarray:
        """Return +1, -1, or 0 for a row that is not learned."""
        raise NotImplementedError

    def labels_of(self, number: int) -> list[int]:
        raise NotImplementedError

    def taught_by(self, label: np.ndarray) -> list[int]:
        """Return the learners that rows with these labels are for."""
        return list(range(len(self.learners)))

    def combined(self, scores: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    @locked
    def grow(self, features: int, outputs: int) -> None:
        while len(self.learners) < self.count(outputs):
            self.learners.append(self.begun(features).snapshot() if self.online else clone(self.binary))
        if self.online and features != self.features:
            for one in self.learners:
                one.n_features_in_ = features
                one._model.grow(features, 2)
        self.features, self.outputs = features, outputs

    def begun(self, features: int) -> Any:
        """Return a binary learner that has learned nothing yet."""
        if self.fresh is None or self.fresh.n_features_in_ != features:
            one = clone(self.binary)
            one._check_params()
            one._begin()
            one._labels, one._fixed, one.n_features_in_ = Labels(SIDES), True, features
            one._model.grow(features, 2)
            self.fresh = one
        return self.fresh

    @locked
    def learn(
        self, x: Any, start: Any, label: np.ndarray, sets: bool, exist: Any, weights: np.ndarray | None, **trace: Any
    ) -> None:
        """Learn rows; a label exists from the row in which it first appears."""
        if not self.online:
            self.learn_at_once(x, label, weights)
            return
        if trace:
            for t in range(x.count):
                self.learn_traced(
                    x.take(np.array([t])), label[[t]], None if weights is None else weights[[t]], t, trace
                )
            return
        known = np.maximum.accumulate(np.maximum(label + 1, self.outputs))
        self.grow(self.features, int(known[-1]))
        for number in self.taught_by(label):
            first = int(np.argmax(known > max(self.labels_of(number))))
            side = self.sides(number, label)
            side[:first] = 0
            rows = np.flatnonzero(side)
            if rows.size:
                part = x if rows.size == x.count else x.take(rows)
                self.teach(self.learners[number], part, side[rows], None if weights is None else weights[rows])
        self.rounds += x.count

    def teach(self, one: Any, rows: Any, side: np.ndarray, weights: np.ndarray | None, **trace: Any) -> None:
        number = ((side + 1) // 2).astype(np.int32)
        one._learn_rows(rows, Targets(labels.LABELS, None, number, []), weights, **trace)

    def learn_traced(
        self, row: Any, label: np.ndarray, weights: np.ndarray | None, t: int, trace: dict[str, np.ndarray]
    ) -> None:
        """Learn one row, and note the scores before, the sum of the learners' losses, and whether it was a mistake."""
        if label[0] >= self.outputs:
            self.grow(self.features, int(label[0]) + 1)
        scores = np.empty((1, self.outputs), dtype=self.dtype)
        if "scores" in trace:
            self.score(row, scores)
            trace["scores"][t, : self.outputs] = scores[0]
        self.score(row, scores, current=True)
        losses, loss = np.zeros(1), 0.0
        for number in self.taught_by(label):
            side = self.sides(number, label)
            if side[0]:
                self.teach(self.learners[number], row, side, weights, loss=losses)
                loss += float(losses[0])
        others = scores[0].copy()
        if label[0] >= 0:
            others[label[0]] = -inf
        wrong = label[0] >= 0 and others.max(initial=-inf) >= scores[0, label[0]]
        self.rounds += 1
        for name, value in (("loss", loss), ("error", float(wrong)), ("dual", np.nan), ("cut", np.nan)):
            if name in trace:
                trace[name][t] = value

    def learn_at_once(self, x: Any, label: np.ndarray, weights: np.ndarray | None) -> None:
        matrix = as_matrix(x)
        for number, one in enumerate(self.learners):
            side = self.sides(number, label)
            rows = np.flatnonzero(side)
            more = {} if weights is None else {"sample_weight": weights[rows]}
            one.fit(matrix[rows], side[rows], **more)
        self.rounds += x.count

    @locked
    def learn_one_label(self, reader: Any, x: dict[str, Any], label: int, w: float) -> None:
        index, values = reader.read(x, True)
        if reader.features > self.features:
            self.grow(reader.features, self.outputs)
        trace = {name: np.zeros(1) for name in ("loss", "error")}
        self.learn_traced(self.view(index, values), np.array([label]), np.array([w]), 0, trace)
        self.last_loss, self.last_error = float(trace["loss"][0]), float(trace["error"][0])

    def view(self, index: np.ndarray, values: np.ndarray) -> Any:
        kept = index < self.features
        index, values = index[kept], values[kept].astype(self.dtype)
        start = np.array([0, index.size], dtype=np.int64)
        return VIEWS[self.dtype](start, np.ascontiguousarray(index), values, self.features, self.intercept)

    @locked
    def score(self, x: Any, out: np.ndarray, current: bool = False) -> None:
        """Score rows; with `current` by the weights that the next round is judged by, even where a mean predicts."""
        raw = np.empty((x.count, len(self.learners)))
        matrix = None if self.online else as_matrix(x)
        for number, one in enumerate(self.learners):
            if self.online:
                two = np.empty((x.count, 2), dtype=self.dtype)
                one._model.score(x, two, current)
                raw[:, number] = two[:, 1].astype(np.float64) - two[:, 0]
            else:
                answer = one.decision_function if hasattr(one, "decision_function") else one.predict
                raw[:, number] = answer(matrix)
        out[:] = self.combined(raw)

    def top(self, x: Any, out: np.ndarray) -> None:
        scores = np.empty((x.count, self.outputs), dtype=self.dtype)
        self.score(x, scores)
        out[:] = scores.argmax(axis=1)

    def score_one(self, reader: Any, x: dict[str, Any]) -> np.ndarray:
        out = np.empty((1, self.outputs), dtype=self.dtype)
        self.score(self.view(*reader.read(x, False)), out)
        return out[0]

    def top_one(self, reader: Any, x: dict[str, Any]) -> int:
        return int(self.score_one(reader, x).argmax())

    @locked
    def erase_output(self, label: int) -> None:
        kept = [number for number in range(len(self.learners)) if label not in self.labels_of(number)]
        self.learners = [self.learners[number] for number in kept]
        self.outputs -= 1

    @locked
    def copy(self) -> Self:
        out = type(self)(self.binary, self.dtype, self.intercept, self.online)
        out.learners = [one.snapshot() if self.online else one for one in self.learners]
        out.features, out.outputs, out.rounds = self.features, self.outputs, self.rounds
        return out

    @locked
    def state(self) -> dict[str, np.ndarray]:
        out = {"rounds": np.array([float(self.rounds)])}
        for number, one in enumerate(self.learners):
            out |= {f"{number}.{name}": array for name, array in one._model.state().items()}
        return out

    @locked
    def restore(self, sections: dict[str, np.ndarray]) -> None:
        self.rounds = int(sections["rounds"][0])
        parts: list[dict[str, np.ndarray]] = [{} for _ in self.learners]
        for name, array in sections.items():
            number, _, own = name.partition(".")
            if own:
                parts[int(number)][own] = array
        if not self.online:
            self.learners = [self.begun(self.features).snapshot() for _ in self.learners]
        for one, part in zip(self.learners, parts, strict=True):
            one._model.restore(part)


class EachAgainstAll(Machines):
    @staticmethod
    def count(labels: int) -> int:
        return labels

    def sides(self, number: int, label: np.ndarray) -> np.ndarray:
        return np.where(label < 0, 0, np.where(label == number, 1, -1))

    def labels_of(self, number: int) -> list[int]:
        return [number]

    def combined(self, scores: np.ndarray) -> np.ndarray:
        return scores


class EachPair(Machines):
    """Pairs i < j come in the order (0, 1), (0, 2), (1, 2), (0, 3), ..: those of a new label are the last ones."""

    @staticmethod
    def count(labels: int) -> int:
        return labels * (labels - 1) // 2

    def labels_of(self, number: int) -> list[int]:
        j = (1 + isqrt(1 + 8 * number)) // 2
        return [number - self.count(j), j]

    def taught_by(self, label: np.ndarray) -> list[int]:
        seen = np.unique(label[label >= 0]).tolist()
        pairs = {(min(a, b), max(a, b)) for a in seen for b in range(self.outputs) if a != b}
        return sorted(i + self.count(j) for i, j in pairs)

    def sides(self, number: int, label: np.ndarray) -> np.ndarray:
        i, j = self.labels_of(number)
        return np.where(label == i, 1, np.where(label == j, -1, 0))

    def combined(self, scores: np.ndarray) -> np.ndarray:
        votes = np.zeros((len(scores), self.outputs))
        for number in range(len(self.learners)):
            i, j = self.labels_of(number)
            vote = np.where(scores[:, number] > 0, 1, -1)
            votes[:, i] += vote
            votes[:, j] -= vote
        return votes
