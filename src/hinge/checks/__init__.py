"""What every estimator of this library promises, as checks that run on any of them.

Each check states one law in its first line, takes an estimator and a `Case` (a stream to learn), and raises an
AssertionError where the law does not hold. Which checks apply follows from what the estimator has: its tags, methods,
attributes and parameters, never its class.

>>> from hinge import LabelRanker
>>> from hinge.checks import all_checks, check_estimator
>>> len(list(all_checks(LabelRanker()))) >= 40
True
>>> results = check_estimator(LabelRanker(C=0.5), on_fail=None)
>>> [one["check_name"] for one in results if one["status"] == "failed"]
[]
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from typing import Any

from hinge.checks.cases import CASES, Case, cases
from hinge.checks.laws import LAWS, Check, Law, fit, fresh, law

__all__ = ["CASES", "LAWS", "Case", "all_checks", "cases", "check_estimator", "law"]

THEMES = ("streams", "answers", "targets", "weights", "inputs", "parameters", "features", "files", "evaluations")

for theme in THEMES:
    importlib.import_module(f"hinge.checks.{theme}")


def __getattr__(name: str) -> Check:
    if name in LAWS:
        return LAWS[name].check
    raise AttributeError(f"module 'hinge.checks' has no attribute {name!r}")


def _applicable(estimator: Any) -> Iterator[tuple[str, Law, list[Case]]]:
    streams_of_it = [(case, fit(fresh(estimator), case)) for case in cases(estimator)]
    for name, one in LAWS.items():
        chosen = [case for case, fitted in streams_of_it if one.applies(fitted, case)]
        if chosen:
            yield name, one, chosen


def all_checks(estimator: Any) -> Iterator[tuple[str, Check]]:
    """Yield the name and the function of every check that applies to an estimator.

    Parameters
    ----------
    estimator : estimator of hinge
        It is not changed.

    Yields
    ------
    name : str
    check : function of an estimator and a `Case`
    """
    for name, one, _ in _applicable(estimator):
        yield name, one.check


def check_estimator(estimator: Any, *, on_fail: str | None = "raise") -> list[dict[str, Any]]:
    """Run every check that applies to an estimator, on every stream that there is for it.

    Parameters
    ----------
    estimator : estimator of hinge
        It is not changed.
    on_fail : {"raise", None}, default="raise"
        Whether the first check that fails raises an AssertionError; otherwise the results say so.

    Returns
    -------
    list of dict
        One for each check and stream: ``check_name``, ``case``, ``status`` ("passed" or "failed"), ``exception`` and
        ``seconds``.
    """
    if on_fail not in ("raise", None):
        raise ValueError(f"on_fail must be 'raise' or None, got {on_fail!r}")
    results = []
    for name, one, chosen in _applicable(estimator):
        for case in chosen:
            start, failure = time.perf_counter(), None
            try:
                one.check(fresh(estimator), case)
            except Exception as error:
                if on_fail == "raise":
                    raise AssertionError(f"{name} of {estimator!r} on {case.name}: {error}") from error
                failure = error
            seconds = time.perf_counter() - start
            status = "failed" if failure else "passed"
            results.append(
                {"check_name": name, "case": case.name, "status": status, "exception": failure, "seconds": seconds}
            )
    return results
