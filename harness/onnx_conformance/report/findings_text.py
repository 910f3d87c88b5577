"""Findings as Markdown, the README of their folder, and as lines on a terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.base.verdict import line
from onnx_conformance.findings.finding import FIXED, KINDS, OPEN, causes
from onnx_conformance.report import provenance
from onnx_conformance.report.markup import plain
from onnx_conformance.report.provenance import Shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onnx_conformance.findings.finding import Finding, Findings

GRAVEST = 10
"""Maximum number of findings of each runtime on a terminal."""
MOST_DROPPED = 5


def lines(findings: Findings, dropped: Sequence[tuple[str, str, str, str]]) -> Iterator[str]:
    """Yield the lines for a terminal: counts by runtime and kind, then the most severe findings.

    Args:
        findings: of the folder.
        dropped: groups of failures that are no findings: backend, operator, kind, and the reason.
    """
    yield _table(findings, "simple")
    yield from (f"\n{sentence}" for sentence in _differences(findings))
    for backend in sorted(findings.runtimes):
        own = [item for item in findings.of(backend) if item.history.state != FIXED]
        if own:
            yield f"\n{_name(findings, backend)}: the most severe of {len(own)}"
            yield from (_lines(item) for item in own[:GRAVEST])
    if dropped:
        yield f"\n{len(dropped)} groups of failures are no findings, because no script reproduces them:"
        yield from (
            f"  {backend} {operator} {kind}: {line(why, 160)}"
            for backend, operator, kind, why in dropped[:MOST_DROPPED]
        )


def _lines(finding: Finding) -> str:
    guilty = f"\n      {line(finding.guilt, 160)}" if finding.example.guilty else ""
    return f"  {finding.identity.kind}  {line(finding.title, 160)}{guilty}\n      {finding.script}"


def markdown(findings: Findings) -> str:
    """Return the README of a folder of findings."""
    return "".join(_markdown(findings))


def _markdown(findings: Findings) -> Iterator[str]:
    yield "# Findings\n\n"
    yield (
        "Distinct faults of runtimes, most severe first. Each has the sentence of the specification that it violates, "
        "its smallest case, and a script that needs only onnx, numpy and the runtime. The script exits with 1 while "
        "the fault exists, and with 0 when it is fixed. `findings.json` contains all data. A finding concerns one "
        "operator; *causes* counts findings of several operators once if they have the same message or the same "
        "conditions.\n\n"
    )
    yield f"{_table(findings, 'github')}\n"
    yield from (f"\n{plain(sentence, 2000)}\n" for sentence in _differences(findings))
    for backend in sorted(findings.runtimes):
        own = findings.of(backend)
        if not own:
            continue
        yield f"\n## {_name(findings, backend)}\n\n"
        yield from (_item(item) for item in own)
    if findings.apart:
        yield "\n## Not counted\n\n"
        yield "Failures that depend on a reading, on a sentence that was reworded later, or on rounding.\n\n"
        for item in findings.apart:
            identity = item.identity
            yield (
                f"- {_name(findings, identity.backend)}, {identity.kind}: [{plain(item.title)}]({item.script}): "
                f"{plain(identity.apart)}\n"
            )


def _differences(findings: Findings) -> list[str]:
    """Return a sentence that names the runtimes by version of the suite, if their findings are of several."""
    return provenance.of_suites(
        Shown(backend, findings.runtimes[backend].get("version", ""), findings.suite.get("name", ""), digest)
        for digest, backends in findings.digests.items()
        for backend in backends
    )


def _item(finding: Finding) -> str:
    """Return a finding as an item of a list."""
    state = f" ({finding.history.state})" if finding.history.state != OPEN else ""
    text = f" «{plain(finding.cases.clause)}»" if finding.cases.clause else ""
    versions, count = ", ".join(map(str, finding.cases.versions)), finding.cases.count
    issue = f" [issue]({finding.history.issue})" if finding.history.issue.startswith("https://") else ""
    guilty = f", {plain(finding.guilt)}" if finding.example.guilty else ""
    return (
        f"- **{finding.identity.kind}**{state} [{plain(finding.title)}]({finding.script}){text} "
        f"({count:,} {'case' if count == 1 else 'cases'}, version {versions}){guilty}{issue}\n"
    )


def _name(findings: Findings, backend: str) -> str:
    runtime = findings.runtimes.get(backend, {})
    return line(f"{runtime.get('runtime') or backend} {runtime.get('version', '')}", 120)


def _table(findings: Findings, style: str) -> str:
    """Return the counts of the findings that are not fixed, by runtime and kind."""
    counts: Counter[tuple[str, str]] = Counter()
    for item in _there(findings.counted):
        counts[item.identity.backend, str(item.identity.kind)] += 1
    aside = Counter(item.identity.backend for item in findings.apart)
    kinds = [str(kind) for kind in KINDS if any(name == kind for _, name in counts)]
    backends = sorted(findings.runtimes)
    rows = [
        [
            _name(findings, backend),
            sum(counts[backend, kind] for kind in kinds),
            causes(_there(findings.of(backend))),
            *(counts[backend, kind] or "" for kind in kinds),
            aside[backend] or "",
        ]
        for backend in backends
    ]
    total = [
        "all",
        sum(counts.values()),
        sum(causes(_there(findings.of(backend))) for backend in backends),
        *(sum(counts[name, kind] for name in backends) for kind in kinds),
        aside.total(),
    ]
    return tabulate([*rows, total], ["runtime", "findings", "causes", *kinds, "not counted"], tablefmt=style)


def _there(findings: Iterable[Finding]) -> list[Finding]:
    return [item for item in findings if item.history.state != FIXED]
