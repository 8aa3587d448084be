"""Files, pickles and copies: learning goes on as if it had never stopped."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from hinge.checks.cases import Case
from hinge.checks.laws import (
    begin,
    everything,
    fit,
    fresh,
    law,
    learn,
    refuses,
    require,
    same,
    same_answers,
    same_learned,
    unchanged,
)


def stored(estimator: Any) -> Any:
    """Return an estimator that was saved and loaded."""
    from hinge import load

    with TemporaryDirectory() as folder:
        estimator.save(Path(folder) / "model")
        return load(Path(folder) / "model")


def _check_continues(estimator: Any, case: Case, again: Callable[[Any], Any], what: str) -> None:
    """Expect learning that stops, goes through `again` and goes on to be learning that never stopped."""
    half = len(case) // 2
    it = learn(fresh(estimator), case.take(slice(0, half)))
    other = again(it)
    require(other is not it and type(other) is type(it), f"{what} gave a {type(other).__name__}")
    same(it.get_params(), other.get_params(), f"parameters after {what}")
    same_learned(it, other, what)
    same_answers(it, other, case, what)
    rest = case.take(slice(half, None))
    same_learned(learn(it, rest), learn(other, rest), f"learning on after {what}")
    same_learned(it, learn(fresh(estimator), case), "learning that did not stop")


@law(has="partial_fit save", native=True)
def check_saved_continues(estimator: Any, case: Case) -> None:
    """Save, load, continue is the same as never stopped."""
    _check_continues(estimator, case, stored, "save and load")


@law(has="partial_fit")
def check_pickled_continues(estimator: Any, case: Case) -> None:
    """Pickle, unpickle, continue is the same as never stopped."""
    _check_continues(estimator, case, lambda it: pickle.loads(pickle.dumps(it)), "pickling")


@law(has="partial_fit")
def check_deep_copy_continues(estimator: Any, case: Case) -> None:
    """So is a deep copy."""
    _check_continues(estimator, case, copy.deepcopy, "a deep copy")


@law(has="partial_fit snapshot")
def check_snapshot_continues(estimator: Any, case: Case) -> None:
    """So is a snapshot."""
    _check_continues(estimator, case, lambda it: it.snapshot(), "a snapshot")


@law(has="partial_fit snapshot")
def check_snapshot_stands_still(estimator: Any, case: Case) -> None:
    """A snapshot is what the learner was then: what is learned later changes neither the one nor the other."""
    it = begin(fresh(estimator), case)
    still = it.snapshot()
    same(everything(it), everything(still), "a snapshot")
    with unchanged(still, "learning after a snapshot"):
        learn(it, case)
    with unchanged(it, "learning with a snapshot"):
        learn(learn(still, case), case)
    unfitted = fresh(estimator).snapshot()
    same(everything(unfitted), everything(fresh(estimator)), "a snapshot of an estimator that never learned")


@law(has="save", native=True)
def check_saving_changes_nothing(estimator: Any, case: Case) -> None:
    """Saving, pickling and copying change neither the learner nor what it learns next."""
    it, other = fit(fresh(estimator), case), fit(fresh(estimator), case)
    with unchanged(it, "saving"):
        stored(it), pickle.dumps(it), copy.copy(it), copy.deepcopy(it)
    if hasattr(it, "partial_fit"):
        learn(stored_in_passing(it), case)
        same_learned(it, learn(other, case), "learning after saving")


def stored_in_passing(estimator: Any) -> Any:
    stored(estimator)
    return estimator


@law(has="save", native=True)
def check_files_repeat(estimator: Any, case: Case) -> None:
    """The same model is the same file; a file that is there is replaced; one of what was loaded is the same again."""
    from hinge import load

    it = fit(fresh(estimator), case)
    with TemporaryDirectory() as folder:
        one, two = Path(folder) / "one", Path(folder) / "two"
        two.write_bytes(b"something else")
        it.save(one)
        load(one).save(str(two))
        require(one.read_bytes() == two.read_bytes(), "a model that was loaded is saved as another file")
        require(sorted(path.name for path in Path(folder).iterdir()) == ["one", "two"], "saving left other files")


@law(has="save")
def check_unfitted_is_not_saved(estimator: Any, case: Case) -> None:
    """An estimator that never learned is not saved, and no file is made; pickling it is fine."""
    with TemporaryDirectory() as folder:
        with refuses(NotFittedError, why="saving before fit"):
            fresh(estimator).save(Path(folder) / "model")
        require(not list(Path(folder).iterdir()), "a file was made")
    same(pickle.loads(pickle.dumps(fresh(estimator))).get_params(), fresh(estimator).get_params(), "pickling")


@law(has="save", native=True)
def check_damaged_files(estimator: Any, case: Case) -> None:
    """A file that is cut, longer, or has one bit flipped never loads."""
    from hinge import ModelFileError, load

    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        fit(fresh(estimator), case).save(path)
        whole = path.read_bytes()
        rng = np.random.default_rng(0)
        damaged = [whole[:length] for length in (0, 1, 8, len(whole) // 2, len(whole) - 1)] + [whole + b"\0"]
        for at in [0, 4, 8, 12, 16, 24, len(whole) - 1, *rng.integers(0, len(whole), 24).tolist()]:
            flipped = bytearray(whole)
            flipped[at] ^= 1 << int(rng.integers(8))
            damaged.append(bytes(flipped))
        for content in damaged:
            path.write_bytes(content)
            with refuses(ModelFileError, why="loading a damaged file"):
                load(path)
        with refuses(OSError, why="loading a file that is not there"):
            load(Path(folder) / "none")
