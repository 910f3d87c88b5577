"""What a page tells of a case beside its results: model, inputs, expected values, and the parts of a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
import onnx.printer

from harness import repro
from harness.case import Outcome
from harness.render import one
from harness.verdict import clean

if TYPE_CHECKING:
    from harness.case import Case

MOST_TEXT = 30_000
"""Characters of a model's text, and of a script: beyond it, the command line makes the script."""


def described(case: Case) -> dict[str, Any]:
    """Return a case as data for a page."""
    parts = repro.parts(case)
    found: dict[str, Any] = {
        "model": clean(onnx.printer.to_text(onnx.load_from_string(case.model)), MOST_TEXT),
        "inputs": [[clean(name, 200), clean(one(value))] for name, value in case.inputs.items()],
        "notes": [clean(note) for note in case.notes],
        "decided": clean(case.decided) if case.outcome in {Outcome.REJECTS, Outcome.UNSPECIFIED} else "",
        "allowance": clean(case.allowance),
        "expected": [
            [clean(name, 200), clean(one(value))]
            for name, value in zip(case.outputs, case.expected or (), strict=False)
        ],
    }
    if len(parts.before) + len(parts.after) <= MOST_TEXT:
        found |= {
            "before": parts.before,
            "after": parts.after,
            "wide": parts.wide,
            "rejects": parts.rejects,
            "checks": parts.checks,
            "drawn": parts.drawn,
        }
    return {key: value for key, value in found.items() if value not in ("", [], False)}


PIECES = {
    "refusal": repro.REFUSAL.format(call="{call}"),
    "got": repro.GOT,
    "check": repro.CHECK,
    "drawn": repro.CHECK_DRAWN,
}
"""What scripts have in common; see repro.script."""
