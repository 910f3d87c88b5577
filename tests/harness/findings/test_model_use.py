"""Which findings concern a model: by operator version and type, in subgraphs and functions too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest

from commands import command
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.model_file import load_nodes
from onnx_conformance.declare.type import Type
from onnx_conformance.findings import findings_file, model_use
from onnx_conformance.findings.finding import FIXED, OPEN, Example, FailingCases, Finding, Findings, History, Identity
from onnx_conformance.specification.model_use import uses

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """
<ir_version: 10, opset_import: ["" : 18, "own" : 1]>
main (float[4] x, bool c, int64[4] n) => (float[N] y, float[2] a, float[2] b, int64[4] m) {
   a, b = Split <axis = 0, num_outputs = 2> (x)
   m = Neg (n)
   y = If (c) <
      then_branch = one () => (float[K] t) { t = Relu (x) },
      else_branch = two () => (float[L] u) { v = own.twice (x) u = Special (v) }
   >
}
<domain: "own", opset_import: ["" : 13]>
twice (x) => (y) { y = Add (x, x) }
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), target)
    return target


def one(
    operator: str = "ai.onnx/Split",
    *,
    backend: str = "mine",
    versions: tuple[int, ...] = (18,),
    types: tuple[str, ...] = (),
    state: str = OPEN,
    apart: str = "",
) -> Finding:
    return Finding(
        "mine-1",
        "a title",
        Identity(backend, operator, Verdict.CRASH, "", apart),
        FailingCases(1, conditions=("axis=0",), clause="A sentence.", versions=versions, types=types),
        Example("", "", {}, {}, {}, ""),
        History("mine", "1", state),
    )


def test_a_model_is_read_with_its_subgraphs_and_functions(path: Path) -> None:
    used = {(use.operator, use.version): use for use in uses(load_nodes(path))}
    assert set(used) == {
        ("ai.onnx/Split", 18), ("ai.onnx/Neg", 13), ("ai.onnx/If", 16), ("ai.onnx/Relu", 14), ("ai.onnx/Add", 13),
        ("ai.onnx/Special", 0),
    }  # fmt: skip
    assert used["ai.onnx/Split", 18].attributes == {"axis", "num_outputs"}
    assert used["ai.onnx/Split", 18].types == {"float"}
    assert used["ai.onnx/Neg", 13].types == {"int64"}
    assert used["ai.onnx/Relu", 14].types >= {"float"}


CALLS = """
<ir_version: 10, opset_import: ["" : 18, "own" : 1]>
main (float[4] x, int64[4] n, float16[4] h) => (float[N] y, int64[M] m, float16[L] k) {
   y = own.outer (x)
   m = own.outer (n)
   k = Cast <to = 10> (y)
}
<domain: "own", opset_import: ["" : 18, "own" : 1]>
outer (x) => (y) { z = own.inner (x) y = Add (z, x) }
<domain: "own", opset_import: ["" : 18]>
inner (x) => (y) { s = Shape (x) y = Reshape (x, s) }
<domain: "own", opset_import: ["" : 18]>
unused (x) => (y) { y = Neg (x) }
"""


def test_a_function_has_the_types_of_its_calls() -> None:
    used = {use.operator.removeprefix("ai.onnx/"): use for use in uses(onnx.parser.parse_model(CALLS))}
    of_float, of_int64 = Type.tensor("float"), Type.tensor("int64")
    assert used["Add"].bound == {"T": {of_float, of_int64}}
    assert used["Add"].nodes == 1, "a node of a function is counted once"
    assert used["Reshape"].bound == {"T": {of_float, of_int64}, "tensor(int64)": {of_int64}}
    assert not used["Reshape"].unknown
    assert used["Cast"].bound == {"T1": {of_float}, "T2": {Type.tensor("float16")}}
    assert (used["Neg"].bound, used["Neg"].unknown) == ({}, {"T"})  # Nothing calls it.
    assert not any(use.contains for use in used.values())


@pytest.mark.parametrize("infer", [True, False])
def test_sequences_and_optionals_are_containers(*, infer: bool) -> None:
    text = (
        '<ir_version: 10, opset_import: ["" : 18]> m (float[4] x) => (float[N] y, float[M] z) '
        "{ s = SequenceConstruct (x) y = ConcatFromSequence <axis = 0> (s) z = Abs (x) }"
    )
    used = uses(onnx.parser.parse_model(text), infer=infer)
    contains = {use.operator.removeprefix("ai.onnx/"): use.contains for use in used}
    assert contains == {"SequenceConstruct": True, "ConcatFromSequence": True, "Abs": False}


@pytest.mark.parametrize(
    ("item", "concerned"),
    [
        (one(), True),
        (one(versions=(13,)), False),
        (one(types=("float16",)), False),
        (one(types=("float16", "float")), True),
        (one(backend="another"), False),
        (one(state=FIXED), False),
        (one(apart="it rests on R4"), False),
        (one("ai.onnx/Relu", versions=(14,)), True),
        (one("ai.onnx/Add", versions=(13,)), True),
        (one("ai.onnx/Mul", versions=(14,)), False),
    ],
)
def test_a_finding_concerns_nodes_of_its_versions_and_types(item: Finding, path: Path, *, concerned: bool) -> None:
    used = uses(load_nodes(path))
    assert bool(model_use.concerns(used, Findings({}, {}, (item,)), "mine")) is concerned


def test_the_command_shows_both(path: Path, tmp_path: Path) -> None:
    runtimes = {"mine": {"runtime": "mine", "version": "1"}, "other": {"runtime": "other", "version": "2"}}
    findings_file.write(tmp_path / "findings", Findings({}, runtimes, (one(),)))
    done = command("check-model", path, "--backend", "mine==1", "--findings", tmp_path / "findings")
    assert done.status == 1, done.text
    for part in (
        "ai.onnx/Split/18",
        "axis, num_outputs",
        "(not of ONNX)",
        "1 finding concerns",
        "a title",
        "A sentence.",
    ):
        assert part in done.out, done.text
    done = command("check-model", path, "--backend", "other", "--findings", tmp_path / "findings")
    assert done.status == 0, done.text
    assert "no finding of other 2 concerns this model" in done.out
    done = command("check-model", path, "--backend", "third", "--findings", tmp_path / "findings")
    assert done.refused("backend-without-findings", "mine, other"), done.text


@pytest.mark.parametrize("content", [b"", b"\xff\xfe no model", None])
def test_what_is_no_model_gets_a_sentence(content: bytes | None, tmp_path: Path) -> None:
    findings_file.write(tmp_path / "findings", Findings({}, {"mine": {}}, ()))
    target = tmp_path / "model.onnx"
    if content is not None:
        target.write_bytes(content)
    done = command("check-model", target, "--backend", "mine", "--findings", tmp_path / "findings")
    assert done.status == 2, done.text
    assert "model.onnx" in done.err, done.text
