# SPDX-License-Identifier: Apache-2.0
"""The short test of an adapter: faults are named, and features that a runtime merely lacks are not."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from commands import adapter, command
from onnx_conformance.declare import EXACT, Op, Tag
from onnx_conformance.environments import backend_names
from onnx_conformance.judging import self_check
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.specification import registry
from onnx_conformance.suites.selection import Listed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Check = Callable[..., tuple[dict[str, str], set[str]]]

pytestmark = pytest.mark.usefixtures("ends")

ECHO = """
import numpy as np
import onnx


def info():
    return {INFO}


def run(model, inputs, outputs):
    held = onnx.load_from_string(model)
    if not held.graph.node:
        raise ValueError("no graph")
    if held.graph.node[0].op_type not in CAN:
        raise NotImplementedError(f"{CAN} alone")
    value = CAN[held.graph.node[0].op_type](*inputs.values())
    BODY
    return [value]


CAN = {OPERATORS}


OPT_OUTS = (("NotImplementedError", r"", "no kernel"),)
"""
GOOD = {"runtime": "echo", "version": "1", "repro": "outputs = []", "containers": ["sequence", "optional"]}


IDENTITY = '{"Identity": lambda value: value}'


@pytest.fixture(autouse=True)
def some_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let those be all: what moves a type and what does not, of both domains, and one that the installed onnx lacks."""
    names = ("Identity", "Reshape", "Squeeze", "Add", "Neg", "Shape", "SequenceConstruct", "ai.onnx.ml/DictVectorizer")
    absent = Op("Absent", (999,), EXACT)
    some = registry.Registry([*map(registry.load().named, names), absent])
    monkeypatch.setattr(registry, "load", lambda *_: some)


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Return a function that checks an echo with a fault: failed checks and skipped checks."""
    monkeypatch.chdir(tmp_path)

    def check(body: str = "pass", can: str = IDENTITY, **info: object) -> tuple[dict[str, str], set[str]]:
        text = ECHO.replace("{INFO}", repr({**GOOD, **info})).replace("BODY", textwrap.indent(body, "    ").lstrip())
        (tmp_path / "echo.py").write_text(text.replace("{OPERATORS}", can))
        results = list(self_check.check(backend_names.resolve("./echo.py"), Limits(timeout=5)))
        return {item.what: item.seen for item in results if item.good is False}, {
            item.what for item in results if item.good is None
        }

    return check


@pytest.mark.slow
def test_a_right_adapter_has_nothing_amiss(checked: Check) -> None:
    assert checked() == ({}, {"moves other types"})


def checks(text: str, what: str, tmp_path: Path) -> list[self_check.Checked]:
    """Return the checks of one kind for an adapter."""
    (tmp_path / "mine.py").write_text(text)
    target = backend_names.resolve(str(tmp_path / "mine.py"))
    return [item for item in self_check.check(target, Limits(timeout=5)) if item.what.startswith(what)]


@pytest.mark.slow
def test_it_says_how_many_operators_an_adapter_can(checked: Check, tmp_path: Path) -> None:
    checked(can='{"Identity": lambda x: x, "Add": lambda a, b: a + b, "Neg": lambda x: x}')
    lines = checks((tmp_path / "echo.py").read_text(), "", tmp_path)
    (can,) = (item for item in lines if item.what == "supports operators")
    assert (can.good, can.seen) == (True, "2 of 8 pass, 5 are unsupported, 1 fail")
    (fails,) = (item for item in lines if item.what == "fails")
    assert fails.good is None
    assert fails.seen.startswith("ai.onnx/Neg/13/"), fails
    assert "wrong_value" in fails.seen


@pytest.mark.slow
def test_a_runtime_of_floats_can_the_operators_that_it_passes(checked: Check, tmp_path: Path) -> None:
    checked(
        "if getattr(value, 'dtype', None) != np.float32: raise NotImplementedError('only float')",
        can='{"Identity": lambda x: x, "Add": lambda a, b: a + b, "Neg": lambda x: -x}',
        containers=[],
    )
    (can,) = checks((tmp_path / "echo.py").read_text(), "supports operators", tmp_path)
    assert (can.good, can.seen) == (True, "3 of 8 pass, 5 are unsupported, 0 fail")


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (None, ["a", "c/float", "b"]),
        (["float", "int8"], ["a", "c/float", "c/int8", "b"]),
        (True, ["a", "c/float", "b"]),
    ],
)
def test_float_and_the_declared_types_are_tried_first(declared: object, expected: list[str]) -> None:
    basic, dtype = frozenset({Tag.BASIC}), frozenset({Tag.DTYPE})
    rows = [("edge", frozenset()), ("a", basic), ("c/int8", dtype), ("c/float", dtype), ("b", basic), ("d", basic)]
    cases = [Listed(f"ai.onnx/Add/14/{name}", "ai.onnx/Add/14", "plain", "values", tags) for name, tags in rows]
    ids = self_check._first_tried(cases, declared)
    assert [name.removeprefix("ai.onnx/Add/14/") for name in ids] == expected


@pytest.mark.slow
def test_types_are_moved_by_an_adapter_without_identity(checked: Check) -> None:
    only = (
        '{"Reshape": lambda data, shape: data.reshape([data.shape[i] if n == 0 else n for i, n in enumerate(shape)])}'
    )
    amiss, skipped = checked(can=only, containers=[])
    assert (amiss, skipped) == ({}, {"moves other types"})
    changed = "if value.dtype == np.int16: value = value + np.int16(1)"
    assert list(checked(changed, can=only, containers=[])[0]) == ["moves int16"]


@pytest.mark.slow
def test_an_operator_that_computes_does_not_count_as_moving_types(checked: Check) -> None:
    amiss, skipped = checked(can='{"Add": lambda a, b: a + b}', containers=[])
    assert amiss == {}
    assert skipped == {"moves other types"}


@pytest.mark.slow
def test_a_version_that_is_opted_out_of_is_followed_by_an_older_one(checked: Check, tmp_path: Path) -> None:
    old = "if held.opset_import[0].version > 14: raise NotImplementedError('newer than 14')"
    assert checked(old)[0] == {}
    moved = {item.what: item.seen for item in checks((tmp_path / "echo.py").read_text(), "moves ", tmp_path)}
    assert moved["moves float"] == "through ai.onnx/Identity/14", moved


@pytest.mark.slow
def test_an_adapter_that_can_nothing_is_amiss(checked: Check) -> None:
    amiss, _ = checked(can="{}", containers=[])
    assert amiss == {"supports operators": "0 of 8 pass, 8 are unsupported, 0 fail"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gives", "what", "says"),
    [
        (
            "dict(zip(outputs, [1]))",
            "returns lists of values",
            "run() did not return a list of values: dict; expected a value for",
        ),
        (
            "(item for item in ())",
            "returns lists of values",
            "run() did not return a list of values: generator; expected a value",
        ),
        ("[]", "returns all requested outputs", "wrong_count: outputs: expected 1 outputs, got 0 outputs"),
    ],
)
def test_run_returning_no_list_of_values_is_reported(tmp_path: Path, gives: str, what: str, says: str) -> None:
    text = "def info(): return {'runtime': 'm', 'version': '1'}\ndef run(model, inputs, outputs): return " + gives
    lines = checks(text, what, tmp_path)
    assert lines
    assert all(item.good is False and says in item.seen for item in lines[: self_check.NAMED]), lines


@pytest.mark.slow
def test_no_more_operators_run_after_three_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_check, "CASE_SECONDS", 0.5)
    text = (
        "import time\ndef info(): return {'runtime': 'm', 'version': '1'}\n"
        "def run(model, inputs, outputs):\n    time.sleep(600 if inputs else 0)\n    raise ValueError('no')\n"
    )
    lines = checks(text, "", tmp_path)
    (late,) = (item for item in lines if item.what == "answers in time")
    assert late.good is False
    assert late.seen == "3 cases had no answer within 0.5 s each; 5 operators were not run"
    assert [item.what for item in lines if item.what.startswith("rejects")], "the rest is looked at all the same"


def test_a_slow_adapter_runs_only_some_operators(checked: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_check, "MOST_SECONDS", 0)
    amiss, skipped = checked()
    assert "supports operators" in amiss
    assert "answers in time" in skipped


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "what", "sentence"),
    [
        ("value = value.astype(np.float32) if getattr(value, 'dtype', None) == np.float64 else value", "moves double",
         "wrong_type"),
        ("value = value + np.int8(1) if getattr(value, 'dtype', None) == np.int8 else value", "moves int8",
         "wrong_value"),
        ("if getattr(value, 'dtype', None) == np.uint8: import os; os._exit(3)", "moves uint8", "crash"),
        ("if isinstance(value, list): value = tuple(value[1:])", "moves sequence", ""),
    ],
)  # fmt: skip
def test_a_type_that_comes_back_changed_is_named(checked: Check, body: str, what: str, sentence: str) -> None:
    amiss, _ = checked(body)
    assert what in amiss
    assert sentence in amiss[what]


@pytest.mark.slow
def test_an_opt_out_is_shown_and_is_no_fault(checked: Check) -> None:
    amiss, skipped = checked("if getattr(value, 'dtype', None) == np.uint16: raise NotImplementedError('no uint16')")
    assert (amiss, skipped) == ({}, {"moves uint16", "moves other types"})


@pytest.mark.slow
def test_declared_types_are_compared_with_those_that_pass(checked: Check) -> None:
    amiss, skipped = checked(types=["float", "float7"], containers=["sequence"], version="")
    assert set(amiss) == {"reports its version", "reports its types", "declares all its types",
                          "declares all its containers"}  # fmt: skip
    assert "float7: not one of" in amiss["reports its types"]
    assert "optional" in amiss["declares all its containers"]
    assert "supports its types" in skipped


@pytest.mark.slow
def test_nonsense_must_be_refused_and_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bold.py").write_text(
        "import os\ndef info(): return {'runtime': 'bold', 'version': '1'}\ndef run(model, inputs, outputs):\n"
        "    if not model: os._exit(4)\n    return [list(inputs.values())[0] if inputs else None]\n"
    )
    amiss = {item.what for item in self_check.check(backend_names.resolve("bold"), Limits()) if item.good is False}
    assert {"rejects an empty model", "rejects bytes that are not a model"} <= amiss


@pytest.mark.slow
def test_the_command() -> None:
    done = command("backends", "check", "onnx_reference")
    assert done.status == 0, done.text
    assert "all checks passed" in done.out
    bad = command("backends", "check", adapter("prints_before_hello"))
    assert bad.status == 2, bad.text
    assert len(bad.err.splitlines()) == 1, bad.text


@pytest.mark.slow
def test_backends_lists_every_backend() -> None:
    done = command("backends")
    assert done.status == 0, done.text
    rows = {row.split()[0]: row for row in done.out.splitlines() if row.strip()}
    assert set(backend_names.names()) <= set(rows), sys.modules.keys()
    assert "here" in rows["onnx_reference"]
