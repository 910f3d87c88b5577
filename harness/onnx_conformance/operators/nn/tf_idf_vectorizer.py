# SPDX-License-Identifier: Apache-2.0
"""TfIdfVectorizer: count the occurrences of each n-gram of a pool in a row, and weight the counts.

    Y = TfIdfVectorizer(X, mode, min_gram_length, max_gram_length, max_skip_count, ngram_counts, ngram_indexes,
                        pool_int64s or pool_strings, weights=...)

Version: 9.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Clause, Op, Tag, Tolerance, Version, ramp, typed, vary
from onnx_conformance.declare.sizes import Sizes, filled, listed, together

ONCE = Tolerance("a count is exact, and its product with a weight is rounded once")
VECTORIZER = Op("TfIdfVectorizer", versions=(9,), compare=ONCE, rank="X")

VECTORIZER.example(
    X=[[5, 3, 4, 4, 3], [3, 4, 5, 3, 9]],
    mode="TFIDF",
    min_gram_length=1,
    max_gram_length=2,
    max_skip_count=1,
    pool_int64s=[3, 4, 5, 3, 4, 5],
    ngram_counts=[0, 2],
    ngram_indexes=[2, 0, 3, 1],
    weights=[0.5, 2.0, -3.25, 7.0],
)

RANKS = VECTORIZER.clause("Input can be either a 1-D or 2-D tensor.")
ROWS = VECTORIZER.clause(
    "For 2-D input, the output is also a 2-D tensor whose i-th row is the n-gram representation of the i-th"
)
SHAPE = VECTORIZER.clause(
    "if input shape is [C], the corresponding output shape would be [max(ngram_indexes) + 1].",
    note="The text does not define an empty list, or a negative index.",
)
SHAPE_ROWS = VECTORIZER.clause("If input shape is [N, C], this operator produces a [N, max(ngram_indexes) + 1]-tensor.")
SKIPS = VECTORIZER.clause(
    "The discontinuity between indexes are controlled by the number of skips.",
    note="A 1-gram has only one index and therefore no discontinuity: it is the same n-gram for every number of skips.",
)
SKIP_TWO = VECTORIZER.clause("If the number of skips is 2, we should skip two tokens when scanning", result=True)
NO_SKIPS = VECTORIZER.clause(
    "If the number of skips becomes 0, the 2-grams generated are [94, 17], [17, 36], [36, 12], [12, 28]"
)
COUNTS = VECTORIZER.clause(
    "Y[ngram_indexes[i]] indicates the times that the i-th n-gram is found.",
    note="The text does not define two n-grams with the same coordinate, or a coordinate without an n-gram. If the "
    "same n-gram has two coordinates, it is counted at both.",
)
EXAMPLE = VECTORIZER.clause(
    "then the Y[0] (first element in Y) and Y[1] (second element in Y) are the counts of [17, 36] and"
)
IGNORED = VECTORIZER.clause(
    "cannot be found in pool_strings/pool_int64s should be ignored and has no effect", result=True
)
ALL_SKIPS = VECTORIZER.clause("Note that we may consider all skips up to S when generating the n-grams.")
IDF = VECTORIZER.clause(
    'If mode is "IDF", all the counts larger than 1 would be truncated to 1 and the i-th element in weights'
)
TFIDF = VECTORIZER.clause(
    'If mode is "TFIDF", this operator first computes the counts of all n-grams and then scale them'
)
ONE_POOL = VECTORIZER.clause("Only one of pool_strings and pool_int64s can be set.")
INTEGERS = VECTORIZER.clause("If pool_int64s is set, the input should be an integer tensor.")
TEXTS = VECTORIZER.clause("If pool_strings is set, the input must be a string tensor.")
MODES = VECTORIZER.clause('It can be one of "TF" (term frequency), "IDF" (inverse document frequency), and "TFIDF"')
PARALLEL = VECTORIZER.clause("This list is parallel to the specified 'pool_*' attribute.")
COORDINATE = VECTORIZER.clause(
    "The i-th element in ngram_indexes indicate the coordinate of the i-th n-gram in the output tensor."
)
WEIGHT = VECTORIZER.clause(
    "The i-th element in weights is the weight of the i-th n-gram in pool.",
    note="The weight belongs to the n-gram, not to the coordinate.",
)
AS_MANY = VECTORIZER.clause("Its length equals to the size of ngram_indexes.")
ONES = VECTORIZER.clause("By default, weights is an all-one tensor.")
USED = VECTORIZER.clause('This attribute is used when mode is "IDF" or "TFIDF" to scale the associated word counts.')
STARTS = VECTORIZER.clause(
    "The starting indexes of 1-grams, 2-grams, and so on in pool.",
    note="The text does not define starts that decrease, are outside the pool, stop before max_gram_length, or split "
    "an n-gram.",
)
EITHER = VECTORIZER.clause("Either this or pool_strings attributes must be present but not both.")
EITHER_STRINGS = VECTORIZER.clause("Either this or pool_int64s attributes must be present but not both.")
ORDER = VECTORIZER.clause("starting with the collections of all 1-grams and ending with the collections of n-grams.")
MAPPED = VECTORIZER.clause("stores the n-gram that should be mapped to coordinate ngram_indexes[i]", result=True)
MOST_SKIPPED = VECTORIZER.clause(
    "Maximum number of items (integers/strings) to be skipped when constructing an n-gram from X."
)
SKIP_EXAMPLE = VECTORIZER.clause(
    "2-grams with skip_count=0 and skip_count=1, and 3-grams with skip_count=0 and skip_count=1"
)
LEAST = VECTORIZER.clause(
    "Minimum n-gram length.", note="The text does not define a length below 1 or above max_gram_length."
)


def _grams(v: Version, pool: list[Any], starts: list[int], longest: int) -> list[tuple[Any, ...]]:
    """Return the n-grams of the pool in its order."""
    ends = [*starts, len(pool)]
    v.silent(STARTS, len(starts) < longest or ends[0] != 0 or any(first > last for first, last in pairwise(ends)))
    grams: list[tuple[Any, ...]] = []
    for n, (first, last) in enumerate(pairwise(ends), start=1):
        v.silent(STARTS, (last - first) % n != 0)
        grams += [tuple(pool[at : at + n]) for at in range(first, last, n)]
    return grams


def _occurrences(row: list[Any], n: int, skips: int) -> Counter[tuple[Any, ...]]:
    """Return the number of occurrences of each n-gram of a row, for every number of skips. 1-grams have no skips."""
    count: Counter[tuple[Any, ...]] = Counter()
    for step in range(1, 2 if n == 1 else min(skips, len(row)) + 2):
        last = len(row) - (n - 1) * step
        count.update(tuple(row[at : at + n * step : step]) for at in range(last))
    return count


@VECTORIZER.oracle()
def vector(
    v: Version,
    X: Array,
    mode: str,
    ngram_indexes: list[int],
    weights: list[float] | None,
    ngram_counts: list[int],
    pool_int64s: list[int] | None,
    pool_strings: list[str] | None,
    max_skip_count: int,
    min_gram_length: int,
    max_gram_length: int,
) -> Array:
    """Return for each coordinate the number of occurrences of its n-gram, times its weight."""
    v.require(EITHER_STRINGS if X.dtype.kind == "O" else EITHER, pool_int64s is not None or pool_strings is not None)
    v.require(ONE_POOL, pool_int64s is None or pool_strings is None)
    v.require(INTEGERS, pool_int64s is None or X.dtype.kind == "i")
    v.require(TEXTS, pool_strings is None or X.dtype.kind == "O")
    v.require(MODES, mode in {"TF", "IDF", "TFIDF"})
    v.require(RANKS, X.ndim in {1, 2})
    v.silent(LEAST, not 1 <= min_gram_length <= max_gram_length)
    v.silent(MOST_SKIPPED, max_skip_count < 0)
    grams = _grams(v, [*(pool_int64s or ()), *(pool_strings or ())], ngram_counts, max_gram_length)
    v.require(PARALLEL, len(ngram_indexes) == len(grams))
    v.require(AS_MANY, weights is None or len(weights) == len(ngram_indexes))
    v.silent(SHAPE, not ngram_indexes or min(ngram_indexes) < 0)
    v.silent(COUNTS, sorted(ngram_indexes) != list(range(len(ngram_indexes))))
    rows = np.atleast_2d(X)
    output = np.zeros((len(rows), max(ngram_indexes) + 1))
    for place, row in enumerate(rows.tolist()):
        found = {n: _occurrences(row, n, max_skip_count) for n in {len(gram) for gram in grams}}
        for i, gram in enumerate(grams):
            if min_gram_length <= len(gram) <= max_gram_length:
                count = found[len(gram)][gram]
                count = min(count, 1) if mode == "IDF" else count
                output[place, ngram_indexes[i]] = count * (1 if weights is None or mode == "TF" else weights[i])
    return output.reshape(*X.shape[:-1], output.shape[1])


case = VECTORIZER.case

ROW = [1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8]
GRAMS: dict[str, Any] = {"pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7], "ngram_counts": [0, 4]}
"""The 1-grams 2, 3, 5, 4 and the 2-grams 5-6, 7-8, 6-7."""
POOL: dict[str, Any] = {**GRAMS, "ngram_indexes": [0, 1, 2, 3, 4, 5, 6]}
MIXED: dict[str, Any] = {**GRAMS, "ngram_indexes": [5, 2, 6, 0, 3, 1, 4]}
WORDS: dict[str, Any] = {
    "pool_strings": ["w2", "w3", "w5", "w4", "w5", "w6", "w7", "w8", "w6", "w7"],
    "ngram_counts": [0, 4],
    "ngram_indexes": [5, 2, 6, 0, 3, 1, 4],
}
WEIGHTS = [0.5, 2.0, -3.25, 7.0, 0.1, 11.0, 1.7]


def lengths(shortest: int, longest: int, *, skips: int = 0, mode: str = "TF") -> dict[str, Any]:
    """Return the required attributes: lengths of the counted n-grams, number of skips, and mode."""
    return {"min_gram_length": shortest, "max_gram_length": longest, "max_skip_count": skips, "mode": mode}


for mode in ("TF", "IDF", "TFIDF"):
    name = mode.lower()
    for shortest, longest in ((1, 1), (1, 2), (2, 2)):
        for skips in (0, 5):
            counted = lengths(shortest, longest, skips=skips, mode=mode)
            label = f"{name}_{shortest}_to_{longest}_skips_{skips}"
            case(label, X=ROW, **POOL, **counted, cites=(COUNTS, MODES, LEAST, IGNORED))
            case(
                f"{label}_mixed",
                X=[ROW[:6], ROW[6:]],
                **MIXED,
                **counted,
                weights=WEIGHTS,
                cites=(ROWS, MAPPED, COORDINATE, WEIGHT),
            )
    counted = lengths(1, 2, skips=1, mode=mode)
    case(f"{name}_weights", X=ROW, **POOL, **counted, weights=WEIGHTS, cites=(IDF, TFIDF, USED, WEIGHT, MODES))
    case(f"{name}_weights_unset", X=ROW, **MIXED, **counted, cites=(ONES, USED))
    words = typed("string", [f"w{item}" for item in ROW])
    case(f"{name}_words", X=words, **WORDS, **counted, weights=WEIGHTS, cites=(TEXTS, EITHER_STRINGS))
    int32 = typed("int32", ROW)
    case(f"{name}_int32", Tag.DTYPE, X=int32, **MIXED, **counted, weights=WEIGHTS, cites=(INTEGERS, EITHER))
TWOS: dict[str, Any] = {"pool_int64s": [1, 1, 2, 2, 3, 1, 3], "ngram_counts": [0, 1], "ngram_indexes": [3, 1, 0, 2]}
THREES: dict[str, Any] = {"pool_int64s": [1, 1, 1, 1, 2, 3], "ngram_counts": [0, 0, 0], "ngram_indexes": [1, 0]}
for skips in range(5):
    sentences = (SKIPS, ALL_SKIPS, MOST_SKIPPED)
    case(f"skips_{skips}", X=[1, 2, 1, 3, 1, 2, 3, 1], **TWOS, **lengths(1, 2, skips=skips), cites=sentences)
    case(
        f"skips_{skips}_threes", X=[1, 2, 1, 3, 1, 2, 3, 1, 1], **THREES, **lengths(3, 3, skips=skips), cites=sentences
    )
SEQUENCE = [94, 17, 36, 12, 28]
"""The sequence of the text's example."""
PAIRS: dict[str, Any] = {
    "pool_int64s": [94, 17, 17, 36, 36, 12, 12, 28, 94, 12, 17, 28, 94, 36],
    "ngram_counts": [0, 0],
    "ngram_indexes": [0, 1, 2, 3, 4, 5, 6],
}
case("text_no_skips", X=SEQUENCE, **PAIRS, **lengths(2, 2), cites=(NO_SKIPS, SKIPS))
case("text_two_skips", X=SEQUENCE, **PAIRS, **lengths(2, 2, skips=2), cites=(SKIP_TWO, ALL_SKIPS))
case(
    "text_indexes",
    X=[94, 17, 36, 17, 36],
    pool_int64s=[94, 17, 17, 36],
    ngram_counts=[0, 0],
    ngram_indexes=[1, 0],
    **lengths(2, 2),
    cites=EXAMPLE,
)
case(
    "starts",
    X=[2, 3, 1, 2, 3, 16],
    pool_int64s=[*range(17), *range(20), 1, 2, 3],
    ngram_counts=[0, 17, 37],
    ngram_indexes=list(range(28)),
    **lengths(1, 3),
    cites=(STARTS, ORDER),
)
for shortest, longest in ((1, 1), (1, 3), (2, 3), (3, 3)):
    case(
        f"threes_{shortest}_to_{longest}",
        X=[1, 2, 1, 2, 4, 1],
        pool_int64s=[4, 1, 2, 2, 1, 1, 2, 1, 2, 1, 2],
        ngram_counts=[0, 1, 5],
        ngram_indexes=[2, 0, 4, 3, 1],
        **lengths(shortest, longest, skips=1),
        cites=SKIP_EXAMPLE,
    )
TEXT = typed("string", ["a", "A", "a ", "ä", "ab", "c", "a", "bc", ""])
case(
    "words_alike",
    X=TEXT,
    pool_strings=["", "a", "ä"],
    ngram_counts=[0],
    ngram_indexes=[2, 0, 1],
    **lengths(1, 1),
    cites=(TEXTS, COUNTS),
)
case(
    "words_glued",
    X=TEXT,
    pool_strings=["a", "bc", "abc", "c"],
    ngram_counts=[0, 0],
    ngram_indexes=[1, 0],
    **lengths(2, 2),
    cites=COUNTS,
)
LOW, HIGH = -(2**63), 2**63 - 1
case(
    "beyond_int32",
    Tag.EDGE,
    X=[1, HIGH, LOW, 2**32 + 1, HIGH],
    pool_int64s=[1, HIGH, LOW],
    ngram_counts=[0],
    ngram_indexes=[0, 1, 2],
    **lengths(1, 1),
    cites=INTEGERS,
)
case(
    "pool_beyond_int32",
    Tag.EDGE,
    X=typed("int32", [1, -1, 5, 1]),
    pool_int64s=[2**32 + 1, 2**32 - 1, 5],
    ngram_counts=[0],
    ngram_indexes=[0, 1, 2],
    **lengths(1, 1),
    cites=INTEGERS,
)
case("nothing_found", X=[9, 9, 9], **POOL, **lengths(1, 2), cites=IGNORED)
case("row_ends", X=[[5, 6, 7], [8, 6, 7]], **POOL, **lengths(2, 2, skips=3), cites=(ROWS, SHAPE_ROWS))
SMALL: dict[str, Any] = {
    "one_row": [ROW],
    "one_item": [5],
    "column": [[5], [6], [3]],
    "no_rows": ramp(0, 3),
    "no_items": ramp(0),
    "no_items_in_rows": ramp(3, 0),
}
for name, data in SMALL.items():
    case(name, Tag.EDGE, X=data, **POOL, **lengths(1, 2, skips=3), cites=(SHAPE, SHAPE_ROWS))
case("skips_beyond_length", Tag.EDGE, X=SEQUENCE, **PAIRS, **lengths(2, 2, skips=1000), cites=MOST_SKIPPED)
case(
    "gram_twice",
    Tag.EDGE,
    X=[7, 3, 7],
    pool_int64s=[7, 7],
    ngram_counts=[0],
    ngram_indexes=[1, 0],
    **lengths(1, 1),
    cites=COUNTS,
)

VALID: dict[str, Any] = {"X": ROW, **POOL, **lengths(1, 2)}


def without_answer(
    name: str,
    *,
    rejects: Clause | None = None,
    unspecified: Clause | None = None,
    **arguments: Any,  # noqa: ANN401
) -> None:
    """Declare a valid call with some arguments changed."""
    case(name, Tag.EDGE, **{**VALID, **arguments}, rejects=rejects, unspecified=unspecified)


without_answer("coordinate_twice", ngram_indexes=[0, 1, 2, 3, 4, 5, 5], unspecified=COUNTS)
without_answer("coordinate_unused", ngram_indexes=[0, 1, 2, 3, 4, 5, 7], unspecified=COUNTS)
without_answer("coordinate_negative", ngram_indexes=[0, 1, 2, 3, 4, 5, -1], unspecified=SHAPE)
FALSE_STARTS = vary(
    beyond=[0, 11], fall=[0, 4, 2], fall_by_whole_grams=[0, 6, 4], late=[1, 4], part_a_gram=[0, 5], none=[]
)
without_answer("starts", ngram_counts=FALSE_STARTS, unspecified=STARTS)
without_answer("no_grams", ngram_indexes=[], pool_int64s=[], ngram_counts=[0, 0], unspecified=SHAPE)
without_answer("skips_negative", max_skip_count=-1, unspecified=MOST_SKIPPED)
without_answer("least_zero", min_gram_length=0, unspecified=LEAST)
without_answer("least_beyond_most", min_gram_length=2, max_gram_length=1, unspecified=LEAST)
without_answer("mode", mode=vary(unknown="TF-IDF", small="tf"), rejects=MODES)
without_answer("indexes_too", ngram_indexes=vary(few=[*range(6)], many=[*range(8)]), rejects=PARALLEL)
without_answer("weights_too", mode="IDF", weights=vary(few=[0.5] * 6, many=[0.5] * 8), rejects=AS_MANY)
without_answer("two_pools", pool_strings=["a"], rejects=ONE_POOL)
without_answer("input_of_words", X=typed("string", ["a"]), rejects=INTEGERS)
without_answer("x", X=vary(rank0=5, rank3=[[[5, 6], [7, 8]]]), rejects=RANKS)
case("input_of_integers", X=ROW, **WORDS, **lengths(1, 2), rejects=TEXTS)
NO_POOL: dict[str, Any] = {"ngram_counts": [0, 4], "ngram_indexes": [0, 1, 2, 3, 4, 5, 6], **lengths(1, 2)}
case("no_pool", X=ROW, **NO_POOL, rejects=EITHER)
case("no_pool_of_words", X=TEXT, **NO_POOL, rejects=EITHER_STRINGS)


def _pool(sizes: Sizes) -> dict[str, Any]:
    """Return 1-grams and 2-grams of small numbers, with their coordinates in another order."""
    words = sizes["words"]
    pairs = [number for first in range(words) for number in (first, first * 7 % words)]
    return {
        "ngram_counts": [0, words],
        "ngram_indexes": [place * 3 % (2 * words) for place in range(2 * words)],
        "pool_int64s": [*range(words), *pairs],
        "pool_strings": [f"s{number}" for number in [*range(words), *pairs]],
    }


MANY_WORDS = ((1, 64, 50), (3, 33, 20), (5, 1000, 500), (66, 1000, 20))
for mode in ("TF", "IDF", "TFIDF"):
    for kind in ("int64", "string"):
        VECTORIZER.sized(
            f"{mode.lower()}_{kind}",
            [{"m": m, "n": n, "words": words} for m, n, words in MANY_WORDS],
            cites=(ROWS, COUNTS),
            arguments={
                "X": typed(kind, filled("m", "n", integers=(0, 40))),
                "weights": listed(filled("words", 2, floats=(0.5, 2)), np.float32),
                **lengths(1, 2, skips=1, mode=mode),
                **together(_pool, "ngram_counts", "ngram_indexes", f"pool_{kind}s"),
            },
        )
