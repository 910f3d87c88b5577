# SPDX-License-Identifier: Apache-2.0
"""The description of a case for a page, without its results: model, inputs, expected values, parts of a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_conformance.analysis.sentences import behaviour
from onnx_conformance.base.verdict import clean
from onnx_conformance.case.case import Outcome
from onnx_conformance.case.expected_text import expected_rows
from onnx_conformance.case.model_text import model_text
from onnx_conformance.case.value_text import one
from onnx_conformance.declare import readings
from onnx_conformance.repro import check_code, literals, script, tool_code

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.base.values import Drawn, Value
    from onnx_conformance.case.case import Case

MOST_TEXT = 8_000
"""Maximum number of characters of a model's text, and of a script; only `repro` writes longer scripts."""


class Describer:
    """Describes cases in the order of a suite; a value that several forms of a case share is formatted once."""

    def __init__(self) -> None:
        """Start empty."""
        self._stem = ""
        self._literals: dict[int, tuple[Value | Drawn, str]] = {}
        self._shown: dict[int, tuple[Value | Drawn, str]] = {}

    def of(self, case: Case) -> dict[str, Any]:
        """Return a case as data of a page."""
        stem = case.id.partition("@")[0]
        if stem != self._stem:
            self._stem, self._literals, self._shown = stem, {}, {}
        model = script.Model.of(case.model)
        parts = script.parts(case, model, self._literal)
        description: dict[str, Any] = {
            "model": model_text(case.model, MOST_TEXT, model.printed),
            "inputs": [[clean(name, 200), self._one(value)] for name, value in case.inputs.items()],
            "clauses": list(sentences) if (sentences := behaviour(case)) != case.clauses else [],
            "notes": [clean(note) for note in case.notes],
            "readings": [clean(readings.sentence(number)) for number in case.readings],
            "decided": clean(case.decided) if case.outcome in {Outcome.REJECTS, Outcome.UNSPECIFIED} else "",
            "allowance": clean(case.allowance),
            "expected": [[clean(name, 200), value] for name, value in expected_rows(case, self._one)],
        }
        if len(parts.before) + len(parts.after) <= MOST_TEXT:
            description |= {
                "before": parts.before,
                "after": parts.after,
                "way": parts.way,
                "rejects": parts.rejects,
                "mayRefuse": parts.may_refuse,
                "checks": list(parts.checks),
            }
        return {key: value for key, value in description.items() if value not in ("", [], False)}

    def _literal(self, value: Value | Drawn) -> str:
        return _once(self._literals, value, literals.literal)

    def _one(self, value: Value | Drawn) -> str:
        return _once(self._shown, value, lambda value: clean(one(value)))


def _once(
    known: dict[int, tuple[Value | Drawn, str]], value: Value | Drawn, write: Callable[[Value | Drawn], str]
) -> str:
    """Return the text of a value. The value is stored with it, because another value could get its id otherwise."""
    if id(value) not in known:
        known[id(value)] = value, write(value)
    return known[id(value)][1]


PIECES = {
    "refusal": script.REFUSAL.format(call="{call}"),
    "got": script.GOT,
    "hang": script.HANG,
    "checks": check_code.PIECES,
    "tools": tool_code.PIECES,
}
"""The parts that all scripts share; see onnx_conformance.repro.script."""
