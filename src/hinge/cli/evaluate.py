"""`hinge eval`, `hinge report` and `hinge compare`: predict each round, then learn it."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections import Counter
from typing import Any

import click

from hinge.cli.options import (
    TASKS,
    Learning,
    class_named,
    data_options,
    estimator_options,
    literal,
    make_estimator,
    reading,
    refuse_to_replace,
)
from hinge.cli.screen import progress, table

WORST = 12  # examples in a report
MEASURES = ("error", "loss")


class Run:
    """An estimator over a stream: the progressive report, and what a page says beside it."""

    def __init__(self, learner: Any, data: str, options: dict[str, Any], metrics: list[str] | None = None) -> None:
        self.learner, self.data, self.options, self.metrics = learner, data, options, metrics
        self.seconds = 0.0
        self.rows, self.entries, self.features = 0, 0, 0
        self.counts: Counter[Any] = Counter()
        self.mistakes: Counter[Any] = Counter()
        self.worst: list[tuple[float, int, str, str]] = []  # loss, round, where, truth

    def over(self, blocks: Any, every: int | None, advance: Any) -> Any:
        """Return the joined report."""
        from hinge.queries import reported_once

        with reported_once(self.learner):
            return self._over(blocks, every, advance)

    def _over(self, blocks: Any, every: int | None, advance: Any) -> Any:
        from hinge import progressive
        from hinge.cli.feeding import at_lines, given
        from hinge.evaluation import joined
        from hinge.io import DataError
        from hinge.io.sources import name_of

        parts = []
        for block in blocks:
            begun = time.perf_counter()
            with at_lines(self.data, block):
                X, y, more = given(self.learner, block)
                part = progressive(self.learner, X, y, metrics=self.metrics, every=every or 1, **more)
            self.seconds += time.perf_counter() - begun
            self._note(block, part)
            parts.append(part)
            advance(len(block), "")
        if not parts:
            raise DataError(name_of(self.data), "there are no rows")
        return joined(parts)

    def _note(self, block: Any, part: Any) -> None:
        import numpy as np

        before, self.rows = self.rows, self.rows + len(block)
        self.entries += int(block.X.nnz if hasattr(block.X, "nnz") else np.count_nonzero(block.X))
        self.features = block.X.shape[1]
        errors, losses = part.curve["error"], part.curve["loss"]
        if losses.size != len(block) or (isinstance(block.y, np.ndarray) and block.y.ndim > 1):
            return  # a round is not a row, or its target not a label
        for truth, error in zip(block.y, errors.tolist(), strict=True):
            for label in truth if isinstance(truth, set) else (truth,):
                self.counts[label] += 1
                self.mistakes[label] += error
        for row in np.argsort(-losses, kind="stable")[:WORST]:
            where = block.ids[row] if block.ids and block.ids[row] else ""
            if not where and block.line is not None:
                where = f"line {block.line[row]}"
            truth = block.y[row]
            shown = ", ".join(sorted(map(str, truth))) if isinstance(truth, set) else str(truth)
            self.worst.append((float(losses[row]), before + int(row) + 1, where, shown))
        self.worst = sorted(self.worst, key=lambda one: (-one[0], one[1]))[:WORST]

    def about(self, title: str, command: str) -> Any:
        """Return what a page says beside the curves."""
        from hinge.report import About

        few = 2 <= len(self.counts) <= 10_000
        data = {"source": self.data, "rows": f"{self.rows:,}", "features": f"{self.features:,}"}
        data["entries a row"] = f"{self.entries / max(self.rows, 1):.1f}"
        if few:
            data["labels"] = f"{len(self.counts):,}"
        return About(
            title=title,
            configuration=self.learner.get_params(),
            data=data,
            labels=[(label, n, self.mistakes[label]) for label, n in self.counts.items()] if few else (),
            worst=[(number, where, truth, loss) for loss, number, where, truth in self.worst if loss > 0],
            command=command,
        )


def evaluated(learner: Any, data: str, options: dict[str, Any], every: int | None, metrics: list[str] | None) -> Any:
    """Return the report on an estimator over a source, and its run."""
    from hinge.cli.feeding import Feed

    if not hasattr(learner, "partial_fit"):
        raise click.UsageError(
            f"{type(learner).__name__} with these parameters needs all rows at once; use hinge train"
        )
    feed = Feed(learner, data, options)
    run = Run(learner, data, options, metrics)
    with progress("evaluating", None) as advance:
        report = run.over(feed.blocks(), every, advance)
    return report, run


def check(report: Any, required: tuple[str, ...]) -> list[str]:
    """Return the requirements, such as ``error<=0.2``, that a report does not meet."""
    broken = []
    for text in required:
        name, found, bound = text.partition("<=")
        if not found or name.strip() not in report.totals or not isinstance(literal(bound.strip()), int | float):
            raise click.UsageError(f"--require {text!r}: give error<=NUMBER or loss<=NUMBER")
        value = report.totals[name.strip()]
        if not value <= literal(bound.strip()):
            broken.append(f"{name.strip()} is {value:.6g}, which is more than {bound.strip()}")
    return broken


@click.command(name="eval", cls=Learning)
@click.argument("data")
@estimator_options
@data_options
@click.option("--every", type=click.IntRange(1), help="Rounds that a point of the curve is the mean of.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Of hinge.metrics, beside loss and error.")
@click.option("--require", multiple=True, metavar="TEST", help="error<=0.2 or loss<=0.5; exit code 5 if it is not met.")
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
@click.pass_context
def evaluate(
    ctx: click.Context,
    /,
    data: str,
    task: str | None,
    estimator: str | None,
    config: str | None,
    every: int | None,
    metrics: tuple[str, ...],
    require: tuple[str, ...],
    as_json: bool,
    **values: Any,
) -> None:
    """Predict each round of DATA, then learn it; print how that went, at rounds that double.

    Every other flag is a parameter of the estimator.

    \b
    Examples:
      hinge eval mail.jsonl --task label-ranking
      hinge eval ~/Mail --task label-ranking --geometry entropic --C 0.5
      hinge eval data.svm --task label-ranking --require 'error<=0.2'
    """
    from hinge.cli.app import NOT_MET

    learner = make_estimator(class_named(task, estimator), ctx.obj, config)
    report, _ = evaluated(learner, data, reading(values), every, list(metrics) or None)
    broken = check(report, require)
    click.echo(report.to_json() if as_json else report.table())
    if not as_json and report.certificate is not None:
        click.echo(proven(report.certificate))
    for text in broken:
        click.echo(f"hinge: {text}", err=True)
    if broken:
        ctx.exit(NOT_MET)


def proven(it: Any) -> str:
    """Return a certificate in words."""
    at_most = (
        f"at most {it.mistake_bound:.0f} were possible" if it.mistake_bound < float("inf") else "no bound is proven"
    )
    complexity = max(it.dual, 0.0) / 4
    return (
        f"\n{it.mistakes} mistakes, {at_most}; loss {it.loss:.6g}, and at least {it.hindsight_loss(complexity):.6g} "
        f"for any fixed model of complexity {complexity:.4g}"
    )


@click.command(cls=Learning)
@click.argument("data")
@click.option("-o", "--output", default="hinge-report.html", show_default=True, metavar="FILE")
@click.option("--title", default="", help="Of the page.")
@click.option("--force", is_flag=True, help="Replace the output if it is there.")
@estimator_options
@data_options
@click.pass_context
def report(
    ctx: click.Context,
    /,
    data: str,
    output: str,
    title: str,
    force: bool,
    task: str | None,
    estimator: str | None,
    config: str | None,
    **values: Any,
) -> None:
    """Evaluate as `hinge eval` does, and write one page of HTML about it.

    \b
    Examples:
      hinge report mail.jsonl --task label-ranking -o mail.html
      hinge report ~/Mail --task label-ranking --update single
    """
    refuse_to_replace(output, force)
    learner = make_estimator(class_named(task, estimator), ctx.obj, config)
    found, run = evaluated(learner, data, reading(values), None, None)
    name = task or estimator
    found.to_html(output, run.about(title or f"{name}: {data}", shlex.join(["hinge", *sys.argv[1:]])))
    click.echo(output)


@click.command(cls=Learning)
@click.argument("data")
@click.option("--task", "tasks", multiple=True, metavar="NAME", help=f"One or more of {', '.join(TASKS)}.")
@click.option("--estimator", "estimators", multiple=True, metavar="CLASS", help="Any public classes, by name.")
@click.option("--vary", multiple=True, metavar="PARAM=A,B,..", help="Every combination of these is run.")
@data_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_context
def compare(
    ctx: click.Context,
    /,
    data: str,
    tasks: tuple[str, ...],
    estimators: tuple[str, ...],
    vary: tuple[str, ...],
    as_json: bool,
    **values: Any,
) -> None:
    """Run several learners over DATA, each predicting every round before it learns it, and print a table.

    \b
    Examples:
      hinge compare mail.jsonl --task label-ranking --vary update=full,single,fixed
      hinge compare mail.jsonl --task label-ranking --vary geometry=euclidean,adaptive --vary C=0.01,1
    """
    from itertools import product

    from hinge.cli.feeding import Feed

    names = [class_named(task, None) for task in tasks] + [class_named(None, name) for name in estimators]
    if not names:
        raise click.UsageError("give at least one --task or --estimator")
    axes = [(key, [literal(v) for v in options.split(",")]) for key, _, options in (one.partition("=") for one in vary)]
    varied = [dict(zip([key for key, _ in axes], point, strict=True)) for point in product(*(v for _, v in axes))]
    learners = [(name, params, make_estimator(name, ctx.obj | params, None)) for name in names for params in varied]
    options = reading(values)
    memory = None
    rows = []
    for name, params, learner in learners:
        feed = Feed(learner, data, options)
        feed.streams, feed._memory = False, memory
        run = Run(learner, data, options)
        with progress(f"{name} {_shown(params)}", None) as advance:
            found = run.over(feed.blocks(), None, advance)
        memory = feed.memory()
        rows.append((name, params, found, run.seconds))
    if as_json:
        for name, params, found, seconds in rows:
            it = found.certificate
            one = {"estimator": name, "parameters": params, **found.totals, "seconds": seconds}
            one |= {} if it is None else {"mistakes": it.mistakes, "dual": it.dual}
            click.echo(json.dumps(one))
        return
    table(
        ["estimator", "parameters", "rounds", "error", "loss", "at most", "hindsight", "seconds"],
        [_row(name, params, found, seconds) for name, params, found, seconds in rows],
        left=2,
    )


def _row(name: str, params: dict[str, Any], found: Any, seconds: float) -> list[str]:
    it = found.certificate
    most = "-" if it is None or it.mistake_bound == float("inf") else f"{it.mistake_bound:.0f}"
    least = "-" if it is None or it.dual <= 0 else f"{it.hindsight_loss(it.dual / 4) / it.rounds:.4f}"
    totals = found.totals
    return [
        name, _shown(params), f"{totals['rounds']}", f"{totals['error']:.4f}", f"{totals['loss']:.4f}", most, least,
        f"{seconds:.2f}",
    ]  # fmt: skip


def _shown(params: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in params.items())
