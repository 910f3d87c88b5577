"""Titles of findings: the operator and its versions, the condition, the actual behaviour, and the expected one.

    Softmax (1, 11): with axis that is not the last dimension -> returns 1 (expected 0.5)

A title is understandable alone: it has no names of forms and tags, and numbers have the digits in which they differ.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onnx_conformance.analysis.known_call import known_of_case
from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.case.expected_text import expected_rows
from onnx_conformance.forms import table
from onnx_conformance.repro.bug_report import public

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case

MOST_SHOWN, MOST_MESSAGE, MOST_CONDITIONS = 70, 110, 2
"""Maximum numbers of characters of a value and of a message, and of conditions in a title."""
UNTOLD = ("the text ", "the case cites ", "tag is ", "version ", "form is ", "opset ")
"""The first words of conditions that a title omits: they follow from its other words, or it has its own for them."""
_WORDS = (
    (re.compile(r"^(.+?) is (?:given|set)$"), r"with \1"),
    (re.compile(r"^(.+?) is (?:not set|omitted)$"), r"without \1"),
    (re.compile(r"^(.+?) is asked for$"), r"with output \1"),
    (re.compile(r"^(.+?) is not asked for$"), r"without output \1"),
    (re.compile(r"^type is (?!one|none|not)(.+)$"), r"type \1"),
)
"""Words of conditions, and those of titles."""
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")


def true_of(case: Case, conditions: Iterable[str]) -> tuple[str, ...]:
    """Return the conditions that a case meets. A minimized case may lack what the cases of its group share."""
    known = known_of_case(case)
    told = [text for text in conditions if not text.startswith(UNTOLD)]
    return tuple(text for text in told if known is None or known.meets(text) is True)


def title(
    operator: str, versions: Sequence[int], kind: Verdict, case: Case, result: Result, conditions: Sequence[str]
) -> str:
    """Return a title.

    Args:
        operator: the operator without a version.
        versions: its versions that fail.
        kind: the verdict.
        case: the smallest case.
        result: its result.
        conditions: what the failing cases have in common; those that the smallest case lacks are left out.
    """
    name = operator.removeprefix("ai.onnx/")
    numbers = f" ({', '.join(map(str, versions))})" if versions else ""
    told = [_worded(text) for text in true_of(case, conditions)]
    form = table.find(case.form)
    told = told[:MOST_CONDITIONS] + ([form.phrase] if form is not None and case.form != PLAIN and form.phrase else [])
    when = f"{' and '.join(told)} -> " if told else ""
    return line(f"{name}{numbers}: {when}{_outcome(kind, case, result)}", 400)


def _worded(condition: str) -> str:
    for pattern, words in _WORDS:
        if pattern.match(condition):
            return pattern.sub(words, condition)
    return condition


def _outcome(kind: Verdict, case: Case, result: Result) -> str:
    """Return the actual behaviour, and the expected one in parentheses."""
    expected = _short("; ".join(value for _, value in expected_rows(case)))
    wanted = {Outcome.REJECTS: "a rejection", Outcome.UNSPECIFIED: "any result or error"}.get(
        case.outcome, expected or "an answer"
    )
    message = _end(public(result.message or result.error))
    does = {
        Verdict.CRASH: f"the process ends{f' by {result.signal}' if result.signal else ''}",
        Verdict.TIMEOUT: "no answer within the time limit",
        Verdict.REFUSED: f"refused: {message!r}",
        Verdict.DECLINED: f"claimed, but unsupported: {message!r}",
        Verdict.FALLBACK: f"claimed, but not run by the provider: {message}",
        Verdict.INVALID_MODEL: f"returns an invalid model: {message!r}",
        Verdict.ACCEPTED_INVALID: f"accepts an invalid model and returns {_short(result.actual) or 'an answer'}",
    }
    if kind in does:
        return f"{does[kind]} (expected {wanted})"
    mismatch = result.mismatch
    if {"expected", "actual"} <= set(mismatch):
        where = str(mismatch.get("where", ""))
        match = re.match(r"outputs\[(\d+)\]", where)
        number = int(match[1]) if match else 0
        place = f" in output {case.outputs[number]}" if 0 < number < len(case.outputs) else ""
        actual, wanted = rounded(_short(mismatch["actual"]), _short(mismatch["expected"]))
        return f"returns {actual}{place} (expected {wanted})"
    return f"returns {_short(result.actual)} (expected {wanted})"


def rounded(actual: str, expected: str) -> tuple[str, str]:
    """Return two texts of one number each, with as many digits as they need to differ, but at least three."""
    if not (_NUMBER.fullmatch(actual) or _NUMBER.fullmatch(expected)):
        return actual, expected
    try:
        one, other = float(actual), float(expected)
    except ValueError:
        return actual, expected
    for digits in range(3, 17):
        texts = f"{one:.{digits}g}", f"{other:.{digits}g}"
        if texts[0] != texts[1]:
            return texts
    return actual, expected


def _end(message: str) -> str:
    """Return the end of a message, because messages name the place first and the error last."""
    shown = line(message, 2000)
    return shown if len(shown) <= MOST_MESSAGE else f"...{shown[-MOST_MESSAGE:].partition(' ')[2]}"


def _short(text: object) -> str:
    shown = line(text, 2000)
    return shown if len(shown) <= MOST_SHOWN else f"{shown[:MOST_SHOWN].rstrip()}..."
