"""The papers' experiments run, and show what they are said to show; on few rows here."""

from functools import cache

import numpy as np
import pytest

from hinge import MultitaskClassifier
from hinge.datasets import Lists, data_home, load_rcv1_subset
from hinge.reproduce import EXPERIMENTS, ranking, reproduce
from hinge.reproduce.multitask import online_errors, topic_sources
from hinge.reproduce.pril import monomials
from test_datasets import needs

DATA = {
    "enron": ["enron-folders"],
    "pril": ["parkinsons", "abalone"],
    "multitask": ["rcv1v2-subsets", "reuters21578"],
    "ansgd": ["yeast"],
    "ocr": ["ocr-letters"],
    "ranking": ["mq2008", "lambdarank"],
}
SMALL = {
    "enron": {"users": ["sanders-r"]},
    "pril": {"rows": 300, "repeat": 1},
    "multitask": {"subsets": 2, "rows": 1500},
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


def last_column(table):
    return {row[0]: figure(row[-1]) for row in table.rows}


def test_tasks_are_compared_on_both_sources():
    drawn = [table for table in tables("multitask") if table.curves]
    heads = ["Infinity-error, %: ", "1-error, %: "] * 2 + ["Output codes, error in %: "]
    heads += ["Infinity-error of both updates, %: "] * 2
    rcv1 = "2 subsets of RCV1, 1,500 documents, 101 topics, C = 0.1"
    reuters = "Reuters-21578, 1,500 documents, 57 topics, C = 0.001"
    codes = "Reuters-21578, 1,500 documents, five topics, C = 0.001"
    places = [rcv1, rcv1, reuters, reuters, codes, rcv1, reuters]
    assert [table.title for table in drawn] == [head + place for head, place in zip(heads, places, strict=True)]
    for table in drawn:
        shown = {row[0]: row for row in table.rows}
        for name, x, y in table.curves:
            assert x[0] == 31  # the first fiftieth is left out
            assert x[-1] == 1500
            assert f"{y[-1]:.2f}" == shown[name][6]


def test_the_largest_norm_has_the_fewest_rounds_with_an_error():
    worst, mean, *_ = tables("multitask")
    for table in (worst, mean):
        assert 0 < last_column(table)["L-infinity"] < last_column(table)["L1"] < 100
    assert last_column(mean)["L1"] < last_column(worst)["L1"]


def test_tasks_err_as_their_learner_does_row_by_row():
    needs("rcv1v2-subsets")
    rows = load_rcv1_subset(1)
    X, Y = rows.X[:300].astype(np.float32), rows.Y[:300].toarray()
    (source, *_) = topic_sources(None, None, 1, 300)
    infinity, one = online_errors(source, lambda by, note: None, "linf", "finite")
    learner = MultitaskClassifier("linf", "finite", C=0.1, fit_intercept=False)
    for t in range(300):
        wrong = (2 * Y[t] - 1) * (learner.decision_function(X[t]) if t else np.zeros(101)) <= 0
        assert (infinity[t], one[t]) == (wrong.any(), wrong.mean()), t
        learner.partial_fit(X[t], Y[[t]], classes=[0, 1])


def test_what_the_paper_says_stands_beside_what_came_out():
    worst, mean, _, _, about_norms, codes, about_codes, _, _, about_updates = tables("multitask")
    infinity, one = ([list(map(figure, row[1:])) for row in table.rows] for table in (worst, mean))
    leads = [b - a for a, b in zip(*infinity, strict=True)]
    pairs = [
        (infinity[0][-1], infinity[1][-1]),
        (leads[-1], leads[0]),
        (one[0][0], one[1][0]),
        (one[1][-1], one[0][-1]),
    ]
    for row, (less, more) in zip(about_norms.rows, pairs, strict=False):
        a, b = map(figure, row[2].split(" and "))
        assert (a, b) == pytest.approx((less, more), abs=0.0101)
        assert row[1:] == ["2 subsets of RCV1", row[2], "yes" if less < more else "no"]
    ends = {row[0]: (figure(row[6]), figure(row[7])) for row in codes.rows}
    hadamard = {r: ends[f"hadamard, r = {r}"] for r in range(1, 16)}
    best = min(hadamard, key=lambda r: hadamard[r][0])
    rarest = min(hadamard, key=lambda r: hadamard[r][1])
    simple = min(ends[f"one-vs-rest, r = {r}"][0] for r in (1, 5))
    assert [row[2:] for row in about_codes.rows] == [
        [f"r = {best}, {hadamard[best][0]:.2f}", "yes" if best in (3, 4) else "no"],
        [f"{hadamard[best][0]:.2f} and {simple:.2f}", "yes" if hadamard[best][0] < simple else "no"],
        [f"r = {rarest}, {hadamard[rarest][1]:.2f}", "yes" if rarest == 1 else "no"],
    ]
    answers = {(row[0].partition(":")[0], row[1]): row[3] for row in about_updates.rows}
    assert set(answers) == {
        (norm, on) for norm in ("L-infinity", "L2", "L1") for on in ("2 subsets of RCV1", "Reuters-21578")
    }
    assert answers["L-infinity", "Reuters-21578"] == "yes"


def test_tasks_are_read_from_a_file(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{t % 3},{7 if t % 2 else 9} {1 + t % 3}:1 {4 + t % 2}:1 {rng.integers(6, 20)}:0.5" for t in range(120)]
    (tmp_path / "topics.svm").write_text("\n".join(lines) + "\n")
    options = {"data": str(tmp_path / "topics.svm"), "C": 0.5, "rows": 100}
    worst, mean, claims = reproduce("multitask", only="norms", **options)
    assert worst.title == "Infinity-error, %: topics.svm, 100 documents, 5 topics, C = 0.5"
    assert mean.head == ["norm", "3", "6", "12", "25", "50", "100"]
    assert {row[1] for row in claims.rows} == {"topics.svm"}
    assert [table.title for table in reproduce("multitask", only=["updates"], **options)] == [
        "Infinity-error of both updates, %: topics.svm, 100 documents, 5 topics, C = 0.5",
        "Implicit against finite horizon, beside the paper",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"only": "norm"}, "there is no table 'norm'; there are norms, codes, updates"),
        ({"subsets": 6}, "subsets must be 1, 2, 3, 4 or 5, got 6"),
        ({"subsets": 0}, "subsets must be 1, 2, 3, 4 or 5, got 0"),
    ],
)
def test_comparisons_of_tasks_that_there_are_not(options, message):
    with pytest.raises(ValueError, match=message):
        reproduce("multitask", **options)


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
