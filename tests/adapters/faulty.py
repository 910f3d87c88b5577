# SPDX-License-Identifier: Apache-2.0
"""Adapters that are right but for one fault whose smallest trigger is known: `serve.py faulty.FAULT`.

They answer what the oracle of the harness answers, which is the opposite of what an adapter should do, and then one of
the functions below spoils it.
"""

from __future__ import annotations

import itertools
import os
import signal
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.declare import NoAnswer
from onnx_conformance.specification import evaluator, registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


LOAD = registry.load
"""Tests may let it give few operators, of which models have others beside."""


class CrashError(Exception):
    """Here the process dies."""


class Request:
    """A model, its inputs, and the right outputs: a list, or None where there is no right answer."""

    def __init__(self, model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> None:
        self.model, self.inputs = onnx.load_from_string(model), inputs
        self.why = ""
        self.right: list[Any] | None = None
        try:
            answers = evaluator.Evaluator(LOAD()).model(self.model, inputs)
            self.right = [answers[name] for name in outputs]
        except NoAnswer as no_answer:
            self.why = str(no_answer)

    @property
    def arrays(self) -> list[np.ndarray[Any, Any]]:
        return [value for value in self.inputs.values() if isinstance(value, np.ndarray)]

    @property
    def answers(self) -> list[Any]:
        if self.right is None:
            raise ValueError(f"refused: {self.why}")
        return self.right

    def attribute(self, name: str) -> Any:
        attributes = [item for node in _nodes(self.model) for item in node.attribute if item.name == name and item.type]
        return onnx.helper.get_attribute_value(attributes[0]) if attributes else None


def _nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Yield the nodes of the graph, of its branches and of the model's functions."""
    for node in itertools.chain(model.graph.node, *(function.node for function in model.functions)):
        yield node
        for attribute in node.attribute:
            yield from attribute.g.node


def off(values: list[Any], by: float = 1.0) -> list[Any]:
    return [np.asarray(value + np.asarray(by, value.dtype), value.dtype) for value in values]


def empty_axis(request: Request) -> list[Any]:
    """Gives another rank where an input has an axis of size zero."""
    if any(0 in array.shape for array in request.arrays):
        return [value[None] for value in request.answers]
    return request.answers


def negative_axis(request: Request) -> list[Any]:
    return off(request.answers) if (request.attribute("axis") or 0) < 0 else request.answers


def size_three(request: Request) -> list[Any]:
    """Is off where an axis has the size 3."""
    return off(request.answers) if any(3 in array.shape for array in request.arrays) else request.answers


def pair(request: Request) -> list[Any]:
    """Is off where a Neg follows another node."""
    operators = [node.op_type for node in request.model.graph.node]
    return off(request.answers) if "Neg" in operators[1:] else request.answers


def nan(request: Request) -> list[Any]:
    """Takes NaN for zero."""
    return [np.nan_to_num(value, nan=0.0) for value in request.answers]


def high_rank(request: Request) -> list[Any]:
    if any(array.ndim > 2 for array in request.arrays):
        raise CrashError
    return request.answers


def no_float16(request: Request) -> list[Any]:
    for index, array in enumerate(request.arrays):
        if array.dtype == np.float16:
            raise TypeError(f"input {index} of shape {list(array.shape)} is float16")
    return request.answers


def takes_all(request: Request) -> list[Any]:
    """Answers where there is nothing to answer."""
    return [np.zeros(1, np.float32) for _ in request.model.graph.output] if request.right is None else request.right


def two_faults(request: Request) -> list[Any]:
    """Is off by a lot in rank 2 and above, and dies in rank 1."""
    if all(array.ndim < 2 for array in request.arrays):
        raise CrashError
    return off(request.answers, 1000)


def two_values(request: Request) -> list[Any]:
    """Is off where a value reaches 10; gives NaN where all are zero."""
    if any((array >= 10).any() for array in request.arrays):
        return off(request.answers, 1000)
    if all((array == 0).all() for array in request.arrays):
        return [np.full_like(value, np.nan) for value in request.answers]
    return request.answers


def two_refusals(request: Request) -> list[Any]:
    """Refuses all, in other words where there is one element."""
    if request.arrays[0].size == 1:
        raise TypeError("too small")
    raise TypeError(f"too many: {request.arrays[0].size}")


def last_element(request: Request) -> list[Any]:
    """Is off in the last element of every answer."""
    changed = []
    for value in request.answers:
        spoilt = value.copy()
        spoilt.reshape(-1)[-1:] += np.asarray(2, value.dtype)
        changed.append(spoilt)
    return changed


calls = 0


def now_and_then(request: Request) -> list[Any]:
    """Is off every second time, beginning with the first."""
    global calls  # noqa: PLW0603 - what a process remembers is the fault
    calls += 1
    return off(request.answers) if calls % 2 else request.answers


def when_tired(request: Request) -> list[Any]:
    """Is off with more than three elements, and with any in a process that has answered twice."""
    global calls  # noqa: PLW0603
    calls += 1
    return off(request.answers) if request.arrays[0].size > 3 or calls > 2 else request.answers


def hangs(request: Request) -> list[Any]:
    if request.arrays[0].ndim > 1:
        time.sleep(60)
    return request.answers


class Adapter:
    """What serve.py loads."""

    def __init__(self, fault: Callable[[Request], list[Any]]) -> None:
        self.fault = fault

    def info(self) -> dict[str, Any]:
        return {"runtime": "faulty", "version": "1"}

    def run(self, model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
        try:
            return self.fault(Request(model, inputs, outputs))
        except CrashError:
            os.kill(os.getpid(), signal.SIGSEGV)
            raise


FAULTS = (
    empty_axis, negative_axis, size_three, pair, nan, high_rank, no_float16, takes_all, two_faults, two_values,
    two_refusals, last_element, now_and_then, when_tired, hangs,
)  # fmt: skip
adapters = {fault.__name__: Adapter(fault) for fault in FAULTS}


def __getattr__(name: str) -> Adapter:
    """Give adapters by name: faulty.as_nan is that of `nan`."""
    if name.startswith("as_") and name[3:] in adapters:
        return adapters[name[3:]]
    raise AttributeError(name)
