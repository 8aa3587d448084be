"""The papers' experiments run, and show what they are said to show; on few rows here."""

import numpy as np
import pytest

from hinge.datasets import data_home
from hinge.reproduce import EXPERIMENTS, reproduce
from hinge.reproduce.pril import monomials
from test_datasets import needs

DATA = {
    "enron": ["enron-folders"],
    "pril": ["parkinsons", "abalone"],
    "multitask": ["rcv1v2-subsets"],
    "ansgd": ["yeast"],
    "ocr": ["ocr-letters"],
    "ranking": ["mq2008"],
}
SMALL = {
    "enron": {"users": ["sanders-r"]},
    "pril": {"rows": 300, "repeat": 1},
    "ansgd": {"sets": "yeast", "folds": 2, "rounds": 2000, "alphas": [1e-4, 1e-2]},
    "ocr": {"passes": 1, "folds": 1},
    "ranking": {"passes": 1, "folds": 1},
}


def tables(name):
    for folder in DATA[name]:
        needs(folder)
    return reproduce(name, **SMALL.get(name, {}))


def figure(cell):
    return float(cell.split()[0])


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_table_is_whole(name):
    for table in tables(name):
        assert table.rows
        assert all(len(row) == len(table.head) for row in table.rows)


def test_sanders_falls_as_in_the_paper():
    (table,) = tables("enron")
    assert table.rows[0][:3] == ["sanders-r", "30 (30)", "1188 (1188)"]
    assert table.rows[0][-1] == "yes"


def test_intervals_lower_the_loss():
    shares, _ = tables("pril")
    few, *_, all_of_them = shares.rows
    assert all(figure(least) < figure(most) for least, most in zip(all_of_them[1:], few[1:], strict=True))


def test_the_monomials_are_the_kernel():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 5, 3))
    for degree in (2, 3):
        products = (monomials(a, degree) * monomials(b, degree)).sum(axis=1)
        np.testing.assert_allclose(products, ((a * b).sum(axis=1) + 1) ** degree)


def test_neighbours_help_to_read_a_letter():
    (table,) = tables("ocr")
    assert all(figure(together) < figure(alone) for _, alone, together in table.rows)


def test_the_largest_norm_has_the_fewest_rounds_with_an_error():
    (table,) = tables("multitask")
    by_norm = {(row[0], row[1]): figure(row[2]) for row in table.rows}
    assert by_norm["linf", "implicit"] < by_norm["l1", "implicit"]


def test_label_pairs_have_every_learner_and_a_proven_gap():
    (table,) = tables("ansgd")
    ((name, *figures, alpha, gap, _),) = table.rows
    assert name == "yeast"
    assert all(0.75 < figure(cell) < 0.9 for cell in figures)
    assert alpha in ("0.0001", "0.01")
    assert 0 <= float(gap) <= 0.002


def test_label_pairs_read_a_set_by_its_files(tmp_path):
    needs("yeast")
    for file in ("yeast.arff.xz", "yeast.xml"):
        (tmp_path / file).symlink_to(data_home() / "yeast" / file)
    given = f"mine={tmp_path / 'yeast.arff.xz'},{tmp_path / 'yeast.xml'}"
    (table,) = reproduce("ansgd", sets=(), mulan=given, folds=2, rounds=500, alphas=[1e-2])
    assert [row[0] for row in table.rows] == ["mine"]
    for options, message in [({"sets": "corel"}, "no set 'corel'"), ({"sets": (), "mulan": "x.arff"}, "NAME=FILE")]:
        with pytest.raises(ValueError, match=message):
            reproduce("ansgd", **options)


def test_an_experiment_that_there_is_not():
    with pytest.raises(ValueError, match="there is no experiment 'enronn'; there are enron, pril"):
        reproduce("enronn")
