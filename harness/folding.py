"""Few globs for many case ids: what covers exactly these and none of the others."""

from __future__ import annotations

import fnmatch
import re
from typing import TYPE_CHECKING

from harness.globs import SPECIAL, literal, stem

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


def fold(wanted: Collection[str], others: Iterable[str]) -> list[str]:
    """Return globs that match every wanted id and none of the others, as few as taking the widest first gives.

    What is in neither may be matched or not. Globs widen over the type, the form, the end of the name, the version and
    whole operators; an id that shares nothing with another one stays as it is.
    """
    left, spared = set(wanted), _Index(others)
    inside = _Index(left)
    found: list[str] = []
    offers: dict[str, set[str]] = {}
    for glob in dict.fromkeys(glob for case in sorted(left) for glob in _wider(case)):
        if not spared.any(glob):
            offers[glob] = set(inside.matched(glob))
    while left:
        # Of globs that do as much the most literal one: it accepts the least of what is yet to come.
        best = max(offers, key=lambda glob: (len(offers[glob] & left), len(SPECIAL.sub("", glob)), glob))
        gained = offers[best] & left
        found.append(best)
        left -= gained
        offers = {glob: covered for glob, covered in offers.items() if covered & left}
    return sorted(found)


class _Index:
    """Ids by their operator, so that a glob of one operator is not held against those of all."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._all: dict[str, list[str]] = {}
        for case in ids:
            self._all.setdefault(_operator(case), []).append(case)

    def matched(self, glob: str) -> Iterator[str]:
        pattern = re.compile(fnmatch.translate(glob)).match
        begins = stem(glob)
        for operator, ids in self._all.items():
            if operator.startswith(begins) or begins.startswith(operator):
                yield from filter(pattern, ids)

    def any(self, glob: str) -> bool:
        return next(self.matched(glob), None) is not None


def _operator(case: str) -> str:
    """Return ai.onnx/Split of ai.onnx/Split/18/uneven; of an id of another suite what stands before the name."""
    parts = case.split("/")
    return "/".join(parts[:2] if len(parts) > 3 else parts[:-1])  # noqa: PLR2004 - domain, name, version, case


def _wider(case: str) -> Iterator[str]:
    """Yield the globs that an id may become part of; the last is the id itself."""
    plain, _, form = case.partition("@")
    parts = plain.split("/")
    if len(parts) < 4:  # noqa: PLR2004 - of another suite: SUITE/NAME
        for end in range(len(plain), len(plain) - len(parts[-1]), -1):
            if plain[end - 1] == "_":
                yield f"{literal(plain[:end])}*"
        yield literal(case)
        return
    domain, operator, version, name, *types = map(literal, parts)
    forms = {"", f"@{literal(form)}"} if form else {""}
    words = name.split("_")
    names = ["*", *("_".join(words[:count]) + "_*" for count in range(1, len(words))), name]
    for shown in (f"{domain}/{operator}/*", f"{domain}/{operator}/{version}"):
        for part in names:
            if part == "*":
                yield shown if shown.endswith("*") else f"{shown}/*"
            else:
                yield f"{shown}/{part}*"
            for type_ in types:
                yield f"{shown}/{part}/{type_}*"
                yield from (f"{shown}/{part}/{type_}{ending}" for ending in forms)
            yield from (f"{shown}/{part}{ending}" for ending in forms if ending or part != "*")
    yield literal(case)
