# SPDX-License-Identifier: Apache-2.0
"""Verdicts, results, and text made safe to show."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Verdict(enum.StrEnum):
    """The outcome of one case on one backend."""

    PASS = "pass"  # noqa: S105 - not a password
    WRONG_VALUE = "wrong_value"
    WRONG_SHAPE = "wrong_shape"
    WRONG_TYPE = "wrong_type"
    WRONG_COUNT = "wrong_count"
    INVALID_MODEL = "invalid_model"
    REFUSED = "refused"
    DECLINED = "declined"
    FALLBACK = "fallback"
    ACCEPTED_INVALID = "accepted_invalid"
    LENIENT = "lenient"
    KNOWS_LESS = "knows_less"
    CRASH = "crash"
    TIMEOUT = "timeout"
    FLAKY = "flaky"
    UNSUPPORTED = "unsupported"
    UNSPECIFIED = "unspecified"
    ADAPTER_ERROR = "adapter_error"

    @property
    def scored(self) -> bool:
        """Whether it counts for or against the runtime."""
        return self not in UNSCORED

    @property
    def failed(self) -> bool:
        """Whether it is a scored verdict other than pass."""
        return self.scored and self is not Verdict.PASS


UNRATED = frozenset({Verdict.UNSPECIFIED, Verdict.LENIENT, Verdict.KNOWS_LESS})
"""Verdicts outside the rates. `lenient`: a model that violates no `must` was accepted. `knows_less`: types or shapes
that could be inferred are missing."""
UNSCORED = UNRATED | {Verdict.UNSUPPORTED, Verdict.ADAPTER_ERROR}
"""Verdicts that do not rate conformance."""
WRONG = frozenset({Verdict.WRONG_VALUE, Verdict.WRONG_SHAPE, Verdict.WRONG_TYPE, Verdict.WRONG_COUNT})
"""Outputs that differ from the expected ones."""
UNMET_CLAIMS = frozenset({Verdict.DECLINED, Verdict.FALLBACK})
"""Claimed cases that the runtime does not support, or that another execution provider ran."""
WITH_MESSAGE = UNMET_CLAIMS | {Verdict.REFUSED}
"""Failures whose message names the cause."""

_NOT_DEFINED = "This is a fault even if the text does not define the result"
MEANINGS: Mapping[Verdict, str] = {
    Verdict.PASS: "the actual outcome is the expected outcome",
    Verdict.WRONG_VALUE: "an output has other elements than the expected ones",
    Verdict.WRONG_SHAPE: "an output has another shape than the expected one",
    Verdict.WRONG_TYPE: "an output has another type than the expected one",
    Verdict.WRONG_COUNT: "there are more or fewer outputs than expected",
    Verdict.INVALID_MODEL: "a tool that changes models returned an invalid model, or one whose outputs have other "
    "names or types",
    Verdict.REFUSED: "the backend raised an error for a valid model, and did not report missing support",
    Verdict.DECLINED: "the runtime reported missing support for a case that its author claims",
    Verdict.FALLBACK: "another execution provider ran the tested operator, although its author claims the case",
    Verdict.ACCEPTED_INVALID: "the backend returned an answer for an invalid model (a `must` forbids it). It is "
    "counted separately, because ONNX does not require runtimes to reject invalid models",
    Verdict.LENIENT: "the backend returned an answer for a model that only a `should`, a description or the signature "
    "forbids",
    Verdict.KNOWS_LESS: "a shape inferencer returned less type and shape information than follows from the model",
    Verdict.CRASH: f"the process ended; the signal is recorded. {_NOT_DEFINED}",
    Verdict.TIMEOUT: f"there was no answer before the deadline. {_NOT_DEFINED}",
    Verdict.FLAKY: "the case failed, and got another verdict when it was repeated (`--repeat`); all attempts are "
    "recorded",
    Verdict.UNSUPPORTED: "the runtime reported that it lacks this opset, IR version, type or kernel; never counted "
    "as a pass",
    Verdict.UNSPECIFIED: "the text does not define the result, or contradicts itself, and the backend returned "
    "something or raised an error; the actual result is shown",
    Verdict.ADAPTER_ERROR: "the adapter is at fault, not the runtime; the run exits with status 2",
}
"""By verdict, the condition for it, in Markdown."""


VALID = frozenset({"values", "property"})
"""Outcomes of cases with a valid model, whose result the text defines."""


EMPTY = re.compile(r"\[(?:\d+,)*0(?:,\d+)*\]")
"""The shape of a tensor without elements, as results write values: float[2,0]."""


@dataclass(frozen=True)
class Result:
    """The result of one case on one backend.

    Attributes:
        case, operator, form: as in Case.
        backend: as the user named it.
        verdict: how the answer compares with the expected outcome.
        outcome: the expected outcome.
        message: one clear line; may be empty.
        error: the type of the exception that the runtime raised.
        signal: the name of the signal that ended the process.
        phase: phase in which the runtime refused the model, load or run; empty if the adapter does not report it.
        seconds: as the adapter measured it.
        expected, actual: short forms of the values, if they differ or are not scored.
        mismatch: the fields of compare.Mismatch, if there is one.
        clauses: the sentences that the case tests.
        force: kind of the violated rule: must, should, describes or signature; empty: the model is valid.
        reworded: the latest release of onnx that reworded one of these sentences; empty: none was reworded.
        readings: the numbers of the readings that the expected outcome depends on.
        tags: the tags of the case.
        stderr: the last output of the runtime, if its process ended.
        attempts: for a flaky case, each attempt in order: `process` (first, same, fresh), `verdict`, and the answer.
        unstable: why the answers to a case that ran several times differ: "memory", it depends on uninitialized memory;
            "values", the cause is unknown; empty: they are equal, or it ran once.
        ulps: of an inexact pass, by the place of an output: [flat index, signed number of representable values from
            the expected one] for elements that are not the expected ones, the farthest first.
        excluded: of a failure that an exclusion of the profile accepts, its reason; otherwise empty.
        override: of a pass that needs an override of the profile, the override and its reason; otherwise empty.
        exceeded: of a pass that exceeds a bound of the profile, the bound and its reason; otherwise empty.
    """

    case: str
    operator: str
    backend: str
    verdict: Verdict
    outcome: str
    form: str = "plain"
    message: str = ""
    error: str = ""
    signal: str = ""
    phase: str = ""
    seconds: float | None = None
    expected: str = ""
    actual: str = ""
    mismatch: Mapping[str, Any] = field(default_factory=dict)
    clauses: tuple[str, ...] = ()
    force: str = ""
    reworded: str = ""
    readings: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    stderr: str = ""
    attempts: tuple[Mapping[str, Any], ...] = ()
    unstable: str = ""
    ulps: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)
    excluded: str = ""
    override: str = ""
    exceeded: str = ""

    @property
    def wanted(self) -> str:
        """The expected outcome in short; empty if the result keeps no values."""
        return self.expected or ("refused" if self.outcome == "rejects" else "")

    @property
    def is_plain(self) -> bool:
        """Whether the case is delivered in the plain form."""
        return self.form == "plain"

    @property
    def as_example(self) -> tuple[bool, int, str]:
        """The sort key of examples: the minimum is shown, independently of the order of results."""
        return not self.is_plain, len(self.case), self.case

    @property
    def element_type(self) -> str:
        """The type that the case was expanded to, or the empty string."""
        return parts(self.case, self.operator)[1]


@dataclass(frozen=True)
class Unreadable:
    """A case of a folder that could not be read, so that no backend ran it.

    Attributes:
        case: its id, derived from the name of its folder.
        message: one clear line on which of its files is at fault, and why.
    """

    case: str
    message: str


def parts(case: str, operator: str) -> tuple[str, str]:
    """Return the declared name of a case and the type that it was expanded to, as its id has them.

    The ids of other suites are plain names.
    """
    stem = case.partition("@")[0]
    if not stem.startswith(f"{operator}/"):
        return stem, ""
    name, _, type_ = stem.removeprefix(f"{operator}/").partition("/")
    return name, type_


MOST_DIGITS = 10
"""A number with this many digits is not a version."""


def version_number(text: str) -> int | None:
    """Return the version of an operator as a number; None if the text is not one."""
    return int(text) if text.isdecimal() and len(text) < MOST_DIGITS else None


def split_operator(operator: str) -> tuple[str, int | None]:
    """Return operator and version of ai.onnx/Split/18; None as version if it has none."""
    name, _, version = operator.rpartition("/")
    number = version_number(version)
    return (name, number) if name and number is not None else (operator, None)


def natural(operator: str) -> tuple[str, int]:
    """Return the sort key of an operator version: its name, and its version as a number."""
    name, _, version = operator.rpartition("/")
    return name or operator, version_number(version) or 0


CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that control a terminal, break a line, reverse the reading direction, or are lone surrogates."""
MAX_MESSAGE = 2000


def clean(text: object, limit: int = MAX_MESSAGE) -> str:
    """Return a text from outside, safe for a terminal and a file: without control characters, and cut at a limit."""
    plain = str(text).strip()
    if not plain.isprintable():  # Most texts are printable; the removed characters are not.
        plain = CONTROL.sub("", plain).strip()
    return plain if len(plain) <= limit else plain[:limit] + f"... ({len(plain)} characters)"


def line(text: object, limit: int = 300) -> str:
    """Return a text from outside as one clean line."""
    return " ".join(clean(text, limit).split())


def few(names: Sequence[str], most: int = 6) -> str:
    """Return the first names as one text, and the number of further names."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
