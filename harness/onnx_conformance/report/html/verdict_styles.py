"""How each verdict is shown: a letter, words, and a family of colour and pattern; never by colour alone."""

from __future__ import annotations

from dataclasses import dataclass

from onnx_conformance.base.verdict import Verdict


@dataclass(frozen=True)
class VerdictStyle:
    """The style of a verdict.

    Attributes:
        letter: unique, for lists without room for words.
        words: the verdict, for people.
        family: its colours and pattern, as in style.css.
        meaning: for the legend.
    """

    letter: str
    words: str
    family: str
    meaning: str


STYLES = {
    "pass": VerdictStyle("P", "pass", "pass", "the expected outcome was seen"),
    "wrong_value": VerdictStyle("V", "wrong value", "wrong", "an answer with other values than expected"),
    "wrong_shape": VerdictStyle("S", "wrong shape", "wrong", "an answer of another shape"),
    "wrong_type": VerdictStyle("T", "wrong type", "wrong", "an answer of another type"),
    "wrong_count": VerdictStyle("N", "wrong count", "wrong", "another number of outputs or elements"),
    "invalid_model": VerdictStyle(
        "M", "invalid model", "wrong", "a tool returned a model that ONNX forbids, or that has other outputs"
    ),
    "refused": VerdictStyle("R", "refused", "refused", "a valid model raised an error that is not an opt-out"),
    "accepted_invalid": VerdictStyle(
        "A", "accepted invalid", "accepted", "a model that the text forbids gave an answer; no runtime must refuse"
    ),
    "lenient": VerdictStyle(
        "L",
        "lenient",
        "unspecified",
        "an answer to a model that only a `should`, a description or the signature forbids; not scored",
    ),
    "knows_less": VerdictStyle(
        "K", "knows less", "unspecified", "a tool says less of types and shapes than there is to know; not scored"
    ),
    "crash": VerdictStyle("C", "crash", "crash", "the process died"),
    "timeout": VerdictStyle("O", "timeout", "timeout", "no answer by the deadline"),
    "flaky": VerdictStyle("F", "flaky", "flaky", "not the same every time"),
    "unsupported": VerdictStyle("U", "unsupported", "unsupported", "the runtime says that it lacks this; not scored"),
    "unspecified": VerdictStyle("?", "unspecified", "unspecified", "the text leaves it open; not scored"),
    "adapter_error": VerdictStyle(
        "E", "adapter error", "adapter", "the adapter is at fault, not the runtime; not scored"
    ),
}
"""By the name of the verdict, in the order of a bar."""

ORDER = tuple(Verdict(name) for name in STYLES if name in list(Verdict))
"""The verdicts in the order of a bar; a verdict's place here is its number in the page."""
NUMBER = {verdict: number for number, verdict in enumerate(ORDER)}
ABSENT = 255
"""The number for no result."""
