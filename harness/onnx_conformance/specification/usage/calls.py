# SPDX-License-Identifier: Apache-2.0
"""Calls: the part of a pattern of real models that a generated case must have in common with it.

A call is a pattern without the size, the constants and the classes of integers, at the newest version of the same
meaning: exporters write newer versions each year, and a case of the newest version represents them all. A case matches
a call if it has the same types, the same attributes with the same enumerations, the same optional inputs, and the same
ranks. A rank above the largest rank of all cases is matched by that largest rank. Unknown types and ranks of a call are
matched by any.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from onnx_conformance.specification.usage import table
from onnx_conformance.specification.usage.pattern import UNKNOWN, Pattern, Words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx_conformance.specification.schema import OperatorVersion

_RANKS = {"INTS": "1", "FLOATS": "1", "INT": UNKNOWN, "FLOAT": UNKNOWN}
"""The rank of an input that replaced an attribute of each type: a number became a scalar, or a list of one."""


def of_pattern(pattern: Pattern) -> Pattern:
    """Return the call of a pattern: without its size, its constants and the classes of integers."""
    return dataclasses.replace(
        pattern,
        attributes=tuple(word.partition(":")[0] for word in pattern.attributes),
        inputs=tuple(word.removesuffix("c") for word in pattern.inputs),
        size="",
    )


def carried(call: Pattern, old: OperatorVersion, new: OperatorVersion) -> Pattern:
    """Return a call of one version as a later version of the same meaning writes it.

    An attribute that became an input is an input. Renamed inputs are found by their places. Attributes and type
    variables that the later version lacks are left out.
    """
    if old.since == new.since:
        return call
    names = {item.name for item in new.inputs}
    renamed = {item.name: item.name for item in old.inputs if item.name in names}
    for own, later in zip(old.inputs, new.inputs, strict=False):
        renamed.setdefault(own.name, later.name)
    inputs = {}
    for name, several, ranks in map(Words.of_input, call.inputs):
        if name in renamed:
            inputs[renamed[name]] = f"{renamed[name]}{several}/{ranks}"
    attributes = []
    for word in call.attributes:
        name = word.partition("=")[0]
        if name in new.attributes:
            attributes.append(word)
        elif name in names:
            inputs[name] = f"{name}/{_RANKS.get(old.attributes[name].type, UNKNOWN)}"
    return Pattern(
        str(new),
        _carried_types(call.types, old, new, renamed),
        tuple(attributes),
        tuple(inputs[item.name] for item in new.inputs if item.name in inputs),
        "",
    )


def _carried_types(
    words: Iterable[str], old: OperatorVersion, new: OperatorVersion, renamed: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the types of a call by the type variables of a later version, which may have other names."""
    of_new = {item.name: item.type for item in new.inputs}
    pairs = [(item.type, of_new[renamed[item.name]]) for item in old.inputs if item.name in renamed]
    pairs += [(own.type, later.type) for own, later in zip(old.outputs, new.outputs, strict=False)]
    types = dict(word.partition("=")[::2] for word in words)
    known = {later: types[own] for own, later in pairs if own in types and _allows(new, later, types[own])}
    return tuple(sorted(f"{variable}={type_}" for variable, type_ in known.items()))


def _allows(version: OperatorVersion, variable: str, type_: str) -> bool:
    """Return whether a type variable allows a type, or all of several types."""
    allowed = {text.replace(" ", "") for text in version.types.get(variable, ())}
    return all({part, f"tensor({part})"} & allowed for part in type_.split("+"))


def wanted(operator: str, representative: Mapping[str, tuple[OperatorVersion, OperatorVersion]]) -> dict[Pattern, int]:
    """Return the calls that real models make of an operator -> the least number of models that make it.

    Args:
        operator: the operator, such as ai.onnx/Conv.
        representative: operator version -> that version, and the newest version of its meaning. Others are left out.
    """
    calls: dict[Pattern, int] = {}
    for pattern, count in table.read().patterns(operator).items():
        if pattern.operator in representative:
            call = carried(of_pattern(pattern), *representative[pattern.operator])
            calls[call] = max(calls.get(call, 0), count.models)
    return dict(sorted(calls.items(), key=lambda item: (-item[1], item[0])))


def capped(call: Pattern, highest: Mapping[str, int]) -> Pattern:
    """Return a call with the known ranks of its inputs limited to the highest ones, by name."""
    inputs = []
    for name, several, ranks in map(Words.of_input, call.inputs):
        known = UNKNOWN not in ranks and name in highest
        inputs.append(f"{name}{several}/{_capped(ranks, highest[name]) if known else ranks}")
    return dataclasses.replace(call, inputs=tuple(inputs))


def matching(calls: Iterable[Pattern], cases: Sequence[Pattern]) -> dict[Pattern, list[int]]:
    """Return the places of the cases that match each call.

    Args:
        calls: the calls that are looked for.
        cases: the call of each case.
    """
    highest: dict[tuple[str, str], int] = {}
    for case in cases:
        for name, _, ranks in map(Words.of_input, case.inputs):
            if ranks.isdigit():
                key = case.operator, name
                highest[key] = max(highest.get(key, 0), int(ranks))
    by_rest: dict[tuple[str, frozenset[str], tuple[str, ...]], list[int]] = {}
    for place, case in enumerate(cases):
        by_rest.setdefault(_rest(case), []).append(place)
    return {
        call: [place for place in by_rest.get(_rest(call), ()) if _fits(call, cases[place], highest)] for call in calls
    }


def _rest(call: Pattern) -> tuple[str, frozenset[str], tuple[str, ...]]:
    """Return the part of a call that is never unknown."""
    return call.operator, frozenset(call.attributes), tuple(word.partition("/")[0] for word in call.inputs)


def _fits(call: Pattern, case: Pattern, highest: Mapping[tuple[str, str], int]) -> bool:
    types = dict(word.partition("=")[::2] for word in case.types)
    for word in call.types:
        variable, _, type_ = word.partition("=")
        if types.get(variable, type_) != type_:
            return False
    for wanted_, actual in zip(call.inputs, case.inputs, strict=True):
        name, _, ranks = Words.of_input(wanted_)
        if UNKNOWN not in ranks and ranks != Words.of_input(actual)[2]:
            limit = highest.get((case.operator, name), 0)
            if _capped(ranks, limit) != Words.of_input(actual)[2]:
                return False
    return True


def _capped(ranks: str, limit: int) -> str:
    return ",".join(sorted({str(min(int(rank), limit)) for rank in ranks.split(",")}))
