# SPDX-License-Identifier: Apache-2.0
"""EyeLike: ones on a diagonal of a matrix with the shape of the input.

    output = EyeLike(input, dtype=None, k=0)

Versions: 9, 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, attribute, element_type, ramp, typed, vary
from onnx_conformance.declare.sizes import filled, grid

EYE = Op(
    "EyeLike", versions=(9, 22), compare=EXACT, rank="input", widens=False, derives={"T2": attribute("dtype", "T1")}
)
EYE.example(input=ramp(2, 3), dtype=element_type("{T2}"), k=1)

GENERATES = EYE.clause("Generate a 2D tensor (matrix) with ones on the diagonal and zeros everywhere else.")
MATRIX = EYE.clause("Only 2D tensors are supported, i.e. input T1 must be of rank 2.")
SAME_SHAPE = EYE.clause("The shape of the output tensor is the same as the input tensor.")
SPECIFIED = EYE.clause("The data type can be specified by the 'dtype' argument.")
TYPE_OF_INPUT = EYE.clause("If 'dtype' is not specified, then the type of input tensor is used.")
MAIN = EYE.clause(
    "By default, the main diagonal is populated with ones, but attribute 'k' can be used to populate upper or lower "
    "diagonals."
)
VALID = EYE.clause(
    "The 'dtype' argument must be one of the data types specified in the 'DataType' enum field in the TensorProto "
    "message and be valid as an output type."
)
K = EYE.clause(
    "Index of the diagonal to be populated with ones. Default is 0. If T2 is the output, this op sets T2[i, i+k] = 1. "
    "k = 0 populates the main diagonal, k > 0 populates an upper diagonal, and k < 0 populates a lower diagonal."
)
OUTPUT_TYPES = EYE.clause("Constrain output types. Strings and complex are not supported.")


@EYE.oracle()
def diagonal(v: Version, input: Array, k: int) -> Array:
    """Return zeros of the input's shape, with 1 at [i, i + k]."""
    v.require(MATRIX, input.ndim == 2)  # noqa: PLR2004 - the text's own number
    rows, columns = np.indices(input.shape)
    return np.asarray(columns == rows + k).astype(v.dtypes["T2"])


case = EYE.case

for name, shape in {"wide": (3, 5), "tall": (5, 3), "square": (4, 4), "row": (1, 4), "column": (4, 1)}.items():
    case(f"{name}_default", input=ramp(*shape), cites=(GENERATES, MAIN, SAME_SHAPE))
    for k in (0, 1, -1, 2, -2):
        case(f"{name}_k_{k}".replace("-", "minus_"), input=ramp(*shape), k=k, cites=(K, MAIN))
for name, k in {
    "last_column": 4,
    "beyond_columns": 5,
    "last_row": -2,
    "beyond_rows": -3,
    "far": 1000,
    "far_below": -1000,
    "beyond_int32": 2**32,
    "below_int32": -(2**32),
    "highest": 2**63 - 1,
    "lowest": -(2**63),
}.items():
    case(f"k_{name}", Tag.EDGE, input=ramp(3, 5), k=k, cites=K)
for name, shape in {"no_rows": (0, 3), "no_columns": (3, 0), "nothing": (0, 0), "one": (1, 1)}.items():
    case(name, Tag.EDGE, input=ramp(*shape), cites=SAME_SHAPE)
case("values_make_no_difference", Tag.EDGE, input=[[np.nan, np.inf], [-np.inf, 7]], cites=GENERATES)
case("large", input=ramp(33, 70), k=17, cites=K)
case("dtypes", Tag.DTYPE, each="T1", input=ramp(2, 3), cites=TYPE_OF_INPUT)
case("output_dtypes", Tag.DTYPE, each="T2", input=ramp(2, 3), dtype=element_type("{T2}"), cites=(SPECIFIED, VALID))
case("output_dtypes_k", Tag.DTYPE, each="T2", input=ramp(3, 2), dtype=element_type("{T2}"), k=-1, cites=OUTPUT_TYPES)
case("dtype_of_the_input", input=typed("int32", ramp(2, 3)), dtype=element_type("int32"), cites=SPECIFIED)
case("rank", Tag.EDGE, input=vary(vector=ramp(3), cube=ramp(2, 2, 2), scalar=3), rejects=MATRIX)
case("dtype_outside", Tag.DTYPE, input=ramp(2, 3), dtype=element_type("string"), rejects=OUTPUT_TYPES)
case("dtype_complex", Tag.DTYPE, input=ramp(2, 3), dtype=element_type("complex64"), rejects=OUTPUT_TYPES)
case("dtype_of_no_type", Tag.EDGE, input=ramp(2, 3), dtype=99, rejects=VALID)

for name, k in {"main": 0, "above": 5, "below": -3}.items():
    EYE.sized(
        name,
        grid(m=(7, 33, 1025), n=(16, 65)),
        each="T1" if name == "main" else None,
        cites=(GENERATES, K),
        arguments={"input": filled("m", "n"), "k": k},
    )
