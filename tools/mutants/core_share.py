# SPDX-License-Identifier: Apache-2.0
"""Which of the faults that all cases of an operator detect its core detects, too, and the cases that the core lacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.results.summary import FEW_CASES, rate
from tools.mutants import oracles
from tools.mutants.measure import Measuring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from onnx_conformance.declare import Op
    from tools.mutants.faults import Fault
    from tools.mutants.measure import Ledger, Settings
    from tools.mutants.trial import Result

LEAST = 0.99
"""The least part of the detected faults that the core detects, too."""


@dataclass(frozen=True)
class Share:
    """The faults of one operator that its core detects.

    Attributes:
        op: the operator.
        tried: the number of faults that change the compiled code.
        core: the number of those that a case of the core detects.
        lacking: the other faults that a case detects, each with the result of that case.
    """

    op: Op
    tried: int
    core: int
    lacking: tuple[tuple[Fault, Result], ...]


def share(
    op: Op, settings: Settings, ledger: Ledger, progress: Callable[[int, int], None] = lambda _done, _all: None
) -> Share:
    """Try the faults of an operator on its core, and those that the core does not detect on its other cases.

    Args:
        op: the operator.
        settings: how the faults are measured.
        ledger: the known results, to which new ones are added.
        progress: called with the number of finished faults and their total number.

    Raises:
        DeclarationError: the cases of the operator differ when they are generated twice.
    """
    measuring = Measuring(op, settings, ledger, (), progress)
    measuring.repeatable()
    faults = measuring.drawn()
    of_core = dict(measuring.tried([(fault, None) for fault in faults], oracles.core_of(op)))
    tried = [fault for fault in faults if of_core[fault.key].noticed is not None]
    missed = [fault for fault in tried if not of_core[fault.key].noticed]
    of_all = dict(measuring.tried([(fault, None) for fault in missed]))
    lacking = tuple((fault, of_all[fault.key]) for fault in missed if of_all[fault.key].noticed)
    return Share(op, len(tried), len(tried) - len(missed), lacking)


def report(shares: Sequence[Share]) -> Iterator[str]:
    """Yield the cases that the core lacks with the faults that they detect, then the share of the core."""
    for item in shares:
        by_case: dict[str, list[Fault]] = {}
        for fault, result in item.lacking:
            by_case.setdefault(result.case, []).append(fault)
        for case, faults in by_case.items():
            yield f"{case}: not in the core, but detects:"
            yield from (f"  {fault.file}:{fault.line}: {fault.function}: {fault.words}" for fault in faults)
    core, detected = _detected(shares)
    percent = f" ({rate(core, detected)})" if detected >= FEW_CASES else ""
    yield f"the core detects {core:,} of the {detected:,} faults that all cases detect{percent}"


def enough(shares: Sequence[Share]) -> bool:
    """Return whether the cores detect enough of the faults that all cases detect."""
    core, detected = _detected(shares)
    return core >= LEAST * detected


def _detected(shares: Sequence[Share]) -> tuple[int, int]:
    """Return how many faults the cores detect, and how many all cases detect."""
    core = sum(item.core for item in shares)
    return core, core + sum(len(item.lacking) for item in shares)
