"""The command `hinge`. Importing this package, and asking for help, imports neither numpy nor scikit-learn."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code."""
    from hinge.cli.app import run

    code = run(sys.argv[1:] if arguments is None else list(arguments))
    if threading.active_count() > 1:  # a reader still waits for a pipe, and Python would clean up under its feet
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
