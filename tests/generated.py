# SPDX-License-Identifier: Apache-2.0
"""The generated cases, for tests that look at all of one operator, or at a few of every kind."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import onnx.defs
import pytest

from onnx_conformance.declare import NoAnswer
from onnx_conformance.generation import coverage
from onnx_conformance.generation import plans as generate
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.replies import Answered, Refused
from onnx_conformance.specification import evaluator, registry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import Op
    from onnx_conformance.generation.coverage import Coverage
    from onnx_conformance.generation.deliveries import Plan
    from onnx_conformance.processes.replies import Reply

OPS = [op for op in registry.load() if registry.versions(op)]
"""The declared operators that the installed onnx has."""
KINDS = ("Split", "SplitToSequence", "ReduceSum", "Constant", "SequenceInsert", "Scatter", "Dropout")
"""Operators that move data, compute, hold values, take containers, are deprecated, draw at random."""

every_operator = pytest.mark.every_operator
"""A test of each operator, `op`; conftest.py chooses the operators."""


def nothing_derived(op: Op) -> Op:
    """Return an operator of a test, which has the declared cases alone."""
    op.derived = dict.fromkeys(op.versions, ())
    return op


@functools.lru_cache(maxsize=1)
def plans(op: Op) -> tuple[Plan, ...]:
    """Return the plans of an operator, of which there must be some: tests loop over them."""
    all_plans = tuple(generate.plans(op))
    assert all_plans, f"{op} has no cases"
    return all_plans


@functools.lru_cache(maxsize=1)
def cases(op: Op) -> tuple[Case, ...]:
    """Return the cases of an operator."""
    parsed.cache_clear()
    return tuple(case for plan in plans(op) for case in generate.delivered(plan))


@functools.lru_cache(maxsize=1)
def covered(op: Op) -> tuple[Coverage, ...]:
    """Return what the cases of an operator reach."""
    return tuple(coverage.of(op, cases(op)))


parsed = functools.cache(onnx.load_from_string)


def model(case: Case) -> onnx.ModelProto:
    """Return the parsed model, which no test changes."""
    return parsed(case.model)


@contextlib.contextmanager
def files_of(case: Case) -> Iterator[str | None]:
    """Return a folder with model.onnx and the files beside it; None for a case of a model alone."""
    if not case.files:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, data in {"model.onnx": case.model, **case.files}.items():
            Path(folder, name).write_bytes(data)
        yield folder


def on_the_oracles(case: Case) -> Result:
    """Return what the oracles make of a case, in this process.

    Raises:
        UndeclaredError: one of its operators has no oracle.
    """
    try:
        with files_of(case) as folder:
            answers = evaluator.session(case.model, folder)(dict(case.inputs), case.outputs)
        reply: Reply = Answered(tuple(answers), 0.0)
    except NoAnswer as no_answer:
        reply = Refused(type(no_answer).__name__, str(no_answer), None, None)
    return judge(case, "oracle", reply)


def few() -> Iterator[Case]:
    """Yield the cases of operators of every kind, of their newest version that is not deprecated."""
    for name in KINDS:
        op = registry.load().named(name)
        newest = max(version for version in op.versions if any(generate.plans(op, (version,))))
        yield from generate.cases(op, (newest,))


# From onnx's Versioning.md: the IR version of the first release that had each opset of ai.onnx.
LOWEST_IR = dict.fromkeys(range(1, 9), 3) | {9: 4, 10: 5, 11: 6} | dict.fromkeys((12, 13, 14), 7)
LOWEST_IR |= dict.fromkeys(range(15, 19), 8) | dict.fromkeys((19, 20), 9) | dict.fromkeys((21, 22), 10)
LOWEST_IR |= {23: 11, 24: 12, 25: 13, 26: 13, 27: 13, 28: 14, 29: 14}
LOWEST_IR = {opset: ir for opset, ir in LOWEST_IR.items() if opset <= onnx.defs.onnx_opset_version()}
LOWEST_IR_OF_DOMAIN = {
    "": LOWEST_IR,
    "ai.onnx.preview": LOWEST_IR,
    "ai.onnx.ml": {1: 3, 2: 6, 3: 8, 4: 9, 5: 10},
    "ai.onnx.preview.training": {1: 7},
}


def schemas(op: Op) -> list[onnx.defs.OpSchema]:
    of_operator = [
        item
        for item in onnx.defs.get_all_schemas_with_history()
        if (item.domain or "ai.onnx", item.name) == (op.domain, op.name)
    ]
    return sorted(of_operator, key=lambda item: item.since_version)


def operator_node(case: Case) -> onnx.NodeProto:
    name = case.operator.split("/")[1]
    return next(node for node in model(case).graph.node if node.name == name)  # A form may put others in front.
