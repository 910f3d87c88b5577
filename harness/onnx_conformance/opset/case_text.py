# SPDX-License-Identifier: Apache-2.0
"""A case as an operator file would declare it: `new --model`."""

from __future__ import annotations

import importlib
import math
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EMPTY, Clause, Graph, Rule, Typed
from onnx_conformance.declare.type import Type
from onnx_conformance.opset.operator_file import Draft, Edits, OperatorFileError, path_of
from onnx_conformance.specification import packages, registry, schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.declare import Op
    from onnx_conformance.generation.deliveries import Plan

MOST = 200
"""The most elements of a tensor that an operator file has written out."""


def added(plan: Plan, comment: str) -> Draft:
    """Return the operator file with a case at its end.

    Args:
        plan: of the case.
        comment: one line about its origin.

    Raises:
        OperatorFileError: the case has values that do not belong into an operator file, or the file has its name.
    """
    op, path = plan.op, path_of(plan.op)
    if any(spec.name == plan.spec.name for spec in op):
        raise OperatorFileError(
            "case-exists", f"{path} has a case {plan.spec.name!r} already; name another with --name"
        )
    edits = Edits(path.read_text("utf-8"), op)
    words = [*_outcome(plan), *_arguments(plan)]
    one_line = f'{edits.constant}.case("{plan.spec.name}", {", ".join(words)})'
    lines = "".join(f"    {word},\n" for word in words)
    text = one_line if len(one_line) <= 120 else f'{edits.constant}.case(\n    "{plan.spec.name}",\n{lines})'  # noqa: PLR2004
    edits.append(textwrap.fill(comment, 118, initial_indent="# ", subsequent_indent="# ") + f"\n{text}\n")
    needed = {name for name in ("typed", "Rule", "EMPTY", "graph", "np") if f"{name}." in text or f"{name}(" in text}
    needed |= {"EMPTY"} if "EMPTY" in text else set()
    left = [f"import {name}" for name in sorted(needed) if not edits.imports(name)]
    if not plan.spec.rejects and not plan.spec.unspecified:
        left.append("cites=: the sentence that the case tries")
    return Draft(path, edits.text(), tuple(left))


def _outcome(plan: Plan) -> Iterator[str]:
    for word, clause in (("rejects", plan.spec.rejects), ("unspecified", plan.spec.unspecified)):
        if clause is not None:
            yield f"{word}={_clause_name(plan.op, clause)}"
    if plan.spec.n not in {None, plan.version.outputs_least, len(plan.version.outputs)} or plan.spec.omits:
        yield f"n={plan.spec.n}"
    if plan.spec.omits:
        yield f"omits={plan.spec.omits!r}"


def _clause_name(op: Op, clause: Clause) -> str:
    """Return the name of a clause in the file of an operator."""
    for name, value in vars(Rule).items():
        if value == clause:
            return f"Rule.{name}"
    for module in registry.operator_modules(packages.owner_of(op.domain, op.name)):
        if registry.declares(module, op):
            for name, value in vars(importlib.import_module(module)).items():
                if value is clause or (isinstance(value, Clause) and clause in value.wordings):
                    return name
    raise OperatorFileError(
        "clause-without-name",
        f"the file of {op} has no name for the deciding clause «{clause.text}»; write the case to a folder with --out",
    )


def _arguments(plan: Plan) -> Iterator[str]:
    bound = {**{name: plan.version.default_type(name) for name in plan.version.types}, **plan.types}
    for name, value in plan.spec.arguments.items():
        parameter = plan.version.arguments[name]
        type_ = "" if isinstance(parameter, schema.Attribute) else parameter.type
        usual = plan.version.default_type(type_) if type_ in plan.version.types else type_
        yield f"{name}={_value(value, bound.get(type_, type_), usual)}"
    if plan.spec.stray:
        yield f"stray={dict(plan.spec.stray)!r}"


def _value(value: Any, type_: str, usual: str) -> str:  # noqa: ANN401 - whatever a declaration takes
    """Return an argument as Python text, with its type if it is not the usual one."""
    if value is EMPTY:
        return "EMPTY"
    if isinstance(value, tuple):
        return f"({', '.join(_value(item, type_, usual) for item in value)},)"
    if isinstance(value, Graph):
        return f"graph({value.text!r})"
    if isinstance(value, Typed):
        return f'typed("{Type.parse_short(value.type).short}", {_literal(value.values)})'
    text = _literal(value)
    return f'typed("{Type.parse(type_).short}", {text})' if type_ != usual else text


def _literal(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, np.ndarray):
        if value.size > MOST:
            raise OperatorFileError(
                "tensor-too-large-to-declare",
                f"a tensor of {value.size} elements is too large for an operator file; write the case to a folder "
                "with --out",
            )
        return _literal(value.tolist()) if value.size else f"np.zeros({value.shape})"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_literal(item)}' for key, item in value.items())}}}"
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else f"{'-' * (value < 0)}np.inf"
    return "EMPTY" if value is None else repr(value)
