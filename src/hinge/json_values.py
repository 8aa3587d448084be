"""Parameters and labels of any type as JSON values, and back with the same type.

What JSON holds without loss stands for itself; the rest is an object with one key, its tag::

    {"int": "-0x1f"}                   beyond 53 bits, which other readers of JSON would round
    {"float": "7ff0000000000000"}      infinities and nan, the bits of the float64 in hex
    {"str": "eda080"}                  with lone surrogates, the bytes of UTF-8 "surrogatepass" in hex
    {"bytes": "00ff"}                  in hex
    {"tuple": [..]}                    items encoded likewise
    {"scalar": ["<f4", "0000803f"]}    a numpy scalar: dtype and bytes in hex
    {"np.str": ..}, {"np.bytes": ..}   numpy's strings, whose bytes would lose trailing zeros
    {"array": ["<f8", [2], ".."]}      a numpy array: dtype, shape, bytes in C order in hex
    {"objects": [[2], [..]]}           a numpy array of objects: shape, items
    {"dtype": "<f4"}                   a numpy dtype
    {"type": "float32"}                one of the types that numpy reads as a dtype
    {"norm": ["PNorm", {"p": 2}]}      a dataclass of hinge.norms, by field

Nothing in a value is ever executed: a tag outside this list is an error.
"""

from __future__ import annotations

import math
import re
import reprlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from hinge.model_file import ModelFileError
from hinge.norms import Interpolated, PNorm, RMax

NORMS = {"PNorm": PNorm, "RMax": RMax, "Interpolated": Interpolated}
TYPES = {"float": float, "float32": np.float32, "float64": np.float64}
MAX_DEPTH = 32
EXACT_INTEGER = 2**53
_SURROGATE = re.compile("[\ud800-\udfff]")
_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|c(8|16)|S[1-9]\d{0,8}|U[1-9]\d{0,8}|[mM]8(\[\w{1,20}\])?)")


def encode_value(value: Any, name: str = "value") -> Any:
    """What JSON can hold and `decode_value` turns back into an equal value of the same type.

    Parameters
    ----------
    value : object
        None, bool, int, float, str, bytes, a numpy scalar, array or dtype, float or numpy's float types themselves,
        a norm of `hinge.norms`, or a list or tuple of these. A subclass of one of them is something else.
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
        if not _is_hashable(label):
            raise TypeError(f"{name}[{at}] is {reprlib.repr(label)}, a {type(label).__name__}; a label is hashable")
    return _encode_items(labels, name, 0)


def decode_labels(encoded: Any, name: str = "labels") -> list[Any]:
    """The labels that `encode_labels` was given; `ModelFileError` if it is no list of labels or one comes twice."""
    if type(encoded) is not list:
        raise ModelFileError(f"damaged model file: {name} is a {type(encoded).__name__}, not a list")
    labels = _decode_items(encoded, name, 0)
    seen: set[Any] = set()
    for at, label in enumerate(labels):
        if not _is_hashable(label):
            raise ModelFileError(f"damaged model file: {name}[{at}] is a {type(label).__name__}, no label")
        if label in seen:
            raise ModelFileError(f"damaged model file: {name}[{at}], {reprlib.repr(label)}, comes twice")
        seen.add(label)
    return labels


def _is_hashable(label: Any) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True


def _encode(value: Any, name: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise TypeError(f"{name[:80]}.. is nested deeper than {MAX_DEPTH} levels, more than a model file holds")
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        return value if abs(value) <= EXACT_INTEGER else {"int": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"float": struct.pack(">d", value).hex()}
    if kind is str:
        return {"str": value.encode("utf-8", "surrogatepass").hex()} if _SURROGATE.search(value) else value
    if kind is bytes:
        return {"bytes": value.hex()}
    if kind is list:
        return _encode_items(value, name, depth + 1)
    if kind is tuple:
        return {"tuple": _encode_items(value, name, depth + 1)}
    if kind is type and value in TYPES.values():
        return {"type": value.__name__}
    if kind in NORMS.values():
        parts = {f.name: _encode(getattr(value, f.name), f"{name}.{f.name}", depth + 1) for f in fields(value)}
        return {"norm": [kind.__name__, parts]}
    return _encode_numpy(value, name, depth)


def _encode_numpy(value: Any, name: str, depth: int) -> Any:
    kind = type(value)
    if kind is np.str_:
        return {"np.str": _encode(str.__str__(value), name, depth)}  # numpy's own __str__ drops trailing zeros
    if kind is np.bytes_:
        return {"np.bytes": value.hex()}
    if isinstance(value, np.generic):
        return {"scalar": [_dtype_name(value.dtype, name), value.tobytes().hex()]}
    if isinstance(value, np.dtype):
        return {"dtype": _dtype_name(value, name)}
    if kind is np.ndarray and value.dtype == object:
        return {"objects": [list(value.shape), _encode_items(value.ravel().tolist(), name, depth + 1)]}
    if kind is np.ndarray:
        return {"array": [_dtype_name(value.dtype, name), list(value.shape), value.tobytes().hex()]}
    raise TypeError(
        f"{name} is {reprlib.repr(value)}, a {kind.__module__}.{kind.__qualname__}; a model file holds None, bool, "
        "int, float, str, bytes, lists and tuples, numpy scalars, arrays and dtypes, and the norms of hinge.norms"
    )


def _encode_items(values: Iterable[Any], name: str, depth: int) -> list[Any]:
    return [_encode(item, f"{name}[{at}]", depth) for at, item in enumerate(values)]


def _dtype_name(dtype: np.dtype[Any], name: str) -> str:
    if not _DTYPE.fullmatch(dtype.str):
        raise TypeError(f"{name} is of numpy's dtype {dtype}, which a model file does not hold")
    return dtype.str


def _decode(encoded: Any, name: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ModelFileError(f"damaged model file: {name[:80]}.. is nested deeper than {MAX_DEPTH} levels")
    if type(encoded) is list:
        return _decode_items(encoded, name, depth + 1)
    if type(encoded) is not dict:
        return encoded
    if len(encoded) != 1:
        raise ModelFileError(f"damaged model file: {name} has {len(encoded)} tags, not one")
    ((tag, body),) = encoded.items()
    try:
        return _decode_tagged(tag, body, name, depth)
    except ModelFileError:
        raise
    except Exception as error:  # the body is of some other form, and how it fails depends on that form
        raise ModelFileError(f"damaged model file: {name} cannot be read as {tag!r} ({error})") from error


def _decode_tagged(tag: str, body: Any, name: str, depth: int) -> Any:
    match tag:
        case "int":
            return int(body, 16)
        case "float":
            return struct.unpack(">d", bytes.fromhex(body))[0]
        case "str":
            return bytes.fromhex(body).decode("utf-8", "surrogatepass")
        case "bytes":
            return bytes.fromhex(body)
        case "tuple":
            return tuple(_decode_items(body, name, depth + 1))
        case "np.str":
            return np.str_(_decode(body, name, depth + 1))
        case "np.bytes":
            return np.bytes_(bytes.fromhex(body))
        case "scalar":
            return _array(body[0], [], body[1])[()]
        case "array":
            return _array(*body)
        case "objects":
            shape, items = body
            return _object_array(_decode_items(items, name, depth + 1), shape)
        case "dtype":
            return _dtype(body)
        case "type":
            return TYPES[body]
        case "norm":
            kind, parts = body
            return NORMS[kind](**{part: _decode(value, f"{name}.{part}", depth + 1) for part, value in parts.items()})
    raise ModelFileError(f"damaged model file: {name} has the unknown tag {tag!r}")


def _decode_items(items: Any, name: str, depth: int) -> list[Any]:
    _require(type(items) is list, "not a list")
    return [_decode(item, f"{name}[{at}]", depth) for at, item in enumerate(items)]


def _dtype(name: str) -> np.dtype[Any]:
    _require(_DTYPE.fullmatch(name) is not None, f"dtype {name!r}")
    return np.dtype(name)


def _array(dtype: str, shape: list[int], digits: str) -> np.ndarray:
    kind, data = _dtype(dtype), bytearray.fromhex(digits)
    _require(len(data) == math.prod(shape) * kind.itemsize, f"{len(data)} bytes for shape {shape}")
    _require(kind != np.bool_ or max(data, default=0) <= 1, "neither false nor true")
    array = np.ndarray(tuple(shape), kind, buffer=data)
    if kind.kind == "U":
        array.tolist()  # a ValueError where a code point is none
    return array


def _object_array(items: list[Any], shape: list[int]) -> np.ndarray:
    _require(len(items) == math.prod(shape), f"{len(items)} items for shape {shape}")
    return np.fromiter(items, object, len(items)).reshape(shape)


def _require(holds: bool, why: str) -> None:
    if not holds:
        raise ValueError(why)
