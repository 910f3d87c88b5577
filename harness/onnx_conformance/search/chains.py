# SPDX-License-Identifier: Apache-2.0
"""Drawing of models of several nodes: the output of one call goes into the next, if the oracle accepts it."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import numpy_helper

from onnx_conformance.base.values import Drawn
from onnx_conformance.case.case import Outcome
from onnx_conformance.declare import CaseSpec, ElementType, Graph, NoAnswer
from onnx_conformance.declare.type import Type
from onnx_conformance.forms import shapes
from onnx_conformance.forms.delivered import INITIALIZERS_ALONE, Delivered, read_of
from onnx_conformance.forms.neighbours import WIDER
from onnx_conformance.generation import deliveries
from onnx_conformance.generation.deliveries import PRODUCER
from onnx_conformance.search.calls import base, changed
from onnx_conformance.search.grammar import DRAWN, MOST_ELEMENTS, NoCallError, Source, decided, newest_opsets
from onnx_conformance.specification import registry, schema
from onnx_conformance.specification.element_types import element_type
from onnx_conformance.specification.signature import type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.base.values import Value
    from onnx_conformance.generation.deliveries import Plan
    from onnx_conformance.minimize.declared_candidate import DeclaredCandidate

Array = np.ndarray[Any, Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]

MOST_FOLLOWERS = 3
BRIDGES = ("Identity", "Transpose", "Reshape", "Cast")
"""Operators that are inserted between others more often than by chance, because tools remove, merge and move them."""
ATTEMPTS = 8
"""How often a node without bridges is drawn until the oracle accepts it."""


@dataclass(frozen=True)
class Chain:
    """A model of several nodes.

    Attributes:
        plans: the plans of the nodes, with the actual values of their inputs.
        links: for each node after the first, the output of the previous node that it uses, and the input that uses it.
        opset: the opset of ai.onnx.
        constant: whether all inputs of nodes except the first, and except outputs of other nodes, are initializers.
        symbolic: whether the sizes of the graph's inputs are symbols.
    """

    plans: tuple[Plan, ...]
    links: tuple[tuple[str, str], ...]
    opset: int
    constant: bool
    symbolic: bool

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:  # noqa: ANN401, FBT001 - hypothesis's
        """Write only the operators, because hypothesis would write all drawn values."""
        printer.text(f"Chain({' '.join(self.operators)})")

    @property
    def operators(self) -> tuple[str, ...]:
        """The operator versions of the nodes."""
        return tuple(str(item.version) for item in self.plans)

    def part(self, begin: int, end: int) -> Chain:
        """Return the chain of some of its nodes. The first of them gets the same value as in this chain."""
        return dataclasses.replace(self, plans=self.plans[begin:end], links=self.links[begin : end - 1])


def chains(
    selected: Sequence[Source],
    every: Sequence[Source],
    *,
    opsets: Sequence[int] | None = None,
    nodes: tuple[int, int] = (2, 1 + MOST_FOLLOWERS),
    bridges: Sequence[str] = BRIDGES,
    first: Callable[[Draw, Source], DeclaredCandidate | None] | None = None,
) -> st.SearchStrategy[Chain | None]:
    """Return the strategy for models of several nodes. It draws None if the nodes do not fit together.

    Args:
        selected: the operator versions from which the first node, and some of the others, are drawn.
        every: the operator versions from which the others are drawn.
        opsets: the opsets of the models, the preferred ones first; None for those of `newest_opsets`.
        nodes: the smallest and the largest number of nodes. A model may have fewer, but at least two.
        bridges: the operators of BRIDGES that may be inserted.
        first: a function that draws the call of the first node; None for a declared call, which may be changed.
    """
    usable = [opset for opset in (newest_opsets() if opsets is None else opsets) if in_force(selected, opset)]
    least, most = nodes

    @st.composite
    def drawn(draw: Draw) -> Chain | None:
        if not usable:
            return None
        opset = draw(st.sampled_from(usable))
        source = draw(st.sampled_from(in_force(selected, opset)))
        candidate = (first or _first)(draw, source)
        planned = None if candidate is None else _linked(source, candidate.spec, candidate.types)
        if planned is None:
            return None
        plans, links = [planned], []
        for _ in range(least - 1 + draw(st.integers(0, most - least))):
            follower = _follower(draw, plans, selected if draw(st.booleans()) else every, opset, bridges)
            if follower is None:
                break
            links.append(follower[0])
            plans.append(follower[1])
        constant, symbolic = draw(st.booleans()), draw(st.booleans())
        return Chain(tuple(plans), tuple(links), opset, constant, symbolic) if links else None

    return drawn()


def in_force(sources: Sequence[Source], opset: int) -> list[Source]:
    """Return the operator versions of ai.onnx that are in force in an opset and have inputs."""
    return [
        item
        for item in sources
        if item.version.domain == "ai.onnx" and item.version.since <= opset <= item.version.top and item.version.inputs
    ]


def _first(draw: Draw, source: Source) -> DeclaredCandidate | None:
    candidate = base(draw, source)
    if candidate is not None and not draw(st.integers(0, 1)):
        candidate = changed(draw, source, candidate)
    return candidate


def _linked(source: Source, spec: CaseSpec, types: Mapping[str, str]) -> Plan | None:
    """Return the plan of a call whose values another node can use; None if no plan has them."""
    if spec.beside or spec.around:
        return None
    try:
        planned = decided(source.op, source.version, spec, types)
    except (NoCallError, NoAnswer):
        return None
    if planned.outcome is not Outcome.VALUES or planned.expected is None:
        return None
    if any(isinstance(item, Drawn) for item in planned.expected) or not _outputs(planned):
        return None
    return planned


def _outputs(planned: Plan) -> dict[str, Array]:
    """Return the outputs that are tensors of real numbers, booleans or strings, by name, without optionals."""
    named = [(name, type_) for name, type_ in planned.outputs if name]
    return {
        name: value
        for (name, type_), value in zip(named, planned.expected or (), strict=True)
        if isinstance(value, np.ndarray) and Type.parse(type_).is_tensor
        if value.dtype.kind != "c" and value.size <= MOST_ELEMENTS
    }


def _follower(
    draw: Draw, plans: Sequence[Plan], sources: Sequence[Source], opset: int, bridges: Sequence[str]
) -> tuple[tuple[str, str], Plan] | None:
    """Draw a node that uses an output of the last one, and the link; None if the oracle accepts no such node."""
    outputs = _outputs(plans[-1])
    output = draw(st.sampled_from(sorted(outputs)))
    value = outputs[output]
    taking = [item for item in in_force(sources, opset) if item.valid and _takers(item, type_of(value))]
    made = _operator(draw, value, taking, plans) if taking and not draw(st.booleans()) else None
    if bridges:
        made = made or _bridge(draw, value, opset, bridges)
    else:
        for _ in range(ATTEMPTS if taking else 0):
            made = made or _operator(draw, value, taking, plans)
    return None if made is None else ((output, made[0]), made[1])


def _operator(draw: Draw, value: Array, taking: Sequence[Source], plans: Sequence[Plan]) -> tuple[str, Plan] | None:
    """Draw a declared call in which a value replaces one of its inputs; return the name of the input and the plan."""
    source = draw(st.sampled_from(taking))
    taker, variable = draw(st.sampled_from(_takers(source, type_of(value))))
    types = {variable: type_of(value)} if variable in source.version.types else {}
    candidate = source.candidate(source.calls[draw(st.integers(0, source.valid - 1))], types)
    if candidate is None or candidate.spec.arguments.get(taker) is None:
        return None
    if any(isinstance(item, Graph) for item in candidate.spec.arguments.values()):
        return None  # A subgraph declares the types and shapes of its values.
    shared = draw(st.booleans())
    for arguments in _joined(source, candidate.spec.arguments, taker, value, plans if shared else ()):
        spec = CaseSpec(DRAWN, arguments, candidate.spec.tags, n=candidate.spec.n, cites=candidate.spec.cites)
        planned = _linked(source, spec, candidate.types)
        if planned is not None:
            return next(name for name, _ in planned.inputs if name in {taker, f"{taker}_0"}), planned
    return None


@functools.cache
def _takers(source: Source, type_: str) -> list[tuple[str, str]]:
    """Return the names of the inputs that accept a type, with their declared types."""
    return [
        (item.name, item.type)
        for item in source.version.inputs
        if type_ in source.version.allowed(item.type) and item.name not in source.version.attributes
    ]


def _joined(
    source: Source, arguments: Mapping[str, Any], taker: str, value: Array, earlier: Sequence[Plan]
) -> Iterator[dict[str, Any]]:
    """Yield arguments in which a value replaces one. The others are unchanged, have its sizes or are earlier values."""
    old = arguments[taker]
    variadic = isinstance(old, tuple)
    replaced = old[0] if variadic and old else old
    shape = replaced.shape if isinstance(replaced, np.ndarray) else None

    def with_change(argument: Any, change: Callable[[Array], Array]) -> Any:  # noqa: ANN401 - any argument
        return change(argument) if isinstance(argument, np.ndarray) else argument

    def with_others(change: Callable[[Array], Array]) -> dict[str, Any]:
        made = {}
        for name, argument in arguments.items():
            is_input = isinstance(source.version.arguments.get(name), schema.Parameter)
            if name == taker:
                made[name] = (value, *(with_change(item, change) for item in old[1:])) if variadic else value
            else:
                made[name] = with_change(argument, change) if is_input else argument
        return made

    def of_its_size(array: Array) -> Array:
        return _reshaped(array, value.shape) if array.dtype == value.dtype else array

    def alike(array: Array) -> Array:
        return of_its_size(array) if array.shape == shape else array

    held = [item for plan in earlier for item in [*plan.tensors.values()][1:]]

    def of_before(array: Array) -> Array:
        return next((item for item in held if item.dtype == array.dtype), array)

    yield from map(with_others, ([of_before] if held else []) + [lambda array: array, alike, of_its_size])


def _reshaped(array: Array, shape: tuple[int, ...]) -> Array:
    """Return an array with a shape that repeats the elements of another array."""
    if not array.size:
        return np.full(shape, "", object) if array.dtype.kind == "O" else np.zeros(shape, array.dtype)
    return np.resize(array, math.prod(shape)).reshape(shape)


def _bridge(draw: Draw, value: Array, opset: int, bridges: Sequence[str]) -> tuple[str, Plan] | None:
    """Draw a node that moves a value, and return the name of its input with its plan."""
    name = draw(st.sampled_from(bridges))
    arguments: dict[str, Any] = {}
    taker = "input"
    if name == "Transpose":
        taker, arguments["perm"] = "data", draw(st.permutations(range(value.ndim)))
    elif name == "Reshape":
        taker = "data"
        shapes = [[-1], [*reversed(value.shape)], [1, *value.shape], [*value.shape, 1], [*value.shape]]
        arguments["shape"] = np.array(draw(st.sampled_from(shapes)), np.int64)
    elif name == "Cast":
        own = element_type(value.dtype).name
        arguments["to"] = ElementType(draw(st.sampled_from((WIDER.get(own, own), "float", "int32", "float16", "bool"))))
    version = schema.in_force("ai.onnx", name, opset)
    op = registry.load().find("ai.onnx", name)
    if op is None or version.since not in op.versions or type_of(value) not in version.allowed(version.inputs[0].type):
        return None
    spec = CaseSpec(DRAWN, {taker: value, **arguments}, frozenset())
    planned = _linked(Source(op, version), spec, {version.inputs[0].type: type_of(value)})
    return None if planned is None else (taker, planned)


def started(chain: Chain) -> Delivered:
    """Return a chain as a delivered model, in which equal initializers are merged.

    Its sizes are symbols if they are so in the chain.
    """
    graph = onnx.GraphProto(name="drawn")
    fed: dict[str, Value] = {}
    stated: dict[str, frozenset[int]] = {}
    constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
    given = ""
    for place, planned in enumerate(chain.plans):
        start = deliveries.started(planned)
        own = start.model.graph
        linked = chain.links[place - 1][1] if place else ""
        names = {}
        for item in own.input:
            value = start.inputs[item.name]
            if item.name == linked:
                names[item.name] = given
                continue
            name = names[item.name] = f"n{place}_{item.name}"
            if chain.constant and fed and isinstance(value, np.ndarray):
                names[item.name] = _constant(graph, constants, value, name)
                continue
            fed[name] = value
            stated[name] = _stated(item) | start.stated.get(item.name, frozenset())
            graph.input.append(_renamed(item, name))
        node = onnx.NodeProto.FromString(own.node[0].SerializeToString())
        node.name = f"{node.op_type}_{place}"
        node.input[:] = [names.get(name, "") for name in node.input]
        node.output[:] = [f"n{place}_{name}_out" if name else "" for name in node.output]
        graph.node.append(node)
        if place < len(chain.links):
            given = f"n{place}_{chain.links[place][0]}_out"
        else:
            graph.output.extend(_renamed(item, f"n{place}_{item.name}_out") for item in own.output)
    stated |= {item.name: _stated(item) for item in graph.output}
    ir_version = max(schema.lowest_ir("ai.onnx", chain.opset), INITIALIZERS_ALONE)
    made = onnx.ModelProto(ir_version=ir_version, producer_name=PRODUCER, graph=graph)
    made.opset_import.add(domain="", version=chain.opset)
    plain = Delivered(
        model=made,
        inputs=fed,
        expected=chain.plans[-1].expected,
        allowance=None,
        subject=range(len(chain.plans)),
        opsets=range(chain.opset, chain.opset + 1),
        parameters={item.name: numpy_helper.to_array(item) for item in graph.initializer},
        read=read_of(made, fed),
        stated=stated,
        between={name: value for name, value in _between(chain) if name not in {item.name for item in graph.output}},
    )
    return (shapes.symbolic(plain) if chain.symbolic else None) or plain


def _between(chain: Chain) -> Iterator[tuple[str, Value]]:
    """Yield the values that nodes compute for the next ones, by name."""
    for place, (planned, (output, _)) in enumerate(zip(chain.plans, chain.links, strict=False)):
        yield f"n{place}_{output}_out", _outputs(planned)[output]


def _constant(
    graph: onnx.GraphProto, constants: dict[tuple[str, tuple[int, ...], bytes], str], value: Array, name: str
) -> str:
    """Return the name of the initializer with a value; it is added if it does not exist."""
    content = repr(value.tolist()).encode() if value.dtype.kind == "O" else value.tobytes()
    key = (type_of(value), value.shape, content)
    if key not in constants:
        constants[key] = name
        graph.initializer.append(numpy_helper.from_array(value, name))
    return constants[key]


def _renamed(info: onnx.ValueInfoProto, name: str) -> onnx.ValueInfoProto:
    """Return the declaration of a value with another name."""
    made = onnx.ValueInfoProto()
    made.CopyFrom(info)
    made.name = name
    return made


def _stated(info: onnx.ValueInfoProto) -> frozenset[int]:
    """Return the axes of a list of integers, whose length may determine the rank of later values; none of others."""
    kind = info.type.tensor_type
    is_list = len(kind.shape.dim) <= 1 and kind.elem_type in {onnx.TensorProto.INT64, onnx.TensorProto.INT32}
    return frozenset(range(len(kind.shape.dim))) if is_list else frozenset()
