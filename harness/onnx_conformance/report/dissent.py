# SPDX-License-Identifier: Apache-2.0
"""`dissent` as text: cases in which implementations agree with each other, but not with our oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.base.printing import quoted
from onnx_conformance.base.verdict import line
from onnx_conformance.report.terminal import some, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onnx_conformance.analysis.dissent import Dissent

LABEL = 9
"""Width of the column of labels, in characters."""


def blocks(dissents: Sequence[Dissent], enough: int) -> Iterator[str]:
    """Yield one block of text for each dissent, and a last line with their number."""
    for row in dissents:
        yield _block(row) + "\n"
    agree = f"{enough} or more implementations agree with each other, but not with the oracle"
    if not dissents:
        yield f"There is no case in which {agree}."
        return
    yield f"{len(dissents)} points, {sum(row.count for row in dissents)} cases, in which {agree}."


def _block(row: Dissent) -> str:
    where = [f"{what} {some(names)}" for what, names in _names(row) if names and names != {"plain"}]
    cases = "1 case" if row.count == 1 else f"{row.count} cases"
    lines = [line(f"{row.operator} {row.name}: {row.verdict}, {cases}" + (f" ({'; '.join(where)})" if where else ""))]
    lines.append(f"  for example {line(row.example.case)}")
    labelled = [("text", quoted(clause)) for clause in row.example.clauses]
    labelled.append(("oracle", row.example.wanted))
    labelled.append((f"{len(row.implementations)} agree", row.answer))
    labelled.append(("namely", ", ".join(row.implementations)))
    labelled.append(("pass", ", ".join(row.passing) or "none"))
    return "\n".join(lines + [wrapped(label, line(text, 600), LABEL) for label, text in labelled])


def _names(row: Dissent) -> Iterator[tuple[str, set[str]]]:
    yield "versions", row.versions
    yield "types", row.types
    yield "forms", row.forms
