# SPDX-License-Identifier: Apache-2.0
"""Files for onnx's own generator of node tests: its `expect` takes them, and its cases are ours."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx.backend.test.case import node as generator

from commands import command
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.compare import compare
from onnx_conformance.generation import plans
from onnx_conformance.specification import registry
from onnx_conformance.specification.evaluator import Evaluator
from onnx_conformance.suites import onnx_python

if TYPE_CHECKING:
    from pathlib import Path

    from onnx.backend.test.case.test_case import TestCase


def taken(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[TestCase]:
    """Return the cases that onnx's generator makes of a file, those of expanded function bodies too."""
    found: list[TestCase] = []
    monkeypatch.setattr(generator, "_NodeTestCases", found)
    monkeypatch.setattr(generator, "_existing_names", {})
    monkeypatch.setattr(generator, "_TargetOpType", None)
    spec = importlib.util.spec_from_file_location(f"node_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "operator", ["Split/18", "SequenceInsert/11", "Cast/19", "SpaceToDepth/28", "OptionalGetElement/18", "Normalizer/1"]
)
def test_onnx_makes_the_same_cases_of_a_file(operator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, since = operator.split("/")
    done = command("generate", "--python", "--op", operator, "--form", "plain", "--out", tmp_path)
    assert done.status == 0, done.text
    (path,) = tmp_path.iterdir()
    assert path.name == f"{name.lower()}.py"
    made = taken(path, monkeypatch)
    own = [case for case in made if not case.name.endswith("_expanded")]
    assert done.out == f"{path}: {len(own)} cases\n"
    op = registry.load().named(name)
    declared = {f"test_{onnx_python.name_of(case)}": case for case in plans.cases(op, (int(since),))}
    assert len(own) > 5
    for case in own:
        ours = declared[case.name]
        assert ours.expected is not None
        ((inputs, outputs),) = case.data_sets
        for given, value in zip(inputs, ours.inputs.values(), strict=True):
            assert compare([value], [given], Allowance("the same")) is None, case.name
        assert compare(ours.expected, list(outputs), ours.allowance) is None, case.name
        onnx.checker.check_model(case.model)
    for case in made[:40]:  # Expanded ones too: a function body says the same.
        ((inputs, outputs),) = case.data_sets
        names = [info.name for info in case.model.graph.input]
        answers = Evaluator().model(case.model, dict(zip(names, inputs, strict=True)))
        for info, wanted in zip(case.model.graph.output, outputs, strict=True):
            if isinstance(wanted, np.ndarray) and wanted.dtype.kind == "f":
                np.testing.assert_allclose(answers[info.name], wanted, rtol=case.rtol, atol=case.atol)


@pytest.mark.slow
def test_what_onnx_has_no_words_for_stays_behind_with_its_reason(tmp_path: Path) -> None:
    done = command("generate", "--python", "--op", "Split/18", "--out", tmp_path)
    assert done.status == 0, done.text
    assert "; the first: ai.onnx/Split/18/" in done.err
    assert "[cases-not-node-tests]" in done.err
    none = command("generate", "--python", "--op", "Split/18", "--tag", "rejects", "--out", tmp_path / "none")
    assert none.status == 2, none.text
    assert not (tmp_path / "none").exists()


def test_a_file_that_differs_is_replaced_only_on_demand(tmp_path: Path) -> None:
    words = ("generate", "--python", "--op", "Split/18", "--case", "ai.onnx/Split/18/lengths", "--out", tmp_path)
    assert command(*words).status == 0
    assert command(*words).status == 0
    (tmp_path / "split.py").write_text("mine")
    refused = command(*words)
    assert (refused.status, "[case-file-differs]" in refused.err) == (2, True), refused.text
    assert (tmp_path / "split.py").read_text() == "mine"
    assert command(*words, "--overwrite").status == 0
    assert "export_" in (tmp_path / "split.py").read_text()
