# SPDX-License-Identifier: Apache-2.0
"""Constant: output the tensor in an attribute.

    output = Constant(value=...)
    output = Constant(sparse_value=...)     # or, from version 12 on, one of value_float, value_floats, value_int, ...

Versions: 1 (floats), 9 (all types), 11 (sparse_value), 12 (value_int, value_ints and so on), 13, 19, 21, 23, 24 and 25
(types).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Rule, Sparse, Tag, Version, dense, extremes, ramp, typed, vary

if TYPE_CHECKING:
    from collections.abc import Mapping

TYPES: dict[str, Any] = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
    "value_string": object,
    "value_strings": object,
}
"""The type of the output, by the attribute that is set."""


def _type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 - see Op.derives
    """Return the type of the attribute that is set."""
    for name, value in attributes.items():
        if value is not None:
            tensor = value.values if isinstance(value, Sparse) else value
            return np.dtype(TYPES[name]) if name in TYPES else tensor.dtype
    return "tensor(float)"


CONSTANT = Op(
    "Constant", versions=(1, 9, 11, 12, 13, 19, 21, 23, 24, 25), compare=EXACT, rank=lambda _: 1, derives={"T": _type}
)
CONSTANT.example(value=typed("{T}", ramp(2, 3)))

TENSOR = CONSTANT.clause("A constant tensor.", before=12)
PRODUCES = CONSTANT.clause("This operator produces a constant tensor.", since=12)
ONE_OF_TWO = CONSTANT.clause(
    "Exactly one of the two attributes, either value or sparse_value, must be specified.", since=11, before=12
)
ONE_OF = CONSTANT.clause(
    "Exactly one of the provided attributes, either value, sparse_value, or value_* must be specified.", since=12
)
ELEMENTS = CONSTANT.clause("The value for the elements of the output tensor.")
SAME_VALUE = CONSTANT.clause("Output tensor containing the same value of the provided tensor.")
SPARSE = CONSTANT.clause("The value for the elements of the output tensor in sparse format.", since=11)
FLOAT = CONSTANT.clause("The value for the sole element for the scalar, float32, output tensor.", since=12)
FLOATS = CONSTANT.clause("The values for the elements for the 1D, float32, output tensor.", since=12)
INT = CONSTANT.clause("The value for the sole element for the scalar, int64, output tensor.", since=12)
INTS = CONSTANT.clause("The values for the elements for the 1D, int64, output tensor.", since=12)
STRING = CONSTANT.clause("The value for the sole element for the scalar, UTF-8 string, output tensor.", since=12)
STRINGS = CONSTANT.clause("The values for the elements for the 1D, UTF-8 string, output tensor.", since=12)


@CONSTANT.oracle()
def constant(
    v: Version,
    value: Array | None,
    sparse_value: Sparse | None,
    value_float: float | None,
    value_floats: list[float] | None,
    value_int: int | None,
    value_ints: list[int] | None,
    value_string: str | None,
    value_strings: list[str] | None,
) -> Array:
    """Return the tensor of the one attribute that is set."""
    numbers = [value_float, value_floats, value_int, value_ints]
    attributes = [value, sparse_value, *numbers, value_string, value_strings]
    values = [item for item in attributes if item is not None]
    v.require(ONE_OF if ONE_OF.in_force(v.since) else ONE_OF_TWO, len(values) == 1)
    (only,) = values
    if isinstance(only, Sparse):
        return dense(only)
    return np.asarray(only, v.dtypes["T"])


case = CONSTANT.case

case("matrix", value=typed("float", [[1, 2, 3], [6, 5, 4]]), cites=(ELEMENTS, SAME_VALUE))
case("named_before_12", value=typed("float", ramp(2)), cites=TENSOR)
case("named", value=typed("float", ramp(2)), cites=(PRODUCES, ONE_OF))
case("scalar", Tag.EDGE, value=typed("float", 3), cites=ELEMENTS)
case("size_one", Tag.EDGE, value=typed("float", [3]), cites=ELEMENTS)
case("zero_size", Tag.EDGE, value=typed("float", ramp(2, 0, 3)), cites=ELEMENTS)
case("rank5", value=typed("float", ramp(2, 1, 3, 1, 2)), cites=ELEMENTS)
case("dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="T", value=typed("{T}", extremes(12)), cites=SAME_VALUE)
case("dtypes_scalar", Tag.DTYPE, Tag.EDGE, each="T", value=typed("{T}", 1), cites=SAME_VALUE)

FULL = Sparse([5, 6], [0, 1], (2,))
SPARSE_VALUES = vary(
    vector=Sparse([5, 7], [1, 3], (4,)),
    linear=Sparse([5, 6, 7], [0, 2, 5], (2, 3)),
    coordinates=Sparse([5, 6, 7], [[0, 1], [1, 0], [1, 2]], (2, 3)),
    coordinates_rank3=Sparse([5, 6], [[0, 2, 1], [1, 0, 3]], (2, 3, 4)),
    full=FULL,
)
case("sparse", sparse_value=SPARSE_VALUES, cites=SPARSE)
case("sparse_nothing", Tag.EDGE, sparse_value=Sparse([], [], (2, 3)), cites=SPARSE)
for type_ in ("double", "int64", "uint8", "bool", "string"):
    case(f"sparse_{type_}", Tag.DTYPE, sparse_value=Sparse(typed(type_, [5, 6]), [1, 3], (4,)), cites=SPARSE)

NUMBERS = vary(fraction=0.1, negative=-2.5, zero=0.0, minus_zero=-0.0, infinity=np.inf)
case("float", value_float=NUMBERS, cites=FLOAT)
case("float", Tag.EDGE, value_float=vary(nan=float("nan"), subnormal=1e-45), cites=FLOAT)
case("floats", value_floats=[0.1, -2.5, 3e38], cites=FLOATS)
case("floats", Tag.EDGE, value_floats=vary(one=[0.1], none=[]), cites=FLOATS)
INTEGERS = vary(one=1, zero=0, highest=2**63 - 1, lowest=-(2**63), beyond_double=2**53 + 1)
case("int", value_int=INTEGERS, cites=INT)
case("ints", value_ints=[3, -1, 2**62 + 1], cites=INTS)
case("ints", Tag.EDGE, value_ints=vary(one=[7], none=[]), cites=INTS)
case("string", value_string=vary(ascii="abc", empty="", other="äß日本語𝄞", blanks=" \t\n"), cites=STRING)
case("strings", value_strings=["b", "", "ä"], cites=STRINGS)
case("strings", Tag.EDGE, value_strings=vary(one=["b"], none=[]), cites=STRINGS)

case("nothing_before_12", rejects=ONE_OF_TWO)
case("nothing", rejects=ONE_OF)
case("value_and_sparse_before_12", value=typed("float", [5, 6]), sparse_value=FULL, rejects=ONE_OF_TWO)
case("value_and_sparse", value=typed("float", [5, 6]), sparse_value=FULL, rejects=ONE_OF)
case("value_and_int", value=typed("float", [5]), value_int=5, rejects=ONE_OF)
case("int_and_ints", value_int=5, value_ints=[5], rejects=ONE_OF)
case("float_and_string", value_float=5.0, value_string="5", rejects=ONE_OF)
case("value_and_empty_ints", Tag.EDGE, value=typed("float", [5]), value_ints=[], rejects=ONE_OF)
# The derived cases set no attribute of a type for which they have no value.
STRAY_SPARSE = {"sparse_value": 1}
case("sparse_before_11", Tag.CHANGE, value=typed("float", [5]), stray=STRAY_SPARSE, before=11, rejects=Rule.ATTRIBUTES)
