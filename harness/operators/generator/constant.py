"""Constant: a tensor that the model itself holds.

Versions: 1 (floats), 9 (all types), 11 (sparse_value), 12 (value_int, value_ints and so on), 13, 19, 21, 23, 24 and 25
(types).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare import EXACT, Array, Op, Rule, Sparse, Tag, Version, dense, extremes, ramp, typed

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
"""The type of the output, by the attribute that gives it."""


def _type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 - see Op.derives
    """Return the type of the one attribute that is given."""
    for name, value in attributes.items():
        if value is not None:
            held = value.values if isinstance(value, Sparse) else value
            return np.dtype(TYPES[name]) if name in TYPES else held.dtype
    return "tensor(float)"


CONSTANT = Op(
    "Constant", versions=(1, 9, 11, 12, 13, 19, 21, 23, 24, 25), compare=EXACT, rank=lambda _: 1, derives={"T": _type}
)

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
FLOAT_TYPES = CONSTANT.clause("Constrain input and output types to float tensors.", before=9)
ALL_TYPES = CONSTANT.clause("Constrain input and output types to all tensor types.", since=9)


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
    """Return what the one attribute says."""
    several = [value_float, value_floats, value_int, value_ints, value_string, value_strings]
    given = [item for item in (value, sparse_value, *several) if item is not None]
    v.require(ONE_OF if ONE_OF.in_force(v.since) else ONE_OF_TWO, len(given) == 1)
    (chosen,) = given
    if isinstance(chosen, Sparse):
        return dense(chosen)
    return np.asarray(chosen, v.dtypes["T"])


case = CONSTANT.case

case("matrix", value=typed("float", [[1, 2, 3], [6, 5, 4]]), cites=(ELEMENTS, SAME_VALUE))
case("named", value=typed("float", ramp(2)), cites=(TENSOR,))
case("named_now", value=typed("float", ramp(2)), cites=(PRODUCES, ONE_OF))
case("scalar", Tag.EDGE, value=typed("float", 3), cites=(ELEMENTS,))
case("size_one", Tag.EDGE, value=typed("float", [3]), cites=(ELEMENTS,))
case("zero_size", Tag.EDGE, value=typed("float", ramp(2, 0, 3)), cites=(ELEMENTS,))
case("rank5", value=typed("float", ramp(2, 1, 3, 1, 2)), cites=(ELEMENTS,))
case("dtypes", Tag.DTYPE, each="T", value=typed("{T}", ramp(2, 3)), before=9, cites=(FLOAT_TYPES,))
case("dtypes_all", Tag.DTYPE, each="T", value=typed("{T}", ramp(2, 3)), cites=(ALL_TYPES,))
case("dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="T", value=typed("{T}", extremes(12)), cites=(SAME_VALUE,))
case("dtypes_scalar", Tag.DTYPE, Tag.EDGE, each="T", value=typed("{T}", 1), cites=(SAME_VALUE,))

SPARSES = {
    "vector": Sparse([5, 7], [1, 3], (4,)),
    "linear": Sparse([5, 6, 7], [0, 2, 5], (2, 3)),
    "coordinates": Sparse([5, 6, 7], [[0, 1], [1, 0], [1, 2]], (2, 3)),
    "coordinates_rank3": Sparse([5, 6], [[0, 2, 1], [1, 0, 3]], (2, 3, 4)),
    "full": Sparse([5, 6], [0, 1], (2,)),
    "nothing": Sparse([], [], (2, 3)),
}
for name, sparse in SPARSES.items():
    case(f"sparse_{name}", Tag.BASIC if name != "nothing" else Tag.EDGE, sparse_value=sparse, cites=(SPARSE,))
STORED = {name: Sparse(typed(name, [5, 6]), [1, 3], (4,)) for name in ("double", "int64", "uint8", "bool", "string")}
for name, sparse in STORED.items():
    case(f"sparse_{name}", Tag.DTYPE, sparse_value=sparse, cites=(SPARSE,))

for name, number in {"fraction": 0.1, "negative": -2.5, "zero": 0.0, "minus_zero": -0.0, "infinity": np.inf}.items():
    case(f"float_{name}", value_float=number, cites=(FLOAT,))
case("float_nan", Tag.EDGE, value_float=float("nan"), cites=(FLOAT,))
case("float_subnormal", Tag.EDGE, value_float=1e-45, cites=(FLOAT,))
case("floats", value_floats=[0.1, -2.5, 3e38], cites=(FLOATS,))
case("floats_one", Tag.EDGE, value_floats=[0.1], cites=(FLOATS,))
case("floats_none", Tag.EDGE, value_floats=[], cites=(FLOATS,))
for name, whole in {"one": 1, "zero": 0, "highest": 2**63 - 1, "lowest": -(2**63), "beyond_double": 2**53 + 1}.items():
    case(f"int_{name}", value_int=whole, cites=(INT,))
case("ints", value_ints=[3, -1, 2**62 + 1], cites=(INTS,))
case("ints_one", Tag.EDGE, value_ints=[7], cites=(INTS,))
case("ints_none", Tag.EDGE, value_ints=[], cites=(INTS,))
for name, text in {"ascii": "abc", "empty": "", "other": "äß日本語𝄞", "blanks": " \t\n"}.items():
    case(f"string_{name}", value_string=text, cites=(STRING,))
case("strings", value_strings=["b", "", "ä"], cites=(STRINGS,))
case("strings_one", Tag.EDGE, value_strings=["b"], cites=(STRINGS,))
case("strings_none", Tag.EDGE, value_strings=[], cites=(STRINGS,))

case("nothing_old", before=11, rejects=Rule.ATTRIBUTES)
case("nothing_of_two", rejects=ONE_OF_TWO)
case("nothing", rejects=ONE_OF)
BOTH: dict[str, Any] = {"value": typed("float", [5, 6]), "sparse_value": SPARSES["full"]}
case("both", **BOTH, rejects=ONE_OF_TWO)
case("value_and_sparse", **BOTH, rejects=ONE_OF)
case("value_and_int", value=typed("float", [5]), value_int=5, rejects=ONE_OF)
case("int_and_ints", value_int=5, value_ints=[5], rejects=ONE_OF)
case("float_and_string", value_float=5.0, value_string="5", rejects=ONE_OF)
case("value_and_empty_ints", Tag.EDGE, value=typed("float", [5]), value_ints=[], rejects=ONE_OF)
case("outside", Tag.DTYPE, outside="T", value=typed("{T}", ramp(2)), rejects=Rule.TYPES)
case("sparse_old", Tag.CHANGE, value=typed("float", [5]), stray={"sparse_value": 1}, before=11, rejects=Rule.ATTRIBUTES)
case("int_old", Tag.CHANGE, value=typed("float", [5]), stray={"value_int": 1}, before=12, rejects=Rule.ATTRIBUTES)
case("attribute_shape", value=typed("float", [5]), stray={"shape": [1]}, rejects=Rule.ATTRIBUTES)
case("no_outputs", value=typed("float", [5]), n=0, rejects=Rule.ARITY)
case("two_outputs", value=typed("float", [5]), n=2, rejects=Rule.ARITY)
