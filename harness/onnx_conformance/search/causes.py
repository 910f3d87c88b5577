# SPDX-License-Identifier: Apache-2.0
"""Causes of failures: the properties that two examples share if they fail for one reason."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import TYPE_CHECKING

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import WRONG, split_operator
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import PLAIN, Case, Outcome
from onnx_conformance.generation.plans import output_names
from onnx_conformance.minimize.cause import cause
from onnx_conformance.results.stream import Run
from onnx_conformance.search.examples import MODEL
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from onnx_conformance.base.verdict import Result

Cause = tuple[str, ...]
_MOST_OUTPUTS = 64


def cause_of(case: Case, result: Result, operators: Collection[str] = (), form: str = PLAIN) -> Cause:
    """Return the properties that failures with one cause share: operator, verdict, error, difference, readings.

    The sentences of a drawn call are those of the declared call from which it was drawn. They are not part of the
    cause, unless they forbid the model.

    Args:
        case: the case.
        result: its result.
        operators: the operators of a model with several nodes.
        form: the form, if it fails only in this form.
    """
    kept = result if result.outcome == Outcome.REJECTS else dataclasses.replace(result, clauses=())
    _, *shared = cause(case, kept)  # Without the backend, whose name may have a version.
    # An error names its subject, so the other nodes do not matter.
    several = [split_operator(name)[0] for name in operators] if case.operator == MODEL and not result.error else []
    readings = result.readings if result.verdict in WRONG else ()  # Readings concern values.
    return (*shared, *readings, *several, *([form] if form != PLAIN else []))


def digest(found: Cause) -> str:
    """Return a short digest of a cause."""
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()[:10]


def known(path: Path, backend: str) -> set[Cause]:
    """Return the causes of the failures of a backend in a results file.

    Raises:
        HarnessError: the file cannot be read, or has no results of this backend.
    """
    run = Run(path)
    if backend not in run.header["backends"]:
        names = ", ".join(sorted(run.header["backends"]))
        raise HarnessError("backend-not-in-file", f"{path} has no backend {backend!r}; it has {names}")
    found: set[Cause] = set()
    for result in run.results():
        if result.backend == backend and result.verdict.failed:
            stand_in = _stand_in(result)
            found |= {cause_of(stand_in, result, (), form) for form in (PLAIN, result.form)}
    return found


def _stand_in(result: Result) -> Case:
    """Return a case with the members that determine a cause: operator, outcome, and the names of the outputs."""
    return Case(
        id=result.case,
        operator=result.operator,
        model=b"",
        inputs={},
        outputs=_outputs(result.operator),
        outcome=Outcome(result.outcome),
        expected=None,
        allowance=Allowance(""),
    )


def _outputs(operator: str) -> tuple[str, ...]:
    name, since = split_operator(operator)
    domain, _, plain = name.partition("/")
    if since is None or not schema.exists(domain, plain, since):
        return tuple(f"output_{index}" for index in range(_MOST_OUTPUTS))
    version = schema.in_force(domain, plain, since)
    most = _MOST_OUTPUTS if version.outputs[-1].variadic else len(version.outputs)
    return (*output_names(version, most), *(f"output_{index}" for index in range(most, _MOST_OUTPUTS)))
