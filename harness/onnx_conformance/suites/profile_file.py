# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of a profile: a TOML file in which the author of a runtime makes statements about it.

`suites.claims` reads [[claims]], and `judging.profile` the other tables.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_MOST_NESTED = 30
"""Maximum number of parts of a dotted key; the keys of a profile have two."""
_DEEP_KEY = re.compile(rf"[\w\"'-]+(?:\s*\.\s*[\w\"'-]+){{{_MOST_NESTED}}}")


EXCLUSIONS = "exclusions"
"""The name of the tables of exclusions, in a profile and in the header of results."""


class ProfileError(HarnessError):
    """A profile cannot be used; the text names the file, the table and the correction."""


class TableError(ValueError):
    """A table is malformed; the text names the file, the table and the correction, and the caller adds an id."""


def text_of(path: Path) -> str:
    """Return the text of a file, without a byte order mark.

    Raises:
        ProfileError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8"
        raise ProfileError("profile-not-readable", f"cannot read {line(path)}: {why}") from error


def parsed(text: str, name: str) -> dict[str, Any]:
    """Return the content of a TOML text; `name` is for messages.

    Raises:
        ProfileError: it is not TOML.
    """
    if _DEEP_KEY.search(text):  # tomllib takes minutes for a key of 50,000 parts.
        raise ProfileError("profile-not-toml", f"{line(name)}: a key has more than {_MOST_NESTED} parts; use tables")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProfileError(
            "profile-not-toml", f"{line(name)} is not a TOML file: {line(error) or 'too deep'}"
        ) from None


def tables(value: object, table: str, name: str) -> list[tuple[str, object]]:
    """Return each element of an array of tables with its place in words.

    Args:
        value: the array, as the parsed file has it.
        table: its name.
        name: of the file.

    Raises:
        TableError: it is not an array.
    """
    if not isinstance(value, list):
        raise TableError(f"{line(name)}: {table} is not a list of tables; write each as [[{table}]]")
    return [(f"{line(name)}, [[{table}]] number {number}", item) for number, item in enumerate(value, 1)]


def fields(
    value: object, where: str, keys: Mapping[str, Callable[[Any], Any]], needs: Mapping[str, str]
) -> dict[str, Any]:
    """Return the converted values of one table.

    Args:
        value: the table.
        where: its place in words.
        keys: each allowed key with the function that converts its value; its ValueError has the correction.
        needs: each required key with an example.

    Raises:
        TableError: a key is missing or unknown, or a value is wrong.
    """
    table = value if isinstance(value, dict) else {}
    for key, example in needs.items():
        if not table.get(key):
            raise TableError(f"{where} has no {key}; write {key} = {example}")
    found = {}
    for key, item in table.items():
        if key not in keys:
            near = difflib.get_close_matches(key, keys, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(keys)}"
            raise TableError(f"{where}: {line(key, 80)!r} is not a valid key; {hint}")
        try:
            found[key] = keys[key](item)
        except ValueError as error:
            raise TableError(f"{where}: {key} is {line(repr(item), 80)}; {error}") from None
    return found


def text(value: object) -> str:
    """Return a text that is not blank.

    Raises:
        ValueError: it is empty, or no text.
    """
    if not isinstance(value, str) or not value.strip():
        raise ValueError("expected a text")
    return value


def texts(value: object) -> tuple[str, ...]:
    """Return a list of texts that is not empty.

    Raises:
        ValueError: it is something else.
    """
    if not isinstance(value, list) or not value or not all(isinstance(item, str) and item for item in value):
        raise ValueError('expected a list of texts, such as ["plain"]')
    return tuple(value)
