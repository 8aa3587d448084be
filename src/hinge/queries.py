"""Calls in which a round is a list of rows: rows grouped by ``qid``, and learning from them list by list.

Lists are learned in the order in which their first rows come; rows keep their order within a list. A list is a round
of one call: where a query's rows are spread over two calls of ``partial_fit``, they are two lists.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hinge.base import Dicts, OnlineEstimator
from hinge.certificate import Certificate
from hinge.rows import read_weights

__all__ = ["Lists", "QueryLearner", "group"]

RULES = {"passive-aggressive", "sgd", "perceptron"}


@dataclass(frozen=True)
class Lists:
    """Rows, and which of them each list holds: list t has the rows ``order[start[t]:start[t + 1]]``."""

    rows: Any
    order: np.ndarray
    start: np.ndarray

    @property
    def count(self) -> int:
        return self.start.size - 1

    @property
    def of_row(self) -> np.ndarray:
        """The list of each row."""
        out = np.empty(self.order.size, dtype=np.int64)
        out[self.order] = np.repeat(np.arange(self.count), np.diff(self.start))
        return out

    def take(self, chosen: np.ndarray) -> Lists:
        """Return some of the lists, in the given order; the rows stay where they are."""
        size = np.diff(self.start)[chosen]
        start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        shift = np.repeat(self.start[:-1][chosen] - start[:-1], size)
        return replace(self, order=self.order[np.arange(start[-1]) + shift], start=start)

    def least_and_most(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest value of each list."""
        by_list = values[self.order]
        return np.minimum.reduceat(by_list, self.start[:-1]), np.maximum.reduceat(by_list, self.start[:-1])

    def weights(self, sample_weight: Any) -> np.ndarray | None:
        """Return one weight a list: the mean of its rows', unless one a list is given, in the order of the lists."""
        if sample_weight is None:
            return None
        given = np.asarray(sample_weight)
        if given.shape == (self.count,) and self.count < self.order.size:
            return read_weights(given, self.count)
        by_row = read_weights(given, self.order.size)
        return None if by_row is None else np.add.reduceat(by_row[self.order], self.start[:-1]) / np.diff(self.start)


def group(qid: Any, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of rows by list, and where each list starts; without `qid` all rows are one list."""
    if qid is None:
        return np.arange(rows, dtype=np.int64), np.array([0, rows], dtype=np.int64)
    names = np.asarray(qid)
    if names.ndim == 2 and names.shape[1] == 1:
        names = names[:, 0]
    if names.shape != (rows,):
        raise ValueError(f"qid must name the list of each of the {rows} rows, got an array of shape {names.shape}")
    if names.dtype.kind == "f" and not np.isfinite(names).all():
        raise ValueError(f"row {int(np.flatnonzero(~np.isfinite(names))[0])} of qid is not finite")
    if names.dtype.kind in "iufb" and (names[1:] >= names[:-1]).all():
        start = np.flatnonzero(np.concatenate([[True], names[1:] != names[:-1]]))
        return np.arange(rows, dtype=np.int64), np.append(start, rows).astype(np.int64)
    _, first, inverse, size = np.unique(names, return_index=True, return_inverse=True, return_counts=True)
    appearance = np.argsort(first)
    number = np.empty_like(appearance)
    number[appearance] = np.arange(appearance.size)
    order = np.argsort(number[inverse.reshape(-1)], kind="stable")
    return order.astype(np.int64), np.concatenate([[0], np.cumsum(size[appearance])]).astype(np.int64)


class QueryLearner(OnlineEstimator):
    """What estimators share that learn one vector of weights, a list of rows a round.

    A problem supplies besides what `OnlineEstimator` asks for: ``_idle``, which lists ask for nothing, and
    ``_asks_for``, what they lack.
    """

    _learns_lists: ClassVar[bool] = True
    _asks_for: ClassVar[str]

    def _idle(self, x: Lists, targets: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _check_combination(self) -> None:
        if self._begun is not None and {self._rule_begun, self._core_rule} == {"sgd", "regularised sgd"}:
            raise ValueError("eta is part of how SGD began: call fit to go from None to a number, or back")

    def _settings(self) -> tuple[float, ...]:
        if self.rule == "passive-aggressive":
            return (float(self.C),)
        if self.rule == "perceptron":
            return (1.0,)
        return (1 / (2 * float(self.alpha)) if self.eta is None else float(self.eta),)

    @property
    def _core_rule(self) -> str:
        return "regularised sgd" if self.rule == "sgd" and self.eta is None else str(self.rule)

    @property
    def skipped_(self) -> int:
        """How many lists asked for nothing so far."""
        if self._model is None:
            raise AttributeError("nothing was learned yet")
        return self._skipped

    # -- learning ---------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        super()._start()
        self._skipped, self._rule_begun = 0, self._core_rule

    def _read(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = False, qid: Any = None, **more: Any
    ) -> tuple[Lists, np.ndarray, np.ndarray | None]:
        rows = self._read_x(X, reset=reset)
        x = Lists(rows, *group(qid, rows.count))
        return x, self._read_y(y, rows.count), x.weights(sample_weight)

    def _permuted(
        self, x: Lists, targets: np.ndarray, weights: np.ndarray | None, order: np.ndarray | None
    ) -> tuple[Lists, np.ndarray, np.ndarray | None]:
        if order is None:
            return x, targets, weights
        return x.take(order), targets, None if weights is None else weights[order]

    def _fit(self, X: Any, y: Any, sample_weight: Any, **more: Any) -> Self:
        with warnings.catch_warnings(action="ignore", category=SkippedListsWarning):
            super()._fit(X, y, sample_weight, **more)
        if self._skipped:
            self._report(self._skipped // self.max_iter)
        return self

    def _learn(self, x: Lists, targets: np.ndarray, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        idle = int(self._idle(x, targets).sum())
        self._skipped += idle
        if idle:
            self._report(idle)
        rows = self._native(x.rows, add=True)
        self._model.grow(self.n_features_in_, 1)
        self._model.learn(rows, x.order, x.start, targets, weights, *self._set, **trace)

    def _report(self, lists: int) -> None:
        what = "list asks" if lists == 1 else "lists ask"
        warnings.warn(f"{lists} {what} for nothing and were skipped: {self._asks_for}", SkippedListsWarning, 4)

    def _native(self, rows: Any, *, add: bool = False) -> Any:
        """Return dicts as rows of the core; rows as they are."""
        if not isinstance(rows, Dicts):
            return rows
        native = rows.reader.rows(list(rows.X), add, self._intercept, self._dtype == np.float32)
        if add:
            self.n_features_in_ = rows.reader.features
        return native

    def learn_one(self, x: Any, y: Any, w: float = 1.0) -> None:
        """Learn from one list.

        Parameters
        ----------
        x : list of dicts of feature name to number or string
            The documents. A single dict is a list of one document, which asks for nothing.
        y : list
            A target for each document.
        w : float, default=1.0
            The list's weight.
        """
        rows: Any = [x] if isinstance(x, dict) else x
        super().learn_one(rows, [y] if isinstance(x, dict) else y, w)

    def _reader_of(self, x: Any) -> Any:
        return super()._reader_of(x[0] if isinstance(x, list | tuple) and x else x)

    def _learn_example(self, reader: Any, x: Any, y: Any, w: float) -> None:
        weight = np.full(len(x), float(w))
        with warnings.catch_warnings(action="ignore", category=SkippedListsWarning):
            self._partial_fit(list(x), y, None, weight)

    def _learn_progressively(
        self, X: Any, y: Any, *, classes: Any, sample_weight: Any, answers: bool, qid: Any = None, **more: Any
    ) -> dict[str, Any]:
        seen = super()._learn_progressively(
            X, y, classes=classes, sample_weight=sample_weight, answers=answers, qid=qid, **more
        )
        if answers:
            order, start = group(qid, seen["answers"].size)
            seen["answers"] = self._answers_of_lists(seen["answers"], order, start)
            seen["rows"] = np.split(order, start[1:-1])
        return seen

    def _room_for_answers(self, rounds: int, targets: np.ndarray) -> dict[str, np.ndarray]:
        return {"scores": np.empty(targets.size)}

    def _answers_from(self, room: dict[str, np.ndarray]) -> np.ndarray:
        return room["scores"].astype(self._dtype)

    def _answers_of_lists(self, scores: np.ndarray, order: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Return what was answered to rows of these scores."""
        return scores

    # -- answers ----------------------------------------------------------------------------------------------------

    def _scores(self, X: Any) -> np.ndarray:
        """Return one score a row."""
        check_is_fitted(self)
        rows = self._native(self._read_x(X))
        out = np.empty(rows.count, dtype=self._dtype)
        self._model.score(rows, out)
        return out

    @property
    def coef_(self) -> np.ndarray:
        """The weights that predictions are made with."""
        return self._learned("coef_").weights()

    def _learned(self, name: str) -> Any:
        if self._model is None:
            raise AttributeError(f"{name} exists once something was learned")
        return self._model

    @property
    def certificate_(self) -> Certificate:
        """What is proven about the stream so far, of the passive-aggressive rule."""
        if self.rule != "passive-aggressive":
            raise AttributeError(f"only the passive-aggressive rule has a certificate, and rule is {self.rule!r}")
        book = self._learned("certificate_").ledger()
        gain, dual = book["least_gain"], book["dual"]
        rounding = np.finfo(self._dtype).eps * (book["promised"] + 2 * book["conjugate"] + 1)
        return Certificate(
            int(book["rounds"]),
            int(book["mistakes"]),
            book["loss"],
            dual,
            max(0.0, dual) / gain if gain > 0 else inf,
            tolerance=float(rounding * np.sqrt(max(1.0, book["rounds"]))),
            C=book["C"] or float(self.C),
        )

    # -- files ------------------------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        state, sections = super()._state()
        return state | {"skipped": self._skipped}, sections

    def _restore(self, state: Mapping[str, Any], sections: dict[str, np.ndarray]) -> None:
        super()._restore(state, sections)
        self._skipped = int(state["skipped"])
        largest = max((section.shape[0] for section in sections.values() if section.ndim == 2), default=0)
        if self.n_features_in_ > largest:
            raise ValueError(f"{self.n_features_in_} features, but no section is as long")
        self._model.grow(self.n_features_in_, 1)
        self._model.restore(sections)


class SkippedListsWarning(UserWarning):
    """Some lists of a call ask for nothing: nothing was learned from them."""
