# SPDX-License-Identifier: Apache-2.0
"""Overrides: wider tolerances for one operator and type, each with a reason.

They are tables of a profile, [[overrides]]:

    [[overrides]]
    operator = "ai.onnx/Conv"   # as in --op
    type = "float"              # an element type of outputs, or a list of them
    rtol = 0.001                # and atol; or ulp
    reason = "the device multiplies numbers of 10 bits"

An override must not hide a wrong answer, so it is limited: MOST and `error_limit.MOST_OPERATORS`.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.judging import error_limit
from onnx_conformance.judging.error_limit import ErrorLimit
from onnx_conformance.specification.element_types import element_type_named, numpy_dtype
from onnx_conformance.suites.profile_file import ProfileError, TableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.allowance import Allowance

TABLE = "overrides"
"""The name of the tables in a file."""
MOST: Mapping[str, tuple[float, float]] = {
    "double": (0.01, 0.001),
    "float": (0.01, 0.001),
    "float16": (0.02, 0.01),
    "bfloat16": (0.05, 0.01),
}
"""By element type, the largest rtol and atol. A result that is scaled by 1.1 is beyond all of them."""


class Override(ErrorLimit):
    """One table of overrides: the errors that an answer may have in addition to the tolerance of its case."""

    def widened(self, allowance: Allowance, expected: Sequence[Value | Any]) -> Allowance:
        """Return the allowance of a case with this override; only outputs of its types have a wider tolerance."""
        bounds = []
        for index, wanted in enumerate(expected):
            own = np.zeros(()) if allowance.bounds is None else allowance.bounds[index]
            bounds.append(np.maximum(own, self.errors(wanted)) if self.takes(wanted) else own)
        return dataclasses.replace(allowance, bounds=tuple(bounds))


def of_tables(tables: object, name: str) -> tuple[Override, ...]:
    """Return the overrides of parsed tables; `name` is that of their file.

    Raises:
        ProfileError: one is malformed, has no reason, or is too wide.
    """
    found = []
    try:
        example = "the device multiplies numbers of 10 bits"
        for where, override in error_limit.of_tables(tables, TABLE, name, Override, example):
            _check_width(override, where)
            found.append(override)
    except TableError as error:
        raise ProfileError("overrides-invalid", str(error)) from None
    return tuple(found)


def _check_width(override: Override, where: str) -> None:
    for type_ in override.types:
        rtol, atol = MOST[type_]
        ulp = rtol / float(np.spacing(numpy_dtype(element_type_named(type_).number).type(1)))
        for key, most in (("rtol", rtol), ("atol", atol), ("ulp", ulp)):
            if (value := getattr(override, key)) > most:
                raise ProfileError(
                    "override-too-wide",
                    f"{where}: {key} = {value:g} is too wide; at most {_rounded(most)} is allowed for {type_}. Exclude "
                    "the failing cases instead",
                )


def _rounded(number: float) -> str:
    return f"{number:g}" if number < 1 else f"{math.floor(number)}"
