# SPDX-License-Identifier: Apache-2.0
"""The verdict on inferred types and shapes: they must contain the values that the case expects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.base.values import Drawn
from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.case.case import Outcome
from onnx_conformance.case.value_text import brief
from onnx_conformance.forms.table import has_open_shapes
from onnx_conformance.processes import examiner
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import element_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import onnx

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.replies import ReturnedModel


def judged(case: Case, reply: ReturnedModel) -> dict[str, Any]:
    """Return the verdict on inferred types and shapes, and the other fields of a result that depend on them."""
    if case.outcome is Outcome.REJECTS or case.expected is None:
        return {
            "verdict": Verdict.UNSPECIFIED,
            "message": "no requirement on shape inference for invalid or unspecified models",
        }
    made = examiner.parsed_reply(reply)
    if isinstance(made, str):
        return {"verdict": Verdict.INVALID_MODEL, "message": made}
    types = {item.name: item.type for item in made.graph.output}
    if missing := [name for name in case.outputs if name not in types]:
        return {"verdict": Verdict.INVALID_MODEL, "message": line(f"it has no output {', '.join(missing)}", 200)}
    values = [item.example if isinstance(item, Drawn) else item for item in case.expected]
    faults = [
        {"verdict": verdict, "message": f"output {line(name, 60)}: {text}",
         "expected": brief((value,)), "actual": line(_type_text(types[name]), 200)}
        for name, value in zip(case.outputs, values, strict=True)
        for verdict, text in _contradictions(types[name], value)
    ]  # fmt: skip
    lies = [item for item in faults if item["verdict"] is not Verdict.KNOWS_LESS]
    silent = [] if has_open_shapes(case.form) else faults
    return next(iter(lies or silent), {"verdict": Verdict.PASS})


def _contradictions(type_: onnx.TypeProto, value: Value) -> Iterator[tuple[Verdict, str]]:
    """Yield the problems of an inferred type: it does not match the value, or is less precise than possible."""
    kind = type_.WhichOneof("value")
    if kind is None:
        yield Verdict.KNOWS_LESS, "no type"
    elif kind == "optional_type":
        if value is not None:
            yield from _contradictions(type_.optional_type.elem_type, value)
    elif kind == "sequence_type" and isinstance(value, list):
        for item in value:
            yield from _contradictions(type_.sequence_type.elem_type, item)
    elif kind == "map_type" and isinstance(value, dict):
        return
    elif kind == "tensor_type" and isinstance(value, np.ndarray):
        yield from _of_tensor(type_.tensor_type, value)
    else:
        yield Verdict.WRONG_TYPE, f"inferred {kind.removesuffix('_type')}, expected {brief((value,))}"


def _of_tensor(type_: onnx.TypeProto.Tensor, value: np.ndarray[Any, Any]) -> Iterator[tuple[Verdict, str]]:
    right = element_type(value.dtype)
    if not type_.elem_type:
        yield Verdict.KNOWS_LESS, "no element type"
    elif type_.elem_type != right.number:
        yield Verdict.WRONG_TYPE, f"inferred {schema.tensor_of(type_.elem_type)}, expected {right.name}"
    if not type_.HasField("shape"):
        yield Verdict.KNOWS_LESS, "no rank"
        return
    dims = type_.shape.dim
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in dims]
    if len(sizes) != value.ndim or any(a is not None and a != b for a, b in zip(sizes, value.shape, strict=True)):
        yield Verdict.WRONG_SHAPE, f"inferred shape {_shape_text(dims)}, expected {list(value.shape)}"
    elif None in sizes:
        yield Verdict.KNOWS_LESS, f"inferred shape {_shape_text(dims)}, actual {list(value.shape)}"


def _shape_text(dims: Sequence[onnx.TensorShapeProto.Dimension]) -> str:
    texts = (str(dim.dim_value) if dim.HasField("dim_value") else dim.dim_param or "?" for dim in dims)
    return line(f"[{', '.join(texts)}]", 120)


def _type_text(type_: onnx.TypeProto) -> str:
    if type_.WhichOneof("value") != "tensor_type":
        return schema.type_text(type_) or type_.WhichOneof("value") or "nothing"
    tensor = type_.tensor_type
    name = str(schema.tensor_of(tensor.elem_type)) if tensor.elem_type else "tensor"
    return f"{name} {_shape_text(tensor.shape.dim)}" if tensor.HasField("shape") else name
