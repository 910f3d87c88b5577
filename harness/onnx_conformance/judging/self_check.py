# SPDX-License-Identifier: Apache-2.0
"""Tests an adapter for its author: which operators it runs, whether it passes every type on, and survives nonsense.

A few cases of every operator run, from the newest version downwards until the adapter does not opt out. The first has
float tensors if the operator accepts them: many runtimes have no other kernels. Then every
element type and container is sent through the operators that passed and only move data. A value that is returned
changed was changed by the adapter, or the runtime cannot move it.
"""

from __future__ import annotations

import dataclasses
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.base.verdict import WRONG, Result, Verdict, line, parts
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import PLAIN, Case, Outcome
from onnx_conformance.declare import EXACT, Tag
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.adapter_process import AdapterProcessError
from onnx_conformance.processes.asker import Asker
from onnx_conformance.processes.fork_server import ForkServer
from onnx_conformance.processes.replies import Broken, Died, Late
from onnx_conformance.specification import registry
from onnx_conformance.specification.element_types import ELEMENT_TYPES
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.base.target import Target
    from onnx_conformance.declare import Op
    from onnx_conformance.processes.adapter_process import Limits
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.suites.selection import Listed

CONTAINERS = {"sequence_type": "sequence", "optional_type": "optional", "map_type": "map"}
"""The names of backends/README.md, by the field of a TypeProto."""
TYPES = {row.number: row.name for row in ELEMENT_TYPES}
FAULTS = frozenset({Verdict.ADAPTER_ERROR, Verdict.CRASH, Verdict.TIMEOUT})
NONSENSE = {
    "an empty model": b"",
    "bytes that are not a model": b"\xff\xfe no model \x00" * 20,
    "a model without a graph": b"\x08\x08",
}


MOST_SECONDS = 90.0
"""Seconds in which cases are started, nonsense aside; an adapter that compiles does not run all."""
FORKED_SECONDS = 30.0
"""Seconds in which cases are started in a fork."""
MOST_TIMEOUTS = 3
"""Timeouts after which no more cases run."""
CASE_SECONDS = 10.0
"""Seconds that one case may take."""
TRIES = {Verdict.UNSUPPORTED: 30}
"""Number of cases with the same verdict after which a type is dropped; an unsupported case costs almost nothing."""
OTHER_TRIES = 4
FLOAT = "float"
MOST_TRIED = 4
"""Maximum number of cases that are tried before an operator version counts as unsupported."""
NAMED = 4
"""Maximum number of failed cases with a separate line."""


@dataclass(frozen=True)
class Checked:
    """The outcome of one check.

    Attributes:
        what: name of the check.
        good: whether it passed; None: it is for information.
        seen: details, in words.
    """

    what: str
    good: bool | None
    seen: str


def check(target: Target, limits: Limits) -> Iterator[Checked]:
    """Yield the outcome of each check of an adapter; ends early where its process does not start again.

    Raises:
        StartError: it does not start at all.
    """
    limits = dataclasses.replace(limits, timeout=min(limits.timeout, CASE_SECONDS))
    with Asker(target, limits) as asker:
        hello = dict(asker.process.hello)
        yield from _greeting(hello)
        caller = _Caller(asker, target.name, time.monotonic() + MOST_SECONDS)
        try:
            operators = _Operators(caller, hello)
            yield from operators.checked()
            types = _Types(caller)
            yield from types.checked(operators.can)
            yield from _declared(hello, types.taken)
            yield from _nonsense(asker)
            if hello.get("fork") is True:
                yield from _forked(target, limits, hello, operators.passed)
        except AdapterProcessError as error:
            yield Checked("goes on", good=False, seen=line(error))


@dataclass
class _Caller:
    """Runs one case after the other, until the time is over or too many have no answer.

    Attributes:
        asker: runs cases on the adapter.
        name: of the backend.
        until: the time.monotonic() after which no more cases run.
        timeouts: how many cases had no answer.
    """

    asker: Asker
    name: str
    until: float
    timeouts: int = 0

    @property
    def over(self) -> str:
        """Why no more cases run; empty: more do."""
        if self.timeouts >= MOST_TIMEOUTS:
            return f"{self.timeouts} cases had no answer within {self.asker.process.limits.timeout:g} s each"
        return f"the time limit of {MOST_SECONDS:g} s was reached" if time.monotonic() > self.until else ""

    def __call__(self, case: Case) -> Result:
        """Run a case; return its result."""
        result = judge(case, self.name, self.asker.ask(case))
        self.timeouts += result.verdict is Verdict.TIMEOUT
        return result


class _Operators:
    """One plain case for each operator: the first that the adapter does not opt out of.

    Attributes:
        can: by operator, the version in which the adapter passed.
        passed: the cases.
    """

    def __init__(self, caller: _Caller, hello: Mapping[str, Any]) -> None:
        """Take the caller of the adapter, and its hello."""
        self._caller, self._hello = caller, hello
        self._suite = Generated()
        self.can: dict[Op, OperatorVersion] = {}
        self.passed: list[Case] = []
        self._opted_out: list[Op] = []
        self._failed: list[Result] = []
        self._left: list[Op] = []

    def checked(self) -> Iterator[Checked]:
        """Run the cases, and yield the checks."""
        cases = _plain_cases(self._suite)
        # Operators that only move data are first, so types are tried even if the time ends before all have run.
        declared = (op for op in registry.load() if registry.versions(op))  # The installed onnx may lack some.
        for op in sorted(declared, key=lambda op: op.compare is not EXACT):
            if self._caller.over:
                self._left.append(op)
            else:
                self._run(op, cases)
        yield from self._checks()

    def _run(self, op: Op, cases: Mapping[str, Sequence[Listed]]) -> None:
        newest = self._hello.get("opset") if op.domain == "ai.onnx" else None
        for version in reversed(registry.versions(op)):
            if isinstance(newest, int) and version.since > newest:
                continue
            for case_id in _first_tried(cases.get(str(version), ()), self._hello.get("types")):
                if self._caller.over:
                    break
                case = _case(self._suite, version, case_id)
                result = self._caller(case)
                if result.verdict is Verdict.PASS:
                    self.can[op] = version
                    self.passed.append(case)
                elif result.verdict is not Verdict.UNSUPPORTED:
                    self._failed.append(result)
                else:
                    continue
                return
        self._opted_out.append(op)

    def _checks(self) -> Iterator[Checked]:
        total = sum(map(len, (self.can, self._opted_out, self._failed)))
        counts = f"{len(self.can)} of {total} pass, {len(self._opted_out)} are unsupported, {len(self._failed)} fail"
        yield Checked("supports operators", bool(self.can), counts)
        faults = [result for result in self._failed if result.verdict is Verdict.ADAPTER_ERROR]
        short = [result for result in self._failed if result.mismatch.get("where") == "outputs"]
        for word, results, good in (
            ("returns lists of values", faults, False),
            ("returns all requested outputs", short, False),
            ("fails", [result for result in self._failed if result not in (*faults, *short)], None),
        ):
            for result in results[:NAMED]:
                yield Checked(word, good, line(f"{result.case}: {result.verdict}: {result.message}"))
            if rest := results[NAMED:]:
                yield Checked(word, good, line(", ".join(f"{item.operator}: {item.verdict}" for item in rest), 300))
        if self._left:
            seen = f"{self._caller.over}; {len(self._left)} operators were not run"
            yield Checked("answers in time", False if self._caller.timeouts >= MOST_TIMEOUTS else None, seen)


def _plain_cases(suite: Generated) -> dict[str, list[Listed]]:
    """Return by operator version its plain cases that expect an answer."""
    cases: dict[str, list[Listed]] = defaultdict(list)
    for item in suite.listed(Selection(forms=(PLAIN,))):
        if item.outcome in {Outcome.VALUES, Outcome.PROPERTY}:
            cases[item.operator].append(item)
    return cases


def _first_tried(cases: Sequence[Listed], declared: object) -> list[str]:
    """Return the ids of the cases to try before an operator version counts as unsupported.

    These are the first case, whose tensors are float if the version accepts float; the first one of its expansion to
    float; the first of each type that the adapter declares; and another basic case, in case the first one has an
    attribute or a rank that the runtime lacks.

    Args:
        cases: the plain cases of a version, in the order of the operator's file.
        declared: the element types in the adapter's hello, if there are any.
    """
    types = [FLOAT, *map(str, declared if isinstance(declared, list) else ())]
    basic = [item for item in cases if Tag.BASIC in item.tags] or list(cases)
    ids = [item.id for item in basic[:1]]
    for type_ in types:
        ids += [item.id for item in cases if parts(item.id, item.operator)[1] == type_][:1]
    ids += [item.id for item in basic[1:2]]
    return list(dict.fromkeys(ids))[:MOST_TRIED]


def _case(suite: Generated, version: OperatorVersion, case_id: str) -> Case:
    return next(iter(suite.cases(Selection(ops=(str(version),), ids=frozenset({case_id})))))


def _greeting(hello: Mapping[str, Any]) -> Iterator[Checked]:
    """Yield the checks of an adapter's description."""
    for key, why in (
        ("runtime", "results do not contain the tested runtime"),
        ("version", "results do not contain the tested version"),
        ("repro", "`repro` cannot reproduce a failure without the harness"),
    ):
        value = hello.get(key)
        good = isinstance(value, str) and bool(value)
        amiss = None if key == "repro" else False  # Only an adapter in Python can have it.
        seen = line(str(value).splitlines()[0], 60) if good else f"missing: {why}"
        yield Checked(f"reports its {key}", good or amiss, seen)
    for key in ("opset", "ir_version"):
        value = hello.get(key)
        if value is not None:
            good = isinstance(value, int) and not isinstance(value, bool) and value > 0
            yield Checked(f"reports its {key}", good, line(value) if good else f"{line(value)!r} is not a version")
    for key, known in (("types", set(TYPES.values())), ("containers", set(CONTAINERS.values()))):
        value = hello.get(key)
        if value is not None:
            odd = sorted(map(str, set(value) - known)) if isinstance(value, list) else [str(value)]
            yield Checked(f"reports its {key}", not odd, line(f"{', '.join(odd)}: not one of "
f"{', '.join(sorted(known))}")
                          if odd else line(", ".join(value)))  # fmt: skip


@dataclass
class _Types:
    """Element types and containers, each sent through operators that only move data.

    Attributes:
        taken: types and containers that were returned, right or wrong.
    """

    caller: _Caller
    taken: set[str] = field(default_factory=set)
    _results: dict[str, list[Result]] = field(default_factory=lambda: defaultdict(list))
    _finished: set[str] = field(default_factory=set)

    def checked(self, can: Mapping[Op, OperatorVersion]) -> Iterator[Checked]:
        """Run the cases, and yield the checks.

        Args:
            can: by operator, the newest version to try.
        """
        suite, over = Generated(), ""
        for op in sorted((op for op in can if op.compare is EXACT), key=lambda op: (_burden(can[op]), str(op))):
            for version in reversed(registry.versions(op)):
                if version.since <= can[op].since and not self._done(*TYPES.values(), *CONTAINERS.values()):
                    over = over or self._send(suite, version)
        yield from self._checks()
        names = [*TYPES.values(), *CONTAINERS.values()]
        if untried := [name for name in names if name not in self._results]:
            why = over or "no supported operator that only moves data accepts them"
            yield Checked("moves other types", good=None, seen=line(f"not tried, {why}: {', '.join(untried)}", 400))

    def _send(self, suite: Generated, version: OperatorVersion) -> str:
        """Run one case for each type that an operator version takes; return why no more cases run, or ""."""
        tried: set[str] = set()
        for item in suite.listed(Selection(ops=(str(version),), forms=(PLAIN,))):
            type_ = parts(item.id, item.operator)[1]
            if item.outcome != Outcome.VALUES or type_ in tried:
                continue
            tried.add(type_)
            if over := self.caller.over:
                return over
            if not type_ or "-" in type_ or not self._done(type_):
                self._try(_case(suite, version, item.id))
        return ""

    def _done(self, *kinds: str) -> bool:
        """Whether no more cases are needed for these types and containers."""
        return all(kind in self._finished for kind in kinds)

    def _try(self, case: Case) -> None:
        kinds = sorted(_moved(case))
        if not kinds or self._done(*kinds):
            return
        result = self.caller(case)
        for kind in kinds:
            self._results[kind].append(result)
            alike = sum(other.verdict is result.verdict for other in self._results[kind])
            if result.verdict is Verdict.PASS or alike >= TRIES.get(result.verdict, OTHER_TRIES):
                self._finished.add(kind)
        if result.verdict in {Verdict.PASS, *WRONG}:
            self.taken.update(kinds)

    def _checks(self) -> Iterator[Checked]:
        for kind, results in self._results.items():
            passed = [result for result in results if result.verdict is Verdict.PASS]
            # No operator returns a map unchanged: each that takes one computes something from it.
            faults = FAULTS if kind == CONTAINERS["map_type"] else FAULTS | WRONG
            bad = [result for result in results if result.verdict is Verdict.ADAPTER_ERROR]
            bad += [result for result in results if result.verdict in faults and not passed]
            if bad:
                yield Checked(f"moves {kind}", good=False, seen=_line_of(bad[0]))
            elif passed:
                yield Checked(f"moves {kind}", good=True, seen=f"through {passed[0].operator}")
            else:
                yield Checked(f"moves {kind}", good=None, seen=line(_line_of(results[0]), 160))


def _line_of(result: Result) -> str:
    return line(f"{result.case}: {result.verdict}: {result.message}")


def _burden(version: OperatorVersion) -> int:
    """Return how many inputs, outputs and attributes a version has; the one with the fewest is tried first."""
    several = sum(item.variadic for item in (*version.inputs, *version.outputs))
    return len(version.inputs) + len(version.outputs) + len(version.attributes) + several + (not version.inputs) * 9


def _moved(case: Case) -> set[str]:
    """Return the element types that a case moves from inputs to outputs, or the containers, where it has some.

    It moves none where an expected element is not among the elements of its inputs.
    """
    sent: dict[str, set[bytes]] = {}
    expected: dict[str, set[bytes]] = {}
    _elements(list(case.inputs.values()), sent)
    _elements(list(case.expected or ()), expected)
    if not expected or any(not items <= sent.get(dtype, set()) for dtype, items in expected.items()):
        return set()
    graph = onnx.load_from_string(case.model).graph
    takes, gives = ({kind for info in infos for kind in _kinds(info.type)} for infos in (graph.input, graph.output))
    # A type may be changed in a tensor and not in a sequence, so a case counts for one or the other.
    return (takes | gives) & set(CONTAINERS.values()) or takes & gives


def _elements(value: Any, elements: dict[str, set[bytes]]) -> None:  # noqa: ANN401 - values nest
    """Add the elements of a value to `elements`, by dtype."""
    if isinstance(value, np.ndarray):
        items = map(repr, value.reshape(-1).tolist()) if value.dtype.kind == "O" else ()
        flat = np.ascontiguousarray(value).reshape(-1)
        rows = (row.tobytes() for row in flat) if value.dtype.kind != "O" else (item.encode() for item in items)
        if value.size:
            elements.setdefault(str(value.dtype), set()).update(rows)
    elif isinstance(value, dict):
        _elements(list(value.values()), elements)
    elif isinstance(value, list):
        for item in value:
            _elements(item, elements)


def _kinds(type_: onnx.TypeProto) -> Iterator[str]:
    """Yield the element type of a type, and the containers around it."""
    kind = type_.WhichOneof("value")
    if kind in CONTAINERS:
        yield CONTAINERS[kind]
        inner = getattr(type_, kind)
        yield from _kinds(inner.value_type if kind == "map_type" else inner.elem_type)
    elif kind == "tensor_type":
        yield TYPES.get(type_.tensor_type.elem_type, "")


def _declared(hello: Mapping[str, Any], taken: set[str]) -> Iterator[Checked]:
    """Yield whether an adapter takes the types and containers that it declares."""
    for key in ("types", "containers"):
        value = hello.get(key)
        if isinstance(value, list):
            empty = sorted(set(map(str, value)) - taken)
            kinds = set(TYPES.values()) if key == "types" else set(CONTAINERS.values())
            missing = sorted((taken & kinds) - set(map(str, value)))
            if empty:  # There may be a kernel for them, but in operators that are not run here.
                yield Checked(f"supports its {key}", good=None, seen=line(f"not tested: {', '.join(empty)}"))
            if missing:
                yield Checked(f"declares all its {key}", good=False, seen=line(f"missing: {', '.join(missing)}"))
            if not empty and not missing:
                yield Checked(f"supports its {key}", good=True, seen="all declared ones")


def _forked(target: Target, limits: Limits, hello: Mapping[str, Any], cases: Sequence[Case]) -> Iterator[Checked]:
    """Yield whether forks of an adapter that declares FORK pass the cases that a started process passes.

    Raises:
        AdapterProcessError: no process starts.
    """
    server = ForkServer(target, limits.memory)
    server.prepare(hello)
    try:
        with Asker(target, limits, server) as asker:
            if not server.pid(0):
                seen = f"{server.obstacle or 'a fork sends no hello'}; remove FORK"
                yield Checked("can be forked", good=False, seen=seen)
                return
            caller = _Caller(asker, target.name, time.monotonic() + FORKED_SECONDS)
            tried = 0
            for case in cases:
                if caller.over:
                    break
                tried += 1
                result = caller(case)
                if result.verdict is not Verdict.PASS:
                    yield Checked("can be forked", good=False, seen=f"in a fork, {_line_of(result)}; remove FORK")
                    return
            yield Checked("can be forked", good=True, seen=f"{tried} cases also pass in a fork")
    finally:
        server.close()


def _nonsense(asker: Asker) -> Iterator[Checked]:
    """Yield whether an adapter rejects an invalid model without crashing."""
    for what, model in NONSENSE.items():
        case = Case(
            id=f"nonsense/{what}", operator="nonsense", model=model, inputs={}, outputs=("y",),
            outcome=Outcome.REJECTS, expected=None, allowance=Allowance("nothing is expected"),
        )  # fmt: skip
        reply = asker.ask(case)
        result = judge(case, asker.process.target.name, reply)
        good = not isinstance(reply, Died | Late | Broken) and result.verdict is not Verdict.ACCEPTED_INVALID
        yield Checked(f"rejects {what}", good, line(f"{result.verdict}: {result.error or result.message}", 100))
