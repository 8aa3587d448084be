"""The rules that stand on an oracle: their parameters, which of them learn online, and what they prove.

``lambda`` is `alpha`. With m rows, ``C = 1 / (2 alpha m)`` makes ``alpha ||w||^2 + mean hinge`` and
``||w||^2 / 2 + C sum hinge`` the same up to scale; weights of rows multiply their C.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from math import inf
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Integral, Interval, Real, StrOptions

from hinge.base import present_unless
from hinge.certificate import Certificate

__all__ = ["BATCH", "ONLINE", "RuleLearner", "online_only", "warn_if_open"]

ONLINE = ("sgd", "passive-aggressive", "perceptron")
BATCH = ("svm", "erm")
ALPHA = 1e-4  # of sgd, where neither alpha nor eta is given
POSITIVE = Interval(Real, 0, None, closed="neither")


def _needs_all_rows(estimator: Any) -> str | None:
    if estimator.rule not in BATCH:
        return None
    having = ", ".join(f"rule={rule!r}" for rule in ONLINE)
    return f"rule={estimator.rule!r}, which solves for all examples at once: call fit, or choose {having}"


online_only = present_unless(_needs_all_rows)  # for methods of estimators whose rule learns online


class RuleLearner:
    """What estimators share that have a `rule`: a mixin that comes before the estimator's base."""

    rule: str
    C: float
    alpha: float | None
    eta: float | None
    average: bool
    _passes = 0
    _solved: dict[str, float] | None = None  # what the batch rules found
    _rule_begun: str | None = None

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
        """Raise where parameters of the rule do not go together, or with how learning began."""
        begun = getattr(self, "_begun", None)
        if begun is not None and {self._rule_begun, self._core_rule} == {"sgd", "regularised sgd"}:
            raise ValueError("eta is part of how SGD began: call fit to go from None to a number, or back")
        if self.rule == "sgd" and self.alpha is not None and self.eta is not None:
            raise ValueError(
                "eta and alpha exclude each other: eta is a constant step for the mean hinge, alpha gives the steps "
                "for alpha ||w||^2 + mean hinge"
            )

    def _start(self) -> None:
        super()._start()  # type: ignore[misc]
        self._rule_begun, self._solved = self._core_rule, None

    def _after_fit(self, fitted: Any) -> Any:
        self.n_iter_ = self._passes if self._solved is None else int(self._solved["passes"])
        return fitted

    @property
    def _decays(self) -> bool:
        return self._core_rule == "regularised sgd"

    def _orders(self, rounds: int) -> Iterator[np.ndarray | None]:
        """Yield each pass's order: one pass for batch rules, and for the Perceptron as many as it needs."""
        before, self._passes = -1.0, 0
        if self.rule == "erm":  # whose messages name rows
            self._passes = 1
            yield None
            return
        for order in super()._orders(rounds):  # type: ignore[misc]
            mistakes = self._model.ledger()["mistakes"]  # type: ignore[attr-defined]
            if self._passes and (
                self.rule == "svm" or (self.rule == "perceptron" and not self.average and mistakes == before)
            ):
                return
            self._passes, before = self._passes + 1, mistakes
            yield order

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

    def _note_solution(
        self, examples: int, passes: int, primal: float, dual: float, hinge: float, caps: np.ndarray, mistakes: float
    ) -> None:
        numbers = {"examples": examples, "passes": passes, "primal": primal, "dual": dual, "hinge": hinge,
                   "caps": caps.sum(), "C": caps.max(), "mistakes": mistakes}  # fmt: skip
        self._solved = {name: float(value) for name, value in numbers.items()}

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        state, sections = super()._state()  # type: ignore[misc]
        return state | {"solved": self._solved}, sections

    def _restore(self, state: Any, sections: dict[str, np.ndarray]) -> None:
        super()._restore(state, sections)  # type: ignore[misc]
        solved = state["solved"]
        self._solved = None if solved is None else {str(name): float(value) for name, value in solved.items()}

    @property
    def t_(self) -> int:
        """Rounds so far, over all passes."""
        solved = self._solved
        return int(solved["examples"] * solved["passes"]) if solved else int(super().t_)  # type: ignore[misc]

    @property
    def certificate_(self) -> Certificate:
        """What is proven about any fixed model."""
        if self.rule not in ("passive-aggressive", "svm"):
            raise AttributeError("certificate_ exists with rule='passive-aggressive' and with rule='svm'")
        model = getattr(self, "_model", None)
        if model is None:
            raise AttributeError("certificate_ exists once something was learned")
        if self.rule == "svm":
            return self._certificate_of_solution()
        return self._certificate_of(model.ledger(), getattr(self, "_removed", False))

    @property
    def objective_(self) -> float:
        """The value of ``alpha ||w||^2 + mean hinge``."""
        return self._of_solution("objective_", "primal")

    @property
    def gap_(self) -> float:
        """How far at most the objective is above the smallest possible."""
        return max(0.0, self.objective_ - self._of_solution("gap_", "dual"))

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

    def _certificate_of_solution(self) -> Certificate:
        """Return what the dual of a solved problem proves: no fixed model has a smaller objective."""
        solved = self._solved
        if solved is None:
            raise AttributeError("certificate_ exists once fit has solved the problem")
        rounding = np.finfo(np.dtype(self.dtype)).eps * (solved["primal"] + 1)  # type: ignore[attr-defined]
        return Certificate(
            int(solved["examples"]),
            int(solved["mistakes"]),
            solved["hinge"] / solved["C"],
            solved["dual"],
            inf,
            tolerance=float(rounding * np.sqrt(max(1.0, solved["examples"]))),
            C=solved["C"],
        )

    def _of_solution(self, name: str, value: str) -> float:
        """Return a value of the solution in the units of ``alpha ||w||^2 + mean hinge``."""
        solved = self._solved
        if solved is None or value not in solved:
            raise AttributeError(f"{name} exists once fit has solved rule='svm'")
        return solved[value] / solved["caps"]


def warn_if_open(estimator: Any, primal: float, dual: float) -> None:
    """Warn where the gap of a solution is larger than asked for."""
    if primal - dual > estimator.tol * primal:
        warnings.warn(
            f"the gap is {(primal - dual) / primal:.1e} of the objective after {estimator.max_passes} passes, and tol "
            f"is {estimator.tol:g}: raise max_passes or tol, or use dtype='float64'",
            ConvergenceWarning,
            stacklevel=6,
        )
