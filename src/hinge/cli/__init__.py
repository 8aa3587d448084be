"""The command `hinge`. Importing this package, and asking for help, imports neither numpy nor scikit-learn."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code."""
    from hinge.cli.app import run

    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))
