"""What every estimator shares: parameters, rows in, labels, learning one by one or many, save and load.

An estimator keeps its parameters as scikit-learn wants them; what it has learned is a model of the core (``_model``),
the labels (``_labels``), and a reader that knows which feature a name is (``_reader``).

Everything a call brings is checked before anything is learned from it. A call that raises changes nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

import hinge
from hinge import _core, labels
from hinge.json_values import decode_labels, decode_value, encode_labels, encode_value
from hinge.labels import Labels, Targets, read_targets
from hinge.model_file import ModelFileError, Path, read_model, write_model
from hinge.rows import read_rows, read_weights

__all__ = ["LabelLearner", "OnlineEstimator", "load"]


def load(path: Path) -> Any:
    """Open a model that an estimator's ``save`` wrote; nothing in the file is executed.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        It continues exactly where the saved one stood.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged anywhere, or was written by a newer version.
    """
    header, sections = read_model(path)
    name = header.get("class")
    if name not in hinge.ESTIMATORS:
        raise ModelFileError(f"{path}: the header names the class {name!r}, which this version does not have")
    try:
        params = {key: decode_value(value, key) for key, value in header["params"].items()}
        estimator = getattr(hinge, name)(**params)
        estimator._check_params()
        state = {key: decode_labels(v, key) if isinstance(v, list) else v for key, v in header["state"].items()}
        estimator._restore(state, sections)
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, MemoryError) as error:
        raise ModelFileError(f"{path}: header and sections are no {name}: {error}") from error
    return estimator


def present_unless(reason: Callable[[Any], str | None]) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a method that does not exist, for ``hasattr`` either, where `reason` says with what it does not go."""

    class Present:
        def __init__(self, method: Callable[..., Any]) -> None:
            self.method = self.__wrapped__ = method
            self.__doc__, self.__name__ = method.__doc__, method.__name__

        def __get__(self, estimator: Any, owner: type) -> Any:
            if estimator is None:
                return self.method
            why_not = reason(estimator)
            if why_not is not None:
                raise AttributeError(f"{owner.__name__} has no {self.__name__} with {why_not}")
            return self.method.__get__(estimator, owner)

    return Present


class OnlineEstimator(BaseEstimator):
    """Parameters, names of features, learning, passes over the data, files: what does not depend on the problem.

    A problem supplies

    - ``_new_model``, ``_settings``, and ``_structure``: parameters that cannot change once learning has begun;
    - ``_read_y``: targets as numbers, with ``take(rounds)``; ``_know``, ``_settle`` and ``_admit`` for what a target
      tells of the classes: before the first round, from all rounds of a ``fit``, from the rounds of a later call;
    - ``_learn_rows`` for rows of the core, ``_learn_dict`` for one dict with its target in numbers, ``_learn_example``
      for one dict with its target as people write it;
    - its answers, and ``_room_for_answers`` and ``_answers_from`` for `hinge.progressive`.

    Public methods stand in the problem's class, with their documentation; the work is done here.
    """

    _structure: ClassVar[tuple[str, ...]] = ()
    _seen: ClassVar[tuple[str, ...]] = ("loss", "error", "dual")  # what a round leaves in a trace
    n_features_in_: int
    _checked: tuple[Any, ...] | None = None
    _begun: tuple[Any, ...] | None = None
    _model: Any = None
    _reader: Any = None
    _frame_names: np.ndarray | None = None

    # -- parameters -------------------------------------------------------------------------------------------------

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        names = cls._get_param_names()
        cls._parameters = attrgetter(*names) if len(names) > 1 else None

    def _check_params(self) -> None:
        """Validate the parameters if they are not those of the last call."""
        now = type(self)._parameters(self)
        if self._checked is not None and same_values(now, self._checked):
            return
        self._validate_params()
        self._check_combination()
        if self._begun is not None:
            for name, then in zip(self._structure, self._begun, strict=True):
                if not same_values((getattr(self, name),), (then,)):
                    raise ValueError(
                        f"{name} was {then!r} when learning began and is {getattr(self, name)!r} now; "
                        f"call fit to start anew, or set {name} back"
                    )
        self._set = self._settings()
        self._checked = now

    def _check_combination(self) -> None:
        """Raise where parameters that are fine one by one do not go together."""

    def _settings(self) -> tuple[float, ...]:
        raise NotImplementedError

    def _new_model(self) -> Any:
        raise NotImplementedError

    @property
    def _dtype(self) -> np.dtype[Any]:
        return np.dtype(self.dtype)

    def _start(self) -> None:
        """Forget what was learned."""
        self._begun = tuple(getattr(self, name) for name in self._structure)
        self._model = self._new_model()
        self._reader = None
        self._frame_names = None

    @contextlib.contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Put every attribute back where the block raises."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    @property
    def t_(self) -> int:
        """Rounds so far."""
        if self._model is None:
            raise AttributeError("nothing was learned yet")
        return int(self._model.rounds)

    # -- learning ---------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Start with nothing learned and nothing known."""
        self._start()
        self.n_iter_ = 1

    def _fit(self, X: Any, y: Any, sample_weight: Any, **more: Any) -> Self:
        """Forget everything, then learn all rounds in `max_iter` passes."""
        with self._all_or_nothing():
            self._begun = None
            self._check_params()
            self._begin()
            x, targets, weights = self._read(X, y, sample_weight, reset=True, **more)
            if weights is not None and not weights.any():
                raise ValueError("all sample weights are zero: there is nothing to learn from")
            targets = self._settle(targets)
            for order in self._orders(x.count):
                self._learn(*self._permuted(x, targets, weights, order))
            self.n_iter_ = self.max_iter
        return self

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any, **more: Any) -> Self:
        """Learn each round once, in order."""
        if self._model is not None and classes is None and hasattr(self, "n_features_in_"):
            self._check_params()
            x, targets, weights = self._read(X, y, sample_weight, **more)
            self._learn(x, self._admit(targets), weights)
        else:
            with self._all_or_nothing():
                self._check_params()
                self._learn(*self._read_first(X, y, classes, sample_weight, **more))
        return self

    def _learn_progressively(
        self, X: Any, y: Any, *, classes: Any, sample_weight: Any, answers: bool, **more: Any
    ) -> dict[str, Any]:
        """Learn as ``partial_fit`` does; return what each round left, and the answers if wanted."""
        with self._all_or_nothing():
            self._check_params()
            x, targets, weights = self._read_first(X, y, classes, sample_weight, **more)
            seen: dict[str, Any] = {name: np.empty(x.count) for name in self._seen}
            room = self._room_for_answers(x.count, targets) if answers else {}
            self._learn(x, targets, weights, **seen, **room)
        if answers:
            seen["answers"] = self._answers_from(room)
        return seen

    def learn_one(self, x: dict[str, float | str], y: Any, w: float = 1.0) -> None:
        """Learn from one example.

        Parameters
        ----------
        x : dict of feature name to number or string
            A string value stands for the feature ``name=value``. New names are new features.
        y : one target
            As an entry of the `y` that ``partial_fit`` takes.
        w : float, default=1.0
            The example's weight.
        """
        if self._model is None:
            with self._all_or_nothing():
                self._check_params()
                self._begin()
                self.learn_one(x, y, w)
            return
        self._check_params()
        reader = self._reader_of(x)
        if not 0 <= w < inf:
            raise ValueError(f"w is {w!r}; a weight must be finite and not negative")
        self._learn_example(reader, x, y, w)
        if reader.features != self.n_features_in_:
            self.n_features_in_ = reader.features

    def _read_first(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, **more: Any
    ) -> tuple[Any, Any, np.ndarray | None]:
        """Read a call that may bring the first rounds, or classes to exist before its rounds."""
        if self._model is None:
            self._begin()
        self._know(classes, y)
        reset = not hasattr(self, "n_features_in_")
        x, targets, weights = self._read(X, y, sample_weight, reset=reset, **more)
        return x, self._admit(targets), weights

    def _read(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = False, **more: Any
    ) -> tuple[Any, Any, np.ndarray | None]:
        """Return rows, targets and weights, checked; `more` holds what else comes a row, such as lists' numbers."""
        x = self._read_x(X, reset=reset)
        weights = read_weights(sample_weight, x.count)
        return x, self._read_y(y, x.count), weights

    def _read_x(self, X: Any, *, reset: bool = False) -> Any:
        """Return X as rows of the core, or as a checked list of dicts."""
        if isinstance(X, list | tuple) and X and isinstance(X[0], dict):
            if reset:
                self.n_features_in_ = 0
            return Dicts(self, X).check()
        return read_rows(self, X, self._dtype, self._intercept, reset=reset)

    def _read_y(self, y: Any, rounds: int) -> Any:
        raise NotImplementedError

    def _know(self, classes: Any, y: Any) -> None:
        """Let classes exist before the rounds of a call, whose targets are `y`."""

    def _settle(self, targets: Any) -> Any:
        """Let exist what all targets of a ``fit`` speak of."""
        return targets

    def _admit(self, targets: Any) -> Any:
        """Decide on what is new in the targets of a call."""
        return targets

    def _learn(self, x: Any, targets: Any, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        """Learn from what has been checked."""
        if isinstance(x, Dicts):
            x.learn(targets, weights, trace)
        else:
            self._model.grow(self.n_features_in_, self._model.outputs)
            self._learn_rows(x, targets, weights, **trace)

    def _learn_rows(self, x: Any, targets: Any, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        raise NotImplementedError

    def _learn_dict(self, reader: Any, x: dict[str, Any], targets: Any, w: float) -> None:
        raise NotImplementedError

    def _learn_example(self, reader: Any, x: dict[str, Any], y: Any, w: float) -> None:
        raise NotImplementedError

    def _room_for_answers(self, rounds: int, targets: Any) -> dict[str, np.ndarray]:
        raise NotImplementedError

    def _trace_answer(self, t: int, reader: Any, x: dict[str, Any], room: dict[str, np.ndarray]) -> None:
        """Leave the answer to one dict, given before it is learned."""
        raise NotImplementedError

    def _answers_from(self, room: dict[str, np.ndarray]) -> Any:
        raise NotImplementedError

    def _orders(self, rounds: int) -> Iterator[np.ndarray | None]:
        """Yield the order of the rounds for each pass: None for as they come."""
        rng = check_random_state(self.random_state)
        for _ in range(self.max_iter):
            yield rng.permutation(rounds) if self.shuffle else None

    def _permuted(
        self, x: Any, targets: Any, weights: np.ndarray | None, order: np.ndarray | None
    ) -> tuple[Any, Any, np.ndarray | None]:
        """Return rows, targets and weights in another order."""
        if order is None:
            return x, targets, weights
        return x.take(order), targets.take(order), None if weights is None else weights[order]

    # -- features ---------------------------------------------------------------------------------------------------

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features: a data frame's columns, or the names seen in dicts."""
        names = self._frame_names
        if self._reader is not None and self._reader.names:
            names = np.array(list(self._reader.names), dtype=object)
        if names is None:
            raise AttributeError("the features have no names")
        return names

    @feature_names_in_.setter
    def feature_names_in_(self, names: np.ndarray) -> None:
        self._frame_names = names

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        self._frame_names = None

    @property
    def _decays(self) -> bool:
        """Whether every round shrinks all weights."""
        return False

    @property
    def _intercept(self) -> bool:
        """Whether every row has the constant feature."""
        return bool(self.fit_intercept)

    def _reader_of(self, x: Any) -> Any:
        """Return the reader of dicts for one example."""
        if not isinstance(x, dict):
            raise TypeError(f"x must be a dict of feature name to number or string, got {type(x).__name__}")
        return self._reader or self._dict_reader()

    def _dict_reader(self) -> Any:
        """Return the reader of dicts; make it at the first dict."""
        if self._reader is not None:
            return self._reader
        bits = self.n_bits if self.features == "hashed" else 0
        reader = _core.DictReader(bits)
        width = self.__dict__.setdefault("n_features_in_", 0)
        if bits and width not in (0, 1 << bits):
            raise ValueError(f"hashed dicts have {1 << bits} features, but X had {width}: choose n_bits to match")
        if not bits and width:
            if self._frame_names is None:
                raise ValueError(
                    "the features have no names, because X was an array: give dicts from the start, or a data frame"
                )
            reader.names = {name: i for i, name in enumerate(self._frame_names)}
        self._reader = reader
        return reader

    # -- files ------------------------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return all that was learned: numbers, strings, lists of labels; and arrays."""
        names = None if self._reader is None or self.features == "hashed" else list(self._reader.names)
        state = {
            "n_features": getattr(self, "n_features_in_", 0),
            "n_iter": getattr(self, "n_iter_", 1),
            "read_dicts": self._reader is not None,
            "names": names,
            "columns": None if self._frame_names is None else list(self._frame_names),
        }
        return state, self._model.state()

    def _restore(self, state: Mapping[str, Any], sections: dict[str, np.ndarray]) -> None:
        self._start()
        self.n_features_in_ = int(state["n_features"])
        self.n_iter_ = int(state["n_iter"])
        if state["columns"] is not None:
            self._frame_names = np.array(state["columns"], dtype=object)
        if state["read_dicts"]:
            self._reader = _core.DictReader(self.n_bits if self.features == "hashed" else 0)
            if state["names"]:
                self._reader.names = {name: i for i, name in enumerate(state["names"])}

    def save(self, path: Path) -> None:
        """Write the model to one file, which `hinge.load` opens; what is learned next is not changed by it.

        Parameters
        ----------
        path : str or path
            A file that is there is replaced, in one step.
        """
        check_is_fitted(self)
        params = {name: encode_value(value, name) for name, value in self._params_to_store().items()}
        state, sections = self._state()
        plain = {key: encode_labels(value, key) if isinstance(value, list) else value for key, value in state.items()}
        write_model(path, {"class": type(self).__name__, "params": params, "state": plain}, sections)

    def _params_to_store(self) -> dict[str, Any]:
        """Return the parameters as a file can hold them."""
        return dict(self.get_params(deep=False))

    def snapshot(self) -> Self:
        """Return a copy that what is learned from now on does not change, for other threads to read."""
        copy = type(self).__new__(type(self))
        copy.__dict__ = self.__dict__.copy()
        if self._model is not None:
            copy._copy_learned(self)
        return copy

    def _copy_learned(self, other: Self) -> None:
        self._model = other._model.copy()
        if other._reader is not None:
            self._reader = _core.DictReader(self.n_bits if self.features == "hashed" else 0)
            self._reader.names = dict(other._reader.names)

    def __getstate__(self) -> dict[str, Any]:
        if self._model is None:
            return dict(super().__getstate__())
        kept = {name: value for name, value in self.__dict__.items() if name not in ("_model", "_reader", "_labels")}
        state, sections = self._state()
        return {"kept": kept, "state": state, "sections": sections, "version": hinge.__version__}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        if "sections" not in pickled:
            super().__setstate__(pickled)
            return
        self.__dict__.update(pickled["kept"])
        self._restore(pickled["state"], pickled["sections"])


class LabelLearner(OnlineEstimator):
    """What estimators share whose answers are labels or sets of labels."""

    _labels: Labels
    _form = labels.LABELS
    _fixed = False  # the labels were known before the first round
    _removed = False

    # -- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn from all rows, in order, `max_iter` times.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of labels, list of sets, or indicator matrix
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies each round's C; a row of weight 0 is not learned.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

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
            Multiplies each round's C; a row of weight 0 is scored and not learned.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes, sample_weight)

    def _begin(self) -> None:
        super()._begin()
        self._labels = Labels()
        self._fixed, self._removed, self._form = False, False, labels.LABELS

    def _read_y(self, y: Any, rounds: int) -> Targets:
        return read_targets(y, self._labels, rounds)

    def _know(self, classes: Any, y: Any) -> None:
        known = self._read_classes(classes, y)
        self._labels = Labels(self._labels.known)
        self._labels.add(known)
        self._fixed = self._fixed or (self.t_ == 0 and len(self._labels) > 0)

    def _read_classes(self, classes: Any, y: Any) -> list[Any]:
        """Return `classes` as plain labels: in order, or as given where they name the columns of an indicator."""
        form = labels.form_of(y)
        if classes is None:
            if self.new_labels != "add" and len(self._labels) == 0 and form in (labels.LABELS, labels.SETS):
                raise ValueError(f"classes must be given to the first call when new_labels is {self.new_labels!r}")
            return []
        given = [labels.check_label_in_row(label, i) for i, label in enumerate(np.asarray(classes, dtype=object))]
        if len(set(given)) < len(given):
            raise ValueError("classes must differ from one another")
        fresh = [label for label in given if label not in self._labels.number]
        return fresh if form in (labels.DENSE, labels.CSR) else sorted_labels(fresh)

    def _settle(self, targets: Targets) -> Targets:
        self._labels, targets = sort_labels(targets)
        self._fixed, self._form = True, targets.form
        self._grow()
        return targets

    def _admit(self, targets: Targets) -> Targets:
        """Do with labels that are new what `new_labels` says; the columns of an indicator exist at once."""
        if not targets.fresh:
            return targets
        if targets.form in (labels.DENSE, labels.CSR):
            self._fixed = self._fixed or self.t_ == 0
            self._labels.add(targets.fresh)
            self._grow()
            return targets._replace(fresh=[])
        if self.new_labels == "add":
            return targets
        if self.new_labels == "ignore":
            return targets.without_fresh(len(self._labels))
        row, label = targets.first_row_of(len(self._labels)), targets.fresh[0]
        raise ValueError(f"row {row} of y has the label {label!r}, which is not in classes_ (new_labels='error')")

    def _grow(self) -> None:
        """Let the model have every label that is known."""
        self._model.grow(self._model.features, len(self._labels))

    def _learn(self, x: Any, targets: Targets, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        self._grow()  # not before: a call that is refused must leave the model as it is
        self._labels.add(targets.fresh)
        super()._learn(x, targets, weights, **trace)
        self._form = targets.form

    def _learn_rows(self, x: Any, targets: Targets, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        self._model.learn(
            x, targets.start, targets.label, targets.are_sets, targets.exist, weights, *self._set, **trace
        )

    def _learn_dict(self, reader: Any, x: dict[str, Any], targets: Targets, w: float) -> None:
        if targets.start is None:
            self._model.learn_one_label(reader, x, int(targets.label[0]), w, *self._set)
        else:
            exist = 0 if targets.exist is None else int(targets.exist[0])
            self._model.learn_one(reader, x, targets.label, exist, w, *self._set)

    def _learn_example(self, reader: Any, x: dict[str, Any], y: Any, w: float) -> None:
        number = self._labels.number.get(y) if y.__hash__ else None
        if number is not None:
            self._model.learn_one_label(reader, x, number, w, *self._set)
            self._form = labels.LABELS
            return
        targets = self._admit(self._read_y([y], 1))
        if targets.fresh:  # a thread that asks may meet the new output at once: its label is there before it
            reader.check(x, self._dtype == np.float32)
            self._labels.add(targets.fresh)
        self._learn_dict(reader, x, targets, w)
        self._form = targets.form

    def _room_for_answers(self, rounds: int, targets: Targets) -> dict[str, np.ndarray]:
        width = len(self._labels) + len(targets.fresh)
        return {"scores": np.full((rounds, width), -inf, dtype=self._dtype), "cut": np.empty(rounds)}

    def _trace_answer(self, t: int, reader: Any, x: dict[str, Any], room: dict[str, np.ndarray]) -> None:
        if self._model.outputs:
            scores = self._model.score_one(reader, x)
            room["scores"][t, : scores.size] = scores
        room["cut"][t] = self._model.cut_one(reader, x) if self._model.has_cut else np.nan

    def _answers_from(self, room: dict[str, np.ndarray]) -> Any:
        scores = room["scores"]
        if self._form == labels.LABELS:
            return labels.answer_labels(scores.argmax(axis=1), self._labels)
        inside = scores > np.nan_to_num(room["cut"], nan=inf)[:, None]
        return labels.answer_sets(inside, self._form, self._labels)

    # -- labels -----------------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> np.ndarray:
        """The labels, in the order of the columns."""
        if self._model is None:
            raise AttributeError("no labels are known yet")
        return self._labels.classes

    def add_labels(self, new: Iterable[Any]) -> Self:
        """Let labels exist from now on, before any row has them.

        Parameters
        ----------
        new : iterable of labels
            Those that exist already are left as they are.
        """
        self._check_params()
        new = [labels.check_label(label) for label in new]
        if self._model is None:
            self._begin()
        self._labels.add(new)
        self._grow()
        return self

    def remove_labels(self, old: Iterable[Any]) -> Self:
        """Forget labels and all that was learned of them; the columns after them move up.

        The certificate proves nothing about a stream from which labels were removed: its dual is minus infinity from
        then on.

        Parameters
        ----------
        old : iterable of labels
        """
        check_is_fitted(self)
        gone = [labels.check_label(label) for label in old]
        for label in gone:
            if label not in self._labels.number:
                raise ValueError(f"{label!r} is not in classes_")
        for label in dict.fromkeys(gone):
            self._model.erase_output(self._labels.remove(label))
            self._removed = True
        return self

    # -- answers ----------------------------------------------------------------------------------------------------

    def _scores(self, X: Any) -> np.ndarray:
        """Return one score a row and label."""
        check_is_fitted(self)
        x = self._read_x(X)
        if isinstance(x, Dicts):
            return x.scores()
        out = np.empty((x.count, len(self._labels)), dtype=self._dtype)
        self._model.score(x, out)
        return out

    def decision_function(self, X: Any) -> np.ndarray:
        """Score every label.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        array of shape (n_samples, n_labels)
            Or (n_samples,), the second minus the first, for two labels that were fixed beforehand.
        """
        scores = self._scores(X)
        if scores.shape[1] == 2 and self._fixed and self._form == labels.LABELS:
            return scores[:, 1] - scores[:, 0]
        return scores

    def predict(self, X: Any) -> Any:
        """Answer in the form in which targets were given: labels, sets, or an indicator matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        array of labels, list of sets, or indicator matrix
        """
        check_is_fitted(self)
        if len(self._labels) == 0:
            raise NotFittedError("no label is known yet; learn from a row that has one")
        x = self._read_x(X)
        if self._form == labels.LABELS and not isinstance(x, Dicts):
            top = np.empty(x.count, dtype=np.int32)
            self._model.top(x, top)
            return labels.answer_labels(top, self._labels)
        scores = self._scores(X)
        if self._form == labels.LABELS:
            return labels.answer_labels(scores.argmax(axis=1), self._labels)
        return labels.answer_sets(scores > self._cuts(x)[:, None], self._form, self._labels)

    def _cuts(self, x: Any) -> np.ndarray:
        if isinstance(x, Dicts):
            return x.cuts()
        cuts = np.empty(x.count)
        self._model.cut(x, cuts)
        return cuts

    def predict_one(self, x: dict[str, float | str]) -> Any:
        """Answer one example; None before anything was learned.

        Parameters
        ----------
        x : dict of feature name to number or string
            Names that were never learned are left out.
        """
        if self._model is None or len(self._labels) == 0:
            return None
        reader = self._reader_of(x)
        if self._form == labels.LABELS:
            return self._labels.known[self._model.top_one(reader, x)]
        inside = self._model.score_one(reader, x) > self._model.cut_one(reader, x)
        form = self._form if self._form in (labels.SETS, labels.DICTS) else labels.SETS
        return labels.answer_sets(inside[None], form, self._labels)[0]

    # -- files ------------------------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        state, sections = super()._state()
        state |= {
            "labels": list(self._labels.known),
            "form": self._form,
            "fixed": self._fixed,
            "removed": self._removed,
            "cut": self._model.has_cut,
        }
        return state, sections

    def _restore(self, state: Mapping[str, Any], sections: dict[str, np.ndarray]) -> None:
        super()._restore(state, sections)
        self._labels = Labels(state["labels"])
        self._form, self._fixed, self._removed = state["form"], state["fixed"] is True, state["removed"] is True
        if self._form not in (labels.LABELS, labels.SETS, labels.DICTS, labels.DENSE, labels.CSR):
            raise ValueError(f"the targets' form {self._form!r} is unknown")
        largest = max((section.shape[0] for section in sections.values() if section.ndim == 2), default=0)
        if self.n_features_in_ > largest:
            raise ValueError(f"{self.n_features_in_} features, but no section is as long")
        self._model.grow(self.n_features_in_, len(self._labels))
        if state["cut"]:
            self._model.begin_cut()
        self._model.restore(sections)

    def _copy_learned(self, other: Self) -> None:
        super()._copy_learned(other)
        self._labels = Labels(other._labels.known)


class Dicts:
    """A list of dicts as the X of a call: every value has been looked at, and they are learned one by one."""

    def __init__(self, estimator: OnlineEstimator, X: Any) -> None:
        self.estimator, self.X, self.count = estimator, X, len(X)
        self.reader = estimator._dict_reader()

    def check(self) -> Self:
        """Look at every value; TypeError or ValueError, naming the row, where one cannot be read."""
        for t, x in enumerate(self.X):
            if not isinstance(x, dict):
                raise TypeError(f"row {t} of X is {type(x).__name__}, but the first is a dict")
            try:
                self.reader.check(x, self.estimator._dtype == np.float32)
            except (TypeError, ValueError) as error:
                raise type(error)(f"row {t} of X: {error}") from None
        return self

    def take(self, order: np.ndarray) -> Dicts:
        return Dicts(self.estimator, [self.X[t] for t in order])

    def learn(self, targets: Any, weights: np.ndarray | None, trace: dict[str, np.ndarray]) -> None:
        it, model = self.estimator, self.estimator._model
        wanted = [name for name in it._seen if name in trace]
        for t, x in enumerate(self.X):
            if len(trace) > len(wanted):
                it._trace_answer(t, self.reader, x, trace)
            w = 1.0 if weights is None else float(weights[t])
            it._learn_dict(self.reader, x, targets.take(np.array([t])), w)
            for name in wanted:
                trace[name][t] = getattr(model, f"last_{name}")
        it.n_features_in_ = self.reader.features

    def scores(self) -> np.ndarray:
        return np.stack([self.estimator._model.score_one(self.reader, x) for x in self.X])

    def cuts(self) -> np.ndarray:
        return np.array([self.estimator._model.cut_one(self.reader, x) for x in self.X])


def same_values(now: tuple[Any, ...], then: tuple[Any, ...]) -> bool:
    """Say whether parameters are equal; arrays are where all of their entries are."""
    try:
        return bool(now == then)
    except ValueError:
        return all(a is b or np.array_equal(a, b) for a, b in zip(now, then, strict=True))


def check_dtype(estimator: Any) -> None:
    """Raise where ``dtype`` is neither float32 nor float64, in any of NumPy's spellings."""
    try:
        fine = estimator.dtype is not None and np.dtype(estimator.dtype) in (np.float32, np.float64)
    except TypeError:
        fine = False
    if not fine:
        raise ValueError(
            f"The 'dtype' parameter of {type(estimator).__name__} must be float32 or float64. "
            f"Got {estimator.dtype!r} instead."
        )


def sorted_labels(known: Iterable[Any]) -> list[Any]:
    """Sort labels; those of several types by type first."""
    known = list(known)
    try:
        return sorted(known)
    except TypeError:
        return sorted(known, key=labels._sort_key)


def sort_labels(targets: Targets) -> tuple[Labels, Targets]:
    """Number the labels of a first call in their own order; an indicator's columns keep theirs."""
    if targets.form in (labels.DENSE, labels.CSR):
        return Labels(targets.fresh), targets._replace(fresh=[])
    in_order = Labels(sorted_labels(targets.fresh))
    to = np.array([in_order.number[label] for label in targets.fresh], dtype=np.int32)
    renumbered = to[targets.label] if to.size else targets.label
    if targets.start is not None:
        rows = np.repeat(np.arange(targets.start.size - 1), np.diff(targets.start))
        renumbered = renumbered[np.lexsort((renumbered, rows))]
    return in_order, targets._replace(label=renumbered, fresh=[], exist=None)
