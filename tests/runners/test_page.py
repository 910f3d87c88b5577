# SPDX-License-Identifier: Apache-2.0
"""docs/runners.md: its programs compile, its commands run, and its tables are complete."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from commands import command
from compiled import RUST, STRICT, C, rust_program, rust_tool
from onnx_conformance.results.stream import Run
from paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.usefixtures("ends"), pytest.mark.xdist_group("runners"), pytest.mark.slow]

PAGE = (ROOT / "docs" / "runners.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    """Return the blocks of the page in a language."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def block(kind: str, word: str) -> str:
    """Return the one block that contains a word."""
    (found,) = (text for text in blocks(kind) if word in text)
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, in which commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(text: str) -> str:
    """Return the output of commands, each of which must succeed; onnx-conformance runs in this process."""
    output = []
    for line in text.splitlines():
        if line.startswith("onnx-conformance "):
            done = command(*shlex.split(line)[1:])
            status, out, err = done.status, done.out, done.err
        else:
            environment = {"PATH": "/usr/bin:/bin", "CHECKOUT": str(ROOT)}
            ran = subprocess.run(
                ["bash", "-c", line], env=environment, capture_output=True, text=True, timeout=60, check=False
            )
            status, out, err = ran.returncode, ran.stdout, ran.stderr
        assert status == 0, f"{line}: {out}{err}"
        output.append(out)
    return "".join(output)


def need(*programs: str) -> None:
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        pytest.skip(f"there is no {', '.join(missing)}")


def test_the_runner_in_c(folder: Path) -> None:
    need("cc")
    (folder / "my_runner.c").write_text(block("c", "int main"))
    text = block("sh", "my_runner.c")
    assert text.count("cc -std=c99 -O2") == 1
    strict = text.replace("cc -std=c99 -O2", f"cc {' '.join(STRICT)}").replace("--core", "--core --results r.ndjson")
    shell(strict)
    verdicts = [str(item.verdict) for item in Run(folder / "r.ndjson").results()]
    assert verdicts.count("pass") >= 50, verdicts
    assert set(verdicts) <= {"pass", "lenient"}, verdicts


def test_the_runner_in_rust(folder: Path) -> None:
    rustc = rust_tool("rustc")
    library = rust_program("small_runtime").parent / "libonnx_conformance_runner.rlib"
    (folder / "mine.rs").write_text(block("rust", "fn main"))
    words = ("--edition", "2021", "-D", "warnings", "--extern", f"onnx_conformance_runner={library}")
    subprocess.run([rustc, *words, "mine.rs"], cwd=folder, check=True, timeout=60)
    results = folder / "r.ndjson"
    run = ("--op", "Identity/25", "--core", "--form", "plain", "--results", results)
    assert command("run", "--backend", f"cmd:{folder / 'mine'}", *run).status == 0
    verdicts = [str(item.verdict) for item in Run(results).results()]
    assert verdicts.count("pass") >= 50, verdicts
    assert set(verdicts) <= {"pass", "lenient"}, verdicts


def test_the_example_runtime_in_rust(folder: Path) -> None:
    built = rust_program("small_runtime").parent
    cargo, run = block("sh", "cargo build").splitlines()
    assert cargo == 'cargo build --release --manifest-path "$CHECKOUT/runners/rust/Cargo.toml" --target-dir target'
    assert (RUST / "Cargo.toml").is_file()
    (folder / "target").mkdir()
    (folder / "target" / "release").symlink_to(built)
    out = shell(run.replace("--op Identity", "--op Identity/25").replace("--op Add", "--op Add/14 --core"))
    assert "No failures in 3 operators" in out, out


def test_the_pack_reader_and_its_output(folder: Path) -> None:
    need("cc")
    text = block("sh", "pack_reader.c")
    selected = text.replace("--core --tag '!size'", "--op Split/18 --tag basic --form plain")
    out = shell(selected)
    assert "ai.onnx/Split/18/lengths_equal\tvalues\n" in out
    assert out.endswith("\n" + block("text", "model.onnx")), out
    shown = {line.partition("\t")[0] for line in block("text", "model.onnx").splitlines()}
    assert {path.name for path in (folder / "case").iterdir()} == shown


def test_the_table_has_every_option_of_the_runner_of_onnxruntime() -> None:
    usage = (
        (C / "onnxruntime_runner.c").read_text(encoding="utf-8").partition("#define USAGE")[2].partition("#define")[0]
    )
    table = block_of_options()
    assert set(re.findall(r"--[a-z-]+", usage)) == set(re.findall(r"--[a-z-]+(?= )", table))


def block_of_options() -> str:
    lines = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `--")]
    assert len(lines) >= 6
    return "".join(lines)


def test_the_table_has_every_file() -> None:
    listed = set(re.findall(r"^\| `(runners/[\w./]+)` \|", PAGE, re.MULTILINE))
    assert listed == {f"runners/c/{path.name}" for path in C.iterdir()} | {"runners/rust/"}
