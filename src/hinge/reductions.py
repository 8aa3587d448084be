"""Classes by binary learners: one against all others, or each pair of classes by itself (MATH.md E).

Ties go to the class that comes first in ``classes_``.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags
from sklearn.utils._param_validation import HasMethods, Integral, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

import hinge
from hinge import labels
from hinge.base import Dicts, LabelLearner, present_unless
from hinge.binary_learners import EachAgainstAll, EachPair
from hinge.labels import Targets

__all__ = ["AllPairsClassifier", "OneVsAllClassifier"]


def _learns_at_once(reduction: Any) -> str | None:
    if reduction._is_online or getattr(reduction._model, "online", False):
        return None
    return f"a binary learner that does not learn online, a {type(reduction._binary).__name__}: call fit"


over_online_learners = present_unless(_learns_at_once)  # for methods that a batch learner below does not allow


class Reduction(ClassifierMixin, LabelLearner):
    """What both reductions share: a list of binary learners where others have a model."""

    _structure: ClassVar[tuple[str, ...]] = ("features", "n_bits")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "new_labels": [StrOptions({"add", "error", "ignore"})],
        "features": [StrOptions({"names", "hashed"})],
        "n_bits": [Interval(Integral, 1, 30, closed="both")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: Any = None,
        new_labels: str = "add",
        features: str = "names",
        n_bits: int = 20,
    ) -> None:
        self.estimator = estimator
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.new_labels = new_labels
        self.features = features
        self.n_bits = n_bits

    def _check_params(self) -> None:
        if isinstance(self.estimator, tuple):  # as a file has it
            name, params = self.estimator
            if name not in hinge.ESTIMATORS:
                raise ValueError(f"the binary learner is a {name!r}, which this version does not have")
            self.estimator = getattr(hinge, name)(**dict(params))
        super()._check_params()

    def _check_combination(self) -> None:
        if isinstance(self.estimator, LabelLearner):
            clone(self.estimator)._check_params()  # the given one is nobody's to change

    def _params_to_store(self) -> dict[str, Any]:
        params = super()._params_to_store()
        it = self.estimator
        if isinstance(it, LabelLearner):
            params["estimator"] = (type(it).__name__, tuple(it._params_to_store().items()))
        elif it is not None:
            raise TypeError(f"a file cannot hold the binary learner, a {type(it).__name__}; only ours can be saved")
        return params

    @property
    def _binary(self) -> Any:
        return hinge.LabelRanker(geometry="adaptive") if self.estimator is None else self.estimator

    @property
    def _is_online(self) -> bool:
        return isinstance(self._binary, LabelLearner) and hasattr(self._binary, "partial_fit")

    @property
    def _dtype(self) -> np.dtype[Any]:
        return self._binary._dtype if isinstance(self._binary, LabelLearner) else np.dtype(np.float64)

    @property
    def _intercept(self) -> bool:
        return bool(self._binary._intercept) if self._is_online else False

    def _settings(self) -> tuple[float, ...]:
        return ()

    def _new_model(self) -> Any:
        return self._machines(clone(self._binary), self._dtype, self._intercept, self._is_online)

    _machines: ClassVar[Any]

    def _orders(self, rounds: int) -> Any:
        return super()._orders(rounds) if self._is_online else iter([None])

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn from all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of labels
        sample_weight : array-like of shape (n_samples,), optional
            Handed to the binary learners.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    @over_online_learners
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from each row once, in order, one round a row; the same stream in other chunks gives the same bits.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of labels
        classes : array-like, optional
            Labels that exist before the first of these rows. Without it a label exists from the row in which it
            first appears.
        sample_weight : array-like of shape (n_samples,), optional
            Handed to the binary learners.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes, sample_weight)

    @over_online_learners
    def learn_one(self, x: dict[str, float | str], y: Any, w: float = 1.0) -> None:
        """Learn from one example.

        Parameters
        ----------
        x : dict of feature name to number or string
            A string value stands for the feature ``name=value``. New names are new features.
        y : label
        w : float, default=1.0
            The example's weight.
        """
        super().learn_one(x, y, w)

    @over_online_learners
    def _learn_progressively(self, X: Any, y: Any, **more: Any) -> dict[str, Any]:
        return super()._learn_progressively(X, y, **more)

    def _read(self, X: Any, y: Any, sample_weight: Any, **more: Any) -> tuple[Any, Any, np.ndarray | None]:
        x, targets, weights = super()._read(X, y, sample_weight, **more)
        if isinstance(x, Dicts) and not self._is_online:
            raise ValueError("this binary learner needs X as a matrix; turn dicts into one with DictVectorizer")
        return x, targets, weights

    def _read_y(self, y: Any, rounds: int) -> Targets:
        if y is not None and labels.form_of(y) != labels.LABELS:
            raise ValueError(f"Unknown label type: {type(self).__name__} takes one label a row; LabelRanker takes sets")
        return super()._read_y(y, rounds)

    def binary_learner(self, *of: Any) -> Any:
        """Return a binary learner: that of one label against all others, or of a pair of labels.

        Parameters
        ----------
        *of : label or two labels
        """
        check_is_fitted(self)
        unknown = [label for label in of if label not in self._labels.number]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not in classes_")
        numbers = sorted(self._labels.number[label] for label in of)
        for number in range(len(self._model.learners)):
            if self._model.labels_of(number) == numbers:
                return self._model.learners[number]
        raise ValueError(f"{type(self).__name__} has no binary learner for {list(of)!r}")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of labels
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class OneVsAllClassifier(Reduction):
    """A binary learner for each class against all others; the answer is the class whose learner scores highest.

    Parameters
    ----------
    estimator : estimator, optional
        The binary learner: any of our classifiers of labels, or for ``fit`` alone anything with ``fit`` and
        ``predict``; its ``decision_function`` is the score where it has one, else its answer, -1 or 1. By default
        ``LabelRanker(geometry="adaptive")``.
    max_iter : int, default=1
        Passes that `fit` makes with learners that learn online.
    shuffle : bool, default=False
        Whether `fit` takes the rows in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    new_labels : {"add", "error", "ignore"}, default="add"
        What to do with a label that is new in a later call. Its learner starts with the row that has it.
    features : {"names", "hashed"}, default="names"
        How the names in dicts become features.
    n_bits : int, default=20
        Hashed: there are 2 ** n_bits features.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
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
    >>> from hinge import LabelRanker, OneVsAllClassifier
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], ["east", "north", "else"]
    >>> OneVsAllClassifier(LabelRanker(), max_iter=5).fit(X, y).predict(X)
    array(['east', 'north', 'else'], dtype='<U5')
    """

    _machines = EachAgainstAll

    def _linear(self, name: str) -> np.ndarray:
        if self._model is None or not self._model.learners or not hasattr(self._model.learners[0], name):
            raise AttributeError(f"{name} exists once linear binary learners have learned")
        return np.array([getattr(one, name)[-1] - getattr(one, name)[0] for one in self._model.learners])

    @property
    def coef_(self) -> np.ndarray:
        """The weights, one row a class: what its learner has for +1 minus what it has for -1."""
        return self._linear("coef_")

    @property
    def intercept_(self) -> np.ndarray:
        """The weights of the constant feature."""
        return self._linear("intercept_")


class AllPairsClassifier(Reduction):
    """A binary learner for each pair of classes; the answer is the class that wins most of its pairs.

    With ``h_ij`` the answer, 1 or -1, of the learner that tells class i from class j > i, and ``h_ji`` the same one,
    the answer is ``argmax_i sum_{j != i} sign(j - i) h_ij(x)``, at ties the first class.

    Parameters
    ----------
    estimator : estimator, optional
        The binary learner: any of our classifiers of labels, or for ``fit`` alone anything with ``fit`` and
        ``predict``. By default ``LabelRanker(geometry="adaptive")``.
    max_iter : int, default=1
        Passes that `fit` makes with learners that learn online.
    shuffle : bool, default=False
        Whether `fit` takes the rows in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    new_labels : {"add", "error", "ignore"}, default="add"
        What to do with a label that is new in a later call. Its pairs start with the row that has it.
    features : {"names", "hashed"}, default="names"
        How the names in dicts become features.
    n_bits : int, default=20
        Hashed: there are 2 ** n_bits features.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
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
    >>> from hinge import AllPairsClassifier
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], ["east", "north", "else"]
    >>> it = AllPairsClassifier(max_iter=5).fit(X, y)
    >>> it.predict(X)
    array(['east', 'north', 'else'], dtype='<U5')
    >>> float(it.binary_learner("north", "east").decision_function([[2.0, -1.0]])[0]) > 0  # +1 is the first in classes_
    True
    """

    _machines = EachPair
