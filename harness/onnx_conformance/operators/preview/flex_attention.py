# SPDX-License-Identifier: Apache-2.0
"""FlexAttention: softmax(Q K^T scale) V, with subgraphs that change scores and probabilities.

    Y = FlexAttention(Q, K, V, scale=None, softmax_precision=None, score_mod=None, prob_mod=None)

Version: 1 of ai.onnx.preview. The model of a case imports only the domain of the operator, so FlexAttention is the only
operator available in subgraphs. With one key, it returns the value of that key for every query. With more keys, its
result is a function of the query.
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare import (
    Array,
    Int,
    Op,
    Rule,
    Subgraph,
    Tag,
    Version,
    element_type,
    graph,
    measured,
    ramp,
    typed,
    vary,
)
from onnx_conformance.declare.rounding import rounding_as
from onnx_conformance.declare.sizes import filled, grid

PRECISIONS = {1: "float", 10: "float16", 11: "double", 16: "bfloat16"}
DTYPES = {"float": np.float32, "float16": np.float16, "double": np.float64, "bfloat16": ml_dtypes.bfloat16}


def _probabilities(scores: Array) -> Array:
    """Return Softmax over the last axis.

    The largest score is first subtracted from all scores, which does not change the result.
    """
    with np.errstate(all="ignore"):
        exponential = np.exp(scores - scores.max(-1, keepdims=True, initial=-np.inf))
        return np.asanyarray(exponential / exponential.sum(-1, keepdims=True))


def _by_query_head(values: Array, heads: int) -> Array:
    """Return K or V with one head for each query head h: the head floor(h / group_size)."""
    group_size = heads // values.shape[1]
    return values[:, np.arange(heads) // group_size]


def _factor(head_size: int, scale: float | None) -> float:
    """Return the factor of the scores. The default without a scale is 1/sqrt(head_size)."""
    return 1 / math.sqrt(head_size) if scale is None else scale


def _modified(modify: Subgraph, values: Array, precision: np.dtype[Any]) -> Array:
    """Return the result that a subgraph computes from values of this precision."""
    (result,) = modify(values.astype(precision))
    return rounding_as(np.asarray(result, np.float64), values)


FLEX = Op(
    "FlexAttention",
    domain="ai.onnx.preview",
    versions=(1,),
    compare=measured("sums, exponentials and the precision of the softmax round", stage="softmax_precision"),
    rank=lambda _: 4,
)

COMPUTES = FLEX.clause("Computes scaled dot-product attention over rank-4 (batched, multi-head) inputs")
RANK = FLEX.clause("Input Shapes (MUST be rank-4 tensors):")
QUERY = FLEX.clause("- Q: `(batch_size, q_num_heads, q_sequence_length, head_size)`")
KEY = FLEX.clause("- K: `(batch_size, kv_num_heads, kv_sequence_length, head_size)`")
VALUE = FLEX.clause("- V: `(batch_size, kv_num_heads, kv_sequence_length, v_head_size)`")
OUTPUT = FLEX.clause("- Y: `(batch_size, q_num_heads, q_sequence_length, v_head_size)`")
FORMULA = FLEX.clause(
    "Scores = (Q @ K^T) * scale Scores = score_mod(Scores) # if 'score_mod' is provided Probs = Softmax(Scores, "
    "axis=-1) Probs = prob_mod(Probs) # if 'prob_mod' is provided Y = Probs @ V",
    note="The formula is one of real numbers. A score of +inf has no probability, and neither has a row of scores that "
    "are all -inf.",
)
SHARED = FLEX.clause(
    "each K/V head is shared by a contiguous group of query heads in head-index order. Let `group_size = q_num_heads / "
    "kv_num_heads`; then query head `h` uses K/V head `floor(h / group_size)`."
)
MULTIPLE = FLEX.clause("`q_num_heads` must be a multiple of `kv_num_heads`.")
EXACTLY = FLEX.clause(
    "Each modifier subgraph takes exactly one rank-4 tensor input and must produce exactly one rank-4 tensor output of "
    "the same shape and element type."
)
SCORES = FLEX.clause(
    "- score_mod input/output shape: `(batch_size, q_num_heads, q_sequence_length, kv_sequence_length)`"
)
PROBS = FLEX.clause("- prob_mod input/output shape: `(batch_size, q_num_heads, q_sequence_length, kv_sequence_length)`")
ELEMENTS = FLEX.clause(
    "The element type is determined by softmax_precision (defaults to float32 for non-double inputs, otherwise double)."
)
MASKING = FLEX.clause("Masking can be expressed in score_mod by writing masked positions as -inf")
PRESERVE = FLEX.clause("The output must preserve the input shape.")
PRECISION = FLEX.clause("Floating-point precision for softmax computation.")
PRECISION_DEFAULT = FLEX.clause("Defaults to float32 for non-double inputs, otherwise uses double.")
EXPLICIT = FLEX.clause(
    "Must be explicitly specified for non-float types.", note="T1 does not allow any of these types."
)
SCALE = FLEX.clause(
    "Scaling factor for Q*K^T. Defaults to 1/sqrt(head_size).",
    note="The text does not define whether the default is rounded to float like the attribute. This matters only for "
    "double, so the cases for double have a head_size whose root is exact. onnx.reference computes the root of the "
    "scale in float, and returns NaN for a negative scale.",
)
FLEX.dispute("The function body of onnx rounds the square root of the default scale to float.", "dtypes_groups")
FLEX.dispute("The function body of onnx computes the square root of a negative scale.", "scale_negative")
FLEX.dispute("The function body of onnx reshapes with 0, which means that the input's dimension is copied.", "zero_*")
FLOATS = FLEX.clause("Constrain Q, K, V to float tensors.")


def _checked(v: Version, modify: Subgraph, values: Array, precision: str) -> Array:
    """Return the scores or probabilities that a subgraph computes, in the precision of the softmax."""
    v.require(EXACTLY, len(modify.inputs) == 1 and list(modify.outputs) == [f"tensor({precision})"])
    result = _modified(modify, values, np.dtype(DTYPES[precision]))
    v.require(PRESERVE, result.shape == values.shape)
    return result


@FLEX.oracle()
def attention(
    v: Version,
    Q: Array,
    K: Array,
    V: Array,
    scale: float | None,
    softmax_precision: Int,
    score_mod: Subgraph | None,
    prob_mod: Subgraph | None,
) -> Array:
    """Return Y."""
    v.require(RANK, Q.ndim == K.ndim == V.ndim == 4)  # noqa: PLR2004 - as in the sentence
    v.require(KEY, K.shape[0] == Q.shape[0] and K.shape[3] == Q.shape[3])
    v.require(VALUE, V.shape[:3] == K.shape[:3])
    v.require(MULTIPLE, K.shape[1] > 0 and Q.shape[1] % K.shape[1] == 0)
    v.require(PRECISION, softmax_precision is None or softmax_precision in PRECISIONS)
    precision = PRECISIONS[softmax_precision or (11 if v.dtypes["T1"] == np.float64 else 1)]
    keys, values = _by_query_head(K, Q.shape[1]), _by_query_head(V, Q.shape[1])
    v.silent(SCALE, Q.shape[3] == 0 and scale is None)
    scores = Q @ keys.transpose(0, 1, 3, 2) * _factor(Q.shape[3], scale)
    if score_mod is not None:
        scores = _checked(v, score_mod, scores, precision)
    no_probability = np.isposinf(scores).any() or (scores == -np.inf).all(-1).any()
    v.silent(FORMULA, bool(no_probability) and scores.shape[3] > 0)
    probs = _probabilities(scores)
    if prob_mod is not None:
        probs = _checked(v, prob_mod, probs, precision)
    return np.asarray(probs @ values)


case = FLEX.case


def _wave(*shape: int, turn: float = 1.7) -> Array:
    """Return values between -1.5 and 1.5. All rows are different."""
    return np.asarray(np.sin(np.arange(math.prod(shape)) * turn + turn).reshape(shape) * 1.5)


def _inputs(
    *,
    batch: int = 1,
    heads: int = 2,
    kv_heads: int = 2,
    queries: int = 3,
    keys: int = 4,
    size: int = 5,
    v_size: int = 6,
) -> dict[str, Any]:
    """Return Q, K and V of these sizes."""
    return {
        "Q": _wave(batch, heads, queries, size),
        "K": _wave(batch, kv_heads, keys, size, turn=0.9),
        "V": _wave(batch, kv_heads, keys, v_size, turn=2.3),
    }


def _above_zero(**sizes: int) -> dict[str, Any]:
    """Return Q, K and V of these sizes. V is above 0.

    The sums therefore do not cancel out, and a type with few bits keeps some of their digits.
    """
    inputs = _inputs(**sizes)
    return inputs | {"V": np.abs(inputs["V"]) + 0.25}


SIZES = {"batch": 2, "heads": 3, "kv_heads": 3, "queries": 4, "keys": 5, "size": 16, "v_size": 7}
USUAL: dict[str, Any] = _inputs(**SIZES)
Q, K, V = USUAL["Q"], USUAL["K"], USUAL["V"]
# Both scales have an exact root; see the disputes.
FLEX.example(**_above_zero(batch=1, heads=4, kv_heads=2, queries=3, keys=5, size=16, v_size=7), scale=0.25)

case("usual", **USUAL, cites=(COMPUTES, FORMULA, QUERY, KEY, VALUE, OUTPUT, PRECISION_DEFAULT))
case("more_queries", Tag.EDGE, **_inputs(queries=7, keys=3, size=4, v_size=5), cites=(FORMULA, OUTPUT))
case("one_key", Tag.EDGE, **_inputs(batch=2, heads=1, kv_heads=1, keys=1, size=4, v_size=5), cites=(FORMULA, OUTPUT))
case("one_query", Tag.EDGE, **_inputs(batch=2, heads=3, kv_heads=3, queries=1, keys=5, size=4), cites=(FORMULA, OUTPUT))
case("head_size_one", Tag.EDGE, **_inputs(size=1, v_size=5), cites=(FORMULA, OUTPUT))
case("value_size_one", Tag.EDGE, **_inputs(v_size=1), cites=(FORMULA, OUTPUT))
case("all_one", Tag.EDGE, **_inputs(heads=1, kv_heads=1, queries=1, keys=1, size=1, v_size=1), cites=(FORMULA, OUTPUT))
case("zero_batch", Tag.EDGE, **_inputs(batch=0), cites=OUTPUT)
case("zero_queries", Tag.EDGE, **_inputs(queries=0), cites=OUTPUT)
case("zero_value_size", Tag.EDGE, **_inputs(v_size=0), cites=OUTPUT)
case("zero_keys", Tag.EDGE, **_inputs(keys=0), cites=OUTPUT)
case("zero_head_size", Tag.EDGE, **_inputs(size=0), unspecified=SCALE)
for heads, kv_heads in ((4, 2), (6, 2), (6, 3), (3, 1)):
    groups = _inputs(batch=2, heads=heads, kv_heads=kv_heads, v_size=7)
    case(f"groups_{heads}_{kv_heads}", **groups, cites=(SHARED, MULTIPLE))
case("scale", Tag.EDGE, **USUAL, scale=vary(one=1.0, half=0.5, zero=0.0, negative=-0.75), cites=SCALE)
case("large", Tag.EDGE, Q=Q * 200.0, K=K, V=V, scale=1.0, cites=FORMULA)
case(
    "large_scores",
    Tag.EDGE,
    Q=[[[[800.0]]]],
    K=[[[[1.0], [0.9990234375]]]],
    V=[[[[3.0, -1.0], [0.5, 2.0]]]],
    scale=1.0,
    cites=FORMULA,
)
case(
    "infinite_score",
    Tag.EDGE,
    Q=[[[[np.inf]]]],
    K=_wave(1, 1, 2, 1, turn=0.9),
    V=_wave(1, 1, 2, 3, turn=2.3),
    unspecified=FORMULA,
)
case("infinite_score_of_one_key", Tag.EDGE, Q=[[[[np.inf]]]], K=[[[[1.0]]]], V=[[[[2.0, 3.0]]]], unspecified=FORMULA)
case("nan", Tag.EDGE, Q=Q, K=K, V=np.where(V.max() == V, np.nan, V), cites=FORMULA)
case(
    "precision",
    **USUAL,
    softmax_precision=vary(**{name: element_type(name) for name in ("float", "float16", "double")}),
    cites=PRECISION,
)
BFLOAT16 = element_type("bfloat16")
case("precision_bfloat16", **_above_zero(**SIZES), softmax_precision=BFLOAT16, cites=PRECISION)
case("dtypes", Tag.DTYPE, each="T1", **_above_zero(**SIZES), cites=FLOATS)
case(
    "dtypes_groups",
    Tag.DTYPE,
    each="T1",
    **_above_zero(heads=4, kv_heads=2, keys=5, size=16, v_size=7),
    scale=0.3,
    cites=FLOATS,
)

# Subgraphs
BIAS = _wave(4, 5, turn=3.1)
MASK = np.where(np.sort(BIAS)[:, 3:4] < BIAS, -np.inf, BIAS)
DROPPED = np.where(np.sort(BIAS)[:, 3:4] < BIAS, 0.0, 1.25)
TANH = graph("m (float[] x) => (float[] y) { y = Tanh (x) }")
ADD = graph("m (float[] x) => (float[] y) { y = Add (x, m) }")
MUL = graph("m (float[] x) => (float[] y) { y = Mul (x, m) }")
case("score_mod", **USUAL, score_mod=TANH, cites=(SCORES, ELEMENTS, EXACTLY))
case("score_mod_bias", **USUAL, score_mod=ADD, around={"m": BIAS}, cites=SCORES)
case("score_mod_by_head", **USUAL, score_mod=MUL, around={"m": _wave(3, 1, 1)}, cites=SCORES)
case(
    "score_mod_ignores",
    Tag.EDGE,
    **USUAL,
    score_mod=graph("m (float[] x) => (float[] y) { y = Identity (m) }"),
    around={"m": _wave(2, 3, 4, 5)},
    cites=SCORES,
)
case("masked", **USUAL, score_mod=ADD, around={"m": MASK}, cites=MASKING)
case("masked_by_large", Tag.EDGE, **USUAL, score_mod=ADD, around={"m": np.maximum(MASK, -1e30)}, cites=MASKING)
case("masked_all", Tag.EDGE, **USUAL, score_mod=ADD, around={"m": MASK - np.inf}, unspecified=FORMULA)
case("prob_mod", **USUAL, prob_mod=TANH, cites=(PROBS, EXACTLY))
case("prob_mod_drops", **USUAL, prob_mod=MUL, around={"m": DROPPED}, cites=PROBS)
case(
    "both",
    **USUAL,
    score_mod=ADD,
    prob_mod=graph("m (float[] x) => (float[] y) { y = Mul (x, x) }"),
    around={"m": MASK},
    cites=FORMULA,
)
TANH_OF_DOUBLE = graph("m (double[] x) => (double[] y) { y = Tanh (x) }")
case(
    "score_mod_double",
    Tag.DTYPE,
    Q=typed("double", Q),
    K=typed("double", K),
    V=typed("double", V),
    score_mod=TANH_OF_DOUBLE,
    cites=ELEMENTS,
)
case(
    "score_mod_precision",
    Tag.DTYPE,
    **USUAL,
    score_mod=TANH_OF_DOUBLE,
    softmax_precision=11,
    cites=(ELEMENTS, PRECISION),
)
case("score_mod_other_type", Tag.DTYPE, **USUAL, score_mod=TANH_OF_DOUBLE, rejects=EXACTLY)
TOO_MANY_OR_FEW = vary(
    takes_two=graph("m (float[] x, float[] z) => (float[] y) { y = Identity (k) }"),
    takes_none=graph("m () => (float[] y) { y = Identity (k) }"),
    gives_two=graph("m (float[] x) => (float[] y, float[] k) { y = Identity (k) }"),
)
AROUND = {"k": _wave(2, 3, 4, 5)}
case("score_mod", Tag.EDGE, **USUAL, score_mod=TOO_MANY_OR_FEW, around=AROUND, rejects=EXACTLY)
case("prob_mod", Tag.EDGE, **USUAL, prob_mod=TOO_MANY_OR_FEW, around=AROUND, rejects=EXACTLY)
TWICE_AS_WIDE = graph("m (float[] x) => (float[] y) { y = Concat <axis: int = 3> (x, x) }")
case("score_mod_of_other_shape", Tag.EDGE, **USUAL, score_mod=TWICE_AS_WIDE, rejects=PRESERVE)
case("prob_mod_of_other_shape", Tag.EDGE, **USUAL, prob_mod=TWICE_AS_WIDE, rejects=PRESERVE)

# Shapes, types and precisions that do not match
case("wrong_rank3", Tag.EDGE, Q=Q[0], K=K[0], V=V[0], rejects=RANK)
case("wrong_query_rank3", Tag.EDGE, Q=_wave(3, 4, 16), K=K, V=V, rejects=RANK)
case("wrong_value_rank5", Tag.EDGE, Q=Q, K=K, V=_wave(2, 3, 5, 7, 1), rejects=RANK)
case("wrong_head_size", Tag.EDGE, Q=Q, K=_wave(2, 3, 5, 4), V=V, rejects=KEY)
case("wrong_batch", Tag.EDGE, Q=_wave(1, 3, 4, 16), K=K, V=V, rejects=KEY)
case(
    "wrong_value",
    Tag.EDGE,
    Q=Q,
    K=K,
    V=vary(batch=_wave(1, 3, 5, 7), heads=_wave(2, 1, 5, 7), keys=_wave(2, 3, 4, 7)),
    rejects=VALUE,
)
case("wrong", Tag.EDGE, Q=vary(heads=_wave(2, 4, 4, 16), fewer_heads=_wave(2, 1, 4, 16)), K=K, V=V, rejects=MULTIPLE)
case("wrong_no_heads_of_keys", Tag.EDGE, Q=Q, K=_wave(2, 0, 5, 16), V=_wave(2, 0, 5, 7), rejects=MULTIPLE)
case("wrong_precision", Tag.EDGE, **USUAL, softmax_precision=vary(int64=7, bool=9), rejects=PRECISION)
case("wrong_other_type", Tag.EDGE, Q=Q, K=typed("double", K), V=V, rejects=Rule.TYPES)
case("outside", Tag.DTYPE, outside="T1", Q=ramp(1, 1, 2, 3), K=ramp(1, 1, 4, 3), V=ramp(1, 1, 4, 2), rejects=EXPLICIT)

FLEX.sized(
    "heads",
    grid(b=(2,), h=(1, 2), share=(1, 4), q=(5, 17, 65), k=(33,), d=(16, 65)),
    each="T1",
    cites=(FORMULA, SHARED),
    arguments={
        "Q": filled("b", ("h", "share"), "q", "d"),
        "K": filled("b", "h", "k", "d"),
        "V": filled("b", "h", "k", "d"),
        "scale": 0.25,
    },
)
