# SPDX-License-Identifier: Apache-2.0
"""RegexFullMatch: test whether each string as a whole matches a pattern in RE2's syntax.

    Y = RegexFullMatch(X, pattern=...)

Versions: 20.

The text refers to RE2's page on its syntax, which defines the meaning of patterns: Perl's classes and word boundaries
are ASCII, $ matches only at the end of the text, and there are no references and no lookaround.
"""

from __future__ import annotations

import re

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, ramp, vary
from onnx_conformance.declare.sizes import among, grid

FULL_MATCH = Op("RegexFullMatch", versions=(20,), compare=EXACT, rank="X")
FULL_MATCH.example(X=ramp(2, 3), pattern="s[024]")
FULL_MATCH.excuse("attribute pattern unset", "the text does not say what an element matches where no pattern is given")

PERFORMS = FULL_MATCH.clause(
    "RegexFullMatch performs a full regex match on each element of the input tensor.",
    note="The text does not define the result if there is no pattern.",
)
TRUE = FULL_MATCH.clause(
    "If an element fully matches the regex pattern specified as an attribute, the corresponding element in the output "
    "is True and it is False otherwise."
)
RE2 = FULL_MATCH.clause("[RE2](https://github.com/google/re2/wiki/Syntax) regex syntax is used.")
VALID = FULL_MATCH.clause(
    "This must be valid RE2 syntax.",
    note="RE2's page marks unsupported syntax: references to groups, lookaround, possessive repetition, and repetition "
    "beyond 1000. onnx.reference uses Python's syntax instead.",
)
STRINGS = FULL_MATCH.clause("Tensor with strings to match on.")
BOOLS = FULL_MATCH.clause("Outputs are bools and are True where there is a full regex match and False otherwise.")
UTF8 = FULL_MATCH.clause("Inputs must be UTF-8 strings")

PERL = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}
"""Perl's classes, restricted to ASCII. White space does not include the vertical tab."""
POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r"\t ",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t-\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
"""The ASCII classes of [[:name:]]."""
BOUNDARIES = {"z": r"\Z", "b": r"(?a:\b)", "B": r"(?a:\B)"}
"""Python's re syntax for escapes of positions that Python writes in a different way."""
UNSUPPORTED = re.compile(
    r"""
    \\[1-9ZGX]                            # a reference to a group; positions that only others have
    | \(\?(?:[=!>\#|(]|<[=!]|P[=>])       # looking around, atomic groups, comments, conditions, named references
    | [*+?}]\+                            # possessive repetition
    | \\[kg][<{]                          # references by name
    | \[\[[.=]                            # collating elements
    """,
    re.VERBOSE,
)
"""Syntax that RE2 does not support and Python's re would accept."""
TOKEN = re.compile(
    r"""
    \\Q(?P<quoted>.*?)(?:\\E|$)
    | \\x\{(?P<point>[0-9A-Fa-f]+)\}
    | \\(?P<escaped>.)
    | \[:(?P<inverse>\^?)(?P<name>\w+):\]
    | \{(?P<least>\d+)(?:,(?P<most>\d*))?\}
    | .
    """,
    re.DOTALL | re.VERBOSE,
)
MOST_REPEATED = 1000


class _InvalidError(Exception):
    """The pattern is not valid RE2 syntax."""


def _translated(token: re.Match[str], *, inside: bool, lines: bool) -> str:
    """Return one token of a pattern in the syntax of Python's re.

    Args:
        token: a match of TOKEN.
        inside: whether the token is in a class.
        lines: whether ^ and $ match at lines.
    """
    text, quoted, point, escaped, name = token.group(0, "quoted", "point", "escaped", "name")
    if quoted is not None:
        return re.escape(quoted)
    if point:
        return re.escape(chr(int(point, 16)))
    if escaped:
        if escaped.lower() in PERL:
            members = PERL[escaped.lower()]
            return members if inside else f"[{'^' if escaped.isupper() else ''}{members}]"
        return BOUNDARIES.get(escaped, f"\\{escaped}")
    if name:
        if name not in POSIX or token["inverse"]:
            raise _InvalidError(text)
        return POSIX[name]
    if any(int(count) > MOST_REPEATED for count in token.group("least", "most") if count):
        raise _InvalidError(text)
    return r"\Z" if text == "$" and not inside and not lines else text


def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern in RE2's syntax as one of Python's re.

    Raises:
        _InvalidError: the pattern is not valid RE2 syntax.
    """
    if UNSUPPORTED.search(re.sub(r"\\Q.*?(\\E|$)|\\\\", "", pattern)):
        raise _InvalidError(pattern)
    flags = re.match(r"\(\?([imsU]+)\)", pattern)
    pattern = pattern.removeprefix(flags[0]) if flags else pattern
    letters = flags[1].replace("U", "") if flags else ""  # Greedy or not, a full match is the same.
    translated, inside = f"(?{letters})" if letters else "", False
    for token in TOKEN.finditer(pattern):
        translated += _translated(token, inside=inside, lines="m" in letters)
        inside = (inside or token[0] == "[") and token[0] != "]"
    try:
        return re.compile(translated)
    except re.error as error:
        raise _InvalidError(pattern) from error


@FULL_MATCH.oracle()
def matched(v: Version, X: Array, pattern: str | None) -> Array:
    """Return whether each string matches from its beginning to its end."""
    v.silent(PERFORMS, pattern is None)
    try:
        compiled = _compiled(pattern or "")
    except _InvalidError:
        v.require(VALID, holds=False)
    return np.array([compiled.fullmatch(text) is not None for text in X.flat], bool).reshape(X.shape)


case = FULL_MATCH.case

PATTERNS: dict[str, tuple[str, list[str]]] = {
    "literal": ("abc", ["abc", "abcd", "xabc", "ab", "", "ABC"]),
    "empty": ("", ["", "a", "\n"]),
    "any": ("a.c", ["abc", "a\nc", "ac", "aéc", "a日c", "a𝄞c", "abbc"]),
    "any_lines": ("(?s)a.c", ["abc", "a\nc", "ac"]),
    "star": ("ab*c", ["ac", "abc", "abbbc", "abb", "adc"]),
    "plus": ("ab+c", ["ac", "abc", "abbbc"]),
    "maybe": ("colou?r", ["color", "colour", "colouur"]),
    "lazy": ("a+?b??", ["a", "aaa", "aab", "abb"]),
    "counted": ("a{2,3}b{2}c{1,}d{0}", ["aabbc", "aaabbccc", "abbc", "aaaabbc", "aabbcd"]),
    "either": ("cat|dog", ["cat", "dog", "catdog", "ca", "og"]),
    "either_prefix": ("a|ab|abc", ["a", "ab", "abc", "abcd"]),
    "either_empty": ("a(b|)c", ["abc", "ac", "abbc"]),
    "group": ("(ab)+(?:cd)?", ["ab", "ababcd", "abc", "cd"]),
    "group_named": ("(?P<year>[0-9]{4})-(?P<month>[0-9]{2})", ["2024-05", "24-05", "2024-5"]),
    "set": ("[a-c]+", ["abc", "abd", "", "ABC", "b"]),
    "set_not": ("[^a-c]+", ["xyz", "xa", "\n", "é"]),
    "set_of_signs": (r"[\]\-.^]+", ["]-.^", "a", "^"]),
    "set_utf8": ("[à-ü]+", ["àéü", "a", "Ü"]),
    "digits": (r"\d+", ["012", "٣", "1a", ""]),
    "digits_behind_set": (r"[a-c]\d$", ["a1", "ad", "b٣", "c1\n"]),
    "digits_not": (r"\D+", ["abc", "٣", "1"]),
    "words": (r"\w+", ["aZ_9", "é", "a b"]),
    "words_not": (r"\W+", ["é", "-", "_"]),
    "spaces": (r"a\sb", ["a b", "a\tb", "a\nb", "a\vb", "a\u00a0b", "a\fb"]),
    "spaces_not": (r"\S+", ["a\u00a0b", "a b", "\v"]),
    "posix": ("[[:alpha:]]+[[:digit:]_]*", ["abc", "abc12_", "é", "1", "a-"]),
    "posix_space": ("[[:space:]]+", [" \t\n\r\f\v", "\u00a0", "a"]),
    "posix_punct": ("[[:punct:]]+", ["!~[]`", "a", "§"]),
    "ends": ("^abc$", ["abc", "abc\n", "\nabc", "abcd"]),
    "ends_of_text": (r"\Aabc\z", ["abc", "abc\n", "zabc"]),
    "end_inside": ("abc$\n", ["abc\n", "abc"]),
    "ends_of_lines": ("(?m)^ab$\n^cd$", ["ab\ncd", "ab\n", "abcd"]),
    "border": (r"a\b.\bb", ["a b", "aéb", "acb"]),
    "border_not": (r"a\Bb", ["ab", "a b"]),
    "case": ("(?i)AbC", ["abc", "ABC", "aBc", "abd"]),
    "case_group": ("(?i:a)b", ["Ab", "ab", "AB"]),
    "case_utf8": ("(?i)été", ["ÉTÉ", "Été", "ete"]),
    "ungreedy": ("(?U)a+b", ["aab", "a", "aabb"]),
    "escapes": (r"\.\*\t\x41\x{65E5}\\", [".*\tA日\\", "a*\tA日\\"]),
    "quoted": (r"\Qa.b*\Ec+", ["a.b*cc", "axbbc"]),
    "utf8": ("日本.", ["日本語", "日本", "日本語学"]),
    "wide": ("𝄞{2}", ["𝄞𝄞", "𝄞"]),
    "composed": ("é", ["é", "e\u0301"]),
    "backtracking": ("(a*)*b", ["aaaaaaaaaaaaaab", "aaaaaaaaaaaaaaac", "b"]),
    "nested": ("((a|b)(c(d|e)?)+)*", ["acbcd", "accd", "", "ad"]),
    "mail": (r"(\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$)", ["account@gmail.com", "account@hotmail.com", "not"]),
    "counted_most": ("a{1000}", ["a" * 1000, "a" * 999]),
    "brace_alone": ("a{b}", ["a{b}", "ab"]),
}
for name, (pattern, strings) in PATTERNS.items():
    case(name, X=strings, pattern=pattern, cites=(TRUE, RE2, PERFORMS))
case("rank0", Tag.EDGE, X="abc", pattern="a.c", cites=(STRINGS, BOOLS))
case("rank0_false", Tag.EDGE, X="abcd", pattern="a.c", cites=(STRINGS, BOOLS))
case("size_one", Tag.EDGE, X=["abc"], pattern="b", cites=TRUE)
case("no_elements", Tag.EDGE, X=ramp(0), pattern="a", cites=PERFORMS)
case("zero_size", Tag.EDGE, X=ramp(2, 0, 3), pattern="a", cites=PERFORMS)
case("matrix", X=[["a1", "b2", "a3"], ["a4", "c", "a55"]], pattern=r"a\d", cites=(PERFORMS, BOOLS))
case("cube", X=ramp(2, 3, 4), pattern="s[13579]|s1.", cites=(PERFORMS, BOOLS))
case("pattern_unset", X=["", "a"], unspecified=PERFORMS)

INVALID = vary(
    group_open="(a",
    group_closed="a)",
    set_open="[a",
    range_backwards="[z-a]",
    star_first="*a",
    star_twice="a**",
    reference=r"(a)\1",
    reference_named="(?P<n>a)(?P=n)",
    ahead="a(?=b)",
    ahead_not="a(?!b)b",
    behind="a(?<=a)b",
    behind_not="a(?<!b)b",
    atomic="(?>a+)b",
    possessive="a++b",
    comment="a(?#b)",
    condition="(a)?(?(1)b|c)",
    counted_backwards="a{3,2}",
    counted_beyond="a{1001}",
    escape_last="a\\",
    posix_unknown="[[:letters:]]",
    end_unknown=r"a\Z",
)
case("invalid", X=["ab", "a"], pattern=INVALID, rejects=VALID)

# Forbidden by sentences of the text, not only by the signature.
case("outside", Tag.DTYPE, outside="T1", X=ramp(3), pattern="a", rejects=UTF8)

for name, (pattern, texts) in {
    "words": ("[a-z]+", ("word", "Word", "two words", "", "x")),
    "mail": (r"[\w.]+@\w+\.com", ("some.one@mail.com", "no.one@mail.org", "one@two@mail.com", "@mail.com")),
    "numbers": ("-?[0-9]+([.][0-9]+)?", ("12", "-3.25", "1.", ".5", "12a")),
}.items():
    FULL_MATCH.sized(
        name,
        grid(m=(3, 65), n=(7, 64, 1025)),
        cites=(PERFORMS, TRUE),
        arguments={"X": among(texts, "m", "n"), "pattern": pattern},
    )
