"""Runtimes that are right plainly, and wrong twice, with a file beside the model, in a locale or on two threads."""

from __future__ import annotations

from pathlib import Path

import environment
import pytest

from harness.case.case import EXTERNAL_DATA, PLAIN, TWICE, TYPED
from harness.execution import backend_names
from harness.execution.adapter_process import OPTED_OUT, Limits
from harness.execution.ask import Asker, ask_and_judge
from harness.suites.generated import Generated
from harness.suites.selection import Selection
from harness.verdict import Verdict

pytestmark = pytest.mark.usefixtures("few_operators", "ends")

FORMS = (PLAIN, "initializer", "symbolic", TYPED, EXTERNAL_DATA, TWICE)
OPS = ("Reshape/25", "ReduceSum/13")


def verdicts(backend: str) -> dict[str, set[Verdict]]:
    """Return the verdicts by form; all cases are sent ahead of their answers."""
    found: dict[str, set[Verdict]] = {}
    with Asker(backend_names.resolve(backend), Limits()) as asker:
        for case in Generated().cases(Selection(ops=OPS, forms=FORMS)):
            if case.expected is not None:
                found.setdefault(case.form, set()).add(ask_and_judge(asker, case)[0].verdict)
    return found


@pytest.fixture(autouse=True)
def adapters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(environment.__file__).parent))


@pytest.mark.parametrize(
    ("backend", "form"),
    [("keeps_first_answer", TWICE), ("reads_from_the_beginning", EXTERNAL_DATA), ("reads_bytes_alone", TYPED)],
)
def test_a_fault_of_one_form_shows_in_that_form_alone(backend: str, form: str) -> None:
    found = verdicts(f"environment.{backend}")
    assert set(found) == set(FORMS)
    assert found.pop(form) & {Verdict.WRONG_VALUE, Verdict.WRONG_SHAPE, Verdict.REFUSED}
    assert set.union(*found.values()) == {Verdict.PASS}, found


@pytest.mark.parametrize("backend", ["environment.right", "oracle", "onnx_reference"])
def test_a_right_adapter_passes_in_every_form(backend: str) -> None:
    found = verdicts(backend)
    assert set(found) == set(FORMS)
    assert set.union(*found.values()) == {Verdict.PASS}, found


def test_what_the_earlier_inputs_give_is_not_judged() -> None:
    assert verdicts("environment.fails_first")[TWICE] == {Verdict.PASS}


def test_an_adapter_that_accepts_no_such_request_opts_out_and_answers_the_others() -> None:
    found = verdicts("environment.once")
    assert found.pop(TWICE) == {Verdict.UNSUPPORTED}
    assert found.pop(EXTERNAL_DATA) == {Verdict.UNSUPPORTED}
    assert set.union(*found.values()) == {Verdict.PASS}, found
    with Asker(backend_names.resolve("environment.once"), Limits()) as asker:
        case = next(Generated().cases(Selection(ops=OPS, forms=(TWICE,))))
        assert OPTED_OUT["earlier"] in ask_and_judge(asker, case)[0].message
