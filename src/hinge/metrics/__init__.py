"""Every loss and measure of the problems: one module a problem, their names together here.

A loss is better when smaller, a score or an accuracy when larger. Where scikit-learn has a measure the name is its
own and so is the value, except that 0/0 is 1 unless ``zero_division`` says otherwise. Each takes ``sample_weight``,
and gives a float. ``accuracy_score`` (for label sets: subset accuracy), ``hamming_loss`` and ``mean_absolute_error``
are scikit-learn's.
"""

from sklearn.metrics import (  # type: ignore[import-untyped, unused-ignore]
    accuracy_score,
    hamming_loss,
    mean_absolute_error,
)

from .bipartite import (
    f1_score,
    fbeta_score,
    precision_at_k,
    precision_score,
    recall_at_k,
    recall_score,
    sensitivity_score,
    sensitivity_specificity_score,
    specificity_score,
)
from .label_ranking import (
    coverage_error,
    hinge_loss,
    label_ranking_auc,
    label_ranking_average_precision_score,
    label_ranking_loss,
    one_error,
    pairwise_hinge_loss,
    ranking_loss,
    zero_one_ranking_loss,
)
from .multiclass import cost_weighted_error, generalised_hinge_loss
from .multitask import multitask_absolute_loss, multitask_hinge_loss, multitask_infinity_error, multitask_one_error
from .ordinal import accuracy_within_one, interval_hinge_loss, interval_mae, macro_averaged_mae
from .ranking import kendall_tau_loss, list_zero_one_loss, mean_average_precision, ndcg_loss, ndcg_score
from .sequence import letter_accuracy, sequence_cost, word_accuracy

__all__ = [
    "accuracy_score",
    "accuracy_within_one",
    "cost_weighted_error",
    "coverage_error",
    "f1_score",
    "fbeta_score",
    "generalised_hinge_loss",
    "hamming_loss",
    "hinge_loss",
    "interval_hinge_loss",
    "interval_mae",
    "kendall_tau_loss",
    "label_ranking_auc",
    "label_ranking_average_precision_score",
    "label_ranking_loss",
    "letter_accuracy",
    "list_zero_one_loss",
    "macro_averaged_mae",
    "mean_absolute_error",
    "mean_average_precision",
    "multitask_absolute_loss",
    "multitask_hinge_loss",
    "multitask_infinity_error",
    "multitask_one_error",
    "ndcg_loss",
    "ndcg_score",
    "one_error",
    "pairwise_hinge_loss",
    "precision_at_k",
    "precision_score",
    "ranking_loss",
    "recall_at_k",
    "recall_score",
    "sensitivity_score",
    "sensitivity_specificity_score",
    "sequence_cost",
    "specificity_score",
    "word_accuracy",
    "zero_one_ranking_loss",
]
