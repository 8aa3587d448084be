"""Choosing the regularisation of a `PairwiseLabelRanker` by the ranking loss on rows held out."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.utils import Tags, _safe_indexing, get_tags, indexable
from sklearn.utils._param_validation import HasMethods, Integral, Interval, Real
from sklearn.utils.validation import check_is_fitted

from hinge.pairwise import PairwiseLabelRanker

__all__ = ["PairwiseLabelRankerCV"]


class PairwiseLabelRankerCV(ClassifierMixin, BaseEstimator):
    """A `PairwiseLabelRanker` whose `alpha` has the least ranking loss on rows held out.

    Parameters
    ----------
    estimator : PairwiseLabelRanker, optional
        What the other parameters are taken from.
    alphas : sequence of float, optional
        By default 1e-6, 1e-5, .., 1.
    cv : int, float or splitter, default=5
        Folds, the share of the rows to hold out once, or an object with ``split``.
    random_state : int, RandomState instance or None, default=None
        For drawing the folds.

    Attributes
    ----------
    alpha_ : float
        The best alpha; of several the largest.
    ranking_losses_ : array of shape (n_alphas, n_splits)
        On the rows held out.
    best_estimator_ : PairwiseLabelRanker
        Fitted on all rows with it.
    classes_, n_features_in_, feature_names_in_
        As there.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import PairwiseLabelRanker, PairwiseLabelRankerCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 4))
    >>> batch = PairwiseLabelRanker("lbfgs", tol=1e-2)
    >>> ranker = PairwiseLabelRankerCV(batch, alphas=[0.01, 10.0], cv=3, random_state=0).fit(X, X.argmax(axis=1))
    >>> ranker.alpha_
    0.01
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "measures"]), None],
        "alphas": ["array-like", None],
        "cv": [
            Interval(Integral, 2, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            HasMethods(["split"]),
        ],
        "random_state": ["random_state"],
    }

    def __init__(self, estimator: Any = None, *, alphas: Any = None, cv: Any = 5, random_state: Any = None) -> None:
        self.estimator = estimator
        self.alphas = alphas
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Measure every alpha on rows held out, then learn from all rows with the best.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of labels, list of sets, or indicator matrix

        Returns
        -------
        self
        """
        self._validate_params()
        one = PairwiseLabelRanker() if self.estimator is None else self.estimator
        alphas = np.sort(10.0 ** np.arange(-6, 1) if self.alphas is None else np.asarray(self.alphas, dtype=float))
        if alphas.ndim != 1 or alphas.size == 0 or not (np.isfinite(alphas) & (alphas > 0)).all():
            raise ValueError(f"alphas must be at least one number, each above 0; got {self.alphas!r}")
        best = clone(one).set_params(alpha=float(alphas[-1])).fit(X, y)  # bad input is refused here, in its own words
        X, y = indexable(X, y)
        splits = list(self._splitter().split(X))
        self.ranking_losses_ = np.array([[self._held_out(one, a, X, y, *split) for split in splits] for a in alphas])
        means = self.ranking_losses_.mean(axis=1)
        self.alpha_ = float(alphas[np.flatnonzero(means == means.min())[-1]])
        if self.alpha_ != best.alpha:
            best = _fit_quietly(one, self.alpha_, X, y)
        self.best_estimator_ = best
        self.classes_, self.n_features_in_ = best.classes_, best.n_features_in_
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_
        return self

    def _splitter(self) -> Any:
        if isinstance(self.cv, Integral):
            return KFold(self.cv, shuffle=True, random_state=self.random_state)
        if isinstance(self.cv, Real):
            return ShuffleSplit(1, test_size=self.cv, random_state=self.random_state)
        return self.cv

    @staticmethod
    def _held_out(one: Any, alpha: float, X: Any, y: Any, train: np.ndarray, test: np.ndarray) -> float:
        it = _fit_quietly(one, alpha, _safe_indexing(X, train), _safe_indexing(y, train))
        return it.measures(_safe_indexing(X, test), _safe_indexing(y, test))["ranking_loss"]

    def predict(self, X: Any) -> Any:
        """Answer as the best estimator does."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """Score every label with the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    def rank(self, X: Any, top: int | None = None) -> list[list[tuple[Any, float]]]:
        """List the labels of each row with their scores, best first."""
        check_is_fitted(self)
        return self.best_estimator_.rank(X, top)

    def objective(self, X: Any, Y: Any) -> float:
        """Return the best estimator's regularised mean hinge on a data set."""
        check_is_fitted(self)
        return self.best_estimator_.objective(X, Y)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy for labels, and 1 minus the ranking loss for sets."""
        check_is_fitted(self)
        return self.best_estimator_.score(X, y, sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = get_tags(PairwiseLabelRanker()).classifier_tags.multi_label
        return tags


def _fit_quietly(one: Any, alpha: float, X: Any, y: Any) -> Any:
    """Fit a copy with another alpha that does not report the rows without a pair: the first fit to all rows did."""
    it = clone(one).set_params(alpha=float(alpha))
    it._tells = False
    it.fit(X, y)
    it._tells = True
    return it
