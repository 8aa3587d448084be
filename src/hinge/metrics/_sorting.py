"""Counting over sorted scores, for many lists at once and without a loop over them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from ._inputs import Array, Bools, Floats, Ints, blocks, require, sums


class TieGroups(NamedTuple):
    """Runs of equal score in one list: whose, how many entries and relevant ones, and how many lie strictly above."""

    owner: Ints
    size: Ints
    relevant: Ints
    above: Ints
    relevant_above: Ints


def starts_of(*sorted_keys: Array) -> Ints:
    """Give the index at which each run of equal keys starts.

    Examples
    --------
    >>> starts_of(np.array([0, 0, 0, 1]), np.array([5, 5, 2, 2])).tolist()
    [0, 2, 3]
    """
    new = np.ones(len(sorted_keys[0]), dtype=bool)
    new[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in sorted_keys])
    return np.flatnonzero(new)


def since_first(running: Array, fresh: Bools) -> Array:
    """Count a non-decreasing running number anew from every fresh entry."""
    return running - np.maximum.accumulate(np.where(fresh, running, 0))


def tie_groups(owner: Ints, score: Array, relevant: Bools) -> TieGroups:
    """Cut entries, sorted by owner and falling score, into runs of equal score."""
    start = starts_of(owner, score)
    whose = owner[start]
    fresh = np.ones(len(start), dtype=bool)
    fresh[1:] = whose[1:] != whose[:-1]
    count = np.add.reduceat(relevant, start, dtype=np.intp)
    return TieGroups(
        owner=whose,
        size=np.diff(start, append=len(owner)),
        relevant=count,
        above=since_first(start, fresh),
        relevant_above=since_first(np.cumsum(count) - count, fresh),
    )


def row_groups(scores: Array, relevant: Bools) -> TieGroups:
    """Cut every row of a matrix into runs of equal score, the highest first."""
    n, k = scores.shape
    order = np.argsort(-scores, axis=1)
    owner = np.repeat(np.arange(n), k)
    return tie_groups(
        owner, np.take_along_axis(scores, order, 1).ravel(), np.take_along_axis(relevant, order, 1).ravel()
    )


def average_precisions(groups: TieGroups, number: int) -> tuple[Floats, Floats]:
    """Give each list's average precision, and its number of relevant entries; tied entries share the last place."""
    precision = (groups.relevant_above + groups.relevant) / (groups.above + groups.size)
    relevant = sums(groups.owner, groups.relevant, number)
    total = sums(groups.owner, groups.relevant * precision, number)
    return total / np.maximum(relevant, 1), relevant


def for_each(work: Callable[[slice], None], parts: list[slice]) -> None:
    """Do the work for each part, in several threads where there are several; NumPy works without the GIL."""
    if len(parts) < 2:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(min(len(parts), os.cpu_count() or 1)) as pool:
        list(pool.map(work, parts))


def pair_counts(scores: Array, relevant: Bools) -> tuple[Floats, Floats, Floats]:
    """Count, row by row, the pairs (relevant, irrelevant) that are in wrong order, that tie, and that there are.

    A 32-bit sort is six times faster than an ``argsort``. So the scores are rounded to float32, the last bit of
    which then says "irrelevant": one sort moves score and label together, and the positions of the irrelevant ones
    give the count (Mann and Whitney). Where rounding, or a tie, could matter, a relevant and an irrelevant key
    agree in all but that bit and, being sorted, are neighbours: only these rows are counted again from an argsort.
    """
    n, k = scores.shape
    place = np.arange(k, dtype=np.uint32 if k < 1 << 16 else np.uint64)  # their sum may reach k^2 / 2
    wrong, irrelevant, unsure = np.empty(n), np.empty(n), np.zeros(n, dtype=bool)

    def count(rows: slice) -> None:
        with np.errstate(over="ignore"):
            keys = scores[rows].astype(np.float32, order="C")
        bits = keys.view(np.uint32)
        bits &= np.uint32(0xFFFFFFFE)
        bits |= ~relevant[rows]
        keys.sort(axis=1)
        differ = bits.ravel()[1:] ^ bits.ravel()[:-1]  # also across rows, where a hit does no harm
        differ <<= np.uint32(1)  # the sign goes, because -0 equals 0
        unsure[rows.start + np.flatnonzero(differ == 2) // k] = True
        unsure[rows] |= ~np.isfinite(keys[:, [0, -1]]).all(axis=1)  # beyond float32, or never finite
        bits &= np.uint32(1)
        wrong[rows] = np.einsum("ij,j->i", bits, place)  # type: ignore[arg-type, unused-ignore]
        irrelevant[rows] = np.einsum("ij->i", bits)

    for_each(count, list(blocks(scores.shape)))
    wrong -= irrelevant * (irrelevant - 1) / 2
    tied = np.zeros(n)
    again = np.flatnonzero(unsure)
    for rows in blocks((len(again), k)):
        part = again[rows]
        if not np.isfinite(scores[part]).all():
            require(np.isfinite(scores), "y_score", "finite numbers")
        groups = row_groups(scores[part], relevant[part])
        above = groups.relevant * (groups.above - groups.relevant_above)
        level = groups.relevant * (groups.size - groups.relevant)
        irrelevant[part] = k - relevant[part].sum(axis=1)  # a key beyond float32 is NaN, which may lose its bit
        wrong[part] = sums(groups.owner, above, len(part))
        tied[part] = sums(groups.owner, level, len(part))
    return wrong, tied, irrelevant * (k - irrelevant)


def inversions(rank: Ints, owner: Ints, number: int) -> Floats:
    """Count in each list the pairs of entries of which the earlier has the higher rank.

    Entries are sorted by list; ``rank`` numbers those of one list from 0 without repetition. The ranks are read
    bit by bit from the top, keeping entries with equal higher bits together and in order: a one before a zero is
    an inversion. All lists are done at once, in O(n log r). Both arrays are overwritten.
    """
    total = np.zeros(number)
    if not len(rank):
        return total
    for bit in reversed(range(int(rank.max()).bit_length())):
        start = starts_of(owner, rank >> (bit + 1))
        size = np.diff(start, append=len(rank))
        one = (rank >> bit) & 1
        before = np.cumsum(one) - one
        ones_before = before - np.repeat(before[start], size)
        total += sums(owner, ones_before * (1 - one), number)
        zeros = size - np.add.reduceat(one, start)
        offset = np.arange(len(rank)) - np.repeat(start, size)
        place = np.repeat(start, size) + np.where(one, np.repeat(zeros, size) + ones_before, offset - ones_before)
        rank[place], owner[place] = rank.copy(), owner.copy()
    return total
