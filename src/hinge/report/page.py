"""The page: what learned, on what, how it went, what is proven, where it erred, and how to do it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

import hinge

from .chart import Curve, chart

__all__ = ["About", "page"]

POINTS = 120  # of a curve
SHOWN = 40  # rows of the label table


@dataclass
class About:
    """What a page says beside the curves; what is left empty is left out.

    Parameters
    ----------
    title : str
    configuration : dict of str to object
        The estimator's parameters.
    data : dict of str to object
        The shape of the data: rows, features, labels.
    labels : sequence of (label, rows, mistakes)
    worst : sequence of (round, where, truth, loss)
        The examples with the highest loss.
    command : str
        What repeats this.
    """

    title: str = ""
    configuration: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    labels: Sequence[tuple[Any, int, float]] = ()
    worst: Sequence[tuple[int, str, str, float]] = ()
    command: str = ""


def page(report: Any, about: About | None = None) -> str:
    """Return a page of HTML on a progressive report.

    Parameters
    ----------
    report : ProgressiveReport
    about : About, optional

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import LabelRanker, progressive
    >>> text = page(progressive(LabelRanker(), np.eye(4), [0, 1, 0, 1]), About(title="Four rows"))
    >>> text.startswith("<!doctype html>"), "<script" in text
    (True, False)
    """
    about = about or About()
    totals = report.totals
    parts = [
        f"<h1>{escape(about.title or 'A learner and its stream')}</h1>",
        f"<p><code>{escape(report.estimator)}</code></p>",
        "<section class=numbers>",
        _number("rounds", f"{int(totals['rounds']):,}"),
        _number("error", f"{totals['error']:.4g}"),
        _number("loss", f"{totals['loss']:.4g}"),
        "</section>",
        *_proven(report),
        "<h2>How it went</h2>",
        "<p>Every round is predicted and then learned. Solid: the mean so far. Dotted: since the point before.</p>",
        *_pictures(report),
        f"<details><summary>The same as a table</summary><pre>{escape(_thinned(report).table())}</pre></details>",
        *_section("Data", _pairs(about.data)),
        *_section("Configuration", _pairs(about.configuration)),
        *_section("Labels", _labels(about.labels)),
        *_section("The worst examples", _worst(about.worst)),
        *_section("Again", f"<pre>{escape(about.command)}</pre>" if about.command else ""),
        f"<footer>hinge {escape(hinge.__version__)}</footer>",
    ]
    return PAGE.format(title=escape(about.title or report.estimator), style=STYLE, body="\n".join(parts))


def _number(name: str, value: str) -> str:
    return f"<div><b>{escape(value)}</b>{escape(name)}</div>"


def _proven(report: Any) -> list[str]:
    it = report.certificate
    if it is None:
        return []
    complexity = max(it.dual, 0.0) / 4
    sentences = []
    if it.mistake_bound < float("inf"):
        sentences.append(f"It made {it.mistakes:,} mistakes; more than {it.mistake_bound:,.0f} were not possible.")
    else:
        sentences.append(f"It made {it.mistakes:,} mistakes; this rule with this C proves no bound on them.")
    if it.hindsight_loss(complexity) > 0:
        sentences.append(
            f"Its loss is {it.loss:,.4g}. No fixed model of complexity {complexity:.4g}, not even one chosen after the "
            f"last round, has a loss below {it.hindsight_loss(complexity):,.4g} on this stream."
        )
    return ["<h2>What is proven</h2>", f"<p>{' '.join(map(escape, sentences))}</p>"]


def _pictures(report: Any) -> list[str]:
    thin = _thinned(report)
    rounds = thin.curve["round"]
    out = []
    for name in thin.curve:
        if name in ("round", "dual"):
            continue
        since = thin.curve[name]
        so_far = np.cumsum(since * np.diff(rounds, prepend=0)) / rounds
        curves = [Curve(f"{name} so far", rounds, so_far), Curve("since", rounds, since, "faint")]
        caption = f"{name}, mean a round"
        if name == "loss" and "dual" in thin.curve and thin.certificate is not None:
            it = thin.certificate
            complexity = max(it.dual, 0.0) / 4
            least = np.maximum(0.0, (thin.curve["dual"] - complexity) / it.C) / rounds
            if least.any():
                curves.insert(0, Curve("hindsight, at least", rounds, least, "area"))
                caption += f"; the band is what a fixed model of complexity {complexity:.4g} must lose at least"
        out.append(f"<figure>{chart(curves, caption)}<figcaption>{escape(caption)}</figcaption></figure>")
    return out


def _thinned(report: Any) -> Any:
    """The report with at most `POINTS` points a curve."""
    from dataclasses import replace

    rounds = report.curve["round"]
    if rounds.size <= POINTS:
        return report
    starts = np.linspace(0, rounds.size, POINTS, endpoint=False).astype(np.int64)
    ends = np.append(starts[1:], rounds.size) - 1
    lengths = np.diff(rounds, prepend=0)
    curve = {}
    for name, values in report.curve.items():
        if name in ("round", "dual"):
            curve[name] = values[ends]
        else:
            curve[name] = np.add.reduceat(values * lengths, starts) / np.add.reduceat(lengths, starts)
    return replace(report, curve=curve)


def _section(title: str, body: str) -> list[str]:
    return [f"<h2>{escape(title)}</h2>", body] if body else []


def _pairs(values: dict[str, Any]) -> str:
    rows = "".join(f"<tr><th>{escape(str(k))}</th><td>{escape(str(v))}</td></tr>" for k, v in values.items())
    return f"<table>{rows}</table>" if rows else ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div class=wide><table class=list><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"


def _labels(labels: Sequence[tuple[Any, int, float]]) -> str:
    if not labels:
        return ""
    ordered = sorted(labels, key=lambda row: -row[1])
    rows = [
        [escape(str(label)), f"{count:,}", f"{mistakes:,.6g}", f"{mistakes / count:.1%}{_bar(mistakes / count)}"]
        for label, count, mistakes in ordered[:SHOWN]
    ]
    more = f"<p>and {len(ordered) - SHOWN:,} more</p>" if len(ordered) > SHOWN else ""
    return _table(["label", "rounds", "errors", "share"], rows) + more


def _bar(share: float) -> str:
    width = 100 * min(share, 1.0)
    return f'<svg class="bar" viewBox="0 0 100 8" aria-hidden="true"><rect width="{width:.1f}" height="8"/></svg>'


def _worst(worst: Sequence[tuple[int, str, str, float]]) -> str:
    if not worst:
        return ""
    rows = [[f"{number:,}", escape(where), escape(truth), f"{loss:.4g}"] for number, where, truth, loss in worst]
    return _table(["round", "where", "truth", "loss"], rows)


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""

STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1a; --quiet: #6b6a64; --paper: #fffefb; --line: #d9d6cc; --mark: #14568c;
  --proof: #14568c2e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ebe9e2; --quiet: #a19f96; --paper: #191917; --line: #3a3935; --mark: #86bdf0; --proof: #86bdf038; }
}
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 46rem;
  margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; text-wrap: balance; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem; }
p, figcaption, footer, summary { color: var(--quiet); }
code { font-size: .9em; overflow-wrap: anywhere; }
.numbers { display: flex; flex-wrap: wrap; gap: 2.5rem; margin: 1.5rem 0; color: var(--quiet); }
.numbers b { display: block; font-size: 1.7rem; font-weight: 600; color: var(--ink);
  font-variant-numeric: tabular-nums; line-height: 1.2; }
figure { margin: 1rem 0 1.75rem; }
figcaption { font-size: .875rem; }
figure svg { width: 100%; height: auto; fill: none; }
figure text { fill: var(--quiet); font: 12px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
.grid { stroke: var(--line); }
.solid { stroke: var(--mark); stroke-width: 2; }
.faint { stroke: var(--quiet); stroke-width: 1; stroke-dasharray: 2 3; opacity: .8; }
.area { fill: var(--proof); stroke: var(--mark); stroke-dasharray: 5 3; }
table { border-collapse: collapse; }
th { text-align: left; font-weight: 400; color: var(--quiet); padding: .15rem 1.5rem .15rem 0; }
td { padding: .15rem 1.5rem .15rem 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.list { width: 100%; }
.list thead th { border-bottom: 1px solid var(--line); }
.list td { border-bottom: 1px solid var(--line); }
.wide { overflow-x: auto; }
.bar { width: 6rem; height: .5rem; margin-left: .75rem; fill: var(--mark); vertical-align: middle; }
pre { overflow-x: auto; font-size: .85rem; padding: .75rem; border: 1px solid var(--line); }
footer { margin-top: 3rem; font-size: .875rem; }
@media print { body { max-width: none; } }
"""
