"""A finding: one distinct fault of one runtime."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.minimize.cause import masked
from onnx_conformance.minimize.passes import guilt
from onnx_conformance.specification import links

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST_IDS = 20
"""Ids of cases that a finding keeps."""

SCRIPTS = "scripts"
"""The folder of scripts, in that of the findings."""
MOST_SAID = 240
"""Characters of the end of a script's output that are kept."""

GRAVITY = (
    Verdict.CRASH,
    Verdict.INVALID_MODEL, Verdict.WRONG_VALUE, Verdict.WRONG_COUNT,
    Verdict.WRONG_TYPE, Verdict.WRONG_SHAPE,
    Verdict.TIMEOUT,
    Verdict.REFUSED,
    Verdict.ACCEPTED_INVALID,
)  # fmt: skip
"""The kinds of findings, the gravest first: a crash, a wrong answer in silence, a wrong type or shape, a hang, ..."""
OPEN, FIXED, BACK = "open", "fixed", "back"
"""States: the fault is there; it is gone; it was gone, and is there again."""


@dataclass(frozen=True)
class Identity:
    """What tells one fault from another: two findings with one identity are the same finding.

    Attributes:
        backend: what was tested.
        operator: without a version, ai.onnx/Split.
        kind: the verdict of its cases.
        cause: a digest of what the smallest case shows of the cause.
        apart: why it is not counted; empty: it is.
    """

    backend: str
    operator: str
    kind: Verdict
    cause: str
    apart: str = ""

    @property
    def but_for_the_cause(self) -> tuple[str, str, Verdict, str]:
        """All but the cause."""
        return self.backend, self.operator, self.kind, self.apart


@dataclass(frozen=True)
class FailingCases:
    """The cases that fail by one fault.

    Attributes:
        count: how many cases there are.
        ids: of some of them.
        conditions: what they share and passing ones have not; empty: every case.
        clause, force: the sentence that they break, and how strongly that forbids, where it forbids.
        versions, types, forms: their operator versions, element types and forms.
    """

    count: int
    ids: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    clause: str = ""
    force: str = ""
    versions: tuple[int, ...] = ()
    types: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Example:
    """The smallest case of a finding.

    Attributes:
        case: its id.
        model: in ONNX's text syntax.
        inputs: by name, as text.
        expected: by output, as text; empty where the text forbids the model.
        given: by output, as text; empty where there was no answer. Of a tool, what the oracle gives to `made`.
        message: of the harness or the runtime, in one line.
        made: the model that a tool made, in ONNX's text syntax; empty: none.
        guilty: of an optimizer, the fewest of its passes with which it fails; empty where that is not known.
        others: what other runtimes answer to it: `backend`, `version`, `verdict`, `given`.
    """

    case: str
    model: str
    inputs: Mapping[str, str]
    expected: Mapping[str, str]
    given: Mapping[str, str]
    message: str
    made: str = ""
    guilty: tuple[str, ...] = ()
    others: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True)
class History:
    """What became of a finding from run to run.

    Attributes:
        runtime, version: the runtime, and its version in which the finding was seen last.
        state: one of OPEN, FIXED and BACK.
        events: `version`, `date` and `state`, where the state changed.
        confirmed: when the script was run last: `date`, `version`, `exit`, and the end of its output, `said`.
        since: `failing` and `passing`: the versions of the runtime in which the script was run.
        issue: link to the runtime's own issue, where somebody has added one.
    """

    runtime: str
    version: str
    state: str = OPEN
    events: tuple[Mapping[str, str], ...] = ()
    confirmed: Mapping[str, Any] = field(default_factory=dict)
    since: Mapping[str, Sequence[str]] = field(default_factory=dict)
    issue: str = ""


@dataclass(frozen=True)
class Finding:
    """One distinct fault of one runtime.

    Attributes:
        id: never changes.
        title: what is expected and what came.
        identity: what tells it from other findings.
        cases: those that fail.
        example: the smallest of them.
        history: what became of it from run to run.
        related: ids of findings that look like the same fault in other operators.
    """

    id: str
    title: str
    identity: Identity
    cases: FailingCases
    example: Example
    history: History
    related: tuple[str, ...] = ()

    @property
    def script(self) -> str:
        """The file of its script, relative to the folder of the findings."""
        return f"{SCRIPTS}/{self.id}.py"

    @property
    def link(self) -> str:
        """The address of the text of its operator, in the newest of its versions; empty where it has no version."""
        versions = self.cases.versions
        return links.place(f"{self.identity.operator}/{versions[-1]}") if versions else ""

    @property
    def guilt(self) -> str:
        """The passes that are guilty, in one line; empty where that is not known."""
        return guilt(self.example.guilty)

    @property
    def counted(self) -> bool:
        """Whether it counts: it is there, and not apart."""
        return not self.identity.apart and self.history.state != FIXED

    @property
    def rank(self) -> tuple[bool, int, int, str]:
        """The sort key: those that are there before those that are gone, the gravest first, then by number of cases."""
        return self.history.state == FIXED, GRAVITY.index(self.identity.kind), -self.cases.count, self.id


def causes(findings: Iterable[Finding]) -> int:
    """Return how many findings there are when those of several operators that look like one fault count once."""
    seen: set[str] = set()
    count = 0
    for item in findings:
        count += item.id not in seen
        seen.update((item.id, *item.related))
    return count


@dataclass(frozen=True)
class Findings:
    """The findings of a folder.

    Attributes:
        suite: name and digest of the suite whose cases they are of.
        runtimes: by backend, name, version and onnx of the runtime that was tested last.
        findings: those that count, and those that are apart.
        scripts: by id, the text of the script.
    """

    suite: Mapping[str, str]
    runtimes: Mapping[str, Mapping[str, str]]
    findings: tuple[Finding, ...]
    scripts: Mapping[str, str] = field(default_factory=dict)

    @property
    def counted(self) -> list[Finding]:
        """Those that count, the gravest first."""
        return sorted((item for item in self.findings if not item.identity.apart), key=lambda item: item.rank)

    @property
    def apart(self) -> list[Finding]:
        """Those that rest on a reading, an erratum or the like."""
        return sorted((item for item in self.findings if item.identity.apart), key=lambda item: item.rank)

    def of(self, backend: str) -> list[Finding]:
        """Return those of a backend that count, the gravest first."""
        return [item for item in self.counted if item.identity.backend == backend]


def relate(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, each with those of other operators of its runtime that look like the same fault.

    They have the same kind, and the same guilty passes, where those are known; else the same message but for numbers
    and names; of wrong answers, the same conditions.
    """
    groups: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    listed = list(findings)
    for item in listed:
        message, own = _without_names(item), item.identity
        key: tuple[object, ...] = (own.backend, own.kind, own.apart, () if message else item.cases.conditions, message)
        if item.example.guilty:
            key = (own.backend, own.kind, own.apart, item.example.guilty)
        if item.example.guilty or message or item.cases.conditions:
            groups[key].append(item)
    by_id = {
        item.id: tuple(other.id for other in group if other.identity.operator != item.identity.operator)
        for group in groups.values()
        for item in group
    }
    return [dataclasses.replace(item, related=by_id.get(item.id, ())) for item in listed]


def _without_names(finding: Finding) -> str:
    """Return the message of a refusal without what differs by operator; empty where nothing is left of it."""
    if finding.identity.kind is not Verdict.REFUSED:
        return ""
    name = finding.identity.operator.rpartition("/")[2]
    return masked(finding.example.message).replace(name, "#").strip("# :.")
