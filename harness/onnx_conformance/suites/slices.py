# SPDX-License-Identifier: Apache-2.0
"""Slices: the parts of a suite that workers take, each the cases of one operator version, or a part of a folder."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_CASES = 100
"""Cases of a slice, about. With larger ones, hundreds of workers wait for the last; see docs/cluster.md."""


@dataclass(frozen=True)
class Slice:
    """A part of the selected cases of a suite.

    Attributes:
        operator: only the cases of this operator version; empty: of all.
        part: (i, n), i from 1: only this part of them, which the suite divides as it likes. (1, 1): all of them.
        cases: about how many.
    """

    operator: str
    part: tuple[int, int] = (1, 1)
    cases: float = 1.0

    def __str__(self) -> str:
        """Return the operator version and the part of its cases, in the notation for later runs."""
        part = "" if self.part == (1, 1) else f"{self.part[0]}/{self.part[1]}"
        return " ".join(filter(None, (self.operator, part))) or "all"

    def holds(self, operator: str, case_id: str) -> bool:
        """Return whether the case of an operator version is in this slice."""
        return operator == self.operator and self.has(case_id.partition("@")[0])

    def has(self, name: str) -> bool:
        """Return whether a name is in this part; each name is in exactly one of the parts."""
        return self.part[1] == 1 or zlib.crc32(name.encode()) % self.part[1] == self.part[0] - 1


def divided(operator: str, cases: float) -> Iterator[Slice]:
    """Yield the slices of an operator version, or of a whole suite, of about so many cases."""
    parts = max(1, round(cases / MOST_CASES))
    for index in range(1, parts + 1):
        yield Slice(operator, (index, parts), cases / parts)
