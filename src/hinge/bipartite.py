"""Bipartite ranking: tell the relevant rows of a batch, trained for the measure that the batch is judged by.

Scores above 0 are relevant, a score of exactly 0 is not; at ties the row that comes first. The larger of the two labels
is the relevant one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Integral, Interval, Real, StrOptions
from sklearn.utils.validation import check_is_fitted

from hinge import _core, labels, metrics
from hinge.base import check_dtype
from hinge.labels import Targets
from hinge.lists import Lists, group
from hinge.oracles import RuleLearner, online_only
from hinge.queries import QueryLearner
from hinge.thresholds import best_threshold
from hinge.two_labels import TwoLabels

__all__ = ["BipartiteRanker"]

MODELS = {np.dtype(np.float32): _core.BipartiteRankerFloat32, np.dtype(np.float64): _core.BipartiteRankerFloat64}
MEASURES = ("f1", "fbeta", "sensitivity_specificity", "recall_at_k", "precision_at_k")
BETA = Interval(Real, 0, 1e100, closed="right")  # its square is still a number


class BipartiteRanker(ClassifierMixin, QueryLearner):
    """Learn to tell relevant rows by a linear score, a batch a round, for one measure of the whole batch.

    A row has the score ``s_i = <w, x_i> + b``, a batch the hinge ``max_v delta(v, y) + sum_i (v_i - y_i) s_i`` over the
    sign vectors v that the measure allows, with ``delta = 1 - measure``: a bound on delta of the predicted vector. The
    maximum is found exactly. Where the truth itself is not allowed (more than k relevant rows for recall at k, fewer
    for precision at k), the nearest allowed vector stands for y in the sum.

    Parameters
    ----------
    measure : {"f1", "fbeta", "sensitivity_specificity", "recall_at_k", "precision_at_k"}, default="f1"
        What to train for, to predict for, and to return as `score`: F1; F-beta; the mean of sensitivity and
        specificity; recall with at most k rows called relevant; precision with at least k.
    beta : float, default=1.0
        F-beta: how many times as much recall weighs as precision.
    k : int, default=10
        For recall and precision at k.
    threshold : {"zero", "tuned"}, default="zero"
        Where scores are cut. ``"zero"``: at 0, which the hinge bounds. ``"tuned"``: ``fit`` ends by cutting where the
        measure of all its rows is best; for recall and precision at k, exactly the k highest are relevant.
    rule : {"passive-aggressive", "sgd", "perceptron", "svm", "erm"}, default="passive-aggressive"
        - ``"passive-aggressive"``: as far as the batch's hinge asks, at most C, with a certificate;
        - ``"sgd"``: a subgradient step on each batch: with `alpha` the step ``1 / (2 alpha t)`` for
          ``alpha ||w||^2 + mean hinge``, with `eta` a constant step for the mean hinge;
        - ``"perceptron"``: a unit step where anything is wrong;
        - ``"svm"``: the minimum of ``alpha ||w||^2 + mean hinge`` over all batches, to a proven gap; only ``fit``;
        - ``"erm"``: weights that put every row on its side of 0, whatever the measure, by linear programming, or
          an error that says that there are none; only ``fit``.
    C : float, default=1.0
        Passive-aggressive: the largest step. Svm: ``1 / (2 alpha m)`` for m batches.
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
        Whether `fit` takes the batches in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    fit_intercept : bool, default=True
        Whether every row has a feature more, which is 1.
    features : {"names", "hashed"}, default="names"
        How the names in dicts become features.
    n_bits : int, default=20
        Hashed: there are 2 ** n_bits features.
    dtype : dtype, default="float32"
        What the weights are kept in: float32 or float64.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels, the relevant one last.
    coef_ : array of shape (n_features_in_,)
        The weights.
    intercept_ : array of shape (1,)
        0 without an intercept.
    threshold_ : float
        What `decision_function` takes off the scores: 0 unless it is tuned. `partial_fit` leaves it as it is.
    n_features_in_ : int
        How many features there are.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if they have any.
    t_ : int
        Rounds so far.
    skipped_ : int
        Rounds that asked for nothing: a single row, or no relevant one. A call that holds any warns once.
    n_iter_ : int
        Passes that `fit` made.
    certificate_ : Certificate
        What is proven about any fixed weights on the stream so far, or on the batches: passive-aggressive, svm.
    objective_, gap_ : float
        Svm: the value of ``alpha ||w||^2 + mean hinge`` reached, and how far at most it is above the smallest.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import BipartiteRanker
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> y = ["ham", "ham", "ham", "ham", "spam", "spam"]
    >>> finder = BipartiteRanker(measure="f1", max_iter=100).fit(X, y)
    >>> finder.predict(X).tolist(), finder.score(X, y)
    (['ham', 'ham', 'ham', 'ham', 'spam', 'spam'], 1.0)

    References
    ----------
    S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", 2014, section 17.5.
    """

    _structure: ClassVar[tuple[str, ...]] = (
        "rule", "measure", "beta", "k", "average", "fit_intercept", "features", "n_bits", "dtype",
    )  # fmt: skip
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RuleLearner._rule_constraints,
        "measure": [StrOptions(set(MEASURES))],
        "beta": [BETA],
        "k": [Interval(Integral, 1, None, closed="left")],
        "threshold": [StrOptions({"zero", "tuned"})],
        "fit_intercept": ["boolean"],
        "features": [StrOptions({"names", "hashed"})],
        "n_bits": [Interval(Integral, 1, 30, closed="both")],
    }

    def __init__(
        self,
        measure: str = "f1",
        *,
        beta: float = 1.0,
        k: int = 10,
        threshold: str = "zero",
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
        fit_intercept: bool = True,
        features: str = "names",
        n_bits: int = 20,
        dtype: Any = "float32",
    ) -> None:
        self.measure = measure
        self.beta = beta
        self.k = k
        self.threshold = threshold
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
        self.fit_intercept = fit_intercept
        self.features = features
        self.n_bits = n_bits
        self.dtype = dtype

    def _check_combination(self) -> None:
        check_dtype(self)
        super()._check_combination()

    def _new_model(self) -> Any:
        k = min(int(self.k), int(np.iinfo(np.int64).max))
        return MODELS[self._dtype](self._core_rule, self.fit_intercept, self.average, self.measure, float(self.beta), k)

    def fit(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything, then learn the batches in `max_iter` passes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of shape (n_samples,)
            Two labels of any type; the larger is the relevant one.
        qid : array-like of shape (n_samples,), optional
            The batch that each row belongs to; rows of one batch need not be neighbours. By default all rows are one.
        sample_weight : array-like of shape (n_samples,) or (n_batches,), optional
            The mean of a batch's weights multiplies its step; a batch of weight 0 is scored and not learned. Weights of
            batches come in the order in which their first rows come.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, qid=qid)
        if self.threshold == "tuned" and not self.measure.endswith("at_k"):
            self._cut = best_threshold(self._relevant(y), self._scores(X), self.measure, self.beta)
        return self

    @online_only
    def partial_fit(self, X: Any, y: Any, classes: Any = None, qid: Any = None, sample_weight: Any = None) -> Self:
        """Learn each batch once, in the order in which their first rows come.

        Parameters
        ----------
        X, y, qid, sample_weight
            As for `fit`. A batch is a round of one call: one whose rows are spread over two calls is two batches.
        classes : array-like of two labels, optional
            Needed in the first call if its rows are all of one kind, unless the labels are 0 and 1, -1 and 1, or bool.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes, sample_weight, qid=qid)

    # -- labels -----------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        super()._begin()
        self._labels, self._cut = TwoLabels(), 0.0

    @property
    def classes_(self) -> np.ndarray:
        """The labels, the relevant one last."""
        if self._model is None or not self._labels.known:
            raise AttributeError("no labels are known yet")
        return self._labels.labels.classes

    def _read_y(self, y: Any, rounds: int) -> Targets:
        return self._labels.read(y, rounds)

    def _know(self, classes: Any, y: Any) -> None:
        self._labels = self._labels.named(classes)

    def _settle(self, targets: Targets) -> np.ndarray:
        self._labels, relevant = self._labels.settle(targets)
        return relevant

    def _admit(self, targets: Targets) -> np.ndarray:
        self._labels, relevant = self._labels.admit(targets)
        return relevant

    def _relevant(self, y: Any) -> np.ndarray:
        """Say which targets are the relevant label."""
        values = labels.column_of_labels(y if isinstance(y, list | tuple) else np.asarray(y))
        return np.asarray(values == self._labels.known[1])

    # -- batches ----------------------------------------------------------------------------------------------------

    @property
    def _asks_for(self) -> str:
        return "a batch needs a relevant row, and two rows"

    def _idle(self, x: Lists, targets: np.ndarray) -> np.ndarray:
        return (x.least_and_most(targets)[1] == 0) | (np.diff(x.start) < 2)

    def _worst(self, matrix: Any, x: Lists, targets: np.ndarray, w: np.ndarray, below: float) -> tuple[Any, Any]:
        """The rows that are not far enough on their side of 0, at most a thousand of them."""
        from scipy import sparse

        side = np.where(targets == 1, 1.0, -1.0)
        margins = (matrix @ w)[x.order] * side[x.order]
        short = x.order[margins < below][np.argsort(margins[margins < below], kind="stable")[:1000]]
        return short, sparse.diags(side[short]) @ matrix[short]

    # -- answers ----------------------------------------------------------------------------------------------------

    @property
    def intercept_(self) -> np.ndarray:
        """The weight of the constant feature."""
        return np.array([self._learned("intercept_").intercept()], dtype=self._dtype)

    @property
    def threshold_(self) -> float:
        """What `decision_function` takes off the scores."""
        self._learned("threshold_")
        return float(self._cut)

    def decision_function(self, X: Any) -> np.ndarray:
        """Score every row; above 0 it is relevant, as far as k allows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._above(self._scores(X))

    def _above(self, scores: np.ndarray) -> np.ndarray:
        """Return scores less the threshold; the difference is rounded once."""
        return scores if self._cut == 0 else (scores - np.float64(self._cut)).astype(scores.dtype)

    def predict(self, X: Any, qid: Any = None) -> np.ndarray:
        """Answer what the measure asks for: the rows above 0; of them at most the k highest; or at least the k highest.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        qid : array-like of shape (n_samples,), optional
            The batch that each row belongs to: k counts within it.

        Returns
        -------
        array of labels
        """
        check_is_fitted(self)
        scores = self._scores(X)
        return self.classes_[self._answer(scores, *group(qid, scores.size))]

    def _answer(self, scores: np.ndarray, order: np.ndarray, start: np.ndarray) -> np.ndarray:
        if not self.measure.endswith("at_k"):
            return (self._above(scores) > 0).astype(np.intp)
        out = np.zeros(scores.size, dtype=np.intp)
        for rows in np.split(order, start[1:-1]):
            if self.threshold == "tuned":
                out[rows[np.argsort(-scores[rows], kind="stable")[: self.k]]] = 1
            else:
                out[rows] = self._model.answer(scores[rows].astype(np.float64))
        return out

    def _answers_of_lists(self, scores: np.ndarray, order: np.ndarray, start: np.ndarray) -> np.ndarray:
        return self.classes_[self._answer(scores, order, start)]

    def predict_one(self, x: Any) -> Any:
        """Answer one row, or a list of rows as one batch; None before anything was learned.

        Parameters
        ----------
        x : dict of feature name to number or string, or list of dicts
        """
        if self._model is None or not self._labels.known:
            return None
        answers = self.predict([x] if isinstance(x, dict) else list(x)).tolist()
        return answers[0] if isinstance(x, dict) else answers

    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """Return the measure; with `qid` its mean over the batches.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of shape (n_samples,)
        qid : array-like of shape (n_samples,), optional
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        relevant = self._relevant(y)
        lists = Lists(None, *group(qid, relevant.size))
        more = {"qid": lists.of_row, "sample_weight": sample_weight}
        if self.measure.endswith("at_k"):
            tuned = self.threshold == "tuned"
            if self.measure == "recall_at_k":
                more["threshold"] = -np.inf if tuned else 0.0
                return metrics.recall_at_k(relevant, self._scores(X), k=self.k, **more)
            more["threshold"] = np.inf if tuned else 0.0
            return metrics.precision_at_k(relevant, self._scores(X), k=self.k, **more)
        found = self.predict(X) == self.classes_[1]
        if self.measure == "sensitivity_specificity":
            return metrics.sensitivity_specificity_score(relevant, found, **more)
        return metrics.fbeta_score(relevant, found, beta=1.0 if self.measure == "f1" else self.beta, **more)

    # -- files ------------------------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        state, sections = super()._state()
        two = self._labels
        return state | {"labels": list(two.known), "guessed": two.guessed, "cut": float(self._cut)}, sections

    def _restore(self, state: Mapping[str, Any], sections: dict[str, np.ndarray]) -> None:
        super()._restore(state, sections)
        self._labels = TwoLabels(tuple(state["labels"]), state["guessed"] is True)
        self._cut = float(state["cut"])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags
