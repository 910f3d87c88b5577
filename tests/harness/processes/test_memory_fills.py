# SPDX-License-Identifier: Apache-2.0
"""Answers that depend on uninitialized memory: they are found, and nothing else is taken for them."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import uninitialized

from commands import command
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.case.case import Outcome
from onnx_conformance.environments import backend_names
from onnx_conformance.environments.backend_names import Target
from onnx_conformance.processes import memory_fills
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.memory_fills import FILLS, MEMORY, VALUES
from onnx_conformance.processes.replies import Answered, Refused
from onnx_conformance.results.stream import Run
from onnx_conformance.run.scheduler import Scheduler
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from onnx_conformance.case.case import Case
    from onnx_conformance.declare.data import Value

pytestmark = pytest.mark.usefixtures("ends", "few_operators", "started_adapters")
CASE = "ai.onnx/Split/13/lengths"
GLIBC = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="NO GLIBC")


@pytest.fixture(autouse=True)
def adapters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(uninitialized.__file__).parent))


def case() -> Case:
    [found] = [case for case in Generated().cases(Selection(cases=(CASE,))) if case.id == CASE]
    return found


def run(kind: str, asked: Case, repeat: int = 1) -> tuple[Result, list[str]]:
    """Return the result of one case on a faulty adapter, and the faults of the run."""
    target = backend_names.resolve(f"uninitialized.{kind}")
    with Scheduler([target], Limits(), 1, repeat=repeat) as scheduler:
        scheduler.start()
        [result] = scheduler.run([asked])
    return result, scheduler.faults


@pytest.mark.slow
@GLIBC
@pytest.mark.parametrize(
    ("kind", "unstable"), [("large_block", MEMORY), ("small_block", MEMORY), ("clock", VALUES), ("wrong", "")]
)
def test_uninitialized_memory_is_told_from_other_causes(kind: str, unstable: str) -> None:
    result, faults = run(kind, case())
    assert faults == []
    assert result.verdict is Verdict.WRONG_VALUE, "the verdict is that of the runs without filled memory"
    assert result.unstable == unstable
    cause = memory_fills.CAUSES.get(unstable)
    assert cause is None or result.message.endswith(f"; {cause}"), result.message
    assert result.attempts == ()


@pytest.mark.slow
@GLIBC
def test_a_flaky_case_names_uninitialized_memory() -> None:
    result, _ = run("right_later", case())
    assert (result.verdict, result.unstable) == (Verdict.FLAKY, MEMORY)
    assert [(attempt["process"], attempt["verdict"]) for attempt in result.attempts] == [
        ("first", "wrong_value"), ("same", "pass"), ("fresh", "wrong_value")
    ]  # fmt: skip
    assert result.message.endswith(f"; {memory_fills.CAUSES[MEMORY]}"), result.message


def test_without_repeats_nothing_runs_again() -> None:
    result, _ = run("large_block", case(), repeat=0)
    assert (result.verdict, result.unstable) == (Verdict.WRONG_VALUE, "")


@pytest.mark.slow
def test_a_runtime_that_does_not_start_with_filled_memory_is_not_given_up() -> None:
    result, faults = run("needs_clean_memory", case())
    assert faults == []
    assert result.verdict is Verdict.WRONG_VALUE
    assert result.unstable in {"", VALUES}


@pytest.mark.slow
def test_an_operator_with_random_values_may_differ() -> None:
    result, _ = run("clock", dataclasses.replace(case(), outcome=Outcome.PROPERTY))
    assert result.verdict.failed
    assert result.unstable == ""


def test_the_variables_of_an_adapter_stay() -> None:
    target = Target("mine", ("mine",), {"A": "1", memory_fills.TUNABLES: "glibc.malloc.arena_max=1"})
    assert memory_fills.filled(target, 7).environment == {
        "A": "1",
        "MALLOC_PERTURB_": "7",
        memory_fills.TUNABLES: "glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0",
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.float32([1, 2]), np.float32([1, 3])),
        (np.float32([1, 2]), np.float32([[1, 2]])),
        (np.int32([1, 2]), np.uint32([1, 2])),
        (np.array(["ab", "c"], object), np.array(["a", "bc"], object)),
        ([np.float32([1])], [np.float32([1]), np.float32([1])]),
        ({1: np.float32([1])}, {2: np.float32([1])}),
        (None, []),
    ],
)
def test_only_equal_answers_have_one_fingerprint(one: Value, other: Value) -> None:
    first, again, second = (memory_fills.fingerprint(Answered((value,), None)) for value in (one, one, other))
    assert first == again
    assert first != second


def test_a_reply_without_values_has_no_fingerprint() -> None:
    assert memory_fills.fingerprint(Refused("Error", "no", "", None)) == ""


@pytest.mark.parametrize(
    ("answers", "first", "second", "cause"),
    [
        ("xx", "aaaa", "bbbb", MEMORY),
        ("xy", "aaaa", "bbbb", MEMORY),
        ("xx", "aaaa", "aaaa", ""),
        ("xy", "aaaa", "aaaa", VALUES),
        ("xx", "aaab", "bbbb", ""),
        ("xx", "aaa", "bbbb", ""),
        ("x", "", "", ""),
    ],
)
def test_memory_is_the_cause_if_answers_follow_the_fill(answers: str, first: str, second: str, cause: str) -> None:
    assert memory_fills.cause(list(answers), dict(zip(FILLS, map(list, (first, second)), strict=True))) == cause


def test_a_crash_is_no_answer() -> None:
    assert memory_fills.cause(["x", ""], {FILLS[0]: ["a"] * 4, FILLS[1]: [""] * 4}) == ""


@pytest.mark.slow
@GLIBC
def test_reports_name_the_cases(tmp_path: Path) -> None:
    results = tmp_path / "results.ndjson"
    words = ("run", "--backend", "uninitialized.large_block", "--case", CASE, "--repeat", "1", "--results", results)
    ran = command(*words)
    assert ran.status == 1, ran.text
    assert f"failed cases whose answers depend on uninitialized memory: {CASE}" in " ".join(ran.out.split()), ran.text
    assert [result.unstable for result in Run(results).results()] == [MEMORY]
    texts = {}
    for name in ("markdown", "html", "junit", "ctrf"):
        done = command("report", results, "--format", name, "--out", tmp_path / name)
        assert done.status == 0, done.text
        texts[name] = (tmp_path / name).read_text()
    sentence = f"uninitialized.large_block: 1 failed cases whose answers depend on uninitialized memory: {CASE}."
    assert sentence in texts.pop("markdown").replace("\\", "")
    texts["html"] = "".join(map(unpacked, re.findall(r"[A-Za-z0-9+/=]{100,}", texts["html"])))
    for name, text in texts.items():
        assert memory_fills.CAUSES[MEMORY] in text, name


def unpacked(block: str) -> str:
    """Return the data in a block of the page; empty if it is no data."""
    try:
        return gzip.decompress(base64.b64decode(block)).decode()
    except (ValueError, OSError, EOFError):
        return ""
