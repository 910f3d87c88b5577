# SPDX-License-Identifier: Apache-2.0
"""The options that select cases: one table for every command, the pytest plugin and the Python interface.

The module imports nothing of the harness, because every pytest run with the plugin imports it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Choice(TypedDict, total=False):
    """The values of the options by key, as a user writes them; an option that is absent selects everything."""

    op: str | Sequence[str]
    opsets: str
    version: str
    model: str | Path
    claims: str | Path
    case: str | Sequence[str]
    tag: str | Sequence[str]
    form: str | Sequence[str]
    type: str
    no_containers: bool
    core: bool
    at_most: int | str


@dataclass(frozen=True)
class SelectionOption:
    """An option that selects cases.

    Attributes:
        key: the key in `Choice`; the option is --KEY.
        help: a sentence about it.
        metavar: the value in the help; empty for a flag.
        repeatable: whether it may have several values.
        of_operators: whether the operator version alone decides, so that commands without cases have it, too.
    """

    key: str
    help: str
    metavar: str = ""
    repeatable: bool = False
    of_operators: bool = False

    @property
    def name(self) -> str:
        """The option without its dashes."""
        return self.key.replace("_", "-")


OPTIONS = (
    SelectionOption(
        "op", "Only these operators: Split*, Split/18, 'Conv/>=11,<22'. Repeatable.", "GLOB",
        repeatable=True, of_operators=True,
    ),
    SelectionOption(
        "opsets", "Only operator versions that these opsets introduced: 27..28, 28, ..13, 25...", "A..B",
        of_operators=True,
    ),
    SelectionOption(
        "version", "Only the newest version of each operator, of those in --opsets.", "newest", of_operators=True
    ),
    SelectionOption("model", "Only operator versions, types and attributes that this ONNX model uses.", "FILE"),
    SelectionOption("claims", "Only cases that the claims of this file cover.", "FILE"),
    SelectionOption("case", "Only cases with these ids. Repeatable.", "GLOB", repeatable=True),
    SelectionOption(
        "tag", "Only cases with these tags; '!size': only cases without this one. Repeatable.", "GLOB", repeatable=True
    ),
    SelectionOption(
        "form", "Only cases in these forms: plain, symbolic, initializer*, expanded, ... Repeatable.", "GLOB",
        repeatable=True,
    ),
    SelectionOption("type", "Only cases whose tensors have these element types: float,float16.", "TYPES"),
    SelectionOption("no_containers", "Only cases without sequences, optionals and maps."),
    SelectionOption("core", "Only the core of the generated suite: a small subset with the same coverage."),
    SelectionOption("at_most", "At most N of the selected cases, the most important first.", "N"),
)  # fmt: skip
