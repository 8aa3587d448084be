"""`hinge inspect` and `hinge verify`: what a model file holds, and whether it is whole."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from hinge.cli.screen import plain_table


@click.command()
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def inspect(model: str, as_json: bool) -> None:
    """Say what a model is, what it has learned, and what is proven about that.

    \b
    Examples:
      hinge inspect mail.hinge
      hinge inspect mail.hinge --json
    """
    import hinge

    found = facts(hinge.load(model), model)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
        return
    shown = [[name, _shown(value)] for name, value in found.items() if value is not None]
    click.echo(plain_table(["what", "value"], shown, left=2))


def facts(learner: Any, model: str) -> dict[str, Any]:
    """Return what there is to say of a model."""
    from hinge.cli.predict import plain

    labels = getattr(learner, "classes_", None)
    names = getattr(learner, "feature_names_in_", None)
    proof = getattr(learner, "certificate_", None)
    found: dict[str, Any] = {
        "class": type(learner).__name__,
        "parameters": {name: plain(value) for name, value in learner.get_params().items() if _is_plain(plain(value))},
        "rounds": getattr(learner, "t_", None),
        "features": getattr(learner, "n_features_in_", None),
        "named features": None if names is None else len(names),
        "labels": None if labels is None else len(labels),
        "first labels": None if labels is None else [plain(label) for label in labels[:10]],
        "bytes": os.path.getsize(model),
        "objective at least": getattr(learner, "lower_bound_", None),
        "proven gap": getattr(learner, "gap_", None),
    }
    if proof is not None:
        found |= {"mistakes": proof.mistakes, "loss": proof.loss, "dual": proof.dual}
        found["mistakes at most"] = proof.mistake_bound if proof.mistake_bound < float("inf") else None
    return found


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str | list)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={one}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:.6g}" if isinstance(value, float) else f"{value}"


@click.command()
@click.argument("models", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a model.")
def verify(models: tuple[str, ...], as_json: bool) -> None:
    """Read every byte of model files and compare it with their checksums; open them.

    \b
    Examples:
      hinge verify mail.hinge
      hinge verify *.hinge
    """
    import hinge
    from hinge.model_file import read_model

    for model in models:
        header, sections = read_model(model)
        hinge.load(model)
        total = sum(section.nbytes for section in sections.values())
        if as_json:
            found = {"model": model, "class": header["class"], "sections": len(sections), "bytes": total}
            click.echo(json.dumps(found, ensure_ascii=False))
            continue
        click.echo(f"{model}: fine, {header['class']}, {len(sections)} sections, {total} bytes of weights")
