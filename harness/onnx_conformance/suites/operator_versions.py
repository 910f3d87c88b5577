# SPDX-License-Identifier: Apache-2.0
"""Which operator versions an --op, --opsets or --version selects."""

from __future__ import annotations

import fnmatch
import functools
import operator as comparisons
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import MOST_DIGITS
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_OPERATORS = {
    ">=": comparisons.ge,
    "<=": comparisons.le,
    "==": comparisons.eq,
    "<": comparisons.lt,
    ">": comparisons.gt,
}
_COMPARISON = re.compile(r"(>=|<=|==|<|>)(\d{1,9})")
_RANGE = re.compile(r"(\d{0,9})\.\.(\d{0,9})|(\d{1,9})")


@dataclass(frozen=True)
class Pattern:
    """The value of an --op: a glob over names, and comparisons with the number of the version.

    Attributes:
        glob: Split*, Split/18, ai.onnx/Split/18; without a version if there are comparisons.
        comparisons: functions that return whether a version is selected.
    """

    glob: str
    comparisons: tuple[Callable[[int], bool], ...] = ()

    @staticmethod
    @functools.cache
    def parse(text: str) -> Pattern:
        """Return the pattern of a text.

        Raises:
            ValueError: it has a comparison, but is not a name with comparisons.
        """
        if not any(sign in text for sign in "<>="):
            return Pattern(text)
        glob, _, rest = text.rpartition("/")
        parts = [_COMPARISON.fullmatch(part.strip()) for part in rest.split(",")]
        if not glob or any(sign in glob for sign in "<>="):
            raise ValueError(text)
        compared = []
        for match in parts:
            if match is None:
                raise ValueError(text)
            compared.append(functools.partial(_compared, match[1], int(match[2])))
        return Pattern(glob, tuple(compared))

    def matches(self, operator: str) -> bool:
        """Return whether an operator version, such as ai.onnx/Split/18, is selected."""
        domain, _, rest = operator.partition("/")
        name, _, since = rest.partition("/")
        names = (name, f"{domain}/{name}") if self.comparisons else (name, rest, operator, f"{domain}/{name}")
        return any(fnmatch.fnmatchcase(item, self.glob) for item in names) and all(
            since.isdecimal() and wanted(int(since)) for wanted in self.comparisons
        )


def _compared(sign: str, number: int, since: int) -> bool:
    return bool(_OPERATORS[sign](since, number))


def respelled(text: str, known: Iterable[str]) -> list[str]:
    """Return the spellings of the name in an --op that operators have, if they differ only in upper and lower case.

    Args:
        text: the value of --op.
        known: operator versions, such as ai.onnx/Split/18.
    """
    domain, name, rest = _parts(text)
    found: dict[str, None] = {}
    for operator in known:
        own_domain, own_name, _ = operator.split("/", 2)
        if own_name.lower() == name.lower() and domain.lower() in {"", own_domain.lower()}:
            found["/".join(filter(None, (own_domain if domain else "", own_name, rest)))] = None
    return list(found)


def _parts(text: str) -> tuple[str, str, str]:
    """Return the domain, the name and the version of an --op; the domain and the version may be empty."""
    words = text.split("/")
    version = words.pop() if len(words) > 1 and (words[-1].isdecimal() or _COMPARISON.match(words[-1])) else ""
    return "/".join(words[:-1]), words[-1], version


@dataclass(frozen=True)
class Opsets:
    """A range of opsets; None: no limit on that side."""

    first: int | None
    last: int | None

    @staticmethod
    def parse(text: str) -> Opsets:
        """Return the range of a text: 27..28, 28, ..13 or 25...

        Raises:
            ValueError: it is not a range, or it is empty.
        """
        match = _RANGE.fullmatch(text.strip())
        if match is None or text.strip() == "..":
            raise ValueError(text)
        first, last = (int(number) if number else None for number in (match[3] or match[1], match[3] or match[2]))
        if first is not None and last is not None and first > last:
            raise ValueError(text)
        return Opsets(first, last)

    def has(self, since: int) -> bool:
        """Return whether one of the opsets introduced an operator version of this number."""
        return (self.first is None or since >= self.first) and (self.last is None or since <= self.last)

    def __str__(self) -> str:
        """Return the range as on a command line."""
        if self.first == self.last:
            return str(self.first)
        return f"{'' if self.first is None else self.first}..{'' if self.last is None else self.last}"


def since_of(operator: str) -> int | None:
    """Return the number of an operator version; None if its name has none."""
    number = operator.rpartition("/")[2]
    return int(number) if operator.count("/") > 1 and number.isdecimal() and len(number) < MOST_DIGITS else None


def is_newest(operator: str, opsets: Opsets | None) -> bool:
    """Return whether the opsets introduced no newer version of the operator; True if ONNX lacks the operator."""
    since = since_of(operator)
    every = map(since_of, schema.every().get(operator.rpartition("/")[0], ()))
    newer = (number for number in every if number and since and number > since)
    return not any(opsets is None or opsets.has(number) for number in newer)
