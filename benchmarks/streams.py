"""Streams of labelled text for the benchmarks, drawn from a seeded topic model with the shape of RCV1.

Words follow a Zipf-Mandelbrot law over `n_features`, and a feature's number says nothing about its frequency. Labels
have a Zipf-like prior and live in groups; each label prefers some dozens of words, each group some hundreds. A row is
a bag of words: most from the common law, a share from its labels' words, which differs from row to row, and a share
from their groups' words. Values are `(1 + log tf) idf`, scaled to unit length.

No classifier is perfect here, for two reasons: some rows hold few words of their own topic while siblings share their
group's words, and `noise` is the chance that a label is replaced by one of its group without a look at the row.

Rows are made in blocks with seeds of their own, and idf comes from the model instead of the sample: a shorter stream
is the beginning of a longer one, and the test part does not depend on the length of the training part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp

BLOCK = 20_000
TRAIN, TEST = 1, 2


@dataclass(frozen=True)
class Stream:
    """Training and test rows (float32 CSR); targets are label numbers, or indicator matrices (int8 CSR)."""

    X: sp.csr_matrix
    y: np.ndarray | sp.csr_matrix
    X_test: sp.csr_matrix
    y_test: np.ndarray | sp.csr_matrix
    n_labels: int

    def __str__(self) -> str:
        rows, features = self.X.shape
        each = "one" if isinstance(self.y, np.ndarray) else f"{self.y.nnz / rows:.2f}"
        return (
            f"{rows:,} + {self.X_test.shape[0]:,} rows, {features:,} features, "
            f"{self.X.nnz / rows:.1f} non-zeros a row, {self.n_labels} labels, {each} a row"
        )


@dataclass(frozen=True)
class Law:
    """What makes a target easy or hard.

    own : mean share of a row's words that its labels choose.
    evenness : concentration of that share's beta distribution; small means that some rows say little.
    noise : chance that a label is replaced by one of its group.
    further : mean number of labels beyond the first (Poisson), before repetitions are dropped.
    """

    own: float
    evenness: float
    noise: float
    further: float


# Set so that one pass of single, full and adaptive full over 100,000 rows errs about as MATH.md quotes.
LAWS = {
    "multiclass": Law(own=0.152, evenness=4.0, noise=0.005, further=0.0),
    "multilabel": Law(own=0.32, evenness=6.0, noise=0.02, further=2.3),
}


def rcv1_like(
    rows: int = 100_000,
    test_rows: int = 20_000,
    *,
    target: Literal["multiclass", "multilabel"] = "multiclass",
    n_features: int = 47_000,
    n_labels: int = 103,
    law: Law | None = None,
    seed: int = 0,
) -> Stream:
    """Draw a stream; the same arguments give the same arrays.

    Parameters
    ----------
    rows, test_rows : rows of the training and of the test part.
    target : one label a row, or label sets of about three.
    law : how hard; None takes the target's entry in `LAWS`.
    seed : everything random follows from it.
    """
    model = _TopicModel(n_features, n_labels, law or LAWS[target], np.random.default_rng([seed, 0]))
    X, Y = model.part(rows, (seed, TRAIN))
    X_test, Y_test = model.part(test_rows, (seed, TEST))
    if target == "multiclass":
        return Stream(X, Y.indices, X_test, Y_test.indices, n_labels)
    return Stream(X, Y, X_test, Y_test, n_labels)


class _TopicModel:
    """The distributions that rows are drawn from."""

    n_groups = 16
    own_words, group_words = 60, 400
    group_share = 0.10
    length, length_spread = 78.0, 0.45  # median words in a row, and the standard deviation of its logarithm
    most_further = 9
    sibling = 0.5  # chance that a further label comes from the first one's group

    def __init__(self, n_features: int, n_labels: int, law: Law, rng: np.random.Generator) -> None:
        self.n_features, self.n_labels, self.law = n_features, n_labels, law
        common = _zipf(n_features, offset=8.0)
        prior = _zipf(n_labels, offset=4.0, exponent=0.9)
        self.common, self.prior = np.cumsum(common), np.cumsum(prior)
        self.name = rng.permutation(n_features).astype(np.int32)

        n_groups = min(self.n_groups, n_labels)
        self.group_of = rng.integers(n_groups, size=n_labels)
        self.by_group = np.argsort(self.group_of, kind="stable")
        self.group_size = np.bincount(self.group_of, minlength=n_groups)
        self.group_start = np.cumsum(self.group_size) - self.group_size

        # A topic's words are taken flatter than the common law: the most frequent words of all say little.
        topical = np.cumsum(_zipf(n_features, offset=60.0))
        self.own = _draw(topical, rng.random((n_labels, min(self.own_words, n_features))))
        self.shared = _draw(topical, rng.random((n_groups, min(self.group_words, n_features))))
        own_law, shared_law = (_zipf(words.shape[1], offset=1.0) for words in (self.own, self.shared))
        self.own_law, self.shared_law = np.cumsum(own_law), np.cumsum(shared_law)

        chance = (1.0 - law.own - self.group_share) * common
        np.add.at(chance, self.own, law.own * np.outer(prior, own_law))
        np.add.at(chance, self.shared[self.group_of], self.group_share * np.outer(prior, shared_law))
        self.idf = np.empty(n_features)
        self.idf[self.name] = -np.log(-np.expm1(self.length * np.log1p(-chance)))

    def part(self, rows: int, key: tuple[int, int]) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """Rows and their indicator matrix."""
        numbers = range(max(1, -(-rows // BLOCK)))
        blocks = [self.block(np.random.default_rng([*key, number])) for number in numbers]
        X, Y = (sp.vstack(parts, format="csr")[:rows] for parts in zip(*blocks, strict=True))
        for matrix in (X, Y):
            matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
        return X, Y

    def block(self, rng: np.random.Generator) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        size, labels = self.label_sets(rng)
        X = self.words(size, labels, rng)
        labels = np.where(rng.random(labels.shape) < self.law.noise, self.siblings(labels, rng), labels)
        used = np.arange(labels.shape[1]) < size[:, None]
        cell = np.repeat(np.arange(BLOCK), size), labels[used]
        Y = sp.coo_matrix((np.ones(size.sum(), np.int8), cell), shape=(BLOCK, self.n_labels)).tocsr()
        Y.data[:] = 1
        return X, Y

    def label_sets(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """For each row the number of its labels, and a row of labels of which so many count."""
        size = 1 + np.minimum(rng.poisson(self.law.further, BLOCK), self.most_further)
        labels = _draw(self.prior, rng.random((BLOCK, size.max())))
        first = np.broadcast_to(labels[:, :1], labels.shape)
        near = rng.random(labels.shape) < self.sibling
        near[:, 0] = False
        return size, np.where(near, self.siblings(first, rng), labels)

    def siblings(self, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """For each label one of its group, itself included, all equally likely."""
        group = self.group_of[labels]
        place = (rng.random(labels.shape) * self.group_size[group]).astype(np.int64)
        return self.by_group[self.group_start[group] + place]

    def words(self, size: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> sp.csr_matrix:
        length = np.maximum(rng.lognormal(np.log(self.length), self.length_spread, BLOCK), 8).astype(np.int64)
        row = np.repeat(np.arange(BLOCK), length)
        own_share = rng.beta(self.law.own * self.law.evenness, (1 - self.law.own) * self.law.evenness, BLOCK)
        label = labels[row, (rng.random(row.size) * size[row]).astype(np.int64)]

        kind, where = rng.random(row.size), rng.random(row.size)
        own = kind < own_share[row]
        shared = ~own & (kind > 1.0 - self.group_share)
        word = _draw(self.common, where)
        word[own] = self.own[label[own], _draw(self.own_law, where[own])]
        word[shared] = self.shared[self.group_of[label[shared]], _draw(self.shared_law, where[shared])]

        cell, count = np.unique(row * self.n_features + self.name[word], return_counts=True)
        row, feature = np.divmod(cell, self.n_features)
        value = (1.0 + np.log(count)) * self.idf[feature]
        value /= np.sqrt(np.bincount(row, value**2, BLOCK))[row]
        start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=BLOCK))])
        arrays = value.astype(np.float32), feature.astype(np.int32), start.astype(np.int32)
        return sp.csr_matrix(arrays, shape=(BLOCK, self.n_features))


def _zipf(n: int, offset: float, exponent: float = 1.0) -> np.ndarray:
    weight = (np.arange(n) + offset) ** -exponent
    return weight / weight.sum()


def _draw(cumulated: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Draws from the discrete law with these cumulated probabilities."""
    return np.minimum(np.searchsorted(cumulated, uniform, side="right"), cumulated.size - 1)
