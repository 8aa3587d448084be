"""Online learning when the answer is a ranking, an interval, k answers with one loss, a sequence or a list."""

import importlib
from typing import Any

__version__ = "0.1.0"

ESTIMATORS = {
    "AllPairsClassifier": "reductions",
    "BipartiteRanker": "bipartite",
    "LabelRanker": "label_ranking",
    "ListRanker": "ranking",
    "MMP": "pairwise",
    "MulticlassClassifier": "multiclass",
    "MulticlassPerceptron": "perceptron",
    "MultitaskClassifier": "multitask",
    "MultitaskRegressor": "multitask",
    "OneVsAllClassifier": "reductions",
    "OrdinalClassifier": "ordinal",
    "OutputCodeClassifier": "output_codes",
    "PRank": "ordinal_baselines",
    "PairwiseLabelRanker": "pairwise",
    "SequenceClassifier": "sequence",
    "StructuredClassifier": "structured",
    "WidrowHoffClassifier": "ordinal_baselines",
}
_NAMES = ESTIMATORS | {
    "Certificate": "certificate",
    "ModelFileError": "model_file",
    "PairwiseLabelRankerCV": "pairwise_cv",
    "ProgressiveReport": "evaluation",
    "load": "base",
    "progressive": "evaluation",
}
_MODULES = ("checks", "datasets", "io", "metrics", "norms")

__all__ = sorted([*_NAMES, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        value = getattr(importlib.import_module(f"hinge.{_NAMES[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"hinge.{name}")
    else:
        raise AttributeError(f"module 'hinge' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
