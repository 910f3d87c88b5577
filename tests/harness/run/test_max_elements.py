# SPDX-License-Identifier: Apache-2.0
"""--max-elements leaves large cases out, and says how many."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from commands import command
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.results.stream import Run
from onnx_conformance.suites.kernels import Kernels
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from pathlib import Path

CASES = ("--suite", "kernels", "--case", "ai.onnx/Exp/13/length_n1*/float", "--backend", "oracle")


@pytest.mark.slow
def test_large_cases_are_left_out_and_counted(tmp_path: Path) -> None:
    results = tmp_path / "r.ndjson"
    done = command("run", *CASES, "--max-elements", "16", "--results", results)
    run = Run(results)
    names = {result.case.split("/")[3] for result in run.results()}
    assert names == {"length_n1", "length_n15", "length_n16"}, done.text
    assert "7 cases were left out, because a tensor has more than 16 elements (--max-elements)" in done.out, done.text
    assert "--max-elements 16" in run.header["arguments"]["selection"]
    assert "left out" not in command("run", *CASES, "--max-elements", "200000").out


def test_the_largest_tensor_may_be_a_parameter() -> None:
    cases = list(Kernels().cases(Selection(cases=("ai.onnx/MatMul/13/matrices_m[12]_k[12]_n4096*",))))
    assert {case.form for case in cases} == {"plain", "initializer"}
    for case in cases:
        m, k, n = (int(number) for number in re.findall(r"[mkn](\d+)", case.id.split("/matrices_")[1]))
        most = max(m * k, k * n, m * n)
        assert Selection(max_elements=most - 1).is_too_large(case), case.id
        assert not Selection(max_elements=most).is_too_large(case), case.id
        assert not Selection().is_too_large(case)


WITHOUT_MEMORY = '''\
"""Exp on numpy, on a machine with little memory."""

import os
import signal

import numpy as np


def info():
    return {"runtime": "small", "version": "1.0"}


def run(model, inputs, outputs):
    (x,) = inputs.values()
    if x.size > 100_000:
        os.kill(os.getpid(), signal.SIGKILL)  # As the operating system does if no memory is left.
    if x.size > 16:
        np.empty(1 << 50)
    return [np.exp(x.astype(float)).astype(x.dtype)]
'''


@pytest.mark.slow
def test_a_runtime_without_memory_for_a_case_gets_a_verdict_and_the_run_goes_on(tmp_path: Path) -> None:
    adapter, results = tmp_path / "small.py", tmp_path / "r.ndjson"
    adapter.write_text(WITHOUT_MEMORY)
    cases = ("--suite", "kernels", "--case", "ai.onnx/Exp/13/length_n1*/float", "--backend", adapter)
    done = command("run", *cases, "--results", results)
    run = Run(results)
    verdicts = {int(result.case.split("length_n")[1].split("/")[0]): result for result in run.results()}
    assert len(verdicts) == 10, done.text
    for size, result in verdicts.items():
        expected = Verdict.PASS if size <= 16 else Verdict.REFUSED if size <= 100_000 else Verdict.CRASH
        assert result.verdict is expected, (size, result)
    assert {result.verdict for result in verdicts.values()} == {Verdict.PASS, Verdict.REFUSED, Verdict.CRASH}
    assert "Unable to allocate" in verdicts[1000].message
    assert verdicts[max(verdicts)].signal == "SIGKILL"
    assert run.complete
    assert command("run", *cases, "--max-elements", "16").status == 0, "the larger cases were left out"
