"""Verdicts, and the result of one case on one backend."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Verdict(enum.StrEnum):
    """What became of one case on one backend."""

    PASS = "pass"  # noqa: S105 - not a password
    WRONG_VALUE = "wrong_value"
    WRONG_SHAPE = "wrong_shape"
    WRONG_TYPE = "wrong_type"
    WRONG_COUNT = "wrong_count"
    REFUSED = "refused"
    ACCEPTED_INVALID = "accepted_invalid"
    CRASH = "crash"
    TIMEOUT = "timeout"
    FLAKY = "flaky"
    UNSUPPORTED = "unsupported"
    UNSPECIFIED = "unspecified"
    ADAPTER_ERROR = "adapter_error"

    @property
    def scored(self) -> bool:
        """Whether it says something of the runtime's conformance."""
        return self not in UNSCORED

    @property
    def failed(self) -> bool:
        """Whether it is a scored verdict other than pass."""
        return self.scored and self is not Verdict.PASS


UNSCORED = frozenset({Verdict.UNSUPPORTED, Verdict.UNSPECIFIED, Verdict.ADAPTER_ERROR})
"""What says nothing of a runtime's conformance."""
WRONG = frozenset({Verdict.WRONG_VALUE, Verdict.WRONG_SHAPE, Verdict.WRONG_TYPE, Verdict.WRONG_COUNT})
"""An answer, but not the expected one."""


@dataclass(frozen=True)
class Result:
    """What became of one case on one backend.

    Attributes:
        case, operator, form: as in Case.
        backend: as the user named it.
        verdict: what became of it.
        outcome: what the text expects.
        message: one clear line, where there is something to say.
        error: the type of what the runtime raised.
        signal: the name of the signal that ended the process.
        seconds: as the adapter measured it.
        expected, actual: short forms of the values, where they differ or are not scored.
        mismatch: the fields of compare.Mismatch, where there is one.
        clauses: the sentences that the case bears on.
        tags: what the case is about.
        stderr: the last that the runtime printed, where the process did not survive.
        attempts: of a flaky case, each one in order: `process` (first, same, fresh), `verdict`, and what was seen.
        ulps: of an inexact pass, by the place of an output: [flat index, signed number of representable values from
            the expected one] for elements that are not the expected ones, the farthest first.
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
    seconds: float | None = None
    expected: str = ""
    actual: str = ""
    mismatch: Mapping[str, Any] = field(default_factory=dict)
    clauses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    stderr: str = ""
    attempts: tuple[Mapping[str, Any], ...] = ()
    ulps: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)

    @property
    def wanted(self) -> str:
        """What the text expects, in short; empty where the result keeps no values."""
        return self.expected or ("refused" if self.outcome == "rejects" else "")

    @property
    def element_type(self) -> str:
        """The type that the case was expanded to, or the empty string."""
        return parts(self.case, self.operator)[1]


@dataclass(frozen=True)
class Unreadable:
    """A case of a folder that no backend could be asked.

    Attributes:
        case: its id, as far as the name of its folder tells.
        message: one clear line on which of its files is at fault, and why.
    """

    case: str
    message: str


def parts(case: str, operator: str) -> tuple[str, str]:
    """Return the declared name of a case and the type that it was expanded to, as its id has them.

    The ids of other suites are names and nothing more.
    """
    stem = case.partition("@")[0]
    if not stem.startswith(f"{operator}/"):
        return stem, ""
    name, _, type_ = stem.removeprefix(f"{operator}/").partition("/")
    return name, type_


MOST_DIGITS = 10
"""Of a version; what has as many is none."""


def version_number(text: str) -> int | None:
    """Return the version of an operator as a number; None where it is none."""
    return int(text) if text.isdecimal() and len(text) < MOST_DIGITS else None


def split_operator(operator: str) -> tuple[str, int | None]:
    """Return operator and version of ai.onnx/Split/18; no version where there is none."""
    name, _, version = operator.rpartition("/")
    number = version_number(version)
    return (name, number) if name and number is not None else (operator, None)


def natural(operator: str) -> tuple[str, int]:
    """Return what sorts operator versions: by name, and versions as numbers."""
    name, _, version = operator.rpartition("/")
    return name or operator, version_number(version) or 0


CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What moves a cursor, colours a terminal, ends a line where none ends, runs backwards, or is no text at all."""
MAX_MESSAGE = 2000


def clean(text: object, limit: int = MAX_MESSAGE) -> str:
    """Return what a runtime said, fit for a terminal and a file: no control characters, and not endless."""
    plain = str(text).strip()
    if not plain.isprintable():  # Most texts are; none of what goes is.
        plain = CONTROL.sub("", plain).strip()
    return plain if len(plain) <= limit else plain[:limit] + f"... ({len(plain)} characters)"


def line(text: object, limit: int = 300) -> str:
    """Return what a runtime, a model or a file said as one clean line."""
    return " ".join(clean(text, limit).split())
