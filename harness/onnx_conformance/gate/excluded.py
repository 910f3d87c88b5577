# SPDX-License-Identifier: Apache-2.0
"""Whether the exclusions of a profile are still needed: one whose cases no longer fail is stale, and fails a run."""

from __future__ import annotations

import fnmatch
import re
from typing import TYPE_CHECKING, Any

from onnx_conformance.base import globs
from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.suites.profile_file import EXCLUSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_conformance.base.verdict import Result

_PART = re.compile(r"--(sample|shard|at-most)\b")
"""Options after which a run may lack the failing cases that a glob matches."""


class Excluded:
    """The exclusions of one backend, compared with its results."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        """Start without results; `members`: of the backend in the header, as `profile.described` returns them."""
        every = [glob for exclusion in members.get(EXCLUSIONS, ()) for glob in exclusion["case"]]
        self._patterns = {glob: re.compile(fnmatch.translate(glob)) for glob in every}
        self._unneeded = dict.fromkeys(every, 0)
        """By glob that matched no failing case, the number of cases that it matched."""

    def add(self, result: Result) -> None:
        """Compare a result of this backend."""
        for glob in [glob for glob in self._unneeded if self._patterns[glob].match(result.case)]:
            if result.verdict.failed:
                del self._unneeded[glob]
            elif result.verdict is not Verdict.ADAPTER_ERROR:
                self._unneeded[glob] += 1

    def stale(self, selection: str, *, complete: bool) -> Iterator[str]:
        """Yield a line for each stale glob: its cases were run and none failed, or the whole suite has none.

        Args:
            selection: the options that selected the cases of the run; empty: the whole suite was run. In a sample or a
                shard, a glob with wildcards may match failing cases that were not run.
            complete: whether the run has all these cases.
        """
        for glob, matched in self._unneeded.items():
            known = globs.stem(glob) == glob or not _PART.search(selection)
            if matched and known:
                which = "it passes" if matched == 1 else f"none of the {matched} cases fails"
                yield f"the exclusion of {line(glob)} matches no failing case ({which}); remove it from the profile"
            elif not matched and complete and not selection:
                yield f"the exclusion of {line(glob)} matches no case of the suite; remove it from the profile"
