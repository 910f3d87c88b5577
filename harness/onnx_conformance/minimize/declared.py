# SPDX-License-Identifier: Apache-2.0
"""Candidates that are declared cases: the properties that a smaller one must keep, and the measure of its size."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import onnx

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.minimize import moves
from onnx_conformance.minimize.cause import INDEX, cause, masked
from onnx_conformance.minimize.declared_candidate import DeclaredCandidate, build_case, candidate_from_plan
from onnx_conformance.minimize.search_space import MOST_EXPECTED, RANKED, Built, Size, distance, elements, is_empty
from onnx_conformance.minimize.validity import is_valid

if TYPE_CHECKING:
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.generation.deliveries import Plan


class NotWrittenError(HarnessError):
    """A case cannot be written as a candidate. The message contains the reason."""


@dataclass(frozen=True)
class BuiltCandidate(Built[DeclaredCandidate]):
    """A candidate with its plan, its case and its size."""

    plan: Plan


class Declared:
    """The search space of declared cases."""

    halves = staticmethod(moves.halves)
    structure = (moves.fewer, moves.shorter, moves.lower)
    passes = (moves.plainer, *structure, moves.simpler)

    def __init__(self, case: Case, plan: Plan) -> None:
        """Begin with a case that was delivered from a plan, or with one of another suite that has such a plan.

        Raises:
            NotWrittenError: the arguments of the case have no concrete values.
        """
        generated = case.id.startswith(f"{plan.version}/")
        first = _built(candidate_from_plan(plan, case.form if generated else PLAIN))
        if first is None or (generated and first.case.digests() != case.digests()):
            raise NotWrittenError(
                "arguments-without-values",
                f"{case.id}: its arguments have no concrete values, so it cannot be minimized",
            )
        self.first = dataclasses.replace(first, case=case) if generated else first
        self._checked = first.case.outcome is not Outcome.REJECTS and is_valid(first.case.model)

    def built(self, candidate: DeclaredCandidate) -> BuiltCandidate | None:
        """Return a candidate with its case; None if it is not a case of the same kind as the first, or not valid."""
        built = _built(candidate)
        if built is None or not same_kind(self.first.plan, built.plan):
            return None
        return built if not self._checked or is_valid(built.case.model) else None

    def settled(self, built: Built[DeclaredCandidate]) -> BuiltCandidate | None:
        """Return a candidate with its values converted to the bound types."""
        assert isinstance(built, BuiltCandidate)  # noqa: S101 - it is one of this search space
        return _built(candidate_from_plan(built.plan, built.candidate.form))

    def cause(self, case: Case, result: Result) -> tuple[str, ...]:
        """Return a signature that is equal for two failures with one cause; they differ in the same output."""
        where = str(result.mismatch.get("where", ""))
        index = re.match(r"outputs\[(\d+)\]", where)
        return (*cause(case, result), INDEX.sub("", case.outputs[int(index[1])]) if index else where)


def _built(candidate: DeclaredCandidate) -> BuiltCandidate | None:
    made = build_case(candidate)
    if made is None:
        return None
    plan, case = made
    inputs = sum(item is not None for _, item in plan.inputs)
    return BuiltCandidate(candidate, case, measure(candidate, plan, case), inputs, len(plan.attributes), plan)


# Conditions that every smaller case must keep

_LISTS = (onnx.AttributeProto.INTS, onnx.AttributeProto.FLOATS, onnx.AttributeProto.STRINGS)


def same_kind(original: Plan, plan: Plan) -> bool:
    """Return whether a smaller case is of the same kind: valid, or forbidden or unspecified by the same clause.

    Empty tensors and lists are special cases, so none may become empty. A scale of zero is one, too, so no parameter of
    floating-point numbers may get its first zero. No input may lose a dimension that the text names.
    """
    return (
        plan.outcome is original.outcome
        and plan.decided == original.decided
        and masked(plan.detail) == masked(original.detail)
        and _empty(plan) <= _empty(original)
        and _zero(plan) <= _zero(original)
        and all(_ranks(plan).get(name, rank) == rank for name, rank in _ranks(original).items())
        and elements(plan.expected) <= max(MOST_EXPECTED, elements(original.expected))
    )


def _ranks(plan: Plan) -> dict[str, int]:
    """Return the ranks of the inputs whose dimensions the text lists, by name."""
    ranked = {item.name for item in plan.version.inputs if RANKED.search(item.description)}
    values = {name: item.value for name, item in plan.inputs if item is not None and INDEX.sub("", name) in ranked}
    return {name: value.ndim for name, value in values.items() if isinstance(value, np.ndarray)}


def _empty(plan: Plan) -> set[str]:
    """Return the names of the inputs, attributes and outputs that are empty or contain an empty value."""
    inputs = [(name, item.value) for name, item in plan.inputs if item is not None]
    inputs += [
        (name, list(onnx.helper.get_attribute_value(proto)))
        for name, proto in plan.attributes.items()
        if proto.type in _LISTS
    ]
    outputs = [name for name, _ in plan.outputs if name]
    values = [*inputs, *zip(outputs, plan.expected or (), strict=False)]
    return {INDEX.sub("", name) for name, value in values if is_empty(value)}


def _zero(plan: Plan) -> set[str]:
    """Return the names of the parameters of floating-point numbers, such as scales, that have a zero."""
    parameters = [(name, item.value) for name, item in plan.inputs[1:] if item is not None]
    return {
        INDEX.sub("", name)
        for name, value in parameters
        if isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.inexact) and not value.all()
    }


def measure(candidate: DeclaredCandidate, plan: Plan, case: Case) -> Size:
    """Return the size of a case."""
    all_leaves = candidate.leaves()
    types = [item.type for _, item in plan.inputs if item is not None] + [text for _, text in plan.outputs]
    return Size(
        nodes=len(onnx.load_from_string(case.model).graph.node),
        parts=len(plan.inputs) + len(plan.around) + len(plan.attributes) + len(plan.outputs),
        elements=sum(leaf.array.size for leaf in all_leaves if leaf.tensor or leaf.array.ndim),
        rank=sum(leaf.array.ndim for leaf in all_leaves if leaf.tensor),
        values=sum(distance(item) for leaf in all_leaves for item in leaf.array.reshape(-1).tolist()),
        strangeness=10 * moves.form_distance(candidate.form)
        + ("-" not in candidate.form)
        + sum(moves.type_distance(text) for text in types if text),
    )
