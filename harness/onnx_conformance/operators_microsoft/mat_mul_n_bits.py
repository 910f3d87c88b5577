# SPDX-License-Identifier: Apache-2.0
"""MatMulNBits: the product of a matrix and of weights that are quantized to a few bits in blocks.

    Y = MatMulNBits(A, B, scales, zero_points=None, g_idx=None, bias=None, K, N, accuracy_level=0, bits=4, block_size,
                    weight_prepacked=0)

Versions: 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, bounded, typed
from onnx_conformance.declare.families.sums import BEYOND_FLOAT16, but_where, overflows, roundings
from onnx_conformance.declare.sizes import EVERY_BYTE, filled, grid
from onnx_conformance.operators.math._matrix_product import product_of_doubles
from onnx_conformance.operators_microsoft._packed_bits import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.declare.sizes import Sizes

BYTE = 8
LEAST_BLOCK = 16
WIDTHS = (2, 4, 8)
"""The numbers of bits for which the text defines one answer."""
HALF, BRAIN, INT8 = 2, 3, 4
"""Accuracy levels at which A may be rounded."""
ROUNDED_TO = {HALF: 2.0**-11, BRAIN: 2.0**-8}
"""Half a unit of the types that A may be rounded to, by accuracy level."""


def _weights(B: Array, scales: Array, zero_points: Array | None, *, K: int, bits: int, block_size: int) -> Array:
    """Return the dequantized weights, [N, K]."""
    codes = unpacked(B, bits)
    blocks = codes.shape[1]
    if zero_points is None:
        zero: Array = np.full((1, blocks), 2.0 ** (bits - 1))
    elif zero_points.dtype == np.uint8:
        zero = unpacked(zero_points, bits)[:, :blocks]
    else:
        zero = zero_points
    real = (codes - zero[..., None]) * scales[..., None]
    return real.reshape(len(B), blocks * block_size)[:, :K]


def _rounding(
    v: Version,
    A: Array,
    B: Array,
    scales: Array,
    zero_points: Array | None,
    bias: Array | None,
    *,
    K: int,
    N: int,
    accuracy_level: int,
    bits: int,
    block_size: int,
    **_: object,
) -> list[Array]:
    """Return the error in epsilons of the type.

    It is half a rounding of all magnitudes for each product and sum, in float32 at least; a rounding of each weight to
    the type, because dequantization is a separate operation; the rounding of the result; and that of A, if the
    accuracy level allows it.
    """
    shape = (*A.shape[:-1], N)
    if not B.size:
        return [np.zeros(shape)]
    weights = np.abs(_weights(B, scales, zero_points, K=K, bits=bits, block_size=block_size)).T
    sizes = np.abs(A)
    terms = product_of_doubles(sizes, weights)
    whole = terms + (0 if bias is None else np.abs(bias))
    epsilon = float(ml_dtypes.finfo(v.dtypes["T1"]).eps)  # type: ignore[no-untyped-call]
    single = float(np.finfo(np.float32).eps)
    error = whole * roundings(K + 3) / 2 * single
    if epsilon > single:
        error = error + terms * roundings(K) / K * epsilon + whole * epsilon
    with np.errstate(invalid="ignore"):  # An infinity times a zero.
        error = error + terms * ROUNDED_TO.get(accuracy_level, 0)
    if accuracy_level == INT8:
        padded = np.zeros((*A.shape[:-1], -(-K // block_size) * block_size))
        padded[..., :K] = sizes
        most = padded.reshape(*A.shape[:-1], -1, block_size).max(-1, keepdims=True)
        step = np.broadcast_to(most / 127, (*most.shape[:-1], block_size)).reshape(padded.shape)[..., :K]
        error = error + product_of_doubles(step, weights)
    return [np.asarray(error / epsilon)]


NBITS = Op(
    "MatMulNBits",
    versions=(1,),
    compare=bounded(
        _rounding, "weights, products, sums and the bias round; A does if accuracy_level allows it", steps=True
    ),
    domain="com.microsoft",
    rank="A",
)

FUSION = NBITS.clause(
    "MatMulNBits performs a matrix multiplication where the right-hand-side matrix (weights) is quantized to N bits."
)
FORMULA = NBITS.clause("dequantized_weight = (quantized_weight - zero_point) * scale")
PRODUCT = NBITS.clause(
    "Matrix multiplication between the input matrix A and the dequantized weight matrix.",
    note="The weights are [N, K], so the product is that with their transpose. Leading dimensions of A are kept.",
)
LOGICAL = NBITS.clause(
    "The logical weight matrix is 2D, with the input feature count and output feature count specified by attributes "
    "'K' and 'N'."
)
BLOCKWISE = NBITS.clause(
    "It is quantized block-wise along the K dimension with a block size specified by the 'block_size' attribute."
)
BLOCK_SIZE = NBITS.clause(
    "The block size must be a power of 2 and not smaller than 16 (e.g., 16, 32, 64, 128).",
    note="There is no upper limit; a block may be longer than K.",
)
BLOCK_ATTRIBUTE = NBITS.clause("Must be a power of two and ≥ 16 (e.g., 16, 32, 64, 128).")
OWN = NBITS.clause("Each block has its own scale and zero-point.")
WIDTH = NBITS.clause(
    "The quantization is performed using a bit-width specified by the 'bits' attribute, which can take values from 2 "
    "to 8.",
    force=None,
)
SUPPORTED = NBITS.clause(
    "Bit-width used to quantize the weights (supported values: 2, 4, 8)",
    note="This contradicts the description of the operator, in which 3, 5, 6 and 7 are allowed.",
)
PACKED = NBITS.clause(
    "The quantized weights are stored in a bit-packed format along the K dimension, with each block being represented "
    "by a blob of uint8."
)
NIBBLES = NBITS.clause(
    "For example, for 4 bits, the first 4 bits are stored in the lower 4 bits of a byte, and the second 4 bits are "
    "stored in the higher 4 bits of a byte.",
    note="With 2 bits, the first ones are the lowest, too.",
)
OMITTED = NBITS.clause(
    "When weight_prepacked is 0, B may represent an omitted projection by replacing one or more dimensions of its "
    "packed shape (N, k_blocks, blob_size) with 0."
)
REMAINING = NBITS.clause("All remaining dimensions must retain their normal values.")
ZEROS = NBITS.clause("In this case, Y is filled with zeros (or the broadcast bias, if provided).", result=True)
STILL = NBITS.clause("Its shape is still determined by A, K and N.", result=True)
NOT_USED = NBITS.clause(
    "The contents of A, scales, zero_points and g_idx are not used; the quantization parameters may also be empty.",
    note="An empty parameter has no elements, whatever its shape is.",
)
B_SHAPE = NBITS.clause(
    "Packed uint8 tensor of shape (N, k_blocks, blob_size), where k_blocks = ceil(K / block_size) and blob_size = "
    "(block_size * bits / 8).",
    note="If K is not a multiple of block_size, the rest of the last block has no meaning.",
)
WITHIN = NBITS.clause(
    "The quantized weights are stored in a bit-packed format along the K dimension, packed within each block_size."
)
SCALES = NBITS.clause(
    "Per-block scaling factors for dequantization with shape (N, k_blocks) and same data type as input A."
)
PACKED_ZEROS = NBITS.clause(
    "Packed (uint8) format has shape (N, ceil(k_blocks * bits / 8)), and it uses same bit-packing method as Input B."
)
UNPACKED_ZEROS = NBITS.clause("Unpacked (same type as A) format has shape (N, k_blocks).")
DEFAULT_ZERO = NBITS.clause(
    "If not provided, a default zero point is used: 2^(bits - 1) (e.g., 8 for 4-bit quantization, 128 for 8-bit)."
)
INDEX = NBITS.clause("group_idx. This input is deprecated", note="The text does not define its meaning.")
BIAS = NBITS.clause("Bias to add to result. It should have shape [N].")
RANK = NBITS.clause(
    "The output tensor has the same rank as the input.",
    note="A vector of K elements has a product with N elements. A scalar has none.",
)
FEATURES = NBITS.clause("Input feature dimension of the weight matrix.")
OUTPUTS = NBITS.clause("Output feature dimension of the weight matrix.")
ACCURACY = NBITS.clause(
    "The minimum accuracy level of input A, can be: 0(unset), 1(fp32), 2(fp16), 3(bf16), or 4(int8) (default unset)."
)
NOT_DOWNCAST = NBITS.clause("0 means input A will not be quantized or downcast while doing computation.", result=True)
MAY_BE_INT8 = NBITS.clause(
    "4 means input A can be quantized with the same block_size to int8 internally from type T1.", result=True
)
LAYOUT = NBITS.clause(
    "If set, input B is already prepacked into an EP-specific layout and the EP skips runtime weight prepacking.",
    note="The text does not define the layout, so only the value 0 has a defined result.",
)
NOT_PREPACKED = NBITS.clause("0 (default): not prepacked.")


@NBITS.oracle()
def product(
    v: Version,
    A: Array,
    B: Array,
    scales: Array,
    zero_points: Array | None,
    g_idx: Array | None,
    bias: Array | None,
    K: int,
    N: int,
    accuracy_level: int,
    bits: int,
    block_size: int,
    weight_prepacked: int,
) -> Result:
    """Return the product of A and the transposed dequantized weights, plus the bias."""
    v.require(WIDTH, 2 <= bits <= BYTE)  # noqa: PLR2004 - as in the sentence
    v.silent(SUPPORTED, bits not in WIDTHS)
    v.require(BLOCK_SIZE, block_size >= LEAST_BLOCK and block_size.bit_count() == 1)
    v.require(ACCURACY, 0 <= accuracy_level <= INT8)
    v.silent(LAYOUT, weight_prepacked != 0)
    v.require(RANK, A.ndim > 0)
    v.require(FEATURES, A.shape[-1] == K)
    v.require(BIAS, bias is None or bias.shape == (N,))
    shape = N, -(-K // block_size), block_size * bits // BYTE
    if not B.size:
        v.require(REMAINING, B.ndim == len(shape))
        v.require(REMAINING, all(size in {0, whole} for size, whole in zip(B.shape, shape, strict=True)))
        return np.zeros((*A.shape[:-1], N)) + (0 if bias is None else bias)
    v.require(B_SHAPE, B.shape == shape)
    v.require(SCALES, scales.shape == shape[:2])
    v.silent(INDEX, g_idx is not None)
    if zero_points is not None and zero_points.dtype == np.uint8:
        v.require(PACKED_ZEROS, zero_points.shape == (N, -(-shape[1] * bits // BYTE)))
    elif zero_points is not None:
        v.require(UNPACKED_ZEROS, zero_points.shape == shape[:2])
        v.require(UNPACKED_ZEROS, v.dtypes["T3"] == v.dtypes["T1"])
    added = np.zeros(()) if bias is None else bias
    with np.errstate(all="ignore"):
        weights = _weights(B, scales, zero_points, K=K, bits=bits, block_size=block_size).T
        total = product_of_doubles(A, weights) + added
        magnitudes = product_of_doubles(np.abs(A), np.abs(weights)) + np.abs(added)
        return but_where(overflows(total, magnitudes, v.dtypes["T1"]), total)


case = NBITS.case


def waves(*shape: int, start: int = 0) -> Array:
    """Return numbers of both signs. All rows and columns are different."""
    return np.sin((start + np.arange(np.prod(shape, dtype=int))) * 1.7).reshape(shape) * 3


def weights(n: int, k: int, *, bits: int = 4, block_size: int = 16, zeros: str = "") -> dict[str, Any]:
    """Return B, scales and attributes, and zero points of both formats if `zeros` is packed or unpacked."""
    blocks = -(-k // block_size)
    size = block_size * bits // BYTE
    codes = np.arange(n * blocks * size).reshape(n, blocks, size)
    made: dict[str, Any] = {
        "B": (codes * 37 + codes // 7) % 256,
        "scales": 0.25 + np.arange(n * blocks).reshape(n, blocks) % 7 / 16,
        "K": k, "N": n, "bits": bits, "block_size": block_size,
    }  # fmt: skip
    points = (np.arange(n * blocks).reshape(n, blocks) * 5 + 1) % 2**bits
    if zeros == "packed":
        made["zero_points"] = typed("uint8", packed(points, bits))
    if zeros == "unpacked":
        made["zero_points"] = typed("{T1}", points + 0.25)
    return made


NBITS.example(A=waves(2, 32), **weights(3, 32), bias=[1, -2, 3])
PLAIN = weights(3, 32)
case("plain", A=waves(2, 32), **PLAIN, cites=(FUSION, FORMULA, PRODUCT, LOGICAL, BLOCKWISE, OWN, NIBBLES, NOT_DOWNCAST))
for bits in WIDTHS:
    of_width: dict[str, Any] = {"A": waves(2, 40)}
    case(
        f"{bits}_bits", each="T1", **of_width, **weights(3, 40, bits=bits), cites=(WIDTH, PACKED, DEFAULT_ZERO, WITHIN)
    )
    for zeros, clause in {"packed": PACKED_ZEROS, "unpacked": UNPACKED_ZEROS}.items():
        of_zeros = weights(3, 40, bits=bits, zeros=zeros)
        case(f"{bits}_bits_{zeros}_zero_points", each="T1", **of_width, **of_zeros, cites=(FORMULA, clause))
        of_five = weights(2, 80, bits=bits, zeros=zeros)
        case(f"{bits}_bits_{zeros}_zero_points_of_five_blocks", A=waves(3, 80), **of_five, cites=(OWN, clause))
case(
    "default_bits", A=waves(2, 32), **{name: value for name, value in PLAIN.items() if name != "bits"}, cites=SUPPORTED
)
for bits in (3, 5, 6, 7):
    case(f"{bits}_bits", Tag.EDGE, A=waves(2, 32), **weights(3, 32, bits=bits), unspecified=SUPPORTED)
for bits in (0, 1, 9, 16):
    case(f"{bits}_bits", Tag.EDGE, A=waves(2, 32), **{**weights(3, 32, bits=8), "bits": bits}, rejects=WIDTH)
for size in (16, 32, 64, 128, 256):
    of_size = weights(3, 96, block_size=size, zeros="packed")
    case(f"blocks_of_{size}", A=waves(2, 96), **of_size, cites=(BLOCKWISE, BLOCK_ATTRIBUTE, B_SHAPE, SCALES))
for size in (1, 8, 24, 48):
    wrong = {**weights(3, 32), "block_size": size}
    case(f"blocks_of_{size}", Tag.EDGE, A=waves(2, 32), **wrong, rejects=BLOCK_SIZE)
for size in (0, -16):
    wrong = {**weights(3, 32), "block_size": size}
    case(f"blocks_of_{'minus_' * (size < 0)}{abs(size)}", Tag.EDGE, A=waves(2, 32), **wrong, rejects=BLOCK_SIZE)
for k in (1, 15, 17, 33):
    case(f"{k}_features", Tag.EDGE, A=waves(2, k), **weights(3, k, zeros="packed"), cites=(B_SHAPE, FEATURES))
for n in (1, 2, 17):
    case(f"{n}_outputs", Tag.EDGE, A=waves(2, 32), **weights(n, 32, zeros="packed"), cites=OUTPUTS)
RANKS = {"vector": (32,), "one_row": (1, 32), "stack": (2, 3, 32), "rank4": (2, 1, 3, 32), "no_rows": (0, 32),
         "no_stack": (2, 0, 32)}  # fmt: skip
for name, shape in RANKS.items():
    case(f"{name}_of_a", Tag.EDGE, A=waves(*shape), **PLAIN, bias=[1, -2, 3], cites=(RANK, PRODUCT))
case("scalar_a", Tag.EDGE, A=1.5, **weights(3, 1), rejects=RANK)
case("bias", each="T1", A=waves(2, 32), **PLAIN, bias=[10, -20, 30], cites=BIAS)
case(
    "zero_points_and_bias", each="T1", A=waves(2, 32), **weights(3, 32, zeros="packed"), bias=[10, -20, 30], cites=BIAS
)
NEGATIVE = {**PLAIN, "scales": np.array([[-1, 2], [0, -0.25], [0.5, -3]])}
case("negative_scales", Tag.EDGE, A=waves(2, 32), **NEGATIVE, cites=FORMULA)
case("large_zero_points", Tag.EDGE, A=waves(2, 32), **PLAIN, zero_points=typed("{T1}", [[-20, 30], [0, 99], [0.5, -3]]),
     cites=UNPACKED_ZEROS)  # fmt: skip
for level in range(5):
    of_level: dict[str, Any] = {"accuracy_level": level, "bias": [10, -20, 30]}
    case(
        f"accuracy_level_{level}",
        each="T1",
        A=waves(2, 64),
        **weights(3, 64),
        **of_level,
        cites=(ACCURACY, MAY_BE_INT8),
    )
    with_zeros = weights(3, 64, block_size=32, zeros="packed")
    case(f"accuracy_level_{level}_zero_points", each="T1", A=waves(2, 64), **with_zeros, **of_level, cites=ACCURACY)
for name, level in {"minus_1": -1, "5": 5}.items():
    case(f"accuracy_level_{name}", Tag.EDGE, A=waves(2, 32), **PLAIN, accuracy_level=level, rejects=ACCURACY)
case("not_prepacked", A=waves(2, 32), **PLAIN, weight_prepacked=0, cites=NOT_PREPACKED)
for layout in (1, 2, 3):
    case(f"prepacked_{layout}", Tag.EDGE, A=waves(2, 32), **PLAIN, weight_prepacked=layout, unspecified=LAYOUT)
case("index", Tag.EDGE, A=waves(2, 32), **PLAIN, g_idx=np.arange(32) // 16, unspecified=INDEX)

EMPTY = {"n": (0, 2, 8), "blocks": (3, 0, 8), "blob": (3, 2, 0), "all": (0, 0, 0), "n_and_blob": (0, 2, 0)}
for name, shape in EMPTY.items():
    omitted: dict[str, Any] = {**PLAIN, "B": np.zeros(shape)}
    case(f"omitted_{name}", Tag.EDGE, A=waves(2, 32), **omitted, cites=(OMITTED, ZEROS, STILL))
    case(f"omitted_{name}_with_bias", Tag.EDGE, A=waves(2, 4, 32), **omitted, bias=[1, -2, 3], cites=(ZEROS, STILL))
    unused = {**omitted, "scales": np.zeros((0, 2))}
    case(f"omitted_{name}_without_scales", Tag.EDGE, A=waves(2, 32), **unused, bias=[1, -2, 3], cites=NOT_USED)
STRANGE = {**PLAIN, "B": np.zeros((0, 2, 8)), "scales": np.full((3, 2), np.nan)}
case("omitted_with_nan", Tag.EDGE, A=waves(2, 32) * np.nan, **STRANGE, g_idx=np.arange(32), cites=NOT_USED)
OMITTED_POINTS = {**STRANGE, "zero_points": typed("uint8", np.zeros((0, 1)))}
case("omitted_with_zero_points", Tag.EDGE, A=waves(2, 32), **OMITTED_POINTS, cites=NOT_USED)
for name, shape in {"blocks": (0, 3, 8), "blob": (3, 0, 9), "n": (2, 2, 0), "rank": (0, 2)}.items():
    remaining = {**PLAIN, "B": np.zeros(shape)}
    case(f"omitted_of_other_{name}", Tag.EDGE, A=waves(2, 32), **remaining, rejects=REMAINING)

MISFITS: dict[str, tuple[Any, Mapping[str, Any]]] = {
    "features": (FEATURES, {"A": waves(2, 31)}),
    "outputs": (B_SHAPE, {"N": 4}),
    "blocks": (B_SHAPE, {"B": np.zeros((3, 3, 8))}),
    "blob": (B_SHAPE, {"B": np.zeros((3, 2, 16))}),
    "rank_of_b": (B_SHAPE, {"B": np.zeros((3, 16))}),
    "scales_of_blocks": (SCALES, {"scales": np.ones((3, 3))}),
    "scales_turned": (SCALES, {"scales": np.ones((2, 3))}),
    "scales_of_outputs": (SCALES, {"scales": np.ones((2, 2))}),
    "scales_as_cube": (SCALES, {"scales": np.ones((3, 2, 1))}),
    "zero_points_not_packed": (PACKED_ZEROS, {"zero_points": typed("uint8", np.ones((3, 2)))}),
    "zero_points_of_outputs": (PACKED_ZEROS, {"zero_points": typed("uint8", np.ones((2, 1)))}),
    "real_zero_points_packed": (UNPACKED_ZEROS, {"zero_points": typed("{T1}", np.ones((3, 1)))}),
    "real_zero_points_turned": (UNPACKED_ZEROS, {"zero_points": typed("{T1}", np.ones((2, 3)))}),
    "zero_points_of_other_type": (UNPACKED_ZEROS, {"zero_points": typed("float16", np.ones((3, 2)))}),
    "bias_of_one": (BIAS, {"bias": [1]}),
    "bias_scalar": (BIAS, {"bias": 1}),
    "bias_of_features": (BIAS, {"bias": np.ones(32)}),
    "bias_matrix": (BIAS, {"bias": [[1, 2, 3]]}),
}
for name, (clause, changed) in MISFITS.items():
    case(f"misfit_{name}", Tag.EDGE, **{"A": typed("float", waves(2, 32)), **PLAIN, **changed}, rejects=clause)

REST = weights(1, 20, block_size=32)
FULL = np.array(REST["B"])
FULL[..., 10:] = 255
case("rest_of_block", Tag.EDGE, A=waves(2, 20), **{**REST, "B": FULL}, cites=B_SHAPE)
CODES: dict[str, Any] = {"K": 16, "N": 16, "block_size": 16, "scales": np.ones((16, 1))}
EVERY_CODE = packed(np.arange(256).reshape(16, 16) % 16, 4)[:, None]
case("every_code_of_4_bits", A=np.eye(16), **CODES, B=EVERY_CODE, cites=(FORMULA, NIBBLES))
EVERY_BYTE_ONCE = np.arange(256).reshape(16, 1, 16)
case("every_code_of_8_bits", A=np.eye(16), **CODES, B=EVERY_BYTE_ONCE, bits=8, cites=FORMULA)
case("every_code_of_2_bits", A=np.eye(16), **CODES, B=np.arange(64).reshape(16, 1, 4) * 4 + 2, bits=2, cites=FORMULA)
ONE: dict[str, Any] = {
    "K": 16,
    "N": 1,
    "block_size": 16,
    "bits": 8,
    "scales": typed("float16", [[1]]),
    "B": [[[129] * 16]],
}
TERMS = typed("float16", np.concatenate([BEYOND_FLOAT16, np.zeros((8, 11))], 1))
case("partial_sums_beyond_float16", Tag.EDGE, A=TERMS, **ONE, cites=PRODUCT)
INFINITE = {**PLAIN, "B": np.full((3, 2, 8), 0x99)}
case("not_finite", Tag.EDGE, A=np.where(np.eye(3, 32), [[np.inf], [np.nan], [-np.inf]], 1), **INFINITE, cites=PRODUCT)
STRANGE_SCALES = {**INFINITE, "scales": np.array([[np.inf, 1], [np.nan, 1], [1, 1]])}
case("scales_not_finite", Tag.EDGE, A=np.ones((2, 32)), **STRANGE_SCALES, cites=FORMULA)


def features(block_size: int) -> dict[str, Any]:
    """Return attributes for weights of two blocks for each of `h`."""

    def of_k(sizes: Sizes) -> int:
        return 2 * block_size * sizes["h"]

    def of_n(sizes: Sizes) -> int:
        return sizes["n"]

    return {"K": of_k, "N": of_n, "block_size": block_size}


SOME = grid(m=(1, 17), h=(1, 5, 16), n=(7, 64, 129))
for bits in WIDTHS:
    for size in (16, 32, 128):
        of_sizes: dict[str, Any] = {
            "A": filled("m", ("h", 2 * size)),
            "B": filled("n", ("h", 2), size * bits // BYTE, integers=EVERY_BYTE),
            "scales": filled("n", ("h", 2), floats=(0.01, 0.1)), "bits": bits, **features(size),
        }  # fmt: skip
        chosen = SOME if (bits, size) == (4, 32) else SOME[::4]
        name = f"{bits}_bits_in_blocks_of_{size}"
        NBITS.sized(name, chosen, each="T1", cites=(FORMULA, PRODUCT), arguments=of_sizes)
        of_points = {
            **of_sizes,
            "zero_points": filled("n", ("h", math.ceil(bits / 4)), integers=EVERY_BYTE, type_="uint8"),
        }
        if bits > 2:  # noqa: PLR2004 - two zero points of 2 bits do not fill a byte
            NBITS.sized(f"{name}_with_zero_points", chosen[::2], each="T1", cites=PACKED_ZEROS, arguments=of_points)
        fast = {**of_sizes, "accuracy_level": INT8, "bias": filled("n")}
        NBITS.sized(f"{name}_of_level_4", chosen[::2], cites=MAY_BE_INT8, arguments=fast)
