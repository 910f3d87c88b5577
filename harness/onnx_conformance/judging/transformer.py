# SPDX-License-Identifier: Apache-2.0
"""The verdict on a model that a tool changed: the oracle evaluates it, and no runtime is in the loop."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.case.case import Outcome, by_itself
from onnx_conformance.case.compare import compare
from onnx_conformance.case.value_text import brief
from onnx_conformance.processes import examiner
from onnx_conformance.processes.examiner import evaluated
from onnx_conformance.processes.replies import Answered, Died, Late, Refused
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import element_type_named, numpy_dtype
from onnx_conformance.tolerance.several_nodes import UndecidedError, composed, in_narrower

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.base.values import Drawn, Value
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.replies import Reply, ReturnedModel

Fields = dict[str, Any]


def judged(case: Case, reply: ReturnedModel) -> Fields:
    """Return the verdict on a model that was changed, and the other fields of a result that depend on it."""
    if case.outcome is Outcome.REJECTS or case.expected is None:
        return {
            "verdict": Verdict.UNSPECIFIED,
            "message": "no requirement on transforming invalid or unspecified models",
        }
    if why := fault(case, reply):
        return {"verdict": Verdict.INVALID_MODEL, "message": why}
    if reply.precision:
        try:
            case = computed_in(case, reply.precision)
        except UndecidedError as error:
            return {"verdict": Verdict.UNSPECIFIED, "message": f"in {reply.precision}: {error}"}
    assert reply.model is not None  # noqa: S101 - it was parsed
    return (
        _differing(case, reply.model)
        or _on_other_shapes(case, reply.model, reply.precision)
        or {"verdict": Verdict.PASS}
    )


def computed_in(case: Case, precision: str) -> Case:
    """Return a case whose answer may be as far off as one of this precision is.

    Raises:
        UndecidedError: in that precision, several answers are right.
    """
    dtype = numpy_dtype(element_type_named(precision).number)
    return dataclasses.replace(by_itself(case), allowance=in_narrower(case, dtype))


def held_to(case: Case, hello: Mapping[str, Any]) -> Case:
    """Return a case with the tolerance for a tool's model, which is wider if the model computes in a narrower type.

    Args:
        case: the case.
        hello: the hello of the tool's adapter, which declares this type as `precision`.
    """
    precision = str(hello.get("precision", ""))
    if not precision or case.outcome is not Outcome.VALUES:
        return case
    try:
        return computed_in(case, precision)
    except UndecidedError:  # In this case, its values are never judged.
        return case


def fault(case: Case, reply: ReturnedModel) -> str:
    """Return why a reply is no model with the interface of the case's; empty: it is one."""
    made = examiner.parsed_reply(reply)
    return made if isinstance(made, str) else _interface_fault(onnx.load_from_string(case.model), made)


def _differing(case: Case, made: bytes) -> Fields | None:
    """Return the verdict where a changed model has not the values of the case."""
    assert case.expected is not None  # noqa: S101 - see judged
    there = evaluated(case, made, case.inputs)
    return unlike(case, case.expected, there.outputs) if isinstance(there, Answered) else no_answer(there)


def _interface_fault(first: onnx.ModelProto, made: onnx.ModelProto) -> str:
    """Return how the interface of a changed model differs from the original; empty: it does not."""
    wanted, there = ([item.name for item in model.graph.output] for model in (first, made))
    if wanted != there:
        return f"its outputs are {_names(there)}; those of the original model are {_names(wanted)}"
    for one, other in zip(first.graph.output, made.graph.output, strict=True):
        types = [_type_text(item) for item in (one, other)]
        if all(types) and types[0] != types[1]:
            return f"its output {line(one.name, 60)} is {types[1]}; in the original model it is {types[0]}"
    known = {item.name for item in first.graph.input}
    own = {item.name for item in made.graph.initializer} | {item.values.name for item in made.graph.sparse_initializer}
    extra = [item.name for item in made.graph.input if item.name not in known | own]
    return f"it has the inputs {_names(extra)}, which the original model does not have" if extra else ""


def _type_text(output: onnx.ValueInfoProto) -> str:
    """Return the type that an output declares; empty where it declares none."""
    try:
        return schema.type_text(output.type) or output.type.WhichOneof("value") or ""
    except KeyError as error:  # The number of its element type.
        return f"of element type {error}, which ONNX does not define"


def _names(names: Sequence[str]) -> str:
    return line(", ".join(names) or "none", 200)


def no_answer(reply: Reply, kind: str = "returned") -> Fields:
    """Return the fields of a model for which the oracle has no values; `kind`: exported, or returned by a tool."""
    verdict, message = Verdict.ADAPTER_ERROR, f"the oracle failed on the {kind} model"
    if isinstance(reply, Late):
        verdict, message = (
            Verdict.UNSPECIFIED,
            f"the oracle needs more than {examiner.SECONDS:g} s for the {kind} model",
        )
    elif isinstance(reply, Died):
        message = f"the oracle was ended by {reply.signal or reply.status} on the {kind} model"
    elif isinstance(reply, Refused):
        verdict, why = REFUSALS.get("" if reply.reason is not None else reply.error, (verdict, message))
        message = f"{why.format(kind=kind)}: {reply.message}"
    return {"verdict": verdict, "message": message}


REFUSALS = {
    "": (Verdict.UNSUPPORTED, "the {kind} model"),  # It has an operator without a specification.
    "NotImplementedError": (Verdict.UNSUPPORTED, "the {kind} model"),
    "Unspecified": (Verdict.UNSPECIFIED, "the {kind} model"),
    "ValidationError": (Verdict.INVALID_MODEL, "the model checker rejects the {kind} model"),
    "InferenceError": (Verdict.INVALID_MODEL, "strict shape inference rejects the {kind} model"),
    "Rejected": (Verdict.INVALID_MODEL, "the specification forbids the {kind} model"),
}
"""By the oracle's error on a model, the verdict and its reason; {kind} is returned or exported."""
FORBIDDEN = frozenset(error for error, (verdict, _) in REFUSALS.items() if verdict is Verdict.INVALID_MODEL)
"""Errors of the oracle for invalid models."""


def unlike(case: Case, expected: Sequence[Value | Drawn], outputs: Sequence[Value]) -> Fields | None:
    """Return the fields of a returned model whose outputs differ from the expected ones; None if they agree."""
    mismatch = compare(tuple(expected), tuple(outputs), case.allowance)
    if mismatch is None:
        return None
    return {
        **mismatch.fields, "message": f"the returned model, evaluated by the oracle: {mismatch}",
        "expected": brief(tuple(expected)), "actual": brief(tuple(outputs)),
    }  # fmt: skip


def _on_other_shapes(case: Case, made: bytes, precision: str) -> Fields | None:
    """Return the verdict where the changed model means the same for the case's shapes, but not for others."""
    if case.outcome is not Outcome.VALUES:
        return None
    for inputs in _other_inputs(case):
        other = _of_other_shape(case, inputs, precision)
        if other is None:
            continue
        assert other.expected is not None  # noqa: S101 - it has values
        there = evaluated(case, made, inputs)
        fields = unlike(other, other.expected, there.outputs) if isinstance(there, Answered) else no_answer(there)
        if fields is not None:
            shaped = {name: [*value.shape] for name, value in inputs.items() if isinstance(value, np.ndarray)}
            shapes = ", ".join(f"{name} {shape}" for name, shape in shaped.items())
            return {**fields, "message": f"with {shapes}: {fields['message']}"}
    return None


def _of_other_shape(case: Case, inputs: Mapping[str, Value], precision: str) -> Case | None:
    """Return a case with other inputs; None if they are invalid or unspecified."""
    if case.allowance.bounds is None:
        wanted = evaluated(case, case.model, inputs)
        if not isinstance(wanted, Answered):
            return None
        return dataclasses.replace(by_itself(case), expected=tuple(wanted.outputs), inputs=inputs)
    try:  # The allowed errors are known only for the inputs of the case.
        other = composed(case.id, case.operator, onnx.load_from_string(case.model), inputs, clauses=case.clauses)
        return computed_in(other, precision) if precision else other
    except UndecidedError:
        return None


def _other_inputs(case: Case) -> Iterator[dict[str, Value]]:
    """Yield inputs of other sizes along the axes that the model leaves open: one more, and one less."""
    open_axes: dict[str, dict[int, str]] = {}
    for item in onnx.load_from_string(case.model).graph.input:
        if item.type.HasField("tensor_type") and item.type.tensor_type.HasField("shape"):
            dims = item.type.tensor_type.shape.dim
            open_axes[item.name] = {axis: dim.dim_param for axis, dim in enumerate(dims) if dim.dim_param}
    if not any(open_axes.get(name) for name in case.inputs):
        return
    for more in (1, -1):
        inputs: dict[str, Value] = {}
        for name, value in case.inputs.items():
            changed = value
            for axis in open_axes.get(name, ()):
                if isinstance(changed, np.ndarray):
                    changed = _resized(changed, axis, max(1, changed.shape[axis] + more))
            inputs[name] = changed
        yield inputs


def _resized(array: np.ndarray[Any, Any], axis: int, size: int) -> np.ndarray[Any, Any]:
    """Return an array with another size along an axis, on which its last elements are repeated."""
    if not array.shape[axis]:
        return np.zeros((*array.shape[:axis], size, *array.shape[axis + 1 :]), array.dtype)
    places = np.minimum(np.arange(size), array.shape[axis] - 1)
    return np.ascontiguousarray(array.take(places, axis))
