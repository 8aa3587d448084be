"""Many readers or one writer: what threads see of a model that is being learned.

A call that learns is one step to every other thread: readers see the model as it was before the call or after it,
never in between. Several writers take turns, call by call. A snapshot never changes.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from hinge import LabelRanker, load
from oracle.streams import stream
from rankers import features, fingerprint, sets

N, K, CALLS, ROWS = 30, 12, 40, 60


@pytest.fixture(autouse=True)
def _switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def parts(seed=0, k=K):
    rounds = [e._replace(alive=k) for e in stream("sparse", N, k, CALLS * ROWS, seed=seed)]
    X, Y = features(rounds).astype(np.float32), sets(rounds)
    return [(X[i : i + ROWS], Y[i : i + ROWS]) for i in range(0, len(Y), ROWS)]


def run(readers: list[Callable[[], None]], write: Callable[[], None]) -> None:
    """Run every reader again and again, at least ten times, until the writer is done; raise what any of them raised."""
    done, failures = threading.Event(), []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            failures.append(error)
            done.set()

    def keep_reading(read):
        times = 0
        while not done.is_set() or times < 10:
            guarded(read)
            times += 1
            if failures:
                return

    threads = [threading.Thread(target=keep_reading, args=(read,)) for read in readers]
    for thread in threads:
        thread.start()
    guarded(write)
    done.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


@pytest.mark.parametrize(
    "params",
    [{}, {"geometry": "adaptive"}, {"geometry": "entropic"}, {"geometry": "signed-entropic", "update": "single"},
     {"average": True}],
    ids=str,
)  # fmt: skip
def test_readers_see_whole_calls_only(params):
    stretch = parts()
    asked = stretch[0][0][:7]
    model, twin = (LabelRanker(**params).partial_fit(*stretch[0], classes=range(K)) for _ in range(2))
    whole = {twin.decision_function(asked).tobytes()}
    best = {twin.predict(asked).__repr__()}
    for X, Y in stretch[1:]:
        twin.partial_fit(X, Y)
        whole.add(twin.decision_function(asked).tobytes())
        best.add(twin.predict(asked).__repr__())
    seen = set()

    def read_scores():
        seen.add(model.decision_function(asked).tobytes())

    def read_others():
        assert len(model.rank(asked, top=3)) == 7
        assert model.coef_.shape == (K, N)
        certificate = getattr(model, "certificate_", None)
        assert certificate is None or certificate.rounds % ROWS == 0

    def learn():
        for X, Y in stretch[1:]:
            model.partial_fit(X, Y)
            time.sleep(0.0005)

    run([read_scores, read_scores, read_others], learn)
    assert seen <= whole
    assert len(seen) > 1
    assert fingerprint(model) == fingerprint(twin)


def test_snapshots_taken_meanwhile_are_whole_and_stand_still():
    stretch = parts(seed=1)
    asked = stretch[0][0][:7]
    model, twin = (LabelRanker().partial_fit(*stretch[0], classes=range(K)) for _ in range(2))
    whole = {twin.decision_function(asked).tobytes()}
    for X, Y in stretch[1:]:
        whole.add(twin.partial_fit(X, Y).decision_function(asked).tobytes())

    def snap():
        copy = model.snapshot()
        first = copy.decision_function(asked).tobytes()
        assert first in whole
        time.sleep(0.002)
        assert copy.decision_function(asked).tobytes() == first

    run([snap, snap, snap], lambda: [model.partial_fit(X, Y) for X, Y in stretch[1:]])


def test_writers_take_turns(tmp_path):
    """Nothing is lost: every round counts once, in whatever order the calls came."""
    stretch = parts(seed=2)
    model = LabelRanker().partial_fit(*stretch[0], classes=range(K))

    def learn(which):
        for X, Y in stretch[1 + which :: 3]:
            model.partial_fit(X, Y)

    writers = [threading.Thread(target=learn, args=(which,)) for which in range(3)]
    for writer in writers:
        writer.start()
    for _ in range(5):
        model.save(tmp_path / "model")
        assert load(tmp_path / "model").t_ % ROWS == 0
    for writer in writers:
        writer.join(60)
    assert model.t_ == CALLS * ROWS
    assert np.isfinite(model.coef_).all()


def test_dicts_are_learned_and_asked_at_the_same_time():
    """One thread learns dicts with new names and labels; others ask, and get answers of labels that were there."""
    model = LabelRanker()
    model.learn_one({"start": 1.0}, "label 0")
    rng = np.random.default_rng(0)
    stretch = [({f"word {j}": 1.0 for j in rng.integers(0, 3 + t, 10)}, f"label {t % (2 + t // 40)}")
               for t in range(1500)]  # fmt: skip
    known = {label for _, label in stretch} | {"label 0"}

    def ask():
        assert model.predict_one(stretch[700][0]) in known
        ranked = model.rank_one(stretch[900][0], top=2)
        assert {label for label, _ in ranked} <= known

    run([ask, ask], lambda: [model.learn_one(x, y) for x, y in stretch])
    twin = LabelRanker()
    twin.learn_one({"start": 1.0}, "label 0")
    for x, y in stretch:
        twin.learn_one(x, y)
    assert fingerprint(model) == fingerprint(twin)


@pytest.mark.long
@pytest.mark.parametrize("geometry", ["euclidean", "adaptive", "entropic", "signed-entropic"])
def test_threads_for_half_a_minute(geometry):
    """Readers, snapshots and a writer, all at once."""
    stretch = parts(seed=3)
    asked = stretch[0][0][:7]
    model = LabelRanker(geometry=geometry, update="single", average=True).partial_fit(*stretch[0], classes=range(K))
    end = time.monotonic() + 30 / 4

    def read():
        assert np.isfinite(model.decision_function(asked)).all()

    def snap():
        copy = model.snapshot()
        assert copy.decision_function(asked).shape == (7, len(copy.classes_))

    def learn():
        while time.monotonic() < end:
            for X, Y in stretch:
                model.partial_fit(X, Y)

    run([read, read, snap], learn)
