"""Words letter by letter: a letter that cannot be told by its looks is told by its neighbour."""

import numpy as np

from hinge import MulticlassClassifier, SequenceClassifier

rng = np.random.default_rng(0)
follows = {"q": "u", "u": "a", "a": "n", "n": "q"}  # and sometimes any other letter
looks = {"q": [1, 0, 0], "a": [1, 0, 0], "u": [0, 1, 0], "n": [0, 0, 1]}  # q and a look alike


def word(length):
    letters = [str(rng.choice(list(follows)))]
    while len(letters) < length:
        letters.append(follows[letters[-1]] if rng.random() < 0.9 else str(rng.choice(list(follows))))
    return np.array([looks[letter] for letter in letters]) + 0.3 * rng.normal(size=(length, 3)), letters


X, y = zip(*(word(int(rng.integers(3, 9))) for _ in range(400)), strict=True)
settings = {"rule": "perceptron", "average": True, "max_iter": 5}
reader = SequenceClassifier(**settings).fit(X[:300], y[:300])
alone = MulticlassClassifier(**settings).fit(np.vstack(X[:300]), np.concatenate(y[:300]))
print(f"letters read right, each alone: {alone.score(np.vstack(X[300:]), np.concatenate(y[300:])):.1%}")
print(f"letters read right, as words:   {reader.score(X[300:], y[300:]):.1%}")
