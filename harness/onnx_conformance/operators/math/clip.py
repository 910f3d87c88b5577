# SPDX-License-Identifier: Apache-2.0
"""Clip: replace elements below a minimum or above a maximum by that bound.

    output = Clip(input, min=None, max=None)

Versions: 1 (bounds as attributes), 6 (defaults for them), 11 (bounds as inputs), 12 (integers), 13 (bounds that cross;
bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Result, Tag, Version, every_value, extremes, ramp, typed, vary
from onnx_conformance.declare.data import FLOATS as FLOAT_TYPES
from onnx_conformance.declare.sizes import LARGE, LENGTHS, filled, grid

CLIP = Op("Clip", versions=(1, 6, 11, 12, 13), compare=EXACT, rank="input")
CLIP.example(input=ramp(2, 3), min=1.0, max=3.0, consumed_inputs=[0])

LIMITS = CLIP.clause(
    "Clip operator limits the given input within an interval.",
    note="The text does not define the result for a bound of NaN, or for an element of +0 and a bound of -0.",
    see=("https://github.com/onnx/onnx/issues/6003", "https://github.com/apache/tvm/issues/19533"),
)
BY_ARGUMENTS = CLIP.clause("The interval is specified with arguments 'min' and 'max'.", before=11)
BY_INPUTS = CLIP.clause("The interval is specified by the inputs 'min' and 'max'.", since=11)
DEFAULTS = CLIP.clause(
    "They default to numeric_limits::lowest() and numeric_limits::max(), respectively.",
    note="By this sentence an infinity becomes the greatest number. The body of version 13 does not change it, "
    "and the text does not define the type of the limits. onnxruntime and onnx.reference differ.",
).reworded(
    before=11,
    text="They default to numeric_limits::lowest() and numeric_limits::max() respectively.",
    note="If elements are floats, as the bounds are, infinities are beyond these limits. In version 6 the signature "
    "states the limits as numbers, those of float, for doubles too. Version 1 does not define their type. No version "
    "defines the limit of float for elements of type float16.",
)
UNDER = CLIP.clause(
    "Minimum value, under which element is replaced by min", note="NaN is not under the minimum, so it is not replaced."
)
ABOVE = CLIP.clause(
    "Maximum value, above which element is replaced by max", note="NaN is not above the maximum, so it is not replaced."
)
SCALAR = CLIP.clause("It must be a scalar(tensor of empty shape).", since=11)
CLIP.dispute(
    "The function body of onnx uses Less of opset 13, which does not support bfloat16.",
    "dtypes_min",
    "dtypes_max",
    "dtypes_crossed",
    "fractions_bfloat16",
    "extremes_bfloat16",
)
CROSSED = CLIP.clause(
    "When 'min' is greater than 'max', the clip operator sets all the 'input' values to the value of 'max'.",
    since=13,
    see=("https://github.com/onnx/onnx/issues/6165", "https://github.com/onnx/onnx/pull/6395"),
)
EQUIVALENT = CLIP.clause(
    "Thus, this is equivalent to 'Min(max, Max(input, min))'.",
    since=13,
    note="If the bounds cross, the preceding sentence defines the result for NaN; Min and Max do not.",
)
LEGACY = CLIP.clause("legacy optimization attribute.", before=6)
CLIPPED = CLIP.clause("Output tensor with clipped input elements")
FLOATS = CLIP.clause("Constrain input and output types to float tensors.", before=12)

FLOAT_MAX = FLOAT_TYPES["float"].largest
"""numeric_limits<float>::max(), the default of the attribute in version 6."""


def _clipped(v: Version, elements: Array, low: Array | None, high: Array | None) -> Result:
    """Return each element, or the bound that it exceeds. A bound of None is not applied."""
    for bound in (low, high):
        if bound is not None:
            v.ordered(LIMITS, np.asarray(bound))
    if low is not None and high is not None and low > high:
        v.permit(CROSSED)
        return v.unordered(EQUIVALENT, np.isnan(elements), np.full_like(elements, high))
    if low is not None and high is not None and high != 0 and not _zeros_differ(elements, low).any():
        return v.compared(np.clip, elements, low, high)  # It may return either of two zeros.
    zeros = np.zeros(elements.shape, bool)
    if low is not None:
        zeros |= _zeros_differ(elements, low)
        elements = np.where(v.compared(np.less, elements, low), low, elements)
    if high is not None:
        zeros |= _zeros_differ(elements, high)
        elements = np.where(v.compared(np.greater, elements, high), high, elements)
    return v.leave_open(LIMITS, zeros, elements)


def _zeros_differ(elements: Array, bound: Array) -> Array:
    """Return the elements that are zeros, where the bound is a zero of the other sign."""
    zeros = np.asarray(elements == 0) if bound == 0 else np.zeros(elements.shape, bool)
    return zeros & (np.signbit(elements) != np.signbit(bound)) if zeros.any() else zeros


@CLIP.oracle(before=11)
def clipped_before_11(v: Version, input: Array, min: float | None, max: float | None) -> Result:
    """Return the elements limited by the attributes, which have defaults."""
    low = _limit(v, min, -FLOAT_MAX, beyond=bool((input < -FLOAT_MAX).any()))
    high = _limit(v, max, FLOAT_MAX, beyond=bool((input > FLOAT_MAX).any()))
    return _clipped(v, input, low, high)


def _limit(v: Version, bound: float | None, limit: float, *, beyond: bool) -> Array:
    """Return a bound, or the limit of float if it is omitted; where elements exceed that, its type matters."""
    v.silent(DEFAULTS, bound is None and beyond and v.dtypes["T"] != np.float32)
    v.silent(DEFAULTS, bound == limit and beyond and v.dtypes["T"] == np.float16)
    return np.asarray(limit if bound is None else bound)


@CLIP.oracle(since=11)
def clipped_since_11(v: Version, input: Array, min: Array | None, max: Array | None) -> Result:
    """Return the elements limited by the inputs. The result for an infinity without a bound is unspecified."""
    v.require(SCALAR, all(bound is None or bound.ndim == 0 for bound in (min, max)))
    infinite = np.zeros(input.shape, bool)
    for bound, infinity in ((min, -np.inf), (max, np.inf)):
        if bound is None:
            infinite |= input == infinity
    return v.leave_open(DEFAULTS, infinite, _clipped(v, input, min, max))


case = CLIP.case

MIXED = [[-3, 0.5, -1], [2, 7.25, -0.75]]

case("by_attributes", Tag.CHANGE, input=MIXED, min=-1.0, max=2.0, cites=(BY_ARGUMENTS, CLIPPED))
case("by_inputs", Tag.CHANGE, input=MIXED, min=-1.0, max=2.0, cites=(BY_INPUTS, CLIPPED))
BOUNDS: dict[str, dict[str, Any]] = {
    "both": {"min": -1.0, "max": 2.0},
    "min": {"min": -1.0},
    "max": {"max": 2.0},
    "neither": {},
}
for name, bounds in BOUNDS.items():
    cites = (LIMITS, UNDER) if "min" in bounds else (LIMITS, ABOVE)
    case(f"{name}_matrix", input=MIXED, **bounds, cites=cites)
    case(f"{name}_scalar", Tag.EDGE, input=-3.5, **bounds, cites=cites)
    case(f"{name}_one_element", Tag.EDGE, input=[5.5], **bounds, cites=cites)
    case(f"{name}_zero_size", Tag.EDGE, input=ramp(2, 0, 3), **bounds, cites=cites)
    case(f"{name}_rank4", input=np.arange(-60, 60).reshape(2, 3, 4, 5) / 8, **bounds, cites=cites)
    case(f"{name}_nan", Tag.EDGE, input=[np.nan, -3, 3], **bounds, cites=cites)
    case(f"{name}_subnormals", Tag.EDGE, input=[1e-45, -1e-45, 1e-40], **bounds, cites=cites)
    case(f"{name}_near_limits", Tag.EDGE, input=[FLOAT_MAX, -FLOAT_MAX], **bounds, cites=cites)
    if name == "both":
        continue
    infinite = [-np.inf, 1] if name == "max" else [np.inf, 1]
    case(f"{name}_infinity_before_11", Tag.EDGE, input=infinite, **bounds, before=11, cites=DEFAULTS)
    halves = typed("float16", infinite)
    case(f"{name}_infinite_halves", Tag.EDGE, input=halves, **bounds, before=11, unspecified=DEFAULTS)
    case(f"{name}_infinity_since_11", Tag.EDGE, input=infinite, **bounds, since=11, unspecified=DEFAULTS)
    wide = typed("double", [1e300, -1e300])
    doubles: dict[str, Any] = {bound: typed("double", value) for bound, value in bounds.items()}
    case(f"{name}_wide_before_6", Tag.EDGE, input=wide, **bounds, before=6, unspecified=DEFAULTS)
    case(f"{name}_wide_before_11", Tag.EDGE, input=wide, **bounds, since=6, before=11, cites=DEFAULTS)
    case(f"{name}_wide_since_11", Tag.EDGE, input=wide, **doubles, since=11, cites=DEFAULTS)
case("neither_before_11", input=MIXED, before=11, cites=DEFAULTS)
WIDE = typed("double", [-1e300, 1e300, 3.5e38, 5.0])
case("limits_as_bounds_wide", Tag.EDGE, input=WIDE, min=-FLOAT_MAX, max=FLOAT_MAX, before=11, cites=(UNDER, ABOVE))
ENDS_OF_FLOATS = typed("double", [FLOAT_MAX, -FLOAT_MAX, 1.0])
case("ends_of_floats_wide_before_11", Tag.EDGE, input=ENDS_OF_FLOATS, before=11, cites=DEFAULTS)
case("finite_halves_before_11", Tag.EDGE, input=typed("float16", [65504, -65504]), before=11, cites=DEFAULTS)
case("both_infinities", Tag.EDGE, input=[-np.inf, np.inf, 1], min=-1.0, max=2.0, cites=(UNDER, ABOVE))
case("bounds_infinite", Tag.EDGE, input=[-np.inf, np.inf, 1], min=-np.inf, max=np.inf, cites=LIMITS)
case("min_infinite", Tag.EDGE, input=[-np.inf, np.inf, 1], min=np.inf, max=np.inf, cites=UNDER)
case("max_minus_infinite", Tag.EDGE, input=[-np.inf, 3, 1], min=-np.inf, max=-np.inf, cites=ABOVE)
case("equal_bounds", Tag.EDGE, input=MIXED, min=0.5, max=0.5, cites=(UNDER, ABOVE))
case("on_the_bounds", Tag.EDGE, input=[-1, 2], min=-1.0, max=2.0, cites=(UNDER, ABOVE))
case(
    "just_beyond",
    Tag.EDGE,
    input=[np.nextafter(np.float32(2), np.float32(3)), 2, -1.0000001],
    min=-1.0,
    max=2.0,
    cites=ABOVE,
)
case("below_zero", Tag.EDGE, input=[-5, -1.5, 0, 4], min=-3.0, max=-1.0, cites=(UNDER, ABOVE))
case("negative_zero", Tag.EDGE, input=[-0.0, 0.0, -3], min=-1.0, max=2.0, cites=LIMITS)
case("zero_bound", Tag.EDGE, input=[0.0, -3, 3], min=0.0, cites=UNDER)
case("zero_bound_other", Tag.EDGE, input=[-0.0, 3], min=0.0, unspecified=LIMITS)
case("zero_max_other", Tag.EDGE, input=[0.0, -3], max=-0.0, unspecified=LIMITS)
case("crossed", Tag.CHANGE, input=MIXED, min=3.0, max=-2.0, cites=(CROSSED, EQUIVALENT))
case("crossed_infinities", Tag.CHANGE, input=[np.inf, -np.inf, 0], min=3.0, max=-2.0, cites=CROSSED)
case("crossed_nan", Tag.EDGE, input=[np.nan, 1], min=3.0, max=-2.0, since=13, unspecified=EQUIVALENT)
case("crossed_before_13", Tag.CHANGE, input=MIXED, min=3.0, max=-2.0, before=13, unspecified=CROSSED)
case("nan_min", Tag.EDGE, input=MIXED, min=np.nan, max=2.0, unspecified=LIMITS)
case("nan_max", Tag.EDGE, input=MIXED, min=-1.0, max=np.nan, unspecified=LIMITS)
case("consumed_inputs", input=MIXED, min=-1.0, max=2.0, consumed_inputs=[0], cites=LEGACY)

SHAPED = vary(vector=[1.0], matrix=[[1.0]], two=[1.0, 2.0], like_input=[1.0, 1.0, 1.0])
case("min_is", Tag.EDGE, input=ramp(3), min=SHAPED, since=11, rejects=SCALAR)
case("max_is", Tag.EDGE, input=ramp(3), max=SHAPED, since=11, rejects=SCALAR)
case("both_vectors", Tag.EDGE, input=ramp(3), min=[1.0], max=[2.0], since=11, rejects=SCALAR)

case("dtypes_min", Tag.DTYPE, each="T", input=ramp(6), min=2.0, since=13, cites=UNDER)
case("dtypes_max", Tag.DTYPE, each="T", input=ramp(6), max=4.0, since=13, cites=ABOVE)
case("dtypes_neither", Tag.DTYPE, each="T", input=ramp(6), since=13, cites=DEFAULTS)
case("dtypes_crossed", Tag.DTYPE, each="T", input=ramp(6), min=4.0, max=2.0, cites=CROSSED)
case("outside_before_6", Tag.DTYPE, outside="T", input=ramp(6), before=6, rejects=FLOATS)
for type_ in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    limits = np.iinfo(type_)
    low, high = int(limits.min), int(limits.max)
    hard = typed(type_, np.array([low, high, low + 1, high - 1, 5], type_))
    inner: dict[str, Any] = {
        "min": typed(type_, np.array(low + 1, type_)),
        "max": typed(type_, np.array(high - 1, type_)),
    }
    case(f"limits_{type_}", Tag.EDGE, input=hard, **inner, since=12, cites=(UNDER, ABOVE))
    case(f"limits_neither_{type_}", Tag.EDGE, input=hard, since=12, cites=DEFAULTS)
    case(f"outside_{type_}", Tag.CHANGE, input=hard, since=6, before=12, rejects=FLOATS)
for type_ in ("float16", "bfloat16", "double"):
    tenths: dict[str, Any] = {"min": typed(type_, -0.1), "max": typed(type_, 0.7)}
    case(f"fractions_{type_}", Tag.EDGE, input=typed(type_, [-0.1, -0.2, 0.1, 0.7, 0.75]), **tenths, since=13)
    case(f"extremes_{type_}", Tag.EDGE, input=typed(type_, extremes(11)), **tenths, since=13, cites=(UNDER, ABOVE))

for name, bounds in {"both": {"min": 1.0, "max": 6.0}, "min": {"min": 2.0}, "max": {"max": 5.0}}.items():
    CLIP.sized(
        name,
        grid(n=(*LENGTHS, *LARGE)[:: 2 if name == "both" else 6]),
        each="T" if name == "both" else None,
        cites=(LIMITS, BY_INPUTS),
        arguments={"input": filled("n", floats=(-3, 9), integers=(0, 9)), **bounds},
    )
CLIP.sized(
    "image",
    grid(b=(2,), c=(3, 17), h=(7,), w=(9, 32)),
    cites=(LIMITS, BY_INPUTS),
    arguments={"input": filled("b", "c", "h", "w", floats=(-3, 9)), "min": 0.0, "max": 6.0},
)
CLIP.every("every", each="T", cites=(UNDER, ABOVE), input=every_value(), min=3.0, max=100.0)
CLIP.every("every_min", each="T", cites=UNDER, input=every_value(), min=3.0)
CLIP.every("every_max", each="T", cites=ABOVE, input=every_value(), max=100.0)
CLIP.every("every_neither", each="T", cites=DEFAULTS, input=every_value())
