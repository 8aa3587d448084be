"""Ordered classes from exact and interval labels: PRIL, its multiplicative form, and its form with a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Integral, Interval, Real, StrOptions

from hinge import _core
from hinge.base import Dicts, check_dtype
from hinge.intervals import NO_PLACES, Intervals, OrderedClasses
from hinge.ordinal_learner import MODELS, PARAMETERS, OrdinalLearner

__all__ = ["OrdinalClassifier"]

SHAPES = {"linear": 0, "poly": 1, "rbf": 2}
POSITIVE = Interval(Real, 0, None, closed="neither")


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
        What to do with a number that is no class yet in a later call: it becomes one, with a threshold that is a
        double of its neighbour (an error where the classes were given); it is an error; or there is an open end in its
        place, so that an exact label asks for nothing.
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
        **PARAMETERS,
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
        reader = self._reader
        names = None if reader is None else dict(reader.names)
        try:
            with self._all_or_nothing():  # a kernel may fail on any round
                if not isinstance(x, Dicts):
                    self._fix_gamma(self.n_features_in_)
                self._model = self._model.copy()
                super()._learn(x, targets, weights, **trace)
        except BaseException:
            if names is not None:
                reader.names = names
            raise

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
