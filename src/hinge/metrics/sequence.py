"""Measures of sequences: words of any lengths, each a list of letters, an array or a string (MATH.md E).

Weights are one a word. A word without letters is always right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._inputs import Array, Floats, Ints, mean, sums, weights
from .multiclass import label_costs

Words = Iterable[Sequence[Any] | Array]


def _letters(words: Words) -> list[Array]:
    return [np.asarray(list(word) if isinstance(word, str) else word) for word in words]


def _flat(y_true: Words, y_pred: Words) -> tuple[Array, Array, Ints]:
    """Join the words: (true letters, predicted letters, lengths)."""
    truth, predicted = _letters(y_true), _letters(y_pred)
    if len(truth) != len(predicted) or not truth:
        raise ValueError(f"y_true and y_pred must have as many words, at least one: {len(truth)} and {len(predicted)}")
    for number, (word, answer) in enumerate(zip(truth, predicted, strict=True)):
        if word.ndim != 1 or word.shape != answer.shape:
            raise ValueError(f"word {number} has shape {word.shape}, its prediction {answer.shape}")
    lengths = np.array([len(word) for word in truth])
    if not lengths.any():
        return np.empty(0), np.empty(0), lengths
    full = np.flatnonzero(lengths)
    return np.concatenate([truth[i] for i in full]), np.concatenate([predicted[i] for i in full]), lengths


def _totals(letters: Array, lengths: Ints) -> Floats:
    """Sum over the letters of each word."""
    return sums(np.repeat(np.arange(len(lengths)), lengths), letters, len(lengths))


def letter_accuracy(y_true: Words, y_pred: Words, *, sample_weight: ArrayLike | None = None) -> float:
    """Divide the right letters by all letters, of all words together (1 where there are none).

    Examples
    --------
    >>> letter_accuracy(["cat", "a"], ["car", "a"])
    0.75
    """
    truth, predicted, lengths = _flat(y_true, y_pred)
    weight = weights(sample_weight, len(lengths))
    weight = np.ones(len(lengths)) if weight is None else weight
    letters = float(weight @ lengths)
    return float(weight @ _totals(truth == predicted, lengths)) / letters if letters else 1.0


def word_accuracy(y_true: Words, y_pred: Words, *, sample_weight: ArrayLike | None = None) -> float:
    """Average ``1[every letter is right]`` over the words.

    Examples
    --------
    >>> word_accuracy(["cat", "a"], ["car", "a"])
    0.5
    """
    truth, predicted, lengths = _flat(y_true, y_pred)
    return mean(_totals(truth != predicted, lengths) == 0, sample_weight)


def sequence_cost(
    y_true: Words,
    y_pred: Words,
    *,
    cost: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    normalize: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average ``sum_t cost[yhat_t, y_t]`` over the words, each divided by its length with ``normalize``.

    Without a cost it counts wrong letters (Hamming). ``labels`` are as in ``cost_weighted_error``.

    Examples
    --------
    >>> sequence_cost(["cat", "a"], ["dog", "a"])
    1.5
    """
    truth, predicted, lengths = _flat(y_true, y_pred)
    costs = _totals(label_costs(truth, predicted, cost, labels) if len(truth) else np.empty(0), lengths)
    return mean(costs / np.maximum(lengths, 1) if normalize else costs, sample_weight)
