# SPDX-License-Identifier: Apache-2.0
"""The summary at the end of a run: verdicts and most-failing operators by backend, then suggested commands."""

from __future__ import annotations

import shlex
import textwrap
from collections import Counter
from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.base.printing import clipped
from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.verdict import WRONG, Verdict, line
from onnx_conformance.report import backend_kinds, profile_rows, unstable_cases
from onnx_conformance.report.terminal import WIDTH, wrapped
from onnx_conformance.results.summary import FEW_CASES, rate, rates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.results.scope import Scope
    from onnx_conformance.results.summary import Summary

MOST_OPERATORS = 5
"""Maximum number of operators listed for each backend, most failures first."""
WITHOUT_ANSWER = (Verdict.REFUSED, Verdict.DECLINED, Verdict.FALLBACK, Verdict.TIMEOUT, Verdict.FLAKY)
FAILED = (*WRONG, *WITHOUT_ANSWER, Verdict.CRASH)
"""Verdicts that violate a requirement of ONNX on every runtime."""


def lines(summary: Summary, versions: Mapping[str, str], scope: Scope, width: int = WIDTH) -> Iterator[str]:
    """Yield a block of lines for each backend, grouped under headings if the run has several kinds of backend.

    Args:
        summary: the counts.
        versions: by backend, the version that its adapter reported.
        scope: the part of the suite that was run.
        width: columns of the terminal.
    """
    for of_kind in backend_kinds.parts(summary):
        if of_kind.heading:
            yield f"{of_kind.heading}\n"
        yield from _backends(summary, of_kind, versions, scope, width)


def _backends(
    summary: Summary, of_kind: backend_kinds.Part, versions: Mapping[str, str], scope: Scope, width: int
) -> Iterator[str]:
    sums: dict[str, Counter[Verdict]] = {}
    by_operator: dict[str, Counter[str]] = {}
    for (operator, backend), counts in of_kind.summary.counts.items():
        sums.setdefault(backend, Counter()).update(counts)
        failed = sum(counts[verdict] for verdict in FAILED)
        by_operator.setdefault(backend, Counter())[operator.rpartition("/")[0] or operator] += failed
    for backend in sorted(sums):
        counts = sums[backend]
        name = line(" ".join([clipped(summary.label(backend)), versions.get(backend, "")])).strip()
        yield textwrap.fill(f"{name}, {scope.text(counts.total(), backend)}", width, subsequent_indent="  ")
        rows = list(_rows(summary, backend, counts))
        align = ("left", "right", "left")
        room = max(20, width - 6 - max(len(row[0]) for row in rows) - max(len(row[1]) for row in rows))
        rows = [(label, number, textwrap.fill(text, room)) for label, number, text in rows]
        yield textwrap.indent(tabulate(rows, tablefmt="plain", disable_numparse=True, colalign=align), "  ")
        worst = sorted(by_operator[backend].items(), key=lambda item: (-item[1], item[0]))[:MOST_OPERATORS]
        worst = [(name, count) for name, count in worst if count]
        if worst:
            named = ", ".join(f"{line(name.removeprefix('ai.onnx/'))} {count}" for name, count in worst)
            yield wrapped("most failures:", named, 16, width + 4)
        yield ""


def _rows(summary: Summary, backend: str, counts: Counter[Verdict]) -> Iterator[tuple[str, str, str]]:
    shares = rates(counts)
    is_runtime = summary.subject(backend) is Subject.RUNTIME
    of_attempted = f"{_share(shares.passed, shares.attempted)} attempted"
    of_specified = f"{_share(shares.passed, shares.specified)} specified"
    yield "passed", _number(shares.passed), f"{of_attempted}, {of_specified}"
    wrong = {verdict: counts[verdict] for verdict in (*sorted(WRONG), *WITHOUT_ANSWER) if counts[verdict]}
    if wrong:
        kinds = ", ".join(
            f"{verdict} {_number(count)}" for verdict, count in sorted(wrong.items(), key=lambda item: -item[1])
        )
        yield "failed", _number(sum(wrong.values())), kinds
    if counts[Verdict.CRASH]:
        signals = Counter[str]()
        for group in summary.groups.values():
            if group.example.backend == backend and group.example.verdict is Verdict.CRASH:
                signals[group.example.signal or "without a signal"] += group.count
        named = ", ".join(f"{line(name)} {count}" for name, count in signals.most_common())
        yield "crashed", _number(counts[Verdict.CRASH]), named
    yield from ((label, _number(count), text) for label, count, text in profile_rows.rows(summary.profile(backend)))
    yield from unstable_cases.rows(summary, backend)
    for verdict, label, meaning in (
        (Verdict.ACCEPTED_INVALID, "accepted", _accepted(summary.subject(backend))),
        (Verdict.LENIENT, "lenient", _lenient(summary.leniences(backend))),
        (Verdict.INVALID_MODEL, "invalid", "returned models that are invalid in ONNX or have other outputs"),
        (Verdict.KNOWS_LESS, "knows less", "types or shapes that could be inferred are missing; not scored"),
        (Verdict.UNSUPPORTED, "unsupported", f"the {'runtime' if is_runtime else 'tool'} said so"),
        (Verdict.UNSPECIFIED, "unspecified", "the specification does not decide; not scored"),
        (Verdict.ADAPTER_ERROR, "not measured", "the adapter failed"),
    ):
        if counts[verdict]:
            yield label, _number(counts[verdict]), meaning
        if verdict is Verdict.ACCEPTED_INVALID:
            yield from _errata(summary, backend)


def _share(part: int, whole: int) -> str:
    """Return a rate and the number of cases; without a percentage if there are few cases."""
    if 0 < whole < FEW_CASES:
        return f"{part} of the {whole}"
    return f"{rate(part, whole)} of the {_number(whole)}"


def _accepted(subject: Subject) -> str:
    if subject is Subject.CHECKER:
        return "invalid models that a checker can recognize"
    return "invalid models, which ONNX does not require to be rejected"


def _lenient(forces: str) -> str:
    return f"accepted models that violate no `must`{f' ({forces})' if forces else ''}; not scored"


def _errata(summary: Summary, backend: str) -> Iterator[tuple[str, str, str]]:
    if summary.errata[backend]:
        built = line(summary.built_with[backend])
        meaning = f"of these depend on sentences that ONNX reworded after {built}, which the backend was built with"
        yield "errata", _number(summary.errata[backend]), meaning


def _number(count: int) -> str:
    return f"{count:,}"


def next_commands(
    summary: Summary, results: str, several: Sequence[str], width: int, folder: str = "", reference: str = "",
    operators: Sequence[str] = (),
) -> Iterator[str]:  # fmt: skip
    """Yield suggested commands, each with its purpose.

    Args:
        summary: the counts.
        results: the file with the results; empty: none.
        several: the files, if each backend has a separate one.
        width: columns of the terminal.
        folder: the path of the suite, if it is a folder; the ids of its cases do not contain it.
        reference: the backend whose outputs are the expected ones; empty: none.
        operators: the folders of operator packages.
    """
    faults = summary.faults()
    if not faults:
        return
    # A fault of the adapter is no evidence about the runtime.
    gravest = min(faults, key=lambda fault: fault.interest)
    case, backend = shlex.quote(line(gravest.example.case)), shlex.quote(line(gravest.example.backend))
    file = line(several[0] if several else results)
    where = f" --suite {shlex.quote(line(folder))}" if folder else ""
    where += f" --reference {shlex.quote(line(reference))}" if reference else ""
    where += "".join(f" --operators {shlex.quote(line(name))}" for name in operators)
    rows = [
        (f"onnx-conformance repro {case}{where} --backend {backend}", "write a script that reproduces it"),
        (f"onnx-conformance report {file} --format html --out report.html", "write a page with all results")
        if file
        else ("onnx-conformance run ... --results FILE", "store the results, for `report` and `explain`"),
    ]
    yield "next"
    text = textwrap.indent(tabulate(rows, tablefmt="plain", disable_numparse=True), "  ")
    if max(map(len, text.splitlines())) > width:
        text = "\n".join(f"  {command}\n      {meaning}" for command, meaning in rows)
    yield text
