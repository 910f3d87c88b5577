# SPDX-License-Identifier: Apache-2.0
"""A finding: one distinct fault of one runtime."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.printing import guilt
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.results.severity import LOWEST, Severity
from onnx_conformance.specification import links

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST_IDS = 20
"""Maximum number of case ids in a finding."""

TEN = 10
"""Number of root causes that open the findings of a runtime."""
SCRIPTS = "scripts"
"""The folder of the scripts, in the folder of the findings."""
MOST_SAID = 120
"""The number of characters at the end of a script's output that are kept."""

GRAVITY = (
    Verdict.INVALID_MODEL, Verdict.WRONG_VALUE, Verdict.WRONG_COUNT,
    Verdict.WRONG_TYPE, Verdict.WRONG_SHAPE,
    Verdict.CRASH, Verdict.TIMEOUT,
    Verdict.REFUSED,
    Verdict.DECLINED, Verdict.FALLBACK,
    Verdict.ACCEPTED_INVALID,
)  # fmt: skip
"""The kinds of findings of equally ordinary calls, the most severe first: silent faults precede crashes."""
KINDS = (*GRAVITY, Verdict.UNSUPPORTED)
"""All kinds of findings. The last is a version gap: a version is not supported, although an earlier one is."""
OPEN, FIXED, BACK = "open", "fixed", "back"
"""The states of a finding: the fault is there; it is gone; it was gone, and is there again."""
ANSWERS = ("accepted", "fixed", "disputed", "declined")
"""The answers of authors to a report. A dispute that convinces makes its cases `unspecified`, with the link."""


@dataclass(frozen=True)
class Identity:
    """The properties that distinguish faults: two findings with one identity are the same finding.

    Attributes:
        backend: the tested backend.
        operator: without a version, ai.onnx/Split.
        kind: the verdict of its cases.
        cause: a digest of the properties of the smallest case that show the cause.
        apart: why it is not counted; empty: it is.
    """

    backend: str
    operator: str
    kind: Verdict
    cause: str
    apart: str = ""

    @property
    def of_any_reason(self) -> tuple[str, str, Verdict, str]:
        """All but the reason why it is not counted."""
        return self.backend, self.operator, self.kind, self.cause

    @property
    def but_for_the_cause(self) -> tuple[str, str, Verdict, str]:
        """All but the cause."""
        return self.backend, self.operator, self.kind, self.apart


@dataclass(frozen=True)
class FailingCases:
    """The cases that fail by one fault.

    Attributes:
        count: the number of cases.
        ids: the ids of some of them.
        conditions: the traits that they share and passing cases lack; empty if all cases fail.
        clause, force: the sentence that they violate; and its force, if it forbids the model.
        chosen: the date on which a reader chose the sentence, as 2026-12-01; empty: the rules chose it.
        versions, types, forms: their operator versions, element types and forms.
    """

    count: int
    ids: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    clause: str = ""
    force: str = ""
    chosen: str = ""
    versions: tuple[int, ...] = ()
    types: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Example:
    """The smallest case of a finding.

    Attributes:
        case: the id of the case.
        model: the model in ONNX's text syntax.
        inputs: the inputs by name, as text.
        expected: the expected value of each output, as text; empty if the text forbids the model.
        given: the actual value of each output, as text; empty if there was no answer. For a tool, the values that the
            oracle computes for `made`.
        message: the message of the harness or the runtime, in one line.
        made: the model that a tool returned, in ONNX's text syntax; empty if it returned no model.
        guilty: the smallest set of passes of an optimizer that shows the fault; empty if it is not known.
        others: the answers of other runtimes to the case: `backend`, `version`, `verdict`, `given`.
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
    """The state of a finding from run to run.

    Attributes:
        runtime, version: the runtime, and the latest version in which the fault was seen.
        state: one of OPEN, FIXED and BACK.
        events: the changes of the state: `version`, `date` and `state`.
        confirmed: the last run of the script: `date`, `version`, `exit`, and the end of its output, `said`.
        since: the versions of the runtime on which the script was run, as `failing` and `passing`.
        issue: the link to the issue of the runtime, if somebody added one.
        reported: `link` and `date` of the report of this finding to the authors of the runtime; empty: not reported.
        answered: their answer: `state`, one of ANSWERS, and optionally `version`, `reason`, `link` and `date`.
    """

    runtime: str
    version: str
    state: str = OPEN
    events: tuple[Mapping[str, str], ...] = ()
    confirmed: Mapping[str, Any] = field(default_factory=dict)
    since: Mapping[str, Sequence[str]] = field(default_factory=dict)
    issue: str = ""
    reported: Mapping[str, str] = field(default_factory=dict)
    answered: Mapping[str, str] = field(default_factory=dict)

    @property
    def links(self) -> dict[str, Any]:
        """The members that show that the authors of the runtime know the finding, by name."""
        return {"issue": self.issue, "reported": self.reported, "answered": self.answered}


@dataclass(frozen=True)
class Finding:
    """One distinct fault of one runtime.

    Attributes:
        id: the id, which never changes.
        title: the actual behaviour and the expected one.
        identity: the properties that distinguish it from other findings.
        cases: the failing cases.
        example: the smallest of them.
        history: the state of the fault from run to run.
        severity: how likely users meet it.
        related: ids of the other findings with the same root cause; see `findings.causes`.
    """

    id: str
    title: str
    identity: Identity
    cases: FailingCases
    example: Example
    history: History
    severity: Severity = LOWEST
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
        """The guilty passes, in one line; empty if they are not known."""
        return guilt(self.example.guilty)

    @property
    def counted(self) -> bool:
        """Whether it counts: the fault is there, and `apart` is empty."""
        return not self.identity.apart and self.history.state != FIXED

    @property
    def known(self) -> bool:
        """Whether the authors of the runtime know it: it has a link to an issue or a report, or an answer."""
        return any(self.history.links.values())

    @property
    def rank(self) -> tuple[bool, tuple[int, int, bool, int, int], int, int, str]:
        """The sort key: present faults before fixed ones, then by severity, kind and number of cases."""
        kind = self.identity.kind
        fixed = self.history.state == FIXED
        return fixed, self.severity.key(kind), KINDS.index(kind), -self.cases.count, self.id


def by_cause(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return findings by root cause, the most severe cause first; the first finding of each is its most severe one."""
    ranked = sorted(findings, key=lambda item: item.rank)
    present = {item.id: item for item in ranked}
    groups: list[list[Finding]] = []
    seen: set[str] = set()
    for item in ranked:
        if item.id not in seen:
            ids = {item.id, *item.related}
            groups.append([other for other in ranked if other.id in ids] if len(ids) > 1 else [item])
            seen |= ids & present.keys()
    return groups


def causes(findings: Iterable[Finding]) -> int:
    """Return the number of root causes of some findings."""
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
        suite: the name and digest of the suite of the cases.
        runtimes: for each backend, the name, version and onnx version of the runtime that was tested last; `suite` is
            the digest of the suite of that test, if it is not the one of `suite`.
        findings: the findings, including those that are not counted.
        scripts: the text of the script of each finding, by id.
    """

    suite: Mapping[str, str]
    runtimes: Mapping[str, Mapping[str, str]]
    findings: tuple[Finding, ...]
    scripts: Mapping[str, str] = field(default_factory=dict)

    @property
    def counted(self) -> list[Finding]:
        """The counted findings, with the most severe first."""
        return sorted((item for item in self.findings if not item.identity.apart), key=lambda item: item.rank)

    @property
    def apart(self) -> list[Finding]:
        """The findings that are not counted, for example because they rest on a reading or an erratum."""
        return sorted((item for item in self.findings if item.identity.apart), key=lambda item: item.rank)

    def version_of(self, backend: str) -> str:
        """Return the version of a runtime that its findings are of; empty if it is unknown."""
        if backend in self.runtimes:
            return self.runtimes[backend].get("version", "")
        return next((item.history.version for item in self.counted if item.identity.backend == backend), "")

    def digest_of(self, backend: str) -> str:
        """Return the digest of the suite that the findings of a runtime are of."""
        return self.runtimes.get(backend, {}).get("suite") or self.suite.get("digest", "")

    @property
    def digests(self) -> dict[str, list[str]]:
        """The digests of the suite that the findings are of, each with its backends."""
        by_digest: dict[str, list[str]] = {}
        for backend in sorted(self.runtimes):
            by_digest.setdefault(self.digest_of(backend), []).append(backend)
        return by_digest

    def of(self, backend: str) -> list[Finding]:
        """Return the counted findings of a backend, with the most severe first."""
        return [item for item in self.counted if item.identity.backend == backend]
