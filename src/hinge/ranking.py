"""Ranked lists: score documents so that, query by query, the relevant ones come first.

Larger scores are better. Of equal relevances the row that comes first stands above in the order that a list asks for,
unless ``ties="mean"``. Two documents that tie in score are in wrong order, as a margin of exactly zero is a mistake.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Integral, Interval, StrOptions

from hinge import _core, metrics
from hinge.base import check_dtype
from hinge.lists import Lists, group
from hinge.oracles import RuleLearner, online_only
from hinge.queries import QueryLearner

__all__ = ["ListRanker"]

MODELS = {np.dtype(np.float32): _core.ListRankerFloat32, np.dtype(np.float64): _core.ListRankerFloat64}
ALL = int(np.iinfo(np.int64).max)


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
    ties : {"index", "mean"}, default="index"
        NDCG: what pi is for documents of equal relevance: the row that comes first stands above; or all get the mean of
        their positions, which makes the hinge the mean of those against every order allowed. Choose "mean" where many
        documents are equally relevant: no order among them is then learned.
    rule : {"passive-aggressive", "sgd", "perceptron", "svm", "erm"}, default="passive-aggressive"
        - ``"passive-aggressive"``: as far as the list's hinge asks, at most C, with a certificate;
        - ``"sgd"``: a subgradient step on each list: with `alpha` the step ``1 / (2 alpha t)`` for
          ``alpha ||w||^2 + mean hinge``, with `eta` a constant step for the mean hinge;
        - ``"perceptron"``: a unit step where anything is wrong;
        - ``"svm"``: the minimum of ``alpha ||w||^2 + mean hinge`` over all lists, to a proven gap; only ``fit``;
        - ``"erm"``: weights that put every comparable pair in order, whatever the loss, by linear programming, or
          an error that says that there are none; only ``fit``.
    C : float, default=1.0
        Passive-aggressive: the largest step. Svm: ``1 / (2 alpha m)`` for m lists.
    alpha : float, optional
        The lambda of ``lambda ||w||^2 + mean hinge``. Sgd: 1e-4 where neither `alpha` nor `eta` is given. Svm: used in
        place of C where it is given.
    eta : float, optional
        Sgd: a constant step.
    average : bool, default=False
        Predict with the mean of the weights over all rounds, before their updates.
    tol : float, default=1e-4
        Svm: the gap to reach, as a share of the objective.
    max_passes : int, default=1000
        Svm: when to stop all the same, with a warning.
    max_iter : int, default=1
        Passes that `fit` makes with the rules that learn online; the Perceptron stops after a pass without a mistake.
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
        Rounds that asked for nothing: one document, or all equally relevant; NDCG with ``ties="index"``: none relevant.
        A call that holds any warns once.
    n_iter_ : int
        Passes that `fit` made.
    certificate_ : Certificate
        What is proven about any fixed weights on the stream so far, or on the lists: passive-aggressive, svm.
    objective_, gap_ : float
        Svm: the value of ``alpha ||w||^2 + mean hinge`` reached, and how far at most it is above the smallest.

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
        "rule", "loss", "k", "gain", "ties", "average", "features", "n_bits", "dtype",
    )  # fmt: skip
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RuleLearner._rule_constraints,
        "loss": [StrOptions({"kendall", "ndcg"})],
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "gain": [StrOptions({"linear", "exponential"})],
        "ties": [StrOptions({"index", "mean"})],
        "features": [StrOptions({"names", "hashed"})],
        "n_bits": [Interval(Integral, 1, 30, closed="both")],
    }

    def __init__(
        self,
        loss: str = "kendall",
        k: int | None = None,
        *,
        gain: str = "linear",
        ties: str = "index",
        rule: str = "passive-aggressive",
        C: float = 1.0,
        alpha: float | None = None,
        eta: float | None = None,
        average: bool = False,
        tol: float = 1e-4,
        max_passes: int = 1000,
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
        self.ties = ties
        self.rule = rule
        self.C = C
        self.alpha = alpha
        self.eta = eta
        self.average = average
        self.tol = tol
        self.max_passes = max_passes
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
    def _asks_for(self) -> str:
        if self.loss == "ndcg" and self.ties == "index" and self.rule != "erm":
            return "a list needs two documents, and a relevant one"
        return "a list needs two documents that differ in relevance"

    @property
    def _intercept(self) -> bool:
        return False

    def _new_model(self) -> Any:
        places = ALL if self.k is None else min(int(self.k), ALL)
        return MODELS[self._dtype](
            self._core_rule, self.average, self.loss == "ndcg", places, self.gain == "exponential", self.ties == "mean"
        )

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

    @online_only
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
        if self.loss == "kendall" or self.rule == "erm":
            return least == most
        alone = least == most if self.ties == "mean" else np.diff(x.start) == 1
        return alone | ((np.exp2(most) - 1 if self.gain == "exponential" else most) == 0)

    def _worst(self, matrix: Any, x: Lists, targets: np.ndarray, w: np.ndarray, below: float) -> tuple[Any, Any]:
        """Of each list the comparable pair with the smallest lead, where that is too small."""
        scores = matrix @ w
        found = [pair for rows in np.split(x.order, x.start[1:-1]) for pair in _smallest_lead(rows, targets, scores)]
        up, down = np.array(found).T
        short = scores[up] - scores[down] < below
        return up[short], matrix[up[short]] - matrix[down[short]]

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
        lists = Lists(None, *group(qid, scores.size))
        weight = lists.weights(sample_weight)
        return metrics.ndcg_score(relevance, scores, k=self.k, gain=self.gain, qid=lists.of_row, sample_weight=weight)

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


def _smallest_lead(rows: np.ndarray, relevance: np.ndarray, scores: np.ndarray) -> list[tuple[int, int]]:
    """Return the comparable pair of a list with the smallest lead of the more relevant one."""
    best, pair = np.inf, []
    for level in np.unique(relevance[rows])[1:]:
        above, below = rows[relevance[rows] == level], rows[relevance[rows] < level]
        up, down = above[np.argmin(scores[above])], below[np.argmax(scores[below])]
        if scores[up] - scores[down] < best:
            best, pair = scores[up] - scores[down], [(int(up), int(down))]
    return pair
