# SPDX-License-Identifier: Apache-2.0
"""Text as Markdown: cells of tables, and links between pages."""

from __future__ import annotations

import html
import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

BAR = "&#124;"
_CODE = re.compile(r"(`[^`]*`)")
_SPECIAL = re.compile(r"([*\\]|(?<!\w)_|_(?!\w))")


def prose(text: str) -> str:
    """Return a text in one line, with every character that Markdown would interpret escaped; `code` stays code."""
    parts = _CODE.split(" ".join(text.split()))
    return "".join(code(part[1:-1]) if _CODE.fullmatch(part) else _escaped(part) for part in parts)


def code(text: str) -> str:
    """Return code. A vertical bar would end the cell of a table, and not all renderers accept a backslash before it."""
    return f"<code>{html.escape(text, quote=False).replace('|', BAR + '<wbr>')}</code>" if "|" in text else f"`{text}`"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text).replace("<", "&lt;").replace("|", BAR)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def link(page: Path, target: Path) -> str:
    """Return the relative address of another page."""
    return os.path.relpath(target, page.parent)
