# SPDX-License-Identifier: Apache-2.0
"""From a failure group to a finding that can be confirmed: the smallest case and its answer, a title and a script."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import onnx

from onnx_conformance.analysis import traits
from onnx_conformance.analysis.sentences import leading, version_of, wrong_output
from onnx_conformance.base import under_test
from onnx_conformance.base.signature import place_of
from onnx_conformance.base.verdict import WITH_MESSAGE, WRONG, Verdict, clean, line, natural, split_operator
from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.case.expected_text import expected_rows
from onnx_conformance.case.model_text import model_text
from onnx_conformance.case.value_text import one
from onnx_conformance.environments import backend_names
from onnx_conformance.findings import script, severity, smallest, titles
from onnx_conformance.findings.finding import MOST_IDS, Example, FailingCases, Finding, History, Identity
from onnx_conformance.forms import table
from onnx_conformance.minimize.cause import by_rounding, difference, masked
from onnx_conformance.repro import tool_code
from onnx_conformance.repro.bug_report import public
from onnx_conformance.results.severity import IMPRECISE
from onnx_conformance.specification import nodes, registry, schema
from onnx_conformance.suites.lookup import open_suite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.base.values import Value
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.findings.failure_groups import FailureGroup
    from onnx_conformance.findings.smallest import Budget, Smallest
    from onnx_conformance.forms.table import Form
    from onnx_conformance.suites.suite import Suite

MOST_MODEL, MOST_VALUE = 6000, 600
"""Maximum numbers of characters of a model and of a value."""
_WORD = re.compile(r"[^\w.]+")
"""Characters that ids do not contain, such as the brackets of an option, because ids are names of files."""
_OF_SIGNATURE = frozenset({Verdict.WRONG_TYPE, Verdict.WRONG_SHAPE, Verdict.WRONG_COUNT})
_SIDE = re.compile(
    r"(?i)\bdefaults?\b|^'?constrain|\bof shape\b|\b\d-D tensor\b|\boptional\b|^signature: |^floor\(input_dimension"
    r"|\bdimensions of output\b|\boperand for\b|^(in|out)puts have dimensions\b"
)
"""Sentences on types, shapes and defaults: they do not decide a value if the case cites another sentence."""
_RULE = re.compile(
    r"(?i)\bmust\b|\bshould\b|\bdeprecated\b|supports \*\*|^inputs? (?:can|have)\b|empty matrix|\bin the format \["
    r"|is not specified, a default|subset of the `axes`|^floor\(input_dimension|\boperand for\b"
)
"""Sentences at the beginning of a file that do not define the result."""
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
_SHAPE = re.compile(r"(?i)\b(shapes?|rank|scalar|broadcast\w*|dimensions are)\b")
"""Sentences on the shape of an argument."""
_EMPTY = re.compile(r"(?i)^value of \w+\.?$|:$")
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
Feature = tuple[str | int | bool, ...]


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


@dataclass(frozen=True)
class Outline:
    """The properties that distinguish one cause from another.

    Attributes:
        features: the parts that the smallest case needs: its nodes, attributes and inputs, and special properties of
            their values.
        difference: how the answer to it differs from the expected answer.
    """

    features: frozenset[Feature]
    difference: tuple[str, ...]

    def covers(self, other: Outline) -> bool:
        """Return whether the features of another case suffice for this cause, in spite of its additional features."""
        return self.difference == other.difference and self.features <= other.features

    def digest(self, *parts: str) -> str:
        """Return a digest that is equal for findings with the same cause."""
        text = repr((parts, sorted(map(repr, self.features)), self.difference))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Evidence:
    """The evidence for a fault.

    Attributes:
        finding: the finding, which is not confirmed yet.
        script: the text of the script that shows it.
        case: the smallest case.
        outline: the outline of its cause.
        title: the title of the finding, without its conditions.
        failing: the ids of all cases that fail in this way; the finding lists only some of them.
    """

    finding: Finding
    script: str
    case: Case
    outline: Outline
    title: str
    failing: frozenset[str] = frozenset()


def evidence(group: FailureGroup, budget: Budget) -> Evidence | None:
    """Return the evidence of a group of failures; None if no case of it fails again in the same way.

    Raises:
        HarnessError: the backend does not start.
    """
    found = smallest.smallest(group, budget)
    return None if found is None else _made(group, found, open_suite(budget.suite[0]))


def _made(group: FailureGroup, found: Smallest, source: Suite) -> Evidence:
    case, result, hello = found.case, found.result, found.hello
    backend = under_test.unversioned(group.backend)
    came = tool_code.made(case, found.model, hello)
    given = tuple(map(one, came.outputs)) if came.outputs is not None else found.given
    names = [*case.outputs, *("?" for _ in given[len(case.outputs) :])]
    example = Example(
        case=case.id,
        model=model_text(case.model, MOST_MODEL),
        inputs={line(name): clean(one(value), MOST_VALUE) for name, value in case.inputs.items()},
        expected={line(name): clean(value, MOST_VALUE) for name, value in expected_rows(case)},
        given={line(name): clean(value, MOST_VALUE) for name, value in zip(names, given, strict=False)},
        message=line(public(" at ".join(filter(None, (result.message, place_of(result))))), MOST_VALUE),
        made="" if found.model is None else model_text(found.model, MOST_MODEL),
        guilty=found.guilty,
    )
    clause = _sentence(case, result, group)
    outline = _outline(found, clause)
    of_model = split_operator(case.operator)[0]  # If its operator is not needed, another operator has the fault.
    own = of_model in {"model", group.operator}
    operator = group.operator if own else of_model
    cause = outline.digest(backend_names.implementation_of(backend), operator, str(group.kind))
    operators = sorted({item.operator for item in group.results} if own else {case.operator}, key=natural)
    versions = [name.rpartition("/")[2] for name in operators]
    conditions = group.conditions if own else ()
    affected = tuple(sorted({*found.versions, *(int(last) for last in versions if last.isdigit())}))
    title = titles.title(operator, affected, group.kind, case, result, conditions)
    name = _WORD.sub("-", backend).strip("-")
    finding = Finding(
        id=f"{name}-{operator.rpartition('/')[2].lower()}-{group.kind}-{cause[:6]}",
        title=title,
        identity=Identity(backend, operator, group.kind, cause, group.apart),
        cases=FailingCases(
            count=len(group.results),
            ids=tuple(item.case for item in group.results[:MOST_IDS]),
            conditions=conditions,
            clause=clause,
            force=case.force,
            versions=affected,
            types=tuple(sorted({item.element_type for item in group.results} - {""})),
            forms=tuple(sorted({item.form for item in group.results})),
        ),
        example=example,
        history=History(runtime=str(hello.get("runtime", backend)), version=str(hello.get("version", ""))),
        severity=severity.of_cases(group.results, group.kind, affected, source, group.lacks),
    )
    text = script.text(case, group.backend, hello, title, came, clause)
    short = titles.title(operator, affected, group.kind, case, result, ())
    return Evidence(finding, text, case, outline, short, frozenset(item.case for item in group.results))


def _sentence(case: Case, result: Result, group: FailureGroup) -> str:
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
    of_operator = sorted(texts, key=lambda text: _RULE.search(text) is not None)
    cited = leading(case, result)
    if case.outcome not in {Outcome.VALUES, Outcome.PROPERTY}:
        return next(iter((*cited, *of_operator)), "")
    if (form := _only_form(case, group)) is not None and form.text:
        return form.text
    if result.verdict in _OF_SIGNATURE:
        kept = [text for text in (*cited, *texts) if _KEPT.search(text) and any(map(_KEEPS.search, group.conditions))]
        other = [text for text in cited if result.verdict is Verdict.WRONG_TYPE or not _OF_KEPT.search(text)]
        if result.verdict is Verdict.WRONG_SHAPE:
            written = {
                word for item in _arguments(case).values() for value in item.words for word in _NAME.findall(value)
            }
            about = [text for text in (*cited, *texts) if not _RULE.search(text) and written & {*_NAME.findall(text)}]
            other = [*kept, *filter(_OF_SHAPE.search, about), *other]
        return next(iter((*_of_output(case, result, texts), *other, *of_operator, *cited)), "")
    if result.verdict is Verdict.WRONG_VALUE and by_rounding(result, most=IMPRECISE):
        return next(iter((*of_operator, *cited)), "")
    arguments = _arguments(case)
    absent = [argument.description for argument in arguments.values() if argument.absent]
    explain = [
        text
        for text in group.deciding
        if text in cited
        and not _is_side(text, case)
        and (_ABSENCE.search(text) is not None or not any(text in about for about in absent))
    ]
    explain += [
        text for text in group.deciding if text in cited and text in group.marking and not _OF_KEPT.search(text)
    ]
    tables = [text for text in cited if _TABLE.search(text)]
    refused = _named_by(result, arguments)
    matters = [word for each in group.conditions if not each.startswith("without ") for word in _NAME.findall(each)]
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
    of_type = _of_type(case, result, group)
    of_values = _on_values(group.conditions, matters, [*cited, *texts], arguments)
    alone = [text for text in cited if len(cited) == 1 and text in group.deciding]
    of_default = [text for text in alone if _ABSENCE.search(text) is not None and not _OF_SHAPE.search(text)]
    empty = bool(inputs) and all(map(_NO_ELEMENTS.search, inputs))
    if empty and result.verdict is not Verdict.WRONG_VALUE:
        explain = [text for text in explain if text in group.marking and not _SHAPE.search(text)]
    if explain:
        named = {word for word in matters if word in arguments}
        if not _FORMULA.search(explain[0]) and named.isdisjoint(_NAME.findall(explain[0])):
            explain = [*of_values, *of_formulas, *of_conditions, *explain]
    of_shape = [text for text in group.deciding if _SHAPE.search(text)] if on_shape and said_on_shape else []
    # If the text has no definition, as that of Loop, the file begins with a sentence on an argument.
    definition = of_operator if of_operator and not _SIDE.search(of_operator[0]) else [*cited, *of_operator]
    last = (*of_values, *of_formulas, *of_conditions, *of_default, *definition, *cited)
    of_message += _of_all_values(group.conditions, [*cited, *texts])
    return next(iter((*of_message, *of_type, *_shared(group, cited), *explain, *of_shape, *tables, *last)), "")


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
    if result.verdict is not Verdict.WRONG_TYPE or number is None or version is None:
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


def _outline(found: Smallest, clause: str) -> Outline:
    """Return the properties that distinguish the cause of a smallest case within its backend, operator and kind.

    The message of a refusal names its cause. The sentence of a forbidden model is its cause. Models of one rewrite have
    the same nodes, but each shows another fault of the fusion.
    """
    case, result = found.case, found.result
    if result.verdict in WITH_MESSAGE and result.message.strip():
        return Outline(frozenset(), (*found.guilty, masked(public(result.message))))
    features: set[Feature] = set()
    for node in onnx.load_from_string(case.model).graph.node:
        features.add((node.op_type,))
        features.update((node.op_type, item.name, _kind_of(item)) for item in node.attribute)
        features.update((node.op_type, number, bool(name)) for number, name in enumerate(node.input))
    for number, value in enumerate(case.inputs.values()):
        features.update(("input", number, text) for text in _special(value))
    rewrite = titles.rewrite_of(case)
    return Outline(
        frozenset(features),
        (
            *found.guilty,
            *([rewrite] if rewrite and result.verdict in WRONG else []),
            clause if result.verdict is Verdict.ACCEPTED_INVALID else "",
            result.signal,
            place_of(result),
            str(result.mismatch.get("where", "")).partition("]")[0],
            *(difference(case, result) if result.verdict is Verdict.WRONG_VALUE else ()),
        ),
    )


def _kind_of(attribute: onnx.AttributeProto) -> str:
    """Return the part of an attribute's value that distinguishes faults: a word, or the sign of a number."""
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, int | float):
        return str(np.sign(value))
    if isinstance(value, bytes):
        return repr(value)
    return repr(sorted(set(value))) if attribute.type == onnx.AttributeProto.STRINGS else ""


def _special(value: Value) -> list[str]:
    """Return the special properties of a value: that it is a scalar, is empty, or contains NaN or infinity."""
    if isinstance(value, list):
        return sorted({text for item in value for text in _special(item)} | ({"empty"} if not value else set()))
    if not isinstance(value, np.ndarray):
        return [] if value is not None else ["absent"]
    special = [text for text, is_it in (("scalar", value.ndim == 0), ("empty", value.size == 0)) if is_it]
    if np.issubdtype(value.dtype, np.inexact):
        special += [text for text, is_it in (("nan", np.isnan), ("inf", np.isinf)) if is_it(value).any()]
    return special
