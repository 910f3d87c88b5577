"""Where implementations agree with one another and not with the text as it is read here, for people."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from harness.case import quoted
from harness.verdict import line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.dissent import Dissent

WIDTH = 116
MOST = 6
"""Names of types or forms that are written out."""


def blocks(found: Sequence[Dissent], enough: int) -> Iterator[str]:
    """Yield one block of text for each dissent, and a last line with their number."""
    for row in found:
        yield _block(row) + "\n"
    say = f"{enough} implementations or more say the same, and the text as it is read here something else"
    if not found:
        yield f"Nowhere do {say}."
        return
    yield f"{len(found)} points, {sum(row.count for row in found)} cases, in which {say}."


def _block(row: Dissent) -> str:
    where = [f"{what} {_some(names)}" for what, names in _seen(row) if names and names != {"plain"}]
    cases = "1 case" if row.count == 1 else f"{row.count} cases"
    lines = [line(f"{row.operator} {row.name}: {row.verdict}, {cases}" + (f" ({'; '.join(where)})" if where else ""))]
    lines.append(f"  for example {line(row.example.case)}")
    told = [("text", quoted(clause)) for clause in row.example.clauses]
    told.append(("oracle", row.example.expected or ("refused" if row.example.outcome == "rejects" else "")))
    told.append((f"{len(row.voices)} say", row.said))
    told.append(("they are", ", ".join(row.voices)))
    told.append(("agree", ", ".join(row.passing) or "none passes it"))
    return "\n".join(lines + [_wrapped(label, text) for label, text in told])


def _seen(row: Dissent) -> Iterator[tuple[str, set[str]]]:
    yield "versions", row.versions
    yield "types", row.types
    yield "forms", row.forms


def _some(names: set[str]) -> str:
    ordered = sorted(names, key=lambda name: (len(name), name) if name.isdigit() else (0, name))
    return ", ".join(ordered[:MOST]) + (f" and {len(ordered) - MOST} more" if len(ordered) > MOST else "")


def _wrapped(label: str, text: str) -> str:
    return textwrap.fill(
        line(text, 600), WIDTH, initial_indent=f"  {label:<9}", subsequent_indent=" " * 11, break_on_hyphens=False
    )
