"""Label ranking beside its peers: speed on one thread, with the quality that it buys.

    python benchmarks/label_ranking.py [--rows N] [--quick] [--only online best ..]

Every table is measured in this run; README.md says how.
"""

from __future__ import annotations

import os

for variable in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import argparse  # noqa: E402
import platform  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from dataclasses import dataclass, field, replace  # noqa: E402
from functools import cached_property  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
import peers  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from peers import Outcome, need  # noqa: E402
from streams import Law, Stream, rcv1_like  # noqa: E402
from tables import Table  # noqa: E402

BITS = 23  # VW: 47,000 x 103 weights fit without collisions


@dataclass
class Plan:
    """How much is measured."""

    rows: int
    test_rows: int
    seed: int
    repeats: int
    calls: int
    vw_rates: Sequence[float]
    liblinear_C: Sequence[float]
    napkinxc_eta: Sequence[float]
    best: dict[str, Outcome] = field(default_factory=dict)

    @cached_property
    def multiclass(self) -> Stream:
        return rcv1_like(self.rows, self.test_rows, seed=self.seed)

    @cached_property
    def multilabel(self) -> Stream:
        return rcv1_like(self.rows, self.test_rows, target="multilabel", seed=self.seed)


def ranker(**parameters: Any) -> Any:
    return need("hinge").LabelRanker(**parameters)


def described(parameters: dict[str, Any]) -> str:
    return f"LabelRanker({', '.join(f'{name}={value!r}' for name, value in parameters.items())})"


def learn_stream(stream: Stream, repeats: int, parameters: dict[str, Any], *, progressive: bool = True) -> Outcome:
    """One `partial_fit` of the whole batch is timed; progressive error comes from another pass."""
    classes = np.arange(stream.n_labels)
    seconds, model = peers.fastest(
        repeats, lambda: ranker(**parameters), lambda m: m.partial_fit(stream.X, stream.y, classes=classes)
    )
    scores = model.decision_function(stream.X_test)
    quality = peers.ranking_loss if sp.issparse(stream.y) else peers.error_rate
    outcome = Outcome(seconds, stream.X.shape[0], quality(scores, stream.y_test))
    if not progressive:
        return outcome
    return replace(outcome, progressive=progressive_error(stream, parameters))


def progressive_error(stream: Stream, parameters: dict[str, Any]) -> float:
    classes = np.arange(stream.n_labels)
    report = need("hinge").progressive(ranker(**parameters), stream.X, stream.y, classes=classes, every=1)
    return float(np.mean(report.curve["error"]))


# ------------------------------------------------------------------------------------------------------- the tables

SINGLE: dict[str, Any] = {"update": "single"}
FULL: dict[str, Any] = {"update": "full"}
ADAPTIVE: dict[str, Any] = {"update": "full", "geometry": "adaptive"}
TUNED_C, SGD_TUNED_C = 0.2, 0.5  # the least progressive error among .02, .05, .1, .2, .3, .5 and 1, for each


def online(plan: Plan) -> Table:
    """One pass, no tuning."""
    stream = plan.multiclass
    columns = [("learner", ""), ("rows/s", ",.0f"), ("single is x as fast", ".1f"), ("progressive error", ".4f")]
    table = Table(f"One pass over {stream}", [*columns, ("test error", ".4f")])
    reference: list[float] = []

    def row(run: Callable[[], Outcome]) -> Callable[[], Sequence[float | None]]:
        def cells() -> Sequence[float | None]:
            outcome = run()
            ratio = reference[0] / outcome.speed if reference else None
            return outcome.speed, ratio, outcome.progressive, outcome.test

        return cells

    bare, tuned = {"fit_intercept": False}, {"fit_intercept": False, "C": TUNED_C}
    for parameters in (SINGLE, {**SINGLE, **bare}, {**SINGLE, **tuned}, FULL, {**FULL, **bare}, ADAPTIVE):

        def run(parameters: dict[str, Any] = parameters) -> Outcome:
            outcome = learn_stream(stream, plan.repeats, parameters)
            reference[:] = reference or [outcome.speed]
            return outcome

        table.attempt(described(parameters), row(run))
    for C in (1.0, SGD_TUNED_C):
        table.attempt(f"SGDClassifier(pa1, eta0={C:g})", row(lambda C=C: peers.sklearn_pa1(stream, plan.repeats, C)))
    try:
        with peers.vw_files(stream, BITS) as files:
            for arguments in (f"--loss_function hinge -b {BITS}", "--loss_function hinge"):
                name = f"vw --oaa {stream.n_labels} {arguments}"
                table.add(name, *row(lambda arguments=arguments: files.learn(arguments, plan.repeats))())
    except peers.Missing as reason:
        table.note(f"vw: {reason}")
    table.note(
        "SGDClassifier: speed with one whole batch, faster of fit and partial_fit; progressive error in chunks of"
    )
    table.note(
        "at most 5 % of the rows before them and at most 200. vw: from its binary cache, which a second thread reads;"
    )
    table.note(f"with its default of 18 bits the {stream.n_labels} x {stream.X.shape[1]:,} weights collide.")
    table.note("C (eta0 there): 1 is the default of both; the other is the best for the progressive error, for each.")
    return table


def best(plan: Plan) -> Table:
    """VW with its loss and learning rate chosen on the test part, to its advantage."""
    stream = plan.multiclass
    columns = [("learner", ""), ("rows/s", ",.0f"), ("adaptive is x as fast", ".1f"), ("test error", ".4f")]
    table = Table("Best test error after one pass", columns)
    reference: list[float] = []

    def ours() -> Sequence[float | None]:
        outcome = learn_stream(stream, plan.repeats, ADAPTIVE, progressive=False)
        reference.append(outcome.speed)
        return outcome.speed, 1.0, outcome.test

    table.attempt(described(ADAPTIVE), ours)
    try:
        with peers.vw_files(stream, BITS) as files:
            for loss in ("squared", "hinge"):
                tried = {rate: files.learn(f"--loss_function {loss} -l {rate} -b {BITS}", 1) for rate in plan.vw_rates}
                rate = min(tried, key=lambda rate: tried[rate].test)
                outcome = tried[rate]
                ratio = reference[0] / outcome.speed if reference else None
                name = f"vw --oaa {stream.n_labels} --loss_function {loss} -l {rate}"
                table.add(name, outcome.speed, ratio, outcome.test)
    except peers.Missing as reason:
        table.note(f"vw: {reason}")
    table.note(f"vw: learning rate chosen on the test part from {_listed(plan.vw_rates)}; squared is its default loss.")
    return table


def label_sets(plan: Plan) -> Table:
    """The multi-label form; the peers' one parameter is chosen on the test part, to their advantage."""
    stream = plan.multilabel
    columns = [("learner", ""), ("seconds", ".2f"), ("r=3 is x as fast", ".1f"), ("test ranking loss", ".4f")]
    table = Table(f"Label sets: {stream}", columns)
    reference: list[float] = []

    def ours(parameters: dict[str, Any]) -> Sequence[float | None]:
        outcome = learn_stream(stream, plan.repeats, parameters, progressive=False)
        reference[:] = reference or [outcome.seconds]
        return outcome.seconds, outcome.seconds / reference[0], outcome.test

    def theirs(tried: Sequence[Outcome]) -> Sequence[float | None]:
        outcome = min(tried, key=lambda outcome: outcome.test)
        return outcome.seconds, outcome.seconds / reference[0] if reference else None, outcome.test

    for parameters in ({**ADAPTIVE, "r": 3.0}, ADAPTIVE, FULL, SINGLE):
        table.attempt(described(parameters), lambda parameters=parameters: ours(parameters))
    grid = plan.napkinxc_eta
    table.attempt("napkinXC OVR, AdaGrad", lambda: theirs([peers.napkinxc_ovr(stream, eta) for eta in grid]))
    if peers.version("liblinear"):
        grid = plan.liblinear_C
        table.attempt("LIBLINEAR -s 1, one-vs-rest", lambda: theirs([peers.liblinear_ovr(stream, C) for C in grid]))
    else:
        table.note("liblinear-official is not installed: scikit-learn's LinearSVC instead")
        table.attempt("LinearSVC, one-vs-rest", lambda: theirs([peers.sklearn_linear_svc(stream)]))
    table.note(f"napkinXC: one epoch, eta chosen on the test part from {_listed(plan.napkinxc_eta)}; writes its model.")
    table.note(f"LIBLINEAR: batch, C chosen on the test part from {_listed(plan.liblinear_C)}.")
    return table


def limit(plan: Plan) -> Table:
    """The bare loop and `partial_fit` in turns, with and without the constant feature."""
    stream, classes = plan.multiclass, np.arange(plan.multiclass.n_labels)
    rows = stream.X.shape[0]
    columns = [("single update", ""), ("rows/s", ",.0f"), ("of the limit", ".0%"), ("mistakes", ",.0f")]
    table = Table("The limit: a C++ loop that only scores and updates, compiled for this machine", columns)
    X, y = stream.X[1:], stream.y[1:]

    def partial_fit(parameters: dict[str, Any]) -> peers.Contestant:
        def warm() -> Any:
            return ranker(**parameters).partial_fit(stream.X[:1], stream.y[:1], classes=classes)

        return warm, lambda model: model.partial_fit(X, y)

    with tempfile.TemporaryDirectory() as folder:
        try:
            need("hinge")
            loop = peers.Limit(Path(folder))
        except peers.Missing as reason:
            table.note(str(reason))
            return table
        for intercept in (True, False):
            parameters = {**SINGLE, "fit_intercept": intercept}
            bare, ours = peers.in_turns(
                5 * plan.repeats, [loop.contestant(stream, intercept=intercept), partial_fit(parameters)]
            )
            mistakes = round(rows * progressive_error(stream, parameters))
            table.add(f"limit, fit_intercept={intercept}", rows / bare, 1.0, loop.mistakes)
            table.add(f"partial_fit, fit_intercept={intercept}", (rows - 1) / ours, bare / ours, mistakes)
    table.note(
        "Both start with their weights in memory: partial_fit has learned the first row before the clock starts."
    )
    table.note("Both make the same updates; the limit may fuse multiply and add, so that its roundings differ.")
    return table


def dicts(plan: Plan) -> Table:
    """30 string-named features, 50 labels, one `learn_one` after another."""
    features, n_labels = 30, 50
    law = Law(own=0.4, evenness=8.0, noise=0.02, further=0.0)
    stream = rcv1_like(2 * plan.calls, 1, n_features=5_000, n_labels=n_labels, law=law, seed=plan.seed)
    data = peers.as_dicts(stream, features, plan.calls)
    columns = [("learner", ""), ("microseconds", ",.1f"), ("progressive error", ".3f")]
    table = Table(f"learn_one: {len(data):,} dicts of {features} named features, {n_labels} labels", columns)

    def cells(outcome: Outcome) -> Sequence[float | None]:
        return 1e6 / outcome.speed, outcome.progressive

    for parameters in (SINGLE, FULL, ADAPTIVE, {**SINGLE, "features": "hashed"}):
        table.attempt(
            described(parameters),
            lambda parameters=parameters: cells(peers.learn_dicts(lambda: ranker(**parameters), data, plan.repeats)),
        )
    table.attempt("vw --oaa 50, example(dict)", lambda: cells(peers.vw_dicts(data, n_labels, plan.repeats)))
    table.attempt("river, one-vs-rest PA-I", lambda: cells(peers.river_dicts(data, 1)))
    table.note("vw: the example from the dict, its label (a number), learn and finish_example, hinge loss, 18 bits.")
    return table


def one_row(plan: Plan) -> Table:
    """What a call of `partial_fit` costs beyond the learning of its row."""
    stream = plan.multiclass
    columns = [("partial_fit on one row", ""), ("microseconds", ",.1f"), ("of which overhead", ",.1f")]
    table = Table("Overhead of a call", [*columns, ("weights equal one batch's", "")])
    calls = min(plan.calls, stream.X.shape[0])
    X, y = stream.X[:calls], stream.y[:calls]
    narrow = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")[:100]

    def ours(rows: Any) -> Sequence[float | str]:
        classes = np.arange(stream.n_labels)
        batch, whole = peers.fastest(
            plan.repeats, lambda: ranker(**SINGLE), lambda m: m.partial_fit(rows, y, classes=classes)
        )
        singles = [(rows[i : i + 1], y[i : i + 1]) for i in range(1, calls)]

        def learn(model: Any) -> None:
            for row, label in singles:
                model.partial_fit(row, label)

        seconds, model = peers.fastest(
            plan.repeats, lambda: ranker(**SINGLE).partial_fit(rows[:1], y[:1], classes=classes), learn
        )
        each = seconds / len(singles)
        same = np.array_equal(model.coef_, whole.coef_)
        return 1e6 * each, 1e6 * (each - batch / calls), "yes" if same else "NO"

    table.attempt("LabelRanker, CSR row", lambda: ours(X))
    table.attempt("LabelRanker, dense row of 100", lambda: ours(np.ascontiguousarray(X[:, narrow].toarray())))
    table.attempt("SGDClassifier(pa1), CSR row", lambda: (1e6 * peers.sklearn_one_row(stream, 20), None, None))
    return table


TABLES = {
    "online": online,
    "best": best,
    "label-sets": label_sets,
    "limit": limit,
    "dicts": dicts,
    "one-row": one_row,
}


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


# ------------------------------------------------------------------------------------------------------ the command


def machine() -> str:
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors" if hasattr(os, "getloadavg") else ""
    return f"{model}, Python {platform.python_version()}, one thread each; {load} at the start"


def versions() -> str:
    found = {name: peers.version(module) for module, name in peers.DISTRIBUTIONS.items()}
    return ", ".join(f"{name} {number or 'not installed'}" for name, number in found.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=None, help="training rows (100,000; 10,000 with --quick)")
    parser.add_argument("--quick", action="store_true", help="fewer rows, repeats and parameters: a look, not a result")
    parser.add_argument(
        "--only", nargs="+", choices=TABLES, default=list(TABLES), metavar="TABLE", help=", ".join(TABLES)
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the streams")
    arguments = parser.parse_args()
    if arguments.rows is not None and arguments.rows < 1:
        parser.error("--rows must be at least 1")

    if arguments.quick:
        plan = Plan(arguments.rows or 10_000, 4_000, arguments.seed, 2, 2_000, (0.5,), (0.1,), (0.5,))
    else:
        rates, C, eta = (0.1, 0.25, 0.5, 1.0), (0.01, 0.03, 0.1), (0.1, 0.25, 0.5, 1.0)
        plan = Plan(arguments.rows or 100_000, 20_000, arguments.seed, 3, 5_000, rates, C, eta)

    print(f"{machine()}\n{versions()}\n", flush=True)
    start = time.perf_counter()
    for name in arguments.only:
        TABLES[name](plan).show()
    print(f"{time.perf_counter() - start:.0f} seconds in all")


if __name__ == "__main__":
    main()
