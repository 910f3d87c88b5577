# SPDX-License-Identifier: Apache-2.0
"""The style of each verdict: a letter, words, and a family of colour and pattern; never only a colour."""

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
    "pass": VerdictStyle("P", "pass", "pass", "the expected outcome"),
    "wrong_value": VerdictStyle("V", "wrong value", "wrong", "outputs with other values than expected"),
    "wrong_shape": VerdictStyle("S", "wrong shape", "wrong", "outputs with another shape"),
    "wrong_type": VerdictStyle("T", "wrong type", "wrong", "outputs with another type"),
    "wrong_count": VerdictStyle("N", "wrong count", "wrong", "another number of outputs or elements"),
    "invalid_model": VerdictStyle(
        "M", "invalid model", "wrong", "a tool returned a model that is invalid in ONNX or has other outputs"
    ),
    "refused": VerdictStyle("R", "refused", "refused", "a valid model raised an error other than unsupported"),
    "declined": VerdictStyle("D", "declined", "refused", "unsupported, although the author of the runtime claims it"),
    "fallback": VerdictStyle("B", "fallback", "refused", "another provider ran the operator, although it is claimed"),
    "accepted_invalid": VerdictStyle(
        "A",
        "accepted invalid",
        "accepted",
        "an invalid model was accepted; ONNX does not require runtimes to reject it",
    ),
    "lenient": VerdictStyle(
        "L",
        "lenient",
        "unspecified",
        "a model that violates only a `should`, a description or the signature was accepted; not scored",
    ),
    "knows_less": VerdictStyle(
        "K", "knows less", "unspecified", "types or shapes that could be inferred are missing; not scored"
    ),
    "crash": VerdictStyle("C", "crash", "crash", "the process died"),
    "timeout": VerdictStyle("O", "timeout", "timeout", "no answer within the time limit"),
    "flaky": VerdictStyle("F", "flaky", "flaky", "repeated runs have different verdicts"),
    "unsupported": VerdictStyle("U", "unsupported", "unsupported", "the runtime said so; not scored"),
    "unspecified": VerdictStyle("?", "unspecified", "unspecified", "the specification does not decide; not scored"),
    "adapter_error": VerdictStyle("E", "adapter error", "adapter", "the adapter failed, not the runtime; not scored"),
}
"""By name of the verdict, in the order of a bar."""

ORDER = tuple(Verdict(name) for name in STYLES if name in list(Verdict))
"""The verdicts in the order of a bar; the index of a verdict is its number in the page."""
NUMBER = {verdict: number for number, verdict in enumerate(ORDER)}
ABSENT = 255
"""The number that means "no result"."""
