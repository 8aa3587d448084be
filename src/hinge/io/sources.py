"""Where bytes come from: paths, ``-``, file objects; decompressed by what they begin with, not by their name."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import mmap
import os
import sys
import zlib
from collections.abc import Iterator
from typing import IO, Any

from .errors import DataError

BLOCK = 1 << 20  # bytes of text that are parsed at once when streaming: few enough to stay in the cache

Source = str | os.PathLike[str] | IO[Any]

_MAGIC = {"gz": b"\x1f\x8b", "bz2": b"BZh", "xz": b"\xfd7zXZ\x00", "zst": b"\x28\xb5\x2f\xfd"}
COMPRESSED = tuple(f".{kind}" for kind in _MAGIC)


def name_of(source: Source) -> str:
    """Return what a source is called in messages: a path as typed, or ``<stdin>``."""
    if isinstance(source, str | os.PathLike):
        return "<stdin>" if os.fspath(source) == "-" else os.fspath(source)
    return str(getattr(source, "name", None) or "<file>")


@contextlib.contextmanager
def opened(source: Source) -> Iterator[IO[bytes]]:
    """Open a source for reading decompressed bytes; a file object that was given stays open."""
    with contextlib.ExitStack() as stack:
        raw: Any
        if not isinstance(source, str | os.PathLike):
            raw = _binary(source)
        elif os.fspath(source) == "-":
            raw = _standard_input()
        else:
            raw = stack.enter_context(open(source, "rb"))
        with _readable(name_of(source)):
            yield _decompressed(raw, stack)


def whole(source: Source) -> Any:
    """Return all bytes of a source; a plain file is mapped into memory and not copied."""
    with opened(source) as file:
        if isinstance(file, io.BufferedReader) and file.tell() == 0:
            with contextlib.suppress(OSError, ValueError, io.UnsupportedOperation):
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return file.read()


def blocks(source: Source, size: int, live: bool = False) -> Iterator[tuple[bytes, bool]]:
    """Yield the bytes of a source in blocks, and whether each is the last; at least one, perhaps empty.

    A live source is not waited for: what it has said so far is a block.
    """
    with opened(source) as file:
        if live:
            read = getattr(file, "read1", file.read)
            while block := read(size):
                yield block, False
            yield b"", True
            return
        ahead = file.read(size)
        while ahead:
            block, ahead = ahead, file.read(size)
            yield block, not ahead
            if not ahead:
                return
        yield b"", True


def _standard_input() -> Any:
    """A reader of its own: sys.stdin's is locked while a thread waits in it, and then Python cannot leave."""
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except OSError:  # a test's, that is no file
        return sys.stdin.buffer


def _binary(source: Any) -> Any:
    if isinstance(source, io.TextIOWrapper):
        return source.buffer
    if isinstance(source, io.StringIO):
        return io.BytesIO(source.read().encode())
    return source


def _decompressed(raw: Any, stack: contextlib.ExitStack) -> Any:
    if not hasattr(raw, "peek"):
        raw = io.BufferedReader(raw) if isinstance(raw, io.RawIOBase) else _Peekable(raw)
    start = raw.peek(6)[:6]
    kind = next((kind for kind, magic in _MAGIC.items() if start.startswith(magic)), None)
    if kind == "gz":
        return stack.enter_context(gzip.GzipFile(fileobj=raw))
    if kind == "bz2":
        return stack.enter_context(bz2.BZ2File(raw))
    if kind == "xz":
        return stack.enter_context(lzma.LZMAFile(raw))
    if kind == "zst":
        try:
            import zstandard
        except ImportError:
            raise ModuleNotFoundError("reading .zst needs the package zstandard: pip install zstandard") from None
        return _Zstd(raw, zstandard)
    return raw


class _Zstd:
    """Frames of Zstandard, one after the other; one that is cut off is an error, which stream_reader does not find."""

    def __init__(self, file: Any, zstandard: Any) -> None:
        self._file, self._zstandard = file, zstandard
        self._frame = self._begun()
        self._ahead = b""

    def read(self, size: int = -1) -> bytes:
        parts, count = [self._ahead], len(self._ahead)
        while (size < 0 or count < size) and (more := self._more()) is not None:
            parts.append(more)
            count += len(more)
        out = b"".join(parts)
        if size < 0:
            size = count
        self._ahead = out[size:]
        return out[:size]

    def _begun(self) -> Any:
        return self._zstandard.ZstdDecompressor().decompressobj()

    def _more(self) -> bytes | None:
        packed = self._frame.unused_data if self._frame.eof else b""
        packed = packed or self._file.read(1 << 20)
        if not packed:
            if not self._frame.eof:
                raise EOFError("the last frame is cut off")
            return None
        if self._frame.eof:
            self._frame = self._begun()
        return bytes(self._frame.decompress(packed))


class _Peekable:
    """A file object that can only read, with a look at its first bytes."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._ahead = b""

    def peek(self, size: int) -> bytes:
        while len(self._ahead) < size and (more := self._read(size - len(self._ahead))):
            self._ahead += more
        return self._ahead

    def read(self, size: int = -1) -> bytes:
        ahead, self._ahead = self._ahead, b""
        if 0 <= size <= len(ahead):
            self._ahead = ahead[size:]
            return ahead[:size]
        return ahead + self._read(size - len(ahead) if size >= 0 else -1)

    def _read(self, size: int) -> bytes:
        got = self._file.read(size)
        return got.encode() if isinstance(got, str) else got


@contextlib.contextmanager
def _readable(name: str) -> Iterator[None]:
    """Say of damaged compression which file it is in."""
    try:
        yield
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(name, f"the compressed file is damaged ({error}); get it again") from error
    except OSError as error:
        if error.errno is None:  # bz2 and zstandard
            raise DataError(name, f"the compressed file is damaged ({error}); get it again") from error
        raise
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise DataError(name, f"the compressed file is damaged ({error}); get it again") from error
