"""A short test of an adapter, for its author: what can it, does it hand over every type, and survive nonsense?

One case of every operator is asked, from the newest version downwards until one is not opted out of. Then every element
type and container is sent through those operators that only move data, and that it can. So what comes back otherwise
was changed by the adapter, or the runtime cannot move it.
"""

from __future__ import annotations

import dataclasses
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from backends.protocol import ELEMENT_TYPES
from harness.case.case import PLAIN, Allowance, Case, Outcome
from harness.declare import EXACT
from harness.execution.adapter_process import AdapterProcessError
from harness.execution.ask import Asker
from harness.execution.judge import judge
from harness.execution.replies import Broken, Died, Late
from harness.spec import registry
from harness.suites.generated import Generated
from harness.suites.selection import Selection
from harness.verdict import WRONG, Result, Verdict, line, parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.declare import Op
    from harness.execution.adapter_process import Limits
    from harness.execution.backend_names import Target
    from harness.spec.schema import OperatorVersion

CONTAINERS = {"sequence_type": "sequence", "optional_type": "optional", "map_type": "map"}
"""By the field of a TypeProto: what backends/README.md calls it."""
TYPES = {row.number: row.name for row in ELEMENT_TYPES}
FAULTS = frozenset({Verdict.ADAPTER_ERROR, Verdict.CRASH, Verdict.TIMEOUT})
NONSENSE = {
    "an empty model": b"",
    "bytes that are no model": b"\xff\xfe no model \x00" * 20,
    "a model without a graph": b"\x08\x08",
}


MOST_SECONDS = 90.0
"""That cases are asked for, nonsense aside; an adapter that compiles is not asked all."""
MOST_TIMEOUTS = 3
"""Operators without an answer after which no more are asked."""
CASE_SECONDS = 10.0
"""That one case may take."""
TRIES = {Verdict.UNSUPPORTED: 30}
"""Cases that a type is sent through until one of them moves it, by their verdict; an opt-out costs next to nothing."""
OTHER_TRIES = 4
NAMED = 4
"""Operators that a line names."""


@dataclass(frozen=True)
class Checked:
    """One thing that was looked at.

    Attributes:
        what: it is.
        good: whether all is well; None: it is only told.
        seen: in words.
    """

    what: str
    good: bool | None
    seen: str


def check(target: Target, limits: Limits) -> Iterator[Checked]:
    """Yield what an adapter does, check by check; ends where its process does not come up again.

    Raises:
        StartError: it does not come up at all.
    """
    limits = dataclasses.replace(limits, timeout=min(limits.timeout, CASE_SECONDS))
    with Asker(target, limits) as lane:
        hello = dict(lane.process.hello)
        yield from _greeting(hello)
        asked = _Asked(lane, target.name, time.monotonic() + MOST_SECONDS)
        try:
            operators = _Operators(asked, hello)
            yield from operators.checked()
            types = _Types(asked)
            yield from types.checked(operators.can)
            yield from _declared(hello, types.taken)
            yield from _nonsense(lane)
        except AdapterProcessError as error:
            yield Checked("goes on", good=False, seen=line(error))


@dataclass
class _Asked:
    """What asks one case after the other, until the time is over or too many have no answer.

    Attributes:
        lane: of the adapter.
        name: of the backend.
        until: the time.monotonic() at which it asks no more.
        timeouts: how many cases had no answer.
    """

    lane: Asker
    name: str
    until: float
    timeouts: int = 0

    @property
    def over(self) -> str:
        """Why no more is asked; empty: more is."""
        if self.timeouts >= MOST_TIMEOUTS:
            return f"{self.timeouts} cases had no answer within {self.lane.process.limits.timeout:g} s each"
        return f"{MOST_SECONDS:g} s are over" if time.monotonic() > self.until else ""

    def __call__(self, case: Case) -> Result:
        """Return what becomes of a case."""
        result = judge(case, self.name, self.lane.ask(case))
        self.timeouts += result.verdict is Verdict.TIMEOUT
        return result


class _Operators:
    """One plain case of the core for each operator.

    Attributes:
        can: the version in which the adapter passed, by operator.
    """

    def __init__(self, asked: _Asked, hello: Mapping[str, Any]) -> None:
        """Take what asks, and what the adapter said of itself."""
        self._asked, self._hello = asked, hello
        self._suite = Generated()
        self.can: dict[Op, OperatorVersion] = {}
        self._opted_out: list[Op] = []
        self._failed: list[Result] = []
        self._left: list[Op] = []

    def checked(self) -> Iterator[Checked]:
        """Ask, and yield what is seen."""
        cases = _first_cases(self._suite)
        # Those that only move data come first: if the time ends before all are asked, types can still be tried.
        for op in sorted(registry.load(), key=lambda op: op.compare is not EXACT):
            if self._asked.over:
                self._left.append(op)
            else:
                self._ask(op, cases)
        yield from self._told()

    def _ask(self, op: Op, cases: Mapping[str, str]) -> None:
        newest = self._hello.get("opset") if op.domain == "ai.onnx" else None
        for version in reversed(registry.versions(op)):
            known = not isinstance(newest, int) or version.since <= newest
            case_id = cases.get(str(version))
            if case_id is None or not known or self._asked.over:
                continue
            result = self._asked(_case(self._suite, version, case_id))
            if result.verdict is Verdict.PASS:
                self.can[op] = version
            elif result.verdict is not Verdict.UNSUPPORTED:
                self._failed.append(result)
            else:
                continue
            return
        self._opted_out.append(op)

    def _told(self) -> Iterator[Checked]:
        of = sum(map(len, (self.can, self._opted_out, self._failed)))
        what = f"{len(self.can)} of {of} operators, opts out of {len(self._opted_out)}, fails {len(self._failed)}"
        yield Checked("can operators", bool(self.can), what if self.can else f"{what}: none of them passes")
        faults = [result for result in self._failed if result.verdict is Verdict.ADAPTER_ERROR]
        short = [result for result in self._failed if result.mismatch.get("where") == "outputs"]
        for word, results, good in (
            ("gives lists of values", faults, False),
            ("gives as many outputs as asked", short, False),
            ("fails", [result for result in self._failed if result not in (*faults, *short)], None),
        ):
            for result in results[:NAMED]:
                yield Checked(word, good, line(f"{result.case}: {result.verdict}: {result.message}"))
            if rest := results[NAMED:]:
                yield Checked(word, good, line(", ".join(f"{item.operator}: {item.verdict}" for item in rest), 300))
        if self._left:
            seen = f"{self._asked.over}; {len(self._left)} operators are not asked"
            yield Checked("answers in time", False if self._asked.timeouts >= MOST_TIMEOUTS else None, seen)


def _first_cases(suite: Generated) -> dict[str, str]:
    """Return by operator version the id of its first plain case of the core that expects an answer."""
    found: dict[str, str] = {}
    for item in suite.listed(Selection(core=True, forms=(PLAIN,))):
        if item.outcome in {Outcome.VALUES, Outcome.PROPERTY}:
            found.setdefault(item.operator, item.id)
    return found


def _case(suite: Generated, version: OperatorVersion, case_id: str) -> Case:
    return next(iter(suite.cases(Selection(ops=(str(version),), ids=frozenset({case_id})))))


def _greeting(hello: Mapping[str, Any]) -> Iterator[Checked]:
    """Yield what is amiss with what an adapter says of itself."""
    for key, why in (
        ("runtime", "results do not say what was tested"),
        ("version", "results do not say which version was tested"),
        ("repro", "`repro` cannot show a failure without the harness"),
    ):
        said = hello.get(key)
        good = isinstance(said, str) and bool(said)
        amiss = None if key == "repro" else False  # Only an adapter in Python can say it.
        seen = line(str(said).splitlines()[0], 60) if good else f"missing: {why}"
        yield Checked(f"says its {key}", good or amiss, seen)
    for key in ("opset", "ir_version"):
        said = hello.get(key)
        if said is not None:
            good = isinstance(said, int) and not isinstance(said, bool) and said > 0
            yield Checked(f"says its {key}", good, line(said) if good else f"{line(said)!r} is no version")
    for key, known in (("types", set(TYPES.values())), ("containers", set(CONTAINERS.values()))):
        said = hello.get(key)
        if said is not None:
            odd = sorted(map(str, set(said) - known)) if isinstance(said, list) else [str(said)]
            yield Checked(f"says its {key}", not odd, line(f"{', '.join(odd)}: not one of {', '.join(sorted(known))}")
                          if odd else line(", ".join(said)))  # fmt: skip


@dataclass
class _Types:
    """Element types and containers, each sent through operators that only move data.

    Attributes:
        taken: those that came back, right or wrong.
    """

    asked: _Asked
    taken: set[str] = field(default_factory=set)
    _results: dict[str, list[Result]] = field(default_factory=lambda: defaultdict(list))
    _finished: set[str] = field(default_factory=set)

    def checked(self, can: Mapping[Op, OperatorVersion]) -> Iterator[Checked]:
        """Ask, and yield what is seen.

        Args:
            can: the operators to try, in the version that is to be.
        """
        suite, over = Generated(), ""
        for op in sorted((op for op in can if op.compare is EXACT), key=lambda op: (_burden(can[op]), str(op))):
            for version in reversed(registry.versions(op)):
                if version.since <= can[op].since and not self._done(*TYPES.values(), *CONTAINERS.values()):
                    over = over or self._send(suite, version)
        yield from self._told()
        names = [*TYPES.values(), *CONTAINERS.values()]
        if untried := [name for name in names if name not in self._results]:
            why = over or "no operator that it can, and that only moves data, takes them"
            yield Checked("moves others", good=None, seen=line(f"not tried, {why}: {', '.join(untried)}", 400))

    def _send(self, suite: Generated, version: OperatorVersion) -> str:
        """Ask one case for each type that an operator version takes; return why no more is asked."""
        seen: set[str] = set()
        for item in suite.listed(Selection(ops=(str(version),), forms=(PLAIN,))):
            type_ = parts(item.id, item.operator)[1]
            if item.outcome != Outcome.VALUES or type_ in seen:
                continue
            seen.add(type_)
            if over := self.asked.over:
                return over
            if not type_ or "-" in type_ or not self._done(type_):
                self._try(_case(suite, version, item.id))
        return ""

    def _done(self, *kinds: str) -> bool:
        """Tell whether nothing more is to be tried with any of some kinds."""
        return all(kind in self._finished for kind in kinds)

    def _try(self, case: Case) -> None:
        kinds = sorted(_moved(case))
        if not kinds or self._done(*kinds):
            return
        result = self.asked(case)
        for kind in kinds:
            self._results[kind].append(result)
            alike = sum(other.verdict is result.verdict for other in self._results[kind])
            if result.verdict is Verdict.PASS or alike >= TRIES.get(result.verdict, OTHER_TRIES):
                self._finished.add(kind)
        if result.verdict in {Verdict.PASS, *WRONG}:
            self.taken.update(kinds)

    def _told(self) -> Iterator[Checked]:
        for kind, results in self._results.items():
            passed = [result for result in results if result.verdict is Verdict.PASS]
            # A map has no operator that gives it back: what takes one makes something of it.
            faults = FAULTS if kind == CONTAINERS["map_type"] else FAULTS | WRONG
            bad = [result for result in results if result.verdict is Verdict.ADAPTER_ERROR]
            bad += [result for result in results if result.verdict in faults and not passed]
            if bad:
                yield Checked(f"moves {kind}", good=False, seen=_of(bad[0]))
            elif passed:
                yield Checked(f"moves {kind}", good=True, seen=f"through {passed[0].operator}")
            else:
                yield Checked(f"moves {kind}", good=None, seen=line(_of(results[0]), 160))


def _of(result: Result) -> str:
    return line(f"{result.case}: {result.verdict}: {result.message}")


def _burden(version: OperatorVersion) -> int:
    """Return how much an operator takes and gives beside the one thing that it moves: what has least is tried first."""
    several = sum(item.variadic for item in (*version.inputs, *version.outputs))
    return len(version.inputs) + len(version.outputs) + len(version.attributes) + several + (not version.inputs) * 9


def _moved(case: Case) -> set[str]:
    """Return the element types that a case moves from inputs to outputs, or the containers, where it has some.

    It moves none where an element of what is expected is not among those that it is given.
    """
    given: dict[str, set[bytes]] = {}
    wanted: dict[str, set[bytes]] = {}
    _elements(list(case.inputs.values()), given)
    _elements(list(case.expected or ()), wanted)
    if not wanted or any(not items <= given.get(dtype, set()) for dtype, items in wanted.items()):
        return set()
    graph = onnx.load_from_string(case.model).graph
    takes, gives = ({kind for info in infos for kind in _kinds(info.type)} for infos in (graph.input, graph.output))
    # What is changed in a tensor may go through a sequence unchanged, so that a case has one or the other.
    return (takes | gives) & set(CONTAINERS.values()) or takes & gives


def _elements(value: Any, found: dict[str, set[bytes]]) -> None:  # noqa: ANN401 - values nest
    """Add the elements of a value by its dtype."""
    if isinstance(value, np.ndarray):
        items = map(repr, value.reshape(-1).tolist()) if value.dtype.kind == "O" else ()
        flat = np.ascontiguousarray(value).reshape(-1)
        rows = (row.tobytes() for row in flat) if value.dtype.kind != "O" else (item.encode() for item in items)
        if value.size:
            found.setdefault(str(value.dtype), set()).update(rows)
    elif isinstance(value, dict):
        _elements(list(value.values()), found)
    elif isinstance(value, list):
        for item in value:
            _elements(item, found)


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
    """Yield whether what an adapter says it takes is what it takes."""
    for key in ("types", "containers"):
        said = hello.get(key)
        if isinstance(said, list):
            empty = sorted(set(map(str, said)) - taken)
            kinds = set(TYPES.values()) if key == "types" else set(CONTAINERS.values())
            unsaid = sorted((taken & kinds) - set(map(str, said)))
            if empty:  # There may be a kernel for them all the same, though not of the operators that are asked here.
                yield Checked(f"takes the {key} that it says", good=None, seen=line(f"not seen: {', '.join(empty)}"))
            if unsaid:
                yield Checked(f"says all {key} that it takes", good=False, seen=line(f"missing: {', '.join(unsaid)}"))
            if not empty and not unsaid:
                yield Checked(f"takes the {key} that it says", good=True, seen="all of them")


def _nonsense(lane: Asker) -> Iterator[Checked]:
    """Yield whether an adapter refuses what is no model, and goes on."""
    for what, model in NONSENSE.items():
        case = Case(
            id=f"nonsense/{what}", operator="nonsense", model=model, inputs={}, outputs=("y",),
            outcome=Outcome.REJECTS, expected=None, allowance=Allowance("nothing is expected"),
        )  # fmt: skip
        reply = lane.ask(case)
        result = judge(case, lane.process.target.name, reply)
        good = not isinstance(reply, Died | Late | Broken) and result.verdict is not Verdict.ACCEPTED_INVALID
        yield Checked(f"refuses {what}", good, line(f"{result.verdict}: {result.error or result.message}", 100))
