# SPDX-License-Identifier: Apache-2.0
"""How far from the expected value the answers for each operator may be and why, and how far those of runtimes are."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.elements import is_float_type
from onnx_conformance.specification import registry
from onnx_conformance.specification.element_types import ELEMENT_TYPES, numpy_dtype

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.declare import Op, Tolerance
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.suites.selection import Selection

FLOATS = tuple(row.name for row in ELEMENT_TYPES if is_float_type(numpy_dtype(row.number)))
"""The element types that a tolerance is for: integers, strings and booleans are always exact."""


@dataclass
class Distance:
    """The distance of the answers of one backend from the expected values.

    Attributes:
        passed: the number of passed cases with values.
        typical: the median distance of the elements that differ, in units in the last place of their type; 0 if none
            does.
        ulps: the largest distance. If the tolerance is no number of units, it may be huge: a result that is nearly zero
            has tiny units, but the rounding errors of large terms.
        case: a case with the largest distance; empty if no element differs.
        wrong: the number of cases with wrong values, which do not count in the distances.
    """

    passed: int = 0
    typical: int = 0
    ulps: int = 0
    case: str = ""
    wrong: int = 0


@dataclass
class Bound:
    """The tolerance of an operator version.

    Attributes:
        operator: such as ai.onnx/Exp/13.
        types: the floating types of its outputs, such as float16.
        kind: `exact`: the same value; `units`: `ulp` units in the last place; `relative`: atol + rtol * |expected|;
            `formula`: a function of the inputs; `measured`: the error of a careful implementation on the same inputs.
        ulp: the units in the last place.
        narrow: the units in the last place of types of 16 bits; None if they are the same.
        rtol: the error relative to the expected value.
        atol: the absolute error.
        interval: the least and the greatest allowed value; None without limits.
        reason: the reason for the tolerance.
        distances: by backend, the distance of its answers; empty without results.
    """

    operator: str
    types: tuple[str, ...]
    kind: str
    ulp: float
    narrow: float | None
    rtol: float
    atol: float
    interval: tuple[float, float] | None
    reason: str
    distances: dict[str, Distance] = field(default_factory=dict)


def of(ops: Iterable[Op], selection: Selection) -> Iterator[Bound]:
    """Yield the tolerance of the newest selected version of each operator with outputs of a floating type."""
    for op in ops:
        versions = [item for item in registry.versions(op) if selection.takes_operator(str(item))]
        if not versions or not (types := _types(versions[-1])):
            continue
        made = op.compare
        yield Bound(
            str(versions[-1]), types, _kind(made), made.ulp, made.narrow, made.rtol, made.atol, made.interval,
            made.reason,
        )  # fmt: skip


def _types(version: OperatorVersion) -> tuple[str, ...]:
    """Return the floating and complex types that an output or its elements may have, in the order of ONNX's numbers."""
    allowed = {name for item in version.outputs for name in version.allowed(item.type)}
    return tuple(name for name in FLOATS if any(f"tensor({name})" in type_ for type_ in allowed))


def _kind(tolerance: Tolerance) -> str:
    if tolerance.measured:
        return "measured"
    if tolerance.bound is not None:
        return "formula"
    if tolerance.rtol or tolerance.atol:
        return "relative"
    return "units" if tolerance.ulp else "exact"


def measure(bounds: Iterable[Bound], results: Iterable[Result]) -> None:
    """Add the distances of the answers in results to the bounds of their operator versions."""
    by_operator = {item.operator: item.distances for item in bounds}
    counts: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for result in results:
        found = by_operator.get(result.operator)
        if found is None or result.outcome != "values":
            continue
        if result.verdict not in {Verdict.PASS, Verdict.WRONG_VALUE}:
            continue
        distance = found.setdefault(result.backend, Distance())
        if result.verdict == Verdict.WRONG_VALUE:
            distance.wrong += 1
            continue
        distance.passed += 1
        sizes = [abs(ulps) for pairs in result.ulps.values() for _, ulps in pairs]
        counts[result.operator, result.backend].update(sizes)
        if max(sizes, default=0) > distance.ulps:
            distance.ulps, distance.case = max(sizes), result.case
    for (operator, backend), sizes_of in counts.items():
        by_operator[operator][backend].typical = _median(sizes_of)


def _median(counts: Counter[int]) -> int:
    """Return the lower median of counted numbers; 0 without numbers."""
    passed, half = 0, counts.total() / 2
    for number, count in sorted(counts.items()):
        passed += count
        if passed >= half:
            return number
    return 0
