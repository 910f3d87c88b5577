# SPDX-License-Identifier: Apache-2.0
"""Text in Markdown: text from a runtime, a model or a folder never becomes markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import line

if TYPE_CHECKING:
    from collections.abc import Iterable

_ESCAPES = str.maketrans({mark: f"&#{ord(mark)};" for mark in "\\`*[]<>&|@~!#$"})


def plain(text: object, limit: int = 300) -> str:
    """Return a text as one line that Markdown shows literally: no link, mention, tag or end of a cell."""
    return line(text, limit).translate(_ESCAPES)


def fenced(blocks: Iterable[str]) -> str:
    """Return lines of text as a fenced block that no text inside can end."""
    return "```text\n" + "\n".join(blocks).replace("```", "'''") + "\n```\n"
