"""`equivalent.toml`: faults that change nothing that a case could notice, each with its reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_conformance.base.errors import HarnessError

if TYPE_CHECKING:
    from tools.mutants.faults import Fault

FILE = Path(__file__).parent / "equivalent.toml"


class EquivalentError(HarnessError):
    """The list of equivalent faults cannot be read; the text says where, and what would be right."""


@dataclass(frozen=True)
class Entry:
    """One fault, as the list has it.

    Attributes:
        file, function, line, fault: of the fault; the line is its text, without the blanks around it.
        reason: why no case can notice it.
        operator: the only one for which that holds; empty: every one whose oracles have the line.
    """

    file: str
    function: str
    line: str
    fault: str
    reason: str
    operator: str = ""

    def matches(self, fault: Fault) -> bool:
        """Tell whether it is about a fault; operators aside."""
        return (self.file, self.function, self.line, self.fault) == (
            fault.file,
            fault.function,
            fault.text,
            fault.words,
        )

    def __str__(self) -> str:
        """Return what names it, in one line."""
        only = f" ({self.operator} only)" if self.operator else ""
        return f"{self.file}: {self.function}: {self.fault}: {self.line}{only}"


def read(file: Path = FILE) -> tuple[Entry, ...]:
    """Return the entries of a list; none where there is no file.

    Raises:
        EquivalentError: it cannot be read, or an entry lacks something or has something unknown.
    """
    try:
        document = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise EquivalentError(f"{file}: cannot be read: {error}") from None
    tables = document.pop("equivalent", [])
    if document or not isinstance(tables, list):
        raise EquivalentError(f"{file}: holds [[equivalent]] and nothing else")
    return tuple(_entry(file, number, table) for number, table in enumerate(tables, 1))


def _entry(file: Path, number: int, table: object) -> Entry:
    names = [item.name for item in fields(Entry)]
    where = f"{file}: entry {number}"
    if not isinstance(table, dict) or not all(isinstance(value, str) and value.strip() for value in table.values()):
        raise EquivalentError(f"{where}: every value is a text that is not empty")
    missing = [name for name in names[:-1] if name not in table]
    unknown = sorted(set(table) - set(names))
    if missing or unknown:
        wrong = [f"lacks {name}" for name in missing] + [f"has {name!r}" for name in unknown]
        raise EquivalentError(
            f"{where}: {', '.join(wrong)}; an entry has {', '.join(names)} (operator may be left out)"
        )
    return Entry(**table)
