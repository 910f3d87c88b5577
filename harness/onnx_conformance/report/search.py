"""What a search found, as lines on a terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.base.verdict import line
from onnx_conformance.search.freeze import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from onnx_conformance.search.search import Failure, Outcome

MOST_PASSING = 5


def failure(found: Failure) -> str:
    """Return a failure in one line: what fails how, and why that is a failure."""
    result = found.result
    nodes = ", ".join(found.example.operators)
    form = f" as @{found.case.form}" if found.case.form != "plain" else ""
    said = result.message or f"{result.wanted} expected, {result.actual} given"
    rests = f" (rests on {', '.join(result.readings)})" if result.readings else ""
    return line(f"{result.verdict}: {nodes}{form}: {line(said, 160)}{rests}")


def lines(
    outcome: Outcome, frozen: Mapping[int, tuple[Path, State]], folder: Path, backend: str, seed: int
) -> Iterator[str]:
    """Yield the summary: how many examples of which kind, the failures by cause, and commands to type next.

    Args:
        outcome: of the search.
        frozen: by place in its failures, the folder of the case, and what became of it.
        folder: that the cases are in.
        backend: as the user named it.
        seed: of the search.
    """
    yield _counts(outcome, seed)
    for place, found in enumerate(outcome.failures):
        yield f"\n{failure(found)}"
        if found.result.clauses and found.example.plan is not None:
            yield f"  text  «{line(found.result.clauses[-1], 200)}»"
        where, state = frozen.get(place, (None, None))
        yield f"  {where} ({state})" if where else "  not written: the layout cannot express it"
    yield from _passing(outcome.passing)
    yield from (f"adapter error: {line(text, 200)}" for text in outcome.errors)
    states = Counter(str(state) for _, state in frozen.values())
    if outcome.failures and not states[State.NEW]:
        yield f"\nnothing new: each of these causes has its case in {folder}"
    if frozen:
        yield f"\nonnx-conformance run --suite {folder} --backend {backend}"
    elif not outcome.failures:
        yield "no failure of a new cause"


def _counts(outcome: Outcome, seed: int) -> str:
    kinds = outcome.kinds
    verdicts: Counter[str] = Counter()
    for counts in outcome.verdicts.values():
        verdicts.update(counts)
    rows: list[list[str]] = [
        ["seed", str(seed)],
        ["drawn", f"{outcome.drawn:,}"],
        ["  valid", f"{kinds['values'] + kinds['property']:,}"],
        ["  forbidden by the text", f"{kinds['rejects']:,}"],
        ["  left open by the text", f"{kinds['open']:,}"],
        ["  no call of any operator", f"{kinds['no call']:,}"],
        ["asked, those that shrink failures too", f"{outcome.asked:,}"],
        ["  " + ", ".join(f"{name} {count:,}" for name, count in verdicts.most_common()), ""],
        ["failures by a cause that is known", f"{outcome.seen:,}"],
        ["failures of distinct causes", f"{len(outcome.failures):,}"],
        ["seconds", f"{outcome.seconds:.0f}{', interrupted' if outcome.interrupted else ''}"],
    ]
    return tabulate(rows, tablefmt="plain", disable_numparse=True)


def _passing(passing: Sequence[Failure]) -> Iterator[str]:
    if passing:
        yield f"\n{len(passing)} failed only among others, not in a process of their own, and are not kept:"
        yield from (f"  {failure(found)}" for found in passing[:MOST_PASSING])
