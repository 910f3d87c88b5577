"""How each verdict is shown: a letter, words, and a family of colour and pattern; colour never stands alone."""

from __future__ import annotations

from dataclasses import dataclass

from harness.verdict import Verdict


@dataclass(frozen=True)
class Look:
    """How a verdict is shown.

    Attributes:
        letter: in a list, where there is no room for words; no two verdicts have the same.
        words: the verdict, for people.
        family: its colours and pattern, as in style.css.
        meaning: for the legend.
    """

    letter: str
    words: str
    family: str
    meaning: str


LOOKS = {
    "pass": Look("P", "pass", "pass", "the expected outcome was seen"),
    "wrong_value": Look("V", "wrong value", "wrong", "an answer with other values than expected"),
    "wrong_shape": Look("S", "wrong shape", "wrong", "an answer of another shape"),
    "wrong_type": Look("T", "wrong type", "wrong", "an answer of another type"),
    "wrong_count": Look("N", "wrong count", "wrong", "another number of outputs or elements"),
    "refused": Look("R", "refused", "refused", "a valid model raised an error that is not an opt-out"),
    "accepted_invalid": Look(
        "A", "accepted invalid", "accepted", "a model that the text forbids gave an answer; no runtime must refuse"
    ),
    "crash": Look("C", "crash", "crash", "the process died"),
    "timeout": Look("O", "timeout", "timeout", "no answer by the deadline"),
    "flaky": Look("F", "flaky", "flaky", "not the same every time"),
    "unsupported": Look("U", "unsupported", "unsupported", "the runtime says that it lacks this; not scored"),
    "unspecified": Look("?", "unspecified", "unspecified", "the text leaves it open; not scored"),
    "adapter_error": Look("E", "adapter error", "adapter", "the adapter is at fault, not the runtime; not scored"),
}
"""By the name of the verdict, in the order of a bar."""

ORDER = tuple(Verdict(name) for name in LOOKS if name in list(Verdict))
"""The verdicts in the order of a bar; a verdict's place here is its number in the page."""
NUMBER = {verdict: number for number, verdict in enumerate(ORDER)}
ABSENT = 255
"""The number that stands for no result."""
