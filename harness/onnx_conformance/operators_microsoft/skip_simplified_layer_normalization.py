# SPDX-License-Identifier: Apache-2.0
"""SkipSimplifiedLayerNormalization: the sum of a tensor, a skip connection and a bias, divided by its root mean square.

    output, mean, inv_std_var, input_skip_bias_sum =
        SkipSimplifiedLayerNormalization(input, skip, gamma, bias=None, epsilon=1e-12)

Versions: 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, ramp, typed, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators_microsoft._skipped import added, leaves_range, scaled_by_root, scaled_by_root_errors


def _terms(input: Array, skip: Array, bias: Array | None) -> list[Array]:
    return [input, skip] if bias is None else [input, skip, bias]


def _errors(input: Array, skip: Array, gamma: Array, bias: Array | None, epsilon: float) -> list[Array]:
    """Return the allowed errors; see `scaled_by_root_errors`. No case with an answer has a mean."""
    result, inverse, of_sum = scaled_by_root_errors(_terms(input, skip, bias), epsilon, gamma)
    return [result, np.zeros(inverse.shape), inverse, of_sum]


ROOT = Op(
    "SkipSimplifiedLayerNormalization",
    versions=(1,),
    compare=bounded(
        _errors, "the sum rounds to the type of the tensors, the squares as float32, the products twice", steps=True
    ),
    domain="com.microsoft",
    rank="input",
    widens=False,  # The allowed error depends on the type of the tensors.
)
ROOT.example(input=waves(2, 3, 4), skip=waves(2, 3, 4), gamma=ramp(4), bias=ramp(4), epsilon=0.25, n=4, omits=("mean",))

ROOT_MEAN_SQUARE = ROOT.clause(
    "Skip and Root Mean Square Layer Normalization",
    note="The text has no formula. The outputs define the sum. Root mean square layer normalization (Zhang and "
    "Sennrich, 2019) of the hidden units is x / sqrt(mean(x * x) + epsilon) * gamma, over the last axis. The text does "
    "not define the mean of no elements, the quotient of infinities, squares beyond the range of float32, or sums "
    "beyond that of the type.",
)
SHAPES = ROOT.clause(
    "3D input tensor with shape (batch_size, sequence_length, hidden_size)Or 2D input tensor with shape (token_count, "
    "hidden_size)",
    note="Input and skip have this sentence. The text does not define the sum of tensors with different ranks.",
)
GAMMA = ROOT.clause("1D input tensor with shape (hidden_size)")
BIAS = ROOT.clause("1D bias tensor with shape (hidden_size")
OUTPUT = ROOT.clause(
    "3D output tensor with shape (batch_size, sequence_length, hidden_size)Or 2D output tensor with shape "
    "(token_count, hidden_size)"
)
MEAN = ROOT.clause(
    "Saved mean used during training to speed up gradient computation",
    note="This normalization has no mean, so the text does not define the values.",
)
INVERSE = ROOT.clause(
    "Saved inverse standard variance used during training to speed up gradient computation.",
    note="The gradient needs 1 / sqrt(mean(x * x) + epsilon). The text does not define the shape. LayerNormalization "
    "of ONNX describes the same output, with the normalized dimensions as ones.",
)
SUM = ROOT.clause(
    "Sum of the input and skip inputs (and bias if it exists)with shape (batch_size, sequence_length, hidden_size) or "
    "(token_count, hidden_size)."
)
EPSILON = ROOT.clause("The epsilon value to use to avoid division by zero.")
FLOATS = ROOT.clause("Constrain mean and inv_std_var to float tensors.")
ROOT.excuse("output mean given", "the normalization by the root mean square has no mean")


@ROOT.oracle()
def root(
    v: Version,
    input: Array,
    skip: Array,
    gamma: Array,
    bias: Array | None,
    epsilon: float,
    n: int,
    omits: tuple[str, ...],
) -> tuple[Array, Array, Array, Array]:
    """Return the normalized sum, no mean, the inverse of the root mean square, and the sum."""
    v.require(SHAPES, input.ndim in {2, 3})
    v.silent(SHAPES, skip.ndim in {2, 3} and skip.ndim != input.ndim)
    v.require(SHAPES, skip.shape == input.shape)
    hidden = input.shape[-1:]
    v.require(GAMMA, gamma.shape == hidden)
    v.require(BIAS, bias is None or bias.shape == hidden)
    v.silent(MEAN, n > 1 and "mean" not in omits)
    v.silent(ROOT_MEAN_SQUARE, hidden == (0,))
    total = added(_terms(input, skip, bias))
    v.silent(ROOT_MEAN_SQUARE, leaves_range(total, input.dtype))
    with np.errstate(all="ignore"):
        result, inverse = scaled_by_root(total, epsilon)
        return result * gamma.astype(np.float64), np.empty(inverse.shape), inverse, total


case = ROOT.case
CUBE, OTHER = waves(2, 3, 4), np.cos(np.arange(24.0) * 0.9).reshape(2, 3, 4) * 2
GAMMA_OF_4, BIAS_OF_4 = [1.5, -0.5, 2, 1], [-1, 0.75, 2.5, -0.125]
PLAIN: dict[str, Any] = {"input": CUBE, "skip": OTHER, "gamma": GAMMA_OF_4}
WHOLE: dict[str, Any] = {**PLAIN, "bias": BIAS_OF_4}
ALL: dict[str, Any] = {"n": 4, "omits": ("mean",)}
"""All outputs that the text defines."""

case("plain", **WHOLE, **ALL, cites=(ROOT_MEAN_SQUARE, SHAPES, GAMMA, BIAS, OUTPUT, INVERSE, SUM))
case("scale_alone", **PLAIN, **ALL, cites=(ROOT_MEAN_SQUARE, SUM))
case("mean_is_not_taken_out", input=CUBE + 5, skip=OTHER, gamma=GAMMA_OF_4, **ALL, cites=(ROOT_MEAN_SQUARE, INVERSE))
case("matrix", input=CUBE[0], skip=OTHER[0], gamma=GAMMA_OF_4, bias=BIAS_OF_4, **ALL, cites=(SHAPES, OUTPUT, SUM))
case("matrix_scale_alone", input=CUBE[0], skip=OTHER[0], gamma=GAMMA_OF_4, cites=SHAPES)
case("output_alone", **WHOLE, cites=ROOT_MEAN_SQUARE)
case("sum_alone", **WHOLE, n=4, omits=("mean", "inv_std_var"), cites=SUM)
case("inverse_alone", **WHOLE, n=3, omits=("mean",), cites=INVERSE)
case("mean", **WHOLE, n=2, unspecified=MEAN)
case("every_output", **WHOLE, n=4, unspecified=MEAN)
case("batch_one", Tag.EDGE, input=CUBE[:1], skip=OTHER[:1], gamma=GAMMA_OF_4, **ALL, cites=SHAPES)
case("token_one", Tag.EDGE, input=CUBE[0, :1], skip=OTHER[0, :1], gamma=GAMMA_OF_4, **ALL, cites=SHAPES)
case("hidden_one", Tag.EDGE, input=ramp(2, 3, 1), skip=ramp(2, 3, 1), gamma=[2], **ALL, cites=ROOT_MEAN_SQUARE)
case("no_batches", Tag.EDGE, input=ramp(0, 3, 4), skip=ramp(0, 3, 4), gamma=GAMMA_OF_4, **ALL, cites=OUTPUT)
case("no_tokens", Tag.EDGE, input=ramp(0, 4), skip=ramp(0, 4), gamma=GAMMA_OF_4, **ALL, cites=OUTPUT)
case("no_hidden", Tag.EDGE, input=ramp(2, 0), skip=ramp(2, 0), gamma=ramp(0), unspecified=ROOT_MEAN_SQUARE)

case("epsilon", **WHOLE, **ALL, epsilon=0.75, cites=EPSILON)
case("epsilon_zero", Tag.EDGE, **WHOLE, **ALL, epsilon=0.0, cites=EPSILON)
LITTLE: dict[str, Any] = {"input": CUBE * 2.0**-20, "skip": OTHER * 2.0**-20, "gamma": GAMMA_OF_4}
case("epsilon_beside_little", Tag.EDGE, **LITTLE, **ALL, cites=EPSILON)
OPPOSITE = np.array([[[3, 3, 3, 3], [-2, 1, 4, 0.5]]])
case("sum_of_zeros", Tag.EDGE, input=OPPOSITE, skip=-OPPOSITE, gamma=GAMMA_OF_4, **ALL, cites=EPSILON)
NOT_A_NUMBER = [[np.nan, 1, 2, 3], [4, 5, 7, 6]]
case("nan", Tag.EDGE, input=NOT_A_NUMBER, skip=ramp(2, 4), gamma=GAMMA_OF_4, **ALL, cites=ROOT_MEAN_SQUARE)
INFINITE = [[np.inf, 1, 2, 3], [4, 5, 7, 6]]
case("infinity", Tag.EDGE, input=INFINITE, skip=ramp(2, 4), gamma=GAMMA_OF_4, unspecified=ROOT_MEAN_SQUARE)
case("squares_large", Tag.EDGE, input=CUBE * 1e15, skip=OTHER * 1e15, gamma=GAMMA_OF_4, **ALL, cites=ROOT_MEAN_SQUARE)
ROW: dict[str, Any] = {"input": np.full((1, 1, 4), 1.2e19), "skip": np.zeros((1, 1, 4)), "gamma": GAMMA_OF_4}
case("sum_of_squares_beyond_float", Tag.EDGE, **ROW, unspecified=ROOT_MEAN_SQUARE)
BEYOND: dict[str, Any] = {"input": [[40000, 1, 2, 3]], "skip": [[30000, 1, 5, 4]], "gamma": GAMMA_OF_4}
HALVES: dict[str, Any] = {name: typed("float16", value) for name, value in BEYOND.items()}
case("sum_beyond_float16", Tag.EDGE, **HALVES, unspecified=ROOT_MEAN_SQUARE)
case("squares_beyond_float", Tag.EDGE, input=CUBE * 1e30, skip=OTHER, gamma=GAMMA_OF_4, unspecified=ROOT_MEAN_SQUARE)
case("gamma_not_finite", Tag.EDGE, input=CUBE, skip=OTHER, gamma=[np.inf, -np.inf, np.nan, 0], cites=GAMMA)
case("dtypes", Tag.DTYPE, each="T", **WHOLE, **ALL, cites=(ROOT_MEAN_SQUARE, FLOATS))
case("dtypes_scale_alone", Tag.DTYPE, each="T", **PLAIN, cites=ROOT_MEAN_SQUARE)
LARGE: dict[str, Any] = {"input": typed("float16", CUBE * 300), "skip": typed("float16", OTHER * 300)}
case("float16_squares_beyond_its_range", Tag.EDGE, **LARGE, gamma=typed("float16", GAMMA_OF_4), **ALL)

for name, (input_, skip_) in {"vector": (CUBE[0, 0], OTHER[0, 0]), "rank4": (CUBE[None], OTHER[None])}.items():
    case(f"input_{name}", input=input_, skip=skip_, gamma=GAMMA_OF_4, rejects=SHAPES)
NO_SKIPS = vary(one_batch=ramp(1, 3, 4), one_token=ramp(2, 1, 4), vector=ramp(4), other_hidden=ramp(2, 3, 1))
case("skip", input=CUBE, skip=NO_SKIPS, gamma=GAMMA_OF_4, rejects=SHAPES)
case("skip_of_other_tokens", input=CUBE[0], skip=ramp(1, 4), gamma=GAMMA_OF_4, rejects=SHAPES)
case("skip_without_batch", input=CUBE, skip=OTHER[0], gamma=GAMMA_OF_4, unspecified=SHAPES)
case("skip_of_tokens", input=CUBE, skip=OTHER.reshape(6, 4), gamma=GAMMA_OF_4, unspecified=SHAPES)
case("skip_with_batch", input=CUBE[0], skip=OTHER[:1], gamma=GAMMA_OF_4, unspecified=SHAPES)
WRONG = {"of_one": [1], "too_long": ramp(5), "matrix": ramp(1, 4), "scalar": 1}
case("gamma", input=CUBE, skip=OTHER, gamma=vary(**WRONG), rejects=GAMMA)
case("bias", **PLAIN, bias=vary(**WRONG), rejects=BIAS)

SIZES = [*grid(b=(2,), s=(3,), h=(1, 7, 8, 17, 64, 129, 768, 1025)), *grid(b=(1,), s=(17, 64), h=(100, 384))]
for name, dims in {"batches": ("b", "s", "h"), "tokens": (("b", "s"), "h")}.items():
    tensors = {"input": filled(*dims), "skip": filled(*dims), "gamma": filled("h"), "bias": filled("h")}
    sizes = SIZES if name == "batches" else SIZES[::3]
    ROOT.sized(name, sizes, each="T", cites=(ROOT_MEAN_SQUARE, SHAPES), arguments=tensors)
