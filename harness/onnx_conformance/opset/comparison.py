# SPDX-License-Identifier: Apache-2.0
"""Compares two opsets of the installed onnx, or two onnx packages: every new or reworded operator version."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import onnx
from packaging.requirements import Requirement
from packaging.version import Version

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.environments import onnx_environment
from onnx_conformance.opset import changes, description, effects
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onnx_conformance.opset.changes import Change
    from onnx_conformance.opset.description import Description
    from onnx_conformance.opset.effects import Effects

INSTALLED = "installed"
_NUMBER = re.compile(r"\d{1,4}")


class RangeError(HarnessError):
    """A text is not a range from an older to a newer opset or package; the message contains the correction."""


@dataclass(frozen=True)
class Opsets:
    """Two opsets of one domain."""

    before: int
    after: int


@dataclass(frozen=True)
class Packages:
    """Requirements of two onnx packages; INSTALLED is the installed one."""

    before: str
    after: str


@dataclass(frozen=True)
class Step:
    """A new or reworded operator version, and the effects on the cases."""

    change: Change
    effects: Effects


@dataclass(frozen=True)
class Comparison:
    """All steps between two opsets or packages.

    Attributes:
        before, after: their names.
        steps: by operator and version.
        gone: operator versions that went.
    """

    before: str
    after: str
    steps: tuple[Step, ...]
    gone: tuple[str, ...] = ()

    @property
    def incomplete(self) -> list[Step]:
        """The steps with a schema point or binding sentence without a case, or with an outdated clause."""
        return [step for step in self.steps if not step.effects.complete]


def parse(text: str, domain: str) -> Opsets | Packages:
    """Return the range of a text: 27..28, 28 (from the one before), 1.22.0..onnx-weekly; empty: the newest opset.

    Either side of `..` may be empty: the opset before the other one and the newest one, or the installed onnx.

    Raises:
        RangeError: the range is reversed or empty, or there is no such opset.
        OnnxError: a side is no version of onnx.
    """
    newest = schema.newest_opset(domain)
    old, dots, new = text.partition("..")
    if not dots:
        old, new = ("", text) if not text or _NUMBER.fullmatch(text) else (text, "")
    numbers = [bool(_NUMBER.fullmatch(side)) for side in (old, new) if side]
    if all(numbers):
        after = int(new) if new else newest
        return _checked(Opsets(int(old) if old else after - 1, after), domain, text)
    if any(numbers):
        raise RangeError(
            "opset-and-package",
            f"{text!r} compares an opset with a package; write two of a kind: 27..28, 1.22.0..1.23.2",
        )
    sides = [onnx_environment.requirement(side) if side else INSTALLED for side in (old, new)]
    older, newer = (_version(side) for side in sides)
    if older and newer and older >= newer:
        raise RangeError(
            "range-reversed", f"{text!r} is {'empty' if older == newer else 'reversed'}; the older one is first"
        )
    return Packages(*sides)


def _checked(opsets: Opsets, domain: str, text: str) -> Opsets:
    newest = schema.newest_opset(domain)
    for opset in (opsets.before, opsets.after):
        if not 0 <= opset <= newest:
            raise RangeError(
                "unknown-opset",
                f"{text!r}: onnx {onnx.__version__} has no opset {opset} of {domain}; its newest is {newest}. "
                "--onnx onnx-weekly may have more",
            )
    if opsets.before >= opsets.after:
        what = "empty" if opsets.before == opsets.after else "reversed"
        raise RangeError("range-not-upward", f"{text!r} is {what}; the older opset is first: {newest - 1}..{newest}")
    return opsets


def _version(side: str) -> Version | None:
    """Return the version of a requirement; None where it names none."""
    if side == INSTALLED:
        return Version(onnx.__version__)
    pins = list(Requirement(side).specifier)
    return Version(pins[0].version) if pins else None


def of_opsets(opsets: Opsets, domain: str, progress: Callable[[str], None]) -> Comparison:
    """Return the steps between two opsets of the installed onnx.

    Args:
        opsets: a range.
        domain: of these opsets.
        progress: takes the name of each operator version before it is looked at.
    """
    official = effects.official_cases()
    steps = []
    for path in schema.every():
        if path.split("/")[0] != domain:
            continue
        every = [description.describe(version) for version in schema.versions(*path.split("/"))]
        for place, after in enumerate(every):
            if opsets.before < after.since <= opsets.after:
                progress(str(after))
                steps.append(_step(changes.compare(every[place - 1] if place else None, after), official))
    name = "opset" if domain == "ai.onnx" else f"opset {domain}"
    return Comparison(
        f"{name} {opsets.before}", f"{name} {opsets.after} of onnx {onnx.__version__}", tuple(steps)
    )  # fmt: skip


def of_packages(before: str, progress: Callable[[str], None]) -> Comparison:
    """Return the steps from another onnx package to the installed one.

    Args:
        before: the output of `description.printed` with the other package.
        progress: as in `of_opsets`.
    """
    number, old = description.parse(before)
    new, official = description.every(), effects.official_cases()
    steps = []
    for change in _between(old, new):
        progress(str(change.after))
        steps.append(_step(change, official))
    gone = tuple(name for name in old if name not in new)
    return Comparison(f"onnx {number}", f"onnx {onnx.__version__}", tuple(steps), gone)


def _between(old: Mapping[str, Description], new: Mapping[str, Description]) -> Iterator[Change]:
    """Yield new operator versions, and those that were reworded in place."""
    former: dict[str, Description] = {}
    for name, after in new.items():
        if name not in old:
            yield changes.compare(former.get(after.operator), after)
        elif changes.differs(old[name], after) or old[name].body != after.body:
            yield changes.compare(old[name], after)
        former[after.operator] = after


def _step(change: Change, official: Mapping[str, Sequence[str]]) -> Step:
    return Step(change, effects.of(change, official))
