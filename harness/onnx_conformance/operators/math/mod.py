# SPDX-License-Identifier: Apache-2.0
"""Mod: the remainder of a division, element by element.

    C = Mod(A, B, fmod=0)

Versions: 10, 13 (fmod chooses between integers and floats; special cases; bfloat16), 28 (both modes for every type).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import (
    Array,
    Clause,
    Drawn,
    Multidirectional,
    Op,
    Result,
    Tag,
    Tolerance,
    Version,
    typed,
    vary,
)
from onnx_conformance.declare.data import FLOATS, every_pair
from onnx_conformance.declare.families.elementwise import (
    EIGHT_BITS,
    all_pairs,
    counted,
    float_types,
    rank_of_two,
    typed_pairs,
)
from onnx_conformance.declare.readings import REAL_NUMBERS
from onnx_conformance.declare.rounding import nearest
from onnx_conformance.declare.sizes import filled, grid

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.declare.sizes import Dims


def _rounding(A: Array, B: Array, fmod: int) -> list[Array]:
    """Return the allowed error, in epsilons: 0 if the type contains every remainder; otherwise the divisor.

    The remainder of a floored quotient is that of the truncated quotient, plus the divisor if their signs differ. This
    is one sum, and it is rounded to at most the divisor.
    """
    size = np.abs(np.broadcast_arrays(A, B)[1].astype(np.float64))
    return [np.where(np.isfinite(size) & (fmod == 0), size, 0)]


MOD = Op(
    "Mod",
    versions=(10, 13, 28),
    compare=Tolerance(
        "every type contains the remainder of a truncated quotient; that of a floored quotient is rounded once, in "
        "some type",
        signed_zero=True,
        bound=_rounding,
    ),
    rank=rank_of_two,
)
MOD.example(A=[[7, 5, 6], [4, 9, 8]], B=[3, 2, 4], fmod=1)

BROADCASTING = MOD.clause("This operator supports **multidirectional (i.e.,")
NUMPY = Multidirectional(MOD, clause=BROADCASTING)
OF_DIVISOR = MOD.clause("The sign of the remainder is the same as that of the Divisor.", before=13)
OF_DIVIDEND = MOD.clause("In this case, the sign of the remainder however, will be the same as the Dividend", before=13)
DEFAULT = MOD.clause("This attribute is set to 0 by default causing the behavior to be like integer mod.", before=13)
LIKE_FMOD = MOD.clause(
    "Setting this attribute to 1 causes the remainder to be calculated similar to that of numpy.fmod().",
    note="The text does not define values other than 0 and 1. The texts of numpy and C define the results for "
    "infinities. onnxruntime converts 64-bit integers to doubles, which loses digits of large integers.",
    before=13,
)
FLOATS_NEED_FMOD = MOD.clause("If the input type is floating point, then `fmod` attribute must be set to 1.", before=13)
ZERO = MOD.clause(
    "In case of dividend being zero, the results will be platform dependent.",
    note="Probably the divisor is meant. The sentence names the dividend but not the divisor, so both are left open.",
    before=13,
)
FORCE = MOD.clause("Set this to 1 to force fmod treatment", before=28)
SHOULD = MOD.clause(
    "Whether the operator should behave like fmod (default=0 meaning it will do integer mods)", before=28, result=True
)
VALUE_SINCE_13 = MOD.clause(
    "the value of the `fmod` attribute which must be `0` (default), or `1`.", since=13, before=28
)
INTEGERS_SINCE_13 = MOD.clause(
    "If the `fmod` attribute is set to `0`, `T` is constrained to integer data types and the semantics follow that of "
    "the Python `%`-operator.",
    note="Python's % raises an error for division by 0; the text does not define whether a runtime has to. The "
    "remainder of the least integer by -1 is 0; onnxruntime crashes on it (SIGFPE).",
    since=13,
    before=28,
    see=("https://github.com/onnx/onnx/issues/5564", "https://github.com/onnx/onnx/pull/6973"),
)
OF_DIVISOR_SINCE_13 = MOD.clause("The sign of the result is that of the divisor.", since=13, before=28)
FLOATS_SINCE_13 = MOD.clause(
    "If `fmod` is set to `1`, the behavior of this operator follows that of the `fmod` function in C and `T` is "
    "constrained to floating point data types.",
    note="Versions 10 and 28 allow integers too. onnxruntime and onnx.reference also accept them in this version.",
    since=13,
    before=28,
    see=("https://github.com/onnx/onnx/issues/5564", "https://github.com/onnx/onnx/pull/6973"),
)
EXACTLY_SINCE_13 = MOD.clause(
    "exactly the value `x - n * y`, where `n` is `x / y` with its fractional part truncated.", since=13, before=28
)
OF_DIVIDEND_SINCE_13 = MOD.clause(
    "The returned value has the same sign as `x` (except if `x` is `-0`) and is less or equal to `|y|` in magnitude.",
    since=13,
    before=28,
)
VALUE_SINCE_28 = MOD.clause("Its value must be `0` (default) or `1`.", since=28)
ROUNDED_SINCE_28 = MOD.clause(
    "Whether the operator should use floor (0) or truncation (1) to calculate the quotient.", result=True, since=28
)
FLOORED_SINCE_28 = MOD.clause(
    "If `fmod` is `0`, the output is calculated as `A - floor(A / B) * B`.",
    note="The formula is one of real numbers: if the quotient is rounded before it is floored, the remainder can have "
    "the other sign. The text does not define an integer divided by 0.",
    since=28,
)
OF_DIVISOR_SINCE_28 = MOD.clause("The result has the same sign as `B`.", since=28)
ZERO_BY_SINCE_28 = MOD.clause("If `x` is `±0` and `y` is nonzero, `±0` with the sign of `y` is returned.", since=28)
BY_ZERO_SINCE_28 = MOD.clause("If `y` is `±0` and `x` is not `NaN`, `NaN` is returned.", since=28)
BY_INFINITY_SINCE_28 = MOD.clause(
    "If `y` is `±∞` and `x` is finite and nonzero, `x` is returned when `x` and `y` have the same sign; otherwise, `y`"
    " is returned.",
    since=28,
)
TRUNCATED_SINCE_28 = MOD.clause(
    "If `fmod` is `1`, the output is calculated as `A - trunc(A / B) * B`.",
    note="The text does not define an integer divided by 0.",
    since=28,
)
OF_DIVIDEND_SINCE_28 = MOD.clause(
    "The result has the same sign as `A`, except that either signed zero may be returned when `A` is `-0` and `B` is "
    "positive.",
    since=28,
)
MINUS_ZERO = MOD.clause("If `x` is `-0` and `y` is greater than zero, either `+0` or `-0` may be returned.", since=13)
INFINITY = MOD.clause("If `x` is `±∞` and `y` is not `NaN`, `NaN` is returned.", since=13)
BY_ZERO = MOD.clause("If `y` is `±0` and `x` is not `NaN`, `NaN` should be returned.", since=13, result=True)
BY_INFINITY = MOD.clause("If `y` is `±∞` and `x` is finite, `x` is returned.", since=13)
NOT_A_NUMBER = MOD.clause("If either argument is `NaN`, `NaN` is returned.", since=13)


def _of_integers(x: int, y: int, *, floored: bool) -> int:
    """Return x - n * y. n is x / y, floored or truncated."""
    below = x // y
    quotient = below if floored or below >= 0 or below * y == x else below + 1
    return x - quotient * y


def _of_floats(x: float, y: float, *, floored: bool) -> float:
    """Return the remainder of two floats as in IEEE 754. A zero has the sign that all other remainders have."""
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    if math.isinf(y):
        same_sign = math.copysign(1, x) == math.copysign(1, y)
        return x if same_sign or not floored else math.copysign(abs(y) if x else 0, y)
    (a, under_a), (b, under_b) = x.as_integer_ratio(), y.as_integer_ratio()
    exact = _of_integers(
        a * under_b, b * under_a, floored=floored
    )  # Both are numerators over the product of the two denominators.
    return exact / (under_a * under_b) or math.copysign(0, y if floored else x)


def _remainders(
    v: Version, clause: Clause, x: Array, y: Array, fmod: int, *, is_open: Array | None = None
) -> Result | Drawn:
    """Return the remainder of every pair. For integers it is exact, for floats it is rounded once.

    Args:
        v: the version.
        clause: the sentence that is closest to a definition of the remainders in `is_open`.
        x: the dividends.
        y: the divisors, of the same shape and type.
        fmod: if 0, the quotient is floored; if 1, it is truncated.
        is_open: a mask of the remainders that it does not define; None if it defines all.

    Raises:
        Unspecified: an integer is divided by 0, for which an error is a possible result; or all remainders are open.
    """
    v.silent(clause, x.dtype.kind != "f" and bool((y == 0).any()))
    result = _exact(x, y, fmod)
    if is_open is not None and is_open.any():
        return v.leave_open(clause, is_open, result)
    if fmod and bool(((x == 0) & np.signbit(x) & (y > 0)).any()):
        return Drawn(result, choices=(result,))  # Either zero is correct.
    return result


def _exact(x: Array, y: Array, fmod: int) -> Array:
    remainder = _of_floats if x.dtype.kind == "f" else _of_integers
    pairs = zip(x.ravel().tolist(), y.ravel().tolist(), strict=True)
    return np.array([remainder(a, b, floored=fmod == 0) for a, b in pairs], x.dtype).reshape(x.shape)


def _rounds_across(x: Array, y: Array, dtype: np.dtype[Any]) -> bool:
    """Return whether rounding the quotient to the type changes its floor or its integer part."""

    def differs(dividend: float, divisor: float) -> bool:
        if not (math.isfinite(dividend) and math.isfinite(divisor)) or not divisor:
            return False
        with np.errstate(over="ignore"):
            rounded = float(nearest(np.divide(dividend, divisor), dtype))
        return math.isinf(rounded) or math.floor(rounded) != Fraction(dividend) // Fraction(divisor)

    return any(differs(*pair) for pair in zip(x.ravel().tolist(), y.ravel().tolist(), strict=True))


@MOD.oracle(before=13)
def remainder_before_13(v: Version, A: Array, B: Array, fmod: int) -> Result | Drawn:
    """Return the remainders; floats require fmod=1. The result for zeros is unspecified."""
    NUMPY.require_one_shape(v, A, B)
    x, y = np.broadcast_arrays(A, B)
    v.silent(LIKE_FMOD, fmod not in {0, 1})
    v.require(FLOATS_NEED_FMOD, x.dtype.kind != "f" or fmod == 1)
    return _remainders(v, ZERO, x, y, fmod, is_open=(x == 0) | (y == 0))


@MOD.oracle(since=13, before=28)
def remainder_since_13(v: Version, A: Array, B: Array, fmod: int) -> Result | Drawn:
    """Return the remainders; floats require fmod=1, integers require fmod=0."""
    NUMPY.require_one_shape(v, A, B)
    x, y = np.broadcast_arrays(A, B)
    floats = x.dtype.kind == "f"
    v.require(VALUE_SINCE_13, fmod in {0, 1})
    v.require(FLOATS_SINCE_13 if fmod else INTEGERS_SINCE_13, floats == (fmod == 1))
    return _remainders(v, INTEGERS_SINCE_13, x, y, fmod)


@MOD.oracle(since=28)
def remainder_since_28(v: Version, A: Array, B: Array, fmod: int) -> Result | Drawn:
    """Return the remainders of any type, with floored or truncated quotients."""
    NUMPY.require_one_shape(v, A, B)
    x, y = np.broadcast_arrays(A, B)
    v.require(VALUE_SINCE_28, fmod in {0, 1})
    v.reads(REAL_NUMBERS, x.dtype.kind == "f" and _rounds_across(x, y, v.dtypes["T"]))
    return _remainders(v, TRUNCATED_SINCE_28 if fmod else FLOORED_SINCE_28, x, y, fmod)


case = MOD.case

SIGNS = [(x, y) for x in (7, -7, 6, -6, 1, -1) for y in (3, -3)]
"""Pairs with whole quotients, quotients that are not whole, and quotients below 1, of all signs."""
Pairs = list[tuple[Any, Any]]


def operands(type_: str, pairs: Pairs) -> dict[str, Any]:
    """Return dividends and divisors of one element type."""
    dtype = type_ if "int" in type_ else np.float64
    dividends, divisors = (typed(type_, np.array(side, dtype)) for side in zip(*pairs, strict=True))
    return {"A": dividends, "B": divisors}


WHOLE, BROKEN = operands("int32", SIGNS), operands("float", SIGNS)
case("signs_before_13", Tag.CHANGE, **WHOLE, cites=(OF_DIVISOR, DEFAULT, SHOULD))
case("signs_since_13", Tag.CHANGE, **WHOLE, cites=(OF_DIVISOR_SINCE_13, INTEGERS_SINCE_13, VALUE_SINCE_13, SHOULD))
case("signs_since_28", Tag.CHANGE, **WHOLE, cites=(OF_DIVISOR_SINCE_28, FLOORED_SINCE_28, ROUNDED_SINCE_28))
case("signs_fmod_before_13", Tag.CHANGE, **WHOLE, fmod=1, cites=(OF_DIVIDEND, LIKE_FMOD, FORCE))
case("signs_fmod_since_28", Tag.CHANGE, **WHOLE, fmod=1, cites=(OF_DIVIDEND_SINCE_28, TRUNCATED_SINCE_28))
case("floats_since_28", Tag.CHANGE, **BROKEN, fmod=0, cites=(OF_DIVISOR_SINCE_28, FLOORED_SINCE_28))
case("floats_fmod_before_13", Tag.CHANGE, **BROKEN, fmod=1, cites=(FLOATS_NEED_FMOD, OF_DIVIDEND))
case(
    "floats_fmod_since_13",
    Tag.CHANGE,
    **BROKEN,
    fmod=1,
    cites=(FLOATS_SINCE_13, EXACTLY_SINCE_13, OF_DIVIDEND_SINCE_13),
)
case("floats_fmod_since_28", Tag.CHANGE, **BROKEN, fmod=1, cites=(OF_DIVIDEND_SINCE_28, TRUNCATED_SINCE_28))
OTHER = vary(two=2, below_zero=-1)
for kind, pairs_of_kind in {"integers": WHOLE, "floats": BROKEN}.items():
    case(f"{kind}_before_13_fmod", Tag.EDGE, **pairs_of_kind, fmod=OTHER, before=13, unspecified=LIKE_FMOD)
    case(f"{kind}_since_13_fmod", Tag.EDGE, **pairs_of_kind, fmod=OTHER, rejects=VALUE_SINCE_13)
    case(f"{kind}_since_28_fmod", Tag.EDGE, **pairs_of_kind, fmod=OTHER, rejects=VALUE_SINCE_28)

for type_ in (f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")):
    low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
    limits: Pairs = [(high, 7), (high, high), (high - 1, high), (high, high - 1), (5, 1), (7, 3), (7, 100)]
    if low:
        limits += [*SIGNS, (low, high), (high, low), (low, 3), (low, low)]
    numbers = {"numbers": operands(type_, limits)}
    if low:
        numbers["least_by_minus_one"] = operands(type_, [(low, -1)])  # The type does not contain the quotient.
    for name, pair in numbers.items():
        case(f"{name}_{type_}", Tag.EDGE, **pair)
        case(f"{name}_fmod_{type_}_before_13", Tag.EDGE, **pair, fmod=1, before=13)
        case(f"{name}_fmod_{type_}_since_13", Tag.DTYPE, **pair, fmod=1, rejects=FLOATS_SINCE_13)
        case(f"{name}_fmod_{type_}_since_28", Tag.EDGE, **pair, fmod=1, since=28)
    case(f"zero_dividend_{type_}", Tag.EDGE, **operands(type_, [(0, 3), (0, 100)]), since=13)
for type_ in EIGHT_BITS:
    left, right = every_pair(type_, lambda a, b: (a != 0) & (b != 0))
    case(f"every_{type_}", Tag.EDGE, A=typed(type_, left), B=typed(type_, right))
    case(f"every_fmod_{type_}_since_28", Tag.EDGE, A=typed(type_, left), B=typed(type_, right), fmod=1, since=28)
ZEROS: dict[str, Pairs] = {"zero_dividend": [(0, 3)], "by_zero": [(7, 0), (5, 3)], "zero_by_zero": [(0, 0)]}
for name, zeros in ZEROS.items():
    for type_ in ("int32", "uint8", "float"):
        pair = operands(type_, zeros)
        case(f"{name}_{type_}_before_13", Tag.EDGE, **pair, fmod=1, before=13, unspecified=ZERO)
for name in ("by_zero", "zero_by_zero"):
    pair = operands("int32", ZEROS[name])
    case(f"{name}_since_13", Tag.EDGE, **pair, since=13, before=28, unspecified=INTEGERS_SINCE_13)
    case(f"{name}_since_28", Tag.EDGE, **pair, since=28, unspecified=FLOORED_SINCE_28)
    case(f"{name}_fmod_since_28", Tag.EDGE, **pair, fmod=1, since=28, unspecified=TRUNCATED_SINCE_28)

SENTENCES_OF_FMOD = {
    "nan": NOT_A_NUMBER,
    "infinity": INFINITY,
    "by_infinity": BY_INFINITY,
    "by_zero": BY_ZERO,
    "minus_zero": MINUS_ZERO,
}
SENTENCES_OF_FLOOR = {
    "by_infinity": BY_INFINITY_SINCE_28,
    "zeros": ZERO_BY_SINCE_28,
    "minus_zero": ZERO_BY_SINCE_28,
    "by_zero": BY_ZERO_SINCE_28,
}
for type_, since in float_types(13).items():
    small, normal = FLOATS[type_].smallest_subnormal, FLOATS[type_].smallest_normal
    huge = 2.0 ** (math.frexp(FLOATS[type_].largest)[1] - 1)
    inf, nan = math.inf, math.nan
    floats: dict[str, Pairs] = {
        "signs": list(SIGNS),
        "fractions": [(5.3, 2.1), (-5.3, 2.1), (5.3, -2.1), (-4.3, -2.1), (0.75, 0.5), (-0.75, 0.5), (2.5, 7.25)],
        "tenths": [(0.7, 0.1), (-0.7, 0.1), (1, 0.1), (-1, -0.1), (0.3, 0.1), (0.6, -0.2), (1, -1 / 3)],
        "large_quotients": [(huge, 3), (-huge, 7), (huge, -0.7), (30000, 0.1), (-60000, 0.37), (2049, 1e-3)],
        "limits": [(huge, small), (huge, -3 * small), (-huge, 3 * normal), (huge, huge * 0.75), (-huge * 0.75, huge)],
        "subnormals": [(5 * small, 3 * small), (-5 * small, 3 * small), (normal, 3 * small), (small, normal)],
        "nearly_divisor": [(-small, 1), (small, -1), (-small, huge), (1, -huge)],
        "nan": [(nan, 3), (3, nan), (nan, nan), (nan, inf), (inf, nan), (3, 2)],
        "infinity": [(inf, 3), (-inf, 3), (inf, -2), (inf, inf), (-inf, inf), (inf, -inf)],
        "by_infinity": [
            (3, inf),
            (-3, inf),
            (3, -inf),
            (-3, -inf),
            (small, inf),
            (-huge, inf),
            (-0.5, inf),
            (-0.5, -inf),
        ],
        "zeros": [(0.0, 3), (0.0, -3), (-0.0, -3), (0.0, inf), (0.0, -inf), (-0.0, -inf), (0.0, 0.5)],
        "by_zero": [(3, 0.0), (-3, 0.0), (3, -0.0), (0.0, 0.0), (-0.0, -0.0), (0.0, -0.0), (inf, 0.0), (nan, 0.0)],
        "minus_zero": [(-0.0, 3), (-0.0, 0.5), (-0.0, inf), (-0.0, huge)],
        "minus_zero_by_fraction": [(-0.0, 0.5), (-0.0, small)],
    }
    for name, pairs in floats.items():
        pair = operands(type_, pairs)
        first = 13 if name in {"zeros", "by_zero", "minus_zero", "minus_zero_by_fraction"} else since
        case(f"{name}_fmod_{type_}", Tag.EDGE, **pair, fmod=1, since=first)
        case(f"{name}_floor_{type_}", Tag.EDGE, **pair, cites=SENTENCES_OF_FLOOR.get(name, FLOORED_SINCE_28))
        if type_ == "float" and name in SENTENCES_OF_FMOD:
            case(f"{name}_fmod_since_13", Tag.EDGE, **pair, fmod=1, cites=SENTENCES_OF_FMOD[name])
    case(f"fmod_unset_{type_}_since_13", Tag.DTYPE, **operands(type_, SIGNS), rejects=INTEGERS_SINCE_13)
    if since is None:
        case(f"fmod_unset_{type_}_before_13", Tag.DTYPE, **operands(type_, SIGNS), rejects=FLOATS_NEED_FMOD)


def of_shapes(left: tuple[int, ...], right: tuple[int, ...]) -> dict[str, Any]:
    """Return floats without 0. Any wrong way to broadcast them leads to other pairs."""
    return {"A": counted(7)(*left), "B": counted(2)(*right) / 2, "fmod": 1}


NUMPY.cases(of_shapes)
case("broadcast_integers", A=typed("int64", [[7], [-7], [9]]), B=typed("int64", [2, -2, 3, 5]), cites=BROADCASTING)
case("broadcast_left", A=typed("uint8", [7, 200]), B=typed("uint8", [[3], [9], [250]]), cites=BROADCASTING)
case("rank0", Tag.EDGE, A=typed("int32", -7), B=typed("int32", 3))
SHAPES: dict[str, tuple[int, ...]] = {"none": (), "1": (1,), "67": (67,), "2_0_3": (2, 0, 3), "2_3_4_5": (2, 3, 4, 5)}
for name, shape in SHAPES.items():
    case(f"shape_{name}", Tag.EDGE, **of_shapes(shape, shape))


def _drawn(fmod: int) -> Callable[[Dims, Dims], dict[str, Any]]:
    """Return a function of two shapes that returns dividends of both signs, and positive divisors."""
    return lambda one, other: {
        "A": filled(*one, floats=(-9, 9), integers=(-99, 99)),
        "B": filled(*other, floats=(0.5, 3), integers=(1, 9)),
        "fmod": fmod,
    }


for fmod, computed in {0: FLOORED_SINCE_28, 1: TRUNCATED_SINCE_28}.items():
    NUMPY.sized(computed, _drawn(fmod), suffix="_truncated" if fmod else "_floored", step=4, most=1100)
MOD.sized("long", grid(n=(65_537,)), cites=FLOORED_SINCE_28, arguments=_drawn(0)(("n",), ("n",)))
all_pairs(MOD, FLOORED_SINCE_28, divided=True)
for type_ in EIGHT_BITS:
    dividends, divisors = typed_pairs(type_, divided=True)
    MOD.every(f"pairs_fmod_{type_}", cites=TRUNCATED_SINCE_28, A=dividends, B=divisors, fmod=1)
