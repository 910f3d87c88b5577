# SPDX-License-Identifier: Apache-2.0
"""The findings of a search, as lines on a terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.base.verdict import line
from onnx_conformance.search.freeze import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from onnx_conformance.search.property_search import Failure, Outcome

MOST_PASSING = 5


def failure(found: Failure) -> str:
    """Return a failure on one line: verdict, operators, and the reason."""
    result = found.result
    nodes = ", ".join(found.example.operators)
    form = f" as @{found.case.form}" if found.case.form != "plain" else ""
    message = result.message or f"expected {result.wanted}, actual {result.actual}"
    readings = f" (depends on {', '.join(result.readings)})" if result.readings else ""
    return line(f"{result.verdict}: {nodes}{form}: {line(message, 160)}{readings}")


def lines(
    outcome: Outcome, frozen: Mapping[int, tuple[Path, State]], folder: Path, backend: str, seed: int
) -> Iterator[str]:
    """Yield the summary: number of examples by kind, failures by cause, and suggested commands.

    Args:
        outcome: of the search.
        frozen: by index of a failure, the folder of its case, and its state.
        folder: the folder of the cases.
        backend: as the user named it.
        seed: of the search.
    """
    yield _counts(outcome, seed)
    for place, found in enumerate(outcome.failures):
        yield f"\n{failure(found)}"
        if found.result.clauses and found.example.plan is not None:
            yield f"  text  «{line(found.result.clauses[-1], 200)}»"
        where, state = frozen.get(place, (None, None))
        yield f"  {where} ({state})" if where else "  not written: the folder layout cannot express it"
    yield from _passing(outcome.passing)
    yield from (f"adapter error: {line(text, 200)}" for text in outcome.errors)
    states = Counter(str(state) for _, state in frozen.values())
    if outcome.failures and not states[State.NEW]:
        yield f"\nno new causes: each of these causes has a case in {folder} already"
    if frozen:
        yield f"\nonnx-conformance run --suite {folder} --backend {backend}"
    elif not outcome.failures:
        yield "no failures with a new cause"


def _counts(outcome: Outcome, seed: int) -> str:
    kinds = outcome.kinds
    verdicts: Counter[str] = Counter()
    for counts in outcome.verdicts.values():
        verdicts.update(counts)
    rows: list[list[str]] = [
        ["seed", str(seed)],
        ["drawn", f"{outcome.drawn:,}"],
        ["  valid", f"{kinds['values'] + kinds['property']:,}"],
        ["  invalid", f"{kinds['rejects']:,}"],
        ["  unspecified", f"{kinds['open']:,}"],
        ["  not a call of an operator", f"{kinds['no call']:,}"],
        ["run, including those that shrink failures", f"{outcome.asked:,}"],
        ["  " + ", ".join(f"{name} {count:,}" for name, count in verdicts.most_common()), ""],
        ["failures with a known cause", f"{outcome.seen:,}"],
        ["failures with distinct causes", f"{len(outcome.failures):,}"],
        ["seconds", f"{outcome.seconds:.0f}{', interrupted' if outcome.interrupted else ''}"],
    ]
    return tabulate(rows, tablefmt="plain", disable_numparse=True)


def _passing(passing: Sequence[Failure]) -> Iterator[str]:
    if passing:
        yield f"\n{len(passing)} failed only together with others, but passed in a new process, and are not kept:"
        yield from (f"  {failure(found)}" for found in passing[:MOST_PASSING])
