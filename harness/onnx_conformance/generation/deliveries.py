"""Plan x form -> Case: delivery of the same case in every suitable form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnx_conformance.case.case import DATA_FILE, Allowance, Case, Outcome
from onnx_conformance.declare import Drawn
from onnx_conformance.declare.type import Type
from onnx_conformance.forms import table
from onnx_conformance.forms.table import (
    EXPANDED,
    EXTERNAL_DATA,
    IF_BRANCH,
    INITIALIZER,
    LOCAL_FUNCTION,
    PLAIN,
    SYMBOLIC,
    TWICE,
    TYPED,
    UNRANKED,
    Once,
    delivered_id,
)
from onnx_conformance.generation import function_body, surroundings
from onnx_conformance.specification import nodes as of_model
from onnx_conformance.specification import rewordings, schema
from onnx_conformance.specification.signature import type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.declare import CaseSpec, Clause, Op
    from onnx_conformance.declare.data import Value
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.specification.signature import TypedValue

PRODUCER = "onnx-conformance"


class Leads(NamedTuple):
    """The kinds of which a case is the first. Only the first case is delivered in the forms that test the whole kind.

    Attributes:
        nodes: first with values among the cases with the same inputs, attributes and outputs. Its forms test the
            surroundings of a node.
        types: first with values among the cases whose parameters (all inputs except the first) have the same types. A
            case whose parameters are not all zero is preferred. Its forms test how initializers are stored.
        shapes: first among the cases with the same shapes, attributes and parameters. Its forms test unknown shapes,
            mixtures of known and unknown parameters, and the last opset.
    """

    nodes: bool
    types: bool
    shapes: bool

    def has(self, once: Once) -> bool:
        """Return whether the case has the forms that only the first of such cases has."""
        return once is Once.EACH or bool(getattr(self, once))


LEADS = Leads(nodes=True, types=True, shapes=True)


@dataclass(frozen=True)
class Plan:
    """One declared case in one version with one binding of types, before it takes a form.

    Attributes:
        inputs: parameter name and value, in the signature's order; None for an omitted input in between.
        around: values of the outer graph, to which subgraphs and nodes of `beside` may refer.
        beside: nodes before the operator's node.
        attributes: protos by name.
        outputs: name and type of each output; the name is empty for an omitted output in between.
        expected: the values of the outputs that have names.
        detail: the part of the case that the deciding clause is about.
        open: for each output that the node names, a mask of the elements that may have any value, or None.
        readings: the numbers of the readings that the expected outcome rests on.
        decided: the clause that the oracle names if it returns no values.
        types: the types of the type variables over which the case is expanded.
        rank: the rank of the output tensors, for a model without an answer; None if it is not determined.
        leads: the kinds of which it is the first.
        earlier: the inputs of another case that has values and the same model (with symbolic shapes); None if there is
            no such case.
    """

    op: Op
    version: OperatorVersion
    spec: CaseSpec
    id: str
    inputs: tuple[tuple[str, TypedValue | None], ...]
    around: Mapping[str, TypedValue]
    beside: tuple[onnx.NodeProto, ...]
    attributes: Mapping[str, onnx.AttributeProto]
    outputs: tuple[tuple[str, str], ...]
    outcome: Outcome
    expected: tuple[Value | Drawn, ...] | None
    allowance: Allowance
    detail: str
    decided: Clause | None
    readings: tuple[str, ...]
    open: tuple[np.ndarray[Any, Any] | None, ...]
    types: Mapping[str, str]
    rank: int | None
    leads: Leads = LEADS
    earlier: Mapping[str, TypedValue] | None = None

    @property
    def tensors(self) -> dict[str, np.ndarray[Any, Any]]:
        """The operator's inputs that are tensors, by name."""
        tensors = {name: item for name, item in self.inputs if item is not None and item.is_tensor}
        return {name: np.asarray(item.value) for name, item in tensors.items()}


@dataclass(frozen=True)
class Delivery:
    """A way to deliver a case.

    Attributes:
        name: the text after the @ of the case id.
        opset: the opset that the model imports.
        baked: the inputs that become initializers.
        typed: whether initializers store their elements in typed fields instead of bytes.
        external: whether the bytes of initializers are in a separate file.
        twice: whether the same session first runs the model with the plan's earlier inputs.
        named_empty: the number of optional inputs that are written as "" after the last one present.
        symbolic: whether dimensions are symbols, except those whose length the text states.
        again: whether the model has the node twice; with one seed, both draw the same values.
        body: the function that replaces the node.
        unranked: whether the operator's inputs have an unknown rank. A graph must declare the shapes of its inputs, so
            the operator's inputs are outputs of a Reshape whose target shape is known only at run time.
        conditional: an If that replaces the node and contains it in its then-branch.
        beside: the opset of ai.onnx if the operator is of another domain; None for the newest.
        called: a function call that replaces the node, and the function, which contains the node.
    """

    name: str
    opset: int
    baked: frozenset[str] = frozenset()
    typed: bool = False
    external: bool = False
    twice: bool = False
    named_empty: int = 0
    symbolic: bool = False
    unranked: bool = False
    again: bool = False
    body: onnx.FunctionProto | None = None
    conditional: onnx.NodeProto | None = None
    beside: int | None = None
    called: tuple[onnx.NodeProto, onnx.FunctionProto] | None = None

    @property
    def replaced(self) -> bool:
        """Whether something else replaces the node in the graph."""
        return any(item is not None for item in (self.body, self.conditional, self.called))


_RESHAPE_BY_INPUT = 5
"""The opset since which the target shape of Reshape is an input."""
_ALIGNED = 64
"""The alignment of external data, in bytes."""
_USUAL_OPSET = 13
"""The opset of ai.onnx in models with operators of other domains; every runtime supports it."""
_RESHAPE_ALLOWZERO = 14
"""The opset since which Reshape can return a dimension of zero."""


def deliveries(plan: Plan) -> Iterator[Delivery]:
    """Return every form that is suitable for a case, with the plain one first."""
    since, top = plan.version.since, plan.version.top
    yield Delivery(PLAIN, since)
    # Signatures concern model checkers and tables of kernels, which do not depend on forms.
    of_signature = plan.spec.derived or (plan.decided is not None and not plan.decided.operator)
    if not of_signature:
        yield from _deliveries(plan, since, top)
    if top != since and (plan.leads.shapes or of_signature):
        yield Delivery("top", top)
    if "seed" in plan.attributes and plan.outcome is Outcome.PROPERTY and not of_signature:
        yield Delivery("again", since, again=True)
    body = _body(plan) if plan.expected is not None and not of_signature else None
    if body is not None:
        yield Delivery(EXPANDED, since, body=body)
    if plan.expected is not None and not of_signature:
        yield from _stored(plan, since)
        if plan.leads.nodes:
            yield from _surroundings(plan, since, top)
        if plan.earlier is not None:
            yield Delivery(TWICE, since, symbolic=True, twice=True)


def _parameters(plan: Plan) -> list[str]:
    """Return the inputs that a runtime may fold if they are constant: the tensors after the first input."""
    arrays = plan.tensors
    return [item.name for item in plan.version.inputs[1:] if not item.variadic and item.name in arrays]


def _stored(plan: Plan, since: int) -> Iterator[Delivery]:
    """Return the forms that store initializers in another way; strings have no other way."""
    arrays = plan.tensors
    baked = frozenset(name for name in _parameters(plan) if arrays[name].dtype != object)
    if baked and plan.leads.types:
        yield Delivery(TYPED, since, baked=baked, typed=True)
    if baked and plan.leads.nodes:
        yield Delivery(EXTERNAL_DATA, since, baked=baked, external=True)


def _deliveries(plan: Plan, since: int, top: int) -> Iterator[Delivery]:
    """Return the forms that deliver the inputs of a case in another way."""
    arrays = plan.tensors
    # Inputs after the first usually control the computation, and runtimes fold them if they are constant.
    parameters = _parameters(plan)
    if parameters:
        yield Delivery(INITIALIZER, since, baked=frozenset(parameters))
    behind = plan.version.inputs[len(plan.inputs) :]
    if behind and all(item.optional for item in behind):
        yield Delivery("omitted", since, named_empty=len(behind))
    if not plan.leads.shapes:
        return
    if len(parameters) > 1:
        for name in parameters:
            yield Delivery(f"{INITIALIZER}-{name}", since, baked=frozenset([name]))
    if any(value.ndim for value in arrays.values()):
        yield Delivery(SYMBOLIC, since, symbolic=True)
    opset = max(since, _RESHAPE_BY_INPUT)
    fits = plan.version.domain == "ai.onnx" and opset <= top
    if arrays and fits and all(_reshapes(value, opset) for value in arrays.values()):
        yield Delivery(UNRANKED, opset, symbolic=True, unranked=True)


def _surroundings(plan: Plan, since: int, top: int) -> Iterator[Delivery]:
    """Return the forms with other surroundings of the node."""
    if "nodes" in plan.op.oracle_for(plan.version.meaning).of_node:  # Its oracle depends on the surrounding nodes.
        return
    node = _node(plan)
    outputs = [(name, type_) for name, type_ in plan.outputs if name]
    opsets = _opsets(plan, Delivery(LOCAL_FUNCTION, since), [node])
    for opset in _opsets_of_onnx(plan, since, top):
        conditional = surroundings.branch(node, outputs, plan.expected or (), opset)
        if conditional is not None:
            own = opset if plan.version.domain == "ai.onnx" else since
            yield Delivery(IF_BRANCH, own, conditional=conditional, beside=opset)
            break
    around = [*plan.around, *(name for other in plan.beside for name in other.output), *dict(plan.inputs)]
    yield Delivery(LOCAL_FUNCTION, since, called=surroundings.call(node, opsets, around))


def _opsets_of_onnx(plan: Plan, since: int, top: int) -> Sequence[int]:
    """Return the opsets of ai.onnx in which a case may have an If around its node."""
    if plan.version.domain == "ai.onnx":
        return range(since, top + 1)
    newest = schema.newest_opset("ai.onnx")
    fixed = "ai.onnx" in _opsets(plan, Delivery(IF_BRANCH, since), [*plan.beside, _node(plan)])
    return [newest] if fixed else range(_USUAL_OPSET, newest + 1)


def form_names(version: OperatorVersion, leads: Leads = LEADS) -> tuple[str, ...]:
    """Return the names of the forms that a case of this version may have. The suitable ones depend on its plan.

    Args:
        version: the operator version.
        leads: as in `Plan`.
    """
    parameters = [item.name for item in version.inputs[1:] if not item.variadic]
    possible = {
        INITIALIZER: bool(parameters),
        "omitted": any(item.optional for item in version.inputs),
        SYMBOLIC: bool(version.inputs),
        UNRANKED: bool(version.inputs) and version.domain == "ai.onnx",
        "top": version.top != version.since,
        "again": "seed" in version.attributes,
        EXPANDED: schema.first_body(version) is not None,
        IF_BRANCH: True,
        LOCAL_FUNCTION: True,
        TYPED: bool(parameters),
        EXTERNAL_DATA: bool(parameters),
        TWICE: bool(version.inputs),
    }
    found = [PLAIN]
    for form in table.FORMS:
        if possible.get(form.name) and (form.name == "top" or leads.has(form.once)):
            found.append(form.name)
        if form.name == INITIALIZER and len(parameters) > 1 and leads.shapes:
            found += [f"{INITIALIZER}-{name}" for name in parameters]
    return tuple(found)


def _body(plan: Plan) -> onnx.FunctionProto | None:
    types = [item.type if item else "" for _, item in plan.inputs]
    opset = schema.first_body(plan.version)
    if opset is None:
        return None
    values = [item.value if item else None for _, item in plan.inputs]
    shapes = [value.shape if isinstance(value, np.ndarray) else None for value in values]
    return schema.function_body(plan.version.domain, plan.version.name, opset, _node(plan), types, shapes)


def _node(plan: Plan, named_empty: int = 0) -> onnx.NodeProto:
    names = [name if item is not None else "" for name, item in plan.inputs] + [""] * named_empty
    outputs = [name for name, _ in plan.outputs]
    domain = schema.proto_domain(plan.version.domain)
    node = helper.make_node(plan.version.name, names, outputs, name=plan.version.name, domain=domain)
    node.attribute.extend(proto for _, proto in sorted(plan.attributes.items()))
    return node


def _reshapes(value: np.ndarray[Any, Any], opset: int) -> bool:
    """Return whether Reshape of this opset can return such a value. The case must not fail because of Reshape."""
    allowed = schema.in_force("ai.onnx", "Reshape", opset).types["T"]
    return type_of(value) in allowed and (value.size > 0 or opset >= _RESHAPE_ALLOWZERO)


def _value_info(name: str, type_: str, shape: Sequence[int | str] | None) -> onnx.ValueInfoProto:
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


def _opsets(plan: Plan, form: Delivery, nodes: Sequence[onnx.NodeProto]) -> dict[str, int]:
    """Return the imported opset of each domain of nodes and their subgraphs."""
    imports = {plan.version.domain: form.opset}
    if form.beside is not None:
        imports.setdefault("ai.onnx", form.beside)
    nodes = [item for item in nodes if item.domain != surroundings.LOCAL_DOMAIN]
    if form.body is not None:
        imports |= {item.domain or "ai.onnx": item.version for item in form.body.opset_import}
    used = {item.domain or "ai.onnx" for item in of_model.within(nodes)}
    return {
        name: imports.get(name) or schema.newest_opset(name)
        for name in (*imports, *sorted(used - set(imports)))
        if name in used
    }


def _defaults(plan: Plan) -> dict[str, onnx.AttributeProto]:
    return schema.default_attributes(plan.version.domain, plan.version.name, plan.version.since)


def build(plan: Plan, form: Delivery) -> Case:
    """Return the case of a plan in one form."""
    node = _node(plan, form.named_empty)
    nodes = [*plan.beside, *_in_place(plan, form, node)]
    computed = {name for other in plan.beside for name in other.output}
    opsets = _opsets(plan, form, nodes if form.called is None else [*nodes, *form.called[1].node])
    ir_version = max(schema.lowest_ir(domain, opset) for domain, opset in opsets.items())
    if form.called is not None:
        ir_version = max(ir_version, surroundings.FUNCTIONS_SINCE)
    graph = onnx.GraphProto(name=f"{plan.version.name}_{plan.version.since}_{plan.spec.name}")
    fed = _add_inputs(plan, form, graph, computed, ir_version)
    graph.node.extend(nodes)
    outputs = [(name, type_) for name, type_ in plan.outputs if name]  # The others are omitted.
    expected = plan.expected
    infos = [_value_info(name, type_, _output_shape(plan, i, name, form)) for i, (name, type_) in enumerate(outputs)]
    graph.output.extend(infos)
    if form.again and expected is not None:
        graph.node.append(_again(node))
        for info in infos:
            graph.output.append(info)
            graph.output[-1].name = f"{info.name}_again"
        expected += tuple(_copy(value, index) for index, value in enumerate(expected))
    files = _moved_out(graph.initializer) if form.external else {}
    model = onnx.ModelProto(ir_version=ir_version, producer_name=PRODUCER, graph=graph)
    for domain, opset in opsets.items():
        model.opset_import.add(domain=schema.proto_domain(domain), version=opset)
    if form.called is not None:
        model.functions.append(form.called[1])
        model.opset_import.add(domain=surroundings.LOCAL_DOMAIN, version=1)
    return Case(
        id=delivered_id(plan.id, form.name),
        operator=str(plan.version),
        model=model.SerializeToString(deterministic=True),
        inputs=fed,
        outputs=tuple(info.name for info in graph.output),
        outcome=plan.outcome,
        expected=expected,
        allowance=plan.allowance,
        clauses=tuple(clause.text for clause in plan.spec.clauses),
        tags=frozenset(map(str, plan.spec.tags)),
        form=form.name,
        detail=plan.detail,
        readings=plan.readings,
        reworded=rewordings.latest(str(plan.version), (clause.text for clause in plan.spec.clauses)),
        force=str(plan.decided.force) if plan.decided and plan.outcome is Outcome.REJECTS else "",
        notes=tuple(clause.note for clause in plan.spec.clauses if clause.note),
        earlier={name: item.value for name, item in (plan.earlier or {}).items()} if form.twice else None,
        files=files,
    )


def _add_inputs(
    plan: Plan, form: Delivery, graph: onnx.GraphProto, computed: set[str], ir_version: int
) -> dict[str, Value]:
    """Add the inputs and initializers to a graph; return the values of the inputs.

    Args:
        plan: the plan of the case.
        form: the form of the case.
        graph: the graph without its nodes.
        computed: the names of the values that nodes compute.
        ir_version: the IR version of the model.
    """
    fed: dict[str, Value] = {}
    for name, item in {**dict(plan.inputs), **plan.around}.items():
        if item is None or name in computed:
            continue
        array = np.asarray(item.value) if item.is_tensor else None
        if name in form.baked:
            graph.initializer.append((_typed if form.typed else numpy_helper.from_array)(np.asarray(array), name))
        elif form.unranked and array is not None and name not in plan.around:
            graph.node.append(_reshape(name, array, form, graph, fed))
            continue
        else:
            fed[name] = item.value
        # Up to IR version 3 an initializer is the default of a graph input.
        if name not in form.baked or ir_version < 4:  # noqa: PLR2004
            stated = plan.op.stated(array.shape) if array is not None and name not in plan.around else frozenset()
            shape = None if array is None else _shape(name, array.shape, form, stated)
            graph.input.append(_value_info(name, item.type, shape))
    if form.conditional is not None:
        fed[surroundings.CONDITION] = np.array(True)  # noqa: FBT003 - a value
        graph.input.append(_value_info(surroundings.CONDITION, "tensor(bool)", ()))
    return fed


def _typed(array: np.ndarray[Any, Any], name: str) -> onnx.TensorProto:
    """Return a tensor whose elements are in the field of their type."""
    packed = numpy_helper.from_array(array, name)
    values = array.reshape(-1)
    # onnx's helper rounds again: infinity becomes a number, and the least float8e8m0 becomes the next larger one.
    if onnx.TensorProto.DataType.Name(packed.data_type).startswith("FLOAT8"):
        bits = values.view(np.uint8).tolist()
        return onnx.TensorProto(name=name, data_type=packed.data_type, dims=array.shape, int32_data=bits)
    return helper.make_tensor(name, packed.data_type, array.shape, values)


def _moved_out(tensors: Sequence[onnx.TensorProto]) -> dict[str, bytes]:
    """Move the bytes of tensors to a file, none of them at its beginning; return its content by name."""
    data = b"\xff" * _ALIGNED
    for tensor in tensors:
        content = bytes(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", DATA_FILE), ("offset", len(data)), ("length", len(content))):
            tensor.external_data.add(key=key, value=str(value))
        data += content + b"\xff" * (_ALIGNED - len(content) % _ALIGNED)
    return {DATA_FILE: data}


def _in_place(plan: Plan, form: Delivery, node: onnx.NodeProto) -> list[onnx.NodeProto]:
    """Return the nodes that replace the operator's node; in the plain form, the node itself."""
    if form.body is not None:
        return function_body.written_out(node, form.body, _defaults(plan))
    if form.conditional is not None:
        return [form.conditional]
    return [node] if form.called is None else [form.called[0]]


def _again(node: onnx.NodeProto) -> onnx.NodeProto:
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.name = f"{node.name}_again"
    copy.output[:] = [f"{name}_again" if name else "" for name in node.output]
    return copy


def _copy(value: Value | Drawn, index: int) -> Value | Drawn:
    """Return the expected value of an output of the second node. Random values must equal those of the first node."""
    return Drawn(value.example, same_as=index) if isinstance(value, Drawn) else value


def _shape(
    name: str, shape: Sequence[int], form: Delivery, stated: frozenset[int] = frozenset()
) -> Sequence[int | str]:
    """Return the shape that a model declares. In a symbolic form it has symbols, except for the axes in `stated`."""
    return [size if axis in stated or not form.symbolic else f"{name}_{axis}" for axis, size in enumerate(shape)]


def _output_shape(plan: Plan, index: int, name: str, form: Delivery) -> Sequence[int | str] | None:
    if plan.expected is not None:
        value = plan.expected[index]
        if isinstance(value, Drawn):
            value = value.example
        if not isinstance(value, np.ndarray):
            return None
        several = plan.allowance.any_of[index] if plan.allowance.any_of else None
        others = [item.shape for item in several.values if item.ndim == value.ndim] if several else []
        # A graph must declare a rank, but may omit the sizes, which may differ.
        differ = {axis for axis in range(value.ndim) if any(shape[axis] != value.shape[axis] for shape in others)}
        return [f"{name}_{axis}" if form.symbolic or axis in differ else size for axis, size in enumerate(value.shape)]
    return None if plan.rank is None else [f"{name}_{axis}" for axis in range(plan.rank)]


def _reshape(
    name: str, value: np.ndarray[Any, Any], form: Delivery, graph: onnx.GraphProto, fed: dict[str, Value]
) -> onnx.NodeProto:
    """Return the node that determines the rank of `value` at run time, and add its inputs to the graph."""
    fed[f"{name}_data"], fed[f"{name}_shape"] = value.reshape(-1), np.array(value.shape, np.int64)
    graph.input.append(_value_info(f"{name}_data", type_of(value), [f"{name}_size"]))
    graph.input.append(_value_info(f"{name}_shape", "tensor(int64)", [f"{name}_rank"]))
    zero: dict[str, Any] = {"allowzero": 1} if form.opset >= _RESHAPE_ALLOWZERO else {}
    return helper.make_node("Reshape", [f"{name}_data", f"{name}_shape"], [name], name=f"Reshape_{name}", **zero)
