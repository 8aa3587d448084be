"""What every estimator shares: parameters, rows in, learning one by one or many, files.

An estimator keeps its parameters as scikit-learn wants them; what it has learned is a model of the core (``_model``)
and a reader that knows which feature a name is (``_reader``).

Everything a call brings is checked before anything is learned from it. A call that raises changes nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from math import inf
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

import hinge
from hinge import _core
from hinge.dicts import Dicts
from hinge.json_values import encode_labels, encode_value
from hinge.model_file import Path, write_model
from hinge.rows import read_rows, read_weights

__all__ = ["OnlineEstimator", "check_dtype", "present_unless"]


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
            seen |= {"answers": self._answers_from(room), **self._scores_from(room, targets)}
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

    def _scores_from(self, room: dict[str, np.ndarray], targets: Any) -> dict[str, np.ndarray]:
        """Return the ``scores`` of all labels and which are ``relevant``, where measures can be given these."""
        return {}

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


def present_unless(reason: Callable[[Any], str | None]) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a method that does not exist, for ``hasattr`` either, where `reason` says with what it does not go."""

    class Present:
        def __init__(self, method: Callable[..., Any]) -> None:
            self.method = self.__wrapped__ = method
            self.__doc__, self.__name__ = method.__doc__, method.__name__
            self.known_as = "hinge.progressive" if self.__name__ == "_learn_progressively" else self.__name__

        def __get__(self, estimator: Any, owner: type) -> Any:
            if estimator is None:
                return self.method
            why_not = reason(estimator)
            if why_not is not None:
                raise AttributeError(f"{owner.__name__} has no {self.known_as} with {why_not}")
            return self.method.__get__(estimator, owner)

    return Present


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
