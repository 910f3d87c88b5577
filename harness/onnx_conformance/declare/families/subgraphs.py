"""Subgraphs: the types of their outputs, and the values that their iterations add up to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx_conformance.declare.arguments import Subgraph
    from onnx_conformance.declare.clause import Clause, Version
    from onnx_conformance.declare.data import Array
    from onnx_conformance.declare.op import Derivation


def outputs_of(*names: str, behind: int = 0) -> Derivation:
    """Derive the types of the outputs as those of a subgraph.

    Args:
        names: the attributes that hold it; the first one that has outputs decides.
        behind: how many of its outputs are not the operator's.
    """

    def derive(_: Mapping[str, str], attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 - see Derivation
        graphs = (attributes[name] for name in names if attributes.get(name))
        return next((graph.outputs[behind:] for graph in graphs if graph.outputs[behind:]), "tensor(float)")

    return derive


def accumulate(v: Version, unchanging: Clause, scans: list[list[Array]], values: Sequence[Array]) -> None:
    """Add the values of an iteration to the scan outputs; `unchanging` forbids that shapes differ."""
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
    """Return the final states of a body, and for each of its other outputs the values of all iterations.

    Args:
        v: the version.
        body: takes states and elements, returns as many states and the values to be added up.
        states: before the first iteration.
        elements: of each iteration.
        same: forbids that states differ in shape.
        unchanging: forbids that the other outputs do.
    """
    count = len(states)
    scans: list[list[Array]] = [[] for _ in body.outputs]
    for element in elements:
        outputs = body(*states, *element)
        accumulate(v, same, scans[:count], outputs[:count])
        accumulate(v, unchanging, scans[count:], outputs[count:])
        states = outputs[:count]
    return states, scans[count:]
