# SPDX-License-Identifier: Apache-2.0
"""ReferenceEvaluator: runs a model with the oracles of this project, with the interface of onnx.reference.

from onnx_conformance import ReferenceEvaluator

outputs = ReferenceEvaluator("model.onnx").run(None, {"x": x})
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import onnx

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.declare import NoAnswer, Rejected
from onnx_conformance.specification import schema
from onnx_conformance.specification.evaluator import Evaluator, UndeclaredError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx_conformance.base.values import Value

Unspecified = Literal["raise", "warn", "ignore"]
"""How to treat a result that the specification does not define."""


class InvalidModelError(HarnessError):
    """The specification forbids the model or its inputs.

    Attributes:
        sentence: the sentence that forbids it.
        detail: the part of the model that the sentence is about; may be empty.
    """

    def __init__(self, problem: str, no_answer: NoAnswer) -> None:
        """Store the id of the problem, and the sentence."""
        super().__init__(problem, f"the specification forbids the model or its inputs: {no_answer}")
        self.sentence, self.detail = no_answer.clause.text, no_answer.detail


class UnspecifiedResultError(HarnessError):
    """The specification does not define the result.

    Attributes:
        sentence: the sentence that does not define it.
        detail: the part of the model that the sentence is about; may be empty.
    """

    def __init__(self, problem: str, no_answer: NoAnswer) -> None:
        """Store the id of the problem, and the sentence."""
        super().__init__(problem, f"the specification does not define the result: {no_answer}")
        self.sentence, self.detail = no_answer.clause.text, no_answer.detail


class UnspecifiedElementsWarning(UserWarning):
    """The specification does not define some elements of a result, or permits several values for them."""


class ReferenceEvaluator:
    """Runs a model, as the text of each operator version defines it.

    Each operator is computed in float64 where its inputs are floating-point, and its outputs are rounded once. So the
    result of a single operator is the nearest value of its type. onnx.reference computes most operators in the type of
    the inputs, and has one implementation for all versions of most operators.

    Attributes:
        proto: the model.
    """

    def __init__(
        self,
        proto: onnx.ModelProto | onnx.FunctionProto | onnx.GraphProto | onnx.NodeProto | bytes | str | os.PathLike[str],
        opsets: Mapping[str, int] | None = None,
        functions: Iterable[onnx.FunctionProto] = (),
        *,
        unspecified: Unspecified = "raise",
    ) -> None:
        """Read a model.

        Args:
            proto: the model, its bytes, or the path of its file; or a function, a graph or a node.
            opsets: the opset of each domain, for a graph or a node; by default, the newest ones.
            functions: further functions that the model calls.
            unspecified: the treatment of elements that the specification leaves open: `raise` UnspecifiedResultError,
                `warn` with UnspecifiedElementsWarning, or `ignore` them. If the whole result is open, `run` raises in
                any case, because it has no value.

        Raises:
            HarnessError: the model cannot be read, or `unspecified` has another value.
        """
        if unspecified not in ("raise", "warn", "ignore"):
            raise HarnessError(
                "unspecified-invalid", f"unspecified={unspecified!r}; expected 'raise', 'warn' or 'ignore'"
            )
        self._unspecified = unspecified
        self.proto = _model(proto, dict(opsets or {}))
        known = {(item.domain, item.name) for item in self.proto.functions}
        self.proto.functions.extend(item for item in functions if (item.domain, item.name) not in known)

    @property
    def input_names(self) -> list[str]:
        """The names of the graph's inputs."""
        return [item.name for item in self.proto.graph.input]

    @property
    def output_names(self) -> list[str]:
        """The names of the graph's outputs."""
        return [item.name for item in self.proto.graph.output]

    @property
    def input_types(self) -> list[onnx.TypeProto]:
        """The types of the graph's inputs."""
        return [item.type for item in self.proto.graph.input]

    @property
    def output_types(self) -> list[onnx.TypeProto]:
        """The types of the graph's outputs."""
        return [item.type for item in self.proto.graph.output]

    @property
    def opsets(self) -> dict[str, int]:
        """The opset of each domain, which is empty for ai.onnx."""
        return {item.domain: item.version for item in self.proto.opset_import}

    def run(
        self, output_names: Sequence[str] | None, feed_inputs: Mapping[str, Value], *, intermediate: bool = False
    ) -> list[Value] | dict[str, Value]:
        """Return the values of outputs.

        Args:
            output_names: the outputs; None for all, in the order of the graph.
            feed_inputs: the inputs by name: arrays, lists for sequences, dicts for maps, None for an empty optional.
            intermediate: return all values of the graph by name, also those of its nodes.

        Raises:
            InvalidModelError: the specification forbids the model or the inputs.
            UnspecifiedResultError: the specification does not define the result.
            HarnessError: an input is missing or unknown, an output does not exist, or an operator has no definition.
        """
        names = self.output_names if output_names is None else list(output_names)
        self._check(names, feed_inputs)
        evaluator = Evaluator()
        try:
            values = evaluator.model(_with_all_outputs(self.proto) if intermediate else self.proto, feed_inputs)
        except Rejected as rejected:
            raise InvalidModelError("model-forbidden", rejected) from None
        except NoAnswer as undefined:
            raise UnspecifiedResultError("result-undefined", undefined) from None
        except UndeclaredError as undeclared:
            raise HarnessError("operator-undefined", f"{undeclared}") from None
        self._tell(evaluator)
        return {**feed_inputs, **values} if intermediate else [values[name] for name in names]

    def _check(self, names: Sequence[str], feeds: Mapping[str, Value]) -> None:
        graph = self.proto.graph
        if unknown := sorted(set(names) - set(self.output_names)):
            raise HarnessError(
                "no-such-graph-output", f"the model has no output {unknown[0]!r}; it has {', '.join(self.output_names)}"
            )
        if unknown := sorted(set(feeds) - set(self.input_names)):
            raise HarnessError(
                "no-such-graph-input", f"the model has no input {unknown[0]!r}; it has {', '.join(self.input_names)}"
            )
        initialized = {item.name for item in graph.initializer}
        for info in graph.input:
            if info.name not in feeds:
                if info.name not in initialized:
                    raise HarnessError("graph-input-missing", f"the input {info.name!r} has no value")
                continue
            value, type_ = feeds[info.name], schema.type_of_proto(info.type)
            if isinstance(value, np.ndarray) and type_ is not None and type_.is_tensor:
                wanted = schema.dtype_of(type_)
                if value.dtype != wanted and not (wanted.kind == "O" and value.dtype.kind in "OU"):
                    raise HarnessError(
                        "graph-input-type-differs", f"the input {info.name!r} has type {value.dtype}; expected {wanted}"
                    )

    def _tell(self, evaluator: Evaluator) -> None:
        """Tell that some elements are open."""
        for clause in sorted(evaluator.open_by, key=lambda item: item.text):
            if self._unspecified == "raise":
                raise UnspecifiedResultError("elements-undefined", NoAnswer(clause))
            if self._unspecified == "warn":
                text = f"the specification does not define some elements: «{clause.text}»"
                warnings.warn(text, UnspecifiedElementsWarning, stacklevel=3)


def _with_all_outputs(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model whose graph outputs are all values of its nodes."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    known = {item.name for item in made.graph.output}
    for node in model.graph.node:
        made.graph.output.extend(onnx.ValueInfoProto(name=name) for name in node.output if name and name not in known)
    return made


def _model(proto: Any, opsets: dict[str, int]) -> onnx.ModelProto:  # noqa: ANN401 - see ReferenceEvaluator
    if isinstance(proto, onnx.ModelProto):
        made = onnx.ModelProto()
        made.CopyFrom(proto)
        return made
    if isinstance(proto, bytes | str | os.PathLike):
        return _read(proto)
    if isinstance(proto, onnx.NodeProto):
        proto = _graph(proto.input, proto.output, [proto])
        opsets = {node.domain: schema.newest_opset(node.domain or "ai.onnx") for node in proto.node} | opsets
    if isinstance(proto, onnx.GraphProto):
        domains = {node.domain for node in proto.node}
        opsets = {name: schema.newest_opset(name or "ai.onnx") for name in domains | {""}} | opsets
        imports = [onnx.helper.make_opsetid(name, opset) for name, opset in opsets.items()]
        return onnx.helper.make_model(proto, opset_imports=imports)
    if isinstance(proto, onnx.FunctionProto):
        call = onnx.helper.make_node(proto.name, proto.input, proto.output, domain=proto.domain)
        imports = [*proto.opset_import, onnx.helper.make_opsetid(proto.domain, 1)]
        graph = _graph(proto.input, proto.output, [call])
        return onnx.helper.make_model(graph, opset_imports=imports, functions=[proto])
    raise HarnessError(
        "not-a-proto", f"a model, a function, a graph, a node, bytes or a path is expected, not {type(proto).__name__}"
    )


def _read(source: bytes | str | os.PathLike[str]) -> onnx.ModelProto:
    try:
        return onnx.load_from_string(source) if isinstance(source, bytes) else onnx.load(Path(source))
    except OSError as error:
        raise HarnessError("proto-unreadable", f"{source!r} cannot be read: {error.strerror}") from None
    except Exception as error:  # noqa: BLE001 - protobuf has several errors, and none with this meaning alone.
        shown = "the bytes are" if isinstance(source, bytes) else f"{source} is"
        raise HarnessError("proto-unreadable", f"{shown} not a model: {type(error).__name__}") from None


def _graph(inputs: Iterable[str], outputs: Iterable[str], nodes: list[onnx.NodeProto]) -> onnx.GraphProto:
    named, returned = ([onnx.ValueInfoProto(name=name) for name in names if name] for names in (inputs, outputs))
    return onnx.helper.make_graph(nodes, "graph", named, returned)
