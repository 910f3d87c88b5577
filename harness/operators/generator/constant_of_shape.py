"""ConstantOfShape: one value, in a shape known when the model runs.

Versions: 9, 20, 21, 23, 24 and 25 (types).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, extremes, typed

if TYPE_CHECKING:
    from collections.abc import Mapping


def _type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 - see Op.derives
    """Return the datatype of `value`, or float32."""
    value = attributes.get("value")
    return "tensor(float)" if value is None else value.dtype


CONSTANT = Op(
    "ConstantOfShape",
    versions=(9, 20, 21, 23, 24, 25),
    compare=EXACT,
    rank=lambda given: np.size(given.get("input", ())),
    derives={"T2": _type},
)

GENERATE = CONSTANT.clause("Generate a tensor with given value and shape.")
ONE_ELEMENT = CONSTANT.clause(
    "Should be a one-element tensor.", note="Says not of what rank; all that hold one may be."
)
DEFAULT = CONSTANT.clause("If not specified, it defaults to a tensor of value 0 and datatype float32")
VECTOR = CONSTANT.clause("1D tensor. The shape of the expected output tensor.")
SCALAR = CONSTANT.clause("If empty tensor is given, the output would be a scalar.")
NOT_NEGATIVE = CONSTANT.clause("All values must be >= 0.")
TAKEN = CONSTANT.clause(
    "If attribute 'value' is specified, the value and datatype of the output tensor is taken from 'value'."
)
ZERO = CONSTANT.clause(
    "If attribute 'value' is not specified, the value in the output defaults to 0, and the datatype defaults to "
    "float32."
)


@CONSTANT.oracle()
def constant(v: Version, input: Array, value: Array | None) -> Array:  # noqa: A002 - the text's own name
    """Return `value`, or a float of 0, in every element of the shape."""
    v.require(VECTOR, input.ndim == 1)
    v.require(NOT_NEGATIVE, bool((input >= 0).all()))
    if value is None:
        return np.zeros(input, np.float32)
    v.require(ONE_ELEMENT, value.size == 1)
    return np.full(input, value.reshape(()), value.dtype)


case = CONSTANT.case

case("default", input=[2, 3], cites=(GENERATE, DEFAULT, ZERO))
case("value", input=[4, 3, 2], value=typed("float", [1.5]), cites=(GENERATE, TAKEN))
case("value_of_other_type", input=[3, 2], value=typed("int32", [-7]), cites=(TAKEN,))
case("value_scalar", Tag.EDGE, input=[3], value=typed("float", 2.5), cites=(ONE_ELEMENT,))
case("value_rank2", Tag.EDGE, input=[3], value=typed("float", [[2.5]]), cites=(ONE_ELEMENT,))
case("one_dimension", input=[5], value=typed("int64", [3]), cites=(VECTOR,))
case("many_dimensions", input=[2, 1, 3, 1, 2, 1], value=typed("float", [4]), cites=(VECTOR,))
case("scalar", Tag.EDGE, input=[], value=typed("float", [4]), cites=(SCALAR,))
case("scalar_default", Tag.EDGE, input=[], cites=(SCALAR, ZERO))
case("size_one", Tag.EDGE, input=[1], value=typed("float", [4]), cites=(GENERATE,))
case("zero", Tag.EDGE, input=[0], value=typed("float", [4]), cites=(NOT_NEGATIVE,))
case("zero_among_others", Tag.EDGE, input=[3, 0, 2], value=typed("float", [4]), cites=(NOT_NEGATIVE,))
case("zero_default", Tag.EDGE, input=[0, 2], cites=(NOT_NEGATIVE, ZERO))
for name, number in {"nan": np.nan, "infinity": -np.inf, "minus_zero": -0.0, "subnormal": 1e-45}.items():
    case(f"value_{name}", Tag.EDGE, input=[2, 3], value=typed("float", [number]), cites=(TAKEN,))
for bits in (8, 16, 32, 64):
    for type_ in (f"int{bits}", f"uint{bits}"):
        low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
        case(f"highest_{type_}", Tag.EDGE, input=[2], value=typed(type_, np.array([high], type_)), cites=(TAKEN,))
        case(f"lowest_{type_}", Tag.EDGE, input=[2], value=typed(type_, np.array([low], type_)), cites=(TAKEN,))
case("dtypes", Tag.DTYPE, each="T2", input=[2, 3], value=typed("{T2}", [1]), cites=(TAKEN,))
case("dtypes_zero", Tag.DTYPE, Tag.EDGE, each="T2", input=[0, 3], value=typed("{T2}", [1]), cites=(TAKEN,))
case("dtypes_extreme", Tag.DTYPE, Tag.EDGE, each="T2", input=[3], value=typed("{T2}", extremes(1)), cites=(TAKEN,))

case("negative", input=[2, -1], rejects=NOT_NEGATIVE)
case("negative_with_value", input=[-3], value=typed("float", [4]), rejects=NOT_NEGATIVE)
case("negative_beside_zero", Tag.EDGE, input=[0, -1], rejects=NOT_NEGATIVE)
case("input_scalar", Tag.EDGE, input=3, rejects=VECTOR)
case("input_matrix", Tag.EDGE, input=[[2, 3]], rejects=VECTOR)
case("value_of_two", input=[2], value=typed("float", [1, 2]), rejects=ONE_ELEMENT)
case("value_of_none", Tag.EDGE, input=[2], value=typed("float", []), rejects=ONE_ELEMENT)
case("outside", Tag.DTYPE, outside="T2", input=[2, 3], value=typed("{T2}", [1]), rejects=Rule.TYPES)
case("input_outside", Tag.DTYPE, outside="T1", input=[2, 3], rejects=Rule.TYPES)
case("attribute_dtype", input=[2], stray={"dtype": 7}, rejects=Rule.ATTRIBUTES)
case("no_input", value=typed("float", [4]), rejects=Rule.ARITY)
case("no_outputs", input=[2], n=0, rejects=Rule.ARITY)
case("two_outputs", input=[2], n=2, rejects=Rule.ARITY)
