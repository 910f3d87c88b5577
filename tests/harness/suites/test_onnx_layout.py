# SPDX-License-Identifier: Apache-2.0
"""Cases in ONNX's test-data layout: written cases are read unchanged, and those of others are read."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from numpy.testing import assert_equal
from onnx import TensorProto, helper, numpy_helper

from generated import OPS, few
from onnx_conformance.backends.protocol import ELEMENT_TYPES, STRING
from onnx_conformance.case import properties
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome, digest_values
from onnx_conformance.case.lane_sums import LaneSums
from onnx_conformance.declare import AnyOf, Drawn, Order, Type, extremes, ramp
from onnx_conformance.generation import plans
from onnx_conformance.specification import schema
from onnx_conformance.suites import onnx_layout
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("few_operators")

TENSOR = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
X = np.array([1, 2], np.float32)


def a_case(
    inputs: Mapping[str, tuple[onnx.TypeProto, Any]], outputs: Mapping[str, tuple[onnx.TypeProto, Any]], **members: Any
) -> Case:
    """Return a case whose graph declares these types; its one node is never evaluated here."""
    graph = helper.make_graph(
        [helper.make_node("Anything", list(inputs), list(outputs))],
        "graph",
        [helper.make_value_info(name, type_) for name, (type_, _) in inputs.items()],
        [helper.make_value_info(name, type_) for name, (type_, _) in outputs.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    settings: dict[str, Any] = {
        "id": "ai.onnx/Anything/18/one/float16@symbolic",
        "operator": "ai.onnx/Anything/18",
        "outcome": Outcome.VALUES,
        "expected": tuple(value for _, value in outputs.values()),
        "allowance": Allowance("exact because it must be", signed_zero=True),
        "clauses": ("A sentence «quoted».", "日本語"),
        "tags": frozenset({"edge", "basic"}),
        "form": "symbolic",
        "detail": "of this case",
        "notes": ("decided so",),
    }
    return Case(
        model=model.SerializeToString(deterministic=True),
        inputs={name: value for name, (_, value) in inputs.items()},
        outputs=tuple(outputs),
        **{**settings, **members},
    )


def read_one(folder: Path) -> Case:
    (case,) = onnx_layout.read(folder, folder.parent, "mine")
    return case


def round_trip(case: Case, parent: Path) -> Case:
    """Write and read a case, and hold everything but its values against what was written."""
    folder = onnx_layout.write(case, parent)
    again = read_one(folder)
    assert again.id == f"mine/{folder.name}"
    for field in dataclasses.fields(Case):
        if field.name not in {"id", "inputs", "earlier", "expected", "allowance"}:
            assert getattr(again, field.name) == getattr(case, field.name), field.name
    assert digest_values([dict(again.earlier or {})]) == digest_values([dict(case.earlier or {})])
    assert list(again.inputs) == list(case.inputs)
    for name, value in case.inputs.items():
        assert digest_values(again.inputs[name]) == digest_values(value), f"{name}: {value!r}, {again.inputs[name]!r}"
    assert digest_values(plain(again)) == digest_values(plain(case)), f"{case.expected!r}, {again.expected!r}"
    assert drawn(again) == drawn(case)
    return again


def plain(case: Case) -> list[Any] | None:
    """Return the expected values without those drawn at random."""
    return None if case.expected is None else [value for value in case.expected if not isinstance(value, Drawn)]


def drawn(case: Case) -> list[dict[str, Any]]:
    return [properties.describe(value) for value in case.expected or () if isinstance(value, Drawn)]


@pytest.mark.parametrize("row", ELEMENT_TYPES, ids=lambda row: row.name)
def test_tensors_of_every_type(row: Any, tmp_path: Path) -> None:
    type_ = helper.make_tensor_type_proto(row.number, None)
    dtype = schema.dtype_of(Type.tensor(row.name))
    data = ramp if row.bits < 8 and "int" in row.name else extremes
    hard, scalar, empty = data(2, 9).of(dtype), data().of(dtype), data(0, 3).of(dtype)
    case = a_case({"hard": (type_, hard), "scalar": (type_, scalar)}, {"same": (type_, hard), "none": (type_, empty)})
    again = round_trip(case, tmp_path)
    read = again.inputs["hard"]
    assert isinstance(read, np.ndarray)
    assert (read.dtype, read.shape) == (dtype, (2, 9))
    if row.number != STRING:
        assert read.tobytes() == hard.tobytes(), read


def sequence(inner: onnx.TypeProto) -> onnx.TypeProto:
    return helper.make_sequence_type_proto(inner)


def optional(inner: onnx.TypeProto) -> onnx.TypeProto:
    return helper.make_optional_type_proto(inner)


STRINGS = helper.make_tensor_type_proto(TensorProto.STRING, None)
NESTED = {
    "sequence": (sequence(TENSOR), [X, X.reshape(2, 1), np.zeros((0, 3), np.float32)]),
    "sequence of strings": (sequence(STRINGS), [np.array(["a", "ä"], object)]),
    "empty sequence": (sequence(TENSOR), []),
    "sequence of sequences": (sequence(sequence(TENSOR)), [[X], [X, X]]),
    "empty sequence of sequences": (sequence(sequence(TENSOR)), []),
    "optional": (optional(TENSOR), X),
    "empty optional": (optional(TENSOR), None),
    "optional sequence": (optional(sequence(TENSOR)), [X, X]),
    "empty optional sequence": (optional(sequence(TENSOR)), None),
    "map of numbers": (helper.make_map_type_proto(TensorProto.INT64, TENSOR), {7: X, -1: X + 1}),
    "map of strings": (helper.make_map_type_proto(TensorProto.STRING, TENSOR), {"a": X, "ä": X + 1, "float32": X}),
    "empty map": (helper.make_map_type_proto(TensorProto.STRING, TENSOR), {}),
    "map of sequences": (helper.make_map_type_proto(TensorProto.INT64, sequence(TENSOR)), {0: [], 1: [X, X]}),
    "sequence of maps": (sequence(helper.make_map_type_proto(TensorProto.STRING, TENSOR)), [{"a": X}, {"b": X}]),
    "empty sequence of maps": (sequence(helper.make_map_type_proto(TensorProto.STRING, TENSOR)), []),
    "sequence of an empty sequence": (sequence(sequence(TENSOR)), [[], [X]]),
    "empty optional in an optional": (optional(optional(TENSOR)), None),
}


@pytest.mark.parametrize("kind", NESTED)
def test_sequences_optionals_and_maps(kind: str, tmp_path: Path) -> None:
    again = round_trip(a_case({"a": NESTED[kind], "x": (TENSOR, X)}, {"b": NESTED[kind]}), tmp_path)
    assert type(again.inputs["a"]) is type(NESTED[kind][1]), again.inputs["a"]


@pytest.mark.parametrize(
    "allowance",
    [
        Allowance("exact", signed_zero=True),
        Allowance("two steps", ulp=2),
        Allowance("bounded", ulp=2, interval=(-1.0, 1.0)),
        Allowance("summed", ulp=2, sums=LaneSums((0,), 1.0, 0.5)),
        Allowance("near", rtol=0.25, atol=0.5),
        Allowance("grows", bounds=(np.array([0.5, 0.0]), np.array([2.0])), signed_zero=False),
        Allowance("steps and more", ulp=1.5, atol=1e-9),
    ],
    ids=lambda item: item.reason,
)
def test_allowances(allowance: Allowance, tmp_path: Path) -> None:
    case = a_case({"x": (TENSOR, X)}, {"a": (TENSOR, X), "b": (TENSOR, X[:1])}, allowance=allowance)
    again = round_trip(case, tmp_path).allowance
    for field in dataclasses.fields(Allowance):
        if field.name != "bounds":
            assert getattr(again, field.name) == getattr(allowance, field.name), field.name
    bounds = allowance.bounds and [item.tolist() for item in allowance.bounds]
    assert (again.bounds and [item.tolist() for item in again.bounds]) == bounds, again.bounds


@pytest.mark.parametrize("lanewise", [False, True])
def test_the_order_that_outputs_may_have(tmp_path: Path, *, lanewise: bool) -> None:
    allowance = Allowance("a set", any_order=Order(0, lanewise))
    case = a_case({"x": (TENSOR, X)}, {"a": (TENSOR, X), "b": (TENSOR, X + 1)}, allowance=allowance)
    assert round_trip(case, tmp_path).allowance.any_order == allowance.any_order


@pytest.mark.parametrize(
    "several",
    [AnyOf(X, X.reshape(1, -1)), AnyOf(X, X + 1, X + 2), AnyOf(X, X + 1, elementwise=True), AnyOf(X)],
    ids=("another shape", "two others", "by element", "no other"),
)
def test_the_values_that_an_output_may_have(several: AnyOf, tmp_path: Path) -> None:
    case = a_case(
        {"x": (TENSOR, X)}, {"a": (TENSOR, X[:1]), "b": (TENSOR, X)}, allowance=Allowance("", any_of=(None, several))
    )
    none, again = round_trip(case, tmp_path).allowance.any_of
    assert none is None
    assert again is not None
    assert again.elementwise is several.elementwise
    assert [item.tolist() for item in again.values] == [item.tolist() for item in several.values]


@pytest.mark.parametrize("outcome", [Outcome.REJECTS, Outcome.UNSPECIFIED])
def test_outcomes_without_values(outcome: Outcome, tmp_path: Path) -> None:
    case = a_case({"x": (TENSOR, X)}, {"a": (TENSOR, X)}, outcome=outcome, expected=None)
    again = round_trip(case, tmp_path)
    assert (again.outcome, again.expected) == (outcome, None)


@pytest.mark.slow
@pytest.mark.parametrize("row", ELEMENT_TYPES, ids=lambda row: row.name)
def test_containers_of_every_type(row: Any, tmp_path: Path) -> None:
    inner = helper.make_tensor_type_proto(row.number, None)
    dtype = schema.dtype_of(Type.tensor(row.name))
    value, scalar = ramp(2, 3).of(dtype), ramp().of(dtype)
    held: dict[str, tuple[onnx.TypeProto, Any]] = {
        "s": (sequence(inner), [value, scalar]),
        "o": (optional(inner), value),
        "i": (helper.make_map_type_proto(TensorProto.INT64, inner), {3: scalar, -1: value}),
        "t": (helper.make_map_type_proto(TensorProto.STRING, inner), {"a": scalar, "": value}),
    }
    round_trip(a_case(held, held), tmp_path)


def kinds_of_values(case: Case) -> frozenset[str]:
    graph = onnx.load_from_string(case.model).graph
    return frozenset(schema.type_text(info.type) for info in (*graph.input, *graph.output))


def one_of_each_version() -> Iterator[Case]:
    """Yield a case of each operator version, and of each set of types that operators of containers take and give."""
    for op in OPS:
        for version in schema.versions(op.domain, op.name):
            yield next(plans.cases(op, (version.since,)))
        takes = (text for types in version.types.values() for text in types)
        if all(text.startswith("tensor") for text in takes):
            continue
        unseen: dict[frozenset[str], Case] = {}
        for case in plans.cases(op, (version.since,), wanted=lambda case_id: "@" not in case_id):
            unseen.setdefault(kinds_of_values(case), case)
        yield from unseen.values()


@pytest.mark.slow
@pytest.mark.usefixtures("all_operators")
def test_a_case_of_each_operator_version_and_kind_of_value_comes_back(tmp_path: Path) -> None:
    kinds: set[str] = set()
    operators = set()
    for case in one_of_each_version():
        round_trip(case, tmp_path)
        kinds |= kinds_of_values(case)
        operators.add(case.operator)
    assert operators == {str(version) for op in OPS for version in schema.versions(op.domain, op.name)}
    strings = {"map(int64, string)", "map(string, int64)", "seq(tensor(string))", "optional(seq(tensor(float)))"}
    assert strings <= kinds, strings - kinds
    named = {f"tensor({row.name})" for row in ELEMENT_TYPES}
    assert named <= kinds, named - kinds


@pytest.mark.slow
def test_every_generated_case_comes_back(tmp_path: Path) -> None:
    """Of each declared name, outcome and form one; all of them take long on a slow disk."""
    one_of_each = {
        (case.operator, case.name if case.form == "plain" else "", case.outcome, case.form): case for case in few()
    }
    assert len(one_of_each) > 200, len(one_of_each)
    for case in one_of_each.values():
        again = round_trip(case, tmp_path)
        assert_equal(dataclasses.asdict(again.allowance), dataclasses.asdict(case.allowance))


@pytest.mark.slow
def test_folders_are_named_by_ids_one_to_one() -> None:
    ids = [case.id for case in few()]
    assert onnx_layout.folder_name("ai.onnx/Split/1/lengths@symbolic") == "test_ai.onnx__Split__1__lengths@symbolic"
    assert len({onnx_layout.folder_name(id_) for id_ in ids}) == len(ids)
    assert not [id_ for id_ in ids if "__" in id_]


# What others wrote


def onnx_folder(root: Path, *, sets: int = 1, outputs: bool = True, name: str = "test_negated") -> Path:
    """Write a case as onnx's own generator does: no case.json."""
    folder = root / name
    folder.mkdir(parents=True)
    graph = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["y"])],
        "negated",
        [helper.make_value_info("x", TENSOR)],
        [helper.make_value_info("y", TENSOR)],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), str(folder / "model.onnx"))
    for index in range(sets):
        data = folder / f"test_data_set_{index}"
        data.mkdir()
        (data / "input_0.pb").write_bytes(numpy_helper.from_array(X + index, "x").SerializeToString())
        if outputs:
            (data / "output_0.pb").write_bytes(numpy_helper.from_array(-X - index, "y").SerializeToString())
    return folder


def test_a_folder_of_onnxs_own(tmp_path: Path) -> None:
    case = read_one(onnx_folder(tmp_path))
    assert (case.id, case.operator, case.outcome, case.form) == (
        "mine/test_negated", "ai.onnx/Neg/13", Outcome.VALUES, "plain",
    )  # fmt: skip
    assert case.expected is not None
    assert (np.asarray(case.inputs["x"]).tolist(), np.asarray(case.expected[0]).tolist()) == ([1, 2], [-1, -2])
    assert (case.allowance.rtol, case.allowance.atol, case.allowance.ulp) == (1e-3, 1e-7, 0), case.allowance
    assert case.allowance.signed_zero is False


@pytest.mark.parametrize(
    ("tolerances", "rtol", "atol"),
    [({"rtol": 0.5}, 0.5, 1e-7), ({"atol": 2}, 1e-3, 2.0), ({"rtol": 0, "atol": 0}, 0.0, 0.0), ({}, 1e-3, 1e-7)],
)
def test_the_tolerance_of_data_json(tolerances: dict[str, float], rtol: float, atol: float, tmp_path: Path) -> None:
    folder = onnx_folder(tmp_path)
    (folder / "data.json").write_text(json.dumps(tolerances))
    allowance = read_one(folder).allowance
    assert (allowance.rtol, allowance.atol) == (rtol, atol)


def test_several_data_sets_are_several_cases_in_the_order_of_numbers(tmp_path: Path) -> None:
    cases = list(onnx_layout.read(onnx_folder(tmp_path, sets=11), tmp_path, "mine"))
    assert [case.id for case in cases] == [
        "mine/test_negated", *(f"mine/test_negated/test_data_set_{index}" for index in range(1, 11)),
    ]  # fmt: skip
    assert [np.asarray(case.inputs["x"]).tolist()[0] for case in cases] == list(range(1, 12))


def test_a_folder_without_outputs_expects_none(tmp_path: Path) -> None:
    case = read_one(onnx_folder(tmp_path, outputs=False))
    assert (case.outcome, case.expected) == (Outcome.VALUES, None)


def test_an_initializer_of_ir_version_3_may_be_given_or_not(tmp_path: Path) -> None:
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "b"], ["y"])],
        "added",
        [helper.make_value_info(name, TENSOR) for name in ("x", "b")],
        [helper.make_value_info("y", TENSOR)],
        [numpy_helper.from_array(X, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 7)], ir_version=3)
    for count in (1, 2):
        data = tmp_path / f"given_{count}" / "test_data_set_0"
        data.mkdir(parents=True)
        onnx.save(model, str(data.parent / "model.onnx"))
        for index in range(count):
            (data / f"input_{index}.pb").write_bytes(numpy_helper.from_array(X + index).SerializeToString())
        assert list(read_one(data.parent).inputs) == ["x", "b"][:count], count


# Damaged folders: one sentence that names the file


def damage_model(folder: Path) -> None:
    (folder / "model.onnx").write_bytes((folder / "model.onnx").read_bytes()[:-3])


def no_graph(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"")


def damage_input(folder: Path) -> None:
    path = folder / "test_data_set_0" / "input_0.pb"
    path.write_bytes(path.read_bytes()[:-3])


def lose_input(folder: Path) -> None:
    (folder / "test_data_set_0" / "input_0.pb").unlink()


def too_many_outputs(folder: Path) -> None:
    data = folder / "test_data_set_0"
    (data / "output_1.pb").write_bytes((data / "output_0.pb").read_bytes())


def no_data_set(folder: Path) -> None:
    (folder / "test_data_set_0").rename(folder / "data")


def bad_json(folder: Path) -> None:
    (folder / "data.json").write_text("{")


def a_list(folder: Path) -> None:
    (folder / "data.json").write_text("[1]")


def bad_tolerance(folder: Path) -> None:
    (folder / "data.json").write_text('{"rtol": -1}')


def bad_outcome(folder: Path) -> None:
    (folder / "case.json").write_text('{"outcome": "maybe"}')


def tolerance_of(folder: Path, **tolerance: Any) -> None:
    (folder / "case.json").write_text(json.dumps({"tolerance": tolerance}))


def several_values_that_are_missing(folder: Path) -> None:
    tolerance_of(folder, any_of={"0": {"values": 2, "elementwise": False}})


def too_many_values(folder: Path) -> None:
    tolerance_of(folder, any_of={"0": {"values": 2**40, "elementwise": False}})


def several_values_uncounted(folder: Path) -> None:
    tolerance_of(folder, any_of=[2])


def values_without_common_elements(folder: Path) -> None:
    tolerance_of(folder, any_of={"0": {"values": 2, "elementwise": True}})
    other = onnx.numpy_helper.from_array(np.zeros((3, 1, 2), np.float32))
    (folder / "test_data_set_0" / "output_0_1.pb").write_bytes(other.SerializeToString())


def an_order_of_words(folder: Path) -> None:
    tolerance_of(folder, any_order={"axis": "rows", "lanewise": True})


def an_order_along_no_axis(folder: Path) -> None:
    tolerance_of(folder, any_order={"axis": 9, "lanewise": True})


def link_out(folder: Path) -> None:
    path = folder / "test_data_set_0" / "input_0.pb"
    outside = folder.parent.parent / "outside.pb"
    path.rename(outside)
    path.symlink_to(outside)


def external_data(folder: Path) -> None:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="../../outside.bin")
    model = onnx.load(str(folder / "model.onnx"))
    model.graph.initializer.append(tensor)
    (folder / "model.onnx").write_bytes(model.SerializeToString())


@pytest.mark.parametrize(
    ("harm", "file", "sentence"),
    [
        (damage_model, "model.onnx", "not a whole ONNX model"),
        (no_graph, "model.onnx", "it has no graph"),
        (damage_input, "input_0.pb", "not a whole TensorProto"),
        (lose_input, "test_data_set_0", "0 files input_*.pb, but the graph has 1 inputs to feed"),
        (too_many_outputs, "test_data_set_0", "2 files output_*.pb, but the graph has 1 outputs"),
        (no_data_set, "test_negated", "no test_data_set_0"),
        (bad_json, "data.json", "not JSON"),
        (a_list, "data.json", "expected a JSON object, not a list"),
        (bad_tolerance, "test_negated", "rtol is -1; expected a number of at least 0"),
        (bad_outcome, "case.json", "outcome 'maybe'; expected one of values, property, rejects, unspecified"),
        (several_values_that_are_missing, "output_0_1.pb", "cannot be read"),
        (too_many_values, "case.json", "expected how many values each output may have"),
        (several_values_uncounted, "case.json", "expected how many values each output may have"),
        (values_without_common_elements, "test_data_set_0", "must have the same shape"),
        (an_order_of_words, "case.json", "any_order is {'axis': 'rows', 'lanewise': True}; expected"),
        (an_order_along_no_axis, "test_data_set_0", "the outputs have no axis 9"),
        (link_out, "input_0.pb", "points outside the suite's folder"),
        (external_data, "outside.bin", "points outside the suite's folder"),
    ],
    ids=lambda item: getattr(item, "__name__", None),
)
def test_a_damaged_folder_is_named(harm: Any, file: str, sentence: str, tmp_path: Path) -> None:
    folder = onnx_folder(tmp_path / "suite")
    read_one(folder)
    harm(folder)
    with pytest.raises(onnx_layout.StoreError) as caught:
        read_one(folder)
    text = str(caught.value)
    assert file in text, text
    assert sentence in text, text
    assert "\n" not in text, text


def test_external_data_inside_the_suite_is_read(tmp_path: Path) -> None:
    folder = onnx_folder(tmp_path)
    external_data(folder)
    model = onnx.load(str(folder / "model.onnx"), load_external_data=False)
    model.graph.initializer[0].external_data[0].value = "weights.bin"
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "weights.bin").write_bytes(np.array([5], "<f4").tobytes())
    tensor = onnx.load_from_string(read_one(folder).model).graph.initializer[0]
    assert numpy_helper.to_array(tensor).tolist() == [5]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with refuses("case-folder-not-writable", kind=onnx_layout.StoreError):
        onnx_layout.write(a_case({"x": (TENSOR, X)}, {"a": (TENSOR, X)}), tmp_path / "file")


# Writing: whole or not at all


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


SMALL = a_case({"x": (TENSOR, X)}, {"a": (TENSOR, X)})
OTHER = dataclasses.replace(SMALL, expected=None, outcome=Outcome.REJECTS)


def test_an_existing_equal_case_is_not_written_again(tmp_path: Path) -> None:
    folder = onnx_layout.write(SMALL, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    (folder / "notes.txt").write_text("mine")
    assert onnx_layout.put(onnx_layout.encoded(SMALL), folder) is False
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_another_case_of_the_same_name_is_not_overwritten(tmp_path: Path) -> None:
    folder = onnx_layout.write(SMALL, tmp_path)
    before = files(folder)
    with refuses("case-folder-taken", kind=onnx_layout.StoreError):
        onnx_layout.write(OTHER, tmp_path)
    assert files(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_a_case_that_takes_the_place_of_another_leaves_nothing_of_it(tmp_path: Path) -> None:
    folder = onnx_layout.write(SMALL, tmp_path)
    (folder / "test_data_set_1").mkdir()
    (folder / "notes.txt").write_text("mine")
    onnx_layout.write(OTHER, tmp_path, replace=True)
    contents = files(folder)
    assert contents.pop("notes.txt") == b"mine", "what the layout knows nothing of stays"
    assert contents == onnx_layout.encoded(OTHER)
    assert not (folder / "test_data_set_1").exists()
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


@pytest.mark.parametrize("stopped_at", range(5))
def test_a_case_that_is_interrupted_is_not_there_at_all(
    stopped_at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []

    def interrupted(path: Path, data: bytes) -> int:
        written.append(path)
        if len(written) > stopped_at:
            raise KeyboardInterrupt
        return whole(path, data)

    whole = type(tmp_path).write_bytes
    monkeypatch.setattr(type(tmp_path), "write_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        onnx_layout.write(SMALL, tmp_path)
    assert written
    assert list(tmp_path.iterdir()) == []


def test_a_link_or_a_file_in_the_place_of_a_case_is_not_touched(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("mine")
    place = tmp_path / "out" / onnx_layout.folder_name(SMALL.id)
    place.parent.mkdir()
    for replace in (False, True):
        place.symlink_to(elsewhere)
        with refuses("case-folder-is-a-file", kind=onnx_layout.StoreError):
            onnx_layout.write(SMALL, place.parent, replace=replace)
        place.unlink()
    assert (elsewhere / "mine").read_text() == "mine"
    place.write_text("")
    with refuses("case-folder-is-a-file", kind=onnx_layout.StoreError):
        onnx_layout.write(SMALL, place.parent, replace=True)


@pytest.mark.parametrize("id_", ["mine/" + "x" * 5000, "mine/" + "ä" * 200, "mine/\udc80", "mine/\x1b[2J"])
def test_every_id_has_a_folder_of_its_own(id_: str, tmp_path: Path) -> None:
    for name in (id_, id_ + "y"):
        folder = onnx_layout.write(dataclasses.replace(SMALL, id=name), tmp_path)
        assert (folder / "model.onnx").read_bytes() == SMALL.model
    assert len(list(tmp_path.iterdir())) == 2
    assert json.loads((folder / "case.json").read_bytes())["id"] == name


def test_an_undeclared_value_is_reported_in_a_sentence(tmp_path: Path) -> None:
    for case in (
        dataclasses.replace(SMALL, outputs=("nowhere",)),
        dataclasses.replace(SMALL, expected=([X],)),
        dataclasses.replace(SMALL, inputs={"x": {"a": X}}),
    ):
        with refuses("case-not-writable", kind=onnx_layout.StoreError):
            onnx_layout.write(case, tmp_path)
    assert list(tmp_path.iterdir()) == []
