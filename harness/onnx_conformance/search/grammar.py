"""What the declarations offer to draw from: operator versions, their declared calls, the values of their arguments."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Graph, NoAnswer, Rejected, Typed
from onnx_conformance.forms.table import PLAIN
from onnx_conformance.generation import plans
from onnx_conformance.generation.plans import NotDerivedError
from onnx_conformance.minimize.declared_candidate import DeclaredCandidate, candidate_from_plan
from onnx_conformance.minimize.limits import within
from onnx_conformance.minimize.moves import type_distance
from onnx_conformance.specification import registry, schema
from onnx_conformance.tolerance.several_nodes import UndecidedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_conformance.declare import CaseSpec, Op
    from onnx_conformance.generation.deliveries import Plan
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.suites.selection import Selection

SECONDS, MORE_BYTES = 2.0, 1 << 30
"""Limits of the oracle on one call: it may count to the greatest integer, where nobody chose the numbers."""
MOST_ELEMENTS = 4096
"""Declared calls with more elements than this are not drawn from, and no axis grows beyond it."""
MOST_EXPECTED = 1 << 16
"""Calls that give more elements than this are not asked: they would test memory."""
DRAWN = "drawn"
"""The declared name of every case that is drawn."""


class NoCallError(Exception):
    """A drawn call is none: no oracle was written for it, or it takes too long; the text says why."""


@dataclass(frozen=True, eq=False)
class Source:
    """One operator version, and what its declaration offers.

    Attributes:
        op: the operator.
        version: of it.
    """

    op: Op
    version: OperatorVersion

    @functools.cached_property
    def calls(self) -> tuple[CaseSpec, ...]:
        """The calls that have an answer, then those that have none, without those that break the signature."""
        fitting = [spec for spec in plans.specs_of(self.op, self.version) if self._fits(spec)]
        return tuple(sorted(fitting, key=lambda spec: bool(spec.rejects or spec.unspecified)))

    @functools.cached_property
    def valid(self) -> int:
        """How many of the calls have an answer; they come first."""
        return sum(not (spec.rejects or spec.unspecified) for spec in self.calls)

    def _fits(self, spec: CaseSpec) -> bool:
        broken = spec.outside or spec.stray or spec.stray_inputs or spec.deprecated or (spec.derived and spec.rejects)
        return not broken and next(plans.bindings(self.version, spec), None) is not None

    @functools.cached_property
    def pools(self) -> Mapping[str, tuple[Any, ...]]:
        """By name of an argument, the values that declared calls give it."""
        found: dict[str, dict[str, Any]] = {}
        for spec in self.calls:
            for name, value in spec.arguments.items():
                if value is not None and not isinstance(value, Graph):
                    found.setdefault(name, {}).setdefault(_text(value), value)
        return {name: tuple(values.values()) for name, values in found.items()}

    @functools.cached_property
    def types(self) -> Mapping[str, tuple[str, ...]]:
        """By type variable that leaves a choice, the types that it allows, the most familiar first."""
        return {
            variable: tuple(sorted(allowed, key=lambda item: (type_distance(item), item)))
            for variable, allowed in self.version.types.items()
            if len(allowed) > 1
        }

    @functools.cached_property
    def _candidates(self) -> dict[tuple[str, tuple[tuple[str, str], ...]], DeclaredCandidate | None]:
        return {}

    def candidate(self, spec: CaseSpec, types: Mapping[str, str]) -> DeclaredCandidate | None:
        """Return a declared call with concrete values; None where it has none, or too many to be drawn from."""
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


def sources(selection: Selection) -> tuple[Source, ...]:
    """Return the selected operator versions that are drawn from: of each opset, the newest first, by name."""
    found = [
        Source(op, version)
        for op in registry.load()
        for version in registry.versions(op)
        if not version.deprecated and selection.takes_operator(str(version))
    ]
    return tuple(item for item in sorted(found, key=lambda item: -item.version.since) if item.calls)


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Evaluate oracles in a block, within limits and without warnings.

    Raises:
        NoCallError: what they raise that is no answer of theirs.
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), within(SECONDS, MORE_BYTES):
            warnings.simplefilter("ignore")
            yield
    except (NoAnswer, NoCallError, UndecidedError):
        raise
    except Exception as error:  # An oracle may raise anything on a call that it was not written for.
        raise NoCallError(f"{type(error).__name__}: {error}") from error


def decided(op: Op, version: OperatorVersion, spec: CaseSpec, types: Mapping[str, str]) -> Plan:
    """Return the plan of a call that no file declares, with the outcome that the oracle gives.

    It cites the sentence that forbids it or leaves it open; one with values, those of the call that it was drawn from.

    Raises:
        NoCallError: the oracle was not written for it.
    """
    # A derived case may have another outcome than it declares: there is just no such case.
    bare = dataclasses.replace(spec, name=DRAWN, rejects=None, unspecified=None, derived=True)
    with quietly():
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
    """Return the opsets of ai.onnx that models of several nodes have, the newest first."""
    return tuple(range(schema.newest_opset("ai.onnx"), 12, -1))
