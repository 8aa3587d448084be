"""What several commands share: where data come from, which estimator learns, and its parameters as flags."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

TASKS = {
    "label-ranking": "LabelRanker",
    "pairwise": "PairwiseLabelRanker",
    "ordinal": "OrdinalClassifier",
    "multitask": "MultitaskClassifier",
    "multiclass": "MulticlassClassifier",
    "sequence": "SequenceClassifier",
    "ranking": "ListRanker",
    "bipartite": "BipartiteRanker",
}
WORDS = {"true": True, "false": False, "none": None}


class Learning(click.Command):
    """A command of which every flag that is not its own is a parameter of the estimator: ``--C 0.5``, ``--C=0.5``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = {name: option for option in self.params if isinstance(option, click.Option) for name in option.opts}
        rest, found, i = list[str](), dict[str, Any](), 0
        while i < len(args):
            name, equals, value = args[i].partition("=")
            option = known.get(name)
            if args[i] == "--":
                rest += args[i:]
                break
            if not name.startswith("--") or option is not None or name in ctx.help_option_names:
                taken = 1 if option is None or option.is_flag or equals or not name.startswith("-") else 2
                rest += args[i : i + taken]
                i += taken
                continue
            if not equals:
                if i + 1 == len(args):
                    raise click.UsageError(f"{name} needs a value", ctx)
                value = args[i + 1]
            found[name[2:].replace("-", "_")] = literal(value)
            i += 1 if equals else 2
        ctx.obj = found
        return super().parse_args(ctx, rest)


def literal(text: str) -> Any:
    """Return what a flag's text stands for: a number, a list, true, false, none, or the text.

    Examples
    --------
    >>> literal("0.5"), literal("[1, 2]"), literal("true"), literal("single")
    (0.5, [1, 2], True, 'single')
    """
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how data are read."""
    for option in reversed(
        (
            click.option(
                "--format", "format", metavar="NAME", help="svmlight, vw, jsonl, csv, tsv, arff, parquet, mail."
            ),
            click.option("--target", multiple=True, metavar="COLUMN", help="Of a table; several make a matrix."),
            click.option("--qid", metavar="COLUMN", help="Of a table: the list that a row belongs to."),
            click.option("--weight", metavar="COLUMN", help="Of a table: the weight of a row."),
            click.option("--id", metavar="COLUMN", help="Of a table: the name of a row, which predict repeats."),
            click.option("--ignore", multiple=True, metavar="COLUMN", help="Of a table: not a feature."),
            click.option("--xml", metavar="FILE", help="Mulan's list of labels, beside an ARFF file."),
            click.option("--labels", type=click.Choice(["single", "sets"]), help="One label a row, or a set of them."),
            click.option("--skip-bad", default=0, metavar="N", help="Leave out up to N bad lines."),
            click.option(
                "--read",
                "more",
                multiple=True,
                metavar="OPTION=VALUE",
                help="Of the format: delimiter=;, zero_based=true ..",
            ),
        )
    ):
        command = option(command)
    return command


def estimator_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which estimator learns."""
    for option in reversed(
        (
            click.option("--task", metavar="NAME", help=f"One of {', '.join(TASKS)}."),
            click.option("--estimator", metavar="CLASS", help="Any public class, by its name."),
            click.option("--config", type=click.Path(), metavar="FILE", help="Parameters from a TOML file."),
        )
    ):
        command = option(command)
    return command


def reading(values: dict[str, Any]) -> dict[str, Any]:
    """Take the options of `data_options` out of a command's values; return those that were given, for `hinge.io`."""
    taken = {name: values.pop(name) for name in ("target", "qid", "weight", "id", "ignore", "xml", "labels")}
    target = taken.pop("target")
    options = {name: value for name, value in taken.items() if value}
    for text in values.pop("more"):
        name, found, value = text.partition("=")
        if not found:
            raise click.UsageError(f"--read {text!r}: give OPTION=VALUE, such as zero_based=true")
        options[name.replace("-", "_")] = literal(value)
    if target:
        options["target"] = target[0] if len(target) == 1 else list(target)
    return options | {"format": values.pop("format"), "skip_bad": values.pop("skip_bad")}


def class_named(task: str | None, estimator: str | None) -> str:
    """Return the estimator's class name, checked to exist."""
    import hinge

    if (task is None) == (estimator is None):
        raise click.UsageError("give either --task or --estimator")
    if task is not None and task not in TASKS:
        raise click.UsageError(f"there is no task {task!r}{_near(task, TASKS)}; the tasks are {', '.join(TASKS)}")
    name = TASKS[task] if task is not None else str(estimator)
    if name not in hinge.ESTIMATORS:
        known = ", ".join(sorted(hinge.ESTIMATORS))
        raise click.UsageError(f"this version of hinge has no {name}{_near(name, hinge.ESTIMATORS)}; it has {known}")
    return name


def make_estimator(name: str, flags: dict[str, Any], config: str | None) -> Any:
    """Return the estimator with its parameters; usage errors where one is unknown or makes no sense."""
    import hinge

    cls = getattr(hinge, name)
    params = {**from_toml(config), **flags}
    known = cls._get_param_names()
    for param in params:
        if param not in known:
            raise click.UsageError(f"{name} has no parameter {param!r}{_near(param, known)}; it has {', '.join(known)}")
    try:
        estimator = cls(**params)
        estimator._check_params()
    except (ValueError, TypeError) as error:
        raise click.UsageError(str(error)) from error
    return estimator


def from_toml(config: str | None) -> dict[str, Any]:
    """Return the parameters in a TOML file."""
    import tomllib

    if config is None:
        return {}
    try:
        with open(config, "rb") as file:
            return tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise click.UsageError(f"{config}: {error}") from error


def refuse_to_replace(output: str | None, force: bool) -> None:
    """Raise where an output is there already and may not be replaced."""
    if output is not None and not force and Path(output).exists():
        raise click.UsageError(f"{output} exists; --force replaces it")


def _near(name: str, known: Any) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
