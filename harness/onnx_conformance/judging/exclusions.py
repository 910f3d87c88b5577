# SPDX-License-Identifier: Apache-2.0
"""Exclusions: failures that the author of a runtime accepts, each with a reason.

They are tables of a profile, [[exclusions]]:

    [[exclusions]]
    case = "ai.onnx/Conv/22/autopad_*"   # a case, a glob over cases, or a list of them
    reason = "the device has no padding"
    issue = "https://..."                # optional

An excluded case runs, and keeps its verdict. So an exclusion that is no longer needed is noticed.
"""

from __future__ import annotations

import fnmatch
import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import line
from onnx_conformance.suites import profile_file
from onnx_conformance.suites.profile_file import ProfileError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TABLE = profile_file.EXCLUSIONS
_WILDCARDS = re.compile(r"\[[^]]*\]|[*?/]")


@dataclass(frozen=True)
class Exclusion:
    """One table of exclusions.

    Attributes:
        case: globs over the ids of cases.
        reason: why their failures are accepted.
        issue: a link to a discussion; may be empty.
    """

    case: tuple[str, ...]
    reason: str
    issue: str = ""

    def matches(self, case_id: str) -> bool:
        """Return whether it excludes a case."""
        return self._pattern.match(case_id) is not None

    @functools.cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(fnmatch.translate, self.case)))

    def __str__(self) -> str:
        """Return the reason, and the link to the discussion."""
        return line(f"{self.reason} ({self.issue})" if self.issue else self.reason, 600)

    @property
    def members(self) -> dict[str, Any]:
        """The exclusion in the header of a results file."""
        return {
            "case": list(self.case),
            "reason": line(self.reason, 600),
            **({"issue": line(self.issue, 300)} if self.issue else {}),
        }


def of_tables(tables: object, name: str) -> tuple[Exclusion, ...]:
    """Return the exclusions of parsed tables; `name` is that of their file.

    Raises:
        ProfileError: one is malformed, or has no reason.
    """
    needs = {"case": '"ai.onnx/Conv/22/autopad_*"', "reason": '"the device has no padding"'}
    try:
        rows = profile_file.tables(tables, TABLE, name)
        return tuple(Exclusion(**profile_file.fields(table, where, _KEYS, needs)) for where, table in rows)
    except TableError as error:
        raise ProfileError("exclusions-invalid", str(error)) from None


def _globs(value: object) -> tuple[str, ...]:
    globs = (value,) if isinstance(value, str) else profile_file.texts(value)
    if any(not _WILDCARDS.sub("", glob) for glob in globs):
        raise ValueError("this matches all cases; name an operator, such as ai.onnx/Conv/*")
    return globs


_KEYS: Mapping[str, Callable[[Any], Any]] = {"case": _globs, "reason": profile_file.text, "issue": profile_file.text}
