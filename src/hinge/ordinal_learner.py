"""What estimators of ordered classes share: a score on a line, cut by thresholds; targets are classes or intervals.

A score that equals a threshold belongs to the class above it. As a constraint it is violated from both sides there,
because a margin of exactly zero is a mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils._param_validation import HasMethods, Integral, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hinge import _core
from hinge.base import Dicts, OnlineEstimator
from hinge.intervals import EXACT, NO_PLACES, Ends, Intervals, OrderedClasses, classes_in, number_ends, read_ends
from hinge.labels import as_array, check_label, check_label_in_row
from hinge.metrics import interval_mae

__all__ = ["MODELS", "PARAMETERS", "OrdinalLearner", "plain_classes"]

MODELS = {np.dtype(np.float32): _core.OrdinalFloat32, np.dtype(np.float64): _core.OrdinalFloat64}

# What all of them take, as scikit-learn validates it.
PARAMETERS: dict[str, list[Any]] = {
    "classes": ["array-like", HasMethods("categories"), None],
    "average": ["boolean"],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "shuffle": ["boolean"],
    "random_state": ["random_state"],
    "new_labels": [StrOptions({"add", "error", "ignore"})],
    "features": [StrOptions({"names", "hashed"})],
    "n_bits": [Interval(Integral, 1, 30, closed="both")],
}


class OrdinalLearner(OnlineEstimator):
    """What estimators share whose classes are ordered.

    A call is numbered before anything of it is learned, each row in the classes that exist by then.
    """

    _seen: ClassVar[tuple[str, ...]] = ("loss", "error")
    _labels: OrderedClasses
    _asks_no_margin = True
    _exact_only = False  # an interval is an error
    _told: tuple[list[Any], Intervals]

    # -- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn from all rows, in order, `max_iter` times.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of shape (n_samples,) or (n_samples, 2)
            Classes, or inclusive intervals of them, where ``-inf`` and ``inf`` are open ends.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies each round's step; a row of weight 0 is not learned.

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
        y : array-like of shape (n_samples,) or (n_samples, 2)
            Classes, or inclusive intervals of them, where ``-inf`` and ``inf`` are open ends.
        classes : array-like, optional
            The classes, lowest first; in a later call, all of them again and those that are new, in order. Without it
            a number is a class from the row in which it first appears.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies each round's step; a row of weight 0 is scored and not learned.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes, sample_weight)

    @property
    def _intercept(self) -> bool:
        return False

    def _begin(self) -> None:
        super()._begin()
        self._labels = OrderedClasses()
        given = getattr(self, "classes", None)
        if given is not None:
            self._adopt(self._declared(given))

    def _declared(self, given: Any) -> OrderedClasses:
        """Return classes that a person gives, in their order: all that are known are among them."""
        values = plain_classes(given)
        known = self._labels.values
        if known and not set(known) <= set(values):
            merged = self._labels
            for i, value in enumerate(values):
                if value not in merged.number:
                    place = merged.place_of(value, i)
                    merged = merged.with_values([*merged.values[:place], value, *merged.values[place:]])
            values = merged.values
        if [value for value in values if value in self._labels.number] != known:
            raise ValueError(f"classes must keep the order of those that are known: {known}")
        if not values:
            raise ValueError("classes is empty: at least one class is needed")
        return OrderedClasses(values, declared=True)

    def _adopt(self, classes: OrderedClasses) -> None:
        """Let classes exist: those that are known keep their order."""
        for place, value in enumerate(classes.values):
            if value not in self._labels.number:
                self._model.enter(place)
        self._labels = classes

    def _know(self, classes: Any, y: Any) -> None:
        if classes is not None:
            declared = self._declared(classes)
            if self._model.rounds:
                self._model = self._model.copy()
            self._adopt(declared)

    def _read_y(self, y: Any, rounds: int) -> Ends:
        ends = read_ends(y, rounds)
        if self._exact_only and ends.low is not ends.high:
            unequal = np.flatnonzero(np.asarray(ends.low != ends.high))
            if unequal.size:
                t = int(unequal[0])
                raise ValueError(
                    f"row {t} of y is the interval {ends.low[t]} to {ends.high[t]}; {type(self).__name__} learns from "
                    "exact classes only: OrdinalClassifier learns from intervals"
                )
        return ends

    def _settle(self, ends: Ends) -> Intervals:
        self._follow(ends)
        self._adopt(classes_in(ends, self._labels))
        return number_ends(ends, self._labels, "error")

    def _admit(self, ends: Ends) -> Intervals:
        self._follow(ends)
        return number_ends(ends, self._labels, self.new_labels)

    def _follow(self, ends: Ends) -> None:
        """Take the order that ordered categoricals bring, if there is none yet."""
        if ends.order is not None and not self._labels.values:
            self._adopt(OrderedClasses(ends.order, declared=True))

    def _learn(self, x: Any, targets: Intervals, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        if targets.fresh and not isinstance(x, Dicts):
            self._enter(targets)
        super()._learn(x, targets, weights, **trace)

    def _enter(self, targets: Intervals) -> None:
        values = list(self._labels.values)
        for place, value in zip(targets.place.tolist(), targets.fresh, strict=True):
            values.insert(place, value)
        self._labels = self._labels.with_values(values)

    def _learn_rows(self, x: Any, targets: Intervals, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        self._model.learn(x, targets.low, targets.high, targets.row, targets.place, weights, **trace)

    def _learn_dict(self, reader: Any, x: dict[str, Any], targets: Intervals, w: float) -> None:
        self._learn_numbers(reader, x, int(targets.low[0]), int(targets.high[0]), w, targets.place)
        if targets.fresh:
            self._enter(targets)

    def _learn_numbers(
        self, reader: Any, x: dict[str, Any], low: int, high: int, w: float, place: np.ndarray = NO_PLACES
    ) -> None:
        self._model.learn_one(reader, x, low, high, place, w)

    def _learn_example(self, reader: Any, x: dict[str, Any], y: Any, w: float) -> None:
        if isinstance(y, tuple | list | np.ndarray):
            ends = tuple(y)
            low, high = self._numbers_of(ends)
        else:
            ends = y
            low = high = self._labels.number.get(y, 0) if y.__hash__ else 0
        if 0 < low <= high:
            self._learn_numbers(reader, x, low, high, w)
        else:  # something is new, or wrong
            self._learn_dict(reader, x, self._admit(self._read_y([ends], 1)), w)

    def _numbers_of(self, ends: tuple[Any, ...]) -> tuple[int, int]:
        """Return the numbers of an interval's ends; zeros where that needs a closer look."""
        if len(ends) != 2 or self._exact_only or not (ends[0].__hash__ and ends[1].__hash__):
            return 0, 0
        number = self._labels.number
        low = 1 if ends[0] == -inf else number.get(ends[0], 0)
        return low, len(number) if ends[1] == inf else number.get(ends[1], 0)

    # -- answers ----------------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> np.ndarray:
        """Score each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        x = self._read_x(X)
        if isinstance(x, Dicts):
            return np.array([self._model.score_one(x.reader, one) for one in x.X], dtype=self._dtype)
        out = np.empty(x.count, dtype=self._dtype)
        self._model.score(x, out)
        return out

    def predict(self, X: Any) -> np.ndarray:
        """Answer with a class: the first whose upper threshold is above the score.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        array of shape (n_samples,)
        """
        self._check_has_classes()
        x = self._read_x(X)
        if isinstance(x, Dicts):
            numbers = np.array([self._model.predict_one(x.reader, one) for one in x.X], dtype=np.int32)
        else:
            numbers = np.empty(x.count, dtype=np.int32)
            self._model.predict(x, numbers)
        return self._labels.array[numbers - 1]

    def predict_one(self, x: dict[str, float | str]) -> Any:
        """Answer one example; None before anything was learned.

        Parameters
        ----------
        x : dict of feature name to number or string
            Names that were never learned are left out.
        """
        if self._model is None or not self._labels.values:
            return None
        return self._labels.values[self._model.predict_one(self._reader or self._dict_reader(), x) - 1]

    def predict_interval(self, X: Any, margin: float | None = None) -> np.ndarray:
        """Answer with the classes that cannot be told apart: all that a score within `margin` of the row's is given.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        margin : float, optional
            In units of the score. By default half the mean width of the classes between the outermost thresholds.

        Returns
        -------
        array of shape (n_samples, 2)
            The lowest and the highest of them.
        """
        self._check_has_classes()
        margin = self._half_a_class() if margin is None else margin
        if not margin >= 0:
            raise ValueError(f"margin must not be negative, got {margin!r}")
        x = self._read_x(X)
        if isinstance(x, Dicts):
            ends = np.array([self._model.predict_interval_one(x.reader, one, margin) for one in x.X])
        else:
            ends = np.empty((x.count, 2), dtype=np.int32)
            self._model.predict_interval(x, margin, ends.reshape(-1))
        return self._labels.array[ends - 1]

    def _half_a_class(self) -> float:
        """Return half the mean width of the classes between the outermost thresholds."""
        thresholds = self._model.thresholds().astype(np.float64)
        inner = thresholds.size - 1
        return float(thresholds[-1] - thresholds[0]) / (2 * inner) if inner > 0 else 0.0

    def _check_has_classes(self) -> None:
        check_is_fitted(self)
        if not self._labels.values:
            raise NotFittedError("no class is known yet; learn from a row that has one")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return minus the mean L_MAE: how many classes the answers lie outside of `y` on average, negative.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of shape (n_samples,) or (n_samples, 2)
            Classes or intervals; numbers that are no classes yet count as classes between or beyond those that are.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        answers = self.predict(X)
        ends = self._read_y(y, len(answers))
        union = classes_in(ends, self._labels)
        numbers = number_ends(ends, union, "error")
        places = np.array([union.number[value] for value in answers.tolist()])
        truth = np.column_stack([numbers.low, numbers.high])
        return -float(interval_mae(truth, places, sample_weight=sample_weight))

    def _room_for_answers(self, rounds: int, targets: Intervals) -> dict[str, np.ndarray]:
        self._told = list(self._labels.values), targets
        return {"answer": np.zeros(rounds, dtype=np.int32)}

    def _trace_answer(self, t: int, reader: Any, x: dict[str, Any], room: dict[str, np.ndarray]) -> None:
        room["answer"][t] = self._model.predict_one(reader, x) if self._labels.values else 0

    def _answers_from(self, room: dict[str, np.ndarray]) -> np.ndarray:
        """Return classes for numbers that counted those that existed before each row."""
        known, targets = self.__dict__.pop("_told")
        answers = np.empty(room["answer"].size, dtype=object)
        starts = [0, *(targets.row + 1).tolist(), answers.size]
        for i in range(len(targets.fresh) + 1):
            named = as_array(known or targets.fresh[:1] or [None])
            part = slice(starts[i], starts[i + 1])
            answers[part] = named[np.maximum(room["answer"][part], 1) - 1].tolist()
            if i < len(targets.fresh):
                known.insert(int(targets.place[i]), targets.fresh[i])
        return as_array(answers.tolist())

    # -- what was learned -------------------------------------------------------------------------------------------

    def _learned(self, name: str) -> Any:
        if self._model is None:
            raise AttributeError(f"{name} exists once something was learned")
        return self._model

    @property
    def classes_(self) -> np.ndarray:
        """The classes, lowest first."""
        self._learned("classes_")
        return self._labels.array

    @property
    def thresholds_(self) -> np.ndarray:
        """The K-1 thresholds, in order."""
        return self._learned("thresholds_").thresholds()

    @property
    def coef_(self) -> np.ndarray:
        """The weights that predictions are made with."""
        return self._learned("coef_").weights()

    def add_labels(self, new: Iterable[Any]) -> Self:
        """Let classes exist from now on, before any row has them.

        Parameters
        ----------
        new : iterable of classes
            Numbers take their place by size; where the classes were given in an order, give all of them again.
        """
        self._check_params()
        with self._all_or_nothing():
            if self._model is None:
                self._begin()
            fresh = [check_label(label) for label in new]
            classes = self._labels
            if classes.declared and not classes.are_sorted_numbers:
                self._know(fresh, None)
                return self
            for value in fresh:
                if value not in classes.number:
                    place = classes.place_of(value, 0)
                    classes = classes.with_values([*classes.values[:place], value, *classes.values[place:]])
            self._model = self._model.copy()
            self._adopt(classes)
        return self

    # -- files ------------------------------------------------------------------------------------------------------

    def _params_to_store(self) -> dict[str, Any]:
        params = super()._params_to_store()
        if params["classes"] is not None:
            params["classes"] = plain_classes(params["classes"])
        return params

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        state, sections = super()._state()
        return state | {"labels": list(self._labels.values), "declared": self._labels.declared}, sections

    def _restore(self, state: Mapping[str, Any], sections: dict[str, np.ndarray]) -> None:
        super()._restore(state, sections)
        self._restore_model(state)
        self._labels = OrderedClasses()
        self._adopt(OrderedClasses(state["labels"], state["declared"] is True))
        widths = [section.shape[0] for section in sections.values() if section.ndim == 2]
        if widths and self.n_features_in_ > max(widths):
            raise ValueError(f"{self.n_features_in_} features, but no section is as long")
        self._model.grow(self.n_features_in_, 1)
        self._model.restore(sections)

    def _restore_model(self, state: Mapping[str, Any]) -> None:
        """Make the model anew where it depends on more than the parameters."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ordinal"
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def plain_classes(given: Any) -> list[Any]:
    """Return classes as a list of plain values, all floats where some are; `given` may be a categorical dtype."""
    given = getattr(given, "categories", given)
    values = [check_label_in_row(v, i) for i, v in enumerate(np.asarray(given, dtype=object).ravel().tolist())]
    if {type(value) for value in values} == {int, float} and all(abs(value) <= EXACT for value in values):
        return [float(value) for value in values]
    return values
