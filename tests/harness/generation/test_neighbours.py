# SPDX-License-Identifier: Apache-2.0
"""Cases beside another node: the oracle gives for each what is expected, and each form occurs."""

from __future__ import annotations

from collections import Counter
from importlib import metadata
from typing import TYPE_CHECKING

import onnx
import onnx.printer
import onnx.shape_inference
import pytest

from commands import command
from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.case.compare import compare
from onnx_conformance.forms import table
from onnx_conformance.generation.neighbours import neighbours
from onnx_conformance.specification.evaluator import Evaluator
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import find_case
from onnx_conformance.suites.selection import Selection
from onnx_conformance.suites.transforms import Transforms

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.case.case import Case

pytestmark = pytest.mark.slow

OPERATORS = (
    "Split/18", "Abs/13", "Gemm/13", "Softmax/13", "ReduceSum/13", "Cast/13", "Concat/13", "Reshape/14", "Not/1",
)  # fmt: skip


@pytest.fixture(scope="module")
def made() -> list[tuple[str, onnx.ModelProto, Case]]:
    """Return every case of some operators beside another node, with its model and the values that the oracle gives."""
    return [
        (item.id, onnx.load_from_string(item.model), item)
        for case in Generated().cases(Selection(ops=OPERATORS, core=True, forms=("plain",)))
        for item in neighbours(case)
    ]


def test_the_oracle_gives_what_is_expected(made: list[tuple[str, onnx.ModelProto, Case]]) -> None:
    for name, model, case in made:
        onnx.checker.check_model(model)
        answers = Evaluator().model(model, case.inputs)
        mismatch = compare(case.expected, tuple(answers[output] for output in case.outputs), case.allowance)
        assert mismatch is None, f"{name}: {mismatch}"


def test_every_form_occurs(made: list[tuple[str, onnx.ModelProto, Case]]) -> None:
    counts = Counter(name.partition("@")[2] for name, _, _ in made)
    assert set(counts) == set(table.names(table.Start.CASE)) - {PLAIN}
    assert min(counts.values()) > 5, counts


def test_one_node_is_beside_the_case(made: list[tuple[str, onnx.ModelProto, Case]]) -> None:
    alone = {case.id: case for case in Generated().cases(Selection(ops=OPERATORS, core=True, forms=("plain",)))}
    for name, model, case in made:
        stem, _, form = name.partition("@")
        first = alone[stem]
        nodes = len(onnx.load_from_string(first.model).graph.node)
        assert len(model.graph.node) == nodes + (form != "folded"), name
        assert (not case.inputs) is (form == "folded"), name
        assert case.outputs == first.outputs
        assert case.clauses == first.clauses


def test_nothing_is_made_of_what_the_text_forbids() -> None:
    cases = [
        case
        for case in Generated().cases(Selection(ops=("Split/18",), core=True))
        if case.outcome is not Outcome.VALUES
    ]
    assert cases
    assert not [item for case in cases for item in neighbours(case)]


def test_the_suite_reads_what_it_made_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path))
    selection = Selection(ops=("Abs/13",))
    first = [(case.id, case.digests()) for case in Transforms().cases(selection)]
    monkeypatch.setattr("onnx_conformance.suites.transforms.neighbours", None)
    again = [(case.id, case.digests()) for case in Transforms().cases(selection)]
    assert again == first
    assert first


def test_a_search_for_one_case_keeps_all_of_its_operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path))
    one = find_case("ai.onnx/Abs/13/rank1@folded", (Transforms(),))
    monkeypatch.setattr("onnx_conformance.suites.transforms.neighbours", None)
    every = {case.id: case.digests() for case in Transforms().cases(Selection(ops=("Abs/13",)))}
    assert every[one.id] == one.digests()


def test_it_runs_on_runtimes_and_tools(tmp_path: Path) -> None:
    words = ["--suite", "transforms", "--op", "Abs/13", "--op", "Split/18", "--form", "be*", "--form", "folded"]
    done = command(
        "run", *words, "--backend", "onnxruntime", "--backend", "onnx_version_converter", "--results", f"{tmp_path}/r"
    )
    assert done.status in {0, 1}, done.text
    assert f"onnxruntime {metadata.version('onnxruntime')}," in done.out
    assert "adapter_error" not in done.out
    done = command(
        "repro", "ai.onnx/Split/18/uneven_columns@before_transpose", "--suite", "transforms", "--backend", "onnxruntime"
    )
    assert "Transpose" in done.out, done.text


def test_an_optional_that_holds_a_tensor_is_no_tensor() -> None:
    names = ("Optional", "OptionalGetElement", "OptionalHasElement", "Identity")
    selection = Selection(ops=names, core=True, forms=("plain",))
    cases = [case for case in Generated().cases(selection) if "optional(" in onnx.printer.to_text(_model(case))]
    assert {case.operator.rpartition("/")[0] for case in cases} == {f"ai.onnx/{name}" for name in names}
    for item in (item for case in cases for item in neighbours(case)):
        onnx.shape_inference.infer_shapes(_model(item), check_type=True, strict_mode=True)


def _model(case: Case) -> onnx.ModelProto:
    return onnx.load_from_string(case.model)
