"""The pytest plugin in a folder of its own, as the author of a runtime uses it."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from harness import generate, registry
from harness.case import Outcome

if TYPE_CHECKING:
    from pathlib import Path

ONE = "ai.onnx/Split/18/uneven_two"
LEFT_OUT = "ai.onnx/Split/18/outputs_left_out"


@dataclass(frozen=True)
class Ran:
    """What a pytest run came to."""

    status: int
    output: str

    @property
    def traceback(self) -> list[str]:
        """Lines that lead into the harness, where one sentence is enough."""
        return re.findall(r"^\S*harness/\w+\.py:\d+.*", self.output, re.MULTILINE)

    @property
    def counts(self) -> dict[str, int]:
        """The last line: {"passed": 3, "failed": 1}."""
        words = {"passed", "failed", "skipped", "error", "errors", "deselected"}
        last = re.findall(r"(\d+) ([a-z]+)", self.output.strip().splitlines()[-1])
        return {"error" if word == "errors" else word: int(count) for count, word in last if word in words}


@pytest.fixture
def ask(tmp_path: Path) -> Asker:
    folder = tmp_path / "empty"
    folder.mkdir()
    return Asker(folder)


class Asker:
    """Runs pytest in one folder, which holds nothing of this project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=100,
        )
        return Ran(done.returncode, done.stdout)

    def module(self, text: str) -> None:
        (self.folder / "test_mine.py").write_text(text)

    def backend(self, *body: str) -> str:
        """Write a command that greets, and then does `body` for each request; return its name as a backend."""
        path = self.folder / "runner.py"
        path.write_text("\n".join([*GREETING, *(f"    {line}" for line in body)]) + "\n")
        return f"cmd:{shlex.join([sys.executable, str(path)])}"


GREETING = (
    "import json, os, signal, sys",
    "def say(**header):",
    "    sys.stdout.write(json.dumps({'payload': 0, **header}) + '\\n')",
    "    sys.stdout.flush()",
    "say(kind='hello', protocol=1, runtime='runner', version='1')",
    "while line := sys.stdin.buffer.readline():",
    "    header = json.loads(line)",
    "    model = sys.stdin.buffer.read(header['payload'])",
)
REFUSE = "say(kind='refused', id=header['id'], error='Fail', message='will not')"


def expected(glob: str) -> int:
    """Return how many cases have ids that begin so."""
    op = registry.load().named(glob.split("/")[1])
    return sum(case.id.startswith(glob) for case in generate.cases(op))


# By option, in an empty folder


def test_every_case_is_an_item(ask: Asker) -> None:
    ran = ask("--onnx-backend", "oracle", "--onnx-op", "SplitToSequence/24", "--onnx-tag", "basic")
    wanted = [case for case in generate.cases(registry.load().named("SplitToSequence"), (24,)) if "basic" in case.tags]
    assert ran.status == 0, ran.output
    assert ran.counts["passed"] == len(wanted) > 0, ran.output
    assert not [case for case in wanted if case.outcome is Outcome.UNSPECIFIED]
    assert list(ask.folder.iterdir()) == [], "nothing is left behind"


def test_items_are_named_by_backend_and_case(ask: Asker) -> None:
    ran = ask("--onnx-backend", "oracle", "--onnx-backend", "onnx_reference", "--onnx-case", ONE, "--collect-only")
    assert ran.status == 0, ran.output
    assert [line for line in ran.output.splitlines() if ONE in line] == [
        f"onnx::oracle::{ONE}", f"onnx::onnx_reference::{ONE}",
    ], ran.output  # fmt: skip


def test_a_failure_tells_the_sentence_and_what_was_seen(ask: Asker) -> None:
    ran = ask(
        "--onnx-backend", "onnxruntime", "--onnx-case", LEFT_OUT, "--onnx-case", "ai.onnx/Split/18/overrun", "-rs"
    )
    assert (ran.status, ran.counts) == (1, {"failed": 1, "skipped": 1}), ran.output
    for part in (
        "onnxruntime: wrong_shape: outputs[0]: expected shape [3], got shape [4]",
        "Number of outputs to split parts of the tensor into.",
        "Split <num_outputs: int = 3> (input)",
        "outputs_0 = float[3] 0 1 2",
        "unspecified: ",
    ):
        assert part in ran.output, f"{part!r} is not in\n{ran.output}"
    assert not ran.traceback, ran.output


def test_k_chooses_by_id_and_tag(ask: Asker) -> None:
    ran = ask("--onnx-backend", "oracle", "--onnx-op", "Split/18", "-k", "uneven_two and not unranked")
    assert ran.status == 0, ran.output
    assert ran.counts == {
        "passed": expected(ONE) - 1, "deselected": expected("ai.onnx/Split/18/") - expected(ONE) + 1,
    }, ran.output  # fmt: skip
    tagged = ask("--onnx-backend", "oracle", "--onnx-case", "ai.onnx/Split/18/rank1*", "--onnx-case", ONE, "-k", "axis")
    assert tagged.counts["deselected"] == 1, tagged.output


def test_x_stops_at_the_first_failure(ask: Asker) -> None:
    backend = ask.backend(REFUSE)
    ran = ask("--onnx-backend", backend, "--onnx-case", "ai.onnx/Split/18/uneven*", "-x")
    assert ran.status == 1, ran.output
    assert ran.counts == {"failed": 1}, ran.output
    assert "refused: will not" in ran.output, ran.output


def test_n_spreads_the_items(ask: Asker) -> None:
    ran = ask("--onnx-backend", "oracle", "--onnx-op", "SplitToSequence/24", "--onnx-tag", "edge", "-n", "2")
    assert ran.status == 0, ran.output
    cases = [case for case in generate.cases(registry.load().named("SplitToSequence"), (24,)) if "edge" in case.tags]
    assert ran.counts["passed"] + ran.counts["skipped"] == len(cases), ran.output


def test_junitxml_has_a_testcase_an_item(ask: Asker) -> None:
    ran = ask("--onnx-backend", "onnxruntime", "--onnx-case", LEFT_OUT, "--onnx-case", ONE, "--junitxml", "junit.xml")
    assert ran.status == 1, ran.output
    root = ET.parse(ask.folder / "junit.xml").getroot()
    found = {item.get("name"): [child.tag for child in item] for item in root.iter("testcase")}
    assert found == {LEFT_OUT: ["failure"], ONE: []}, found
    (failure,) = root.iter("failure")
    assert "expected shape [3], got shape [4]" in (failure.get("message") or "") + (failure.text or "")


def test_a_process_that_dies_is_one_failed_item(ask: Asker) -> None:
    backend = ask.backend(
        "if b'uneven_two' in model:",
        "    sys.stderr.write('going down'); sys.stderr.flush()",
        "    os.kill(os.getpid(), signal.SIGSEGV)",
        REFUSE,
    )
    names = ("uneven_two", "neither", "both")
    ran = ask(
        "--onnx-backend", backend, *(word for name in names for word in ("--onnx-case", f"ai.onnx/Split/18/{name}"))
    )
    assert (ran.status, ran.counts) == (1, {"failed": 1, "passed": 2}), ran.output
    assert "crash: the process ended by SIGSEGV" in ran.output, ran.output
    assert "going down" in ran.output, ran.output


def test_a_timeout_is_one_failed_item(ask: Asker) -> None:
    backend = ask.backend("if b'uneven_two' in model:", "    signal.pause()", REFUSE)
    ran = ask(
        "--onnx-backend",
        backend,
        "--onnx-timeout",
        "0.3",
        "--onnx-case",
        ONE,
        "--onnx-case",
        "ai.onnx/Split/18/neither",
    )
    assert (ran.status, ran.counts) == (1, {"failed": 1, "passed": 1}), ran.output
    assert "timeout: no answer within" in ran.output, ran.output


def test_opting_out_is_skipped(ask: Asker) -> None:
    backend = ask.backend("say(kind='unsupported', id=header['id'], error='E', message='not here', reason='no kernel')")
    ran = ask("--onnx-backend", backend, "--onnx-case", ONE, "-rs")
    assert (ran.status, ran.counts) == (0, {"skipped": 1}), ran.output
    assert "unsupported: no kernel: not here" in ran.output, ran.output


# Faults of the adapter, not of the runtime


def test_a_fault_of_the_adapter_is_told_in_one_sentence(ask: Asker) -> None:
    backend = ask.backend("say(kind='answer', id=header['id'] + 7, outputs=[])")
    ask.module(MODULE.format(arguments=f"{backend!r}, case={ONE!r}"))
    for arguments in (("--onnx-backend", backend, "--onnx-case", ONE, "-k", "not test_onnx"), ("test_mine.py",)):
        ran = ask(*arguments)
        assert ran.status == 1, ran.output
        assert {**ran.counts, "deselected": 0} == {"error": 1, "deselected": 0}, ran.output
        (sentence,) = [line for line in ran.output.splitlines() if line.startswith(f"{ONE}: ")]
        assert "broke the wire format: an answer to request 8 while 1 was due" in sentence
        assert not ran.traceback, ran.output


def test_a_backend_that_does_not_start_is_told_in_one_sentence(ask: Asker) -> None:
    ask.module(MODULE.format(arguments=f'"no_such_package.backend", case={ONE!r}'))
    for arguments in (("--onnx-backend", "no_such_package.backend", "--onnx-case", ONE), ("test_mine.py",)):
        ran = ask("-k", "not test_onnx" if arguments[0] != "test_mine.py" else "", *arguments)
        assert ran.status == 1, ran.output
        assert {**ran.counts, "deselected": 0} == {"error": 1, "deselected": 0}, ran.output
        assert "cannot import no_such_package.backend" in ran.output, ran.output
        assert not ran.traceback, ran.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--onnx-backend", "onnxruntim"), "no backend is called 'onnxruntim'; did you mean onnxruntime?"),
        (("--onnx-backend", "oracle", "--onnx-op", "Splt"), "--op 'Splt' matches nothing in suite generated; did you"),
        (("--onnx-backend", "oracle", "--onnx-case", "x"), "--case 'x' matches no case of suite generated"),
        (("--onnx-backend", "oracle", "--onnx-suite", "gone"), "suite gone does not exist"),
    ],
)
def test_what_is_not_to_be_had_is_a_usage_error(arguments: tuple[str, ...], sentence: str, ask: Asker) -> None:
    ran = ask(*arguments)
    assert ran.status == pytest.ExitCode.USAGE_ERROR, ran.output
    (line,) = [line for line in ran.output.splitlines() if line.startswith("ERROR: ")]
    assert sentence in line, ran.output
    assert not ran.traceback, ran.output


# In a module of one's own

MODULE = """\
from harness.testing import conformance

test_onnx = conformance({arguments})
"""


def test_three_lines_in_a_module(ask: Asker) -> None:
    ask.module(
        MODULE.format(
            arguments='"onnxruntime", case=("ai.onnx/Split/18/outputs_left_out", "ai.onnx/Split/18/uneven_two")'
        )
    )
    ran = ask("test_mine.py", "-rA")
    assert (ran.status, ran.counts) == (1, {"failed": 1, "passed": 1}), ran.output
    assert f"PASSED test_mine.py::test_onnx[{ONE}]" in ran.output, ran.output
    assert f"FAILED test_mine.py::test_onnx[{LEFT_OUT}]" in ran.output, ran.output
    assert "onnxruntime: wrong_shape: outputs[0]: expected shape [3], got shape [4]" in ran.output, ran.output


def test_a_module_with_k_and_n(ask: Asker) -> None:
    ask.module(MODULE.format(arguments='"oracle", op="Split/18", tag="change"'))
    ran = ask("test_mine.py", "-k", "uneven_two and not unranked", "-n", "2")
    assert ran.status == 0, ran.output
    assert ran.counts["passed"] == expected(ONE) - 1, ran.output


def test_a_module_with_a_dotted_path_of_its_own(ask: Asker) -> None:
    (ask.folder / "my_runtime.py").write_text(
        "class backend:\n"
        "    @staticmethod\n"
        "    def prepare(model, device):\n"
        "        import unittest\n"
        "        raise unittest.SkipTest('not yet')\n"
    )
    ask.module(MODULE.format(arguments=f'"my_runtime.backend", case={ONE!r}'))
    ran = ask("test_mine.py", "-rs")
    assert (ran.status, ran.counts) == (0, {"skipped": 1}), ran.output
    assert "skipped by the backend: not yet" in ran.output, ran.output


def test_a_module_that_asks_for_what_is_not_to_be_had(ask: Asker) -> None:
    ask.module(MODULE.format(arguments='"onnxruntim"'))
    ran = ask("test_mine.py")
    assert ran.status == pytest.ExitCode.INTERRUPTED, ran.output
    assert "no backend is called 'onnxruntim'" in ran.output, ran.output


def test_without_the_option_the_plugin_adds_nothing_and_imports_nothing(ask: Asker) -> None:
    ask.module(
        "import sys\n"
        "def test_alone():\n"
        "    ours = {'harness', 'backends', 'onnx', 'numpy'}\n"
        "    loaded = sorted(name for name in sys.modules if name.partition('.')[0] in ours)\n"
        "    assert loaded == ['harness', 'harness.pytest_plugin'], loaded\n"
    )
    ran = ask("test_mine.py", "-p", "no:hypothesispytest")
    assert (ran.status, ran.counts) == (0, {"passed": 1}), ran.output
