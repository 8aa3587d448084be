"""The parsers under libFuzzer and the sanitizers: two seconds each, thirty in the long tests."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CLANG = shutil.which(os.environ.get("CLANG", "clang++-14")) or shutil.which("clang++")
PARSERS = ["svmlight", "vw", "vw-hashed", "jsonl", "jsonl-hashed", "arff", "csv"]


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory):
    """The harness, built as `make fuzz` builds it."""
    if CLANG is None:
        pytest.skip("no clang here: apt-get install clang-14")
    program = tmp_path_factory.mktemp("fuzz") / "text"
    flags = ["-std=c++20", "-O1", "-g", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]
    command = [CLANG, *flags, f"-I{HERE.parent / 'src'}", str(HERE / "fuzz" / "text.cpp"), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if "libclang_rt" in built.stderr:
        pytest.skip("clang is here without its fuzzer: apt-get install libclang-rt-14-dev")
    assert built.returncode == 0, built.stderr
    return program


@pytest.mark.parametrize("seconds", [2, pytest.param(30, marks=pytest.mark.long)])
def test_every_parser_survives(seconds, fuzzer, tmp_path):
    flags = [f"-max_total_time={seconds}", "-max_len=600", "-print_final_stats=1"]
    for parser in PARSERS:
        found = tmp_path / parser
        found.mkdir()
        done = subprocess.run(
            [fuzzer, *flags, found, HERE / "fuzz" / "corpus"],
            cwd=tmp_path, env=os.environ | {"PARSER": parser}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-4000:]
        assert int(done.stderr.partition("number_of_executed_units:")[2].split()[0]) > 100 * seconds
