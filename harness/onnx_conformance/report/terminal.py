# SPDX-License-Identifier: Apache-2.0
"""Verdicts as tables and failures as blocks of text, for terminals and for Markdown."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING

import tabulate as tables
from tabulate import tabulate

from onnx_conformance.base import under_test
from onnx_conformance.base.printing import clipped, quoted
from onnx_conformance.base.verdict import Verdict, clean, few, line, natural, version_number
from onnx_conformance.declare import readings
from onnx_conformance.report import backend_kinds
from onnx_conformance.report.markup import plain
from onnx_conformance.results.errata import erratum
from onnx_conformance.results.sampling import in_words
from onnx_conformance.results.summary import Group, Summary, counted_rate, rates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ALWAYS = (Verdict.PASS, Verdict.UNSUPPORTED)
HEADS = {verdict: str(verdict).replace("_", "\n") for verdict in Verdict}
tables.MIN_PADDING = 0  # Two blanks between columns are enough; a table of verdicts is wide already.
REFERENCE = "onnx_reference"
"""The backend whose outputs are shown next to the expected ones."""
MOST_SHOWN = 6
"""Maximum number of faults of a backend in an overview."""
WIDTH = 120
"""Columns of a terminal of unknown width."""
COLUMN = 36
"""Characters of a column of values; three of them fit a terminal of 120."""


def operators(summary: Summary, width: int) -> Iterator[str]:
    """Yield a table of operators for a terminal: passed of attempted, with a column for each backend.

    Each kind of backend has its own table. Operators without failures are listed in one line below. Backends that do
    not fit the width get further tables.

    Args:
        summary: the counts.
        width: columns of the terminal.
    """
    for part in backend_kinds.parts(summary):
        if part.heading:
            yield f"{part.heading}\n"
        yield from _operators(part.summary, width)


def _operators(summary: Summary, width: int) -> Iterator[str]:
    sums: dict[tuple[str, str], Counter[Verdict]] = {}
    for (operator, backend), counts in summary.counts.items():
        sums.setdefault((operator.rpartition("/")[0] or operator, backend), Counter()).update(counts)
    backends = sorted({backend for _, backend in sums})
    names = sorted({operator for operator, _ in sums})
    failing = [name for name in names if any(_fails(sums.get((name, backend))) for backend in backends)]
    rows = {name: [_cell(sums.get((name, backend))) for backend in backends] for name in failing}
    first = max((len(line(name)) for name in failing), default=0)
    columns = [
        max(len(clipped(summary.label(name))), *(len(cells[place]) for cells in rows.values()), 0) + 2
        for place, name in enumerate(backends)
    ]
    for some_places in _fitting(columns, width - max(first, len("passed of attempted"))) if failing else ():
        heads = ["passed of attempted", *(line(clipped(summary.label(backends[place]))) for place in some_places)]
        cells = [[line(name), *(rows[name][place] for place in some_places)] for name in failing]
        align = ["left", *["right"] * len(some_places)]
        yield tabulate(cells, heads, tablefmt="simple", disable_numparse=True, colalign=align) + "\n"
    others = [name.removeprefix("ai.onnx/") for name in names if name not in failing]
    if others:
        what = f"{len(others)}{' other' if failing else ''} operator{'s' if len(others) > 1 else ''}"
        yield _filled(f"No failures in {what}: {', '.join(map(line, others))}", width) + "\n"


def versions(summary: Summary, width: int, subject: str) -> Iterator[str]:
    """Yield a table of operator versions for a terminal, then those that each backend lacks or gets wrong.

    A cell is the number of passed of attempted cases, "not supported" if the backend reports that for all cases, or
    "no data" if it has no specified cases.

    Args:
        summary: the counts.
        width: columns of the terminal.
        subject: the operator versions, such as "the operator versions of --opsets 27..28".
    """
    for part in backend_kinds.parts(summary):
        counts = part.summary.counts
        backends = sorted({backend for _, backend in counts})
        names = sorted({operator for operator, _ in counts}, key=natural)
        yield f"{part.heading or 'passed of attempted cases'}: {subject}\n"
        cells = {name: [_version_cell(counts.get((name, backend))) for backend in backends] for name in names}
        columns = [
            max(len(clipped(summary.label(backend))), *(len(row[place]) for row in cells.values())) + 2
            for place, backend in enumerate(backends)
        ]
        for places in _fitting(columns, width - max(map(len, map(line, names)))):
            heads = ["operator version", *(line(clipped(summary.label(backends[place]))) for place in places)]
            rows = [[line(name), *(cells[name][place] for place in places)] for name in names]
            align = ["left", *["right"] * len(places)]
            yield tabulate(rows, heads, tablefmt="simple", disable_numparse=True, colalign=align) + "\n"
        for backend in backends:
            yield _filled(_lacks(summary.label(backend), {name: counts.get((name, backend)) for name in names}), width)
        yield ""


NOT_SUPPORTED = "not supported"


def _version_cell(counts: Mapping[Verdict, int] | None) -> str:
    """Return passed/attempted, also if all passed, and how many other cases are unsupported."""
    shares, unsupported = rates(counts or {}), (counts or {}).get(Verdict.UNSUPPORTED, 0)
    if not shares.attempted:
        return NOT_SUPPORTED if unsupported else "no data"
    return f"{shares.passed}/{shares.attempted}" + (f", {unsupported} {NOT_SUPPORTED}" if unsupported else "")


def _lacks(label: str, by_version: Mapping[str, Mapping[Verdict, int] | None]) -> str:
    """Return a sentence with the operator versions that a backend does not support, and those in which it fails."""
    lacking = [name for name, counts in by_version.items() if _version_cell(counts) == NOT_SUPPORTED]
    failing = [name for name, counts in by_version.items() if _fails(counts)]
    of_all = f"of {len(by_version)} operator version{'s' if len(by_version) > 1 else ''}"
    lacks = f"does not support {len(lacking)} {of_all}{_named(lacking)}" if lacking else f"lacks none {of_all}"
    fails = f"fails in {len(failing)}{_named(failing)}" if failing else "fails in none"
    return f"{line(clipped(label))} {lacks} and {fails}"


def _named(names: Sequence[str]) -> str:
    return f" ({', '.join(line(name.removeprefix('ai.onnx/')) for name in names)})" if names else ""


def _fails(counts: Mapping[Verdict, int] | None) -> bool:
    return counts is not None and any(count and verdict.failed for verdict, count in counts.items())


def _fitting(columns: Sequence[int], width: int) -> Iterator[list[int]]:
    """Yield lists of column numbers that fit a width together; at least one in each."""
    places: list[int] = []
    used = 0
    for place, column in enumerate(columns):
        if places and used + column > width:
            yield places
            places, used = [], 0
        places.append(place)
        used += column
    yield places


def _cell(counts: Mapping[Verdict, int] | None) -> str:
    """Return passed/attempted; one number if all passed, "-" if all cases are unsupported."""
    if counts is None:
        return ""
    shares = rates(counts)
    if not shares.attempted:
        return "-"
    return str(shares.passed) if shares.passed == shares.attempted else f"{shares.passed}/{shares.attempted}"


def _filled(text: str, width: int, indent: str = "  ") -> str:
    return textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False)


def table(summary: Summary, style: str = "simple", samples: Mapping[str, int] | None = None) -> str:
    """Return a table for each kind: a row for each operator version and backend, then the sum of each backend.

    A verdict without cases has no column; the line below the table lists these verdicts.
    """
    texts = []
    for part in backend_kinds.parts(summary):
        heading = f"## {part.heading}" if style == "github" else part.heading
        texts.append(f"{heading}\n\n{_table(part, style, samples)}" if part.heading else _table(part, style, samples))
    return "\n\n".join(texts)


def _table(part: backend_kinds.Part, style: str, samples: Mapping[str, int] | None) -> str:
    summary, shown = part.summary, _shown(part)
    heads = ["operator version", "backend", *_heads(shown)]
    if style == "github":
        heads = [head.replace("\n", " ") for head in heads]
    keys = sorted(summary.counts, key=lambda key: (natural(key[0]), key[1]))
    rows = [_row(operator, summary.label(name), summary.counts[operator, name], shown) for operator, name in keys]
    sums = sorted(_sums(summary).items())
    rows += [
        _row("all", _with_sample(summary.label(name), (samples or {}).get(name, 1)), counter, shown)
        for name, counter in sums
    ]
    if style == "github":
        rows = [[plain(cell) for cell in row] for row in rows]
    text = tabulate(rows, heads, tablefmt=style, disable_numparse=True, colalign=_align(len(shown)))
    return f"{text}{_absent(shown, part.kind)}".rstrip()


def _shown(part: backend_kinds.Part) -> list[Verdict]:
    total = part.summary.total
    return [verdict for verdict in Verdict if total[verdict] or verdict in ALWAYS or verdict in part.kind.own]


def _heads(shown: list[Verdict]) -> list[str]:
    return [*(HEADS[verdict] for verdict in shown), "passed of\nspecified", "passed of\nattempted"]


def _absent(shown: list[Verdict], kind: backend_kinds.BackendKind) -> str:
    absent = [str(verdict) for verdict in Verdict if verdict not in shown and verdict not in kind.impossible]
    return f"\n\nNo case has the verdict {', '.join(absent)}.\n" if absent else ""


def _sums(summary: Summary) -> dict[str, Counter[Verdict]]:
    sums: dict[str, Counter[Verdict]] = {}
    for (_, backend), counter in summary.counts.items():
        sums.setdefault(backend, Counter()).update(counter)
    return sums


def _with_sample(backend: str, count: int) -> str:
    """Return a backend's name, with its sample if it ran one."""
    return f"{backend}, {in_words(count)}" if count > 1 else backend


def _align(verdicts: int) -> list[str]:
    return ["left", "left", *["right"] * (verdicts + 2)]


def _row(operator: str, backend: str, counts: Mapping[Verdict, int], shown: list[Verdict]) -> list[str]:
    shares = rates(counts)
    numbers = [str(counts.get(verdict, 0) or "") for verdict in shown]
    return [
        line(operator),
        line(backend),
        *numbers,
        counted_rate(shares.passed, shares.specified),
        counted_rate(shares.passed, shares.attempted),
    ]


def visible(summary: Summary, limit: int) -> tuple[list[Group], Counter[str]]:
    """Return the faults to show, at most `limit` for each backend (0: all), and the number of hidden ones.

    The most severe ones are first; see `results.severity`.
    """
    shown: list[Group] = []
    hidden: Counter[str] = Counter()
    for backend, faults in _by_backend(summary):
        shown += faults[: limit or len(faults)]
        if limit and len(faults) > limit:
            hidden[backend] = len(faults) - limit
    return shown, hidden


def _by_backend(summary: Summary) -> list[tuple[str, list[Group]]]:
    """Return the faults by backend, the most severe ones first."""
    by_backend: dict[str, list[Group]] = {}
    for group in sorted(summary.faults(), key=lambda group: group.interest):
        by_backend.setdefault(group.example.backend, []).append(group)
    return sorted(by_backend.items())


def groups(
    summary: Summary, references: Mapping[str, str], limit: int, reference: str = "", width: int = WIDTH
) -> Iterator[str]:
    """Yield the failures as blocks of text, one for each fault.

    Args:
        summary: the counts.
        references: case id -> the output of onnx.reference, for the examples.
        limit: maximum number of groups for each backend; 0: all.
        reference: the backend whose outputs are the expected ones; empty: they follow from the specification.
        width: columns of the terminal.
    """
    expects = f"expected ({reference})" if reference else "expected"
    shown, hidden = visible(summary, limit)
    for group in shown:
        built = summary.built_with.get(group.example.backend, "")
        label = summary.label(group.example.backend)
        yield _block(group, label, references.get(group.example.case, ""), expects, built, width)
    for backend, count in sorted(hidden.items()):
        yield f"{line(summary.label(backend))}: {count} more faults; --groups 0 shows them all"
    if summary.left_out:
        yield f"{summary.left_out} more failures are counted above, but not grouped: there are too many different ones"


def overview(summary: Summary, room: int) -> Iterator[str]:
    """Yield the faults in a few lines, the most severe ones first.

    Args:
        summary: the counts.
        room: maximum number of lines; each backend uses at least three of them.
    """
    by_backend = _by_backend(summary)
    for backend, faults in by_backend:
        shown = faults[: max(1, min(MOST_SHOWN, room // len(by_backend) - 2))]
        count = f"{len(shown)} of {len(faults)}" if len(shown) < len(faults) else str(len(faults))
        more = "; --groups 0 shows all" if len(shown) < len(faults) else ""
        yield f"{line(clipped(summary.label(backend)))}: {count} fault{'s' if len(faults) > 1 else ''}{more}"
        rows = [(group.example.verdict, f"{group.count:,}", line(group.example.case)) for group in shown]
        text = tabulate(rows, tablefmt="plain", disable_numparse=True, colalign=("left", "right", "left"))
        yield from (f"  {row}" for row in text.splitlines())
        yield ""


def _block(group: Group, label: str, reference: str, expects: str, built: str, width: int) -> str:
    example = group.example
    operator = example.operator.rpartition("/")[0] or example.operator
    where = [f"versions {', '.join(_ordered(group.versions))}"] if _numbers(group.versions) else []
    where += [f"types {some(group.types)}"] if group.types else []
    where += [f"forms {some(group.forms)}"] if group.forms != {"plain"} else []
    cases = "1 case" if group.count == 1 else f"{group.count} cases"
    what = f"{label}: {_verdicts(group)}, {operator}, {cases}" + (f" ({'; '.join(where)})" if where else "")
    lines = [line(what), f"  for example {line(example.case)}"]
    lines += [wrapped("text", quoted(clause), width=width) for clause in example.clauses]
    lines += [wrapped("reading", readings.sentence(line(number)), width=width) for number in example.readings]
    lines += [wrapped("erratum", text, width=width) for text in [erratum(example, built)] if text]
    lines.append(wrapped("message", " ".join(example.message.split())[:400], width=width)) if example.message else None
    got = example.actual or f"{example.verdict}{f': {example.error}' if example.error else ''}"
    if example.signal:
        got = f"{example.verdict}: {example.signal}"
    row = {line(expects): example.wanted or "the expected values"}
    if under_test.stem(example.backend) != REFERENCE:  # Its outputs are in the last column already.
        row["onnx.reference"] = reference or "(not run)"
    row[f"actual ({line(clipped(label))})"] = got
    column = min(COLUMN, max(12, (width - 2) // len(row) - 2))
    cells = [_column(text, column) for text in row.values()]
    lines.append(textwrap.indent(tabulate([cells], [*row], tablefmt="simple", disable_numparse=True), "  "))
    return "\n".join(lines)


def _verdicts(group: Group) -> str:
    """Return the verdict of a group, or its verdicts with their counts."""
    if len(group.verdicts) < 2:  # noqa: PLR2004
        return str(group.example.verdict)
    return " and ".join(f"{verdict} {count}" for verdict, count in group.verdicts.most_common())


def _numbers(names: set[str]) -> bool:
    return bool(names) and all(version_number(name) is not None for name in names)


def _ordered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (version_number(name) or 0, name))


def some(names: Iterable[str]) -> str:
    """Return at most six names in order (versions as numbers), and the number of further names."""
    return few(_ordered(names))


def wrapped(label: str, text: str, room: int = 9, width: int = WIDTH) -> str:
    """Return a text wrapped to a width, after a label in a column of `room` characters."""
    return textwrap.fill(
        clean(text),
        width - 4,
        initial_indent=f"  {label:<{room}}",
        subsequent_indent=" " * (room + 2),
        break_on_hyphens=False,
    )


def _column(text: str, width: int) -> str:
    lines = [line for part in clean(text, 300).split("; ") for line in textwrap.wrap(part, width) or [""]]
    return "\n".join(lines[:8] + (["..."] if len(lines) > 8 else []))  # noqa: PLR2004
