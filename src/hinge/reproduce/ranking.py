"""Lists of documents: MQ2008's five folds, by what the hinge bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hinge import ListRanker
from hinge.datasets import load_mq2008
from hinge.metrics import ndcg_score

from .tables import Table


def run(advance: Callable[[int, str], None], passes: int = 10, folds: int = 5) -> list[Table]:
    """Return the mean NDCG of both losses on the folds' test parts."""
    table = Table("MQ2008: NDCG on the test parts", ["loss", "@1", "@5", "@10"])
    losses: dict[str, dict[str, Any]] = {"kendall": {}, "ndcg": {"k": 10}}
    for loss, more in losses.items():
        found = np.zeros(3)
        for fold in range(1, folds + 1):
            parts = load_mq2008(fold)
            train, test = parts.train, parts.test
            ranker = ListRanker(loss, C=0.01, average=True, max_iter=passes, **more)
            asking = np.array(
                [np.ptp(train.y[train.qid == q]) > 0 for q in train.qid]
            )  # lists of one grade are left out
            ranker.fit(train.X[asking], train.y[asking], qid=train.qid[asking])
            scores = ranker.decision_function(test.X)
            found += [ndcg_score(test.y, scores, qid=test.qid, k=k) / folds for k in (1, 5, 10)]
            advance(1, f"{loss}, fold {fold}")
        table.rows.append([loss, *(f"{value:.4f}" for value in found)])
    table.notes.append(f"linear gain; passive-aggressive, C = .01, {passes} passes, averaged; mean of {folds} folds")
    return [table]
