"""What label rankers share: weights, lists of labels with scores, the share of each feature, a measure of quality."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags
from sklearn.utils._param_validation import Integral, Interval, Real, StrOptions
from sklearn.utils.validation import check_is_fitted

from hinge import labels, metrics
from hinge.base import LabelLearner
from hinge.labels import read_targets

__all__ = ["POSITIVE", "SHARED_CONSTRAINTS", "Ranker"]

POSITIVE = Interval(Real, 0, None, closed="neither")
SHARED_CONSTRAINTS: dict[str, list[Any]] = {
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "shuffle": ["boolean"],
    "random_state": ["random_state"],
    "fit_intercept": ["boolean"],
    "new_labels": [StrOptions({"add", "error", "ignore"})],
    "features": [StrOptions({"names", "hashed"})],
    "n_bits": [Interval(Integral, 1, 30, closed="both")],
}


class Ranker(ClassifierMixin, LabelLearner):
    """A label learner with a score for every label."""

    @property
    def coef_(self) -> np.ndarray:
        """The weights that predictions are made with, one row a label."""
        return self._learned("coef_").weights()

    @property
    def intercept_(self) -> np.ndarray:
        """The weights of the constant feature."""
        return self._learned("intercept_").intercepts()

    def _learned(self, name: str) -> Any:
        if self._model is None:
            raise AttributeError(f"{name} exists once something was learned")
        return self._model

    def rank(self, X: Any, top: int | None = None) -> list[list[tuple[Any, float]]]:
        """List the labels of each row with their scores, best first.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        top : int, optional
            How many labels; all by default.
        """
        _check_top(top)
        return [self._ranked(scores, top) for scores in self._scores(X)]

    def rank_one(self, x: dict[str, float | str], top: int | None = None) -> list[tuple[Any, float]]:
        """List the labels of one example with their scores, best first; nothing before anything was learned.

        Parameters
        ----------
        x : dict of feature name to number or string
        top : int, optional
            How many labels; all by default.
        """
        _check_top(top)
        if self._model is None:
            return []
        return self._ranked(self._model.score_one(self._reader_of(x), x), top)

    def _ranked(self, scores: np.ndarray, top: int | None) -> list[tuple[Any, float]]:
        order = np.argsort(-scores, kind="stable")[:top]
        return [(self._labels.known[y], float(scores[y])) for y in order]

    def explain_one(self, x: dict[str, float | str], label: Any) -> dict[str, float]:
        """Say how much each feature adds to the score of a label.

        Parameters
        ----------
        x : dict of feature name to number or string
        label : label

        Returns
        -------
        dict of str to float
            Largest share first; the intercept's is called ``(intercept)``. They sum to the score.
        """
        check_is_fitted(self)
        if label not in self._labels.number:
            raise ValueError(f"{label!r} is not in classes_")
        number, reader = self._labels.number[label], self._reader_of(x)
        shares: dict[str, float] = {}
        for name, value in x.items():
            share = self._model.share_of(reader, {name: value}, number)
            if share is not None:
                shares[f"{name}={value}" if isinstance(value, str) else name] = share
        if self.fit_intercept:
            shares["(intercept)"] = float(self._model.intercepts()[number])
        return dict(sorted(shares.items(), key=lambda item: -abs(item[1])))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy for labels, and 1 minus the ranking loss for sets.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of labels, list of sets, or indicator matrix
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        if labels.form_of(y) == labels.LABELS:
            return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))
        scores = self._scores(X)
        targets = read_targets(y, self._labels, len(scores)).without_fresh(len(self._labels))
        return 1 - metrics.ranking_loss(targets.indicator(scores.shape), scores, sample_weight=sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags


def _check_top(top: int | None) -> None:
    if top is not None and top < 1:
        raise ValueError(f"top must be at least 1, got {top!r}")
