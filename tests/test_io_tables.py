"""CSV and Parquet, held against pyarrow: generated tables and the published ones."""

import io
import lzma

import numpy as np
import pytest
from scipy import sparse

import text_files
from hinge.datasets.home import data_home
from hinge.io import DataError, read, stream
from test_datasets import needs
from test_io import generators


def test_csv_is_what_pyarrow_reads():
    csv = pytest.importorskip("pyarrow.csv")
    for rng in generators():
        data, delimiter = text_files.csv_table(rng)
        options = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
        theirs = csv.read_csv(io.BytesIO(data), parse_options=options)
        got = read(io.BytesIO(data), "csv", target=False, delimiter=delimiter)
        X = got.X.toarray() if sparse.issparse(got.X) else got.X
        named = dict(zip(got.feature_names, X.T, strict=True))
        for name, column in zip(theirs.column_names, theirs.columns, strict=True):
            values = column.to_pylist()
            if all(isinstance(v, str) for v in values):
                for text in set(values):
                    assert named[f"{name}={text}"].tolist() == [float(v == text) for v in values]
            else:
                expected = [np.nan if v is None else float(v) for v in values]
                if any(v is not None for v in values) or name in named:
                    np.testing.assert_array_equal(named[name], expected)


def test_parquet_is_what_was_written(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"a": [1.5, 2.0, -3.0], "c": ["red", None, "red"], "b": [True, False, True], "y": [["s"], ["s", "t"], []]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    got = read(tmp_path / "t.parquet")
    assert got.feature_names == ["a", "b", "c=red"]
    assert got.X.toarray().tolist() == [[1.5, 1, 1], [2, 0, 0], [-3, 1, 1]]
    assert got.y == [{"s"}, {"s", "t"}, set()]
    assert [len(part) for part in stream(tmp_path / "t.parquet")] == [3]
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 is not enough")
    with pytest.raises(DataError, match="not a Parquet file"):
        read(tmp_path / "bad.parquet")


def parquet_table(pyarrow, rng):
    """A table of every kind of column that is read, some cells of them null; and what its columns hold."""
    rows = int(rng.integers(1, 40))
    real = [None if rng.random() < 0.1 else float(x) for x in rng.normal(size=rows)]
    whole = rng.integers(-99, 99, rows).tolist()
    words = [None if rng.random() < 0.1 else str(rng.choice(["red", "grün", "a b"])) for _ in range(rows)]
    truth = (rng.random(rows) < 0.5).tolist()
    sets = [[str(x) for x in rng.choice(["p", "q", "r"], int(rng.integers(0, 4)), replace=False)] for _ in range(rows)]
    kinds = [pyarrow.float64(), pyarrow.float32(), pyarrow.int8(), pyarrow.int64(), pyarrow.bool_(), pyarrow.string()]
    chosen = [kinds[i] for i in rng.integers(len(kinds), size=int(rng.integers(1, 6)))]
    columns = {}
    for i, kind in enumerate(chosen):
        values = words if kind == pyarrow.string() else truth if kind == pyarrow.bool_() else whole
        values = real if pyarrow.types.is_floating(kind) else values
        columns[f"k{i}"] = pyarrow.array(values, type=kind)
        if kind == pyarrow.string() and rng.random() < 0.5:
            columns[f"k{i}"] = columns[f"k{i}"].dictionary_encode()
    return pyarrow.table(columns | {"y": pyarrow.array(sets)})


def test_parquet_is_what_pyarrow_reads(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for rng in generators():
        parquet.write_table(parquet_table(pyarrow, rng), tmp_path / "t.parquet", row_group_size=7)
        theirs = parquet.read_table(tmp_path / "t.parquet")
        got = read(tmp_path / "t.parquet")
        assert got.y == [set(labels) for labels in theirs["y"].to_pylist()]
        rows = sparse.csr_matrix(got.X).toarray()
        for row, cells in enumerate(theirs.drop_columns("y").to_pylist()):
            expected = {f"{k}={v}" if isinstance(v, str) else k: v for k, v in cells.items()}
            for name, value in zip(got.feature_names, rows[row], strict=True):
                said = 1.0 if "=" in name and name in expected else expected.get(name, 0.0)
                np.testing.assert_equal(value, np.nan if said is None else float(said))


PUBLISHED = {  # with the delimiter where it is none that is guessed
    "abalone/abalone.data": None,
    "parkinsons/parkinsons_updrs.data.xz": None,
    "letter-recognition/letter-recognition.data.xz": None,
    "ocr-letters/letter.data.xz": None,
    "orca-ordinal/ERA.csv": None,
    "orca-ordinal/ESL.csv": " ",
    "orca-ordinal/pyrim10/train_pyrim10.0": " ",
    "orca-ordinal/tae/train_tae.0": " ",
    "orca-ordinal/pasture/test_pasture.0": " ",
    "usps/zip.test.xz": " ",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_tables_are_what_pyarrow_reads(name):
    csv = pytest.importorskip("pyarrow.csv")
    needs(name.partition("/")[0])
    path, delimiter = data_home() / name, PUBLISHED[name]
    text = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    header = "parkinsons" in name
    theirs = csv.read_csv(
        io.BytesIO(text),
        read_options=csv.ReadOptions(autogenerate_column_names=not header),
        parse_options=csv.ParseOptions(delimiter=delimiter or ("\t" if b"\t" in text[:99] else ",")),
    )
    got = read(path, "csv", target=False, **({"delimiter": delimiter} if delimiter else {}))
    X = sparse.csc_matrix(got.X)
    place = {column: j for j, column in enumerate(got.feature_names)}
    assert len(got) == theirs.num_rows
    for number, (title, column) in enumerate(zip(theirs.column_names, theirs.columns, strict=True), start=1):
        title, values = title if header else f"c{number}", column.to_numpy()
        if values.dtype == object and any(isinstance(value, str) for value in values):
            for word in set(values):
                np.testing.assert_array_equal(X[:, [place[f"{title}={word}"]]].toarray().ravel(), values == word)
        else:
            np.testing.assert_array_equal(X[:, [place[title]]].toarray().ravel(), values.astype(float))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (b"a,y\n1,p\n2,\n", {}, "<file>:3:1: column 'y' has no value here"),
        (b"a,y\n1,2\n2,NA\n", {}, "<file>:3:1: column 'y' has no value here"),
        (b"a,q,y\n1,1,2\n1,-3,2\n", {"qid": "q"}, "<file>:3:1: column 'q' must hold whole numbers of 0 or more"),
        (b"a,q,y\n1,1.5,2\n", {"qid": "q"}, "<file>:2:1: column 'q' must hold whole numbers of 0 or more"),
        (b"a,w,y\n1,,2\n", {"weight": "w"}, "<file>:2:1: column 'w' has no value here"),
        (b"a,w,y\n1,x,2\n", {"weight": "w"}, "<file>: column 'w' must hold numbers, but it holds texts"),
        (b"a,a,y\n1,2,3\n", {}, "<file>: two columns are called 'a'"),
        (b"a,y\n1,2\n", {"target": "z"}, "<file>: there is no column 'z'; the columns are 'a', 'y'"),
        (b"a,y\n1,2\n", {"target": 2}, "<file>: there is no column 2; there are 2"),
    ],
)
def test_columns_that_cannot_be_what_they_should(text, options, message):
    with pytest.raises(DataError) as error:
        read(io.BytesIO(text), "csv", **options)
    assert str(error.value) == message


def test_a_column_of_lists_is_no_feature(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"tags": [["a"]], "n": [1.0], "y": [1]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="column 'tags' holds lists; it can be the target, or be ignored"):
        read(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet", ignore=["tags"]).feature_names == ["n"]


@pytest.mark.parametrize("pack", [bytes, lzma.compress])
def test_parquet_from_file_objects_and_without_rows(pack):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for values in ([1.5, 2.0], []):
        to = io.BytesIO()
        parquet.write_table(pyarrow.table({"a": pyarrow.array(values, pyarrow.float64()), "y": values}), to)
        source = io.BytesIO(pack(to.getvalue()))
        assert read(source, "parquet").X.ravel().tolist() == values
        source.seek(0)
        assert [len(part) for part in stream(source, "parquet")] == ([2] if values else [])
