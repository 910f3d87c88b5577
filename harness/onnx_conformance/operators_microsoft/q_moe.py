# SPDX-License-Identifier: Apache-2.0
"""QMoE: a mixture of experts whose weights are quantized.

    output = QMoE(input, router_probs, fc1_experts_weights, fc1_scales=None, fc1_experts_bias=None, fc2_experts_weights,
                  fc2_scales=None, fc2_experts_bias=None, ..., router_weights=None, ..., quant_type="int", ...)

Versions: 1. The text has 21 inputs and 17 attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array, Clause, Op, Tag, Version, bounded, typed
from onnx_conformance.declare.families.sums import roundings
from onnx_conformance.declare.sizes import EVERY_BYTE, filled, grid
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
from onnx_conformance.operators_microsoft._packed_bits import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.declare.sizes import Sizes

BYTE = 8
LEAST_BLOCK = 16
WIDTHS = (2, 3, 4, 8)
TWO_BITS, THREE_BITS, FOUR_BITS = 2, 3, 4
CODE_OF_ZERO = 4
"""The code of the weight 0 in three bits."""
BLOCKS_OF_THREE_BITS = (32, 64, 128)
MX_BLOCK = 32
"""The size of a block of MXFP4."""
INT8 = 4
"""The accuracy level at which activations may be rounded to 8 bits."""
STEEPEST = 1.1
"""The greatest slope of an activation function, rounded up: that of SiLU."""


@dataclass(frozen=True)
class Layer:
    """One projection: its weights, scales, zero points and bias, and the number of its bits."""

    weights: Array
    scales: Array | None
    zero_points: Array | None
    bias: Array | None
    bits: int

    @property
    def default_zero(self) -> float:
        """The zero point if there is no input for it."""
        return 2.0 ** (self.bits - 1)

    @property
    def factors(self) -> Array:
        """The scales, which the text requires wherever they are used."""
        assert self.scales is not None  # noqa: S101 - checked before
        return self.scales

    def integers(self, block: int | None) -> Array:
        """Return (quantized_weight - zero_point) * scale, [E, N, K]."""
        codes = unpacked(self.weights, self.bits)
        scales = self.factors
        zero: Array = np.full(scales.shape, self.default_zero)
        if self.zero_points is not None:
            zero = unpacked(self.zero_points, self.bits)[..., : scales.shape[-1]]
        if block is None:
            return np.asarray((codes - zero[..., None]) * scales[..., None])
        return np.asarray((codes - zero.repeat(block, -1)) * scales.repeat(block, -1))

    def floats_of_four_bits(self) -> Array:
        """Return weights of MXFP4, which is E2M1, times the scales of their blocks."""
        codes = unpacked(self.weights, FOUR_BITS).astype(np.uint8)
        numbers = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64)
        return np.asarray(numbers * self.factors.repeat(MX_BLOCK, -1))

    def floats(self, block: int | None, global_scale: Array | None) -> Array:
        """Return weights of float8 times the scale of their square block, or of their expert."""
        wide = self.weights.astype(np.float64)
        if block is None:
            assert global_scale is not None  # noqa: S101 - checked before
            return np.asarray(wide * global_scale[:, None, None])
        rows, columns = wide.shape[1:]
        return wide * self.factors.repeat(block, 1)[:, :rows].repeat(block, 2)[..., :columns]


@dataclass(frozen=True)
class Mixture:
    """The arguments of a call in groups.

    Attributes:
        first, second, third: the projections.
        block: block_size; None if it is omitted, or not positive for float8.
        activation: the activation.
        kind: quant_type.
        globals: the global scales of the first and the second projection.
    """

    first: Layer
    second: Layer
    third: Layer | None
    block: int | None
    activation: Activation
    kind: str
    globals: tuple[Array | None, Array | None]

    @property
    def is_float(self) -> bool:
        """Whether the weights are float8."""
        return self.kind == "fp8"

    def expert(self) -> Expert:
        """Return the dequantized weights."""
        one, two, three = self.first, self.second, self.third
        weights = [self._real(one, self.globals[0]), self._real(two, self.globals[1])]
        third = None if three is None else self._real(three, None)
        return Expert(weights[0], one.bias, weights[1], two.bias, third, None if three is None else three.bias)

    def _real(self, layer: Layer, global_scale: Array | None) -> Array:
        if self.kind == "fp4":
            return layer.floats_of_four_bits()
        return layer.floats(self.block, global_scale) if self.is_float else layer.integers(self.block)


def _grouped(arguments: Mapping[str, Any]) -> Mixture:
    """Return the arguments of a call in groups."""
    own, kind = arguments["expert_weight_bits"], arguments["quant_type"]
    layers = []
    for name in ("fc1", "fc2", "fc3"):
        bits, weights = arguments[f"{name}_expert_weight_bits"], arguments[f"{name}_experts_weights"]
        scales, zero_points, bias = (arguments[f"{name}_{part}"] for part in ("scales", "zero_points", "experts_bias"))
        made = Layer(weights, scales, zero_points, bias, own if bits is None else bits)
        layers.append(None if weights is None else made)
    first, second, third = layers
    assert first is not None and second is not None  # noqa: S101, PT018 - both are required
    block = arguments["block_size"]
    activation = Activation(
        arguments["activation_type"], arguments["activation_alpha"], arguments["activation_beta"],
        arguments["swiglu_fusion"], arguments["swiglu_limit"], arguments["swiglu_limit_after_activation"],
    )  # fmt: skip
    if kind == "fp4":
        block = MX_BLOCK
    elif kind == "fp8" and block is not None and block <= 0:
        block = None
    scales = arguments["fc1_global_scale"], arguments["fc2_global_scale"]
    return Mixture(first, second, third, block, activation, kind, scales)


def _rounding(v: Version, **arguments: Any) -> list[Array]:  # noqa: ANN401 - all arguments of the operator
    """Return the error in epsilons of the type, propagated through both layers.

    Each layer rounds its weights and its result to the type, its sums in float32 at least, and its operands to 8 bits
    where accuracy_level allows that.
    """
    call = _grouped(arguments)
    epsilon = float(ml_dtypes.finfo(v.dtypes["T"]).eps)  # type: ignore[no-untyped-call]
    single = float(np.finfo(np.float32).eps)
    bits = {call.first.bits, call.second.bits}
    low = not call.is_float and call.block is not None
    low &= call.kind == "int"
    low &= arguments["accuracy_level"] == INT8 or bool(bits & {BYTE})
    block = call.block or 1

    def error_of(values: Array, error: Array, weights: Array, bias: Array | None) -> tuple[Array, Array]:
        """Return the results of all experts, [tokens, E, N], and their errors."""
        if low:
            most = np.abs(values).reshape(*values.shape[:-1], -1, block).max(-1, initial=0)
            error = error + most.repeat(block, -1) / 127
        sizes, of_weights = np.abs(values), np.abs(weights)
        terms = np.einsum("tek,enk->ten", sizes, of_weights)
        added = np.zeros(()) if bias is None else bias
        units = roundings(weights.shape[-1] + 5) / 2 * single + (2 * epsilon if epsilon > single else single)
        results = np.einsum("tek,enk->ten", values, weights) + added
        return results, np.einsum("tek,enk->ten", error, of_weights) + (terms + np.abs(added)) * units

    experts = call.expert()
    hidden = arguments["input"].shape[-1]
    tokens = arguments["input"].reshape(int(np.prod(arguments["input"].shape[:-1])), 1, hidden)
    tokens = np.broadcast_to(tokens, (len(tokens), len(experts.first), hidden)).astype(np.float64)
    first, error = error_of(tokens, np.zeros(tokens.shape), experts.first, experts.first_bias)
    activation = call.activation
    third: Array | None = None
    if activation.is_gated:
        other: Array | None = None
        if experts.third is not None:
            third, other = error_of(tokens, np.zeros(tokens.shape), experts.third, experts.third_bias)
        gate, linear = map(np.abs, activation.operands(first, third))
        of_gate, of_linear = activation.operands(error, other)
        linear = linear + abs(activation.beta)
        error = STEEPEST * max(1, abs(activation.alpha)) * of_gate * (linear + of_linear)
        error = error + gate * of_linear + gate * linear * 8 * epsilon
    else:
        error = STEEPEST * error + np.abs(first) * 8 * epsilon
    inner = activation.of(first, third)
    outputs, error = error_of(inner, error, experts.second, experts.second_bias)
    error = error + np.abs(outputs) * 8 * epsilon
    weights = arguments["router_weights"]
    largest = np.ones(()) if weights is None else np.abs(weights).max(-1, initial=0)[:, None]
    if arguments["normalize_routing_weights"]:
        largest = np.ones(())
    total = np.sort(error, 1)[:, -arguments["k"] :].sum(1) * largest
    return [np.asarray(total.reshape(arguments["input"].shape) / epsilon)]


QMOE = Op(
    "QMoE",
    versions=(1,),
    compare=bounded(
        _rounding, "weights, products, sums and functions round; activations do if the text allows it", steps=True
    ),
    domain="com.microsoft",
    rank="input",
)

LOCAL = QMOE.clause(
    "QMoE is token-local, so request boundaries do not affect the result and no cumulative sequence-length input is "
    "required.",
    result=True,
)
ROWS = QMOE.clause(
    "router_probs and optional router_weights must contain one corresponding row per token in either form."
)
NO_BLOCK = QMOE.clause("If not provided, column wise quantization is used.")
FORMULA = QMOE.clause("dequantized_weight = (quantized_weight - zero_point) * scale")
DEFAULT_ZERO = QMOE.clause(
    "When zero_point is not provided, the default value is 2^(bits-1): 2 for 2 bits, 8 for 4 bits, 128 for 8 bits."
)
DIVISIBLE = QMOE.clause(
    "For integer quantization, if block_size is provided, both hidden_size and inter_size must be divisible by the "
    "block size, and the dequantization is performed per block of size block_size along the K (input feature) "
    "dimension."
)
FLOAT8 = QMOE.clause(
    "For quant_type='fp8', weights instead use row-major float8e4m3fn tensors shaped [num_experts, N, K]."
)
FLOAT8_FORMULA = QMOE.clause(
    "dequantized_weight[e, n, k] = float(weight[e, n, k]) * scale[e, n / block_size, k / block_size]"
)
PARTIAL = QMOE.clause("Partial edge blocks are allowed.")
FLOAT8_ALONE = QMOE.clause("No zero points or activation scales are accepted.")
GLOBAL = QMOE.clause(
    "Without a positive block_size, FP8 uses the legacy per-expert fc*_global_scale inputs instead.",
    note="FC3 has no global scale, so the text does not define a separate FC3 without blocks. It does not define "
    "scales without blocks, either.",
)
NO_GLOBAL = QMOE.clause(
    "Block-scaled FP8 does not use global scales.", note="The text does not define whether they may be present."
)
ALIGNED = QMOE.clause("Weight rows must be byte-aligned.")
PADDED_ZEROS = QMOE.clause("Zero-point rows are padded to a whole byte when necessary.")
OVERRIDE = QMOE.clause(
    "fc1_expert_weight_bits, fc2_expert_weight_bits, and fc3_expert_weight_bits optionally override expert_weight_bits "
    "for the corresponding projection."
)
INHERITS = QMOE.clause("An omitted override inherits expert_weight_bits.")
EQUAL_BITS = QMOE.clause(
    "When SwiGLU is fused, FC3 is stored in FC1 and fc3_expert_weight_bits must be omitted or equal to "
    "fc1_expert_weight_bits after inheritance."
)
PROFILE = QMOE.clause(
    "With INT3, use quant_type='int' (the default), and explicitly set activation_type='swiglu', weights_prepacked=0, "
    "swiglu_fusion=1, and block_size=32, 64, or 128."
)
THIRD_AS_FIRST = QMOE.clause("Effective FC3 must equal FC1 after independent inheritance.")
BITSTREAM = QMOE.clause(
    "Weights are uint8 [E,N,ceil(K*bits/8)], row-local LSB-first bitstreams, without per-block padding."
)
PROFILE_SCALES = QMOE.clause("Scales are required [E,N,K/block_size], matching FP16/BF16 activations.")
PROFILE_CODES = QMOE.clause("INT3 codes dequantize as (u-4)*scale; scales must be finite and nonnegative.")
PROFILE_ZEROS = QMOE.clause(
    "Each unpacked 3-bit zero-point code must equal 4 (binary 100), the unsigned offset representing logical zero; "
    "this does not mean each packed byte is 4."
)
PROFILE_OMITTED = QMOE.clause("Omission implies the same zero point 4.")
PADDING = QMOE.clause("Unused high padding bits must be zero.")
PROFILE_ALONE = QMOE.clause(
    "Separate FC3, global scales, and activation scales are not accepted by the INT3 profile.", force=None
)
INPUT = QMOE.clause(
    "2D packed token tensor with shape (total_tokens, hidden_size), where tokens from ragged sequences may be "
    "concatenated without padding, or 3D tensor with shape (batch_size, sequence_length, hidden_size)"
)
ROUTER = QMOE.clause(
    "2D tensor with shape (total_tokens, num_experts), where total_tokens must match the flattened token count of input"
)
FIRST = QMOE.clause(
    "3D tensor with shape (num_experts, fusion_size * inter_size, hidden_size * effective_fc1_bits / 8)."
)
LAST = QMOE.clause("The last dimension must be byte-aligned.")
SIZE = QMOE.clause("The fusion_size is 2 for fused swiglu or geglu, or 1 otherwise.")
FIRST_SCALES = QMOE.clause(
    "For quant_type='int', this is a 2D tensor with shape (num_experts, fusion_size * inter_size), or a 3D tensor with "
    "shape (num_experts, fusion_size * inter_size, hidden_size / block_size) when block_size is provided.",
    note="The scales are optional, but the text does not define integer weights without them.",
)
BLOCK_SCALES = QMOE.clause(
    "For quant_type='fp8' and block_size > 0, required float32, float16, or bfloat16 scales with shape (num_experts, "
    "ceil(fusion_size * inter_size / block_size), ceil(hidden_size / block_size))."
)
FIRST_BIAS = QMOE.clause("2D optional tensor with shape (num_experts, fusion_size * inter_size)")
SECOND = QMOE.clause("3D tensor with shape (num_experts, hidden_size, inter_size * effective_fc2_bits / 8).")
SECOND_SCALES = QMOE.clause(
    "For quant_type='int', this is a 2D tensor with shape (num_experts, hidden_size), or a 3D tensor with shape "
    "(num_experts, hidden_size, inter_size / block_size) when block_size is provided."
)
SECOND_BIAS = QMOE.clause("2D optional tensor with shape (num_experts, hidden_size)")
THIRD = QMOE.clause("3D optional tensor with shape (num_experts, inter_size, hidden_size * effective_fc3_bits / 8).")
THIRD_SCALES = QMOE.clause(
    "For quant_type='int', this is a 2D tensor with shape (num_experts, inter_size), or a 3D tensor with shape "
    "(num_experts, inter_size, hidden_size / block_size) when block_size is provided."
)
THIRD_BIAS = QMOE.clause("2D optional tensor with shape (num_experts, inter_size)")
FIRST_ZEROS = QMOE.clause(
    "2D tensor with shape (num_experts, ceil(fusion_size * inter_size * effective_fc1_bits / 8)), or 3D tensor with "
    "shape (num_experts, fusion_size * inter_size, ceil((hidden_size / block_size) * effective_fc1_bits / 8)) when "
    "block_size is provided.",
    note="The low-order bits are first, as in the weights.",
)
SECOND_ZEROS = QMOE.clause(
    "2D tensor with shape (num_experts, ceil(hidden_size * effective_fc2_bits / 8)), or 3D tensor with shape "
    "(num_experts, hidden_size, ceil((inter_size / block_size) * effective_fc2_bits / 8)) when block_size is provided."
)
THIRD_ZEROS = QMOE.clause(
    "2D optional tensor with shape (num_experts, ceil(inter_size * effective_fc3_bits / 8)), or 3D optional tensor "
    "with shape (num_experts, inter_size, ceil((hidden_size / block_size) * effective_fc3_bits / 8)) when block_size "
    "is provided."
)
WEIGHTS_OF_ROUTER = QMOE.clause("2D optional tensor with shape (num_tokens, num_experts).")
ONLY_SELECTS = QMOE.clause(
    "When provided, router_probs is used only for Top-K expert selection, and router_weights is used for aggregating "
    "expert outputs (the values at the selected expert indices are gathered and used as mixing weights)."
)
BOTH = QMOE.clause(
    "When not provided, router_probs is used for both selection and aggregation (backward compatible).",
    note="The text does not define whether router_probs are probabilities or logits. The softmax of logits could be "
    "that over all experts or over the selected ones. A result is only defined if all of these lead to it.",
)
SECOND_BLOCK_SCALES = QMOE.clause(
    "For quant_type='fp8' and block_size > 0, required float32, float16, or bfloat16 scales with shape (num_experts, "
    "ceil(hidden_size / block_size), ceil(inter_size / block_size))."
)
THIRD_BLOCK_SCALES = QMOE.clause(
    "For quant_type='fp8' and block_size > 0, required when FC3 is present, with floating-point scales shaped "
    "(num_experts, ceil(inter_size / block_size), ceil(hidden_size / block_size))."
)
RETAINED = QMOE.clause("Activations retain the input type (weight-only quantization).", result=True)
SMALL_BATCHES = QMOE.clause(
    "On CUDA SM80-or-newer GPUs, SiLU/SwiGLU block-scaled FP8 uses fused weight-only GEMV/GEMM for decode-sized "
    "batches of at most 8 rows by default.",
    result=True,
    note="The result is the same for every number of rows.",
)
PROFILE_SIZES = QMOE.clause("both must be divisible by block_size.")
DIVISIBLE_BY = QMOE.clause(
    "For integer and FP4 quantization, both hidden_size and inter_size must be divisible by the block size."
)
EQUAL_WIDTHS = QMOE.clause("For fused SwiGLU, the effective FC3 width must equal the effective FC1 width.")
FOUR_BY_DEFAULT = QMOE.clause("Default is 4 bits.")
FP4_INPUTS = QMOE.clause(
    "When quant_type is 'fp4' or 'nvfp4', weights are stored in E2M1 FP4 format (2 values per byte), fc*_scales inputs "
    "contain the FP4 block scales, and fc*_global_scale inputs must be provided.",
    note="The text has no formula and does not define which of two values in a byte is the first. Only for 'fp4', with "
    "bytes of two equal values and global scales of 1, every reading leads to the value times the block scale.",
)
FP4_BLOCKS = QMOE.clause(
    "For quant_type='fp4' or 'wfp4afp8', this is a float8e8m0 MXFP block-scale tensor with shape (num_experts, "
    "fusion_size * inter_size, hidden_size / 32)."
)
FP4_BLOCKS_OF_SECOND = QMOE.clause(
    "For quant_type='fp4' or 'wfp4afp8', this is a float8e8m0 MXFP block-scale tensor with shape (num_experts, "
    "hidden_size, inter_size / 32)."
)
LEGACY = QMOE.clause(
    "For quant_type='nvfp4' on CUDA, -1 (default) and 0 select legacy N-packed [E,K,N/2] bytes;",
    note="This contradicts the shapes of the weights in the descriptions of the inputs.",
)
REQUIRED_GLOBAL = QMOE.clause(
    "Required when quant_type is 'fp4', 'nvfp4', or 'wfp4afp8', or 'fp8' with block_size <= 0."
)
ACTIVATION_SCALES = QMOE.clause(
    "Activation scale for FC1 FP8 activation modes.", note="The text does not define these modes."
)
OUTPUT = QMOE.clause("output tensor with same shape of input", result=True)
WEIGHT_TYPES = QMOE.clause("Integer and FP4 weights use uint8. FP8 weights use float8e4m3fn.")
SCALE_TYPES = QMOE.clause("Float tensors are used for integer quantization and FP8 square-block scales.")
ACCURACY = QMOE.clause(
    "For block-wise 4-bit experts, 0 (default) or 1 keeps fp32 activations and 4 allows int8 activations (int8 "
    "dot-product kernels).",
    result=True,
)
EIGHT_BITS = QMOE.clause(
    "Block-wise 8-bit experts have no fp32 kernel and use int8 activations at every level.", result=True
)
OTHER_LEVELS = QMOE.clause("Other values are treated as 0.", result=True)
GEGLU = QMOE.clause(
    "GEGLU requires quant_type='int', fused FC1 gate/up weights, swiglu_fusion=1 or 2, and no separate FC3 weights."
)
NO_THIRD = QMOE.clause("Separate FC3 weights are not supported.")
BLOCK_SIZE = QMOE.clause("Must be power of two and ≥ 16 (e.g., 16, 32, 64, 128).")
ONE_SCALE = QMOE.clause(
    "For integer quantization ('int'), omitting block_size means there is no blocking and a whole column shares one "
    "scaling factor."
)
BITS = QMOE.clause("Number of bits used in quantized weights: 2, 3, 4, or 8.")
QUANT_TYPE = QMOE.clause(
    "Quantization type: 'int' for integer quantization (default), 'fp4' for MXFP4 quantization, 'nvfp4' for NVFP4 "
    "quantization, 'fp8' for FP8 e4m3 weight-only quantization, or 'wfp4afp8' for MXFP4 weight with FP8 activation.",
    note="The text has no formula for weights of FP4, and does not define which of two values in a byte is the first.",
)
LIMIT = QMOE.clause("The limit used to clamp inputs in SwiGLU.")
NO_LIMIT = QMOE.clause("It is infinite when limit is not provided.")
AFTER = QMOE.clause("Requires activation_type='swiglu' and CUDA with INT4/INT8 or block-FP8 weights.")
PREPACKED = QMOE.clause(
    "For quant_type='int', -1 and 1 select execution-provider-specific prepacked int4/int8 fc1/fc2 layouts.",
    note="The text does not define these layouts, and -1 is the default. So only the value 0 has a defined result.",
)
RAW = QMOE.clause(
    "0 selects raw [E,N,K/pack] tensors as produced by quantize_matmul_{4,8}bits.",
    note="These are the layouts of MatMulNBits: the first of two values is in the lower half of a byte. For 2 bits, "
    "only bytes in which the order does not matter have a defined meaning.",
)
PREPACKED_VALUES = QMOE.clause("Supported values are -1, 0, and 1; defaults to -1.")
IGNORED = QMOE.clause("Ignored for other quantization types.")
EXPERTS = Experts(QMOE)
PRESENT = "given"
"""The word in the names of schema points for an input that is present."""
for scale in ("fc1_act_scale", "fc2_act_scale", "fc1_act_block_scale", "fc2_act_block_scale"):
    QMOE.excuse(f"input {scale} {PRESENT}", "the text does not define the use of scales of activations")
QMOE.excuse("type T2 tensor(float8e4m3fn)", "it is the type of scales of NVFP4, whose layout the text contradicts")

QUANT_TYPES = ("int", "fp4", "nvfp4", "fp8", "wfp4afp8")
OF_SCALES = {
    "int": (FIRST_SCALES, SECOND_SCALES, THIRD_SCALES),
    "fp4": (FP4_BLOCKS, FP4_BLOCKS_OF_SECOND, THIRD_SCALES),
    "fp8": (BLOCK_SCALES, SECOND_BLOCK_SCALES, THIRD_BLOCK_SCALES),
}
"""The sentences on the shapes of scales, by quant_type."""


@QMOE.oracle()
def mixture(  # noqa: PLR0913, PLR0917 - the arguments of the operator
    v: Version,
    input: Array,
    router_probs: Array,
    fc1_experts_weights: Array,
    fc1_scales: Array | None,
    fc1_experts_bias: Array | None,
    fc2_experts_weights: Array,
    fc2_scales: Array | None,
    fc2_experts_bias: Array | None,
    fc3_experts_weights: Array | None,
    fc3_scales: Array | None,
    fc3_experts_bias: Array | None,
    fc1_zero_points: Array | None,
    fc2_zero_points: Array | None,
    fc3_zero_points: Array | None,
    router_weights: Array | None,
    fc1_global_scale: Array | None,
    fc2_global_scale: Array | None,
    fc1_act_scale: Array | None,
    fc2_act_scale: Array | None,
    fc1_act_block_scale: Array | None,
    fc2_act_block_scale: Array | None,
    accuracy_level: int,
    activation_alpha: float,
    activation_beta: float,
    activation_type: str,
    block_size: int | None,
    expert_weight_bits: int,
    fc1_expert_weight_bits: int | None,
    fc2_expert_weight_bits: int | None,
    fc3_expert_weight_bits: int | None,
    k: int,
    normalize_routing_weights: int,
    quant_type: str,
    swiglu_fusion: int,
    swiglu_limit: float | None,
    swiglu_limit_after_activation: int,
    use_sparse_mixer: int,
    weights_prepacked: int,
) -> Array:
    """Return the mixture of the outputs of the selected experts, whose weights are dequantized, for each token."""
    arguments = {name: value for name, value in locals().items() if name != "v"}
    scales_of_experts = fc1_global_scale is not None and fc2_global_scale is not None
    v.require(QUANT_TYPE, quant_type in QUANT_TYPES)
    v.require(FP4_INPUTS, quant_type not in {"fp4", "nvfp4"} or scales_of_experts)
    v.require(REQUIRED_GLOBAL, quant_type != "wfp4afp8" or scales_of_experts)
    v.silent(LEGACY, quant_type == "nvfp4")
    v.silent(QUANT_TYPE, quant_type == "wfp4afp8")
    call = _grouped(arguments)
    has_third, activation = fc3_experts_weights is not None, call.activation
    v.require(GEGLU, activation_type != "geglu" or (quant_type == "int" and not has_third))
    v.require(AFTER, activation_type == "swiglu" or not swiglu_limit_after_activation)
    EXPERTS.check(v, activation, has_third=has_third, has_third_bias=fc3_experts_bias is not None)
    v.silent(EXPERTS.sparse, use_sparse_mixer != 0)
    act_scales = (fc1_act_scale, fc2_act_scale, fc1_act_block_scale, fc2_act_block_scale)
    has_act_scales = any(item is not None for item in act_scales)
    if quant_type == "fp4":
        v.silent(ACTIVATION_SCALES, has_act_scales)
        _check_fp4(v, arguments, call)
    elif quant_type == "fp8":
        _check_floats(v, arguments, call, has_act_scales=has_act_scales)
    else:
        v.require(WEIGHT_TYPES, v.dtypes["T1"] == np.uint8)
        _check_integers(v, arguments, call, has_act_scales=has_act_scales)
    v.require(INPUT, input.ndim in {MATRIX, MATRIX + 1})
    hidden = input.shape[-1]
    tokens = input.reshape(int(np.prod(input.shape[:-1])), hidden)
    v.require(ROUTER, router_probs.ndim == MATRIX)
    v.require(ROWS, len(router_probs) == len(tokens))
    v.require(WEIGHTS_OF_ROUTER, router_weights is None or router_weights.shape == router_probs.shape)
    _check_shapes(v, call, router_probs.shape[1], hidden)
    chosen = EXPERTS.selected(v, router_probs, k)
    if router_weights is None:
        weights = EXPERTS.mixing(v, BOTH, router_probs, chosen, normalize=normalize_routing_weights)
    else:
        v.silent(EXPERTS.normalize, normalize_routing_weights not in {0, 1})
        weights = np.take_along_axis(router_weights, chosen, 1)
        if normalize_routing_weights:
            total = weights.sum(1, keepdims=True)
            v.silent(EXPERTS.normalize, bool((total == 0).any()))
            weights = weights / total
    with np.errstate(all="ignore"):
        result = mixed(tokens, call.expert(), chosen, weights, activation)
    return np.asarray(result.reshape(input.shape))


def _type_of_scales(v: Version) -> str:
    """Return the name of the type of the scales; empty without scales."""
    return v.dtypes["T2"].name if "T2" in v.dtypes else ""


def _check_fp4(v: Version, arguments: Mapping[str, Any], call: Mixture) -> None:
    """Raise Rejected or Unspecified if weights of MXFP4 have other scales, or more than one meaning."""
    v.require(WEIGHT_TYPES, v.dtypes["T1"] == np.uint8)
    v.silent(FP4_INPUTS, call.third is not None)
    v.silent(FP4_INPUTS, any(arguments[f"{name}_zero_points"] is not None for name in ("fc1", "fc2")))
    v.silent(FP4_INPUTS, not all(item is not None and bool((item == 1).all()) for item in call.globals))
    for layer in (call.first, call.second):
        v.silent(FP4_INPUTS, bool((layer.weights >> 4 != layer.weights & 15).any()))
        v.require(FP4_BLOCKS, layer.scales is not None and _type_of_scales(v) == "float8_e8m0fnu")


def _check_floats(v: Version, arguments: Mapping[str, Any], call: Mixture, *, has_act_scales: bool) -> None:
    """Raise Rejected or Unspecified if weights of float8 have wrong types or additional inputs."""
    v.require(WEIGHT_TYPES, v.dtypes["T1"].name == "float8_e4m3fn")
    layers = [call.first, call.second, *([] if call.third is None else [call.third])]
    v.require(FLOAT8_ALONE, not has_act_scales)
    v.require(FLOAT8_ALONE, all(arguments[f"{name}_zero_points"] is None for name in ("fc1", "fc2", "fc3")))
    v.silent(PREPACKED_VALUES, arguments["weights_prepacked"] not in {-1, 0, 1})
    if call.block is None:
        v.require(REQUIRED_GLOBAL, all(item is not None for item in call.globals))
        v.require(REQUIRED_GLOBAL, all(has_shape(item, len(call.first.weights)) for item in call.globals))
        v.silent(GLOBAL, call.third is not None)
        v.silent(GLOBAL, any(layer.scales is not None for layer in layers))
    else:
        v.require(SCALE_TYPES, "float8" not in _type_of_scales(v))
        v.silent(NO_GLOBAL, any(item is not None for item in call.globals))


def _check_integers(v: Version, arguments: Mapping[str, Any], call: Mixture, *, has_act_scales: bool) -> None:
    """Raise Rejected or Unspecified if the text forbids the attributes of integers, or does not define them."""
    own, overrides = arguments["expert_weight_bits"], [arguments[f"fc{n}_expert_weight_bits"] for n in (1, 2, 3)]
    first, second, third = (own if item is None else item for item in overrides)
    v.require(BITS, all(item in WIDTHS for item in (first, second, third)))
    layout, is_fused = arguments["weights_prepacked"], call.activation.operands_of_first > 1
    v.require(PREPACKED_VALUES, layout in {-1, 0, 1})
    if THREE_BITS in {first, second}:
        v.require(PROFILE, call.activation.is_gated and arguments["swiglu_fusion"] == 1 and layout == 0)
        v.require(PROFILE, call.block in BLOCKS_OF_THREE_BITS)
        v.require(THIRD_AS_FIRST, third == first)
        v.require(PROFILE_ALONE, not has_act_scales and all(item is None for item in call.globals))
        _check_profile(v, call)
    v.require(EQUAL_WIDTHS, not is_fused or third == first or overrides[-1] is not None)
    v.require(EQUAL_BITS, not is_fused or third == first)
    v.silent(PREPACKED, layout != 0)
    v.silent(REQUIRED_GLOBAL, any(item is not None for item in call.globals))
    v.silent(ACTIVATION_SCALES, has_act_scales)
    v.require(BLOCK_SIZE, call.block is None or (call.block >= LEAST_BLOCK and call.block.bit_count() == 1))
    v.require(SCALE_TYPES, "float8" not in _type_of_scales(v))
    for layer in (call.first, call.second, call.third):
        if layer is not None and layer.bits == TWO_BITS and THREE_BITS not in {first, second}:
            codes = unpacked(layer.weights, TWO_BITS)
            v.silent(RAW, not np.array_equal(codes, _turned(codes)))


def _turned(codes: Array) -> Array:
    """Return codes of two bits with the order of those in a byte reversed."""
    return codes.reshape(*codes.shape[:-1], -1, BYTE // TWO_BITS)[..., ::-1].reshape(codes.shape)


def _check_profile(v: Version, call: Mixture) -> None:
    """Raise Rejected if the scales or zero points of integers of three bits are not those of their profile."""
    for layer in (call.first, call.second):
        v.require(PROFILE_SCALES, layer.scales is not None)
        v.require(PROFILE_SCALES, v.dtypes["T"].name == _type_of_scales(v) != "float32")
        if layer.bits == THREE_BITS:
            v.require(PROFILE_CODES, bool((np.isfinite(layer.factors) & (layer.factors >= 0)).all()))
        if layer.bits == THREE_BITS and layer.zero_points is not None:
            count = layer.factors.shape[-1]
            codes = unpacked(layer.zero_points, THREE_BITS)[..., :count]
            v.require(PROFILE_ZEROS, bool((codes == CODE_OF_ZERO).all()))
            v.require(PADDING, np.array_equal(packed(codes, THREE_BITS), layer.zero_points))


def _check_shapes(v: Version, call: Mixture, count: int, hidden: int) -> None:
    """Raise Rejected if an input of a layer has another shape than the text requires."""
    operands, per_byte = call.activation.operands_of_first, 1 if call.is_float else BYTE
    rows = call.first.weights.shape[1] if call.first.weights.ndim > 1 else 0
    inner = rows // operands
    v.require(SIZE, rows % operands == 0)
    if call.block and not call.is_float:
        has_profile = THREE_BITS in {call.first.bits, call.second.bits}
        v.require(PROFILE_SIZES, not has_profile or hidden % call.block == inner % call.block == 0)
        v.require(DIVISIBLE, hidden % call.block == 0)
        v.require(DIVISIBLE_BY, inner % call.block == 0)
    scales = OF_SCALES[call.kind]
    v.require(LAST, hidden * (1 if call.is_float else call.first.bits) % per_byte == 0)
    table: list[tuple[Layer | None, int, int, Clause, Clause, Clause, Clause]] = [
        (call.first, rows, hidden, FIRST, scales[0], FIRST_BIAS, FIRST_ZEROS),
        (call.second, hidden, inner, SECOND, scales[1], SECOND_BIAS, SECOND_ZEROS),
        (call.third, inner, hidden, THIRD, scales[2], THIRD_BIAS, THIRD_ZEROS),
    ]
    for layer, outputs, inputs, of_weights, of_scales, of_bias, of_zeros in table:
        if layer is None:
            continue
        bits = 1 if call.is_float else layer.bits
        v.require(ALIGNED, inputs * bits % per_byte == 0)
        v.require(
            FLOAT8 if call.is_float else of_weights, layer.weights.shape == (count, outputs, inputs * bits // per_byte)
        )
        v.require(of_bias, has_shape(layer.bias, count, outputs))
        block = call.block
        if call.is_float:
            if block is not None:
                v.require(of_scales, layer.scales is not None)
                v.require(of_scales, has_shape(layer.scales, count, -(-outputs // block), -(-inputs // block)))
            continue
        v.silent(FIRST_SCALES, layer.scales is None)
        blocks = (inputs // block,) if block else ()
        v.require(of_scales, has_shape(layer.scales, count, outputs, *blocks))
        bits_of_zeros = (inputs // block if block else outputs) * bits
        of_rows = (outputs,) if block else ()
        v.require(of_zeros, has_shape(layer.zero_points, count, *of_rows, -(-bits_of_zeros // BYTE)))


case = QMOE.case
H, I, E = 32, 16, 3  # noqa: E741 - the names of the dimensions: hidden, inter, experts
X = waves(4, H, size=2)


def layer(
    name: str, rows: int, columns: int, *, bits: int, block: int = 0, zeros: bool = False, bias: bool = False
) -> dict[str, Any]:
    """Return the integers of a projection of three experts, with scales, and with zero points and a bias if wanted."""
    start, index = int(name[-1]) * 77, np.arange(E * rows * columns)
    codes = (start + index * 7 + index // 5) % 2**bits
    if bits == TWO_BITS:
        codes = codes[: codes.size // 4].repeat(4)  # The four codes of a byte are equal, so their order has no meaning.
    of_scales = (E, rows, columns // block) if block else (E, rows)
    made: dict[str, Any] = {
        f"{name}_experts_weights": typed("uint8", packed(codes.reshape(E, rows, columns), bits)),
        f"{name}_scales": typed("{T}", (np.abs(waves(*of_scales, start=start)) + 0.25) * 2.0**-bits),
    }
    if zeros:
        points = (start + np.arange(np.prod(of_scales))) % 3 + 2 ** (bits - 1) - 1
        made[f"{name}_zero_points"] = typed("uint8", packed(points.reshape(of_scales), bits))
    if bias:
        made[f"{name}_experts_bias"] = waves(E, rows, start=start, size=3)
    return made


def layers(
    operands: int = 1, *, bits: int = 4, block: int = 0, zeros: bool = False, bias: bool = False, third: bool = False,
    inner: int = I,
) -> dict[str, Any]:  # fmt: skip
    """Return the projections and the attributes of their layout."""
    parts: dict[str, Any] = {"bits": bits, "block": block, "zeros": zeros, "bias": bias}
    made = {**layer("fc1", operands * inner, H, **parts), **layer("fc2", H, inner, **parts)}
    if third:
        made |= layer("fc3", inner, H, **parts)
    made |= {"expert_weight_bits": bits, "weights_prepacked": 0}
    return made | ({"block_size": block} if block else {})


UNEQUAL = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3], [0.3, 0.6, 0.1]])
TENSORS: dict[str, Any] = {"input": X, "router_probs": UNEQUAL, "router_weights": UNEQUAL[:, ::-1] * 1.5}
ROUTED: dict[str, Any] = {**TENSORS, "k": 2}
FUSED: dict[str, Any] = {"activation_type": "swiglu", "swiglu_fusion": 1}
QMOE.example(
    **ROUTED, **FUSED, **layers(2, block=16, zeros=True, bias=True), activation_alpha=1.702, activation_beta=1.0,
    swiglu_limit=1.5, normalize_routing_weights=1,
)  # fmt: skip

SHAPES_OF = (INPUT, ROUTER, FIRST, SECOND, SIZE, OUTPUT, LAST, RAW)
SCALED_BY = (FIRST_SCALES, SECOND_SCALES, ONE_SCALE, NO_BLOCK, DIVISIBLE)
ZEROS_OF = (FORMULA, FIRST_ZEROS, SECOND_ZEROS, PADDED_ZEROS)
OF_THIRD = (THIRD, THIRD_SCALES, THIRD_BIAS, THIRD_ZEROS, EXPERTS.separate)
for bits in (TWO_BITS, FOUR_BITS, BYTE):
    for block in (0, LEAST_BLOCK):
        name = f"{bits}_bits_in_blocks" if block else f"{bits}_bits"
        own: dict[str, Any] = {"bits": bits, "block": block}
        full: dict[str, Any] = {**own, "zeros": True, "bias": True}
        case(name, each="T", **ROUTED, **layers(**own), cites=(FORMULA, DEFAULT_ZERO, BITS, *SCALED_BY, *SHAPES_OF))
        case(f"{name}_zero_points", **ROUTED, **layers(**own, zeros=True), cites=ZEROS_OF)
        biased = (EXPERTS.interleaved, FIRST_BIAS, SECOND_BIAS)
        case(f"{name}_swiglu", each="T", **ROUTED, **FUSED, **layers(2, **full), cites=biased)
        case(
            f"{name}_separate_swiglu", **ROUTED, **layers(**full, third=True), activation_type="swiglu", cites=OF_THIRD
        )
        halves: dict[str, Any] = {**ROUTED, **layers(2, **own), "activation_type": "swiglu", "swiglu_fusion": 2}
        case(f"{name}_concatenated_swiglu", **halves, cites=EXPERTS.concatenated)
case("blocks_of_32", **ROUTED, **layers(block=32, inner=64), cites=BLOCK_SIZE)
case("blocks_of_64", **ROUTED, **{**layers(block=32, inner=64), "block_size": 64}, rejects=DIVISIBLE)
case("inner_not_divisible", Tag.EDGE, **ROUTED, **{**layers(block=16), "block_size": 32}, rejects=DIVISIBLE_BY)
for block in (1, 8, 24, 0, -16):
    wrong = {**layers(block=16), "block_size": block}
    case(f"blocks_of_{'minus_' * (block < 0)}{abs(block)}", Tag.EDGE, **ROUTED, **wrong, rejects=BLOCK_SIZE)
case(
    "default_bits", **ROUTED, **{n: a for n, a in layers().items() if n != "expert_weight_bits"}, cites=FOUR_BY_DEFAULT
)
for bits in (0, 1, 5, 6, 16):
    case(f"{bits}_bits", Tag.EDGE, **ROUTED, **{**layers(), "expert_weight_bits": bits}, rejects=BITS)
ORDER: dict[str, Any] = {"fc1_experts_weights": typed("uint8", np.full((E, I, H // 4), 0b00011011))}
case("order_of_two_bits", Tag.EDGE, **ROUTED, **{**layers(bits=2), **ORDER}, unspecified=RAW)

PALINDROMES = np.resize([0b00101000, 0b10111110, 0b01000001], (E, I, H // 4))
SYMMETRIC: dict[str, Any] = {"fc1_experts_weights": typed("uint8", PALINDROMES)}
case("two_bits_in_any_order", Tag.EDGE, **ROUTED, **{**layers(bits=2), **SYMMETRIC}, cites=RAW)
OF_PARTS: dict[str, Any] = {"block": 16, "zeros": True, "bias": True}
MIXED_BITS: dict[str, Any] = {
    **ROUTED, **FUSED, **layer("fc1", 2 * I, H, bits=4, **OF_PARTS), **layer("fc2", H, I, bits=8, **OF_PARTS),
    "weights_prepacked": 0, "block_size": 16,
}  # fmt: skip
OF_FOUR: dict[str, Any] = {"expert_weight_bits": 8, "fc1_expert_weight_bits": 4}
case("fc2_of_8_bits", **MIXED_BITS, fc2_expert_weight_bits=8, cites=(OVERRIDE, INHERITS))
case("fc1_of_4_bits", **MIXED_BITS, **OF_FOUR, fc3_expert_weight_bits=4, cites=OVERRIDE)
case("fc2_of_5_bits", Tag.EDGE, **MIXED_BITS, fc2_expert_weight_bits=5, rejects=BITS)
case("fc3_of_fc1", **MIXED_BITS, fc2_expert_weight_bits=8, fc3_expert_weight_bits=4, cites=EQUAL_BITS)
case("fc3_not_of_fc1", **MIXED_BITS, fc2_expert_weight_bits=8, fc3_expert_weight_bits=8, rejects=EQUAL_BITS)
case("fc3_inherits_other_bits", **MIXED_BITS, **OF_FOUR, rejects=EQUAL_WIDTHS)
OTHER_THIRD: dict[str, Any] = {**layers(), **layer("fc3", I, H, bits=8), "activation_type": "swiglu"}
case("fc3_of_8_bits", **ROUTED, **OTHER_THIRD, fc3_expert_weight_bits=8, cites=(OVERRIDE, THIRD))

for level in (0, 1, 2, 4, 5):
    for bits in (FOUR_BITS, BYTE):
        of_level: dict[str, Any] = {**ROUTED, **FUSED, **layers(2, bits=bits, block=16, bias=True)}
        cited = (ACCURACY, EIGHT_BITS, OTHER_LEVELS)
        case(f"accuracy_level_{level}_of_{bits}_bits", **of_level, accuracy_level=level, cites=cited)
for kind in ("silu", "identity", "relu"):
    of_kind: dict[str, Any] = {**ROUTED, **layers(bias=True), "activation_type": kind}
    case(f"activation_{kind}", **of_kind, cites=EXPERTS.choices)
    case(f"alpha_of_{kind}", Tag.EDGE, **of_kind, activation_alpha=0.5, unspecified=EXPERTS.alpha)
    case(f"beta_of_{kind}", Tag.EDGE, **of_kind, activation_beta=0.5, unspecified=EXPERTS.beta)
    case(f"fusion_of_{kind}", Tag.EDGE, **of_kind, swiglu_fusion=1, unspecified=EXPERTS.fusion)
    case(f"third_of_{kind}", Tag.EDGE, **{**of_kind, **layers(third=True)}, unspecified=EXPERTS.separate)
case("default_activation", **ROUTED, **layers(), cites=EXPERTS.default)
case("gelu", Tag.EDGE, **ROUTED, **layers(), activation_type="gelu", unspecified=EXPERTS.choices)
case("relu2", Tag.EDGE, **ROUTED, **layers(), activation_type="relu2", unspecified=EXPERTS.of_cuda)
GATED: dict[str, Any] = {**ROUTED, "activation_type": "geglu"}
case("geglu", Tag.EDGE, **GATED, **layers(2), swiglu_fusion=1, unspecified=EXPERTS.of_cuda)
case("geglu_not_fused", Tag.EDGE, **GATED, **layers(2), rejects=EXPERTS.geglu)
case("geglu_with_third", Tag.EDGE, **GATED, **layers(2, third=True), swiglu_fusion=1, cites=NO_THIRD, rejects=GEGLU)
case("geglu_of_float8", Tag.EDGE, **GATED, **layers(2), swiglu_fusion=1, quant_type="fp8", rejects=GEGLU)
case("unknown_activation", Tag.EDGE, **ROUTED, **layers(), activation_type="tanh", rejects=EXPERTS.choices)
SWIGLU: dict[str, Any] = {**ROUTED, **FUSED, **layers(2, bias=True)}
case("swiglu", **SWIGLU, cites=(EXPERTS.swiglu, EXPERTS.operands, EXPERTS.fusion, NO_LIMIT))
case("swiglu_alpha", **SWIGLU, activation_alpha=1.702, cites=EXPERTS.alpha)
case("swiglu_beta", **SWIGLU, activation_beta=1.0, cites=EXPERTS.beta)
case("swiglu_limit", **SWIGLU, swiglu_limit=0.75, cites=(LIMIT, EXPERTS.preserves))
case("swiglu_limit_of_relu", **ROUTED, **layers(), swiglu_limit=0.75, cites=LIMIT)
case("swiglu_limit_zero", Tag.EDGE, **SWIGLU, swiglu_limit=0.0, cites=(LIMIT, EXPERTS.swiglu))
case("swiglu_limit_below_zero", Tag.EDGE, **SWIGLU, swiglu_limit=-0.5, unspecified=EXPERTS.swiglu)
LIMITED: dict[str, Any] = {"swiglu_limit": 0.75, "swiglu_limit_after_activation": 1}
case("swiglu_limit_after", Tag.EDGE, **SWIGLU, **LIMITED, unspecified=EXPERTS.after)
case("limit_after_relu", Tag.EDGE, **ROUTED, **layers(), swiglu_limit_after_activation=1, rejects=AFTER)
case("swiglu_of_other_layout", Tag.EDGE, **{**SWIGLU, "swiglu_fusion": 3}, unspecified=EXPERTS.fusion)
case("swiglu_without_third", **ROUTED, **layers(), activation_type="swiglu", rejects=EXPERTS.separate)
case("swiglu_fused_with_third", **ROUTED, **FUSED, **layers(2, third=True), unspecified=EXPERTS.separate)
ALONE_BIAS: dict[str, Any] = {"fc3_experts_bias": waves(E, I)}
case("third_bias_alone", Tag.EDGE, **ROUTED, **layers(), **ALONE_BIAS, unspecified=EXPERTS.separate)
case("sparse_mixer", Tag.EDGE, **ROUTED, **layers(), use_sparse_mixer=1, unspecified=EXPERTS.sparse)

PLAIN = layers(bias=True)
ONE_SUM = (ONLY_SELECTS, EXPERTS.normalize)
case("weights_of_router", **ROUTED, **PLAIN, cites=(WEIGHTS_OF_ROUTER, ONLY_SELECTS, ROWS))
case("weights_of_router_normalized", **ROUTED, **PLAIN, normalize_routing_weights=1, cites=ONE_SUM)
case("negative_weights_of_router", Tag.EDGE, **{**ROUTED, "router_weights": -UNEQUAL}, **PLAIN, cites=ONLY_SELECTS)
ZERO_SUM: dict[str, Any] = {**ROUTED, "router_weights": [[0, 0, 0], *UNEQUAL[1:]], "normalize_routing_weights": 1}
case("zero_weights_of_router", Tag.EDGE, **ZERO_SUM, **PLAIN, unspecified=EXPERTS.normalize)
case("normalized_by_two", Tag.EDGE, **ROUTED, **PLAIN, normalize_routing_weights=2, unspecified=EXPERTS.normalize)
LOGITS: dict[str, Any] = {**ROUTED, "router_probs": [[-3.5, 2, 1], [-1, -2, -3], [5, 4, 6], [0, 1, -1]]}
case("any_numbers_select", **LOGITS, **PLAIN, cites=ONLY_SELECTS)
ALONE: dict[str, Any] = {"input": X, **PLAIN}
case("one_expert_of_router", **ALONE, **ONE_EXPERT, cites=(BOTH, EXPERTS.k))
THIRDS = np.full((4, 3), 1 / 3)
case("all_experts_of_router", **ALONE, router_probs=THIRDS, k=3, normalize_routing_weights=1, cites=BOTH)
case("probabilities_or_logits", **ALONE, router_probs=UNEQUAL, k=2, normalize_routing_weights=1, unspecified=BOTH)
RATIO = 0.4063757399599599  # 2 and this number have the same ratio as their exponentials.
SAME_RATIO = [[2, RATIO, -9], [RATIO, -5, 2], [-5, 2, RATIO], [2, -9, RATIO]]
case("unequal_weights", **ALONE, router_probs=SAME_RATIO, k=2, normalize_routing_weights=1, cites=BOTH)
FAR = np.array([[400, -400, 0], [0, 400, -400], [-400, 0, 400], [400, 0, -400]])
case("large_numbers_of_router", Tag.EDGE, **ALONE, router_probs=FAR, normalize_routing_weights=1, cites=BOTH)
ONE_OF_ONE = [[1, 0.5, 0.25], [0.5, 0.25, 1], [0.25, 1, 0.5], [1, 0.25, 0.5]]
case("softmax_of_all_or_of_selected", **ALONE, router_probs=ONE_OF_ONE, unspecified=BOTH)
case("router_normalized_by_two", Tag.EDGE, **ALONE, **{**ONE_EXPERT, "normalize_routing_weights": 2},
     unspecified=EXPERTS.normalize)  # fmt: skip
case("nan_of_router", Tag.EDGE, **{**ROUTED, "router_probs": UNEQUAL * np.nan}, **PLAIN, unspecified=EXPERTS.k)
case("three_experts", **{**ROUTED, "k": 3}, **PLAIN, cites=EXPERTS.k)
case("default_k", **TENSORS, **PLAIN, cites=EXPERTS.k)
case("too_many_experts", **{**ROUTED, "k": 4}, **PLAIN, rejects=EXPERTS.k)
case("no_experts_selected", Tag.EDGE, **{**ROUTED, "k": 0}, **PLAIN, unspecified=EXPERTS.k)
case("tie", Tag.EDGE, **{**ROUTED, "router_probs": THIRDS}, **PLAIN, unspecified=EXPERTS.k)
case("stack", **{**ROUTED, "input": X.reshape(2, 2, H)}, **PLAIN, cites=(EXPERTS.rows, ROWS, OUTPUT))
case("stack_of_one", Tag.EDGE, **{**ROUTED, "input": X.reshape(1, 4, H)}, **PLAIN, cites=(EXPERTS.rows, ROWS))
for name, chosen in {"permuted": [2, 0, 3, 1], "one_token": [0], "no_tokens": []}.items():
    of_tokens: dict[str, Any] = {each: value[np.array(chosen, int)] for each, value in TENSORS.items()}
    case(name, Tag.EDGE, **of_tokens, k=2, **PLAIN, cites=(LOCAL, INPUT))
for name, layout in {"minus_1": -1, "1": 1}.items():
    case(f"prepacked_{name}", **ROUTED, **{**PLAIN, "weights_prepacked": layout}, unspecified=PREPACKED)
case("default_layout", **ROUTED, **{n: a for n, a in PLAIN.items() if n != "weights_prepacked"}, unspecified=PREPACKED)
case("unknown_layout", Tag.EDGE, **ROUTED, **{**PLAIN, "weights_prepacked": 2}, rejects=PREPACKED_VALUES)
case("unknown_quantization", Tag.EDGE, **ROUTED, **PLAIN, quant_type="int4", rejects=QUANT_TYPE)
GLOBALS: dict[str, Any] = {"fc1_global_scale": [0.5, 2, 1.5], "fc2_global_scale": [0.25, 1, 3]}
UNIT: dict[str, Any] = {"fc1_global_scale": [1, 1, 1], "fc2_global_scale": [1, 1, 1]}
for kind, clause in {"fp4": FP4_INPUTS, "nvfp4": FP4_INPUTS, "wfp4afp8": REQUIRED_GLOBAL}.items():
    case(f"quantization_{kind}_without_global_scales", **ROUTED, **PLAIN, quant_type=kind, rejects=clause)
case("quantization_nvfp4", Tag.EDGE, **ROUTED, **PLAIN, **UNIT, quant_type="nvfp4", unspecified=LEGACY)
case("quantization_wfp4afp8", Tag.EDGE, **ROUTED, **PLAIN, **UNIT, quant_type="wfp4afp8", unspecified=QUANT_TYPE)


def of_fp4(*, inner: int = 32) -> dict[str, Any]:
    """Return projections of MXFP4. The two values of each byte are equal."""
    made: dict[str, Any] = {"quant_type": "fp4"}
    for name, rows, columns in (("fc1", inner, H), ("fc2", H, inner)):
        codes = np.arange(E * rows * columns // 2).reshape(E, rows, columns // 2) * 7 % 16
        blocks = np.arange(E * rows * (columns // MX_BLOCK)).reshape(E, rows, -1)
        made[f"{name}_experts_weights"] = typed("uint8", codes * 17)
        made[f"{name}_scales"] = typed("float8e8m0", 2.0 ** (blocks % 3 - 2))
    return made


FP4: dict[str, Any] = {**ROUTED, **of_fp4(), **UNIT}
case("fp4", each="T", **FP4, cites=(FP4_INPUTS, FP4_BLOCKS, FP4_BLOCKS_OF_SECOND))
ONE_UNIT: dict[str, Any] = {"fc2_global_scale": None}
case("fp4_with_one_global_scale", **{**FP4, **ONE_UNIT}, rejects=FP4_INPUTS)
case("fp4_with_block_size", **FP4, block_size=32, cites=FP4_INPUTS)
OTHER_BYTES: dict[str, Any] = {"fc2_experts_weights": typed("uint8", np.full((E, H, 16), 0x12))}
case("fp4_of_different_values", Tag.EDGE, **{**FP4, **OTHER_BYTES}, unspecified=FP4_INPUTS)
case("fp4_with_global_scales", Tag.EDGE, **{**FP4, **GLOBALS}, unspecified=FP4_INPUTS)
ONE_OTHER: dict[str, Any] = {"fc2_global_scale": [1, 2, 1]}
case("fp4_with_one_other_global_scale", Tag.EDGE, **{**FP4, **ONE_OTHER}, unspecified=FP4_INPUTS)
ONE_BYTE = np.full((E, H, 16), 0x11)
ONE_BYTE[1, 2, 3] = 0x12
SOME_BYTES: dict[str, Any] = {"fc2_experts_weights": typed("uint8", ONE_BYTE)}
case("fp4_of_one_other_byte", Tag.EDGE, **{**FP4, **SOME_BYTES}, unspecified=FP4_INPUTS)
case("fp4_with_activation_scale", Tag.EDGE, **FP4, fc1_act_scale=[1], unspecified=ACTIVATION_SCALES)
OF_POINTS: dict[str, Any] = {"fc1_zero_points": typed("uint8", np.zeros((E, 32, 1)))}
case("fp4_with_zero_points", Tag.EDGE, **FP4, **OF_POINTS, unspecified=FP4_INPUTS)
FP4_THIRD: dict[str, Any] = {"fc3_experts_weights": FP4["fc1_experts_weights"], "fc3_scales": FP4["fc1_scales"]}
case("fp4_with_third", Tag.EDGE, **FP4, **FP4_THIRD, activation_type="swiglu", unspecified=FP4_INPUTS)
FLOATS = {name: typed("float", np.ones((E, 32, 1))) for name in ("fc1_scales", "fc2_scales")}
case("fp4_with_scales_of_float", Tag.EDGE, **{**FP4, **FLOATS}, rejects=FP4_BLOCKS)
OF_ROWS: dict[str, Any] = {"fc1_scales": typed("float8e8m0", np.ones((E, 32)))}
case("fp4_with_scales_of_rows", Tag.EDGE, **{**FP4, **OF_ROWS}, rejects=FP4_BLOCKS)
OF_SECOND: dict[str, Any] = {"fc2_scales": typed("float8e8m0", np.ones((E, 32, 2)))}
case("fp4_with_scales_of_two_blocks", Tag.EDGE, **{**FP4, **OF_SECOND}, rejects=FP4_BLOCKS_OF_SECOND)
OF_FLOAT8: dict[str, Any] = {name: typed("float8e4m3fn", np.ones((E, 32, 32))) for name in
                             ("fc1_experts_weights", "fc2_experts_weights")}  # fmt: skip
case("fp4_of_float8", Tag.EDGE, **{**FP4, **OF_FLOAT8}, rejects=WEIGHT_TYPES)
case("global_scale_of_integers", Tag.EDGE, **ROUTED, **PLAIN, **GLOBALS, unspecified=REQUIRED_GLOBAL)
ONE_SCALE_OF_EXPERTS: dict[str, Any] = {"fc1_global_scale": [0.5, 2, 1.5]}
case("one_global_scale_of_integers", Tag.EDGE, **ROUTED, **PLAIN, **ONE_SCALE_OF_EXPERTS, unspecified=REQUIRED_GLOBAL)
SCALES_OF_FLOAT8: dict[str, Any] = {
    "fc1_scales": typed("float8e4m3fn", np.ones((E, I))), "fc2_scales": typed("float8e4m3fn", np.ones((E, H))),
}  # fmt: skip
case("scales_of_float8_for_integers", Tag.EDGE, **ROUTED, **{**PLAIN, **SCALES_OF_FLOAT8}, rejects=SCALE_TYPES)
case("activation_scale_of_integers", Tag.EDGE, **ROUTED, **PLAIN, fc1_act_scale=[1], unspecified=ACTIVATION_SCALES)
NO_SCALES = {name: value for name, value in PLAIN.items() if name != "fc1_scales"}
case("no_scales", Tag.EDGE, **ROUTED, **NO_SCALES, unspecified=FIRST_SCALES)


def uint8(*shape: int) -> Any:  # noqa: ANN401 - an argument
    """Return bytes of this shape."""
    return typed("uint8", np.full(shape, 0x77))


def real(*shape: int) -> Any:  # noqa: ANN401 - an argument
    """Return scales of this shape."""
    return typed("{T}", np.ones(shape))


MISFITS: dict[str, tuple[Clause, dict[str, Any]]] = {
    "input_vector": (INPUT, {"input": waves(H)}),
    "input_of_rank_4": (INPUT, {"input": waves(1, 2, 2, H)}),
    "router_vector": (ROUTER, {"router_probs": UNEQUAL[0]}),
    "router_of_other_tokens": (ROWS, {"router_probs": UNEQUAL[:3]}),
    "router_of_other_experts": (WEIGHTS_OF_ROUTER, {"router_probs": UNEQUAL[:, :2]}),
    "weights_of_router_of_other_tokens": (WEIGHTS_OF_ROUTER, {"router_weights": UNEQUAL[:3]}),
    "first_not_packed": (FIRST, {"fc1_experts_weights": uint8(E, I, H)}),
    "first_of_other_experts": (FIRST, {"fc1_experts_weights": uint8(2, I, H // 2)}),
    "first_matrix": (FIRST, {"fc1_experts_weights": uint8(I, H // 2)}),
    "second_not_packed": (SECOND, {"fc2_experts_weights": uint8(E, H, I)}),
    "second_of_other_rows": (SECOND, {"fc2_experts_weights": uint8(E, I, I // 2)}),
    "first_scales_of_rows": (FIRST_SCALES, {"fc1_scales": real(E, I)}),
    "first_scales_turned": (FIRST_SCALES, {"fc1_scales": real(E, 2, I)}),
    "second_scales_of_rows": (SECOND_SCALES, {"fc2_scales": real(E, H)}),
    "second_scales_of_two_blocks": (SECOND_SCALES, {"fc2_scales": real(E, H, 2)}),
    "first_bias_turned": (FIRST_BIAS, {"fc1_experts_bias": waves(I, E)}),
    "first_bias_vector": (FIRST_BIAS, {"fc1_experts_bias": waves(I)}),
    "second_bias_turned": (SECOND_BIAS, {"fc2_experts_bias": waves(H, E)}),
    "second_bias_of_inner": (SECOND_BIAS, {"fc2_experts_bias": waves(E, I)}),
    "first_zeros_of_rows": (FIRST_ZEROS, {"fc1_zero_points": uint8(E, I // 2)}),
    "first_zeros_not_packed": (FIRST_ZEROS, {"fc1_zero_points": uint8(E, I, 2)}),
    "second_zeros_of_rows": (SECOND_ZEROS, {"fc2_zero_points": uint8(E, H // 2)}),
    "second_zeros_of_other_rows": (SECOND_ZEROS, {"fc2_zero_points": uint8(E, I, 1)}),
}
for name, (clause, changed) in MISFITS.items():
    case(f"misfit_{name}", Tag.EDGE, **{**ROUTED, **layers(**OF_PARTS), **changed}, rejects=clause)
WHOLE: dict[str, Any] = {**ROUTED, **layers(zeros=True)}
case("misfit_scales_without_blocks", Tag.EDGE, **{**WHOLE, "fc1_scales": real(E, I, 2)}, rejects=FIRST_SCALES)
case("misfit_zeros_without_blocks", Tag.EDGE, **{**WHOLE, "fc1_zero_points": uint8(E, I, 1)}, rejects=FIRST_ZEROS)
SEPARATE: dict[str, Any] = {**ROUTED, **layers(**OF_PARTS, third=True), "activation_type": "swiglu"}
THIRDS_WRONG: dict[str, tuple[Clause, dict[str, Any]]] = {
    "weights": (THIRD, {"fc3_experts_weights": uint8(E, I, H)}),
    "scales": (THIRD_SCALES, {"fc3_scales": real(E, I)}),
    "bias": (THIRD_BIAS, {"fc3_experts_bias": waves(E, H)}),
    "zeros": (THIRD_ZEROS, {"fc3_zero_points": uint8(E, I, 2)}),
}
for name, (clause, changed) in THIRDS_WRONG.items():
    case(f"misfit_third_{name}", Tag.EDGE, **{**SEPARATE, **changed}, rejects=clause)
ODD_ROWS: dict[str, Any] = {**layers(), "fc1_experts_weights": uint8(E, 15, H // 2)}
case("odd_rows_of_swiglu", Tag.EDGE, **ROUTED, **FUSED, **ODD_ROWS, rejects=SIZE)
ODD_COLUMNS: dict[str, Any] = {
    **ROUTED, **layers(), "fc1_experts_weights": uint8(E, 15, H // 2), "fc1_scales": real(E, 15),
    "fc2_experts_weights": uint8(E, H, 7),
}  # fmt: skip
ODD_HIDDEN: dict[str, Any] = {
    **ROUTED, **layers(), "input": waves(4, 31), "fc1_experts_weights": uint8(E, I, 15),
}  # fmt: skip
case("odd_hidden_size", Tag.EDGE, **ODD_HIDDEN, rejects=LAST)
case("rows_of_half_bytes", Tag.EDGE, **ODD_COLUMNS, rejects=ALIGNED)

# Integers of three bits have a separate profile.
HALVES: dict[str, Any] = {name: typed("float16", value) for name, value in TENSORS.items()}


def three_bits(*, block: int = 32, zeros: bool = False, bits: int = 3) -> dict[str, Any]:
    """Return a call with integers of three bits in the first projection, and of other bits in the second one."""
    made = {
        **layer("fc1", 64, H, bits=3, block=block, bias=True), **layer("fc2", H, 32, bits=bits, block=block), **HALVES,
        **FUSED, "k": 2, "weights_prepacked": 0, "block_size": block, "expert_weight_bits": 3,
    }  # fmt: skip
    made["fc1_experts_bias"] = typed("float16", made["fc1_experts_bias"])
    if bits != THREE_BITS:
        made["fc2_expert_weight_bits"] = bits
    for name, rows in {"fc1": 64, "fc2": H}.items():
        made[f"{name}_scales"] = typed("float16", made[f"{name}_scales"].values)
        if zeros:
            made[f"{name}_zero_points"] = typed("uint8", packed(np.full((E, rows, 1), CODE_OF_ZERO), 3))
    return made


OF_PROFILE = (PROFILE, THIRD_AS_FIRST, BITSTREAM, PROFILE_SCALES, PROFILE_CODES, PROFILE_OMITTED)
case("three_bits", **three_bits(), cites=OF_PROFILE)
case("three_bits_with_zero_points", **three_bits(zeros=True), cites=(PROFILE_ZEROS, PADDING))
for bits in (2, 4, 8):
    case(f"three_and_{bits}_bits", **three_bits(bits=bits), cites=(BITSTREAM, OVERRIDE))
ANY_ORDER: dict[str, Any] = {"fc2_experts_weights": typed("uint8", np.full((E, H, 8), 0b00011011))}
case("three_bits_and_order_of_two", **{**three_bits(bits=2), **ANY_ORDER}, cites=BITSTREAM)
FLOAT_SCALES = {name: typed("float", np.ones((E, rows, 1))) for name, rows in (("fc1_scales", 64), ("fc2_scales", H))}
WRONG: dict[str, tuple[Clause, dict[str, Any]]] = {
    "fusion": (PROFILE, {"swiglu_fusion": 2}),
    "activation": (PROFILE, {"activation_type": "relu", "swiglu_fusion": 0}),
    "layout": (PROFILE, {"weights_prepacked": 1}),
    "block_size": (PROFILE, {"block_size": 16}),
    "third": (THIRD_AS_FIRST, {"fc3_expert_weight_bits": 4}),
    "global_scale": (PROFILE_ALONE, {"fc1_global_scale": [1, 1, 1]}),
    "activation_scale": (PROFILE_ALONE, {"fc1_act_scale": [1]}),
    "infinite_scale": (PROFILE_CODES, {"fc1_scales": typed("float16", np.full((E, 64, 1), np.inf))}),
    "negative_scale": (PROFILE_CODES, {"fc1_scales": typed("float16", np.full((E, 64, 1), -1))}),
    "type_of_scales": (PROFILE_SCALES, FLOAT_SCALES),
    "zero_point": (PROFILE_ZEROS, {"fc1_zero_points": typed("uint8", np.full((E, 64, 1), 3))}),
    "padding": (PADDING, {"fc1_zero_points": typed("uint8", np.full((E, 64, 1), 12))}),
}
for name, (clause, changed) in WRONG.items():
    case(f"three_bits_with_other_{name}", Tag.EDGE, **{**three_bits(), **changed}, rejects=clause)
ZERO_SCALES: dict[str, Any] = {"fc1_scales": typed("float16", np.zeros((E, 64, 1)))}
case("three_bits_with_scales_of_zero", **{**three_bits(), **ZERO_SCALES}, cites=PROFILE_CODES)
WITHOUT = {name: value for name, value in three_bits().items() if name != "fc2_scales"}
MORE_ROWS: dict[str, Any] = {**three_bits(), "fc1_experts_weights": uint8(E, 96, 12)}
case("three_bits_of_inner_size_48", Tag.EDGE, **MORE_ROWS, rejects=PROFILE_SIZES)
case("three_bits_without_scales", Tag.EDGE, **WITHOUT, rejects=PROFILE_SCALES)
OF_FLOAT: dict[str, Any] = {
    **three_bits(), **FLOAT_SCALES, **{name: typed("float", value) for name, value in TENSORS.items()},
    "fc1_experts_bias": typed("float", waves(E, 64)),
}  # fmt: skip
case("three_bits_of_float", Tag.EDGE, **OF_FLOAT, rejects=PROFILE_SCALES)

# Weights of float8.
NUMBERS = np.resize([0.5, -1.5, 2, 0.25, -0.75, 1, -0.125], E * 2 * I * H)


def of_float8(operands: int = 1) -> dict[str, Any]:
    """Return projections of float8."""
    first, second = NUMBERS[: E * operands * I * H], NUMBERS[: E * H * I]
    return {
        "fc1_experts_weights": typed("float8e4m3fn", first.reshape(E, operands * I, H)),
        "fc2_experts_weights": typed("float8e4m3fn", second.reshape(E, H, I)),
        "quant_type": "fp8",
    }


def square_scales(block: int, operands: int = 1) -> dict[str, Any]:
    """Return scales of square blocks."""
    made: dict[str, Any] = {"block_size": block}
    for name, shape in {"fc1_scales": (operands * I, H), "fc2_scales": (H, I)}.items():
        size = (E, *(-(-length // block) for length in shape))
        made[name] = typed("{T}", 0.125 + np.arange(np.prod(size)).reshape(size) % 5 / 8)
    return made


FLOAT8S: dict[str, Any] = {**ROUTED, **of_float8()}
OF_BLOCKS = (FLOAT8, FLOAT8_FORMULA, PARTIAL, BLOCK_SCALES)
for block in (1, 8, 12, 16, 128):
    case(f"float8_in_blocks_of_{block}", **FLOAT8S, **square_scales(block), cites=OF_BLOCKS)
case(
    "float8_of_swiglu", **ROUTED, **FUSED, **of_float8(2), **square_scales(16, 2), cites=(FLOAT8_FORMULA, WEIGHT_TYPES)
)
case("float8_of_types", each="T", **FLOAT8S, **square_scales(16), cites=(SCALE_TYPES, RETAINED, SMALL_BATCHES))
case("float8_of_experts", **FLOAT8S, **GLOBALS, cites=(GLOBAL, REQUIRED_GLOBAL))
case("float8_of_experts_block_size_zero", **FLOAT8S, **GLOBALS, block_size=0, cites=(GLOBAL, REQUIRED_GLOBAL))
case("float8_ignores_layout", **FLOAT8S, **square_scales(16), weights_prepacked=0, cites=IGNORED)
case("float8_of_unknown_layout", **FLOAT8S, **square_scales(16), weights_prepacked=2, unspecified=PREPACKED_VALUES)
ONE_OF_EXPERTS: dict[str, Any] = {"fc1_global_scale": GLOBALS["fc1_global_scale"]}
case("float8_with_scales_and_one_global_scale", **FLOAT8S, **square_scales(16), **ONE_OF_EXPERTS, unspecified=NO_GLOBAL)
SCALES_OF_FIRST = {"fc1_scales": square_scales(16)["fc1_scales"]}
case("float8_with_scales_of_first_alone", **FLOAT8S, **SCALES_OF_FIRST, **GLOBALS, unspecified=GLOBAL)
case("float8_without_scales", **FLOAT8S, block_size=16, rejects=BLOCK_SCALES)
FIRST_ONLY = {name: value for name, value in square_scales(16).items() if name != "fc2_scales"}
case("float8_without_scales_of_second", **FLOAT8S, **FIRST_ONLY, rejects=SECOND_BLOCK_SCALES)
ONE_GLOBAL: dict[str, Any] = {"fc1_global_scale": GLOBALS["fc1_global_scale"]}
case("float8_without_global_scale", **FLOAT8S, **ONE_GLOBAL, rejects=REQUIRED_GLOBAL)
case("float8_with_one_global_scale", **FLOAT8S, **{**GLOBALS, "fc1_global_scale": [1]}, rejects=REQUIRED_GLOBAL)
case("float8_with_both_scales", **FLOAT8S, **square_scales(16), **GLOBALS, unspecified=NO_GLOBAL)
SCALES_ALONE = {name: value for name, value in square_scales(16).items() if name != "block_size"}
case("float8_with_scales_of_no_blocks", **FLOAT8S, **SCALES_ALONE, **GLOBALS, unspecified=GLOBAL)
case("float8_with_activation_scale", **FLOAT8S, **square_scales(16), fc1_act_scale=[1], rejects=FLOAT8_ALONE)
POINTS: dict[str, Any] = {"fc1_zero_points": typed("float8e4m3fn", np.zeros((E, I // 2)))}
case("float8_with_zero_points", **FLOAT8S, **square_scales(16), **POINTS, rejects=FLOAT8_ALONE)
OTHER_SCALES = {**square_scales(16), "fc1_scales": real(E, I, 2)}
case("float8_with_scales_of_rows", **FLOAT8S, **OTHER_SCALES, rejects=BLOCK_SCALES)
NARROW: dict[str, Any] = {
    "fc1_scales": typed("float8e4m3fn", np.ones((E, 1, 2))), "fc2_scales": typed("float8e4m3fn", np.ones((E, 2, 1))),
}  # fmt: skip
case("float8_with_scales_of_float8", **FLOAT8S, **NARROW, block_size=16, rejects=SCALE_TYPES)
case("integers_of_float8", **{**FLOAT8S, "quant_type": "int"}, **square_scales(16), rejects=WEIGHT_TYPES)
NO_BLOCKS = {name: value for name, value in layers().items() if "scales" not in name}
case("float8_of_integers", **ROUTED, **NO_BLOCKS, quant_type="fp8", **GLOBALS, rejects=WEIGHT_TYPES)
TURNED: dict[str, Any] = {**of_float8(), "fc2_experts_weights": typed("float8e4m3fn", np.ones((E, I, H)))}
case("float8_turned", **ROUTED, **TURNED, **GLOBALS, rejects=FLOAT8)
WITH_THIRD: dict[str, Any] = {
    **of_float8(), "fc3_experts_weights": typed("float8e4m3fn", NUMBERS[: E * I * H].reshape(E, I, H)),
    "activation_type": "swiglu",
}  # fmt: skip
case("float8_with_third", **ROUTED, **WITH_THIRD, **GLOBALS, unspecified=GLOBAL)
OF_THIRD_SCALES: dict[str, Any] = {"fc3_scales": typed("{T}", 0.25 + np.arange(E * 2).reshape(E, 1, 2) / 4)}
case("float8_with_third_of_blocks", **ROUTED, **WITH_THIRD, **square_scales(16), **OF_THIRD_SCALES, cites=BLOCK_SCALES)
case("float8_without_scales_of_third", **ROUTED, **WITH_THIRD, **square_scales(16), rejects=THIRD_BLOCK_SCALES)


def ranks(sizes: Sizes) -> Array:
    """Return router_probs that rank the experts differently for each token."""
    return np.asarray(np.sin(np.arange(sizes["t"] * sizes["e"]) * 1.7).reshape(sizes["t"], sizes["e"]))


OF_MODELS = grid(t=(1, 7, 33), e=(4, 8), h=(1, 3), i=(1, 4))
for bits in (FOUR_BITS, BYTE):
    per_block = 32 * bits // BYTE
    of_sizes: dict[str, Any] = {
        "input": filled("t", ("h", 32)), "router_probs": ranks, "router_weights": filled("t", "e", floats=(0.1, 0.9)),
        "k": 2, "normalize_routing_weights": 1, "block_size": 32, "expert_weight_bits": bits, "weights_prepacked": 0,
        "fc1_experts_weights": filled("e", ("i", 64), ("h", per_block), integers=EVERY_BYTE, type_="uint8"),
        "fc1_scales": filled("e", ("i", 64), "h", floats=(0.25 / 2**bits, 1 / 2**bits)),
        "fc1_experts_bias": filled("e", ("i", 64)),
        "fc2_experts_weights": filled("e", ("h", 32), ("i", per_block), integers=EVERY_BYTE, type_="uint8"),
        "fc2_scales": filled("e", ("h", 32), "i", floats=(0.25 / 2**bits, 1 / 2**bits)),
        "fc2_experts_bias": filled("e", ("h", 32)),
        **FUSED, "activation_alpha": 1.702, "activation_beta": 1.0, "swiglu_limit": 7.0,
    }  # fmt: skip
    QMOE.sized(f"swiglu_of_{bits}_bits", OF_MODELS, cites=(FORMULA, EXPERTS.interleaved), arguments=of_sizes)
