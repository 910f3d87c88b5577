# SPDX-License-Identifier: Apache-2.0
"""The verdicts, the forms and the readings as tables and sections of the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import MEANINGS, Verdict
from onnx_conformance.case.case import PLAIN
from onnx_conformance.declare.readings import READINGS
from onnx_conformance.forms.table import FORMS, Start
from tools.docs.markdown import prose, table

if TYPE_CHECKING:
    from pathlib import Path

FORMS_OF = {"generated": lambda starts: Start.PLAN in starts, "transforms": lambda starts: Start.PLAN not in starts}
"""By suite, which forms its page lists, by the kinds of cases that are delivered in them."""


def verdicts(_argument: str, _page: Path) -> str:
    """Return a table of all verdicts: the condition, and whether it is scored."""
    rows = ((f"`{item}`", MEANINGS[item], "yes" if item.scored else "no") for item in Verdict)
    return table(("verdict", "condition", "scored"), rows)


def forms(suite: str, page: Path) -> str:
    """Return a table of the forms of a suite, except the plain one.

    Raises:
        HarnessError: the suite is not in FORMS_OF.
    """
    if suite not in FORMS_OF:
        raise HarnessError("docs-forms-unknown", f"{page}: no forms of {suite!r}; write {' or '.join(FORMS_OF)}")
    listed = (form for form in FORMS if form.name != PLAIN and FORMS_OF[suite](form.starts))
    return table(("form", "difference from the plain form"), ((f"`@{form.name}`", form.sentence) for form in listed))


def readings(_argument: str, _page: Path) -> str:
    """Return a section for each reading: the question, the answer, the reason and the discussions."""
    parts = []
    for reading in READINGS.values():
        parts += [f"## {reading.number}", f"**{prose(reading.question)}**", prose(reading.answer)]
        parts.append(f"Reason: {prose(reading.reason)}")
        if reading.see:
            parts.append(f"Discussion: {', '.join(f'<{address}>' for address in reading.see)}")
    return "\n\n".join(parts)
