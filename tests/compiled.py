"""Parts of the core compiled on their own, for tests of what no public class shows."""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FLAGS = "-std=c++20 -O2 -Wall -Wextra -Werror -Wno-psabi -ffp-contract=off -fPIC -shared"


@functools.cache
def compiled(surface: str) -> ctypes.CDLL:
    """Compile ``tests/cpp/<surface>`` with the kernels, once a session."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    sources = [f"tests/cpp/{surface}", "src/core/kernels.cpp", "src/core/dispatch.cpp"]
    target = ["-DHINGE_TARGET=baseline", "-DHINGE_VECTOR=16", "-I", "src"]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "surface.so"
        subprocess.run([compiler, *FLAGS.split(), *target, *sources, "-o", str(out)], cwd=ROOT, check=True)
        return ctypes.CDLL(str(out))
