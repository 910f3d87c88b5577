# SPDX-License-Identifier: Apache-2.0
"""The verdict on a model that an exporter made of a program, from three voices.

1. The framework runs the program in its own types.
2. The oracle evaluates the exported model.
3. The framework runs the program in double precision, if it can.

An exporter is at fault if the oracle differs from the framework by more than rounding explains. If only the run in the
program's own types differs from both others, the kernels of the framework are imprecise, and the exporter is right. If
all three differ, rounding decides the result, and there is no verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.compare import compare
from onnx_conformance.case.elements import is_float
from onnx_conformance.case.value_text import brief
from onnx_conformance.declare.rounding import nearest
from onnx_conformance.judging.transformer import no_answer
from onnx_conformance.processes import examiner
from onnx_conformance.processes.program_requests import Program
from onnx_conformance.processes.replies import Answered, Late, Refused
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx

    from onnx_conformance.base.values import Array, Value
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.replies import Product, ProgramRun, Reply

Fields = dict[str, Any]
EVALUATOR = "onnx_conformance.specification.strict_examiner"
BOUNDS = "onnx_conformance.tolerance.model_bounds"
EQUAL = Allowance("")
UNITS = 1
"""Units in the last place by which a result of double precision may differ, because it is rounded to another type."""
IMPRECISE = "only the framework's run in the types of the program differs; its run in double precision agrees"

THREE = (
    "the exported model, the framework, and the framework in double precision have three different results, so "
    "rounding decides"
)


def judged(case: Case, product: Product) -> Fields:
    """Return the verdict on an exported program, and the other fields of a result that depend on it."""
    assert isinstance(case, Program)  # noqa: S101 - only these have a product
    made = examiner.parsed(product.model)
    if isinstance(made, str):
        return {"verdict": Verdict.INVALID_MODEL, "message": f"the exporter returned {made}"}
    opsets = [item.version for item in made.opset_import if item.domain in {"", "ai.onnx"}]
    if any(opset > case.opset for opset in opsets):
        return _invalid(f"the model is of opset {max(opsets)}, but opset {case.opset} was requested")
    lower = opsets and max(opsets) < case.opset
    notes = [f"the model is of opset {max(opsets)}, although opset {case.opset} was requested"] if lower else []
    for place, run in enumerate(product.runs):
        fields = _input_fault(made, run) or _judged(case, made, product.model, run, notes)
        if fields is not None and not (place and _is_of_indices(run, fields)):
            sizes = f"with {_sizes(run)}: " if place else ""
            return {**fields, "message": sizes + fields["message"]}
    return {"verdict": Verdict.PASS, "message": "; ".join(dict.fromkeys(notes))}


def _is_of_indices(run: ProgramRun, fields: Fields) -> bool:
    """Return whether a sentence may forbid the inputs of a run, not the model: integers may be invalid indices.

    That concerns runs with other sizes than those of the program, whose inputs are derived from its own.
    """
    integers = any(isinstance(value, np.ndarray) and value.dtype.kind in "iu" for value in run.inputs.values())
    return integers and fields.get("error") == "Rejected"


def _invalid(message: str) -> Fields:
    return {"verdict": Verdict.INVALID_MODEL, "message": message}


def _input_fault(made: onnx.ModelProto, run: ProgramRun) -> Fields | None:
    """Return the fields of a model that does not have the inputs of the program."""
    own = {item.name for item in made.graph.initializer}
    needed = {item.name: item.type for item in made.graph.input if item.name not in own}
    for name in run.inputs.keys() - needed.keys():
        return _invalid(f"the model has no input {line(name, 60)}, which the exporter reports")
    for name in needed.keys() - run.inputs.keys():
        return _invalid(f"the model has an input {line(name, 60)}, to which no input of the program belongs")
    sizes: dict[str, int] = {}
    for name, value in run.inputs.items():
        if fault := _unlike_declared(needed[name], value, sizes):
            return _invalid(f"the input {line(name, 60)} {fault}")
    return None


def _unlike_declared(declared: onnx.TypeProto, value: Value, sizes: dict[str, int]) -> str:
    """Return how a value contradicts its declaration; empty if it does not.

    Args:
        declared: the type and shape that the model declares.
        value: the value.
        sizes: the sizes of the symbolic dimensions so far, to which those of this value are added.
    """
    if not declared.HasField("tensor_type"):
        return ""
    type_ = schema.type_of_proto(declared)
    if not isinstance(value, np.ndarray):
        return f"is declared {type_}, but is no tensor"
    if type_ is not None and schema.dtype_of(type_) != value.dtype:
        return f"is declared {type_}, but its type is {value.dtype}"
    if not declared.tensor_type.HasField("shape"):
        return ""
    dims = declared.tensor_type.shape.dim
    words = [str(dim.dim_value) if dim.HasField("dim_value") else dim.dim_param or "?" for dim in dims]
    fits = len(dims) == value.ndim and all(
        dim.dim_value == size
        if dim.HasField("dim_value")
        else not dim.dim_param or sizes.setdefault(dim.dim_param, size) == size
        for dim, size in zip(dims, value.shape, strict=True)
    )
    return "" if fits else f"is declared with shape [{', '.join(words)}], but its shape is {list(value.shape)}"


def _judged(case: Program, made: onnx.ModelProto, model: bytes, run: ProgramRun, notes: list[str]) -> Fields | None:
    """Return the fields if one run does not agree with the model; None if it agrees."""
    outputs = tuple(item.name for item in made.graph.output)
    reply = examiner.evaluated(case, model, run.inputs, EVALUATOR, outputs)
    if not isinstance(reply, Answered):
        fields = no_answer(reply, "exported") | ({"error": reply.error} if isinstance(reply, Refused) else {})
        # The exporter is not responsible for an operator without an oracle.
        return {**fields, "verdict": Verdict.UNSPECIFIED} if fields["verdict"] is Verdict.UNSUPPORTED else fields
    mismatch = compare(run.outputs, reply.outputs, EQUAL)
    if mismatch is not None:
        shown = {"expected": brief(run.outputs), "actual": brief(reply.outputs)}
        fields = {**mismatch.fields, "message": f"the exported model, evaluated by the oracle: {mismatch}", **shown}
        if mismatch.verdict is not Verdict.WRONG_VALUE:
            return fields
        undecided = _weighed(case, model, run, reply.outputs, outputs)
        if undecided is None:
            return fields
        if undecided.verdict is not Verdict.PASS:
            return {"verdict": undecided.verdict, "message": undecided.message, **shown}
        notes += [undecided.message] if undecided.message else []
    sizes: dict[str, int] = {}
    for item, value in zip(made.graph.output, reply.outputs, strict=True):
        if fault := _unlike_declared(item.type, value, sizes):
            return _invalid(f"the output {line(item.name, 60)} {fault}")
    return None


class _Weighed(NamedTuple):
    """The verdict where a difference is not the exporter's.

    Attributes:
        verdict: pass, or unspecified.
        message: the reason, in one line; empty if rounding within the bounds of the operators explains the difference.
    """

    verdict: Verdict
    message: str = ""


def _weighed(
    case: Program, model: bytes, run: ProgramRun, values: Sequence[Value], outputs: tuple[str, ...]
) -> _Weighed | None:
    """Return why a difference in values is not the exporter's fault; None if it is.

    Args:
        case: the request to export the program.
        model: the exported model.
        run: the run in the framework.
        values: the oracle's values.
        outputs: the names of the outputs.
    """
    reference = None if run.reference is None else _narrowed(run.reference, run.outputs)
    bounds = examiner.evaluated(case, model, run.inputs, BOUNDS, outputs)
    if isinstance(bounds, Answered):
        of_names = dict(zip(dict.fromkeys(outputs), map(np.asarray, bounds.outputs), strict=True))
        return _within(run, values, reference, tuple(of_names[name] for name in outputs))  # A name may be there twice.
    if reference is not None and compare(reference, values, _rounded(None)) is None:
        return _Weighed(Verdict.PASS)  # Even if rounding may decide the result of the model, here it is right.
    return _Weighed(Verdict.UNSPECIFIED, f"the exported model has no single right result: {_reason(bounds)}")


def _within(
    run: ProgramRun, values: Sequence[Value], reference: Sequence[Value] | None, errors: tuple[Array, ...]
) -> _Weighed | None:
    """Return why a difference is not the exporter's fault, if the errors of the operators are known; None if it is."""
    if compare(run.outputs, values, Allowance("", bounds=errors)) is None:
        return _Weighed(Verdict.PASS)
    if reference is None:
        return None
    allowance = _rounded(errors)
    if compare(reference, values, allowance) is None:
        return _Weighed(Verdict.PASS, IMPRECISE)
    return None if compare(reference, run.outputs, allowance) is None else _Weighed(Verdict.UNSPECIFIED, THREE)


def _rounded(errors: tuple[Array, ...] | None) -> Allowance:
    return Allowance("", ulp=UNITS, bounds=errors)


def _reason(reply: Reply) -> str:
    if isinstance(reply, Refused):
        return line(reply.message, 200)
    return f"the oracle needs more than {examiner.SECONDS:g} s" if isinstance(reply, Late) else "the oracle failed"


def _narrowed(reference: Sequence[Value], outputs: Sequence[Value]) -> tuple[Value, ...] | None:
    """Return the results of double precision in the types of the program; None if they are not of the same kind."""
    if len(reference) != len(outputs):
        return None
    pairs = list(zip(reference, outputs, strict=True))
    found = tuple(_narrow(wide, value) for wide, value in pairs)
    return (
        None if any(item is None and value is not None for item, value in zip(found, outputs, strict=True)) else found
    )


def _narrow(wide: Value, value: Value) -> Value:
    """Return a value in the type of another one; None if they differ in more than the precision of their numbers."""
    if isinstance(wide, list) and isinstance(value, list):
        items = [_narrow(*pair) for pair in zip(wide, value, strict=False)]
        return None if len(wide) != len(value) or any(item is None for item in items) else items
    if not isinstance(wide, np.ndarray) or not isinstance(value, np.ndarray) or wide.shape != value.shape:
        return None
    if wide.dtype == value.dtype:
        return wide
    if not is_float(wide) or not is_float(value) or (wide.dtype.kind == "c") != (value.dtype.kind == "c"):
        return None
    with np.errstate(all="ignore"):
        return nearest(wide, value.dtype)


def _sizes(run: ProgramRun) -> str:
    return ", ".join(
        f"{name} {list(value.shape)}" for name, value in run.inputs.items() if isinstance(value, np.ndarray)
    )
