"""Readers, held against the readers that others wrote, and against files that are wrong in every way."""

import bz2
import gzip
import io
import json
import lzma
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_svmlight_file

import text_files
from hinge.datasets.home import data_home
from hinge.io import FORMATS, BadLine, DataError, Examples, format_of, read, stream
from hinge.io.writing import lines
from test_datasets import needs

FILES = 300  # generated of each kind


def generators(count=FILES):
    return (np.random.default_rng(seed) for seed in range(count))


def equal(a, b):
    np.testing.assert_array_equal(a.toarray() if sparse.issparse(a) else a, b.toarray() if sparse.issparse(b) else b)


# ---------------------------------------------------------------------------------------- against scikit-learn's


def test_svmlight_is_what_scikit_learn_reads():
    for rng in generators():
        data = text_files.svmlight(rng, query=bool(rng.integers(2)), zero_based=bool(rng.integers(2)))
        X, y, qid = load_svmlight_file(io.BytesIO(data), query_id=True)
        got = read(io.BytesIO(data), "svmlight")
        equal(got.X, X[:, : got.X.shape[1]])
        assert X[:, got.X.shape[1] :].nnz == 0  # it counts one column for a file without any feature
        equal(got.y, y)
        if got.qid is not None:
            equal(got.qid, qid)


def test_svmlight_sets_are_what_scikit_learn_reads():
    for rng in generators():
        data = text_files.svmlight(rng, several=True)
        X, y = load_svmlight_file(io.BytesIO(data), multilabel=True)
        got = read(io.BytesIO(data), "svmlight", labels="sets")
        equal(got.X, X[:, : got.X.shape[1]])
        assert got.y == [set(labels) for labels in y]


def svmlight_files():
    try:
        home = data_home()
    except FileNotFoundError:
        return []
    patterns = ("*/*.svm.xz", "mq2008/*.txt.xz", "a9a/*.xz", "lambdarank/*.xz")
    return sorted(str(path.relative_to(home)) for pattern in patterns for path in home.glob(pattern))


@pytest.mark.parametrize("name", svmlight_files() or ["none"])
def test_published_svmlight_files_are_what_scikit_learn_reads(name):
    needs(name.partition("/")[0])
    text = lzma.decompress((data_home() / name).read_bytes())
    several = ".svm." in name
    theirs = load_svmlight_file(io.BytesIO(text), multilabel=several, query_id=True, zero_based=False)
    got = read(data_home() / name, "svmlight", labels="sets" if several else "single", zero_based=False)
    assert (theirs[0] != got.X).nnz == 0
    assert got.y == [set(labels) for labels in theirs[1]] if several else (got.y == theirs[1]).all()
    if got.qid is not None:
        equal(got.qid, theirs[2])


def test_numbers_are_those_of_float():
    rng = np.random.default_rng(0)
    texts = [text_files.real(rng) for _ in range(20_000)]
    texts += [repr(x) for x in np.frombuffer(rng.bytes(8 * 20_000)).tolist() if np.isfinite(x)]
    data = "".join(f"0 1:{text}\n" for text in texts).encode()
    got = read(io.BytesIO(data), "svmlight").X.data  # toarray() would lose the sign of -0.0
    assert got.tobytes() == np.array([float(text) for text in texts]).tobytes()


# ------------------------------------------------------------------------------------------------------ against VW


@pytest.fixture(scope="module")
def vw():
    return pytest.importorskip("vowpalwabbit", reason="VW is not installed: pip install -e '.[bench]'")


@pytest.mark.parametrize("labels", ["simple", "multilabel", "csoaa"])
@pytest.mark.filterwarnings("ignore")
def test_vw_text_is_what_vw_reads(vw, labels):
    arguments = {"simple": "", "multilabel": "--multilabel_oaa 10", "csoaa": "--csoaa 10"}[labels]
    theirs = vw.Workspace(f"--quiet --noconstant -b 22 {arguments}")
    for rng in generators():
        data = text_files.vw(rng, labels=labels)
        got = read(io.BytesIO(data), "vw", labels="sets" if labels == "multilabel" else "auto")
        for row, line in enumerate(data.decode().splitlines()):
            example = theirs.example(line)
            ours, its = row_hashes(theirs, got, row), example_hashes(example, 0 if labels == "simple" else 4)
            assert [index for index, _ in ours] == [index for index, _ in its], line
            np.testing.assert_allclose([v for _, v in ours], [v for _, v in its], rtol=1e-6)  # it rounds twice
            if labels == "simple":
                assert example.get_simplelabel_label() == pytest.approx(got.y[row], rel=1e-6)
                weight = 1.0 if got.sample_weight is None else got.sample_weight[row]
                assert example.get_simplelabel_weight() == weight
            elif labels == "multilabel":
                assert set(example.get_multilabel_labels()) == got.y[row]
            else:
                n = example.get_costsensitive_num_costs()
                costs = {example.get_costsensitive_class(i): example.get_costsensitive_cost(i) for i in range(n)}
                assert costs == got.costs[row]
            theirs.finish_example(example)
    theirs.finish()


def row_hashes(vw, examples, row):
    """Each feature as (VW's hash of its name, value), sorted."""
    out = []
    for name, value in examples.take([row]).dicts()[0].items():
        space, _, feature = name.rpartition("^")
        seed = vw.hash_space(space) if space else 0
        out.append((vw.hash_feature(feature, seed) & (2**22 - 1), np.float32(value)))
    return sorted(out)


def example_hashes(example, shift):
    out = {}
    for index, value in example.iter_features():
        index = (index >> shift) & (2**22 - 1)
        out[index] = out.get(index, np.float32(0)) + np.float32(value)
    return sorted(out.items())


# --------------------------------------------------------------------------------------- against the standard library


def test_json_lines_are_what_json_reads():
    for rng in generators():
        data, rows = text_files.jsonl(rng)
        got = read(io.BytesIO(data), "jsonl")
        assert got.y.tolist() == [row["y"] for row in rows]
        assert got.ids == [row["id"] for row in rows]
        if got.sample_weight is not None:
            assert got.sample_weight.tolist() == [row.get("weight", 1.0) for row in rows]
        for x, row in zip(got.dicts(), rows, strict=True):
            expected = {
                f"{k}={v}" if isinstance(v, str) else k: 1.0 if isinstance(v, str) else v for k, v in row["x"].items()
            }
            assert x == expected


def test_json_targets_in_every_form():
    text = b"""{"x": {}, "y": null}
{"x": {"a": 1}, "y": ["s", "t"]}
{"x": {"a": 1}, "y": {"s": true, "u": false}}
{"x": {}, "y": [3, "t"], "qid": 4}
"""
    got = read(io.BytesIO(text), "jsonl")
    assert got.y == [set(), {"s", "t"}, {"s"}, {3, "t"}]
    assert got.qid.tolist() == [-1, -1, -1, 4]
    assert read(io.BytesIO(b'{"x": [1, 0, 2.5]}\n{"x": []}'), "jsonl").X.toarray().tolist() == [[1, 0, 2.5], [0, 0, 0]]


def test_hashed_names_are_those_of_the_estimators():
    from hinge import LabelRanker

    rows = [{"a": 1.5, "colour": "red", "grün": 2}, {"b": -1.0}]
    text = "\n".join(json.dumps({"x": row, "y": str(i)}) for i, row in enumerate(rows)).encode()
    got = read(io.BytesIO(text), "jsonl", n_bits=10)
    one = LabelRanker(features="hashed", n_bits=10, fit_intercept=False).fit(rows, ["0", "1"])
    two = LabelRanker(fit_intercept=False).fit(got.X, got.y)
    equal(one.coef_, two.coef_)


# --------------------------------------------------------------------------------------------- sources and streams


def samples(rng):
    """One file of each text format, with the options to read it."""
    table, delimiter = text_files.csv_table(rng)
    return {
        "svmlight": (text_files.svmlight(rng, query=True), {"labels": "single", "zero_based": False}),
        "vw": (text_files.vw(rng), {}),
        "jsonl": (text_files.jsonl(rng)[0], {"labels": "single"}),
        "csv": (table, {"delimiter": delimiter, "target": False}),
        "arff": (text_files.arff(rng), {"target": False}),
    }


def joined(parts):
    """Blocks as one."""
    width = max(part.X.shape[1] for part in parts)
    rows = []
    for part in parts:
        X = sparse.csr_matrix(part.X)
        X.resize(X.shape[0], width)
        rows.append(X)
    y = [label for part in parts if part.y is not None for label in part.y]
    return sparse.vstack(rows), y


@pytest.mark.parametrize("format", ["svmlight", "vw", "jsonl", "arff"])
def test_any_block_gives_the_same_rows(format):
    for rng in generators(12):
        data, options = samples(rng)[format]
        whole = read(io.BytesIO(data), format, **options)
        if not len(whole):
            continue
        for block in (1, 7, 64):
            X, y = joined(list(stream(io.BytesIO(data), format, block=block, **options)))
            assert y == ([] if whole.y is None else list(whole.y))
            theirs = sparse.csr_matrix(whole.X)
            X.resize(theirs.shape)
            if format == "arff":  # the numbers of features follow their appearance, row by row or all at once
                assert X.nnz == theirs.nnz
            else:
                np.testing.assert_array_equal(X.toarray(), theirs.toarray())


def test_a_table_keeps_its_columns_from_block_to_block():
    data = b"n,c,y\n" + b"".join(f"{i},{'ab'[i % 2]},{i % 3}\n".encode() for i in range(50))
    parts = list(stream(io.BytesIO(data), "csv", block=100))
    assert len(parts) > 2
    X, y = joined(parts)
    whole = read(io.BytesIO(data), "csv")
    equal(X, whole.X)
    assert y == whole.y.tolist()
    with pytest.raises(DataError, match=r":52:1: 'x' is not a number, but column 'n' held numbers so far"):
        list(stream(io.BytesIO(data + b"x,a,0\n"), "csv", block=100))


@pytest.mark.parametrize("format", ["svmlight", "vw", "jsonl"])
def test_threads_do_not_change_the_rows(format):
    rng = np.random.default_rng(0)
    few = [samples(rng)[format][0].rstrip(b"\r\n") + b"\n" for _ in range(60)]
    data = b"".join(few[i] for i in rng.integers(60, size=(3 << 20) // len(b"".join(few)) * 60))
    options = samples(rng)[format][1]
    one, three = (read(io.BytesIO(data), format, threads=n, **options) for n in (1, 3))
    assert (one.X != three.X).nnz == 0
    assert one.feature_names == three.feature_names
    assert one.line.tolist() == three.line.tolist()
    assert list(one.y) == list(three.y)
    at = len(data) * 2 // 3
    at = data.index(b"\n", at) + 1
    wrong = data[:at] + b"{ ? |:1\n" + data[at:]
    shown = set()
    for n in (1, 3):
        with pytest.raises(DataError) as error:
            read(io.BytesIO(wrong), format, threads=n, **options)
        shown.add(str(error.value))
        assert error.value.bad.line == data[:at].count(b"\n") + 1
    assert len(shown) == 1


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, "zst"])
def test_compression_is_found_by_content(tmp_path, pack):
    if pack == "zst":
        pack = pytest.importorskip("zstandard").compress
    text = b"1 1:0.5\n2 2:1\n"
    (tmp_path / "data.svm").write_bytes(pack(text))
    with open(tmp_path / "data.svm", "rb") as file:
        for source in (tmp_path / "data.svm", io.BytesIO(pack(text)), file):
            assert read(source, "svmlight").X.toarray().tolist() == [[0.5, 0], [0, 1]]
        assert not file.closed
    if pack is not bytes:
        (tmp_path / "cut.svm").write_bytes(pack(text * 100)[:-9])
        with pytest.raises(DataError, match=r"cut\.svm: the compressed file is damaged"):
            read(tmp_path / "cut.svm")


def test_file_objects_that_can_only_read():
    class Pipe:
        def __init__(self, data):
            self.data = data

        def read(self, size=-1):
            size = len(self.data) if size < 0 else min(size, 5)
            out, self.data = self.data[:size], self.data[size:]
            return out

    for data in (b"1 1:2\n3 2:1\n", "1 1:2\n3 2:1\n"):
        assert read(Pipe(data), "svmlight").y.tolist() == [1, 3]
        assert [part.y.tolist() for part in stream(Pipe(data), "svmlight", block=6)] == [[1], [3]]


def test_streams_take_little_memory(tmp_path):
    """Sixty blocks' worth of text; what a block holds is not kept."""
    import tracemalloc

    line = " ".join(["1", *(f"{i}:0.25" for i in range(1, 60))]) + "\n"
    (tmp_path / "big.svm").write_text(line * 60_000)
    block = 1 << 19
    tracemalloc.start()
    rows = sum(len(part) for part in stream(tmp_path / "big.svm", block=block))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows == 60_000
    assert peak < 8 * block


def test_formats_by_name(tmp_path):
    assert [format_of(name) for name in ("a.svm", "a.libsvm.gz", "x.y.ndjson.zst", "T.CSV", tmp_path)] == [
        "svmlight", "svmlight", "jsonl", "csv", "mail",
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"data.txt: the name does not say what format this is; give one of svmlight"):
        read("data.txt")
    with pytest.raises(ValueError, match="unknown format 'xls'; the formats are svmlight"):
        read("a.svm", "xls")
    with pytest.raises(TypeError, match=r"csv has no option 'zero_based'; it has delimiter, header, target"):
        read("a.csv", zero_based=True)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.svm")
    assert sorted(FORMATS) == ["arff", "csv", "jsonl", "mail", "parquet", "svmlight", "tsv", "vw"]


@pytest.mark.parametrize("format", ["svmlight", "vw", "jsonl"])
def test_what_is_written_is_read_back(format):
    for rng in generators(100):
        data, options = samples(rng)[format]
        one = read(io.BytesIO(data), format, **options)
        if not len(one):
            continue
        two = read(io.BytesIO(b"".join(lines([one], format))), format, **options)
        assert one.dicts() == two.dicts() if one.feature_names else (two.X[:, : one.X.shape[1]] != one.X).nnz == 0
        assert list(one.y) == list(two.y)
        assert one.ids == two.ids or not any(one.ids or [])
        assert str(one.qid) == str(two.qid)


# ------------------------------------------------------------------------------------------------ what goes wrong

GOLDEN = [
    ("svmlight", b"1 1:1\n1 1042:abc\n", "f:2:8: feature value 'abc' is not a number\n1 1042:abc\n       ^"),
    ("svmlight", b"1 1:nan\n", "f:1:5: feature value 'nan' is not finite\n1 1:nan\n    ^"),
    ("svmlight", b"1 1:1e999\n", "f:1:5: feature value '1e999' is not finite\n1 1:1e999\n    ^"),
    ("svmlight", b"spam 1:1\n", "f:1:1: label 'spam' is not a number\nspam 1:1\n^"),
    ("svmlight", b"1 1:1 1:2\n", "f:1:7: feature 1 appears twice\n1 1:1 1:2\n      ^"),
    ("svmlight", b"1 -1:1\n", "f:1:3: feature index '-1' is not a whole number\n1 -1:1\n  ^"),
    ("svmlight", b"1 4294967296:1\n", "f:1:3: feature index '4294967296' is too large\n1 4294967296:1\n  ^"),
    ("svmlight", "1 größe:1\n".encode(), "f:1:3: feature index 'größe' is not a whole number\n1 größe:1\n  ^"),
    ("svmlight", b"1, 1:1\n", "f:1:3: a label is missing after the comma\n1, 1:1\n  ^"),
    ("svmlight", b"1 qid:a 1:1\n", "f:1:7: query 'a' is not a whole number between 0 and 9e17\n"
     "1 qid:a 1:1\n      ^"),
    ("vw", b"1 |a b:x\n", "f:1:8: feature value 'x' is not a number\n1 |a b:x\n       ^"),
    ("vw", b"1 -2 | a\n", "f:1:3: importance '-2' is negative\n1 -2 | a\n  ^"),
    ("vw", b"yes | a\n", "f:1:1: label 'yes' is not a number\nyes | a\n^"),
    ("jsonl", b'{"x": {"a": [1]}}', "f:1:13: the value of feature 'a' must be a number, a string, true or false\n"
     '{"x": {"a": [1]}}\n            ^'),
    ("jsonl", b'{"x": {"a": 1}', "f:1:15: the line ends too early: expected '}' or ',' in an object\n"
     '{"x": {"a": 1}\n              ^'),
    ("jsonl", b'{"y": 1}', 'f:1:1: the object has no key "x" with the features\n{"y": 1}\n^'),
    ("jsonl", b'{"x": {}, "y": "\\ud800"}', "f:1:23: a surrogate stands alone\n"
     '{"x": {}, "y": "\\ud800"}\n                      ^'),
    ("jsonl", b'{"x": [1]}\n{"x": {"a": 1, "b": 2}}\n', 'f:2:7: "x" is an object, but it was a list before\n'
     '{"x": {"a": 1, "b": 2}}\n      ^'),
    ("jsonl", b'{"x": {"a": 1}}\n{"x": [1]}\n', 'f:2:7: "x" is a list, but it was an object before\n'
     '{"x": [1]}\n      ^'),
    ("jsonl", b'{"x": {}, "y": 9007199254740993}', "f:1:16: label '9007199254740993' is too large for a number; "
     'write it as a string\n{"x": {}, "y": 9007199254740993}\n               ^'),
    ("jsonl", b'{"x": {}, "y": "a\\u0000"}', 'f:1:16: a text must not hold a NUL character\n'
     '{"x": {}, "y": "a\\u0000"}\n               ^'),
    ("jsonl", b'{"x": {"a": 1, "a": 2}}', "f:1:1: feature 'a' appears twice in \"x\"\n"
     "{\"x\": {\"a\": 1, \"a\": 2}}\n^"),
    ("csv", b"a,y\n1,2\x00\n", "f:2:3: a text must not hold a NUL character\n1,2 \n  ^"),
    ("csv", b"a,y\n1,2\n1,2,3\n", "f:3:5: this row has 3 cells, but the first has 2\n1,2,3\n    ^"),
    ("csv", b'a,y\n"1,2\n3,4\n', 'f:2:1: this quote is not closed\n"1,2\n^'),
    ("csv", b'a,y\n"1"2,3\n', "f:2:4: expected ',' or the end of the line after a closing quote\n"
     '"1"2,3\n   ^'),
    ("csv", b"a,y\n1,\n2,1\n", "f:2:1: column 'y' has no value here"),
    ("arff", b"@relation r\n@attribute a foo\n@data\n", "f:2:14: attribute type 'foo' is not numeric, real, "
     "integer, string, date or a {list}\n@attribute a foo\n             ^"),
    ("arff", b"@attribute a {r,g}\n@data\nb\n", "f:3:1: 'b' is not a value of attribute 'a'\nb\n^"),
    ("arff", b"@attribute a numeric\n@data\n1,2\n", "f:3:3: 1 value were declared, and here is one more\n1,2\n  ^"),
    ("arff", b"@attribute a numeric\n", "f:1:1: the file ends before @data"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "data", "message"), GOLDEN)
def test_a_mistake_is_shown_where_it_is(format, data, message):
    file = io.BytesIO(data)
    file.name = "f"
    with pytest.raises(DataError) as error:
        read(file, format)
    if "^" in message and "attribute type" not in message:  # a row, not a declaration
        message += "\nMend this line, or leave it out with skip_bad=1 (--skip-bad 1)."
    assert str(error.value) == message
    assert str(pickle.loads(pickle.dumps(error.value))) == message


def test_long_lines_are_shown_around_the_place():
    data = b"1 " + b" ".join(f"{i}:1".encode() for i in range(1, 500)) + b" 777:x " + b"1 " * 300
    with pytest.raises(DataError) as error:
        read(io.BytesIO(data), "svmlight")
    head, line, caret, _ = str(error.value).split("\n")
    assert len(line) < 130
    assert line[caret.index("^")] == "x"
    assert head == f"<file>:1:{data.index(b'x') + 1}: feature value 'x' is not a number"


@pytest.mark.parametrize("format", ["svmlight", "vw", "jsonl"])
def test_bad_lines_can_be_left_out(format):
    for rng in generators(60):
        data, options = samples(rng)[format]
        rows = data.splitlines(keepends=True)
        at = sorted(rng.choice(np.arange(1, len(rows) + 1), min(2, len(rows)), replace=False), reverse=True)
        wrong = list(rows)
        for i in at:
            wrong.insert(i, b"1 |a b:?,{;|;\t\n")
        wrong = b"".join(row if row.endswith(b"\n") else row + b"\n" for row in wrong)
        whole = read(io.BytesIO(data), format, **options)
        got = read(io.BytesIO(wrong), format, skip_bad=2, **options)
        assert str(got.X) == str(whole.X)
        assert got.feature_names == whole.feature_names
        assert [bad.line for bad in got.skipped] == [i + 1 + k for k, i in enumerate(reversed(at))]
        with pytest.raises(DataError):
            read(io.BytesIO(wrong), format, skip_bad=len(at) - 1, **options)


def test_bad_rows_of_a_table_can_be_left_out():
    data = b'n,c,y\n1,a,2\n3\n4,"b"x,5\n6,a,7\n8,e,9,10\n'
    got = read(io.BytesIO(data), "csv", skip_bad=3)
    assert got.feature_names == ["n", "c=a"]
    assert got.X.toarray().tolist() == [[1, 1], [6, 1]]
    assert [bad.line for bad in got.skipped] == [3, 4, 6]
    assert got.line.tolist() == [2, 5]
    with pytest.raises(DataError, match=":6:7: this row has 4 cells, but the first has 3"):
        read(io.BytesIO(data), "csv", skip_bad=2)


@pytest.mark.parametrize("count", [250, pytest.param(5000, marks=pytest.mark.long)])
@pytest.mark.parametrize("format", ["svmlight", "vw", "jsonl", "csv", "arff"])
def test_mutated_files_are_read_or_refused_with_a_place(format, count):
    """4 x 5000 files and more: an answer, or an error that says where; never anything else."""
    refused = 0
    for rng in generators(count):
        data, options = samples(rng)[format]
        wrong = text_files.mutated(rng, data)
        got = read_or_refuse(wrong, format, options)
        if isinstance(got, DataError):
            refused += 1
            assert str(got).startswith("<file>:")
            assert got.bad is None or (1 <= got.bad.line <= wrong.count(b"\n") + 1 and got.bad.column >= 1)
        else:
            assert isinstance(got, Examples)
            assert got.y is None or len(got) == len(got.y)
    assert refused > count // 20


def read_or_refuse(data, format, options):
    try:
        return read(io.BytesIO(data), format, **options)
    except DataError as error:
        return error


def test_places_print_as_they_are():
    assert BadLine(1, 1, "x").caret() == ""
    assert str(DataError("a", "plain")) == "a: plain"
