# SPDX-License-Identifier: Apache-2.0
"""The trial of one fault: a separate process injects it into the oracles and generates cases until one detects it."""

from __future__ import annotations

import builtins
import faulthandler
import mmap
import os
import resource
import selectors
import signal
import struct
import time
import types
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.case import properties
from onnx_conformance.case.case import digest_values
from onnx_conformance.case.compare import compare
from onnx_conformance.declare import Clause, Drawn, Version
from tools.mutants import oracles
from tools.mutants.faults import OTHER_CLAUSE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.base.values import Array, Value
    from onnx_conformance.case.allowance import Allowance
    from onnx_conformance.declare import Op
    from onnx_conformance.generation.deliveries import Plan
    from tools.mutants.faults import Fault, Source
    from tools.mutants.oracles import Demand, Unit

SECONDS = 5.0
"""The minimum limit of processor time for a unit on a changed oracle, in seconds. More counts as an endless loop."""
SLOWER = 20
"""The limit as a multiple of the time without the fault, if that is longer."""
WALL = 20
"""The limit of wall-clock time as a multiple of that limit, in case a fault waits instead of computing."""
MEMORY = 3 << 30
"""The memory that a changed oracle may allocate in addition, in bytes."""
_PAGE = 4096
_HEAD = struct.Struct("II")
_SURVIVED, _NOTICED, _UNCHANGED, _BROKEN = 0, 1, 2, 3


class TrialError(HarnessError):
    """A trial ended without a result, which is a fault of this tool."""


@dataclass(frozen=True)
class Trial:
    """One fault, and the cases that may detect it.

    Attributes:
        install: a function that injects it; it returns False if the fault changes nothing.
        op: the operator.
        units: the cases, with those first that most probably detect it.
        wanted: only the cases with these ids; None for all.
        seconds: the minimum limit of processor time for a unit, in seconds.
    """

    install: Callable[[], bool]
    op: Op
    units: Sequence[Unit]
    wanted: frozenset[str] | None = None
    seconds: float = SECONDS


@dataclass(frozen=True)
class Result:
    """The result of a trial.

    Attributes:
        noticed: whether a case detected it; None if the fault does not change the compiled code.
        case: the id of the first case that detected it.
        how: how the case differed.
    """

    noticed: bool | None
    case: str = ""
    how: str = ""


def difference(before: Plan, after: Plan) -> str:
    """Return how the expected outcomes of two plans of one case differ; empty if they agree within its tolerance."""
    if before.outcome != after.outcome:
        return f"{after.outcome} instead of {before.outcome}"
    masks = zip(before.open, after.open, strict=False)
    others = {
        "another clause": before.decided != after.decided,
        "outputs of other types": [kind for _, kind in before.outputs] != [kind for _, kind in after.outputs],
        "other readings": before.readings != after.readings,
        "other elements are open": not all(np.array_equal(_mask(one), _mask(other)) for one, other in masks),
        "other answers are allowed": _others(before.allowance) != _others(after.allowance),
    }
    differing = next((how for how, differs in others.items() if differs), "")
    return differing or _difference(before.expected or (), after.expected or (), before.allowance)


def _mask(open_: Array | None) -> Array:
    return np.zeros(0, bool) if open_ is None else open_


def _others(allowance: Allowance) -> tuple[object, ...]:
    """Return the other answers that an allowance permits, without its tolerance."""
    several = [item if item is None else (digest_values(item.values), item.elementwise) for item in allowance.any_of]
    return allowance.any_order, several


def _difference(before: Sequence[Value | Drawn], after: Sequence[Value | Drawn], allowance: Allowance) -> str:
    one, two = ([properties.describe(item) for item in side if isinstance(item, Drawn)] for side in (before, after))
    if one != two:
        return "other properties of random values"
    examples = [item.example if isinstance(item, Drawn) else item for item in after]
    mismatch = compare(before, examples, allowance)
    return str(mismatch.verdict) if mismatch else ""


def run(trials: Iterable[Trial], jobs: int) -> Iterator[tuple[int, Result]]:
    """Run trials in `jobs` parallel processes, and yield the number and result of each when it ends.

    Trials are taken from `trials` as processes become free. All processes have ended when the iterator ends.

    Raises:
        TrialError: a process ended without a result, for a reason other than the fault.
    """
    running: dict[int, _Process] = {}
    numbered = enumerate(trials)
    selector = selectors.DefaultSelector()
    more = True
    try:
        while True:
            while more and len(running) < jobs:
                number, trial = next(numbered, (-1, None))
                if trial is None:
                    more = False
                    break
                process = _Process(number, trial)
                running[process.pipe] = process
                selector.register(process.pipe, selectors.EVENT_READ)
            if not running:
                return
            ready = selector.select(min(process.deadline() for process in running.values()))
            for key, _ in ready:
                selector.unregister(key.fd)
                process = running.pop(key.fd)
                yield process.number, process.result()
            if not ready:
                slowest = min(running.values(), key=_Process.deadline)
                os.kill(slowest.pid, signal.SIGKILL)
    finally:
        selector.close()
        for process in running.values():
            process.end()


class _Process:
    """A forked process that runs one trial."""

    def __init__(self, number: int, trial: Trial) -> None:
        self.number, self.trial = number, trial
        self.page = mmap.mmap(-1, _PAGE)
        self.pipe, ours = os.pipe()
        with warnings.catch_warnings():
            # A child needs no lock of numpy's threads, because it computes alone and ends without cleaning up.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if not self.pid:
            status = _BROKEN
            try:
                status = _child(trial, self.page)
            finally:
                os._exit(status)
        os.close(ours)
        self.ends = time.monotonic() + WALL * (trial.seconds + sum(_limit(trial, unit) for unit in trial.units))

    def deadline(self) -> float:
        """Return the number of seconds until the process is late."""
        return max(0.0, self.ends - time.monotonic())

    def end(self) -> None:
        """Kill the process and wait for it."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.pipe)
        self.page.close()

    def result(self) -> Result:
        """Wait for the process and return its result."""
        _, status = os.waitpid(self.pid, 0)
        os.close(self.pipe)
        unit, size = _HEAD.unpack_from(self.page)
        case, _, how = bytes(self.page[_HEAD.size : _HEAD.size + size]).decode(errors="replace").partition("\0")
        self.page.close()
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            plan = self.trial.units[unit].plans[0]
            loops = number in {signal.SIGPROF, signal.SIGKILL}
            how = "does not end" if loops else f"ended by {signal.Signals(number).name}"
            return Result(noticed=True, case=plan.id, how=how)
        code = os.WEXITSTATUS(status)
        if code == _BROKEN:
            raise TrialError(
                "trial-without-result", f"{self.trial.op}: a trial ended without a result: {how or 'status 3'}"
            )
        return Result({_SURVIVED: False, _NOTICED: True, _UNCHANGED: None}[code], case, how)


def _limit(trial: Trial, unit: Unit) -> float:
    return max(trial.seconds, SLOWER * unit.seconds)


def _write(page: mmap.mmap, unit: int, case: str = "", how: str = "") -> None:
    text = f"{case}\0{how}".encode(errors="replace")[: _PAGE - _HEAD.size]
    _HEAD.pack_into(page, 0, unit, len(text))
    page[_HEAD.size : _HEAD.size + len(text)] = text


def _child(trial: Trial, page: mmap.mmap) -> int:
    """Run a trial in a separate process and return its exit status."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent ends its children itself.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for handle in range(3):
        os.dup2(nowhere, handle)
    faulthandler.disable()  # Its file may be other than these three.
    warnings.simplefilter("ignore")
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + MEMORY, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        if not trial.install():
            return _UNCHANGED
    except Exception as error:  # noqa: BLE001 - written to the parent, which raises it
        _write(page, 0, how=f"{type(error).__name__}: {error}")
        return _BROKEN
    for function in oracles.caches():
        function.cache_clear()
    for index, unit in enumerate(trial.units):
        _write(page, index)
        signal.setitimer(signal.ITIMER_PROF, _limit(trial, unit))
        case = unit.plans[0].id
        try:
            changed = oracles.generated(trial.op, unit.since, unit.spec, trial.wanted)
            for before in unit.plans:
                case = before.id
                how = difference(before, next(changed))
                if how:
                    _write(page, index, case, how)
                    return _NOTICED
        except BaseException as error:  # noqa: BLE001 - any error of a changed oracle shows the fault
            _write(page, index, case, type(error).__name__)
            return _NOTICED
    return _SURVIVED


def _address_space() -> int:
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    except OSError:  # Not Linux: the maximum for a Python process with numpy and onnx.
        return 8 << 30


def putting(
    fault: Fault, source: Source, op: Op, live: Mapping[str, Sequence[types.FunctionType]]
) -> Callable[[], bool]:
    """Return a function that injects a fault into every existing function object.

    Args:
        fault: the fault.
        source: its file.
        op: the operator whose clauses replace others.
        live: the function objects by the file of their code.
    """

    def install() -> bool:
        setattr(builtins, OTHER_CLAUSE, lambda version, clause: other_clause(op, version, clause))
        changed = _changed_codes(fault, source)
        for function in live[source.path]:
            code = changed.get(_key(function.__code__))
            if code is not None:
                function.__code__ = code
        return bool(changed)

    return install


def other_clause(op: Op, version: Version, clause: Clause) -> Clause:
    """Return the next clause of an operator that is in force in the version, or a clause without text."""
    start = next((index for index, item in enumerate(op.clauses) if item == clause), 0)
    others = [item for item in op.clauses[start:] + op.clauses[:start] if item.text != clause.text]
    force = clause.in_force(version.since)
    other = (item for item in others if item.in_force(version.since) is force)
    return next(other, Clause(str(op), "", clause.since, clause.before))


_Key = tuple[str, int, tuple[tuple[int | None, ...], ...]]


def _key(code: types.CodeType) -> _Key:
    return code.co_qualname, code.co_firstlineno, tuple(code.co_positions())


def _changed_codes(fault: Fault, source: Source) -> dict[_Key, types.CodeType]:
    """Return the code objects that a fault changes: the keys of the old ones, and the new ones."""
    with fault.applied():
        changed = list(_pairs(source.code, compile(source.tree, source.path, "exec", dont_inherit=True)))
    if any(old.co_freevars != new.co_freevars for old, new in changed):
        with fault.applied(), fault.naming_all():
            changed = list(_pairs(source.code, compile(source.tree, source.path, "exec", dont_inherit=True)))
    return {_key(old): new for old, new in changed if old != new and old.co_freevars == new.co_freevars}


def _pairs(old: types.CodeType, new: types.CodeType) -> Iterator[tuple[types.CodeType, types.CodeType]]:
    """Yield the pairs of nested code objects of an original code object and its changed version."""
    inside: dict[tuple[str, int, int], types.CodeType] = dict(_numbered(new))
    for name, code in _numbered(old):
        if name in inside:
            yield code, inside[name]
            yield from _pairs(code, inside[name])


def _numbered(code: types.CodeType) -> Iterator[tuple[tuple[str, int, int], types.CodeType]]:
    counts: dict[tuple[str, int], int] = {}
    for item in code.co_consts:
        if isinstance(item, types.CodeType):
            name = (item.co_name, item.co_firstlineno)
            counts[name] = counts.get(name, -1) + 1
            yield (*name, counts[name]), item


def demanding(clause: Clause, *, negated: bool) -> Callable[[], bool]:
    """Return a function that makes every demand of a clause pass or, if `negated`, inverts its result."""

    def decide(method: Demand, version: Version, demanded: Clause, condition: bool) -> None:  # noqa: FBT001 - see watch
        if demanded != clause:
            method(version, demanded, condition)
        elif negated:
            method(version, demanded, not condition)

    def install() -> bool:
        oracles.watch(decide)  # Until the process ends.
        return True

    return install
