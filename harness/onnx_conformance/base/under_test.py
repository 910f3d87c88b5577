# SPDX-License-Identifier: Apache-2.0
"""A backend: how its name is written, NAME[OPTION]==VERSION, and whether it is a runtime or a tool."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.package import BACKENDS

if TYPE_CHECKING:
    from collections.abc import Mapping

ORACLE = "oracle"
"""The backend that is part of the harness itself."""
EVALUATORS = ("onnx.reference", ORACLE)
"""The reported names of runtimes that exist only to evaluate the specification, not to deploy models."""
_PARTS = re.compile(r"(?P<stem>[^\[\]]+?)(?:\[(?P<option>[^\[\]]+)\])?(?:==(?P<version>.*))?")


@dataclass(frozen=True)
class Parts:
    """The parts of a backend's name, such as onnx_version_converter[18]==1.20.1.

    Attributes:
        stem: the adapter; for a command, the whole text.
        option: the text in brackets; empty: none.
        version: the text after `==`; empty: none.
    """

    stem: str
    option: str = ""
    version: str = ""

    @property
    def unversioned(self) -> str:
        """The name without its version: versions of one option form a history, different options do not."""
        return f"{self.stem}[{self.option}]" if self.option else self.stem


def parts(name: str) -> Parts:
    """Return the parts of a backend's name; only this function knows the syntax."""
    if name.startswith("cmd:"):  # A command may contain brackets and signs.
        return Parts(name)
    found = _PARTS.fullmatch(name)
    return Parts(found["stem"], found["option"] or "", found["version"] or "") if found else Parts(name)


def stem(name: str) -> str:
    """Return a backend's name without its option and version: onnx_checker of onnx_checker[full]==1.22.0."""
    return parts(name).stem


def unversioned(name: str) -> str:
    """Return a backend's name without its version: onnx_checker[full] of onnx_checker[full]==1.22.0."""
    return parts(name).unversioned


MOST_NAME = 200
"""Maximum length of the name of an adapter's file; a name of a results file may be too long for the file system."""


def may_be_adapter(name: str) -> bool:
    """Return whether a name can be that of an adapter in backends/."""
    return name.isidentifier() and len(name) <= MOST_NAME


def is_foreign(name: str) -> bool:
    """Return whether the adapter of a backend is a command, a file or a module of the user, not one of this project."""
    own = stem(name)
    known = may_be_adapter(own) and any((BACKENDS / f"{own}{suffix}").is_file() for suffix in (".py", ".mjs"))
    return own != ORACLE and not known


def labels(hellos: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return by backend the name that people read: of a command the runtime or name in its hello.

    A command keeps its own name where the hello has none, or where the name is that of another backend.

    Args:
        hellos: backend -> its description in the header of the results.
    """
    found = {name: name for name in hellos}
    own = {
        name: " ".join(str(hello.get("runtime") or hello.get("name") or "").split())
        for name, hello in hellos.items()
        if name.startswith("cmd:")
    }
    for name, label in own.items():
        twice = sum(label == other for other in own.values()) > 1
        if label and not twice and label not in found and is_foreign(label):
            found[name] = label
    return found


def with_option(name: str, option: str) -> str:
    """Return a backend's name with another option; a command has none."""
    if name.startswith("cmd:"):
        return name
    of = parts(name)
    return f"{of.stem}[{option}]" + (f"=={of.version}" if of.version else "")


class Subject(enum.StrEnum):
    """The kinds of backends."""

    RUNTIME = "runtime"
    TRANSFORMER = "transformer"
    INFERENCER = "inferencer"
    CHECKER = "checker"
    PRODUCER = "producer"
    QUANTIZER = "quantizer"


def subject(hello: Mapping[str, Any]) -> Subject:
    """Return the kind of a backend from its hello; the default is a runtime."""
    return Subject(hello.get("subject", Subject.RUNTIME))


def is_evaluator(name: str, hello: Mapping[str, Any]) -> bool:
    """Return whether a backend is an evaluator of the specification: reports show it for comparison, without a rank."""
    return hello.get("runtime") in EVALUATORS or stem(name) == ORACLE
