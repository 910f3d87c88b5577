"""A short test of an adapter, for its author: does it speak the format, hand over every type, and survive nonsense?

Every element type and container is sent through Identity, which gives back what it gets. So what comes back otherwise
was changed by the adapter, or the runtime cannot move it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends.protocol import ELEMENT_TYPES
from harness.case import PLAIN, Allowance, Case, Outcome
from harness.lane import Lane
from harness.process import SessionError
from harness.replies import Broken, Died, Late
from harness.report.summary import WRONG
from harness.runner import judge
from harness.suite import Generated, Selection
from harness.verdict import Result, Verdict, line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from harness.process import Limits
    from harness.targets import Target

CONTAINERS = {"seq": "sequence", "optional": "optional", "map": "map"}
"""By the first word of a type as case ids write it: what backends/README.md calls it."""
MOVED = ("ai.onnx/Identity/*", "ai.onnx.ml/DictVectorizer/*")
"""Cases that send every element type, sequences, optionals and maps."""
FAULTS = frozenset({Verdict.ADAPTER_ERROR, Verdict.CRASH, Verdict.TIMEOUT})
NONSENSE = {
    "an empty model": b"",
    "bytes that are no model": b"\xff\xfe no model \x00" * 20,
    "a model without a graph": b"\x08\x08",
}


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
    with Lane(target, limits) as lane:
        hello = dict(lane.session.hello)
        yield from _greeting(hello)
        taken: set[str] = set()
        try:
            yield from _moved(lane, target.name, taken)
            yield from _declared(hello, taken)
            yield from _nonsense(lane)
        except SessionError as error:
            yield Checked("goes on", good=False, seen=line(error))


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
    for key, known in (("types", {row.name for row in ELEMENT_TYPES}), ("containers", set(CONTAINERS.values()))):
        said = hello.get(key)
        if said is not None:
            odd = sorted(map(str, set(said) - known)) if isinstance(said, list) else [str(said)]
            yield Checked(f"says its {key}", not odd, line(f"{', '.join(odd)}: not one of {', '.join(sorted(known))}")
                          if odd else line(", ".join(said)))  # fmt: skip


def _moved(lane: Lane, name: str, taken: set[str]) -> Iterator[Checked]:
    """Yield what became of each type, and note which ones are taken."""
    by_kind: dict[str, list[Result]] = {}
    for case in _movers():
        result = judge(case, name, lane.ask(case))
        for kind in _kinds(case):
            by_kind.setdefault(kind, []).append(result)
    for kind, results in by_kind.items():
        verdicts = {result.verdict for result in results}
        # What takes a map computes something of it, which says nothing of the adapter.
        faults = FAULTS if kind == CONTAINERS["map"] else FAULTS | WRONG
        bad = next((result for result in results if result.verdict in faults), None)
        if verdicts & {Verdict.PASS, *WRONG}:
            taken.add(kind)
        if bad is not None:
            yield Checked(f"moves {kind}", good=False, seen=line(f"{bad.case}: {bad.verdict}: {bad.message}"))
        elif kind in taken:
            yield Checked(f"moves {kind}", good=True, seen=f"{len(results)} cases")
        else:
            last = results[-1]  # Of the newest version.
            yield Checked(f"moves {kind}", good=None, seen=line(f"{last.verdict}: {last.message}", 160))


def _movers() -> Iterable[Case]:
    for case in Generated().cases(Selection(cases=MOVED)):
        if case.form == PLAIN and case.outcome is Outcome.VALUES and (case.element_type or "/DictVec" in case.id):
            yield case


def _kinds(case: Case) -> Iterator[str]:
    """Yield the element type that a case moves, or the container."""
    if not case.id.startswith("ai.onnx/"):
        yield CONTAINERS["map"]
        return
    first, *inner = case.element_type.split("-")
    yield CONTAINERS.get(first, first)
    if inner and inner[0] in CONTAINERS:
        yield CONTAINERS[inner[0]]


def _declared(hello: Mapping[str, Any], taken: set[str]) -> Iterator[Checked]:
    """Yield whether what an adapter says it takes is what it takes."""
    for key in ("types", "containers"):
        said = hello.get(key)
        if isinstance(said, list):
            empty = sorted(set(map(str, said)) - taken)
            kinds = {row.name for row in ELEMENT_TYPES} if key == "types" else set(CONTAINERS.values())
            unsaid = sorted((taken & kinds) - set(map(str, said)))
            if empty:  # There may be a kernel for them all the same, though not of the operators that are asked here.
                yield Checked(f"takes the {key} that it says", good=None, seen=line(f"not seen: {', '.join(empty)}"))
            if unsaid:
                yield Checked(f"says all {key} that it takes", good=False, seen=line(f"missing: {', '.join(unsaid)}"))
            if not empty and not unsaid:
                yield Checked(f"takes the {key} that it says", good=True, seen="all of them")


def _nonsense(lane: Lane) -> Iterator[Checked]:
    """Yield whether an adapter refuses what is no model, and goes on."""
    for what, model in NONSENSE.items():
        case = Case(
            id=f"nonsense/{what}", operator="nonsense", model=model, inputs={}, outputs=("y",),
            outcome=Outcome.REJECTS, expected=None, allowance=Allowance("nothing is expected"),
        )  # fmt: skip
        reply = lane.ask(case)
        result = judge(case, lane.session.target.name, reply)
        good = not isinstance(reply, Died | Late | Broken) and result.verdict is not Verdict.ACCEPTED_INVALID
        yield Checked(f"refuses {what}", good, line(f"{result.verdict}: {result.error or result.message}", 100))
