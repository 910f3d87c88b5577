# SPDX-License-Identifier: Apache-2.0
"""The guilty passes of an optimizer: the fewest with which a failure stays, by itself one, or several together."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import faulty
import numpy as np
import onnx
import pytest

from commands import command
from composed import X, case_of
from onnx_conformance.base.printing import guilt
from onnx_conformance.base.target import Target
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.environments import backend_names
from onnx_conformance.judging.ask import ask_once
from onnx_conformance.minimize import passes, reducer
from onnx_conformance.minimize.passes import fewest, guilty_passes, named
from onnx_conformance.processes import examiner
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.passes import with_passes
from onnx_conformance.suites import onnx_layout
from onnx_conformance.suites.lookup import plan_if_declarable

if TYPE_CHECKING:
    from collections.abc import Iterator

ADAPTERS = Path(faulty.__file__).parent
OPTIMIZER = f"{ADAPTERS / 'wrong_passes'}.py"
NEGS = """
agraph (float[2,3] x) => (float[3,2] y) {
   a = Relu(x)
   b = Neg(a)
   c = Neg(b)
   y = Transpose <perm = [1, 0]> (c)
}
"""
FORTY = tuple(f"pass_{number}" for number in range(40))


@pytest.fixture(scope="module", autouse=True)
def ends() -> Iterator[None]:
    """End the oracle's process after the tests of this file."""
    yield
    examiner.close()


# The search


@pytest.mark.parametrize("guilty", [(), ("pass_7",), ("pass_0", "pass_39"), ("pass_3", "pass_20", "pass_21")])
def test_the_fewest(guilty: tuple[str, ...]) -> None:
    asked: list[tuple[str, ...]] = []

    def fails(names: tuple[str, ...]) -> bool:
        asked.append(names)
        return set(guilty) <= set(names)

    assert fewest(FORTY, fails) == guilty
    assert len(asked) == len(set(asked)), "nothing is asked twice"
    assert len(asked) < 20 or len(guilty) != 1, "one of forty needs no forty questions"


def test_a_suspect_is_tried_first() -> None:
    asked: list[tuple[str, ...]] = []

    def fails(names: tuple[str, ...]) -> bool:
        asked.append(names)
        return "pass_7" in names

    assert fewest(FORTY, fails, [("pass_1",), ("pass_1", "pass_7"), ("pass_7",)]) == ("pass_7",)
    assert asked == [(), FORTY, ("pass_1",), ("pass_7",)]


def test_one_that_another_hides_is_found() -> None:
    """With pass_1, pass_2 shows it only together with pass_3; alone it does."""

    def fails(names: tuple[str, ...]) -> bool:
        return "pass_2" in names and ("pass_1" not in names or "pass_3" in names)

    assert fewest(FORTY[:5], fails) == ("pass_2",)


def test_what_is_not_there_with_all_has_none() -> None:
    assert fewest(FORTY, lambda names: len(names) == 1) == ()


def test_the_processes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "MOST_PROCESSES", 5)
    asked: list[tuple[str, ...]] = []

    def fails(names: tuple[str, ...]) -> bool:
        asked.append(names)
        return {"pass_3", "pass_30"} <= set(names)

    assert {"pass_3", "pass_30"} <= set(fewest(FORTY, fails))
    assert len(asked) == 5


def test_guilt_is_one_line() -> None:
    assert [guilt(()), guilt(("a",)), guilt(("a", "b"))] == ["", "guilty pass: a", "guilty together: a, b"]


@pytest.mark.parametrize(
    ("said", "names"), [(["a", "b", "a"], ("a", "b")), ("a", ()), ([1], ()), (["a"] * 501, ()), (None, ())]
)
def test_what_an_adapter_says_is_checked(said: object, names: tuple[str, ...]) -> None:
    assert named({"passes": said}) == names


@pytest.mark.parametrize(
    ("name", "option", "called"),
    [
        ("onnxslim", "", "onnxslim[only:a+b]"),
        ("onnxslim==0.1.98", "", "onnxslim[only:a+b]==0.1.98"),
        ("tool[low,without:c]==1", "low,without:c", "tool[low,only:a+b]==1"),
        ("cmd:./tool", "", "cmd:./tool"),
    ],
)
def test_the_target_with_passes(name: str, option: str, called: str) -> None:
    made = with_passes(Target(name, (), {backend_names.VARIABLE: option}), ("a", "b"))
    assert made.name == called
    assert made.environment[backend_names.VARIABLE] == called.partition("[")[2].partition("]")[0] or "only:a+b"


# With an optimizer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "names"),
    [(NEGS, ("fuse_negs",)), ("agraph (float[2,3] x) => (float[2,3] y) { y = Exp(x) }", ("mark", "replace_marked"))],
)
def test_the_guilty_are_named(text: str, names: tuple[str, ...]) -> None:
    case, target, limits = case_of(text, {"x": X}), backend_names.resolve(OPTIMIZER), Limits(timeout=20)
    answer = ask_once(target, case, limits)
    assert answer.result is not None
    assert answer.result.verdict is Verdict.WRONG_VALUE
    guilty = guilty_passes(case, answer.result, answer.hello, target, limits)
    assert guilty.names == names
    assert f"wrong_passes.optimize(model, {list(names)!r})" in guilty.hello["repro"]
    assert guilty.hello["runtime"] == answer.hello["runtime"]


@pytest.mark.slow
def test_who_passes_has_no_guilty() -> None:
    case = case_of("agraph (float[2,3] x) => (float[2,3] y) { y = Relu(x) }", {"x": X})
    target, limits = backend_names.resolve(OPTIMIZER), Limits(timeout=20)
    answer = ask_once(target, case, limits)
    assert answer.result is not None
    assert guilty_passes(case, answer.result, answer.hello, target, limits).names == ()


@pytest.mark.slow
def test_all_passes_together_name_nobody() -> None:
    case = case_of("agraph (float[2,3] x) => (float[2,3] y) { y = Exp(x) }", {"x": X})
    target, limits = backend_names.resolve(f"{OPTIMIZER}[only:mark+replace_marked]"), Limits(timeout=20)
    answer = ask_once(target, case, limits)
    assert answer.result is not None
    assert answer.result.verdict is Verdict.WRONG_VALUE
    assert guilty_passes(case, answer.result, answer.hello, target, limits).names == ()


@pytest.mark.slow
def test_a_model_is_cut_down_to_the_nodes_that_meet() -> None:
    case = case_of(NEGS, {"x": X})
    minimized = reducer.minimize(case, plan_if_declarable(case), backend_names.resolve(OPTIMIZER), Limits(), 200)
    nodes = [node.op_type for node in onnx.load_from_string(minimized.case.model).graph.node]
    assert nodes == ["Neg", "Neg"]
    (value,) = minimized.case.inputs.values()
    assert np.size(value) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "kept", "names"),
    [
        ("{ a = Exp(x) b = Neg(a) y = Neg(b) }", ["Neg", "Neg"], ("fuse_negs",)),
        ("{ a = Ceil(x) b = Sub(a, a) y = Exp(b) }", ["Exp"], ("mark", "replace_marked")),
        ("{ a = ThresholdedRelu<alpha = 4.5>(x) y = Tanh(a) }", ["Tanh"], ("simplify",)),
    ],
)
def test_a_smaller_model_fails_by_the_same_fault(text: str, kept: list[str], names: tuple[str, ...]) -> None:
    """Exp alone fails by two other passes than two Neg, and Ceil alone fails by one of them.

    ThresholdedRelu alone fails by the same pass as Tanh, but without the operator that the pass adds.
    """
    case = case_of(f"agraph (float[2,3] x) => (float[2,3] y) {text}", {"x": X})
    target = backend_names.resolve(OPTIMIZER)
    minimized = reducer.minimize(case, plan_if_declarable(case), target, Limits(), 200)
    assert [node.op_type for node in onnx.load_from_string(minimized.case.model).graph.node] == kept
    answer = minimized.answer
    assert answer.backend == OPTIMIZER
    assert guilty_passes(minimized.case, minimized.result, answer.hello, target, Limits()).names == names


@pytest.mark.slow
@pytest.mark.parametrize("name", ["minimize", "repro"])
def test_the_script_calls_the_guilty_pass_alone(name: str, tmp_path: Path) -> None:
    onnx_layout.write(case_of(NEGS, {"x": X}), tmp_path / "cases")
    (folder,) = (tmp_path / "cases").iterdir()
    path = tmp_path / "shown.py"
    words = (f"cases/{folder.name}", "--suite", tmp_path / "cases", "--backend", OPTIMIZER, "--out", path)
    done = command(name, *words)
    assert done.status == 0, done.text
    assert "fuse_negs" in done.err
    assert "wrong_passes.optimize(model, ['fuse_negs'])" in path.read_text()
    found = os.pathsep.join([str(ADAPTERS), str(ADAPTERS.parents[1])])
    shown = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": found}
    )
    assert shown.returncode == 1, shown.stdout + shown.stderr
    assert re.search("Mismatched elements|elements differ", shown.stderr), shown.stderr
    report = command(name, *words[:-2], "--format", "markdown")
    assert "Guilty passes of the optimizer: `fuse_negs`; this pass alone causes the fault." in report.out, report.text
