"""Where the data sets lie, and how one of their files is opened.

The package ships no data. Files are looked for under the folder named by the environment variable
``HINGE_DATA`` or, without it, under ``shared/data`` beside the project's checkout.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from hinge.io.sources import opened


def data_home() -> Path:
    """Return the folder that holds the data sets.

    Returns
    -------
    pathlib.Path
        ``$HINGE_DATA`` when it is set, otherwise ``shared/data`` beside the checkout that this file or
        the working directory belongs to.

    Raises
    ------
    FileNotFoundError
        When ``HINGE_DATA`` names no folder, or when it is not set and there is no such neighbour.

    Examples
    --------
    >>> import os, tempfile
    >>> before = os.environ.get("HINGE_DATA")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     os.environ["HINGE_DATA"] = folder
    ...     data_home() == Path(folder)
    True
    >>> _ = os.environ.pop("HINGE_DATA") if before is None else os.environ.update(HINGE_DATA=before)
    """
    named = os.environ.get("HINGE_DATA")
    if named:
        return _existing(Path(named).expanduser())
    for checkout in _checkouts():
        neighbour = checkout.parent / "shared" / "data"
        if neighbour.is_dir():
            return neighbour
    raise FileNotFoundError("no data sets found: set the environment variable HINGE_DATA to the folder that holds them")


def data_file(*parts: str) -> Path:
    """Return the path of one file under `data_home`, checked to exist.

    Parameters
    ----------
    *parts : str
        Folder names and the file name, below `data_home`.

    Returns
    -------
    pathlib.Path
        The path.
    """
    path = data_home().joinpath(*parts)
    if not path.is_file():
        name = "/".join(parts)
        raise FileNotFoundError(
            f"{name} is not among the data sets in {data_home()}: set HINGE_DATA to a folder that has it"
        )
    return path


def read_bytes(path: Path | str) -> bytes:
    """Return a file's content, decompressed where it begins as .xz, .gz, .bz2 or .zst does.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    bytes
        The content.
    """
    with opened(path) as file:
        return bytes(file.read())


def read_text(path: Path | str) -> str:
    """Return a file's content as text: UTF-8, or Latin-1 where it is not UTF-8.

    Parameters
    ----------
    path : path-like
        The file; it is decompressed as by `read_bytes`.

    Returns
    -------
    str
        The text.
    """
    content = read_bytes(path)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise FileNotFoundError(
            f"HINGE_DATA is {str(folder)!r}, which is not a folder: set it to the folder that holds the data sets"
        )
    return folder


def _checkouts() -> Iterator[Path]:
    """Yield the folders above this file, then above the working directory, that look like a checkout."""
    for start in (Path(__file__).resolve().parent, Path.cwd()):
        for folder in (start, *start.parents):
            if (folder / "pyproject.toml").is_file() or (folder / ".git").exists():
                yield folder
