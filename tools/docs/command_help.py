# SPDX-License-Identifier: Apache-2.0
"""The help of the commands as Markdown, for the reference. click's own data are the only source."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

import click

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.printing import PROGRAM
from onnx_conformance.cli.commands import COMMANDS, GROUPS, main
from tools.docs.markdown import code, link, prose, table
from tools.docs.pages import DOCS, END, blocks, pages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SELECTING = "how-to/select-cases.md"
"""The page with a table of all options that select cases."""
_PATH = re.compile(r"docs/([\w/-]+\.md)")
OF_EVERY_COMMAND = frozenset({"--help", "--onnx"})
"""Options that no table lists, because every command has them."""


def overview(_argument: str, page: Path) -> str:
    """Return a table for each group of commands, with a link to the place that describes each."""
    places = {
        argument: path
        for path in pages()
        for name, argument in blocks(path.read_text(encoding="utf-8"))
        if name == "command"
    }
    parts = []
    for heading, names in GROUPS.items():
        rows = []
        for name in names:
            if name not in places:
                raise HarnessError(
                    "command-without-block",
                    f"no page under docs/ describes the command {name}; add the heading '## {name}' and the lines "
                    f"'<!-- generated: command {name} -->' and '{END}' to one in docs/reference/commands/",
                )
            rows.append((f"[`{name}`]({link(page, places[name])}#{name})", prose(COMMANDS[name].about)))
        parts.append(f"**{heading}**\n\n{table(('command', 'purpose'), rows)}")
    return "\n\n".join(parts)


def command(name: str, page: Path) -> str:
    """Return the description, the usage and the options of a command and of its subcommands.

    Raises:
        HarnessError: there is no such command.
    """
    context = click.Context(main, info_name=PROGRAM)
    found = main.get_command(context, name)
    if found is None:
        raise HarnessError("docs-command-unknown", f"{page}: there is no command {name!r}; see {PROGRAM} --help")
    return "\n\n".join(_described(click.Context(found, parent=context, info_name=name), page))


def _described(context: click.Context, page: Path) -> Iterator[str]:
    found = context.command
    yield from (prose(text) for text in inspect.cleandoc(found.help or "").split("\n\n"))
    usage = " ".join([context.command_path, *found.collect_usage_pieces(context)])
    yield f"Usage: `{usage}`"
    rows = list(_options(context, page))
    if rows:
        yield table(("option", "effect"), rows)
    if isinstance(found, click.Group):
        for name in found.list_commands(context):
            inner = found.get_command(context, name)
            if inner is not None:
                yield f"**`{context.command_path} {name}`**"
                yield from _described(click.Context(inner, parent=context, info_name=name), page)


def _options(context: click.Context, page: Path) -> Iterator[tuple[str, str]]:
    """Yield a row for each option; the options that select cases share one row."""
    selecting = []
    for item in context.command.params:
        record = item.get_help_record(context)
        if not isinstance(item, click.Option) or record is None or OF_EVERY_COMMAND & set(item.opts):
            continue
        if str(item.name).startswith("choice_"):
            selecting.append(code(record[0]))
        else:
            yield code(record[0]), _linked(prose(record[1]), page)
    if selecting:
        address = link(page, DOCS / SELECTING)
        yield f"[select cases]({address}#select-cases)", ", ".join(selecting)


def _linked(text: str, page: Path) -> str:
    """Return a text in which the path of a page is a link."""
    return _PATH.sub(lambda match: f"[{match[0]}]({link(page, DOCS / match[1])})", text)
