# SPDX-License-Identifier: Apache-2.0
"""GroupedMatMul: multiply each row of a matrix by one or several selected matrices, as in mixtures of experts.

    output = GroupedMatMul(input, weights, group_indices, bias=None)

Versions: 29.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Clause, Op, PartlyOpen, Tag, Version, bounded, ramp, typed, value_of, vary
from onnx_conformance.declare.families.sums import BEYOND_FLOAT16, but_where, overflows, roundings
from onnx_conformance.declare.sizes import filled, pairwise

MATRIX, STACK = 2, 3
"""Ranks."""


def _results(input: Array, weights: Array, group_indices: Array, bias: Array | None) -> Array:
    """Return the outputs of the definition, in real numbers."""
    with np.errstate(all="ignore"):
        products = input.astype(np.longdouble)[:, None, :, None] * weights[group_indices]  # [M, S, K, N]
        output: Array = products.sum(axis=2) + (0 if bias is None else bias[group_indices])
    return output


def _magnitudes(input: Array, weights: Array, group_indices: Array, bias: Array | None) -> Array:
    """Return the same sums for absolute values."""
    return _results(np.abs(input), np.abs(weights), group_indices, None if bias is None else np.abs(bias))


def _rounding(input: Array, weights: Array, group_indices: Array, bias: Array | None) -> list[Array]:
    """Return half a rounding of all magnitudes for each product and sum; 0 for a single product, rounded once."""
    terms = input.shape[1] + (bias is not None)
    return [_magnitudes(input, weights, group_indices, bias) * (roundings(terms + 1) / 2 if terms > 1 else 0)]


GROUPED = Op(
    "GroupedMatMul",
    versions=(29,),
    compare=bounded(_rounding, "K products, their sums and the bias round by half an epsilon of all magnitudes"),
    rank=lambda _: STACK,
)
GROUPED.example(
    input=ramp(2, 3), weights=ramp(4, 3, 5), group_indices=[[1, 0], [3, 1]], bias=np.arange(20.0).reshape(4, 5)
)

MULTIPLIES = GROUPED.clause(
    "GroupedMatMul multiplies each row of a token matrix by one or more selected group (expert) weight matrices."
)
SHAPES = GROUPED.clause(
    "Given `input` of shape `[M, K]`, `weights` of shape `[G, K, N]`, and `group_indices` of shape `[M, S]`, where `S` "
    "is the number of selections per token, the output has shape `[M, S, N]` and is defined by:"
)
DEFINITION = GROUPED.clause(
    "output[m, i] = input[m] @ weights[group_indices[m, i]]", note="A sum of no products is 0, as in numpy."
)
ADDED = GROUPED.clause("If `bias` is present, `bias[group_indices[m, i]]` is added to each corresponding result.")
RANGE = GROUPED.clause("Every value in `group_indices` must be in the range `[0, G)`.", result=True)
OUTSIDE = GROUPED.clause(
    "Values outside this range, including negative indices, are invalid input; the behavior is undefined for such "
    "inputs.",
    note="The behavior is undefined, so a runtime does not have to reject such values.",
)
NO_COUNTING = GROUPED.clause(
    "In particular, negative indices do not select groups by counting backwards from `G`.", result=True
)
INVALID = GROUPED.clause(
    "Group index for each token and selection, with shape [M, S]. Values outside [0, G) are invalid input."
)
INPUT = GROUPED.clause("Token matrix with shape [M, K].")
WEIGHTS = GROUPED.clause("Stack of G group weight matrices with shape [G, K, N].")
BIAS = GROUPED.clause("Optional per-group bias with shape [G, N].")
QUANTIZED = GROUPED.clause(
    "Weight-only quantized experts are intended to be expressed by applying DequantizeLinear to quantized weights "
    "(with the appropriate scales and zero points) and passing the result to GroupedMatMul."
)
OUTPUT = GROUPED.clause("Per-group matrix multiplication results with shape [M, S, N].")


@GROUPED.oracle()
def grouped(v: Version, input: Array, weights: Array, group_indices: Array, bias: Array | None) -> Array | PartlyOpen:
    """Return the product of each row with each matrix selected for it, plus the bias of that matrix."""
    v.require(INPUT, input.ndim == MATRIX)
    v.require(WEIGHTS, weights.ndim == STACK)
    v.require(SHAPES, input.shape[1] == weights.shape[1])
    v.require(SHAPES, group_indices.ndim == MATRIX and group_indices.shape[0] == input.shape[0])
    v.require(BIAS, bias is None or bias.shape == (weights.shape[0], weights.shape[2]))
    v.silent(OUTSIDE, bool(((group_indices < 0) | (group_indices >= weights.shape[0])).any()))
    total = _results(input, weights, group_indices, bias)
    return but_where(overflows(total, _magnitudes(input, weights, group_indices, bias), v.dtypes["T"]), total)


case = GROUPED.case


def waves(*shape: int, start: int = 0) -> Array:
    """Return numbers of both signs. All rows and columns are different."""
    return np.sin((start + np.arange(np.prod(shape, dtype=int))) * 1.7).reshape(shape) * 3


X, W, B = waves(5, 3), waves(4, 3, 2, start=7), waves(4, 2, start=40)
TWO = [[1, 0], [3, 1], [2, 3], [0, 2], [3, 0]]
case("plain", input=X, weights=W, group_indices=TWO, cites=(MULTIPLIES, SHAPES, DEFINITION, INPUT, WEIGHTS, OUTPUT))
case("bias", input=X, weights=W, group_indices=TWO, bias=B, cites=(ADDED, BIAS))
case("one_selection", input=X, weights=W, group_indices=[[2], [0], [3], [3], [1]], bias=B, cites=(DEFINITION, ADDED))
case("four_selections", input=X[:2], weights=W, group_indices=[[3, 2, 1, 0], [0, 3, 1, 2]], cites=DEFINITION)
case("same_group_twice", input=X[:2], weights=W, group_indices=[[1, 1], [2, 2]], bias=B, cites=(DEFINITION, ADDED))
case("last_group", input=X[:1], weights=W, group_indices=[[3]], bias=B, cites=(RANGE, DEFINITION))
case("index_types", Tag.DTYPE, each="Tind", input=X, weights=W, group_indices=TWO, bias=B, cites=(DEFINITION, ADDED))
case("types", Tag.DTYPE, each="T", input=X, weights=W, group_indices=TWO, bias=B, cites=(DEFINITION, ADDED))
WHOLE = [[[7, 8], [-9, 10], [11, -12]]]
case("whole_numbers", input=[[1, -2, 3]], weights=WHOLE, group_indices=[[0]], cites=DEFINITION)
case(
    "dequantized_weights",
    input=X,
    weights=value_of("w"),
    group_indices=TWO,
    around={"q": typed("int8", np.arange(24).reshape(4, 3, 2) * 7 - 80), "scale": typed("float", 0.0625)},
    beside="w = DequantizeLinear(q, scale)",
    cites=QUANTIZED,
)

EDGES = {
    "one_of_each": ((1, 1), (1, 1, 1), [[0]]),
    "one_group": ((3, 2), (1, 2, 4), [[0, 0]] * 3),
    "one_column": ((2, 3), (4, 3, 1), [[3, 1], [0, 2]]),
    "one_row": ((1, 3), (2, 3, 4), [[1, 0, 1]]),
    "no_tokens": ((0, 3), (2, 3, 4), np.zeros((0, 2), int)),
    "no_selections": ((2, 3), (2, 3, 4), np.zeros((2, 0), int)),
    "no_products": ((2, 0), (2, 0, 4), [[1], [0]]),
    "no_columns": ((2, 3), (2, 3, 0), [[1], [0]]),
    "no_groups": ((2, 3), (0, 3, 4), np.zeros((2, 0), int)),
}
for name, (tokens, stack, chosen) in EDGES.items():
    bias = vary(none=None, bias=waves(stack[0], stack[2], start=3))
    arguments: dict[str, Any] = {"input": waves(*tokens), "weights": waves(*stack, start=5), "group_indices": chosen}
    case(f"edge_{name}", Tag.EDGE, **arguments, bias=bias, cites=SHAPES)

SQUARE = waves(3, 3, 3, start=2)  # The shape does not show which axis is which.
case("square", input=waves(3, 3), weights=SQUARE, group_indices=[[0, 2, 1], [1, 0, 2], [2, 1, 0]], cites=DEFINITION)
MOVING = [np.eye(3), np.eye(3)[[2, 0, 1]]]
case("identity", input=waves(2, 3), weights=MOVING, group_indices=[[0, 1]] * 2, cites=DEFINITION)

for name, index in {"below": -1, "far_below": -5, "above": 4, "far_above": 2**31 - 1}.items():
    for kind in ("int32", "int64"):
        arguments = {"input": X[:1], "weights": W, "group_indices": typed(kind, [[index]])}
        case(f"{name}_{kind}", Tag.EDGE, **arguments, cites=(INVALID, NO_COUNTING), unspecified=OUTSIDE)

MISFITS: dict[str, tuple[Clause, dict[str, Any]]] = {
    "input_of_rank_1": (INPUT, {"input": ramp(3)}),
    "input_of_rank_3": (INPUT, {"input": ramp(1, 5, 3)}),
    "weights_of_rank_2": (WEIGHTS, {"weights": ramp(3, 2)}),
    "weights_of_rank_4": (WEIGHTS, {"weights": ramp(1, 4, 3, 2)}),
    "weights_transposed": (SHAPES, {"weights": ramp(4, 2, 3)}),
    "indices_of_rank_1": (SHAPES, {"group_indices": [0, 1, 2, 3, 0]}),
    "indices_of_rank_3": (SHAPES, {"group_indices": np.zeros((5, 2, 1), int)}),
    "indices_of_fewer_tokens": (SHAPES, {"group_indices": [[0], [1]]}),
    "indices_of_one_token": (SHAPES, {"group_indices": [[0, 1]]}),
    "bias_of_rank_1": (BIAS, {"bias": ramp(2)}),
    "bias_of_one_group": (BIAS, {"bias": ramp(1, 2)}),
    "bias_of_one_column": (BIAS, {"bias": ramp(4, 1)}),
    "bias_transposed": (BIAS, {"bias": ramp(2, 4)}),
}
for name, (rejects, changed) in MISFITS.items():
    arguments = {"input": X, "weights": W, "group_indices": TWO, **changed}
    case(name, Tag.EDGE, **arguments, rejects=rejects)

INF, NAN = np.inf, np.nan
STRANGE = np.array([[INF, 1, 2], [NAN, 4, 5], [0, 1, 1]])
OF_STRANGE = np.abs(W[:2]) * [[[1], [1], [1]], [[0], [1], [1]]]  # An infinity and a NaN times a number, and times zero.
case("not_finite", Tag.EDGE, input=STRANGE, weights=OF_STRANGE, group_indices=[[0, 1]] * 3, cites=DEFINITION)
NOT_SELECTED = np.stack([W[0], np.full((3, 2), NAN)])
case("nan_not_selected", Tag.EDGE, input=X[:2], weights=NOT_SELECTED, group_indices=[[0], [0]], cites=DEFINITION)
BIASES, FIRST = [[INF, 0], [0, NAN], [-INF, 1], [1, 1]], [[0], [1], [2]]
case("bias_not_finite", Tag.EDGE, input=X[:3], weights=W, group_indices=FIRST, bias=BIASES, cites=ADDED)
case("zeros", Tag.EDGE, input=[[0.0, -0.0]], weights=np.ones((1, 2, 1)), group_indices=[[0]], cites=DEFINITION)
LONG = np.cos(np.arange(900.0))
ROW, MATRICES = LONG[:300].reshape(1, 300), LONG[300:].reshape(1, 300, 2)
case("long", input=ROW, weights=MATRICES, group_indices=[[0]], cites=DEFINITION)
MANY = typed("float16", np.abs(np.resize(LONG, (2, 512))) * [[1], [3]])
FOR_MANY = typed("float16", np.abs(np.resize(LONG[::-1], (2, 512, 3))) * [1, 2, 4] * [[[1]], [[3]]])
case("many_terms_float16", Tag.EDGE, input=MANY, weights=FOR_MANY, group_indices=[[1, 0]] * 2, cites=DEFINITION)
TERMS, ONES = typed("float16", BEYOND_FLOAT16), typed("float16", np.ones((1, 5, 1)))
case("partial_sums_beyond_float16", Tag.EDGE, input=TERMS, weights=ONES, group_indices=[[0]] * 8, cites=DEFINITION)

for name, added in {"grouped": {}, "biased": {"bias": filled("g", "n")}}.items():
    chosen = pairwise(most=1 << 20, m=(1, 7, 17, 64), k=(1, 8, 33, 64), n=(3, 16, 65), g=(1, 4, 9), s=(1, 2))
    of_sizes: dict[str, Any] = {
        "input": filled("m", "k"),
        "weights": filled("g", "k", "n"),
        "group_indices": filled("m", "s", below="g"),
        **added,
    }
    GROUPED.sized(name, chosen, each="T", cites=(DEFINITION, ADDED), arguments=of_sizes)
