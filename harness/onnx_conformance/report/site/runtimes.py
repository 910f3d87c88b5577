# SPDX-License-Identifier: Apache-2.0
"""The runtimes of several runs: which columns are versions of one runtime, and which runtimes may be ranked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.base import under_test
from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.verdict import line
from onnx_conformance.report.html.verdict_styles import ABSENT
from onnx_conformance.report.provenance import age
from onnx_conformance.results import sampling

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from onnx_conformance.report.html.table import Column, Table
    from onnx_conformance.results.stream import Run

    Bools = np.ndarray[Any, np.dtype[np.bool_]]
    Bytes = np.ndarray[Any, np.dtype[np.uint8]]

LEAST_OPERATORS = 90
"""A run is ranked only if it has this percentage of the operator versions of the widest run."""


@dataclass(frozen=True)
class Tested:
    """One version of a runtime in one run.

    Attributes:
        place: number of the column in its table.
        version: reported by the runtime; may be empty.
        date: date of the run, YYYY-MM-DD.
        sample: n of a sample of 1 case in n; 1: all cases.
        complete: whether the run was not cut off.
        cases: number of results.
        operators: number of operator versions with results.
        digest: digest of the suite.
    """

    place: int
    version: str
    date: str
    sample: int
    complete: bool
    cases: int
    operators: int
    digest: str


@dataclass(frozen=True)
class Runtime:
    """A runtime, or one option of a tool.

    Attributes:
        name: name of its backend, with the option, without the version; unique.
        slug: for the name of its file; unique.
        runtime: its reported name.
        subject: a runtime, or a kind of tool.
        main: the newest version.
        history: one run of each version, oldest first; the last one is `main`.
        left_out: why its results cannot be compared with those of others; empty: they can.
        evaluator: whether it is an evaluator of the specification, which is shown for comparison only.
        doubled: names of the files whose results are replaced by another run of the same version.
    """

    name: str
    slug: str
    runtime: str
    subject: Subject
    main: Tested
    history: tuple[Tested, ...]
    left_out: str
    evaluator: bool = False
    doubled: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Its name and version."""
        return f"{self.name} {self.main.version}".strip()

    @property
    def ranked(self) -> bool:
        """Whether it is ranked; tools and evaluators never are."""
        return self.subject is Subject.RUNTIME and not self.left_out and not self.evaluator

    @property
    def compared(self) -> bool:
        """Whether it is shown below the ranking, for comparison."""
        return self.subject is Subject.RUNTIME and not self.left_out and self.evaluator

    @property
    def unranked(self) -> str:
        """Why it is not ranked, to follow "not ranked: "; empty: it is ranked."""
        return self.left_out or (
            "it evaluates the specification, and is shown for comparison" if self.evaluator else ""
        )


def slugs(names: Iterable[str]) -> dict[str, str]:
    """Return a file name for each name: plain characters, and unique on file systems that ignore case."""
    taken: set[str] = {""}
    by_name: dict[str, str] = {}
    for name in names:
        base = slug = re.sub(r"[^A-Za-z0-9_-]+", ".", name.removeprefix("ai.onnx/")).strip(".")[:80]
        number = 1
        while slug.lower() in taken:
            number += 1
            slug = f"{base or 'x'}.{number}"
        taken.add(slug.lower())
        by_name[name] = slug
    return by_name


def verdicts(table: Table, places: Sequence[int]) -> Bytes:
    """Return the numbers of the verdicts: a row for each column of the table, an element for each case."""
    rows = [np.frombuffer(bytes(table.columns[place].verdicts), np.uint8) for place in places]
    return np.stack(rows) if rows else np.zeros((0, len(table)), np.uint8)


def of_table(table: Table) -> tuple[Runtime, ...]:
    """Return the runtimes and tools of a table, in the order of their names."""
    groups: dict[tuple[str, str], list[Tested]] = {}
    operator = np.asarray(table.operator, np.int64)
    for place, column in enumerate(table.columns):
        key = under_test.unversioned(column.backend), line(column.hello.get("runtime", ""), 80)
        groups.setdefault(key, []).append(_tested(table, place, operator))
    subjects = {key: under_test.subject(table.columns[group[-1].place].hello) for key, group in groups.items()}
    widest = max(
        (it.operators for key, group in groups.items() if subjects[key] is Subject.RUNTIME for it in group), default=0
    )
    names = _names(groups)
    by_name = slugs(names.values())
    runtimes = []
    for key, group in groups.items():
        history = _history(group)
        main = history[-1]
        doubled = {item.place for item in group} - {item.place for item in history}
        runtimes.append(
            Runtime(
                name=names[key],
                slug=by_name[names[key]],
                runtime=key[1],
                subject=subjects[key],
                main=main,
                history=history,
                left_out=_left_out(main, widest if subjects[key] is Subject.RUNTIME else 0),
                evaluator=under_test.is_evaluator(key[0], table.columns[main.place].hello),
                doubled=tuple(line(_run(table, table.columns[place]).path.name, 80) for place in sorted(doubled)),
            )
        )
    return tuple(sorted(runtimes, key=lambda item: item.name.lower()))


def common(rows: Bytes) -> Bools:
    """Return by case whether every row has a result; always false without rows."""
    here: Bools = (rows != ABSENT).all(axis=0) if len(rows) else np.zeros(rows.shape[1], np.bool_)
    return here


def _run(table: Table, column: Column) -> Run:
    return table.runs[column.run]


def _tested(table: Table, place: int, operator: np.ndarray[Any, Any]) -> Tested:
    column = table.columns[place]
    run = _run(table, column)
    here = np.frombuffer(bytes(column.verdicts), np.uint8) != ABSENT
    return Tested(
        place=place,
        version=line(column.hello.get("version", ""), 40),
        date=line(run.header.get("started", ""), 40)[:10],
        sample=sampling.from_header(run.header).get(column.backend, 1),
        complete=run.complete,
        cases=int(here.sum()),
        operators=len(np.unique(operator[here])),
        digest=line(run.header["suite"].get("digest", ""), 80),
    )


def _names(groups: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return a unique name for each runtime: that of its backend, with the runtime's name if two backends share it."""
    stems = [name for name, _ in groups]
    names: dict[tuple[str, str], str] = {}
    for name, runtime in groups:
        shown = base = line(name if stems.count(name) == 1 else f"{name} ({runtime})", 80) or "?"
        number = 1
        while shown in names.values():
            number += 1
            shown = f"{base} [{number}]"
        names[name, runtime] = shown
    return names


def _history(group: Iterable[Tested]) -> tuple[Tested, ...]:
    """Return one run of each version, oldest first. If there are several, the widest is chosen, then the latest."""
    best: dict[str, Tested] = {}
    for item in sorted(group, key=lambda item: (item.complete, -item.sample, item.operators, item.date)):
        best[item.version] = item
    return tuple(sorted(best.values(), key=lambda item: age(item.version)))


def _left_out(main: Tested, widest: int) -> str:
    if not main.cases:
        return "the run has no results"
    if main.sample > 1:
        return f"a sample of {sampling.in_words(main.sample)}"
    if not main.complete:
        return "the run was cut off"
    if main.operators * 100 < widest * LEAST_OPERATORS:
        return f"the run has {main.operators:,} of {widest:,} operator versions"
    return ""
