# SPDX-License-Identifier: Apache-2.0
"""Counts the results of a backend that depend on the exclusions, overrides and bounds of its profile."""

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
        exceeded: by bound, the number of passes that exceed it.
    """

    def __init__(self) -> None:
        """Start without results."""
        self.excluded: Counter[str] = Counter()
        self.overridden: Counter[str] = Counter()
        self.exceeded: Counter[str] = Counter()

    def add(self, result: Result) -> None:
        """Count a result."""
        for counts, text in (
            (self.excluded, result.excluded),
            (self.overridden, result.override),
            (self.exceeded, result.exceeded),
        ):
            if text:
                key = line(text, 600)
                counts[key if key in counts or len(counts) < MOST_TEXTS else OTHERS] += 1

    @property
    def numbers(self) -> dict[str, int]:
        """The sums, without those that are 0."""
        sums = {name: getattr(self, name).total() for name in ("excluded", "overridden", "exceeded")}
        return {name: count for name, count in sums.items() if count}
