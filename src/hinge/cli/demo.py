"""`hinge demo`: six label rankers file an invented mailbox, one message at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from hinge.cli.options import refuse_to_replace
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
    refuse_to_replace(output, force)
    from hinge import LabelRanker
    from hinge.cli.evaluate import Run
    from hinge.datasets import synthetic_mailbox

    mail = list(synthetic_mailbox(messages, folders, seed))
    words = len(set().union(*(features for features, _ in mail)))
    click.echo(
        f"{messages} messages, {len({folder for _, folder in mail})} folders, {words} words and senders", err=True
    )
    runs, rows = [], []
    with progress("filing", len(RANKERS) * messages) as advance:
        for geometry, update in RANKERS:
            run = Run(LabelRanker(update, geometry, C=C[geometry]), "synthetic_mailbox", {})
            found = run.over(blocks(mail), None, lambda by, note, name=f"{geometry} {update}": advance(by, name))
            runs.append((found, run))
            rows.append(_row(geometry, update, found, run.seconds))
    table(["geometry", "update", "mistakes", "share", "at most", "loss", "hindsight", "seconds"], rows, left=2)
    best, run = min(runs, key=lambda one: one[0].totals["error"])
    click.echo(_explained(best))
    command = f"hinge demo --messages {messages} --folders {folders} --seed {seed}"
    best.to_html(output, run.about("A mailbox filed online", command))
    click.echo(output)


def blocks(mail: list[tuple[dict[str, float], str]]) -> Iterator[Any]:
    """Yield the messages as blocks of rows; words are numbered as they appear."""
    import numpy as np

    from hinge.cli.feeding import cut
    from hinge.io import Examples
    from hinge.io.mail import bag_of_words

    X, words = bag_of_words([list(features) for features, _ in mail])
    y = np.array([folder for _, folder in mail])
    yield from cut(Examples(X, y, words), size=BLOCK)


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
