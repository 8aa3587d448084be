"""Sequences: a word of letters, each with features, and transitions between neighbours (MATH.md E).

``cost[i, j]`` is the cost of answering ``classes_[i]`` where ``classes_[j]`` is true; the costs of a word's letters add
up. Margins are right minus wrong; another word that scores as much as the right one is a mistake. Ties go to the word
whose last letter comes first in ``classes_``, then to the letter before it, and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils._param_validation import Integral, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hinge import _core, labels
from hinge.base import OnlineEstimator, check_dtype, sorted_labels
from hinge.labels import Labels
from hinge.oracles import RuleLearner, online_only, read_cost, separate, warn_if_open
from hinge.rows import read_rows, read_weights

__all__ = ["SequenceClassifier"]

MODELS = {np.dtype(np.float32): _core.SequenceFloat32, np.dtype(np.float64): _core.SequenceFloat64}
ARRAYS, LISTS, STRINGS, FLAT = "arrays", "lists", "strings", "flat"  # forms of y


class SequenceClassifier(RuleLearner, OnlineEstimator):
    """Label sequences: a score for each letter at each place, and one for each pair of neighbours.

    A word ``y`` has the score ``sum_t <w_{y_t}, x_t> + sum_t m[y_{t-1}, y_t]``; the best one is found exactly. The
    hinge of an example is ``max_y' cost(y', y) + score(y') - score(y)``, an upper bound of the cost of the answer.

    Parameters
    ----------
    rule : {"sgd", "passive-aggressive", "perceptron", "svm", "erm"}, default="sgd"
        As for `MulticlassClassifier`. The averaged Perceptron is a good first choice.
    cost : array-like of shape (n_classes, n_classes), optional
        Of a letter, by answer and truth, zero on the diagonal. By default every wrong letter costs 1. With it the
        classes must be known before the first round.
    normalize : bool, default=False
        Divide features and cost of a word by its length.
    C : float, default=1.0
        Passive-aggressive: the largest step. Svm: ``1 / (2 alpha m)`` for m words.
    alpha : float, optional
        The lambda of ``lambda ||w||^2 + mean hinge``. Sgd: 1e-4 where neither `alpha` nor `eta` is given. Svm: used in
        place of C where it is given.
    eta : float, optional
        Sgd: a constant step.
    average : bool, default=False
        Predict with the mean of the weights over all rounds, before their updates.
    tol : float, default=1e-4
        Svm: the gap to reach, as a share of the objective.
    max_passes : int, default=1000
        Svm: when to stop all the same, with a warning.
    max_iter : int, default=1
        Passes that `fit` makes with the rules that learn online; the Perceptron stops after a pass without a mistake.
    shuffle : bool, default=False
        Whether `fit` takes the words in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    fit_intercept : bool, default=True
        Whether every letter has a feature more, which is 1.
    new_labels : {"add", "error"}, default="add"
        What to do with a letter that is new in a later call.
    features : {"names", "hashed"}, default="names"
        How the names in dicts become features.
    n_bits : int, default=20
        Hashed: there are 2 ** n_bits features.
    dtype : dtype, default="float32"
        What the weights are kept in: float32 or float64.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The letters, of any type.
    coef_ : array of shape (n_classes, n_features_in_)
        The weights of the features.
    intercept_ : array of shape (n_classes,)
        Zeros without an intercept.
    transitions_ : array of shape (n_classes, n_classes)
        The scores of neighbours, by the letter before and the letter itself.
    n_features_in_ : int
        How many features there are.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if they have any.
    n_iter_ : int
        Passes that `fit` made.
    t_ : int
        Rounds (words) so far, over all passes.
    certificate_ : Certificate
        Passive-aggressive and svm.
    objective_, gap_ : float
        Svm: as for `MulticlassClassifier`.

    Examples
    --------
    >>> from hinge import SequenceClassifier
    >>> X = [[{"w": "the"}, {"w": "dog"}], [{"w": "dogs"}, {"w": "bark"}], [{"w": "the"}, {"w": "bark"}]]
    >>> y = [["DET", "NOUN"], ["NOUN", "VERB"], ["DET", "NOUN"]]
    >>> tagger = SequenceClassifier("perceptron", average=True, max_iter=10).fit(X, y)
    >>> tagger.predict([[{"w": "the"}, {"w": "bark"}], [{"w": "dogs"}, {"w": "bark"}]])
    [['DET', 'NOUN'], ['NOUN', 'VERB']]

    References
    ----------
    S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", 2014, section 17.3.
    """

    _structure: ClassVar[tuple[str, ...]] = (*RuleLearner._rule_structure, "normalize", "features", "n_bits")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RuleLearner._rule_constraints,
        "cost": ["array-like", None],
        "normalize": ["boolean"],
        "fit_intercept": ["boolean"],
        "new_labels": [StrOptions({"add", "error"})],
        "features": [StrOptions({"names", "hashed"})],
        "n_bits": [Interval(Integral, 1, 26, closed="both")],
    }
    _labels: Labels
    _form = ARRAYS

    def __init__(
        self,
        rule: str = "sgd",
        cost: Any = None,
        normalize: bool = False,
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
        fit_intercept: bool = True,
        new_labels: str = "add",
        features: str = "names",
        n_bits: int = 20,
        dtype: Any = "float32",
    ) -> None:
        self.rule = rule
        self.cost = cost
        self.normalize = normalize
        self.C = C
        self.alpha = alpha
        self.eta = eta
        self.average = average
        self.tol = tol
        self.max_passes = max_passes
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
        self._check_rule()
        if self.cost is not None:
            read_cost(self.cost)

    def _settings(self) -> tuple[float, ...]:
        return (self._step,)

    def _new_model(self) -> Any:
        return MODELS[self._dtype](self._core_rule, self.fit_intercept, self.average, self.normalize)

    # -- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, lengths: Any = None) -> Self:
        """Forget everything, then learn from all words.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (r_i, n_features), or of lists of dicts
            A matrix a word; or one matrix, with `lengths`.
        y : list of sequences of labels
            Or all letters in one sequence, with `lengths`.
        sample_weight : array-like of shape (n_words,), optional
            Multiplies each word's C or step; a word of weight 0 is not learned.
        lengths : array-like of int, optional
            How many rows of X each word takes.

        Returns
        -------
        self
        """
        return self._after_fit(self._fit(X, y, sample_weight, lengths=lengths))

    @online_only
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, lengths: Any = None
    ) -> Self:
        """Learn from each word once, in order, one round a word; the same stream in other chunks gives the same bits.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (r_i, n_features), or of lists of dicts
            A matrix a word; or one matrix, with `lengths`.
        y : list of sequences of labels
            Or all letters in one sequence, with `lengths`.
        classes : array-like, optional
            Labels that exist before the first of these words. Without it a label exists from the word in which it
            first appears.
        sample_weight : array-like of shape (n_words,), optional
            Multiplies each word's C or step; a word of weight 0 is scored and not learned.
        lengths : array-like of int, optional
            How many rows of X each word takes.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes, sample_weight, lengths=lengths)

    @online_only
    def learn_one(self, x: Any, y: Any, w: float = 1.0) -> None:
        """Learn from one word.

        Parameters
        ----------
        x : list of dicts of feature name to number or string, or array-like of shape (r, n_features)
        y : sequence of labels
        w : float, default=1.0
            The word's weight.
        """
        self.partial_fit([x], [y], sample_weight=[w])

    @online_only
    def _learn_progressively(self, X: Any, y: Any, **more: Any) -> dict[str, Any]:
        return super()._learn_progressively(X, y, **more)

    def _begin(self) -> None:
        super()._begin()
        self._labels, self._form = Labels(), ARRAYS

    def _read(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = False, lengths: Any = None, **more: Any
    ) -> tuple[Any, Any, np.ndarray | None]:
        content, start = laid_out(X, lengths)
        weights = read_weights(sample_weight, start.size - 1)
        letters = self._read_letters(y, start, flat=lengths is not None)
        if not reset:
            self._admit(letters)  # before new names become features
        return self._read_rows(content, start, reset=reset, learning=True), letters, weights

    def _read_words(self, X: Any, lengths: Any) -> Words:
        return self._read_rows(*laid_out(X, lengths))

    def _read_rows(self, content: Any, start: np.ndarray, *, reset: bool = False, learning: bool = False) -> Words:
        """Return the rows of all words, checked; while learning, new names in dicts become features."""
        if isinstance(content, list) and isinstance(content[0], dict):
            matrix = self._read_tokens(content, start, reset=reset, learning=learning)
            rows = read_rows(Anything(), matrix, self._dtype, self.fit_intercept, reset=True)
        else:
            rows = read_rows(self, content, self._dtype, self.fit_intercept, reset=reset)
        return Words(rows, start, None)

    def _read_tokens(self, tokens: list[Any], start: np.ndarray, *, reset: bool, learning: bool) -> Any:
        """Return dicts as a CSR matrix, once all of their values were looked at."""
        if reset:
            self.n_features_in_, self._reader = 0, None
        reader = self._reader or self._dict_reader()
        for t, token in enumerate(tokens):
            try:
                if not isinstance(token, dict):
                    raise TypeError(f"a {type(token).__name__} stands where the first word has a dict")
                reader.check(token, self._dtype == np.float32)
            except (TypeError, ValueError) as error:
                word = int(np.searchsorted(start, t, side="right")) - 1
                raise type(error)(f"word {word} of X: {error}") from None
        read = [reader.read(token, learning) for token in tokens]
        ends = np.cumsum([0, *(index.size for index, _ in read)])
        if learning:
            self.n_features_in_ = reader.features
        index = np.concatenate([index for index, _ in read])
        values = np.concatenate([values for _, values in read])
        return sparse.csr_matrix((values, index, ends), shape=(len(tokens), max(1, reader.features)))

    def _read_letters(self, y: Any, start: np.ndarray, *, flat: bool) -> Letters:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        words, count = list(y), start.size - 1
        if flat and (len(words) != count or not is_sequence(words[0])):
            if len(words) != start[-1]:
                raise ValueError(f"y has {len(words)} labels, but X has {int(start[-1])} rows")
            letters, form = labels.column_of_labels(y), FLAT
        else:
            if len(words) != count:
                raise ValueError(
                    f"Found input variables with inconsistent numbers of samples: [{count}, {len(words)}] words"
                )
            for i, (word, size) in enumerate(zip(words, np.diff(start), strict=True)):
                if not is_sequence(word):
                    raise ValueError(f"word {i} of y is {word!r}; it must be a sequence of labels")
                if len(word) != size:
                    raise ValueError(f"word {i} of y has {len(word)} letters, but X has {int(size)} rows for it")
            form = form_of(words[0])
            if all(isinstance(word, np.ndarray) and word.dtype.kind == words[0].dtype.kind for word in words):
                letters = labels.column_of_labels(np.concatenate(words))
            else:
                letters = labels.column_of_labels([letter for word in words for letter in word])
        numbers, fresh = labels.number_labels(letters, self._labels)
        return Letters(numbers, fresh, start, form)

    def _know(self, classes: Any, y: Any) -> None:
        if classes is None:
            if len(self._labels) == 0 and (self.cost is not None or self.new_labels != "add"):
                why = "there is a cost" if self.cost is not None else f"new_labels is {self.new_labels!r}"
                raise ValueError(f"classes must be given to the first call when {why}")
            return
        given = [labels.check_label_in_row(label, i) for i, label in enumerate(np.asarray(classes, dtype=object))]
        if len(set(given)) < len(given):
            raise ValueError("classes must differ from one another")
        known = Labels(self._labels.known)
        known.add(sorted_labels(label for label in given if label not in known.number))
        self._labels = known
        self._grow()

    def _settle(self, targets: Letters) -> Letters:
        in_order = Labels(sorted_labels(targets.fresh))
        to = np.array([in_order.number[label] for label in targets.fresh], dtype=np.int32)
        self._labels = in_order
        self._grow()
        return replace(targets, numbers=to[targets.numbers], fresh=[])

    def _admit(self, targets: Letters) -> Letters:
        if targets.fresh and (self.new_labels == "error" or self.cost is not None):
            at = int(np.argmax(targets.numbers == len(self._labels)))
            word = int(np.searchsorted(targets.start, at, side="right")) - 1
            why = "of which cost says nothing" if self.cost is not None else "which is not in classes_"
            raise ValueError(f"word {word} of y has the label {targets.fresh[0]!r}, {why}")
        return targets

    def _grow(self) -> None:
        self._model.grow(self._model.features, len(self._labels))
        if self.cost is not None:
            cost = read_cost(self.cost)
            if len(cost) != len(self._labels):
                raise ValueError(
                    f"cost has {len(cost)} rows for {len(self._labels)} classes: it needs a row and a column for each"
                )
            self._model.set_cost(np.ascontiguousarray(cost.T))

    def _learn(self, x: Words, targets: Letters, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        known = Labels(self._labels.known)
        known.add(targets.fresh)
        self._labels = known
        self._model.grow(self.n_features_in_, self._model.outputs)
        self._form = targets.form
        if self.rule == "svm":
            caps = self._caps(weights, x.count)
            passes, primal, dual, hinge = self._model.solve(
                x.rows, x.start, x.order, targets.numbers, caps, float(self.tol), int(self.max_passes)
            )
            wrong = float(np.sum(x.sums(self._answers(x) != targets.numbers) > 0))
            self._note_solution(x.count, passes, primal, dual, hinge, caps, wrong)
            warn_if_open(self, primal, dual)
        elif self.rule == "erm":
            self._separate(x, targets, weights)
        else:
            self._model.learn(x.rows, x.start, x.order, targets.numbers, weights, *self._set, **trace)

    def _separate(self, x: Words, targets: Letters, weights: np.ndarray | None) -> None:
        """Find weights that put the right word first everywhere, or raise."""
        kept = np.ones(x.count, dtype=bool) if weights is None else weights > 0
        model, cells = self._model, int(self._model.cells)

        def rivals(w: np.ndarray, below: float) -> tuple[np.ndarray, Any]:
            model.write(w)
            which, start, index, values = model.rivals(x.rows, x.start, targets.numbers, below)
            matrix = sparse.csr_matrix((values, index, start), shape=(which.size, cells))
            return which[kept[which]], matrix[kept[which]]

        w, margin = separate(cells, rivals, np.arange(x.count), what="words")
        model.write(w)
        self._solved = {"examples": float(x.count), "passes": 1.0, "margin": margin}

    def _room_for_answers(self, rounds: int, targets: Letters) -> dict[str, np.ndarray]:
        self._start_of_room = targets.start
        return {"answer": np.zeros(targets.numbers.size, dtype=np.int32)}

    def _answers_from(self, room: dict[str, np.ndarray]) -> Any:
        start = self.__dict__.pop("_start_of_room")
        return self._in_form(room["answer"], start, ARRAYS if self._form == FLAT else self._form)

    # -- answers ----------------------------------------------------------------------------------------------------

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """Answer each word, in the form in which targets were given: arrays, lists, strings, or one flat array.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (r_i, n_features), or of lists of dicts
            A matrix a word; or one matrix, with `lengths`.
        lengths : array-like of int, optional

        Returns
        -------
        list of sequences of labels, or array
        """
        check_is_fitted(self)
        x = self._read_words(X, lengths)
        return self._in_form(self._answers(x), x.start, self._form if lengths is not None else self._word_form)

    @property
    def _word_form(self) -> str:
        return ARRAYS if self._form == FLAT else self._form

    def _answers(self, x: Words) -> np.ndarray:
        out = np.empty(int(x.start[-1]), dtype=np.int32)
        self._model.answer(x.rows, x.start, out)
        return out

    def predict_one(self, x: Any) -> Any:
        """Answer one word; None before anything was learned.

        Parameters
        ----------
        x : list of dicts of feature name to number or string, or array-like of shape (r, n_features)
        """
        if self._model is None or len(self._labels) == 0:
            return None
        return self.predict([x])[0]

    def decision_function(self, X: Any, lengths: Any = None) -> list[np.ndarray]:
        """Score every letter at every place by the best word that has it there.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (r_i, n_features), or of lists of dicts
        lengths : array-like of int, optional

        Returns
        -------
        list of arrays of shape (r_i, n_classes)
            The largest entry of each row is the score of the best word.
        """
        check_is_fitted(self)
        x = self._read_words(X, lengths)
        out = np.empty((int(x.start[-1]), len(self._labels)), dtype=self._dtype)
        self._model.best_through(x.rows, x.start, out)
        return [out[a:b] for a, b in pairwise(x.start)]

    def predict_top(self, X: Any, top: int = 1, lengths: Any = None) -> list[list[tuple[Any, float]]]:
        """List the best words with their scores, best first.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (r_i, n_features), or of lists of dicts
        top : int, default=1
            How many for each.
        lengths : array-like of int, optional
        """
        if top < 1:
            raise ValueError(f"top must be at least 1, got {top!r}")
        check_is_fitted(self)
        x = self._read_words(X, lengths)
        out = []
        for a, b in pairwise(x.start.tolist()):
            scores, paths = self._model.best(x.rows, a, b, top)
            words = self._in_form(paths.ravel(), np.arange(len(scores) + 1) * (b - a), self._word_form)
            out.append(list(zip(words, scores.tolist(), strict=True)))
        return out

    def margins(self, X: Any, lengths: Any = None) -> np.ndarray:
        """Return by how much the best word of each beats the second best: how sure the answer is.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (r_i, n_features), or of lists of dicts
        lengths : array-like of int, optional

        Returns
        -------
        array of shape (n_words,)
            Infinite where there is only one word to choose from.
        """
        ranked = self.predict_top(X, 2, lengths)
        return np.array([best[0][1] - best[1][1] if len(best) > 1 else inf for best in ranked])

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, lengths: Any = None) -> float:
        """Return the share of letters that are right.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (r_i, n_features), or of lists of dicts
        y : list of sequences of labels
        sample_weight : array-like of shape (n_words,), optional
        lengths : array-like of int, optional

        Returns
        -------
        float
        """
        check_is_fitted(self)
        x = self._read_words(X, lengths)
        weights = read_weights(sample_weight, x.count)
        truth = self._read_letters(y, x.start, flat=lengths is not None)
        right = x.sums(self._answers(x) == truth.numbers)
        sizes = np.diff(x.start)
        return float(np.average(right / sizes, weights=sizes if weights is None else weights * sizes))

    def _in_form(self, numbers: np.ndarray, start: np.ndarray, form: str) -> Any:
        letters = self._labels.classes[numbers] if len(self._labels) else np.empty(numbers.size, dtype=object)
        if form == FLAT:
            return letters
        words = [letters[a:b] for a, b in pairwise(start)]
        if form == ARRAYS:
            return words
        return ["".join(word) for word in words] if form == STRINGS else [word.tolist() for word in words]

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> np.ndarray:
        """The letters."""
        self._learned("classes_")
        return self._labels.classes

    @property
    def coef_(self) -> np.ndarray:
        """The weights of the features, one row a letter."""
        return self._learned("coef_").emissions()

    @property
    def intercept_(self) -> np.ndarray:
        """The weights of the constant feature."""
        return self._learned("intercept_").intercepts()

    @property
    def transitions_(self) -> np.ndarray:
        """The scores of neighbours."""
        return self._learned("transitions_").transitions()

    def _learned(self, name: str) -> Any:
        if self._model is None:
            raise AttributeError(f"{name} exists once something was learned")
        return self._model

    # -- files ------------------------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        state, sections = super()._state()
        return state | {"labels": list(self._labels.known), "form": self._form}, sections

    def _restore(self, state: Mapping[str, Any], sections: dict[str, np.ndarray]) -> None:
        super()._restore(state, sections)
        self._labels, self._form = Labels(state["labels"]), state["form"]
        if self._form not in (ARRAYS, LISTS, STRINGS, FLAT):
            raise ValueError(f"the targets' form {self._form!r} is unknown")
        cells = max((section.shape[0] for section in sections.values() if section.ndim == 2), default=0)
        if self.n_features_in_ * max(1, len(self._labels)) > cells:
            raise ValueError(f"{self.n_features_in_} features, {len(self._labels)} letters, but no section is as long")
        self._model.grow(self.n_features_in_, 0)
        if len(self._labels):
            self._grow()
        self._model.restore(sections)

    def _copy_learned(self, other: Self) -> None:
        super()._copy_learned(other)
        self._labels = Labels(other._labels.known)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "sequence"
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


@dataclass(frozen=True)
class Words:
    """The rows of all words, where each word starts, and the order in which they are taken."""

    rows: Any
    start: np.ndarray
    order: np.ndarray | None

    @property
    def count(self) -> int:
        return self.start.size - 1 if self.order is None else self.order.size

    def take(self, order: np.ndarray) -> Words:
        return replace(self, order=np.ascontiguousarray(order, dtype=np.int64))

    def sums(self, by_row: np.ndarray) -> np.ndarray:
        """Add up over the rows of each word."""
        return np.add.reduceat(by_row.astype(np.int64), self.start[:-1])


@dataclass(frozen=True)
class Letters:
    """The letters of all words as numbers, by row; new ones have the numbers after the known."""

    numbers: np.ndarray
    fresh: list[Any]
    start: np.ndarray
    form: str

    def take(self, order: np.ndarray) -> Letters:
        """Return the letters as they are: they lie beside the rows, which another order leaves where they are."""
        return self


class Anything:
    """Stands for an estimator where the names of the features were already looked up."""


def laid_out(X: Any, lengths: Any) -> tuple[Any, np.ndarray]:
    """Return all rows, one word below the other, as a matrix or as a list of dicts; and where each word starts."""
    if lengths is not None:
        sizes = np.asarray(lengths)
        if sizes.ndim != 1 or sizes.size == 0 or sizes.dtype.kind not in "iu":
            raise ValueError("lengths must be a sequence of whole numbers, one a word")
        start, count = starts_of(sizes.tolist()), X.shape[0] if hasattr(X, "shape") else len(X)
        if count != start[-1]:
            raise ValueError(f"X has {count} rows, but the lengths of the words add up to {int(start[-1])}")
        return (list(X) if isinstance(X, tuple) else X), start
    if isinstance(X, np.ndarray) and X.ndim == 3:
        X = list(X)
    if not isinstance(X, list | tuple) or len(X) == 0:
        raise ValueError("X must be a list with a matrix, or a list of dicts, for each word; or give lengths")
    parts = [word if hasattr(word, "shape") else list(word) for word in X]
    start = starts_of([part.shape[0] if hasattr(part, "shape") else len(part) for part in parts])
    if isinstance(parts[0], list) and isinstance(parts[0][0], dict):
        return [token for part in parts for token in part], start
    return stacked(parts), start


def starts_of(sizes: Sequence[int]) -> np.ndarray:
    for i, size in enumerate(sizes):
        if size < 1:
            raise ValueError(f"word {i} of X has length {size}; a word has one letter at least")
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def stacked(parts: list[Any]) -> Any:
    """Return matrices as one, one below the other; ValueError where their widths differ."""
    parts = [part if hasattr(part, "shape") else np.asarray(part) for part in parts]
    for i, part in enumerate(parts):
        if len(part.shape) != 2:
            raise ValueError(f"word {i} of X has shape {part.shape}; it must be a matrix with a row a letter")
        if part.shape[1] != parts[0].shape[1]:
            raise ValueError(f"word {i} of X has {part.shape[1]} features, but word 0 has {parts[0].shape[1]}")
        values = part.data if sparse.issparse(part) else np.asarray(part)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values).all(axis=1))) if values.ndim == 2 else None
            where = f"word {i}" if row is None else f"word {i}, row {row}"
            raise ValueError(f"Input X contains NaN or infinity in {where}: fill it in or drop the word")
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack([sparse.csr_matrix(part) for part in parts], format="csr")
    return np.concatenate([np.asarray(part) for part in parts])


def is_sequence(word: Any) -> bool:
    return isinstance(word, list | tuple | str) or getattr(word, "ndim", 0) == 1


def form_of(word: Any) -> str:
    """Say in which form a word of y is given."""
    if isinstance(word, str):
        return STRINGS
    return LISTS if isinstance(word, list | tuple) else ARRAYS
