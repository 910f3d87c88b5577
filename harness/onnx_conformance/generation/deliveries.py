# SPDX-License-Identifier: Apache-2.0
"""Plan x form -> Case: delivery of the same case in every suitable form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx
from onnx import helper

from onnx_conformance.base.values import Drawn
from onnx_conformance.case.case import PLAIN, Case, Outcome, delivered_id
from onnx_conformance.forms import table
from onnx_conformance.forms.constants import with_constants
from onnx_conformance.forms.delivered import Delivered, value_info
from onnx_conformance.forms.table import Form, Once, Start
from onnx_conformance.specification import dimensions, rewordings, schema
from onnx_conformance.specification import nodes as of_model
from onnx_conformance.tolerance import several_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.allowance import Allowance
    from onnx_conformance.declare import CaseSpec, Clause, Op
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.specification.signature import TypedValue

PRODUCER = "onnx-conformance"


class Leads(NamedTuple):
    """The kinds whose first case this is. Only the first case is delivered in the forms that test the whole kind.

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
        force: how strongly a sentence forbids the model, or `optional` if one permits runtimes to reject it.
        expected: the values of the outputs that have names.
        detail: the part of the case that the deciding clause is about.
        open: for each output that the node names, a mask of the elements that may have any value, or None.
        readings: the numbers of the readings that the expected outcome rests on.
        decided: the clause that the oracle names if it returns no values.
        types: the types of the type variables over which the case is expanded.
        rank: the rank of the output tensors, for a model without an answer; None if it is not determined.
        leads: the kinds whose first case it is.
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
    force: str
    expected: tuple[Value | Drawn, ...] | None
    allowance: Allowance
    by_steps: Allowance
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

    @property
    def of_signature(self) -> bool:
        """Whether it is about the signature, which concerns model checkers and tables of kernels."""
        return bool(self.spec.derived) or (self.decided is not None and not self.decided.operator)

    def has(self, form: Form) -> bool:
        """Return whether the case may have a form; its function decides whether it has it."""
        if start_of(self.spec) not in form.starts or not form.suits(self.version):
            return False
        return form.signatures if self.of_signature else self.leads.has(form.once)


def start_of(spec: CaseSpec) -> Start:
    """Return the kind of a declared case."""
    if spec.exhaustive:
        return Start.EXHAUSTIVE
    return Start.SIZED if spec.sized else Start.PLAN


def form_names(version: OperatorVersion, leads: Leads = LEADS, start: Start = Start.PLAN) -> tuple[str, ...]:
    """Return the names of the forms that a case of this version may have. The suitable ones depend on its plan.

    Args:
        version: the operator version.
        leads: as in `Plan`.
        start: the kind of the case.
    """
    return tuple(
        name
        for form in table.FORMS
        if start in form.starts and form.suits(version) and (form.signatures or leads.has(form.once))
        for name in form.names(version.parameters)
    )


def deliveries(plan: Plan, wanted: Callable[[str], bool] | None = None) -> Iterator[tuple[str, Delivered]]:
    """Yield the name of every form that is suitable for a case, and the case in it, with the plain one first.

    Args:
        plan: the plan of the case.
        wanted: a predicate on case ids, so other forms are not made; None for all.
    """
    start = started(plan)
    for form in filter(plan.has, table.FORMS):
        for name in form.names(start.parameters):
            if wanted is None or wanted(delivered_id(plan.id, name)):
                made = form.deliver(start, name)
                if made is not None:
                    yield name, made


def in_form(plan: Plan, name: str) -> Delivered | None:
    """Return a case in one form; None if the form is not suitable."""
    case_id = delivered_id(plan.id, name)
    return next((made for _, made in deliveries(plan, lambda other: other == case_id)), None)


def started(plan: Plan, opset: int | None = None) -> Delivered:
    """Return the plain form of a case.

    Args:
        plan: the plan of the case.
        opset: the opset that its model imports; None for the first one of the operator version.
    """
    version, node = plan.version, _node(plan)
    computed = {name: None for other in plan.beside for name in other.output}
    inputs = {name: item for name, item in plan.inputs if item is not None}
    fed = {name: item for name, item in {**inputs, **plan.around}.items() if name not in computed}
    known = {**inputs, **plan.around, **{name: inputs.get(name) for name in computed}}
    used = of_model.used([node])
    tensors = {name: np.asarray(item.value) for name, item in fed.items() if item.is_tensor}
    outputs = [(name, type_) for name, type_ in plan.outputs if name]  # The others are omitted.
    opsets = _opsets(version.domain, opset or schema.usual_opset(version), [*plan.beside, node])
    levels = {domain: schema.lowest_ir(domain, number) for domain, number in opsets.items()}
    model = onnx.ModelProto(
        ir_version=max(levels.values()),
        producer_name=PRODUCER,
        graph=onnx.GraphProto(
            name=f"{version.name}_{version.since}_{plan.spec.name}",
            node=[*plan.beside, node],
            input=[
                value_info(name, item.type, tensors[name].shape if name in tensors else None)
                for name, item in fed.items()
            ],
            output=[
                value_info(name, type_, _output_shape(plan, index, name)) for index, (name, type_) in enumerate(outputs)
            ],
        ),
    )
    for domain, number in opsets.items():
        model.opset_import.add(domain=schema.proto_domain(domain), version=number)
    made = Delivered(
        model=model,
        inputs={name: item.value for name, item in fed.items()},
        expected=plan.expected,
        allowance=plan.allowance,
        subject=range(len(plan.beside), len(plan.beside) + 1),
        opsets=range(version.since, version.top + 1),
        domain=version.domain,
        parameters={name: tensors[name] for name in version.parameters if name in inputs and name in tensors},
        constants=frozenset(plan.op.constants),
        read={name: item for name, item in known.items() if name in used},
        least_ir=max((level for domain, level in levels.items() if domain != version.domain), default=0),
        captured=frozenset(plan.around.keys() - inputs.keys()),
        stated={name: plan.op.stated(array.shape) for name, array in tensors.items() if name not in plan.around},
        dimensions=_dimensions(plan, {item.name: _shape(item) for item in (*model.graph.input, *model.graph.output)}),
        movable=plan.expected is None or "nodes" not in plan.op.oracle_for(version.meaning).of_node,
        another=None if plan.earlier is None else {name: item.value for name, item in plan.earlier.items()},
    )
    return with_constants(made)


def _shape(item: onnx.ValueInfoProto) -> tuple[int, ...]:
    return tuple(dim.dim_value for dim in item.type.tensor_type.shape.dim)


def _dimensions(plan: Plan, shapes: Mapping[str, tuple[int, ...]]) -> Mapping[str, Sequence[str]]:
    """Return the names of the dimensions of inputs and outputs: those in the text, and those in the declaration."""
    of_text = {
        item.name: dimensions.names(item.description, len(shapes[item.name]))
        for item in (*plan.version.inputs, *plan.version.outputs)
        if not item.variadic and item.name in shapes
    }
    attributes = {name: helper.get_attribute_value(proto) for name, proto in plan.attributes.items()}
    return {**of_text, **plan.op.dimensions(shapes, attributes)}


def _node(plan: Plan) -> onnx.NodeProto:
    names = [name if item is not None else "" for name, item in plan.inputs]
    outputs = [name for name, _ in plan.outputs]
    domain = schema.proto_domain(plan.version.domain)
    node = helper.make_node(plan.version.name, names, outputs, name=plan.version.name, domain=domain)
    node.attribute.extend(proto for _, proto in sorted(plan.attributes.items()))
    return node


def _opsets(domain: str, opset: int, nodes: Sequence[onnx.NodeProto]) -> dict[str, int]:
    """Return the imported opset of each domain of nodes and their subgraphs: the newest, except of one domain."""
    used = {item.domain or "ai.onnx" for item in of_model.within(nodes)}
    return {domain: opset, **{name: schema.newest_opset(name) for name in sorted(used - {domain})}}


def _output_shape(plan: Plan, index: int, name: str) -> Sequence[int | str] | None:
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
        return [f"{name}_{axis}" if axis in differ else size for axis, size in enumerate(value.shape)]
    return None if plan.rank is None else [f"{name}_{axis}" for axis in range(plan.rank)]


def plain(plan: Plan, opset: int | None = None) -> Case:
    """Return the case of a plan in the plain form; `opset` as in `started`."""
    return build(plan, PLAIN, started(plan, opset))


def build(plan: Plan, form: str, made: Delivered) -> Case:
    """Return the case of a plan in a form.

    Args:
        plan: the plan of the case.
        form: the name of the form.
        made: the case in this form.
    """
    return Case(
        id=delivered_id(plan.id, form),
        operator=str(plan.version),
        model=made.model.SerializeToString(deterministic=True),
        inputs=made.inputs,
        outputs=made.outputs,
        outcome=plan.outcome,
        expected=made.expected,
        allowance=made.allowance or several_nodes.of_model(made.model, made.inputs),
        clauses=tuple(clause.text for clause in plan.spec.clauses),
        tags=frozenset(map(str, plan.spec.tags)),
        form=form,
        detail=plan.detail,
        readings=plan.readings,
        reworded=rewordings.latest(str(plan.version), (clause.text for clause in plan.spec.clauses)),
        force=str(plan.force),
        notes=tuple(clause.note for clause in plan.spec.clauses if clause.note),
        earlier=made.earlier,
        files=made.files,
    )
