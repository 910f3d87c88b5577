# SPDX-License-Identifier: Apache-2.0
"""LinearAttention: write each token's key and value to a state, and read its query from it.

    output, present_state = LinearAttention(query, key, value, past_state=None, decay=None, beta=None, q_num_heads=...,
                                            kv_num_heads=..., update_rule="gated_delta", scale=0.0, chunk_size=64,
                                            state_window=0)

Versions: 1.
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

RANK = 3
"""The rank of packed inputs."""
MOST_SLOTS = 8
"""The greatest number of states in a window."""


def _state_type(types: Bindings, attributes: Mapping[str, Any]) -> str:  # noqa: ARG001 - see Derivation
    """Return the type of the past state, or that of the query if there is no past state."""
    return types["S" if "S" in types.bound_by_inputs else "T"]


LINEAR = Op(
    "LinearAttention",
    versions=(1,),
    compare=measured(
        "errors of exponentials, products and sums add up from token to token, in the type of the operands"
    ),
    domain="com.microsoft",
    rank=lambda _: RANK,
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
LINEAR_CALL: dict[str, Any] = {**PLAIN, "update_rule": "linear"}
GATED: dict[str, Any] = {**PLAIN, "decay": DECAY, "update_rule": "gated"}
DELTA: dict[str, Any] = {**PLAIN, "beta": BETA, "update_rule": "delta"}
BOTH: dict[str, Any] = {**PLAIN, "decay": DECAY, "beta": BETA, "update_rule": "gated_delta"}
LINEAR.example(**BOTH, past_state=PAST, scale=0.5, chunk_size=64, state_window=0)

UNIFIED = LINEAR.clause("Unified linear attention operator for autoregressive decoding (T=1) and prefill (T>1).")
PACKED = LINEAR.clause(
    "All inputs use 3D packed format [B, T, H*D]; q_num_heads and kv_num_heads are always required. The op internally "
    "unpacks to 4D for computation."
)
RULE = LINEAR.clause('- "linear": S_t = S_{t-1} + k_t ⊗ v_t; o_t = scale * q_t^T S_t')
GATED_RULE = LINEAR.clause('- "gated": S_t = exp(g_t) * S_{t-1} + k_t ⊗ v_t; o_t = scale * q_t^T S_t')
DELTA_RULE = LINEAR.clause('- "delta": S_t = S_{t-1} + β_t * k_t ⊗ (v_t - S_{t-1}^T k_t); o_t = scale * q_t^T S_t')
BOTH_RULE = LINEAR.clause(
    '- "gated_delta": S_t = exp(g_t) * S_{t-1} + β_t * k_t ⊗ (v_t - exp(g_t) * S_{t-1}^T k_t); o_t = scale * q_t^T S_t',
    note="A decay of each row of the state must apply before the state is transposed.",
)
MEANINGS = LINEAR.clause("where g_t is the decay (in log-space), β_t is the update rate, and ⊗ denotes outer product.")
SEQUENTIAL = LINEAR.clause("Semantics: Equivalent to running the recurrent update sequentially for each token,")
CHUNK = LINEAR.clause(
    "Tuning hint; does not affect output correctness.", note="The text does not define a chunk size below 1."
)
NUMBERS = (
    LINEAR.clause("Number of query heads. Always required."),
    LINEAR.clause(
        "Number of key/value heads. Always required.", note="The text does not define numbers of heads below 1."
    ),
)
SCALE = LINEAR.clause(
    "When 0.0 (default), derives d_k = query.shape[-1] / q_num_heads and uses 1/sqrt(d_k). Set explicitly to override."
)
ONE_OF = LINEAR.clause("One of: 'linear', 'gated', 'delta', 'gated_delta'. Default is 'gated_delta'.")
OF_QUERY = LINEAR.clause(
    "Query vectors with 3D packed shape (B, T, H_q * d_k). Heads are packed into the last dimension.",
    note="The text does not define heads without elements.",
)
OF_KEY = LINEAR.clause("Key vectors with 3D packed shape (B, T, H_kv * d_k).")
NORMALIZED = LINEAR.clause("Should be L2-normalized for delta/gated_delta modes.", result=True)
OF_VALUE = LINEAR.clause("Value vectors with 3D packed shape (B, T, H_kv * d_v).")
OF_PAST = LINEAR.clause(
    "Recurrent state from previous step with shape (B, H_kv, d_k, d_v), or (W, B, H_kv, d_k, d_v) when state_window = "
    "W > 0, in which case only slot W-1 is read. If not provided, defaults to zeros."
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
OUTPUT = LINEAR.clause("Attention output with 3D packed shape (B, T, max(H_q, H_kv) * d_v).", result=True)
GQA = LINEAR.clause(
    "Standard GQA emits one output per query head; inverse GQA, where H_kv exceeds H_q, emits one per KV head.",
    note="In grouped-query attention, neighbouring query heads share a KV head. The text does not define which KV "
    "heads read the same query head if there are several query heads and more KV heads. It does not define numbers "
    "where neither is a multiple of the other.",
)
PRESENT = LINEAR.clause(
    "Updated recurrent state with shape (B, H_kv, d_k, d_v), or (W, B, H_kv, d_k, d_v) when state_window = W > 0. Slot "
    "W-1 is the state after the last token; slot j is the state after token (T - W + j).",
    result=True,
    note="If there is no past state, the text does not define the type of present_state. It is that of the query here.",
)
WITHOUT_WINDOW = LINEAR.clause(
    "When 0 (default) the state tensors are 4D and hold only the state after the last token, i.e. the "
    "backward-compatible (B, H_kv, d_k, d_v)."
)
WINDOW = LINEAR.clause(
    "When W > 0 both are 5D with a LEADING axis of extent W, right-aligned: slot j is the state after token (T - W + "
    "j), so slot W-1 is always the state after the last token (identical to the W = 0 tensor) and is the slot "
    "past_state is read from."
)
EMPTY_SLOTS = LINEAR.clause(
    "Slots below max(0, W - T) hold no token from this call and are filled with zeros.",
    note="Without tokens, slot W - 1 has zeros according to this sentence. According to the one before, it has the "
    "past state. The result is unspecified.",
)
SLOTS = LINEAR.clause("Valid range is [0, 8].")


def _checked_states(
    v: Version, past_state: Array | None, shape: tuple[int, int, int, int], state_window: int, length: int
) -> Array:
    """Return the state before the first token, of a shape (B, H_kv, d_k, d_v)."""
    v.require(SLOTS, 0 <= state_window <= MOST_SLOTS)
    v.silent(EMPTY_SLOTS, state_window > 0 and length == 0)
    if past_state is None:
        return np.zeros(shape)
    v.require(OF_PAST, past_state.shape == ((state_window, *shape) if state_window else shape))
    return past_state[-1] if state_window else past_state


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
    state_window: int,
) -> tuple[Array, Array]:
    """Return the values that the queries read from the state after each token, and the last states."""
    v.silent(CHUNK, chunk_size < 1)
    v.require(ONE_OF, update_rule in {"linear", "gated", "delta", "gated_delta"})
    v.silent(NUMBERS[0], q_num_heads < 1)
    v.silent(NUMBERS[1], kv_num_heads < 1)
    v.silent(GQA, kv_num_heads <= q_num_heads and q_num_heads % kv_num_heads != 0)
    v.silent(GQA, kv_num_heads > q_num_heads > 1)
    v.require(PACKED, all(item is None or item.ndim == RANK for item in (query, key, value, decay, beta)))
    v.require(OF_QUERY, query.shape[2] % q_num_heads == 0)
    batch, length, d_k = query.shape[0], query.shape[1], query.shape[2] // q_num_heads
    v.silent(OF_QUERY, d_k == 0)
    v.require(OF_KEY, key.shape == (batch, length, kv_num_heads * d_k))
    v.require(OF_VALUE, value.shape[:2] == (batch, length) and value.shape[2] % kv_num_heads == 0)
    d_v = value.shape[2] // kv_num_heads
    gated, corrected = update_rule in {"gated", "gated_delta"}, update_rule in {"delta", "gated_delta"}
    v.require(NEEDS_DECAY, decay is not None or not gated)
    v.require(NEEDS_BETA, beta is not None or not corrected)
    v.silent(NEEDS_DECAY, decay is not None and not gated)
    v.silent(NEEDS_BETA, beta is not None and not corrected)
    sizes = ((batch, length, kv_num_heads * d_k), (batch, length, kv_num_heads))
    v.require(OF_DECAY, decay is None or decay.shape in sizes)
    v.require(OF_BETA, beta is None or beta.shape in {(batch, length, kv_num_heads), (batch, length, 1)})

    state = _checked_states(v, past_state, (batch, kv_num_heads, d_k, d_v), state_window, length)
    states = [np.zeros(state.shape)] * state_window
    readers = max(q_num_heads, kv_num_heads)
    outputs = [np.empty((batch, 0, readers * d_v))]
    factor = scale if scale != 0 else 1 / math.sqrt(d_k)
    for t in range(length):
        k, written = key[:, t].reshape(batch, kv_num_heads, d_k, 1), value[:, t].reshape(batch, kv_num_heads, 1, d_v)
        if decay is not None:
            state = np.exp(decay[:, t]).reshape(batch, kv_num_heads, decay.shape[2] // kv_num_heads, 1) * state
        if beta is not None:
            written = beta[:, t].reshape(batch, beta.shape[2], 1, 1) * (written - (state * k).sum(2, keepdims=True))
        state = state + k * written
        states.append(state)
        # A KV head is read by a group of query heads; the only query head may read several KV heads.
        group = (1, q_num_heads) if kv_num_heads > q_num_heads else (kv_num_heads, q_num_heads // kv_num_heads)
        q = query[:, t].reshape(batch, *group, d_k, 1)
        outputs.append((factor * (q * state[:, :, None]).sum(3)).reshape(batch, 1, readers * d_v))
    present = np.stack(states[len(states) - state_window :]) if state_window else state
    return np.concatenate(outputs, 1), present


case = LINEAR.case
case("linear", **LINEAR_CALL, n=2, cites=(RULE, UNIFIED, *NUMBERS, PACKED, GQA, SEQUENTIAL, OUTPUT, PRESENT))
case("gated", **GATED, n=2, cites=(GATED_RULE, OF_DECAY, MEANINGS))
case("delta", **DELTA, n=2, cites=(DELTA_RULE, OF_BETA, MEANINGS))
case("gated_delta", **BOTH, n=2, cites=(BOTH_RULE, ONE_OF, NORMALIZED))
RULES: dict[str, dict[str, Any]] = {"linear": LINEAR_CALL, "gated": GATED, "delta": DELTA, "gated_delta": BOTH}
for name, arguments in RULES.items():
    case(f"{name}_with_past", **arguments, past_state=PAST, n=2, cites=(OF_PAST, WITHOUT_WINDOW))
PER_HEAD: dict[str, Any] = {**BOTH, "decay": DECAY[..., :2]}
case("decay_by_head", **PER_HEAD, past_state=PAST, n=2, cites=OF_DECAY)
case("beta_of_all_heads", **{**BOTH, "beta": BETA[..., :1]}, past_state=PAST, n=2, cites=OF_BETA)
case("rising_decay", **{**GATED, "decay": -DECAY}, past_state=PAST, n=2, cites=GATED_RULE)
case("default_rule", **{name: item for name, item in BOTH.items() if name != "update_rule"}, n=2, cites=ONE_OF)
ONE_HEAD: dict[str, Any] = {"q_num_heads": 1, "kv_num_heads": 1, "update_rule": "linear"}
case("one_head", query=QUERY, key=mixed(3, 4, 12, start=800), value=VALUE, **ONE_HEAD, n=2, cites=NUMBERS)
SAME_HEADS: dict[str, Any] = {**LINEAR_CALL, "q_num_heads": 2, "query": mixed(3, 4, 6)}
case("as_many_heads", **SAME_HEADS, n=2, cites=GQA)
MANY_TO_ONE: dict[str, Any] = {"q_num_heads": 4, "kv_num_heads": 1, "update_rule": "linear"}
case("one_head_of_keys", query=QUERY, key=mixed(3, 4, 3, start=200), value=VALUE, **MANY_TO_ONE, n=2, cites=GQA)
ONE_QUERY_HEAD: dict[str, Any] = {"query": mixed(3, 4, 3), "q_num_heads": 1}
case("one_head_of_queries", **{**LINEAR_CALL, **ONE_QUERY_HEAD}, n=2, cites=(GQA, OUTPUT))
case("one_head_of_queries_gated_delta", **{**BOTH, **ONE_QUERY_HEAD}, past_state=PAST, n=2, cites=(GQA, OUTPUT))
case("scale", **LINEAR_CALL, scale=vary(quarter=0.25, negative=-2.0), n=2, cites=SCALE)
case("scale_zero", **LINEAR_CALL, scale=0.0, n=2, cites=SCALE)
case("chunks", **BOTH, chunk_size=vary(of_one=1, of_three=3), n=2, cites=CHUNK)
TOKEN: dict[str, Any] = {name: item[:, :1] if isinstance(item, np.ndarray) else item for name, item in BOTH.items()}
case("one_token", Tag.EDGE, **TOKEN, past_state=PAST, n=2, cites=(SEQUENTIAL, UNIFIED))
NO_TOKENS: dict[str, Any] = {"query": ramp(3, 0, 12), "key": ramp(3, 0, 6), "value": ramp(3, 0, 10), **HEADS}
case("no_tokens", Tag.EDGE, **NO_TOKENS, update_rule="linear", past_state=PAST, n=2, cites=SEQUENTIAL)
case("no_tokens_no_past", Tag.EDGE, **NO_TOKENS, update_rule="linear", n=2, cites=OF_PAST)
WHOLE: dict[str, Any] = {"query": [[[1, 2], [3, 4]]], "key": [[[1, 0], [2, 1]]], "value": [[[5], [7]]]}
case("whole_numbers", **WHOLE, **ONE_HEAD, scale=1.0, n=2, cites=RULE)
LONGER: dict[str, Any] = {
    "query": mixed(1, 70, 6),
    "key": mixed(1, 70, 6, start=500),
    "value": mixed(1, 70, 4, start=950),
}
SLOW: dict[str, Any] = {"decay": -np.abs(mixed(1, 70, 2)) / 9, "beta": np.abs(mixed(1, 70, 2, start=50))}
case("several_chunks", **LONGER, **SLOW, q_num_heads=2, kv_num_heads=2, n=2, cites=(SEQUENTIAL, CHUNK))
case("each_type", Tag.DTYPE, each="T", **BOTH, n=2, cites=BOTH_RULE)
OF_TYPE_T = typed("{T}", PAST)
case("each_type_past", Tag.DTYPE, each="T", **BOTH, past_state=OF_TYPE_T, n=2, cites=BOTH_RULE)
for type_ in ("float16", "bfloat16"):
    narrow: dict[str, Any] = {
        name: typed(type_, item) if isinstance(item, np.ndarray) else item for name, item in BOTH.items()
    }
    case(f"float_state_of_{type_}", Tag.DTYPE, **narrow, past_state=typed("float", PAST), n=2, cites=OF_PAST)
    case(f"{type_}_state", Tag.DTYPE, **BOTH, past_state=typed(type_, PAST), n=2, cites=OF_PAST)

STATES = {slots: mixed(slots, 3, 2, 3, 5, start=900) for slots in (1, 2, 3, 6, 8)}
"""By the size of the window, past states of (W, B, H_kv, d_k, d_v)."""
for slots, past in STATES.items():
    name = f"window_{slots}"
    case(name, **BOTH, state_window=slots, n=2, cites=(WINDOW, PRESENT, EMPTY_SLOTS))
    case(f"{name}_with_past", **BOTH, past_state=past, state_window=slots, n=2, cites=(WINDOW, OF_PAST, EMPTY_SLOTS))
case("window_linear", **LINEAR_CALL, past_state=STATES[2], state_window=2, n=2, cites=WINDOW)
case("window_one_token", **TOKEN, past_state=STATES[3], state_window=3, n=2, cites=(WINDOW, EMPTY_SLOTS))
case("window_of_nine", **BOTH, state_window=9, n=2, rejects=SLOTS)
case("window_negative", Tag.EDGE, **BOTH, state_window=-1, n=2, rejects=SLOTS)
case("window_no_tokens", Tag.EDGE, **NO_TOKENS, update_rule="linear", state_window=2, n=2, unspecified=EMPTY_SLOTS)
case("window_past_of_4d", **BOTH, past_state=PAST, state_window=2, n=2, rejects=OF_PAST)
case("window_past_of_fewer", **BOTH, past_state=STATES[2], state_window=3, n=2, rejects=OF_PAST)
case("past_of_5d", **BOTH, past_state=STATES[1], n=2, rejects=OF_PAST)

case("rule_unknown", **PLAIN, update_rule="retention", n=2, rejects=ONE_OF)
case("rule_upper_case", **PLAIN, update_rule="Linear", n=2, rejects=ONE_OF)
case("heads_no_multiple", **{**LINEAR_CALL, "q_num_heads": 3}, n=2, unspecified=GQA)
MORE_KEYS: dict[str, Any] = {"query": QUERY, "key": mixed(3, 4, 24), "value": mixed(3, 4, 40), "kv_num_heads": 8}
case("more_key_heads", **MORE_KEYS, q_num_heads=4, update_rule="linear", n=2, unspecified=GQA)
case("no_query_heads", Tag.EDGE, **{**LINEAR_CALL, "q_num_heads": 0}, n=2, unspecified=NUMBERS[0])
case("no_key_heads", Tag.EDGE, **{**LINEAR_CALL, "kv_num_heads": 0}, n=2, unspecified=NUMBERS[1])
case("negative_heads", Tag.EDGE, **{**LINEAR_CALL, "q_num_heads": -2}, n=2, unspecified=NUMBERS[0])
case("query_unpacked", **{**LINEAR_CALL, "query": mixed(3, 4, 4, 3)}, n=2, rejects=PACKED)
case("key_unpacked", **{**LINEAR_CALL, "key": mixed(3, 4, 2, 3)}, n=2, rejects=PACKED)
case("value_unpacked", **{**LINEAR_CALL, "value": mixed(3, 4, 2, 5)}, n=2, rejects=PACKED)
case("decay_unpacked", **{**GATED, "decay": mixed(3, 4, 2, 3)}, n=2, rejects=PACKED)
case("beta_unpacked", **{**DELTA, "beta": mixed(3, 4, 2, 1)}, n=2, rejects=PACKED)
case("query_of_odd_size", **{**LINEAR_CALL, "query": mixed(3, 4, 11)}, n=2, rejects=OF_QUERY)
case("key_of_other_size", **{**LINEAR_CALL, "key": mixed(3, 4, 12)}, n=2, rejects=OF_KEY)
case("key_of_fewer_tokens", **{**LINEAR_CALL, "key": mixed(3, 3, 6)}, n=2, rejects=OF_KEY)
case("value_of_odd_size", **{**LINEAR_CALL, "value": mixed(3, 4, 9)}, n=2, rejects=OF_VALUE)
case("value_of_more_tokens", **{**LINEAR_CALL, "value": mixed(3, 5, 10)}, n=2, rejects=OF_VALUE)
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
EMPTY_HEADS: dict[str, Any] = {"query": ramp(3, 4, 0), "key": ramp(3, 4, 0), "value": VALUE, **ONE_HEAD}
case("no_elements", Tag.EDGE, **EMPTY_HEADS, n=2, unspecified=OF_QUERY)
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
