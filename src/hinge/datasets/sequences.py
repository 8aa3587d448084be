"""Sequences: handwritten words, letter by letter."""

from __future__ import annotations

import numpy as np

from .bundles import Words
from .home import data_file, read_text

_FIRST_PIXEL = 6


def load_ocr_letters() -> Words:
    """Load the OCR letters as words: 6877 sequences of 8 x 16 bitmaps, 52152 letters, 10 folds.

    Returns
    -------
    Words
        `X` a list of (r, 128) float32 arrays, `y` a list of (r,) arrays of letters, `fold` (6877,).
    """
    rows = [line.split("\t") for line in read_text(data_file("ocr-letters", "letter.data.xz")).splitlines()]
    pixels = np.array([row[_FIRST_PIXEL : _FIRST_PIXEL + 128] for row in rows], dtype=np.float32)
    letters = np.array([row[1] for row in rows])
    last = np.array([int(row[2]) == -1 for row in rows])
    cuts = np.flatnonzero(last)[:-1] + 1
    folds = np.array([int(row[5]) for row in rows], dtype=np.int64)
    return Words(np.split(pixels, cuts), np.split(letters, cuts), folds[last])
