"""A finding: one distinct fault of one runtime."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.minimize.cause import masked
from onnx_conformance.minimize.passes import guilt

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
    """

    case: str
    model: str
    inputs: Mapping[str, str]
    expected: Mapping[str, str]
    given: Mapping[str, str]
    message: str
    made: str = ""


@dataclass(frozen=True)
class Finding:
    """One distinct fault of one runtime.

    Attributes:
        id: never changes.
        backend, runtime, version: what was tested; the version in which it was seen last.
        operator: without a version, ai.onnx/Split.
        kind: the verdict of its cases.
        title: what is expected and what came.
        conditions: what its cases share and passing ones have not; empty: every case.
        clause, force: the sentence that its cases break, and how strongly that forbids, where it forbids.
        link: to the text of the operator.
        versions, types, forms: of its cases.
        count: how many cases there are.
        ids: of some of them.
        example: the smallest case.
        cause: what is compared to find out whether two findings are one.
        confirmed: when the script was run last: `date`, `version`, `exit`, and the end of its output, `said`.
        others: what other runtimes answer to the smallest case: `backend`, `version`, `verdict`, `given`.
        since: `failing` and `passing`: the versions of the runtime in which the script was run.
        state: one of OPEN, FIXED and BACK.
        history: `version`, `date` and `state`, where that changed.
        issue: link to the runtime's own issue, where somebody has added one.
        related: ids of findings that look like the same fault in other operators.
        apart: why it is not counted; empty: it is.
        guilty: of an optimizer, the fewest of its passes with which it is there; empty where that is not known.
    """

    id: str
    backend: str
    runtime: str
    version: str
    operator: str
    kind: Verdict
    title: str
    conditions: tuple[str, ...]
    clause: str
    force: str
    link: str
    versions: tuple[int, ...]
    types: tuple[str, ...]
    forms: tuple[str, ...]
    count: int
    ids: tuple[str, ...]
    example: Example
    cause: str
    confirmed: Mapping[str, Any] = field(default_factory=dict)
    others: tuple[Mapping[str, str], ...] = ()
    since: Mapping[str, Sequence[str]] = field(default_factory=dict)
    state: str = OPEN
    history: tuple[Mapping[str, str], ...] = ()
    issue: str = ""
    related: tuple[str, ...] = ()
    apart: str = ""
    guilty: tuple[str, ...] = ()

    @property
    def script(self) -> str:
        """The file of its script, relative to the folder of the findings."""
        return f"{SCRIPTS}/{self.id}.py"

    @property
    def guilt(self) -> str:
        """The passes that are guilty, in one line; empty where that is not known."""
        return guilt(self.guilty)

    @property
    def counted(self) -> bool:
        """Whether it counts: it is there, and not apart."""
        return not self.apart and self.state != FIXED

    @property
    def rank(self) -> tuple[bool, int, int, str]:
        """The sort key: those that are there before those that are gone, the gravest first, then by number of cases."""
        return self.state == FIXED, GRAVITY.index(self.kind), -self.count, self.id


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
        return sorted((item for item in self.findings if not item.apart), key=lambda item: item.rank)

    @property
    def apart(self) -> list[Finding]:
        """Those that rest on a reading, an erratum or the like."""
        return sorted((item for item in self.findings if item.apart), key=lambda item: item.rank)

    def of(self, backend: str) -> list[Finding]:
        """Return those of a backend that count, the gravest first."""
        return [item for item in self.counted if item.backend == backend]


def relate(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, each with those of other operators of its runtime that look like the same fault.

    They have the same kind, and the same guilty passes, where those are known; else the same message but for numbers
    and names; of wrong answers, the same conditions.
    """
    groups: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    listed = list(findings)
    for item in listed:
        message = _without_names(item)
        key: tuple[object, ...] = (item.backend, item.kind, item.apart, () if message else item.conditions, message)
        if item.guilty:
            key = (item.backend, item.kind, item.apart, item.guilty)
        if item.guilty or message or item.conditions:
            groups[key].append(item)
    by_id = {
        item.id: tuple(other.id for other in group if other.operator != item.operator)
        for group in groups.values()
        for item in group
    }
    return [dataclasses.replace(item, related=by_id.get(item.id, ())) for item in listed]


def _without_names(finding: Finding) -> str:
    """Return the message of a refusal without what differs by operator; empty where nothing is left of it."""
    if finding.kind is not Verdict.REFUSED:
        return ""
    name = finding.operator.rpartition("/")[2]
    return masked(finding.example.message).replace(name, "#").strip("# :.")
