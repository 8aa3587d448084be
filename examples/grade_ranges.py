"""Grades known only as ranges: learn from intervals, judge on the exact classes."""

from hinge import OrdinalClassifier
from hinge.datasets import interval_labels, synthetic_ordinal

X, y = synthetic_ordinal(6000, seed=1)
X = 2 * X - 1
ranges = interval_labels(y, n_classes=5, kind=2, fraction=0.75)
grader = OrdinalClassifier(classes=[1, 2, 3, 4, 5], kernel="poly", degree=2, budget=500)
grader.partial_fit(X[:4000], ranges[:4000])
off = -grader.score(X[4000:], y[4000:])
print(f"three labels in four were ranges; classes off the exact one, on average: {off:.2f}")
print("rows as ranges of classes too close to tell apart:", grader.predict_interval(X[4000:4005]).tolist())
