# SPDX-License-Identifier: Apache-2.0
"""Whole models cut down: nodes go first, the oracle says what is expected, no tolerance is tighter than is right."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import faulty
import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import pytest

from composed import HEAD, W, X, case_of
from onnx_conformance.base.target import Target
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.case.compare import compare
from onnx_conformance.minimize import declared, models, moves
from onnx_conformance.minimize import reducer as minimize
from onnx_conformance.minimize.model_candidate import ModelCandidate
from onnx_conformance.minimize.reducer import Minimized, MinimizeError
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.replies import Answered, Died, Refused, Reply
from onnx_conformance.suites.lookup import plan_if_declarable
from onnx_conformance.tolerance import whole_model as model_allowance
from onnx_conformance.tolerance.several_nodes import SEVERAL
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self


def cut(case: Case, fault: Callable[[faulty.Request], list[Any]], monkeypatch: pytest.MonkeyPatch) -> Minimized:
    class InProcess:
        """A asker without a process."""

        hello: dict[str, Any] = {"runtime": "faulty", "version": "1"}  # noqa: RUF012 - never changed

        def __init__(self, target: Target, _limits: Limits) -> None:
            self.target, self.process = target, self

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def ask(self, asked: Case) -> Reply:
            try:
                outputs = fault(faulty.Request(asked.model, dict(asked.inputs), asked.outputs))
            except faulty.CrashError:
                return Died("SIGSEGV", -11, "")
            except Exception as error:  # noqa: BLE001 - as serve.py does
                return Refused(type(error).__name__, str(error), None, None)
            return Answered(tuple(outputs), None)

    monkeypatch.setattr(minimize, "Asker", InProcess)
    return minimize.minimize(case, plan_if_declarable(case), Target("faulty", ()), Limits(), 500)


def operators(case: Case) -> list[str]:
    return [node.op_type for node in onnx.load_from_string(case.model).graph.node]


def meets(request: faulty.Request) -> list[Any]:
    """Is off where one Neg takes what another gives."""
    made = {name: node.op_type for node in faulty._nodes(request.model) for name in node.output}
    pairs = [
        node for node in faulty._nodes(request.model) if node.op_type == "Neg" and made.get(node.input[0]) == "Neg"
    ]
    return faulty.off(request.answers, 3.0) if pairs else request.answers


def holding(name: str) -> Callable[[faulty.Request], list[Any]]:
    def fault(request: faulty.Request) -> list[Any]:
        there = any(node.op_type == name for node in request.model.graph.node)
        return faulty.off(request.answers, 3.0) if there else request.answers

    return fault


COMPOSED = """
agraph (float[2,3] x) => (float[2,2] y, float[2,3] z)
<float[3,2] w = {-1, 0, 1, 2, 3, 4}, float[1] unused = {0}, float[2,3] c> {
   a = Relu(x)
   b = Neg(a)
   c = Neg(b)
   d = Transpose <perm = [1, 0]> (c)
   e = Transpose <perm = [1, 0]> (d)
   y = MatMul(e, w)
   z = Identity(a)
}
"""


def test_two_nodes_that_meet_are_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    minimized = cut(case_of(COMPOSED, {"x": X}), meets, monkeypatch)
    small = minimized.case
    assert operators(small) == ["Neg", "Neg"]
    (value,) = small.inputs.values()
    assert np.asarray(value).tolist() in ([0.0], 0.0)
    graph = onnx.load_from_string(small.model).graph
    assert not graph.initializer
    assert not graph.value_info
    assert [len(graph.input), len(graph.output)] == [1, 1]
    assert minimized.result.verdict is Verdict.WRONG_VALUE
    assert (small.operator, small.id) == ("ai.onnx/Neg/13", "ai.onnx/Neg/13/folder/composed_minimized")
    assert small.allowance == Allowance(model_allowance.EXACT, signed_zero=small.allowance.signed_zero)
    assert minimized.before.counts["nodes"] == 7
    assert minimized.after.counts["nodes"] == 2


@pytest.mark.slow
def test_what_an_initializer_is_needed_for_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def folds(request: faulty.Request) -> list[Any]:
        graph = request.model.graph
        constants = {item.name for item in graph.initializer}
        folded = any(node.op_type == "MatMul" and constants.issuperset(node.input) for node in graph.node)
        return faulty.off(request.answers, 3.0) if folded else request.answers

    text = """
    agraph (float[2,2] x) => (float[2,2] y)
    <float[2,3] v = {1, 2, 3, 4, 5, 6}, float[3,2] w = {-1, 0, 1, 2, 3, 4}> { p = MatMul(v, w)  y = Add(p, x) }
    """
    small = cut(case_of(text, {"x": W[:2]}), folds, monkeypatch).case
    graph = onnx.load_from_string(small.model).graph
    assert operators(small) == ["MatMul"]
    assert (len(graph.initializer), len(graph.input)) == (2, 0)
    assert sum(np.prod(item.dims) for item in graph.initializer) == 2


BRANCHES = """
agraph (bool c, float[2,3] x) => (float[2,3] y) {
   a = Abs(x)
   b = If (c) <
      then_branch = then_graph () => (float[2,3] t) { s = Neg(a)  t = Neg(s) },
      else_branch = else_graph () => (float[2,3] e) { e = Exp(a) }
   >
   y = Identity(b)
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "left"), [("If", ["If"]), ("Exp", ["Exp"]), ("Neg", ["Neg"])])
def test_a_branch_takes_the_place_of_an_if(name: str, left: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def anywhere(request: faulty.Request) -> list[Any]:
        there = {node.op_type for node in faulty._nodes(request.model)}
        return faulty.off(request.answers, 3.0) if name in there else request.answers

    case = case_of(BRANCHES, {"c": np.array(name != "Exp"), "x": X})
    small = cut(case, anywhere, monkeypatch).case
    assert operators(small) == left, small.model


def test_a_function_is_inlined(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
    agraph (float[2,3] x) => (float[2,3] y) { a = own.twice(x)  y = own.twice(a) }
    <domain: "own", opset_import: ["" : 18]> twice (v) => (r) { s = Neg(v)  r = Neg(s) }
    """
    minimized = cut(case_of(text, {"x": X}), meets, monkeypatch)
    assert operators(minimized.case) == ["Neg", "Neg"], minimized.applied
    model = onnx.load_from_string(minimized.case.model)
    assert not model.functions
    assert [item.domain for item in model.opset_import] == [""]


@pytest.mark.slow
def test_axes_shrink_together_and_types_become_familiar(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
    agraph (float16[4,5] x) => (float16[20] y) <int64[1] s = {20}> { a = Neg(x)  b = Neg(a)  y = Reshape(b, s) }
    """

    def both(request: faulty.Request) -> list[Any]:
        there = {node.op_type for node in request.model.graph.node}
        return meets(request) if "Reshape" in there else request.answers

    small = cut(case_of(text, {"x": np.ones((4, 5), np.float16)}), both, monkeypatch).case
    value = np.asarray(small.inputs["x"])
    assert (value.size, value.dtype) == (1, np.float32)
    assert operators(small) == ["Neg", "Neg", "Reshape"]


def test_a_case_that_is_declared_otherwise_is_cut_down_as_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """One node of a declared operator, but the fault is in its initializer, of which a declaration says nothing."""
    text = "agraph () => (float[2,3] y) <float[2,3] x = {1, 2, 3, 4, 5, 6}> { y = Neg(x) }"

    def initializers(request: faulty.Request) -> list[Any]:
        return faulty.off(request.answers) if request.model.graph.initializer else request.answers

    minimized = cut(case_of(text, {}), initializers, monkeypatch)
    (tensor,) = onnx.load_from_string(minimized.case.model).graph.initializer
    assert np.prod(tensor.dims) == 1


# What is no candidate


def test_what_the_text_forbids_is_no_candidate() -> None:
    case = case_of(COMPOSED, {"x": X})
    kind = models.Models(case)
    candidate = kind.first.candidate
    assert kind.built(candidate) is not None
    assert kind.built(candidate.with_values({("input", "x"): X[:, :2]})) is None, "MatMul forbids these sizes"
    assert kind.built(candidate.with_values({("input", "x"): X[:0]})) is None, "nothing becomes empty"


@pytest.mark.slow
def test_an_oracle_without_end_is_no_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = models.Models(
        case_of(
            "agraph (int64 n) => (int64[m] y) <int64 a = {0}, int64 b = {1}> { y = Range(a, n, b) }", {"n": np.array(3)}
        )
    )
    monkeypatch.setattr(models, "SECONDS", 0.5)
    assert kind.built(kind.first.candidate.with_values({("input", "n"): np.array(1 << 40)})) is None


def test_a_case_without_values_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    case = dataclasses.replace(case_of(COMPOSED, {"x": X}), outcome=Outcome.REJECTS, expected=None)
    with refuses("no-expected-values", kind=MinimizeError):
        cut(case, faulty.takes_all, monkeypatch)
    with refuses("oracle-without-values", kind=declared.NotWrittenError):
        models.Models(dataclasses.replace(case_of(COMPOSED, {"x": X}), inputs={}))


def test_where_the_oracle_disagrees_nothing_is_cut_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """The case expects what no text says, and the runtime is right."""
    case = case_of(COMPOSED, {"x": X})
    assert case.expected is not None
    wrong = dataclasses.replace(case, expected=(np.asarray(case.expected[0]) + 1, case.expected[1]))
    with refuses("right-by-the-oracle", kind=MinimizeError):
        cut(wrong, lambda request: request.answers, monkeypatch)

    def other_shape(request: faulty.Request) -> list[Any]:
        return [value[:1] for value in request.answers]

    wrong_type = (np.asarray(case.expected[0]).astype(np.float64), case.expected[1])
    with refuses("another-failure-declared", kind=MinimizeError):
        cut(dataclasses.replace(case, expected=wrong_type), other_shape, monkeypatch)


@pytest.mark.parametrize("type_", [np.float16, np.float32, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, np.uint64])
def test_the_greatest_number_of_a_type_has_simpler_ones(type_: Any) -> None:
    greatest = np.iinfo(type_).max if type_ is np.uint64 else ml_dtypes.finfo(type_).max
    model = onnx.parser.parse_model(f"{HEAD} agraph (float[1] x) => (float[1] y) {{ y = Neg(x) }}")
    candidate = ModelCandidate(model, {"x": np.array([greatest], type_)})
    made = [np.asarray(move.candidate.inputs["x"]) for move in moves.simpler(candidate)]
    assert {array.dtype for array in made} == {np.dtype(type_)}
    assert any(2 < array[0] < greatest for array in made)


# Tolerances


def allowed(text: str, inputs: Mapping[str, Any]) -> Allowance | None:
    candidate = ModelCandidate(onnx.parser.parse_model(HEAD + text), inputs)
    return model_allowance.of_model(candidate.model, inputs, candidate.evaluated.noted)


def test_one_operator_that_may_err_has_its_own_tolerance() -> None:
    allowance = allowed("agraph (float[2,3] x) => (float[2,3] y) { a = Neg(x)  y = Exp(a) }", {"x": X})
    assert allowance is not None
    assert allowance.ulp or allowance.bounds is not None
    assert allowance.reason != SEVERAL


def test_several_that_may_err_may_err_together() -> None:
    text = "agraph (float[2,3] x) => (float[2,3] y) { a = Exp(x)  b = Log(a)  y = Exp(b) }"
    allowance = allowed(text, {"x": X})
    assert allowance is not None
    assert allowance.bounds is not None
    exact = np.exp(X.astype(np.float64)).astype(np.float32)
    careful = np.exp(np.log(np.exp(X)))
    assert compare((exact,), (careful,), allowance) is None
    assert compare((exact,), (exact * np.float32(1.001),), allowance) is not None


def test_a_decision_by_a_value_that_may_err_has_no_tolerance() -> None:
    """Whether 2 is at least what Exp and Log make of 2, nobody knows."""
    text = "agraph (float[2,3] x) => (bool[2,3] y) { a = Exp(x)  b = Log(a)  y = GreaterOrEqual(b, x) }"
    assert allowed(text, {"x": X}) is None


def test_a_value_drawn_at_random_has_no_tolerance() -> None:
    text = "agraph (float[2,3] x) => (float[2,3] y) { y = RandomNormalLike <seed = 1.0> (x) }"
    assert allowed(text, {"x": X}) is None


def test_the_first_tolerance_stays_where_the_values_do() -> None:
    case = case_of(COMPOSED, {"x": X})
    kind = models.Models(case)
    candidate = kind.first.candidate
    alone = next(move for move in kind.passes[0](candidate) if move.description == "without the outputs except y")
    built = kind.built(alone.candidate)
    assert built is not None
    assert built.case.allowance == case.allowance
    other = kind.built(candidate.with_values({("input", "x"): X + 1}))
    assert other is not None
    assert other.case.allowance != case.allowance


def test_a_crash_keeps_its_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(request: faulty.Request) -> list[Any]:
        if any(node.op_type == "Transpose" for node in request.model.graph.node):
            raise faulty.CrashError
        return request.answers

    minimized = cut(case_of(COMPOSED, {"x": X}), dies, monkeypatch)
    assert (operators(minimized.case), minimized.result.verdict) == (["Transpose"], Verdict.CRASH)


@pytest.mark.slow
def test_the_verdict_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused with a MatMul, wrong with a Transpose alone: the refusal is what is cut down."""

    def two(request: faulty.Request) -> list[Any]:
        if "MatMul" in {node.op_type for node in request.model.graph.node}:
            raise TypeError("no MatMul here")
        return holding("Transpose")(request)

    minimized = cut(case_of(COMPOSED, {"x": X}), two, monkeypatch)
    assert (operators(minimized.case), minimized.result.verdict) == (["MatMul"], Verdict.REFUSED)
