# SPDX-License-Identifier: Apache-2.0
"""Subgraphs: the types of their outputs, and the values accumulated over their iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx_conformance.base.values import Array
    from onnx_conformance.declare.arguments import Subgraph
    from onnx_conformance.declare.clause import Clause, Version
    from onnx_conformance.declare.op import Derivation


def outputs_of(*names: str, behind: int = 0) -> Derivation:
    """Derive the types of the outputs as those of a subgraph.

    Args:
        names: the attributes with subgraphs. The first one with outputs is used.
        behind: the number of leading outputs of the subgraph that are not outputs of the operator.
    """

    def derive(_: Mapping[str, str], attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 - see Derivation
        graphs = (attributes[name] for name in names if attributes.get(name))
        return next((graph.outputs[behind:] for graph in graphs if graph.outputs[behind:]), "tensor(float)")

    return derive


def accumulate(v: Version, unchanging: Clause, scans: list[list[Array]], values: Sequence[Array]) -> None:
    """Add the values of an iteration to the scan outputs. `unchanging` forbids different shapes."""
    for scan, value in zip(scans, values, strict=True):
        scan.append(value)
        v.require(unchanging, len({item.shape for item in scan}) == 1)


def iterate(
    v: Version,
    body: Subgraph,
    states: list[Array],
    elements: Iterable[Sequence[Array]],
    same: Clause,
    unchanging: Clause,
) -> tuple[list[Array], list[list[Array]]]:
    """Return the final states of a body, and the values of all iterations for each of its other outputs.

    Args:
        v: the version.
        body: a subgraph whose inputs are states and elements, and whose outputs are the same number of states and the
            values to accumulate.
        states: the states before the first iteration.
        elements: the elements of each iteration.
        same: the sentence that forbids states with different shapes.
        unchanging: the sentence that forbids other outputs with different shapes.
    """
    count = len(states)
    scans: list[list[Array]] = [[] for _ in body.outputs]
    for element in elements:
        outputs = body(*states, *element)
        accumulate(v, same, scans[:count], outputs[:count])
        accumulate(v, unchanging, scans[count:], outputs[count:])
        states = outputs[:count]
    return states, scans[count:]
