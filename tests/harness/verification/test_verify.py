# SPDX-License-Identifier: Apache-2.0
"""`verify` against runtimes that are right but for one node, one fusion, or one crash."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import fastjsonschema
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from commands import command
from large_model import build
from onnx_conformance.base import schemas
from onnx_conformance.report import verification
from onnx_conformance.report.html import verification_page
from onnx_conformance.specification.signature import TypedValue
from onnx_conformance.verification import oracle_run
from onnx_conformance.verification.inputs import Drawing
from onnx_conformance.verification.user_model import UserModel
from onnx_conformance.verification.verified import Judgement, OfBackend
from onnx_conformance.verification.verify import verify
from refusals import refuses

DAMAGED = str(Path(__file__).parents[2] / "adapters" / "damaged.py")
WRONG_PASSES = str(Path(__file__).parents[2] / "adapters" / "wrong_passes.py")
SCHEMA = schemas.read("verification")
LARGE = build()
OPERATORS = {node.op_type: node.name for node in LARGE.graph.node}
"""A node of each operator: its last one."""


def of(model: onnx.ModelProto, option: str = "", **more: object) -> OfBackend:
    backend = f"{DAMAGED}[{option}]" if option else DAMAGED
    more = {"reduce": False, **more}
    (done,) = verify(model, backend, **more).backends  # type: ignore[arg-type]
    return done


def small(text: str, **constants: object) -> onnx.ModelProto:
    """Return a model from ONNX's text syntax, with initializers."""
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> {text}')
    for name, value in constants.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    return model


def test_a_right_runtime_has_no_fault_in_a_model_of_sixty_nodes() -> None:
    done = of(LARGE)
    assert len(done.nodes) == 60
    assert done.ok, [item for item in done.nodes if item.judgement is not Judgement.RIGHT]
    assert done.outputs is not None
    assert done.outputs.judgement is Judgement.RIGHT


@pytest.mark.slow
@pytest.mark.parametrize("operator", [*sorted(OPERATORS)[::8], "Cast"])
def test_a_damaged_node_is_named_and_no_other(operator: str) -> None:
    """Each later node gets wrong inputs, but computes right results for them."""
    done = of(LARGE, f"node={OPERATORS[operator]}", end_to_end=0)
    assert [item.step.label for item in done.faults] == [OPERATORS[operator]]
    assert not done.ok


def test_a_fault_is_reduced_to_its_smallest_case() -> None:
    model = small("g (float[n,8] x) => (float[n,8] z) { [first] y = Relu(x)  [second] z = Neg(y) }")
    done = of(model, "node=second", reduce=True)
    assert [item.step.label for item in done.faults] == ["second"]
    assert done.smallest is not None
    case, result, _ = done.smallest
    assert result.verdict.failed
    assert sum(np.size(value) for value in case.inputs.values()) == 1


def test_a_wrong_fusion_is_found_by_cutting_the_graph_and_its_level_is_named() -> None:
    done = of(build(24), "fuse=Sub_17+Div_18")
    assert not done.faults, "with more outputs, nothing is fused"
    assert done.outputs is not None
    assert done.outputs.judgement is Judgement.WRONG
    assert done.outputs.changed
    assert done.fusion is not None
    assert [step.label for step in done.fusion.steps] == ["Sub_17", "Div_18"]
    assert done.fusion.levels == {"none": True, "all": False}
    assert not done.ok


def test_a_node_that_a_runtime_does_not_support_violates_no_sentence() -> None:
    done = verify(build(24), [f"{DAMAGED}[lacks=Div_18]", f"{DAMAGED}[node=Div_18]"], reduce=False)
    lacking, wrong = (item.first for item in done.backends)
    assert lacking is not None
    assert wrong is not None
    assert (lacking.step.label, lacking.judgement, lacking.sentence) == ("Div_18", Judgement.FAILED, "")
    assert wrong.sentence
    assert "node 18 Div_18 (ai.onnx/Div/14) is not supported" in "\n".join(verification.lines(done))


@pytest.mark.slow
def test_the_node_at_which_a_runtime_crashes_is_named_and_those_before_it_are_judged() -> None:
    done = of(build(24), "crash=Div_18,node=Elu_16")
    assert "exited with status 3" in done.problem
    assert [(item.step.label, item.judgement) for item in done.nodes if item.judgement is not Judgement.RIGHT] == [
        ("Elu_16", Judgement.WRONG),
        ("Div_18", Judgement.UNKNOWN),
    ]
    alone = of(build(20), "crash=Div_18")
    assert [(item.step.label, item.judgement) for item in alone.faults] == [("Div_18", Judgement.FAILED)]


def test_a_model_that_runs_only_with_fixed_shapes_is_no_success() -> None:
    """The node alone, with the shapes of its values, runs. So the node is not accused, but the model does not run."""
    model = small("g (float[n] x) => (float[n] z) { [one] y = Neg(x)  [two] z = Abs(y) }")
    (done,) = verify(model, str(Path(DAMAGED).with_name("static.py"))).backends
    assert not done.ok
    assert "needs fixed shapes" in done.problem
    assert not done.faults
    assert any("unknown size" in item.message for item in done.of(Judgement.UNKNOWN))
    (fixed,) = verify(
        small("g (float[2] x) => (float[2] z) { z = Neg(x) }"), str(Path(DAMAGED).with_name("static.py"))
    ).backends
    assert fixed.ok


def test_a_node_without_an_oracle_is_not_judged_but_those_behind_it_are() -> None:
    model = small("g (float[4] x) => (float[4] z) { [one] y = com.example.Scale(x)  [two] z = Neg(y) }")
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    done = verify(model, DAMAGED)
    assert any("com.example/Scale" in note for note in done.notes)
    (backend,) = done.backends
    assert [item.judgement for item in backend.nodes] == [Judgement.FAILED], (
        "the oracle as a runtime has no such operator"
    )


def test_nodes_of_16_bits_may_be_computed_in_a_wider_type() -> None:
    """A runtime without such kernels rounds only the values that somebody asks for."""
    model = small("g (float16[64] x, float16[64] w) => (float16[64] z) { [one] y = Mul(x, w)  [two] z = Add(y, x) }")
    x, w = (np.linspace(low, 1.7, 64).astype(np.float16) for low in (0.3, 0.9))
    inputs = {"x": x, "w": w}
    wide = (x.astype(np.float32) * w.astype(np.float32) + x.astype(np.float32)).astype(np.float16)
    assert (wide != (x * w + x)).any()
    folder = Path(__file__).parents[2] / "adapters"
    (done,) = verify(model, str(folder / "wide.py"), inputs, reduce=False).backends
    assert done.ok, done.faults
    assert any("wider type" in item.message for item in done.nodes)


def test_few_units_in_the_last_place_are_no_fault_but_a_wrong_integer_is() -> None:
    """The sign of a zero is none either. A difference of one integer would also be one unit."""
    model = small("g (float[2] x) => (float[2] z, int64[2] k) { [one] z = Neg(x)  [two] k = Cast<to=7>(x) }")
    inputs = {"x": np.array([0, 3], np.float32)}
    folder = Path(__file__).parents[2] / "adapters"
    (done,) = verify(model, str(folder / "careless.py"), inputs, reduce=False).backends
    assert [item.judgement for item in done.nodes] == [Judgement.ROUNDING, Judgement.WRONG]


def test_a_node_that_is_fused_may_be_as_far_off_as_all_its_nodes_together() -> None:
    text = "g (float[n] x, float[n] w) => (float[n] z) {{ [first] y = {operator}(x) [second] z = Mul(y, w) }}"
    done = of(small(text.format(operator="Erf")), "fuses=second")
    assert done.ok
    first, second = done.nodes
    assert (first.judgement, first.message) == (Judgement.RIGHT, "")
    assert second.message == "right if it is computed at once with 0 Erf; alone, it is right"
    exact = of(small(text.format(operator="Neg")), "fuses=second")
    assert [item.step.label for item in exact.faults] == ["second"], "Neg has no error that could add to that of Mul"
    assert exact.faults[0].message.endswith("; alone, it is right")
    alone = of(small(text.format(operator="Erf")), "inexact=second")
    assert [item.step.label for item in alone.faults] == ["second"], "it is wrong alone, so nothing excuses it"
    both = of(small(text.format(operator="Erf")), "node=first,fuses=second")
    assert [item.judgement for item in both.nodes] == [Judgement.WRONG, Judgement.UNKNOWN]
    assert both.nodes[1].message.endswith("is at fault: 0 Erf")


def test_numbers_beyond_a_type_print_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def overflows(*_: object) -> OfBackend:
        return OfBackend(str(np.multiply(np.float32(1e38), np.float32(1e38))))

    monkeypatch.setattr("onnx_conformance.verification.verify.verify_backend", overflows)
    done = verify(small("g (float[n] x) => (float[n] y) { y = Neg(x) }"), DAMAGED, reduce=False)
    assert done.backends[0].backend == "inf", "pytest turns a warning into an error"


def test_wrong_values_without_an_effect_are_no_fault() -> None:
    largest = "[end] end = Constant <value_ints: ints = [9223372036854775807]> ()"
    text = f"g (float[n] x) => (float[m] y) {{ {largest} y = Slice(x, begin, end) }}"
    done = of(small(text, begin=np.array([0], np.int64)), "cuts=end")
    assert done.ok
    assert [item.judgement for item in done.nodes] == [Judgement.HARMLESS, Judgement.RIGHT]
    assert "wrong without an effect" in "\n".join(
        verification.lines(verify(small(text, begin=np.array([0], np.int64)), f"{DAMAGED}[cuts=end]"))
    )
    text = f"g (float[n] x) => (float[n] y, int64[m] t) {{ {largest} t = Neg(end) y = Neg(x) }}"
    (fault,) = of(small(text), "cuts=end").faults
    assert fault.step.label == "end", "its effect is seen in t"
    text = f"g (float[n] x) => (float[n] y, int64[m] end) {{ {largest} y = Neg(x) }}"
    assert of(small(text), "cuts=end").faults, "end is an output of the model"
    text = "g (float[n] x) => (float[m] z) { [cut] y = Neg(x) z = Slice(y, begin, end) }"
    model = small(text, begin=np.array([0], np.int64), end=np.array([1], np.int64))
    done = verify(model, f"{DAMAGED}[node=cut]", {"x": np.ones(2, np.float32)}, reduce=False)
    assert done.backends[0].faults, "other inputs may show it"


def test_a_zero_for_a_number_below_the_smallest_normal_one_is_rounding() -> None:
    text = "g (float[2] x) => (float[2] z) { [first] y = Mul(x, w) z = Add(y, x) }"
    for w, judgement in ((1e-39, Judgement.ROUNDING), (1e-37, Judgement.RIGHT)):
        done = verify(small(text, w=np.float32(w)), f"{DAMAGED}[flushes=first]", {"x": np.ones(2, np.float32)})
        assert [item.judgement for item in done.backends[0].nodes] == [judgement, Judgement.RIGHT]


@pytest.mark.parametrize(("x", "judgement"), [(2.5, Judgement.ROUNDING), (2.4, Judgement.WRONG)])
def test_an_integer_near_a_tie_is_rounding(x: float, judgement: Judgement) -> None:
    model = small("g (float[n] x) => (uint8[n] y) { [q] y = QuantizeLinear(x, s) }", s=np.float32(1))
    done = verify(model, f"{DAMAGED}[node=q]", {"x": np.array([7, x], np.float32)}, reduce=False)
    assert [item.judgement for item in done.backends[0].nodes] == [judgement]


def test_integers_of_another_shape_are_no_rounding() -> None:
    for shape in ("2,2", "0,2"):
        done = of(small(f"g (int64[{shape}] x) => (int64[a,b] y) {{ [shaped] y = Neg(x) }}"), "flattens=shaped")
        assert [item.judgement for item in done.nodes] == [Judgement.WRONG], shape


def test_a_call_that_the_text_forbids_is_no_fault_of_a_runtime_that_refuses_it() -> None:
    model = small("g (float[2,3] x) => (float[n] z) { [one] y = Neg(x)  [two] z = Reshape(y, shape) }", shape=[4])
    (done,) = verify(model, DAMAGED).backends
    assert done.problem
    assert done.excused
    assert done.ok
    assert [item.judgement for item in done.nodes] == [Judgement.RIGHT, Judgement.FORBIDDEN]


@pytest.mark.parametrize(
    ("name", "type_", "low", "high"),
    [("attention_mask", "int64", 1, 1), ("input_ids", "int64", 0, 4), ("token_type_ids", "int64", 0, 0),
     ("sr", "int64", 16000, 16000), ("pixel_values", "float", 0, 1)],
)  # fmt: skip
def test_drawn_inputs_fit_their_names(name: str, type_: str, low: float, high: float) -> None:
    model = small(f"g ({type_}[1,6] {name}) => ({type_}[1,6] y) {{ y = Identity({name}) }}")
    if name == "input_ids":
        model = small(
            "g (int64[1,6] input_ids) => (float[1,6,3] y) { y = Gather(table, input_ids) }",
            table=np.ones((5, 3), np.float32),
        )
    subject = UserModel(model, "m")
    found = Drawing(subject, {}, {}, 0).drawn(lambda _: (1, 1))
    value = np.asarray(found.values[name].value)
    assert low <= value.min() <= value.max() <= high, value
    assert found.notes[0].startswith(f"input {name}: tensor({type_}) [1, 6], drawn: ")


def test_a_size_is_found_with_which_the_text_allows_the_model() -> None:
    model = small("g (float[batch,length] x) => (float[batch,k] y) { y = Add(x, b) }", b=np.ones((1, 16), np.float32))
    done = verify(model, DAMAGED)
    assert done.inputs.sizes == {"batch": 1, "length": 1}
    model = small("g (float[batch,length] x) => (float[a,b] y) { y = MatMul(x, w) }", w=np.ones((16, 2), np.float32))
    assert verify(model, DAMAGED).inputs.sizes == {"batch": 1, "length": 16}
    assert verify(model, DAMAGED, shape={"batch": 3}).inputs.sizes == {"batch": 3, "length": 16}


def test_an_empty_list_of_integers_is_no_reason_for_other_sizes_but_an_empty_tensor_is() -> None:
    begin, end = np.array([1], np.int64), np.array([9], np.int64)
    text = "g (float[n,k] x) => (float[n,k] y) { s = Shape(x) none = Slice(s, begin, begin) y = Expand(x, none) }"
    subject = UserModel(small(text, begin=begin), "lists")
    assert not oracle_run.run(subject, {"x": TypedValue(np.ones((1, 1), np.float32), "tensor(float)")}).empty
    text = "g (float[batch,length] x) => (float[a,b] y) { y = Slice(x, begin, end, begin) }"
    assert verify(small(text, begin=begin, end=end), DAMAGED).inputs.sizes == {"batch": 1, "length": 2}


def test_the_search_for_sizes_ends_if_more_nodes_do_not_help() -> None:
    subject = UserModel(small("g (float[n,k,l] x) => (float[n,k,l] y) { y = Neg(x) }"), "m")
    tries = []

    def works(values: object) -> tuple[float, int]:
        tries.append(values)
        return 0.25, 3_000

    Drawing(subject, {}, {}, 0).drawn(works)
    assert len(tries) == 1 + 7, "the first run is the best, and 21,000 nodes do not help"


def test_reports() -> None:
    done = verify(build(24), [f"{DAMAGED}[node=Relu_2]", DAMAGED])
    text = "\n".join(verification.lines(done))
    assert all(len(line) <= 80 for line in text.splitlines()), text
    assert "node 2 Relu_2 (ai.onnx/Relu/14) is wrong" in " ".join(text.split())
    assert "the outputs differ" in text
    data = json.loads(verification.as_json(done))
    fastjsonschema.validate(SCHEMA, data)
    first, second = data["backends"]
    assert [node["name"] for node in first["nodes"] if node["judgement"] == "wrong"] == ["Relu_2"]
    assert (first["ok"], second["ok"], data["ok"]) == (False, True, False)
    page = verification_page.page(done)
    assert "Relu_2" in page
    assert "http" not in page.replace("http-equiv", "").split("<pre>")[0]
    assert "3 to 23: 21 nodes are right</summary>" in page
    assert "0 to 1:" not in page, "two nodes need no place"
    assert "<th>place" in page
    assert "<th>place" not in verification_page.page(verify(build(3), DAMAGED)), "no value is wrong"


@pytest.mark.parametrize(
    ("words", "problem", "named"),
    [
        (["--inputs", "missing.npz"], "verify-inputs-not-readable", "missing.npz"),
        (["--shape", "m=2"], "no-such-dimension", "it has n"),
        (["--nodes", "nothing*"], "no-such-node", "nothing*"),
        (["--format", "html"], "html-without-out", "--out"),
        (["--backend", "no_such_runtime"], "unknown-backend", "no_such_runtime"),
    ],
)
def test_bad_input_is_one_sentence(words: list[str], problem: str, named: str, tmp_path: Path) -> None:
    onnx.save(small("g (float[n] x) => (float[n] y) { y = Neg(x) }"), tmp_path / "m.onnx")
    done = command("verify", tmp_path / "m.onnx", "--backend", DAMAGED, *words)
    assert done.refused(problem, named), done.text


@pytest.mark.parametrize(
    ("value", "problem", "words"),
    [(np.zeros(3, np.float64), "input-type", "float64"), (np.zeros((2, 2), np.float32), "input-shape", "[3]")],
)
def test_an_input_of_another_type_or_shape_is_refused(value: np.ndarray, problem: str, words: str) -> None:
    model = small("g (float[3] x) => (float[3] y) { y = Neg(x) }")
    with refuses(problem, words):
        verify(model, DAMAGED, {"x": value})
    with refuses("no-such-input", "other", "it has x"):
        verify(model, DAMAGED, {"other": value})


def test_the_text_says_that_more_outputs_change_the_outputs_also_without_a_fault() -> None:
    done = verify(small("g (float[3] x) => (float[3] y) { y = Neg(x) }"), DAMAGED)
    (item,) = done.backends
    assert item.outputs is not None
    assert not [line for line in verification.lines(done) if "outputs change" in line]
    changed = replace(item, outputs=replace(item.outputs, changed=True))
    text = " ".join("\n".join(verification.lines(replace(done, backends=[changed]))).split())
    assert changed.ok
    assert "its outputs change if all values are outputs (other fusions)" in text


def test_a_model_that_the_checker_rejects_is_one_sentence() -> None:
    model = small("g (float[3] x) => (float[3] y) { y = Neg(x) }")
    model.graph.node[0].input[0] = "missing"
    with refuses("model-not-valid"):
        UserModel(model, "m")


@pytest.mark.slow
def test_a_tool_that_returns_a_wrong_model_is_named_with_its_guilty_pass() -> None:
    model = small("g (float[4] x) => (float[4] z) { y = Neg(x)  w = Neg(y)  z = Exp(w) }")
    (wrong,) = verify(model, tool=f"{WRONG_PASSES}[only:fuse_negs+tidy]").tools
    assert not wrong.ok
    assert wrong.guilty == ("fuse_negs",)
    (right,) = verify(model, tool=f"{WRONG_PASSES}[only:tidy+number]").tools
    assert right.ok
    done = verify(model, tool=f"{WRONG_PASSES}[only:fuse_negs+tidy]")
    fastjsonschema.validate(SCHEMA, json.loads(verification.as_json(done)))
    text = "\n".join(verification.lines(done))
    assert "guilty pass: fuse_negs" in " ".join(text.split())


def test_inputs_come_from_files(tmp_path: Path) -> None:
    model = small("g (float[3] x, string[2] t) => (float[3] y, string[2] u) { y = Neg(x)  u = Identity(t) }")
    np.savez(tmp_path / "inputs.npz", x=np.ones(3, np.float32), t=np.array(["a", "b"]))
    done = verify(model, DAMAGED, tmp_path / "inputs.npz")
    assert done.ok
    assert done.inputs.notes == []
    folder = tmp_path / "test_data_set_0"
    folder.mkdir()
    (folder / "input_0.pb").write_bytes(numpy_helper.from_array(np.ones(3, np.float32)).SerializeToString())
    assert verify(model, DAMAGED, tmp_path).inputs.notes == ["input t: tensor(string) [2], drawn: words"]


def test_values_come_in_parts_that_fit_the_memory() -> None:
    calls: list[int] = []
    done = of(
        build(24), memory=20_000, progress=lambda what, done, _all: calls.append(done) if "nodes" in what else None
    )
    assert len(done.nodes) == 24
    assert done.ok


def test_only_chosen_nodes_are_judged() -> None:
    done = of(build(24), "node=Relu_2", nodes=["Conv*", "Sigmoid"])
    assert [item.step.node.op_type for item in done.nodes] == ["Conv", "Conv", "Sigmoid", "ConvTranspose"]


def test_types_of_outputs_are_declared_for_every_kind_of_value() -> None:
    model = small("g (float[2] x) => (float[2] y) { s = SequenceConstruct(x, x)  y = SequenceAt(s, i) }", i=np.int64(1))
    assert of(model).ok
