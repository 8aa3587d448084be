"""Progressive evaluation: predict each round, then learn it, and keep what was seen on the way."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from hinge.certificate import Certificate
from hinge.model_file import Path, replace_file

__all__ = ["ProgressiveReport", "joined", "progressive"]

POINTS = 50  # of a curve, unless `every` is given


@dataclass(frozen=True)
class ProgressiveReport:
    """What a stream looked like to a learner that predicts before it learns.

    Parameters
    ----------
    estimator : str
        The estimator, as it prints itself.
    curve : dict of str to array
        ``round``: the last round of each stretch; ``loss``, ``error`` and each metric: means over the rounds since the
        entry before; ``dual`` where there is a certificate: its value then.
    totals : dict of str to float
        Rounds, and the means of loss and error over all of them.
    certificate : Certificate, optional
        Of the estimator, after the last round.
    """

    estimator: str
    curve: dict[str, np.ndarray]
    totals: dict[str, float]
    certificate: Certificate | None = None

    def table(self) -> str:
        """Return the curve as a table of text, at rounds that double."""
        ends = self.curve["round"]
        shown = [0]
        for i, end in enumerate(ends):
            if end >= 2 * ends[shown[-1]] or i == len(ends) - 1:
                shown.append(i)
        names = [name for name in self.curve if name not in ("round", "dual")]
        head = ["round", *(f"{name} since" for name in names), *(f"{name} so far" for name in names)]
        lengths = np.diff(ends, prepend=0)
        rows, before = [], 0
        for i in dict.fromkeys(shown):
            since = slice(before, i + 1)
            row = [f"{int(ends[i])}"]
            row += [f"{np.average(self.curve[name][since], weights=lengths[since]):.4f}" for name in names]
            row += [f"{np.average(self.curve[name][: i + 1], weights=lengths[: i + 1]):.4f}" for name in names]
            rows.append(row)
            before = i + 1
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in [head, *rows])

    def to_json(self) -> str:
        """Return everything as one JSON object."""
        certificate = None
        if self.certificate is not None:
            it = self.certificate
            numbers = {"rounds": it.rounds, "mistakes": it.mistakes, "loss": it.loss, "dual": it.dual,
                       "mistake_bound": it.mistake_bound, "tolerance": it.tolerance}  # fmt: skip
            certificate = {name: value if np.isfinite(value) else None for name, value in numbers.items()}
        curve = {name: values.tolist() for name, values in self.curve.items()}
        return json.dumps(
            {"estimator": self.estimator, "totals": self.totals, "curve": curve, "certificate": certificate}
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw error and loss so far against the rounds; needs matplotlib. Returns the axes."""
        import matplotlib.pyplot as plt

        ax = ax if ax is not None else plt.subplots()[1]
        for name, values in self._so_far().items():
            ax.plot(self.curve["round"], values, label=f"{name} so far")
        ax.set_xlabel("round")
        ax.legend()
        return ax

    def to_html(self, path: Path, about: Any = None) -> None:
        """Write one self-contained page: the totals, what is proven, the curves, the table.

        Parameters
        ----------
        path : str or path
        about : hinge.report.About, optional
            What else the page says: configuration, data, labels, the worst examples.
        """
        from hinge.report import page

        replace_file(path, [page(self, about).encode()])

    def _so_far(self) -> dict[str, np.ndarray]:
        lengths = np.diff(self.curve["round"], prepend=0)
        names = [name for name in self.curve if name not in ("round", "dual")]
        return {name: np.cumsum(self.curve[name] * lengths) / self.curve["round"] for name in names}


def progressive(
    estimator: Any,
    X: Any,
    y: Any,
    classes: Any = None,
    metrics: Mapping[str, Callable[[Any, Any], float]] | Sequence[str] | None = None,
    every: int | None = None,
    qid: Any = None,
    sample_weight: Any = None,
) -> ProgressiveReport:
    """Let an estimator predict and then learn each round, in one native call at training speed.

    Parameters
    ----------
    estimator : estimator of hinge
        It is trained itself, and goes on where it stands if it was trained before.
    X, y : as for ``partial_fit``
    classes : array-like, optional
        Labels that exist before the first round.
    metrics : dict of name to function(y_true, y_pred), or list of names in `hinge.metrics`, optional
        Measured on the answers given before learning; a function whose second parameter is called ``y_score`` on the
        scores of all labels then, with the relevant ones as an indicator matrix.
    every : int, optional
        How many rounds an entry of the curve is the mean of; by default a fiftieth of them all.
    qid : array-like, optional
        The list that each row belongs to, for estimators that learn lists.
    sample_weight : array-like, optional

    Returns
    -------
    ProgressiveReport

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import LabelRanker, progressive
    >>> X = np.tile(np.eye(2), (4, 1))
    >>> report = progressive(LabelRanker(fit_intercept=False), X, ["on", "off"] * 4, every=2)
    >>> report.curve["error"]
    array([0.5, 0.5, 0. , 0. ])
    >>> print(report.table())
    round  loss since  error since  loss so far  error so far
        2      0.5000       0.5000       0.5000        0.5000
        4      0.5000       0.5000       0.5000        0.5000
        8      0.0000       0.0000       0.2500        0.2500
    """
    if every is not None and every < 1:
        raise ValueError(f"every must be at least 1, got {every!r}")
    if qid is not None and not hasattr(estimator, "_learns_lists"):
        raise TypeError(f"qid was given, but {type(estimator).__name__} does not learn lists")
    measures = _measures(metrics)
    lists = {} if qid is None else {"qid": qid}
    seen = estimator._learn_progressively(
        X, y, classes=classes, sample_weight=sample_weight, answers=bool(measures), **lists
    )
    rounds = seen["loss"].size
    step = every or max(1, -(-rounds // POINTS))
    starts = np.arange(0, rounds, step)
    ends = np.minimum(starts + step, rounds)
    curve: dict[str, np.ndarray] = {"round": ends}
    for name in ("loss", "error", "task_errors"):
        if name in seen:
            curve[name] = np.add.reduceat(seen[name], starts) / (ends - starts)
    for name, measure in measures.items():
        if "rows" in seen:  # a round is some rows: measured on each, and averaged
            truth = np.asarray(y)
            by_round = [float(measure(truth[rows], seen["answers"][rows])) for rows in seen["rows"]]
            curve[name] = np.add.reduceat(by_round, starts) / (ends - starts)
            continue
        of_scores = "scores" in seen and _takes_scores(measure)
        truths, given = (seen["relevant"], seen["scores"]) if of_scores else (y, seen["answers"])
        values = [measure(_rows(truths, a, b), _rows(given, a, b)) for a, b in zip(starts, ends, strict=True)]
        curve[name] = np.array(values, dtype=np.float64)
    certificate = getattr(estimator, "certificate_", None)
    if certificate is not None and "dual" in seen:
        curve["dual"] = seen["dual"][ends - 1]
    totals = {"rounds": rounds, "loss": float(seen["loss"].mean()), "error": float(seen["error"].mean())}
    return ProgressiveReport(repr(estimator), curve, totals, certificate)


def joined(reports: Sequence[ProgressiveReport]) -> ProgressiveReport:
    """Join reports on consecutive parts of one stream, all by one estimator, into the report on the whole.

    Parameters
    ----------
    reports : sequence of ProgressiveReport
        In the order of the stream, at least one.

    Returns
    -------
    ProgressiveReport
    """
    lengths = np.array([report.totals["rounds"] for report in reports])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    curve = {
        name: np.concatenate(
            [it.curve[name] + (start if name == "round" else 0) for it, start in zip(reports, starts, strict=True)]
        )
        for name in reports[0].curve
        if all(name in it.curve for it in reports)
    }
    totals = {
        name: float(np.average([it.totals[name] for it in reports], weights=lengths)) for name in reports[0].totals
    }
    totals["rounds"] = int(lengths.sum())
    return ProgressiveReport(reports[-1].estimator, curve, totals, reports[-1].certificate)


def _rows(values: Any, start: int, end: int) -> Any:
    return values.iloc[start:end] if hasattr(values, "iloc") else values[start:end]


def _takes_scores(measure: Callable[..., Any]) -> bool:
    try:
        return list(signature(measure).parameters)[1:2] == ["y_score"]
    except ValueError:  # written in C
        return False


def _measures(metrics: Any) -> dict[str, Callable[[Any, Any], float]]:
    if metrics is None:
        return {}
    if isinstance(metrics, Mapping):
        return dict(metrics)
    import hinge.metrics

    unknown = [name for name in metrics if not hasattr(hinge.metrics, name)]
    if unknown:
        raise ValueError(f"hinge.metrics has no {unknown[0]!r}; give a dict of name to function for your own measures")
    return {name: getattr(hinge.metrics, name) for name in metrics}
