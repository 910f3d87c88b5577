# SPDX-License-Identifier: Apache-2.0
"""FeatureVectorizer: several tensors side by side, as floats.

    Y = FeatureVectorizer(X0, X1, ..., inputdimensions=[2, 3])

Versions: 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, ramp, typed

MATRIX = 2
VECTORIZER = Op(
    "FeatureVectorizer", versions=(1,), compare=EXACT, domain="ai.onnx.ml", rank=lambda _: MATRIX, widens=False
)
VECTORIZER.example(X=(ramp(2, 3), ramp(2, 2)), inputdimensions=[3, 2])
VECTORIZER.excuse("attribute inputdimensions unset", "nothing says what is done where the sizes are not given")

CONCATENATES = VECTORIZER.clause("Concatenates input tensors into one continuous output.")
SECOND = VECTORIZER.clause("All input shapes are 2-D and are concatenated along the second dimension.")
VECTORS = VECTORIZER.clause("1-D tensors are treated as [1,C].")
ORDER = VECTORIZER.clause("Inputs are copied to the output maintaining the order of the input arguments.")
FLOATS = VECTORIZER.clause(
    "All inputs must be integers or floats, while the output will be all floating point values.",
    note="A number that is not a float value becomes the nearest float.",
)
SIZES = VECTORIZER.clause(
    "The size of each input in the input list",
    note="The text does not define the result if it is missing or differs from the actual size.",
)
SAME_TYPE = VECTORIZER.clause("An ordered collection of tensors, all with the same element type.")
OUTPUT = VECTORIZER.clause("The output array, elements ordered as the inputs.")
NUMERIC = VECTORIZER.clause("The input type must be a tensor of a numeric type.")


@VECTORIZER.oracle()
def vector(v: Version, X: list[Array], inputdimensions: list[int] | None) -> Array:
    """Return the inputs side by side. Inputs of rank 1 are rows."""
    v.require(SECOND, all(item.ndim in {1, MATRIX} for item in X))
    tables = [np.atleast_2d(item) for item in X]
    v.silent(SIZES, inputdimensions != [table.shape[1] for table in tables])
    v.require(SECOND, len({len(table) for table in tables}) == 1)
    with np.errstate(over="ignore"):
        return np.concatenate(tables, 1).astype(np.float32)


case = VECTORIZER.case
A, B, C = [[1, 2, 3], [4, 5, 6]], [[-7, 0.5], [8, -0.25]], [[9], [10]]

case("two", X=(A, B), inputdimensions=[3, 2], cites=(CONCATENATES, SECOND, OUTPUT, SIZES))
case("three", X=(A, B, C), inputdimensions=[3, 2, 1], cites=(CONCATENATES, ORDER, OUTPUT))
case("turned", X=(C, B, A), inputdimensions=[1, 2, 3], cites=ORDER)
case("one", Tag.EDGE, X=(A,), inputdimensions=[3], cites=CONCATENATES)
case("same_twice", X=(B, B), inputdimensions=[2, 2], cites=ORDER)
case("vectors", X=([1, 2, 3], [4, 5]), inputdimensions=[3, 2], cites=VECTORS)
case("vector_alone", Tag.EDGE, X=([1, 2, 3],), inputdimensions=[3], cites=VECTORS)
case("vector_and_row", X=([1, 2, 3], [[4, 5]]), inputdimensions=[3, 2], cites=(VECTORS, SECOND))
case("no_rows", Tag.EDGE, X=(ramp(0, 3), ramp(0, 2)), inputdimensions=[3, 2], cites=SECOND)
case("no_columns", Tag.EDGE, X=(A, ramp(2, 0), C), inputdimensions=[3, 0, 1], cites=SECOND)
many: Any = tuple([[number], [-number]] for number in range(12))
case("many", X=many, inputdimensions=[1] * 12, cites=ORDER)
case("dtypes", Tag.DTYPE, each="T1", X=([[1, 2, 3], [4, 5, 6]], [[7, 0], [8, 9]]), inputdimensions=[3, 2],
     cites=(FLOATS, NUMERIC, SAME_TYPE))  # fmt: skip
case("special", Tag.EDGE, X=([[np.nan, np.inf]], [[-np.inf, -0.0]]), inputdimensions=[2, 2], cites=ORDER)
exact: Any = (typed("int64", [[2**24 + 1, 2**40]]), typed("int64", [[-(2**62), 3]]))
case("int64_nearest", Tag.EDGE, X=exact, inputdimensions=[2, 2], cites=FLOATS)
doubles: Any = (typed("double", [[0.1, 1 / 3]]), typed("double", [[1e-300, 2.0]]))
case("double_nearest", Tag.EDGE, X=doubles, inputdimensions=[2, 2], cites=FLOATS)
case("other_rows", X=(A, [[1, 2]]), inputdimensions=[3, 2], rejects=SECOND)
case("vector_beside_rows", X=(A, [1, 2]), inputdimensions=[3, 2], rejects=SECOND)
case("rank0", Tag.EDGE, X=(1, [2]), inputdimensions=[1, 1], rejects=SECOND)
case("rank3", Tag.EDGE, X=(ramp(1, 2, 3),), inputdimensions=[3], rejects=SECOND)
case("sizes_unset", X=(A, B), unspecified=SIZES)
case("sizes_too_small", Tag.EDGE, X=(A, B), inputdimensions=[2, 2], unspecified=SIZES)
case("sizes_too_large", Tag.EDGE, X=(A, B), inputdimensions=[3, 3], unspecified=SIZES)
case("sizes_too_few", Tag.EDGE, X=(A, B), inputdimensions=[3], unspecified=SIZES)
mixed: Any = (typed("float", A), typed("int64", C))
case("types_mixed", Tag.DTYPE, X=mixed, inputdimensions=[3, 1], rejects=SAME_TYPE)
texts: Any = (typed("string", [["a"]]),)
case("strings", Tag.DTYPE, X=texts, inputdimensions=[1], rejects=FLOATS)
case("bools", Tag.DTYPE, X=(typed("bool", [[True]]),), inputdimensions=[1], rejects=NUMERIC)
