# SPDX-License-Identifier: Apache-2.0
"""Failures by a sentence that ONNX reworded after the runtime was built."""

from __future__ import annotations

from typing import Any

import pytest

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.report import run_end, terminal
from onnx_conformance.results.errata import built_with, is_erratum
from onnx_conformance.results.scope import Scope
from onnx_conformance.results.stream import header
from onnx_conformance.results.summary import Summary
from runs import result


@pytest.mark.parametrize(
    ("hello", "release"),
    [
        ({"onnx": "1.19.1", "opset": 25}, "1.19.1"),
        ({"opset": 24}, "1.19.0"),
        ({"onnx": "of last week", "opset": 23}, "1.18.0"),
        ({"onnx": 7}, ""),
        ({"opset": 4000}, ""),
        ({}, ""),
    ],
)
def test_an_adapter_names_the_release_or_the_newest_opset_gives_it(hello: dict[str, Any], release: str) -> None:
    assert built_with(hello) == release


@pytest.mark.parametrize(
    ("reworded", "built", "erratum"),
    [
        ("1.22", "1.19.0", True),
        ("1.22", "1.22.0", False),
        ("1.22", "", False),
        ("", "1.9.0", False),
        ("1.10", "1.9", True),
    ],
)
def test_a_failure_is_an_erratum_where_the_text_is_newer_than_the_runtime(
    reworded: str, built: str, erratum: bool  # noqa: FBT001 - a row of the table
) -> None:  # fmt: skip
    assert is_erratum(result("a", Verdict.WRONG_VALUE, reworded=reworded), built) is erratum


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.UNSUPPORTED, Verdict.UNSPECIFIED])
def test_what_is_no_failure_is_no_erratum(verdict: Verdict) -> None:
    assert not is_erratum(result("a", verdict, reworded="1.22"), "1.19.0")


def summed() -> Summary:
    summary = Summary({"mine": {"onnx": "1.19.0"}})
    summary.add(result("a", Verdict.WRONG_VALUE, reworded="1.22", backend="mine"))
    summary.add(result("b", Verdict.WRONG_VALUE, backend="mine"))
    summary.add(result("c", Verdict.WRONG_VALUE, reworded="1.22", backend="other"))
    return summary


def test_errata_are_counted_apart_for_each_backend() -> None:
    assert dict(summed().errata) == {"mine": 1, "other": 0}


def test_the_end_of_a_run_and_the_failures_name_errata() -> None:
    screen = " ".join("\n".join(run_end.lines(summed(), {}, Scope("generated"))).split())
    assert "errata 1 of these depend on sentences that ONNX reworded after 1.19.0" in screen
    block = terminal.groups(summed(), {}, 0, "", 120)
    text = "\n".join(block)
    assert "has this wording since onnx 1.22; the runtime was built with 1.19.0" in text


def test_the_header_says_which_onnx_a_runtime_was_built_with() -> None:
    hellos = {"mine": {"runtime": "mine", "version": "1", "opset": 24}, "other": {"runtime": "o", "version": "2"}}
    backends = header({"name": "generated", "digest": "d"}, hellos, {})["backends"]
    assert backends["mine"]["onnx"] == "1.19.0"
    assert "onnx" not in backends["other"]
