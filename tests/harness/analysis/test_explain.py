# SPDX-License-Identifier: Apache-2.0
"""Statements on what failures share: complete where the truth is known, never false, and quick."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
import pickle
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import ruled
from hypothesis import given, settings
from hypothesis import strategies as st

from commands import command
from onnx_conformance.analysis import conditions, explain, rule_search, traits
from onnx_conformance.base.verdict import Result, Verdict, split_operator
from onnx_conformance.declare import NoAnswer
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.replies import Answered, Refused
from onnx_conformance.report import explanation, markdown, report_data
from onnx_conformance.results.stream import Run
from onnx_conformance.suites.folder import Folder
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection
from paths import ADAPTERS
from runs import run_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from onnx_conformance.analysis.statement import Statement
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.replies import Reply
    from onnx_conformance.suites.suite import Suite

ADD = "ai.onnx/Add"
TYPES = ("float", "double", "float16", "bfloat16", "int32", "int64")
VERSIONS = (1, 7, 13, 14)
TAGS = ("basic", "edge")
HOSTILE = "\x1b[2J\x1b[31mred\x1b]0;title\x07\r\nsecond\u202e\x00 ``` | <b>" + "x" * 5000
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

pytestmark = pytest.mark.usefixtures("ends", "few_operators")


def result(version: int, type_: str, tag: str = "basic", form: str = "plain", **changed: Any) -> Result:
    operator = f"{ADD}/{version}"
    case = f"{operator}/{tag}/{type_}" + ("" if form == "plain" else f"@{form}")
    plain = Result(case, operator, "mine", Verdict.PASS, "values", form=form, tags=(tag,))
    return dataclasses.replace(plain, **changed)


def every(fails: Callable[[Result], bool], verdict: Verdict = Verdict.WRONG_VALUE, **changed: Any) -> list[Result]:
    """Return a result of every kind; those fail of which the rule says so."""
    kinds = itertools.product(VERSIONS, TYPES, TAGS, ("plain", "initializer", "top"))
    results = [result(*kind) for kind in kinds]
    return [dataclasses.replace(item, verdict=verdict, **changed) if fails(item) else item for item in results]


def version(item: Result) -> int:
    return int(item.operator.rpartition("/")[2])


def type_of(item: Result) -> str:
    return item.case.partition("@")[0].rpartition("/")[2]


def stored(
    folder: Path, results: Iterable[Result], suite: str = "elsewhere", digest: str = "", *, whole: bool = True
) -> Run:
    """Return a run that holds these results."""
    path = folder / "run.ndjson"
    path.unlink(missing_ok=True)
    results = list(results)
    hellos: dict[str, dict[str, str]] = {item.backend: {} for item in results}
    return run_of(path, *results, finish=whole, hellos=hellos, suite=suite, digest=digest)


def statements_of(folder: Path, results: Iterable[Result]) -> list[str]:
    return [str(item) for item in explain.explain(stored(folder, results), None).statements]


# The truth, in as few words


@pytest.mark.parametrize(
    ("fails", "words"),
    [
        (lambda item: type_of(item) == "float16", "type is float16"),
        (lambda item: type_of(item) in {"float16", "bfloat16"}, "type is one of bfloat16, float16"),
        (lambda item: type_of(item) != "float", "type is not float"),
        (lambda item: version(item) >= 13, "version >= 13"),
        (lambda item: version(item) < 7, "version is 1"),
        (lambda item: version(item) in {7, 13}, "7 <= version < 14"),
        (lambda item: item.form == "initializer", "form is @initializer"),
        (lambda item: item.tags == ("edge",), "tag is edge"),
        (
            lambda item: type_of(item) == "int64" and version(item) >= 13,
            "type is int64 and version >= 13",
        ),
        (
            lambda item: type_of(item) in {"int32", "int64"} and item.form == "top",
            "type is one of int32, int64 and form is @top",
        ),
        (
            lambda item: type_of(item) == "int64" and item.form == "top" and version(item) == 7,
            "type is int64 and version is 7 and form is @top",
        ),
    ],
)  # fmt: skip
def test_the_smallest_exact_statement_is_chosen(tmp_path: Path, fails: Callable[[Result], bool], words: str) -> None:
    results = every(fails)
    count = sum(item.verdict.failed for item in results)
    assert statements_of(tmp_path, results) == [
        f"wrong_value exactly when {words} ({count} of {count}; no passing case matches)"
    ]


def test_where_every_case_fails_there_is_no_condition(tmp_path: Path) -> None:
    results = every(lambda _: True, Verdict.CRASH)
    assert statements_of(tmp_path, results) == [
        f"crash exactly whatever the case ({len(results)} of {len(results)}; no passing case matches)"
    ]


def test_without_passing_cases_failures_are_separated_from_other_failures(tmp_path: Path) -> None:
    results = every(lambda _: True, Verdict.REFUSED, error="Error", message="no")
    results = [dataclasses.replace(i, verdict=Verdict.CRASH) if type_of(i) == "int64" else i for i in results]
    causes = {item.verdict: item.conditions for item in explain.explain(stored(tmp_path, results), None).statements}
    assert causes == {Verdict.CRASH: ("type is int64",), Verdict.REFUSED: ("type is not int64",)}


def test_two_causes_are_two_statements(tmp_path: Path) -> None:
    sentences = statements_of(tmp_path, every(lambda item: type_of(item) == "float16" or item.form == "top"))
    assert sentences == [
        "wrong_value when form is @top (48 of 64; no passing case matches)",
        "wrong_value when type is float16 (24 of 64; no passing case matches)",
    ]


def test_messages_separate_causes_if_that_is_shorter(tmp_path: Path) -> None:
    results = every(lambda item: type_of(item) == "float16", Verdict.REFUSED, error="E", message="no float16")
    results += [
        result(99, "float16", tag, "plain", verdict=Verdict.REFUSED, error="E", message=f"no opset {tag!r}")
        for tag in TAGS
    ]
    explained = explain.explain(stored(tmp_path, results), None)
    assert [str(item) for item in explained.statements] == [
        "refused exactly when type is float16 (26 of 26; no passing case matches)"
    ]


def test_passing_cases_that_match_are_counted(tmp_path: Path) -> None:
    results = every(lambda item: type_of(item) == "float16" and version(item) >= 7)
    spared = next(item for item in results if item.verdict.failed)
    twin = dataclasses.replace(renamed(spared, "spared"), verdict=Verdict.PASS)
    statements = explain.explain(stored(tmp_path, [*results, twin]), None).statements
    assert [(item.matched, item.failing, item.passing) for item in statements] == [(18, 18, 1)]
    assert statements[0].conditions == ("type is float16", "version >= 7")
    assert not statements[0].exact
    assert "1 passing case matches too" in str(statements[0])


def test_failures_that_share_nothing_are_reported_as_left(tmp_path: Path) -> None:
    """Each failure has a passing twin that differs in its name alone."""
    results = every(lambda _: False)
    for place in (3, 50, 97):
        results.append(renamed(results[place], "twin"))
        results[place] = dataclasses.replace(results[place], verdict=Verdict.CRASH, signal="SIGSEGV")
    run = stored(tmp_path, results)
    explained = explain.explain(run, None)
    assert explained.statements == []
    assert [(item.failing, len(item.left)) for item in explained.explained] == [(3, 3)]
    assert "crash: 3 cases without a condition that distinguishes passing cases" in "\n".join(
        explanation.lines(run, explained)
    )


def renamed(item: Result, name: str) -> Result:
    """Return a result of a case that differs in name alone."""
    return dataclasses.replace(item, case=item.case.replace(f"/{item.tags[0]}/", f"/{name}_{item.tags[0]}/"))


def test_a_statement_never_lists_single_cases(tmp_path: Path) -> None:
    """Failures strewn without a rule get few statements or none, each for more than one case."""
    results = every(lambda item: hash_of(item.case) % 7 == 0)
    statements = explain.explain(stored(tmp_path, results), None).statements
    assert len(statements) <= rule_search.MOST_STATEMENTS
    for item in statements:
        assert item.matched >= rule_search.LEAST[min(len(item.conditions), 3)], item


def hash_of(text: str) -> int:
    return sum(ord(letter) * place for place, letter in enumerate(text, 1))


def test_invalid_cases_are_compared_with_invalid_cases(tmp_path: Path) -> None:
    """Invalidity of a case is a condition only where valid cases would match as well."""
    valid = every(lambda _: False)
    invalid = [
        dataclasses.replace(renamed(item, "invalid"), outcome="rejects")
        for item in every(lambda item: type_of(item) == "float16", Verdict.ACCEPTED_INVALID)
        if type_of(item) in {"float16", "int32"}
    ]
    words = "accepted_invalid exactly when type is float16"
    assert statements_of(tmp_path, [*valid, *invalid]) == [
        f"{words} and the text forbids it (24 of 24; no passing case matches)"
    ]
    assert statements_of(tmp_path, invalid) == [f"{words} (24 of 24; no passing case matches)"]


def test_backends_and_operators_have_separate_statements(tmp_path: Path) -> None:
    mine = every(lambda item: type_of(item) == "float16")
    other = [dataclasses.replace(i, backend="other") for i in every(lambda item: version(item) == 1, Verdict.TIMEOUT)]
    run = stored(tmp_path, [*mine, *other])
    explained = explain.explain(run, None)
    assert [(i.backend, i.verdict, i.conditions) for i in explained.statements] == [
        ("mine", Verdict.WRONG_VALUE, ("type is float16",)),
        ("other", Verdict.TIMEOUT, ("version is 1",)),
    ]
    assert [i.backend for i in explain.explain(run, None, backends=["other"]).statements] == ["other"]
    assert explain.explain(run, None, Selection(ops=("Sub",))).statements == []


def test_the_order_of_results_changes_nothing(tmp_path: Path) -> None:
    results = every(lambda item: type_of(item) == "float16" or (version(item) >= 13 and item.form == "top"))
    once = explain.explain(stored(tmp_path, results), None).statements
    assert explain.explain(stored(tmp_path, results[::-1]), None).statements == once
    assert once


@pytest.mark.parametrize("verdict", [Verdict.UNSUPPORTED, Verdict.UNSPECIFIED, Verdict.ADAPTER_ERROR])
def test_unscored_verdicts_are_neither_failures_nor_passes(tmp_path: Path, verdict: Verdict) -> None:
    results = every(lambda item: type_of(item) == "float16")
    results += [renamed(item, "other") for item in every(lambda _: True, verdict)[:40]]
    assert statements_of(tmp_path, results) == [
        "wrong_value exactly when type is float16 (24 of 24; no passing case matches)"
    ]


# Every claim holds: recounted from the traits of results, without the search

KINDS = list(itertools.product(VERSIONS, TYPES[:4], TAGS, ("plain", "top")))


def holds(words: str, item: Result) -> bool:
    """Read a condition as a person would."""
    values = {
        "type": type_of(item),
        "form": item.form if item.form == "plain" else f"@{item.form}",
        "tag": item.tags[0],
    }
    number = version(item)
    if match := re.fullmatch(r"(\d+) <= version < (\d+)", words):
        return int(match[1]) <= number < int(match[2])
    if match := re.fullmatch(r"version (is|<|>=) (\d+)", words):
        bound = int(match[2])
        return {"is": number == bound, "<": number < bound, ">=": number >= bound}[match[1]]
    match = re.fullmatch(r"(type|form|tag) is (one of |none of |not )?(.+)", words)
    assert match, words
    named = values[match[1]] in match[3].split(", ")
    return named != (match[2] in {"none of ", "not "})


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from([Verdict.PASS, Verdict.PASS, Verdict.WRONG_VALUE, Verdict.CRASH]), min_size=64, max_size=64
    )
)
def test_every_statement_matches_its_counts(tmp_path_factory: pytest.TempPathFactory, verdicts: list[Verdict]) -> None:
    results = [result(*kind, verdict=verdict) for kind, verdict in zip(KINDS, verdicts, strict=True)]
    recount(explain.explain(stored(tmp_path_factory.mktemp("run"), results), None).statements, results)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["type", "form", "version", "tag"]), min_size=1, max_size=3, unique=True), st.randoms())
def test_every_conjunction_has_an_exact_statement(
    tmp_path_factory: pytest.TempPathFactory, named: list[str], random: Any
) -> None:
    chosen = random.choice(KINDS)
    places = {"version": 0, "type": 1, "tag": 2, "form": 3}
    results = [
        result(
            *kind, verdict=Verdict.CRASH if all(kind[places[n]] == chosen[places[n]] for n in named) else Verdict.PASS
        )
        for kind in KINDS
    ]
    statements = explain.explain(stored(tmp_path_factory.mktemp("run"), results), None).statements
    assert [item.exact for item in statements] == [True]
    assert len(statements[0].conditions) <= len(named)
    recount(statements, results)


def recount(statements: list[Statement], results: list[Result]) -> None:
    for item in statements:
        matching = [r for r in results if all(holds(words, r) for words in item.conditions)]
        failing = [r for r in results if r.verdict is item.verdict]
        assert item.failing == len(failing)
        assert item.passing == sum(r.verdict is Verdict.PASS for r in matching), item
        assert sorted(item.cases) == sorted(r.case for r in matching if r.verdict is item.verdict), item
        assert item.matched == len(item.cases) > 0


def test_the_recount_notices_a_false_claim() -> None:
    results = [result(*kind, verdict=Verdict.CRASH if kind[0] == 1 else Verdict.PASS) for kind in KINDS]
    crashed = tuple(item.case for item in results if item.verdict is Verdict.CRASH)
    right = explain.Statement("mine", ADD, Verdict.CRASH, ("version is 1",), 16, 16, 0, crashed)
    recount([right], results)
    for wrong in (
        dataclasses.replace(right, conditions=("version < 13",)),
        dataclasses.replace(right, conditions=("version is 1", "form is @top")),
        dataclasses.replace(right, passing=1),
    ):
        with pytest.raises(AssertionError):
            recount([wrong], results)


# What a runtime says is hostile, what a file says may be damaged


def test_hostile_words_reach_no_terminal_and_no_markup(tmp_path: Path) -> None:
    results = every(lambda item: type_of(item) == "float16", Verdict.REFUSED, error=HOSTILE, message=HOSTILE)
    results = [dataclasses.replace(item, clauses=(HOSTILE,), tags=(*item.tags, HOSTILE)) for item in results]
    results += [dataclasses.replace(item, operator=f"x{HOSTILE}/1", case=HOSTILE + item.case) for item in results]
    run = stored(tmp_path, results)
    explained = explain.explain(run, None)
    text = "\n".join(explanation.lines(run, explained))
    assert "type is float16" in text
    assert not CONTROL.search(text)
    assert max(map(len, text.splitlines())) < 400
    section = "\n".join(explanation.section(explained.statements))
    assert not CONTROL.search(section)
    assert "```" not in section
    assert "``" not in section.replace("` `", "")


def test_a_version_that_is_no_number_is_no_version() -> None:
    assert split_operator("ai.onnx/Add/" + "9" * 10_000) == ("ai.onnx/Add/" + "9" * 10_000, None)
    assert split_operator("model") == ("model", None)
    assert split_operator("ai.onnx.ml/Scaler/1") == ("ai.onnx.ml/Scaler", 1)


# The command


def explained(*words: str | Path) -> tuple[int, str, str]:
    done = command("explain", *words)
    return done.status, done.out, done.err


def test_the_command_shows_the_statement_its_sentence_and_cases(tmp_path: Path) -> None:
    results = every(
        lambda item: type_of(item) == "float16", Verdict.REFUSED, error="E", message="no", clauses=("Adds two.",)
    )
    status, out, err = explained(stored(tmp_path, results).path)
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "suite elsewhere is no longer the one that was run, ; only data from the results is used: version,",
        "type, form, tags and sentences",
        "",
        f"mine: {ADD}, 24 failures",
        "  refused exactly when type is float16 (24 of 24; no passing case matches)",
        "    text     «Adds two.»",
        f"    case     {ADD}/1/basic/float16",
        "    message  no",
        f"    case     {ADD}/1/basic/float16@initializer",
    ]
    assert max(map(len, out.splitlines())) <= explanation.WIDTH


def test_nothing_to_explain_is_one_sentence(tmp_path: Path) -> None:
    path = stored(tmp_path, every(lambda _: False), "generated", Generated().digest()).path
    assert explained(path) == (0, f"nothing to explain: {path} has no failures\n", "")
    assert explained(path, "--op", "Add/7") == (0, f"nothing to explain: {path} has no failures for --op Add/7\n", "")


def test_a_run_that_was_cut_off_is_marked_and_used(tmp_path: Path) -> None:
    path = stored(tmp_path, every(lambda item: type_of(item) == "int32"), whole=False).path
    status, out, _ = explained(path)
    assert status == 0
    assert out.startswith(f"{path} was cut off; this explains the results so far\n")
    assert "type is int32" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--backend", "other"], "has no backend 'other'; it has mine"),
        (["--op", "Sub*"], "--op 'Sub*' matches no operator of"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, words: list[str], sentence: str) -> None:
    path = stored(tmp_path, every(lambda item: type_of(item) == "int32")).path
    status, out, err = explained(path, *words)
    assert (status, out) == (2, "")
    assert sentence in err
    assert len(err.splitlines()) == 1


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    status, _, err = explained(tmp_path / "absent.ndjson")
    assert status == 2
    assert len(err.splitlines()) == 1


def test_a_report_has_the_statements(tmp_path: Path) -> None:
    run = stored(tmp_path, every(lambda item: type_of(item) == "float16"))
    data = report_data.read(run)
    shared = dataclasses.replace(data, statements=explain.explain(run, None).statements)
    text = "".join(markdown.report(shared))
    assert "## Failure patterns\n\n`mine: ai.onnx/Add`\n\n- `wrong_value exactly when type is float16 (24 of" in text
    assert "Failure patterns" not in "".join(markdown.report(data))
    noted = "".join(markdown.report(dataclasses.replace(shared, note="only `versions`")))
    assert "## Failure patterns\n\n`only 'versions'`\n\n`mine" in noted


# What models say


@pytest.mark.slow
def test_the_models_of_another_suite_are_not_looked_at(tmp_path: Path) -> None:
    """A suite of the same name but another digest may have other cases by the same ids."""
    results = list(simulated("ReduceSum", lambda item: "keepdims" in item.id))
    mine, other = Generated().digest(), "0123456789abcdef"
    known = explain.explain(stored(tmp_path, results, "generated", mine), Generated())
    unknown = explain.explain(stored(tmp_path, results, "generated", other), Generated())
    assert known.note == ""
    assert f"suite generated is no longer the one that was run, {other}" in unknown.note
    words = " ".join(word for item in unknown.statements for word in item.conditions)
    assert not re.search(r"keepdims|data|axes is", words), words


@pytest.mark.slow
def test_cases_that_the_suite_does_not_have_are_counted(tmp_path: Path) -> None:
    results = list(simulated("ReduceSum", lambda item: "/float16" in item.id))
    strange = [dataclasses.replace(item, case=f"{item.operator}/never/float16") for item in results[:1]]
    explained = explain.explain(stored(tmp_path, [*results, *strange], "generated", Generated().digest()), Generated())
    assert explained.note.startswith("of 1 cases that suite generated does not have")


@functools.cache
def cases_of(operator: str) -> tuple[Case, ...]:
    return tuple(Generated().cases(Selection(ops=(operator,))))


def simulated(operator: str, fails: Callable[[Case], bool]) -> Iterator[Result]:
    for case in cases_of(operator):
        verdict = Verdict.WRONG_VALUE if fails(case) else Verdict.PASS
        if case.outcome != "unspecified":
            tags = tuple(sorted(case.tags))
            yield Result(
                case.id, case.operator, "mine", verdict, case.outcome, case.form, clauses=case.clauses, tags=tags
            )


@pytest.mark.slow
def test_a_folder_of_cases_is_explained_too(tmp_path: Path) -> None:
    generation = command("generate", "--op", "SplitToSequence/11", "--tag", "edge", "--out", tmp_path / "cases")
    assert generation.status == 0, generation.text
    suite: Suite = Folder(tmp_path / "cases")
    results = [
        Result(case.id, case.operator, "mine", Verdict.PASS, case.outcome, case.form)
        for case in suite.cases(Selection())
    ]
    zero = {item.id for item in suite.cases(Selection()) if b"keepdims\x18\x00" in item.model}
    assert 0 < len(zero) < len(results)
    results = [dataclasses.replace(i, verdict=Verdict.WRONG_SHAPE) if i.case in zero else i for i in results]
    explained = explain.explain(stored(tmp_path, results, suite.name, suite.digest()), suite)
    assert explained.note == ""
    assert [item.conditions for item in explained.statements] == [("keepdims=0",)]


# A runtime with one rule wrong, and the rule comes out


def ruled_results(rule: str, operator: str) -> Iterator[Result]:
    """Yield the results of a backend of ruled.py, asked in this process."""
    backend = getattr(ruled, rule)
    for case in cases_of(operator):
        if case.files:  # Beside the model; the call in this process has none.
            continue
        try:
            reply: Reply = Answered(tuple(backend.run(case.model, dict(case.inputs), case.outputs)), 0.0)
        except NoAnswer as error:
            reply = Refused(type(error).__name__, str(error), None, None)
        yield judge(case, f"ruled.{rule}", reply)


def check_recovered(explanation: explain.Explanation, words: str) -> None:
    """Check that these words, and no others, are the explanation."""
    assert [" and ".join(item.conditions) for item in explanation.statements] == [words]
    assert explanation.statements[0].exact


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "operator", "words"),
    [
        ("keepdims_zero", "ReduceSum", "keepdims=0 and the text allows it"),
        ("keepdims_zero_of_a_scalar", "SplitToSequence", "keepdims=0 and split is a scalar"),
        ("negative_axis", "SplitToSequence", "axis is negative and the text allows it"),
        ("two_types", "ReduceSum", "type is one of float16, int64 and the text allows it"),
        ("keepdims_zero_of_float16", "ReduceSum", "keepdims=0 and type is float16"),
    ],
)
def test_the_rule_of_a_wrong_runtime_is_recovered(tmp_path: Path, rule: str, operator: str, words: str) -> None:
    run = stored(tmp_path, ruled_results(rule, operator), "generated", Generated().digest())
    check_recovered(explain.explain(run, Generated()), words)


@pytest.mark.slow
@pytest.mark.usefixtures("all_operators")
def test_the_rule_of_a_kernel_is_not_one_of_its_function_body_through_the_whole_harness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(explain.__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ADAPTERS), str(root), *sys.path]))
    path = tmp_path / "run.ndjson"
    words = ("--backend", "ruled.negative_axis_of_float16", "--op", "LayerNormalization")
    ran = command("run", *words, "--results", path)
    assert ran.status == 1, ran.text
    assert f"onnx-conformance report {path}" in ran.out
    statement = "axis is negative and type is float16 and form is not @expanded"
    check_recovered(explain.explain(Run(path), Generated()), statement)
    status, out, _ = explained(path)
    assert status == 0
    assert f"exactly when {statement} (" in " ".join(out.split())


@pytest.mark.slow
def test_a_thousand_failures_take_little_time() -> None:
    """Of 3,000 cases with 200 traits, a third of which fail for three reasons, in a second or two at most."""
    cases = [
        (
            {
                traits.Trait(traits.Topic.ARGUMENT, f"fact {n}"): True
                for n in range(200)
                if hash_of(f"{case}.{n}") % 3 == 0
            },
        )
        for case in range(3000)
    ]
    table = conditions.table(cases)  # type: ignore[arg-type]
    rows = {trait.name: row[True] for trait, row in table.items()}
    failures = (rows["fact 1"] & rows["fact 2"]) | (rows["fact 3"] & rows["fact 4"]) | (rows["fact 5"] & rows["fact 6"])
    passes = (1 << 3000) - 1 & ~failures
    started = time.process_time()
    covering = rule_search.cover(conditions.conditions(table), conditions.choices(table), failures, passes)
    assert time.process_time() - started < 5
    union = 0
    for item in covering.chosen:
        assert not item.cases & passes
        union |= item.cases & failures
    assert union | covering.left == failures


def test_conditions_have_the_same_words_in_another_process() -> None:
    """What comes out of a pickle is equal, and another object."""
    cases = [(traits.of_result(item),) for item in every(lambda _: False)]
    words = {item.words for item in conditions.conditions(conditions.table(cases))}
    sent = pickle.loads(pickle.dumps(cases))
    assert "version < 13" in words
    assert {item.words for item in conditions.conditions(conditions.table(sent))} == words
