# SPDX-License-Identifier: Apache-2.0
"""Measurement of the faults of one operator, one after another. Known results are not measured again."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.declare import DeclarationError
from onnx_conformance.generation.mutant_figures import Figures
from tools.mutants import oracles, trial
from tools.mutants.trial import Result, Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from onnx_conformance.declare import Clause, Op
    from tools.mutants.equivalent import Entry
    from tools.mutants.faults import Fault
    from tools.mutants.oracles import Oracles, Unit


class Ledger:
    """The results measured so far: a file of JSON lines, to which each result adds one."""

    def __init__(self, path: Path | None) -> None:
        """Read a file, if there is one. Results of incomplete lines are measured again.

        Raises:
            OSError: the file cannot be read or written.
        """
        self._results: dict[str, Result] = {}
        self._path = path
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text("utf-8", errors="replace") if path.exists() else ""
        for line in text.splitlines():
            self._read(line)
        if text and not text.endswith("\n"):  # The next line must not be appended to an incomplete one.
            self._append("")

    def _append(self, line: str) -> None:
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")

    def _read(self, line: str) -> None:
        try:
            record = json.loads(line)
            key, result = record["key"], Result(record["noticed"], record["case"], record["how"])
        except (ValueError, KeyError, TypeError):
            return
        if isinstance(key, str) and result.noticed in {True, False, None}:
            self._results[key] = result

    def get(self, key: str) -> Result | None:
        """Return a result by its key, or None."""
        return self._results.get(key)

    def add(self, key: str, words: Mapping[str, Any], result: Result) -> None:
        """Store a result; `words` describe its subject."""
        self._results[key] = result
        record = {"key": key, **words, "noticed": result.noticed, "case": result.case, "how": result.how}
        self._append(json.dumps(record, ensure_ascii=False))


@dataclass(frozen=True)
class Settings:
    """How faults are measured.

    Attributes:
        most: the maximum number of faults of an operator, chosen by a hash of their names; None for all.
        jobs: the number of parallel processes.
        seconds: the minimum limit of processor time for a declared case on a changed oracle, in seconds.
    """

    most: int | None = None
    jobs: int = 1
    seconds: float = trial.SECONDS


@dataclass(frozen=True)
class Measured:
    """The result of one operator.

    Attributes:
        op: the operator.
        figures: the counts.
        survivors: the faults that no case detects, and that no entry lists as equivalent.
        untouched: the clauses that cases cite, but whose faults no citing case detects.
        wrong: the entries of the list of equivalent faults that a case detects, with that case's id.
        matched: the entries that match a fault of the operator, whether it was measured or not.
    """

    op: Op
    figures: Figures
    survivors: tuple[Fault, ...]
    untouched: tuple[Clause, ...]
    wrong: tuple[tuple[Entry, str], ...]
    matched: frozenset[Entry]


def measure(
    op: Op,
    settings: Settings,
    ledger: Ledger,
    entries: Sequence[Entry] = (),
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Measured:
    """Measure the faults of an operator.

    Args:
        op: the operator.
        settings: how the faults are measured.
        ledger: the known results, to which new ones are added.
        entries: the list of equivalent faults.
        progress: called with the number of finished faults and their total number.

    Raises:
        DeclarationError: the cases of the operator differ when they are generated twice.
    """
    return Measuring(op, settings, ledger, entries, progress).result()


class Measuring:
    """The measurement of one operator."""

    def __init__(
        self, op: Op, settings: Settings, ledger: Ledger, entries: Sequence[Entry], progress: Callable[[int, int], None]
    ) -> None:
        """Run all cases of an operator; see `measure`."""
        self.op, self.settings, self.ledger, self.progress = op, settings, ledger, progress
        self.oracles: Oracles = oracles.look(op)
        self.live = oracles.live_functions(self.oracles.sources)
        self.entries = [entry for entry in entries if entry.is_of(str(op))]
        self.of_plan = {plan.id: unit for unit in self.oracles.units for plan in unit.plans}
        self.notices: Counter[int] = Counter()
        """The number of faults that each unit was the first to detect, by its place."""
        self.places = {id(unit): place for place, unit in enumerate(self.oracles.units)}
        self.by_name = {source.name: source for source in self.oracles.sources.values()}

    def result(self) -> Measured:
        """Measure the faults."""
        self.repeatable()
        drawn = self.drawn()
        results = dict(self.tried([(fault, None) for fault in drawn]))
        tried = [fault for fault in drawn if results[fault.key].noticed is not None]
        silent = [fault for fault in tried if not results[fault.key].noticed]
        survivors = [fault for fault in silent if not self._entries(fault)]
        wrong = [
            (entry, results[fault.key].case)
            for fault in tried
            if results[fault.key].noticed
            for entry in self._entries(fault)
            if entry.of_one
        ]
        untouched = tuple(self._untouched(results))
        figures = Figures(
            digest=self.oracles.digest,
            faults=len(self.oracles.faults) - (len(drawn) - len(tried)),
            tried=len(tried),
            noticed=len(tried) - len(silent),
            equivalent=len(silent) - len(survivors),
            surviving=len(survivors),
            untouched=len(untouched),
        )
        matched = frozenset(entry for fault in self.oracles.faults for entry in self._entries(fault))
        return Measured(self.op, figures, tuple(survivors), untouched, tuple(wrong), matched)

    def _entries(self, fault: Fault) -> list[Entry]:
        return [entry for entry in self.entries if entry.matches(fault)]

    def repeatable(self) -> None:
        """Raise DeclarationError if cases differ when they are generated twice, as they would detect every fault."""
        units = self.oracles.units
        for plan in (plan for unit in units for plan in unit.plans):
            list(plan.allowance.bounds or ())  # Computed now, as a faulty oracle would allow its own answer.
        [(_, result)] = trial.run([self._trial(lambda: True, units)], 1) if units else [(0, Result(noticed=False))]
        if result.noticed:
            raise DeclarationError(
                "case-not-deterministic", f"{result.case}: two generations of the case differ ({result.how})"
            )

    def drawn(self) -> list[Fault]:
        """Return the faults to measure. The choice depends only on the names of operator and fault."""
        faults = self.oracles.faults
        if self.settings.most is None or len(faults) <= self.settings.most:
            return list(faults)
        chosen = {fault.key for fault in sorted(faults, key=self._key)[: self.settings.most]}
        return [fault for fault in faults if fault.key in chosen]

    def _key(self, fault: Fault, clause: Clause | None = None) -> str:
        words = [str(self.op), *fault.key, *([clause.text] if clause else [])]
        return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:24]

    def _ledger_key(self, *parts: str, wanted: frozenset[str] | None = None) -> str:
        cases = "all" if wanted is None else hashlib.sha256("\n".join(sorted(wanted)).encode()).hexdigest()[:24]
        return ":".join([str(self.op), self.oracles.digest, cases, *parts])

    def _trial(self, install: Callable[[], bool], units: Sequence[Unit], wanted: frozenset[str] | None = None) -> Trial:
        return Trial(install, self.op, tuple(units), wanted, self.settings.seconds)

    def _install(self, fault: Fault) -> Callable[[], bool]:
        return trial.putting(fault, self.by_name[fault.file], self.op, self.live)

    def tried(
        self, requests: Sequence[tuple[Fault, Clause | None]], wanted: frozenset[str] | None = None
    ) -> Iterator[tuple[tuple[Any, ...], Result]]:
        """Yield the result of each fault by its key, for all cases that run it or only for those that cite a clause.

        Args:
            requests: the faults, each with the clause or None.
            wanted: only the cases with these ids; None for all.
        """
        waiting: list[tuple[Fault, str, Clause | None]] = []
        for fault, clause in requests:
            key = self._ledger_key(self._key(fault, clause), wanted=wanted)
            known = self.ledger.get(key)
            if known is None:
                waiting.append((fault, key, clause))
            else:
                self._credit(known)
                yield fault.key, known
        done = len(requests) - len(waiting)
        for number, result in trial.run(self._trials(waiting, wanted), self.settings.jobs):
            fault, key, clause = waiting[number]
            self._credit(result)
            words = {"operator": str(self.op), "file": fault.file, "function": fault.function, "line": fault.text}
            self.ledger.add(key, {**words, "fault": fault.words, **({"citing": clause.text} if clause else {})}, result)
            done += 1
            if clause is None:
                self.progress(done, len(requests))
            yield fault.key, result

    def _trials(
        self, waiting: Sequence[tuple[Fault, str, Clause | None]], wanted: frozenset[str] | None
    ) -> Iterator[Trial]:
        for fault, _, clause in waiting:
            units = self.oracles.running(fault)
            if clause is not None:
                units = [unit for unit in units if clause in unit.spec.clauses]
            units = sorted(units, key=self._likely)
            yield self._trial(self._install(fault), units if wanted is None else _of_cases(units, wanted), wanted)

    def _likely(self, unit: Unit) -> tuple[int, float]:
        """Return the sort key of a unit: units that were the first to detect many faults precede, then fast ones."""
        return -self.notices[self.places[id(unit)]], unit.seconds

    def _credit(self, result: Result) -> None:
        unit = self.of_plan.get(result.case)
        if result.noticed and unit is not None:
            self.notices[self.places[id(unit)]] += 1

    def _untouched(self, results: Mapping[tuple[Any, ...], Result]) -> Iterator[Clause]:
        """Yield the clauses that cases cite, but whose faults none of these cases detects."""
        cited: set[Clause] = set()
        for result in results.values():
            self._cite(result, cited)
        # If one case detects a fault, others probably do, too.
        order = sorted(self.oracles.faults, key=lambda fault: (fault.key not in results, self._key(fault)))
        for clause in self.op.clauses:
            units = [unit for unit in self.oracles.units if clause in unit.spec.clauses]
            if units and not any(map(_by_signature, units)) and not self._touched(clause, units, cited, order):
                yield clause

    def _touched(self, clause: Clause, units: Sequence[Unit], cited: set[Clause], order: Sequence[Fault]) -> bool:
        if clause in self.oracles.demanded:
            return self._demand(clause, units, negated=False) or self._demand(clause, units, negated=True)
        citing = set(map(id, units))
        requests = [(fault, clause) for fault in order if citing & self._running(fault)]
        for start in range(0, len(requests), self.settings.jobs):
            if clause in cited:
                break
            # Each batch is completed, so that each result has its line in the ledger.
            for _, result in self.tried(requests[start : start + self.settings.jobs]):
                self._cite(result, cited)
        return clause in cited

    def _cite(self, result: Result, cited: set[Clause]) -> None:
        """Add the clauses of the case that detects a fault."""
        unit = self.of_plan.get(result.case)
        if result.noticed and unit is not None:
            cited.update(unit.spec.clauses)

    @functools.cache  # noqa: B019 - the object exists only while its operator is measured
    def _running(self, fault: Fault) -> set[int]:
        return set(map(id, self.oracles.running(fault)))

    def _demand(self, clause: Clause, units: Sequence[Unit], *, negated: bool) -> bool:
        """Return whether a case that cites a clause detects that its demands are omitted, or negated."""
        words = "demand negated" if negated else "demand left out"
        key = self._ledger_key(words, hashlib.sha256(f"{clause.text}\0{clause.since}".encode()).hexdigest()[:24])
        result = self.ledger.get(key)
        if result is None:
            [(_, result)] = trial.run([self._trial(trial.demanding(clause, negated=negated), units)], 1)
            self.ledger.add(key, {"operator": str(self.op), "clause": clause.text, "fault": words}, result)
        return bool(result.noticed)


def _of_cases(units: Sequence[Unit], wanted: frozenset[str]) -> list[Unit]:
    """Return units with the plans of the wanted cases only, without those that have none."""
    parts = [tuple(plan for plan in unit.plans if plan.id in wanted) for unit in units]
    return [dataclasses.replace(unit, plans=plans) for unit, plans in zip(units, parts, strict=True) if plans]


def _by_signature(unit: Unit) -> bool:
    """Return whether the signature forbids a case; no oracle implements its clauses."""
    return any(plan.decided is not None and not plan.decided.operator for plan in unit.plans)
