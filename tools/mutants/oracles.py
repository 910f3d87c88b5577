# SPDX-License-Identifier: Apache-2.0
"""The functions and lines of an operator's oracles that its generated cases run."""

from __future__ import annotations

import gc
import sys
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.package import FOLDER
from onnx_conformance.declare import Clause, Version
from onnx_conformance.generation import manifest, plans
from onnx_conformance.generation import mutant_figures as figures
from onnx_conformance.specification import registry
from tools.mutants.faults import DEMANDS, Fault, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnx_conformance.declare import CaseSpec, Op
    from onnx_conformance.generation.deliveries import Plan

_ROOT = FOLDER.parents[1]
Demand = Callable[[Version, Clause, bool], None]
Line = tuple[str, int]
"""The path of a file, and a line in it."""


def watch(decide: Callable[[Demand, Version, Clause, bool], None]) -> Callable[[], None]:
    """Let a function replace require, permit and silent of every Version. Return a function that restores them.

    Args:
        decide: the replacement, which receives the original method and its arguments.
    """
    before: dict[str, Demand] = {name: getattr(Version, name) for name in DEMANDS}

    def replacing(name: str) -> Demand:
        method, otherwise = before[name], not DEMANDS[name]

        def replaced(self: Version, clause: Clause, *condition: bool, **named: bool) -> None:
            decide(method, self, clause.at(self.since), next(iter((*condition, *named.values())), otherwise))

        return replaced

    for name in before:
        setattr(Version, name, replacing(name))

    def restore() -> None:
        for name, method in before.items():
            setattr(Version, name, method)

    return restore


@dataclass(frozen=True)
class Unit:
    """One declared case in one version, in all types over which it is expanded.

    Attributes:
        since: the version.
        spec: the declaration.
        plans: its plans, computed by oracles without a fault.
        seconds: the processor time for the plans, in seconds.
        lines: the lines of the operator's sources that ran for the plans.
    """

    since: int
    spec: CaseSpec
    plans: tuple[Plan, ...]
    seconds: float
    lines: frozenset[Line]


@dataclass(frozen=True)
class Oracles:
    """An operator's oracles, and the cases that run them.

    Attributes:
        op: the operator.
        digest: a digest of its sources and cases; see `mutant_figures.digest`.
        sources: the source files by path.
        faults: the possible faults.
        units: the units whose cases may detect them.
        demanded: the clauses for which an oracle calls require, permit or silent in some case.
    """

    op: Op
    digest: str
    sources: dict[str, Source]
    faults: tuple[Fault, ...]
    units: tuple[Unit, ...]
    demanded: frozenset[Clause]

    def running(self, fault: Fault) -> list[Unit]:
        """Return the units that run the statement of a fault."""
        path = next(path for path, source in self.sources.items() if source.name == fault.file)
        wanted = {(path, line) for line in fault.span}
        return [unit for unit in self.units if not wanted.isdisjoint(unit.lines)]


class _Trace:
    """Records the lines that run, and the functions that run while an oracle of the operator runs."""

    def __init__(
        self, files: frozenset[str], own: frozenset[types.CodeType], others: frozenset[types.CodeType]
    ) -> None:
        self.files, self.own, self.others = files, own, others
        self.lines: set[Line] = set()
        self.codes: set[types.CodeType] = set()
        self.running: list[bool] = []
        """For each running oracle, with the innermost last, whether it belongs to the operator."""

    def __call__(self, frame: types.FrameType, event: str, _: object) -> Callable[..., Any] | None:
        code = frame.f_code
        if event != "call":
            return None
        oracle = code in self.own or code in self.others
        if oracle:
            self.running.append(code in self.own)
        if code.co_filename in self.files:
            self.lines.add((code.co_filename, frame.f_lineno))
            if self.running and self.running[-1]:
                self.codes.add(code)
        elif not oracle:
            return None

        def inside(frame: types.FrameType, event: str, _: object) -> Callable[..., Any]:
            if event == "line":
                self.lines.add((code.co_filename, frame.f_lineno))
            elif event == "return" and oracle:
                self.running.pop()
            return inside

        return inside


def caches() -> list[Any]:
    """Return the cached functions of the modules of operators, because cached results would hide a fault."""
    names = ("onnx_conformance.operators", "onnx_conformance.declare")
    mine = [module for name, module in list(sys.modules.items()) if name.startswith(names)]
    return [value for module in mine for value in list(vars(module).values()) if hasattr(value, "cache_clear")]


def live_functions(paths: Iterable[str]) -> dict[str, list[types.FunctionType]]:
    """Return all existing function objects, by the file of their code."""
    by_path: dict[str, list[types.FunctionType]] = {path: [] for path in paths}
    for item in gc.get_objects():
        if isinstance(item, types.FunctionType) and item.__code__.co_filename in by_path:
            by_path[item.__code__.co_filename].append(item)
    return by_path


def _codes(op: Op) -> frozenset[types.CodeType]:
    return frozenset(figures.oracle_function(oracle.function).__code__ for oracle in op.oracles)


def _named(op: Op, files: frozenset[str]) -> Iterator[types.CodeType]:
    """Yield the code of the oracles and of the functions that they name, even if no case runs it."""
    waiting = [figures.oracle_function(oracle.function) for oracle in op.oracles]
    done = set()
    while waiting:
        function = waiting.pop()
        if function.__code__ in done or function.__code__.co_filename not in files:
            continue
        done.add(function.__code__)
        yield function.__code__
        for name in _names(function.__code__):
            value = function.__globals__.get(name)
            inner = getattr(value, "__wrapped__", value)
            if isinstance(inner, types.FunctionType):
                waiting.append(inner)


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for item in code.co_consts:
        if isinstance(item, types.CodeType):
            yield from _names(item)


def generated(op: Op, since: int, spec: CaseSpec, wanted: frozenset[str] | None) -> Iterator[Plan]:
    """Return the plans of a unit, in which the oracles compute the expected values."""
    return plans.plans(op, (since,), (spec,), None if wanted is None else lambda case_id: case_id in wanted)


def core_of(op: Op) -> frozenset[str]:
    """Return the ids of the cases of the core in their plain form, from the manifest."""
    return frozenset(entry.id.partition("@")[0] for entry in manifest.entries(op) or () if entry.core)


def look(op: Op, wanted: frozenset[str] | None = None) -> Oracles:
    """Run every case of an operator, and return its oracles with their possible faults.

    Args:
        op: the operator.
        wanted: only the cases with these ids; None for all.
    """
    modules = [module for module in figures.modules(op) if module.__file__]
    files = frozenset(str(module.__file__) for module in modules)
    others = frozenset(code for other in registry.load() if other is not op for code in _codes(other))
    demanded: set[Clause] = set()
    units, ran = [], set(_named(op, files))
    cached = caches()

    def note(method: Demand, version: Version, clause: Clause, condition: bool) -> None:  # noqa: FBT001 - see watch
        demanded.add(clause)
        method(version, clause, condition)

    for version in registry.versions(op):
        for spec in op:
            trace = _Trace(files, _codes(op), others)
            for function in cached:
                function.cache_clear()
            began, tracer = time.process_time(), sys.gettrace()
            restore = watch(note)
            sys.settrace(trace)
            try:
                results = tuple(generated(op, version.since, spec, wanted))
            finally:
                sys.settrace(tracer)
                restore()
            if results:
                lines = frozenset(trace.lines)
                units.append(Unit(version.since, spec, results, time.process_time() - began, lines))
                ran |= trace.codes
    return Oracles(op, figures.digest(op), *_faults(modules, ran, units), tuple(units), frozenset(demanded))


def _faults(
    modules: list[types.ModuleType], codes: set[types.CodeType], units: list[Unit]
) -> tuple[dict[str, Source], tuple[Fault, ...]]:
    """Return the sources and their faults. In shared sources, only faults in statements that the cases run count."""
    lines = frozenset().union(*(unit.lines for unit in units))
    sources, every = {}, []
    for module in modules:
        path = Path(str(module.__file__))
        name = str(path.relative_to(_ROOT)) if path.is_relative_to(_ROOT) else path.name
        source = sources[str(path)] = Source.of(str(path), name, path.read_text("utf-8"))
        wanted = {(code.co_name, code.co_firstlineno) for code in codes if code.co_filename == str(path)}
        shared = figures.is_shared(module.__name__)
        ran = {line for file, line in lines if file == str(path)}
        faults = source.faults(wanted)
        every += [fault for fault in faults if not shared or not ran.isdisjoint(fault.span)]
    return sources, tuple(every)
