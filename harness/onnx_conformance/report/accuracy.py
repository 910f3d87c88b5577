# SPDX-License-Identifier: Apache-2.0
"""The results of `accuracy` as tables on a terminal of 80 columns, and the comparison of two results."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.base.verdict import line
from onnx_conformance.verification.accuracy.accumulators import NAMES
from onnx_conformance.verification.accuracy.measured import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onnx_conformance.verification.accuracy.measured import Accumulator, Accuracy, Elementwise, Growth, LeftOut

WIDTH = 80
MOST_ROWS = 20
"""The number of rows of a table without --all."""
MOST_NOTES = 5
"""The number of functions that a note names."""
MOST_INPUT = 13
"""The width of an input in a table; a float has at most so many characters."""
SHOWN_TERMS = (16, 16384)
"""The numbers of terms in the table; JSON has all."""


def lines(of: Accuracy, *, everything: bool = False) -> Iterator[str]:
    """Yield the lines of a report: elementwise functions, operators with many terms, and those that were not measured.

    Args:
        of: the results.
        everything: whether to show all rows.
    """
    yield from _wrapped(f"{of.label}: largest errors, in ULP from the exact result")
    for note in of.notes:
        yield from _wrapped(note)
    yield ""
    if of.elementwise:
        yield from _functions(of.elementwise, everything=everything)
        yield ""
    if of.growth:
        yield from _sums(of.growth)
        yield ""
    yield from _left_out(of.left_out)


def worst_first(rows: Iterable[Elementwise]) -> list[Elementwise]:
    """Return functions in the order of their largest errors."""
    return sorted(rows, key=lambda row: (-row.ulp, row.operator, row.type))


def number(value: float) -> str:
    """Return an error with few digits."""
    if math.isinf(value):
        return "inf"
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}" if value < 1e6 else f"{value:.1e}"  # noqa: PLR2004


def _functions(rows: Sequence[Elementwise], *, everything: bool) -> Iterator[str]:
    ordered = worst_first(rows)
    shown = ordered if everything else ordered[:MOST_ROWS]
    heads = ["function", "type", "max", "99 %", "median", "of bound", "at input"]
    cells = [
        [
            name_of(row.operator, row.attributes),
            row.type,
            "special" if row.special_count else number(row.ulp),
            number(row.normal.percentile) if row.normal else "",
            number(row.normal.median) if row.normal else "",
            number(row.of_bound),
            _short(row.special[0].input if row.special else row.normal.worst.input if row.normal else ""),
        ]
        for row in shown
    ]
    align = ("left", "left", "right", "right", "right", "right", "right")
    yield tabulate(cells, heads, disable_numparse=True, colalign=align)
    if len(shown) < len(ordered):
        yield from _wrapped(f"and {len(ordered) - len(shown)} more with smaller errors; --all shows them")
    right = sum(row.ulp <= HALF for row in ordered)
    yield from _wrapped(
        f"{right} of {len(ordered)} are correctly rounded for all inputs. of bound: the largest error as a multiple of "
        "the one that the suite allows."
    )
    yield from _notes(ordered)


HALF = 0.5
"""The largest error of a correctly rounded result."""


def _short(text: str) -> str:
    return text if len(text) <= MOST_INPUT else f"{text[: MOST_INPUT - 3]}..."


def _notes(rows: Sequence[Elementwise]) -> Iterator[str]:
    """Yield sentences about special values, the order of results, and subnormal numbers."""
    special = sorted((row for row in rows if row.special_count), key=lambda row: -row.special_count)
    if special:
        yield ""
        yield "Special values: the result for these inputs is wrong"
        for row in special[:MOST_NOTES]:
            one = row.special[0]
            yield from _item(
                f"{_label(row)}: {_count(row.special_count, 'input')}, such as {one.input}: "
                f"expected {one.expected}, actual {one.actual}"
            )
        yield from _more(special)
    disordered = sorted((row for row in rows if row.disorder_count), key=lambda row: -row.disorder_count)
    if disordered:
        yield ""
        yield "Not monotonic: neighbouring inputs have results in the wrong order"
        for row in disordered[:MOST_NOTES]:
            one, other = row.disorder[0]
            yield from _item(
                f"{_label(row)}: {_count(row.disorder_count, 'pair')}, such as {one.input} -> {one.actual}, "
                f"{other.input} -> {other.actual}"
            )
        yield from _more(disordered)
    flushed = sorted((row for row in rows if row.flushed), key=lambda row: -row.flushed)
    if flushed:
        yield ""
        yield "Subnormal results that are flushed to zero"
        names = ", ".join(f"{_label(row)} ({row.flushed:,})" for row in flushed[: 2 * MOST_NOTES])
        others = len(flushed) - 2 * MOST_NOTES
        yield from _item(names + (f", and {others} more" if others > 0 else ""))
    unknown = sum(row.unknown for row in rows)
    if unknown:
        yield ""
        yield from _wrapped(f"{_count(unknown, 'input')} not judged: the exact result needs more digits than float64")


def _label(row: Elementwise) -> str:
    return f"{name_of(row.operator, row.attributes)} {row.type}"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _more(rows: Sequence[Elementwise]) -> Iterator[str]:
    if len(rows) > MOST_NOTES:
        yield from _item("also " + ", ".join(_label(row) for row in rows[MOST_NOTES:]))


def _sums(rows: Sequence[Growth]) -> Iterator[str]:
    heads = ["many terms", "type", *(f"K={count:,}" for count in SHOWN_TERMS), "grows", "adds in", "order"]
    cells = [
        [
            name_of(row.operator, {}).replace("Normalization", "Norm."),
            row.type,
            *(number(next(item.ulp for item in row.terms if item.terms == count)) for count in SHOWN_TERMS),
            "" if row.exponent is None else f"K^{row.exponent:.1f}",
            adds_in(row.accumulator, row.type),
            row.accumulator.order if row.accumulator else "",
        ]
        for row in sorted(rows, key=lambda row: (-max(item.ulp for item in row.terms), row.operator, row.type))
    ]
    align = ("left", "left", "right", "right", "right", "right", "left", "left")
    yield tabulate(cells, heads, disable_numparse=True, colalign=align)
    yield from _wrapped(
        "K: the number of terms of each result. An error of about 0.5 at every K shows that the sum is rounded once, "
        "from a wider accumulator. Errors of normalizations whose results have both signs are in ULP of the largest "
        "result."
    )


def adds_in(accumulator: Accumulator | None, type_: str) -> str:
    """Return the name of the type in which a runtime adds."""
    if accumulator is None:
        return ""
    if accumulator.bits is None:
        return "wider"
    if accumulator.bits == 11 and type_ == "float":  # noqa: PLR2004 - the bits of both formats
        return "tf32"
    return NAMES.get(accumulator.bits, f"{accumulator.bits} bits")


def _left_out(rows: Sequence[LeftOut]) -> Iterator[str]:
    """Yield the reasons for which functions are left out, the most frequent first."""
    if not rows:
        return
    yield f"Not measured: {len(rows)}"
    for reason, count in Counter(row.reason for row in rows).most_common(MOST_NOTES):
        names: dict[str, list[str]] = {}
        for row in rows:
            if row.reason == reason:
                names.setdefault(row.type, []).append(name_of(row.operator, row.attributes))
        each = "; ".join(f"{type_}: {', '.join(found)}" for type_, found in names.items())
        yield from _item(f"{count} {line(reason, 160)} ({line(each, 300)})")


def _wrapped(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, WIDTH, break_on_hyphens=False)


def _item(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


FACTOR, STEP = 1.25, 0.25
"""A largest error changes if it differs by this factor, and by this number of ULP: the search draws its inputs."""


@dataclass(frozen=True)
class Change:
    """A change of the accuracy of a function, or of an operator with many terms.

    Attributes:
        name: its name, and that of the type.
        before: the largest error before.
        after: the largest error after.
        input: the input of the larger one; empty for many terms.
        reason: why it is a change if it is not the largest error.
    """

    name: str
    before: float
    after: float
    input: str
    reason: str = ""

    @property
    def worse(self) -> bool:
        """Whether it became less accurate."""
        return bool(self.reason) or self.after > self.before


def changes(old: Accuracy, new: Accuracy) -> list[Change]:
    """Return the functions that became less or more accurate, the largest change first."""
    found: list[Change] = []
    before = {(name_of(row.operator, row.attributes), row.type): row for row in old.elementwise}
    for row in new.elementwise:
        key = (name_of(row.operator, row.attributes), row.type)
        if key in before:
            found += _change(" ".join(key), before[key], row)
    sums = {(name_of(row.operator, {}), row.type): row for row in old.growth}
    for other in new.growth:
        key = (name_of(other.operator, {}), other.type)
        if key in sums:
            was, now = (max(item.ulp for item in each.terms) for each in (sums[key], other))
            if _differs(was, now):
                found.append(Change(" ".join(key), was, now, "many terms"))
    return sorted(found, key=lambda item: -_size(item))


def _size(item: Change) -> float:
    if math.isinf(item.before) or math.isinf(item.after):
        return math.inf
    return abs(math.log(max(item.after, STEP) / max(item.before, STEP)))


def _change(name: str, old: Elementwise, new: Elementwise) -> Iterator[Change]:
    was, now = old.ulp, new.ulp
    if _differs(was, now):
        larger = new if now > was else old
        place = larger.special[0].input if larger.special else larger.normal.worst.input if larger.normal else ""
        yield Change(name, was, now, place)
    elif new.disorder_count and not old.disorder_count:
        yield Change(name, was, now, new.disorder[0][0].input, "no longer monotonic")


def _differs(was: float, now: float) -> bool:
    low, high = sorted((was, now))
    return low != high and high > low * FACTOR and high > low + STEP


def comparison(old: Accuracy, new: Accuracy) -> Iterator[str]:
    """Yield the lines of a comparison of two runtimes, or of two versions of one."""
    found = changes(old, new)
    both = {(row.operator.split("/")[1], row.type) for row in old.elementwise} & {
        (row.operator.split("/")[1], row.type) for row in new.elementwise
    }
    yield from _wrapped(f"{old.label} -> {new.label}: largest errors in ULP, {len(both)} functions and types in both")
    yield ""
    if not found:
        yield "no function became more or less accurate"
        return
    cells = [
        [
            "worse" if item.worse else "better", item.name, _ulp(item.before), _ulp(item.after),
            f"{_short(item.input)} {item.reason}".strip(),
        ]
        for item in sorted(found, key=lambda item: not item.worse)
    ]  # fmt: skip
    heads = ["", "function", "before", "after", "at input"]
    yield tabulate(cells, heads, disable_numparse=True, colalign=("left", "left", "right", "right", "left"))


def _ulp(value: float) -> str:
    return "special" if math.isinf(value) else number(value)
