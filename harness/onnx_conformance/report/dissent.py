"""`dissent` as text: cases where implementations agree with one another and not with our reading of the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import line
from onnx_conformance.case.case import quoted
from onnx_conformance.report.terminal import some, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onnx_conformance.analysis.dissent import Dissent

LABEL = 9
"""Characters of the column of labels."""


def blocks(dissents: Sequence[Dissent], enough: int) -> Iterator[str]:
    """Yield one block of text for each dissent, and a last line with their number."""
    for row in dissents:
        yield _block(row) + "\n"
    say = f"{enough} implementations or more say the same, and the text as it is read here something else"
    if not dissents:
        yield f"Nowhere do {say}."
        return
    yield f"{len(dissents)} points, {sum(row.count for row in dissents)} cases, in which {say}."


def _block(row: Dissent) -> str:
    where = [f"{what} {some(names)}" for what, names in _names(row) if names and names != {"plain"}]
    cases = "1 case" if row.count == 1 else f"{row.count} cases"
    lines = [line(f"{row.operator} {row.name}: {row.verdict}, {cases}" + (f" ({'; '.join(where)})" if where else ""))]
    lines.append(f"  for example {line(row.example.case)}")
    labelled = [("text", quoted(clause)) for clause in row.example.clauses]
    labelled.append(("oracle", row.example.wanted))
    labelled.append((f"{len(row.implementations)} say", row.answer))
    labelled.append(("they are", ", ".join(row.implementations)))
    labelled.append(("agree", ", ".join(row.passing) or "none passes it"))
    return "\n".join(lines + [wrapped(label, line(text, 600), LABEL) for label, text in labelled])


def _names(row: Dissent) -> Iterator[tuple[str, set[str]]]:
    yield "versions", row.versions
    yield "types", row.types
    yield "forms", row.forms
