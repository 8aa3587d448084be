"""Ranked lists beside their peers: NDCG and MAP on real lists, and speed with the quality that it buys.

    python benchmarks/ranking.py [--quick] [--only mq2008 lambdarank speed]

Real data come from $HINGE_DATA, or from shared/data beside the repository; a table whose data are missing is left out.
"""

from __future__ import annotations

import os

for variable in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import argparse  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from itertools import product  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
import peers  # noqa: E402
from peers import need  # noqa: E402
from tables import Table  # noqa: E402

warnings.filterwarnings("ignore", message=".*ask.* for nothing.*")
Lists = tuple[np.ndarray, np.ndarray, np.ndarray]
Model = Callable[[np.ndarray], np.ndarray]


def judge(y: np.ndarray, s: np.ndarray, qid: np.ndarray, ks: Sequence[int], tool: Sequence[int] = ()) -> list[float]:
    """NDCG at each k with LETOR's gain, that of its evaluation tool, then MAP; a list without relevant ones is 0."""
    metrics = need("hinge.metrics")
    shared = {"qid": qid, "ignore_ties": True, "zero_division": 0.0}
    ndcg = [metrics.ndcg_score(y, s, k=k, gain="exponential", **shared) for k in ks]
    letor = [metrics.ndcg_score(y, s, k=k, gain="exponential", discount="letor", **shared) for k in tool]
    return [*ndcg, *letor, metrics.mean_average_precision(y, s, **shared)]


def ours(lists: Lists, **parameters: Any) -> Model:
    X, y, qid = lists
    ranker = need("hinge").ListRanker(max_iter=20, average=True, **parameters)
    return ranker.fit(X, y, qid=qid).predict


def ridge(lists: Lists, alpha: float) -> Model:
    return need("sklearn.linear_model").Ridge(alpha=alpha).fit(lists[0], lists[1]).predict


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


CANDIDATES: dict[str, tuple[Callable[..., Model], list[dict[str, Any]]]] = {
    "ListRanker('kendall')": (ours, grid(C=[1e-3, 1e-2, 1e-1])),
    "ListRanker('ndcg', k=10)": (ours, grid(loss=["ndcg"], k=[10], gain=["exponential"], C=[1e-4, 1e-2])),
    "ListRanker('ndcg', k=10, ties='mean')": (
        ours, grid(loss=["ndcg"], k=[10], gain=["exponential"], ties=["mean"], C=[1e-4, 1e-2]),
    ),
    "Ridge": (ridge, grid(alpha=[1.0, 1e2, 1e4])),
    "LinearSVC on pairs (RankSVM)": (pairwise_svm, grid(C=[1.0, 10.0, 100.0])),
    "LightGBM lambdarank (trees)": (
        lightgbm, grid(num_leaves=[7, 31], learning_rate=[0.05], n_estimators=[50, 200], min_child_samples=[20]),
    ),
}  # fmt: skip


def standardised(parts: Sequence[Any]) -> list[Lists]:
    """Bring every part to the training part's mean and deviation."""
    dense = [part.X.toarray() if hasattr(part.X, "toarray") else np.asarray(part.X) for part in parts]
    mean, spread = dense[0].mean(axis=0), dense[0].std(axis=0)
    spread[spread == 0] = 1
    return [((X - mean) / spread, *part[1:]) for X, part in zip(dense, parts, strict=True)]


def mq2008(quick: bool) -> Table:
    """The five official folds: parameters chosen by MAP on the validation part, judged on the test part."""
    ks = (1, 3, 5, 10) if quick else tuple(range(1, 11))
    of_k = [(f"N@{k}", ".4f") for k in ks]
    columns = [("mean of five folds", ""), *of_k, ("tool N@5", ".4f"), ("MAP", ".4f"), ("published MAP", ".4f")]
    table = Table("MQ2008, test parts", columns)
    folds = [standardised(need("hinge.datasets").load_mq2008(fold)) for fold in range(1, 2 if quick else 6)]
    for name, (learn, choices) in CANDIDATES.items():

        def row(learn: Callable[..., Model] = learn, choices: Sequence[dict[str, Any]] = choices) -> Sequence[Any]:
            seen = []
            for train, validation, test in folds:
                models = [learn(train, **choice) for choice in choices]
                scores = [judge(validation[1], model(validation[0]), validation[2], ())[-1] for model in models]
                best = models[int(np.argmax(scores))]
                seen.append(judge(test[1], best(test[0]), test[2], ks, tool=(5,)))
            return [*np.mean(seen, axis=0), None]

        table.attempt(name, row)
    table.note(
        "Each learner's parameters are chosen by MAP on the validation part of each fold. Features are brought to"
    )
    table.note("mean 0 and deviation 1. Tool: with the discount of LETOR's evaluation tool.")
    table.note(
        "Published: T.-Y. Liu, Learning to Rank for Information Retrieval, 2011, Table 11.10 has figures of RankSVM"
    )
    table.note("and ListNet; the table could not be opened, so none of them stands here.")
    return table


def lambdarank(quick: bool) -> Table:
    """LightGBM's own example with its own settings."""
    ks = (1, 3, 5)
    columns = [("learner", ""), *((f"NDCG@{k}", ".4f") for k in ks), ("MAP", ".4f")]
    table = Table("LightGBM's lambdarank example, test part", columns)
    load = need("hinge.datasets").load_lambdarank
    train, test = standardised([load("train"), load("test")])
    example = {"num_leaves": 31, "learning_rate": 0.1, "n_estimators": 100, "min_child_samples": 50,
               "min_child_weight": 5.0, "subsample": 0.9, "subsample_freq": 1}  # fmt: skip
    contestants: dict[str, Callable[[], Model]] = {
        "ListRanker('kendall', C=0.01)": lambda: ours(train, C=0.01),
        "ListRanker('ndcg', k=5)": lambda: ours(train, loss="ndcg", k=5, gain="exponential", C=1e-4),
        "ListRanker('ndcg', k=5, ties='mean')": lambda: ours(
            train, loss="ndcg", k=5, gain="exponential", ties="mean", C=1e-4
        ),
        "Ridge(1000)": lambda: ridge(train, 1000.0),
        "LightGBM lambdarank (trees)": lambda: lightgbm(train, **example),
    }
    for name, learn in contestants.items():
        table.attempt(name, lambda learn=learn: judge(test[1], learn()(test[0]), test[2], ks))  # type: ignore[misc]
    table.note("201 and 50 queries: differences of a few hundredths are within what 50 queries can tell apart.")
    table.note("LightGBM: the settings of its example, 100 trees.")
    return table


def drawn(queries: int, seed: int) -> Lists:
    """Lists of 100 documents with 136 features, graded 0 to 4 by a linear score and as much noise."""
    rng = np.random.default_rng(seed)
    w = np.random.default_rng(0).normal(size=136) / np.sqrt(136)
    X = rng.standard_normal((100 * queries, 136), dtype=np.float32)
    grades = np.digitize(X @ w + rng.normal(size=len(X)), [0.7, 1.6, 2.2, 2.8]).astype(np.float32)
    return X, grades, np.repeat(np.arange(queries), 100)


def speed(quick: bool) -> Table:
    """Ten passes of Kendall over 2,000 lists of 100 documents, beside 50 rounds of trees, one thread each."""
    (X, y, qid), test = drawn(200 if quick else 2000, 1), drawn(200, 2)
    columns = [("learner", ""), ("seconds", ".2f"), ("ListRanker is x as fast", ".1f"), ("NDCG@10", ".4f")]
    table = Table(f"{len(X):,} x 136 documents; NDCG@10 on other lists; processor time, best of turns", columns)
    ranker = need("hinge").ListRanker
    makers: dict[str, Callable[[], Any]] = {
        "ListRanker('kendall', max_iter=10)": lambda: ranker(max_iter=10),
        "ListRanker('kendall', max_iter=10, average=True)": lambda: ranker(max_iter=10, average=True),
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
        ndcg = need("hinge.metrics").ndcg_score(test[1], model.predict(test[0]), k=10, qid=test[2])
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
