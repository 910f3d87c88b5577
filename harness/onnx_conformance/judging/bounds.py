# SPDX-License-Identifier: Apache-2.0
"""Bounds: errors that a runtime stays below according to its author, smaller than those that the suite allows.

They are tables of a profile, [[bounds]]:

    [[bounds]]
    operator = "ai.onnx/Exp"   # as in --op
    type = "float"             # an element type of outputs, or a list of them
    ulp = 2                    # or rtol and atol
    reason = "the safety case assumes 2 ULP"

A case that exceeds a bound still passes, because the specification does not require the bound. But the gate closes.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.compare import compare
from onnx_conformance.case.nearest import nearest
from onnx_conformance.judging import error_limit
from onnx_conformance.judging.error_limit import ErrorLimit
from onnx_conformance.suites.profile_file import ProfileError, TableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.base.values import Value

TABLE = "bounds"
"""The name of the tables in a file."""


class Bound(ErrorLimit):
    """One table of bounds: the errors that an answer may have at most."""

    def exceeded(self, allowance: Allowance, expected: Sequence[Value | Any], actual: Sequence[Value]) -> str:
        """Return how an answer within the allowance of its case differs by more than the bound, or an empty text."""
        for index, (wanted, got) in enumerate(zip(nearest(expected, actual, allowance), actual, strict=True)):
            if not self.takes(wanted):
                continue
            errors = self.errors(wanted)
            mismatch = compare([wanted], [got], Allowance(self.reason, bounds=(errors,)))
            if mismatch is not None and (own := allowance.bound(index)) is not None:
                errors = np.where(np.isinf(own), np.inf, errors)  # These elements may have any value.
                mismatch = compare([wanted], [got], Allowance(self.reason, bounds=(errors,)))
            if mismatch is not None:
                return str(dataclasses.replace(mismatch, where=f"outputs[{index}]"))
        return ""


def of_tables(tables: object, name: str) -> tuple[Bound, ...]:
    """Return the bounds of parsed tables; `name` is that of their file.

    Raises:
        ProfileError: one is malformed, or has no reason.
    """
    try:
        rows = error_limit.of_tables(tables, TABLE, name, Bound, "the safety case assumes 2 ULP")
        return tuple(bound for _, bound in rows)
    except TableError as error:
        raise ProfileError("bounds-invalid", str(error)) from None
