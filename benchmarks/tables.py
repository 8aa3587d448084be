"""Plain aligned tables; drawn by rich on a terminal where it is installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from peers import Missing

Cell = str | float | None


@dataclass
class Table:
    """Columns are (title, format of a number); the first column holds names."""

    title: str
    columns: Sequence[tuple[str, str]]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, found: Any) -> Table:
        """Take over a table of `hinge.reproduce`."""
        return cls(found.title, [(name, "") for name in found.head], [*found.rows], [*found.notes])

    def add(self, *cells: Cell) -> None:
        formats = [form for _, form in self.columns]
        self.rows.append([_text(cell, form) for cell, form in zip(cells, formats, strict=True)])

    def attempt(self, name: str, row: Callable[[], Sequence[Cell]]) -> None:
        """Add a row, or a note where its peer is missing."""
        try:
            self.add(name, *row())
        except Missing as reason:
            self.note(f"{name}: {reason}")

    def note(self, text: str) -> None:
        self.notes.append(text)

    def show(self) -> None:
        if not (sys.stdout.isatty() and self._rich()):
            self._plain()
        for note in self.notes:
            print(f"  {note}")
        print(flush=True)

    def _rich(self) -> bool:
        try:
            from rich.console import Console
            from rich.table import Table as RichTable
        except ImportError:
            return False
        table = RichTable(title=self.title, title_justify="left")
        for place, (title, _) in enumerate(self.columns):
            table.add_column(title, justify="right" if place else "left", no_wrap=not place)
        for row in self.rows:
            table.add_row(*row)
        Console(highlight=False, markup=False).print(table)
        return True

    def _plain(self) -> None:
        lines = [[title for title, _ in self.columns], *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        print(self.title)
        for number, (first, *rest) in enumerate(lines):
            numbers = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
            print("  ".join([first.ljust(widths[0]), *numbers]).rstrip())
            if number == 0:
                print("  ".join("-" * width for width in widths))


def _text(cell: Cell, form: str) -> str:
    if cell is None or cell != cell:
        return "-"
    return cell if isinstance(cell, str) else format(cell, form)
