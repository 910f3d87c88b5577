"""What a page tells of a case beside its results: model, inputs, expected values, and the parts of a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.analysis.sentences import behaviour
from harness.case.case import Outcome
from harness.case.model_text import model_text
from harness.case.value_text import one
from harness.repro import check_code, script
from harness.verdict import clean

if TYPE_CHECKING:
    from harness.case.case import Case

MOST_TEXT = 30_000
"""Characters of a model's text, and of a script: beyond it, the command line makes the script."""


def described(case: Case) -> dict[str, Any]:
    """Return a case as data for a page."""
    parts = script.parts(case)
    found: dict[str, Any] = {
        "model": model_text(case.model, MOST_TEXT),
        "inputs": [[clean(name, 200), clean(one(value))] for name, value in case.inputs.items()],
        "clauses": list(told) if (told := behaviour(case)) != case.clauses else [],
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
            "checks": list(parts.checks),
        }
    return {key: value for key, value in found.items() if value not in ("", [], False)}


PIECES = {
    "refusal": script.REFUSAL.format(call="{call}"),
    "got": script.GOT,
    "hang": script.HANG,
    "checks": check_code.PIECES,
}
"""What scripts have in common; see harness.repro.script."""
