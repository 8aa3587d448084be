"""The command `hinge`, run as people run it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def hinge(*arguments, cwd=None, stdin=b"", **environment):
    """Run the command; returns its exit code, and what it wrote on stdout and stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "hinge.cli", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=os.environ | environment,
        timeout=120,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_help_imports_neither_numpy_nor_scikit_learn():
    look = """
import sys, hinge.cli.app as app
code = app.run(["--help"])
print(sorted({"numpy", "sklearn", "scipy", "rich"} & set(sys.modules)), code)
"""
    out = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[] 0"
    assert out.startswith("Usage: hinge")


def test_a_mistyped_command_names_the_nearest():
    code, out, err = hinge("dmo")
    assert (code, out) == (2, "")
    assert err.endswith("Error: there is no command 'dmo'. Did you mean 'demo'?\n")


def test_demo_prints_a_table_and_the_path_last(tmp_path):
    code, out, err = hinge("demo", "--messages", 600, "--folders", 8, "-o", "page.html", cwd=tmp_path)
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].split()[:4] == ["geometry", "update", "mistakes", "share"]
    assert [line.split()[:2] for line in lines[1:7]] == [
        [g, u] for g in ("euclidean", "entropic") for u in ("full", "single", "fixed")
    ]
    assert lines[-1] == "page.html"
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_demo_keeps_a_file_that_is_there(tmp_path):
    (tmp_path / "page.html").write_text("mine")
    code, _, err = hinge("demo", "--messages", 10, "-o", "page.html", cwd=tmp_path)
    assert code == 2
    assert "page.html exists; --force replaces it" in err
    assert Path(tmp_path / "page.html").read_text() == "mine"


@pytest.mark.parametrize("option", [["--messages", "0"], ["--folders", "1"], ["--seed", "x"]])
def test_demo_refuses_what_makes_no_sense(option, tmp_path):
    assert hinge("demo", *option, cwd=tmp_path)[0] == 2
    assert not list(tmp_path.iterdir())
