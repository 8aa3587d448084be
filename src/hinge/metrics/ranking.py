"""Measures of ranked lists: relevance and score of each row, cut into lists by ``qid`` (MATH.md E).

``y_true`` and ``y_score`` are 1-d with ``qid`` naming each row's list (the rows of one list need not be neighbours;
without ``qid`` all rows are one list), or 2-d, each row being a list. Every measure is the mean over lists.
``sample_weight`` is one weight a list, in order of appearance, or one a row, constant within each list.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._inputs import Array, Floats, Ints, Lists, list_mean, lists, require, sums
from ._sorting import average_precisions, inversions, starts_of, tie_groups


def _tied_pairs(data: Lists, *keys: Array) -> Floats:
    """Count in each list the pairs with equal keys."""
    order = np.lexsort((*keys, data.owner))
    start = starts_of(data.owner[order], *(key[order] for key in keys))
    size = np.diff(start, append=len(order))
    return sums(data.owner[order][start], size * (size - 1) / 2, data.number)


def _places(owner: Ints, order: Ints) -> Ints:
    """Number each row within its list, from 0, along an order that is sorted by list."""
    start = starts_of(owner[order])
    within = np.arange(len(order)) - np.repeat(start, np.diff(start, append=len(order)))
    places = np.empty(len(order), dtype=np.intp)
    places[order] = within
    return places


def _pair_errors(data: Lists, pairs: str) -> tuple[Floats, Floats]:
    """Give each list's number of wrong pairs, and of pairs that count."""
    size = np.bincount(data.owner, minlength=data.number)
    total, tied = size * (size - 1) / 2, _tied_pairs(data, data.relevance)
    by_relevance = np.lexsort((data.score, data.relevance, data.owner))
    by_score = np.lexsort((-data.relevance, data.score, data.owner))
    rank = _places(data.owner, by_score)[by_relevance]
    wrong = inversions(rank, data.owner[by_relevance], data.number)
    if pairs == "comparable":
        return wrong, total - tied
    if pairs == "all":
        return wrong + tied - _tied_pairs(data, data.relevance, data.score), total
    raise ValueError(f"pairs must be 'comparable' or 'all', got {pairs!r}")


def kendall_tau_loss(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    pairs: str = "comparable",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average the share of comparable pairs (``y_i > y_j``) with ``s_i <= s_j``: discordant or tied in score.

    ``pairs="all"`` is the book's form: over all pairs of a list, the share with ``sign(s_i - s_j) != sign(y_i - y_j)``,
    so that a tie in relevance asks for a tie in score. A list without pairs to count has loss 0. O(r log r) a list.

    Examples
    --------
    >>> kendall_tau_loss([2, 1, 0, 0], [3, 1, 2, 0]), kendall_tau_loss([2, 1, 0, 0], [3, 1, 2, 0], pairs="all")
    (0.2, 0.333...)
    """
    data = lists(y_true, y_score, qid)
    wrong, counted = _pair_errors(data, pairs)
    return list_mean(wrong / np.maximum(counted, 1), data, sample_weight)


def list_zero_one_loss(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    pairs: str = "comparable",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average ``1[kendall_tau_loss > 0]``: the share of lists with any pair in wrong order (0-1 ranking loss).

    Examples
    --------
    >>> list_zero_one_loss([2, 1, 0, 5, 4], [3, 1, 2, 9, 8], qid=["a", "a", "a", "b", "b"])
    0.5
    """
    data = lists(y_true, y_score, qid)
    return list_mean(_pair_errors(data, pairs)[0] > 0, data, sample_weight)


def _gains(data: Lists, gain: str) -> Floats:
    require(data.relevance >= 0, "y_true", "non-negative relevance")
    if gain == "linear":
        return data.relevance.astype(np.float64)
    if gain == "exponential":
        require(data.relevance < 1000, "y_true", "relevance below 1000 for the exponential gain")
        return np.exp2(data.relevance.astype(np.float64)) - 1.0
    raise ValueError(f"gain must be 'linear' or 'exponential', got {gain!r}")


def _discounts(owner: Ints, order: Ints, k: int | None, discount: str) -> Floats:
    """Give each row's discount, 0 below the top k."""
    place = _places(owner, order) + 1.0
    if discount not in ("log2", "letor"):
        raise ValueError(f"discount must be 'log2' or 'letor', got {discount!r}")
    worth = 1.0 / (np.log2(place + 1.0) if discount == "log2" else np.maximum(1.0, np.log2(place)))
    return np.where(place <= (len(place) if k is None else k), worth, 0.0)


def _ndcg(
    data: Lists, k: int | None, gain: str, ignore_ties: bool, zero_division: float, discount: str = "log2"
) -> Floats:
    if k is not None and (k < 1 or k != int(k)):
        raise ValueError(f"k must be a positive integer or None, got {k!r}")
    gains = _gains(data, gain)
    ideal = _discounts(data.owner, np.lexsort((-gains, data.owner)), k, discount)
    best = sums(data.owner, gains * ideal, data.number)
    order = np.lexsort((-data.score, data.owner))
    worth = _discounts(data.owner, order, k, discount)
    if not ignore_ties:
        start = starts_of(data.owner[order], data.score[order])
        size = np.diff(start, append=len(order))
        worth[order] = np.repeat(np.add.reduceat(worth[order], start) / size, size)
    reached = sums(data.owner, gains * worth, data.number)
    return np.asarray(np.divide(reached, best, out=np.full(data.number, float(zero_division)), where=best > 0))


def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int | None = None,
    qid: ArrayLike | None = None,
    gain: str = "linear",
    discount: str = "log2",
    ignore_ties: bool = False,
    zero_division: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average ``DCG / best DCG`` with ``DCG = sum_{place <= k} gain(y) / log2(place + 1)``, place 1 being the best.

    The gain is ``y``, or ``2^y - 1`` with ``gain="exponential"``. Tied scores share the mean of their discounts;
    with ``ignore_ties=True`` the row that comes first stands higher. A list without relevant rows has
    ``zero_division``, 1 in accordance with the loss; 0 is the custom of LETOR and scikit-learn.
    For matrices, linear gain and ``zero_division=0`` it is scikit-learn's function.

    LETOR's evaluation tool is ``gain="exponential", discount="letor", ignore_ties=True, zero_division=0``: no discount
    at the first two places, ``1 / log2(place)`` below. (It also counts a list of fewer than k rows as 0.)

    Examples
    --------
    >>> round(ndcg_score([3, 2, 0], [1.0, 2.0, 0.0], k=2), 4), ndcg_score([0, 0], [1.0, 2.0])
    (0.9134, 1.0)
    """
    data = lists(y_true, y_score, qid)
    return list_mean(_ndcg(data, k, gain, ignore_ties, zero_division, discount), data, sample_weight)


def ndcg_loss(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int | None = None,
    qid: ArrayLike | None = None,
    gain: str = "linear",
    ignore_ties: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average ``1 - NDCG``; a list without relevant rows has loss 0. Parameters as for ``ndcg_score``.

    Examples
    --------
    >>> round(ndcg_loss([1, 0, 0, 0], [2.0, 3.0, 0.0, 0.0], qid=["a", "a", "b", "b"]), 4)
    0.1845
    """
    data = lists(y_true, y_score, qid)
    return 1.0 - list_mean(_ndcg(data, k, gain, ignore_ties, 1.0), data, sample_weight)


def mean_average_precision(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    ignore_ties: bool = False,
    zero_division: float = 0.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average ``AP = (1/P) sum_j P@j 1[row at place j is relevant]`` over lists; relevant is ``y > 0``, P their number.

    LETOR's definition: a list without relevant rows counts, with 0. Tied rows all stand at the last of their places,
    so that one list is scikit-learn's ``average_precision_score``; with ``ignore_ties=True`` the row that comes first
    stands higher, as in LETOR's evaluation tool.

    Examples
    --------
    >>> mean_average_precision([0, 2, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.583...
    """
    data = lists(y_true, y_score, qid)
    order = np.lexsort((-data.score, data.owner))
    score = -np.arange(len(order)) if ignore_ties else data.score[order]
    groups = tie_groups(data.owner[order], score, data.relevance[order] > 0)
    values, relevant = average_precisions(groups, data.number)
    return list_mean(np.where(relevant > 0, values, zero_division), data, sample_weight)
