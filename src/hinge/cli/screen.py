"""What people see: progress and tables, with rich where a terminal shows them, else as plain lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click

LINE_EVERY = 10.0  # seconds, where stderr is no terminal


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[int, str], None]]:
    """Show how far a task has come, on stderr. Yields ``advance(by, note)``."""
    if not sys.stderr.isatty():
        yield _lines(what, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total)
        yield lambda by, note: bar.update(task, advance=by, description=f"{what} {note}".strip())


def _lines(what: str, total: int | None) -> Callable[[int, str], None]:
    done, last = 0, time.monotonic()

    def advance(by: int, note: str) -> None:
        nonlocal done, last
        done += by
        if time.monotonic() - last >= LINE_EVERY:
            last = time.monotonic()
            of = "" if total is None else f" of {total}"
            click.echo(f"{what} {note}: {done}{of}".replace(" :", ":"), err=True)

    return advance


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """Print a table on stdout; the first `left` columns are words, the others numbers."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table

        shown = Table(*(), box=None, header_style="bold", pad_edge=False)
        for number, name in enumerate(head):
            shown.add_column(name, justify="left" if number < left else "right")
        for row in rows:
            shown.add_row(*row)
        Console().print(shown)
        return
    click.echo(plain_table(head, rows, left))


def plain_table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return a table as aligned text.

    Examples
    --------
    >>> print(plain_table(["name", "n"], [["a", "10"], ["bcdef", "9"]]))
    name    n
    a      10
    bcdef   9
    """
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = []
    for row in (head, *rows):
        cells = [
            cell.ljust(w) if i < left else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
