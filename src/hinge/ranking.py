"""Ranked lists: score documents so that, query by query, the relevant ones come first.

Larger scores are better. Of equal relevances the row that comes first stands above in the order that a list asks for.
Two documents that tie in score are in wrong order, as a margin of exactly zero is a mistake.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Integral, Interval, Real, StrOptions

from hinge import _core, metrics
from hinge.base import check_dtype
from hinge.queries import RULES, Lists, QueryLearner, group

__all__ = ["ListRanker"]

MODELS = {np.dtype(np.float32): _core.ListRankerFloat32, np.dtype(np.float64): _core.ListRankerFloat64}
POSITIVE = Interval(Real, 0, None, closed="neither")
ALL = np.iinfo(np.int64).max


class ListRanker(QueryLearner):
    """Rank the documents of queries by a linear score, learned online, one list a round.

    A document has the score ``s_i = <w, x_i>``. The hinge of a list bounds its loss from above:

    - Kendall tau: the mean of ``max(0, 1 - (s_i - s_j))`` over the pairs in which i is more relevant than j, a bound on
      the share of such pairs that are in wrong order;
    - NDCG: ``max_v (1 - NDCG@k of v) + sum_i (v_i - pi_i) s_i`` over all permutations v, where pi is the order that the
      relevance asks for; positions count upward. The maximum is found exactly.

    Parameters
    ----------
    loss : {"kendall", "ndcg"}, default="kendall"
        What the hinge bounds.
    k : int, optional
        NDCG: how many places count, in the loss and in `score`; all by default.
    gain : {"linear", "exponential"}, default="linear"
        NDCG: what a document of relevance y is worth: y, or ``2 ** y - 1``.
    rule : {"passive-aggressive", "sgd", "perceptron"}, default="passive-aggressive"
        How far to move: as far as the list's hinge asks, at most C; a subgradient step; or 1, where the order is wrong.
    C : float, default=1.0
        Passive-aggressive: the largest step.
    alpha : float, default=1e-4
        SGD: the lambda of ``lambda ||w||^2 + mean hinge``; round t has the step ``1/(2 lambda t)``.
    eta : float, optional
        SGD: a constant step instead, and no regularisation.
    average : bool, default=False
        Predict with the mean of the weights over all rounds.
    max_iter : int, default=1
        Passes that `fit` makes.
    shuffle : bool, default=False
        Whether `fit` takes the lists in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    features : {"names", "hashed"}, default="names"
        How the names in dicts become features.
    n_bits : int, default=20
        Hashed: there are 2 ** n_bits features.
    dtype : dtype, default="float32"
        What the weights are kept in: float32 or float64.

    Attributes
    ----------
    coef_ : array of shape (n_features_in_,)
        The weights. There is no intercept: it would change no order.
    n_features_in_ : int
        How many features there are.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if they have any.
    t_ : int
        Rounds so far.
    skipped_ : int
        Rounds that asked for nothing: one document, or all equally relevant. A call that holds any warns once.
    n_iter_ : int
        Passes that `fit` made.
    certificate_ : Certificate
        What is proven about the stream so far; of the passive-aggressive rule.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import ListRanker
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.2, 0.9], [0.8, 0.1]])
    >>> relevance, qid = [2, 0, 1, 0, 1], ["cats", "cats", "cats", "dogs", "dogs"]
    >>> ranker = ListRanker(max_iter=5).fit(X, relevance, qid=qid)
    >>> ranker.rank(X, qid=qid).tolist()
    [1, 3, 2, 2, 1]
    >>> ranker.score(X, relevance, qid=qid)
    1.0

    References
    ----------
    S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", 2014, section 17.4.
    """

    _structure: ClassVar[tuple[str, ...]] = (
        "loss", "k", "gain", "rule", "average", "features", "n_bits", "dtype",
    )  # fmt: skip
    _asks_for: ClassVar[str] = "a list needs two documents that differ in relevance"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [StrOptions({"kendall", "ndcg"})],
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "gain": [StrOptions({"linear", "exponential"})],
        "rule": [StrOptions(RULES)],
        "C": [POSITIVE],
        "alpha": [POSITIVE],
        "eta": [POSITIVE, None],
        "average": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "features": [StrOptions({"names", "hashed"})],
        "n_bits": [Interval(Integral, 1, 30, closed="both")],
    }

    def __init__(
        self,
        loss: str = "kendall",
        k: int | None = None,
        *,
        gain: str = "linear",
        rule: str = "passive-aggressive",
        C: float = 1.0,
        alpha: float = 1e-4,
        eta: float | None = None,
        average: bool = False,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: Any = None,
        features: str = "names",
        n_bits: int = 20,
        dtype: Any = "float32",
    ) -> None:
        self.loss = loss
        self.k = k
        self.gain = gain
        self.rule = rule
        self.C = C
        self.alpha = alpha
        self.eta = eta
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.features = features
        self.n_bits = n_bits
        self.dtype = dtype

    def _check_combination(self) -> None:
        check_dtype(self)
        super()._check_combination()

    @property
    def _intercept(self) -> bool:
        return False

    def _new_model(self) -> Any:
        places = ALL if self.k is None else int(self.k)
        exponential = self.gain == "exponential"
        return MODELS[self._dtype](self._core_rule, self.average, self.loss == "ndcg", places, exponential)

    def fit(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything, then learn the lists in `max_iter` passes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of shape (n_samples,)
            The relevance of each document, not negative.
        qid : array-like of shape (n_samples,), optional
            The list that each document belongs to, of any type; rows of one list need not be neighbours. By default
            all rows are one list.
        sample_weight : array-like of shape (n_samples,) or (n_lists,), optional
            The mean of a list's weights multiplies its step; a list of weight 0 is scored and not learned. Weights of
            lists come in the order in which their first rows come.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, qid=qid)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, qid: Any = None, sample_weight: Any = None) -> Self:
        """Learn each list once, in the order in which their first rows come.

        Parameters
        ----------
        X, y, qid, sample_weight
            As for `fit`. A list is a round of one call: a query whose rows are spread over two calls is two lists.
        classes : None
            Not used; lists have no classes.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes, sample_weight, qid=qid)

    def _read_y(self, y: Any, rounds: int) -> np.ndarray:
        return read_relevance(y, rounds, self.loss == "ndcg" and self.gain == "exponential")

    def _idle(self, x: Lists, targets: np.ndarray) -> np.ndarray:
        least, most = x.least_and_most(targets)
        return least == most

    def decision_function(self, X: Any) -> np.ndarray:
        """Score every document.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._scores(X)

    def predict(self, X: Any) -> np.ndarray:
        """Score every document, as `decision_function` does; `rank` gives places.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._scores(X)

    def predict_one(self, x: Any) -> Any:
        """Score one document, or a list of them; None before anything was learned.

        Parameters
        ----------
        x : dict of feature name to number or string, or list of dicts
        """
        if self._model is None:
            return None
        scores = self._scores([x] if isinstance(x, dict) else list(x)).tolist()
        return scores[0] if isinstance(x, dict) else scores

    def rank(self, X: Any, qid: Any = None) -> np.ndarray:
        """Give each document its place in its list, 1 for the best; of equal scores the first row stands above.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        qid : array-like of shape (n_samples,), optional

        Returns
        -------
        array of shape (n_samples,)
        """
        scores = self._scores(X)
        order, start = group(qid, scores.size)
        of_row = Lists(None, order, start).of_row
        best_first = np.lexsort((-scores, of_row))
        places = np.empty(scores.size, dtype=np.int64)
        places[best_first] = np.arange(scores.size) - np.repeat(start[:-1], np.diff(start)) + 1
        return places

    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """Return the mean of NDCG@k over the lists.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of shape (n_samples,)
        qid : array-like of shape (n_samples,), optional
        sample_weight : array-like of shape (n_samples,) or (n_lists,), optional
            A list weighs as much as its rows on average.

        Returns
        -------
        float
        """
        scores = self._scores(X)
        relevance = read_relevance(y, scores.size, self.gain == "exponential")
        weight = Lists(None, *group(qid, scores.size)).weights(sample_weight)
        return metrics.ndcg_score(relevance, scores, k=self.k, gain=self.gain, qid=qid, sample_weight=weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags


def read_relevance(y: Any, rows: int, exponential: bool) -> np.ndarray:
    """Return one relevance a row in float64; ValueError, naming the row, where it cannot be one."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    values = column(y)
    if values.size != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {values.size}]")
    most = 1000.0 if exponential else np.inf
    bad = ~((values >= 0) & (values < most))
    if bad.any():
        t = int(np.argmax(bad))
        what = "NaN" if np.isnan(values[t]) else "infinity" if np.isinf(values[t]) else f"{values[t]:g}"
        limit = " and, for the exponential gain, below 1000" if exponential else ""
        raise ValueError(f"Input y contains {what} in row {t}; relevance must be finite, not negative{limit}")
    return values


def column(y: Any) -> np.ndarray:
    """Return numbers as a 1-d array of float64."""
    from sklearn.utils import column_or_1d

    values = column_or_1d(np.asarray(y), warn=True)
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported as relevance")
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"y must hold numbers, got {values.dtype}") from None
