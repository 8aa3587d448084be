"""Lazy blocks are the sequences that they stand for: held against the dense form after every round."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from compiled import compiled

INDEX, REAL, POINTER = ctypes.c_int32, ctypes.c_double, ctypes.c_void_p


class Blocks:
    """Sequences of weights, lazily in the core and densely here."""

    def __init__(self, sequences: int, n: int, k: int) -> None:
        self.core, self.sequences = compiled("lazy_blocks.cpp"), sequences
        self.core.blocks_new.restype = POINTER
        self.core.blocks_squares.restype = REAL
        self.handle = POINTER(self.core.blocks_new(sequences))
        self.dense = np.zeros((sequences, 0, 0))
        self.grow(n, k)

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self.core.blocks_free(self.handle)

    def grow(self, n: int, k: int) -> None:
        self.core.blocks_grow(self.handle, INDEX(n), INDEX(k))
        _, old_k, old_n = self.dense.shape
        self.dense = np.pad(self.dense, ((0, 0), (0, k - old_k), (0, n + 1 - old_n)))

    def erase(self, output: int) -> None:
        self.core.blocks_erase(self.handle, INDEX(output))
        self.dense = np.delete(self.dense, output, axis=1)

    def round(self, decay, push, x, delta, sparse=False, mean=-1, before=False, rounds=0.0):
        """Move both; a mean is written out here as what it is."""
        decay, push = np.array(decay, dtype=float), np.array(push, dtype=float)
        x, delta = np.ascontiguousarray(x), np.ascontiguousarray(delta)
        self.core.blocks_round(
            self.handle, *(POINTER(values.ctypes.data) for values in (decay, push, x, delta)),
            sparse, mean, before, REAL(rounds),
        )  # fmt: skip
        old = self.dense
        self.dense = np.einsum("rs,skn->rkn", decay, old) + push[:, None, None] * np.outer(delta, x)
        if mean >= 0:
            self.dense[mean] = old[mean] + ((old if before else self.dense)[0] - old[mean]) / rounds

    def assert_equal(self, x) -> None:
        """Compare weights, scores and norms of every sequence."""
        _, k, n = self.dense.shape
        for r, expected in enumerate(self.dense):
            scale = max(1.0, np.abs(expected).max(initial=0))
            weights, scores = np.empty((k, n)), np.empty(k)
            self.core.blocks_weights(self.handle, r, POINTER(weights.ctypes.data))
            self.core.blocks_scores(self.handle, r, POINTER(x.ctypes.data), POINTER(scores.ctypes.data))
            np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-11 * scale)
            np.testing.assert_allclose(scores, expected @ x, rtol=0, atol=1e-10 * scale)
            assert self.core.blocks_squares(self.handle, r) == pytest.approx((expected**2).sum(), rel=1e-10)

    @property
    def rebased(self) -> int:
        return int(self.core.blocks_rebased(self.handle))


def instance(rng, n):
    return np.append(1.0, rng.normal(size=n) * (rng.random(n) < 0.4))


@pytest.mark.parametrize("k", [1, 2, 3, 8, 17, 40])
@pytest.mark.parametrize("sequences", [1, 2, 3, 4])
def test_any_motion(sequences, k):
    rng, n = np.random.default_rng(sequences * 100 + k), 9
    blocks = Blocks(sequences, n, k)
    for t in range(60):
        decay = 0.9 * np.eye(sequences) + 0.1 * rng.normal(size=(sequences, sequences))
        if t % 20 == 19:
            decay[-1] = decay[0]  # singular, as a mean's first round is
        delta = rng.normal(size=k) * (rng.random(k) < 0.5)
        blocks.round(decay, rng.normal(size=sequences), instance(rng, n), delta, sparse=t % 2 == 0)
        blocks.assert_equal(instance(rng, n))
    assert blocks.rebased > 0


@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
@pytest.mark.parametrize("k", [1, 5])
def test_weight_decay_and_the_mean_of_all_rounds(k, before):
    """SGD for a regularised objective: w <- (1 - 1/t) w + step, and its mean; the first decay is zero."""
    rng, n, rounds = np.random.default_rng(k), 6, 3000
    blocks, total = Blocks(2, n, k), np.zeros((k, n + 1))
    for t in range(1, rounds + 1):
        x, delta = instance(rng, n), rng.normal(size=k)
        was = blocks.dense[0].copy()
        blocks.round([[1 - 1 / t, 0], [0, 0]], [1 / t, 0], x, delta, mean=1, before=before, rounds=float(t))
        total += was if before else blocks.dense[0]
        if t < 50 or t % 500 == 0:
            blocks.assert_equal(x)
            np.testing.assert_allclose(blocks.dense[1], total / t, rtol=0, atol=1e-12)
    assert 1 <= blocks.rebased <= 6  # as the logarithm of the rounds


def test_growing_and_erasing_keep_every_sequence():
    rng, n, k = np.random.default_rng(0), 4, 3
    blocks = Blocks(3, n, k)
    for t in range(30):
        if t % 3 == 1:
            n, k = n + t % 2, k + 2
            blocks.grow(n, k)
        if t % 7 == 5:
            blocks.erase(t % k)
            k -= 1
        decay = np.eye(3) * 0.95 + 0.02
        blocks.round(decay, [1, -0.5, 0.25], instance(rng, n), rng.normal(size=k))
        blocks.assert_equal(instance(rng, n))


def test_nothing_moves_where_nothing_is_pushed():
    rng, n, k = np.random.default_rng(0), 4, 3
    blocks = Blocks(2, n, k)
    for t in range(1, 6):
        blocks.round(np.eye(2), [float(t % 2), 0], instance(rng, n), rng.normal(size=k), mean=1, rounds=float(t))
        blocks.assert_equal(instance(rng, n))
