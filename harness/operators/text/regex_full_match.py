r"""RegexFullMatch: whether each string as a whole matches a pattern in RE2's syntax.

Versions: 20. What a pattern means is RE2's page of its syntax, to which the text refers: Perl's classes and borders of
words are of ASCII, $ stands at the end of the text alone, and there is nothing that looks behind or back.
"""

from __future__ import annotations

import re

import numpy as np

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, ramp

FULL_MATCH = Op("RegexFullMatch", versions=(20,), compare=EXACT, rank="X")
FULL_MATCH.excuse("attribute pattern unset", "the text does not say what an element matches where no pattern is given")

PERFORMS = FULL_MATCH.clause(
    "RegexFullMatch performs a full regex match on each element of the input tensor.",
    note="Does not say what a match is where no pattern is given.",
)
TRUE = FULL_MATCH.clause(
    "If an element fully matches the regex pattern specified as an attribute, the corresponding element in the output "
    "is True and it is False otherwise."
)
RE2 = FULL_MATCH.clause("[RE2](https://github.com/google/re2/wiki/Syntax) regex syntax is used.")
VALID = FULL_MATCH.clause(
    "This must be valid RE2 syntax.",
    note="RE2's page marks what it does not support: references to groups, looking around, possessive repetition, "
    "repetition beyond 1000. onnx.reference takes Python's syntax instead.",
)
STRINGS = FULL_MATCH.clause("Tensor with strings to match on.")
BOOLS = FULL_MATCH.clause("Outputs are bools and are True where there is a full regex match and False otherwise.")
UTF8 = FULL_MATCH.clause("Inputs must be UTF-8 strings")

SETS = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}
"""Perl's classes, which are of ASCII; white space is without the vertical tab."""
POSIX = {"alpha": "A-Za-z", "digit": "0-9", "alnum": "0-9A-Za-z", "upper": "A-Z", "lower": "a-z", "space": r"\t-\r "}
POSIX |= {"xdigit": "0-9A-Fa-f", "word": "0-9A-Za-z_", "blank": r"\t ", "punct": r"!-/:-@\[-`{-~"}
UNSUPPORTED = re.compile(r"\\[1-9ZGX]|\(\?(?:[=!>#|(]|<[=!]|P[=>])|[*+?}]\+|\\[kg][<{]|\[\[[.=]")
TOKEN = re.compile(
    r"\\Q(.*?)(?:\\E|$)|\\x\{([0-9A-Fa-f]+)\}|\\(.)|\[:(\^?)(\w+):\]|\{(\d+)(?:,(\d*))?\}|(.)", re.DOTALL
)
MOST_REPEATED = 1000


class _InvalidError(Exception):
    """The pattern is not valid RE2 syntax."""


def _token(found: re.Match[str], *, inside: bool, lines: bool) -> str:
    """Return one part of a pattern, `inside` a class or not, as Python's re writes what RE2 means by it."""
    quoted, point, escaped, inverse, named, least, most, _ = found.groups()
    if quoted is not None:
        return re.escape(quoted)
    if point:
        return re.escape(chr(int(point, 16)))
    if escaped:
        if escaped.lower() in SETS:
            members = SETS[escaped.lower()]
            return members if inside else f"[{'^' if escaped.isupper() else ''}{members}]"
        return {"z": r"\Z", "b": r"(?a:\b)", "B": r"(?a:\B)"}.get(escaped, f"\\{escaped}")
    if named:
        if named not in POSIX or inverse:
            raise _InvalidError(named)
        return POSIX[named]
    if least and max(int(least), int(most or 0)) > MOST_REPEATED:
        raise _InvalidError(found[0])
    return r"\Z" if found[0] == "$" and not inside and not lines else found[0]


def _python(pattern: str) -> re.Pattern[str]:
    """Return the pattern in Python's syntax."""
    if UNSUPPORTED.search(re.sub(r"\\Q.*?(\\E|$)|\\\\", "", pattern)):
        raise _InvalidError(pattern)
    flags = re.match(r"\(\?([imsU]+)\)", pattern)
    pattern = pattern.removeprefix(flags[0]) if flags else pattern
    letters = flags[1].replace("U", "") if flags else ""
    parts, inside = [f"(?{letters})" if letters else ""], False
    for found in TOKEN.finditer(pattern):
        parts.append(_token(found, inside=inside, lines="m" in letters))
        inside = (inside or found[0] == "[") and found[0] != "]"
    try:
        return re.compile("".join(parts))
    except re.error as error:
        raise _InvalidError(pattern) from error


@FULL_MATCH.oracle()
def matched(v: Version, X: Array, pattern: str | None) -> Array:  # noqa: N803 - the text's own name
    """Return whether each string matches from its beginning to its end."""
    v.silent(PERFORMS, pattern is None)
    try:
        compiled = _python(pattern or "")
    except _InvalidError:
        v.require(VALID, holds=False)
    return np.array([compiled.fullmatch(text) is not None for text in X.flat], bool).reshape(X.shape)


case = FULL_MATCH.case

MEANT: dict[str, tuple[str, list[str]]] = {
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
for name, (pattern, strings) in MEANT.items():
    case(name, X=strings, pattern=pattern, cites=(TRUE, RE2, PERFORMS))
case("rank0", Tag.EDGE, X="abc", pattern="a.c", cites=(STRINGS, BOOLS))
case("rank0_false", Tag.EDGE, X="abcd", pattern="a.c", cites=(STRINGS, BOOLS))
case("size_one", Tag.EDGE, X=["abc"], pattern="b", cites=(TRUE,))
case("no_elements", Tag.EDGE, X=ramp(0), pattern="a", cites=(PERFORMS,))
case("zero_size", Tag.EDGE, X=ramp(2, 0, 3), pattern="a", cites=(PERFORMS,))
case("matrix", X=[["a1", "b2", "a3"], ["a4", "c", "a55"]], pattern=r"a\d", cites=(PERFORMS, BOOLS))
case("cube", X=ramp(2, 3, 4), pattern="s[13579]|s1.", cites=(PERFORMS, BOOLS))
case("pattern_unset", X=["", "a"], unspecified=PERFORMS)
WRONG = {"group_open": "(a", "group_closed": "a)", "set_open": "[a", "range_backwards": "[z-a]", "star_first": "*a"}
WRONG |= {"reference": r"(a)\1", "reference_named": "(?P<n>a)(?P=n)", "ahead": "a(?=b)", "ahead_not": "a(?!b)b"}
WRONG |= {
    "behind": "a(?<=a)b",
    "behind_not": "a(?<!b)b",
    "atomic": "(?>a+)b",
    "possessive": "a++b",
    "comment": "a(?#b)",
}
WRONG |= {"counted_backwards": "a{3,2}", "counted_beyond": "a{1001}", "escape_last": "a\\", "star_twice": "a**"}
WRONG |= {"posix_unknown": "[[:letters:]]", "end_unknown": r"a\Z", "condition": "(a)?(?(1)b|c)"}
for name, pattern in WRONG.items():
    case(f"invalid_{name}", X=["ab", "a"], pattern=pattern, rejects=VALID)
case("outside", Tag.DTYPE, outside="T1", X=ramp(3), pattern="a", rejects=UTF8)
case("no_input", pattern="a", rejects=Rule.ARITY)
case("no_outputs", X=["a"], pattern="a", n=0, rejects=Rule.ARITY)
case("two_outputs", X=["a"], pattern="a", n=2, rejects=Rule.ARITY)
case("attribute_flags", X=["a"], pattern="a", stray={"flags": "i"}, rejects=Rule.ATTRIBUTES)
