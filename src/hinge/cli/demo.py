"""`hinge demo`: six label rankers file an invented mailbox, one message at a time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from hinge.cli.screen import progress, table

# The C of each geometry: where it binds on most rounds, the certificate says the most.
RANKERS = [(geometry, update) for geometry in ("euclidean", "entropic") for update in ("full", "single", "fixed")]
C = {"euclidean": 0.01, "entropic": 0.5}
BLOCK = 500  # messages between two movements of the bar


@click.command()
@click.option("--messages", default=20_000, show_default=True, type=click.IntRange(1), help="How many messages.")
@click.option("--folders", default=60, show_default=True, type=click.IntRange(2), help="How many folders.")
@click.option("--seed", default=0, show_default=True, help="Another mailbox for another seed.")
@click.option("-o", "--output", default="hinge-demo.html", show_default=True, type=click.Path(dir_okay=False))
@click.option("--force", is_flag=True, help="Replace the output if it is there.")
def demo(messages: int, folders: int, seed: int, output: str, force: bool) -> None:
    """File a synthetic mailbox online with six label rankers.

    Every message is ranked against all folders known so far and then learned. Words drift, and new folders open
    midway.

    \b
    Examples:
      hinge demo
      hinge demo --messages 2000 --folders 12 -o small.html
    """
    if Path(output).exists() and not force:
        raise click.UsageError(f"{output} exists; --force replaces it")
    from hinge import LabelRanker, progressive
    from hinge.datasets import synthetic_mailbox
    from hinge.evaluation import joined

    mail = list(synthetic_mailbox(messages, folders, seed))
    words = len(set().union(*(features for features, _ in mail)))
    click.echo(
        f"{messages} messages, {len({folder for _, folder in mail})} folders, {words} words and senders", err=True
    )
    reports, rows = [], []
    with progress("filing", len(RANKERS) * messages) as advance:
        for geometry, update in RANKERS:
            ranker = LabelRanker(update, geometry, C=C[geometry])
            parts, seconds = [], 0.0
            for start in range(0, messages, BLOCK):
                block = mail[start : start + BLOCK]
                begun = time.perf_counter()
                X, y = [features for features, _ in block], [folder for _, folder in block]
                parts.append(progressive(ranker, X, y, every=BLOCK // 5))
                seconds += time.perf_counter() - begun
                advance(len(block), f"{geometry} {update}")
            reports.append(joined(parts))
            rows.append(_row(geometry, update, reports[-1], seconds))
    table(["geometry", "update", "mistakes", "share", "at most", "loss", "hindsight", "seconds"], rows, left=2)
    best = min(reports, key=lambda report: report.totals["error"])
    click.echo(_explained(best))
    best.to_html(output)
    click.echo(output)


def _row(geometry: str, update: str, report: Any, seconds: float) -> list[str]:
    proven = report.certificate
    most = f"{proven.mistake_bound:.0f}" if proven.mistake_bound < float("inf") else "-"
    return [
        geometry,
        update,
        f"{proven.mistakes}",
        f"{report.totals['error']:.1%}",
        most,
        f"{proven.loss:.1f}",
        f"{proven.hindsight_loss(proven.dual / 4):.1f}" if proven.dual > 0 else "-",
        f"{seconds:.2f}",
    ]


def _explained(report: Any) -> str:
    proven = report.certificate
    complexity = proven.dual / 4
    return (
        f"\nCertificate of the best, {report.estimator}:\n"
        f"it made {proven.mistakes} mistakes, and at most {proven.mistake_bound:.0f} were possible;\n"
        f"its loss is {proven.loss:.1f}, and no fixed ranker of complexity {complexity:.2f}, even one chosen after\n"
        f"the last message, has a loss below {proven.hindsight_loss(complexity):.1f} on this stream "
        "(column 'hindsight')."
    )
