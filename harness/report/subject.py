"""What a report speaks of: a run, its counts, and how each result stands to what its runtime's author accepts."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.gate.gate import Gate, GateStatus, status_of
from harness.results import sampling
from harness.results.summary import Summary
from harness.verdict import Result, Verdict, line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from harness.analysis.statement import Statement
    from harness.case.case import Case
    from harness.gate.expectations import Entry, Expectations
    from harness.report.html.page import Contents
    from harness.results.stream import Run

MOST_SHARED = 1000
"""Statements of a backend that a format without room of its own for them tells."""
CUT_OFF = "This run was cut off; cases are missing."


@dataclass(frozen=True)
class Held:
    """A result, and how it stands to what is expected of it.

    Attributes:
        result: what became of the case.
        standing: None where nobody said what is expected.
        entry: of the expectations, that decides on it.
    """

    result: Result
    standing: GateStatus | None = None
    entry: Entry | None = None

    @property
    def wrong(self) -> bool:
        """Whether somebody is to act: it is news at the gate; without one, a failure or a fault of the adapter."""
        if self.standing is not None:
            return self.standing is not GateStatus.MET
        return self.result.verdict.failed or self.result.verdict is Verdict.ADAPTER_ERROR

    @property
    def accepted(self) -> bool:
        """Whether it is a failure that the expectations have an entry for."""
        return self.standing is GateStatus.MET and self.result.verdict.failed

    @property
    def said(self) -> str:
        """How it stands, as a sentence; empty where there is nothing to say."""
        if self.accepted and self.entry is not None:
            link = f" ({self.entry.link})" if self.entry.link else ""
            return line(f"expected {self.result.verdict}: {self.entry.reason}{link}", 600)
        if self.standing in {None, GateStatus.MET}:
            return ""
        expected = self.entry.verdict if self.entry else Verdict.PASS
        return f"{self.standing}: expected {expected}, got {self.result.verdict}"


@dataclass(frozen=True)
class Subject:
    """A run that was read once; its results are read again, one by one, by each report that shows them.

    Attributes:
        run: the results file.
        summary: its counts and groups of failures.
        gate: what it was held against, finished; None: nobody said what is expected.
        accepted: (operator version, backend) -> how many failures are expected.
        statements: what failures share.
        note: why less is known of what they share than could be; empty where all is.
        references: case id -> what onnx.reference gave for it, for the examples.
        groups: how many groups of failures of each backend are shown where not all fit; 0: all.
        beside: other runs, for the formats that show several.
        cases: what the suite of the runs is made of, as far as it is told of; read once.
        missing: why there are no such cases, for a person; empty where there are.
        contents: what of a page was made already; None: nothing.
    """

    run: Run
    summary: Summary
    gate: Gate | None = None
    accepted: Counter[tuple[str, str]] = field(default_factory=Counter)
    statements: Sequence[Statement] = ()
    note: str = ""
    references: Mapping[str, str] = field(default_factory=dict)
    groups: int = 0
    beside: tuple[Run, ...] = ()
    cases: Iterable[Case] = ()
    missing: str = ""
    contents: Contents | None = None

    def held(self) -> Iterator[Held]:
        """Yield the results in the order of the file."""
        yield from _held(self.run, self.gate)

    @property
    def backends(self) -> str:
        """The runtimes and their versions."""
        said, part = self.run.header["backends"].items(), self.samples
        names = ((name, f"{name} {known.get('version', '')}".strip()) for name, known in said)
        return line(
            ", ".join(f"{told} ({sampling.in_words(part[name])})" if name in part else told for name, told in names)
        )

    @property
    def samples(self) -> dict[str, int]:
        """By backend, n of the 1 case in n that it was asked, where that is not all."""
        return sampling.from_header(self.run.header)

    @property
    def title(self) -> str:
        """One line that says what was run."""
        return line(f"{self.backends}: suite {self.run.header['suite'].get('name', '')}")

    @property
    def expected(self) -> str:
        """How many failures are expected, as a sentence; empty where none is."""
        count = self.accepted.total()
        return f"{count} of {self.summary.failed} failures are expected." if count else ""

    @property
    def counts(self) -> dict[str, Counter[Verdict]]:
        """The verdicts of each backend, also of one that gave none."""
        counts: dict[str, Counter[Verdict]] = {name: Counter() for name in self.run.header["backends"]}
        for (_, backend), counter in self.summary.counts.items():
            counts.setdefault(backend, Counter()).update(counter)
        return counts

    def shared(self, backend: str, operator: str = "") -> list[str]:
        """Return what failures of a backend share, one line each; of one operator, or of all."""
        return [
            line(f"{item.operator}: {item}", 600)
            for item in self.statements
            if item.backend == backend and operator in {"", item.operator}
        ][:MOST_SHARED]

    @property
    def faults(self) -> list[str]:
        """What went wrong without being any case's result, one line each."""
        told = [] if self.run.complete else [CUT_OFF]
        told += [line(item.message, 1000) for item in self.run.unreadable]
        return told + [line(fault) for fault in (self.run.footer or {}).get("faults", ())]


def read(run: Run, expected: Expectations | None = None, others: Iterable[Callable[[Result], None]] = ()) -> Subject:
    """Read a run once and count it.

    Args:
        run: the results file.
        expected: what the runtime's author accepts for now.
        others: called with each result as well, so that the file is not read again for them.

    Raises:
        ExpectationsError: the run cannot be held against the file, or two of its entries contradict each other.
    """
    summary, accepted = Summary(), Counter[tuple[str, str]]()
    gate = Gate(expected, run.header) if expected else None
    takers = (summary.add, *others)
    for result in run.results():
        for take in takers:
            take(result)
        if gate is not None and gate.add(result) is GateStatus.MET and result.verdict.failed:
            accepted[result.operator, result.backend] += 1
    if gate is not None:
        gate.finish(complete=run.complete, unreadable=run.unreadable)
    return Subject(run, summary, gate, accepted)


def _held(run: Run, gate: Gate | None) -> Iterator[Held]:
    for result in run.results():
        if gate is None or result.backend != gate.expectations.backend:
            yield Held(result)
        else:
            entry = gate.entry(result)
            yield Held(result, status_of(entry, result), entry)


def seconds(result: Result) -> float:
    """Return how long a case took, 0 where nobody measured it."""
    given = result.seconds
    return float(given) if isinstance(given, int | float) and math.isfinite(given) and given >= 0 else 0.0


def moment(text: object) -> dt.datetime | None:
    """Return a time of the result stream in UTC; None where there is none."""
    try:
        return dt.datetime.fromisoformat(str(text)).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None
