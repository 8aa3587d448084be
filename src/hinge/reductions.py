"""Classes by binary learners: one against all others, or each pair of classes by itself (MATH.md E).

The binary learners are estimators of this library with the classes -1 and +1, or anything with ``fit`` and ``predict``
for ``fit`` alone. A score of exactly zero is no vote for +1. Ties go to the class that comes first in ``classes_``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from math import inf, isqrt
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags
from sklearn.utils._param_validation import HasMethods, Integral, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

import hinge
from hinge import labels
from hinge.base import Dicts, LabelLearner
from hinge.labels import Labels, Targets
from hinge.rows import VIEWS

__all__ = ["AllPairsClassifier", "OneVsAllClassifier"]

SIDES = [-1, 1]


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
        if isinstance(self.estimator, LabelLearner):
            self.estimator._check_params()

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

    def __getattribute__(self, name: str) -> Any:
        if name in ("partial_fit", "learn_one") and not (self._is_online or getattr(self._model, "online", False)):
            kind = type(self._binary).__name__
            raise AttributeError(f"{type(self).__name__} has no {name} over {kind}, which does not learn online")
        return super().__getattribute__(name)

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


def locked(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method run while no other thread reads or writes the same learners."""

    @wraps(method)
    def alone(self: Any, *given: Any, **named: Any) -> Any:
        with self.lock:
            return method(self, *given, **named)

    return alone


class Machines:
    """Binary learners in the place of a model of the core: the same methods, by number of label."""

    has_cut = False

    def __init__(self, binary: Any, dtype: np.dtype[Any], intercept: bool, online: bool) -> None:
        self.binary, self.dtype, self.intercept, self.online = binary, dtype, intercept, online
        self.learners: list[Any] = []
        self.fresh: Any = None
        self.lock = threading.RLock()
        self.features = self.outputs = self.rounds = 0
        self.last_loss = self.last_error = self.last_dual = 0.0

    # How many learners there are for so many labels; which labels are +1 and -1 for each; scores from theirs.
    @staticmethod
    def count(labels: int) -> int:
        raise NotImplementedError

    def sides(self, number: int, label: np.ndarray) -> np.ndarray:
        """Return +1, -1, or 0 for a row that is not learned."""
        raise NotImplementedError

    def labels_of(self, number: int) -> list[int]:
        raise NotImplementedError

    def taught_by(self, label: np.ndarray) -> list[int]:
        """Return the learners that rows with these labels are for."""
        return list(range(len(self.learners)))

    def combined(self, scores: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    @locked
    def grow(self, features: int, outputs: int) -> None:
        while len(self.learners) < self.count(outputs):
            self.learners.append(self.begun(features).snapshot() if self.online else clone(self.binary))
        if self.online and features != self.features:
            for one in self.learners:
                one.n_features_in_ = features
                one._model.grow(features, 2)
        self.features, self.outputs = features, outputs

    def begun(self, features: int) -> Any:
        """Return a binary learner that has learned nothing yet."""
        if self.fresh is None or self.fresh.n_features_in_ != features:
            one = clone(self.binary)
            one._check_params()
            one._begin()
            one._labels, one._fixed, one.n_features_in_ = Labels(SIDES), True, features
            one._model.grow(features, 2)
            self.fresh = one
        return self.fresh

    @locked
    def learn(
        self, x: Any, start: Any, label: np.ndarray, sets: bool, exist: Any, weights: np.ndarray | None, **trace: Any
    ) -> None:
        """Learn rows; a label exists from the row in which it first appears."""
        if not self.online:
            self.learn_at_once(x, label, weights)
            return
        if trace:
            for t in range(x.count):
                self.learn_traced(
                    x.take(np.array([t])), label[[t]], None if weights is None else weights[[t]], t, trace
                )
            return
        known = np.maximum.accumulate(np.maximum(label + 1, self.outputs))
        self.grow(self.features, int(known[-1]))
        for number in self.taught_by(label):
            first = int(np.argmax(known > max(self.labels_of(number))))
            side = self.sides(number, label)
            side[:first] = 0
            rows = np.flatnonzero(side)
            if rows.size:
                part = x if rows.size == x.count else x.take(rows)
                self.teach(self.learners[number], part, side[rows], None if weights is None else weights[rows])
        self.rounds += x.count

    def teach(self, one: Any, rows: Any, side: np.ndarray, weights: np.ndarray | None, **trace: Any) -> None:
        number = ((side + 1) // 2).astype(np.int32)
        one._learn_rows(rows, Targets(labels.LABELS, None, number, []), weights, **trace)

    def learn_traced(
        self, row: Any, label: np.ndarray, weights: np.ndarray | None, t: int, trace: dict[str, np.ndarray]
    ) -> None:
        """Learn one row, and note the scores before, the sum of the learners' losses, and whether it was a mistake."""
        if label[0] >= self.outputs:
            self.grow(self.features, int(label[0]) + 1)
        scores = np.empty((1, self.outputs), dtype=self.dtype)
        self.score(row, scores)
        losses, loss = np.zeros(1), 0.0
        for number in self.taught_by(label):
            side = self.sides(number, label)
            if side[0]:
                self.teach(self.learners[number], row, side, weights, loss=losses)
                loss += float(losses[0])
        others = scores[0].copy()
        if label[0] >= 0:
            others[label[0]] = -inf
        wrong = label[0] >= 0 and others.max(initial=-inf) >= scores[0, label[0]]
        self.rounds += 1
        for name, value in (("loss", loss), ("error", float(wrong)), ("dual", np.nan), ("cut", np.nan)):
            if name in trace:
                trace[name][t] = value
        if "scores" in trace:
            trace["scores"][t, : self.outputs] = scores[0]

    def learn_at_once(self, x: Any, label: np.ndarray, weights: np.ndarray | None) -> None:
        matrix = as_matrix(x)
        for number, one in enumerate(self.learners):
            side = self.sides(number, label)
            rows = np.flatnonzero(side)
            more = {} if weights is None else {"sample_weight": weights[rows]}
            one.fit(matrix[rows], side[rows], **more)
        self.rounds += x.count

    @locked
    def learn_one_label(self, reader: Any, x: dict[str, Any], label: int, w: float) -> None:
        index, values = reader.read(x, True)
        if reader.features > self.features:
            self.grow(reader.features, self.outputs)
        trace = {name: np.zeros(1) for name in ("loss", "error")}
        self.learn_traced(self.view(index, values), np.array([label]), np.array([w]), 0, trace)
        self.last_loss, self.last_error = float(trace["loss"][0]), float(trace["error"][0])

    def view(self, index: np.ndarray, values: np.ndarray) -> Any:
        kept = index < self.features
        index, values = index[kept], values[kept].astype(self.dtype)
        start = np.array([0, index.size], dtype=np.int64)
        return VIEWS[self.dtype](start, np.ascontiguousarray(index), values, self.features, self.intercept)

    @locked
    def score(self, x: Any, out: np.ndarray) -> None:
        raw = np.empty((x.count, len(self.learners)))
        matrix = None if self.online else as_matrix(x)
        for number, one in enumerate(self.learners):
            if self.online:
                two = np.empty((x.count, 2), dtype=self.dtype)
                one._model.score(x, two)
                raw[:, number] = two[:, 1].astype(np.float64) - two[:, 0]
            else:
                answer = one.decision_function if hasattr(one, "decision_function") else one.predict
                raw[:, number] = answer(matrix)
        out[:] = self.combined(raw)

    def top(self, x: Any, out: np.ndarray) -> None:
        scores = np.empty((x.count, self.outputs), dtype=self.dtype)
        self.score(x, scores)
        out[:] = scores.argmax(axis=1)

    def score_one(self, reader: Any, x: dict[str, Any]) -> np.ndarray:
        out = np.empty((1, self.outputs), dtype=self.dtype)
        self.score(self.view(*reader.read(x, False)), out)
        return out[0]

    def top_one(self, reader: Any, x: dict[str, Any]) -> int:
        return int(self.score_one(reader, x).argmax())

    @locked
    def erase_output(self, label: int) -> None:
        kept = [number for number in range(len(self.learners)) if label not in self.labels_of(number)]
        self.learners = [self.learners[number] for number in kept]
        self.outputs -= 1

    @locked
    def copy(self) -> Self:
        out = type(self)(self.binary, self.dtype, self.intercept, self.online)
        out.learners = [one.snapshot() if self.online else one for one in self.learners]
        out.features, out.outputs, out.rounds = self.features, self.outputs, self.rounds
        return out

    @locked
    def state(self) -> dict[str, np.ndarray]:
        out = {"rounds": np.array([float(self.rounds)])}
        for number, one in enumerate(self.learners):
            out |= {f"{number}.{name}": array for name, array in one._model.state().items()}
        return out

    @locked
    def restore(self, sections: dict[str, np.ndarray]) -> None:
        self.rounds = int(sections["rounds"][0])
        parts: list[dict[str, np.ndarray]] = [{} for _ in self.learners]
        for name, array in sections.items():
            number, _, own = name.partition(".")
            if own:
                parts[int(number)][own] = array
        if not self.online:
            self.learners = [self.begun(self.features).snapshot() for _ in self.learners]
        for one, part in zip(self.learners, parts, strict=True):
            one._model.restore(part)


class EachAgainstAll(Machines):
    @staticmethod
    def count(labels: int) -> int:
        return labels

    def sides(self, number: int, label: np.ndarray) -> np.ndarray:
        return np.where(label < 0, 0, np.where(label == number, 1, -1))

    def labels_of(self, number: int) -> list[int]:
        return [number]

    def combined(self, scores: np.ndarray) -> np.ndarray:
        return scores


class EachPair(Machines):
    """Pairs i < j come in the order (0, 1), (0, 2), (1, 2), (0, 3), ..: those of a new label are the last ones."""

    @staticmethod
    def count(labels: int) -> int:
        return labels * (labels - 1) // 2

    def labels_of(self, number: int) -> list[int]:
        j = (1 + isqrt(1 + 8 * number)) // 2
        return [number - self.count(j), j]

    def taught_by(self, label: np.ndarray) -> list[int]:
        seen = np.unique(label[label >= 0]).tolist()
        pairs = {(min(a, b), max(a, b)) for a in seen for b in range(self.outputs) if a != b}
        return sorted(i + self.count(j) for i, j in pairs)

    def sides(self, number: int, label: np.ndarray) -> np.ndarray:
        i, j = self.labels_of(number)
        return np.where(label == i, 1, np.where(label == j, -1, 0))

    def combined(self, scores: np.ndarray) -> np.ndarray:
        votes = np.zeros((len(scores), self.outputs))
        for number in range(len(self.learners)):
            i, j = self.labels_of(number)
            vote = np.where(scores[:, number] > 0, 1, -1)
            votes[:, i] += vote
            votes[:, j] -= vote
        return votes


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
        super().__init__(
            estimator, max_iter=max_iter, shuffle=shuffle, random_state=random_state, new_labels=new_labels,
            features=features, n_bits=n_bits,
        )  # fmt: skip

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
        super().__init__(
            estimator, max_iter=max_iter, shuffle=shuffle, random_state=random_state, new_labels=new_labels,
            features=features, n_bits=n_bits,
        )  # fmt: skip


def as_matrix(rows: Any) -> Any:
    """Return rows of the core as an array, or as a CSR matrix."""
    start, index, values, width = rows.arrays()
    return np.asarray(values) if start is None else sparse.csr_matrix((values, index, start), shape=(rows.count, width))
