# SPDX-License-Identifier: Apache-2.0
"""MultiHeadAttention: weigh values by the softmax of scaled dot products of queries and keys.

    output, present_key, present_value, qk = MultiHeadAttention(
        query, key=None, value=None, bias=None, key_padding_mask=None, attention_bias=None, past_key=None,
        past_value=None, past_sequence_length=None, cache_indirection=None, num_heads=..., unidirectional=0, ...
    )

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onnx_conformance.declare import Array, Op, PartlyOpen, Tag, Version, measured, ramp, vary
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
    from collections.abc import Collection

ROWS, BY_HEAD, PACKED = 3, 4, 5
"""The ranks of (batch, sequence, hidden), of (batch, heads, sequence, head_size), and of packed inputs."""
ALL_OUTPUTS = 4
"""The number of outputs with qk."""

MHA = Op(
    "MultiHeadAttention",
    versions=(1,),
    compare=measured("products, sums and exponentials round; the softmax weights pass on the error of a score"),
    domain="com.microsoft",
    rank=lambda _: ROWS,
    derives={"QK": lambda types, _: types["T"]},
)
QUERY, KEY, VALUE = waves(2, 4, 15) / 2, waves(2, 6, 15)[..., ::-1] / 2, waves(2, 6, 21)
"""2 batches, 4 queries, 6 keys. The 3 heads have 5 elements in queries and keys, and 7 in values."""
BIAS = waves(51) / 3
PAST: dict[str, Any] = {"past_key": waves(2, 3, 8, 5)[:, ::-1] / 2, "past_value": waves(2, 3, 8, 5)[:, ::-1]}
PLAIN: dict[str, Any] = {"query": QUERY, "key": KEY, "value": VALUE, "num_heads": 3}
MHA.example(
    query=QUERY,
    key=KEY[:, :4],
    value=KEY[:, 2:],
    **PAST,
    bias=BIAS[:45],
    key_padding_mask=np.arange(24).reshape(2, 12) % 5 > 0,
    attention_bias=waves(1, 3, 4, 12),
    num_heads=3,
    scale=0.5,
    mask_filter_value=-20000.0,
    unidirectional=0,
    n=3,
)
MHA.excuse("input past_sequence_length given", "the text defines it for shared buffers, which a model cannot declare")
MHA.excuse("input cache_indirection given", "the text does not define the arrangement of beams in the past")

SELF_OR_CROSS = MHA.clause("Multi-Head Self/Cross Attention. Bias from input projection is included.")
MASK_VALUES = MHA.clause(
    "When its shape is (batch_size, kv_sequence_length), value 0 means padding or 1 otherwise.",
    note="The other masks of 0 and 1 have the same meaning. The text does not define other values, a query for which "
    "all keys are masked, or a mask of the new keys if there are past keys.",
)
LENGTHS = MHA.clause(
    "When key has right-side padding, its shape could be (batch_size): it is actual length of each key sequence "
    "excluding paddings.",
    note="The text does not define lengths if there are past keys, or lengths outside the sequence.",
)
OF_QUERY = MHA.clause(
    "Query with shape (batch_size, sequence_length, hidden_size), or packed QKV with shape (batch_size, "
    "kv_sequence_length, num_heads, 3, head_size)",
    note="The text does not define packed QKV together with a key or a value, or a hidden_size that is no multiple of "
    "num_heads.",
)
OF_KEY = MHA.clause(
    "Key with shape (batch_size, kv_sequence_length, hidden_size), or packed KV with shape (batch_size, "
    "kv_sequence_length, num_heads, 2, head_size), or past_key with shape (batch_size, num_heads, kv_sequence_length, "
    "head_size)",
    note="The text does not define a query alone that is not packed, or packed KV together with a value.",
)
OF_VALUE = MHA.clause(
    "Value with shape (batch_size, kv_sequence_length, v_hidden_size), or past_value with shape (batch_size, "
    "num_heads, kv_sequence_length, head_size)",
    note="The text does not define a key without a value, or a v_hidden_size that is no multiple of num_heads.",
)
OF_BIAS = MHA.clause(
    "Bias tensor with shape (hidden_size + hidden_size + v_hidden_size) from input projection",
    note="The text does not define a bias if key and value are past_key and past_value.",
)
MASK_SHAPES = MHA.clause(
    "Key padding mask with shape (batch_size), (3 * batch_size + 2), (batch_size, kv_sequence_length), (batch_size, "
    "total_sequence_length), or (batch_size, sequence_length, total_sequence_length)",
    note="The text does not define the numbers of a mask with shape (3 * batch_size + 2).",
)
ADDED = MHA.clause(
    "bias added to QxK' with shape (batch_size or 1, num_heads or 1, sequence_length, total_sequence_length)",
    note="As usual for attention, the bias is added to the scaled product.",
)
PAST_KEY = MHA.clause(
    "past state for key with shape (batch_size, num_heads, past_sequence_length, head_size) or (batch_size, num_heads, "
    "max_sequence_length, head_size) when buffer sharing is used",
    note="The text does not define past_key without past_value, or the opposite, and a past together with keys that "
    "have the layout of past_key.",
)
PAST_VALUE = MHA.clause(
    "past state for value with shape (batch_size, num_heads, past_sequence_length, head_size) or (batch_size, "
    "num_heads, max_sequence_length, head_size) when buffer sharing is used",
    note="It has the head_size of keys, so the text does not define past_value if values have another size.",
)
SHARED = MHA.clause(
    "The past_sequence_length buffer sharing is used with",
    note="The text does not define how a model shares a buffer, or the shape of past_sequence_length.",
)
BEAMS = MHA.clause(
    "A buffer of shape [batch_size, beam_width, max_sequence_length] where an [i, j, k] entry specifieswhich beam the "
    "'k' th token came from for the 'j' th beam for batch 'i' in the current iteration",
    note="The text does not define how the beams are arranged in past_key and past_value.",
)
OUTPUT = MHA.clause("3D output tensor with shape (batch_size, sequence_length, v_hidden_size)", result=True)
PRESENT_KEY = MHA.clause(
    "present state for key with shape (batch_size, num_heads, total_sequence_length, head_size) or (batch_size, "
    "num_heads, max_sequence_length, head_size) when buffer sharing is used",
    result=True,
)
PRESENT_VALUE = MHA.clause(
    "present state for value with shape (batch_size, num_heads, total_sequence_length, head_size) or (batch_size, "
    "num_heads, max_sequence_length, head_size) when buffer sharing is used",
    note="It has the head_size of keys, so the text does not define present_value if values have another size.",
)
QK = MHA.clause(
    "normalized Q * K, of shape (batch_size, num_heads, sequence_length, total_sequence_length).",
    note="The text does not define whether the scale or the softmax normalizes it, so its elements are left open.",
)
FILTER = MHA.clause(
    "The value to be filled in the attention mask. Default value is -10000.0f",
    note="The text does not define whether it replaces a score or is added to it. The cases have a value for which "
    "both lead to a weight of 0.",
)
HEADS = MHA.clause("Number of attention heads", note="The text does not define numbers below 1.")
SCALE = MHA.clause("Custom scale will be used if specified. Default value is 1/sqrt(head_size)")
PREVIOUS = MHA.clause(
    "Whether every token can only attend to previous tokens. Default value is 0.",
    note="As usual, a token attends to itself, too, and its position is after the past. The text does not define "
    "values other than 0 and 1, or keys of another length than the queries.",
)


def _packed(v: Version, query: Array, key: Array | None, value: Array | None, count: int) -> tuple[Array, Array, Array]:
    """Return queries, keys and values of (batch, sequence, heads, size) from packed QKV or packed KV."""
    v.silent(OF_VALUE, value is not None)
    if key is None:
        v.require(OF_QUERY, query.shape[2:4] == (count, 3))
        return query[:, :, :, 0], query[:, :, :, 1], query[:, :, :, 2]
    batch, length, hidden = query.shape
    v.require(OF_KEY, (key.shape[0], *key.shape[2:]) == (batch, count, 2, hidden // count))
    return query.reshape(batch, length, count, hidden // count), key[:, :, :, 0], key[:, :, :, 1]


def _split(
    v: Version, query: Array, key: Array | None, value: Array | None, bias: Array | None, count: int
) -> tuple[Array, Array, Array]:
    """Return queries, keys and values of (batch, heads, sequence, size), with the bias of the input projection."""
    v.silent(HEADS, count < 1)
    v.silent(OF_QUERY, query.ndim == PACKED and key is not None)
    v.silent(OF_KEY, query.ndim == ROWS and key is None)
    v.require(OF_QUERY, query.ndim in {ROWS, PACKED})
    v.require(OF_KEY, key is None or key.ndim in {ROWS, BY_HEAD, PACKED})
    v.silent(OF_QUERY, query.ndim == ROWS and query.shape[2] % count != 0)
    if key is None or key.ndim == PACKED:
        parts = _packed(v, query, key, value, count)
        by_head = [part.transpose(0, 2, 1, 3) for part in parts]
    else:
        v.silent(OF_VALUE, value is None)
        of_values = cast("Array", value)
        batch, size = query.shape[0], query.shape[2] // count
        v.require(OF_VALUE, of_values.ndim == key.ndim)
        if key.ndim == BY_HEAD:
            v.require(OF_KEY, key.shape == (batch, count, key.shape[2], size))
            v.require(OF_VALUE, of_values.shape == key.shape)
            v.silent(OF_BIAS, bias is not None)
            by_head = [heads(query, count), key, of_values]
        else:
            v.require(OF_KEY, (key.shape[0], key.shape[2]) == (batch, query.shape[2]))
            v.require(OF_VALUE, of_values.shape[:2] == key.shape[:2])
            v.silent(OF_VALUE, of_values.shape[2] % count != 0)
            by_head = [heads(item, count) for item in (query, key, of_values)]
    q, k, values = by_head
    if bias is not None:
        hidden, of_v = count * q.shape[3], count * values.shape[3]
        v.require(OF_BIAS, bias.shape == (2 * hidden + of_v,))
        of_q, of_k, of_values = np.split(bias, [hidden, 2 * hidden])
        q = q + of_q.reshape(count, 1, q.shape[3])
        k = k + of_k.reshape(count, 1, k.shape[3])
        values = values + of_values.reshape(count, 1, values.shape[3])
    return q, k, values


def _unmasked(v: Version, mask: Array, shape: tuple[int, int, int, int], new: int) -> Array:
    """Return a mask that broadcasts to the shape of the scores: True for each key that is no padding."""
    batch, _, queries, keys = shape
    v.silent(MASK_SHAPES, mask.shape == (3 * batch + 2,))
    if mask.shape == (batch,):
        v.silent(LENGTHS, keys != new or bool(((mask < 0) | (mask > keys)).any()))
        return within(keys, np.zeros(batch, np.int64), mask)
    v.silent(MASK_VALUES, mask.shape == (batch, new) and new != keys)
    v.require(MASK_SHAPES, mask.shape in {(batch, keys), (batch, queries, keys)})
    v.silent(MASK_VALUES, not bool(((mask == 0) | (mask == 1)).all()))
    return np.asarray(mask.reshape(batch, 1, -1, keys) == 1)


@MHA.oracle()
def multi_head_attention(  # noqa: PLR0913 - the operator's own arguments
    v: Version,
    *,
    n: int,
    omits: Collection[str],
    query: Array,
    key: Array | None,
    value: Array | None,
    bias: Array | None,
    key_padding_mask: Array | None,
    attention_bias: Array | None,
    past_key: Array | None,
    past_value: Array | None,
    past_sequence_length: Array | None,
    cache_indirection: Array | None,
    num_heads: int,
    scale: float | None,
    mask_filter_value: float | None,
    unidirectional: int,
) -> tuple[Array, Array, Array, PartlyOpen]:
    """Return the attended values, all keys, all values, and the normalized scores."""
    v.silent(SHARED, past_sequence_length is not None)
    v.silent(BEAMS, cache_indirection is not None)
    q, k, values = _split(v, query, key, value, bias, num_heads)
    new, size = k.shape[2], q.shape[3]
    v.silent(PAST_KEY, (past_key is None) != (past_value is None))
    past = 0
    if past_key is not None:
        v.silent(PAST_KEY, key is not None and key.ndim == BY_HEAD)
        v.silent(PAST_VALUE, values.shape[3] != size)
        past, of_past = past_key.shape[2], cast("Array", past_value)
        v.require(PAST_KEY, past_key.shape == (*k.shape[:2], past, size))
        v.require(PAST_VALUE, of_past.shape == past_key.shape)
        k, values = np.concatenate([past_key, k], 2), np.concatenate([of_past, values], 2)
    v.silent(PRESENT_VALUE, n > 2 and "present_value" not in omits and values.shape[3] != size)  # noqa: PLR2004
    shape = (*q.shape[:3], k.shape[2])
    attends = np.ones(shape, bool)
    v.silent(PREVIOUS, unidirectional not in {0, 1})
    if unidirectional:
        v.silent(PREVIOUS, new != shape[2])
        attends = attends & causal(shape[2], shape[3], past)
    if key_padding_mask is not None:
        attends = attends & _unmasked(v, key_padding_mask, shape, new)
        v.silent(FILTER, not attends.all() and mask_filter_value is not None and mask_filter_value > LARGEST_FILTER)
    v.silent(MASK_VALUES, not bool(attends.any(-1).all()))
    v.require(ADDED, attention_bias is None or is_bias(attention_bias.shape, shape))
    scored = scores(q, k, scale, attention_bias)
    of_keys = softmax(scored, attends)
    return joined(of_keys @ values), k, values, PartlyOpen(of_keys, np.ones(shape, bool))


case = MHA.case
WITH_PAST: dict[str, Any] = {**PLAIN, "value": KEY[:, ::-1], "key": KEY, **PAST, "n": 3}
SELF: dict[str, Any] = {**PLAIN, "key": KEY[:, :4], "value": VALUE[:, :4]}
SELF_WITH_PAST: dict[str, Any] = {**WITH_PAST, "key": KEY[:, :4], "value": KEY[:, 2:]}

case("plain", **PLAIN, cites=(SELF_OR_CROSS, OF_QUERY, OF_KEY, OF_VALUE, OUTPUT, HEADS, SCALE))
case("self", **SELF, cites=(SELF_OR_CROSS, OUTPUT))
case("bias", **PLAIN, bias=BIAS, cites=(OF_BIAS, SELF_OR_CROSS))
case("one_head", **{**PLAIN, "num_heads": 1}, cites=HEADS)
case("past", **WITH_PAST, cites=(PAST_KEY, PAST_VALUE, PRESENT_KEY, PRESENT_VALUE))
case("past_self", **SELF_WITH_PAST, cites=(PAST_KEY, PAST_VALUE, PRESENT_KEY, PRESENT_VALUE))
case("past_bias", **SELF_WITH_PAST, bias=BIAS[:45], cites=(PAST_KEY, OF_BIAS, PRESENT_KEY))
case("past_without_present", **{**SELF_WITH_PAST, "n": 1}, cites=PAST_KEY)
ONE_QUERY: dict[str, Any] = {"query": QUERY[:, :1], "key": KEY[:, :1], "value": KEY[:, 1:2]}
case("past_one_query", **{**WITH_PAST, **ONE_QUERY}, cites=(PAST_KEY, PAST_VALUE))
case(
    "no_past",
    Tag.EDGE,
    **{**SELF_WITH_PAST, "past_key": ramp(2, 3, 0, 5), "past_value": ramp(2, 3, 0, 5)},
    cites=PAST_KEY,
)
case("present_of_self", **{**PLAIN, "key": KEY[:, :4], "value": KEY[:, 2:]}, n=3, cites=(PRESENT_KEY, PRESENT_VALUE))
case("present_of_cross", **{**PLAIN, "value": KEY[:, ::-1]}, n=3, cites=(PRESENT_KEY, PRESENT_VALUE))
case(
    "present_bias",
    **{**PLAIN, "key": KEY[:, :4], "value": KEY[:, 2:]},
    bias=BIAS[:45],
    n=3,
    cites=(PRESENT_KEY, OF_BIAS),
)
case("scores", **PLAIN, n=4, omits=("present_key", "present_value"), cites=QK)
case("scores_each_type", Tag.DTYPE, each="T", **PLAIN, n=4, omits=("present_key", "present_value"), cites=QK)

# Packed, and in the layout of the past.
QKV, KV = waves(2, 4, 3, 3, 5) / 2, waves(2, 6, 3, 2, 5)[..., ::-1] / 2
PACKED_QKV: dict[str, Any] = {"query": QKV, "num_heads": 3}
PACKED_KV: dict[str, Any] = {"query": QUERY, "key": KV, "num_heads": 3}
CACHED: dict[str, Any] = {
    "query": QUERY,
    "key": waves(2, 3, 6, 5)[:, ::-1] / 2,
    "value": waves(2, 3, 6, 5),
    "num_heads": 3,
}
case("packed_qkv", **PACKED_QKV, cites=OF_QUERY)
case("packed_qkv_bias", **PACKED_QKV, bias=BIAS[:45], cites=(OF_QUERY, OF_BIAS))
case("packed_kv", **PACKED_KV, cites=OF_KEY)
case("packed_kv_bias", **PACKED_KV, bias=BIAS[:45], cites=(OF_KEY, OF_BIAS))
case("cached", **CACHED, cites=(OF_KEY, OF_VALUE))
case("cached_mask", **CACHED, key_padding_mask=[[1, 1, 1, 0, 1, 0], [1, 0, 1, 1, 1, 1]], cites=(OF_KEY, MASK_VALUES))

# Masks.
OF_KEYS = [[1, 1, 0, 1, 1, 0], [0, 1, 1, 1, 0, 1]]
OF_ALL = np.arange(28).reshape(2, 14) % 5 > 0
OF_PAIRS = np.arange(48).reshape(2, 4, 6) % 5 != 1
case("mask", **PLAIN, key_padding_mask=OF_KEYS, cites=(MASK_VALUES, MASK_SHAPES, FILTER))
case("mask_of_total", **WITH_PAST, key_padding_mask=OF_ALL, cites=(MASK_SHAPES, MASK_VALUES))
case("mask_of_pairs", **PLAIN, key_padding_mask=OF_PAIRS, cites=MASK_SHAPES)
case("mask_of_lengths", **PLAIN, key_padding_mask=[5, 2], cites=(LENGTHS, MASK_SHAPES))
case("mask_of_whole_lengths", **PLAIN, key_padding_mask=[6, 6], cites=LENGTHS)
case("mask_of_one_key", Tag.EDGE, **PLAIN, key_padding_mask=[1, 6], cites=LENGTHS)
for name, value in {"large": -1e6, "at_limit": -1000.0, "default": -10000.0}.items():
    case(f"filter_{name}", **PLAIN, key_padding_mask=OF_KEYS, mask_filter_value=value, cites=FILTER)
case("filter_without_mask", **PLAIN, mask_filter_value=-1.0, cites=FILTER)
case("filter_masks_none", **PLAIN, key_padding_mask=[6, 6], mask_filter_value=-1.0, cites=FILTER)
case("unidirectional", **SELF, unidirectional=1, cites=PREVIOUS)
case("unidirectional_past", **SELF_WITH_PAST, unidirectional=1, cites=PREVIOUS)
case("unidirectional_mask", **SELF, unidirectional=1, key_padding_mask=[[1, 1, 0, 1], [1, 0, 1, 0]], cites=PREVIOUS)
case("unidirectional_zero", **SELF, unidirectional=0, cites=PREVIOUS)
BIASES = vary(whole=waves(2, 3, 4, 6), of_batch=waves(2, 1, 4, 6), of_heads=waves(1, 3, 4, 6), of_one=waves(1, 1, 4, 6))
case("added", **PLAIN, attention_bias=BIASES, cites=ADDED)
case("added_past", **WITH_PAST, attention_bias=waves(2, 3, 4, 14), cites=ADDED)
case("added_scale", **PLAIN, attention_bias=waves(1, 3, 4, 6), scale=0.1, cites=(ADDED, SCALE))
case("added_mask", **PLAIN, attention_bias=waves(1, 3, 4, 6), key_padding_mask=OF_KEYS, cites=(ADDED, MASK_VALUES))
case("scale", **PLAIN, scale=vary(half=0.5, one=1.0, negative=-0.5, large=1000.0), cites=SCALE)
case("each_type", Tag.DTYPE, each="T", **PLAIN, bias=BIAS, key_padding_mask=OF_KEYS, cites=OUTPUT)
case("each_type_past", Tag.DTYPE, each="T", **SELF_WITH_PAST, attention_bias=waves(1, 1, 4, 12), cites=PAST_KEY)
case("no_batch", Tag.EDGE, query=ramp(0, 4, 15), key=ramp(0, 6, 15), value=ramp(0, 6, 21), num_heads=3, cites=OUTPUT)
case("no_queries", Tag.EDGE, **{**PLAIN, "query": ramp(2, 0, 15)}, cites=OUTPUT)
case("one_key", Tag.EDGE, **{**PLAIN, "key": KEY[:, :1], "value": VALUE[:, :1]}, cites=OUTPUT)

case("query", **{**PLAIN, "query": vary(of_rank2=ramp(4, 15), of_rank4=ramp(2, 4, 3, 5))}, rejects=OF_QUERY)
WRONG_KEYS = vary(of_rank2=ramp(6, 15), of_other_size=ramp(2, 6, 12), of_other_batch=ramp(1, 6, 15))
case("key", **{**PLAIN, "key": WRONG_KEYS}, rejects=OF_KEY)
WRONG_VALUES = vary(of_rank2=ramp(6, 21), of_other_length=ramp(2, 5, 21), of_other_batch=ramp(1, 6, 21))
case("value", **{**PLAIN, "value": WRONG_VALUES}, rejects=OF_VALUE)
PACKED_WRONG = vary(of_two=ramp(2, 4, 3, 2, 5), of_other_heads=ramp(2, 4, 4, 3, 5))
case("packed_qkv", **{**PACKED_QKV, "query": PACKED_WRONG}, rejects=OF_QUERY)
WRONG_KV = vary(of_three=ramp(2, 6, 3, 3, 5), of_other_heads=ramp(2, 6, 4, 2, 5), of_other_size=ramp(2, 6, 3, 2, 4))
case("packed_kv", **{**PACKED_KV, "key": WRONG_KV}, rejects=OF_KEY)
case("packed_kv_of_other_batch", **{**PACKED_KV, "key": ramp(1, 6, 3, 2, 5)}, rejects=OF_KEY)
case("cached_of_other_heads", **{**CACHED, "key": ramp(2, 4, 6, 5), "value": ramp(2, 4, 6, 5)}, rejects=OF_KEY)
case("cached_values_of_other_length", **{**CACHED, "value": ramp(2, 3, 7, 5)}, rejects=OF_VALUE)
case("cached_values_in_rows", **{**CACHED, "value": ramp(2, 6, 15)}, rejects=OF_VALUE)
case("bias", **PLAIN, bias=vary(too_short=ramp(50), matrix=ramp(1, 51), of_query=ramp(15)), rejects=OF_BIAS)
WRONG_MASKS = vary(
    of_other_batch=[[1] * 6] * 3, of_rank4=[[[[1] * 6] * 4]] * 2, longer=[[1] * 7] * 2, of_three=[6, 6, 6]
)
case("mask", **PLAIN, key_padding_mask=WRONG_MASKS, rejects=MASK_SHAPES)
case("mask_of_pairs_of_fewer_queries", **PLAIN, key_padding_mask=[[[1] * 6] * 3] * 2, rejects=MASK_SHAPES)
WRONG_BIASES = {
    "of_rank3": (3, 4, 6),
    "of_rank5": (1, 2, 3, 4, 6),
    "of_three_batches": (3, 3, 4, 6),
    "of_two_heads": (2, 2, 4, 6),
    "of_one_query": (2, 3, 1, 6),
    "of_one_key": (2, 3, 4, 1),
}
for name, shape in WRONG_BIASES.items():
    case(f"added_{name}", **PLAIN, attention_bias=ramp(*shape), rejects=ADDED)
case("past_key_of_other_size", **{**WITH_PAST, "past_key": ramp(2, 3, 8, 4)}, rejects=PAST_KEY)
case("past_key_of_other_heads", **{**WITH_PAST, "past_key": ramp(2, 4, 8, 5)}, rejects=PAST_KEY)
case("past_value_of_other_length", **{**WITH_PAST, "past_value": ramp(2, 3, 7, 5)}, rejects=PAST_VALUE)

for name, wrong in {"heads_none": 0, "heads_negative": -3}.items():
    case(name, Tag.EDGE, **{**PLAIN, "num_heads": wrong}, unspecified=HEADS)
case("heads_no_divisor", Tag.EDGE, **{**PLAIN, "num_heads": 2}, unspecified=OF_QUERY)
case("value_no_multiple", Tag.EDGE, **{**PLAIN, "value": ramp(2, 6, 20)}, unspecified=OF_VALUE)
case("query_alone", query=QUERY, num_heads=3, unspecified=OF_KEY)
case("value_missing", query=QUERY, key=KEY, num_heads=3, unspecified=OF_VALUE)
case("packed_qkv_with_key", **PACKED_QKV, key=KEY[:, :4], value=KEY[:, 2:], unspecified=OF_QUERY)
case("packed_kv_with_value", **PACKED_KV, value=VALUE, unspecified=OF_VALUE)
case("packed_qkv_with_value", **PACKED_QKV, value=VALUE[:, :4], unspecified=OF_VALUE)
case("cached_bias", **CACHED, bias=BIAS[:45], unspecified=OF_BIAS)
case("cached_past", **{**CACHED, **WITH_PAST, "key": CACHED["key"], "value": CACHED["value"]}, unspecified=PAST_KEY)
case("past_key_alone", **PLAIN, past_key=PAST["past_key"], unspecified=PAST_KEY)
case("past_value_alone", **PLAIN, past_value=PAST["past_value"], unspecified=PAST_KEY)
case("past_of_other_values", **{**WITH_PAST, "value": VALUE}, unspecified=PAST_VALUE)
case("present_of_other_values", **PLAIN, n=3, unspecified=PRESENT_VALUE)
case("lengths", Tag.EDGE, **PLAIN, key_padding_mask=vary(beyond=[7, 6], negative=[-1, 6]), unspecified=LENGTHS)
case("lengths_of_none", Tag.EDGE, **PLAIN, key_padding_mask=[0, 6], unspecified=MASK_VALUES)
case("lengths_past", **WITH_PAST, key_padding_mask=[6, 5], unspecified=LENGTHS)
case("mask_closed_row", Tag.EDGE, **PLAIN, key_padding_mask=[[0] * 6, [1] * 6], unspecified=MASK_VALUES)
case("mask_of_twos", Tag.EDGE, **PLAIN, key_padding_mask=[[1, 2, 1, 1, 1, 1], [1] * 6], unspecified=MASK_VALUES)
case("mask_of_new_keys", **WITH_PAST, key_padding_mask=OF_KEYS, unspecified=MASK_VALUES)
case("mask_of_eight", **PLAIN, key_padding_mask=[6, 5, 0, 4, 8, 0, 6, 11], unspecified=MASK_SHAPES)
case("filter_small", Tag.EDGE, **PLAIN, key_padding_mask=OF_KEYS, mask_filter_value=-1.0, unspecified=FILTER)
case("no_keys", Tag.EDGE, **{**PLAIN, "key": ramp(2, 0, 15), "value": ramp(2, 0, 21)}, unspecified=MASK_VALUES)
case("unidirectional_two", Tag.EDGE, **SELF, unidirectional=2, unspecified=PREVIOUS)
case("unidirectional_cross", **PLAIN, unidirectional=1, unspecified=PREVIOUS)
case("shared_buffer", **SELF_WITH_PAST, past_sequence_length=[4], unspecified=SHARED)
case("beams", **SELF_WITH_PAST, cache_indirection=ramp(2, 1, 8), unspecified=BEAMS)

SIZES = grid(b=(1,), h=(2,), q=(1, 17), k=(16, 65), d=(16, 64), e=(32,))
ROWS_OF_SIZES: dict[str, Any] = {
    "query": filled("b", "q", ("h", "d")),
    "key": filled("b", "k", ("h", "d")),
    "value": filled("b", "k", ("h", "e")),
    "num_heads": lambda sizes: sizes["h"],
}
MHA.sized("cross", SIZES, each="T", cites=(SELF_OR_CROSS, SCALE), arguments=ROWS_OF_SIZES)
OF_SELF = grid(b=(2,), h=(3,), q=(1, 8, 33, 130), d=(8, 32), past=(1, 16))
DECODED: dict[str, Any] = {
    "query": filled("b", "q", ("h", "d")),
    "key": filled("b", "q", ("h", "d")),
    "value": filled("b", "q", ("h", "d")),
    "num_heads": lambda sizes: sizes["h"],
    "unidirectional": 1,
}
OF_PAST = {"past_key": filled("b", "h", "past", "d"), "past_value": filled("b", "h", "past", "d")}
MHA.sized("causal", OF_SELF[::2], each="T", cites=(SELF_OR_CROSS, PREVIOUS), arguments=DECODED)
MHA.sized("past", OF_SELF, n=3, each="T", cites=(PAST_KEY, PREVIOUS), arguments={**DECODED, **OF_PAST})
