# SPDX-License-Identifier: Apache-2.0
"""`explain` as text: conditions that failures share, each with its sentence and up to two cases."""

from __future__ import annotations

import itertools
import textwrap
from typing import TYPE_CHECKING

from onnx_conformance.base.printing import quoted
from onnx_conformance.base.verdict import clean, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onnx_conformance.analysis.explain import Explained, Explanation, FailurePattern
    from onnx_conformance.analysis.statement import Statement
    from onnx_conformance.results.stream import Run

WIDTH = 100
EXAMPLES = 2


def lines(run: Run, explanation: Explanation, chosen: str = "") -> Iterator[str]:
    """Yield the explanation of a run as text; `chosen` is the selected part, as written on the command line."""
    if not run.complete:
        yield line(f"{run.path} was cut off; this explains the results so far")
    if explanation.note:
        yield from textwrap.wrap(clean(explanation.note), WIDTH)
    if not explanation.explained:
        yield line(f"nothing to explain: {run.path} has no failures{f' for {chosen}' if chosen else ''}", 2000)
        return
    for (backend, operator), group in itertools.groupby(
        explanation.explained, key=lambda item: (item.backend, item.operator)
    ):
        parts = list(group)
        yield ""
        yield line(f"{backend}: {operator}, {_count(sum(part.failing for part in parts), 'failure')}")
        for part in parts:
            yield from _part(part)


def _part(explained: Explained) -> Iterator[str]:
    for pattern in explained.patterns:
        yield from _pattern(pattern)
    if explained.left:
        first = explained.left[0]
        other = "further " if explained.patterns else ""
        cases = f"{len(explained.left)} {other}case{'' if len(explained.left) == 1 else 's'}"
        yield from _wrapped("  ", f"{explained.verdict}: {cases} without a condition that distinguishes passing cases")
        yield from _shown(first.case, first.message)


def _pattern(pattern: FailurePattern) -> Iterator[str]:
    statement = pattern.statement
    yield from _wrapped("  ", str(statement))
    if pattern.clause:
        yield from _wrapped("    text     ", quoted(pattern.clause))
    yield from _shown(statement.cases[0], pattern.example.message, *statement.cases[1:EXAMPLES])


def _shown(case: str, message: str, *others: str) -> Iterator[str]:
    yield f"    case     {line(case)}"
    if message:
        yield from _wrapped("    message  ", line(message, 240))
    for other in others:
        yield f"    case     {line(other)}"


def _wrapped(first: str, text: str) -> list[str]:
    behind = " " * (len(first) if first.strip() else len(first) + 2)
    return textwrap.wrap(
        line(text, 2000), WIDTH, initial_indent=first, subsequent_indent=behind, break_on_hyphens=False
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def section(statements: Sequence[Statement], note: str = "") -> list[str]:
    """Return statements as the lines of a Markdown section, by backend and operator; without statements, no lines.

    Args:
        statements: in the order of `explain`.
        note: why the statements are incomplete.
    """
    if not statements:
        return []
    text = ["## Failure patterns", "", *([_code(note), ""] if note else [])]
    for (backend, operator), group in itertools.groupby(statements, key=lambda item: (item.backend, item.operator)):
        text += [_code(f"{backend}: {operator}"), ""]
        text += [f"- {_code(str(item))}, for example {_code(item.cases[0])}" for item in group]
        text.append("")
    return text


def _code(text: str) -> str:
    """Return text as code in Markdown, so that nothing in it is markup."""
    plain = line(text, 2000).replace("`", "'")
    return f"`{plain}`"
