# SPDX-License-Identifier: Apache-2.0
"""The operators that a runtime does not support, and its reasons."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.base.signature import masked
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.report.html.verdict_styles import NUMBER

if TYPE_CHECKING:
    from onnx_conformance.report.html.table import Column, Table
    from onnx_conformance.report.site.results import Operator

UNSUPPORTED = NUMBER[Verdict.UNSUPPORTED]
MOST_REASONS = 40


@dataclass(frozen=True)
class Reason:
    """A reason, without the parts that differ from case to case.

    Attributes:
        text: the message, with `#` in place of numbers and names.
        count: number of cases.
        example: one original message.
    """

    text: str
    count: int
    example: str


@dataclass(frozen=True)
class OptOuts:
    """The unsupported cases of a runtime.

    Attributes:
        reasons: most frequent first, at most MOST_REASONS.
        further: number of cases with other reasons.
        whole: operators without supported cases.
        partly: operators with some unsupported cases: number of unsupported cases, and number of cases.
    """

    reasons: tuple[Reason, ...]
    further: int
    whole: tuple[Operator, ...]
    partly: tuple[tuple[Operator, int, int], ...]


def of_column(table: Table, column: Column, operators: tuple[Operator, ...], absent: int) -> OptOuts:
    """Return the unsupported cases of a column of a table.

    Args:
        table: the results.
        column: a column of the table.
        operators: all operators.
        absent: the number that means "no result".
    """
    texts = list(table.message_texts)
    reasons: Counter[str] = Counter()
    examples: dict[str, str] = {}
    whole, partly = [], []
    for operator in operators:
        out = there = 0
        for case in operator.cases:
            there += column.verdicts[case] != absent
            if column.verdicts[case] == UNSUPPORTED:
                out += 1
                text = texts[column.messages[case]] if column.messages[case] >= 0 else ""
                reason = masked(text) or "no reason"
                reasons[reason] += 1
                examples.setdefault(reason, text)
        if out and out == there:
            whole.append(operator)
        elif out:
            partly.append((operator, out, there))
    shown = tuple(Reason(text, count, examples[text]) for text, count in reasons.most_common(MOST_REASONS))
    partly.sort(key=lambda item: (-item[1], item[0].name))
    return OptOuts(shown, reasons.total() - sum(reason.count for reason in shown), tuple(whole), tuple(partly))
