"""Plain classes: letter recognition, USPS, the MNIST test images, and the two-class a9a."""

from __future__ import annotations

import numpy as np

from hinge.io import read

from .bundles import Split, Table
from .home import data_file, read_bytes, read_text


def load_letter_recognition() -> Table:
    """Load letter recognition: 20000 rows of 16 small integers, 26 capital letters.

    Returns
    -------
    Table
        `X` (20000, 16) and `y` of letters. The usual division is the first 16000 rows against the rest.
    """
    text = read_text(data_file("letter-recognition", "letter-recognition.data.xz"))
    rows = [line.split(",") for line in text.split()]
    return Table(np.array([row[1:] for row in rows], dtype=np.float64), np.array([row[0] for row in rows]))


def load_usps() -> Split:
    """Load the USPS digits: 16 x 16 grey values in [-1, 1], 7291 for training and 2007 for the test.

    Returns
    -------
    Split
        Two tables with `X` (n, 256) and `y` in 0..9.
    """
    return Split(_digits("zip.train.xz"), _digits("zip.test.xz"))


def load_mnist_test() -> Table:
    """Load the 10000 test images of MNIST.

    Returns
    -------
    Table
        `X` (10000, 784) of uint8 and `y` in 0..9.
    """
    images = read_bytes(data_file("mnist", "t10k-images-idx3-ubyte.gz"))
    labels = read_bytes(data_file("mnist", "t10k-labels-idx1-ubyte.gz"))
    # IDX: 16 bytes before the pixels (magic, count, height, width), 8 before the labels (magic, count)
    pixels = np.frombuffer(images, dtype=np.uint8, offset=16).reshape(-1, 784)
    return Table(pixels, np.frombuffer(labels, dtype=np.uint8, offset=8).astype(np.int64))


def load_a9a() -> Split:
    """Load a9a: 32561 rows for training and 16281 for the test, 123 binary features.

    Returns
    -------
    Split
        Two tables with `X` CSR and `y` in {-1, 1}.
    """
    return Split(_a9a("a9a.xz"), _a9a("a9a.t.xz"))


def _a9a(file: str) -> Table:
    rows = read(data_file("a9a", file), "svmlight", n_features=123, zero_based=False)
    return Table(rows.X, rows.y)


def _digits(file: str) -> Table:
    lines = read_text(data_file("usps", file)).splitlines()
    values = np.array([line.split() for line in lines if line.strip()], dtype=np.float64)
    return Table(values[:, 1:], values[:, 0].astype(np.int64))
