# SPDX-License-Identifier: Apache-2.0
"""The text of a TOML file by section, for files that both a command and people edit.

A section is a header, the lines below it, and the comment directly above it. All sections together are the whole text.
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
"""A multi-line value ends on a line with one of these."""


@dataclass(frozen=True)
class Section:
    """A part of a file.

    Attributes:
        name: name of its table; empty: the keys before the first table.
        array: whether it is an element of an array of tables, [[name]].
        line: line of its header, from 1.
        first: first line of its text, from 1.
        text: its text, with the comment directly above it.
    """

    name: str
    array: bool
    line: int
    first: int
    text: str


def lines_of(text: str) -> list[str]:
    """Return the lines in the sense of TOML: only a newline ends one, unlike in `str.splitlines`."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def sections(text: str) -> list[Section]:
    """Return the sections of a TOML text; a subtable, [name.more], belongs to the section of its table."""
    lines = lines_of(text)
    heads = [(0, "", False)]
    for index, line in enumerate(lines):
        head = _head(line)
        # Inside a multi-line string or array it is not a header: the text before it is not valid TOML then.
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
    """Return the name of a header's table, and whether it is an array of tables; None if the line is not a header."""
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
    """Yield the keys of a section without subtables, each with its first line and the line after its last, from 0."""
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
        while (table := _parsed("".join(lines[index:end]))) is None and end < len(lines):
            end += 1
            while end < len(lines) and not _ENDS.search(
                lines[end - 1]
            ):  # Avoids parsing a long list for each of its lines.
                end += 1
        if table:
            yield next(iter(table)), index, end
        index = end


def replaced(text: str, names: Collection[str], instead: Iterable[str] = ()) -> str:
    """Return a section with some of its keys replaced by other lines, at the first of these keys or at its top."""
    lines, new = lines_of(text), [f"{line}\n" for line in instead]
    spans = [(begin, end) for name, begin, end in keys(text) if name in names]
    header = next((i + 1 for i, line in enumerate(lines) if line.lstrip().startswith("[")), 0)
    place = spans[0][0] if spans else header
    if place == len(lines) and lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    removed = {index for begin, end in spans for index in range(begin, end)}
    before = [line for index, line in enumerate(lines[:place]) if index not in removed]
    after = [line for index, line in enumerate(lines[place:], place) if index not in removed]
    return "".join([*before, *new, *after])


def quoted(text: str) -> str:
    """Return a text as a TOML string with unprintable characters escaped; half of a surrogate pair becomes a "?"."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return re.sub(
        r"[^ -~]",
        lambda match: match[0] if match[0].isprintable() else _escaped(match[0]),
        json.dumps(whole, ensure_ascii=False),
    )


def _escaped(character: str) -> str:
    return f"\\U{ord(character):08X}"


def listed(texts: Iterable[str]) -> str:
    """Return one text as a string, and several as an array, one on each line."""
    several = list(texts)
    return quoted(several[0]) if len(several) == 1 else array(several)


def array(texts: Iterable[str]) -> str:
    """Return texts as an array, one on each line."""
    written = [f"    {quoted(text)}," for text in texts]
    return "\n".join(["[", *written, "]"]) if written else "[]"
