# SPDX-License-Identifier: Apache-2.0
"""The pages under docs/: every command of a page runs, one after the other, on a few cases.

The tutorials show outputs, too; `test_docs.py` runs them as they are. This module runs the commands of all other pages,
with fewer operators and cases, and with backends that are installed here.
"""

from __future__ import annotations

import re
import shlex
import shutil
from typing import TYPE_CHECKING

import click
import onnx
import onnx.parser
import pytest

import vendor_package
from commands import command
from onnx_conformance.cli.commands import main
from paths import ADAPTERS, ROOT
from vendor_package import EXAMPLE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_operators")]

DOCS = ROOT / "docs"
TUTORIALS = {"execution-provider.md", "gate-in-ten-minutes.md", "verify-a-model.md"}
"""Pages whose commands `test_docs.py` runs."""
REPLACED = {
    "tract": "onnx_reference",
    "tract=1/20": "onnx_reference=1/20",
    "openvino": "toy_runtime.Toy",
    "my_runtime": "onnx_reference",
    "./my_ep.toml": "onnx_reference",
    "27..28": "13..18",
    "Conv/>=11,<22": "Split/>=11,<18",
    "MatMul": "Reshape",
    "Exp": "Dropout",
    "Add/14": "Split/13",
}
"""Words of commands, and words with the same role that need no other runtime and only the few operators."""
SELECTING = {"run", "pack", "generate"}
"""Commands that get --op and --at-most, unless they name operators or cases."""
FEWER = {
    "--minutes 10": "--examples 3 --op Split",
    "--suite microsoft --backend": "--suite microsoft --op FusedMatMul --backend",
    "open-points --package microsoft": "open-points --package microsoft --op FusedMatMul",
}
"""Options that take long, and faster ones."""
PARSED = {
    "run --backend onnxruntime --backend iree --cluster": "it needs machines; tests/harness/run/ runs on local workers",
    "run --core --op 'Split*' --backend onnxruntime --cluster": "the same",
    "findings --folder findings/": "there are no findings; tests/harness/findings/ has some",
    "findings today.ndjson": "it makes environments; tests/harness/findings/ runs it",
    "opset": "it reads all operators; tests/harness/opset/ runs it",
    "run --onnx onnx-weekly": "it downloads the nightly onnx",
    "new ": "it writes into the checkout; tests/harness/opset/ runs it",
    "coverage --op GroupedMatMul": "the released onnx lacks the operator",
    "run --suite mine": "the command before it is only parsed",
    "generate --python --op GroupedMatMul": "the same",
    "site collect": "it fetches files; tests/harness/results/ runs it",
    "report results.ndjson": "a browser saves the file; tests/runners/ runs the page",
    "gate results.ndjson --expectations accepted.toml": "the same",
    "run --core --backend opencv": "it needs OpenCV; tests/harness/layouts/ runs it",
    "generate --core --layout opencv --known-failures": "the same",
    "accuracy repro": "Dropout, which replaces Exp, has no error; tests/harness/verification/ runs it",
    "run --suite kernels --form initializer": "it makes an environment; tests/harness/judging/ runs quantizers",
    "export --producer": "it installs PyTorch, and exports for minutes; tests/harness/verification/ runs one",
    'run --backend "cmd:': "it needs a compiler; tests/runners/ compiles and runs the programs",
    'run --core --backend "cmd:': "the same",
    'run --op Add/14 --backend "cmd:': "the same",
}
"""The beginnings of commands that are only parsed, with the reason."""
MODEL = """
<ir_version: 10, opset_import: ["": 18]>
halves (float[4] x) => (float[2] a, float[2] b) { a, b = Split <axis = 0, num_outputs = 2> (x) }
"""


def commands_of(text: str) -> Iterator[str]:
    """Yield the commands of this project in the shell blocks of a page, without `onnx-conformance`."""
    for block in re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.split(r" && ", line.partition(" #")[0]):
                if part.startswith("onnx-conformance "):
                    yield part.removeprefix("onnx-conformance ").strip()


PAGES = [
    path
    for path in sorted(DOCS.rglob("*.md"))
    if path.name not in TUTORIALS and any(commands_of(path.read_text(encoding="utf-8")))
]


def parsed(words: list[str]) -> None:
    """Raise an error of click if a command or an option does not exist, or a value is not possible."""
    found = main.get_command(click.Context(main), words[0])
    assert found is not None, f"there is no command {words[0]}"
    with click.Context(main) as context:
        found.make_context(words[0], [word for word in words[1:] if word not in {"--onnx", "onnx-weekly"}], context)


def fewer(line: str) -> list[str]:
    """Return the words of a command that does the same with fewer cases."""
    for slow, fast in FEWER.items():
        line = line.replace(slow, fast)
    words = shlex.split(line)
    words = [
        word if before == "--layout" else REPLACED.get(word, word)
        for before, word in zip(["", *words[:-1]], words, strict=True)
    ]
    if words[0] in SELECTING and "--at-most" not in words:
        words += ["--at-most", "20"]
    if words[0] in SELECTING and not {"--op", "--model", "--opsets", "--suite"} & set(words):
        words += ["--op", "Split"]
    return words


def run_commands(text: str) -> int:
    """Run the commands of a page in the current folder; return their number.

    Raises:
        AssertionError: a command ended with status 2.
        click.UsageError: a command that is only parsed has an option that does not exist.
    """
    count = 0
    for line in commands_of(text):
        count += 1
        if line.startswith(tuple(PARSED)):
            parsed(shlex.split(line))
            continue
        done = command(*fewer(line))
        assert done.status in {0, 1}, f"{line}: {done.text}"
    return count


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield the current folder, with the files that pages assume: two models, two runtimes and an operator package."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    model = onnx.parser.parse_model(MODEL)
    for name in ("model.onnx", "my_model.onnx"):
        onnx.save(model, tmp_path / name)
    (tmp_path / "toy_runtime.py").write_bytes((DOCS / "toy_runtime.py").read_bytes())
    shutil.copyfile(ADAPTERS / "example_runtime.py", tmp_path / "my_runtime.py")
    shutil.copytree(EXAMPLE, tmp_path / EXAMPLE.name, ignore=shutil.ignore_patterns("__pycache__"))
    with vendor_package.forgotten():
        yield tmp_path


def prepare(page: str) -> None:
    """Write the files that the commands of a page read, and that no command of it writes."""
    run = ("run", "--op", "Split/18", "--at-most", "20", "--backend", "onnx_reference")
    if page == "profiles.md":
        assert command(*run, "--results", "results.ndjson").status in {0, 1}
        assert command("claims", "results.ndjson", "--out", "my_claims.toml").status == 0
    elif page == "search.md":
        assert command(*run, "--backend", "onnxruntime", "--results", "today.ndjson").status in {0, 1}
    elif page == "cluster.md":
        for part in range(1, 5):
            assert command(*run, "--shard", f"{part}/4", "--results", f"part{part}.ndjson").status in {0, 1}
        assert command("merge", *(f"part{part}.ndjson" for part in range(1, 5)), "--out", "whole.ndjson").status == 0
        file = ("--expectations", "my_runtime.toml", "--accept-new", "--reason", "day one")
        assert command("expectations", "update", "whole.ndjson", *file).status == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_every_command_of_a_page_runs(page: Path, folder: Path) -> None:  # noqa: ARG001 - the current folder
    prepare(page.name)
    assert run_commands(page.read_text(encoding="utf-8")) > 0


def test_every_exception_is_of_a_command_of_a_page() -> None:
    lines = [line for page in PAGES for line in commands_of(page.read_text(encoding="utf-8"))]
    assert not [start for start in PARSED if not any(line.startswith(start) for line in lines)]
    words = {word for line in lines for word in shlex.split(line)}
    assert not REPLACED.keys() - words
    assert all(any(slow in line for line in lines) for slow in FEWER)


@pytest.mark.parametrize("line", ["list --opp Split", "lst", "run --suite absent --backend onnx_reference"])
def test_a_wrong_command_of_a_page_is_noticed(line: str, folder: Path) -> None:  # noqa: ARG001 - the current folder
    with pytest.raises(AssertionError, match=r"exit\s2"):
        run_commands(f"```sh\nonnx-conformance {line}\n```\n")


def test_a_wrong_option_of_a_command_that_is_only_parsed_is_noticed() -> None:
    with pytest.raises(click.NoSuchOption):
        run_commands("```sh\nonnx-conformance opset 27..28 --chek\n```\n")
