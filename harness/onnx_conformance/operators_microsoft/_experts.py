# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts: routing, activation functions, and the sentences that MoE and QMoE share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.declare import Array, Clause, Op, Version

MATRIX = 2
"""The rank of a matrix."""
FUSIONS = (0, 1, 2)
INTERLEAVED, CONCATENATED = 1, 2
"""Values of swiglu_fusion."""
OF_CUDA = ("relu2", "geglu")
"""The activation functions that only CUDA supports."""
AGREE = 1e-6
"""The difference of equal weights that are computed in two ways."""


def _sigmoid(x: Array) -> Array:
    return np.asanyarray(1 / (1 + np.exp(-x)))


def _softmax(values: Array) -> Array:
    powers = np.exp(values - values.max(1, keepdims=True))
    return np.asanyarray(powers / powers.sum(1, keepdims=True))


PLAIN: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x * _sigmoid(x),
    "identity": lambda x: x,
}
"""The activation functions of one operand."""


@dataclass(frozen=True)
class Activation:
    """The activation of the experts.

    Attributes:
        kind: activation_type.
        alpha: activation_alpha.
        beta: activation_beta.
        fusion: swiglu_fusion.
        limit: swiglu_limit; None for no limit.
        after: swiglu_limit_after_activation.
    """

    kind: str
    alpha: float
    beta: float
    fusion: int
    limit: float | None
    after: int

    @property
    def is_gated(self) -> bool:
        """Whether it is the function of two operands."""
        return self.kind == "swiglu"

    @property
    def operands_of_first(self) -> int:
        """The number of operands that the first product contains."""
        return 2 if self.is_gated and self.fusion else 1

    def operands(self, first: Array, third: Array | None) -> tuple[Array, Array]:
        """Return g and l of SwiGLU, from the first product and, if it is not fused, the third one."""
        if third is not None:
            return first, third
        if self.fusion == INTERLEAVED:
            return first[..., ::2], first[..., 1::2]
        middle = first.shape[-1] // 2
        return first[..., :middle], first[..., middle:]

    def of(self, first: Array, third: Array | None) -> Array:
        """Return the activation of the first product and, if it is not fused, of the third one."""
        if not self.is_gated:
            return PLAIN[self.kind](first)
        gate, linear = self.operands(first, third)
        limit = np.inf if self.limit is None else self.limit
        gate, linear = np.minimum(gate, limit), linear.clip(-limit, limit)
        return gate * _sigmoid(self.alpha * gate) * (linear + self.beta)


@dataclass(frozen=True)
class Expert:
    """The weights and biases of all experts, as real numbers: [E, N, K] and [E, N]."""

    first: Array
    first_bias: Array | None
    second: Array
    second_bias: Array | None
    third: Array | None
    third_bias: Array | None


class Experts:
    """The sentences that both operators have, and their meaning."""

    def __init__(self, op: Op) -> None:
        """Declare the sentences on `op`."""
        clause = op.clause
        self.rows = clause(
            "A 3D input is the dense convenience form and is processed as batch_size * sequence_length independent "
            "token rows."
        )
        self.operands = clause("g = xW + b l = xV + c")
        self.swiglu = clause(
            "G = clamp(g, max=limit) L = clamp(l, min=-limit, max=limit) swiglu = G * sigmoid(alpha * G) * (L + beta)",
            note="The text does not define a limit below 0.",
        )
        self.separate = clause(
            "When swiglu_fusion=0, two GEMMs are not fused, and they are FC1 and FC3 in the inputs.",
            note="The text does not define FC3 for other activation functions, or together with a fused FC1.",
        )
        self.interleaved = clause(
            "When swiglu_fusion=1, two GEMMs are fused so that g and l are computed in a single GEMM (FC1), and g and "
            "l are interleaved on each row of size 2 * inter_size."
        )
        self.concatenated = clause(
            "When swiglu_fusion=2, two GEMMs are fused, and g and l are concatenated on each row."
        )
        self.geglu = clause(
            "GEGLU requires fused FC1 projections: swiglu_fusion=1 stores [g0,l0,g1,l1,...], and swiglu_fusion=2 "
            "stores [g | l]."
        )
        self.choices = clause(
            "Choose from relu, gelu, silu, swiglu and identity.",
            note="The text does not define whether gelu is the exact formula or that with tanh.",
        )
        self.of_cuda = clause(
            "CUDA also supports relu2 (squared ReLU) and geglu (GELU-tanh(gate) * up).",
            note="Other execution providers need not support them, so the result is unspecified.",
        )
        self.default = clause("Default is relu")
        self.alpha = clause(
            "Alpha parameter used in activation function.",
            note="The text defines alpha and beta for SwiGLU only. For other functions, only the defaults have "
            "a defined result.",
        )
        self.beta = clause("Beta parameter used in activation function.")
        self.k = clause(
            "Number of top experts to select from expert pool",
            note="The text does not define which of several equal experts is selected, or the order of NaN.",
        )
        self.normalize = clause(
            "Whether to normalize routing weights",
            note="The weights of the selected experts are divided by their sum. The text does not define values "
            "other than 0 and 1.",
        )
        self.fusion = clause(
            "Gate/up layout for swiglu or geglu. 0: not fused (swiglu only), 1: fused and interleaved, 2: fused and "
            "not interleaved ([gate | up] for geglu).",
            note="The text does not define other values, or a fused layout for other activation functions.",
        )
        self.after = clause(
            "When 1, clamp the activated gate instead of the gate input: min(gate * sigmoid(activation_alpha * gate), "
            "swiglu_limit) * (clamp(up, -swiglu_limit, swiglu_limit) + activation_beta).",
            note="It requires CUDA, so the result of other execution providers is unspecified.",
        )
        self.preserves = clause("The default 0 preserves input clipping.", result=True)
        self.sparse = clause("Whether to use sparse mixer", note="The text does not define a sparse mixer.")

    def check(self, v: Version, activation: Activation, *, has_third: bool, has_third_bias: bool) -> None:
        """Raise Rejected or Unspecified if the text forbids the attributes, or does not define their meaning."""
        v.require(self.choices, activation.kind in {*PLAIN, "gelu", "swiglu", *OF_CUDA})
        v.silent(self.choices, activation.kind == "gelu")
        v.require(self.geglu, activation.kind != "geglu" or activation.fusion != 0)
        v.silent(self.of_cuda, activation.kind in OF_CUDA)
        v.silent(self.after, activation.after != 0)
        v.silent(self.fusion, activation.fusion not in FUSIONS)
        if activation.is_gated:
            v.silent(self.swiglu, activation.limit is not None and activation.limit < 0)
            v.require(self.separate, has_third or activation.fusion != 0)
            v.silent(self.separate, has_third and activation.fusion != 0)
        else:
            v.silent(self.alpha, activation.alpha != 1)
            v.silent(self.beta, activation.beta != 0)
            v.silent(self.fusion, activation.fusion != 0)
            v.silent(self.separate, has_third)
        v.silent(self.separate, has_third_bias and not has_third)

    def selected(self, v: Version, probs: Array, k: int) -> Array:
        """Return the indices of the k greatest numbers of each row, [tokens, k]."""
        v.require(self.k, k <= probs.shape[1])
        v.silent(self.k, k < 1)
        plain = np.array(probs, np.float64)
        v.ordered(self.k, plain)
        order = np.argsort(-plain, 1)
        ranked = np.take_along_axis(plain, order, 1)
        v.silent(self.k, bool((ranked[:, k - 1 : k] == ranked[:, k : k + 1]).any()))
        return order[:, :k]

    def mixing(self, v: Version, clause: Clause, probs: Array, chosen: Array, *, normalize: int) -> Array:
        """Return the weights of the selected experts, from numbers that may be probabilities or logits.

        `clause` does not define which, so they must be the same: the numbers themselves, their softmax over all
        experts, and their softmax over the selected ones.

        Raises:
            Unspecified: the weights are different.
        """
        v.silent(self.normalize, normalize not in {0, 1})
        plain = np.array(probs, np.float64)
        values = np.take_along_axis(plain, chosen, 1)
        among_selected = _softmax(values)
        with np.errstate(all="ignore"):
            if normalize:
                others = [values / values.sum(1, keepdims=True)]
            else:
                others = [values, np.take_along_axis(_softmax(plain), chosen, 1)]
        v.silent(clause, not all((np.abs(among_selected - item) <= AGREE).all() for item in others))
        return _softmax(np.take_along_axis(probs, chosen, 1))


def mixed(tokens: Array, experts: Expert, chosen: Array, weights: Array, activation: Activation) -> Array:
    """Return the weighted sum of the outputs of the selected experts, [tokens, hidden].

    Args:
        tokens: [tokens, hidden].
        experts: the weights.
        chosen: the indices of the experts of each token, [tokens, k].
        weights: their weights, [tokens, k].
        activation: the activation between the products.
    """
    first = _layer(tokens[:, None], experts.first, experts.first_bias, chosen)
    third = None if experts.third is None else _layer(tokens[:, None], experts.third, experts.third_bias, chosen)
    outputs = _layer(activation.of(first, third), experts.second, experts.second_bias, chosen)
    return np.asanyarray((outputs * weights[..., None]).sum(1))


def _layer(values: Array, weights: Array, bias: Array | None, chosen: Array) -> Array:
    """Return weights @ values + bias of the chosen experts: [tokens, k, N] of [tokens, k or 1, K]."""
    product = (weights[chosen] @ values[..., None]).squeeze(-1)
    return product if bias is None else product + bias[chosen]


def has_shape(values: Array | None, *shape: int) -> bool:
    """Return whether an optional input is omitted, or has a shape."""
    return values is None or values.shape == shape


def waves(*shape: int, start: int = 0, size: float = 1) -> Array:
    """Return numbers of both signs up to a size. All rows and columns are different."""
    return np.sin((start + np.arange(np.prod(shape, dtype=int))) * 1.7).reshape(shape) * size


ONE_EXPERT: dict[str, Any] = {
    "router_probs": [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.25, 0.5, 0.25], [0.3, 0.6, 0.1]], "k": 1,
    "normalize_routing_weights": 1,
}  # fmt: skip
"""Routing of four tokens among three experts whose only weight is 1, whether or not the numbers are logits."""
