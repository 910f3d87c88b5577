# SPDX-License-Identifier: Apache-2.0
"""Runtimes that are right plainly, and wrong twice, with a file beside the model, in a locale or on two threads."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import environment
import pytest

from commands import command
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.case import OVERRIDDEN, OVERRIDES, PLAIN
from onnx_conformance.declare import Tag
from onnx_conformance.environments import backend_names
from onnx_conformance.environments.environment_variables import settings
from onnx_conformance.forms.table import EXTERNAL_DATA, TWICE, TYPED
from onnx_conformance.judging.ask import ask_and_judge
from onnx_conformance.processes.adapter_process import OPTED_OUT, Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection

pytestmark = pytest.mark.usefixtures("few_operators", "ends")

FORMS = (PLAIN, "initializer", "symbolic", TYPED, EXTERNAL_DATA, TWICE)
OPS = ("Reshape/25", "ReduceSum/13")


def verdicts(backend: str) -> dict[str, set[Verdict]]:
    """Return the verdicts by form; all cases are sent ahead of their answers.

    Sized cases are left out: onnx.reference adds thousands of numbers in 16 bits.
    """
    found: dict[str, set[Verdict]] = {}
    with Asker(backend_names.resolve(backend), Limits()) as asker:
        for case in Generated().cases(Selection(ops=OPS, forms=FORMS)):
            if case.expected is not None and Tag.SIZE not in case.tags:
                found.setdefault(case.form, set()).add(ask_and_judge(asker, case)[0].verdict)
    return found


@pytest.fixture(autouse=True)
def adapters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(environment.__file__).parent))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "form"),
    [("keeps_first_answer", TWICE), ("reads_from_the_beginning", EXTERNAL_DATA), ("reads_bytes_alone", TYPED)],
)
def test_a_fault_of_one_form_shows_in_that_form_alone(backend: str, form: str) -> None:
    found = verdicts(f"environment.{backend}")
    assert set(found) == set(FORMS)
    assert found.pop(form) & {Verdict.WRONG_VALUE, Verdict.WRONG_SHAPE, Verdict.REFUSED}
    assert set.union(*found.values()) == {Verdict.PASS}, found


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["environment.right", "oracle", "onnx_reference"])
def test_a_right_adapter_passes_in_every_form(backend: str) -> None:
    found = verdicts(backend)
    assert set(found) == set(FORMS)
    assert set.union(*found.values()) == {Verdict.PASS}, found


@pytest.mark.slow
def test_what_the_earlier_inputs_give_is_not_judged() -> None:
    assert verdicts("environment.fails_first")[TWICE] == {Verdict.PASS}


@pytest.mark.slow
def test_an_adapter_that_accepts_no_such_request_opts_out_and_answers_the_others() -> None:
    found = verdicts("environment.once")
    assert found.pop(TWICE) == {Verdict.UNSUPPORTED}
    assert found.pop(EXTERNAL_DATA) == {Verdict.UNSUPPORTED}
    assert set.union(*found.values()) == {Verdict.PASS}, found
    with Asker(backend_names.resolve("environment.once"), Limits()) as asker:
        case = next(Generated().cases(Selection(ops=OPS, forms=(TWICE,))))
        assert OPTED_OUT["earlier"] in ask_and_judge(asker, case)[0].message


@pytest.mark.parametrize(("backend", "verdict"), [("environment.right", Verdict.UNSUPPORTED), ("oracle", Verdict.PASS)])
def test_the_default_of_an_input_is_overridden_only_where_an_adapter_declares_it(
    backend: str, verdict: Verdict
) -> None:
    with Asker(backend_names.resolve(backend), Limits()) as asker:
        case = next(Generated().cases(Selection(ops=("Dropout",), forms=(OVERRIDDEN,))))
        result = ask_and_judge(asker, case)[0]
    assert result.verdict is verdict, result
    assert (OPTED_OUT[OVERRIDES] in result.message) is (verdict is Verdict.UNSUPPORTED)


def results(path: Path, backend: str, *arguments: str) -> Counter[Verdict]:
    """Return the verdicts of a run over some cases of floats with fractions."""
    command(
        "run", "--backend", backend, "--op", "ReduceSum/13", "--case", "*/axes_0_pruned", "--results", path, *arguments
    )
    read = [json.loads(line) for line in path.read_text().splitlines()]
    return Counter(Verdict(item["verdict"]) for item in read if item["kind"] == "result")


@pytest.fixture(scope="module")
def comma_locale(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make a locale whose numbers have a comma, and return its folder."""
    program = shutil.which("localedef")
    if program is None:
        pytest.skip("no localedef here, and no way to make a locale")
    folder = tmp_path_factory.mktemp("locales")
    subprocess.run([program, "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], check=False, capture_output=True)
    if not (folder / "de_DE.UTF-8").exists():
        pytest.skip("this machine has no sources of locales")
    return str(folder)


@pytest.mark.slow
def test_a_runtime_that_parses_by_locale_is_wrong_in_that_locale_alone(
    tmp_path: Path, comma_locale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCPATH", comma_locale)
    plain = results(tmp_path / "plain", "environment.parses_by_locale", "--env", "LOCPATH")
    comma = ("--env", "LOCPATH", "--locale", "de_DE.UTF-8")
    in_locale = results(tmp_path / "in_locale", "environment.parses_by_locale", *comma)
    assert set(plain) == {Verdict.PASS}
    assert in_locale[Verdict.WRONG_VALUE]
    assert set(results(tmp_path / "right", "environment.right", *comma)) == {Verdict.PASS}


@pytest.mark.slow
def test_a_locale_that_the_machine_lacks_is_said_in_one_sentence() -> None:
    done = command("run", "--backend", "environment.right", "--op", "ReduceSum/13", "--locale", "xx_XX.UTF-8")
    assert done.status == 2
    assert done.refused("adapter-not-started", "xx_XX.UTF-8", "locale -a")


@pytest.mark.slow
def test_a_runtime_that_is_wrong_on_two_threads_is_right_on_one(tmp_path: Path) -> None:
    counts = [results(tmp_path / str(n), "environment.races_on_threads", "--threads", str(n)) for n in (1, 2)]
    assert set(counts[0]) == {Verdict.PASS}
    assert counts[1][Verdict.WRONG_VALUE]


@pytest.mark.slow
def test_two_runs_have_the_same_messages_of_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sets.py").write_text(
        "def info(): return {'runtime': 'sets', 'version': '1'}\n"
        "def run(model, inputs, outputs): raise ValueError(' '.join(set('abcdefghijklmnop')))\n"
    )
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    messages = set()
    for _ in range(3):
        with Asker(backend_names.resolve(str(tmp_path / "sets.py")), Limits()) as asker:
            case = next(iter(Generated().cases(Selection(ops=OPS, forms=(PLAIN,)))))
            messages.add(ask_and_judge(asker, case)[0].message)
    assert len(messages) == 1, messages


@pytest.mark.slow
def test_onnxruntime_has_as_many_threads_as_the_option_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for threads in (None, 2):
        variables = settings(threads=threads)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        code = "from onnx_conformance.backends import onnxruntime; print(onnxruntime.OPTIONS.intra_op_num_threads)"
        printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert int(printed) == (threads or 1)
