# SPDX-License-Identifier: Apache-2.0
"""The verdict on a model that a checker accepts, and the phase in which a violation is detectable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

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

MOST_STRINGS = 16
"""Strings of a model that are tried as values."""
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
    """Yield other values of the same types and shapes: zeros and ones, and the strings that the model contains."""
    texts = _strings(case.model) if any(map(_has_strings, case.inputs.values())) else [""]
    for number, text in [*((number, texts[0]) for number in (0, 1)), *((0, text) for text in texts[1:])]:
        yield {name: _filled(value, number, text) for name, value in case.inputs.items()}


def _has_strings(value: Value) -> bool:
    """Return whether a value is or contains a string."""
    if isinstance(value, dict):
        return any(isinstance(key, str) for key in value) or any(map(_has_strings, value.values()))
    if isinstance(value, list):
        return any(map(_has_strings, value))
    return isinstance(value, np.ndarray) and value.dtype == object


def _strings(model: bytes) -> list[str]:
    """Return the strings in the attributes of a model, such as categories; an empty string if it has none."""
    attributes = [attribute for node in onnx.load_from_string(model).graph.node for attribute in node.attribute]
    found = (text for attribute in attributes for text in (attribute.s, *attribute.strings) if text)
    return [*dict.fromkeys(text.decode("utf-8", "replace") for text in found)][:MOST_STRINGS] or [""]


def _filled(value: Value, number: int, text: str) -> Value:
    if isinstance(value, list):
        return [_filled(item, number, text) for item in value]
    if isinstance(value, dict):  # The items get one key: the others would be equal to it.
        return {text if isinstance(key, str) else number: _filled(item, number, text) for key, item in value.items()}
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype == object:
        return np.full(value.shape, text, object)
    return np.full(value.shape, number).astype(value.dtype)
