# SPDX-License-Identifier: Apache-2.0
"""The pages under docs/: every command is run as it is written, and does what the page says."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

import click
import pytest
import yaml

import runtime_fakes
from commands import command
from onnx_conformance.analysis import dissent
from onnx_conformance.backends import cache, option
from onnx_conformance.base import verdict
from onnx_conformance.base.selection_options import OPTIONS
from onnx_conformance.cli import page_cases
from onnx_conformance.cli.commands import main
from onnx_conformance.environments import onnx_environment, python_environment
from onnx_conformance.environments.kept_environment import NoEnvironmentError
from onnx_conformance.forms import opsets, table
from onnx_conformance.opset.changes import ChangeKind
from onnx_conformance.processes import adapter_process, case_times, messages, pool, process_tree, replies
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.report import github, sarif
from onnx_conformance.report.formats import FORMATS
from onnx_conformance.report.site import runtimes
from onnx_conformance.results import fetching
from onnx_conformance.run import cluster, processes, progress, run
from onnx_conformance.search import chains, grammar
from onnx_conformance.suites import packs, slices
from onnx_conformance.suites.pack_file import PackFile
from onnx_conformance.suites.selection import Selection
from paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ADAPTERS = ROOT / "backends" / "README.md"
PAGE = ROOT / "docs" / "gate-in-ten-minutes.md"
EP_PAGE = ROOT / "docs" / "execution-provider.md"
OPSET = ROOT / "docs" / "new-opset.md"
VERIFY = ROOT / "docs" / "verify-a-model.md"
REFERENCE = ROOT / "docs" / "reference"


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


@pytest.mark.slow
def test_the_gate_in_ten_minutes(tmp_path: Path, bin_folder: Path) -> None:
    shell_blocks = [block for block in blocks(PAGE.read_text(encoding="utf-8")) if block.kind in {"sh", "text"}]
    install, *rest = shell_blocks
    assert 'pip install "$CHECKOUT"' in install.text
    assert (install.kind, [block.kind for block in rest]) == ("sh", ["sh", "text"] * (len(rest) // 2))
    assert len(rest) >= 16, "the page has lost its commands"
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "toy_runtime.py").write_bytes((ROOT / "docs" / "toy_runtime.py").read_bytes())
    run_blocks(PAGE.name, rest, folder, bin_folder)


def run_blocks(page: str, rest: list[Block], folder: Path, bin_folder: Path, *replaced: str) -> None:
    """Run the commands of a page, and compare their outputs; `replaced`: a text of the commands, and another one."""
    environment = {"PATH": f"{bin_folder}:/usr/bin:/bin", "PYTHONPATH": str(ROOT / "harness"), "LC_ALL": "C.UTF-8",
                   "OPENBLAS_NUM_THREADS": "1"}  # fmt: skip
    for commands, shown in zip(rest[::2], rest[1::2], strict=True):
        text = commands.text.replace(*replaced) if replaced else commands.text
        done = subprocess.run(
            ["bash", "-c", text], cwd=folder, env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, encoding="utf-8", timeout=300, check=False,
        )  # fmt: skip
        difference = differs(shown.text, done.returncode, done.stdout)
        assert not difference, f"{page}, line {shown.line}: {difference}"


@pytest.mark.slow
def test_the_tutorial_of_verify(tmp_path: Path, bin_folder: Path) -> None:
    install, *rest = (block for block in blocks(VERIFY.read_text(encoding="utf-8")) if block.kind in {"sh", "text"})
    assert f'pip install "$CHECKOUT" onnxruntime=={metadata.version("onnxruntime")}\n' in install.text
    assert [block.kind for block in rest] == ["sh", "text"] * 4, "the page has lost its commands"
    folder = tmp_path / "empty"
    folder.mkdir()
    run_blocks(VERIFY.name, rest, folder, bin_folder)


@pytest.mark.slow
def test_the_page_for_execution_providers(tmp_path: Path, bin_folder: Path) -> None:
    install, *rest = (block for block in blocks(EP_PAGE.read_text(encoding="utf-8")) if block.kind in {"sh", "text"})
    assert 'pip install "$CHECKOUT"' in install.text
    assert [block.kind for block in rest] == ["sh", "text"] * 6, "the page has lost its commands"
    if not hasattr(pytest.importorskip("onnxruntime"), "register_execution_provider_library"):
        pytest.skip("this onnxruntime cannot load plugins")
    needed = python_environment.provider("ep=nxrt")
    assert needed is not None
    assert f"nxrt-ep-cpu=={needed.version}" in install.text
    try:
        python = python_environment.python_of(needed)
    except NoEnvironmentError as error:
        pytest.skip(f"the environment of the plugin cannot be made: {error}")
    asked = "import nxrt_ep_cpu; print(nxrt_ep_cpu.get_library_path())"
    library = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    folder = tmp_path / "empty"
    folder.mkdir()
    run_blocks(EP_PAGE.name, rest, folder, bin_folder, 'package = "nxrt_ep_cpu"', f'library = "{library}"')
    assert json.loads((folder / "results.json").read_text(encoding="utf-8"))["kind"] == "ep-conformance-report"


def test_the_page_for_execution_providers_lists_every_file() -> None:
    table = EP_PAGE.read_text(encoding="utf-8").partition("## The providers with a file")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert sorted(listed) == sorted(path.stem for path in option.PROVIDERS.glob("*.toml"))


def test_each_criterion_names_a_test_that_exists() -> None:
    table = EP_PAGE.read_text(encoding="utf-8").partition("## The success criteria")[2]
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    assert len(rows) == 6 + 3 + 2  # The criteria, the goals, and the heads of the tables.
    named = re.findall(r"`(tests/[\w/]+\.py)`: ((?:`\w+`(?:, )?)+)", table)
    assert len(named) >= 9
    for path, names in named:
        source = (ROOT / path).read_text(encoding="utf-8")
        for name in re.findall(r"\w+", names):
            assert f"def {name}(" in source, f"{path} has no {name}"


@pytest.mark.slow
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


JAVASCRIPT = ROOT / "docs" / "javascript.md"


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node to run the adapter of docs/javascript.md")
def test_the_adapter_in_javascript_runs_as_its_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = JAVASCRIPT.read_text(encoding="utf-8")
    files = re.search(r"backends/\{([\w,]+)\}\.mjs", text)
    assert files
    for name in files[1].split(","):
        shutil.copy(ROOT / "backends" / f"{name}.mjs", tmp_path)
    (code,) = (block.text for block in blocks(text) if block.kind == "js" and "my_adapter" in block.text)
    (tmp_path / "my_adapter.mjs").write_text(code, encoding="utf-8")
    (shown,) = (block.text for block in blocks(text) if block.kind == "console")
    monkeypatch.chdir(tmp_path)
    done = command(*shlex.split(shown.removeprefix("$ onnx-conformance ")))
    assert done.status == 0, done.text
    assert re.search(r"passed +\d+ +100\.0 % of the \d+ attempted", done.out), done.text
    assert "unsupported" in done.out


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node to read the exports of protocol.mjs")
def test_the_page_lists_every_export_of_the_protocol_in_javascript() -> None:
    script = (
        f"import * as all from {str(ROOT / 'backends' / 'protocol.mjs')!r}; console.log(Object.keys(all).join(' '))"
    )
    done = subprocess.run(["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    table = JAVASCRIPT.read_text(encoding="utf-8").partition("The exports of `protocol.mjs`")[2].partition("\n\n[")[0]
    listed = [
        name for row in table.splitlines() for cell in row.split("|")[1:2] for name in re.findall(r"`(\w+)", cell)
    ]
    assert sorted(listed) == sorted(done.stdout.split())


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node to read a pack")
def test_a_pack_is_read_in_javascript_as_the_page_shows(tmp_path: Path) -> None:
    pack = tmp_path / "some.pack"
    assert command("pack", "--op", "Split/18", "--tag", "basic", "--out", pack, "--jobs", "1").status == 0
    text = JAVASCRIPT.read_text(encoding="utf-8")
    (code,) = (block.text for block in blocks(text) if block.kind == "js" and "openPack" in block.text)
    code = code.replace("./runners/", f"{ROOT}/runners/").replace("some.pack", str(pack))
    done = subprocess.run(["node", "--input-type=module", "-e", code], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    lines = [line for line in done.stdout.splitlines() if re.match(r"ai\.onnx/Split/18/\S+ \d+ \[", line)]
    assert len(lines) == len(list(PackFile(pack).cases(Selection())))


def test_the_page_lists_every_module_of_the_runner() -> None:
    table = JAVASCRIPT.read_text(encoding="utf-8").partition("| module in `runners/browser/`")[2]
    listed = re.findall(
        r"`([\w.]+)`", "".join(row.split("|")[1] for row in table.splitlines() if row.startswith("| `"))
    )
    present = [path.name for path in (ROOT / "runners" / "browser").iterdir() if path.is_file()]
    assert sorted(listed) == sorted(present)


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
    assert kinds == set(map(str, ChangeKind))


def test_the_toy_runtime_is_as_small_as_the_page_says() -> None:
    lines = (ROOT / "docs" / "toy_runtime.py").read_text().splitlines()
    assert 30 <= sum(bool(line.strip()) for line in lines) <= 42


@pytest.mark.parametrize("page", [PAGE, EP_PAGE], ids=lambda path: path.name)
def test_the_workflow_to_paste_gives_the_action_what_it_takes(page: Path) -> None:
    (text,) = (block.text for block in blocks(page.read_text(encoding="utf-8")) if block.kind == "yaml")
    steps = yaml.safe_load(text)["jobs"]["gate"]["steps"]
    (step,) = (step for step in steps if "onnx-conformance" in step["uses"])
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(step["with"]) <= set(action["inputs"])
    assert {name for name, declared in action["inputs"].items() if declared.get("required")} <= set(step["with"])
    used = re.findall(r"steps\.gate\.outputs\.([\w-]+)", page.read_text(encoding="utf-8"))
    assert used
    assert set(used) <= set(action["outputs"])


PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "backends" / "README.md", ROOT / "tests" / "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_a_page_exist(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert LINK.search(text), page
    for path, place in LINK.findall(text):
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name} links to {path}"
        if place:
            heads = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
            assert place[1:] in anchors, f"{page.name} links to {path}{place}"


MIB, GIB = 1 << 20, 1 << 30
WORDS = {"two": 2, "three": 3, "four": 4, "six": 6, "ten": 10}


def default(name: str, option: str) -> object:
    """Return the default of an option of a command."""
    found = main.get_command(click.Context(main), name)
    assert found is not None, name
    return next(item.default for item in found.params if option in item.opts)


def of_source(file: str, pattern: str) -> str:
    """Return a part of a file in tests/ that cannot be imported here."""
    found = re.search(pattern, (ROOT / "tests" / file).read_text(encoding="utf-8"))
    assert found, (file, pattern)
    return found[1]


def of_bench(file: str, option: str) -> int:
    """Return the default of an option of a program in tests/bench."""
    return int(of_source(f"bench/{file}", rf'"{option}", type=int, default=([\d_]+)'))


FEW = of_source("conftest.py", r"FEW = \((.*)\)").count(",") + 1
HANGS = int(of_source("conftest.py", r"HANGS = (\d+)"))
LIMITS = [
    ("docs/reference/commands/run.md", r"thousand cases \(N MiB\) behind", pool.MOST_WAITING_BYTES / MIB),
    ("docs/reference/commands/run.md", r"the rate of the last N minutes", progress.WINDOW / 60),
    ("docs/reference/commands/run.md", r"appears on standard error every N seconds", progress.LINE_SECONDS),
    ("docs/how-to/share-results.md", r"Above N cases, the page contains", page_cases.MOST_CASES),
    ("docs/reference/reports.md", r"Contains the N most severe results", sarif.MOST_RESULTS),
    ("docs/reference/reports.md", r"at most N errors and", github.MOST_OF_A_LEVEL),
    ("docs/reference/reports.md", r"errors and N warnings", github.MOST_OF_A_LEVEL),
    ("docs/reference/reports.md", r"GitHub Actions: at most N MiB, in complete", github.MOST_BYTES / MIB),
    (
        "docs/how-to/share-results.md",
        r"at most N MiB, and [\d,]+ MiB after decompression",
        fetching.Limits.fetched / MIB,
    ),
    ("docs/how-to/share-results.md", r"and N MiB after decompression", fetching.Limits.content / MIB),
    ("docs/how-to/share-results.md", r"has at least N % of the operator versions", runtimes.LEAST_OPERATORS),
    ("docs/how-to/search.md", r"judges each of them, within N seconds", grammar.SECONDS),
    ("docs/how-to/search.md", r"judges each of them, within \d+ seconds and N GiB", grammar.MORE_BYTES / GIB),
    ("docs/how-to/search.md", r"models of two to N nodes", chains.MOST_FOLLOWERS + 1),
    ("docs/reference/commands/test.md", r"runs the last N minor versions", default("trend", "--last")),
    ("docs/reference/commands/understand.md", r"By default, N or more implementations", dissent.ENOUGH),
    ("docs/start/onnx-author.md", r"on which at least N implementations", dissent.ENOUGH),
    ("docs/reference/suites.md", r"the opset N before the newest", opsets.BEHIND),
    ("docs/reference/isolation.md", r"exits with status N or \d+\.", 128 + signal.SIGTERM),
    ("docs/reference/isolation.md", r"exits with status \d+ or N\.", 128 + signal.SIGHUP),
    ("docs/reference/cache.md", r"`packs` \| [^|]* \| N GiB", packs.MOST_BYTES / GIB),
    ("docs/reference/cache.md", r"`programs` \| [^|]* \| N GiB", cache.MOST_BYTES / GIB),
    ("docs/cluster.md", r"with at least N cases per worker", run.CASES_OF_A_WORKER),
    ("docs/cluster.md", r"If a slice ends N workers", processes.MOST_DEATHS + 1),
    ("docs/cluster.md", r"After N deaths during one task", cluster.MOST_DEATHS),
    ("docs/cluster.md", r"A slice contains about N cases", slices.MOST_CASES),
    ("docs/cluster.md", r"Therefore a slice has about N cases", slices.MOST_CASES),
    ("docs/glossary.md", r"the unit of work of a run: about N cases", slices.MOST_CASES),
    ("backends/README.md", r"This may happen `--restarts` times \(N by default\)", Limits.restarts),
    ("backends/README.md", r"within `--timeout` \(N seconds\)", Limits.timeout),
    ("backends/README.md", r"`hello` must arrive within N seconds", Limits.start),
    ("backends/README.md", r"up to N of them, or about \d+ MiB, wait", Limits.ahead),
    ("backends/README.md", r"up to \d+ of them, or about N MiB, wait", adapter_process.MOST_UNSENT / MIB),
    ("backends/README.md", r"the last N bytes since the previous answer", adapter_process.STDERR_KEPT),
    ("backends/README.md", r"After N seconds, the adapter is killed", process_tree.IDLE_END),
    ("backends/README.md", r"header line \| N MiB", messages.ANY.header / MIB),
    ("backends/README.md", r"header line \| \d+ MiB, plus N times", replies.SLACK),
    ("backends/README.md", r"payload \| N MiB, plus", messages.ANY.payload / MIB),
    ("backends/README.md", r"payload \| \d+ MiB, plus N times", replies.SLACK),
    ("backends/README.md", r"the harness keeps N characters", verdict.MAX_MESSAGE),
    ("backends/README.md", r"- N second; - a tenth", case_times.LEAST_SECONDS),
    ("backends/README.md", r"until the harness knows N answers", case_times.ENOUGH),
    ("backends/README.md", r"- N times the usual time of a case", case_times.TIMES_USUAL),
    ("backends/README.md", r"Up to N processes of a backend may run slow cases", pool.MOST_SLOW),
    (
        "tests/README.md",
        r"the tests of a module use N operators only",
        of_source("conftest.py", r"FEW = \((.*)\)").count(",") + 1,
    ),
    ("tests/README.md", r"`ends` stops a test after N seconds", HANGS),
    ("CONTRIBUTING.md", r"html_page\.py` measures N cases on", of_bench("html_page.py", "--cases")),
    ("CONTRIBUTING.md", r"cases on N backends against", of_bench("html_page.py", "--backends")),
    ("CONTRIBUTING.md", r"site_pages\.py` measures N cases on", of_bench("site_pages.py", "--cases")),
    ("CONTRIBUTING.md", r"cases on N runtimes against", of_bench("site_pages.py", "--runtimes")),
    ("CHANGELOG.md", r"each in up to N surroundings", len(table.names(table.Start.REWRITE))),
]
"""A document, a sentence in it with N in the place of a number, and the constant that the number must equal."""


@pytest.mark.parametrize(("page", "sentence", "constant"), LIMITS, ids=[f"{item[0]}:{item[1]}" for item in LIMITS])
def test_a_limit_in_a_document_is_the_constant_of_the_code(page: str, sentence: str, constant: float) -> None:
    assert numbers((ROOT / page).read_text(encoding="utf-8"), sentence) == {constant}, page


def numbers(text: str, sentence: str) -> set[float]:
    """Return the numbers that a text has in the place of N in a sentence."""
    found = re.findall(re.sub(r"\bN\b", r"([\\d,]+|[a-z]+)", sentence), " ".join(text.split()))
    return {WORDS.get(number) or float(number.replace(",", "")) for number in found}


def test_a_limit_that_is_wrong_or_missing_is_noticed() -> None:
    sentence = r"restarted \(N by default\)"
    assert numbers("restarted (200 by\ndefault), and restarted (1,000 by default)", sentence) == {200, 1000}
    assert numbers("restarted (two by default)", sentence) == {2}
    assert numbers("It may restart.", sentence) == set()


def test_the_oldest_onnx_in_the_reference_is_that_of_the_code() -> None:
    page = (REFERENCE / "commands.md").read_text(encoding="utf-8")
    found = re.search(r"The oldest supported version is ([\d.]+\d)\.", page)
    assert found
    assert found[1] == str(onnx_environment.OLDEST)


def test_the_share_of_a_timeout_after_which_a_case_is_slow() -> None:
    assert "a tenth of `--timeout` (a quarter, until" in ADAPTERS.read_text(encoding="utf-8")
    assert (case_times.TIMEOUT_SHARE, case_times.FIRST_TIMEOUT_SHARE) == (10, 4)


def test_every_adapter_has_its_name_in_the_reference() -> None:
    text = (REFERENCE / "backends.md").read_text(encoding="utf-8")
    named = re.search(
        r"^\| (`.*`) \| the adapter of that name", text.partition("\n## Naming a backend")[2], re.MULTILINE
    )
    assert named, "the table has no row of adapters"
    assert set(re.findall(r"`(\w+)`", named[1])) == runtime_fakes.runtimes()
    text = (ROOT / "docs" / "how-to" / "test-a-tool.md").read_text(encoding="utf-8")
    table = text.partition("\n| backend |")[2].partition("\nNo runtime is needed")[0]
    cells = re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
    assert {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} == runtime_fakes.tools()


def test_every_report_format_has_a_row_in_the_reference() -> None:
    reports = (REFERENCE / "reports.md").read_text(encoding="utf-8").partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `([\w-]+)` \| `([\w.-]+)` \|", reports, re.MULTILINE))
    assert rows == {name: kind.file for name, kind in FORMATS.items()}


def test_every_option_that_selects_cases_has_a_row() -> None:
    text = (ROOT / "docs" / "how-to" / "select-cases.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`--[^|]*) \|", text, re.MULTILINE)
    names = [name for row in rows for name in re.findall(r"`--([\w-]+)", row)]
    assert sorted(names) == sorted(option.name for option in OPTIONS)
