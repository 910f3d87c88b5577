# SPDX-License-Identifier: Apache-2.0
"""The cause of a failure, derived from its result. A smaller case must have the same cause as the first one."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import TYPE_CHECKING

import numpy as np
import onnx
from google.protobuf.message import DecodeError

from onnx_conformance.base.signature import place_of, signature
from onnx_conformance.base.verdict import WRONG, Result, Verdict
from onnx_conformance.case.case import Outcome
from onnx_conformance.specification import nodes
from onnx_conformance.specification.element_types import element_type

if TYPE_CHECKING:
    from onnx_conformance.case.case import Case

ROUNDING = 1e-2
"""Relative errors up to this count as rounding, which the texts do not limit; a larger error is another fault."""
EPSILONS = 8
"""So many epsilons of the greatest of the expected elements nearby count as rounding as well.

An element near zero may be the difference of large terms, for example in a sum. Its relative error has no meaning then.
"""
_EPSILON = {"double": 2.0**-52, "float": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
"""By element type. Cases of one type do not name it, so float is used for others."""
INDEX = re.compile(r"_\d+(?=_again$|$)")
"""The number that distinguishes the values of a variadic parameter."""


def cause(case: Case, result: Result) -> tuple[str, ...]:
    """Return a signature that is equal for two failures with one cause: verdict, error, place, kind of difference."""
    shared = [masked(part) for part in signature(result)] + [place_of(result)]
    if result.verdict is Verdict.WRONG_VALUE and case.outcome is Outcome.VALUES:
        shared += difference(case, result)
    return tuple(shared)


def cause_of_model(case: Case, result: Result) -> tuple[str, ...]:
    """Return this signature for a whole model, whose operator and names may change."""
    if result.verdict in WRONG:
        other_shapes = result.message.startswith("with ")
        kinds = difference(case, result) if result.verdict is Verdict.WRONG_VALUE else ()
        return (str(result.verdict), str(other_shapes), *kinds)
    graph = onnx.load_from_string(case.model).graph
    names = {name for node in graph.node for name in (*node.input, *node.output, node.name) if name}
    words = re.sub(r"[\w./:]+", lambda word: "#" if word[0] in names else word[0], result.message)
    return cause(case, dataclasses.replace(result, operator="", backend="", clauses=(), message=words))


def added(case: Case, model: bytes | None) -> frozenset[str]:
    """Return the operators that a tool has added to a model: those that the returned model has and the first one lacks.

    A smaller case of a wrong fusion must have that fusion, although its values may also be wrong without it.

    Args:
        case: the case with the model.
        model: the returned model, serialized; None if the backend returned no model.
    """
    if model is None:
        return frozenset()
    try:
        returned = onnx.load_from_string(model)
    except DecodeError:  # The verdict is about that.
        return frozenset()
    return _operators(returned) - _operators(onnx.load_from_string(case.model))


def _operators(model: onnx.ModelProto) -> frozenset[str]:
    return frozenset(f"{node.domain}.{node.op_type}" for node in nodes.of(model))


def _type_of_outputs(case: Case) -> str:
    """Return the least precise floating type of the expected outputs; an empty text if no output has one."""
    types = {element_type(value.dtype).name for value in case.expected or () if isinstance(value, np.ndarray)}
    return max(types & _EPSILON.keys(), key=lambda type_: _EPSILON[type_], default="")


def difference(case: Case, result: Result) -> list[str]:
    """Return the kinds of the values that differ. A NaN instead of a number is another fault than a wrong number."""
    mismatch = result.mismatch
    kinds = []
    for word in ("expected", "actual"):
        text = str(mismatch.get(word, "")).lower()
        kinds.append(next((kind for kind in ("nan", "inf") if kind in text), "value"))
    return [*kinds, "rounding" if by_rounding(result, _type_of_outputs(case)) else "far"]


def by_rounding(result: Result, type_: str = "", most: float = ROUNDING) -> bool:
    """Return whether the worst element of a wrong value differs by rounding.

    Args:
        result: the result.
        type_: the type of the outputs, if it is known; otherwise it is the type in the id of the case.
        most: the greatest relative error that counts as rounding.
    """
    relative, absolute = (result.mismatch.get(name) for name in ("relative", "absolute"))
    if isinstance(relative, int | float) and relative <= most:
        return True
    nearby = map(_number, (*result.mismatch.get("wanted", ()), result.mismatch.get("expected", "")))
    sizes = [abs(number) for number in nearby if math.isfinite(number)]
    unit = _EPSILON.get(type_ or result.element_type, _EPSILON["float"])
    return isinstance(absolute, int | float) and absolute <= EPSILONS * unit * max(sizes, default=0.0)


def _number(text: object) -> float:
    """Return a text as a number; NaN for other texts, such as the elements of a tensor of strings."""
    try:
        return float(str(text))
    except ValueError:
        return math.nan


def masked(text: str) -> str:
    """Return a message in which every series of numbers, tensor types and quoted texts is masked."""
    return re.sub(r"#(?:[\s,x-]*#)*", "#", re.sub(r"-?\d+(?:\.\d+)?|tensor\(\w+\)|'[^']*'", "#", text))
