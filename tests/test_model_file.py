"""The model file: what goes in comes out, and whatever is wrong with a file is said with its place."""

from __future__ import annotations

import hashlib
import os
import re
import resource
import stat
import struct
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hinge import _core
from hinge.model_file import ModelFileError, crc32c, read_model, replace_file, write_model

HEADER = {"class": "LabelRanker", "params": {"C": 0.5}}
SECTIONS = {"weights": np.arange(6, dtype=np.float32).reshape(2, 3), "active": np.array([True, False])}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.model"


@pytest.fixture
def whole(path):
    write_model(path, HEADER, SECTIONS)
    return path.read_bytes()


def assert_same(found, expected):
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype.newbyteorder("=")
        assert found[name].shape == array.shape
        np.testing.assert_array_equal(found[name], array)


# The format once more, written from the table at the top of the module: a file with any contents and right checks.


def entry(name, array, offset, code=None, shape=None, nbytes=None):
    code = code or array.dtype.str[1:].encode()
    shape = array.shape if shape is None else shape
    nbytes = array.nbytes if nbytes is None else nbytes
    check = crc32c(array.tobytes())
    return struct.pack(f"<2sBBIQQ{len(shape)}Q", code, len(shape), len(name), check, offset, nbytes, *shape) + name


def forge(path, table=b"", count=0, body=b"", header=b"{}", version=1, header_bytes=None, table_bytes=None):
    h = len(header) if header_bytes is None else header_bytes
    t = len(table) if table_bytes is None else table_bytes
    start = struct.pack("<8sIIQQII", b"\x89HNG\r\n\x1a\n", version, count, h, t, crc32c(header), crc32c(table))
    data = start + struct.pack("<I", crc32c(start)) + header + table
    data += bytes(-len(data) % 64) * bool(body) + body
    path.write_bytes(data + hashlib.sha256(data).digest())
    return path


def test_the_format_is_the_one_that_is_documented(path, whole):
    header = b'{"class":"LabelRanker","params":{"C":0.5}}'
    weights, active = SECTIONS["weights"], SECTIONS["active"]
    table = entry(b"weights", weights, 192) + entry(b"active", active, 256)
    forge(path, table, 2, weights.tobytes() + bytes(40) + active.tobytes(), header)
    assert path.read_bytes() == whole


# ------------------------------------------------------------------------------------------------- there and back


def test_round_trip(path):
    codes = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
    sections = {code: np.arange(5).astype(code) for code in codes}
    sections |= {
        "scalar": np.array(2.5),
        "empty": np.empty((3, 0, 2)),
        "strided": np.arange(24.0).reshape(4, 6)[::2, ::3],
        "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "big-endian": np.arange(3, dtype=">i4"),
        "Übergänge": np.array([np.nan, -np.inf, -0.0]),
    }
    header = {"class": "LabelRanker", "labels": ["späm", None, True, 7, 0.1, -0.0], "params": {"C": 1e300}}
    write_model(path, header, sections)
    found, arrays = read_model(path)
    assert repr(found) == repr(header)
    assert_same(arrays, sections)
    assert all(array.flags.writeable and array.flags.aligned for array in arrays.values())


def test_nothing_at_all_is_a_model_too(path):
    write_model(path, {}, {})
    assert read_model(path) == ({}, {})


ARRAYS = hnp.arrays(
    st.sampled_from(["?", "<i4", ">i8", "<u2", ">f4", "<f8"]), hnp.array_shapes(min_dims=0, max_dims=4, min_side=0)
)
KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(KEYS, st.none() | st.booleans() | st.integers() | KEYS), st.dictionaries(KEYS, ARRAYS))
def test_any_header_and_arrays_come_back(path, header, sections):
    write_model(path, header, sections)
    found, arrays = read_model(path)
    assert found == header
    assert_same(arrays, sections)


def test_equal_models_are_equal_files(path, whole):
    write_model(path, HEADER, SECTIONS)
    assert path.read_bytes() == whole


def test_crc32c_is_the_published_one():
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(b"6789", crc32c(b"12345")) == 0xE3069283
    noise = np.random.default_rng(0).integers(0, 256, 100_003, dtype=np.uint8)
    assert crc32c(noise) == _core.crc32c_portable(noise, 0)


# ---------------------------------------------------------------------------------------------------------- damage

PLACE = re.compile(
    r"not a hinge model file: .*: bytes 0 to 7 are|"
    r"damaged model file: (preamble|header|section table|section '\w+'|padding|checksum|end of file) at byte \d+: "
)


def test_a_file_cut_at_any_length_is_an_error(path, whole):
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError, match=PLACE):
            read_model(path)


def test_a_file_with_any_one_bit_flipped_is_an_error(path, whole):
    for at in range(len(whole)):
        for bit in range(8):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
            with pytest.raises(ModelFileError, match=PLACE):
                read_model(path)


@pytest.mark.parametrize(
    ("at", "place"),
    [
        (3, "bytes 0 to 7 are"),
        (9, "preamble at byte 0"),
        (41, "preamble at byte 0"),
        (50, "header at byte 44"),
        (90, "section table at byte 86"),
        (190, "padding at byte 171"),
        (193, "section 'weights' at byte 192"),
        (220, "padding at byte 216"),
        (257, "section 'active' at byte 256"),
        (270, "checksum at byte 258"),
    ],
)
def test_damage_is_named_with_its_place(path, whole, at, place):
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :])
    with pytest.raises(ModelFileError, match=place) as caught:
        read_model(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("length", "why"),
    [
        (0, "preamble at byte 0: takes 44 bytes, but the file is cut off at byte 0"),
        (60, "header at byte 44: takes 42 bytes, but the file is cut off at byte 60"),
        (100, "section table at byte 86: takes 85 bytes, but the file is cut off at byte 100"),
        (200, "section 'weights' at byte 192: takes 24 bytes, but the file is cut off at byte 200"),
        (257, "section 'active' at byte 256: takes 2 bytes, but the file is cut off at byte 257"),
        (280, "checksum at byte 258: takes 32 bytes, but the file is cut off at byte 280"),
    ],
)
def test_a_cut_is_named_with_what_is_missing(path, whole, length, why):
    path.write_bytes(whole[:length])
    with pytest.raises(ModelFileError, match=why):
        read_model(path)


def test_trailing_bytes_are_an_error(path, whole):
    path.write_bytes(whole + b"\0")
    with pytest.raises(ModelFileError, match=f"end of file at byte {len(whole)}: trailing bytes, {len(whole) + 1}"):
        read_model(path)


ONE = np.arange(4.0)


@pytest.mark.parametrize(
    ("table", "count", "why"),
    [
        (entry(b"a", ONE, 128) * 2, 2, r"starts at byte 128, not 192"),
        (entry(b"a", ONE, 128) + entry(b"a", ONE, 192), 2, r"table at byte 79: there are two sections named 'a'"),
        (entry(b"a", ONE, 64), 1, r"section 'a' starts at byte 64, not 128"),
        (entry(b"a", ONE, 192), 1, r"section 'a' starts at byte 192, not 128"),
        (entry(b"a", ONE, 128, nbytes=24), 1, r"cannot take 24 bytes"),
        (entry(b"a", ONE, 128, shape=(2**40,), nbytes=2**43), 1, r"section 'a' at byte 128: takes 8796093022208 bytes"),
        (entry(b"a", ONE, 128, shape=(2**62, 2**62), nbytes=0), 1, r"larger than any memory"),
        (entry(b"a", ONE, 128, shape=(0, 2**62, 2), nbytes=0), 1, r"larger than any memory"),
        (entry(b"a", ONE, 128, shape=(1,) * 33), 1, r"33 axes"),
        (entry(b"a", ONE, 128, code=b"O8"), 1, r"section 'a' is of dtype b'O8'"),
        (entry(b"", ONE, 128), 1, r"section ''"),
        (entry(b"\xff", ONE, 128), 1, r"section table at byte 46: .*utf-8"),
        (entry(b"a", ONE, 128), 2, r"section table at byte 79: "),
        (entry(b"a", ONE, 128)[:-1], 1, r"section table at byte 46: "),
        (entry(b"a", ONE, 128) + b"xyz", 1, r"section table at byte 79: 3 bytes after its last entry"),
        (entry(b"a", ONE, 128), 2**32 - 1, r"section table at byte 79: "),
        (entry(b"a", ONE, 128, code=b"b1", shape=(32,)), 1, r"section 'a' at byte 128: a byte of it is neither"),
    ],
)
def test_a_table_that_lies_is_an_error(path, table, count, why):
    forge(path, table, count, ONE.tobytes() + bytes(32) + ONE.tobytes() * (count == 2))
    with pytest.raises(ModelFileError, match=why):
        read_model(path)


@pytest.mark.parametrize("size", [1, 2**31, 2**62, 2**63, 2**64 - 1])
@pytest.mark.parametrize("part", ["header_bytes", "table_bytes"])
def test_an_absurd_size_is_refused_before_anything_is_allocated(path, part, size):
    forge(path, **{part: 1000 + size if size == 1 else size})
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=r"(header|section table) at byte 4[46]: takes \d+ bytes, but"):
            read_model(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("header", [b"", b"{", b"[]", b"7", b"\xff", b"[" * 100_000, b'{"a":' + b"9" * 5000 + b"}"])
def test_a_header_that_is_no_json_object_is_an_error(path, header):
    forge(path, header=header)
    with pytest.raises(ModelFileError, match="header at byte 44: "):
        read_model(path)


def test_zero_bytes_between_the_arrays_are_checked(path):
    forge(path, entry(b"a", ONE[:1], 128) + entry(b"b", ONE, 192), 2, ONE[:1].tobytes() + b"?" * 56 + ONE.tobytes())
    with pytest.raises(ModelFileError, match="padding at byte 136: the bytes before section 'b' are not zero"):
        read_model(path)


def test_another_version_is_told_apart_from_damage(path):
    forge(path, version=2)
    with pytest.raises(ModelFileError, match=r"written by a newer hinge: its format version is 2.*upgrade"):
        read_model(path)
    forge(path, version=0)
    with pytest.raises(ModelFileError, match="preamble at byte 8: there is no format version 0"):
        read_model(path)


def test_what_is_no_model_is_said_to_be_none(tmp_path):
    text = tmp_path / "text"
    text.write_bytes(b"1 2:0.5\n" * 10)
    with pytest.raises(ModelFileError, match=r"not a hinge model file: .*text: bytes 0 to 7 are 31 20"):
        read_model(text)
    with pytest.raises(ModelFileError, match="not a regular file"):
        read_model(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        read_model(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        read_model(tmp_path / "missing")


# --------------------------------------------------------------------------------------------------------- writing


@pytest.mark.parametrize(
    ("header", "sections", "error", "why"),
    [
        ({"labels": (1, 2)}, {}, TypeError, "header entry 'labels' would not come back"),
        ({"x": np.float64(1)}, {}, TypeError, "header entry 'x' would not come back"),
        ({"x": {1: 2}}, {}, TypeError, "header entry 'x' would not come back"),
        ({1: 2}, {}, TypeError, "header entry 1 would not come back"),
        ({"x": float("nan")}, {}, TypeError, "header entry 'x' is not plain JSON"),
        ({"x": b"bytes"}, {}, TypeError, "header entry 'x' is not plain JSON"),
        ({"x": "\ud800"}, {}, TypeError, "header entry 'x' is not plain JSON"),
        ({}, {"w": np.array([None])}, TypeError, "section 'w' is of dtype object"),
        ({}, {"w": np.array(["a"])}, TypeError, "section 'w' is of dtype <U1"),
        ({}, {"w": np.zeros(2, complex)}, TypeError, "section 'w' is of dtype complex128"),
        ({}, {"": ONE}, ValueError, "1 to 255 bytes"),
        ({}, {"ü" * 128: ONE}, ValueError, "1 to 255 bytes"),
    ],
)
def test_what_cannot_be_stored_is_refused_and_the_old_file_stays(path, whole, header, sections, error, why):
    with pytest.raises(error, match=why):
        write_model(path, header, sections)
    assert path.read_bytes() == whole


def assert_untouched(path, whole):
    assert path.read_bytes() == whole
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file(path, whole, monkeypatch, step, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        write_model(path, {}, {"w": np.zeros(1000)})
    assert_untouched(path, whole)


def test_a_file_system_that_is_full_leaves_the_old_file(path, whole):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(OSError, match=re.escape(str(path))):
            write_model(path, {}, {"w": np.zeros(100_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert_untouched(path, whole)


def test_an_error_names_the_path_as_it_was_given(tmp_path):
    missing = tmp_path / "no" / "a.model"
    with pytest.raises(FileNotFoundError) as caught:
        write_model(missing, {}, {})
    assert caught.value.filename == missing
    with pytest.raises(OSError, match="not a regular file"):
        write_model(tmp_path, {}, {})


def test_data_are_on_the_disk_before_the_name_is(path, whole, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *args, name=name, real=real: (calls.append(name), real(*args)))
    write_model(path, HEADER, SECTIONS)
    assert calls == ["fsync", "replace", "fsync"]


def test_permissions_are_the_usual_ones_or_those_of_the_old_file(path):
    before = os.umask(0o027)
    try:
        write_model(path, HEADER, SECTIONS)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    write_model(path, HEADER, {})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_symbolic_link_stays_one(path, whole):
    link = path.with_name("link")
    link.symlink_to(path.name)
    write_model(link, {}, {})
    assert link.is_symlink()
    assert read_model(path) == ({}, {})


def test_paths_are_of_any_kind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("a", Path("b"), os.fsencode("c")):
        write_model(path, HEADER, {})
        assert read_model(path)[0] == HEADER


def test_readers_see_the_old_model_or_the_new_one(path):
    write_model(path, {"round": 0}, {"w": np.zeros(20_000)})
    done = threading.Event()

    def save():
        for number in range(1, 20):
            write_model(path, {"round": number}, {"w": np.full(20_000, float(number))})
        done.set()

    writer = threading.Thread(target=save)
    writer.start()
    try:
        while not done.is_set():
            header, sections = read_model(path)
            assert (sections["w"] == header["round"]).all()
    finally:
        writer.join()


def test_replace_file_takes_any_blocks(path):
    replace_file(path, [b"one ", memoryview(b"two")])
    assert path.read_bytes() == b"one two"
