"""`hinge train`: learn from a file or a stream, and write a model."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from hinge.cli.options import (
    Learning,
    class_named,
    data_options,
    estimator_options,
    make_estimator,
    reading,
    refuse_to_replace,
)
from hinge.cli.screen import progress


@click.command(cls=Learning)
@click.argument("data")
@click.option("-o", "--output", required=True, metavar="MODEL", help="Where the model is written.")
@estimator_options
@data_options
@click.option("--passes", type=click.IntRange(1), help="Over the data; --max-iter is the same.  [default: 1]")
@click.option("--shuffle", is_flag=True, help="Each pass in a random order of its own.")
@click.option("--seed", default=0, show_default=True, help="For --shuffle.")
@click.option("--resume", is_flag=True, help="Go on from the checkpoint of an interrupted run.")
@click.option("--force", is_flag=True, help="Replace the output if it is there.")
@click.option("--json", "as_json", is_flag=True, help="Say what was learned as JSON, on stderr.")
@click.pass_context
def train(
    ctx: click.Context,
    /,
    data: str,
    output: str,
    task: str | None,
    estimator: str | None,
    config: str | None,
    passes: int | None,
    shuffle: bool,
    seed: int,
    resume: bool,
    force: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Learn from DATA (a path, or - for standard input) and write a model.

    Every other flag is a parameter of the estimator.

    \b
    Examples:
      hinge train mail.jsonl -o mail.hinge --task label-ranking
      hinge train data.svm.gz -o m.hinge --task label-ranking --C 0.1 --update single
      zcat big.vw.gz | hinge train - --format vw -o m.hinge --task label-ranking
    """
    name = class_named(task, estimator)
    refuse_to_replace(output, force)
    options = reading(values)
    learner = make_estimator(name, ctx.obj, config)
    passes = number_of_passes(learner, passes)
    job = Job(learner, data, output, options, passes, seed if shuffle else None, force)
    if resume:
        job.resume()
    elif Path(job.checkpoint).exists() and not force:
        raise click.UsageError(f"{job.checkpoint} exists: --resume goes on from it, --force starts anew")
    rows = job.run()
    if as_json:
        click.echo(json.dumps({"model": output, "rows": rows, "passes": passes, "rounds": job.learner.t_}), err=True)


def number_of_passes(learner: Any, passes: int | None) -> int:
    """Return how often the data are learned; a rule that needs all rows at once decides itself."""
    its_own = getattr(learner, "max_iter", 1)
    if not hasattr(learner, "partial_fit"):
        if passes is not None:
            raise click.UsageError(
                f"{type(learner).__name__} with these parameters needs all rows at once; use --max-iter"
            )
        return 1
    if passes is not None and its_own not in (1, passes):
        raise click.UsageError(f"--passes {passes} and --max-iter {its_own} say the same thing twice")
    return int(passes or its_own)


class Job:
    """One training run; where it stands is the pass, and the rows of it that were learned."""

    def __init__(
        self,
        learner: Any,
        data: str,
        output: str,
        options: dict[str, Any],
        passes: int,
        seed: int | None,
        force: bool = False,
    ) -> None:
        self.learner, self.data, self.output, self.options = learner, data, output, options
        self.passes, self.seed, self.force = passes, seed, force
        self.checkpoint = f"{output}.checkpoint"
        self.number, self.row = 0, 0
        self.names: list[str] | None = None  # of the features, as a checkpoint has them

    def run(self) -> int:
        """Learn and write the model; returns the number of rows."""
        from hinge.cli.feeding import Feed, interruption, learn, named
        from hinge.queries import reported_once

        if not hasattr(self.learner, "partial_fit"):
            return self._fit_at_once()
        rows = 0
        once = reported_once(self.learner, self.passes - self.number)
        with interruption() as stopped, progress("learning", None) as advance, once:
            feed = Feed(self.learner, self.data, self.options, seed=self.seed, stopped=stopped)
            if self.data == "-" and self.passes > 1:
                feed.streams = False
            for number in range(self.number, self.passes):
                for block in feed.blocks(number, self.row):
                    learn(self.learner, block, self.data)
                    self.row += len(block)
                    rows += len(block)
                    advance(len(block), f"pass {number + 1}" if self.passes > 1 else "")
                    if stopped.is_set():
                        break
                if stopped.is_set():
                    self._interrupt(named(self.learner, feed.names or self.names), rows)
                if self.row == 0:
                    self._nothing()
                self.number, self.row = number + 1, 0
        named(self.learner, feed.names or self.names).save(self.output)
        Path(self.checkpoint).unlink(missing_ok=True)
        return rows

    def _fit_at_once(self) -> int:
        from hinge.cli.feeding import Feed, at_lines, given, named

        feed = Feed(self.learner, self.data, self.options)
        rows = feed.memory()
        if not len(rows):
            self._nothing()
        (whole,) = feed._ready([rows])
        with at_lines(self.data, whole):
            X, y, more = given(self.learner, whole)
            self.learner.fit(X, y, **more)
        named(self.learner, feed.names).save(self.output)
        return len(whole)

    def _nothing(self) -> None:
        from hinge.io import DataError
        from hinge.io.sources import name_of

        raise DataError(name_of(self.data), "there are no rows to learn from")

    def _interrupt(self, learner: Any, rows: int) -> None:
        """Write where the run stands, say how to go on, and leave."""
        from hinge.cli.app import INTERRUPTED
        from hinge.model_file import read_model, write_model

        if (self.number, self.row) == (0, 0):
            raise KeyboardInterrupt
        learner.save(self.checkpoint)
        header, sections = read_model(self.checkpoint)
        write_model(self.checkpoint, {**header, "checkpoint": self._state()}, sections)
        words = [word for word in sys.argv[1:] if word not in ("--resume", "--force")]
        again = shlex.join([*words, "--resume", *(["--force"] if self.force else [])])
        again_from = ", with the same standard input" if self.data == "-" else ""
        click.echo(
            f"interrupted after {rows} rows; the checkpoint is {self.checkpoint}. To go on{again_from}:", err=True
        )
        click.echo(f"hinge {again}", err=True)
        raise click.exceptions.Exit(INTERRUPTED)

    def _state(self) -> dict[str, Any]:
        return {"pass": self.number, "row": self.row, "passes": self.passes, "seed": self.seed, "data": self._size()}

    def _size(self) -> int | None:
        return None if self.data == "-" or not os.path.isfile(self.data) else os.path.getsize(self.data)

    def resume(self) -> None:
        """Go back to where the checkpoint stands; usage errors where this is another run."""
        import hinge
        from hinge.cli.feeding import unnamed
        from hinge.model_file import ModelFileError, read_model

        if not Path(self.checkpoint).exists():
            raise click.UsageError(f"there is no checkpoint {self.checkpoint} to resume from")
        state = read_model(self.checkpoint)[0].get("checkpoint")
        if not isinstance(state, dict):
            raise ModelFileError(f"{self.checkpoint}: a model, but not a checkpoint")
        learner = hinge.load(self.checkpoint)
        same = type(learner) is type(self.learner) and learner.get_params() == self.learner.get_params()
        now = {**self._state(), "pass": state.get("pass"), "row": state.get("row")}
        if not same or now != state:
            raise click.UsageError(f"{self.checkpoint} belongs to a run with other data or parameters")
        self.learner = unnamed(learner)
        self.names = None if learner._named_columns is None else list(learner._named_columns)
        self.number, self.row = int(state["pass"]), int(state["row"])
