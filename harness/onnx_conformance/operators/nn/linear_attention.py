# SPDX-License-Identifier: Apache-2.0
"""LinearAttention: write each token's key and value to a state, and read its query from it.

    output, present_state = LinearAttention(query, key, value, past_state=None, decay=None, beta=None, q_num_heads=...,
                                            kv_num_heads=..., update_rule="gated_delta", scale=0.0, chunk_size=64)

Version: 27.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, measured, ramp, typed, vary
from onnx_conformance.declare.sizes import filled, grid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.declare import Clause
    from onnx_conformance.declare.op import Bindings


def _state_type(types: Bindings, attributes: Mapping[str, Any]) -> str:  # noqa: ARG001 - see Derivation
    """Return the type of the past state, or that of the query if there is no past state, as in the function body."""
    return types["S" if "S" in types.bound_by_inputs else "T"]


LINEAR = Op(
    "LinearAttention",
    versions=(27,),
    compare=measured(
        "errors of exponentials, products and sums add up from token to token, in the type of the operands"
    ),
    rank=lambda _: 3,
    derives={"S": _state_type},
)


def mixed(*shape: int, start: int = 0) -> Array:
    """Return numbers from -0.5 to 0.5. The rows are linearly independent."""
    return np.asarray(np.cos(np.arange(start + 1, start + math.prod(shape) + 1) ** 2 * 0.7) / 2).reshape(shape)


QUERY, KEY, VALUE = mixed(3, 4, 12), mixed(3, 4, 6, start=200), mixed(3, 4, 10, start=300)
"""4 query heads, and 2 heads of keys and values. The heads have 3 and 5 elements."""
PAST, DECAY, BETA = mixed(3, 2, 3, 5, start=500), -np.abs(mixed(3, 4, 6, start=600)), np.abs(mixed(3, 4, 2, start=700))
HEADS: dict[str, Any] = {"q_num_heads": 4, "kv_num_heads": 2}
PLAIN: dict[str, Any] = {"query": QUERY, "key": KEY, "value": VALUE, **HEADS}
GATED: dict[str, Any] = {**PLAIN, "decay": DECAY, "update_rule": "gated"}
DELTA: dict[str, Any] = {**PLAIN, "beta": BETA, "update_rule": "delta"}
BOTH: dict[str, Any] = {**PLAIN, "decay": DECAY, "beta": BETA, "update_rule": "gated_delta"}
LINEAR.example(**BOTH, past_state=PAST, scale=0.5, chunk_size=64)

PACKED = LINEAR.clause(
    "The query, key, value, and (where applicable) decay/beta inputs use 3D packed format [B, T, H*D], where heads are "
    "flattened into the last dimension;"
)
ALWAYS = LINEAR.clause(
    "q_num_heads and kv_num_heads are always required and are used to unpack to 4D internally for computation."
)
STATES = LINEAR.clause("The optional past_state and present_state are 4D with shape (B, H_kv, d_k, d_v).")
MULTIPLE = LINEAR.clause("q_num_heads must be a positive multiple of kv_num_heads.")
SHARED = LINEAR.clause(
    "when q_num_heads > kv_num_heads each KV head (and its recurrent state) is shared by `q_num_heads / kv_num_heads` "
    "query heads",
    note="Adjacent query heads share a KV head, as in the function body and the official cases.",
)
REDUCES = LINEAR.clause("When q_num_heads == kv_num_heads this reduces to multi-headed linear attention;")
NUMBERS = (
    LINEAR.clause("Number of query heads. Always required."),
    LINEAR.clause("Number of key/value heads. Always required."),
)
RULE = LINEAR.clause('- "linear": S_t = S_{t-1} + k_t ⊗ v_t; o_t = scale * q_t^T S_t')
GATED_RULE = LINEAR.clause('- "gated": S_t = exp(g_t) * S_{t-1} + k_t ⊗ v_t; o_t = scale * q_t^T S_t')
DELTA_RULE = LINEAR.clause('- "delta": S_t = S_{t-1} + β_t * k_t ⊗ (v_t - S_{t-1}^T k_t); o_t = scale * q_t^T S_t')
BOTH_RULE = LINEAR.clause(
    '- "gated_delta": S_t = exp(g_t) * S_{t-1} + β_t * k_t ⊗ (v_t - exp(g_t) * S_{t-1}^T k_t); o_t = scale * q_t^T S_t',
    note="A decay of each row of the state must apply before the state is transposed.",
)
SEQUENTIAL = LINEAR.clause("Equivalent to running the recurrent update sequentially for each token")
CHUNK = LINEAR.clause(
    "Tuning hint; does not affect output correctness.", note="The text does not define a chunk size below 1."
)
SCALE = LINEAR.clause(
    "When 0.0 (default), derives d_k = query.shape[-1] / q_num_heads and uses 1/sqrt(d_k). Set explicitly to override."
)
ONE_OF = LINEAR.clause("One of: 'linear', 'gated', 'delta', 'gated_delta'. Default is 'gated_delta'.")
OF_QUERY = LINEAR.clause(
    "Query vectors with 3D packed shape (B, T, H_q * d_k).", note="The text does not define heads without elements."
)
OF_KEY = LINEAR.clause("Key vectors with 3D packed shape (B, T, H_kv * d_k).")
NORMALIZED = LINEAR.clause("Should be L2-normalized for delta/gated_delta modes.", result=True)
OF_VALUE = LINEAR.clause("Value vectors with 3D packed shape (B, T, H_kv * d_v).")
OF_PAST = LINEAR.clause(
    "Recurrent state from previous step with shape (B, H_kv, d_k, d_v). Always 4D. If not provided, defaults to zeros."
)
OF_DECAY = LINEAR.clause(
    "3D packed shape: (B, T, H_kv * d_k) for per-key-dimension decay (GLA/RWKV-6), or (B, T, H_kv) for per-head scalar "
    "decay (DeltaNet/RetNet)."
)
NEEDS_DECAY = LINEAR.clause(
    "Required for 'gated' and 'gated_delta' modes.", note="The text does not define whether other modes may have it."
)
OF_BETA = LINEAR.clause("3D packed shape: (B, T, H_kv) or (B, T, 1).")
NEEDS_BETA = LINEAR.clause(
    "Required for 'delta' and 'gated_delta' modes.", note="The text does not define whether other modes may have it."
)
OUTPUT = LINEAR.clause("Attention output with 3D packed shape (B, T, H_q * d_v).", result=True)
PRESENT = LINEAR.clause("Updated recurrent state with shape (B, H_kv, d_k, d_v). Always 4D.", result=True)
STATE_TYPE = LINEAR.clause(
    "Should be float32 or the same as T for numerical stability on long sequences.",
    result=True,
    note="The text does not define the type of the state if there is no past state. The function body uses T.",
)

RANK = 3


@LINEAR.oracle()
def attended(
    v: Version,
    query: Array,
    key: Array,
    value: Array,
    past_state: Array | None,
    decay: Array | None,
    beta: Array | None,
    q_num_heads: int,
    kv_num_heads: int,
    update_rule: str,
    scale: float,
    chunk_size: int,
) -> tuple[Array, Array]:
    """Return the values that the queries read from the state after each token, and the state after the last token."""
    v.silent(CHUNK, chunk_size < 1)
    v.require(ONE_OF, update_rule in {"linear", "gated", "delta", "gated_delta"})
    v.require(MULTIPLE, kv_num_heads > 0 and q_num_heads > 0 and q_num_heads % kv_num_heads == 0)
    v.require(PACKED, all(item is None or item.ndim == RANK for item in (query, key, value, decay, beta)))
    v.require(OF_QUERY, query.shape[2] % q_num_heads == 0)
    batch, length, d_k = query.shape[0], query.shape[1], query.shape[2] // q_num_heads
    v.silent(OF_QUERY, d_k == 0)
    v.require(OF_KEY, key.shape == (batch, length, kv_num_heads * d_k))
    v.require(OF_VALUE, value.shape[:2] == (batch, length) and value.shape[2] % kv_num_heads == 0)
    d_v = value.shape[2] // kv_num_heads
    v.require(OF_PAST, past_state is None or past_state.shape == (batch, kv_num_heads, d_k, d_v))
    gated, corrected = update_rule in {"gated", "gated_delta"}, update_rule in {"delta", "gated_delta"}
    v.require(NEEDS_DECAY, decay is not None or not gated)
    v.require(NEEDS_BETA, beta is not None or not corrected)
    v.silent(NEEDS_DECAY, decay is not None and not gated)
    v.silent(NEEDS_BETA, beta is not None and not corrected)
    sizes = ((batch, length, kv_num_heads * d_k), (batch, length, kv_num_heads))
    v.require(OF_DECAY, decay is None or decay.shape in sizes)
    v.require(OF_BETA, beta is None or beta.shape in {(batch, length, kv_num_heads), (batch, length, 1)})

    state = np.zeros((batch, kv_num_heads, d_k, d_v)) if past_state is None else past_state
    outputs = [np.empty((batch, 0, q_num_heads * d_v))]
    for t in range(length):
        k, written = key[:, t].reshape(batch, kv_num_heads, d_k, 1), value[:, t].reshape(batch, kv_num_heads, 1, d_v)
        if decay is not None:
            state = np.exp(decay[:, t]).reshape(batch, kv_num_heads, decay.shape[2] // kv_num_heads, 1) * state
        if beta is not None:
            written = beta[:, t].reshape(batch, beta.shape[2], 1, 1) * (written - (state * k).sum(2, keepdims=True))
        state = state + k * written
        q = query[:, t].reshape(batch, kv_num_heads, q_num_heads // kv_num_heads, d_k, 1)
        factor = scale if scale != 0 else 1 / math.sqrt(d_k)
        outputs.append((factor * (q * state[:, :, None]).sum(3)).reshape(batch, 1, q_num_heads * d_v))
    return np.concatenate(outputs, 1), state


case = LINEAR.case
case(
    "linear",
    **PLAIN,
    update_rule="linear",
    n=2,
    cites=(RULE, ALWAYS, *NUMBERS, PACKED, STATES, SHARED, SEQUENTIAL, OUTPUT, PRESENT),
)
case("gated", **GATED, n=2, cites=(GATED_RULE, OF_DECAY))
case("delta", **DELTA, n=2, cites=(DELTA_RULE, OF_BETA))
case("gated_delta", **BOTH, n=2, cites=(BOTH_RULE, ONE_OF, NORMALIZED))
RULES: dict[str, dict[str, Any]] = {
    "linear": {**PLAIN, "update_rule": "linear"},
    "gated": GATED,
    "delta": DELTA,
    "gated_delta": BOTH,
}
for name, arguments in RULES.items():
    case(f"{name}_with_past", **arguments, past_state=PAST, n=2, cites=(OF_PAST, STATES))
PER_HEAD: dict[str, Any] = {**BOTH, "decay": DECAY[..., :2]}
case("decay_by_head", **PER_HEAD, past_state=PAST, n=2, cites=OF_DECAY)
case("beta_of_all_heads", **{**BOTH, "beta": BETA[..., :1]}, past_state=PAST, n=2, cites=OF_BETA)
case("rising_decay", **{**GATED, "decay": -DECAY}, past_state=PAST, n=2, cites=GATED_RULE)
case("default_rule", **{name: item for name, item in BOTH.items() if name != "update_rule"}, n=2, cites=ONE_OF)
ONE_HEAD: dict[str, Any] = {"q_num_heads": 1, "kv_num_heads": 1, "update_rule": "linear"}
case("one_head", query=QUERY, key=mixed(3, 4, 12, start=800), value=VALUE, **ONE_HEAD, n=2, cites=SHARED)
SAME_HEADS: dict[str, Any] = {**PLAIN, "q_num_heads": 2, "query": mixed(3, 4, 6)}
case("as_many_heads", **SAME_HEADS, update_rule="linear", n=2, cites=REDUCES)
MANY_TO_ONE: dict[str, Any] = {"q_num_heads": 4, "kv_num_heads": 1, "update_rule": "linear"}
case("one_head_of_keys", query=QUERY, key=mixed(3, 4, 3, start=200), value=VALUE, **MANY_TO_ONE, n=2, cites=SHARED)
case("scale", **PLAIN, update_rule="linear", scale=vary(quarter=0.25, negative=-2.0), n=2, cites=SCALE)
case("scale_zero", **PLAIN, update_rule="linear", scale=0.0, n=2, cites=SCALE)
case("chunks_of_one", **BOTH, chunk_size=1, n=2, cites=CHUNK)
TOKEN: dict[str, Any] = {name: item[:, :1] if isinstance(item, np.ndarray) else item for name, item in BOTH.items()}
case("one_token", Tag.EDGE, **TOKEN, past_state=PAST, n=2, cites=SEQUENTIAL)
NO_TOKENS: dict[str, Any] = {"query": ramp(3, 0, 12), "key": ramp(3, 0, 6), "value": ramp(3, 0, 10), **HEADS}
case("no_tokens", Tag.EDGE, **NO_TOKENS, update_rule="linear", past_state=PAST, n=2, cites=SEQUENTIAL)
WHOLE: dict[str, Any] = {"query": [[[1, 2], [3, 4]]], "key": [[[1, 0], [2, 1]]], "value": [[[5], [7]]]}
case("whole_numbers", **WHOLE, **ONE_HEAD, scale=1.0, n=2, cites=RULE)
case("each_type", Tag.DTYPE, each="T", **BOTH, n=2, cites=BOTH_RULE)
HALVES: dict[str, Any] = {
    name: typed("float16", item) if isinstance(item, np.ndarray) else item for name, item in BOTH.items()
}
case("float_state", Tag.DTYPE, **HALVES, past_state=typed("float", PAST), n=2, cites=STATE_TYPE)

case("rule_unknown", **PLAIN, update_rule="retention", n=2, rejects=ONE_OF)
case("heads_no_multiple", **{**PLAIN, "q_num_heads": 3}, update_rule="linear", n=2, rejects=MULTIPLE)
case("fewer_query_heads", **{**PLAIN, "q_num_heads": 1}, update_rule="linear", n=2, rejects=MULTIPLE)
case("no_query_heads", Tag.EDGE, **{**PLAIN, "q_num_heads": 0}, update_rule="linear", n=2, rejects=MULTIPLE)
case("no_key_heads", Tag.EDGE, **{**PLAIN, "kv_num_heads": 0}, update_rule="linear", n=2, rejects=MULTIPLE)
case("negative_heads", Tag.EDGE, **{**PLAIN, "q_num_heads": -2}, update_rule="linear", n=2, rejects=MULTIPLE)
case("query_unpacked", **{**PLAIN, "query": mixed(3, 4, 4, 3)}, update_rule="linear", n=2, rejects=PACKED)
case("decay_unpacked", **{**GATED, "decay": mixed(3, 4, 2, 3)}, n=2, rejects=PACKED)
case("query_of_odd_size", **{**PLAIN, "query": mixed(3, 4, 11)}, update_rule="linear", n=2, rejects=OF_QUERY)
case("key_of_other_size", **{**PLAIN, "key": mixed(3, 4, 12)}, update_rule="linear", n=2, rejects=OF_KEY)
case("key_of_fewer_tokens", **{**PLAIN, "key": mixed(3, 3, 6)}, update_rule="linear", n=2, rejects=OF_KEY)
case("value_of_odd_size", **{**PLAIN, "value": mixed(3, 4, 9)}, update_rule="linear", n=2, rejects=OF_VALUE)
case("value_of_more_tokens", **{**PLAIN, "value": mixed(3, 5, 10)}, update_rule="linear", n=2, rejects=OF_VALUE)
case("past_transposed", **BOTH, past_state=mixed(3, 2, 5, 3), n=2, rejects=OF_PAST)
case("past_of_query_heads", **BOTH, past_state=mixed(3, 4, 3, 5), n=2, rejects=OF_PAST)
case("gated_without_decay", **PLAIN, update_rule="gated", n=2, rejects=NEEDS_DECAY)
case("delta_without_beta", **PLAIN, update_rule="delta", n=2, rejects=NEEDS_BETA)
case("gated_delta_without_decay", **{**DELTA, "update_rule": "gated_delta"}, n=2, rejects=NEEDS_DECAY)
case("gated_delta_without_beta", **{**GATED, "update_rule": "gated_delta"}, n=2, rejects=NEEDS_BETA)
case("decay_of_other_size", **{**GATED, "decay": mixed(3, 4, 5)}, n=2, rejects=OF_DECAY)
case("decay_of_all_heads", **{**GATED, "decay": mixed(3, 4, 1)}, n=2, rejects=OF_DECAY)
case("beta_of_other_size", **{**DELTA, "beta": mixed(3, 4, 4)}, n=2, rejects=OF_BETA)
case("linear_with_decay", **{**GATED, "update_rule": "linear"}, n=2, unspecified=NEEDS_DECAY)
case("linear_with_beta", **{**DELTA, "update_rule": "linear"}, n=2, unspecified=NEEDS_BETA)
case(
    "no_elements", Tag.EDGE, query=ramp(3, 4, 0), key=ramp(3, 4, 0), value=VALUE, **ONE_HEAD, n=2, unspecified=OF_QUERY
)
case("chunks_of_none", Tag.EDGE, **BOTH, chunk_size=0, n=2, unspecified=CHUNK)

TOKENS: dict[str, Any] = {
    "query": filled("b", "t", ("h", "share", "d")),
    "key": filled("b", "t", ("h", "d"), floats=(-0.5, 0.5)),
    "value": filled("b", "t", ("h", "e")),
    "past_state": filled("b", "h", "d", "e", type_="{T}"),
    "q_num_heads": lambda sizes: sizes["h"] * sizes["share"],
    "kv_num_heads": lambda sizes: sizes["h"],
}
OF_HEADS = {"decay": filled("b", "t", "h", floats=(-0.5, 0))}
OF_ROWS = {"decay": filled("b", "t", ("h", "d"), floats=(-0.5, 0))}
WRITTEN = {"beta": filled("b", "t", "h", floats=(0, 1))}
KINDS: dict[str, tuple[Clause, dict[str, Any]]] = {
    "linear": (RULE, {}),
    "gated": (GATED_RULE, OF_ROWS),
    "delta": (DELTA_RULE, WRITTEN),
    "gated_delta": (BOTH_RULE, {**OF_HEADS, **WRITTEN}),
}
CHUNKS = grid(b=(1,), h=(2,), share=(1, 2), t=(1, 6), d=(8, 33), e=(16,))
for rule, (sentence, arguments) in KINDS.items():
    of_sizes: dict[str, Any] = {**TOKENS, **arguments, "update_rule": rule, "chunk_size": 4}
    LINEAR.sized(rule, CHUNKS, n=2, each="T", cites=(sentence, SEQUENTIAL, CHUNK), arguments=of_sizes)
LONG = grid(b=(1,), h=(1,), share=(1,), t=(65,), d=(8,), e=(8,))
WITH_BOTH = {**TOKENS, **OF_HEADS, **WRITTEN}
OF_A_MODEL = grid(b=(1,), h=(8,), share=(1,), t=(65,), d=(4,), e=(128,))
LINEAR.sized("heads_of_a_model", OF_A_MODEL, n=2, cites=(BOTH_RULE, SEQUENTIAL), arguments=WITH_BOTH)
LINEAR.sized("beyond_the_default_chunk", LONG, n=2, cites=(BOTH_RULE, SEQUENTIAL), arguments=WITH_BOTH)
