"""Our own checks and scikit-learn's, on every estimator."""

import os
import subprocess
import sys

import pytest
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import hinge
from hinge import LabelRanker
from hinge.checks import all_checks, check_estimator

RANKERS = [
    *(LabelRanker(update=u, geometry=g) for u in ("full", "single") for g in ("euclidean", "adaptive")),
    *(LabelRanker(update=u, geometry=g) for u in ("full", "single", "fixed") for g in ("entropic", "signed-entropic")),
    LabelRanker(update="fixed"),
    LabelRanker(average=True),
    LabelRanker(geometry="entropic", average=True, dtype="float64"),
]
OTHERS = [getattr(hinge, name)() for name in hinge.ESTIMATORS if name not in ("LabelRanker", "StructuredClassifier")]
SHUFFLED = (
    "the check shuffles the rows and so asks for a fit that ignores their order; an online rule depends on it "
    "(SGDClassifier has the same exception)"
)


def expected_failures(estimator):
    names = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
    online = "sample_weight" in estimator.fit.__code__.co_varnames and hasattr(estimator, "partial_fit")
    return dict.fromkeys(names, SHUFFLED) if online else {}


@pytest.mark.parametrize("estimator", [*RANKERS, *OTHERS], ids=repr)
def test_our_checks(estimator):
    check_estimator(clone(estimator))


def test_there_are_forty_checks_at_least():
    assert len(list(all_checks(LabelRanker()))) >= 40


TESTED_BY_SCIKIT_LEARN = [it for it in (*RANKERS, *OTHERS) if get_tags(it).input_tags.two_d_array]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(TESTED_BY_SCIKIT_LEARN, expected_failed_checks=expected_failures)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def test_scikit_learn_s_checks_of_the_array_api():
    """They are skipped unless SciPy was told of the array API before it was imported, so a process of their own."""
    chosen = f"{__file__}::test_scikit_learn_s_checks"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", "-k", "check_array_api", chosen],
        env=os.environ | {"SCIPY_ARRAY_API": "1"}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout  # 5 where none was run
    assert "SKIPPED" not in done.stdout
