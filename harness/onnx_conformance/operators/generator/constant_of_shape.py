# SPDX-License-Identifier: Apache-2.0
"""ConstantOfShape: fill a tensor of a computed shape with one value.

    output = ConstantOfShape(input, value=0.0)

Versions: 9, 20, 21, 23, 24 and 25 (types).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, length_of, typed, vary
from onnx_conformance.declare.sizes import Dims, grid, shape_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def _type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 - see Op.derives
    """Return the datatype of `value`, or float32."""
    value = attributes.get("value")
    return "tensor(float)" if value is None else value.dtype


CONSTANT = Op(
    "ConstantOfShape", versions=(9, 20, 21, 23, 24, 25), compare=EXACT, rank=length_of("input"), derives={"T2": _type}
)
CONSTANT.example(input=[2, 3], value=typed("{T2}", [1]))

GENERATE = CONSTANT.clause("Generate a tensor with given value and shape.")
ONE_ELEMENT = CONSTANT.clause(
    "Should be a one-element tensor.",
    note="The text does not define the rank. ONNX's shape inference rejects any rank other than 1.",
)
DEFAULT = CONSTANT.clause("If not specified, it defaults to a tensor of value 0 and datatype float32")
VECTOR = CONSTANT.clause("1D tensor. The shape of the expected output tensor.")
SCALAR = CONSTANT.clause("If empty tensor is given, the output would be a scalar.")
NOT_NEGATIVE = CONSTANT.clause("All values must be >= 0.", see=("https://github.com/onnx/onnx/pull/2567",))
FROM_VALUE = CONSTANT.clause(
    "If attribute 'value' is specified, the value and datatype of the output tensor is taken from 'value'."
)
ZERO = CONSTANT.clause(
    "If attribute 'value' is not specified, the value in the output defaults to 0, and the datatype defaults to "
    "float32."
)


@CONSTANT.oracle()
def constant(v: Version, input: Array, value: Array | None) -> Array:
    """Return the shape filled with `value`, or with a float of 0."""
    v.require(VECTOR, input.ndim == 1)
    v.require(NOT_NEGATIVE, bool((input >= 0).all()))
    if value is None:
        return np.zeros(input, np.float32)
    v.require(ONE_ELEMENT, value.size == 1)
    v.silent(ONE_ELEMENT, value.ndim != 1)
    return np.full(input, value.reshape(()), value.dtype)


case = CONSTANT.case

case("default", input=[2, 3], cites=(GENERATE, DEFAULT, ZERO))
case("value", input=[4, 3, 2], value=typed("float", [1.5]), cites=(GENERATE, FROM_VALUE))
case("value_of_other_type", input=[3, 2], value=typed("int32", [-7]), cites=FROM_VALUE)
ONE = vary(scalar=typed("float", 2.5), rank2=typed("float", [[2.5]]))
case("value", Tag.EDGE, input=[3], value=ONE, unspecified=ONE_ELEMENT)
case("one_dimension", input=[5], value=typed("int64", [3]), cites=VECTOR)
case("many_dimensions", input=[2, 1, 3, 1, 2, 1], value=typed("float", [4]), cites=VECTOR)
case("scalar", Tag.EDGE, input=[], value=typed("float", [4]), cites=SCALAR)
case("scalar_default", Tag.EDGE, input=[], cites=(SCALAR, ZERO))
case("size_one", Tag.EDGE, input=[1], value=typed("float", [4]), cites=GENERATE)
case("zero", Tag.EDGE, input=[0], value=typed("float", [4]), cites=NOT_NEGATIVE)
case("zero_among_others", Tag.EDGE, input=[3, 0, 2], value=typed("float", [4]), cites=NOT_NEGATIVE)
case("zero_default", Tag.EDGE, input=[0, 2], cites=(NOT_NEGATIVE, ZERO))
SPECIAL = vary(
    nan=typed("float", [np.nan]),
    infinity=typed("float", [-np.inf]),
    minus_zero=typed("float", [-0.0]),
    subnormal=typed("float", [1e-45]),
)
case("value", Tag.EDGE, input=[2, 3], value=SPECIAL, cites=FROM_VALUE)
for type_ in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
    limits = np.iinfo(type_)
    highest, lowest = np.array([limits.max], type_), np.array([limits.min], type_)
    case(f"highest_{type_}", Tag.EDGE, input=[2], value=typed(type_, highest), cites=FROM_VALUE)
    case(f"lowest_{type_}", Tag.EDGE, input=[2], value=typed(type_, lowest), cites=FROM_VALUE)
case("dtypes_zero", Tag.DTYPE, Tag.EDGE, each="T2", input=[0, 3], value=typed("{T2}", [1]), cites=FROM_VALUE)
case("dtypes_extreme", Tag.DTYPE, Tag.EDGE, each="T2", input=[3], value=typed("{T2}", extremes(1)), cites=FROM_VALUE)

case("negative", input=[2, -1], rejects=NOT_NEGATIVE)
case("negative_with_value", input=[-3], value=typed("float", [4]), rejects=NOT_NEGATIVE)
case("negative_beside_zero", Tag.EDGE, input=[0, -1], rejects=NOT_NEGATIVE)
case("input", Tag.EDGE, input=vary(scalar=3, matrix=[[2, 3]]), rejects=VECTOR)
case("value_of_two", input=[2], value=typed("float", [1, 2]), rejects=ONE_ELEMENT)
case("value_of_none", Tag.EDGE, input=[2], value=typed("float", []), rejects=ONE_ELEMENT)

FILLED: dict[str, tuple[Dims, list[dict[str, int]]]] = {
    "vector": (("n",), grid(n=(7, 64, 1025, 65_537))),
    "matrix": (("m", "n"), grid(m=(17,), n=(16, 33))),
    "cache": (("b", "h", "s", "d"), grid(b=(2,), h=(3,), s=(9,), d=(8, 64))),
}
"""The dimensions of the output, and the sizes."""
for name, (dims, sizes) in FILLED.items():
    CONSTANT.sized(
        name,
        sizes,
        each="T2" if name == "vector" else None,
        cites=(GENERATE, FROM_VALUE),
        arguments={"input": shape_of(*dims), "value": typed("{T2}" if name == "vector" else "float", [1])},
    )
