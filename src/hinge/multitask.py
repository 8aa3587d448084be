"""Parallel tasks: k answers a round, which share one loss, a norm of theirs.

A task may sit a round out (its y is NaN, or it is not named): it is dormant, has no loss, and nothing of it moves. A
score of exactly zero is an error. `fit` takes the larger value of a column as its positive side; of values that appear
one by one 1 is positive, and 0 and -1 are negative (see `hinge.tasks`).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils._param_validation import Interval, Real

from hinge import metrics
from hinge.json_values import decode_value, encode_value
from hinge.labels import as_array
from hinge.task_learner import TaskLearner
from hinge.tasks import (
    DICTS,
    PARAMETERS,
    VECTOR,
    Pair,
    TaskTargets,
    agreed,
    answer_table,
    pair_of,
    read_numbers,
    read_sides,
    sorted_pair,
)

__all__ = ["MultitaskClassifier", "MultitaskRegressor"]


class MultitaskClassifier(TaskLearner):
    """Learn k binary tasks in parallel whose losses of a round become one: their norm.

    Task j has the score ``<w_j, x_j>`` and the loss ``l_j = max(0, 1 - y_j <w_j, x_j>)``, ``y_j`` in {-1, 1}; the
    round's loss is ``||l||``. Each update is ``w_j += tau_j y_j x_j`` with ``||tau||* <= C`` in the dual norm. The norm
    says what matters: the infinity norm the worst task, the 1-norm all of them alike, ``RMax(r)`` the r worst.

    Parameters
    ----------
    norm : {"l2", "l1", "linf"}, PNorm, RMax or Interpolated, default="l2"
        Of the losses of a round; see `hinge.norms`.
    update : {"implicit", "infinite", "finite"}, default="implicit"
        How far to move: as far as the dual rises, each task by its own; along the steps that find most of the loss, by
        ``min(C, ||l|| / (R^2 rho^2))``; along them by C.
    C : float, default=1.0
        The most that the dual norm of a round's steps may be.
    radius : float, optional
        R, a bound on the length of the instances, for the infinite update and for `horizon`. By default the longest
        instance of an active task so far.
    horizon : float, optional
        The number of rounds to come, T: then C is ``1 / (sqrt(T) R^2)``.
    max_iter : int, default=1
        Passes that `fit` makes.
    shuffle : bool, default=False
        Whether `fit` takes the rounds in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    fit_intercept : bool, default=True
        Whether every instance has a feature more, which is 1.
    features : {"names", "hashed"}, default="names"
        How the names in dicts become features.
    n_bits : int, default=20
        Hashed: there are 2 ** n_bits features.
    dtype : dtype, default="float32"
        What the weights are kept in: float32 or float64.

    Attributes
    ----------
    classes_ : list of array
        The two values of each task, the negative one first; fewer before both were seen.
    tasks_ : list
        The tasks' names, or their numbers.
    coef_ : array of shape (n_tasks, n_features_in_), or list of one array a task
        The weights.
    intercept_ : array of shape (n_tasks,)
        Zeros without an intercept.
    n_features_in_ : int, or list of int
        How many features there are: of all tasks, or of each where X is a list of matrices.
    t_ : int
        Rounds so far.
    n_iter_ : int
        Passes that `fit` made.
    certificate_ : Certificate
        What is proven about the stream so far; the complexity of weights is ``sum_j ||w_j||^2 / 2``.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import MultitaskClassifier
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> Y = np.array([[1, -1, 1], [-1, 1, 1], [1, 1, -1]])
    >>> tasks = MultitaskClassifier(norm="linf", max_iter=20).fit(X, Y)
    >>> tasks.predict(X)
    array([[ 1, -1,  1],
           [-1,  1,  1],
           [ 1,  1, -1]])
    >>> one = MultitaskClassifier()
    >>> one.learn_one({"words": 3.0}, {"spam": True, "urgent": False})
    >>> one.learn_one({"links": 2.0}, {"spam": False})
    >>> one.predict_one({"words": 2.0})
    {'spam': True, 'urgent': False}

    References
    ----------
    O. Dekel, P. M. Long and Y. Singer, "Online learning of multiple tasks with a shared loss", 2007: equations (9),
    (16) and lemma 8 are the three updates.
    """

    _pairs: tuple[Pair, ...] = ()
    _usual: Pair = [None, None]  # noqa: RUF012  # of tasks to come; never changed in place

    # -- learning ---------------------------------------------------------------------------------------------------

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn each round once, in order; the same stream in other chunks gives the same bits.

        More columns than before are tasks that appear now, with weights of zero.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rounds, n_features), list of one a task, list of dicts
        y : array-like of shape (n_rounds, n_tasks) or (n_rounds,), or list of dicts of task to value
            NaN or None where a task is dormant.
        classes : pair, list of one pair a task, or dict of task to pair, optional
            The two values of all tasks, or of each. Without it a value exists from the round in which it first appears:
            1 and True on the positive side, any other first value on the negative one.
        sample_weight : array-like of shape (n_rounds,), optional
            Multiplies each round's C; a round of weight 0 is scored and not learned.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes, sample_weight)

    def _begin(self) -> None:
        super()._begin()
        self._pairs, self._usual = (), [None, None]

    def _know(self, classes: Any, y: Any) -> None:
        if classes is None:
            return
        if isinstance(classes, Mapping):
            if self._names is None and self._tasks:
                raise ValueError("classes is a dict, but the tasks have no names")
            names = list(dict.fromkeys([*(self._names or ()), *classes]))
            given = [pair_of(classes[name], name) if name in classes else [None, None] for name in names]
            self._name(names)
        elif len(classes) == 2 and not any(np.ndim(value) for value in classes):
            self._usual = pair_of(classes, "all tasks")
            given = [self._usual] * len(self._pairs)
        else:
            given = [pair_of(pair, j) for j, pair in enumerate(classes)]
        longest = max(len(given), len(self._pairs))
        given, known = ([*pairs, *[[None, None]] * (longest - len(pairs))] for pairs in (given, self._pairs))
        self._pairs = tuple(agreed(*both, j) for j, both in enumerate(zip(known, given, strict=True)))

    def _numbers(self, raw: TaskTargets) -> TaskTargets:
        tasks = raw.table.shape[1]
        pairs = [list(pair) for pair in self._pairs[:tasks]]
        pairs += [list(self._usual) for _ in range(tasks - len(pairs))]
        sides, alone = read_sides(raw.table, pairs)
        return raw._replace(table=sides, pairs=pairs, alone=alone)

    def _row_of(self, y: dict[Any, Any]) -> np.ndarray | None:
        row = np.zeros((1, self._tasks), dtype=np.int8)
        for name, value in y.items():
            j = self._index.get(name)
            if j is None or (value is not None and type(value) not in (bool, int, str)):
                return None
            if value is None:
                continue
            negative, positive = self._pairs[j]
            if value != negative and value != positive:
                return None
            row[0, j] = 1 if value == positive else -1
        return row

    def _settle(self, targets: TaskTargets) -> TaskTargets:
        targets = super()._settle(targets)
        assert targets.pairs is not None
        for j, pair in enumerate(targets.pairs):
            if sorted_pair(pair) != pair:
                pair.reverse()
                targets.table[:, j] *= -1
        return targets

    def _keep(self, targets: TaskTargets) -> None:
        super()._keep(targets)
        kept = tuple(targets.pairs or ())
        self._pairs = (*kept, *self._pairs[len(kept) :])

    # -- answers ----------------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> list[np.ndarray]:
        """The two values of each task, negative first."""
        tasks = self._learned("classes_").outputs
        return [as_array([value for value in pair if value is not None]) for pair in self._pairs[:tasks]]

    def decision_function(self, X: Any) -> np.ndarray:
        """Score every task; above zero is its positive side.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rounds, n_features), list of one a task, list of dicts

        Returns
        -------
        array of shape (n_rounds, n_tasks)
            Or (n_rounds,), where y was 1-d.
        """
        scores = self._scores(X)
        return scores[:, 0] if self._form == VECTOR and scores.shape[1] == 1 else scores

    def _answers(self, scores: np.ndarray, alone: np.ndarray | None = None) -> Any:
        side = (scores > 0).astype(np.intp)
        if alone is not None:  # up to the round of its second value a task's answer is its first
            second, first = alone
            side = np.where(np.arange(len(scores))[:, None] <= second, first, side)
        tasks = scores.shape[1]
        out = answer_table(self._pairs[:tasks])[np.arange(tasks), side]
        if self._form == DICTS:
            return [dict(zip(self.tasks_, row, strict=True)) for row in out.tolist()]
        return out[:, 0] if self._form == VECTOR and tasks == 1 else out

    def _room_for_answers(self, rounds: int, targets: TaskTargets) -> dict[str, np.ndarray]:
        assert targets.alone is not None
        return {**super()._room_for_answers(rounds, targets), "alone": targets.alone}

    def _answers_from(self, room: dict[str, np.ndarray]) -> Any:
        return self._answers(room["scores"], room["alone"])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return minus the infinity-error: the share of rounds in which any active task errs.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rounds, n_features), list of one a task, list of dicts
        y : array-like of shape (n_rounds, n_tasks) or (n_rounds,), or list of dicts of task to value
        sample_weight : array-like of shape (n_rounds,), optional

        Returns
        -------
        float
        """
        scores = self._scores(X)
        sides = self._read_y(y, len(scores)).table[:, : scores.shape[1]]
        truth = np.where(sides == 0, np.nan, sides > 0)
        return -metrics.multitask_infinity_error(truth, scores, sample_weight=sample_weight)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        state, sections = super()._state()
        state["more"] |= {"pairs": encode_value(list(self._pairs)), "usual": encode_value(self._usual)}
        return state, sections

    def _restore(self, state: Mapping[str, Any], sections: dict[str, np.ndarray]) -> None:
        super()._restore(state, sections)
        self._pairs = tuple(decode_value(state["more"]["pairs"], "pairs"))
        self._usual = decode_value(state["more"]["usual"], "usual")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "multitask"
        tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags


class MultitaskRegressor(RegressorMixin, TaskLearner):
    """Learn k numbers in parallel whose absolute losses of a round become one: their norm.

    Task j predicts ``<w_j, x_j>`` and has the loss ``l_j = max(0, |y_j - <w_j, x_j>| - epsilon)``; the round's loss is
    ``||l||``. Each update is ``w_j += tau_j sign(y_j - <w_j, x_j>) x_j`` with ``||tau||* <= C``, as in
    `MultitaskClassifier`. With one matrix for all tasks and the 2-norm this is vector regression.

    Parameters
    ----------
    norm : {"l2", "l1", "linf"}, PNorm, RMax or Interpolated, default="l2"
        Of the losses of a round; see `hinge.norms`.
    update : {"implicit", "infinite", "finite"}, default="implicit"
        How far to move: as far as the dual rises, each task by its own; along the steps that find most of the loss, by
        ``min(C, ||l|| / (R^2 rho^2))``; along them by C.
    C : float, default=1.0
        The most that the dual norm of a round's steps may be.
    radius : float, optional
        R, a bound on the length of the instances, for the infinite update and for `horizon`. By default the longest
        instance of an active task so far.
    horizon : float, optional
        The number of rounds to come, T: then C is ``1 / (sqrt(T) R^2)``.
    epsilon : float, default=0.0
        How far off a prediction may be without a loss.
    max_iter : int, default=1
        Passes that `fit` makes.
    shuffle : bool, default=False
        Whether `fit` takes the rounds in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    fit_intercept : bool, default=True
        Whether every instance has a feature more, which is 1.
    features : {"names", "hashed"}, default="names"
        How the names in dicts become features.
    n_bits : int, default=20
        Hashed: there are 2 ** n_bits features.
    dtype : dtype, default="float32"
        What the weights are kept in: float32 or float64.

    Attributes
    ----------
    tasks_ : list
        The tasks' names, or their numbers.
    coef_ : array of shape (n_tasks, n_features_in_), or list of one array a task
        The weights.
    intercept_ : array of shape (n_tasks,)
        Zeros without an intercept.
    n_features_in_ : int, or list of int
        How many features there are: of all tasks, or of each where X is a list of matrices.
    t_ : int
        Rounds so far.
    n_iter_ : int
        Passes that `fit` made.
    certificate_ : Certificate
        What is proven about the stream so far. A round counts as a mistake where a task has a loss; nothing bounds
        their number.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import MultitaskRegressor
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> Y = X @ np.array([[2.0, -1.0], [0.5, 3.0]])
    >>> MultitaskRegressor(max_iter=50, fit_intercept=False).fit(X, Y).predict(X).round(2)
    array([[ 2. , -1. ],
           [ 0.5,  3. ],
           [ 2.5,  2. ]])

    References
    ----------
    O. Dekel, P. M. Long and Y. Singer, "Online learning of multiple tasks with a shared loss", 2007.
    """

    _kind: ClassVar[str] = "numbers"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PARAMETERS,
        "epsilon": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        norm: Any = "l2",
        update: str = "implicit",
        *,
        C: float = 1.0,
        radius: float | None = None,
        horizon: float | None = None,
        epsilon: float = 0.0,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: Any = None,
        fit_intercept: bool = True,
        features: str = "names",
        n_bits: int = 20,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(
            norm, update, C=C, radius=radius, horizon=horizon, max_iter=max_iter, shuffle=shuffle,
            random_state=random_state, fit_intercept=fit_intercept, features=features, n_bits=n_bits, dtype=dtype,
        )  # fmt: skip
        self.epsilon = epsilon

    @property
    def _epsilon(self) -> float:
        return float(self.epsilon)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn each round once, in order; the same stream in other chunks gives the same bits.

        More columns than before are tasks that appear now, with weights of zero.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rounds, n_features), list of one a task, list of dicts
        y : array-like of shape (n_rounds, n_tasks) or (n_rounds,), or list of dicts of task to number
            NaN or None where a task is dormant.
        sample_weight : array-like of shape (n_rounds,), optional
            Multiplies each round's C; a round of weight 0 is scored and not learned.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, None, sample_weight)

    def _know(self, classes: Any, y: Any) -> None:
        if classes is not None:
            raise ValueError("classes was given, but the answers are numbers")

    def _numbers(self, raw: TaskTargets) -> TaskTargets:
        return raw._replace(table=read_numbers(raw.table))

    def _row_of(self, y: dict[Any, Any]) -> np.ndarray | None:
        row = np.full((1, self._tasks), np.nan)
        for name, value in y.items():
            j = self._index.get(name)
            if j is None or type(value) not in (int, float) or not -inf < value < inf:
                return None
            row[0, j] = value
        return row

    def _answers(self, scores: np.ndarray) -> Any:
        numbers = scores.astype(np.float64)
        if self._form == DICTS:
            return [dict(zip(self.tasks_, row, strict=True)) for row in numbers.tolist()]
        return numbers[:, 0] if self._form == VECTOR and scores.shape[1] == 1 else numbers

    def _answers_from(self, room: dict[str, np.ndarray]) -> Any:
        return self._answers(room["scores"])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return minus the mean over the rounds of the largest absolute error of an active task.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rounds, n_features), list of one a task, list of dicts
        y : array-like of shape (n_rounds, n_tasks) or (n_rounds,), or list of dicts of task to number
        sample_weight : array-like of shape (n_rounds,), optional

        Returns
        -------
        float
        """
        scores = self._scores(X).astype(np.float64)
        truth = self._read_y(y, len(scores)).table[:, : scores.shape[1]]
        return -metrics.multitask_absolute_loss(truth, scores, norm="linf", sample_weight=sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.regressor_tags.poor_score = True  # score is no R^2: it is never positive
        tags.input_tags.sparse = True
        return tags
