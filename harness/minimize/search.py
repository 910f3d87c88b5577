"""Reduce a failing case to a smaller one that fails in the same way and is equally valid, or equally forbidden.

A plain loop over moves, rather than hypothesis's shrinker: arguments are declared, not drawn, so there are no choices
to replay, and each attempt runs a case in a process that may crash, which a budget must count. Every candidate is
planned anew, so that the oracle gives its expected values, and accepted only if it is smaller by an explicit measure.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from harness.case.case import PLAIN, Outcome
from harness.errors import HarnessError
from harness.execution.ask import LiveAnswer, ask_and_judge
from harness.execution.asker import Asker
from harness.minimize import moves
from harness.minimize.candidate import build_case, candidate_from_plan, leaves
from harness.results.summary import signature
from harness.verdict import WRONG, Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from harness.case.case import Case
    from harness.execution.adapter_process import Limits
    from harness.execution.backend_names import Target
    from harness.generation.forms import Plan
    from harness.minimize.candidate import Candidate

STRUCTURE = (moves.fewer, moves.shorter, moves.lower)
PASSES = (moves.plainer, *STRUCTURE, moves.simpler)
"""The kinds of moves, in the order in which they are tried until none of them helps."""
PLANS_A_STEP = 100
"""Candidates that may be planned for each one that may be run: most are not cases and never reach the runtime."""
ROUNDING = 1e-2
"""Relative errors up to this count as rounding; a larger error is another fault."""

MOST_EXPECTED = 1 << 16
"""Expected elements that a smaller case may have though the first has fewer: a small input may give a large output."""


class MinimizeError(HarnessError):
    """The case cannot be minimized; the text says why."""


@dataclass(frozen=True, order=True)
class Size:
    """The size of a candidate: compared field by field in this order; every accepted move reduces it.

    Attributes:
        parts: number of nodes, inputs, attributes and outputs.
        elements: number of elements of all inputs and of attributes that are lists.
        rank: sum of the ranks of all inputs.
        values: distance of the values from zero.
        strangeness: distance of types and form from the most familiar ones.
    """

    parts: int
    elements: int
    rank: int
    values: int
    strangeness: int


@dataclass(frozen=True)
class BuiltCandidate:
    """A candidate with its plan, its case and its size."""

    candidate: Candidate
    plan: Plan
    case: Case
    size: Size

    @property
    def counts(self) -> dict[str, int]:
        """The counts that `minimize` prints before and after."""
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
    """The outcome of minimizing a case.

    Attributes:
        before, after: the original case, and the smallest one that was reached.
        answer: the backend's answer to the smallest case, in a process of its own.
        applied: descriptions of the moves that were accepted, in order.
        steps: how many cases the backend ran.
        stopped: whether the budget ended the search.
    """

    before: BuiltCandidate
    after: BuiltCandidate
    answer: LiveAnswer
    applied: list[str] = field(default_factory=list)
    steps: int = 0
    stopped: bool = False

    @property
    def case(self) -> Case:
        """The smallest case, under its own name."""
        return renamed(self.before.case, self.after.case)

    @property
    def result(self) -> Result:
        """The backend's result on the smallest case."""
        assert self.answer.result is not None  # noqa: S101 - it was asked
        return self.answer.result


def minimize(
    case: Case, plan: Plan, target: Target, limits: Limits, steps: int, seconds: float | None = None
) -> Minimized:
    """Return a smaller case with the same verdict for the same reason.

    Args:
        case: the failing case.
        plan: the plan that it was delivered from.
        target: the backend.
        limits: limits of each of its processes.
        steps: how many cases the backend may run.
        seconds: how long the search may take; None: as long as it takes.

    Raises:
        MinimizeError: the case does not fail, or not in the same way each time.
        HarnessError: the backend cannot be started.
    """
    limits = dataclasses.replace(limits, restarts=steps + limits.restarts)
    first = _first_candidate(case, plan)
    with Asker(target, limits) as asker:
        if first.case is not case:
            _check_same_failure(case, ask_and_judge(asker, case)[0], first.case, ask_and_judge(asker, first.case)[0])
        search = _Search(asker, steps, first, seconds)
        search.run()
    last = _answer_alone(target, limits, search)
    return Minimized(search.first, search.best, last, search.applied, search.steps, search.exhausted)


def _first_candidate(case: Case, plan: Plan) -> BuiltCandidate:
    generated = case.id.startswith(f"{plan.version}/")
    built = _built(candidate_from_plan(plan, case.form if generated else PLAIN))
    if built is None or (generated and built.case.digests() != case.digests()):
        raise MinimizeError(f"{case.id}: its arguments cannot be written out, so it cannot be minimized")
    return dataclasses.replace(built, case=case) if generated else built


def _check_same_failure(case: Case, result: Result, declared: Case, of_declared: Result) -> None:
    """Raise MinimizeError if the case, written as a declared one, passes or fails with another verdict."""
    _check_failure(result)
    if of_declared.verdict is not result.verdict:
        raise MinimizeError(
            f"{case.id} on {result.backend}: {_verdict_text(result)}; by the oracle's meaning, as {declared.id}, "
            f"{_verdict_text(of_declared)}: not the same failure, so it cannot be minimized"
        )


def _built(candidate: Candidate) -> BuiltCandidate | None:
    built = build_case(candidate)
    return BuiltCandidate(candidate, *built, size=measure(candidate, *built)) if built else None


def _answer_alone(target: Target, limits: Limits, search: _Search) -> LiveAnswer:
    """Return the backend's answer to the smallest case, in a process that runs no other case."""
    case = renamed(search.first.case, search.best.case)
    with Asker(target, limits) as asker:
        hello = dict(asker.process.hello)
        result, outputs = ask_and_judge(asker, case)
    if cause(search.best.case, result) != search.cause:
        raise MinimizeError(
            f"{case.id} on {target.name}: {search.result.verdict} among other cases, {result.verdict} in a process of "
            "its own; a failure that depends on the cases before it cannot be minimized"
        )
    return LiveAnswer(target.name, hello, result, outputs)


def renamed(original: Case, case: Case) -> Case:
    """Return a smaller case under a name of its own; the original case keeps its name."""
    if case.digests() == original.digests():
        return case
    name = f"{case.operator}/{original.name}_minimized"
    return dataclasses.replace(case, id=name if case.form == PLAIN else f"{name}@{case.form}")


class _Search:
    """The loop over moves.

    Attributes:
        best: the smallest case so far.
        cause: the cause that every accepted case must share with the first.
        tried: digests of the cases that were built already.
        exhausted: the budget is used up.
    """

    def __init__(self, asker: Asker, steps: int, first: BuiltCandidate, seconds: float | None = None) -> None:
        self.asker, self.budget = asker, steps
        self.until = math.inf if seconds is None else time.monotonic() + seconds
        self.first = self.best = first
        self.steps, self.planned = 0, 0
        self.applied: list[str] = []
        self.result = self._ask(first.case)
        _check_failure(self.result)
        self.cause = cause(first.case, self.result)
        again = self._ask(first.case)
        if cause(first.case, again) != self.cause:
            raise MinimizeError(
                f"{first.case.id} on {again.backend}: once {_verdict_text(self.result)}, then {_verdict_text(again)}; "
                "a case that does not fail in the same way each time cannot be minimized"
            )
        self.tried = {first.case.digests()}

    @property
    def exhausted(self) -> bool:
        spent = self.steps >= self.budget or self.planned >= self.budget * PLANS_A_STEP
        return spent or time.monotonic() > self.until

    def run(self) -> None:
        """Make the case smaller until no move helps or the budget is used up."""
        while not self.exhausted:
            before = self.best.size
            for kind in PASSES:
                self._pass(kind)
            if self.best.size == before and self._improve(_pairs(self.best.candidate)) is None:
                return

    def _pass(self, kind: Callable[[Candidate], Iterator[moves.Move]]) -> None:
        """Accept every move of a kind that helps; after one, the search goes on at its index."""
        start = 0
        while (index := self._improve(itertools.islice(kind(self.best.candidate), start, None))) is not None:
            start += index

    def _improve(self, candidates: Iterable[moves.Move]) -> int | None:
        """Accept the first move that keeps the cause, and return its index; None if there is none."""
        for index, move in enumerate(candidates):
            if self.exhausted:
                return None
            smaller = self._smaller(move.candidate)
            if smaller is not None and cause(smaller.case, self._ask(smaller.case)) == self.cause:
                self.best = smaller
                self.applied.append(move.description)
                return index
        return None

    def _smaller(self, candidate: Candidate) -> BuiltCandidate | None:
        """Build a candidate; None unless it is a smaller case of the same kind that was not built before."""
        self.planned += 1
        smaller = _built(candidate)
        if smaller is None or smaller.size >= self.best.size or not same_kind(self.first.plan, smaller.plan):
            return None
        digests = smaller.case.digests()
        if digests in self.tried:
            return None
        self.tried.add(digests)
        built = _built(candidate_from_plan(smaller.plan, candidate.form))  # With values converted to the bound types.
        return built if built is not None and built.size < self.best.size else None

    def _ask(self, case: Case) -> Result:
        self.steps += 1
        return ask_and_judge(self.asker, case)[0]


def _pairs(candidate: Candidate) -> Iterator[moves.Move]:
    """Yield two moves at once, for changes that need both, such as an axis and the entry of a list for it."""
    for first in itertools.chain.from_iterable(kind(candidate) for kind in STRUCTURE):
        for second in itertools.chain.from_iterable(kind(first.candidate) for kind in STRUCTURE):
            yield moves.Move(second.candidate, f"{first.description}, and {second.description}")


def _check_failure(result: Result) -> None:
    """Raise MinimizeError if a result is neither a failure nor a lenient answer."""
    if result.verdict is Verdict.PASS:
        raise MinimizeError(f"{result.case} passes on {result.backend}; nothing to minimize")
    if not result.verdict.failed and result.verdict is not Verdict.LENIENT:
        message = f": {result.message}" if result.message else ""
        raise MinimizeError(
            f"{result.case} is {result.verdict} on {result.backend}{message}; that is no failure to minimize"
        )


def _verdict_text(result: Result) -> str:
    return f"{result.verdict} ({result.message})" if result.message else str(result.verdict)


# Conditions that every smaller case must keep

_INDEX = re.compile(r"_\d+(?=_again$|$)")
"""The number that distinguishes the values of a variadic parameter."""


def same_kind(original: Plan, plan: Plan) -> bool:
    """Return whether a smaller case is of the same kind: as valid, or forbidden or left open by the same clause.

    Empty tensors have a meaning of their own, so nothing becomes empty that was not. No input loses a dimension that
    the text names.
    """
    return (
        plan.outcome is original.outcome
        and plan.decided == original.decided
        and masked(plan.detail) == masked(original.detail)
        and _empty(plan) <= _empty(original)
        and all(_ranks(plan).get(name, rank) == rank for name, rank in _ranks(original).items())
        and _elements(plan.expected) <= max(MOST_EXPECTED, _elements(original.expected))
    )


_RANKED = re.compile(
    r"[(\[]\s*\w+(?:\s*(?:,|\bx\b|\*)\s*[\w.\u2026*+/-]+)+\s*[)\]]"
    r"|\b\d-?D\b|\brank[ -]?\d|\b(?:matrix|matrices|scalar)\b",
    re.IGNORECASE,
)
"""How the texts write the rank of an input: (N x C x H x W), [seq_length, batch_size, input_size], 1-D, a matrix."""


def _ranks(plan: Plan) -> dict[str, int]:
    """Return by name the ranks of the inputs whose dimensions the text lists.

    An oracle need not refuse fewer dimensions; the maintainers of a runtime would.
    """
    ranked = {item.name for item in plan.version.inputs if _RANKED.search(item.description)}
    values = {name: item.value for name, item in plan.inputs if item is not None and _INDEX.sub("", name) in ranked}
    return {name: value.ndim for name, value in values.items() if isinstance(value, np.ndarray)}


def _empty(plan: Plan) -> set[str]:
    """Return the names of the inputs and outputs that are empty or contain an empty value."""
    inputs = [(name, item.value) for name, item in plan.inputs if item is not None]
    outputs = [name for name, _ in plan.outputs if name]
    values = [*inputs, *zip(outputs, plan.expected or (), strict=False)]
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
    """Return a signature that two failures of one cause share: verdict, error and kind of difference."""
    shared = [masked(part) for part in signature(result)]
    if result.verdict in WRONG:
        where = str(result.mismatch.get("where", ""))
        index = re.match(r"outputs\[(\d+)\]", where)
        shared.append(_INDEX.sub("", case.outputs[int(index[1])]) if index else where)
    if result.verdict is Verdict.WRONG_VALUE and case.outcome is Outcome.VALUES:
        shared += difference(result)
    return tuple(shared)


def difference(result: Result) -> list[str]:
    """Return the kinds of the values that differ: a NaN in place of a number is another fault than a wrong number."""
    mismatch = result.mismatch
    kinds = []
    for word in ("expected", "actual"):
        text = str(mismatch.get(word, "")).lower()
        kinds.append(next((kind for kind in ("nan", "inf") if kind in text), "value"))
    relative = mismatch.get("relative")
    return [*kinds, "rounding" if relative is not None and relative <= ROUNDING else "far"]


def masked(text: str) -> str:
    """Return a message with numbers, tensor types and quoted text masked, whatever their count."""
    return re.sub(r"#(?:[\s,x-]*#)*", "#", re.sub(r"-?\d+(?:\.\d+)?|tensor\(\w+\)|'[^']*'", "#", text))


# The size of a case


def measure(candidate: Candidate, plan: Plan, case: Case) -> Size:
    """Return the size of a case."""
    graph = onnx.load_from_string(case.model).graph
    all_leaves = leaves(candidate)
    parts = len(graph.node) + len(plan.inputs) + len(plan.around) + len(plan.attributes) + len(plan.outputs)
    types = [item.type for _, item in plan.inputs if item is not None] + [text for _, text in plan.outputs]
    return Size(
        parts=parts,
        elements=sum(leaf.array.size for leaf in all_leaves if leaf.tensor or leaf.array.ndim),
        rank=sum(leaf.array.ndim for leaf in all_leaves if leaf.tensor),
        values=sum(_distance(item) for leaf in all_leaves for item in leaf.array.reshape(-1).tolist()),
        strangeness=10 * moves.form_distance(candidate.form)
        + ("-" not in candidate.form)
        + sum(moves.type_distance(text) for text in types if text),
    )


def _distance(value: Any) -> int:  # noqa: ANN401 - any element
    """Return a distance of a value from the simplest one of its kind: 0, or the empty string."""
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
