# SPDX-License-Identifier: Apache-2.0
"""Which of the faults that all cases of an operator detect its core detects, too, and the cases that the core lacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.base.package import GENERATED
from onnx_conformance.generation import core, kept, manifest
from onnx_conformance.results.summary import FEW_CASES, rate
from tools.mutants import oracles
from tools.mutants.measure import Measuring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

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
    for case, faults in _by_case(shares).items():
        yield f"{case}: not in the core, but detects:"
        yield from (f"  {fault.file}:{fault.line}: {fault.function}: {fault.words}" for fault in faults)
    by_core, detected = _detected(shares)
    percent = f" ({rate(by_core, detected)})" if detected >= FEW_CASES else ""
    yield f"the core detects {by_core:,} of the {detected:,} faults that all cases detect{percent}"


def add(shares: Sequence[Share], every: Iterable[Op], folder: Path = GENERATED) -> tuple[Path, int, int]:
    """Add the cases that the core lacks to the file of kept cases: first those that detect the most faults.

    Args:
        shares: the measured operators.
        every: all operators.
        folder: the folder of the file.

    Returns:
        The file, the number of added cases, and the number of those for which the core has no room.

    Raises:
        KeptError: the file cannot be read or written.
    """
    entries = [entry for op in every for entry in manifest.entries(op) or ()]
    inside = {entry.id for entry in entries if entry.core}
    room = max(0, core.MOST - len(inside))
    by_case = _by_case(shares)
    # A case of the core may detect a fault only after other cases have run.
    lacking = sorted(by_case.keys() - inside, key=lambda case: (-len(by_case[case]), case))
    file = kept.add(lacking[:room], (entry.id for entry in entries), folder)
    return file, len(lacking[:room]), len(lacking[room:])


def enough(shares: Sequence[Share]) -> bool:
    """Return whether the cores detect enough of the faults that all cases detect."""
    by_core, detected = _detected(shares)
    return by_core >= LEAST * detected


def _by_case(shares: Sequence[Share]) -> dict[str, list[Fault]]:
    """Return the cases that the cores lack, each with the faults that it detects."""
    by_case: dict[str, list[Fault]] = {}
    for item in shares:
        for fault, result in item.lacking:
            by_case.setdefault(result.case, []).append(fault)
    return by_case


def _detected(shares: Sequence[Share]) -> tuple[int, int]:
    """Return how many faults the cores detect, and how many all cases detect."""
    by_core = sum(item.core for item in shares)
    return by_core, by_core + sum(len(item.lacking) for item in shares)
