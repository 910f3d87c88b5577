# SPDX-License-Identifier: Apache-2.0
"""Cases of drawn calls and models, with the oracle's expected values, if there are any."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.declare import NoAnswer
from onnx_conformance.forms import table
from onnx_conformance.generation import deliveries
from onnx_conformance.generation.neighbours import neighbours
from onnx_conformance.generation.plans import deliver
from onnx_conformance.search.calls import Call
from onnx_conformance.search.chains import Chain, started
from onnx_conformance.search.grammar import MOST_EXPECTED, NoCallError, decided, quietly
from onnx_conformance.tolerance.several_nodes import UndecidedError, composed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.case import Case
    from onnx_conformance.generation.deliveries import Plan

MODEL = "model"
"""Replaces the operator version for models of several nodes, as in `suites.onnx_layout`."""
OPEN, NONE = "open", "no call"
"""The kinds of examples that the backend does not run: the text does not define the result; no oracle covers it."""


@dataclass(frozen=True)
class Example:
    """A drawn case and its parts.

    Attributes:
        case: the case.
        operators: the operator versions of its nodes.
        plan: the plan from which it was delivered; None for a model of several nodes.
        parts: a function that yields its parts, or its plain form, with the smallest first. If a part fails as well, it
            has the fault.
    """

    case: Case
    operators: tuple[str, ...]
    plan: Plan | None = None
    parts: Callable[[], Iterator[Example]] = field(default=lambda: iter(()), compare=False)


def example(drawn: Call | Chain | None) -> Example | str:
    """Return a drawn call or chain as an example, or the reason why there is no example: OPEN or NONE."""
    try:
        with quietly():
            if isinstance(drawn, Call):
                return _of_call(drawn)
            return NONE if drawn is None else _of_chain(drawn)
    except NoCallError:
        return NONE
    except (NoAnswer, UndecidedError):
        return OPEN


def _of_call(call: Call) -> Example | str:
    candidate = call.candidate
    planned = decided(candidate.op, candidate.version, candidate.spec, candidate.types)
    if planned.outcome is Outcome.UNSPECIFIED:
        return OPEN
    plain = in_form(planned, PLAIN)
    if plain is None:
        return NONE
    other = None if call.form == PLAIN else in_form(planned, call.form, plain)
    return plain if other is None else dataclasses.replace(other, parts=lambda: iter((plain,)))


def in_form(planned: Plan, form: str, plain: Example | None = None) -> Example | None:
    """Return a planned call in a form; None if the form is not suitable, or the outputs are too large.

    Args:
        planned: the plan.
        form: the name of the form.
        plain: the call in the plain form, if it is known.
    """
    if size(planned.expected) > MOST_EXPECTED:
        return None
    if form not in table.names(table.Start.CASE) or form == PLAIN:
        return _delivered(planned, form)
    plain = plain or _delivered(planned, PLAIN)
    beside = None if plain is None else next((item for item in neighbours(plain.case) if item.form == form), None)
    return None if plain is None or beside is None else dataclasses.replace(plain, case=beside)


def _delivered(planned: Plan, name: str) -> Example | None:
    made = deliveries.in_form(planned, name)
    case = deliver(planned, name, made) if made else None
    return None if case is None else Example(case, (str(planned.version),), planned)


def _of_chain(chain: Chain) -> Example:
    start = started(chain)
    clauses = tuple(dict.fromkeys(clause.text for planned in chain.plans for clause in planned.spec.cites))
    case = composed(MODEL, MODEL, start.model, start.inputs, clauses=clauses)
    return Example(case, chain.operators, parts=lambda: _parts(chain))


def _parts(chain: Chain) -> Iterator[Example]:
    """Yield the single nodes of a chain, in the chain's opset, then the shorter chains in it."""
    for planned in chain.plans:
        yield Example(deliveries.plain(planned, chain.opset), (str(planned.version),), planned)
    for length in range(2, len(chain.plans)):
        for begin in range(len(chain.plans) - length + 1):
            made = example(chain.part(begin, begin + length))
            if not isinstance(made, str):
                yield made


def size(value: Value | tuple[object, ...] | object) -> int:
    """Return the number of elements of a value, or of several."""
    if isinstance(value, list | tuple):
        return sum(map(size, value))
    return value.size if isinstance(value, np.ndarray) else 1
