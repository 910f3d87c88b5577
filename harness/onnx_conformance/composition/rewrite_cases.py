"""The cases of `rewrites`: each model in every form. In some forms, the rewrite would change its meaning.

A rewrite needs constants, and intermediate values that no other node uses. The forms therefore store the constants in
other places, in some of which the caller may change them, and also use the intermediate values elsewhere.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnx_conformance import rewrites
from onnx_conformance.declare import DeclarationError
from onnx_conformance.forms.table import PLAIN, delivered_id
from onnx_conformance.generation import binding
from onnx_conformance.rewrites.rewrite import Model, Rewrite
from onnx_conformance.specification import schema
from onnx_conformance.specification.evaluator import Evaluator
from onnx_conformance.tolerance.several_nodes import UndecidedError, composed, tensor_info

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare.data import Value

Array = np.ndarray[Any, Any]

IR_VERSION, OF_LOCAL_FUNCTIONS = 7, 8
"""The IR version of the models, and of models that define functions."""
BEHIND = 2
"""The number of opsets by which runtimes are behind the newest one of ONNX."""
CONDITION = "condition"
DOMAIN = "local"
OTHER_DOMAINS = {"ai.onnx.ml": 4}
"""The opsets of other domains that the models may use."""


@dataclass(frozen=True)
class Written:
    """The parts of a model, before a form is chosen.

    Attributes:
        nodes: the nodes of the pattern.
        inputs: the input arrays of the graph.
        constants: the constant arrays of the pattern.
        values: every value that the nodes compute, by name.
        outputs: the outputs of the graph.
        opset: the opset of ai.onnx.
    """

    nodes: Sequence[onnx.NodeProto]
    inputs: Mapping[str, Array]
    constants: Mapping[str, Array]
    values: Mapping[str, Value]
    outputs: Sequence[str]
    opset: int


Built = tuple[onnx.ModelProto, dict[str, "Value"]]
"""A model and its inputs."""


@functools.cache
def declared() -> tuple[Rewrite, ...]:
    """Return the declared rewrites, by file and name.

    Raises:
        DeclarationError: two rewrites have the same name.
    """
    found: dict[str, Rewrite] = {}
    for info in sorted(pkgutil.iter_modules(rewrites.__path__), key=lambda item: item.name):
        for item in vars(importlib.import_module(f"{rewrites.__name__}.{info.name}")).values():
            if isinstance(item, Rewrite) and found.setdefault(item.name, item) is not item:
                raise DeclarationError(f"two rewrites have the name {item.name}")
    return tuple(found.values())


def cases(operator: str) -> Iterator[Case]:
    """Yield the cases of the rewrites in the slice of an operator version."""
    for rewrite in declared():
        for model in rewrite.models:
            if _slice(rewrite, model) == operator:
                yield from _cases(rewrite, model, operator)


def _slice(rewrite: Rewrite, model: Model) -> str:
    """Return the operator version to whose slice a model belongs."""
    domain, _, operator = rewrite.operator.rpartition("/")
    opset = OTHER_DOMAINS[domain] if domain else model.opset
    return str(schema.in_force(domain or "ai.onnx", operator, opset))


def _cases(rewrite: Rewrite, model: Model, operator: str) -> Iterator[Case]:
    name = f"{operator}/{rewrite.name}_{model.name}"
    notes = [f"known rewrite of {', '.join(rewrite.known_to)}"] if rewrite.known_to else []
    for form, surround in SURROUNDINGS.items():
        opset = _opset(form, model)
        written = None if opset is None else write(model, opset, name)
        built = None if written is None else surround(written)
        if built is not None:
            case_id = delivered_id(name, form)
            with contextlib.suppress(UndecidedError):
                yield composed(case_id, operator, *built, form=form, notes=notes)
        elif form == PLAIN:
            raise DeclarationError(f"{name} cannot be written in opset {opset}")


def _opset(form: str, model: Model) -> int | None:
    """Return the opset of a form; None if it is that of the plain form."""
    if form not in {"oldest", "recent"}:
        return model.opset
    recent = schema.newest_opset("ai.onnx") - BEHIND
    if model.before is not None:
        recent = min(recent, model.before - 1)
    opset = model.since if form == "oldest" else recent
    return opset if model.since <= opset != model.opset else None


def write(model: Model, opset: int, name: str) -> Written | None:
    """Return the parts of a model in an opset; None if the specification forbids the model there.

    Raises:
        DeclarationError: the text of the model cannot be read, or the specification forbids it in its own opset.
    """
    nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in binding.nodes(model.nodes)]
    for place, node in enumerate(nodes):
        node.name = f"{node.op_type}_{place}"
    names = [name for node in nodes for name in node.output if name]
    arrays = {**model.inputs, **model.constants}
    graph = helper.make_graph(nodes, "pattern", [_info(key, value) for key, value in arrays.items()], [])
    graph.output.extend(onnx.ValueInfoProto(name=item) for item in names)
    with_all = helper.make_model(graph, opset_imports=_opsets(nodes, opset))
    try:
        values = Evaluator().model(with_all, arrays)
    except Exception as error:
        if opset == model.opset:
            raise DeclarationError(f"{name}: {error}") from error
        return None
    return Written(nodes, model.inputs, model.constants, values, model.outputs, opset)


def _opsets(nodes: Sequence[onnx.NodeProto], opset: int) -> list[onnx.OperatorSetIdProto]:
    """Return the opsets that nodes need, for ai.onnx and each other domain."""
    others = sorted({node.domain for node in nodes} & {*OTHER_DOMAINS})
    return [
        helper.make_operatorsetid("", opset),
        *(helper.make_operatorsetid(domain, OTHER_DOMAINS[domain]) for domain in others),
    ]


def _info(name: str, value: Value) -> onnx.ValueInfoProto:
    assert isinstance(value, np.ndarray)  # noqa: S101 - patterns contain only tensors
    return tensor_info(name, value)


def _model(
    written: Written,
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Array],
    initializers: Mapping[str, Array],
    outputs: Mapping[str, Value],
    functions: Sequence[onnx.FunctionProto] = (),
) -> Built:
    graph = helper.make_graph(
        nodes,
        "graph",
        [_info(name, value) for name, value in inputs.items()],
        [_info(name, value) for name, value in outputs.items()],
        [numpy_helper.from_array(value, name) for name, value in initializers.items()],
    )
    opsets = _opsets(written.nodes, written.opset)
    if functions:
        opsets.append(helper.make_operatorsetid(DOMAIN, 1))
    model = helper.make_model(graph, opset_imports=opsets, functions=functions)
    least = schema.lowest_ir("ai.onnx", written.opset)
    model.ir_version = max(least, OF_LOCAL_FUNCTIONS if functions else IR_VERSION)
    return model, dict(inputs)


def _outputs(written: Written) -> dict[str, Value]:
    return {name: written.values[name] for name in written.outputs}


def _plain(written: Written) -> Built:
    """Return the model with its constants as initializers."""
    return _model(written, written.nodes, written.inputs, written.constants, _outputs(written))


def _constant_nodes(written: Written) -> Built | None:
    """Return the model with its constants in Constant nodes."""
    if not written.constants:
        return None
    nodes = [
        helper.make_node("Constant", [], [name], name=f"Constant_{name}", value=numpy_helper.from_array(value))
        for name, value in written.constants.items()
    ]
    return _model(written, [*nodes, *written.nodes], written.inputs, {}, _outputs(written))


def _folded(written: Written) -> Built:
    """Return the model with all its inputs as initializers."""
    return _model(written, written.nodes, {}, {**written.inputs, **written.constants}, _outputs(written))


def _runtime(written: Written) -> Built | None:
    """Return the model with its constants as inputs, so their values are unknown."""
    if not written.constants:
        return None
    return _model(written, written.nodes, {**written.inputs, **written.constants}, {}, _outputs(written))


def _overridden(written: Written) -> Built | None:
    """Return the model with its constants as inputs that have other numbers as defaults, which the caller overrides.

    "When an initializer has the same name as a graph input, it specifies a default value for that input."
    """
    floats = {name: value for name, value in written.constants.items() if value.dtype.kind == "f" and value.size}
    if not floats:
        return None
    defaults = {name: _other(value) for name, value in floats.items()}
    fixed = {name: value for name, value in written.constants.items() if name not in floats}
    model, _ = _model(written, written.nodes, {**written.inputs, **floats}, {**fixed, **defaults}, _outputs(written))
    return model, {**written.inputs, **floats}


def _other(value: Array) -> Array:
    """Return a tensor that differs from another in every element."""
    with np.errstate(over="ignore"):
        other = np.asarray(value * 2 + 1)
    return np.where(np.isfinite(other) & (other != value), other, 3).astype(value.dtype)


def _inner(written: Written) -> list[str]:
    """Return the values that only the nodes themselves use."""
    return [name for name in written.values if name not in written.outputs]


def _tapped(written: Written) -> Built | None:
    """Return the model with the values between its nodes as additional outputs."""
    inner = {name: written.values[name] for name in _inner(written)}
    if not inner:
        return None
    return _model(written, written.nodes, written.inputs, written.constants, {**_outputs(written), **inner})


def _shared(written: Written) -> Built | None:
    """Return the model with another node that uses the values between its nodes."""
    inner = [name for name in _inner(written) if isinstance(written.values[name], np.ndarray)]
    if not inner:
        return None
    nodes = [*written.nodes]
    outputs = _outputs(written)
    for name in inner:
        value = written.values[name]
        assert isinstance(value, np.ndarray)  # noqa: S101 - see above
        nodes.append(
            helper.make_node("Concat", [name, name], [f"{name}_twice"], axis=0, name=f"Concat_{name}")
            if value.ndim
            else helper.make_node("Shape", [name], [f"{name}_twice"], name=f"Shape_{name}")
        )
        outputs[f"{name}_twice"] = np.concatenate([value, value]) if value.ndim else np.array([], np.int64)
    return _model(written, nodes, written.inputs, written.constants, outputs)


def _doubled(written: Written) -> Built:
    """Return the model with its nodes twice, on other inputs, with the same constants."""
    own = {*written.inputs, *written.values}

    def other(name: str) -> str:
        return f"{name}_2" if name in own else name

    nodes = list(written.nodes)
    for node in written.nodes:
        copy = onnx.NodeProto.FromString(node.SerializeToString())
        copy.name = f"{node.name}_2"
        copy.input[:] = map(other, node.input)
        copy.output[:] = map(other, node.output)
        for attribute in copy.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                _rename(attribute.g, other)
        nodes.append(copy)
    inputs = {**written.inputs, **{other(name): _rolled(value) for name, value in written.inputs.items()}}
    outputs = {**_outputs(written), **{other(name): value for name, value in _outputs(written).items()}}
    return _model(written, nodes, inputs, written.constants, outputs)


def _rename(graph: onnx.GraphProto, other: Callable[[str], str]) -> None:
    for node in graph.node:
        node.input[:] = map(other, node.input)
        node.output[:] = map(other, node.output)
    for item in (*graph.input, *graph.output):
        item.name = other(item.name)


def _rolled(value: Array) -> Array:
    """Return a tensor with other numbers. Integers, which may be indices, stay the same."""
    return np.roll(value.reshape(-1), 1).reshape(value.shape) if value.dtype.kind == "f" else value


def _zeros(value: Array) -> Array:
    """Return zeros, or empty strings, with the shape of a tensor."""
    return np.full(value.shape, "", object) if value.dtype.kind == "O" else np.zeros_like(value)


def _if_branch(written: Written) -> Built | None:
    """Return an If with the nodes in one branch, and zeros in the other."""
    names = list(written.outputs)
    values = [written.values[name] for name in names]
    if not all(isinstance(value, np.ndarray) for value in values):
        return None
    zeros = [
        helper.make_node(
            "Constant", [], [f"{name}_else"], value=numpy_helper.from_array(_zeros(np.asarray(value))),
            name=f"Constant_{name}_else",
        )
        for name, value in zip(names, values, strict=True)
    ]  # fmt: skip
    then = helper.make_graph(list(written.nodes), "then", [], [_info(name, written.values[name]) for name in names])
    other = helper.make_graph(zeros, "else", [], [_info(f"{name}_else", written.values[name]) for name in names])
    node = helper.make_node(
        "If", [CONDITION], [f"{name}_of_if" for name in names], name="If", then_branch=then, else_branch=other
    )
    inputs = {CONDITION: np.array(True), **written.inputs}  # noqa: FBT003 - an array's value
    outputs = {f"{name}_of_if": written.values[name] for name in names}
    return _model(written, [node], inputs, written.constants, outputs)


def _local_function(written: Written) -> Built:
    """Return a call of a function that the model defines and that contains the nodes."""
    taken = [*written.inputs, *written.constants]
    opsets = _opsets(written.nodes, written.opset)
    function = helper.make_function(DOMAIN, "Pattern", taken, list(written.outputs), list(written.nodes), opsets)
    call = helper.make_node("Pattern", taken, list(written.outputs), name="Pattern", domain=DOMAIN)
    return _model(written, [call], written.inputs, written.constants, _outputs(written), [function])


def _symbolic(written: Written) -> Built | None:
    """Return the model with symbolic sizes of its inputs and outputs."""
    if not any(value.ndim for value in written.inputs.values()):
        return None
    model, inputs = _plain(written)
    for item in (*model.graph.input, *model.graph.output):
        for axis, dim in enumerate(item.type.tensor_type.shape.dim):
            dim.dim_param = f"{item.name}_{axis}"
    return model, inputs


def _unranked(written: Written) -> Built:
    """Return the model with inputs that are first reshaped to a shape of unknown rank."""
    inputs: dict[str, Array] = {}
    nodes: list[onnx.NodeProto] = []
    for name, value in written.inputs.items():
        flat, shape = f"{name}_flat", f"{name}_shape"
        inputs |= {flat: value.reshape(-1), shape: np.array(value.shape, np.int64)}
        nodes.append(helper.make_node("Reshape", [flat, shape], [name], name=f"Reshape_{name}"))
    model, _ = _model(written, [*nodes, *written.nodes], inputs, written.constants, _outputs(written))
    for item in model.graph.input:
        if item.name.endswith("_shape"):
            item.type.tensor_type.shape.dim[0].dim_param = f"{item.name}_rank"
    for item in model.graph.output:
        for axis, dim in enumerate(item.type.tensor_type.shape.dim):
            dim.dim_param = f"{item.name}_{axis}"
    return model, dict(inputs)


SURROUNDINGS: dict[str, Callable[[Written], Built | None]] = {
    PLAIN: _plain,
    "constant_nodes": _constant_nodes,
    "folded": _folded,
    "runtime": _runtime,
    "overridden": _overridden,
    "tapped": _tapped,
    "shared": _shared,
    "doubled": _doubled,
    "if_branch": _if_branch,
    "local_function": _local_function,
    "symbolic": _symbolic,
    "unranked": _unranked,
    "oldest": _plain,
    "recent": _plain,
}
"""For each form, the function that makes its model; it returns None if the model would be that of another form."""
