# SPDX-License-Identifier: Apache-2.0
"""The run of the oracle over the whole model, from its inputs to its outputs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.base.verdict import line
from onnx_conformance.declare import NoAnswer, Rejected
from onnx_conformance.verification.node_oracle import NodeOracle, NoOracleError
from onnx_conformance.verification.user_model import size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_conformance.base.values import Value
    from onnx_conformance.specification.signature import TypedValue
    from onnx_conformance.verification.user_model import UserModel


@dataclass(frozen=True)
class OracleRun:
    """The values that the oracle computes.

    Attributes:
        outputs: the outputs of the model, by name; None if the oracle does not reach them.
        types: the types of all values that it computed, by name.
        sizes: their sizes in bytes, by name.
        problem: why it stopped, in one line; empty if it reached the end.
        no_answer: whether it stopped because the text forbids a call, or does not define its result.
        empty: whether a node returns a tensor without elements, which ordinary inputs rarely cause. A list of integers
            may be empty: exported models compute shapes with such lists.
        reached: the number of nodes before the one at which it stopped, or of all.
        seconds: the processor time that it took, in seconds.
    """

    outputs: dict[str, TypedValue] | None
    types: dict[str, str]
    sizes: dict[str, int]
    problem: str = ""
    no_answer: bool = False
    empty: bool = False
    reached: int = 0
    seconds: float = 0.0


def run(
    model: UserModel, inputs: Mapping[str, TypedValue], progress: Callable[[int], None] = lambda _done: None
) -> OracleRun:
    """Run the oracle over a model. Values that no later node reads are dropped at once.

    Args:
        model: the model.
        inputs: its inputs by name.
        progress: called with the number of finished nodes.
    """
    oracle, began = NodeOracle(model), time.process_time()
    local: dict[str, TypedValue] = {**model.constants, **inputs}
    sizes = {name: size(item.value) for name, item in local.items()}
    last = {name: step.index for step in model.steps for name in step.reads}
    problem, stopped, empty, reached = "", False, False, 0
    for step in model.steps:
        try:
            found = oracle.values(step, local)
        except NoOracleError as error:
            problem = f"node {step.index} {step.label} ({step.operator}): {error}"
        except NoAnswer as no_answer:
            stopped = True
            words = "the text forbids it" if isinstance(no_answer, Rejected) else "the text does not define its result"
            problem = f"node {step.index} {step.label} ({step.operator}): {words}: {line(no_answer, 300)}"
        if problem:
            break
        reached += 1
        empty = empty or any(_is_empty(item.value) for item in found.values())
        local.update(found)
        sizes.update({name: size(item.value) for name, item in found.items()})
        for name in step.reads:
            if last[name] == step.index and name not in model.outputs and name not in model.constants:
                local.pop(name, None)
        progress(reached)
    outputs = None if problem else {name: local[name] for name in model.outputs if name in local}
    return OracleRun(outputs, oracle.types, sizes, problem, stopped, empty, reached, time.process_time() - began)


def _is_empty(value: Value) -> bool:
    """Return whether a value is a tensor without elements, but no list of integers."""
    return isinstance(value, np.ndarray) and not value.size and not (value.ndim == 1 and value.dtype.kind in "iu")
