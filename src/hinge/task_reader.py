"""How parallel tasks are fed: one matrix for all of them or one each, or dicts, and a table of answers.

Nothing here learns. What is read says how many tasks there are and how wide each one's features; it becomes part of the
estimator when the rounds are learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from hinge.base import OnlineEstimator
from hinge.rows import read_rows, read_weights
from hinge.tasks import DICTS, MATRIX, VECTOR, TaskTargets, table_of_dicts


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


class TaskReader(OnlineEstimator):
    """What estimators of parallel tasks read."""

    _kind: ClassVar[str] = "sides"  # of the answers
    _form = MATRIX
    _apart = False  # tasks have feature spaces of their own
    _parts: tuple[Any, ...] = ()  # these spaces, where they have
    _names: tuple[Any, ...] | None = None  # the tasks', where they have any
    _index: dict[Any, int]  # and their numbers
    n_features_in_: Any

    def _space(self) -> Any:
        """Return what reads one task's features: a bare estimator of this class."""
        part = object.__new__(type(self))
        part.features, part.n_bits = self.features, self.n_bits
        return part

    @property
    def _tasks(self) -> int:
        return int(self._model.outputs)

    def _now(self, tasks: int) -> tuple[float, ...]:
        """Return the settings of a round with so many tasks; ValueError where the norm needs more."""
        raise NotImplementedError

    def _take_form(self, apart: bool) -> None:
        """Give each task a space of its own, or not, before anything is learned."""
        if apart != self._apart:
            self._apart = apart
            self._model = self._new_model()

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

    def _name(self, names: Sequence[Any]) -> None:
        self._names, self._index = tuple(names), {name: j for j, name in enumerate(names)}


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


def one_round(x: Any) -> dict[Any, Any]:
    """Return one round's x as a dict; a list of one dict a task stands for a dict of the tasks' numbers to them."""
    if isinstance(x, list | tuple) and x and all(isinstance(features, dict) for features in x):
        return dict(enumerate(x))
    if isinstance(x, dict):
        return x
    raise TypeError(
        f"x must be a dict of feature name to number or string, or of task to such a dict, or a list of one a task, "
        f"got {type(x).__name__}"
    )


def is_dict_of_dicts(x: dict[Any, Any]) -> bool:
    """Say whether a dict holds one dict a task."""
    return bool(x) and all(isinstance(value, dict) for value in x.values())


def column_names(y: Any) -> list[Any] | None:
    """Return the names of a data frame's columns."""
    columns = getattr(y, "columns", None)
    return None if columns is None or not hasattr(y, "shape") else list(columns)
