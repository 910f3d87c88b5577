# SPDX-License-Identifier: Apache-2.0
"""`new`: the skeleton of an operator file, or a case from a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from onnx_conformance.base import atomic_file, printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import line
from onnx_conformance.case.case import Outcome
from onnx_conformance.case.model_file import load_model
from onnx_conformance.case.value_text import brief
from onnx_conformance.generation import from_model
from onnx_conformance.generation.deliveries import plain
from onnx_conformance.opset import case_text, operator_file
from onnx_conformance.specification import packages, schema
from onnx_conformance.suites import onnx_layout

if TYPE_CHECKING:
    import onnx

    from onnx_conformance.base.values import Value
    from onnx_conformance.generation.deliveries import Plan
    from onnx_conformance.opset.operator_file import Draft


@click.command("new")
@click.argument("operator", required=False, metavar="[OPERATOR[/VERSION]]")
@click.option(
    "--model", type=click.Path(dir_okay=False, path_type=Path),
    help="Write a case instead: from a model with one node, and the inputs in test_data_set_0/ in the same folder.",
)  # fmt: skip
@click.option(
    "--inputs", type=click.Path(dir_okay=False, path_type=Path),
    help="Read the inputs of the model from this .npz file of numpy instead, by name.",
)  # fmt: skip
@click.option("--name", default="", help="The name of the case: lower-case words joined by underscores.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path),
    help="Write the case to this folder in ONNX's layout (for `run --suite FOLDER`), not to the operator file.",
)  # fmt: skip
def new(operator: str | None, model: Path | None, inputs: Path | None, name: str, out: Path | None) -> None:
    """Write the skeleton of an operator file, or a case from a failing model.

    The sentences of the specification become clauses. Questions that need a decision fail in the tests until they are
    decided. With --model, a failure in practice becomes a case with the outcome that the oracle expects.
    """
    if model is not None and operator is None:
        _case(model, inputs, name, out)
    elif operator is not None and model is None and not (inputs or name or out):
        _write(operator_file.new(*_named(operator)))
    else:
        raise HarnessError(
            "nothing-to-declare",
            "name an operator, such as Split/18, or a model with --model; --inputs, --name and --out need --model",
        )


def _named(text: str) -> tuple[str, str, int | None]:
    """Return domain, name and version of an operator of the installed onnx."""
    words = text.split("/")
    since = int(words.pop()) if len(words) > 1 and words[-1].isdecimal() else None
    every = (path for package in packages.every() for path in schema.every(package))
    found = [path for path in every if "/".join(words) in (path, path.split("/")[1])]
    if not found:
        for note in packages.problems():
            printing.warn(note)
        raise HarnessError("unknown-operator-to-declare", schema.no_operator(line("/".join(words))))
    domain, name = found[0].split("/")
    return domain, name, since


def _write(draft: Draft) -> None:
    existed = draft.path.exists()
    atomic_file.write(draft.path, [draft.text])
    printing.show(f"{'extended' if existed else 'wrote'} {draft.path}")
    if draft.left:
        printing.show("\nto do:")
    for text in draft.left:
        printing.show(f"  - {text}")


def _case(path: Path, inputs: Path | None, name: str, out: Path | None) -> None:
    model = load_model(path)
    title = name or path.parent.name if path.stem == "model" else name or path.stem
    plan = from_model.plan_from_model(f"{path}", model, _inputs(path, model, inputs), title or "case")
    printing.show(_outcome(plan))
    if out is None:
        _write(case_text.added(plan, f"From a failing model: {line(path.name)}."))
        return
    written = onnx_layout.write(plain(plan), out)
    printing.show(f"wrote {written}; `onnx-conformance run --suite {out}` runs it")


def _outcome(plan: Plan) -> str:
    """Return the expected outcome of a case as text."""
    if plan.outcome in {Outcome.VALUES, Outcome.PROPERTY}:
        return f"{plan.version}: the oracle returns {brief(plan.expected or ())}"
    assert plan.decided is not None  # noqa: S101 - an outcome without values has a clause
    outcome = "invalid" if plan.outcome is Outcome.REJECTS else "unspecified"
    return f"{plan.version}: {outcome}: «{plan.decided.text}»" + (f" ({plan.detail})" if plan.detail else "")


def _inputs(path: Path, model: onnx.ModelProto, values: Path | None) -> dict[str, Value]:
    """Return the inputs of a model by name, from a file or from the test data in its folder."""
    names = [info.name for info in model.graph.input]
    if values is None:
        if not (path.parent / "test_data_set_0").is_dir():
            raise HarnessError(
                "inputs-missing",
                f"{line(path)}: there is no test_data_set_0 in its folder; pass the inputs with --inputs FILE.npz",
            )
        case = next(onnx_layout.read(path.parent, path.parent, "model"))
        return dict(case.inputs)
    try:
        with np.load(values, allow_pickle=False) as data:
            found: dict[str, Any] = {name: data[name] for name in data.files}
    except (OSError, ValueError) as error:
        raise HarnessError(
            "inputs-not-readable", f"{line(values)} is not an .npz file of plain tensors: {line(error)}"
        ) from None
    initializers = {item.name for item in model.graph.initializer}
    if missing := [name for name in names if name not in found and name not in initializers]:
        raise HarnessError(
            "inputs-incomplete",
            f"{line(values)} has no {', '.join(map(line, missing))}; it has {', '.join(map(line, found)) or 'nothing'}",
        )
    return {name: found[name] for name in names if name in found}
