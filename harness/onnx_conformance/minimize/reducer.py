# SPDX-License-Identifier: Apache-2.0
"""Reduce a failing case to a smaller one that fails in the same way and is equally valid, or equally forbidden.

This is a simple loop over moves. It does not use the shrinker of hypothesis, because arguments are declared, not drawn,
so there are no choices to replay. In addition, each attempt runs a case in a process that may crash, and a budget must
count these. Every candidate is planned again, so the oracle computes its expected values. It is accepted only if it is
smaller by an explicit measure.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.case.case import PLAIN
from onnx_conformance.judging.ask import Judged, LiveAnswer, ask_and_judge
from onnx_conformance.minimize.cause import added
from onnx_conformance.minimize.declared import Declared, NotWrittenError
from onnx_conformance.minimize.models import Models
from onnx_conformance.minimize.passes import guilty_passes, named
from onnx_conformance.minimize.search_space import Move
from onnx_conformance.processes.asker import Asker
from onnx_conformance.processes.passes import with_passes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from onnx_conformance.base.target import Target
    from onnx_conformance.case.case import Case
    from onnx_conformance.generation.deliveries import Plan
    from onnx_conformance.minimize.declared_candidate import DeclaredCandidate
    from onnx_conformance.minimize.search_space import Built, SearchSpace
    from onnx_conformance.processes.adapter_process import Limits

MINIMIZED = "_minimized"
"""The end of the name of a smaller case."""
PLANS_A_STEP = 100
"""Maximum number of planned candidates for each run. Most candidates are not cases and never reach the runtime."""


class MinimizeError(HarnessError):
    """The case cannot be minimized. The message contains the reason."""


@dataclass
class Minimized:
    """The outcome of minimizing a case.

    Attributes:
        before, after: the original case, and the smallest one that was reached.
        answer: the backend's answer to the smallest case, in a separate process.
        applied: descriptions of the accepted moves, in order.
        steps: the number of cases that the backend ran.
        stopped: whether the budget ended the reduction.
    """

    before: Built[Any]
    after: Built[Any]
    answer: LiveAnswer
    applied: list[str] = field(default_factory=list)
    steps: int = 0
    stopped: bool = False

    @property
    def case(self) -> Case:
        """The smallest case, with its new name."""
        return renamed(self.before.case, self.after.case)

    @property
    def result(self) -> Result:
        """The backend's result on the smallest case."""
        assert self.answer.result is not None  # noqa: S101 - it was run
        return self.answer.result


def minimize(
    case: Case,
    plan: Plan | None,
    target: Target,
    limits: Limits,
    steps: int,
    seconds: float | None = None,
    known: DeclaredCandidate | None = None,
) -> Minimized:
    """Return a smaller case with the same verdict for the same reason.

    Args:
        case: the failing case.
        plan: the plan from which it was delivered; None if it cannot be written as a declared case.
        target: the backend.
        limits: the limits of each of its processes.
        steps: the maximum number of cases that the backend runs.
        seconds: the time limit of the search, in seconds; None for no limit.
        known: the smallest case of an earlier search, which is returned without another search.

    Raises:
        MinimizeError: the case does not fail, or not in the same way each time; or `known` does not fail in this way.
        HarnessError: the backend cannot be started.
    """
    limits = dataclasses.replace(limits, restarts=steps + limits.restarts)
    with contextlib.ExitStack() as stack:
        asker = stack.enter_context(Asker(target, limits))
        space = _search_space(asker, case, plan)
        guilty = _guilty(asker, space.first.case, limits)
        fewer = itertools.combinations(guilty, len(guilty) - 1) if len(guilty) > 1 else ()
        chosen = [with_passes(target, names) for names in (guilty, *fewer) if names]
        askers = [stack.enter_context(Asker(some, limits)) for some in chosen] or [asker]
        reducer = _Reducer(*askers, steps=steps, space=space, seconds=seconds)
        if known is None:
            reducer.run()
        elif not (isinstance(space, Declared) and reducer.take(known)):
            raise MinimizeError(
                "known-case-differs", f"{case.id}: the known smaller case does not fail in the same way"
            )
    last = _answer_alone(target, limits, reducer)
    return Minimized(reducer.first, reducer.best, last, reducer.applied, reducer.steps, reducer.exhausted)


def _guilty(asker: Asker, case: Case, limits: Limits) -> tuple[str, ...]:
    """Return the passes of an optimizer that are guilty of a failure; empty if they are not known.

    Only they run while its case is minimized. Otherwise, a smaller case might fail by another pass, which is another
    fault. For example, a model with a wrong fusion of Attention often contains a wrong fusion of LayerNormalization.
    """
    if not named(asker.process.hello):
        return ()
    result = ask_and_judge(asker, case).result
    return guilty_passes(case, result, asker.process.hello, asker.process.target, limits).names


def _search_space(asker: Asker, case: Case, plan: Plan | None) -> SearchSpace[Any]:
    """Return the search space of a case: declared cases if it fails as one, otherwise models.

    Raises:
        MinimizeError: the case fails as neither kind.
    """
    makers: list[Callable[[], SearchSpace[Any]]] = [lambda: Models(case)]
    if plan is not None:
        makers.insert(0, lambda: Declared(case, plan))
    problems: list[HarnessError] = []
    for make in makers:
        try:
            space = make()
            if space.first.case is not case:
                results = (ask_and_judge(asker, item)[0] for item in (case, space.first.case))
                _check_same_failure(case, next(results), space.first.case, next(results))
        except (NotWrittenError, MinimizeError) as error:
            problems.append(error)
        else:
            return space
    raise MinimizeError(problems[0].id, problems[0].text)


def _check_same_failure(case: Case, result: Result, declared: Case, of_declared: Result) -> None:
    """Raise MinimizeError if the case passes or has another verdict with the oracle's expected values."""
    _check_failure(result)
    if of_declared.verdict is Verdict.PASS:
        raise MinimizeError(
            "right-by-the-oracle",
            f"{case.id}: {result.backend} returns the oracle's outputs, so the expected outputs of the case are wrong; "
            "if they are those of a --reference, minimize the case with that backend as --backend",
        )
    if of_declared.verdict is not result.verdict:
        raise MinimizeError(
            "another-failure-declared",
            f"{case.id} on {result.backend}: {_verdict_text(result)}; with the oracle's values, as {declared.id}, "
            f"{_verdict_text(of_declared)}: not the same failure, so it cannot be minimized",
        )


def _answer_alone(target: Target, limits: Limits, reducer: _Reducer) -> LiveAnswer:
    """Return the backend's answer to the smallest case, in a process that runs no other case."""
    case = renamed(reducer.first.case, reducer.best.case)
    with Asker(target, limits) as asker:
        hello = dict(asker.process.hello)
        result, outputs, model = ask_and_judge(asker, case)
    if reducer.space.cause(reducer.best.case, result) != reducer.cause:
        raise MinimizeError(
            "failure-depends-on-cases",
            f"{case.id} on {target.name}: {reducer.result.verdict} after other cases, {result.verdict} in a separate "
            "process; a failure that depends on earlier cases cannot be minimized",
        )
    return LiveAnswer(target.name, hello, result, outputs, model=model)


def renamed(original: Case, case: Case) -> Case:
    """Return a smaller case with a new name; the original case keeps its name."""
    if case.digests() == original.digests():
        return case
    name = f"{case.operator}/{original.name}{MINIMIZED}"
    return dataclasses.replace(case, id=name if case.form == PLAIN else f"{name}@{case.form}")


class _Reducer:
    """The loop over moves.

    Args:
        asker: runs the cases.
        fewer: run the optimizer with some of its guilty passes. A case that fails there has another fault.
        steps: the maximum number of cases.
        space: the search space.
        seconds: the time limit, in seconds; None for no limit.

    Attributes:
        best: the smallest case so far.
        cause: the cause that every accepted case must share with the first.
        added: the operators that a tool has added to the first model. It must add one of them to every accepted case.
        tried: digests of the cases that were built already.
        exhausted: whether the budget is used up.
    """

    def __init__(
        self, asker: Asker, *fewer: Asker, steps: int, space: SearchSpace[Any], seconds: float | None = None
    ) -> None:
        self.asker, self.fewer, self.budget, self.space = asker, fewer, steps, space
        self.until = math.inf if seconds is None else time.monotonic() + seconds
        self.first = self.best = first = space.first
        self.steps, self.planned = 0, 0
        self.applied: list[str] = []
        self.result, _, model = self._ask(first.case)
        _check_failure(self.result)
        self.cause, self.added = space.cause(first.case, self.result), added(first.case, model)
        again = self._ask(first.case).result
        if space.cause(first.case, again) != self.cause:
            raise MinimizeError(
                "failure-not-repeated",
                f"{first.case.id} on {again.backend}: once {_verdict_text(self.result)}, then {_verdict_text(again)}; "
                "a case that does not fail in the same way each time cannot be minimized",
            )
        self.tried = {first.case.digests()}

    @property
    def exhausted(self) -> bool:
        spent = self.steps >= self.budget or self.planned >= self.budget * PLANS_A_STEP
        return spent or time.monotonic() > self.until

    def run(self) -> None:
        """Make the case smaller until no move helps or the budget is used up."""
        while self._improve(self.space.halves(self.best.candidate)) is not None:
            pass
        while not self.exhausted:
            before = self.best.size
            for moves in self.space.passes:
                self._pass(moves)
            if self.best.size == before and self._improve(self._pairs()) is None:
                return

    def take(self, candidate: DeclaredCandidate) -> bool:
        """Take a candidate as the smallest case, and return whether it fails in the same way as the first case."""
        same = self.space.built(candidate)
        if same is not None and same.case.digests() == self.first.case.digests():
            return True
        return self._improve([Move(candidate, "the smallest case of an earlier search")]) is not None

    def _pass(self, moves: Callable[[Any], Iterator[Move[Any]]]) -> None:
        """Accept every move of a kind that helps. After each one, the search continues at its index."""
        start = 0
        while (index := self._improve(itertools.islice(moves(self.best.candidate), start, None))) is not None:
            start += index

    def _improve(self, candidates: Iterable[Move[Any]]) -> int | None:
        """Accept the first move that keeps the cause, and return its index; None if no move keeps it."""
        for index, move in enumerate(candidates):
            if self.exhausted:
                return None
            smaller = self._smaller(move.candidate)
            if smaller is not None and self._has_cause(smaller.case):
                self.best = smaller
                self.applied.append(move.description)
                return index
        return None

    def _has_cause(self, case: Case) -> bool:
        """Return whether a case fails in the same way by the same fusion, and not with fewer of the guilty passes."""
        result, _, model = self._ask(case)
        if self.space.cause(case, result) != self.cause:
            return False
        if self.added and not (self.added & added(case, model)):
            return False
        return not any(self.space.cause(case, ask_and_judge(asker, case).result) == self.cause for asker in self.fewer)

    def _smaller(self, candidate: Any) -> Built[Any] | None:  # noqa: ANN401 - of the search space
        """Build a candidate. Return None unless it is a new smaller case of the same kind, without another reading."""
        self.planned += 1
        smaller = self.space.built(candidate)
        if smaller is None or smaller.size >= self.best.size:
            return None
        if not set(smaller.case.readings) <= set(self.first.case.readings):
            return None
        digests = smaller.case.digests()
        if digests in self.tried:
            return None
        self.tried.add(digests)
        built = self.space.settled(smaller)
        return built if built is not None and built.size < self.best.size else None

    def _ask(self, case: Case) -> Judged:
        self.steps += 1
        return ask_and_judge(self.asker, case)

    def _pairs(self) -> Iterator[Move[Any]]:
        """Yield two moves at once, for changes that need both, such as an axis and the entry of a list for it."""
        for first in itertools.chain.from_iterable(moves(self.best.candidate) for moves in self.space.structure):
            for second in itertools.chain.from_iterable(moves(first.candidate) for moves in self.space.structure):
                yield dataclasses.replace(second, description=f"{first.description}, and {second.description}")


def _check_failure(result: Result) -> None:
    """Raise MinimizeError if a result is not a failure and not a lenient answer."""
    if result.verdict is Verdict.PASS:
        raise MinimizeError(
            "nothing-to-minimize", f"{result.case} passes on {result.backend}, so there is nothing to minimize"
        )
    if not result.verdict.failed and result.verdict is not Verdict.LENIENT:
        message = f": {result.message}" if result.message else ""
        raise MinimizeError(
            "not-a-failure",
            f"{result.case} is {result.verdict} on {result.backend}{message}; only failures can be minimized",
        )


def _verdict_text(result: Result) -> str:
    return f"{result.verdict} ({result.message})" if result.message else str(result.verdict)
