# SPDX-License-Identifier: Apache-2.0
"""The passes of an optimizer that are guilty of a failure: the smallest set with which it still fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import line
from onnx_conformance.judging.ask import ask_once
from onnx_conformance.minimize.cause import cause_of_model
from onnx_conformance.processes.passes import with_passes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onnx_conformance.base.target import Target
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.adapter_process import Limits

MOST = 500
"""Maximum number of passes that an adapter may name."""
MOST_PROCESSES = 400
"""Maximum number of processes that a search may start. Each runs the optimizer with other passes."""
REPRO = "repro"
"""The prefix of the fields of a hello that contain code to call a tool."""


MOST_SUSPECTS = 3
_known: dict[tuple[str, tuple[str, ...]], list[tuple[str, ...]]] = {}
"""The guilty passes of the last failures, by optimizer and its passes. Often they also cause the next failure."""


@dataclass(frozen=True)
class Guilty:
    """The smallest set of passes with which a case fails in the same way as with all passes.

    Attributes:
        names: the names of the passes; empty if they are not known, or if the case fails without any pass.
        hello: the hello of the adapter. If there are names, its code runs only these passes.
    """

    names: tuple[str, ...]
    hello: Mapping[str, Any]


def named(hello: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the passes of a tool that its adapter declares; empty if it declares none."""
    said = hello.get("passes")
    if not isinstance(said, list) or len(said) > MOST or not all(isinstance(name, str) for name in said):
        return ()
    return tuple(dict.fromkeys(line(name, 200) for name in said))


def guilty_passes(case: Case, result: Result, hello: Mapping[str, Any], target: Target, limits: Limits) -> Guilty:
    """Return the passes that are guilty of a failure.

    Args:
        case: the failing case.
        result: its result with all passes.
        hello: the hello of the optimizer's adapter.
        target: the optimizer.
        limits: the limits of its processes.
    """
    every = named(hello)
    if not every or not result.verdict.failed:
        return Guilty((), hello)
    wanted = cause_of_model(case, result)
    suspects = _known.setdefault((target.name, every), [])
    hellos: dict[tuple[str, ...], Mapping[str, Any]] = {}

    def fails(names: tuple[str, ...]) -> bool:
        answer = ask_once(with_passes(target, names), case, limits)
        hellos[names] = answer.hello
        return answer.result is not None and cause_of_model(case, answer.result) == wanted

    found = fewest(every, fails, suspects)
    if not found or found == every:  # The set of all passes is no help to anybody.
        return Guilty((), hello)
    if found in suspects:
        suspects.remove(found)
    suspects.insert(0, found)
    del suspects[MOST_SUSPECTS:]
    return Guilty(found, {**hello, **{key: text for key, text in hellos[found].items() if key.startswith(REPRO)}})


@dataclass
class _Tried:
    """The combinations that were tried so far, and the number of remaining trials."""

    fails: Callable[[tuple[str, ...]], bool]
    answers: dict[tuple[str, ...], bool] = field(default_factory=dict)

    def __call__(self, names: tuple[str, ...]) -> bool:
        if names not in self.answers:
            if len(self.answers) >= MOST_PROCESSES:
                return False
            self.answers[names] = self.fails(names)
        return self.answers[names]


def fewest(
    every: Sequence[str], fails: Callable[[tuple[str, ...]], bool], suspects: Sequence[tuple[str, ...]] = ()
) -> tuple[str, ...]:
    """Return the smallest set of names with which something fails; empty if it fails without any, or not with all.

    The search tries halves, quarters and so on of the names, alone and left out, as in delta debugging (Zeller and
    Hildebrandt, "Simplifying and isolating failure-inducing input", 2002). It finds one name of forty in a dozen
    trials. If the result has several names, each is tried alone, because other names may have hidden its failure.

    Args:
        every: all names; it fails with all of them.
        fails: a function that returns whether it fails with these names.
        suspects: sets of names that are tried first.
    """
    tried = _Tried(fails)
    names = tuple(every)
    if tried(()) or not tried(names):
        return ()
    if suspect := next((names for names in suspects if len(names) == 1 and tried(names)), None):
        return suspect
    parts = 2
    while len(names) > 1:
        size = -(-len(names) // parts)
        pieces = [names[start : start + size] for start in range(0, len(names), size)]
        rests = [tuple(name for name in names if name not in piece) for piece in pieces]
        smaller = next((some for some in (*pieces, *rests) if some and tried(some)), None)
        if smaller is not None:
            parts = 2 if smaller in pieces else max(2, parts - 1)
            names = smaller
        elif size == 1:
            break
        else:
            parts = min(len(names), parts * 2)
    if len(names) > 1:
        return next(((name,) for name in every if tried((name,))), names)
    return names
