"""The traits of a case: the facts that a statement on failures can be made of; and those that a result alone says.

These are version, element type, form, tags, sentences and what the text expects; `model_traits` has the others.
"""

from __future__ import annotations

import enum
import functools
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.case.case import PLAIN, Outcome
from harness.verdict import line, split_operator

if TYPE_CHECKING:
    from harness.verdict import Result

MOST_TEXT = 40
"""Characters of an attribute's value that a statement repeats."""
MOST_CLAUSE = 70


class Kind(enum.IntEnum):
    """How conditions are made of a trait."""

    FACT = 0
    CHOICE = 1
    NUMBER = 2


class Subject(enum.IntEnum):
    """What a trait speaks of, in the order in which a statement names it."""

    ARGUMENT = 0
    VALUES = 1
    HINT = 2
    """What may merely go along with a cause: inputs of one shape, a number beyond some limit."""
    OUTPUT = 3
    TYPE = 4
    VERSION = 5
    OPSET = 6
    FORM = 7
    TAG = 8
    CLAUSE = 9
    OUTCOME = 10


class Trait(NamedTuple):
    """Something that can be asked of a case; a plain tuple, because millions are looked up by it.

    Attributes:
        subject: what it speaks of.
        name: of a fact its whole words, `split is a scalar`; otherwise what has a value, `rank of split`.
        kind: whether it holds or not, has one of some values, or a number.
        equals: what stands between name and value: `=` for attributes, ` is ` for others.
    """

    subject: Subject
    name: str
    kind: Kind = Kind.FACT
    equals: str = " is "


Traits = dict[Trait, Any]
"""The traits that a case has, with their values: True, a text or a number."""

TYPE = Trait(Subject.TYPE, "type", Kind.CHOICE)
VERSION = Trait(Subject.VERSION, "version", Kind.NUMBER)
OPSET = Trait(Subject.OPSET, "opset", Kind.NUMBER)
FORM = Trait(Subject.FORM, "form", Kind.CHOICE)
ALLOWED = Trait(Subject.OUTCOME, "the text allows it")
FORBIDDEN = Trait(Subject.OUTCOME, "the text forbids it")


def of_result(result: Result) -> Traits:
    """Return what a result alone says of its case; the same object for cases of which the same is said."""
    return _said(result.operator, result.element_type, result.form, result.outcome, result.tags, result.clauses)


@functools.lru_cache(maxsize=1 << 16)
def _said(
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
        traits[Trait(Subject.TAG, f"tag is {line(tag, MOST_TEXT)}")] = True
    for clause in clauses:
        traits[Trait(Subject.CLAUSE, f"the case cites «{shortened(clause)}»")] = True
    return traits


@functools.lru_cache(maxsize=1 << 14)
def shortened(text: str) -> str:
    """Return a text as one clean line that is not long, cut between words."""
    return textwrap.shorten(line(text), MOST_CLAUSE, placeholder=" ...")
