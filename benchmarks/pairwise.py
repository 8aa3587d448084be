"""Label ranking by pairs: the paper's table and figure, and what a round costs.

    python benchmarks/pairwise.py [--only table curve speed] [--sets corel5k bibtex ..] [--folds 5] [--rounds 70000]
    python benchmarks/pairwise.py --only table --mulan mediamill=mediamill.arff,mediamill.xml

The protocol is the paper's: random folds; alpha from 1e-6, 1e-5, .., 1 by the ranking loss of the batch solver on a
validation part of the training rows; the online learners then see so many rows, drawn at random from the training rows,
and predict with the mean of their weights. Three things are ours: alpha is chosen on the first fold only (--every-fold
for all of them), the batch solver stops at a proven gap of .02 while alpha is chosen and of .01 afterwards, and all
weights start at zero instead of at random.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import label_ranking_loss
from sklearn.model_selection import KFold
from tables import Table

import hinge.datasets as datasets
from hinge import MMP, PairwiseLabelRanker, PairwiseLabelRankerCV, metrics
from hinge.datasets.multilabel import read_mulan

ALPHAS = 10.0 ** np.arange(-6, 1)
REPORTED = {  # batch, SGD, MMP, ANSGD (Park and Choi, table 2)
    "corel5k": (0.895, 0.885, 0.843, 0.887),
    "rcv1v2-1 as distributed": (0.969, 0.963, 0.964, 0.964),
    "rcv1v2-1 repaired": (0.969, 0.963, 0.964, 0.964),
    "bibtex": (0.946, 0.935, 0.935, 0.945),
    "tmc2007-500": (0.958, 0.954, 0.956, 0.957),  # theirs has 49,060 features
    "tmc2007": (0.958, 0.954, 0.956, 0.957),
    "mediamill": (0.953, 0.945, 0.948, 0.946),
    "bookmark": (0.922, 0.905, 0.906, 0.913),
}
SETS: dict[str, Callable[[], Any]] = {
    "corel5k": lambda: datasets.load_mulan("corel5k"),
    "rcv1v2-1 as distributed": lambda: datasets.load_rcv1_subset(1, repaired=False),
    "rcv1v2-1 repaired": lambda: datasets.load_rcv1_subset(1),
    "bibtex": lambda: datasets.load_mulan("bibtex"),
    "tmc2007-500": lambda: datasets.load_mulan("tmc2007-500"),
    "enron": lambda: datasets.load_mulan("enron"),
    "medical": lambda: datasets.load_mulan("medical"),
    "yeast": lambda: datasets.load_mulan("yeast"),
    "scene": lambda: datasets.load_mulan("scene"),
}


class Rows(NamedTuple):
    """Instances and label sets; float32 CSR and int8 CSR."""

    X: Any
    Y: Any

    def take(self, rows: np.ndarray) -> Rows:
        return Rows(self.X[rows], self.Y[rows])

    def __len__(self) -> int:
        return int(self.X.shape[0])


def load(read: Callable[[], Any]) -> Rows:
    data = read()
    return Rows(sp.csr_matrix(data.X, dtype=np.float32), sp.csr_matrix(data.Y))


def learners(alpha: float) -> list[tuple[str, Any]]:
    """The four columns of the table."""
    return [
        ("batch", PairwiseLabelRanker("lbfgs", alpha=alpha, tol=1e-2)),
        ("SGD", PairwiseLabelRanker("sgd", alpha=alpha)),
        ("MMP", MMP(average=True)),
        ("ANSGD", PairwiseLabelRanker("ansgd", alpha=alpha)),
    ]


def choose_alpha(train: Rows, seed: int) -> float:
    batch = PairwiseLabelRanker("lbfgs", tol=2e-2)
    search = PairwiseLabelRankerCV(batch, alphas=ALPHAS, cv=0.2, random_state=seed)
    return float(search.fit(train.X, train.Y).alpha_)


def learn(learner: Any, train: Rows, rounds: int, rng: np.random.Generator) -> Any:
    """Solve for all rows, or learn from rows drawn at random."""
    if not hasattr(learner, "partial_fit"):
        return learner.fit(*train)
    for part in np.array_split(rng.integers(len(train), size=rounds), max(1, rounds // 10_000)):
        learner.partial_fit(*train.take(part))
    return learner


def protocol(
    data: Rows, folds: int, rounds: int, seed: int, every_fold: bool
) -> tuple[dict[str, list[float]], list[float], dict[str, float]]:
    """The paper's protocol: AUC by learner and fold, the alphas chosen, and seconds of learning by learner."""
    auc: dict[str, list[float]] = {name: [] for name, _ in learners(1.0)}
    seconds = dict.fromkeys(auc, 0.0)
    alphas: list[float] = []
    for fold, (train, test) in enumerate(KFold(folds, shuffle=True, random_state=seed).split(data.X)):
        rows, held_out = data.take(train), data.take(test)
        alphas.append(choose_alpha(rows, seed + fold) if every_fold or not alphas else alphas[0])
        for name, learner in learners(alphas[-1]):
            start = time.perf_counter()
            learn(learner, rows, rounds, np.random.default_rng(seed + fold))
            seconds[name] += time.perf_counter() - start
            auc[name].append(learner.measures(*held_out)["auc"])
    return auc, alphas, seconds


def show_table(args: argparse.Namespace) -> None:
    begun = time.perf_counter()
    table = Table(
        f"AUC, mean (deviation) over {args.folds} folds, {args.rounds:,} rounds; below each the paper's",
        [("data", ""), ("batch", ""), ("SGD", ""), ("MMP", ""), ("ANSGD", ""), ("alpha", ""), ("s a fold", "")],
    )
    for name, read in chosen_sets(args):
        auc, alphas, seconds = protocol(load(read), args.folds, args.rounds, args.seed, args.every_fold)
        cells = [f"{np.mean(values):.3f} ({np.std(values):.3f})" for values in auc.values()]
        spent = " / ".join(f"{s / args.folds:.1f}" for s in seconds.values())
        table.add(name, *cells, " ".join(f"{a:g}" for a in dict.fromkeys(alphas)), spent)
        if name in REPORTED:
            table.add("  paper", *[f"{value:.3f}        " for value in REPORTED[name]], "", "")
    table.note(f"{time.perf_counter() - begun:.0f} s in all, the choice of alpha included; alpha was chosen by batch")
    table.show()


def chosen_sets(args: argparse.Namespace) -> Iterator[tuple[str, Callable[[], Any]]]:
    for name in args.sets:
        yield name, SETS[name]
    for given in args.mulan:
        name, _, paths = given.partition("=")
        arff, xml = (Path(path) for path in paths.split(","))
        yield name, lambda arff=arff, xml=xml: read_mulan(arff, xml)


def show_curve(args: argparse.Namespace) -> None:
    """The paper's figure: the objective on test rows against t; and how fast the excess on the training rows falls."""
    rounds = 2 ** np.arange(8, 18)
    for name, read in chosen_sets(args):
        data = load(read)
        train, test = next(KFold(5, shuffle=True, random_state=args.seed).split(data.X))
        rows, held_out = data.take(train), data.take(test)
        for alpha in args.alphas:
            batch = PairwiseLabelRanker("lbfgs", alpha=alpha, tol=1e-4).fit(*rows)
            kinds = {
                "SGD": PairwiseLabelRanker("sgd", alpha=alpha),
                "ANSGD": PairwiseLabelRanker(alpha=alpha),
                "ANSGD auto": PairwiseLabelRanker(alpha=alpha, lipschitz="auto"),
            }
            columns = [("t", ",.0f"), *((f"{kind} test", ".4f") for kind in kinds)]
            columns += [(f"{kind} mean test", ".4f") for kind in kinds] + [(f"{kind} excess", ".1e") for kind in kinds]
            title = f"{name}, alpha {alpha:g}; batch: {batch.objective(*held_out):.4f} on test rows"
            table = Table(title, columns)
            drawn = np.random.default_rng(args.seed).integers(len(rows), size=rounds[-1])
            seen = {
                f"{kind}{' mean' if average else ''}": follow(
                    clone(learner).set_params(average=average), rows, held_out, drawn, rounds
                )
                for average in (False, True)
                for kind, learner in kinds.items()
            }
            excess = {kind: np.array([train for train, _ in seen[kind]]) - batch.lower_bound_ for kind in kinds}
            for i, t in enumerate(rounds):
                table.add(float(t), *[seen[key][i][1] for key in seen], *[float(e[i]) for e in excess.values()])
            for kind, values in excess.items():
                slope = np.polyfit(np.log(rounds[4:]), np.log(values[4:]), 1)[0]
                table.note(f"{kind}: log excess on the training rows against log t has slope {slope:.2f}")
            table.note(f"excess is over the proven lower bound; the bound's own gap is {batch.gap_:.0e}")
            table.show()
            if args.plot:
                plot(f"{name} alpha {alpha:g}", rounds, seen, args.plot)


def follow(
    learner: Any, rows: Rows, held_out: Rows, drawn: np.ndarray, rounds: np.ndarray
) -> list[tuple[float, float]]:
    """The objective on training and on test rows after so many rounds."""
    out, done = [], 0
    for t in rounds:
        learner.partial_fit(*rows.take(drawn[done:t]))
        out.append((learner.objective(*rows), learner.objective(*held_out)))
        done = t
    return out


def plot(title: str, rounds: np.ndarray, seen: dict[Any, Any], folder: str) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    for name, values in seen.items():
        axes.loglog(rounds, [test for _, test in values], label=name)
    axes.set(xlabel="t", ylabel="objective on test rows", title=title)
    axes.legend()
    figure.savefig(Path(folder) / f"{title.replace(' ', '_')}.png")


def least_cpu(run: Callable[[], Any], repeats: int = 30) -> float:
    """Seconds of processor time: other programs on the machine do not count."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def show_speed(args: argparse.Namespace) -> None:
    from hinge.labels import read_targets

    data = load(SETS["corel5k"])
    table = Table(
        "A round on corel5k, microseconds of processor time; the row's labels fixed, without and with learning the cut",
        [
            ("learner", ""),
            ("scoring", ".2f"),
            ("round", ".2f"),
            ("ratio", ".1f"),
            ("with cut", ".2f"),
            ("ratio", ".1f"),
        ],
    )
    for learner in (PairwiseLabelRanker(), PairwiseLabelRanker(average=False), PairwiseLabelRanker("sgd"), MMP()):
        learner.partial_fit(*data)
        x = learner._read_x(data.X)
        y, model = read_targets(data.Y, learner._labels, x.count), learner._model
        out = np.empty(data.Y.shape, dtype=np.float32)
        score = least_cpu(lambda model=model, x=x, out=out: model.score(x, out)) / len(data) * 1e6
        bare, cut = (
            least_cpu(lambda m=model, x=x, y=y, c=c, it=learner: m.learn(x, y.start, y.label, c, None, None, *it._set))
            / len(data) * 1e6
            for c in (False, True)
        )  # fmt: skip
        table.add(repr(learner), score, bare, bare / score, cut, cut / score)
    table.show()

    rng = np.random.default_rng(args.seed)
    table = Table(
        "Ranking loss of 10,000 x 400 scores, seconds of processor time",
        [
            ("relevant", ".0%"),
            ("scikit-learn", ".3f"),
            ("hinge", ".4f"),
            ("times as fast", ".0f"),
            ("difference", ".0e"),
        ],
    )
    for share in (0.01, 0.1, 0.5):
        scores, Y = rng.normal(size=(10_000, 400)), (rng.random((10_000, 400)) < share).astype(int)
        theirs = least_cpu(lambda Y=Y, s=scores: label_ranking_loss(Y, s), 3)
        ours = least_cpu(lambda Y=Y, s=scores: metrics.label_ranking_loss(Y, s), 10)
        difference = abs(metrics.label_ranking_loss(Y, scores) - label_ranking_loss(Y, scores))
        table.add(f"{share:.0%}", theirs, ours, theirs / ours, difference)
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
            args.sets = ["corel5k"] if name == "curve" else [] if args.mulan else list(SETS)
        {"table": show_table, "curve": show_curve, "speed": show_speed}[name](args)


if __name__ == "__main__":
    main()
