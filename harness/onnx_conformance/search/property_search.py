# SPDX-License-Identifier: Apache-2.0
"""The search: rounds of drawn examples. The first failure of a round with a new cause is shrunk and kept."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import strategies as st
from hypothesis.errors import Flaky, NoSuchExample

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Result, Verdict, split_operator
from onnx_conformance.forms import table
from onnx_conformance.judging.ask import LiveAnswer, ask_and_judge, ask_once
from onnx_conformance.minimize.declared import BuiltCandidate
from onnx_conformance.minimize.reducer import minimize
from onnx_conformance.search import causes, examples
from onnx_conformance.search.calls import Call, calls
from onnx_conformance.search.chains import BRIDGES, Chain, chains

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from onnx_conformance.base.target import Target
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.adapter_process import Limits
    from onnx_conformance.processes.asker import Asker
    from onnx_conformance.search.causes import Cause
    from onnx_conformance.search.examples import Example
    from onnx_conformance.search.grammar import Source

ROUND = 100
"""Maximum number of examples in a round. Each round has another seed, because hypothesis varies earlier examples."""
VERSIONS = 30
"""The number of operator versions in a round, because hypothesis often draws the same ones again."""
SHRINKS = 250
"""Maximum number of examples that are tried to shrink a failure. An example with a timeout counts as SLOW examples."""
SLOW = 20
STEPS = 120
"""Maximum number of cases that `minimize` runs for one failure."""
MINIMIZE_SECONDS, LATE_SECONDS = 10.0, 5.0
"""The time limits of `minimize` in seconds: during the search, and after the time of the search is over."""
MOST_PAIRS = 3
"""Maximum number of kept models of several nodes with one operator and verdict. More models show no other fault."""
MOST_KEPT = 1 << 14
"""Maximum number of stored results, which avoid running an example again."""


@dataclass(frozen=True)
class Options:
    """The subject and the limits of a search.

    Attributes:
        target: the backend.
        limits: the limits of its processes.
        selected: the operator versions of drawn calls.
        every: the operator versions of nodes after the first one.
        seed: the seed of the whole search.
        seconds: the duration in seconds; None to stop after `most` examples.
        most: the maximum number of drawn examples; None for no limit other than the time.
        known: causes that are known already.
        compose: whether models of several nodes are drawn, too.
    """

    target: Target
    limits: Limits
    selected: Sequence[Source]
    every: Sequence[Source]
    seed: int
    seconds: float | None = None
    most: int | None = None
    known: Collection[Cause] = frozenset()
    compose: bool = True


@dataclass(frozen=True)
class Failure:
    """An example that fails.

    Attributes:
        cause: its cause; failures for one reason have the same cause.
        example: the smallest example that was found.
        result: the backend's result.
        number: the number of examples that had been drawn before.
        answer: the backend's answer in a separate process; None if the backend was not run there yet.
    """

    cause: Cause
    example: Example
    result: Result
    number: int
    answer: LiveAnswer | None = None

    @property
    def case(self) -> Case:
        """Its case."""
        return self.example.case


@dataclass
class Outcome:
    """The results of a search so far.

    Attributes:
        drawn: the number of examples, without those drawn to shrink a failure.
        asked: the number of examples that the backend ran, including those drawn to shrink a failure.
        kinds: the numbers of examples by kind: values, property, rejects, open, no call.
        verdicts: the numbers of verdicts, by the backend's name and verdict.
        failures: one failure for each cause.
        passing: failures that passed in a separate process, because they depend on earlier cases.
        seen: the number of examples that failed for a known cause.
        errors: messages of the adapter that are not answers.
        interrupted: whether an interrupt ended it.
        seconds: its duration in seconds.
    """

    drawn: int = 0
    asked: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    verdicts: dict[str, Counter[str]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    passing: list[Failure] = field(default_factory=list)
    seen: int = 0
    errors: list[str] = field(default_factory=list)
    interrupted: bool = False
    seconds: float = 0.0


class _OverError(BaseException):
    """The time or the examples are used up. Not an Exception, because hypothesis would treat that as a failure."""


def round_seed(seed: int, number: int) -> int:
    """Return the seed of a round."""
    return int.from_bytes(hashlib.sha256(f"{seed} {number}".encode()).digest()[:8], "big")


class Search:
    """A search on one backend.

    Attributes:
        outcome: the results so far.
        on_example: called for each example that was drawn or shrunk.
        on_failure: called for each failure with a new cause, after it was minimized.
        on_draw: called with each example, or with the reason why no example was drawn, in the order of drawing.
    """

    def __init__(
        self,
        options: Options,
        asker: Asker,
        on_example: Callable[[], None] = lambda: None,
        on_failure: Callable[[Failure], None] = lambda _: None,
        on_draw: Callable[[Example | str], None] = lambda _: None,
    ) -> None:
        """Store the options, and a process of the backend."""
        self.options, self.asker = options, asker
        self.on_example, self.on_failure, self.on_draw = on_example, on_failure, on_draw
        self.outcome = Outcome(verdicts={options.target.name: Counter()})
        self._known = set(options.known)
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._results: dict[tuple[str, ...], tuple[Failure, ...]] = {}
        self._pending: dict[Cause, Failure] = {}
        self._best: Failure | None = None
        self._shrinks = 0
        self._started = time.monotonic()
        self._order = list(options.selected)

    def run(self) -> Outcome:
        """Draw until the time or the examples are used up, or until an interrupt, and return the results.

        Raises:
            AdapterProcessError: a process of the backend does not start again.
        """
        number = 0
        try:
            with contextlib.suppress(_OverError):
                while True:
                    self._check_over()
                    self._round(number)
                    number += 1
        except KeyboardInterrupt:
            self.outcome.interrupted = True
        for failure in [*([] if self._best is None else [self._best]), *self._pending.values()]:
            if self._is_new(failure):
                self._keep(failure, shrink=False)  # The search ended while they were shrunk.
        self.outcome.seconds = time.monotonic() - self._started
        return self.outcome

    @property
    def _late(self) -> bool:
        return self.options.seconds is not None and time.monotonic() - self._started >= self.options.seconds

    def _check_over(self) -> None:
        if self._late or (self.options.most is not None and self.outcome.drawn >= self.options.most):
            raise _OverError

    def _round(self, number: int) -> None:
        """Draw until an example fails with a new cause, and shrink it."""
        self._best, self._shrinks = None, 0
        settings = hypothesis.settings(
            max_examples=ROUND,
            database=None,
            derandomize=False,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        draw = random.Random(round_seed(self.options.seed, number))  # noqa: S311 - not secret
        strategy = self._strategy(number)
        # NoSuchExample: all passed. Flaky: a failing example passed when it was drawn again; see `_keep`.
        with contextlib.suppress(NoSuchExample, Flaky):
            hypothesis.find(strategy, self._fails, settings=settings, random=draw)
        if self._best is not None:
            self._keep(self._best)
            self._best = None
        while self._pending:
            cause = next(iter(self._pending))
            if self._is_new(self._pending[cause]):
                self._keep(self._pending[cause])
            self._pending.pop(cause, None)

    def _strategy(self, number: int) -> st.SearchStrategy[Any]:
        """Return the strategy of a round, which draws from some operator versions. Later rounds use the others."""
        turns = -(-len(self._order) // VERSIONS)
        if number % turns == 0:
            random.Random(round_seed(self.options.seed, -1 - number)).shuffle(self._order)  # noqa: S311 - as above
        part = set(self._order[(number % turns) * VERSIONS :][:VERSIONS])
        some = [source for source in self.options.selected if source in part]  # Shrinking prefers the first.
        strategies: list[st.SearchStrategy[Any]] = [calls(some)]
        if self.options.compose:
            strategies.append(chains(some, self.options.every))
        return st.one_of(strategies)

    def _fails(self, drawn: Call | Chain | None) -> bool:
        """Return whether an example fails with the cause that is being shrunk, or with any new cause before that."""
        shrinking = self._best is not None
        if not shrinking or self._late:
            self._check_over()
        made = examples.example(drawn)
        if not shrinking:
            self.outcome.drawn += 1
            self.outcome.kinds[made if isinstance(made, str) else str(made.case.outcome)] += 1
            self.on_draw(made)
        self.on_example()
        if isinstance(made, str):
            return False
        found = self._failures(made, spent=shrinking and self._shrinks >= SHRINKS)
        if shrinking:
            self._shrinks += 1 + sum(SLOW for item in found if item.result.verdict is Verdict.TIMEOUT)
        return self._take(found)

    def _take(self, found: Sequence[Failure]) -> bool:
        """Record the failures of one example; return whether it has the cause that the search is looking for."""
        if self._best is None:
            new = [item for item in found if self._is_new(item)]
            self.outcome.seen += len(found) > len(new)
            if not new:
                return False
            self._best = new[0]
            return True
        for item in found:
            if item.cause == self._best.cause:
                self._best = item
                return True
            if self._is_new(item):  # Otherwise it would be lost, as the next round draws other examples.
                self._pending.setdefault(item.cause, item)
        return False

    def _is_new(self, failure: Failure) -> bool:
        """Return whether the cause of a failure is not known yet."""
        crowded = any(self._pairs[pair] >= MOST_PAIRS for pair in _pairs(failure))
        return failure.cause not in self._known and not crowded

    def _failures(self, example: Example, *, spent: bool = False) -> tuple[Failure, ...]:
        """Return the failures of an example: those of its parts or, if they pass, its own.

        Args:
            example: the example to run.
            spent: whether to use only stored results, because a failing example must fail when hypothesis replays it.
        """
        key = (example.case.form, *example.case.digests())
        if key not in self._results:
            if spent:
                return ()
            if len(self._results) >= MOST_KEPT:
                self._results.clear()
            self._results[key] = self._asked(example)
        return self._results[key]

    def _asked(self, example: Example) -> tuple[Failure, ...]:
        result = self._ask(example)
        if not result.verdict.failed:
            return ()
        of_parts: list[Failure] = []
        nodes = 0
        for part in example.parts():
            if of_parts and len(part.operators) > nodes:
                break
            nodes = len(part.operators)
            of_parts += self._failures(part)
        if of_parts:
            return tuple(of_parts)
        return (Failure(self._cause(example, result), example, result, self.outcome.drawn),)

    def _ask(self, example: Example) -> Result:
        result = ask_and_judge(self.asker, example.case).result
        self.outcome.asked += 1
        self.outcome.verdicts[self.options.target.name][str(result.verdict)] += 1
        if result.verdict is Verdict.ADAPTER_ERROR and result.message not in self.outcome.errors:
            self.outcome.errors.append(result.message)
        return result

    def _keep(self, failure: Failure, *, shrink: bool = True) -> None:
        """Keep a failure, minimized by `minimize`, if it also occurs in a separate process."""
        smallest = (self._minimized(failure) if shrink else None) or self._confirmed(failure)
        self._known.add(failure.cause)
        self._pending.pop(failure.cause, None)
        if smallest is None:
            self.outcome.passing.append(failure)
            return
        self._pairs.update(_pairs(smallest))
        self.outcome.failures.append(smallest)
        self.on_failure(smallest)

    def _confirmed(self, failure: Failure) -> Failure | None:
        answer = ask_once(self.options.target, failure.case, self.options.limits)
        if answer.result is None or self._cause(failure.example, answer.result) != failure.cause:
            return None
        return Failure(failure.cause, failure.example, answer.result, failure.number, answer)

    def _minimized(self, failure: Failure) -> Failure | None:
        """Return a failure minimized by `minimize`; None if it cannot be minimized."""
        example = failure.example
        form = table.find(example.case.form)
        if example.plan is None or form is None or table.Start.PLAN not in form.starts:
            return None
        seconds = None  # If the limit is a number of examples, a second search must keep the same cases.
        if self.options.seconds is not None:
            seconds = LATE_SECONDS if self._late else MINIMIZE_SECONDS
        try:
            made = minimize(example.case, example.plan, self.options.target, self.options.limits, STEPS, seconds)
        except HarnessError:  # For example, it does not fail in the same way each time.
            return None
        if not isinstance(made.after, BuiltCandidate):  # It failed only as a model.
            return None
        smaller = dataclasses.replace(example, case=made.after.case, plan=made.after.plan)
        # In a simpler form, it may fail with another cause.
        if self._cause(smaller, made.result) != failure.cause:
            return None
        return Failure(failure.cause, smaller, made.result, failure.number, made.answer)

    @staticmethod
    def _cause(example: Example, result: Result) -> Cause:
        """Return the cause of an example without failing parts; empty if it does not fail."""
        if not result.verdict.failed:
            return ()
        return causes.cause_of(example.case, result, example.operators, example.case.form)


def _pairs(failure: Failure) -> set[tuple[str, str]]:
    """Return the operators of a model of several nodes, each with the verdict, except the BRIDGES operators."""
    names = {split_operator(name)[0] for name in failure.example.operators}
    if failure.case.operator != examples.MODEL:
        return set()
    return {(name, str(failure.result.verdict)) for name in names if name.rpartition("/")[2] not in BRIDGES}
