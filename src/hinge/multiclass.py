"""Classes with costs: one learner, many rules (MATH.md E).

``cost[i, j]`` is the cost of answering ``classes_[i]`` where ``classes_[j]`` is true. Margins are right minus wrong; a
wrong class that scores as much as the right one is a mistake. Ties go to the class that comes first in ``classes_``.
"""

from __future__ import annotations

from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags
from sklearn.utils._param_validation import Integral, Interval, StrOptions

from hinge import _core, labels
from hinge.base import Dicts, LabelLearner, check_dtype
from hinge.costs import CostlyTargets, read_cost
from hinge.joint_maps import JointModel, TfIdf, WrittenMap
from hinge.labels import Targets
from hinge.oracles import BATCH, RuleLearner, online_only, warn_if_open
from hinge.rows import as_csr
from hinge.separation import differences, separate

__all__ = ["MulticlassClassifier"]

MODELS = {np.dtype(np.float32): _core.MulticlassFloat32, np.dtype(np.float64): _core.MulticlassFloat64}


class MulticlassClassifier(RuleLearner, ClassifierMixin, LabelLearner):
    """Learn classes directly, with any costs and any of the rules that stand on the generalised hinge.

    A class y has the score ``<w_y, x>``. The hinge of an example is ``max_y' cost(y', y) + <w_y', x> - <w_y, x>``, an
    upper bound of the cost of the class that scores highest.

    Parameters
    ----------
    rule : {"sgd", "passive-aggressive", "perceptron", "svm", "erm"}, default="sgd"
        - ``"sgd"``: a subgradient step on each example: with `alpha` the step ``1 / (2 alpha t)`` for
          ``alpha ||w||^2 + mean hinge``, with `eta` a constant step for the mean hinge;
        - ``"passive-aggressive"``: the step ``min(C, hinge / (2 ||x||^2))``, with a certificate;
        - ``"perceptron"``: a unit step on each mistake;
        - ``"svm"``: the minimum of ``alpha ||w||^2 + mean hinge`` over all examples, to a proven gap; only ``fit``;
        - ``"erm"``: weights that are right on every example, by linear programming, or an error that says that there
          are none; only ``fit``.
    cost : array-like of shape (n_classes, n_classes), optional
        By answer and truth, zero on the diagonal. By default every error costs 1. With it the classes must be known
        before the first round.
    features : {"multivector", "hashed", "tfidf"} or callable, default="multivector"
        A block of weights for each class; hashed: the same over the hashed names of dicts. Tfidf: one weight a feature,
        times its value, times ``log((m + 1) / (DF + 1))`` with DF how many of the m documents learned so far have the
        feature and are not about the class. A function ``features(x, y)`` of a row (1-d array, without the constant
        feature) and a label gives a 1-d array of joint features. The last two run in Python and take every rule.
    C : float, default=1.0
        Passive-aggressive: the largest step. Svm: scikit-learn's C, ``1 / (2 alpha m)`` for m examples.
    alpha : float, optional
        The lambda of ``lambda ||w||^2 + mean hinge``. Sgd: steps of ``1 / (2 alpha t)`` in round t after a decay of
        ``1 - 1 / t``, with 1e-4 where neither `alpha` nor `eta` is given. Svm: used in place of C where it is given.
    eta : float, optional
        Sgd: a constant step, and no decay. ``B / (rho sqrt(T))`` with `average` is the book's for T rounds, weights no
        longer than B and directions no longer than rho (corollary 17.2). It excludes `alpha`.
    average : bool, default=False
        Predict with the mean of the weights over all rounds, before their updates.
    tol : float, default=1e-4
        Svm: the gap to reach, as a share of the objective.
    max_passes : int, default=1000
        Svm: when to stop all the same, with a warning: after as much work as so many passes over all rows.
    max_iter : int, default=1
        Passes that `fit` makes with the rules that learn online; the Perceptron stops after a pass
        without a mistake, unless it averages.
    shuffle : bool, default=False
        Whether `fit` takes the rows in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    fit_intercept : bool, default=True
        Whether every row has a feature more, which is 1.
    new_labels : {"add", "error", "ignore"}, default="add"
        What to do with a label that is new in a later call.
    n_bits : int, default=20
        Hashed: there are 2 ** n_bits features.
    dtype : dtype, default="float32"
        What the weights are kept in: float32 or float64.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    coef_ : array of shape (n_classes, n_features_in_)
        The weights.
    intercept_ : array of shape (n_classes,)
        Zeros without an intercept.
    n_features_in_ : int
        How many features there are.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if they have any.
    t_ : int
        Rounds so far, over all passes.
    n_iter_ : int
        Passes that `fit` made.
    certificate_ : Certificate
        What is proven about any fixed classifier on the stream so far, or on the examples: passive-aggressive, svm.
    objective_, gap_ : float
        Svm: the value of ``alpha ||w||^2 + mean hinge`` reached, and how far at most it is above the smallest.

    Examples
    --------
    >>> from hinge import MulticlassClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["up", "right", "both"]
    >>> MulticlassClassifier("perceptron", max_iter=20).fit(X, y).predict(X)
    array(['up', 'right', 'both'], dtype='<U5')
    >>> machine = MulticlassClassifier("svm", C=10.0, dtype="float64").fit(X, y)
    >>> machine.gap_ <= 1e-4 * machine.objective_
    True

    References
    ----------
    S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", 2014, chapter 17.
    K. Crammer and Y. Singer, "On the algorithmic implementation of multiclass kernel-based vector machines", 2001.
    """

    _structure: ClassVar[tuple[str, ...]] = (*RuleLearner._rule_structure, "features", "n_bits")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RuleLearner._rule_constraints,
        "cost": ["array-like", None],
        "features": [StrOptions({"multivector", "hashed", "tfidf"}), callable],
        "fit_intercept": ["boolean"],
        "new_labels": [StrOptions({"add", "error", "ignore"})],
        "n_bits": [Interval(Integral, 1, 30, closed="both")],
    }

    def __init__(
        self,
        rule: str = "sgd",
        cost: Any = None,
        features: Any = "multivector",
        *,
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
        new_labels: str = "add",
        n_bits: int = 20,
        dtype: Any = "float32",
    ) -> None:
        self.rule = rule
        self.cost = cost
        self.features = features
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
        self.new_labels = new_labels
        self.n_bits = n_bits
        self.dtype = dtype

    def _check_combination(self) -> None:
        check_dtype(self)
        self._check_rule()
        if self.cost is not None:
            read_cost(self.cost)

    def _settings(self) -> tuple[float, ...]:
        return self._step, 1.0, 1.0

    def _new_model(self) -> Any:
        if self.features in ("multivector", "hashed"):
            return MODELS[self._dtype](self._core_rule, self.fit_intercept, self.average)
        joint = TfIdf() if self.features == "tfidf" else WrittenMap(self.features, lambda: self._labels.known)
        return JointModel(self._core_rule, joint, self._dtype, self._intercept, self.average)

    @property
    def _decays(self) -> bool:
        return super()._decays or self.features == "tfidf"  # what a feature is worth changes with every document

    @property
    def _intercept(self) -> bool:
        return bool(self.fit_intercept) and not callable(self.features)

    # -- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, costs: Any = None) -> Self:
        """Forget everything, then learn from all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of labels
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies each round's C or step; a row of weight 0 is not learned.
        costs : array-like of shape (n_samples, n_classes), optional
            What answering each class costs in each row, by sorted label, in place of `cost`.

        Returns
        -------
        self
        """
        return self._after_fit(self._fit(X, y, sample_weight, costs=costs))

    @online_only
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, costs: Any = None) -> Self:
        """Learn from each row once, in order, one round a row; the same stream in other chunks gives the same bits.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of labels
        classes : array-like, optional
            Labels that exist before the first of these rows. Without it a label exists from the row in which it
            first appears.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies each round's C or step; a row of weight 0 is scored and not learned.
        costs : array-like of shape (n_samples, n_classes), optional
            What answering each class costs in each row, in place of `cost`; all classes must be known.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes, sample_weight, costs=costs)

    @online_only
    def learn_one(self, x: dict[str, float | str], y: Any, w: float = 1.0) -> None:
        """Learn from one example.

        Parameters
        ----------
        x : dict of feature name to number or string
            A string value stands for the feature ``name=value``. New names are new features.
        y : label
        w : float, default=1.0
            The example's weight.
        """
        super().learn_one(x, y, w)

    @online_only
    def _learn_progressively(self, X: Any, y: Any, **more: Any) -> dict[str, Any]:
        return super()._learn_progressively(X, y, **more)

    def _read(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = False, costs: Any = None, **more: Any
    ) -> tuple[Any, Any, np.ndarray | None]:
        x, targets, weights = super()._read(X, y, sample_weight, reset=reset, **more)
        if costs is not None:
            targets = CostlyTargets(*targets)
            targets.costs = np.ascontiguousarray(costs, dtype=np.float64)
        if isinstance(x, Dicts) and (costs is not None or self.rule in BATCH):
            what = "costs of rows" if costs is not None else f"rule={self.rule!r}"
            raise ValueError(f"{what} needs X as a matrix; turn dicts into one with sklearn's DictVectorizer")
        return x, targets, weights

    def _read_y(self, y: Any, rounds: int) -> Targets:
        if y is not None and labels.form_of(y) != labels.LABELS:
            raise ValueError("Unknown label type: MulticlassClassifier takes one label a row; LabelRanker takes sets")
        return super()._read_y(y, rounds)

    def _know(self, classes: Any, y: Any) -> None:
        if self.cost is not None and classes is None and len(self._labels) == 0:
            raise ValueError("classes must be given to the first call when there is a cost: it speaks of all of them")
        super()._know(classes, y)

    def _admit(self, targets: Targets) -> Targets:
        targets = super()._admit(targets)
        if targets.fresh and self.cost is not None:
            row = targets.first_row_of(len(self._labels))
            raise ValueError(f"row {row} of y has the label {targets.fresh[0]!r}, of which cost says nothing")
        if isinstance(targets, CostlyTargets):
            if targets.fresh:
                raise ValueError(f"costs were given, but {targets.fresh[0]!r} is not in classes_: give classes=")
            targets.check(len(self._labels))
        return targets

    def _settle(self, targets: Targets) -> Targets:
        targets = super()._settle(targets)
        if len(self._labels) < 2 and self.rule in BATCH:
            raise ValueError(f"rule={self.rule!r} needs at least two classes; the number of classes is one: 1 class")
        if isinstance(targets, CostlyTargets):
            targets.check(len(self._labels))
        return targets

    def _grow(self) -> None:
        super()._grow()
        if self.cost is not None:
            cost = read_cost(self.cost)
            if len(cost) != len(self._labels):
                raise ValueError(
                    f"cost has {len(cost)} rows for {len(self._labels)} classes: it needs a row and a column for each"
                )
            self._model.set_cost(np.ascontiguousarray(cost.T))

    def add_labels(self, new: Any) -> Self:
        """Let labels exist from now on, before any row has them.

        Parameters
        ----------
        new : iterable of labels
            Those that exist already are left as they are.
        """
        if self.cost is not None:
            raise ValueError("the classes cannot change where there is a cost, which speaks of all of them")
        return super().add_labels(new)

    def remove_labels(self, old: Any) -> Self:
        """Forget labels and all that was learned of them; the columns after them move up.

        Parameters
        ----------
        old : iterable of labels
        """
        if self.cost is not None:
            raise ValueError("the classes cannot change where there is a cost, which speaks of all of them")
        return super().remove_labels(old)

    def _learn_rows(self, x: Any, targets: Targets, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        if self.rule == "svm":
            self._solve(x, targets, weights)
        elif self.rule == "erm":
            self._separate(x, targets, weights)
        else:
            costs = targets.costs if isinstance(targets, CostlyTargets) else None
            self._model.learn(
                x, None, targets.label, False, targets.exist, weights, *self._set, costs=costs, **trace
            )  # fmt: skip

    def _solve(self, x: Any, targets: Targets, weights: np.ndarray | None) -> None:
        caps = self._caps(weights, x.count)
        cost, by_row = self._costs(targets)
        passes, primal, dual, hinge = self._model.solve(
            x, targets.label, caps, cost, by_row, float(self.tol), int(self.max_passes)
        )
        top = np.empty(x.count, dtype=np.int32)
        self._model.top(x, top)
        wrong = float(np.sum((top != targets.label) & (caps > 0)))
        self._note_solution(x.count, passes, primal, dual, hinge, caps, wrong)
        warn_if_open(self, primal, dual)

    def _costs(self, targets: Targets) -> tuple[np.ndarray, bool]:
        """Return costs by truth, or by row, and answer."""
        if isinstance(targets, CostlyTargets):
            return targets.costs, True
        k = len(self._labels)
        cost = 1.0 - np.eye(k) if self.cost is None else read_cost(self.cost).T
        return np.ascontiguousarray(cost), False

    def _separate(self, x: Any, targets: Targets, weights: np.ndarray | None) -> None:
        """Find weights that put the right class first everywhere, or raise."""
        if isinstance(self._model, JointModel):
            kept = np.arange(x.count) if weights is None else np.flatnonzero(weights)
            margin = self._model.separate(x, targets.label, kept)
            self._solved = {"examples": float(x.count), "passes": 1.0, "margin": margin}
            return
        k = len(self._labels)
        rows = as_csr(x, self.fit_intercept)
        kept = np.arange(x.count) if weights is None else np.flatnonzero(weights)
        rows, truth = rows[kept], targets.label[kept]

        def rivals(w: np.ndarray, below: float) -> tuple[np.ndarray, Any]:
            scores = np.asarray(rows @ w.reshape(-1, k))
            own = scores[np.arange(len(kept)), truth].copy()
            scores[np.arange(len(kept)), truth] = -inf
            rival = scores.argmax(axis=1)
            found = np.flatnonzero(own - scores[np.arange(len(kept)), rival] < below)
            return found, differences(rows[found], truth[found], rival[found], k)

        w, margin = separate(rows.shape[1] * k, rivals, kept)
        self._model.write(np.ascontiguousarray(w.reshape(-1, k)))
        self._solved = {"examples": float(x.count), "passes": 1.0, "margin": margin}

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def coef_(self) -> np.ndarray:
        """The weights that predictions are made with, one row a class."""
        return self._learned("coef_").weights()

    @property
    def intercept_(self) -> np.ndarray:
        """The weights of the constant feature."""
        return self._learned("intercept_").intercepts()

    def _learned(self, name: str) -> Any:
        if self._model is None:
            raise AttributeError(f"{name} exists once something was learned")
        return self._model

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of labels
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))

    # -- files ------------------------------------------------------------------------------------------------------

    def _restore(self, state: Any, sections: dict[str, np.ndarray]) -> None:
        super()._restore(state, sections)
        if self.cost is not None and len(self._labels):
            self._grow()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
