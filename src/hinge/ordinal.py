"""Ordered classes: a score on a line, cut by thresholds; labels are classes or intervals of them.

A score that equals a threshold belongs to the class above it. As a constraint it is violated from both sides there,
because a margin of exactly zero is a mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf, isfinite
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils._param_validation import HasMethods, Integral, Interval, Real, StrOptions
from sklearn.utils.validation import check_is_fitted

from hinge import _core
from hinge.base import Dicts, OnlineEstimator, check_dtype
from hinge.intervals import NO_PLACES, Ends, Intervals, OrderedClasses, classes_in, number_ends, read_ends
from hinge.labels import as_array, check_label, check_label_in_row
from hinge.metrics import interval_mae

__all__ = ["OrdinalClassifier", "PRank", "WidrowHoffClassifier"]

MODELS = {np.dtype(np.float32): _core.OrdinalFloat32, np.dtype(np.float64): _core.OrdinalFloat64}
SHAPES = {"linear": 0, "poly": 1, "rbf": 2}
POSITIVE = Interval(Real, 0, None, closed="neither")


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
        thresholds = self._model.thresholds().astype(np.float64)
        if margin is None:
            inner = thresholds.size - 1
            margin = float(thresholds[-1] - thresholds[0]) / (2 * inner) if inner > 0 else 0.0
        if not margin >= 0:
            raise ValueError(f"margin must not be negative, got {margin!r}")
        scores = self.decision_function(X).astype(np.float64)
        ends = [np.searchsorted(thresholds, scores + by, side="right") for by in (-margin, margin)]
        return self._labels.array[np.column_stack(ends)]

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
    """Return classes as a list of plain values; `given` may be a categorical dtype."""
    given = getattr(given, "categories", given)
    return [check_label_in_row(v, i) for i, v in enumerate(np.asarray(given, dtype=object).ravel().tolist())]


class OrdinalClassifier(OrdinalLearner):
    """Learn ordered classes from exact and interval labels, online (PRIL).

    A row has the score ``f = <w, x>``, or a sum of kernels, and the class ``1 + #{i : b_i <= f}`` for the thresholds
    ``b_1 <= .. <= b_{K-1}``. An interval label ``[lo, hi]`` asks that f reaches the thresholds below ``lo`` and stays
    below those from ``hi`` on. The loss is the sum of what is missing,
    ``L_IMC = sum_{i < lo} [b_i - f]+ + sum_{i >= hi} [f - b_i]+``; the error is how many classes the answer lies
    outside the interval (L_MAE). A round moves w and the thresholds of its violated constraints, by subgradient
    (additive) or exponentiated subgradient (multiplicative).

    Parameters
    ----------
    classes : array-like, optional
        The classes, lowest first. By default the numbers that appear, in their order.
    update : {"additive", "multiplicative"}, default="additive"
        The multiplicative update suits many features of which few matter. It needs features of at most 1 in absolute
        value.
    kernel : {"linear", "poly", "rbf"} or callable, default="linear"
        ``<a, b>``, ``(gamma <a, b> + coef0) ** degree``, ``exp(-gamma ||a - b||^2)``, or a function of two 1-d arrays
        that returns a number. Not with the multiplicative update.
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=1.0
        Of the polynomial kernel.
    gamma : float, optional
        Of the polynomial and the rbf kernel; 1 / n_features by default (of the first row, where rows are dicts).
    budget : int, optional
        The most rows that a kernel keeps.
    removal : {"least-harm", "oldest"}, default="least-harm"
        Which row leaves beyond the budget: the one that its nearest row can carry best, or the first that came.
    step : {"unit", "sqrt"} or float, default="unit"
        How far a round moves: by 1; by ``1 / (G sqrt t)`` within the unit ball, G the largest gradient so far, which
        bounds the regret; or by a constant, which changes the scale and no answer. Multiplicative: a number is the
        exponent's factor (eta); "unit" chooses it from `margin`, or as ``.4 / (K - 1)``.
    signed : bool, default=True
        Multiplicative: weights of both signs; otherwise all are non-negative, as published.
    margin : float, optional
        Multiplicative: the margin in (0, 1) that a rule of norm 1 is expected to have, from which the step follows.
    rescale : bool, default=False
        Multiplicative: divide all features by the largest that was learned so far.
    average : bool, default=False
        Predict with the mean of the weights and thresholds over all rounds. Not with a kernel or a budget.
    max_iter : int, default=1
        Passes that `fit` makes.
    shuffle : bool, default=False
        Whether `fit` takes the rows in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    new_labels : {"add", "error", "ignore"}, default="add"
        What to do with a number that is no class yet in a later call, where no classes were given: it becomes one,
        with a threshold that is a double of its neighbour; it is an error; or its row asks for nothing.
    features : {"names", "hashed"}, default="names"
        How the names in dicts become features.
    n_bits : int, default=20
        Hashed: there are 2 ** n_bits features.
    dtype : dtype, default="float32"
        What the weights are kept in: float32 or float64.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, lowest first.
    thresholds_ : array of shape (n_classes - 1,)
        In order to the last bit.
    coef_ : array of shape (n_features_in_,)
        The weights; not with a kernel other than the linear one.
    support_vectors_ : array of shape (n_support, n_features_in_)
        With a kernel or a budget: the rows that are kept.
    dual_coef_ : array of shape (n_support,)
        Their coefficients.
    n_features_in_ : int
        How many features there are.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if they have any.
    t_ : int
        Rounds so far.
    n_iter_ : int
        Passes that `fit` made.

    Examples
    --------
    >>> from math import inf
    >>> from hinge import OrdinalClassifier
    >>> pain = OrdinalClassifier(classes=["none", "mild", "severe"])
    >>> for _ in range(3):
    ...     pain.learn_one({"limps": 1, "age": 0.4}, ("mild", inf))
    ...     pain.learn_one({"limps": 0, "age": 0.3}, "none")
    >>> pain.predict_one({"limps": 0, "age": 0.4})
    'none'
    >>> import numpy as np
    >>> X = np.arange(12).reshape(-1, 1) / 6 - 1
    >>> model = OrdinalClassifier(max_iter=20).fit(X, np.repeat([1, 2, 5], 4))
    >>> model.predict([[-0.9], [0.0], [0.9]])
    array([1, 2, 5])

    References
    ----------
    N. Manwani, "PRIL: Perceptron ranking using interval labels", 2018.
    K. Crammer and Y. Singer, "Pranking with ranking", 2001.
    """

    _structure: ClassVar[tuple[str, ...]] = (
        "update", "kernel", "degree", "coef0", "gamma", "budget", "removal", "step", "signed", "margin", "rescale",
        "average", "features", "n_bits", "dtype",
    )  # fmt: skip
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "classes": ["array-like", HasMethods("categories"), None],
        "update": [StrOptions({"additive", "multiplicative"})],
        "kernel": [StrOptions({"linear", "poly", "rbf"}), callable],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "gamma": [POSITIVE, None],
        "budget": [Interval(Integral, 1, None, closed="left"), None],
        "removal": [StrOptions({"least-harm", "oldest"})],
        "step": [StrOptions({"unit", "sqrt"}), POSITIVE],
        "signed": ["boolean"],
        "margin": [Interval(Real, 0, 1, closed="neither"), None],
        "rescale": ["boolean"],
        "average": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "new_labels": [StrOptions({"add", "error", "ignore"})],
        "features": [StrOptions({"names", "hashed"})],
        "n_bits": [Interval(Integral, 1, 30, closed="both")],
    }
    _gamma: float | None = None  # as the model has it; None before the first round

    def __init__(
        self,
        classes: Any = None,
        update: str = "additive",
        kernel: Any = "linear",
        *,
        degree: int = 3,
        coef0: float = 1.0,
        gamma: float | None = None,
        budget: int | None = None,
        removal: str = "least-harm",
        step: Any = "unit",
        signed: bool = True,
        margin: float | None = None,
        rescale: bool = False,
        average: bool = False,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: Any = None,
        new_labels: str = "add",
        features: str = "names",
        n_bits: int = 20,
        dtype: Any = "float32",
    ) -> None:
        self.classes = classes
        self.update = update
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.gamma = gamma
        self.budget = budget
        self.removal = removal
        self.step = step
        self.signed = signed
        self.margin = margin
        self.rescale = rescale
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.new_labels = new_labels
        self.features = features
        self.n_bits = n_bits
        self.dtype = dtype

    # -- the model --------------------------------------------------------------------------------------------------

    def _check_combination(self) -> None:
        check_dtype(self)
        if self.update == "multiplicative":
            if self.kernel != "linear" or self.budget is not None:
                raise ValueError("update='multiplicative' goes with kernel='linear' and no budget")
            if self.step == "sqrt":
                raise ValueError("step='sqrt' goes with update='additive'; the multiplicative step is constant")
        elif self.margin is not None or self.rescale:
            raise ValueError("margin and rescale go with update='multiplicative'")
        if self._keeps_rows and self.average:
            raise ValueError("average=True goes with kernel='linear' and no budget")

    def _settings(self) -> tuple[float, ...]:
        return ()

    @property
    def _decays(self) -> bool:
        return bool(self.update == "multiplicative")  # weights and thresholds are normalised together

    @property
    def _keeps_rows(self) -> bool:
        return self.kernel != "linear" or self.budget is not None

    def _new_model(self) -> Any:
        make = MODELS[self._dtype]
        step = 1.0 if isinstance(self.step, str) else float(self.step)
        if self._keeps_rows:
            rule = (self.step == "sqrt", step, self.budget or 0, self.removal == "oldest")
            if callable(self.kernel):
                return make.with_function(self.kernel, self.__dict__.get("n_features_in_", 0), *rule)
            return make.with_kernel(SHAPES[self.kernel], self._gamma or 1.0, self.coef0, self.degree, *rule)
        if self.update == "additive":
            kind = "sqrt" if self.step == "sqrt" else "constant"
            return make.by_feature(kind, step, 0.0, 0.0, False, self.average)
        kind = "signed-entropic" if self.signed else "entropic"
        eta = 0.0 if self.step == "unit" else step
        return make.by_feature(kind, 1.0, eta, self.margin or 0.0, self.rescale, self.average)

    def _start(self) -> None:
        self._gamma = None if self.gamma is None else float(self.gamma)
        super()._start()

    def _fix_gamma(self, features: int) -> None:
        """Let the kernel's width follow from the first row."""
        if self._gamma is not None or self.kernel not in ("poly", "rbf"):
            return
        self._gamma = 1.0 / max(1, features)
        classes, self._labels = self._labels, OrderedClasses()
        self._model = self._new_model()
        self._adopt(classes)

    # -- learning ---------------------------------------------------------------------------------------------------

    def _read(self, X: Any, y: Any, sample_weight: Any, **more: Any) -> tuple[Any, Any, np.ndarray | None]:
        x, ends, weights = super()._read(X, y, sample_weight, **more)
        if self.update == "multiplicative" and not self.rescale:
            self._check_bounded(x)
        return x, ends, weights

    def _check_bounded(self, x: Any) -> None:
        """Raise where a feature is too large for the multiplicative update."""
        if isinstance(x, Dicts):
            values = [[v for v in row.values() if not isinstance(v, str) and abs(v) > 1] for row in x.X]
            row = next((t for t, large in enumerate(values) if large), -1)
            value = values[row][0] if row >= 0 else 0.0
        else:
            row, value = _core.beyond_one(x)
        if row >= 0:
            raise ValueError(
                f"row {row} of X has the value {value:g}, but update='multiplicative' needs features of at most 1 in "
                "absolute value: scale them, or set rescale=True"
            )

    def _learn(self, x: Any, targets: Intervals, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        if not self._keeps_rows:
            super()._learn(x, targets, weights, **trace)
            return
        with self._all_or_nothing():  # a kernel may fail on any round
            if not isinstance(x, Dicts):
                self._fix_gamma(self.n_features_in_)
            self._model = self._model.copy()
            super()._learn(x, targets, weights, **trace)

    def _learn_numbers(
        self, reader: Any, x: dict[str, Any], low: int, high: int, w: float, place: np.ndarray = NO_PLACES
    ) -> None:
        if self._gamma is not None or self.kernel not in ("poly", "rbf"):
            super()._learn_numbers(reader, x, low, high, w, place)
            return
        with self._all_or_nothing():
            self._fix_gamma(len(x))
            super()._learn_numbers(reader, x, low, high, w, place)

    def _learn_example(self, reader: Any, x: dict[str, Any], y: Any, w: float) -> None:
        if not callable(self.kernel):
            super()._learn_example(reader, x, y, w)
            return
        with self._all_or_nothing():
            self._model = self._model.copy()
            super()._learn_example(reader, x, y, w)

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def coef_(self) -> np.ndarray:
        """The weights that predictions are made with."""
        if self.kernel != "linear":
            raise AttributeError("coef_ exists with kernel='linear' only; see support_vectors_ and dual_coef_")
        if self.budget is None:
            return self._learned("coef_").weights()
        rows, coefficients = self._learned("coef_").support()
        return (coefficients @ rows).astype(self._dtype)

    @property
    def support_vectors_(self) -> np.ndarray:
        """The rows that the kernel keeps."""
        return self._support("support_vectors_")[0]

    @property
    def dual_coef_(self) -> np.ndarray:
        """Their coefficients: the sums of tau."""
        return self._support("dual_coef_")[1]

    def _support(self, name: str) -> Any:
        if not self._keeps_rows:
            raise AttributeError(f"{name} exists with a kernel or a budget only; see coef_")
        return self._learned(name).support()

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        state, sections = super()._state()
        return state | {"gamma": self._gamma}, sections

    def _restore_model(self, state: Mapping[str, Any]) -> None:
        gamma = state["gamma"]
        if gamma is not None:
            if not isfinite(gamma) or gamma <= 0:
                raise ValueError(f"gamma is {gamma!r}")
            self._gamma = float(gamma)
        self._model = self._new_model()


class PRank(OrdinalLearner):
    """Learn ordered classes from exact labels: the ranking Perceptron of Crammer and Singer.

    It is `OrdinalClassifier` with the unit step, on exact labels. As published it rests whenever the predicted class
    is right; here a score that only equals a threshold which it must pass is a mistake too.

    Parameters
    ----------
    classes : array-like, optional
        The classes, lowest first. By default the numbers that appear, in their order.
    average : bool, default=False
        Predict with the mean of the weights and thresholds over all rounds.
    max_iter : int, default=1
        Passes that `fit` makes.
    shuffle : bool, default=False
        Whether `fit` takes the rows in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    new_labels : {"add", "error", "ignore"}, default="add"
        What to do with a number that is no class yet in a later call, where no classes were given.
    features : {"names", "hashed"}, default="names"
        How the names in dicts become features.
    n_bits : int, default=20
        Hashed: there are 2 ** n_bits features.
    dtype : dtype, default="float32"
        What the weights are kept in: float32 or float64.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, lowest first.
    thresholds_ : array of shape (n_classes - 1,)
        In order to the last bit.
    coef_ : array of shape (n_features_in_,)
        The weights.
    n_features_in_ : int
        How many features there are.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if they have any.
    t_ : int
        Rounds so far.
    n_iter_ : int
        Passes that `fit` made.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import PRank
    >>> X = np.arange(12).reshape(-1, 1) / 6 - 1
    >>> PRank(max_iter=20).fit(X, np.repeat([1, 2, 5], 4)).predict([[-0.9], [0.0], [0.9]])
    array([1, 2, 5])

    References
    ----------
    K. Crammer and Y. Singer, "Pranking with ranking", 2001.
    """

    _exact_only = True
    _structure: ClassVar[tuple[str, ...]] = ("average", "features", "n_bits", "dtype")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: OrdinalClassifier._parameter_constraints[name]
        for name in ("classes", "average", "max_iter", "shuffle", "random_state", "new_labels", "features", "n_bits")
    }

    def __init__(
        self,
        classes: Any = None,
        *,
        average: bool = False,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: Any = None,
        new_labels: str = "add",
        features: str = "names",
        n_bits: int = 20,
        dtype: Any = "float32",
    ) -> None:
        self.classes = classes
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.new_labels = new_labels
        self.features = features
        self.n_bits = n_bits
        self.dtype = dtype

    def _check_combination(self) -> None:
        check_dtype(self)

    def _settings(self) -> tuple[float, ...]:
        return ()

    def _new_model(self) -> Any:
        return MODELS[self._dtype].by_feature("constant", 1.0, 0.0, 0.0, False, self.average)


class WidrowHoffClassifier(OrdinalLearner):
    """Learn the number of an ordered class by least mean squares; the answer is rounded, halves up, and clipped.

    The step is ``weight / (2 R^2)``, ``R^2`` the largest ``weight ||x||^2`` so far, the intercept's 1 included. The
    loss is the squared error, the error how many classes the answer is away.

    Parameters
    ----------
    classes : array-like, optional
        The classes, lowest first. By default the numbers that appear, in their order. A class that enters below all
        others later moves the intercept up by one.
    average : bool, default=False
        Predict with the mean of the weights over all rounds.
    max_iter : int, default=1
        Passes that `fit` makes.
    shuffle : bool, default=False
        Whether `fit` takes the rows in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    fit_intercept : bool, default=True
        Whether every row has a feature more, which is 1.
    new_labels : {"add", "error", "ignore"}, default="add"
        What to do with a number that is no class yet in a later call, where no classes were given.
    features : {"names", "hashed"}, default="names"
        How the names in dicts become features.
    n_bits : int, default=20
        Hashed: there are 2 ** n_bits features.
    dtype : dtype, default="float32"
        What the weights are kept in: float32 or float64.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, lowest first.
    thresholds_ : array of shape (n_classes - 1,)
        1.5, 2.5, ..
    coef_ : array of shape (n_features_in_,)
        The weights.
    intercept_ : array of shape (1,)
        Zero without an intercept.
    n_features_in_ : int
        How many features there are.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if they have any.
    t_ : int
        Rounds so far.
    n_iter_ : int
        Passes that `fit` made.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import WidrowHoffClassifier
    >>> X = np.arange(12).reshape(-1, 1) / 6 - 1
    >>> WidrowHoffClassifier(max_iter=20).fit(X, np.repeat([1, 2, 5], 4)).predict([[-0.9], [0.0], [0.9]])
    array([1, 2, 5])

    References
    ----------
    B. Widrow and M. E. Hoff, "Adaptive switching circuits", 1960.
    """

    _exact_only = True
    _structure: ClassVar[tuple[str, ...]] = ("average", "fit_intercept", "features", "n_bits", "dtype")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PRank._parameter_constraints,
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        classes: Any = None,
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
        self.classes = classes
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.new_labels = new_labels
        self.features = features
        self.n_bits = n_bits
        self.dtype = dtype

    @property
    def _intercept(self) -> bool:
        return bool(self.fit_intercept)

    def _check_combination(self) -> None:
        check_dtype(self)

    def _settings(self) -> tuple[float, ...]:
        return ()

    def _new_model(self) -> Any:
        return MODELS[self._dtype].widrow_hoff(self.fit_intercept, self.average)

    @property
    def intercept_(self) -> np.ndarray:
        """The weight of the constant feature."""
        return np.array([self._learned("intercept_").intercept()], dtype=self._dtype)
