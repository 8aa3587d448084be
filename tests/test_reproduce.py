"""The papers' experiments run, and show what they are said to show; on few rows here."""

from functools import cache

import numpy as np
import pytest

from hinge.datasets import Lists, data_home
from hinge.reproduce import EXPERIMENTS, ranking, reproduce
from hinge.reproduce.pril import monomials
from test_datasets import needs

DATA = {
    "enron": ["enron-folders"],
    "pril": ["parkinsons", "abalone"],
    "multitask": ["rcv1v2-subsets"],
    "ansgd": ["yeast"],
    "ocr": ["ocr-letters"],
    "ranking": ["mq2008", "lambdarank"],
}
SMALL = {
    "enron": {"users": ["sanders-r"]},
    "pril": {"rows": 300, "repeat": 1},
    "ansgd": {"sets": "yeast", "folds": 2, "rounds": 2000, "alphas": [1e-4, 1e-2]},
    "ocr": {"passes": 1, "folds": 1, "only": "error"},
    "ranking": {"folds": 1},
}


@cache
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
    letters, words = ({row[0]: figure(row[column]) for row in table.rows} for column in (1, 2))
    for rule in ("perceptron, averaged", "passive-aggressive, averaged", "sgd, alpha=1e-4, averaged"):
        assert letters[f"chain, {rule}"] < letters[f"per letter, {rule}"]
    assert letters["chain, svm, C=0.1"] < letters["per letter, svm, C=0.01"]
    assert all(letters[name] < words[name] for name in letters)


@pytest.mark.long
def test_letters_are_read_as_others_print_it():
    needs("ocr-letters")
    (table,) = reproduce("ocr", only="published")
    beside = [(figure(ours), figure(theirs)) for _, ours, theirs, *_ in table.rows if theirs != "-"]
    assert [theirs for _, theirs in beside] == [0.286, 0.212, 0.130]
    assert all(abs(ours - theirs) < 0.03 for ours, theirs in beside)


def test_lists_are_ordered_best_by_pairs_and_worst_by_one_order_of_ties():
    mq2008, example = tables("ranking")
    by_pairs, one_order, mean_order = (figure(row[-1]) for row in mq2008.rows)
    assert one_order < mean_order < by_pairs
    assert example.rows[0][-1] == max(row[-1] for row in example.rows)


def test_lists_are_standardised_by_the_training_part():
    train, test = Lists(np.array([[1.0, 5], [3, 5]]), None, None), Lists(np.array([[5.0, 6]]), None, None)
    on_train, on_test = ranking.standardised([train, test])
    np.testing.assert_array_equal(on_train.X, [[-1, 0], [1, 0]])
    np.testing.assert_array_equal(on_test.X, [[3, 1]])


def test_parameters_are_chosen_on_the_validation_part():
    X = np.array([[1.0], [2], [3]])
    train = Lists(X, np.array([2, 1, 0]), np.zeros(3))
    validation = Lists(X, np.array([0, 1, 2]), np.zeros(3))

    def learn(lists, sign):
        assert lists is train
        return lambda X: sign * X[:, 0]

    model = ranking.chosen(learn, [{"sign": -1}, {"sign": 1}, {"sign": 2}], train, validation)
    assert model(X).tolist() == [1, 2, 3]
    assert ranking.judge(model, validation, (1, 3), tool=(1,)) == [1.0, 1.0, 1.0, 1.0]
    assert ranking.judge(model, train, (1,)) == [0.0, pytest.approx((1 / 2 + 2 / 3) / 2)]


@pytest.mark.parametrize(("name", "most"), [("ocr", 10), ("ranking", 5)])
def test_tables_and_folds_that_there_are_not(name, most):
    for folds in (0, most + 1, "two"):
        with pytest.raises(ValueError, match=f"folds must be 1 to {most}, got {folds!r}"):
            reproduce(name, folds=folds)
    with pytest.raises(ValueError, match="there is no table 'speed'; there are "):
        reproduce(name, only=["speed"])


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
