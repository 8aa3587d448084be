"""The two labels of a problem that tells one from the other: which they are, and targets as 0 and 1.

The larger is the relevant one, 1. A stream may begin with rows of one kind only: of 0, 1, -1 and bools the other label
is known all the same; after nothing but 1 it is taken to be 0 until a -1 comes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from hinge import labels
from hinge.labels import Labels, Targets, read_targets, sorted_labels

__all__ = ["TwoLabels"]


@dataclass(frozen=True)
class TwoLabels:
    """Both labels, the relevant one last, or none yet; `guessed` where the first of them was never seen and may change.

    Examples
    --------
    >>> two = TwoLabels()
    >>> two, relevant = two.admit(two.read([1, 1], 2))
    >>> two.known, relevant.tolist()
    ((0, 1), [1, 1])
    >>> two, relevant = two.admit(two.read([-1, 1], 2))
    >>> two.known, relevant.tolist()
    ((-1, 1), [0, 1])
    """

    known: tuple[Any, ...] = ()
    guessed: bool = False

    def __post_init__(self) -> None:
        if len(self.known) not in (0, 2):
            raise ValueError(f"{len(self.known)} labels, but two are needed")

    @cached_property
    def labels(self) -> Labels:
        """The same, with their numbers."""
        return Labels(self.known)

    @classmethod
    def of(cls, given: Iterable[Any], where: str = "") -> Self:
        """Sort two labels; ValueError where they are more or fewer."""
        known = tuple(sorted_labels(given))
        if len(known) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass.{where}"
                " One of two classes is told from the other"
            )
        if len(known) < 2:
            raise ValueError(
                f"two classes are needed, and all rows are of one class, {list(known)}; name both with classes in a "
                "call of partial_fit"
            )
        return cls(known)

    def named(self, classes: Any) -> TwoLabels:
        """Take the labels that a call names."""
        if classes is None:
            return self
        given = [labels.check_label_in_row(label, i) for i, label in enumerate(np.asarray(classes, dtype=object))]
        if not self.known or self.guessed:
            return TwoLabels.of(dict.fromkeys(given))
        if set(given) <= set(self.known):
            return self
        raise ValueError(f"classes are {given}, but the labels are {list(self.known)} already")

    def read(self, y: Any, rows: int) -> Targets:
        """Turn targets into numbers; ValueError, naming the row, where that cannot be done."""
        if y is not None and labels.form_of(y) != labels.LABELS:
            raise ValueError(f"Unknown label type: y must hold one of two labels a row, got {labels.form_of(y)}")
        return read_targets(y, self.labels, rows)

    def settle(self, targets: Targets) -> tuple[TwoLabels, np.ndarray]:
        """Take both labels from all targets of a call; return which rows are relevant, too."""
        third = f" Row {targets.first_row_of(2)} of y has a third label." if len(targets.fresh) > 2 else ""
        two = TwoLabels.of(targets.fresh, third)
        return two, np.array([two.known.index(label) for label in targets.fresh], dtype=np.uint8)[targets.label]

    def admit(self, targets: Targets) -> tuple[TwoLabels, np.ndarray]:
        """Take both labels from the first call; a third is an error. Return which rows are relevant, too."""
        relevant = targets.label.astype(np.uint8)
        if not targets.fresh:
            return TwoLabels(self.known, self.guessed and not (relevant == 0).any()), relevant
        label = targets.fresh[0]
        if not self.known:
            usual = _usual(label) if len(targets.fresh) == 1 else None
            if usual is None:
                return self.settle(targets)
            return TwoLabels(usual, usual == (0, 1) and label == 1), np.full(relevant.size, label == usual[1], np.uint8)
        if self.guessed and targets.fresh == [-1]:
            return TwoLabels((-1, 1)), (targets.label == 1).astype(np.uint8)
        row = targets.first_row_of(2)
        raise ValueError(f"row {row} of y has the label {label!r}; the two labels are {list(self.known)}")


def _usual(label: Any) -> tuple[Any, Any] | None:
    """Return both labels, where one of them tells."""
    if isinstance(label, bool):
        return False, True
    return {1: (0, 1), 0: (0, 1), -1: (-1, 1)}.get(label)
