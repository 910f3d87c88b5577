# SPDX-License-Identifier: Apache-2.0
"""GroupQueryAttention: attention in which groups of query heads share a key head, with a cache of keys and values.

    output, present_key, present_value, output_qk = GroupQueryAttention(
        query, key=None, value=None, past_key=None, past_value=None, seqlens_k, total_sequence_length,
        cos_cache=None, sin_cache=None, position_ids=None, attention_bias=None, head_sink=None, k_scale=None,
        v_scale=None, q_norm_weight=None, k_norm_weight=None, query_seqlens=None, num_heads=..., kv_num_heads=..., ...
    )

Versions: 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array, Op, PartlyOpen, Tag, Tolerance, Version, ramp, typed, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators_microsoft._attention import heads, is_bias, joined, scores, softmax
from onnx_conformance.operators_microsoft._rotation import rotated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.declare import Clause, Int
    from onnx_conformance.declare.op import Bindings

ROWS, BY_HEAD = 3, 4
"""The ranks of (batch, sequence, hidden) and of (batch, heads, sequence, head_size)."""
ALL_OUTPUTS = 4
"""The number of outputs with output_qk."""
BEFORE, AFTER = 1, 2
"""The values of qk_output: before and after softmax."""
LARGEST_NIBBLE = 7
"""The largest number of 4 bits that is the same with and without a sign."""
QUANTIZED = ("uint8", "int8", "float8_e4m3fn")
"""The types of a quantized cache."""


def _cache_type(types: Bindings, attributes: Mapping[str, Any]) -> str:  # noqa: ARG001 - see Derivation
    """Return the type of the past, or that of the query if there is no past."""
    return types["T_CACHE" if "T_CACHE" in types.bound_by_inputs else "T"]


GQA = Op(
    "GroupQueryAttention",
    versions=(1,),
    compare=Tolerance(
        "products, sums and functions round, also to the type of the cache; the weights pass on the error of a score",
        measured=True,
        steps=True,
    ),
    domain="com.microsoft",
    rank=lambda _: ROWS,
    derives={"T_CACHE": _cache_type},
)
for name in ("q_norm_weight", "k_norm_weight"):
    GQA.excuse(f"input {name} given", "the text lets execution providers other than CUDA and WebGPU reject the node")

SELF_OR_CROSS = GQA.clause("Group Query Self/Cross Attention with KV Cache Quantization Support.")
GROUPED = GQA.clause(
    "This operator implements grouped-query attention with past state (KV cache) support.",
    note="As usual for grouped-query attention, neighbouring query heads share a key head. The text does not define "
    "numbers of heads below 1, or a number of query heads that is no multiple of that of key heads.",
)
FORMAT = GQA.clause(
    "The past and present KV cache tensors are expected in a BNSH format: `(batch_size, num_heads, "
    "cache_sequence_length, head_size)`, where `cache_sequence_length` is the length of the cached key/value "
    "sequences, or the maximum sequence length when past and present buffer sharing is used."
)
VALID = GQA.clause("Rows `[0, Q)` of `query`, `key` and `value` are valid tokens and rows `[Q, S)` are right padding.")
APPENDED = GQA.clause("Only the valid rows are appended to the cache, at positions `[P, T)`.", result=True)
ABSOLUTE = GQA.clause(
    "Query row `s` is at absolute position `P + s`: causal attention, `local_window_size` and rotary embedding (when "
    "`position_ids` is not given) use that position.",
    result=True,
)
UNSPECIFIED_ROWS = GQA.clause(
    "Output rows `[Q, S)` are unspecified, and so are cache rows at or beyond `T`.", result=True
)
UPPER_BOUND = GQA.clause(
    "The scalar `total_sequence_length` is only an upper bound of the absolute `T` in this case.", result=True
)
NEEDS_CAUSAL = GQA.clause("Requirements: `causal=1`;")
NEEDS_AS_MANY = GQA.clause("new key/value with `kv_sequence_length == sequence_length`;")
NEEDS_PAST = GQA.clause("`past_key` and `past_value` present;")
NEEDS_LENGTHS = GQA.clause(
    "`T >= 1`, `0 <= Q <= min(S, T)` and `T <= total_sequence_length` for every batch entry (the existing rule that "
    "`total_sequence_length >= sequence_length` for a cache that is not windowed still applies, but a growing cache is "
    "not required to have `total_sequence_length == past_sequence_length + sequence_length`)."
)
HONORED = GQA.clause("The input is honored also when `sequence_length == 1`, where `Q` is 0 or 1.", result=True)
IDLE = GQA.clause(
    "`Q = 0` marks an idle entry with an already-populated cache: keep its `seqlens_k` unchanged and ignore all its "
    "output rows."
)
HOLDS_PAST = GQA.clause(
    "A cache that is not windowed must also hold the `P` cached tokens in `past_key` (`P` is at most the sequence "
    "dimension of `past_key`) and have room for the whole padded chunk, `P + S <= C`, where `C` is the sequence "
    "dimension of `present_key`."
)
OMITTED_LENGTHS = GQA.clause("When `query_seqlens` is omitted, `Q = min(S, T)` and the behavior is unchanged.")
QUANTIZED_READS = GQA.clause(
    "For `P = 0, Q = 1`, both padded and unpadded calls read floating-point new K/V only when `total_sequence_length = "
    "1`; a larger bound preserves quantized-cache reads.",
    note="The cases of quantized caches have keys and values that the type of the cache represents exactly, so both "
    "reads agree. The text does not define how others are rounded.",
)
AT_LEAST = GQA.clause("`C` must be at least `W`.", result=True)
ONLY_MAXIMUM = GQA.clause(
    "The scalar `total_sequence_length` input is only the batch maximum of `T` (or only an upper bound of `T` when "
    "`query_seqlens` is given); the layout below is per batch entry, so a ragged batch gets a different resident range "
    "per entry."
)
RECENT = GQA.clause(
    "After a step, rows `[0, L)` of `present_key` and `present_value` hold the `L` most recent positions in increasing "
    "position order, so row `i` holds absolute position `T - L + i`.",
    result=True,
)
UNSPECIFIED_SLACK = GQA.clause("Rows `[L, C)` are unspecified.", result=True)
RESIDENT = GQA.clause("L(T) = T if T <= C", result=True)
EVICTED = GQA.clause("L(T) = T - G * ceil((T - C) / G) otherwise", result=True)
AT_ONCE = GQA.clause(
    "Hence `min(T, W) <= L(T) <= min(T, C)`: the whole window stays resident, and eviction reclaims `G` positions at "
    "once rather than one position per step, so consumers must not assume that the cache is kept full at `min(T, C)`.",
    result=True,
)
INDEPENDENT = GQA.clause(
    "Because `L` depends only on `T`, the resulting layout is independent of how the tokens were split into steps: a "
    "multi-token step of `S` tokens (speculative decoding, chunked prefill) leaves exactly the layout that the same "
    "tokens would produce one at a time.",
    result=True,
)
CONTIGUOUS = GQA.clause(
    "The retained positions are always physically contiguous and start at row 0; the layout never wraps around, so a "
    "ring-buffer layout cannot be exposed through these outputs.",
    result=True,
)
OF_PADDED = GQA.clause(
    "A right-padded chunk (`query_seqlens`) leaves the layout of its `Q` valid tokens only, because padding rows never "
    "enter the cache.",
    result=True,
)
ANY_LENGTH = GQA.clause("Any `S >= 1` is accepted, including `S > C`;", result=True)
ONE_BATCH = GQA.clause(
    "Without `query_seqlens`, the existing restriction with past context still applies: `sequence_length > 1` requires "
    "`batch_size == 1`."
)
PART_OF_RANGE = GQA.clause("An execution provider may accept only part of the `C >= W` range.", result=True)
TOO_SMALL = GQA.clause(
    "A configuration with `C < W` (equivalently, `W > C`) is invalid and is rejected with `INVALID_ARGUMENT`."
)
OF_CUDA = GQA.clause(
    "The CUDA implementation requires `C == W`, so there `G` is 1 and `L(T)` is `min(T, C)`; a larger capacity is "
    "rejected.",
    result=True,
)
OF_CPU = GQA.clause(
    "The CPU implementation accepts any `C >= W`, and slack above the window amortizes compaction over `G` steps.",
    result=True,
)
ROLLBACK = GQA.clause(
    "That is exact when `L(T - k) == L(T) - k`, which callers can evaluate with the formula above.", result=True
)
NEEDS_SCALES = GQA.clause("The corresponding `k_scale` and `v_scale` tensors must be provided.")
SAME_FORMAT = GQA.clause(
    "The operator will output `present_key` and `present_value` in same format as the `past_key` and `past_value`.",
    note="The text does not define a cache of another floating-point type than the query.",
)
FOUR_BITS = GQA.clause(
    "For 4-bit quantization, the data type is uint8 where each byte contains two 4-bit values.",
    note="The text does not define the order of the two values, or whether they have a sign. Past values are therefore "
    "unspecified, and the elements of present_key and present_value are left open.",
)
BROADCAST = GQA.clause("The shapes of the k_scale, v_scale tensors shall be broadcastable to present_key shape.")
PER_TENSOR = GQA.clause('- **"PER_TENSOR"**: A single scale for the entire tensor. Scale example shape: `[1]`.')
PER_CHANNEL = GQA.clause(
    '- **"PER_CHANNEL"**: A scale for each channel. Scale example shape: `[1, num_heads_k, 1, head_size]`.'
)
UNQUANTIZED = GQA.clause(
    '- **"NONE"**: No quantization.',
    note="The text does not define NONE for a cache of a quantized type, or another value for one of a float type.",
)
OF_QUERY = GQA.clause(
    "Query with shape (batch_size, sequence_length, hidden_size), or packed QKV with shape(batch_size, "
    "sequence_length, d) where d is (num_heads * head_size + 2 * kv_num_heads * head_size).",
    note="The text does not define a hidden_size that is no multiple of num_heads.",
)
OF_KEY = GQA.clause(
    "Key with shape (batch_size, kv_sequence_length, kv_hidden_size)",
    note="The text does not define a key without a value, or the positions of keys if there are more or fewer keys "
    "than queries.",
)
OF_PAST_KEY = GQA.clause(
    "past state key with support for format BNSH. When past_key uses same tensor as present_key(k-v cache), it is of "
    "length max_sequence_length... otherwise of length past_sequence_length. When sliding_window_cache is 1 this "
    "length is the window cache capacity C, which is chosen by the caller independently of the sequence length and "
    "must be at least local_window_size.",
    note="A model cannot declare that an input and an output are the same tensor, so a past of max_sequence_length is "
    "unspecified. So are past_key without past_value, and the opposite.",
)
OF_PAST_VALUE = GQA.clause(
    "past state value with support for format BNSH. When past_value uses same tensor as present_value(k-v cache), it "
    "is of length max_sequence_length... otherwise of length past_sequence_length. When sliding_window_cache is 1 this "
    "length is the window cache capacity C, which is chosen by the caller independently of the sequence length and "
    "must be at least local_window_size."
)
LENGTHS = GQA.clause(
    "1D Tensor of shape (batch_size). Equivalent to (total_sequence_lengths - 1).",
    note="The text does not define negative numbers if query_seqlens is omitted.",
)
TOTAL = GQA.clause("Scalar tensor equivalent to the maximum total sequence length (past + new) of the batch.")
BOUND = GQA.clause(
    "When query_seqlens is provided this is only an upper bound of seqlens_k + 1 (for example the KV cache capacity): "
    "it is not used to determine the prompt case or the past length."
)
CACHES = GQA.clause(
    "2D tensor with shape (max_sequence_length, head_size / 2).",
    note="The text does not define rotary embedding without both caches, or positions outside the caches.",
)
POSITIONS = GQA.clause(
    "2D tensor with shape (batch_size, sequence_length). When processing the first prompt the kernel uses only the "
    "first element",
    note="The text does not define how it uses the first element, so the positions of a first prompt must follow it.",
)
ADDED = GQA.clause(
    "additional add to QxK' with shape (batch_size or 1, num_heads or 1, sequence_length, total_sequence_length).",
    note="As usual for attention, the bias is added to the scaled product.",
)
COLUMNS = GQA.clause(
    "The last dimension is indexed by absolute key position and stays total_sequence_length when sliding_window_cache "
    "is 1: it is not reduced to the cache capacity or to local_window_size."
)
SINK = GQA.clause(
    "1D tensor with shape (num_heads). Each head has a smooth factor adding to the denominator of softmax.",
    note="The text does not define whether the factor or its exponential is added, so the output is left open.",
)
Q_NORM = GQA.clause(
    "Optional 1D tensor of shape (head_size). When provided together with k_norm_weight, the kernel applies a per-head "
    "RMS normalization to Q (and K) before any rotary embedding."
)
NORM_ELSEWHERE = GQA.clause(
    "Currently honored by the CUDA and native WebGPU execution providers; JSEP WebGPU/JS and other EPs must reject the "
    "node when this input is set.",
    result=True,
    note="The result depends on the execution provider, so it is unspecified.",
)
NORM_TOGETHER = GQA.clause("Must be provided together with q_norm_weight.")
CHUNKS = GQA.clause(
    "Optional 1D tensor of shape (batch_size) with the number of valid, non-padded tokens in the query/key/value chunk "
    "of each batch entry."
)
NEEDS_RANGE = GQA.clause(
    "Requires seqlens_k[b] >= 0 and 0 <= query_seqlens[b] <= min(sequence_length, seqlens_k[b] + 1)."
)
COUNTS = GQA.clause("When omitted, query_seqlens[b] = min(sequence_length, seqlens_k[b] + 1)")
CHUNKS_ELSEWHERE = GQA.clause(
    "Currently honored by the CPU and CUDA execution providers; other EPs must reject the node when this input is set.",
    result=True,
)
OUTPUT = GQA.clause("3D output tensor with shape (batch_size, sequence_length, hidden_size)", result=True)
PRESENT_KEY = GQA.clause(
    "present state key with support for format BNSH. When past_key uses same tensor as present_key(k-v buffer), it is "
    "of length max_sequence_length... otherwise of length past_sequence_length +kv_sequence_length.",
    result=True,
)
PRESENT_VALUE = GQA.clause(
    "present state value with support for format BNSH. When past_value uses same tensor as present_value(k-v buffer), "
    "it is of length max_sequence_length... otherwise of length past_sequence_length +kv_sequence_length.",
    result=True,
)
QK = GQA.clause("Values of QK matrix multiplication, either before or after softmax normalization", result=True)
CAUSAL = GQA.clause("Whether to apply a causal mask. Must be 0 or 1. Default value is 1.")
BIDIRECTIONAL = GQA.clause("Set to 0 for bidirectional attention.")
ROTARY = GQA.clause(
    "Whether to use rotary position embedding. Default value is 0.",
    note="The text does not define values other than 0 and 1.",
)
POSITIVE_K = GQA.clause(
    "Epsilon for per-head K RMS normalization. Overrides qk_norm_epsilon for K when provided. Must be finite and "
    "positive."
)
POSITIVE_Q = GQA.clause(
    "Epsilon for per-head Q RMS normalization. Overrides qk_norm_epsilon for Q when provided. Must be finite and "
    "positive."
)
EPSILON = GQA.clause(
    "Epsilon used by the per-head RMS norm applied to Q and K when q_norm_weight and k_norm_weight inputs are "
    "provided. Default value is 1e-6."
)
K_KINDS = GQA.clause("Quantization type for K cache. One of 'NONE', 'PER_TENSOR', 'PER_CHANNEL'.")
V_KINDS = GQA.clause("Quantization type for V cache. One of 'NONE', 'PER_TENSOR', 'PER_CHANNEL'.")
BITS = GQA.clause(
    "Bit width of quantized KV cache. Supported values are 8 and 4.",
    note="The text does not define a bit width that is not that of the type of the cache, or one without quantization.",
)
KV_HEADS = GQA.clause("Number of attention heads for k and v")
Q_HEADS = GQA.clause("Number of attention heads for q")
WINDOW = GQA.clause(
    "left_window_size for causal local attention (like Mistral).",
    note="A window of W keys includes that of the query itself, because a cache of W positions can contain a window.",
)
NO_WINDOW = GQA.clause(
    "Must be -1 when causal is 0. Default value is -1 meaning unused.",
    note="The text does not define 0 and values below -1.",
)
QK_OUTPUT = GQA.clause(
    "Output values of QK matrix multiplication before (1) or after (2) softmax normalization. Default value is 0 "
    "(don't output).",
    note="Before softmax, the text does not define whether the values are scaled, capped, biased and masked. Elements "
    "that depend on it are left open. The text does not define the output for 0.",
)
INTERLEAVED = GQA.clause(
    "Rotate using interleaved pattern. Default value is 0 (False).",
    note="The text does not define values other than 0 and 1.",
)
SCALE = GQA.clause("Custom scale will be used if specified. Default value is 1/sqrt(head_size)")
NEEDS_WINDOW = GQA.clause(
    "Requires local_window_size > 0 and a cache capacity of at least local_window_size; a smaller capacity (W > C) is "
    "rejected with INVALID_ARGUMENT."
)
EVICTS = GQA.clause(
    "The op then evicts internally and indexes the buffers in cache-relative coordinates, keeping the most recent "
    "positions contiguously at rows [0, L) with min(T, local_window_size) <= L <= min(T, capacity), where T is "
    "seqlens_k[b] + 1 for that batch entry.",
    result=True,
)
ONE_BATCH_OF_WINDOW = GQA.clause(
    "Without query_seqlens, when past context is present, sequence_length > 1 requires batch_size == 1."
)
SLIDING = GQA.clause(
    "See the Windowed KV Cache section of the operator description for the exact resident-range, eviction and rollback "
    "contract. Default value is 0 (full-length cache).",
    note="The text does not define values other than 0 and 1, or a window without past_key and past_value.",
)
SMOOTH = GQA.clause(
    "Use a smooth factor in softmax.",
    note="The text does not define the factor. The default, -1, has no explanation: it means no factor.",
)
SOFTCAP = GQA.clause(
    "Softcap value for attention weights. Default value is 0.",
    note="As usual, a score s becomes softcap * tanh(s / softcap). The text does not define negative values, or "
    "whether an attention bias is added before or after it.",
)


@dataclass(frozen=True)
class _Cache:
    """How a cache stores keys or values.

    Attributes:
        scale: the factor by which stored numbers are multiplied, of a shape that broadcasts; None without quantization.
        nibbles: whether a byte has two numbers of 4 bits.
        kind: the name of the type of the stored numbers.
    """

    scale: Array | None
    nibbles: bool
    kind: str

    def read(self, stored: Array) -> Array:
        """Return the values of stored numbers."""
        values: Array = stored if self.scale is None else stored * self.scale
        return values

    def written(self, v: Version, values: Array) -> Array:
        """Return the numbers that the cache stores for values; raises Unspecified if one of them would be rounded."""
        if self.scale is None:
            return values
        numbers: Array = np.asarray(values) / np.asarray(self.scale)  # Exact, also when errors are measured.
        if self.kind == "float8_e4m3fn":
            exact = np.array_equal(numbers.astype(ml_dtypes.float8_e4m3fn).astype(np.float64), numbers)
        else:
            low, high = (0, LARGEST_NIBBLE) if self.nibbles else (-128, 127)
            exact = bool(((numbers == np.rint(numbers)) & (numbers >= low) & (numbers <= high)).all())
        v.silent(QUANTIZED_READS, not exact)
        return numbers

    def output(self, numbers: Array, undefined: Array) -> PartlyOpen:
        """Return the present cache of numbers, in which some rows are undefined; of nibbles, no byte is defined."""
        if self.nibbles:
            numbers = np.zeros((*numbers.shape[:3], numbers.shape[3] // 2), np.uint8)
            undefined = np.ones(numbers.shape, bool)
        elif self.kind == "int8":
            numbers = numbers.astype(np.int8)
        return PartlyOpen(numbers, np.broadcast_to(undefined, numbers.shape).copy())


def _cache(
    v: Version, clause: Clause, kind: str | None, scale: Array | None, bits: Int, shape: tuple[int, int, int, int]
) -> _Cache:
    """Return how a cache of keys or values, whose present values have a shape, stores them."""
    type_ = v.dtypes["T_CACHE"].name if "T_CACHE" in v.dtypes else v.dtypes["T"].name
    v.require(clause, kind in {None, "NONE", "PER_TENSOR", "PER_CHANNEL"})
    v.require(BITS, bits in {None, 4, 8})
    quantized, nibbles = type_ in QUANTIZED, type_ == "uint8"
    v.silent(UNQUANTIZED, quantized != (kind not in {None, "NONE"}))
    if not quantized:
        v.silent(BITS, bits is not None)
        v.silent(SAME_FORMAT, type_ != v.dtypes["T"].name)
        return _Cache(None, nibbles=False, kind=type_)
    v.silent(BITS, bits != (4 if nibbles else 8))
    v.require(NEEDS_SCALES, scale is not None)
    steps = cast("Array", scale)
    v.require(BROADCAST, _broadcasts(steps.shape, shape))
    v.require(PER_TENSOR, kind != "PER_TENSOR" or steps.size == 1)
    channels = steps.shape[-3:] == (shape[1], 1, shape[3]) and steps.size == shape[1] * shape[3]
    v.require(PER_CHANNEL, kind != "PER_CHANNEL" or channels)
    return _Cache(steps, nibbles=nibbles, kind=type_)


def _broadcasts(own: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    pairs = zip(own[::-1], whole[::-1], strict=False)
    return len(own) <= len(whole) and all(size in {1, most} for size, most in pairs)


@dataclass(frozen=True)
class _Entry:
    """One entry of a batch.

    Attributes:
        past: the number of tokens before the step.
        after: the number of tokens after the step.
        kept: the number of past tokens in the cache.
        last: the number of tokens in the cache after the step.
        is_row: a mask of (queries, 1): True for each row that is no padding.
        attends: a mask of (queries, keys): True for each key that a query attends.
    """

    past: int
    after: int
    kept: int
    last: int
    is_row: Array
    attends: Array


def _entry(past: int, after: int, queries: int, *, causal: bool, window: int, capacity: int | None) -> _Entry:
    """Return one entry of a batch.

    Args:
        past: the number of tokens before the step.
        after: the number of tokens after the step.
        queries: the number of rows of the chunk, with padding.
        causal: whether a query attends no later keys.
        window: the number of keys that a query attends, with its own; -1 for all.
        capacity: the number of rows of a windowed cache; None for a full cache.
    """
    row, j = np.arange(queries)[:, None], np.arange(after)
    p = past + row
    attends = (j <= p) | np.asarray(not causal)
    if window > 0:
        attends &= j > p - window
    kept, last = (past, after) if capacity is None else (_resident(item, capacity, window) for item in (past, after))
    return _Entry(past, after, kept, last, row < after - past, attends)


def _remembered(
    v: Version, cache: _Cache, old: Array | None, new: Array, entries: Sequence[_Entry]
) -> tuple[list[Array], list[Array]]:
    """Return the stored numbers and the values of each entry by absolute position; those that were evicted are 0.

    Args:
        v: the version.
        cache: how the numbers are stored.
        old: the past cache of (batch, heads, rows, size), or None.
        new: the new values, of (batch, heads, rows, size).
        entries: the entries of the batch.
    """
    numbers, values = [], []
    written = cache.written(v, new)
    for b, entry in enumerate(entries):
        evicted = np.zeros((new.shape[1], entry.past - entry.kept, new.shape[3]))
        former = [] if old is None or entry.kept == 0 else [old[b, :, : entry.kept].astype(np.float64)]
        rows = entry.after - entry.past
        stored = np.concatenate([evicted, *former, written[b, :, :rows]], 1)
        past = cache.read(stored[None])[0, :, : entry.past]
        numbers.append(stored)
        values.append(np.concatenate([past, new[b, :, :rows]], 1))
    return numbers, values


def _present(
    cache: _Cache, numbers: Sequence[Array], entries: Sequence[_Entry], shape: tuple[int, int, int, int]
) -> PartlyOpen:
    """Return the present cache of a shape: the last positions of each entry, and then undefined rows."""
    rows = np.zeros(shape)
    for row, stored, entry in zip(rows, numbers, entries, strict=True):
        row[:, : entry.last] = stored[:, entry.after - entry.last :]
    lasts = np.array([entry.last for entry in entries], np.int64)
    undefined = np.arange(shape[2]) >= lasts[:, None]
    return cache.output(rows, undefined[:, None, :, None])


def _resident(total: int, capacity: int, window: int) -> int:
    """Return the number of the positions that remain in a windowed cache after so many tokens."""
    at_once = capacity - window + 1
    return total if total <= capacity else total - at_once * math.ceil((total - capacity) / at_once)


def _split(
    v: Version, query: Array, key: Array | None, value: Array | None, num_heads: int, kv_num_heads: int
) -> tuple[Array, Array, Array]:
    """Return queries, keys and values of (batch, heads, sequence, head_size)."""
    v.silent(GROUPED, num_heads < 1 or kv_num_heads < 1 or num_heads % max(kv_num_heads, 1) != 0)
    v.require(OF_QUERY, query.ndim == ROWS)
    v.silent(OF_KEY, (key is None) != (value is None))
    if key is None:
        every = num_heads + 2 * kv_num_heads
        v.require(OF_QUERY, query.shape[2] % every == 0)
        size = query.shape[2] // every
        query, key, value = np.split(query, [num_heads * size, (num_heads + kv_num_heads) * size], 2)
    of_values = cast("Array", value)
    v.require(OF_KEY, key.ndim == ROWS and key.shape[0] == query.shape[0] and of_values.shape == key.shape)
    v.silent(OF_QUERY, query.shape[2] % num_heads != 0 or query.shape[2] == 0)
    v.silent(OF_KEY, key.shape[2] * num_heads != query.shape[2] * kv_num_heads)
    return heads(query, num_heads), heads(key, kv_num_heads), heads(of_values, kv_num_heads)


def _positions(v: Version, past: Array, length: int, position_ids: Array | None) -> Array:
    """Return the positions of the queries, of a shape (batch, sequence)."""
    absolute = past[:, None] + np.arange(length)
    if position_ids is None:
        return np.asarray(absolute)
    if not past.any():
        following = position_ids.ravel()[:1] + np.arange(length)
        v.silent(POSITIONS, not np.array_equal(position_ids, np.broadcast_to(following, position_ids.shape)))
    return position_ids


def _counts(
    v: Version,
    seqlens_k: Array,
    query_seqlens: Array | None,
    total: int,
    lengths: tuple[int, int],
    *,
    windowed: bool,
    causal: bool,
    has_past: bool,
) -> tuple[Array, Array]:
    """Return, for each batch entry, the number of tokens after the step and that of valid rows.

    Args:
        v: the version.
        seqlens_k: the number of tokens after the step, minus 1.
        query_seqlens: the number of valid rows, or None.
        total: the scalar total_sequence_length.
        lengths: the numbers of queries and of cached rows.
        windowed: whether the cache has only a window.
        causal: whether there is a causal mask.
        has_past: whether there are past keys and values.
    """
    queries, cached = lengths
    tokens = seqlens_k.astype(np.int64) + 1
    if query_seqlens is None:
        v.silent(LENGTHS, bool((tokens < 1).any()))
        v.require(TOTAL, not tokens.size or int(tokens.max()) == total)
        v.silent(OF_PAST_KEY, not windowed and total != cached + queries)
        rows = np.minimum(queries, tokens)
        v.require(
            ONE_BATCH_OF_WINDOW if windowed else ONE_BATCH,
            queries == 1 or len(tokens) == 1 or not bool((tokens > rows).any()),
        )
        return tokens, rows
    v.optional(CHUNKS_ELSEWHERE)
    v.require(NEEDS_CAUSAL, causal)
    v.require(NEEDS_PAST, has_past)
    v.require(CHUNKS, query_seqlens.shape == seqlens_k.shape)
    rows = query_seqlens.astype(np.int64)
    v.require(NEEDS_RANGE, bool(((tokens >= 1) & (rows >= 0) & (rows <= np.minimum(queries, tokens))).all()))
    v.require(NEEDS_LENGTHS, bool((tokens <= total).all()) and (windowed or total >= queries))
    v.require(HOLDS_PAST, windowed or bool((tokens - rows <= cached).all()))
    return tokens, rows


def _turned(
    v: Version,
    parts: tuple[Array, Array],
    cos_cache: Array | None,
    sin_cache: Array | None,
    positions: Array,
    rows: Array,
    *,
    interleaved: bool,
) -> list[Array]:
    """Return queries and keys that are rotated by their positions.

    Args:
        v: the version.
        parts: the queries and the keys.
        cos_cache: the cosines of each position.
        sin_cache: the sines of each position.
        positions: the positions, of (batch, sequence).
        rows: the number of valid rows of each entry. Those of padding may have any position.
        interleaved: whether neighbours are a pair.
    """
    v.silent(CACHES, cos_cache is None or sin_cache is None)
    cos, sin = cast("Array", cos_cache), cast("Array", sin_cache)
    v.require(CACHES, cos.shape == sin.shape)
    used = positions[np.arange(positions.shape[1]) < rows[:, None]]
    v.silent(CACHES, bool(((used < 0) | (used >= len(cos))).any()))
    inside = np.clip(positions, 0, len(cos) - 1)
    by_row = [item.transpose(0, 2, 1, 3) for item in parts]
    turned = [rotated(item, cos[inside], sin[inside], interleaved=interleaved) for item in by_row]
    return [item.transpose(0, 2, 1, 3) for item in turned]


def _check_past(
    v: Version,
    past_key: Array | None,
    past_value: Array | None,
    shape: tuple[int, int, int],
    *,
    nibbles: bool,
    window: int | None,
) -> None:
    """Raise if the past does not fit.

    Args:
        v: the version.
        past_key: the past keys, or None.
        past_value: the past values, or None.
        shape: the batch, the number of heads and the size of a head.
        nibbles: whether a byte has two numbers of 4 bits.
        window: the size of the window of a windowed cache; None for a full cache.
    """
    v.silent(OF_PAST_KEY, (past_key is None) != (past_value is None))
    v.silent(SLIDING, window is not None and past_key is None)
    if past_key is None:
        return
    batch, count, size = shape
    v.silent(FOUR_BITS, nibbles and size % 2 == 1)
    v.require(OF_PAST_KEY, past_key.ndim == BY_HEAD)
    capacity = past_key.shape[2]
    v.require(FORMAT, past_key.shape == (batch, count, capacity, size // 2 if nibbles else size))
    v.require(OF_PAST_VALUE, cast("Array", past_value).shape == past_key.shape)
    v.silent(FOUR_BITS, nibbles and capacity > 0)
    v.require(TOO_SMALL, window is None or capacity >= window)
    v.optional(PART_OF_RANGE, window is not None and capacity > window)


def _check_choices(
    v: Version,
    *,
    causal: int,
    window: int,
    windowed: int,
    smooth: int,
    softcap: float,
    has_bias: bool,
    do_rotary: Int,
    interleaved: Int,
) -> None:
    """Raise if an attribute has a value that the text forbids or does not define."""
    v.require(CAUSAL, causal in {0, 1})
    v.require(NO_WINDOW, causal == 1 or window == -1)
    v.require(NEEDS_WINDOW, windowed != 1 or window > 0)
    v.silent(NO_WINDOW, window < -1 or window == 0)
    v.silent(SLIDING, windowed not in {0, 1})
    v.silent(SMOOTH, smooth not in {-1, 0})
    v.silent(SOFTCAP, softcap < 0 or (softcap != 0 and has_bias))
    v.silent(ROTARY, do_rotary not in {None, 0, 1})
    v.silent(INTERLEAVED, interleaved not in {None, 0, 1})


def _check_norm(
    v: Version, q: Array | None, k: Array | None, size: int, epsilons: tuple[float, float | None, float | None]
) -> None:
    """Raise if the epsilons or the weights of the normalization are wrong, or if there are weights."""
    of_both, of_q, of_k = epsilons
    v.silent(EPSILON, not 0 < of_both < math.inf)
    v.require(POSITIVE_Q, of_q is None or 0 < of_q < math.inf)
    v.require(POSITIVE_K, of_k is None or 0 < of_k < math.inf)
    v.require(NORM_TOGETHER, (q is None) == (k is None))
    v.require(Q_NORM, q is None or q.shape == (size,))
    v.silent(NORM_ELSEWHERE, q is not None)


@GQA.oracle()
def group_query_attention(  # noqa: PLR0913 - the operator's own arguments
    v: Version,
    *,
    n: int,
    query: Array,
    key: Array | None,
    value: Array | None,
    past_key: Array | None,
    past_value: Array | None,
    seqlens_k: Array,
    total_sequence_length: Array,
    cos_cache: Array | None,
    sin_cache: Array | None,
    position_ids: Array | None,
    attention_bias: Array | None,
    head_sink: Array | None,
    k_scale: Array | None,
    v_scale: Array | None,
    q_norm_weight: Array | None,
    k_norm_weight: Array | None,
    query_seqlens: Array | None,
    causal: int,
    do_rotary: Int,
    k_norm_epsilon: float | None,
    k_quant_type: str | None,
    kv_cache_bit_width: Int,
    kv_num_heads: int,
    local_window_size: int,
    num_heads: int,
    q_norm_epsilon: float | None,
    qk_norm_epsilon: float,
    qk_output: int,
    rotary_interleaved: Int,
    scale: float | None,
    sliding_window_cache: int,
    smooth_softmax: int,
    softcap: float | None,
    v_quant_type: str | None,
) -> tuple[Any, ...]:
    """Return the attended values, the cache of keys and that of values, and the scores or weights."""
    _check_choices(
        v, causal=causal, window=local_window_size, windowed=sliding_window_cache, smooth=smooth_softmax,
        softcap=softcap or 0, has_bias=attention_bias is not None, do_rotary=do_rotary, interleaved=rotary_interleaved,
    )  # fmt: skip
    q, k, new_values = _split(v, query, key, value, num_heads, kv_num_heads)
    batch, _, queries, size = q.shape
    _check_norm(v, q_norm_weight, k_norm_weight, size, (qk_norm_epsilon, q_norm_epsilon, k_norm_epsilon))
    v.require(NEEDS_AS_MANY, query_seqlens is None or k.shape[2] == queries)
    v.silent(OF_KEY, k.shape[2] != queries)
    v.require(LENGTHS, seqlens_k.shape == (batch,))
    total = int(v.scalar(TOTAL, total_sequence_length))
    windowed = sliding_window_cache == 1
    cached = 0 if past_key is None else past_key.shape[2 % past_key.ndim]
    of_cache = (batch, kv_num_heads, cached if windowed else cached + queries, size)
    keeps_k = _cache(v, K_KINDS, k_quant_type, k_scale, kv_cache_bit_width, of_cache)
    keeps_v = _cache(v, V_KINDS, v_quant_type, v_scale, kv_cache_bit_width, of_cache)
    window = local_window_size if windowed else None
    _check_past(v, past_key, past_value, (batch, kv_num_heads, size), nibbles=keeps_k.nibbles, window=window)
    tokens, rows = _counts(
        v, seqlens_k, query_seqlens, total, (queries, cached),
        windowed=windowed, causal=causal == 1, has_past=past_key is not None,
    )  # fmt: skip
    before = tokens - rows
    v.require(ADDED, attention_bias is None or is_bias(attention_bias.shape, (batch, num_heads, queries, total)))
    v.require(SINK, head_sink is None or head_sink.shape == (num_heads,))
    v.silent(SINK, head_sink is not None and n == 1)
    v.require(POSITIONS, position_ids is None or position_ids.shape == (batch, queries))
    for cache in (cos_cache, sin_cache):
        v.require(CACHES, cache is None or (cache.ndim == 2 and 2 * cache.shape[1] == size))  # noqa: PLR2004 - a matrix
    if do_rotary:
        positions = _positions(v, before, queries, position_ids)
        turn = bool(rotary_interleaved)
        q, k = _turned(v, (q, k), cos_cache, sin_cache, positions, rows, interleaved=turn)

    entries = [
        _entry(
            int(past), int(after), queries,
            causal=causal == 1, window=local_window_size, capacity=cached if windowed else None,
        )
        for past, after in zip(before, tokens, strict=True)
    ]  # fmt: skip
    key_numbers, keys = _remembered(v, keeps_k, past_key, k, entries)
    value_numbers, values = _remembered(v, keeps_v, past_value, new_values, entries)
    present = [
        _present(cache, numbers, entries, of_cache)
        for cache, numbers in ((keeps_k, key_numbers), (keeps_v, value_numbers))
    ]
    output, open_ = np.zeros((batch, queries, num_heads * size)), np.ones((batch, queries, num_heads * size), bool)
    stage, open_stage = (make((batch, num_heads, queries, total)) for make in (np.zeros, np.ones))
    open_stage = open_stage.astype(bool)
    plain = scale == 1 and not softcap and attention_bias is None
    share = num_heads // kv_num_heads
    for b, entry in enumerate(entries):
        bias = None if attention_bias is None else attention_bias[b % len(attention_bias), None, :, :, : entry.after]
        of_keys = scores(q[b : b + 1], keys[b].repeat(share, 0)[None], scale, bias)
        capped = softcap * np.tanh(of_keys / softcap) if softcap else of_keys
        weights = softmax(capped, entry.attends | ~entry.is_row)
        output[b] = joined(weights @ values[b].repeat(share, 0)[None])[0]
        open_[b] = ~entry.is_row | (head_sink is not None)
        stage[b, :, :, : entry.after] = (capped if qk_output == BEFORE else weights)[0]
        undefined = ~entry.attends | (not plain) if qk_output == BEFORE else np.full((1, 1), head_sink is not None)
        open_stage[b, :, :, : entry.after] = ~entry.is_row | undefined
    v.silent(QK_OUTPUT, n == ALL_OUTPUTS and qk_output not in {BEFORE, AFTER})
    return PartlyOpen(output, open_), *present, PartlyOpen(stage, open_stage)


case = GQA.case
QUERY, KEY, VALUE = waves(2, 3, 64) / 2, waves(2, 3, 32)[..., ::-1] / 2, waves(2, 3, 32)[:, ::-1]
"""2 batches, 3 positions. 4 query heads of size 16 share 2 heads of keys and values."""
HEADS: dict[str, Any] = {"num_heads": 4, "kv_num_heads": 2}
PROMPT: dict[str, Any] = {
    "query": QUERY,
    "key": KEY,
    "value": VALUE,
    "seqlens_k": [2, 2],
    "total_sequence_length": 3,
    **HEADS,
}
PAST: dict[str, Any] = {
    "past_key": typed("{T}", waves(2, 2, 5, 16)[:, ::-1] / 2),
    "past_value": typed("{T}", waves(2, 2, 5, 16)[..., ::-1]),
}
"""5 cached positions."""
STEP: dict[str, Any] = {
    "query": QUERY[:, :1],
    "key": KEY[:, :1],
    "value": VALUE[:, :1],
    **PAST,
    "seqlens_k": [5, 5],
    "total_sequence_length": 6,
    **HEADS,
    "n": 3,
}
CHUNK: dict[str, Any] = {
    "query": QUERY[:1],
    "key": KEY[:1],
    "value": VALUE[:1],
    "past_key": typed("{T}", waves(1, 2, 5, 16) / 2),
    "past_value": typed("{T}", waves(1, 2, 5, 16)[..., ::-1]),
    "seqlens_k": [7],
    "total_sequence_length": 8,
    **HEADS,
    "n": 3,
}
"""A chunk of 3 tokens after 5 cached ones, of one batch entry."""


def angles(positions: int, pairs: int = 8) -> dict[str, Any]:
    """Return cosines and sines for so many positions. All angles are different."""
    of_pairs = np.arange(1.0, positions * pairs + 1).reshape(positions, pairs) * 0.7
    return {"cos_cache": np.cos(of_pairs), "sin_cache": np.sin(of_pairs)}


ATTRIBUTES: dict[str, Any] = {
    "causal": 1,
    "do_rotary": 1,
    "k_norm_epsilon": 1e-5,
    "k_quant_type": "NONE",
    "local_window_size": 3,
    "q_norm_epsilon": 1e-5,
    "qk_norm_epsilon": 1e-6,
    "qk_output": 0,
    "rotary_interleaved": 1,
    "scale": 0.5,
    "sliding_window_cache": 0,
    "smooth_softmax": 0,
    "softcap": 2.0,
    "v_quant_type": "NONE",
}
GQA.example(**STEP, **ATTRIBUTES, **angles(7), position_ids=[[5], [5]])

PRESENTS = (PRESENT_KEY, PRESENT_VALUE, FORMAT)
case(
    "prompt", **PROMPT, n=3, cites=(SELF_OR_CROSS, GROUPED, OF_QUERY, OF_KEY, LENGTHS, TOTAL, OUTPUT, KV_HEADS, Q_HEADS)
)
case("prompt_alone", **PROMPT, cites=(GROUPED, OUTPUT, CAUSAL, SCALE))
case("step", **STEP, cites=(GROUPED, OF_PAST_KEY, OF_PAST_VALUE, *PRESENTS))
case("step_alone", **{**STEP, "n": 1}, cites=(GROUPED, OF_PAST_KEY))
case("chunk", **CHUNK, cites=(ABSOLUTE, CAUSAL, *PRESENTS))
case(
    "ragged_prompt", **{**PROMPT, "seqlens_k": [2, 0]}, n=3, cites=(LENGTHS, OMITTED_LENGTHS, COUNTS, UNSPECIFIED_ROWS)
)
case(
    "ragged_prompt_of_two",
    **{**PROMPT, "seqlens_k": [1, 2]},
    n=3,
    cites=(LENGTHS, TOTAL, OMITTED_LENGTHS, ONLY_MAXIMUM),
)
case("ragged_step", **{**STEP, "seqlens_k": [3, 5]}, cites=(LENGTHS, TOTAL, OMITTED_LENGTHS, UNSPECIFIED_ROWS))
case("no_past", Tag.EDGE, **PROMPT, past_key=ramp(2, 2, 0, 16), past_value=ramp(2, 2, 0, 16), n=3, cites=PRESENTS)
PACKED: dict[str, Any] = {"query": np.concatenate([QUERY, KEY, VALUE], 2), "key": None, "value": None}
case("packed", **{**PROMPT, **PACKED}, n=3, cites=OF_QUERY)
case(
    "packed_step",
    **{**STEP, **{name: item if item is None else item[:, :1] for name, item in PACKED.items()}},
    cites=OF_QUERY,
)
SAME: dict[str, Any] = {"query": waves(2, 3, 32), "num_heads": 2}
case("as_many_heads", **{**PROMPT, **SAME}, n=3, cites=GROUPED)
ONE_HEAD: dict[str, Any] = {"key": KEY[..., :16], "value": VALUE[..., 16:], "kv_num_heads": 1}
OF_SIX: dict[str, Any] = {"query": waves(2, 3, 24) / 2, "key": waves(2, 3, 12) / 2, "value": waves(2, 3, 12)[:, ::-1]}
case("head_size_of_six", **{**PROMPT, **OF_SIX}, n=3, cites=(OF_QUERY, OF_KEY))
OF_EIGHT: dict[str, Any] = {"query": waves(2, 3, 32) / 2, "key": waves(2, 3, 16) / 2, "value": waves(2, 3, 16)[:, ::-1]}
case("head_size_of_eight", **{**PROMPT, **OF_EIGHT}, n=3, cites=(OF_QUERY, OF_KEY))
case("head_size_of_eight_rotary", **{**PROMPT, **OF_EIGHT}, do_rotary=1, **angles(4, 4), n=3, cites=(ROTARY, CACHES))
ONE_OF_ALL: dict[str, Any] = {"num_heads": 1, "kv_num_heads": 1}
case("one_head", **{**PROMPT, **ONE_OF_ALL, "query": QUERY[..., :32]}, n=3, cites=GROUPED)
ONE_PACKED: dict[str, Any] = {**PACKED, "query": waves(2, 3, 96), "kv_num_heads": 1}
case("packed_one_head_of_keys", **{**PROMPT, **ONE_PACKED}, n=3, cites=OF_QUERY)
case("one_head_of_keys", **{**PROMPT, **ONE_HEAD}, n=3, cites=GROUPED)
case("bidirectional", **PROMPT, causal=0, cites=(BIDIRECTIONAL, CAUSAL))
case("bidirectional_chunk", **CHUNK, causal=0, cites=BIDIRECTIONAL)
case("bidirectional_ragged", **{**PROMPT, "seqlens_k": [2, 0]}, causal=0, cites=(BIDIRECTIONAL, LENGTHS))
case("scale", **PROMPT, scale=vary(half=0.5, one=1.0, negative=-0.5, large=1000.0), cites=SCALE)
for cap in (0.0, 0.5, 30.0):
    name = str(cap).replace(".", "_")
    case(f"softcap_{name}", **PROMPT, softcap=cap, cites=SOFTCAP)
case("softcap_step", **STEP, softcap=1.5, cites=SOFTCAP)
BIASES = vary(whole=waves(2, 4, 3, 3), of_batch=waves(2, 1, 3, 3), of_heads=waves(1, 4, 3, 3), of_one=waves(1, 1, 3, 3))
case("added", **PROMPT, attention_bias=BIASES, cites=ADDED)
case("added_step", **STEP, attention_bias=waves(2, 4, 1, 6), cites=ADDED)
case("added_chunk", **CHUNK, attention_bias=waves(1, 4, 3, 8), scale=0.1, cites=(ADDED, SCALE))
case("added_ragged", **{**STEP, "seqlens_k": [3, 5]}, attention_bias=waves(2, 4, 1, 6), cites=(ADDED, COLUMNS))
for size in (1, 2, 3, 9):
    case(f"window_{size}", **CHUNK, local_window_size=size, cites=(WINDOW, ABSOLUTE))
    case(f"window_{size}_prompt", **PROMPT, local_window_size=size, cites=WINDOW)
case("window_unused", **CHUNK, local_window_size=-1, cites=NO_WINDOW)
case("window_ragged", **{**STEP, "seqlens_k": [3, 5]}, local_window_size=2, cites=(WINDOW, LENGTHS))

for turn in (0, 1):
    turned: dict[str, Any] = {"do_rotary": 1, "rotary_interleaved": turn}
    case(f"rotary_{turn}", **PROMPT, **turned, **angles(4), n=3, cites=(ROTARY, INTERLEAVED, CACHES))
    case(f"rotary_{turn}_step", **STEP, **turned, **angles(6), cites=(ROTARY, ABSOLUTE))
    case(f"rotary_{turn}_chunk", **CHUNK, **turned, **angles(9), cites=(ROTARY, ABSOLUTE))
    ragged: dict[str, Any] = {**STEP, "seqlens_k": [3, 5]}
    case(f"rotary_{turn}_ragged", **ragged, **turned, **angles(6), cites=(ROTARY, ABSOLUTE))
    packed: dict[str, Any] = {**PROMPT, **PACKED}
    case(f"rotary_{turn}_packed", **packed, **turned, **angles(4), n=3, cites=(ROTARY, OF_QUERY))
TURNED: dict[str, Any] = {"do_rotary": 1, **angles(9)}
case("positions_step", **STEP, **TURNED, position_ids=[[5], [2]], cites=POSITIONS)
case("positions_chunk", **CHUNK, **TURNED, position_ids=[[5, 1, 8]], cites=POSITIONS)
case("positions_prompt", **PROMPT, **TURNED, position_ids=[[0, 1, 2]] * 2, cites=POSITIONS)
case("positions_of_later_prompt", **PROMPT, **TURNED, position_ids=[[4, 5, 6]] * 2, cites=POSITIONS)
case("positions_unused", **PROMPT, position_ids=[[0, 1, 2]] * 2, cites=POSITIONS)
case("caches_unused", **PROMPT, do_rotary=0, **angles(9), cites=(ROTARY, CACHES))
case("cache_unused_of_other_size", **PROMPT, do_rotary=0, cos_cache=np.ones((9, 3)), rejects=CACHES)

for stage in (1, 2):
    case(f"qk_output_{stage}", **{**PROMPT, "n": 4}, qk_output=stage, scale=1.0, cites=(QK, QK_OUTPUT))
    case(
        f"qk_output_{stage}_bidirectional",
        **{**PROMPT, "n": 4},
        qk_output=stage,
        scale=1.0,
        causal=0,
        cites=(QK, QK_OUTPUT),
    )
    case(f"qk_output_{stage}_step", **{**STEP, "n": 4}, qk_output=stage, cites=(QK, QK_OUTPUT))
case("qk_output_2_ragged", **{**STEP, "n": 4, "seqlens_k": [3, 5]}, qk_output=2, cites=(QK, QK_OUTPUT))
case("qk_output_2_capped", **{**CHUNK, "n": 4}, qk_output=2, softcap=1.5, cites=(QK, QK_OUTPUT))
case("sink", **PROMPT, head_sink=[0.5, -1, 2, 0], n=3, cites=SINK)

# Padded chunks: the second entry has 1 valid row after 4 cached tokens.
PADDED: dict[str, Any] = {
    **PROMPT,
    **PAST,
    "seqlens_k": [7, 4],
    "total_sequence_length": 8,
    "query_seqlens": [3, 1],
    "n": 3,
}
OF_CHUNKS = (CHUNKS, VALID, APPENDED, ABSOLUTE, UNSPECIFIED_ROWS, CHUNKS_ELSEWHERE)
case("padded", **PADDED, cites=OF_CHUNKS)
case(
    "padded_upper_bound",
    **{**PADDED, "seqlens_k": [6, 4], "query_seqlens": [2, 1]},
    cites=(UPPER_BOUND, BOUND, NEEDS_LENGTHS),
)
case("padded_idle", Tag.EDGE, **{**PADDED, "seqlens_k": [7, 3], "query_seqlens": [3, 0]}, cites=IDLE)
case("padded_rotary", **PADDED, **TURNED, cites=(ABSOLUTE, ROTARY))
case("padded_window", **PADDED, local_window_size=2, cites=(ABSOLUTE, WINDOW))
case("padded_added", **PADDED, attention_bias=waves(2, 4, 3, 8), cites=(CHUNKS, ADDED))
NO_CACHE: dict[str, Any] = {"past_key": ramp(2, 2, 0, 16), "past_value": ramp(2, 2, 0, 16)}
FIRST: dict[str, Any] = {**PADDED, **NO_CACHE, "seqlens_k": [2, 0], "total_sequence_length": 3}
case("padded_prompt", **FIRST, cites=OF_CHUNKS)
case("padded_step", **STEP, query_seqlens=[1, 1], cites=(CHUNKS, HONORED, QUANTIZED_READS))
case("padded_step_idle", Tag.EDGE, **{**STEP, "seqlens_k": [5, 4]}, query_seqlens=[1, 0], cites=IDLE)
case("padded_bidirectional", **PADDED, causal=0, rejects=NEEDS_CAUSAL)
case("padded_without_past", **PROMPT, query_seqlens=[3, 1], rejects=NEEDS_PAST)
case("padded_other_keys", **{**PADDED, "key": waves(2, 4, 32), "value": waves(2, 4, 32)}, rejects=NEEDS_AS_MANY)
case("padded_of_three", **{**PADDED, "query_seqlens": [3, 1, 1]}, rejects=CHUNKS)
case("padded_too_many", **{**PADDED, "query_seqlens": [4, 1]}, rejects=NEEDS_RANGE)
case("padded_negative", **{**PADDED, "query_seqlens": [3, -1]}, rejects=NEEDS_RANGE)
case("padded_more_than_tokens", **{**PADDED, "seqlens_k": [7, 0], "query_seqlens": [3, 2]}, rejects=NEEDS_RANGE)
case("padded_no_tokens", **{**PADDED, "seqlens_k": [7, -1], "query_seqlens": [3, 0]}, rejects=NEEDS_RANGE)
case("padded_beyond_total", **{**PADDED, "total_sequence_length": 7}, rejects=NEEDS_LENGTHS)
SHORT: dict[str, Any] = {**FIRST, "seqlens_k": [1, 0], "query_seqlens": [2, 1], "total_sequence_length": 2}
case("padded_total_below_chunk", **SHORT, rejects=NEEDS_LENGTHS)
case("padded_past_not_held", **{**PADDED, "query_seqlens": [2, 1]}, rejects=HOLDS_PAST)

# Caches of a window. A window of 3 positions in a cache of 5 evicts 3 positions at once.
SLIDES: dict[str, Any] = {"sliding_window_cache": 1, "local_window_size": 3}
OF_WINDOW = (
    EVICTS,
    CONTIGUOUS,
    AT_LEAST,
    RECENT,
    UNSPECIFIED_SLACK,
    AT_ONCE,
    OF_CPU,
    PART_OF_RANGE,
    ROLLBACK,
    ONLY_MAXIMUM,
)
for tokens in (4, 5, 6, 7, 9):
    now: dict[str, Any] = {**STEP, "seqlens_k": [tokens - 1] * 2, "total_sequence_length": tokens}
    case(f"sliding_after_{tokens}", **now, **SLIDES, cites=(*OF_WINDOW, RESIDENT if tokens < 6 else EVICTED))  # noqa: PLR2004 - the capacity is 5
OF_FIVE: dict[str, Any] = {"sliding_window_cache": 1, "local_window_size": 5}
for tokens in (5, 6, 9):
    now = {**STEP, "seqlens_k": [tokens - 1] * 2, "total_sequence_length": tokens}
    case(f"sliding_full_after_{tokens}", **now, **OF_FIVE, cites=(RECENT, OF_CUDA))
case("sliding_ragged", **{**STEP, "seqlens_k": [3, 6], "total_sequence_length": 7}, **SLIDES, cites=OF_WINDOW)
case("sliding_rotary", **{**STEP, "seqlens_k": [6, 6], "total_sequence_length": 7}, **SLIDES, **TURNED, cites=RECENT)
case(
    "sliding_added",
    **{**STEP, "seqlens_k": [6, 6], "total_sequence_length": 7},
    **SLIDES,
    attention_bias=waves(1, 4, 1, 7),
    cites=COLUMNS,
)
case("sliding_chunk", **CHUNK, **SLIDES, cites=(ANY_LENGTH, INDEPENDENT, RECENT))
LONGER: dict[str, Any] = {"query": waves(1, 7, 64) / 2, "key": waves(1, 7, 32) / 2, "value": waves(1, 7, 32)[:, ::-1]}
case(
    "sliding_long_chunk",
    **{**CHUNK, **LONGER, "seqlens_k": [11], "total_sequence_length": 12},
    **SLIDES,
    cites=ANY_LENGTH,
)
case(
    "sliding_long_prompt",
    **{**CHUNK, **LONGER, "seqlens_k": [6], "total_sequence_length": 7},
    **SLIDES,
    cites=ANY_LENGTH,
)
case("sliding_padded", **{**PADDED, "seqlens_k": [7, 4]}, **SLIDES, cites=(OF_PADDED, VALID, UPPER_BOUND))
case("sliding_without_window", **STEP, sliding_window_cache=1, rejects=NEEDS_WINDOW)
case("sliding_window_of_none", Tag.EDGE, **STEP, sliding_window_cache=1, local_window_size=0, rejects=NEEDS_WINDOW)
SEVEN_TOKENS: dict[str, Any] = {**STEP, "seqlens_k": [6, 6], "total_sequence_length": 7}
case("sliding_window_of_one", Tag.EDGE, **SEVEN_TOKENS, sliding_window_cache=1, local_window_size=1, cites=OF_WINDOW)
case("sliding_too_small", **STEP, sliding_window_cache=1, local_window_size=6, rejects=TOO_SMALL)

# Quantized caches. The scales are powers of two, and keys and values are multiples of them.
WHOLE_KEY, WHOLE_VALUE = np.rint(KEY * 4) / 4, np.rint(VALUE * 2) / 2
STORED_KEY, STORED_VALUE = np.rint(waves(2, 2, 5, 16) * 40), np.rint(waves(2, 2, 5, 16)[..., ::-1] * 30)
BY_TENSOR: dict[str, Any] = {
    "k_scale": [0.03125],
    "v_scale": [0.0625],
    "k_quant_type": "PER_TENSOR",
    "v_quant_type": "PER_TENSOR",
    "kv_cache_bit_width": 8,
}
STEPS = 2.0 ** -(np.arange(32).reshape(1, 2, 1, 16) % 3 + 3)
BY_CHANNEL: dict[str, Any] = {
    **BY_TENSOR,
    "k_scale": STEPS,
    "v_scale": STEPS[..., ::-1],
    "k_quant_type": "PER_CHANNEL",
    "v_quant_type": "PER_CHANNEL",
}
WHOLE: dict[str, Any] = {"key": WHOLE_KEY[:, :1], "value": WHOLE_VALUE[:, :1]}
OF_QUANTIZED = (SAME_FORMAT, NEEDS_SCALES, QUANTIZED_READS, BITS)
for type_ in ("int8", "float8e4m3fn"):
    divisor = 1 if type_ == "int8" else 8
    old: dict[str, Any] = {
        "past_key": typed(type_, np.rint(STORED_KEY / divisor)),
        "past_value": typed(type_, np.rint(STORED_VALUE / divisor)),
    }
    none: dict[str, Any] = {"past_key": typed(type_, ramp(2, 2, 0, 16)), "past_value": typed(type_, ramp(2, 2, 0, 16))}
    whole_prompt: dict[str, Any] = {**PROMPT, "key": WHOLE_KEY, "value": WHOLE_VALUE, **none, "n": 3}
    for name, kinds in {"tensor": BY_TENSOR, "channel": BY_CHANNEL}.items():
        sentence = PER_TENSOR if name == "tensor" else PER_CHANNEL
        case(f"{type_}_by_{name}", Tag.DTYPE, **{**STEP, **WHOLE, **old}, **kinds, cites=(*OF_QUANTIZED, sentence))
        case(f"{type_}_by_{name}_prompt", Tag.DTYPE, **whole_prompt, **kinds, cites=(*OF_QUANTIZED, BROADCAST))
    mixed: dict[str, Any] = {**BY_CHANNEL, "k_scale": [0.03125], "k_quant_type": "PER_TENSOR"}
    case(f"{type_}_mixed", Tag.DTYPE, **{**STEP, **WHOLE, **old}, **mixed, cites=(PER_TENSOR, PER_CHANNEL))
    case(f"{type_}_rounded", Tag.EDGE, **{**STEP, **old}, **BY_TENSOR, unspecified=QUANTIZED_READS)
    case(
        f"{type_}_without_scales",
        **{**STEP, **WHOLE, **old},
        **{**BY_TENSOR, "k_scale": None, "v_scale": None},
        rejects=NEEDS_SCALES,
    )
    case(f"{type_}_as_none", Tag.EDGE, **{**STEP, **WHOLE, **old}, unspecified=UNQUANTIZED)
QUANTIZED_STEP: dict[str, Any] = {
    **STEP,
    **WHOLE,
    "past_key": typed("int8", STORED_KEY),
    "past_value": typed("int8", STORED_VALUE),
}
AT_LIMITS = np.resize([127, -128, 1, 0], (2, 1, 32)) / 32
case("int8_limits", Tag.EDGE, **{**QUANTIZED_STEP, "key": AT_LIMITS}, **BY_TENSOR, cites=QUANTIZED_READS)
for name, beyond in {"above": 128, "below": -129}.items():
    outside: dict[str, Any] = {**QUANTIZED_STEP, "key": np.resize([beyond, 1, 0], (2, 1, 32)) / 32}
    case(f"int8_{name}_limits", Tag.EDGE, **outside, **BY_TENSOR, unspecified=QUANTIZED_READS)
case("scale_of_other_shape", **QUANTIZED_STEP, **{**BY_TENSOR, "k_scale": [1, 1]}, rejects=BROADCAST)
case("scale_of_rank5", **QUANTIZED_STEP, **{**BY_TENSOR, "k_scale": [[[[[1]]]]]}, rejects=BROADCAST)
case("scales_of_channels_for_tensor", **QUANTIZED_STEP, **{**BY_TENSOR, "k_scale": STEPS}, rejects=PER_TENSOR)
case("scale_of_tensor_for_channels", **QUANTIZED_STEP, **{**BY_CHANNEL, "k_scale": [1]}, rejects=PER_CHANNEL)
case("bits_of_int8", Tag.EDGE, **QUANTIZED_STEP, **{**BY_TENSOR, "kv_cache_bit_width": 4}, unspecified=BITS)
case("bits_of_float", Tag.EDGE, **STEP, kv_cache_bit_width=8, unspecified=BITS)
case("bits_of_16", **STEP, kv_cache_bit_width=16, rejects=BITS)
case("quantized_float", Tag.EDGE, **STEP, k_quant_type="PER_TENSOR", k_scale=[1], unspecified=UNQUANTIZED)
case("kind_of_keys", **STEP, k_quant_type=vary(unknown="PER_HEAD", lower_case="none"), rejects=K_KINDS)
case("kind_of_values", **STEP, v_quant_type=vary(unknown="PER_HEAD", lower_case="none"), rejects=V_KINDS)
NIBBLES: dict[str, Any] = {
    "past_key": typed("uint8", ramp(2, 2, 0, 8)),
    "past_value": typed("uint8", ramp(2, 2, 0, 8)),
    "key": np.arange(192).reshape(2, 3, 32) % 7 / 8,
    "value": np.arange(192).reshape(2, 3, 32) * 5 % 8 / 4,
    "k_scale": [0.125],
    "v_scale": [0.25],
    "k_quant_type": "PER_TENSOR",
    "v_quant_type": "PER_TENSOR",
    "kv_cache_bit_width": 4,
    "n": 3,
}
case("four_bits", Tag.DTYPE, **{**PROMPT, **NIBBLES}, cites=(FOUR_BITS, BITS))
CACHED_NIBBLES: dict[str, Any] = {
    **NIBBLES,
    **STEP,
    "past_key": typed("uint8", ramp(2, 2, 5, 8)),
    "past_value": typed("uint8", ramp(2, 2, 5, 8)),
}
NEGATIVE_KEYS = np.asarray(NIBBLES["key"]) - 0.125
case("four_bits_negative", Tag.EDGE, **{**PROMPT, **NIBBLES, "key": NEGATIVE_KEYS}, unspecified=QUANTIZED_READS)
ODD_SIZE: dict[str, Any] = {"query": waves(2, 3, 60), "key": ramp(2, 3, 30), "value": ramp(2, 3, 30)}
ODD_PAST = {name: typed("uint8", ramp(2, 2, 0, 7)) for name in PAST}
case("four_bits_of_odd_size", Tag.EDGE, **{**PROMPT, **NIBBLES, **ODD_SIZE, **ODD_PAST}, unspecified=FOUR_BITS)
case("four_bits_step", Tag.EDGE, **CACHED_NIBBLES, unspecified=FOUR_BITS)

case("each_type", Tag.DTYPE, each="T", **PROMPT, n=3, cites=OUTPUT)
case("each_type_step", Tag.DTYPE, each="T", **STEP, **TURNED, cites=(OUTPUT, *PRESENTS))
OTHER_CACHE: dict[str, Any] = {"query": typed("float16", QUERY[:, :1]), "key": typed("float16", KEY[:, :1])}
OTHER_CACHE = {**STEP, **OTHER_CACHE, "value": typed("float16", VALUE[:, :1])}
OTHER_PAST = {name: typed("float", waves(2, 2, 5, 16)) for name in PAST}
case("other_float_cache", Tag.EDGE, **{**OTHER_CACHE, **OTHER_PAST}, unspecified=SAME_FORMAT)

case("query", **{**PROMPT, "query": vary(of_rank2=ramp(3, 64), of_rank4=ramp(2, 3, 4, 16))}, rejects=OF_QUERY)
case("packed_not_divided", **{**PROMPT, **PACKED, "query": ramp(2, 3, 47)}, rejects=OF_QUERY)
case("key_of_rank4", **{**PROMPT, "key": ramp(2, 2, 3, 16), "value": ramp(2, 2, 3, 16)}, rejects=OF_KEY)
case("key_of_other_batch", **{**PROMPT, "key": ramp(1, 3, 32), "value": ramp(1, 3, 32)}, rejects=OF_KEY)
case("value_of_other_length", **{**PROMPT, "value": ramp(2, 4, 32)}, rejects=OF_KEY)
case("past_of_other_heads", **{**STEP, "past_key": ramp(2, 4, 5, 16), "past_value": ramp(2, 4, 5, 16)}, rejects=FORMAT)
case("past_of_other_format", **{**STEP, "past_key": ramp(2, 5, 2, 16), "past_value": ramp(2, 5, 2, 16)}, rejects=FORMAT)
case("past_value_of_other_length", **{**STEP, "past_value": ramp(2, 2, 4, 16)}, rejects=OF_PAST_VALUE)
case("lengths_of_three", **{**PROMPT, "seqlens_k": [2, 2, 2]}, rejects=LENGTHS)
case("total_of_more", **{**PROMPT, "total_sequence_length": 4}, rejects=TOTAL)
case("total_of_less", **{**STEP, "total_sequence_length": 5}, rejects=TOTAL)
case("total_as_matrix", **{**PROMPT, "total_sequence_length": [[3]]}, rejects=TOTAL)
case("total_as_vector", Tag.EDGE, **{**PROMPT, "total_sequence_length": [3]}, cites=TOTAL)
BATCHED: dict[str, Any] = {**PROMPT, **PAST, "seqlens_k": [7, 7], "total_sequence_length": 8, "n": 3}
case("chunks_of_batch", **BATCHED, rejects=ONE_BATCH)
case("chunks_of_one_with_past", **{**BATCHED, "seqlens_k": [7, 2]}, rejects=ONE_BATCH)
case("sliding_chunks_of_batch", **BATCHED, **SLIDES, rejects=ONE_BATCH_OF_WINDOW)
case("past_of_rank3", **{**STEP, "past_key": ramp(4, 5, 16), "past_value": ramp(4, 5, 16)}, rejects=OF_PAST_KEY)
case("bias_of_rank3", **PROMPT, attention_bias=ramp(4, 3, 3), rejects=ADDED)
case("bias_of_three_batches", **PROMPT, attention_bias=ramp(3, 4, 3, 3), rejects=ADDED)
case("bias_of_two_heads", **PROMPT, attention_bias=ramp(1, 2, 3, 3), rejects=ADDED)
case("bias_of_fewer_keys", **STEP, attention_bias=ramp(1, 4, 1, 5), rejects=ADDED)
case("sink_of_other_size", **PROMPT, head_sink=[1, 2], rejects=SINK)
WRONG_ANGLES: dict[str, dict[str, Any]] = {
    "of_other_size": angles(4, 2),
    "of_two_lengths": {**angles(4), "cos_cache": np.ones((5, 8))},
    "of_rank3": {"cos_cache": ramp(1, 4, 8), "sin_cache": ramp(1, 4, 8)},
}
for name, wrong in WRONG_ANGLES.items():
    case(f"caches_{name}", **PROMPT, do_rotary=1, **wrong, rejects=CACHES)
case("positions_of_one_batch", **PROMPT, **TURNED, position_ids=[[0, 1, 2]], rejects=POSITIONS)
case("positions_unused_as_vector", **PROMPT, position_ids=[0, 1, 2], rejects=POSITIONS)
case("causal_two", **PROMPT, causal=2, rejects=CAUSAL)
case("window_bidirectional", **PROMPT, causal=0, local_window_size=2, rejects=NO_WINDOW)
for name, number in {"zero": 0.0, "negative": -1e-6, "infinite": math.inf}.items():
    case(f"q_epsilon_{name}", **PROMPT, q_norm_epsilon=number, rejects=POSITIVE_Q)
    case(f"k_epsilon_{name}", **PROMPT, k_norm_epsilon=number, rejects=POSITIVE_K)
case("q_norm_alone", **PROMPT, q_norm_weight=np.ones(16), rejects=NORM_TOGETHER)
case("k_norm_alone", **PROMPT, k_norm_weight=np.ones(16), rejects=NORM_TOGETHER)
case("q_norm_of_other_size", **PROMPT, q_norm_weight=np.ones(5), k_norm_weight=np.ones(16), rejects=Q_NORM)

case(
    "norms",
    **PROMPT,
    q_norm_weight=np.ones(16),
    k_norm_weight=np.ones(16),
    cites=NORM_ELSEWHERE,
    unspecified=NORM_ELSEWHERE,
)
EPSILONS = vary(negative=-1e-6, none=0.0, infinite=math.inf)
case("epsilon", Tag.EDGE, **PROMPT, qk_norm_epsilon=EPSILONS, unspecified=EPSILON)
case("epsilons_without_norm", **PROMPT, q_norm_epsilon=1e-5, k_norm_epsilon=1e-5, cites=(POSITIVE_Q, POSITIVE_K))
case("epsilon_default", **PROMPT, qk_norm_epsilon=1e-6, cites=EPSILON)
case("none", **STEP, k_quant_type="NONE", v_quant_type="NONE", cites=(UNQUANTIZED, K_KINDS, V_KINDS))
HEAD_COUNTS = {"no_multiple": (3, 2), "none": (0, 2), "no_keys": (4, 0), "negative": (-4, -2)}
for name, (own, shared) in HEAD_COUNTS.items():
    case(f"heads_{name}", Tag.EDGE, **{**PROMPT, "num_heads": own, "kv_num_heads": shared}, unspecified=GROUPED)
NO_SIZE: dict[str, Any] = {"query": ramp(2, 3, 0), "key": ramp(2, 3, 0), "value": ramp(2, 3, 0)}
case("heads_without_elements", Tag.EDGE, **{**PROMPT, **NO_SIZE}, unspecified=OF_QUERY)
case("query_not_divided", Tag.EDGE, **{**PROMPT, "query": ramp(2, 3, 22)}, unspecified=OF_QUERY)
case("key_of_other_size", Tag.EDGE, **{**PROMPT, "key": ramp(2, 3, 10), "value": ramp(2, 3, 10)}, unspecified=OF_KEY)
case("key_alone", **{**PROMPT, "value": None}, unspecified=OF_KEY)
OTHER_KEYS: dict[str, Any] = {"key": ramp(2, 4, 32), "value": ramp(2, 4, 32)}
case("more_keys", **{**PROMPT, **OTHER_KEYS}, unspecified=OF_KEY)
case("past_key_alone", **{**STEP, "past_value": None}, unspecified=OF_PAST_KEY)
case("shared_cache", **{**STEP, "seqlens_k": [3, 4], "total_sequence_length": 5}, unspecified=OF_PAST_KEY)
case("lengths_negative", Tag.EDGE, **{**PROMPT, "seqlens_k": [2, -1]}, unspecified=LENGTHS)
case("rotary_without_caches", **PROMPT, do_rotary=1, unspecified=CACHES)
case("rotary_without_sines", **PROMPT, do_rotary=1, cos_cache=np.ones((4, 8)), unspecified=CACHES)
case("rotary_without_cosines", **PROMPT, do_rotary=1, sin_cache=np.ones((4, 8)), unspecified=CACHES)
case("rotary_beyond_caches", Tag.EDGE, **PROMPT, do_rotary=1, **angles(2), unspecified=CACHES)
case("rotary_negative", Tag.EDGE, **STEP, **TURNED, position_ids=[[5], [-1]], unspecified=CACHES)
case("rotary_two", Tag.EDGE, **{**PROMPT, **TURNED, "do_rotary": 2}, unspecified=ROTARY)
case("interleaved_two", Tag.EDGE, **PROMPT, **TURNED, rotary_interleaved=2, unspecified=INTERLEAVED)
case("positions_of_mixed_prompt", **PROMPT, **TURNED, position_ids=[[0, 2, 1]] * 2, unspecified=POSITIONS)
case("window", Tag.EDGE, **PROMPT, local_window_size=vary(none=0, below=-2), unspecified=NO_WINDOW)
case("sliding_two", Tag.EDGE, **STEP, sliding_window_cache=2, local_window_size=3, unspecified=SLIDING)
case("sliding_without_past", Tag.EDGE, **PROMPT, **SLIDES, unspecified=SLIDING)
case("smooth", **PROMPT, smooth_softmax=1, unspecified=SMOOTH)
case("not_smooth", **PROMPT, smooth_softmax=0, cites=GROUPED)
case("softcap_negative", Tag.EDGE, **PROMPT, softcap=-1.0, unspecified=SOFTCAP)
case("softcap_added", **PROMPT, softcap=1.5, attention_bias=waves(1, 4, 3, 3), unspecified=SOFTCAP)
case("sink_alone", **PROMPT, head_sink=[0.5, -1, 2, 0], unspecified=SINK)
case("qk_output_0", Tag.EDGE, **{**PROMPT, "n": 4}, qk_output=0, unspecified=QK_OUTPUT)

OF_SIZES: dict[str, Any] = {
    "query": filled("b", "q", ("h", "share", "d")),
    "key": filled("b", "q", ("h", "d")),
    "value": filled("b", "q", ("h", "d")),
    "num_heads": lambda sizes: sizes["h"] * sizes["share"],
    "kv_num_heads": lambda sizes: sizes["h"],
}
FULL: dict[str, Any] = {
    "seqlens_k": lambda sizes: [sizes["q"] + sizes.get("past", 0) - 1] * sizes["b"],
    "total_sequence_length": lambda sizes: sizes["q"] + sizes.get("past", 0),
}
PROMPTS = grid(b=(2,), h=(1, 2), share=(1, 4), q=(1, 8, 33, 130), d=(16, 64))
GQA.sized("prompt", PROMPTS[::2], n=3, each="T", cites=(GROUPED, CAUSAL), arguments={**OF_SIZES, **FULL})
OF_CACHE: dict[str, Any] = {
    "past_key": filled("b", "h", "past", "d", type_="{T}"),
    "past_value": filled("b", "h", "past", "d", type_="{T}"),
}
DECODED = grid(b=(2,), h=(2,), share=(1, 4), q=(1,), d=(16, 64), past=(1, 17, 128))
GQA.sized("step", DECODED, n=3, each="T", cites=(GROUPED, *PRESENTS), arguments={**OF_SIZES, **FULL, **OF_CACHE})
ROTATED: dict[str, Any] = {
    "do_rotary": 1,
    "cos_cache": filled(160, "half", floats=(-1, 1)),
    "sin_cache": filled(160, "half", floats=(-1, 1)),
}
TURNS = [{**sizes, "half": sizes["d"] // 2} for sizes in DECODED[::2]]
GQA.sized(
    "rotated_step", TURNS, n=3, each="T", cites=(ROTARY, CACHES), arguments={**OF_SIZES, **FULL, **OF_CACHE, **ROTATED}
)
