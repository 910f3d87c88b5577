# SPDX-License-Identifier: Apache-2.0
"""`show` of a case: its sentences, model, inputs, expected values and tolerance, as text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from onnx_conformance.base.printing import quoted
from onnx_conformance.base.verdict import clean, line
from onnx_conformance.case.case import Outcome
from onnx_conformance.case.expected_text import expected_rows
from onnx_conformance.case.model_text import model_text
from onnx_conformance.case.value_text import one
from onnx_conformance.declare import readings
from onnx_conformance.declare.clause import Force

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.case.case import Case

MOST_MODEL, MOST_TEXT = 100_000, 10_000
"""Maximum number of characters shown of a model, and of a sentence or value."""


FORBIDS = {
    "must": "a `must`",
    "should": "a `should` (accepting the model is lenient)",
    "describes": "a description (accepting the model is lenient)",
    "signature": "the signature (accepting the model is lenient)",
}
"""The kind of rule that a model violates, by the force of its sentence."""


def lines(case: Case) -> Iterator[str]:
    """Yield the case as text: sentences, model, inputs, expected values, tolerance and its reason."""
    yield line(case.id, MOST_TEXT)
    about = f"operator version {case.operator}, form {case.form}, tags {', '.join(sorted(case.tags)) or 'none'}"
    yield f"  {line(about, MOST_TEXT)}"
    for clause in case.clauses:
        yield from _paragraph("text", quoted(clause))
    for note in case.notes:
        yield from _paragraph("note", note)
    for number in case.readings:
        yield from _paragraph("reading", readings.sentence(number))
    yield ""
    yield "model"
    yield textwrap.indent(model_text(case.model, MOST_MODEL), "  ")
    yield ""
    if case.earlier is not None:
        yield "inputs of an earlier run of the same session"
        for name, value in case.earlier.items():
            yield f"  {line(name)} = {clean(one(value), MOST_TEXT)}"
        yield ""
    for name, data in case.files.items():
        yield f"file {line(name)}: {len(data)} bytes"
        yield ""
    yield "inputs"
    for name, value in case.inputs.items():
        yield f"  {line(name)} = {clean(one(value), MOST_TEXT)}"
    if not case.inputs:
        yield "  none"
    yield ""
    yield "expected"
    yield from _expected(case)


def _expected(case: Case) -> Iterator[str]:
    if case.outcome is Outcome.REJECTS:
        yield from _paragraph("rejects", f"it violates {FORBIDS.get(case.force, 'the specification')}: {case.decided}")
    elif case.outcome is Outcome.UNSPECIFIED:
        yield from _paragraph("unspecified", f"the specification does not decide: {case.decided}; not scored")
    elif case.expected is None:
        yield "  not stored with the case"
    else:
        for name, value in expected_rows(case):
            yield f"  {line(name)} = {clean(value, MOST_TEXT)}"
        yield f"  tolerance {line(case.allowance)}"
        if case.force == Force.OPTIONAL:
            yield "  a runtime may reject this model; see the sentences"


def _paragraph(label: str, text: str) -> list[str]:
    return textwrap.wrap(clean(text, MOST_TEXT), 110, initial_indent=f"  {label}: ", subsequent_indent="    ")
