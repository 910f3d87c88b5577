"""TfIdfVectorizer: how often each n-gram of a pool occurs, and what that weighs.

Versions: 9.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from harness.declare import Array, Clause, Op, Rule, Tag, Tolerance, Version, ramp, typed

ONCE = Tolerance("a count is exact, and its product with a weight is rounded once")
VECTORIZER = Op("TfIdfVectorizer", versions=(9,), compare=ONCE, rank="X")

said = VECTORIZER.clause
RANKS = said("Input can be either a 1-D or 2-D tensor.")
ROWS = said("For 2-D input, the output is also a 2-D tensor whose i-th row is the n-gram representation of the i-th")
SHAPE = said(
    "if input shape is [C], the corresponding output shape would be [max(ngram_indexes) + 1].",
    note="Says nothing of an empty list, nor of an index below 0.",
)
SHAPE_ROWS = said("If input shape is [N, C], this operator produces a [N, max(ngram_indexes) + 1]-tensor.")
SKIPS = said(
    "The discontinuity between indexes are controlled by the number of skips.",
    note="The only index of a 1-gram has no such discontinuity: it is the same n-gram whatever is skipped.",
)
SKIP_TWO = said("If the number of skips is 2, we should skip two tokens when scanning", result=True)
NO_SKIPS = said("If the number of skips becomes 0, the 2-grams generated are [94, 17], [17, 36], [36, 12], [12, 28]")
COUNTS = said(
    "Y[ngram_indexes[i]] indicates the times that the i-th n-gram is found.",
    note="Says nothing of two n-grams with one coordinate, nor of a coordinate that no n-gram has. The same n-gram at "
    "two coordinates is counted at each.",
)
EXAMPLE = said("then the Y[0] (first element in Y) and Y[1] (second element in Y) are the counts of [17, 36] and")
IGNORED = said("cannot be found in pool_strings/pool_int64s should be ignored and has no effect", result=True)
ALL_SKIPS = said("Note that we may consider all skips up to S when generating the n-grams.")
IDF = said('If mode is "IDF", all the counts larger than 1 would be truncated to 1 and the i-th element in weights')
TFIDF = said('If mode is "TFIDF", this operator first computes the counts of all n-grams and then scale them')
ONE_POOL = said("Only one of pool_strings and pool_int64s can be set.")
INTEGERS = said("If pool_int64s is set, the input should be an integer tensor.")
TEXTS = said("If pool_strings is set, the input must be a string tensor.")
MODES = said('It can be one of "TF" (term frequency), "IDF" (inverse document frequency), and "TFIDF"')
PARALLEL = said("This list is parallel to the specified 'pool_*' attribute.")
COORDINATE = said("The i-th element in ngram_indexes indicate the coordinate of the i-th n-gram in the output tensor.")
WEIGHT = said(
    "The i-th element in weights is the weight of the i-th n-gram in pool.", note="Of the n-gram, not the coordinate."
)
AS_MANY = said("Its length equals to the size of ngram_indexes.")
ONES = said("By default, weights is an all-one tensor.")
USED = said('This attribute is used when mode is "IDF" or "TFIDF" to scale the associated word counts.')
STARTS = said(
    "The starting indexes of 1-grams, 2-grams, and so on in pool.",
    note="Says nothing of starts that fall, lie outside the pool, stop before max_gram_length, or part an n-gram.",
)
EITHER = said("Either this or pool_strings attributes must be present but not both.")
EITHER_STRINGS = said("Either this or pool_int64s attributes must be present but not both.")
ORDER = said("starting with the collections of all 1-grams and ending with the collections of n-grams.")
MAPPED = said("stores the n-gram that should be mapped to coordinate ngram_indexes[i]", result=True)
MOST_SKIPPED = said("Maximum number of items (integers/strings) to be skipped when constructing an n-gram from X.")
SKIP_EXAMPLE = said("2-grams with skip_count=0 and skip_count=1, and 3-grams with skip_count=0 and skip_count=1")
LEAST = said("Minimum n-gram length.", note="Says nothing of one below 1 or beyond max_gram_length.")


def _grams(v: Version, pool: list[Any], starts: list[int], longest: int) -> list[tuple[Any, ...]]:
    """Return the n-grams of the pool in its order."""
    ends = [*starts, len(pool)]
    v.silent(STARTS, len(starts) < longest or ends[0] != 0 or any(first > last for first, last in pairwise(ends)))
    found = []
    for n, (first, last) in enumerate(pairwise(ends), start=1):
        v.silent(STARTS, (last - first) % n != 0)
        found += [tuple(pool[at : at + n]) for at in range(first, last, n)]
    return found


def _occurrences(row: list[Any], gram: tuple[Any, ...], skips: int) -> int:
    """Return how often an n-gram is in a row, with every number of items skipped; 1-grams skip none."""
    count, n = 0, len(gram)
    for step in range(1, 2 if n == 1 else min(skips, len(row)) + 2):
        count += sum(tuple(row[at : at + n * step : step]) == gram for at in range(len(row) - (n - 1) * step))
    return count


@VECTORIZER.oracle()
def vector(
    v: Version, X: Array, mode: str, ngram_indexes: list[int], weights: list[float] | None, ngram_counts: list[int],  # noqa: N803
    pool_int64s: list[int] | None, pool_strings: list[str] | None,
    max_skip_count: int, min_gram_length: int, max_gram_length: int,
) -> Array:  # fmt: skip
    """Return for each coordinate how often its n-gram is found, times its weight."""
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
    rows = X.reshape(-1, X.shape[-1]) if X.size else np.zeros((int(np.prod(X.shape[:-1])), 0), X.dtype)
    output = np.zeros((len(rows), max(ngram_indexes) + 1))
    for place, row in enumerate(rows.tolist()):
        for i, gram in enumerate(grams):
            if min_gram_length <= len(gram) <= max_gram_length:
                count = _occurrences(row, gram, max_skip_count)
                count = min(count, 1) if mode == "IDF" else count
                output[place, ngram_indexes[i]] = count * (1 if weights is None or mode == "TF" else weights[i])
    return output.reshape(*X.shape[:-1], output.shape[1])


case = VECTORIZER.case

ROW = [1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8]
POOL: dict[str, Any] = {"pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7], "ngram_counts": [0, 4]}
"""The 1-grams 2, 3, 5, 4 and the 2-grams 5-6, 7-8, 6-7."""
MIXED: dict[str, Any] = {**POOL, "ngram_indexes": [5, 2, 6, 0, 3, 1, 4]}
POOL["ngram_indexes"] = [0, 1, 2, 3, 4, 5, 6]
WEIGHTS = [0.5, 2.0, -3.25, 7.0, 0.1, 11.0, 1.7]


def _lengths(least: int, most: int, skips: int = 0, mode: str = "TF") -> dict[str, Any]:
    return {"min_gram_length": least, "max_gram_length": most, "max_skip_count": skips, "mode": mode}


def _pool(grams: list[Any], starts: list[int], indexes: list[int]) -> dict[str, Any]:
    kind = "pool_strings" if isinstance(grams[0], str) else "pool_int64s"
    return {kind: grams, "ngram_counts": starts, "ngram_indexes": indexes}


WORDS = _pool([f"w{item}" for item in POOL["pool_int64s"]], [0, 4], MIXED["ngram_indexes"])

for mode in ("TF", "IDF", "TFIDF"):
    name = mode.lower()
    for least, most, skips in ((1, 1, 0), (1, 1, 5), (1, 2, 0), (1, 2, 5), (2, 2, 0), (2, 2, 5)):
        given = _lengths(least, most, skips, mode)
        label = f"{name}_{least}_to_{most}_skips_{skips}"
        case(label, X=ROW, **POOL, **given, cites=(COUNTS, MODES, LEAST, IGNORED))
        given |= {"X": [ROW[:6], ROW[6:]], "weights": WEIGHTS, **MIXED}
        case(f"{label}_mixed", **given, cites=(ROWS, MAPPED, COORDINATE, WEIGHT))
    given = _lengths(1, 2, 1, mode)
    case(f"{name}_weights", X=ROW, **POOL, **given, weights=WEIGHTS, cites=(IDF, TFIDF, USED, WEIGHT, MODES))
    case(f"{name}_weights_unset", X=ROW, **MIXED, **given, cites=(ONES, USED))
    words, narrow = typed("string", [f"w{item}" for item in ROW]), typed("int32", ROW)
    case(f"{name}_words", X=words, **WORDS, **given, weights=WEIGHTS, cites=(TEXTS, EITHER_STRINGS))
    case(f"dtypes_{name}", Tag.DTYPE, X=narrow, **MIXED, **given, weights=WEIGHTS, cites=(INTEGERS, EITHER))
TWOS, TRIPLES = _pool([1, 1, 2, 2, 3, 1, 3], [0, 1], [3, 1, 0, 2]), _pool([1, 1, 1, 1, 2, 3], [0, 0, 0], [1, 0])
for skips in range(5):
    cited = (SKIPS, ALL_SKIPS, MOST_SKIPPED)
    case(f"skips_{skips}", X=[1, 2, 1, 3, 1, 2, 3, 1], **TWOS, **_lengths(1, 2, skips), cites=cited)
    case(f"skips_{skips}_threes", X=[1, 2, 1, 3, 1, 2, 3, 1, 1], **TRIPLES, **_lengths(3, 3, skips), cites=cited)
SAID = [94, 17, 36, 12, 28]
PAIRS = _pool([94, 17, 17, 36, 36, 12, 12, 28, 94, 12, 17, 28, 94, 36], [0, 0], [0, 1, 2, 3, 4, 5, 6])
case("text_no_skips", X=SAID, **PAIRS, **_lengths(2, 2), cites=(NO_SKIPS, SKIPS))
case("text_two_skips", X=SAID, **PAIRS, **_lengths(2, 2, 2), cites=(SKIP_TWO, ALL_SKIPS))
TWO = _pool([94, 17, 17, 36], [0, 0], [1, 0])
case("text_indexes", X=[94, 17, 36, 17, 36], **TWO, **_lengths(2, 2), cites=(EXAMPLE,))
LONG = _pool([*range(17), *range(20), 1, 2, 3], [0, 17, 37], [*range(28)])
case("starts", X=[2, 3, 1, 2, 3, 16], **LONG, **_lengths(1, 3), cites=(STARTS, ORDER))
THREES = _pool([4, 1, 2, 2, 1, 1, 2, 1, 2, 1, 2], [0, 1, 5], [2, 0, 4, 3, 1])
for least, most in ((1, 1), (1, 3), (2, 3), (3, 3)):
    given = {**THREES, **_lengths(least, most, 1)}
    case(f"threes_{least}_to_{most}", X=[1, 2, 1, 2, 4, 1], **given, cites=(SKIP_EXAMPLE,))
TEXT = typed("string", ["a", "A", "a ", "ä", "ab", "c", "a", "bc", ""])
case("words_alike", X=TEXT, **_pool(["", "a", "ä"], [0], [2, 0, 1]), **_lengths(1, 1), cites=(TEXTS, COUNTS))
case("words_glued", X=TEXT, **_pool(["a", "bc", "abc", "c"], [0, 0], [1, 0]), **_lengths(2, 2), cites=(COUNTS,))
HIGH = 2**63 - 1
ENDS = _pool([1, HIGH, -(2**63)], [0], [0, 1, 2])
case("beyond_int32", Tag.EDGE, X=[1, HIGH, -(2**63), 2**32 + 1, HIGH], **ENDS, **_lengths(1, 1), cites=(INTEGERS,))
ENDS = _pool([2**32 + 1, 2**32 - 1, 5], [0], [0, 1, 2])
case("pool_beyond_int32", Tag.EDGE, X=typed("int32", [1, -1, 5, 1]), **ENDS, **_lengths(1, 1), cites=(INTEGERS,))
case("nothing_found", X=[9, 9, 9], **POOL, **_lengths(1, 2), cites=(IGNORED,))
case("row_ends", X=[[5, 6, 7], [8, 6, 7]], **POOL, **_lengths(2, 2, 3), cites=(ROWS, SHAPE_ROWS))
FEW = {"one_row": [ROW], "one_item": [5], "column": [[5], [6], [3]], "no_rows": ramp(0, 3), "no_items": ramp(0)}
FEW["no_items_in_rows"] = ramp(3, 0)
for name, few in FEW.items():
    case(name, Tag.EDGE, X=few, **POOL, **_lengths(1, 2, 3), cites=(SHAPE, SHAPE_ROWS))
case("skips_beyond_length", Tag.EDGE, X=SAID, **PAIRS, **_lengths(2, 2, 1000), cites=(MOST_SKIPPED,))
case("gram_twice", Tag.EDGE, X=[7, 3, 7], **_pool([7, 7], [0], [1, 0]), **_lengths(1, 1), cites=(COUNTS,))

WHOLE: dict[str, Any] = {"X": ROW, **POOL, **_lengths(1, 2)}


def _changed(name: str, outcome: str, clause: Clause, **changed: Any) -> None:  # noqa: ANN401 - whatever a case takes
    case(name, Tag.EDGE, **{**WHOLE, **changed, outcome: clause})


for name, index, clause in (("twice", 5, COUNTS), ("unused", 7, COUNTS), ("negative", -1, SHAPE)):
    _changed(f"coordinate_{name}", "unspecified", clause, ngram_indexes=[0, 1, 2, 3, 4, 5, index])
for name, starts in {"beyond": [0, 11], "fall": [0, 4, 2], "late": [1, 4], "part_a_gram": [0, 5], "none": []}.items():
    _changed(f"starts_{name}", "unspecified", STARTS, ngram_counts=starts)
_changed("no_grams", "unspecified", SHAPE, ngram_indexes=[], pool_int64s=[], ngram_counts=[0, 0])
_changed("skips_negative", "unspecified", MOST_SKIPPED, max_skip_count=-1)
_changed("least_zero", "unspecified", LEAST, min_gram_length=0)
_changed("least_beyond_most", "unspecified", LEAST, min_gram_length=2, max_gram_length=1)
for name, mode in {"unknown": "TF-IDF", "small": "tf"}.items():
    _changed(f"mode_{name}", "rejects", MODES, mode=mode)
for name, count in {"few": 6, "many": 8}.items():
    _changed(f"indexes_too_{name}", "rejects", PARALLEL, ngram_indexes=[*range(count)])
    _changed(f"weights_too_{name}", "rejects", AS_MANY, mode="IDF", weights=[0.5] * count)
_changed("two_pools", "rejects", ONE_POOL, pool_strings=["a"])
_changed("input_of_words", "rejects", INTEGERS, X=typed("string", ["a"]))
for name, data in {"rank0": 5, "rank3": [[[5, 6], [7, 8]]]}.items():
    _changed(name, "rejects", RANKS, X=data)
case("input_of_integers", X=ROW, **WORDS, **_lengths(1, 2), rejects=TEXTS)
NO_POOL = {key: value for key, value in WHOLE.items() if key != "pool_int64s"}
case("no_pool", **NO_POOL, rejects=EITHER)
case("no_pool_of_words", **{**NO_POOL, "X": TEXT}, rejects=EITHER_STRINGS)
for name in ("mode", "ngram_indexes", "ngram_counts", "max_skip_count", "min_gram_length", "max_gram_length"):
    case(f"no_{name}", **{key: value for key, value in WHOLE.items() if key != name}, rejects=Rule.ATTRIBUTES)
case("outside", Tag.DTYPE, outside="T", **WHOLE, rejects=Rule.TYPES)
case("no_input", **{key: value for key, value in WHOLE.items() if key != "X"}, rejects=Rule.ARITY)
case("no_outputs", **WHOLE, n=0, rejects=Rule.ARITY)
case("two_outputs", **WHOLE, n=2, rejects=Rule.ARITY)
case("attribute_norm", **WHOLE, stray={"norm": "L2"}, rejects=Rule.ATTRIBUTES)
