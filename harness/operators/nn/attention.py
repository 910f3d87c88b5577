"""Attention: weights of values, by the scaled dot products of queries and keys.

Versions: 23, 24 (nonpad_kv_seqlen, shorter masks), 25 (windows; text of softcap).
"""

# ruff: noqa: N803 - the text's own names

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.declare import Array, Int, Op, Rule, Tag, Version, bounded, ramp, typed
from harness.declare.data import waves
from harness.operators.nn._attending import ALL, PAST, QKV, Attending
from harness.operators.nn._attention import FOUR, Attended, attended, heads, joined


def _rounding(**given: Any) -> list[Array]:  # noqa: ANN401 - the oracle's arguments
    found, _, _ = _computed(Version(ATTENTION.versions[-1]), **given)
    return [joined(found.off_y, given["Q"]), np.zeros(()), np.zeros(()), found.off[given["qk_matmul_output_mode"]]]


ATTENTION = Op(
    "Attention",
    versions=(23, 24, 25),
    compare=bounded(_rounding, "products, sums and functions round, and of an error in a score the weights take it on"),
    rank="Q",
)
C = ATTENTION.clause
ATTENDING = Attending(ATTENTION)

COMPUTES = C("Computes scaled dot product attention on query, key and value tensors")
MHA = C("`q_num_heads = kv_num_heads`.")
GQA = C(
    "`q_num_heads > kv_num_heads`, `q_num_heads % kv_num_heads == 0`.",
    note="Says not which heads share one; neighbours do, as the official cases show.",
)
MQA = C("`q_num_heads > kv_num_heads`, `kv_num_heads=1`.")
for width in (8, 16, 32, 64):
    for sign in ("", "u"):
        ATTENTION.excuse(
            f"type U tensor({sign}int{width})", "the signature has it, but two types of masks are supported"
        )
TOGETHER = C(
    "They shall be used together, and not allowed to use only one of them.",
    note="Key and value; whether past without present, or present without past, is allowed is left open.",
)
NEEDED = C("the four optional inputs/outputs past and present key and value are all needed.", since=24)
UNPADDED = C("Note that this only works correctly for the special case where the past key and value", since=24)
NEEDS_VALUE = C("Must be used together with `past_value` input.", since=25)
NEEDS_KEY = C("Must be used together with `past_key` input.", since=25)
NARROW = C("this only replaces previously-`NaN` outputs.", before=24)
AT_T1 = C("The mode-`3` `qk_matmul_output` is also now emitted at the operator's output precision (`T1`)", before=24)
ALONE = C("This should not be used together with `past_key` and `past_value` inputs", since=24)
NOT_CACHED = C("the four optional inputs/outputs past and present key and value should not be used.", since=24)
MODE_OLD = C("If set to `0`, qk_matmul_output is the output of qk matmul.", before=25)
SOFTCAPPED = C(
    "If set to `1`, qk_matmul_output is the output after the softcap operation (before mask addition).", before=25
)
MASKED = C("includes the attention mask and softcap (if provided) applied to the output of qk matmul.", before=25)
WEIGHTS = C("qk_matmul_output is the output after the softmax operation.", before=25)
MODE = C(
    "`0` (default): raw QK matmul result;",
    since=25,
    note="onnx.reference shows it after softcap. Others than 0 to 3 are open.",
)
MODES = C(
    "`1`: after softcap (before bias addition); `2`: QK + softcap + bias; `3`: post-softmax probabilities", since=25
)
SOFTCAP_OLD = C(
    "Softcap value for attention weights. Default value is 0.", before=25, note="The formula stands in version 25."
)
SOFTCAP = C("applied as `softcap * tanh(logits / softcap)`.", since=25)
NO_SOFTCAP = C("Default value of `0.0` means no soft capping is applied.", since=25)
PRECISION_OLD = C("The floating-point precision used in softmax computation.", before=25)
PRECISION = C("Supported values are: `1` (FLOAT), `10` (FLOAT16), `11` (DOUBLE), `16` (BFLOAT16).", since=25)
KV_HEADS = C("Number of heads of key and value. Must be used with 3D inputs of Q, K and V.")
Q_HEADS = C(
    "Number of heads of query. Must be used with 3D inputs of Q, K and V.", note="Of 4D inputs it says nothing."
)
SCALE = C("Default value is `1/sqrt(head_size)`.", note="A negative scale has no square root to multiply Q and K with.")
Q_SHAPE = C("4D tensor with shape `(batch_size, q_num_heads, q_sequence_length, head_size)` or 3D tensor")
Q_HIDDEN = C("For cases with a 3D input tensor, `q_hidden_size = q_num_heads * head_size`")
K_SHAPE = C("4D tensor with shape `(batch_size, kv_num_heads, kv_sequence_length, head_size)` or 3D tensor")
K_HIDDEN = C("For cases with a 3D input tensor, `k_hidden_size = kv_num_heads * head_size`")
V_SHAPE = C("4D tensor with shape `(batch_size, kv_num_heads, kv_sequence_length, v_head_size)` or 3D tensor")
V_HIDDEN = C("For cases with a 3D input tensor, `v_hidden_size = kv_num_heads * v_head_size`")
PAST_KEY = C("with shape `(batch_size, kv_num_heads, past_sequence_length, head_size)`")
PAST_VALUE = C("with shape `(batch_size, kv_num_heads, past_sequence_length, v_head_size)`")
Y_HIDDEN = C("For cases with a 3D input tensor, `hidden_size = q_num_heads * v_head_size`")


def _split(v: Version, Q: Array, K: Array, V: Array, q_num_heads: Int, kv_num_heads: Int) -> list[Array]:
    """Return Q, K and V in 4D."""
    four, split = Q.ndim == FOUR, []
    for item, shape, count, needed, hidden in (
        (Q, Q_SHAPE, q_num_heads, Q_HEADS, Q_HIDDEN), (K, K_SHAPE, kv_num_heads, KV_HEADS, K_HIDDEN),
        (V, V_SHAPE, kv_num_heads, KV_HEADS, V_HIDDEN),
    ):  # fmt: skip
        v.require(shape, item.ndim in {3, FOUR})
        v.silent(shape, item.ndim != Q.ndim)
        v.require(needed, count is not None or four)
        v.silent(needed, count is not None and (four or count < 1))
        v.require(hidden, four or item.shape[-1] % (count or 1) == 0)
        split.append(heads(item, count))
    q, k, value = split
    v.require(K_SHAPE, k.shape[0] == q.shape[0] and k.shape[3] == q.shape[3])
    v.require(V_SHAPE, value.shape[:3] == k.shape[:3])
    v.require(GQA, q.shape[1] % k.shape[1] == 0)
    return split


def _computed(  # noqa: PLR0913 - the operator's own arguments
    v: Version, *, Q: Array, K: Array, V: Array, attn_mask: Array | None, past_key: Array | None,
    past_value: Array | None, nonpad_kv_seqlen: Array | None, q_num_heads: Int, kv_num_heads: Int, scale: float | None,
    softcap: float, is_causal: int, qk_matmul_output_mode: int, softmax_precision: Int, left_window_size: Int,
    right_window_size: Int,
) -> tuple[Attended, Array, Array]:  # fmt: skip
    """Return what is computed, and all keys and values."""
    q, k, value = _split(v, Q, K, V, q_num_heads, kv_num_heads)
    newest, past = SOFTCAP.in_force(v.since), 0
    v.require(NEEDS_VALUE if newest else TOGETHER, past_key is None or past_value is not None)
    v.require(NEEDS_KEY if newest else TOGETHER, past_value is None or past_key is not None)
    if past_key is not None and past_value is not None:
        v.require(ALONE, nonpad_kv_seqlen is None)
        past = past_key.shape[2]
        v.require(PAST_KEY, past_key.shape == (*k.shape[:2], past, k.shape[3]))
        v.require(PAST_VALUE, past_value.shape == (*k.shape[:2], past, value.shape[3]))
        k, value = np.concatenate([past_key, k], 2), np.concatenate([past_value, value], 2)
    v.silent(SCALE, scale is not None and scale < 0)
    v.silent(SOFTCAP if newest else SOFTCAP_OLD, softcap < 0)
    v.silent(MODE if newest else MODE_OLD, qk_matmul_output_mode not in range(4))
    v.require(PRECISION if newest else PRECISION_OLD, softmax_precision in {None, 1, 10, 11, 16})
    shape, sizes = (*q.shape[:3], k.shape[2]), (left_window_size, right_window_size)
    added = ATTENDING.bias(v, shape, attn_mask, past, nonpad_kv_seqlen, is_causal, sizes)
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    return attended(q, k, value, added, factor, softcap), k, value


@ATTENTION.oracle()
def attention(  # noqa: PLR0913, PLR0917 - the operator's own arguments
    v: Version, n: int, Q: Array, K: Array, V: Array, attn_mask: Array | None, past_key: Array | None,
    past_value: Array | None, nonpad_kv_seqlen: Array | None, q_num_heads: Int, kv_num_heads: Int, scale: float | None,
    softcap: float, is_causal: int, qk_matmul_output_mode: int, softmax_precision: Int, left_window_size: Int,
    right_window_size: Int,
) -> tuple[Array, ...]:  # fmt: skip
    """Return Y, all keys, all values, and what the mode names."""
    given = {name: value for name, value in locals().items() if name not in {"v", "n"}}
    found, k, value = _computed(v, **given)
    v.require(TOGETHER, n != 2)  # noqa: PLR2004 - present_key alone
    v.require(NOT_CACHED, nonpad_kv_seqlen is None or n != 3)  # noqa: PLR2004 - both present ones
    v.silent(TOGETHER, n == (3 if past_key is None else 1))
    return joined(found.y, Q), k, value, found.stages[qk_matmul_output_mode]


ATTENDING.cases()
case = ATTENTION.case
FLAT: dict[str, Any] = {"Q": waves(2, 4, 15) / 2, "K": waves(2, 6, 15)[..., ::-1] / 2, "V": waves(2, 6, 21)}
FLAT |= {"q_num_heads": 3, "kv_num_heads": 3}

case("plain", **QKV, cites=(COMPUTES, MHA, Q_SHAPE, K_SHAPE, V_SHAPE, SCALE))
case("flat", **FLAT, cites=(Q_HEADS, KV_HEADS, Q_HIDDEN, K_HIDDEN, V_HIDDEN, Y_HIDDEN))
case("flat_old", **FLAT, **ALL, qk_matmul_output_mode=3, cites=(WEIGHTS, NARROW))
case("flat_past", **FLAT, **PAST, n=3, cites=(PAST_KEY, PAST_VALUE, Y_HIDDEN))
case("past", **QKV, **PAST, n=4, is_causal=0, cites=(PAST_KEY, PAST_VALUE, TOGETHER))
case("past_now", **QKV, **PAST, n=3, cites=(NEEDED, UNPADDED))
case("groups", **QKV | {"Q": waves(2, 6, 4, 5)}, cites=(GQA,))
case("groups_flat", **FLAT | {"Q": waves(2, 4, 30), "q_num_heads": 6}, cites=(GQA, Q_HIDDEN))
case("one_kv_head", **QKV | {"K": QKV["K"][:, :1], "V": QKV["V"][:, :1]}, **ALL, cites=(MQA,))
for name, value in (("half", 0.5), ("one", 1.0), ("small", 0.01)):
    case(f"scale_{name}", **QKV, **ALL, scale=value, cites=(SCALE,))
for mode in range(4):
    shown: dict[str, Any] = {**QKV, **ALL, "qk_matmul_output_mode": mode, "softcap": 2.0, "attn_mask": waves(4, 6)}
    for suffix, clauses in (("_old", (MODE_OLD, SOFTCAPPED, MASKED, AT_T1)), ("", (MODE, MODES, MODES, MODES))):
        case(f"mode_{mode}{suffix}", **shown, cites=(clauses[mode],))
for name, value in (("zero", 0.0), ("small", 0.5), ("large", 50.0)):
    case(f"softcap_{name}_old", **QKV, softcap=value, cites=(SOFTCAP_OLD,))
    case(f"softcap_{name}", **QKV, **ALL, softcap=value, qk_matmul_output_mode=1, cites=(SOFTCAP, NO_SOFTCAP))
for name, value in (("float", 1), ("double", 11)):
    case(f"softmax_{name}_old", **QKV, softmax_precision=value, cites=(PRECISION_OLD,))
    case(f"softmax_{name}", **QKV, softmax_precision=value, cites=(PRECISION,))

of_type: dict[str, Any] = {"Q": QKV["Q"], "K": QKV["K"], "V": typed("{T1}", QKV["V"])}
case("dtypes", Tag.DTYPE, each="T1", **of_type, attn_mask=typed("{T1}", waves(4, 6)), is_causal=1)
case("dtypes_flat", Tag.DTYPE, each="T1", **FLAT | {"V": typed("{T1}", FLAT["V"])}, cites=(Q_HIDDEN,))
coarse: dict[str, Any] = {"Q": typed("bfloat16", QKV["Q"]), "K": typed("bfloat16", QKV["K"]), "V": QKV["V"]}
case("dtypes_values", Tag.DTYPE, each="T2", **coarse, cites=(COMPUTES,))
ONES: dict[str, Any] = {name: ramp(1, 1, 1, 1) for name in "QKV"}
case("outside", Tag.DTYPE, outside="T1", **ONES, since=25, rejects=Rule.TYPES)
case("two_types", **QKV | {"K": typed("double", QKV["K"])}, rejects=Rule.TYPES)

for name, count, clause in (("q", "q_num_heads", Q_HEADS), ("kv", "kv_num_heads", KV_HEADS)):
    case(f"flat_without_{name}_heads", **{key: item for key, item in FLAT.items() if key != count}, rejects=clause)
    counted: dict[str, Any] = QKV | {count: 3}
    case(f"{name}_heads_of_four", Tag.EDGE, **counted, unspecified=clause)
case("q_not_divided", **FLAT | {"Q": ramp(2, 4, 16)}, rejects=Q_HIDDEN)
case("k_not_divided", **FLAT | {"K": ramp(2, 6, 16)}, rejects=K_HIDDEN)
case("v_not_divided", **FLAT | {"V": ramp(2, 6, 22)}, rejects=V_HIDDEN)
for name, clause in (("Q", Q_SHAPE), ("K", K_SHAPE), ("V", V_SHAPE)):
    flat: dict[str, Any] = QKV | {name: ramp(4, 5)}
    case(f"{name.lower()}_of_rank2", **flat, rejects=clause)
case("k_of_other_size", **QKV | {"K": ramp(2, 3, 6, 4)}, rejects=K_SHAPE)
case("v_of_other_length", **QKV | {"V": ramp(2, 3, 5, 7)}, rejects=V_SHAPE)
case("heads_not_divided", **QKV | {"Q": ramp(2, 4, 4, 5)}, rejects=GQA)
for name, clause in (("past_key", NEEDS_VALUE), ("past_value", NEEDS_KEY)):
    alone: dict[str, Any] = {**QKV, name: PAST[name], "n": 3}
    case(f"{name}_alone_old", **alone, before=25, rejects=TOGETHER)
    case(f"{name}_alone", **alone, rejects=clause)
case("present_key_alone", **QKV, **PAST, n=2, rejects=TOGETHER)
case("past_without_present", Tag.EDGE, **QKV, **PAST, unspecified=TOGETHER)
case("present_without_past", Tag.EDGE, **QKV, n=3, unspecified=TOGETHER)
case("past_key_of_other_size", **QKV, **PAST | {"past_key": ramp(2, 3, 8, 4)}, n=3, rejects=PAST_KEY)
case("past_value_of_other_length", **QKV, **PAST | {"past_value": ramp(2, 3, 7, 7)}, n=3, rejects=PAST_VALUE)
case("past_with_nonpad", **QKV, **PAST, nonpad_kv_seqlen=[6, 3], n=3, rejects=ALONE)
case("present_with_nonpad", **QKV, nonpad_kv_seqlen=[6, 3], n=3, rejects=NOT_CACHED)
