# SPDX-License-Identifier: Apache-2.0
"""The verdict on a model that a quantizer made: only rounding to the grids in the model may change the results.

A quantized model is right if these statements hold, whatever its scales are:

1. It is valid, it has the inputs and outputs of the original model, and the text defines its results.
2. Each quantized constant is within half a step of the original one. If it is not, and the results are near the
   original ones, there is no verdict.
3. Without rounding, the model has the results of the original: see `unrounded`. This includes the ranges of the grids,
   which must contain the numbers that the quantizer saw.
4. No grid is coarser than these numbers need.

The inputs of a case are also the numbers by which the quantizer calibrates.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Outcome
from onnx_conformance.case.compare import compare
from onnx_conformance.case.elements import is_float
from onnx_conformance.case.value_text import brief
from onnx_conformance.judging import transformer, unrounded
from onnx_conformance.processes import examiner
from onnx_conformance.processes.replies import Answered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.base.values import Drawn, Value
    from onnx_conformance.case.case import Case
    from onnx_conformance.judging.unrounded import Unrounded
    from onnx_conformance.processes.replies import ReturnedModel

Fields = dict[str, Any]
EVALUATOR = "onnx_conformance.specification.evaluator"
RELATIVE = 1e-4
"""The greatest difference of the results without rounding, relative to the greatest number of an output: the rewritten
model computes in float32, and divides by scales by which it multiplies later. A step of 8 bits is 40 times larger."""
ANY_VALUE = Allowance("only types and shapes are compared", atol=float("inf"))
NEAR = {True: 0.02, False: 0.3}
"""The greatest difference of results near the original ones, relative to the greatest number of an output: with
integers of 8 bits or more, and with other types."""
WASTED = 4.2
"""How many times as coarse as necessary a grid may be. A symmetric grid for positive numbers is twice as coarse, and
quantizers leave out one bit for processors whose products overflow."""
BOUNDED: Mapping[str, tuple[float, float]] = {
    "Softmax": (0, 1), "Sigmoid": (0, 1), "HardSigmoid": (0, 1), "Tanh": (-1, 1), "Softsign": (-1, 1),
}  # fmt: skip
"""Operators for whose results a quantizer need not know the numbers."""


def judged(case: Case, reply: ReturnedModel) -> Fields:
    """Return the verdict on a quantized model, and the other fields of a result that depend on it."""
    original = onnx.load_from_string(case.model)
    if case.outcome is not Outcome.VALUES or case.expected is None or unrounded.is_quantized(original):
        return {"verdict": Verdict.UNSPECIFIED, "message": "no requirement on quantizing this model"}
    if fault := transformer.fault(case, reply):
        return {"verdict": Verdict.INVALID_MODEL, "message": fault}
    assert reply.model is not None  # noqa: S101 - it was parsed
    made = onnx.load_from_string(reply.model)
    rounded = examiner.evaluated(case, reply.model, case.inputs)
    if not isinstance(rounded, Answered):
        return transformer.no_answer(rounded)
    try:
        exact = unrounded.unrounded(original, made)
    except unrounded.UnknownQuantizationError as error:
        return {"verdict": Verdict.UNSPECIFIED, "message": f"there is no rule for this quantization: {error}"}
    if not exact.quantizes:
        return {"verdict": Verdict.UNSUPPORTED, "message": "the quantizer changed no tensor to a shorter type"}
    return (
        _form_fault(case, rounded.outputs)
        or _constants_fault(case, exact, rounded.outputs)
        or _values_fault(case, exact, rounded.outputs)
        or {"verdict": Verdict.PASS}
    )


def _constants_fault(case: Case, exact: Unrounded, rounded: Sequence[Value]) -> Fields | None:
    """Return the fields of a model with constants that are not within half a step of the original ones.

    If its results are near the original ones, the quantizer may have changed the constants on purpose. For example, it
    may have multiplied them by a factor of another node.
    """
    assert case.expected is not None  # noqa: S101 - see judged
    if not exact.unlike:
        return None
    message = "; ".join(map(str, exact.unlike[:3]))
    if _far(case.expected, rounded) > max(NEAR[item.is_fine] for item in exact.unlike):
        return _wrong(message, case.expected, rounded)
    return {"verdict": Verdict.UNSPECIFIED, "message": f"{message}; but the results are near the original ones"}


def _far(expected: Sequence[Value | Drawn], outputs: Sequence[Value]) -> float:
    """Return the greatest difference of two floats, relative to the greatest number of their output."""
    worst = 0.0
    for one, other in zip(expected, outputs, strict=True):
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and is_float(one) and one.size:
            wide = one.astype(np.float64)
            with np.errstate(all="ignore"):
                far = np.abs(wide - other.astype(np.float64)).max() / np.abs(wide).max()
            worst = max(worst, float(np.nan_to_num(far, nan=np.inf)))
    return worst


def _form_fault(case: Case, outputs: Sequence[Value]) -> Fields | None:
    """Return the fields of a model whose outputs have other types or shapes than the original ones."""
    assert case.expected is not None  # noqa: S101 - see judged
    fields = transformer.unlike(dataclasses.replace(case, allowance=ANY_VALUE), case.expected, outputs)
    return None if fields is None or fields["verdict"] is Verdict.WRONG_VALUE else fields


def _values_fault(case: Case, exact: Unrounded, rounded: Sequence[Value]) -> Fields | None:
    """Return the fields of a model that differs from the original by more than rounding, or None."""
    assert case.expected is not None  # noqa: S101 - see judged
    names = tuple(dict.fromkeys((*case.outputs, *(item.name for item in exact.watched))))
    asked = _with_outputs(exact.model, names[len(case.outputs) :])
    there = examiner.evaluated(case, asked.SerializeToString(), case.inputs, EVALUATOR, names)
    if not isinstance(there, Answered):
        fields = transformer.no_answer(there)
        return {**fields, "verdict": Verdict.UNSPECIFIED, "message": f"without rounding, {fields['message']}"}
    outputs = there.outputs[: len(case.outputs)]
    mismatch = compare(tuple(case.expected), tuple(outputs), _widened(case))
    values = dict(zip(names, there.outputs, strict=True))
    if mismatch is not None:
        if exact.unmatched:
            lost = line(", ".join(exact.unmatched), 120)
            return {"verdict": Verdict.UNSPECIFIED, "message": f"no constant of the original is that of {lost}"}
        why = _narrow(exact, values) or f"even without rounding, {mismatch}"
        return {**mismatch.fields, **_wrong(why, case.expected, rounded)}
    coarse = _coarse(exact, values)
    return _wrong(coarse, case.expected, rounded) if coarse else None


def _with_outputs(model: onnx.ModelProto, names: Sequence[str]) -> onnx.ModelProto:
    """Return a model that also returns these values."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    made.graph.output.extend(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names)
    return made


def _widened(case: Case) -> Allowance:
    """Return the allowance of a case, which is wider by the error of computing the rewritten model in float32."""
    assert case.expected is not None  # noqa: S101 - see judged
    bounds: list[Any] = []
    for index, value in enumerate(case.expected):
        bound: Any = np.zeros(value.shape if isinstance(value, np.ndarray) else ())
        if isinstance(value, np.ndarray) and is_float(value):
            wide, own = value.astype(np.float64), case.allowance.bound(index)
            most = float(np.max(np.abs(wide[np.isfinite(wide)]), initial=0.0))
            bound = np.full(wide.shape, RELATIVE * most) + (0 if own is None else own)
        bounds.append(bound)
    return dataclasses.replace(case.allowance, reason="without rounding", bounds=tuple(bounds), signed_zero=False)


def _narrow(exact: Unrounded, values: Mapping[str, Value]) -> str:
    """Return the first grid whose range does not contain its numbers, or an empty text.

    A range that ends at zero is meant to cut off numbers.
    """
    for item in exact.watched:
        value = np.asarray(values[item.name], np.float64)
        for end, worst in ((item.low, np.min(value, initial=0.0)), (item.high, np.max(value, initial=0.0))):
            if end and abs(float(worst)) > abs(end):
                return f"{line(item.name, 60)} is up to {worst:.6g}, but the range of its grid ends at {end:.6g}"
    return ""


def _coarse(exact: Unrounded, values: Mapping[str, Value]) -> str:
    """Return why a grid is coarser than necessary, or an empty text.

    Tensors with the same scale may have to share it, for example because an operator only moves their elements. The one
    with the largest range decides.
    """
    ranges: dict[float, tuple[float, float]] = {}
    for item in exact.watched:
        value = np.asarray(values[item.name], np.float64)
        found = (float(np.min(value, initial=0.0)), float(np.max(value, initial=0.0)))
        bounded = BOUNDED.get(item.made_by, found)
        low, high = ranges.get(item.scale, (0.0, 0.0))
        ranges[item.scale] = (min(low, found[0], bounded[0]), max(high, found[1], bounded[1]))
    for item in exact.watched:
        low, high = ranges[item.scale]
        necessary = (high - low) / item.steps
        if necessary > 0 and item.scale > WASTED * necessary:
            return (
                f"the scale {line(item.scale_name, 60)} is {item.scale:.6g}, but the numbers from {low:.6g} to "
                f"{high:.6g} need only {necessary:.6g}"
            )
    return ""


def _wrong(message: str, expected: Sequence[Value | Drawn], outputs: Sequence[Value]) -> Fields:
    return {
        "verdict": Verdict.WRONG_VALUE, "message": message, "expected": brief(tuple(expected)),
        "actual": brief(tuple(outputs)),
    }  # fmt: skip
