# SPDX-License-Identifier: Apache-2.0
"""Counts the operators that notice faults which depend on sizes: `python -m tools.size_faults`; see --help."""

from __future__ import annotations

import contextlib
import fnmatch
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click
from tabulate import tabulate

from onnx_conformance.base import printing
from onnx_conformance.case.compare import compare
from onnx_conformance.generation import derived, plans, sized
from onnx_conformance.generation.expansion import bindings
from onnx_conformance.specification import registry
from tools.size_faults.exempt import EXEMPT
from tools.size_faults.faults import FAULTS, Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from onnx_conformance.declare import CaseSpec, Op
    from onnx_conformance.generation.deliveries import Plan
    from onnx_conformance.specification.schema import OperatorVersion

    Sources = tuple[Callable[[], Iterable[Plan]], ...]

SUITES = ("small cases", "suite generated", "with kernels")


@dataclass
class Noticed:
    """The operators that notice faults: by fault and suite, and those that a fault touches."""

    touched: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    by: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def missing(self, fault: Fault) -> list[str]:
        """Return the operators that a fault touches, and whose cases do not notice it."""
        return sorted(self.touched[fault.name] - self.by[fault.name, SUITES[-1]])


def touches(fault: Fault, op: Op) -> bool:
    """Return whether a kernel of an operator may have a fault."""
    if not op.calls or str(op) in EXEMPT.get(fault.name, {}):
        return False
    if fault.exhaustive:
        return any(call.options["exhaustive"] for call in op.calls)
    return fault.operators is None or op.name in fault.operators


def _planned(op: Op, version: OperatorVersion, specs: Iterable[CaseSpec]) -> Iterator[Plan]:
    for spec in specs:
        for types, suffix in bindings(version, spec):
            try:
                yield plans.plan(op, version, spec, types, suffix)
            except plans.NotDerivedError:
                continue


def measure(op: Op, noticed: Noticed) -> None:
    """Try the faults on the cases of the newest version of an operator, until each is noticed."""
    version = sized.version_of(op)
    left = [fault for fault in FAULTS if version is not None and touches(fault, op)]
    if version is None or not left:
        return
    for fault in left:
        noticed.touched[fault.name].add(str(op))
    small = [*op, *derived.cases(op, version)]
    cases = (
        _planned(op, version, small),
        _planned(op, version, sized.of_core(op, version)),
        (plans.plan(op, version, item.spec, item.types, item.suffix) for item in sized.cases(op, version)),
    )
    for number, of_suite in enumerate(cases):
        for plan in of_suite:
            if not left:
                return
            if plan.expected is None:
                continue
            found = [fault for fault in left if _notices(plan, fault)]
            for fault in found:
                for suite in SUITES[number:]:
                    noticed.by[fault.name, suite].add(str(op))
            left = [fault for fault in left if fault not in found]


def _notices(plan: Plan, fault: Fault) -> bool:
    wrong = fault.wrong(plan)
    return wrong is not None and compare(plan.expected or (), wrong, plan.allowance) is not None


def report(noticed: Noticed) -> Iterator[str]:
    """Yield the table, and the operators that do not notice a fault."""
    rows = [
        (fault.name, len(noticed.touched[fault.name]), *(len(noticed.by[fault.name, suite]) for suite in SUITES))
        for fault in FAULTS
        if noticed.touched[fault.name]
    ]
    yield tabulate(rows, ["fault", "operators touched", *(f"noticed by\n{suite}" for suite in SUITES)])
    for fault in FAULTS:
        if missing := noticed.missing(fault):
            yield f"\n{fault.name}: no case notices it of {', '.join(missing)}"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--op", "globs", metavar="GLOB", multiple=True, help="Only these operators: ai.onnx/Conv*. Repeatable.")
def main(globs: tuple[str, ...]) -> None:
    """Inject faults that depend on sizes into right answers, and count the operators whose cases notice them.

    The exit status is 1 if a case notices no fault of an operator that it touches, and 2 if no operator is selected.
    """
    chosen = [op for op in registry.load() if not globs or any(fnmatch.fnmatch(str(op), glob) for glob in globs)]
    if not chosen:
        raise click.UsageError(f"no operator matches {', '.join(globs)}; expected names such as ai.onnx/Conv")
    noticed = Noticed()
    for op in chosen:
        measure(op, noticed)
    with contextlib.suppress(printing.ReaderGoneError):  # Such as `| head`.
        for text in report(noticed):
            printing.show(text)
    sys.exit(1 if any(noticed.missing(fault) for fault in FAULTS) else 0)


if __name__ == "__main__":
    main()
