# SPDX-License-Identifier: Apache-2.0
"""The smallest cases of old findings, which an update takes instead of a search: a search takes far longer.

A finding contains its smallest case as text, with 6 digits and 12 elements of each value. So the restored case may
differ a little from the old one, or it cannot be restored. It is used only if it fails now in the same way as the case
of the run, and it gets the expected values of today's oracle.
"""

from __future__ import annotations

import ast
import math
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.parser

from onnx_conformance.base import under_test
from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.findings import script
from onnx_conformance.minimize.cause import masked
from onnx_conformance.minimize.declared_candidate import candidate_from_model, candidate_from_plan
from onnx_conformance.minimize.reducer import MINIMIZED
from onnx_conformance.repro.bug_report import public
from onnx_conformance.specification.element_types import ELEMENT_TYPES, numpy_dtype

if TYPE_CHECKING:
    from onnx_conformance.base.values import Array
    from onnx_conformance.case.case import Case
    from onnx_conformance.findings.failure_groups import FailureGroup
    from onnx_conformance.findings.finding import Finding, Findings
    from onnx_conformance.generation.deliveries import Plan
    from onnx_conformance.minimize.declared_candidate import DeclaredCandidate

MOST = 3
"""The number of old findings that are tried for a group of failures."""
COMPARED = 100
"""Two messages are compared up to this many characters, because findings have shortened ones."""
TELLING = 20
"""Messages with fewer characters are the same for many faults, and are not compared."""
_TENSOR = re.compile(r"(\w+)\[([\d,]*)\] ?(.*)", re.DOTALL)
"""A tensor as text: float[1,3] 0 1 2."""
_NUMBERS = {row.name: row.number for row in ELEMENT_TYPES}


@dataclass(frozen=True)
class Earlier:
    """The smallest case of an old finding.

    Attributes:
        origin: the id of the case that was minimized.
        minimized: whether the smallest case is another case.
        model: the model in ONNX's text syntax.
        inputs: the names of the inputs, and their values as text.
    """

    origin: str
    minimized: bool
    model: str
    inputs: tuple[tuple[str, str], ...]

    def candidate(self, case: Case, plan: Plan) -> DeclaredCandidate | None:
        """Return the smallest case as a candidate of a search; None if it cannot be restored.

        Args:
            case: the case of `origin`.
            plan: its plan.
        """
        first = candidate_from_plan(plan, case.form)
        if not self.minimized:
            return first
        inputs = {name: value_of(text) for name, text in self.inputs}
        if any(value is None for value in inputs.values()):
            return None
        try:
            model = onnx.parser.parse_model(self.model)
        except onnx.parser.ParseError:
            return None
        return candidate_from_model(first, model, inputs)


class OldFindings:
    """The old findings, by the failures that they explain."""

    def __init__(self, before: Findings | None) -> None:
        """Take the findings of a folder; None if it has no findings."""
        self._scripts = before.scripts if before else {}
        self._by_fault: dict[tuple[str, str, Verdict], list[Finding]] = defaultdict(list)
        for item in before.findings if before else ():
            self._by_fault[item.identity.backend, item.identity.operator, item.identity.kind].append(item)

    def of(self, group: FailureGroup) -> tuple[Earlier, ...]:
        """Return the smallest cases of the findings that may be of a group of failures, the closest first.

        These are the findings that share cases with the group. A finding may have several groups, so its smallest case
        may belong to another one. A finding does not list all of its cases, so refusals with the same message follow:
        they are one fault. Crashes have one message for all faults.
        """
        known = self._by_fault.get((under_test.unversioned(group.backend), group.operator, group.kind), [])
        own = {result.case for result in group.results}
        shared = [(len(own & set(item.cases.ids)), item) for item in known]
        said = _beginning(group.results[0].message) if group.kind is Verdict.REFUSED and group.results else ""
        alike = [
            (count, item) for count, item in shared if count or (said and said == _beginning(item.example.message))
        ]
        closest = sorted(alike, key=lambda pair: (-pair[0], pair[1].id))
        made = [self._earlier(item) for _, item in closest]
        return tuple(item for item in made if item is not None)[:MOST]

    def _earlier(self, finding: Finding) -> Earlier | None:
        example = finding.example
        origin = example.case.replace(MINIMIZED, "")
        model = script.model_of(self._scripts.get(finding.id, ""))
        if model is None:
            return None
        return Earlier(origin, origin != example.case, model, tuple(example.inputs.items()))


def _beginning(message: str) -> str:
    """Return the first characters of a message, without its numbers and names; nothing if there are few."""
    said = masked(line(public(message)))[:COMPARED]
    return said if len(said) >= TELLING else ""


def value_of(text: str) -> Array | None:
    """Return a tensor from its text, such as `float[1,3] 0 1 2`; None if it is cut, or no tensor."""
    parts = parts_of(text)
    if parts is None:
        return None
    type_, shape, rest = parts
    try:
        elements = [_element(type_, word) for word in _words(rest)]
        if len(elements) != math.prod(shape):
            return None
        return np.array(elements, dtype=dtype_of(type_)).reshape(shape)
    except (ValueError, TypeError, OverflowError, SyntaxError):
        return None


def parts_of(text: str) -> tuple[str, list[int], str] | None:
    """Return the element type, the shape and the text of the elements of a tensor; None if a text is no tensor."""
    match = _TENSOR.fullmatch(text)
    if match is None or match[1] not in _NUMBERS:
        return None
    return match[1], [int(size) for size in match[2].split(",") if size], match[3]


def dtype_of(type_: str) -> np.dtype[Any]:
    """Return numpy's type of an element type, such as float."""
    return numpy_dtype(_NUMBERS[type_])


def _words(text: str) -> list[str]:
    """Return the elements of a tensor; quoted elements may contain spaces."""
    return re.findall(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\S+", text)


def _element(type_: str, word: str) -> str | complex | int:
    if type_ == "string":
        return str(ast.literal_eval(word))
    if type_ == "bool":
        return ("false", "true").index(word)
    if type_.startswith(("int", "uint")):
        return int(word)
    return complex(word) if type_.startswith("complex") else float(word)
