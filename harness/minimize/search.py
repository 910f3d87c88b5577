"""A failing case cut down to a smaller one that fails in the same way and is as valid, or as forbidden, as it was.

A plain loop over moves, rather than hypothesis's shrinker: arguments are declared, not drawn, so there are no choices
to replay, and each try costs a question to a process that may die of it, which a budget must count. Every candidate is
planned anew, so that the oracle says what to expect of it, and taken only if it is smaller by an explicit measure.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from harness.case.case import PLAIN, Outcome
from harness.errors import HarnessError
from harness.execution.ask import Asker, LiveAnswer, ask_and_judge
from harness.minimize import moves
from harness.minimize.candidate import begin, build, leaves
from harness.results.summary import signature
from harness.verdict import WRONG, Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from harness.case.case import Case
    from harness.execution.adapter_process import Limits
    from harness.execution.backend_names import Target
    from harness.generation.forms import Plan
    from harness.minimize.candidate import Draft

STRUCTURE = (moves.fewer, moves.shorter, moves.lower)
PASSES = (moves.plainer, *STRUCTURE, moves.simpler)
"""What is tried, in this order, until nothing of it helps."""
PLANS_A_STEP = 100
"""Candidates that are planned for each one that may be run: most are no case, and cost the runtime nothing."""
ROUNDING = 1e-2
"""Relative errors up to this are taken for rounding; an answer that is off by more is not the same fault."""

MOST_EXPECTED = 1 << 16
"""Elements that a smaller case may expect, though the first expects fewer: simple numbers may ask for a lot."""


class MinimizeError(HarnessError):
    """There is nothing to minimize, or no way to; the text says why."""


@dataclass(frozen=True, order=True)
class Size:
    """The measure: what comes first outweighs all that follows, and every step makes it less.

    Attributes:
        parts: nodes, inputs, attributes and outputs.
        elements: of all inputs, and of the lists of attributes.
        rank: of all inputs together.
        values: how far the values are from zero, one, small and whole numbers.
        strangeness: how far types and form are from the most familiar ones.
    """

    parts: int
    elements: int
    rank: int
    values: int
    strangeness: int


@dataclass(frozen=True)
class Tried:
    """A draft with what it makes, and how large that is."""

    draft: Draft
    plan: Plan
    case: Case
    size: Size

    @property
    def counts(self) -> dict[str, int]:
        """What a person counts."""
        graph = onnx.load_from_string(self.case.model).graph
        return {
            "nodes": len(graph.node),
            "inputs": sum(item is not None for _, item in self.plan.inputs),
            "attributes": len(self.plan.attributes),
            "outputs": len(self.case.outputs),
            "elements": self.size.elements,
            "rank": self.size.rank,
        }


@dataclass
class Minimized:
    """What became of a case.

    Attributes:
        before, after: the case as it was, and as small as it got.
        witness: the backend on the smaller case, asked in a process of its own.
        taken: why each step made it moves.
        steps: how often the backend was asked.
        stopped: whether the budget ended the search.
    """

    before: Tried
    after: Tried
    witness: LiveAnswer
    taken: list[str] = field(default_factory=list)
    steps: int = 0
    stopped: bool = False

    @property
    def case(self) -> Case:
        """The smaller case, under its own name."""
        return named(self.before.case, self.after.case)

    @property
    def result(self) -> Result:
        """What the backend makes of the smaller case."""
        assert self.witness.result is not None  # noqa: S101 - it was asked
        return self.witness.result


def minimize(case: Case, plan: Plan, target: Target, limits: Limits, steps: int) -> Minimized:
    """Return a smaller case with the same verdict for the same reason.

    Args:
        case: the one that fails.
        plan: what it was delivered from.
        target: the backend.
        limits: for each of its processes.
        steps: how often the backend may be asked.

    Raises:
        MinimizeError: the case does not fail, or not in the same way each time.
        HarnessError: the backend cannot be asked.
    """
    limits = dataclasses.replace(limits, restarts=steps + limits.restarts)
    first = _begin(case, plan)
    with Asker(target, limits) as lane:
        if first.case is not case:
            _same(case, ask_and_judge(lane, case)[0], first.case, ask_and_judge(lane, first.case)[0])
        search = _Search(lane, steps, first)
        search.run()
    last = _alone(target, limits, search)
    return Minimized(search.first, search.best, last, search.taken, search.steps, search.exhausted)


def _begin(case: Case, plan: Plan) -> Tried:
    own = case.id.startswith(f"{plan.version}/")
    tried = _tried(begin(plan, case.form if own else PLAIN))
    if tried is None or (own and tried.case.digests() != case.digests()):
        raise MinimizeError(f"{case.id}: its arguments cannot be written out, so it cannot be minimized")
    return dataclasses.replace(tried, case=case) if own else tried


def _same(case: Case, result: Result, lifted: Case, of_lifted: Result) -> None:
    """Raise MinimizeError if a case fails in another way, or not at all, where it is written as a declared one."""
    _fails(result)
    if of_lifted.verdict is not result.verdict:
        raise MinimizeError(
            f"{case.id} on {result.backend}: {_told(result)}; by the oracle's meaning, as {lifted.id}, "
            f"{_told(of_lifted)}: not the same failure, so it cannot be minimized"
        )


def _tried(draft: Draft) -> Tried | None:
    built = build(draft)
    return Tried(draft, *built, size=measure(draft, *built)) if built else None


def _alone(target: Target, limits: Limits, search: _Search) -> LiveAnswer:
    """Return what the backend says of the smaller case in a process that has seen no other."""
    case = named(search.first.case, search.best.case)
    with Asker(target, limits) as lane:
        hello = dict(lane.process.hello)
        result, outputs = ask_and_judge(lane, case)
    if cause(search.best.case, result) != search.wanted:
        raise MinimizeError(
            f"{case.id} on {target.name}: {search.result.verdict} among other cases, {result.verdict} in a process of "
            "its own; what fails by what ran before cannot be minimized"
        )
    return LiveAnswer(target.name, hello, result, outputs)


def named(origin: Case, case: Case) -> Case:
    """Return a smaller case under a name of its own, if it is another one."""
    if case.digests() == origin.digests():
        return case
    name = f"{case.operator}/{origin.name}_minimized"
    return dataclasses.replace(case, id=name if case.form == PLAIN else f"{name}@{case.form}")


class _Search:
    """The loop.

    Attributes:
        wanted: the cause that every step must keep.
        exhausted: the budget is used up.
    """

    def __init__(self, lane: Asker, steps: int, first: Tried) -> None:
        self.lane, self.most = lane, steps
        self.first = self.best = first
        self.steps, self.planned = 0, 0
        self.taken: list[str] = []
        self.result = self._ask(first.case)
        _fails(self.result)
        self.wanted = cause(first.case, self.result)
        again = self._ask(first.case)
        if cause(first.case, again) != self.wanted:
            raise MinimizeError(
                f"{first.case.id} on {again.backend}: once {_told(self.result)}, then {_told(again)}; what does not "
                "fail in the same way each time cannot be minimized"
            )
        self.seen = {first.case.digests()}

    @property
    def exhausted(self) -> bool:
        return self.steps >= self.most or self.planned >= self.most * PLANS_A_STEP

    def run(self) -> None:
        """Make the case smaller until nothing helps, or the budget is used up."""
        while not self.exhausted:
            before = self.best.size
            for kind in PASSES:
                self._pass(kind)
            if self.best.size == before and self._improve(_pairs(self.best.draft)) is None:
                return

    def _pass(self, kind: Callable[[Draft], Iterator[moves.Move]]) -> None:
        """Take every move of a kind that helps; what was tried in vain before one is not tried again behind it."""
        begin_at = 0
        while (taken := self._improve(itertools.islice(kind(self.best.draft), begin_at, None))) is not None:
            begin_at += taken

    def _improve(self, candidates: Iterable[moves.Move]) -> int | None:
        """Take the first move that keeps the cause, and return which it was; None where there is none."""
        for index, move in enumerate(candidates):
            if self.exhausted:
                return None
            tried = self._candidate(move.draft)
            if tried is not None and cause(tried.case, self._ask(tried.case)) == self.wanted:
                self.best = tried
                self.taken.append(move.why)
                return index
        return None

    def _candidate(self, draft: Draft) -> Tried | None:
        """Return what a draft makes, if that is a smaller case of the same kind that was not tried yet."""
        self.planned += 1
        tried = _tried(draft)
        if tried is None or tried.size >= self.best.size or not alike(self.first.plan, tried.plan):
            return None
        digests = tried.case.digests()
        if digests in self.seen:
            return None
        self.seen.add(digests)
        built = _tried(begin(tried.plan, draft.form))  # With values in the types that they took.
        return built if built is not None and built.size < self.best.size else None

    def _ask(self, case: Case) -> Result:
        self.steps += 1
        return ask_and_judge(self.lane, case)[0]


def _pairs(draft: Draft) -> Iterator[moves.Move]:
    """Yield two moves at once, where one alone leaves no case: what a list says of an axis, and the axis."""
    for first in itertools.chain.from_iterable(kind(draft) for kind in STRUCTURE):
        for second in itertools.chain.from_iterable(kind(first.draft) for kind in STRUCTURE):
            yield moves.Move(second.draft, f"{first.why}, and {second.why}")


def _fails(result: Result) -> None:
    """Raise MinimizeError for a verdict that is no failure."""
    if result.verdict is Verdict.PASS:
        raise MinimizeError(f"{result.case} passes on {result.backend}; nothing to minimize")
    if not result.verdict.failed:
        said = f": {result.message}" if result.message else ""
        raise MinimizeError(
            f"{result.case} is {result.verdict} on {result.backend}{said}; that is no failure to minimize"
        )


def _told(result: Result) -> str:
    return f"{result.verdict} ({result.message})" if result.message else str(result.verdict)


# What must stay

_INDEX = re.compile(r"_\d+(?=_again$|$)")
"""What tells the values of a variadic parameter from each other."""


def alike(origin: Plan, plan: Plan) -> bool:
    """Tell whether a smaller case is of the same kind: as valid, or forbidden or left open by the same clause.

    What is empty is a meaning of its own, so no case becomes empty that was not. No input loses a dimension that the
    text names.
    """
    return (
        plan.outcome is origin.outcome
        and plan.decided == origin.decided
        and _masked(plan.detail) == _masked(origin.detail)
        and _empty(plan) <= _empty(origin)
        and all(_ranks(plan).get(name, rank) == rank for name, rank in _ranks(origin).items())
        and _elements(plan.expected) <= max(MOST_EXPECTED, _elements(origin.expected))
    )


_RANKED = re.compile(
    r"[(\[]\s*\w+(?:\s*(?:,|\bx\b|\*)\s*[\w.\u2026*+/-]+)+\s*[)\]]"
    r"|\b\d-?D\b|\brank[ -]?\d|\b(?:matrix|matrices|scalar)\b",
    re.IGNORECASE,
)
"""How the texts write the rank of an input: (N x C x H x W), [seq_length, batch_size, input_size], 1-D, a matrix."""


def _ranks(plan: Plan) -> dict[str, int]:
    """Return by name the ranks of the inputs of which the text says how many dimensions they have, and which.

    An oracle need not refuse fewer; whoever maintains a runtime would.
    """
    ranked = {item.name for item in plan.version.inputs if _RANKED.search(item.description)}
    given = {name: item.value for name, item in plan.inputs if item is not None and _INDEX.sub("", name) in ranked}
    return {name: value.ndim for name, value in given.items() if isinstance(value, np.ndarray)}


def _empty(plan: Plan) -> set[str]:
    """Return the names of the inputs and outputs that are empty, or hold something that is."""
    given = [(name, item.value) for name, item in plan.inputs if item is not None]
    outputs = [name for name, _ in plan.outputs if name]
    values = [*given, *zip(outputs, plan.expected or (), strict=False)]
    return {_INDEX.sub("", name) for name, value in values if _is_empty(value)}


def _elements(values: Any) -> int:  # noqa: ANN401
    if isinstance(values, list | tuple):
        return sum(map(_elements, values))
    return values.size if isinstance(values, np.ndarray) else 1


def _is_empty(value: Any) -> bool:  # noqa: ANN401 - any value
    if isinstance(value, list):
        return not value or any(map(_is_empty, value))
    return isinstance(value, np.ndarray) and not value.size


def cause(case: Case, result: Result) -> tuple[str, ...]:
    """Return what two failures share that have one cause: verdict, and what is known of how it came to that."""
    shared = [_masked(part) for part in signature(result)]
    if result.verdict in WRONG:
        where = str(result.mismatch.get("where", ""))
        index = re.match(r"outputs\[(\d+)\]", where)
        shared.append(_INDEX.sub("", case.outputs[int(index[1])]) if index else where)
    if result.verdict is Verdict.WRONG_VALUE and case.outcome is Outcome.VALUES:
        shared += _difference(result)
    return tuple(shared)


def _difference(result: Result) -> list[str]:
    """Return of what kind the values are that differ: a NaN in place of a number is not a number that is off."""
    found = result.mismatch
    kinds = []
    for word in ("expected", "actual"):
        text = str(found.get(word, "")).lower()
        kinds.append(next((kind for kind in ("nan", "inf") if kind in text), "value"))
    relative = found.get("relative")
    return [*kinds, "rounding" if relative is not None and relative <= ROUNDING else "far"]


def _masked(text: str) -> str:
    """Return a message without its numbers, and without how many of them there are."""
    return re.sub(r"#(?:[\s,x-]*#)*", "#", re.sub(r"-?\d+(?:\.\d+)?|tensor\(\w+\)|'[^']*'", "#", text))


# How large a case is


def measure(draft: Draft, plan: Plan, case: Case) -> Size:
    """Return how large a case is."""
    graph = onnx.load_from_string(case.model).graph
    found = leaves(draft)
    parts = len(graph.node) + len(plan.inputs) + len(plan.around) + len(plan.attributes) + len(plan.outputs)
    types = [item.type for _, item in plan.inputs if item is not None] + [text for _, text in plan.outputs]
    return Size(
        parts=parts,
        elements=sum(leaf.array.size for leaf in found if leaf.tensor or leaf.array.ndim),
        rank=sum(leaf.array.ndim for leaf in found if leaf.tensor),
        values=sum(_distance(item) for leaf in found for item in leaf.array.reshape(-1).tolist()),
        strangeness=10 * moves.unfamiliar(draft.form)
        + ("-" not in draft.form)
        + sum(moves.plainness(text) for text in types if text),
    )


def _distance(value: Any) -> int:  # noqa: ANN401 - any element
    """Return how far a value is from the simplest one of its kind, 0."""
    if isinstance(value, str):
        return sum(1 if letter.isascii() and letter.isprintable() else 4 for letter in value)
    if isinstance(value, complex):
        return _distance(value.real) + _distance(value.imag)
    if isinstance(value, bool):
        return int(value)
    number = value if isinstance(value, int) else float(value)
    if number != number or number in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN
        return 2000
    if number != int(number):
        return 500 + len(repr(number))
    whole = int(number)
    negative = whole < 0 or (whole == 0 and str(number).startswith("-"))
    return (abs(whole) if abs(whole) <= 64 else 64 + 4 * whole.bit_length()) + negative  # noqa: PLR2004 - see above
