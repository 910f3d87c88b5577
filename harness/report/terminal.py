"""The report that `run` prints: a table of verdicts, then the failures by what they share."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING

import tabulate as tables
from tabulate import tabulate

from harness.case import quoted
from harness.report.markup import plain
from harness.report.summary import Group, Summary, rate, rates
from harness.samples import said
from harness.verdict import Verdict, clean, line, natural, version_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ALWAYS = (Verdict.PASS, Verdict.UNSUPPORTED)
HEADS = {verdict: str(verdict).replace("_", "\n") for verdict in Verdict}
tables.MIN_PADDING = 0  # Two blanks between columns are enough; a table of verdicts is wide as it is.
FEW_BACKENDS = 2
"""More of them have the sums first, and one column each in the table of operator versions."""
MOST_NAME = 36
"""Characters of a backend's name in the table of sums."""
MOST_COLUMNS = 12
"""Backends side by side; the others stand in a table of their own below."""
NARROW = """\
Of each operator version: passed/specified; one number where all of them passed; - where the runtime opts out of all.
`report --format html` shows every verdict."""
COLUMN = 36
"""Characters of a column of values; three of them fit a terminal of 120."""


def overview(summary: Summary, samples: Mapping[str, int]) -> Iterator[str]:
    """Yield what a terminal shows of a run: `table`, or of more than two backends the sums before a narrow table.

    Args:
        summary: the counts.
        samples: by backend, n of the 1 case in n that it was asked.
    """
    shown, sums = _shown(summary), _sums(summary)
    if len(sums) <= FEW_BACKENDS:
        yield table(summary, "simple", samples)
        return
    numbers = {backend: str(number) for number, backend in enumerate(sorted(sums), 1)}
    rows = [
        _row(numbers[name], _asked(clipped(name), samples.get(name, 1)), sums[name], shown) for name in sorted(sums)
    ]
    heads = ["", "backend", *_heads(shown)]
    text = tabulate(rows, heads, tablefmt="simple", disable_numparse=True, colalign=_align(len(shown)))
    yield text + (_absent(shown) or "\n")
    for first in range(0, len(numbers), MOST_COLUMNS):
        yield _narrow(summary, dict(list(numbers.items())[first : first + MOST_COLUMNS]))
    yield NARROW


def _narrow(summary: Summary, numbers: Mapping[str, str]) -> str:
    """Return one row an operator version and one column a backend, called by its number."""
    operators = sorted({operator for operator, _ in summary.counts}, key=natural)
    rows = [[line(name), *(_cell(summary.counts.get((name, backend))) for backend in numbers)] for name in operators]
    heads = ["operator version", *numbers.values()]
    return tabulate(rows, heads, tablefmt="simple", disable_numparse=True, colalign=_align(len(numbers))[1:-1]) + "\n"


def _cell(counts: Mapping[Verdict, int] | None) -> str:
    if counts is None:
        return ""
    found = rates(counts)
    if not found.attempted:
        return "-"
    return str(found.passed) if found.passed == found.specified else f"{found.passed}/{found.specified}"


def table(summary: Summary, style: str = "simple", samples: Mapping[str, int] | None = None) -> str:
    """Return one row an operator version and backend, and one a backend for the sum.

    Verdicts that nothing got have no column; the line below the table names them.
    """
    shown = _shown(summary)
    heads = ["operator version", "backend", *_heads(shown)]
    if style == "github":
        heads = [head.replace("\n", " ") for head in heads]
    keys = sorted(summary.counts, key=lambda key: (natural(key[0]), key[1]))
    rows = [_row(operator, backend, summary.counts[operator, backend], shown) for operator, backend in keys]
    sums = sorted(_sums(summary).items())
    rows += [_row("all", _asked(name, (samples or {}).get(name, 1)), counter, shown) for name, counter in sums]
    if style == "github":
        rows = [[plain(cell) for cell in row] for row in rows]
    text = tabulate(rows, heads, tablefmt=style, disable_numparse=True, colalign=_align(len(shown)))
    return f"{text}{_absent(shown)}".rstrip()


def _shown(summary: Summary) -> list[Verdict]:
    total = summary.total
    return [verdict for verdict in Verdict if total[verdict] or verdict in ALWAYS]


def _heads(shown: list[Verdict]) -> list[str]:
    return [*(HEADS[verdict] for verdict in shown), "passed of\nspecified", "passed of\nattempted"]


def _absent(shown: list[Verdict]) -> str:
    absent = [str(verdict) for verdict in Verdict if verdict not in shown]
    return f"\n\nNo case came out as {', '.join(absent)}.\n" if absent else ""


def _sums(summary: Summary) -> dict[str, Counter[Verdict]]:
    sums: dict[str, Counter[Verdict]] = {}
    for (_, backend), counter in summary.counts.items():
        sums.setdefault(backend, Counter()).update(counter)
    return sums


def _asked(backend: str, count: int) -> str:
    """Return a backend's name, with the part of the cases that it was asked, where that is not all."""
    return f"{backend}, {said(count)}" if count > 1 else backend


def clipped(backend: str, most: int = MOST_NAME) -> str:
    """Return a name, of a long one how it begins and ends: commands often differ in their last word."""
    return backend if len(backend) <= most else f"{backend[:5]}...{backend[8 - most :]}"


def _align(verdicts: int) -> list[str]:
    return ["left", "left", *["right"] * (verdicts + 2)]


def _row(operator: str, backend: str, counts: Mapping[Verdict, int], shown: list[Verdict]) -> list[str]:
    found = rates(counts)
    numbers = [str(counts.get(verdict, 0) or "") for verdict in shown]
    return [
        line(operator),
        line(backend),
        *numbers,
        f"{found.passed}/{found.specified} {rate(found.passed, found.specified)}",
        f"{found.passed}/{found.attempted} {rate(found.passed, found.attempted)}",
    ]


def visible(summary: Summary, limit: int) -> tuple[list[Group], Counter[str]]:
    """Return the groups to show, at most `limit` of each backend (0: all), and how many are hidden of each."""
    shown: list[Group] = []
    seen: Counter[str] = Counter()
    for group in summary.ordered_groups():
        seen[group.example.backend] += 1
        if not limit or seen[group.example.backend] <= limit:
            shown.append(group)
    return shown, Counter({name: count - limit for name, count in seen.items() if limit and count > limit})


def groups(summary: Summary, references: Mapping[str, str], limit: int, reference: str = "") -> Iterator[str]:
    """Yield the failures, grouped, as blocks of text.

    Args:
        summary: the counts.
        references: case id -> what onnx.reference gave for it, for the examples.
        limit: how many groups of each backend are shown; 0: all.
        reference: the backend whose answers are the expected ones; empty: the text decides.
    """
    expects = f"{reference} expects" if reference else "text expects"
    shown, hidden = visible(summary, limit)
    for group in shown:
        yield _block(group, references.get(group.example.case, ""), expects)
    for backend, count in sorted(hidden.items()):
        yield f"{backend}: {count} more groups of failures; --groups 0 shows them all"
    if summary.left_out:
        yield f"{summary.left_out} more failures are counted above but not grouped: there are too many kinds of them"


def _block(group: Group, reference: str, expects: str) -> str:
    example = group.example
    operator = example.operator.rpartition("/")[0] or example.operator
    where = [f"versions {', '.join(_ordered(group.versions))}"] if _numbers(group.versions) else []
    where += [f"types {some(group.types)}"] if group.types else []
    where += [f"forms {some(group.forms)}"] if group.forms != {"plain"} else []
    cases = "1 case" if group.count == 1 else f"{group.count} cases"
    what = f"{example.backend}: {example.verdict}, {operator}, {cases}" + (f" ({'; '.join(where)})" if where else "")
    lines = [line(what), f"  for example {line(example.case)}"]
    lines += [wrapped("text", quoted(clause)) for clause in example.clauses]
    lines.append(wrapped("said", " ".join(example.message.split())[:400])) if example.message else None
    got = example.actual or f"{example.verdict}{f': {example.error}' if example.error else ''}"
    if example.signal:
        got = f"{example.verdict}: {example.signal}"
    heads = [line(expects), "onnx.reference gives", f"{line(example.backend)} gives"]
    row = [_column(example.wanted or "the expected values"), _column(reference or "(not asked)"), _column(got)]
    lines.append(textwrap.indent(tabulate([row], heads, tablefmt="simple", disable_numparse=True), "  "))
    return "\n".join(lines)


def _numbers(names: set[str]) -> bool:
    return bool(names) and all(version_number(name) is not None for name in names)


def _ordered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (version_number(name) or 0, name))


def some(names: Iterable[str]) -> str:
    """Return names in order, versions as numbers; of many the first few."""
    ordered = _ordered(names)
    return ", ".join(ordered[:6]) + (f" and {len(ordered) - 6} more" if len(ordered) > 6 else "")  # noqa: PLR2004


def wrapped(label: str, text: str, width: int = 6) -> str:
    """Return a text behind its label, which has a column of so many characters."""
    return textwrap.fill(
        clean(text),
        116,
        initial_indent=f"  {label:<{width}}",
        subsequent_indent=" " * (width + 2),
        break_on_hyphens=False,
    )


def _column(text: str) -> str:
    lines = [line for part in clean(text, 300).split("; ") for line in textwrap.wrap(part, COLUMN) or [""]]
    return "\n".join(lines[:8] + (["..."] if len(lines) > 8 else []))  # noqa: PLR2004
