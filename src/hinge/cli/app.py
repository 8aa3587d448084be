"""The commands by name, and what becomes of an error: a message on stderr and an exit code.

====  =====================================================================
0     fine
1     unexpected
2     usage
3     bad input data
4     damaged or incompatible model
5     a threshold was not met
6     input or output failed
130   interrupted
====  =====================================================================
"""

from __future__ import annotations

import difflib
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

UNEXPECTED, USAGE, BAD_DATA, BAD_MODEL, NOT_MET, IO_FAILED, INTERRUPTED = 1, 2, 3, 4, 5, 6, 130

# name: where it is, and what it does
COMMANDS = {
    "train": ("train:train", "Learn from a file or a stream, and write a model."),
    "predict": ("predict:predict", "Answer each row with one line."),
    "eval": ("evaluate:evaluate", "Predict each round, then learn it; print how that went."),
    "compare": ("evaluate:compare", "Run several learners over one stream."),
    "report": ("evaluate:report", "Evaluate, and write one page of HTML."),
    "inspect": ("models:inspect", "Say what a model holds."),
    "verify": ("models:verify", "Check every byte of a model."),
    "convert": ("files:convert", "Write examples in another format."),
    "reproduce": ("files:reproduce", "Run a paper's experiment, beside its published figures."),
    "datasets": ("files:datasets", "List the data sets, and which are here."),
    "demo": ("demo:demo", "File a synthetic mailbox online with six rankers."),
}
# by name, because importing these classes would import numpy
BY_NAME = {"DataError": BAD_DATA, "ModelFileError": BAD_MODEL, "OptionError": USAGE, "ModuleNotFoundError": USAGE}


class Commands(click.Group):
    """A group that imports a command when it is called, and names the nearest one when there is none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name][0].partition(":")
        return getattr(import_module(f"hinge.cli.{module}"), attribute)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS:
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else " 'hinge --help' lists the commands."
            raise click.UsageError(f"there is no command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, what) for name, (_, what) in COMMANDS.items()])


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="hinge", prog_name="hinge", message="%(prog)s %(version)s")
def hinge() -> None:
    """Learn online from files and streams.

    \b
    Examples:
      hinge demo
      hinge eval mail.jsonl --task label-ranking
      hinge train mail.jsonl -o mail.hinge --task label-ranking
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command; say on stderr what went wrong, and return the exit code."""
    try:
        return _run(arguments)
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(arguments: Sequence[str]) -> int:
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            # not hinge.main(), which leaves with 1 when a pipe is closed
            with hinge.make_context("hinge", list(arguments)) as ctx:
                hinge.invoke(ctx)
        sys.stdout.flush()
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _fail(INTERRUPTED, "interrupted; nothing was written")
    except BrokenPipeError:
        raise
    except OSError as error:
        return _fail(IO_FAILED, f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
    except Exception as error:
        if os.environ.get("HINGE_DEBUG"):
            raise
        for cls in type(error).__mro__:
            if cls.__name__ in BY_NAME:
                return _fail(BY_NAME[cls.__name__], str(error))
        return _fail(UNEXPECTED, f"{error} ({type(error).__name__}; HINGE_DEBUG=1 shows where)")
    return 0


def _warn(message: Warning | str, *place: Any, **more: Any) -> None:
    click.echo(f"hinge: warning: {message}", err=True)


def _fail(code: int, message: str) -> int:
    click.echo(f"hinge: {message}", err=True)
    return code
