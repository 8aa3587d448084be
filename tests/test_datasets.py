"""The data sets: generators that follow from their seed, readers on small files, and the published sets as counted."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import tarfile
from collections import Counter
from itertools import islice

import numpy as np
import pytest
from scipy import sparse

from hinge import datasets
from hinge.datasets.__main__ import main as write_csv
from hinge.datasets.enron import read_folders
from hinge.datasets.home import data_file, data_home, read_bytes, read_text


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A data home of the test's own."""
    monkeypatch.setenv("HINGE_DATA", str(tmp_path))
    return tmp_path


def needs(folder):
    """Skip where the folder is not among the data sets; a file that is missing in it is a failure."""
    try:
        present = (data_home() / folder).is_dir()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    if not present:
        pytest.skip(f"the data set {folder} is not in {data_home()}")


# ------------------------------------------------------------------------------------------- the synthetic mailbox


def fingerprint(stream):
    return hashlib.sha256(repr(list(stream)).encode()).hexdigest()[:16]


def test_the_mailbox_follows_from_its_seed():
    assert fingerprint(datasets.synthetic_mailbox(300, seed=5)) == fingerprint(datasets.synthetic_mailbox(300, seed=5))
    assert fingerprint(datasets.synthetic_mailbox(300, seed=5)) != fingerprint(datasets.synthetic_mailbox(300, seed=6))


def test_the_mailbox_is_the_same_on_every_machine():
    assert fingerprint(datasets.synthetic_mailbox(500)) == "03e4e2d010e97f35"


def test_the_mailbox_has_what_was_asked_for():
    stream = list(datasets.synthetic_mailbox(4000, 24))
    sizes = Counter(folder for _, folder in stream)
    assert len(stream) == 4000
    assert len(sizes) == 24
    assert max(sizes.values()) > 5 * min(sizes.values())
    for features, _ in stream:
        assert set(features.values()) == {1.0}
        assert sum(name.startswith("from=") for name in features) == 1


def test_folders_of_the_mailbox_open_as_time_goes_by():
    first: dict[str, int] = {}
    for number, (_, folder) in enumerate(datasets.synthetic_mailbox(4000, 24)):
        first.setdefault(folder, number)
    late = [number for number in first.values() if number >= 800]
    assert len(late) == 10
    assert max(late) < 3300


def test_a_mailbox_of_many_folders_does_not_run_out_of_words():
    folders = {folder for _, folder in datasets.synthetic_mailbox(1000, 150)}
    assert len(folders) > 75


def test_a_mailbox_can_be_small_or_empty():
    assert list(datasets.synthetic_mailbox(0)) == []
    assert len({folder for _, folder in datasets.synthetic_mailbox(50, 2)}) == 2


def test_the_mailbox_is_drawn_as_it_is_read():
    assert len(list(islice(datasets.synthetic_mailbox(10**9), 3))) == 3


def test_the_mailbox_says_what_it_cannot_do():
    with pytest.raises(ValueError, match="n_folders must be at least 2, got 1"):
        datasets.synthetic_mailbox(n_folders=1)
    with pytest.raises(ValueError, match="n_messages must not be negative, got -1"):
        datasets.synthetic_mailbox(-1)


# ----------------------------------------------------------------------------------------------- synthetic classes


def test_the_ordinal_stream_follows_from_its_seed():
    X, y = datasets.synthetic_ordinal(500, seed=2)
    again = datasets.synthetic_ordinal(500, seed=2)
    np.testing.assert_array_equal(X, again.X)
    np.testing.assert_array_equal(y, again.y)
    assert not np.array_equal(X, datasets.synthetic_ordinal(500, seed=3).X)


def test_the_ordinal_classes_are_regions_between_hyperbolas():
    X, y = datasets.synthetic_ordinal(20_000, seed=0)
    score = 10 * (X[:, 0] - 0.5) * (X[:, 1] - 0.5)
    lower = np.array([-np.inf, -1, -0.1, 0.25, 1])
    exact = (score[:, None] > lower).sum(axis=1)
    assert 0.8 < (exact == y).mean() < 0.95
    assert (abs(exact - y) <= 2).all()


@pytest.mark.parametrize("kind", [1, 2])
def test_interval_labels_contain_the_exact_ones(kind):
    y = np.random.default_rng(0).integers(1, 6, 1000)
    intervals = datasets.interval_labels(y, 5, kind=kind, fraction=0.75, seed=1)
    low, high = intervals.T
    assert (low >= 1).all()
    assert (high <= 5).all()
    assert ((low <= y) & (y <= high)).all()
    assert (low < high).sum() == 750
    inner = (y > 1) & (y < 5) & (low < high)
    assert (high - low)[inner].tolist() == [kind] * inner.sum()
    assert ((high - low)[(y == 1) | (y == 5)] <= 1).all()
    np.testing.assert_array_equal(intervals, datasets.interval_labels(y, 5, kind=kind, fraction=0.75, seed=1))


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"y": [1, 6]}, r"row 1: class 6 is not in 1\.\.5"),
        ({"y": [0]}, r"row 0: class 0 is not in 1\.\.5"),
        ({"kind": 3}, "kind must be 1 or 2, got 3"),
        ({"fraction": 1.5}, r"fraction must lie in \[0, 1\], got 1.5"),
        ({"n_classes": 1}, "n_classes must be at least 2, got 1"),
    ],
)
def test_interval_labels_say_what_is_wrong(arguments, why):
    with pytest.raises(ValueError, match=why):
        datasets.interval_labels(**({"y": [1, 2], "n_classes": 5} | arguments))


# ------------------------------------------------------------------------------------------------ files and readers


@pytest.mark.parametrize("kind", [None, 1, 2])
def test_the_ordinal_stream_is_written_as_it_is(kind, capsys):
    flags = [] if kind is None else ["--intervals", str(kind), "--share", "0.4"]
    write_csv(["synthetic", "--rows", "200", "--seed", "3", *flags])
    header, *rows = capsys.readouterr().out.splitlines()
    X, y = datasets.synthetic_ordinal(200, seed=3)
    targets = y[:, None] if kind is None else datasets.interval_labels(y, 5, kind, 0.4, seed=1003)
    assert header == ("x1,x2,y" if kind is None else "x1,x2,low,high")
    np.testing.assert_array_equal([list(map(float, row.split(","))) for row in rows], np.column_stack([X, targets]))


def test_what_cannot_be_written_is_told():
    with pytest.raises(SystemExit, match=r"hinge.datasets: fraction must lie in \[0, 1\], got 7.0"):
        write_csv(["synthetic", "--intervals", "1", "--share", "7"])


@pytest.mark.parametrize(("name", "n", "d", "K"), [("parkinsons", 5875, 20, 10), ("abalone", 4177, 8, 4)])
def test_ordinal_sets_are_written(name, n, d, K, capsys):
    needs(name)
    write_csv([name, "--intervals", "2", "--share", "1"])
    header, *rows = capsys.readouterr().out.splitlines()
    assert header == ",".join([*(f"x{j}" for j in range(1, d + 1)), "low", "high"])
    ends = np.array([row.split(",")[d:] for row in rows], dtype=int)
    assert (len(rows), ends.min(), ends.max()) == (n, 1, K)
    assert set((ends[:, 1] - ends[:, 0]).tolist()) == {1, 2}


def test_the_data_home_is_the_one_that_is_named(home, monkeypatch):
    assert data_home() == home
    with pytest.raises(FileNotFoundError, match=r"a9a/a9a.xz is not among the data sets .*: set HINGE_DATA"):
        datasets.load_a9a()
    monkeypatch.setenv("HINGE_DATA", str(home / "missing"))
    with pytest.raises(FileNotFoundError, match=r"HINGE_DATA is '.*missing', which is not a folder"):
        data_home()


@pytest.mark.parametrize(
    ("suffix", "pack"), [("", bytes), (".xz", lzma.compress), (".gz", gzip.compress), (".bz2", bz2.compress)]
)
def test_files_are_decompressed(home, suffix, pack):
    (home / f"text{suffix}").write_bytes(pack("grün".encode()))
    (home / f"old{suffix}").write_bytes(pack("grün".encode("latin-1")))
    assert read_bytes(data_file(f"text{suffix}")) == "grün".encode()
    assert read_text(home / f"text{suffix}") == read_text(home / f"old{suffix}") == "grün"


def test_mulan_files_are_features_and_labels(tmp_path):
    arff, xml = tmp_path / "a.arff", tmp_path / "a.xml"
    arff.write_text(
        "@relation r\n@attribute x {0,1}\n@attribute A {0,1}\n@attribute z numeric\n@attribute B {0,1}\n"
        "@data\n{0 1, 3 1}\n{1 1,2 0.5,3 1}\n{}\n"
    )
    xml.write_text(
        '<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels">'
        '<label name="B"/><label name="A"/></labels>'
    )
    X, Y, features, labels = datasets.read_mulan(arff, xml)
    assert (features, labels) == (["x", "z"], ["A", "B"])
    np.testing.assert_array_equal(X.toarray(), [[1, 0], [0, 0.5], [0, 0]])
    np.testing.assert_array_equal(Y.toarray(), [[0, 1], [1, 1], [0, 0]])
    xml.write_text('<labels><label name="C"/></labels>')
    with pytest.raises(ValueError, match=r"a\.xml names the label 'C', which no attribute is called"):
        datasets.read_mulan(arff, xml)


# ---------------------------------------------------------------------------------------------- mail, invented here

LETTER = """From MAILER-DAEMON Thu Jan  1 00:00:00 1970
Date: {date}
From: {sender}
Subject: {subject}
X-Folder: \\somewhere\\givenaway
Content-Type: {kind}; charset=utf-8

{body}

"""


def letter(date, body, subject="Plan", sender="ada@example.org", kind="text/plain"):
    return LETTER.format(date=date, body=body, subject=subject, sender=sender, kind=kind)


@pytest.fixture
def mail(home):
    """A user's archive with three folders, in a data home of its own."""
    folders = {
        "teas": letter("Mon, 1 Jan 2001 12:00:00 +0000", "oolong") + letter("Mon, 1 Jan 2001 09:00:00 +0000", "assam"),
        "ships": letter("Mon, 1 Jan 2001 06:00:00 -0500", "a <b>brig</b>", kind="text/html")
        + letter("no date at all", "sloop", subject="=?utf-8?q?Caf=C3=A9_plan?="),
        "one": letter("Mon, 1 Jan 2001 00:00:00 +0000", "alone"),
    }
    (home / "enron-folders").mkdir()
    with tarfile.open(home / "enron-folders" / "beck-s.tar.xz", "w:xz") as archive:
        for name, text in folders.items():
            member = tarfile.TarInfo(f"beck-s/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return home


def words_of(mail, row):
    return {mail.feature_names[column] for column in mail.X[row].indices}


def test_mail_comes_in_order_of_time(mail):
    loaded = datasets.load_enron("beck-s", min_messages=2)
    assert loaded.y.tolist() == ["teas", "ships", "ships", "teas"]
    assert words_of(loaded, 0) == {"plan", "assam"}
    assert words_of(loaded, 1) == {"plan", "brig"}
    assert words_of(loaded, 2) == {"plan", "caf", "sloop"}
    assert loaded.X.dtype == np.float32
    assert (loaded.X.data == 1).all()
    assert loaded.feature_names[:2] == ["assam", "plan"]


def test_folders_of_any_size_can_be_kept(mail):
    loaded = datasets.load_enron("beck-s", min_messages=1, fields=["From", "body"], prefix=True)
    assert loaded.y[0] == "one"
    assert words_of(loaded, 0) == {"from:ada", "from:example", "from:org", "body:alone"}


def test_headers_that_name_the_folder_are_no_fields(mail):
    loaded = datasets.load_enron("beck-s", fields=["subject", "body", "from"], min_messages=1)
    assert "givenaway" not in loaded.feature_names
    with pytest.raises(ValueError, match="the header 'x-folder' names the folder"):
        datasets.load_enron("beck-s", fields=["X-Folder"])
    with pytest.raises(ValueError, match="fields must name at least one"):
        datasets.load_enron("beck-s", fields=[])
    with pytest.raises(ValueError, match="unknown user 'nobody'; the users are beck-s, farmer-d"):
        datasets.load_enron("nobody")


# ---------------------------------------------------------------------------------------------- the published sets


@pytest.mark.parametrize(
    ("name", "part", "n", "d", "k", "cardinality"),
    [
        ("corel5k", "all", 5000, 499, 374, 3.5220),
        ("corel5k", "train", 4500, 499, 374, None),
        ("corel5k", "test", 500, 499, 374, None),
        ("bibtex", "all", 7395, 1836, 159, 2.4019),
        ("tmc2007-500", "all", 28596, 500, 22, 2.1579),
        ("delicious", "all", 16105, 500, 983, 19.0200),
        ("emotions", "all", 593, 72, 6, 1.8685),
        ("scene", "train", 1211, 294, 6, 1.0619),
        ("scene", "test", 1196, 294, 6, 1.0861),
        ("scene", "all", 2407, 294, 6, None),
        ("yeast", "all", 2417, 103, 14, 4.2371),
        ("medical", "all", 978, 1449, 45, 1.2454),
        ("enron", "all", 1702, 1001, 53, 3.3784),
    ],
)
def test_mulan_sets(name, part, n, d, k, cardinality):
    needs("enron-multilabel" if name == "enron" else name)
    X, Y, features, labels = datasets.load_mulan(name, part)
    assert (X.shape, Y.shape) == ((n, d), (n, k))
    assert (len(features), len(labels)) == (d, k)
    assert set(Y.data) == {1}
    if cardinality is not None:
        assert Y.sum() / n == pytest.approx(cardinality, abs=5e-5)


def test_mulan_names_are_checked():
    with pytest.raises(ValueError, match="unknown data set 'mediamill'; the names are bibtex, corel5k"):
        datasets.load_mulan("mediamill")
    with pytest.raises(ValueError, match="yeast has no part 'test'; it has all"):
        datasets.load_mulan("yeast", "test")


@pytest.mark.parametrize(
    ("subset", "d", "as_distributed", "repaired"),
    [
        (1, 47236, 2.8797, 2.8950),
        (2, 47236, 2.6342, 2.8905),
        (3, 47236, 2.6142, 2.9047),
        (4, 47229, 2.4837, 2.9078),
        (5, 47235, 2.6415, 2.9053),
    ],
)
def test_rcv1_subsets(subset, d, as_distributed, repaired):
    needs("rcv1v2-subsets")
    raw = datasets.load_rcv1_subset(subset, repaired=False)
    assert (raw.X.shape, raw.Y.shape) == ((6000, d), (6000, 101))
    assert raw.Y.sum() / 6000 == pytest.approx(as_distributed, abs=5e-5)
    X, Y, _, _ = datasets.load_rcv1_subset(subset)
    assert Y.sum() / 6000 == pytest.approx(repaired, abs=5e-5)
    np.testing.assert_allclose(sparse.linalg.norm(X, axis=1), 1, atol=3e-6)
    assert (Y.sum(axis=0) > 0).all()
    halves = [np.asarray(half.sum(axis=0)).ravel() for half in (Y[:3000], Y[3000:])]
    assert np.corrcoef(halves)[0, 1] > 0.9965


def test_rcv1_subsets_are_five():
    with pytest.raises(ValueError, match="subset must be 1, 2, 3, 4 or 5, got 6"):
        datasets.load_rcv1_subset(6)


def test_reuters_k500():
    needs("reuters-k500")
    X, Y, _, _ = datasets.load_reuters_k500()
    assert (X.shape, Y.shape) == ((6000, 500), (6000, 103))
    assert np.count_nonzero(Y.sum(axis=0)) == 99
    assert Y.sum() / 6000 == pytest.approx(1.4622, abs=5e-5)


def test_reuters_documents_are_words_and_topics(home):
    """Markup of our own: a document without a topic, an entity, two topics, a file out of its place in the archive."""
    files = {
        "b.sgm": "<REUTERS><TOPICS><D>tea</D></TOPICS><TEXT><BODY>Tea, TEA x tea&#3;</BODY></TEXT></REUTERS>\n",
        "a.sgm": "<REUTERS><TOPICS></TOPICS><TITLE>nothing</TITLE></REUTERS>\n<REUTERS><TOPICS><D>ship</D><D>tea</D>"
        "</TOPICS><PLACES><D>peru</D></PLACES><TITLE>a brig&lt;two></TITLE><BODY>of\ntea</BODY></REUTERS>",
        "topics.txt": "<REUTERS><TOPICS><D>list</D></TOPICS></REUTERS>",
    }
    (home / "reuters21578").mkdir()
    with tarfile.open(home / "reuters21578" / "reuters21578.tar.xz", "w:xz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    X, Y, words, topics = datasets.load_reuters21578()
    assert (words, topics) == (["brig", "two", "of", "tea"], ["tea", "ship"])
    np.testing.assert_array_equal(X.toarray(), [[1, 1, 1, 1], [0, 0, 0, 2]])
    np.testing.assert_array_equal(Y.toarray(), [[1, 1], [1, 0]])
    assert (X.dtype, Y.dtype) == (np.float32, np.int8)


def test_reuters21578():
    needs("reuters21578")
    X, Y, words, topics = datasets.load_reuters21578()
    assert (X.shape, Y.shape) == ((11367, len(words)), (11367, 120))
    assert (len(words), len(set(words)), len(set(topics))) == (30032, 30032, 120)
    sizes = np.asarray(Y.sum(axis=0)).ravel()
    assert dict(zip(topics[:5], sizes.tolist(), strict=False)) == {
        "earn": 3987, "acq": 2448, "money-fx": 801, "crude": 634, "grain": 628,
    }  # fmt: skip
    assert (np.diff(sizes) <= 0).all()
    assert X.has_sorted_indices


def test_newsgroups20():
    needs("newsgroups20-multilabel")
    X, Y, _, _ = datasets.load_newsgroups20()
    assert (X.shape, Y.shape) == ((19300, 1006), (19300, 20))
    assert Y.sum() / 19300 == pytest.approx(1.0289, abs=5e-5)


@pytest.mark.parametrize(
    ("user", "staged", "kept"),
    [
        ("beck-s", (124, 2005), (101, 1971)),
        ("farmer-d", (28, 3677), (25, 3672)),
        ("kaminski-v", (44, 4480), (41, 4477)),
        ("kitchen-l", (50, 3937), (46, 3931)),
        ("lokay-m", (12, 2494), (11, 2493)),
        ("sanders-r", (31, 1190), (30, 1188)),
        ("williams-w3", (20, 2771), (18, 2769)),
    ],
)
def test_enron_folders(user, staged, kept):
    needs("enron-folders")
    sizes = [len(messages) for messages in read_folders(user).values()]
    assert (len(sizes), sum(sizes)) == staged
    kept_sizes = [size for size in sizes if size >= 3]
    assert (len(kept_sizes), sum(kept_sizes)) == kept


def test_enron_mail_as_a_stream():
    needs("enron-folders")
    X, y, words = datasets.load_enron("sanders-r")
    assert X.shape == (1188, len(words))
    assert len(set(y)) == 30
    assert len(set(words)) == len(words)
    assert (X.data == 1).all()
    assert X.has_sorted_indices


def test_parkinsons():
    needs("parkinsons")
    X, y = datasets.load_parkinsons()
    assert X.shape == (5875, 20)
    assert set(y) <= set(range(1, 11))
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(X.std(axis=0), 1)
    assert len(np.unique(datasets.load_parkinsons(standardise=False).X[:, 0])) == 42
    assert datasets.load_parkinsons(n_classes=5, subject=False).X.shape == (5875, 19)


def test_abalone():
    needs("abalone")
    X, y = datasets.load_abalone()
    assert X.shape == (4177, 8)
    assert set(X[:, 0]) == {-1, 0, 1}
    assert set(y) == {1, 2, 3, 4}


@pytest.mark.parametrize(
    ("name", "train", "test", "classes"),
    [("pyrim10", (50, 26), (24, 26), 10), ("tae", (113, 54), (38, 54), 3), ("pasture", (27, 25), (9, 25), 3)],
)
def test_orca_sets_with_a_test_part(name, train, test, classes):
    needs("orca-ordinal")
    parts = datasets.load_orca(name)
    assert (parts.train.X.shape, parts.test.X.shape) == (train, test)
    assert set(parts.train.y) == set(range(1, classes + 1))


@pytest.mark.parametrize(("name", "n"), [("era", 1000), ("esl", 488)])
def test_orca_sets_in_one_piece(name, n):
    needs("orca-ordinal")
    X, y = datasets.load_orca(name)
    assert X.shape == (n, 4)
    assert set(y) == set(range(1, 10))


def test_orca_names_are_checked():
    with pytest.raises(ValueError, match="unknown data set 'lev'; the names are pyrim10, tae"):
        datasets.load_orca("lev")


def test_ocr_letters():
    needs("ocr-letters")
    X, y, fold = datasets.load_ocr_letters()
    assert len(X) == len(y) == len(fold) == 6877
    assert sum(map(len, X)) == sum(map(len, y)) == 52152
    assert all(pixels.shape == (len(letters), 128) for pixels, letters in zip(X, y, strict=True))
    assert len(set(np.concatenate(y))) == 26
    assert len(set(fold)) == 10
    assert set(np.unique(X[0])) == {0, 1}


def test_mq2008():
    needs("mq2008")
    first = datasets.load_mq2008()
    queries = [len(set(part.qid)) for part in first]
    assert queries == [157 * 3, 157, 156]
    assert sum(len(part.y) for part in first) == 15211
    assert {label for part in first for label in part.y} == {0, 1, 2}
    assert all(part.X.shape == (len(part.y), 46) for part in first)
    second = datasets.load_mq2008(2)
    np.testing.assert_array_equal(second.validation.X, first.test.X)
    np.testing.assert_array_equal(second.test.X, first.train.X[: len(second.test.y)])
    with pytest.raises(ValueError, match="fold must be 1, 2, 3, 4 or 5, got 0"):
        datasets.load_mq2008(0)


@pytest.mark.parametrize(("part", "n", "queries"), [("train", 3005, 201), ("test", 768, 50)])
def test_lambdarank(part, n, queries):
    needs("lambdarank")
    X, y, qid = datasets.load_lambdarank(part)
    assert X.shape == (n, 300)
    assert y.shape == qid.shape == (n,)
    assert (len(set(qid)), set(y)) == (queries, {0, 1, 2, 3, 4})


def test_a9a():
    needs("a9a")
    train, test = datasets.load_a9a()
    assert (train.X.shape, test.X.shape) == ((32561, 123), (16281, 123))
    assert set(train.y) == {-1, 1}
    assert ((train.y == 1).sum(), (test.y == 1).sum()) == (7841, 3846)


def test_letter_recognition():
    needs("letter-recognition")
    X, y = datasets.load_letter_recognition()
    assert X.shape == (20000, 16)
    assert len(set(y)) == 26


def test_usps():
    needs("usps")
    train, test = datasets.load_usps()
    assert (train.X.shape, test.X.shape) == ((7291, 256), (2007, 256))
    assert abs(train.X).max() == 1
    assert set(train.y) == set(test.y) == set(range(10))


def test_mnist_test_images():
    needs("mnist")
    X, y = datasets.load_mnist_test()
    assert X.shape == (10000, 784)
    assert np.bincount(y).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
