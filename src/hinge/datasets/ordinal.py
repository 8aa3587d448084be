"""Ordered classes: interval labels made from exact ones, a synthetic stream, and three real sources.

Classes are 1..K throughout, and intervals are inclusive.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .bundles import Split, Table
from .home import data_file, read_text

_ORCA_SPLIT = ("pyrim10", "tae", "pasture")
_ORCA_WHOLE = {"era": ("ERA.csv", ","), "esl": ("ESL.csv", None)}
_UPDRS_RANGE = (7.0, 55.0)
_RING_CUTS = (7, 9, 12)
_SEX = {"F": -1.0, "I": 0.0, "M": 1.0}


def interval_labels(
    y: ArrayLike, n_classes: int, kind: int = 1, fraction: float = 0.75, seed: int = 0
) -> NDArray[np.int64]:
    """Widen a share of exact labels to intervals that contain them.

    Type 1 is ``[y-1, y]`` or ``[y, y+1]``, either with probability one half; type 2 is
    ``[y-1, y+1]``. In both, class 1 becomes ``[1, 2]`` and class K becomes ``[K-1, K]``.

    Parameters
    ----------
    y : array-like of shape (n,)
        Exact classes in 1..n_classes.
    n_classes : int
        K, at least 2.
    kind : {1, 2}
        The type of interval.
    fraction : float
        The share of rows that get an interval: ``round(fraction * n)`` rows drawn without
        replacement; the others keep ``[y, y]``.
    seed : int
        Seeds the choice of rows and of sides.

    Returns
    -------
    ndarray of shape (n, 2)
        Lower and upper ends.

    Examples
    --------
    >>> interval_labels([1, 3, 5], 5, kind=2, fraction=1.0).tolist()
    [[1, 2], [2, 4], [4, 5]]
    >>> interval_labels([1, 3, 5], 5, fraction=0.0).tolist()
    [[1, 1], [3, 3], [5, 5]]
    """
    exact = np.asarray(y, dtype=np.int64)
    _check_intervals(exact, n_classes, kind, fraction)
    rng = np.random.default_rng(seed)
    widened = rng.permutation(exact.size) < round(fraction * exact.size)
    downwards = rng.random(exact.size) < 0.5
    low = np.ones(exact.size, dtype=bool) if kind == 2 else downwards
    high = np.ones(exact.size, dtype=bool) if kind == 2 else ~downwards
    low = widened & (low | (exact == n_classes)) & (exact > 1)
    high = widened & (high | (exact == 1)) & (exact < n_classes)
    return np.column_stack([exact - low, exact + high])


def synthetic_ordinal(n: int = 10_000, seed: int = 0) -> Table:
    """Draw the five-class stream whose regions are hyperbolas in the unit square.

    ``x ~ U[0,1]^2`` and ``y = max{r : 10 (x1 - .5)(x2 - .5) + xi > t_r}`` with
    ``t = (-inf, -1, -.1, .25, 1)`` and ``xi`` normal with standard deviation .125.

    Parameters
    ----------
    n : int
        The number of rows.
    seed : int
        Seeds the stream.

    Returns
    -------
    Table
        `X` (n, 2) and `y` (n,) in 1..5.

    Examples
    --------
    >>> X, y = synthetic_ordinal(1000, seed=1)
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 2), [1, 2, 3, 4, 5])
    """
    rng = np.random.default_rng(seed)
    points = rng.random((n, 2))
    score = 10.0 * (points[:, 0] - 0.5) * (points[:, 1] - 0.5) + rng.normal(0.0, 0.125, n)
    return Table(points, 1 + (score[:, None] > np.array([-1.0, -0.1, 0.25, 1.0])).sum(axis=1))


def load_parkinsons(n_classes: int = 10, standardise: bool = True, subject: bool = True) -> Table:
    """Load Parkinsons telemonitoring with total UPDRS cut into classes of equal width.

    Parameters
    ----------
    n_classes : int
        The number of equal parts of the range 7 to 55.
    standardise : bool
        Scale each column to mean 0 and standard deviation 1.
    subject : bool
        Keep the subject's number among the features: with age, sex, test time and the 16 voice
        measures that makes the 20 features of the usual description. The two UPDRS columns are never
        features.

    Returns
    -------
    Table
        `X` (5875, 20), or (5875, 19) without the subject; `y` in 1..n_classes.
    """
    lines = read_text(data_file("parkinsons", "parkinsons_updrs.data.xz")).split()
    header = lines[0].split(",")
    values = np.array([line.split(",") for line in lines[1:]], dtype=np.float64)
    low, high = _UPDRS_RANGE
    part = (values[:, header.index("total_UPDRS")] - low) / (high - low) * n_classes
    left_out = {"motor_UPDRS", "total_UPDRS"} | (set() if subject else {"subject#"})
    features = values[:, [name not in left_out for name in header]]
    return Table(_scaled(features, standardise), np.clip(part.astype(np.int64), 0, n_classes - 1) + 1)


def load_abalone(standardise: bool = False) -> Table:
    """Load Abalone with the number of rings cut into 1-7, 8-9, 10-12 and 13-29.

    Parameters
    ----------
    standardise : bool
        Scale each column to mean 0 and standard deviation 1.

    Returns
    -------
    Table
        `X` (4177, 8), the first column the sex (female -1, infant 0, male 1); `y` in 1..4.
    """
    rows = [line.split(",") for line in read_text(data_file("abalone", "abalone.data")).split()]
    features = np.array([[_SEX[row[0]], *map(float, row[1:8])] for row in rows])
    rings = np.array([int(row[8]) for row in rows])
    return Table(_scaled(features, standardise), 1 + np.searchsorted(_RING_CUTS, rings))


def load_orca(name: str) -> Split | Table:
    """Load a small ordinal data set of the ORCA examples.

    Parameters
    ----------
    name : {"pyrim10", "tae", "pasture", "era", "esl"}
        The first three come as hold-out 0, train and test; the last two whole.

    Returns
    -------
    Split or Table
        Classes as in the files, from 1.
    """
    if name in _ORCA_SPLIT:
        parts = [_numbers(f"{name}/{part}_{name}.0", None) for part in ("train", "test")]
        return Split(*parts)
    if name in _ORCA_WHOLE:
        return _numbers(*_ORCA_WHOLE[name])
    raise ValueError(f"unknown data set {name!r}; the names are {', '.join((*_ORCA_SPLIT, *_ORCA_WHOLE))}")


def _numbers(file: str, separator: str | None) -> Table:
    lines = read_text(data_file("orca-ordinal", *file.split("/"))).splitlines()
    values = np.array([line.split(separator) for line in lines if line.strip()], dtype=np.float64)
    return Table(values[:, :-1], values[:, -1].astype(np.int64))


def _scaled(values: NDArray[np.float64], standardise: bool) -> NDArray[np.float64]:
    return (values - values.mean(axis=0)) / values.std(axis=0) if standardise else values


def _check_intervals(exact: NDArray[np.int64], n_classes: int, kind: int, fraction: float) -> None:
    if kind not in (1, 2):
        raise ValueError(f"kind must be 1 or 2, got {kind!r}")
    if not 0.0 <= fraction <= 1.0:
        raise ValueError(f"fraction must lie in [0, 1], got {fraction!r}")
    if n_classes < 2:
        raise ValueError(f"n_classes must be at least 2, got {n_classes!r}")
    wrong = np.flatnonzero((exact < 1) | (exact > n_classes))
    if wrong.size:
        raise ValueError(f"row {wrong[0]}: class {exact[wrong[0]]} is not in 1..{n_classes}")
