"""What people hand over as X, turned into rows that the core reads, and checked once a call.

Plain arrays and CSR matrices of numbers take the short way: one native pass looks for anything that is not finite.
Everything else (lists, data frames of pandas, polars or Arrow, other sparse formats, a wrong width) goes through
scikit-learn, whose messages people know.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from hinge import _core

NUMBERS = "fiub"
VIEWS = {np.dtype(np.float32): _core.RowsFloat32, np.dtype(np.float64): _core.RowsFloat64}
INDEX_MAX = np.iinfo(np.int32).max


def read_rows(estimator: Any, X: Any, dtype: np.dtype[Any], intercept: bool, *, reset: bool) -> Any:
    """Return X as a view that the core reads; ValueError, naming the place, where it cannot be learned from.

    Parameters
    ----------
    estimator : estimator
        Its ``n_features_in_`` and ``feature_names_in_`` are set where `reset`, else compared.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
    dtype : dtype
        What the model calculates in.
    intercept : bool
        Whether each row has the constant feature.
    reset : bool
        Whether this call fixes the width.
    """
    plain = _is_plain(X) and not hasattr(estimator, "feature_names_in_")
    if plain and reset:
        estimator.n_features_in_ = X.shape[1]
    elif not plain or X.shape[1] != estimator.n_features_in_:
        numbers = [np.float64, np.float32]
        X = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=numbers, ensure_all_finite=False)
    view = _view(X, dtype, intercept)
    flaw, row, column = view.inspect()
    if flaw == "not increasing":
        X = X.copy()
        X.sum_duplicates()
        view = _view(X, dtype, intercept)
        flaw, row, column = view.inspect()
    if flaw:
        _refuse(estimator, X, flaw, row, column)
    return view


def _is_plain(X: Any) -> bool:
    if type(X) is not np.ndarray and not isinstance(X, sparse.csr_matrix | sparse.csr_array):
        return False
    return X.ndim == 2 and X.shape[0] > 0 and X.shape[1] > 0 and X.dtype.kind in NUMBERS


def _view(X: Any, dtype: np.dtype[Any], intercept: bool) -> Any:
    if type(X) is np.ndarray and (X.dtype == dtype or X.dtype.kind != "f"):
        return VIEWS[dtype](np.ascontiguousarray(X, dtype=dtype), intercept)
    with np.errstate(over="ignore"):  # what overflows is found by `inspect`, with its place
        if not sparse.issparse(X):
            return VIEWS[dtype](np.ascontiguousarray(X, dtype=dtype), intercept)
        start, index = np.ascontiguousarray(X.indptr, np.int64), np.ascontiguousarray(X.indices, np.int32)
        return VIEWS[dtype](start, index, np.ascontiguousarray(X.data, dtype), X.shape[1], intercept)


def _refuse(estimator: Any, X: Any, flaw: str, row: int, column: int) -> NoReturn:
    if flaw != "not finite":
        raise ValueError(f"X is not a valid CSR matrix: in row {row} an index or its start is {flaw}")
    value = X[row, column]
    what = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"{value}, too large for float32"
    names = getattr(estimator, "feature_names_in_", None)
    where = f"column {column}" if names is None else f"column {column} ({names[column]!r})"
    raise ValueError(
        f"Input X contains {what} in row {row}, {where}; {type(estimator).__name__} does not accept missing values: "
        "fill them in or drop the row"
    )


def read_weights(sample_weight: Any, rows: int) -> np.ndarray | None:
    """Return one finite weight >= 0 a row, or None where every row counts as one."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64, order="C")
    if weights.ndim == 0:
        weights = np.full(rows, weights)
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim} dimensions")
    if weights.size != rows:
        raise ValueError(f"sample_weight.shape == ({weights.size},), expected ({rows},): one weight a row of X")
    bad = ~(weights >= 0) | np.isinf(weights)
    if bad.any():
        t = int(np.argmax(bad))
        raise ValueError(f"sample_weight in row {t} is {weights[t]:g}; weights must be finite and not negative")
    return weights


def as_matrix(rows: Any) -> Any:
    """Return rows of the core as an array, or as a CSR matrix."""
    start, index, values, width = rows.arrays()
    return np.asarray(values) if start is None else sparse.csr_matrix((values, index, start), shape=(rows.count, width))


def as_csr(rows: Any, intercept: bool) -> Any:
    """Return rows of the core as a CSR matrix in float64, the constant feature first where there is one."""
    matrix = sparse.csr_matrix(as_matrix(rows), dtype=np.float64)
    return sparse.hstack([np.ones((rows.count, 1)), matrix]).tocsr() if intercept else matrix
