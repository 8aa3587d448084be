"""hinge.metrics against double loops written from MATH.md, and against scikit-learn where it has the measure."""

from __future__ import annotations

import itertools
import time
import warnings

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from hinge import metrics

SEEDS = range(30)


def label_data(seed, n=12):
    """Scores with many ties on odd seeds, and some empty and full label sets."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 9))
    scores = rng.standard_normal((n, k))
    if seed % 2:
        scores = np.round(scores)
    relevant = rng.random((n, k)) < rng.choice([0.2, 0.5, 0.8])
    relevant[0], relevant[1] = False, True
    return relevant, scores, rng.random(n) + 0.1


def pairs_of(relevant, scores):
    return [(scores[r], scores[s]) for r in np.flatnonzero(relevant) for s in np.flatnonzero(~relevant)]


def by_row(function, relevant, scores, empty):
    """Average a function of the pairs over the rows."""
    rows = [pairs_of(r, s) for r, s in zip(relevant, scores, strict=True)]
    return np.array([function(pairs) if pairs else empty for pairs in rows])


LABEL_BRUTE = {
    "hinge_loss": (lambda pairs: max(0.0, max(1 - r + s for r, s in pairs)), 0.0),
    "zero_one_ranking_loss": (lambda pairs: any(r <= s for r, s in pairs), 0.0),
    "label_ranking_loss": (lambda pairs: np.mean([r <= s for r, s in pairs]), 0.0),
    "label_ranking_auc": (lambda pairs: np.mean([(r > s) + (r == s) / 2 for r, s in pairs]), 1.0),
    "pairwise_hinge_loss": (lambda pairs: np.mean([max(0.0, 1 - r + s) for r, s in pairs]), 0.0),
}


@pytest.mark.parametrize("name", LABEL_BRUTE)
@pytest.mark.parametrize("seed", SEEDS)
def test_label_ranking_brute_force(name, seed):
    relevant, scores, weight = label_data(seed)
    function, empty = LABEL_BRUTE[name]
    rows = by_row(function, relevant, scores, empty)
    metric = getattr(metrics, name)
    assert metric(relevant, scores) == pytest.approx(rows.mean(), abs=1e-12)
    assert metric(relevant, scores, sample_weight=weight) == pytest.approx(np.average(rows, weights=weight), abs=1e-12)


@pytest.mark.parametrize(
    "name", ["label_ranking_loss", "coverage_error", "label_ranking_average_precision_score", "hamming_loss"]
)
@pytest.mark.parametrize("seed", SEEDS)
def test_label_ranking_equals_sklearn(name, seed):
    relevant, scores, weight = label_data(seed)
    answer = scores > 0 if name == "hamming_loss" else scores
    expected = getattr(sk, name)(relevant.astype(int), answer, sample_weight=weight)
    assert getattr(metrics, name)(relevant, answer, sample_weight=weight) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_auc_is_the_samples_average_of_roc_auc(seed):
    relevant, scores, _ = label_data(seed)
    some = relevant.any(axis=1) & ~relevant.all(axis=1)
    relevant, scores = relevant[some], scores[some]
    expected = sk.roc_auc_score(relevant, scores, average="samples")
    assert metrics.label_ranking_auc(relevant, scores) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_error(seed):
    relevant, scores, _ = label_data(seed)
    misses = [r.any() and not r[list(s).index(max(s))] for r, s in zip(relevant, scores, strict=True)]
    assert metrics.one_error(relevant, scores) == pytest.approx(np.mean(misses))


@pytest.mark.parametrize("seed", range(5))
def test_single_labels_and_every_form_of_target(seed):
    rng = np.random.default_rng(seed)
    scores, column = rng.standard_normal((20, 4)), rng.integers(0, 4, 20)
    indicator = np.eye(4, dtype=int)[column]
    names = np.array(["d", "b", "a", "c"])
    every = [*LABEL_BRUTE, "one_error", "coverage_error", "label_ranking_average_precision_score"]
    for metric in (getattr(metrics, name) for name in every):
        value = metric(indicator, scores)
        forms = (column, indicator.tolist(), sparse.csr_matrix(indicator), sparse.csr_array(indicator.astype(float)))
        assert all(metric(form, scores) == value for form in forms)
        assert metric(names[column], scores, labels=names) == value
    assert metrics.hinge_loss(column, scores) == pytest.approx(sk.hinge_loss(column, scores, labels=range(4)))


def test_two_labels_with_one_score_equal_sklearn():
    rng = np.random.default_rng(0)
    y, s = rng.choice([-1, 1], 30), rng.standard_normal(30)
    assert metrics.hinge_loss(y, s, labels=[-1, 1]) == pytest.approx(sk.hinge_loss(y, s))


def test_close_scores_are_not_taken_for_ties():
    """Neighbouring doubles, signed zeros, subnormals and values beyond float32 are told apart exactly."""
    up = np.nextafter(1.0, 2.0)
    cases = [
        ([1.0, up], 1.0, 1.0),
        ([up, 1.0], 0.0, 0.0),
        ([0.0, -0.0], 1.0, 0.5),
        ([-0.0, 0.0], 1.0, 0.5),
        ([5e-324, -0.0], 0.0, 0.0),
        ([-1e-310, 0.0], 1.0, 1.0),
        ([1e300, 1e301], 1.0, 1.0),
        ([-1e300, -1e301], 0.0, 0.0),
        ([-1e301, 1e300], 1.0, 1.0),
        ([0.0, 3.4028235677973366e38], 1.0, 1.0),
    ]
    for scores, loss, auc_loss in cases:
        assert metrics.ranking_loss([[1, 0]], [scores]) == loss, scores
        assert 1 - metrics.label_ranking_auc([[1, 0]], [scores]) == auc_loss, scores


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.booleans(),
            st.floats(allow_nan=False, allow_infinity=False)
            | st.sampled_from([0.0, -0.0, 1.0, float(np.float32(0.1))]),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_pair_counts_on_any_floats(row):
    relevant, scores = np.array([r for r, _ in row]), np.array([s for _, s in row])
    pairs = pairs_of(relevant, scores)
    expected = np.mean([r <= s for r, s in pairs]) if pairs else 0.0
    assert metrics.ranking_loss(relevant[None], scores[None]) == pytest.approx(expected)


def test_ranking_loss_of_more_labels_than_float32_can_count():
    rng = np.random.default_rng(0)
    scores, relevant = rng.standard_normal((3, 9000)), rng.random((3, 9000)) < 0.5
    assert metrics.ranking_loss(relevant, scores) == pytest.approx(sk.label_ranking_loss(relevant, scores), abs=1e-14)


def test_ranking_loss_is_fast():
    """A twentieth of scikit-learn's time where nothing else runs; half of that is left to a busy machine."""
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((10_000, 400))
    relevant = (rng.random(scores.shape) < 0.05).astype(int)

    def best(function, runs):
        clock = []
        for _ in range(runs):
            begin = time.perf_counter()
            value = function(relevant, scores)
            clock.append(time.perf_counter() - begin)
        return min(clock), value

    ours, value = best(metrics.ranking_loss, 8)
    theirs, expected = best(sk.label_ranking_loss, 3)
    assert value == pytest.approx(expected, abs=1e-13)
    assert theirs > 10 * ours, (theirs, ours)


@pytest.mark.parametrize("seed", SEEDS)
def test_ordinal_brute_force(seed):
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 7)), 15
    ends = np.sort(rng.integers(1, k + 1, (n, 2)), axis=1)
    thresholds, score, weight = np.sort(rng.standard_normal(k - 1)), rng.standard_normal(n), rng.random(n) + 0.1
    predicted = 1 + (thresholds <= score[:, None]).sum(axis=1)
    mae, hinge = np.zeros(n), np.zeros(n)
    for t, (low, high) in enumerate(ends):
        for i in range(1, k):
            excess = score[t] - thresholds[i - 1]
            mae[t] += (i < low and excess < 0) or (i >= high and excess >= 0)
            hinge[t] += max(0, -excess) * (i < low) + max(0, excess) * (i >= high)
    open_ends = np.where(ends == 1, -np.inf, np.where(ends == k, np.inf, ends.astype(float)))
    open_ends = np.column_stack([np.minimum(open_ends[:, 0], ends[:, 0]), np.maximum(open_ends[:, 1], ends[:, 1])])
    for intervals in (ends, open_ends):
        assert metrics.interval_mae(intervals, predicted) == mae.mean()
        assert metrics.accuracy_within_one(intervals, predicted) == pytest.approx(np.mean(mae <= 1))
        loss = metrics.interval_hinge_loss(intervals, score, thresholds, sample_weight=weight)
        assert loss == pytest.approx(np.average(hinge, weights=weight))
    y = ends[:, 0]
    distance = np.abs(y - predicted)
    assert metrics.interval_mae(y, predicted) == metrics.mean_absolute_error(y, predicted)
    within = [np.average(distance[y == c], weights=weight[y == c]) for c in set(y.tolist())]
    assert metrics.macro_averaged_mae(y, predicted, sample_weight=weight) == pytest.approx(np.mean(within))


def test_ordinal_classes_by_name():
    order = ["low", "mid", "high", "top"]
    truth = np.array([["low", "mid"], ["mid", np.inf], [-np.inf, "low"]], dtype=object)
    assert metrics.interval_mae(truth, ["top", "top", "high"], classes=order) == pytest.approx(4 / 3)
    assert metrics.interval_hinge_loss(truth, [0.0] * 3, [-1.0, 0.0, 2.0], classes=order) == pytest.approx(1 / 3)
    assert metrics.interval_mae([[-np.inf, np.inf]], [7]) == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_multitask(seed):
    rng = np.random.default_rng(seed)
    y, s = rng.choice([-1.0, 1.0, np.nan], (10, 4)), np.round(rng.standard_normal((10, 4)), 1)
    errors = np.array([[a * b <= 0 for a, b in zip(*rows, strict=True)] for rows in zip(y, s, strict=True)])
    losses = np.nan_to_num(np.maximum(1 - y * s, 0))
    for target in (y, (y + 1) / 2):
        assert metrics.multitask_infinity_error(target, s) == pytest.approx(errors.any(axis=1).mean())
        assert metrics.multitask_one_error(target, s) == pytest.approx(errors.mean())
        for norm, power in (("l1", 1), ("l2", 2), ("linf", np.inf), (3, 3)):
            expected = np.linalg.norm(losses, ord=power, axis=1).mean()
            assert metrics.multitask_hinge_loss(target, s, norm=norm) == pytest.approx(expected)
    absolute = np.maximum(np.abs(np.nan_to_num(y - s)) - 0.5, 0)
    assert metrics.multitask_absolute_loss(y, s, norm="l1", epsilon=0.5) == pytest.approx(absolute.sum(axis=1).mean())


def test_multitask_takes_norm_objects_and_one_task():
    class Twice:
        def value(self, v):
            return 2 * v.max()

    assert metrics.multitask_hinge_loss([[1, 0], [1, np.nan]], [[-2, 1], [0.5, 9]], norm=Twice()) == (6 + 1) / 2
    assert metrics.multitask_infinity_error([1, 0, 1], [1.0, 0.0, 1.0]) == pytest.approx(1 / 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_costs(seed):
    rng = np.random.default_rng(seed)
    labels = np.array(["a", "b", "c", "d"])
    cost = rng.random((4, 4)) * (1 - np.eye(4))
    y, scores = rng.integers(0, 4, 20), rng.standard_normal((20, 4))
    predicted = scores.argmax(axis=1)
    error = np.mean([cost[p, t] for p, t in zip(predicted, y, strict=True)])
    assert metrics.cost_weighted_error(labels[y], labels[predicted], cost=cost, labels=labels) == pytest.approx(error)
    assert metrics.cost_weighted_error(y, predicted) == pytest.approx(1 - metrics.accuracy_score(y, predicted))
    hinge = [max(cost[c, t] + s[c] - s[t] for c in range(4)) for t, s in zip(y, scores, strict=True)]
    assert metrics.generalised_hinge_loss(labels[y], scores, cost=cost, labels=labels) == pytest.approx(np.mean(hinge))
    assert np.mean(hinge) >= error
    assert metrics.generalised_hinge_loss(y, scores) == pytest.approx(metrics.hinge_loss(y, scores))


@pytest.mark.parametrize("seed", SEEDS)
def test_sequences(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 5, 8)
    lengths[0] = 3
    truth, answer = ([rng.integers(0, 3, r) for r in lengths] for _ in range(2))
    cost, weight = rng.random((3, 3)), rng.random(8)
    wrong = [sum(a != b for a, b in zip(*pair, strict=True)) for pair in zip(truth, answer, strict=True)]
    costs = [sum(cost[p, t] for t, p in zip(*pair, strict=True)) for pair in zip(truth, answer, strict=True)]
    assert metrics.letter_accuracy(truth, answer) == pytest.approx(1 - sum(wrong) / lengths.sum())
    assert metrics.word_accuracy(truth, answer) == pytest.approx(np.mean(np.equal(wrong, 0)))
    assert metrics.sequence_cost(truth, answer) == pytest.approx(np.mean(wrong))
    value = metrics.sequence_cost(truth, answer, cost=cost, labels=range(3), normalize=True, sample_weight=weight)
    expected = np.average(np.array(costs) / np.maximum(lengths, 1), weights=weight)
    assert value == pytest.approx(expected)


def test_sequences_without_letters():
    assert metrics.letter_accuracy([[], ""], [[], ""]) == metrics.word_accuracy([[]], [[]]) == 1
    assert metrics.sequence_cost([[]], [[]], cost=[[0]]) == 0


def list_data(seed):
    """Lists of 1 to 9 rows, shuffled together, some without relevant rows; ties on odd seeds."""
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat(rng.permutation(12), rng.integers(1, 10, 12)))
    y, s = rng.integers(0, 4, len(qid)), rng.standard_normal(len(qid))
    y[np.isin(qid, [3, 5])] = 0
    return y, np.round(s) if seed % 2 else s, qid


def each_list(y, s, qid):
    return [(y[qid == q], s[qid == q]) for q in dict.fromkeys(qid.tolist())]


def kendall_brute(y, s, pairs):
    wrong = counted = 0
    for i, j in itertools.combinations(range(len(y)), 2):
        comparable = y[i] != y[j]
        counted += comparable or pairs == "all"
        wrong += (comparable or pairs == "all") and np.sign(y[i] - y[j]) != np.sign(s[i] - s[j])
    return wrong / counted if counted else 0.0


@pytest.mark.parametrize("pairs", ["comparable", "all"])
@pytest.mark.parametrize("seed", SEEDS)
def test_kendall(seed, pairs):
    y, s, qid = list_data(seed)
    values = np.array([kendall_brute(*one, pairs) for one in each_list(y, s, qid)])
    weight = np.random.default_rng(seed).random(len(values))
    assert metrics.kendall_tau_loss(y, s, qid=qid, pairs=pairs) == pytest.approx(values.mean())
    by_list = metrics.kendall_tau_loss(y, s, qid=qid, pairs=pairs, sample_weight=weight)
    assert by_list == pytest.approx(np.average(values, weights=weight))
    row_weight = weight[[list(dict.fromkeys(qid.tolist())).index(q) for q in qid]]
    assert metrics.kendall_tau_loss(y, s, qid=qid, pairs=pairs, sample_weight=row_weight) == by_list
    assert metrics.list_zero_one_loss(y, s, qid=qid, pairs=pairs) == pytest.approx(np.mean(values > 0))


def test_kendall_of_a_long_list_and_of_label_sets():
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 50, 3000), rng.integers(0, 80, 3000)
    difference, scored = np.subtract.outer(y, y), np.subtract.outer(s, s)
    assert metrics.kendall_tau_loss(y, s) == pytest.approx((scored[difference > 0] <= 0).mean())
    relevant, scores, _ = label_data(1)
    assert metrics.kendall_tau_loss(relevant, scores) == pytest.approx(metrics.ranking_loss(relevant, scores))


@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize("k", [None, 1, 3, 50])
@pytest.mark.parametrize("seed", SEEDS)
def test_ndcg(seed, k, gain):
    y, s, qid = list_data(seed)
    expected, literal = [], []
    for truth, score in each_list(y, s, qid):
        gains = truth.astype(float) if gain == "linear" else 2.0**truth - 1
        discount = np.array([1 / np.log2(i + 2) if k is None or i < k else 0.0 for i in range(len(truth))])
        best = linear_sum_assignment(np.outer(gains, discount), maximize=True)
        best = np.outer(gains, discount)[best].sum()
        order = sorted(range(len(truth)), key=lambda i: (-score[i], i))
        literal.append(gains[order] @ discount / best if best else 1.0)
        one = len(truth) == 1 or not best
        expected.append(1.0 if one else sk.ndcg_score(gains[None], score[None], k=k))
    assert metrics.ndcg_score(y, s, qid=qid, k=k, gain=gain) == pytest.approx(np.mean(expected))
    assert metrics.ndcg_loss(y, s, qid=qid, k=k, gain=gain) == pytest.approx(1 - np.mean(expected))
    first = metrics.ndcg_score(y, s, qid=qid, k=k, gain=gain, ignore_ties=True)
    assert first == pytest.approx(np.mean(literal))


def test_ndcg_of_matrices_equals_sklearn():
    rng = np.random.default_rng(0)
    y, s, weight = rng.integers(0, 3, (30, 6)), np.round(rng.standard_normal((30, 6)), 1), rng.random(30)
    y[:3] = 0
    for k in (None, 2):
        expected = sk.ndcg_score(y, s, k=k, sample_weight=weight)
        assert metrics.ndcg_score(y, s, k=k, zero_division=0, sample_weight=weight) == pytest.approx(expected)
    assert metrics.ndcg_loss(y[:3], s[:3]) == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_mean_average_precision(seed):
    y, s, qid = list_data(seed)
    expected = [sk.average_precision_score(t > 0, v) if t.any() else 0.0 for t, v in each_list(y, s, qid)]
    assert metrics.mean_average_precision(y, s, qid=qid) == pytest.approx(np.mean(expected))


def letor_tool(labels, scores, k):
    """NDCG@k and average precision of a list as LETOR's evaluation tool has them; k no larger than the list."""
    ranked = [label for _, label in sorted(zip(-scores, labels, strict=True), key=lambda it: it[0])]

    def dcg(rates):
        return sum((2**r - 1) * (1.0 if i < 2 else np.log(2) / np.log(i + 1)) for i, r in enumerate(rates[:k]))

    hits = [i for i, label in enumerate(ranked, 1) if label > 0]
    best = dcg(sorted(ranked, reverse=True))
    precision = [(j + 1) / i for j, i in enumerate(hits)]
    return dcg(ranked) / best if best else 0.0, float(np.mean(precision)) if precision else 0.0


@pytest.mark.parametrize("seed", SEEDS)
def test_ndcg_and_map_are_those_of_letor_s_tool(seed):
    y, s, qid = list_data(seed)
    kept = np.isin(qid, [q for q in set(qid.tolist()) if (qid == q).sum() >= 2])
    y, s, qid = y[kept], s[kept], qid[kept]
    for k in (1, 2):
        expected = np.array([letor_tool(truth, score, k) for truth, score in each_list(y, s, qid)]).mean(axis=0)
        found = metrics.ndcg_score(
            y, s, k=k, qid=qid, gain="exponential", discount="letor", ignore_ties=True, zero_division=0
        )
        assert found == pytest.approx(expected[0])
        assert metrics.mean_average_precision(y, s, qid=qid, ignore_ties=True) == pytest.approx(expected[1])
    y, s = np.array([1, 0, 2, 2, 0, 1]), np.array([3.0, 2.0, 5.0, 1.0, 3.0, 0.0])
    how = {"gain": "exponential", "discount": "letor", "ignore_ties": True}
    for k in range(1, 7):
        assert metrics.ndcg_score(y, s, k=k, **how) == pytest.approx(letor_tool(y, s, k)[0])
    with pytest.raises(ValueError, match="discount must be"):
        metrics.ndcg_score(y, s, discount="none")


def confusion_brute(y, p):
    return [sum((t == u) and (v == w) for t, v in zip(y, p, strict=True)) for u, w in ((1, 1), (0, 1), (1, 0), (0, 0))]


def ratio(part, whole):
    return part / whole if whole else 1.0


BIPARTITE_BRUTE = {
    "recall_score": lambda a, b, c, d: ratio(a, a + c),
    "sensitivity_score": lambda a, b, c, d: ratio(a, a + c),
    "specificity_score": lambda a, b, c, d: ratio(d, b + d),
    "sensitivity_specificity_score": lambda a, b, c, d: (ratio(a, a + c) + ratio(d, b + d)) / 2,
    "precision_score": lambda a, b, c, d: ratio(a, a + b),
    "f1_score": lambda a, b, c, d: ratio(2 * a, 2 * a + b + c),
}


@pytest.mark.parametrize("name", BIPARTITE_BRUTE)
@pytest.mark.parametrize("seed", SEEDS)
def test_bipartite_brute_force(name, seed):
    y, s, qid = list_data(seed)
    truth, predicted = (y > 1).astype(int), (s > 0.3).astype(int)
    metric, brute = getattr(metrics, name), BIPARTITE_BRUTE[name]
    assert metric(truth, predicted) == pytest.approx(brute(*confusion_brute(truth, predicted)))
    expected = [brute(*confusion_brute(*one)) for one in each_list(truth, predicted, qid)]
    assert metric(truth, predicted, qid=qid) == pytest.approx(np.mean(expected))
    names = np.array(["out", "in"])
    assert metric(names[truth], names[predicted], pos_label="in") == metric(truth * 2 - 1, predicted * 2 - 1)


@pytest.mark.parametrize("zero_division", [0.0, 1.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_bipartite_equals_sklearn(seed, zero_division):
    rng = np.random.default_rng(seed)
    y, p, weight = rng.random(4) < 0.3, rng.random(4) < 0.3, rng.random(4) + 0.1
    same = {"zero_division": zero_division, "sample_weight": weight}
    for name in ("recall_score", "precision_score", "f1_score"):
        assert getattr(metrics, name)(y, p, **same) == pytest.approx(getattr(sk, name)(y, p, **same)), name
    assert metrics.fbeta_score(y, p, beta=2, **same) == pytest.approx(sk.fbeta_score(y, p, beta=2, **same))
    if 0 < y.sum() < 4:
        expected = sk.balanced_accuracy_score(y, p, sample_weight=weight)
        assert metrics.sensitivity_specificity_score(y, p, sample_weight=weight) == pytest.approx(expected)


@pytest.mark.parametrize("k", [1, 2, 5, 20])
@pytest.mark.parametrize("seed", SEEDS)
def test_at_k(seed, k):
    y, s, qid = list_data(seed)
    y = (y > 1).astype(int)
    recall, precision, top_recall, top_precision = [], [], [], []
    for truth, score in each_list(y, s, qid):
        order = sorted(range(len(truth)), key=lambda i: (-score[i], i))
        capped = [truth[i] for i in order[:k] if score[i] > 0]
        filled = [truth[i] for place, i in enumerate(order) if place < k or score[i] > 0]
        recall.append(ratio(sum(capped), truth.sum()))
        precision.append(ratio(sum(filled), len(filled)))
        top_recall.append(ratio(truth[order[:k]].sum(), truth.sum()))
        top_precision.append(truth[order[:k]].mean())
    assert metrics.recall_at_k(y, s, k=k, qid=qid) == pytest.approx(np.mean(recall))
    assert metrics.precision_at_k(y, s, k=k, qid=qid) == pytest.approx(np.mean(precision))
    assert metrics.recall_at_k(y, s, k=k, qid=qid, threshold=-np.inf) == pytest.approx(np.mean(top_recall))
    assert metrics.precision_at_k(y, s, k=k, qid=qid, threshold=np.inf) == pytest.approx(np.mean(top_precision))


def test_lists_without_rows_to_rank():
    for name in ("kendall_tau_loss", "list_zero_one_loss", "ndcg_loss"):
        assert getattr(metrics, name)(np.zeros((2, 0)), np.zeros((2, 0))) == 0
        assert getattr(metrics, name)([3], [0.5]) == 0
    assert metrics.mean_average_precision(np.zeros((2, 0)), np.zeros((2, 0))) == 0


def test_float32_scores_give_the_values_of_the_same_doubles():
    relevant, scores, _ = label_data(2)
    single = scores.astype(np.float32)
    for name in LABEL_BRUTE:
        metric = getattr(metrics, name)
        assert metric(relevant, single) == pytest.approx(metric(relevant, single.astype(np.float64)), abs=1e-12)


def test_arguments_are_left_as_they_were():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((5, 4)).astype(np.float32)
    relevant, before = rng.random((5, 4)) < 0.5, scores.copy()
    for name in LABEL_BRUTE:
        getattr(metrics, name)(relevant, scores)
    y, s = scores[:, 0].copy(), scores[:, 1].copy()
    metrics.kendall_tau_loss(y, s)
    assert (scores == before).all()
    assert (y == before[:, 0]).all()
    assert (s == before[:, 1]).all()


BAD = [
    (lambda m: m.ranking_loss([[1, 0]], [[np.nan, 1.0]]), "y_score must hold finite numbers; row 0"),
    (lambda m: m.ranking_loss([[1, 0], [1, 0]], [[2.0, 1.0], [0.0, -np.inf]]), "finite numbers; row 1"),
    (lambda m: m.label_ranking_auc([0, 0], [[2.0, 1.0], [np.inf, 3.0]]), "finite numbers; row 1"),
    (lambda m: m.coverage_error([[1, 0]], [[-np.nan, 1.0]]), "finite numbers; row 0"),
    (lambda m: m.ranking_loss([[1, 0], [2, 0]], np.ones((2, 2))), "0 and 1 only; row 1"),
    (lambda m: m.ranking_loss([[1, np.nan]], [[1.0, 2.0]]), "0 and 1 only; row 0"),
    (lambda m: m.ranking_loss([[1, 0, 0]], [[1.0, 2.0]]), "shape"),
    (lambda m: m.ranking_loss(sparse.csr_matrix([[2, 0]]), [[1.0, 2.0]]), "0 and 1 only"),
    (lambda m: m.ranking_loss([0, 2], np.ones((2, 2))), "columns 0 to 1; row 1"),
    (lambda m: m.ranking_loss([-1], np.ones((1, 2))), "columns 0 to 1"),
    (lambda m: m.ranking_loss(["a"], np.ones((1, 2))), "numbers"),
    (lambda m: m.ranking_loss(["a", "z"], np.ones((2, 2)), labels=["a", "b"]), "named in labels; row 1"),
    (lambda m: m.ranking_loss(["a"], np.ones((1, 2)), labels=[0, 1]), "named in labels"),
    (lambda m: m.ranking_loss([0], np.ones((1, 2)), labels=[0]), "labels must name the 2"),
    (lambda m: m.ranking_loss([0], np.ones((1, 2)), labels=[0, 0]), "labels must differ"),
    (lambda m: m.ranking_loss([0], np.ones((2, 2))), "as many rows"),
    (lambda m: m.ranking_loss(np.ones((0, 2)), np.ones((0, 2))), "no rows"),
    (lambda m: m.ranking_loss([{1}, {0}], np.ones((2, 2))), "y_true must hold numbers"),
    (lambda m: m.ranking_loss([0], [[1, 2]], sample_weight=[-1]), "non-negative"),
    (lambda m: m.ranking_loss([0], [[1, 2]], sample_weight=[0]), "zero everywhere"),
    (lambda m: m.ranking_loss([0], [[1, 2]], sample_weight=[1, 1]), "shape"),
    (lambda m: m.interval_mae([[2, 1]], [1]), "low <= high"),
    (lambda m: m.interval_mae([[np.inf, np.inf]], [1]), "low <= high"),
    (lambda m: m.interval_mae([np.inf], [1]), "finite classes"),
    (lambda m: m.interval_mae([[1, np.nan]], [1]), "integers"),
    (lambda m: m.interval_mae([1, 2], [1]), "as many rows"),
    (lambda m: m.interval_mae(["a"], ["a"]), "pass classes="),
    (lambda m: m.interval_mae(["a"], ["b"], classes=["a", "c"]), "y_pred must hold only values named in classes"),
    (lambda m: m.interval_hinge_loss([4], [0.0], [0.0, 1.0]), "classes 1 to 3"),
    (lambda m: m.interval_hinge_loss(["a"], [0.0], [0.0], classes=["a"]), "thresholds"),
    (lambda m: m.macro_averaged_mae([[1, 2]], [1]), "exact classes"),
    (lambda m: m.multitask_one_error([[1, 2]], [[1, 2]]), "0, 1 and NaN"),
    (lambda m: m.multitask_one_error([[1, -1], [0, 1]], np.ones((2, 2))), "-1, 1 and NaN .*row 1"),
    (lambda m: m.multitask_one_error([[1, 0]], [1.0]), "one shape"),
    (lambda m: m.multitask_hinge_loss([[1, 0]], [[1, 0]], norm="l3"), "norm must be"),
    (lambda m: m.multitask_hinge_loss([[1, 0]], [[1, 0]], norm=0.5), "norm must be"),
    (lambda m: m.cost_weighted_error([0, 1], [0, 1], cost=np.ones((3, 3))), "pass labels="),
    (lambda m: m.cost_weighted_error([0, 1], [0, 1], cost=-np.ones((2, 2))), "non-negative"),
    (lambda m: m.letter_accuracy(["ab"], ["a"]), "word 0"),
    (lambda m: m.letter_accuracy([], []), "at least one"),
    (lambda m: m.ndcg_score([-1, 1], [0, 1]), "non-negative relevance; row 0"),
    (lambda m: m.ndcg_score([1, 1], [0, 1], k=0), "k must be"),
    (lambda m: m.ndcg_score([1, 1], [0, 1], gain="log"), "gain must be"),
    (lambda m: m.ndcg_score([1, 1], [0, 1], qid=[1]), "qid must name"),
    (lambda m: m.ndcg_score([[1, 1]], [[0, 1]], qid=[1]), "rows of a matrix are lists"),
    (lambda m: m.kendall_tau_loss([1, 0], [0, 1], pairs="some"), "pairs must be"),
    (lambda m: m.kendall_tau_loss([1, 0, 1], [0, 1, 1], qid=[0, 0, 1], sample_weight=[1, 2, 1]), "within a list; row"),
    (lambda m: m.f1_score([0, 1, 2], [0, 1, 1]), "two labels"),
    (lambda m: m.f1_score(["a", "b"], ["a", "b"]), "pos_label=1"),
    (lambda m: m.fbeta_score([0, 1], [0, 1], beta=-1), "beta must be"),
    (lambda m: m.recall_at_k([0, 1], [0, 1], k=0), "k must be"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(metrics)


def test_all_is_sorted_and_documented():
    assert metrics.__all__ == sorted(set(metrics.__all__))
    own = [getattr(metrics, name) for name in metrics.__all__ if getattr(metrics, name).__module__.startswith("hinge")]
    assert all(">>>" in function.__doc__ for function in own)


def test_no_warnings_on_empty_classes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metrics.f1_score([0, 0], [0, 0]) == metrics.recall_score([0], [1]) == 1


@pytest.mark.parametrize("tied", [False, True])
def test_scores_that_take_several_threads_are_counted_as_by_scikit_learn(tied):
    """More rows than one block holds, ties and rows without a pair among them."""
    rng = np.random.default_rng(0)
    scores, Y = rng.normal(size=(2500, 400)), (rng.random((2500, 400)) < 0.05).astype(int)
    if tied:
        scores[::7] = np.round(scores[::7])
    Y[3], Y[2400] = 0, 1
    expected = sk.label_ranking_loss(Y, scores)
    assert metrics.label_ranking_loss(Y, scores) == pytest.approx(expected, rel=1e-14)
    assert metrics.label_ranking_loss(Y[:600], scores[:600]) == pytest.approx(
        sk.label_ranking_loss(Y[:600], scores[:600]), rel=1e-14
    )
    scores[2499, 0] = np.nan
    with pytest.raises(ValueError, match="row 2499"):
        metrics.label_ranking_loss(Y, scores)
