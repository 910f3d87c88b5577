# SPDX-License-Identifier: Apache-2.0
"""Measures the accuracy of one runtime: elementwise functions, then operators with many terms."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import line
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.specification import meanings, schema
from onnx_conformance.verification.accuracy import elementwise, growth, precise, unary
from onnx_conformance.verification.accuracy.measured import Accuracy, Elementwise, Growth, LeftOut, name_of
from onnx_conformance.verification.accuracy.models import NOT_SUPPORTED, Runner, dtype_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from onnx_conformance.base.target import Target
    from onnx_conformance.declare import Op
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.verification.accuracy.sums import Sum
    from onnx_conformance.verification.accuracy.unary import Function

POINTS = 16
"""Inputs of each exponent and sign, for float; see `inputs.sweep`."""
TIMEOUT = 60.0
"""Time limit of one model, in seconds."""
DOUBLE = "double"
NO_MPMATH = (
    "mpmath is not installed, so double is left out, and results that float64 cannot judge are not counted; "
    "install it with: pip install 'onnx-conformance[accuracy]'"
)


def accuracy(
    target: Target,
    wanted: Callable[[str], bool],
    types: Sequence[str] = (),
    *,
    points: int = POINTS,
    seed: int = 0,
    timeout: float = TIMEOUT,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> Accuracy:
    """Return the accuracy of a runtime.

    Args:
        target: the backend.
        wanted: returns whether to include an operator version, such as ai.onnx/Exp/13.
        types: the element types; by default all of `unary.TYPES`.
        points: see POINTS.
        seed: of the inputs.
        timeout: of one model, in seconds.
        progress: called with the activity, the number of completed steps and the total number.

    Raises:
        HarnessError: the backend does not start or is no runtime, or no selected operator is measured.
    """
    chosen = tuple(types) or unary.TYPES
    notes = [] if precise.available() else [NO_MPMATH]
    if not precise.available():
        chosen = tuple(name for name in chosen if name != DOUBLE)
    functions = [(item, name) for item in unary.functions(wanted) for name in item.types if name in chosen]
    sums = [
        (*item, name)
        for item in growth.operators(wanted)
        for name in growth.TYPES
        if name in chosen and f"tensor({name})" in item[2].allowed(item[2].inputs[0].type)
    ]
    if not functions and not sums:
        raise HarnessError(
            "accuracy-of-nothing",
            "no selected operator is measured in these types: `accuracy` measures elementwise functions of one tensor "
            "such as Exp, and sums such as MatMul"
            + ("" if precise.available() else "; " + NO_MPMATH.split(";")[1].strip()),
        )
    measured: list[Elementwise | Growth | LeftOut] = []
    with Asker(target, Limits(timeout)) as asker:
        hello = dict(asker.process.hello)
        subject = hello.get("subject", "runtime")
        if subject != "runtime":
            raise HarnessError(
                "accuracy-of-a-tool", f"{target.name} is a {line(subject, 40)}; accuracy needs a runtime, which "
                "returns values"
            )  # fmt: skip
        runner, total = Runner(asker), len(functions) + len(sums)
        for function, type_ in functions:
            progress(f"{name_of(str(function.version), function.attributes)} {type_}", len(measured), total)
            measured.append(_of_function(runner, function, type_, points, seed))
        for item, op, version, type_ in sums:
            progress(f"{version.name} {type_}", len(measured), total)
            measured.append(_of_sum(runner, item, op, version, type_, seed))
    return Accuracy(
        backend=target.name,
        runtime=line(hello.get("runtime", ""), 100),
        version=line(hello.get("version", ""), 100),
        onnx=onnx.__version__,
        notes=tuple(notes),
        elementwise=tuple(item for item in measured if isinstance(item, Elementwise)),
        growth=tuple(item for item in measured if isinstance(item, Growth)),
        left_out=tuple(item for item in measured if isinstance(item, LeftOut)),
        repro=str(hello.get("repro", "")),
        repro_wide=str(hello.get("repro_wide", "")),
    )


def _of_function(runner: Runner, function: Function, type_: str, points: int, seed: int) -> Elementwise | LeftOut:
    """Return the errors of a function; if the runtime lacks its version, of an earlier one with the same meaning."""
    found = elementwise.measured(runner, function, dtype_named(type_), type_, points, seed)
    for version in _earlier(function.version, found):
        older = dataclasses.replace(function, version=version)
        if type_ in older.types and set(function.attributes) <= set(version.attributes):
            other = elementwise.measured(runner, older, dtype_named(type_), type_, points, seed)
            if isinstance(other, Elementwise):
                return other
    return found


def _of_sum(runner: Runner, item: Sum, op: Op, version: OperatorVersion, type_: str, seed: int) -> Growth | LeftOut:
    """Return the errors of a sum; if the runtime lacks its version, of an earlier one with the same meaning."""
    found = growth.measured(runner, item, op, version, type_, seed)
    for older in _earlier(version, found):
        if f"tensor({type_})" in older.allowed(older.inputs[0].type):
            other = growth.measured(runner, item, op, older, type_, seed)
            if isinstance(other, Growth):
                return other
    return found


def _earlier(version: OperatorVersion, found: Elementwise | Growth | LeftOut) -> Iterator[OperatorVersion]:
    """Yield earlier versions with the meaning of a version that the runtime lacks, the newest first."""
    if isinstance(found, LeftOut) and found.reason.startswith(NOT_SUPPORTED):
        for since in meanings.earlier(f"{version.domain}/{version.name}", version.since):
            yield schema.in_force(version.domain, version.name, since)
