# SPDX-License-Identifier: Apache-2.0
"""RotaryEmbedding: rotate pairs of the elements of each head by the angles of its position.

    Y = RotaryEmbedding(X, cos_cache, sin_cache, position_ids=None, interleaved=0, num_heads=None,
                        rotary_embedding_dim=0)

Version: 23.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, PartlyOpen, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.families.sums import but_where, overflows
from onnx_conformance.declare.sizes import filled, grid

if TYPE_CHECKING:
    from onnx_conformance.declare import Int

IMAGE_RANK, PACKED_RANK = 4, 3
"""The ranks of (batch_size, num_heads, sequence_length, head_size) and (batch_size, sequence_length, hidden_size)."""


def _heads(X: Array, num_heads: int | None) -> Array:
    """Return X as (batch_size, sequence_length, num_heads, head_size)."""
    if num_heads is None or X.ndim == IMAGE_RANK:
        return X.transpose(0, 2, 1, 3)
    return X.reshape(*X.shape[:2], num_heads, X.shape[2] // num_heads)


def _rotated(
    X: Array,
    cos_cache: Array,
    sin_cache: Array,
    position_ids: Array | None,
    interleaved: int,
    num_heads: int | None,
    rotary_embedding_dim: int,
    *,
    magnitudes: bool = False,
) -> Array:
    """Return the output of the algorithm, or the sums of the absolute products."""
    heads = _heads(X, num_heads)
    size = rotary_embedding_dim or heads.shape[3]
    x_rotate, x_not_rotate = heads[..., :size], heads[..., size:]
    if position_ids is not None:
        cos_cache, sin_cache = cos_cache[position_ids], sin_cache[position_ids]
    cos, sin = cos_cache[:, :, None], sin_cache[:, :, None]
    x1, x2 = (x_rotate[..., 0::2], x_rotate[..., 1::2]) if interleaved else np.split(x_rotate, 2, -1)
    if magnitudes:
        cos, sin, x1, x2 = np.abs(cos), np.abs(sin), np.abs(x1), np.abs(x2)
    real, imaginary = cos * x1 + (sin if magnitudes else -sin) * x2, sin * x1 + cos * x2
    if interleaved:
        rotated = np.stack([real, imaginary], -1).reshape(x_rotate.shape)
    else:
        rotated = np.concatenate([real, imaginary], -1)
    whole = np.concatenate([rotated, np.zeros_like(x_not_rotate) if magnitudes else x_not_rotate], -1)
    return whole.reshape(X.shape) if X.ndim == PACKED_RANK else whole.transpose(0, 2, 1, 3)


def _rounding(**arguments: Any) -> list[Array]:  # noqa: ANN401 - see `_rotated`
    """Return one and a half roundings of both magnitudes, for two products, their sum and the expected value."""
    with np.errstate(all="ignore"):
        return [_rotated(**arguments, magnitudes=True) * 1.5]


ROTARY = Op(
    "RotaryEmbedding",
    versions=(23,),
    compare=bounded(_rounding, "two products and their sum round by half an epsilon each"),
    rank="X",
)
ROTARY.example(
    X=waves(2, 3, 4, 6),
    cos_cache=np.cos(np.arange(15.0)).reshape(5, 3),
    sin_cache=np.sin(np.arange(15.0)).reshape(5, 3),
    position_ids=typed("int64", [[0, 1, 2, 3], [4, 2, 2, 0]]),
    interleaved=0,
    num_heads=3,
    rotary_embedding_dim=6,
)

SPLIT = ROTARY.clause(
    "This is done by splitting the embedding vector either into two halves or interleaving every alternate token and "
    "applying the rotation matrix to each half of the embedding vector."
)
JOINED = ROTARY.clause(
    "The rotated halves of the embedding vector are concatenated to form the final positional embedding for each token."
)
ALGORITHM = ROTARY.clause("Rotary embeddings are defined using the following algorithm:")
TO_HEADS = ROTARY.clause("input = np.transpose(input, (0, 2, 1, 3))")
NOT_ZERO = ROTARY.clause("assert num_heads != 0", note="The text does not define a negative number.")
FULL = ROTARY.clause(
    "If rotary_embedding_dim not provided, perform full rotation by using head_size",
    note="The text does not define a number of elements that is odd, negative or greater than head_size.",
)
GATHERED = ROTARY.clause(
    "cos_cache = cos_cache[ position_ids ]",
    note="numpy rejects an index outside the cache. Only numpy counts a negative index from the end; the text does "
    "not.",
)
COSINES = ROTARY.clause("if cos_cache.shape[-1] != rotary_embedding_dim_half: raise ValueError(")
SINES = ROTARY.clause("if sin_cache.shape[-1] != rotary_embedding_dim_half: raise ValueError(")
REAL = ROTARY.clause("real = (cos_cache * x1) - (sin_cache * x2)")
IMAGINARY = ROTARY.clause("imag = (sin_cache * x1) + (cos_cache * x2)")
HEADS = ROTARY.clause("Number of attention heads. Must be provided when input is a 3D tensor.")
PARTIAL = ROTARY.clause("Rotary embedding dimension used to apply partial rotary embeddings.")
INTERLEAVED = ROTARY.clause("Rotate using interleaved pattern. Default value is 0 (False).")
INPUT = ROTARY.clause(
    "4D tensor with shape `(batch_size, num_heads, sequence_length, head_size)` or 3D tensor with shape `(batch_size, "
    "sequence_length, hidden_size)`."
)
EVEN = ROTARY.clause("For cases with a 4D input tensor, `head_size` has to be even.")
MULTIPLE = ROTARY.clause(
    "For cases with a 3D input tensor, `num_heads` attribute must be provided and `hidden_size` must be an even "
    "multiple of `num_heads` where `hidden_size = num_heads * head_size`"
)
TWO_D = ROTARY.clause(
    "2D tensor with shape `(max_position_id_plus_1, head_size / 2)` for full rotation or `(max_position_id_plus_1, "
    "rotary_embedding_dim / 2)` for partial rotation when `position_ids` are provided."
)
THREE_D = ROTARY.clause(
    "3D tensor with shape `(batch_size, sequence_length, head_size / 2)` for full rotation or `(batch_size, "
    "sequence_length, rotary_embedding_dim / 2)` for partial rotation when `position_ids` are not provided."
)
POSITIONS = ROTARY.clause("The position indices for the tokens. 2D tensor with shape `(batch_size, sequence_length)`")
SAME_SHAPE = ROTARY.clause("Tensor with same shape as input.", result=True)
FLOATS = ROTARY.clause("Constrain input and output types to float tensors.")


@ROTARY.oracle()
def rotated(
    v: Version,
    X: Array,
    cos_cache: Array,
    sin_cache: Array,
    position_ids: Array | None,
    interleaved: int,
    num_heads: Int,
    rotary_embedding_dim: int,
) -> Array | PartlyOpen:
    """Return X with the first elements of each head rotated."""
    v.require(INPUT, X.ndim in {PACKED_RANK, IMAGE_RANK})
    if X.ndim == PACKED_RANK:
        v.require(HEADS, num_heads is not None)
        assert num_heads is not None  # noqa: S101 - otherwise rejected
        v.silent(NOT_ZERO, num_heads < 0)
        v.require(NOT_ZERO, num_heads != 0)
        v.require(MULTIPLE, X.shape[2] % (2 * num_heads) == 0)
        batch, length, size = X.shape[0], X.shape[1], X.shape[2] // num_heads
    else:
        batch, _, length, size = X.shape
        v.require(EVEN, size % 2 == 0)
    rotates = rotary_embedding_dim or size
    v.silent(FULL, not 0 <= rotates <= size or rotates % 2 == 1)
    for cache, clause in ((cos_cache, COSINES), (sin_cache, SINES)):
        v.require(THREE_D if position_ids is None else TWO_D, cache.ndim == (3 if position_ids is None else 2))
        v.require(clause, cache.shape[-1] == rotates // 2)
        v.require(THREE_D, position_ids is not None or cache.shape[:2] == (batch, length))
    if position_ids is not None:
        v.require(POSITIONS, position_ids.shape == (batch, length))
        v.silent(TWO_D, cos_cache.shape != sin_cache.shape)
        v.silent(GATHERED, bool((position_ids < 0).any()))
        v.require(GATHERED, bool((position_ids < len(cos_cache)).all()))
    arguments = (X, cos_cache, sin_cache, position_ids, interleaved, num_heads, rotary_embedding_dim)
    with np.errstate(all="ignore"):
        total = _rotated(*arguments)
        return but_where(overflows(total, _rotated(*arguments, magnitudes=True), v.dtypes["T"]), total)


def caches(*shape: int) -> dict[str, Any]:
    """Return cosines and sines of angles of a shape. All angles are different."""
    angles = np.arange(1.0, np.prod(shape) + 1).reshape(shape) * 0.7
    return {"cos_cache": np.cos(angles), "sin_cache": np.sin(angles)}


case = ROTARY.case
X = waves(2, 3, 4, 6)
PACKED = waves(2, 4, 18)
IDS = [[0, 3, 1, 4], [4, 2, 2, 0]]

case("plain", X=X, **caches(2, 4, 3), cites=(ALGORITHM, SPLIT, JOINED, REAL, IMAGINARY, TO_HEADS, THREE_D, SAME_SHAPE))
case("positions", X=X, **caches(5, 3), position_ids=IDS, cites=(GATHERED, TWO_D, POSITIONS))
case("interleaved", X=X, **caches(2, 4, 3), interleaved=1, cites=(INTERLEAVED, SPLIT))
case("interleaved_positions", X=X, **caches(5, 3), position_ids=IDS, interleaved=1, cites=(INTERLEAVED, GATHERED))
case("packed", X=PACKED, **caches(2, 4, 3), num_heads=3, cites=(HEADS, MULTIPLE, INPUT))
case("packed_positions", X=PACKED, **caches(5, 3), position_ids=IDS, num_heads=3, cites=(HEADS, MULTIPLE))
case("packed_interleaved", X=PACKED, **caches(2, 4, 3), num_heads=3, interleaved=1, cites=(HEADS, INTERLEAVED))
case("packed_one_head", X=waves(2, 4, 6), **caches(2, 4, 3), num_heads=1, cites=HEADS)
case("partial", X=X, **caches(2, 4, 2), rotary_embedding_dim=4, cites=(PARTIAL, THREE_D))
case("partial_interleaved", X=X, **caches(2, 4, 2), rotary_embedding_dim=4, interleaved=1, cites=PARTIAL)
PARTIALLY: dict[str, Any] = {"position_ids": IDS, "rotary_embedding_dim": 2}
case("partial_positions", X=X, **caches(5, 1), **PARTIALLY, cites=(PARTIAL, TWO_D))
case("partial_packed", X=PACKED, **caches(5, 1), **PARTIALLY, num_heads=3, interleaved=1, cites=(PARTIAL, HEADS))
case("partial_of_all", X=X, **caches(2, 4, 3), rotary_embedding_dim=6, cites=(PARTIAL, FULL))
case("partial_zero", X=X, **caches(2, 4, 3), rotary_embedding_dim=0, cites=FULL)
case("heads_of_4d", X=X, **caches(2, 4, 3), num_heads=3, cites=INPUT)
QUARTER: dict[str, Any] = {
    "cos_cache": [[[0.0, 1.0]]],
    "sin_cache": [[[1.0, 0.0]]],
}  # Rotated by a right angle, and not rotated.
case("quarter_turn", X=[[[[1, 2, 3, 4]]]], **QUARTER, cites=(REAL, IMAGINARY))
case("quarter_turn_interleaved", X=[[[[1, 2, 3, 4]]]], **QUARTER, interleaved=1, cites=(REAL, IMAGINARY))
case("one_position", Tag.EDGE, X=waves(2, 3, 1, 4), **caches(5, 2), position_ids=[[4], [0]], cites=GATHERED)
case("long_cache", X=waves(1, 2, 3, 4), **caches(50, 2), position_ids=[[49, 0, 17]], cites=GATHERED)
case("no_batch", Tag.EDGE, X=ramp(0, 3, 4, 6), **caches(0, 4, 3), cites=INPUT)
case("no_tokens", Tag.EDGE, X=ramp(2, 3, 0, 6), **caches(2, 0, 3), cites=INPUT)
case("no_elements", Tag.EDGE, X=ramp(2, 3, 4, 0), **caches(2, 4, 0), cites=INPUT)
case("no_heads", Tag.EDGE, X=ramp(2, 0, 4, 6), **caches(2, 4, 3), cites=INPUT)
NOT_FINITE = [[[[np.inf, 1, 2, np.nan]]]]
case("not_finite", Tag.EDGE, X=NOT_FINITE, **caches(1, 1, 2), cites=REAL)
case(
    "not_finite_kept",
    Tag.EDGE,
    X=[[[[1, 2, np.inf, np.nan]]]],
    **caches(1, 1, 1),
    rotary_embedding_dim=2,
    cites=PARTIAL,
)
TINY = [[[[1, 2, 1e-20, 3e-20]]]]
case("tiny_kept", Tag.EDGE, X=TINY, **caches(1, 1, 1), rotary_embedding_dim=2, cites=PARTIAL)
LARGE = typed("float16", [[[[60000, 60000, 1, 1], [60000, -60000, 1, 1]]]])
TWICE: dict[str, Any] = {
    "cos_cache": typed("float16", np.full((1, 2, 2), 1.5)),
    "sin_cache": typed("float16", np.full((1, 2, 2), 1.25)),
}
case("beyond_float16", Tag.EDGE, X=LARGE, **TWICE, interleaved=1, cites=REAL)
# The sum of a pair is in range, the difference is the largest number, and so is one product.
AT_LIMITS = typed("float16", [[[[40000, 10000, 40000, 14496, 0, 65504]]]])
FACTORS: dict[str, Any] = {
    "cos_cache": typed("float16", [[[1, 2, 1]]]),
    "sin_cache": typed("float16", np.ones((1, 1, 3))),
}
case("limits_of_float16", Tag.EDGE, X=AT_LIMITS, **FACTORS, interleaved=1, cites=REAL)
for interleaved in (0, 1):
    case(f"dtypes_{interleaved}", Tag.DTYPE, each="T", X=X, **caches(2, 4, 3), interleaved=interleaved, cites=FLOATS)

WHOLE = caches(2, 4, 3)
case("rank2", Tag.EDGE, X=waves(4, 6), **WHOLE, rejects=INPUT)
case("rank5", Tag.EDGE, X=waves(1, 2, 3, 4, 6), **WHOLE, rejects=INPUT)
case("packed_without_heads", X=PACKED, **WHOLE, rejects=HEADS)
case("packed_of_no_heads", Tag.EDGE, X=PACKED, **WHOLE, num_heads=0, rejects=NOT_ZERO)
case("packed_of_fewer_heads", Tag.EDGE, X=PACKED, **WHOLE, num_heads=-1, unspecified=NOT_ZERO)
case("packed_no_multiple", X=PACKED, **WHOLE, num_heads=4, rejects=MULTIPLE)
case("packed_odd_multiple", X=PACKED, **caches(2, 4, 4), num_heads=2, rejects=MULTIPLE)
case("odd_head_size", X=waves(2, 3, 4, 5), **caches(2, 4, 2), rejects=EVEN)
case("cosines_too_long", X=X, cos_cache=waves(2, 4, 4), sin_cache=WHOLE["sin_cache"], rejects=COSINES)
case("sines_too_long", X=X, cos_cache=WHOLE["cos_cache"], sin_cache=waves(2, 4, 4), rejects=SINES)
case("sines_too_short", X=X, cos_cache=WHOLE["cos_cache"], sin_cache=waves(2, 4, 2), rejects=SINES)
case("whole_caches_for_part", X=X, **WHOLE, rotary_embedding_dim=4, rejects=COSINES)
case("matrices_without_positions", X=X, **caches(4, 3), rejects=THREE_D)
case("stacks_with_positions", X=X, **WHOLE, position_ids=IDS, rejects=TWO_D)
case("caches_of_one_batch", X=X, **caches(1, 4, 3), rejects=THREE_D)
case("caches_of_fewer_tokens", X=X, **caches(2, 3, 3), rejects=THREE_D)
case("sines_of_one_batch", X=X, cos_cache=WHOLE["cos_cache"], sin_cache=waves(1, 4, 3), rejects=THREE_D)
SHORTER: dict[str, Any] = {"cos_cache": waves(5, 3), "sin_cache": waves(4, 3)}
case("sines_of_fewer_positions", Tag.EDGE, X=X, **SHORTER, position_ids=[[0] * 4] * 2, unspecified=TWO_D)
case("positions_of_one_batch", X=X, **caches(5, 3), position_ids=IDS[:1], rejects=POSITIONS)
case("positions_as_vector", X=X, **caches(5, 3), position_ids=[0, 1, 2, 3], rejects=POSITIONS)
case("position_beyond_cache", Tag.EDGE, X=X, **caches(4, 3), position_ids=IDS, rejects=GATHERED)
case("position_below_0", Tag.EDGE, X=X, **caches(5, 3), position_ids=[[0, 1, 2, -1]] * 2, unspecified=GATHERED)
case("partial_odd", Tag.EDGE, X=X, **caches(2, 4, 1), rotary_embedding_dim=3, unspecified=FULL)
case("partial_beyond_head", Tag.EDGE, X=X, **caches(2, 4, 4), rotary_embedding_dim=8, unspecified=FULL)
case("partial_below_0", Tag.EDGE, X=X, **caches(2, 4, 2), rotary_embedding_dim=-2, unspecified=FULL)

ANGLES = (-1.0, 1.0)
"""Limits of cosines and sines."""
POSITIONED: dict[str, Any] = {
    "cos_cache": filled("most", "half", floats=ANGLES),
    "sin_cache": filled("most", "half", floats=ANGLES),
    "position_ids": filled("b", "t", below="most"),
}
for turn, sentence in enumerate((JOINED, INTERLEAVED)):
    of_tokens: dict[str, Any] = {
        "X": filled("b", "h", "t", (2, "half")),
        "cos_cache": filled("b", "t", "half", floats=ANGLES),
        "sin_cache": filled("b", "t", "half", floats=ANGLES),
        "interleaved": turn,
    }
    sizes = grid(b=(2,), h=(1, 3), t=(1, 17, 64, 170), half=(4, 16, 33))
    ROTARY.sized(f"tokens_{turn}", sizes, each="T", cites=(REAL, IMAGINARY, sentence), arguments=of_tokens)
    of_positions = {**of_tokens, **POSITIONED}
    sizes = grid(b=(2,), h=(3,), t=(1, 17), half=(4, 64), most=(33,))
    ROTARY.sized(f"positions_{turn}", sizes, each="T", cites=(GATHERED, sentence), arguments=of_positions)
    in_rows = {**of_positions, "X": filled("b", "t", ("h", 3, "half")), "num_heads": 3}
    in_rows["rotary_embedding_dim"] = lambda sizes: 2 * sizes["half"]
    ROTARY.sized(f"part_{turn}", sizes, each="T", cites=(PARTIAL, sentence), arguments=in_rows)
