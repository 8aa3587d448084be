"""Label ranking by pairs: each relevant label should score above each irrelevant one, by 1.

A round's loss is the mean hinge over its pairs, its error the share of the pairs in wrong order; a tie is wrong. A row
without relevant or without irrelevant labels has no pair: it is no step, and objectives are means over the others.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, Real, StrOptions
from sklearn.utils.validation import check_is_fitted

from hinge import _core
from hinge.base import Dicts, check_dtype, present_unless
from hinge.labels import read_targets
from hinge.rank_svm import ALL_THREADS, RankSvm
from hinge.rankers import POSITIVE, SHARED_CONSTRAINTS, Ranker

__all__ = ["MMP", "PairwiseLabelRanker"]

MODELS = {np.dtype(np.float32): _core.PairwiseRankerFloat32, np.dtype(np.float64): _core.PairwiseRankerFloat64}
log = logging.getLogger("hinge")


class PairRanker(Ranker):
    """What the rankers by pairs share: what they leave on a data set, and a word about rows without a pair."""

    _structure: ClassVar[tuple[str, ...]] = ("average", "fit_intercept", "features", "n_bits", "dtype")
    _told = False  # the rows without a pair were reported
    _tells = True

    def _check_combination(self) -> None:
        check_dtype(self)

    def _begin(self) -> None:
        super()._begin()
        self._told = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn from all rows, in order, `max_iter` times.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of labels, list of sets, or indicator matrix
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies what each round moves along its row; a row of weight 0 is not learned.

        Returns
        -------
        self
        """
        return super().fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from each row once, in order, one round a row; the same stream in other chunks gives the same bits.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of labels, list of sets, or indicator matrix
        classes : array-like, optional
            Labels that exist before the first of these rows. Without it a label exists from the row in which it
            first appears.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies what each round moves along its row; a row of weight 0 is scored and not learned.

        Returns
        -------
        self
        """
        return super().partial_fit(X, y, classes, sample_weight)

    def _learn(self, x: Any, targets: Any, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        super()._learn(x, targets, weights, **trace)
        if self._told or not self.rows_without_pairs_:
            return
        self._told = True
        if self._tells:
            log.warning(
                "%s: %d of %d rows so far have no relevant or no irrelevant label; they have no pair and are not "
                "learned (rows_without_pairs_ counts them)",
                type(self).__name__,
                self.rows_without_pairs_,
                self.t_,
            )

    def _restore(self, state: Mapping[str, Any], sections: dict[str, np.ndarray]) -> None:
        super()._restore(state, sections)
        self._told = self.rows_without_pairs_ > 0

    @property
    def rows_without_pairs_(self) -> int:
        """Rows so far that had no relevant, or no irrelevant, label."""
        return int(self._learned("rows_without_pairs_").ledger()["idle"])

    def measures(self, X: Any, Y: Any) -> dict[str, float]:
        """Measure on a data set, in one pass on all processors; the result does not depend on how many there are.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        Y : array-like of labels, list of sets, or indicator matrix

        Returns
        -------
        dict
            ``hinge`` and ``error``, the means over the rows that have a pair; ``ranking_loss`` and ``auc``, over all
            rows, as in `hinge.metrics`; ``squared_norm`` of the weights, intercepts included.
        """
        check_is_fitted(self)
        x = self._as_rows(self._read_x(X), add=False)
        targets = read_targets(Y, self._labels, x.count).without_fresh(len(self._labels))
        hinges, wrong, tied, pairs = self._model.count_pairs(x, targets.start, targets.label, ALL_THREADS)
        of = np.maximum(pairs, 1)
        some = max(1, np.count_nonzero(pairs))
        return {
            "hinge": float((hinges / of).sum() / some),
            "error": float((wrong / of).sum() / some),
            "ranking_loss": float((wrong / of).mean()),
            "auc": float(1 - ((wrong - tied / 2) / of).mean()),
            "squared_norm": float(self._model.sum_of_squares()),
        }

    def _as_rows(self, x: Any, *, add: bool) -> Any:
        """Return what was read as rows of the core; of dicts, names that are new are added or left out."""
        if not isinstance(x, Dicts):
            return x
        return x.reader.rows(list(x.X), add, self._intercept, self._dtype == np.float32)


def _needs_all_rows(estimator: Any) -> str | None:
    if estimator.solver != "lbfgs":
        return None
    return "solver='lbfgs', which solves for all rows at once: call fit, or choose solver='ansgd' or solver='sgd'"


online_only = present_unless(_needs_all_rows)


class PairwiseLabelRanker(PairRanker):
    """Rank labels by the regularised mean hinge over the pairs of relevant and irrelevant labels.

    With a row of weights ``m_y`` for each label, the objective is ::

        alpha/2 sum_y ||m_y||^2 + mean_i (1/N_i) sum_{k in Y_i, l not in Y_i} max(0, 1 - m_k.x_i + m_l.x_i)

    where ``N_i = |Y_i| (k - |Y_i|)`` counts the pairs of row i. The intercepts are part of ``m``.

    Parameters
    ----------
    solver : {"ansgd", "sgd", "lbfgs"}, default="ansgd"
        Accelerated stochastic gradients on a smoothed hinge; stochastic subgradients; or all rows at once, to a
        certified gap (only under `fit`).
    alpha : float, default=1e-4
        Weight of the squared norm (the papers' lambda).
    average : bool, default=True
        Predict with the mean of the weights after each round; not used by lbfgs.
    lipschitz : float or "auto", default=1.0
        ansgd: a bound L on ``k ||x||^2 / N^2``, the intercept's 1 counted in ``||x||^2``. 1 is enough for rows of norm
        1 and three labels or more; "auto" takes the largest so far.
    offset : float, default=1000
        sgd: the step of round t is ``1 / (alpha (t + offset))``.
    tol : float, default=1e-6
        lbfgs: the gap between the objective and its proven lower bound at which to stop.
    max_iter : int, default=1
        Passes that `fit` makes; not used by lbfgs.
    shuffle : bool, default=False
        Whether `fit` takes the rows in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    fit_intercept : bool, default=True
        Whether every row has a feature more, which is 1.
    new_labels : {"add", "error", "ignore"}, default="add"
        What to do with a label that is new in a later call.
    features : {"names", "hashed"}, default="names"
        How the names in dicts become features.
    n_bits : int, default=20
        Hashed: there are 2 ** n_bits features.
    dtype : dtype, default="float32"
        What the weights are kept in: float32 or float64.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels.
    coef_ : array of shape (n_labels, n_features_in_)
        The weights.
    intercept_ : array of shape (n_labels,)
        Zeros without an intercept.
    n_features_in_ : int
        How many features there are.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if they have any.
    t_ : int
        Rows so far.
    rows_without_pairs_ : int
        Those of them that had no relevant or no irrelevant label.
    n_iter_ : int
        Passes that `fit` made; for lbfgs how often it evaluated the objective.
    lower_bound_, gap_ : float
        lbfgs: what the objective cannot fall below on the training rows, and by how much the weights found are above.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import PairwiseLabelRanker
    >>> X, Y = np.eye(3), [{"red"}, {"red", "green"}, {"blue"}]
    >>> ranker = PairwiseLabelRanker(alpha=0.01, max_iter=100).fit(X, Y)
    >>> sorted(label for label, score in ranker.rank(X[1:2], top=2)[0])
    ['green', 'red']
    >>> exact = PairwiseLabelRanker("lbfgs", alpha=0.01).fit(X, Y)
    >>> exact.lower_bound_ <= exact.objective(X, Y) <= ranker.objective(X, Y)
    True

    References
    ----------
    H. Park and S. Choi, "Online multi-label learning with accelerated nonsmooth stochastic gradient descent", 2013.
    H. Ouyang and A. Gray, "Stochastic smoothing for nonsmooth minimizations", 2012.
    """

    _structure: ClassVar[tuple[str, ...]] = ("solver", *PairRanker._structure)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "solver": [StrOptions({"ansgd", "sgd", "lbfgs"})],
        "alpha": [POSITIVE],
        "average": ["boolean"],
        "lipschitz": [POSITIVE, StrOptions({"auto"})],
        "offset": [Interval(Real, 0, None, closed="left")],
        "tol": [POSITIVE],
        **SHARED_CONSTRAINTS,
    }
    _bounds: tuple[float, float, int] | None = None  # of lbfgs: lower bound, gap, evaluations

    def __init__(
        self,
        solver: str = "ansgd",
        *,
        alpha: float = 1e-4,
        average: bool = True,
        lipschitz: float | str = 1.0,
        offset: float = 1000,
        tol: float = 1e-6,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: Any = None,
        fit_intercept: bool = True,
        new_labels: str = "add",
        features: str = "names",
        n_bits: int = 20,
        dtype: Any = "float32",
    ) -> None:
        self.solver = solver
        self.alpha = alpha
        self.average = average
        self.lipschitz = lipschitz
        self.offset = offset
        self.tol = tol
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.new_labels = new_labels
        self.features = features
        self.n_bits = n_bits
        self.dtype = dtype

    def _settings(self) -> tuple[float, ...]:
        lipschitz = 0.0 if self.lipschitz == "auto" else float(self.lipschitz)
        return float(self.alpha), lipschitz, float(self.offset)

    @property
    def _decays(self) -> bool:
        return True

    def _new_model(self) -> Any:
        if self.solver == "lbfgs":
            return MODELS[self._dtype]("still", self.fit_intercept, False)
        return MODELS[self._dtype](self.solver, self.fit_intercept, self.average)

    # -- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn from all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of labels, list of sets, or indicator matrix
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies each round's gradient; a row of weight 0 is not learned.

        Returns
        -------
        self
        """
        super().fit(X, y, sample_weight)
        if self._bounds is not None:
            self.n_iter_ = self._bounds[2]
        return self

    partial_fit = online_only(PairRanker.partial_fit)
    learn_one = online_only(PairRanker.learn_one)
    _learn_progressively = online_only(PairRanker._learn_progressively)

    def _begin(self) -> None:
        super()._begin()
        self._bounds = None

    def _orders(self, rounds: int) -> Iterator[np.ndarray | None]:
        return iter([None]) if self.solver == "lbfgs" else super()._orders(rounds)

    def _learn(self, x: Any, targets: Any, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        if self.solver == "lbfgs":
            x = self._solve(x, targets, weights)
        super()._learn(x, targets, weights, **trace)  # lbfgs: only where to cut the scores

    def _solve(self, x: Any, targets: Any, weights: np.ndarray | None) -> Any:
        """Find the weights for all rows at once; return the rows."""
        if isinstance(x, Dicts):
            x = self._as_rows(x, add=True)
            self.n_features_in_ = x.width
        labels = len(self._labels)
        self._model.grow(self.n_features_in_, labels)
        pairs = _core.PairProblem(x, targets.start, targets.label, weights, labels)
        problem = RankSvm(pairs, self.alpha)
        problem.solve(self.tol)
        self._bounds = problem.lower, problem.upper - problem.lower, problem.evaluations
        state = self._model.state()
        rows = np.append(np.arange(self.fit_intercept), pairs.columns() + int(self.fit_intercept))
        state["block_0"] = np.zeros_like(state["block_0"])
        state["block_0"][rows] = problem.best[:, :labels]
        state["blank"] = np.zeros(1)
        self._model.restore(state)
        return x

    # -- what was reached -------------------------------------------------------------------------------------------

    def objective(self, X: Any, Y: Any) -> float:
        """Return the regularised mean hinge on a data set, over the rows that have a pair.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        Y : array-like of labels, list of sets, or indicator matrix

        Returns
        -------
        float
        """
        seen = self.measures(X, Y)
        return self.alpha / 2 * seen["squared_norm"] + seen["hinge"]

    def _bound(self, name: str, place: int) -> float:
        if self._bounds is None:
            raise AttributeError(f"{name} exists after a fit with solver='lbfgs'")
        return self._bounds[place]

    @property
    def lower_bound_(self) -> float:
        """What the objective cannot fall below on the training rows."""
        return self._bound("lower_bound_", 0)

    @property
    def gap_(self) -> float:
        """By how much the objective of the weights found is above the lower bound."""
        return self._bound("gap_", 1)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        state, sections = super()._state()
        lower, gap, evaluations = self._bounds or (None, None, None)
        return state | {"lower_bound": lower, "gap": gap, "evaluations": evaluations}, sections

    def _restore(self, state: Mapping[str, Any], sections: dict[str, np.ndarray]) -> None:
        super()._restore(state, sections)
        if state["gap"] is not None:
            self._bounds = float(state["lower_bound"]), float(state["gap"]), int(state["evaluations"])


class MMP(PairRanker):
    """The multi-class multi-label Perceptron: move along the pairs in wrong order.

    Ties are in wrong order. With E the wrong pairs of a round, each of them moves its relevant label by ``x / |E|`` and
    its irrelevant one by ``-x / |E|``; or only the worst pair moves, by x.

    Parameters
    ----------
    update : {"uniform", "max"}, default="uniform"
        All pairs in wrong order, in equal shares; or the lowest relevant and the highest irrelevant label.
    average : bool, default=False
        Predict with the mean of the weights after each round.
    max_iter : int, default=1
        Passes that `fit` makes.
    shuffle : bool, default=False
        Whether `fit` takes the rows in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    fit_intercept : bool, default=True
        Whether every row has a feature more, which is 1.
    new_labels : {"add", "error", "ignore"}, default="add"
        What to do with a label that is new in a later call.
    features : {"names", "hashed"}, default="names"
        How the names in dicts become features.
    n_bits : int, default=20
        Hashed: there are 2 ** n_bits features.
    dtype : dtype, default="float32"
        What the weights are kept in: float32 or float64.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, t_, rows_without_pairs_, n_iter_
        As in `PairwiseLabelRanker`.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import MMP
    >>> ranker = MMP(fit_intercept=False).partial_fit(np.eye(3)[:1], [{"red"}], classes=["red", "green", "blue"])
    >>> ranker.classes_, ranker.coef_[:, 0]
    (array(['blue', 'green', 'red'], dtype='<U5'), array([-0.5, -0.5,  1. ], dtype=float32))

    References
    ----------
    K. Crammer and Y. Singer, "A family of additive online algorithms for category ranking", 2003.
    """

    _structure: ClassVar[tuple[str, ...]] = ("update", *PairRanker._structure)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "update": [StrOptions({"uniform", "max"})],
        "average": ["boolean"],
        **SHARED_CONSTRAINTS,
    }

    def __init__(
        self,
        update: str = "uniform",
        *,
        average: bool = False,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: Any = None,
        fit_intercept: bool = True,
        new_labels: str = "add",
        features: str = "names",
        n_bits: int = 20,
        dtype: Any = "float32",
    ) -> None:
        self.update = update
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.new_labels = new_labels
        self.features = features
        self.n_bits = n_bits
        self.dtype = dtype

    def _settings(self) -> tuple[float, ...]:
        return 1.0, 1.0, 0.0

    def _new_model(self) -> Any:
        return MODELS[self._dtype](self.update, self.fit_intercept, self.average)
