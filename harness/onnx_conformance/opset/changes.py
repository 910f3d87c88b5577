# SPDX-License-Identifier: Apache-2.0
"""The changes between two descriptions of an operator version."""

from __future__ import annotations

import difflib
import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.declare.type import Type
from onnx_conformance.specification.rewordings import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.opset.description import Description

ALIKE = 0.6
"""With at least this share of common words, a removed and an added sentence count as one changed sentence."""


class ChangeKind(enum.StrEnum):
    """How much an operator version changes."""

    NEW = "new operator"
    DEPRECATED = "deprecated"
    TYPES = "types only"
    BODY = "function body only"
    MEANING = "meaning changed"
    REWORDED = "reworded in place"


@dataclass(frozen=True)
class Words:
    """A part of a changed sentence: equal words, or removed words and their replacement."""

    equal: str = ""
    went: str = ""
    came: str = ""


@dataclass(frozen=True)
class Change:
    """The changes of one operator version.

    Attributes:
        before: the version before it, or the same version in the other onnx; None: the operator is new.
        after: the version.
        kind: how much.
        signature: one line for each added, removed or changed type, attribute, input or output.
        came, went: added and removed sentences.
        changed: sentences, word by word.
        body: one or two words on the function body: none, unchanged, changed, came, went.
    """

    before: Description | None
    after: Description
    kind: ChangeKind
    signature: tuple[str, ...]
    came: tuple[str, ...]
    went: tuple[str, ...]
    changed: tuple[tuple[Words, ...], ...]
    body: str


def compare(before: Description | None, after: Description) -> Change:
    """Return the changes."""
    in_place = before is not None and before.since == after.since
    types = tuple(_types(before, after)) if before else ()
    rest = tuple(_signature(before, after)) if before else ()
    came, went, changed = _sentences(before.sentences if before else (), after.sentences)
    of_types = _sentences(before.constraints if before else (), after.constraints)
    if before is None:
        kind = ChangeKind.NEW
    elif in_place:
        kind = ChangeKind.REWORDED
    elif after.deprecated:
        kind = ChangeKind.DEPRECATED
    elif rest or came or went or changed:
        kind = ChangeKind.MEANING
    else:
        kind = ChangeKind.TYPES if types else ChangeKind.BODY
    return Change(
        before, after, kind, types + rest, came + of_types[0], went + of_types[1], changed + of_types[2],
        _body(before.body if before else "", after.body),
    )  # fmt: skip


def differs(before: Description, after: Description) -> bool:
    """Return whether anything but the function body of a version differs."""
    change = compare(before, after)
    return bool(change.signature or change.came or change.went or change.changed)


def _types(before: Description, after: Description) -> Iterator[str]:
    for variable in dict.fromkeys([*before.types, *after.types]):
        old, new = before.types.get(variable), after.types.get(variable)
        if old is None or new is None:
            yield f"type variable {variable} {'added' if old is None else 'removed'}: {_listed(new or old or ())}"
            continue
        if came := [text for text in new if text not in old]:
            yield f"type {variable}: added {_listed(came)}"
        if went := [text for text in old if text not in new]:
            yield f"type {variable}: removed {_listed(went)}"


def _listed(types: Iterable[str]) -> str:
    return ", ".join(Type.parse(text).short for text in types)


def _signature(before: Description, after: Description) -> Iterator[str]:
    for what, old, new in (
        ("attribute", before.attributes, after.attributes),
        ("input", before.inputs, after.inputs),
        ("output", before.outputs, after.outputs),
    ):
        yield from _named(what, old, new)
        common = [name for name in old if name in new]
        if what != "attribute" and common != [name for name in new if name in old]:
            yield f"{what}s have another order: {', '.join(new)}"


def _named(what: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys([*old, *new]):
        if name not in old:
            yield f"{what} {name} added: {new[name]}"
        elif name not in new:
            yield f"{what} {name} removed: {old[name]}"
        elif old[name] != new[name]:
            yield f"{what} {name}: {old[name]} -> {new[name]}"


def _sentences(
    old: Sequence[str], new: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[Words, ...], ...]]:
    """Return the added, removed and changed sentences; changes of punctuation are ignored."""
    of_old, of_new = set(map(plain, old)), set(map(plain, new))
    went, came = (
        [text for text in old if plain(text) not in of_new],
        [text for text in new if plain(text) not in of_old],
    )
    changed = []
    for text in list(went):
        score, match = max(((_alike(text, other), other) for other in came), default=(0.0, ""))
        if score >= ALIKE:
            changed.append(tuple(_words(text, match)))
            went.remove(text)
            came.remove(match)
    return tuple(dict.fromkeys(came)), tuple(dict.fromkeys(went)), tuple(changed)


def _alike(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one.split(), other.split(), autojunk=False).ratio()


def _words(old: str, new: str) -> Iterator[Words]:
    one, other = old.split(), new.split()
    for tag, i, j, k, m in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Words(equal=" ".join(one[i:j]))
        else:
            yield Words(went=" ".join(one[i:j]), came=" ".join(other[k:m]))


def _body(old: str, new: str) -> str:
    if old and new:
        return "unchanged" if old == new else "changed"
    return "came" if new else "went" if old else "none"
