# SPDX-License-Identifier: Apache-2.0
"""Writes the blocks of pages, so that no option, verdict or member is typed twice.

`python -m tools.docs` writes all blocks again, and a test compares them with the code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onnx_conformance.base.errors import HarnessError
from tools.docs import command_help, schema_members, tables
from tools.docs.pages import BLOCK, END

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Renderer = Callable[[str, Path], str]

_LINE = re.compile(r"^<!-- (?:generated: |end of generated)", re.MULTILINE)
RENDERERS: Mapping[str, Renderer] = {
    "command": command_help.command,
    "commands": command_help.overview,
    "forms": tables.forms,
    "readings": tables.readings,
    "schema": schema_members.members,
    "verdicts": tables.verdicts,
}
"""By name, a function of the argument of a block and of the page, which returns Markdown."""


def rewritten(text: str, page: Path) -> str:
    """Return the text of a page with the present content of its blocks.

    Raises:
        HarnessError: a block has no end, or no renderer has its name or accepts its argument.
    """
    if len(_LINE.findall(text)) != 2 * sum(1 for _ in BLOCK.finditer(text)):
        raise HarnessError("docs-block-open", f"{page}: a block begins or ends without the other; the end is {END}")

    def rendered(match: re.Match[str]) -> str:
        render = RENDERERS.get(match["name"])
        if render is None:
            known = ", ".join(RENDERERS)
            raise HarnessError("docs-block-unknown", f"{page}: no block is called {match['name']!r}; there are {known}")
        head = match[0].partition("\n")[0]
        return f"{head}\n\n{render(match['argument'] or '', page).strip()}\n\n{END}"

    return BLOCK.sub(rendered, text)
