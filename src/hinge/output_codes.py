"""Many labels by few binary tasks: each label has a codeword, and the tasks that learn its bits share one loss.

A round is in error where another label is decoded. Ties go to the label that comes first in ``classes_``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from hinge import codes, labels
from hinge.base import Dicts, LabelLearner, OnlineEstimator, check_dtype
from hinge.certificate import Certificate
from hinge.json_values import decode_value, encode_value
from hinge.labels import Labels, Targets
from hinge.tasks import MODELS, PARAMETERS, certificate_of, norm_of, numbers_of

__all__ = ["OutputCodeClassifier"]


class OutputCodeClassifier(ClassifierMixin, LabelLearner):
    """Classify by a code whose bits are parallel tasks with a shared loss.

    Label y has the codeword ``m_y`` in {-1, 1}^k. Task j learns its bit ``m_yj`` from the score ``<w_j, x>`` and the
    loss ``l_j = max(0, 1 - m_yj <w_j, x>)``; the loss of a round is ``||l||``, and the updates are those of
    `MultitaskClassifier`. A code of distance d corrects ``(d - 1) // 2`` wrong bits, so that only the d/2 largest
    losses need to be small: ``norm=RMax(d // 2)``.

    Parameters
    ----------
    code : {"hadamard", "one-vs-rest", "binary", "random"} or array of shape (n_labels, n_columns), default="hadamard"
        Every column that starts with 1 up to seven labels, and rows of a Sylvester matrix beyond; a column a label; the
        bits of a label's number; random columns, ten a bit; or a matrix of -1 and 1 with rows in the order of
        ``classes_``.
    norm : {"l2", "l1", "linf"}, PNorm, RMax or Interpolated, default="l2"
        Of the losses of a round; see `hinge.norms`.
    update : {"implicit", "infinite", "finite"}, default="implicit"
        As in `MultitaskClassifier`.
    decoding : {"hamming", "margin"}, default="hamming"
        The label whose codeword agrees with most signs of the scores, or whose margins have the largest sum.
    C : float, default=0.1
        The most that the dual norm of a round's steps may be. Smaller than elsewhere, because many columns of a code
        are questions that no linear rule answers: each round pulls at them.
    radius : float, optional
        R, a bound on the length of the instances, for the infinite update and for `horizon`.
    horizon : float, optional
        The number of rounds to come, T: then C is ``1 / (sqrt(T) R^2)``.
    max_iter : int, default=1
        Passes that `fit` makes.
    shuffle : bool, default=False
        Whether `fit` takes the rows in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle` and the random code.
    fit_intercept : bool, default=True
        Whether every row has a feature more, which is 1.
    new_labels : {"add", "error", "ignore"}, default="add"
        What to do with a label that is new in a later call. A new label adds a row to the code, and columns where these
        are needed; a matrix has rows for its labels only.
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
    code_ : array of shape (n_labels, n_columns)
        Their codewords.
    code_distance_ : int
        The least number of bits in which two codewords differ.
    coef_ : array of shape (n_columns, n_features_in_)
        The weights of the tasks.
    intercept_ : array of shape (n_columns,)
        Zeros without an intercept.
    n_features_in_ : int
        How many features there are.
    t_ : int
        Rounds so far.
    n_iter_ : int
        Passes that `fit` made.
    certificate_ : Certificate
        What is proven about the stream so far.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import OutputCodeClassifier
    >>> from hinge.norms import RMax
    >>> X, y = np.eye(5), np.array(["a", "b", "c", "d", "e"])
    >>> model = OutputCodeClassifier(norm=RMax(4), max_iter=10).fit(X, y)
    >>> model.predict(X)
    array(['a', 'b', 'c', 'd', 'e'], dtype='<U1')
    >>> model.code_.shape, model.code_distance_
    ((5, 15), 8)

    References
    ----------
    O. Dekel, P. M. Long and Y. Singer, "Online learning of multiple tasks with a shared loss", 2007, section 8.
    T. G. Dietterich and G. Bakiri, "Solving multiclass learning problems via error-correcting output codes", 1995.
    """

    _structure: ClassVar[tuple[str, ...]] = (
        "code", "norm", "update", "fit_intercept", "features", "n_bits", "dtype",
    )  # fmt: skip
    _seen: ClassVar[tuple[str, ...]] = ("loss", "error", "task_errors", "dual")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "code": [StrOptions(set(codes.NAMES)), "array-like"],
        "decoding": [StrOptions({"hamming", "margin"})],
        "new_labels": [StrOptions({"add", "error", "ignore"})],
        **PARAMETERS,
    }

    def __init__(
        self,
        code: Any = "hadamard",
        norm: Any = "l2",
        update: str = "implicit",
        *,
        decoding: str = "hamming",
        C: float = 0.1,
        radius: float | None = None,
        horizon: float | None = None,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: Any = None,
        fit_intercept: bool = True,
        new_labels: str = "add",
        features: str = "names",
        n_bits: int = 20,
        dtype: Any = "float32",
    ) -> None:
        self.code = code
        self.norm = norm
        self.update = update
        self.decoding = decoding
        self.C = C
        self.radius = radius
        self.horizon = horizon
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.new_labels = new_labels
        self.features = features
        self.n_bits = n_bits
        self.dtype = dtype

    _known = 0  # labels that were known beforehand
    _ever = 0  # rows of the code that were ever a label's
    _words: tuple[int, ...] = ()  # which of these each label has
    _seed = 0  # of the random code
    _code = np.empty((0, 0), dtype=np.int8)  # the labels' rows

    # -- parameters and the code ------------------------------------------------------------------------------------

    def _check_combination(self) -> None:
        check_dtype(self)
        if not isinstance(self.code, str):
            codes.check_code(self.code)

    def _settings(self) -> tuple[float, ...]:
        return float(self.C), float(self.radius or 0), float(self.horizon or 0)

    def _new_model(self) -> Any:
        return MODELS[self._dtype](self.update, numbers_of(self.norm), "codewords", True, self.fit_intercept)

    def _begin(self) -> None:
        super()._begin()
        self._known, self._ever, self._words, self._seed = 0, 0, (), 0
        if self._is_random:  # a copy draws, so that shuffling is the same with a seed and with a RandomState
            self._seed = int(deepcopy(check_random_state(self.random_state)).randint(2**31 - 1))
        self._code = self._code_of((), 0)

    @property
    def _is_random(self) -> bool:
        return isinstance(self.code, str) and self.code == "random"

    def _code_of(self, words: tuple[int, ...], ever: int) -> codes.Code:
        kind = self.code if isinstance(self.code, str) else codes.check_code(self.code)
        return np.ascontiguousarray(codes.table(kind, self._known, ever, self._seed)[list(words)])

    def _add_words(self, count: int) -> None:
        """Give codewords to labels that are new."""
        self._words = (*self._words, *range(self._ever, self._ever + count))
        self._ever += count
        self._code = self._code_of(self._words, self._ever)
        self._model.grow(self._model.features, self._code.shape[1])

    def _grow(self) -> None:
        if self._ever == 0 and self.t_ == 0:
            self._known = len(self._labels)
        self._check_words(len(self._labels) - len(self._words))
        self._add_words(len(self._labels) - len(self._words))

    def _check_words(self, count: int) -> None:
        """Raise where the code has no rows, or too few columns for the norm, with so many labels more."""
        if not isinstance(self.code, str) and self._ever + count > len(self.code):
            raise ValueError(f"code has {len(self.code)} rows, one a label, but there are {self._ever + count} labels")
        columns = self._code.shape[1] if self._is_random else self._code_of((), self._ever + count).shape[1]
        if columns > 0:
            norm_of(self.norm).dual_remoteness(columns)

    @property
    def _now(self) -> tuple[Any, ...]:
        columns = self._code.shape[1]
        return (*self._set, norm_of(self.norm).dual_remoteness(columns) if columns else 1.0)

    @property
    def _by_margin(self) -> bool:
        return bool(self.decoding == "margin")

    # -- learning ---------------------------------------------------------------------------------------------------

    def _read_y(self, y: Any, rounds: int) -> Targets:
        targets = super()._read_y(y, rounds)
        if targets.form != labels.LABELS:
            raise ValueError("Unknown label type: y must be one label a row, not sets or an indicator matrix")
        return targets

    def _admit(self, targets: Targets) -> Targets:
        targets = super()._admit(targets)
        for i, label in enumerate(targets.fresh):
            try:
                self._check_words(i + 1)
            except ValueError as error:
                row = targets.first_row_of(len(self._labels) + i)
                raise ValueError(f"row {row} of y has the new label {label!r}: {error}") from None
        return targets

    def _learn_rows(self, x: Any, targets: Targets, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        trace.pop("cut", None)
        fits = trace.pop("scores", None)
        exist = np.maximum.accumulate(np.maximum(targets.label + 1, len(self._words)))
        starts = np.flatnonzero(np.diff(exist, prepend=-1)).tolist()
        for start, stop in zip(starts, [*starts[1:], x.count], strict=True):
            if exist[start] > len(self._words):
                self._add_words(int(exist[start]) - len(self._words))
            some = None if weights is None else weights[start:stop]
            room = {name: part[start:stop] for name, part in trace.items()}
            if fits is not None:
                room["scores"] = np.empty((stop - start, self._code.shape[1]), dtype=self._dtype)
            label = np.ascontiguousarray(targets.label[start:stop])
            self._model.learn_labels(x, start, stop, label, self._code, self._by_margin, some, *self._now, **room)
            if fits is not None:
                fits[start:stop, : len(self._code)] = self._fits(room["scores"])

    def _learn_dict(self, reader: Any, x: dict[str, Any], targets: Targets, w: float) -> None:
        self._learn_number(reader, x, int(targets.label[0]), w)

    def _learn_number(self, reader: Any, x: dict[str, Any], label: int, w: float) -> None:
        if label >= len(self._words):
            self._add_words(label + 1 - len(self._words))
        self._model.learn_one_label(reader, x, label, self._code, self._by_margin, w, *self._now)

    def _learn_example(self, reader: Any, x: dict[str, Any], y: Any, w: float) -> None:
        number = self._labels.number.get(y) if y.__hash__ else None
        if number is not None:
            self._learn_number(reader, x, number, w)
            return
        targets = self._admit(self._read_y([y], 1))
        reader.check(x, self._dtype == np.float32)
        self._learn_dict(reader, x, targets, w)
        self._labels.add(targets.fresh)

    def remove_labels(self, old: Iterable[Any]) -> Self:
        """Forget labels: they are not decoded any more; the tasks, and their columns of the code, stay.

        The certificate proves nothing about a stream from which labels were removed.

        Parameters
        ----------
        old : iterable of labels
        """
        check_is_fitted(self)
        gone = [labels.check_label(label) for label in old]
        for label in gone:
            if label not in self._labels.number:
                raise ValueError(f"{label!r} is not in classes_")
        self._labels = Labels(self._labels.known)
        for label in dict.fromkeys(gone):
            at = self._labels.remove(label)
            self._words = (*self._words[:at], *self._words[at + 1 :])
            self._removed = True
        self._code = self._code_of(self._words, self._ever)
        return self

    # -- answers ----------------------------------------------------------------------------------------------------

    def _fits(self, scores: np.ndarray) -> np.ndarray:
        """Return how well scores of the tasks fit each label."""
        out = np.empty((len(scores), len(self._code)))
        self._model.decode(scores, self._code, self._by_margin, out)
        return out

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        x = self._read_x(X)
        if isinstance(x, Dicts):
            return self._fits(np.stack([self._model.score_one([x.reader], [row]) for row in x.X]))
        scores = np.empty((x.count, self._code.shape[1]), dtype=self._dtype)
        self._model.score([x], scores)
        return self._fits(scores)

    def predict(self, X: Any) -> np.ndarray:
        """Decode the label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        array of labels
        """
        check_is_fitted(self)
        if len(self._labels) == 0:
            raise NotFittedError("no label is known yet; learn from a row that has one")
        return labels.answer_labels(self._scores(X).argmax(axis=1), self._labels)

    def predict_one(self, x: dict[str, float | str]) -> Any:
        """Decode the label of one example; None before anything was learned.

        Parameters
        ----------
        x : dict of feature name to number or string
            Names that were never learned are left out.
        """
        if self._model is None or len(self._labels) == 0:
            return None
        scores = self._model.score_one([self._reader_of(x)], [x])
        return self._labels.known[int(self._fits(scores[None]).argmax())]

    def _trace_answer(self, t: int, reader: Any, x: dict[str, Any], room: dict[str, np.ndarray]) -> None:
        if len(self._code):
            room["scores"][t, : len(self._code)] = self._fits(self._model.score_one([reader], [x])[None])[0]

    # -- what was learned -------------------------------------------------------------------------------------------

    def _learned(self, name: str) -> Any:
        if self._model is None:
            raise AttributeError(f"{name} exists once something was learned")
        return self._model

    @property
    def coef_(self) -> np.ndarray:
        """The weights of the tasks, one row a column of the code."""
        return self._learned("coef_").weights()

    @property
    def intercept_(self) -> np.ndarray:
        """The weights of the constant feature."""
        return self._learned("intercept_").intercepts()

    @property
    def code_(self) -> np.ndarray:
        """The codewords, one row a label."""
        self._learned("code_")
        return self._code.copy()

    @property
    def code_distance_(self) -> int:
        """The least number of bits in which two codewords differ."""
        self._learned("code_distance_")
        return codes.distance(self._code)

    @property
    def certificate_(self) -> Certificate:
        """What is proven about the stream so far; a mistake is a round in which another label is decoded."""
        book = self._learned("certificate_").ledger()
        if self._removed:
            book |= {"dual": -inf, "least_gain": 0.0}
        return certificate_of(book, self._dtype, self._code.shape[1], float(self.C))

    # -- files ------------------------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        state, sections = OnlineEstimator._state(self)
        state |= {
            "labels": list(self._labels.known),
            "fixed": self._fixed,
            "removed": self._removed,
            "code": {"parts": encode_value([self._known, self._ever, self._seed, list(self._words)])},
        }
        return state, sections

    def _restore(self, state: Mapping[str, Any], sections: dict[str, np.ndarray]) -> None:
        OnlineEstimator._restore(self, state, sections)
        self._labels = Labels(state["labels"])
        self._fixed, self._removed = state["fixed"] is True, state["removed"] is True
        self._known, self._ever, self._seed, words = decode_value(state["code"]["parts"], "code")
        self._words = tuple(words)
        weights = sections["weights"]
        if len(words) != len(self._labels) or self.n_features_in_ > len(weights) or self._ever > 2**20:
            raise ValueError(f"{len(words)} codewords and {self.n_features_in_} features do not fit the sections")
        self._code = self._code_of(self._words, self._ever)
        if self._code.shape[1] != weights.shape[1]:
            raise ValueError(f"the code has {self._code.shape[1]} columns, the weights {weights.shape[1]}")
        self._model.grow(self.n_features_in_, self._code.shape[1])
        self._model.restore(sections)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
