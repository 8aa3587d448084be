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
import shutil
import stat
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np

from hinge import _core

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


def crc32c(data: Any, before: int = 0) -> int:
    """CRC32C of a contiguous buffer, or, with the check of what came before it, of both together."""
    return _core.crc32c(data, before)


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
            lossless = repr(json.loads(text)) == repr(value)  # tells 1 from True and from numpy's 1
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
        if os.path.exists(target):  # before there is anything to read in it
            shutil.copymode(target, temporary)
        _write_durably(file, blocks)
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):  # the temporary name means nothing to the caller
            error.filename, error.filename2 = path, None
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
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # a folder one may write to and not list
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # file systems that cannot do it for folders
            raise
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
    try:
        header = json.loads(
            raw.decode("utf-8", "surrogatepass"),
            parse_constant=_finite,
            parse_float=_finite,
            object_pairs_hook=_unique,
        )
    except (ValueError, RecursionError) as error:
        source.fail("header", HEADER_START, f"cannot be read as JSON ({error})")
    if not isinstance(header, dict):
        source.fail("header", HEADER_START, f"is not a JSON object but a {type(header).__name__}")
    return header


def _finite(word: str) -> float:
    """JSON has no infinity and no nan; a number too large for a float would become one."""
    value = float(word)
    if not math.isfinite(value):
        raise ValueError(f"{word} is not a finite number")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object names a key twice")
    return found


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


def _read_section(source: _Source, section: _Section) -> np.ndarray:
    """The array of a section; the table has been checked, so it lies just ahead and fits in the file."""
    gap = source.position
    if any(source.take("padding", section.offset - gap)):
        source.fail("padding", gap, f"the bytes before {section.place} are not zero")
    array = np.empty(section.shape, section.dtype)
    data = _bytes_of(array)
    found = source.fill(section.place, data)
    source.compare(section.place, section.offset, section.nbytes, section.crc, found)
    if section.dtype == np.bool_ and array.view(np.uint8).max(initial=0) > 1:
        source.fail(section.place, section.offset, "a byte of it is neither false nor true")
    return array.astype(section.dtype.newbyteorder("="), copy=False)


# -------------------------------------------------------------------------------- parameters and labels in JSON

# What JSON holds without loss stands for itself; the rest is an object with one key, its tag:
#   {"int": "-0x1f"}                   beyond 53 bits, which other readers of JSON would round
#   {"float": "7ff0000000000000"}      infinities and nan, the bits of the float64 in hex
#   {"str": "eda080"}                  with lone surrogates, the bytes of UTF-8 "surrogatepass" in hex
#   {"bytes": "00ff"}                  in hex
#   {"tuple": [..]}                    items encoded likewise
#   {"scalar": ["<f4", "0000803f"]}    a numpy scalar: dtype and bytes in hex
#   {"np.str": ..}, {"np.bytes": ..}   numpy's strings, whose bytes would lose trailing zeros
#   {"array": ["<f8", [2], ".."]}      a numpy array: dtype, shape, bytes in C order in hex
#   {"objects": [[2], [..]]}           a numpy array of objects: shape, items
#   {"norm": ["PNorm", {"p": 2}]}      a dataclass of hinge.norms, by field

NORMS = ("PNorm", "RMax", "Interpolated")
MAX_DEPTH = 32
EXACT_INTEGER = 2**53
_STORED_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|c(8|16)|S[1-9]\d{0,8}|U[1-9]\d{0,8}|[mM]8(\[\w{1,20}\])?)")


def encode_value(value: Any, name: str = "value") -> Any:
    """What JSON can hold and `decode_value` turns back into an equal value of the same type.

    Parameters
    ----------
    value : object
        None, bool, int, float, str, bytes, a numpy scalar, a numpy array, a norm of `hinge.norms`, or a list or
        tuple of these. A subclass of one of them is something else.
    name : str, default="value"
        How an error calls it, for example the parameter's name.

    Raises
    ------
    TypeError
        If the value is anything else, naming the place.

    Examples
    --------
    >>> encode_value(("urgent", np.float32(0.5)))
    {'tuple': ['urgent', {'scalar': ['<f4', '0000003f']}]}
    >>> decode_value(encode_value(float("inf")))
    inf
    """
    return _encode(value, name, 0)


def decode_value(encoded: Any, name: str = "value") -> Any:
    """What `encode_value` was given.

    Parameters
    ----------
    encoded : object
        As it comes out of JSON.
    name : str, default="value"
        How an error calls it.

    Raises
    ------
    ModelFileError
        If no `encode_value` wrote this: an unknown tag, a malformed body, deep nesting.
    """
    return _decode(encoded, name, 0)


def encode_labels(labels: Sequence[Any], name: str = "labels") -> list[Any]:
    """Labels as JSON can hold them; each must be hashable, and a `TypeError` names the one that cannot be stored.

    Examples
    --------
    >>> encode_labels(["spam", 7, np.int64(7)])
    ['spam', 7, {'scalar': ['<i8', '0700000000000000']}]
    """
    for at, label in enumerate(labels):
        if isinstance(label, (list, np.ndarray)):
            raise TypeError(f"{name}[{at}] is a {type(label).__name__}; a label is hashable")
    return [_encode(label, f"{name}[{at}]", 0) for at, label in enumerate(labels)]


def decode_labels(encoded: Any, name: str = "labels") -> list[Any]:
    """The labels that `encode_labels` was given; `ModelFileError` if it is no list of labels or one comes twice."""
    if type(encoded) is not list:
        raise ModelFileError(f"damaged model file: {name} is a {type(encoded).__name__}, not a list")
    labels = [_decode(item, f"{name}[{at}]", 0) for at, item in enumerate(encoded)]
    seen: set[Any] = set()
    for at, label in enumerate(labels):
        try:
            twice = label in seen
        except TypeError:
            raise ModelFileError(f"damaged model file: {name}[{at}] is a {type(label).__name__}, no label") from None
        if twice:
            raise ModelFileError(f"damaged model file: {name}[{at}], {label!r}, comes twice")
        seen.add(label)
    return labels


def _encode(value: Any, name: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise TypeError(f"{name[:80]}.. is nested deeper than {MAX_DEPTH} levels, more than a model file holds")
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind in _ENCODERS:
        return _ENCODERS[kind](value, name, depth)
    if isinstance(value, np.generic):
        return {"scalar": [_stored_dtype(value.dtype, name), value.tobytes().hex()]}
    if kind.__module__ == "hinge.norms" and kind.__name__ in NORMS:
        parts = {f.name: _encode(getattr(value, f.name), f"{name}.{f.name}", depth + 1) for f in fields(value)}
        return {"norm": [kind.__name__, parts]}
    raise TypeError(
        f"{name} is {reprlib.repr(value)}, a {kind.__module__}.{kind.__qualname__}; a model file holds None, bool, "
        "int, float, str, bytes, lists and tuples, numpy scalars and arrays, and the norms of hinge.norms"
    )


def _encode_int(value: int, name: str, depth: int) -> Any:
    return value if abs(value) <= EXACT_INTEGER else {"int": hex(value)}


def _encode_float(value: float, name: str, depth: int) -> Any:
    return value if math.isfinite(value) else {"float": struct.pack(">d", value).hex()}


def _encode_str(value: str, name: str, depth: int) -> Any:
    try:
        value.encode()
    except UnicodeEncodeError:
        return {"str": value.encode("utf-8", "surrogatepass").hex()}
    return value


def _encode_items(value: Sequence[Any], name: str, depth: int) -> list[Any]:
    return [_encode(item, f"{name}[{at}]", depth + 1) for at, item in enumerate(value)]


def _encode_array(value: np.ndarray, name: str, depth: int) -> Any:
    shape = list(value.shape)
    if value.dtype == object:
        return {"objects": [shape, _encode_items(value.ravel().tolist(), name, depth)]}
    return {"array": [_stored_dtype(value.dtype, name), shape, value.tobytes().hex()]}


def _stored_dtype(dtype: np.dtype[Any], name: str) -> str:
    if not _STORED_DTYPE.fullmatch(dtype.str):
        raise TypeError(f"{name} is of numpy's dtype {dtype}, which a model file does not hold")
    return dtype.str


_ENCODERS: dict[type, Callable[[Any, str, int], Any]] = {
    int: _encode_int,
    float: _encode_float,
    str: _encode_str,
    bytes: lambda value, name, depth: {"bytes": value.hex()},
    list: _encode_items,
    tuple: lambda value, name, depth: {"tuple": _encode_items(value, name, depth)},
    np.str_: lambda value, name, depth: {"np.str": _encode_str(str(value), name, depth)},
    np.bytes_: lambda value, name, depth: {"np.bytes": value.hex()},
    np.ndarray: _encode_array,
}


def _decode(encoded: Any, name: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ModelFileError(f"damaged model file: {name[:80]}.. is nested deeper than {MAX_DEPTH} levels")
    if type(encoded) is list:
        return _decode_items(encoded, name, depth)
    if type(encoded) is not dict:
        return encoded
    if len(encoded) != 1:
        raise ModelFileError(f"damaged model file: {name} has {len(encoded)} tags, not one")
    ((tag, body),) = encoded.items()
    if tag not in _DECODERS:
        raise ModelFileError(f"damaged model file: {name} has the unknown tag {tag!r}")
    try:
        return _DECODERS[tag](body, name, depth)
    except ModelFileError:
        raise
    except Exception as error:  # the body is of some other form, and how it fails depends on that form
        raise ModelFileError(f"damaged model file: {name} cannot be read as {tag!r} ({error})") from error


def _decode_items(body: Any, name: str, depth: int) -> list[Any]:
    _require(type(body) is list, "not a list")
    return [_decode(item, f"{name}[{at}]", depth + 1) for at, item in enumerate(body)]


def _decode_int(body: Any, name: str, depth: int) -> int:
    value = int(body, 16)
    _require(hex(value) == body, "not as it was written")
    return value


def _decode_scalar(body: Any, name: str, depth: int) -> Any:
    dtype, digits = body
    return _array_of(dtype, [], digits)[()]


def _decode_array(body: Any, name: str, depth: int) -> np.ndarray:
    dtype, shape, digits = body
    return _array_of(dtype, shape, digits)


def _array_of(dtype: str, shape: list[int], digits: str) -> np.ndarray:
    _require(bool(_STORED_DTYPE.fullmatch(dtype)), f"dtype {dtype!r}")
    kind, data = np.dtype(dtype), bytearray.fromhex(digits)
    _check_shape(shape)
    _require(len(data) == math.prod(shape) * kind.itemsize, f"{len(data)} bytes for shape {shape}")
    _require(kind != np.bool_ or max(data, default=0) <= 1, "neither false nor true")
    _require(kind.kind != "U" or max(_code_points(kind, data), default=0) <= sys.maxunicode, "no characters")
    return np.ndarray(tuple(shape), kind, buffer=data)


def _code_points(kind: np.dtype[Any], data: bytearray) -> list[int]:
    codes: list[int] = np.ndarray((len(data) // 4,), f"{kind.str[0]}u4", buffer=data).tolist()
    return codes


def _decode_objects(body: Any, name: str, depth: int) -> np.ndarray:
    shape, items = body
    _check_shape(shape)
    _require(len(items) == math.prod(shape), f"{len(items)} items for shape {shape}")
    array = np.empty(len(items), object)
    for at, item in enumerate(_decode_items(items, name, depth)):
        array[at] = item
    return array.reshape(shape)


def _check_shape(shape: Any) -> None:
    whole = type(shape) is list and all(type(length) is int and length >= 0 for length in shape)
    _require(whole and len(shape) <= MAX_AXES, "not a shape")


def _decode_norm(body: Any, name: str, depth: int) -> Any:
    kind, parts = body
    _require(kind in NORMS, f"no norm is named {kind!r}")
    norm = getattr(importlib.import_module("hinge.norms"), kind)
    _require(set(parts) == {f.name for f in fields(norm)}, f"{kind} has other fields")
    return norm(**{part: _decode(value, f"{name}.{part}", depth + 1) for part, value in parts.items()})


def _require(holds: bool, why: str) -> None:
    if not holds:
        raise ValueError(why)


_DECODERS: dict[str, Callable[[Any, str, int], Any]] = {
    "int": _decode_int,
    "float": lambda body, name, depth: struct.unpack(">d", bytes.fromhex(body))[0],
    "str": lambda body, name, depth: bytes.fromhex(body).decode("utf-8", "surrogatepass"),
    "bytes": lambda body, name, depth: bytes.fromhex(body),
    "tuple": lambda body, name, depth: tuple(_decode_items(body, name, depth)),
    "np.str": lambda body, name, depth: np.str_(_decode_text(body, name, depth)),
    "np.bytes": lambda body, name, depth: np.bytes_(bytes.fromhex(body)),
    "scalar": _decode_scalar,
    "array": _decode_array,
    "objects": _decode_objects,
    "norm": _decode_norm,
}


def _decode_text(body: Any, name: str, depth: int) -> str:
    text = _decode(body, name, depth + 1)
    _require(type(text) is str, "not a string")
    return text
