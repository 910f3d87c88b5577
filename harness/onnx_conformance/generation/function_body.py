# SPDX-License-Identifier: Apache-2.0
"""Whether the function body of an operator agrees with its text: the form @expanded.

The text of some operators defines them a second time, as a function of other operators. If the two definitions disagree
in a case, the operator file records the dispute.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.case.compare import compare
from onnx_conformance.declare import DeclarationError, Rejected, Unspecified
from onnx_conformance.specification.evaluator import Answer, Evaluator, UndeclaredError

if TYPE_CHECKING:
    from onnx_conformance.base.values import Array


class _OtherValues(Evaluator):
    """Evaluates a model with other values for the elements that the text leaves open."""

    def applied(self, *call: Any) -> Answer:  # noqa: ANN401 - the parameters of Evaluator.applied
        """Return the oracle's answer with the other values."""
        answer = super().applied(*call)
        outputs = []
        for value, any_of, mask in zip(answer.outputs, answer.any_of, answer.open, strict=False):
            last = value if any_of is None else any_of.values[-1]
            outputs.append(last if mask is None else _other(last, mask))
        return dataclasses.replace(answer, outputs=outputs)


def _left_open(case: Case, because: Unspecified) -> Case:
    clauses = (*case.clauses, because.clause.text)
    return dataclasses.replace(case, outcome=Outcome.UNSPECIFIED, expected=None, clauses=clauses, detail=str(because))


def _other(value: Array, where: Array) -> Array:
    """Return a tensor with other elements in a mask: 1 instead of another number, 0 instead of 1."""
    if value.dtype.kind == "O":
        return np.where(where, value + "?", value)
    changed = ~value if value.dtype.kind == "b" else np.where(value.astype(np.float64) == 1, 0, 1).astype(value.dtype)
    return np.where(where, changed, value)


def agreed(case: Case, dispute: str | None, evaluator: Evaluator) -> Case | None:
    """Return an expanded case with the outcome of the function body; None if an operator of the body is undeclared.

    Args:
        case: the case, with the expected values of the whole operator.
        dispute: the reason why the body disagrees, or None.
        evaluator: an evaluator with the operators of the body.

    Raises:
        DeclarationError: the body disagrees with the operator, and there is no dispute.
    """
    try:
        answers = evaluator.model(onnx.load_from_string(case.model), case.inputs)
    except UndeclaredError:
        return None
    except Unspecified as open_:
        return _left_open(case, open_)
    except Rejected as rejected:
        difference = f"the body is not valid: {rejected}"
    else:
        mismatch = compare(case.expected or (), [answers[name] for name in case.outputs], case.allowance)
        if mismatch is None and evaluator.open_by:
            others = _OtherValues(evaluator.registry).model(onnx.load_from_string(case.model), case.inputs)
            if compare(case.expected or (), [others[name] for name in case.outputs], case.allowance) is not None:
                return _left_open(case, Unspecified(min(evaluator.open_by, key=lambda clause: clause.text)))
        if mismatch is None:
            of_parts = {reading.number for reading in evaluator.rests_on}
            return dataclasses.replace(case, readings=tuple(sorted({*case.readings, *of_parts})))
        difference = f"the body has another result: {mismatch}"
    if dispute is None:
        raise DeclarationError(
            "function-body-differs",
            f"{case.id}: {difference}; if the body is wrong, declare a dispute in the operator file",
        )
    notes = (*case.notes, dispute)
    return dataclasses.replace(case, outcome=Outcome.UNSPECIFIED, expected=None, notes=notes, detail=difference)
