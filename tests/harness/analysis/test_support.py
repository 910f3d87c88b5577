# SPDX-License-Identifier: Apache-2.0
"""The verdict of results on the calls of a model: by version, type, attribute and rank."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import onnx
import pytest

from onnx_conformance.analysis import support, support_file
from onnx_conformance.analysis.known_call import KnownCall
from onnx_conformance.analysis.model_traits import Reader
from onnx_conformance.analysis.support import Standing
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.specification.model_use import calls
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection
from runs import result, run_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from onnx_conformance.analysis.support import Judged, Support
    from onnx_conformance.base.verdict import Result

LRN = '<ir_version: 8, opset_import: ["" : 13]> m ({type}{shape} X) => ({type}{shape} Y) {{ Y = LRN <{more}> (X) }}'


def lrn(*, size: int = 3, type_: str = "float", rank: int = 4, more: str = "", opset: int = 13) -> onnx.ModelProto:
    """Return a model with one LRN."""
    text = LRN.format(type=type_, shape=[2, 8, 3, 3, 3][:rank], more=f"size = {size}{more}")
    model = onnx.parser.parse_model(text)
    model.opset_import[0].version = opset
    return model


def listed(operator: str) -> list[Result]:
    """Return a passing result of each plain case of an operator that the text allows."""
    return [
        result(item.id.removeprefix(f"{item.operator}/"), operator=item.operator, outcome=item.outcome, form=item.form)
        for item in Generated().listed(Selection(ops=(operator,), forms=("plain",)))
    ]


@pytest.fixture(scope="module")
def passing() -> list[Result]:
    return listed("LRN")


@functools.cache
def properties() -> Mapping[str, Mapping[str, str]]:
    """Return the properties of the plain cases of LRN by id."""
    cases = Generated().cases(Selection(ops=("LRN",), forms=("plain",)))
    reader = Reader()
    return {case.id: dict(support.words(reader.of_case(case)[0])) for case in cases}


def like(verdict: Callable[[Mapping[str, str]], Verdict]) -> Callable[[str], Verdict]:
    """Return a function that judges a case by its properties."""
    return lambda case: verdict(properties()[case])


def supported(path: Path, results: list[Result], verdict: Callable[[str], Verdict]) -> Support:
    """Return what a runtime supports that has these verdicts, by the id of the case."""
    answers = [
        result(
            item.case.removeprefix(f"{item.operator}/"),
            verdict(item.case),
            operator=item.operator,
            outcome=item.outcome,
        )
        for item in results
    ]
    run = run_of(path, *answers, digest=Generated().digest())
    (made,) = support.of_runs([run], Generated())
    return made


def judged(known: Support, model: onnx.ModelProto) -> Judged:
    (call,) = calls(model)
    assert call.version is not None
    return support.judged(known, call.operator, call.version.since, support.words(KnownCall.of(call).traits))


def onnxruntime(call: Mapping[str, str]) -> Verdict:
    """Return verdicts like those of ONNX Runtime, which has LRN for odd sizes, rank 4 and float."""
    if call.get("type is ") != "float":
        return Verdict.UNSUPPORTED
    odd = call.get("size=") in {"1", "3", "5", "7", "13"}
    return Verdict.PASS if odd and call.get("rank of X = ") == "4" else Verdict.REFUSED


def test_attributes_types_and_ranks_are_judged(passing: list[Result], tmp_path: Path) -> None:
    known = supported(tmp_path / "r.ndjson", passing, like(onnxruntime))
    assert judged(known, lrn()).standing is Standing.PASSES
    even = judged(known, lrn(size=4))
    assert even == support.Judged(Standing.FAILS, ("no case with size=4 passes",))
    assert judged(known, lrn(rank=3)) == support.Judged(Standing.FAILS, ("no case with rank of X = 3 passes",))
    half = judged(known, lrn(type_="float16"))
    assert half == support.Judged(Standing.OPTS_OUT, ("type is float16 is unsupported",))
    unseen = judged(known, lrn(size=10))
    assert unseen.standing is Standing.UNTESTED
    assert "no case with size=10, and none with size=2, 4" in unseen.reasons[0]
    assert judged(known, lrn(more=", alpha = 0.25")).standing is Standing.PASSES, "an unseen number says nothing"


def test_a_version_is_lacking_failing_or_unknown(passing: list[Result], tmp_path: Path) -> None:
    old = supported(tmp_path / "a", passing, lambda case: Verdict.PASS if "/1/" in case else Verdict.UNSUPPORTED)
    assert judged(old, lrn(opset=12)).standing is Standing.PASSES
    lacks = judged(old, lrn())
    assert lacks.standing is Standing.LACKS
    assert "version 1, which has the same meaning, runs" in lacks.reasons[0]
    wrong = supported(tmp_path / "b", passing, lambda case: Verdict.PASS if "/1/" in case else Verdict.CRASH)
    assert judged(wrong, lrn()).standing is Standing.FAILS
    assert judged(wrong, lrn(opset=12)).standing is Standing.PASSES, "a version does not answer for another one"
    part = supported(tmp_path / "c", [item for item in passing if "/1/" in item.case], lambda _: Verdict.PASS)
    assert judged(part, lrn()).standing is Standing.UNTESTED
    relu = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 13]> m (float[1] x) => (float[1] y) { y = Relu (x) }'
    )
    assert judged(part, relu).standing is Standing.UNTESTED


def test_a_version_is_not_lacking_if_only_unsupported_types_ran(passing: list[Result], tmp_path: Path) -> None:
    """A core has few cases of an older version, perhaps only those of types that the runtime lacks in every version."""
    old = [
        item for item in passing if item.operator.endswith("/1") and properties()[item.case].get("type is ") == "double"
    ]
    new = [item for item in passing if item.operator.endswith("/13")]
    assert old
    known = supported(
        tmp_path / "r",
        [*old, *new],
        lambda case: (
            Verdict.UNSUPPORTED
            if case in {item.case for item in old} or "double" in properties()[case].values()
            else Verdict.PASS
        ),
    )
    assert judged(known, lrn()).standing is Standing.PASSES
    untested = judged(known, lrn(opset=12))
    assert untested.standing is Standing.UNTESTED
    assert "version 13, which has the same meaning, runs" in untested.reasons[0]


def test_failures_that_the_call_does_not_exclude_may_concern_it(passing: list[Result], tmp_path: Path) -> None:
    known = supported(
        tmp_path / "a", passing, lambda case: Verdict.WRONG_VALUE if case.endswith("/nan") else Verdict.PASS
    )
    may = judged(known, lrn(rank=3))
    assert may.standing is Standing.MAY_FAIL, "the values of the input are unknown"
    assert "such as ai.onnx/LRN/1/nan" in may.reasons[0]
    assert judged(known, lrn(rank=3, type_="double")).standing is Standing.PASSES, "the failing case has another type"


def test_what_another_property_explains_is_no_cause(passing: list[Result], tmp_path: Path) -> None:
    """All cases of a size may be of an unsupported type; that does not show that the size is unsupported."""
    one = next(item for item in passing if item.case.endswith("/size_14"))
    of_type = [item for item in passing if "float16" in item.case]
    kept = [item for item in passing if "double" in item.case or item.case.endswith("/defaults")]
    known = supported(
        tmp_path / "a", [*kept, *of_type], lambda case: Verdict.UNSUPPORTED if "16" in case else Verdict.PASS
    )
    assert judged(known, lrn(type_="float16")).standing is Standing.OPTS_OUT
    sizes = known.of("ai.onnx/LRN", 13).rows["size="]
    assert all(outcome is support.Outcome.PASS for outcome in sizes.values()), sizes
    alone = supported(tmp_path / "b", [*kept, one], lambda case: Verdict.UNSUPPORTED if "14" in case else Verdict.PASS)
    once = judged(alone, lrn(size=14))
    assert once.standing is Standing.MAY_FAIL, "the case may not pass for another reason"
    assert once.reasons == ("the only case with size=14 does not pass",)
    narrow = supported(
        tmp_path / "c", [item for item in kept if item.case.endswith("/defaults")], lambda _: Verdict.PASS
    )
    only = judged(narrow, lrn(size=4))
    assert only == support.Judged(Standing.UNTESTED, ("the results have no case with size=4, only with size=3",))


def test_tools_forbidden_and_undefined_cases_do_not_count(passing: list[Result], tmp_path: Path) -> None:
    one = next(item for item in passing if item.outcome == "values")
    name = one.case.removeprefix(f"{one.operator}/")
    answers = [
        result(name, operator=one.operator),
        result("forbidden", Verdict.ACCEPTED_INVALID, operator=one.operator, outcome="rejects"),
        result(f"{name}@external_data", Verdict.CRASH, operator=one.operator, form="external_data"),
        result("open", Verdict.UNSPECIFIED, operator=one.operator, outcome="unspecified"),
        result(name, Verdict.INVALID_MODEL, operator=one.operator, backend="slim"),
    ]
    hellos = {"mine": {"version": "1"}, "slim": {"subject": "transformer"}}
    run = run_of(tmp_path / "r", *answers, backends=("mine", "slim"), hellos=hellos, digest=Generated().digest())
    (made,) = support.of_runs([run], Generated())
    assert made.backend == "mine"
    assert [tuple(counts) for counts in made.of("ai.onnx/LRN", 13).versions.values()] == [(1, 0, 0)]


def test_a_file_has_the_same_verdicts(passing: list[Result], tmp_path: Path) -> None:
    known = supported(tmp_path / "r.ndjson", passing, like(onnxruntime))
    other = support.Support("other", "other", "2", known.suite)
    path = tmp_path / support_file.FILE
    path.write_text("".join(support_file.text([other, known])))
    empty, again = support_file.read(path)
    assert not empty.meanings
    assert (again.backend, again.version, again.suite) == ("mine", "1.0", known.suite)
    for model in (lrn(), lrn(size=4), lrn(rank=3), lrn(type_="float16"), lrn(size=10), lrn(opset=12)):
        assert judged(again, model) == judged(known, model)
    nan = supported(tmp_path / "n", passing, lambda case: Verdict.CRASH if case.endswith("/nan") else Verdict.PASS)
    path.write_text("".join(support_file.text([nan])))
    assert judged(support_file.read(path)[0], lrn(rank=3)).standing is Standing.MAY_FAIL


@pytest.mark.parametrize(
    "content",
    [
        None, "", "[]", "{}", '{"format": 2}', "[" * 100_000,
        '{"format": 1, "suite": {}, "backends": [{}], "versions": {}, "rows": {}}',
        '{"format": 1, "suite": {}, "backends": [], "versions": {"a/b/1": [[-1]]}, "rows": {}}',
        '{"format": 1, "suite": {}, "backends": [], "versions": {}, "rows": {"a/b/1": [{}]}}',
    ],
)  # fmt: skip
def test_a_damaged_file_gets_a_sentence(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / support_file.FILE
    if content is not None:
        path.write_text(content)
    with pytest.raises(support_file.SupportError, match=r"support\.json"):
        support_file.read(path)


def test_hostile_numbers_and_places_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / support_file.FILE
    rows = '{"ai.onnx/LRN/13": [{"size=": ["1", "2"]}, {"999999999999p": [0, 7], "p?": [0]}, [1, 2, 3]]}'
    path.write_text(
        '{"format": 1, "suite": {}, "backends": [{"backend": "mine\\u001b[2J"}], '
        f'"versions": {{"ai.onnx/LRN/13": [[1], [2]], "x": [[1]]}}, "rows": {rows}}}'
    )
    (known,) = support_file.read(path)
    assert known.backend == "mine"
    assert known.of("ai.onnx/LRN", 13).rows == {"size=": {"1": support.Outcome.PASS, "2": support.Outcome.PASS}}


def test_results_of_two_suites_are_merged(passing: list[Result], tmp_path: Path) -> None:
    first = supported(tmp_path / "a", passing, like(onnxruntime))
    second = supported(tmp_path / "b", listed("Relu"), lambda _: Verdict.PASS)
    both = support.merged([first, second])
    assert set(both.meanings) == {"ai.onnx/LRN", "ai.onnx/Relu"}
    assert judged(support.merged([second, first]), lrn(size=4)).standing is Standing.FAILS
