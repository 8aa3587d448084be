"""Parallel tasks: k answers a round, which share one loss, a norm of theirs.

A task may sit a round out (its y is NaN, or it is not named): it is dormant, has no loss, and nothing of it moves. A
score of exactly zero is an error. `fit` takes the larger value of a column as its positive side; of values that appear
one by one 1 is positive, and 0 and -1 are negative (see `hinge.tasks`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils._param_validation import Integral, Interval, Real, StrOptions
from sklearn.utils.validation import check_is_fitted

from hinge import _core, metrics
from hinge.base import OnlineEstimator, check_dtype
from hinge.certificate import Certificate
from hinge.json_values import decode_value, encode_value
from hinge.labels import as_array
from hinge.norms import Interpolated, PNorm, RMax
from hinge.rows import read_rows, read_weights
from hinge.tasks import (
    DICTS,
    MATRIX,
    MODELS,
    VECTOR,
    Pair,
    TaskTargets,
    agreed,
    answer_table,
    norm_of,
    numbers_of,
    pair_of,
    read_numbers,
    read_sides,
    sorted_pair,
    table_of_dicts,
)

__all__ = ["MultitaskClassifier", "MultitaskRegressor"]

POSITIVE = Interval(Real, 0, None, closed="neither")


class TaskRows:
    """One matrix for all tasks, or a list of one a task, as the core reads them."""

    def __init__(self, views: list[Any], parts: list[Any] | None) -> None:
        self.views, self.parts = views, parts
        self.count = views[0].count

    @property
    def matrices(self) -> int | None:
        """How many there are; None for one that all tasks share."""
        return None if self.parts is None else len(self.parts)

    def take(self, order: np.ndarray) -> TaskRows:
        """Return the rounds in another order."""
        return TaskRows([view.take(order) for view in self.views], self.parts)


class TaskDicts:
    """A list of dicts as the X of a call: of features, or of task to a dict of features."""

    def __init__(self, X: Sequence[Any], apart: bool) -> None:
        self.X, self.count, self.apart = X, len(X), apart
        self.matrices = None

    def take(self, order: np.ndarray) -> TaskDicts:
        """Return the rounds in another order."""
        return TaskDicts([self.X[t] for t in order], self.apart)


class _Tasks(OnlineEstimator):
    """What the estimators of parallel tasks share."""

    _structure: ClassVar[tuple[str, ...]] = ("norm", "update", "fit_intercept", "features", "n_bits", "dtype")
    _seen: ClassVar[tuple[str, ...]] = ("loss", "error", "task_errors", "dual")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "norm": [StrOptions({"l1", "l2", "linf"}), PNorm, RMax, Interpolated],
        "update": [StrOptions({"implicit", "infinite", "finite"})],
        "C": [POSITIVE],
        "radius": [POSITIVE, None],
        "horizon": [POSITIVE, None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "fit_intercept": ["boolean"],
        "features": [StrOptions({"names", "hashed"})],
        "n_bits": [Interval(Integral, 1, 30, closed="both")],
    }
    _kind: ClassVar[str] = "sides"  # of the answers
    _form = MATRIX
    _apart = False  # tasks have feature spaces of their own
    _parts: tuple[Any, ...] = ()  # these spaces, where they have
    _names: tuple[Any, ...] | None = None  # the tasks', where they have any
    _index: dict[Any, int]  # and their numbers
    n_features_in_: Any

    # -- parameters and the model -----------------------------------------------------------------------------------

    def _check_combination(self) -> None:
        check_dtype(self)

    def _settings(self) -> tuple[float, ...]:
        return float(self.C), float(self.radius or 0), float(self.horizon or 0)

    def _now(self, tasks: int) -> tuple[float, ...]:
        """Return the settings of a round with so many tasks."""
        return (*self._set, norm_of(self.norm).dual_remoteness(max(1, tasks)), self._epsilon)

    @property
    def _epsilon(self) -> float:
        return 0.0

    def _new_model(self) -> Any:
        return MODELS[self._dtype](self.update, numbers_of(self.norm), self._kind, not self._apart, self.fit_intercept)

    def _begin(self) -> None:
        self._apart, self._parts, self._names, self._form = False, (), None, MATRIX
        super()._begin()

    def _take_form(self, apart: bool) -> None:
        """Give each task a space of its own, or not, before anything is learned."""
        if apart != self._apart:
            self._apart = apart
            self._model = self._new_model()

    def _space(self) -> Any:
        """Return what reads one task's features: a bare estimator of this class."""
        part = object.__new__(type(self))
        part.features, part.n_bits = self.features, self.n_bits
        return part

    @property
    def _tasks(self) -> int:
        return int(self._model.outputs)

    # -- X ----------------------------------------------------------------------------------------------------------

    def _read_x(self, X: Any, *, reset: bool = False) -> Any:
        if isinstance(X, list | tuple) and X and isinstance(X[0], dict):
            return self._read_dicts(X, reset)
        apart = is_list_of_matrices(X)
        self._check_form(apart, reset)
        if not apart:
            return TaskRows([read_rows(self, X, self._dtype, self._intercept, reset=reset)], None)
        parts, views = [] if reset else list(self._parts), []
        if len(X) < len(parts):
            raise ValueError(f"X is a list of {len(X)} matrices, but there are {len(parts)} tasks: one matrix a task")
        for j, matrix in enumerate(X):
            fresh = j >= len(parts)
            if fresh:
                parts.append(self._space())
            try:
                views.append(read_rows(parts[j], matrix, self._dtype, self._intercept, reset=fresh))
            except (TypeError, ValueError) as error:
                raise type(error)(f"matrix {j} of X: {error}") from None
        heights = [view.count for view in views]
        if len(set(heights)) > 1:
            j = next(j for j, height in enumerate(heights) if height != heights[0])
            raise ValueError(
                f"the matrices of X must have one height, a row a round: matrix 0 has {heights[0]} rows, "
                f"matrix {j} has {heights[j]}"
            )
        if reset:
            self.n_features_in_ = [part.n_features_in_ for part in parts]
        return TaskRows(views, parts)

    def _check_form(self, apart: bool, reset: bool) -> None:
        if reset:
            self._take_form(apart)
        elif apart != self._apart:
            forms = ("one X for all tasks", "an X for each task")
            raise ValueError(f"learning began with {forms[self._apart]}, this is {forms[apart]}")

    def _read_dicts(self, X: Sequence[Any], reset: bool) -> TaskDicts:
        apart = is_dict_of_dicts(X[0])
        if reset:
            self.n_features_in_ = [] if apart else 0
        self._check_form(apart, reset)
        for t, x in enumerate(X):
            if not isinstance(x, dict):
                raise TypeError(f"row {t} of X is {type(x).__name__}, but the first is a dict")
            try:
                self._check_dict(x)
            except (TypeError, ValueError) as error:
                raise type(error)(f"row {t} of X: {error}") from None
        return TaskDicts(X, apart)

    def _check_dict(self, x: dict[Any, Any]) -> None:
        """Look at every value of a dict; nothing is added."""
        single = self._dtype == np.float32
        if is_dict_of_dicts(x) != self._apart and x:
            raise ValueError("a dict of features, or a dict of task to dict: the same in every row")
        if not self._apart:
            self._dict_reader().check(x, single)
            return
        for name, features in x.items():
            known = self._names is not None and name in self._names
            part = self._parts[self._names.index(name)] if known and self._names else self._space()
            try:
                part._dict_reader().check(features, single)
            except (TypeError, ValueError) as error:
                raise type(error)(f"task {name!r}: {error}") from None

    # -- y ----------------------------------------------------------------------------------------------------------

    def _read(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = False, **more: Any
    ) -> tuple[Any, TaskTargets, np.ndarray | None]:
        x = self._read_x(X, reset=reset)
        weights = read_weights(sample_weight, x.count)
        targets = self._read_y(y, x.count)
        tasks = targets.table.shape[1]
        if x.matrices is not None and x.matrices != tasks:
            raise ValueError(f"X is a list of {x.matrices} matrices, but y has {tasks} columns: one matrix a column")
        self._now(tasks if targets.exist is None else int(targets.exist[0]))  # a norm may need more tasks than these
        if isinstance(x, TaskDicts) and x.apart:
            self._check_that_x_is_there(x, targets)
        return x, targets, weights

    def _check_that_x_is_there(self, x: TaskDicts, targets: TaskTargets) -> None:
        if targets.names is None:
            raise ValueError("X has a dict a task: y must be dicts of task to value too")
        for t, j in zip(*np.nonzero(targets.active), strict=True):
            if targets.names[j] not in x.X[t]:
                raise ValueError(f"row {t} of X has no task {targets.names[j]!r}, which has an answer in y")

    def _read_y(self, y: Any, rounds: int) -> TaskTargets:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        if isinstance(y, list | tuple) and len(y) and isinstance(y[0], dict):
            if self._names is None and self._tasks:
                raise ValueError("the tasks have no names, because y was an array: give dicts from the start")
            raw = TaskTargets(DICTS, *table_of_dicts(y, self._names or ()))
        else:
            table = y.toarray() if sparse.issparse(y) else np.asarray(y)
            if table.ndim not in (1, 2):
                raise ValueError(f"y must be (rounds,) or (rounds, tasks), got the shape {table.shape}")
            form = VECTOR if table.ndim == 1 else MATRIX
            raw = TaskTargets(form, table.reshape(len(table), -1), column_names(y))
        rows, tasks = raw.table.shape
        if rows != rounds:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rounds}, {rows}]")
        if tasks == 0:
            raise ValueError("y has no columns: one column a task")
        if tasks < self._tasks:
            raise ValueError(f"y has {tasks} columns, but there are {self._tasks} tasks: one column a task")
        if raw.names is None and self._names is not None and tasks == len(self._names):
            raw = raw._replace(names=list(self._names))
        return self._numbers(raw)

    def _numbers(self, raw: TaskTargets) -> TaskTargets:
        """Turn a table of values into what the core reads; ValueError, naming the place, where that cannot be done."""
        raise NotImplementedError

    def _settle(self, targets: TaskTargets) -> TaskTargets:
        if not targets.active.any():
            raise ValueError("every y is NaN: all tasks are dormant in all rounds, there is nothing to learn from")
        return targets._replace(exist=None)

    def _name(self, names: Sequence[Any]) -> None:
        self._names, self._index = tuple(names), {name: j for j, name in enumerate(names)}

    # -- learning ---------------------------------------------------------------------------------------------------

    def _keep(self, targets: TaskTargets) -> None:
        """Remember what a call's targets say of the tasks."""
        self._form = targets.form
        if targets.names is not None and self._names != tuple(targets.names):
            self._name(targets.names)

    def _learn(self, x: Any, targets: TaskTargets, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        self._keep(targets)
        trace.pop("alone", None)
        if isinstance(x, TaskDicts):
            return self._learn_dicts(x, targets, weights, trace)
        if x.parts is not None:
            self._parts = tuple(x.parts)
            self.n_features_in_ = [part.n_features_in_ for part in x.parts]
        for start, stop, tasks in targets.runs():
            self._grow(tasks)
            numbers = np.ascontiguousarray(targets.table[start:stop, :tasks])
            some = None if weights is None else weights[start:stop]
            room = {name: part[start:stop] for name, part in trace.items()}
            scores = room.pop("scores", None)
            if scores is not None:
                room["scores"] = np.empty((stop - start, tasks), dtype=self._dtype)
            self._model.learn(x.views, start, stop, *self._pair(numbers), some, *self._now(tasks), **room)
            if scores is not None:
                scores[:, :tasks] = room["scores"]
        return None

    def _grow(self, tasks: int) -> None:
        """Let so many tasks exist."""
        if self._apart:
            self._model.widen([part.n_features_in_ for part in self._parts][:tasks])
        else:
            self._model.grow(self.n_features_in_, tasks)

    def _pair(self, numbers: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return sides or numbers; the other one is None."""
        return (None, numbers) if self._kind == "numbers" else (numbers, None)

    def _learn_dicts(self, x: TaskDicts, targets: TaskTargets, weights: Any, trace: dict[str, np.ndarray]) -> None:
        wanted = [name for name in self._seen if name in trace]
        for t, row in enumerate(x.X):
            tasks = targets.table.shape[1] if targets.exist is None else int(targets.exist[t])
            if "scores" in trace and self._tasks:
                scores = self._score_dict(row)
                trace["scores"][t, : scores.size] = scores
            w = 1.0 if weights is None else float(weights[t])
            self._learn_dict_row(row, np.ascontiguousarray(targets.table[t : t + 1, :tasks]), w)
            for name in wanted:
                trace[name][t] = getattr(self._model, f"last_{name}")

    def _learn_dict_row(self, x: dict[Any, Any], numbers: np.ndarray, w: float) -> None:
        tasks = numbers.shape[1]
        if not self._apart:
            readers, rows = [self._dict_reader()], [x]
        else:
            assert self._names is not None
            self._parts = (*self._parts, *(self._space() for _ in range(tasks - len(self._parts))))
            readers = [part._dict_reader() for part in self._parts]
            rows = [x.get(name, {}) for name in self._names[:tasks]]
        self._model.learn_one(readers, rows, *self._pair(numbers), w, *self._now(tasks))
        if self._apart:
            for part in self._parts:
                part.n_features_in_ = part._reader.features
            self.n_features_in_ = [part.n_features_in_ for part in self._parts]
        else:
            self.n_features_in_ = readers[0].features

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn from one round.

        Parameters
        ----------
        x : dict of feature name to number or string, or dict of task to such a dict
            One instance for all tasks, or one each; a string value stands for the feature ``name=value``.
        y : dict of task to value, or one value for a single task without a name
            A task that is not named, or whose value is None or NaN, is dormant. New names are new tasks.
        w : float, default=1.0
            Multiplies this round's C.
        """
        if not 0 <= w < inf:
            raise ValueError(f"w is {w!r}; a weight must be finite and not negative")
        must_be_dict(x)
        answers = [y] if isinstance(y, dict) else np.array([y], dtype=object)
        if self._model is not None and hasattr(self, "n_features_in_"):
            self._check_params()
            known = self._numbers_of_known(x, y)
            if known is not None:
                self._learn_dict_row(x, known, w)
                return
            read, targets, _ = self._read([x], answers, None)
            self._learn_dicts_kept(read, targets, w)
            return
        with self._all_or_nothing():
            self._check_params()
            if self._model is None:
                self._begin()
            read, targets, _ = self._read([x], answers, None, reset=True)
            self._learn_dicts_kept(read, targets, w)

    def _numbers_of_known(self, x: Any, y: Any) -> np.ndarray | None:
        """Return the answers of one round, or None where it needs a closer look: new tasks, values or forms."""
        if type(y) is not dict or type(x) is not dict or self._apart or self._form != DICTS or self._names is None:
            return None
        if is_dict_of_dicts(x) or len(self._index) != self._tasks:
            return None
        return self._row_of(y)

    def _row_of(self, y: dict[Any, Any]) -> np.ndarray | None:
        raise NotImplementedError

    def _learn_dicts_kept(self, read: TaskDicts, targets: TaskTargets, w: float) -> None:
        self._keep(targets)
        self._learn_dicts(read, targets, np.array([w]), {})

    # -- answers ----------------------------------------------------------------------------------------------------

    def _score_dict(self, x: dict[Any, Any]) -> np.ndarray:
        """Return a score a task, zero where the task has no x."""
        if not self._apart:
            return self._model.score_one([self._reader or self._dict_reader()], [x])
        assert self._names is not None
        rows = [x.get(name, {}) for name in self._names[: self._tasks]]
        return self._model.score_one([part._dict_reader() for part in self._parts], rows)

    def _scores(self, X: Any) -> np.ndarray:
        """Return one score a row and task."""
        check_is_fitted(self)
        x = self._read_x(X)
        if isinstance(x, TaskDicts):
            return np.stack([self._score_dict(row) for row in x.X])
        if x.matrices not in (None, self._tasks):
            raise ValueError(f"X is a list of {x.matrices} matrices, but there are {self._tasks} tasks")
        out = np.empty((x.count, self._tasks), dtype=self._dtype)
        self._model.score(x.views, out)
        return out

    def _room_for_answers(self, rounds: int, targets: TaskTargets) -> dict[str, np.ndarray]:
        return {"scores": np.zeros((rounds, targets.table.shape[1]), dtype=self._dtype)}

    # -- what was learned -------------------------------------------------------------------------------------------

    def _learned(self, name: str) -> Any:
        if self._model is None:
            raise AttributeError(f"{name} exists once something was learned")
        return self._model

    @property
    def coef_(self) -> Any:
        """The weights: (tasks, features), or a list of one array a task where X is a list of matrices."""
        return self._learned("coef_").weights()

    @property
    def intercept_(self) -> np.ndarray:
        """The weights of the constant feature, one a task."""
        return self._learned("intercept_").intercepts()

    @property
    def tasks_(self) -> list[Any]:
        """The tasks' names, or their numbers where they have none."""
        tasks = self._learned("tasks_").outputs
        return list(range(tasks)) if self._names is None else list(self._names[:tasks])

    @property
    def certificate_(self) -> Certificate:
        """What is proven about the stream so far."""
        book = self._learned("certificate_").ledger()
        gain = book["least_gain"]
        rounding = np.finfo(self._dtype).eps * (abs(book["promised"]) + 2 * book["conjugate"] + self._tasks)
        return Certificate(
            int(book["rounds"]),
            int(book["mistakes"]),
            book["loss"],
            book["dual"],
            max(0.0, book["dual"]) / gain if gain > 0 else inf,
            tolerance=float(rounding * np.sqrt(max(1.0, book["rounds"]))),
            C=book["C"] or float(self.C),
        )

    # -- files ------------------------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        state, sections = super()._state()
        state |= {"form": self._form, "tasks": self._tasks, "apart": self._apart, "n_features": 0}
        if not self._apart:
            state["n_features"] = getattr(self, "n_features_in_", 0)
        names = None if self._names is None else list(self._names)
        parts = [[int(p.n_features_in_), p._reader is not None, part_names(p)] for p in self._parts]
        state["more"] = {"names": encode_value(names), "parts": encode_value(parts)}
        return state, sections

    def _restore(self, state: Mapping[str, Any], sections: dict[str, np.ndarray]) -> None:
        super()._restore(state, sections)
        if state["form"] not in (VECTOR, MATRIX, DICTS):
            raise ValueError(f"the targets' form {state['form']!r} is unknown")
        names = decode_value(state["more"]["names"], "names")
        self._form, self._names = state["form"], None
        if names is not None:
            self._name(names)
        self._take_form(state["apart"] is True)
        if self._apart:
            self._restore_parts(decode_value(state["more"]["parts"], "parts"))
            self.n_features_in_ = [part.n_features_in_ for part in self._parts]
        largest = max((section.shape[0] for section in sections.values() if section.ndim == 2), default=0)
        widest = max(self.n_features_in_, default=0) if self._apart else self.n_features_in_
        tasks = int(state["tasks"])
        sizes = sum(section.size for section in sections.values())
        if widest > largest or tasks > max(sizes, len(self._parts)) or (self._apart and tasks != len(self._parts)):
            raise ValueError(f"{widest} features and {tasks} tasks, but no section is as long")
        self._grow(tasks)
        self._model.restore(sections)

    def _restore_parts(self, parts: list[Any]) -> None:
        spaces = []
        for width, reads_dicts, names in parts:
            part = self._space()
            part.n_features_in_ = int(width)
            if reads_dicts:
                part._reader = _core.DictReader(self.n_bits if self.features == "hashed" else 0)
                part._reader.names = {name: i for i, name in enumerate(names or ())}
            elif names is not None:
                part._frame_names = np.array(names, dtype=object)
            spaces.append(part)
        self._parts = tuple(spaces)

    def _copy_learned(self, other: Self) -> None:
        super()._copy_learned(other)
        state = [[int(p.n_features_in_), p._reader is not None, part_names(p)] for p in other._parts]
        self._restore_parts(state)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if "kept" in state:
            state["kept"].pop("_parts", None)
        return state


def part_names(part: Any) -> list[str] | None:
    """Return the names of one task's features: those of dicts, of a data frame's columns, or None."""
    if part._reader is not None:
        return list(part._reader.names) if part.features == "names" else None
    return None if part._frame_names is None else list(part._frame_names)


def is_list_of_matrices(X: Any) -> bool:
    """Say whether X is a list or tuple whose items are 2-d."""
    if not isinstance(X, list | tuple) or not X:
        return False
    first = X[0]
    return (len(first.shape) if hasattr(first, "shape") else np.ndim(first)) == 2


def must_be_dict(x: Any) -> None:
    """Raise where one round's x is no dict."""
    if not isinstance(x, dict):
        raise TypeError(
            f"x must be a dict of feature name to number or string, or of task to such a dict, got {type(x).__name__}"
        )


def is_dict_of_dicts(x: dict[Any, Any]) -> bool:
    """Say whether a dict holds one dict a task."""
    return bool(x) and all(isinstance(value, dict) for value in x.values())


def column_names(y: Any) -> list[Any] | None:
    """Return the names of a data frame's columns."""
    columns = getattr(y, "columns", None)
    return None if columns is None or not hasattr(y, "shape") else list(columns)


class MultitaskClassifier(_Tasks):
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

    def __init__(
        self,
        norm: Any = "l2",
        update: str = "implicit",
        *,
        C: float = 1.0,
        radius: float | None = None,
        horizon: float | None = None,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: Any = None,
        fit_intercept: bool = True,
        features: str = "names",
        n_bits: int = 20,
        dtype: Any = "float32",
    ) -> None:
        self.norm = norm
        self.update = update
        self.C = C
        self.radius = radius
        self.horizon = horizon
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.features = features
        self.n_bits = n_bits
        self.dtype = dtype

    _pairs: tuple[Pair, ...] = ()
    _usual: Pair = [None, None]  # noqa: RUF012  # of tasks to come; never changed in place

    # -- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn all rounds, in order, `max_iter` times.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rounds, n_features), list of one a task, list of dicts
        y : array-like of shape (n_rounds, n_tasks) or (n_rounds,), or list of dicts of task to value
            Two values a column, the larger is positive; NaN or None where a task is dormant.
        sample_weight : array-like of shape (n_rounds,), optional
            Multiplies each round's C; a round of weight 0 is not learned.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

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

    def predict(self, X: Any) -> Any:
        """Answer every task with one of its two values, in the form in which y was given.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rounds, n_features), list of one a task, list of dicts

        Returns
        -------
        array of shape (n_rounds, n_tasks) or (n_rounds,), or list of dicts
        """
        return self._answers(self._scores(X))

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

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """Answer one round; None before anything was learned.

        Parameters
        ----------
        x : dict of feature name to number or string, or dict of task to such a dict
            Names that were never learned are left out.
        """
        if self._model is None or self._tasks == 0:
            return None
        must_be_dict(x)
        self._check_dict(x)
        answers = self._answers(self._score_dict(x)[None])
        return answers[0].tolist() if isinstance(answers, np.ndarray) else answers[0]

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


class MultitaskRegressor(RegressorMixin, _Tasks):
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
        **_Tasks._parameter_constraints,
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
        self.norm = norm
        self.update = update
        self.C = C
        self.radius = radius
        self.horizon = horizon
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.features = features
        self.n_bits = n_bits
        self.dtype = dtype

    @property
    def _epsilon(self) -> float:
        return float(self.epsilon)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn all rounds, in order, `max_iter` times.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rounds, n_features), list of one a task, list of dicts
        y : array-like of shape (n_rounds, n_tasks) or (n_rounds,), or list of dicts of task to number
            NaN or None where a task is dormant.
        sample_weight : array-like of shape (n_rounds,), optional
            Multiplies each round's C; a round of weight 0 is not learned.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

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

    def predict(self, X: Any) -> Any:
        """Answer every task with a number, in the form in which y was given.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rounds, n_features), list of one a task, list of dicts

        Returns
        -------
        array of float64, of shape (n_rounds, n_tasks) or (n_rounds,), or list of dicts
        """
        return self._answers(self._scores(X))

    def _answers(self, scores: np.ndarray) -> Any:
        numbers = scores.astype(np.float64)
        if self._form == DICTS:
            return [dict(zip(self.tasks_, row, strict=True)) for row in numbers.tolist()]
        return numbers[:, 0] if self._form == VECTOR and scores.shape[1] == 1 else numbers

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """Answer one round; None before anything was learned.

        Parameters
        ----------
        x : dict of feature name to number or string, or dict of task to such a dict
            Names that were never learned are left out.
        """
        if self._model is None or self._tasks == 0:
            return None
        must_be_dict(x)
        self._check_dict(x)
        answers = self._answers(self._score_dict(x)[None])
        return answers[0].tolist() if isinstance(answers, np.ndarray) else answers[0]

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
