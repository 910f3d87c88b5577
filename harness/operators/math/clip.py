"""Clip: elements kept within an interval.

Versions: 1 (bounds as attributes), 6 (their defaults), 11 (as inputs), 12 (integers), 13 (bounds that cross; bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, extremes, ramp, typed

CLIP = Op("Clip", versions=(1, 6, 11, 12, 13), compare=EXACT, rank="input")

LIMITS = CLIP.clause(
    "Clip operator limits the given input within an interval.",
    note="Says not what a bound of NaN is, nor which of +0 and -0 is within.",
)
BY_ARGUMENTS = CLIP.clause("The interval is specified with arguments 'min' and 'max'.", before=11)
BY_INPUTS = CLIP.clause("The interval is specified by the inputs 'min' and 'max'.", since=11)
DEFAULTS_OLD = CLIP.clause(
    "They default to numeric_limits::lowest() and numeric_limits::max() respectively.",
    before=11,
    note="Says not of which type: bounds are floats, elements may be doubles or of half the size.",
)
DEFAULTS = CLIP.clause(
    "They default to numeric_limits::lowest() and numeric_limits::max(), respectively.",
    since=11,
    note="An infinity would become the greatest number, but the function body of version 13 leaves it as it is, and of "
    "which type the limits are is not said. onnxruntime and onnx.reference differ.",
)
UNDER = CLIP.clause("Minimum value, under which element is replaced by min", note="NaN is not under it; it stays.")
ABOVE = CLIP.clause("Maximum value, above which element is replaced by max", note="NaN is not above it; it stays.")
SCALAR = CLIP.clause("It must be a scalar(tensor of empty shape).", since=11)
CLIP.dispute(
    "The function body of onnx asks Less of opset 13, which does not take bfloat16.",
    "dtypes", "dtypes_min", "dtypes_max", "dtypes_crossed", "fractions_bfloat16", "extremes_bfloat16",
)  # fmt: skip
CROSSED = CLIP.clause(
    "When 'min' is greater than 'max', the clip operator sets all the 'input' values to the value of 'max'.", since=13
)
EQUIVALENT = CLIP.clause(
    "Thus, this is equivalent to 'Min(max, Max(input, min))'.",
    since=13,
    note="Of NaN, where the bounds cross, the sentence before it says more than Min and Max do.",
)
LEGACY = CLIP.clause("legacy optimization attribute.", before=6)
CLIPPED = CLIP.clause("Output tensor with clipped input elements")
FLOATS = CLIP.clause("Constrain input and output types to float tensors.", before=12)
NUMERIC = CLIP.clause("Constrain input and output types to all numeric tensors.", since=12)

FLOAT_MAX = float(np.finfo(np.float32).max)


def _given(v: Version, bound: Array | float | None) -> Array | None:
    """Return a bound that is given, as an array; the defaults of version 6 are limits like any others."""
    if bound is None or (DEFAULTS_OLD.in_force(v.since) and abs(float(bound)) == FLOAT_MAX):
        return None
    limit = np.asarray(bound)
    v.require(SCALAR, limit.ndim == 0)
    v.silent(LIMITS, limit.dtype.kind == "f" and bool(np.isnan(limit)))
    return limit


@CLIP.oracle()
def clipped(v: Version, input: Array, min: Array | float | None, max: Array | float | None) -> Array:  # noqa: A002 - the text's own names
    """Return the elements, or the bound that each is beyond."""
    low, high = _given(v, min), _given(v, max)
    if low is not None and high is not None and low > high:
        v.permit(CROSSED)
        v.silent(EQUIVALENT, input.dtype.kind == "f" and bool(np.isnan(input).any()))
        return np.full_like(input, high)
    result = input
    for bound, beyond in ((low, np.less), (high, np.greater)):
        if bound is not None:
            tie = (result == 0) & (bound == 0)
            v.silent(LIMITS, bool((tie & (np.signbit(result) != np.signbit(bound))).any()))
            result = np.where(beyond(result, bound), bound, result)
        elif input.dtype.kind == "f":
            defaults = DEFAULTS_OLD if DEFAULTS_OLD.in_force(v.since) else DEFAULTS
            limit = FLOAT_MAX if DEFAULTS_OLD.in_force(v.since) else np.finfo(np.float64).max
            v.silent(defaults, bool((beyond(input, -limit if beyond is np.less else limit)).any()))
    return result


case = CLIP.case

BOTH: dict[str, Any] = {"min": -1.0, "max": 2.0}
MIXED = [[-3, 0.5, -1], [2, 7.25, -0.75]]

case("by_attributes", Tag.CHANGE, input=MIXED, **BOTH, cites=(BY_ARGUMENTS, CLIPPED))
case("by_inputs", Tag.CHANGE, input=MIXED, **BOTH, cites=(BY_INPUTS, CLIPPED))
for name, given in {"both": BOTH, "min": {"min": -1.0}, "max": {"max": 2.0}, "neither": {}}.items():
    told = (LIMITS, UNDER) if "min" in given else (LIMITS, ABOVE)
    case(f"{name}_matrix", input=MIXED, **given, cites=told)
    case(f"{name}_scalar", Tag.EDGE, input=-3.5, **given, cites=told)
    case(f"{name}_one_element", Tag.EDGE, input=[5.5], **given, cites=told)
    case(f"{name}_zero_size", Tag.EDGE, input=ramp(2, 0, 3), **given, cites=told)
    case(f"{name}_rank4", input=np.arange(-60, 60).reshape(2, 3, 4, 5) / 8, **given, cites=told)
    case(f"{name}_nan", Tag.EDGE, input=[np.nan, -3, 3], **given, cites=told)
    case(f"{name}_subnormals", Tag.EDGE, input=[1e-45, -1e-45, 1e-40], **given, cites=told)
    case(f"{name}_near_limits", Tag.EDGE, input=[FLOAT_MAX, -FLOAT_MAX], **given, cites=told)
    if name != "both":
        infinite = [-np.inf, 1] if name == "max" else [np.inf, 1]
        case(f"{name}_infinity_old", Tag.EDGE, input=infinite, **given, before=11, unspecified=DEFAULTS_OLD)
        case(f"{name}_infinity", Tag.EDGE, input=infinite, **given, since=11, unspecified=DEFAULTS)
        wide = typed("double", [1e300, -1e300])
        bounds: dict[str, Any] = {key: typed("double", value) for key, value in given.items()}
        case(f"{name}_wide", Tag.EDGE, input=wide, **bounds, since=11, cites=(DEFAULTS,))
        case(f"{name}_wide_old", Tag.EDGE, input=wide, **given, before=11, unspecified=DEFAULTS_OLD)
case("neither_old", input=MIXED, cites=(DEFAULTS_OLD,))
case("both_infinities", Tag.EDGE, input=[-np.inf, np.inf, 1], **BOTH, cites=(UNDER, ABOVE))
case("bounds_infinite", Tag.EDGE, input=[-np.inf, np.inf, 1], min=-np.inf, max=np.inf, cites=(LIMITS,))
case("min_infinite", Tag.EDGE, input=[-np.inf, np.inf, 1], min=np.inf, max=np.inf, cites=(UNDER,))
case("max_minus_infinite", Tag.EDGE, input=[-np.inf, 3, 1], min=-np.inf, max=-np.inf, cites=(ABOVE,))
case("equal_bounds", Tag.EDGE, input=MIXED, min=0.5, max=0.5, cites=(UNDER, ABOVE))
case("on_the_bounds", Tag.EDGE, input=[-1, 2], **BOTH, cites=(UNDER, ABOVE))
case("just_beyond", Tag.EDGE, input=[np.nextafter(np.float32(2), np.float32(3)), 2, -1.0000001], **BOTH, cites=(ABOVE,))
case("below_zero", Tag.EDGE, input=[-5, -1.5, 0, 4], min=-3.0, max=-1.0, cites=(UNDER, ABOVE))
case("negative_zero", Tag.EDGE, input=[-0.0, 0.0, -3], **BOTH, cites=(LIMITS,))
case("zero_bound", Tag.EDGE, input=[0.0, -3, 3], min=0.0, cites=(UNDER,))
case("zero_bound_other", Tag.EDGE, input=[-0.0, 3], min=0.0, unspecified=LIMITS)
case("zero_max_other", Tag.EDGE, input=[0.0, -3], max=-0.0, unspecified=LIMITS)
case("crossed", Tag.CHANGE, input=MIXED, min=3.0, max=-2.0, cites=(CROSSED, EQUIVALENT))
case("crossed_infinities", Tag.CHANGE, input=[np.inf, -np.inf, 0], min=3.0, max=-2.0, cites=(CROSSED,))
case("crossed_nan", Tag.EDGE, input=[np.nan, 1], min=3.0, max=-2.0, since=13, unspecified=EQUIVALENT)
case("crossed_old", Tag.CHANGE, input=MIXED, min=3.0, max=-2.0, before=13, unspecified=CROSSED)
case("nan_min", Tag.EDGE, input=MIXED, min=np.nan, max=2.0, unspecified=LIMITS)
case("nan_max", Tag.EDGE, input=MIXED, min=-1.0, max=np.nan, unspecified=LIMITS)
case("consumed_inputs", input=MIXED, **BOTH, consumed_inputs=[0], cites=(LEGACY,))

for name, shaped in {"vector": [1.0], "matrix": [[1.0]], "two": [1.0, 2.0], "like_input": [1.0] * 3}.items():
    case(f"min_is_{name}", Tag.EDGE, input=ramp(3), min=shaped, since=11, rejects=SCALAR)
    case(f"max_is_{name}", Tag.EDGE, input=ramp(3), max=shaped, since=11, rejects=SCALAR)
case("both_vectors", Tag.EDGE, input=ramp(3), min=[1.0], max=[2.0], since=11, rejects=SCALAR)

case("dtypes_floats", Tag.DTYPE, each="T", input=ramp(6), min=2.0, max=4.0, cites=(FLOATS,))
case("dtypes", Tag.DTYPE, each="T", input=ramp(6), min=2.0, max=4.0, cites=(NUMERIC,))
case("dtypes_min", Tag.DTYPE, each="T", input=ramp(6), min=2.0, since=13, cites=(UNDER,))
case("dtypes_max", Tag.DTYPE, each="T", input=ramp(6), max=4.0, since=13, cites=(ABOVE,))
case("dtypes_neither", Tag.DTYPE, each="T", input=ramp(6), since=13, cites=(DEFAULTS,))
case("dtypes_crossed", Tag.DTYPE, each="T", input=ramp(6), min=4.0, max=2.0, cites=(CROSSED,))
case("outside", Tag.DTYPE, outside="T", input=ramp(6), since=13, rejects=Rule.TYPES)
case("outside_first", Tag.DTYPE, outside="T", input=ramp(6), before=6, rejects=FLOATS)
for type_ in (f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)):
    low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
    hard = typed(type_, np.array([low, high, low + 1, high - 1, 5], type_))
    near = [typed(type_, np.array(bound, type_)) for bound in (low + 1, high - 1)]
    case(f"limits_{type_}", Tag.EDGE, input=hard, min=near[0], max=near[1], since=12, cites=(UNDER, ABOVE))
    case(f"limits_neither_{type_}", Tag.EDGE, input=hard, since=12, cites=(DEFAULTS,))
    case(f"outside_{type_}", Tag.CHANGE, input=hard, since=6, before=12, rejects=FLOATS)
for type_ in ("float16", "bfloat16", "double"):
    tenths: dict[str, Any] = {"min": typed(type_, -0.1), "max": typed(type_, 0.7)}
    case(f"fractions_{type_}", Tag.EDGE, input=typed(type_, [-0.1, -0.2, 0.1, 0.7, 0.75]), **tenths, since=13)
    case(f"extremes_{type_}", Tag.EDGE, input=typed(type_, extremes(11)), **tenths, since=13, cites=(UNDER, ABOVE))
case("two_types", input=ramp(3), min=typed("double", 1.0), since=11, rejects=Rule.TYPES)
case("two_types_max", input=ramp(3), max=typed("int64", 1.0), since=11, rejects=Rule.TYPES)
case("stray_min", Tag.CHANGE, input=ramp(3), stray={"min": 1.0}, since=11, rejects=Rule.ATTRIBUTES)
case("stray_consumed", input=ramp(3), stray={"consumed_inputs": [0]}, since=6, rejects=Rule.ATTRIBUTES)
case("no_input", **BOTH, rejects=Rule.ARITY)
case("no_outputs", input=ramp(3), n=0, rejects=Rule.ARITY)
case("two_outputs", input=ramp(3), n=2, rejects=Rule.ARITY)
