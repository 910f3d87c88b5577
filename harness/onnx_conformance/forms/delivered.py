# SPDX-License-Identifier: Apache-2.0
"""A delivered model: the argument and the result of a form.

A declared case, a model with a pattern, a case of the core and a drawn model all become a delivered model first, in the
plain form. A form is a function that returns another delivered model, or None if the form is not suitable.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper

from onnx_conformance.case.external_data import loaded
from onnx_conformance.declare.type import Type
from onnx_conformance.specification import schema
from onnx_conformance.specification.evaluator import Evaluator
from onnx_conformance.specification.signature import TypedValue, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onnx_conformance.base.values import Drawn, Value
    from onnx_conformance.case.allowance import Allowance

    Array = np.ndarray[Any, Any]

ONNX = "ai.onnx"
"""The domain of the operators that forms add."""
INITIALIZERS_ALONE = 4
"""The IR version since which an initializer does not have to be a graph input."""
_USUAL_OPSET = 13
"""The opset of ai.onnx in models with operators of other domains; every runtime supports it."""


@dataclass(frozen=True)
class Convention:
    """The names and other details of additions by forms, for one kind of models.

    Each kind keeps the bytes of its models, so the kinds differ. In names, {} is the name that the addition belongs to.

    Attributes:
        condition: the graph input that decides which branch of an If runs.
        condition_first: whether it is the first input of the graph, and not the last.
        in_then: an output of the then-branch.
        of_if: an output of the If.
        conditional: the name of the If.
        branch: the graph of a branch; its second {} is the branch.
        branch_shapes: whether branches declare the shapes of their outputs.
        ones_for_zeros: whether the else-branch returns ones if the expected values are all zeros, instead of zeros.
        function: the name of a function; {} is the operator.
        call: the name of its call.
        attributes_of_call: whether attributes are those of the call, to which the node in the function refers.
        data: the input that a Reshape changes to a shape known only at run time.
        data_size: the symbol for its size; empty if the size is declared.
        shape_size: the symbol for the size of the shape.
        allows_zero: whether the Reshape sets allowzero where it can, and is not used for empty tensors elsewhere.
    """

    condition: str = "takes_then"
    condition_first: bool = False
    in_then: str = "{}_then"
    of_if: str = "{}"
    conditional: str = "If_{}"
    branch: str = "{}_{}"
    branch_shapes: bool = False
    ones_for_zeros: bool = True
    function: str = "Local{}"
    call: str = "Call_{}"
    attributes_of_call: bool = True
    data: str = "{}_data"
    data_size: str = "{}_size"
    shape_size: str = "{}_rank"
    allows_zero: bool = True


@dataclass(frozen=True)
class Delivered:
    """A model with its inputs and its expected outputs.

    Attributes:
        model: the model, which no form changes in place.
        inputs: the values of the graph's inputs by name, in the graph's order.
        expected: the values of the graph's outputs; None if the text expects no answer.
        allowance: how far an answer may be from them; None if several nodes compute, so it depends on the whole model.
        parameters: the tensors that users usually store as constants, by name: inputs or initializers of the graph.
        constants: the inputs of the nodes that the text requires to be constants. No form makes them graph inputs.
        subject: the places of the nodes under test in the graph.
        read: the values of the graph that these nodes and their subgraphs may use, by name, in the order of a
            function's inputs; None for a value of another node that only a subgraph uses.
        domain: the domain whose opset may change.
        opsets: the opsets of that domain in which the nodes have the same meaning.
        least_ir: the lowest IR version that the model may have, whatever the opset of `domain`.
        captured: the inputs of the graph that only subgraphs use.
        stated: by input or output of the graph, the axes whose sizes are known, so they never become symbols.
        dimensions: by input or output of the graph, the name of each dimension in the text, or an empty text.
            Dimensions with one name have one size.
        between: the values that the nodes under test compute for each other, by name.
        movable: whether the nodes have the same meaning in a subgraph or a function; an oracle may read the nodes
            around its node.
        another: the inputs of another case that has the same model with symbolic shapes, or None.
        earlier: the inputs with which the same session runs the model first; None if the model runs once.
        files: the contents of the files next to the model, by name.
        convention: the names and other details of additions by forms.
    """

    model: onnx.ModelProto
    inputs: Mapping[str, Value]
    expected: tuple[Value | Drawn, ...] | None
    allowance: Allowance | None
    subject: range
    opsets: range
    domain: str = ONNX
    parameters: Mapping[str, Array] = field(default_factory=dict)
    constants: frozenset[str] = frozenset()
    read: Mapping[str, TypedValue | None] = field(default_factory=dict)
    least_ir: int = 0
    captured: frozenset[str] = frozenset()
    stated: Mapping[str, frozenset[int]] = field(default_factory=dict)
    dimensions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    between: Mapping[str, Value] = field(default_factory=dict)
    movable: bool = True
    another: Mapping[str, Value] | None = None
    earlier: Mapping[str, Value] | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    convention: Convention = field(default_factory=Convention)

    @property
    def nodes(self) -> list[onnx.NodeProto]:
        """The nodes under test."""
        return list(self.model.graph.node[self.subject.start : self.subject.stop])

    @property
    def node(self) -> onnx.NodeProto | None:
        """The node under test; None if there are several."""
        return self.nodes[0] if len(self.subject) == 1 else None

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the graph's outputs."""
        return tuple(item.name for item in self.model.graph.output)

    def with_parameter(self, name: str) -> Delivered:
        """Return the same model with only one of its parameters; none if it has no such parameter."""
        return dataclasses.replace(self, parameters={key: item for key, item in self.parameters.items() if key == name})

    @functools.cached_property
    def tensors(self) -> dict[str, Array]:
        """The inputs of the nodes under test that are tensors, and no initializers."""
        others = {*self.captured, *(item.name for item in self.model.graph.initializer)}
        tensors = {name: item for name, item in self.read.items() if item is not None and item.is_tensor}
        return {name: np.asarray(item.value) for name, item in tensors.items() if name not in others}

    @property
    def loaded(self) -> onnx.ModelProto:
        """The model with its external data inside, as the oracles read it."""
        if not self.files:
            return self.model
        model = copied(self)
        replace_all(
            model.graph.initializer, (loaded(item, self.files) or item for item in self.model.graph.initializer)
        )
        return model

    @functools.cached_property
    def answers(self) -> Mapping[str, Value] | None:
        """The values of the graph's outputs by name, as the oracles compute them; None if they have no answer."""
        try:
            return Evaluator().model(self.loaded, self.inputs)
        except Exception:  # noqa: BLE001 - an oracle may assume properties of declared calls, such as a rank
            return None


def read_of(model: onnx.ModelProto, inputs: Mapping[str, Value]) -> dict[str, TypedValue]:
    """Return the inputs and initializers of a graph by name, with their types."""
    given = {item.name: TypedValue(inputs[item.name], schema.type_text(item.type)) for item in model.graph.input}
    held = {item.name: numpy_helper.to_array(item) for item in model.graph.initializer}
    return {**given, **{name: TypedValue(value, type_of(value)) for name, value in held.items()}}


def unchanged(start: Delivered) -> Delivered:
    """Return the plain form."""
    return start


def copied(start: Delivered) -> onnx.ModelProto:
    """Return a copy of a model, which a form may change."""
    model = onnx.ModelProto()
    model.CopyFrom(start.model)
    return model


def replace_all(items: Any, others: Iterable[Any]) -> None:  # noqa: ANN401 - any repeated field
    """Replace the items of a repeated field of a message that does not contain the others."""
    made = list(others)
    del items[:]
    items.extend(made)


def with_nodes(start: Delivered, before: Sequence[onnx.NodeProto]) -> tuple[onnx.ModelProto, range]:
    """Return a copy of a model with other nodes in front, and the places of the nodes under test."""
    model = copied(start)
    replace_all(model.graph.node, [*before, *start.model.graph.node])
    return model, range(start.subject.start + len(before), start.subject.stop + len(before))


def in_place(start: Delivered, nodes: Sequence[onnx.NodeProto]) -> onnx.ModelProto:
    """Return a copy of a model in which other nodes replace the nodes under test."""
    model, own = copied(start), start.model.graph.node
    replace_all(model.graph.node, [*own[: start.subject.start], *nodes, *own[start.subject.stop :]])
    return model


def opset_of(model: onnx.ModelProto, domain: str = ONNX) -> int:
    """Return the opset of a domain that a model imports; 0 if it imports none."""
    return next((item.version for item in model.opset_import if (item.domain or ONNX) == domain), 0)


def in_opset(start: Delivered, domain: str, opset: int) -> Delivered:
    """Return a delivered model that imports an opset of a domain."""
    if opset_of(start.model, domain) == opset:
        return start
    model = copied(start)
    imported = next((item for item in model.opset_import if (item.domain or ONNX) == domain), None)
    if imported is None:
        imported = model.opset_import.add(domain=schema.proto_domain(domain))
    imported.version = opset
    least = start.least_ir if domain == start.domain else model.ir_version
    model.ir_version = max(least, schema.lowest_ir(domain, opset))
    return dataclasses.replace(start, model=model)


def first_opset(start: Delivered, suits: Callable[[int], bool]) -> Delivered | None:
    """Return a delivered model in the first opset of ai.onnx in which it may have other nodes, if this opset suits."""
    present = opset_of(start.model)
    if start.domain == ONNX:
        opsets: Sequence[int] = range(present, start.opsets.stop)
    else:
        opsets = [present] if present else range(_USUAL_OPSET, schema.newest_opset(ONNX) + 1)
    found = next((opset for opset in opsets if suits(opset)), None)
    return None if found is None else in_opset(start, ONNX, found)


def has_type(operator: str, variable: str, type_: str, opset: int) -> bool:
    """Return whether a type variable of an operator of ai.onnx includes a type in an opset."""
    return schema.exists(ONNX, operator, opset) and type_ in schema.in_force(ONNX, operator, opset).types[variable]


def value_info(name: str, type_: str, shape: Sequence[int | str] | None) -> onnx.ValueInfoProto:
    """Return the declaration of a value; a tensor without a shape if `shape` is None."""
    info = onnx.ValueInfoProto(name=name)
    info.type.CopyFrom(schema.type_proto(Type.parse(type_)))
    if shape is not None and info.type.HasField("tensor_type"):
        target = info.type.tensor_type.shape
        target.SetInParent()
        for dim in shape:
            if isinstance(dim, int):
                target.dim.add(dim_value=dim)
            else:
                target.dim.add(dim_param=dim)
    return info


def info_of(name: str, value: Value) -> onnx.ValueInfoProto:
    """Return the declaration of a value that shows its type."""
    return value_info(name, type_of(value), value.shape if isinstance(value, np.ndarray) else None)


def declares_tensor(declared: Iterable[onnx.ValueInfoProto], name: str) -> bool:
    """Return whether a value is declared as a tensor; an optional that contains a tensor is not."""
    return any(item.name == name and item.type.HasField("tensor_type") for item in declared)
