# SPDX-License-Identifier: Apache-2.0
"""Problems of the profile of a backend after a run: stale exclusions, and bounds that answers exceed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_conformance.gate.exceeded import Exceeded
from onnx_conformance.gate.excluded import Excluded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_conformance.base.verdict import Result


class ProfileChecks:
    """The profile of one backend, compared with its results."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        """Start without results; `members`: of the backend in the header, as `profile.described` returns them."""
        self._excluded, self._exceeded = Excluded(members), Exceeded()

    def add(self, result: Result) -> None:
        """Compare a result of this backend."""
        self._excluded.add(result)
        self._exceeded.add(result)

    def problems(self, selection: str, *, complete: bool) -> Iterator[str]:
        """Yield a line for each reason why a run fails although no case does.

        Args:
            selection: the options that selected the cases of the run; empty: the whole suite was run.
            complete: whether the run has all these cases.
        """
        yield from self._excluded.stale(selection, complete=complete)
        yield from self._exceeded.lines()
