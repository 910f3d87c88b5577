"""The short test of an adapter: what is amiss is named, and what a runtime merely lacks is not."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
from commands import adapter, command

from harness import selftest, targets
from harness.process import Limits

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Check = Callable[..., tuple[dict[str, str], set[str]]]

pytestmark = [pytest.mark.usefixtures("ends"), pytest.mark.all_operators]

ECHO = """
import numpy as np
import onnx

from backends import protocol


def info():
    return {INFO}


def run(model, inputs, outputs):
    held = onnx.load_from_string(model)
    if not held.graph.node:
        raise ValueError("no graph")
    if held.graph.node[0].op_type != "Identity":
        raise NotImplementedError("Identity alone")
    (value,) = inputs.values()
    BODY
    return [value]


OPT_OUTS = (("NotImplementedError", r"", "no kernel"),)
"""
GOOD = {"runtime": "echo", "version": "1", "repro": "outputs = []", "containers": ["sequence", "optional"]}


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Return a function: what is found amiss, and what is only told, of an echo with a fault."""
    monkeypatch.chdir(tmp_path)

    def check(body: str = "pass", **info: object) -> tuple[dict[str, str], set[str]]:
        text = ECHO.replace("{INFO}", repr({**GOOD, **info})).replace("BODY", textwrap.indent(body, "    ").lstrip())
        (tmp_path / "echo_package").mkdir(exist_ok=True)
        (tmp_path / "echo_package" / "__init__.py").write_text("")
        (tmp_path / "echo_package" / "echo.py").write_text(text)
        found = list(selftest.check(targets.resolve("echo_package.echo"), Limits(timeout=5)))
        return {item.what: item.seen for item in found if item.good is False}, {
            item.what for item in found if item.good is None
        }

    return check


def test_a_right_adapter_has_nothing_amiss(checked: Check) -> None:
    assert checked() == ({}, {"moves map"})


@pytest.mark.parametrize(
    ("body", "what", "seen"),
    [
        ("value = value.astype(np.float32) if getattr(value, 'dtype', None) == np.float64 else value", "moves double",
         "wrong_type"),
        ("value = value + np.int8(1) if getattr(value, 'dtype', None) == np.int8 else value", "moves int8",
         "wrong_value"),
        ("if getattr(value, 'dtype', None) == np.uint8: import os; os._exit(3)", "moves uint8", "crash"),
        ("if isinstance(value, list): value = tuple(value[1:])", "moves sequence", ""),
    ],
)  # fmt: skip
def test_what_is_changed_on_the_way_is_named(checked: Check, body: str, what: str, seen: str) -> None:
    amiss, _ = checked(body)
    assert what in amiss
    assert seen in amiss[what]


def test_what_a_runtime_lacks_is_only_told(checked: Check) -> None:
    amiss, told = checked("if getattr(value, 'dtype', None) == np.uint16: raise NotImplementedError('no uint16')")
    assert (amiss, told) == ({}, {"moves uint16", "moves map"})


def test_what_an_adapter_says_is_held_against_what_it_does(checked: Check) -> None:
    amiss, told = checked(types=["float", "float7"], containers=["sequence"], opset="new", version="")
    assert set(amiss) == {"says its version", "says its opset", "says its types", "says all types that it takes",
                          "says all containers that it takes"}  # fmt: skip
    assert "float7: not one of" in amiss["says its types"]
    assert "optional" in amiss["says all containers that it takes"]
    assert "takes the types that it says" in told


def test_nonsense_must_be_refused_and_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bold").mkdir()
    (tmp_path / "bold" / "__init__.py").write_text("")
    (tmp_path / "bold" / "yes.py").write_text(
        "import os\ndef info(): return {}\ndef run(model, inputs, outputs):\n"
        "    if not model: os._exit(4)\n    return [list(inputs.values())[0] if inputs else None]\n"
    )
    amiss = {item.what for item in selftest.check(targets.resolve("bold.yes"), Limits()) if item.good is False}
    assert {"refuses an empty model", "refuses bytes that are no model"} <= amiss


def test_the_command() -> None:
    done = command("backends", "check", "onnx_reference")
    assert done.status == 0, done.text
    assert "nothing is amiss" in done.out
    bad = command("backends", "check", adapter("prints_before_hello"))
    assert bad.status == 2, bad.text
    assert len(bad.err.splitlines()) == 1, bad.text


def test_what_can_be_tested_is_listed() -> None:
    done = command("backends")
    assert done.status == 0, done.text
    rows = {row.split()[0]: row for row in done.out.splitlines() if row.strip()}
    assert set(targets.names()) <= set(rows), sys.modules.keys()
    assert "here" in rows["onnx_reference"]
