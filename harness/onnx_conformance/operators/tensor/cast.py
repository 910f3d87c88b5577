# SPDX-License-Identifier: Apache-2.0
"""Cast: convert elements to another type.

    output = Cast(input, to=TensorProto.INT32, saturate=1, round_mode="up")
    output = Cast(input, to="INT32")    # before version 6

Versions: 1 (the type by name), 6 (by number), 9 (strings), 13 (rules among numbers; bfloat16), 19 (float8, saturate),
21 (4 bits), 23 (float4e2m1), 24 (float8e8m0, round_mode; FNUZ types saturate), 25 (2 bits) and 28 (6 bits).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import (
    Array,
    Int,
    Op,
    PartlyOpen,
    Result,
    Tag,
    Tolerance,
    Version,
    element_type,
    every_value,
    ramp,
    typed,
)
from onnx_conformance.operators.tensor._conversion import Conversions
from onnx_conformance.operators.tensor._conversion_cases import (
    APPLIES,
    FIRST,
    FLOAT8,
    TYPES_BEFORE_9,
    UNWRITTEN,
    conversions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


def _type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 - see Op.derives
    """Return the value of `to`: a number, or in version 1 a name of the enum."""
    to = attributes.get("to")
    if isinstance(to, str):
        return f"tensor({to.lower() if to.isupper() else '?'})"
    return "tensor(float)" if to is None else to


ROUNDED = Tolerance("one conversion to the nearest value of the type; ties to even, as in IEEE 754", signed_zero=True)
CAST = Op(
    "Cast",
    versions=(1, 6, 9, 13, 19, 21, 23, 24, 25, 28),
    compare=ROUNDED,
    rank="input",
    derives={"T2": _type},
    applies=APPLIES,
)
CAST.example(input=[[1, 0, 1], [0, 0, 1]], to=element_type("{T2}"), saturate=0, round_mode="nearest")

SAME_SIZE = CAST.clause("returns an output tensor of the same size in the converted type.")
SAME_SHAPE = CAST.clause("Output tensor with the same shape as input with type specified by the 'to' argument")
ENUM = CAST.clause(
    "The 'to' argument must be one of the data types specified in the 'DataType' enum field in the TensorProto message."
)
STRICTLY = CAST.clause("Strictly must be one of the types from DataType enum in TensorProto")
NO_STRINGS = CAST.clause("NOTE: Casting to and from strings is not supported yet.", before=9)
FROM = CAST.clause("Casting from complex is not supported.").reworded(
    before=9, text="Casting from strings and complex are not supported."
)
TO = CAST.clause("Casting to complex is not supported.").reworded(
    before=9, text="Casting to strings and complex are not supported."
)

LITERALS = CAST.clause(
    'Casting from string tensor in plain (e.g., "3.14" and "1000") and scientific numeric representations (e.g., '
    '"1e-5" and "1E8") to float types is supported.',
    since=9,
    note="For integer types the text only lists undefined conversions, so text of an integer in range is defined. The "
    "text does not define bool, or a number outside the range of the type.",
)
HUNDRED = CAST.clause(
    'For example, converting string "100.5" to an integer may yield result 100.',
    since=9,
    note="This is allowed but not required.",
)
RESERVED = CAST.clause(
    '"+INF" (and "INF"), "-INF", and "NaN" are positive infinity, negative infinity, and not-a-number, respectively.',
    since=9,
)
CASELESS = CAST.clause(
    'this case-insensitive rule is applied to "INF" and "NaN".',
    since=9,
    note='This also applies to "+INF", by the preceding sentence. Neither sentence covers "-inf".',
)
PLAIN = CAST.clause(
    'When casting from numeric tensors to string tensors, plain floating-point representation (such as "314.15926") '
    "would be used.",
    since=9,
    note="The text does not define the number of digits, whether 1.0 has a point, or how NaN, infinities and booleans "
    "are written. Only numbers that can be written in one way are checked: 0.5, for example, without the exponent that "
    "onnxruntime writes. A number of an integer type may have a point, as floating-point numbers have, but needs none.",
)
NONSENSE = CAST.clause(
    'Converting non-numerical-literal string such as "Hello World!" is an undefined behavior.', since=9
)
FRACTION = CAST.clause(
    'converting string representing floating-point arithmetic value, such as "2.718", to INT is an undefined', since=9
)
LOSS = CAST.clause(
    "Conversion from a numerical type to any numerical type is always allowed. User must be aware of precision loss "
    "and value change caused by range difference between two types.",
    since=9,
    result=True,
    note="The text does not define which neighbour a number becomes. Between two floating-point types it is the "
    "nearest, by IEEE 754, which defines these types; some runtimes convert double to float first and round twice. For "
    "a fraction and an integer type it is left open, although runtimes truncate.",
    see=(
        "https://github.com/onnx/onnx/issues/5004",
        "https://github.com/onnx/onnx/issues/2285",
        "https://github.com/onnx/onnx/issues/3776",
        "https://github.com/onnx/onnx/pull/7720",
    ),
)
SINGLE = CAST.clause("a 64-bit float 3.1415926459 may be round to a 32-bit float 3.141592.", since=9)
THIRTY_SIX = CAST.clause(
    "converting an integer 36 to Boolean may produce 1 because we truncate bits which can't be stored in the targeted "
    "type.",
    since=9,
    note="The last bit of 36 is 0, so the reason contradicts the result. This is left open before version 13.",
    contradicts="we truncate bits which can't be stored in the targeted type",
)
RULES = CAST.clause("the conversion among numerical types should follow these rules", since=13, result=True)
INFINITE = CAST.clause(
    "* Casting from floating point to: * floating point: +/- infinity if OOR (out of range).",
    since=13,
    note="The text does not define types without infinities, or a number above the largest that rounds to it. The "
    "official cases to float4e2m1, which has no infinities and no NaN, expect its limits, and 0 for NaN.",
)
UNDEFINED = CAST.clause(
    "* fixed point: undefined if OOR.",
    since=13,
    note="For values out of range, the official cases expect the lowest 2 or 4 bits.",
    against=("test_cast_FLOAT*_to_*INT[24]",),
    see=("https://github.com/onnx/onnx/issues/2285", "https://github.com/iree-org/iree/issues/24591"),
)
TRUTH = CAST.clause("* bool: +/- 0.0 to False; all else to True.", since=13)
INFINITE_FIXED = CAST.clause("* floating point: +/- infinity if OOR. (+ infinity in the case of uint)", since=13)
WRAPS = CAST.clause(
    "* fixed point: when OOR, discard higher bits and reinterpret (with respect to two's complement representation for "
    "signed types). For example, 200 (int16) -> -56 (int8).",
    since=13,
)
NONZERO = CAST.clause("* bool: zero to False; nonzero to True.", since=13)
FROM_BOOL = CAST.clause("* floating point: `{1.0, 0.0}`. * fixed point: `{1, 0}`. * bool: no change.", since=13)
MANTISSA = CAST.clause(
    "By default the conversion of a float *x* obeys to the following rules. `[x]` means the value rounded to the "
    "target mantissa width.",
    since=19,
    note="For integers, the text of `saturate` defines the same: it covers every input value.",
)
SATURATED = CAST.clause(
    "| \\[x\\] > FLT_MAX | FLT_MAX | FLT_MAX | FLT_MAX | FLT_MAX | | \\[x\\] \\< -FLT_MAX | -FLT_MAX | -FLT_MAX | "
    "-FLT_MAX | -FLT_MAX | | else | RNE | RNE | RNE | RNE |",
    since=19,
)
INF_TO_NAN = CAST.clause(
    "| Inf | FLT_MAX | NaN | FLT_MAX | NaN |",
    since=19,
    before=24,
    note="Runtimes implement only the table of version 24.",
    see=(
        "https://github.com/onnx/onnx/issues/6220",
        "https://github.com/onnx/onnx/pull/7085",
        "https://github.com/onnx/onnx/pull/7130",
    ),
)
INF_TO_MAX = CAST.clause(
    "| Inf | FLT_MAX | FLT_MAX | FLT_MAX | FLT_MAX |",
    since=24,
    see=(
        "https://github.com/onnx/onnx/issues/6220",
        "https://github.com/onnx/onnx/pull/7085",
        "https://github.com/onnx/onnx/pull/7130",
    ),
)
UNSATURATED = CAST.clause(
    "| Inf | NaN | NaN | Inf | NaN | | -Inf | -NaN | NaN | -Inf | NaN | | \\[x\\] > FLT_MAX | NaN | NaN | Inf | NaN |",
    since=19,
)
SATURATE = CAST.clause(
    "The parameter defines how the conversion behaves if an input value is out of range of the destination type.",
    since=19,
    note="float8e5m2 has infinities, so they are in its range, but the table changes Inf to FLT_MAX. The result of a "
    "conversion to the same type is left open.",
)
ONLY = CAST.clause(
    "It only applies for float 8 conversion (float8e4m3fn, float8e4m3fnuz, float8e5m2",
    since=19,
    note="onnxruntime rejects it for other types.",
)
BY_DEFAULT = CAST.clause("It is true by default.", since=19)
NEGATIVE = CAST.clause("Casting negative values to FLOAT8E8M0 gives undefined behavior.", since=24)
POWERS = CAST.clause(
    "| 0 | 0 | NaN | | -0 | Unspecified | Unspecified | | NaN | NaN | NaN | | Inf | E8M0_MAX | NaN | | x > E8M0_MAX | "
    "E8M0_MAX | NaN | | x < E8M0_MIN | E8M0_MIN | NaN | | x < 0 | Unspecified | Unspecified |",
    since=24,
    note="float8e8m0 has no 0, so the result for `saturate + up` is left open (the official cases expect E8M0_MIN). "
    "These values are also left open for combinations of the two attributes without a column.",
    against=("test_cast_e8m0_FLOAT*_to_FLOAT8E8M0",),
)
ROUND_MODE = CAST.clause(
    "It only applies to casting to float8e8m0 and is `up` by default. `up`: round to nearest value away from zero, "
    "`down`: round to nearest value towards zero, `nearest`: round to nearest value and ties round up.",
    since=24,
)

CONVERSIONS = Conversions(
    always=LOSS,
    infinite=INFINITE,
    undefined=UNDEFINED,
    wraps=WRAPS,
    truth=TRUTH,
    literals=LITERALS,
    nonsense=NONSENSE,
    fraction=FRACTION,
    plain=PLAIN,
    float8=SATURATE,
    float8e8m0=POWERS,
)


@CAST.oracle(before=13)
def cast_before_13(v: Version, input: Array) -> Result:
    """Return the elements in the type of `to`. Elements that depend on the rules of version 13 are open."""
    result = CONVERSIONS.converted(v, input, None, None, fnuz_saturates=False)
    kind = v.dtypes["T2"].kind
    if "O" in {input.dtype.kind, kind}:
        return result
    numbers = np.asarray(result.value if isinstance(result, PartlyOpen) else result)
    if kind == "f":
        return v.leave_open(INFINITE, np.isinf(numbers) & np.isfinite(input), result)
    return v.leave_open(TRUTH if kind == "b" else WRAPS, numbers != input, result)


@CAST.oracle(since=13)
def cast(v: Version, input: Array, saturate: Int, round_mode: str | None) -> Result:
    """Return the elements in the type of `to`."""
    return CONVERSIONS.converted(v, input, saturate, round_mode, fnuz_saturates=INF_TO_MAX.in_force(v.since))


case = CAST.case

ALSO_CITED = {
    "rounds_double_float16": (SAME_SIZE,),
    "rounds_double_float": (SINGLE,),
    "beyond_int32_float16": (INFINITE_FIXED, WRAPS),
    "truth_int32": (NONZERO, THIRTY_SIX),
    "truth_int32_before_13": (THIRTY_SIX,),
    "text_reserved_float": (RESERVED, CASELESS),
    "text_fraction_hundred": (HUNDRED,),
    "false_and_true_double": (FROM_BOOL,),
    "special_float8e4m3fn": (MANTISSA, SATURATE, SATURATED, ONLY),
    "special_unsaturated_float8e4m3fn": (UNSATURATED,),
    **{f"infinity_{type_}_before_24": (INF_TO_NAN, BY_DEFAULT) for type_ in FLOAT8},
    **{f"infinity_{type_}": (INF_TO_MAX, BY_DEFAULT) for type_ in FLOAT8},
    "powers_negative": (NEGATIVE,),
    "powers_default": (ROUND_MODE,),
}
"""Additional sentences that a conversion tests."""
for item in conversions(CONVERSIONS):
    cites = ALSO_CITED.get(item.name, ())
    if not item.unspecified and item.clause.in_force(item.first):
        cites = (item.clause, *cites)
    case(
        item.name,
        Tag.DTYPE,
        input=typed(item.source, item.values),
        to=element_type(item.target),
        **item.attributes,
        since=item.first,
        before=item.before or (None if item.every_version else item.first + 1),
        cites=cites,
        unspecified=item.clause if item.unspecified else None,
    )

INT32 = element_type("int32")
for name, other in zip(TYPES_BEFORE_9, TYPES_BEFORE_9[1:] + TYPES_BEFORE_9[:1], strict=True):
    case(f"named_{name}", Tag.DTYPE, input=typed(other, [[1, 0, 1]]), to=name.upper(), before=6, cites=ENUM)
for name, shape in {
    "rank0": (),
    "rank1": (3,),
    "rank4": (2, 1, 3, 2),
    "size_one": (1, 1),
    "zero_size": (2, 0, 3),
    "zero_size_alone": (0,),
}.items():
    case(name, Tag.EDGE, input=ramp(*shape), to=INT32, since=9, before=13, cites=(SAME_SHAPE, ENUM))
    case(f"{name}_since_21", Tag.EDGE, input=ramp(*shape), to=INT32, since=21, before=23, cites=(SAME_SHAPE, LOSS))
    case(f"{name}_by_name", Tag.EDGE, input=ramp(*shape), to="INT32", before=6, cites=(SAME_SHAPE, SAME_SIZE))
ITSELF = element_type("{T2}")
case("same_type", Tag.DTYPE, each="T2", input=typed("{T2}", ramp(3, 2)), to=ITSELF, since=6, cites=STRICTLY)
KEPT: dict[str, Any] = {"input": typed("float8e5m2", [np.inf, -np.inf, 1]), "to": element_type("float8e5m2")}
case("infinities_of_same_type", Tag.EDGE, **KEPT, since=19, unspecified=SATURATE)
case("infinities_of_same_type_unsaturated", Tag.EDGE, **KEPT, saturate=0, since=19, cites=UNSATURATED)
for source, target in (("int64", "float"), ("float", "uint8"), ("double", "float16"), ("uint8", "int32")):
    whole = typed(source, [1, 0, 3, 100])
    name = f"{source}_to_{target}_before_9"
    case(name, input=whole, to=element_type(target), since=6, before=9, cites=NO_STRINGS)
    case(f"named_{source}_to_{target}", input=whole, to=target.upper(), before=6, cites=NO_STRINGS)
BEYOND: dict[str, Any] = {"since": 6, "before": 13}
LARGE, FLOAT16, INT8 = [1, 100000], element_type("float16"), element_type("int8")
case("beyond_infinite_before_13", Tag.CHANGE, input=typed("float", LARGE), to=FLOAT16, **BEYOND, unspecified=INFINITE)
case("beyond_wraps_before_13", Tag.CHANGE, input=typed("int32", LARGE), to=INT8, **BEYOND, unspecified=WRAPS)
case("rules", Tag.CHANGE, input=[1.5, 3, -0.25], to=element_type("double"), cites=RULES)

COMPLEX = typed("complex64", [1])
case("to_complex", Tag.DTYPE, input=[1], to=element_type("complex64"), since=6, rejects=TO)
case("from_complex", Tag.DTYPE, input=COMPLEX, to=INT32, since=6, rejects=FROM)
case("to_string", Tag.DTYPE, input=[1.5], to=element_type("string"), since=6, rejects=NO_STRINGS)
case("from_string", Tag.DTYPE, input=typed("string", ["1.5"]), to=INT32, since=6, rejects=NO_STRINGS)
case("named_string", Tag.DTYPE, input=[1.5], to="STRING", before=6, rejects=NO_STRINGS)
case("named_complex", Tag.DTYPE, input=[1.5], to="COMPLEX64", before=6, rejects=TO)
case("from_complex_named", Tag.DTYPE, input=COMPLEX, to="FLOAT", before=6, rejects=FROM)
case("named_float_instead", input=[1.5], to="float", before=6, rejects=STRICTLY)
case("named_float32_instead", input=[1.5], to="FLOAT32", before=6, rejects=ENUM)
case("number_unknown", input=[1], to=99, since=6, rejects=ENUM)
case("number_undefined", input=[1], to=0, since=6, rejects=STRICTLY)
case("number_negative", input=[1], to=-1, since=6, before=9, rejects=STRICTLY)

for source in (name for name in FIRST if name != "string"):
    CAST.every(
        f"every_{source}",
        each="T2",
        but="string" if source in UNWRITTEN else (),
        cites=RULES,
        input=typed(source, every_value()),
        to=ITSELF,
    )
for source in ("float16", "bfloat16", "float", "double"):
    for target in FLOAT8:
        CAST.every(
            f"every_{source}_to_{target}_unsaturated",
            cites=UNSATURATED,
            input=typed(source, every_value()),
            to=element_type(target),
            saturate=0,
        )
    for mode in ("down", "nearest"):
        CAST.every(
            f"every_{source}_to_float8e8m0_{mode}",
            cites=ROUND_MODE,
            input=typed(source, every_value()),
            to=element_type("float8e8m0"),
            saturate=0,
            round_mode=mode,
        )
