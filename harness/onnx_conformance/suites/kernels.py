# SPDX-License-Identifier: Apache-2.0
"""The suite `kernels`: calls of operators at the sizes of real models, at which runtimes choose other code.

Cases are generated whenever they are needed. Their inputs are drawn, which takes less time than reading them, and a
cache of them would need gigabytes.
"""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING

from onnx_conformance.case.case import delivered_id
from onnx_conformance.generation import plans, sized, suite_digest
from onnx_conformance.generation.deliveries import form_names, start_of
from onnx_conformance.specification import registry
from onnx_conformance.suites.selection import Listed, Selection, listed
from onnx_conformance.suites.slices import Slice, divided
from onnx_conformance.suites.suite import Outlook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnx_conformance.base.errors import Note
    from onnx_conformance.base.verdict import Unreadable
    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import Op
    from onnx_conformance.specification.schema import OperatorVersion


class Kernels:
    """Calls at the sizes of real models, in the newest version of each operator that declares sized calls."""

    name = "kernels"
    makes = True
    planned = False
    has_core = False

    def __init__(self) -> None:
        """Make nothing yet."""
        self.unreadable: list[Unreadable] = []

    def digest(self) -> str:
        """Return a digest of all code that makes the cases, and of the version of onnx."""
        return hashlib.sha256(f"{self.name} {suite_digest.of_code()}".encode()).hexdigest()[:16]

    def left_out(self, selection: Selection) -> list[Note]:
        """Return nothing: an operator without sized calls is not expected to have cases here."""
        del selection
        return []

    def operators(self) -> list[str]:
        """Return the operator versions that have sized calls."""
        return [str(version) for _, version in _declared(Selection())]

    def outlook(self, selection: Selection) -> Outlook | None:
        """Return about how many cases are selected."""
        return Outlook(self._counts(selection))

    def slices(self, selection: Selection) -> list[Slice]:
        """Return the selected operator versions, those with many cases in parts."""
        return [part for name, count in self._counts(selection).items() for part in divided(name, count)]

    def _counts(self, selection: Selection) -> dict[str, int]:
        return {
            str(version): sum(map(selection.may_take_id, _ids(op, version)))
            for op, version in _declared(selection)
            if selection.takes_operator(str(version))
        }

    def finished(self, part: Slice) -> None:
        """Store nothing: cases are generated whenever they are needed."""

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases, by operator, call and size."""
        part = selection.slice

        def wanted(case_id: str) -> bool:
            here = part is None or part.has(case_id.partition("@")[0])
            return here and selection.may_take_id(case_id)

        for op, version in _declared(selection):
            if selection.takes_operator(str(version)):
                yield from filter(selection.takes, sized_cases(op, version, wanted))

    def listed(self, selection: Selection) -> Iterator[Listed]:
        """Yield summaries of the selected cases."""
        return listed(self.cases(selection))


def _declared(selection: Selection) -> Iterator[tuple[Op, OperatorVersion]]:
    """Yield the operators that may have selected cases and have sized calls, with their newest version."""
    for op in registry.load().some(selection.may_have):
        version = sized.version_of(op)
        if version is not None:
            yield op, version


def _ids(op: Op, version: OperatorVersion) -> Iterator[str]:
    """Yield the ids that the sized cases of an operator may have."""
    names_of = functools.cache(lambda start: form_names(version, start=start))
    for item in sized.cases(op, version):
        yield from (delivered_id(item.stem, name) for name in names_of(start_of(item.spec)))


def sized_cases(op: Op, version: OperatorVersion, wanted: Callable[[str], bool]) -> Iterator[Case]:
    """Yield the sized cases of an operator in every suitable form.

    Args:
        op: the operator.
        version: its newest version.
        wanted: a predicate on case ids; the others are not generated.
    """
    names_of = functools.cache(lambda start: form_names(version, start=start))
    for item in sized.cases(op, version):
        if any(wanted(delivered_id(item.stem, name)) for name in names_of(start_of(item.spec))):
            yield from plans.delivered(plans.plan(op, version, item.spec, item.types, item.suffix), wanted)
