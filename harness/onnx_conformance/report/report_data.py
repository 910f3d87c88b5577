# SPDX-License-Identifier: Apache-2.0
"""The data of a report: a run, its counts, and the status of each result at the gate."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx_conformance.base import under_test
from onnx_conformance.base.verdict import Result, Verdict, line
from onnx_conformance.gate.gate import Gate, GateStatus, status_of
from onnx_conformance.report import profile_rows
from onnx_conformance.results import sampling
from onnx_conformance.results.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.analysis.statement import Statement
    from onnx_conformance.case.case import Case
    from onnx_conformance.gate.expectations import Entry, Expectations
    from onnx_conformance.report.html.page import Contents
    from onnx_conformance.results.stream import Run

MOST_SHARED = 1000
"""Maximum number of statements about a backend in formats without a section for them."""
CUT_OFF = "This run was cut off; cases are missing."


@dataclass(frozen=True)
class CheckedResult:
    """A result compared with the expectations.

    Attributes:
        result: the result.
        status: its status at the gate; None: there are no expectations for this backend.
        entry: the entry of the expectations that applies to the case.
    """

    result: Result
    status: GateStatus | None = None
    entry: Entry | None = None

    @property
    def wrong(self) -> bool:
        """Whether it deviates from the expectations; without them, whether it is a failure or an adapter error.

        A failure that an exclusion of the profile accepts is neither.
        """
        if self.status is not None:
            return self.status is not GateStatus.MET
        if self.result.excluded:
            return False
        return self.result.verdict.failed or self.result.verdict is Verdict.ADAPTER_ERROR

    @property
    def accepted(self) -> bool:
        """Whether it is a failure that an entry of the expectations, or an exclusion of the profile, accepts."""
        return (self.status is GateStatus.MET and self.result.verdict.failed) or self.excluded

    @property
    def excluded(self) -> bool:
        """Whether it is a failure that only an exclusion of the profile accepts."""
        return bool(self.result.excluded) and self.entry is None

    @property
    def status_text(self) -> str:
        """Its status as a sentence; empty for a pass, and without expectations."""
        if self.accepted and self.entry is not None:
            places = ", ".join(filter(None, (self.entry.finding, self.entry.link)))
            link = f" ({places})" if places else ""
            return line(f"expected {self.result.verdict}: {self.entry.reason}{link}", 600)
        if self.excluded:
            return line(f"excluded {self.result.verdict}: {self.result.excluded}", 600)
        if self.status in {None, GateStatus.MET}:
            return self._profile_text
        expected = self.entry.verdict if self.entry else Verdict.PASS
        return f"{self.status}: expected {expected}, got {self.result.verdict}"

    @property
    def _profile_text(self) -> str:
        if self.result.override:
            return f"passed within an override: {line(self.result.override, 600)}"
        return f"exceeds a bound of the profile: {line(self.result.exceeded, 600)}" if self.result.exceeded else ""


@dataclass(frozen=True)
class ReportData:
    """A run that was read once. Each report that shows single results reads them again, one by one.

    Attributes:
        run: the results file.
        summary: its counts and groups of failures.
        gate: the finished gate; None: there are no expectations.
        accepted: (operator version, backend) -> number of expected failures.
        statements: conditions that failures share.
        note: why the statements are incomplete; empty: they are complete.
        references: case id -> the output of onnx.reference, for the examples.
        groups: maximum number of groups of failures shown for each backend; 0: all.
        other_runs: for the formats that show several.
        cases: of the suite, for the formats that show them; iterated once.
        missing: why there are no cases, as a sentence; empty: there are cases.
        contents: parts of a page that exist already; None: none.
    """

    run: Run
    summary: Summary
    gate: Gate | None = None
    accepted: Counter[tuple[str, str]] = field(default_factory=Counter)
    statements: Sequence[Statement] = ()
    note: str = ""
    references: Mapping[str, str] = field(default_factory=dict)
    groups: int = 0
    other_runs: tuple[Run, ...] = ()
    cases: Iterable[Case] = ()
    missing: str = ""
    contents: Contents | None = None

    def checked_results(self) -> Iterator[CheckedResult]:
        """Yield the results in the order of the file."""
        yield from _checked_results(self.run, self.gate)

    @property
    def backends(self) -> str:
        """The runtimes and their versions."""
        texts, labels = [], under_test.labels(self.run.header["backends"])
        for name, hello in self.run.header["backends"].items():
            sample = f" ({sampling.in_words(self.samples[name])})" if name in self.samples else ""
            texts.append(f"{labels[name]} {hello.get('version', '')}".strip() + sample)
        return line(", ".join(texts))

    @property
    def samples(self) -> dict[str, int]:
        """By sampled backend, n of its sample of 1 case in n."""
        return sampling.from_header(self.run.header)

    @property
    def not_isolated(self) -> list[str]:
        """The backends whose adapters are not part of this project, and which could read the expected values."""
        if self.run.header["arguments"].get("isolate"):
            return []
        return [name for name in self.run.header["backends"] if under_test.is_foreign(name)]

    @property
    def title(self) -> str:
        """The backends and the suite, on one line."""
        return line(f"{self.backends}: suite {self.run.header['suite'].get('name', '')}")

    @property
    def expected(self) -> str:
        """The number of expected failures, as a sentence; empty if no failure was expected."""
        count = self.accepted.total()
        return f"{count} of {self.summary.failed} failures are expected." if count else ""

    @property
    def counts(self) -> dict[str, Counter[Verdict]]:
        """The number of cases with each verdict, by backend; backends without results are included."""
        counts: dict[str, Counter[Verdict]] = {name: Counter() for name in self.run.header["backends"]}
        for (_, backend), counter in self.summary.counts.items():
            counts.setdefault(backend, Counter()).update(counter)
        return counts

    def shared(self, backend: str, operator: str = "") -> list[str]:
        """Return the statements about a backend's failures, one line each; for one operator, or for all."""
        return [
            line(f"{item.operator}: {item}", 600)
            for item in self.statements
            if item.backend == backend and operator in {"", item.operator}
        ][:MOST_SHARED]

    @property
    def faults(self) -> list[str]:
        """The faults of the run itself, one line each."""
        cut_off = [] if self.run.complete else [CUT_OFF]
        unreadable = [line(item.message, 1000) for item in self.run.unreadable]
        return cut_off + unreadable + [line(fault) for fault in (self.run.footer or {}).get("faults", ())]

    @property
    def remarks(self) -> list[str]:
        """Facts about the run that every format shows, one line each: its faults, its exclusions and overrides."""
        profiles = self.summary.profiles.items()
        return self.faults + [
            line(f"{name}: {text}", 4000) for name, use in profiles for text in profile_rows.sentences(use)
        ]


def read(run: Run, expected: Expectations | None = None, others: Iterable[Callable[[Result], None]] = ()) -> ReportData:
    """Read a run once and count it.

    Args:
        run: the results file.
        expected: the verdicts that the runtime's author currently accepts.
        others: functions that are also called with each result, to avoid reading the file again.

    Raises:
        ExpectationsError: the run cannot be compared with the file, or two of its entries contradict each other.
    """
    summary, accepted = Summary(run.header["backends"]), Counter[tuple[str, str]]()
    gate = Gate(expected, run.header) if expected else None
    callbacks = (summary.add, *others)
    for result in run.results():
        for callback in callbacks:
            callback(result)
        if gate is not None and gate.add(result) is GateStatus.MET and result.verdict.failed:
            accepted[result.operator, result.backend] += 1
    if gate is not None:
        gate.finish(complete=run.complete, unreadable=run.unreadable)
    return ReportData(run, summary, gate, accepted)


def _checked_results(run: Run, gate: Gate | None) -> Iterator[CheckedResult]:
    for result in run.results():
        if gate is None or result.backend != gate.expectations.backend:
            yield CheckedResult(result)
        else:
            entry = gate.entry(result)
            yield CheckedResult(result, status_of(entry, result), entry)


def seconds(result: Result) -> float:
    """Return the duration of a case in seconds; 0 if it was not measured."""
    time = result.seconds
    return float(time) if isinstance(time, int | float) and math.isfinite(time) and time >= 0 else 0.0


def moment(text: object) -> dt.datetime | None:
    """Return a time of the result stream in UTC; None if it has none."""
    try:
        return dt.datetime.fromisoformat(str(text)).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None
