# SPDX-License-Identifier: Apache-2.0
"""The elementwise operators with one floating tensor, found by their schemas and by their oracles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import DeclarationError, NoAnswer
from onnx_conformance.declare.arguments import Typed
from onnx_conformance.specification import evaluator, registry, schema
from onnx_conformance.specification.signature import TypedValue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onnx_conformance.declare import Op
    from onnx_conformance.specification.schema import OperatorVersion

TYPES = ("float", "double", "float16", "bfloat16")
"""The element types that are measured."""
_PROBE = np.array([0.3, -0.7, 1.5, 2.5, -0.1, 0.9, 3.0], np.float32)
"""Different numbers without an order: no sum, sort or normalization of them is elementwise."""
_OTHER_SHAPES = ((7, 1), (1, 7), (1, 1, 7))


@dataclass(frozen=True)
class Function:
    """An elementwise function: an operator with values of its attributes.

    Attributes:
        op: the operator.
        version: its newest version, or an earlier one with the same meaning.
        attributes: the attributes that are set.
    """

    op: Op
    version: OperatorVersion
    attributes: Mapping[str, str]

    @property
    def types(self) -> tuple[str, ...]:
        """The measured types that the version allows."""
        allowed = self.version.allowed(self.version.inputs[0].type)
        return tuple(name for name in TYPES if f"tensor({name})" in allowed)


def functions(wanted: Callable[[str], bool]) -> Iterator[Function]:
    """Yield the elementwise functions of ONNX, in the order of their names.

    Args:
        wanted: returns whether to include an operator version, such as ai.onnx/Exp/13.
    """
    operators = registry.load()
    for path in schema.every():
        domain, name = path.split("/")
        version = schema.versions(domain, name)[-1]
        if not wanted(str(version)) or not _has_signature(version):
            continue
        op = operators.find(domain, name)
        if op is None or version.since not in op.versions:
            continue
        if _is_elementwise(op, version):
            yield from (Function(op, version, attributes) for attributes in _variants(op, version))


def _has_signature(version: OperatorVersion) -> bool:
    """Return whether a version takes one tensor, and returns one of its type; all other arguments are optional."""
    if version.deprecated or not version.inputs or not version.outputs:
        return False
    first, *others = version.inputs
    return (
        not (first.variadic or first.optional)
        and all(item.optional for item in others)
        and version.outputs[0].type == first.type
        and version.outputs_least <= 1
        and not any(item.required for item in version.attributes.values())
        and "tensor(float)" in version.allowed(first.type)
    )


def _is_elementwise(op: Op, version: OperatorVersion) -> bool:
    """Return whether each element of the result depends only on the element in its place."""

    def result(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        answer = evaluator.apply(op, version, [TypedValue(values, "tensor(float)")], {}, 1)
        return np.asarray(answer.outputs[0])

    try:
        whole = result(_PROBE)
        if whole.shape != _PROBE.shape or whole.dtype != _PROBE.dtype:
            return False
        single = [result(_PROBE[index : index + 1]) for index in range(len(_PROBE))]
        if not np.array_equal(np.concatenate(single), whole, equal_nan=True):
            return False
        shaped = [(result(_PROBE.reshape(shape)), shape) for shape in _OTHER_SHAPES]
    except (NoAnswer, DeclarationError, ValueError):
        return False  # It needs another rank.
    return all(got.shape == shape and np.array_equal(got.ravel(), whole, equal_nan=True) for got, shape in shaped)


def _variants(op: Op, version: OperatorVersion) -> list[dict[str, str]]:
    """Return no attributes, and each text that a case passes with values sets for an attribute, but its default."""
    defaults = evaluator.known(version, {})
    texts = {
        (name, value)
        for case in op.cases
        if case.rejects is None and case.unspecified is None
        for name, raw in case.arguments.items()
        if name in version.attributes and isinstance(value := raw.values if isinstance(raw, Typed) else raw, str)
        and value != defaults[name]
    }  # fmt: skip
    return [{}, *({name: value} for name, value in sorted(texts))]
