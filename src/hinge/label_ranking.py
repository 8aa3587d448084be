"""Label ranking: score every label, and put the relevant ones above the others.

Larger margins are better, a margin of exactly zero is a mistake, ties go to the label that comes first in
``classes_``. Ranks are 1 for the best.
"""

from __future__ import annotations

from math import inf
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions

from hinge import _core
from hinge.base import check_dtype
from hinge.certificate import Certificate
from hinge.rankers import POSITIVE, SHARED_CONSTRAINTS, Ranker

__all__ = ["LabelRanker"]

RANKERS = {np.dtype(np.float32): _core.LabelRankerFloat32, np.dtype(np.float64): _core.LabelRankerFloat64}


class LabelRanker(Ranker):
    """Rank labels online, by dual ascent.

    A label y has the score ``<w_y, x>``. A round with relevant labels Y has the margin ``m``, the lowest score on Y
    minus the highest off it, and the loss ``max(0, margin - m)``. The update moves the dual variables of this round
    only, ``theta_y += alpha_y x``, with ``sum_y alpha_y = 0`` and ``sum_Y alpha_y <= C``.

    Parameters
    ----------
    update : {"full", "single", "fixed"}, default="full"
        How far to move: the best alphas for all constraints of the round at once; the best step on the worst pair; or
        C on the worst pair, on mistakes only.
    geometry : {"euclidean", "adaptive", "entropic", "signed-entropic"}, default="euclidean"
        How theta becomes weights: as it is; with a confidence for each feature (not with the fixed update); as a
        softmax, for many features of which few matter; the same for weights of both signs.
    r : float, default=1.0
        Adaptive geometry: how slowly confidence grows. In a round with a sample weight, r / weight stands for it.
    C : float, default=1.0
        The most that a round's alphas may add up to; not used by the adaptive geometry.
    margin : float, optional
        The margin to reach (the papers' gamma). By default 1, and .01 for the entropies, whose scores are averages
        of x.
    average : bool, default=False
        Predict with the mean of the weights over all rounds.
    max_iter : int, default=1
        Passes that `fit` makes.
    shuffle : bool, default=False
        Whether `fit` takes the rows in a new random order in each pass.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    fit_intercept : bool, default=True
        Whether every row has a feature more, which is 1.
    new_labels : {"add", "error", "ignore"}, default="add"
        What to do with a label that is new in a later call.
    features : {"names", "hashed"}, default="names"
        How the names in dicts become features.
    n_bits : int, default=20
        Hashed: there are 2 ** n_bits features.
    dtype : dtype, default="float32"
        What the weights are kept in: float32 or float64.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels.
    coef_ : array of shape (n_labels, n_features_in_)
        The weights.
    intercept_ : array of shape (n_labels,)
        Zeros without an intercept.
    n_features_in_ : int
        How many features there are.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if they have any.
    t_ : int
        Rounds so far.
    n_iter_ : int
        Passes that `fit` made.
    certificate_ : Certificate
        What is proven about the stream so far; not with the adaptive geometry.

    Examples
    --------
    >>> from hinge import LabelRanker
    >>> ranker = LabelRanker()
    >>> ranker.learn_one({"subject": "invoice", "words": 120}, "accounts")
    >>> ranker.learn_one({"subject": "standup", "words": 30}, "team")
    >>> ranker.predict_one({"subject": "standup", "words": 25})
    'team'
    >>> import numpy as np
    >>> X, Y = np.eye(3), [{"red"}, {"red", "green"}, {"blue"}]
    >>> LabelRanker(max_iter=5).fit(X, Y).predict(X) == Y
    True

    References
    ----------
    S. Shalev-Shwartz and Y. Singer, "A unified algorithmic approach for efficient online label ranking", 2007.
    """

    _structure: ClassVar[tuple[str, ...]] = (
        "update", "geometry", "average", "fit_intercept", "features", "n_bits", "dtype",
    )  # fmt: skip
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "update": [StrOptions({"full", "single", "fixed"})],
        "geometry": [StrOptions({"euclidean", "adaptive", "entropic", "signed-entropic"})],
        "r": [POSITIVE],
        "C": [POSITIVE],
        "margin": [POSITIVE, None],
        "average": ["boolean"],
        **SHARED_CONSTRAINTS,
    }

    def __init__(
        self,
        update: str = "full",
        geometry: str = "euclidean",
        *,
        r: float = 1.0,
        C: float = 1.0,
        margin: float | None = None,
        average: bool = False,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: Any = None,
        fit_intercept: bool = True,
        new_labels: str = "add",
        features: str = "names",
        n_bits: int = 20,
        dtype: Any = "float32",
    ) -> None:
        self.update = update
        self.geometry = geometry
        self.r = r
        self.C = C
        self.margin = margin
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.new_labels = new_labels
        self.features = features
        self.n_bits = n_bits
        self.dtype = dtype

    def _check_combination(self) -> None:
        check_dtype(self)
        if self.update == "fixed" and self.geometry == "adaptive":
            raise ValueError("update='fixed' does not go with geometry='adaptive': a fixed step ignores confidences")

    def _settings(self) -> tuple[float, ...]:
        usual = 0.01 if "entropic" in self.geometry else 1.0
        return float(self.C), usual if self.margin is None else float(self.margin), float(self.r)

    def _new_model(self) -> Any:
        return RANKERS[self._dtype](self.update, self.geometry, self.fit_intercept, self.average)

    @property
    def certificate_(self) -> Certificate:
        """What is proven about the stream so far."""
        if self.geometry == "adaptive":
            raise AttributeError("the adaptive geometry has no certificate: its complexity changes as it learns")
        book = self._learned("certificate_").ledger()
        dual = -inf if self._removed else book["dual"]
        gain, C = book["least_gain"], book["C"]
        gained = max(0.0, book["dual"] + book["risen"])  # by the rounds alone
        constant_C = self.update == "fixed" and self.geometry == "euclidean" and book["least_C"] == C
        rounding = np.finfo(self._dtype).eps * (book["promised"] + 2 * book["conjugate"] + len(self._labels))
        return Certificate(
            int(book["rounds"]),
            int(book["mistakes"]),
            book["loss"],
            dual,
            gained / gain if gain > 0 and not self._removed else inf,
            tolerance=float(rounding * np.sqrt(max(1.0, book["rounds"]))),
            C=C or float(self.C),
            steps=2 * book["conjugate"] / C**2 if constant_C and not self._removed else None,
            promise=book["promised"] / C if constant_C else 0.0,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.geometry == "entropic"  # its weights are never negative
        return tags
