"""The page: what learned, on what, how it went, what is proven, where it erred, and how to do it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

import hinge

from .chart import Curve, chart

__all__ = ["About", "page", "tables_page"]

POINTS = 120  # of a curve
SHOWN = 25  # rows of the label table


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
        _number("error, mean a round", f"{totals['error']:.4g}"),
        _number("loss, mean a round", f"{totals['loss']:.4g}"),
        "</section>",
        *_proven(report),
        "<h2>How it went</h2>",
        "<p>Every round is predicted and then learned. Solid: the mean so far. Dotted: since the point before.</p>",
        *_pictures(report),
        f"<details><summary>The same as a table</summary><pre>{escape(_thinned(report).table())}</pre></details>",
        "<div class=two>",
        *_half("Data", _pairs(about.data)),
        *_half("Configuration", _pairs(about.configuration)),
        "</div>",
        *_section("Labels", _labels(about.labels)),
        *_section("The worst examples", _worst(about.worst)),
        *_section("Again", f"<pre>{escape(about.command)}</pre>" if about.command else ""),
        f"<footer>hinge {escape(hinge.__version__)}</footer>",
    ]
    return PAGE.format(title=escape(about.title or report.estimator), style=STYLE, body="\n".join(parts))


def tables_page(title: str, tables: Sequence[Any], command: str) -> str:
    """Return a page of HTML on the tables of an experiment, each with its curves where it has some.

    Parameters
    ----------
    title : str
    tables : sequence of hinge.reproduce.Table
    command : str
        What repeats this.

    Returns
    -------
    str
    """
    parts = [f"<h1>{escape(title)}</h1>"]
    for table in tables:
        parts += [f"<h2>{escape(table.title)}</h2>", *_drawn(table)]
        parts.append(_table(table.head, [[escape(cell) for cell in row] for row in table.rows]))
        parts += [f"<p>{escape(note)}</p>" for note in table.notes]
    parts += [
        *_section("Again", f"<pre>{escape(command)}</pre>"),
        f"<footer>hinge {escape(hinge.__version__)}</footer>",
    ]
    return PAGE.format(title=escape(title), style=STYLE, body="\n".join(parts))


def _drawn(table: Any) -> list[str]:
    if not table.curves:
        return []
    curves = [Curve(name, np.array(x), np.array(y)) for name, x, y in table.curves]
    picture = chart(curves, table.title, table.axis, min(float(curve.x[0]) for curve in curves))
    return [f"<figure>{picture}<figcaption>{escape(table.title)}</figcaption></figure>"]


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
            f"Its loss is {_large(it.loss)}. No fixed model of complexity {complexity:.4g}, not even one chosen after "
            f"the last round, has a loss below {_large(it.hindsight_loss(complexity))} on this stream."
        )
    return ["<h2>What is proven</h2>", f"<p>{' '.join(map(escape, sentences))}</p>"]


def _large(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


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


def _half(title: str, body: str) -> list[str]:
    return ["<section>", *_section(title, body), "</section>"] if body else []


def _pairs(values: dict[str, Any]) -> str:
    rows = "".join(f"<tr><th>{escape(str(k))}</th><td>{escape(str(v))}</td></tr>" for k, v in values.items())
    return f"<table>{rows}</table>" if rows else ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div class=wide><table class=list><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"


def _filled(head: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Leave out the columns in which no row says anything."""
    kept = [j for j in range(len(head)) if any(row[j] for row in rows)]
    return [head[j] for j in kept], [[row[j] for j in kept] for row in rows]


def _labels(labels: Sequence[tuple[Any, int, float]]) -> str:
    if not labels:
        return ""
    ordered = sorted(labels, key=lambda row: -row[1])
    rows = [
        [escape(str(label)), f"{count:,}", f"{mistakes:,.6g}", f"{mistakes / count:.1%}", _bar(mistakes / count)]
        for label, count, mistakes in ordered
    ]
    head = ["label", "rounds", "errors", "share", ""]
    if len(rows) <= SHOWN:
        return _table(head, rows)
    rest = f"<details><summary>{len(rows) - SHOWN:,} rarer labels</summary>{_table(head, rows[SHOWN:])}</details>"
    return _table(head, rows[:SHOWN]) + rest


def _bar(share: float) -> str:
    width = 100 * min(share, 1.0)
    return (
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="all" width="100" height="8"/><rect width="{width:.1f}" height="8"/></svg>'
    )


def _worst(worst: Sequence[tuple[int, str, str, float]]) -> str:
    if not worst:
        return ""
    rows = [[escape(truth), escape(where), f"{number:,}", f"{loss:.4g}"] for number, where, truth, loss in worst]
    return _table(*_filled(["truth", "where", "round", "loss"], rows))


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
:root { color-scheme: light dark; --ink: #1d1d1b; --quiet: #66645c; --paper: #f7f5ef; --card: #fffefb; --line: #dedace;
  --mark: #14568c; --proof: #14568c29; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eceae3; --quiet: #a5a399; --paper: #151514; --card: #1e1e1c; --line: #393834; --mark: #86bdf0;
    --proof: #86bdf033; }
}
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 52rem;
  margin: 0 auto; padding: 3rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; letter-spacing: -.01em; margin: 0 0 .4rem; text-wrap: balance; }
h2 { font-size: 1.15rem; margin: 2.75rem 0 .6rem; }
p { max-width: 42rem; text-wrap: pretty; }
p, figcaption, footer, summary { color: var(--quiet); }
code { font-size: .9em; overflow-wrap: anywhere; }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 1px; margin: 1.75rem 0;
  color: var(--quiet); font-size: .875rem; background: var(--line); border: 1px solid var(--line); border-radius: 10px;
  overflow: hidden; }
.numbers div { background: var(--card); padding: .9rem 1.2rem; }
.numbers b { display: block; font-size: 1.9rem; font-weight: 600; color: var(--ink);
  font-variant-numeric: tabular-nums; line-height: 1.25; }
figure { margin: 1rem 0 1.25rem; padding: 1.1rem 1rem .9rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 10px; }
figcaption { font-size: .875rem; padding: .3rem .25rem 0; }
figure svg { display: block; width: 100%; height: auto; fill: none; }
figure text { fill: var(--quiet); font: 12px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
.grid { stroke: var(--line); }
.solid { stroke: var(--mark); stroke-width: 2.25; stroke-linejoin: round; }
.faint { stroke: var(--quiet); stroke-width: 1; stroke-dasharray: 2 3; opacity: .8; }
.area { fill: var(--proof); stroke: var(--mark); stroke-dasharray: 5 3; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); column-gap: 3rem; }
.two > * { min-width: 0; }
table { border-collapse: collapse; }
th { text-align: left; font-weight: 400; color: var(--quiet); padding: .2rem 1.5rem .2rem 0; }
td { padding: .2rem 1.5rem .2rem 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.list { width: 100%; font-size: .9375rem; }
.list td { overflow-wrap: break-word; }
.list th, .list td { border-bottom: 1px solid var(--line); padding: .3rem 1rem .3rem 0; text-align: right; }
.list :is(th, td):first-child { text-align: left; }
.wide { overflow-x: auto; }
.bar { display: block; width: 7rem; height: .5rem; margin-left: auto; fill: var(--mark); }
.bar .all { fill: var(--line); }
pre { overflow-x: auto; font-size: .85rem; padding: .8rem 1rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 10px; }
summary { cursor: pointer; margin: .75rem 0; }
footer { margin-top: 3rem; font-size: .875rem; }
@media print { body { max-width: none; padding: 0; } figure, .numbers, tr { break-inside: avoid; } }
"""
