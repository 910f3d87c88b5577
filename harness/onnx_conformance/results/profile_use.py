# SPDX-License-Identifier: Apache-2.0
"""Counts the results of a backend that depend on the exclusions and overrides of its profile."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import line

if TYPE_CHECKING:
    from onnx_conformance.base.verdict import Result

MOST_TEXTS = 64
"""Maximum number of reasons that are counted separately."""
OTHERS = "other reasons"


class ProfileUse:
    """The counts of one backend.

    Attributes:
        excluded: by reason, the number of failures that an exclusion accepts.
        overridden: by override, the number of passes that need it.
    """

    def __init__(self) -> None:
        """Start without results."""
        self.excluded: Counter[str] = Counter()
        self.overridden: Counter[str] = Counter()

    def add(self, result: Result) -> None:
        """Count a result."""
        for counts, text in ((self.excluded, result.excluded), (self.overridden, result.override)):
            if text:
                key = line(text, 600)
                counts[key if key in counts or len(counts) < MOST_TEXTS else OTHERS] += 1

    @property
    def numbers(self) -> dict[str, int]:
        """The two sums, without those that are 0."""
        sums = {"excluded": self.excluded.total(), "overridden": self.overridden.total()}
        return {name: count for name, count in sums.items() if count}
