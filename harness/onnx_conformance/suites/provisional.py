# SPDX-License-Identifier: Apache-2.0
"""The suite `provisional`: cases of operator versions that no operator file declares; see generation.provisional."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.base.errors import Note
from onnx_conformance.base.suite_names import PROVISIONAL
from onnx_conformance.generation import provisional, suite_digest
from onnx_conformance.suites.selection import Listed, listed
from onnx_conformance.suites.slices import Slice
from onnx_conformance.suites.suite import SuiteError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.base.verdict import Unreadable
    from onnx_conformance.case.case import Case
    from onnx_conformance.generation.provisional import Undeclared
    from onnx_conformance.suites.selection import Selection
    from onnx_conformance.suites.suite import Outlook


class Provisional:
    """The cases of operator versions that no operator file declares."""

    name = PROVISIONAL
    makes = True
    planned = True
    has_core = True

    def __init__(self) -> None:
        """Find the versions.

        Raises:
            SuiteError: the installed onnx has none.
        """
        self.unreadable: list[Unreadable] = []
        self._versions = list(provisional.every())
        if not self._versions:
            raise SuiteError(
                "nothing-provisional",
                f"every operator version of onnx {onnx.__version__} is declared, so there are no provisional cases; "
                "--onnx onnx-weekly uses the nightly release",
            )

    def digest(self) -> str:
        """Return a digest of the operator files, the code that expands them, and the version of onnx."""
        return suite_digest.of_code()

    def left_out(self, selection: Selection) -> list[Note]:
        """Return messages about selected versions without a case."""
        names = [str(of.version) for of in self._of(selection) if next(provisional.cases(of), None) is None]
        text = "no case of the previous version applies, and none follows from the signature"
        return [Note("versions-without-provisional-case", f"skipping {', '.join(names)}: {text}")] if names else []

    def operators(self) -> list[str]:
        """Return the versions."""
        return [str(of.version) for of in self._versions]

    def outlook(self, selection: Selection) -> Outlook | None:  # noqa: ARG002 - Suite's own
        """Return None: which cases hold on is known of each only when it is generated."""
        return None

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases, by operator and version."""
        for of in self._of(selection):
            yield from filter(selection.takes, provisional.cases(of, functools.partial(self._wanted, of, selection)))

    def slices(self, selection: Selection) -> list[Slice]:
        """Return the selected versions: how many cases each has is not known before."""
        return [Slice(str(of.version)) for of in self._of(selection)]

    def finished(self, part: Slice) -> None:
        """Keep nothing."""

    def listed(self, selection: Selection) -> Iterator[Listed]:
        """Yield summaries of the selected cases."""
        return listed(self.cases(selection))

    def _of(self, selection: Selection) -> list[Undeclared]:
        return [of for of in self._versions if selection.takes_operator(str(of.version))]

    def _wanted(self, of: Undeclared, selection: Selection, case_id: str) -> bool:
        return (not selection.core or case_id in self._core(of)) and selection.may_take_id(case_id)

    @functools.cache  # noqa: B019 - a suite lives as long as its command
    def _core(self, of: Undeclared) -> frozenset[str]:
        return provisional.of_core(of)
