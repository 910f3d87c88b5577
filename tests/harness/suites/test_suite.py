# SPDX-License-Identifier: Apache-2.0
"""Where cases come from, and what part of them a selection takes."""

from __future__ import annotations

import fnmatch
import functools
import warnings
from typing import TYPE_CHECKING, Any

import onnx
import pytest

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.generation import plans
from onnx_conformance.specification import registry
from onnx_conformance.suites import onnx_layout
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import check_selection, find_case, open_suite
from onnx_conformance.suites.official import Official
from onnx_conformance.suites.selection import Selection, SelectionError
from onnx_conformance.suites.suite import Suite, SuiteError
from refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("few_operators")

OFFICIAL = Official()


@pytest.fixture
def generated() -> Generated:
    return Generated()


@functools.cache
def official() -> dict[str, Case]:
    return {case.id: case for case in OFFICIAL.cases(Selection())}


def ids(source: Suite, **options: Any) -> list[str]:
    return [case.id for case in source.cases(Selection(**options))]


@pytest.mark.parametrize(
    "options", [{"ids": frozenset({"ai.onnx/Split/18/lengths@top"})}, {"cases": ("ai.onnx/Split/18/leng*@top",)}]
)
def test_one_case_is_generated_without_those_of_other_versions(
    options: dict[str, Any], generated: Generated, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person waits for it: `show`, `repro`, the pytest plugin."""
    made: list[str] = []
    cases = plans.cases

    def recorded(op: Any, since: Any, *more: Any) -> Any:
        made.extend(f"{op}/{number}" for number in since)
        return cases(op, since, *more)

    monkeypatch.setattr(plans, "cases", recorded)
    found = ids(generated, **options)
    assert "ai.onnx/Split/18/lengths@top" in found
    assert found == [name for name in found if name.startswith("ai.onnx/Split/18/leng")]
    assert made == ["ai.onnx/Split/18"]


# Official


def loaded() -> list[Any]:
    from onnx.backend.test.loader import load_model_tests  # noqa: PLC0415 - takes seconds, one test needs it

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Its case files divide by zero on purpose.
        return list(load_model_tests(kind="node"))


@pytest.mark.slow
def test_official_has_every_node_case_of_onnx() -> None:
    expected = loaded()
    assert len(ids(OFFICIAL)) == len(expected) == len(official())
    assert set(official()) == {f"official/{item.name}" for item in expected}


@pytest.mark.slow
def test_an_official_case_has_the_data_of_onnx() -> None:
    case = official()["official/test_split_equal_parts_1d_opset18"]
    assert (case.operator, case.form, case.outcome, case.tags) == (
        "ai.onnx/Split/18", "plain", Outcome.VALUES, frozenset({"official"}),
    )  # fmt: skip
    assert list(case.inputs) == ["input"], case.inputs
    assert case.expected is not None
    assert [value.tolist() for value in case.expected if hasattr(value, "tolist")] == [[1, 2], [3, 4], [5, 6]]
    assert (case.allowance.rtol, case.allowance.atol) == (1e-3, 1e-7)


@pytest.mark.slow
def test_an_expanded_case_counts_for_the_operator_that_it_expands() -> None:
    expanded = [case for case in official().values() if case.form == "expanded"]
    assert len(expanded) > 300, len(expanded)
    for case in expanded:
        stem = case.id.partition("_expanded")[0]
        if stem in official():
            assert case.operator == official()[stem].operator, case.id
            names = {node.op_type for node in onnx.load_from_string(case.model).graph.node}
            assert case.operator.split("/")[1] not in names, f"{case.id}: {names}"
    layer = [case for case in expanded if case.operator == "ai.onnx/LayerNormalization/17"]
    assert layer, {case.operator for case in expanded}


@pytest.mark.slow
def test_bfloat16_is_allowed_two_steps_as_in_onnxs_runner() -> None:
    wide = [
        case
        for case in official().values()
        if any(getattr(getattr(value, "dtype", None), "name", "") == "bfloat16" for value in case.expected or ())
    ]
    assert wide
    assert min(case.allowance.rtol for case in wide) >= 2**-6, wide[0].id


def test_sequences_and_optionals_of_official_cases() -> None:
    case = official()["official/test_split_to_sequence_1"]
    assert case.expected is not None
    (sequence,) = case.expected
    assert isinstance(sequence, list), sequence
    kinds = {type(value) for case in official().values() for value in case.inputs.values()}
    assert {list, type(None)} <= kinds, kinds


# Selection


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ops", "operators"),
    [
        (("Split",), {f"ai.onnx/Split/{v}" for v in (1, 2, 11, 13, 18)}),
        (("ai.onnx/Split",), {f"ai.onnx/Split/{v}" for v in (1, 2, 11, 13, 18)}),
        (("Split/18",), {"ai.onnx/Split/18"}),
        (("ai.onnx/Split/1?",), {f"ai.onnx/Split/{v}" for v in (11, 13, 18)}),
        (("SplitTo*",), {"ai.onnx/SplitToSequence/11", "ai.onnx/SplitToSequence/24"}),
        (("Split/2", "SplitTo*/24"), {"ai.onnx/Split/2", "ai.onnx/SplitToSequence/24"}),
    ],
)
def test_globs_over_operators(generated: Generated, ops: tuple[str, ...], operators: set[str]) -> None:
    selected = {case.operator for case in generated.cases(Selection(ops=ops))}
    assert selected == operators


@pytest.mark.slow
def test_globs_over_ids(generated: Generated) -> None:
    assert ids(generated, cases=("ai.onnx/Split/18/uneven",)) == ["ai.onnx/Split/18/uneven"]
    assert set(ids(generated, cases=("*/18/uneven@*",))) == {
        f"ai.onnx/Split/18/uneven@{form}"
        for form in ("omitted", "symbolic", "unranked", "top", "if_branch", "local_function")
    }
    assert ids(generated, cases=("ai.onnx/Split/1[38]/both", "ai.onnx/Split/18/neither")) == [
        "ai.onnx/Split/18/neither", "ai.onnx/Split/18/both",
    ]  # fmt: skip
    everything = ids(generated, ops=("Split*", "ReduceSum"))
    for glob in ("*", "ai.*", "ai.onnx/Split*/1*", "*float16*", "?i.onnx/Split/2/*"):
        expected = [case for case in everything if fnmatch.fnmatchcase(case, glob)]
        assert ids(generated, ops=("Split*", "ReduceSum"), cases=(glob,)) == expected != [], glob


@pytest.mark.slow
def test_globs_over_tags_and_all_together(generated: Generated) -> None:
    tagged = list(generated.cases(Selection(ops=("Split/18",), tags=("ax*",), cases=("*rank3*",))))
    assert tagged
    assert all("axis" in case.tags and "rank3" in case.id for case in tagged)
    assert {case.operator for case in tagged} == {"ai.onnx/Split/18"}
    either = Selection(tags=("axis", "edge"))
    assert all(case.tags & {"axis", "edge"} for case in generated.cases(either))
    assert not either.idle, either.idle


def test_a_glob_that_matches_nothing_is_left_idle(generated: Generated) -> None:
    selection = Selection(cases=("*uneven", "*no_such_case"), tags=("change", "no_such_tag"))
    list(generated.cases(selection))
    assert selection.idle == {("--case", "*no_such_case"), ("--tag", "no_such_tag")}


@pytest.mark.slow
def test_shards_share_out_every_case_once(generated: Generated) -> None:
    whole = ids(generated, ops=("Split*",))
    parts = [ids(generated, ops=("Split*",), shard=(index, 5)) for index in range(1, 6)]
    assert sorted(sum(parts, [])) == sorted(whole)  # noqa: RUF017 - five lists
    assert all(len(part) > 0.7 * len(whole) / 5 for part in parts), list(map(len, parts))


@pytest.mark.slow
def test_a_shard_is_stable_under_added_cases(generated: Generated) -> None:
    whole = set(ids(generated, shard=(2, 3), ops=("Split*",)))
    some = set(ids(generated, shard=(2, 3), ops=("Split/18",)))
    assert some == {id_ for id_ in whole if id_.startswith("ai.onnx/Split/18/")}


def test_a_selection_is_written_as_on_a_command_line() -> None:
    selection = Selection(("Split*",), ("a", "b"), ("edge",), (1, 4))
    assert str(selection) == "--op Split* --case a --case b --tag edge --shard 1/4"
    assert str(Selection()) == ""


# Names


def test_suites_by_name(tmp_path: Path) -> None:
    assert (open_suite("generated").name, open_suite("official").name) == ("generated", "official")
    for path, sentence in ((tmp_path / "missing", "does not exist"), (tmp_path, "contains no cases")):
        with pytest.raises(SuiteError, match=sentence) as caught:
            open_suite(str(path))
        assert str(path) in str(caught.value), caught.value
    (tmp_path / "file").write_text("")
    with refuses("not-a-suite", kind=SuiteError):
        open_suite(str(tmp_path / "file"))


@pytest.mark.parametrize(
    ("glob", "hint"),
    [("Splot", "did you mean Split"), ("Split/12", "Split has the versions 1, 2, 11, 13, 18"), ("Zzz", "it has ")],
)
def test_an_unknown_operator_is_reported_with_the_known_ones(generated: Generated, glob: str, hint: str) -> None:
    with pytest.raises(SelectionError, match=hint):
        check_selection(generated, Selection(ops=("Split", glob)))
    check_selection(generated, Selection(ops=("Split",)))


@pytest.mark.slow
def test_cases_are_selected_by_id() -> None:
    assert find_case("ai.onnx/Split/18/uneven@top").id == "ai.onnx/Split/18/uneven@top"
    assert find_case("official/test_split_1d_uneven_split_opset18", (OFFICIAL,)).operator == "ai.onnx/Split/18"
    with refuses("unknown-case", "similar cases: ", "ai.onnx/Split/18/uneven", kind=SelectionError):
        find_case("ai.onnx/Split/18/unevn")
    with refuses("unknown-case", "ai.onnx/Split/18/unev*", kind=SelectionError):
        find_case("ai.onnx/Split/18/unev*")


# Folders


def test_a_folder_is_a_suite_of_its_own_name(tmp_path: Path) -> None:
    op = registry.load().named("SplitToSequence")
    cases = [case for case in plans.cases(op, (24,)) if case.form == "plain"][:20]
    root = tmp_path / "stored"
    for case in cases:
        onnx_layout.write(case, root)
    folder = open_suite(str(root))
    stored = list(folder.cases(Selection()))
    assert [case.id for case in stored] == sorted(f"stored/{onnx_layout.folder_name(case.id)}" for case in cases)
    assert {case.operator for case in stored} == {"ai.onnx/SplitToSequence/24"}
    assert ids(folder, ops=("SplitToSequence/24",), cases=("stored/*__scalar",)) == [
        "stored/test_ai.onnx__SplitToSequence__24__scalar"
    ]
    before = folder.digest()
    (root / onnx_layout.folder_name(cases[0].id) / "model.onnx").write_bytes(b"damaged")
    assert open_suite(str(root)).digest() != before
    assert len(ids(folder)) == len(cases) - 1
    [unread] = folder.unreadable
    assert unread.case == f"stored/{onnx_layout.folder_name(cases[0].id)}"
    assert onnx_layout.folder_name(cases[0].id) in unread.message, unread
    assert unread.message.endswith("; repair the folder, or remove it from the suite"), unread
    assert issubclass(onnx_layout.StoreError, HarnessError)


def test_the_digest_of_generated_differs_between_versions(
    generated: Generated, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert generated.digest() == Generated().digest()
    here = generated.digest()
    monkeypatch.setattr(onnx, "__version__", "1.0.0")
    assert generated.digest() != here
    assert OFFICIAL.digest() == "onnx 1.0.0"
