# SPDX-License-Identifier: Apache-2.0
"""StringSplit: split each string into substrings, and count them.

    Y, Z = StringSplit(X, delimiter=None, maxsplit=None)

Versions: 20.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Int, Op, Tag, Version, ramp
from onnx_conformance.declare.sizes import among, grid

SPLIT = Op("StringSplit", versions=(20,), compare=EXACT)
SPLIT.example(X=ramp(2, 3), delimiter="s", maxsplit=1, n=2)

SPLITS = SPLIT.clause(
    "StringSplit splits a string tensor's elements into substrings based on a delimiter attribute and a maxsplit "
    "attribute.",
    note="The text does not define whether an empty string, or a string that contains only white space, has one "
    "substring or none. When splitting on white space, onnxruntime and onnx.reference count none for an empty string; "
    "with a delimiter they differ.",
)
FIRST = SPLIT.clause(
    "The first output of this operator is a tensor of strings representing the substrings from splitting each input "
    "string on the `delimiter` substring."
)
RANK = SPLIT.clause(
    "This tensor has one additional rank compared to the input tensor in order to store the substrings for each input "
    "element (where the input tensor is not empty).",
    note="The text does not define the rank for an empty input tensor, or the length of its last dimension. The "
    "official case also expects one more dimension, of length 0.",
    against=("test_string_split_empty_tensor",),
)
PADS = SPLIT.clause(
    "in order to ensure the same number of elements are present in the final dimension, this tensor will pad empty "
    "strings",
    note="The padding is after the substrings, as maxsplit counts from left to right and the examples of the official "
    "cases show.",
)
PADS_Y = SPLIT.clause("this tensor will pad any necessary empty strings.")
NOT_GROUPED = SPLIT.clause(
    "Consecutive delimiters are not grouped together and are deemed to delimit empty strings, except if the "
    '`delimiter` is unspecified or is the empty string ("").'
)
GROUPED = SPLIT.clause(
    "In the case where the `delimiter` is unspecified or the empty string, consecutive whitespace characters are "
    "regarded as a single separator and leading or trailing whitespace is removed in the output.",
    note="The text does not define which characters outside ASCII are white space. onnxruntime splits only on blanks.",
)
SECOND = SPLIT.clause("The second output tensor represents the number of substrings generated.")
SUFFIX = SPLIT.clause(
    "after the `maxsplit`th split if the string is not fully split, the trailing suffix of input string after the "
    "final split point is also added.",
    note="According to this sentence the suffix keeps its white space; according to the sentence on white space it "
    "does not.",
    contradicts="consecutive whitespace characters are regarded as a single separator and leading or trailing "
    "whitespace is removed in the output.",
)
NO_EFFECT = SPLIT.clause("For elements where fewer splits are possible than specified in `maxsplit`, it has no effect.")
MAXIMUM = SPLIT.clause(
    "Maximum number of splits (from left to right).", note="The text does not define a negative number."
)
UNSET = SPLIT.clause(
    "If left unset (or if the number of possible splits are less than maxsplit), it will make as many splits as "
    "possible."
)
PLUS_ONE = SPLIT.clause(
    "the maximum possible number of substrings returned with `maxsplit` specified is `maxsplit+1` since the remaining "
    "suffix after the `maxsplit`th split is included in the output."
)
BLANKS = SPLIT.clause('If left unset or set to the empty string (""), the input is split on consecutive whitespace.')
EACH = SPLIT.clause("The number of substrings generated for each input element.")
UTF8 = SPLIT.clause("The input must be a UTF-8 string tensor")

WHITE = " \t\n\r\v\f"


def _by_delimiter(v: Version, text: str, delimiter: str, most: float) -> list[str]:
    """Return the substrings between the delimiters, split at the first `most` delimiters from the left."""
    v.silent(SPLITS, not text)
    parts: list[str] = []
    while len(parts) < most and delimiter in text:
        place = text.index(delimiter)
        parts.append(text[:place])
        text = text[place + len(delimiter) :]
    return [*parts, text]


def _by_white_space(v: Version, text: str, most: float) -> list[str]:
    """Return the substrings between runs of white space, split at the first `most` runs from the left."""
    v.silent(GROUPED, any(letter.isspace() and letter not in WHITE for letter in text))
    v.silent(SPLITS, not text.strip(WHITE))
    blanks = text != text.strip(WHITE) if most == 0 else text != text.rstrip(WHITE)
    text = text.strip(WHITE)
    parts: list[str] = []
    while len(parts) < most and any(letter in WHITE for letter in text):
        place = min(text.index(letter) for letter in WHITE if letter in text)
        parts.append(text[:place])
        text = text[place:].lstrip(WHITE)
    v.silent(SUFFIX, blanks and len(parts) == most)
    return [*parts, text]


@SPLIT.oracle()
def split(v: Version, X: Array, delimiter: str | None, maxsplit: Int) -> tuple[Array, Array]:
    """Return the substrings of each string, padded to the same number, and their number without the padding."""
    v.silent(MAXIMUM, maxsplit is not None and maxsplit < 0)
    v.silent(RANK, X.size == 0)
    most = float("inf") if maxsplit is None else maxsplit
    substrings = [
        _by_delimiter(v, text, delimiter, most) if delimiter else _by_white_space(v, text, most) for text in X.flat
    ]
    width = max(map(len, substrings))
    padded = np.array([[*parts, *[""] * (width - len(parts))] for parts in substrings], object)
    return padded.reshape((*X.shape, width)), np.array([len(parts) for parts in substrings]).reshape(X.shape)


case = SPLIT.case

DOTTED = ["a.bc.d", "ef", "g..h.i.", ".j"]
SPACED = ["hello world", " leading", "trailing  ", "a  b\tc\n d"]

case("delimiter", X=DOTTED, delimiter=".", n=2, cites=(SPLITS, FIRST, SECOND, UTF8))
case("delimiter_unset", X=SPACED, n=2, cites=(GROUPED, BLANKS))
case("delimiter_empty", X=SPACED, delimiter="", n=2, cites=(GROUPED, BLANKS))
case("delimiter_blank", X=SPACED, delimiter=" ", n=2, cites=NOT_GROUPED)
case("delimiter_tab", X=["a\tb c", "\t\td"], delimiter="\t", n=2, cites=NOT_GROUPED)
case("consecutive", X=["a--b", "--", "-a-b--", "a-b"], delimiter="-", n=2, cites=(NOT_GROUPED, PADS, PADS_Y))
case("consecutive_blanks", X=["a   b", "c  d  e"], n=2, cites=GROUPED)
case("all_white_space", X=[" \t\n\r\v\fa \t\n\r\v\fb\f\v\r\n\t "], n=2, cites=GROUPED)
case("each_white_space", X=["a b", "a\tb", "a\nb", "a\rb", "a\vb", "a\fb"], n=2, cites=GROUPED)
case("delimiter_of_two", X=["a::b::c", "a:b::c", ":::a:::", "::"], delimiter="::", n=2, cites=FIRST)
case("delimiter_overlaps", Tag.EDGE, X=["aaa", "aaaa", "baaab"], delimiter="aa", n=2, cites=MAXIMUM)
case("delimiter_begins_again", Tag.EDGE, X=["abababc", "ababcab"], delimiter="abc", n=2, cites=FIRST)
case("delimiter_is_whole", Tag.EDGE, X=["abc", "abcabc"], delimiter="abc", n=2, cites=NOT_GROUPED)
case("delimiter_longer", Tag.EDGE, X=["ab", "abc"], delimiter="abcd", n=2, cites=FIRST)
case("delimiter_absent", X=["ab", "c"], delimiter="x", n=2, cites=FIRST)
case("delimiter_of_blanks", Tag.EDGE, X=["a  b c", "   d"], delimiter="  ", n=2, cites=NOT_GROUPED)
case("delimiter_case", Tag.EDGE, X=["aXbxc"], delimiter="x", n=2, cites=FIRST)
case("delimiter_no_pattern", Tag.EDGE, X=["a.b|c", "d|e"], delimiter="|", n=2, cites=FIRST)
case("delimiter_utf8", X=["日本、東京", "é、è、ê"], delimiter="、", n=2, cites=UTF8)
case("delimiter_shares_bytes", Tag.EDGE, X=["aéb", "aèb"], delimiter="è", n=2, cites=UTF8)
case("delimiter_wide", Tag.EDGE, X=["a𝄞b𝄞", "c"], delimiter="𝄞", n=2, cites=UTF8)
case("utf8_blanks", X=["äö ü", " 日 本語"], n=2, cites=UTF8)

for most in range(5):
    clauses = (MAXIMUM, SUFFIX, PLUS_ONE, NO_EFFECT)
    case(f"maxsplit_{most}", X=["a.b.c.d", "e..f", ".g.", "h"], delimiter=".", maxsplit=most, n=2, cites=clauses)
    case(f"maxsplit_{most}_blanks", X=["a b  c d", "e\t f", "g"], maxsplit=most, n=2, cites=clauses)
    case(f"maxsplit_{most}_of_two", X=["a::b:::c::d"], delimiter="::", maxsplit=most, n=2, cites=clauses)
case("maxsplit_unset", X=["a.b.c.d.e.f.g"], delimiter=".", n=2, cites=UNSET)
case("maxsplit_highest", Tag.EDGE, X=["a.b.c", "d"], delimiter=".", maxsplit=2**63 - 1, n=2, cites=(UNSET, NO_EFFECT))
case("maxsplit_beyond_int32", Tag.EDGE, X=["a b c", "d"], maxsplit=2**32, n=2, cites=(UNSET, NO_EFFECT))
case("maxsplit_one_leading", X=["  a b c", "d"], maxsplit=1, n=2, cites=(GROUPED, SUFFIX))
case("maxsplit_enough_trailing", X=["a b  ", "c "], maxsplit=2, n=2, cites=(GROUPED, NO_EFFECT))
case("maxsplit_inner_blanks_stay", X=["a  b  c", "d e   f g"], maxsplit=1, n=2, cites=SUFFIX)
case("maxsplit_one_each", X=["a.b", "c.d"], delimiter=".", maxsplit=1, n=2, cites=PLUS_ONE)

case("rank0", Tag.EDGE, X="a.b.c", delimiter=".", n=2, cites=(RANK, EACH))
case("rank0_one", Tag.EDGE, X="a", n=2, cites=RANK)
case("one", Tag.EDGE, X=["a"], delimiter=".", n=2, cites=RANK)
case("matrix", X=[["a.b", "c", "d.e.f"], ["g.h", "..", "i"]], delimiter=".", n=2, cites=(RANK, EACH, PADS))
case("column", Tag.EDGE, X=[["a b c"], ["d"], ["e f"]], n=2, cites=(RANK, EACH))
case("cube", X=[[["a b", "c"], ["d", "e f"], ["g h", "i"]]], n=2, cites=(RANK, EACH))
case("no_padding", X=["a b", "c d", "e f"], n=2, cites=PADS)
case("padding_first", X=["a", "b c d"], n=2, cites=(PADS, PADS_Y))
case("delimiter_only", Tag.EDGE, X=[".", "...", "a"], delimiter=".", n=2, cites=NOT_GROUPED)

case("empty_string", Tag.EDGE, X=["", "a"], n=2, unspecified=SPLITS)
case("empty_string_delimiter", Tag.EDGE, X=["a.b", ""], delimiter=".", n=2, unspecified=SPLITS)
case("blank_string", Tag.EDGE, X=[" \t ", "a"], n=2, unspecified=SPLITS)
case("white_space_beyond_ascii", Tag.EDGE, X=["a\u00a0b\u3000c"], n=2, unspecified=GROUPED)
case("white_space_of_control", Tag.EDGE, X=["a\x1cb"], n=2, unspecified=GROUPED)
case("suffix_with_blanks", Tag.EDGE, X=["a b c  "], maxsplit=1, n=2, unspecified=SUFFIX)
case("whole_with_blanks", Tag.EDGE, X=["  a b"], maxsplit=0, n=2, unspecified=SUFFIX)
case("maxsplit_negative", Tag.EDGE, X=["a.b.c"], delimiter=".", maxsplit=-1, n=2, unspecified=MAXIMUM)
case("no_elements", Tag.EDGE, X=ramp(0), delimiter=".", n=2, unspecified=RANK)
case("no_elements_matrix", Tag.EDGE, X=ramp(2, 0), n=2, unspecified=RANK)

# Forbidden by sentences of the text, not only by the signature.
case("outside", Tag.DTYPE, outside="T1", X=ramp(3), delimiter=".", n=2, rejects=UTF8)

CALLS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "white_space": (("one", "two words", "three more words", "a  b c d", "x y z u v w"), {}),
    "delimiter": (("one", "two,words", "a,,b,c", ",x", "1,2,3,4,5,6,7"), {"delimiter": ","}),
    "at_most_two": (("one", "two-words", "a--b-c", "1-2-3-4-5-6-7"), {"delimiter": "-", "maxsplit": 2}),
}
"""The strings from which elements are drawn, and the attributes."""
for name, (texts, attributes) in CALLS.items():
    SPLIT.sized(
        name,
        grid(m=(3, 65), n=(7, 64, 1025)),
        n=2,
        cites=(SPLITS, PADS),
        arguments={"X": among(texts, "m", "n"), **attributes},
    )
