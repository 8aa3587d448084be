"""Draws docs/certificate.svg: the certificate of a ranker on the synthetic mailbox."""

from pathlib import Path

import numpy as np

from hinge import LabelRanker, progressive
from hinge.datasets import synthetic_mailbox
from hinge.report.chart import Curve, chart

STYLE = """<style>text { font: 12px sans-serif; fill: #666 } .grid { stroke: #8884 } .area { fill: #14568c33;
stroke: #14568c; stroke-dasharray: 5 3 } .solid { fill: none; stroke: #14568c; stroke-width: 2 }</style>"""


def picture() -> str:
    """Return the picture as SVG."""
    mail = list(synthetic_mailbox(4000, 24))
    ranker = LabelRanker(C=0.01, dtype="float64")
    curve = progressive(ranker, [x for x, _ in mail], [y for _, y in mail], every=50).curve
    rounds = curve["round"]
    complexity = ranker.certificate_.dual / 4
    least = np.maximum(0.0, (curve["dual"] - complexity) / 0.01) / rounds
    curves = [
        Curve("hindsight, at least", rounds, least, "area"),
        Curve("loss so far", rounds, np.cumsum(curve["loss"] * 50) / rounds),
    ]
    svg = chart(curves, "The mean loss of a learner, and under it a band that no fixed model can enter")
    head, body = svg.split(">", 1)
    return f'{head} xmlns="http://www.w3.org/2000/svg">{STYLE}{body}\n'


if __name__ == "__main__":
    Path(__file__).with_name("certificate.svg").write_text(picture())
