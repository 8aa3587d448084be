"""Rows that come as dicts of feature name to value: looked at all at once, learned and scored one by one."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

__all__ = ["Dicts"]


class Dicts:
    """A list of dicts as the X of a call: every value has been looked at, and they are learned one by one."""

    def __init__(self, estimator: Any, X: Any) -> None:
        self.estimator, self.X, self.count = estimator, X, len(X)
        self.reader = estimator._dict_reader()

    def check(self) -> Self:
        """Look at every value; TypeError or ValueError, naming the row, where one cannot be read."""
        for t, x in enumerate(self.X):
            if not isinstance(x, dict):
                raise TypeError(f"row {t} of X is {type(x).__name__}, but the first is a dict")
            try:
                self.reader.check(x, self.estimator._dtype == np.float32)
            except (TypeError, ValueError) as error:
                raise type(error)(f"row {t} of X: {error}") from None
        return self

    def take(self, order: np.ndarray) -> Dicts:
        return Dicts(self.estimator, [self.X[t] for t in order])

    def learn(self, targets: Any, weights: np.ndarray | None, trace: dict[str, np.ndarray]) -> None:
        it, model = self.estimator, self.estimator._model
        wanted = [name for name in it._seen if name in trace]
        for t, x in enumerate(self.X):
            if len(trace) > len(wanted):
                it._trace_answer(t, self.reader, x, trace)
            w = 1.0 if weights is None else float(weights[t])
            it._learn_dict(self.reader, x, targets.take(np.array([t])), w)
            for name in wanted:
                trace[name][t] = getattr(model, f"last_{name}")
        it.n_features_in_ = self.reader.features

    def scores(self) -> np.ndarray:
        return np.stack([self.estimator._model.score_one(self.reader, x) for x in self.X])

    def cuts(self) -> np.ndarray:
        return np.array([self.estimator._model.cut_one(self.reader, x) for x in self.X])
