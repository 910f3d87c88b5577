# SPDX-License-Identifier: Apache-2.0
"""CastLike: convert elements to the type of another tensor.

    output = CastLike(input, target_type, round_mode="up", saturate=1)

Versions: 15, 19 (float8, saturate), 21 (4 bits), 23 (float4e2m1), 24 (float8e8m0, round_mode), 25 (2 bits).
"""

from __future__ import annotations

from typing import Any

from onnx_conformance.declare import Array, Int, Op, Result, Tag, Tolerance, Version, every_value, ramp, typed
from onnx_conformance.operators.tensor._conversion import Conversions
from onnx_conformance.operators.tensor._conversion_cases import APPLIES, UNWRITTEN, conversions

ROUNDED = Tolerance("one conversion to the nearest value of the type; ties to even, as in IEEE 754", signed_zero=True)
CAST_LIKE = Op("CastLike", versions=(15, 19, 21, 23, 24, 25), compare=ROUNDED, rank="input", applies=APPLIES)
CAST_LIKE.example(input=[[2, 0, 1], [1, 1, 0]], target_type=[5], saturate=0, round_mode="down")

SAME_TYPE = CAST_LIKE.clause(
    "casts the elements of a given input tensor (the first input) to the same data type as the elements of the second "
    "input tensor."
)
DETAILS = CAST_LIKE.clause(
    "See documentation of the Cast operator for further details.",
    note="This refers to Cast of the same opset; everything that Cast leaves open is open here too. For official cases "
    "to 2 and 4 bits with numbers out of range, see the note on Cast.",
    against=("test_castlike_FLOAT*_to_*INT[24]*",),
    see=(
        "https://github.com/onnx/onnx/issues/6220",
        "https://github.com/onnx/onnx/pull/7085",
        "https://github.com/onnx/onnx/pull/7130",
    ),
)
LIKE = CAST_LIKE.clause(
    "The (first) input tensor will be cast to produce a tensor of the same type as this (second input) tensor.",
    note="Only the type of this tensor matters, not its values or its shape.",
)
OUTPUT = CAST_LIKE.clause(
    "Output tensor produced by casting the first input tensor to have the same type as the second input tensor."
)
FROM = CAST_LIKE.clause("Casting from complex is not supported.")
TO = CAST_LIKE.clause("Casting to complex is not supported.")
SATURATE = CAST_LIKE.clause(
    "The parameter defines how the conversion behaves if an input value is out of range of the destination type.",
    since=19,
    note="For infinities of float8e5m2 that remain float8e5m2, see the note on Cast.",
)
ONLY = CAST_LIKE.clause(
    "It only applies for float 8 conversion (float8e4m3fn, float8e4m3fnuz, float8e5m2",
    since=19,
    note="onnxruntime rejects it for other types.",
)
BY_DEFAULT = CAST_LIKE.clause("It is true by default.", since=19)
ROUND_MODE = CAST_LIKE.clause(
    "It only applies to casting to float8e8m0 and is `up` by default. `up`: round to nearest value away from zero, "
    "`down`: round to nearest value towards zero, `nearest`: round to nearest value and ties round up.",
    since=24,
    note="Runtimes that expand the function body of onnx always round up.",
)
CAST_LIKE.dispute(
    "In the function body of onnx, Cast has no round_mode and therefore rounds up.",
    *(f"powers_{mode}_{saturate}" for mode in ("down", "nearest") for saturate in (0, 1)),
    "powers_beyond_nearest_0",
    "powers_zero_nearest_0",
)

# One sentence refers to Cast for all rules.
CONVERSIONS = Conversions(
    always=DETAILS,
    infinite=DETAILS,
    undefined=DETAILS,
    wraps=DETAILS,
    truth=DETAILS,
    literals=DETAILS,
    nonsense=DETAILS,
    fraction=DETAILS,
    plain=DETAILS,
    float8=DETAILS,
    float8e8m0=DETAILS,
)


@CAST_LIKE.oracle(before=24)
def like_before_24(v: Version, input: Array, saturate: Int) -> Result:
    """Return the elements in the type of the second input, as Cast converts them before version 24."""
    return CONVERSIONS.converted(v, input, saturate, None, fnuz_saturates=False)


@CAST_LIKE.oracle(since=24)
def like(v: Version, input: Array, saturate: Int, round_mode: str) -> Result:
    """Return the elements in the type of the second input. Its values do not matter."""
    return CONVERSIONS.converted(v, input, saturate, round_mode, fnuz_saturates=True)


case = CAST_LIKE.case

ALSO_CITED = {"special_float8e4m3fn": (SATURATE, BY_DEFAULT, ONLY), "powers_nearest_0": (ROUND_MODE,)}
LATEST = CAST_LIKE.versions[-1]
for index, item in enumerate(conversions(CONVERSIONS)):
    first = max(item.first, CAST_LIKE.versions[0])
    cites = ALSO_CITED.get(item.name, ())
    before = item.before or (None if item.every_version and cites else first + 1)
    tried_by_cast_alone = "_to_" in item.name and index % 3 > 0
    if tried_by_cast_alone or first > LATEST or (before is not None and first >= before):
        continue
    case(
        item.name,
        Tag.DTYPE,
        input=typed(item.source, item.values),
        target_type=typed(item.target, [1]),
        **item.attributes,
        since=first,
        before=before,
        cites=() if item.unspecified else (DETAILS, *cites),
        unspecified=DETAILS if item.unspecified else None,
    )

SHAPES: dict[str, tuple[Any, Any]] = {
    "rank0": (ramp(), [1, 2, 3]),
    "rank4": (ramp(2, 1, 3, 2), 7),
    "zero_size": (ramp(2, 0, 3), [[5]]),
    "target_zero_size": (ramp(2, 3), ramp(0, 4)),
    "target_alike": (ramp(2, 3), ramp(2, 3)),
    "target_not_broadcast": (ramp(2, 3), ramp(4, 1)),
    "size_one": (ramp(1), ramp(3, 2)),
}
for name, (values, target) in SHAPES.items():
    case(name, Tag.EDGE, input=typed("float", values), target_type=typed("int32", target), before=21, cites=LIKE)
case("same_type", Tag.DTYPE, each="T2", input=typed("{T2}", ramp(3, 2)), target_type=ramp(3), cites=SAME_TYPE)
SINGLE = typed("float", [2, 0, 1])
case(
    "target_dtypes", Tag.DTYPE, each="T2", input=typed("int32", [2, 1, 1]), target_type=ramp(2), since=25, cites=OUTPUT
)

COMPLEX = typed("complex64", [1])
case("from_complex", Tag.DTYPE, input=COMPLEX, target_type=SINGLE, rejects=FROM)
case("to_complex", Tag.DTYPE, input=SINGLE, target_type=COMPLEX, rejects=TO)
for source in (
    "float16",
    "bfloat16",
    "float",
    "float8e4m3fn",
    "float8e5m2fnuz",
    "float8e8m0",
    "float4e2m1",
    "int8",
    "uint4",
):
    CAST_LIKE.every(
        f"every_{source}",
        each="T2",
        but="string" if source in UNWRITTEN else (),
        cites=SAME_TYPE,
        input=typed(source, every_value()),
        target_type=ramp(3),
    )
