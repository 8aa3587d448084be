"""Any structure: an oracle that a person writes, under the rules of the core (MATH.md E).

The oracle supplies the joint features, the cost of an answer, and the best answer; it may be written in Python. Its
directions go to the same C++ rules that classes, words and lists use. Margins are right minus wrong; an answer other
than the right one that scores as much is a mistake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted

from hinge import _core
from hinge.asked_oracle import AskedOracle, Direction, Oracle, margin_of
from hinge.base import OnlineEstimator, check_dtype
from hinge.oracles import RuleLearner, online_only, warn_if_open
from hinge.rows import read_weights
from hinge.separation import separate

__all__ = ["Oracle", "StructuredClassifier"]

MODELS = {np.dtype(np.float32): _core.StructuredFloat32, np.dtype(np.float64): _core.StructuredFloat64}


class StructuredClassifier(RuleLearner, OnlineEstimator):
    """Learn to answer with any structure for which a best answer can be found.

    The hinge of an example is ``max_y' delta(y', y) + <w, Psi(x, y') - Psi(x, y)>``, an upper bound of the cost of the
    answer. An oracle whose argmax finds less than the right answer itself is refused.

    Parameters
    ----------
    oracle : object
        With methods ``features(x, y)``, ``delta(y_pred, y)`` and ``argmax(w, x, y=None)``; see `Oracle`.
    rule : {"sgd", "passive-aggressive", "perceptron", "svm", "erm"}, default="sgd"
        As for `MulticlassClassifier`. Erm asks for a margin of t times delta, with t as large as it can be.
    C : float, default=1.0
        Passive-aggressive: the largest step. Svm: ``1 / (2 alpha m)`` for m examples.
    alpha : float, optional
        The lambda of ``lambda ||w||^2 + mean hinge``. Sgd: steps of ``1 / (2 alpha t)`` in round t after a decay of
        ``1 - 1 / t``, with 1e-4 where neither `alpha` nor `eta` is given. Svm: used in place of C where it is given.
    eta : float, optional
        Sgd: a constant step, and no decay. ``B / (rho sqrt(T))`` with `average` is the book's for T rounds, weights no
        longer than B and directions no longer than rho (corollary 17.2). It excludes `alpha`.
    average : bool, default=False
        Predict with the mean of the weights over all rounds, before their updates.
    tol : float, default=1e-4
        Svm: the gap to reach, as a share of the objective.
    max_passes : int, default=1000
        Svm: when to stop all the same, with a warning.
    max_iter : int, default=1
        Passes that `fit` makes with the rules that learn online; the Perceptron stops after a pass
        without a mistake, unless it averages.
    shuffle : bool, default=False
        Whether `fit` takes the examples in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    dtype : dtype, default="float32"
        What the weights are kept in: float32 or float64.

    Attributes
    ----------
    coef_ : array of shape (n_features_in_,)
        The weights.
    n_features_in_ : int
        The length of the joint features.
    t_, n_iter_ : int
        Rounds so far, over all passes; passes that `fit` made.
    certificate_ : Certificate
        Passive-aggressive and svm.
    objective_, gap_ : float
        Svm: as for `MulticlassClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import StructuredClassifier
    >>> class Signs:
    ...     def features(self, x, y):
    ...         return y * np.asarray(x) / 2
    ...     def delta(self, y_pred, y):
    ...         return float(y_pred != y)
    ...     def argmax(self, w, x, y=None):
    ...         cost = lambda s: 0.0 if y is None else self.delta(s, y)
    ...         return max((-1, 1), key=lambda s: cost(s) + w @ self.features(x, s))
    >>> X, y = [[1.0, 2.0], [2.0, -1.0], [-1.0, 1.0]], [1, -1, 1]
    >>> StructuredClassifier(Signs(), rule="perceptron", max_iter=10).fit(X, y).predict(X)
    [1, -1, 1]

    References
    ----------
    S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", 2014, section 17.3.
    """

    _structure: ClassVar[tuple[str, ...]] = ("rule", "average", "dtype")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RuleLearner._rule_constraints,
        "oracle": [HasMethods(["features", "delta", "argmax"])],
    }
    _intercept = False

    def __init__(
        self,
        oracle: Oracle,
        rule: str = "sgd",
        *,
        C: float = 1.0,
        alpha: float | None = None,
        eta: float | None = None,
        average: bool = False,
        tol: float = 1e-4,
        max_passes: int = 1000,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: Any = None,
        dtype: Any = "float32",
    ) -> None:
        self.oracle = oracle
        self.rule = rule
        self.C = C
        self.alpha = alpha
        self.eta = eta
        self.average = average
        self.tol = tol
        self.max_passes = max_passes
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.dtype = dtype

    def _check_combination(self) -> None:
        check_dtype(self)
        self._check_rule()

    def _settings(self) -> tuple[float, ...]:
        return (self._step,)

    def _new_model(self) -> Any:
        return MODELS[self._dtype](self._core_rule, self.average)

    # -- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Sequence[Any], y: Sequence[Any], sample_weight: Any = None) -> Self:
        """Forget everything, then learn from all examples.

        Parameters
        ----------
        X, y : sequences of whatever the oracle understands
        sample_weight : array-like of shape (n_examples,), optional
            Multiplies each example's C or step; an example of weight 0 is not learned.

        Returns
        -------
        self
        """
        return self._after_fit(self._fit(X, y, sample_weight))

    @online_only
    def partial_fit(self, X: Sequence[Any], y: Sequence[Any], sample_weight: Any = None) -> Self:
        """Learn from each example once, in order.

        Parameters
        ----------
        X, y : sequences of whatever the oracle understands
        sample_weight : array-like of shape (n_examples,), optional
            Multiplies each example's C or step; an example of weight 0 is scored and not learned.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, None, sample_weight)

    @online_only
    def learn_one(self, x: Any, y: Any, w: float = 1.0) -> None:
        """Learn from one example.

        Parameters
        ----------
        x, y : whatever the oracle understands
        w : float, default=1.0
            The example's weight.
        """
        self.partial_fit([x], [y], sample_weight=[w])

    @online_only
    def _learn_progressively(self, X: Any, y: Any, **more: Any) -> dict[str, Any]:
        return super()._learn_progressively(X, y, **more)

    def _read(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = False, **more: Any
    ) -> tuple[Any, Any, np.ndarray | None]:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        examples, targets = Examples(list(X)), Examples(list(y))
        if examples.count != targets.count:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: [{examples.count}, {targets.count}]"
            )
        if examples.count == 0:
            raise ValueError("X has no examples")
        weights = read_weights(sample_weight, examples.count)
        asked = AskedOracle(self.oracle, self._dtype, None if reset else self.n_features_in_)
        for i, (a, b) in enumerate(zip(examples.items, targets.items, strict=True)):
            asked.check(a, b, i)
        if asked.length is not None:
            self.n_features_in_ = asked.length
        return examples, targets, weights

    def _know(self, classes: Any, y: Any) -> None:
        if classes is not None:
            raise ValueError("StructuredClassifier has no classes: the oracle knows the answers")

    @property
    def _asked(self) -> AskedOracle:
        return AskedOracle(self.oracle, self._dtype, self.n_features_in_)

    def _learn(self, x: Examples, targets: Examples, weights: np.ndarray | None, **trace: Any) -> None:
        self._model.grow(self.n_features_in_, 1)
        if self.rule == "svm":
            self._solve(x, targets, weights)
        elif self.rule == "erm":
            self._separate(x, targets, weights)
        else:
            before = self._model.copy()
            try:
                self._learn_in_order(x, targets, weights, trace)
            except BaseException:
                self._model = before  # an oracle that fails half-way teaches nothing
                raise

    def _learn_in_order(
        self, x: Examples, targets: Examples, weights: np.ndarray | None, trace: Mapping[str, Any]
    ) -> None:
        asked = self._asked
        for i, (a, b) in enumerate(zip(x.items, targets.items, strict=True)):
            if "answers" in trace:
                trace["answers"][i] = self.oracle.argmax(self._model.weights(current=False).astype(np.float64), a)
            w = self._model.weights(current=True).astype(np.float64)
            plain, hardest = asked.rivals(w, a, b, i)
            weight = 1.0 if weights is None else float(weights[i])
            seen = self._model.learn(*plain, *hardest, weight, *self._set)
            for name, value in zip(self._seen, seen, strict=True):
                if name in trace:
                    trace[name][i] = value

    def _solve(self, x: Examples, targets: Examples, weights: np.ndarray | None) -> None:
        asked = self._asked

        def hardest(i: int, w: np.ndarray) -> Direction:
            return asked.both(w.astype(np.float64), x.items[i], targets.items[i], i)[1]

        caps = self._caps(weights, x.count)
        passes, primal, dual, hinge = self._model.solve(hardest, caps, float(self.tol), int(self.max_passes))
        costs = [self.oracle.delta(*pair) for pair in zip(self.predict(x.items), targets.items, strict=True)]
        self._note_solution(x.count, passes, primal, dual, hinge, caps, float(np.sum(np.array(costs) > 0)))
        warn_if_open(self, primal, dual)

    def _separate(self, x: Examples, targets: Examples, weights: np.ndarray | None) -> None:
        kept = range(x.count) if weights is None else np.flatnonzero(weights).tolist()
        asked = self._asked

        def rivals(w: np.ndarray, below: float) -> tuple[np.ndarray, Any, np.ndarray]:
            found, rows, deltas = [], [], []
            for i in kept:
                direction = asked.both(w / below, x.items[i], targets.items[i], i)[1]
                if direction[3] and direction[0] - margin_of(w / below, direction) > 0:
                    found.append(i)
                    deltas.append(direction[0])
                    at = (np.zeros(direction[1].size, dtype=int), direction[1])
                    rows.append(sparse.csr_matrix((direction[2], at), shape=(1, w.size), dtype=np.float64))
            matrix = sparse.vstack(rows, format="csr") if rows else sparse.csr_matrix((0, w.size))
            return np.array(found, dtype=int), matrix, np.array(deltas)

        w, margin = separate(self.n_features_in_, rivals, np.arange(x.count), what="examples")
        self._model.write(w)
        self._solved = {"examples": float(x.count), "passes": 1.0, "margin": margin}

    def _room_for_answers(self, rounds: int, targets: Any) -> dict[str, Any]:
        return {"answers": [None] * rounds}

    def _answers_from(self, room: dict[str, Any]) -> Any:
        return room["answers"]

    # -- answers ----------------------------------------------------------------------------------------------------

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """Answer each example.

        Parameters
        ----------
        X : sequence of whatever the oracle understands

        Returns
        -------
        list of answers
        """
        check_is_fitted(self)
        w = self.coef_.astype(np.float64)
        return [self.oracle.argmax(w, x) for x in X]

    def predict_one(self, x: Any) -> Any:
        """Answer one example; None before anything was learned.

        Parameters
        ----------
        x : whatever the oracle understands
        """
        return None if self._model is None else self.predict([x])[0]

    def score(self, X: Sequence[Any], y: Sequence[Any], sample_weight: Any = None) -> float:
        """Return minus the mean cost of the answers.

        Parameters
        ----------
        X, y : sequences of whatever the oracle understands
        sample_weight : array-like of shape (n_examples,), optional

        Returns
        -------
        float
        """
        costs = [float(self.oracle.delta(*pair)) for pair in zip(self.predict(X), y, strict=True)]
        return -float(np.average(costs, weights=read_weights(sample_weight, len(costs))))

    @property
    def coef_(self) -> np.ndarray:
        """The weights that predictions are made with."""
        if self._model is None:
            raise AttributeError("coef_ exists once something was learned")
        return np.asarray(self._model.weights(current=False))

    # -- files ------------------------------------------------------------------------------------------------------

    def _restore(self, state: Any, sections: dict[str, np.ndarray]) -> None:
        super()._restore(state, sections)
        largest = max((section.shape[0] for section in sections.values() if section.ndim == 2), default=0)
        if self.n_features_in_ > largest:
            raise ValueError(f"{self.n_features_in_} features, but no section is as long")
        self._model.grow(self.n_features_in_, 1)
        self._model.restore(sections)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "structured"
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        return tags


@dataclass(frozen=True)
class Examples:
    """Examples or their targets, whatever they are."""

    items: list[Any]

    @property
    def count(self) -> int:
        return len(self.items)

    def take(self, order: np.ndarray) -> Examples:
        return Examples([self.items[i] for i in order])
