"""Bad input to a label ranker: an error that names the place, and a model that is as it was, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hinge import LabelRanker, ModelFileError, load, progressive
from oracle.streams import stream
from rankers import ELEVEN, features, fingerprint, name_of, ranker_for, sets

N, K = 5, 3


def learned(algorithm=("full", "euclidean"), **params):
    rounds = [example._replace(alive=K) for example in stream("sparse", N, K, 12, seed=2)]
    return ranker_for(algorithm, **params).partial_fit(features(rounds), sets(rounds))


def rows(count=4):
    return np.arange(count * N, dtype=np.float64).reshape(count, N) % 7 - 3


def spoilt(value, row=2, column=3):
    X = rows()
    X[row, column] = value
    return X


LABELS = [{0}, {1}, {2}, {1}]


def calls(X, y):
    """Every call that learns from rows."""
    return [
        lambda it: it.partial_fit(X, y),
        lambda it: it.fit(X, y),
        lambda it: progressive(it, X, y),
        lambda it: it.partial_fit(X, y, classes=[*it.classes_, "one that must not stay"]),
    ]


def assert_refused(it, call, *words, error=ValueError):
    before = fingerprint(it)
    with pytest.raises(error) as caught:
        call(it)
    for word in words:
        assert word in str(caught.value)
    assert fingerprint(it) == before
    assert "one that must not stay" not in it.classes_


@pytest.mark.parametrize("csr", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("algorithm", ELEVEN, ids=name_of)
def test_a_value_that_is_not_finite(algorithm, value, name, csr):
    X = sparse.csr_matrix(spoilt(value)) if csr else spoilt(value)
    for call in calls(X, LABELS):
        assert_refused(learned(algorithm), call, name, "row 2", "column 3")
    for ask in ("predict", "decision_function", "rank"):
        assert_refused(learned(algorithm), lambda it, ask=ask: getattr(it, ask)(X), name, "row 2", "column 3")


def test_every_place_of_a_row_is_looked_at():
    """Rows are looked at by whole vectors; the places at their ends count too."""
    for width in (1, 3, 4, 7, 8, 15, 16, 17, 33):
        for column in range(width):
            for dtype in ("float32", "float64"):
                X = np.ones((3, width), dtype=dtype)
                X[1, column] = np.nan
                it = LabelRanker(dtype=dtype).partial_fit(np.ones((1, width)), [0])
                for form in (X, sparse.csr_matrix(X)):
                    with pytest.raises(ValueError, match=f"NaN in row 1, column {column}"):
                        it.partial_fit(form, [0, 1, 0])


@pytest.mark.parametrize("width", [N - 1, N + 1])
@pytest.mark.parametrize("csr", [False, True], ids=["dense", "csr"])
def test_a_wrong_width(width, csr):
    X = np.ones((4, width))
    for call in calls(sparse.csr_matrix(X) if csr else X, LABELS):
        if call.__code__.co_names[0] != "fit":
            assert_refused(learned(), call, str(width), str(N))


@pytest.mark.parametrize("X", [np.empty((0, N)), sparse.csr_matrix((0, N)), np.empty((4, 0)), []], ids=repr)
def test_an_empty_batch(X):
    for call in calls(X, LABELS[: np.shape(X)[0]]):
        assert_refused(learned(), call)


@pytest.mark.parametrize("X", [np.ones(N), np.ones((2, 2, N)), np.full((4, N), "a"), np.ones((4, N)) * 1j, None])
def test_rows_of_another_shape_or_kind(X):
    for call in calls(X, LABELS):
        assert_refused(learned(), call, error=(ValueError, TypeError))


def broken(**arrays):
    """Return a CSR matrix whose arrays were changed behind SciPy's back."""
    X = sparse.csr_matrix(rows() + 10.0)
    for name, values in arrays.items():
        setattr(X, name, np.asarray(values, dtype=getattr(X, name).dtype))
    return X


@pytest.mark.parametrize(
    "X",
    [
        broken(indices=[0, 1, 2, 3, 99] * 4),
        broken(indices=[0, 1, 2, 3, -1] * 4),
        broken(indptr=[0, 5, 10, 15, 400]),
        broken(indptr=[0, 10, 5, 15, 20]),
        broken(indptr=[1, 5, 10, 15, 20]),
    ],
    ids=["index too large", "index negative", "start beyond the end", "start falls", "start is not 0"],
)
def test_a_matrix_that_is_broken(X):
    for call in calls(X, LABELS)[:1]:
        assert_refused(learned(), call)


def test_indices_out_of_order_are_put_in_order():
    X = rows() + 10.0
    turned = sparse.csr_matrix(X)
    turned.indices, turned.data = turned.indices[::-1].copy(), turned.data[::-1].copy()
    turned = turned[::-1]
    turned.has_sorted_indices = False
    a, b = (learned().partial_fit(form, LABELS) for form in (X, turned))
    assert fingerprint(a) == fingerprint(b)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([{0}, {1}, {5}, {1}], ("row 2", "5", "new_labels")),
        ([{0}, {1}, {"new", 0}, {1}], ("row 2", "new", "new_labels")),
        ([0, 1, 2, 7], ("row 3", "7", "new_labels")),
        (np.array([0, 9, 2, 7]), ("row 1", "9", "new_labels")),
    ],
)
def test_a_label_that_is_forbidden(y, words):
    it = learned().set_params(new_labels="error")
    assert_refused(it, lambda it: it.partial_fit(rows(), y), *words)
    assert_refused(it, lambda it: progressive(it, rows(), y), *words)


@pytest.mark.parametrize("y", ["new", {0, "new"}, {"new": True, 0: False}])
def test_a_label_that_is_forbidden_one_by_one(y):
    it = LabelRanker().partial_fit([{"a": 1.0}, {"b": 2.0}], [{0}, {1}]).set_params(new_labels="error")
    assert_refused(it, lambda it: it.learn_one({"a": 1.0, "c": 2.0}, y), "new")


@pytest.mark.parametrize(
    "y",
    [
        [{0}, {1}, {None}, {1}],
        [{0}, {1}, {float("nan")}, {1}],
        [{0}, {1}, 2, {1}],
        [0, 1, 2],
        [0, 1, 2, np.nan],
        [0.5, 1.0, 2.0, 1.0],
        np.eye(4)[:, :3] * 2,
        np.eye(4),
        None,
    ],
    ids=["None", "NaN in a set", "no set", "too few", "NaN", "continuous", "a 2", "columns", "nothing"],
)
def test_targets_that_are_none(y):
    for call in (lambda it: it.partial_fit(rows(), y), lambda it: progressive(it, rows(), y)):
        assert_refused(learned(), call)


@pytest.mark.parametrize("weight", [[1, 1, -1, 1], [1, 1, np.nan, 1], [1, 1, np.inf, 1], [1, 1, 1], np.ones((4, 2))])
def test_a_weight_that_is_none(weight):
    words = ("row 2",) if len(weight) == 4 and np.ndim(weight) == 1 else ()
    for call in (
        lambda it: it.partial_fit(rows(), LABELS, sample_weight=weight),
        lambda it: it.fit(rows(), LABELS, sample_weight=weight),
        lambda it: progressive(it, rows(), LABELS, sample_weight=weight),
    ):
        assert_refused(learned(), call, *words)


@pytest.mark.parametrize("name", ["C", "margin", "r"])
@pytest.mark.parametrize("value", [0, 0.0, -1.0, np.nan, np.inf, -np.inf, "much", [1.0]])
def test_a_parameter_that_is_not_a_positive_number(name, value):
    if name != "margin" or value is not None:
        for params in ({}, {"geometry": "entropic"}, {"geometry": "adaptive"}):
            fresh = LabelRanker(**params, **{name: value})
            for call in calls(rows(), LABELS)[:3]:
                with pytest.raises(ValueError, match=name):
                    call(fresh)
            assert not hasattr(fresh, "classes_")
    it = learned().set_params(**{name: value})
    for call in (
        lambda it: it.partial_fit(rows(), LABELS),
        lambda it: it.fit(rows(), LABELS),
        lambda it: progressive(it, rows(), LABELS),
    ):
        assert_refused(it, call, name)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ({"a": np.nan, "new": 1.0}, ("'a'", "nan")),
        ({"new": 1.0, "a": float("inf")}, ("'a'", "inf")),
        ({"a": None}, ("'a'", "None")),
        ({"a": [1.0]}, ("'a'",)),
        ({3: 1.0}, ("3",)),
        ([1.0], ()),
    ],
)
@pytest.mark.parametrize("bits", [None, 10])
def test_a_dict_that_cannot_be_read(x, words, bits):
    params = {} if bits is None else {"features": "hashed", "n_bits": bits}
    it = LabelRanker(**params).partial_fit([{"a": 1.0}, {"b": 2.0}], [0, 1])
    assert_refused(it, lambda it: it.learn_one(x, 0), *words, error=(ValueError, TypeError))
    assert_refused(it, lambda it: it.learn_one(x, "new"), *words, error=(ValueError, TypeError))
    assert_refused(it, lambda it: it.learn_one(x, {0, "new"}), *words, error=(ValueError, TypeError))
    assert_refused(it, lambda it: it.predict_one(x), *words, error=(ValueError, TypeError))
    if isinstance(x, dict):
        both = [{"a": 1.0, "newer": 1.0}, x]
        assert_refused(it, lambda it: it.partial_fit(both, [0, 1]), "row 1", error=(ValueError, TypeError))


@pytest.mark.parametrize("w", [-1.0, np.nan, np.inf])
def test_a_weight_of_one_example_that_is_none(w):
    it = LabelRanker().partial_fit([{"a": 1.0}, {"b": 2.0}], [0, 1])
    assert_refused(it, lambda it: it.learn_one({"c": 1.0}, "new", w), "w")


# -- a damaged file ---------------------------------------------------------------------------------------------------


@pytest.fixture(params=["euclidean", pytest.param("entropic", marks=pytest.mark.long)])
def file(request, tmp_path):
    path = tmp_path / "model"
    it = LabelRanker(geometry=request.param, average=request.param == "entropic")
    it.learn_one({"a": 1.0}, {"x"})
    it.learn_one({"b": 1.0}, {"y"})
    it.save(path)
    return path


def test_a_file_cut_at_any_length(file):
    whole = file.read_bytes()
    assert len(whole) < 5000
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            load(file)
    file.write_bytes(whole)
    assert load(file).rank_one({"b": 1.0})[0][0] == "y"


@pytest.mark.parametrize("bits", ["one", pytest.param("all", marks=pytest.mark.long)])
def test_a_file_with_any_one_bit_flipped(file, bits):
    """Every byte in the quick suite, a bit of each; every bit in the long one (and in test_model_file.py)."""
    whole = file.read_bytes()
    for at in range(len(whole)):
        for bit in [at % 8] if bits == "one" else range(8):
            flipped = bytearray(whole)
            flipped[at] ^= 1 << bit
            file.write_bytes(flipped)
            with pytest.raises(ModelFileError):
                load(file)
