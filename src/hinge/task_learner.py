"""What the estimators of parallel tasks share: learning by one matrix or many, by dicts, and what was learned."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hinge import _core
from hinge.base import check_dtype
from hinge.certificate import Certificate
from hinge.json_values import decode_value, encode_value
from hinge.task_reader import TaskDicts, TaskReader, is_dict_of_dicts, one_round, part_names
from hinge.tasks import (
    DICTS,
    MATRIX,
    MODELS,
    PARAMETERS,
    VECTOR,
    TaskTargets,
    certificate_of,
    norm_of,
    numbers_of,
)


class TaskLearner(TaskReader):
    """What the estimators of parallel tasks share."""

    _structure: ClassVar[tuple[str, ...]] = ("norm", "update", "fit_intercept", "features", "n_bits", "dtype")
    _seen: ClassVar[tuple[str, ...]] = ("loss", "error", "task_errors", "dual")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS

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

    # -- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn all rounds, in order, `max_iter` times.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rounds, n_features), list of one a task, list of dicts
        y : array-like of shape (n_rounds, n_tasks) or (n_rounds,), or list of dicts of task to value
            Two values a column, of which the larger is positive, or numbers; NaN or None where a task is dormant.
        sample_weight : array-like of shape (n_rounds,), optional
            Multiplies each round's C; a round of weight 0 is not learned.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _settle(self, targets: TaskTargets) -> TaskTargets:
        if not targets.active.any():
            raise ValueError("every y is NaN: all tasks are dormant in all rounds, there is nothing to learn from")
        return targets._replace(exist=None)

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
        x : dict of feature name to number or string, dict of task to such a dict, or list of one a task
            One instance for all tasks, or one each; a string value stands for the feature ``name=value``. In a list
            the tasks' names are their numbers.
        y : dict of task to value, list of one value a task, or one value for a single task
            A task that is not named, or whose value is None or NaN, is dormant. New names are new tasks.
        w : float, default=1.0
            Multiplies this round's C.
        """
        if not 0 <= w < inf:
            raise ValueError(f"w is {w!r}; a weight must be finite and not negative")
        if not isinstance(x, dict):
            x = one_round(x)
            y = y if isinstance(y, dict) else dict(enumerate(y))
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

    def predict(self, X: Any) -> Any:
        """Answer every task with one of its two values, or a number, in the form in which y was given.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rounds, n_features), list of one a task, list of dicts

        Returns
        -------
        array of shape (n_rounds, n_tasks) or (n_rounds,), or list of dicts
        """
        return self._answers(self._scores(X))

    def _answers(self, scores: np.ndarray) -> Any:
        """Turn scores into what is answered."""
        raise NotImplementedError

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """Answer one round; None before anything was learned.

        Parameters
        ----------
        x : dict of feature name to number or string, dict of task to such a dict, or list of one a task
            Names that were never learned are left out.

        Returns
        -------
        dict of task to answer, list of answers where x or y was one, or one answer
        """
        if self._model is None or self._tasks == 0:
            return None
        tasks = one_round(x)
        self._check_dict(tasks)
        answers = self._answers(self._score_dict(tasks)[None])
        if isinstance(answers, np.ndarray):
            return answers[0].tolist()
        return answers[0] if isinstance(x, dict) else list(answers[0].values())

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
        return certificate_of(self._learned("certificate_").ledger(), self._dtype, self._tasks, float(self.C))

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
