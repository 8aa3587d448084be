"""What is wrong with a file, and where."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["BadLine", "DataError", "OptionError"]


class BadLine(NamedTuple):
    """A place in a text: line and column count from 1, columns in characters."""

    line: int
    column: int
    message: str
    text: str = ""
    shown_from: int = 0  # characters of the line that `text` leaves out at its beginning

    def caret(self) -> str:
        """Return the line with a caret under the place; nothing where there is no line to show."""
        if not self.text:
            return ""
        cut = ".." if self.shown_from else ""
        return f"{cut}{self.text}\n{' ' * (len(cut) + self.column - 1 - self.shown_from)}^"


class OptionError(ValueError, TypeError):
    """A format or an option of `read` that there is not, or a value that it cannot have."""


class DataError(ValueError):
    """Input that cannot be read: ``name:line:column: message``, the line, a caret below the place, and what to do.

    Parameters
    ----------
    name : str
        The input, as it was given.
    bad : BadLine or str
        The place and what is wrong, or only what is wrong.
    advice : str, default=""
        What to do, where the message does not say it.

    Attributes
    ----------
    bad : BadLine or None
        The place.

    Examples
    --------
    >>> print(DataError("a.svm", BadLine(2, 5, "feature value 'x' is not a number", "1 1:x")))
    a.svm:2:5: feature value 'x' is not a number
    1 1:x
        ^
    """

    def __init__(self, name: str, bad: BadLine | str, advice: str = "") -> None:
        self.name, self.advice, self._said = name, advice, bad
        self.bad = None if isinstance(bad, str) else bad
        if isinstance(bad, str):
            shown = [f"{name}: {bad}"]
        else:
            shown = [f"{name}:{bad.line}:{bad.column}: {bad.message}", bad.caret()]
        super().__init__("\n".join(filter(None, [*shown, advice])))

    def __reduce__(self) -> tuple[type[DataError], tuple[str, BadLine | str, str]]:
        return DataError, (self.name, self._said, self.advice)


def one_too_many(name: str, skipped: list[BadLine]) -> DataError:
    """Return the error about the last of the bad lines, with how to leave it out."""
    count = len(skipped)
    return DataError(name, skipped[-1], f"Mend this line, or leave it out with skip_bad={count} (--skip-bad {count}).")
