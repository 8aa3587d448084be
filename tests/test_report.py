"""The page: what stands on it, and that a browser opens it without an error or a request."""

import os
import re
import shutil
import subprocess
from xml.etree import ElementTree

import numpy as np
import pytest

from hinge import LabelRanker, progressive
from hinge.report import About, page
from hinge.report.chart import Curve, chart, tick_step

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


ITS_OWN = (".google.com", ".googleapis.com", ".gvt1.com", ".gstatic.com")  # Chromium looks for updates and dictionaries


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 6))
    y = (X @ rng.normal(size=(6, 4))).argmax(axis=1)
    return progressive(LabelRanker(C=0.02), X, y, every=3)


@pytest.fixture(scope="module")
def about():
    return About(
        title="Numbers & <letters>",
        configuration={"C": 0.02},
        data={"rows": 900},
        labels=[("<b>", 500, 20.0), ("c & d", 400, 10.0)],
        worst=[(7, "line 8", "<i>", 3.5)],
        command="hinge report 'a b.svm'",
    )


def test_what_is_given_stands_on_the_page(report, about, tmp_path):
    report.to_html(tmp_path / "p.html", about)
    text = (tmp_path / "p.html").read_text()
    assert text == page(report, about)
    for piece in (
        "Numbers &amp; &lt;letters&gt;",
        "&lt;b&gt;",
        "c &amp; d",
        "line 8",
        "hinge report &#x27;a b.svm&#x27;",
    ):
        assert piece in text
    assert "<i>" not in text
    assert f"It made {report.certificate.mistakes} mistakes" in text
    assert "hindsight, at least" in text
    assert "prefers-color-scheme: dark" in text
    assert "<h2>Labels</h2>" not in page(report)


def test_nothing_comes_from_elsewhere(report, about):
    text = page(report, about)
    assert not re.search(r"<(script|link (?!rel=\"icon\" href=\"data:)|img|iframe)|url\(|@import|https?:", text)


def test_curves_are_thinned_without_a_loss_of_mean(report):
    thin = re.search(r"<pre>(.*?)</pre>", page(report), re.DOTALL)[1].splitlines()
    assert thin[-1].split()[0] == "900"
    assert float(thin[-1].split()[-1]) == pytest.approx(report.totals["error"], abs=1e-4)


def test_a_curve_stays_within_its_frame():
    rng = np.random.default_rng(1)
    for _ in range(50):
        n = int(rng.integers(1, 40))
        x = np.cumsum(rng.integers(1, 100, n))
        y = rng.random(n) * 10.0 ** rng.integers(-6, 6)
        svg = ElementTree.fromstring(chart([Curve("a < b", x, y), Curve("c", x, y / 2, "area")], "two & more"))
        points = [tuple(map(float, pair.split(","))) for pair in svg.find("polyline").get("points").split()]
        assert all(50 <= px <= 600 and 10 <= py <= 250 for px, py in points)
        assert y.max() <= 6 * tick_step(float(y.max()))


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium")
def test_a_browser_opens_it_quietly(report, about, tmp_path):
    """Chromium's own log: no console message, no request but for the page itself."""
    (tmp_path / "p.html").write_text(page(report, about))
    log, net = tmp_path / "log", tmp_path / "net.json"
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
         f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging", "--v=0", f"--log-file={log}",
         f"--log-net-log={net}", "--window-size=900,2000", f"--screenshot={tmp_path / 'p.png'}", f"file://{tmp_path}/p.html"],
        capture_output=True, text=True, timeout=120, check=False, env=os.environ | {"HOME": str(tmp_path)},
    )  # fmt: skip
    said = done.stderr + (log.read_text() if log.exists() else "")
    assert "CONSOLE" not in said
    assert (tmp_path / "p.png").stat().st_size > 20_000
    hosts = set(re.findall(r'"url":"https?://([^/"]*)', net.read_text()))
    assert not {host for host in hosts if not host.endswith(ITS_OWN)}
