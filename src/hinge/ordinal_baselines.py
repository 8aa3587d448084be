"""Ordered classes from exact labels: what PRIL is compared with."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, Real

from hinge.base import check_dtype
from hinge.ordinal_learner import MODELS, PARAMETERS, OrdinalLearner

__all__ = ["PRank", "WidrowHoffClassifier"]


class ExactLearner(OrdinalLearner):
    """What learners of exact labels share: an interval is an error."""

    _exact_only = True

    def _check_combination(self) -> None:
        check_dtype(self)

    def _settings(self) -> tuple[float, ...]:
        return ()


class PRank(ExactLearner):
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

    _structure: ClassVar[tuple[str, ...]] = ("average", "features", "n_bits", "dtype")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS

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

    def _new_model(self) -> Any:
        return MODELS[self._dtype].by_feature("constant", 1.0, 0.0, 0.0, False, self.average)


class WidrowHoffClassifier(ExactLearner):
    """Learn the number of an ordered class by least mean squares; the answer is rounded, halves up, and clipped.

    A round moves w by ``step weight (y - <w, x>) x / (2 R^2)``, ``R^2`` the largest ``weight ||x||^2`` so far, the
    intercept's 1 included. The loss is the squared error, the error how many classes the answer is away.

    Parameters
    ----------
    classes : array-like, optional
        The classes, lowest first. By default the numbers that appear, in their order. A class that enters below all
        others later moves the intercept up by one.
    step : float, default=1.0
        How far a round moves, as a multiple of ``1 / (2 R^2)``.
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

    _structure: ClassVar[tuple[str, ...]] = ("step", "average", "fit_intercept", "features", "n_bits", "dtype")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PARAMETERS,
        "step": [Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        classes: Any = None,
        *,
        step: float = 1.0,
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
        self.step = step
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

    def _new_model(self) -> Any:
        return MODELS[self._dtype].widrow_hoff(float(self.step), self.fit_intercept, self.average)

    @property
    def intercept_(self) -> np.ndarray:
        """The weight of the constant feature."""
        return np.array([self._learned("intercept_").intercept()], dtype=self._dtype)
