# SPDX-License-Identifier: Apache-2.0
"""Drawing of valid calls whose smallest draws are small calls, so that hypothesis alone shrinks them.

`search` leaves the last steps of shrinking to `minimize`, which runs a backend. A test with `@given` has no backend.
So a valid call is drawn in two steps: first a call as in `search`, then simplifications of it. The simplest draw of
each simplification applies it, so hypothesis tries all of them on a failing call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from onnx_conformance.case.case import Outcome
from onnx_conformance.declare import Graph, NoAnswer, ValueOf
from onnx_conformance.minimize.declared_candidate import PLANNING_SECONDS
from onnx_conformance.search.calls import MOST_CHANGES, base, changed, with_size
from onnx_conformance.search.examples import size
from onnx_conformance.search.grammar import MOST_EXPECTED, NoCallError, decided
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.generation.deliveries import Plan
    from onnx_conformance.minimize.declared_candidate import DeclaredCandidate
    from onnx_conformance.search.grammar import Source

Draw = Callable[[st.SearchStrategy[Any]], Any]
ODDS = 9
"""The largest number drawn for a simplification. Only the lowest numbers simplify, so most drawn calls stay large."""


def valid_call(draw: Draw, source: Source) -> tuple[DeclaredCandidate, Plan] | None:
    """Draw a call whose outputs the text defines, and its plan; None if a declared call cannot be used.

    Args:
        draw: the function of hypothesis that draws from a strategy.
        source: the operator version, with at least one declared call that has an answer.
    """
    candidate = base(draw, source, valid=True)
    planned = None if candidate is None else _planned(candidate)
    if candidate is None or planned is None:
        return None
    best = candidate, planned
    for _ in range(MOST_CHANGES):
        if not draw(st.integers(0, 2)):
            break
        best = _accepted(changed(draw, source, best[0])) or best
    return _simplified(draw, source, best)


def has_valid_call(source: Source) -> bool:
    """Return whether the text defines the outputs of a declared call; they are not random."""
    declared = (source.candidate(spec, {}) for spec in source.calls[: source.valid])
    return any(item is not None and _planned(item) is not None for item in declared)


def _planned(candidate: DeclaredCandidate) -> Plan | None:
    """Return the plan of a call; None unless the text defines its outputs."""
    try:
        planned = decided(candidate.op, candidate.version, candidate.spec, candidate.types, PLANNING_SECONDS)
    except (NoCallError, NoAnswer):
        return None
    return planned if planned.outcome is Outcome.VALUES and size(planned.expected) <= MOST_EXPECTED else None


def _accepted(candidate: DeclaredCandidate) -> tuple[DeclaredCandidate, Plan] | None:
    planned = _planned(candidate)
    return None if planned is None else (candidate, planned)


def _simplified(draw: Draw, source: Source, best: tuple[DeclaredCandidate, Plan]) -> tuple[DeclaredCandidate, Plan]:
    """Return a call, with the drawn simplifications that keep it valid."""
    has_graph = any(isinstance(value, Graph) for value in best[0].spec.arguments.values())
    names = sorted(_omissible(best[0]))
    sizes = {length for leaf in best[0].leaves() if leaf.tensor for length in leaf.array.shape}
    for name in names:
        if not draw(st.integers(0, ODDS)):
            rest = {key: value for key, value in best[0].spec.arguments.items() if key != name}
            best = _accepted(best[0].with_spec(arguments=rest)) or best
    for length in sorted(sizes if not has_graph else (), reverse=True):  # A subgraph declares shapes.
        if (to := 1 + draw(st.integers(0, ODDS))) < length and to <= 2:  # noqa: PLR2004 - 1 and 2 are small
            best = next(filter(None, _resized(source, best[0], length, to)), best)
    for leaf in best[0].leaves():
        if leaf.tensor and (value := draw(st.integers(0, ODDS))) <= 1:
            text = leaf.array.dtype.kind == "O"
            filled = np.full(leaf.array.shape, ("", "a")[value] if text else value, leaf.array.dtype)
            best = _accepted(best[0].with_values({leaf.path: filled})) or best
    return best


def _resized(
    source: Source, candidate: DeclaredCandidate, length: int, to: int
) -> Iterator[tuple[DeclaredCandidate, Plan] | None]:
    for named in (True, False):
        yield _accepted(with_size(source, candidate, length, to, named=named))


def _omissible(candidate: DeclaredCandidate) -> Iterator[str]:
    """Yield the names of the arguments that a call need not have."""
    for name, value in candidate.spec.arguments.items():
        item = candidate.version.arguments.get(name)
        if value is None or item is None or isinstance(value, ValueOf | Graph):
            continue
        if item.optional if isinstance(item, schema.Parameter) else not item.required:
            yield name
