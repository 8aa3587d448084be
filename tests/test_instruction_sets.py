"""Every instruction set gives the same bits: the widest that the processor has, and those that HINGE_SIMD asks for."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from oracle.streams import stream
from rankers import ELEVEN, dicts, features, fingerprint, name_of, ranker_for, sets, weights

SETS = ("baseline", "avx2", "avx512")


def digests() -> dict[str, str]:
    """Learn streams of many shapes by all eleven algorithms; return a digest of all that was learned, by algorithm."""
    out = {}
    for algorithm in ELEVEN:
        seen = hashlib.sha256()
        for k in (2, 3, 7, 16, 33, 70, 150):  # one vector or several, whole or not, of every width
            rounds = stream("sparse", n=23, k=k, rounds=25, seed=k, awkward=True, weighted=True)
            for dtype in ("float32", "float64"):
                for csr in (False, True):
                    ranker = ranker_for(algorithm, dtype=dtype, average=csr)
                    Y = dicts(rounds) if csr else sets(rounds)
                    ranker.partial_fit(features(rounds, csr), Y, sample_weight=weights(rounds))
                    seen.update(repr(sorted(fingerprint(ranker).items())).encode())
                    seen.update(np.ascontiguousarray(ranker.decision_function(features(rounds, csr))).tobytes())
        out[name_of(algorithm)] = seen.hexdigest()
    return out


def run(instruction_set: str) -> tuple[str, dict[str, str]]:
    """Let another process choose the instruction set; return the one it has, and its digests."""
    here = Path(__file__).parent
    code = "import json; from hinge import _core; from test_instruction_sets import digests; "
    code += "print(json.dumps([_core.instruction_set(), digests()]))"
    env = os.environ | {"HINGE_SIMD": instruction_set, "PYTHONPATH": str(here)}
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=here, check=True, capture_output=True, text=True)
    return tuple(json.loads(done.stdout))


@pytest.fixture(scope="module")
def expected():
    return digests()


@pytest.mark.parametrize("wanted", SETS)
def test_every_instruction_set_gives_the_same_bits(wanted, expected):
    name, seen = run(wanted)
    if SETS.index(name) < SETS.index(wanted):
        pytest.skip(f"this processor has no {wanted}")
    assert name == wanted
    assert seen == expected
