# SPDX-License-Identifier: Apache-2.0
"""Attention: project an input to queries, keys and values, and weigh values by the softmax of their dot products.

    output, present = Attention(
        input, weights, bias=None, mask_index=None, past=None, attention_bias=None, past_sequence_length=None,
        num_heads=..., qkv_hidden_sizes=None, unidirectional=0, ...
    )

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Ints, Op, Tag, Version, measured, ramp, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators_microsoft._attention import (
    LARGEST_FILTER,
    causal,
    heads,
    is_bias,
    joined,
    scores,
    softmax,
    within,
)

if TYPE_CHECKING:
    from onnx_conformance.declare import Int

ROWS = 3
"""The rank of (batch, sequence, hidden)."""
RANK_OF_PAST = 5
"""The rank of (2, batch, heads, sequence, head_size)."""
ROTARY_SIZES = (32, 64, 128)
"""The supported dimensions of rotary embeddings."""

ATTENTION = Op(
    "Attention",
    versions=(1,),
    compare=measured("products, sums and exponentials round; the softmax weights pass on the error of a score"),
    domain="com.microsoft",
    rank=lambda _: ROWS,
)
INPUT, WEIGHTS, BIAS = waves(2, 4, 6) / 2, waves(6, 45)[::-1] / 3, waves(45) / 3
"""2 batches, 4 positions of size 6, and 3 heads of size 5 for queries, keys and values."""
PAST = waves(2, 2, 3, 8, 5)[:, :, ::-1] / 2
PLAIN: dict[str, Any] = {"input": INPUT, "weights": WEIGHTS, "bias": BIAS, "num_heads": 3}
WITH_PAST: dict[str, Any] = {**PLAIN, "past": PAST, "n": 2}
OF_KEYS = np.arange(8).reshape(2, 4) % 5 > 0
OF_ALL = np.arange(24).reshape(2, 12) % 5 > 0
ATTENTION.example(
    **WITH_PAST,
    mask_index=OF_ALL,
    do_rotary=0,
    mask_filter_value=-20000.0,
    past_present_share_buffer=0,
    qkv_hidden_sizes=[15, 15, 15],
    rotary_embedding_dim=32,
    scale=0.5,
    unidirectional=0,
)
ATTENTION.excuse(
    "input past_sequence_length given", "the text defines it for shared buffers, which a model cannot declare"
)

DIRECTIONS = ATTENTION.clause(
    "Multi-Head Attention that can be either unidirectional (like GPT-2) or bidirectional (like BERT)."
)
MERGED = ATTENTION.clause("The weights for input projection of Q, K and V are merged.")
STACKED = ATTENTION.clause("The data is stacked on the second dimension.")
MULTIPLES = ATTENTION.clause("Q, K and V hidden sizes must be positive multiples of num_heads.")
SUM = ATTENTION.clause("Their sum must match the weights' second dimension.")
THIRDS = ATTENTION.clause("When qkv_hidden_sizes is omitted, the weights' second dimension must be divisible by three.")
RAW = ATTENTION.clause(
    "Besides raw attention mask with shape (batch_size, total_sequence_length) or (batch_size, sequence_length, "
    "total_sequence_length) with value 0 for masked and 1 otherwise, we support other two formats:",
    note="The text does not define other values, or a query for which all keys are masked.",
)
RIGHT = ATTENTION.clause(
    "When input has right-side padding, mask_index is one dimension with shape (batch_size), where value is actual "
    "sequence length excluding padding.",
    note="The text does not define whether the length includes the past, or lengths outside the sequence.",
)
LEFT = ATTENTION.clause(
    "When input has left-side padding, mask_index has shape (2 * batch_size), where the values are the exclusive end "
    "positions followed by the inclusive start positions.",
    note="The text does not define whether the positions include the past, or positions outside the sequence.",
)
PREVIOUS = ATTENTION.clause(
    "When unidirectional is 1, each token only attends to previous tokens.",
    note="As in GPT-2, a token attends to itself, too, and its position is after the past. The text does not define "
    "values other than 0 and 1.",
)
TOGETHER = ATTENTION.clause("They shall be used together, and not allowed to use only one of them.")
DIFFERENT = ATTENTION.clause("The qkv_hidden_sizes is required only when K and V have different hidden sizes.")
SAME = ATTENTION.clause("When there is past state, hidden dimension for Q, K and V shall be the same.")
TOTAL = ATTENTION.clause("The total_sequence_length is past_sequence_length + kv_sequence_length.")
SELF = ATTENTION.clause("For self attention, kv_sequence_length equals to sequence_length (sequence length of Q).")
OF_INPUT = ATTENTION.clause("Input tensor with shape (batch_size, sequence_length, input_hidden_size)")
OF_WEIGHTS = ATTENTION.clause(
    "Merged Q/K/V weights with shape (input_hidden_size, hidden_size + hidden_size + v_hidden_size)"
)
OF_BIAS = ATTENTION.clause("Bias tensor with shape (hidden_size + hidden_size + v_hidden_size) for input projection")
MASK_SHAPES = ATTENTION.clause(
    "Attention mask with shape (batch_size, 1, max_sequence_length, max_sequence_length), (batch_size, "
    "total_sequence_length) or (batch_size, sequence_length, total_sequence_length), or index with shape (batch_size) "
    "or (2 * batch_size) or (3 * batch_size + 2)",
    note="The text does not define which part of a mask of rank 4 belongs to a query, or the numbers of an index with "
    "shape (3 * batch_size + 2).",
)
OF_PAST = ATTENTION.clause(
    "past state for key and value with shape (2, batch_size, num_heads, past_sequence_length, head_size)"
)
ADDED = ATTENTION.clause(
    "additional add to QxK' with shape (batch_size or 1, num_heads or 1, sequence_length, total_sequence_length)",
    note="As usual for attention, the bias is added to the scaled product.",
)
NEEDS_LENGTH = ATTENTION.clause(
    "When past_present_share_buffer is used, it is required to specify past_sequence_length (could be 0).",
    note="The text does not define past_sequence_length without a shared buffer.",
)
OUTPUT = ATTENTION.clause("3D output tensor with shape (batch_size, sequence_length, v_hidden_size)", result=True)
PRESENT = ATTENTION.clause(
    "past state for key and value with shape (2, batch_size, num_heads, total_sequence_length, head_size).", result=True
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
    "Corresponding past and present are same tensor, its size is (2, batch_size, num_heads, max_sequence_length, "
    "head_size)",
    note="The text does not define how a model declares that an input and an output are the same tensor.",
)
HIDDEN = ATTENTION.clause("Hidden dimension of Q, K, V: hidden_size, hidden_size and v_hidden_size")
LIMITED = ATTENTION.clause("Dimension of rotary embedding. Limited to 32, 64 or 128. Default value is head_size")
SCALE = ATTENTION.clause("Custom scale will be used if specified. Default value is 1/sqrt(head_size)")
ONLY_PREVIOUS = ATTENTION.clause("Whether every token can only attend to previous tokens. Default value is 0.")


def _sizes(v: Version, weights_shape: tuple[int, ...], qkv_hidden_sizes: Ints, count: int) -> list[int]:
    """Return the hidden sizes of queries, keys and values."""
    if qkv_hidden_sizes is None:
        v.require(THIRDS, weights_shape[1] % 3 == 0)
        sizes = [weights_shape[1] // 3] * 3
    else:
        sizes = [int(size) for size in qkv_hidden_sizes]
        v.require(HIDDEN, len(sizes) == 3 and sizes[0] == sizes[1])  # noqa: PLR2004 - Q, K, V
        v.require(SUM, sum(sizes) == weights_shape[1])
    v.require(MULTIPLES, count > 0 and all(size > 0 and size % count == 0 for size in sizes))
    return sizes


def _unmasked(v: Version, mask: Array, shape: tuple[int, int, int, int], past: int) -> Array:
    """Return a mask that broadcasts to the shape of the scores: True for each key that takes part."""
    batch, _, queries, keys = shape
    v.silent(MASK_SHAPES, mask.shape == (3 * batch + 2,))
    v.silent(MASK_SHAPES, mask.ndim == 4 and mask.shape == (batch, 1, mask.shape[2], mask.shape[2]))  # noqa: PLR2004
    if mask.shape in {(batch,), (2 * batch,)}:
        clause = RIGHT if mask.shape == (batch,) else LEFT
        v.silent(clause, past > 0 or bool(((mask < 0) | (mask > keys)).any()))
        starts = mask[batch:] if clause is LEFT else np.zeros(batch, np.int64)
        return within(keys, starts, mask[:batch])
    v.require(MASK_SHAPES, mask.shape in {(batch, keys), (batch, queries, keys)})
    v.silent(RAW, not bool(((mask == 0) | (mask == 1)).all()))
    return np.asarray(mask.reshape(batch, 1, -1, keys) == 1)


@ATTENTION.oracle()
def attention(  # noqa: PLR0913 - the operator's own arguments
    v: Version,
    *,
    n: int,
    input: Array,
    weights: Array,
    bias: Array | None,
    mask_index: Array | None,
    past: Array | None,
    attention_bias: Array | None,
    past_sequence_length: Array | None,
    do_rotary: Int,
    mask_filter_value: float | None,
    num_heads: int,
    past_present_share_buffer: Int,
    qkv_hidden_sizes: Ints,
    rotary_embedding_dim: Int,
    scale: float | None,
    unidirectional: int,
) -> tuple[Array, Array]:
    """Return the attended values, and all keys and values."""
    v.require(NEEDS_LENGTH, not past_present_share_buffer or past_sequence_length is not None)
    v.silent(SHARED, bool(past_present_share_buffer))
    v.silent(NEEDS_LENGTH, past_sequence_length is not None)
    v.require(LIMITED, rotary_embedding_dim is None or rotary_embedding_dim in ROTARY_SIZES)
    v.silent(ROTARY, do_rotary not in {None, 0})
    v.require(OF_INPUT, input.ndim == ROWS)
    v.require(OF_WEIGHTS, weights.ndim == 2 and weights.shape[0] == input.shape[2])  # noqa: PLR2004 - a matrix
    hidden, _, of_v = _sizes(v, weights.shape, qkv_hidden_sizes, num_heads)
    v.require(OF_BIAS, bias is None or bias.shape == (2 * hidden + of_v,))
    projected = input @ weights if bias is None else input @ weights + bias
    q, k, values = (heads(part, num_heads) for part in np.split(projected, [hidden, 2 * hidden], 2))
    v.require(TOGETHER, (past is not None) == (n > 1))
    before = 0
    if past is not None:
        v.require(SAME, hidden == of_v)
        v.require(OF_PAST, past.ndim == RANK_OF_PAST)
        before = past.shape[3]
        v.require(OF_PAST, past.shape == (2, *k.shape[:2], before, k.shape[3]))
        k, values = np.concatenate([past[0], k], 2), np.concatenate([past[1], values], 2)
    shape = (*q.shape[:3], k.shape[2])
    attends = np.ones(shape, bool)
    v.silent(PREVIOUS, unidirectional not in {0, 1})
    if unidirectional:
        attends = attends & causal(shape[2], shape[3], before)
    if mask_index is not None:
        attends = attends & _unmasked(v, mask_index, shape, before)
        v.silent(FILTER, not attends.all() and mask_filter_value is not None and mask_filter_value > LARGEST_FILTER)
    v.silent(RAW, not bool(attends.any(-1).all()))
    v.require(ADDED, attention_bias is None or is_bias(attention_bias.shape, shape))
    of_keys = softmax(scores(q, k, scale, attention_bias), attends)
    present = np.stack([k, values]) if n > 1 else k
    return joined(of_keys @ values), present


case = ATTENTION.case
ALL_OF = (DIRECTIONS, MERGED, STACKED, OF_INPUT, OF_WEIGHTS, OUTPUT, SELF, HEADS, SCALE)
case("plain", **PLAIN, cites=(*ALL_OF, OF_BIAS))
case("without_bias", input=INPUT, weights=WEIGHTS, num_heads=3, cites=(MERGED, STACKED))
case("one_head", **{**PLAIN, "num_heads": 1}, cites=(HEADS, SCALE))
case("many_heads", **{**PLAIN, "num_heads": 15}, cites=(HEADS, MULTIPLES))
OTHER_VALUES: dict[str, Any] = {
    "weights": waves(6, 51)[::-1] / 3,
    "bias": waves(51) / 3,
    "qkv_hidden_sizes": [15, 15, 21],
}
case("hidden_sizes", **PLAIN, qkv_hidden_sizes=[15, 15, 15], cites=(HIDDEN, SUM, DIFFERENT))
case("other_values", **{**PLAIN, **OTHER_VALUES}, cites=(HIDDEN, DIFFERENT, SUM, OUTPUT))
SMALLER: dict[str, Any] = {"weights": WEIGHTS[:, :39], "bias": BIAS[:39], "qkv_hidden_sizes": [15, 15, 9]}
case("smaller_values", **{**PLAIN, **SMALLER}, unidirectional=1, cites=(HIDDEN, DIFFERENT))
case("past", **WITH_PAST, cites=(TOTAL, TOGETHER, OF_PAST, PRESENT, SAME))
case("past_one_token", **{**WITH_PAST, "input": INPUT[:, :1]}, cites=(TOTAL, PRESENT))
case("past_hidden_sizes", **WITH_PAST, qkv_hidden_sizes=[15, 15, 15], cites=(SAME, HIDDEN))
case("no_past", Tag.EDGE, **{**WITH_PAST, "past": ramp(2, 2, 3, 0, 5)}, cites=(OF_PAST, PRESENT))
case("scale", **PLAIN, scale=vary(half=0.5, one=1.0, negative=-0.5, large=1000.0), cites=SCALE)

OF_PAIRS = np.arange(32).reshape(2, 4, 4) % 5 != 1
case("raw_mask", **PLAIN, mask_index=OF_KEYS, cites=(RAW, MASK_SHAPES, FILTER))
case("raw_mask_of_pairs", **PLAIN, mask_index=OF_PAIRS, cites=(RAW, MASK_SHAPES))
case("raw_mask_past", **WITH_PAST, mask_index=OF_ALL, cites=(RAW, TOTAL))
case("raw_mask_of_pairs_past", **WITH_PAST, mask_index=np.arange(96).reshape(2, 4, 12) % 5 != 1, cites=(RAW, TOTAL))
case("right_padding", **PLAIN, mask_index=[3, 1], cites=(RIGHT, MASK_SHAPES))
case("right_padding_of_none", **PLAIN, mask_index=[4, 4], cites=RIGHT)
case("left_padding", **PLAIN, mask_index=[4, 4, 1, 3], cites=(LEFT, MASK_SHAPES))
case("both_paddings", **PLAIN, mask_index=[3, 4, 1, 0], cites=(LEFT, MASK_SHAPES))
case("right_padding_unidirectional", **PLAIN, mask_index=[3, 1], unidirectional=1, cites=(RIGHT, PREVIOUS))
for name, value in {"large": -1e6, "at_limit": -1000.0, "default": -10000.0}.items():
    case(f"filter_{name}", **PLAIN, mask_index=OF_KEYS, mask_filter_value=value, cites=FILTER)
case("filter_without_mask", **PLAIN, mask_filter_value=-1.0, cites=FILTER)
case("filter_masks_none", **PLAIN, mask_index=[4, 4], mask_filter_value=-1.0, cites=FILTER)
case("unidirectional", **PLAIN, unidirectional=1, cites=(PREVIOUS, ONLY_PREVIOUS, DIRECTIONS))
case("unidirectional_past", **WITH_PAST, unidirectional=1, cites=(PREVIOUS, TOTAL))
case("unidirectional_zero", **PLAIN, unidirectional=0, cites=(ONLY_PREVIOUS, DIRECTIONS))
case(
    "unidirectional_raw_mask", **PLAIN, mask_index=[[1, 1, 0, 1], [1, 0, 1, 0]], unidirectional=1, cites=(PREVIOUS, RAW)
)
BIASES = vary(whole=waves(2, 3, 4, 4), of_batch=waves(2, 1, 4, 4), of_heads=waves(1, 3, 4, 4), of_one=waves(1, 1, 4, 4))
case("added", **PLAIN, attention_bias=BIASES, cites=ADDED)
case("added_past", **WITH_PAST, attention_bias=waves(2, 3, 4, 12), cites=(ADDED, TOTAL))
case("added_scale", **PLAIN, attention_bias=waves(1, 3, 4, 4), scale=0.1, cites=(ADDED, SCALE))
case("added_mask", **PLAIN, attention_bias=waves(1, 3, 4, 4), mask_index=OF_KEYS, cites=(ADDED, RAW))
case(
    "not_rotary",
    **PLAIN,
    do_rotary=0,
    rotary_embedding_dim=vary(of_32=32, of_64=64, of_128=128),
    cites=(ROTARY, LIMITED),
)
case("not_shared", **WITH_PAST, past_present_share_buffer=0, cites=PRESENT)
case("each_type", Tag.DTYPE, each="T", **PLAIN, mask_index=OF_KEYS, unidirectional=0, cites=OUTPUT)
case("each_type_past", Tag.DTYPE, each="T", **WITH_PAST, unidirectional=1, cites=PRESENT)
case("no_batch", Tag.EDGE, **{**PLAIN, "input": ramp(0, 4, 6)}, cites=OF_INPUT)
case("one_position", Tag.EDGE, **{**PLAIN, "input": INPUT[:, :1]}, cites=OF_INPUT)

case("input", **{**PLAIN, "input": vary(of_rank2=ramp(4, 6), of_rank4=ramp(2, 4, 6, 1))}, rejects=OF_INPUT)
WRONG_WEIGHTS = vary(of_other_size=ramp(5, 45), vector=ramp(6), of_rank3=ramp(6, 45, 1), transposed=ramp(45, 6))
case("weights", **{**PLAIN, "weights": WRONG_WEIGHTS}, rejects=OF_WEIGHTS)
case("weights_not_divided", **{**PLAIN, "weights": ramp(6, 46), "bias": ramp(46)}, rejects=THIRDS)
case("heads", **{**PLAIN, "num_heads": vary(no_divisor=2, none=0, negative=-3)}, rejects=MULTIPLES)
case("no_weights", Tag.EDGE, **{**PLAIN, "weights": ramp(6, 0), "bias": ramp(0)}, rejects=MULTIPLES)
UNEVEN: dict[str, Any] = {"weights": ramp(6, 46), "bias": ramp(46), "qkv_hidden_sizes": [15, 15, 16]}
case("values_no_multiple", **{**PLAIN, **UNEVEN}, rejects=MULTIPLES)
QUERIES_ONLY: dict[str, Any] = {"weights": ramp(6, 30), "bias": ramp(30), "qkv_hidden_sizes": [15, 15, 0]}
case("sum_of_less", **PLAIN, qkv_hidden_sizes=[15, 15, 12], rejects=SUM)
case("hidden_sizes_of_two", **PLAIN, qkv_hidden_sizes=[15, 30], rejects=HIDDEN)
case("keys_of_other_size", **PLAIN, qkv_hidden_sizes=[15, 12, 18], rejects=HIDDEN)
case("values_of_none", Tag.EDGE, **{**PLAIN, **QUERIES_ONLY}, rejects=MULTIPLES)
case("bias", **{**PLAIN, "bias": vary(too_short=ramp(44), matrix=ramp(1, 45), of_query=ramp(15))}, rejects=OF_BIAS)
WRONG_MASKS = vary(
    of_other_batch=[[1] * 4] * 3, of_rank4=[[[[1] * 4] * 3]] * 2, longer=[[1] * 5] * 2, of_three=[4, 4, 4]
)
case("mask", **PLAIN, mask_index=WRONG_MASKS, rejects=MASK_SHAPES)
case("mask_of_fewer_queries", **PLAIN, mask_index=[[[1] * 4] * 3] * 2, rejects=MASK_SHAPES)
case("mask_of_new_keys", **WITH_PAST, mask_index=OF_KEYS, rejects=MASK_SHAPES)
case("past_alone", **PLAIN, past=PAST, rejects=TOGETHER)
case("present_alone", **PLAIN, n=2, rejects=TOGETHER)
case("past_of_other_values", **{**WITH_PAST, **OTHER_VALUES}, rejects=SAME)
WRONG_PASTS = vary(of_rank4=ramp(2, 2, 3, 8), of_keys=ramp(1, 2, 3, 8, 5), of_other_heads=ramp(2, 2, 4, 8, 5))
case("past", **{**WITH_PAST, "past": WRONG_PASTS}, rejects=OF_PAST)
case("past_of_other_batch", **{**WITH_PAST, "past": ramp(2, 1, 3, 8, 5)}, rejects=OF_PAST)
case("past_of_other_size", **{**WITH_PAST, "past": ramp(2, 2, 3, 8, 4)}, rejects=OF_PAST)
WRONG_BIASES = {
    "of_rank3": (3, 4, 4),
    "of_rank5": (1, 2, 3, 4, 4),
    "of_three_batches": (3, 3, 4, 4),
    "of_two_heads": (2, 2, 4, 4),
    "of_one_query": (2, 3, 1, 4),
    "of_one_key": (2, 3, 4, 1),
}
for name, shape in WRONG_BIASES.items():
    case(f"added_{name}", **PLAIN, attention_bias=ramp(*shape), rejects=ADDED)
case("rotary_dimension", **PLAIN, rotary_embedding_dim=vary(of_16=16, of_33=33), rejects=LIMITED)
case("shared_without_length", **WITH_PAST, past_present_share_buffer=1, rejects=NEEDS_LENGTH)

case("shared", **WITH_PAST, past_present_share_buffer=1, past_sequence_length=4, unspecified=SHARED)
case("length_without_sharing", **WITH_PAST, past_sequence_length=8, unspecified=NEEDS_LENGTH)
case("rotary", **PLAIN, do_rotary=1, unspecified=ROTARY)
case("square_mask", **PLAIN, mask_index=[[[[1] * 4] * 4]] * 2, unspecified=MASK_SHAPES)
case("mask_of_eight", **PLAIN, mask_index=[4, 3, 0, 4, 8, 0, 4, 7], unspecified=MASK_SHAPES)
case("raw_mask_of_twos", Tag.EDGE, **PLAIN, mask_index=[[1, 2, 1, 1], [1] * 4], unspecified=RAW)
case("raw_mask_closed_row", Tag.EDGE, **PLAIN, mask_index=[[0] * 4, [1] * 4], unspecified=RAW)
case("right_padding", Tag.EDGE, **PLAIN, mask_index=vary(beyond=[5, 4], negative=[-1, 4]), unspecified=RIGHT)
case("right_padding_of_all", Tag.EDGE, **PLAIN, mask_index=[0, 4], unspecified=RAW)
case("right_padding_past", **WITH_PAST, mask_index=[3, 1], unspecified=RIGHT)
case("left_padding_past", **WITH_PAST, mask_index=[4, 4, 1, 3], unspecified=LEFT)
case("left_padding", Tag.EDGE, **PLAIN, mask_index=vary(beyond=[4, 5, 0, 0], negative=[4, 4, 0, -1]), unspecified=LEFT)
case("filter_small", Tag.EDGE, **PLAIN, mask_index=OF_KEYS, mask_filter_value=-1.0, unspecified=FILTER)
case("no_positions", Tag.EDGE, **{**PLAIN, "input": ramp(2, 0, 6)}, cites=OF_INPUT)
case("unidirectional_two", Tag.EDGE, **PLAIN, unidirectional=2, unspecified=PREVIOUS)

OF_SIZES: dict[str, Any] = {
    "input": filled("b", "t", "c", floats=(-1, 1)),
    "weights": filled("c", (3, "h", "d"), floats=(-0.25, 0.25)),
    "bias": filled((3, "h", "d")),
    "num_heads": lambda sizes: sizes["h"],
}
SIZES = grid(b=(2,), t=(1, 8, 33, 130), c=(32,), h=(2, 3), d=(8, 64))
ATTENTION.sized("bidirectional", SIZES[::2], each="T", cites=(DIRECTIONS, MERGED), arguments=OF_SIZES)
CAUSAL = {**OF_SIZES, "unidirectional": 1}
ATTENTION.sized("unidirectional", SIZES[1::2], each="T", cites=(DIRECTIONS, PREVIOUS), arguments=CAUSAL)
DECODED = {**CAUSAL, "past": filled(2, "b", "h", "past", "d")}
STEPS = grid(b=(2,), t=(1, 5), c=(32,), h=(2,), d=(16,), past=(1, 16, 65))
ATTENTION.sized("past", STEPS, n=2, each="T", cites=(PRESENT, PREVIOUS), arguments=DECODED)
