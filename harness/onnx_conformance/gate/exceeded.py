# SPDX-License-Identifier: Apache-2.0
"""The bounds of a profile that answers exceed, by operator version: each fails a run, although the cases pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.base.verdict import Result

MOST_LINES = 20
"""Maximum number of lines, each on an operator version and a bound."""


class Exceeded:
    """The passes of one backend that exceed a bound."""

    def __init__(self) -> None:
        """Start without results."""
        self._groups: dict[tuple[str, str], tuple[Result, int]] = {}
        """By operator version and bound, the simplest case and the number of cases."""

    def add(self, result: Result) -> None:
        """Count a result of this backend."""
        if not result.exceeded:
            return
        key = result.operator, result.exceeded
        example, count = self._groups.get(key, (result, 0))
        self._groups[key] = min(example, result, key=lambda item: item.as_example), count + 1

    def lines(self) -> Iterator[str]:
        """Yield a line for each operator version and bound, most cases first."""
        ordered = sorted(self._groups.items(), key=lambda item: (-item[1][1], item[0]))
        for (operator, bound), (example, count) in ordered[:MOST_LINES]:
            which = "1 passed case exceeds" if count == 1 else f"{count} passed cases exceed"
            yield (
                f"{line(operator)}: {which} the bound {line(bound, 600)}; such as {line(example.case)}: "
                f"{line(example.message, 600)}"
            )
        if rest := ordered[MOST_LINES:]:
            yield f"and {sum(count for _, (_, count) in rest)} more passed cases exceed a bound"
