"""What estimators share whose answers are labels or sets of labels: ``classes_``, new labels, targets, answers.

The labels (``_labels``) are known by number to the model of the core; a label's number never changes, unless labels
before it are removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from hinge import labels
from hinge.dicts import Dicts
from hinge.estimator import OnlineEstimator
from hinge.labels import Labels, Targets, read_targets, sort_labels, sorted_labels

__all__ = ["LabelLearner"]


class LabelLearner(OnlineEstimator):
    """What estimators share whose answers are labels or sets of labels."""

    _labels: Labels
    _form = labels.LABELS
    _fixed = False  # the labels were known before the first round
    _removed = False

    # -- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn from all rows, in order, `max_iter` times.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts
        y : array-like of labels, list of sets, or indicator matrix
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies each round's C; a row of weight 0 is not learned.

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
        y : array-like of labels, list of sets, or indicator matrix
        classes : array-like, optional
            Labels that exist before the first of these rows. Without it a label exists from the row in which it
            first appears.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies each round's C; a row of weight 0 is scored and not learned.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes, sample_weight)

    def _begin(self) -> None:
        super()._begin()
        self._labels = Labels()
        self._fixed, self._removed, self._form = False, False, labels.LABELS

    def _read_y(self, y: Any, rounds: int) -> Targets:
        return read_targets(y, self._labels, rounds)

    def _know(self, classes: Any, y: Any) -> None:
        known = self._read_classes(classes, y)
        self._labels = Labels(self._labels.known)
        self._labels.add(known)
        self._fixed = self._fixed or (self.t_ == 0 and len(self._labels) > 0)

    def _read_classes(self, classes: Any, y: Any) -> list[Any]:
        """Return `classes` as plain labels: in order, or as given where they name the columns of an indicator."""
        form = labels.form_of(y)
        if classes is None:
            if self.new_labels != "add" and len(self._labels) == 0 and form in (labels.LABELS, labels.SETS):
                raise ValueError(f"classes must be given to the first call when new_labels is {self.new_labels!r}")
            return []
        given = [labels.check_label_in_row(label, i) for i, label in enumerate(np.asarray(classes, dtype=object))]
        if len(set(given)) < len(given):
            raise ValueError("classes must differ from one another")
        fresh = [label for label in given if label not in self._labels.number]
        return fresh if form in labels.INDICATORS else sorted_labels(fresh)

    def _settle(self, targets: Targets) -> Targets:
        self._labels, targets = sort_labels(targets)
        self._fixed, self._form = True, targets.form
        self._grow()
        return targets

    def _admit(self, targets: Targets) -> Targets:
        """Do with labels that are new what `new_labels` says; the columns of an indicator exist at once."""
        if not targets.fresh:
            return targets
        if targets.form in labels.INDICATORS:
            self._fixed = self._fixed or self.t_ == 0
            self._labels.add(targets.fresh)
            self._grow()
            return targets._replace(fresh=[])
        if self.new_labels == "add":
            return targets
        if self.new_labels == "ignore":
            return targets.without_fresh(len(self._labels))
        row, label = targets.first_row_of(len(self._labels)), targets.fresh[0]
        raise ValueError(f"row {row} of y has the label {label!r}, which is not in classes_ (new_labels='error')")

    def _grow(self) -> None:
        """Let the model have every label that is known."""
        self._model.grow(self._model.features, len(self._labels))

    def _learn(self, x: Any, targets: Targets, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        self._grow()  # not before: a call that is refused must leave the model as it is
        self._labels.add(targets.fresh)
        super()._learn(x, targets, weights, **trace)
        self._form = targets.form

    def _learn_rows(self, x: Any, targets: Targets, weights: np.ndarray | None, **trace: np.ndarray) -> None:
        self._model.learn(
            x, targets.start, targets.label, targets.are_sets, targets.exist, weights, *self._set, **trace
        )

    def _learn_dict(self, reader: Any, x: dict[str, Any], targets: Targets, w: float) -> None:
        if targets.start is None:
            self._model.learn_one_label(reader, x, int(targets.label[0]), w, *self._set)
        else:
            exist = 0 if targets.exist is None else int(targets.exist[0])
            self._model.learn_one(reader, x, targets.label, exist, w, *self._set)

    def _learn_example(self, reader: Any, x: dict[str, Any], y: Any, w: float) -> None:
        number = self._labels.number.get(y) if y.__hash__ else None
        if number is not None:
            self._model.learn_one_label(reader, x, number, w, *self._set)
            self._form = labels.LABELS
            return
        targets = self._admit(self._read_y([y], 1))
        if targets.fresh:  # a thread that asks may meet the new output at once: its label is there before it
            reader.check(x, self._dtype == np.float32)
            self._labels.add(targets.fresh)
        self._learn_dict(reader, x, targets, w)
        self._form = targets.form

    def _room_for_answers(self, rounds: int, targets: Targets) -> dict[str, np.ndarray]:
        width = len(self._labels) + len(targets.fresh)
        return {"scores": np.full((rounds, width), -inf, dtype=self._dtype), "cut": np.empty(rounds)}

    def _trace_answer(self, t: int, reader: Any, x: dict[str, Any], room: dict[str, np.ndarray]) -> None:
        if self._model.outputs:
            scores = self._model.score_one(reader, x)
            room["scores"][t, : scores.size] = scores
        room["cut"][t] = self._model.cut_one(reader, x) if self._model.has_cut else np.nan

    def _answers_from(self, room: dict[str, np.ndarray]) -> Any:
        scores = room["scores"]
        if self._form == labels.LABELS:
            return labels.answer_labels(scores.argmax(axis=1), self._labels)
        inside = scores > np.nan_to_num(room["cut"], nan=inf)[:, None]
        return labels.answer_sets(inside, self._form, self._labels)

    def _scores_from(self, room: dict[str, np.ndarray], targets: Targets) -> dict[str, np.ndarray]:
        scores = room["scores"].astype(np.float64)
        exists = scores > -inf
        below = np.where(exists, scores, inf).min(axis=1, keepdims=True) - 1  # where a label is that does not exist yet
        return {"scores": np.where(exists, scores, np.minimum(below, 0)), "relevant": targets.indicator(scores.shape)}

    # -- labels -----------------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> np.ndarray:
        """The labels, in the order of the columns."""
        if self._model is None:
            raise AttributeError("no labels are known yet")
        return self._labels.classes

    def add_labels(self, new: Iterable[Any]) -> Self:
        """Let labels exist from now on, before any row has them.

        Parameters
        ----------
        new : iterable of labels
            Those that exist already are left as they are.
        """
        self._check_params()
        new = [labels.check_label(label) for label in new]
        if self._model is None:
            self._begin()
        self._labels.add(new)
        self._grow()
        return self

    def remove_labels(self, old: Iterable[Any]) -> Self:
        """Forget labels and all that was learned of them; the columns after them move up.

        The certificate proves nothing about a stream from which labels were removed: its dual is minus infinity from
        then on.

        Parameters
        ----------
        old : iterable of labels
        """
        check_is_fitted(self)
        gone = [labels.check_label(label) for label in old]
        for label in gone:
            if label not in self._labels.number:
                raise ValueError(f"{label!r} is not in classes_")
        for label in dict.fromkeys(gone):
            self._model.erase_output(self._labels.remove(label))
            self._removed = True
        return self

    # -- answers ----------------------------------------------------------------------------------------------------

    def _scores(self, X: Any) -> np.ndarray:
        """Return one score a row and label."""
        check_is_fitted(self)
        x = self._read_x(X)
        if isinstance(x, Dicts):
            return x.scores()
        out = np.empty((x.count, len(self._labels)), dtype=self._dtype)
        self._model.score(x, out)
        return out

    def decision_function(self, X: Any) -> np.ndarray:
        """Score every label.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        array of shape (n_samples, n_labels)
            Or (n_samples,), the second minus the first, for two labels that were fixed beforehand.
        """
        scores = self._scores(X)
        if scores.shape[1] == 2 and self._fixed and self._form == labels.LABELS:
            return scores[:, 1] - scores[:, 0]
        return scores

    def predict(self, X: Any) -> Any:
        """Answer in the form in which targets were given: labels, sets, or an indicator matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        array of labels, list of sets, or indicator matrix
        """
        check_is_fitted(self)
        if len(self._labels) == 0:
            raise NotFittedError("no label is known yet; learn from a row that has one")
        x = self._read_x(X)
        if self._form == labels.LABELS and not isinstance(x, Dicts):
            top = np.empty(x.count, dtype=np.int32)
            self._model.top(x, top)
            return labels.answer_labels(top, self._labels)
        scores = self._scores(X)
        if self._form == labels.LABELS:
            return labels.answer_labels(scores.argmax(axis=1), self._labels)
        return labels.answer_sets(scores > self._cuts(x)[:, None], self._form, self._labels)

    def _cuts(self, x: Any) -> np.ndarray:
        if isinstance(x, Dicts):
            return x.cuts()
        cuts = np.empty(x.count)
        self._model.cut(x, cuts)
        return cuts

    def predict_one(self, x: dict[str, float | str]) -> Any:
        """Answer one example; None before anything was learned.

        Parameters
        ----------
        x : dict of feature name to number or string
            Names that were never learned are left out.
        """
        if self._model is None or len(self._labels) == 0:
            return None
        reader = self._reader_of(x)
        if self._form == labels.LABELS:
            return self._labels.known[self._model.top_one(reader, x)]
        inside = self._model.score_one(reader, x) > self._model.cut_one(reader, x)
        form = self._form if self._form in (labels.SETS, labels.DICTS) else labels.SETS
        return labels.answer_sets(inside[None], form, self._labels)[0]

    # -- files ------------------------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        state, sections = super()._state()
        state |= {
            "labels": list(self._labels.known),
            "form": self._form,
            "fixed": self._fixed,
            "removed": self._removed,
            "cut": self._model.has_cut,
        }
        return state, sections

    def _restore(self, state: Mapping[str, Any], sections: dict[str, np.ndarray]) -> None:
        super()._restore(state, sections)
        self._labels = Labels(state["labels"])
        self._form, self._fixed, self._removed = state["form"], state["fixed"] is True, state["removed"] is True
        if self._form not in labels.FORMS:
            raise ValueError(f"the targets' form {self._form!r} is unknown")
        largest = max((section.shape[0] for section in sections.values() if section.ndim == 2), default=0)
        if self.n_features_in_ > largest:
            raise ValueError(f"{self.n_features_in_} features, but no section is as long")
        self._model.grow(self.n_features_in_, len(self._labels))
        if state["cut"]:
            self._model.begin_cut()
        self._model.restore(sections)

    def _copy_learned(self, other: Self) -> None:
        super()._copy_learned(other)
        self._labels = Labels(other._labels.known)
