"""Labels: of any type, in any order, at any time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hinge.checks.cases import Case
from hinge.checks.laws import (
    begin,
    bits,
    fit,
    fresh,
    law,
    learn,
    one_by_one,
    refuses,
    require,
    same,
    same_learned,
    unchanged,
)
from hinge.labels import as_array


def renamed(case: Case, name: Callable[[Any], Any]) -> Case:
    """Return the case with every label renamed."""
    y: Any = [{name(label) for label in one} if isinstance(one, set) else name(_plain(one)) for one in case.y]
    if case.kind == "labels":
        y = as_array(y)
    return replace(case, y=y, classes=[name(label) for label in case.classes or ()])


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _learned_but_names(estimator: Any) -> Any:
    from hinge.checks.laws import learned

    return {name: value for name, value in learned(estimator).items() if name != "classes_"}


@law(kinds="labels sets", has="classes_")
def check_relabelling_in_order(estimator: Any, case: Case) -> None:
    """Names that sort alike give the same weights, and the answers renamed."""
    numbers = {label: 10 * i - 7 for i, label in enumerate(case.classes or ())}
    it, other = fit(fresh(estimator), case), fit(fresh(estimator), renamed(case, numbers.__getitem__))
    same(_learned_but_names(it), _learned_but_names(other), "what is learned of labels with other names")
    require([numbers[label] for label in it.classes_.tolist()] == other.classes_.tolist(), "classes_ are not renamed")
    _answers_are_renamed(it, other, case, numbers)


@law(kinds="labels sets", has="partial_fit classes_")
def check_relabelling_permutes(estimator: Any, case: Case) -> None:
    """In a stream labels are numbered as they appear, so that names in any order rename the answers only."""
    if case.kind == "sets":
        return check_relabelling_in_order(estimator, case)  # the members of one set appear in their own order
    names = {label: label[::-1] for label in case.classes or ()}
    it, other = learn(fresh(estimator), case), learn(fresh(estimator), renamed(case, names.__getitem__))
    same(_learned_but_names(it), _learned_but_names(other), "what is learned of labels with other names")
    return _answers_are_renamed(it, other, case, names)


def _answers_are_renamed(it: Any, other: Any, case: Case, names: dict[Any, Any]) -> None:
    for a, b in zip(it.predict(case.X), other.predict(case.X), strict=True):
        expected = {names[label] for label in a} if isinstance(a, set) else names[_plain(a)]
        require(expected == b, f"the answer {a!r} became {b!r} when labels were renamed")


@law(kinds="labels", has="classes_")
def check_types_of_labels(estimator: Any, case: Case) -> None:
    """Labels are strings, integers, bools, tuples or a mixture, and answers are of their type."""
    known = case.classes or []
    namings: list[list[Any]] = [
        [3, 1, 2, 9],
        [2.0, 1.0, 7.0, 4.0],
        ["é", "a b", "", "日"],
        [("a", 1), ("b",), (), (1,)],
    ]
    namings += [["a", 1, ("b", 2), -5]]
    if len(known) == 2:
        namings.append([False, True])
    for naming in namings:
        names = dict(zip(known, naming[: len(known)], strict=True))
        other = renamed(case, names.__getitem__)
        it = fit(fresh(estimator), other)
        require(set(it.classes_.tolist()) == set(names.values()), f"classes_ is {it.classes_} for {naming}")
        for answer in it.predict(case.X).tolist():
            require(
                any(answer == label and type(answer) is type(label) for label in names.values()),
                f"the answer {answer!r} is none of {naming}",
            )


@law(kinds="labels sets", has="partial_fit classes_ coef_", params="new_labels")
def check_new_labels_are_added(estimator: Any, case: Case) -> None:
    """A label exists from the row in which it first appears, and columns never move."""
    it, seen = fresh(estimator, new_labels="add"), list[Any]()
    for t in range(len(case)):
        learn(it, case.take([t]))
        now = it.classes_.tolist()
        require(now[: len(seen)] == seen, f"row {t} moved the columns from {seen} to {now}")
        seen = now
    require(sorted(seen) == sorted(case.classes or ()), f"classes_ is {seen} at the end")
    require(len(getattr(it, "code_", it.coef_)) == len(seen), "a label has no weights")


@law(kinds="labels sets", has="partial_fit classes_", params="new_labels")
def check_new_labels_are_refused(estimator: Any, case: Case) -> None:
    """With ``new_labels="error"`` a new label is an error that names it and its row; nothing is learned."""
    it = begin(fresh(estimator, new_labels="error"), case)
    stranger = [{"violet"}] if case.kind == "sets" else ["violet"]
    y = [*case.y[:3], *stranger]
    with unchanged(it, "a label that is refused"), refuses(ValueError, "row 3", "violet", why="a new label"):
        it.partial_fit(case.X[:4], y)
    with refuses(ValueError, "classes", why="a first call without classes"):
        learn(fresh(estimator, new_labels="error"), case)


@law(kinds="labels sets", has="partial_fit classes_ coef_", params="new_labels")
def check_new_labels_are_ignored(estimator: Any, case: Case) -> None:
    """With ``new_labels="ignore"`` a row of new labels is a round without a constraint."""
    it = begin(fresh(estimator, new_labels="ignore", average=False), case)
    coef, known, rounds = it.coef_, it.classes_, it.t_
    stranger: Any = [{"violet"}] if case.kind == "sets" else ["violet"]
    it.partial_fit(case.X[:1], stranger)
    same(known, it.classes_, "classes_ after a label to ignore")
    same(coef, it.coef_, "coef_ after a label to ignore")
    require(it.t_ == rounds + 1, "a round of ignored labels is a round")


@law(kinds="labels sets", has="partial_fit classes_")
def check_classes_may_come_later(estimator: Any, case: Case) -> None:
    """``classes=`` adds labels in any call, after those that are known."""
    it = learn(fresh(estimator), case)
    before = it.classes_.tolist()
    it.partial_fit(case.X[:1], case.y[:1], classes=[*before, "white", "black"])
    require(it.classes_.tolist() == [*before, "black", "white"], f"classes_ is {it.classes_}")
    scores = it.decision_function(case.X)
    require(scores.shape == (len(case), len(before) + 2), "a label from classes= has no score")


@law(kinds="labels sets", has="classes_")
def check_order_of_classes(estimator: Any, case: Case) -> None:
    """Labels that are known beforehand are sorted; those that appear come in order of appearance."""
    known = sorted(case.classes or ())
    require(fit(fresh(estimator), case).classes_.tolist() == known, "fit does not sort the labels")
    if not hasattr(estimator, "partial_fit"):
        return
    turned = learn(fresh(estimator), case, classes=known[::-1])
    require(turned.classes_.tolist() == known, "classes= are not sorted")
    if case.kind == "labels":
        appearing = list(dict.fromkeys(case.y.tolist()))
        require(learn(fresh(estimator), case).classes_.tolist() == appearing, "labels are not in order of appearance")


@law(kinds="indicator", has="classes_")
def check_columns_of_an_indicator_are_labels(estimator: Any, case: Case) -> None:
    """The labels of an indicator matrix are its columns, those without a 1 too; another width is refused."""
    it = fit(
        fresh(estimator),
        replace(case, y=case.y * np.array([[1, 1, 0, 1]]) if isinstance(case.y, np.ndarray) else case.y),
    )
    require(it.classes_.tolist() == [0, 1, 2, 3], f"classes_ is {it.classes_}")
    if hasattr(it, "partial_fit"):
        with unchanged(it, "an indicator of another width"), refuses(ValueError, "column", why="a column less"):
            it.partial_fit(case.X, case.y[:, :3])


@law(kinds="labels sets", has="add_labels partial_fit")
def check_added_labels(estimator: Any, case: Case) -> None:
    """``add_labels`` before the first round is ``classes=``; labels that exist are left as they are."""
    told = learn(fresh(estimator).add_labels(case.classes), case)
    same(told.decision_function(case.X), _columns(begin(fresh(estimator), case), case), "scores after add_labels")
    with unchanged(told, "adding labels that exist"):
        told.add_labels(case.classes)


def _columns(estimator: Any, case: Case) -> np.ndarray:
    return np.asarray(estimator.decision_function(case.X))


@law(kinds="labels sets", has="remove_labels partial_fit coef_ classes_")
def check_removed_labels(estimator: Any, case: Case) -> None:
    """``remove_labels`` moves the columns after it up and leaves the others as they are; the label may come back."""
    it = learn(fresh(estimator), case)
    known, coef = it.classes_.tolist(), it.coef_
    gone = known[0]
    it.remove_labels([gone])
    require(it.classes_.tolist() == known[1:], f"classes_ is {it.classes_} without {gone!r}")
    same(coef if hasattr(it, "code_") else coef[1:], it.coef_, "the weights of the labels that stay")
    with unchanged(it, "removing a label that is not there"), refuses(ValueError, gone, why="an unknown label"):
        it.remove_labels([known[1], gone])
    learn(it, case)
    require(it.classes_.tolist() == [*known[1:], gone], "a label that was removed does not come back at the end")


@law(kinds="labels", has="partial_fit")
def check_a_single_label(estimator: Any, case: Case) -> None:
    """While one label is known it is the answer."""
    first = case.take([0])
    it = learn(fresh(estimator), first)
    require(set(it.predict(case.X).tolist()) == set(first.y.tolist()), "one label is known, another is the answer")


@law(kinds="labels", has="partial_fit")
def check_many_labels(estimator: Any, case: Case) -> None:
    """Labels may be many, and come one by one: across every width of the weights' rows the bits are the same."""
    rng = np.random.default_rng(3)
    wide = replace(case, X=np.tile(case.X, (6, 1)), y=rng.permutation(np.arange(6 * len(case)) % 70), classes=None)
    whole = learn(fresh(estimator), wide)
    same_learned(whole, one_by_one(fresh(estimator), wide), "70 labels one by one")
    require(
        bits(whole.predict(wide.X)) == bits(np.concatenate([whole.predict(wide.X[:9]), whole.predict(wide.X[9:])])),
        "answers of chunks",
    )
