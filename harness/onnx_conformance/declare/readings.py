"""The register of readings: decisions taken once where ONNX's texts leave the same word open in many operators.

An oracle names a reading where its answer rests on it (`v.reads(READING, when)`); the cases that do are marked with its
number, and `run --without-reading NUMBER` leaves them unscored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.base.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Reading:
    """One decision.

    Attributes:
        number: R1, R2, ...; never given to another one.
        question: what the texts leave open.
        answer: ours.
        reason: why.
        see: links to its discussion.
    """

    number: str
    question: str
    answer: str
    reason: str
    see: tuple[str, ...] = ()


ONE_ELEMENT = Reading(
    "R1",
    "Where a text asks for a scalar and does not name its shape, does a tensor of shape [1] do?",
    "Yes. Where the text names the shape (`tensor of empty shape`, `0-D tensor`), it does not.",
    "It can mean nothing else. Official cases of NonMaxSuppression and QLinearMatMul have it, and the function body of "
    "Attention hands Pad such a value.",
    ("https://github.com/onnx/onnx/pull/2224", "https://github.com/onnx/onnx/pull/5617"),
)
SUBNORMAL = Reading(
    "R2",
    "May a subnormal number be taken for zero?",
    "No: it is a number as any other.",
    "The types of ONNX are those of IEEE 754, whose arithmetic has subnormal numbers; no text allows to flush them. "
    "Processors and compilers do so in fast modes.",
)
DOUBLE = Reading(
    "R3",
    "May an operator compute doubles in single precision?",
    "No: the result has the precision of its type.",
    "A formula on doubles is one of doubles. Where a text computes in another type than that of the operands, it says "
    "so, as LayerNormalization does.",
)
REAL_NUMBERS = Reading(
    "R4",
    "Is a formula one of real numbers, or are its steps rounded to the type of the operands, where they may overflow?",
    "Of real numbers: a step that overflows, or is rounded across a limit, does not excuse another answer. How far the "
    "roundings of a careful evaluation may move it is the operator's tolerance; where ONNX gives a function body that "
    "errs by more, the body's error is allowed as well.",
    "No formula names a type, and texts that compute in one say so (stash_type, softmax_precision). Official cases of "
    "Softmax, LogSoftmax and ReduceLogSumExp have elements whose exponentials overflow.",
)
NAN = Reading(
    "R5",
    "What does a comparison with NaN yield where the text does not mention NaN?",
    "A comparison of two numbers is that of IEEE 754: false, and true for unequal. Where a text asks for the greatest, "
    "the smallest or an order, of which NaN has no place, the answer is open.",
    "IEEE 754 has several functions for the greatest of two, which differ in NaN, and runtimes have each of them.",
    ("https://github.com/onnx/onnx/issues/4716", "https://github.com/onnx/onnx/issues/6003"),
)
SHOULD = Reading(
    "R6",
    "May a runtime do otherwise where a text says should?",
    "It may run what the text says should not be: that is `lenient`, and never scored. A runtime that refuses does as "
    "the text says.",
    "Standards distinguish must and should (RFC 2119); ONNX's texts use both without a definition.",
    ("https://github.com/onnx/onnx/issues/5573",),
)
SET = Reading(
    "R7",
    "In which order are the elements of what a text calls a set, or leaves unsorted?",
    "In any: the answer is equal as a set.",
    "A set has no order. The text decides which elements there are, and which of several outputs belong together.",
)
OWN_FORMULA = Reading(
    "R8",
    "A version writes a formula otherwise than the next one, which does not tell of a change: which one is meant?",
    "Its own, as it stands there.",
    "A version is what its own text says. But GRU, LSTM and RNN multiply by R before version 7 and by R^T since, W is "
    "transposed in both, and runtimes apply the newer formula to all versions: the older one may be a slip.",
)
READINGS = {
    reading.number: reading for reading in (ONE_ELEMENT, SUBNORMAL, DOUBLE, REAL_NUMBERS, NAN, SHOULD, SET, OWN_FORMULA)
}
"""All of them, by number."""


class ReadingError(HarnessError):
    """There is no reading of this number."""


def named(numbers: Iterable[str]) -> frozenset[str]:
    """Return the numbers of readings.

    Raises:
        ReadingError: one of them is none.
    """
    for number in numbers:
        if number not in READINGS:
            raise ReadingError(f"no reading {number[:40]!r}; there are {', '.join(READINGS)}")
    return frozenset(numbers)


def sentence(number: str) -> str:
    """Return a reading in one sentence, for those who read a case that rests on it."""
    reading = READINGS.get(number)
    return f"{number}: {reading.question} {reading.answer}" if reading else number
