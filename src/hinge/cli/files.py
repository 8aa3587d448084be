"""`hinge convert`, `hinge datasets` and `hinge reproduce`."""

from __future__ import annotations

import difflib
import json
import os
import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from hinge.cli.options import Learning, data_options, reading, refuse_to_replace
from hinge.cli.screen import progress, table

if TYPE_CHECKING:
    from hinge.io import Examples


@click.command()
@click.argument("source")
@click.argument("output")
@click.option("--to", metavar="NAME", help="svmlight, vw, jsonl or csv; by default what OUTPUT's suffix says.")
@click.option("--force", is_flag=True, help="Replace the output if it is there.")
@data_options
def convert(source: str, output: str, to: str | None, force: bool, **values: Any) -> None:
    """Write the examples of SOURCE in another format.

    \b
    Examples:
      hinge convert data.arff data.jsonl --xml labels.xml
      hinge convert ~/Mail mail.jsonl
      hinge convert data.csv data.svm --target price
    """
    if output != "-":
        refuse_to_replace(output, force)
    import numpy as np
    from scipy import sparse

    from hinge.io import DataError, OptionError, format_of, stream
    from hinge.io.writing import WRITERS, lines

    try:
        chosen = to or format_of(output)
    except ValueError as error:
        raise click.UsageError(f"{output}: the name does not say what format to write; give --to") from error
    if chosen not in WRITERS:
        raise click.UsageError(f"there is no writer of {chosen!r}; there are {', '.join(WRITERS)}")
    options = {name: value for name, value in reading(values).items() if value is not None}

    def blocks() -> Iterator[Examples]:
        with progress("converting", None) as advance:
            for block in stream(source, **options):
                if sparse.issparse(block.y) and block.label_names and chosen == "jsonl":
                    names = np.array(block.label_names)
                    block.y = [set(names[row.indices].tolist()) for row in sparse.csr_matrix(block.y)]
                yield block
                advance(len(block), "")

    def checked() -> Iterator[bytes]:
        try:
            yield from lines(blocks(), chosen)
        except (DataError, OptionError):
            raise
        except ValueError as error:  # what the format cannot say
            raise DataError(source, str(error)) from error

    if output == "-":
        for part in checked():
            sys.stdout.buffer.write(part)
        return
    from hinge.model_file import replace_file

    replace_file(output, checked())


SETS = {
    "enron-folders": "seven users' mail folders, by load_enron",
    "rcv1v2-subsets": "five parts of 6000 documents, 101 labels, by load_rcv1_subset",
    "corel5k": "load_mulan('corel5k')",
    "bibtex": "load_mulan('bibtex')",
    "delicious": "load_mulan('delicious')",
    "emotions": "load_mulan('emotions')",
    "medical": "load_mulan('medical')",
    "scene": "load_mulan('scene')",
    "tmc2007-500": "load_mulan('tmc2007-500')",
    "yeast": "load_mulan('yeast')",
    "enron-multilabel": "load_mulan('enron')",
    "reuters21578": "newswire and its topics, by load_reuters21578",
    "reuters-k500": "load_reuters_k500",
    "newsgroups20-multilabel": "load_newsgroups20",
    "parkinsons": "ordered classes, by load_parkinsons",
    "abalone": "ordered classes, by load_abalone",
    "orca-ordinal": "small ordinal sets, by load_orca",
    "mq2008": "lists of documents, by load_mq2008",
    "lambdarank": "lists of documents, by load_lambdarank",
    "ocr-letters": "handwritten words, by load_ocr_letters",
    "a9a": "two classes, by load_a9a",
    "letter-recognition": "26 letters, by load_letter_recognition",
    "usps": "digits, by load_usps",
    "mnist": "digits, the test part, by load_mnist_test",
}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a data set.")
def datasets(as_json: bool) -> None:
    """List the data sets that hinge.datasets loads, and whether HINGE_DATA has them. Nothing is downloaded.

    \b
    Examples:
      hinge datasets
      HINGE_DATA=~/data hinge datasets
    """
    from hinge.datasets import data_home

    try:
        home = str(data_home())
    except FileNotFoundError as error:
        home = ""
        click.echo(f"hinge: {error}", err=True)
    rows = [
        [name, "yes" if home and os.path.isdir(os.path.join(home, name)) else "-", what] for name, what in SETS.items()
    ]
    rows += [["synthetic_mailbox", "yes", "generated: messages in folders, with drift"]]
    rows += [["synthetic_ordinal", "yes", "generated: five ordered classes in the unit square"]]
    if as_json:
        for name, here, what in rows:
            click.echo(json.dumps({"name": name, "here": here == "yes", "what": what}))
        return
    table(["data set", "here", "what"], rows, left=3)


@click.command(cls=Learning)
@click.argument("name", metavar="[enron|pril|multitask|ansgd|ocr|ranking]")
@click.option(
    "-o", "--output", metavar="PAGE", help="Write the tables, and what the paper draws, as a page of HTML too."
)
@click.option("--force", is_flag=True, help="Replace the output if it is there.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a table.")
@click.pass_context
def reproduce(ctx: click.Context, /, name: str, output: str | None, force: bool, as_json: bool) -> None:
    """Run a paper's experiment on the data at HINGE_DATA, and print its tables beside the published figures.

    Every other flag is an option of the experiment.

    \b
    Examples:
      hinge reproduce enron
      hinge reproduce pril --rows 5000 --repeat 10 -o pril.html
      hinge reproduce ocr --only error --folds 1
      hinge reproduce multitask --only codes -o codes.html
      HINGE_DATA=~/data hinge reproduce ranking
    """
    from dataclasses import asdict

    from hinge.reproduce import EXPERIMENTS, OptionError
    from hinge.reproduce import reproduce as run

    if name not in EXPERIMENTS:
        near = difflib.get_close_matches(name, EXPERIMENTS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise click.UsageError(f"there is no experiment {name!r}{hint}; there are {', '.join(EXPERIMENTS)}")
    refuse_to_replace(output, force)
    with progress(name, None) as advance:
        try:
            tables = run(name, advance, **ctx.obj)
        except OptionError as error:
            raise click.UsageError(str(error)) from error
        except TypeError as error:
            if "run() got an unexpected keyword argument" in str(error):
                raise click.UsageError(f"{name} has no option {str(error).split()[-1]}") from error
            raise
    if output is not None:
        from hinge.model_file import replace_file
        from hinge.report import tables_page

        options = [f"--{key.replace('_', '-')}={value}" for key, value in ctx.obj.items()]
        page = tables_page(
            EXPERIMENTS[name][:1].upper() + EXPERIMENTS[name][1:],
            tables,
            shlex.join(["hinge", "reproduce", name, *options]),
        )
        replace_file(output, [page.encode()])
    for found in tables:
        if as_json:
            click.echo(json.dumps(asdict(found)))
            continue
        click.echo(found.title)
        table(found.head, found.rows)
        click.echo("".join(f"  {note}\n" for note in found.notes))
