"""Whether the function body of an operator agrees with its text: the form @expanded.

The text of some operators defines them a second time, as a function of other operators. If the two definitions disagree
in a case, the operator file records the dispute.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.case.compare import compare
from onnx_conformance.declare import DeclarationError, Rejected, Unspecified
from onnx_conformance.specification.evaluator import UndeclaredError

if TYPE_CHECKING:
    from onnx_conformance.specification.evaluator import Evaluator


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
        clauses = (*case.clauses, open_.clause.text)
        return dataclasses.replace(case, outcome=Outcome.UNSPECIFIED, expected=None, clauses=clauses, detail=str(open_))
    except Rejected as rejected:
        difference = f"the body is not valid: {rejected}"
    else:
        mismatch = compare(case.expected or (), [answers[name] for name in case.outputs], case.allowance)
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
