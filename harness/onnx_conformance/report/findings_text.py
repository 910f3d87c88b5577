# SPDX-License-Identifier: Apache-2.0
"""Findings as Markdown, the README of their folder, and as lines on a terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.base.verdict import line
from onnx_conformance.findings.finding import FIXED, KINDS, OPEN, TEN, by_cause, causes
from onnx_conformance.report import provenance
from onnx_conformance.report.markup import plain
from onnx_conformance.report.provenance import Shown
from onnx_conformance.results.severity import Nature

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onnx_conformance.findings.finding import Finding, Findings

MOST_OTHERS = 8
"""Maximum number of further findings that an entry of one root cause names."""
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
        causes_ = by_cause(_there(findings.of(backend)))
        if causes_:
            yield f"\n{_name(findings, backend)}: the {min(TEN, len(causes_))} that matter, of {len(causes_)} causes"
            yield from (_lines(group) for group in causes_[:TEN])
    if dropped:
        yield f"\n{len(dropped)} groups of failures are no findings, because no script reproduces them:"
        yield from (
            f"  {backend} {operator} {kind}: {line(why, 160)}"
            for backend, operator, kind, why in dropped[:MOST_DROPPED]
        )


def _lines(group: Sequence[Finding]) -> str:
    """Return the lines of one root cause."""
    first = group[0]
    guilty = f"\n      {line(first.guilt, 160)}" if first.example.guilty else ""
    more = f"; {len(group) - 1} more findings of this cause" if len(group) > 1 else ""
    return (
        f"  {line(first.title, 200)}{guilty}\n      {first.identity.kind}; {first.severity.sentence()}{more}\n"
        f"      {first.script}"
    )


def markdown(findings: Findings) -> str:
    """Return the README of a folder of findings."""
    return "".join(_markdown(findings))


def _markdown(findings: Findings) -> Iterator[str]:
    yield "# Findings\n\n"
    yield (
        "Distinct faults of runtimes: first those that ordinary models meet, and among them wrong results without an "
        "error. Each finding has the sentence of the specification that it violates, its smallest case, and a script "
        "that needs only onnx, numpy and the runtime. The script exits with 1 while the fault exists, and with 0 when "
        "it is fixed. `findings.json` contains all data. A *finding* concerns one operator of one runtime. A *cause* "
        "joins findings that are one fault, of several operators, forms or packages of one library.\n\n"
    )
    yield f"{_table(findings, 'github')}\n"
    yield from (f"\n{plain(sentence, 2000)}\n" for sentence in _differences(findings))
    for backend in sorted(findings.runtimes):
        own = by_cause(findings.of(backend))
        if not own:
            continue
        valid = [group for group in own if group[0].severity.nature is not Nature.INVALID]
        invalid = [group for group in own if group[0].severity.nature is Nature.INVALID]
        yield f"\n## {_name(findings, backend)}\n\n"
        if valid:
            yield f"### The {min(TEN, len(valid))} that matter\n\n"
            yield from (_item(group) for group in valid[:TEN])
        if len(valid) > TEN:
            yield "\n### Further findings\n\n"
            yield from (_item(group) for group in valid[TEN:])
        if invalid:
            yield "\n### Invalid models\n\n"
            yield from (_item(group) for group in invalid)
    if findings.apart:
        yield "\n## Not counted\n\n"
        yield "Accepted invalid models, and failures that depend on a reading, a reworded sentence or rounding.\n\n"
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


def _item(group: Sequence[Finding]) -> str:
    """Return the findings of one root cause as an item of a list."""
    finding = group[0]
    state = f" ({finding.history.state})" if finding.history.state != OPEN else ""
    text = f" «{plain(finding.cases.clause)}»" if finding.cases.clause else ""
    count = finding.cases.count
    issue = f" [issue]({finding.history.issue})" if finding.history.issue.startswith("https://") else ""
    guilty = f", {plain(finding.guilt)}" if finding.example.guilty else ""
    others = ", ".join(f"[{plain(item.title, 60)}]({item.script})" for item in group[1 : MOST_OTHERS + 1])
    more = f" and {len(group) - 1 - MOST_OTHERS} more" if len(group) > MOST_OTHERS + 1 else ""
    same = f"\n  - of the same cause: {others}{more}" if others else ""
    return (
        f"- **{finding.identity.kind}**{state} [{plain(finding.title)}]({finding.script}){text} "
        f"({count:,} {'case' if count == 1 else 'cases'}; {plain(finding.severity.sentence())}){guilty}{issue}{same}\n"
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
            causes(_there(findings.of(backend))),
            sum(counts[backend, kind] for kind in kinds),
            *(counts[backend, kind] or "" for kind in kinds),
            aside[backend] or "",
        ]
        for backend in backends
    ]
    total = [
        "all",
        causes(_there(findings.counted)),
        sum(counts.values()),
        *(sum(counts[name, kind] for name in backends) for kind in kinds),
        aside.total(),
    ]
    return tabulate([*rows, total], ["runtime", "causes", "findings", *kinds, "not counted"], tablefmt=style)


def _there(findings: Iterable[Finding]) -> list[Finding]:
    return [item for item in findings if item.history.state != FIXED]
