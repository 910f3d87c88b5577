# SPDX-License-Identifier: Apache-2.0
"""Which of the faults that all cases of an operator detect its core detects, too, and the cases that the core lacks."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.results.summary import FEW_CASES, rate
from tools.mutants import oracles, trial
from tools.mutants.measure import Measuring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from onnx_conformance.declare import Op
    from tools.mutants.faults import Fault
    from tools.mutants.measure import Ledger, Settings
    from tools.mutants.oracles import Unit
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
    return _Comparing(op, settings, ledger, (), progress).share()


class _Comparing(Measuring):
    """Measures the core first, then the other cases."""

    def share(self) -> Share:
        self.repeatable()
        core = oracles.core_of(self.op)
        faults = self.drawn()
        of_core = dict(self._results(faults, core))
        tried = [fault for fault in faults if of_core[fault.key].noticed is not None]
        missed = [fault for fault in tried if not of_core[fault.key].noticed]
        of_all = dict(self._results(missed, None))
        lacking = tuple((fault, of_all[fault.key]) for fault in missed if of_all[fault.key].noticed)
        return Share(self.op, len(tried), len(tried) - len(missed), lacking)

    def _results(self, faults: Sequence[Fault], wanted: frozenset[str] | None) -> Iterator[tuple[object, Result]]:
        """Yield the result of each fault by its key, for the cases with the wanted ids, or for all if None."""
        prefix = "all" if wanted is None else "core of all"
        keys = {fault.key: f"{self.op}:{self.oracles.digest}:{prefix}:{self.key(fault)}" for fault in faults}
        known = {fault.key: self.ledger.get(keys[fault.key]) for fault in faults}
        waiting = [fault for fault in faults if known[fault.key] is None]
        yield from ((key, result) for key, result in known.items() if result is not None)
        trials = (
            trial.Trial(self.install(fault), self.op, self._units(fault, wanted), wanted, self.settings.seconds)
            for fault in waiting
        )
        for done, (number, result) in enumerate(trial.run(trials, self.settings.jobs), len(faults) - len(waiting) + 1):
            fault = waiting[number]
            self.credit(result)
            words = {"operator": str(self.op), "file": fault.file, "function": fault.function, "line": fault.text}
            self.ledger.add(keys[fault.key], {**words, "fault": fault.words}, result)
            self.progress(done, len(faults))
            yield fault.key, result

    def _units(self, fault: Fault, wanted: frozenset[str] | None) -> tuple[Unit, ...]:
        """Return the units that run a fault, with the plans of the wanted cases only."""
        units = sorted(self.oracles.running(fault), key=self.likely)
        if wanted is None:
            return tuple(units)
        parts = (tuple(plan for plan in unit.plans if plan.id in wanted) for unit in units)
        return tuple(dataclasses.replace(unit, plans=plans) for unit, plans in zip(units, parts, strict=True) if plans)


def report(shares: Iterable[Share]) -> Iterator[str]:
    """Yield the cases that the core lacks with the faults that they detect, then the share of the core."""
    shares = list(shares)
    for item in shares:
        by_case: dict[str, list[Fault]] = {}
        for fault, result in item.lacking:
            by_case.setdefault(result.case, []).append(fault)
        for case, faults in by_case.items():
            yield f"{case}: not in the core, but detects:"
            yield from (f"  {fault.file}:{fault.line}: {fault.function}: {fault.words}" for fault in faults)
    core, lacking = sum(item.core for item in shares), sum(len(item.lacking) for item in shares)
    detected = core + lacking
    percent = f" ({rate(core, detected)})" if detected >= FEW_CASES else ""
    yield f"the core detects {core:,} of the {detected:,} faults that all cases detect{percent}"


def enough(shares: Iterable[Share]) -> bool:
    """Return whether the cores detect enough of the faults that all cases detect."""
    shares = list(shares)
    core, lacking = sum(item.core for item in shares), sum(len(item.lacking) for item in shares)
    return core >= LEAST * (core + lacking)
