# SPDX-License-Identifier: Apache-2.0
"""SkipLayerNormalization: layer normalization of the sum of a tensor, a skip connection and a bias.

    output, mean, inv_std_var, input_skip_bias_sum =
        SkipLayerNormalization(input, skip, gamma, beta=None, bias=None, epsilon=1e-12)

Versions: 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, ramp, typed, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import Dims, filled, grid
from onnx_conformance.operators_microsoft._skipped import added, leaves_range, standardized, standardized_errors


def _terms(input: Array, skip: Array, bias: Array | None) -> list[Array]:
    return [input, skip] if bias is None else [input, skip, bias]


def _errors(
    input: Array, skip: Array, gamma: Array, beta: Array | None, bias: Array | None, epsilon: float
) -> list[Array]:
    """Return the allowed errors; see `standardized_errors`."""
    return standardized_errors(_terms(input, skip, bias), epsilon, gamma, beta)


LAYER = Op(
    "SkipLayerNormalization",
    versions=(1,),
    compare=bounded(
        _errors, "the sum rounds to the type of the tensors, the statistics as float32, the products twice", steps=True
    ),
    domain="com.microsoft",
    rank=lambda _: 3,
    widens=False,  # The allowed error depends on the type of the tensors.
)
LAYER.example(input=waves(2, 3, 4), skip=waves(2, 3, 4), gamma=ramp(4), beta=ramp(4), bias=ramp(4), epsilon=0.25)

FUSION = LAYER.clause(
    "Skip and Layer Normalization Fusion",
    note="The text has no formula. The outputs define the sum. Layer normalization (Ba et al., 2016) of the hidden "
    "units is (x - mean) / sqrt(variance + epsilon) * gamma + beta, over the last axis. The text does not define the "
    "mean of no elements, the quotient of infinities, squares beyond the range of float32, or sums "
    "beyond that of the type.",
)
INPUT = LAYER.clause("3D input tensor with shape (batch_size, sequence_length, hidden_size)")
SKIP = LAYER.clause(
    "3D skip tensor with shape (batch_size, sequence_length, hidden_size) or (1, sequence_length, hidden_size) or "
    "(sequence_length, hidden_size)",
    note="A skip tensor without batches, or with one, is added to every batch.",
)
GAMMA = LAYER.clause("1D input tensor with shape (hidden_size)")
BETA = LAYER.clause("1D skip tensor with shape (hidden_size", note="It is the shift; without it, nothing is added.")
BIAS = LAYER.clause("1D bias tensor with shape (hidden_size")
OUTPUT = LAYER.clause("3D output tensor with shape (batch_size, sequence_length, hidden_size)")
MEAN = LAYER.clause(
    "Saved mean used during training to speed up gradient computation",
    note="The text does not define the shape. LayerNormalization of ONNX describes the same output in the same words, "
    "with the normalized dimensions as ones.",
)
INVERSE = LAYER.clause(
    "Saved inverse standard variance used during training to speed up gradient computation.",
    note="The gradient needs 1 / sqrt(variance + epsilon). The shape is that of the mean.",
)
SUM = LAYER.clause(
    "Sum of the input and skip inputs (and bias if it exists) with shape (batch_size, sequence_length, hidden_size)."
)
EPSILON = LAYER.clause("The epsilon value to use to avoid division by zero.")
FLOATS = LAYER.clause("Constrain mean and inv_std_var to float tensors.")


@LAYER.oracle()
def layer(
    v: Version, input: Array, skip: Array, gamma: Array, beta: Array | None, bias: Array | None, epsilon: float
) -> tuple[Array, Array, Array, Array]:
    """Return the normalized sum, its mean, its inverse standard deviation, and the sum."""
    v.require(INPUT, input.ndim == 3)  # noqa: PLR2004 - the text's own number
    v.require(SKIP, skip.shape in {input.shape, (1, *input.shape[1:]), input.shape[1:]})
    hidden = input.shape[2:]
    v.require(GAMMA, gamma.shape == hidden)
    v.require(BETA, beta is None or beta.shape == hidden)
    v.require(BIAS, bias is None or bias.shape == hidden)
    v.silent(FUSION, hidden == (0,))
    total = added(_terms(input, skip, bias))
    v.silent(FUSION, leaves_range(total, input.dtype))
    result, mean, inverse = standardized(total, epsilon)
    with np.errstate(all="ignore"):
        return added([result * gamma.astype(np.float64), np.zeros(1) if beta is None else beta]), mean, inverse, total


case = LAYER.case
CUBE, OTHER = waves(2, 3, 4), np.cos(np.arange(24.0) * 0.9).reshape(2, 3, 4) * 2
GAMMA_OF_4, BETA_OF_4, BIAS_OF_4 = [1.5, -0.5, 2, 1], [0.25, 1, -3, 0.5], [-1, 0.75, 2.5, -0.125]
PLAIN: dict[str, Any] = {"input": CUBE, "skip": OTHER, "gamma": GAMMA_OF_4}
WHOLE: dict[str, Any] = {**PLAIN, "beta": BETA_OF_4, "bias": BIAS_OF_4}
OUTPUTS = ("mean", "inv_std_var", "input_skip_bias_sum")

case("plain", **WHOLE, n=4, cites=(FUSION, INPUT, SKIP, GAMMA, BETA, BIAS, OUTPUT, MEAN, INVERSE, SUM))
case("scale_alone", **PLAIN, n=4, cites=(FUSION, SUM))
case("beta", **PLAIN, beta=BETA_OF_4, n=4, cites=(BETA, SUM))
case("bias", **PLAIN, bias=BIAS_OF_4, n=4, cites=(BIAS, SUM, MEAN))
for count in (1, 2, 3):
    case(f"outputs_{count}", **WHOLE, n=count, cites=FUSION)
for name in OUTPUTS:
    others = tuple(item for item in OUTPUTS if item != name)
    case(f"{name}_alone", **WHOLE, n=4, omits=others, cites={"mean": MEAN, "inv_std_var": INVERSE}.get(name, SUM))
SKIPS = vary(one_batch=OTHER[:1], no_batch=OTHER[0])
case("skip", input=CUBE, skip=SKIPS, gamma=GAMMA_OF_4, beta=BETA_OF_4, n=4, cites=(SKIP, SUM))
case("skip_of_square", input=waves(3, 3, 3), skip=OTHER[0, :, :3], gamma=[1, 2, 3], n=4, cites=SKIP)
case("batch_one", Tag.EDGE, input=CUBE[:1], skip=OTHER[:1], gamma=GAMMA_OF_4, n=4, cites=FUSION)
case("token_one", Tag.EDGE, input=CUBE[:1, :1], skip=OTHER[:1, :1], gamma=GAMMA_OF_4, n=4, cites=FUSION)
case("hidden_one", Tag.EDGE, input=ramp(2, 3, 1), skip=ramp(2, 3, 1), gamma=[2], beta=[-1], n=4, cites=FUSION)
case("no_batches", Tag.EDGE, input=ramp(0, 3, 4), skip=ramp(3, 4), gamma=GAMMA_OF_4, n=4, cites=OUTPUT)
case("no_tokens", Tag.EDGE, input=ramp(2, 0, 4), skip=ramp(2, 0, 4), gamma=GAMMA_OF_4, n=4, cites=OUTPUT)
case("no_hidden", Tag.EDGE, input=ramp(2, 3, 0), skip=ramp(2, 3, 0), gamma=ramp(0), n=4, unspecified=FUSION)

case("epsilon", **WHOLE, epsilon=0.75, n=4, cites=EPSILON)
case("epsilon_zero", Tag.EDGE, **WHOLE, epsilon=0.0, n=4, cites=EPSILON)
LITTLE: dict[str, Any] = {"input": CUBE * 2.0**-20, "skip": OTHER * 2.0**-20, "gamma": GAMMA_OF_4}
case("epsilon_beside_little", Tag.EDGE, **LITTLE, n=4, cites=EPSILON)
OPPOSITE = np.array([[[3, 3, 3, 3], [-2, 1, 4, 0.5]]])
case("sum_of_zeros", Tag.EDGE, input=OPPOSITE, skip=-OPPOSITE, gamma=GAMMA_OF_4, beta=BETA_OF_4, n=4)
FAR = [[[100, 101, 103, 104]]]
case("far_from_zero", Tag.EDGE, input=FAR, skip=np.zeros((1, 1, 4)), gamma=GAMMA_OF_4, n=4, cites=FUSION)
NOT_A_NUMBER = [[[np.nan, 1, 2, 3], [4, 5, 7, 6]]]
case("nan", Tag.EDGE, input=NOT_A_NUMBER, skip=ramp(2, 4), gamma=GAMMA_OF_4, n=4, cites=FUSION)
INFINITE = [[[np.inf, 1, 2, 3], [4, 5, 7, 6]]]
case("infinity", Tag.EDGE, input=INFINITE, skip=ramp(2, 4), gamma=GAMMA_OF_4, n=4, unspecified=FUSION)
case("squares_large", Tag.EDGE, input=np.multiply(CUBE, 1e15), skip=OTHER * 1e15, gamma=GAMMA_OF_4, n=4, cites=FUSION)
ROW: dict[str, Any] = {"input": np.full((1, 1, 4), 1.2e19), "skip": np.zeros((1, 4)), "gamma": GAMMA_OF_4}
case("sum_of_squares_beyond_float", Tag.EDGE, **ROW, unspecified=FUSION)
BEYOND: dict[str, Any] = {"input": [[[40000, 1, 2, 3]]], "skip": [[30000, 1, 5, 4]], "gamma": GAMMA_OF_4}
HALVES: dict[str, Any] = {name: typed("float16", value) for name, value in BEYOND.items()}
case("sum_beyond_float16", Tag.EDGE, **HALVES, unspecified=FUSION)
case("squares_beyond_float", Tag.EDGE, input=CUBE * 1e30, skip=OTHER, gamma=GAMMA_OF_4, unspecified=FUSION)
case("gamma_not_finite", Tag.EDGE, input=CUBE, skip=OTHER, gamma=[np.inf, -np.inf, np.nan, 0], cites=GAMMA)
case("dtypes", Tag.DTYPE, each="T", **WHOLE, n=4, cites=(FUSION, FLOATS))
case("dtypes_scale_alone", Tag.DTYPE, each="T", **PLAIN, cites=FUSION)
LARGE: dict[str, Any] = {"input": typed("float16", CUBE * 300), "skip": typed("float16", OTHER * 300)}
case("float16_squares_beyond_its_range", Tag.EDGE, **LARGE, gamma=typed("float16", GAMMA_OF_4), n=4, cites=FUSION)

NO_CUBE = vary(matrix=(CUBE[0], OTHER[0]), rank4=(CUBE[None], OTHER[None]))
for name, (input_, skip_) in NO_CUBE.values.items():
    case(f"input_{name}", input=input_, skip=skip_, gamma=GAMMA_OF_4, rejects=INPUT)
NO_SKIPS = vary(
    other_batches=ramp(3, 3, 4), one_token=ramp(2, 1, 4), one_row=ramp(1, 4), vector=ramp(4),
    other_hidden=ramp(2, 3, 1), rank4=ramp(1, 2, 3, 4),
)  # fmt: skip
case("skip", input=CUBE, skip=NO_SKIPS, gamma=GAMMA_OF_4, rejects=SKIP)
WRONG = {"of_one": [1], "too_long": ramp(5), "matrix": ramp(1, 4), "scalar": 1}
case("gamma", input=CUBE, skip=OTHER, gamma=vary(**WRONG), rejects=GAMMA)
case("beta", **PLAIN, beta=vary(**WRONG), rejects=BETA)
case("bias", **PLAIN, bias=vary(**WRONG), rejects=BIAS)

SIZES = [*grid(b=(2,), s=(3,), h=(1, 7, 8, 17, 64, 129, 768, 1025)), *grid(b=(1,), s=(17, 64), h=(100, 384))]
SKIP_DIMS: dict[str, Dims] = {"tokens": ("b", "s", "h"), "one_batch": (1, "s", "h"), "no_batch": ("s", "h")}
for name, dims in SKIP_DIMS.items():
    tensors = {"input": filled("b", "s", "h"), "skip": filled(*dims), "gamma": filled("h"), "beta": filled("h")}
    sizes = SIZES if name == "tokens" else SIZES[::3]
    LAYER.sized(name, sizes, each="T", n=4, cites=(FUSION, SKIP), arguments={**tensors, "bias": filled("h")})
