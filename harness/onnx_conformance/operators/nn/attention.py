# SPDX-License-Identifier: Apache-2.0
"""Attention: weigh values by the softmax of scaled dot products of queries and keys.

    Y, present_key, present_value, qk_matmul_output = Attention(
        Q, K, V, attn_mask=None, past_key=None, past_value=None, nonpad_kv_seqlen=None, is_causal=0, scale=..., ...
    )

Versions: 23, 24 (nonpad_kv_seqlen, shorter masks), 25 (windows; text of softcap).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onnx_conformance.declare import Array, Int, Op, Tag, Version, measured, ramp, typed, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled, grid, pairwise

if TYPE_CHECKING:
    from collections.abc import Collection

    from onnx_conformance.declare import Clause
    from onnx_conformance.declare.sizes import Choice

FOUR = 4
"""The rank of tensors with a dimension of heads, and the highest rank of a mask."""


ATTENTION = Op(
    "Attention",
    versions=(23, 24, 25),
    compare=measured(
        "products, sums and functions round; the softmax weights pass on the error of a score",
        stage="softmax_precision",
    ),
    rank="Q",
)
ATTENTION.example(
    Q=waves(2, 4, 15) / 2,
    K=waves(2, 6, 15)[..., ::-1] / 2,
    V=waves(2, 6, 21),
    past_key=waves(2, 3, 8, 5)[:, ::-1] / 2,
    past_value=waves(2, 3, 8, 7)[:, ::-1],
    q_num_heads=3,
    kv_num_heads=3,
    scale=0.5,
    softcap=2.0,
    is_causal=1,
    n=3,
)
for width in (8, 16, 32, 64):
    for sign in ("", "u"):
        ATTENTION.excuse(
            f"type U tensor({sign}int{width})", "the signature has it, but two types of masks are supported"
        )
ATTENTION.dispute(
    "The function body of onnx multiplies the probabilities with values of another type. MatMul does not allow this.",
    "values_each_type",
)
ATTENTION.dispute(
    "The function body of onnx reshapes a tensor without keys to a shape with another number of elements.",
    "no_keys",
    "no_keys_weights",
    "no_past_no_keys",
)
ATTENTION.dispute(
    "The function body of onnx rounds the square root of the default scale to float.", "flat_each_type", "each_type"
)
ATTENTION.dispute(
    "The function body of onnx reads the last dimension of a mask of rank 0.",
    "mask_one",
    "mask_one_before_24",
    "mask_bool_one",
)
ATTENTION.dispute(
    "The function body of onnx rounds every step to float16, and the official tolerance is one step of float16.",
    "test_attention_4d_causal_fp16_expanded",
)

COMPUTES = ATTENTION.clause("Computes scaled dot product attention on query, key and value tensors")
MHA = ATTENTION.clause("`q_num_heads = kv_num_heads`.")
GQA = ATTENTION.clause(
    "`q_num_heads > kv_num_heads`, `q_num_heads % kv_num_heads == 0`.",
    note="The text does not define which query heads share a key head. Neighbours share one, as the official cases "
    "show. The text covers three variants and does not define other numbers of heads.",
)
MQA = ATTENTION.clause("`q_num_heads > kv_num_heads`, `kv_num_heads=1`.")
TOGETHER = ATTENTION.clause(
    "They shall be used together, and not allowed to use only one of them.",
    note="This refers to key and value. The text does not define whether past without present, or present without "
    "past, is allowed.",
)
NEEDED = ATTENTION.clause("the four optional inputs/outputs past and present key and value are all needed.", since=24)
UNPADDED = ATTENTION.clause(
    "Note that this only works correctly for the special case where the past key and value", since=24
)
NEEDS_VALUE = ATTENTION.clause("Must be used together with `past_value` input.", since=25)
NEEDS_KEY = ATTENTION.clause("Must be used together with `past_key` input.", since=25)
NARROW = ATTENTION.clause("this only replaces previously-`NaN` outputs.", before=24)
AT_T1 = ATTENTION.clause(
    "The mode-`3` `qk_matmul_output` is also now emitted at the operator's output precision (`T1`)", before=24
)
ALONE = ATTENTION.clause("This should not be used together with `past_key` and `past_value` inputs", since=24)
NOT_CACHED = ATTENTION.clause(
    "the four optional inputs/outputs past and present key and value should not be used.", since=24
)
SOFTCAPPED = ATTENTION.clause(
    "If set to `1`, qk_matmul_output is the output after the softcap operation (before mask addition).",
    before=25,
    see=("https://github.com/onnx/onnx/issues/7865", "https://github.com/onnx/onnx/pull/7867"),
)
MASKED = ATTENTION.clause(
    "includes the attention mask and softcap (if provided) applied to the output of qk matmul.", before=25
)
WEIGHTS = ATTENTION.clause("qk_matmul_output is the output after the softmax operation.", before=25)
MODE = ATTENTION.clause(
    "`0` (default): raw QK matmul result;",
    note="onnx.reference returns the result after softcap. Values other than 0 to 3 are left open.",
).reworded(before=25, text="If set to `0`, qk_matmul_output is the output of qk matmul.")
MODES = ATTENTION.clause(
    "`1`: after softcap (before bias addition); `2`: QK + softcap + bias; `3`: post-softmax probabilities", since=25
)
SOFTCAP = ATTENTION.clause("applied as `softcap * tanh(logits / softcap)`.").reworded(
    before=25,
    text="Softcap value for attention weights. Default value is 0.",
    note="The formula is in the text of version 25.",
)
NO_SOFTCAP = ATTENTION.clause("Default value of `0.0` means no soft capping is applied.", since=25)
CAST_TO_T1 = ATTENTION.clause(
    "when `softmax_precision` differs from `T1` this is a cast of the softmax result to `T1`."
)
PRECISION = ATTENTION.clause(
    "Supported values are: `1` (FLOAT), `10` (FLOAT16), `11` (DOUBLE), `16` (BFLOAT16)."
).reworded(before=25, text="The floating-point precision used in softmax computation.")
KV_HEADS = ATTENTION.clause("Number of heads of key and value. Must be used with 3D inputs of Q, K and V.")
Q_HEADS = ATTENTION.clause(
    "Number of heads of query. Must be used with 3D inputs of Q, K and V.",
    note="The text does not define the attribute for 4D inputs.",
)
SCALE = ATTENTION.clause(
    "Default value is `1/sqrt(head_size)`.",
    note="A negative scale has no square root by which Q and K could be multiplied.",
)
Q_SHAPE = ATTENTION.clause(
    "4D tensor with shape `(batch_size, q_num_heads, q_sequence_length, head_size)` or 3D tensor"
)
Q_HIDDEN = ATTENTION.clause(
    "For cases with a 3D input tensor, `q_hidden_size = q_num_heads * head_size`",
    see=("https://github.com/onnx/onnx/issues/7118", "https://github.com/onnx/onnx/pull/7142"),
)
K_SHAPE = ATTENTION.clause(
    "4D tensor with shape `(batch_size, kv_num_heads, kv_sequence_length, head_size)` or 3D tensor"
)
K_HIDDEN = ATTENTION.clause("For cases with a 3D input tensor, `k_hidden_size = kv_num_heads * head_size`")
V_SHAPE = ATTENTION.clause(
    "4D tensor with shape `(batch_size, kv_num_heads, kv_sequence_length, v_head_size)` or 3D tensor"
)
V_HIDDEN = ATTENTION.clause("For cases with a 3D input tensor, `v_hidden_size = kv_num_heads * v_head_size`")
PAST_KEY = ATTENTION.clause("with shape `(batch_size, kv_num_heads, past_sequence_length, head_size)`")
PAST_VALUE = ATTENTION.clause("with shape `(batch_size, kv_num_heads, past_sequence_length, v_head_size)`")
Y_HIDDEN = ATTENTION.clause("For cases with a 3D input tensor, `hidden_size = q_num_heads * v_head_size`")
BOOLEAN = ATTENTION.clause(
    "A boolean mask where a value of `True` indicates that the element should take part in attention", result=True
)
BOOLEAN_INPUT = ATTENTION.clause(
    "boolean mask where a value of `True` indicates that the element should take part in attention", result=True
)
ADDED = ATTENTION.clause("a float mask of the same type as query, key, value that is added to the attention score.")
MASK_TYPES = ATTENTION.clause("Two types of masks are supported: a boolean mask").reworded(
    before=24,
    text="Two types of masks are supported.",
    note="The signature also allows integers, which onnx.reference and onnxruntime add. This sentence forbids them.",
)
CAUSAL = ATTENTION.clause(
    "query `i` attends key `j` iff `j <= i + offset`, as illustrated below.",
    see=("https://github.com/onnx/onnx/issues/8054", "https://github.com/onnx/onnx/pull/8068"),
).reworded(
    before=24,
    text="query `i` attends key `j` iff `j <= i + past_sequence_length`",
    see=("https://github.com/onnx/onnx/issues/8054", "https://github.com/onnx/onnx/pull/8068"),
)
IN_BLOCK = ATTENTION.clause("query in-block index `i` attends key `j` iff `j <= i + offset`", since=24)
RULE = ATTENTION.clause("Rule: query i attends key j iff j <= i + offset", since=24)
OFFSET = ATTENTION.clause("`offset` is the count of valid keys preceding the current query block:", since=24)
FULLY_MASKED = ATTENTION.clause("and are fully masked.", since=24)
COMPOSED = ATTENTION.clause(
    "is added to the attention scores rather than disabling positions.", see=("https://github.com/onnx/onnx/pull/8068",)
)
ZERO_ROW = ATTENTION.clause("produces a zero output row")
WINDOW = ATTENTION.clause(
    "attends keys `j` satisfying `p - left_window_size <= j <= p + right_window_size`",
    since=25,
    see=("https://github.com/onnx/onnx/issues/7914", "https://github.com/onnx/onnx/pull/8108"),
)
UPPER_BOUND = ATTENTION.clause("when `is_causal=1`, the causal upper bound still excludes future keys.", since=25)
UNBOUNDED = ATTENTION.clause(
    "A value of `-1` leaves that side unbounded.", since=25, note="The text does not define values below -1."
)
NONE_BEHIND = ATTENTION.clause("A value of `0` allows the current position but no following position", since=25)
NONE_BEFORE = ATTENTION.clause("A value of `0` allows the current position but no preceding position", since=25)
LONG_ENOUGH = ATTENTION.clause("needs to be at least as long as the maximum value of `nonpad_kv_seqlen`.", since=24)
VALID = ATTENTION.clause(
    "that indicates the number of valid", since=24, note="The text does not define values outside the range."
)
VECTOR = ATTENTION.clause("A vector of integers of shape `(batch_size,)`", since=24)
BROADCAST = ATTENTION.clause("Shape must be broadcastable to `(batch_size, q_num_heads,").reworded(
    before=24, text="Shape must be broadcastable to 4D tensor with shape"
)
SHORTER = ATTENTION.clause(
    "The last dimension can also be shorter than `total_sequence_length` and will be padded to "
    "`total_sequence_length` with negative infinity.",
    since=24,
    note="The text does not define whether a last dimension of 1 is broadcast or padded.",
)


def _heads(data: Array, count: int) -> Array:
    """Return (batch, heads, sequence, size) of data whose last dimension contains the heads."""
    return data.reshape(*data.shape[:2], count, data.shape[2] // count).transpose(0, 2, 1, 3)


def _joined(y: Array, q: Array) -> Array:
    """Return data without the dimension of heads if Q has no such dimension."""
    return y if q.ndim == FOUR else y.transpose(0, 2, 1, 3).reshape(*q.shape[:2], y.shape[1] * y.shape[3])


def _attended(q: Array, k: Array, v: Array, bias: Array, scale: float, softcap: float) -> tuple[Array, list[Array]]:
    """Return softmax(softcap(q k^T scale) + bias) v, and the intermediate stages.

    A row that contains only -inf becomes zeros.
    """
    groups = q.shape[1] // k.shape[1]
    k, v = k.repeat(groups, 1), v.repeat(groups, 1)
    with np.errstate(all="ignore"):
        product = q @ k.transpose(0, 1, 3, 2) * scale
        capped = softcap * np.tanh(product / softcap) if softcap else product
        scores = capped + bias
        closed = np.isneginf(bias).all(-1, keepdims=True)
        powers = np.exp(scores - scores.max(-1, keepdims=True, initial=-np.inf))
        weights = np.where(closed, 0, powers / powers.sum(-1, keepdims=True))
        return weights @ v, [product, capped, scores, weights]


def _bias(
    shape: tuple[int, ...],
    mask: Array | None,
    offset: Array,
    *,
    nonpad: Array | None,
    causal: bool,
    left: int,
    right: int,
) -> Array:
    """Return the summand of the scores: the mask, and -inf for every key that a query does not attend.

    Args:
        shape: (batch, heads, queries, keys).
        mask: True for each key that takes part, or the summand itself. A shorter last dimension is padded with -inf.
        offset: for each batch, the number of keys before the first query.
        nonpad: for each batch, the number of valid keys.
        causal: whether queries attend no keys after them.
        left: how many preceding keys a query attends; -1 means all.
        right: how many following keys a query attends; -1 means all.
    """
    summand: Any = 0.0
    if mask is not None:
        summand = np.where(mask, 0.0, -np.inf) if mask.dtype.kind == "b" else mask
        if mask.ndim and mask.shape[-1] > 1:
            short = [(0, 0)] * (mask.ndim - 1) + [(0, shape[3] - mask.shape[-1])]
            summand = np.pad(summand, short, constant_values=-np.inf)
    i, j = offset[:, None, None, None] + np.arange(shape[2])[:, None], np.arange(shape[3])
    attends = np.ones(shape, bool)
    if nonpad is not None:
        attends = attends & (j < nonpad[:, None, None, None])
    if causal:
        attends = attends & (j <= i)
    if left >= 0:
        attends = attends & (i - left <= j)
    if right >= 0:
        attends = attends & (j <= i + right)
    return np.where(attends, np.broadcast_to(summand, shape), -np.inf)


def _check_mask(v: Version, mask: Array, shape: tuple[int, ...], nonpad: Array | None) -> None:
    """Raise if a mask does not fit the shape of the scores."""
    v.require(MASK_TYPES, mask.dtype.kind not in "iu")
    same = {v.dtypes["U"]} == {v.dtypes["T1"], v.dtypes["T2"]}
    v.require(ADDED, mask.dtype.kind == "b" or same)
    pairs = list(zip(mask.shape[::-1], shape[::-1], strict=False))
    if SHORTER.in_force(v.since):
        own_last, pairs = pairs[:1], pairs[1:]
        for last, keys in own_last:
            v.silent(SHORTER, last == 1 != keys)
            v.require(LONG_ENOUGH, nonpad is None or bool((nonpad <= last).all()))
            v.require(BROADCAST, last <= keys)
    v.require(BROADCAST, all(own in {1, whole} for own, whole in pairs) and mask.ndim <= FOUR)


def _summand(
    v: Version,
    shape: tuple[int, ...],
    mask: Array | None,
    past: int,
    nonpad: Array | None,
    is_causal: int,
    window: tuple[int | None, int | None],
) -> Array:
    """Return the summand of the scores. The sizes of the window are None in versions without windows."""
    if nonpad is not None:
        v.require(VECTOR, nonpad.shape == shape[:1])
        v.silent(VALID, bool(((nonpad < 0) | (nonpad > shape[3])).any()))
    v.silent(CAUSAL, is_causal not in {0, 1})
    left, right = (-1 if size is None else size for size in window)
    v.silent(UNBOUNDED, min(left, right) < -1)
    if mask is not None and v.dtypes:
        _check_mask(v, mask, shape, nonpad)
    offset = np.full(shape[0], past) if nonpad is None else nonpad - shape[2]
    return _bias(shape, mask, offset, nonpad=nonpad, causal=bool(is_causal), left=left, right=right)


def _split(v: Version, Q: Array, K: Array, V: Array, q_num_heads: Int, kv_num_heads: Int) -> list[Array]:
    """Return Q, K and V in 4D."""
    four, split = Q.ndim == FOUR, []
    for item, shape, count, needed, hidden in (
        (Q, Q_SHAPE, q_num_heads, Q_HEADS, Q_HIDDEN),
        (K, K_SHAPE, kv_num_heads, KV_HEADS, K_HIDDEN),
        (V, V_SHAPE, kv_num_heads, KV_HEADS, V_HIDDEN),
    ):
        v.require(shape, item.ndim in {3, FOUR})
        v.silent(shape, item.ndim != Q.ndim)
        if four:
            v.silent(needed, count is not None)
            split.append(item)
        else:
            v.require(needed, count is not None)
            heads = cast("int", count)
            v.silent(needed, heads < 1)
            v.require(hidden, item.shape[2] % heads == 0)
            split.append(_heads(item, heads))
    q, k, value = split
    v.require(K_SHAPE, k.shape[0] == q.shape[0] and k.shape[3] == q.shape[3])
    v.require(V_SHAPE, value.shape[:3] == k.shape[:3])
    of_q, of_kv = q.shape[1], k.shape[1]
    v.silent(GQA, not 0 < of_kv <= of_q or of_q % of_kv != 0)
    return split


@ATTENTION.oracle()
def attention(  # noqa: PLR0913 - the operator's own arguments
    v: Version,
    *,
    n: int,
    omits: Collection[str],
    Q: Array,
    K: Array,
    V: Array,
    attn_mask: Array | None,
    past_key: Array | None,
    past_value: Array | None,
    nonpad_kv_seqlen: Array | None,
    q_num_heads: Int,
    kv_num_heads: Int,
    scale: float | None,
    softcap: float,
    is_causal: int,
    qk_matmul_output_mode: int,
    softmax_precision: Int,
    left_window_size: Int,
    right_window_size: Int,
) -> tuple[Array, ...]:
    """Return Y, all keys, all values, and the stage that the mode selects."""
    q, k, value = _split(v, Q, K, V, q_num_heads, kv_num_heads)
    newest, past = NEEDS_VALUE.in_force(v.since), 0
    v.require(NEEDS_VALUE if newest else TOGETHER, past_key is None or past_value is not None)
    v.require(NEEDS_KEY if newest else TOGETHER, past_value is None or past_key is not None)
    if past_key is not None:
        values = cast("Array", past_value)
        v.require(ALONE, nonpad_kv_seqlen is None)
        past = past_key.shape[2]
        v.require(PAST_KEY, past_key.shape == (*k.shape[:2], past, k.shape[3]))
        v.require(PAST_VALUE, values.shape == (*k.shape[:2], past, value.shape[3]))
        k, value = np.concatenate([past_key, k], 2), np.concatenate([values, value], 2)
    v.silent(SCALE, scale is not None and scale < 0)
    v.silent(SOFTCAP, softcap < 0)
    v.silent(MODE, qk_matmul_output_mode not in range(4))
    v.require(PRECISION, softmax_precision in {None, 1, 10, 11, 16})
    shape, window = (*q.shape[:3], k.shape[2]), (left_window_size, right_window_size)
    summand = _summand(v, shape, attn_mask, past, nonpad_kv_seqlen, is_causal, window)
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    y, stages = _attended(q, k, value, summand, factor, softcap)
    present = [name for name in ("Y", "present_key", "present_value")[:n] if name not in omits]
    v.require(TOGETHER, ("present_key" in present) == ("present_value" in present))
    v.require(NOT_CACHED, nonpad_kv_seqlen is None or n != 3)  # noqa: PLR2004 - both present ones
    v.silent(TOGETHER, n == (3 if past_key is None else 1))
    return _joined(y, Q), k, value, stages[qk_matmul_output_mode]


case = ATTENTION.case
Q, K, V = waves(2, 3, 4, 5) / 2, waves(2, 3, 6, 5)[..., ::-1] / 2, waves(2, 3, 6, 7)
QKV: dict[str, Any] = {"Q": Q, "K": K, "V": V}
"""2 batches, 3 heads, 4 queries and 6 keys of size 5, values of size 7."""
PAST: dict[str, Any] = {"past_key": waves(2, 3, 8, 5)[:, ::-1] / 2, "past_value": waves(2, 3, 8, 7)[:, ::-1]}
Y_AND_STAGE: dict[str, Any] = {"n": 4, "omits": ("present_key", "present_value")}
HEADS: dict[str, Any] = {"q_num_heads": 3, "kv_num_heads": 3}
FLAT_Q, FLAT_K, FLAT_V = waves(2, 4, 15) / 2, waves(2, 6, 15)[..., ::-1] / 2, waves(2, 6, 21)
FLAT: dict[str, Any] = {"Q": FLAT_Q, "K": FLAT_K, "V": FLAT_V, **HEADS}
MASK = waves(4, 6)
SOME = MASK > -1

# The keys that a query attends.
case("causal_before_24", **QKV, is_causal=1, before=24, cites=CAUSAL)
case("causal", **QKV, is_causal=1, cites=(CAUSAL, OFFSET, IN_BLOCK, RULE))
case("past_causal_before_24", **QKV, **PAST, n=4, qk_matmul_output_mode=3, is_causal=1, before=24, cites=CAUSAL)
case("past_causal", **QKV, **PAST, n=4, qk_matmul_output_mode=3, is_causal=1, cites=(CAUSAL, OFFSET, IN_BLOCK, RULE))
case("causal_more_queries", Tag.EDGE, Q=waves(2, 3, 9, 5), K=K, V=V, is_causal=1)
ONE_QUERY: dict[str, Any] = {
    "Q": waves(2, 3, 1, 5),
    "K": K,
    "V": V,
}  # As in generation, but without the past: it attends one key.
case("causal_one_query_before_24", **ONE_QUERY, is_causal=1, before=24, cites=CAUSAL)
case("causal_one_query", **ONE_QUERY, is_causal=1, cites=(CAUSAL, OFFSET, IN_BLOCK, RULE))
case("causal_float_mask", **QKV, is_causal=1, attn_mask=MASK, cites=(COMPOSED, ADDED))
case("causal_bool_mask", **QKV, is_causal=1, attn_mask=typed("bool", SOME), cites=BOOLEAN)
case("causal_two", Tag.EDGE, **QKV, is_causal=2, unspecified=CAUSAL)

MASK_SHAPES: dict[str, tuple[int, ...]] = {
    "whole": (2, 3, 4, 6),
    "heads": (3, 4, 6),
    "batch": (2, 1, 1, 6),
    "row": (6,),
    "queries": (4, 6),
    "one": (),
}
for name, shape in MASK_SHAPES.items():
    call: dict[str, Any] = {**QKV, **Y_AND_STAGE, "qk_matmul_output_mode": 2, "attn_mask": waves(*shape)}
    case(f"mask_{name}", **call, cites=BROADCAST)
    mask = typed("bool", waves(*shape) > -1)
    cites = (BOOLEAN, BOOLEAN_INPUT)
    case(f"mask_bool_{name}", **QKV, attn_mask=mask, cites=(MASK_TYPES, *cites))
case("mask_column_before_24", **QKV, attn_mask=waves(4, 1), before=24, cites=BROADCAST)
case("mask_column", Tag.CHANGE, **QKV, attn_mask=waves(4, 1), since=24, unspecified=SHORTER)
SHORT = vary(float=MASK[:, :5], bool=typed("bool", SOME[:, :5]), heads=waves(3, 4, 5), of_two=MASK[:, :2])
case("mask_short", Tag.CHANGE, **QKV, attn_mask=SHORT, cites=SHORTER)
case("mask_short_before_24", Tag.CHANGE, **QKV, attn_mask=SHORT, before=24, rejects=BROADCAST)
LONG = vary(float=MASK[:, :5], bool=typed("bool", SOME[:, :5]))
case("mask_short_nonpad", **QKV, attn_mask=LONG, nonpad_kv_seqlen=[5, 2], cites=LONG_ENOUGH)
case("mask_too_short", **QKV, attn_mask=MASK[:, :3], nonpad_kv_seqlen=[4, 2], rejects=LONG_ENOUGH)
MISFITS = vary(longer=ramp(4, 7), queries=ramp(5, 6), rank5=ramp(1, 2, 3, 4, 6))
case("mask_not", **QKV, attn_mask=MISFITS, rejects=BROADCAST)
INTEGERS = vary(int64=typed("int64", [[1] * 6] * 4), uint8=typed("uint8", [[1] * 6] * 4))
case("mask", **QKV, attn_mask=INTEGERS, rejects=MASK_TYPES)
case("mask_double", **QKV, attn_mask=typed("double", MASK), rejects=ADDED)
CLOSED_ROW = SOME & (np.arange(4) != 1)[:, None]
for mode in range(4):
    case(
        f"closed_row_mode_{mode}",
        Tag.EDGE,
        **QKV,
        **Y_AND_STAGE,
        qk_matmul_output_mode=mode,
        attn_mask=typed("bool", CLOSED_ROW),
        cites=ZERO_ROW,
    )
case(
    "closed_row_of_one_head",
    Tag.EDGE,
    **QKV,
    attn_mask=typed("bool", np.stack([SOME, CLOSED_ROW, SOME])),
    since=25,
    cites=(ZERO_ROW, BOOLEAN),
)
NO_KEYS: dict[str, Any] = {"Q": Q, "K": ramp(2, 3, 0, 5), "V": ramp(2, 3, 0, 7)}
NO_PAST: dict[str, Any] = {"past_key": ramp(2, 3, 0, 5), "past_value": ramp(2, 3, 0, 7)}
case("no_keys", Tag.EDGE, **NO_KEYS, cites=ZERO_ROW)
case("no_keys_weights", Tag.EDGE, **NO_KEYS, **Y_AND_STAGE, qk_matmul_output_mode=3, cites=ZERO_ROW)
case("no_keys_past", Tag.EDGE, **NO_KEYS, **PAST, n=4, is_causal=1, cites=(CAUSAL, PAST_KEY, PAST_VALUE))
case("no_past", Tag.EDGE, **QKV, **NO_PAST, n=4, is_causal=1, qk_matmul_output_mode=3, cites=(PAST_KEY, PAST_VALUE))
case("no_past_no_keys", Tag.EDGE, **NO_KEYS, **NO_PAST, n=3, cites=(ZERO_ROW, PAST_KEY))
case("closed_row_infinite", Tag.EDGE, **QKV, attn_mask=np.where(CLOSED_ROW, 0, -np.inf), cites=ZERO_ROW)

for value in (0, 1):
    case(
        f"nonpad_causal_{value}",
        **QKV,
        **Y_AND_STAGE,
        nonpad_kv_seqlen=[6, 3],
        is_causal=value,
        qk_matmul_output_mode=3,
        cites=(OFFSET, VALID, FULLY_MASKED),
    )
case("nonpad_none", Tag.EDGE, **QKV, nonpad_kv_seqlen=[0, 6], cites=(VALID, ZERO_ROW))
case("nonpad", Tag.EDGE, **QKV, nonpad_kv_seqlen=vary(beyond=[7, 6], negative=[-1, 6]), unspecified=VALID)
case("nonpad", **QKV, nonpad_kv_seqlen=vary(too_few=[6], matrix=[[6, 3]]), rejects=VECTOR)
for left, right in ((2, 1), (0, 0), (2, 0), (-1, 1), (1, -1), (-1, -1), (9, 9)):
    window: dict[str, Any] = {"left_window_size": left, "right_window_size": right}
    name = f"window_{left}_{right}".replace("-1", "all")
    sides = (WINDOW, UNBOUNDED, NONE_BEHIND, NONE_BEFORE)
    case(name, **QKV, **window, **Y_AND_STAGE, qk_matmul_output_mode=3, cites=sides)
    case(f"{name}_past", **QKV, **PAST, n=3, **window, is_causal=1, cites=(WINDOW, UPPER_BOUND))
    case(f"{name}_nonpad", **QKV, **window, nonpad_kv_seqlen=[5, 2], attn_mask=MASK, cites=WINDOW)
case("window_below", Tag.EDGE, **QKV, left_window_size=-2, unspecified=UNBOUNDED)

# Shapes, scores and outputs.
case("plain", **QKV, cites=(COMPUTES, MHA, Q_SHAPE, K_SHAPE, V_SHAPE, SCALE))
case("flat", **FLAT, cites=(Q_HEADS, KV_HEADS, Q_HIDDEN, K_HIDDEN, V_HIDDEN, Y_HIDDEN))
case("flat_before_24", **FLAT, **Y_AND_STAGE, qk_matmul_output_mode=3, cites=(WEIGHTS, NARROW))
case("flat_past", **FLAT, **PAST, n=3, cites=(PAST_KEY, PAST_VALUE, Y_HIDDEN))
case("past", **QKV, **PAST, n=4, is_causal=0, cites=(PAST_KEY, PAST_VALUE, TOGETHER))
case("past_since_24", **QKV, **PAST, n=3, cites=(NEEDED, UNPADDED))
case("groups", Q=waves(2, 6, 4, 5), K=K, V=V, cites=GQA)
case("groups_flat", Q=waves(2, 4, 30), K=FLAT_K, V=FLAT_V, q_num_heads=6, kv_num_heads=3, cites=(GQA, Q_HIDDEN))
case("one_kv_head", Q=Q, K=K[:, :1], V=V[:, :1], **Y_AND_STAGE, cites=MQA)
# All heads of the keys are equal, so the assignment of query heads to key heads makes no difference.
ALIKE: dict[str, Any] = {"Q": waves(2, 6, 4, 5) / 2, "K": K[:, [1] * 3], "V": V[:, [1] * 3]}
ALIKE_PAST: dict[str, Any] = {name: item[:, [1] * 3] for name, item in PAST.items()}
ONE: dict[str, Any] = {"Q": Q, "K": K[:, :1], "V": V[:, :1]}
ONE_PAST: dict[str, Any] = {name: item[:, :1] for name, item in PAST.items()}
ONE_FLAT: dict[str, Any] = {"Q": FLAT_Q, "K": FLAT_K[..., :5], "V": FLAT_V[..., :7], "q_num_heads": 3}
SCORES: dict[str, Any] = {"n": 4, "is_causal": 1, "qk_matmul_output_mode": 3}
case("groups_past_causal", **ALIKE, **ALIKE_PAST, **SCORES, cites=(CAUSAL, GQA, PAST_KEY))
case("one_kv_head_past_causal", **ONE, **ONE_PAST, **SCORES, cites=(CAUSAL, MQA, PAST_KEY))
case(
    "one_kv_head_flat_past_causal",
    **ONE_FLAT,
    kv_num_heads=1,
    **ONE_PAST,
    n=3,
    is_causal=1,
    cites=(CAUSAL, MQA, Q_HIDDEN, PAST_VALUE),
)
case("scale", **QKV, **Y_AND_STAGE, scale=vary(half=0.5, one=1.0, small=0.01), cites=SCALE)
case("scale", Tag.EDGE, **QKV, **Y_AND_STAGE, scale=vary(zero=0.0), cites=SCALE)
case("scale_zero_masked", Tag.EDGE, **QKV, scale=0.0, attn_mask=MASK, is_causal=1, cites=(SCALE, ADDED))
case("scale", Tag.EDGE, **QKV, scale=vary(large=1000.0), since=25, cites=SCALE)
case("scale_negative", Tag.EDGE, **QKV, scale=-0.5, since=25, unspecified=SCALE)
case("mode_2_without_mask", **QKV, **Y_AND_STAGE, qk_matmul_output_mode=2, since=25, cites=MODES)
case("mode_4", Tag.EDGE, **QKV, qk_matmul_output_mode=4, unspecified=MODE)
STAGED: dict[str, Any] = {"softcap": 2.0, "attn_mask": waves(4, 6)}
case("mode_0", **QKV, **Y_AND_STAGE, qk_matmul_output_mode=0, **STAGED, cites=MODE)
for mode, earlier in ((1, SOFTCAPPED), (2, MASKED), (3, AT_T1)):
    case(
        f"mode_{mode}_before_{earlier.before}",
        **QKV,
        **Y_AND_STAGE,
        qk_matmul_output_mode=mode,
        **STAGED,
        cites=earlier,
    )
    case(f"mode_{mode}", **QKV, **Y_AND_STAGE, qk_matmul_output_mode=mode, **STAGED, cites=MODES)
CAPS = vary(zero=0.0, small=0.5, large=50.0)
case("softcap_before_25", **QKV, softcap=CAPS, before=25, cites=SOFTCAP)
case("softcap", **QKV, **Y_AND_STAGE, softcap=CAPS, qk_matmul_output_mode=1, since=25, cites=(SOFTCAP, NO_SOFTCAP))
case("softcap_negative", Tag.EDGE, **QKV, softcap=-0.5, unspecified=SOFTCAP)
PRECISIONS = vary(float=1, double=11)
case("softmax", **QKV, softmax_precision=PRECISIONS, cites=PRECISION)
for type_, number in (("float16", 10), ("bfloat16", 16)):
    narrow: dict[str, Any] = {key: typed(type_, item) for key, item in QKV.items()}
    case(f"softmax_{type_}", Tag.DTYPE, **narrow, softmax_precision=number, cites=PRECISION)
    case(f"softmax_{type_}_of_float", **QKV, softmax_precision=number, cites=PRECISION)
    for other, precision in (("float", 1), ("double", 11)):
        words: dict[str, Any] = {**narrow, **Y_AND_STAGE, "qk_matmul_output_mode": 3, "softmax_precision": precision}
        case(f"weights_{type_}_by_{other}", Tag.DTYPE, **words, cites=CAST_TO_T1)
    words = {**QKV, **Y_AND_STAGE, "qk_matmul_output_mode": 3, "softmax_precision": number}
    case(f"weights_by_{type_}", Tag.DTYPE, **words, cites=CAST_TO_T1)
case("softmax_int64", **QKV, softmax_precision=7, rejects=PRECISION)

case("each_type", Tag.DTYPE, each="T1", Q=Q, K=K, V=typed("{T1}", V), attn_mask=typed("{T1}", MASK), is_causal=1)
case("flat_each_type", Tag.DTYPE, each="T1", Q=FLAT_Q, K=FLAT_K, V=typed("{T1}", FLAT_V), **HEADS, cites=Q_HIDDEN)
case("values_each_type", Tag.DTYPE, each="T2", Q=typed("bfloat16", Q), K=typed("bfloat16", K), V=V, cites=COMPUTES)

case("flat_without_q_heads", Q=FLAT_Q, K=FLAT_K, V=FLAT_V, kv_num_heads=3, rejects=Q_HEADS)
case("flat_without_kv_heads", Q=FLAT_Q, K=FLAT_K, V=FLAT_V, q_num_heads=3, rejects=KV_HEADS)
case("flat_one_head", **{**FLAT, "q_num_heads": 1, "kv_num_heads": 1}, since=25, cites=(Q_HIDDEN, Y_HIDDEN))
case("flat_no_q_heads", Tag.EDGE, **{**FLAT, "q_num_heads": 0}, since=25, unspecified=Q_HEADS)
case("flat_no_kv_heads", Tag.EDGE, **{**FLAT, "kv_num_heads": 0}, since=25, unspecified=KV_HEADS)
case("k_flat_alone", Tag.EDGE, Q=Q, K=FLAT_K, V=V, since=25, unspecified=K_SHAPE)
case("v_flat_alone", Tag.EDGE, Q=Q, K=K, V=FLAT_V, since=25, unspecified=V_SHAPE)
case("q_heads_of_four", Tag.EDGE, **QKV, q_num_heads=3, unspecified=Q_HEADS)
case("kv_heads_of_four", Tag.EDGE, **QKV, kv_num_heads=3, unspecified=KV_HEADS)
case("q_not_divided", Q=ramp(2, 4, 16), K=FLAT_K, V=FLAT_V, **HEADS, rejects=Q_HIDDEN)
case("k_not_divided", Q=FLAT_Q, K=ramp(2, 6, 16), V=FLAT_V, **HEADS, rejects=K_HIDDEN)
case("v_not_divided", Q=FLAT_Q, K=FLAT_K, V=ramp(2, 6, 22), **HEADS, rejects=V_HIDDEN)
case("q_of_rank2", Q=ramp(4, 5), K=K, V=V, rejects=Q_SHAPE)
case("k_of_rank2", Q=Q, K=ramp(4, 5), V=V, rejects=K_SHAPE)
case("v_of_rank2", Q=Q, K=K, V=ramp(4, 5), rejects=V_SHAPE)
case("k_of_other_size", Q=Q, K=ramp(2, 3, 6, 4), V=V, rejects=K_SHAPE)
case("v_of_other_length", Q=Q, K=K, V=ramp(2, 3, 5, 7), rejects=V_SHAPE)
case("heads_not_divided", Q=ramp(2, 4, 4, 5), K=K, V=V, unspecified=GQA)
case("heads_of_query_fewer", Q=ramp(2, 1, 4, 5), K=K, V=V, unspecified=GQA)
case("heads_of_key_none", Tag.EDGE, Q=Q, K=ramp(2, 0, 6, 5), V=ramp(2, 0, 6, 7), unspecified=GQA)
KEY, VALUE = PAST["past_key"], PAST["past_value"]
case("past_key_alone_before_25", **QKV, past_key=KEY, n=3, before=25, rejects=TOGETHER)
case("past_key_alone", **QKV, past_key=KEY, n=3, rejects=NEEDS_VALUE)
case("past_value_alone_before_25", **QKV, past_value=VALUE, n=3, before=25, rejects=TOGETHER)
case("past_value_alone", **QKV, past_value=VALUE, n=3, rejects=NEEDS_KEY)
case("present_key_alone", **QKV, **PAST, n=2, rejects=TOGETHER)
case("present_key_omitted", **QKV, **PAST, n=3, omits=("present_key",), rejects=TOGETHER)
case("past_without_present", Tag.EDGE, **QKV, **PAST, unspecified=TOGETHER)
case("present_without_past", Tag.EDGE, **QKV, n=3, unspecified=TOGETHER)
case("past_key_of_other_size", **QKV, past_key=ramp(2, 3, 8, 4), past_value=VALUE, n=3, rejects=PAST_KEY)
case("past_value_of_other_length", **QKV, past_key=KEY, past_value=ramp(2, 3, 7, 7), n=3, rejects=PAST_VALUE)
case("past_with_nonpad", **QKV, **PAST, nonpad_kv_seqlen=[6, 3], n=3, rejects=ALONE)
case("present_with_nonpad", **QKV, nonpad_kv_seqlen=[6, 3], n=3, rejects=NOT_CACHED)

LENGTHS, HEAD_SIZES = (1, 3, 8, 17, 64, 129), (8, 15, 16, 32, 64, 128)
HEAD_BY_HEAD: dict[str, Any] = {
    "Q": filled("b", ("h", "share"), "q", "d"),
    "K": filled("b", "h", "k", "d"),
    "V": filled("b", "h", "k", "e", type_="{T1}"),
}
IN_ROWS: dict[str, Any] = {
    "Q": filled("b", "q", ("h", "share", "d")),
    "K": filled("b", "k", ("h", "d")),
    "V": filled("b", "k", ("h", "e"), type_="{T1}"),
    "q_num_heads": lambda sizes: sizes["h"] * sizes["share"],
    "kv_num_heads": lambda sizes: sizes["h"],
}
DECODED: dict[str, Any] = {
    "Q": filled("b", ("h", "share"), "q", "d"),
    "K": filled("b", "h", "q", "d"),
    "V": filled("b", "h", "q", "e", type_="{T1}"),
    "past_key": filled("b", "h", "past", "d"),
    "past_value": filled("b", "h", "past", "e", type_="{T1}"),
    "is_causal": 1,
}
OF_SIZES: dict[str, tuple[tuple[Clause, ...], dict[str, Any], Choice]] = {
    "cross": (
        (COMPUTES, SCALE),
        HEAD_BY_HEAD,
        pairwise(most=1 << 20, b=(1,), h=(1, 3), share=(1,), q=LENGTHS, k=LENGTHS, d=HEAD_SIZES, e=(16, 33)),
    ),
    "causal": (
        (COMPUTES, CAUSAL),
        {**HEAD_BY_HEAD, "is_causal": 1},
        grid(b=(1,), h=(2,), share=(1,), q=(8, 33), k=(8, 65), d=(16, 64), e=(16,)),
    ),
    "shared": (
        (COMPUTES, GQA),
        HEAD_BY_HEAD,
        grid(b=(2,), h=(1, 2), share=(2, 4), q=(5, 16, 260), k=(33,), d=(16,), e=(16,)),
    ),
    "rows": ((COMPUTES, Q_HIDDEN), IN_ROWS, grid(b=(2,), h=(2,), share=(1, 4), q=(1, 17), k=(33,), d=(8, 64), e=(8,))),
    "mask": (
        (COMPUTES, ADDED),
        {**HEAD_BY_HEAD, "attn_mask": filled("q", "k", type_="{T1}")},
        grid(b=(1,), h=(2,), share=(1,), q=(8, 17), k=(16, 65), d=(32,), e=(32,)),
    ),
    "softcap": (
        (COMPUTES, SOFTCAP),
        {**HEAD_BY_HEAD, "softcap": 2.0},
        grid(b=(1,), h=(2,), share=(1,), q=(8, 17), k=(16, 65), d=(32,), e=(32,)),
    ),
    "window": (
        (COMPUTES, WINDOW, UPPER_BOUND),
        {**HEAD_BY_HEAD, "is_causal": 1, "left_window_size": 8},
        grid(b=(1,), h=(2,), share=(1, 4), q=(17, 65), k=(65,), d=(16,), e=(16,)),
    ),
    "mask_of_truths": (
        (COMPUTES, BOOLEAN),
        {**HEAD_BY_HEAD, "attn_mask": filled("b", "h", "q", "k", type_="bool")},
        grid(b=(2,), h=(2,), share=(1,), q=(8, 17), k=(16, 65), d=(32,), e=(32,)),
    ),
}
"""By the name of a call: its sentences, its arguments and its sizes. `share` query heads share a head of keys; `d` and
`e` are the sizes of keys and of values."""
for name, (sentences, arguments, sizes) in OF_SIZES.items():
    ATTENTION.sized(name, sizes, each="T1", cites=sentences, arguments=arguments)
DECODING = grid(b=(1,), h=(2,), share=(1, 4), q=(1, 3), past=(1, 16, 64), d=(16,), e=(16,))
ATTENTION.sized("past", DECODING, n=3, each="T1", cites=(PAST_KEY, CAUSAL), arguments=DECODED)
