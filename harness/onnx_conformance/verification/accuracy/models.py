# SPDX-License-Identifier: Apache-2.0
"""Models of one node, and their results on a runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper

from onnx_conformance.processes.replies import Refused
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import element_type, element_type_named, numpy_dtype
from onnx_conformance.verification import running

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.processes.asker import Asker
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.verification.accuracy.unary import Function

Array = np.ndarray[Any, Any]


NOT_SUPPORTED = "not supported: "
"""The beginning of the reason of a NoValuesError if the runtime reports missing support."""


class NoValuesError(Exception):
    """A runtime returned no result for a model; the text contains the reason."""


def dtype_named(name: str) -> np.dtype[Any]:
    """Return the dtype of an element type by its name in ONNX."""
    return numpy_dtype(element_type_named(name).number)


def one_node(version: OperatorVersion, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> onnx.ModelProto:
    """Return a model with one node, whose inputs are those of the graph.

    Args:
        version: the operator version.
        inputs: values of the inputs, for their types and shapes.
        attributes: the attributes that the node sets.
    """
    names = [f"input_{index}" for index in range(len(inputs))]
    node = helper.make_node(
        version.name, names, ["result"], domain=schema.proto_domain(version.domain), **dict(attributes)
    )
    first = element_type(inputs[0].dtype).number
    given = [
        helper.make_tensor_value_info(name, element_type(value.dtype).number, value.shape)
        for name, value in zip(names, inputs, strict=True)
    ]
    graph = helper.make_graph([node], "accuracy", given, [helper.make_tensor_value_info("result", first, None)])
    opset = schema.usual_opset(version)
    return helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid(schema.proto_domain(version.domain), opset)],
        ir_version=schema.lowest_ir(version.domain, opset),
    )


class Runner:
    """Runs models of one node on a runtime, in a separate process."""

    def __init__(self, asker: Asker) -> None:
        """Store the process."""
        self.asker = asker

    def result(self, version: OperatorVersion, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
        """Return the result of a node.

        Raises:
            NoValuesError: the runtime returns none.
        """
        model = one_node(version, inputs, attributes)
        names = [item.name for item in model.graph.input]
        room = 4 * sum(item.nbytes for item in inputs) + (1 << 20)
        reached = running.run(self.asker, model, dict(zip(names, inputs, strict=True)), ["result"], room)
        if reached.values is None:
            reply = reached.reply
            known = f"{NOT_SUPPORTED}{reply.reason}" if isinstance(reply, Refused) and reply.reason else ""
            raise NoValuesError(known or reached.problem)
        value = reached.values["result"]
        if not isinstance(value, np.ndarray) or value.dtype != inputs[0].dtype:
            raise NoValuesError(f"it returned {getattr(value, 'dtype', type(value).__name__)}, not {inputs[0].dtype}")
        return value

    def elementwise(self, function: Function, values: Array) -> Array:
        """Return the result of an elementwise function, a vector as its input.

        Raises:
            NoValuesError: the runtime returns none, or another shape.
        """
        result = self.result(function.version, [values], function.attributes)
        if result.shape != values.shape:
            raise NoValuesError(f"it returned shape {list(result.shape)} for shape {list(values.shape)}")
        return result
