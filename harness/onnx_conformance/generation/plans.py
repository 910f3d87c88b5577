# SPDX-License-Identifier: Apache-2.0
"""Declaration x version x type x form -> Case; deterministic and lazy."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.base.values import Drawn
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import PLAIN, Case, Outcome, delivered_id, digest_values
from onnx_conformance.declare import Data, DeclarationError, NoAnswer, Op, Rejected, Typed
from onnx_conformance.declare.clause import Force
from onnx_conformance.declare.readings import SHOULD
from onnx_conformance.declare.type import Type
from onnx_conformance.forms.table import EXPANDED, TWICE
from onnx_conformance.generation import binding, derived, function_body, sized
from onnx_conformance.generation.deliveries import Leads, Plan, build, deliveries, form_names, in_form, start_of
from onnx_conformance.generation.expansion import allowed, bindings, familiar, fits, id_of
from onnx_conformance.specification import evaluator, registry, rewordings, schema
from onnx_conformance.specification import nodes as of_model
from onnx_conformance.specification.model_use import CONTAINERS, Use, attribute_value, only_contains
from onnx_conformance.specification.signature import TypedValue, bind, gather, kind_of, output_types
from onnx_conformance.tolerance import precision, several_nodes
from onnx_conformance.tolerance.allowance import of_answer as allowance_of
from onnx_conformance.tolerance.allowance import operand_types

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.base.values import Array
    from onnx_conformance.declare import CaseSpec
    from onnx_conformance.declare.readings import Reading
    from onnx_conformance.forms.delivered import Delivered
    from onnx_conformance.specification.schema import OperatorVersion


class NotDerivedError(Exception):
    """A derived case that the signature allows has no answer according to the text, so the case does not exist."""


Planner = Callable[["Op", "OperatorVersion", "CaseSpec", "Mapping[str, str]", str], "Plan"]
"""A function that returns the plan of a declared case in a version, for types as a mapping and as text."""


@functools.cache
def _evaluator() -> evaluator.Evaluator:
    return evaluator.Evaluator()


@dataclass(frozen=True)
class _Call:
    """The node of a declared case in one version, with its arguments in their types.

    Attributes:
        inputs: as in Plan.
        around: as in Plan.
        beside: as in Plan.
        attributes: as in Plan.
        local: the values that subgraphs of the node may use, by name.
        scope: the opsets and the nodes around the node.
        evaluated: the attributes in the form for oracles.
        values: the inputs by position.
        n: the number of outputs.
    """

    inputs: list[tuple[str, TypedValue | None]]
    around: Mapping[str, TypedValue]
    beside: Sequence[onnx.NodeProto]
    attributes: Mapping[str, onnx.AttributeProto]
    local: evaluator.Local
    scope: evaluator.Scope
    evaluated: Mapping[str, Any]
    values: list[Any]
    n: int


def _call(version: OperatorVersion, spec: CaseSpec, types: Mapping[str, str]) -> _Call:
    """Return the node of a declared case in a version."""
    bound = {**{variable: version.default_type(variable) for variable in version.types}, **types}
    around = {name: binding.typed(value, "tensor(float)", bound) for name, value in spec.around.items()}
    beside = binding.nodes(spec.beside)
    opsets = {"ai.onnx": schema.newest_opset("ai.onnx"), version.domain: version.since}
    scope = evaluator.Scope(opsets=opsets, functions={}, call={})
    values_around = _evaluator().evaluated(beside, around, scope)
    scope = dataclasses.replace(scope, nodes=tuple(beside))
    inputs, attributes = binding.arguments(version, spec, bound, values_around)
    local = {**dict(inputs), **values_around}
    return _Call(
        inputs=inputs,
        around=around,
        beside=beside,
        attributes=attributes,
        local=local,
        scope=scope,
        evaluated={name: _evaluator().attribute(proto, local, scope) for name, proto in attributes.items()},
        values=gather(version, [value for _, value in inputs]),
        n=version.outputs_least if spec.n is None else spec.n,
    )


def plan(op: Op, version: OperatorVersion, spec: CaseSpec, types: Mapping[str, str], suffix: str = "") -> Plan:
    """Return the plan of a declared case in one version, with the oracle's expected values.

    Raises:
        DeclarationError: the oracle disagrees with the declared outcome.
    """
    case_id = id_of(version, spec, suffix)
    call = _call(version, spec, types)
    inputs, attributes, values, evaluated, n = call.inputs, call.attributes, call.values, call.evaluated, call.n
    known = evaluator.known(version, evaluated)
    outputs = ["" if name in spec.omits else name for name in output_names(version, n)]
    named = [index for index, name in enumerate(outputs) if name]
    outcome, expected, detail, decided, force = Outcome.VALUES, None, "", None, ""
    rests_on: frozenset[Reading] = frozenset()
    masks: tuple[Array | None, ...] = ()
    allowance = by_steps = Allowance(op.compare.reason)
    try:
        nodes = functools.partial(_evaluator().calls, call.local, call.scope)
        answer = evaluator.apply(op, version, values, evaluated, n, nodes, spec.omits)
        if spec.rejects or (spec.unspecified and spec.unspecified not in answer.open_by):
            raise DeclarationError(
                "values-not-declared", f"{case_id}: declared without values, but the oracle returns values"
            )
        expected = tuple(
            value.among(named) if isinstance(value, Drawn) else value
            for value in (answer.outputs[index] for index in named)
        )
        if any(isinstance(value, Drawn) for value in expected):
            outcome = Outcome.PROPERTY
        allowance, by_steps = (
            allowance_of(tolerance, answer, operand_types(op, version, values, evaluated), named)
            for tolerance in (op.compare, dataclasses.replace(op.compare, steps=True))
        )
        rests_on = answer.rests_on | precision.readings(op.compare, [item for _, item in inputs], expected)
        masks = tuple(answer.open[index] for index in named)
        force = Force.OPTIONAL if answer.version.optional_by else ""
        kinds = answer.types
    except NoAnswer as no_answer:
        if spec.derived and not spec.rejects:
            if isinstance(no_answer, Rejected) and spec.name == derived.EXAMPLE and op.call is not None:
                raise DeclarationError(
                    "example-invalid", f"{case_id}: the example is not a valid call: {no_answer}"
                ) from no_answer
            raise NotDerivedError(str(no_answer)) from no_answer
        outcome = Outcome.REJECTS if isinstance(no_answer, Rejected) else Outcome.UNSPECIFIED
        detail, decided, rests_on = no_answer.detail, no_answer.clause, no_answer.rests_on
        if outcome is Outcome.REJECTS:
            force = decided.force
            rests_on |= {SHOULD} if force is Force.SHOULD else frozenset()
        _agree(case_id, spec, no_answer)
        of_outputs = output_types(op, version, bind(version, values), known, n)
        # A model cannot declare an output with a type that does not exist.
        kinds = [kind if schema.is_type(kind) else "tensor(float)" for kind in of_outputs]
    except (evaluator.UndeclaredError, NotImplementedError) as error:  # The latter: an unfinished oracle.
        raise DeclarationError("plan-invalid", f"{case_id}: {error}") from error
    present = {name: value for name, value in {**known, **evaluated}.items() if value is not None}
    planned = Plan(
        op=op,
        version=version,
        spec=spec,
        id=case_id,
        inputs=tuple(inputs),
        around=call.around,
        beside=tuple(call.beside),
        attributes=attributes,
        outputs=tuple(zip(outputs, kinds, strict=True)),
        outcome=outcome,
        force=force,
        expected=expected,
        allowance=allowance,
        by_steps=by_steps,
        detail=detail,
        decided=decided,
        open=masks,
        readings=tuple(sorted(reading.number for reading in rests_on)),
        types=types,
        rank=_rank(op, {**present, **{name: item.value for name, item in inputs if item}}),
    )
    return _left_open(planned) if rewordings.unread(version, spec.clauses) else planned


def use_of(op: Op, version: OperatorVersion, spec: CaseSpec, types: Mapping[str, str]) -> Use:
    """Return the use of its operator by a declared case, as `specification.model_use.uses` reads its model.

    The oracle does not run.
    """
    call = _call(version, spec, types)
    use = Use(str(op), version.since, 1, attributes=set(call.attributes))
    for name, attribute in call.attributes.items():
        if (value := attribute_value(attribute)) is not None:
            use.values[name] = {value}
    for parameter, values in zip(version.inputs, call.values, strict=False):
        for item in values if isinstance(values, list) else [values]:
            if item is not None:
                use.bound.setdefault(parameter.type, set()).add(Type.parse(kind_of(item)))
                if isinstance(array := item.value, np.ndarray):
                    use.ranks.setdefault(parameter.name, set()).add(array.ndim)
    known = evaluator.known(version, call.evaluated)
    for index, text in enumerate(output_types(op, version, bind(version, call.values), known, call.n)):
        parameter = version.outputs[min(index, len(version.outputs) - 1)]
        if schema.is_type(text):
            use.bound.setdefault(parameter.type, set()).add(Type.parse(text))
        else:
            use.unknown.add(parameter.type)
    nodes = [*call.beside, *(node for item in call.attributes.values() for node in item.g.node)]
    use.contains = any(item.kind in CONTAINERS for types in use.bound.values() for item in types) or any(
        _returns_containers(node) for node in of_model.within(nodes)
    )
    return use


def uses(op: Op, version: OperatorVersion) -> Iterator[tuple[str, Use]]:
    """Yield the id of each case of a version, declared or derived, in the plain form, and the use of its node."""
    for spec in specs_of(op, version):
        for types, suffix in bindings(version, spec):
            yield id_of(version, spec, suffix), use_of(op, version, spec, types)


def _returns_containers(node: onnx.NodeProto) -> bool:
    """Return whether a node around the operator, or in its subgraphs, returns sequences, optionals or maps."""
    domain = node.domain or "ai.onnx"
    if not schema.known(domain, node.op_type):
        return False
    version = schema.in_force(domain, node.op_type, schema.newest_opset(domain))
    return any(only_contains(version.allowed(item.type)) for item in version.outputs)


def _left_open(planned: Plan) -> Plan:
    """Return the unspecified plan of a case whose sentence the installed onnx reworded, until somebody reviews it."""
    if planned.outcome is Outcome.UNSPECIFIED:
        return planned
    detail = f"onnx {onnx.__version__} words it differently"
    return dataclasses.replace(
        planned, outcome=Outcome.UNSPECIFIED, force="", expected=None, open=(), decided=None, readings=(), detail=detail
    )


def _rank(op: Op, arguments: Mapping[str, Any]) -> int | None:
    if callable(op.rank):
        return op.rank(arguments)
    value = arguments.get(op.rank or "")
    return value.ndim if isinstance(value, np.ndarray) else None


def _agree(case_id: str, spec: CaseSpec, no_answer: NoAnswer) -> None:
    if spec.sized and not isinstance(no_answer, Rejected):
        return  # Whether the text defines the result may depend on the drawn values.
    declared = spec.rejects if isinstance(no_answer, Rejected) else spec.unspecified
    kind = "rejects" if isinstance(no_answer, Rejected) else "unspecified"
    if declared is None:
        raise DeclarationError(
            "rejection-not-declared",
            f"{case_id}: the oracle raises {kind} {no_answer}, but the case does not declare it",
        )
    # A sentence of the operator with the same content may replace a rule of the signature.
    if no_answer.clause.operator and declared != no_answer.clause:
        raise DeclarationError(
            "another-clause-named", f"{case_id}: declared {kind}=«{declared.text}», but the oracle names {no_answer}"
        )


def output_names(version: OperatorVersion, n: int) -> list[str]:
    """Return the names of the first n outputs."""
    fixed = [item.name for item in version.outputs if not item.variadic]
    last = version.outputs[-1].name
    return [fixed[i] if i < len(fixed) else f"{last}_{i - len(fixed)}" for i in range(n)]


def specs_of(op: Op, version: OperatorVersion) -> Iterator[CaseSpec]:
    """Yield all declared cases of an operator, the cases derived for this version, and sized cases for the core."""
    yield from op
    yield from derived.cases(op, version)
    yield from sized.of_core(op, version)


def plans(
    op: Op,
    versions: Sequence[int] | None = None,
    specs: Sequence[CaseSpec] | None = None,
    wanted: Callable[[str], bool] | None = None,
) -> Iterator[Plan]:
    """Return the plans of an operator in the order of versions and declarations.

    Args:
        op: the operator.
        versions: only these versions; None for all.
        specs: only these cases, declared or derived; None for all.
        wanted: a predicate on case ids. If no form of a case matches, its plan is not computed. None for all.
    """
    for version in registry.versions(op):
        if versions is None or version.since in versions:
            yield from plans_of_version(op, version, specs, wanted)


def plans_of_version(
    op: Op,
    version: OperatorVersion,
    specs: Iterable[CaseSpec] | None = None,
    wanted: Callable[[str], bool] | None = None,
    planner: Planner | None = None,
) -> Iterator[Plan]:
    """Return the plans of a version in the order of declarations.

    Args:
        op: the operator.
        version: the version.
        specs: as in `plans`.
        wanted: as in `plans`.
        planner: a function that makes a plan, or raises NotDerivedError if there is no such case; None for `plan`.
    """
    leading = _leading(op, version)
    names_of = functools.cache(functools.partial(form_names, version))
    for spec in specs_of(op, version) if specs is None else specs:
        for types, suffix in bindings(version, spec):
            stem = id_of(version, spec, suffix)
            leads = Leads(*(stem in ids for ids in leading))
            if wanted is None or any(wanted(delivered_id(stem, name)) for name in names_of(leads, start_of(spec))):
                with contextlib.suppress(NotDerivedError):
                    planned = (planner or plan)(op, version, spec, types, suffix)
                    twice = leads.nodes and (wanted is None or wanted(delivered_id(stem, TWICE)))
                    earlier = _earlier(planned) if twice else None
                    yield dataclasses.replace(planned, leads=leads, earlier=earlier)


def _leading(op: Op, version: OperatorVersion) -> tuple[set[str], set[str], set[str]]:
    """Return the ids of the first cases of each kind, in the order of `Leads`."""
    leading: dict[Hashable, str] = {}
    leading_types: dict[tuple[frozenset[str], bool], str] = {}
    leading_shapes: dict[Hashable, str] = {}
    for spec in op:
        if not fits(version, spec):
            continue
        stem = id_of(version, spec, familiar(version, spec))
        leading_shapes.setdefault(_kind_of_shapes(version, spec), stem)
        if spec.rejects or spec.unspecified:
            continue
        leading.setdefault(_kind(spec), stem)
        parameters = [item for item in version.inputs[1:] if spec.arguments.get(item.name) is not None]
        shows = any(_is_not_zero(spec.arguments[item.name]) for item in parameters)
        for types, suffix in bindings(version, spec) if parameters else ():
            bound = frozenset(types.get(item.type, version.default_type(item.type)) for item in parameters)
            leading_types.setdefault((bound, shows), id_of(version, spec, suffix))
    of_zeros = {bound: stem for (bound, shows), stem in leading_types.items() if not shows}
    of_others = {bound: stem for (bound, shows), stem in leading_types.items() if shows}
    return set(leading.values()), {*{**of_zeros, **of_others}.values()}, set(leading_shapes.values())


def _is_not_zero(argument: object) -> bool:
    """Return whether the case would detect a runtime that replaces the argument by zeros."""
    return not isinstance(argument, int | float | list | np.ndarray) or bool(np.any(argument))


def _kind(spec: CaseSpec) -> Hashable:
    """Return a key that is equal for nodes with the same inputs, attributes and outputs."""
    present = frozenset(name for name, value in spec.arguments.items() if value is not None)
    return present, spec.n, spec.omits


def _kind_of_shapes(version: OperatorVersion, spec: CaseSpec) -> Hashable:
    """Return a key that is equal for cases that a runtime without knowledge of shapes handles in the same way.

    Inputs with one element, or with another type than the first input, control the computation, so their values are
    part of the key. For all other inputs, only the shapes are.
    """
    inputs = {item.name: item for item in version.inputs}
    kinds = []
    for name, value in spec.arguments.items():
        feeds = name in inputs and inputs[name].type == version.inputs[0].type
        shape = _shape(value) if feeds else None
        kinds.append((name, _content(value) if shape is None or math.prod(shape) == 1 else shape))
    around = tuple((name, _content(value)) for name, value in (*spec.around.items(), *spec.stray.items()))
    beside = (spec.beside, spec.stray_inputs, spec.n, spec.omits)
    return tuple(kinds), around, beside, spec.rejects, spec.unspecified, spec.outside


def _content(argument: object) -> Hashable:
    """Return a key that is equal for equal arguments; it avoids the text of large arrays, which would be slow."""
    if isinstance(argument, Typed):
        return argument.type, _content(argument.values)
    if isinstance(argument, np.ndarray) and argument.dtype != object:
        return argument.dtype.name, argument.shape, argument.tobytes()
    if isinstance(argument, list | tuple):
        return tuple(map(_content, argument))
    return repr(argument)


def _shape(argument: object) -> tuple[int, ...] | None:
    """Return the shape of an argument; None if it is not a tensor."""
    values = argument.values if isinstance(argument, Typed) and "(" not in argument.type else argument
    if isinstance(values, Data | np.ndarray):
        return values.shape
    if isinstance(values, int | float | str):
        return ()
    if isinstance(values, list):
        with contextlib.suppress(ValueError):  # Rows with different lengths are not a tensor.
            return np.shape(np.array(values, dtype=object))
    return None


_PARTNERS = 8
"""The maximum number of cases that are tried for the earlier inputs of another case."""


def _earlier(planned: Plan) -> dict[str, TypedValue] | None:
    """Return the inputs of another declared case that has the same model with symbolic shapes, or None.

    A case whose inputs have other shapes is preferred. Cases with empty inputs are skipped: if they crashed a runtime,
    the crash would count for this case.
    """
    if not planned.inputs or planned.expected is None or planned.beside or planned.around:
        return None
    partners: list[dict[str, TypedValue]] = []
    for spec in itertools.islice(_partners(planned), _PARTNERS):
        other = plan(planned.op, planned.version, spec, planned.types)
        if _signature(other) == _signature(planned):
            partners.append({name: item for name, item in other.inputs if item is not None})
    own = {name: item for name, item in planned.inputs if item is not None}
    partners = [item for item in partners if _values_of(item) != _values_of(own) and not _is_empty(item)]
    return min(partners, key=lambda item: _shapes(item) == _shapes(own), default=None)


def _partners(planned: Plan) -> Iterator[CaseSpec]:
    """Yield the other declared cases with values that are of the same kind and have the same types."""
    spec, version = planned.spec, planned.version
    for other in planned.op:
        if other is spec or other.rejects or other.unspecified or other.outside or other.beside or other.around:
            continue
        alike = _kind(other) == _kind(spec) and other.each == spec.each and fits(version, other)
        if alike and all(type_ in allowed(version, other, name) for name, type_ in planned.types.items()):
            yield other


def _signature(planned: Plan) -> object:
    """Return a key that is equal for plans that have the same model with symbolic shapes."""
    given = [bool(item) for _, item in planned.inputs]
    kinds = _kinds({name: item for name, item in planned.inputs if item is not None})
    of_outputs = [np.ndim(value) if isinstance(value, np.ndarray) else None for value in planned.expected or ()]
    attributes = {name: item.SerializeToString(deterministic=True) for name, item in planned.attributes.items()}
    constants = _values_of({name: item for name, item in planned.inputs if item and name in planned.op.constants})
    return constants, given, kinds, planned.outputs, planned.outcome, of_outputs, attributes


def fitting(earlier: Mapping[str, TypedValue] | None, planned: Plan) -> Mapping[str, TypedValue] | None:
    """Return the earlier inputs if a model with symbolic shapes accepts them and those of the plan, otherwise None."""
    own = {name: item for name, item in planned.inputs if item is not None}
    if earlier is None or planned.beside or planned.around:
        return None
    return earlier if _kinds(own) == _kinds(earlier) else None


def _kinds(inputs: Mapping[str, TypedValue]) -> list[tuple[str, str, int | None]]:
    """Return name, type and rank of inputs."""
    return [
        (name, item.type, np.ndim(item.value) if item.is_tensor else None)  # type: ignore[arg-type]
        for name, item in inputs.items()
    ]


def _is_empty(inputs: Mapping[str, TypedValue]) -> bool:
    return any(np.size(item.value) == 0 for item in inputs.values() if item.is_tensor)  # type: ignore[arg-type]


def _shapes(inputs: Mapping[str, TypedValue]) -> list[object]:
    return [np.shape(item.value) if item.is_tensor else None for item in inputs.values()]  # type: ignore[arg-type]


def _values_of(inputs: Mapping[str, TypedValue]) -> str:
    return digest_values({name: item.value for name, item in inputs.items()})


def deliver(planned: Plan, form: str, made: Delivered) -> Case | None:
    """Return the case of a plan in one form; None if an operator of a function body is undeclared.

    Args:
        planned: the plan of the case.
        form: the name of the form.
        made: the case in this form.

    Raises:
        DeclarationError: the function body disagrees, and there is no dispute.
    """
    if form != EXPANDED:
        return build(planned, form, made)
    by_steps = planned.by_steps if made.allowance is not None else None  # Each node rounds its result.
    case = build(planned, form, dataclasses.replace(made, allowance=by_steps))
    dispute = planned.op.disputed(planned.spec.name)
    if dispute is None and onnx.__version__ != schema.READ:
        dispute = f"the function body of onnx {onnx.__version__} disagrees; only that of {schema.READ} was reviewed"
    return function_body.agreed(case, dispute, _evaluator())


def delivered(planned: Plan, wanted: Callable[[str], bool] | None = None) -> Iterator[Case]:
    """Yield the case of a plan in every suitable form; `wanted` as in `plans`."""
    for form, made in deliveries(planned, wanted):
        case = deliver(planned, form, made)
        if case is not None:
            yield case


def allowance_of_case(case_id: str) -> Allowance:
    """Return the allowance of a case of the generated suite without making its model, which would take longer."""
    stem, _, form = case_id.partition("@")
    planned = _planned(stem)
    if form == PLAIN or not form:
        return planned.allowance
    made = _in_form(planned, form)
    if form == EXPANDED and made.allowance is not None:
        return planned.by_steps
    return made.allowance or several_nodes.of_model(made.model, made.inputs)


def _in_form(planned: Plan, form: str) -> Delivered:
    """Return a case in a form that it has."""
    made = in_form(dataclasses.replace(planned, earlier=_earlier(planned)) if form == TWICE else planned, form)
    assert made is not None  # noqa: S101 - it has this form
    return made


@functools.lru_cache(maxsize=8)
def _planned(stem: str) -> Plan:
    """Return the plan of a declared case by its id; the forms of a case, which share it, follow one another."""
    domain, name, since, declared, *_ = stem.split("/")
    op = registry.load().find(domain, name)
    assert op is not None  # noqa: S101 - the case is of it
    version = next(item for item in registry.versions(op) if item.since == int(since))
    found = (
        (spec, types, suffix)
        for spec in specs_of(op, version)
        if spec.name == declared
        for types, suffix in bindings(version, spec)
    )
    return next(plan(op, version, *each) for each in found if id_of(version, each[0], each[2]) == stem)


def origin(op: Op, case: Case) -> Plan | None:
    """Return the plan from which a case of an operator was delivered; None if it does not exist."""
    stem = case.id.partition("@")[0]
    for version in registry.versions(op):
        if str(version) == case.operator:
            specs = [spec for spec in specs_of(op, version) if spec.name == case.name]
            of_version = plans(op, (version.since,), specs)
            own = next((planned for planned in of_version if planned.id == stem), None)
            return own or _sized(op, version, stem)
    return None


def _sized(op: Op, version: OperatorVersion, stem: str) -> Plan | None:
    """Return the plan of a case of the suite `kernels`; None if there is no such case."""
    every = sized.cases(op, version) if version == sized.version_of(op) else ()
    item = next((item for item in every if item.stem == stem), None)
    return plan(op, version, item.spec, item.types, item.suffix) if item is not None else None


def cases(
    op: Op,
    versions: Sequence[int] | None = None,
    specs: Sequence[CaseSpec] | None = None,
    wanted: Callable[[str], bool] | None = None,
) -> Iterator[Case]:
    """Return the cases of an operator in every suitable form; see `plans`."""
    for planned in plans(op, versions, specs, wanted):
        yield from delivered(planned, wanted)
