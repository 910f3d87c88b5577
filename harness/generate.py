"""Declaration x version x type x form -> Case; deterministic and lazy."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

from harness import oracle, schema
from harness.case import PLAIN, Allowance, Case, Outcome
from harness.compare import is_float
from harness.declare import Data, DeclarationError, NoAnswer, Op, Rejected, Typed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.case import Value
    from harness.declare import CaseSpec, Tolerance
    from harness.schema import OperatorVersion, Parameter

PRODUCER = "onnx-conformance"


@dataclass(frozen=True)
class Plan:
    """One declared case in one version with one binding of types, before it takes a form.

    Attributes:
        inputs: parameter name and value, in the signature's order; None for one left out in between.
        attributes: by name.
        outputs: name and type of each output.
    """

    op: Op
    version: OperatorVersion
    spec: CaseSpec
    id: str
    inputs: tuple[tuple[str, Value], ...]
    attributes: Mapping[str, Any]
    outputs: tuple[tuple[str, str], ...]
    outcome: Outcome
    expected: tuple[Value, ...] | None
    allowance: Allowance
    detail: str


@dataclass(frozen=True)
class Form:
    """A way to deliver a case.

    Attributes:
        name: what stands behind the @.
        opset: the opset that the model imports.
        baked: inputs that become initializers.
        named_empty: how many optional inputs are written "" behind the last one given.
        symbolic: dimensions are symbols.
        unranked: the operator's inputs have an unknown rank. A graph must state the shapes of its own
            inputs, so they come out of a Reshape whose target shape is known at run time only.
    """

    name: str
    opset: int
    baked: frozenset[str] = frozenset()
    named_empty: int = 0
    symbolic: bool = False
    unranked: bool = False


_RESHAPE_BY_INPUT = 5
"""Since when Reshape takes its target shape as an input."""
_RESHAPE_ALLOWZERO = 14
"""Since when Reshape can make a dimension of zero."""


def forms(plan: Plan) -> Iterator[Form]:
    """Return every form that a case fits; the plain one first."""
    since, top = plan.version.since, plan.version.top
    yield Form(PLAIN, since)
    arrays = {name: value for name, value in plan.inputs if isinstance(value, np.ndarray)}
    # What stands behind the first input shapes the computation rather than feeding it: runtimes fold it.
    parameters = [item.name for item in plan.version.inputs[1:] if not item.variadic and item.name in arrays]
    if parameters:
        yield Form("initializer", since, baked=frozenset(parameters))
    if len(parameters) > 1:
        for name in parameters:
            yield Form(f"initializer-{name}", since, baked=frozenset([name]))
    behind = plan.version.inputs[len(plan.inputs) :]
    if plan.inputs and behind and all(item.optional for item in behind):
        yield Form("omitted", since, named_empty=len(behind))
    if any(value.ndim for value in arrays.values()):
        yield Form("symbolic", since, symbolic=True)
    opset = max(since, _RESHAPE_BY_INPUT)
    if arrays and opset <= top and all(_reshapes(value, opset) for value in arrays.values()):
        yield Form("unranked", opset, symbolic=True, unranked=True)
    if top != since:
        yield Form("top", top)


def _reshapes(value: np.ndarray[Any, Any], opset: int) -> bool:
    """Tell whether Reshape of this opset can make such a value; the case must not fail because of it."""
    allowed = schema.in_force("ai.onnx", "Reshape", opset).types["T"]
    return oracle.type_of(value) in allowed and (value.size > 0 or opset >= _RESHAPE_ALLOWZERO)


@functools.cache
def _types(text: str) -> onnx.TypeProto:
    """Return the TypeProto of tensor(X) or seq(X), without shapes."""
    kind, _, inner = text.partition("(")
    if kind == "seq":
        return helper.make_sequence_type_proto(_types(inner.removesuffix(")")))
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(schema.dtype_of(text)), None)


def _value_info(name: str, type_: str, shape: Sequence[int | str] | None) -> onnx.ValueInfoProto:
    info = onnx.ValueInfoProto(name=name)
    info.type.CopyFrom(_types(type_))
    if shape is not None and info.type.HasField("tensor_type"):
        target = info.type.tensor_type.shape
        target.SetInParent()
        for dim in shape:
            if isinstance(dim, int):
                target.dim.add(dim_value=dim)
            else:
                target.dim.add(dim_param=dim)
    return info


def build(plan: Plan, form: Form) -> Case:
    """Return the case of a plan in one form."""
    names = [name if value is not None else "" for name, value in plan.inputs] + [""] * form.named_empty
    outputs = [name for name, _ in plan.outputs]
    domain = "" if plan.version.domain == "ai.onnx" else plan.version.domain
    node = helper.make_node(plan.version.name, names, outputs, name=plan.version.name, domain=domain)
    for name, attribute in sorted(plan.attributes.items()):
        known = plan.version.attributes.get(name)  # An empty list does not say of what it is one.
        type_ = onnx.AttributeProto.AttributeType.Value(known.type) if known else None
        node.attribute.append(helper.make_attribute(name, attribute, attr_type=type_))
    ir_version = schema.lowest_ir(plan.version.domain, form.opset)
    graph = onnx.GraphProto(name=f"{plan.version.name}_{plan.version.since}_{plan.spec.name}")
    fed: dict[str, Value] = {}
    for name, value in plan.inputs:
        if value is None:
            continue
        if name in form.baked:
            graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
        elif form.unranked and isinstance(value, np.ndarray):
            graph.node.append(_reshape(name, value, form, graph, fed))
        else:
            fed[name] = value
        # Up to IR version 3 an initializer is the default of a graph input.
        if not form.unranked and (name not in form.baked or ir_version < 4):  # noqa: PLR2004
            shape = _shape(name, value.shape, form) if isinstance(value, np.ndarray) else None
            graph.input.append(_value_info(name, oracle.type_of(value), shape))
    graph.node.append(node)
    for index, (name, type_) in enumerate(plan.outputs):
        graph.output.append(_value_info(name, type_, _output_shape(plan, index, form)))
    model = onnx.ModelProto(ir_version=ir_version, producer_name=PRODUCER, graph=graph)
    model.opset_import.add(domain=domain, version=form.opset)
    return Case(
        id=plan.id if form.name == PLAIN else f"{plan.id}@{form.name}",
        operator=str(plan.version),
        model=model.SerializeToString(deterministic=True),
        inputs=fed,
        outputs=tuple(outputs),
        outcome=plan.outcome,
        expected=plan.expected,
        allowance=plan.allowance,
        clauses=tuple(clause.text for clause in plan.spec.clauses),
        tags=frozenset(map(str, plan.spec.tags)),
        form=form.name,
        detail=plan.detail,
        notes=tuple(clause.note for clause in plan.spec.clauses if clause.note),
    )


def _shape(name: str, shape: Sequence[int], form: Form) -> Sequence[int | str]:
    return [f"{name}_{index}" for index in range(len(shape))] if form.symbolic else shape


def _output_shape(plan: Plan, index: int, form: Form) -> Sequence[int | str] | None:
    name = plan.outputs[index][0]
    if plan.expected is not None:
        value = plan.expected[index]
        return _shape(name, value.shape, form) if isinstance(value, np.ndarray) else None
    rank = _rank(plan.op, {**plan.attributes, **dict(plan.inputs)})
    return None if rank is None else [f"{name}_{axis}" for axis in range(rank)]


def _rank(op: Op, arguments: Mapping[str, Any]) -> int | None:
    if callable(op.rank):
        return op.rank(arguments)
    value = arguments.get(op.rank or "")
    return value.ndim if isinstance(value, np.ndarray) else None


def _reshape(
    name: str, value: np.ndarray[Any, Any], form: Form, graph: onnx.GraphProto, fed: dict[str, Value]
) -> onnx.NodeProto:
    """Return the node that gives `value` its rank at run time; its inputs go to the graph."""
    fed[f"{name}_data"], fed[f"{name}_shape"] = value.reshape(-1), np.array(value.shape, np.int64)
    graph.input.append(_value_info(f"{name}_data", oracle.type_of(value), [f"{name}_size"]))
    graph.input.append(_value_info(f"{name}_shape", "tensor(int64)", [f"{name}_rank"]))
    zero: dict[str, Any] = {"allowzero": 1} if form.opset >= _RESHAPE_ALLOWZERO else {}
    return helper.make_node("Reshape", [f"{name}_data", f"{name}_shape"], [name], name=f"Reshape_{name}", **zero)


def _array(given: object, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if isinstance(given, Data):
        return given.of(dtype)
    array = np.asarray(given)
    if dtype.kind == "O":
        flat = np.array([str(item) for item in array.reshape(-1)], dtype=object)
        return flat.reshape(array.shape)
    return array.astype(dtype)


def _input(version: OperatorVersion, parameter: Parameter, given: object, types: Mapping[str, str]) -> Value:
    if isinstance(given, Typed):
        return _array(given.values, schema.dtype_of(given.type))
    return _array(given, schema.dtype_of(types.get(parameter.type) or version.default_type(parameter.type)))


def _epsilon(value: Value) -> float:
    if isinstance(value, np.ndarray) and is_float(value):
        part = value.real.dtype if value.dtype.kind == "c" else value.dtype
        return float(ml_dtypes.finfo(part).eps)  # type: ignore[no-untyped-call]
    return 0.0


def _allowance(tolerance: Tolerance, arguments: Mapping[str, Any], expected: Sequence[Value]) -> Allowance:
    bounds = None
    if tolerance.bound:
        bounds = tuple(
            np.asarray(allowed, np.float64) * _epsilon(value)
            for allowed, value in zip(tolerance.bound(**arguments), expected, strict=True)
        )
    return Allowance(tolerance.reason, tolerance.ulp, tolerance.rtol, tolerance.atol, tolerance.signed_zero, bounds)


def plan(op: Op, version: OperatorVersion, spec: CaseSpec, types: Mapping[str, str], suffix: str = "") -> Plan:
    """Return the plan of a declared case in one version, asking the oracle what to expect.

    Raises:
        DeclarationError: the oracle disagrees with the declared outcome.
    """
    case_id = f"{version}/{spec.name}" + (f"/{suffix}" if suffix else "")
    inputs: list[tuple[str, Value]] = []
    attributes: dict[str, Any] = dict(spec.stray)
    for name, argument in version.arguments.items():
        if isinstance(argument, schema.Attribute):
            if name in spec.arguments:
                attributes[name] = spec.arguments[name]
        elif argument.variadic:
            several = (_input(version, argument, item, types) for item in spec.arguments.get(name, ()))
            inputs += [(f"{argument.name}_{index}", value) for index, value in enumerate(several)]
        else:
            given = spec.arguments.get(name)
            inputs.append((argument.name, None if given is None else _input(version, argument, given, types)))
    while inputs and inputs[-1][1] is None:
        inputs.pop()
    values = oracle.gather(version, [value for _, value in inputs])
    n = version.outputs_least if spec.n is None else spec.n
    outcome, expected, detail = Outcome.VALUES, None, ""
    arguments: Mapping[str, Any] = {}
    try:
        answer = oracle.apply(op, version, values, attributes, n)
        expected, arguments = tuple(answer.outputs), answer.arguments
    except NoAnswer as no_answer:
        outcome = Outcome.REJECTS if isinstance(no_answer, Rejected) else Outcome.UNSPECIFIED
        detail = no_answer.detail
        _agree(case_id, spec, no_answer)
    if outcome is Outcome.VALUES and (spec.rejects or spec.unspecified):
        raise DeclarationError(f"{case_id}: declared to give no values, but the oracle gives some")
    kinds = oracle.output_types(op, version, oracle.bind(version, values), n)
    return Plan(
        op=op,
        version=version,
        spec=spec,
        id=case_id,
        inputs=tuple(inputs),
        attributes=attributes,
        outputs=tuple(zip(_output_names(version, n), kinds, strict=True)),
        outcome=outcome,
        expected=expected,
        allowance=_allowance(op.compare, arguments, expected) if expected is not None else Allowance(op.compare.reason),
        detail=detail,
    )


def _agree(case_id: str, spec: CaseSpec, no_answer: NoAnswer) -> None:
    declared = spec.rejects if isinstance(no_answer, Rejected) else spec.unspecified
    kind = "rejects" if isinstance(no_answer, Rejected) else "unspecified"
    if declared is None:
        raise DeclarationError(f"{case_id}: the oracle says {kind} {no_answer}, the case does not")
    # A rule of the signature may be declared by the sentence of the operator that says the same.
    if no_answer.clause.operator and declared != no_answer.clause:
        raise DeclarationError(f"{case_id}: declared {kind}=«{declared.text}», the oracle says {no_answer}")


def _output_names(version: OperatorVersion, n: int) -> list[str]:
    fixed = [item.name for item in version.outputs if not item.variadic]
    last = version.outputs[-1].name
    return [fixed[i] if i < len(fixed) else f"{last}_{i - len(fixed)}" for i in range(n)]


def _bindings(op: Op, version: OperatorVersion, spec: CaseSpec) -> Iterator[tuple[dict[str, str], str]]:
    variable = spec.each or spec.outside
    if variable is None:
        yield {}, ""
        return
    if variable not in version.types:
        raise DeclarationError(f"{op} case {spec.name!r}: {version} has no type variable {variable}")
    allowed = version.types[variable]
    wanted = allowed if spec.each else [item for item in schema.ALL_TENSOR_TYPES if item not in allowed]
    for type_ in wanted:
        yield {variable: type_}, type_.partition("(")[2].removesuffix(")")


def plans(op: Op, versions: Sequence[int] | None = None) -> Iterator[Plan]:
    """Return the plans of an operator in the order of versions and declarations.

    Args:
        op: the operator.
        versions: only these; None: all.
    """
    for version in schema.versions(op.domain, op.name):
        if versions is not None and version.since not in versions:
            continue
        for spec in op:
            if spec.deprecated is not version.deprecated:
                continue
            if spec.meant_for(version.since) and all(name in version.arguments for name in spec.arguments):
                for types, suffix in _bindings(op, version, spec):
                    yield plan(op, version, spec, types, suffix)


def cases(op: Op, versions: Sequence[int] | None = None) -> Iterator[Case]:
    """Return the cases of an operator in every form that each fits."""
    for planned in plans(op, versions):
        for form in forms(planned):
            yield build(planned, form)
