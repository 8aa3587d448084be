"""The rules that stand on an oracle: their parameters, which of them learn online, and what they prove.

``lambda`` is `alpha`. With m rows, ``C = 1 / (2 alpha m)`` makes ``alpha ||w||^2 + mean hinge`` and
``||w||^2 / 2 + C sum hinge`` the same up to scale; weights of rows multiply their C.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Integral, Interval, Real, StrOptions

from hinge.certificate import Certificate

__all__ = ["BATCH", "ONLINE", "RuleLearner", "online_only"]

ONLINE = ("sgd", "passive-aggressive", "perceptron")
BATCH = ("svm", "erm")
ALPHA = 1e-4  # of sgd, where neither alpha nor eta is given
POSITIVE = Interval(Real, 0, None, closed="neither")


class online_only:
    """A method that estimators have whose rule learns online; for the others the attribute does not exist."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.__doc__ = method.__doc__
        self.__name__ = method.__name__
        self.__wrapped__ = method

    def __get__(self, estimator: Any, owner: type) -> Any:
        if estimator is None:
            return self.method
        if estimator.rule in BATCH:
            having = ", ".join(f"rule={rule!r}" for rule in ONLINE)
            raise AttributeError(
                f"{owner.__name__} has no {self.__name__} with rule={estimator.rule!r}, which solves for all examples "
                f"at once: call fit, or choose {having}"
            )
        return self.method.__get__(estimator, owner)


class RuleLearner:
    """What estimators share that have a `rule`: a mixin that comes before the estimator's base."""

    rule: str
    C: float
    alpha: float | None
    eta: float | None

    _rule_structure: ClassVar[tuple[str, ...]] = ("rule", "average", "fit_intercept", "dtype")
    _rule_constraints: ClassVar[dict[str, list[Any]]] = {
        "rule": [StrOptions({*ONLINE, *BATCH})],
        "C": [POSITIVE],
        "alpha": [POSITIVE, None],
        "eta": [POSITIVE, None],
        "average": ["boolean"],
        "tol": [POSITIVE],
        "max_passes": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }

    def _check_rule(self) -> None:
        """Raise where parameters of the rule do not go together."""
        if self.rule == "sgd" and self.alpha is not None and self.eta is not None:
            raise ValueError(
                "eta and alpha exclude each other: eta is a constant step for the mean hinge, alpha gives the steps "
                "for alpha ||w||^2 + mean hinge"
            )

    @property
    def _core_rule(self) -> str:
        """The rule as the core names it."""
        return "regularised sgd" if self.rule == "sgd" and self.eta is None else self.rule

    @property
    def _step(self) -> float:
        """What the core multiplies a round's weight by: C, 1, eta or 1 / (2 alpha)."""
        if self.rule == "perceptron":
            return 1.0
        if self.rule == "sgd":
            return float(self.eta) if self.eta is not None else 1 / (2 * (ALPHA if self.alpha is None else self.alpha))
        return float(self.C)

    def _caps(self, weights: np.ndarray | None, examples: int) -> np.ndarray:
        """Return the C of each example for the rules that solve for all of them."""
        weights = np.ones(examples) if weights is None else weights
        return weights * self.C if self.alpha is None else weights / (2 * self.alpha * weights.sum())

    def _certificate_of(self, book: dict[str, float], removed: bool = False) -> Certificate:
        """Return what passive-aggressive proves, from the ledger of the core."""
        dual = -inf if removed else book["dual"]
        gain = book["least_gain"]
        rounding = np.finfo(np.dtype(self.dtype)).eps * (book["promised"] + 2 * book["conjugate"] + 1)  # type: ignore[attr-defined]
        return Certificate(
            int(book["rounds"]),
            int(book["mistakes"]),
            book["loss"],
            dual,
            (max(0.0, dual) / gain if gain > 0 else inf) if not removed else inf,
            tolerance=float(rounding * np.sqrt(max(1.0, book["rounds"]))),
            C=book["C"] or float(self.C),
        )
