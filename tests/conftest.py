"""What tests of the command share: the command in this process, and a folder with mail and a model of it."""

import io
import json
import sys

import pytest

from command import RANKING, hinge
from hinge.cli.app import run
from hinge.datasets import synthetic_mailbox


@pytest.fixture
def here(monkeypatch, capfd):
    """Run the command in this process, which is quicker; as `hinge` does, with a folder to stand in."""

    def run_here(*arguments, cwd, stdin=b""):
        monkeypatch.chdir(cwd)
        source = io.BytesIO(stdin) if isinstance(stdin, bytes) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(source))
        code = run(list(map(str, arguments)))
        sys.stdout.flush()
        out, err = capfd.readouterr()
        return code, out, err

    return run_here


@pytest.fixture(scope="session")
def mail(tmp_path_factory):
    """A folder with mail.jsonl, of 1500 messages in 12 folders, and mail.hinge, a model of it."""
    folder = tmp_path_factory.mktemp("mail")
    with open(folder / "mail.jsonl", "w") as file:
        for x, y in synthetic_mailbox(1500, 12):
            file.write(json.dumps({"x": x, "y": y}) + "\n")
    code, out, err = hinge("train", "mail.jsonl", "-o", "mail.hinge", *RANKING, "--C", "0.05", cwd=folder)
    assert (code, out) == (0, ""), err
    return folder
