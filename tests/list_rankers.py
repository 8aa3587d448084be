"""What the tests of list rankers share: the losses, the oracle's answer to a list, and lists of random lengths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hinge import ListRanker
from oracle import lists as oracle

Array = np.ndarray[Any, np.dtype[Any]]
LOSSES = [("kendall", None, "linear"), ("ndcg", None, "linear"), ("ndcg", 3, "linear"), ("ndcg", 2, "exponential")]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=str)


def ask(loss: tuple[str, int | None, str]) -> Any:
    """The oracle's answer to a list, as a function of scores and relevance."""
    name, k, gain = loss

    def answer(s: Array, y: Array, plain: bool = False) -> oracle.Answer | None:
        if name == "kendall":
            return oracle.kendall(s, y, plain) if oracle.comparable(y) else None
        return oracle.ndcg(s, y, k, gain, plain) if len(y) > 1 and y.any() else None

    return answer


def ranker(loss: tuple[str, int | None, str], **more: Any) -> ListRanker:
    name, k, gain = loss
    return ListRanker(name, k, gain=gain, **{"dtype": "float64", **more})


def lists(seed: int, count: int, n: int = 4, longest: int = 8) -> Iterator[tuple[Array, Array]]:
    """Lists of random lengths; the first has two documents, so that no argmax ties at w = 0."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    for t in range(count):
        r = int(rng.integers(1, longest + 1)) if t else 2
        X = rng.normal(size=(r, n)) * (rng.random((r, n)) < 0.8)
        y = np.clip(np.round(X @ hidden + rng.normal(size=r)), 0, 3) if t else np.array([1.0, 0.0])
        yield X + 1e-3 * rng.normal(size=(r, n)), y


def stacked(seed: int, count: int, **more: int) -> tuple[Array, Array, Array]:
    pairs = list(lists(seed, count, **more))
    qid = np.repeat(np.arange(count), [len(y) for _, y in pairs])
    return np.concatenate([X for X, _ in pairs]), np.concatenate([y for _, y in pairs]), qid


def with_weights(it: ListRanker, w: Array) -> ListRanker:
    """Give a ranker these weights, through its state."""
    it.partial_fit(np.zeros((1, len(w))), [0])
    state = it.__getstate__()
    state["sections"]["weights"] = np.asarray(w, dtype=it.dtype).reshape(-1, 1)
    it.__setstate__(state)
    assert it.coef_.tolist() == np.asarray(w).tolist()
    return it
