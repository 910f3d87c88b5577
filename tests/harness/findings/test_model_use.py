# SPDX-License-Identifier: Apache-2.0
"""The verdict of results and findings on each call of a model, also in subgraphs and functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest

from commands import command
from onnx_conformance.analysis import support as supporting
from onnx_conformance.analysis import support_file
from onnx_conformance.analysis.support import Counts, Meaning, Outcome, Standing, Support
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.model_file import load_nodes
from onnx_conformance.cli import check_model
from onnx_conformance.declare.type import Type
from onnx_conformance.findings import findings_file, model_use
from onnx_conformance.findings.finding import FIXED, OPEN, Example, FailingCases, Finding, Findings, History, Identity
from onnx_conformance.results.stream import Run
from onnx_conformance.specification.model_use import calls, uses
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection
from runs import result, run_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from onnx_conformance.findings.model_use import JudgedCalls

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
    kind: Verdict = Verdict.CRASH,
    conditions: tuple[str, ...] = ("axis=0",),
) -> Finding:
    return Finding(
        "mine-1",
        "a title",
        Identity(backend, operator, kind, "", apart),
        FailingCases(1, conditions=conditions, clause="A sentence.", versions=versions, types=types),
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


def test_the_calls_of_a_model_are_its_nodes_with_their_values() -> None:
    text = """
    <ir_version: 10, opset_import: ["" : 18]>
    m (float[2,N] x, bool c, float[1] given) => (float[M] y, float[1] z) <int64[1] axes = {0}, float[1] given = {5}> {
       k = Constant <value = int64[1] {1}> ()
       y = If (c) <
          then_branch = one () => (float[K] t) { t = ReduceSum <keepdims = 0> (x, axes) },
          else_branch = two () => (float[L] u) { u = ReduceSum <keepdims = 0> (x, k) }
       >
       z = Relu (given)
    }"""
    found = {call.node.output[0]: call for call in calls(onnx.parser.parse_model(text))}
    assert set(found) == {"k", "y", "t", "u", "z"}
    scope = found["u"].scope
    assert (found["u"].operator, found["u"].opset) == ("ai.onnx/ReduceSum", 18)
    assert scope.shapes["x"] == (2, None)
    assert scope.types["x"] == Type.tensor("float")
    assert {"axes", "k"} <= set(scope.constants)
    assert "given" not in scope.constants, "the caller may replace a default"
    of_functions = calls(onnx.parser.parse_model(CALLS))
    adds = [call for call in of_functions if call.operator == "ai.onnx/Add"]
    assert [call.scope.types["x"].element for call in adds] == ["float", "int64"], "once for each type of a call"
    assert not any(call.operator.startswith("own/") for call in of_functions)


def judged(
    path: Path, findings: Sequence[Finding] = (), known: Support | None = None, backend: str = "mine"
) -> dict[str, JudgedCalls]:
    every = model_use.judge(calls(load_nodes(path)), known, Findings({}, {}, tuple(findings)), backend)
    return {item.operator.rpartition("/")[2]: item for item in every}


@pytest.mark.parametrize(
    ("item", "standing"),
    [
        (one(), Standing.FAILS),
        (one(versions=(13,)), Standing.UNTESTED),  # Split-13 has another meaning.
        (one(versions=(2,)), Standing.UNTESTED),
        (one(types=("float16",)), Standing.UNTESTED),
        (one(types=("float16", "float")), Standing.FAILS),
        (one(backend="another"), Standing.UNTESTED),
        (one(state=FIXED), Standing.UNTESTED),
        (one(apart="it rests on R4"), Standing.UNTESTED),
        (one(kind=Verdict.UNSUPPORTED), Standing.LACKS),
        (one(kind=Verdict.ACCEPTED_INVALID), Standing.UNTESTED),
        (one(conditions=("axis=1",)), Standing.UNTESTED),
        (one(conditions=("axis=0", "input has NaN")), Standing.UNTESTED),
        (
            one(conditions=("version is 18", "the text allows it")),
            Standing.UNTESTED,
        ),  # Every Split of the opset has these.
        (one(conditions=("version is 18", "axis=0")), Standing.FAILS),
    ],
)
def test_a_finding_concerns_nodes_of_its_versions_types_and_conditions(
    item: Finding, standing: Standing, path: Path
) -> None:
    assert judged(path, [item])["Split"].standing is standing


def test_findings_are_matched_by_meaning(path: Path) -> None:
    twin = one("ai.onnx/Relu", versions=(13,), conditions=("X has NaN",))
    assert [item.meets for item in judged(path, [twin])["Relu"].concerns] == [None]
    assert not judged(path, [one("ai.onnx/Relu", versions=(1,), types=("int8",))])["Relu"].concerns


def relu(**counts: int) -> Support:
    """Return results of Relu-14: without failures, or with ones that no property explains."""
    meaning = Meaning(
        {14: Counts(**counts)}, {"type is ": {"float": Outcome.MIXED}}, unexplained=counts.get("failed", 0)
    )
    return Support("mine", "mine", "1", {}, {"ai.onnx/Relu": {14: meaning}})


def test_results_and_findings_decide_together(path: Path) -> None:
    undecided = one("ai.onnx/Relu", versions=(14,), conditions=("X has NaN",))
    other = one("ai.onnx/Relu", versions=(14,), conditions=("X has a dimension of size 0",))
    passing, failing = relu(passed=5), relu(passed=5, failed=2)
    assert judged(path, known=passing)["Relu"].standing is Standing.PASSES
    assert judged(path, known=failing)["Relu"].standing is Standing.MAY_FAIL
    assert judged(path, [undecided], failing)["Relu"].standing is Standing.MAY_FAIL
    excluded = judged(path, [undecided], passing)["Relu"]
    assert excluded.standing is Standing.PASSES
    assert [item.why for item in excluded.excluded] == [model_use.CALLED_ALIKE]
    explained = judged(path, [other], failing)["Relu"]
    assert explained.standing is Standing.PASSES, "all failing cases are of a finding that does not concern the model"
    assert [item.why for item in explained.excluded] == ["it needs X has a dimension of size 0"]
    assert judged(path, [other, undecided], failing)["Relu"].standing is Standing.MAY_FAIL
    certain = one("ai.onnx/Relu", versions=(14,), conditions=("rank of X = 1",))
    assert judged(path, [certain], passing)["Relu"].standing is Standing.MAY_FAIL
    assert judged(path, [certain])["Relu"].standing is Standing.FAILS


def test_equal_calls_are_one_row_and_the_worst_is_first(path: Path) -> None:
    every = model_use.judge(calls(load_nodes(path)), relu(passed=3), None, "mine")
    assert (every[0].operator, every[0].standing) == ("ai.onnx/Special", Standing.UNKNOWN)
    assert every[-1].standing is Standing.PASSES
    text = '<ir_version: 8, opset_import: ["" : 14]> m (float[2] x) => (float[2] z) { y = Relu (x) z = Relu (y) }'
    (both,) = model_use.judge(calls(onnx.parser.parse_model(text)), relu(passed=3), None, "mine")
    assert (both.nodes, both.types, both.attributes) == (2, ("float",), ())


def test_the_command_shows_findings(path: Path, tmp_path: Path) -> None:
    runtimes = {"mine": {"runtime": "mine", "version": "1"}, "other": {"runtime": "other", "version": "2"}}
    findings_file.write(tmp_path / "findings", Findings({}, runtimes, (one(),)))
    done = command("check-model", path, "--backend", "mine==1", "--findings", tmp_path / "findings")
    assert done.status == 1, done.text
    for part in (
        "mine 1: 6 nodes: 1 fails, 1 unknown operator, 4 untested",
        "fails: ai.onnx/Split/18, 1 node (float; axis=0, num_outputs=2)",
        "a title",
        "the model meets its condition: axis=0",
        "A sentence.",
        "ONNX has no operator ai.onnx/Special in opset 18",
    ):
        assert part in done.out, done.text
    assert "run --core --op Add" in done.text, "without results no node passes, so the command says how to get them"
    assert all(len(text) <= 80 for text in done.out.splitlines() if "/" not in text), done.out
    done = command("check-model", path, "--backend", "third", "--findings", tmp_path / "findings")
    assert done.refused("backend-without-results", "mine, other", "third"), done.text


ONE_RELU = '<ir_version: 8, opset_import: ["" : {opset}]> m (float[2] x) => (float[2] y) {{ y = Relu (x) }}'


def results_of_relu(path: Path, verdict: Verdict, digest: str = "") -> None:
    """Write results of Relu-14 with one verdict."""
    listed = Generated().listed(Selection(ops=("Relu/14",), forms=("plain",)))
    answers = [
        result(item.id.removeprefix("ai.onnx/Relu/14/"), verdict, operator=item.operator, outcome=item.outcome)
        for item in listed
    ]
    run_of(path, *answers, digest=digest or Generated().digest())


def test_the_command_reads_results(tmp_path: Path) -> None:
    new, old = tmp_path / "new.onnx", tmp_path / "old.onnx"
    onnx.save(onnx.parser.parse_model(ONE_RELU.format(opset=14)), new)
    onnx.save(onnx.parser.parse_model(ONE_RELU.format(opset=13)), old)
    results_of_relu(tmp_path / "passing", Verdict.PASS)
    results_of_relu(tmp_path / "lacking", Verdict.UNSUPPORTED)
    done = command("check-model", new, "--backend", "mine", "--results", tmp_path / "passing")
    assert done.status == 0, done.text
    assert "new.onnx on mine 1.0: 1 node: 1 passes" in done.out
    done = command("check-model", old, "--backend", "mine", "--results", tmp_path / "passing")
    assert done.status == 1, done.text
    assert "the results have no suitable case of version 13; version 14, which has the same meaning, runs" in " ".join(
        done.out.split()
    )
    done = command("check-model", new, "--backend", "mine", "--results", tmp_path / "lacking")
    assert done.status == 1, done.text
    assert "lacks: ai.onnx/Relu/14" in done.out


def test_the_published_results_are_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(ONE_RELU.format(opset=14)), path)
    monkeypatch.setattr(check_model, "CHECKOUT", tmp_path)
    done = command("check-model", path, "--backend", "mine")
    assert done.refused("nothing-published", "run --core --op Relu --backend mine", "--results"), done.text
    results_of_relu(tmp_path / "r", Verdict.PASS)
    known = supporting.of_runs([Run(tmp_path / "r")], Generated())
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / support_file.FILE).write_text("".join(support_file.text(known)))
    done = command("check-model", path, "--backend", "mine")
    assert done.status == 0, done.text
    assert "1 passes" in done.out
    findings_file.write(
        tmp_path / "reports" / "findings",
        Findings({}, {"mine": {}}, (one("ai.onnx/Relu", versions=(14,), conditions=("rank of X = 1",)),)),
    )
    done = command("check-model", path, "--backend", "mine")
    assert done.status == 1, done.text
    assert "1 may fail" in done.out
    monkeypatch.setattr(check_model, "CHECKOUT", None)
    assert command("check-model", path, "--backend", "mine").refused("nothing-published"), "an installed package"


def test_other_results_get_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(ONE_RELU.format(opset=14)), path)
    results_of_relu(tmp_path / "r", Verdict.PASS, digest="0123")
    done = command("check-model", path, "--backend", "mine", "--results", tmp_path / "r")
    assert done.refused("results-of-another-suite", tmp_path / "r", "generated 0123", "run again"), done.text
    results_of_relu(tmp_path / "s", Verdict.PASS)
    done = command("check-model", path, "--backend", "other", "--results", tmp_path / "s")
    assert done.refused("backend-without-results", tmp_path / "s", "'other'", "mine"), done.text
    done = command("check-model", path, "--backend", "mine==2", "--results", tmp_path / "s")
    assert done.refused("backend-without-results", "mine 1.0"), done.text
    done = command("check-model", path, "--backend", "mine", "--results", tmp_path / "none")
    assert done.refused("results-not-readable"), done.text
    done = command("check-model", path, "--backend", "mine", "--results", tmp_path / "none.json")
    assert done.refused("support-not-readable"), done.text


@pytest.mark.parametrize("content", [b"", b"\xff\xfe no model", None])
def test_what_is_no_model_gets_a_sentence(content: bytes | None, tmp_path: Path) -> None:
    findings_file.write(tmp_path / "findings", Findings({}, {"mine": {}}, ()))
    target = tmp_path / "model.onnx"
    if content is not None:
        target.write_bytes(content)
    done = command("check-model", target, "--backend", "mine", "--findings", tmp_path / "findings")
    assert done.status == 2, done.text
    assert "model.onnx" in done.err, done.text
