# SPDX-License-Identifier: Apache-2.0
"""The sources of drawn calls: operator versions, their declared calls, and the values of their arguments."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.case.case import PLAIN
from onnx_conformance.declare import Graph, NoAnswer, Rejected, Typed
from onnx_conformance.generation import expansion, plans
from onnx_conformance.generation.plans import NotDerivedError
from onnx_conformance.minimize.declared_candidate import DeclaredCandidate, candidate_from_plan
from onnx_conformance.minimize.limits import within
from onnx_conformance.minimize.moves import type_distance
from onnx_conformance.specification import packages, registry, schema
from onnx_conformance.tolerance.several_nodes import UndecidedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_conformance.declare import CaseSpec, Op
    from onnx_conformance.declare.package import OperatorPackage
    from onnx_conformance.generation.deliveries import Plan
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.suites.selection import Selection

SECONDS, MORE_BYTES = 2.0, 1 << 30
"""Limits of the oracle for one call, in seconds and bytes. With drawn numbers, it may count to the greatest integer."""
MOST_ELEMENTS = 4096
"""The maximum number of elements of declared calls that are used, and the maximum size of an axis."""
MOST_EXPECTED = 1 << 16
"""The maximum number of output elements of a call. Larger calls would test memory, so the backend does not run them."""
DRAWN = "drawn"
"""The declared name of every case that is drawn."""


class NoCallError(Exception):
    """A drawn call cannot be used: no oracle covers it, or the oracle takes too long. The message has the reason."""


@dataclass(frozen=True, eq=False)
class Source:
    """One operator version, and the calls and values in its declaration.

    Attributes:
        op: the operator.
        version: the operator version.
    """

    op: Op
    version: OperatorVersion

    @functools.cached_property
    def calls(self) -> tuple[CaseSpec, ...]:
        """The calls with an answer, then those without, except calls that violate the signature."""
        fitting = [spec for spec in plans.specs_of(self.op, self.version) if self._fits(spec) and not spec.sized]
        return tuple(sorted(fitting, key=lambda spec: bool(spec.rejects or spec.unspecified)))

    @functools.cached_property
    def valid(self) -> int:
        """The number of calls with an answer, which are the first ones."""
        return sum(not (spec.rejects or spec.unspecified) for spec in self.calls)

    def _fits(self, spec: CaseSpec) -> bool:
        broken = spec.outside or spec.stray or spec.stray_inputs or spec.deprecated or (spec.derived and spec.rejects)
        return not broken and next(expansion.bindings(self.version, spec), None) is not None

    @functools.cached_property
    def pools(self) -> Mapping[str, tuple[Any, ...]]:
        """The values of each argument in declared calls, by its name."""
        found: dict[str, dict[str, Any]] = {}
        for spec in self.calls:
            for name, value in spec.arguments.items():
                if value is not None and not isinstance(value, Graph):
                    found.setdefault(name, {}).setdefault(_text(value), value)
        return {name: tuple(values.values()) for name, values in found.items()}

    @functools.cached_property
    def types(self) -> Mapping[str, tuple[str, ...]]:
        """For each type variable with a choice, the types that it allows, with the most common first."""
        return {
            variable: tuple(sorted(allowed, key=lambda item: (type_distance(item), item)))
            for variable, allowed in self.version.types.items()
            if len(allowed) > 1
        }

    @functools.cached_property
    def _candidates(self) -> dict[tuple[str, tuple[tuple[str, str], ...]], DeclaredCandidate | None]:
        return {}

    def candidate(self, spec: CaseSpec, types: Mapping[str, str]) -> DeclaredCandidate | None:
        """Return a declared call with concrete values; None if it has none, or too many elements."""
        key = spec.name, tuple(sorted(types.items()))
        if key not in self._candidates:
            self._candidates[key] = self._concrete(spec, types)
        return self._candidates[key]

    def _concrete(self, spec: CaseSpec, types: Mapping[str, str]) -> DeclaredCandidate | None:
        try:
            made = candidate_from_plan(decided(self.op, self.version, spec, types), PLAIN)
        except NoCallError:
            return None
        return made if sum(leaf.array.size for leaf in made.leaves()) <= MOST_ELEMENTS else None


def _text(value: object) -> str:
    return repr(value) if not isinstance(value, Typed) else f"{value.type} {value.values!r}"


def sources(selection: Selection, package: OperatorPackage = packages.ONNX) -> tuple[Source, ...]:
    """Return the selected operator versions of a package for drawing, ordered by opset (newest first) and name."""
    found = [
        Source(op, version)
        for op in registry.load(package)
        for version in registry.versions(op)
        if not version.deprecated and selection.takes_operator(str(version))
    ]
    return tuple(item for item in sorted(found, key=lambda item: -item.version.since) if item.calls)


@contextlib.contextmanager
def quietly(seconds: float = SECONDS) -> Iterator[None]:
    """Evaluate oracles in a block, within limits and without warnings; `seconds`: the time limit.

    Raises:
        NoCallError: an oracle raised an error that is not an answer.
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), within(seconds, MORE_BYTES):
            warnings.simplefilter("ignore")
            yield
    except (NoAnswer, NoCallError, UndecidedError):
        raise
    except Exception as error:  # An oracle may raise anything for a call that it does not cover.
        raise NoCallError(f"{type(error).__name__}: {error}") from error


def decided(
    op: Op, version: OperatorVersion, spec: CaseSpec, types: Mapping[str, str], seconds: float = SECONDS
) -> Plan:
    """Return the plan of a call that no file declares, with the oracle's outcome.

    If it is forbidden or unspecified, it cites the sentence with the reason. If it has values, it cites the sentences
    of the declared call from which it was drawn.

    Args:
        op: the operator.
        version: its version.
        spec: the call.
        types: the types of the type variables.
        seconds: the time limit of the oracle.

    Raises:
        NoCallError: no oracle covers the call, or the oracle takes longer.
    """
    # A derived case may have another outcome than it declares; such a case does not exist.
    bare = dataclasses.replace(spec, name=DRAWN, rejects=None, unspecified=None, derived=True)
    with quietly(seconds):
        try:
            planned = plans.plan(op, version, bare, types)
        except NotDerivedError as error:
            no_answer = error.__cause__
            assert isinstance(no_answer, NoAnswer)  # noqa: S101 - see plans.plan
            clause, forbids = no_answer.clause, isinstance(no_answer, Rejected)
            rejects, unspecified = (clause, None) if forbids else (None, clause)
            bare = dataclasses.replace(bare, derived=False, cites=(), rejects=rejects, unspecified=unspecified)
            planned = plans.plan(op, version, bare, types)
    return dataclasses.replace(planned, spec=dataclasses.replace(planned.spec, derived=False))


def newest_opsets() -> tuple[int, ...]:
    """Return the opsets of ai.onnx in models of several nodes, with the newest first."""
    return tuple(range(schema.newest_opset("ai.onnx"), 12, -1))
