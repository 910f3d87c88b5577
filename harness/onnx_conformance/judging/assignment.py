# SPDX-License-Identifier: Apache-2.0
"""Whether the execution provider under test ran the tested operator, from the assignment that an adapter reports.

A form may add nodes, such as Identity, Reshape or If, which any provider may run. Only the nodes of the tested operator
must run on the provider under test. If the model has none, as in an expanded function body, all nodes must. If the
runtime replaced them, such as by the nodes of a function body, all nodes must that are not one of the added operators.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.base.verdict import line, split_operator
from onnx_conformance.specification import nodes

if TYPE_CHECKING:
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.replies import Assigned


class Place(enum.Enum):
    """Where the tested operator ran."""

    TARGET = enum.auto()
    ELSEWHERE = enum.auto()
    NOWHERE = enum.auto()
    """Every node was computed while the model was loaded, which proves nothing."""


def place(case: Case, assigned: Assigned) -> Place:
    """Return where the tested operator of a case ran."""
    operator = split_operator(case.operator)[0]
    ran = [provider for name, provider in assigned.nodes if name == operator]
    if not ran:
        added = _operators(case.model)
        added = added - {operator} if operator in added else frozenset()
        ran = [provider for name, provider in assigned.nodes if name not in added]
    if not ran:
        return Place.NOWHERE
    return Place.TARGET if set(ran) == {assigned.target} else Place.ELSEWHERE


def message(assigned: Assigned) -> str:
    """Return a line that names the provider of each node."""
    there = ", ".join(f"{name} on {provider}" for name, provider in assigned.nodes)
    return line(f"nodes: {there or 'none'}; expected the tested operator on {assigned.target}")


def _operators(model: bytes) -> frozenset[str]:
    """Return the operators of a model, without its own functions."""
    loaded = onnx.load_from_string(model)
    own = {(item.domain, item.name) for item in loaded.functions}
    every = ((node.domain, node.op_type) for node in nodes.of(loaded))
    return frozenset(f"{domain or 'ai.onnx'}/{name}" for domain, name in every if (domain, name) not in own)
