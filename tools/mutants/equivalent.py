# SPDX-License-Identifier: Apache-2.0
"""`equivalent.toml`: faults that do not change any answer, each with its reason."""

from __future__ import annotations

import fnmatch
import tomllib
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_conformance.base.errors import HarnessError

if TYPE_CHECKING:
    from tools.mutants.faults import Fault

FILE = Path(__file__).parent / "equivalent.toml"


class EquivalentError(HarnessError):
    """The list of equivalent faults cannot be read. The message names the place and the right format."""


@dataclass(frozen=True)
class Entry:
    """One fault in the list, or all faults of a line or function that no case detects.

    Attributes:
        file, function: the place.
        reason: the reason why no case can detect it.
        line: the text of the line without surrounding white space; empty for every line of the function.
        fault: the change; empty for every fault of the line, because the line only chooses how something is computed.
        operator: the only operators for which it is equivalent, a name such as ai.onnx/Split or a glob; empty for every
            operator whose oracles have the line.
    """

    file: str
    function: str
    reason: str
    line: str = ""
    fault: str = ""
    operator: str = ""

    @property
    def of_one(self) -> bool:
        """Whether the entry describes a single fault. Cases may detect some of several faults: those that crash."""
        return bool(self.fault)

    def matches(self, fault: Fault) -> bool:
        """Return whether the entry describes a fault, without a comparison of the operator."""
        pairs = ((self.file, fault.file), (self.function, fault.function), (self.line, fault.text))
        return all(own in {"", other} for own, other in (*pairs, (self.fault, fault.words)))

    def is_of(self, operator: str) -> bool:
        """Return whether the entry applies to an operator such as ai.onnx/Split."""
        return not self.operator or fnmatch.fnmatchcase(operator, self.operator)

    def __str__(self) -> str:
        """Return its identification in one line."""
        only = f" ({self.operator} only)" if self.operator else ""
        change = f"{self.fault or 'every fault'}: {self.line or 'every line'}"
        return f"{self.file}: {self.function}: {change}{only}"


def read(file: Path = FILE) -> tuple[Entry, ...]:
    """Return the entries of a list; empty if there is no file.

    Raises:
        EquivalentError: the file cannot be read, or an entry lacks a member or has an unknown one.
    """
    try:
        document = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise EquivalentError("equivalents-not-readable", f"{file}: cannot be read: {error}") from None
    tables = document.pop("equivalent", [])
    if document or not isinstance(tables, list):
        raise EquivalentError("equivalents-invalid", f"{file}: expected only [[equivalent]] tables")
    return tuple(_entry(file, number, table) for number, table in enumerate(tables, 1))


def _entry(file: Path, number: int, table: object) -> Entry:
    names = [item.name for item in fields(Entry)]
    where = f"{file}: entry {number}"
    if not isinstance(table, dict) or not all(isinstance(value, str) and value.strip() for value in table.values()):
        raise EquivalentError("equivalents-invalid", f"{where}: every value must be a text that is not empty")
    missing = [item.name for item in fields(Entry) if item.default is MISSING and item.name not in table]
    missing += ["line"] if "fault" in table and "line" not in table else []
    unknown = sorted(set(table) - set(names))
    if missing or unknown:
        wrong = [f"lacks {name}" for name in missing] + [f"has {name!r}" for name in unknown]
        raise EquivalentError(
            "equivalents-invalid",
            f"{where}: {', '.join(wrong)}; expected {', '.join(names)} (line, fault and operator "
            "are optional, but a fault needs a line)",
        )
    return Entry(**table)
