"""The multiclass Perceptron: one prototype a class, moved on mistakes only."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Integral, Interval, StrOptions

from hinge import _core, labels
from hinge.base import LabelLearner, check_dtype
from hinge.labels import Targets

__all__ = ["MulticlassPerceptron"]

MODELS = {np.dtype(np.float32): _core.LabelRankerFloat32, np.dtype(np.float64): _core.LabelRankerFloat64}


class MulticlassPerceptron(ClassifierMixin, LabelLearner):
    """Learn one label a row online: on a mistake the best wrong label loses x to the right one.

    A label y has the score ``<w_y, x>``. The margin of a round is the score of the right label minus the highest of
    the others; at zero or below it the round is a mistake, and x is added to the right label's weights and taken from
    those of the other. The loss is ``max(0, -margin)``. It is `LabelRanker` with the fixed update and no margin to
    reach, so the step changes the scale and no answer.

    Parameters
    ----------
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
        What to do with a label that is new in a later call.
    features : {"names", "hashed"}, default="names"
        How the names in dicts become features.
    n_bits : int, default=20
        Hashed: there are 2 ** n_bits features.
    dtype : dtype, default="float32"
        What the weights are kept in: float32 or float64.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels.
    coef_ : array of shape (n_labels, n_features_in_)
        The weights.
    intercept_ : array of shape (n_labels,)
        Zeros without an intercept.
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
    >>> from hinge import MulticlassPerceptron
    >>> X, y = np.eye(3), ["red", "green", "blue"]
    >>> MulticlassPerceptron(max_iter=5).fit(X, y).predict(X).tolist()
    ['red', 'green', 'blue']

    References
    ----------
    K. Crammer and Y. Singer, "Ultraconservative online algorithms for multiclass problems", 2003.
    """

    _asks_no_margin = True
    _structure: ClassVar[tuple[str, ...]] = ("average", "fit_intercept", "features", "n_bits", "dtype")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "average": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "fit_intercept": ["boolean"],
        "new_labels": [StrOptions({"add", "error", "ignore"})],
        "features": [StrOptions({"names", "hashed"})],
        "n_bits": [Interval(Integral, 1, 30, closed="both")],
    }

    def __init__(
        self,
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
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.new_labels = new_labels
        self.features = features
        self.n_bits = n_bits
        self.dtype = dtype

    def _check_combination(self) -> None:
        check_dtype(self)

    def _settings(self) -> tuple[float, ...]:
        return 1.0, 0.0, 1.0  # the step, the margin to reach, and a number that is not used

    def _new_model(self) -> Any:
        return MODELS[self._dtype]("fixed", "euclidean", self.fit_intercept, self.average)

    def _read_y(self, y: Any, rounds: int) -> Targets:
        targets = super()._read_y(y, rounds)
        if targets.form != labels.LABELS:
            raise ValueError(f"y holds {targets.form}; MulticlassPerceptron learns one label a row")
        return targets

    @property
    def coef_(self) -> np.ndarray:
        """The weights that predictions are made with, one row a label."""
        return self._learned("coef_").weights()

    @property
    def intercept_(self) -> np.ndarray:
        """The weights of the constant feature."""
        return self._learned("intercept_").intercepts()

    def _learned(self, name: str) -> Any:
        if self._model is None:
            raise AttributeError(f"{name} exists once something was learned")
        return self._model

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
