# SPDX-License-Identifier: Apache-2.0
"""Expected outputs for cases without any, such as a user's model: those of the oracle, or of another backend."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.base.verdict import line
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome, by_itself
from onnx_conformance.case.compare import compare
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.replies import Answered
from onnx_conformance.specification.evaluator import UndeclaredError
from onnx_conformance.tolerance import whole_model

if TYPE_CHECKING:
    from onnx_conformance.processes.replies import Reply


def lacks_outputs(case: Case) -> bool:
    """Return whether a case should have expected outputs, but none are stored with it."""
    return case.outcome is Outcome.VALUES and not case.has_outputs


def by_oracle(case: Case) -> Case:
    """Return a case that expects the outputs of the oracle, within the tolerance of its operators.

    Without such outputs or tolerance, it is unspecified, with the reason as its detail.
    """
    model, noted = onnx.load_from_string(case.model), whole_model.Noted()
    try:
        if case.files:
            return _without(case, "the oracle does not read external data of this case")
        with np.errstate(all="ignore"):
            values: Any = noted.model(model, case.inputs)
            allowance = whole_model.of_model(model, case.inputs, noted)
    except UndeclaredError as error:
        return _without(case, f"the oracle does not know all its operators: {line(error, 300)}")
    except Exception as error:  # noqa: BLE001 - an oracle may assume properties of declared calls, such as a rank
        return _without(case, f"the oracle has no outputs: {line(error, 300) or type(error).__name__}")
    if allowance is None:
        return _without(case, "the text does not define how far an answer may be from the oracle's")
    expected = tuple(values[name] for name in case.outputs)
    return dataclasses.replace(by_itself(case), expected=expected, allowance=allowance)


def by_backend(case: Case, backend: str, reply: Reply) -> Case:
    """Return a case that expects the outputs of a reference backend; without outputs, it is unspecified."""
    if isinstance(reply, Answered):
        right = case.expected is not None and compare(case.expected, reply.outputs, case.allowance) is None
        # Alternatives and sums that the text allows for our answer need not be those of a wrong one.
        allowance = (
            case.allowance if right else dataclasses.replace(case.allowance, any_of=(), any_order=None, sums=None)
        )
        return dataclasses.replace(case, outcome=Outcome.VALUES, expected=reply.outputs, detail="", allowance=allowance)
    result = judge(dataclasses.replace(case, outcome=Outcome.VALUES), backend, reply)
    return _without(case, f"the reference {backend} has no outputs: {result.verdict} {result.message}")


def _without(case: Case, detail: str) -> Case:
    return dataclasses.replace(
        case, outcome=Outcome.UNSPECIFIED, expected=None, allowance=Allowance(case.allowance.reason), detail=detail
    )
