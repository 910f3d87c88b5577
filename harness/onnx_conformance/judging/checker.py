# SPDX-License-Identifier: Apache-2.0
"""The verdict on a model that a checker accepts, and the phase in which a violation is detectable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.case import Outcome
from onnx_conformance.declare.clause import Force
from onnx_conformance.processes.examiner import evaluated
from onnx_conformance.processes.replies import Accepted, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.case import Case

SIGNATURE, STATIC, RUN = "signature", "static", "run"
"""Phases: violations of the signature; those visible in types, shapes and attributes; those visible in values."""

MOST_SIZES = 16
"""Integers in a list that may be sizes, axes or the like."""


def judged(case: Case, reply: Accepted) -> dict[str, Any]:
    """Return the verdict on a model that a checker accepts, and the other fields of the result."""
    if case.outcome is not Outcome.REJECTS:
        return {"verdict": Verdict.PASS}
    found = phase(case)
    message = f"accepted; the violation is detectable in the phase {found}"
    if found not in reply.phases:
        return {"verdict": Verdict.UNSPECIFIED, "message": f"{message}, which this checker does not cover"}
    return {"verdict": Verdict.ACCEPTED_INVALID, "message": message, "expected": "refused"}


def phase(case: Case) -> str:
    """Return the phase in which a violation is detectable: signature, static, or run (only from the values)."""
    if case.force == Force.SIGNATURE:
        return SIGNATURE
    if any(_steers(value) for value in case.inputs.values()):
        return RUN
    replies = (evaluated(case, case.model, inputs) for inputs in _values(case))
    return STATIC if all(isinstance(reply, Refused) for reply in replies) else RUN


def _steers(value: Value) -> bool:
    """Return whether a value may be one that others are computed by: few integers, such as a shape, sizes or axes."""
    if isinstance(value, list):
        return any(map(_steers, value))
    return isinstance(value, np.ndarray) and value.dtype.kind in "iub" and value.ndim <= 1 and value.size <= MOST_SIZES


def _values(case: Case) -> Iterator[dict[str, Value]]:
    """Yield other values of the same types and shapes: zeros, and ones."""
    for number in (0, 1):
        yield {name: _filled(value, number) for name, value in case.inputs.items()}


def _filled(value: Value, number: int) -> Value:
    if isinstance(value, list):
        return [_filled(item, number) for item in value]
    if not isinstance(value, np.ndarray) or value.dtype == object:
        return value
    return np.full(value.shape, number).astype(value.dtype)
