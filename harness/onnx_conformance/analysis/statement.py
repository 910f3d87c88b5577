# SPDX-License-Identifier: Apache-2.0
"""A statement on the failures of an operator: the conditions that they share and its passes do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_conformance.base.verdict import Verdict


@dataclass(frozen=True)
class Statement:
    """One conjunction of conditions, and how well it fits the results of an operator on a backend.

    Attributes:
        backend: as in Result.
        operator: without its version, `ai.onnx/Split`.
        verdict: of the failures that it describes.
        conditions: the shared conditions: `keepdims=0`, `split is a scalar`; empty: every attempted case fails so.
        matched: failures of that verdict that meet the conditions.
        failing: all failures of that verdict.
        passing: passing cases that meet the conditions as well; 0 where the statement is exact.
        cases: ids of the matched failures, in order.
    """

    backend: str
    operator: str
    verdict: Verdict
    conditions: tuple[str, ...]
    matched: int
    failing: int
    passing: int
    cases: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether all failures of the verdict meet the conditions, and no passing case does."""
        return self.matched == self.failing and not self.passing

    def __str__(self) -> str:
        """Return it as a sentence: `fails exactly when keepdims=0 and split is a scalar (12 of 12; ...)`."""
        when = " and ".join(self.conditions)
        how = ("exactly " if self.exact else "") + (f"when {when}" if when else "whatever the case")
        others = (
            f"{self.passing} passing {'case matches' if self.passing == 1 else 'cases match'} too"
            if self.passing
            else "no passing case matches"
        )
        return f"{self.verdict} {how} ({self.matched} of {self.failing}; {others})"
