"""Label ranking by pairs: the paper's table and figure, and what a round costs.

    python benchmarks/pairwise.py [--only table curve speed] [--sets corel5k bibtex ..] [--folds 5] [--rounds 70000]
    python benchmarks/pairwise.py --only table --mulan mediamill=mediamill.arff,mediamill.xml

The table is that of `hinge reproduce ansgd`, where the protocol stands.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.metrics import label_ranking_loss
from sklearn.model_selection import KFold
from tables import Table

from hinge import MMP, PairwiseLabelRanker, metrics
from hinge.labels import read_targets
from hinge.reproduce import ansgd
from hinge.reproduce.ansgd import SETS, Rows


def show_table(args: argparse.Namespace) -> None:
    asked = {"folds": args.folds, "rounds": args.rounds, "seed": args.seed, "every_fold": args.every_fold}
    for seen in ansgd.run(lambda by, note: None, args.sets, args.mulan, **asked):
        Table.of(seen).show()


def show_curve(args: argparse.Namespace) -> None:
    """The paper's figure: the objective on test rows against t; and how fast the excess on the training rows falls."""
    for name, read in ansgd.chosen(args.sets, args.mulan):
        data = Rows.of(read())
        train, test = next(KFold(5, shuffle=True, random_state=args.seed).split(data.X))
        for alpha in args.alphas:
            curves = Curves(name, alpha, data.take(train), data.take(test), args.seed)
            curves.show()
            if args.plot:
                curves.plot(Path(args.plot))


class Curves:
    """What SGD and ANSGD leave on training and on test rows as the rounds pass, for one alpha."""

    rounds = 2 ** np.arange(8, 18)
    fitted = slice(4, None)  # of the rounds: where the slopes are read off

    def __init__(self, name: str, alpha: float, rows: Rows, held_out: Rows, seed: int) -> None:
        self.title = f"{name}, alpha {alpha:g}"
        batch = PairwiseLabelRanker("lbfgs", alpha=alpha, tol=1e-4).fit(*rows)
        self.gap, self.batch = batch.gap_, batch.objective(*held_out)
        drawn = np.random.default_rng(seed).integers(rows.X.shape[0], size=self.rounds[-1])
        kinds = {
            "SGD": PairwiseLabelRanker("sgd", alpha=alpha),
            "ANSGD": PairwiseLabelRanker(alpha=alpha),
            "ANSGD auto": PairwiseLabelRanker(alpha=alpha, lipschitz="auto"),
        }
        self.excess, self.test = dict[str, np.ndarray](), dict[str, np.ndarray]()
        for average in (False, True):
            for kind, learner in kinds.items():
                key = f"{kind}{' mean' if average else ''}"
                it = clone(learner).set_params(average=average)
                on_train, self.test[key] = follow(it, rows, held_out, drawn, self.rounds)
                self.excess[key] = on_train - batch.lower_bound_
        self.slopes = {kind: self.slope(values) for kind, values in self.excess.items()}

    def slope(self, values: np.ndarray) -> float:
        return float(np.polyfit(np.log(self.rounds[self.fitted]), np.log(values[self.fitted]), 1)[0])

    def show(self) -> None:
        for what, values, form in (("objective on test rows", self.test, ".4f"), ("excess", self.excess, ".1e")):
            table = Table(f"{self.title}: {what}", [("t", ",.0f"), *((kind, form) for kind in values)])
            for i, t in enumerate(self.rounds):
                table.add(f"{t:,}", *[float(seen[i]) for seen in values.values()])
            if values is self.test:
                table.note(f"batch: {self.batch:.4f}")
            else:
                table.note("slope of log excess against log t, from t = " + f"{self.rounds[self.fitted][0]:,}: ")
                table.note(", ".join(f"{kind} {slope:.2f}" for kind, slope in self.slopes.items()))
                table.note(f"excess on the training rows, over the proven lower bound, whose own gap is {self.gap:.0e}")
            table.show()

    def plot(self, folder: Path) -> None:
        import matplotlib.pyplot as plt

        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
        for (kind, on_test), excess in zip(self.test.items(), self.excess.values(), strict=True):
            style = "--" if kind.endswith("mean") else "-"
            left.loglog(self.rounds, on_test, style, label=kind)
            right.loglog(self.rounds, excess, style, label=f"{kind}: slope {self.slopes[kind]:.2f}")
        left.axhline(self.batch, color="grey", linewidth=0.8, label="batch")
        left.set(xlabel="t", ylabel="objective on test rows", title=self.title)
        right.set(xlabel="t", ylabel="excess on training rows", title="over the proven lower bound")
        for panel in (left, right):
            panel.legend(fontsize="x-small")
        named = self.title.replace(",", "").replace(" ", "_")
        figure.savefig(folder / f"pairwise_{named}.png", dpi=80)


def follow(
    learner: Any, rows: Rows, held_out: Rows, drawn: np.ndarray, rounds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The objective on training and on test rows after so many rounds."""
    out, done = [], 0
    for t in rounds:
        learner.partial_fit(*rows.take(drawn[done:t]))
        out.append((learner.objective(*rows), learner.objective(*held_out)))
        done = t
    on_train, on_test = np.array(out).T
    return on_train, on_test


def least(*runs: Callable[[], Any], repeats: int = 30, clock: Callable[[], float] = time.process_time) -> list[float]:
    """Least seconds of each, in turns, so that what else the machine does is shared."""
    seconds = [np.inf] * len(runs)
    for _ in range(repeats):
        for i, run in enumerate(runs):
            start = clock()
            run()
            seconds[i] = min(seconds[i], clock() - start)
    return seconds


def show_speed(args: argparse.Namespace) -> None:
    show_rounds()
    show_ranking_loss(np.random.default_rng(args.seed))


def show_rounds() -> None:
    data = Rows.of(SETS["corel5k"]())
    columns = [
        ("learner", ""),
        ("scoring", ".2f"),
        ("round", ".2f"),
        ("ratio", ".1f"),
        ("with cut", ".2f"),
        ("ratio", ".1f"),
    ]
    table = Table("A round on corel5k, microseconds of processor time", columns)
    for learner in (PairwiseLabelRanker(), PairwiseLabelRanker(average=False), PairwiseLabelRanker("sgd"), MMP()):
        learner.partial_fit(*data)
        x = learner._read_x(data.X)
        y, model = read_targets(data.Y, learner._labels, x.count), learner._model
        out = np.empty(data.Y.shape, dtype=np.float32)

        def learn(sets: bool, learner=learner, x=x, y=y, model=model) -> None:
            model.learn(x, y.start, y.label, sets, None, None, *learner._set)

        seconds = least(
            lambda model=model, x=x, out=out: model.score(x, out),
            lambda learn=learn: learn(False),
            lambda learn=learn: learn(True),
        )
        score, bare, cut = (one / x.count * 1e6 for one in seconds)
        table.add(repr(learner), score, bare, bare / score, cut, cut / score)
    table.note(
        "scoring: of one row with the weights that are predicted with; cut: learning where to cut the scores too"
    )
    table.show()


def show_ranking_loss(rng: np.random.Generator) -> None:
    columns = [
        ("relevant", ""),
        ("scikit-learn", ".3f"),
        ("hinge", ".4f"),
        ("times as fast", ".0f"),
        ("difference", ".0e"),
    ]
    table = Table("Ranking loss of 10,000 x 400 scores, seconds", columns)
    for share in (0.01, 0.1, 0.5):
        scores, Y = rng.normal(size=(10_000, 400)), (rng.random((10_000, 400)) < share).astype(int)
        theirs, ours = least(
            lambda Y=Y, s=scores: label_ranking_loss(Y, s),
            lambda Y=Y, s=scores: metrics.label_ranking_loss(Y, s),
            repeats=12,
            clock=time.perf_counter,
        )
        difference = abs(metrics.label_ranking_loss(Y, scores) - label_ranking_loss(Y, scores))
        table.add(f"{share:.0%}", theirs, ours, theirs / ours, difference)
    table.note(f"scikit-learn {sklearn.__version__}; hinge on {os.cpu_count()} processors")
    table.show()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=("table", "curve", "speed"), default=["table", "curve", "speed"])
    parser.add_argument("--sets", nargs="*", choices=tuple(SETS), help="for table and curve")
    parser.add_argument("--mulan", nargs="*", default=[], metavar="NAME=ARFF,XML", help="further sets, by their files")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=70_000)
    parser.add_argument("--alphas", type=float, nargs="+", default=[1e-3, 1e-2], help="for curve")
    parser.add_argument("--every-fold", action="store_true", help="choose alpha on every fold")
    parser.add_argument("--plot", metavar="FOLDER", help="for curve: a figure a set")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    asked = args.sets
    for name in args.only:
        if asked is None:
            args.sets = [] if args.mulan else ["corel5k"] if name == "curve" else list(SETS)
        {"table": show_table, "curve": show_curve, "speed": show_speed}[name](args)


if __name__ == "__main__":
    main()
