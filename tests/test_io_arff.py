"""ARFF, held against liac-arff: generated files and the published ones; and the two ways to name labels."""

import io
import lzma

import pytest
from scipy import sparse

import text_files
from hinge.datasets.home import data_home
from hinge.io import DataError, read
from hinge.io.arff import label_names
from test_datasets import needs
from test_io import generators


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_arff_is_what_liac_reads(sparse_rows):
    liac = pytest.importorskip("arff", reason="liac-arff is not installed: pip install -e '.[test]'")
    for rng in generators():
        data = text_files.arff(rng, sparse=sparse_rows)
        kind = liac.LOD if sparse_rows else liac.DENSE
        theirs = liac.loads(data.decode(), return_type=kind)
        got = read(io.BytesIO(data), "arff", target=False)
        X = got.X.toarray() if sparse.issparse(got.X) else got.X
        for row, cells in enumerate(theirs["data"]):
            found = {n: v for n, v in zip(got.feature_names, X[row].tolist(), strict=True) if v != 0}
            assert str(found) == str(as_features(theirs["attributes"], cells, got.feature_names))


def as_features(attributes, cells, order):
    """A row of liac-arff's as features that are not zero; in sparse rows what is left out is the first value."""
    out = {}
    for i, (name, kind) in enumerate(attributes):
        is_number = isinstance(kind, str) and kind != "STRING"
        if isinstance(cells, dict):
            first = 0.0 if is_number else kind[0] if isinstance(kind, list) else None
            cell = cells.get(i, first)
        else:
            cell = cells[i]
        if is_number:
            out[name] = float("nan") if cell is None else float(cell)
        elif cell is not None:
            out[f"{name}={cell}"] = 1.0
    return {name: out[name] for name in order if out.get(name, 0) != 0}


def published(most):
    """The files of Mulan that are here, as bytes under `most` so that liac-arff takes seconds, with their XML."""
    try:
        found = sorted(data_home().glob("*/*.arff.xz"))
    except FileNotFoundError:
        return []
    return [str(path.relative_to(data_home())) for path in found if path.stat().st_size < most]


QUICK = published(130_000)


@pytest.mark.parametrize(
    "name",
    QUICK + [pytest.param(name, marks=pytest.mark.long) for name in published(10**9) if name not in QUICK] or ["none"],
)
def test_published_files_are_what_liac_reads(name):
    liac = pytest.importorskip("arff", reason="liac-arff is not installed: pip install -e '.[test]'")
    needs(name.partition("/")[0])
    path = data_home() / name
    (xml,) = path.parent.glob("*.xml")
    text = lzma.decompress(path.read_bytes()).decode()
    is_sparse = "\n{" in text
    theirs = liac.loads(text, return_type=liac.LOD if is_sparse else liac.DENSE)
    got = read(path, xml=xml)
    assert sorted(got.label_names) == sorted(label_names(xml))
    place = {attribute: i for i, (attribute, _) in enumerate(theirs["attributes"])}
    assert [place[label] for label in got.label_names] == sorted(place[label] for label in got.label_names)
    columns = [place[column] for column in got.feature_names + got.label_names]
    ours = sparse.hstack([sparse.csr_matrix(got.X), got.y]).tocsr()
    for i, row in enumerate(theirs["data"]):
        cells = row if is_sparse else dict(enumerate(row))
        found = dict(zip([columns[j] for j in ours[i].indices], ours[i].data, strict=True))
        assert found == {j: float(cell) for j, cell in cells.items() if float(cell) != 0}


# ------------------------------------------------------------------------------------------------------- labels

FOUR = b"@attribute a {0,1}\n@attribute b {0,1}\n@attribute c {0,1}\n@attribute d {0,1}\n@data\n1,0,0,1\n0,1,0,1\n"


@pytest.mark.parametrize(
    ("relation", "labels", "y"),
    [
        ("'music: -C 2'", ["a", "b"], [[1, 0], [0, 1]]),
        ("'music: -C -2'", ["c", "d"], [[0, 1], [0, 1]]),
        ("'music: -split 100 -C 3 -other'", ["a", "b", "c"], [[1, 0, 0], [0, 1, 0]]),
        ('"music: -C  4"', ["a", "b", "c", "d"], [[1, 0, 0, 1], [0, 1, 0, 1]]),
    ],
)
def test_meka_counts_labels_from_the_front_or_the_back(relation, labels, y):
    got = read(io.BytesIO(f"@relation {relation}\n".encode() + FOUR), "arff")
    assert got.label_names == labels
    assert got.y.toarray().tolist() == y
    assert got.feature_names == [name for name in "abcd" if name not in labels]


def test_meka_without_labels_or_with_too_many():
    none = read(io.BytesIO(b"@relation 'music: -C 0'\n" + FOUR), "arff")
    assert (none.label_names, none.y.tolist()) == (None, [1, 1])
    named = read(io.BytesIO(b"@relation 'music: -C 2'\n" + FOUR), "arff", target="b")
    assert (named.label_names, named.y.tolist()) == (None, [0, 1])
    with pytest.raises(DataError, match="the relation says -C -5, but there are 4 attributes"):
        read(io.BytesIO(b"@relation 'music: -C -5'\n" + FOUR), "arff")


@pytest.mark.parametrize(
    ("values", "rows", "y"),
    [
        ("{0,1}", ["{0 1}", "{1 3}"], [1, 0]),
        ("{1,0}", ["{0 0}", "{1 3}"], [0, 1]),  # what a sparse row leaves out is the first value
        ("{1,0}", ["1,3", "0,3"], [1, 0]),
        ("{true,false}", ["true,3", "false,3"], [1, 0]),
        ("{No,Yes}", ["Yes,3", "No,3"], [1, 0]),
        ("{0}", ["0,3", "0,3"], [0, 0]),
        ("{1}", ["1,3", "1,3"], [1, 1]),
        ("numeric", ["1,3", "0,3"], [1, 0]),
    ],
)
def test_a_label_says_yes_or_no_in_either_order(values, rows, y):
    text = f"@relation 'r: -C 1'\n@attribute l {values}\n@attribute f numeric\n@data\n" + "\n".join(rows)
    assert read(io.BytesIO(text.encode()), "arff").y.toarray().ravel().tolist() == y


@pytest.mark.parametrize(
    ("values", "row", "message"),
    [
        ("{a,b,c}", "c,3", "attribute 'l' is a label: its values must be 0 and 1, not ['a', 'b', 'c']"),
        ("{0,1,2}", "2,3", "attribute 'l' is a label: its values must be 0 and 1, not ['0', '1', '2']"),
        ("{0,1}", "?,3", "5:1: label 'l' has no value, neither 0 nor 1"),
        ("numeric", "0.5,3", "5:1: label 'l' has the value 0.5, neither 0 nor 1"),
    ],
)
def test_a_label_that_says_something_else_is_refused(values, row, message):
    text = f"@relation 'r: -C 1'\n@attribute l {values}\n@attribute f numeric\n@data\n{row}\n"
    with pytest.raises(DataError) as error:
        read(io.BytesIO(text.encode()), "arff")
    assert str(error.value).endswith(message)
