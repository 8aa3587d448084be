"""Parameters, and what scikit-learn expects around them."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import clone

from hinge.checks.cases import Case
from hinge.checks.laws import (
    everything,
    fit,
    fresh,
    law,
    learn,
    refuses,
    require,
    same,
    same_learned,
    unchanged,
)


@law()
def check_unknown_values(estimator: Any, case: Case) -> None:
    """An impossible value of any parameter is an error in scikit-learn's sentence, raised by ``fit`` and not before."""
    for name in estimator.get_params(deep=False):
        it = fresh(estimator, **{name: object()})
        sentence = f"The '{name}' parameter of {type(it).__name__} must be"
        with refuses(ValueError, sentence, why=f"{name}=object()"):
            fit(it, case)
        if hasattr(it, "partial_fit"):
            with refuses(ValueError, sentence, why=f"{name}=object()"):
                learn(it, case)


@law(has="partial_fit")
def check_values_between_calls(estimator: Any, case: Case) -> None:
    """A value that became impossible is refused by the next call, which changes nothing; set back, learning goes on."""
    it, other = fit(fresh(estimator), case), fit(fresh(estimator), case)
    for name, value in it.get_params(deep=False).items():
        it.set_params(**{name: object()})
        with unchanged(it, f"{name}=object()"), refuses(ValueError, name, why=f"{name}=object() between calls"):
            learn(it, case)
        it.set_params(**{name: value})
    same_learned(learn(it, case), learn(other, case), "learning on after parameters were set back")


@law(has="partial_fit _structure")
def check_structure_is_fixed(estimator: Any, case: Case) -> None:
    """A parameter that shapes the model cannot change once learning began; ``fit`` may change it."""
    for name in estimator._structure:
        it = fit(fresh(estimator), case)
        was = getattr(it, name)
        it.set_params(**{name: another_value(it, name)})
        refused = refuses((ValueError, AttributeError), name, why=f"another {name} between calls")
        with unchanged(it, f"another {name}"), refused:
            learn(it, case)
        it.set_params(**{name: was})
        same_learned(learn(it, case), learn(fit(fresh(estimator), case), case), f"after {name} was set back")


def another_value(estimator: Any, name: str) -> Any:
    """Return a possible value of a parameter that is not the present one."""
    now = getattr(estimator, name)
    if isinstance(now, bool | np.bool_):
        return not now
    if isinstance(now, int | float):
        return now + 1
    if now is None:
        return 1
    if name == "dtype":
        return "float32" if np.dtype(now) == np.float64 else "float64"
    options = set().union(*(getattr(one, "options", ()) for one in estimator._parameter_constraints[name]))
    return sorted(options - {now})[0]


@law()
def check_parameters_are_kept(estimator: Any, case: Case) -> None:
    """Learning and answering leave the parameters as they were given: the same objects."""
    it = fresh(estimator)
    before = it.get_params()
    fit(it, case).predict(case.X)
    after = it.get_params()
    require(before.keys() == after.keys(), "parameters came or went")
    require(all(before[name] is after[name] for name in before), "learning changed a parameter")


@law()
def check_clone_and_set_params(estimator: Any, case: Case) -> None:
    """A clone has the parameters and nothing that was learned; ``set_params`` gives what ``__init__`` gives."""
    it = fit(fresh(estimator), case)
    copy = clone(it)
    same(everything(copy), everything(fresh(estimator)), "a clone")
    made, params = type(it)(**it.get_params(deep=False)), it.get_params(deep=False)
    same(made.get_params(), copy.get_params(), "the parameters of a clone")
    required = [one.name for one in inspect.signature(type(it)).parameters.values() if one.default is one.empty]
    bare = type(it)(**{name: params[name] for name in required})
    same_learned(fit(bare.set_params(**params), case), fit(made, case), "set_params")
    with refuses(ValueError, "no_such", why="an unknown parameter"):
        copy.set_params(no_such=1)


@law()
def check_init_only_stores(estimator: Any, case: Case) -> None:
    """``__init__`` stores its arguments and does nothing else."""
    marks = {name: object() for name in estimator.get_params(deep=False)}
    it = type(estimator)(**marks)
    require(vars(it) == marks, f"__init__ made {sorted(vars(it).keys() ^ marks.keys()) or 'other values'}")
    defaults = inspect.signature(type(estimator)).parameters.values()
    require(all(one.kind is not one.VAR_KEYWORD for one in defaults), "__init__ takes **kwargs")


@law()
def check_repr(estimator: Any, case: Case) -> None:
    """What an estimator prints makes it again, and learning does not change it."""
    from hinge import norms

    it = fresh(estimator)
    text = repr(it)
    names = {type(it).__name__: type(it), "inf": np.inf, "nan": np.nan, "array": np.array, **vars(norms)}
    names |= {type(value).__name__: type(value) for value in it.get_params().values()}
    same(eval(text, names).get_params(), it.get_params(), f"what {text} makes")
    require(repr(fit(it, case)) == text, "learning changed what is printed")


@law(params="dtype", has="coef_")
def check_spellings_of_dtype(estimator: Any, case: Case) -> None:
    """A dtype may be spelt in any way that NumPy reads; others than float32 and float64 are refused."""
    for kind, spellings in {
        np.float32: ("float32", "f4", np.float32, np.dtype("float32"), "single"),
        np.float64: ("float64", "f8", np.float64, np.dtype("float64"), float, "d"),
    }.items():
        first = fit(fresh(estimator, dtype=spellings[0]), case)
        found = np.asarray(first.coef_).dtype
        require(found == kind, f"coef_ is {found} with dtype={spellings[0]!r}")
        for spelling in spellings[1:]:
            same_learned(first, fit(fresh(estimator, dtype=spelling), case), f"dtype={spelling!r}")
    for wrong in ("float16", "int64", "word", None):
        with refuses(ValueError, "'dtype'", "float32 or float64", why=f"dtype={wrong!r}"):
            fit(fresh(estimator, dtype=wrong), case)


@law()
def check_docstrings(estimator: Any, case: Case) -> None:
    """The class and every public method say what they do; the class names every parameter and shows an example."""
    kind = type(estimator)
    text = inspect.getdoc(kind) or ""
    for heading in ("Parameters", "Examples"):
        require(f"\n{heading}\n---" in text, f"the docstring of {kind.__name__} has no {heading}")
    for name in estimator.get_params(deep=False):
        require(f"\n{name} : " in text, f"the docstring of {kind.__name__} does not name {name}")
    for name, member in inspect.getmembers(kind):
        if not name.startswith("_") and (callable(member) or isinstance(member, property)):
            require(inspect.getdoc(member), f"{kind.__name__}.{name} has no docstring")


@law()
def check_methods_return(estimator: Any, case: Case) -> None:
    """``fit`` and ``partial_fit`` return the estimator itself."""
    it = fresh(estimator)
    require(fit(it, case) is it, "fit does not return self")
    if hasattr(it, "partial_fit"):
        require(learn(it, case) is it, "partial_fit does not return self")


@law()
def check_batch_rules_say_so(estimator: Any, case: Case) -> None:
    """Online learning is all there or all absent."""
    names = ("partial_fit",) if not case.is_plain else ("partial_fit", "learn_one")
    here = {name: hasattr(estimator, name) for name in names}
    require(len(set(here.values())) == 1, f"some of the online methods are there: {here}")
