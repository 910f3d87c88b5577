# SPDX-License-Identifier: Apache-2.0
"""What is printed: nothing from outside does more than be read, and an output that fails ends with a sentence."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commands import command
from onnx_conformance import cli
from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.cli import commands
from refusals import refuses
from runs import CONTROL, HOSTILE_TEXTS, hostile, run_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("what", HOSTILE_TEXTS)
def test_no_text_moves_the_cursor_or_begins_a_command(what: str) -> None:
    for text in (HOSTILE_TEXTS[what], f"\r{HOSTILE_TEXTS[what]}", f" \t::{HOSTILE_TEXTS[what]}"):
        plain = printing.neutral(text)
        assert not CONTROL.search(plain), repr(plain)
        assert not any(line.lstrip().startswith("::") or "##[" in line for line in plain.splitlines()), repr(plain)
        plain.encode()


COMMANDS = {
    "::error::x": ": :error::x",
    "a\n  ::set-output name=a::b": "a\n  : :set-output name=a::b",
    ":\x00:error::x": ": :error::x",
    "\r::error::x": ": :error::x",
    "\u2028::error::x": ": :error::x",
    "see ##[add-path]/x": "see ## [add-path]/x",
    "ai.onnx::Split, a::b": "ai.onnx::Split, a::b",
    "\u0627\u200f\u061cx": "\u0627x",
}


@pytest.mark.parametrize("text", COMMANDS)
def test_only_real_workflow_commands_are_escaped(text: str) -> None:
    assert printing.neutral(text) == COMMANDS[text]


@pytest.mark.usefixtures("ends")
def test_a_long_text_of_blank_lines_costs_no_more_than_its_length() -> None:
    assert printing.neutral("\n" * 1_000_000) == "\n" * 1_000_000


def test_a_command_is_seen_across_pieces(capsys: pytest.CaptureFixture[str]) -> None:
    printing.stream(["a:", ":b\n", ":", ":error", "::x\nlast"])
    assert capsys.readouterr().out == "a::b\n: :error::x\nlast"
    printing.stream(["::error::", "meant\n"], commands=True)
    assert capsys.readouterr().out == "::error::meant\n"


class Failing(io.StringIO):
    """A stream that cannot be written to."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, _text: str) -> int:
        raise self.error


def test_a_failing_output_is_reported_and_a_closed_pipe_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Failing(OSError(28, "No space left on device")))
    with refuses("output-not-writable", kind=printing.OutputError):
        printing.show("x")
    monkeypatch.setattr(sys, "stdout", Failing(BrokenPipeError()))
    with pytest.raises(printing.ReaderGoneError) as caught:
        printing.show("x")
    assert not isinstance(caught.value, HarnessError), "what takes any fault as one of a backend would go on printing"
    monkeypatch.setattr(sys, "stdout", None)
    printing.show("x")


@pytest.mark.parametrize("stream", [None, Failing(OSError(28, "full")), Failing(BrokenPipeError())])
def test_a_message_that_cannot_be_printed_ends_nothing(
    stream: io.StringIO | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    printing.warn("x")
    assert not printing.on_terminal()


@pytest.mark.slow
def test_every_command_escapes_texts_of_others(tmp_path: Path) -> None:
    """Commands read results in which each text is hostile; case, folder and file names are as well."""
    folder = tmp_path / "::error::folder\x1b[2J"
    folder.mkdir()
    for what in ("terminal", "command", "surrogate"):
        path = folder / f"{what}\r\n::error::file.ndjson"
        run_of(path, hostile(HOSTILE_TEXTS[what]), backends=("mine",), suite=f"no such\n::error::{what}\x1b[31m")
        for words in (
            ["report", path], ["explain", path], ["compare", path, path], ["gate", path, "--expectations", path],
            ["report", path, "--format", "json"], ["merge", path, "--out", path], ["dissent", path], ["trend", path],
            ["show", f"\x1b[2J\n::error::{what}"], ["list", "--suite", path], ["list", "--op", "\x1b[31m\n::error::x"],
            ["run", "--backend", "cmd:\n::error::x \x1b[2J"], ["run", "--\x1b[31m"], ["\x9b31m"],
        ):  # fmt: skip
            done = command(*words)
            for text in (done.out, done.err):
                assert not CONTROL.search(text), (words, text)
                assert not any(line.lstrip().startswith("::") for line in text.splitlines()), (words, text)


@pytest.mark.usefixtures("few_operators")
def test_a_case_is_one_line_of_the_list(tmp_path: Path) -> None:
    command("generate", "--out", tmp_path / "suite", "--case", "ai.onnx/Split/18/lengths")
    [case, *others] = (path.parent for path in (tmp_path / "suite").rglob("model.onnx"))
    for other in others:
        shutil.rmtree(other)
    case.rename(case.with_name("evil\n::error::x\x1b[2J"))
    done = command("list", "--suite", tmp_path / "suite")
    assert len(done.out.splitlines()) == 1, done.text
    assert "evil ::error::x" in done.out, done.text


# The commands


def test_every_command_can_be_loaded() -> None:
    context = commands.click.Context(commands.main)
    for name, row in commands.COMMANDS.items():
        loaded = commands.main.get_command(context, name)
        assert loaded is not None
        assert loaded.name == name
        assert loaded.help, name
        assert row.about.endswith("."), name
    modules = {row.module for row in commands.COMMANDS.values()}
    assert modules == {
        "accuracy", "backends", "bounds", "cache", "cases", "check", "check_model", "claims", "diagnose",
        "export", "findings", "gaps", "gate", "new", "open_points", "opset", "pack", "publish", "reports", "run",
        "schema", "search", "site", "trend", "verify",
    }  # fmt: skip
    assert commands.main.get_command(context, "no such") is None


@pytest.mark.slow
@pytest.mark.parametrize("words", ["--help", "-h", "--version", "", "no-such"])
def test_help_and_unknown_commands_need_no_onnx(words: str) -> None:
    source = (
        "import sys\n"
        f"sys.argv = ['onnx-conformance', *{words.split()!r}]\n"
        "from onnx_conformance.cli import entry\n"
        "try:\n"
        "    entry()\n"
        "except SystemExit as ended:\n"
        "    heavy = {'onnx', 'numpy', 'jinja2', 'rich', 'google', 'packaging'} & set(sys.modules)\n"
        "    print(heavy or 'light', ended.code, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    status = 0 if words.startswith("-") else 2
    assert done.stderr.splitlines()[-1] == f"light {status}", done.stderr


def test_on_windows_there_is_one_line(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(SystemExit) as ended:
        cli.entry()
    assert ended.value.code == 2
    assert capfd.readouterr().err == "onnx-conformance: runs on Linux and macOS; on Windows, use WSL\n"
