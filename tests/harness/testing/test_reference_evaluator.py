# SPDX-License-Identifier: Apache-2.0
"""ReferenceEvaluator: the interface of onnx.reference, with the oracles."""

from __future__ import annotations

import inspect
import subprocess
import sys
import zipfile
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.parser
import onnx.reference
import pytest

from onnx_conformance import ReferenceEvaluator, cases, judge
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.compare import compare
from onnx_conformance.suites.lookup import open_suite
from onnx_conformance.suites.selection import Selection
from onnx_conformance.testing.reference_evaluator import (
    InvalidModelError,
    UnspecifiedElementsWarning,
    UnspecifiedResultError,
)
from refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path

SPLIT = """
<ir_version: 9, opset_import: ["" : 18]>
g (float[5] x) => (float[3] a, float[2] b) { a, b = Split<num_outputs = 2>(x) }
"""
X = np.arange(5, dtype=np.float32)


def model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(text)


def test_it_has_the_interface_of_onnx_reference() -> None:
    theirs, mine = onnx.reference.ReferenceEvaluator(model(SPLIT)), ReferenceEvaluator(model(SPLIT))
    assert mine.input_names == theirs.input_names
    assert mine.output_names == theirs.output_names
    assert mine.opsets == theirs.opsets
    for name in ("run", "input_types", "output_types"):
        assert hasattr(theirs, name) == hasattr(mine, name)
    first = list(inspect.signature(theirs.run).parameters)[:2]
    assert list(inspect.signature(mine.run).parameters)[:2] == first
    for wanted, got in zip(theirs.run(None, {"x": X}), mine.run(None, {"x": X}), strict=True):
        np.testing.assert_array_equal(wanted, got)


def test_a_model_may_be_bytes_a_path_a_graph_a_node_or_a_function(tmp_path: Path) -> None:
    made = model(SPLIT)
    onnx.save(made, tmp_path / "m.onnx")
    halve = onnx.helper.make_function(
        "local", "Halve", ["x"], ["y"],
        [onnx.helper.make_node("Add", ["x", "x"], ["t"]), onnx.helper.make_node("Div", ["x", "t"], ["y"])],
        [onnx.helper.make_opsetid("", 18)],
    )  # fmt: skip
    for proto in (made, made.SerializeToString(), tmp_path / "m.onnx", str(tmp_path / "m.onnx")):
        assert [len(each) for each in ReferenceEvaluator(proto).run(None, {"x": X})] == [3, 2]
    assert [len(each) for each in ReferenceEvaluator(made.graph, {"": 18}).run(None, {"x": X})] == [3, 2]
    node = onnx.helper.make_node("Neg", ["x"], ["y"])
    np.testing.assert_array_equal(ReferenceEvaluator(node).run(None, {"x": X})[0], -X)
    np.testing.assert_array_equal(ReferenceEvaluator(halve).run(None, {"x": X + 1})[0], np.full(5, 0.5, np.float32))
    call = '<ir_version: 9, opset_import: ["" : 18, "local" : 1]> g (float[5] x) => (float[5] y) { y = local.Halve(x) }'
    assert ReferenceEvaluator(model(call), functions=[halve]).run(["y"], {"x": X + 1})[0][0] == 0.5


def test_all_values_of_a_graph() -> None:
    text = '<ir_version: 9, opset_import: ["" : 18]> g (float[5] x) => (float[5] y) { t = Neg(x) y = Abs(t) }'
    values = ReferenceEvaluator(model(text)).run(None, {"x": X}, intermediate=True)
    assert isinstance(values, dict)
    assert sorted(values) == ["t", "x", "y"]
    np.testing.assert_array_equal(values["t"], -X)


def test_versions_have_their_meaning() -> None:
    """Softmax of opset 11 takes the product of the dimensions from the axis on; onnx.reference does not."""
    x = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
    text = (
        '<ir_version: 9, opset_import: ["" : {}]> g (float[1,2,3] x) => (float[1,2,3] y) {{ y = Softmax<axis = 1>(x) }}'
    )
    older, newer = (ReferenceEvaluator(model(text.format(opset))).run(None, {"x": x})[0] for opset in (11, 13))
    assert older.sum() == pytest.approx(1)
    np.testing.assert_allclose(newer.sum(axis=1), np.ones((1, 3)), rtol=1e-6)


def test_an_invalid_model_names_the_sentence() -> None:
    text = SPLIT.replace("num_outputs = 2", "num_outputs = 2, axis = 3")
    with pytest.raises(InvalidModelError) as caught:
        ReferenceEvaluator(model(text)).run(None, {"x": X})
    assert caught.value.sentence == "Accepted range is [-rank, rank-1] where r = rank(input)."
    assert caught.value.sentence in str(caught.value)


def test_a_result_that_the_text_leaves_open() -> None:
    none = SPLIT.replace("num_outputs = 2", "num_outputs = 4")
    with pytest.raises(UnspecifiedResultError):
        ReferenceEvaluator(model(none), unspecified="ignore").run(None, {"x": X})
    some = '<ir_version: 9, opset_import: ["" : 20]> g (float[2] x) => (float[2] y) { y = Gelu(x) }'
    x = np.array([1, -np.inf], np.float32)
    with pytest.raises(UnspecifiedResultError, match="gaussian"):
        ReferenceEvaluator(model(some)).run(None, {"x": x})
    with pytest.warns(UnspecifiedElementsWarning, match="gaussian"):
        ReferenceEvaluator(model(some), unspecified="warn").run(None, {"x": x})
    assert ReferenceEvaluator(model(some), unspecified="ignore").run(None, {"x": x})[0][0] > 0.8


WRONG: list[tuple[str, Any]] = [
    ("graph-input-missing", lambda it: it.run(None, {})),
    ("no-such-graph-input", lambda it: it.run(None, {"x": X, "z": X})),
    ("no-such-graph-output", lambda it: it.run(["c"], {"x": X})),
    ("graph-input-type-differs", lambda it: it.run(None, {"x": X.astype(np.float64)})),
    ("proto-unreadable", lambda _: ReferenceEvaluator(b"nothing")),
    ("proto-unreadable", lambda _: ReferenceEvaluator("no/such/file.onnx")),
    ("not-a-proto", lambda _: ReferenceEvaluator(3)),  # type: ignore[arg-type]
    ("unspecified-invalid", lambda _: ReferenceEvaluator(b"", unspecified="hide")),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("problem", "call"), WRONG)
def test_a_wrong_call_gets_a_sentence(problem: str, call: Any) -> None:
    with refuses(problem):
        call(ReferenceEvaluator(model(SPLIT)))


def test_an_operator_without_a_definition() -> None:
    head = '<ir_version: 9, opset_import: ["" : 18, "com.nobody" : 1]>'
    text = head + " g (float[5] x) => (float[5] y) { y = com.nobody.F(x) }"
    with refuses("operator-undefined", "com.nobody/F"):
        ReferenceEvaluator(model(text)).run(None, {"x": X})


@pytest.mark.slow
def test_it_agrees_with_the_tests_of_onnx() -> None:
    """The differences are known: onnx.reference, which made the values, does not follow the text in them."""
    found: Counter[str] = Counter()
    for number, case in enumerate(cases(suite="official")):
        if number % 25:
            continue
        try:
            answer: Any = ReferenceEvaluator(case.model, unspecified="ignore").run(None, dict(case.inputs))
        except UnspecifiedResultError:
            continue
        except InvalidModelError as error:
            answer = error
        found[str(judge(case, answer).verdict)] += 1
    assert found.total() > 60
    assert found[Verdict.PASS] >= 0.94 * found.total(), found


PAST = "onnx==1.14.1"
"""A past release. Its package contains the node tests of that time."""
AGREED = 0.95
"""The smallest share of its decided tests with the expected results. In all of them it is 0.966: the others draw random
numbers, contradict a sentence, or use a type as it was then."""


@pytest.mark.slow
def test_node_tests_of_a_past_release_agree(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", PAST]
    done = subprocess.run([*words, "--dest", str(tmp_path)], check=False, capture_output=True, timeout=120)
    if done.returncode:
        pytest.skip(f"the package {PAST} cannot be downloaded")
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as package:
        package.extractall(tmp_path, [name for name in package.namelist() if "/test/data/node/" in name])
    found = Counter[str]()
    suite = open_suite(str(tmp_path / "onnx" / "backend" / "test" / "data" / "node"))
    for number, case in enumerate(suite.cases(Selection())):
        if number % 8 or case.expected is None:
            continue
        try:
            outputs = ReferenceEvaluator(case.model).run(None, dict(case.inputs))
        except UnspecifiedResultError:
            continue
        except HarnessError:
            found["refused"] += 1
            continue
        assert isinstance(outputs, list)
        wanted = Allowance("as onnx compares them", rtol=1e-3, atol=1e-7)
        found["differs" if compare(case.expected, tuple(outputs), wanted) else "agrees"] += 1
    assert found["agrees"] > 100
    assert found["agrees"] >= AGREED * found.total(), found
