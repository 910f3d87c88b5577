# SPDX-License-Identifier: Apache-2.0
"""MoE: a mixture of experts; a router selects some of them for each token.

    output = MoE(input, router_probs, fc1_experts_weights, fc1_experts_bias=None, fc2_experts_weights,
                 fc2_experts_bias=None, fc3_experts_weights=None, fc3_experts_bias=None, activation_alpha=1.0,
                 activation_beta=0.0, activation_type="relu", k=1, normalize_routing_weights=0, swiglu_fusion=0,
                 swiglu_limit=None, swiglu_limit_after_activation=0, use_sparse_mixer=0)

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, measured
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators_microsoft._experts import (
    MATRIX,
    ONE_EXPERT,
    Activation,
    Expert,
    Experts,
    has_shape,
    mixed,
    waves,
)

if TYPE_CHECKING:
    from onnx_conformance.declare.sizes import Sizes

MOE = Op(
    "MoE",
    versions=(1,),
    compare=measured("the products, sums and functions of both layers and the mixing of experts round"),
    domain="com.microsoft",
    rank="input",
)
H, I, E = 5, 4, 3  # noqa: E741 - the names of the dimensions: hidden, inter, experts


def layers(operands: int = 1, *, third: bool = False, biases: bool = False) -> dict[str, Any]:
    """Return weights, and biases, of three experts. The first layer has one or two operands of the activation."""
    made: dict[str, Any] = {
        "fc1_experts_weights": waves(E, operands * I, H, start=5),
        "fc2_experts_weights": waves(E, H, I, start=99),
    }
    if biases:
        made |= {"fc1_experts_bias": waves(E, operands * I, start=7), "fc2_experts_bias": waves(E, H, start=23)}
    if third:
        made["fc3_experts_weights"] = waves(E, I, H, start=200)
    if third and biases:
        made["fc3_experts_bias"] = waves(E, I, start=300)
    return made


X = waves(4, H, size=2)
MOE.example(
    input=X, **ONE_EXPERT, **layers(third=True, biases=True), activation_type="swiglu", activation_alpha=1.5,
    activation_beta=0.5, swiglu_limit=1.25,
)  # fmt: skip

LOCAL = MOE.clause(
    "MoE is token-local, so request boundaries do not affect the result and no cumulative sequence-length input is "
    "required.",
    result=True,
)
ROUTER_ROWS = MOE.clause(
    "router_probs must contain one corresponding row per token in either form.",
    note="The text does not define whether router_probs are probabilities or logits. The softmax of logits could be "
    "that over all experts or over the selected ones. A result is only defined if all of these lead to it.",
)
INPUT = MOE.clause(
    "2D packed token tensor with shape (total_tokens, hidden_size), where tokens from ragged sequences may be "
    "concatenated without padding, or 3D input tensor with shape (batch_size, sequence_length, hidden_size)"
)
ROUTER = MOE.clause(
    "2D input tensor with shape (total_tokens, num_experts), where total_tokens must match the flattened token count "
    "of input"
)
FIRST = MOE.clause(
    "3D input tensor with shape (num_experts, fusion_size * inter_size, hidden_size), where fusion_size is 2 for fused "
    "swiglu or geglu, and 1 otherwise"
)
FIRST_BIAS = MOE.clause("2D optional input tensor with shape (num_experts, fusion_size * inter_size)")
SECOND = MOE.clause("3D input tensor with shape (num_experts, hidden_size, inter_size)")
SECOND_BIAS = MOE.clause("2D optional input tensor with shape (num_experts, hidden_size)")
THIRD = MOE.clause("3D optional input tensor with shape (num_experts, inter_size, hidden_size)")
THIRD_BIAS = MOE.clause("2D optional input tensor with shape (num_experts, inter_size)")
OUTPUT = MOE.clause(
    "Same shape as input: packed (total_tokens, hidden_size) or padded (batch_size, sequence_length, hidden_size)",
    result=True,
)
NO_THIRD = MOE.clause("Separate FC3 inputs are not supported.")
GEGLU = MOE.clause("GEGLU requires fused FC1 gate/up weights, swiglu_fusion=1 or 2, and no FC3 inputs.")
NO_CLAMP = MOE.clause("No clamp when limit is not provided.")
LIMIT = MOE.clause("The limit used to clamp in SwiGLU.")
AFTER = MOE.clause("Requires activation_type='swiglu' and CUDA.")
EXPERTS = Experts(MOE)


@MOE.oracle()
def mixture(  # noqa: PLR0913, PLR0917 - the arguments of the operator
    v: Version,
    input: Array,
    router_probs: Array,
    fc1_experts_weights: Array,
    fc1_experts_bias: Array | None,
    fc2_experts_weights: Array,
    fc2_experts_bias: Array | None,
    fc3_experts_weights: Array | None,
    fc3_experts_bias: Array | None,
    activation_alpha: float,
    activation_beta: float,
    activation_type: str,
    k: int,
    normalize_routing_weights: int,
    swiglu_fusion: int,
    swiglu_limit: float | None,
    swiglu_limit_after_activation: int,
    use_sparse_mixer: int,
) -> Array:
    """Return the mixture of the outputs of the selected experts for each token."""
    activation = Activation(
        activation_type, activation_alpha, activation_beta, swiglu_fusion, swiglu_limit, swiglu_limit_after_activation
    )
    third, third_bias = fc3_experts_weights, fc3_experts_bias
    v.require(INPUT, input.ndim in {MATRIX, MATRIX + 1})
    v.require(GEGLU, activation_type != "geglu" or third is None)
    v.require(AFTER, activation_type == "swiglu" or not swiglu_limit_after_activation)
    EXPERTS.check(v, activation, has_third=third is not None, has_third_bias=third_bias is not None)
    v.silent(EXPERTS.sparse, use_sparse_mixer != 0)
    hidden = input.shape[-1]
    tokens = input.reshape(int(np.prod(input.shape[:-1])), hidden)
    v.require(ROUTER, router_probs.ndim == MATRIX)
    v.require(ROUTER_ROWS, len(router_probs) == len(tokens))
    count, inner = router_probs.shape[1], fc2_experts_weights.shape[-1]
    v.require(SECOND, fc2_experts_weights.shape == (count, hidden, inner))
    v.require(FIRST, fc1_experts_weights.shape == (count, activation.operands_of_first * inner, hidden))
    v.require(FIRST_BIAS, has_shape(fc1_experts_bias, count, activation.operands_of_first * inner))
    v.require(SECOND_BIAS, has_shape(fc2_experts_bias, count, hidden))
    v.require(THIRD, has_shape(third, count, inner, hidden))
    v.require(THIRD_BIAS, has_shape(third_bias, count, inner))
    chosen = EXPERTS.selected(v, router_probs, k)
    weights = EXPERTS.mixing(v, ROUTER_ROWS, router_probs, chosen, normalize=normalize_routing_weights)
    experts = Expert(fc1_experts_weights, fc1_experts_bias, fc2_experts_weights, fc2_experts_bias, third, third_bias)
    with np.errstate(all="ignore"):
        return mixed(tokens, experts, chosen, weights, activation).reshape(input.shape)


case = MOE.case
case(
    "plain", each="T", input=X, **ONE_EXPERT, **layers(), cites=(INPUT, ROUTER, FIRST, SECOND, OUTPUT, EXPERTS.default)
)
case("biases", each="T", input=X, **ONE_EXPERT, **layers(biases=True), cites=(FIRST_BIAS, SECOND_BIAS))
for kind in ("relu", "silu", "identity"):
    of_kind: dict[str, Any] = {"input": X, **ONE_EXPERT, **layers(biases=True), "activation_type": kind}
    case(f"activation_{kind}", each="T", **of_kind, cites=EXPERTS.choices)
    case(f"alpha_of_{kind}", Tag.EDGE, **of_kind, activation_alpha=0.5, unspecified=EXPERTS.alpha)
    case(f"beta_of_{kind}", Tag.EDGE, **of_kind, activation_beta=0.5, unspecified=EXPERTS.beta)
    case(f"fusion_of_{kind}", Tag.EDGE, **of_kind, swiglu_fusion=1, unspecified=EXPERTS.fusion)
    with_third = {**of_kind, **layers(biases=True, third=True)}
    case(f"third_of_{kind}", Tag.EDGE, **with_third, unspecified=EXPERTS.separate)
    case(f"limit_of_{kind}", Tag.EDGE, **of_kind, swiglu_limit=0.5, cites=LIMIT)
for kind in ("relu2", "geglu"):
    case(f"activation_{kind}", Tag.EDGE, input=X, **ONE_EXPERT, **layers(2 if kind == "geglu" else 1),
         activation_type=kind, swiglu_fusion=int(kind == "geglu"), unspecified=EXPERTS.of_cuda)  # fmt: skip
for name, kind in {"unknown": "tanh", "empty": "", "upper_case": "ReLU"}.items():
    case(
        f"activation_{name}", Tag.EDGE, input=X, **ONE_EXPERT, **layers(), activation_type=kind, rejects=EXPERTS.choices
    )
FUSED: dict[int, dict[str, Any]] = {
    0: layers(third=True, biases=True),
    1: layers(2, biases=True),
    2: layers(2, biases=True),
}
HOW = {0: EXPERTS.separate, 1: EXPERTS.interleaved, 2: EXPERTS.concatenated}
for fusion, weights in FUSED.items():
    of_fusion: dict[str, Any] = {
        "input": X,
        **ONE_EXPERT,
        **weights,
        "activation_type": "swiglu",
        "swiglu_fusion": fusion,
    }
    clauses = (HOW[fusion], EXPERTS.swiglu, EXPERTS.operands, EXPERTS.fusion, THIRD, THIRD_BIAS)
    case(f"swiglu_{fusion}", each="T", **of_fusion, cites=(*clauses, NO_CLAMP))
    case(f"swiglu_{fusion}_alpha", **of_fusion, activation_alpha=1.702, cites=(EXPERTS.alpha, EXPERTS.swiglu))
    case(f"swiglu_{fusion}_beta", **of_fusion, activation_beta=1.0, cites=(EXPERTS.beta, EXPERTS.swiglu))
    case(f"swiglu_{fusion}_limit", **of_fusion, swiglu_limit=0.75, cites=(LIMIT, EXPERTS.preserves))
    usual: dict[str, Any] = {"activation_alpha": 1.702, "activation_beta": 1.0, "swiglu_limit": 1.5}
    case(f"swiglu_{fusion}_all", each="T", **of_fusion, **usual, cites=(LIMIT, EXPERTS.swiglu))
    case(f"swiglu_{fusion}_after", Tag.EDGE, **of_fusion, swiglu_limit=0.75, swiglu_limit_after_activation=1,
         unspecified=EXPERTS.after)  # fmt: skip
    case(f"swiglu_{fusion}_limit_zero", Tag.EDGE, **of_fusion, swiglu_limit=0.0, cites=(LIMIT, EXPERTS.swiglu))
    case(f"swiglu_{fusion}_limit_below_zero", Tag.EDGE, **of_fusion, swiglu_limit=-0.5, unspecified=EXPERTS.swiglu)
    without = {name: value for name, value in of_fusion.items() if "bias" not in name}
    case(f"swiglu_{fusion}_without_biases", **without, cites=HOW[fusion])
SWIGLU: dict[str, Any] = {"input": X, **ONE_EXPERT, "activation_type": "swiglu"}
case("swiglu_without_third", **SWIGLU, **layers(), rejects=EXPERTS.separate)
case("swiglu_fused_with_third", **SWIGLU, **layers(2, third=True), swiglu_fusion=1, unspecified=EXPERTS.separate)
case("swiglu_of_other_layout", Tag.EDGE, **SWIGLU, **layers(2), swiglu_fusion=3, unspecified=EXPERTS.fusion)
GEGLU_OF: dict[str, Any] = {"input": X, **ONE_EXPERT, "activation_type": "geglu"}
case("geglu_not_fused", Tag.EDGE, **GEGLU_OF, **layers(2), rejects=EXPERTS.geglu)
case("geglu_with_third", Tag.EDGE, **GEGLU_OF, **layers(2, third=True), swiglu_fusion=1, cites=NO_THIRD, rejects=GEGLU)
case("after_of_relu", Tag.EDGE, input=X, **ONE_EXPERT, **layers(), swiglu_limit_after_activation=1, rejects=AFTER)
THIRD_BIAS_ALONE: dict[str, Any] = {"fc3_experts_bias": waves(E, I)}
case("third_bias_alone", Tag.EDGE, input=X, **ONE_EXPERT, **layers(), **THIRD_BIAS_ALONE, unspecified=EXPERTS.separate)
case("sparse_mixer", Tag.EDGE, input=X, **ONE_EXPERT, **layers(), use_sparse_mixer=1, unspecified=EXPERTS.sparse)

# The weights of equal numbers are equal, in all readings of router_probs.
TWO_EQUAL = [[0.4, 0.4, 0.2], [0.1, 0.45, 0.45], [0.45, 0.1, 0.45], [0.4, 0.4, 0.2]]
MIXED: dict[str, Any] = {"input": X, **layers(biases=True)}
TWO: dict[str, Any] = {"k": 2, "normalize_routing_weights": 1}
case("two_experts", each="T", **MIXED, router_probs=TWO_EQUAL, **TWO, cites=(EXPERTS.k, EXPERTS.normalize))
THIRDS = np.full((4, 3), 1 / 3)
case(
    "all_experts", **MIXED, router_probs=THIRDS, k=3, normalize_routing_weights=1, cites=(EXPERTS.k, EXPERTS.normalize)
)
case("all_experts_not_normalized", **MIXED, router_probs=THIRDS, k=3, cites=(EXPERTS.k, EXPERTS.normalize))
# 2 and this number have the same ratio as their exponentials.
RATIO = 0.4063757399599599
SAME_RATIO = [[2, RATIO, -9], [RATIO, -5, 2], [-5, 2, RATIO], [2, -9, RATIO]]
case("unequal_weights", **MIXED, router_probs=SAME_RATIO, **TWO, cites=EXPERTS.normalize)
SURE = np.array([[1, -200, -300], [-300, 1, -200], [-200, -300, 1], [1, -200, -200]])
case("not_normalized", each="T", **MIXED, router_probs=SURE, k=1, cites=(EXPERTS.k, EXPERTS.normalize))
case("default_k", **MIXED, router_probs=SURE, cites=EXPERTS.k)
case("normalized_by_two", Tag.EDGE, **MIXED, router_probs=TWO_EQUAL, k=2, normalize_routing_weights=2,
     unspecified=EXPERTS.normalize)  # fmt: skip
case("probabilities_or_logits", **MIXED, router_probs=ONE_EXPERT["router_probs"], k=1, unspecified=ROUTER_ROWS)
UNEQUAL = [[0.5, 0.3, 0.2], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3], [0.3, 0.6, 0.1]]
case("probabilities_or_logits_of_two", **MIXED, router_probs=UNEQUAL, **TWO, unspecified=ROUTER_ROWS)
LARGE = np.array([[400, -400, 0], [0, 400, -400], [-400, 0, 400], [400, 0, -400]])
case("large_numbers_of_router", Tag.EDGE, **MIXED, router_probs=LARGE, normalize_routing_weights=1, cites=EXPERTS.k)
ONE_OF_ONE = [[1, 0.5, 0.25], [0.5, 0.25, 1], [0.25, 1, 0.5], [1, 0.25, 0.5]]
case("softmax_of_all_or_of_selected", **MIXED, router_probs=ONE_OF_ONE, unspecified=ROUTER_ROWS)
case("not_normalized_two", **MIXED, router_probs=TWO_EQUAL, k=2, unspecified=ROUTER_ROWS)
case("tie", Tag.EDGE, **MIXED, router_probs=THIRDS, k=1, normalize_routing_weights=1, unspecified=EXPERTS.k)
case("nan_of_router", Tag.EDGE, **MIXED, router_probs=THIRDS * np.nan, k=1, unspecified=EXPERTS.k)
case("no_experts_selected", Tag.EDGE, **MIXED, router_probs=UNEQUAL, k=0, unspecified=EXPERTS.k)
case("too_many_experts", **MIXED, router_probs=UNEQUAL, k=4, rejects=EXPERTS.k)

STACK: dict[str, Any] = {**MIXED, "input": X.reshape(2, 2, H)}
case("stack", **STACK, router_probs=TWO_EQUAL, **TWO, cites=(EXPERTS.rows, ROUTER_ROWS, OUTPUT))
PERMUTED: dict[str, Any] = {"input": X[[2, 0, 3, 1]], "router_probs": np.array(TWO_EQUAL)[[2, 0, 3, 1]]}
case("permuted", **layers(biases=True), **PERMUTED, **TWO, cites=LOCAL)
TOKENS: dict[str, tuple[int, ...]] = {
    "one_token": (1, H),
    "one_of_each": (1, 1, H),
    "no_tokens": (0, H),
    "no_stack": (2, 0, H),
}
for name, shape in TOKENS.items():
    count = int(np.prod(shape[:-1]))
    case(
        name,
        Tag.EDGE,
        input=waves(*shape),
        router_probs=SURE[:count],
        k=1,
        **layers(biases=True),
        cites=(INPUT, OUTPUT),
    )
ONE: dict[str, Any] = {"fc1_experts_weights": [[[0.5]]], "fc2_experts_weights": [[[-3]]]}
case("one_of_everything", Tag.EDGE, input=[[2.5]], router_probs=[[1]], k=1, **ONE, cites=FIRST)
SMALL: dict[str, Any] = {"fc1_experts_weights": waves(2, 1, 3), "fc2_experts_weights": waves(2, 3, 1, start=9)}
case("inner_size_of_one", Tag.EDGE, input=waves(2, 3), router_probs=[[1, -200], [-200, 1]], **SMALL, cites=SECOND)
FAR: dict[str, Any] = {"input": X * 40, **ONE_EXPERT}
case("far_silu", Tag.EDGE, **FAR, **layers(), activation_type="silu", cites=EXPERTS.choices)
case("far_swiglu", Tag.EDGE, **FAR, **layers(2), activation_type="swiglu", swiglu_fusion=1, cites=EXPERTS.swiglu)
case("gelu", Tag.EDGE, input=X, **ONE_EXPERT, **layers(), activation_type="gelu", unspecified=EXPERTS.choices)

MISFITS: dict[str, tuple[Any, dict[str, Any]]] = {
    "input_vector": (INPUT, {"input": waves(H)}),
    "input_of_rank_4": (INPUT, {"input": waves(1, 2, 2, H)}),
    "router_of_other_tokens": (ROUTER_ROWS, {"router_probs": UNEQUAL[:3]}),
    "router_vector": (ROUTER, {"router_probs": UNEQUAL[0]}),
    "router_of_rank_3": (ROUTER, {"router_probs": [UNEQUAL]}),
    "router_of_other_experts": (SECOND, {"router_probs": np.array(UNEQUAL)[:, :2]}),
    "second_turned": (SECOND, {"fc2_experts_weights": waves(E, I, H)}),
    "second_of_rank_2": (SECOND, {"fc2_experts_weights": waves(H, I)}),
    "second_of_other_experts": (SECOND, {"fc2_experts_weights": waves(2, H, I)}),
    "first_turned": (FIRST, {"fc1_experts_weights": waves(E, H, I)}),
    "first_of_two_operands": (FIRST, {"fc1_experts_weights": waves(E, 2 * I, H)}),
    "first_of_rank_2": (FIRST, {"fc1_experts_weights": waves(I, H)}),
    "first_bias_turned": (FIRST_BIAS, {"fc1_experts_bias": waves(I, E)}),
    "first_bias_vector": (FIRST_BIAS, {"fc1_experts_bias": waves(I)}),
    "first_bias_of_two_operands": (FIRST_BIAS, {"fc1_experts_bias": waves(E, 2 * I)}),
    "second_bias_turned": (SECOND_BIAS, {"fc2_experts_bias": waves(H, E)}),
    "second_bias_vector": (SECOND_BIAS, {"fc2_experts_bias": waves(H)}),
}
ROUTED: dict[str, Any] = {"input": X, "router_probs": UNEQUAL, "k": 1, "normalize_routing_weights": 1}
for name, (clause, changed) in MISFITS.items():
    case(f"misfit_{name}", Tag.EDGE, **{**ROUTED, **layers(biases=True), **changed}, rejects=clause)
GATED: dict[str, Any] = {**ROUTED, **layers(third=True, biases=True), "activation_type": "swiglu"}
case("misfit_third_turned", Tag.EDGE, **{**GATED, "fc3_experts_weights": waves(E, H, I)}, rejects=THIRD)
case("misfit_third_bias_turned", Tag.EDGE, **{**GATED, "fc3_experts_bias": waves(I, E)}, rejects=THIRD_BIAS)
case("misfit_third_bias_of_hidden", Tag.EDGE, **{**GATED, "fc3_experts_bias": waves(E, H)}, rejects=THIRD_BIAS)
NOT_TWO = {**ROUTED, **layers(), "activation_type": "swiglu", "swiglu_fusion": 1}
case("misfit_fused_of_one_operand", Tag.EDGE, **NOT_TWO, rejects=FIRST)


def equal_experts(sizes: Sizes) -> Array:
    """Return router_probs with two equal greatest numbers for each token."""
    first = np.arange(sizes["t"]) % sizes["e"]
    probs = np.zeros((sizes["t"], sizes["e"]))
    probs[np.arange(len(first)), first] = probs[np.arange(len(first)), (first + 1) % sizes["e"]] = 0.5
    return probs


OF_MODELS = grid(t=(1, 7, 33), e=(4, 8), h=(16, 64), i=(24, 128))
LAYOUTS = {"relu": (1, "relu", 0), "interleaved": (2, "swiglu", 1), "concatenated": (2, "swiglu", 2)}
for name, (operands, kind, layout) in LAYOUTS.items():
    of_sizes: dict[str, Any] = {
        "input": filled("t", "h"),
        "router_probs": equal_experts,
        "fc1_experts_weights": filled("e", ("i", operands), "h", floats=(-0.5, 0.5)),
        "fc1_experts_bias": filled("e", ("i", operands)),
        "fc2_experts_weights": filled("e", "h", "i", floats=(-0.5, 0.5)),
        "fc2_experts_bias": filled("e", "h"),
        **TWO, "activation_type": kind, "swiglu_fusion": layout,
    }  # fmt: skip
    some = OF_MODELS if name == "interleaved" else OF_MODELS[::3]
    MOE.sized(name, some, each="T", cites=(EXPERTS.k, EXPERTS.normalize), arguments=of_sizes)
