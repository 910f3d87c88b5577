# SPDX-License-Identifier: Apache-2.0
"""Overrides: wider tolerances for one operator and type, each with a reason.

They are tables of a profile, [[overrides]]:

    [[overrides]]
    operator = "ai.onnx/Conv"   # as in --op
    type = "float"              # an element type of outputs, or a list of them
    rtol = 0.001                # and atol; or ulp
    reason = "the device multiplies numbers of 10 bits"

An override must not hide a wrong answer, so it is limited: MOST and MOST_OPERATORS.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.base.verdict import line
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import element_type, element_type_named, numpy_dtype
from onnx_conformance.suites import profile_file
from onnx_conformance.suites.claims import operator_pattern
from onnx_conformance.suites.operator_versions import Pattern
from onnx_conformance.suites.profile_file import ProfileError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
MOST_OPERATORS = 20
"""Maximum number of operators of one override."""


@dataclass(frozen=True)
class Override:
    """One table of overrides.

    Attributes:
        operator: a value of --op.
        types: the names of element types.
        reason: why the tolerance is wider.
        rtol: relative to the expected value.
        atol: absolute; added to the relative one.
        ulp: units in the last place.
    """

    operator: str
    types: tuple[str, ...]
    reason: str
    rtol: float = 0.0
    atol: float = 0.0
    ulp: float = 0.0

    def has(self, operator: str) -> bool:
        """Return whether it applies to an operator version, such as ai.onnx/Conv/11."""
        return Pattern.parse(self.operator).matches(operator)

    def widened(self, allowance: Allowance, expected: Sequence[Value | Any]) -> Allowance:
        """Return the allowance of a case with this override; only outputs of its types have a wider tolerance."""
        bounds = []
        for index, wanted in enumerate(expected):
            own = np.zeros(()) if allowance.bounds is None else allowance.bounds[index]
            if isinstance(wanted, np.ndarray) and element_type(wanted.dtype).name in self.types:
                own = np.maximum(own, self._bound(wanted))
            bounds.append(own)
        return dataclasses.replace(allowance, bounds=tuple(bounds))

    def _bound(self, wanted: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the allowed absolute error of each element; 0 for infinities and NaN, which stay exact."""
        with np.errstate(all="ignore"):
            bound = self.atol + self.rtol * np.abs(wanted.astype(np.float64))
            steps = self.ulp * np.abs(np.spacing(wanted).astype(np.float64))
            return np.asarray(np.where(np.isfinite(wanted.astype(np.float64)), np.fmax(bound, steps), 0.0))

    @property
    def limits(self) -> str:
        """The tolerance in words, such as "rtol 0.001, atol 0.0001"."""
        given = (("rtol", self.rtol), ("atol", self.atol), ("ulp", self.ulp))
        return ", ".join(f"{name} {value:g}" for name, value in given if value)

    def __str__(self) -> str:
        """Return where it applies, the tolerance and the reason."""
        return line(f"{self.operator} ({', '.join(self.types)}), {self.limits}: {self.reason}", 600)

    @property
    def members(self) -> dict[str, Any]:
        """The override in the header of a results file."""
        given = {"rtol": self.rtol, "atol": self.atol, "ulp": self.ulp}
        return {
            "operator": self.operator,
            "type": list(self.types),
            **{name: value for name, value in given.items() if value},
            "reason": line(self.reason, 600),
        }


def of_tables(tables: object, name: str) -> tuple[Override, ...]:
    """Return the overrides of parsed tables; `name` is that of their file.

    Raises:
        ProfileError: one is malformed, has no reason, or is too wide.
    """
    try:
        return tuple(_override(table, where) for where, table in profile_file.tables(tables, TABLE, name))
    except TableError as error:
        raise ProfileError("overrides-invalid", str(error)) from None


def _override(table: object, where: str) -> Override:
    needs = {"operator": '"ai.onnx/Conv"', "type": '"float"', "reason": '"the device multiplies numbers of 10 bits"'}
    found = profile_file.fields(table, where, _KEYS, needs)
    override = Override(**{"types" if key == "type" else key: value for key, value in found.items()})
    if not override.limits:
        raise TableError(f"{where} has no tolerance; write rtol = 0.001, atol or ulp")
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
    return override


def _rounded(number: float) -> str:
    return f"{number:g}" if number < 1 else f"{math.floor(number)}"


def _operator(value: object) -> str:
    pattern = operator_pattern(value)
    matches = Pattern.parse(pattern).matches
    count = sum(any(map(matches, versions)) for versions in schema.every().values())
    if count > MOST_OPERATORS:
        raise ValueError(f"this matches {count} operators, and an override may have {MOST_OPERATORS}; name fewer")
    return pattern


def _types(value: object) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else profile_file.texts(value)
    if not set(names) <= set(MOST):
        raise ValueError(f"expected some of {', '.join(MOST)}; other types have no tolerance")
    return names


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError("expected a number above 0")
    return float(value)


_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "operator": _operator, "type": _types, "rtol": _number, "atol": _number, "ulp": _number,
    "reason": profile_file.text,
}  # fmt: skip
