# SPDX-License-Identifier: Apache-2.0
"""Computes a small set of globs that match some case ids and no others."""

from __future__ import annotations

import fnmatch
import heapq
import re
from typing import TYPE_CHECKING

from onnx_conformance.base.globs import SPECIAL, literal, stem

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

_WORDS_OF_A_TYPE = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])|(?<=-)")
"""Positions where a type's name may be cut: float8e4m3fn after float, float8 and float8e, seq-int8 after seq-."""


def fold(wanted: Collection[str], others: Iterable[str]) -> list[str]:
    """Return globs that match every wanted id and none of the others: a greedy set cover, widest glob first.

    Ids in neither set may match or not. A glob generalizes over the type, the form, the end of the name, the version or
    the whole operator; an id without similar ids is used literally.
    """
    left = set(wanted)
    inside, excluded = _Index(left), _Index(others)
    offers: dict[str, set[str]] = {}
    for case in left:
        for glob in _wider(case):
            offers.setdefault(glob, set()).add(case)
    waiting = [_rank(glob, len(covered)) for glob, covered in offers.items()]
    heapq.heapify(waiting)
    chosen: dict[str, set[str]] = {}
    while left:
        fewer, *_, glob = heapq.heappop(waiting)
        gain = len(offers[glob] & left)
        if gain < -fewer:  # Globs chosen since then cover some of its ids.
            if gain:
                heapq.heappush(waiting, _rank(glob, gain))
            continue
        if next(excluded.matched(glob), None) is None:
            chosen[glob] = set(inside.matched(glob))
            left -= chosen[glob]
    return sorted(_needed(chosen))


def family(case: str) -> str:
    """Return ai.onnx/Split for ai.onnx/Split/18/uneven; for an id of another suite, the part before the name.

    A glob that `fold` returns for one family never matches an id of another.
    """
    parts = case.partition("@")[0].split("/")
    return "/".join(parts[:2] if len(parts) > 3 else parts[:-1])  # noqa: PLR2004 - domain, name, version, case


def _rank(glob: str, gain: int) -> tuple[int, int, int, str]:
    # Among globs that cover the same number of ids, prefer the most literal one: it accepts the fewest future ids.
    plain = SPECIAL.sub("", glob)
    return -gain, -len(plain), len(glob) - len(plain), glob


def _needed(chosen: dict[str, set[str]]) -> Iterator[str]:
    """Yield the globs, except those whose ids are all matched by later globs as well."""
    times: dict[str, int] = {}
    for covered in chosen.values():
        for case in covered:
            times[case] = times.get(case, 0) + 1
    for glob, covered in chosen.items():
        if all(times[case] > 1 for case in covered):
            for case in covered:
                times[case] -= 1
        else:
            yield glob


class _Index:
    """Ids by family, so a glob of one operator is only compared with ids of this operator."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._all: dict[str, list[str]] = {}
        for case in ids:
            self._all.setdefault(family(case), []).append(case)

    def matched(self, glob: str) -> Iterator[str]:
        matches: Callable[[str], object] = re.compile(fnmatch.translate(glob)).match
        begins = stem(glob)
        for name, ids in self._all.items():
            if f"{name}/".startswith(begins) or begins.startswith(f"{name}/"):
                yield from filter(matches, ids)


def _wider(case: str) -> Iterator[str]:
    """Yield the globs that may cover an id, each once, including the id itself."""
    plain, _, form = case.partition("@")
    parts = plain.split("/")
    if len(parts) < 4:  # noqa: PLR2004 - another suite: SUITE/NAME
        for end in range(len(plain), len(plain) - len(parts[-1]), -1):
            if plain[end - 1] == "_":
                yield f"{literal(plain[:end])}*"
        yield literal(case)
        return
    domain, operator, version, name, *types = map(literal, parts)
    yield from dict.fromkeys(
        f"{domain}/{operator}/{shown}"
        for of_version in (version, "*")
        for shown in _of_version(of_version, list(_names(name)), "/".join(types), literal(form))
    )


def _of_version(version: str, names: Iterable[str], type_: str, form: str) -> Iterator[str]:
    """Yield the possible endings of a glob after an operator's name."""
    ending = f"@{form}" if form else ""
    for name in names:
        anything = name.endswith("*")
        yield "*" if name == version == "*" else f"{version}/{name}{'' if anything else '*'}"
        if ending:
            yield f"{version}/{name}{'' if anything else '*'}{ending}"
        if type_:
            yield f"{version}/{name}/*"
            yield f"{version}/{name}/{type_}*"
            yield f"{version}/{name}/{type_}{ending}"
            if ending:
                yield f"{version}/{name}/{type_}@*"
            for cut in _WORDS_OF_A_TYPE.finditer(type_):
                yield f"{version}/{name}/{type_[: cut.start()]}*"
        elif not anything:
            yield f"{version}/{name}{ending}"
            if ending:
                yield f"{version}/{name}@*"


def _names(name: str) -> Iterator[str]:
    """Yield the globs that may cover a name."""
    yield "*"
    words = name.split("_")
    for count in range(1, len(words)):
        begins = "_".join(words[:count])
        yield f"{begins}*"
        yield f"{begins}_*"
    yield name
