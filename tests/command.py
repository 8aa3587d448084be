"""The command `hinge` in a process of its own."""

import os
import subprocess
import sys

RANKING = ("--task", "label-ranking")


def hinge(*arguments, cwd=None, stdin=b"", **environment):
    """Run the command; returns its exit code, and what it wrote on stdout and stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "hinge.cli", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=os.environ | environment,
        timeout=120,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()
