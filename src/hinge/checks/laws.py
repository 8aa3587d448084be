"""What a check is made of: the condition under which it applies, and ways to learn, to compare and to expect errors."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

from hinge.checks.cases import Case

Check = Callable[[Any, Case], None]


@dataclasses.dataclass(frozen=True)
class Law:
    """A check, and what an estimator and its data must have for it to apply."""

    check: Check
    has: list[str]
    params: list[str]
    kinds: list[str]
    plain: bool = False
    sparse: bool = False
    native: bool = False
    package: str = ""

    def applies(self, fitted: Any, case: Case) -> bool:
        """Say whether the check is one for this estimator, fitted on the case."""
        return (
            all(hasattr(fitted, name) for name in self.has)
            and set(self.params) <= set(fitted.get_params())
            and (not self.kinds or case.kind in self.kinds)
            and (not self.plain or case.is_plain)
            and (not self.sparse or get_tags(fitted).input_tags.sparse)
            and (not self.native or case.kind != "structured")
            and (not self.package or importlib.util.find_spec(self.package) is not None)
        )


LAWS: dict[str, Law] = {}


def law(
    *,
    has: str = "",
    params: str = "",
    kinds: str = "",
    plain: bool = False,
    sparse: bool = False,
    native: bool = False,
    package: str = "",
) -> Callable[[Check], Check]:
    """Register a check.

    Parameters
    ----------
    has : str
        Methods and attributes that the fitted estimator must have, with spaces between.
    params : str
        Parameters that it must have.
    kinds : str
        The kinds of target that the check speaks of; all by default.
    plain : bool
        Only where X is one matrix whose rows are the rounds.
    sparse : bool
        Only where X may be sparse.
    native : bool
        Only where X is read by the estimator itself and a file holds it whole, which an oracle of a person prevents.
    package : str
        Only where this package is installed.
    """

    def register(check: Check) -> Check:
        LAWS[check.__name__] = Law(check, has.split(), params.split(), kinds.split(), plain, sparse, native, package)
        return check

    return register


# -- learning -------------------------------------------------------------------------------------------------------


def fresh(estimator: Any, /, **params: Any) -> Any:
    """Return an unfitted copy, with those of the given parameters that it has."""
    copy = clone(estimator)
    return copy.set_params(**{name: value for name, value in params.items() if name in copy.get_params(deep=False)})


def fit(estimator: Any, case: Case, **more: Any) -> Any:
    return estimator.fit(case.X, case.y, **case.per_row, **more)


def learn(estimator: Any, case: Case, **more: Any) -> Any:
    """Learn from the case as it is; labels appear as they come."""
    return estimator.partial_fit(case.X, case.y, **case.per_row, **more)


def begin(estimator: Any, case: Case, **more: Any) -> Any:
    """Learn from the case with what ``fit`` would know given beforehand."""
    known = {} if case.classes is None else {"classes": case.classes}
    return learn(estimator, case, **known, **more)


def one_by_one(estimator: Any, case: Case) -> Any:
    for t in range(len(case)):
        learn(estimator, case.take([t]))
    return estimator


def scores_of(estimator: Any, X: Any) -> np.ndarray:
    """Return the scores of all rounds in one array, also where each round has a matrix of its own."""
    out = estimator.decision_function(X)
    return np.concatenate(out) if isinstance(out, list) else np.asarray(out)


# -- comparing ------------------------------------------------------------------------------------------------------


def require(holds: Any, message: str) -> None:
    if not holds:
        raise AssertionError(message)


def learned(estimator: Any) -> dict[str, Any]:
    """Return what was learned: every public attribute that ends in ``_``, and the arrays that a file would hold."""
    out = {}
    for name in dir(estimator):
        if name.endswith("_") and not name.startswith("_"):
            with contextlib.suppress(AttributeError):
                out[name] = getattr(estimator, name)
    if "t_" in out and hasattr(estimator, "_state"):
        out |= {f"section {name}": array for name, array in estimator._state()[1].items()}
    return out


def everything(estimator: Any) -> Any:
    """Return all that pickle would keep."""
    return estimator.__getstate__()


def bits(value: Any) -> Any:
    """Return something that is equal only for values that are the same bit by bit."""
    if sparse.issparse(value):
        return ("sparse", bits(value.toarray()))
    if isinstance(value, np.ndarray):
        content = bits(value.tolist()) if value.dtype == object else value.tobytes()
        return value.dtype.str, value.shape, content
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, dict):
        return {name: bits(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value).__name__, [bits(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return bits(vars(value))
    if value is None or isinstance(value, bool | int | str | bytes | set | frozenset | type | np.dtype):
        return value
    return pickle.dumps(value)


def same(a: Any, b: Any, what: str) -> None:
    """Raise where two values are not the same bit by bit."""
    if isinstance(a, dict) and isinstance(b, dict):
        require(a.keys() == b.keys(), f"{what}: one has {sorted(a.keys() ^ b.keys())}, and the other has not")
        for name in a:
            same(a[name], b[name], f"{what}: {name}")
    elif bits(a) != bits(b):
        raise AssertionError(f"{what} differs: {a!r} and {b!r}")


def same_learned(a: Any, b: Any, what: str, but: tuple[str, ...] = ()) -> None:
    """Raise where two estimators learned different things."""
    of_a, of_b = ({name: v for name, v in learned(it).items() if name not in but} for it in (a, b))
    same(of_a, of_b, what)


def same_answers(a: Any, b: Any, case: Case, what: str) -> None:
    """Raise where two estimators answer differently."""
    for name in ("predict", "decision_function"):
        if hasattr(a, name):
            same(getattr(a, name)(case.X), getattr(b, name)(case.X), f"{what}: {name}")


# -- expecting errors -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def refuses(kind: type[Exception] | tuple[type[Exception], ...], *words: str, why: str) -> Iterator[None]:
    """Expect an error whose message has all the words; `why` says what should have been refused."""
    try:
        yield
    except kind as error:
        missing = [word for word in words if word not in str(error)]
        require(not missing, f"{why}: the message does not say {missing}: {error}")
    except Exception as error:
        raise AssertionError(f"{why}: expected {kind}, got {type(error).__name__}: {error}") from error
    else:
        raise AssertionError(f"{why}: no error was raised")


@contextlib.contextmanager
def unchanged(estimator: Any, what: str) -> Iterator[None]:
    """Expect the block to leave the estimator as it is, to the last bit."""
    before = everything(estimator)
    yield
    same(before, everything(estimator), f"{what} changed the estimator")
