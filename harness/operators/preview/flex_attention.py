"""FlexAttention (ai.onnx.preview): softmax(Q K^T scale) V, with subgraphs that change scores and probabilities.

Version: 1. A model of a case imports the operator's own domain alone, so that its subgraphs have no other operator
than FlexAttention: of one key, it gives the value of that key whatever the query, and of more it is a function of it.
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from harness.declare import Array, Int, Op, Rule, Subgraph, Tag, Version, bounded, element_type, graph, ramp, typed
from harness.operators.preview._attention import by_query_head, factor, off_scores, probabilities

PRECISIONS = {1: "float", 10: "float16", 11: "double", 16: "bfloat16"}
DTYPES = {"float": np.float32, "float16": np.float16, "double": np.float64, "bfloat16": ml_dtypes.bfloat16}
COARSE = {10: 2.0**13, 16: 2.0**16}
"""How many epsilons of float, which the cases of such a precision have, make one of its own."""

Maybe = Subgraph | None


def _rounding(
    Q: Array, K: Array, V: Array, scale: float | None,  # noqa: N803 - the text's own names
    softmax_precision: Int, score_mod: Maybe, prob_mod: Maybe,
) -> list[Array]:  # fmt: skip
    """Return what sums of head_size products bring to a score, and these, exp and two sums more to Y."""
    keys, values = (by_query_head(item, Q.shape[1]) for item in (K, V))
    by, kept = factor(Q.shape[3], scale), np.dtype(DTYPES[PRECISIONS[softmax_precision or 1]])
    off = 3 * off_scores(Q, keys, by) + 1.5 * keys.shape[2] + 18
    scores = Q @ keys.swapaxes(2, 3) * by
    probs = probabilities(scores if score_mod is None else _modified(score_mod, scores, kept))
    probs = probs if prob_mod is None else _modified(prob_mod, probs, kept)
    slack = (4 if score_mod or prob_mod else 1) * COARSE.get(softmax_precision or 0, 1)
    return [np.nan_to_num(slack * off * (np.abs(probs) @ np.abs(values)), nan=0, posinf=0)]


def _modified(modify: Any, values: Array, kept: np.dtype[Any]) -> Array:  # noqa: ANN401 - a Subgraph
    return np.asarray(modify(values.astype(kept))[0], np.float64)


FLEX = Op(
    "FlexAttention",
    domain="ai.onnx.preview",
    versions=(1,),
    compare=bounded(_rounding, "sums of head_size and of kv_sequence_length terms in any order, exp of rounded scores"),
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
    note="Of real numbers. A score of +inf has no probability; where all are -inf there is none either.",
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
EXPLICIT = FLEX.clause("Must be explicitly specified for non-float types.", note="T1 has none of them.")
SCALE = FLEX.clause(
    "Scaling factor for Q*K^T. Defaults to 1/sqrt(head_size).",
    note="Says not whether the default is rounded to float as the attribute is, which matters to double alone: its "
    "cases have a head_size whose root is exact. onnx.reference takes its root, in float, and of a "
    "negative one gets NaN.",
)
FLEX.dispute("The function body of onnx rounds the root of the default scale to float.", "dtypes_groups")
FLEX.dispute("The function body of onnx takes the root of a negative scale.", "scale_negative")
FLEX.dispute("The function body of onnx reshapes with 0, which means the dimension at hand.", "zero_*")
FLOATS = FLEX.clause("Constrain Q, K, V to float tensors.")


def _checked(v: Version, modify: Subgraph, values: Array, name: str) -> Array:
    """Return what a modifier makes of scores or probabilities, in the precision of the softmax."""
    v.require(EXACTLY, len(modify.inputs) == len(modify.outputs) == 1)
    v.require(EXACTLY, modify.outputs[0] == f"tensor({name})")
    result = _modified(modify, values, np.dtype(DTYPES[name]))
    v.require(PRESERVE, result.shape == values.shape)
    return result


@FLEX.oracle()
def attention(
    v: Version, Q: Array, K: Array, V: Array, scale: float | None,  # noqa: N803
    softmax_precision: Int, score_mod: Maybe, prob_mod: Maybe,
) -> Array:  # fmt: skip
    """Return Y."""
    v.require(RANK, Q.ndim == K.ndim == V.ndim == 4)  # noqa: PLR2004 - as the sentence says
    v.require(KEY, K.shape[0] == Q.shape[0] and K.shape[3] == Q.shape[3])
    v.require(VALUE, V.shape[:3] == K.shape[:3])
    v.require(MULTIPLE, K.shape[1] > 0 and Q.shape[1] % K.shape[1] == 0)
    v.require(PRECISION, softmax_precision is None or softmax_precision in PRECISIONS)
    name = PRECISIONS[softmax_precision or (11 if v.dtypes["T1"] == np.float64 else 1)]
    keys, values = (by_query_head(item, Q.shape[1]) for item in (K, V))
    v.silent(SCALE, Q.shape[3] == 0 and scale is None)
    scores = Q @ keys.swapaxes(2, 3) * factor(Q.shape[3], scale)
    if score_mod is not None:
        scores = _checked(v, score_mod, scores, name)
    v.silent(FORMULA, bool(np.isposinf(scores).any() or (scores == -np.inf).all(-1).any()) and scores.shape[3] > 0)
    probs = probabilities(scores)
    if prob_mod is not None:
        probs = _checked(v, prob_mod, probs, name)
    return np.asarray(probs @ values)


case = FLEX.case


def _wave(*shape: int, turn: float = 1.7) -> Array:
    """Return values between -1.5 and 1.5, no two rows of which are alike."""
    return np.asarray(np.sin(np.arange(math.prod(shape)) * turn + turn).reshape(shape) * 1.5)


def _inputs(batch: int, heads: int, kv_heads: int, queries: int, keys: int, size: int, v_size: int) -> dict[str, Any]:
    return {
        "Q": _wave(batch, heads, queries, size),
        "K": _wave(batch, kv_heads, keys, size, turn=0.9),
        "V": _wave(batch, kv_heads, keys, v_size, turn=2.3),
    }


USUAL = _inputs(2, 3, 3, 4, 5, 16, 7)
case("usual", **USUAL, cites=(COMPUTES, FORMULA, QUERY, KEY, VALUE, OUTPUT, PRECISION_DEFAULT))
SIZES: dict[str, tuple[int, ...]] = {
    "more_queries": (1, 2, 2, 7, 3, 4, 5), "one_key": (2, 1, 1, 3, 1, 4, 5), "one_query": (2, 3, 3, 1, 5, 4, 6),
    "head_size_one": (1, 2, 2, 3, 4, 1, 5), "value_size_one": (1, 2, 2, 3, 4, 5, 1), "all_one": (1, 1, 1, 1, 1, 1, 1),
}  # fmt: skip
for name, sizes in SIZES.items():
    case(name, Tag.EDGE, **_inputs(*sizes), cites=(FORMULA, OUTPUT))
ZEROS = {"batch": (0, 2, 2, 3, 4, 5, 6), "queries": (1, 2, 2, 0, 4, 5, 6), "value_size": (1, 2, 2, 3, 4, 5, 0)}
for name, sizes in {**ZEROS, "keys": (1, 2, 2, 3, 0, 5, 6)}.items():
    case(f"zero_{name}", Tag.EDGE, **_inputs(*sizes), cites=(OUTPUT,))
case("zero_head_size", Tag.EDGE, **_inputs(1, 2, 2, 3, 4, 0, 6), unspecified=SCALE)
for heads, kv_heads in ((4, 2), (6, 2), (6, 3), (3, 1)):
    case(f"groups_{heads}_{kv_heads}", **_inputs(2, heads, kv_heads, 3, 4, 5, 7), cites=(SHARED, MULTIPLE))
for name, scale in {"one": 1.0, "half": 0.5, "zero": 0.0, "negative": -0.75}.items():
    case(f"scale_{name}", Tag.EDGE, **USUAL, scale=scale, cites=(SCALE,))
case("large", Tag.EDGE, **{**USUAL, "Q": USUAL["Q"] * 200.0}, scale=1.0, cites=(FORMULA,))
case("infinite_score", Tag.EDGE, **{**_inputs(1, 1, 1, 1, 2, 1, 3), "Q": [[[[np.inf]]]]}, unspecified=FORMULA)
case("nan", Tag.EDGE, **{**USUAL, "V": np.where(USUAL["V"] == USUAL["V"].max(), np.nan, USUAL["V"])}, cites=(FORMULA,))
for name in PRECISIONS.values():
    case(f"precision_{name}", **USUAL, softmax_precision=element_type(name), cites=(PRECISION,))
case("dtypes", Tag.DTYPE, each="T1", **USUAL, cites=(FLOATS,))
case("dtypes_groups", Tag.DTYPE, each="T1", **_inputs(1, 4, 2, 3, 5, 16, 7), scale=0.3, cites=(FLOATS,))


def _modifier(body: str = "Tanh (x)", inputs: str = "float[] x", outputs: str = "float[] y") -> Any:  # noqa: ANN401
    return graph(f"m ({inputs}) => ({outputs}) {{ y = {body} }}")


BIAS = _wave(4, 5, turn=3.1)
MASK = np.where(np.sort(BIAS)[:, 3:4] < BIAS, -np.inf, BIAS)
KEPT = np.where(np.sort(BIAS)[:, 3:4] < BIAS, 0.0, 1.25)
ADD, MUL = _modifier("Add (x, m)"), _modifier("Mul (x, m)")
case("score_mod", **USUAL, score_mod=_modifier(), cites=(SCORES, ELEMENTS, EXACTLY))
case("score_mod_bias", **USUAL, score_mod=ADD, around={"m": BIAS}, cites=(SCORES,))
case("score_mod_by_head", **USUAL, score_mod=MUL, around={"m": _wave(3, 1, 1)}, cites=(SCORES,))
case("score_mod_ignores", Tag.EDGE, **USUAL, score_mod=_modifier("Identity (m)"), around={"m": _wave(2, 3, 4, 5)})
case("masked", **USUAL, score_mod=ADD, around={"m": MASK}, cites=(MASKING,))
case("masked_by_large", Tag.EDGE, **USUAL, score_mod=ADD, around={"m": np.maximum(MASK, -1e30)}, cites=(MASKING,))
case("masked_all", Tag.EDGE, **USUAL, score_mod=ADD, around={"m": MASK - np.inf}, unspecified=FORMULA)
case("prob_mod", **USUAL, prob_mod=_modifier(), cites=(PROBS, EXACTLY))
case("prob_mod_drops", **USUAL, prob_mod=MUL, around={"m": KEPT}, cites=(PROBS,))
case("both", **USUAL, score_mod=ADD, prob_mod=_modifier("Mul (x, x)"), around={"m": MASK}, cites=(FORMULA,))
DOUBLES: dict[str, Any] = {name: typed("double", value) for name, value in USUAL.items()}
IN_DOUBLE: dict[str, Any] = {"score_mod": _modifier(inputs="double[] x", outputs="double[] y")}
case("score_mod_double", Tag.DTYPE, **DOUBLES, **IN_DOUBLE, cites=(ELEMENTS,))
case("score_mod_precision", Tag.DTYPE, **USUAL, **IN_DOUBLE, softmax_precision=11, cites=(ELEMENTS, PRECISION))
case("score_mod_other_type", Tag.DTYPE, **USUAL, **IN_DOUBLE, rejects=EXACTLY)
BAD = {"takes_two": ("float[] x, float[] z", "float[] y"), "takes_none": ("", "float[] y")}
BAD["gives_two"] = ("float[] x", "float[] y, float[] k")
for kind in ("score_mod", "prob_mod"):
    for name, (inputs, outputs) in BAD.items():
        wrong: dict[str, Any] = {kind: _modifier("Identity (k)", inputs, outputs), "around": {"k": _wave(2, 3, 4, 5)}}
        case(f"{kind}_{name}", Tag.EDGE, **USUAL, **wrong, rejects=EXACTLY)
    wider: dict[str, Any] = {kind: _modifier("Concat <axis: int = 3> (x, x)")}
    case(f"{kind}_of_other_shape", Tag.EDGE, **USUAL, **wider, rejects=PRESERVE)

WRONG: dict[str, tuple[dict[str, Any], Any]] = {
    "rank3": ({name: value[0] for name, value in USUAL.items()}, RANK), "query_rank3": ({"Q": _wave(3, 4, 16)}, RANK),
    "value_rank5": ({"V": _wave(2, 3, 5, 7, 1)}, RANK), "head_size": ({"K": _wave(2, 3, 5, 4)}, KEY),
    "batch": ({"Q": _wave(1, 3, 4, 16)}, KEY), "value_batch": ({"V": _wave(1, 3, 5, 7)}, VALUE),
    "value_heads": ({"V": _wave(2, 1, 5, 7)}, VALUE), "value_keys": ({"V": _wave(2, 3, 4, 7)}, VALUE),
    "heads": ({"Q": _wave(2, 4, 4, 16)}, MULTIPLE), "fewer_heads": ({"Q": _wave(2, 1, 4, 16)}, MULTIPLE),
    "precision_int64": ({"softmax_precision": 7}, PRECISION), "precision_bool": ({"softmax_precision": 9}, PRECISION),
    "other_type": ({"K": typed("double", USUAL["K"])}, Rule.TYPES),
}  # fmt: skip
for name, (given, clause) in WRONG.items():
    case(f"wrong_{name}", Tag.EDGE, **{**USUAL, **given}, rejects=clause)
case("outside", Tag.DTYPE, outside="T1", Q=ramp(1, 1, 2, 3), K=ramp(1, 1, 4, 3), V=ramp(1, 1, 4, 2), rejects=EXPLICIT)
case("no_value", Q=USUAL["Q"], K=USUAL["K"], rejects=Rule.ARITY)
case("attribute_is_causal", **USUAL, stray={"is_causal": 1}, rejects=Rule.ATTRIBUTES)
case("no_outputs", **USUAL, n=0, rejects=Rule.ARITY)
case("two_outputs", **USUAL, n=2, rejects=Rule.ARITY)
