"""Every block of the pages that is Python or a shell session is run, and says what the page says it says."""

import doctest
import mailbox
import os
import re
import runpy
import shutil
import subprocess
import sys
from email.message import EmailMessage
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(DOCS.glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page, kind):
    """The blocks of a kind, each with the line on which it begins."""
    text = page.read_text()
    return [(text[: it.start()].count("\n") + 2, it[2]) for it in BLOCK.finditer(text) if it[1] == kind]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.stem)
def test_python_blocks(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = {}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for line, code in blocks(page, "python"):
        if ">>>" not in code:
            exec(compile(code, f"{page.name}:{line}", "exec"), known)
            continue
        test = doctest.DocTestParser().get_doctest(code, known, page.name, str(page), line - 1)
        runner.run(test, clear_globs=False)
        known.update(test.globs)
    assert runner.failures == 0


@pytest.fixture
def shell(tmp_path):
    """Run a command as in the pages: `hinge` is there, and ~/Mail holds two folders."""
    bin, home = tmp_path / "bin", tmp_path / "home"
    bin.mkdir()
    (home / "Mail").mkdir(parents=True)
    (bin / "hinge").write_text(f'#!/bin/sh\nexec {sys.executable} -m hinge.cli "$@"\n')
    (bin / "hinge").chmod(0o755)
    for day, (folder, words) in enumerate(
        {"work": "budget plan review", "home": "dinner garden piano"}.items(), start=1
    ):
        box = mailbox.mbox(home / "Mail" / folder)
        for i, word in enumerate(words.split() * 4):
            message = EmailMessage()
            message["Subject"], message["Date"] = f"the {word}", f"{day + 2 * i} Jan 2024 10:00:00 +0000"
            message.set_content(f"more about the {word}")
            box.add(message)
        box.close()
    environment = os.environ | {"HOME": str(home), "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}

    def run(command):
        done = subprocess.run(
            ["sh", "-c", command], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stdout}"
        return done.stdout

    return run


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "console")], ids=lambda page: page.stem)
def test_shell_blocks(page, shell):
    check = doctest.OutputChecker()
    for line, session in blocks(page, "console"):
        for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            found = shell(command)
            assert check.check_output(expected, found, FLAGS), f"{page.name}:{line}: $ {command}\n{found}"


def test_the_picture_is_what_its_script_draws():
    draw = runpy.run_path(str(DOCS / "certificate_picture.py"))["picture"]
    assert (DOCS / "certificate.svg").read_text() == draw()


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            assert target.startswith("http") or (DOCS / target).exists(), f"{page.name}: {target}"


@pytest.mark.long
def test_sphinx_builds_without_a_warning(tmp_path):
    if shutil.which("sphinx-build") is None:
        pytest.importorskip("sphinx", reason="Sphinx is not installed: pip install -e '.[docs]'")
    pytest.importorskip("myst_parser", reason="myst is not installed: pip install -e '.[docs]'")
    subprocess.run([sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", DOCS, tmp_path / "out"], check=True)
    assert (tmp_path / "out" / "index.html").exists()
