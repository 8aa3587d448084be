"""A model in one file: a JSON header, named arrays, and checks that find any damage and say where it is.

Loading runs nothing from the file. Integers are unsigned and little-endian; h and t stand for the lengths at 16 and 24::

    byte 0   8  magic 89 48 4E 47 0D 0A 1A 0A: a high byte, "HNG", CR LF, Ctrl-Z, LF, which no text-mode transfer spares
    8        4  format version, 1 here
    12       4  number of sections
    16       8  h, bytes of the header
    24       8  t, bytes of the section table
    32       4  CRC32C of the header
    36       4  CRC32C of the section table
    40       4  CRC32C of bytes 0 to 39
    44       h  header: one JSON object in UTF-8 (a lone surrogate in a str as Python's "surrogatepass" writes it)
    44 + h   t  section table, one entry after the other:
                0   2  dtype: b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8
                2   1  number of axes d, at most 32
                3   1  bytes of the name m, at least 1
                4   4  CRC32C of the array
                8   8  offset of the array in the file
                16  8  bytes of the array
                24     d lengths of 8 bytes each, then the name in UTF-8
    ..          the arrays in the table's order, C order, each at the next multiple of 64 after zero bytes
    last 32     SHA-256 of everything before

Bytes 0 to 43 mean the same in every format version, so that damage is told apart from a newer version.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib
import json
import math
import os
import re
import reprlib
import stat
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np

from hinge._core import crc32c

MAGIC = b"\x89HNG\r\n\x1a\n"
VERSION = 1
ALIGNMENT = 64
CHUNK = 1 << 20  # bytes checked and hashed together, while they are in the cache
MAX_AXES = 32
PREAMBLE = struct.Struct("<8sIIQQII")
CHECK = struct.Struct("<I")
ENTRY = struct.Struct("<2sBBIQQ")
HEADER_START = PREAMBLE.size + CHECK.size
DTYPES = {
    code.encode(): np.dtype(f"<{code}")
    for code in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
}

Path = str | os.PathLike[str]


class ModelFileError(ValueError):
    """A file that is no model, is damaged, or was written by a newer hinge; the message names the place."""


# ---------------------------------------------------------------------------------------------------- writing


def write_model(path: Path, header: Mapping[str, Any], sections: Mapping[str, np.ndarray]) -> None:
    """Write a model file in one step: whoever opens `path` finds the old file or the whole new one.

    Parameters
    ----------
    path : str or path
        Where to write; a file that is there is replaced, a symbolic link is followed.
    header : mapping
        What JSON can hold without loss; see `encode_value` and `encode_labels` for the rest.
    sections : mapping of str to array
        Arrays of bool, int8 to int64, uint8 to uint64, float32 or float64, of any shape.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> write_model(f"{folder.name}/a.model", {"class": "LabelRanker"}, {"weights": np.eye(2)})
    >>> header, sections = read_model(f"{folder.name}/a.model")
    >>> header["class"], sections["weights"].tolist()
    ('LabelRanker', [[1.0, 0.0], [0.0, 1.0]])
    >>> folder.cleanup()
    """
    text = _header_bytes(header)
    named = [(_name_bytes(name), _plain_array(name, array)) for name, array in sections.items()]
    table_bytes = sum(ENTRY.size + 8 * array.ndim + len(name) for name, array in named)
    end = HEADER_START + len(text) + table_bytes
    entries, body = [], []
    for name, array in named:
        data, offset = _bytes_of(array), _aligned(end)
        code = array.dtype.str[1:].encode()
        entry = ENTRY.pack(code, array.ndim, len(name), crc32c(data), offset, array.nbytes)
        entries.append(entry + struct.pack(f"<{array.ndim}Q", *array.shape) + name)
        body += [bytes(offset - end), data]
        end = offset + array.nbytes
    table = b"".join(entries)
    preamble = PREAMBLE.pack(MAGIC, VERSION, len(named), len(text), len(table), crc32c(text), crc32c(table))
    _replace_file(path, [preamble, CHECK.pack(crc32c(preamble)), text, table, *body])


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def _bytes_of(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _name_bytes(name: str) -> bytes:
    encoded = name.encode()
    if not 1 <= len(encoded) <= 255:
        raise ValueError(f"a section's name takes 1 to 255 bytes in UTF-8, got {reprlib.repr(name)}")
    return encoded


def _plain_array(name: str, array: np.ndarray) -> np.ndarray:
    """The array as it is stored: little-endian, C order; itself where it is so already."""
    plain = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    if plain.dtype not in DTYPES.values():
        known = ", ".join(dtype.name for dtype in DTYPES.values())
        raise TypeError(f"section {name!r} is of dtype {array.dtype}; a model file holds {known}")
    if plain.ndim > MAX_AXES:
        raise ValueError(f"section {name!r} has {plain.ndim} axes; a model file holds at most {MAX_AXES}")
    return plain


def _header_bytes(header: Mapping[str, Any]) -> bytes:
    items = []
    for key, value in header.items():
        if not isinstance(key, str):
            raise TypeError(f"the header's keys are strings, got {key!r}")
        try:
            text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
            lossless = json.loads(text) == value
        except (TypeError, ValueError, RecursionError) as error:
            raise TypeError(f"header entry {key!r} is not plain JSON ({error}); encode it first") from error
        if not lossless:
            raise TypeError(f"header entry {key!r} would not come back from JSON as it is; encode it first")
        items.append(json.dumps(key, ensure_ascii=False) + ":" + text)
    return ("{" + ",".join(items) + "}").encode("utf-8", "surrogatepass")


def _replace_file(path: Path, blocks: list[bytes | memoryview]) -> None:
    """Write under a temporary name in the same folder, make it durable, and give it the name."""
    target = os.path.realpath(os.fsdecode(path))
    if os.path.exists(target) and not os.path.isfile(target):
        raise OSError(errno.EINVAL, "not a regular file, so no model is written in its place", path)
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".hinge-{os.urandom(8).hex()}.tmp")
    try:
        file = open(temporary, "xb")  # noqa: SIM115 - closed in _write_durably
    except OSError as error:
        error.filename = path
        raise
    try:
        _write_durably(file, blocks)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _write_durably(file: IO[bytes], blocks: list[bytes | memoryview]) -> None:
    sha = hashlib.sha256()
    with file:
        for block in blocks:
            for chunk in _chunks(memoryview(block)):
                sha.update(chunk)
                file.write(chunk)
        file.write(sha.digest())
        file.flush()
        os.fsync(file.fileno())


def _chunks(block: memoryview) -> Iterator[memoryview]:
    return (block[at : at + CHUNK] for at in range(0, len(block), CHUNK))


def _sync_folder(folder: str) -> None:
    if os.name == "nt":  # folders cannot be opened there; the rename is journalled
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# ---------------------------------------------------------------------------------------------------- reading


class _Section(NamedTuple):
    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    crc: int
    offset: int
    nbytes: int

    @property
    def place(self) -> str:
        return f"section {self.name!r}"


class _Source:
    """A file read once from front to back: every byte goes through the hash, and a fault names its place."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path, self.file = path, file
        self.size = os.fstat(file.fileno()).st_size
        self.position = 0
        self.sha = hashlib.sha256()

    def fail(self, place: str, offset: int, why: str) -> NoReturn:
        raise ModelFileError(
            f"{self.path}: damaged model file: {place} at byte {offset}: {why}; restore the file from a copy"
        )

    def require(self, place: str, begin: int, nbytes: int) -> None:
        """Before anything is allocated for a part: the file is long enough to hold it."""
        if begin + nbytes > self.size:
            self.fail(place, begin, f"takes {nbytes} bytes, but the file is cut off at byte {self.size}")

    def fill(self, place: str, buffer: memoryview) -> int:
        """Read the next bytes into `buffer` and return their CRC32C."""
        begin, crc = self.position, 0
        while self.position - begin < len(buffer):
            at = self.position - begin
            chunk = buffer[at : at + CHUNK]
            chunk = chunk[: self.file.readinto(chunk)]  # type: ignore[attr-defined]
            if not len(chunk):
                self.fail(place, begin, f"the file was cut off at byte {self.position} while being read")
            self.sha.update(chunk)
            crc = crc32c(chunk, crc)
            self.position += len(chunk)
        return crc

    def take(self, place: str, nbytes: int, stored: int | None = None) -> bytearray:
        """The next bytes of the file, compared with their stored CRC32C if there is one."""
        begin = self.position
        self.require(place, begin, nbytes)
        data = bytearray(nbytes)
        found = self.fill(place, memoryview(data))
        if stored is not None:
            self.compare(place, begin, nbytes, stored, found)
        return data

    def compare(self, place: str, begin: int, nbytes: int, stored: int, found: int) -> None:
        if stored != found:
            self.fail(place, begin, f"CRC32C of its {nbytes} bytes is {found:08x}, {stored:08x} was stored")


def read_model(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read the header and the arrays of a model file, every byte checked.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    header : dict
        As it was given to `write_model`.
    sections : dict of str to array
        Fresh, writable arrays in the machine's byte order.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, or was written by a newer hinge.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe would wait for its writer
        raise ModelFileError(f"not a hinge model file: {path} is not a regular file")
    with open(path, "rb", buffering=0) as file:
        source = _Source(path, file)
        count, text_bytes, table_bytes, text_crc, table_crc = _read_preamble(source)
        header = _parse_header(source, source.take("header", text_bytes, text_crc))
        table = _parse_table(source, source.take("section table", table_bytes, table_crc), count)
        sections = {section.name: _read_section(source, section) for section in table}
        digest = source.sha.digest()
        if source.take("checksum", len(digest)) != digest:
            source.fail("checksum", source.size - len(digest), "SHA-256 of the bytes before it is another")
    return header, sections


def _read_preamble(source: _Source) -> tuple[int, ...]:
    """Number of sections, bytes of header and table, CRC32C of header and table."""
    raw = source.take("preamble", min(source.size, PREAMBLE.size))
    _check_magic(source, bytes(raw[: len(MAGIC)]))
    source.require("preamble", 0, HEADER_START)
    (stored,) = CHECK.unpack(source.take("preamble", CHECK.size))
    source.compare("preamble", 0, len(raw), stored, crc32c(raw))
    _, version, *rest = PREAMBLE.unpack(raw)
    if version > VERSION:
        raise ModelFileError(
            f"{source.path}: written by a newer hinge: its format version is {version}, "
            f"this one reads up to {VERSION}; upgrade hinge to load it"
        )
    if version < 1:
        source.fail("preamble", 8, "there is no format version 0")
    return tuple(rest)


def _check_magic(source: _Source, found: bytes) -> None:
    if MAGIC.startswith(found):  # too short to tell is left to the check of the length
        return
    at = next(i for i, (byte, right) in enumerate(zip(found, MAGIC, strict=False)) if byte != right)
    hint = "; was it sent in text mode, or is a byte damaged?" if b"HN" in found or b"NG" in found else ""
    raise ModelFileError(
        f"not a hinge model file: {source.path}: byte {at} is {found[at]:#04x}, "
        f"a model has {MAGIC[at]:#04x} there{hint}"
    )


def _parse_header(source: _Source, raw: bytearray) -> dict[str, Any]:
    def refuse(word: str) -> NoReturn:
        raise ValueError(f"{word} is not JSON")

    try:
        header = json.loads(raw.decode("utf-8", "surrogatepass"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        source.fail("header", HEADER_START, f"cannot be read as JSON ({error})")
    if not isinstance(header, dict):
        source.fail("header", HEADER_START, f"is not a JSON object but a {type(header).__name__}")
    return header


def _parse_table(source: _Source, raw: bytearray, count: int) -> list[_Section]:
    """All entries, each checked against the file before any array is allocated."""
    table: list[_Section] = []
    start = source.position - len(raw)
    names, at, end = set(), 0, source.position
    for _ in range(count):
        begin = start + at
        section, at = _parse_entry(source, raw, at, start)
        if section.name in names:
            source.fail("section table", begin, f"there are two sections named {section.name!r}")
        if section.offset != _aligned(end):
            source.fail("section table", begin, f"{section.place} starts at {section.offset}, not {_aligned(end)}")
        source.require(section.place, section.offset, section.nbytes)
        names.add(section.name)
        table.append(section)
        end = section.offset + section.nbytes
    if at != len(raw):
        source.fail("section table", start + at, f"{len(raw) - at} bytes after its last entry")
    source.require("checksum", end, source.sha.digest_size)
    if source.size != end + source.sha.digest_size:
        source.fail("end of file", end + source.sha.digest_size, f"trailing bytes, {source.size} bytes in all")
    return table


def _parse_entry(source: _Source, raw: bytearray, at: int, start: int) -> tuple[_Section, int]:
    """The entry at `at` of the table, which itself starts at byte `start`, and where the next one begins."""

    def fail(why: str) -> NoReturn:
        source.fail("section table", start + at, why)

    if len(raw) - at < ENTRY.size:
        fail("the table ends inside an entry")
    code, axes, name_bytes, crc, offset, nbytes = ENTRY.unpack_from(raw, at)
    name_at = at + ENTRY.size + 8 * axes
    if name_at + name_bytes > len(raw):
        fail("the table ends inside an entry")
    shape = struct.unpack_from(f"<{axes}Q", raw, at + ENTRY.size)
    if code not in DTYPES:
        fail(f"unknown dtype {code!r}")
    if axes > MAX_AXES:
        fail(f"{axes} axes, at most {MAX_AXES} are possible")
    if not name_bytes:
        fail("a section without a name")
    try:
        name = raw[name_at : name_at + name_bytes].decode()
    except UnicodeDecodeError:
        fail("a name that is not UTF-8")
    dtype = DTYPES[code]
    if math.prod(length or 1 for length in shape) * dtype.itemsize > sys.maxsize:
        fail(f"shape {shape} of section {name!r} is larger than any memory")
    if nbytes != math.prod(shape) * dtype.itemsize:
        fail(f"section {name!r} of shape {shape} and dtype {dtype.name} cannot take {nbytes} bytes")
    return _Section(name, dtype, shape, crc, offset, nbytes), name_at + name_bytes
