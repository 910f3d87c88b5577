# SPDX-License-Identifier: Apache-2.0
"""A model of a user: read whole, checked, and its nodes in an order in which they can run."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.checker
from onnx import external_data_helper, numpy_helper

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import line
from onnx_conformance.case import model_file
from onnx_conformance.declare import dense
from onnx_conformance.specification import nodes as of_model
from onnx_conformance.specification import registry, schema
from onnx_conformance.specification.evaluator import sparse_value
from onnx_conformance.specification.signature import TypedValue

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from onnx_conformance.base.values import Array


@dataclass(frozen=True)
class Step:
    """A node of the main graph.

    Attributes:
        index: its position in the graph, from 0.
        node: the node.
        reads: the names of the values that it and its subgraphs read, in the order in which they occur.
        operator: the operator version, such as ai.onnx/Conv/22; the function or operator alone if there is no schema.
        has_oracle: whether the oracle knows the operator; that of a function is the oracle of its nodes.
    """

    index: int
    node: onnx.NodeProto
    reads: tuple[str, ...]
    operator: str
    has_oracle: bool

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of its outputs, without omitted ones."""
        return tuple(name for name in self.node.output if name)

    @property
    def label(self) -> str:
        """Its name for people: the name in the model, or its first output."""
        return line(self.node.name or next(iter(self.outputs), self.node.op_type), 80)


class UserModel:
    """A model of a user, with its external data."""

    def __init__(self, proto: onnx.ModelProto, name: str) -> None:
        """Check a model.

        Raises:
            HarnessError: onnx's model checker rejects it, or it has no nodes.
        """
        self.proto, self.name = proto, name
        if not proto.graph.node:
            raise HarnessError("model-without-nodes", f"{name} has no nodes, so there is nothing to verify")
        try:
            onnx.checker.check_model(proto)
        except Exception as error:  # noqa: BLE001 - the checker raises several kinds
            raise HarnessError(
                "model-not-valid", f"{name}: onnx's model checker rejects it: {line(error, 300)}"
            ) from None
        self.opsets = {item.domain or "ai.onnx": item.version for item in proto.opset_import}

    @classmethod
    def read(cls, path: Path) -> UserModel:
        """Read a model and its external data.

        Raises:
            HarnessError: it cannot be read, or it is not valid.
        """
        proto = model_file.load_model(path)
        try:
            external_data_helper.load_external_data_for_model(proto, str(path.resolve().parent))
        except Exception as error:  # noqa: BLE001 - any broken reference to a file
            raise HarnessError(
                "external-data-not-readable", f"{path}: its external data cannot be read: {line(error, 300)}"
            ) from None
        return cls(proto, path.name)

    @cached_property
    def constants(self) -> dict[str, TypedValue]:
        """The values of the initializers, by name."""
        values = {item.name: TypedValue(numpy_helper.to_array(item)) for item in self.proto.graph.initializer}
        for item in self.proto.graph.sparse_initializer:
            values[item.values.name] = TypedValue(dense(sparse_value(item)))
        return values

    @cached_property
    def needed(self) -> list[onnx.ValueInfoProto]:
        """The inputs without an initializer, which every run needs."""
        return [item for item in self.proto.graph.input if item.name not in self.constants]

    @cached_property
    def outputs(self) -> list[str]:
        """The names of the outputs."""
        return [item.name for item in self.proto.graph.output]

    @cached_property
    def declared(self) -> dict[str, onnx.TypeProto]:
        """The types that the model declares for its values, by name."""
        graph = self.proto.graph
        return {
            item.name: item.type
            for item in (*graph.value_info, *graph.input, *graph.output)
            if item.type.WhichOneof("value")
        }

    @cached_property
    def steps(self) -> list[Step]:
        """The nodes of the graph, in their order, in which each can run after those before it."""
        functions = {(item.domain or "ai.onnx", item.name): item for item in self.proto.functions}
        known = registry.load()
        found = []
        for index, node in enumerate(self.proto.graph.node):
            domain = node.domain or "ai.onnx"
            local = (domain, node.op_type) in functions
            operator = f"{domain}/{node.op_type}"
            has_oracle = local
            opset = self.opsets.get(domain, 0)
            if not local and schema.exists(domain, node.op_type, opset):
                version = schema.in_force(domain, node.op_type, opset)
                operator, has_oracle = str(version), known.find(domain, node.op_type) is not None
            found.append(Step(index, node, reads(node), operator, has_oracle))
        return found

    def chosen(self, globs: Sequence[str]) -> set[int]:
        """Return the indices of the nodes that globs over names, operators or outputs select; all without a glob.

        Raises:
            HarnessError: a glob matches no node.
        """
        picked: set[int] = set()
        for glob in globs:
            hits = {step.index for step in self.steps if _matches(step, glob)}
            if not hits:
                raise HarnessError(
                    "no-such-node",
                    f"--nodes {glob!r} matches no node of {self.name}; write the name of a node, of its operator or of "
                    "one of its outputs, with * for any text",
                )
            picked |= hits
        return picked or {step.index for step in self.steps}


def _matches(step: Step, glob: str) -> bool:
    return any(fnmatch.fnmatchcase(name, glob) for name in (step.node.name, step.node.op_type, *step.outputs))


def reads(node: onnx.NodeProto) -> tuple[str, ...]:
    """Return the names of the outer values that a node and its subgraphs read, each once, in order."""
    names = dict.fromkeys(name for name in node.input if name)
    for graph in (item.g for item in node.attribute if item.HasField("g")):
        names.update(dict.fromkeys(_free(graph)))
    return tuple(names)


def _free(graph: onnx.GraphProto) -> list[str]:
    """Return the names that a subgraph reads from the graphs around it."""
    own = {item.name for item in graph.input} | {item.name for item in graph.initializer}
    own |= {item.values.name for item in graph.sparse_initializer}
    free: dict[str, None] = {}
    for node in graph.node:
        free.update(dict.fromkeys(name for name in reads(node) if name not in own))
        own.update(node.output)
    free.update(dict.fromkeys(item.name for item in graph.output if item.name not in own))
    return list(free)


def size(value: Any) -> int:  # noqa: ANN401 - any value
    """Return about how many bytes a value has."""
    if isinstance(value, np.ndarray):
        array: Array = value
        return int(array.nbytes) if array.dtype != object else sum(len(str(item)) + 8 for item in array.flat)
    if isinstance(value, dict):
        return sum(map(size, value.values())) + 8 * len(value)
    return sum(map(size, value)) if isinstance(value, list) else 8


def unknown_operators(model: UserModel) -> list[str]:
    """Return the operators of the main graph without an oracle, each once."""
    return list(dict.fromkeys(step.operator for step in model.steps if not step.has_oracle))


def count(model: UserModel) -> int:
    """Return the number of nodes of the main graph and of its subgraphs."""
    return sum(1 for _ in of_model.within(model.proto.graph.node))
