# SPDX-License-Identifier: Apache-2.0
"""The cases of `rewrites`: each model in every form. In some forms, the rewrite would change its meaning.

A rewrite needs constants, and intermediate values that no other node uses. The forms therefore store the constants in
other places, some of which the caller may change, and also use the intermediate values elsewhere.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import pkgutil
from typing import TYPE_CHECKING

import onnx
from onnx import helper, numpy_helper

from onnx_conformance import rewrites
from onnx_conformance.case.case import delivered_id
from onnx_conformance.declare import DeclarationError
from onnx_conformance.forms import table
from onnx_conformance.forms.delivered import Convention, Delivered, info_of, read_of
from onnx_conformance.generation import binding
from onnx_conformance.rewrites.rewrite import Model, Rewrite
from onnx_conformance.specification import schema
from onnx_conformance.specification.evaluator import Evaluator
from onnx_conformance.tolerance.several_nodes import UndecidedError, composed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.case import Case

IR_VERSION = 7
"""The lowest IR version of the models."""
OTHER_DOMAINS = {"ai.onnx.ml": 4}
"""The opsets of other domains that the models may use."""
CONVENTION = Convention(
    condition="condition",
    condition_first=True,
    in_then="{}",
    of_if="{}_of_if",
    conditional="If",
    branch="{1}",
    branch_shapes=True,
    ones_for_zeros=False,
    function="Pattern",
    call="Pattern",
    attributes_of_call=False,
    data="{}_flat",
    data_size="",
    shape_size="{}_shape_rank",
    allows_zero=False,
)
"""The names and other details of additions by forms, for models with patterns."""


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
                raise DeclarationError("rewrite-declared-twice", f"two rewrites have the name {item.name}")
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
    for form, made in table.delivered(started(model, name), table.Start.REWRITE):
        with contextlib.suppress(UndecidedError):
            case = composed(delivered_id(name, form), operator, made.loaded, made.inputs, form=form, notes=notes)
            yield dataclasses.replace(case, model=made.model.SerializeToString(), files=made.files)


def started(model: Model, name: str) -> Delivered:
    """Return the plain form of a model, with its constants as initializers.

    Raises:
        DeclarationError: the text of the model cannot be read, or the specification forbids it.
    """
    nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in binding.nodes(model.nodes)]
    for place, node in enumerate(nodes):
        node.name = f"{node.op_type}_{place}"
    arrays = {**model.inputs, **model.constants}
    opsets = _opsets(nodes, model.opset)
    values = _values(nodes, arrays, opsets, name)
    graph = helper.make_graph(
        nodes,
        "graph",
        [info_of(key, value) for key, value in model.inputs.items()],
        [info_of(key, values[key]) for key in model.outputs],
        [numpy_helper.from_array(value, key) for key, value in model.constants.items()],
    )
    made = helper.make_model(graph, opset_imports=opsets)
    made.ir_version = max(schema.lowest_ir("ai.onnx", model.opset), IR_VERSION)
    return Delivered(
        model=made,
        inputs=dict(model.inputs),
        expected=tuple(values[key] for key in model.outputs),
        allowance=None,
        subject=range(len(nodes)),
        opsets=range(model.since, model.before or schema.newest_opset("ai.onnx") + 1),
        parameters=model.constants,
        read=read_of(made, model.inputs),
        least_ir=IR_VERSION,
        between={key: value for key, value in values.items() if key not in model.outputs},
        convention=CONVENTION,
    )


def _values(
    nodes: Sequence[onnx.NodeProto], arrays: Mapping[str, Value], opsets: Sequence[onnx.OperatorSetIdProto], name: str
) -> dict[str, Value]:
    """Return every value that nodes compute, by name."""
    graph = helper.make_graph(nodes, "pattern", [info_of(key, value) for key, value in arrays.items()], [])
    graph.output.extend(onnx.ValueInfoProto(name=key) for node in nodes for key in node.output if key)
    try:
        return Evaluator().model(helper.make_model(graph, opset_imports=opsets), arrays)
    except Exception as error:
        raise DeclarationError("rewrite-invalid", f"{name}: {error}") from error


def _opsets(nodes: Sequence[onnx.NodeProto], opset: int) -> list[onnx.OperatorSetIdProto]:
    """Return the opsets that nodes need, for ai.onnx and each other domain."""
    others = sorted({node.domain for node in nodes} & {*OTHER_DOMAINS})
    return [
        helper.make_operatorsetid("", opset),
        *(helper.make_operatorsetid(domain, OTHER_DOMAINS[domain]) for domain in others),
    ]
