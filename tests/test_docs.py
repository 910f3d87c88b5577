"""The pages under docs/: every command is run as it is written, and does what the page says."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import yaml

from commands import command
from onnx_conformance.opset.changes import Kind
from paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ADAPTERS = ROOT / "backends" / "README.md"
PAGE = ROOT / "docs" / "gate-in-ten-minutes.md"
OPSET = ROOT / "docs" / "new-opset.md"


LINK = re.compile(r"\]\((?!https?:)([^)#]*)(#[^)]*)?\)")


@dataclass(frozen=True)
class Block:
    """Something fenced in a page, and the line that it begins on."""

    kind: str
    text: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(match[1], match[2], text.count("\n", 0, match.start()) + 1)


def differs(shown: str, status: int, out: str) -> str:
    """Return how an output differs from what a page shows of it; numbers may differ, and '...' matches anything."""
    *lines, last = shown.rstrip("\n").splitlines()
    if last != f"exit status {status}":
        return f"{last!r}, but exit status {status}"
    parts = [re.escape(masked(part)) for part in "\n".join(lines).split("...")]
    pattern = r"(?:.|\n)*".join(parts)
    return "" if re.fullmatch(pattern, masked(out.rstrip("\n"))) else f"{shown}\nis not what came:\n{out}"


def masked(text: str) -> str:
    """Return a text without its numbers, which change with every case that is added."""
    return re.sub(r"\d+", "#", text)


@pytest.mark.parametrize(
    ("shown", "status", "out"),
    [
        ("a\nexit status 0", 1, "a"),
        ("a\nexit status 0", 0, "b"),
        ("a\nexit status 0", 0, "a\nb"),
        ("a\n...\nc\nexit status 0", 0, "a\nb"),
    ],
)
def test_a_page_that_is_wrong_is_noticed(shown: str, status: int, out: str) -> None:
    assert differs(shown, status, out)


def test_a_page_that_is_right_is_not() -> None:
    assert not differs("...\nb 7 of 9\n...\nd\nexit status 1", 1, "a\nb 8 of 10\nc\nd\n")


def program(path: Path, command: str) -> None:
    path.write_text(f"#!/usr/bin/env bash\n{command}\n")
    path.chmod(0o755)


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """Return a folder of the programs that an installation brings."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program(folder / "onnx-conformance", f'exec "{sys.executable}" -m onnx_conformance "$@"')
    program(folder / "python", f'exec "{sys.executable}" "$@"')
    return folder


def test_the_gate_in_ten_minutes(tmp_path: Path, bin_folder: Path) -> None:
    shell_blocks = [block for block in blocks(PAGE.read_text(encoding="utf-8")) if block.kind in {"sh", "text"}]
    install, *rest = shell_blocks
    assert 'pip install "$CHECKOUT"' in install.text
    assert (install.kind, [block.kind for block in rest]) == ("sh", ["sh", "text"] * (len(rest) // 2))
    assert len(rest) >= 16, "the page has lost its commands"
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "toy_runtime.py").write_bytes((ROOT / "docs" / "toy_runtime.py").read_bytes())
    environment = {"PATH": f"{bin_folder}:/usr/bin:/bin", "PYTHONPATH": str(ROOT / "harness"), "LC_ALL": "C.UTF-8"}
    for commands, shown in zip(rest[::2], rest[1::2], strict=True):
        done = subprocess.run(
            ["bash", "-c", commands.text], cwd=folder, env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, encoding="utf-8", timeout=300, check=False,
        )  # fmt: skip
        difference = differs(shown.text, done.returncode, done.stdout)
        assert not difference, f"{PAGE.name}, line {shown.line}: {difference}"


def test_the_shortest_adapter_runs_as_its_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    section = ADAPTERS.read_text(encoding="utf-8").partition("## The shortest adapter\n")[2].partition("\n## ")[0]
    adapter, console = (block.text for block in blocks(section))
    assert sum(bool(line.strip()) for line in adapter.splitlines()) == 15
    (tmp_path / "my_adapter.py").write_text(adapter)
    monkeypatch.chdir(tmp_path)
    words = [shlex.split(line.removeprefix("$ onnx-conformance ")) for line in console.splitlines()]
    checked, run, shown = (command(*items) for items in words)
    assert checked.status == 0, checked.text
    assert "3 of " in checked.out, checked.out
    assert "moves float16 " in checked.out, checked.out
    assert run.status == 1, run.text
    assert "ai.onnx/Reshape/25/zero_copies" in run.out, run.out
    assert not re.search(r"my_adapter\.py: (?!accepted_invalid)\w+, ai\.onnx/Identity", run.out), run.out
    (tmp_path / "shown.py").write_text(shown.out)
    done = subprocess.run([sys.executable, "shown.py"], capture_output=True, text=True, timeout=60, check=False)
    assert "ValueError: cannot reshape array" in done.stderr, done


def test_every_command_of_a_new_opset_is_there() -> None:
    """They take the nightly onnx and write into the checkout, so that they are not run here; what they do has tests."""
    text = OPSET.read_text(encoding="utf-8")
    lines = [line for block in blocks(text) if block.kind == "sh" for line in block.text.splitlines()]
    commands = [
        part for line in lines for part in line.split("#")[0].split(" && ") if part.startswith("onnx-conformance ")
    ]
    assert len(commands) >= 12
    for line in commands:
        name, *words = shlex.split(line)[1:]
        options = {word.partition("=")[0] for word in words if word.startswith("--")}
        helped = command(name, "--help")
        assert helped.status == 0, line
        assert options <= set(re.findall(r"--[a-z-]+", helped.out)), line
    shown = set(re.findall(r"nox -s (\w+)", text))
    assert all(f"def {name}(session" in (ROOT / "noxfile.py").read_text() for name in shown)
    kinds = set(re.findall(r"`([a-z ]+)`", text.partition("| first |")[2].partition("\n")[0]))
    assert kinds == set(map(str, Kind))


def test_the_toy_runtime_is_as_small_as_the_page_says() -> None:
    lines = (ROOT / "docs" / "toy_runtime.py").read_text().splitlines()
    assert 30 <= sum(bool(line.strip()) for line in lines) <= 42


def test_the_workflow_to_paste_gives_the_action_what_it_takes() -> None:
    (text,) = (block.text for block in blocks(PAGE.read_text(encoding="utf-8")) if block.kind == "yaml")
    steps = yaml.safe_load(text)["jobs"]["gate"]["steps"]
    (step,) = (step for step in steps if "onnx-conformance" in step["uses"])
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(step["with"]) <= set(action["inputs"])
    assert {name for name, declared in action["inputs"].items() if declared.get("required")} <= set(step["with"])
    used = re.findall(r"steps\.gate\.outputs\.([\w-]+)", PAGE.read_text(encoding="utf-8"))
    assert used
    assert set(used) <= set(action["outputs"])


@pytest.mark.parametrize("page", [ROOT / "README.md", *(ROOT / "docs").glob("*.md")], ids=lambda path: path.name)
def test_links_of_a_page_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert LINK.search(text), page
    for path, place in LINK.findall(text):
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name} links to {path}"
        if place:
            heads = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
            assert place[1:] in anchors, f"{page.name} links to {path}{place}"
