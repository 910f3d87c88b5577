"""`show`: everything that is known of one case, for a person."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import onnx
import onnx.printer

from harness.case import Outcome, quoted
from harness.render import one

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.case import Case


def lines(case: Case) -> Iterator[str]:
    """Yield the case as text: sentences, model, inputs, what is expected, tolerance and why."""
    yield case.id
    yield f"  operator version {case.operator}, form {case.form}, tags {', '.join(sorted(case.tags)) or 'none'}"
    for clause in case.clauses:
        yield from _paragraph("text", quoted(clause))
    for note in case.notes:
        yield from _paragraph("note", note)
    yield ""
    yield "model"
    yield textwrap.indent(onnx.printer.to_text(onnx.load_from_string(case.model)).strip(), "  ")
    yield ""
    yield "inputs"
    for name, value in case.inputs.items():
        yield f"  {name} = {one(value)}"
    if not case.inputs:
        yield "  none"
    yield ""
    yield "expected"
    yield from _expected(case)


def _expected(case: Case) -> Iterator[str]:
    if case.outcome is Outcome.REJECTS:
        yield from _paragraph("rejects", f"the text forbids it: {case.decided}")
    elif case.outcome is Outcome.UNSPECIFIED:
        yield from _paragraph("unspecified", f"the text leaves it open: {case.decided}; never scored")
    elif case.expected is None:
        yield "  not stored with the case"
    else:
        for name, value in zip(case.outputs, case.expected, strict=True):
            yield f"  {name} = {one(value)}"
        yield f"  tolerance {case.allowance}"


def _paragraph(label: str, text: str) -> list[str]:
    return textwrap.wrap(text, 110, initial_indent=f"  {label}: ", subsequent_indent="    ")
