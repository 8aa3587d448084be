"""Parameters and labels through JSON: the same value of the same type, or an error that names the place."""

from __future__ import annotations

import contextlib
import datetime
import enum
import json
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hinge.json_values import decode_labels, decode_value, encode_labels, encode_value
from hinge.model_file import ModelFileError
from hinge.norms import Interpolated, PNorm, RMax


def through_json(value):
    return decode_value(json.loads(json.dumps(encode_value(value), allow_nan=False)))


def same(one, other):
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.dtype.str == other.dtype.str and one.shape == other.shape
        return alike and (
            same(one.tolist(), other.tolist()) if one.dtype == object else one.tobytes() == other.tobytes()
        )
    if isinstance(one, np.generic):
        return one.dtype.str == other.dtype.str and one.tobytes() == other.tobytes()
    if isinstance(one, float):
        return struct.pack("d", one) == struct.pack("d", other)
    return one == other


STORED = [
    "?",
    "i1",
    ">i2",
    "u4",
    "u8",
    "f2",
    ">f4",
    "f8",
    "c8",
    "c16",
    "U3",
    "S3",
    "M8[s]",
    "M8[ns]",
    "m8[ms]",
    ">M8[D]",
]
DTYPES = st.sampled_from([np.dtype(code) for code in STORED])
TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXT
    | st.binary(max_size=8)
    | DTYPES.flatmap(hnp.from_dtype)
    | DTYPES
    | TEXT.map(np.str_)
    | st.binary(max_size=8).map(np.bytes_)
)
ARRAYS = hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))


def object_array(items):
    return np.fromiter(items, object, len(items))


VALUES = st.recursive(
    SCALARS | ARRAYS,
    lambda values: (
        st.lists(values, max_size=4) | st.tuples(values, values) | st.lists(values, max_size=3).map(object_array)
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@example(2**53)
@example(2**53 + 1)
@example(-(2**20000))
@example(-0.0)
@example(float("nan"))
@example(float("-inf"))
@example(5e-324)
@example("\ud83d\ude00")
@example("\U0001f600")
@example(np.str_("a\0"))
@example(np.bytes_(b"a\0"))
@example(np.datetime64("NaT", "ns"))
@example(np.datetime64("2026-11-19", "D"))
@example(np.timedelta64(3, "25s"))
@example(np.float64("nan"))
@example(np.empty((0, 3), "U2"))
@example(())
@example([((),)])
@given(VALUES)
def test_a_value_comes_back_with_its_type(value):
    assert same(through_json(value), value)


@pytest.mark.parametrize("value", [float, np.float32, np.float64])
def test_types_that_name_a_dtype_come_back(value):
    assert through_json(value) is value


def test_norms_come_back():
    for norm in (PNorm(float("inf")), RMax(3), Interpolated(1.0, 2.0, 0.25)):
        assert through_json(norm) == norm


def test_an_array_is_a_fresh_one_that_can_be_written_to():
    costs = np.eye(2)
    found = through_json(costs)
    found[0, 0] = 7
    assert costs[0, 0] == 1


def test_an_array_of_sequences_keeps_its_shape():
    nested = np.empty((2, 1), object)
    nested[0, 0], nested[1, 0] = [1, 2], [3, 4]
    assert same(through_json(nested), nested)


class Colour(enum.StrEnum):
    RED = "red"


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"a": 1}, r"cost is \{'a': 1\}, a builtins.dict; a model file holds None, bool"),
        ({1, 2}, r"cost is \{1, 2\}, a builtins.set"),
        (1j, "cost is 1j, a builtins.complex"),
        (print, "cost is <built-in function print>, a builtins.builtin_function_or_method"),
        (int, "cost is <class 'int'>, a builtins.type"),
        (datetime.date(2026, 11, 19), "cost is datetime.date"),
        (Colour.RED, r"cost is <Colour.RED: 'red'>, a .*Colour"),
        (np.longdouble(1), "cost is of numpy's dtype"),
        (np.zeros(1, "i4,i4"), "cost is of numpy's dtype"),
        (np.dtype("O"), "cost is of numpy's dtype object"),
        (np.random.default_rng(0), "cost is Generator"),
        ([0, (1, {})], r"cost\[1\]\[1\] is \{\}, a builtins.dict"),
        (np.array([1, object], object), r"cost\[1\] is <class 'object'>"),
        (deep(40), r"cost(\[0\])+\[?\.\. is nested deeper than 32 levels"),
    ],
)
def test_what_cannot_be_stored_is_named_with_its_place(value, why):
    with pytest.raises(TypeError, match=why):
        encode_value(value, "cost")


def test_a_list_that_holds_itself_is_refused():
    loop = []
    loop.append(loop)
    with pytest.raises(TypeError, match="nested deeper than 32 levels"):
        encode_value(loop)


def test_whatever_is_deep_enough_to_be_stored_can_be_read():
    assert through_json(deep(31)) == deep(31)


@pytest.mark.parametrize(
    "encoded",
    [
        {},
        {"int": "1", "float": "0"},
        {"pickle": "80049525"},
        {"int": 5},
        {"int": "xyz"},
        {"float": "00"},
        {"float": "zz"},
        {"str": "ff"},
        {"bytes": None},
        {"tuple": "abc"},
        {"scalar": ["<f4", "00"]},
        {"scalar": ["O", "0000000000000000"]},
        {"scalar": ["|b1", "02"]},
        {"scalar": ["<U1", "ffffffff"]},
        {"scalar": ["<M8[parsec]", "0000000000000000"]},
        {"array": ["<f8", [2**60], "00"]},
        {"array": ["<f8", [-1], "00" * 8]},
        {"array": ["<f8", [-1, -1], "00" * 8]},
        {"array": ["<f8", 1, "00" * 8]},
        {"array": ["<f8", [0.5], ""]},
        {"array": ["<f8", [1] * 100, "00" * 8]},
        {"array": ["<U1", [1], "00001100"]},
        {"array": []},
        {"objects": [[2**40], [1]]},
        {"objects": [[2], [1]]},
        {"objects": [[1], "a"]},
        {"dtype": "O"},
        {"dtype": "f8,f8"},
        {"dtype": 8},
        {"type": "int"},
        {"type": []},
        {"norm": ["os", {}]},
        {"norm": ["PNorm", {"q": 2}]},
        {"norm": "PNorm"},
        deep(40),
    ],
)
def test_what_no_encoder_wrote_is_an_error(encoded):
    with pytest.raises(ModelFileError, match="damaged model file: weights"):
        decode_value(encoded, "weights")


TAGS = st.sampled_from(
    ["int", "float", "str", "bytes", "tuple", "np.str", "np.bytes", "scalar", "array"]
    + ["objects", "dtype", "type", "norm"]
)
WORDS = st.sampled_from(["<f8", "|b1", "<U1", "<M8[s]", "0000000000000000", "01", "", "PNorm", "float"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(TAGS, values, min_size=1, max_size=1),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(TAGS, JSON, min_size=1, max_size=1))
def test_any_json_is_a_value_or_a_clear_error(encoded):
    with contextlib.suppress(ModelFileError):
        decode_value(encoded)


# ---------------------------------------------------------------------------------------------------------- labels


def test_labels_come_back_with_their_types():
    labels = ["spam", "späm", 7, 2**60, 0.5, None, ("a", (1, b"b")), b"spam", np.int64(8), np.str_("eggs")]
    labels += [np.datetime64("2026-11-19"), float("inf")]
    assert same(decode_labels(json.loads(json.dumps(encode_labels(labels)))), labels)


def test_an_array_of_labels_is_read_as_its_items():
    assert same(decode_labels(encode_labels(np.array([3, 1]))), [np.int64(3), np.int64(1)])


@pytest.mark.parametrize("label", [[1], ([1],), np.zeros(2)])
def test_a_label_that_cannot_be_hashed_is_named(label):
    with pytest.raises(TypeError, match=r"topics\[1\] is .*; a label is hashable"):
        encode_labels(["a", label], "topics")


def test_a_label_that_cannot_be_stored_is_named():
    with pytest.raises(TypeError, match=r"topics\[1\] is frozenset"):
        encode_labels(["a", frozenset("b")], "topics")


@pytest.mark.parametrize(
    ("encoded", "why"),
    [
        ("ab", "topics is a str, not a list"),
        ([1, [2]], r"topics\[1\] is a list, no label"),
        ([1, 2, 1], r"topics\[2\], 1, comes twice"),
        ([1, True], r"topics\[1\], True, comes twice"),
        ([1, {"odd": 1}], r"topics\[1\] has the unknown tag 'odd'"),
    ],
)
def test_labels_that_no_encoder_wrote_are_an_error(encoded, why):
    with pytest.raises(ModelFileError, match=why):
        decode_labels(encoded, "topics")
