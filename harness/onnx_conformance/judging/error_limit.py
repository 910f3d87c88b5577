# SPDX-License-Identifier: Apache-2.0
"""The largest errors that a table of a profile states for outputs of some operators and element types."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import numpy as np

from onnx_conformance.base.verdict import line
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import element_type
from onnx_conformance.suites import profile_file
from onnx_conformance.suites.claims import operator_pattern
from onnx_conformance.suites.operator_versions import Pattern
from onnx_conformance.suites.profile_file import TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

TYPES = ("double", "float", "float16", "bfloat16")
"""The element types that may have limits; outputs of other types have no tolerance."""
MOST_OPERATORS = 20
"""Maximum number of operators of one table."""


@dataclass(frozen=True)
class ErrorLimit:
    """One table.

    Attributes:
        operator: a value of --op.
        types: the names of element types.
        reason: why the errors are limited in this way.
        rtol: relative to the expected value.
        atol: absolute; added to the relative one.
        ulp: units in the last place. The larger of both limits applies.
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

    def takes(self, value: object) -> TypeGuard[np.ndarray[Any, Any]]:
        """Return whether it applies to an output: to a tensor of one of its types."""
        return isinstance(value, np.ndarray) and element_type(value.dtype).name in self.types

    def errors(self, wanted: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the largest absolute error of each element; 0 for infinities and NaN, which stay exact."""
        with np.errstate(all="ignore"):
            relative = self.atol + self.rtol * np.abs(wanted.astype(np.float64))
            steps = self.ulp * np.abs(np.spacing(wanted).astype(np.float64))
            return np.asarray(np.where(np.isfinite(wanted.astype(np.float64)), np.fmax(relative, steps), 0.0))

    @property
    def limits(self) -> str:
        """The limits in words, such as "rtol 0.001, atol 0.0001"."""
        return ", ".join(f"{name} {value:g}" for name, value in self._numbers.items())

    @property
    def _numbers(self) -> dict[str, float]:
        given = {"rtol": self.rtol, "atol": self.atol, "ulp": self.ulp}
        return {name: value for name, value in given.items() if value}

    def __str__(self) -> str:
        """Return the operators, the types, the limits and the reason."""
        return line(f"{self.operator} ({', '.join(self.types)}), {self.limits}: {self.reason}", 600)

    @property
    def members(self) -> dict[str, Any]:
        """The table in the header of a results file."""
        return {"operator": self.operator, "type": list(self.types), **self._numbers, "reason": line(self.reason, 600)}


OfTable = TypeVar("OfTable", bound=ErrorLimit)


def of_tables(
    tables: object, table: str, name: str, made: type[OfTable], example: str
) -> Iterator[tuple[str, OfTable]]:
    """Yield the place in words and the content of each table.

    Args:
        tables: the array, as the parsed file has it.
        table: the name of the tables.
        name: that of their file.
        made: the class of a table.
        example: a reason, for the message about a table without one.

    Raises:
        TableError: one is malformed, or has no reason.
    """
    needs = {"operator": '"ai.onnx/Conv"', "type": '"float"', "reason": f'"{example}"'}
    for where, item in profile_file.tables(tables, table, name):
        found = profile_file.fields(item, where, _KEYS, needs)
        limit = made(**{"types" if key == "type" else key: value for key, value in found.items()})
        if not limit.limits:
            raise TableError(f"{where} has no tolerance; write rtol = 0.001, atol or ulp")
        yield where, limit


def _operator(value: object) -> str:
    pattern = operator_pattern(value)
    matches = Pattern.parse(pattern).matches
    count = sum(any(map(matches, versions)) for versions in schema.every().values())
    if count > MOST_OPERATORS:
        raise ValueError(f"this matches {count} operators, and a table may have {MOST_OPERATORS}; name fewer")
    return pattern


def _types(value: object) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else profile_file.texts(value)
    if not set(names) <= set(TYPES):
        raise ValueError(f"expected some of {', '.join(TYPES)}; other types have no tolerance")
    return names


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError("expected a number above 0")
    return float(value)


_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "operator": _operator, "type": _types, "rtol": _number, "atol": _number, "ulp": _number,
    "reason": profile_file.text,
}  # fmt: skip
