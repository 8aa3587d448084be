"""Ranked lists beside their peers: NDCG and MAP on real lists, and speed with the quality that it buys.

    python benchmarks/ranking.py [--quick] [--only mq2008 lambdarank speed]

The tables mq2008 and lambdarank are those of `hinge reproduce ranking`, where the protocol stands, and the peers.
Real data come from $HINGE_DATA, or from shared/data beside the repository; a table whose data are missing is left out.
"""

from __future__ import annotations

import os

for variable in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import argparse  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from itertools import product  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
import peers  # noqa: E402
from peers import need  # noqa: E402
from tables import Table  # noqa: E402

from hinge import ListRanker  # noqa: E402
from hinge.datasets import Lists  # noqa: E402
from hinge.metrics import ndcg_score  # noqa: E402
from hinge.reproduce import ranking  # noqa: E402
from hinge.reproduce.ranking import Choices, Learner, Model  # noqa: E402


def ridge(lists: Lists, alpha: float) -> Model:
    return need("sklearn.linear_model").Ridge(alpha=alpha).fit(lists.X, lists.y).predict


def pairwise_svm(lists: Lists, C: float) -> Model:
    """Linear RankSVM: a support vector machine on the differences of all comparable pairs."""
    X, y, qid = lists
    pairs = []
    for q in np.unique(qid):
        rows = np.flatnonzero(qid == q)
        up, down = np.nonzero(y[rows][:, None] > y[rows][None, :])
        pairs.append(X[rows[up]] - X[rows[down]])
    differences = np.concatenate(pairs)
    sign = np.where(np.arange(len(differences)) % 2, 1, -1)
    svm = need("sklearn.svm").LinearSVC(
        C=C / len(differences), fit_intercept=False, loss="hinge", max_iter=20_000, random_state=0
    )
    return svm.fit(differences * sign[:, None], sign).decision_function


def lightgbm(lists: Lists, **parameters: Any) -> Model:
    X, y, qid = lists
    sizes = np.diff(np.flatnonzero(np.concatenate([[True], qid[1:] != qid[:-1], [True]])))
    model = need("lightgbm").LGBMRanker(n_jobs=1, verbose=-1, **parameters)
    return model.fit(X, y, group=sizes).predict


def grid(**choices: Sequence[Any]) -> list[dict[str, Any]]:
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


PEERS: dict[str, tuple[Learner, Choices]] = {
    "Ridge": (ridge, grid(alpha=[1.0, 1e2, 1e4])),
    "LinearSVC on pairs (RankSVM)": (pairwise_svm, grid(C=[1.0, 10.0, 100.0])),
    "LightGBM lambdarank (trees)": (
        lightgbm, grid(num_leaves=[7, 31], learning_rate=[0.05], n_estimators=[50, 200], min_child_samples=[20]),
    ),
}  # fmt: skip


def mq2008(quick: bool) -> Table:
    """The five official folds: parameters chosen by MAP on the validation part, judged on the test part."""
    folds = ranking.mq2008_folds(1 if quick else ranking.FOLDS)
    table = Table.of(ranking.mq2008(folds))
    for name, (learn, choices) in PEERS.items():
        table.attempt(name, lambda learn=learn, choices=choices: ranking.mq2008_cells(folds, learn, choices))  # type: ignore[misc]
    return table


def lambdarank(quick: bool) -> Table:
    """LightGBM's own example with its own settings."""
    train, test = ranking.example()
    table = Table.of(ranking.lambdarank(train, test))
    settings = {"num_leaves": 31, "learning_rate": 0.1, "n_estimators": 100, "min_child_samples": 50,
                "min_child_weight": 5.0, "subsample": 0.9, "subsample_freq": 1}  # fmt: skip
    table.attempt("Ridge(1000)", lambda: ranking.example_cells(ridge(train, 1000.0), test))
    table.attempt("LightGBM lambdarank (trees)", lambda: ranking.example_cells(lightgbm(train, **settings), test))
    table.note("LightGBM: the settings of its example, 100 trees")
    return table


def drawn(queries: int, seed: int) -> Lists:
    """Lists of 100 documents with 136 features, graded 0 to 4 by a linear score and as much noise."""
    rng = np.random.default_rng(seed)
    w = np.random.default_rng(0).normal(size=136) / np.sqrt(136)
    X = rng.standard_normal((100 * queries, 136), dtype=np.float32)
    grades = np.digitize(X @ w + rng.normal(size=len(X)), [0.7, 1.6, 2.2, 2.8]).astype(np.float32)
    return Lists(X, grades, np.repeat(np.arange(queries), 100))


def speed(quick: bool) -> Table:
    """Ten passes of Kendall over 2,000 lists of 100 documents, beside 50 rounds of trees, one thread each."""
    (X, y, qid), test = drawn(200 if quick else 2000, 1), drawn(200, 2)
    columns = [("learner", ""), ("seconds", ".2f"), ("ListRanker is x as fast", ".1f"), ("NDCG@10", ".4f")]
    table = Table(f"{len(X):,} x 136 documents; NDCG@10 on other lists; processor time, best of turns", columns)
    makers: dict[str, Callable[[], Any]] = {
        "ListRanker('kendall', max_iter=10)": lambda: ListRanker(max_iter=10),
        "ListRanker('kendall', max_iter=10, average=True)": lambda: ListRanker(max_iter=10, average=True),
    }
    try:
        trees = need("xgboost").XGBRanker
        makers[f"XGBoost {peers.version('xgboost')} rank:pairwise, 50 rounds"] = lambda: trees(
            objective="rank:pairwise", n_estimators=50, tree_method="hist", n_jobs=1
        )
    except peers.Missing as reason:
        table.note(f"XGBoost: {reason}")
    seen = peers.raced(1 if quick else 3, [(make, lambda m: m.fit(X, y, qid=qid)) for make in makers.values()])
    for name, (seconds, model) in zip(makers, seen, strict=True):
        ndcg = ndcg_score(test[1], model.predict(test[0]), k=10, qid=test[2])
        table.add(name, seconds, seconds / seen[0][0], ndcg)
    table.note(
        "The grades are linear in the features but for noise, which suits a linear ranker: see the other tables."
    )
    return table


TABLES = {"mq2008": mq2008, "lambdarank": lambdarank, "speed": speed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one fold, few lists: a look, not a result")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    options = parser.parse_args()
    for name in options.only:
        try:
            TABLES[name](options.quick).show()
        except FileNotFoundError as reason:
            print(f"{name}: left out, {reason}\n")


if __name__ == "__main__":
    main()
