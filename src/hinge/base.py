"""What the problems' modules stand on, under one name, and how a saved model is opened."""

from __future__ import annotations

from typing import Any

import hinge
from hinge.dicts import Dicts
from hinge.estimator import OnlineEstimator, check_dtype, present_unless
from hinge.json_values import decode_labels, decode_value
from hinge.label_learner import LabelLearner
from hinge.labels import sort_labels, sorted_labels
from hinge.model_file import ModelFileError, Path, read_model

__all__ = [
    "Dicts",
    "LabelLearner",
    "OnlineEstimator",
    "check_dtype",
    "load",
    "present_unless",
    "sort_labels",
    "sorted_labels",
]


def load(path: Path) -> Any:
    """Open a model that an estimator's ``save`` wrote; nothing in the file is executed.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        It continues exactly where the saved one stood.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged anywhere, or was written by a newer version.
    """
    header, sections = read_model(path)
    name = header.get("class")
    if name not in hinge.ESTIMATORS:
        raise ModelFileError(f"{path}: the header names the class {name!r}, which this version does not have")
    try:
        params = {key: decode_value(value, key) for key, value in header["params"].items()}
        estimator = getattr(hinge, name)(**params)
        estimator._check_params()
        state = {key: decode_labels(v, key) if isinstance(v, list) else v for key, v in header["state"].items()}
        estimator._restore(state, sections)
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, MemoryError) as error:
        raise ModelFileError(f"{path}: header and sections are no {name}: {error}") from error
    return estimator
