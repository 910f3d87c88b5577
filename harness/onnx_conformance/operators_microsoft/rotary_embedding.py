# SPDX-License-Identifier: Apache-2.0
"""RotaryEmbedding: rotate pairs of the elements of each head by the angles of its position.

    output = RotaryEmbedding(input, position_ids, cos_cache, sin_cache, interleaved=0, is_packed_batching=0,
                             num_heads=0, rotary_embedding_dim=0, scale=1.0)

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, bounded, ramp, typed, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.families.sums import but_where, overflows
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators_microsoft._rotation import magnitudes, rotated

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.declare import Int

IN_ROWS, BY_HEAD = 3, 4
"""The ranks of (batch_size, sequence_length, hidden_size) and (batch_size, num_heads, sequence_length, head_size)."""


def _as_heads(input: Array, cos_cache: Array, num_heads: Int) -> Array:
    """Return the input as (batch_size, sequence_length, num_heads, head_size)."""
    if input.ndim == BY_HEAD:
        return input.transpose(0, 2, 1, 3)
    size = input.shape[2] // num_heads if num_heads else 2 * cos_cache.shape[1]
    return input.reshape(*input.shape[:2], input.shape[2] // size, size)


def _applied(
    function: Callable[..., Array],
    input: Array,
    position_ids: Array,
    cos_cache: Array,
    sin_cache: Array,
    interleaved: Int,
    num_heads: Int,
) -> Array:
    """Return a function of heads, cosines and sines, in the shape of the input."""
    heads = _as_heads(input, cos_cache, num_heads)
    positions = np.broadcast_to(position_ids, heads.shape[:2])
    whole = function(heads, cos_cache[positions], sin_cache[positions], interleaved=bool(interleaved))
    return whole.reshape(input.shape) if input.ndim == IN_ROWS else whole.transpose(0, 2, 1, 3)


def _rounding(**arguments: Any) -> list[Array]:  # noqa: ANN401 - see `_applied`
    """Return one and a half roundings of both magnitudes, for two products, their sum and the expected value."""
    with np.errstate(all="ignore"):
        return [_applied(magnitudes, **_of_rotation(arguments)) * 1.5]


def _of_rotation(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that determine the rotation if the text defines the result."""
    return {name: value for name, value in arguments.items() if name not in WITHOUT_EFFECT}


WITHOUT_EFFECT = frozenset({"scale", "is_packed_batching", "rotary_embedding_dim"})
"""The attributes that have one value, or that the shapes determine."""

ROTARY = Op(
    "RotaryEmbedding",
    versions=(1,),
    compare=bounded(_rounding, "two products and their sum round by half an epsilon each"),
    domain="com.microsoft",
    rank="input",
)
IDS = [[0, 3, 1, 4], [4, 2, 2, 0]]
ROTARY.example(
    input=waves(2, 3, 4, 6),
    position_ids=IDS,
    cos_cache=np.cos(np.arange(15.0)).reshape(5, 3),
    sin_cache=np.sin(np.arange(15.0)).reshape(5, 3),
    interleaved=0,
    is_packed_batching=0,
    num_heads=3,
    rotary_embedding_dim=6,
    scale=1.0,
)

ROPE = ROTARY.clause("RotaryEmbedding is the implementation of rotary positional embeddings (RoPE).")
ROTATION = ROTARY.clause(
    "The positions are represented as rotation matrices that are multiplied to query and key before the inner product "
    "of query and key is taken.",
    note="The text does not define the matrix. It is that of RoPE: a pair (x1, x2) becomes (cos x1 - sin x2, sin x1 + "
    "cos x2).",
)
INPUT = ROTARY.clause(
    "3D tensor with shape (batch_size, sequence_length, hidden_size) or 4D with shape (batch_size, num_heads, "
    "sequence_length, head_size)",
    note="The text does not define a hidden_size that is no multiple of the size of a head.",
)
POSITIONS = ROTARY.clause(
    "1D tensor with shape (1) or 2D tensor with shape (batch_size, sequence_length)",
    note="The text does not define whether a single number is the position of every token or of the first one. It does "
    "not define negative positions and positions outside the caches.",
)
CACHES = ROTARY.clause(
    "2D tensor with shape (max_sequence_length, head_size / 2) or (max_sequence_length, rotary_embedding_dim / 2)",
    note="The text does not define which part of a cache with head_size / 2 columns belongs to a smaller "
    "rotary_embedding_dim.",
)
INTERLEAVED = ROTARY.clause("Indicates whether the input has real and imaginary parts interleaved.")
HALVES = ROTARY.clause(
    "Default value is 0 (False), meaning the first half of the input consists of real values and the second half "
    "consists of imaginary values.",
    note="The halves are those of each head, or of its part that is rotated. The text does not define values of "
    "interleaved other than 0 and 1.",
)
PACKED = ROTARY.clause(
    "ragged batch inputs or not. Default value is 0", note="The text does not define the layout of a ragged batch."
)
HEADS = ROTARY.clause(
    "Number of attention heads. Default value is 0. Must use with rotary_embedding_dim",
    note="The text does not define whether num_heads needs rotary_embedding_dim, or rotary_embedding_dim needs "
    "num_heads. Each of them alone is therefore unspecified.",
)
PARTIAL = ROTARY.clause(
    "Rotary embedding dimension. Default value is 0.",
    note="As usual for RoPE, the first elements of each head are rotated and the others stay unchanged. The text does "
    "not define a number of elements that is odd, negative or greater than head_size.",
)
SCALE = ROTARY.clause(
    "Custom scale will be used if specified. Default value is 1.0",
    note="The text does not define whether the positions, the angles or the output are scaled.",
)
SAME_SHAPE = ROTARY.clause("tensor with same shape as input.", result=True)


@ROTARY.oracle()
def rotary_embedding(
    v: Version,
    input: Array,
    position_ids: Array,
    cos_cache: Array,
    sin_cache: Array,
    interleaved: Int,
    is_packed_batching: Int,
    num_heads: Int,
    rotary_embedding_dim: Int,
    scale: float | None,
) -> Result:
    """Return the input with the first elements of each head rotated."""
    v.require(INPUT, input.ndim in {IN_ROWS, BY_HEAD})
    v.require(CACHES, cos_cache.ndim == sin_cache.ndim == 2 and cos_cache.shape == sin_cache.shape)  # noqa: PLR2004
    v.silent(SCALE, scale not in {None, 1.0})
    v.silent(PACKED, is_packed_batching not in {None, 0})
    v.silent(HALVES, interleaved not in {None, 0, 1})
    heads, part, half = num_heads or 0, rotary_embedding_dim or 0, cos_cache.shape[1]
    v.silent(HEADS, bool(heads) != bool(part) or heads < 0)
    v.silent(INPUT, input.ndim == IN_ROWS and input.shape[2] % (heads or 2 * half or 1) != 0)
    v.silent(CACHES, half == 0)
    batch, length, count, size = _as_heads(input, cos_cache, num_heads).shape
    v.require(INPUT, heads in {0, count})
    v.silent(PARTIAL, not 0 <= part <= size or part % 2 == 1)
    v.silent(CACHES, part not in {0, size} and 2 * half == size)
    v.require(CACHES, 2 * half == (part or size))
    v.require(POSITIONS, position_ids.shape in {(1,), (batch, length)})
    v.silent(POSITIONS, position_ids.ndim == 1 and length > 1)
    v.silent(POSITIONS, bool(((position_ids < 0) | (position_ids >= len(cos_cache))).any()))
    arguments = (input, position_ids, cos_cache, sin_cache, interleaved, num_heads)
    with np.errstate(all="ignore"):
        total = _applied(rotated, *arguments)
        return but_where(overflows(total, _applied(magnitudes, *arguments), v.dtypes["T"]), total)


def caches(*shape: int) -> dict[str, Any]:
    """Return cosines and sines of angles of a shape. All angles are different."""
    angles = np.arange(1.0, np.prod(shape) + 1).reshape(shape) * 0.7
    return {"cos_cache": np.cos(angles), "sin_cache": np.sin(angles)}


case = ROTARY.case
X, ROWS = waves(2, 3, 4, 6), waves(2, 4, 18)
OF_HEADS: dict[str, Any] = {"num_heads": 3, "rotary_embedding_dim": 6}

case("plain", input=X, position_ids=IDS, **caches(5, 3), cites=(ROPE, ROTATION, INPUT, HALVES, CACHES, SAME_SHAPE))
case("interleaved", input=X, position_ids=IDS, **caches(5, 3), interleaved=1, cites=INTERLEAVED)
case("rows", input=ROWS, position_ids=IDS, **caches(5, 3), cites=(INPUT, CACHES))
case("rows_interleaved", input=ROWS, position_ids=IDS, **caches(5, 3), interleaved=1, cites=(INPUT, INTERLEAVED))
case("rows_one_head", input=waves(2, 4, 6), position_ids=IDS, **caches(5, 3), cites=INPUT)
case("rows_with_heads", input=ROWS, position_ids=IDS, **caches(5, 3), **OF_HEADS, cites=(HEADS, PARTIAL))
case("with_heads", input=X, position_ids=IDS, **caches(5, 3), **OF_HEADS, cites=(HEADS, PARTIAL))
for turn in (0, 1):
    of_part: dict[str, Any] = {"num_heads": 3, "rotary_embedding_dim": 4, "interleaved": turn}
    case(f"part_{turn}", input=X, position_ids=IDS, **caches(5, 2), **of_part, cites=(PARTIAL, CACHES))
    case(f"part_of_rows_{turn}", input=ROWS, position_ids=IDS, **caches(5, 2), **of_part, cites=(PARTIAL, HEADS))
case("zeros", input=ROWS, position_ids=IDS, **caches(5, 3), num_heads=0, rotary_embedding_dim=0, cites=(HEADS, PARTIAL))
case("not_packed", input=X, position_ids=IDS, **caches(5, 3), is_packed_batching=0, cites=PACKED)
case("scale_one", input=X, position_ids=IDS, **caches(5, 3), scale=1.0, cites=SCALE)
QUARTER: dict[str, Any] = {"cos_cache": [[0.0, 1.0]], "sin_cache": [[1.0, 0.0]], "position_ids": [[0]]}
case("quarter_turn", input=[[[[1, 2, 3, 4]]]], **QUARTER, cites=ROTATION)
case("quarter_turn_interleaved", input=[[[[1, 2, 3, 4]]]], **QUARTER, interleaved=1, cites=(ROTATION, INTERLEAVED))
case("one_token", Tag.EDGE, input=waves(2, 3, 1, 4), position_ids=[[4], [0]], **caches(5, 2), cites=POSITIONS)
case("one_position", input=waves(1, 3, 1, 4), position_ids=[4], **caches(5, 2), cites=POSITIONS)
case("one_position_of_batch", input=waves(2, 1, 12), position_ids=[3], **caches(5, 2), cites=POSITIONS)
case("long_cache", input=waves(1, 2, 3, 4), position_ids=[[49, 0, 17]], **caches(50, 2), cites=CACHES)
case("no_batch", Tag.EDGE, input=ramp(0, 3, 4, 6), position_ids=ramp(0, 4), **caches(5, 3), cites=INPUT)
case("no_tokens", Tag.EDGE, input=ramp(2, 3, 0, 6), position_ids=ramp(2, 0), **caches(5, 3), cites=INPUT)
case("no_heads", Tag.EDGE, input=ramp(2, 0, 4, 6), position_ids=IDS, **caches(5, 3), cites=INPUT)
ONE_TOKEN: dict[str, Any] = {"position_ids": [[0]], "num_heads": 1, "rotary_embedding_dim": 2}
case("not_finite", Tag.EDGE, input=[[[[np.inf, 1, 2, np.nan]]]], position_ids=[[0]], **caches(1, 2), cites=ROTATION)
case("not_finite_kept", Tag.EDGE, input=[[[[1, 2, np.inf, np.nan]]]], **ONE_TOKEN, **caches(1, 1), cites=PARTIAL)
case("tiny_kept", Tag.EDGE, input=[[[[1, 2, 1e-20, 3e-20]]]], **ONE_TOKEN, **caches(1, 1), cites=PARTIAL)
LARGE = typed("float16", [[[[60000, 60000, 1, 1], [60000, -60000, 1, 1]]]])
TWICE: dict[str, Any] = {
    "cos_cache": typed("float16", np.full((2, 2), 1.5)),
    "sin_cache": typed("float16", np.full((2, 2), 1.25)),
}
case("beyond_float16", Tag.EDGE, input=LARGE, position_ids=[[0, 1]], **TWICE, interleaved=1, cites=ROTATION)
# The sum of a pair is in range, the difference is the largest number, and so is one product.
AT_LIMITS = typed("float16", [[[[40000, 10000, 40000, 14496, 0, 65504]]]])
FACTORS: dict[str, Any] = {"cos_cache": typed("float16", [[1, 2, 1]]), "sin_cache": typed("float16", np.ones((1, 3)))}
case("limits_of_float16", Tag.EDGE, input=AT_LIMITS, position_ids=[[0]], **FACTORS, interleaved=1, cites=ROTATION)
for turn in (0, 1):
    case(f"dtypes_{turn}", Tag.DTYPE, each="T", input=X, position_ids=IDS, **caches(5, 3), interleaved=turn)

case("rank2", Tag.EDGE, input=waves(4, 6), position_ids=IDS, **caches(5, 3), rejects=INPUT)
case("rank5", Tag.EDGE, input=waves(1, 2, 3, 4, 6), position_ids=IDS, **caches(5, 3), rejects=INPUT)
FOUR: dict[str, Any] = {"num_heads": 4, "rotary_embedding_dim": 6}
case("other_heads", input=X, position_ids=IDS, **caches(5, 3), **FOUR, rejects=INPUT)
WHOLE = caches(5, 3)
case("cosines_too_long", input=X, position_ids=IDS, **caches(5, 4), rejects=CACHES)
case("cosines_too_short", input=X, position_ids=IDS, **caches(5, 2), rejects=CACHES)
OTHER_SINES = vary(longer=waves(5, 4), shorter=waves(5, 2), of_fewer_positions=waves(4, 3), rank3=waves(5, 3, 1))
case("sines", input=X, position_ids=IDS, cos_cache=WHOLE["cos_cache"], sin_cache=OTHER_SINES, rejects=CACHES)
case("stacks", input=X, position_ids=IDS, **caches(2, 4, 3), rejects=CACHES)
case("other_part", input=X, position_ids=IDS, **caches(5, 1), num_heads=3, rotary_embedding_dim=4, rejects=CACHES)
BATCH = vary(one=IDS[:1], vector=[0, 1, 2, 3], column=[[0], [1]], of_rank3=[IDS], scalar=3)
case("positions", input=X, position_ids=BATCH, **caches(5, 3), rejects=POSITIONS)
case("position_of_all", Tag.EDGE, input=X, position_ids=[1], **caches(5, 3), unspecified=POSITIONS)
case("position_of_both", Tag.EDGE, input=X[:, :, :2], position_ids=[1], **caches(5, 3), unspecified=POSITIONS)
OUTSIDE = vary(beyond=[[0, 1, 2, 5]] * 2, negative=[[0, 1, 2, -1]] * 2)
case("position", Tag.EDGE, input=X, position_ids=OUTSIDE, **caches(5, 3), unspecified=POSITIONS)
FOUR_OF_SIX: dict[str, Any] = {"num_heads": 3, "rotary_embedding_dim": 4}
case("whole_cache_for_part", input=X, position_ids=IDS, **WHOLE, **FOUR_OF_SIX, unspecified=CACHES)
case("empty_caches", Tag.EDGE, input=ramp(2, 3, 4, 0), position_ids=IDS, **caches(5, 0), unspecified=CACHES)
case("rows_empty_caches", Tag.EDGE, input=ramp(2, 4, 0), position_ids=IDS, **caches(5, 0), unspecified=CACHES)
case("interleaved_two", Tag.EDGE, input=X, position_ids=IDS, **WHOLE, interleaved=2, unspecified=HALVES)
case("packed", Tag.EDGE, input=ROWS, position_ids=IDS, **WHOLE, is_packed_batching=1, unspecified=PACKED)
SCALES = vary(half=0.5, zero=0.0)
case("scale", Tag.EDGE, input=X, position_ids=IDS, **WHOLE, scale=SCALES, unspecified=SCALE)
case("heads_alone", input=ROWS, position_ids=IDS, **WHOLE, num_heads=3, unspecified=HEADS)
case("heads_alone_of_4d", input=X, position_ids=IDS, **WHOLE, num_heads=3, unspecified=HEADS)
case("part_alone", input=X, position_ids=IDS, **caches(5, 2), rotary_embedding_dim=4, unspecified=HEADS)
for name, count in {"heads_negative": -3, "heads_minus_one": -1}.items():
    below: dict[str, Any] = {**OF_HEADS, "num_heads": count}
    case(name, Tag.EDGE, input=X, position_ids=IDS, **WHOLE, **below, unspecified=HEADS)
ODD = vary(of_elements=waves(2, 4, 20), of_pairs=waves(2, 4, 21))
case("rows_no_multiple", input=ODD, position_ids=IDS, **WHOLE, unspecified=INPUT)
case("rows_no_multiple_of_heads", input=waves(2, 4, 20), position_ids=IDS, **WHOLE, **OF_HEADS, unspecified=INPUT)
PARTS = vary(odd=3, beyond=8, negative=-2)
case("part", Tag.EDGE, input=X, position_ids=IDS, **WHOLE, num_heads=3, rotary_embedding_dim=PARTS, unspecified=PARTIAL)

ANGLES = (-1.0, 1.0)
"""Limits of cosines and sines."""
for turn, sentence in enumerate((HALVES, INTERLEAVED)):
    of_tokens: dict[str, Any] = {
        "input": filled("b", "h", "t", (2, "half")),
        "position_ids": filled("b", "t", below="most"),
        "cos_cache": filled("most", "half", floats=ANGLES),
        "sin_cache": filled("most", "half", floats=ANGLES),
        "interleaved": turn,
    }
    sizes = grid(b=(2,), h=(1, 3), t=(1, 17, 64), half=(4, 16, 33, 64), most=(170,))
    ROTARY.sized(f"tokens_{turn}", sizes, each="T", cites=(ROTATION, sentence), arguments=of_tokens)
    in_rows = {**of_tokens, "input": filled("b", "t", ("h", 3, "half")), "num_heads": lambda sizes: sizes["h"]}
    in_rows["rotary_embedding_dim"] = lambda sizes: 2 * sizes["half"]
    sizes = grid(b=(2,), h=(3,), t=(1, 17), half=(4, 16, 64), most=(33,))
    ROTARY.sized(f"part_{turn}", sizes, each="T", cites=(PARTIAL, sentence), arguments=in_rows)
