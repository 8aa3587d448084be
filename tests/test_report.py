"""The page: what stands on it, and that a browser opens it without an error or a request."""

import re
import shutil
from xml.etree import ElementTree

import numpy as np
import pytest

from hinge import LabelRanker, progressive
from hinge.report import About, page
from hinge.report.chart import Curve, chart, tick_step

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


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


def test_a_curve_of_one_point_is_drawn():
    svg = ElementTree.fromstring(chart([Curve("a", np.array([1.0]), np.array([0.5]))], "one", first=1.0))
    assert svg.find("polyline").get("points").count(",") == 1


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


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium, driven by Playwright."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright here: pip install -e '.[test]'")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_opens_it_quietly(browser, scheme, report, about, tmp_path):
    (tmp_path / "p.html").write_text(page(report, about))
    tab = browser.new_page(color_scheme=scheme, viewport={"width": 900, "height": 700})
    said, asked = [], []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(f"file://{tmp_path}/p.html")
    assert (said, asked) == ([], [f"file://{tmp_path}/p.html"])
    assert tab.title() == about.title
    ink, paper = tab.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    lightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (ink, paper)]
    assert (lightness[0] < lightness[1]) == (scheme == "light")
    assert abs(lightness[0] - lightness[1]) > 500  # of 765
    for drawing in tab.locator("figure svg").all():
        box = drawing.bounding_box()
        assert box["width"] > 600
        assert box["height"] > 200
    overlaps = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overlaps == 0
    tab.set_viewport_size({"width": 360, "height": 700})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360  # a telephone needs no scrolling sideways
    tab.close()


def test_what_is_proven_is_told_apart_without_colour(report, about):
    """The band has a dashed edge, what is since the point before is dotted, and each has its name at its end."""
    text = page(report, about)
    assert re.search(r"\.area \{[^}]*stroke-dasharray: 5 3", text)
    assert re.search(r"\.faint \{[^}]*stroke-dasharray: 2 3", text)
    svg = ElementTree.fromstring(re.search(r"<svg.*?</svg>", text, re.DOTALL)[0])
    names = [element.text for element in svg.iter("text")]
    assert {"loss so far", "since", "hindsight, at least"} <= set(names)
    assert svg.get("aria-label")
