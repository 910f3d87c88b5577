# SPDX-License-Identifier: Apache-2.0
"""Cases whose output goes into other operators: models of two and three nodes, in arbitrary combinations.

A digest of the case's id chooses the operators that follow, so they are the same in each run. Only operators with a
declared call that accepts the output, according to the oracles, are used.
"""

from __future__ import annotations

import hashlib
import itertools
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import numpy_helper

from onnx_conformance.case.case import Outcome
from onnx_conformance.declare import DeclarationError, NoAnswer
from onnx_conformance.forms.delivered import INITIALIZERS_ALONE
from onnx_conformance.generation.deliveries import plain
from onnx_conformance.generation.expansion import bindings
from onnx_conformance.generation.plans import NotDerivedError, plan, specs_of
from onnx_conformance.specification import registry, schema
from onnx_conformance.specification.signature import type_of
from onnx_conformance.tolerance.several_nodes import UndecidedError, composed, first_tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import Op
    from onnx_conformance.declare.op import CaseSpec
    from onnx_conformance.specification.schema import OperatorVersion

FIRSTS = 4
"""The number of cases of an operator version that other operators follow."""
SECONDS = 4
"""The number of operators that follow each of these cases. One more operator follows the first of them."""
TRIES = 80
"""The number of operators that are tried."""
CALLS = 3
"""The number of declared calls of an operator from which one is chosen."""
MOST_ELEMENTS = 4096
"""The maximum number of elements of a tensor. Larger tensors would not show more faults."""


def chains(op: Op, version: OperatorVersion) -> Iterator[Case]:
    """Yield models in which other operators follow declared calls of an operator version, in its default types."""
    specs = [spec for spec in specs_of(op, version) if not (spec.rejects or spec.unspecified or spec.sized)]
    apart = specs[:: max(1, len(specs) // FIRSTS)][:FIRSTS]
    planned = (_default(op, version, spec) for spec in [*apart, *(item for item in specs if item not in apart)])
    for case in itertools.islice((case for case in planned if case is not None and _leads(case)), FIRSTS):
        seconds = list(_followed(case, case.id, SECONDS))
        yield from seconds
        if seconds:
            yield from _followed(seconds[0], seconds[0].id, 1)


def _default(op: Op, version: OperatorVersion, spec: CaseSpec) -> Case | None:
    """Return the case of a call in its default types, or in the first declared types."""
    declared = list(bindings(version, spec))
    default = [pair for pair in declared if all(version.default_type(name) == type_ for name, type_ in pair[0].items())]
    return next((case for pair in (default or declared)[:1] if (case := _planned(op, version, spec, *pair))), None)


def _leads(case: Case) -> bool:
    """Return whether other operators can follow a case: its first output is a tensor, and not too large."""
    first = case.expected[0] if case.expected else None
    return isinstance(first, np.ndarray) and 0 < first.size <= MOST_ELEMENTS


def _followed(case: Case, words: str, most: int) -> Iterator[Case]:
    """Yield a case followed by another operator, for at most `most` operators; none if its output is no tensor."""
    model = onnx.load_from_string(case.model)
    if first_tensor(case, model) is None:
        return
    opsets = {item.domain or "ai.onnx": item.version for item in model.opset_import}
    found = 0
    for op in _drawn(words)[:TRIES]:
        if found == most:
            return
        version = _in_force(op, opsets)
        joined = None if version is None else _joined(case, model, op, version, words)
        if joined is not None:
            found += 1
            yield joined


def _drawn(words: str) -> list[Op]:
    """Return all operators, in an order that depends only on `words`."""
    return sorted(registry.load(), key=lambda op: hashlib.sha256(f"{words} {op}".encode()).digest())


def _in_force(op: Op, opsets: dict[str, int]) -> OperatorVersion | None:
    """Return the version of an operator in the opsets of a model; the newest if it does not import the domain."""
    opset = opsets.get(op.domain, schema.newest_opset(op.domain))
    if not schema.known(op.domain, op.name) or not schema.exists(op.domain, op.name, opset):
        return None
    version = schema.in_force(op.domain, op.name, opset)
    usable = version.since in op.versions and not version.deprecated and version.inputs
    return version if usable else None


def _joined(case: Case, model: onnx.ModelProto, op: Op, version: OperatorVersion, words: str) -> Case | None:
    """Return a model in which the first output of a case replaces the first input of a declared call of an operator."""
    assert case.expected is not None  # noqa: S101 - see _leads
    value = case.expected[0]
    assert isinstance(value, np.ndarray)  # noqa: S101 - see _followed
    call = _call(op, version, type_of(value), words)
    if call is None or not _can_follow(call):
        return None
    joined = onnx.ModelProto.FromString(case.model)
    _append(joined, case.outputs[0], call, f"{version.name.lower()}_{len(model.graph.node)}_")
    stem, _, form = case.id.partition("@")
    form = f"{form}_then_{version.name}" if form else f"then_{version.name}"
    try:
        return composed(f"{stem}@{form}", case.operator, joined, case.inputs, form=form)
    except UndecidedError:
        return None


def _can_follow(call: Case) -> bool:
    """Return whether all inputs of a call are tensors, which can be initializers, and it has no subgraph."""
    nodes = onnx.load_from_string(call.model).graph.node
    has_graph = any(item.type == onnx.AttributeProto.GRAPH for node in nodes for item in node.attribute)
    tensors = all(isinstance(value, np.ndarray) for value in call.inputs.values())
    return bool(call.inputs) and tensors and not has_graph


def _append(model: onnx.ModelProto, taken: str, call: Case, prefix: str) -> None:
    """Append a call to a model. An output of the model becomes its first input, and its outputs replace this output.

    Args:
        model: the model, which is changed.
        taken: the output of the model that becomes the first input of the call.
        call: the call; its other inputs become initializers.
        prefix: the prefix of its names.
    """
    second = onnx.load_from_string(call.model)
    first, *others = call.inputs
    named = [*others, *(name for node in second.graph.node for name in node.output if name)]
    names = {**{name: f"{prefix}{name}" for name in named}, first: taken}
    for node in second.graph.node:
        copy = model.graph.node.add()
        copy.CopyFrom(node)
        copy.name = f"{prefix}{node.name}"
        copy.input[:] = [names.get(item, item) for item in node.input]
        copy.output[:] = [names.get(item, item) for item in node.output]
    model.graph.initializer.extend(
        numpy_helper.from_array(np.asarray(call.inputs[name]), names[name]) for name in others
    )
    rest = [item for item in model.graph.output if item.name != taken]
    del model.graph.output[:]
    model.graph.output.extend(rest)
    for item in second.graph.output:
        info = model.graph.output.add(name=names[item.name])
        if not item.type.HasField("tensor_type"):  # A value does not show whether it is in an optional.
            info.type.CopyFrom(item.type)
    _import(model, second)


def _call(op: Op, version: OperatorVersion, type_: str, words: str) -> Case | None:
    """Return a declared call of an operator whose first input has this type; None if no call has it."""
    variable = version.inputs[0].type
    specs = [spec for spec in specs_of(op, version) if not (spec.rejects or spec.unspecified or spec.sized)]
    turn = hashlib.sha256(words.encode()).digest()[0] % CALLS
    for spec in [*specs[turn:CALLS], *specs[:turn]]:
        for types, suffix in bindings(version, spec):
            if types.get(variable, version.default_type(variable) if variable in version.types else variable) == type_:
                planned = _planned(op, version, spec, types, suffix)
                if planned is not None:
                    return planned
    return None


def _planned(op: Op, version: OperatorVersion, spec: CaseSpec, types: Mapping[str, str], suffix: str) -> Case | None:
    """Return the case of a call that has values; None if it has no values in this version."""
    try:
        planned = plan(op, version, spec, types, suffix)
    except (DeclarationError, NotDerivedError, NoAnswer):
        return None
    return plain(planned) if planned.outcome is Outcome.VALUES else None


def _import(model: onnx.ModelProto, other: onnx.ModelProto) -> None:
    """Import the domains of another model, and adopt its IR version if it is newer."""
    known = {item.domain for item in model.opset_import}
    model.opset_import.extend(item for item in other.opset_import if item.domain not in known)
    model.ir_version = max(model.ir_version, other.ir_version, INITIALIZERS_ALONE if model.graph.initializer else 0)
