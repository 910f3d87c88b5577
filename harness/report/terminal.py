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
from harness.verdict import Verdict, clean, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ALWAYS = (Verdict.PASS, Verdict.UNSUPPORTED)
HEADS = {verdict: str(verdict).replace("_", "\n") for verdict in Verdict}
tables.MIN_PADDING = 0  # Two blanks between columns are enough; a table of verdicts is wide as it is.
COLUMN = 36
"""Characters of a column of values; three of them fit a terminal of 120."""


def table(summary: Summary, style: str = "simple") -> str:
    """Return one row an operator version and backend, and one a backend for the sum.

    Verdicts that nothing got have no column; the line below the table names them.
    """
    total = summary.total
    shown = [verdict for verdict in Verdict if total[verdict] or verdict in ALWAYS]
    heads = ["operator version", "backend", *(HEADS[verdict] for verdict in shown)]
    heads += ["passed of\nspecified", "passed of\nattempted"]
    if style == "github":
        heads = [head.replace("\n", " ") for head in heads]
    keys = sorted(summary.counts, key=lambda key: (_natural(key[0]), key[1]))
    rows = [_row(operator, backend, summary.counts[operator, backend], shown) for operator, backend in keys]
    sums: dict[str, Counter[Verdict]] = {}
    for (_, backend), counter in summary.counts.items():
        sums.setdefault(backend, Counter()).update(counter)
    rows += [_row("all", backend, counter, shown) for backend, counter in sorted(sums.items())]
    if style == "github":
        rows = [[plain(cell) for cell in row] for row in rows]
    text = tabulate(rows, heads, tablefmt=style, disable_numparse=True, colalign=_align(len(shown)))
    absent = [str(verdict) for verdict in Verdict if verdict not in shown]
    return text + (f"\n\nNo case came out as {', '.join(absent)}." if absent else "")


def _align(verdicts: int) -> list[str]:
    return ["left", "left", *["right"] * (verdicts + 2)]


def _natural(operator: str) -> tuple[str, int]:
    name, _, version = operator.rpartition("/")
    return name, int(version) if version.isdigit() else 0


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
    where = [f"versions {', '.join(sorted(group.versions, key=int))}"] if _numbers(group.versions) else []
    where += [f"types {_some(group.types)}"] if group.types else []
    where += [f"forms {_some(group.forms)}"] if group.forms != {"plain"} else []
    cases = "1 case" if group.count == 1 else f"{group.count} cases"
    what = f"{example.backend}: {example.verdict}, {operator}, {cases}" + (f" ({'; '.join(where)})" if where else "")
    lines = [line(what), f"  for example {line(example.case)}"]
    lines += [_wrapped("text", quoted(clause)) for clause in example.clauses]
    lines.append(_wrapped("said", " ".join(example.message.split())[:400])) if example.message else None
    wanted = example.expected or ("refused" if example.outcome == "rejects" else "")
    got = example.actual or f"{example.verdict}{f': {example.error}' if example.error else ''}"
    if example.signal:
        got = f"{example.verdict}: {example.signal}"
    heads = [line(expects), "onnx.reference gives", f"{line(example.backend)} gives"]
    row = [_column(wanted or "the expected values"), _column(reference or "(not asked)"), _column(got)]
    lines.append(textwrap.indent(tabulate([row], heads, tablefmt="simple", disable_numparse=True), "  "))
    return "\n".join(lines)


def _numbers(names: set[str]) -> bool:
    return bool(names) and all(name.isdigit() for name in names)


def _some(names: set[str]) -> str:
    ordered = sorted(names)
    return ", ".join(ordered[:6]) + (f" and {len(ordered) - 6} more" if len(ordered) > 6 else "")  # noqa: PLR2004


def _wrapped(label: str, text: str) -> str:
    return textwrap.fill(
        clean(text), 116, initial_indent=f"  {label:<6}", subsequent_indent=" " * 8, break_on_hyphens=False
    )


def _column(text: str) -> str:
    lines = [line for part in clean(text, 300).split("; ") for line in textwrap.wrap(part, COLUMN) or [""]]
    return "\n".join(lines[:8] + (["..."] if len(lines) > 8 else []))  # noqa: PLR2004
