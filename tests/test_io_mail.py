"""Mail, held against the standard library's own reading: generated mailboxes and the published ones."""

import contextlib
import email
import email.policy
import mailbox
import os
import re
import tarfile
from collections import Counter
from datetime import datetime, timedelta, timezone
from email.message import EmailMessage
from email.utils import format_datetime

import pytest

from hinge.datasets import ENRON_USERS, load_enron
from hinge.datasets.home import data_home
from hinge.io import DataError, read, stream
from test_datasets import needs
from test_io import generators


def letter(subject, body, day, **headers):
    message = EmailMessage()
    message["From"], message["Subject"] = "ann@example.org", subject
    message["Date"] = f"Mon, {day:02} Jan 2024 10:00:00 +0000"
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    message.set_content(body)
    return message


def test_a_folder_of_mbox_files(tmp_path):
    for name, subjects in {"work": ["plan", "budget"], "home": ["dinner"]}.items():
        box = mailbox.mbox(tmp_path / name)
        for i, subject in enumerate(subjects):
            box.add(letter(subject, f"about {subject}", 2 * i + len(name), X_Folder="giveaway"))
        box.close()
    (tmp_path / "work.msf").write_text("an index")
    got = read(tmp_path)
    assert got.y.tolist() == ["home", "work", "work"]  # the first two at the same instant
    assert set(got.dicts()[1]) >= {"subject:plan", "body:about", "body:plan", "from:ann"}
    assert not any("giveaway" in name for name in got.feature_names)
    assert read(tmp_path, min_messages=2).y.tolist() == ["work", "work"]
    assert read(tmp_path / "home").y.tolist() == ["home"]
    with pytest.raises(ValueError, match="the header 'x-folder' names the folder"):
        read(tmp_path, fields=["X-Folder"])


def test_maildirs_and_their_folders(tmp_path):
    root = mailbox.Maildir(tmp_path / "Mail")
    root.add(letter("first", "a b", 1))
    root.add_folder("archive").add(letter("second", "c d", 2))
    got = read(tmp_path / "Mail")
    assert got.y.tolist() == ["Mail", "archive"]
    assert [len(part) for part in stream(tmp_path / "Mail")] == [2]


def test_labels_in_a_header_are_sets(tmp_path):
    box = mailbox.mbox(tmp_path / "all.mbox")
    box.add(letter("one", "x", 2, X_Gmail_Labels="Inbox,Trip plans"))
    box.add(letter("two", "y", 1, X_Gmail_Labels="=?UTF-8?Q?Gr=C3=BCn?="))
    box.add(letter("three", "z", 3))
    box.close()
    got = read(tmp_path / "all.mbox")
    assert got.y == [{"Grün"}, {"Inbox", "Trip plans"}, set()]


@pytest.mark.parametrize(
    ("charset", "raw", "words"),
    [
        ("us-ascii", "gelöst".encode("latin-1"), ["gelöst"]),  # 8 bits where 7 were promised
        ("utf-8", "größe \xff".encode("latin-1") + "größe".encode(), ["gr", "größe"]),  # some of it is damaged
        ("no-such-charset", b"plain", ["plain"]),
    ],
)
def test_texts_that_are_not_what_they_say(tmp_path, charset, raw, words):
    head = f"From ann\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"
    (tmp_path / "a.mbox").write_bytes(head.encode() + raw + b"\n")
    assert read(tmp_path / "a.mbox", fields=["body"], prefix=False, token=r"\w{2,}").feature_names == words


def test_what_is_no_mail(tmp_path):
    (tmp_path / "a.mbox").write_text("hello\n")
    with pytest.raises(DataError, match="this is no mbox file"):
        read(tmp_path / "a.mbox")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no mail is here"):
        read(tmp_path / "empty")


WORD = re.compile("[a-z0-9]{2,}")


def written(rng, tmp_path):
    """A folder of mail in several formats, languages and encodings; returns each message with its folder."""
    out = []
    for number in range(int(rng.integers(1, 3))):
        folder = f"f{number}"
        is_maildir = bool(rng.random() < 0.5)
        box = (mailbox.Maildir if is_maildir else mailbox.mbox)(tmp_path / folder)
        for _ in range(int(rng.integers(0, 4))):
            box.add(drawn(rng))
        box.flush()
        kept = [box.get_bytes(key) for key in sorted(box.keys())]
        out += [(folder, email.message_from_bytes(raw, policy=email.policy.default)) for raw in kept]
        box.close()
    return out


def drawn(rng):
    """A message: words of several alphabets, as text, HTML or both, in some transfer encoding, at any hour."""
    words = lambda n: " ".join(rng.choice(["plan", "Größe", "naïve", "From", "x1", "日本", "a"], n).tolist())  # noqa: E731
    message = EmailMessage()
    message["From"] = f'"{words(2)}" <{rng.choice(["ann", "bob"])}@example.org>'
    message["Subject"] = words(int(rng.integers(1, 12)))
    zone = timezone(timedelta(hours=int(rng.integers(-9, 10))))
    message["Date"] = format_datetime(datetime(2024, 1, 1, tzinfo=zone) + timedelta(minutes=int(rng.integers(5000))))
    message["X-Folder"] = "giveaway"
    charset = str(rng.choice(["utf-8", "utf-16"]))
    text = f"{words(9)}\nFrom here on {words(5)}\n"
    how = rng.integers(3)
    if how == 0:
        message.set_content(text, charset=charset, cte=str(rng.choice(["base64", "quoted-printable"])))
    else:
        message.set_content(text)
    if how == 2:
        message.add_alternative(f"<p class='hidden'>{words(4)}<br>{words(3)}</p>", subtype="html")
        message.add_attachment(b"\x00not words", maintype="application", subtype="octet-stream")
    return message


def words_of(message):
    """The words of a message as the standard library's newer interface decodes them."""
    parts = [part for part in message.walk() if part.get_content_maintype() == "text"]
    texts = [
        re.sub("<[^>]*>", " ", part.get_content()) if part.get_content_subtype() == "html" else part.get_content()
        for part in parts
    ]
    fields = {"from": str(message["from"]), "subject": str(message["subject"]), "body": " ".join(texts)}
    return {f"{field}:{word}" for field, text in fields.items() for word in WORD.findall(text.lower())}


def test_generated_mail_is_what_the_standard_library_reads(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)  # the library flushes each message to the disk
    for number, rng in enumerate(generators()):
        folder = tmp_path / str(number)
        folder.mkdir()
        filed = written(rng, folder)
        filed.sort(key=lambda one: one[1]["date"].datetime.timestamp())
        if not filed:
            continue
        got = read(folder)
        assert got.y.tolist() == [folder for folder, _ in filed]
        assert [set(row) for row in got.dicts()] == [words_of(message) for _, message in filed]


@pytest.mark.parametrize(
    "user", ["sanders-r", *(pytest.param(u, marks=pytest.mark.long) for u in ENRON_USERS if u != "sanders-r")]
)
def test_published_mail_is_what_the_standard_library_reads(tmp_path, user):
    needs("enron-folders")
    with tarfile.open(data_home() / "enron-folders" / f"{user}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    expected = []
    for path in sorted(folder.iterdir()):
        with contextlib.closing(mailbox.mbox(path, create=False)) as box:
            for message in box:
                body = message.get_payload(decode=True).decode("latin-1")  # it has one part, in ASCII
                expected.append((path.name, frozenset(WORD.findall(body.lower()))))
    got = read(folder, fields=["body"], prefix=False)
    assert Counter(expected) == Counter(zip(got.y.tolist(), map(frozenset, got.dicts()), strict=True))


@pytest.mark.parametrize("user", ENRON_USERS[:1])
def test_enron_folders_are_read_as_any_others(tmp_path, user):

    needs("enron-folders")
    with tarfile.open(data_home() / "enron-folders" / f"{user}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    got = read(folder, fields=["subject", "body"], prefix=False, min_messages=3)
    theirs = load_enron(user)
    assert got.X.shape[0] == theirs.X.shape[0]
    assert sorted(got.y.tolist()) == sorted(theirs.y.tolist())
