"""A model in one file: a JSON header, named arrays, and checks that find any damage and say where it is.

Loading runs nothing from the file. Integers are unsigned and little-endian; h and t are the lengths at 16 and 24::

    byte 0   8  magic 89 48 4E 47 0D 0A 1A 0A: a high byte, "HNG", CR LF, Ctrl-Z, LF, which no text-mode transfer spares
    8        4  format version, 1 here
    12       4  number of sections
    16       8  h, bytes of the header
    24       8  t, bytes of the section table
    32       4  CRC32C of the header
    36       4  CRC32C of the section table
    40       4  CRC32C of bytes 0 to 39
    44       h  header: one JSON object in UTF-8
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
import json
import math
import os
import reprlib
import shutil
import stat
import struct
import sys
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np

from hinge import _core  # type: ignore[attr-defined, unused-ignore]

MAGIC = b"\x89HNG\r\n\x1a\n"
VERSION = 1
ALIGNMENT = 64
MAX_AXES = 32
PREAMBLE = struct.Struct("<8sIIQQII")
CHECK = struct.Struct("<I")
HEADER_START = PREAMBLE.size + CHECK.size
ENTRY = struct.Struct("<2sBBIQQ")
DIGEST_SIZE = 32
_CODES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
DTYPES = {code.encode(): np.dtype(f"<{code}") for code in _CODES}

Path = str | os.PathLike[str]


class ModelFileError(ValueError):
    """A file that is no model, is damaged, or was written by a newer hinge; the message names the place."""


def crc32c(data: Any, before: int = 0) -> int:
    """CRC32C of a contiguous buffer, or, with the check of what came before it, of both together."""
    return int(_core.crc32c(data, before))


def write_model(path: Path, header: Mapping[str, Any], sections: Mapping[str, np.ndarray]) -> None:
    """Write a model file in one step: whoever opens `path` finds the old file or the whole new one.

    Parameters
    ----------
    path : str or path
        Where to write; a file that is there is replaced and its permissions are kept, a symbolic link is followed.
    header : mapping
        What JSON can hold without loss; `hinge.json_values` encodes the rest.
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
    named = [(name.encode(), _plain_array(name, array)) for name, array in sections.items()]
    end = HEADER_START + len(text) + sum(ENTRY.size + 8 * array.ndim + len(name) for name, array in named)
    table, body = b"", list[bytes | memoryview]()
    for name, array in named:
        data, offset = array.reshape(-1).view(np.uint8).data, _aligned(end)
        table += ENTRY.pack(array.dtype.str[1:].encode(), array.ndim, len(name), crc32c(data), offset, array.nbytes)
        table += struct.pack(f"<{array.ndim}Q", *array.shape) + name
        body += [bytes(offset - end), data]
        end = offset + array.nbytes
    preamble = PREAMBLE.pack(MAGIC, VERSION, len(named), len(text), len(table), crc32c(text), crc32c(table))
    body[:0] = [preamble, CHECK.pack(crc32c(preamble)), text, table]
    sha = hashlib.sha256()
    for block in body:
        sha.update(block)
    replace_file(path, [*body, sha.digest()])


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
        Writable arrays in the machine's byte order, which share the memory that the file was read into.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, or was written by a newer hinge.
    """
    image = _read_image(path)
    count, text_bytes, table_bytes, text_crc, table_crc = _read_preamble(image)
    header = _parse_header(image, image.part("header", HEADER_START, text_bytes, text_crc))
    start = HEADER_START + text_bytes
    table = image.part("section table", start, table_bytes, table_crc)
    sections, end = _read_sections(image, table.tobytes(), start, count)
    stored = image.part("checksum", end, DIGEST_SIZE).tobytes()
    if image.data.size != end + DIGEST_SIZE:
        image.fail("end of file", end + DIGEST_SIZE, f"trailing bytes, {image.data.size} bytes in all")
    if hashlib.sha256(image.data[:end].data).digest() != stored:
        image.fail("checksum", end, "SHA-256 of the bytes before it is another")
    return header, sections


def replace_file(path: Path, blocks: Iterable[bytes | memoryview]) -> None:
    """Write `blocks` under a temporary name in the same folder, make them durable, and give them the name `path`."""
    target = os.path.realpath(os.fsdecode(path))
    exists = os.path.exists(target)
    if exists and not os.path.isfile(target):
        raise OSError(errno.EINVAL, "not a regular file, so no model is written in its place", path)
    temporary = os.path.join(os.path.dirname(target), f".hinge-{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            if exists:  # before there is anything to read in it
                shutil.copymode(target, temporary)
            file.writelines(blocks)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):  # the temporary name means nothing to the caller
            error.filename, error.filename2 = path, None
        raise
    _sync_folder(os.path.dirname(target))


def _sync_folder(folder: str) -> None:
    with contextlib.suppress(OSError):  # the file is whole and in its place; not every system can sync a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def _header_bytes(header: Mapping[str, Any]) -> bytes:
    """One JSON object, of which every entry is known to come back as it is: no tuple as a list, no 1 as "1"."""
    items = []
    for key, value in header.items():
        try:
            item = json.dumps({key: value}, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
            items.append(item[1:-1].encode())
            lossless = repr(json.loads(item)) == repr({key: value})
        except (TypeError, ValueError, RecursionError) as error:
            raise TypeError(f"header entry {key!r} is not plain JSON ({error}); encode it first") from error
        if not lossless:
            raise TypeError(f"header entry {key!r} would not come back from JSON as it is; encode it first")
    return b"{" + b",".join(items) + b"}"


def _plain_array(name: str, array: np.ndarray) -> np.ndarray:
    """The array as it is stored: little-endian, C order; itself where it is so already."""
    plain = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    if plain.dtype not in DTYPES.values():
        known = ", ".join(dtype.name for dtype in DTYPES.values())
        raise TypeError(f"section {name!r} is of dtype {array.dtype}; a model file holds {known}")
    if plain.ndim > MAX_AXES:
        raise ValueError(f"section {name!r} has {plain.ndim} axes; a model file holds at most {MAX_AXES}")
    if not 1 <= len(name.encode()) <= 255:
        raise ValueError(f"a section's name takes 1 to 255 bytes in UTF-8, got {reprlib.repr(name)}")
    return plain


class _Image(NamedTuple):
    """The bytes of a file; what a part claims to take is held against them before anything else is done with it."""

    path: Path
    data: np.ndarray

    def fail(self, place: str, offset: int, why: str) -> NoReturn:
        raise ModelFileError(
            f"{self.path}: damaged model file: {place} at byte {offset}: {why}; restore the file from a copy"
        )

    def part(self, place: str, begin: int, nbytes: int, crc: int | None = None) -> np.ndarray:
        """The bytes from `begin` on, compared with their stored CRC32C if there is one."""
        if begin + nbytes > self.data.size:
            self.fail(place, begin, f"takes {nbytes} bytes, but the file is cut off at byte {self.data.size}")
        part = self.data[begin : begin + nbytes]
        if crc is not None and crc != (found := crc32c(part)):
            self.fail(place, begin, f"CRC32C of its {nbytes} bytes is {found:08x}, {crc:08x} was stored")
        return part


def _read_image(path: Path) -> _Image:
    if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe would wait for its writer
        raise ModelFileError(f"not a hinge model file: {path} is not a regular file")
    with open(path, "rb") as file:
        start = file.read(len(MAGIC))  # before a large file of some other kind fills the memory
        if not MAGIC.startswith(start):
            raise ModelFileError(
                f"not a hinge model file: {path}: bytes 0 to 7 are {start.hex(' ')}, not {MAGIC.hex(' ')}"
            )
        file.seek(0)
        return _Image(path, np.fromfile(file, np.uint8))


def _read_preamble(image: _Image) -> tuple[int, ...]:
    """Number of sections, bytes of header and table, CRC32C of header and table."""
    raw = image.part("preamble", 0, HEADER_START).tobytes()
    image.part("preamble", 0, PREAMBLE.size, *CHECK.unpack_from(raw, PREAMBLE.size))
    _, version, *rest = PREAMBLE.unpack_from(raw)
    if version > VERSION:
        raise ModelFileError(
            f"{image.path}: written by a newer hinge: its format version is {version}, "
            f"this one reads up to {VERSION}; upgrade hinge to load it"
        )
    if version < 1:
        image.fail("preamble", 8, "there is no format version 0")
    return tuple(rest)


def _parse_header(image: _Image, text: np.ndarray) -> dict[str, Any]:
    try:
        header = json.loads(text.tobytes().decode())
    except (ValueError, RecursionError) as error:
        image.fail("header", HEADER_START, f"cannot be read as JSON ({error})")
    if not isinstance(header, dict):
        image.fail("header", HEADER_START, f"is not a JSON object but a {type(header).__name__}")
    return header


def _read_sections(image: _Image, table: bytes, start: int, count: int) -> tuple[dict[str, np.ndarray], int]:
    """The arrays, and where the last one ends; each follows the one before it, so that no two overlap."""
    sections: dict[str, np.ndarray] = {}
    at, end = 0, start + len(table)
    for _ in range(count):
        try:
            name, dtype, shape, crc, length = _parse_entry(table, at, _aligned(end))
            if name in sections:
                raise ValueError(f"there are two sections named {name!r}")
        except (ValueError, struct.error) as error:
            image.fail("section table", start + at, str(error))
        offset, nbytes = _aligned(end), math.prod(shape) * dtype.itemsize
        data = image.part(f"section {name!r}", offset, nbytes, crc)
        if image.data[end:offset].any():
            image.fail("padding", end, f"the bytes before section {name!r} are not zero")
        if dtype == np.bool_ and data.max(initial=0) > 1:
            image.fail(f"section {name!r}", offset, "a byte of it is neither false nor true")
        array = data.view(dtype).reshape(shape)
        sections[name] = array.astype(dtype.newbyteorder("="), copy=False)
        at, end = at + length, offset + nbytes
    if at != len(table):
        image.fail("section table", start + at, f"{len(table) - at} bytes after its last entry")
    return sections, end


def _parse_entry(table: bytes, at: int, start: int) -> tuple[str, np.dtype[Any], tuple[int, ...], int, int]:
    """Name, dtype, shape and CRC32C of an array that starts at byte `start`, and the length of its entry."""
    code, axes, name_bytes, crc, offset, nbytes = ENTRY.unpack_from(table, at)
    shape = struct.unpack_from(f"<{axes}Q", table, at + ENTRY.size)
    (encoded,) = struct.unpack_from(f"{name_bytes}s", table, at + ENTRY.size + 8 * axes)
    name, dtype = encoded.decode(), DTYPES.get(code)
    if dtype is None or axes > MAX_AXES or not name:
        raise ValueError(f"section {name!r} is of dtype {code!r} and has {axes} axes")
    if math.prod(length or 1 for length in shape) * dtype.itemsize > sys.maxsize:
        raise ValueError(f"section {name!r} of shape {shape} is larger than any memory")
    if nbytes != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"section {name!r} of shape {shape} and dtype {dtype} cannot take {nbytes} bytes")
    if offset != start:
        raise ValueError(f"section {name!r} starts at byte {offset}, not {start}")
    return name, dtype, shape, crc, ENTRY.size + 8 * axes + name_bytes
