"""svmlight, VW text and JSON lines: what the native parsers return, made into examples."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from hinge import _core

from .errors import BadLine, DataError, OptionError, one_too_many
from .examples import Examples, csr, plain_numbers

__all__ = ["Jsonl", "Lines", "Svmlight", "Vw"]


class Lines:
    """A text format of which every line is a row.

    Parameters
    ----------
    name : str
        The source, for messages.
    skip_bad : int
        How many bad lines are left out before one is an error.
    threads : int
        That parse a large block; the result does not depend on it.
    labels : {"auto", "single", "sets"}
        Whether a row has one label or a set of them; "auto" looks at the first block.
    n_bits : int, optional
        Features are hashed into ``2 ** n_bits``.
    n_features : int, optional
        The width of `X`; by default what occurs.
    """

    format = ""
    named = True  # features have names

    def __init__(
        self,
        name: str,
        skip_bad: int = 0,
        threads: int = 1,
        *,
        labels: str = "auto",
        n_bits: int | None = None,
        n_features: int | None = None,
    ) -> None:
        if labels not in ("auto", "single", "sets"):
            raise OptionError(f"labels must be 'auto', 'single' or 'sets', got {labels!r}")
        self.name, self.skip_bad, self.threads = name, skip_bad, threads
        self.labels, self.n_bits, self.n_features = labels, n_bits, n_features
        self.skipped: list[BadLine] = []
        self._reader = _core.LineReader(self.format, n_bits or 0)
        self._names: list[str] = []
        self._known: list[str] = []

    def parse(self, data: Any, last: bool) -> tuple[int, Examples]:
        """Parse the whole lines of a block; returns how many bytes these are, and their rows."""
        taken, got, bad, too_many = self._reader.parse(data, last, self.threads, self.skip_bad - len(self.skipped))
        self._count(bad, too_many)
        self._names += self._reader.feature_names(len(self._names))
        self._known += self._reader.label_names(len(self._known))
        return taken, self._examples(got)

    def _count(self, bad: list[tuple[int, int, str, str, int]], too_many: bool) -> None:
        self.skipped += [BadLine(*one) for one in bad]
        if too_many:
            raise one_too_many(self.name, self.skipped)

    def _examples(self, got: dict[str, Any]) -> Examples:
        y, costs = self._targets(got)
        names = list(self._names) if self._names else None
        return Examples(
            csr(got["value"], got["index"], got["start"], self._width(got)),
            y,
            names,
            got["qid"] if got["has_qid"] else None,
            got["weight"] if got["has_weight"] else None,
            got["ids"] if got["has_id"] else None,
            costs,
            got["line"],
            skipped=self.skipped,
        )

    def _width(self, got: dict[str, Any]) -> int:
        if self.n_bits:
            return 1 << self.n_bits
        found = got["largest_index"] + 1
        if self._names:
            found = len(self._names)
        if self.n_features is not None and found > self.n_features:
            raise DataError(self.name, f"there are {found} features, but n_features is {self.n_features}")
        return self.n_features or found

    def _targets(self, got: dict[str, Any]) -> tuple[Any, Any]:
        counts = np.diff(got["label_start"])
        if counts.size and not counts.any() and self.labels == "auto":
            return None, None
        values = self._label_values(got)
        if got["has_cost"]:
            return self._cheapest(got, values, counts)
        several = got["has_sets"] or bool((counts != 1).any())
        if self.labels == "auto" and counts.size:
            self.labels = "sets" if several else "single"
        if self.labels == "sets":
            items = values.tolist()
            ends = got["label_start"].tolist()
            return [set(items[a:b]) for a, b in pairwise(ends)], None
        if several:
            row = int(np.argmax(counts != 1)) if (counts != 1).any() else 0
            what = "no label" if counts[row] == 0 else f"{counts[row]} labels"
            raise DataError(
                self.name, BadLine(int(got["line"][row]), 1, f"this row has {what}; labels='sets' reads sets of labels")
            )
        return values, None

    def _label_values(self, got: dict[str, Any]) -> np.ndarray:
        number, name = got["label"], got["label_name"]
        if not self._known or (name < 0).all():
            return plain_numbers(number)
        if (name >= 0).all():
            return np.array(self._known)[name]
        out = np.empty(name.size, dtype=object)
        numbers = plain_numbers(number[name < 0]).tolist()
        out[name < 0] = numbers
        out[name >= 0] = [self._known[i] for i in name[name >= 0]]
        return out

    def _cheapest(self, got: dict[str, Any], values: np.ndarray, counts: np.ndarray) -> tuple[Any, Any]:
        if not counts.all():
            row = int(np.argmax(counts == 0))
            raise DataError(self.name, BadLine(int(got["line"][row]), 1, "this row has no costs, but others have"))
        if np.isnan(got["cost"]).any():
            row = int(np.searchsorted(got["label_start"], np.argmax(np.isnan(got["cost"])), side="right")) - 1
            raise DataError(self.name, BadLine(int(got["line"][row]), 1, "a label of this row has no cost"))
        labels, cost = values.tolist(), got["cost"].tolist()
        ends = got["label_start"].tolist()
        costs = [dict(zip(labels[a:b], cost[a:b], strict=True)) for a, b in pairwise(ends)]
        return np.array([min(row, key=row.__getitem__) for row in costs]), costs


class Svmlight(Lines):
    """svmlight, libsvm and LETOR: ``label[,label..] [qid:q] index:value .. [# comment]``.

    Parameters
    ----------
    zero_based : {"auto", True, False}
        Whether the first feature has index 0. "auto" decides by whether index 0 occurs, when all is read at once;
        when streaming it means False.
    """

    format = "svmlight"
    named = False

    def __init__(
        self, name: str, skip_bad: int = 0, threads: int = 1, *, zero_based: bool | str = "auto", **options: Any
    ):
        if zero_based not in (True, False, "auto"):
            raise OptionError(f"zero_based must be True, False or 'auto', got {zero_based!r}")
        if options.get("n_bits") is not None:
            raise OptionError("svmlight features are numbers; n_bits is for formats with names")
        super().__init__(name, skip_bad, threads, **options)
        self._zero_based = zero_based
        self._parsed = False

    def parse(self, data: Any, last: bool) -> tuple[int, Examples]:
        if self._zero_based == "auto" and (self._parsed or not last):
            self._zero_based = False
        self._parsed = True
        return super().parse(data, last)

    def _width(self, got: dict[str, Any]) -> int:
        least = got["least_index"] if got["index"].size else 1
        if self._zero_based is False and least == 0:
            self._refuse_zero(got)
        if self._zero_based is False or (self._zero_based == "auto" and least > 0):
            got["index"] -= 1
            got["largest_index"] -= 1 if got["index"].size else 0
        return super()._width(got)

    def _refuse_zero(self, got: dict[str, Any]) -> None:
        row = int(np.searchsorted(got["start"], np.argmax(got["index"] == 0), side="right")) - 1
        raise DataError(
            self.name,
            BadLine(int(got["line"][row]), 1, "feature index 0, where the first is 1; zero_based=True"),
        )


class Vw(Lines):
    """VW text: ``label [importance [base]] [tag]|namespace[:scale] feature[:value] ..``."""

    format = "vw"


class Jsonl(Lines):
    """One JSON object a line: ``{"x": {"name": value, ..}, "y": label, "id": .., "weight": .., "qid": ..}``."""

    format = "jsonl"
