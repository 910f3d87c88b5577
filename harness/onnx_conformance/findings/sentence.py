# SPDX-License-Identifier: Apache-2.0
"""The sentence that a failure violates, of those in the operator's file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import onnx

from onnx_conformance.analysis import traits
from onnx_conformance.analysis.sentences import leading, version_of, wrong_output
from onnx_conformance.base.verdict import WITH_MESSAGE, Verdict, split_operator
from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.forms import table
from onnx_conformance.minimize.cause import by_rounding
from onnx_conformance.results.severity import IMPRECISE
from onnx_conformance.specification import nodes, registry, schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.findings.failure_groups import FailureGroup
    from onnx_conformance.forms.table import Form

_OF_SIGNATURE = frozenset({Verdict.WRONG_TYPE, Verdict.WRONG_SHAPE, Verdict.WRONG_COUNT})
_SIDE = re.compile(
    r"(?i)\bdefaults?\b|^'?constrain|\bof shape\b|\b\d-D tensor\b|\boptional\b|^signature: |^floor\(input_dimension"
    r"|^`num_directions`|\bdimensions of output\b|\boperand for\b|^(in|out)puts have dimensions\b"
)
"""Sentences on types, shapes and defaults: they do not decide a value if the case cites another sentence."""
_RULE = re.compile(
    r"(?i)\bmust\b|\bshould\b|\bdeprecated\b|supports \*\*|^inputs? (?:can|have)\b|empty matrix|\bin the format \["
    r"|is not specified, a default|subset of the `axes`|^floor\(input_dimension|\boperand for\b"
    r"|\b(?:accepted|allowed) range\b"
)
"""Sentences at the beginning of a file that do not define the result."""
_ELSEWHERE = re.compile(r"(?i)\bas described in\b")
"""Definitions that only name a paper."""
_TYPE = re.compile(r"type (?:of (?P<name>\w+) )?")
"""A condition on the type of the case, or on that of an input or output."""
SHORT = 40
"""Up to this many characters, a sentence on a default contains nothing else."""
_NAME = re.compile(r"\w+")
_WORD_OF_VALUE = re.compile(r"[A-Za-z]\w{2,}")
_VALUE = re.compile(r"\b(?P<name>\w+)=(?P<value>\[[^\]]*\]|[^\s,]+)|type of (?P<typed>\w+) is (?P<type>\w+)")
"""A condition on the value of an attribute, or on the type of an input: auto_pad=SAME_LOWER."""
_WRITTEN = {"bool": "boolean"}
"""Names of element types and how sentences write them."""
_FORMULA = re.compile(r"(?<![<>!=])=(?!=)")
_CODE = re.compile(rf"[*/^]|\w\(|{_FORMULA.pattern}")
"""A part of a formula or of a call. A sentence with one that names an argument defines its effect."""
_NEGATIVE = re.compile(r"(?i)^(?:a )?negative (?:value|axis|axes|number)")
"""Sentences on negative values of an argument."""
_OF_KEPT = re.compile(r"(?i)\bkeep\b.*\breduced dimension\b|^'?constrain\b|\boperand for\b|\bdimensions of output\b")
"""Sentences on the shape or the type of a result only, and those that only name an operand."""
_KEPT, _KEEPS = re.compile(r"\breduced dimensions? pruned\b"), re.compile(r"\bkeepdims=0\b")
"""The sentence on dimensions that are not kept, and a condition on it."""
_OF_SHAPE = re.compile(r"(\b|_)shapes?\b")
"""Sentences that mention a shape: alone, they do not decide a value."""
_ON_SHAPE = re.compile(r" is a scalar$| has a dimension of size | differ in rank\b|^rank of ")
"""Conditions on the shape of an input: its sentences on shapes decide."""
_ON_TEXT = re.compile(r"^the text (allows|forbids) it$")
"""Conditions on the outcome of the cases, and not on their inputs."""
_NO_ELEMENTS = re.compile(r"^\w+ has a dimension of size 0$")
"""Conditions that only require an input without elements: the definition decides, because it is for every size."""
_SAID_ON_SHAPE = re.compile(r"(?i)\b(scalar|num_?dimensions|dims?|dimensions?|rank|shape|[0-9]-?d)\b")
"""Messages on the shape of an input."""
_SAID_ON_TYPES = re.compile(
    r"(?i)\btypes do(?: not|n't) match\b|\bmixed (?:\w+ )?types\b|\btype::merge\b|\btype mismatch\b"
)
"""Messages on types that differ."""
_SHAPE = re.compile(r"(?i)\b(shapes?|rank|scalar|broadcast\w*|dimensions are)\b")
"""Sentences on the shape of an argument."""
_EMPTY = re.compile(r"(?i)^value of \w+\.?$|:$|^below are optional$")
"""Descriptions of an argument that only repeat its name, and introductions to a list."""
MOST_NAMED = 2
"""Maximum number of arguments that a message names if it is about them; others list all arguments of a node."""
_TYPE_OF_OUTPUT = re.compile(r"(?i)\btype of the output\b|\boutput\b[^.]* (?:has|have) (?:the|a) (?:same )?type\b")
"""Sentences on the type of an output."""
_ABSENCE = re.compile(r"(?i)\bdefaults?\b|\bnot (?:set|specified|provided|present)\b|\bomitted\b|\boptional\b")
"""Sentences on an argument that a node does not have."""
_IF_ABSENT = re.compile(r"(?i)^if (?:it is )?not (?:set|specified|provided|present)\b")
"""Sentences on nothing but an argument that a node does not have."""
_TABLE = re.compile(r"^\|.*\|$")
"""Rows of a table, which define the results of all values in them."""


class Argument(NamedTuple):
    """An optional input or an attribute of the node of a case.

    Attributes:
        description: its text in the schema.
        absent: whether the node lacks it; False if the model has no such node.
        words: the words in its value, if it is an attribute with strings, such as Elu in activations.
    """

    description: str
    absent: bool
    words: tuple[str, ...] = ()


def sentence(case: Case, result: Result, group: FailureGroup) -> str:
    """Return the sentence that a failure violates.

    If only some forms fail, it is the sentence on such models. Otherwise it is one that the case cites and that
    explains the failures. If no cited one does, it is one on the optional argument without which nothing fails.
    Otherwise it is the definition of the result: the first sentence of an operator's file that is no rule. An imprecise
    value violates the definition, too.

    Args:
        case: the smallest case.
        result: its result.
        group: the failures.
    """
    name, since = split_operator(case.operator)
    op = registry.load().find(*name.rpartition("/")[::2])
    texts = [clause.text for clause in (op.clauses if op else ()) if clause.in_force(since or 0)]
    cited = leading(case, result)
    of_operator = sorted(texts, key=lambda text: _RULE.search(text) is not None)
    if result.verdict is Verdict.WRONG_VALUE:
        of_operator = _definitions(case, cited, of_operator)
    if case.outcome not in {Outcome.VALUES, Outcome.PROPERTY}:
        return next(iter((*cited, *of_operator)), "")
    cited = tuple(text for text in cited if not _EMPTY.search(text)) or cited
    if (form := _only_form(case, group)) is not None and form.text:
        return form.text
    if result.verdict in _OF_SIGNATURE:
        return next(iter((*_of_signature(case, result, group, cited, texts), *of_operator, *cited)), "")
    if result.verdict is Verdict.WRONG_VALUE and by_rounding(result, most=IMPRECISE):
        return next(iter((*of_operator, *cited)), "")
    arguments = _arguments(case)
    apply = [text for text in group.deciding if text in cited and not _of_absent(text, arguments)]
    explain = [text for text in apply if not _is_side(text, case)]
    explain += [text for text in apply if text in group.marking and not _OF_KEPT.search(text)]
    tables = [text for text in cited if _TABLE.search(text)]
    refused = _named_by(result, arguments)
    matters = [word for each in group.conditions if _matters(each, arguments) for word in _NAME.findall(each)]
    negative = any("negative" in condition for condition in group.conditions)
    inputs = [condition for condition in group.conditions if not _ON_TEXT.search(condition)]
    on_shape = any(map(_ON_SHAPE.search, inputs))
    said_on_shape = result.verdict in WITH_MESSAGE and _SAID_ON_SHAPE.search(result.message) is not None
    of_message, of_conditions = (
        [
            text
            for word in filter(arguments.__contains__, words)
            for text in texts
            if text in arguments[word].description
            and not _does_not_apply(text, present=not arguments[word].absent, negative=negative, on_shape=shape)
        ]
        for words, shape in ((refused, said_on_shape), (matters, on_shape))
    )
    for found in ([of_message] if said_on_shape else []) + ([of_conditions] if on_shape else []):
        found.sort(key=lambda text: _SHAPE.search(text) is None)
    of_formulas = [
        text
        for word in matters
        if word in arguments and result.verdict is Verdict.WRONG_VALUE
        for text in texts
        if re.search(rf"\b{re.escape(word)}\b", text)
        and _CODE.search(text)
        and not _RULE.search(text)
        and not _OF_SHAPE.search(text)
    ]
    # Of several arguments in the conditions, the one whose sentences most of the failures cite precedes.
    of_conditions.sort(key=lambda text: group.deciding.index(text) if text in group.deciding else len(group.deciding))
    of_type = _of_type(case, result, group) or _of_mixed_types(case, result)
    of_values = _on_values(group.conditions, matters, [*cited, *texts], arguments)
    alone = [text for text in cited if len(cited) == 1 and text in group.deciding]
    of_default = [
        text
        for text in alone
        if _ABSENCE.search(text) is not None and not _OF_SHAPE.search(text) and 2 * _citing(text, group) >= 1
    ]
    empty = bool(inputs) and all(map(_NO_ELEMENTS.search, inputs))
    if empty and result.verdict is not Verdict.WRONG_VALUE:
        explain = [text for text in explain if text in group.marking and not _SHAPE.search(text)]
    if explain:
        named = {word for word in matters if word in arguments}
        if not _FORMULA.search(explain[0]) and named.isdisjoint(_NAME.findall(explain[0])):
            explain = [*of_values, *of_formulas, *of_conditions, *explain]
    of_shape = (
        [text for text in group.deciding if _SHAPE.search(text)] if on_shape and said_on_shape and not empty else []
    )
    # If the text has no definition, as that of Loop, the file begins with a sentence on an argument.
    definition = of_operator if of_operator and not _SIDE.search(of_operator[0]) else [*cited, *of_operator]
    last = (*of_values, *of_formulas, *of_conditions, *of_default, *definition, *cited)
    first = (*_said(result, arguments, texts), *of_message, *_of_all_values(group.conditions, [*cited, *texts]), *of_type, *_shared(group, cited))
    return next(iter((*first, *explain, *of_shape, *tables, *last)), "")


def _definitions(case: Case, cited: Sequence[str], of_operator: list[str]) -> list[str]:
    """Return the definitions of a value, the best ones first: a formula for it precedes the name of a paper.

    Args:
        case: the smallest case.
        cited: the sentences that it cites.
        of_operator: the sentences in the operator's file that are in force, the definition of the result first.
    """
    if not of_operator or not _ELSEWHERE.search(of_operator[0]):
        return of_operator
    # The text writes y for the output, or its name.
    starts = tuple(f"{name.lower()} = " for name in (*case.outputs, "y"))
    formulas = [text for text in of_operator if text.lower().startswith(starts)]
    # Only the case knows which of several formulas applies, such as those of training and inference.
    return [*(formulas if len(formulas) == 1 else filter(cited.__contains__, formulas)), *of_operator]


def _of_absent(text: str, arguments: Mapping[str, Argument]) -> bool:
    """Return whether a sentence is on an argument that the node lacks, and not on the effect of its absence."""
    absent = {name: argument.description for name, argument in arguments.items() if argument.absent}
    named = any(f"`{name}`" in text for name in absent)
    return _ABSENCE.search(text) is None and (named or any(text in about for about in absent.values()))


def _of_signature(case: Case, result: Result, group: FailureGroup, cited: Sequence[str], texts: list[str]) -> list[str]:
    """Return the sentences that a wrong type, shape or number of outputs may violate, the best ones first.

    Args:
        case: the smallest case.
        result: its result.
        group: the failures.
        cited: the sentences that the case cites, the best ones first.
        texts: the sentences in the operator's file that are in force.
    """
    if result.verdict is Verdict.WRONG_TYPE:
        return [*_of_output(case, result, texts), *cited]
    other = [text for text in cited if not _OF_KEPT.search(text)]
    if result.verdict is not Verdict.WRONG_SHAPE:
        return other
    kept = [text for text in (*cited, *texts) if _KEPT.search(text) and any(map(_KEEPS.search, group.conditions))]
    # The smallest case needs the values that its node has, such as SAME_LOWER.
    written = {word for item in _arguments(case).values() for value in item.words for word in _NAME.findall(value)}
    on_values = [
        text
        for text in (*cited, *texts)
        if not _RULE.search(text) and _OF_SHAPE.search(text) and written & {*_NAME.findall(text)}
    ]
    return [*kept, *on_values, *other]


def _matters(condition: str, arguments: Mapping[str, Argument]) -> bool:
    """Return whether the smallest case confirms a condition on an argument: if it is on its value, it has one."""
    named = [match["name"] for match in _VALUE.finditer(condition)]
    absent = any(name in arguments and arguments[name].absent for name in named)
    return not absent and not condition.startswith("without ")


def _citing(text: str, group: FailureGroup) -> float:
    """Return the part of the failures whose cases cite a sentence."""
    return sum(text in result.clauses for result in group.results) / len(group.results)


def _shared(group: FailureGroup, cited: Sequence[str]) -> list[str]:
    """Return the cited sentences that, according to the conditions of a group, only its failures cite."""
    return [
        text
        for text in cited
        if any(traits.citation(text) == condition for condition in group.conditions) and not _OF_SHAPE.search(text)
    ]


def _does_not_apply(text: str, *, present: bool, negative: bool, on_shape: bool) -> bool:
    """Return whether a sentence on an argument does not apply to how a case uses it, or only repeats its name.

    Args:
        text: the sentence.
        present: whether the node of the case has the argument.
        negative: whether the failures have in common that something is negative.
        on_shape: whether they have the shape of an input in common.
    """
    if on_shape and _SHAPE.search(text):
        return False
    short = _ABSENCE.search(text) is not None and len(text) < SHORT
    of_absent = present and (short or _IF_ABSENT.search(text) is not None)
    of_negative = not negative and _NEGATIVE.search(text) is not None
    return of_absent or of_negative or _RULE.search(text) is not None or _EMPTY.search(text) is not None


def _named_by(result: Result, arguments: Mapping[str, Argument]) -> list[str]:
    """Return the arguments that the message of a refusal is about, or nothing if it lists many arguments."""
    if result.verdict not in WITH_MESSAGE:
        return []
    named = dict.fromkeys(word for word in _NAME.findall(result.message) if "_" in word and word in arguments)
    return list(named) if len(named) <= MOST_NAMED else []


def _said(result: Result, arguments: Mapping[str, Argument], texts: Sequence[str]) -> list[str]:
    """Return the definitions of those functions in the attributes of the node that the message of a refusal names."""
    message = result.message.lower() if result.verdict in WITH_MESSAGE else ""
    functions = [word for argument in arguments.values() for word in argument.words if word.lower() in message]
    return [text for word in functions for text in texts if text.startswith(f"{word}(")]


def _on_values(
    conditions: Sequence[str], matters: Sequence[str], texts: Sequence[str], arguments: Mapping[str, Argument]
) -> list[str]:
    """Return the sentences on the values that decide, such as SAME_LOWER, other than lists of all values.

    Args:
        conditions: those that the failures have in common; they may name values.
        matters: the words of the conditions, among them names of arguments.
        texts: the sentences in the operator's file.
        arguments: the arguments of the node.
    """
    found = [match for condition in conditions for match in _VALUE.finditer(condition)]
    values = (match["value"] for match in found if match["name"] in arguments)
    words = [word for value in values for word in _WORD_OF_VALUE.findall(value)]
    words += [_WRITTEN.get(match["type"], match["type"]) for match in found if match["typed"] in arguments]
    about = [text for word in words for text in texts if re.search(rf"\b{re.escape(word)}\b", text)]
    # The definition of a function that a condition does not name, but that the argument in it chooses.
    chosen = [word for name in matters if name in arguments for word in arguments[name].words]
    about += [text for word in chosen for text in texts if text.startswith(f"{word}(")]
    return [text for text in about if not _RULE.search(text) and not _SIDE.search(text)]


def _of_all_values(conditions: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return the sentences on exactly the values of several attributes that the failures have in common."""
    values = [f"{match['name']}={match['value']}" for each in conditions for match in _VALUE.finditer(each) if match[1]]
    return [text for text in texts if len(values) > 1 and all(re.search(rf"\b{re.escape(v)}\b", text) for v in values)]


def _of_output(case: Case, result: Result, texts: list[str]) -> list[str]:
    """Return the sentences on the type of the output that has a wrong one, or nothing.

    Args:
        case: the smallest case.
        result: its result.
        texts: the sentences in the operator's file that are in force.
    """
    number, version = wrong_output(result), version_of(case.operator)
    if number is None or version is None:
        return []
    output = version.outputs[min(number, len(version.outputs) - 1)]  # The last one may be variadic.
    constraint = version.constraints.get(output.type, f"Signature: {output.name}: {output.type}")
    return [*(text for text in texts if _TYPE_OF_OUTPUT.search(text)), *filter(None, (constraint,))]


def _of_type(case: Case, result: Result, group: FailureGroup) -> list[str]:
    """Return the sentence on the types that a runtime refuses, if only the type of a tensor decides; or nothing."""
    found = [_TYPE.match(condition) for condition in group.conditions]
    version = version_of(case.operator)
    if result.verdict is not Verdict.REFUSED or not found or None in found or version is None:
        return []
    named = {match["name"] for match in found if match is not None}
    types = [item.type for item in (*version.inputs, *version.outputs) if item.name in named]
    element = next(filter(None, (result.element_type, *(item.element_type for item in group.results))), "")
    types += [variable for variable, allowed in version.types.items() if f"tensor({element})" in allowed]
    return [version.constraints[variable] for variable in types if variable in version.constraints][:1]


def _of_mixed_types(case: Case, result: Result) -> list[str]:
    """Return the sentence on a type that differs from that of the first input, if the runtime refuses the types."""
    version = version_of(case.operator)
    if result.verdict is not Verdict.REFUSED or not _SAID_ON_TYPES.search(result.message) or version is None:
        return []
    variables = {item.name: item.type for item in version.inputs}
    values = {name: value.dtype for name, value in case.inputs.items() if isinstance(value, np.ndarray)}
    types = {variables[name]: dtype for name, dtype in values.items() if name in variables}
    first = next(iter(types), "")
    allowed = version.types.get(first, ())
    return [
        version.constraints[variable]
        for variable, dtype in types.items()
        if dtype != types[first] and version.types.get(variable) == allowed and variable in version.constraints
    ][:1]


def _arguments(case: Case) -> dict[str, Argument]:
    """Return the optional inputs and the attributes of the operator version of a case."""
    name, since = split_operator(case.operator)
    domain, _, operator = name.rpartition("/")
    try:
        known = schema.source(domain, operator, since or 0)
    except schema.SchemaError:
        return {}
    node = nodes.of_operator(onnx.load_from_string(case.model), domain, operator)
    present: dict[str, tuple[str, ...]] = {}
    if node is not None:
        present.update((item.name, ()) for item, value in zip(known.inputs, node.input, strict=False) if value)
        present.update(
            (item.name, tuple(text.decode("utf-8", "replace") for text in filter(None, (item.s, *item.strings))))
            for item in node.attribute
        )
    optional = {item.name: item.description for item in known.inputs if item.option is item.option.Optional}
    described = {**optional, **{name: item.description for name, item in known.attributes.items()}}
    return {
        name: Argument(schema.fold(text), node is not None and name not in present, present.get(name, ()))
        for name, text in described.items()
    }


def _only_form(case: Case, group: FailureGroup) -> Form | None:
    """Return the form of the smallest case if the group does not fail in the plain form."""
    return table.find(case.form) if PLAIN not in {case.form, *(item.form for item in group.results)} else None


def _is_side(text: str, case: Case) -> bool:
    """Return whether a sentence is on types, shapes or defaults, or on the broadcasting of equal shapes."""
    shapes = {value.shape for value in case.inputs.values() if isinstance(value, np.ndarray)}
    return _SIDE.search(text) is not None or (len(shapes) < 2 and "broadcast" in text)  # noqa: PLR2004 - two differ
