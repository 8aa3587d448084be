"""Lists of documents: `ListRanker` on MQ2008's five official folds, and on LightGBM's lambdarank example.

Features are brought to mean 0 and deviation 1 by the training part. On MQ2008 a learner's parameters are chosen by MAP
on the validation part of each fold, and it is judged on the test part, with LETOR's gain. A learner is a function of
training lists and parameters that returns a function from rows to scores, so that others can be judged alike.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from hinge import ListRanker
from hinge.datasets import Fold, Lists, load_lambdarank, load_mq2008
from hinge.metrics import mean_average_precision, ndcg_score

from .tables import OptionError, Table, asked_for

Array = np.ndarray[Any, np.dtype[Any]]
Model = Callable[[Array], Array]
Learner = Callable[..., Model]
Choices = Sequence[dict[str, Any]]

FOLDS = 5
TABLES = ("mq2008", "lambdarank")
PLACES = range(1, 11)  # of NDCG on MQ2008
EXAMPLE_PLACES = (1, 3, 5)  # of NDCG on the example
NDCG: dict[str, Any] = {"loss": "ndcg", "gain": "exponential"}
ON_MQ2008: dict[str, Choices] = {
    "ListRanker('kendall')": [{"C": C} for C in (1e-3, 1e-2, 1e-1)],
    "ListRanker('ndcg', k=10)": [NDCG | {"k": 10, "C": C} for C in (1e-4, 1e-2)],
    "ListRanker('ndcg', k=10, ties='mean')": [NDCG | {"k": 10, "ties": "mean", "C": C} for C in (1e-4, 1e-2)],
}
ON_EXAMPLE: dict[str, dict[str, Any]] = {
    "ListRanker('kendall', C=0.01)": {"C": 0.01},
    "ListRanker('ndcg', k=5)": NDCG | {"k": 5, "C": 1e-4},
    "ListRanker('ndcg', k=5, ties='mean')": NDCG | {"k": 5, "ties": "mean", "C": 1e-4},
}


def run(
    advance: Callable[[int, str], None],
    passes: int = 20,
    folds: int = FOLDS,
    only: str | Sequence[str] = TABLES,
) -> list[Table]:
    """Return NDCG and MAP on the test parts of the first `folds` folds of MQ2008, and of the example."""
    if folds not in range(1, FOLDS + 1):
        raise OptionError(f"folds must be 1 to {FOLDS}, got {folds!r}")
    made = {
        "mq2008": lambda: mq2008(mq2008_folds(folds), passes, advance),
        "lambdarank": lambda: lambdarank(*example(), passes, advance),
    }
    return [made[name]() for name in asked_for(only, TABLES)]


def mq2008(
    folds: Sequence[Fold], passes: int = 20, advance: Callable[[int, str], None] = lambda by, note: None
) -> Table:
    """Return what our learners come to on the folds of MQ2008."""
    head = [f"mean of {len(folds)} folds", *(f"N@{k}" for k in PLACES), "tool N@5", "MAP"]
    table = Table("MQ2008, test parts", head)
    for name, choices in ON_MQ2008.items():
        table.rows.append([name, *mq2008_cells(folds, partial(list_ranker, passes=passes), choices)])
        advance(1, name)
    table.notes += [
        "each learner's parameters are chosen by MAP on the validation part of each fold",
        "features are brought to mean 0 and deviation 1; tool: with the discount of LETOR's evaluation tool",
        "published: figures of RankSVM and ListNet, in table 11.10 of T.-Y. Liu, Learning to Rank for Information"
        " Retrieval (2011); it could not be opened, so none of them stands here",
    ]
    return table


def mq2008_cells(folds: Sequence[Fold], learn: Learner, choices: Choices) -> list[str]:
    """Return a learner's means over the folds, as in the table's row."""
    seen = [judge(chosen(learn, choices, *fold[:2]), fold.test, PLACES, tool=(5,)) for fold in folds]
    return [f"{figure:.4f}" for figure in np.mean(seen, axis=0)]


def lambdarank(
    train: Lists, test: Lists, passes: int = 20, advance: Callable[[int, str], None] = lambda by, note: None
) -> Table:
    """Return what our learners come to on LightGBM's example."""
    head = ["learner", *(f"NDCG@{k}" for k in EXAMPLE_PLACES), "MAP"]
    table = Table("LightGBM's lambdarank example, test part", head)
    for name, parameters in ON_EXAMPLE.items():
        table.rows.append([name, *example_cells(list_ranker(train, passes=passes, **parameters), test)])
        advance(1, name)
    table.notes.append("201 and 50 queries: differences of a few hundredths are within what 50 queries can tell apart")
    return table


def example_cells(model: Model, test: Lists) -> list[str]:
    """Return a model's figures on the example's test part, as in the table's row."""
    return [f"{figure:.4f}" for figure in judge(model, test, EXAMPLE_PLACES)]


def list_ranker(lists: Lists, passes: int = 20, **parameters: Any) -> Model:
    """Return `ListRanker`'s scores, of its mean weights."""
    ranker = ListRanker(max_iter=passes, average=True, **parameters)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*ask.* for nothing")  # lists of one grade
        return ranker.fit(lists.X, lists.y, qid=lists.qid).predict


def chosen(learn: Learner, choices: Choices, train: Lists, validation: Lists) -> Model:
    """Return the model of the parameters that have the largest MAP on the validation part."""
    models = [learn(train, **choice) for choice in choices]
    return models[int(np.argmax([judge(model, validation, ())[-1] for model in models]))]


def judge(model: Model, lists: Lists, places: Sequence[int], tool: Sequence[int] = ()) -> list[float]:
    """Return NDCG at each place with LETOR's gain, that of its evaluation tool, then MAP; 0 where none is relevant."""
    y, scores = lists.y, model(lists.X)
    shared: dict[str, Any] = {"qid": lists.qid, "ignore_ties": True, "zero_division": 0.0}
    ndcg = [ndcg_score(y, scores, k=k, gain="exponential", **shared) for k in places]
    letor = [ndcg_score(y, scores, k=k, gain="exponential", discount="letor", **shared) for k in tool]
    return [*ndcg, *letor, mean_average_precision(y, scores, **shared)]


def mq2008_folds(count: int = FOLDS) -> list[Fold]:
    """Load the first folds of MQ2008."""
    return [Fold(*standardised(load_mq2008(fold))) for fold in range(1, count + 1)]


def example() -> tuple[Lists, Lists]:
    """Load the training and the test part of LightGBM's example."""
    train, test = standardised([load_lambdarank("train"), load_lambdarank("test")])
    return train, test


def standardised(parts: Sequence[Lists]) -> list[Lists]:
    """Bring every part to the training part's mean and deviation."""
    dense = [part.X.toarray() if hasattr(part.X, "toarray") else np.asarray(part.X) for part in parts]
    mean, spread = dense[0].mean(axis=0), dense[0].std(axis=0)
    spread[spread == 0] = 1
    return [Lists((X - mean) / spread, part.y, part.qid) for X, part in zip(dense, parts, strict=True)]
