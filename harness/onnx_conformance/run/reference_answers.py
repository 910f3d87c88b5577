# SPDX-License-Identifier: Apache-2.0
"""The answers of onnx.reference to some cases of a run, which are shown with those of the backend."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.case.value_text import brief
from onnx_conformance.environments import backend_names
from onnx_conformance.processes.asker import Asker
from onnx_conformance.processes.replies import Answered, Refused
from onnx_conformance.suites import packs
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.adapter_process import Limits
    from onnx_conformance.suites.suite import Suite

REFERENCE = "onnx_reference"


def reference_answers(
    examples: list[Result], suite: Suite, limits: Limits, selection: Selection | None = None
) -> dict[str, str]:
    """Return the answers of onnx.reference to some cases of a run, by id, in short.

    The cases are read from the suite again, which costs less than keeping every case that fails.

    Args:
        examples: results of the cases.
        suite: that they are of.
        limits: of the process of onnx.reference.
        selection: of the run, where it has just ended, so that its packs hold them; None: it has not.
    """
    ids = {result.case for result in examples}
    answers: dict[str, str] = {}
    if not ids:
        return answers
    try:
        with Asker(backend_names.resolve(REFERENCE), dataclasses.replace(limits, memory=None)) as asker:
            for case in _cases_again(examples, suite, selection):
                answers[case.id] = _short(asker.ask(case))
                if len(answers) == len(ids):
                    break
    except HarnessError as error:
        return dict.fromkeys(ids, f"(not available: {error})")
    return answers


def _cases_again(examples: list[Result], suite: Suite, selection: Selection | None) -> Iterator[Case]:
    """Yield the cases of some results of a run; those of its packs, where it has made some."""
    ids = frozenset(result.case for result in examples)
    operators = tuple({result.operator for result in examples})
    if selection is None or selection.by_name or not suite.makes or not packs.is_on():
        yield from suite.cases(Selection(ops=operators, ids=ids))
        return
    own = dataclasses.replace(selection, ops=operators)
    for part in suite.slices(own):
        if any(part.holds(result.operator, result.case) for result in examples):
            yield from (case for case in suite.cases(own.within(part)) if case.id in ids)


def _short(reply: object) -> str:
    """Return a reply in short."""
    if isinstance(reply, Answered):
        return brief(reply.outputs)
    if isinstance(reply, Refused):
        return f"{'unsupported' if reply.reason else 'refused'}: {reply.error}"
    return type(reply).__name__.lower()
