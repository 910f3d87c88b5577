# SPDX-License-Identifier: Apache-2.0
"""Tensors that are quantized with one scale: the sentences on scales and zero points, and rounding to integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.families.quantization import quantized
from onnx_conformance.declare.op import Tag
from onnx_conformance.declare.readings import NEAREST_INTEGER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.declare import Array, Clause, Op, Result, Version

EPSILON = 2.0**-23
"""The distance from 1 to the next number of float32, the type of all scales."""
OF_ONE = "The text does not define whether a tensor of shape [1] counts as a scalar."


@dataclass(frozen=True)
class Scaled:
    """The sentences on the scale and on the zero point of one tensor.

    Attributes:
        scale: the sentence on the scale.
        zero_point: the sentence on the zero point.
    """

    scale: Clause
    zero_point: Clause

    def parameters(self, v: Version, scale: Array, zero_point: Array | None) -> tuple[Array, Array]:
        """Return the scale and the zero point as doubles of rank 0. An omitted zero point is 0.

        Raises:
            Rejected: one of them is not a scalar.
        """
        of_all = _scalar(v, self.scale, scale)
        return of_all, np.zeros(()) if zero_point is None else _scalar(v, self.zero_point, zero_point)


def _scalar(v: Version, clause: Clause, value: Array) -> Array:
    """Return a value as a double of rank 0; it is open whether a tensor of shape [1] is a scalar."""
    v.silent(clause, value.shape == (1,))
    v.require(clause, value.ndim == 0)
    return value.astype(np.float64)


def scaled(op: Op, scale: str, zero_point: str) -> Scaled:
    """Declare the sentences on the scale and the zero point of a tensor, in the words that most operators share.

    Args:
        op: the operator.
        scale: the first words of the sentence on the scale: "Input A's scale."
        zero_point: the first words of the sentence on the zero point: "Input A zero point."
    """
    per_tensor = "It's a scalar, which means a per-tensor/layer quantization."
    return Scaled(
        op.clause(f"{scale} {per_tensor}", note=OF_ONE),
        op.clause(f"{zero_point} Default value is 0 if it's not specified. {per_tensor}", note=OF_ONE),
    )


def usable(of_results: Array, others: Array) -> bool:
    """Return whether all scales are finite and the scale of the results, by which they are divided, is not 0.

    Args:
        of_results: the scale of the results.
        others: the product or the sum of all other factors.
    """
    return bool(of_results != 0 and np.isfinite(of_results) and np.isfinite(others))


def positive(scales: tuple[Array, ...]) -> bool:
    """Return whether all scales are finite and greater than 0."""
    return all(bool(scale > 0 and np.isfinite(scale)) for scale in scales)


def reads_nearest(v: Version, exact: Array, dtype: np.dtype[Any]) -> None:
    """Record the reading on rounding and saturation if the type does not have all exact results of the formula."""
    limits = np.iinfo(dtype)
    with np.errstate(invalid="ignore"):
        v.reads(NEAREST_INTEGER, bool(np.any(exact != np.clip(exact, limits.min, limits.max).astype(dtype))))


def rounded(v: Version, formula: Clause, quotient: Array, error: Array, zero: Array, dtype: np.dtype[Any]) -> Result:
    """Return saturate(round(quotient) + zero), rounded to nearest.

    At a tie, or if roundings of float32 can change an element, it may be any integer between.

    Args:
        v: the version.
        formula: the sentence that leaves ties and the precision open.
        quotient: the real results divided by their scale.
        error: how far the quotients of a careful implementation in float32 may be off; above 0 where a tie is open.
        zero: the zero point. If it is added first, the sum rounds, too.
        dtype: the type of the result.
    """
    reads_nearest(v, quotient + zero, dtype)
    apart = error + EPSILON * np.abs(zero)
    return quantized(v, formula, [quotient, quotient - apart, quotient + apart], zero, dtype)


def scale_cases(
    op: Op,
    call: dict[str, Any],
    tensors: Sequence[tuple[Scaled, str, str]],
    formula: Clause,
    required: tuple[str, ...] = (),
    *,
    only_positive: bool = False,
) -> None:
    """Declare the cases on the shapes and values of scales and zero points.

    Args:
        op: the operator.
        call: a valid call with all scales and zero points, in which each zero point changes the result.
        tensors: the sentences on a tensor, and the names of its scale and its zero point. The result is the last one.
        formula: the sentence on the results.
        required: the names of the zero points that a node must have.
        only_positive: whether a scale of 0 or below is open, because the text has no formula with the scales.
    """
    case = op.case
    for sentences, scale, zero_point in tensors:
        of_scale, of_zero = scale.lower(), zero_point.lower()
        case(f"{of_scale}_of_rank1", Tag.EDGE, **call | {scale: [call[scale]]}, unspecified=sentences.scale)
        case(f"{of_scale}_of_two", Tag.EDGE, **call | {scale: [call[scale]] * 2}, rejects=sentences.scale)
        case(f"{of_scale}_of_rank2", Tag.EDGE, **call | {scale: [[call[scale]]]}, rejects=sentences.scale)
        case(f"{of_scale}_of_none", Tag.EDGE, **call | {scale: np.ones(0)}, rejects=sentences.scale)
        of_one = {zero_point: [call[zero_point]]}
        case(f"{of_zero}_of_rank1", Tag.EDGE, **call | of_one, unspecified=sentences.zero_point)
        case(f"{of_zero}_of_two", Tag.EDGE, **call | {zero_point: [call[zero_point]] * 2}, rejects=sentences.zero_point)
        if zero_point not in required:
            without = {name: value for name, value in call.items() if name != zero_point}
            case(f"{of_zero}_left_out", Tag.EDGE, **without, cites=sentences.zero_point)
        for name, number in {"infinite": np.inf, "nan": np.nan}.items():
            case(f"{of_scale}_{name}", Tag.EDGE, **call | {scale: number}, unspecified=formula)
    *inputs, (_, of_result, _) = tensors
    for _, scale, _ in inputs:
        decided: dict[str, Any] = {"unspecified": formula} if only_positive else {"cites": formula}
        case(f"{scale.lower()}_zero", Tag.EDGE, **call | {scale: 0}, **decided)
    case(f"{of_result.lower()}_zero", Tag.EDGE, **call | {of_result: 0}, unspecified=formula)
    for _, scale, _ in tensors if only_positive else ():
        case(f"{scale.lower()}_negative", Tag.EDGE, **call | {scale: -call[scale]}, unspecified=formula)
