"""The command `hinge`, run as people run it."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from command import RANKING, hinge
from hinge import LabelRanker, PairwiseLabelRanker, load, progressive
from hinge.cli.app import COMMANDS
from hinge.datasets import synthetic_mailbox
from test_datasets import needs


def test_help_imports_neither_numpy_nor_scikit_learn():
    look = """
import sys, hinge.cli.app as app
code = app.run(["--help"])
print(sorted({"numpy", "sklearn", "scipy", "rich"} & set(sys.modules)), code)
"""
    out = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[] 0"
    assert out.startswith("Usage: hinge")


def test_a_mistyped_command_names_the_nearest():
    code, out, err = hinge("dmo")
    assert (code, out) == (2, "")
    assert err.endswith("Error: there is no command 'dmo'. Did you mean 'demo'?\n")


def test_demo_prints_a_table_and_the_path_last(tmp_path):
    code, out, err = hinge("demo", "--messages", 600, "--folders", 8, "-o", "page.html", cwd=tmp_path)
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].split()[:4] == ["geometry", "update", "mistakes", "share"]
    assert [line.split()[:2] for line in lines[1:7]] == [
        [g, u] for g in ("euclidean", "entropic") for u in ("full", "single", "fixed")
    ]
    assert lines[-1] == "page.html"
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_demo_keeps_a_file_that_is_there(tmp_path):
    (tmp_path / "page.html").write_text("mine")
    code, _, err = hinge("demo", "--messages", 10, "-o", "page.html", cwd=tmp_path)
    assert code == 2
    assert "page.html exists; --force replaces it" in err
    assert Path(tmp_path / "page.html").read_text() == "mine"


@pytest.mark.parametrize("option", [["--messages", "0"], ["--folders", "1"], ["--seed", "x"]])
def test_demo_refuses_what_makes_no_sense(option, tmp_path):
    assert hinge("demo", *option, cwd=tmp_path)[0] == 2
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------------------------------- what the commands do


def test_train_is_partial_fit_in_order(mail):
    stream = list(synthetic_mailbox(1500, 12))
    X, y = [x for x, _ in stream], [label for _, label in stream]
    ours = LabelRanker(C=0.05).partial_fit(X, y)
    theirs = load(mail / "mail.hinge")
    assert theirs.classes_.tolist() == ours.classes_.tolist()
    assert theirs.feature_names_in_.tolist() == ours.feature_names_in_.tolist()
    assert theirs.coef_.tobytes() == ours.coef_.tobytes()
    theirs.learn_one({"a new word": 1.0}, "a new folder")


def test_predict_prints_a_line_a_row(mail, here):
    X = [x for x, _ in synthetic_mailbox(1500, 12)]
    model = load(mail / "mail.hinge")
    code, out, _ = here("predict", "mail.hinge", "mail.jsonl", cwd=mail)
    assert code == 0
    assert out.splitlines() == model.predict(X).tolist()
    code, out, _ = here("predict", "mail.hinge", "-", "--format", "jsonl", "--top", 2, "--json", cwd=mail,
                         stdin=b'{"x": {"unseen": 1}, "id": "k"}\n')  # fmt: skip
    (row,) = map(json.loads, out.splitlines())
    assert row["id"] == "k"
    expected = model.rank_one({}, 2)
    assert row["labels"] == [[label, pytest.approx(score)] for label, score in expected]
    assert here("predict", "mail.hinge", "mail.jsonl", "-o", "out.tsv", "--top", 3, cwd=mail)[:2] == (0, "")
    assert (mail / "out.tsv").read_text().count("\t") == 2 * 1500


def test_predict_needs_no_target(tmp_path, here):
    (tmp_path / "load.csv").write_text("hours,day,load\n2,mon,low\n7,mon,high\n3,tue,low\n6,tue,high\n8,wed,high\n")
    assert here("train", "load.csv", "-o", "m", *RANKING, "--passes", 5, cwd=tmp_path)[:2] == (0, "")
    expected = load(tmp_path / "m").rank_one({"hours": 9.0, "day=tue": 1.0})
    for table in (b"hours,day\n9,tue\n", b"day,load,hours\ntue,,9\n", b"hours,day,load\n9,tue,low\n"):
        code, out, _ = here("predict", "m", "-", "--format", "csv", "--top", 2, "--json", cwd=tmp_path, stdin=table)
        assert code == 0
        assert json.loads(out)["labels"] == [[label, pytest.approx(score)] for label, score in expected]


def test_predict_answers_a_pipe_line_by_line(mail):
    command = [sys.executable, "-m", "hinge.cli", "predict", "mail.hinge", "-", "--format", "jsonl"]
    with subprocess.Popen(command, cwd=mail, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as running:
        for _ in range(3):
            running.stdin.write(b'{"x": {"a": 1}}\n')
            assert running.stdout.readline().strip()
        running.stdin.close()
    assert running.returncode == 0


def test_options_of_a_format(tmp_path, here):
    (tmp_path / "d.csv").write_text("name;a;y\nr1;1,5;p\nr2;2;q\n")
    more = ["--read", "delimiter=;", "--id", "name"]
    assert here("train", "d.csv", "-o", "m", *RANKING, *more, cwd=tmp_path)[0] == 0
    code, out, _ = here("predict", "m", "d.csv", "--json", *more, cwd=tmp_path)
    assert (code, [json.loads(line)["id"] for line in out.splitlines()]) == (0, ["r1", "r2"])
    (tmp_path / "d.svm").write_text("1 0:1\n2 1:1\n")
    assert here("convert", "d.svm", "-", "--to", "vw", "--read", "zero-based=true", cwd=tmp_path)[1] == (
        "1 | 0:1.0\n2 | 1:1.0\n"
    )
    for wrong, said in {"delimiter=;": "svmlight has no option 'delimiter'; it has", "x": "give OPTION=VALUE"}.items():
        code, out, err = here("convert", "d.svm", "-", "--to", "vw", "--read", wrong, cwd=tmp_path)
        assert (code, out) == (2, "")
        assert said in err


def test_features_are_matched_by_name_or_not_at_all(mail, tmp_path, here):
    rows = [json.loads(line) for line in (mail / "mail.jsonl").read_text().splitlines()][:50]
    backwards = "".join(json.dumps({"x": dict(reversed(row["x"].items())) | {"never seen": 1}}) + "\n" for row in rows)
    (tmp_path / "other.jsonl").write_text(backwards)
    code, out, _ = here("predict", mail / "mail.hinge", "other.jsonl", cwd=tmp_path)
    assert (code, out.splitlines()) == (0, load(mail / "mail.hinge").predict([row["x"] for row in rows]).tolist())
    (tmp_path / "d.svm").write_text("1 qid:1 1:1\n2 qid:1 2:1\n")
    code, out, err = here("predict", mail / "mail.hinge", "d.svm", cwd=tmp_path)
    assert (code, out) == (3, "")
    assert err.endswith(
        "the features of the model have names, but those of the data have none: they cannot be matched\n"
    )
    assert here("train", "d.svm", "-o", "m", *RANKING, cwd=tmp_path)[0] == 0  # a qid that nothing asks for
    code, out, err = here("predict", "m", "other.jsonl", cwd=tmp_path)
    assert (code, out) == (3, "")
    code, out, _ = here("predict", "m", "d.svm", cwd=tmp_path)
    assert (code, out.split()) == (0, [str(label) for label in load(tmp_path / "m").predict(np.eye(2))])


def drawn(rows=120):
    """Rows of three features, as text and as numbers."""
    X = np.round(np.random.default_rng(5).normal(size=(rows, 3)), 4)
    return X, [" ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) for x in X.tolist()]


def table_of(X, *columns):
    rows = [",".join(map(str, [*x, *(c[i] for c in columns)])) for i, x in enumerate(X.tolist())]
    return "\n".join(["a,b,c,s,t", *rows]) if len(columns) > 1 else "\n".join(["a,b,c,y", *rows])


def task_files():
    """For each task: the file's name and text, the arguments, and X, y and more for partial_fit."""
    X, cells = drawn()
    grade = np.searchsorted([-1, 0, 1], X[:, 0]) + 1
    two = (X[:, :2] > 0).astype(int)
    qid = np.repeat(np.arange(24), 5)
    return {
        "ordinal": ("d.csv", table_of(X, grade), ["--classes", "[1, 2, 3, 4]"], X, grade, {}),
        "multitask": ("d.csv", table_of(X, *two.T), ["--target", "s", "--target", "t"], X, two, {}),
        "label-ranking": ("d.svm", "\n".join(f"{g} {c}" for g, c in zip(grade, cells, strict=True)), [], X, grade, {}),
        "pairwise": (
            "d.svm",
            "\n".join(f"{','.join(map(str, np.flatnonzero(y)))} {c}" for y, c in zip(two, cells, strict=True)),
            ["--labels", "sets", "--alpha", "0.01"],
            X,
            [set(np.flatnonzero(y).tolist()) for y in two],
            {},
        ),
        "sequence": (
            "d.svm",
            "\n".join(f"{g} qid:{q} {c}" for g, q, c in zip(grade, qid, cells, strict=True)),
            ["--rule", "perceptron"],
            [X[qid == q] for q in range(24)],
            [grade[qid == q] for q in range(24)],
            {},
        ),
        "multiclass": ("d.svm", "\n".join(f"{g} {c}" for g, c in zip(grade, cells, strict=True)), [], X, grade, {}),
        "ranking": (
            "d.svm",
            "\n".join(f"{g} qid:{q} {c}" for g, q, c in zip(grade, qid, cells, strict=True)),
            [],
            X,
            grade,
            {"qid": qid},
        ),
        "bipartite": (
            "d.svm",
            "\n".join(f"{g} {c}" for g, c in zip(two[:, 0], cells, strict=True)),
            [],
            X,
            two[:, 0],
            {},
        ),
    }


@pytest.mark.parametrize("task", task_files())
@pytest.mark.filterwarnings("ignore")
def test_every_task_learns_what_partial_fit_learns(task, tmp_path, here):
    name, text, more, X, y, given = task_files()[task]
    (tmp_path / name).write_text(text + "\n")
    assert here("train", name, "-o", "m", "--task", task, *more, cwd=tmp_path)[:2] == (0, "")
    theirs = load(tmp_path / "m")
    ours = type(theirs)(**theirs.get_params()).partial_fit(X, y, **given)
    assert np.asarray(theirs.coef_).tobytes() == np.asarray(ours.coef_).tobytes()
    code, out, _ = here("predict", "m", name, *(more if "--target" in more else []), cwd=tmp_path)
    assert code == 0
    answers = [[float(v) for v in line.split(",") if v] for line in out.splitlines()]
    expected = ours.predict(X)
    if isinstance(expected, list) and isinstance(expected[0], set):
        assert [set(answer) for answer in answers] == expected
    else:
        np.testing.assert_allclose(np.ravel(answers), np.ravel(expected), rtol=1e-6)
    code, out, _ = here("eval", name, "--task", task, *more, cwd=tmp_path)
    assert code == 0
    assert out.startswith("round")


def test_eval_prints_what_progressive_reports(mail, here):
    stream = list(synthetic_mailbox(1500, 12))
    report = progressive(LabelRanker(update="single"), [x for x, _ in stream], [y for _, y in stream], every=1)
    code, out, _ = here("eval", "mail.jsonl", *RANKING, "--update", "single", "--json", cwd=mail)
    assert code == 0
    assert json.loads(out)["curve"]["error"] == report.curve["error"].tolist()
    code, out, _ = here("eval", "mail.jsonl", "--estimator", "LabelRanker", "--update=single", cwd=mail)
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[1:12]] == [str(2**i) for i in range(11)]
    assert lines[-1].startswith(f"{report.certificate.mistakes} mistakes, at most ")


def test_a_threshold_that_is_not_met(mail, here):
    arguments = ("eval", "mail.jsonl", "--task", "label-ranking")
    assert here(*arguments, "--require", "error<=0.9", cwd=mail)[0] == 0
    code, out, err = here(*arguments, "--require", "error<=0.01", cwd=mail)
    assert code == 5
    assert out.startswith("round")
    assert err.startswith("hinge: error is 0.")
    assert err.endswith(", which is more than 0.01\n")
    assert here(*arguments, "--require", "speed<=1", cwd=mail)[0] == 2


def test_compare_prints_a_row_a_learner(mail, here):
    code, out, _ = here("compare", "mail.jsonl", *RANKING, "--vary", "update=full,single",
                         "--vary", "C=0.01,1", cwd=mail)  # fmt: skip
    assert code == 0
    rows = [line.split() for line in out.splitlines()]
    assert [row[1:3] for row in rows[1:]] == [
        [f"update={u}", f"C={c}"] for u in ("full", "single") for c in ("0.01", "1")
    ]
    stream = list(synthetic_mailbox(1500, 12))
    report = progressive(LabelRanker("single", C=1), [x for x, _ in stream], [y for _, y in stream])
    assert float(rows[4][4]) == pytest.approx(report.totals["error"], abs=1e-4)


def test_inspect_says_what_a_batch_solver_has_proven(tmp_path):
    ranker = PairwiseLabelRanker("lbfgs", alpha=0.1).fit(np.eye(3), [0, 1, 2])
    ranker.save(tmp_path / "pairs.hinge")
    code, out, err = hinge("inspect", "pairs.hinge", "--json", cwd=tmp_path)
    assert code == 0, err
    found = json.loads(out)
    assert (found["objective at least"], found["proven gap"]) == (ranker.lower_bound_, ranker.gap_)


def test_inspect_and_verify(mail, here):
    model = load(mail / "mail.hinge")
    code, out, _ = here("inspect", "mail.hinge", "--json", cwd=mail)
    found = json.loads(out)
    assert (code, found["class"], found["rounds"], found["labels"]) == (0, "LabelRanker", 1500, len(model.classes_))
    assert found["parameters"]["C"] == 0.05
    assert found["mistakes"] == model.certificate_.mistakes
    assert "LabelRanker" in here("inspect", "mail.hinge", cwd=mail)[1]
    code, out, _ = here("verify", "mail.hinge", "mail.hinge", cwd=mail)
    assert code == 0
    assert out.splitlines()[0].startswith("mail.hinge: fine, LabelRanker, ")
    found = json.loads(here("verify", "mail.hinge", "--json", cwd=mail)[1])
    assert (found["model"], found["class"]) == ("mail.hinge", "LabelRanker")


def test_report_is_one_page(mail):
    code, out, _ = hinge("report", "mail.jsonl", *RANKING, "--C", "0.02", "-o", "r.html", cwd=mail)
    assert (code, out) == (0, "r.html\n")
    text = (mail / "r.html").read_text()
    assert "hinge report mail.jsonl --task label-ranking --C 0.02" in text
    for heading in ("What is proven", "How it went", "Data", "Configuration", "Labels", "The worst examples", "Again"):
        assert f"<h2>{heading}</h2>" in text
    assert "hindsight, at least" in text
    assert "<script" not in text
    assert "src=" not in text


def test_convert_and_back(mail, here):
    assert here("convert", "mail.jsonl", "again.jsonl.xz", "--to", "jsonl", cwd=mail)[0] == 0
    again = [json.loads(line) for line in (mail / "again.jsonl.xz").read_text().splitlines()]
    assert [row["x"] for row in again] == [x for x, _ in synthetic_mailbox(1500, 12)]
    code, out, _ = here("convert", "-", "-", "--format", "svmlight", "--to", "vw", cwd=mail, stdin=b"1 2:0.5\n3 1:1\n")
    assert (code, out) == (0, "1 | 1:0.5\n3 | 0:1.0\n")


def test_datasets_lists_what_is_here(tmp_path):
    (tmp_path / "yeast").mkdir()
    code, out, _ = hinge("datasets", HINGE_DATA=str(tmp_path))
    here = {line.split()[0]: line.split()[1] for line in out.splitlines()[1:]}
    assert (code, here["yeast"], here["scene"], here["synthetic_mailbox"]) == (0, "yes", "-", "yes")


def test_parameters_from_a_file_and_flags(tmp_path, here):
    (tmp_path / "p.toml").write_text('update = "single"\nC = 3.0\n')
    (tmp_path / "d.svm").write_text("1 1:1\n2 2:1\n")
    command = ("train", "d.svm", "-o", "m.hinge", "--task", "label-ranking")
    assert here(*command, "--config", "p.toml", "--C", "0.5", "--dtype=float64", cwd=tmp_path)[0] == 0
    params = load(tmp_path / "m.hinge").get_params()
    assert (params["update"], params["C"], params["dtype"]) == ("single", 0.5, "float64")


def test_passes_by_either_name(tmp_path, here):
    (tmp_path / "d.svm").write_text("1 1:1\n2 2:1\n1 1:2 2:1\n")
    command = ("train", "d.svm", "--task", "multiclass", "--force", "-o")
    for name, more in {"a": ["--passes", 4], "b": ["--max-iter", 4], "c": ["--max-iter", 4, "--passes", 4]}.items():
        assert here(*command, name, *more, cwd=tmp_path)[0] == 0
        assert load(tmp_path / name).t_ == 12
    code, _, err = here(*command, "d", "--max-iter", 4, "--passes", 3, cwd=tmp_path)
    assert (code, err.splitlines()[-1]) == (2, "Error: --passes 3 and --max-iter 4 say the same thing twice")
    code, _, err = here(*command, "d", "--rule", "svm", "--passes", 3, cwd=tmp_path)
    assert code == 2
    assert err.endswith("MulticlassClassifier with these parameters needs all rows at once; use --max-iter\n")


def test_passes_and_shuffling_repeat(tmp_path, here):
    rng = np.random.default_rng(0)
    rows = "".join(f"{int(x > 0)} 1:{x!r} 2:{y!r}\n" for x, y in rng.normal(size=(200, 2)).tolist())
    (tmp_path / "d.svm").write_text(rows)
    command = ("train", "d.svm", *RANKING, "--passes", 3, "--shuffle", "--seed", 4)
    for name in ("a", "b"):
        assert here(*command, "-o", name, cwd=tmp_path)[0] == 0
    a, b = load(tmp_path / "a"), load(tmp_path / "b")
    assert a.t_ == 600
    assert a.coef_.tobytes() == b.coef_.tobytes()
    assert here(*command[:-1], 5, "-o", "c", cwd=tmp_path)[0] == 0
    assert load(tmp_path / "c").coef_.tobytes() != a.coef_.tobytes()


# ------------------------------------------------------------------------------------------------ what goes wrong

BAD = b"1 1:1\n2 2:abc\n"
ADVICE = "Mend this line, or leave it out with skip_bad=1 (--skip-bad 1).\n"
GOLDEN = [
    # arguments, standard input, exit code, the end of what is said on stderr
    (["train", "-", "--format", "svmlight", "-o", "m", *RANKING], BAD, 3,
     "hinge: <stdin>:2:5: feature value 'abc' is not a number\n2 2:abc\n    ^\n" + ADVICE),
    (["train", "bad.svm", "-o", "m", *RANKING], b"", 3,
     "hinge: bad.svm:2:5: feature value 'abc' is not a number\n2 2:abc\n    ^\n" + ADVICE),
    (["train", "./bad.svm", "-o", "m", *RANKING], b"", 3,
     "hinge: ./bad.svm:2:5: feature value 'abc' is not a number\n2 2:abc\n    ^\n" + ADVICE),
    (["train", "empty.svm", "-o", "m", *RANKING], b"", 3,
     "hinge: empty.svm: there are no rows to learn from\n"),
    (["train", "nan.csv", "-o", "m", *RANKING], b"", 3,
     "hinge: nan.csv:3:1: Input X contains NaN in row 1, column 0; LabelRanker does not accept missing values: "
     "fill them in or drop the row\n"),
    (["train", "none.svm", "-o", "m", *RANKING], b"", 6, "hinge: none.svm: No such file or directory\n"),
    (["train", "good.svm", "-o", "no/m", *RANKING], b"", 6, "hinge: no/m: No such file or directory\n"),
    (["train", "good.svm", "-o", "good.svm", *RANKING], b"", 2,
     "Error: good.svm exists; --force replaces it\n"),
    (["train", "good.svm", "-o", "m"], b"", 2, "Error: give either --task or --estimator\n"),
    (["train", "good.svm", "-o", "m", "--task", "label-rankin"], b"", 2,
     "Error: there is no task 'label-rankin'; did you mean 'label-ranking'?; the tasks are label-ranking, pairwise, "
     "ordinal, multitask, multiclass, sequence, ranking, bipartite\n"),
    (["train", "good.svm", "-o", "m", *RANKING, "--updat", "full"], b"", 2,
     "Error: LabelRanker has no parameter 'updat'; did you mean 'update'?; it has C, average, dtype, features, "
     "fit_intercept, geometry, margin, max_iter, n_bits, new_labels, r, random_state, shuffle, update\n"),
    (["train", "good.svm", "-o", "m", *RANKING, "--C", "-1"], b"", 2,
     "Error: The 'C' parameter of LabelRanker must be a float in the range (0.0, inf). Got -1 instead.\n"),
    (["train", "good.svm", "-o", "m", "--estimator", "StructuredClassifier"], b"", 2,
     "missing 1 required positional argument: 'oracle'\n"),
    (["train", "good.svm", "-o", "m", "--estimator", "LabelRankr"], b"", 2,
     "Error: this version of hinge has no LabelRankr; did you mean 'LabelRanker'?; it has AllPairsClassifier, "
     "BipartiteRanker, LabelRanker, ListRanker, MMP, MulticlassClassifier, MulticlassPerceptron, MultitaskClassifier, "
     "MultitaskRegressor, OneVsAllClassifier, OrdinalClassifier, OutputCodeClassifier, PRank, PairwiseLabelRanker, "
     "SequenceClassifier, StructuredClassifier, WidrowHoffClassifier\n"),
    (["report", "good.svm", "-o", "good.svm", *RANKING], b"", 2, "Error: good.svm exists; --force replaces it\n"),
    (["predict", "none.hinge", "none.svm", "-o", "good.svm"], b"", 2, "Error: good.svm exists; --force replaces it\n"),
    (["train", "none.svm", "-o", "good.svm", *RANKING], b"", 2, "Error: good.svm exists; --force replaces it\n"),
    (["train", "good.svm", "-o", "m", *RANKING, "--C"], b"", 2, "Error: --C needs a value\n"),
    (["train", "good.txt", "-o", "m", *RANKING], b"", 2,
     "hinge: good.txt: the name does not say what format this is; give one of svmlight, vw, jsonl, csv, tsv, arff, "
     "parquet, mail\n"),
    (["train", "good.svm", "-o", "m", *RANKING, "--resume"], b"", 2,
     "Error: there is no checkpoint m.checkpoint to resume from\n"),
    (["predict", "good.svm", "good.svm"], b"", 4,
     "hinge: not a hinge model file: good.svm: bytes 0 to 7 are 31 20 31 3a 31 0a 32 20, not "
     "89 48 4e 47 0d 0a 1a 0a\n"),
    (["verify", "none.hinge"], b"", 6, "hinge: none.hinge: No such file or directory\n"),
    (["eval", "good.svm", *RANKING, "--require", "error<=-1"], b"", 5, ", which is more than -1\n"),
    (["convert", "good.svm", "x.zip"], b"", 2,
     "Error: x.zip: the name does not say what format to write; give --to\n"),
    (["convert", "text.jsonl", "x.vw"], b"", 3,
     "hinge: text.jsonl: vw has numbers as labels, but there is 'a'; convert to jsonl or csv\n"),
    (["convert", "good.svm", "good.svm"], b"", 2, "Error: good.svm exists; --force replaces it\n"),
]  # fmt: skip


@pytest.fixture
def files(tmp_path):
    (tmp_path / "good.svm").write_bytes(b"1 1:1\n2 2:1\n")
    (tmp_path / "good.txt").write_bytes(b"1 1:1\n2 2:1\n")
    (tmp_path / "bad.svm").write_bytes(BAD)
    (tmp_path / "empty.svm").write_bytes(b"# nothing\n")
    (tmp_path / "nan.csv").write_bytes(b"a,b,y\n1,2,x\n,3,y\n")
    (tmp_path / "text.jsonl").write_bytes(b'{"x": {"w": 1}, "y": "a"}\n')
    return tmp_path


@pytest.mark.parametrize(("arguments", "stdin", "code", "message"), GOLDEN)
def test_every_mistake_has_its_code_and_message(files, arguments, stdin, code, message, here):
    before = sorted(files.iterdir())
    got, out, err = here(*arguments, stdin=stdin, cwd=files)
    assert (got, err[-len(message) :]) == (code, message), err
    assert out == "" or code == 5
    assert sorted(files.iterdir()) == before  # nothing is written


def test_a_damaged_model_is_told_apart(mail, tmp_path, here):
    whole = bytearray((mail / "mail.hinge").read_bytes())
    whole[len(whole) // 2] ^= 1
    (tmp_path / "m.hinge").write_bytes(whole)
    for command in (["verify", "m.hinge"], ["inspect", "m.hinge"], ["predict", "m.hinge", "x.jsonl"]):
        code, out, err = here(*command, cwd=tmp_path)
        assert (code, out) == (4, "")
        assert err.startswith("hinge: m.hinge: damaged model file: section ")


def test_what_is_unexpected_has_code_1(mail):
    break_it = (
        "import hinge.base, hinge.cli, sys; hinge.base.read_model = None; hinge.cli.main(['inspect', 'mail.hinge'])"
    )
    done = subprocess.run([sys.executable, "-c", break_it], capture_output=True, text=True, cwd=mail)
    assert done.returncode == 1
    assert done.stderr.endswith("(TypeError; HINGE_DEBUG=1 shows where)\n")


@pytest.mark.parametrize(
    "arguments", ["convert mail.jsonl - --to jsonl", "predict mail.hinge mail.jsonl --json", "eval mail.jsonl --json"]
)
def test_a_closed_pipe_is_silent(mail, arguments):
    more = RANKING if "eval" in arguments else ()
    command = [sys.executable, "-m", "hinge.cli", *arguments.split(), *more]
    with subprocess.Popen(command, cwd=mail, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout.read(1) == b"{"
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 0


@pytest.mark.parametrize("arguments", [["inspect", "mail.hinge"], ["--help"], ["datasets"]])
def test_a_pipe_that_was_closed_before_is_silent(mail, arguments):
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(
        [sys.executable, "-m", "hinge.cli", *arguments], cwd=mail, stdout=writes, stderr=subprocess.PIPE, check=False
    )
    os.close(writes)
    assert (done.returncode, done.stderr) == (0, b"")


def test_words_of_every_command(tmp_path, here):
    for name in COMMANDS:
        code, out, _ = here(name, "--help", cwd=tmp_path)
        assert code == 0
        assert "Examples:" in out


def test_a_terminal_is_coloured_and_NO_COLOR_is_not(tmp_path):
    def on_a_terminal(**environment):
        to, of = os.openpty()
        command = [sys.executable, "-m", "hinge.cli", "demo", "--messages", "40", "--folders", "2", "--force"]
        known = os.environ | {"TERM": "xterm-256color"} | environment
        try:
            subprocess.run(command, stdout=of, stderr=of, cwd=tmp_path, env=known, check=True, timeout=60)
            return os.read(to, 1 << 20).decode()
        finally:
            os.close(of)
            os.close(to)

    assert "\x1b[1m" in on_a_terminal()
    assert "\x1b[3" not in on_a_terminal(NO_COLOR="1")


def test_progress_is_a_line_now_and_then_where_there_is_no_terminal(mail, tmp_path, here, monkeypatch):
    command = ("train", mail / "mail.jsonl", *RANKING, "--force", "-o", "m")
    assert here(*command, cwd=tmp_path) == (0, "", "")  # it took less than ten seconds
    monkeypatch.setattr("hinge.cli.screen.LINE_EVERY", 0.0)
    code, out, err = here(*command, "--passes", 2, cwd=tmp_path)
    assert (code, out) == (0, "")
    assert err.splitlines()[0] == "learning pass 1: 1500"
    assert err.splitlines()[-1] == "learning pass 2: 3000"
    assert "\x1b" not in err


def test_reproduce_prints_tables(here, tmp_path):
    needs("enron-folders")
    code, out, _ = here("reproduce", "enron", "--users", "sanders-r", cwd=tmp_path)
    assert code == 0
    assert out.startswith("Mistakes in per cent, the paper's in brackets\nuser ")
    assert "\nsanders-r  30 (30)  1188 (1188)" in out
    code, again, _ = here("reproduce", "enron", "--users", "sanders-r", "--json", cwd=tmp_path)
    (table,) = map(json.loads, again.splitlines())
    assert table["rows"][0][0] == "sanders-r"
    assert all(cell in out for row in table["rows"] for cell in row)


def test_reproduce_draws_what_the_paper_draws(here, tmp_path):
    needs("parkinsons")
    needs("abalone")
    few = ["--rows", 60, "--repeat", 1]
    assert here("reproduce", "pril", *few, "-o", "pril.html", cwd=tmp_path)[0] == 0
    text = (tmp_path / "pril.html").read_text()
    assert text.count("<svg") == 1
    assert text.count("<polyline") == 6  # three sets, two types of intervals
    assert "per cent of interval labels" in text
    assert "hinge reproduce pril" in text
    code, out, err = here("reproduce", "pril", *few, "-o", "pril.html", cwd=tmp_path)
    assert (code, out) == (2, "")
    assert err.endswith("pril.html exists; --force replaces it\n")


def test_reproduce_draws_tasks_from_a_file(here, tmp_path):
    lines = [f"{t % 3},{7 + t % 2} {1 + t % 3}:1 {4 + t % 2}:1" for t in range(90)]
    (tmp_path / "topics.svm").write_text("\n".join(lines) + "\n")
    flags = ["--data", "topics.svm", "--only", "['norms', 'updates']", "--rows", 60, "-o", "tasks.html"]
    code, out, _ = here("reproduce", "multitask", *flags, cwd=tmp_path)
    assert code == 0
    assert out.startswith("Infinity-error, %: topics.svm, 60 documents, 5 topics, C = 0.001\nnorm ")
    assert "implicit update leads throughout" in out
    text = (tmp_path / "tasks.html").read_text()
    assert text.count("<svg") == 3  # both errors of the norms, and one of the updates
    assert text.count("<polyline") == 2 + 2 + 6
    assert "hinge reproduce multitask --data=topics.svm" in text


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["enronn"], 2, "there is no experiment 'enronn'; did you mean 'enron'?; there are enron, pril, multitask, "
         "ansgd, ocr, ranking\n"),
        (["ocr", "--fold", "1"], 2, "ocr has no option 'fold'\n"),
        (["ocr", "--folds", "11"], 2, "folds must be 1 to 10, got 11\n"),
        (["ranking", "--only", "mq2007"], 2, "there is no table 'mq2007'; there are mq2008, lambdarank\n"),
        (["ocr"], 6, "ocr-letters/letter.data.xz is not among the data sets in {home}: set HINGE_DATA to a folder "
         "that has it\n"),
    ],
)  # fmt: skip
def test_experiments_that_cannot_be_run(arguments, code, message, here, tmp_path, monkeypatch):
    monkeypatch.setenv("HINGE_DATA", str(tmp_path))
    found, out, err = here("reproduce", *arguments, cwd=tmp_path)
    assert (found, out) == (code, "")
    assert err.endswith(message.format(home=tmp_path)), err


def test_help_is_quick():
    """Processor time, the least of nine: a loaded machine does not stretch it."""
    used = []
    for _ in range(9):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "hinge.cli", "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(used) < 0.15


@pytest.mark.long
def test_more_than_memory_passes_through_a_little_of_it(tmp_path):
    """A gigabyte of text through a process that may hold 512 MB."""
    rng = np.random.default_rng(0)
    rows = [
        f"{label} " + " ".join(f"{j}:{value:.5f}" for j, value in zip(np.sort(columns), rng.random(60), strict=True))
        for label, columns in ((rng.integers(20), rng.choice(50_000, 60, replace=False) + 1) for _ in range(2000))
    ]
    text = ("\n".join(rows) + "\n").encode()
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    command = [sys.executable, "-m", "hinge.cli", "train", "-", "--format", "svmlight", "-o", "m", *RANKING]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE) as running:
        for _ in range(10**9 // len(text) + 1):
            running.stdin.write(text)
        running.stdin.close()
    assert running.returncode == 0
    assert load(tmp_path / "m").t_ * len(text) / 2000 >= 10**9
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # of the largest child so far, in KiB
    assert before < 512 * 1024, "an earlier child held more: this says nothing"
    print(f"peak {peak / 1024:.0f} MiB")
    assert peak < 512 * 1024


@pytest.mark.parametrize(
    ("make", "code", "message"),
    [
        (
            lambda path: path.mkdir(),
            3,
            "hinge: x.svm: no mail is here: an mbox file, a Maildir, or a folder of either is read\n",
        ),
        (lambda path: path.symlink_to("x.svm"), 6, "hinge: x.svm: Too many levels of symbolic links\n"),
        (lambda path: path.write_bytes(b"1 1:1\r\n2 2:1"), 0, ""),  # Windows' ends of lines, and none at the end
        (lambda path: path.write_bytes(b""), 3, "hinge: x.svm: there are no rows to learn from\n"),
        (lambda path: path.write_bytes(b"\xef\xbb\xbf1 1:1\n2 2:1\n"), 0, ""),
        (lambda path: path.write_bytes(b"1 1:1\n\x00\n"), 3, "hinge: x.svm:2:1: label '?' is not a number\n \n^\n"),
        (
            lambda path: path.write_bytes(b"1 1:1\n2 9999999999:1\n"),
            3,
            "x.svm:2:3: feature index '9999999999' is too large\n",
        ),
        (
            lambda path: path.write_bytes(b"1 qid:-7 1:1\n"),
            3,
            "hinge: x.svm:1:7: query '-7' is not a whole number between",
        ),
        (lambda path: path.write_bytes(b"\x1f\x8bnot gzip"), 3, "hinge: x.svm: the compressed file is damaged"),
    ],
)
def test_hostile_files(tmp_path, here, make, code, message):
    make(tmp_path / "x.svm")
    found, out, err = here("train", "x.svm", "-o", "m", *RANKING, cwd=tmp_path)
    assert (found, out) == (code, ""), err
    assert message in err
    assert (tmp_path / "m").exists() == (code == 0)


def test_a_file_that_may_not_be_read(tmp_path, here, monkeypatch):
    """Refused by the system: as root, who may read everything, the refusal is made."""
    (tmp_path / "x.svm").write_bytes(b"1 1:1\n")

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied", "x.svm")

    monkeypatch.setattr("hinge.io.sources.open", refuse, raising=False)
    assert here("train", "x.svm", "-o", "m", *RANKING, cwd=tmp_path) == (6, "", "hinge: x.svm: Permission denied\n")


def test_values_nested_without_end(tmp_path, here):
    (tmp_path / "x.jsonl").write_bytes(b'{"x": {}, "z": ' + b"[" * 1_000_000)
    code, _, err = here("eval", "x.jsonl", *RANKING, cwd=tmp_path)
    assert code == 3
    assert err.startswith("hinge: x.jsonl:1:81: values are nested more than 64 deep\n")
