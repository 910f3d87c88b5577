# SPDX-License-Identifier: Apache-2.0
"""The smallest case of a fault and its answer, kept in the cache so that an interrupted command can continue.

A search runs a case some hundred times. Its result is stored immediately. The key contains everything on which the
result depends: the source of the cases, the runtime and its version, the limits, and the code that searches and judges.
"""

from __future__ import annotations

import base64
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import split_operator
from onnx_conformance.case.case import by_itself
from onnx_conformance.case.value_text import one
from onnx_conformance.environments import backend_names
from onnx_conformance.findings import other_versions
from onnx_conformance.judging import profile
from onnx_conformance.judging.ask import Judged, ask_and_judge
from onnx_conformance.minimize import reducer
from onnx_conformance.minimize.cause import cause
from onnx_conformance.minimize.passes import REPRO, guilty_passes
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.processes.passes import with_passes
from onnx_conformance.results import stream
from onnx_conformance.specification import registry
from onnx_conformance.suites import packs
from onnx_conformance.suites.generated import Generated, operator_digest
from onnx_conformance.suites.lookup import case_of, open_suite, plan_if_declarable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.base.target import Target
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.findings.earlier import Earlier
    from onnx_conformance.findings.failure_groups import FailureGroup
    from onnx_conformance.suites.suite import Suite

TRIES = 3
"""Maximum number of cases of a failure group that are tried until one fails again."""
STEPS = 400
"""Maximum number of cases that a backend runs while one case is minimized."""


@dataclass(frozen=True)
class Smallest:
    """The smallest case of a group of failures.

    Attributes:
        case: the case, which fails in the same way as the group's cases.
        result: its result.
        given: the values of the answer, as text.
        hello: the hello of the adapter. If there are guilty passes, its code runs only these.
        guilty: the guilty passes of an optimizer; empty if they are not known.
        model: the serialized model that a tool returned; None if it returned no model.
        versions: other versions of the operator in which the case fails in the same way.
    """

    case: Case
    result: Result
    given: tuple[str, ...]
    hello: Mapping[str, Any]
    guilty: tuple[str, ...] = ()
    model: bytes | None = None
    versions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Budget:
    """The limits of a search.

    Attributes:
        suite: the name and digest of the suite of the cases.
        seconds: the time limit for minimizing a case, in seconds.
        timeout: the time limit for running a case, in seconds.
        profile: the text of --profile.
    """

    suite: tuple[str, str]
    seconds: float
    timeout: float
    profile: str = ""


def smallest(group: FailureGroup, budget: Budget, known: Sequence[Earlier] = ()) -> Smallest | None:
    """Return the smallest case of a group of failures; None if no case of it fails again in the same way.

    Args:
        group: the failures.
        budget: the limits of a search.
        known: smallest cases of old findings. The first that fails in the same way is returned without a search.

    Raises:
        HarnessError: the backend does not start.
    """
    name = _key(group, budget, known)
    found = _read(name, group.backend)
    if found is None and (found := _search(group, budget, known)) is not None:
        _write(name, found)
    return found


def _search(group: FailureGroup, budget: Budget, known: Sequence[Earlier]) -> Smallest | None:
    target = profile.with_file(backend_names.resolve(group.backend), budget.profile)
    limits = Limits(timeout=budget.timeout)
    source = open_suite(budget.suite[0])
    tries = [(item.origin, item) for item in known] + [(first.case, None) for first in group.results[:TRIES]]
    for first, earlier in tries:
        case = case_of(first, source)
        if case is None:
            continue
        try:
            small = _minimized(case, earlier, target, limits, budget.seconds)
            if earlier is not None and not _is_of(small, group, source):
                continue
            case, result, hello = small.case, small.result, small.answer.hello
            outputs, model = small.answer.outputs, small.answer.model
        except HarnessError:  # Some cases cannot be made smaller, but may show the fault.
            if earlier is not None:
                continue
            with Asker(target, limits) as asker:
                hello = dict(asker.process.hello)
                result, outputs, model = ask_and_judge(asker, case)
        if result.verdict is group.kind:
            others = other_versions.failing(case, group.kind, target, limits)
            newest = _in_newest(case, result, others)
            versions = {*others}
            if newest is not None:
                versions.add(split_operator(case.operator)[1] or 0)
                case, (result, outputs, model) = newest
            found = guilty_passes(case, result, hello, target, limits)
            given = tuple(map(one, outputs))
            own = split_operator(case.operator)[1]
            in_others = tuple(sorted(versions - {own or 0}))
            return Smallest(by_itself(case), result, given, found.hello, found.names, model, in_others)
    return None


def _minimized(
    case: Case, earlier: Earlier | None, target: Target, limits: Limits, seconds: float
) -> reducer.Minimized:
    """Return the smallest case made from a case: that of an old finding, or the result of a search.

    Raises:
        HarnessError: the case cannot be minimized, or that of the old finding does not fail in the same way.
    """
    plan = plan_if_declarable(case)
    known = earlier.candidate(case, plan) if earlier is not None and plan is not None else None
    if earlier is not None and known is None:
        raise HarnessError("known-case-lost", f"{case.id}: the earlier smallest case cannot be restored")
    return reducer.minimize(case, plan, target, limits, STEPS, seconds, known)


def _is_of(small: reducer.Minimized, group: FailureGroup, source: Suite) -> bool:
    """Return whether a smallest case was made from a case of a group, or fails in the same way as its first one."""
    if small.before.case.id in {result.case for result in group.results}:
        return True
    first = group.results[0]
    case = case_of(first.case, source)
    return case is not None and cause(case, first) == cause(small.case, small.result)


def _in_newest(case: Case, result: Result, others: Mapping[int, tuple[Case, Judged]]) -> tuple[Case, Judged] | None:
    """Return the case in the newest version, and the answer.

    None if the case is of this version already, if that version has other sentences, or if it fails in another way.

    Args:
        case: the smallest case.
        result: its result.
        others: by version, the case in other versions and the answer of the backend.
    """
    last = max(others, default=0)
    operator, since = split_operator(case.operator)
    if last <= (since or 0):
        return None
    made, answer = others[last]
    op = registry.load().find(*operator.rpartition("/")[::2])
    if op is None or not {*case.clauses} <= {clause.text for clause in op.clauses if clause.in_force(last)}:
        return None
    return (made, answer) if cause(made, answer.result) == cause(case, result) else None


def _key(group: FailureGroup, budget: Budget, known: Sequence[Earlier] = ()) -> str:
    cases = (result.case for result in group.results[:TRIES])
    return packs.key(
        "smallest, versions", *_source(group.operator, *budget.suite), group.backend, group.version, str(group.kind),
        *cases, *map(repr, known),
        str(STEPS), str(budget.seconds), str(budget.timeout), budget.profile, *_code(),
    )  # fmt: skip


def _source(operator: str, suite: str, digest: str) -> tuple[str, str]:
    """Return the suite of a case and a digest of its source.

    For a generated case it is that of the operator: so a change of one operator does not affect the others.
    """
    return suite, (operator_digest(operator) if suite == Generated.name else "") or digest


@functools.cache
def _code() -> tuple[str, ...]:
    """Return the code that searches and judges."""
    here = Path(__file__).parent
    own = (here.parent / "judging" / "judge.py", *sorted((here.parent / "minimize").glob("*.py")))
    return tuple(path.read_text(encoding="utf-8") for path in own)


def _read(name: str, backend: str) -> Smallest | None:
    """Return a result of `_search` from the cache; None if it is missing.

    Raises:
        HarnessError: the backend does not start.
    """
    kept, pack = packs.read_json(name), packs.read(name)
    if kept is None or pack is None:
        return None
    try:
        said = cast("dict[str, Any]", kept)
        result, given = stream.from_record(said["result"]), tuple(map(str, said["given"]))
        model = None if said["model"] is None else base64.b64decode(said["model"])
        guilty, case = tuple(map(str, said["guilty"])), by_itself(next(pack))
        versions = tuple(map(int, said["versions"]))
    except (KeyError, TypeError, ValueError, StopIteration):  # Somebody else has written it.
        return None
    return Smallest(case, result, given, _hello(backend, guilty), guilty, model, versions)


@functools.cache
def _hello(backend: str, guilty: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the hello of an adapter. If there are guilty passes, its code runs only these.

    The hello is not read from the cache, because scripts for maintainers contain its code.

    Raises:
        HarnessError: the backend does not start.
    """
    target = backend_names.resolve(backend)
    with Asker(target, Limits()) as asker:
        hello = dict(asker.process.hello)
    if guilty:
        with Asker(with_passes(target, guilty), Limits()) as asker:
            hello |= {key: text for key, text in asker.process.hello.items() if key.startswith(REPRO)}
    return hello


def _write(name: str, found: Smallest) -> None:
    packs.write(name, [found.case])
    model = None if found.model is None else base64.b64encode(found.model).decode("ascii")
    said = {
        "result": stream.to_record(found.result), "given": found.given, "guilty": found.guilty, "model": model,
        "versions": found.versions,
    }  # fmt: skip
    packs.write_json(name, said)
