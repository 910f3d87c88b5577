# SPDX-License-Identifier: Apache-2.0
"""Candidates that are whole models: the required properties of a smaller one, its expected values and its size."""

from __future__ import annotations

import dataclasses
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.base.verdict import line
from onnx_conformance.case.case import PLAIN, Case, Outcome, by_itself, digest_values
from onnx_conformance.case.external_data import decoded
from onnx_conformance.minimize import model_moves, moves
from onnx_conformance.minimize.cause import cause_of_model
from onnx_conformance.minimize.declared import NotWrittenError
from onnx_conformance.minimize.limits import within
from onnx_conformance.minimize.model_candidate import ModelCandidate, each_declaration
from onnx_conformance.minimize.search_space import (
    MOST_EXPECTED,
    RANKED,
    Built,
    Size,
    distance,
    elements,
    is_empty,
    nodes,
)
from onnx_conformance.minimize.validity import is_valid
from onnx_conformance.specification import nodes as of_nodes
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import element_type
from onnx_conformance.specification.nodes import subgraphs
from onnx_conformance.tolerance.whole_model import of_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.base.values import Value
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.allowance import Allowance
    from onnx_conformance.minimize.search_space import Array

SECONDS, BYTES = 5.0, 1 << 30
"""Limits of the oracle for one candidate, in seconds and bytes. Its tolerance needs several evaluations."""
Ranks = frozenset[tuple[str, str, int, int]]


class Models:
    """The search space of whole models."""

    halves = staticmethod(moves.halves)
    structure = (moves.shorter, moves.lower)
    passes = (
        model_moves.fewer_nodes, model_moves.fewer_parts, model_moves.plainer_types, *structure, moves.simpler,
    )  # fmt: skip

    def __init__(self, case: Case) -> None:
        """Begin with a case.

        Raises:
            NotWrittenError: the case expects no values, or the oracle does not compute its expected values.
        """
        where = f"{case.id} cannot be minimized as a model"
        if case.outcome is not Outcome.VALUES:
            raise NotWrittenError("no-expected-values", f"{where}: it expects no values")
        if case.files or case.earlier is not None:
            raise NotWrittenError("external-or-repeated", f"{where}: it has external data, or runs twice")
        model = onnx.load_from_string(case.model)
        if (odd := next((item.name for item in model.graph.initializer if decoded(item) is None), None)) is not None:
            raise NotWrittenError(
                "initializer-misfit", f"{where}: the data of its initializer {line(odd, 40)!r} do not fit its shape"
            )
        if of_nodes.expanded(model) > of_nodes.MOST_EXPANDED:
            raise NotWrittenError(
                "functions-too-large", f"{where}: its functions have more than {of_nodes.MOST_EXPANDED:,} nodes"
            )
        self._case, self._allowance = case, by_itself(case).allowance
        self._expected: Mapping[str, Value] = {}
        self._full_check = True
        self._full_check = is_valid(model, full=True)
        candidate = ModelCandidate(model, case.inputs)
        values = _evaluated(candidate)
        if values is None:
            raise NotWrittenError("oracle-without-values", f"{where}: the oracle does not compute its expected values")
        self._expected = {name: values[name] for name in case.outputs}
        self._empty = _has_empty(candidate, case.outputs)
        self._most = max(MOST_EXPECTED, elements([self._expected[name] for name in case.outputs]))
        self._ranks = _ranks(candidate)
        same = digest_values(tuple(self._expected.values())) == digest_values(case.expected)
        expected: Any = tuple(self._expected.values())
        first = case if same else dataclasses.replace(by_itself(case), expected=expected)
        self.first = _measured(candidate, first)

    def built(self, candidate: ModelCandidate) -> Built[ModelCandidate] | None:
        """Return a candidate with its case; None if it is not a case, or its tolerance is not known.

        If every output has the same value as in the first model, the tolerance stays, because fewer nodes have no
        larger errors. Otherwise, the tolerance follows from the operators.
        """
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"), within(SECONDS, BYTES):
                warnings.simplefilter("ignore")
                return self._built(candidate)
        except Exception:  # noqa: BLE001 - a move may break an assumption of an oracle, or of onnx
            return None

    def _built(self, candidate: ModelCandidate) -> Built[ModelCandidate] | None:
        fitted = _fitted(candidate)
        if fitted is None or not is_valid(fitted.model, full=self._full_check):
            return None
        names = tuple(item.name for item in fitted.model.graph.output)
        values = fitted.evaluated.values
        expected: Any = tuple(values[name] for name in names)
        if (
            elements(list(expected)) > self._most
            or (_has_empty(fitted, names) and not self._empty)
            or not _ranks(fitted) <= self._ranks
        ):
            return None
        allowance = self._kept_allowance(names, values) or of_model(fitted.model, fitted.inputs, fitted.evaluated.noted)
        if allowance is None:
            return None
        made = dataclasses.replace(
            by_itself(self._case),
            model=fitted.model.SerializeToString(deterministic=True),
            inputs=dict(fitted.inputs),
            outputs=names,
            expected=expected,
            allowance=allowance,
            form=PLAIN,
        )
        of = operator(made)
        if of != made.operator:  # The sentences of the first model belong to another operator.
            made = dataclasses.replace(made, operator=of, clauses=(), readings=(), notes=(), reworded="", detail="")
        return _measured(fitted, made)

    def _kept_allowance(self, names: tuple[str, ...], values: Mapping[str, Value]) -> Allowance | None:
        """Return the allowance of the first case, if the outputs have the same values; otherwise None."""
        if not set(names) <= set(self._expected):
            return None
        if any(digest_values((values[name],)) != digest_values((self._expected[name],)) for name in names):
            return None
        first = self._allowance
        places = [self._case.outputs.index(name) for name in names]
        if places == list(range(len(self._case.outputs))):
            return first
        if first.any_order is not None:
            return None
        return dataclasses.replace(
            first,
            bounds=None if first.bounds is None else tuple(first.bounds[place] for place in places),
            any_of=tuple(first.any_of[place] for place in places) if first.any_of else (),
            sums=None,  # They name an output by its former index.
        )

    def settled(self, built: Built[ModelCandidate]) -> Built[ModelCandidate]:
        """Return the final form of a candidate, which is the candidate itself."""
        return built

    def cause(self, case: Case, result: Result) -> tuple[str, ...]:
        """Return a signature that is equal for two failures with one cause, in any operator and output."""
        return cause_of_model(case, result)


def _evaluated(candidate: ModelCandidate) -> Mapping[str, Value] | None:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), within(SECONDS, BYTES):
            warnings.simplefilter("ignore")
            return candidate.evaluated.values
    except Exception:  # noqa: BLE001 - an oracle may raise anything on a model that it was not written for
        return None


def _fitted(candidate: ModelCandidate) -> ModelCandidate | None:
    """Return a candidate whose declared shapes are those of its values; None if a symbol would have two sizes."""
    model = candidate.copied()
    sizes: dict[str, int] = {}
    inputs: dict[str, Value] = {}
    for item in model.graph.input:
        if item.name in candidate.inputs:
            inputs[item.name] = candidate.inputs[item.name]
            if not _declare(item, candidate.inputs[item.name], sizes):
                return None
    before = candidate.model.graph.output
    if not _same_shapes(candidate, model):
        del model.graph.value_info[:]
        inner = {item.name for graph in subgraphs(model.graph.node) for item in (*graph.input, *graph.output)}
        each_declaration(model, lambda item: _forget_shape(item) if item.name in inner else None)
    for item, old in zip(model.graph.output, before, strict=True):
        if not _declare(item, candidate.evaluated.values[old.name], sizes):
            return None
    fitted = ModelCandidate(model, inputs)
    fitted.__dict__["evaluated"] = candidate.evaluated  # Declared shapes do not affect the values.
    return fitted


def _same_shapes(candidate: ModelCandidate, model: onnx.ModelProto) -> bool:
    """Return whether the declared shapes of a candidate's inputs and outputs are those of its values already."""
    outputs = [onnx.ValueInfoProto() for _ in candidate.model.graph.output]
    for copy, item in zip(outputs, candidate.model.graph.output, strict=True):
        copy.CopyFrom(item)
        _declare(copy, candidate.evaluated.values[item.name], {})
    before = [*candidate.model.graph.input, *candidate.model.graph.output]
    return before == [*model.graph.input, *outputs]


def _declare(item: onnx.ValueInfoProto, value: Value, sizes: dict[str, int]) -> bool:
    """Set the shape of a declaration to that of a value, but keep its symbols. Return whether each has one size."""
    if not isinstance(value, np.ndarray) or not item.type.HasField("tensor_type"):
        return True
    tensor = item.type.tensor_type
    if not tensor.HasField("shape"):
        return True
    if len(tensor.shape.dim) != value.ndim:
        del tensor.shape.dim[:]
        for size in value.shape:
            tensor.shape.dim.add().dim_value = size
    for dim, size in zip(tensor.shape.dim, value.shape, strict=True):
        if dim.dim_param and sizes.setdefault(dim.dim_param, size) != size:
            return False
        if dim.HasField("dim_value"):
            dim.dim_value = size
    return True


def _forget_shape(item: onnx.ValueInfoProto) -> None:
    if item.type.HasField("tensor_type"):
        item.type.tensor_type.ClearField("shape")


def _has_empty(candidate: ModelCandidate, outputs: tuple[str, ...]) -> bool:
    """Return whether an input, an initializer or an output is empty, which is a special case."""
    values: list[Array] = [leaf.array for leaf in candidate.leaves() if leaf.tensor]
    return any(map(is_empty, (*values, *(candidate.evaluated.values[name] for name in outputs))))


def _ranks(candidate: ModelCandidate) -> Ranks:
    """Return the ranks of the inputs of nodes whose dimensions the text lists: domain, operator, index, rank."""
    opsets = {item.domain or "ai.onnx": item.version for item in candidate.model.opset_import}
    found: set[tuple[str, str, int, int]] = set()
    for node in candidate.model.graph.node:
        domain = node.domain or "ai.onnx"
        if not schema.exists(domain, node.op_type, opsets.get(domain, 0)):
            continue
        for index, item in enumerate(schema.in_force(domain, node.op_type, opsets[domain]).inputs):
            value = candidate.evaluated.values.get(node.input[index]) if index < len(node.input) else None
            if RANKED.search(item.description) and isinstance(value, np.ndarray):
                found.add((domain, node.op_type, index, value.ndim))
    return frozenset(found)


def _measured(candidate: ModelCandidate, case: Case) -> Built[ModelCandidate]:
    """Return a candidate with its size."""
    graph = candidate.model.graph
    leaves = candidate.leaves()
    attributes = sum(len(node.attribute) for node in graph.node)
    taken = sum(1 for node in graph.node for name in node.input if name)
    initializers = len(graph.initializer)
    given = len(graph.input) + initializers
    bodies = sum(len(function.node) for function in candidate.model.functions)
    unsaid = len(graph.value_info) + len(candidate.model.metadata_props) + len(graph.metadata_props)
    texts = (candidate.model.doc_string, graph.doc_string, candidate.model.producer_name)
    tensors = [leaf.array for leaf in leaves if leaf.tensor]
    size = Size(
        nodes=nodes(graph) + bodies,
        parts=given + attributes + taken + len(graph.output) + len(candidate.model.functions),
        elements=sum(leaf.array.size for leaf in leaves if leaf.tensor or leaf.array.ndim),
        rank=sum(array.ndim for array in tensors),
        values=sum(distance(item) for leaf in leaves for item in leaf.array.reshape(-1).tolist()),
        strangeness=initializers + unsaid + sum(map(bool, texts)) + sum(map(_type_distance, tensors)),
    )
    return Built(candidate, case, size, given, attributes)


def _type_distance(array: Array) -> int:
    return moves.type_distance(element_type(array.dtype).name)


def operator(case: Case) -> str:
    """Return the operator version of a model: that of its case, if the model uses it; else that of its last node."""
    model = onnx.load_from_string(case.model)
    opsets = {item.domain or "ai.onnx": item.version for item in model.opset_import}
    found = [
        str(schema.in_force(node.domain or "ai.onnx", node.op_type, opsets.get(node.domain or "ai.onnx", 0)))
        for graph in (model.graph, *subgraphs(model.graph.node), *model.functions)
        for node in graph.node
        if schema.exists(node.domain or "ai.onnx", node.op_type, opsets.get(node.domain or "ai.onnx", 0))
    ]
    return found[-1] if found and case.operator not in found else case.operator
