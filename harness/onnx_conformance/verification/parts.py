# SPDX-License-Identifier: Apache-2.0
"""Models made from a part of a user's model: with other outputs, or with some of its nodes only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx

from onnx_conformance.declare.type import Type
from onnx_conformance.specification import schema
from onnx_conformance.specification.signature import kind_of
from onnx_conformance.tolerance import several_nodes
from onnx_conformance.tolerance.several_nodes import tensor_info

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx_conformance.case.case import Case
    from onnx_conformance.specification.signature import TypedValue
    from onnx_conformance.verification.user_model import Step, UserModel

import numpy as np


def with_outputs(
    model: UserModel, names: Iterable[str], types: Mapping[str, str], end: int | None = None
) -> onnx.ModelProto:
    """Return the model with other outputs.

    Args:
        model: the model.
        names: the names of the values that it returns.
        types: the types of values by name, as far as they are known. The model's own declarations precede them.
        end: only the nodes before this index; None for all nodes.
    """
    made = onnx.ModelProto()
    made.CopyFrom(model.proto)
    if end is not None:
        del made.graph.node[end:]
    del made.graph.output[:]
    made.graph.output.extend(_output(model, name, types.get(name, "")) for name in names)
    return made


def _output(model: UserModel, name: str, type_: str) -> onnx.ValueInfoProto:
    """Return the declaration of an output: its type, without a shape unless the model declares it."""
    info = onnx.ValueInfoProto(name=name)
    if name in model.declared:
        info.type.CopyFrom(model.declared[name])
    elif type_:
        info.type.CopyFrom(schema.type_proto(Type.parse(type_)))
    return info


def of_steps(
    model: UserModel,
    steps: Sequence[Step],
    values: Mapping[str, TypedValue],
    outputs: Sequence[str],
    types: Mapping[str, str],
) -> tuple[onnx.ModelProto, dict[str, TypedValue]]:
    """Return a model of some nodes, and the values of its inputs.

    Initializers of the model stay initializers, because runtimes treat constants in another way than inputs.

    Args:
        model: the model with the nodes.
        steps: the nodes, in their order.
        values: the known values by name.
        outputs: the names of the values that it returns.
        types: the types of values by name, as far as they are known.
    """
    computed = {name for step in steps for name in step.outputs}
    read = dict.fromkeys(name for step in steps for name in step.reads if name not in computed)
    given = {name: values[name] for name in read if name in values and name not in model.constants}
    proto = model.proto
    made = onnx.ModelProto(
        ir_version=proto.ir_version,
        producer_name="onnx-conformance",
        opset_import=proto.opset_import,
        functions=proto.functions,
        graph=onnx.GraphProto(
            name="part",
            node=[step.node for step in steps],
            initializer=[item for item in proto.graph.initializer if item.name in read],
            sparse_initializer=[item for item in proto.graph.sparse_initializer if item.values.name in read],
            input=[_input(model, name, item) for name, item in given.items()],
            output=[_output(model, name, types.get(name, "")) for name in outputs],
        ),
    )
    return made, given


def case(
    model: UserModel,
    steps: Sequence[Step],
    values: Mapping[str, TypedValue],
    outputs: Sequence[str],
    types: Mapping[str, str],
) -> Case | None:
    """Return some nodes as a case; None if it has several right answers. The arguments are those of `of_steps`."""
    made, given = of_steps(model, steps, values, outputs, types)
    inputs = {name: item.value for name, item in given.items()}
    try:
        return several_nodes.composed(f"{model.name}/{steps[0].label}", steps[-1].operator, made, inputs)
    except several_nodes.UndecidedError:
        return None


def _input(model: UserModel, name: str, item: TypedValue) -> onnx.ValueInfoProto:
    """Return the declaration of an input with the shape of its value."""
    info = onnx.ValueInfoProto(name=name)
    if isinstance(item.value, np.ndarray) and not (item.type and not item.is_tensor):
        return tensor_info(name, item.value)
    if name in model.declared:
        info.type.CopyFrom(model.declared[name])
    elif type_ := kind_of(item):
        info.type.CopyFrom(schema.type_proto(Type.parse(type_)))
    return info
