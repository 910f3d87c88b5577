# SPDX-License-Identifier: Apache-2.0
"""The tolerances of operators, and the distances of runtimes from the expected values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from commands import command
from onnx_conformance.analysis import bounds
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.specification import registry
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator


def of(name: str, *versions: str) -> list[bounds.Bound]:
    return list(bounds.of([registry.load().named(name)], Selection(ops=versions or (name,))))


@pytest.mark.parametrize(("name", "kind"), [
    ("Transpose", "exact"), ("Exp", "units"), ("MatMul", "formula"), ("Elu", "measured"),
])  # fmt: skip
def test_the_kind_is_that_of_the_declared_tolerance(name: str, kind: str) -> None:
    (found,) = of(name)
    declared = registry.load().named(name).compare
    assert (found.kind, found.reason, found.ulp, found.narrow) == (
        kind, declared.reason, declared.ulp, declared.narrow,
    )  # fmt: skip
    assert {"float", "float16", "double"} <= {*found.types}
    assert not {"int32", "bool", "string"} & {*found.types}


def test_the_newest_selected_version_is_listed() -> None:
    assert [item.operator for item in of("Exp", "Exp/6")] == ["ai.onnx/Exp/6"]
    assert [item.operator for item in of("Exp")] == ["ai.onnx/Exp/13"]


def test_operators_without_floating_outputs_are_not_listed() -> None:
    assert of("Shape") == []


def results() -> Iterator[Result]:
    """Yield results of an imprecise backend and of one that is right: of each kind that counts, and does not count."""
    for case, backend, verdict, ulps in (
        ("Exp/13/a", "near", Verdict.PASS, [[0, 1], [2, -1], [3, 2]]),
        ("Exp/13/b", "near", Verdict.PASS, [[0, -3], [1, 1]]),
        ("Exp/13/c", "near", Verdict.WRONG_VALUE, [[0, 900]]),
        ("Exp/13/d", "near", Verdict.REFUSED, []),
        ("Exp/13/a", "right", Verdict.PASS, []),
        ("Exp/6/a", "right", Verdict.PASS, [[0, 7]]),
    ):
        operator = "ai.onnx/" + case.rpartition("/")[0]
        yield Result(f"ai.onnx/{case}", operator, backend, verdict, "values", ulps={"outputs[0]": ulps})


def test_distances_are_those_of_passed_cases_of_this_version() -> None:
    found = of("Exp")
    bounds.measure(found, results())
    assert found[0].distances == {
        "near": bounds.Distance(passed=2, typical=1, ulps=3, case="ai.onnx/Exp/13/b", wrong=1),
        "right": bounds.Distance(passed=1),
    }


def test_the_command_has_three_formats() -> None:
    text = command("bounds", "--op", "Acos").out
    assert "ai.onnx/Acos/22: 4 ULP, in 16 bits 2 ULP, from 0 to 3.14159\n" in text
    (row,) = json.loads(command("bounds", "--op", "Acos", "--format", "json").out)
    assert (row["ulp"], row["narrow"], row["kind"]) == (4, 2, "units")
    table = command("bounds", "--op", "Acos", "--format", "markdown").out.splitlines()
    assert table[2].startswith("| ai.onnx/Acos/22 | 4 ULP")


def test_an_unknown_operator_gets_one_line() -> None:
    done = command("bounds", "/no/such/file", "--op", "Exp")
    assert done.status == 2, done.text
    assert len(done.err.splitlines()) == 1, done.text
