# SPDX-License-Identifier: Apache-2.0
"""EmbedLayerNormalization: look up and add the embeddings of words, positions and segments, then normalize the sum.

    output, mask_index, embedding_sum = EmbedLayerNormalization(
        input_ids, segment_ids, word_embedding, position_embedding, segment_embedding, gamma, beta, mask=None,
        position_ids=None, epsilon=1e-12, mask_index_type=...)

Versions: 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Int, Op, Tag, Version, bounded, ramp, typed, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators_microsoft._skipped import added, leaves_range, standardized, standardized_errors


def _terms(
    input_ids: Array,
    segment_ids: Array | None,
    word_embedding: Array,
    position_embedding: Array,
    segment_embedding: Array | None,
    position_ids: Array | None,
) -> list[Array]:
    """Return the embeddings of words, positions and segments, (batch_size or 1, sequence_length, hidden_size)."""
    positions = np.arange(input_ids.shape[1])[None] if position_ids is None else position_ids
    terms = [word_embedding[input_ids], position_embedding[positions]]
    return terms if segment_ids is None or segment_embedding is None else [*terms, segment_embedding[segment_ids]]


def _errors(
    input_ids: Array,
    segment_ids: Array | None,
    word_embedding: Array,
    position_embedding: Array,
    segment_embedding: Array | None,
    gamma: Array,
    beta: Array,
    position_ids: Array | None,
    epsilon: float,
    **__: object,
) -> list[Array]:
    """Return the allowed errors; see `standardized_errors`."""
    terms = _terms(input_ids, segment_ids, word_embedding, position_embedding, segment_embedding, position_ids)
    result, _, _, of_sum = standardized_errors(terms, epsilon, gamma, beta)
    return [result, np.zeros(len(input_ids)), of_sum]


EMBED = Op(
    "EmbedLayerNormalization",
    versions=(1,),
    compare=bounded(
        _errors, "the sum rounds to the type of the tensors, the statistics as float32, the products twice", steps=True
    ),
    domain="com.microsoft",
    rank=lambda _: 3,
    widens=False,  # The allowed error depends on the type of the tensors.
)

IDS = [[3, 0, 4], [1, 1, 2]]
SEGMENTS = [[0, 1, 1], [1, 0, 0]]
WORDS, POSITIONS = waves(5, 4), np.cos(np.arange(24.0) * 0.9).reshape(6, 4) * 2
KINDS = np.cos(np.arange(8.0) * 2.3).reshape(2, 4)
PLAIN: dict[str, Any] = {
    "input_ids": IDS, "word_embedding": WORDS, "position_embedding": POSITIONS, "gamma": [1.5, -0.5, 2, 1],
    "beta": [0.25, 1, -3, 0.5],
}  # fmt: skip
"""The required inputs: 2 batches, 3 words, and embeddings with 4 elements."""
OF_SEGMENTS: dict[str, Any] = {"segment_ids": SEGMENTS, "segment_embedding": KINDS}
WHOLE = PLAIN | OF_SEGMENTS
MASK = [[1, 1, 0], [1, 0, 0]]
EMBED.example(**WHOLE, mask=MASK, position_ids=[[2, 0, 5]], epsilon=0.25, mask_index_type=1, n=2)

FUSION = EMBED.clause(
    "EmbedLayerNormalization is the fusion of embedding layer in BERT model, with optional mask processing."
)
LOOK_UP = EMBED.clause(
    "The embedding layer takes input_ids (word IDs) and segment_ids (sentence IDs) to look up word_embedding, "
    "position_embedding, and segment_emedding; the embeddings are added then applied layer normalization using gamma "
    "and beta tensors.",
    note="In BERT (Devlin et al., 2018) the position of a word without position_ids is its place in the sequence. "
    "Layer normalization (Ba et al., 2016) is (x - mean) / sqrt(variance + epsilon) * gamma + beta, over the last "
    "axis. The text does not define ids beyond the embeddings, the mean of no elements, the quotient of infinities, "
    "squares beyond the range of float32, or sums beyond that of the type.",
)
BOTH = EMBED.clause(
    "2D segment IDs with shape (batch_size, sequence_length)",
    note="The text does not define ids of segments without embeddings, or embeddings of segments without ids.",
)
INDEX = EMBED.clause(
    "If mask is provided, mask index (that is position of first 0 in mask, or number of words) will be calculated.",
    note="A mask of ones followed by zeros has one mask index by both definitions. The text does not define that of "
    "other masks, or the output without a mask.",
)
OPTIONAL = EMBED.clause("The last input mask is optional.", note="It is not the last input: position_ids follows.")
INPUT = EMBED.clause("2D words IDs with shape (batch_size, sequence_length)")
WORD_TABLE = EMBED.clause("2D with shape (,hidden_size)")
TABLE = EMBED.clause("2D with shape (, hidden_size)")
GAMMA = EMBED.clause("1D gamma tensor for layer normalization with shape (hidden_size)")
BETA = EMBED.clause("1D beta tensor for layer normalization with shape (hidden_size)")
ATTENTION = EMBED.clause("2D attention mask with shape (batch_size, sequence_length)")
PLACES = EMBED.clause("2D position ids with shape (batch_size, sequence_length) or (1, sequence_length)")
OUTPUT = EMBED.clause("3D output tensor with shape (batch_size, sequence_length, hidden_size)")
INDEX_SHAPE = EMBED.clause("1D mask_index tensor with shape (batch_size)")
SUM = EMBED.clause(
    "sum of word_embedding and position_embedding without layer normalization",
    note="The sum that is normalized also has the embeddings of segments. The text does not define whether this output "
    "contains them.",
)
EPSILON = EMBED.clause("The epsilon value to use to avoid division by zero.")
INDEX_TYPE = EMBED.clause(
    "The mask index tensor type for shape inference (0: None, 1: 1D mask_index)",
    note="The text does not define other values, the output mask_index if the type is 0, or a model "
    "without this output if the type is 1.",
)


def _mask_index(v: Version, mask: Array) -> Array:
    """Return the number of ones at the beginning of each row of a mask."""
    ones = mask.sum(1)
    starts = np.arange(mask.shape[1]) < ones[:, None]
    v.silent(INDEX, not np.array_equal(mask, starts.astype(int)))
    return np.asarray(ones)


@EMBED.oracle()
def embed(
    v: Version,
    *,
    input_ids: Array,
    segment_ids: Array | None,
    word_embedding: Array,
    position_embedding: Array,
    segment_embedding: Array | None,
    gamma: Array,
    beta: Array,
    mask: Array | None,
    position_ids: Array | None,
    epsilon: float,
    mask_index_type: Int,
    n: int,
    omits: tuple[str, ...],
) -> tuple[Array, Array, Array]:
    """Return the normalized sum of the embeddings, the mask index, and the sum."""
    v.require(INPUT, input_ids.ndim == 2)  # noqa: PLR2004 - the text's own number
    v.require(BOTH, segment_ids is None or segment_ids.shape == input_ids.shape)
    v.require(ATTENTION, mask is None or mask.shape == input_ids.shape)
    v.require(PLACES, position_ids is None or position_ids.shape in {input_ids.shape, (1, *input_ids.shape[1:])})
    v.require(WORD_TABLE, word_embedding.ndim == 2)  # noqa: PLR2004 - the text's own number
    hidden = word_embedding.shape[1:]
    for table in (position_embedding, segment_embedding):
        v.require(TABLE, table is None or (table.ndim == 2 and table.shape[1:] == hidden))  # noqa: PLR2004 - as above
    v.require(GAMMA, gamma.shape == hidden)
    v.require(BETA, beta.shape == hidden)
    v.silent(BOTH, (segment_ids is None) != (segment_embedding is None))
    places = np.arange(input_ids.shape[1]) if position_ids is None else position_ids
    tables = ((input_ids, word_embedding), (places, position_embedding), (segment_ids, segment_embedding))
    for ids, table in tables:
        if ids is not None and table is not None:
            v.silent(LOOK_UP, bool(((ids < 0) | (ids >= len(table))).any()))
    wants_index, wants_sum = n > 1 and "mask_index" not in omits, n > 2  # noqa: PLR2004 - the third output
    v.silent(INDEX_TYPE, mask_index_type not in {None, int(wants_index)})
    v.silent(SUM, wants_sum and segment_ids is not None)
    v.silent(LOOK_UP, hidden == (0,))
    total = added(_terms(input_ids, segment_ids, word_embedding, position_embedding, segment_embedding, position_ids))
    v.silent(LOOK_UP, leaves_range(total, word_embedding.dtype))
    v.silent(INDEX, wants_index and mask is None)
    index = np.empty(len(input_ids), int) if mask is None or not wants_index else _mask_index(v, mask)
    with np.errstate(all="ignore"):
        return standardized(total, epsilon)[0] * gamma.astype(np.float64) + beta, index, total


case = EMBED.case


def alone(name: str, *tags: Tag, **arguments: Any) -> None:  # noqa: ANN401 - any arguments of the operator
    """Declare a case whose only output is the first one, with the mask_index_type for that."""
    case(name, *tags, mask_index_type=0, **arguments)


alone("words_and_positions", **PLAIN, cites=(FUSION, LOOK_UP, INPUT, WORD_TABLE, TABLE, GAMMA, BETA, OUTPUT))
alone("segments", **WHOLE, cites=(LOOK_UP, BOTH))
case("sum", **PLAIN, n=3, omits=("mask_index",), cites=(SUM, LOOK_UP))
case("sum_and_mask_index", **PLAIN, mask=MASK, n=3, cites=(SUM, INDEX, OPTIONAL))
case("sum_with_segments", **WHOLE, n=3, omits=("mask_index",), unspecified=SUM)
PLACED = vary(each_batch=[[2, 0, 5], [1, 1, 3]], all_batches=[[2, 0, 5]])
case("position_ids", **PLAIN, position_ids=PLACED, n=3, omits=("mask_index",), cites=(PLACES, SUM))
alone("position_ids_with_segments", **WHOLE, position_ids=PLACED, cites=PLACES)
MASKS = vary(ones_and_zeros=MASK, ones=np.ones((2, 3)), zeros=np.zeros((2, 3)), both=[[1, 1, 1], [0, 0, 0]])
case("mask", **WHOLE, mask=MASKS, n=2, cites=(INDEX, INDEX_SHAPE, ATTENTION, OPTIONAL))
alone("mask_without_its_output", **WHOLE, mask=[[1, 0, 1], [2, 0, -1]], cites=ATTENTION)
ODD_MASKS = vary(hole=[[1, 0, 1], [1, 1, 1]], zero_first=[[0, 1, 1], [1, 1, 1]], two=[[1, 1, 0], [2, 0, 0]])
case("mask", **WHOLE, mask=ODD_MASKS, n=2, unspecified=INDEX)
case("mask_missing", **WHOLE, n=2, unspecified=INDEX)
case("mask_index_type_one_with_output", **WHOLE, mask=MASK, mask_index_type=1, n=2, cites=(INDEX_TYPE, INDEX))
case("mask_index_type_zero", **WHOLE, mask_index_type=0, cites=INDEX_TYPE)
case("mask_index_type_one_without_output", **WHOLE, mask_index_type=1, unspecified=INDEX_TYPE)
case("one_output_without_mask_index_type", **WHOLE, cites=(LOOK_UP, INDEX_TYPE))
case("one_output_with_mask", **WHOLE, mask=MASK, cites=(LOOK_UP, OPTIONAL))
case("mask_index_type_zero_with_output", **WHOLE, mask=MASK, mask_index_type=0, n=2, unspecified=INDEX_TYPE)
case("mask_index_type", **WHOLE, mask_index_type=vary(two=2, negative=-1), unspecified=INDEX_TYPE)

alone("epsilon", **WHOLE, epsilon=0.75, cites=EPSILON)
alone("epsilon_zero", Tag.EDGE, **WHOLE, epsilon=0.0, cites=EPSILON)
LITTLE = PLAIN | {"word_embedding": WORDS * 2.0**-20, "position_embedding": POSITIONS * 2.0**-20}
alone("epsilon_beside_little", Tag.EDGE, **LITTLE, cites=EPSILON)
case("batch_one", Tag.EDGE, **PLAIN | {"input_ids": [[3, 0]]}, mask=[[1, 0]], n=3, cites=OUTPUT)
case("word_one", Tag.EDGE, **PLAIN | {"input_ids": [[3], [4]]}, mask=[[1], [0]], n=3, cites=OUTPUT)
alone("every_position", Tag.EDGE, **PLAIN | {"input_ids": [[3, 0, 1, 2, 4, 4]]}, cites=LOOK_UP)
case("no_batches", Tag.EDGE, **PLAIN | {"input_ids": np.zeros((0, 3))}, mask=np.zeros((0, 3)), n=3, cites=OUTPUT)
case("no_words", Tag.EDGE, **PLAIN | {"input_ids": np.zeros((2, 0))}, mask=np.zeros((2, 0)), n=3, cites=OUTPUT)
OF_ONE: dict[str, Any] = {"word_embedding": ramp(5, 1), "position_embedding": ramp(6, 1), "gamma": [2], "beta": [0.5]}
alone("hidden_one", Tag.EDGE, **PLAIN | OF_ONE, cites=LOOK_UP)
OF_NONE: dict[str, Any] = {
    "word_embedding": ramp(5, 0), "position_embedding": ramp(6, 0), "gamma": ramp(0), "beta": ramp(0)
}  # fmt: skip
alone("no_hidden", Tag.EDGE, **PLAIN | OF_NONE, unspecified=LOOK_UP)
alone("nan", Tag.EDGE, **PLAIN | {"word_embedding": np.where(WORDS > 2, np.nan, WORDS)}, cites=LOOK_UP)  # noqa: PLR2004
alone("infinity", Tag.EDGE, **PLAIN | {"word_embedding": np.where(WORDS > 1, np.inf, WORDS)}, unspecified=LOOK_UP)
alone("squares_large", Tag.EDGE, **PLAIN | {"word_embedding": WORDS * 1e15}, cites=LOOK_UP)
ROW: dict[str, Any] = {"input_ids": [[3]], "word_embedding": np.full((5, 4), 1.2e19)}
alone("sum_of_squares_beyond_float", Tag.EDGE, **PLAIN | ROW, unspecified=LOOK_UP)
alone("squares_beyond_float", Tag.EDGE, **PLAIN | {"word_embedding": WORDS * 1e30}, unspecified=LOOK_UP)
alone("gamma_not_finite", Tag.EDGE, **PLAIN | {"gamma": [np.inf, -np.inf, np.nan, 0]}, cites=GAMMA)
case("dtypes", Tag.DTYPE, each="T", **PLAIN, mask=MASK, n=3, cites=(LOOK_UP, SUM, INDEX))
alone("dtypes_segments", Tag.DTYPE, each="T", **WHOLE, position_ids=[[2, 0, 5]], cites=LOOK_UP)
FLOAT16 = {name: typed("float16", value) for name, value in PLAIN.items() if name != "input_ids"}
HIGH = {
    "word_embedding": typed("float16", WORDS * 0 + 40000),
    "position_embedding": typed("float16", POSITIONS * 0 + 30000),
}
alone("sum_beyond_float16", Tag.EDGE, input_ids=IDS, **FLOAT16 | HIGH, unspecified=LOOK_UP)
LARGE = FLOAT16 | {"word_embedding": typed("float16", WORDS * 300)}
alone("float16_squares_beyond_its_range", Tag.EDGE, input_ids=IDS, **LARGE, cites=LOOK_UP)

alone("segment_ids_alone", **PLAIN, segment_ids=SEGMENTS, unspecified=BOTH)
alone("segment_embedding_alone", **PLAIN, segment_embedding=KINDS, unspecified=BOTH)
alone("word", **PLAIN | {"input_ids": vary(too_high=[[5, 0]], negative=[[-1, 0]])}, unspecified=LOOK_UP)
alone("position", **PLAIN, position_ids=vary(too_high=[[0, 6, 1]], negative=[[0, -1, 1]]), unspecified=LOOK_UP)
OUTSIDE = vary(too_high=[[0, 1, 2], [0, 0, 0]], negative=[[0, -1, 1], [0, 0, 0]])
alone("segment", **WHOLE | {"segment_ids": OUTSIDE}, unspecified=LOOK_UP)
alone("more_words_than_positions", **PLAIN | {"input_ids": [[3, 0, 1, 2, 4, 4, 1]]}, unspecified=LOOK_UP)
alone("input_ids", **PLAIN | {"input_ids": vary(vector=[3, 0, 4], rank3=[[[3, 0, 4]]])}, rejects=INPUT)
OTHER_SHAPES = vary(one_batch=[[0, 1, 1]], vector=[0, 1, 1], shorter=[[0, 1], [1, 1]], turned=[[0, 1], [1, 1], [0, 0]])
alone("segment_ids", **WHOLE | {"segment_ids": OTHER_SHAPES}, rejects=BOTH)
alone("mask_of_other_shape", **WHOLE, mask=OTHER_SHAPES, rejects=ATTENTION)
OTHER_PLACES = vary(vector=[0, 1, 1], shorter=[[0, 1]], three_batches=[[0, 1, 2]] * 3)
alone("position_ids", **PLAIN, position_ids=OTHER_PLACES, rejects=PLACES)
alone("word_embedding", **PLAIN | {"word_embedding": vary(vector=ramp(5), rank3=ramp(5, 4, 1))}, rejects=WORD_TABLE)
OTHER_TABLES = vary(vector=ramp(6), rank3=ramp(6, 4, 1), other_hidden=ramp(6, 3), one_hidden=ramp(6, 1))
alone("position_embedding", **PLAIN | {"position_embedding": OTHER_TABLES}, rejects=TABLE)
alone("segment_embedding", **WHOLE | {"segment_embedding": OTHER_TABLES}, rejects=TABLE)
WRONG = vary(of_one=[1], too_long=ramp(5), matrix=ramp(1, 4), scalar=1)
alone("gamma", **PLAIN | {"gamma": WRONG}, rejects=GAMMA)
alone("beta", **PLAIN | {"beta": WRONG}, rejects=BETA)

SIZES = [*grid(b=(2,), s=(3,), h=(1, 7, 8, 17, 64, 129, 768, 1025)), *grid(b=(1,), s=(17, 64), h=(100, 384))]
SIZED = [{**sizes, "v": 50, "p": 80, "kinds": 2} for sizes in SIZES]
of_sizes = {
    "input_ids": filled("b", "s", below="v"), "word_embedding": filled("v", "h"),
    "position_embedding": filled("p", "h"), "gamma": filled("h"), "beta": filled("h"),
    "mask_index_type": 0,
}  # fmt: skip
with_segments = {"segment_ids": filled("b", "s", below="kinds"), "segment_embedding": filled("kinds", "h")}
EMBED.sized("words", SIZED[::2], each="T", cites=LOOK_UP, arguments=of_sizes)
EMBED.sized("segments", SIZED, each="T", cites=(LOOK_UP, BOTH), arguments={**of_sizes, **with_segments})
