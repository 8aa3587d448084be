"""`hinge predict`: one line a row."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import click

from hinge.cli.options import data_options, reading, refuse_to_replace

TABLES = ("csv", "tsv", "parquet", "arff")


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", metavar="FILE", help="Instead of standard output.")
@click.option("--top", type=click.IntRange(1), help="The best labels with their scores, where labels are ranked.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row.")
@click.option("--force", is_flag=True, help="Replace the output if it is there.")
@data_options
def predict(
    model: str, data: str, output: str | None, top: int | None, as_json: bool, force: bool, **values: Any
) -> None:
    """Answer each row of DATA with one line: its label, or labels joined by commas.

    \b
    Examples:
      hinge predict mail.hinge new.jsonl
      hinge predict mail.hinge new.jsonl --top 3
      tail -f new.jsonl | hinge predict mail.hinge - --format jsonl --json
    """
    refuse_to_replace(output, force)
    import hinge
    from hinge.model_file import replace_file

    learner = hinge.load(model)
    if top is not None and not hasattr(learner, "rank_one"):
        raise click.UsageError(f"--top is for models that rank labels; this is a {type(learner).__name__}")
    found = answers(learner, data, reading(values), top, as_json)
    if output is not None:
        replace_file(output, (text.encode() for text in found))
        return
    for text in found:
        sys.stdout.write(text)
        sys.stdout.flush()


def answers(learner: Any, data: str, options: dict[str, Any], top: int | None, as_json: bool) -> Iterator[str]:
    """Yield the lines of each block, one a row."""
    from hinge.cli.feeding import at_lines, given, match_names, unnamed
    from hinge.io import format_of, stream

    options = {name: value for name, value in options.items() if value is not None}
    options["format"] = options.get("format") or format_of(data)
    if options["format"] in TABLES:  # what the model learned by name is a feature; the target need not be there
        options = {"target": False} | options
    if getattr(learner, "features", None) == "hashed":
        options = options | {"n_bits": learner.n_bits}
    unnamed(learner)
    for block in stream(data, live=data == "-", **options):
        with at_lines(data, block):
            match_names(learner, block)
            X, _, _ = given(learner, block)
            found = learner.rank(X, top) if top else learner.predict(X)
            rows = found if X is block.X else [one for part in found for one in part]  # sequences, letter by letter
            chosen = rows if top else [[(answer, None)] for answer in rows]
        ids = block.ids or [""] * len(block)
        yield "".join(_line(name, pairs, as_json) for name, pairs in zip(ids, chosen, strict=True))


def _line(name: str, pairs: list[tuple[Any, float | None]], as_json: bool) -> str:
    if as_json:
        row: dict[str, Any] = {} if not name else {"id": name}
        if pairs and pairs[0][1] is not None:
            row["labels"] = [[plain(label), score] for label, score in pairs]
        else:
            row["label"] = plain(pairs[0][0])
        return json.dumps(row, ensure_ascii=False) + "\n"
    if pairs and pairs[0][1] is not None:
        return "\t".join(f"{shown(label)}:{score:.6g}" for label, score in pairs) + "\n"
    return shown(pairs[0][0]) + "\n"


def plain(label: Any) -> Any:
    """Return an answer as JSON holds it."""
    if isinstance(label, set | frozenset):
        return sorted((plain(one) for one in label), key=str)
    return label.tolist() if hasattr(label, "tolist") else label


def shown(label: Any) -> str:
    """Return an answer as a word; the labels of a set joined by commas."""
    value = plain(label)
    if isinstance(value, list):
        return ",".join(map(shown, value))
    return f"{value:.9g}" if isinstance(value, float) else str(value)
