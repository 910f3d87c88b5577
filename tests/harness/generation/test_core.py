# SPDX-License-Identifier: Apache-2.0
"""The core: few cases that reach what all of them reach, taken from the manifest, the same whenever the cases are."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from onnx_conformance.base.package import GENERATED
from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.declare.op import DERIVED
from onnx_conformance.forms.table import EXPANDED
from onnx_conformance.generation import core, coverage, manifest, plans
from onnx_conformance.generation.cover import cover
from onnx_conformance.specification import registry
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import check_selection
from onnx_conformance.suites.official import Official
from onnx_conformance.suites.selection import Selection, SelectionError
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import Op

pytestmark = [pytest.mark.usefixtures("few_operators"), pytest.mark.slow]

SPLIT = "Split"
LEAST_NEWEST = 10
"""Minimum number of cases of the core that expect values, in the newest version of each operator; or all it has."""


def reach(op: Op, cases: list[Case]) -> set[object]:
    """Return what cases reach: of each meaning points, forms and declared cases; sentences; of versions outcomes."""
    of = core.meanings(op)
    return set().union(*(core.reached(case, of) for case in cases))


@pytest.fixture(scope="module")
def split() -> tuple[Op, list[Case]]:
    op = registry.load().named(SPLIT)
    return op, list(plans.cases(op))


def test_the_core_reaches_the_same_points_as_all_cases(split: tuple[Op, list[Case]]) -> None:
    op, cases = split
    chosen = core.choose(op, cases)
    assert reach(op, [case for case in cases if case.id in chosen]) == reach(op, cases)
    assert 0 < len(chosen) < len(cases) / 4, (len(chosen), len(cases))


def test_every_sentence_version_and_point_of_each_meaning_is_in_the_core(split: tuple[Op, list[Case]]) -> None:
    op, cases = split
    ids = core.choose(op, cases)
    chosen = [case for case in cases if case.id in ids]
    assert {clause for case in chosen for clause in case.clauses} == {item for case in cases for item in case.clauses}
    assert {(case.operator, case.outcome) for case in chosen} == {(case.operator, case.outcome) for case in cases}
    versions = {str(version): version for version in registry.versions(op)}

    def points(some: list[Case]) -> set[object]:
        with_values = [case for case in some if case.expected is not None and case.form != EXPANDED]
        return {  # Versions repeat types, so one of them has each.
            point if point.kind == "type" else (op.oracle_for(versions[case.operator].since).since, point)
            for case in with_values
            for point in coverage.reached(versions[case.operator], case)
        }

    assert points(chosen) == points(cases)


@pytest.mark.slow
def test_a_type_in_a_name_makes_no_other_case_and_what_is_open_is_there_for_its_sentence(
    split: tuple[Op, list[Case]],
) -> None:
    op, cases = split
    of = core.meanings(op)
    first = next(case for case in cases if case.outcome is Outcome.VALUES)
    for_floats, for_integers = (
        replace(first, id=f"{first.operator}/limits_{type_}_high") for type_ in ("float16", "int64")
    )
    assert core.reached(for_floats, of) == core.reached(for_integers, of) != core.reached(first, of)
    left_open = next(case for case in cases if case.outcome is Outcome.UNSPECIFIED)
    assert core.reached(left_open, of) == core.reached(replace(left_open, id=f"{left_open.operator}/other"), of)


@pytest.mark.slow
def test_every_scored_case_is_in_the_core_plainly(split: tuple[Op, list[Case]]) -> None:
    """Another form may be refused for its own sake, and hide what the runtime does with the case."""
    op, cases = split
    ids = core.choose(op, cases)
    scored = [case for case in cases if case.outcome is not Outcome.UNSPECIFIED and case.form == PLAIN]
    scored = [case for case in scored if not case.name.startswith(DERIVED)]
    plainly = {core.in_any_type(case.name) for case in scored if case.id in ids}
    assert plainly == {core.in_any_type(case.name) for case in scored}


@pytest.mark.slow
def test_what_the_newest_version_leaves_open_is_in_the_core_case_by_case(split: tuple[Op, list[Case]]) -> None:
    """A changed limit in an oracle shows only in the case at the limit. In older versions, one a sentence is enough."""
    op, cases = split
    ids = core.choose(op, cases)
    left_open = [case for case in cases if case.outcome is Outcome.UNSPECIFIED and case.form == PLAIN]
    newest = {core.in_any_type(case.name) for case in left_open if case.operator == f"{op}/18"}
    assert newest
    assert newest <= {core.in_any_type(case.name) for case in left_open if case.id in ids}
    assert {case.clauses for case in left_open} == {case.clauses for case in left_open if case.id in ids}


def test_no_case_of_the_core_of_split_can_go(split: tuple[Op, list[Case]]) -> None:
    """Only an older version may reach what the chosen case of a newer one is there for."""
    op, cases = split
    chosen = core.choose(op, cases)
    whole = reach(op, cases)
    needless = [
        case for case in chosen if reach(op, [other for other in cases if other.id in chosen - {case}]) == whole
    ]
    assert len(needless) <= len(chosen) / 20, needless


def test_the_same_cases_in_another_process_have_the_same_core(split: tuple[Op, list[Case]]) -> None:
    op, cases = split
    assert core.choose(op, cases) == core.choose(op, list(cases))


def test_a_cover_takes_the_set_that_adds_most_and_of_equal_ones_the_first() -> None:
    small, large, other = frozenset("ab"), frozenset("abc"), frozenset("cd")
    assert cover([small, large, other], [0] * 3) == [1, 2]
    assert cover([small, small], [0] * 2) == [0]
    assert cover([], []) == []
    assert cover([frozenset(), small], [0] * 2) == [1]


def test_a_set_goes_if_later_ones_contain_it() -> None:
    first, *rest = frozenset("abcd"), frozenset("abe"), frozenset("cdf")
    assert cover([first, *rest], [0] * 3) == [1, 2]
    assert cover([first, *rest], [0, 1, 1]) == [0, 1, 2], "later turns do not make it superfluous"


def test_sets_whose_turn_is_later_add_only_the_rest() -> None:
    small, large, other = frozenset("ab"), frozenset("abc"), frozenset("cd")
    assert cover([large, small, other], [1, 0, 0]) == [1, 2]
    assert cover([large, small], [1, 0]) == [1, 0]


def test_the_newest_version_of_a_meaning_represents_it(split: tuple[Op, list[Case]]) -> None:
    op, _ = split
    assert core.representatives(op) == {"ai.onnx/Split/1", "ai.onnx/Split/13", "ai.onnx/Split/18"}


def test_an_older_version_is_chosen_only_for_what_the_newest_does_not_reach(split: tuple[Op, list[Case]]) -> None:
    op, cases = split
    newest, of = core.representatives(op), core.meanings(op)
    by_newest = reach(op, [case for case in cases if case.operator in newest])
    chosen = core.choose(op, cases)
    for_outcomes = Counter(
        (case.operator, case.outcome)
        for case in cases
        if case.id in chosen
        and case.operator not in newest
        and core.reached(case, of) - {(case.operator, case.outcome)} <= by_newest
    )
    assert {*for_outcomes.values()} <= {1}, for_outcomes


@pytest.mark.usefixtures("all_operators")
def test_the_core_tests_the_newest_versions_with_values() -> None:
    """The committed manifest keeps the promises that docs/glossary.md makes about the core."""
    shares: Counter[bool] = Counter()
    few, size = [], 0
    for op in filter(registry.versions, registry.load()):  # The installed onnx may lack an operator.
        entries = manifest.entries(op)
        assert entries is not None, op
        of, newest = core.meanings(op), core.representatives(op)
        current = {str(version) for version in registry.versions(op) if not version.deprecated}
        with_values: Counter[str] = Counter()
        in_core: Counter[str] = Counter()
        for entry in entries:
            size += entry.core
            version = "/".join(entry.id.split("/")[:3])
            if entry.outcome in {Outcome.VALUES, Outcome.PROPERTY} and version in current:
                with_values[version] += 1
                in_core[version] += entry.core
                shares[version in newest] += entry.core
        latest = max(current, key=lambda name: of[name][0].since, default="")
        if in_core[latest] < min(LEAST_NEWEST, with_values[latest]):
            few.append(f"{latest}: {in_core[latest]} of {with_values[latest]}")
    assert not few, few
    assert shares[True] >= 0.85 * shares.total(), shares
    assert size <= core.MOST, size


def test_a_run_of_the_core_has_the_cases_that_the_manifest_names(split: tuple[Op, list[Case]]) -> None:
    op, _ = split
    entries = manifest.entries(op)
    assert entries is not None, "the committed manifest is not of these cases: onnx-conformance manifest"
    selection = Selection(ops=("ai.onnx/Split",), core=True)
    ids = [case.id for case in Generated().cases(selection)]
    assert ids == [entry.id for entry in entries if entry.core]
    assert [item.id for item in Generated().listed(Selection(ops=("ai.onnx/Split",), core=True))] == ids
    assert str(selection) == "--op ai.onnx/Split --core"


@pytest.fixture
def other_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of another manifest, which is empty."""
    monkeypatch.setattr(manifest, "GENERATED", tmp_path)
    cached = (manifest.entries_of, manifest._texts_by_version)
    for function in cached:
        function.cache_clear()
    yield tmp_path
    for function in cached:
        function.cache_clear()


def test_where_the_manifest_is_of_other_cases_the_core_is_chosen_anew(
    split: tuple[Op, list[Case]], other_manifest: Path
) -> None:
    op, cases = split
    (other_manifest / manifest.file_name(op)).write_text(f"# head\n18/gone values {'1' * 11} plain*\n")
    assert manifest.entries(op) is None
    ids = {case.id for case in Generated().cases(Selection(ops=("ai.onnx/Split",), core=True))}
    assert ids == core.choose(op, cases)
    ids = [item.id for item in Generated().listed(Selection(ops=("ai.onnx/Split",)))]
    assert ids == [case.id for case in cases]


@pytest.mark.parametrize("line", ["5/gone values 11111111111 plain*\n", "18/cut values 111 plain*\n", "no number\n"])
def test_a_manifest_with_other_lines_is_not_believed(
    line: str, split: tuple[Op, list[Case]], other_manifest: Path
) -> None:
    op, _ = split
    text = (GENERATED / manifest.file_name(op)).read_text()
    (other_manifest / manifest.file_name(op)).write_text(text + line)
    assert manifest.entries(op) is None


def test_a_manifest_without_a_core_is_not_believed(split: tuple[Op, list[Case]], other_manifest: Path) -> None:
    op, _ = split
    (other_manifest / manifest.file_name(op)).write_text(manifest.text(op).replace(manifest.CORE, ""))
    assert manifest.entries(op) is None


def test_listed_cases_are_those_generated(split: tuple[Op, list[Case]]) -> None:
    op, cases = split
    assert manifest.entries(op) is not None
    listed = list(Generated().listed(Selection(ops=("ai.onnx/Split",))))
    assert [(i.id, i.operator, i.form, i.outcome, i.tags) for i in listed] == [
        (case.id, case.operator, case.form, str(case.outcome), case.tags) for case in cases
    ]


def test_other_suites_have_no_core() -> None:
    with refuses("suite-without-core", kind=SelectionError):
        check_selection(Official(), Selection(core=True))
