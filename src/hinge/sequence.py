"""Sequences: a word of letters, each with features, and transitions between neighbours (MATH.md E).

``cost[i, j]`` is the cost of answering ``classes_[i]`` where ``classes_[j]`` is true; the costs of a word's letters add
up. Margins are right minus wrong; another word that scores as much as the right one is a mistake. Ties go to the word
whose last letter comes first in ``classes_``, then to the letter before it, and so on.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from dataclasses import replace
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
from hinge.costs import read_cost
from hinge.labels import Labels
from hinge.oracles import RuleLearner, online_only, warn_if_open
from hinge.rows import read_rows, read_weights
from hinge.separation import separate
from hinge.words import ARRAYS, FLAT, FORMS, Letters, Words, check_tokens, in_form, laid_out, read_letters

__all__ = ["SequenceClassifier"]

MODELS = {np.dtype(np.float32): _core.SequenceFloat32, np.dtype(np.float64): _core.SequenceFloat64}


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
        Whether `fit` takes the words in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    fit_intercept : bool, default=True
        Whether every letter has a feature more, which is 1.
    new_labels : {"add", "error", "ignore"}, default="add"
        What to do with a letter that is new in a later call. A word with a letter that is ignored is a round that asks
        for nothing.
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
        "new_labels": [StrOptions({"add", "error", "ignore"})],
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
        letters = read_letters(y, start, self._labels, flat=lengths is not None)
        if not reset:
            self._admit(letters)  # before new names become features
        return self._read_rows(content, start, reset=reset, learning=True), letters, weights

    def _read_words(self, X: Any, lengths: Any) -> Words:
        return self._read_rows(*laid_out(X, lengths))

    def _read_rows(self, content: Any, start: np.ndarray, *, reset: bool = False, learning: bool = False) -> Words:
        """Return the rows of all words, checked; while learning, new names in dicts become features."""
        if not (isinstance(content, list) and isinstance(content[0], dict)):
            return Words(read_rows(self, content, self._dtype, self.fit_intercept, reset=reset), start)
        if reset:
            self.n_features_in_, self._reader = 0, None
        reader = self._reader or self._dict_reader()
        float32 = self._dtype == np.float32
        check_tokens(reader, content, start, float32=float32)
        rows = reader.rows(content, learning, self.fit_intercept, float32)
        if learning:
            self.n_features_in_ = reader.features
        return Words(rows, start)

    def _know(self, classes: Any, y: Any) -> None:
        if classes is None:
            if len(self._labels) == 0 and (self.cost is not None or self.new_labels != "add"):
                why = "there is a cost" if self.cost is not None else f"new_labels is {self.new_labels!r}"
                raise ValueError(f"classes must be given to the first call when {why}")
            return
        given = [labels.check_label_in_row(label, i) for i, label in enumerate(classes)]
        if len(set(given)) < len(given):
            raise ValueError("classes must differ from one another")
        self._let_exist(sorted_labels(label for label in given if label not in self._labels.number))

    def _let_exist(self, letters: list[Any]) -> None:
        known = Labels(self._labels.known)
        known.add(letters)
        self._labels = known
        self._grow()

    def add_labels(self, new: Iterable[Any]) -> Self:
        """Let letters exist from now on, before any word has them.

        Parameters
        ----------
        new : iterable of labels
            Those that exist already are left as they are.
        """
        self._check_params()
        letters = [labels.check_label(label) for label in new]
        if self.cost is not None:
            raise ValueError("the letters cannot change where there is a cost, which speaks of all of them")
        if self._model is None:
            self._begin()
        self._let_exist(letters)
        return self

    def _settle(self, targets: Letters) -> Letters:
        in_order = Labels(sorted_labels(targets.fresh))
        to = np.array([in_order.number[label] for label in targets.fresh], dtype=np.int32)
        self._labels = in_order
        self._grow()
        return replace(targets, numbers=to[targets.numbers], fresh=[])

    def _admit(self, targets: Letters) -> Letters:
        if not targets.fresh:
            return targets
        if self.new_labels == "ignore":
            return targets.without_fresh(len(self._labels))
        if self.new_labels == "error" or self.cost is not None:
            word = targets.word_of(int(np.argmax(targets.numbers == len(self._labels))))
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
        return in_form(room["answer"], start, self._word_form, self._labels)

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
        form = self._form if lengths is not None else self._word_form
        return in_form(self._answers(x), x.start, form, self._labels)

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
        if not isinstance(top, numbers.Integral) or top < 1:
            raise ValueError(f"top must be a whole number, at least 1, got {top!r}")
        check_is_fitted(self)
        x = self._read_words(X, lengths)
        out = []
        for a, b in pairwise(x.start.tolist()):
            scores, paths = self._model.best(x.rows, a, b, top)
            words = in_form(paths.ravel(), np.arange(len(scores) + 1) * (b - a), self._word_form, self._labels)
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
        truth = read_letters(y, x.start, self._labels, flat=lengths is not None)
        right = x.sums(self._answers(x) == truth.numbers)
        sizes = np.diff(x.start)
        return float(np.average(right / sizes, weights=sizes if weights is None else weights * sizes))

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
        if self._form not in FORMS:
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
