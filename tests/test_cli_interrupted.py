"""`hinge train` interrupted: a checkpoint is written, and the run that goes on from it ends with the same bits."""

import functools
import os
import shlex
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from command import RANKING
from hinge import LabelRanker, load
from hinge.cli import feeding
from test_cli import task_files

# the command, on small blocks, interrupted after the second
INTERRUPTED = """
import functools, os, signal
from hinge.cli import feeding, main
learned, learn = [], feeding.learn

def once_more(*arguments):
    learn(*arguments)
    learned.append(1)
    if len(learned) == 2:
        os.kill(os.getpid(), signal.SIGINT)

feeding.learn, feeding.ROWS = once_more, 300
feeding.stream = functools.partial(feeding.stream, block=100_000)
main()
"""


@pytest.mark.parametrize(
    "more", [["--features", "hashed"], ["--geometry", "entropic", "--passes", "2", "--shuffle", "--seed", "3"]]
)
def test_an_interrupted_run_goes_on_to_the_same_bits(mail, tmp_path, more, here):
    (tmp_path / "mail.jsonl").write_bytes((mail / "mail.jsonl").read_bytes())
    command = ["train", "mail.jsonl", *RANKING, "--C", "0.1", *more]
    assert here(*command, "-o", "whole.hinge", cwd=tmp_path)[0] == 0
    stopped = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *command, "-o", "m.hinge"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (stopped.returncode, stopped.stdout) == (130, "")
    said, again = stopped.stderr.splitlines()[-2:]
    rows = load(tmp_path / "m.hinge.checkpoint").t_
    assert 0 < rows < 1500
    assert said == f"interrupted after {rows} rows; the checkpoint is m.hinge.checkpoint. To go on:"
    assert again == f"hinge {' '.join(command)} -o m.hinge --resume"
    assert not (tmp_path / "m.hinge").exists()
    code, _, err = here(*command, "-o", "m.hinge", cwd=tmp_path)
    assert code == 2
    assert "m.hinge.checkpoint exists: --resume goes on from it, --force starts anew" in err
    code, _, err = here(*command, "-o", "m.hinge", "--resume", "--margin", "0.2", cwd=tmp_path)
    assert code == 2
    assert "m.hinge.checkpoint belongs to a run with other data or parameters" in err
    code, _, err = here(*again.split()[1:], cwd=tmp_path)
    assert code == 0, err
    assert (tmp_path / "m.hinge").read_bytes() == (tmp_path / "whole.hinge").read_bytes()
    assert not (tmp_path / "m.hinge.checkpoint").exists()


@pytest.mark.parametrize("passes", [[], ["--passes", "3", "--shuffle", "--seed", "7"]], ids=["one pass", "shuffled"])
@pytest.mark.parametrize("task", task_files())
@pytest.mark.filterwarnings("ignore")
def test_every_task_goes_on_to_the_same_bits(task, passes, tmp_path, here, monkeypatch):
    name, text, more, *_ = task_files()[task]
    (tmp_path / name).write_text(text + "\n")
    monkeypatch.setattr(feeding, "ROWS", 25)
    monkeypatch.setattr(feeding, "stream", functools.partial(feeding.stream, block=700))
    command = ["train", name, "--task", task, *more, *passes]
    if task == "sequence" and passes:
        command.remove("--shuffle")  # its rows are the letters of a word
    assert here(*command, "-o", "whole", cwd=tmp_path)[0] == 0
    learn, blocks = feeding.learn, []

    def stop_after(count, *arguments):
        learn(*arguments)
        blocks.append(1)
        if len(blocks) == count:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(feeding, "learn", functools.partial(stop_after, 2))
    monkeypatch.setattr(sys, "argv", ["hinge", *command, "-o", "m"])
    code, out, err = here(*command, "-o", "m", cwd=tmp_path)
    assert (code, out) == (130, "")
    assert not (tmp_path / "m").exists()
    monkeypatch.setattr(feeding, "learn", functools.partial(stop_after, 5))  # and once more on the way
    code, _, err = here(*shlex.split(err.splitlines()[-1])[1:], cwd=tmp_path)
    assert code in (0, 130)
    if code == 130:
        monkeypatch.setattr(feeding, "learn", learn)
        assert here(*shlex.split(err.splitlines()[-1])[1:], cwd=tmp_path)[0] == 0
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "m", "whole"])


@pytest.mark.parametrize("rows", [0, 400])
def test_a_pipe_that_says_nothing_more_can_be_left(rows, tmp_path, here, monkeypatch):
    command = ["train", "-", "--format", "svmlight", "-o", "m", *RANKING]
    monkeypatch.setattr(feeding, "stream", functools.partial(feeding.stream, block=100))
    monkeypatch.setattr(sys, "argv", ["hinge", *command])
    ahead = feeding.ahead

    def and_then_a_signal(*arguments):
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        return ahead(*arguments)

    monkeypatch.setattr(feeding, "ahead", and_then_a_signal)
    reads, writes = os.pipe()
    os.write(writes, b"1 1:1\n2 2:1\n" * (rows // 2))
    try:
        with open(reads, "rb") as source:
            code, out, err = here(*command, cwd=tmp_path, stdin=source)
    finally:
        os.close(writes)
    assert (code, out) == (130, "")
    if not rows:
        assert err == "hinge: interrupted; nothing was written\n"
        assert not list(tmp_path.iterdir())
        return
    monkeypatch.setattr(feeding, "ahead", ahead)
    first, again = err.splitlines()
    assert first.endswith("the checkpoint is m.checkpoint. To go on, with the same standard input:")
    assert here(*again.split()[1:], cwd=tmp_path, stdin=b"1 1:1\n2 2:1\n" * 200)[0] == 0
    once = LabelRanker().partial_fit(np.tile(np.eye(2), (200, 1)), [1, 2] * 200)
    assert load(tmp_path / "m").coef_.tobytes() == once.coef_.tobytes()


def test_what_reads_all_at_once_writes_nothing(tmp_path, here, monkeypatch):
    (tmp_path / "d.svm").write_text("1 1:1\n2 2:1\n")
    monkeypatch.setattr("hinge.cli.feeding.given", lambda *arguments: signal.raise_signal(signal.SIGINT))
    code, out, err = here("train", "d.svm", "-o", "m", "--task", "multiclass", "--rule", "svm", cwd=tmp_path)
    assert (code, out, err) == (130, "", "hinge: interrupted; nothing was written\n")
    assert [path.name for path in tmp_path.iterdir()] == ["d.svm"]
