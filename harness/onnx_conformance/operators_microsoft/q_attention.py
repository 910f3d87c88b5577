# SPDX-License-Identifier: Apache-2.0
"""QAttention: attention whose input and weights are quantized.

    output, present = QAttention(
        input, weight, bias, input_scale, weight_scale, mask_index=None, input_zero_point=0, weight_zero_point=0,
        past=None, num_heads=..., unidirectional=0, ...
    )

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, measured, ramp, typed, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators_microsoft._attention import (
    LARGEST_FILTER,
    causal,
    heads,
    joined,
    scores,
    softmax,
    within,
)

if TYPE_CHECKING:
    from onnx_conformance.declare import Clause, Int

ROWS = 3
"""The rank of (batch, sequence, hidden), and the number of merged projections."""
RANK_OF_PAST = 5
"""The rank of (2, batch, heads, sequence, head_size)."""

ATTENTION = Op(
    "QAttention",
    versions=(1,),
    compare=measured("scales, sums and exponentials round; the softmax weights pass on the error of a score"),
    domain="com.microsoft",
    rank=lambda _: ROWS,
)
INPUT = (np.arange(48) * 29 % 23).reshape(2, 4, 6)
"""2 batches, 4 positions of size 6."""
WEIGHT = (np.arange(270) * 31 % 19).reshape(6, 45)
"""3 heads of size 5 for queries, keys and values."""
BIAS = waves(45) / 3
PAST = waves(2, 2, 3, 8, 5)[:, :, ::-1] / 2
OF_ANY_TYPE: dict[str, Any] = {
    "input": INPUT,
    "weight": WEIGHT,
    "bias": BIAS,
    "input_scale": 0.0625,
    "weight_scale": 0.03,
    "input_zero_point": 11,
    "weight_zero_point": 9,
    "num_heads": 3,
}
PLAIN: dict[str, Any] = {
    **OF_ANY_TYPE,
    "input": typed("uint8", INPUT),
    "weight": typed("int8", WEIGHT),
    "input_zero_point": typed("uint8", 11),
    "weight_zero_point": typed("int8", 9),
}
WITH_PAST: dict[str, Any] = {**PLAIN, "past": PAST, "n": 2}
ATTENTION.example(
    **OF_ANY_TYPE,
    mask_index=[3, 4],
    do_rotary=0,
    mask_filter_value=-20000.0,
    past_present_share_buffer=0,
    scale=0.5,
    unidirectional=0,
)

QUANTIZED = ATTENTION.clause(
    "Quantization of Multi-Head Self Attention.",
    note="The text has no formulas. As in Attention of com.microsoft, the weights of Q, K and V are merged "
    "and stacked on the second dimension. A quantized number x is (x - zero point) * scale.",
)
OF_INPUT = ATTENTION.clause("3D input tensor with shape (batch_size, sequence_length, input_hidden_size)")
OF_WEIGHT = ATTENTION.clause(
    "2D input tensor with shape (input_hidden_size, 3 * hidden_size), hidden_size = num_heads * head_size",
    note="The text does not define numbers of heads below 1, or heads without elements.",
)
OF_BIAS = ATTENTION.clause("1D input tensor with shape (3 * hidden_size)")
INPUT_SCALE = ATTENTION.clause(
    "scale of quantized input tensor. It's a scalar, which means a per-tensor/layer quantization."
)
WEIGHT_SCALE = ATTENTION.clause(
    "scale of weight scale. It's a scalar or a 1D tensor, which means a per-tensor/per-column quantization.Its size "
    "should be 3 * hidden_size if it is per-column quantization"
)
MASK = ATTENTION.clause(
    "Attention mask index with shape (batch_size)",
    note="The text does not define the numbers. As in Attention of com.microsoft, each is the actual sequence length "
    "without the padding at its end. The text does not define whether it includes the past, or lengths outside the "
    "sequence.",
)
INPUT_ZERO = ATTENTION.clause(
    "zero point of quantized input tensor.It's a scalar, which means a per-tensor/layer quantization.",
    note="If it is omitted, it is 0, as usual.",
)
WEIGHT_ZERO = ATTENTION.clause(
    "zero point of quantized weight tensor. It's a scalar or a 1D tensor, which means a per-tensor/per-column "
    "quantization.Its size should be 3 * hidden_size if it is per-column quantization",
    note="If it is omitted, it is 0, as usual.",
)
OF_PAST = ATTENTION.clause(
    "past state for key and value with shape (2, batch_size, num_heads, past_sequence_length, head_size)."
)
OUTPUT = ATTENTION.clause("3D output tensor with shape (batch_size, sequence_length, hidden_size)", result=True)
PRESENT = ATTENTION.clause(
    "present state for key and value with shape (2, batch_size, num_heads, past_sequence_length + sequence_length, "
    "head_size)",
    result=True,
)
ROTARY = ATTENTION.clause(
    "Whether to use rotary position embedding. Default value is 0.",
    note="The text does not define the angles, or which elements are a pair.",
)
FILTER = ATTENTION.clause(
    "The value to be filled in the attention mask. Default value is -10000.0f",
    note="The text does not define whether it replaces a score or is added to it. The cases have a value for which "
    "both lead to a weight of 0.",
)
HEADS = ATTENTION.clause("Number of attention heads")
SHARED = ATTENTION.clause(
    "Corresponding past and present are same tensor, its shape is (2, batch_size, num_heads, max_sequence_length, "
    "head_size)",
    note="The text does not define how a model declares that an input and an output are the same tensor.",
)
SCALE = ATTENTION.clause("Custom scale will be used if specified. Default value is 1/sqrt(head_size)")
PREVIOUS = ATTENTION.clause(
    "Whether every token can only attend to previous tokens. Default value is 0.",
    note="As usual, a token attends to itself, too, and its position is after the past. The text does not define "
    "values other than 0 and 1.",
)


def _by_column(v: Version, clause: Clause, value: Array, columns: int) -> Array:
    """Return a scale or zero point of all columns, or of each column."""
    return value if value.shape == (columns,) else v.scalar(clause, value)


def _projected(
    v: Version,
    input: Array,
    weight: Array,
    bias: Array,
    input_scale: Array,
    weight_scale: Array,
    input_zero_point: Array | None,
    weight_zero_point: Array | None,
) -> Array:
    """Return the queries, keys and values, stacked on the last dimension."""
    columns, zero = weight.shape[1], np.zeros((), np.int64)
    step = v.scalar(INPUT_SCALE, input_scale)
    steps = _by_column(v, WEIGHT_SCALE, weight_scale, columns)
    of_input = zero if input_zero_point is None else v.scalar(INPUT_ZERO, input_zero_point)
    of_weight = zero if weight_zero_point is None else _by_column(v, WEIGHT_ZERO, weight_zero_point, columns)
    whole = (input.astype(np.int64) - of_input) @ (weight.astype(np.int64) - of_weight)
    projected: Array = whole * (step * steps) + bias
    return projected


@ATTENTION.oracle()
def q_attention(
    v: Version,
    *,
    input: Array,
    weight: Array,
    bias: Array,
    input_scale: Array,
    weight_scale: Array,
    mask_index: Array | None,
    input_zero_point: Array | None,
    weight_zero_point: Array | None,
    past: Array | None,
    do_rotary: Int,
    mask_filter_value: float | None,
    num_heads: int,
    past_present_share_buffer: Int,
    scale: float | None,
    unidirectional: int,
) -> tuple[Array, Array]:
    """Return the attended values, and all keys and values."""
    v.silent(SHARED, past_present_share_buffer not in {None, 0})
    v.silent(ROTARY, do_rotary not in {None, 0})
    v.silent(PREVIOUS, unidirectional not in {0, 1})
    v.silent(OF_WEIGHT, num_heads < 1)
    v.require(OF_INPUT, input.ndim == ROWS)
    v.require(OF_WEIGHT, weight.ndim == 2 and weight.shape[0] == input.shape[2])  # noqa: PLR2004 - a matrix
    v.require(OF_WEIGHT, weight.shape[1] % (ROWS * num_heads) == 0)
    v.silent(OF_WEIGHT, weight.shape[1] == 0)
    v.require(OF_BIAS, bias.shape == weight.shape[1:])
    projected = _projected(v, input, weight, bias, input_scale, weight_scale, input_zero_point, weight_zero_point)
    q, k, values = (heads(part, num_heads) for part in np.split(projected, ROWS, 2))
    before = 0
    if past is not None:
        v.require(OF_PAST, past.ndim == RANK_OF_PAST)
        before = past.shape[3]
        v.require(OF_PAST, past.shape == (2, *k.shape[:2], before, k.shape[3]))
        k, values = np.concatenate([past[0], k], 2), np.concatenate([past[1], values], 2)
    batch, keys = len(input), k.shape[2]
    attends = np.ones((*q.shape[:3], keys), bool)
    if unidirectional:
        attends = attends & causal(q.shape[2], keys, before)
    if mask_index is not None:
        v.require(MASK, mask_index.shape == (batch,))
        v.silent(MASK, before > 0 or bool(((mask_index < 1) | (mask_index > keys)).any()))
        attends = attends & within(keys, np.zeros(batch, np.int64), mask_index)
        v.silent(FILTER, not attends.all() and mask_filter_value is not None and mask_filter_value > LARGEST_FILTER)
    of_keys = softmax(scores(q, k, scale, None), attends)
    return joined(of_keys @ values), np.stack([k, values])


case = ATTENTION.case
case("plain", **PLAIN, cites=(QUANTIZED, OF_INPUT, OF_WEIGHT, OF_BIAS, INPUT_SCALE, WEIGHT_SCALE, OUTPUT, HEADS, SCALE))
WITHOUT_ZEROS = {name: value for name, value in PLAIN.items() if "zero_point" not in name}
case("without_zero_points", **WITHOUT_ZEROS, cites=(INPUT_ZERO, WEIGHT_ZERO))
case(
    "input_zero_point_alone",
    **WITHOUT_ZEROS,
    input_zero_point=PLAIN["input_zero_point"],
    cites=(INPUT_ZERO, WEIGHT_ZERO),
)
case(
    "weight_zero_point_alone",
    **WITHOUT_ZEROS,
    weight_zero_point=PLAIN["weight_zero_point"],
    cites=(INPUT_ZERO, WEIGHT_ZERO),
)
STEPS, ZEROS = 0.02 + np.arange(45) % 7 / 256, typed("int8", np.arange(45) % 5 + 7)
case("columns", **{**PLAIN, "weight_scale": STEPS, "weight_zero_point": ZEROS}, cites=(WEIGHT_SCALE, WEIGHT_ZERO))
case("scale_of_columns", **{**PLAIN, "weight_scale": STEPS}, cites=WEIGHT_SCALE)
case("zero_point_of_columns", **{**PLAIN, "weight_zero_point": ZEROS}, cites=WEIGHT_ZERO)
case("one_head", **{**PLAIN, "num_heads": 1}, cites=(HEADS, SCALE))
case("many_heads", **{**PLAIN, "num_heads": 15}, cites=(HEADS, OF_WEIGHT))
TYPES = ("T1", "T2")
case("each_type", Tag.DTYPE, each=TYPES, **OF_ANY_TYPE, cites=QUANTIZED)
case(
    "each_type_past", Tag.DTYPE, each=TYPES, **OF_ANY_TYPE, past=PAST, n=2, unidirectional=1, cites=(QUANTIZED, OF_PAST)
)
case("each_float", Tag.DTYPE, each="T3", **PLAIN, mask_index=[3, 1], cites=OUTPUT)
case("each_float_past", Tag.DTYPE, each="T3", **WITH_PAST, cites=PRESENT)
LIMITS = {"int8": np.array([-128, 127, -127, 126, 0, -1]), "uint8": np.array([0, 255, 1, 254, 128, 127])}
for first, of_input in LIMITS.items():
    for second, of_weight in LIMITS.items():
        case(
            f"limits_of_{first}_and_{second}", Tag.EDGE,
            input=typed(first, np.resize(of_input, (1, 3, 6))),
            weight=typed(second, np.resize(of_weight, 6 * 13)[: 6 * 12].reshape(12, 6).T),
            bias=waves(12), input_scale=2.0**-8, weight_scale=2.0**-9,
            input_zero_point=typed(first, of_input[0]), weight_zero_point=typed(second, of_weight[1]), num_heads=2,
            cites=QUANTIZED,
        )  # fmt: skip
SCALARS = {
    "input_scale": [0.0625],
    "weight_scale": [0.03],
    "input_zero_point": typed("uint8", [11]),
    "weight_zero_point": typed("int8", [9]),
}
for name, vector in SCALARS.items():
    case(f"{name}_as_vector", Tag.EDGE, **{**PLAIN, name: vector}, cites=QUANTIZED)
case("past", **WITH_PAST, cites=(OF_PAST, PRESENT))
case("past_one_token", **{**WITH_PAST, "input": typed("uint8", INPUT[:, :1])}, cites=(OF_PAST, PRESENT))
case("past_without_present", **PLAIN, past=PAST, cites=OF_PAST)
case("present", **PLAIN, n=2, cites=PRESENT)
case("no_past", Tag.EDGE, **{**WITH_PAST, "past": ramp(2, 2, 3, 0, 5)}, cites=(OF_PAST, PRESENT))
case("mask", **PLAIN, mask_index=[3, 1], cites=MASK)
case("mask_of_whole_length", **PLAIN, mask_index=[4, 4], cites=MASK)
case("mask_unidirectional", **PLAIN, mask_index=[3, 1], unidirectional=1, cites=(MASK, PREVIOUS))
for name, value in {"large": -1e6, "at_limit": -1000.0, "default": -10000.0}.items():
    case(f"filter_{name}", **PLAIN, mask_index=[2, 3], mask_filter_value=value, cites=FILTER)
case("filter_without_mask", **PLAIN, mask_filter_value=-1.0, cites=FILTER)
case("filter_masks_none", **PLAIN, mask_index=[4, 4], mask_filter_value=-1.0, cites=FILTER)
case("unidirectional", **PLAIN, unidirectional=1, cites=PREVIOUS)
case("unidirectional_past", **WITH_PAST, unidirectional=1, cites=PREVIOUS)
case("unidirectional_zero", **PLAIN, unidirectional=0, cites=PREVIOUS)
case("scale", **PLAIN, scale=vary(half=0.5, one=1.0, negative=-0.5, large=1000.0), cites=SCALE)
case("not_rotary", **PLAIN, do_rotary=0, cites=ROTARY)
case("not_shared", **WITH_PAST, past_present_share_buffer=0, cites=PRESENT)
case("no_batch", Tag.EDGE, **{**PLAIN, "input": typed("uint8", ramp(0, 4, 6))}, cites=OF_INPUT)
case("no_positions", Tag.EDGE, **{**PLAIN, "input": typed("uint8", ramp(2, 0, 6))}, cites=OF_INPUT)

case(
    "input",
    **{**PLAIN, "input": vary(of_rank2=typed("uint8", ramp(4, 6)), of_rank4=typed("uint8", ramp(2, 4, 6, 1)))},
    rejects=OF_INPUT,
)
WRONG_WEIGHTS = {"of_other_size": (5, 45), "vector": (6,), "of_rank3": (6, 45, 1)}
for name, shape in WRONG_WEIGHTS.items():
    case(f"weight_{name}", **{**PLAIN, "weight": typed("int8", ramp(*shape))}, rejects=OF_WEIGHT)
case("weight_not_divided", **{**PLAIN, "weight": typed("int8", ramp(6, 46)), "bias": ramp(46)}, rejects=OF_WEIGHT)
case("heads_no_divisor", **{**PLAIN, "num_heads": 2}, rejects=OF_WEIGHT)
case("bias", **{**PLAIN, "bias": vary(too_short=ramp(44), matrix=ramp(1, 45), of_query=ramp(15))}, rejects=OF_BIAS)
case("input_scale", **{**PLAIN, "input_scale": vary(of_rows=[1, 1, 1, 1], matrix=[[1]])}, rejects=INPUT_SCALE)
case(
    "input_zero_point",
    **{**PLAIN, "input_zero_point": vary(of_rows=typed("uint8", [0] * 4), matrix=typed("uint8", [[0]]))},
    rejects=INPUT_ZERO,
)
WRONG_SCALES = vary(of_hidden=np.ones(15), too_long=np.ones(46), matrix=np.ones((1, 45)))
case("weight_scale", **{**PLAIN, "weight_scale": WRONG_SCALES}, rejects=WEIGHT_SCALE)
for name, shape in {"of_hidden": (15,), "too_long": (46,), "matrix": (1, 45)}.items():
    wrong: dict[str, Any] = {**PLAIN, "weight_zero_point": typed("int8", ramp(*shape))}
    case(f"weight_zero_point_{name}", **wrong, rejects=WEIGHT_ZERO)
case("mask", **PLAIN, mask_index=vary(of_three=[4, 4, 4], matrix=[[4, 4]], of_one=[4]), rejects=MASK)
WRONG_PASTS = {
    "of_rank4": (2, 2, 3, 8),
    "of_keys": (1, 2, 3, 8, 5),
    "of_other_heads": (2, 2, 4, 8, 5),
    "of_other_batch": (2, 1, 3, 8, 5),
    "of_other_size": (2, 2, 3, 8, 4),
}
for name, shape in WRONG_PASTS.items():
    case(f"past_{name}", **{**WITH_PAST, "past": ramp(*shape)}, rejects=OF_PAST)

for name, number in {"none": 0, "negative": -3}.items():
    case(f"heads_{name}", Tag.EDGE, **{**PLAIN, "num_heads": number}, unspecified=OF_WEIGHT)
case("no_weights", Tag.EDGE, **{**PLAIN, "weight": typed("int8", ramp(6, 0)), "bias": ramp(0)}, unspecified=OF_WEIGHT)
case("lengths", Tag.EDGE, **PLAIN, mask_index=vary(beyond=[5, 4], none=[0, 4], negative=[-1, 4]), unspecified=MASK)
case("mask_past", **WITH_PAST, mask_index=[3, 1], unspecified=MASK)
case("filter_small", Tag.EDGE, **PLAIN, mask_index=[3, 1], mask_filter_value=-1.0, unspecified=FILTER)
case("rotary", **PLAIN, do_rotary=1, unspecified=ROTARY)
case("shared", **WITH_PAST, past_present_share_buffer=1, unspecified=SHARED)
case("unidirectional_two", Tag.EDGE, **PLAIN, unidirectional=2, unspecified=PREVIOUS)

OF_SIZES: dict[str, Any] = {
    "input": filled("b", "t", "c", integers=(-128, 255)),
    "weight": filled("c", (3, "h", "d"), integers=(-128, 255)),
    "bias": filled((3, "h", "d")),
    "input_scale": 0.01,
    "weight_scale": 0.005,
    "input_zero_point": 3,
    "weight_zero_point": 1,
    "num_heads": lambda sizes: sizes["h"],
}
SIZES = grid(b=(2,), t=(1, 8, 33, 130), c=(32,), h=(2, 3), d=(8, 64))
ATTENTION.sized("bidirectional", SIZES[::2], each=TYPES, cites=(QUANTIZED, OUTPUT), arguments=OF_SIZES)
CAUSAL = {**OF_SIZES, "unidirectional": 1, "weight_scale": filled((3, "h", "d"), floats=(0.002, 0.006))}
ATTENTION.sized("unidirectional", SIZES[1::2], each=TYPES, cites=(WEIGHT_SCALE, PREVIOUS), arguments=CAUSAL)
DECODED = {**CAUSAL, "past": filled(2, "b", "h", "past", "d")}
STEPS_OF_PAST = grid(b=(2,), t=(1, 5), c=(32,), h=(2,), d=(16,), past=(1, 16, 65))
ATTENTION.sized("past", STEPS_OF_PAST, n=2, each=TYPES, cites=(PRESENT, PREVIOUS), arguments=DECODED)
