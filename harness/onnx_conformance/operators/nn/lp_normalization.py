# SPDX-License-Identifier: Apache-2.0
"""LpNormalization: divide by the L1 or L2 norm along an axis.

    output = LpNormalization(input, axis=-1, p=2)

Versions: 1, 22 (bfloat16).
"""

from __future__ import annotations

import math

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, axes, axes_outside, bounded, ramp, typed, vary
from onnx_conformance.declare.data import FLOATS, waves
from onnx_conformance.declare.families.elementwise import float_types
from onnx_conformance.declare.families.sums import largest, roundings
from onnx_conformance.declare.readings import REAL_NUMBERS
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.nn._sizes import ROWS


def _quotient(input: Array, axis: int, p: int) -> Array:
    """Return the input divided by its norm, 0 if the norm is 0.

    Input and norm are first divided by the greatest magnitude.
    """
    magnitudes = np.abs(input)
    greatest = magnitudes.max(axis, keepdims=True, initial=0)
    scale = np.where((greatest > 0) & np.isfinite(greatest), greatest, 1)
    norm = ((magnitudes / scale) ** p).sum(axis, keepdims=True) ** (1 / p)
    return np.asarray(np.where(norm == 0, 0, input / scale / norm))


def _rounding(input: Array, axis: int, p: int) -> list[Array]:
    """Return the errors relative to the quotient. The root halves the errors of powers and sum.

    The root and the quotient add one error each.
    """
    with np.errstate(all="ignore"):
        relative = roundings(input.shape[axis]) / 2 + 3
        return [np.abs(_quotient(input.astype(np.float64), axis, p)) * relative]


NORMALIZATION = Op(
    "LpNormalization",
    versions=(1, 22),
    compare=bounded(
        _rounding, "each addition rounds by half an epsilon; powers, root and quotient round once each"
    ).limited(-1, 1),
    rank="input",
)
NORMALIZATION.example(input=waves(2, 3))

APPLIED = NORMALIZATION.clause(
    "Given a matrix, apply Lp-normalization along the provided axis.",
    note="The text does not define inputs of rank 0, and does not forbid other ranks: the official cases have more "
    "than two.",
)
FORMULA = NORMALIZATION.clause("`output = input / Lp_norm(input, axis)`.")
ZERO = NORMALIZATION.clause(
    "When the Lp norm is zero (i.e., all elements along the axis are zero), the output is defined to be zero to avoid "
    "division by zero."
)
ORDER = NORMALIZATION.clause("The order of the normalization, only 1 or 2 are supported.")
AXIS = NORMALIZATION.clause(
    "The axis on which to apply normalization, -1 mean last axis.",
    note="The text defines only one negative number, -1.",
)


@NORMALIZATION.oracle()
def normalized(v: Version, input: Array, axis: int, p: int) -> Array:
    """Return the input divided by its norm along the axis, 0 where the norm is 0."""
    v.silent(APPLIED, input.ndim == 0)
    v.require(ORDER, p in {1, 2})
    v.require(AXIS, axis < input.ndim)
    v.silent(AXIS, axis < -1)
    magnitudes = np.abs(input.astype(np.float64))
    powers = magnitudes[np.isfinite(magnitudes) & (magnitudes > 0)]
    with np.errstate(all="ignore"):
        v.reads(REAL_NUMBERS, bool((np.abs(p * np.log(powers)) > math.log(largest(v.dtypes["T"]))).any()))
        return _quotient(input.astype(np.float64), axis, p)


case = NORMALIZATION.case
MATRIX = waves(3, 4)

case("matrix", input=MATRIX, cites=(APPLIED, FORMULA))
for order in (1, 2):
    case(f"p_{order}", input=MATRIX, p=order, cites=(ORDER, FORMULA))
    for axis in (-1, 0, 1):
        name = f"p_{order}_axis_{axis}".replace("-", "minus_")
        case(name, input=MATRIX, p=order, axis=axis, cites=(AXIS, FORMULA))
case("default_is_2", input=[[3, 4], [5, -12]], cites=FORMULA)
case("default_is_last", input=[[3, 4, 1], [-3, -2, 5]], p=1, cites=AXIS)
case("below_zero", input=-np.abs(MATRIX), p=1, cites=FORMULA)
case("p", Tag.EDGE, input=MATRIX, p=vary(zero=0, three=3, negative=-1, large=100), rejects=ORDER)

for name, shape, axis in axes():
    if axis >= -1:
        case(name, Tag.AXIS, input=waves(*shape), axis=axis, cites=AXIS)
    else:
        case(name, Tag.AXIS, input=waves(*shape), axis=axis, unspecified=AXIS)
for name, shape, axis in axes_outside():
    if shape and axis > 0:
        case(name, Tag.AXIS, input=waves(*shape), axis=axis, rejects=AXIS)
    elif shape:
        case(name, Tag.AXIS, input=waves(*shape), axis=axis, unspecified=AXIS)
case("far_too_high", Tag.AXIS, input=MATRIX, axis=7, rejects=AXIS)
case("rank0", Tag.EDGE, input=2.5, unspecified=APPLIED)
case("rank0_first", Tag.EDGE, input=2.5, axis=0, unspecified=APPLIED)

for order in (1, 2):
    zeros = [[0.0, 0.0, 0.0], [-0.0, 0.0, -0.0], [0.0, -2, 0.0], [-0.0, -0.0, -0.0]]
    case(f"zeros_p_{order}", Tag.EDGE, input=zeros, p=order, cites=ZERO)
    case(f"zeros_first_axis_p_{order}", Tag.EDGE, input=[[0, 1, -3], [0, 4, 0]], p=order, axis=0, cites=ZERO)
    case(
        f"infinities_p_{order}",
        Tag.EDGE,
        input=[[1, np.inf, 0], [-np.inf, 3, 4], [np.inf, 5, -np.inf], [6, 7, 8]],
        p=order,
        cites=FORMULA,
    )
    nan = [[np.nan, 1, 2], [3, 0, np.nan], [0, np.nan, 0], [5, 6, 8], [np.inf, np.nan, 1]]
    case(f"nan_p_{order}", Tag.EDGE, input=nan, p=order, cites=FORMULA)
case("one_element", Tag.EDGE, input=[[-7.5]], cites=FORMULA)
case("size_one", Tag.EDGE, input=[[-7.5], [0], [3e4]], cites=FORMULA)
case("axis_zero_size", Tag.EDGE, input=ramp(3, 0), cites=APPLIED)
case("other_zero_size", Tag.EDGE, input=ramp(0, 3), cites=APPLIED)
case("inner_zero_size", Tag.EDGE, input=ramp(2, 3, 0), axis=1, cites=APPLIED)
case("long", input=np.cos(np.arange(600.0)).reshape(2, 300), p=1, cites=FORMULA)
case("dtypes", Tag.DTYPE, each="T", input=MATRIX, p=1, axis=0, cites=FORMULA)
for type_, since in float_types(22).items():
    limits = FLOATS[type_]
    large = typed(type_, [[limits.largest / 4, -limits.largest / 2, 0]])
    small = typed(type_, [[limits.smallest_normal * 3, -limits.smallest_normal * 4, 0]])
    for order in (1, 2):
        case(f"large_p_{order}_{type_}", Tag.EDGE, input=large, p=order, since=since, cites=FORMULA)
        case(f"small_p_{order}_{type_}", Tag.EDGE, input=small, p=order, since=since, cites=FORMULA)
    thousands = typed(type_, np.full((1, 4096), 0.5))
    case(f"thousands_{type_}", Tag.EDGE, input=thousands, p=1, since=since, cites=FORMULA)

for order in (1, 2):
    for name, (dims, sizes) in ROWS.items():
        of_rows = {"input": filled(*dims), "p": order}
        NORMALIZATION.sized(f"{name}_p_{order}", sizes[order::2] or sizes, each="T", cites=FORMULA, arguments=of_rows)
    columns = {"input": filled("m", "n"), "p": order, "axis": 0}
    NORMALIZATION.sized(f"columns_p_{order}", ROWS["rows"][1][1::3], cites=(FORMULA, AXIS), arguments=columns)
