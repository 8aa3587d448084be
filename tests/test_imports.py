"""Imports go one way, in Python and in the core."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE, CORE = ROOT / "src" / "hinge", ROOT / "src" / "core"

# What stands on what: a module imports from rooms below its own, and from its own only where that is a package.
FLOORS = [
    {"_core", "norms"},
    {"json_values", "model_file", "labels", "certificate", "report"},
    {"rows", "dicts", "metrics", "evaluation", "intervals", "costs", "separation", "two_labels", "thresholds"},
    {"estimator"},
    {"label_learner"},
    {"base"},
    {"oracles", "rankers", "rank_svm", "tasks", "codes", "ordinal_learner", "lists"},
    {"queries", "joint_maps", "words", "asked_oracle", "binary_learners", "task_reader"},
    {"task_learner"},
    {
        "label_ranking",
        "ordinal",
        "ordinal_baselines",
        "multitask",
        "output_codes",
        "pairwise",
        "multiclass",
        "structured",
        "sequence",
        "ranking",
        "bipartite",
    }
    | {"perceptron"},
    {"datasets", "io", "pairwise_cv", "reductions"},
    {"checks", "reproduce"},
    {"cli"},
]
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names}
NEIGHBOURS = {"evaluation", "metrics", "model_file", "json_values", "datasets", "io"}  # one floor's own


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path):
    """Return the rooms of hinge that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "hinge" and len(parts) > 1 and parts[1] in FLOOR:
                yield parts[1]


FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.name != "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path):
    room = room_of(path)
    assert room in FLOOR, f"{room} has no place in FLOORS"
    for other in set(imported_rooms(path)) - {room}:
        same_floor = FLOOR[other] == FLOOR[room] and {room, other} <= NEIGHBOURS
        assert FLOOR[other] < FLOOR[room] or same_floor, f"{room} imports {other}"


ROOMS = {  # of the core: which rooms a header may include
    "geometry": {"solve"},
    "rule": {"solve"},
    "problem": {"solve"},
    "solve": set(),
    "text": set(),
}


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_of_the_core_are_strangers(room):
    headers = sorted((CORE / room).glob("*.hpp"))
    for header in headers:
        for included in re.findall(r'#include "\.\./(\w+)/', header.read_text()):
            assert included in ROOMS[room] | {room}, f"{room}/{header.name} includes {included}/"


def test_the_core_knows_no_python():
    for header in sorted(CORE.rglob("*.?pp")):
        text = header.read_text()
        for word in ("Python.h", "nanobind", "<iostream>", "<fstream>", "<format>", "<ranges>"):
            assert word not in text, f"{header.name} includes {word}"


@pytest.mark.parametrize("module", ["hinge", "hinge.cli"])
def test_what_must_start_fast_imports_nothing_heavy(module):
    code = (
        f"import sys, {module}; print(sorted({{'numpy', 'scipy', 'sklearn', 'matplotlib', 'rich'}} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_names_are_resolved_and_listed():
    import hinge

    assert set(hinge.ESTIMATORS) <= set(hinge.__all__)
    assert [name for name in hinge.__all__ if getattr(hinge, name) is None] == []
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        hinge.Nothing  # noqa: B018
    listed = (PACKAGE / "__init__.pyi").read_text()
    assert [name for name in hinge.__all__ if not re.search(rf"\b{name}\b", listed)] == []
