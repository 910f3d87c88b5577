# SPDX-License-Identifier: Apache-2.0
"""The options that select cases: the cases that each selects, and the sentence for a wrong value."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import onnx
import pytest

from commands import command
from onnx_conformance import cases
from onnx_conformance.base.selection_options import OPTIONS
from onnx_conformance.base.verdict import split_operator
from onnx_conformance.case.case import PLAIN, Case
from onnx_conformance.declare import Tag
from onnx_conformance.declare.type import Kind, Type
from onnx_conformance.generation import plans
from onnx_conformance.specification import model_use, registry, schema
from onnx_conformance.specification.usage import table as usage
from onnx_conformance.suites import onnx_layout
from onnx_conformance.suites.chosen import selection_of
from onnx_conformance.suites.folder import Folder
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import check_selection, find_operator, notes
from onnx_conformance.suites.operator_versions import Opsets, Pattern, is_newest, respelled
from onnx_conformance.suites.ranking import importance
from onnx_conformance.suites.selection import Listed, Selection
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MODEL = """
<ir_version: 10, opset_import: ["" : 18, "own" : 1, "other" : 1]>
main (float[4] x, bool c, int64[4] n) => (float[N] y, float[2] a, float[2] b, int64[4] m) {
   a, b = Split <axis = 0, num_outputs = 2> (x)
   m = Neg (n)
   y = If (c) <
      then_branch = one () => (float[K] t) { t = Relu (x) },
      else_branch = two () => (float[L] u) { v = own.twice (x) w = other.Special (v) u = Identity (w) }
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


def listed(**choice: Any) -> list[Listed]:
    """Return the cases that options select, as a command lists them."""
    suite, selection = Generated(), selection_of(choice)  # type: ignore[arg-type]
    check_selection(suite, selection)
    return list(suite.listed(selection))


def ids(**choice: Any) -> set[str]:
    return {case.id for case in listed(**choice)}


def versions(**choice: Any) -> set[str]:
    return {case.operator for case in listed(**choice)}


@functools.cache
def made(operator: str) -> tuple[Case, ...]:
    """Return all cases of an operator version in the plain form."""
    return tuple(Generated().cases(Selection((operator,), forms=(PLAIN,))))


def types_of(case: Case) -> dict[str, Type]:
    """Return the types of the inputs and outputs of a model, as it declares them."""
    graph = onnx.load_from_string(case.model).graph
    declared = {item.name: schema.type_of_proto(item.type) for item in (*graph.input, *graph.output)}
    return {name: type_ for name, type_ in declared.items() if type_ is not None}


# --op

PATTERNS = {
    "Conv/>=11": {11, 22},
    "Conv/>11": {22},
    "Conv/<11": {1},
    "Conv/<=11": {1, 11},
    "Conv/==11": {11},
    "Conv/>=11,<22": {11},
    "ai.onnx/Conv/>=2, <=22": {11, 22},
    "Con?/>=11": {11, 22},
    "Conv/11": {11},
    "Conv": {1, 11, 22},
    "Conv/>22": set(),
    "Convolution/>=1": set(),
}


@pytest.mark.parametrize("text", PATTERNS)
def test_an_op_may_compare_versions(text: str) -> None:
    taken = {since for since in (1, 11, 22) if Pattern.parse(text).matches(f"ai.onnx/Conv/{since}")}
    assert taken == PATTERNS[text]


@pytest.mark.parametrize("text", ["Conv>=11", "Conv/>=", "Conv/>=x", "Conv/=11", ">=11", "Conv/>=11,", "Conv/>=11<22"])
def test_a_comparison_that_cannot_be_read_gets_a_sentence(text: str) -> None:
    with refuses("not-an-operator-glob", text, "such as Conv/>=11"):
        Selection((text,))


def test_a_comparison_is_quoted_as_a_shell_needs_it() -> None:
    assert str(Selection(("Conv/>=11", "Split*"))) == "--op 'Conv/>=11' --op Split*"


def test_another_letter_case_is_understood_if_one_operator_is_meant() -> None:
    assert versions(op="split/18") == {"ai.onnx/Split/18"}
    assert versions(op=("AI.ONNX/split/>=13", "ABS/13")) == {"ai.onnx/Split/13", "ai.onnx/Split/18", "ai.onnx/Abs/13"}
    selection = selection_of({"op": "split/18"})
    check_selection(Generated(), selection)
    assert str(selection) == "--op Split/18"  # An expectations file compares it with the selection of another run.
    op, since = find_operator("split/18") or (None, None)
    assert (str(op), since) == ("ai.onnx/Split", 18)


def test_another_letter_case_of_several_operators_is_a_question() -> None:
    known = ["ai.onnx/Relu/14", "mine/RELU/1"]
    assert respelled("relu", known) == ["Relu", "RELU"]
    assert respelled("mine/relu", known) == ["mine/RELU"]
    selection = Selection(("relu",))
    selection.respell(known)
    assert selection.ops == ("relu",)
    with refuses("operator-not-in-suite", "'SPLIT*'", "did you mean"):
        check_selection(Generated(), Selection(("SPLIT*",)))


# --opsets and --version

RANGES = {"27..28": {27, 28}, "28": {28}, "..13": {1, 13}, "25..": {27, 28}}


@pytest.mark.parametrize("text", RANGES)
def test_opsets_are_a_range_with_both_ends(text: str) -> None:
    opsets = Opsets.parse(text)
    assert {since for since in (1, 13, 14, 27, 28) if opsets.has(since)} == RANGES[text]
    assert str(opsets) == text


@pytest.mark.parametrize("text", ["", "..", "28..27", "x", "1..2..3", "-1", "27-28", "27...28"])
def test_what_is_no_range_of_opsets_gets_a_sentence(text: str) -> None:
    with refuses("not-opsets", text, "write 27..28"):
        selection_of({"opsets": text})


def test_opsets_select_the_versions_that_came_in_them() -> None:
    every = {name for names in schema.every().values() for name in names}
    came = {name for name in every if name.rpartition("/")[2] in {"27", "28"}}
    assert versions(opsets="27..28", core=True) == came
    assert "ai.onnx/Split/18" not in came


def test_newest_selects_one_version_of_each_operator() -> None:
    assert versions(op=("Split", "Abs"), version="newest") == {"ai.onnx/Split/18", "ai.onnx/Abs/13"}
    in_force = versions(op=("Split", "Abs"), opsets="..12", version="newest")
    assert in_force == {"ai.onnx/Split/11", "ai.onnx/Abs/6"}, "not the versions in force in opset 12"
    assert is_newest("mine/Own/3", None)
    with refuses("not-newest", "'13'", "--opsets"):
        selection_of({"version": "13"})


# --type


@pytest.mark.parametrize(
    ("operator", "name"), [("Gather/13", "data"), ("Split/18", "input"), ("Equal/19", "A"), ("Resize/19", "X")]
)
def test_a_type_selects_by_the_data_and_not_by_indices_or_sizes(operator: str, name: str) -> None:
    chosen = ids(op=operator, type="float", form=PLAIN)
    data = {case.id: types_of(case).get(name) for case in made(operator)}
    assert chosen
    assert {data[case] for case in chosen} <= {Type.tensor("float"), None}
    of_float = {case for case, type_ in data.items() if type_ == Type.tensor("float")}
    # The others have a second type on purpose, such as a second input of another type.
    assert len(chosen & of_float) > 0.8 * len(of_float), sorted(of_float - chosen)


def test_indices_of_every_type_are_selected_beside_float_data() -> None:
    chosen = ids(op="Gather/13", type="float", form=PLAIN)
    indices = {str(types_of(case).get("indices")) for case in made("Gather/13") if case.id in chosen}
    assert {"tensor(int32)", "tensor(int64)"} <= indices


def test_a_variable_that_allows_the_type_must_have_it() -> None:
    assert "ai.onnx/Cast/28/beyond_float_float16" not in ids(op="Cast/28", type="float")
    assert "ai.onnx/Cast/28/beyond_float_float16" in ids(op="Cast/28", type="float16,tensor(float)")
    assert versions(op=("Abs/13", "And/7"), type="bool") == {"ai.onnx/And/7"}
    # No type variable: the first input counts, and not the int64 of the number of boxes.
    assert versions(op=("NonMaxSuppression/11", "Abs/13"), type="float") == {
        "ai.onnx/NonMaxSuppression/11",
        "ai.onnx/Abs/13",
    }
    assert versions(op=("NonMaxSuppression/11", "Abs/13"), type="int64") == {"ai.onnx/Abs/13"}


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("float32", "did you mean float?"),
        ("float64", "did you mean double?"),
        ("Float16", "float16"),
        ("seq(tensor(float))", "ONNX has float"),
        ("float,", "''"),
        ("", "''"),
    ],
)
def test_what_is_no_element_type_gets_a_sentence(text: str, hint: str) -> None:
    with refuses("not-an-element-type", hint):
        selection_of({"type": text})


def test_types_are_written_in_one_order() -> None:
    assert str(selection_of({"type": "int8, tensor(float16),float"})) == "--type float,int8,float16"


# --no-containers


@pytest.mark.parametrize("operator", ["Identity/25", "SplitToSequence/24", "Loop/25", "Optional/28"])
def test_without_containers_no_sequence_optional_or_map_is_left(operator: str) -> None:
    chosen = {case.id for case in Generated().listed(selection_of({"op": operator, "no_containers": True}))}
    for case in made(operator):
        declared = types_of(case).values()
        held = any(item.kind in {Kind.SEQUENCE, Kind.OPTIONAL, Kind.MAP} for item in declared)
        assert not (held and case.id in chosen), case.id
        assert held or case.id in chosen or "Sequence" in str(onnx.load_from_string(case.model)), case.id


# Two readers of one fact: the declaration of a case, and the model of a case

READ = ("Gather", "Cast", "OneHot", "SequenceInsert", "Optional", "If", "Loop", "Split", "Constant")


@pytest.mark.parametrize("name", READ)
def test_the_use_of_a_declaration_is_that_of_its_model(name: str) -> None:
    op = registry.load().named(name)
    version = registry.versions(op)[-1]
    declared = dict(plans.uses(op, version))
    for case in made(str(version)):
        model = onnx.load_from_string(case.model)
        [use] = [item for item in model_use.uses(model, infer=False) if str(item) == str(version)]
        own = declared[case.id]
        known = (set(use.bound) | set(own.bound)) - use.unknown - own.unknown
        assert {key: own.bound.get(key) for key in known} == {key: use.bound.get(key) for key in known}, case.id
        assert (own.attributes, own.contains) == (use.attributes, use.contains), case.id


def test_the_cases_of_a_folder_are_read_from_their_models(tmp_path: Path) -> None:
    every = {case.id: onnx_layout.folder_name(case.id) for case in made("Gather/13")[:120]}
    for case in made("Gather/13")[:120]:
        onnx_layout.write(case, tmp_path / "stored")
    found = {case.id.rpartition("/")[2] for case in Folder(tmp_path / "stored").cases(selection_of({"type": "float"}))}
    expected = {every[case] for case in ids(op="Gather/13", type="float", form=PLAIN) if case in every}
    assert found == expected
    assert 0 < len(found) < len(every)


# --model


def test_a_model_selects_its_versions_types_and_attributes(path: Path) -> None:
    chosen = listed(model=path)
    used = {"Split/18", "Neg/13", "If/16", "Relu/14", "Add/13", "Identity/16"}
    assert {case.operator.removeprefix("ai.onnx/") for case in chosen} == used
    names = {case.id for case in chosen}
    of_add = {case.id: types_of(case).get("A") for case in made("Add/13")}  # In a function of another opset.
    assert {of_add[case] for case in names & set(of_add)} <= {Type.tensor("float"), None}
    assert {str(types_of(case)["X"]) for case in made("Neg/13") if case.id in names and case.inputs} == {
        "tensor(int64)"
    }
    for case in made("Split/18"):
        node = onnx.load_from_string(case.model).graph.node[0]
        if case.id in names:
            assert {item.name for item in node.attribute} <= {"axis", "num_outputs"}, case.id


def test_another_attribute_is_not_selected(tmp_path: Path) -> None:
    text = MODEL.replace("<axis = 0, num_outputs = 2>", "<num_outputs = 2>")
    onnx.save(onnx.parser.parse_model(text), tmp_path / "model.onnx")
    names = ids(model=tmp_path / "model.onnx", op="Split")
    assert names
    for case in made("Split/18"):
        node = onnx.load_from_string(case.model).graph.node[0]
        assert case.id not in names or {item.name for item in node.attribute} <= {"num_outputs"}, case.id


def test_a_model_is_named_with_a_digest_of_its_use(path: Path) -> None:
    before = str(selection_of({"model": path}))
    assert before.startswith("--model model.onnx@")
    onnx.save(
        onnx.parser.parse_model(MODEL.replace("int64[4] n", "int32[4] n").replace("int64[4] m", "int32[4] m")), path
    )
    assert str(selection_of({"model": path})) != before


def test_an_operator_of_an_unknown_domain_is_named_and_ignored(path: Path) -> None:
    ignored = "foreign-operators-ignored"
    [note] = [note.text for note in notes(Generated(), selection_of({"model": path})) if note.id == ignored]
    assert note.endswith("does not define: other/Special"), note


# --at-most


def test_at_most_takes_turns_between_operator_versions() -> None:
    chosen = listed(op=("Split", "Abs"), at_most=21)
    counts = {name: sum(case.operator == name for case in chosen) for name in versions(op=("Split", "Abs"))}
    assert sum(counts.values()) == 21
    assert max(counts.values()) - min(counts.values()) <= 1, counts
    newest = {case.operator for case in listed(op=("Split", "Abs"), at_most=2)}
    assert newest == {"ai.onnx/Split/18", "ai.onnx/Abs/13"}


def test_at_most_takes_the_most_important_cases() -> None:
    every = listed(op="Split/18")
    chosen = listed(op="Split/18", at_most=30)
    left = [case for case in every if case not in chosen]
    assert len(chosen) == 30
    assert max(map(importance, chosen)) <= min(map(importance, left))
    assert {case.core for case in chosen} == {True}
    assert {case.outcome for case in chosen} == {"values"}
    assert chosen == listed(op="Split/18", at_most=30)
    assert listed(op="Split/18", at_most=10**6) == every


def test_at_most_takes_what_models_have_and_the_calls_that_they_make_first() -> None:
    counts, few = usage.read().operators, listed(at_most=20)
    assert len({case.operator for case in few}) == 20
    assert all(is_newest(case.operator, None) for case in few)
    assert min(counts[split_operator(case.operator)[0]] for case in few) >= sorted(counts.values())[-20]
    conv = listed(op="Conv/22", at_most=3)
    assert all(Tag.USAGE in case.tags for case in conv), conv


def test_a_shard_divides_what_at_most_has_taken_of_a_sample() -> None:
    choice: Any = {"op": "Split", "at_most": 40}
    parts = []
    for shard in (None, (1, 2), (2, 2)):
        suite, selection = Generated(), selection_of(choice, shard=shard, sample=3)
        check_selection(suite, selection)
        parts.append([case.id for case in suite.cases(selection)])
        assert set(parts[-1]) == {case.id for case in suite.listed(selection)}
    whole, first, second = parts
    assert len(whole) == 40
    assert sorted(first + second) == sorted(whole)
    sampled = {case.id for case in Generated().listed(Selection(("Split",), sample=3))}
    assert set(whole) <= sampled


def test_the_progress_of_a_limited_run_knows_its_total() -> None:
    suite, selection = Generated(), selection_of({"op": "Split", "at_most": 9})
    check_selection(suite, selection)
    outlook = suite.outlook(selection)
    assert outlook is not None
    assert sum(outlook.declared.values()) == 9
    assert set(outlook.declared) == versions(op="Split")
    assert suite.outlook(selection_of({"op": "Split", "type": "float"})) is None  # Not known beforehand.


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", "", "1" * 12])
def test_what_is_no_number_of_cases_gets_a_sentence(number: str) -> None:
    with refuses("not-a-number-of-cases", number, "1 or more"):
        selection_of({"at_most": number})


# All of them


def read(suite: Generated, selection: Selection) -> Iterator[Case]:
    """Yield the cases of all slices, as a run takes them."""
    for part in suite.slices(selection):
        own = selection.within(part)
        yield from suite.cases(own)
        selection.idle &= own.idle
        suite.finished(part)


CHOICES: dict[str, dict[str, Any]] = {
    "type": {"type": "float16"},
    "no_containers": {"no_containers": True},
    "opsets": {"opsets": "13..16"},
    "version": {"version": "newest"},
    "at_most": {"at_most": 9},
    "core": {"core": True, "type": "float16"},
    "case": {"case": "*/Identity/1*", "no_containers": True},
}


@pytest.mark.parametrize("name", CHOICES)
def test_a_run_takes_what_a_list_shows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path))
    choice: Any = {"op": "Identity", **CHOICES[name]}
    expected = ids(**choice)
    assert 0 < len(expected) < len(ids(op="Identity"))
    for _ in ("written to packs", "read from packs"):
        suite, selection = Generated(), selection_of(choice)
        check_selection(suite, selection)
        assert {case.id for case in read(suite, selection)} == expected
        assert not selection.idle
    suite, selection = Generated(), selection_of({"op": "Identity/25"})  # Its packs are others.
    assert {case.id for case in read(suite, selection)} == ids(op="Identity/25")


NOTHING = {
    ("--op", "Abs", "--type", "string"): "--type string excludes all cases of suite generated that --op Abs selects",
    ("--op", "Abs/13", "--form", "twice", "--opsets", "..6"): "--opsets ..6 excludes all selected operator versions",
    ("--op", "Abs", "--tag", "axis"): "--tag 'axis' matches no case of suite generated",
    ("--op", "Abs", "--opsets", "40.."): "the opsets 1, 6, 13 introduced them",
    ("--op", "Abs", "--no-containers", "--case", "*nothing*"): "--case *nothing* excludes all cases",
    ("--type", "bfloat16", "--op", "Abs/1", "--at-most", "3"): "--type bfloat16 excludes all cases",
}


@pytest.mark.parametrize("words", NOTHING)
def test_a_selection_without_cases_names_the_option(words: tuple[str, ...]) -> None:
    done = command("list", *words)
    assert done.status == 2, done.text
    assert not done.out, done.text
    assert NOTHING[words] in done.err, done.text


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--opsets", "x"), "not-opsets"),
        (("--version", "oldest"), "not-newest"),
        (("--type", "flaot"), "not-an-element-type"),
        (("--at-most", "0"), "not-a-number-of-cases"),
        (("--op", "Conv/>="), "not-an-operator-glob"),
        (("--model", "missing.onnx"), "model-not-readable"),
    ],
)
@pytest.mark.parametrize("name", ["list", "run"])
def test_a_wrong_value_ends_a_command_with_one_sentence(name: str, words: tuple[str, ...], problem: str) -> None:
    done = command(name, *words)
    assert done.refused(problem, words[-1]), done.text
    assert len(done.err.strip().splitlines()) == 1, done.text


@pytest.mark.parametrize("name", ["run", "list", "generate", "trend"])
def test_every_command_with_cases_has_every_option(name: str) -> None:
    shown = command(name, "--help").out
    assert not [row.name for row in OPTIONS if f"--{row.name} " not in shown and f"--{row.name}\n" not in shown]


@pytest.mark.parametrize("name", ["manifest", "coverage", "search", "explain", "findings"])
def test_commands_without_cases_select_operator_versions(name: str) -> None:
    shown = command(name, "--help").out
    for row in OPTIONS:
        if name == "findings" and row.key == "version":
            continue  # It names versions of runtimes there.
        assert (f"--{row.name} {row.metavar}" in shown and bool(row.metavar)) is row.of_operators, row.name


def test_python_has_the_same_options() -> None:
    chosen = {case.id for case in cases(op="gather/>=13", type="float", form="plain", at_most=12)}
    assert chosen == ids(op="Gather/13", type="float", form="plain", at_most=12)
    assert len(chosen) == 12
    with pytest.raises(TypeError, match="'types'"):
        cases(types="float")  # type: ignore[call-arg]
