"""Learning list by list, for estimators with one vector of weights.

Lists are learned in the order in which their first rows come. A list is a round of one call: where a query's rows are
spread over two calls of ``partial_fit``, they are two lists.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hinge.base import Dicts, OnlineEstimator
from hinge.lists import Lists, group
from hinge.oracles import RuleLearner, online_only, warn_if_open
from hinge.rows import as_csr
from hinge.separation import separate

__all__ = ["QueryLearner", "SkippedListsWarning", "reported_once"]


class QueryLearner(RuleLearner, OnlineEstimator):
    """What estimators share that learn one vector of weights, a list of rows a round.

    A problem supplies besides what `OnlineEstimator` asks for: ``_idle``, which lists ask for nothing; ``_asks_for``,
    what they lack; and ``_worst``, where weights fall short of being right on all lists by a margin.
    """

    _learns_lists: ClassVar[bool] = True
    _quiet = False

    @property
    def _asks_for(self) -> str:
        raise NotImplementedError

    def _idle(self, x: Lists, targets: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _worst(self, matrix: Any, x: Lists, targets: np.ndarray, w: np.ndarray, below: float) -> tuple[Any, Any]:
        """Return rows whose direction has a margin below the given one, and these directions, as CSR rows."""
        raise NotImplementedError

    def _check_combination(self) -> None:
        self._check_rule()

    def _settings(self) -> tuple[float, ...]:
        return (self._step,)

    @property
    def skipped_(self) -> int:
        """How many lists asked for nothing so far."""
        self._learned("skipped_")
        return int(self._skipped)

    # -- learning ---------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        super()._start()
        self._skipped = 0

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
        with self._quietly():
            super()._fit(X, y, sample_weight, **more)
        if self._skipped:
            self._report(self._skipped // self._passes)
        return self._after_fit(self)

    @contextlib.contextmanager
    def _quietly(self) -> Iterator[None]:
        """Report no lists that are skipped: this is done elsewhere, once a call."""
        outermost, self._quiet = not self._quiet, True
        try:
            yield
        finally:
            if outermost:  # leaves no trace
                self.__dict__.pop("_quiet", None)

    def _learn(self, x: Lists, targets: np.ndarray, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        idle = int(self._idle(x, targets).sum())
        if idle and not self._quiet:
            self._report(idle)
        self._skipped += idle
        rows = self._native(x.rows, add=True)
        self._model.grow(self.n_features_in_, 1)
        if self.rule == "svm":
            self._solve(replace(x, rows=rows), targets, weights)
        elif self.rule == "erm":
            self._separate(replace(x, rows=rows), targets, weights)
        else:
            self._model.learn(rows, x.order, x.start, targets, weights, *self._set, **trace)

    def _solve(self, x: Lists, targets: np.ndarray, weights: np.ndarray | None) -> None:
        caps = self._caps(weights, x.count)
        passes, primal, dual, hinge, mistakes = self._model.solve(
            x.rows, x.order, x.start, targets, caps, float(self.tol), int(self.max_passes)
        )
        self._note_solution(x.count, passes, primal, dual, hinge, caps, mistakes)
        warn_if_open(self, primal, dual)

    def _separate(self, x: Lists, targets: np.ndarray, weights: np.ndarray | None) -> None:
        """Find weights that are right on every list, or raise."""
        if weights is not None:
            x = x.take(np.flatnonzero(weights))
        x = x.take(np.flatnonzero(~self._idle(x, targets)))
        matrix = as_csr(x.rows, self._intercept)

        def rivals(w: np.ndarray, below: float) -> tuple[np.ndarray, Any]:
            return self._worst(matrix, x, targets, w, below)

        w, margin = np.zeros(matrix.shape[1]), 0.0
        if x.count:
            w, margin = separate(matrix.shape[1], rivals, np.arange(matrix.shape[0]))
        self._model.write(np.ascontiguousarray(w))
        self._solved = {"examples": float(x.count), "passes": 1.0, "margin": margin}

    def _report(self, lists: int) -> None:
        what = "list asks for nothing and was" if lists == 1 else "lists ask for nothing and were"
        warnings.warn(f"{lists} {what} skipped: {self._asks_for}", SkippedListsWarning, 4)

    def _native(self, rows: Any, *, add: bool = False) -> Any:
        """Return dicts as rows of the core; rows as they are."""
        if not isinstance(rows, Dicts):
            return rows
        native = rows.reader.rows(list(rows.X), add, self._intercept, self._dtype == np.float32)
        if add:
            self.n_features_in_ = rows.reader.features
        return native

    @online_only
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
        if not isinstance(x, dict | list | tuple):
            raise TypeError(f"x must be a list of dicts of feature name to number or string, got {type(x).__name__}")
        if isinstance(x, list | tuple) and not x:
            raise ValueError("x is an empty list: it holds no document")
        single = isinstance(x, dict)
        documents: Any = [x] if single else x
        super().learn_one(documents, [y] if single else y, w)

    def _reader_of(self, x: Any) -> Any:
        return super()._reader_of(x[0] if isinstance(x, list | tuple) and x else x)

    def _learn_example(self, reader: Any, x: Any, y: Any, w: float) -> None:
        weight = np.full(len(x), float(w))
        with self._quietly():
            self._partial_fit(list(x), y, None, weight)

    @online_only
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


@contextlib.contextmanager
def reported_once(estimator: Any, passes: int = 1) -> Iterator[None]:
    """Report what all calls in the block skip at its end, once; `passes` is how often they see each list."""
    if not isinstance(estimator, QueryLearner):
        yield
        return
    before = estimator.skipped_ if estimator.__sklearn_is_fitted__() else 0
    with estimator._quietly():
        yield
    skipped = estimator.skipped_ - before if estimator.__sklearn_is_fitted__() else 0
    if skipped:
        estimator._report(-(-skipped // passes))


class SkippedListsWarning(UserWarning):
    """Some lists of a call ask for nothing: nothing was learned from them."""
