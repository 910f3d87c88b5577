# SPDX-License-Identifier: Apache-2.0
"""StringNormalizer: remove stop words and change the case of the other strings.

    Y = StringNormalizer(X, case_change_action="NONE", is_case_sensitive=0, locale="en_US", stopwords=None)

Versions: 10.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, ramp, vary
from onnx_conformance.declare.sizes import among, grid


def _of_row(shape: tuple[int, ...]) -> frozenset[int]:
    """Return the first axis of a [1, C]-tensor."""
    return frozenset({0} if len(shape) > 1 else ())


NORMALIZER = Op("StringNormalizer", versions=(10,), compare=EXACT, rank="X", stated=_of_row)
NORMALIZER.example(X=ramp(4), case_change_action="UPPER", is_case_sensitive=1, locale="en_US", stopwords=["s1"])

BASIC = NORMALIZER.clause("StringNormalization performs string operations for basic cleaning.")
REMOVES = NORMALIZER.clause(
    'This operator first examines the elements in the X, and removes elements specified in "stopwords" attribute.',
    note='"First" means that the elements of X are compared before case_change_action is applied.',
)
CHANGES = NORMALIZER.clause(
    "After removing stop words, the intermediate result can be further lowercased, uppercased, or just returned "
    'depending the "case_change_action" attribute.',
    note="The text does not define letters whose other case is not one letter: onnxruntime keeps ß, onnx.reference "
    "writes SS.",
)
ONE_INPUT = NORMALIZER.clause("This operator has only one input (denoted by X) and only one output (denoted by Y).")
ACCEPTS = NORMALIZER.clause(
    "This operator only accepts [C]- and [1, C]-tensor.",
    note="The text does not define whether a model may state a first length other than 1, such as a symbol, if the "
    "tensor then has length 1. The type inference of onnx rejects that, and accepts a tensor of unknown rank. The "
    "models of the cases state 1.",
)
ALL_DROPPED = NORMALIZER.clause(
    "If all elements in X are dropped, the output will be the empty value of string tensor with shape [1] if input "
    "shape is [C] and shape [1, 1] if input shape is [1, C].",
    note="The text does not define whether all elements of an empty X are dropped.",
)
NO_WORDS = NORMALIZER.clause("If not set, no word would be removed from X.")
LOCALE = NORMALIZER.clause(
    "Environment dependent string that denotes the locale according to which output strings needs to be "
    "upper/lowercased.",
    note="The meaning of names other than en_US depends on the environment.",
)
EN_US = NORMALIZER.clause("Default en_US or platform specific equivalent as decided by the implementation.")
SENSITIVE = NORMALIZER.clause(
    "Whether the identification of stop words in X is case-sensitive.",
    note="The text does not define letters that are equal in only one case, such as the long s, or the locale.",
)
BOOLEAN = NORMALIZER.clause("Boolean.", note="The text does not define values other than 0 and 1.")
INSENSITIVE = NORMALIZER.clause("Default is false")
VALID = NORMALIZER.clause('Valid values are "LOWER", "UPPER", "NONE".')
UNCHANGED = NORMALIZER.clause('Default is "NONE"')
UTF8 = NORMALIZER.clause("UTF-8 strings to normalize")
NORMALIZED = NORMALIZER.clause("UTF-8 Normalized strings")


def _is_word(v: Version, text: str, word: str, *, sensitive: bool) -> bool:
    """Return whether an element is a stop word."""
    if sensitive or text == word:
        return text == word
    alike = {text.lower() == word.lower(), text.upper() == word.upper(), text.casefold() == word.casefold()}
    v.silent(SENSITIVE, len(alike) > 1)
    return alike == {True}


def _changed(v: Version, text: str, action: str) -> str:
    """Return an element in the case that the action selects."""
    if action == "NONE":
        return text
    result = text.lower() if action == "LOWER" else text.upper()
    letters = (letter.lower() if action == "LOWER" else letter.upper() for letter in text)
    v.silent(CHANGES, any(len(letter) != 1 for letter in letters) or "Σ" in text)
    return result


@NORMALIZER.oracle()
def normalized(
    v: Version,
    X: Array,
    stopwords: list[str] | None,
    locale: str | None,
    is_case_sensitive: int,
    case_change_action: str,
) -> Array:
    """Return the elements that are not stop words, in the case that case_change_action selects."""
    v.require(ACCEPTS, X.ndim == 1 or (X.ndim == 2 and X.shape[0] == 1))  # noqa: PLR2004 - [1, C]
    v.require(VALID, case_change_action in {"LOWER", "UPPER", "NONE"})
    v.silent(BOOLEAN, is_case_sensitive not in {0, 1})
    v.silent(LOCALE, locale not in {None, "en_US"} and case_change_action != "NONE")
    v.silent(ALL_DROPPED, X.size == 0)
    others = [
        text
        for text in X.flat
        if not any(_is_word(v, text, word, sensitive=is_case_sensitive == 1) for word in stopwords or ())
    ]
    changed = [_changed(v, text, case_change_action) for text in others] or [""]
    return np.array(changed, object).reshape((*X.shape[:-1], len(changed)))


case = NORMALIZER.case

DAYS = ["monday", "Tuesday", "MONDAY", "friday", "Monday", "sunday"]
WORDS = ["monday", "SUNDAY"]
ACCENTS = ["Äpfel", "ÉTÉ", "señor", "Ωμέγα", "жук"]
WITHOUT_CASE = ["日本語", "٣", "𝄞", "a\tB\nc", "", " ", "1-2"]

case("nothing_set", X=DAYS, cites=(BASIC, NO_WORDS, UNCHANGED, NORMALIZED))
case("row_nothing_set", X=[DAYS], cites=(ACCEPTS, NO_WORDS))
for action in ("LOWER", "UPPER", "NONE"):
    name = action.lower()
    case(name, X=DAYS, case_change_action=action, cites=(CHANGES, VALID, EN_US))
    case(f"{name}_row", X=[DAYS], case_change_action=action, cites=(CHANGES, ACCEPTS))
    for how, sensitive in {"insensitive": 0, "sensitive": 1}.items():
        case(
            f"{name}_{how}",
            X=DAYS,
            stopwords=WORDS,
            is_case_sensitive=sensitive,
            case_change_action=action,
            cites=(REMOVES, CHANGES, SENSITIVE, BOOLEAN),
        )
        case(
            f"{name}_{how}_row",
            X=[DAYS],
            stopwords=WORDS,
            is_case_sensitive=sensitive,
            case_change_action=action,
            cites=(REMOVES, ACCEPTS),
        )
    case(f"{name}_dropped", Tag.EDGE, X=["a", "b"], stopwords=["b", "a"], case_change_action=action, cites=ALL_DROPPED)
    case(f"{name}_accents", X=ACCENTS, case_change_action=action, cites=(CHANGES, UTF8))
    case(f"{name}_without_case", Tag.EDGE, X=WITHOUT_CASE, case_change_action=action, cites=(CHANGES, UTF8))
case("insensitive_default", X=DAYS, stopwords=["mOnDaY"], cites=(INSENSITIVE, REMOVES))
case("sensitive_keeps_others", X=DAYS, stopwords=["mOnDaY"], is_case_sensitive=1, cites=SENSITIVE)
case("insensitive_accents", X=["Été", "ete", "ÉTÉ", "d'été"], stopwords=["été"], cites=SENSITIVE)
case("sensitive_accents", X=["Été", "été", "ÉTÉ"], stopwords=["été"], is_case_sensitive=1, cites=SENSITIVE)
case(
    "compared_before_change",
    X=["ABC", "abc"],
    stopwords=["abc"],
    is_case_sensitive=1,
    case_change_action="LOWER",
    cites=REMOVES,
)
case(
    "compared_before_upper",
    X=["ABC", "abc"],
    stopwords=["ABC"],
    is_case_sensitive=1,
    case_change_action="UPPER",
    cites=REMOVES,
)
case("part_of_word", X=["sun", "sunday", "day"], stopwords=["sun"], cites=REMOVES)
case("word_not_there", X=DAYS, stopwords=["winter"], cites=REMOVES)
case("words_twice", Tag.EDGE, X=["b", "a", "b", "c", "b"], stopwords=["b", "b"], cites=REMOVES)
case("order_stays", X=["c", "a", "d", "b", "a"], stopwords=["d", "e"], cites=REMOVES)
case("blanks_count", Tag.EDGE, X=["a", " a", "a "], stopwords=["a"], cites=REMOVES)
case("empty", Tag.EDGE, X=["", "a", ""], stopwords=vary(word=[""], words=[]), cites=REMOVES)
case("composed_and_not", Tag.EDGE, X=["é", "e\u0301"], stopwords=["é"], is_case_sensitive=1, cites=REMOVES)
case("one", Tag.EDGE, X=["a"], cites=ACCEPTS)
case("one_in_row", Tag.EDGE, X=[["a"]], cites=ACCEPTS)
case("one_stays", Tag.EDGE, X=[["a", "b", "a"]], stopwords=["a"], cites=ACCEPTS)
case("dropped", Tag.EDGE, X=["a", "A", "a"], stopwords=["a"], cites=ALL_DROPPED)
case("dropped_row", Tag.EDGE, X=[["a", "A", "a"]], stopwords=["a"], cites=ALL_DROPPED)
case("dropped_one", Tag.EDGE, X=["a"], stopwords=["a"], is_case_sensitive=1, cites=ALL_DROPPED)
case("dropped_one_row", Tag.EDGE, X=[["a"]], stopwords=["a"], is_case_sensitive=1, cites=ALL_DROPPED)
case("locale_en_us", X=DAYS, locale="en_US", case_change_action="UPPER", cites=(EN_US, LOCALE))
case("locale_unused", X=DAYS, locale="en_US", stopwords=["monday"], is_case_sensitive=1, cites=LOCALE)

case("locale_other", X=["IT", "it"], locale="tr_TR", case_change_action="LOWER", unspecified=LOCALE)
case(
    "locale_unknown", Tag.EDGE, X=["IT", "it"], locale="no-such-locale", case_change_action="UPPER", unspecified=LOCALE
)
case("upper_longer", Tag.EDGE, X=["straße", "ﬁn"], case_change_action="UPPER", unspecified=CHANGES)
case("lower_longer", Tag.EDGE, X=["İzmir"], case_change_action="LOWER", unspecified=CHANGES)
case("lower_final_sigma", Tag.EDGE, X=["ΣΟΦΟΣ"], case_change_action="LOWER", unspecified=CHANGES)
case("insensitive_half_alike", Tag.EDGE, X=["\u017fo", "b"], stopwords=["so"], unspecified=SENSITIVE)
case("sensitive_two", Tag.EDGE, X=DAYS, stopwords=["monday"], is_case_sensitive=2, unspecified=BOOLEAN)
case("no_elements", Tag.EDGE, X=ramp(0), unspecified=ALL_DROPPED)
case("no_elements_row", Tag.EDGE, X=ramp(1, 0), stopwords=["a"], unspecified=ALL_DROPPED)

case("action", X=DAYS, case_change_action=vary(unknown="TITLE", small="lower"), rejects=VALID)
case("action_empty", Tag.EDGE, X=DAYS, case_change_action="", rejects=VALID)
case("rank0", Tag.EDGE, X="a", rejects=ACCEPTS)
OTHER_SHAPES = vary(two_rows=ramp(2, 3), no_rows=ramp(0, 3), column=ramp(3, 1), rank3=ramp(1, 1, 3))
case("shape", Tag.EDGE, X=OTHER_SHAPES, rejects=ACCEPTS)

# Forbidden by sentences of the text, not only by the signature.
case("no_input", stopwords=["a"], rejects=ONE_INPUT)
case("no_outputs", X=DAYS, n=0, rejects=ONE_INPUT)
case("two_outputs", X=DAYS, n=2, rejects=ONE_INPUT)

VOCABULARY = ("The", "the", "Cat", "cat", "is", "ON", "mat", "Äpfel", "été", "a", "")
CALLS: dict[str, dict[str, Any]] = {
    "lower": {"case_change_action": "LOWER"},
    "upper": {"case_change_action": "UPPER"},
    "stop_words": {"stopwords": ["the", "is", "a"], "is_case_sensitive": 1},
    "stop_words_any_case": {"stopwords": ["THE", "On"], "is_case_sensitive": 0, "case_change_action": "LOWER"},
}
for name, attributes in CALLS.items():
    NORMALIZER.sized(
        name,
        grid(n=(7, 64, 1025, 70_000)),
        cites=(REMOVES, CHANGES),
        arguments={"X": among(VOCABULARY, "n"), **attributes},
    )
