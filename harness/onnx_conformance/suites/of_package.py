# SPDX-License-Identifier: Apache-2.0
"""The suite of an operator package: the cases that its operator files declare, at small sizes and at those of models.

Its name is that of the package. The cases are generated whenever they are needed. There is no manifest of them, because
a package changes without this project.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from typing import TYPE_CHECKING

from onnx_conformance.base.errors import Note
from onnx_conformance.base.verdict import few
from onnx_conformance.declare import Tag
from onnx_conformance.generation import core, plans, sized, suite_digest
from onnx_conformance.specification import packages, registry, rewordings, schema
from onnx_conformance.suites import generated, kernels
from onnx_conformance.suites.selection import listed
from onnx_conformance.suites.slices import Slice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.base.verdict import Unreadable
    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import Op
    from onnx_conformance.declare.package import OperatorPackage
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.suites.selection import Listed, Selection
    from onnx_conformance.suites.suite import Outlook, Suite


class OfPackage:
    """The cases of an operator package."""

    makes = True
    planned = True
    has_core = True

    def __init__(self, package: OperatorPackage) -> None:
        """Generate nothing yet."""
        self.name, self.package = package.name, package
        self.unreadable: list[Unreadable] = []

    @property
    def _registry(self) -> registry.Registry:
        return registry.load(self.package)

    def digest(self) -> str:
        """Return a digest of the operator files of the package, and of all code that makes the cases."""
        hashed = hashlib.sha256(f"{self.package.name} {self.package.source} {suite_digest.of_code()}".encode())
        folder = registry.folder_of(self.package)
        for path in sorted(path for ending in ("*.py", "*.json") for path in folder.rglob(ending)):
            hashed.update(str(path.relative_to(folder)).encode() + path.read_bytes())
        return hashed.hexdigest()[:16]

    def left_out(self, selection: Selection) -> list[Note]:
        """Return notes on packages that cannot be used, and on selected operators without an operator file."""
        every, have = schema.every(self.package), {str(op) for op in self._registry}
        lacking = [name for name in every if name not in have and any(map(selection.takes_operator, every[name]))]
        text = f"{len(lacking)} of the {len(every)} operators of {self.package.source} have no cases: {few(lacking)}"
        notes = [*packages.problems(), *([Note("operators-without-cases", text)] if lacking else [])]
        reworded = [
            str(version)
            for op, version in self._versions(selection)
            if rewordings.unread(version, (item for item in op.clauses if item.in_force(version.since)))
        ]
        if reworded:
            text = f"{self.package.source} rewords sentences; cases that cite them are unspecified: {few(reworded)}"
            notes.append(Note("package-sentences-reworded", text))
        return notes

    def covers(self) -> dict[str, int]:
        """Return the numbers of operators and versions with cases and in the package, for the header of a run."""
        every = schema.every(self.package)
        have = [(op, version) for op in self._registry for version in registry.versions(op)]
        return {
            "operators": len({str(op) for op, _ in have}),
            "of_operators": len(every),
            "versions": len(have),
            "of_versions": sum(map(len, every.values())),
        }

    def operators(self) -> list[str]:
        """Return the declared operator versions."""
        return [str(version) for op in self._registry for version in registry.versions(op)]

    def outlook(self, selection: Selection) -> Outlook | None:  # noqa: ARG002 - of the interface
        """Return None: the number of cases is known when they are generated."""
        return None

    def slices(self, selection: Selection) -> list[Slice]:
        """Return the selected operator versions."""
        return [Slice(str(version)) for _, version in self._versions(selection)]

    def finished(self, part: Slice) -> None:
        """Keep nothing."""

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases, by operator, version, declaration, type and form."""
        part = selection.slice
        for op, version in self._versions(selection):
            if part is None or not part.operator or part.operator == str(version):
                yield from filter(selection.takes, self._cases(op, version, selection))

    def _cases(self, op: Op, version: OperatorVersion, selection: Selection) -> Iterator[Case]:
        of_core = self._core(op) if selection.core else frozenset()
        part = selection.slice

        def wanted(case_id: str) -> bool:
            here = part is None or part.has(case_id.partition("@")[0])
            return here and (not selection.core or case_id in of_core) and selection.may_take_id(case_id)

        sizes = set[str]()
        for case in plans.cases(op, (version.since,), list(plans.specs_of(op, version)), wanted):
            if Tag.SIZE in case.tags:
                sizes.add(case.id)
            yield case
        if not selection.core and version == sized.version_of(op):  # The first cases have some sizes, these have all.
            yield from kernels.sized_cases(op, version, lambda case_id: case_id not in sizes and wanted(case_id))

    @functools.cache  # noqa: B019 - a suite lives as long as its process
    def _core(self, op: Op) -> frozenset[str]:
        return frozenset(core.choose(op, plans.cases(op)))

    def listed(self, selection: Selection) -> Iterator[Listed]:
        """Yield summaries of the selected cases."""
        for op, version in self._versions(selection):
            of_core = self._core(op)
            for item in listed(filter(selection.takes, self._cases(op, version, selection))):
                yield dataclasses.replace(item, core=item.id in of_core)

    def _versions(self, selection: Selection) -> Iterator[tuple[Op, OperatorVersion]]:
        for op in self._registry.some(selection.may_have):
            for version in registry.versions(op):
                if selection.takes_operator(str(version)):
                    yield op, version


def covers(suite: Suite) -> dict[str, int] | None:
    """Return how much of its specification a suite covers: numbers of operators and versions; None for other suites."""
    if isinstance(suite, generated.Generated):
        return suite.index.covers
    return suite.covers() if isinstance(suite, OfPackage) else None
