"""Tables of figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["OptionError", "Table", "asked_for", "beside"]


class OptionError(ValueError):
    """An option of an experiment that it does not take."""


@dataclass
class Table:
    """A title, the columns' names, the rows as text, notes below, and what is drawn over an axis."""

    title: str
    head: list[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    curves: list[tuple[str, list[float], list[float]]] = field(default_factory=list)
    axis: str = ""


def beside(ours: float, theirs: float | None, digits: int = 1) -> str:
    """Return a figure with the published one in brackets.

    Examples
    --------
    >>> beside(27.04, 27.2), beside(0.5, None, 3)
    ('27.0 (27.2)', '0.500')
    """
    published = "" if theirs is None else f" ({theirs:.{digits}f})"
    return f"{ours:.{digits}f}{published}"


def asked_for(only: str | Sequence[str], names: Sequence[str]) -> list[str]:
    """Return which of an experiment's tables are asked for, one or several.

    Examples
    --------
    >>> asked_for("error", ("error", "published")), asked_for(["b", "a"], ("a", "b"))
    (['error'], ['b', 'a'])
    """
    asked = [only] if isinstance(only, str) else list(only)
    for name in asked:
        if name not in names:
            raise OptionError(f"there is no table {name!r}; there are {', '.join(names)}")
    return asked
