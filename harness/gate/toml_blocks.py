"""The text of a TOML file, section by section, for files that a command rewrites and people have written in.

A section is a header, what stands below it, and the comment right above it; all sections together are the whole text.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


_ENDS = re.compile(r"""[]}]|\"{3}|'{3}""")
"""Without one of these, a value of several lines does not end in a line."""


@dataclass(frozen=True)
class Section:
    """A part of a file.

    Attributes:
        name: of its table; empty: what stands before every table.
        array: that it is one of several, [[name]].
        line: of its header, from 1.
        first: the line that its text begins on, from 1.
        text: with the comment right above it.
    """

    name: str
    array: bool
    line: int
    first: int
    text: str


def lines_of(text: str) -> list[str]:
    """Return the lines as TOML has them: other characters that Python takes for an end of line are none."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def sections(text: str) -> list[Section]:
    """Return the sections of a text that is TOML; a subtable, [name.more], belongs to the one that it is of."""
    lines = lines_of(text)
    heads = [(0, "", False)]
    for index, line in enumerate(lines):
        head = _head(line)
        # What stands in a text or a list of several lines is no header: what comes before it is no whole table then.
        if head and _parsed("".join(lines[heads[-1][0] : index])) is not None:
            heads.append((index, *head))
    begins = [0]
    for index, *_ in heads[1:]:
        first = index
        while first and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        begins.append(first)
    ends = [*begins[1:], len(lines)]
    return [
        Section(name, array, index + 1, begin + 1, "".join(lines[begin:end]))
        for (index, name, array), begin, end in zip(heads, begins, ends, strict=True)
    ]


def _head(line: str) -> tuple[str, bool] | None:
    """Return the name of a header's table, and whether it is one of several; None where a line is no such header."""
    table = _parsed(line) if line.lstrip().startswith("[") else None
    if not table:
        return None
    ((name, inner),) = table.items()
    return None if inner not in ({}, [{}]) else (name, isinstance(inner, list))


def _parsed(text: str) -> dict[str, object] | None:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def keys(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the keys of a section, each with its first line and the one behind its last, from 0; not of subtables."""
    lines = lines_of(text)
    index, headers = 0, 0
    while index < len(lines):
        begins = lines[index].lstrip()
        if begins.startswith("["):
            headers += 1
            if headers > 1:
                return
        if not begins.strip() or begins[0] in "#[":
            index += 1
            continue
        end = index + 1
        while (found := _parsed("".join(lines[index:end]))) is None and end < len(lines):
            end += 1
            while end < len(lines) and not _ENDS.search(lines[end - 1]):  # Spares reading a long list once a line.
                end += 1
        if found:
            yield next(iter(found)), index, end
        index = end


def replaced(text: str, names: Collection[str], instead: Iterable[str] = ()) -> str:
    """Return a section without some of its keys, and other lines where the first of them stood, or else at its top."""
    lines, new = lines_of(text), [f"{line}\n" for line in instead]
    gone = [(begin, end) for name, begin, end in keys(text) if name in names]
    header = next((i + 1 for i, line in enumerate(lines) if line.lstrip().startswith("[")), 0)
    place = gone[0][0] if gone else header
    if place == len(lines) and lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    removed = {index for begin, end in gone for index in range(begin, end)}
    kept = [line for index, line in enumerate(lines[:place]) if index not in removed]
    rest = [line for index, line in enumerate(lines[place:], place) if index not in removed]
    return "".join([*kept, *new, *rest])


def quoted(text: str) -> str:
    """Return a text as TOML writes it, with what is not to be seen escaped; half of a surrogate pair becomes a ?."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return re.sub(
        r"[^ -~]",
        lambda match: match[0] if match[0].isprintable() else _escaped(match[0]),
        json.dumps(whole, ensure_ascii=False),
    )


def _escaped(character: str) -> str:
    return f"\\U{ord(character):08X}"


def listed(texts: Iterable[str]) -> str:
    """Return one text as itself, and several as a list, one a line."""
    written = [quoted(text) for text in texts]
    return written[0] if len(written) == 1 else "\n".join(["[", *(f"    {text}," for text in written), "]"])
