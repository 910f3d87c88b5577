# SPDX-License-Identifier: Apache-2.0
"""Titles of findings: the operator and its versions, the condition, the actual behaviour, and the expected one.

    Softmax (1, 11): with axis that is not the last dimension -> returns 1 (expected 0.5)

A title is understandable alone: it has no names of forms and tags, and numbers have the digits in which they differ.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.analysis.known_call import known_of_case
from onnx_conformance.analysis.model_traits import COLUMN
from onnx_conformance.base.verdict import MAX_MESSAGE, Verdict, line
from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.case.expected_text import expected_rows
from onnx_conformance.forms import table
from onnx_conformance.minimize.reducer import MINIMIZED
from onnx_conformance.repro.bug_report import public
from onnx_conformance.specification import nodes, schema
from onnx_conformance.suites.transforms import model_of_rewrite

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case

MOST_SHOWN, MOST_MESSAGE, MOST_TITLE, MOST_CONDITIONS = 70, 110, 400, 2
"""Maximum numbers of characters of a value, of a message and of a title, and of conditions in a title."""
UNTOLD = ("the text ", "the case cites ", "tag is ", "version ", "form is ", "opset ")
"""The first words of conditions that a title omits: they follow from its other words, or it has its own for them."""
_WORDS = (
    (re.compile(r"^(.+?) is (?:set|giv\w+)$"), r"with \1"),
    (re.compile(r"^(.+?) is (?:not set|omitted)$"), r"without \1"),
    (re.compile(r"^(.+?) is asked for$"), r"with output \1"),
    (re.compile(r"^(.+?) is not asked for$"), r"without output \1"),
    (re.compile(r"^type is (?!one|none|not)(.+)$"), r"type \1"),
)
"""Words of conditions, and those of titles."""
_VERSIONS = re.compile(r" \([\d, ]+\)$")
_TYPES = onnx.AttributeProto.AttributeType
_SHOWN = {_TYPES.Value(f"{kind}{more}") for kind in ("FLOAT", "INT", "STRING") for more in ("", "S")}
"""The types of attributes whose values fit into a title."""
WRAPPER = re.compile(r"^.*(?:ERROR_MESSAGE:|Status Message:|failed:|Caused by:)\s*")
"""The parts of a message before the innermost error, which name the wrapper, the file and the node."""
_CUT = re.compile(r"\.\.\. \(\d+ characters\)$")
"""The end of a message that the harness has cut."""
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")


def true_of(case: Case, conditions: Iterable[str]) -> tuple[str, ...]:
    """Return the conditions that a case meets. A minimized case may lack conditions of its group."""
    known = known_of_case(case)
    told = [text for text in conditions if not text.startswith(UNTOLD)]
    return tuple(text for text in told if known is None or known.meets(text) is True)


def rewrite_of(case: Case) -> str:
    """Return the name of the rewrite's model that a smallest case is made from; empty if it is of no rewrite."""
    return model_of_rewrite(case.id.replace(MINIMIZED, ""))


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
        conditions: those that the failing cases share; the ones that the smallest case lacks are left out. Without any,
            the title has the attributes of the smallest case. For a model of a rewrite, it has the name of the model.
    """
    return line(f"{beginning(operator, versions, case, conditions)}{_outcome(kind, case, result)}", MOST_TITLE)


def beginning(operator: str, versions: Sequence[int], case: Case, conditions: Sequence[str]) -> str:
    """Return the beginning of a title, up to the actual behaviour: Softmax (1, 11): axis=0 -> . See `title`."""
    name = operator.removeprefix("ai.onnx/")
    numbers = f" ({', '.join(map(str, versions))})" if versions else ""
    told = [_worded(text) for text in true_of(case, conditions)]
    form = table.find(case.form)
    of_form = [form.phrase] if form is not None and case.form != PLAIN and form.phrase else []
    if rewrite := rewrite_of(case):
        told = [f"in the model {rewrite.replace('_', ' ')!r}"]  # Conditions are on one node of it.
    elif not (told or of_form):
        told = attributes(case, operator)
    told = told[:MOST_CONDITIONS] + of_form
    when = f"{' and '.join(told)} -> " if told else ""
    return f"{name}{numbers}: {when}"


def with_beginning(title_: str, beginning_: str) -> str:
    """Return a title with another beginning."""
    behaviour = title_.partition(": ")[2]
    if conditions := _conditions_of(title_):
        behaviour = behaviour.removeprefix(f"{conditions} -> ")
    return line(f"{beginning_}{behaviour}", MOST_TITLE)


def without_forms(title_: str, versions: Sequence[int]) -> str:
    """Return a title of an earlier release with versions and without names of forms."""
    told = [condition for condition in _conditions_of(title_).split(" and ") if not condition.startswith(UNTOLD)]
    when = f"{' and '.join(told)} -> " if any(told) else ""
    return with_versions(with_beginning(title_, f"{title_.partition(': ')[0]}: {when}"), versions)


def is_of_today(title_: str) -> bool:
    """Return whether a title has versions and no names of forms. Those of earlier releases do not."""
    return _VERSIONS.search(title_.partition(": ")[0]) is not None and "form is " not in _conditions_of(title_)


def _conditions_of(title_: str) -> str:
    """Return the conditions in a title; empty if it has none."""
    before, arrow, _ = title_.partition(": ")[2].partition(" -> ")
    return before if arrow and not before.startswith("refused") else ""  # A message may contain an arrow.


def attributes(case: Case, operator: str) -> list[str]:
    """Return the attributes that the smallest case sets: without each of them, it does not fail so.

    Required attributes are among them only if the case sets no other.
    """
    domain, name = operator.split("/") if "/" in operator else ("", "")
    if not schema.known(domain, name):
        return []
    node = nodes.of_operator(onnx.load_from_string(case.model), domain, name)
    told = [] if node is None else [item for item in node.attribute if item.type in _SHOWN]
    known = schema.versions(domain, name)
    required = {key for version in known for key, attribute in version.attributes.items() if attribute.required}
    optional = [item for item in told if item.name not in required]
    shown = [item for item in optional or told if not item.name.endswith(COLUMN)]
    return [f"{item.name}={_short(_value(item))}" for item in shown or optional or told]


def _value(item: onnx.AttributeProto) -> str:
    value = onnx.helper.get_attribute_value(item)
    words = [_word(one) for one in value] if isinstance(value, list | tuple) else _word(value)
    return words if isinstance(words, str) else f"[{','.join(words)}]"


def _word(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def with_versions(title_: str, versions: Sequence[int]) -> str:
    """Return a title with other versions."""
    name, separator, rest = title_.partition(": ")
    return f"{_VERSIONS.sub('', name)} ({', '.join(map(str, versions))}){separator}{rest}"


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
    message = _essence(public(result.message), result.error)
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


def _essence(message: str, error: str) -> str:
    """Return the end of a message, because messages name the place first and the error last.

    It begins after the words with which a runtime repeats an inner error, if it has them. If the harness has cut the
    message, its end is not known, so return the beginning. A message of one word gets the type of its exception:
    "KeyError: 'W'".
    """
    shown = line(message, MAX_MESSAGE)
    if " " not in shown:
        return ": ".join(filter(None, (error, shown)))
    if len(shown) <= MOST_MESSAGE:
        return shown
    if _CUT.search(shown):
        return f"{shown[:MOST_MESSAGE].rpartition(' ')[0]}..."
    end = shown[-MOST_MESSAGE:].partition(" ")[2] or shown[-MOST_MESSAGE:]
    return WRAPPER.sub("", end) if WRAPPER.match(end) else f"...{end}"


def _short(text: object) -> str:
    shown = line(text, 2000)
    return shown if len(shown) <= MOST_SHOWN else f"{shown[:MOST_SHOWN].rstrip()}..."
