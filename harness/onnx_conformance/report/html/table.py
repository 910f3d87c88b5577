# SPDX-License-Identifier: Apache-2.0
"""Runs side by side: a row for each case, a column for each backend of each run."""

from __future__ import annotations

import contextlib
import itertools
import math
from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_conformance.base import under_test
from onnx_conformance.base.signature import signature
from onnx_conformance.base.verdict import MAX_MESSAGE, WRONG, Verdict, clean, line, natural
from onnx_conformance.report.html.verdict_styles import ABSENT, NUMBER, ORDER
from onnx_conformance.results import sampling
from onnx_conformance.results.errata import erratum
from onnx_conformance.results.profile_use import ProfileUse

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.analysis.statement import Statement
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.results.stream import Run

MOST_ID = 600
MOST_GROUPS = 5000
TEXTS = (("error", MAX_MESSAGE), ("expected", 4000), ("actual", 4000), ("stderr", 4000))
"""The long texts of a result, and the maximum number of characters shown of each."""
BY_SENTENCE = WRONG | {Verdict.ACCEPTED_INVALID, Verdict.CRASH}
"""Verdicts of failures that `signature` groups by sentence; other failures are grouped by message."""


class Names:
    """Numbers texts in order of appearance."""

    def __init__(self) -> None:
        """Start empty."""
        self._numbers: dict[Any, int] = {}
        self._raw: dict[Any, int] = {}

    def of(self, raw: Any, write: Callable[[Any], Any]) -> int:  # noqa: ANN401 - as a file has it
        """Return the number of `write(raw)`, which is called once for each `raw`, because many cases share one."""
        number = self._raw.get(raw)
        if number is None:
            number = self._raw[raw] = self(write(raw))
        return number

    def __call__(self, name: Any) -> int:  # noqa: ANN401 - texts, or tuples of numbers
        """Return the number of a text."""
        return self._numbers.setdefault(name, len(self._numbers))

    def __iter__(self) -> Any:  # noqa: ANN401
        """Yield the texts by number."""
        return iter(self._numbers)

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._numbers)


@dataclass
class Column:
    """A backend of a run.

    Attributes:
        backend: as the user named it.
        run: the number of the run.
        hello: its description in the header.
        label: unique among the columns.
        verdicts: by case, the number of the verdict.
        messages: by case, the number of the message; -1: none.
        times: by case, its duration in milliseconds; NaN: not measured.
        details: by case, its other texts and its mismatch.
        groups: the cases of failures by `signature`, as in Summary.
        profile: the number of results that depend on its profile.
    """

    backend: str
    run: int
    hello: Mapping[str, Any]
    label: str = ""
    verdicts: bytearray = field(default_factory=bytearray)
    messages: array[int] = field(default_factory=lambda: array("i"))
    times: array[float] = field(default_factory=lambda: array("d"))
    details: dict[int, dict[str, Any]] = field(default_factory=dict)
    groups: dict[tuple[str, ...], list[int]] = field(default_factory=dict)
    profile: ProfileUse = field(default_factory=ProfileUse)


class Table:
    """The results of one or several runs.

    Attributes:
        runs: the runs, in the order of the arguments.
        columns: every backend of every run.
        ids, operator, type, form, tags, clauses, outcome: by case; all except ids are numbers of names.
    """

    def __init__(self, runs: Sequence[Run] = ()) -> None:
        """Read all results of the runs.

        Raises:
            ResultsError: a file is damaged.
        """
        self.runs: tuple[Run, ...] = ()
        self.columns: list[Column] = []
        self.ids: list[str] = []
        self.operators, self.types, self.forms = Names(), Names(), Names()
        self.outcomes, self.tag_names, self.tag_sets = Names(), Names(), Names()
        self.sentences, self.clause_sets, self.message_texts = Names(), Names(), Names()
        self.operator, self.type, self.form, self.outcome, self.tags, self.clauses = (array("i") for _ in range(6))
        self._cases: dict[str, int] = {}
        self._shown: set[str] = set()
        for run in runs:
            with self.taking(run) as add:
                for result in run.results():
                    add(result)

    @contextlib.contextmanager
    def taking(self, run: Run) -> Iterator[Callable[[Result], None]]:
        """Add a run: the context's value is a function to call with each of its results."""
        number = len(self.runs)
        self.runs += (run,)
        columns = {
            backend: Column(backend, number, hello if isinstance(hello, dict) else {})
            for backend, hello in run.header["backends"].items()
        }

        def add(result: Result) -> None:
            if result.backend not in columns:
                columns[result.backend] = Column(result.backend, number, {})
            self._add(columns[result.backend], result)

        yield add
        reference = run.header["arguments"].get("reference")
        self.columns += [column for name, column in columns.items() if column.verdicts or name != reference]
        for column in self.columns:
            self._reach(column)
        _label(self.columns, self.runs)

    def __len__(self) -> int:
        """Return the number of cases."""
        return len(self.ids)

    def number_of(self, case: str) -> int | None:
        """Return the number of a case by its id."""
        return self._cases.get(case)

    @property
    def cases(self) -> Collection[str]:
        """The ids of the cases, unchanged from the results, by number."""
        return self._cases.keys()

    def pairs(self) -> list[tuple[int, int]]:
        """Return the columns to compare, before and after: those of one backend in exactly two runs."""
        if len(self.runs) != 2:  # noqa: PLR2004 - two runs are compared, and no others
            return []
        places = [(place, column) for place, column in enumerate(self.columns)]
        return [
            (before, after)
            for (before, old), (after, new) in itertools.combinations(places, 2)
            if old.run != new.run and old.backend == new.backend
        ]

    def order(self) -> list[int]:
        """Return the numbers of the cases by operator, version, and order of their results."""
        names = [_natural(name) for name in self.operators]
        return sorted(range(len(self)), key=lambda case: (names[self.operator[case]], case))

    def counts(self) -> dict[tuple[int, int], Counter[int]]:
        """Return the number of cases with each verdict, by operator and column."""
        counts: dict[tuple[int, int], Counter[int]] = {}
        for place, column in enumerate(self.columns):
            for operator, verdict in zip(self.operator, column.verdicts, strict=True):
                if verdict != ABSENT:
                    counts.setdefault((operator, place), Counter())[verdict] += 1
        return counts

    def groups(self, statements: Iterable[Statement]) -> list[dict[str, Any]]:
        """Return groups of failures: the statements, then the failures by sentence or message."""
        by_name = {column.backend: place for place, column in enumerate(self.columns)}
        groups: list[dict[str, Any]] = [
            {
                "kind": "statement",
                "column": by_name[statement.backend],
                "operator": clean(statement.operator, MOST_ID),
                "verdict": NUMBER[statement.verdict],
                "says": line(statement, 1000),
                "conditions": [line(condition) for condition in statement.conditions],
                "cases": [number for case in statement.cases if (number := self.number_of(case)) is not None],
            }
            for statement in statements
            if statement.backend in by_name
        ]
        for place, column in enumerate(self.columns):
            shared = sorted(column.groups.items(), key=lambda item: -len(item[1]))[:MOST_GROUPS]
            groups += [
                {
                    "kind": "shared",
                    "column": place,
                    "operator": clean(key[1], MOST_ID),
                    "verdict": column.verdicts[cases[0]],
                    "sentences": ORDER[column.verdicts[cases[0]]] in BY_SENTENCE,
                    "cases": cases,
                }
                for key, cases in shared
            ]
        return groups

    def _add(self, column: Column, result: Result) -> None:
        case = self._case(result)
        self._reach(column)
        column.verdicts[case] = NUMBER[result.verdict]
        if isinstance(result.seconds, int | float):
            column.times[case] = round(result.seconds * 1000, 1)
        column.messages[case] = self._message(result)
        column.profile.add(result)
        details: dict[str, Any] = {name: clean(text, limit) for name, limit in TEXTS if (text := getattr(result, name))}
        if result.signal:
            details["signal"] = line(result.signal)
        if result.mismatch:
            details["mismatch"] = _cleaned(result.mismatch)
        details["erratum"] = erratum(result, str(column.hello.get("onnx", "")))
        if result.attempts:
            details["attempts"] = line(result.attempts, 1000)
        details = {key: value for key, value in details.items() if value not in ("", {})}
        if details or case in column.details:  # A file may have two results for one case: the last one counts.
            column.details[case] = details
        if (result.verdict.failed and not result.excluded) or result.verdict is Verdict.ADAPTER_ERROR:
            column.groups.setdefault(signature(result), []).append(case)

    def _message(self, result: Result) -> int:
        parts = [result.error, result.message]
        parts += [f"(excluded: {result.excluded})"] if result.excluded else []
        parts += [f"(passed within an override: {result.override})"] if result.override else []
        parts += [f"(exceeds a bound of the profile: {result.exceeded})"] if result.exceeded else []
        text = clean(": ".join(filter(None, parts)))
        return self.message_texts(text) if text else -1

    def _case(self, result: Result) -> int:
        number = self._cases.get(result.case)
        if number is not None:
            return number
        number = self._cases[result.case] = len(self.ids)
        self.ids.append(self._written(result.case))
        self.operator.append(self.operators.of(result.operator, _short))
        self.type.append(self.types.of(result.element_type, _short))
        self.form.append(self.forms.of(result.form, _short))
        self.outcome.append(self.outcomes.of(result.outcome, _short))
        self.tags.append(self.tag_sets.of(result.tags, self._tags))
        self.clauses.append(self.clause_sets.of(result.clauses, self._clauses))
        return number

    def _tags(self, tags: Sequence[str]) -> tuple[int, ...]:
        return tuple(self.tag_names.of(tag, _short) for tag in tags)

    def _clauses(self, clauses: Sequence[str]) -> tuple[int, ...]:
        return tuple(self.sentences.of(clause, clean) for clause in clauses)

    def _written(self, case: str) -> str:
        """Return a case's id, cleaned and still unique."""
        written = base = clean(case, MOST_ID)
        for copy in itertools.count(2):
            if written not in self._shown:
                break
            written = f"{base} ({copy})"
        self._shown.add(written)
        return written

    def _reach(self, column: Column) -> None:
        """Extend a column to the length of the table."""
        missing = len(self) - len(column.verdicts)
        if not missing:
            return
        column.verdicts.extend([ABSENT] * missing)
        column.messages.extend([-1] * missing)
        column.times.extend([math.nan] * missing)


def _short(text: object) -> str:
    return clean(text, MOST_ID)


def _cleaned(mismatch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a mismatch that have the right type, with cleaned texts."""
    cleaned: dict[str, Any] = {}
    for key in ("where", "expected", "actual"):
        if isinstance(mismatch.get(key), str):
            cleaned[key] = clean(mismatch[key], 1000)
    for key in ("wanted", "given"):
        if isinstance(mismatch.get(key), list | tuple):
            cleaned[key] = [clean(item, 100) for item in mismatch[key][:64]]
    for key in ("differing", "total", "start", "ulp", "absolute", "relative"):
        if isinstance(mismatch.get(key), int | float):
            cleaned[key] = mismatch[key]
    for key in ("first", "worst", "shape", "differs"):
        value = mismatch.get(key)
        if isinstance(value, list | tuple) and all(isinstance(item, int) for item in value):
            cleaned[key] = list(value[:64])
    return cleaned


def _natural(operator: str) -> tuple[bool, str, int, str]:
    """Return the sort key of operators: ONNX's own domain first, versions as numbers."""
    return not operator.startswith("ai.onnx/"), *natural(operator), operator


def _label(columns: Sequence[Column], runs: Sequence[Run]) -> None:
    """Give each column the shortest unique label: the backend, with its version, the file, or a number."""
    labels = [under_test.labels(run.header["backends"]) for run in runs]
    named = [
        (
            line(labels[column.run].get(column.backend, column.backend), 80) or "?",
            line(column.hello.get("version", ""), 40),
            line(runs[column.run].path.name, 80),
        )
        for column in columns
    ]
    for index, (column, (name, version, file)) in enumerate(zip(columns, named, strict=True)):
        others = named[:index] + named[index + 1 :]
        sampled = sampling.from_header(runs[column.run].header).get(column.backend, 1)
        part = f", {sampling.in_words(sampled)}" if sampled > 1 else ""
        column.label = f"{name}{part}"
        if any(name == other[0] for other in others):
            column.label = f"{name} {version}".strip() + part
            if any((name, version) == other[:2] for other in others):
                column.label += f" ({file})"
            if (name, version, file) in others:
                column.label += f" [{index + 1}]"


def versioned(column: Column) -> str:
    """Return the runtime of a column: its reported name and version."""
    return line(f"{column.hello.get('runtime', column.backend)} {column.hello.get('version', '')}", 120)
