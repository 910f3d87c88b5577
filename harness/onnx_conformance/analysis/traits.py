# SPDX-License-Identifier: Apache-2.0
"""Traits of a case, from which statements on failures are built; this module reads those that a result has.

These are version, element type, form, tags, sentences and expected outcome; `model_traits` reads the others.
"""

from __future__ import annotations

import enum
import functools
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_conformance.base.verdict import line, split_operator
from onnx_conformance.case.case import PLAIN, Outcome

if TYPE_CHECKING:
    from onnx_conformance.base.verdict import Result

MOST_TEXT = 40
"""Maximum length of an attribute's value in a statement, in characters."""
MOST_CLAUSE = 70


class TraitKind(enum.IntEnum):
    """How conditions are derived from a trait."""

    FACT = 0
    CHOICE = 1
    NUMBER = 2


class Topic(enum.IntEnum):
    """The topic of a trait; statements name topics in this order."""

    ARGUMENT = 0
    VALUES = 1
    HINT = 2
    """Properties that may merely coincide with a cause: inputs of one shape, a number beyond some limit."""
    OUTPUT = 3
    TYPE = 4
    VERSION = 5
    OPSET = 6
    FORM = 7
    TAG = 8
    CLAUSE = 9
    OUTCOME = 10


class Trait(NamedTuple):
    """A property of a case; a plain tuple, because it is a key of millions of look-ups.

    Attributes:
        topic: its topic.
        name: for a fact the whole phrase, `split is a scalar`; otherwise the thing that has a value, `rank of split`.
        kind: a fact that is true or not, one of several values, or a number.
        equals: the text between name and value: `=` for attributes, ` is ` for others.
    """

    topic: Topic
    name: str
    kind: TraitKind = TraitKind.FACT
    equals: str = " is "


Traits = dict[Trait, Any]
"""The traits that a case has, with their values: True, a text or a number."""

TYPE = Trait(Topic.TYPE, "type", TraitKind.CHOICE)
VERSION = Trait(Topic.VERSION, "version", TraitKind.NUMBER)
OPSET = Trait(Topic.OPSET, "opset", TraitKind.NUMBER)
FORM = Trait(Topic.FORM, "form", TraitKind.CHOICE)
ALLOWED = Trait(Topic.OUTCOME, "the text allows it")
FORBIDDEN = Trait(Topic.OUTCOME, "the text forbids it")


def of_result(result: Result) -> Traits:
    """Return the traits of a case that its result has; the same object for results that agree in these."""
    return _from_fields(result.operator, result.element_type, result.form, result.outcome, result.tags, result.clauses)


@functools.lru_cache(maxsize=1 << 16)
def _from_fields(
    operator: str, type_: str, form: str, outcome: str, tags: tuple[str, ...], clauses: tuple[str, ...]
) -> Traits:
    version = split_operator(operator)[1]
    traits: Traits = {FORM: form if form == PLAIN else f"@{line(form, MOST_TEXT)}"}
    traits[FORBIDDEN if outcome == Outcome.REJECTS else ALLOWED] = True
    if version is not None:
        traits[VERSION] = version
    if type_:
        traits[TYPE] = line(type_, MOST_TEXT)
    for tag in tags:
        traits[Trait(Topic.TAG, f"tag is {line(tag, MOST_TEXT)}")] = True
    for clause in clauses:
        traits[Trait(Topic.CLAUSE, citation(clause))] = True
    return traits


def citation(clause: str) -> str:
    """Return the text of the trait that a case cites a clause."""
    return f"the case cites «{shortened(clause)}»"


@functools.lru_cache(maxsize=1 << 14)
def shortened(text: str) -> str:
    """Return a text as one clean line that is not long, cut between words."""
    return textwrap.shorten(line(text), MOST_CLAUSE, placeholder=" ...")
