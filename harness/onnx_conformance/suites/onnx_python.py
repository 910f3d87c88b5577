# SPDX-License-Identifier: Apache-2.0
"""Cases as Python that onnx's own generator of node tests takes: files for onnx/backend/test/case/node/.

A case is one node with inputs and outputs there, in a method `export_NAME`. Cases that onnx's suite cannot express stay
behind: models that must be refused, properties of random values, and forms other than the plain one.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import onnx
from onnx import helper, numpy_helper

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.values import Drawn
from onnx_conformance.case.case import PLAIN, Case, Outcome
from onnx_conformance.declare.type import Kind, Type
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import element_type, element_type_named
from onnx_conformance.specification.nodes import of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np

    from onnx_conformance.base.values import Value

MOST = 400
"""The most elements of a tensor that a file has written out."""
HEAD = """\
# Copyright (c) ONNX Project Contributors
#
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

{imports}

import onnx
from onnx.backend.test.case.base import Base
from onnx.backend.test.case.node import expect


class {name}(Base):
"""
_OWN = frozenset({
    "float16", "float", "double", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
})  # fmt: skip
"""Element types that numpy has."""


class NotExpressibleError(HarnessError):
    """A case cannot be written as a node test of onnx; the text contains the reason."""


def file_name(operator: str) -> str:
    """Return the name of the file that onnx has for an operator: all small letters."""
    return f"{operator.lower()}.py"


def name_of(case: Case) -> str:
    """Return the name of a case as onnx has it, without `test_`."""
    return "_".join(re.findall(r"[a-z0-9]+", case.id.partition("/")[2].lower()))


def texts(cases: Iterable[Case]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield for each operator its name, the text of its file, and why some of its cases are not in it."""
    by_operator: dict[str, list[Case]] = {}
    for case in cases:
        by_operator.setdefault(case.operator.split("/")[1], []).append(case)
    for name, own in by_operator.items():
        methods, faults = [], []
        for case in own:
            try:
                methods.append(method(case))
            except NotExpressibleError as error:
                faults.append(str(error))
        body = "\n".join(methods)
        imports = "\n".join(["import ml_dtypes"] * ("ml_dtypes." in body) + ["import numpy as np"])
        if methods:
            yield name, HEAD.format(name=name, imports=imports) + body, faults
        else:
            yield name, "", faults


def method(case: Case) -> str:
    """Return a method that registers a case.

    Raises:
        NotExpressibleError: onnx's node tests have no words for it.
    """
    model = onnx.load_from_string(case.model)
    nodes = list(of(model))
    plain = case.form == PLAIN and len(nodes) == 1 and not model.functions and not model.graph.initializer
    if case.outcome is not Outcome.VALUES or case.expected is None:
        raise NotExpressibleError(
            "node-test-without-values", f"{case.id}: it is {case.outcome}; a node test of onnx has values"
        )
    if not plain:
        parts = f"{len(nodes)} nodes" if len(nodes) > 1 else f"the form {case.form}"
        raise NotExpressibleError(
            "node-test-of-several", f"{case.id}: it has {parts}; a node test of onnx has one node with inputs"
        )
    for item in model.opset_import:
        released = [opset for domain, opset in helper.OP_SET_ID_VERSION_MAP if domain == (item.domain or "ai.onnx")]
        if item.version not in released and item.version < max(released, default=0):
            raise NotExpressibleError(
                "opset-without-release",
                f"{case.id}: no release of onnx brought opset {item.version}, which its generator needs",
            )
    name = name_of(case)
    words = [f'"{nodes[0].op_type}"', f"inputs={_names(nodes[0].input)}", f"outputs={_names(nodes[0].output)}"]
    words += [f'domain="{nodes[0].domain}"'] if nodes[0].domain else []
    words += [f"{item.name}={_attribute(case, item)}" for item in nodes[0].attribute]
    given = [_value(case, value) for value in case.inputs.values()]
    wanted = [_value(case, value) for value in case.expected if not isinstance(value, Drawn)]
    opsets = ", ".join(f'onnx.helper.make_opsetid("{item.domain}", {item.version})' for item in model.opset_import)
    types = [f"        input_type_protos=[{protos}]," for protos in [_protos(model.graph.input)] if protos]
    types += [f"        output_type_protos=[{protos}]," for protos in [_protos(model.graph.output)] if protos]
    lines = [
        "    @staticmethod",
        f"    def export_{name}() -> None:",
        *(f"        # {text}" for text in case.clauses),
        "        node = onnx.helper.make_node(",
        *(f"            {word}," for word in words),
        "        )",
        "        expect(",
        "            node,",
        f"            inputs=[{', '.join(given)}],",
        f"            outputs=[{', '.join(wanted)}],",
        f'            name="test_{name}",',
        *(f"    {text}" for text in types),
        f"            opset_imports=[{opsets}],",
        "        )",
        "",
    ]
    return "\n".join(lines)


def _names(names: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def _protos(infos: Sequence[onnx.ValueInfoProto]) -> str:
    """Return the types of inputs or outputs, where one is no tensor, which onnx's generator cannot derive."""
    if all(info.type.HasField("tensor_type") for info in infos):
        return ""
    types = [(Type.parse(schema.type_text(info.type)), info.type.tensor_type.shape.dim) for info in infos]
    return ", ".join(_proto(type_, dims) for type_, dims in types)


def _proto(type_: Type, dims: Sequence[onnx.TensorShapeProto.Dimension] | None = None) -> str:
    if type_.inner is None:
        shape = None if dims is None else [item.dim_value for item in dims]
        return f"onnx.helper.make_tensor_type_proto({element_type_named(type_.element).number}, {shape})"
    inner = _proto(type_.inner)
    if type_.kind is Kind.MAP:
        return f"onnx.helper.make_map_type_proto({element_type_named(type_.element).number}, {inner})"
    name = "sequence" if type_.kind is Kind.SEQUENCE else "optional"
    return f"onnx.helper.make_{name}_type_proto({inner})"


def _attribute(case: Case, item: onnx.AttributeProto) -> str:
    value = helper.get_attribute_value(item)
    if isinstance(value, onnx.TensorProto):
        array = numpy_helper.to_array(value)
        return f"onnx.numpy_helper.from_array({_value(case, array)})"
    if isinstance(value, bytes):
        return repr(value.decode())
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list) and all(isinstance(one, int | float | bytes) for one in value):
        return _listed(value)
    raise NotExpressibleError(
        "attribute-not-python", f"{case.id}: attribute {item.name} is of a kind that is not written as Python here"
    )


def _listed(values: list[Any]) -> str:
    return f"[{', '.join(repr(one.decode()) if isinstance(one, bytes) else _number(one) for one in values)}]"


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "np.nan" if math.isnan(value) else f"{'-' * (value < 0)}np.inf"
    return repr(value)


def _value(case: Case, value: Value) -> str:
    if value is None:
        return "None"
    if isinstance(value, list):
        return f"[{', '.join(_value(case, item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_value(case, item)}' for key, item in value.items())}}}"
    if value.size > MOST:
        raise NotExpressibleError(
            "tensor-too-large-for-source",
            f"{case.id}: a tensor of {value.size} elements is too large for a source file",
        )
    name = element_type(value.dtype).name
    if name == "string":
        return f"np.array({value.tolist()!r}, dtype=object)"
    if not value.size:
        return f"np.zeros({value.shape}, dtype={_dtype(value)})"
    return f"np.array({_nested(value.tolist(), value.dtype)}, dtype={_dtype(value)})"


def _dtype(value: np.ndarray[Any, Any]) -> str:
    name = element_type(value.dtype).name
    return f"np.{value.dtype.name}" if name in _OWN or name.startswith("complex") else f"ml_dtypes.{value.dtype.name}"


def _nested(value: Any, dtype: np.dtype[Any]) -> str:  # noqa: ANN401 - a number, or lists of them
    if isinstance(value, list):
        return f"[{', '.join(_nested(item, dtype) for item in value)}]"
    if isinstance(value, complex):
        return f"complex({_number(value.real)}, {_number(value.imag)})"
    if isinstance(value, float) and math.isfinite(value) and dtype.kind == "f":
        return repr(float(str(dtype.type(value))))  # The shortest text for the same number; -0 keeps its sign.
    return _number(value)
