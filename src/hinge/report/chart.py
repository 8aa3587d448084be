"""Curves as SVG: readable without colour, and coloured by the page's own style."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise
from math import floor, log10
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Curve", "chart"]

Place = Callable[[Any], np.ndarray]

WIDTH, HEIGHT = 720, 280
LEFT, RIGHT, TOP, BOTTOM = 56, 148, 14, 36


class Curve(NamedTuple):
    """A line with its name, which stands at its end; or an area from zero up, for what is proven."""

    name: str
    x: np.ndarray
    y: np.ndarray
    style: str = "solid"  # solid, faint, area


def chart(curves: Sequence[Curve], what: str, axis: str = "rounds", first: float = 0.0) -> str:
    """Draw curves over one axis.

    Parameters
    ----------
    curves : sequence of Curve
        At least one, of at least one point.
    what : str
        What the picture shows, for those who cannot see it.
    axis : str
        What runs from left to right.
    first : float
        Where it begins.

    Returns
    -------
    str
        An SVG element.
    """
    last = max(float(curve.x[-1]) for curve in curves)
    last = last if last > first else first + 1.0
    high = max(float(curve.y.max()) for curve in curves) or 1.0
    step = tick_step(high)
    top = step * -(-high // step)

    def across(x: Any) -> np.ndarray:
        return LEFT + (WIDTH - LEFT - RIGHT) * (np.asarray(x) - first) / (last - first)

    def up(y: Any) -> np.ndarray:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * np.asarray(y) / top

    parts = [_grid(up, across, step, top, (first, last), axis)]
    ends = _apart([float(up(curve.y[-1])) for curve in curves])
    for curve, end in zip(curves, ends, strict=True):
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across(curve.x), up(curve.y), strict=True))
        if curve.style == "area":
            base = HEIGHT - BOTTOM
            closed = f"{LEFT},{base} {points} {float(across(curve.x[-1])):.1f},{base}"
            parts.append(f'<polygon class="area" points="{closed}"/>')
        else:
            parts.append(f'<polyline class="{curve.style}" points="{points}"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 8}" y="{end + 4:.1f}">{escape(curve.name)}</text>')
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(what)}">{"".join(parts)}</svg>'


def tick_step(high: float) -> float:
    """Return a round distance of ticks, of which three to seven fit below `high`.

    Examples
    --------
    >>> tick_step(0.93), tick_step(14.0), tick_step(4000)
    (0.2, 5.0, 1000.0)
    """
    power = 10.0 ** floor(log10(high))
    return next(step * power for step in (0.2, 0.5, 1.0, 2.0) if high / (step * power) <= 5)


def _grid(up: Place, across: Place, step: float, top: float, ends: tuple[float, float], axis: str) -> str:
    parts = []
    for i in range(round(top / step) + 1):
        y = float(up(i * step))
        parts.append(f'<path class="grid" d="M{LEFT},{y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{i * step:.6g}</text>')
    first, last = ends
    distance = tick_step(last - first)
    for i in range(int((last - first) / distance + 1e-9) + 1):
        x = float(across(first + i * distance))
        tick = f"{first + i * distance:,.6g}"
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tick}</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 2}" text-anchor="end">{escape(axis)}</text>')
    return "".join(parts)


def _apart(heights: list[float]) -> list[float]:
    """Move names that would stand on each other apart."""
    out = list(heights)
    order = sorted(range(len(out)), key=lambda i: out[i])
    for before, after in pairwise(order):
        out[after] = max(out[after], out[before] + 15)
    over = max(0.0, max(out) - (HEIGHT - BOTTOM + 4))
    return [y - over for y in out]
