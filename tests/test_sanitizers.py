"""The core under the address and undefined-behaviour sanitizers: a driver of its own, and the tests of tests/cpp."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SANITIZE = "-g1 -fsanitize=address,undefined -fno-sanitize-recover=all"
FLAGS = f"-std=c++20 -O0 {SANITIZE} -Wall -Wextra -Wconversion -Wshadow -Werror -Wno-psabi -ffp-contract=off -I src"
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
KERNELS = ["src/core/kernels.cpp", "src/core/dispatch.cpp"]
SURFACES = [
    "test_geometries.py", "test_pdip.py", "test_pav.py", "test_lazy_blocks.py", "test_list_argmaxes.py",
    "test_multitask_solvers.py",
]  # fmt: skip


@pytest.fixture(scope="module")
def compiler():
    found = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    if found is None:
        pytest.skip("no C++ compiler")
    works = subprocess.run([found, *SANITIZE.split(), "-x", "c++", "-", "-o", os.devnull], input=b"int main(){}",
                           capture_output=True)  # fmt: skip
    if works.returncode:
        pytest.skip("the compiler has no sanitizers")
    return found


def test_label_rankers_touch_only_their_own_memory(compiler, tmp_path):
    """All eleven in both precisions: dense and sparse rows, labels and features that come and go, copies, files."""
    program = tmp_path / "stress"
    target = ["-DHINGE_TARGET=baseline", "-DHINGE_VECTOR=16"]
    subprocess.run([compiler, *FLAGS.split(), *target, "tests/cpp/stress.cpp", *KERNELS, "-o", program], cwd=ROOT,
                   check=True)  # fmt: skip
    done = subprocess.run([program], env=os.environ | OPTIONS, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == 11


@pytest.mark.long
@pytest.mark.parametrize("name", SURFACES)
def test_the_tests_of_the_core_pass_under_the_sanitizers(compiler, tmp_path, name):
    """They compile their part of the core with ``CXX``: here that is a compiler that adds the sanitizers."""
    libraries = [
        subprocess.run([compiler, f"-print-file-name=lib{name}.so"], capture_output=True, text=True).stdout.strip()
        for name in ("asan", "ubsan")
    ]
    if not all(Path(library).is_absolute() for library in libraries):
        pytest.skip("the sanitizers' libraries cannot be loaded beforehand")
    wrapper = tmp_path / "c++"
    wrapper.write_text(f'#!/bin/sh\nexec {compiler} "$@" -O1 {SANITIZE}\n')
    wrapper.chmod(0o755)
    env = os.environ | OPTIONS | {"CXX": str(wrapper), "LD_PRELOAD": ":".join(libraries), "PYTHONMALLOC": "malloc"}
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not long", "-p", "no:cacheprovider", f"tests/{name}",
               "-k", "not outside and not allocat"]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
