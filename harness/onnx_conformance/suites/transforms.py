# SPDX-License-Identifier: Apache-2.0
"""The suite `transforms`: models with several nodes, whose outputs the oracles compute.

Cases of the core next to another node, or with nothing left to compute; before other operators; and the patterns that
optimizers are known to rewrite.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from typing import TYPE_CHECKING

from onnx_conformance.base import globs
from onnx_conformance.generation import rewrite_cases, suite_digest
from onnx_conformance.generation.chains import chains
from onnx_conformance.generation.neighbours import neighbours
from onnx_conformance.specification import registry
from onnx_conformance.suites import packs
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Listed, Selection, listed
from onnx_conformance.suites.slices import Slice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnx_conformance.base.errors import Note
    from onnx_conformance.base.verdict import Unreadable
    from onnx_conformance.case.case import Case
    from onnx_conformance.suites.suite import Outlook


class Transforms:
    """Models that tools which change models rewrite; runtimes fuse them, too."""

    name = "transforms"
    makes = True
    planned = False
    has_core = False

    def __init__(self) -> None:
        """Make nothing yet."""
        self.unreadable: list[Unreadable] = []
        self._generated = Generated()

    def digest(self) -> str:
        """Return a digest of all code that makes the cases, and of the version of onnx."""
        return hashlib.sha256(f"{suite_digest.of_code()} {_code()}".encode()).hexdigest()[:16]

    def left_out(self, selection: Selection) -> list[Note]:
        """Return messages on operator versions that the selection names but that have no cases."""
        return self._generated.left_out(selection)

    def operators(self) -> list[str]:
        """Return the declared operator versions."""
        return self._generated.operators()

    def outlook(self, selection: Selection) -> Outlook | None:  # noqa: ARG002 - Suite's own
        """Return None: which forms a case can have is known when it is made."""
        return None

    def slices(self, selection: Selection) -> list[Slice]:
        """Return the selected operator versions."""
        return [Slice(name) for name in self.operators() if selection.takes_operator(name)]

    def finished(self, part: Slice) -> None:
        """Store nothing: cases are stored when they are generated."""

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases, by operator version, case and form."""
        for operator in self.operators():
            if selection.takes_operator(operator) and _may_have(operator, selection):
                made: Iterable[Case] = self._of(operator)
                if selection.by_name:  # Whoever wants one case stops at it, and its pack would never be written.
                    made = list(made)
                yield from filter(selection.takes, made)

    def listed(self, selection: Selection) -> Iterator[Listed]:
        """Yield summaries of the selected cases."""
        return listed(self.cases(selection))

    def _of(self, operator: str) -> Iterator[Case]:
        """Yield the cases of an operator version from their pack; without a pack, generate the cases and write it."""
        key = packs.key(self.name, self.digest(), operator)
        pack = packs.read(key)
        if pack is not None:
            yield from pack
            return
        packer = packs.Packer(key)
        for made in _made(operator, self._generated.cases(Selection(ops=(operator,), core=True, forms=("plain",)))):
            packer.add(made)
            yield made
        packer.write()


def _made(operator: str, core: Iterable[Case]) -> Iterator[Case]:
    """Yield the cases of an operator version: next to other nodes, before other operators, and for rewrites."""
    yield from itertools.chain.from_iterable(map(neighbours, core))
    op = registry.load().find(*operator.split("/")[:2])
    assert op is not None  # noqa: S101 - the generated suite has it
    for version in registry.versions(op):
        if str(version) == operator and not version.deprecated:
            yield from chains(op, version)
    yield from rewrite_cases.cases(operator)


@functools.cache
def _code() -> str:
    """Return a digest of the rewrites."""
    return suite_digest.code_digest(("rewrites",))


@functools.cache
def _names_of_models() -> frozenset[str]:
    return frozenset(f"{rewrite.name}_{model.name}" for rewrite in rewrite_cases.declared() for model in rewrite.models)


def model_of_rewrite(case: str) -> str:
    """Return the name of the rewrite's model that a case has in some form; empty if it is not a case of a rewrite."""
    name = case.rpartition("/")[2].partition("@")[0]
    return name if name in _names_of_models() else ""


def _may_have(operator: str, selection: Selection) -> bool:
    """Return whether an operator version may have a selected case: else its cases need not be made."""
    named = not selection.cases or any(globs.may_match(glob, operator) for glob in selection.cases)
    return named and (not selection.ids or any(case.startswith(f"{operator}/") for case in selection.ids))
