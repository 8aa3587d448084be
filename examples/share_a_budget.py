"""Forty small tasks on one stream: the round's losses share one norm, so no task can claim every update."""

import numpy as np

from hinge import MultitaskClassifier
from hinge.norms import RMax

rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 30))
Y = (X @ rng.normal(size=(30, 40)) > 0).astype(float)
Y[rng.random(Y.shape) < 0.3] = np.nan  # a task without an answer rests this round
learner = MultitaskClassifier(norm=RMax(4), C=0.2).partial_fit(X[:3000], Y[:3000])
wrong = (learner.predict(X[3000:]) != Y[3000:]) & ~np.isnan(Y[3000:])
print(f"{wrong.sum() / (~np.isnan(Y[3000:])).sum():.1%} of the answers to new rows are wrong")
print(f"the dual stands at {learner.certificate_.dual:.1f}")
