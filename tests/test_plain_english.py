# SPDX-License-Identifier: Apache-2.0
"""The project's texts use plain English: habits that make sentences hard to read may become rarer, but not more common.

`python tests/plain_english.py` shows the counts, and with two words where they are; see there.
"""

from __future__ import annotations

import pytest

import plain_english
from plain_english import KINDS, PATTERNS, places

ALLOWED: dict[str, dict[str, int]] = {
    "documents": {"what": 1, "beside": 2},
    "notes": {"came": 2},
    "messages": {"what": 3, "gives": 1, "says": 2, "beside": 2, "inverted": 1},
    "docstrings": {
        "what": 3,
        "gives": 9,
        "says": 6,
        "came": 20,
        "beside": 17,
        "stands": 5,
        "none": 2,
        "own": 2,
        "where": 4,
        "fronted": 1,
        "inverted": 3,
    },
    "comments": {"what": 3, "gives": 1, "says": 1, "stands": 1},
}
"""By kind of text, how often each pattern may occur. Lower a number after you rewrite a text; never raise one."""
SLACK = 5
"""How far a count may fall before its allowance must be lowered, too."""


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=pytest.mark.xdist_group(f"texts {kind}")) for kind in KINDS])
def test_no_habit_becomes_more_common(kind: str, pattern: str) -> None:
    count, allowed = plain_english.counts(kind)[pattern], ALLOWED[kind].get(pattern, 0)
    shown = "\n".join(places(kind, pattern)) if count > allowed else ""
    assert count <= allowed, f"rewrite a sentence: {count} in {kind}, but {allowed} are allowed:\n{shown}"
    assert count >= allowed - SLACK, f"lower the allowance of {pattern!r} in {kind} from {allowed} to {count}"


EXAMPLES = {
    "what": ("It returns what the oracle computes.", "What does it return?"),
    "gives": ("The oracle gives two values.", "The oracle returns two values."),
    "says": ("The text says nothing of NaN.", "The text does not define NaN."),
    "came": ("3 were expected, 2 came.", "expected 3, got 2"),
    "beside": ("a file beside the model", "a file in the folder of the model"),
    "stands": ("The node stands in a branch.", "The node is in a branch."),
    "none": ("There is none, or it is none.", "It has no axis."),
    "own": ("a process of its own", "a separate process"),
    "where": ("Where it is empty, the case passes.", "If it is empty, the case passes. Where is it?"),
    "fronted": ("Of two, the first is used.", "The first of two is used. Of course."),
    "inverted": ("all but for the last", "all except the last"),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_habit_is_noticed_and_a_plain_sentence_is_not(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    habit, plain = EXAMPLES[pattern]
    for text, expected in ((habit, True), (plain, False)):
        monkeypatch.setitem(KINDS, "example", lambda text=text: iter([(plain_english.ROOT / "example.md", text)]))
        assert bool([*places("example", pattern)]) is expected, text
