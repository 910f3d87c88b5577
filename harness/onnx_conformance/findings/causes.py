# SPDX-License-Identifier: Apache-2.0
"""Root causes: which findings are one fault, across operators, forms, tools and the variants of one runtime.

Two findings have one cause if they share a trait. Each function of `TRAITS` returns one kind of trait of a finding, or
None if the finding has none of this kind. A trait begins with the implementation: the library that several packages
wrap, or the runtime with which a tool folds constants.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.base import under_test
from onnx_conformance.base.verdict import WITH_MESSAGE, WRONG, Verdict
from onnx_conformance.case.case import PLAIN
from onnx_conformance.environments import backend_names
from onnx_conformance.findings.titles import UNTOLD, WRAPPER
from onnx_conformance.forms import table
from onnx_conformance.minimize.cause import masked
from onnx_conformance.results.severity import Nature

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.findings.finding import Finding

_SOURCE = re.compile(r"[\w./\\@-]*?([\w-]+\.(?:rs|cc|cpp|cxx|c|h|hpp|inl\.hpp|py|td|ts|mjs))\b(?=:| )")
"""A source file in a message, with its folder: the folder depends on the machine that built the runtime."""
_NAMED = re.compile(r"(?i)\b((?:tensor|input|output|node|initializer)(?: named?)?:) \w+")
"""The name of a tensor or node in a message."""
_OF_MODEL = re.compile(
    r"(?P<before>\bits output |\bmodel: |'|\bName: )\S+"
    r"(?P<after> is \w+\(| in initializer but not |(?: : \w+)'| OpType: )"
)
"""The name of an output, an initializer or a node in the message on an invalid model."""
_SHAPES = re.compile(r"[\[(]#,?[\])](?:, ?[\[(]#,?[\])])*")
"""One masked shape, or several: shapes of another rank or number are no other error."""
_GENERIC = re.compile(
    r"(?i)^\W*$|process (?:ended|exited)|out of (?:bounds|range)|has no attribute|unsupported operand|subscriptable"
    r"|iterable|index out|zip\(\)|broadcast|(?:cannot|can't) (?:reshape|select)|divi(?:sion|de) by|zero-size"
    r"|homogeneous|issues with types|not initialized|axes don.t match|aligned|positional argument|keyword argument"
    r"|can.?t be cast|invalid (?:value|literal|type|argument)|not (?:match|supported between)|expected .* got"
    r"|same (?:shape|size|number)|must be |is not valid|KeyError|list index|no entry found"
    r"|called `Option::unwrap|assertion failed|modulo|type mismatch|datum type|axis >= |out of .* range"
)
"""Messages that several causes share, so they show one cause only within an operator."""
_FOLDS = re.compile(r"(?i)fold|constant")
"""Names of passes that compute constants."""
_UNSHARED = (*UNTOLD, "type ")
"""The first words of conditions that do not describe a call."""
MOST_OWN_TYPES = 5
"""From this number of operators on, one wrong type has one cause: the type in which the runtime computes."""
_SIMILAR = 0.6
"""The share of words that two messages of one refusal have in common, at least."""
_WORDS = 4
"""A message with fewer words than this does not name a cause."""


def implementation_of(finding: Finding) -> str:
    """Return the implementation whose fault a finding is.

    That of a tool which evaluates constants with a runtime is this runtime, if the runtime fails in the same way.
    """
    return runtime_at_fault(finding) or backend_names.implementation_of(finding.identity.backend)


def runtime_inside(backend: str) -> str:
    """Return the runtime with which a tool loads models or evaluates constants; empty: none, or not known."""
    folds_with = getattr(backend_names.needs(backend), "folds_with", "")
    inside = folds_with or backend_names.implementation_of(backend)
    return "" if inside == under_test.stem(backend) else inside


def runtime_at_fault(finding: Finding) -> str:
    """Return the runtime inside a tool if it fails on the same case in the same way; empty: it does not."""
    inside = runtime_inside(finding.identity.backend)
    answers = (other for other in finding.example.others if inside and other.get("backend") == inside)
    return inside if any(_is_same_failure(finding, other) for other in answers) else ""


def _is_same_failure(finding: Finding, other: Mapping[str, str]) -> bool:
    """Return whether the answer of a runtime is the same wrong value, or a refusal with a similar message."""
    if finding.identity.kind in WRONG:
        given = " ".join(finding.example.given.values())
        return bool(given) and given == other.get("given")
    if other.get("verdict") != finding.identity.kind:
        return False
    said, there = (_words(text) for text in (finding.example.message, other.get("given", "")))
    # The other message is cut, and a crash may have none.
    return not there or _share(said[: len(there)], there) > _SIMILAR


def _passes(finding: Finding) -> Hashable:
    """The guilty passes of an optimizer with its message, and the operator if they compute constants."""
    guilty = finding.example.guilty
    if not guilty:
        return None
    operator = finding.identity.operator if any(_FOLDS.search(name) for name in guilty) else ""
    return guilty, operator, "" if finding.identity.kind in WRONG else innermost(finding)


def _outline(finding: Finding) -> Hashable:
    """The features of the smallest case and of the difference."""
    cause = finding.identity.cause
    return (finding.identity.operator, finding.identity.kind, cause) if cause else None


def _rule(finding: Finding) -> Hashable:
    """The rule that a model violates which was accepted."""
    accepted = finding.identity.kind is Verdict.ACCEPTED_INVALID
    return (finding.identity.operator, finding.cases.clause) if accepted and finding.cases.clause else None


def _signature(finding: Finding) -> Hashable:
    """The rule of every signature that a model violates on which the process ends: one check is missing for all."""
    kind = finding.identity.kind
    crash = kind is Verdict.CRASH and finding.cases.clause.startswith("Signature: ") and not innermost(finding)
    return (kind, finding.cases.clause) if crash else None


def _sentence(finding: Finding) -> Hashable:
    """The violated sentence and the condition, if operators share both: one helper often serves a family of them."""
    conditions = tuple(text for text in finding.cases.conditions if not text.startswith(_UNSHARED))
    named = finding.identity.kind in {*WITH_MESSAGE, Verdict.INVALID_MODEL}
    if named or not conditions or not finding.cases.clause or finding.cases.clause.startswith("Signature: "):
        return None
    return finding.identity.kind, finding.cases.clause, conditions


def _difference(finding: Finding) -> Hashable:
    """The expected and the wrong values of one smallest call."""
    if finding.identity.kind not in WRONG:
        return None
    example = finding.example
    body = example.model.partition("{")[2]
    return finding.identity.operator, body, tuple(example.expected.values()), tuple(example.given.values())


def innermost(finding: Finding) -> str:
    """Return the innermost error of a message, without names of the operator, of nodes, and of folders.

    For a crash, it is the place at which the process ended, with the number of the line.
    """
    if finding.identity.kind is Verdict.CRASH:
        return finding.example.message.partition(" at ")[2]
    name = finding.identity.operator.rpartition("/")[2]
    text = _SOURCE.sub(r"\1", " ".join(finding.example.message.split()))
    text = _NAMED.sub(r"\1 #", re.sub(rf"\b{re.escape(name)}\d*\b", "#", WRAPPER.sub("", text)))
    if finding.identity.kind is Verdict.INVALID_MODEL:
        text = _OF_MODEL.sub(r"\g<before>#\g<after>", text)
    return _SHAPES.sub("#", masked(text)).strip("# :.")


def _message(finding: Finding) -> Hashable:
    """The innermost error, if it names a cause whatever the operator is; else only within the operator."""
    if finding.identity.kind not in {*WITH_MESSAGE, Verdict.CRASH, Verdict.INVALID_MODEL}:
        return None
    text = innermost(finding)
    if not text or finding.identity.kind is Verdict.CRASH:
        return (finding.identity.kind, text) if text else None
    generic = _GENERIC.search(text) is not None or len(re.findall(r"[A-Za-z]{2,}", text)) < _WORDS
    return finding.identity.kind, text, finding.identity.operator if generic else ""


def _type(finding: Finding) -> Hashable:
    """The wrong type, and the one that it should be."""
    if finding.identity.kind is not Verdict.WRONG_TYPE:
        return None
    expected, actual = (
        tuple(sorted({text.partition("[")[0] for text in values.values()}))
        for values in (finding.example.expected, finding.example.given)
    )
    return finding.identity.kind, expected, actual


def _form(finding: Finding) -> Hashable:
    """The form, if all failing cases have one in which no operator matters, and how they fail."""
    forms = finding.cases.forms
    row = table.find(forms[0]) if len(forms) == 1 and forms[0] != PLAIN else None
    if row is None or not (row.one_meaning or row.open_shapes):
        return None
    kind = finding.identity.kind
    return row.name, "wrong" if kind in WRONG else kind, innermost(finding) if kind in WITH_MESSAGE else ""


def _emptiness(finding: Finding) -> Hashable:
    """The shapes of empty tensors, and the wrong ones: one rule on empty tensors serves several operators."""
    if finding.severity.nature is not Nature.DEGENERATE or finding.identity.kind is not Verdict.WRONG_SHAPE:
        return None
    inputs = tuple(_shape(text) for text in finding.example.inputs.values())
    return inputs, *(
        tuple(map(_shape, values.values())) for values in (finding.example.expected, finding.example.given)
    )


def _shape(text: str) -> str:
    return text.partition("[")[2].partition("]")[0]


def _opset(finding: Finding) -> Hashable:
    """The opset whose versions a runtime lacks although their meaning is not new: one change adds all of them."""
    return finding.cases.versions if finding.identity.kind is Verdict.UNSUPPORTED else None


def _narrowed(finding: Finding) -> Hashable:
    """The narrow type in which the runtime keeps integers, if that explains all wrong elements that are shown."""
    if finding.identity.kind is not Verdict.WRONG_VALUE:
        return None
    example = finding.example
    pairs = [
        (one, other)
        for name, text in example.expected.items()
        for one, other in zip(_integers(text), _integers(example.given.get(name, "")), strict=False)
        if one != other
    ]
    for name, narrow in _NARROW.items():
        if pairs and all(other in narrow(one) for one, other in pairs):
            return name
    return None


def _integers(text: str) -> list[int]:
    """Return the integers of a tensor of integers, as far as they are shown."""
    if not re.match(r"u?int\d+\[", text):
        return []
    return [int(word) for word in text.partition("] ")[2].split() if re.fullmatch(r"-?\d+", word)]


_NARROW: dict[str, Callable[[int], tuple[int, ...]]] = {
    "int32": lambda number: (min(max(number, -(2**31)), 2**31 - 1), (number + 2**31) % 2**32 - 2**31),
    "float": lambda number: (int(np.float32(number)),),
}
"""The possible values of an integer in a narrower type: saturated, wrapped or rounded."""
TRAITS: tuple[Callable[[Finding], Hashable], ...] = (
    _passes,
    _outline,
    _rule,
    _signature,
    _sentence,
    _difference,
    _message,
    _type,
    _form,
    _emptiness,
    _opset,
    _narrowed,
)
"""The kinds of traits: findings with the same one have one cause."""


def related(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, each with `related`: the ids of the other findings with the same cause."""
    listed = list(findings)
    parents = list(range(len(listed)))

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    implementations = list(map(implementation_of, listed))
    for group in (*_with_one_trait(listed, implementations), *_of_variants(listed, implementations)):
        for other in group[1:]:
            parents[root(other)] = root(group[0])
    members: dict[int, list[int]] = defaultdict(list)
    for number in range(len(listed)):
        members[root(number)].append(number)
    return [
        dataclasses.replace(item, related=tuple(listed[other].id for other in members[root(number)] if other != number))
        for number, item in enumerate(listed)
    ]


def _with_one_trait(findings: Sequence[Finding], implementations: Sequence[str]) -> Iterator[list[int]]:
    groups: dict[tuple[str, str, str, Hashable], list[int]] = defaultdict(list)
    for number, item in enumerate(findings):
        for trait in TRAITS:
            found = trait(item)
            if found is not None:
                groups[trait.__name__, implementations[number], item.identity.apart, found].append(number)
    for (name, *_), group in groups.items():
        operators = {findings[number].identity.operator for number in group}
        if name != _type.__name__ or len(operators) >= MOST_OWN_TYPES:
            yield group


def _of_variants(findings: Sequence[Finding], implementations: Sequence[str]) -> Iterator[list[int]]:
    """Yield pairs of findings of two variants of one implementation if most of their failing cases are the same.

    The messages of two refusals must be similar: each package has its own words around that of the library.
    """
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for number, item in enumerate(findings):
        key = implementations[number], item.identity.operator, item.identity.kind, item.identity.apart
        groups[key].append(number)
    for group in groups.values():
        for place, one in enumerate(group):
            for other in group[place + 1 :]:
                a, b = (frozenset(findings[number].cases.ids) for number in (one, other))
                different = findings[one].identity.backend != findings[other].identity.backend
                if different and len(a & b) * 2 > min(len(a), len(b)) and _similar(findings[one], findings[other]):
                    yield [one, other]


def _similar(one: Finding, other: Finding) -> bool:
    """Return whether the messages of two refusals are similar; True for other findings."""
    if one.identity.kind not in WITH_MESSAGE:
        return True
    return _share(_words(one.example.message), _words(other.example.message)) > _SIMILAR


def _words(message: str) -> list[str]:
    return re.findall(r"[A-Za-z_]{3,}", _SOURCE.sub("", message))


def _share(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the share of words that two lists have in common, in the same order."""
    return difflib.SequenceMatcher(None, one, other).ratio()
