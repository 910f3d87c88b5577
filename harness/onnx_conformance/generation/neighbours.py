# SPDX-License-Identifier: Apache-2.0
"""Cases of the core with another node, or with constant inputs, which tools that change models rewrite."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.case.case import PLAIN, Outcome, by_itself, delivered_id
from onnx_conformance.declare import NoAnswer
from onnx_conformance.forms import table
from onnx_conformance.forms.delivered import Delivered, opset_of, read_of
from onnx_conformance.specification.evaluator import Evaluator, UndeclaredError
from onnx_conformance.tolerance.several_nodes import of_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.case.case import Case


def neighbours(case: Case) -> Iterator[Case]:
    """Yield a case in each of the forms that it can have."""
    if case.form != PLAIN or case.outcome is not Outcome.VALUES or case.files or case.earlier is not None:
        return
    for form, made in table.delivered(started(case), table.Start.CASE):
        if form != PLAIN and _is_valid(made):
            yield _case(case, form, made)


def started(case: Case) -> Delivered:
    """Return the plain form of a case of the core."""
    model = onnx.load_from_string(case.model)
    opset = opset_of(model)
    return Delivered(
        model=model,
        inputs=case.inputs,
        expected=case.expected,
        allowance=by_itself(case).allowance,
        subject=range(len(model.graph.node)),
        opsets=range(opset, opset + 1),
        read=read_of(model, case.inputs),
    )


def _is_valid(made: Delivered) -> bool:
    """Return whether the text allows the model. The additional operator may not support this type in this opset."""
    try:
        Evaluator().model(made.model, made.inputs)
    except (NoAnswer, UndeclaredError):
        return False
    return True


def _case(case: Case, form: str, made: Delivered) -> Case:
    return dataclasses.replace(
        by_itself(case),
        id=delivered_id(case.id, form),
        form=form,
        model=made.model.SerializeToString(),
        inputs=made.inputs,
        expected=made.expected,
        allowance=made.allowance or of_model(made.model, made.inputs),
    )
