# SPDX-License-Identifier: Apache-2.0
"""The pages of the documentation, and the blocks in them that the code writes.

A block is everything between these two lines. The words after the colon name a renderer and its argument:

    <!-- generated: command run -->
    <!-- end of generated -->
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onnx_conformance.base.package import BACKENDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROOT = BACKENDS.resolve().parent
DOCS = ROOT / "docs"
END = "<!-- end of generated -->"
BLOCK = re.compile(
    rf"^<!-- generated: (?P<name>[\w-]+)(?: (?P<argument>\S+))? -->\n(?P<text>.*?)^{END}$", re.MULTILINE | re.DOTALL
)
"""A block: the name of its renderer, the argument, and the present text."""


def pages() -> list[Path]:
    """Return the pages of the documentation, in order."""
    return sorted(DOCS.rglob("*.md"))


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the argument of each block of a page."""
    for match in BLOCK.finditer(text):
        yield match["name"], match["argument"] or ""
