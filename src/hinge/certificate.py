"""What the dual proves about a stream: how few mistakes are left to make, and how well any fixed model could have done.

With ``D`` the dual after the rounds so far, no fixed ranker W, chosen in hindsight, has
``complexity(W) + C * (sum of its losses) < D``; and the learner's own mistakes are at most ``D / lam``, where ``lam``
is what each mistake must add to the dual.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, sqrt

__all__ = ["Certificate"]


@dataclass(frozen=True)
class Certificate:
    """A proven bound on what any fixed model could have done on the stream seen so far.

    Parameters
    ----------
    rounds : int
        Rounds seen; those of weight 0 count here and nowhere else.
    mistakes : int
        Rounds with a mistake.
    loss : float
        The learner's own cumulative loss, each round times its weight.
    dual : float
        D, read off the state.
    mistake_bound : float
        At most so many mistakes can have been made. Infinite where the rule proves none: the fixed step with a C so
        large that a mistake may lower the dual, or a label removed in between.
    tolerance : float
        About how far rounding may have moved `dual` (a random-walk estimate, not a proof; near 0 for float64).
    C : float
        The largest C that was set.
    steps : float, optional
        For the fixed step with the squared norm: ``|| theta / C ||^2`` summed over the labels, which gives a second
        bound.
    promise : float
        For the same: gamma times the (weighted) mistakes.

    Notes
    -----
    With the entropies a feature that appears later enlarges the domain of every competitor. `dual` stays a bound on
    the competitors over the features seen by then, and may fall at such an arrival. What a mistake must add to it holds
    for the rounds between arrivals, so `mistake_bound` divides what the rounds have added, and leaves the falls out.

    Examples
    --------
    >>> Certificate(rounds=10, mistakes=2, loss=3.0, dual=1.5, mistake_bound=6.0).hindsight_loss(complexity=0.5)
    1.0
    """

    rounds: int
    mistakes: int
    loss: float
    dual: float
    mistake_bound: float
    tolerance: float = field(default=0.0, kw_only=True)
    C: float = field(default=1.0, kw_only=True)
    steps: float | None = field(default=None, kw_only=True, repr=False)
    promise: float = field(default=0.0, kw_only=True, repr=False)

    def hindsight_loss(self, complexity: float) -> float:
        """Return a loss that no fixed model of the given complexity can have fallen below on this stream.

        Parameters
        ----------
        complexity : float
            ``sum_y F(w_y)``: half the squared norm of the weights; for the entropies the sum of the labels' relative
            entropies to the uniform weights.

        Returns
        -------
        float
            ``max(0, (dual - complexity) / C)``; for the fixed step with the squared norm also
            ``gamma M - sqrt(2 complexity S)``, whichever is larger.
        """
        if not complexity >= 0:
            raise ValueError(f"complexity must not be negative, got {complexity!r}")
        bounds = [0.0, (self.dual - complexity) / self.C if self.dual > -inf else 0.0]
        if self.steps is not None:
            bounds.append(self.promise - sqrt(2 * complexity * self.steps))
        return float(max(bounds))
