# SPDX-License-Identifier: Apache-2.0
"""The readings: decisions about questions that ONNX's texts leave open in many operators.

An oracle names each reading on which its answer rests (`v.reads(READING, when)`). The cases are marked with the number
of the reading, and `run --without-reading NUMBER` does not score them.
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
        number: R1, R2, ...; a number is never reused.
        question: the question that the texts leave open.
        answer: our answer.
        reason: the reason for the answer.
        see: links to the discussion.
        of_values: whether it decides only the values of outputs. A crash, a rejection, or another type or shape then
            does not depend on it.
    """

    number: str
    question: str
    answer: str
    reason: str
    see: tuple[str, ...] = ()
    of_values: bool = True


ONE_ELEMENT = Reading(
    "R1",
    "If a text requires a scalar and does not name its shape, is a tensor of shape [1] valid, too?",
    "Yes. If the text names the shape (`tensor of empty shape`, `0-D tensor`), it is not. If ONNX's shape inference "
    "rejects it, the result is unspecified.",
    "Such a tensor can have no other meaning. Official cases of NonMaxSuppression and QLinearMatMul contain one, and "
    "the function body of Attention passes such a value to Pad.",
    ("https://github.com/onnx/onnx/pull/2224", "https://github.com/onnx/onnx/pull/5617"),
    of_values=False,
)
SUBNORMAL = Reading(
    "R2",
    "May a runtime treat a subnormal number as zero?",
    "No. It is a number like any other.",
    "The types of ONNX are those of IEEE 754, whose arithmetic has subnormal numbers. No text permits flushing them to "
    "zero, which processors and compilers do in fast modes.",
)
DOUBLE = Reading(
    "R3",
    "May an operator compute doubles in single precision?",
    "No: the result has the precision of its type.",
    "A formula on doubles computes doubles. If a text computes in another type than that of the operands, it names the "
    "type, as LayerNormalization does.",
)
REAL_NUMBERS = Reading(
    "R4",
    "Does a formula compute real numbers, or are its steps rounded to the type of the operands, in which they may "
    "overflow?",
    "Real numbers. A step that overflows, or is rounded across a limit, does not excuse another answer. The operator's "
    "tolerance covers the roundings of a careful evaluation. If ONNX defines a function body with a larger error, that "
    "error is allowed as well.",
    "No formula names a type, and texts that compute in one name it (stash_type, softmax_precision). Official cases of "
    "Softmax, LogSoftmax and ReduceLogSumExp have elements whose exponentials overflow.",
)
NAN = Reading(
    "R5",
    "What is the result of a comparison with NaN if the text does not mention NaN?",
    "A comparison of two numbers is that of IEEE 754: true for unequal, false for all others. If a text asks for the "
    "greatest or smallest value or for an order, in which NaN has no place, the result is unspecified.",
    "IEEE 754 has several functions for the greater of two numbers, which treat NaN differently, and runtimes use "
    "different ones.",
    ("https://github.com/onnx/onnx/issues/4716", "https://github.com/onnx/onnx/issues/6003"),
)
SHOULD = Reading(
    "R6",
    "May a runtime deviate from a sentence with the word should?",
    "It may run a model that the text advises against: the verdict is `lenient`, which is never scored. A runtime that "
    "rejects the model follows the text.",
    "Standards distinguish must and should (RFC 2119); ONNX's texts use both without a definition.",
    ("https://github.com/onnx/onnx/issues/5573",),
    of_values=False,
)
SET = Reading(
    "R7",
    "In which order are the elements of an output that a text calls a set or does not sort?",
    "In any order: the answer is compared as a set.",
    "A set has no order. The text determines its elements, and which elements of several outputs belong together.",
)
OWN_FORMULA = Reading(
    "R8",
    "If the next version has another formula without mentioning a change, which formula applies to the older version?",
    "The formula in the text of the older version.",
    "The text of a version defines that version. But GRU, LSTM and RNN multiply by R before version 7 and by R^T since "
    "then, W is transposed in both, and runtimes apply the newer formula to all versions. The older one may be wrong.",
)
GIVEN_SCALE = Reading(
    "R9",
    "If a length is multiplied by an element of `scales` and rounded down, which scale do the formulas of coordinates "
    "contain: that element, or the ratio of the two lengths?",
    "That element.",
    "The text of Resize names both. With the ratio, the formula of half_pixel_symmetric would not be symmetric: its "
    "`output_width` is the element of `scales` times the input width, and it maps the centre to the centre only if the "
    "same scale divides the coordinates. The official cases continue with that element, too.",
)
NEAREST_INTEGER = Reading(
    "R10",
    "If a text quantizes a result, and does not mention rounding or the range of the type, which integer is correct?",
    "The nearest one that the type has, so a result beyond the range becomes its limit. At a tie, both neighbours are "
    "correct.",
    "A formula determines a real number, and the nearest number of the type has the smallest error. QuantizeLinear, "
    "whose text mentions both, rounds to nearest and saturates.",
)
READINGS = {
    reading.number: reading
    for reading in (
        ONE_ELEMENT,
        SUBNORMAL,
        DOUBLE,
        REAL_NUMBERS,
        NAN,
        SHOULD,
        SET,
        OWN_FORMULA,
        GIVEN_SCALE,
        NEAREST_INTEGER,
    )
}
"""All readings by number."""


class ReadingError(HarnessError):
    """There is no reading of this number."""


def named(numbers: Iterable[str]) -> frozenset[str]:
    """Return the numbers of readings.

    Raises:
        ReadingError: there is no reading of one of these numbers.
    """
    for number in numbers:
        if number not in READINGS:
            raise ReadingError("unknown-reading", f"no reading {number[:40]!r}; there are {', '.join(READINGS)}")
    return frozenset(numbers)


def sentence(number: str) -> str:
    """Return the question and the answer of a reading, to be shown with a case that rests on it."""
    reading = READINGS.get(number)
    return f"{number}: {reading.question} {reading.answer}" if reading else number
