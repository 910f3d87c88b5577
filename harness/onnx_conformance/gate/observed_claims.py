# SPDX-License-Identifier: Apache-2.0
"""Claims from a run: they cover the cases that a backend passes. `suites.claims` reads them."""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.base import globs
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import UNMET_CLAIMS, Verdict, line, split_operator
from onnx_conformance.declare.type import Type
from onnx_conformance.forms.table import EXPANDED
from onnx_conformance.gate import toml_blocks
from onnx_conformance.specification.model_use import comparable
from onnx_conformance.suites.claims import TABLE, Claim, use_in, version_of
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.results.stream import Run
    from onnx_conformance.specification.model_use import AttributeValue, Use
    from onnx_conformance.suites.suite import Suite

LACKING = UNMET_CLAIMS | {Verdict.UNSUPPORTED}
"""Verdicts of cases that the claims must not cover."""
_NEEDS_ANSWER = {"values", "property"}
"""Outcomes of cases that need an answer; the rejection of an invalid model shows no support."""


@dataclass(frozen=True)
class _Seen:
    """A case of the run.

    Attributes:
        id, form: as in Case.
        use: how it uses its operator.
    """

    id: str
    form: str
    use: Use


def observed(run: Run, backend: str, suite: Suite) -> list[Claim]:
    """Return claims that cover all cases that a backend passes, and none that it does not support.

    Args:
        run: the results.
        backend: as the results name it.
        suite: of the results.

    Raises:
        HarnessError: the backend passes no case, or the suite no longer has the cases.
    """
    passed: dict[str, list[Result]] = defaultdict(list)
    lacking: dict[str, list[Result]] = defaultdict(list)
    for result in run.results():
        if result.backend == backend and result.outcome in _NEEDS_ANSWER and result.form != EXPANDED:
            if result.verdict is Verdict.PASS:
                passed[result.operator].append(result)
            elif result.verdict in LACKING:
                lacking[result.operator].append(result)
    if not passed:
        raise HarnessError("claims-of-nothing", f"{line(backend)} passes no case, so there is nothing to claim")
    found: list[Claim] = []
    for operator, results in sorted(passed.items()):
        both = (results, lacking[operator])
        uses = _uses(suite, operator, {result.case for several in both for result in several})
        right, wrong = ([_Seen(r.case, r.form, uses[r.case]) for r in several if r.case in uses] for several in both)
        found += _claims(operator, right, wrong)
    if not found:
        raise HarnessError("claims-of-other-cases", f"suite {suite.name} has none of the passed cases; run them again")
    return _joined(found)


def _uses(suite: Suite, operator: str, ids: set[str]) -> dict[str, Use]:
    """Return how the cases of an operator version use it, by id."""
    if isinstance(suite, Generated):
        declared = suite.uses(operator)
        return {name: use for name in ids if (use := declared.get(name.partition("@")[0])) is not None}
    return {case.id: use_in(case) for case in suite.cases(Selection(ids=frozenset(ids)))}


def _claims(operator: str, passed: Sequence[_Seen], lacking: Sequence[_Seen]) -> Iterator[Claim]:
    """Yield the claims of an operator version."""
    if not passed:
        return
    name, since = split_operator(operator)
    start = Claim(name, versions=() if since is None else (since,))
    version = version_of(passed[0].use)
    variables = [key for key, allowed in version.types.items() if len(allowed) > 1] if version is not None else []
    variables = [key for key in variables if all(item.use.bound.get(key) for item in passed)]
    whole = _typed(start, variables, passed)
    calls = {_call(item, variables) for item in passed}
    if all(_call(item, variables) in calls for item in lacking if whole.takes(item.use)):
        yield _narrowed(whole, passed, lacking)
        return
    main = max(variables, key=lambda key: len({_types(item, key) for item in passed}))
    groups: dict[object, list[_Seen]] = defaultdict(list)
    for item in passed:
        groups[_call(item, [key for key in variables if key != main])].append(item)
    for several in groups.values():
        yield _narrowed(_typed(start, variables, several), several, lacking)


def _types(item: _Seen, key: str) -> frozenset[Type]:
    return frozenset(item.use.bound.get(key, ()))


def _call(item: _Seen, variables: Iterable[str]) -> tuple[frozenset[Type], ...]:
    return tuple(_types(item, key) for key in variables)


def _typed(claim: Claim, variables: Iterable[str], cases: Sequence[_Seen]) -> Claim:
    types = {key: frozenset().union(*(_types(item, key) for item in cases)) for key in variables}
    return dataclasses.replace(claim, types=types)


def _narrowed(claim: Claim, passed: Sequence[_Seen], lacking: Sequence[_Seen]) -> Claim:
    """Return a claim with the conditions that exclude cases without support, and with the rest of these by name."""
    left = _covered(claim, lacking)
    for condition in _conditions(passed):
        if not left:
            break
        fields: dict[str, Any] = {
            key: {**getattr(claim, key), **more} if isinstance(more, dict) else more for key, more in condition.items()
        }
        narrower = dataclasses.replace(claim, **fields)
        rest = _covered(narrower, left)
        if len(rest) < len(left) and len(_covered(narrower, passed)) == len(passed):
            claim, left = narrower, rest
    return dataclasses.replace(claim, but=tuple(sorted(globs.literal(item.id) for item in left)))


def _covered(claim: Claim, cases: Iterable[_Seen]) -> list[_Seen]:
    return [item for item in cases if claim.takes(item.use) and claim.takes_named(item.id, item.form)]


def _conditions(passed: Sequence[_Seen]) -> Iterator[dict[str, Any]]:
    """Yield one condition after another that all passed cases meet, as fields of a claim."""
    yield {"forms": tuple(sorted({item.form for item in passed}))}
    version = version_of(passed[0].use)
    for name, attribute in (version.attributes if version is not None else {}).items():
        default = comparable(attribute.default)
        several: set[AttributeValue] = set() if default is None else {default}
        for item in passed:
            several |= item.use.values.get(name, set())
        if default is not None and all(name in item.use.attributes for item in passed):
            several -= {default} - set().union(*(item.use.values.get(name, set()) for item in passed))
        yield {"attributes": {name: frozenset(several)}}
    for name in sorted({name for item in passed for name in item.use.ranks}):
        yield {"ranks": {name: frozenset().union(*(item.use.ranks.get(name, set()) for item in passed))}}


def _joined(claims: Iterable[Claim]) -> list[Claim]:
    """Join the claims of several versions of an operator with the same conditions."""
    joined: dict[object, Claim] = {}
    for claim in claims:
        key = (claim.operator, *map(_frozen, (claim.types, claim.ranks, claim.attributes)), claim.forms)
        if (first := joined.get(key)) is not None:
            versions = tuple(sorted({*first.versions, *claim.versions}))
            claim = dataclasses.replace(first, versions=versions, but=(*first.but, *claim.but))  # noqa: PLW2901 - both are one
        joined[key] = claim
    return list(joined.values())


def _frozen(conditions: Mapping[str, frozenset[Any]]) -> frozenset[tuple[str, frozenset[Any]]]:
    return frozenset(conditions.items())


def text(claims: Iterable[Claim]) -> str:
    """Return claims as the text of a TOML file."""
    return "\n".join(map(_table, claims))


def _table(claim: Claim) -> str:
    rows = [f"operator = {toml_blocks.quoted(claim.operator)}"]
    if claim.versions:
        rows.append(f"versions = [{', '.join(map(str, claim.versions))}]")
    for key in ("types", "ranks", "attributes"):
        if conditions := getattr(claim, key):
            pairs = (f"{_key(name)} = {_list(values)}" for name, values in conditions.items())
            rows.append(f"{key} = {{ {', '.join(pairs)} }}")
    rows += [f"{key} = {toml_blocks.array(names)}" for key in ("forms", "but") if (names := getattr(claim, key))]
    return "".join(f"{row}\n" for row in (f"[[{TABLE}]]", *rows))


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else toml_blocks.quoted(name)


def _list(values: Iterable[object]) -> str:
    return f"[{', '.join(sorted(map(_value, values)))}]"


def _value(value: object) -> str:
    if isinstance(value, Type):
        return toml_blocks.quoted(value.short)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return toml_blocks.quoted(value) if isinstance(value, str) else repr(value)
