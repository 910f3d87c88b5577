"""Mod: the remainder of a division, element by element.

Versions: 10, 13 (fmod chooses between integers and floats; special cases; bfloat16), 28 (both ways of every type).
"""

# ruff: noqa: N803 - the text's own names

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from harness.declare import Array, Drawn, Multidirectional, Op, Rule, Tag, Tolerance, Version, ramp, typed
from harness.declare.families.elementwise import counted, float_types, rank_of_two
from harness.operators.math._remainder import SIGNS, Pairs, hard_floats, hard_integers, remainders, rounding


def _rounding(A: Array, B: Array, fmod: int) -> list[Array]:
    """Return the error allowed for each remainder, in epsilons."""
    return [rounding(np.broadcast_arrays(A, B)[1], floored=not fmod)]


MOD = Op(
    "Mod",
    versions=(10, 13, 28),
    compare=Tolerance(
        "every type holds the remainder of a truncated quotient; that of a floored one is rounded once, in some type",
        signed_zero=True,
        bound=_rounding,
    ),
    rank=rank_of_two,
)

NUMPY = Multidirectional(MOD, since=10, said="This operator supports **multidirectional (i.e.,")
_in_10 = partial(MOD.clause, before=13)
_in_13 = partial(MOD.clause, since=13, before=28)
_in_28 = partial(MOD.clause, since=28)
OF_DIVISOR_10 = _in_10("The sign of the remainder is the same as that of the Divisor.")
OF_DIVIDEND_10 = _in_10("In this case, the sign of the remainder however, will be the same as the Dividend")
DEFAULT_10 = _in_10("This attribute is set to 0 by default causing the behavior to be like integer mod.")
LIKE_FMOD_10 = _in_10(
    "Setting this attribute to 1 causes the remainder to be calculated similar to that of numpy.fmod().",
    note="Says nothing of values other than 0 and 1. Numpy's and C's own texts say what becomes of infinities. "
    "onnxruntime makes doubles of 64-bit integers and loses what these do not hold.",
)
FLOATS_10 = _in_10("If the input type is floating point, then `fmod` attribute must be set to 1.")
ZERO_10 = _in_10(
    "In case of dividend being zero, the results will be platform dependent.",
    note="Divisor must be meant; as it speaks of the one and not of the other, both are left open.",
)
HIGH_PRECISION = MOD.clause("Constrain input and output types to high-precision numeric tensors.", before=28)
FORCE = MOD.clause("Set this to 1 to force fmod treatment", before=28)
SHOULD = MOD.clause(
    "Whether the operator should behave like fmod (default=0 meaning it will do integer mods)", before=28, result=True
)
VALUE_13 = _in_13("the value of the `fmod` attribute which must be `0` (default), or `1`.")
INTEGERS_13 = _in_13(
    "If the `fmod` attribute is set to `0`, `T` is constrained to integer data types and the semantics follow that of "
    "the Python `%`-operator.",
    note="Which raises an error where it divides by 0; whether a runtime has to is not said. What is left of the least "
    "integer by -1 is 0; onnxruntime dies of it (SIGFPE).",
)
OF_DIVISOR_13 = _in_13("The sign of the result is that of the divisor.")
FLOATS_13 = _in_13(
    "If `fmod` is set to `1`, the behavior of this operator follows that of the `fmod` function in C and `T` is "
    "constrained to floating point data types.",
    note="Versions 10 and 28 have integers too, and so have onnxruntime and onnx.reference in this one.",
)
EXACTLY_13 = _in_13("exactly the value `x - n * y`, where `n` is `x / y` with its fractional part truncated.")
OF_DIVIDEND_13 = _in_13(
    "The returned value has the same sign as `x` (except if `x` is `-0`) and is less or equal to `|y|` in magnitude."
)
VALUE_28 = _in_28("Its value must be `0` (default) or `1`.")
ROUNDED_28 = _in_28(
    "Whether the operator should use floor (0) or truncation (1) to calculate the quotient.", result=True
)
FLOORED_28 = _in_28(
    "If `fmod` is `0`, the output is calculated as `A - floor(A / B) * B`.",
    note="Of real numbers: a quotient that is rounded before it is floored can end with the other sign. Says nothing "
    "of an integer divided by 0.",
)
OF_DIVISOR_28 = _in_28("The result has the same sign as `B`.")
ZERO_BY_28 = _in_28("If `x` is `±0` and `y` is nonzero, `±0` with the sign of `y` is returned.")
BY_ZERO_28 = _in_28("If `y` is `±0` and `x` is not `NaN`, `NaN` is returned.")
BY_INFINITY_28 = _in_28(
    "If `y` is `±∞` and `x` is finite and nonzero, `x` is returned when `x` and `y` have the same sign; otherwise, `y`"
    " is returned."
)
TRUNCATED_28 = _in_28(
    "If `fmod` is `1`, the output is calculated as `A - trunc(A / B) * B`.",
    note="Says nothing of an integer divided by 0.",
)
OF_DIVIDEND_28 = _in_28(
    "The result has the same sign as `A`, except that either signed zero may be returned when `A` is `-0` and `B` is "
    "positive."
)
NUMERIC = _in_28("Constrain input and output types to numeric tensors.")
MINUS_ZERO = MOD.clause("If `x` is `-0` and `y` is greater than zero, either `+0` or `-0` may be returned.", since=13)
INFINITY = MOD.clause("If `x` is `±∞` and `y` is not `NaN`, `NaN` is returned.", since=13)
BY_ZERO = MOD.clause("If `y` is `±0` and `x` is not `NaN`, `NaN` should be returned.", since=13, result=True)
BY_INFINITY = MOD.clause("If `y` is `±∞` and `x` is finite, `x` is returned.", since=13)
NOT_A_NUMBER = MOD.clause("If either argument is `NaN`, `NaN` is returned.", since=13)


def _allow(v: Version, x: Array, y: Array, fmod: int) -> None:
    """Raise where the text allows no such fmod, type or number."""
    floats = x.dtype.kind == "f"
    if v.since >= 28:  # noqa: PLR2004 - a version
        v.require(VALUE_28, fmod in {0, 1})
        v.silent(TRUNCATED_28 if fmod else FLOORED_28, not floats and bool((y == 0).any()))
    elif v.since >= 13:  # noqa: PLR2004
        v.require(VALUE_13, fmod in {0, 1})
        v.require(FLOATS_13 if fmod else INTEGERS_13, floats == (fmod == 1))
        v.silent(INTEGERS_13, not floats and bool((y == 0).any()))
    else:
        v.silent(LIKE_FMOD_10, fmod not in {0, 1})
        v.require(FLOATS_10, not floats or fmod == 1)
        v.silent(ZERO_10, bool(((x == 0) | (y == 0)).any()))


@MOD.oracle()
def remainder(v: Version, A: Array, B: Array, fmod: int) -> Array | Drawn:
    """Return the remainders in the shape that both are broadcast to; the quotient is truncated, or floored."""
    NUMPY.require(v, A, B)
    x, y = np.broadcast_arrays(A, B)
    _allow(v, x, y, fmod)
    result = remainders(x, y, floored=not fmod)
    if fmod and bool(((x == 0) & np.signbit(x) & (y > 0)).any()):
        return Drawn(result, choices=(result,))  # Either zero is right.
    return result


case = MOD.case
FMOD: dict[str, Any] = {"fmod": 1}


def sides(type_: str, pairs: Pairs) -> dict[str, Any]:
    """Return dividends and divisors in one element type."""
    dtype = type_ if "int" in type_ else np.float64
    left, right = (typed(type_, np.array(side, dtype)) for side in zip(*pairs, strict=True))
    return {"A": left, "B": right}


WHOLE, FLOATS = sides("int32", SIGNS), sides("float", SIGNS)
case("signs_10", Tag.CHANGE, **WHOLE, cites=(OF_DIVISOR_10, DEFAULT_10, SHOULD, HIGH_PRECISION))
case("signs_13", Tag.CHANGE, **WHOLE, cites=(OF_DIVISOR_13, INTEGERS_13, VALUE_13, SHOULD, HIGH_PRECISION))
case("signs_28", Tag.CHANGE, **WHOLE, cites=(OF_DIVISOR_28, FLOORED_28, ROUNDED_28))
case("signs_fmod_10", Tag.CHANGE, **WHOLE, **FMOD, cites=(OF_DIVIDEND_10, LIKE_FMOD_10, FORCE))
case("signs_fmod_28", Tag.CHANGE, **WHOLE, **FMOD, cites=(OF_DIVIDEND_28, TRUNCATED_28))
case("floats_28", Tag.CHANGE, **FLOATS, fmod=0, cites=(OF_DIVISOR_28, FLOORED_28))
case("floats_fmod_10", Tag.CHANGE, **FLOATS, **FMOD, cites=(FLOATS_10, OF_DIVIDEND_10))
case("floats_fmod_13", Tag.CHANGE, **FLOATS, **FMOD, cites=(FLOATS_13, EXACTLY_13, OF_DIVIDEND_13))
case("floats_fmod_28", Tag.CHANGE, **FLOATS, **FMOD, cites=(OF_DIVIDEND_28, TRUNCATED_28))
for name, number in {"two": 2, "below_zero": -1}.items():
    for kind, operands in {"integers": WHOLE, "floats": FLOATS}.items():
        given: dict[str, Any] = {**operands, "fmod": number}
        case(f"fmod_{name}_{kind}_10", Tag.EDGE, **given, before=13, unspecified=LIKE_FMOD_10)
        case(f"fmod_{name}_{kind}_13", Tag.EDGE, **given, rejects=VALUE_13)
        case(f"fmod_{name}_{kind}_28", Tag.EDGE, **given, rejects=VALUE_28)

for type_ in (f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")):
    for name, pairs in hard_integers(type_).items():
        numbers = sides(type_, pairs)
        case(f"{name}_{type_}", Tag.EDGE, **numbers)
        case(f"{name}_fmod_{type_}_10", Tag.EDGE, **numbers, **FMOD, before=13)
        case(f"{name}_fmod_{type_}_13", Tag.DTYPE, **numbers, **FMOD, rejects=FLOATS_13)
        case(f"{name}_fmod_{type_}_28", Tag.EDGE, **numbers, **FMOD, since=28)
    case(f"zero_dividend_{type_}", Tag.EDGE, **sides(type_, [(0, 3), (0, 100)]), since=13)
ZEROS: dict[str, Pairs] = {"zero_dividend": [(0, 3)], "by_zero": [(7, 0)], "zero_by_zero": [(0, 0)]}
for name, pairs in ZEROS.items():
    for kind in ("int32", "uint8", "float"):
        case(f"{name}_{kind}_10", Tag.EDGE, **sides(kind, pairs), **FMOD, before=13, unspecified=ZERO_10)
    if name != "zero_dividend":
        whole = sides("int32", pairs)
        case(f"{name}_13", Tag.EDGE, **whole, since=13, before=28, unspecified=INTEGERS_13)
        case(f"{name}_28", Tag.EDGE, **whole, since=28, unspecified=FLOORED_28)
        case(f"{name}_fmod_28", Tag.EDGE, **whole, **FMOD, since=28, unspecified=TRUNCATED_28)

FMOD_TOLD = {"nan": NOT_A_NUMBER, "infinity": INFINITY, "by_infinity": BY_INFINITY, "by_zero": BY_ZERO}
FMOD_TOLD["minus_zero"] = MINUS_ZERO
FLOOR_TOLD = {"by_infinity": BY_INFINITY_28, "zeros": ZERO_BY_28, "minus_zero": ZERO_BY_28, "by_zero": BY_ZERO_28}
for type_, since in float_types(13).items():
    for name, pairs in hard_floats(type_).items():
        numbers = sides(type_, pairs)
        first = 13 if name in {"zeros", "by_zero", "minus_zero"} else since
        case(f"{name}_fmod_{type_}", Tag.EDGE, **numbers, **FMOD, since=first)
        case(f"{name}_floor_{type_}", Tag.EDGE, **numbers, cites=(FLOOR_TOLD.get(name, FLOORED_28),))
        if type_ == "float" and name in FMOD_TOLD:
            case(f"{name}_told", Tag.EDGE, **numbers, **FMOD, cites=(FMOD_TOLD[name],))
    case(f"fmod_unset_{type_}_13", Tag.DTYPE, **sides(type_, SIGNS), rejects=INTEGERS_13)
    if since is None:
        case(f"fmod_unset_{type_}_10", Tag.DTYPE, **sides(type_, SIGNS), rejects=FLOATS_10)


def of_floats(left: tuple[int, ...], right: tuple[int, ...]) -> dict[str, Any]:
    """Return numbers of which none is 0, and that no other way of broadcasting pairs alike."""
    return {"A": counted(7)(*left), "B": counted(2)(*right) / 2, **FMOD}


NUMPY.cases(of_floats)
case("broadcast_integers", A=typed("int64", [[7], [-7], [9]]), B=typed("int64", [2, -2, 3, 5]), cites=(NUMPY.clause,))
case("broadcast_left", A=typed("uint8", [7, 200]), B=typed("uint8", [[3], [9], [250]]), cites=(NUMPY.clause,))
case("rank0", Tag.EDGE, A=typed("int32", -7), B=typed("int32", 3))
for shape in ((), (1,), (67,), (2, 0, 3), (2, 3, 4, 5)):
    case("shape_" + "_".join(map(str, shape or ("none",))), Tag.EDGE, **of_floats(shape, shape))
case("dtypes_high_precision", Tag.DTYPE, each="T", A=[7, 5, 6], B=[3, 2, 4], **FMOD, before=13, cites=(HIGH_PRECISION,))
case("dtypes_numeric", Tag.DTYPE, each="T", A=[7, 5, 6], B=[3, 2, 4], cites=(NUMERIC,))
case("dtypes_numeric_fmod", Tag.DTYPE, each="T", A=[7, 5, 6], B=[3, 2, 4], **FMOD, cites=(NUMERIC,))
case("outside", Tag.DTYPE, outside="T", A=ramp(3), B=ramp(3), **FMOD, since=28, rejects=Rule.TYPES)
case("two_types", **WHOLE | {"B": typed("int64", [s[1] for s in SIGNS])}, rejects=Rule.TYPES)
case("attribute_axis", **WHOLE, stray={"axis": 0}, rejects=Rule.ATTRIBUTES)
case("no_second", A=typed("int32", [7]), rejects=Rule.ARITY)
case("no_outputs", **WHOLE, n=0, rejects=Rule.ARITY)
case("two_outputs", **WHOLE, n=2, rejects=Rule.ARITY)
