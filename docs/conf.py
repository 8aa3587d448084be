"""Sphinx: `make docs` writes build/docs/index.html; a warning is an error."""

from pathlib import Path

import hinge

project = "hinge"
release = version = hinge.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["design", "conf.py"]
source_suffix = {".md": "markdown"}
html_theme = "alabaster"
html_title = "hinge"
html_theme_options = {"description": "Online learning when the answer is not a single number", "page_width": "64rem"}
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
suppress_warnings = ["misc.highlighting_failure", "myst.xref_missing"]

PROBLEMS = ("label_ranking", "pairwise", "ordinal", "multitask", "multiclass", "sequence", "ranking", "bipartite")


def list_problems(app, name, source):
    """Put the problems' pages into the table of contents: those that no other part of it names."""
    if "@problems@" not in source[0]:
        return
    named = {line.strip() for line in source[0].splitlines()} | {"index"}
    rest = sorted(page.stem for page in Path(__file__).parent.glob("*.md") if page.stem not in named)
    ordered = [page for page in PROBLEMS if page in rest]
    source[0] = source[0].replace("@problems@", "\n".join(ordered + [page for page in rest if page not in ordered]))


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", list_problems)
