# SPDX-License-Identifier: Apache-2.0
"""The blocks of pages that the code writes: they are as the code has them, and every command has one."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from onnx_conformance.base import schemas
from onnx_conformance.base.verdict import MEANINGS, Verdict
from onnx_conformance.cli.commands import COMMANDS
from refusals import refuses
from tools.docs import __main__ as program
from tools.docs import command_help, schema_members
from tools.docs.blocks import rewritten
from tools.docs.markdown import code, prose, table
from tools.docs.pages import DOCS, END, ROOT, blocks, pages

PAGE = DOCS / "reference" / "page.md"


def block(name: str, text: str = "") -> str:
    return f"<!-- generated: {name} -->\n{text}{END}\n"


@pytest.mark.parametrize("page", pages(), ids=lambda path: str(path.relative_to(DOCS)))
def test_the_blocks_of_a_page_are_as_the_code_has_them(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert rewritten(text, page) == text, "run: python -m tools.docs"


def test_every_command_verdict_form_reading_and_schema_has_a_block() -> None:
    found = [item for page in pages() for item in blocks(page.read_text(encoding="utf-8"))]
    expected = {("commands", ""), ("verdicts", ""), ("readings", ""), ("forms", "generated"), ("forms", "transforms")}
    expected |= {("command", name) for name in COMMANDS} | {("schema", name) for name in schemas.names()}
    assert sorted(found) == sorted(expected)


def test_a_block_that_differs_is_written_again() -> None:
    text = "# Title\n\n" + block("verdicts", "old\n") + "\nafter\n"
    written = rewritten(text, PAGE)
    assert written.startswith("# Title\n\n<!-- generated: verdicts -->\n\n| verdict |")
    assert "old" not in written
    assert written.endswith(f"\n\n{END}\n\nafter\n")
    assert rewritten(written, PAGE) == written


def test_every_verdict_has_a_meaning() -> None:
    assert set(MEANINGS) == set(Verdict)


@pytest.mark.parametrize(
    ("text", "problem", "named"),
    [
        ("<!-- generated: verdicts -->\n", "docs-block-open", "page.md"),
        (f"{END}\n", "docs-block-open", "page.md"),
        (block("verdict"), "docs-block-unknown", "'verdict'"),
        (block("command rum"), "docs-command-unknown", "'rum'"),
        (block("forms kernels"), "docs-forms-unknown", "'kernels'"),
        (block("schema absent"), "docs-schema-unknown", "'absent'"),
    ],
)
def test_a_block_that_cannot_be_written_gets_a_sentence(text: str, problem: str, named: str) -> None:
    with refuses(problem, named):
        rewritten(text, PAGE)


def test_a_command_without_a_block_gets_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [page for page in pages() if page.name != "gate.md"]
    assert len(kept) < len(pages())
    monkeypatch.setattr(command_help, "pages", lambda: kept)
    with refuses("command-without-block", "gate", "docs/reference/commands/"):
        rewritten(block("commands"), PAGE)


def test_the_table_of_a_command_has_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    @click.argument("name")
    @click.option("--kind", type=click.Choice(("a", "b")), default="a", show_default=True, help="A <kind>; Split*.")
    @click.option("--cluster", metavar="ADDRESS", help="See docs/cluster.md.")
    @click.option("--onnx", help="An option of every command.")
    def example(**_: object) -> None:
        """Do something.

        Second paragraph.
        """

    monkeypatch.setattr(command_help.main, "get_command", lambda *_: example)
    lines = command_help.command("example", PAGE).splitlines()
    assert lines == [
        "Do something.", "",
        "Second paragraph.", "",
        "Usage: `onnx-conformance example [OPTIONS] NAME`", "",
        "| option | effect |",
        "| --- | --- |",
        "| <code>--kind [a&#124;<wbr>b]</code> | A &lt;kind>; Split\\*. [default: a] |",
        "| `--cluster ADDRESS` | See [docs/cluster.md](../cluster.md). |",
    ]  # fmt: skip


def test_the_members_of_a_schema_are_rows() -> None:
    schema = json.loads(
        '{"description": "A file.", "required": ["kind"], "properties": {"kind": {"const": 1},'
        '"all": {"type": "array", "items": {"$ref": "#/$defs/item"}, "description": "some"},'
        '"in": {"type": "object", "properties": {"x": {"type": ["number", "null"]}}}},'
        '"$defs": {"item": {"enum": ["a"]}, "other": {"type": "string"}}}'
    )
    rows = (
        "| member | type | content |\n| --- | --- | --- |\n| `kind` | `1` |  |\n"
        "| `all` | array of [item](#item), optional | some |\n| `in` | object, optional |  |\n"
        "| `in.x` | number or null, optional |  |"
    )
    parts = schema_members.described(schema).split("\n\n")
    assert parts == ["A file.", rows, "## item", 'One of `"a"`.', "## other", "Type: string."]


def test_text_is_escaped_for_a_cell() -> None:
    assert prose("a <b>  *c*\n`d|e` _f_ g_h |") == "a &lt;b> \\*c\\* <code>d&#124;<wbr>e</code> \\_f\\_ g_h &#124;"
    assert code("a") == "`a`"
    assert table(("x",), [("y",)]) == "| x |\n| --- |\n| y |"


def test_the_program_writes_or_compares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(block("verdicts"), encoding="utf-8")
    monkeypatch.setattr(program, "pages", lambda: [page])
    monkeypatch.setattr(program, "ROOT", tmp_path)
    run = CliRunner().invoke
    checked = run(program.main, ["--check"])
    assert (checked.exit_code, page.read_text(encoding="utf-8")) == (1, block("verdicts"))
    assert run(program.main, []).exit_code == 0
    assert "| `pass` |" in page.read_text(encoding="utf-8")
    assert run(program.main, ["--check"]).exit_code == 0
    page.write_text(END + "\n", encoding="utf-8")
    assert run(program.main, []).exit_code == 2


def test_the_pages_are_those_of_the_checkout() -> None:
    assert DOCS == ROOT / "docs"
    assert len(pages()) > 40
    assert isinstance(pages()[0], Path)
