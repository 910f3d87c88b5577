# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin in a folder of its own, as the author of a runtime uses it."""

from __future__ import annotations

import functools
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

import warm
from onnx_conformance.case.case import Outcome
from onnx_conformance.generation import plans
from onnx_conformance.specification import registry
from onnx_conformance.suites import onnx_layout
from onnx_conformance.suites.chosen import selection_of
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import check_selection
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.case.case import Case

pytestmark = pytest.mark.usefixtures("few_operators")

ONE = "ai.onnx/Split/18/uneven_two"
WRONG = "ai.onnx/SplitToSequence/11/keepdims_zero_scalar_one"
SOME = "ai.onnx/Split/18/uneven*"
IMPORTED = (
    "pytest", "_hypothesis_pytestplugin", "hypothesis", "xdist.looponfail", "xdist.plugin",
    "onnx_conformance.testing.items", "onnx_conformance.operators.tensor.split",
)  # fmt: skip
"""Modules that are imported once for all runs."""


@dataclass(frozen=True)
class Ran:
    """What a pytest run came to."""

    status: int
    output: str

    @property
    def traceback(self) -> list[str]:
        """Lines that lead into the harness, where one sentence is enough."""
        return re.findall(r"^\S*onnx_conformance/[\w/]+\.py:\d+.*", self.output, re.MULTILINE)

    @property
    def counts(self) -> dict[str, int]:
        """The last line: {"passed": 3, "failed": 1}."""
        words = {"passed", "failed", "skipped", "error", "errors", "deselected", "xfailed", "xpassed"}
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
        # Modules that were imported before pytest do not report failed assertions in detail.
        words = ("-m", "pytest", "-p", "no:cacheprovider", "-q", "-W", "ignore:Module already imported", *arguments)
        done = warm.run(words, self.folder, IMPORTED)
        return Ran(done.returncode, done.stdout)

    def start(self, *arguments: str) -> Ran:
        """Run pytest in a process that has imported nothing before."""
        words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=False, timeout=100)
        return Ran(done.returncode, done.stdout + done.stderr)

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


@functools.cache
def some() -> tuple[Case, ...]:
    """Return the cases of SOME."""
    return tuple(Generated().cases(Selection(cases=(SOME,))))


def expected(start: str) -> int:
    """Return how many of these have ids that begin so."""
    return sum(case.id.startswith(start) for case in some())


# By option, in an empty folder


@pytest.mark.slow
def test_every_case_is_an_item(ask: Asker) -> None:
    ran = ask("--onnx-backend", "oracle", "--onnx-op", "SequenceInsert/11", "--onnx-tag", "basic")
    expected = [case for case in plans.cases(registry.load().named("SequenceInsert"), (11,)) if "basic" in case.tags]
    assert ran.status == 0, ran.output
    assert ran.counts["passed"] == len(expected) > 0, ran.output
    assert not [case for case in expected if case.outcome is Outcome.UNSPECIFIED]
    assert list(ask.folder.iterdir()) == [], "nothing is left behind"


@pytest.mark.slow
def test_items_are_named_by_backend_and_case(ask: Asker) -> None:
    ran = ask("--onnx-backend", "oracle", "--onnx-backend", "onnx_reference", "--onnx-case", ONE, "--collect-only")
    assert ran.status == 0, ran.output
    assert [line for line in ran.output.splitlines() if ONE in line] == [
        f"onnx::oracle::{ONE}", f"onnx::onnx_reference::{ONE}",
    ], ran.output  # fmt: skip


@pytest.mark.slow
def test_the_options_of_the_commands_select_items(ask: Asker) -> None:
    suite, selection = Generated(), selection_of({"op": "split/>=13", "type": "float", "form": "plain", "at_most": 6})
    check_selection(suite, selection)
    chosen = sorted(case.id for case in suite.listed(selection))
    assert len(chosen) == 6
    words = ("--onnx-op", "split/>=13", "--onnx-type", "float", "--onnx-form", "plain", "--onnx-at-most", "6")
    ran = ask("--onnx-backend", "oracle", *words, "--collect-only")
    assert sorted(line.removeprefix("onnx::oracle::") for line in ran.output.splitlines() if "::" in line) == chosen
    ask.module(MODULE.format(arguments='"oracle", op="split/>=13", type="float", form="plain", at_most=6'))
    ran = ask("test_mine.py", "--collect-only")
    assert sorted(re.findall(r"test_onnx\[(.*)\]", ran.output)) == chosen, ran.output


@pytest.mark.slow
def test_a_failure_shows_the_sentence_and_the_answer(ask: Asker) -> None:
    ran = ask("--onnx-backend", "onnxruntime", "--onnx-case", WRONG, "--onnx-case", "ai.onnx/Split/18/overrun", "-rs")
    assert (ran.status, ran.counts) == (1, {"failed": 1, "skipped": 1}), ran.output
    for part in (
        "onnxruntime: wrong_shape: outputs[0][0]: expected shape [1, 2], got shape [2]",
        "If input 'split' is specified, this attribute is ignored.",
        "SplitToSequence <keepdims: int = 0> (input, split)",
        "output_sequence = sequence of 3 (float[1,2] 0 1, ",
        "unspecified: ",
    ):
        assert part in ran.output, f"{part!r} is not in\n{ran.output}"
    assert not ran.traceback, ran.output


@pytest.mark.slow
def test_k_chooses_by_id_and_tag(ask: Asker) -> None:
    ran = ask("--onnx-backend", "oracle", "--onnx-case", SOME, "-k", "uneven_two and not unranked")
    assert ran.status == 0, ran.output
    assert ran.counts == {
        "passed": expected(ONE) - 1, "deselected": len(some()) - expected(ONE) + 1,
    }, ran.output  # fmt: skip
    basic = "ai.onnx/Split/18/lengths"
    tagged = ask("--onnx-backend", "oracle", "--onnx-case", basic, "--onnx-case", ONE, "-k", "change")
    assert tagged.counts == {"passed": 1, "deselected": 1}, tagged.output


@pytest.mark.slow
def test_x_stops_at_the_first_failure(ask: Asker) -> None:
    backend = ask.backend(REFUSE)
    ran = ask("--onnx-backend", backend, "--onnx-case", "ai.onnx/Split/18/uneven*", "-x")
    assert ran.status == 1, ran.output
    assert ran.counts == {"failed": 1}, ran.output
    assert "refused: will not" in ran.output, ran.output


@pytest.mark.slow
def test_n_spreads_the_items(ask: Asker) -> None:
    ran = ask("--onnx-backend", "oracle", "--onnx-case", SOME, "-n", "2")
    assert ran.status == 0, ran.output
    assert ran.counts == {"passed": len(some())}, ran.output


@pytest.mark.slow
def test_junitxml_has_a_testcase_an_item(ask: Asker) -> None:
    ran = ask("--onnx-backend", "onnxruntime", "--onnx-case", WRONG, "--onnx-case", ONE, "--junitxml", "junit.xml")
    assert ran.status == 1, ran.output
    root = ET.parse(ask.folder / "junit.xml").getroot()
    children = {item.get("name"): [child.tag for child in item] for item in root.iter("testcase")}
    assert children == {WRONG: ["failure"], ONE: []}, children
    (failure,) = root.iter("failure")
    assert "expected shape [1, 2], got shape [2]" in (failure.get("message") or "") + (failure.text or "")


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_opting_out_is_skipped(ask: Asker) -> None:
    backend = ask.backend("say(kind='unsupported', id=header['id'], error='E', message='not here', reason='no kernel')")
    ran = ask("--onnx-backend", backend, "--onnx-case", ONE, "-rs")
    assert (ran.status, ran.counts) == (0, {"skipped": 1}), ran.output
    assert "unsupported: no kernel: not here" in ran.output, ran.output


# Faults of the adapter, not of the runtime


@pytest.mark.slow
def test_an_adapter_error_is_one_sentence(ask: Asker) -> None:
    backend = ask.backend("say(kind='answer', id=header['id'] + 7, outputs=[])")
    ask.module(MODULE.format(arguments=f"{backend!r}, case={ONE!r}"))
    for arguments in (("--onnx-backend", backend, "--onnx-case", ONE, "-k", "not test_onnx"), ("test_mine.py",)):
        ran = ask(*arguments)
        assert ran.status == 1, ran.output
        assert {**ran.counts, "deselected": 0} == {"error": 1, "deselected": 0}, ran.output
        (sentence,) = [line for line in ran.output.splitlines() if line.startswith(f"{ONE}: ")]
        assert "broke the wire format: an answer to request 8 while 1 was due" in sentence
        assert not ran.traceback, ran.output


@pytest.mark.slow
def test_a_backend_that_does_not_start_is_one_sentence(ask: Asker) -> None:
    ask.module(MODULE.format(arguments=f'"no_such_package.backend", case={ONE!r}'))
    for arguments in (("--onnx-backend", "no_such_package.backend", "--onnx-case", ONE), ("test_mine.py",)):
        ran = ask("-k", "not test_onnx" if arguments[0] != "test_mine.py" else "", *arguments)
        assert ran.status == 1, ran.output
        assert {**ran.counts, "deselected": 0} == {"error": 1, "deselected": 0}, ran.output
        assert "cannot import no_such_package.backend" in ran.output, ran.output
        assert not ran.traceback, ran.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--onnx-backend", "onnxruntim"), "there is no backend 'onnxruntim'; did you mean onnxruntime?"),
        (("--onnx-backend", "oracle", "--onnx-op", "Splt"), "--op 'Splt' matches nothing in suite generated; did you"),
        (("--onnx-backend", "oracle", "--onnx-case", "x"), "--case 'x' matches no case of suite generated"),
        (("--onnx-backend", "oracle", "--onnx-suite", "gone"), "suite gone does not exist"),
        (
            ("--onnx-backend", "oracle", "--onnx-type", "float32"),
            "--type 'float32' is not an element type of ONNX; did you",
        ),
        (("--onnx-backend", "oracle", "--onnx-at-most", "0"), "--at-most '0' is not a number of cases"),
    ],
)
def test_unknown_names_are_usage_errors(arguments: tuple[str, ...], sentence: str, ask: Asker) -> None:
    ran = ask(*arguments)
    assert ran.status == pytest.ExitCode.USAGE_ERROR, ran.output
    (line,) = [line for line in ran.output.splitlines() if line.startswith("ERROR: ")]
    assert sentence in line, ran.output
    assert not ran.traceback, ran.output


# In a module of one's own

MODULE = """\
from onnx_conformance.testing import conformance

test_onnx = conformance({arguments})
"""


@pytest.mark.slow
def test_three_lines_in_a_module(ask: Asker) -> None:
    ask.module(MODULE.format(arguments=f'"onnxruntime", case=("{WRONG}", "{ONE}")'))
    ran = ask("test_mine.py", "-rA")
    assert (ran.status, ran.counts) == (1, {"failed": 1, "passed": 1}), ran.output
    assert f"PASSED test_mine.py::test_onnx[{ONE}]" in ran.output, ran.output
    assert f"FAILED test_mine.py::test_onnx[{WRONG}]" in ran.output, ran.output
    assert "onnxruntime: wrong_shape: outputs[0][0]: expected shape [1, 2], got shape [2]" in ran.output, ran.output


@pytest.mark.slow
def test_a_module_with_k_and_n(ask: Asker) -> None:
    ask.module(MODULE.format(arguments=f'"oracle", case="{SOME}", tag="change"'))
    ran = ask("test_mine.py", "-k", "uneven_two and not unranked", "-n", "1")
    assert ran.status == 0, ran.output
    assert ran.counts["passed"] == expected(ONE) - 1, ran.output


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_module_with_unknown_names_is_a_collection_error(ask: Asker) -> None:
    ask.module(MODULE.format(arguments='"onnxruntim"'))
    ran = ask("test_mine.py")
    assert ran.status == pytest.ExitCode.INTERRUPTED, ran.output
    assert "there is no backend 'onnxruntim'" in ran.output, ran.output


@pytest.mark.slow
def test_without_the_option_the_plugin_adds_nothing_and_imports_nothing(ask: Asker) -> None:
    ask.module(
        "import sys\n"
        "def test_alone():\n"
        "    ours = {'onnx_conformance', 'onnx', 'numpy'}\n"
        "    loaded = sorted(name for name in sys.modules if name.partition('.')[0] in ours)\n"
        "    names = ['base', 'base.archived_folder', 'base.package', 'base.selection_options']\n"
        "    names += ['testing', 'testing.plugin']\n"
        "    assert loaded == ['onnx_conformance', *(f'onnx_conformance.{name}' for name in names)], loaded\n"
    )
    ran = ask.start("test_mine.py", "-p", "no:hypothesispytest")
    assert (ran.status, ran.counts) == (0, {"passed": 1}), ran.output


# Against expectations

PASSING, OTHER = "ai.onnx/Split/18/neither", "ai.onnx/Split/18/both"
"""A runtime that refuses everything is right where the text forbids the model."""
THREE = ("--onnx-case", ONE, "--onnx-case", PASSING, "--onnx-case", OTHER)
SELECTED = f"--case {ONE} --case {PASSING} --case {OTHER}"


def entry(case: str, verdict: str = "refused", more: str = "") -> str:
    return f'[[expect]]\ncase = "{case}"\nverdict = "{verdict}"\nreason = "no kernel yet"\n{more}\n'


# by case: its entry, what becomes of the item for a runtime that refuses everything, and what is shown
HELD = {
    "lengths": (entry("{}"), "XFAIL", "refused: no kernel yet [e.toml, line "),
    "lengths_one": ("", "FAILED", "refused: will not"),
    "lengths_all": (entry("{}", "crash"), "FAILED", "expected crash: no kernel yet [e.toml, line "),
    "lengths_sum": (entry("{}", "accepted_invalid"), "FAILED", "expected accepted_invalid: no kernel yet ["),
    "uneven": (entry("{}", more="flaky = true"), "XFAIL", ""),
    "uneven_two": (entry("{}", "crash", "flaky = true"), "XFAIL", "crash: no kernel yet"),
    "uneven_three": (entry("{}", "wrong_value", "expires = 2026-01-01"), "FAILED", "which expired on 2026-01-01"),
    "num_outputs": (entry("{}", more="expires = 2026-01-01"), "FAILED", "which expired on 2026-01-01"),
    "num_outputs_one": (entry("{}", more='when = { backend = ">1" }'), "FAILED", "refused: will not"),
    "num_outputs_all": (entry("{}", more='when = { backend = "==1" }'), "XFAIL", ""),
    "uneven_columns": (entry("{}", more='link = "https://x.example/1"'), "XFAIL", "yet (https://x.example/1) ["),
    "neither": ("", "PASSED", ""),
    "both": (entry("{}"), "FAILED", "[XPASS(strict)] refused: no kernel yet [e.toml, line "),
    "sum_short": (entry("{}", "unsupported"), "FAILED", "[XPASS(strict)] unsupported: no kernel yet"),
    "sum_long": (entry("{}", more="flaky = true"), "XPASS", "refused: no kernel yet"),
    "signature_split_of_double": (entry("{}", "pass"), "PASSED", ""),
}


@pytest.mark.slow
def test_expectations_are_strict_xfails(ask: Asker) -> None:
    backend = ask.backend(REFUSE)
    names = {name: f"ai.onnx/Split/18/{name}" for name in HELD}
    listed = '["ai.onnx/Split/18/lengths", "ai.onnx/*/gone"]'
    gone = entry("ai.onnx/Gone/*") + entry(ONE).replace(f'"{ONE}"', listed, 1)
    counted = '[attempted]\n"ai.onnx/Split/18" = 99\n'
    entries = "".join(HELD[name][0].replace("{}", case) for name, case in names.items())
    expect(ask, backend, f"{entries}{gone}{counted}", " ".join(f"--case {case}" for case in names.values()))
    words = [word for case in names.values() for word in ("--onnx-case", case)]
    ran = ask("--onnx-backend", backend, *words, "--onnx-expectations", "e.toml", "-rA")
    assert ran.status == 1, ran.output
    outcomes = {case: outcome for outcome, case in re.findall(OUTCOME, ran.output, re.MULTILINE)}
    assert outcomes == {**{name: outcome for name, (_, outcome, _) in HELD.items()}, "expectations": "FAILED"}, (
        ran.output
    )
    for name, (_, _, shown) in HELD.items():
        assert shown in ran.output, (name, ran.output)
    for problem in (
        "expired on 2026-01-01: no kernel yet", ": matches no scored, attempted case; remove it",
        ": 'ai.onnx/*/gone' matches no scored, attempted case",
        "ai.onnx/Split/18: 16 cases attempted, but e.toml requires at least 99",
    ):  # fmt: skip
        assert problem in ran.output, (problem, ran.output)
    assert not ran.traceback, ran.output


OUTCOME = r"^([A-Z]+) onnx::.*::(?:ai\.onnx/Split/18/)?(\w+)(?: |$)"


@pytest.mark.slow
def test_contradicting_entries_get_a_sentence(ask: Asker) -> None:
    backend = ask.backend(REFUSE)
    expect(ask, backend, entry("*/?neven_two") + entry("*/u?even_two", "crash"))
    ran = ask("--onnx-backend", backend, *THREE, "--onnx-expectations", "e.toml")
    assert (ran.status, ran.counts) == (1, {"passed": 2, "error": 2}), ran.output
    assert f"e.toml: lines 4 and 9 both match {ONE} and are equally specific" in ran.output, ran.output
    assert not ran.traceback, ran.output


def expect(ask: Asker, backend: str, text: str, selection: str = SELECTED) -> None:
    (ask.folder / "e.toml").write_text(f"backend = {backend!r}\nselection = {selection!r}\n\n{text}")


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["0", "1"])
def test_problems_of_the_whole_run_are_reported_with_xdist_too(processes: str, ask: Asker) -> None:
    say = "say(kind='unsupported', id=header['id'], error='E', message='not here', reason='no kernel')"
    backend = ask.backend("if b'uneven_two' in model:", f"    {say}", "else:", f"    {REFUSE}")
    expect(ask, backend, f'{entry(ONE)}[attempted]\n"ai.onnx/Split/18" = 3\n')
    arguments = ("--onnx-backend", backend, *THREE, "--onnx-expectations", "e.toml", "-n", processes)
    ran = ask(*arguments)
    assert (ran.status, ran.counts) == (1, {"passed": 3, "skipped": 1}), ran.output
    assert "ai.onnx/Split/18: 2 cases attempted, but " in ran.output, ran.output
    assert "e.toml, line 4: matches no scored, attempted case; remove it" in ran.output, ran.output
    expect(ask, backend, '[attempted]\n"ai.onnx/Split/18" = 2\n')
    assert ask(*arguments).status == 0


@pytest.mark.slow
def test_a_part_of_the_cases_is_checked_and_missing_cases_are_no_problem(ask: Asker) -> None:
    backend = ask.backend(REFUSE)
    expect(ask, backend, f'minimum = 9\n{entry(ONE)}{entry(OTHER)}[attempted]\n"ai.onnx/Abs/13" = 1\n', "")
    arguments = ("--onnx-backend", backend, "--onnx-expectations", "e.toml")
    ran = ask(*arguments, "--onnx-case", ONE)
    assert (ran.status, ran.counts) == (0, {"passed": 1, "xfailed": 1}), ran.output
    expect(ask, backend, f"{entry(ONE)}{entry(OTHER)}")
    ran = ask(*arguments, *THREE, "-k", "uneven_two")
    assert (ran.status, ran.counts) == (0, {"xfailed": 1, "deselected": 3}), ran.output


@pytest.mark.slow
def test_runxfail_shows_expected_failures_as_failures(ask: Asker) -> None:
    backend = ask.backend(REFUSE)
    expect(ask, backend, entry(ONE))
    ran = ask("--onnx-backend", backend, *THREE, "--onnx-expectations", "e.toml", "--runxfail")
    assert (ran.status, ran.counts) == (1, {"passed": 3, "failed": 1}), ran.output
    assert "refused: will not" in ran.output, ran.output
    assert not ran.traceback, ran.output


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("-n", "1")])
def test_a_module_with_expectations(more: tuple[str, ...], ask: Asker) -> None:
    backend = ask.backend(REFUSE)
    cases = (ONE, PASSING, OTHER)
    ask.module(MODULE.format(arguments=f"{backend!r}, case={cases!r}, expectations='e.toml'"))
    expect(ask, backend, entry(ONE))
    ran = ask("test_mine.py", "-rxA", *more)
    assert (ran.status, ran.counts) == (0, {"passed": 3, "xfailed": 1}), ran.output
    assert "PASSED test_mine.py::test_onnx[expectations]" in ran.output, ran.output
    expect(ask, backend, entry(ONE) + entry(OTHER) + entry("ai.onnx/Gone/*"))
    ran = ask("test_mine.py", *more)
    assert (ran.status, ran.counts) == (1, {"passed": 1, "xfailed": 1, "failed": 2}), ran.output
    assert "FAILED test_mine.py::test_onnx[expectations]" in ran.output, ran.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('backend = "other"', "e.toml is for other, but the run is of oracle; name another file"),
        ('backend = "oracle"\nsuite = "official"', "e.toml was written for suite official, but the run has generated"),
        ('backend = "oracle"\nminimum = ""', "e.toml, line 2: 'minimum' is ''; expected a number of cases"),
    ],
)
def test_expectations_that_cannot_be_used_are_a_usage_error(text: str, sentence: str, ask: Asker) -> None:
    (ask.folder / "e.toml").write_text(text)
    ran = ask("--onnx-backend", "oracle", "--onnx-case", ONE, "--onnx-expectations", "e.toml")
    assert ran.status == pytest.ExitCode.USAGE_ERROR, ran.output
    assert sentence in ran.output, ran.output
    assert not ran.traceback, ran.output


@pytest.mark.slow
def test_with_several_backends_only_that_of_the_file_is_compared(ask: Asker) -> None:
    backend = ask.backend(REFUSE)
    expect(ask, backend, entry(ONE))
    ran = ask("--onnx-backend", backend, "--onnx-backend", "oracle", *THREE, "--onnx-expectations", "e.toml")
    assert (ran.status, ran.counts) == (0, {"passed": 6, "xfailed": 1}), ran.output


@pytest.mark.slow
def test_expectations_without_their_backend_are_a_usage_error(ask: Asker) -> None:
    ask.module("def test_alone():\n    pass\n")
    ran = ask("test_mine.py", "--onnx-expectations", "e.toml")
    assert ran.status == pytest.ExitCode.USAGE_ERROR, ran.output
    assert "--onnx-expectations needs --onnx-backend" in ran.output, ran.output


# Environment variables of a backend

WANTS = """
import os

def info():
    return {"runtime": "wants", "version": os.environ["MY_OWN"]}

def run(model, inputs, outputs):
    raise NotImplementedError("nothing")

OPT_OUTS = (("NotImplementedError", "", "nothing"),)
"""


@pytest.mark.slow
def test_the_plugin_passes_a_named_variable_on(ask: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_OWN", "1")
    (ask.folder / "my").mkdir()
    (ask.folder / "my" / "wants.py").write_text(WANTS)
    words = ("--onnx-backend", "my.wants", "--onnx-case", ONE)
    assert ask(*words).counts == {"error": 1}
    assert ask(*words, "--onnx-env", "MY_OWN").counts == {"skipped": 1}
    module = "from onnx_conformance.testing import conformance\n"
    module += "test_onnx = conformance('my.wants', case=%r, env=('MY_OWN',))\n"
    (ask.folder / "test_mine.py").write_text(module % ONE)
    assert ask("test_mine.py").counts == {"skipped": 1}


@pytest.mark.slow
def test_a_variable_that_is_not_set_is_a_sentence(ask: Asker) -> None:
    ran = ask("--onnx-backend", "onnx_reference", "--onnx-case", ONE, "--onnx-env", "NOT_SET_HERE")
    assert ran.status == pytest.ExitCode.USAGE_ERROR, ran.output
    assert "--env NOT_SET_HERE: this variable is not set" in ran.output, ran.output
    assert not ran.traceback, ran.output


@pytest.mark.slow
def test_texts_of_others_are_escaped_in_the_output_of_pytest(ask: Asker, tmp_path: Path) -> None:
    hostile = "evil\\n::error::x\\x1b[2J"
    case = next(iter(plans.cases(registry.load().named("Split"), (18,))))
    folder = onnx_layout.write(case, tmp_path / "suite")
    folder.rename(folder.with_name(hostile.encode().decode("unicode_escape")))
    backend = ask.backend(f"say(kind='refused', id=header['id'], error='\\x1b[31mRed', message='{hostile}')")
    ran = ask("--onnx-backend", backend, "--onnx-suite", str(tmp_path / "suite"), "-v")
    assert ran.counts == {"failed": 1}, ran.output
    assert "evil" in ran.output, ran.output
    assert "\x1b" not in ran.output, repr(ran.output)
    assert not [text for text in ran.output.splitlines() if text.lstrip().startswith("::")], ran.output
    wrong = ask("--onnx-backend", "cmd:no such\n::error::x \x1b[2J", "--onnx-suite", str(tmp_path / "suite"))
    assert not re.search(r"\x1b|^\s*::", wrong.output, re.MULTILINE), repr(wrong.output)


@pytest.mark.slow
def test_everything_is_not_generated_before_a_refusal(ask: Asker) -> None:
    (ask.folder / "e.toml").write_text('backend = "oracle"\nselection = "--op Split/18"\n')
    refused = ask("--onnx-backend", "oracle", "--onnx-expectations", "e.toml")
    assert refused.status == 4, refused.output
    assert "e.toml is for the cases --op Split/18, but the run selects all; select these with" in refused.output
    listed = ask("--onnx-backend", "oracle", "--collect-only")
    assert listed.status == 4, listed.output
    assert "select some with --onnx-op" in listed.output
    assert not refused.traceback + listed.traceback
